"""aiohttp under the `openai` package: the same requests, read by a parser in C.

The package's own transport parses every chunk of a stream in Python, which costs more than all the rest of a client. With it one
core read 8,000 tokens a second of many streams at once, and a GPU server writes more; docs/capacity.md has the figures. aiohttp is
there anyway, for Discord. It keeps no connection, follows no redirect, and uses no proxy: model servers are on this
machine or near it.

Errors: those of the HTTP library below the package (`httpx` or `httpx2`), which the package expects of a transport.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, cast

import aiohttp

BUFFER: Final = 256 * 1024  # bytes read ahead of whoever reads a stream; 512 tokens


def transport(library: str) -> Any:
    """A transport for an `AsyncClient` of this library, `httpx` or `httpx2`. It opens nothing before the first request."""
    return _Transport(import_module(library))


class _Transport:
    def __init__(self, httpx: Any) -> None:
        self._httpx = httpx
        self._session: aiohttp.ClientSession | None = None  # made on the running loop

    async def __aenter__(self) -> _Transport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def handle_async_request(self, request: Any) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, force_close=True),  # how many ask at once is decided in front of this
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,  # the library above does it, by the header that it sees
                read_bufsize=BUFFER,
            )
        limits = cast(Mapping[str, float | None], request.extensions.get("timeout") or {})
        with self._translated(request):
            response = await self._session.request(
                request.method,
                str(request.url),
                headers=request.headers.multi_items(),
                data=request.content or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=limits.get("connect"), sock_read=limits.get("read")),
            )
        body = self._body(request, response)
        stream = type("Body", (self._httpx.AsyncByteStream,), {"__aiter__": _iterator(body), "aclose": _closer(response)})
        return self._httpx.Response(response.status, headers=list(response.headers.items()), stream=stream(), request=request)

    async def _body(self, request: Any, response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
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


def _iterator(body: AsyncGenerator[bytes, None]) -> Callable[[object], AsyncGenerator[bytes, None]]:
    return lambda _: body


def _closer(response: aiohttp.ClientResponse) -> Callable[[object], Awaitable[None]]:
    async def aclose(_: object) -> None:
        response.close()  # closes the connection as well, which is how a server learns that nobody reads any more

    return aclose
