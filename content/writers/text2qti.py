"""text2qti: the text from which Canvas quizzes are made. Later lines of a part are indented, as it asks.

Left out: order, match and texts with gaps.
"""

from __future__ import annotations

from typing import Any, Final

from content.model import Accept, Choices, Info, Match, Open, Order, Question, Quiz, Scoring, Short, Text, TrueFalse
from content.readers.base import number_text
from content.writers.base import Export, Losses, open_losses, with_addresses

_HOLDS: Final = frozenset(("title", "explanation", "feedback", "points", "media"))


class Text2QtiWriter:
    name = "text2qti"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        head = [f"Quiz title: {_line(losses.text(quiz.title))}"]
        if description := losses.text(quiz.description):
            head.append(f"Quiz description: {_line(description)}")
        shuffled = any(question.shuffle for question in quiz.questions)
        head.append(f"shuffle answers: {str(shuffled).lower()}")
        blocks = ["\n".join(head)]
        groups = {group.id: group for group in quiz.select.groups}
        open_group: str | None = None
        for question in quiz.questions:
            lines = _Writing(question, losses, shuffled, losses.written + 1).lines()
            if lines is None:
                continue
            group = question.group if question.group in groups and not isinstance(question.body, Info) else None
            if open_group is not None and group != open_group:
                blocks.append("END_GROUP")
            if group is not None and group != open_group:
                chosen = groups[group]
                points = f"\npoints per question: {number_text(chosen.points)}" if chosen.points is not None else ""
                blocks.append(f"GROUP\npick: {chosen.pick}{points}")
            open_group = group
            blocks.append("\n".join(lines))
            losses.written += 1
        if open_group is not None:
            blocks.append("END_GROUP")
        return losses.export("\n\n".join(blocks) + "\n", "text2qti.txt")


def _line(text: str) -> str:
    return " ".join(text.split())


class _Writing:
    def __init__(self, question: Question, losses: Losses, shuffled: bool, number: int) -> None:
        self.question = question
        self.losses = losses
        self.shuffled = shuffled
        self.number = number
        self.more: list[str] = []

    def part(self, mark: str, text: Text | str | None) -> str:
        """A part behind its mark; the lines after the first are indented to it."""
        words = text if isinstance(text, str) else self.losses.text(text)
        first, *rest = with_addresses(words, self.question.media).strip().split("\n")
        indent = " " * 4
        return "\n".join([f"{mark} {first}".rstrip(), *(indent + line if line.strip() else "" for line in rest)])

    def lines(self) -> list[str] | None:
        question = self.question
        extra = question.extra.get("text2qti")
        kept: dict[str, Any] = dict(extra) if isinstance(extra, dict) else {}  # pyright: ignore
        answers = self._answers(kept)
        if answers is None:
            return None
        if not question.shuffle and self.shuffled:
            self.more.append("fixed order of choices")
        self.losses.dropped(question, _HOLDS | {"shuffle"}, *self.more)
        if isinstance(question.body, Info):
            head = [f"Text title: {_line(self.losses.text(question.title))}"] if question.title is not None else []
            return [*head, self.part("Text:", question.stem)]
        head = [f"Title: {_line(self.losses.text(question.title))}"] if question.title is not None else []
        if question.points != 1:
            head.append(f"Points: {number_text(question.points)}")
        head.append(self.part(f"{self.number}.", question.stem))
        if question.explanation is not None:
            head.append(self.part("...", question.explanation))
        head += [self.part(mark, str(kept[name])) for name, mark in (("right", "+"), ("wrong", "-")) if name in kept]
        return [*head, *answers]

    def _answers(self, kept: dict[str, Any]) -> list[str] | None:
        question, losses = self.question, self.losses
        match question.body:
            case Choices(choices=choices, many=many, scoring=scoring):
                keys = sum(choice.correct for choice in choices)
                if (not many and keys != 1) or not keys:
                    losses.left_out(question, f"text2qti needs one right choice; this question has {keys}.")
                    return None
                if any(choice.credit not in (0, 1) for choice in choices) or scoring is not Scoring.ALL_OR_NOTHING:
                    losses.changed(question, "T2Q-CREDIT", "partial credit is lost.")
                rows: list[str] = []
                for i, choice in enumerate(choices):
                    letter = chr(97 + i % 26)
                    mark = ("[*]" if choice.correct else "[ ]") if many else f"{'*' if choice.correct else ''}{letter})"
                    rows.append(self.part(mark, choice.text))
                    if choice.feedback is not None and losses.text(choice.feedback) != kept.get("right" if choice.correct else "wrong"):
                        rows.append(self.part("...", choice.feedback))
                return rows
            case TrueFalse(answer=answer, feedback=feedback):
                rows = []
                for letter, value in (("a", True), ("b", False)):
                    rows.append(f"{'*' if value is answer else ''}{letter}) {value}")
                    said = feedback.get(value)
                    if said is not None and losses.text(said) != kept.get("right" if value is answer else "wrong"):
                        rows.append(self.part("...", said))
                return rows
            case Short(accept=accept, blanks=()):
                return self._typed(accept)
            case Open():
                self.more += open_losses(question.body)
                return ["____"]
            case Info():
                return []
            case Short() | Order() | Match():
                what = "texts with gaps" if isinstance(question.body, Short) else f"the type {question.type}"
                losses.left_out(question, f"text2qti does not know {what}.")
                return None

    def _typed(self, accept: tuple[Accept, ...]) -> list[str] | None:
        full = [entry for entry in accept if entry.credit >= 1]
        if len(full) < len(accept):
            self.more.append("partly right and wrong answers")
        if len(full) == 1 and (full[0].number is not None or full[0].span is not None):
            return [_number(full[0])]
        rows: list[str] = []
        for entry in full:
            text = entry.text if entry.text is not None else number_text(entry.number) if entry.number is not None else None
            if text is None:
                self.losses.changed(self.question, "T2Q-ANSWER", "a range or an expression among the accepted answers was left out.")
                continue
            if entry.case:
                self.more.append("upper and lower case")
            rows.append(f"* {_line(text)}")
            if entry.feedback is not None:
                rows.append(self.part("...", entry.feedback))
        if not rows:
            self.losses.left_out(self.question, "none of its accepted answers is a text or a number.")
            return None
        return rows


def _number(entry: Accept) -> str:
    if entry.span is not None:
        return f"= [{number_text(entry.span[0])}, {number_text(entry.span[1])}]"
    assert entry.number is not None, "the caller has a number or a range"
    if not entry.tolerance:
        return f"= {number_text(entry.number)}"
    slack = f"{number_text(entry.tolerance * 100)}%" if entry.relative else number_text(entry.tolerance)
    return f"= {number_text(entry.number)} +- {slack}"
