"""The database: what was saved is there after a crash, old files are migrated with a copy kept, failures are one line."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tutor.errors import NotFound, StaleAnswer, StoreError
from tutor.grading import Grade, Selected, Verdict
from tutor.reply import Citation, Kind, Sentence, TutorReply
from tutor.rounds import Mode, Round
from tutor.store import database as database_module
from tutor.store.database import Database, migration_files, statements
from tutor.store.people import PeopleStore
from tutor.store.rounds import RoundStore

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROUND = Round("0123456789ab", 7, 1, 2, "quiz", 3, "ko", Mode.EXAM, ("q0", "q1"), {"q0": ("b", "a")}, NOW, NOW)


def right(round_: Round) -> Round:
    assert round_.open_question is not None
    return round_.answered(round_.open_question, Selected(("a",)), Grade(Verdict.RIGHT, 1.0), 2.0, now=NOW)


async def test_a_round_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "studyhall.db")
    store = RoundStore(database)
    await store.save_new(ROUND)
    after = await store.step(ROUND.id, right)
    await database.close()
    again = await Database.open(tmp_path / "studyhall.db")
    assert await RoundStore(again).load(ROUND.id) == after == right(ROUND)
    assert await RoundStore(again).open_round(7) == after
    assert await RoundStore(again).open_round(7, "another-quiz") is None
    await again.close()


async def test_what_a_step_raises_leaves_no_trace(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "studyhall.db")
    store = RoundStore(database)
    await store.save_new(ROUND)

    def stale(round_: Round) -> Round:
        right(round_)
        raise StaleAnswer("late")

    with pytest.raises(StaleAnswer):
        await store.step(ROUND.id, stale)
    assert await store.load(ROUND.id) == ROUND
    with pytest.raises(NotFound):
        await store.load("ffffffffffff")
    await database.close()


async def test_two_presses_at_once_count_once(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "studyhall.db")
    store = RoundStore(database)
    await store.save_new(ROUND)

    def first_question(round_: Round) -> Round:
        return round_.answered("q0", Selected(("a",)), Grade(Verdict.RIGHT, 1.0), 1.0, now=NOW)

    results = await asyncio.gather(*(store.step(ROUND.id, first_question) for _ in range(8)), return_exceptions=True)
    assert sum(isinstance(result, Round) for result in results) == 1
    assert sum(isinstance(result, StaleAnswer) for result in results) == 7
    assert len((await store.load(ROUND.id)).answers) == 1
    await database.close()


async def test_people_replies_and_facts(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "studyhall.db")
    people = PeopleStore(database)
    assert await people.language(7) is None
    await people.save_language(7, "el")
    assert await people.language(7) == "el"
    assert not await people.keeps_questions(7)
    citation = Citation("g", "s", "G", "S", "en")
    reply = TutorReply(Kind.ANSWER, "en", (Sentence("x", (citation,)),), engine="scripted")
    await people.save_reply("aa", 7, "g", reply, asked_at=NOW)
    assert await people.save_helpful("aa", 7, helpful=False)
    assert not await people.save_helpful("aa", 8, helpful=True)  # somebody else's
    await people.save_gap("g", citation, "not_covered", "en", None, asked_at=NOW)
    await people.save_fact("commands synced", "one")
    await people.save_fact("commands synced", "two")
    assert await people.fact("commands synced") == "two"
    await database.close()


def test_a_script_is_cut_at_its_statements() -> None:
    assert statements("CREATE TABLE a (b TEXT);\n-- a comment; with a semicolon\nCREATE TABLE c (d\n);") == [
        "CREATE TABLE a (b TEXT);",
        "-- a comment; with a semicolon\nCREATE TABLE c (d\n);",
    ]


async def test_an_old_file_is_copied_before_it_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "studyhall.db"
    real = migration_files()
    monkeypatch.setattr(database_module, "migration_files", lambda: real[:1])
    old = await Database.open(path)
    await RoundStore(old).save_new(ROUND)
    await old.close()
    added = [*real, ("9999_later", "CREATE TABLE later (x INTEGER);")]
    monkeypatch.setattr(database_module, "migration_files", lambda: added)
    new = await Database.open(path)
    assert await RoundStore(new).load(ROUND.id) == ROUND
    await new.close()
    copy = sqlite3.connect(tmp_path / "studyhall.db.before-9999")
    assert copy.execute("SELECT count(*) FROM rounds").fetchone() == (1,)
    assert not copy.execute("SELECT name FROM sqlite_master WHERE name = 'later'").fetchall()
    copy.close()
    monkeypatch.setattr(database_module, "migration_files", lambda: real)
    with pytest.raises(StoreError, match="newer Studyhall"):
        await Database.open(path)


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "studyhall.db"
    await (await Database.open(path)).close()
    broken = [*migration_files(), ("9999_broken", "CREATE TABLE half (x INTEGER);\nCREATE TABLE half (x INTEGER);")]
    monkeypatch.setattr(database_module, "migration_files", lambda: broken)
    with pytest.raises(StoreError):
        await Database.open(path)
    raw = sqlite3.connect(path)
    assert not raw.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall()
    raw.close()


async def test_a_file_that_is_no_database_is_named_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "studyhall.db"
    path.write_bytes(b"this is not a database at all, it is a letter" * 20)
    with pytest.raises(StoreError, match=r"studyhall\.db: .*backup"):
        await Database.open(path)
    with pytest.raises(StoreError, match="settings: database"):
        await Database.open(tmp_path / "studyhall.db" / "below-a-file.db")


async def test_a_full_disk_is_named_and_what_was_saved_stays(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "studyhall.db")
    store = RoundStore(database)
    await store.save_new(ROUND)

    # SQLite's own page limit fails exactly as a full disk does: SQLITE_FULL in the middle of a transaction
    await database.run(lambda c: c.execute(f"PRAGMA max_page_count = {c.execute('PRAGMA page_count').fetchone()[0]}"))

    async def fill() -> None:
        for number in range(500):
            await store.save_new(replace(ROUND, id=f"{number:012x}"))

    with pytest.raises(StoreError, match="Free some space"):
        await fill()
    assert await store.load(ROUND.id) == ROUND
    await database.close()
