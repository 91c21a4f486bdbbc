"""What becomes of one press in a live round: whether it counts, whether its person gets a seat, what the receipt says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from content.model import Question
from tutor import grading
from tutor.errors import StaleAnswer
from tutor.live import LiveRound, Phase, Refusal
from tutor.live_repair import same_answer
from tutor.scoring import Press, Seat, standing_presses


class Outcome(StrEnum):
    RECORDED = "recorded"
    CHANGED = "changed"  # it replaces an earlier answer
    SAME = "same"  # the answer was that already
    KEPT = "kept"  # an earlier answer stands: the round locks the first one
    OVERTAKEN = "overtaken"  # a later press of the same person arrived before this one, and stands


@dataclass(frozen=True, slots=True)
class Receipt:
    """Exactly one of `outcome` and `refusal` is there. `standing` is the answer of this person that counts now."""

    round: LiveRound
    position: int
    vote: int
    outcome: Outcome | None
    refusal: Refusal | None = None
    standing: Press | None = None
    seat: Seat | None = None
    language: str | None = None  # what the person chose for themselves

    @property
    def question(self) -> Question | None:
        """The question of the press; None when the round has no such question."""
        questions = self.round.quiz.questions
        return questions[self.position] if 0 <= self.position < len(questions) else None


def refusal_of(round_: LiveRound, seat: Seat | None, press: Press, *, factor: float) -> Refusal | None:
    refusal = round_.refusal(press.position, press.vote, press.pressed_at, factor)
    if refusal is None and seat is None and not round_.rules.late_join:
        return Refusal.NOT_IN
    return refusal


def judged(round_: LiveRound, seat: Seat, earlier: Iterable[Press], press: Press) -> Receipt:
    """The receipt of a press that counts, together with the earlier ones of the same person, question and vote.

    Raises BadResponse when it cannot be an answer to the question.
    """
    asking = round_.asking(press.position, press.vote)
    if asking is None:
        raise StaleAnswer(f"round {round_.id} has not asked question {press.position + 1}")
    question = round_.quiz.questions[press.position]
    grading.grade(question, press.response, round_.language)
    factors = {press.learner_id: seat.factor}
    before = standing_presses(asking, (other for other in earlier if other.press_id != press.press_id), factors, locked=round_.rules.locked)
    together = [*(held for held, _ in before.values()), press]
    held, _ = standing_presses(asking, together, factors, locked=round_.rules.locked)[press.learner_id]
    previous = before[press.learner_id][0] if press.learner_id in before else None
    if held is not press:
        outcome = Outcome.KEPT if round_.rules.locked else Outcome.OVERTAKEN
    elif previous is None:
        outcome = Outcome.RECORDED
    else:
        outcome = Outcome.SAME if same_answer(question, previous.response, press.response) else Outcome.CHANGED
    return Receipt(round_, press.position, press.vote, outcome, standing=held, seat=seat)


def seat_for(
    round_: LiveRound, learner_id: int, name: str, *, number: int, team: int | None, taken: Mapping[int | None, int], factor: float
) -> Seat:
    """A new seat; `taken` counts the seats by team. Without a wish the smallest team is chosen, the first of equals."""
    if not round_.rules.teams:
        return Seat(learner_id, name, number, None, factor)
    if team is None or not 0 <= team < round_.rules.teams:
        team = min(range(round_.rules.teams), key=lambda index: (taken.get(index, 0), index))
    return Seat(learner_id, name, number, team, factor)


def may_join(round_: LiveRound) -> bool:
    return round_.phase is Phase.LOBBY or (round_.rules.late_join and round_.phase is not Phase.ENDED)


def own_until(receipt: Receipt) -> datetime | None:
    """The private deadline of somebody with extra time; None for everybody else, and for those without a limit."""
    asking = receipt.round.asking(receipt.position, receipt.vote)
    if asking is None or receipt.seat is None or receipt.seat.factor <= 1:
        return None
    return asking.own_deadline(receipt.seat.factor)
