"""Points, places and teams of a live round, derived from its presses each time and never added up along the way.

The same presses in any order, doubled or delayed, give the same board; a repaired key gives another one by itself.

Schemes, for a question worth `p` points (usually 1) answered after the share `t` of one's own time, with credit `c` (0..1):
accuracy `c × p`; gentle `c × p × (600 + 400 × (1 − t))`; classic `c × p × 1000 × (1 − t / 2)`. A wrong answer is worth 0.
Somebody without a time limit has used no share of it. A streak adds a tenth of the full value per right answer in a row
before this one, at most half. Equal points share a place (1, 2, 2, 4). A team has the mean of its members.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tutor.grading import Grade, Response, Verdict
from tutor.live import Asking, LiveRound, Rules, Scheme
from tutor.live_repair import Keyed, keyed

FULL: Final = 1000.0  # of gentle and classic
STREAK_STEP: Final = 0.1
STREAK_MOST: Final = 0.5


@dataclass(frozen=True, slots=True)
class Press:
    """One answer as it was given. `press_id` is the interaction's id, and so unique; `pressed_at` comes from it."""

    press_id: int
    position: int
    vote: int
    learner_id: int
    response: Response
    pressed_at: datetime  # UTC


@dataclass(frozen=True, slots=True)
class Seat:
    """A person in a round. `number` counts from 1 in the order of joining; `factor` stretches their time and is private."""

    learner_id: int
    name: str
    number: int
    team: int | None = None  # from 0
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Line:
    """What one person has on one question. `response` None: no answer."""

    position: int
    response: Response | None = None
    grade: Grade | None = None
    points: float = 0.0
    taken_s: float | None = None
    first: Response | None = None  # of a first vote, where there were two

    @property
    def verdict(self) -> Verdict | None:
        return self.grade.verdict if self.grade else None

    @property
    def credit(self) -> float:
        return self.grade.credit if self.grade else 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    place: int
    seat: Seat
    points: float
    lines: tuple[Line, ...]  # of every counted question, answered or not

    def count(self, verdict: Verdict | None) -> int:
        return sum(1 for line in self.lines if line.verdict is verdict)


@dataclass(frozen=True, slots=True)
class TeamStanding:
    place: int
    team: int
    points: float  # the mean of its members
    members: int


@dataclass(frozen=True, slots=True)
class Board:
    """`positions` are the questions that count: revealed, not dropped, not voided. `possible` is their full value."""

    standings: tuple[Standing, ...]  # best first; equal points in the order of joining
    teams: tuple[TeamStanding, ...]
    positions: tuple[int, ...]
    possible: float

    def of(self, learner_id: int) -> Standing | None:
        return next((standing for standing in self.standings if standing.seat.learner_id == learner_id), None)


def standing_presses(
    asking: Asking, presses: Iterable[Press], factors: Mapping[int, float], *, locked: bool
) -> dict[int, tuple[Press, float]]:
    """Per person the press that counts in this vote, with its seconds: the last one in time, or the first when `locked`.

    Two presses of the same millisecond are told apart by their ids, which Discord counts upwards.
    """
    found: dict[int, tuple[Press, float]] = {}
    for press in presses:
        if (press.position, press.vote) != (asking.position, asking.vote):
            continue
        taken = asking.taken_s(press.pressed_at, factors.get(press.learner_id, 1.0))
        if taken is None:
            continue
        held = found.get(press.learner_id)
        key = (press.pressed_at, press.press_id)
        if held is not None:
            held_key = (held[0].pressed_at, held[0].press_id)
            if (key > held_key) == locked or key == held_key:
                continue
        found[press.learner_id] = (press, taken)
    return found


def points(rules: Rules, worth: float, credit: float, share: float) -> float:
    """Points for one answer; `share` is the used part of one's own time, 0..1. Whole points, or thousandths for accuracy."""
    share = min(1.0, max(0.0, share))
    match rules.scheme:
        case Scheme.ACCURACY:
            return round(credit * worth, 3)
        case Scheme.GENTLE:
            return float(round(credit * worth * (600 + 400 * (1 - share))))
        case Scheme.CLASSIC:
            return float(round(credit * worth * FULL * (1 - share / 2)))


def full_value(rules: Rules, worth: float) -> float:
    return worth if rules.scheme is Scheme.ACCURACY else worth * FULL


def board(round_: LiveRound, presses: Iterable[Press], seats: Sequence[Seat]) -> Board:
    """The board as it stands after the last reveal. A question still open gives nothing away here."""
    counted = counted_questions(round_)
    by_position: dict[int, list[Press]] = {}
    for press in presses:
        by_position.setdefault(press.position, []).append(press)
    factors = {seat.learner_id: seat.factor for seat in seats}
    columns = {
        position: _column(round_, position, question, by_position.get(position, []), factors) for position, question in counted.items()
    }
    unplaced: list[tuple[float, Seat, tuple[Line, ...]]] = []
    for seat in seats:
        lines = tuple(columns[position].get(seat.learner_id, Line(position)) for position in counted)
        if round_.rules.streaks:
            lines = _with_streaks(round_.rules, lines, [question.question.points for question in counted.values()])
        unplaced.append((_total(lines), seat, lines))
    unplaced.sort(key=lambda entry: (-entry[0], entry[1].number))
    places = _places([total for total, _, _ in unplaced])
    standings = tuple(Standing(place, seat, total, lines) for place, (total, seat, lines) in zip(places, unplaced, strict=True))
    possible = math.fsum(full_value(round_.rules, question.question.points) for question in counted.values())
    return Board(standings, _teams(standings, round_.rules.teams), tuple(counted), possible)


def counted_questions(round_: LiveRound) -> dict[int, Keyed]:
    """Position -> question as it counts, of every question that has been revealed and was neither dropped nor voided."""
    made = {
        position: keyed(question, position, round_.repairs)
        for position, question in enumerate(round_.quiz.questions)
        if round_.shown(position)
    }
    return {position: question for position, question in made.items() if not question.void}


def _column(round_: LiveRound, position: int, question: Keyed, presses: Sequence[Press], factors: Mapping[int, float]) -> dict[int, Line]:
    """Learner -> line, of one question. A second vote replaces the first one of those who gave it."""
    lines: dict[int, Line] = {}
    graded: dict[Response | str, Grade] = {}
    for asking in (asking for asking in round_.askings if asking.position == position):
        for learner_id, (press, taken) in standing_presses(asking, presses, factors, locked=round_.rules.locked).items():
            key = repr(press.response)  # some responses hold a mapping and cannot be hashed
            grade = graded.get(key)
            if grade is None:
                grade = graded[key] = question.grade(press.response, round_.language)
            share = _share(asking, taken, factors.get(learner_id, 1.0))
            earlier = lines.get(learner_id)
            lines[learner_id] = Line(
                position,
                press.response,
                grade,
                points(round_.rules, question.question.points, grade.credit, share),
                taken,
                first=earlier.response if earlier else None,
            )
    return lines


def _share(asking: Asking, taken_s: float, factor: float) -> float:
    return taken_s / (asking.allotted_s * max(1.0, factor)) if asking.allotted_s else 0.0


def _with_streaks(rules: Rules, lines: tuple[Line, ...], worths: Sequence[float]) -> tuple[Line, ...]:
    made: list[Line] = []
    run = 0
    for line, worth in zip(lines, worths, strict=True):
        if line.verdict is Verdict.RIGHT:
            bonus = full_value(rules, worth) * min(STREAK_MOST, STREAK_STEP * run)
            made.append(Line(line.position, line.response, line.grade, round(line.points + bonus, 3), line.taken_s, line.first))
            run += 1
        else:
            made.append(line)
            run = 0
    return tuple(made)


def _total(lines: Iterable[Line]) -> float:
    return round(math.fsum(line.points for line in lines), 3)


def _places(totals: Sequence[float]) -> list[int]:
    """Of totals in falling order: equal ones share the place of the first of them."""
    places: list[int] = []
    for index, total in enumerate(totals):
        places.append(places[-1] if index and total == totals[index - 1] else index + 1)
    return places


def _teams(standings: Sequence[Standing], teams: int) -> tuple[TeamStanding, ...]:
    members: dict[int, list[float]] = {}
    for standing in standings:
        if standing.seat.team is not None and standing.seat.team < teams:
            members.setdefault(standing.seat.team, []).append(standing.points)
    means = sorted(
        ((round(math.fsum(of) / len(of), 3), team, len(of)) for team, of in members.items()), key=lambda entry: (-entry[0], entry[1])
    )
    places = _places([mean for mean, _, _ in means])
    return tuple(TeamStanding(place, team, mean, count) for place, (mean, team, count) in zip(places, means, strict=True))


@dataclass(frozen=True, slots=True)
class Moved:
    """What a repair did to one person."""

    seat: Seat
    points_before: float
    points_after: float
    place_before: int
    place_after: int


def moved(before: Board, after: Board) -> tuple[Moved, ...]:
    """Everybody whose points changed, best place first."""
    earlier = {standing.seat.learner_id: standing for standing in before.standings}
    return tuple(
        Moved(now.seat, then.points, now.points, then.place, now.place)
        for now in after.standings
        if (then := earlier.get(now.seat.learner_id)) is not None and then.points != now.points
    )
