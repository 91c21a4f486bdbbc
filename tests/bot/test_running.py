"""Starting, failing and stopping: the bot's process against the sandbox, and what a person reads when the disk is full."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys

from bot.cli.demo import SETTINGS_VARIABLE, TOKEN_VARIABLE
from bot.sandbox.driver import Sandbox
from bot.settings import Settings
from content.load import SHIPPED, load_library
from tests.bot.conftest import Running
from tests.bot.test_solo_round import answered, asked, embed
from tutor.errors import StoreError
from tutor.store.database import Database

QUIZ = load_library([SHIPPED]).library.quizzes["tensorrt-engines"]


async def process(sandbox: Sandbox, settings: Settings, token: str) -> asyncio.subprocess.Process:
    environment = os.environ | {TOKEN_VARIABLE: token, SETTINGS_VARIABLE: settings.model_dump_json()}
    command = (sys.executable, "-m", "bot", "sandboxed", sandbox.url, sandbox.gateway_url)
    return await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)


async def test_sigterm_ends_the_bot_cleanly_and_it_never_reached_for_another_host(settings: Settings) -> None:
    async with Sandbox() as sandbox:
        bot = await process(sandbox, settings, sandbox.token)
        await sandbox.ready(30)
        bot.send_signal(signal.SIGTERM)
        output, errors = await asyncio.wait_for(bot.communicate(), 20)
        assert bot.returncode == 0, errors.decode()
        assert output.decode().strip() == '{"refused": []}'
        assert b"Traceback" not in errors


async def test_a_wrong_token_ends_in_one_line_that_does_not_show_it(settings: Settings) -> None:
    async with Sandbox() as sandbox:
        bot = await process(sandbox, settings, "not-the-right-token")
        _, errors = await asyncio.wait_for(bot.communicate(), 30)
        assert bot.returncode == 2
        line = errors.decode().strip().splitlines()[-1]
        assert line.startswith("studyhall: settings: Discord does not accept DISCORD_TOKEN.")
        assert "not-the-right-token" not in errors.decode()
        assert "Traceback" not in errors.decode()


async def fill_up(database: Database, learner_id: int) -> None:
    """Use up the room that the tables have, and let the file grow no further: the next write fails as on a full disk."""
    await database.run(lambda c: c.execute(f"PRAGMA max_page_count = {c.execute('PRAGMA page_count').fetchone()[0]}"))
    row = "INSERT INTO answers VALUES ((SELECT id FROM rounds WHERE learner_id = ?), ?, ?, ?, 'right', 1.0, 0.0, '')"
    for size in (400, 20, 1):
        with contextlib.suppress(StoreError):
            for number in range(100, 10_000):
                await database.run(lambda c, n=number, s=size: c.execute(row, (learner_id, n * 3 + s, f"filler-{s}-{n}", "x" * s)))


async def test_on_a_full_disk_nothing_is_counted_and_the_same_press_works_once_there_is_room(
    sandbox: Sandbox, running: Running, settings: Settings
) -> None:
    async with running(sandbox) as client:
        sam, ada = sandbox.person("Sam"), sandbox.person("Ada")
        await ada.slash("quiz play", quiz=QUIZ.id)  # the filler belongs to her round
        message = (await sam.slash("quiz play", quiz=QUIZ.id)).message
        database = client.tutor._rounds._database  # the test plays the disk, which no public door leads to
        await fill_up(database, ada.id)
        refused = await answered(sam, message, asked(QUIZ, message), right=True)
        assert "could not be saved, so nothing was counted" in refused.message.content
        await database.run(lambda c: c.execute("PRAGMA max_page_count = 1000000"))
        again = await answered(sam, message, asked(QUIZ, message), right=True)
        assert "1 of 1 points" in str(embed(again.message)["footer"])
