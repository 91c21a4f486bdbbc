"""Moodle GIFT. Texts with markup are marked as Markdown; what the reader of this package needs to get the same question
back (id, tags, all-or-nothing scoring) stands in comments, which Moodle ignores.

Left out: order questions and texts with several gaps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from content.model import Accept, Choice, Choices, Info, Match, Open, Order, Question, Quiz, Scoring, Short, Text, TrueFalse
from content.readers.answers import ANYTHING, wildcard_of
from content.readers.base import number_text
from content.readers.gift_text import NEWLINE_WORD
from content.readers.markup import has_html, normalise_latex, plain_to_markdown
from content.writers.base import Export, Losses, open_losses, with_addresses

_HOLDS: Final = frozenset(("title", "explanation", "feedback", "tags", "media"))
_CONTROL: Final = re.compile(r"[\\~=#{}:]")


class GiftWriter:
    name = "gift"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        blocks: list[str] = []
        category = ""
        for question in quiz.questions:
            block = _Writing(question, losses).block()
            if block is None:
                continue
            losses.written += 1
            wanted = str(_extra(question).get("category", ""))
            if wanted and wanted != category:
                blocks.append(f"$CATEGORY: {' '.join(wanted.split())}")
                category = wanted
            blocks.append(block)
        return losses.export("\n\n".join(blocks) + "\n", "gift")


def _extra(question: Question) -> dict[str, Any]:
    found = question.extra.get("gift")
    return dict(found) if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # any YAML


def escaped(text: str) -> str:
    """The text with GIFT's control characters escaped and its line ends as `\\n`, so that a part is one line."""
    first, *rest = _CONTROL.sub(lambda found: "\\" + found.group(), text.strip()).split("\n")
    # before letters that would make \nu or \neq of it, a line end is written as it is: readers take those for LaTeX
    return first + "".join(("\n" if NEWLINE_WORD.match("n" + line) else "\\n") + line for line in rest)


def _weight(credit: float) -> str:
    return f"%{f'{credit * 100:.5f}'.rstrip('0').rstrip('.')}%"


class _Writing:
    def __init__(self, question: Question, losses: Losses) -> None:
        self.question = question
        self.losses = losses
        self.more: list[str] = []
        texts = [question.stem, question.explanation, *_texts(question)]
        self.is_markdown = any(_has_markup(losses.text(text)) for text in texts if text is not None)

    def part(self, text: Text | None) -> str:
        return escaped(with_addresses(self.losses.text(text), self.question.media))

    def feedback(self, text: Text | None) -> str:
        return "#" + self.part(text) if text is not None else ""

    def block(self) -> str | None:
        question = self.question
        stem = self.part(question.stem)
        answers = self._answers()
        if answers is None:
            return None
        if answers == ":gap:":
            stem, answers = self._gap(stem)
        self.losses.dropped(question, _HOLDS, *self.more)
        head = f"// [id:{_in_comment(question.id)}]"
        head += "".join(f" [tag:{_in_comment(tag)}]" for tag in question.tags)
        scoring = question.body.scoring if isinstance(question.body, Choices | Match) else None
        if scoring is Scoring.ALL_OR_NOTHING and (
            isinstance(question.body, Match) or (isinstance(question.body, Choices) and question.body.many)
        ):
            head += " [scoring:all_or_nothing]"
        title = f"::{escaped(' '.join(self.losses.text(question.title).split()))}::" if question.title is not None else ""
        mark = "[markdown]" if self.is_markdown else "[moodle]" if re.match(r"\[|//|\$CATEGORY", stem, re.IGNORECASE) and not title else ""
        return f"{head}\n{title}{mark}{stem}{answers}"

    def _answers(self) -> str | None:
        question, losses = self.question, self.losses
        lines: list[str] | None
        match question.body:
            case Info():
                if question.explanation is not None:
                    self.more.append("explanation")
                return ""
            case Open():
                self.more += open_losses(question.body)
                lines = []
            case TrueFalse(answer=answer, feedback=feedback):
                wrong, right = feedback.get(not answer), feedback.get(answer)
                said = (self.feedback(wrong) or "#") + self.feedback(right) if right is not None else self.feedback(wrong)
                lines = [f"{'TRUE' if answer else 'FALSE'}{said}"]
            case Choices():
                lines = self._choices(question.body)
            case Short(blanks=(blank, *others)):
                if others or losses.text(question.stem).count(f"{{{{{blank.id}}}}}") != 1:
                    losses.left_out(question, "GIFT holds one gap in a text, not several.")
                    return None
                return ":gap:"
            case Short(accept=accept):
                lines = self._accepted(accept)
                if question.body.reveal is not None:
                    self.more.append("answer to reveal")
            case Match(pairs=pairs, distractors=distractors):
                rows = [(self.part(pair.left), self.part(pair.right)) for pair in pairs]
                rows += [("", self.part(item.text)) for item in distractors]
                if any("->" in text for row in rows for text in row):
                    losses.changed(question, "GIFT-ARROW", "'->' inside a pair became '→', since GIFT cannot escape it.")
                lines = [f"={left.replace('->', '→')} -> {right.replace('->', '→')}" for left, right in rows]
            case Order():
                losses.left_out(question, "GIFT has no questions about order.")
                return None
        if lines is None:
            return None
        if question.explanation is not None:
            lines = [*lines, "####" + self.part(question.explanation)]
        return "{" + ("\n".join(lines) if len(lines) < 2 else "\n" + "\n".join(lines) + "\n") + "}"

    def _choices(self, body: Choices) -> list[str] | None:
        rows = body.choices
        if body.many and not any(choice.credit > 0 for choice in rows):
            self.losses.left_out(self.question, "no choice is right, which GIFT cannot say.")
            return None
        if body.least != 1 or body.most is not None:
            self.more.append("number of choices to select")
        return self._several(body) if body.many else self._one(rows)

    def _one(self, rows: tuple[Choice, ...]) -> list[str]:
        every_right = all(choice.credit >= 1 for choice in rows)
        lines: list[str] = []
        for i, choice in enumerate(rows):
            text = self.part(choice.text)
            mark = "=" if choice.credit >= 1 and not (every_right and i) else "~"
            # a text such as "%50% of it" would be read as a weight, so it gets one
            weight = _weight(choice.credit) if choice.credit not in (0, 1) or text.startswith("%") or (every_right and i) else ""
            lines.append(f"{mark}{weight}{text}{self.feedback(choice.feedback)}")
        return lines

    def _several(self, body: Choices) -> list[str]:
        kept = _extra(self.question).get("weights")
        weights = [float(value) / 100 for value in kept] if _are_numbers(kept, len(body.choices)) else None  # pyright: ignore
        keys = [choice for choice in body.choices if choice.credit > 0]
        lines: list[str] = []
        for i, choice in enumerate(body.choices):
            credit = 1 / len(keys) if choice.credit > 0 else choice.credit
            if body.scoring is Scoring.ALL_OR_NOTHING and choice.credit <= 0:
                credit = -1.0
            credit = weights[i] if weights is not None else credit
            text = self.part(choice.text)
            weight = _weight(credit) if credit or text.startswith("%") else ""
            lines.append(f"~{weight}{text}{self.feedback(choice.feedback)}")
        return lines

    def _accepted(self, entries: tuple[Accept, ...]) -> list[str] | None:
        numeric = all(entry.number is not None or entry.span is not None or entry.regex == ANYTHING for entry in entries)
        if numeric and any(entry.regex is None for entry in entries):
            return ["#", *map(self._number, entries)]
        lines = [line for entry in entries for line in self._typed(entry)]
        if not lines:
            self.losses.left_out(self.question, "none of its accepted answers can be written in GIFT.")
            return None
        return lines

    def _number(self, entry: Accept) -> str:
        if entry.unit is not None or entry.language is not None:
            self.more.append("unit or language of an answer")
        said = self.feedback(entry.feedback)
        if entry.regex is not None:
            return "~" + said
        weight = "" if entry.credit == 1 else _weight(entry.credit)
        if entry.span is not None:
            return f"={weight}{number_text(entry.span[0])}..{number_text(entry.span[1])}{said}"
        assert entry.number is not None, "numeric entries have a number or a span"
        slack = abs(entry.number) * entry.tolerance if entry.relative else entry.tolerance
        return f"={weight}{number_text(entry.number)}:{number_text(slack)}{said}"

    def _typed(self, entry: Accept) -> Iterable[str]:
        if entry.text is not None:
            text = entry.text.replace("*", "\\*")
        elif entry.regex is not None:
            pattern = wildcard_of(entry.regex)
            if pattern is None:
                self.losses.changed(self.question, "GIFT-REGEX", f"the expression {entry.regex[:60]!r} was left out; GIFT knows only '*'.")
                return
            text = pattern
        elif entry.number is not None:
            text = number_text(entry.number)
        else:
            self.losses.changed(self.question, "GIFT-RANGE", "a range among text answers was left out.")
            return
        if "->" in text:
            self.losses.changed(self.question, "GIFT-ARROW", "'->' inside an answer became '→', since GIFT cannot escape it.")
            text = text.replace("->", "→")
        if entry.case or entry.language is not None or entry.unit is not None:
            self.more.append("case, language or unit of an answer")
        text = escaped(text)
        weight = "" if entry.credit == 1 and not text.startswith("%") else _weight(entry.credit)
        yield f"={weight}{text}{self.feedback(entry.feedback)}"

    def _gap(self, stem: str) -> tuple[str, str]:
        """A text with one gap: its answers stand where the gap is."""
        assert isinstance(self.question.body, Short)
        blank = self.question.body.blanks[0]
        lines = self._one(blank.choices) if blank.choices else self._accepted(blank.accept) or []
        if self.question.explanation is not None:
            lines = [*lines, "####" + self.part(self.question.explanation)]
        before, _, after = stem.partition(escaped(f"{{{{{blank.id}}}}}"))
        return before, "{" + "\n".join(lines) + "}" + (after or " .")


def _are_numbers(values: Any, count: int) -> bool:
    return (
        isinstance(values, list | tuple)
        and len(values) == count  # pyright: ignore[reportUnknownArgumentType]
        and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)  # pyright: ignore[reportUnknownVariableType]
    )


def _in_comment(text: str) -> str:
    return re.sub(r"([\\\]\[])", r"\\\1", " ".join(text.split()))


def _texts(question: Question) -> Iterable[Text]:
    match question.body:
        case Choices(choices=choices):
            for choice in choices:
                yield choice.text
                if choice.feedback is not None:
                    yield choice.feedback
        case TrueFalse(feedback=feedback):
            yield from feedback.values()
        case Short(accept=accept):
            yield from (entry.feedback for entry in accept if entry.feedback is not None)
        case Match(pairs=pairs, distractors=distractors):
            yield from (side for pair in pairs for side in (pair.left, pair.right))
            yield from (item.text for item in distractors)
        case _:
            return


_starts_with_marker: Final[Callable[[str], Any]] = re.compile(r"\[(?:html|moodle|plain|markdown)\]", re.IGNORECASE).match


def _has_markup(text: str) -> bool:
    """Whether Moodle's automatic format would show, or the reader would keep, something else than this text."""
    text = text.strip()
    return plain_to_markdown(normalise_latex(text)) != text or has_html(text) or _starts_with_marker(text) is not None
