"""`studyhall bench live`: a crowd presses in live rounds within seconds, against the strict sandbox with its rate limits on.

The bot runs in a process of its own, as in production; the sandbox and the crowd are in this one. Everybody answers within
`spread_s`, everybody presses again within `spread_s` just before the deadline, the worst moment there is, and under the
solution everybody presses **Why?**. Counted afterwards, from the sandbox and from the database file: what was lost,
doubled, late, answered with 429, how late the closing edit was, and how soon each got an explanation. The processor time
per press (of the first wave) stands beside that of a bare discord.py bot that only acknowledges, measured with the same
crowd in the same run.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.cli.demo import bot_process
from bot.sandbox.acts import Act
from bot.sandbox.driver import Person, Sandbox
from bot.sandbox.model import GUILD_ID, Event, Interaction, Message, MessageChanged
from bot.sandbox.wire import NoAnswer
from bot.settings import Settings, load_settings
from tutor.evaluation_metrics import percentile
from tutor.grading import Selected
from tutor.scoring import Press
from tutor.store.database import Database
from tutor.store.live import LiveStore

QUIZ: Final = "tensorrt-engines"
CHANNEL: Final = "live-rounds"
LOG_IN_DEADLINE_S: Final = 60.0
SETTLE_S: Final = 15.0
DRAWN_S: Final = 2.5
LEAD_S: Final = 3.0  # between the last question that appears and the first press
LATE_MS: Final = 3_000.0
_DEADLINE: Final = re.compile(r"<t:(\d+):R>")


@dataclass(slots=True)
class Asked:
    """One question in the channel, and when its answers were taken away."""

    message: Message
    deadline: float  # seconds since 1970
    closed_at: float | None = None

    def options(self) -> list[str]:
        return answers_of(self.message)


async def bench_live(people: int = 500, spread_s: float = 2.0, rounds: int = 1, *, bare: bool = True, seed: int = 1) -> dict[str, Any]:
    """One question each in so many rounds, `people` in all. Times in milliseconds; CPU figures are None where there is no /proc."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        settings = load_settings(database=path, engine="quoting", embeddings=False, log_level="WARNING")
        before_ms = await bare_cpu_ms(people, spread_s, seed) if bare else None
        figures = await crowd_presses(settings, people, spread_s, rounds, seed)
        after_ms = await bare_cpu_ms(people, spread_s, seed + 1) if bare else None
    ours = figures["cpu_ms_per_press"]
    if before_ms is not None and after_ms is not None and ours is not None:
        beside = (before_ms + after_ms) / 2
        figures |= {"bare_cpu_ms_per_press": round(beside, 3), "cpu_ratio": round(ours / beside, 2)}
    return figures


async def crowd_presses(settings: Settings, people: int, spread_s: float, rounds: int, seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    async with await Sandbox().start() as sandbox:
        async with bot_process(sandbox, settings) as bot:
            await sandbox.ready(LOG_IN_DEADLINE_S)
            crowd = sandbox.crowd(people)
            seconds = round(2 * spread_s + LEAD_S + DRAWN_S) + 4 + rounds // 4
            asked, joins = await opened(sandbox, crowd, rounds, rng, seconds=seconds, spread_s=spread_s)
            sandbox.world.listeners.append(lambda event: watch_closing(event, asked))
            # in the middle of the time: what a press costs, without closing edits and pictures
            cpu_before = cpu_ms(bot.pid)
            started = time.time()
            presses = [(asked[number % len(asked)], person) for number, person in enumerate(crowd)]
            acts = await pressed([(one, person, started + rng.uniform(0, spread_s)) for one, person in presses], rng)
            await asyncio.sleep(DRAWN_S)  # what follows from the presses belongs to their price: the drawing of the counts
            cpu_after = cpu_ms(bot.pid)
            # at the last moment: everybody presses again
            acts += await pressed([(one, person, one.deadline - rng.uniform(0.05, spread_s)) for one, person in presses], rng)
            with contextlib.suppress(NoAnswer):  # what did not close in time is counted below
                await sandbox.wait_for(lambda: all(one.closed_at for one in asked), SETTLE_S)
            asking = await asked_why(sandbox, crowd, rounds, spread_s, rng)
        cpu = (cpu_after - cpu_before) / people if cpu_after is not None and cpu_before is not None else None
        return (
            counted(await stored_presses(settings.database), sandbox, acts, joins, asked)
            | asking
            | {
                "people": people,
                "rounds": rounds,
                "spread_s": spread_s,
                "cpu_ms_per_press": None if cpu is None else round(cpu, 3),
            }
        )


async def opened(
    sandbox: Sandbox, crowd: Sequence[Person], rounds: int, rng: random.Random, *, seconds: int, spread_s: float
) -> tuple[list[Asked], list[Act]]:
    """Open the rounds, each in a thread but for a single one, let everybody join, and start them all."""
    host, place = sandbox.person("Ada"), "thread" if rounds > 1 else "here"
    consoles: list[Message] = []
    for _ in range(rounds):
        act = await host.slash("live start", quiz=QUIZ, questions=1, seconds=seconds, place=place, channel=CHANNEL, language="en")
        consoles.append((await act.settled(SETTLE_S)).message)
    lobbies = [
        (message, str(button["custom_id"]))
        for channel in sandbox.world.channels.values()
        for message in channel.messages.values()
        for button in message.buttons
        if button.get("label") == "Join"
    ]
    joins = await asyncio.gather(
        *(joined(person, *lobbies[number % rounds], rng.uniform(0, spread_s)) for number, person in enumerate(crowd))
    )
    await asyncio.gather(*(host.press(console, label="Start") for console in consoles))
    questions = await sandbox.wait_for(lambda: shown_questions(sandbox, rounds), SETTLE_S)
    return [Asked(message, deadline_of(message)) for message in questions], joins


async def joined(person: Person, lobby: Message, custom_id: str, wait_s: float) -> Act:
    await asyncio.sleep(wait_s)
    return await person.press(lobby, custom_id=custom_id)


def shown_questions(sandbox: Sandbox, rounds: int) -> list[Message]:
    found = [message for channel in sandbox.world.channels.values() for message in channel.messages.values() if answers_of(message)]
    return found if len(found) >= rounds else []


def solutions(sandbox: Sandbox, rounds: int) -> list[tuple[Message, str]]:
    """The messages with a **Why?** under them, and its custom id; nothing until all rounds have theirs."""
    messages = [message for channel in sandbox.world.channels.values() for message in channel.messages.values()]
    buttons = [(message, str(button.get("custom_id"))) for message in messages for button in message.buttons]
    found = [(message, custom_id) for message, custom_id in buttons if custom_id.startswith("live-why:")]
    return found if len(found) >= rounds else []


def answers_of(message: Message) -> list[str]:
    """Custom ids of its answers; empty once they have been taken away."""
    return [str(button["custom_id"]) for button in message.buttons if str(button.get("custom_id", "")).startswith("live:")]


def deadline_of(message: Message) -> float:
    found = _DEADLINE.search(str(message.data["embeds"][0].get("description", "")))
    assert found is not None, "an open question shows its deadline"
    return float(found[1])


def watch_closing(event: Event, asked: Sequence[Asked]) -> None:
    if isinstance(event, MessageChanged):
        for one in asked:
            if one.message.id == event.message.id and one.closed_at is None and not answers_of(event.message):
                one.closed_at = time.time()


async def pressed(planned: Sequence[tuple[Asked, Person, float]], rng: random.Random) -> list[Act]:
    acts = await asyncio.gather(*(press_at(one, person, at, rng) for one, person, at in planned))
    return list(await asyncio.gather(*(act.answered() for act in acts)))


async def asked_why(sandbox: Sandbox, crowd: Sequence[Person], rounds: int, spread_s: float, rng: random.Random) -> dict[str, Any]:
    """Everybody presses **Why?** under the solution within the same time; how soon that was received, and how soon it was answered."""
    shown = await sandbox.wait_for(lambda: solutions(sandbox, rounds), SETTLE_S)
    begun: dict[int, float] = {}  # by interaction
    whole: dict[int, float] = {}  # by message: when the last edit came, which brings the buttons

    def watch(event: Event) -> None:
        if isinstance(event, MessageChanged) and event.message.buttons:
            whole.setdefault(event.message.id, time.perf_counter())

    def took() -> list[float]:
        """Milliseconds from press to whole answer, of those that have one."""
        answers = [(act.interaction.id, act.interaction.response) for act in acts]
        return [1_000 * (whole[answer.id] - begun[press]) for press, answer in answers if answer is not None and answer.id in whole]

    async def why(number: int, person: Person) -> Act:
        message, custom_id = shown[number % len(shown)]
        await asyncio.sleep(rng.uniform(0, spread_s))
        act = await person.press(message, custom_id=custom_id, wait=False)
        begun[act.interaction.id] = time.perf_counter()
        return act

    sandbox.world.listeners.append(watch)
    acts = await asyncio.gather(*(why(number, person) for number, person in enumerate(crowd)))
    await asyncio.gather(*(act.answered() for act in acts))
    for _ in range(60):  # one look for all, now and then: one after every change would keep the sandbox busy
        if len(took()) == len(acts):
            break
        await asyncio.sleep(SETTLE_S / 30)
    received = [act.latency_ms if act.latency_ms is not None else LATE_MS for act in acts]
    answered = took()
    return {
        "why_unanswered": len(acts) - len(answered),
        "why_received_p95_ms": round(percentile(received, 0.95), 1),
        "why_answered_p95_ms": round(percentile(answered, 0.95), 1) if answered else None,
    }


async def press_at(asked: Asked, person: Person, at: float, rng: random.Random) -> Act:
    await asyncio.sleep(max(0.0, at - time.time()))
    return await person.press(asked.message, custom_id=rng.choice(asked.options()), wait=False)


def chosen_by(interaction: Interaction) -> str:
    return str(interaction.data["custom_id"]).rpartition(":")[2]


async def stored_presses(path: Path) -> list[Press]:
    """What the database file holds after the bot has gone, in the order of pressing."""
    database = await Database.open(path)
    try:
        store = LiveStore(database)
        found = [press for round_ in await store.newest(GUILD_ID, limit=1_000) for press in await store.presses(round_.id)]
        return sorted(found, key=lambda press: press.press_id)
    finally:
        await database.close()


def counted(stored: Sequence[Press], sandbox: Sandbox, acts: Sequence[Act], joins: Sequence[Act], asked: Sequence[Asked]) -> dict[str, Any]:
    answered = [act for act in acts if act.state == "done"]
    kept = {press.press_id for press in stored}
    standing = {press.learner_id: press.response for press in stored}
    last = {act.interaction.person.id: chosen_by(act.interaction) for act in answered}  # the last receipt of each person
    refused = sum(not act.message.content.startswith("✔") for act in answered)  # all of them pressed in time
    gone = sum(act.interaction.id not in kept for act in answered)
    other = sum(standing.get(person_id) != Selected((choice,)) for person_id, choice in last.items())
    latencies = sorted(act.latency_ms for act in answered if act.latency_ms is not None)
    delays = [1_000 * (one.closed_at - one.deadline) if one.closed_at else float("inf") for one in asked]
    return {
        "presses": len(acts),
        "lost": max(refused, gone, other),
        "doubled": len(stored) - len(kept) + max(0, len(kept) - len(acts)),
        "late": sum(act.state != "done" or (act.latency_ms or 0) > LATE_MS for act in (*acts, *joins)),
        "answered_429": sandbox.limiter.hits,
        "violations": len(sandbox.violations),
        "closing_edit_ms": round(max(delays), 1),
        "p50_ms": round(latencies[len(latencies) // 2], 1) if latencies else None,
        "p95_ms": round(latencies[int(len(latencies) * 0.95)], 1) if latencies else None,
        "slowest_ms": round(latencies[-1], 1) if latencies else None,
    }


# The yardstick --------------------------------------------------------------------------------------------------------


async def bare_cpu_ms(people: int, spread_s: float, seed: int) -> float | None:
    """Processor milliseconds per press of a bot that only acknowledges, for a crowd of the same size and haste."""
    rng = random.Random(seed)
    async with await Sandbox().start() as sandbox, bare_process(sandbox) as bot:
        await sandbox.ready(LOG_IN_DEADLINE_S)
        crowd = sandbox.crowd(people)
        message = (await sandbox.person("Ada").slash("bare", channel=CHANNEL)).message
        options = [str(button["custom_id"]) for button in message.buttons]
        await asyncio.sleep(1.0)  # what is left of the log-in
        before = cpu_ms(bot.pid)
        started = time.time()
        acts = await asyncio.gather(
            *(bare_press(person, message, rng.choice(options), started + rng.uniform(0, spread_s)) for person in crowd)
        )
        await asyncio.gather(*(act.answered() for act in acts))
        await asyncio.sleep(DRAWN_S)
        after = cpu_ms(bot.pid)
        return None if before is None or after is None else (after - before) / people


async def bare_press(person: Person, message: Message, custom_id: str, at: float) -> Act:
    await asyncio.sleep(max(0.0, at - time.time()))
    return await person.press(message, custom_id=custom_id, wait=False)


@asynccontextmanager
async def bare_process(sandbox: Sandbox) -> AsyncGenerator[asyncio.subprocess.Process, None]:
    arguments = (sys.executable, "-m", "bot.cli.bench_bare", sandbox.url, sandbox.gateway_url, sandbox.token)
    process = await asyncio.create_subprocess_exec(*arguments)
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


def cpu_ms(pid: int) -> float | None:
    """User and system time of a process so far; None where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) * 10.0  # in clock ticks, which Linux counts at 100 a second
