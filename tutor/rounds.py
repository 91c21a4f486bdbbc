"""One learner's solo round as plain values: an answer goes in, the next round comes out.

Nothing here reads a clock, a file, a random generator or Discord: callers pass those facts in. The state is exactly what
the store keeps, so a round that was killed goes on where it stood.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from content.model import Choice, Choices, Info, Match, Open, Order, Question, Quiz, Short
from tutor.errors import StaleAnswer
from tutor.grading import Grade, Response, Verdict


class Mode(StrEnum):
    PRACTICE = "practice"  # verdict and explanation after each answer
    EXAM = "exam"  # everything at the end


@dataclass(frozen=True, slots=True)
class Answer:
    question_id: str
    response: Response
    grade: Grade  # without feedback texts: those are read from the quiz
    points: float
    at: datetime  # UTC


@dataclass(frozen=True, slots=True)
class Round:
    """`orders` gives, per question id, the option ids in the order this learner sees them."""

    id: str
    learner_id: int
    guild_id: int | None
    channel_id: int | None
    quiz_id: str
    quiz_version: int
    language: str
    mode: Mode
    question_ids: tuple[str, ...]
    orders: Mapping[str, tuple[str, ...]]
    started_at: datetime  # UTC
    asked_at: datetime  # UTC: when the open question was shown
    answers: tuple[Answer, ...] = ()
    finished_at: datetime | None = None

    @property
    def position(self) -> int:
        """Index of the open question, which is the number of those answered."""
        return len(self.answers)

    @property
    def open_question(self) -> str | None:
        return self.question_ids[self.position] if self.position < len(self.question_ids) and not self.finished_at else None

    @property
    def points(self) -> float:
        return sum(answer.points for answer in self.answers)

    def answered(self, question_id: str, response: Response, grade: Grade, points: float, *, now: datetime) -> Round:
        """The round after this answer; `points` is what the question is worth in full.

        Raises StaleAnswer for a second press of one button, and for any question but the open one.
        """
        if question_id != self.open_question:
            raise StaleAnswer(f"answer to {question_id!r}, but the open question is {self.open_question!r}")
        bare = Grade(grade.verdict, grade.credit)
        answers = (*self.answers, Answer(question_id, response, bare, grade.credit * points, now))
        finished = now if len(answers) == len(self.question_ids) else None
        return replace(self, answers=answers, asked_at=now, finished_at=finished)

    def abandoned(self, *, now: datetime) -> Round:
        """The round ended early by its learner; what was answered counts, what was not is not asked any more."""
        return self if self.finished_at else replace(self, finished_at=now)

    def answer_to(self, question_id: str) -> Answer | None:
        return next((answer for answer in self.answers if answer.question_id == question_id), None)


@dataclass(frozen=True, slots=True)
class Score:
    points: float
    possible: float
    right: int
    partly: int
    wrong: int
    ungraded: int
    taken: timedelta

    @property
    def share(self) -> float:
        return self.points / self.possible if self.possible else 0.0


def score(round_: Round, quiz: Quiz, *, now: datetime) -> Score:
    """The score so far. Ungraded (open) questions add nothing to what is possible."""
    tally = dict.fromkeys(Verdict, 0)
    possible = 0.0
    for answer in round_.answers:
        tally[answer.grade.verdict] += 1
        question = quiz.question(answer.question_id)
        if question is not None and answer.grade.verdict is not Verdict.UNGRADED:
            possible += question.points
    return Score(
        points=round_.points,
        possible=possible,
        right=tally[Verdict.RIGHT],
        partly=tally[Verdict.PARTLY],
        wrong=tally[Verdict.WRONG],
        ungraded=tally[Verdict.UNGRADED],
        taken=(round_.finished_at or now) - round_.started_at,
    )


def missed(round_: Round) -> tuple[str, ...]:
    """Question ids answered wrong or partly, in the order asked."""
    return tuple(a.question_id for a in round_.answers if a.grade.verdict in (Verdict.WRONG, Verdict.PARTLY))


def chosen_questions(quiz: Quiz, *, count: int | None, shuffled: bool, rng: random.Random) -> tuple[str, ...]:
    """Which questions this round asks. `count` None means: as many as the quiz says, else all.

    Info texts stay directly before the question that they introduce.
    """
    wanted = count or quiz.select.pick
    blocks = _blocks(quiz.questions)
    if quiz.select.groups:
        picked: list[list[Question]] = []
        for group in quiz.select.groups:
            of_group = [block for block in blocks if block[-1].group == group.id]
            picked += rng.sample(of_group, min(group.pick, len(of_group)))
        blocks = picked + [block for block in blocks if block[-1].group is None]
    if shuffled or quiz.select.shuffled:
        rng.shuffle(blocks)
    elif wanted is not None and wanted < len(blocks):
        kept = sorted(rng.sample(range(len(blocks)), wanted))
        blocks = [blocks[index] for index in kept]
    return tuple(question.id for block in blocks[:wanted] for question in block)


def _blocks(questions: tuple[Question, ...]) -> list[list[Question]]:
    """Each scored question with the info texts directly before it."""
    blocks: list[list[Question]] = []
    infos: list[Question] = []
    for question in questions:
        if isinstance(question.body, Info):
            infos.append(question)
        else:
            blocks.append([*infos, question])
            infos = []
    return blocks


def option_order(question: Question, *, shuffled: bool, rng: random.Random) -> tuple[str, ...]:
    """Option ids in the order shown. Order and match questions are always shuffled: their file order is the key."""
    match question.body:
        case Choices(choices=choices):
            return _shuffled_choices(choices, rng) if shuffled and question.shuffle else tuple(choice.id for choice in choices)
        case Order(items=items):
            return _not_as_written([item.id for item in items], rng)
        case Match(pairs=pairs, distractors=distractors):
            return _not_as_written([pair.id for pair in pairs] + [item.id for item in distractors], rng)
        case _:
            return ()


def _shuffled_choices(choices: tuple[Choice, ...], rng: random.Random) -> tuple[str, ...]:
    movable = [choice.id for choice in choices if not choice.fixed]
    rng.shuffle(movable)
    moved = iter(movable)
    return tuple(choice.id if choice.fixed else next(moved) for choice in choices)


def _not_as_written(ids: list[str], rng: random.Random) -> tuple[str, ...]:
    """A shuffle that never shows the right order by chance."""
    shown = ids[:]
    while shown == ids and len(ids) > 1:
        rng.shuffle(shown)
    return tuple(shown)


MOST_ORDERED: Final = 6
MOST_MATCHED: Final = 5
MOST_BLANKS: Final = 5
"""A modal holds five components [Discord: interactions/receiving-and-responding]; of six items in order the last place is implied."""


def playable(question: Question) -> bool:
    """Whether a round can ask it: open questions belong to the interview bank, and a modal has its limits."""
    match question.body:
        case Open():
            return False
        case Order(items=items):
            return len(items) <= MOST_ORDERED
        case Match(pairs=pairs):
            return len(pairs) <= MOST_MATCHED
        case Short(blanks=blanks):
            return len(blanks) <= MOST_BLANKS
        case _:
            return True
