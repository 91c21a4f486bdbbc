"""A streamed chat reply as a model server sends it: bytes to pieces of text, status codes and words to errors. It opens nothing.

A reply counts only when the server said how it ended; a stream that just stops is a failure.

Errors: those of `engines.base`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from engines.base import DeadlineExceeded, EngineBusy, EngineDown, EngineError, Finish, PromptTooLong

# Words by which servers say that a prompt is too long; they agree on status 400 and on nothing else.
TOO_LONG: Final = (
    "exceed_context_size",
    "context size",
    "context length",
    "context window",
    "max_num_tokens",
    "max_seq_len",
    "maximum sequence",
    "prompt is too long",
    "prompt length",
    "too many tokens",
)


HALVES: Final = re.compile("[\ud800-\udfff]")  # of a character that JSON wrote as two
# What may yet become a character, or was cut off as one: the first half of two, or the mark for bytes that make none.
UNFINISHED: Final = re.compile("[\ud800-\udbff\ufffd]+$")


class Reading:
    """One reply: bytes cut anywhere go in, whole pieces of text come out, and how it ended."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.ended = False  # the end marker, or the end of the connection
        self._rest = b""
        self._held = ""
        self._reason: str | None = None
        self._usage: Mapping[str, Any] = {}
        self._timings: Mapping[str, Any] = {}

    def read(self, block: bytes) -> list[str]:
        """The pieces that this block completes; an empty block is the end of the connection."""
        if not block:
            self.ended = True
            return []
        # Lines are cut as bytes: str.splitlines also cuts at U+2028 and others, which JSON texts may hold as they are.
        *lines, self._rest = (self._rest + block).split(b"\n")
        pieces = [piece for line in lines if line.startswith(b"data:") and (piece := self._event(line[5:].strip()))]
        if self.ended and self._held:
            if self._reason != "length":  # the token limit fell into a character: vLLM's Rust front then sends the mark, others nothing
                pieces.append(HALVES.sub("\ufffd", self._held))
            self._held = ""
        return pieces

    def _event(self, data: bytes) -> str:
        if self.ended:
            return ""
        if data == b"[DONE]":
            self.ended = True
            return ""
        try:
            event = cast(dict[str, Any], json.loads(data.decode()))
        except ValueError as error:
            raise EngineDown(self.engine, f"the stream holds no JSON: {data[:80]!r}", "Look at the server's log", retryable=True) from error
        if event.get("error"):
            raise failure(self.engine, 500, json.dumps(event["error"], ensure_ascii=False))
        self._usage = event.get("usage") or self._usage
        self._timings = event.get("timings") or self._timings
        text = ""
        for choice in cast(list[dict[str, Any]], event.get("choices") or []):
            self._reason = choice.get("finish_reason") or self._reason
            delta: Mapping[str, Any] = choice.get("delta") or {}
            text += str(delta.get("content") or "")
        return self._whole(text)

    def _whole(self, text: str) -> str:
        """A server that writes \\ud83d in one chunk and \\ude00 in the next means one character: join them. The last one may be missing."""
        if text.isascii() and not self._held:
            return text
        text = self._held + text
        unfinished = UNFINISHED.search(text)
        self._held = unfinished[0] if unfinished else ""
        text = text[: len(text) - len(self._held)]
        if HALVES.search(text):
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text

    def finish(self) -> Finish:
        """How it ended. Raises EngineDown when the server never said so, EngineError when it gave up on the reply."""
        if self._reason is None:
            raise EngineDown(self.engine, "the stream ended without its end marker", "Ask again", retryable=True)
        if self._reason not in ("stop", "length", "eos"):
            raise EngineError(self.engine, f"the server ended the reply with {self._reason!r}", "Ask again", retryable=True)
        details: Mapping[str, Any] = self._usage.get("prompt_tokens_details") or {}
        cached = details.get("cached_tokens")
        return Finish(
            cut_off=self._reason == "length",
            prompt_tokens=_number(self._usage.get("prompt_tokens")),
            cached_tokens=_number(cached if cached is not None else self._timings.get("cache_n")),
            new_tokens=_number(self._usage.get("completion_tokens")),
        )


def failure(engine: str, status: int, text: str) -> EngineError:
    """The error for an HTTP status and what the server wrote with it."""
    short = " ".join(text.split())[:200]
    lower = text.casefold()
    if status in (400, 413, 422, 500) and any(words in lower for words in TOO_LONG):
        return PromptTooLong(engine, f"the prompt does not fit: {short}", "Send fewer passages")
    match status:
        case 401 | 403:
            return EngineError(engine, f"the server refuses the key ({status}): {short}", "Correct the API key in the settings")
        case 404:
            return EngineError(engine, f"the server does not know this model or address: {short}", "Compare with its /v1/models")
        case 408 | 504:
            return DeadlineExceeded(engine, f"the server gave up waiting ({status}): {short}", "Ask again", retryable=True)
        case 429:
            return EngineBusy(engine, f"the server's queue is full: {short}", "Ask again in a moment", retryable=True)
        case _ if status >= 500:
            return EngineDown(engine, f"the server fails ({status}): {short}", "Look at its log; it may need a restart", retryable=True)
        case _:
            return EngineError(
                engine, f"the server refuses the request ({status}): {short}", "Check that the flavour setting names this server"
            )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
