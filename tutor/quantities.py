"""Numbers as people type them: "1,024", "0,5 ms", "48 KiB", "−2e3".

A text is a quantity only when all of it is one: "about 443" and "not 443" are not.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAX_LENGTH: Final = 64  # characters; nobody types a longer number, and it keeps the expressions below cheap

_QUANTITY: Final = re.compile(
    r"[~≈]?\s*(?P<sign>[+\-−]?)\s*(?P<digits>\d[\d .,'’_]*|[.,]\d+)(?:[eE](?P<exponent>[+\-−]?\d{1,3}))?\s*(?P<unit>[^\d\s][^\d\s]*)?"
)
_GROUPED: Final = re.compile(r"\d{1,3}(?:[,.]\d{3})+")
_PLAIN: Final = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_SPACES_AND_MARKS: Final = str.maketrans("", "", " '’_")


@dataclass(frozen=True, slots=True)
class Quantity:
    value: float
    unit: str = ""


def parsed(text: str) -> Quantity | None:
    """Read one number with an optional unit; None when the text is anything else.

    Where one mark stands alone it is a decimal sign, except a comma before exactly three digits ("1,024" is 1024 while
    "1.024" is 1.024). Where both stand, the later one is decimal.
    """
    text = unicodedata.normalize("NFKC", text).strip()
    if len(text) > MAX_LENGTH:
        return None
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return None
    digits = _plain_digits(found["digits"].translate(_SPACES_AND_MARKS))
    if digits is None:
        return None
    sign = "-" if found["sign"] in ("-", "−") else ""
    exponent = (found["exponent"] or "0").replace("−", "-")
    value = float(f"{sign}{digits}e{exponent}")
    return Quantity(value, (found["unit"] or "").strip()) if math.isfinite(value) else None


def _plain_digits(digits: str) -> str | None:
    commas, points = digits.count(","), digits.count(".")
    if commas and points:
        decimal = max(",.", key=digits.rfind)
        whole, _, part = digits.rpartition(decimal)
        if decimal in whole or not _GROUPED.fullmatch(whole):
            return None
        digits = whole.replace(",", "").replace(".", "") + "." + part
    elif commas > 1 or points > 1 or (commas and _GROUPED.fullmatch(digits) and not digits.startswith("0")):
        if not _GROUPED.fullmatch(digits):
            return None
        digits = digits.replace(",", "").replace(".", "")
    else:
        digits = digits.replace(",", ".")
    return digits if _PLAIN.fullmatch(digits) else None


def _units() -> Mapping[str, tuple[str, float]]:
    """Unit -> (dimension, factor to its base). Binary prefixes by IEC 80000-13, the others by the SI brochure."""
    table: dict[str, tuple[str, float]] = {"KB": ("byte", 1e3), "Kb": ("bit", 1e3)}
    for names, dimension, factor in (
        ("bit bits 비트 бит бита битов 位 比特", "bit", 1.0),
        ("B byte bytes 바이트 байт байта байтов 字节", "byte", 1.0),
        ("s sec secs second seconds 초 с сек δευτ 秒", "second", 1.0),
        ("ms millisecond milliseconds 밀리초 мс 毫秒", "second", 1e-3),
        ("us µs μs microsecond microseconds 마이크로초 мкс 微秒", "second", 1e-6),
        ("min minute minutes 분 мин 分钟", "second", 60.0),
        ("% percent 퍼센트 процент процента процентов", "ratio", 1e-2),
        ("КБ кБ", "byte", 1e3),
        ("МБ", "byte", 1e6),
        ("ГБ", "byte", 1e9),
    ):
        table |= dict.fromkeys(names.split(), (dimension, factor))
    for power, prefix in enumerate("kMGT", start=1):
        table[prefix + "B"] = ("byte", 1e3**power)
        table[prefix.upper() + "iB"] = ("byte", 1024.0**power)
        table[prefix + "b"] = ("bit", 1e3**power)
    return table


_UNITS: Final = _units()


def converted(quantity: Quantity, unit: str | None) -> float | None:
    """The value in this unit; None when the units do not agree.

    A bare number is taken to be in the unit wanted; where the author names none, the unit is part of the question and not checked.
    """
    if not quantity.unit or unit is None:
        return quantity.value
    if quantity.unit == unit or (quantity.unit.casefold() == unit.casefold() and unit not in _UNITS):
        return quantity.value
    ours = _UNITS.get(quantity.unit) or _UNITS.get(quantity.unit.rstrip("."))
    wanted = _UNITS.get(unit)
    if ours is None or wanted is None or ours[0] != wanted[0]:
        return None
    return quantity.value * ours[1] / wanted[1]
