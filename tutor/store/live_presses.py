"""The presses of one transaction: what they need is read once for all of them, each is judged, and all are written at once.

Also seats, which a press takes where its person has none. Only `tutor.store.live` uses this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlite_utils import Database as Connection

from tutor.errors import NotFound
from tutor.live import LiveRound
from tutor.live_press import Receipt, judged, refusal_of, seat_for
from tutor.scoring import Press, Seat
from tutor.store import live_rows
from tutor.store.database import first, rows, write


@dataclass(frozen=True, slots=True)
class Sent:
    """A press on its way to the disk; `name` is what the board calls its person."""

    round_id: str
    press: Press
    name: str


Key = tuple[str, int]
"""Round and person."""


class PressBatch:
    """Presses of any rounds that share a transaction. Three queries read for all of them, two statements write."""

    def __init__(self, connection: Connection, rounds: Mapping[str, LiveRound], sents: Sequence[Sent]) -> None:
        self._connection = connection
        self._rounds = rounds
        self._new_seats: list[tuple[Any, ...]] = []
        self._new_presses: list[tuple[Any, ...]] = []
        self._seats: dict[Key, Seat] = {}
        self._languages: dict[int, str | None] = {}
        self._taken: dict[str, tuple[dict[int | None, int], int]] = {}  # read when somebody needs a seat
        keys = list({(sent.round_id, sent.press.learner_id) for sent in sents if sent.round_id in rounds})
        if keys:
            self._read_people(keys)
        self._earlier: dict[Key, list[Press]] = {}
        asked = [(key, current) for key in self._seats if (current := rounds[key[0]].current) is not None]
        if asked:  # without a seat nobody has pressed before, and a press for any other question is refused
            self._read_earlier([(key[0], current.position, current.vote, key[1]) for key, current in asked])

    def _read_people(self, keys: Sequence[Key]) -> None:
        found = rows(
            self._connection,
            f"WITH wanted (round, person) AS (VALUES {', '.join(['(?, ?)'] * len(keys))})"
            " SELECT wanted.person, people.language, live_seats.* FROM wanted"
            " LEFT JOIN live_seats ON live_seats.round_id = wanted.round AND live_seats.learner_id = wanted.person"
            " LEFT JOIN people ON people.learner_id = wanted.person",
            [value for key in keys for value in key],
        )
        for row in found:
            self._languages[row["person"]] = row["language"]
            if row["round_id"] is not None:
                self._seats[row["round_id"], row["person"]] = live_rows.seat_of(row)

    def _read_earlier(self, asked: Sequence[tuple[str, int, int, int]]) -> None:
        found = rows(
            self._connection,
            f"WITH wanted (round, place, turn, person) AS (VALUES {', '.join(['(?, ?, ?, ?)'] * len(asked))})"
            " SELECT live_presses.* FROM wanted CROSS JOIN live_presses"  # the cross join keeps the order: one look-up for each
            " ON round_id = wanted.round AND position = wanted.place AND vote = wanted.turn AND learner_id = wanted.person",
            [value for key in asked for value in key],
        )
        for row in found:
            self._earlier.setdefault((row["round_id"], row["learner_id"]), []).append(live_rows.press_of(row))

    def saved(self, sent: Sent) -> Receipt:
        """Raises NotFound, BadResponse; then nothing of this press is kept."""
        round_, press = self._rounds.get(sent.round_id), sent.press
        if round_ is None:
            raise NotFound("round", sent.round_id)
        key = (sent.round_id, press.learner_id)
        seat = self._seats.get(key)
        own = seat.factor if seat else factor(self._connection, round_.guild_id, press.learner_id)
        language = self._languages.get(press.learner_id)
        refusal = refusal_of(round_, seat, press, factor=own)
        if refusal is not None:
            return Receipt(round_, press.position, press.vote, None, refusal, seat=seat, language=language)
        earlier = self._earlier.setdefault(key, [])
        receipt = judged(round_, seat or Seat(press.learner_id, sent.name, 0, None, own), earlier, press)
        if seat is None:
            seat = self._seats[key] = self._new_seat(round_, sent, own)
        earlier.append(press)
        answer, at = live_rows.response_json(press.response), live_rows.milliseconds(press.pressed_at)
        self._new_presses.append((press.press_id, round_.id, press.position, press.vote, press.learner_id, answer, at))
        return replace(receipt, seat=seat, language=language)

    def _new_seat(self, round_: LiveRound, sent: Sent, own: float) -> Seat:
        counts, number = self._taken.get(round_.id) or taken(self._connection, round_.id)
        made = seat_for(round_, sent.press.learner_id, sent.name, number=number + 1, team=None, taken=counts, factor=own)
        self._taken[round_.id] = (counts | {made.team: counts.get(made.team, 0) + 1}, number + 1)
        self._new_seats.append(_seat_row(round_.id, made, sent.press.pressed_at))
        return made

    def write(self) -> None:
        self._connection.conn.executemany(_INSERT_SEAT, self._new_seats)
        self._connection.conn.executemany(
            "INSERT OR IGNORE INTO live_presses (press_id, round_id, position, vote, learner_id, response, pressed_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            self._new_presses,
        )


def seat(connection: Connection, round_id: str, learner_id: int) -> Seat | None:
    row = first(connection, "SELECT * FROM live_seats WHERE round_id = ? AND learner_id = ?", [round_id, learner_id])
    return live_rows.seat_of(row) if row else None


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


def count_answered(connection: Connection, round_id: str, position: int, vote: int) -> int:
    sql = "SELECT count(DISTINCT learner_id) AS people FROM live_presses WHERE round_id = ? AND position = ? AND vote = ?"
    row = first(connection, sql, [round_id, position, vote])
    return row["people"] if row else 0


def factor(connection: Connection, guild_id: int, learner_id: int) -> float:
    row = first(connection, "SELECT factor FROM time_factors WHERE guild_id = ? AND learner_id = ?", [guild_id, learner_id])
    return live_rows.factor_of(row["factor"]) if row else 1.0
