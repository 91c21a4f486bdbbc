"""Solo rounds in the database: one row for the round, one per answer. Returns values, never rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

from sqlite_utils import Database as Connection

from tutor.errors import NotFound
from tutor.grading import Grade, Verdict, from_json, to_json
from tutor.rounds import Answer, Mode, Round
from tutor.store.database import Database, Row, first, rows, write


class RoundStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_new(self, round_: Round) -> None:
        await self._database.run(lambda connection: _insert(connection, round_))

    async def load(self, round_id: str) -> Round:
        """Raises NotFound."""
        return await self._database.run(lambda connection: _loaded(connection, round_id))

    async def step(self, round_id: str, step: Callable[[Round], Round]) -> Round:
        """Load, apply the pure step, save what it added, all in one transaction; what the step raises leaves no trace."""

        def work(connection: Connection) -> Round:
            before = _loaded(connection, round_id)
            after = step(before)
            for position, answer in enumerate(after.answers[before.position :], start=before.position):
                _insert_answer(connection, round_id, position, answer)
            write(
                connection,
                "UPDATE rounds SET asked_at = ?, finished_at = ? WHERE id = ?",
                (after.asked_at.isoformat(), after.finished_at.isoformat() if after.finished_at else None, round_id),
            )
            return after

        return await self._database.run(work)

    async def open_round(self, learner_id: int, quiz_id: str | None = None) -> Round | None:
        """The learner's newest unfinished round, of this quiz where one is named."""

        def work(connection: Connection) -> Round | None:
            row = first(
                connection,
                "SELECT id FROM rounds WHERE learner_id = :learner AND finished_at IS NULL"
                " AND (:quiz IS NULL OR quiz_id = :quiz) ORDER BY started_at DESC LIMIT 1",
                {"learner": learner_id, "quiz": quiz_id},
            )
            return _loaded(connection, str(row["id"])) if row else None

        return await self._database.run(work)

    async def open_since(self, learner_id: int, since: datetime) -> list[Round]:
        """The learner's unfinished rounds with something shown or answered since then."""

        def work(connection: Connection) -> list[Round]:
            found = rows(
                connection,
                "SELECT id FROM rounds WHERE learner_id = ? AND finished_at IS NULL AND asked_at >= ?",
                [learner_id, since.isoformat()],
            )
            return [_loaded(connection, str(row["id"])) for row in found]

        return await self._database.run(work)


def _insert(connection: Connection, round_: Round) -> None:
    write(
        connection,
        "INSERT INTO rounds (id, learner_id, guild_id, channel_id, quiz_id, quiz_version, language, mode, question_ids, orders,"
        " started_at, asked_at, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        (
            round_.id,
            round_.learner_id,
            round_.guild_id,
            round_.channel_id,
            round_.quiz_id,
            round_.quiz_version,
            round_.language,
            round_.mode.value,
            json.dumps(round_.question_ids),
            json.dumps({key: list(ids) for key, ids in round_.orders.items()}),
            round_.started_at.isoformat(),
            round_.asked_at.isoformat(),
        ),
    )


def _insert_answer(connection: Connection, round_id: str, position: int, answer: Answer) -> None:
    write(
        connection,
        "INSERT INTO answers (round_id, position, question_id, response, verdict, credit, points, answered_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            round_id,
            position,
            answer.question_id,
            json.dumps(to_json(answer.response), ensure_ascii=False),
            answer.grade.verdict.value,
            answer.grade.credit,
            answer.points,
            answer.at.isoformat(),
        ),
    )


def _loaded(connection: Connection, round_id: str) -> Round:
    row = first(connection, "SELECT * FROM rounds WHERE id = ?", [round_id])
    if row is None:
        raise NotFound("round", round_id)
    answers = rows(connection, "SELECT * FROM answers WHERE round_id = ? ORDER BY position", [round_id])
    return Round(
        id=row["id"],
        learner_id=row["learner_id"],
        guild_id=row["guild_id"],
        channel_id=row["channel_id"],
        quiz_id=row["quiz_id"],
        quiz_version=row["quiz_version"],
        language=row["language"],
        mode=Mode(row["mode"]),
        question_ids=tuple(json.loads(row["question_ids"])),
        orders={key: tuple(ids) for key, ids in json.loads(row["orders"]).items()},
        started_at=datetime.fromisoformat(row["started_at"]),
        asked_at=datetime.fromisoformat(row["asked_at"]),
        answers=tuple(_answer(answer) for answer in answers),
        finished_at=datetime.fromisoformat(row["finished_at"]) if row["finished_at"] else None,
    )


def _answer(row: Row) -> Answer:
    return Answer(
        question_id=row["question_id"],
        response=from_json(json.loads(row["response"])),
        grade=Grade(Verdict(row["verdict"]), row["credit"]),
        points=row["points"],
        at=datetime.fromisoformat(row["answered_at"]),
    )
