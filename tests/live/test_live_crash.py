"""The bot's process is killed at random moments of live rounds; the stored results equal the presses that got a receipt.

People behave as people do: who reads "This interaction failed" presses again. So at the end of a question everybody's last
press has its receipt, and their stored answer must be exactly that one. Beside that, every press with a receipt is stored
once, and nothing is stored that nobody pressed. The moments come from a seed; `STUDYHALL_CRASHES` says how many (200 for the
long run, three by default).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import sqlite3
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.sandbox.acts import Act
from bot.sandbox.driver import Person, Sandbox
from bot.sandbox.model import Message
from bot.sandbox.rates import UNLIMITED
from bot.sandbox.wire import NoAnswer, Refused
from content.model import Library
from tests.live.conftest import ROOM, labels
from tutor.live_service import LiveRounds
from tutor.store.database import Database
from tutor.store.live import LiveStore
from tutor.store.misses import MissStore

CRASHES = int(os.environ.get("STUDYHALL_CRASHES", "3"))
SEED = int(os.environ.get("STUDYHALL_CRASH_SEED", "20260302"))
PEOPLE = 6
PATIENCE_S = 30.0
QUESTIONS = 5
QUIZ = "schema: quiz/1\nid: gates\nversion: 1\ntitle: {en: Gates}\nlanguages: [en]\nquestions:\n" + "".join(
    f"""\
  - id: gate-{number}
    type: single
    stem: {{en: Which gate is number {number}?}}
    choices:
      - {{id: north, text: {{en: North}}, correct: true}}
      - {{id: south, text: {{en: South}}}}
      - {{id: east, text: {{en: East}}}}
"""
    for number in range(QUESTIONS)
)
Question = tuple[str, int, int]  # round, position, vote


@dataclass
class Crowd:
    """What people pressed and what they were told."""

    pressed: dict[int, tuple[Question, int, str]] = field(default_factory=dict)  # press id -> question, person, choice
    receipts: dict[int, str] = field(default_factory=dict)  # press id -> choice, of those with a receipt
    told: dict[tuple[Question, int], str] = field(default_factory=dict)  # question and person -> the answer of the last receipt


class Stage:
    """The sandbox, the bot's process, and the round that runs in the room."""

    def __init__(self, sandbox: Sandbox, folder: Path, rng: random.Random) -> None:
        self.sandbox = sandbox
        self.folder = folder
        self.rng = rng
        self.host = sandbox.person("Ada")
        self.people = sandbox.crowd(PEOPLE)
        self.crowd = Crowd()
        self.process: asyncio.subprocess.Process | None = None
        self.up = asyncio.Event()
        self.pressing = 0
        self.held = asyncio.Event()  # people may begin a new press
        self.held.set()
        self.kills = 0
        self.steps = 0
        self.ended = 0

    async def start(self) -> None:
        arguments = ("-m", "tests.live.parts", self.sandbox.url, self.sandbox.gateway_url, self.sandbox.token, str(self.folder))
        self.process = await asyncio.create_subprocess_exec(sys.executable, *arguments)
        await self.sandbox.ready(PATIENCE_S)
        self.up.set()

    async def kill(self) -> None:
        assert self.process is not None
        self.up.clear()
        self.process.kill()
        await self.process.wait()
        self.kills += 1
        await self.sandbox.wait_for(lambda: not self.sandbox.gateway.online, PATIENCE_S)

    async def done(self, act: Act) -> bool:
        """Whether the bot answered; a bot that has been killed never will."""
        while True:
            with contextlib.suppress(NoAnswer):
                await act.answered(0.05)
                return act.state == "done"
            if not self.up.is_set():
                return False

    # people

    async def live(self, person: Person) -> None:
        rng = random.Random(self.rng.random())
        while True:
            await self.up.wait()
            await self.held.wait()
            question = self.question()
            if question is None:
                await asyncio.sleep(0.02)
                continue
            self.pressing += 1
            try:
                await self.press_until_told(person, question, rng)
            finally:
                self.pressing -= 1
            await asyncio.sleep(rng.uniform(0, 0.15))

    async def press_until_told(self, person: Person, question: Message, rng: random.Random) -> None:
        custom_id = rng.choice(answers_of(question))
        _, round_id, position, vote, choice = custom_id.split(":")
        key = (round_id, int(position), int(vote))
        while True:
            await self.up.wait()
            try:
                act = await person.press(question, custom_id=custom_id, wait=False)
            except Refused:
                return  # taken away meanwhile
            self.crowd.pressed[act.interaction.id] = (key, person.id, choice)
            if await self.done(act):
                said = act.message.content
                assert said.startswith(("✔", "This button belongs", "Too late", "The answer", "This round has ended")), said
                if said.startswith("✔"):
                    self.crowd.receipts[act.interaction.id] = choice
                    self.crowd.told[key, person.id] = choice
                return

    async def round_goes_on(self) -> None:
        """Until the first control after the restart has worked, so that every kill meets a round in another state."""
        steps = self.steps
        while self.steps == steps:  # noqa: ASYNC110  # many times a second
            await asyncio.sleep(0.01)

    async def nobody_waits(self) -> None:
        while self.pressing:  # noqa: ASYNC110  # people come and go many times a second
            await asyncio.sleep(0.01)

    def question(self) -> Message | None:
        messages = self.sandbox.channel(ROOM).messages.values()
        return next((message for message in reversed(messages) if answers_of(message)), None)

    # the instructor

    async def conduct(self) -> None:
        """One round after the other: start, let people press, close when nobody waits for a receipt, go on."""
        while True:
            console = await self.opened()
            while "End round" in labels(console):
                await asyncio.sleep(self.rng.uniform(0.1, 0.5))
                self.held.clear()
                await self.nobody_waits()
                console = await self.step(console)
                self.steps += 1
                self.held.set()
            self.ended += 1

    async def opened(self) -> Message:
        while True:
            await self.up.wait()
            act = await self.asked("live start", quiz="gates", seconds=0)
            if act is not None and "A round is running" in act.message.content:
                act = await self.asked("live console")  # the one whose opening was cut off
            if act is not None and act.message.buttons:
                return act.message

    async def asked(self, command: str, **options: object) -> Act | None:
        try:
            act = await self.host.slash(command, channel=ROOM, wait=False, **options)
            if not await self.done(act):
                return None
            await act.settled(3.0)
            return act
        except (NoAnswer, Refused):
            return None

    async def step(self, console: Message) -> Message:
        """The next control; after a crash a new console is asked for."""
        while True:
            await self.up.wait()
            button = next(b for b in console.buttons if b["custom_id"].split(":")[2] == "next")
            try:
                act = await self.host.press(console, custom_id=button["custom_id"], wait=False)
                if await self.done(act):
                    return act.message
                continue
            except (Refused, NoAnswer):
                pass
            fresh = await self.asked("live console")
            if fresh is not None and fresh.message.buttons:
                return fresh.message
            if fresh is not None and "No round" in fresh.message.content:
                return await self.opened()


def answers_of(message: Message) -> list[str]:
    return [b["custom_id"] for b in message.buttons if b["custom_id"].startswith("live:")]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    (tmp_path / "content" / "quizzes").mkdir(parents=True)
    (tmp_path / "content" / "quizzes" / "gates.quiz.yaml").write_text(QUIZ, "utf-8")
    async with Sandbox(rates=UNLIMITED) as sandbox:
        made = Stage(sandbox, tmp_path, random.Random(SEED))
        try:
            yield made
        finally:
            if made.process is not None and made.process.returncode is None:
                made.process.kill()
                await made.process.wait()


async def test_after_every_kill_the_stored_results_equal_the_presses_that_got_a_receipt(stage: Stage) -> None:
    await stage.start()
    tasks = [asyncio.create_task(stage.conduct()), *(asyncio.create_task(stage.live(person)) for person in stage.people)]
    try:
        for _ in range(CRASHES):
            await asyncio.sleep(stage.rng.choice((0.3, 1.0, 2.5)) * stage.rng.random())
            await stage.kill()
            check_kept(stage)
            await stage.start()
            await stage.round_goes_on()
            assert not any(task.done() for task in tasks), [task for task in tasks if task.done()]
        stage.held.clear()
        await stage.nobody_waits()
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results), results
    await stage.kill()
    check_kept(stage)
    await check_results(stage)
    assert len(stage.crowd.receipts) > 3 * CRASHES
    print(summary(stage))  # noqa: T201  # what the long run is read for


def check_kept(stage: Stage) -> None:
    """Every press with a receipt is there once, and nothing that nobody pressed."""
    with contextlib.closing(sqlite3.connect(stage.folder / "studyhall.db")) as database:
        rows = database.execute("SELECT press_id, round_id, position, vote, learner_id, response FROM live_presses").fetchall()
    stored = {row[0]: ((row[1], row[2], row[3]), row[4], json.loads(row[5])["selected"][0]) for row in rows}
    assert len(stored) == len(rows)
    missing = stage.crowd.receipts.keys() - stored.keys()
    assert not missing, f"{len(missing)} presses had a receipt and are gone after kill {stage.kills}"
    for press_id, kept in stored.items():
        assert stage.crowd.pressed[press_id] == kept


def summary(stage: Stage) -> str:
    crowd = stage.crowd
    return f"{stage.kills} kills, {len(crowd.pressed)} presses, {len(crowd.receipts)} receipts, {stage.ended} rounds ended"


async def check_results(stage: Stage) -> None:
    """The answers that count, from the service, are those of each person's last receipt."""
    database = await Database.open(stage.folder / "studyhall.db")
    try:
        live = LiveRounds(Library(), store=LiveStore(database), misses=MissStore(database), new_id=lambda: "")
        found: dict[tuple[Question, int], str] = {}
        for round_id in {key[0] for key, _ in stage.crowd.told}:
            report = await live.report(round_id)
            for standing in report.board.standings:
                for line in standing.lines:
                    if line.response is not None:
                        found[(round_id, line.position, 1), standing.seat.learner_id] = line.response.ids[0]  # type: ignore[union-attr]
            counted = set(report.board.positions)
            told = {key: choice for key, choice in stage.crowd.told.items() if key[0][0] == round_id and key[0][1] in counted}
            assert {key: choice for key, choice in found.items() if key[0][0] == round_id} == told
    finally:
        await database.close()
    assert found, "no question was ever revealed"
