"""What every engine is held to: the cases, one for each engine, that the tests in test_contract.py run on.

A new engine is one more function in `CASES`. A case says what its engine can be made to do (say given pieces, hang, die); a test
that needs what a case cannot do is not run on it, and is named as skipped.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.admission import AdmittedEngine, Limits
from engines.base import Engine, EngineDown, Finish, Message, Passage, Prompt, Traits
from engines.catalogue import catalogue
from engines.llamacpp import LlamaCppEngine
from engines.openai_http import Flavour, OpenAIEngine, Server
from engines.paged import PagedEngine
from engines.paged_batcher import Settings as PagedSettings
from engines.quoting import QuotingEngine
from engines.scripted import ScriptedEngine
from engines.served import ServedEngine
from engines.sidecar import Patience, Program, http_probe
from engines.switching import SwitchingEngine
from engines.weights import default_folder, locate
from tests.engines import paged_double
from tests.engines.openai_double import TRTLLM_FIELDS, Double, running

GUIDE = "An engine is built for one GPU. It does not load on another kind of GPU. A timing cache makes the second build faster."


def prompt(question: str = "Why does an engine not load on another GPU?", guide: str = GUIDE) -> Prompt:
    messages = (Message("system", f"Answer from the guide in one sentence and end it with [S1].\n[S1] {guide}"), Message("user", question))
    return Prompt(messages, question, (Passage("S1", "Engines", guide),), "en", 1)


@dataclass
class Case:
    """An engine, and ways to make it behave. What stays None it cannot be made to do."""

    engine: Engine
    say: Callable[[Sequence[str]], None] | None = None  # the next replies are these pieces
    hang: Callable[[], None] | None = None  # the next reply stops after its first piece and never ends
    stopped: Callable[[], AbstractAsyncContextManager[None]] | None = None  # waits until the work of a left reply has ended
    die: Callable[[], None] | None = None  # the next reply breaks off after its first piece
    down: Callable[[], None] | None = None  # the server is there no longer
    limit: int | None = None  # characters of a prompt that certainly do not fit
    says: Callable[[int], str] | None = None  # what a reply of so many tokens certainly says, whatever the prompt
    talks: bool = False  # writes for long by itself, so that leaving it and its deadline are tried without making it hang
    exact: bool = True  # writes the same words whatever else it is writing at that moment
    closes: bool = True  # refuses to answer once closed
    many: int = 200  # requests at once


SMALL_SERVER = """
import asyncio, json, sys
PIECES = 8
async def serve(reader, writer):
    try:
        head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode().lower()
        if head.startswith("get"):
            writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
            return
        length = int(head.split("content-length: ")[1].split()[0])
        body = (await reader.readexactly(length)).decode()
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\nConnection: close\\r\\n\\r\\n")
        limit = min(PIECES, json.loads(body)["max_tokens"])
        for number in range(limit):
            if "hang" in body:
                await asyncio.sleep(600)
            writer.write(b'data: {"choices":[{"delta":{"content":"word "}}]}\\n\\n')
            await writer.drain()
            await asyncio.sleep(0.01)
        reason = b"length" if limit < PIECES else b"stop"
        writer.write(b'data: {"choices":[{"delta":{},"finish_reason":"' + reason + b'"}]}\\n\\ndata: [DONE]\\n\\n')
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
async def main():
    print("Loading weights", flush=True)
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1])) as server:
        print("Application startup complete", flush=True)
        await server.serve_forever()
asyncio.run(main())
"""


def small_server(patience: Patience, *, hang_s: float = 60.0) -> ServedEngine:
    """A server on the standard library, which starts in a tenth of a second: eight words, or none when it is asked to hang."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    program = Program("small", (sys.executable, "-S", "-c", SMALL_SERVER, str(port)), http_probe(f"{url}/health"))
    server = Server(f"{url}/v1", "small", Flavour.TRTLLM)
    return ServedEngine(program, server, traits=Traits("trtllm", model="small"), patience=patience, hang_s=hang_s)


@asynccontextmanager
async def served() -> AsyncIterator[Case]:
    engine = small_server(Patience(ready_s=20, poll_s=60, grace_s=1))
    await engine.start(20)
    yield Case(engine, many=50)
    await engine.aclose()


@asynccontextmanager
async def admitted() -> AsyncIterator[Case]:
    async with running(Double()) as double:
        engine = AdmittedEngine(OpenAIEngine(Server(double.url, "small", Flavour.TRTLLM)), Limits(running=8))
        case = _served(engine, double)
        case.many = 50
        yield case
        await engine.aclose()


@asynccontextmanager
async def quoting() -> AsyncIterator[Case]:
    yield Case(QuotingEngine(), closes=False)


@asynccontextmanager
async def scripted() -> AsyncIterator[Case]:
    said: list[list[object]] = [["An engine ", "fits one GPU. ", "[S1]"]]
    engine = ScriptedEngine(lambda _: said[0])  # pyright: ignore[reportArgumentType]

    @asynccontextmanager
    async def stopped() -> AsyncIterator[None]:
        yield
        assert engine.stopped

    def say(pieces: Sequence[str]) -> None:
        said[0] = list(pieces)

    def hang() -> None:
        said[0] = ["one", asyncio.Event()]

    def die() -> None:
        said[0] = ["one", EngineDown("scripted", "died", "Nothing to do")]

    yield Case(engine, say, hang, stopped, die)
    await engine.aclose()


def over_http(flavour: Flavour) -> Callable[[], AbstractAsyncContextManager[Case]]:
    @asynccontextmanager
    async def case() -> AsyncIterator[Case]:
        fields = TRTLLM_FIELDS if flavour is Flavour.TRTLLM else None
        async with running(Double(fields=fields)) as double:
            engine = OpenAIEngine(Server(double.url, "small", flavour, thinking=True))
            case = _served(engine, double)
            case.many = 200 if flavour is Flavour.TRTLLM else 20  # one code path: the load is worth its second only once
            yield case
            await engine.aclose()

    return case


@asynccontextmanager
async def switched() -> AsyncIterator[Case]:
    async with running(Double()) as double:

        async def better(_: Path) -> Engine:
            return OpenAIEngine(Server(double.url, "small", Flavour.TRTLLM))

        engine = SwitchingEngine(QuotingEngine(), better, lambda: Path("model"))
        assert await engine.switched(5)
        case = _served(engine, double)
        case.closes = False  # the engine it falls back to never closes
        yield case
        await engine.aclose()


def _doubled(engine: Engine, double: Double | paged_double.Double, down: Callable[[], None], limit: int) -> Case:
    def say(pieces: Sequence[str]) -> None:
        double.pieces = pieces

    def hang() -> None:
        double.hang_after = 1

    @asynccontextmanager
    async def stopped() -> AsyncIterator[None]:
        yield
        async with asyncio.timeout(5):
            await double.left.wait()

    def die() -> None:
        double.die_after = 1

    return Case(engine, say, hang, stopped, die, down, limit=limit)


def _served(engine: Engine, double: Double) -> Case:
    def down() -> None:
        double.crashed = True

    return _doubled(engine, double, down, 100_000)


@asynccontextmanager
async def paged() -> AsyncIterator[Case]:
    double = paged_double.Double()
    engine = PagedEngine(Path("none"), settings=PagedSettings(running=64), make=lambda _source, _settings: double)
    await engine.start(5)

    def down() -> None:
        double.trouble = "the batching thread died"

    yield _doubled(engine, double, down, 200_000)
    await engine.aclose()


@asynccontextmanager
async def llamacpp() -> AsyncIterator[Case]:
    path = locate(catalogue().embedded_models(), default_folder())
    assert path is not None, "the test is skipped before"
    engine = LlamaCppEngine(path, LlamaCases.folder)
    await engine.start(120)
    yield Case(engine, limit=60_000, talks=True, exact=False, many=4)
    await engine.aclose()


class LlamaCases:
    """Where the real engine keeps its prefixes; set by a fixture."""

    folder: Path = Path()


def weights_mark() -> list[pytest.MarkDecorator]:
    try:
        present = locate(catalogue().embedded_models(), default_folder()) is not None
    except OSError:
        present = False
    reason = f"no weights in {default_folder()}: `studyhall demo` fetches them"
    return [pytest.mark.weights, pytest.mark.skipif(not present, reason=reason)]


CASES = [
    pytest.param(quoting, id="quoting"),
    pytest.param(scripted, id="scripted"),
    *(pytest.param(over_http(flavour), id=f"openai-{flavour}") for flavour in Flavour),
    pytest.param(switched, id="switching"),
    pytest.param(admitted, id="admission"),
    pytest.param(served, id="served"),
    pytest.param(paged, id="paged"),
    pytest.param(llamacpp, id="llamacpp", marks=weights_mark()),
]


async def read(engine: Engine, asked: Prompt, *, max_tokens: int = 24, deadline_s: float = 60.0) -> tuple[list[str], Finish]:
    """The pieces and the end of one reply, with the order checked."""
    pieces: list[str] = []
    finish: Finish | None = None
    async for piece in engine.stream(asked, max_tokens=max_tokens, deadline_s=deadline_s):
        assert finish is None, "something came after the Finish"
        if isinstance(piece, Finish):
            finish = piece
        else:
            pieces.append(piece)
    assert finish is not None, "the stream ended without a Finish"
    return pieces, finish
