"""The gaps that Moodle writes into a text, `{2:MULTICHOICE:=right#feedback~%50%half~wrong}`, as blanks.

Errors: `Unusable` with what is wrong in which gap; gaps with several right options at once (MULTIRESPONSE) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Final, Protocol

from content.model import Accept, Blank, Choice, Text
from content.readers.answers import ANYTHING
from content.readers.base import Unusable, choice_id
from content.readers.markup import html_to_markdown
from content.readers.playable import check_gaps

_START: Final = re.compile(r"(?<!\\)\{(\d{0,4}):([A-Z_]{2,20}):")
_TYPED: Final = {"SHORTANSWER": False, "SA": False, "MW": False, "SHORTANSWER_C": True, "SAC": True, "MWC": True}  # name: case matters
_PICKED: Final = frozenset(
    stem + ending
    for stem, endings in (("MULTICHOICE", ("", "_V", "_H", "_S", "_VS", "_HS")), ("MC", ("", "V", "H", "S", "VS", "HS")))
    for ending in endings
)
_NUMERIC: Final = frozenset({"NUMERICAL", "NM"})
_ANSWER: Final = re.compile(r"\s*(?:%(-?\d{1,3}(?:[.,]\d{1,8})?)%|(=))?(.*)", re.DOTALL)


class Accepted(Protocol):
    """How a typed answer with wildcards becomes an `Accept`."""

    def __call__(self, text: str, *, case: bool, credit: float, feedback: Text | None, line: int | None = None) -> Accept: ...


def split_cloze(text: str, line: int, accepted: Accepted, shown: Callable[[str], str] | None) -> tuple[str, tuple[Blank, ...]]:
    """The text with `{{b1}}`, `{{b2}}` … in place of the gaps, and the blanks.

    `line` is where the text begins; errors name the gap's own line. Options and feedback go through `shown`; None means
    that the text is HTML, and then a typed answer is what its HTML shows.
    """
    parts: list[str] = []
    blanks: list[Blank] = []
    at = 0
    while (start := _START.search(text, at)) is not None:
        gap_line = line + text.count("\n", 0, start.start())
        number = len(blanks) + 1
        check_gaps(number)
        end = _closing(text, start.end())
        if end < 0:
            raise Unusable("MOODLE-CLOZE", f"gap {number} is not closed with '}}'. Close it.", gap_line)
        parts += (text[at : start.start()], "{{", f"b{number}", "}}")
        blanks.append(_blank(number, start[2], text[start.end() : end], gap_line, accepted, shown))
        at = end + 1
    return "".join((*parts, text[at:])), tuple(blanks)


def _closing(text: str, start: int) -> int:
    at = start
    while at < len(text) and text[at] != "}":
        at += 2 if text[at] == "\\" else 1
    return at if at < len(text) else -1


def _blank(number: int, kind: str, inside: str, line: int, accepted: Accepted, shown: Callable[[str], str] | None) -> Blank:
    if kind not in _TYPED and kind not in _PICKED and kind not in _NUMERIC:
        known = kind.startswith(("MULTIRESPONSE", "MR"))
        why = "asks for several options at once" if known else "is not a kind of gap that is known"
        raise Unusable("MOODLE-CLOZE", f"gap {number}: {kind} {why}. Split it into questions of its own.", line)
    accept: list[Accept] = []
    choices: list[Choice] = []
    convert = shown or html_to_markdown
    for weight, answer, remark in _answers(inside):
        feedback = convert(remark).strip() if remark else ""
        said = Text.of(feedback) if feedback else None
        if kind in _PICKED:
            option = convert(answer).strip()
            if option:
                choices.append(Choice(choice_id(len(choices)), Text.of(option), weight, said))
            continue
        typed = " ".join((unescape(re.sub(r"<[^<>]{0,200}>", "", answer)) if shown is None else answer).split())
        if kind in _TYPED and typed:
            accept.append(accepted(typed, case=_TYPED[kind], credit=weight, feedback=said, line=line))
        elif kind in _NUMERIC and typed:
            accept.append(_number(number, typed, weight, said, line))
    return Blank(f"b{number}", tuple(accept), tuple(choices))


def _answers(inside: str) -> Iterator[tuple[float, str, str]]:
    """Weight -1..1, answer and feedback of each alternative, unescaped."""
    for part in re.split(r"(?<!\\)~", inside):
        found = _ANSWER.fullmatch(part)
        assert found is not None, "everything after the weight is optional"
        weight = 1.0 if found[2] else float((found[1] or "0").replace(",", ".")) / 100
        answer, _, remark = _cut(found[3])
        yield max(-1.0, min(1.0, weight)), _plain(answer), _plain(remark)


def _cut(text: str) -> tuple[str, str, str]:
    """At the first `#` that is neither escaped nor the beginning of a character reference such as `&#8217;`."""
    found = re.search(r"(?<![\\&])#", text)
    return (text[: found.start()], "#", text[found.end() :]) if found else (text, "", "")


def _plain(text: str) -> str:
    return re.sub(r"\\([}#~=/\"\\])", r"\1", text).strip()


def _number(number: int, text: str, credit: float, feedback: Text | None, line: int) -> Accept:
    if text == "*":
        return Accept(regex=ANYTHING, credit=credit, feedback=feedback)
    value, _, slack = text.partition(":")
    try:
        parsed = float(value.replace(",", "."))
        tolerance = abs(float(slack.replace(",", "."))) if slack.strip() else 0.0
    except ValueError:
        raise Unusable("MOODLE-CLOZE", f"gap {number}: {text[:40]!r} is no number with a tolerance. Write 3.5:0.1.", line) from None
    if not (abs(parsed) < float("inf") and tolerance < float("inf")):
        raise Unusable("MOODLE-CLOZE", f"gap {number}: {text[:40]!r} is not finite. Write 3.5:0.1.", line)
    return Accept(number=parsed, tolerance=tolerance, credit=credit, feedback=feedback)
