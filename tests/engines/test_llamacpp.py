"""The embedded engine: slots and stored prefixes on a stand-in server, then the same with the real model where it is present.

The stand-in is a small HTTP server in place of the child process; it proves which requests are made, never what a model does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from engines.base import DeadlineExceeded, EngineDown, Finish
from engines.catalogue import catalogue
from engines.llamacpp import LlamaCppEngine, Settings, child
from engines.llamacpp.prefixes import Fit, PrefixStore
from engines.sidecar import Patience, State
from engines.weights import default_folder, locate
from tests.engines.contract import GUIDE, prompt, read, weights_mark

LONG = " ".join(f"{GUIDE} This is line {number} of the guide." for number in range(8))
OTHER = LONG.replace("engine", "plan")
QUICK = Patience(ready_s=20, poll_s=0.1, grace_s=1, first_pause_s=0.05)

STAND_IN = """
import asyncio, json, os, pathlib, sys
from aiohttp import web
key = os.environ["STUDYHALL_LLAMACPP_KEY"]
store = pathlib.Path(sys.argv[1])
log = store / "log"
slots = {}
def note(*what):
    with log.open("a") as file:
        file.write(json.dumps(what) + "\\n")
async def chat(request):
    if request.headers.get("Authorization") != "Bearer " + key:
        return web.json_response({"error": {"message": "Invalid API Key"}}, status=401)
    body = await request.json()
    number, text = body["id_slot"], body["messages"][0]["content"]
    cached = slots.get(number) == text
    slots[number] = text
    note("chat", number, body["max_tokens"], cached, body["messages"][-1]["content"][:20])
    response = web.StreamResponse()
    await response.prepare(request)
    if "hold" in body["messages"][-1]["content"]:
        await response.write(b'data: {"choices":[{"delta":{"content":"one"}}]}\\n\\n')
        await asyncio.sleep(600)
    await response.write(b'data: {"choices":[{"delta":{"content":"said"},"finish_reason":"stop"}]}\\n\\ndata: [DONE]\\n\\n')
    return response
async def slot(request):
    number, name = int(request.match_info["n"]), (await request.json())["filename"]
    note(request.query["action"], number)
    if request.query["action"] == "save":
        (store / name).write_text(slots[number])
    else:
        text = (store / name).read_text()
        if text == "damaged":
            return web.json_response({"error": {"message": "n_stream mismatch"}}, status=400)
        slots[number] = text
    return web.json_response({})
async def health(request):
    return web.json_response({"status": "ok"})
async def main():
    app = web.Application()
    app.add_routes([web.post("/v1/chat/completions", chat), web.post("/slots/{n}", slot), web.get("/health", health)])
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    note("up")
    print(json.dumps({"listening": "http://127.0.0.1:%d" % runner.addresses[0][1]}), flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


class StoodIn:
    """An engine whose child process is the stand-in."""

    def __init__(self, folder: Path) -> None:
        self.model = folder / "model.gguf"
        self.model.write_bytes(b"GGUF")
        self.folder = folder
        self.engine = self.another()

    def another(self) -> LlamaCppEngine:
        engine = LlamaCppEngine(self.model, self.folder, settings=Settings(slots=2, context_tokens=2_048), patience=QUICK)
        command = (sys.executable, "-c", STAND_IN, str(engine.prefixes.folder))
        engine.sidecar.program = replace(engine.sidecar.program, command=command)
        return engine

    def log(self) -> list[list[Any]]:
        import json

        return [json.loads(line) for line in (self.folder / "prefixes" / "log").read_text("utf-8").splitlines()]


@pytest.fixture
async def stood_in(tmp_path: Path) -> AsyncIterator[StoodIn]:
    made = StoodIn(tmp_path)
    yield made
    await made.engine.aclose()


async def test_the_first_question_starts_the_server_and_nothing_is_started_before(stood_in: StoodIn) -> None:
    assert stood_in.engine.status.state is State.STOPPED
    assert await read(stood_in.engine, prompt()) == (["said"], Finish())
    assert stood_in.engine.status.state is State.HEALTHY


async def test_a_prefix_is_computed_once_and_restored_into_every_slot_that_lacks_it(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    asked = prompt("private question", LONG)
    assert not engine.is_warm(asked)
    await asyncio.gather(engine.warm(asked), engine.warm(asked))
    assert engine.is_warm(asked)
    assert [entry[0] for entry in stood_in.log()] == ["up", "chat", "save"]
    assert stood_in.log()[1][2:] == [1, False, "Answer from the guid"], "one token, of the shared part alone"
    await asyncio.gather(*(read(engine, prompt(f"question {number}", LONG)) for number in range(2)))
    chats = [entry for entry in stood_in.log()[3:] if entry[0] == "chat"]
    assert {entry[1] for entry in chats} == {0, 1}
    assert all(entry[3] for entry in chats), "both found their guide in their slot"
    assert sum(entry[0] == "restore" for entry in stood_in.log()) == 1, "the slot that computed it needs no restoring"


async def test_a_stored_prefix_is_used_after_a_restart_of_the_server_and_of_the_bot(stood_in: StoodIn) -> None:
    await stood_in.engine.warm(prompt("x", LONG))
    pid = stood_in.engine.status.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(10):
        while stood_in.engine.status.restarts == 0:  # noqa: ASYNC110 - only its status tells
            await asyncio.sleep(0.01)
    await stood_in.engine.start(10)
    await read(stood_in.engine, prompt("y", LONG))
    assert [entry[0] for entry in stood_in.log()[-2:]] == ["restore", "chat"]
    again = stood_in.another()
    assert again.is_warm(prompt("z", LONG))
    await read(again, prompt("z", LONG))
    assert [entry[0] for entry in stood_in.log()[-3:]] == ["up", "restore", "chat"]
    await again.aclose()


async def test_a_reply_that_is_not_left_keeps_its_slot_and_the_next_question_gets_the_guide_in_another(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    asked = prompt("x", LONG)
    assert engine.slots_with(asked) == set()
    await engine.warm(asked)
    (first,) = engine.slots_with(asked)
    replies = engine.stream(asked, max_tokens=1, deadline_s=10)
    while not isinstance(await anext(replies), Finish):
        pass
    await read(engine, asked)
    assert engine.slots_with(asked) == {0, 1}
    assert [entry[:2] for entry in stood_in.log()[-2:]] == [["restore", 1 - first], ["chat", 1 - first]]
    await replies.aclose()
    assert engine.slots_with(prompt("x", "short")) == set()


async def test_a_prefix_that_the_server_refuses_is_removed_and_the_answer_still_comes(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    key = engine.prefixes.key(prompt("x", LONG))
    assert key
    (engine.prefixes.folder / engine.prefixes.file(key)).write_text("damaged")
    assert (await read(engine, prompt("x", LONG)))[0] == ["said"]
    assert not engine.prefixes.has(key)


async def test_slots_keep_the_guide_they_hold_where_there_is_a_choice(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    for guide in (LONG, OTHER):
        await engine.warm(prompt("x", guide))
    for guide in (LONG, OTHER, LONG, OTHER):
        await read(engine, prompt("x", guide))
    assert not [entry for entry in stood_in.log() if entry[0] == "restore"]


async def test_a_full_house_waits_for_a_slot_and_gives_up_at_the_deadline(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    await engine.start(10)
    held = [engine.stream(prompt("hold"), max_tokens=9, deadline_s=60) for _ in range(2)]
    for replies in held:
        assert await anext(replies) == "one"
    with pytest.raises(DeadlineExceeded, match="no slot was free"):
        await read(engine, prompt(), deadline_s=0.2)
    waiting = asyncio.create_task(read(engine, prompt(), deadline_s=10))
    await asyncio.sleep(0)
    for replies in held:
        await replies.aclose()
    assert (await waiting)[0] == ["said"]


async def test_a_guide_is_computed_in_a_quiet_moment_and_not_while_somebody_is_answered(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    await engine.start(10)
    replies = engine.stream(prompt("hold"), max_tokens=9, deadline_s=60)
    assert await anext(replies) == "one"
    warming = asyncio.create_task(engine.warm(prompt("x", LONG)))
    await read(engine, prompt("another learner, meanwhile"))
    assert not warming.done()
    assert "save" not in [entry[0] for entry in stood_in.log()]
    await replies.aclose()
    async with asyncio.timeout(10):
        await warming
    assert stood_in.log()[-1][0] == "save"


async def test_a_crashed_server_is_reported_at_once_and_comes_back(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    await engine.start(10)
    replies = engine.stream(prompt("hold"), max_tokens=9, deadline_s=60)
    assert await anext(replies) == "one"
    assert engine.status.pid
    os.kill(engine.status.pid, signal.SIGKILL)
    with pytest.raises(EngineDown):
        await anext(replies)
    await engine.sidecar.healthy(10)
    async with asyncio.timeout(10):
        while True:
            try:
                assert (await read(engine, prompt()))[0] == ["said"]
                break
            except EngineDown:
                await asyncio.sleep(0.02)


async def test_closing_ends_the_process_and_a_computation_under_way(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    await engine.start(10)
    pid = engine.status.pid
    assert pid
    warming = asyncio.create_task(engine.warm(prompt("x", LONG)))
    await asyncio.sleep(0)
    await engine.aclose()
    await asyncio.wait([warming])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(EngineDown, match="closed"):
        await read(engine, prompt())


def test_a_state_fits_one_model_library_slot_count_and_text_only(tmp_path: Path) -> None:
    fit = Fit("m.gguf", 10, "abc", "1.0", 4, 16_384)
    asked = prompt("a", LONG)
    key = PrefixStore(tmp_path, fit).key(asked)
    others = [replace(fit, model_mark="x"), replace(fit, library="1.1"), replace(fit, slots=2), replace(fit, context_tokens=8_192)]
    keys = {PrefixStore(tmp_path, other).key(asked) for other in others} | {PrefixStore(tmp_path, fit).key(prompt("a", OTHER))}
    assert key not in keys
    assert len(keys) == 5
    assert PrefixStore(tmp_path, fit).key(prompt("another question", LONG)) == key, "what one learner asks is no part of it"
    assert PrefixStore(tmp_path, fit).key(prompt("a", "short")) is None


def test_the_store_stays_under_its_size_by_dropping_what_was_used_longest_ago(tmp_path: Path) -> None:
    store = PrefixStore(tmp_path, Fit("m", 1, "m", "1", 1, 512), most_bytes=250)
    for number, key in enumerate(("old", "used", "new")):
        (tmp_path / store.scratch(key)).write_bytes(b"x" * 100)
        store.keep(key)
        os.utime(tmp_path / store.file(key), (number, number))
    assert [store.has(key) for key in ("old", "used", "new")] == [False, True, True]
    store.used("used")
    (tmp_path / store.scratch("newest")).write_bytes(b"x" * 100)
    store.keep("newest")
    assert [store.has(key) for key in ("used", "new", "newest")] == [True, False, True]


async def test_a_server_that_cannot_start_is_reported_with_its_last_words_and_without_waiting(stood_in: StoodIn) -> None:
    engine = stood_in.engine
    command = (sys.executable, "-c", "print('this file is damaged'); raise SystemExit(4)")
    engine.sidecar.program = replace(engine.sidecar.program, command=command)
    with pytest.raises(EngineDown, match="this file is damaged"):
        await read(engine, prompt(), deadline_s=60)


def test_a_model_that_is_not_there_is_named_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(EngineDown, match=r"missing\.gguf cannot be used"):
        LlamaCppEngine(tmp_path / "missing.gguf", tmp_path)


def test_settings_that_leave_no_room_are_refused() -> None:
    with pytest.raises(ValueError, match="under 512 each"):
        Settings(slots=8, context_tokens=2_048)
    with pytest.raises(ValueError, match="at least 1"):
        Settings(slots=0)


def test_the_server_refuses_to_run_without_a_key() -> None:
    command = [sys.executable, child.__file__, "m", *"--slots 1 --context 512 --threads 1 --batch 32 --store /tmp".split()]
    environment = {name: value for name, value in os.environ.items() if name != child.KEY_VARIABLE}
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, env=environment, check=False)
    assert done.returncode == 2
    assert "never runs without a key" in done.stderr


# --- with the real model ---

REAL = weights_mark()


@pytest.fixture
async def real(tmp_path: Path) -> AsyncIterator[LlamaCppEngine]:
    path = locate(catalogue().embedded_models(), default_folder())
    assert path is not None
    engine = LlamaCppEngine(path, tmp_path)
    await engine.start(120)
    yield engine
    await engine.aclose()


async def first_word_s(engine: LlamaCppEngine, question: str) -> tuple[float, Finish]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    first: float | None = None
    async with aclosing(engine.stream(prompt(question, LONG), max_tokens=8, deadline_s=120)) as events:
        async for piece in events:
            if first is None:
                first = loop.time() - began
            if isinstance(piece, Finish):
                return first, piece
    raise AssertionError("no Finish")


@REAL[0]
@REAL[1]
async def test_real_a_stored_prefix_makes_the_first_word_quick_on_every_slot_and_after_a_crash(real: LlamaCppEngine) -> None:
    async with aiohttp.ClientSession() as session:  # nobody else on this machine may use the server
        for path in ("/slots", "/v1/models", "/props"):
            async with session.get(f"{real._address}{path}") as response:
                assert response.status == 401
    cold, finish = await first_word_s(real, "Is this cold?")
    assert finish.cached_tokens == 0
    await real.warm(prompt("x", LONG))
    answers = await asyncio.gather(*(first_word_s(real, f"What is line {number}?") for number in range(4)))
    for _, finish in answers:
        assert finish.prompt_tokens is not None
        assert finish.cached_tokens is not None
        assert finish.cached_tokens > 0.9 * finish.prompt_tokens
    assert real.status.pid
    os.kill(real.status.pid, signal.SIGKILL)
    async with asyncio.timeout(120):
        while real.status.restarts == 0:  # noqa: ASYNC110 - only its status tells
            await asyncio.sleep(0.05)
    await real.start(120)
    warm, finish = await first_word_s(real, "And after the crash?")
    assert finish.cached_tokens
    assert warm < cold / 3  # 1/15 and better where nothing else runs; a test must hold on a busy machine too
    async with AsyncExitStack() as held, aiohttp.ClientSession(headers={"Authorization": f"Bearer {real._key}"}) as session:
        for number in range(4):
            asked = prompt(f"What is line {number}, alone?", LONG)
            events = await held.enter_async_context(aclosing(real.stream(asked, max_tokens=1, deadline_s=120)))
            finish = [await anext(events), await anext(events)][-1]
            assert isinstance(finish, Finish)
            assert finish.prompt_tokens
            assert (finish.cached_tokens or 0) > 0.9 * finish.prompt_tokens
            async with session.get(f"{real._address}/slots") as response:
                used = {slot["id"] for slot in await response.json() if "id_task" in slot}
            assert used == real.slots_with(asked), "what we think each slot holds is where the server wrote"
            assert len(used) == number + 1


@REAL[0]
@REAL[1]
async def test_real_leaving_during_a_long_prefill_frees_the_slot(real: LlamaCppEngine) -> None:
    task = asyncio.create_task(first_word_s(real, "Nobody waits for this one."))
    await asyncio.sleep(0.5)  # until the server works on it, which nothing announces
    task.cancel()
    await asyncio.wait([task])
    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(read(real, prompt("Say yes."), max_tokens=2) for _ in range(4)))
    assert loop.time() - began < 30
    assert (await real.health()).ok
