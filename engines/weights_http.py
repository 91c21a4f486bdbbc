"""Resumable HTTP for weights, on the standard library: it follows redirects and honours the usual proxy variables.

It asks for the rest of a file from a byte on, and refuses an answer that is not exactly that. It keeps no state and retries
nothing; whoever calls it decides where to go on.

Errors: `Unreachable`, for everything that kept the bytes from coming.
"""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Iterator

from engines.weights import BLOCK, Unreachable


class HttpTransport:
    """`timeout_s` bounds the connection and each single read, not the download: a slow line may take hours."""

    def __init__(self, *, timeout_s: float = 20.0) -> None:
        self.timeout_s = timeout_s

    def read_from(self, url: str, start: int) -> Iterator[bytes]:
        if not url.startswith(("https://", "http://127.0.0.1:")):
            raise Unreachable(f"{url!r} is no https address", "Correct the catalogue")
        request = urllib.request.Request(url, headers={"User-Agent": "studyhall", **({"Range": f"bytes={start}-"} if start else {})})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as response:
                yield from _blocks(response, start, url)
        except urllib.error.HTTPError as error:
            error.close()
            raise Unreachable(
                f"{_host(url)} answers {error.code} {error.reason}", "Check the address", retryable=error.code >= 500
            ) from error
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise Unreachable(f"{_host(url)} cannot be reached ({reason})", "Check the network", retryable=True) from error


def _blocks(response: http.client.HTTPResponse, start: int, url: str) -> Iterator[bytes]:
    skip = 0
    if start and response.status == 200:
        skip = start  # the server ignores ranges: read past what is stored
    elif start:
        given = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        if response.status != 206 or given is None or int(given[1]) != start:
            raise Unreachable(
                f"{_host(url)} does not go on at byte {start:,} (status {response.status})", "Remove the .part file and start again"
            )
    while block := response.read(BLOCK):
        kept = block[skip:]
        skip = max(0, skip - len(block))
        if kept:
            yield kept


def _host(url: str) -> str:
    return url.split("/")[2]
