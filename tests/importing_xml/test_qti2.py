"""QTI 2.1, 2.2 and 3.0: each interaction that has a native counterpart, in both spellings, and what is refused.

Proves what items become, with and without declared keys. The samples of real packages are in test_samples.py.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

import pytest

from content.model import Accept, Choices, ContentError, Info, Match, Open, Order, Scoring, Severity, Short, TrueFalse
from content.readers.base import Import
from content.readers.qti2 import Qti2Reader


def declared(
    correct: str = "", *, cardinality: str = "single", base: str = "identifier", mapping: str = "", ident: str = "RESPONSE"
) -> str:
    values = "".join(f"<value>{value}</value>" for value in correct.split("|")) if correct else ""
    key = f"<correctResponse>{values}</correctResponse>" if values else ""
    return f'<responseDeclaration identifier="{ident}" cardinality="{cardinality}" baseType="{base}">{key}{mapping}</responseDeclaration>'


def mapped(**points: float) -> str:
    return "<mapping>" + "".join(f'<mapEntry mapKey="{key}" mappedValue="{value}"/>' for key, value in points.items()) + "</mapping>"


def item(body: str, before: str = "", after: str = "", *, attributes: str = "", title: str = "A title", ident: str = "i1") -> str:
    return (
        f'<assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="{ident}" title="{title}" {attributes}>'
        f"{before}<itemBody>{body}</itemBody>{after}</assessmentItem>"
    )


def version_3(text: str) -> str:
    """The same item as QTI 3.0 spells it."""

    def kebab(name: str) -> str:
        return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "-" + found[1].lower(), name)

    html = {"p", "div", "b", "img", "object", "math"}
    text = re.sub(r"(</?)([a-zA-Z]+)", lambda found: found[1] + (found[2] if found[2] in html else "qti-" + kebab(found[2])), text)
    return re.sub(r" ([a-z]+[A-Z][a-zA-Z]*)=", lambda found: f" {kebab(found[1])}=", text)


def read(text: str) -> Import:
    return Qti2Reader().read(text.encode(), "item.xml")


def package(members: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return out.getvalue()


def choices(*texts: str, most: int = 1, more: str = 'shuffle="true"') -> str:
    shown = "".join(f'<simpleChoice identifier="{chr(65 + i)}">{text}</simpleChoice>' for i, text in enumerate(texts))
    return f'<choiceInteraction responseIdentifier="RESPONSE" maxChoices="{most}" {more}><prompt>Which?</prompt>{shown}</choiceInteraction>'


@pytest.mark.parametrize("spelled", [str, version_3])
def test_a_single_choice_in_both_spellings(spelled: type[str]) -> None:
    text = spelled(item("<p>Look:</p>" + choices("<p>SYN</p>", "FIN", more='shuffle="false"'), declared("A")))
    (found,) = read(text).questions
    assert found.stem[""] == "Look:\n\nWhich?"
    assert isinstance(found.body, Choices)
    assert [(c.text[""], c.credit) for c in found.body.choices] == [("SYN", 1.0), ("FIN", 0.0)]
    assert (found.body.many, found.shuffle, found.title and found.title[""]) == (False, False, "A title")


def test_several_right_choices_are_all_or_nothing_unless_mapped() -> None:
    plain = read(item(choices("a", "b", "c", most=0), declared("A|C", cardinality="multiple"))).questions[0].body
    weighted = (
        read(item(choices("a", "b", "c", most=2), declared("A|C", cardinality="multiple", mapping=mapped(A=1, C=1, B=-1))))
        .questions[0]
        .body
    )
    assert isinstance(plain, Choices)
    assert isinstance(weighted, Choices)
    assert (plain.many, plain.scoring, plain.most) == (True, Scoring.ALL_OR_NOTHING, None)
    assert (weighted.scoring, [choice.credit for choice in weighted.choices], weighted.most) == (Scoring.PER_CHOICE, [1.0, -0.5, 1.0], 2)


def test_a_mapping_alone_is_a_key_and_gives_partial_credit() -> None:
    body = read(item(choices("a", "b", "c"), declared(mapping=mapped(A=0.5, B=2)))).questions[0].body
    assert isinstance(body, Choices)
    assert [choice.credit for choice in body.choices] == [0.25, 1.0, 0.0]


def test_without_a_declared_key_the_processing_is_searched() -> None:
    processing = (
        "<responseProcessing><responseCondition><responseIf><match><variable identifier='RESPONSE'/>"
        "<baseValue baseType='identifier'>B</baseValue></match><setOutcomeValue identifier='SCORE'>"
        "<baseValue baseType='float'>2</baseValue></setOutcomeValue></responseIf></responseCondition></responseProcessing>"
    )
    (found,) = read(item(choices("a", "b"), declared(), processing)).questions
    assert isinstance(found.body, Choices)
    assert ([choice.correct for choice in found.body.choices], found.points) == ([False, True], 2.0)
    silent = read(item(choices("a", "b"), declared()))
    assert (silent.imported, silent.problems[0].code) == (0, "NO-KEY")


def test_true_and_false_become_true_false() -> None:
    body = read(item(choices("Wahr", "Falsch"), declared("B"))).questions[0].body
    assert isinstance(body, TrueFalse)
    assert body.answer is False


def test_feedback_goes_to_its_choice_and_the_rest_explains() -> None:
    inline = 'a<feedbackInline outcomeIdentifier="FEEDBACK" identifier="A" showHide="show">Yes!</feedbackInline>'
    modal = "".join(
        f'<modalFeedback outcomeIdentifier="FEEDBACK" identifier="{ident}" showHide="show"><p>{text}</p></modalFeedback>'
        for ident, text in (("B", "No."), ("solution", "RFC 793."))
    )
    (found,) = read(item(choices(inline, "b", "c"), declared("A"), modal)).questions
    assert isinstance(found.body, Choices)
    assert [choice.feedback and choice.feedback[""] for choice in found.body.choices] == ["Yes!", "No.", None]
    assert [choice.text[""] for choice in found.body.choices] == ["a", "b", "c"]
    assert found.explanation is not None
    assert found.explanation[""] == "RFC 793."


@pytest.mark.parametrize("spelled", [str, version_3])
def test_an_order_is_the_declared_one(spelled: type[str]) -> None:
    parts = '<simpleChoice identifier="A">a</simpleChoice><simpleChoice identifier="B">b</simpleChoice>'
    body = f'<orderInteraction responseIdentifier="RESPONSE">{parts}</orderInteraction>'
    (found,) = read(spelled(item(body, declared("B|A", cardinality="ordered")))).questions
    assert isinstance(found.body, Order)
    assert [entry.text[""] for entry in found.body.items] == ["b", "a"]


def matching(key: str, base: str = "directedPair") -> str:
    def group(letters: str) -> str:
        return (
            "<simpleMatchSet>"
            + "".join(f'<simpleAssociableChoice identifier="{x}" matchMax="1">{x}</simpleAssociableChoice>' for x in letters)
            + "</simpleMatchSet>"
        )

    body = f'<matchInteraction responseIdentifier="RESPONSE">{group("ab")}{group("XYZ")}</matchInteraction>'
    return item(f"<p>Match.</p>{body}", declared(key, cardinality="multiple", base=base))


def test_a_match_keeps_unused_targets_as_distractors_and_takes_pairs_either_way() -> None:
    for result in (read(matching("a Y|b X")), read(matching("Y a|b X", base="pair"))):
        body = result.questions[0].body
        assert isinstance(body, Match)
        assert [(pair.left[""], pair.right[""]) for pair in body.pairs] == [("a", "Y"), ("b", "X")]
        assert [distractor.text[""] for distractor in body.distractors] == ["Z"]


@pytest.mark.parametrize(("key", "code"), [("a X|a Y", "QTI-TYPE"), ("a Q", "QTI-KEY"), ("", "NO-KEY")])
def test_a_match_that_has_no_one_partner_for_each_is_refused(key: str, code: str) -> None:
    result = read(matching(key))
    assert (result.imported, result.problems[0].code) == (0, code)


@pytest.mark.parametrize("spelled", [str, version_3])
def test_gaps_in_a_text_become_blanks(spelled: type[str]) -> None:
    options = '<inlineChoice identifier="x">up</inlineChoice><inlineChoice identifier="y">down</inlineChoice>'
    inline = f'<inlineChoiceInteraction responseIdentifier="R2">{options}</inlineChoiceInteraction>'
    body = f'<p>Go <textEntryInteraction responseIdentifier="R1"/> and {inline}.</p>'
    key = declared("north", base="string", ident="R1") + declared("y", ident="R2")
    (found,) = read(spelled(item(body, key))).questions
    assert found.stem[""] == "Go {{b1}} and {{b2}}."
    assert isinstance(found.body, Short)
    assert found.body.blanks[0].accept == (Accept(text="north"),)
    assert [(choice.text[""], choice.correct) for choice in found.body.blanks[1].choices] == [("up", False), ("down", True)]


def test_typed_answers_have_weights_numbers_and_tolerance() -> None:
    entry = '<p>Say</p><textEntryInteraction responseIdentifier="RESPONSE"/>'
    mapping = '<mapping><mapEntry mapKey="York" mappedValue="1"/><mapEntry mapKey="york" mappedValue="0.5" caseSensitive="true"/></mapping>'
    words = read(item(entry, declared("York", base="string", mapping=mapping))).questions[0]
    assert words.stem[""] == "Say"
    assert words.body == Short((Accept(text="York"), Accept(text="york", case=True, credit=0.5)))
    near = (
        "<responseProcessing><responseCondition><responseIf><equal toleranceMode='absolute' tolerance='0.1 0.1'>"
        "<variable identifier='RESPONSE'/><correct identifier='RESPONSE'/></equal><setOutcomeValue identifier='SCORE'>"
        "<baseValue baseType='float'>1</baseValue></setOutcomeValue></responseIf></responseCondition></responseProcessing>"
    )
    assert read(item(entry, declared("2.5", base="float"), near)).questions[0].body == Short((Accept(number=2.5, tolerance=0.1),))


def test_extended_text_is_open_with_the_scorers_rubric() -> None:
    blocks = (("scorer", "Names both flags."), ("candidate", "Take your time."))
    rubric = "".join(f'<rubricBlock view="{view}"><p>{text}</p></rubricBlock>' for view, text in blocks)
    points = '<outcomeDeclaration identifier="MAXSCORE"><defaultValue><value>4</value></defaultValue></outcomeDeclaration>'
    body = f'<p>Why?</p>{rubric}<extendedTextInteraction responseIdentifier="RESPONSE"/>'
    (found,) = read(item(body, declared("Both confirm.", base="string") + points)).questions
    assert found.stem[""] == "Why?\n\nTake your time."
    assert isinstance(found.body, Open)
    assert [(c.points, c.criterion[""]) for c in found.body.rubric] == [(4.0, "Names both flags.")]
    assert found.body.reference is not None
    assert (found.body.reference[""], found.points) == ("Both confirm.", 4.0)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (item(choices("a", "b"), declared("A"), attributes='adaptive="true"'), "QTI-TYPE"),
        (item("<p>Add <printedVariable identifier='x'/></p>" + choices("a", "b"), declared("A")), "QTI-TYPE"),
        (item('<uploadInteraction responseIdentifier="RESPONSE"/>'), "PLAY-UPLOAD"),
        (item('<hotspotInteraction responseIdentifier="RESPONSE"/>'), "QTI-TYPE"),
        (item('<customInteraction responseIdentifier="RESPONSE"/>'), "QTI-TYPE"),
        (item(choices("a", "b") + '<extendedTextInteraction responseIdentifier="R2"/>', declared("A")), "QTI-TYPE"),
    ],
)
def test_items_that_need_a_program_or_a_picture_are_reported(text: str, code: str) -> None:
    result = read(text)
    assert (result.read, result.imported, [problem.code for problem in result.problems]) == (1, 0, [code])


def test_an_item_without_an_interaction_is_information() -> None:
    (found,) = read(item("<p>The next questions use <b>this</b> trace.</p>")).questions
    assert (found.stem[""], isinstance(found.body, Info)) == ("The next questions use **this** trace.", True)


def test_a_package_follows_its_test_with_groups_limits_pictures_and_shared_texts() -> None:
    stimulus = "<qti-assessment-stimulus><qti-stimulus-body><p>Read this.</p></qti-stimulus-body></qti-assessment-stimulus>"
    shared = version_3(item(choices("a", "b"), declared("A"), ident="i2"))
    shared = shared.replace("<qti-item-body>", '<qti-assessment-stimulus-ref href="../texts/t.xml"/><qti-item-body>')
    test = (
        '<assessmentTest title="Mid-term"><testPart><assessmentSection identifier="S1"><selection select="1"/>'
        '<assessmentItemRef href="../items/two.xml"/>'
        '<assessmentItemRef href="../items/one.xml"><timeLimits maxTime="45"/></assessmentItemRef></assessmentSection>'
        '<assessmentSection identifier="S2"><assessmentItemRef href="../items/lost.xml"/></assessmentSection></testPart></assessmentTest>'
    )
    pictures = '<p><img src="pics/a.png" alt="a"/></p><object type="image/png" data="../shared/b.png">b</object>'
    picture = item(pictures + choices("a", "b"), declared("B"))
    data = package(
        {
            "imsmanifest.xml": '<manifest><resource type="imsqti_item_xmlv2p1"/></manifest>',
            "items/one.xml": picture,
            "items/three.xml": item(choices("x", "y"), declared("A"), ident="i3"),
            "items/two.xml": shared,
            "items/pics/a.png": b"A",
            "shared/b.png": b"B",
            "texts/t.xml": stimulus,
            "tests/test.xml": test,
        }
    )
    result = Qti2Reader().read(data, "midterm.zip")
    assert result.quiz is not None
    assert result.quiz.title[""] == "Mid-term"
    two, one, three = result.questions
    assert two.stem[""] == "Read this.\n\nWhich?"
    assert (one.time_limit_s, [result.files[medium.file or ""] for medium in one.media]) == (45, [b"A", b"B"])
    assert ([q.group for q in (two, one, three)], [(g.id, g.pick) for g in result.quiz.select.groups]) == (["s1", "s1", None], [("s1", 1)])
    assert [(p.code, p.severity) for p in result.problems] == [("QTI-MEMBER", Severity.ERROR)]


def test_the_language_of_the_items_is_the_quizs() -> None:
    result = read(item(choices("أ", "ب"), declared("A"), attributes='xml:lang="ar"'))
    assert result.quiz is not None
    assert result.quiz.languages == ("ar",)


def test_a_broken_item_of_a_package_is_named() -> None:
    data = package({"good.xml": item(choices("a", "b"), declared("A")), "bad.xml": "<assessmentItem ><itemBody></assessmentItem>"})
    result = Qti2Reader().read(data, "items.zip")
    assert (result.read, result.imported) == (2, 1)
    assert result.problems[0].question == "bad.xml"


def test_a_package_without_items_is_refused() -> None:
    with pytest.raises(ContentError, match="no assessment item"):
        Qti2Reader().read(package({"imsmanifest.xml": "<manifest/>"}), "empty.zip")
