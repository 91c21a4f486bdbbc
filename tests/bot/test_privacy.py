"""`/privacy`: what is kept, agreed to, and removed, looked up in the database itself."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bot.sandbox.driver import Sandbox
from content.load import SHIPPED, load_library
from tests.bot.conftest import Running
from tests.bot.test_ask import answer_of
from tests.bot.test_solo_round import answered, asked, embed

QUIZ = load_library([SHIPPED]).library.quizzes["tensorrt-engines"]
SECRET = "Which sourdough does the zebra of Timbuktu prefer?"


def rows(tmp_path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(tmp_path / "studyhall.db")
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


async def test_question_text_is_kept_only_where_its_asker_agreed(sandbox: Sandbox, running: Running, tmp_path: Path) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        await answer_of(sandbox, SECRET)
        assert rows(tmp_path, "SELECT question FROM gaps") == [(None,)]
        page = (await sam.slash("privacy")).message
        assert "never kept" in str(embed(page)["description"])
        page = (await sam.press(page, label="Keep such questions")).message
        assert "You agreed" in str(embed(page)["description"])
        await answer_of(sandbox, SECRET)
        assert rows(tmp_path, "SELECT question FROM gaps") == [(None,), (SECRET,)]
        await sam.press(page, label="Keep no questions")
        await answer_of(sandbox, SECRET)
        assert rows(tmp_path, "SELECT count(*) FROM gaps WHERE question IS NOT NULL") == [(1,)]


async def test_a_person_can_have_everything_of_theirs_removed(sandbox: Sandbox, running: Running, tmp_path: Path) -> None:
    async with running(sandbox):
        sam, ada = sandbox.person("Sam"), sandbox.person("Ada")
        for person in (sam, ada):
            message = (await person.slash("quiz play", quiz=QUIZ.id)).message
            await answered(person, message, asked(QUIZ, message), right=True)
        await answer_of(sandbox, "What is a timing cache?")
        page = (await sam.slash("privacy")).message
        sure = (await sam.press(page, label="Remove my data")).message
        assert rows(tmp_path, "SELECT count(*) FROM rounds") == [(2,)]  # it asks once
        done = await sam.press(sure, label="Really remove everything of mine")
        assert done.message.content.startswith("Removed")
        for table in ("rounds", "replies"):
            assert rows(tmp_path, f"SELECT count(*) FROM {table} WHERE learner_id = {sam.id}") == [(0,)]
        assert rows(tmp_path, "SELECT count(*) FROM answers") == [(1,)]  # the other learner's
