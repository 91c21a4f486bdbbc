"""The shipped library as a whole: every question can be answered right and wrong in every language it has, and says why.

Proves keys against the gradings of `tutor.grading` and texts against their languages. That the keys are true was checked by people
against the table of facts; that every named fact exists, by `studyhall check --facts`.
"""

from __future__ import annotations

import pytest

from content.leaks import leak
from content.load import SHIPPED, load_library
from content.model import LANGUAGES, Choices, Match, Open, Order, Question, Quiz, Short, TrueFalse
from content.report import to_json
from tutor.grading import FALSE, TRUE, Arranged, Filled, Paired, Response, Selected, Verdict, Written, grade, right_answer

LOADED = load_library([SHIPPED])
QUIZZES = LOADED.library.quizzes
PLAYED = [(quiz.id, language) for quiz in QUIZZES.values() for language in quiz.languages]


def responses(question: Question) -> tuple[Response, Response]:
    """One that is right and one that is wrong."""
    match question.body:
        case Choices(choices=choices):
            keys = tuple(choice.id for choice in choices if choice.correct)
            wrong = tuple(choice.id for choice in choices if not choice.correct)[:1]
            return Selected(keys), Selected(wrong)
        case TrueFalse(answer=answer):
            return Selected((TRUE if answer else FALSE,)), Selected((FALSE if answer else TRUE,))
        case Short(accept=accept, blanks=()):
            entry = next(entry for entry in accept if entry.credit >= 1 and entry.regex is None)
            shown = entry.text or (f"{entry.number:g}" if entry.number is not None else f"{(entry.span or (0, 0))[0]:g}")
            return Written(f"{shown} {entry.unit or ''}".strip()), Written("certainly not")
        case Short(blanks=blanks):
            return Filled({b.id: b.accept[0].text or f"{b.accept[0].number:g}" for b in blanks}), Filled({})
        case Order(items=items):
            ids = tuple(item.id for item in items)
            return Arranged(ids), Arranged(tuple(reversed(ids)))
        case Match(pairs=pairs):
            ids = [pair.id for pair in pairs]
            return Paired(dict(zip(ids, ids, strict=True))), Paired(dict(zip(ids, ids[1:] + ids[:1], strict=True)))
        case _:
            raise AssertionError(f"{question.type} is not graded")


@pytest.mark.parametrize(("quiz_id", "language"), PLAYED)
def test_every_question_is_played_right_and_wrong_in_every_language(quiz_id: str, language: str) -> None:
    quiz: Quiz = QUIZZES[quiz_id]
    for question in quiz.questions:
        for text in (question.stem, question.explanation, *question.hints):
            assert text is not None
            assert text.pick(language).language in ("", language), f"{question.id} falls back"
        if isinstance(question.body, Open):
            assert right_answer(question, language)
            continue
        right, wrong = (grade(question, response, language) for response in responses(question))
        assert right.verdict is Verdict.RIGHT, question.id
        assert wrong.verdict is Verdict.WRONG, question.id
        for feedback in (*right.feedback, *wrong.feedback):
            assert feedback.pick(language).language in ("", language)
        for hint in question.hints:
            assert leak(hint[language], question) is None, f"{question.id}: {hint[language]}"


def test_the_library_has_what_it_promises_in_each_language() -> None:
    counts = to_json(LOADED, LOADED.faults)["languages"]
    assert set(counts) == set(LANGUAGES)
    for language in LANGUAGES:
        assert counts[language]["guides"] == 3
        assert counts[language]["by_level"]["intermediate"] >= 16
    for language in ("en", "zh"):
        assert counts[language]["by_type"]["open"] == 50
        levels = counts[language]["by_level"]
        assert levels["beginner"] >= 24
        assert levels["advanced"] >= 24
