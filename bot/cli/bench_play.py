"""`studyhall bench play`: people who play solo rounds at once, every press timed from dispatch to the accepted reply.

The bot runs in a process of its own, as in the demo; the strict sandbox with its rate limits is in this one. The figure
is what a person waits for, less their network. A yardstick of the machine is measured in the same run.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from bot.cli.demo import bot_process
from bot.sandbox.acts import Act
from bot.sandbox.driver import Person, Sandbox
from bot.sandbox.model import Message
from bot.settings import load_settings

QUIZ = "tensorrt-engines"
LOG_IN_DEADLINE_S = 60.0


async def bench_play(people: int) -> dict[str, Any]:
    """Everyone plays the whole quiz as fast as the replies come; milliseconds, and counts of what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(database=Path(folder) / "bench.db", engine="quoting", log_level="WARNING")
        async with await Sandbox().start() as sandbox, bot_process(sandbox, settings):
            await sandbox.ready(LOG_IN_DEADLINE_S)
            started = time.perf_counter()
            acts = [act for played in await asyncio.gather(*map(play, sandbox.crowd(people))) for act in played]
            wall_s = time.perf_counter() - started
            latencies = sorted(act.latency_ms for act in acts if act.latency_ms is not None)
            return {
                "people": people,
                "presses": len(acts),
                "failed": sum(act.state != "done" for act in acts),
                "violations": len(sandbox.violations),
                "p50_ms": round(latencies[len(latencies) // 2], 1),
                "p95_ms": round(latencies[int(len(latencies) * 0.95)], 1),
                "slowest_ms": round(latencies[-1], 1),
                "presses_per_s": round(len(acts) / wall_s, 1),
                "yardstick_ms": round(yardstick_ms(), 2),
            }


async def play(person: Person) -> list[Act]:
    acts = [await person.slash("quiz play", quiz=QUIZ)]
    while (choice := answer_button(acts[-1].message)) is not None:
        acts.append(await person.press(acts[-1].message, custom_id=choice))
        onward = next(button["custom_id"] for button in acts[-1].message.buttons if button.get("custom_id", "").startswith("next:"))
        acts.append(await person.press(acts[-1].message, custom_id=onward))
    return acts


def answer_button(message: Message | None) -> str | None:
    buttons = message.buttons if message else []
    return next((button["custom_id"] for button in buttons if button.get("custom_id", "").startswith("answer:")), None)


def yardstick_ms() -> float:
    """A fixed piece of pure Python: two machines are compared by the ratio of a latency to this."""
    started = time.perf_counter()
    total = 0
    for number in range(200_000):
        total += number * number % 7
    return (time.perf_counter() - started) * 1_000
