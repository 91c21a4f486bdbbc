"""The contract of engines, and what is peculiar to vLLM, on a real vLLM that our own supervisor starts, kills and restarts.

    STUDYHALL_VLLM_PYTHON=…/bin/python pytest tests/engines/test_vllm.py

The Python is one of an environment with vLLM in it, for a GPU or for the CPU. What is served is a model of a few megabytes that says a
set text (vllm_model.py), or the folder in STUDYHALL_VLLM_MODEL. It proves the protocol, the scheduler, the prefix cache and what happens
when processes die; with the small model it proves nothing about speed or quality. With STUDYHALL_VLLM_FRONT=rust the HTTP front is the
one in Rust that vLLM's GPU wheels carry (docs/engines.md), instead of the one in Python.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from engines.base import EngineDown, EngineError, Finish, Probe, Traits
from engines.openai_http import Constraint, Flavour, OpenAIEngine, Server
from engines.served import ServedEngine
from engines.sidecar import Patience, Program, State, http_probe
from tests.engines import test_contract, vllm_model
from tests.engines.contract import GUIDE, Case, prompt, read

PYTHON = os.environ.get("STUDYHALL_VLLM_PYTHON", "")
MODEL = os.environ.get("STUDYHALL_VLLM_MODEL", "")
RUST = os.environ.get("STUDYHALL_VLLM_FRONT") == "rust"
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(not PYTHON, reason="STUDYHALL_VLLM_PYTHON names no Python that has vLLM"),
    pytest.mark.asyncio(loop_scope="module"),
]

READY_S = 300.0
NAME = "small"
OPTIONS = "--max-model-len 4096 --max-num-seqs 64 --dtype float32 --enforce-eager --enable-prompt-tokens-details --host 127.0.0.1".split()
# For the build without a GPU: both cores, and one gigabyte of cache. Another build takes no notice of them.
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "passive",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_USE_RUST_FRONTEND": "1" if RUST else "0",
}
LONG = " ".join(f"{GUIDE} This is line {number} of the guide." for number in range(8))

DIES = test_contract.test_a_server_that_dies_in_mid_reply_is_an_error.__name__  # below, by killing it
CONTRACT = [
    name
    for name, test in vars(test_contract).items()
    if name.startswith("test_") and name != DIES and "case" in inspect.signature(test).parameters
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServedEngine]:
    folder = Path(MODEL) if MODEL else tmp_path_factory.mktemp("vllm") / "model"
    if not MODEL:
        making = await asyncio.create_subprocess_exec(PYTHON, vllm_model.__file__, str(folder))
        assert await asyncio.wait_for(making.wait(), 120) == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    front = ("vllm.entrypoints.cli.main", "serve", str(folder)) if RUST else ("vllm.entrypoints.openai.api_server", "--model", str(folder))
    command = (PYTHON, "-m", *front, "--served-model-name", NAME, "--port", str(port))
    program = Program("vllm", (*command, *OPTIONS), http_probe(f"{url}/health"), env=ENVIRONMENT, cwd=folder)
    traits = Traits("vllm", model=NAME, context_tokens=4_096)
    patience = Patience(ready_s=READY_S, poll_s=0.25, grace_s=20, first_pause_s=0.1)
    engine = ServedEngine(program, Server(f"{url}/v1", NAME, Flavour.VLLM, grammar=True), traits=traits, patience=patience)
    await engine.start(READY_S)
    yield engine
    await engine.aclose()
    assert not processes(folder), "nothing of it is left"


@pytest_asyncio.fixture(loop_scope="module")
async def client(served: ServedEngine) -> AsyncIterator[OpenAIEngine]:
    await served.sidecar.healthy(READY_S)
    engine = OpenAIEngine(served.client.server, traits=served.traits)
    yield engine
    await engine.aclose()


def processes(folder: Path) -> dict[int, str]:
    """Every process that works in the model's folder, and its command."""
    found: dict[int, str] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (place / "cwd").readlink() == folder.resolve():
                found[int(place.name)] = (place / "cmdline").read_text("utf-8").replace("\0", " ")
        except OSError:
            continue
    return found


async def until_running(engine: OpenAIEngine, replies: int) -> None:
    """Wait until the server itself says that it is writing so many replies; at most 3 s, when a whole reply takes longer."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(3):
        while True:
            async with session.get(engine.server.base_url.removesuffix("/v1") + "/metrics") as response:
                found = re.search(r"^vllm:num_requests_running\{.*\} ([\d.]+)$", await response.text(), re.MULTILINE)
            assert found, "this version names it otherwise"
            if float(found[1]) == replies:
                return


def case_of(engine: OpenAIEngine) -> Case:
    @asynccontextmanager
    async def stopped() -> AsyncIterator[None]:
        await until_running(engine, 1)
        yield
        await until_running(engine, 0)

    says = None if MODEL else vllm_model.said
    return Case(engine, stopped=stopped, says=says, talks=True, exact=not MODEL, limit=60_000, many=8 if MODEL else 200)


@pytest.mark.parametrize("name", CONTRACT)
async def test_the_contract_of_engines_holds(name: str, client: OpenAIEngine) -> None:
    await getattr(test_contract, name)(case_of(client))


async def test_a_whole_reply_of_thousands_of_tokens_arrives_unchanged(client: OpenAIEngine) -> None:
    if MODEL:
        pytest.skip("only of the small model it is known what it says")
    pieces, finish = await read(client, prompt(), max_tokens=vllm_model.TOKENS + 50, deadline_s=120)
    assert "".join(pieces) == vllm_model.said()
    assert not finish.cut_off


async def test_a_warm_guide_is_read_from_the_cache_by_every_later_learner(client: OpenAIEngine) -> None:
    await client.warm(prompt("x", LONG))
    for _, finish in await asyncio.gather(*(read(client, prompt(f"Question {number}?", LONG), max_tokens=2) for number in range(8))):
        assert finish.prompt_tokens
        assert finish.cached_tokens
        assert finish.cached_tokens > 0.6 * finish.prompt_tokens  # whole blocks only


@pytest.mark.parametrize(
    ("constraint", "allowed"),
    [
        (Constraint(regex="[a-c]{3}"), r"[a-c]{3}"),
        (Constraint(grammar='root ::= "yes [S1]" | "no"'), r"yes \[S1\]|no"),
        (Constraint(json_schema={"enum": ["yes", "no"]}), r'"(yes|no)"'),
    ],
    ids=["regex", "grammar", "json"],
)
async def test_a_reply_is_held_to_its_constraint(client: OpenAIEngine, constraint: Constraint, allowed: str) -> None:
    pieces = [
        piece async for piece in client.stream(prompt(), max_tokens=40, deadline_s=60, constraint=constraint) if isinstance(piece, str)
    ]
    assert re.fullmatch(allowed, "".join(pieces))


async def test_the_grammar_of_a_prompt_and_its_probe_are_taken(client: OpenAIEngine) -> None:
    asked = replace(prompt(), grammar='root ::= "from the guide [S1]"')
    assert "".join((await read(client, asked))[0]) == "from the guide [S1]"
    pieces, finish = await read(client, replace(prompt(), probe=Probe("Does the guide answer this? Say yes or no.", 0.0)), max_tokens=4)
    assert "".join(pieces)
    assert not finish.declined


async def test_every_field_that_this_server_may_be_sent_is_taken_and_another_is_refused_before_it_is_sent(client: OpenAIEngine) -> None:
    fields = {
        "top_p": 0.9,
        "repetition_penalty": 1.0,
        "chat_template_kwargs": {"enable_thinking": False},
        "cache_salt": "one",
        "stop": ["@"],
    }
    async for _ in client.stream(prompt(), max_tokens=2, deadline_s=60, extra={**fields, "seed": 3}):
        pass
    with pytest.raises(EngineError, match="nonsense is not known"):
        await anext(client.stream(prompt(), max_tokens=2, deadline_s=60, extra={"nonsense": 1}))


async def test_a_salted_prefix_is_not_shared(client: OpenAIEngine) -> None:
    async def cached(salt: str) -> int:
        events = [event async for event in client.stream(prompt("x", LONG), max_tokens=1, deadline_s=60, extra={"cache_salt": salt})]
        assert isinstance(events[-1], Finish)
        return events[-1].cached_tokens or 0

    assert [await cached("a"), await cached("b")] == [0, 0]
    assert await cached("a") > 0


async def test_a_wrong_model_name_is_named(client: OpenAIEngine) -> None:
    other = OpenAIEngine(replace(client.server, model="other"))
    with pytest.raises(EngineError, match="does not know this model"):
        await read(other, prompt())
    await other.aclose()


@pytest.mark.parametrize("victim", ["the server", "its engine process"])
async def test_a_death_in_mid_reply_ends_every_reader_and_the_server_comes_back(served: ServedEngine, victim: str) -> None:
    await served.sidecar.healthy(READY_S)
    before = served.status
    assert before.pid
    # Looked for now: a process that computes has been seen to keep its own entry in /proc shut for seconds.
    core = [pid for pid, command in processes(served.sidecar.program.cwd or Path()).items() if "EngineCore" in command]
    assert core, "this version names its processes otherwise"
    begun = [asyncio.Event() for _ in range(8)]

    async def reader(number: int) -> EngineError | None:
        try:
            async for piece in served.stream(prompt(f"Question {number}?"), max_tokens=2_000, deadline_s=60):
                assert isinstance(piece, str), "it died before the end"
                begun[number].set()
        except EngineError as error:
            return error
        return None

    readers = [asyncio.create_task(reader(number)) for number in range(8)]
    async with asyncio.timeout(60):
        for event in begun:
            await event.wait()
    os.kill(before.pid if victim == "the server" else core[0], signal.SIGKILL)
    async with asyncio.timeout(30):
        errors = await asyncio.gather(*readers)
    assert all(isinstance(error, EngineDown) and error.retryable for error in errors), errors
    async with asyncio.timeout(60):
        while served.status.restarts == before.restarts:  # noqa: ASYNC110 - only its status tells
            await asyncio.sleep(0.05)
    await served.sidecar.healthy(READY_S)
    assert served.status.state is State.HEALTHY
    assert "".join((await read(served, prompt()))[0])
