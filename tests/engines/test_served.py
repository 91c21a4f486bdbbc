"""A model server that is started, used, killed, hung and restarted, while learners read from it.

The server is a small one on the standard library, so that it starts in a tenth of a second; what is proven is what happens to
the readers and that the supervisor always comes back, never anything about a real server's restart time.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from engines.base import Engine, EngineDown, EngineError, Finish, Traits
from engines.quoting import QuotingEngine
from engines.served import ServedEngine, phase, served_trtllm
from engines.sidecar import Patience, State
from engines.switching import SwitchingEngine
from engines.trtllm import ServeSettings, plan
from tests.engines.contract import prompt, read, small_server

QUICK = Patience(ready_s=20, poll_s=0.1, unhealthy_polls=2, grace_s=1, first_pause_s=0.01, longest_pause_s=0.05, failures=1_000)


@pytest.fixture
async def served() -> AsyncIterator[ServedEngine]:
    engine = small_server(QUICK, hang_s=0.3)
    await engine.start(20)
    yield engine
    await engine.aclose()


async def test_it_starts_answers_and_says_how_far_it_came(served: ServedEngine) -> None:
    assert (await read(served, prompt()))[0] == ["word "] * 8
    assert served.phase == "ready"
    assert (await served.health()).ok


async def test_while_it_is_not_healthy_every_question_fails_at_once(served: ServedEngine) -> None:
    assert served.status.pid
    os.kill(served.status.pid, signal.SIGKILL)
    async with asyncio.timeout(10):
        while served.status.state is State.HEALTHY:  # noqa: ASYNC110 - only its status tells
            await asyncio.sleep(0.01)
    with pytest.raises(EngineDown, match=r"restarting|starting"):
        await read(served, prompt())
    await served.sidecar.healthy(20)
    assert (await read(served, prompt()))[0]


async def test_a_server_that_answers_its_health_check_but_writes_nothing_is_replaced(served: ServedEngine) -> None:
    first = served.status.pid
    with pytest.raises(EngineError):
        await read(served, prompt("please hang"), deadline_s=20)
    await served.sidecar.healthy(20)
    assert served.status.pid != first
    assert (await read(served, prompt()))[0]


async def test_fifty_kills_at_random_leave_every_learner_with_an_answer_a_quote_or_a_clear_message(served: ServedEngine) -> None:
    async def itself(_: Path) -> Engine:
        return served

    engine = SwitchingEngine(QuotingEngine(), itself, lambda: Path("server"), poll_s=0.01)
    assert await engine.switched(5)
    chance = random.Random(7)
    ended = {"answer": 0, "quote": 0, "message": 0}
    messages: list[tuple[str, str]] = []
    over = asyncio.Event()

    async def learner() -> None:
        while not over.is_set():
            text, finished = "", False
            try:
                async with asyncio.timeout(5):
                    async for piece in engine.stream(prompt(), max_tokens=9, deadline_s=4):
                        if isinstance(piece, Finish):
                            finished = True
                        else:
                            text += piece
            except EngineError as error:
                messages.append((error.problem, error.remedy))
                ended["message"] += 1
            else:
                assert finished
                ended["quote" if "[S1]" in text else "answer"] += 1
            await asyncio.sleep(0.02)

    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(learner())
        for _ in range(50):
            await served.sidecar.healthy(20)
            await asyncio.sleep(chance.uniform(0, 0.06))
            if served.status.pid:
                with suppress(ProcessLookupError):
                    os.kill(served.status.pid, chance.choice([signal.SIGKILL, signal.SIGTERM]))
            async with asyncio.timeout(10):
                while served.status.state is State.HEALTHY:  # noqa: ASYNC110 - only its status tells
                    await asyncio.sleep(0.005)
        await served.sidecar.healthy(20)
        await asyncio.sleep(0.2)
        over.set()
    assert served.status.state is State.HEALTHY
    assert served.status.restarts >= 50
    assert ended["quote"], ended  # how many are cut off in the middle, and so end in a message, depends on what else the machine does
    assert all(problem and remedy for problem, remedy in messages)
    await engine.aclose()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Fetching 12 files:  40%", "downloading"),
        ("[TRT-LLM] [I] Loading weights in parallel", "loading weights"),
        ("Capturing CUDA graph for batch size 8", "warming up"),
        ("INFO: Application startup complete.", "ready"),
        ("something else", None),
    ],
)
def test_a_log_line_says_how_far_a_start_has_come(line: str, name: str | None) -> None:
    assert phase(line) == name


async def test_a_planned_launch_becomes_an_engine_with_its_file_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "serve.yaml"
    made = plan("qwen2.5-1.5b-instruct", 24, settings=ServeSettings("Qwen/Qwen2.5-1.5B-Instruct"), config_path=path)
    engine = served_trtllm(made.launch, path, Traits("trtllm", model=made.card.id))
    assert path.read_text("utf-8") == made.launch.yaml
    assert engine.sidecar.program.command == made.launch.command
    assert engine.sidecar.program.after_stop == ("docker", "rm", "--force", "studyhall-trtllm")
    assert engine.status.state is State.STOPPED
    await engine.aclose()
