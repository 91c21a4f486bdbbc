"""Live rounds in the database: the round, seats, presses, repairs, messages. Returns values, never rows.

Presses that wait at the same moment share one transaction (group commit), so that 500 of them in two seconds are as durable
as one. Each is judged inside that transaction against the round as it is stored, so a press can never fall between a close
and a reveal.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlite_utils import Database as Connection

from content.model import Quiz
from tutor.errors import NotFound, RoundRunning, StaleAnswer, TutorError
from tutor.live import LiveRound, Phase
from tutor.live_press import Receipt, may_join
from tutor.live_repair import Repair
from tutor.live_snapshot import restored, snapshot
from tutor.scoring import Press, Seat
from tutor.store import live_presses, live_rows
from tutor.store.database import Database, first, rows, write
from tutor.store.live_presses import PressBatch, Sent

BATCH: Final = 100
"""Presses in one transaction at most: it then takes under 20 ms, so nobody waits long for a later one."""
GATHER_S: Final = 0.08
"""Between two transactions of presses. A receipt may take three seconds; 12 transactions a second instead of one for each
press halve the processor time of a press."""
_SNAPSHOTS: Final = 64  # unpacked quizzes kept; they never change, and unpacking one takes milliseconds
_ALIVE: Final = "live rounds alive"

LiveStep = Callable[[LiveRound, datetime | None], LiveRound]
"""Round and the time of the latest press of its open vote -> the next round."""


@dataclass(frozen=True, slots=True)
class MessageAt:
    """A public message of a round. `kind` says what it shows; `position` is of its question, or counts messages of its kind."""

    kind: str
    position: int
    channel_id: int
    message_id: int


@dataclass(frozen=True, slots=True)
class Joined:
    """Somebody's seat; `new` also when they changed sides. `language` is what they chose for themselves."""

    round: LiveRound
    seat: Seat
    language: str | None
    new: bool


@dataclass(frozen=True, slots=True)
class _Waiting(Sent):
    receipt: asyncio.Future[Receipt]


class LiveStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[_Waiting] = []
        self._flusher: asyncio.Task[None] | None = None
        self._flushed_at = 0.0  # of the loop's clock
        self._writing: list[_Waiting] = []  # in the transaction that runs
        self._hurry = asyncio.Event()  # somebody waits for the presses to be written
        self._quizzes: OrderedDict[str, Quiz] = OrderedDict()  # only the database thread touches it

    # Rounds ---------------------------------------------------------------------------------------------------------

    async def save_new(self, round_: LiveRound) -> None:
        """Raises RoundRunning when the channel has a round that has not ended."""

        def work(connection: Connection) -> None:
            found = first(connection, "SELECT id FROM live_rounds WHERE channel_id = ? AND ended_at IS NULL", [round_.channel_id])
            if found is not None:
                raise RoundRunning(found["id"])
            write(
                connection,
                "INSERT INTO live_rounds (id, guild_id, channel_id, host_id, quiz_id, quiz, language, rules, seed, created_at, phase,"
                " state, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (
                    round_.id,
                    round_.guild_id,
                    round_.channel_id,
                    round_.host_id,
                    round_.quiz.id,
                    json.dumps(snapshot(round_.quiz, round_.quiz.questions), ensure_ascii=False),
                    round_.language,
                    live_rows.rules_json(round_.rules),
                    round_.seed,
                    round_.created_at.isoformat(),
                    round_.phase.value,
                    live_rows.state_json(round_),
                ),
            )

        await self._database.run(work)

    async def load(self, round_id: str) -> LiveRound:
        """Raises NotFound."""
        return await self._database.run(lambda connection: self._loaded(connection, round_id))

    async def counted(self, round_id: str, position: int | None) -> tuple[LiveRound, dict[int | None, int], int]:
        """The round, its seats by team, and how many have answered the question (None: the current one). Raises NotFound."""

        def work(connection: Connection) -> tuple[LiveRound, dict[int | None, int], int]:
            round_ = self._loaded(connection, round_id)
            seats, _ = live_presses.taken(connection, round_id)
            at = round_.position if position is None else position
            votes = [asking.vote for asking in round_.askings if asking.position == at]
            return round_, seats, live_presses.count_answered(connection, round_id, at, votes[-1]) if votes else 0

        return await self._database.run(work)

    async def timed(self, round_id: str) -> tuple[LiveRound, dict[int, float], frozenset[int]]:
        """The round, those with more time than everybody (with their factors), and who of them has answered. Raises NotFound."""

        def work(connection: Connection) -> tuple[LiveRound, dict[int, float], frozenset[int]]:
            round_ = self._loaded(connection, round_id)
            sql = "SELECT learner_id, factor FROM live_seats WHERE round_id = ? AND factor <> 1"
            longer = {row["learner_id"]: live_rows.factor_of(row["factor"]) for row in rows(connection, sql, [round_id])}
            if not longer or round_.current is None:
                return round_, longer, frozenset()
            sql = "SELECT DISTINCT learner_id FROM live_presses WHERE round_id = ? AND position = ? AND vote = ?"
            found = rows(connection, sql, [round_id, round_.current.position, round_.current.vote])
            return round_, longer, frozenset(row["learner_id"] for row in found) & longer.keys()

        return await self._database.run(work)

    async def open_rounds(self, *, ended_after: datetime) -> list[LiveRound]:
        """Every round that has not ended, and those ended since that never got their last message; oldest first."""

        def work(connection: Connection) -> list[LiveRound]:
            found = rows(
                connection,
                "SELECT id FROM live_rounds WHERE ended_at IS NULL OR (ended_at > ? AND NOT EXISTS"
                " (SELECT 1 FROM live_messages WHERE round_id = live_rounds.id AND kind = 'podium')) ORDER BY created_at",
                [ended_after.isoformat()],
            )
            return [self._loaded(connection, row["id"]) for row in found]

        return await self._database.run(work)

    async def newest(self, guild_id: int | None, *, limit: int) -> list[LiveRound]:
        """The rounds of a guild, or of all, newest first."""

        def work(connection: Connection) -> list[LiveRound]:
            wanted = {"guild": guild_id, "limit": limit}
            chosen = "SELECT id FROM live_rounds WHERE (:guild IS NULL OR guild_id = :guild)"
            found = rows(connection, f"{chosen} ORDER BY created_at DESC LIMIT :limit", wanted)
            return [self._loaded(connection, row["id"]) for row in found]

        return await self._database.run(work)

    async def step(self, round_id: str, step: LiveStep) -> LiveRound:
        """Load, apply the pure step, save, all in one transaction; what the step raises leaves no trace. Raises NotFound.

        Presses that are here already are judged first, so that a close or a reveal never overtakes them.
        """
        await self._settled()

        def work(connection: Connection) -> LiveRound:
            before = self._loaded(connection, round_id)
            after = step(before, self._last_press(connection, before))
            if after == before:
                return before
            write(
                connection,
                "UPDATE live_rounds SET phase = ?, state = ?, ended_at = ? WHERE id = ?",
                (after.phase.value, live_rows.state_json(after), after.ended_at.isoformat() if after.ended_at else None, round_id),
            )
            for repair in after.repairs[len(before.repairs) :]:
                _insert_repair(connection, round_id, repair)
            return after

        return await self._database.run(work)

    def _loaded(self, connection: Connection, round_id: str) -> LiveRound:
        found = self._loaded_all(connection, [round_id])
        if round_id not in found:
            raise NotFound("round", round_id)
        return found[round_id]

    def _loaded_all(self, connection: Connection, round_ids: Sequence[str]) -> dict[str, LiveRound]:
        """The rounds that are there. The quiz of a round never changes and is read once."""
        known = all(round_id in self._quizzes for round_id in round_ids)
        columns = "id, guild_id, channel_id, host_id, language, rules, seed, created_at, phase, state, ended_at" if known else "*"
        marks = ", ".join("?" * len(round_ids))
        repairs: dict[str, list[Repair]] = {}
        for row in rows(connection, f"SELECT * FROM live_repairs WHERE round_id IN ({marks}) ORDER BY id", round_ids):
            repairs.setdefault(row["round_id"], []).append(live_rows.repair_of(row))
        found: dict[str, LiveRound] = {}
        for row in rows(connection, f"SELECT {columns} FROM live_rounds WHERE id IN ({marks})", round_ids):
            quiz = self._quizzes.get(row["id"]) or restored(json.loads(row["quiz"]))
            self._quizzes[row["id"]] = quiz
            self._quizzes.move_to_end(row["id"])
            found[row["id"]] = live_rows.round_of(row, quiz, tuple(repairs.get(row["id"], ())))
        while len(self._quizzes) > _SNAPSHOTS:
            self._quizzes.popitem(last=False)
        return found

    def _last_press(self, connection: Connection, round_: LiveRound) -> datetime | None:
        if round_.current is None:
            return None
        row = first(
            connection,
            "SELECT max(pressed_at) AS latest FROM live_presses WHERE round_id = ? AND position = ? AND vote = ?",
            [round_.id, round_.current.position, round_.current.vote],
        )
        return live_rows.moment(row["latest"]) if row and row["latest"] is not None else None

    # Presses --------------------------------------------------------------------------------------------------------

    async def save_press(self, round_id: str, press: Press, name: str) -> Receipt:
        """Judge the press and keep it; when this returns it is on the disk, unless the receipt refuses it.

        A person without a seat gets one (`name` is what the board calls them) where the round lets them in.
        Raises NotFound, BadResponse, StaleAnswer, StoreError: then nothing was kept.
        """
        receipt: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(round_id, press, name, receipt))
        if self._flusher is None:
            self._flusher = asyncio.create_task(self._flush(), name="save presses")
        return await receipt

    async def _settled(self) -> None:
        """Wait for the presses that wait now."""
        waiting = [waiting.receipt for waiting in (*self._writing, *self._waiting) if not waiting.receipt.done()]
        if waiting:
            self._flushed_at = 0.0
            self._hurry.set()
            await asyncio.wait(waiting)

    async def _flush(self) -> None:
        """Save what waits, batch after batch: a press alone at once, many of them a few times a second."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                gather_s = self._flushed_at + GATHER_S - loop.time()
                if gather_s > 0:
                    self._hurry.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._hurry.wait(), gather_s)
                batch = self._writing = self._waiting[:BATCH]
                del self._waiting[:BATCH]
                results: Sequence[Receipt | Exception]
                self._flushed_at = loop.time()
                try:
                    results = await self._database.run(lambda connection, batch=batch: self._saved(connection, batch))
                except Exception as error:  # noqa: BLE001  # each waiting press is told; none may wait for ever
                    results = [error] * len(batch)
                for waiting, result in zip(batch, results, strict=True):
                    if waiting.receipt.done():
                        continue  # whoever waited was cancelled; the press is kept all the same
                    if isinstance(result, Exception):
                        waiting.receipt.set_exception(result)
                    else:
                        waiting.receipt.set_result(result)
        finally:
            self._writing = []
            self._flusher = None

    def _saved(self, connection: Connection, waitings: Sequence[_Waiting]) -> list[Receipt | Exception]:
        rounds = self._loaded_all(connection, list({waiting.round_id for waiting in waitings}))
        batch = PressBatch(connection, rounds, waitings)
        results: list[Receipt | Exception] = []
        for waiting in waitings:
            try:
                results.append(batch.saved(waiting))
            except TutorError as error:  # of this press alone; it has written nothing
                results.append(error)
        batch.write()
        return results

    async def presses(self, round_id: str, position: int | None = None) -> list[Press]:
        """All presses of a round, or of one of its questions, in the order of their ids."""

        def work(connection: Connection) -> list[Press]:
            found = rows(
                connection,
                "SELECT * FROM live_presses WHERE round_id = :round AND (:position IS NULL OR position = :position) ORDER BY press_id",
                {"round": round_id, "position": position},
            )
            return [live_rows.press_of(row) for row in found]

        return await self._database.run(work)

    async def presses_of(self, round_id: str, position: int, learner_id: int) -> list[Press]:
        """One person's presses on one question, both votes."""

        def work(connection: Connection) -> list[Press]:
            sql = "SELECT * FROM live_presses WHERE round_id = ? AND position = ? AND learner_id = ? ORDER BY press_id"
            return [live_rows.press_of(row) for row in rows(connection, sql, [round_id, position, learner_id])]

        return await self._database.run(work)

    # Seats ----------------------------------------------------------------------------------------------------------

    async def join(self, round_id: str, learner_id: int, name: str, *, team: int | None, now: datetime) -> Joined:
        """Take a seat. With `team` somebody seated changes sides, in the lobby only.

        Raises NotFound, and StaleAnswer when the round lets nobody in any more.
        """

        def work(connection: Connection) -> Joined:
            round_ = self._loaded(connection, round_id)
            chosen = first(connection, "SELECT language FROM people WHERE learner_id = ?", [learner_id])
            language = chosen["language"] if chosen else None
            seat = live_presses.seat(connection, round_id, learner_id)
            if seat is None:
                if not may_join(round_):
                    raise StaleAnswer(f"round {round_id} takes nobody in any more")
                return Joined(round_, live_presses.take_seat(connection, round_, learner_id, name, team, now), language, new=True)
            if team is None or team == seat.team or round_.phase is not Phase.LOBBY or team >= round_.rules.teams:
                return Joined(round_, seat, language, new=False)
            write(connection, "UPDATE live_seats SET team = ? WHERE round_id = ? AND learner_id = ?", (team, round_id, learner_id))
            return Joined(round_, replace(seat, team=team), language, new=True)

        return await self._database.run(work)

    async def seats(self, round_id: str) -> list[Seat]:
        """In the order of joining."""

        def work(connection: Connection) -> list[Seat]:
            found = rows(connection, "SELECT * FROM live_seats WHERE round_id = ? ORDER BY number", [round_id])
            return [live_rows.seat_of(row) for row in found]

        return await self._database.run(work)

    async def seat(self, round_id: str, learner_id: int) -> Seat | None:
        return await self._database.run(lambda connection: live_presses.seat(connection, round_id, learner_id))

    async def save_factor(self, guild_id: int, learner_id: int, factor: float) -> None:
        """How much longer this person may take, from now on; rounds that have ended keep what they had. 1 removes it."""
        stored = live_rows.stored_factor(factor)

        def work(connection: Connection) -> None:
            if factor == 1:
                write(connection, "DELETE FROM time_factors WHERE guild_id = ? AND learner_id = ?", (guild_id, learner_id))
            else:
                write(
                    connection,
                    "INSERT INTO time_factors (guild_id, learner_id, factor) VALUES (?, ?, ?)"
                    " ON CONFLICT (guild_id, learner_id) DO UPDATE SET factor = excluded.factor",
                    (guild_id, learner_id, stored),
                )
            write(
                connection,
                "UPDATE live_seats SET factor = ? WHERE learner_id = ?"
                " AND round_id IN (SELECT id FROM live_rounds WHERE guild_id = ? AND ended_at IS NULL)",
                (stored, learner_id, guild_id),
            )

        await self._database.run(work)

    async def factor(self, guild_id: int, learner_id: int) -> float:
        return await self._database.run(lambda connection: live_presses.factor(connection, guild_id, learner_id))

    # Signals, messages, the heartbeat -------------------------------------------------------------------------------

    async def save_lost(self, round_id: str, position: int, learner_id: int) -> bool:
        """Whether the signal is new."""
        sql = "INSERT OR IGNORE INTO live_lost (round_id, position, learner_id) VALUES (?, ?, ?)"
        return await self._database.run(lambda connection: write(connection, sql, (round_id, position, learner_id)) == 1)

    async def lost(self, round_id: str) -> dict[int, int]:
        """Position -> how many people signalled that they are lost."""
        sql = "SELECT position, count(*) AS people FROM live_lost WHERE round_id = ? GROUP BY position"
        found = await self._database.run(lambda connection: rows(connection, sql, [round_id]))
        return {row["position"]: row["people"] for row in found}

    async def save_message(self, round_id: str, message: MessageAt) -> None:
        values = (round_id, message.kind, message.position, message.channel_id, message.message_id)
        sql = (
            "INSERT INTO live_messages (round_id, kind, position, channel_id, message_id) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (round_id, kind, position) DO UPDATE SET channel_id = excluded.channel_id, message_id = excluded.message_id"
        )
        await self._database.run(lambda connection: write(connection, sql, values))

    async def drop_message(self, round_id: str, kind: str, position: int) -> None:
        sql = "DELETE FROM live_messages WHERE round_id = ? AND kind = ? AND position = ?"
        await self._database.run(lambda connection: write(connection, sql, (round_id, kind, position)))

    async def messages(self, round_id: str) -> dict[tuple[str, int], MessageAt]:
        sql = "SELECT kind, position, channel_id, message_id FROM live_messages WHERE round_id = ?"
        found = await self._database.run(lambda connection: rows(connection, sql, [round_id]))
        return {(row["kind"], row["position"]): MessageAt(**row) for row in found}

    async def save_alive(self, *, now: datetime) -> None:
        """The bot runs at this moment; after an outage this says since when it did not."""
        sql = "INSERT INTO facts_of_this_bot (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        await self._database.run(lambda connection: write(connection, sql, (_ALIVE, now.isoformat())))

    async def presses_by(self, learner_id: int) -> list[tuple[LiveRound, Press]]:
        """Everything that one person ever answered in live rounds, oldest first."""

        def work(connection: Connection) -> list[tuple[LiveRound, Press]]:
            found = rows(connection, "SELECT * FROM live_presses WHERE learner_id = ? ORDER BY press_id", [learner_id])
            loaded = self._loaded_all(connection, sorted({row["round_id"] for row in found}))
            return [(loaded[row["round_id"]], live_rows.press_of(row)) for row in found]

        return await self._database.run(work)

    async def forget(self, learner_id: int) -> None:
        """Remove a person from every live round: seat, presses, signals, time factor. Other people's points stay as they are."""

        def work(connection: Connection) -> None:
            for table in ("live_presses", "live_seats", "live_lost", "time_factors"):
                write(connection, f"DELETE FROM {table} WHERE learner_id = ?", (learner_id,))

        await self._database.run(work)

    async def alive(self) -> datetime | None:
        row = await self._database.run(lambda c: first(c, "SELECT value FROM facts_of_this_bot WHERE key = ?", [_ALIVE]))
        return datetime.fromisoformat(row["value"]) if row else None


def _insert_repair(connection: Connection, round_id: str, repair: Repair) -> None:
    write(
        connection,
        "INSERT INTO live_repairs (round_id, position, fix, ids, text, by_id, made_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (round_id, repair.position, repair.fix.value, json.dumps(repair.ids), repair.text, repair.by, repair.at.isoformat()),
    )
