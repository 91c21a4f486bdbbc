"""Quizzes, rounds and presses for the tests of live rounds, and a round played on the pure core alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from content.model import Accept, Choice, Choices, GuideRef, Item, Match, Order, Pair, Question, Quiz, Scoring, Short, Text, TrueFalse
from tutor.grading import Response, Selected
from tutor.live import GRACE_S, LiveRound, Rules
from tutor.live_press import judged, refusal_of
from tutor.scoring import Board, Press, Seat, board

T0 = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def single(question_id: str, key: str = "b", *, points: float = 1.0, options: str = "abcd") -> Question:
    choices = tuple(
        Choice(letter, Text.of(f"Option {letter}", "en"), 1.0 if letter == key else 0.0, Text.of(f"About {letter}", "en"))
        for letter in options
    )
    stem = Text({"en": f"What is {question_id}?", "ko": f"{question_id}은 무엇입니까?"})
    return Question(question_id, stem, Choices(choices), explanation=Text.of(f"Because of {key}.", "en"), points=points)


def every_kind() -> tuple[Question, ...]:
    """One question of each kind that a live round can ask."""
    many = Choices(tuple(Choice(x, Text.of(x.upper()), 1.0 if x in "ac" else 0.0) for x in "abcd"), many=True, scoring=Scoring.PER_CHOICE)
    return (
        single("one"),
        Question("several", Text.of("Which ones?"), many),
        Question("claim", Text.of("True?"), TrueFalse(answer=True, feedback={False: Text.of("No.")})),
        Question("typed", Text.of("Which port?"), Short(accept=(Accept(number=443.0), Accept(text="https", credit=0.5)))),
        Question("row", Text.of("In order?"), Order(tuple(Item(x, Text.of(x)) for x in "pqr"), Scoring.ADJACENT)),
        Question("pairs", Text.of("Match?"), Match((Pair("x", Text.of("X"), Text.of("1")), Pair("y", Text.of("Y"), Text.of("2"))))),
    )


def quiz(questions: Sequence[Question] | None = None) -> Quiz:
    asked = tuple(questions) if questions else (single("alpha", "b"), single("beta", "c"), single("gamma", "a"))
    return Quiz("harbour-quiz", 3, Text({"en": "The harbour", "ko": "항구"}), ("en", "ko"), asked, guide=GuideRef("harbour"))


def new_round(rules: Rules | None = None, questions: Sequence[Question] | None = None, round_id: str = "0123456789ab") -> LiveRound:
    return LiveRound(round_id, 1, 2, 3, quiz(questions), "en", rules or Rules(seconds=20), 7, T0)


@dataclass
class Played:
    """A round on the core alone: presses are judged as the store judges them, in the order they are delivered."""

    round: LiveRound
    presses: list[Press] = field(default_factory=list)
    seats: dict[int, Seat] = field(default_factory=dict)

    def seat(self, learner_id: int, factor: float = 1.0) -> None:
        self.seats.setdefault(learner_id, Seat(learner_id, f"P{learner_id}", len(self.seats) + 1, None, factor))

    def deliver(self, press: Press) -> str:
        """The outcome or the refusal, as text."""
        seat = self.seats.get(press.learner_id)
        refusal = refusal_of(self.round, seat, press, factor=seat.factor if seat else 1.0)
        if refusal is not None:
            return refusal.value
        self.seat(press.learner_id)
        receipt = judged(self.round, self.seats[press.learner_id], self.presses, press)
        if press.press_id not in {kept.press_id for kept in self.presses}:
            self.presses.append(press)
        assert receipt.outcome is not None
        return receipt.outcome.value

    def press(self, number: int, learner_id: int, choice: str, at: float, *, position: int | None = None, vote: int | None = None) -> str:
        current = self.round.current
        where = self.round.position if position is None else position
        return self.deliver(press(number, learner_id, choice, at, where, vote or (current.vote if current else 1)))

    def last_press(self) -> datetime | None:
        current = self.round.current
        if current is None:
            return None
        mine = [p.pressed_at for p in self.presses if (p.position, p.vote) == (current.position, current.vote)]
        return max(mine, default=None)

    def next(self, at: float) -> None:
        self.round = self.round.advanced(now=after(at), last_press=self.last_press())

    def tick(self, at: float, wait_until: datetime | None = None) -> None:
        self.round = self.round.ticked(now=after(at), wait_until=wait_until)

    def finish_question(self) -> None:
        """Let the time run out and the key be shown."""
        deadline = self.round.current.deadline if self.round.current else None
        assert deadline is not None
        self.round = self.round.ticked(now=deadline)
        self.round = self.round.ticked(now=deadline + timedelta(seconds=GRACE_S))

    def board(self) -> Board:
        return board(self.round, self.presses, list(self.seats.values()))

    def points(self) -> dict[int, float]:
        return {standing.seat.learner_id: standing.points for standing in self.board().standings}


def press(number: int, learner_id: int, choice: str | Response, at: float, position: int = 0, vote: int = 1) -> Press:
    response = Selected((choice,)) if isinstance(choice, str) else choice
    return Press(number, position, vote, learner_id, response, after(at))


def started(rules: Rules | None = None, questions: Sequence[Question] | None = None, people: Iterable[int] = ()) -> Played:
    played = Played(new_round(rules, questions))
    for learner_id in people:
        played.seat(learner_id)
    played.next(0)
    return played
