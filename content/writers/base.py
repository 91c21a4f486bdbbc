"""What every export shares: one language chosen, and a loss report that names whatever the other format cannot hold.

A writer never drops anything in silence. It takes checked values and raises ContentError only where nothing is left to
write.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Final, Protocol

from content.model import (
    Choice,
    Choices,
    ContentError,
    Match,
    Media,
    Open,
    Order,
    Question,
    Quiz,
    Scoring,
    Severity,
    Short,
    Text,
    TrueFalse,
)
from content.readers.base import Problem
from content.readers.markup import markdown_to_plain

HOLDS_ALL: Final = frozenset(
    ("title", "explanation", "feedback", "hints", "difficulty", "points", "time_limit", "tags", "media", "shuffle")
)


@dataclass(frozen=True, slots=True)
class Export:
    """One file to hand out. `losses` lists what it does not hold, each with the question's id."""

    data: bytes
    filename: str
    losses: tuple[Problem, ...]


class Writer(Protocol):
    @property
    def name(self) -> str: ...

    def write(self, quiz: Quiz, language: str) -> Export: ...


class Losses:
    """Collects what an export loses, and picks the texts of one language."""

    def __init__(self, quiz: Quiz, language: str, format: str) -> None:
        self.quiz = quiz
        self.language = language
        self.format = format
        self.problems: list[Problem] = []
        self.written = 0
        self._others = set(quiz.languages) - {language}

    def text(self, text: Text | None) -> str:
        """The text in the export's language, with \\n line ends; "" for None."""
        if text is None:
            return ""
        picked = text.pick(self.language)
        self._others.update(other for other in text.by_language if other not in (picked.language, ""))
        return picked.text.replace("\r\n", "\n").replace("\r", "\n")

    def plain(self, text: Text | None, question: Question, *, lines: bool = False) -> str:
        """The text without markup, for formats that know none; on one line unless `lines`."""
        markdown = self.text(text)
        plain = plain_text(markdown, question.media)
        return plain if lines else " ".join(plain.split())

    def plain_of(self, markdown: str, question: Question) -> str:
        return plain_text(markdown, question.media)

    def left_out(self, question: Question, why: str) -> None:
        """An error: this question is not in the file."""
        self._say(Severity.ERROR, question, "LEFT-OUT", why)

    def changed(self, question: Question, code: str, what: str) -> None:
        """A warning: it means or shows something else there."""
        self._say(Severity.WARNING, question, code, what)

    def dropped(self, question: Question, holds: Set[str], *more: str) -> None:
        """A note that names the fields of this question that the format has no place for."""
        lost = [*lost_fields(question, holds, self.format), *(name for name in more if name)]
        if lost:
            self._say(Severity.NOTE, question, "LOST-FIELDS", f"not in the file: {', '.join(lost)}.")

    def _say(self, severity: Severity, question: Question, code: str, text: str) -> None:
        self.problems.append(Problem(question.line, severity, code, question.id, text))

    def export(self, text: str | bytes, suffix: str) -> Export:
        """The finished file. Raises ContentError when not one question could be written."""
        if not self.written:
            reasons = "; ".join(f"{problem.question}: {problem.text}" for problem in self.problems[:3])
            raise ContentError(f"{self.quiz.id}: no question can be written as {self.format} ({reasons}). Choose another format.")
        problems = self.problems
        if self._others:
            others = ", ".join(sorted(self._others))
            note = f"{self.format} holds one language; not in the file: {others}. Export once for each language."
            problems = [Problem(0, Severity.NOTE, "LOST-LANGUAGES", "", note), *problems]
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text
        return Export(data, f"{self.quiz.id}.{suffix}", tuple(problems))


def lost_fields(question: Question, holds: Set[str], format: str) -> list[str]:
    """What this question has that a format holding only `holds` loses."""
    has = {
        "title": question.title is not None,
        "explanation": question.explanation is not None,
        "feedback": any(choice.feedback for choice in choices_of(question))
        or (isinstance(question.body, TrueFalse) and bool(question.body.feedback))
        or (isinstance(question.body, Short) and any(entry.feedback for entry in question.body.accept)),
        "hints": bool(question.hints),
        "difficulty": question.difficulty != 3,
        "points": question.points != 1,
        "time_limit": question.time_limit_s is not None,
        "tags": bool(question.tags),
        "media": bool(question.media),
        "shuffle": not question.shuffle,
        "guide": question.guide is not None or bool(question.evidence),
        "facts": bool(question.facts) or any(choice.facts for choice in choices_of(question)),
        "group": question.group is not None,
        "fixed": any(choice.fixed for choice in choices_of(question)),
    }
    names = {"time_limit": "time limit", "guide": "guide section", "fixed": "fixed place of a choice", "shuffle": "fixed order of choices"}
    lost = [names.get(name, name) for name, present in has.items() if present and name not in holds]
    others = sorted(set(question.extra) - {format})
    return lost + [f"fields of {name}" for name in others]


def choices_of(question: Question) -> tuple[Choice, ...]:
    return question.body.choices if isinstance(question.body, Choices) else ()


def scoring_of(question: Question) -> Scoring | None:
    return question.body.scoring if isinstance(question.body, Choices | Order | Match) else None


def open_losses(body: Open) -> tuple[str, ...]:
    """What an essay loses where there is only its stem."""
    return tuple(name for name, value in (("reference answer", body.reference), ("rubric", body.rubric), ("probes", body.probes)) if value)


_PICTURE: Final = re.compile(r"!\[\]\(([\w-]{1,64})\)")


def with_addresses(markdown: str, media: tuple[Media, ...]) -> str:
    """Markdown whose `![](m1)` name the picture's own address again."""
    by_id = {medium.id: medium for medium in media}

    def addressed(found: re.Match[str]) -> str:
        medium = by_id.get(found.group(1))
        if medium is None:
            return found.group()
        alt = next(iter(medium.alt)).replace("[", "(").replace("]", ")").replace("\n", " ")
        return f"![{alt}]({medium.url or medium.file or ''})"

    return _PICTURE.sub(addressed, markdown) if "![](" in markdown else markdown


_FENCE: Final = re.compile(r"^```[^\n`]*\n?|\n?```$", re.MULTILINE)
_EMPHASIS: Final = re.compile(r"(?<!\\)(\*\*|__|~~|\|\|)(?=\S)(.+?)(?<=\S)(?<!\\)\1", re.DOTALL)
_ITALIC: Final = re.compile(r"(?<![\\\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s\\])\*(?![\w*])")
_LINK: Final = re.compile(r"(?<![!\\])\[([^\]\n]{1,300})\]\((https?://[^\s)]{1,2000})\)")
_CODE: Final = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def plain_text(markdown: str, media: tuple[Media, ...] = ()) -> str:
    """The words that somebody would read: emphasis, fences and escapes gone, pictures as their description."""
    text = markdown
    by_id = {medium.id: medium for medium in media}
    if "![](" in text:
        text = _PICTURE.sub(lambda found: f"[{next(iter(by_id[found.group(1)].alt))}]" if found.group(1) in by_id else "", text)
    if "](" in text:
        text = _LINK.sub(r"\1 (\2)", text)
    if "```" in text:
        text = _FENCE.sub("", text)
    if any(mark in text for mark in ("**", "__", "~~", "||")):
        # a row of marks is a gap to fill in, not emphasis
        text = _EMPHASIS.sub(lambda found: found.group(2) if found.group(2).strip("_*~|") else found.group(), text)
    if "*" in text:
        text = _ITALIC.sub(r"\1", text)
    if "`" in text:
        text = _CODE.sub(r"\1", text)
    return markdown_to_plain(text).strip()
