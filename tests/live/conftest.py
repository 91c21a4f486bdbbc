"""The real bot with live rounds, logged in to the strict sandbox over loopback, with a small quiz of every kind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.client import StudyhallClient
from bot.sandbox.driver import Person, Sandbox
from bot.sandbox.launch import point_discord_at
from bot.sandbox.model import Message
from bot.sandbox.rates import Rates
from tests.live.parts import live_client

ROOM = "live-rounds"
QUIZ = """\
schema: quiz/1
id: harbour
version: 1
title: {en: The harbour, ko: 항구}
languages: [en, ko]
questions:
  - id: gate
    type: single
    stem: {en: When does the outer gate close?, ko: 바깥문은 언제 닫힙니까?}
    choices:
      - {id: dawn, text: {en: At dawn, ko: 새벽에}, feedback: {en: At dawn it opens., ko: 새벽에는 열립니다.}}
      - {id: noon, text: {en: At noon, ko: 정오에}, feedback: {en: At noon ships pass., ko: 정오에는 배가 지나갑니다.}}
      - {id: dusk, text: {en: At dusk, ko: 해 질 녘에}, correct: true}
      - {id: never, text: {en: Never, ko: 절대로}}
    explanation: {en: The gate closes at dusk., ko: 문은 해 질 녘에 닫힙니다.}
  - id: lamps
    type: multiple
    scoring: per_choice
    stem: {en: Which lamps stop traffic?, ko: 어느 등이 교통을 멈춥니까?}
    choices:
      - {id: red, text: {en: Red, ko: 빨강}, correct: true}
      - {id: green, text: {en: Green, ko: 초록}}
      - {id: both, text: {en: Red and white, ko: 빨강과 하양}, correct: true}
  - id: pilot
    type: truefalse
    stem: {en: A pilot boards every long ship., ko: 도선사는 긴 배마다 탑니다.}
    answer: true
  - id: depth
    type: short
    stem: {en: How many metres does the tide raise the basin?, ko: 밀물은 몇 미터를 올립니까?}
    accept: [{number: 3, unit: m}]
  - id: lock
    type: order
    stem: {en: Put passing the lock in order., ko: 갑문 통과를 순서대로 놓으십시오.}
    items:
      - {id: enter, text: {en: Enter, ko: 들어간다}}
      - {id: fill, text: {en: Fill, ko: 채운다}}
      - {id: leave, text: {en: Leave, ko: 나간다}}
"""


@asynccontextmanager
async def logged_in(sandbox: Sandbox, folder: Path) -> AsyncIterator[StudyhallClient]:
    """The bot, logged in, with the content and the database of this folder."""
    quizzes = folder / "content" / "quizzes"
    quizzes.mkdir(parents=True, exist_ok=True)
    (quizzes / "harbour.quiz.yaml").write_text(QUIZ, "utf-8")
    point_discord_at(sandbox.url, sandbox.gateway_url)
    async with live_client(folder, role="Instructor") as client:
        session = asyncio.create_task(client.start(sandbox.token))
        try:
            ready = asyncio.create_task(sandbox.ready(15))
            await asyncio.wait({session, ready}, return_when=asyncio.FIRST_COMPLETED)
            if session.done():
                ready.cancel()
                session.result()
            await ready
            yield client
        finally:
            session.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await session


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    # a real instructor leaves seconds between two controls; these tests do not, and would wait for the channel's 5 edits in 5 s
    async with Sandbox(rates=replace(Rates(), channel_messages=None)) as made:
        for person in made.people.values():
            person.locale = "en-US"  # what they read is compared in English
        yield made
        assert not made.violations


@pytest.fixture
async def bot(sandbox: Sandbox, tmp_path: Path) -> AsyncIterator[StudyhallClient]:
    async with logged_in(sandbox, tmp_path) as client:
        yield client


class Round:
    """A live round as its people see it: the console of the instructor, and the messages in the room."""

    def __init__(self, sandbox: Sandbox, host: Person, console: Message, room: Any) -> None:
        self.sandbox = sandbox
        self.host = host
        self.console = console
        self.room = room

    async def press(self, label: str) -> Message:
        """The instructor presses a control once the console shows it; returns the console."""
        await self.sandbox.wait_for(lambda: label in labels(self.console), 8)
        return (await self.host.press(self.console, label=label)).message

    def messages(self) -> list[Message]:
        """What everybody sees here, oldest first."""
        return [message for message in self.sandbox.person("Sam").messages(self.room) if not message.ephemeral]

    async def shown(self, button: str, *, timeout_s: float = 8.0) -> Message:
        """The newest message with this button."""
        return await self.sandbox.wait_for(lambda: newest(self.messages(), button), timeout_s)

    async def says(self, words: str, *, timeout_s: float = 8.0) -> Message:
        """The newest message that has these words."""
        return await self.sandbox.wait_for(lambda: next((m for m in self.messages()[::-1] if words in read(m)), None), timeout_s)


def newest(messages: Sequence[Message], button: str) -> Message | None:
    return next((message for message in messages[::-1] if button in labels(message)), None)


def labels(message: Message) -> list[str]:
    return [str(button.get("label")) for button in message.buttons]


def read(message: Message) -> str:
    """All the text of a message."""
    parts = [message.content]
    for embed in message.embeds:
        parts += [str(embed.get(name, "")) for name in ("title", "description")]
        parts += [f"{field['name']}\n{field['value']}" for field in embed.get("fields", [])]
        parts.append(str((embed.get("footer") or {}).get("text", "")))
    return "\n".join(parts)


async def opened(sandbox: Sandbox, **options: Any) -> Round:
    """Ada opens a round of the harbour quiz; a thread of its own is its room then."""
    host = sandbox.person("Ada")
    act = await (await host.slash("live start", channel=ROOM, **({"quiz": "harbour", "seconds": 60, "shuffle": False} | options))).settled()
    console = act.message
    if not console.buttons:
        raise AssertionError(f"the round was not opened: {console.content}")
    room: Any = ROOM
    if options.get("place") == "thread":
        room = sandbox.world.channels[int(console.content.partition("<#")[2].partition(">")[0])]
    made = Round(sandbox, host, console, room)
    await sandbox.wait_for(
        lambda: any(b["custom_id"].startswith(("live-join", "live-team")) for m in made.messages() for b in m.buttons), 8
    )
    return made
