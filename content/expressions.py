"""Authors' regular expressions, run in linear time (RE2), anchored, and with a bounded length.

The one place that touches re2, which ships no types. An author's pattern may come from an untrusted file: backtracking
engines can be stalled by one, RE2 cannot, because it has no backreferences and no look-around.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import re2 as _re2  # pyright: ignore[reportMissingTypeStubs]  # it ships none

re2: Final[Any] = _re2
MAX_LENGTH: Final = 200
"""Characters of a pattern; enough for every accepted answer we saw in real banks."""


def fault_of(pattern: str) -> str | None:
    """Why this pattern cannot be used, or None."""
    if len(pattern) > MAX_LENGTH:
        return f"it has {len(pattern)} characters, more than {MAX_LENGTH}"
    try:
        _compiled(pattern, True)
    except re2.error as error:
        return str(error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else error)
    return None


def matches(pattern: str, text: str, *, case: bool) -> bool:
    """Whether the whole text matches."""
    return _compiled(pattern, case).fullmatch(text) is not None


@lru_cache(maxsize=1_024)
def _compiled(pattern: str, case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = case
    options.max_mem = 1 << 20
    return re2.compile(pattern, options)
