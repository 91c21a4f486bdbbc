"""H5P: each content type that has a native counterpart, alone and in sets; the rest is reported.

Proves what params become; a real question set is in test_samples.py.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest

from content.model import Choices, ContentError, Open, Order, Scoring, Short, TrueFalse
from content.readers.base import Import
from content.readers.h5p import H5pReader


def package(
    library: str, content: Mapping[str, Any], about: Mapping[str, Any] | None = None, files: Mapping[str, bytes] | None = None
) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        opened.writestr("h5p.json", json.dumps({"title": "Ports", "mainLibrary": library, "language": "en", **(about or {})}))
        opened.writestr("content/content.json", json.dumps(content))
        for name, data in (files or {}).items():
            opened.writestr(name, data)
    return out.getvalue()


def read(library: str, content: Mapping[str, Any], **more: Any) -> Import:
    return H5pReader().read(package(library, content, **more), "quiz.h5p")


def choice(text: str, *, right: bool, said: str = "") -> dict[str, Any]:
    return {"text": f"<div>{text}</div>", "correct": right, "tipsAndFeedback": {"chosenFeedback": said, "tip": "", "notChosenFeedback": ""}}


def test_multiple_choice_has_feedback_picture_and_licence() -> None:
    content = {
        "question": "<p>Which?</p>",
        "answers": [choice("SYN", right=True, said="Yes!"), choice("FIN", right=False)],
        "media": {"type": {"library": "H5P.Image 1.1", "params": {"file": {"path": "images/a.png"}, "alt": "A flag"}}},
        "overallFeedback": [{"from": 0, "to": 100, "feedback": "RFC 793."}],
    }
    about = {"license": "CC BY-SA", "licenseVersion": "4.0", "authors": [{"name": "Ada"}], "source": "https://example.org"}
    result = read("H5P.MultiChoice", content, about=about, files={"content/images/a.png": b"PNG"})
    (found,) = result.questions
    assert isinstance(found.body, Choices)
    assert [(c.text[""], c.correct, c.feedback and c.feedback[""]) for c in found.body.choices] == [
        ("SYN", True, "Yes!"),
        ("FIN", False, None),
    ]
    assert (found.stem[""], found.media[0].alt[""], result.files) == ("Which?\n\n![](m1)", "A flag", {"a.png": b"PNG"})
    assert found.explanation is not None
    assert found.explanation[""] == "RFC 793."
    assert result.quiz is not None
    assert result.quiz.source is not None
    assert (result.quiz.title[""], result.quiz.source.licence, result.quiz.source.author) == ("Ports", "CC-BY-SA-4.0", "Ada")


def test_several_right_answers_make_a_multiple_choice() -> None:
    answers = [choice("a", right=True), choice("b", right=True), choice("c", right=False)]
    each = read("H5P.MultiChoice", {"question": "Q?", "answers": answers}).questions[0].body
    whole = read("H5P.MultiChoice", {"question": "Q?", "answers": answers, "behaviour": {"singlePoint": True}}).questions[0].body
    assert isinstance(each, Choices)
    assert isinstance(whole, Choices)
    assert (each.many, each.scoring, whole.scoring) == (True, Scoring.PER_CHOICE, Scoring.ALL_OR_NOTHING)


@pytest.mark.parametrize(("correct", "answer"), [("true", True), ("false", False), (True, True)])
def test_the_string_true_is_true(correct: object, answer: bool) -> None:
    content = {"question": "UDP has no handshake.", "correct": correct, "behaviour": {"feedbackOnCorrect": "Right."}}
    body = read("H5P.TrueFalse", content).questions[0].body
    assert isinstance(body, TrueFalse)
    assert (body.answer, body.feedback[answer][""]) == (answer, "Right.")


def test_a_single_choice_set_is_one_question_each_and_the_first_is_right() -> None:
    choices = [{"subContentId": f"s{i}", "question": f"<p>Q{i}?</p>", "answers": ["<p>yes</p>", "<p>no</p>"]} for i in range(3)]
    result = read("H5P.SingleChoiceSet", {"choices": choices})
    assert [(q.id, q.stem[""]) for q in result.questions] == [("s0", "Q0?"), ("s1", "Q1?"), ("s2", "Q2?")]
    body = result.questions[0].body
    assert isinstance(body, Choices)
    assert [c.correct for c in body.choices] == [True, False]


def test_blanks_have_alternatives_tips_and_case() -> None:
    gaps = "<p>A *SYN/syn flag:three letters* opens, <em>then</em> *ACK*.</p>"
    content = {"text": "<p>Fill in.</p>", "questions": [gaps], "behaviour": {"caseSensitive": True}}
    (found,) = read("H5P.Blanks", content).questions
    assert found.stem[""] == "Fill in.\n\nA {{b1}} opens, *then* {{b2}}."
    assert isinstance(found.body, Short)
    assert [[(a.text, a.case) for a in blank.accept] for blank in found.body.blanks] == [
        [("SYN", True), ("syn flag", True)],
        [("ACK", True)],
    ]
    assert [hint[""] for hint in found.hints] == ["three letters"]


def test_words_to_drag_are_offered_for_every_gap_with_the_wrong_ones() -> None:
    content = {"taskDescription": "Drag.", "textField": "*SYN* opens,\n*FIN:last\\+good\\-bad* closes", "distractors": "*RST*"}
    (found,) = read("H5P.DragText", content).questions
    assert found.stem[""] == "Drag.\n\n{{b1}} opens,\n{{b2}} closes"
    assert isinstance(found.body, Short)
    assert [[(c.text[""], c.correct) for c in blank.choices] for blank in found.body.blanks] == [
        [("SYN", True), ("FIN", False), ("RST", False)],
        [("SYN", False), ("FIN", True), ("RST", False)],
    ]


def test_an_essay_has_its_keywords_as_rubric() -> None:
    keywords = [{"keyword": "sequence", "alternatives": ["seq"], "options": {"points": 2}}, {"keyword": "acknowledge"}]
    content = {"taskDescription": "<p>Why three?</p>", "keywords": keywords, "solution": {"sample": "<p>Both confirm.</p>"}}
    body = read("H5P.Essay", content).questions[0].body
    assert isinstance(body, Open)
    assert [(c.points, c.criterion[""]) for c in body.rubric] == [(2.0, "sequence / seq"), (1.0, "acknowledge")]
    assert body.reference is not None
    assert body.reference[""] == "Both confirm."


def test_paragraphs_to_sort_are_in_their_order() -> None:
    body = read("H5P.SortParagraphs", {"taskDescription": "Sort.", "paragraphs": ["<p>first</p>", "<p>second</p>"]}).questions[0].body
    assert isinstance(body, Order)
    assert [item.text[""] for item in body.items] == ["first", "second"]


def test_sets_inside_columns_are_gone_through_and_the_rest_is_reported() -> None:
    def entry(library: str, params: Mapping[str, Any], title: str) -> dict[str, Any]:
        return {"library": f"{library} 1.0", "params": params, "metadata": {"title": title}, "subContentId": title}

    truth = entry("H5P.TrueFalse", {"question": "Q?", "correct": "true"}, "Truth")
    video = entry("H5P.InteractiveVideo", {}, "Film")
    text = entry("H5P.AdvancedText", {"text": "between"}, "Text")
    inner = entry("H5P.QuestionSet", {"questions": [truth, video]}, "Set")
    result = read("H5P.Column", {"content": [{"content": inner}, {"content": text}]})
    assert (result.read, result.imported) == (2, 1)
    assert [(p.code, p.question) for p in result.problems] == [("H5P-TYPE", "Film")]


@pytest.mark.parametrize(
    "content",
    [
        {"question": "Q?", "answers": [choice("a", right=False), choice("b", right=False)]},
        {"question": 3, "answers": "none"},
        {"answers": [None, 1, {"text": 2}]},
    ],
)
def test_unusable_params_are_an_error_not_a_crash(content: Mapping[str, Any]) -> None:
    result = read("H5P.MultiChoice", content)
    assert (result.read, result.imported, len(result.problems)) == (1, 0, 1)


def test_a_thousand_nested_sets_are_refused() -> None:
    content: dict[str, Any] = {}
    for _ in range(40):
        content = {"questions": [{"library": "H5P.QuestionSet 1.0", "params": content}]}
    with pytest.raises(ContentError):
        read("H5P.QuestionSet", content)
