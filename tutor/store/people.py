"""What people chose, what became of their questions, and single facts the bot remembers about itself."""

from __future__ import annotations

import json
from datetime import datetime

from sqlite_utils import Database as Connection

from tutor.reply import Citation, TutorReply
from tutor.store.database import Database, first, write


class PeopleStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def language(self, learner_id: int) -> str | None:
        """The language this person chose for themselves, if any."""
        row = await self._database.run(lambda c: first(c, "SELECT language FROM people WHERE learner_id = ?", [learner_id]))
        return row["language"] if row else None

    async def save_language(self, learner_id: int, language: str | None) -> None:
        await self._database.run(
            lambda c: write(
                c,
                "INSERT INTO people (learner_id, language) VALUES (?, ?)"
                " ON CONFLICT (learner_id) DO UPDATE SET language = excluded.language",
                (learner_id, language),
            )
        )

    async def keeps_questions(self, learner_id: int) -> bool:
        """Whether this person agreed that the text of unanswered questions is kept for the author of the guide."""
        row = await self._database.run(lambda c: first(c, "SELECT keeps_questions FROM people WHERE learner_id = ?", [learner_id]))
        return bool(row and row["keeps_questions"])

    async def save_keeps_questions(self, learner_id: int, *, keeps: bool) -> None:
        """Whether questions that no guide answers may be kept. They are kept without a name, so taking it back removes none."""
        await self._database.run(
            lambda c: write(
                c,
                "INSERT INTO people (learner_id, keeps_questions) VALUES (?, ?)"
                " ON CONFLICT (learner_id) DO UPDATE SET keeps_questions = excluded.keeps_questions",
                (learner_id, int(keeps)),
            )
        )

    async def forget(self, learner_id: int) -> None:
        """Remove a person's solo rounds with their answers, what became of their questions, and their choices."""

        def work(connection: Connection) -> None:
            for table in ("rounds", "replies", "people"):  # answers go with their rounds
                write(connection, f"DELETE FROM {table} WHERE learner_id = ?", (learner_id,))

        await self._database.run(work)

    async def save_reply(self, reply_id: str, learner_id: int, guide_id: str | None, reply: TutorReply, *, asked_at: datetime) -> None:
        values = (
            reply_id,
            learner_id,
            guide_id,
            reply.kind.value,
            reply.reason.value if reply.reason else None,
            json.dumps([citation.key for citation in reply.cited]),
            reply.engine,
            reply.timings.first_sentence_s,
            reply.timings.total_s,
            asked_at.isoformat(),
        )
        await self._database.run(
            lambda c: write(
                c,
                "INSERT INTO replies (id, learner_id, guide_id, kind, reason, cited, engine, first_sentence_s, total_s, asked_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        )

    async def cited(self, reply_id: str) -> list[str] | None:
        """The section keys ("guide:section") that a reply rested on; None for an unknown reply."""
        row = await self._database.run(lambda c: first(c, "SELECT cited FROM replies WHERE id = ?", [reply_id]))
        return list(json.loads(row["cited"])) if row else None

    async def save_helpful(self, reply_id: str, learner_id: int, *, helpful: bool) -> bool:
        """Whether the reply was there and theirs."""

        def work(connection: Connection) -> bool:
            changed = write(
                connection, "UPDATE replies SET helpful = ? WHERE id = ? AND learner_id = ?", (int(helpful), reply_id, learner_id)
            )
            return changed == 1

        return await self._database.run(work)

    async def save_gap(
        self, guide_id: str | None, nearest: Citation | None, reason: str, language: str, question: str | None, *, asked_at: datetime
    ) -> None:
        """A question that no guide answers, for its author; `question` only where the asker agreed."""
        values = (guide_id, nearest.key if nearest else None, reason, language, question, asked_at.isoformat())
        await self._database.run(
            lambda c: write(
                c, "INSERT INTO gaps (guide_id, nearest, reason, language, question, asked_at) VALUES (?, ?, ?, ?, ?, ?)", values
            )
        )

    async def fact(self, key: str) -> str | None:
        row = await self._database.run(lambda c: first(c, "SELECT value FROM facts_of_this_bot WHERE key = ?", [key]))
        return row["value"] if row else None

    async def save_fact(self, key: str, value: str) -> None:
        await self._database.run(
            lambda c: write(
                c,
                "INSERT INTO facts_of_this_bot (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (key, value),
            )
        )
