"""What people did not get right in live rounds, kept only for those who agreed, for a later review."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlite_utils import Database as Connection

from tutor.grading import Response, from_json, to_json
from tutor.store.database import Database, first, rows, write


@dataclass(frozen=True, slots=True)
class Miss:
    """One question that one person missed in one round. `response` None: no answer; `credit` is 0..1, below 1."""

    learner_id: int
    round_id: str
    quiz_id: str
    question_id: str
    response: Response | None
    credit: float
    missed_at: datetime  # UTC: when its key was shown


class MissStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def keeps(self, learner_id: int) -> bool:
        """Whether this person agreed that what they missed is kept."""
        row = await self._database.run(lambda c: first(c, "SELECT keeps_misses FROM people WHERE learner_id = ?", [learner_id]))
        return bool(row and row["keeps_misses"])

    async def save_keeps(self, learner_id: int, *, keeps: bool) -> None:
        """Taking the agreement back removes what was kept."""

        def work(connection: Connection) -> None:
            write(
                connection,
                "INSERT INTO people (learner_id, keeps_misses) VALUES (?, ?)"
                " ON CONFLICT (learner_id) DO UPDATE SET keeps_misses = excluded.keeps_misses",
                (learner_id, int(keeps)),
            )
            if not keeps:
                write(connection, "DELETE FROM misses WHERE learner_id = ?", (learner_id,))

        await self._database.run(work)

    async def forget(self, learner_id: int) -> None:
        await self._database.run(lambda connection: write(connection, "DELETE FROM misses WHERE learner_id = ?", (learner_id,)))

    async def save(self, round_id: str, misses: Sequence[Miss]) -> None:
        """Replace what is kept of this round by these, for those who agreed; a repaired key so takes misses back too."""

        def work(connection: Connection) -> None:
            agreed = {row["learner_id"] for row in rows(connection, "SELECT learner_id FROM people WHERE keeps_misses = 1")}
            write(connection, "DELETE FROM misses WHERE round_id = ?", (round_id,))
            for miss in misses:
                if miss.learner_id in agreed:
                    write(
                        connection,
                        "INSERT INTO misses (learner_id, round_id, quiz_id, question_id, response, credit, missed_at)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (
                            miss.learner_id,
                            miss.round_id,
                            miss.quiz_id,
                            miss.question_id,
                            json.dumps(to_json(miss.response), ensure_ascii=False) if miss.response else None,
                            miss.credit,
                            miss.missed_at.isoformat(),
                        ),
                    )

        await self._database.run(work)

    async def of(self, learner_id: int) -> list[Miss]:
        """Oldest first."""
        sql = "SELECT * FROM misses WHERE learner_id = ? ORDER BY missed_at, question_id"
        found = await self._database.run(lambda connection: rows(connection, sql, [learner_id]))
        return [
            Miss(
                row["learner_id"],
                row["round_id"],
                row["quiz_id"],
                row["question_id"],
                from_json(json.loads(row["response"])) if row["response"] else None,
                row["credit"],
                datetime.fromisoformat(row["missed_at"]),
            )
            for row in found
        ]
