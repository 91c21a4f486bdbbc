"""The transport below the `openai` package: which connections are kept, and that its errors are those the package knows.

On a loopback server; streams, cancelling and deadlines over it are in test_contract.py.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

import openai
import pytest

from engines.http_transport import transport
from engines.openai_http import Flavour, OpenAIEngine, Server, _library
from tests.engines.contract import prompt, read

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = (
    b'data: {"choices":[{"delta":{"content":"An engine."}}]}\n\n',
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DO',
    b"NE]\n\n",
)


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


REPLY = HEAD + chunked(*BODY[:2])
END = chunked(BODY[2]) + b"0\r\n\r\n"


@asynccontextmanager
async def answering(*, breaks: bool = False) -> AsyncIterator[tuple[str, list[list[str]]]]:
    """A server's address, and the requests of each connection that was made to it."""
    connections: list[list[str]] = []
    ended: list[asyncio.Event] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mine: list[str] = []
        connections.append(mine)
        ended.append(asyncio.Event())
        this = ended[-1]
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                await reader.readexactly(int(head.lower().split("content-length: ")[1].split()[0]))
                mine.append(head)
                writer.write(REPLY if breaks else REPLY + END)
                await writer.drain()
                if breaks:
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            await closed(writer)
            this.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", connections
        async with asyncio.timeout(5):
            await asyncio.gather(*(event.wait() for event in ended))


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize(("flavour", "expected"), [(Flavour.VLLM, 1), (Flavour.TRTLLM, 1), (Flavour.LLAMACPP, 3), (Flavour.GENERIC, 3)])
async def test_a_connection_is_kept_only_where_the_server_is_known_to_keep_it(flavour: Flavour, expected: int) -> None:
    async with answering() as (url, connections):
        engine = OpenAIEngine(Server(url, "small", flavour))
        for _ in range(3):
            pieces, _ = await read(engine, prompt())
            assert pieces == ["An engine."]
        await engine.aclose()
        assert len(connections) == expected
        assert sum(map(len, connections)) == 3
        assert all("accept-encoding: identity" in head.lower() for mine in connections for head in mine)


async def test_a_reply_that_was_left_does_not_give_its_connection_to_the_next() -> None:
    async with answering() as (url, connections):
        engine = OpenAIEngine(Server(url, "small", Flavour.VLLM))
        replies = engine.stream(prompt(), max_tokens=8, deadline_s=10)
        await anext(replies)
        await replies.aclose()
        assert (await read(engine, prompt()))[0] == ["An engine."]
        await engine.aclose()
        assert len(connections) in (1, 2)  # one, if all had come before it was left: then nothing of it is left to be read
        assert sum(map(len, connections)) == 2


async def test_errors_are_those_of_the_library_below_the_package() -> None:
    httpx: Any = import_module(_library())
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        async with httpx.AsyncClient(transport=transport(_library())) as client:
            with pytest.raises(httpx.ConnectError) as caught:
                await client.get(url)
            assert isinstance(caught.value.__cause__.__cause__, ConnectionRefusedError)
    async with answering(breaks=True) as (url, _), httpx.AsyncClient(transport=transport(_library())) as client:
        with pytest.raises(httpx.ReadError):
            await client.post(url, content=b"{}")


async def test_a_server_that_says_nothing_is_a_read_timeout() -> None:
    httpx: Any = import_module(_library())
    asked, ended = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        asked.set()
        with suppress(ConnectionError):
            await reader.read()
        await closed(writer)
        ended.set()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with httpx.AsyncClient(transport=transport(_library())) as client:
            with pytest.raises(httpx.ReadTimeout):
                await client.get(url, timeout=httpx.Timeout(5, read=0.1))
        assert asked.is_set()
        await ended.wait()


def test_the_package_in_use_is_one_whose_library_is_known() -> None:
    assert _library() in ("httpx", "httpx2")
    assert issubclass(openai.DefaultAsyncHttpxClient, import_module(_library()).AsyncClient)
