"""The presses of one transaction: what they need is read once for all of them, each is judged, and all are written at once.

Also seats, which a press takes where its person has none. Only `tutor.store.live` uses this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlite_utils import Database as Connection

from tutor.live import LiveRound
from tutor.live_press import Receipt, judged, refusal_of, seat_for
from tutor.scoring import Press, Seat
from tutor.store import live_rows
from tutor.store.database import first, rows, write


@dataclass(frozen=True, slots=True)
class Sent:
    """A press on its way to the disk; `name` is what the board calls its person."""

    press: Press
    name: str


class RoundBatch:
    """The presses of one round that share a transaction: what they need is read once for all of them, and written at once."""

    def __init__(self, connection: Connection, round_: LiveRound, sents: Sequence[Sent], languages: dict[int, str | None]) -> None:
        self._round = round_
        self._languages = languages
        self._new_seats: list[tuple[Any, ...]] = []
        self._new_presses: list[tuple[Any, ...]] = []
        learners = list({sent.press.learner_id for sent in sents})
        among = f"learner_id IN ({', '.join('?' * len(learners))})"
        found = rows(connection, f"SELECT * FROM live_seats WHERE round_id = ? AND {among}", [round_.id, *learners])
        self._seats = {row["learner_id"]: live_rows.seat_of(row) for row in found}
        self._factors: dict[int, float] = {}
        self._taken: dict[int | None, int] = {}
        self._number = 0
        if len(self._seats) < len(learners):
            found = rows(connection, f"SELECT * FROM time_factors WHERE guild_id = ? AND {among}", [round_.guild_id, *learners])
            self._factors = {row["learner_id"]: live_rows.factor_of(row["factor"]) for row in found}
            self._taken, self._number = taken(connection, round_.id)
        self._earlier: dict[int, list[Press]] = {}
        if round_.current is not None:  # a press for any other question is refused
            found = rows(
                connection,
                f"SELECT * FROM live_presses WHERE round_id = ? AND position = ? AND vote = ? AND {among}",
                [round_.id, round_.current.position, round_.current.vote, *learners],
            )
            for row in found:
                self._earlier.setdefault(row["learner_id"], []).append(live_rows.press_of(row))

    def saved(self, sent: Sent) -> Receipt:
        round_, press = self._round, sent.press
        seat = self._seats.get(press.learner_id)
        factor = seat.factor if seat else self._factors.get(press.learner_id, 1.0)
        language = self._languages.get(press.learner_id)
        refusal = refusal_of(round_, seat, press, factor=factor)
        if refusal is not None:
            return Receipt(round_, press.position, press.vote, None, refusal, seat=seat, language=language)
        earlier = self._earlier.setdefault(press.learner_id, [])
        receipt = judged(round_, seat or Seat(press.learner_id, sent.name, 0, None, factor), earlier, press)
        if seat is None:
            self._number += 1
            seat = seat_for(round_, press.learner_id, sent.name, number=self._number, team=None, taken=self._taken, factor=factor)
            self._taken[seat.team] = self._taken.get(seat.team, 0) + 1
            self._seats[press.learner_id] = seat
            self._new_seats.append(_seat_row(round_.id, seat, press.pressed_at))
        earlier.append(press)
        answer, at = live_rows.response_json(press.response), live_rows.milliseconds(press.pressed_at)
        self._new_presses.append((press.press_id, round_.id, press.position, press.vote, press.learner_id, answer, at))
        return replace(receipt, seat=seat, language=language)

    def write(self, connection: Connection) -> None:
        connection.conn.executemany(_INSERT_SEAT, self._new_seats)
        connection.conn.executemany(
            "INSERT OR IGNORE INTO live_presses (press_id, round_id, position, vote, learner_id, response, pressed_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            self._new_presses,
        )


def seat(connection: Connection, round_id: str, learner_id: int) -> Seat | None:
    row = first(connection, "SELECT * FROM live_seats WHERE round_id = ? AND learner_id = ?", [round_id, learner_id])
    return live_rows.seat_of(row) if row else None


def languages(connection: Connection, learners: Sequence[int]) -> dict[int, str | None]:
    """What people chose for themselves, of those who did."""
    found = rows(connection, f"SELECT learner_id, language FROM people WHERE learner_id IN ({', '.join('?' * len(learners))})", learners)
    return {row["learner_id"]: row["language"] for row in found}


_INSERT_SEAT: Final = "INSERT INTO live_seats (round_id, learner_id, number, name, team, factor, joined_at) VALUES (?, ?, ?, ?, ?, ?, ?)"


def _seat_row(round_id: str, seat: Seat, now: datetime) -> tuple[Any, ...]:
    return (round_id, seat.learner_id, seat.number, seat.name, seat.team, live_rows.stored_factor(seat.factor), now.isoformat())


def take_seat(connection: Connection, round_: LiveRound, learner_id: int, name: str, team: int | None, now: datetime) -> Seat:
    counts, number = taken(connection, round_.id)
    own = factor(connection, round_.guild_id, learner_id)
    made = seat_for(round_, learner_id, name, number=number + 1, team=team, taken=counts, factor=own)
    write(connection, _INSERT_SEAT, _seat_row(round_.id, made, now))
    return made


def taken(connection: Connection, round_id: str) -> tuple[dict[int | None, int], int]:
    """Seats by team, and the highest number given out."""
    sql = "SELECT team, count(*) AS people, max(number) AS number FROM live_seats WHERE round_id = ? GROUP BY team"
    found = rows(connection, sql, [round_id])
    return {row["team"]: row["people"] for row in found}, max((row["number"] for row in found), default=0)


def factor(connection: Connection, guild_id: int, learner_id: int) -> float:
    row = first(connection, "SELECT factor FROM time_factors WHERE guild_id = ? AND learner_id = ?", [guild_id, learner_id])
    return live_rows.factor_of(row["factor"]) if row else 1.0
