"""Repairing a live round: a wrong key is set right, another answer accepted, a question taken out of the count.

A repair is a value that is kept with the round and never applied to what was pressed: `keyed` gives a question as it counts
after its repairs, and every score is derived from that. So a repair works the same during a round and a week later, and
taking one back is another repair.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from content.model import Accept, Choices, Question, Short, TrueFalse
from tutor import grading
from tutor.errors import BadResponse
from tutor.grading import FALSE, TRUE, Grade, Response, Selected, Verdict, Written


class Fix(StrEnum):
    KEY = "key"  # the key is exactly this, whatever it was
    ACCEPT = "accept"  # this answer counts in full too
    VOID = "void"  # the question counts for nobody
    RESTORE = "restore"  # it counts again


@dataclass(frozen=True, slots=True)
class Repair:
    """`ids` are option ids (key, accept); `text` is a typed answer to accept."""

    position: int
    fix: Fix
    by: int  # the instructor
    at: datetime  # UTC
    ids: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Keyed:
    """A question with the key that counts now."""

    question: Question
    void: bool = False
    accepted: tuple[tuple[str, ...], ...] = ()  # whole selections that count in full beside the key
    repaired: bool = False

    def grade(self, response: Response, language: str) -> Grade:
        """Raises BadResponse."""
        grade = grading.grade(self.question, response, language)
        if isinstance(response, Selected) and tuple(sorted(response.ids)) in self.accepted:
            return Grade(Verdict.RIGHT, 1.0, grade.feedback)
        return grade


def keyed(question: Question, position: int, repairs: Iterable[Repair]) -> Keyed:
    """The question as it counts after the repairs of its position, in their order."""
    made = Keyed(question)
    for repair in repairs:
        if repair.position == position:
            made = _applied(made, repair)
    return made


def _applied(before: Keyed, repair: Repair) -> Keyed:
    match repair.fix:
        case Fix.VOID:
            return replace(before, void=True, repaired=True)
        case Fix.RESTORE:
            return replace(before, void=False, repaired=True)
        case Fix.KEY:
            return replace(before, question=_rekeyed(before.question, repair.ids), accepted=(), repaired=True)
        case Fix.ACCEPT:
            return _accepting(before, repair)


def check(question: Question, repair: Repair) -> None:
    """Raises BadResponse when the repair cannot belong to this question."""
    match repair.fix, question.body:
        case ((Fix.VOID | Fix.RESTORE), _):
            return
        case Fix.KEY, Choices(choices=choices, many=many):
            known = {choice.id for choice in choices}
            if not repair.ids or not set(repair.ids) <= known or (not many and len(repair.ids) != 1):
                raise BadResponse("a key names one choice, or several where several may be chosen")
        case ((Fix.KEY | Fix.ACCEPT), TrueFalse()):
            if repair.ids not in ((TRUE,), (FALSE,)):
                raise BadResponse("the key of a statement is true or false")
        case Fix.ACCEPT, Choices():
            grading.grade(question, Selected(repair.ids), "")
        case Fix.ACCEPT, Short(blanks=()):
            if not (repair.text or "").strip():
                raise BadResponse("an accepted answer needs a text")
        case _:
            raise BadResponse(f"a {question.type} question can be voided, not given another key")


def _rekeyed(question: Question, ids: tuple[str, ...]) -> Question:
    match question.body:
        case Choices(choices=choices) as body:
            # the old key, and what was worth a part beside it, was judged by a mistaken eye: only the new key counts
            judged = tuple(replace(choice, credit=1.0 if choice.id in ids else min(0.0, choice.credit)) for choice in choices)
            return replace(question, body=replace(body, choices=judged))
        case TrueFalse() as body:
            return replace(question, body=replace(body, answer=ids == (TRUE,)))
        case _:
            return question


def _accepting(before: Keyed, repair: Repair) -> Keyed:
    question = before.question
    if isinstance(question.body, Short) and repair.text is not None:
        body = replace(question.body, accept=(Accept(text=repair.text.strip()), *question.body.accept))
        return replace(before, question=replace(question, body=body), repaired=True)
    return replace(before, accepted=(*before.accepted, tuple(sorted(repair.ids))), repaired=True)


def key_ids(made: Keyed) -> frozenset[str]:
    """Option ids that are right on their own: what a chart marks."""
    match made.question.body:
        case Choices(choices=choices):
            alone = {ids[0] for ids in made.accepted if len(ids) == 1}
            return frozenset({choice.id for choice in choices if choice.correct} | alone)
        case TrueFalse(answer=answer):
            return frozenset({TRUE if answer else FALSE} | {ids[0] for ids in made.accepted})
        case _:
            return frozenset()


def right_answer(made: Keyed, language: str) -> tuple[str, ...]:
    """The lines of the key as it counts now, accepted answers included."""
    lines = list(grading.right_answer(made.question, language))
    body = made.question.body
    for ids in made.accepted:
        if isinstance(body, Choices):
            texts = {choice.id: choice.text[language] for choice in body.choices}
            line = ", ".join(texts.get(key, key) for key in ids)
        else:
            line = ", ".join(ids)
        if line not in lines:
            lines.append(line)
    return tuple(lines)


def same_answer(question: Question, left: Response, right: Response) -> bool:
    """Whether two answers are one answer: the order of selections and the spelling of a text do not matter."""
    if isinstance(left, Selected) and isinstance(right, Selected):
        return sorted(left.ids) == sorted(right.ids)
    if isinstance(left, Written) and isinstance(right, Written):
        return grading.normalised(left.text) == grading.normalised(right.text)
    return left == right
