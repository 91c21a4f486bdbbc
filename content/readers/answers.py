"""Accepted answers as foreign formats write them: numbers, and Moodle's `*` for "anything".

It refuses numbers that two countries would read differently ("1,234"): those give None.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Final

from content import expressions

ANYTHING: Final = "^.*$"
"""The expression of a catch-all entry: the feedback for every other answer."""

_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,40}(?:[.,]\d{0,40})?|[.,]\d{1,40})(?:[eE][+-]?\d{1,3})?")
_SPECIAL: Final = re.compile(r"([.^$*+?{}\[\]\\|()])")


def number_in(text: str) -> float | None:
    """The number that is the whole text; a comma is a decimal mark unless it may part thousands. None for anything else."""
    plain = unicodedata.normalize("NFKC", text).strip().replace("\u2212", "-").replace(" ", "")
    if not _NUMBER.fullmatch(plain) or re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", plain):
        return None
    value = float(plain.replace(",", "."))
    return value if math.isfinite(value) else None


def wildcard_expression(text: str) -> str | None:
    r"""Moodle's short answer with `*` as an expression: "run*" gives "^run.*$"; `\*` is a star. None where it is too long."""
    parts = re.split(r"(?<!\\)\*", text)
    if len(parts) == 1:
        return None
    expression = f"^{'.*'.join(_quoted(part.replace(chr(92) + '*', '*')) for part in parts)}$"
    return expression if expressions.fault_of(expression) is None else None


def wildcard_of(expression: str) -> str | None:
    """The `*` form of an expression that is nothing but text and `.*`; None for all others."""
    if not (expression.startswith("^") and expression.endswith("$")):
        return None
    parts = expression[1:-1].split(".*")
    plain = [re.sub(r"\\([.^$*+?{}\[\]\\|()])", "\x00\\1", part) for part in parts]
    if any(_SPECIAL.search(re.sub(r"\x00.", "", part)) for part in plain):
        return None
    return "*".join(re.sub(r"\x00(.)", r"\1", part.replace("\x00*", "\\*")) for part in plain)


def _quoted(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
