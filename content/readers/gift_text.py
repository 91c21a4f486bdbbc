"""The text of a GIFT file, before its questions are understood: escapes, formulas, blocks, the parts of an answer.

An escaped sign travels through the parser as a noncharacter, so everything that is left unescaped has its GIFT meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from content.readers.base import Report

# an escaped sign travels through the parser as one of these noncharacters, which `decode` keeps out of texts
SIGNS: Final = {"~": "\ufdd0", "=": "\ufdd1", "#": "\ufdd2", "{": "\ufdd3", "}": "\ufdd4", ":": "\ufdd5", "\\": "\ufdd6", "n": "\ufdd7"}
_HIDDEN: Final = str.maketrans({hidden: "\n" if sign == "n" else sign for sign, hidden in SIGNS.items()})
_ESCAPE: Final = re.compile(r"\\([~=#{}:\\n])")
_FORMULA: Final = re.compile(r"\$\$[^$]{1,2000}?\$\$|(?<![\w$])\$(?=\S)[^$\n]{1,500}?(?<=\S)\$(?![\w$])|\\\((?:(?!\\\().){1,500}?\\\)")
ANSWERS_START: Final = re.compile(r"\{\s*(?:[=~#}]|[TF]\s*[}#]|TRUE|FALSE)")
_NO_FORMULA: Final = re.compile(ANSWERS_START.pattern + r"|\n[ \t]{0,99}[=~#}]")
NEWLINE_WORD: Final = re.compile(
    r"n(?:u|eq?|eg|abla|ot(?:in)?|i|leq?|geq?|exists|parallel|mid|less|gtr|cong|subseteq|supseteq|rightarrow|leftarrow|ewline|icefrac"
    r"|olimits|onumber|ormalsize)(?![A-Za-z])"
)
"""LaTeX commands that begin with the letters of GIFT's line end, `\\n`."""
_NUMERIC_ENTITY: Final = re.compile(r"&#(?=(?:\d{1,7}|[xX][0-9A-Fa-f]{1,6});)")
_TAG: Final = re.compile(
    r"<[A-Za-z][A-Za-z0-9]{0,15}(?:\s+[\w:-]{1,40}\s*=\s*(?:\"[^\"<>]{0,2000}\"|'[^'<>]{0,2000}'|[^\s\"'<>]{1,300})){1,20}\s*/?>"
)
_CATEGORY: Final = re.compile(r"\s*\$CATEGORY:(.*)", re.IGNORECASE)
_COMMENT_FIELD: Final = re.compile(r"\[(id|tag|scoring):\s*((?:[^\]\\\[]|\\.){1,300})\]")


@dataclass(slots=True)
class Block:
    """One question as written. `lines` are (physical line, text); comments are already taken out."""

    lines: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    category: str = ""

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.lines)

    @property
    def line(self) -> int:
        return self.lines[0][0] if self.lines else 0

    def line_at(self, offset: int) -> int:
        """The physical line of a position in `text`."""
        return self.lines[min(self.text.count("\n", 0, offset), len(self.lines) - 1)][0]


def _formulas(text: str) -> Iterator[tuple[int, int]]:
    """Where formulas stand. What holds the braces or marks of answers is none, whatever dollars are around it."""
    if "$" not in text and "\\(" not in text:
        return
    for found in _FORMULA.finditer(text):
        inside = found.group()
        if inside.count("{") == inside.count("}") and not _NO_FORMULA.search(inside):
            yield found.span()


def hide(text: str) -> str:
    """The text with escaped signs hidden from the parser; `\\neq` inside a formula is no line end."""
    if "\\" in text:
        formulas = list(_formulas(text)) if "\\n" in text else []

        def hidden(found: re.Match[str]) -> str:
            sign, at = found.group(1), found.start()
            if sign == "n" and NEWLINE_WORD.match(text, at + 1) and any(start < at < end for start, end in formulas):
                return found.group()
            return SIGNS[sign]

        text = _ESCAPE.sub(hidden, text)
    return _NUMERIC_ENTITY.sub("&" + SIGNS["#"], text)


def plain(text: str) -> str:
    return text.translate(_HIDDEN)


def blocks(text: str, report: Report) -> list[Block]:
    blocks: list[Block] = []
    current = Block()
    category = ""
    pending: list[tuple[str, str]] = []

    def finish() -> None:
        nonlocal current
        if current.lines:
            blocks.append(current)
        current = Block()

    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("//"):
            found = [(name, re.sub(r"\\(.)", r"\1", value).strip()) for name, value in _COMMENT_FIELD.findall(bare)]
            (current.fields if current.lines else pending).extend(found)
            continue
        if not bare:
            finish()
            continue
        if (heading := _CATEGORY.match(line)) is not None:
            finish()
            category = heading.group(1).strip()
            continue
        if bare.startswith("::") and current.lines and bare.count("::") >= 2:
            if _balance(hide(current.text)) == 0:
                report.note(number, "GIFT-GLUED", "no blank line before this '::'; it begins a new question.", "")
            finish()
        if not current.lines:
            current.fields, pending, current.category = pending, [], category
        current.lines.append((number, line))
    finish()
    return blocks


def _balance(hidden: str) -> int:
    return hidden.count("{") - hidden.count("}")


def joined(blocks: list[Block], report: Report) -> Iterable[Block]:
    """Blocks whose braces are closed after a blank line, put together again; others pass as they are."""
    hidden = [hide(block.text) for block in blocks]
    at = 0
    while at < len(blocks):
        block, depth = blocks[at], _balance(hidden[at])
        end = at
        if depth > 0:
            while depth > 0 and end + 1 < len(blocks) and end - at < 50:
                following = hidden[end + 1]
                change = _balance(following)
                is_rest = change < 0 or "{" not in following or following.lstrip()[0] in "~=#%}"
                if not is_rest or following.lstrip().startswith("::") or blocks[end + 1].category != block.category:
                    break
                depth += change
                end += 1
            if depth <= 0 and end > at:
                opened = block.line_at(hidden[at].rfind("{"))
                report.warn(
                    opened,
                    "GIFT-BRACE",
                    f"'{{' opened here is not closed before the blank line {blocks[at + 1].line - 1}; "
                    "joined the next block, please check. Write \\{ for a literal brace.",
                    str(report.read + 1),
                )
                lines = [pair for part in blocks[at : end + 1] for pair in ((part.line - 1, ""), *part.lines)][1:]
                block = Block(lines, block.fields, block.category)
            else:
                end = at
        yield block
        at = end + 1


def split(bare: str, marks: str, on_bare_equals: Callable[[], None]) -> list[tuple[str, str]]:
    """(mark, text) of each answer. A '=' in a tag or a formula is text; so is a glued one where others stand free."""
    bared = masked(_TAG.sub(_blank, bare) if "<" in bare else bare)
    places = [found.start() for found in re.finditer(f"[{marks}]", bared)]
    free = {at for at in places if at == 0 or bare[at - 1].isspace()}
    has_free_key = any(bare[at] == "=" for at in free) or "%" in bare
    kept = [at for at in places if at in free or bare[at] == "~" or (at and bare[at - 1] == "~") or not has_free_key]
    if len(kept) < len(places):
        on_bare_equals()
    kept = [at for at in kept if not (bare[at] == "=" and at and bare[at - 1] == "~")]  # '~=' is one mark
    if not kept or bare[: kept[0]].strip():
        kept = [-1, *kept]  # an answer without a mark, as in {two}
    ends = [*kept[1:], len(bare)]
    return [("=" if at < 0 else bare[at], bare[at + 1 : end]) for at, end in zip(kept, ends, strict=True)]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def masked(text: str) -> str:
    """The text with its formulas blanked out, every position kept."""
    parts: list[str] = []
    at = 0
    for start, end in _formulas(text):
        parts += (text[at:start], " " * (end - start))
        at = end
    return "".join((*parts, text[at:]))
