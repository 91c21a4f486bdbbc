"""Texts that hold several languages side by side: Moodle's multilang spans and the `{mlang en}` marks of its successor.

Refuses nothing: a text with fewer than two languages comes back as one text without the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_OPEN: Final = re.compile(
    r"""<(?P<tag>span|lang)\b(?P<attributes>[^<>]{1,300})>|\{mlang\s{1,5}(?P<mlang>[A-Za-z_-]{2,12})\}""",
    re.IGNORECASE,
)
_LANG: Final = re.compile(r"""\blang\s{0,3}=\s{0,3}["']?([A-Za-z_-]{2,12})""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Mark:
    """One variant: `raw[start:end]` is the whole mark, `inside` what it holds."""

    start: int
    end: int
    language: str
    inside: str


def split_languages(raw: str) -> dict[str, str]:
    """A text with multilang spans as one text per language; {"": text} when it holds fewer than two languages."""
    if "lang" not in raw.lower():
        return {"": raw}
    marks = list(_marks(raw))
    languages = list(dict.fromkeys(mark.language for mark in marks if mark.language != "other"))
    if len(languages) < 2:
        return {"": _joined(raw, marks)}
    groups: list[list[_Mark]] = []
    for mark in marks:
        if groups and not raw[groups[-1][-1].end : mark.start].strip():
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return {language: _joined(raw, [_chosen(group, language) for group in groups]) for language in languages[:MAX_LANGUAGES]}


MAX_LANGUAGES: Final = 20
"""Of one text; each costs a copy of it."""


def _marks(raw: str) -> Iterator[_Mark]:
    """The marks in order, none inside another, as Moodle's filter sees them. Linear: each end is looked for once."""
    at = 0
    while (found := _OPEN.search(raw, at)) is not None:
        at = found.end()
        if found["mlang"]:
            language, close = found["mlang"], "{mlang}"
        else:
            named = _LANG.search(found["attributes"])
            if named is None or (found["tag"].lower() == "span" and "multilang" not in found["attributes"].lower()):
                continue
            language, close = named[1], f"</{found['tag']}>"
        end = raw.find(close, at)
        if end < 0:
            return
        yield _Mark(found.start(), end + len(close), _normal(language), raw[at:end])
        at = end + len(close)


def _chosen(group: list[_Mark], language: str) -> _Mark:
    """The variant of a group to show, standing for the whole group: the language, else "other", else the first."""
    fitting = [mark for wanted in (language, "other") for mark in group if mark.language == wanted]
    mark = (fitting or group)[0]
    return _Mark(group[0].start, group[-1].end, mark.language, mark.inside)


def _joined(raw: str, marks: list[_Mark]) -> str:
    parts: list[str] = []
    at = 0
    for mark in marks:
        parts += (raw[at : mark.start], mark.inside)
        at = mark.end
    return "".join((*parts, raw[at:]))


def _normal(language: str) -> str:
    base, _, region = language.replace("_", "-").lower().partition("-")
    return f"{base}-{region.upper()}" if region else base
