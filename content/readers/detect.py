"""Which reader fits a file: judged by the content, and by the name only where contents look alike.

It refuses to choose in silence: callers get every candidate with its confidence, show the guess and let people override it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from content.load import no_collector
from content.model import ContentError
from content.readers.base import Import, Reader

CERTAIN: Final = 0.95  # a magic mark of exactly one format
LIKELY: Final = 0.75  # the shape of one format
POSSIBLE: Final = 0.45  # a shape that several formats share
UNLIKELY: Final = 0.2  # would be read, if nothing else claims it


def ranked(readers: Sequence[Reader], data: bytes, name: str) -> list[tuple[Reader, float]]:
    """Every reader that recognises something, the surest first; readers of equal confidence keep their order."""
    found = [(reader, reader.sniff(data, name)) for reader in readers]
    return sorted((pair for pair in found if pair[1] > 0), key=lambda pair: -pair[1])


def chosen(readers: Sequence[Reader], data: bytes, name: str, format: str | None) -> list[Reader]:
    """The reader asked for, or the candidates in order. Raises ContentError when there is none."""
    known = ", ".join(sorted(reader.name for reader in readers))
    if format is not None:
        for reader in readers:
            if reader.name == format:
                return [reader]
        raise ContentError(f"{name}: the format {format!r} is not known. Use one of: {known}.")
    if not data.strip():
        raise ContentError(f"{name}: the file is empty. Export it again.")
    candidates = [reader for reader, _ in ranked(readers, data, name)]
    if not candidates:
        raise ContentError(f"{name}: no known format of a question bank. Name one of: {known}.")
    return candidates


def read_with(readers: Sequence[Reader], data: bytes, name: str, format: str | None) -> Import:
    """Read by the best candidate; the next ones are tried only where it found not a single question to talk about.

    Raises ContentError when the file is none of the known formats or the best candidate cannot read it at all.
    """
    candidates = chosen(readers, data, name, format)
    with no_collector():
        return _first_that_finds(candidates, data, name)


def _first_that_finds(candidates: Sequence[Reader], data: bytes, name: str) -> Import:
    best = candidates[0].read(data, name)
    for reader in candidates[1:3]:
        if best.read:
            break
        try:
            other = reader.read(data, name)
        except ContentError:
            continue
        if other.read:
            best = other
    return best


def suffix(name: str) -> str:
    """The last suffix of a file name in lower case, without the dot."""
    return PurePath(name.replace("\\", "/")).suffix.lower().removeprefix(".")
