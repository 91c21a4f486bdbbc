"""QTI 1.2: each Canvas type, keys found by running the rules, cartridges, groups and pictures.

Proves what items of Canvas, Common Cartridge and bare QTI 1.2 become. The samples of real exports are in test_samples.py.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from html import escape
from zlib import crc32

import pytest

from content.model import Accept, Choices, ContentError, Info, Match, Open, Order, Scoring, Severity, Short, TrueFalse
from content.readers.base import Import, to_json
from content.readers.qti12 import Qti12Reader


def item(kind: str, responses: str, rules: str = "", *, stem: str = "<p>Why?</p>", title: str = "Question", points: str = "1") -> str:
    fields = f"{field('question_type', kind)}{field('points_possible', points)}" if kind else ""
    metadata = f"<itemmetadata><qtimetadata>{fields}</qtimetadata></itemmetadata>"
    outcomes = '<outcomes><decvar maxvalue="100" minvalue="0" varname="SCORE" vartype="Decimal"/></outcomes>'
    shown = f"<presentation>{material(stem)}{responses}</presentation><resprocessing>{outcomes}{rules}</resprocessing>"
    return f'<item ident="i{crc32((stem + title).encode())}" title="{title}">{metadata}{shown}</item>'


def field(label: str, entry: str) -> str:
    return f"<qtimetadatafield><fieldlabel>{label}</fieldlabel><fieldentry>{entry}</fieldentry></qtimetadatafield>"


def material(html: str) -> str:
    return f'<material><mattext texttype="text/html">{escape(html)}</mattext></material>'


def lid(labels: Mapping[str, str], ident: str = "response1", cardinality: str = "Single", left: str = "") -> str:
    shown = "".join(f'<response_label ident="{key}">{material(text)}</response_label>' for key, text in labels.items())
    return f'<response_lid ident="{ident}" rcardinality="{cardinality}">{left}<render_choice>{shown}</render_choice></response_lid>'


def rule(condition: str, value: float = 100, action: str = "Set", goes_on: str = "No") -> str:
    return (
        f'<respcondition continue="{goes_on}"><conditionvar>{condition}</conditionvar>'
        f'<setvar action="{action}" varname="SCORE">{value}</setvar></respcondition>'
    )


def equal(value: str, ident: str = "response1") -> str:
    return f'<varequal respident="{ident}">{value}</varequal>'


def document(*items: str, title: str = "Ports", ident: str = "g1") -> str:
    inside = "".join(items)
    return (
        '<questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2">'
        f'<assessment ident="{ident}" title="{title}"><section ident="root_section">{inside}</section></assessment></questestinterop>'
    )


def read(*items: str) -> Import:
    return Qti12Reader().read(document(*items).encode(), "quiz.xml")


def package(members: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return out.getvalue()


STRING = '<response_str ident="response1" rcardinality="Single"><render_fib><response_label ident="a1"/></render_fib></response_str>'


def test_the_right_choice_is_the_one_whose_rule_scores() -> None:
    result = read(item("multiple_choice_question", lid({"1": "SYN", "2": "FIN", "3": ""}), rule(equal("1")), points="2"))
    (found,) = result.questions
    assert isinstance(found.body, Choices)
    assert [(c.text[""], c.credit) for c in found.body.choices] == [("SYN", 1.0), ("FIN", 0.0)]
    assert found.points == 2.0
    assert [problem.code for problem in result.problems] == ["QTI-EMPTY"]


def test_partial_credit_of_a_single_choice_stays() -> None:
    rules = rule(equal("1")) + rule(equal("2"), 25)
    (found,) = read(item("multiple_choice_question", lid({"1": "a", "2": "b", "3": "c"}), rules)).questions
    assert isinstance(found.body, Choices)
    assert [choice.credit for choice in found.body.choices] == [1.0, 0.25, 0.0]


def test_all_right_and_nothing_wrong_is_all_or_nothing() -> None:
    condition = f"<and>{equal('1')}<not>{equal('2')}</not>{equal('3')}</and>"
    (found,) = read(
        item("multiple_answers_question", lid({"1": "a", "2": "b", "3": "c"}, cardinality="Multiple"), rule(condition))
    ).questions
    assert isinstance(found.body, Choices)
    assert [choice.correct for choice in found.body.choices] == [True, False, True]
    assert (found.body.many, found.body.scoring) == (True, Scoring.ALL_OR_NOTHING)


def test_added_scores_count_choice_by_choice() -> None:
    rules = "".join(rule(equal(str(i)), 33.33, "Add", "Yes") for i in (1, 2, 3)) + rule(equal("4"), 33.33, "Subtract", "Yes")
    (found,) = read(item("multiple_answers_question", lid(dict.fromkeys("1234", "x"), cardinality="Multiple"), rules)).questions
    assert isinstance(found.body, Choices)
    assert [choice.credit for choice in found.body.choices] == [1.0, 1.0, 1.0, -0.3333]
    assert found.body.scoring is Scoring.PER_CHOICE


def test_wrong_choices_that_pay_when_left_alone_are_no_keys() -> None:
    rules = rule(equal("1"), 50, "Add", "Yes") + rule(f"<not>{equal('2')}</not>", 50, "Add", "Yes")
    (found,) = read(item("multiple_answers_question", lid({"1": "a", "2": "b"}, cardinality="Multiple"), rules)).questions
    assert isinstance(found.body, Choices)
    assert [choice.correct for choice in found.body.choices] == [True, False]


def test_numbers_come_with_their_tolerance_or_range() -> None:
    def bounds(low: str, high: str) -> str:
        return f'<and><vargte respident="response1">{low}</vargte><varlte respident="response1">{high}</varlte></and>'

    rules = rule(f"<or>{equal('0.3')}{bounds('0.2', '0.4')}</or>") + rule(bounds("5", "7").removeprefix("<and>").removesuffix("</and>"))
    (found,) = read(item("numerical_question", STRING, rules)).questions
    assert isinstance(found.body, Short)
    assert found.body.accept == (Accept(number=0.3, tolerance=0.1), Accept(span=(5.0, 7.0)))


def test_blanks_take_every_label_and_dropdowns_the_scoring_one() -> None:
    responses = lid({"1": "red", "2": "crimson"}, "response_c1") + lid({"3": "blue"}, "response_c2")
    rules = rule(equal("1", "response_c1"), 50, "Add", "Yes") + rule(equal("3", "response_c2"), 50, "Add", "Yes")
    typed = item("fill_in_multiple_blanks_question", responses, rules, stem="<p>Roses are [c1], violets [c2].</p>")
    picked = item(
        "multiple_dropdowns_question", lid({"1": "red", "2": "green"}, "response_c1"), rule(equal("1", "response_c1")), stem="Roses [c1]"
    )
    first, second = read(typed, picked).questions
    assert first.stem[""] == "Roses are {{c1}}, violets {{c2}}."
    assert isinstance(first.body, Short)
    assert [[a.text for a in blank.accept] for blank in first.body.blanks] == [["red", "crimson"], ["blue"]]
    assert isinstance(second.body, Short)
    assert [(c.text[""], c.correct) for c in second.body.blanks[0].choices] == [("red", True), ("green", False)]


def test_a_blank_without_a_place_in_the_text_is_added_and_said() -> None:
    result = read(
        item("fill_in_multiple_blanks_question", lid({"1": "red"}, "response_c1"), rule(equal("1", "response_c1")), stem="Roses?")
    )
    assert result.questions[0].stem[""] == "Roses? {{c1}}"
    assert [problem.code for problem in result.problems] == ["QTI-GAP"]


def test_matching_offers_equal_texts_once_and_keeps_distractors() -> None:
    offered = {"1": "HTTP", "2": "HTTPS", "3": "FTP", "4": "HTTP", "5": ""}
    responses = lid(offered, "response_a", left=material("80")) + lid(offered, "response_b", left=material("443"))
    rules = rule(equal("4", "response_a"), 50, "Add", "Yes") + rule(equal("2", "response_b"), 50, "Add", "Yes")
    (found,) = read(item("matching_question", responses, rules)).questions
    assert isinstance(found.body, Match)
    assert [(p.left[""], p.right[""]) for p in found.body.pairs] == [("80", "HTTP"), ("443", "HTTPS")]
    assert [distractor.text[""] for distractor in found.body.distractors] == ["FTP"]


@pytest.mark.parametrize("kind", ["file_upload_question", "calculated_question", "never_heard_question"])
def test_what_cannot_be_asked_is_reported_and_its_neighbour_lives(kind: str) -> None:
    result = read(item(kind, "", title="Odd"), item("essay_question", STRING, title="Fine"))
    assert (result.read, result.imported, result.count(Severity.ERROR)) == (2, 1, 1)
    assert result.problems[0].question == "Odd"


def test_types_are_inferred_where_no_metadata_names_them() -> None:
    ordered = "".join(f'<varequal respident="response1" index="{i}">{key}</varequal>' for i, key in ((2, "a"), (1, "b")))
    result = read(
        item("", lid({"1": "True", "2": "False"}), rule(equal("2")), stem="tf"),
        item("", lid({"1": "x", "2": "y"}), rule(equal("2")), stem="single"),
        item("", lid({"1": "x", "2": "y"}, cardinality="Multiple"), rule(f"<and>{equal('1')}{equal('2')}</and>"), stem="multiple"),
        item("", lid({"a": "first", "b": "second"}, cardinality="Ordered"), rule(ordered), stem="order"),
        item("", STRING, rule(equal("Rome") + equal("Roma")), stem="short"),
        item("", STRING.replace("<render_fib>", '<render_fib fibtype="Decimal">'), rule(equal("4.5")), stem="number"),
        item("", STRING, stem="essay"),
        item("", "", stem="text"),
    )
    by_stem = {found.stem[""]: found.body for found in result.questions}
    assert [str(found.type) for found in result.questions] == ["truefalse", "single", "multiple", "order", "short", "short", "open", "info"]
    assert isinstance(by_stem["tf"], TrueFalse)
    assert by_stem["tf"].answer is False
    assert isinstance(by_stem["order"], Order)
    assert [entry.text[""] for entry in by_stem["order"].items] == ["second", "first"]
    assert isinstance(by_stem["short"], Short)
    assert [accept.text for accept in by_stem["short"].accept] == ["Rome", "Roma"]
    assert by_stem["number"] == Short((Accept(number=4.5),))
    assert isinstance(by_stem["essay"], Open)
    assert isinstance(by_stem["text"], Info)


def test_a_choice_without_a_scoring_rule_has_no_guessed_key() -> None:
    feedback_only = (
        f'<respcondition continue="Yes"><conditionvar>{equal("1")}</conditionvar><displayfeedback linkrefid="1_fb"/></respcondition>'
    )
    result = read(item("multiple_choice_question", lid({"1": "a", "2": "b"}), feedback_only))
    assert (result.imported, result.problems[0].code) == (0, "NO-KEY")


def test_a_group_that_draws_two_of_three_becomes_a_native_group() -> None:
    choice = lid({"1": "a", "2": "b"})
    items = "".join(item("multiple_choice_question", choice, rule(equal("1")), stem=f"Q{i}") for i in range(3))
    group = (
        '<section ident="s1" title="Ports"><selection_ordering><selection><selection_number>2</selection_number>'
        f"<selection_extension><points_per_item>3.0</points_per_item></selection_extension></selection></selection_ordering>{items}</section>"
    )
    result = read(group, item("essay_question", STRING, stem="After"))
    assert result.quiz is not None
    (found,) = result.quiz.select.groups
    assert (found.id, found.pick, found.points) == ("ports", 2, 3.0)
    assert [question.group for question in result.questions] == ["ports", "ports", "ports", None]


def test_a_cartridge_counts_each_quiz_once_and_brings_its_pictures() -> None:
    stem = '<p>See <img src="$IMS-CC-FILEBASE$/maps/my%20map.png?canvas_=1" alt="map"></p>'
    rich = document(item("multiple_choice_question", lid({"1": "a", "2": "b"}), rule(equal("1")), stem=stem))
    plain = document(item("", lid({"1": "a", "2": "b"}), rule(equal("1")), stem="The poorer copy"))
    other = document(item("essay_question", STRING, stem="Another quiz"), title="Essays", ident="g2")
    data = package(
        {
            "imsmanifest.xml": '<manifest><resource type="imsqti_xmlv1p2/imscc_xmlv1p1/assessment"/></manifest>',
            "g1/assessment_qti.xml": plain,
            "g1/assessment_meta.xml": "<quiz><title>Ports and maps</title><shuffle_answers>true</shuffle_answers></quiz>",
            "non_cc_assessments/g1.xml.qti": rich,
            "non_cc_assessments/g2.xml.qti": other,
            "web_resources/maps/my map.png": b"\x89PNG",
            "wiki_content/page.html": "<p>not read</p>",
        }
    )
    assert Qti12Reader().sniff(data, "course.imscc") > 0.9
    result = Qti12Reader().read(data, "course.imscc")
    first, second = result.questions
    assert first.stem[""] == "See ![](m1)"
    assert (first.media[0].file, result.files[first.media[0].file or ""]) == ("my-map.png", b"\x89PNG")
    assert (first.tags, second.tags) == (("Ports and maps",), ("Essays",))
    assert first.shuffle


def test_latex_of_canvas_pictures_stays_latex() -> None:
    stem = '<p>Area: <img class="equation_image" data-equation-content="\\pi r^2" src="/equation_images/x"></p>'
    result = read(item("essay_question", STRING, stem=stem))
    assert result.questions[0].stem[""] == r"Area: $\pi r^2$"
    assert result.questions[0].media == ()


def test_one_broken_member_or_item_does_not_cost_the_others() -> None:
    good = item("essay_question", STRING, stem="Fine")
    result = read(good, '<item ident="x" title="Broken"><presentation><material></presentation></item>', good.replace("Fine", "Also fine"))
    assert [found.stem[""] for found in result.questions] == ["Fine", "Also fine"]
    assert result.count(Severity.ERROR) == 1
    data = package({"a/a.xml": document(good), "b/b.xml": "<questestinterop><no"})
    result = Qti12Reader().read(data, "two.zip")
    assert (result.imported, [problem.code for problem in result.problems if problem.severity is Severity.ERROR]) == (1, ["XML-SYNTAX"])
    assert "b.xml: " in str(result.problems[0])


def test_a_package_without_items_is_refused() -> None:
    with pytest.raises(ContentError, match="questestinterop"):
        Qti12Reader().read(package({"imsmanifest.xml": "<manifest/>"}), "empty.zip")


def test_the_json_report_names_key_and_points() -> None:
    (found,) = to_json(read(item("true_false_question", lid({"7": "True", "8": "False"}), rule(equal("8")), points="3")))["questions"]
    assert (found["key"], found["points"]) == (False, 3.0)
