"""What the answers of a round say about its questions: difficulty, discrimination, dead distractors, suspected wrong keys.

Difficulty is the mean credit of those who answered (0 hard, 1 easy). Discrimination is the correlation between the credit
on the question and the credit on all the other questions (corrected point-biserial, −1..1): negative means that those who
know more do worse, which usually is the key's fault. With fewer people than `ENOUGH` nothing is judged, only counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from content.model import Choices, Question, TrueFalse
from tutor.grading import FALSE, TRUE, Response, Selected, Verdict
from tutor.live import LiveRound
from tutor.live_repair import Keyed, key_ids, keyed
from tutor.scoring import Board, Line, Press, standing_presses

ENOUGH: Final = 10
"""People who answered, below which discrimination is noise (its standard error is about 1/√n: 0.3 at ten)."""
DEAD_SHARE: Final = 0.05
"""A distractor chosen by fewer does no work: the usual line in item analysis (Haladyna and Downing 1993)."""
WEAK: Final = 0.1  # discrimination below it is worth a look


@dataclass(frozen=True, slots=True)
class OptionFigures:
    id: str
    count: int
    share: float  # of those who answered
    right: bool
    discrimination: float | None  # correlation of choosing it with the rest score
    dead: bool


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    position: int
    question: Question
    void: bool
    repaired: bool
    answered: int
    missing: int
    right: int
    partly: int
    wrong: int
    difficulty: float | None
    discrimination: float | None
    median_s: float | None
    options: tuple[OptionFigures, ...]
    suspected_key: str | None  # the option that behaves like the key while the key does not
    lost: int = 0

    @property
    def dead(self) -> tuple[str, ...]:
        return tuple(option.id for option in self.options if option.dead)


def figures(round_: LiveRound, board: Board, lost: Mapping[int, int]) -> tuple[QuestionFigures, ...]:
    """Of every revealed question in the order asked, voided ones with their counts left out. `lost`: position -> signals."""
    found: list[QuestionFigures] = []
    for position, question in enumerate(round_.quiz.questions):
        if not round_.shown(position):
            continue
        made = keyed(question, position, round_.repairs)
        lines = [(line, standing.lines) for standing in board.standings for line in standing.lines if line.position == position]
        found.append(_figures(position, made, lines, lost.get(position, 0)))
    return tuple(found)


def _figures(position: int, made: Keyed, lines: Sequence[tuple[Line, Sequence[Line]]], lost: int) -> QuestionFigures:
    answered = [(line, rest) for line, rest in lines if line.response is not None]
    credits = [line.credit for line, _ in answered]
    rests = [math.fsum(other.credit for other in rest if other.position != position) for _, rest in answered]
    enough = len(answered) >= ENOUGH
    options = _options(made, [line.response for line, _ in answered], rests, enough=enough)
    times = sorted(line.taken_s for line, _ in answered if line.taken_s is not None)
    discrimination = correlation(credits, rests) if enough else None
    return QuestionFigures(
        position=position,
        question=made.question,
        void=made.void,
        repaired=made.repaired,
        answered=len(answered),
        missing=len(lines) - len(answered),
        right=sum(line.verdict is Verdict.RIGHT for line, _ in answered),
        partly=sum(line.verdict is Verdict.PARTLY for line, _ in answered),
        wrong=sum(line.verdict is Verdict.WRONG for line, _ in answered),
        difficulty=math.fsum(credits) / len(credits) if credits else None,
        discrimination=discrimination,
        median_s=times[len(times) // 2] if times else None,
        options=options,
        suspected_key=_suspected(options, discrimination) if enough else None,
        lost=lost,
    )


def _options(made: Keyed, responses: Sequence[Response | None], rests: Sequence[float], *, enough: bool) -> tuple[OptionFigures, ...]:
    keys = key_ids(made)
    found: list[OptionFigures] = []
    for option_id in option_ids(made.question):
        chosen = [float(isinstance(response, Selected) and option_id in response.ids) for response in responses]
        count = int(sum(chosen))
        share = count / len(responses) if responses else 0.0
        found.append(
            OptionFigures(
                id=option_id,
                count=count,
                share=share,
                right=option_id in keys,
                discrimination=correlation(chosen, rests) if enough else None,
                dead=enough and option_id not in keys and share < DEAD_SHARE,
            )
        )
    return tuple(found)


def _suspected(options: Sequence[OptionFigures], discrimination: float | None) -> str | None:
    """A distractor that the stronger people choose, while the key does not tell strong from weak."""
    if discrimination is not None and discrimination >= WEAK:
        return None
    keys = [option.discrimination or 0.0 for option in options if option.right]
    rivals = [option for option in options if not option.right and (option.discrimination or 0.0) > max([WEAK, *keys])]
    return max(rivals, key=lambda option: option.discrimination or 0.0).id if rivals else None


def correlation(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Pearson's r; None when one side does not vary."""
    count = len(left)
    if count < 2:
        return None
    mean_left, mean_right = math.fsum(left) / count, math.fsum(right) / count
    spread_left = math.fsum((value - mean_left) ** 2 for value in left)
    spread_right = math.fsum((value - mean_right) ** 2 for value in right)
    if spread_left < 1e-12 or spread_right < 1e-12:
        return None
    shared = math.fsum((a - mean_left) * (b - mean_right) for a, b in zip(left, right, strict=True))
    return max(-1.0, min(1.0, shared / math.sqrt(spread_left * spread_right)))


def option_ids(question: Question) -> tuple[str, ...]:
    """What a distribution can be drawn over; empty for typed, ordered and matched answers."""
    match question.body:
        case Choices(choices=choices):
            return tuple(choice.id for choice in choices)
        case TrueFalse():
            return (TRUE, FALSE)
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class Split:
    """How one vote went. `counts` is by option id, and empty for typed, ordered and matched answers."""

    position: int
    vote: int
    answered: int
    counts: Mapping[str, int]
    right: int
    keys: frozenset[str]


def split(round_: LiveRound, position: int, vote: int, presses: Iterable[Press], factors: Mapping[int, float]) -> Split:
    """The distribution of one vote; one answer of several selections counts for each of them."""
    made = keyed(round_.quiz.questions[position], position, round_.repairs)
    asking = round_.asking(position, vote)
    held = standing_presses(asking, presses, factors, locked=round_.rules.locked) if asking else {}
    counts = dict.fromkeys(option_ids(made.question), 0)
    right = 0
    for press, _ in held.values():
        right += made.grade(press.response, round_.language).verdict is Verdict.RIGHT
        if isinstance(press.response, Selected):
            for option_id in press.response.ids:
                counts[option_id] = counts.get(option_id, 0) + 1
    return Split(position, vote, len(held), counts, right, key_ids(made))


def changed(round_: LiveRound, position: int, presses: Iterable[Press], factors: Mapping[int, float]) -> int:
    """How many people have another credit on this question than they would have without its repairs."""
    question = round_.quiz.questions[position]
    made, plain = keyed(question, position, round_.repairs), Keyed(question)
    if not made.repaired:
        return 0
    held: dict[int, Press] = {}
    known = list(presses)
    for asking in (asking for asking in round_.askings if asking.position == position):
        held |= {learner: press for learner, (press, _) in standing_presses(asking, known, factors, locked=round_.rules.locked).items()}
    return sum(
        plain.grade(press.response, round_.language).credit != (0.0 if made.void else made.grade(press.response, round_.language).credit)
        for press in held.values()
    )
