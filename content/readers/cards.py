"""Flashcards as questions: front and back, and cloze texts with gaps. Shared by all formats that hold cards.

A back that somebody can type becomes a short question, a longer one the reference answer of an open one. A card without a
back is refused.
"""

from __future__ import annotations

import re
from typing import Final

from content.model import Accept, Blank, Open, Short, Text
from content.readers.base import Unusable
from content.readers.markup import markdown_to_plain

SHORT_ANSWER: Final = 40  # characters; the limit of formats that map cards: nobody types a longer one

_CLOZE: Final = re.compile(
    r"\{\{c(\d{1,3})::((?:(?!\{\{|\}\}|::).){1,2000}?)(?:::((?:(?!\{\{|\}\}).){0,300}))?\}\}", re.DOTALL | re.IGNORECASE
)
_MARKUP: Final = re.compile(r"\*\*|__|~~|^`|`$|(?<!\\)\*")


def has_cloze(text: str) -> bool:
    return _CLOZE.search(text) is not None


def answer_text(markdown: str) -> str:
    """A back as somebody would type it: without emphasis and escapes."""
    return " ".join(markdown_to_plain(_MARKUP.sub("", markdown)).split())


def body_of(back: str) -> Short | Open:
    """The body for this back (Markdown). Raises Unusable when there is nothing on it."""
    plain = answer_text(back)
    if not plain:
        raise Unusable("CARD-BACK", "the card has nothing on its back. Write the answer.")
    if len(plain) < SHORT_ANSWER and "\n" not in back.strip() and "![](" not in back:
        return Short(accept=(Accept(text=plain),))
    return Open(reference=Text.of(back.strip()))


def gaps_of(markdown: str) -> tuple[str, Short, tuple[Text, ...]]:
    """The stem with `{{b1}}`, `{{b2}}` … for its clozes, the body that fills them, and the hints. Call where `has_cloze`."""
    blanks: list[Blank] = []
    hints: list[Text] = []

    def gap(found: re.Match[str]) -> str:
        blank = f"b{len(blanks) + 1}"
        answer = answer_text(found.group(2))
        if not answer:
            raise Unusable("CARD-CLOZE", "a gap of the cloze text has no text to type in. Write a word into it.")
        blanks.append(Blank(blank, accept=(Accept(text=answer),)))
        if found.group(3) and found.group(3).strip():
            hints.append(Text.of(f"{len(blanks)}: {found.group(3).strip()}"))
        return f"{{{{{blank}}}}}"

    stem = _CLOZE.sub(gap, markdown)
    return stem, Short(blanks=tuple(blanks)), tuple(hints)
