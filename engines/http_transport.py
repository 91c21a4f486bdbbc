"""aiohttp under the `openai` package: the same requests, read by a parser in C.

The package's own transport parses every chunk of a stream in Python, which costs more than all the rest of a client: one core read
8,000 tokens a second of many streams, and a GPU server writes more. With this it reads 20,000 (docs/serving.md). aiohttp is there
anyway, for Discord. It follows no redirect and uses no proxy: model servers are on this machine or near it. How many requests run
at once is decided in front of it.

Errors: those of the HTTP library below the package (`httpx` or `httpx2`), which the package expects of a transport. Whoever reads
directly gets aiohttp's own, and TimeoutError.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, cast

import aiohttp

BUFFER: Final = 256 * 1024  # bytes read ahead of whoever reads a stream: about a thousand tokens as events
EXTENSION: Final = "studyhall"  # where a response keeps its `Opened`


@dataclass(frozen=True, slots=True)
class Opened:
    """A response body, past the library's layers, which would cost as much again as reading it."""

    read: Callable[[], Awaitable[bytes]]  # what has come, waited for; empty at the end
    cut: Callable[[], None]  # break it off: a read that waits raises


def read_directly(extensions: Mapping[str, Any]) -> Opened:
    """The body of a response that came through this transport; it is sent uncompressed."""
    return cast(Opened, extensions[EXTENSION])


def transport(library: str, *, keep_s: float = 0.0) -> Any:
    """A transport for an `AsyncClient` of this library, `httpx` or `httpx2`. It opens nothing before the first request.

    A connection that is not used is kept for `keep_s` seconds; 0: each request has its own.
    """
    return _Transport(import_module(library), keep_s)


class _Transport:
    def __init__(self, httpx: Any, keep_s: float) -> None:
        self._httpx = httpx
        self._body = type("Body", (_Body, httpx.AsyncByteStream), {})  # the library asks for one of its own kind
        self._keep_s = keep_s
        self._session: aiohttp.ClientSession | None = None  # made on the running loop

    async def __aenter__(self) -> _Transport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def handle_async_request(self, request: Any) -> Any:
        limits = cast(Mapping[str, float | None], request.extensions.get("timeout") or {})
        headers = [(name, value) for name, value in request.headers.multi_items() if name.lower() not in OWN_HEADERS]
        with self._translated(request):
            response = await self._opened_session().request(
                request.method,
                str(request.url),
                headers=[*headers, ("Accept-Encoding", "identity")],
                data=request.content or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=limits.get("connect"), sock_read=limits.get("read")),
            )
        return self._httpx.Response(
            response.status,
            headers=list(response.headers.items()),
            stream=self._body(lambda: self._blocks(request, response), response),
            request=request,
            extensions={EXTENSION: Opened(response.content.readany, response.close)},
        )

    def _opened_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            kept = {"keepalive_timeout": self._keep_s} if self._keep_s else {"force_close": True}
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, **cast(Any, kept)), cookie_jar=aiohttp.DummyCookieJar(), read_bufsize=BUFFER
            )
        return self._session

    async def _blocks(self, request: Any, response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
        with self._translated(request):
            async for block in response.content.iter_any():
                yield block

    @contextmanager
    def _translated(self, request: Any) -> Generator[None]:
        """Whatever aiohttp raises, as what the library above would have raised itself."""
        httpx = self._httpx
        try:
            yield
        except aiohttp.ConnectionTimeoutError as error:
            raise httpx.ConnectTimeout("the connection took too long", request=request) from error
        except TimeoutError as error:  # aiohttp's own timeouts are of this class
            raise httpx.ReadTimeout("nothing came for too long", request=request) from error
        except aiohttp.ClientConnectorError as error:
            raise httpx.ConnectError(str(error), request=request) from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx.ReadError(f"{type(error).__name__}: {error}", request=request) from error


OWN_HEADERS: Final = frozenset({"accept-encoding", "connection", "content-length", "host", "transfer-encoding"})  # aiohttp writes these


class _Body:
    """A response body as the library above reads it."""

    def __init__(self, blocks: Callable[[], AsyncGenerator[bytes, None]], response: aiohttp.ClientResponse) -> None:
        self._blocks = blocks
        self._response = response

    def __aiter__(self) -> AsyncGenerator[bytes, None]:
        return self._blocks()

    async def aclose(self) -> None:
        if not self._response.content.is_eof():  # one at its end has given its connection back already
            self._response.close()  # closes the connection as well, which is how a server learns that nobody reads any more
