"""Moodle XML: every type that has a native counterpart, the oddities of real exports, and what is refused.

Proves what each question becomes. That a written bank reads back the same is proven in test_moodle_round_trip.py.
"""

from __future__ import annotations

import base64
import time

import pytest

from content.model import Accept, Choices, ContentError, Match, Open, Order, Scoring, Severity, Short, TrueFalse
from content.readers.base import Import, to_json
from content.readers.moodle_xml import MoodleXmlReader


def read(*questions: str, before: str = "") -> Import:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n{before}<quiz>\n' + "\n".join(questions) + "\n</quiz>\n"
    return MoodleXmlReader().read(text.encode(), "bank.xml")


def question(kind: str, inside: str, stem: str = "Why?", name: str = "A name") -> str:
    text = f'<questiontext format="html"><text><![CDATA[{stem}]]></text></questiontext>'
    return f'<question type="{kind}"><name><text>{name}</text></name>{text}{inside}</question>'


def answer(fraction: float | str, text: str, more: str = "") -> str:
    return f'<answer fraction="{fraction}" format="html"><text>{text}</text>{more}</answer>'


def codes(result: Import) -> list[str]:
    return [problem.code for problem in result.problems]


CHOICES = answer(100, "right", '<feedback format="html"><text>Yes!</text></feedback>') + answer(0, "wrong") + answer(-50, "worse")


def test_html_becomes_markdown_and_fields_find_their_place() -> None:
    inside = (
        "<single>true</single><shuffleanswers>0</shuffleanswers><defaultgrade>2.5</defaultgrade><penalty>0.1</penalty>"
        '<generalfeedback format="html"><text>&lt;p&gt;Because &lt;b&gt;so&lt;/b&gt;.&lt;/p&gt;</text></generalfeedback>'
        "<hint format='html'><text>Think.</text></hint><idnumber>net-1</idnumber>"
        "<tags><tag><text>tcp</text></tag><tag><text>difficulty:4</text></tag></tags>" + CHOICES
    )
    result = read(question("multichoice", inside, "<p>What is <code>x*y</code> in \\(a_1\\)?</p><script>alert(1)</script>"))
    (found,) = result.questions
    assert found.stem[""] == "What is `x*y` in $a_1$?"
    assert (found.id, found.title and found.title[""], found.points, found.tags, found.difficulty) == ("net-1", "A name", 2.5, ("tcp",), 4)
    assert found.explanation is not None
    assert (found.explanation[""], found.hints[0][""], found.shuffle) == ("Because **so**.", "Think.", False)
    assert isinstance(found.body, Choices)
    assert [(c.text[""], c.credit, c.feedback and c.feedback[""]) for c in found.body.choices] == [
        ("right", 1.0, "Yes!"),
        ("wrong", 0.0, None),
        ("worse", -0.5, None),
    ]
    assert found.extra["moodle-xml"]["penalty"] == 0.1
    assert result.problems == ()


def test_several_answers_count_one_by_one_and_uneven_weights_are_said() -> None:
    even = answer("33.33333", "a") * 2 + answer("33.33", "c") + answer(-100, "d")
    result = read(question("multichoice", "<single>false</single>" + even))
    assert isinstance(result.questions[0].body, Choices)
    assert [choice.credit for choice in result.questions[0].body.choices] == [1.0, 1.0, 1.0, -1.0]
    assert (result.questions[0].body.many, result.questions[0].body.scoring) == (True, Scoring.PER_CHOICE)
    assert "WEIGHTS" not in codes(result), "33.33333 and 33.33 are the same third"


def test_a_single_question_without_a_hundred_takes_its_best_answer() -> None:
    result = read(question("multichoice", "<single>true</single>" + answer(50, "half") + answer(0, "none")))
    assert to_json(result)["questions"][0]["key"] == ["a"]
    assert codes(result) == ["WEIGHTS"]


def test_a_question_without_any_positive_weight_is_an_error_and_its_neighbours_live() -> None:
    result = read(question("multichoice", answer(0, "a") + answer(0, "b")), question("multichoice", CHOICES))
    assert (result.read, result.imported, codes(result)) == (2, 1, ["NO-KEY"])


def test_true_false_is_read_in_any_language_and_by_position() -> None:
    english = question("truefalse", answer(0, "true") + answer(100, "false", "<feedback><text>Quite.</text></feedback>"))
    german = question("truefalse", answer(0, "Falsch") + answer(100, "Wahr"))
    unknown = question("truefalse", answer(100, "Qapla") + answer(0, "Qo"))
    result = read(english, german, unknown)
    bodies = [found.body for found in result.questions]
    assert [body.answer for body in bodies if isinstance(body, TrueFalse)] == [False, True, True]
    assert isinstance(bodies[0], TrueFalse)
    assert bodies[0].feedback[False][""] == "Quite."
    assert codes(result).count("MOODLE-TRUEFALSE") == 1, "only the unknown words are doubtful"


def test_short_answers_keep_case_weights_wildcards_and_literal_stars() -> None:
    inside = "<usecase>1</usecase>" + answer(100, "run*") + answer(50, r"2 \* 3") + answer(0, "*", "<feedback><text>No.</text></feedback>")
    (found,) = read(question("shortanswer", inside)).questions
    assert isinstance(found.body, Short)
    assert [(a.regex, a.text, a.case, a.credit) for a in found.body.accept] == [
        ("^run.*$", None, True, 1.0),
        (None, "2 * 3", True, 0.5),
        ("^.*$", None, True, 0.0),
    ]
    assert found.body.reveal is not None
    assert found.body.reveal[""] == "run*"


def test_numbers_have_tolerances_and_units() -> None:
    inside = (
        answer(100, "3.14", "<tolerance>0.01</tolerance>") + answer(0, "*", "<feedback><text>Far off.</text></feedback>")
        + "<units><unit><multiplier>1</multiplier><unit_name>m</unit_name></unit>"
        "<unit><multiplier>100</multiplier><unit_name>cm</unit_name></unit></units>"
    )  # fmt: skip
    (found,) = read(question("numerical", inside)).questions
    assert isinstance(found.body, Short)
    assert found.body.accept[:2] == (
        Accept(number=3.14, tolerance=0.01, unit="m"),
        Accept(number=314.0, tolerance=1.0, unit="cm"),
    )
    assert found.body.accept[2].regex == "^.*$"


def test_an_infinite_or_worded_number_is_an_error() -> None:
    result = read(*(question("numerical", answer(100, text)) for text in ("1e999", "nan", "about three")))
    assert (result.imported, codes(result)) == (0, ["MOODLE-NUMBER"] * 3)


def test_matching_without_a_left_side_is_a_distractor() -> None:
    def pair(left: str, right: str) -> str:
        return f'<subquestion format="html"><text>{left}</text><answer><text>{right}</text></answer></subquestion>'

    (found,) = read(question("matching", pair("&lt;b&gt;80&lt;/b&gt;", "HTTP") + pair("443", "HTTPS") + pair("", "FTP"))).questions
    assert isinstance(found.body, Match)
    assert [(p.left[""], p.right[""]) for p in found.body.pairs] == [("**80**", "HTTP"), ("443", "HTTPS")]
    assert [item.text[""] for item in found.body.distractors] == ["FTP"]
    assert found.body.scoring is Scoring.PER_CHOICE


def test_ordering_follows_the_fraction_as_a_position() -> None:
    inside = answer("2.0000000", "second") + answer("1.0000000", "first") + answer("3", "third") + "<gradingtype>2</gradingtype>"
    (found,) = read(question("ordering", inside)).questions
    assert isinstance(found.body, Order)
    assert [item.text[""] for item in found.body.items] == ["first", "second", "third"]
    assert found.body.scoring is Scoring.ADJACENT


def test_what_graders_are_told_is_the_rubric_of_an_essay() -> None:
    free = '<defaultgrade>4</defaultgrade><graderinfo format="html"><text>Names both flags.</text></graderinfo>'
    listed = (
        '<graderinfo format="markdown"><text>Both sides confirm.\n\nRubric:\n- [2] names flags {#flags}\n  - [1] only one\n- [1] both ways'
        "</text></graderinfo>"
    )
    first, second = (found.body for found in read(question("essay", free), question("essay", listed)).questions)
    assert isinstance(first, Open)
    assert [(c.points, c.criterion[""]) for c in first.rubric] == [(4.0, "Names both flags.")]
    assert isinstance(second, Open)
    assert second.reference is not None
    assert second.reference[""] == "Both sides confirm."
    assert [(c.id, c.points, c.criterion[""], [level.points for level in c.levels]) for c in second.rubric] == [
        ("flags", 2.0, "names flags", [1.0]),
        ("c2", 1.0, "both ways", []),
    ]


def test_cloze_gaps_become_blanks() -> None:
    stem = (
        "<p>The {1:SHORTANSWER:=SYN#Right~%50%SYN flag} opens, {2:MCS:FIN~=ACK#Yes~RST\\, no} answers in {1:NUMERICAL:=3:0.5} steps; "
        "a brace {not:one} and {1:SAC:=TCP &amp; IP} stay.</p>"
    )
    result = read(question("cloze", "", stem))
    (found,) = result.questions
    assert found.stem[""] == "The {{b1}} opens, {{b2}} answers in {{b3}} steps; a brace {not:one} and {{b4}} stay."
    assert isinstance(found.body, Short)
    typed, picked, number, exact = found.body.blanks
    assert [(a.text, a.credit) for a in typed.accept] == [("SYN", 1.0), ("SYN flag", 0.5)]
    assert [(c.text[""], c.credit) for c in picked.choices][:2] == [("FIN", 0.0), ("ACK", 1.0)]
    assert number.accept == (Accept(number=3.0, tolerance=0.5),)
    assert (exact.accept[0].text, exact.accept[0].case) == ("TCP & IP", True)


@pytest.mark.parametrize("stem", ["{1:MULTIRESPONSE:=a~=b}", "{1:SA:=never closed", "no gap at all", "{1:NM:=x}", "{1:SA:wrong only}"])
def test_a_cloze_that_cannot_be_asked_is_an_error(stem: str) -> None:
    result = read(question("cloze", "", stem))
    assert (result.imported, result.problems[0].severity) == (0, Severity.ERROR)


def test_gaps_to_select_or_drag_into_share_their_group() -> None:
    options = "".join(
        f"<selectoption><text>{text}</text><group>{group}</group></selectoption>" for text, group in (("in", 1), ("up", 2), ("on", 1))
    )
    (found,) = read(question("gapselect", options, "Log [[1]] and back [[2]].")).questions
    assert found.stem[""] == "Log {{b1}} and back {{b2}}."
    assert isinstance(found.body, Short)
    assert [[(c.text[""], c.correct) for c in blank.choices] for blank in found.body.blanks] == [
        [("in", True), ("on", False)],
        [("up", True)],
    ]


@pytest.mark.parametrize("kind", ["calculated", "calculatedmulti", "stack", "coderunner", "ddimageortext", "random", "unheardof"])
def test_types_that_need_moodle_itself_are_reported(kind: str) -> None:
    result = read(question(kind, ""), question("multichoice", CHOICES))
    assert (result.read, result.imported, codes(result)) == (2, 1, ["MOODLE-TYPE"])


def test_the_category_holds_until_the_next_and_names_the_quiz() -> None:
    category = '<question type="category"><category><text>$course$/top/Week 1/Ports</text></category></question>'
    result = read(category, question("multichoice", CHOICES), question("multichoice", CHOICES, "Other?"))
    assert result.read == 2, "a category is no question"
    assert result.quiz is not None
    assert result.quiz.title[""] == "Ports"
    assert [found.extra["moodle-xml"]["category"] for found in result.questions] == ["$course$/top/Week 1/Ports"] * 2


def test_embedded_pictures_come_along_and_linked_ones_stay_links() -> None:
    data = base64.b64encode(b"\x89PNG picture").decode()
    sources = ("@@PLUGINFILE@@/my%20map.png", "https://example.org/x.png", "@@PLUGINFILE@@/gone.png")
    stem = " or ".join(f'<img src="{source}" alt="A map">' for source in sources)
    file = f'<file name="my map.png" encoding="base64">{data}</file>'
    text = f'<questiontext format="html"><text><![CDATA[{stem}]]></text>{file}</questiontext>'
    result = read(f'<question type="description"><name><text>Look</text></name>{text}</question>')
    first, second, third = result.questions[0].media
    assert first.file is not None
    assert result.files[first.file] == b"\x89PNG picture"
    assert (first.alt[""], first.url, second.url, third.file) == ("A map", None, "https://example.org/x.png", "gone.png")
    assert [(problem.code, "'gone.png'" in problem.text) for problem in result.problems] == [("MEDIA", True)]


def test_file_names_cannot_leave_the_folder() -> None:
    data = base64.b64encode(b"x").decode()
    text = (
        '<questiontext format="html"><text>&lt;img src="@@PLUGINFILE@@/../../etc/passwd"&gt;</text>'
        f'<file name="../../etc/passwd" encoding="base64">{data}</file></questiontext>'
    )
    result = read(f'<question type="description">{text}</question>')
    assert list(result.files) == ["passwd"]


def test_multilang_spans_become_languages() -> None:
    stem = '<p>1. <span lang="en" class="multilang">Good day</span> <span lang="de" class="multilang">Guten Tag</span>!</p>'
    marks = "{mlang en}yes{mlang}{mlang de}ja{mlang}"
    result = read(question("multichoice", answer(100, marks) + answer(0, "42"), stem))
    (found,) = result.questions
    assert dict(found.stem.by_language) == {"en": "1. Good day!", "de": "1. Guten Tag!"}
    assert isinstance(found.body, Choices)
    assert [dict(choice.text.by_language) for choice in found.body.choices] == [{"en": "yes", "de": "ja"}, {"": "42"}]
    assert result.quiz is not None
    assert result.quiz.languages == ("en", "de")


def test_every_text_format_is_read_in_its_own_way() -> None:
    def shown(format: str, text: str) -> str:
        stem = f'<questiontext format="{format}"><text><![CDATA[{text}]]></text></questiontext>'
        return read(f'<question type="description">{stem}</question>').questions[0].stem[""]

    assert shown("plain_text", "a <b> *and* *c*") == r"a <b> \*and\* \*c\*"
    assert shown("markdown", "**bold** and \\(x\\)") == "**bold** and $x$"
    assert shown("moodle_auto_format", "one\ntwo <b>bold</b>") == "one\ntwo **bold**"
    assert shown("html", "one\ntwo <b>bold</b>") == "one two **bold**"


def test_a_question_that_is_no_xml_costs_only_itself() -> None:
    good = question("multichoice", CHOICES, "One?")
    broken = '<question type="multichoice"><name><text>Two & a half</text></name></question>'
    later = question("multichoice", CHOICES, "Three?")
    result = read(good, broken, later)
    assert [found.stem[""] for found in result.questions] == ["One?", "Three?"]
    (error,) = [problem for problem in result.problems if problem.severity is Severity.ERROR]
    assert (error.line, error.code) == (4, "XML-SYNTAX")
    assert [found.line for found in result.questions] == [3, 5]


def test_a_truncated_file_gives_the_questions_before_the_cut() -> None:
    text = "<quiz>\n" + question("multichoice", CHOICES, "Whole?") + "\n" + question("multichoice", CHOICES, "Cut?")[:-40]
    result = MoodleXmlReader().read(text.encode(), "bank.xml")
    assert [found.stem[""] for found in result.questions] == ["Whole?"]
    assert (result.read, result.count(Severity.ERROR)) == (2, 1)


def test_named_html_entities_outside_cdata_are_understood() -> None:
    plain = '<question type="description"><questiontext format="html"><text>a&nbsp;&eacute;&lt;b&gt;</text></questiontext></question>'
    result = read(plain)
    assert result.questions[0].stem[""] == "a é"
    assert codes(result) == ["XML-ENTITY"]


def test_a_wrong_encoding_is_said_and_nothing_is_dropped() -> None:
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<quiz>' + question("multichoice", CHOICES, "Café?") + "</quiz>"
    result = MoodleXmlReader().read(text.encode("cp1252"), "bank.xml")
    assert result.questions[0].stem[""] == "Café?"
    assert codes(result) == ["ENCODING-1252"]
    utf16 = MoodleXmlReader().read(text.replace("UTF-8", "UTF-16").encode("utf-16"), "bank.xml")
    assert utf16.questions[0].stem[""] == "Café?"
    declared = text.replace("UTF-8", "windows-1251").replace("Café", "Привет")
    assert MoodleXmlReader().read(declared.encode("cp1251"), "bank.xml").questions[0].stem[""] == "Привет?"


def test_lines_count_beyond_65535() -> None:
    filler = "\n" * 70_000
    result = read(question("multichoice", CHOICES), filler + question("multichoice", answer(0, "a") + answer(0, "b"), "Late?"))
    assert result.problems[0].line == 3 + 1 + 70_000


@pytest.mark.parametrize(("fraction", "code"), [("140", "MOODLE-FRACTION"), ("much", "MOODLE-NUMBER"), ("inf", "MOODLE-NUMBER")])
def test_an_impossible_weight_names_its_line(fraction: str, code: str) -> None:
    result = read(question("multichoice", "\n" + answer(fraction, "a") + answer(0, "b")))
    assert [(problem.line, problem.code) for problem in result.problems] == [(4 if code == "MOODLE-FRACTION" else 3, code)]


def test_a_feed_that_only_looks_like_xml_is_refused() -> None:
    with pytest.raises(ContentError, match="begins with <quiz>"):
        MoodleXmlReader().read(b"<rss><question type='multichoice'/></rss>", "feed.xml")


def test_ten_thousand_questions_are_read_in_under_five_seconds() -> None:
    body = "<single>true</single>" + answer(100, "right", "<feedback format='html'><text>Yes.</text></feedback>") + answer(0, "wrong") * 3
    data = (
        "<quiz>\n" + "\n".join(question("multichoice", body, f"<p>What is <b>{i}</b>?</p>", f"Q {i}") for i in range(10_000)) + "</quiz>"
    ).encode()
    started = time.process_time()  # a busy machine must not fail it
    result = MoodleXmlReader().read(data, "bank.xml")
    took = time.process_time() - started
    assert (result.read, result.imported) == (10_000, 10_000)
    assert took < 5, f"{took:.1f} s"
