"""Learners ask while a real llama.cpp server is killed again and again: each of them ends with an answer, a quote or a plain word.

Everything is real: weights, llama.cpp's own HTTP server, the supervisor, turns, the switch to quotes, the check of every sentence. The
server runs once as any other server would, by its address, and once as the embedded engine. It proves what becomes of learners and of the
supervisor; nothing about the quality of answers. STUDYHALL_KILLS says how many kills, STUDYHALL_KILLS_SEED when.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from content.model import Library
from engines.admission import AdmittedEngine, Limits
from engines.base import Engine, Traits
from engines.catalogue import catalogue
from engines.llamacpp import LlamaCppEngine
from engines.llamacpp import Settings as LlamaCppSettings
from engines.openai_http import Flavour, Server
from engines.quoting import QuotingEngine
from engines.served import ServedEngine
from engines.sidecar import Patience, Program, State, http_probe
from engines.switching import SwitchingEngine
from engines.weights import default_folder, locate
from tests.engines.contract import weights_mark
from tests.tutor.harbour import GATES, PILOTS, TIDES, harbour
from tutor.answering import DEADLINE_S, Answering, Asked
from tutor.reply import Kind, TutorReply
from tutor.retrieval import Retriever

KILLS = int(os.environ.get("STUDYHALL_KILLS", "1"))
SEED = int(os.environ.get("STUDYHALL_KILLS_SEED", "7"))
LEARNERS = 4
SLOTS = 2
CONTEXT = 4_096
READY_S = 120.0
LONGEST_WAIT_S = 6.0  # from when the model answers to the kill: before the first word of anybody, amid their replies, or after some
PATIENCE = Patience(ready_s=READY_S, poll_s=0.2, grace_s=2, first_pause_s=0.1, longest_pause_s=0.5, failures=1_000)

GUIDE = harbour(GATES, PILOTS, TIDES)
LIBRARY = Library(guides={"harbour": {"en": GUIDE}})
QUESTIONS = ("When does the outer gate close?", "Which ships does a pilot board?", "What does high tide raise?", "Who was emperor of Rome?")

SERVER = """
import sys, threading, xllamacpp
model, port, slots, context = sys.argv[1], *map(int, sys.argv[2:])
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_parallel, params.n_ctx = model, port, slots, context
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
params.n_batch = params.n_ubatch = 128
params.cache_ram_mib = 0
params.ui = False
params.verbosity = 1
server = xllamacpp.Server(params)
threading.Event().wait()
"""

Watched = ServedEngine | LlamaCppEngine


def by_its_address(model: Path, _: Path, port: int) -> Watched:
    url = f"http://127.0.0.1:{port}"
    command = (sys.executable, "-c", SERVER, str(model), str(port), str(SLOTS), str(CONTEXT))
    program = Program("llama.cpp", command, http_probe(f"{url}/health"), env={"OMP_WAIT_POLICY": "passive"})
    traits = Traits("llamacpp", model=model.stem, context_tokens=CONTEXT // SLOTS, max_tokens=48)
    return ServedEngine(program, Server(f"{url}/v1", model.stem, Flavour.LLAMACPP), traits=traits, patience=PATIENCE)


def embedded(model: Path, folder: Path, _: int) -> Watched:
    return LlamaCppEngine(model, folder, settings=LlamaCppSettings(slots=SLOTS, context_tokens=CONTEXT, max_tokens=48), patience=PATIENCE)


@pytest.mark.parametrize("make", [by_its_address, embedded])
@weights_mark()[0]
@weights_mark()[1]
async def test_kills_at_random_leave_every_learner_with_an_answer_a_quote_or_a_plain_word(
    make: Callable[[Path, Path, int], Watched], tmp_path: Path, free_port: int, record_property: Callable[[str, object], None]
) -> None:
    model = locate(catalogue().embedded_models(), default_folder())
    assert model is not None
    watched = make(model, tmp_path, free_port)
    engine = SwitchingEngine(QuotingEngine(), _admitted(watched), lambda: model)
    answering = Answering(LIBRARY, Retriever(LIBRARY), engine, QuotingEngine())
    try:
        await watched.start(READY_S)
        assert await engine.switched(5)
        await answering.warmed(GUIDE.id, "en")  # so that the kills hit replies, not the reading of the guide before the first
        summary = await _survived(watched, engine, answering)
        record_property("kills", summary)
        print(summary)  # noqa: T201 - what was measured, for those who run it with -s
    finally:
        await answering.aclose()
        await engine.aclose()
        await watched.aclose()  # where the switch never came to have it


async def _survived(watched: Watched, engine: SwitchingEngine[Path], answering: Answering) -> str:
    """Kill it as often as asked, among learners; what was seen, in one line."""
    loop = asyncio.get_running_loop()
    chance = random.Random(SEED)
    ended: Counter[str] = Counter()
    slowest_s = 0.0
    numbers = count(1)
    over = asyncio.Event()

    async def asked(question: str) -> TutorReply:
        """One question of a new learner: one learner alone may ask only so often."""
        last: TutorReply | None = None
        async for reply in answering.ask(Asked(question, "en", next(numbers), guide_id="harbour")):
            last = reply
        assert last is not None
        assert last.complete
        return last

    async def learner(first: int) -> None:
        nonlocal slowest_s
        for number in count(first):
            if over.is_set():
                return
            began = loop.time()
            reply = await asked(QUESTIONS[number % len(QUESTIONS)])
            slowest_s = max(slowest_s, loop.time() - began)
            assert reply.sentences or reply.reason, "silence"
            ended[f"{reply.kind}: {reply.reason}" if reply.reason else str(reply.kind)] += 1
            await asyncio.sleep(0.1)  # a learner reads; without it those who get quotes would do nothing but ask

    async def writing_again() -> None:
        """Until the server is healthy and the switch has seen it."""
        await watched.sidecar.healthy(READY_S)
        async with asyncio.timeout(60):
            while engine.traits.model is None:  # noqa: ASYNC110 - only who answers tells
                await asyncio.sleep(0.02)

    began = loop.time()
    async with asyncio.TaskGroup() as group:
        for number in range(LEARNERS):
            group.create_task(learner(number))
        for _ in range(KILLS):
            await writing_again()
            await asyncio.sleep(chance.uniform(0, LONGEST_WAIT_S))
            before = watched.status
            assert before.pid
            os.kill(before.pid, signal.SIGKILL)
            async with asyncio.timeout(20):
                while watched.status.restarts == before.restarts:  # noqa: ASYNC110 - only its status tells
                    await asyncio.sleep(0.01)
        await writing_again()
        over.set()
    assert watched.status.state is State.HEALTHY
    assert watched.status.restarts == KILLS, "it never fell by itself"
    assert slowest_s < DEADLINE_S
    again = await asked(QUESTIONS[0])
    assert again.tokens.new, "the model writes again"
    if KILLS >= 20:  # seldom all of them in a few
        assert {str(Kind.ANSWER), str(Kind.QUOTE), str(Kind.REFUSAL)} <= {name.partition(":")[0] for name in ended}
    return f"{KILLS} kills in {loop.time() - began:.0f} s, {ended.total()} questions, slowest {slowest_s:.1f} s: {dict(ended)}"


def _admitted(engine: Watched) -> Callable[[Path], object]:
    async def made(_: Path) -> Engine:
        return AdmittedEngine(engine, Limits(running=SLOTS))

    return made
