"""`studyhall bench crowd`: a class that asks at one moment, quoted from the guide, beside one learner who asks alone.

No model writes; what is measured is all that comes before one: search by words and meaning, the gate, and the checks. The bot's other
work goes on meanwhile, so it also says how long something else had to wait, on the event loop and for a thread.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any, Final

from bot.cli.compose import built_vectors, loaded_library
from content.model import Library
from engines.quoting import QuotingEngine
from tutor.answering import Answering, Asked
from tutor.retrieval import Retriever

ALONE: Final = 20  # questions asked one after another, for the yardstick
BETWEEN_S: Final = 0.005  # how often the rest of the bot wants something


async def bench_crowd(people: int) -> dict[str, Any]:
    """Seconds and milliseconds. `…_over_alone`: the time for all, over as many questions asked one after another."""
    library = loaded_library([], shipped=True)
    texts = questions(library, people + ALONE + 1)
    vectors = built_vectors(library)
    if vectors is not None:
        await asyncio.to_thread(vectors.build)
    engine = QuotingEngine()
    answering = Answering(library, Retriever(library, vectors), engine, engine)
    learners = itertools.count(1)

    async def ask(text: str) -> None:
        replies = [reply async for reply in answering.ask(Asked(text, "en", next(learners)))]
        if not replies or not replies[-1].complete:
            raise RuntimeError(f"{text!r} got no complete reply")

    try:
        await ask(texts[0])  # loads what is loaded once
        started = time.perf_counter()
        for text in texts[1 : ALONE + 1]:
            await ask(text)
        alone_s = (time.perf_counter() - started) / ALONE
        figures: dict[str, Any] = {"people": people, "embeddings": vectors is not None, "alone_ms": round(1_000 * alone_s, 1)}
        for name, asked in (("different", texts[ALONE + 1 :]), ("same", texts[:1] * people)):
            async with Elsewhere() as elsewhere:
                started = time.perf_counter()
                await asyncio.gather(*map(ask, asked))
                all_s = time.perf_counter() - started
            figures[f"{name}_s"] = round(all_s, 2)
            figures[f"{name}_over_alone"] = round(all_s / (people * alone_s), 2)
            figures[f"{name}_loop_ms"] = round(1_000 * elsewhere.loop_s, 1)
            figures[f"{name}_thread_ms"] = round(1_000 * elsewhere.thread_s, 1)
        return figures
    finally:
        await answering.aclose()
        if vectors is not None:
            vectors.stop()


def questions(library: Library, count: int) -> list[str]:
    """So many different questions about what the guides say, without numbers that they do not have."""
    headings = [section.heading for variants in library.guides.values() for section in variants["en"].sections]
    forms = [
        f"{begun} {{}}{end}"
        for begun in ("What is", "Why", "How about", "Explain", "And")
        for end in ("?", " here?", ", please", " again?")
    ]
    made = [form.format(heading) for form in forms for heading in headings]
    if count > len(made):
        raise ValueError(f"the shipped guides give {len(made)} questions, {count} are wanted: ask for fewer people")
    return made[:count]


class Elsewhere:
    """The rest of the bot: the longest time that it waited for its turn on the loop, and for a thread."""

    def __init__(self) -> None:
        self.loop_s = 0.0
        self.thread_s = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Elsewhere:
        self._tasks = [asyncio.create_task(self._on_the_loop()), asyncio.create_task(self._in_a_thread())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def _on_the_loop(self) -> None:
        while True:
            started = time.perf_counter()
            try:
                await asyncio.sleep(BETWEEN_S)
            finally:
                self.loop_s = max(self.loop_s, time.perf_counter() - started - BETWEEN_S)

    async def _in_a_thread(self) -> None:
        while True:
            started = time.perf_counter()
            try:
                await asyncio.to_thread(time.perf_counter)
            finally:
                self.thread_s = max(self.thread_s, time.perf_counter() - started)
            await asyncio.sleep(BETWEEN_S)
