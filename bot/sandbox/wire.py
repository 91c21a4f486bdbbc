"""What goes over the wire: JSON text, Discord's error bodies, snowflake ids, timestamps.

Pure functions and values; knows no world, no socket. orjson does the JSON where it is installed, else the standard
library. The tree of this package's errors:

    SandboxError
      ApiError      a REST request that Discord would refuse (status, code, errors)
      Refused       something that Discord's own client would not let a person do
      NoAnswer      the bot did not answer in time what a person waits for
      PortTaken     the port to listen on is in use
      HostRefused   this process tried to reach another machine (bot.sandbox.launch)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, cast

Json = dict[str, Any]

EPOCH_MS: Final = 1_420_070_400_000  # Discord's epoch, 2015-01-01 UTC [docs: reference#snowflakes]


class SandboxError(Exception):
    """Base of this package's errors."""


class Refused(SandboxError):
    """Discord's own client would not let a person do this; the message says why."""


class NoAnswer(SandboxError):
    """The bot did not answer in time."""


class PortTaken(SandboxError, OSError):
    """Another process listens on the port; the message names it and the way out."""


class HostRefused(SandboxError, ConnectionError):
    """This process tried to reach another machine than itself."""


class ApiError(SandboxError):
    """A REST request refused as Discord refuses it: HTTP `status`, Discord's `code`, and `errors` by field."""

    def __init__(self, status: int, code: int, message: str, errors: Json | None = None) -> None:
        super().__init__(f"{status} {code}: {message}{f' {errors}' if errors else ''}")
        self.status = status
        self.code = code
        self.body: Json = {"message": message, "code": code}
        if errors:
            self.body["errors"] = errors


def unknown(what: str, code: int) -> ApiError:
    """The 404 for a thing that does not exist, or not for this caller."""
    return ApiError(404, code, f"Unknown {what}")


def _plain_dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")  # half a surrogate pair is no text


def _codec() -> tuple[Callable[[Any], bytes], Callable[[bytes | str], Any]]:
    if find_spec("orjson") is None:
        return _plain_dumps, json.loads
    orjson: Any = import_module("orjson")
    return orjson.dumps, orjson.loads


dumps, loads = _codec()


def as_object(value: Any) -> Json | None:
    """`value` when it is a JSON object, else None."""
    return cast(Json, value) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any] | None:
    """`value` when it is a JSON array, else None."""
    return cast(list[Any], value) if isinstance(value, list) else None


def as_objects(value: Any) -> list[Json]:
    """The JSON objects in a JSON array; nothing for anything else."""
    return [cast(Json, entry) for entry in as_list(value) or () if isinstance(entry, dict)]


def timestamp(seconds: float) -> str:
    """ISO 8601 in UTC, as Discord writes it. `seconds` since 1970."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def snowflake_time(snowflake: int) -> float:
    """Seconds since 1970 at which this id was made."""
    return ((snowflake >> 22) + EPOCH_MS) / 1000


class Snowflakes:
    """Makes ids that carry the time, never repeat and always grow, even when the clock steps back."""

    def __init__(self) -> None:
        self._last = 0

    def next(self, now: float) -> int:
        self._last = max((int(now * 1000) - EPOCH_MS) << 22, self._last + 1)
        return self._last
