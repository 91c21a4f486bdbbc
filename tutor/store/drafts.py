"""A guild's own quizzes in the database: read and waiting for a yes, kept in versions, explanations proposed for them.

Quizzes come and go as native YAML text; turning it into values is not this module's business. Each write is one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlite_utils import Database as Connection

from tutor.store.database import Database, Row, first, rows, write


@dataclass(frozen=True, slots=True)
class ReadBank:
    """A file that was read and waits for a person's yes."""

    id: str
    guild_id: int
    read_by: int
    read_at: datetime  # UTC
    file: str
    quiz: str  # native YAML


@dataclass(frozen=True, slots=True)
class DraftRow:
    """One version of a draft. `quiz` is native YAML under the id that its file gave it; `id` is the draft's own."""

    id: str
    version: int
    guild_id: int
    quiz: str
    kept_by: int
    kept_at: datetime  # UTC
    removed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """An explanation that an engine wrote from a guide, for an instructor to take or leave."""

    id: str
    draft_id: str
    question_id: str
    guide_id: str
    language: str
    explanation: str
    sections: tuple[str, ...]  # of the guide, those it rests on
    made_by: int
    made_at: datetime  # UTC


class DraftStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    # Read, waiting -------------------------------------------------------------------------------------------------

    async def save_read(self, bank: ReadBank, *, before: datetime, most: int) -> None:
        """Keep a file that was read; those read before `before`, and all but the newest `most` of its guild, are forgotten."""

        def work(connection: Connection) -> None:
            write(connection, "DELETE FROM read_banks WHERE read_at < ?", (before.isoformat(),))
            write(
                connection,
                "INSERT INTO read_banks (id, guild_id, read_by, read_at, file, quiz) VALUES (?, ?, ?, ?, ?, ?)",
                (bank.id, bank.guild_id, bank.read_by, bank.read_at.isoformat(), bank.file, bank.quiz),
            )
            write(
                connection,
                "DELETE FROM read_banks WHERE guild_id = ? AND id NOT IN"
                " (SELECT id FROM read_banks WHERE guild_id = ? ORDER BY read_at DESC, rowid DESC LIMIT ?)",
                (bank.guild_id, bank.guild_id, most),
            )

        await self._database.run(work)

    async def read_bank(self, bank_id: str) -> ReadBank | None:
        row = await self._database.run(lambda connection: first(connection, "SELECT * FROM read_banks WHERE id = ?", [bank_id]))
        if row is None:
            return None
        return ReadBank(row["id"], row["guild_id"], row["read_by"], datetime.fromisoformat(row["read_at"]), row["file"], row["quiz"])

    async def forget_read(self, bank_id: str) -> bool:
        """Whether it was still there."""
        return await self._database.run(lambda connection: write(connection, "DELETE FROM read_banks WHERE id = ?", (bank_id,)) == 1)

    # Kept ----------------------------------------------------------------------------------------------------------

    async def keep(self, bank_id: str, draft_id: str, make: Callable[[int], DraftRow], *, versions: int) -> DraftRow | None:
        """Make what was read the next version of a draft; `make` gets its number. Versions but the newest `versions` go.

        None when it was not waiting any more: a second press of one button keeps nothing twice.
        """

        def work(connection: Connection) -> DraftRow | None:
            if write(connection, "DELETE FROM read_banks WHERE id = ?", (bank_id,)) == 0:
                return None
            newest = first(connection, "SELECT max(version) AS version FROM drafts WHERE id = ?", [draft_id])
            row = make(int(newest["version"] or 0) + 1 if newest else 1)
            write(
                connection,
                "INSERT INTO drafts (id, version, guild_id, quiz, kept_by, kept_at, removed_at) VALUES (?, ?, ?, ?, ?, ?, NULL)",
                (row.id, row.version, row.guild_id, row.quiz, row.kept_by, row.kept_at.isoformat()),
            )
            write(connection, "UPDATE drafts SET removed_at = NULL WHERE id = ?", (row.id,))
            write(connection, "DELETE FROM drafts WHERE id = ? AND version <= ?", (row.id, row.version - versions))
            return row

        return await self._database.run(work)

    async def all_drafts(self) -> list[DraftRow]:
        """Every version of every draft, oldest version first."""
        found = await self._database.run(lambda connection: rows(connection, "SELECT * FROM drafts ORDER BY id, version"))
        return [_draft(row) for row in found]

    async def save_quiz(self, draft_id: str, version: int, quiz: str, *, taken: str) -> bool:
        """Replace the text of one version, and empty the proposal that it took up. Whether both were there."""

        def work(connection: Connection) -> bool:
            if write(connection, "UPDATE proposals SET explanation = '' WHERE id = ? AND explanation <> ''", (taken,)) == 0:
                return False
            changed = write(connection, "UPDATE drafts SET quiz = ? WHERE id = ? AND version = ?", (quiz, draft_id, version))
            return changed == 1

        return await self._database.run(work)

    async def save_removed(self, draft_id: str, removed_at: datetime | None) -> bool:
        """Whether there was such a draft. None puts it back."""
        when = removed_at.isoformat() if removed_at else None
        return await self._database.run(
            lambda connection: write(connection, "UPDATE drafts SET removed_at = ? WHERE id = ?", (when, draft_id)) > 0
        )

    async def purge(self, before: datetime) -> None:
        """Delete for good what was removed before then, with everything proposed for it, and proposals as old as that."""

        def work(connection: Connection) -> None:
            write(connection, "DELETE FROM drafts WHERE removed_at < ?", (before.isoformat(),))
            write(
                connection,
                "DELETE FROM proposals WHERE made_at < ? OR draft_id NOT IN (SELECT id FROM drafts)",
                (before.isoformat(),),
            )

        await self._database.run(work)

    async def forget(self, person_id: int) -> None:
        """Remove what only a person's own work waits for, and their id from what their guild keeps."""

        def work(connection: Connection) -> None:
            write(connection, "DELETE FROM read_banks WHERE read_by = ?", (person_id,))
            write(connection, "DELETE FROM proposals WHERE made_by = ?", (person_id,))
            write(connection, "UPDATE drafts SET kept_by = 0 WHERE kept_by = ?", (person_id,))

        await self._database.run(work)

    # Proposed ------------------------------------------------------------------------------------------------------

    async def save_proposal(self, proposal: Proposal) -> None:
        """A newer proposal for a question takes the place of an older one."""

        def work(connection: Connection) -> None:
            write(connection, "DELETE FROM proposals WHERE draft_id = ? AND question_id = ?", (proposal.draft_id, proposal.question_id))
            write(
                connection,
                "INSERT INTO proposals (id, draft_id, question_id, guide_id, language, explanation, sections, made_by, made_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    proposal.id,
                    proposal.draft_id,
                    proposal.question_id,
                    proposal.guide_id,
                    proposal.language,
                    proposal.explanation,
                    json.dumps(proposal.sections),
                    proposal.made_by,
                    proposal.made_at.isoformat(),
                ),
            )

        await self._database.run(work)

    async def proposal(self, proposal_id: str) -> Proposal | None:
        row = await self._database.run(lambda connection: first(connection, "SELECT * FROM proposals WHERE id = ?", [proposal_id]))
        return _proposal(row) if row is not None else None


def _draft(row: Row) -> DraftRow:
    removed = row["removed_at"]
    return DraftRow(
        id=row["id"],
        version=row["version"],
        guild_id=row["guild_id"],
        quiz=row["quiz"],
        kept_by=row["kept_by"],
        kept_at=datetime.fromisoformat(row["kept_at"]),
        removed_at=datetime.fromisoformat(removed) if removed else None,
    )


def _proposal(row: Row) -> Proposal:
    return Proposal(
        id=row["id"],
        draft_id=row["draft_id"],
        question_id=row["question_id"],
        guide_id=row["guide_id"],
        language=row["language"],
        explanation=row["explanation"],
        sections=tuple(json.loads(row["sections"])),
        made_by=row["made_by"],
        made_at=datetime.fromisoformat(row["made_at"]),
    )
