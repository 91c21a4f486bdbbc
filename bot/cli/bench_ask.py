"""`studyhall bench ask`: what the prefix store and parallel slots of the embedded model are worth, as ratios of one run.

One guide, the real weights, an empty prefix store. First the guide is computed (cold). Then a question at once on every slot finds it
restored, while all of them share the machine; then four learners ask in turn, and four at once. After a restart every slot is
empty, and one learner after another asks, each alone on the machine and each on another slot, which gets the guide from the store.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

from bot.cli.compose import loaded_library
from bot.cli.writer import model_file
from bot.settings import Settings
from content.model import Guide
from engines.base import EngineDown, Finish, Prompt
from engines.llamacpp import LlamaCppEngine
from tutor import prompting

GUIDE = "tensorrt-engines"
QUESTIONS = (
    "Why is my engine tied to one GPU?",
    "What does layer fusion do?",
    "What is a timing cache for?",
    "What happens to a shape outside the profile?",
)
START_DEADLINE_S = 120.0
ANSWER_DEADLINE_S = 300.0
TOKENS = 48


async def bench_ask(settings: Settings) -> dict[str, Any]:
    """Seconds to the first piece, and ratios. Raises EngineDown when there are no weights."""
    weights = model_file(settings)
    if weights is None:
        raise EngineDown("llamacpp", "there are no weights", "Get them with: studyhall model fetch")
    guide = loaded_library([]).guide(GUIDE, "en")
    assert guide is not None, "the shipped library has it"
    with tempfile.TemporaryDirectory() as folder:
        figures = await _first_run(weights, Path(folder), guide)
        alone = await _each_slot_alone_after_restart(weights, Path(folder), guide)
    cold = figures["cold_first_piece_s"]
    figures["at_once_slowest_to_cold"] = round(max(figures["at_once_first_piece_s"]) / cold, 4)
    figures["four_at_once_to_in_sequence"] = round(figures["four_at_once_s"] / figures["four_in_sequence_s"], 3)
    figures["alone_after_restart"] = [
        {
            "slot": slot,
            "first_piece_s": round(first, 3),
            "to_cold": round(first / cold, 4),
            "cached_tokens": finish.cached_tokens,
            "prompt_tokens": finish.prompt_tokens,
        }
        for slot, first, finish in alone
    ]
    return figures


async def _first_run(weights: Path, folder: Path, guide: Guide) -> dict[str, Any]:
    engine = LlamaCppEngine(weights, folder)
    try:
        await engine.start(START_DEADLINE_S)
        cold, _ = await timed(engine, prompt_for(engine, guide, QUESTIONS[0]))
        await engine.warm(prompt_for(engine, guide, ""))
        slots = engine.settings.slots
        # asked at once, each question takes a slot of its own
        restored = await asyncio.gather(*(timed(engine, prompt_for(engine, guide, QUESTIONS[i % 4]), tokens=1) for i in range(slots)))
        started = time.perf_counter()
        for question in QUESTIONS:
            await timed(engine, prompt_for(engine, guide, question))
        in_sequence = time.perf_counter() - started
        started = time.perf_counter()
        await asyncio.gather(*(timed(engine, prompt_for(engine, guide, question)) for question in QUESTIONS))
        at_once = time.perf_counter() - started
    finally:
        await engine.aclose()
    return {
        "cold_first_piece_s": round(cold, 3),
        "at_once_first_piece_s": [round(first, 3) for first, _ in restored],
        "four_in_sequence_s": round(in_sequence, 2),
        "four_at_once_s": round(at_once, 2),
    }


async def _each_slot_alone_after_restart(weights: Path, folder: Path, guide: Guide) -> list[tuple[int, float, Finish]]:
    """For each slot its number, seconds to the first piece, and how the reply ended: restored from the store each time.

    A reply that is not read to its end keeps its slot, so the next question has to take another one; its one token is written by
    then, so that the server is idle.
    """
    engine = LlamaCppEngine(weights, folder)
    try:
        await engine.start(START_DEADLINE_S)
        found: list[tuple[int, float, Finish]] = []
        async with AsyncExitStack() as held:
            for number in range(engine.settings.slots):
                prompt = prompt_for(engine, guide, QUESTIONS[number % len(QUESTIONS)])
                before = engine.slots_with(prompt)
                started = time.perf_counter()
                events = await held.enter_async_context(aclosing(engine.stream(prompt, max_tokens=1, deadline_s=ANSWER_DEADLINE_S)))
                first: float | None = None
                async for event in events:
                    first = time.perf_counter() - started if first is None else first
                    if isinstance(event, Finish):
                        (slot,) = engine.slots_with(prompt) - before
                        found.append((slot, first, event))
                        break
    finally:
        await engine.aclose()
    return found


def prompt_for(engine: LlamaCppEngine, guide: Guide, question: str) -> Prompt:
    evidence = prompting.evidence_for(guide, guide.sections, engine.traits)
    return prompting.prompt_for(question, evidence, relevant=(), language="en")


async def timed(engine: LlamaCppEngine, prompt: Prompt, *, tokens: int = TOKENS) -> tuple[float, int]:
    """Seconds to the first piece, and how many tokens came."""
    started = time.perf_counter()
    first: float | None = None
    new = 0
    async for event in engine.stream(prompt, max_tokens=tokens, deadline_s=ANSWER_DEADLINE_S):
        first = time.perf_counter() - started if first is None else first
        if isinstance(event, Finish):
            new = event.new_tokens or 0
    assert first is not None, "a stream ends in a Finish"
    return first, new
