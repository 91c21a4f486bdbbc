"""Tables and card lists: our own CSV (all it needs to come back), Wayground's CSV, Quizlet and Anki text.

Quoting is that of RFC 4180. Quizlet knows no quotes, so tabs and line ends in its texts become spaces.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Final

from content.model import Choices, Info, Match, Open, Order, Question, Quiz, Scoring, Short, TrueFalse
from content.readers.base import accepted_as_text, choice_id, keys_of, number_text
from content.writers.base import Export, Losses, open_losses, scoring_of, with_addresses
from content.writers.cards import card_html, front_and_back

WAYGROUND_OPTIONS: Final = 5


def _table(rows: Sequence[Sequence[str]], separator: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue()


class CsvWriter:
    """Columns that `content.readers.columns` reads back; cells hold Markdown, as the last column says."""

    name = "csv"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        written = [(question, row) for question in quiz.questions if (row := _cells(question, losses)) is not None]
        losses.written = len(written)
        width = max((len(options) for _, (options, _) in written), default=2)
        header = ["ID", "Type", "Question", *(f"Option {choice_id(i).upper()}" if i < 26 else f"Option {i + 1}" for i in range(width))]
        header += ["Correct letters", "Answer", "Tolerance", "Explanation", "Hint", "Tags", "Difficulty", "Points", "Time limit", "Markup"]
        rows = [header]
        for question, (options, more) in written:
            hints = "\n".join(losses.text(hint) for hint in question.hints[:1])
            rows.append(
                [
                    question.id,
                    "number" if more.get("tolerance") is not None else str(question.type),
                    with_addresses(losses.text(question.stem), question.media),
                    *options,
                    *[""] * (width - len(options)),
                    more.get("letters") or "",
                    more.get("answer") or "",
                    more.get("tolerance") or "",
                    losses.text(question.explanation),
                    hints,
                    "; ".join(question.tags),
                    str(question.difficulty),
                    number_text(question.points),
                    str(question.time_limit_s or ""),
                    "markdown",
                ]
            )
        return losses.export(_table(rows), "csv")


def _cells(question: Question, losses: Losses) -> tuple[list[str], dict[str, str | None]] | None:
    holds = frozenset(("explanation", "hints", "difficulty", "points", "time_limit", "tags", "media"))
    more: list[str] = []
    if scoring_of(question) not in (None, Scoring.ALL_OR_NOTHING):
        more.append("scoring of parts")
    if len(question.hints) > 1:
        more.append("hints after the first")
    options: list[str] = []
    cells: dict[str, str | None] = {}
    match question.body:
        case Choices(choices=choices, many=many):
            options = [losses.text(choice.text) for choice in choices]
            keys = set(keys_of(choices))
            cells["letters"] = ",".join(
                choice_id(i).upper() if i < 26 else str(i + 1) for i, choice in enumerate(choices) if choice.id in keys
            )
            if not cells["letters"] or len(choices) > 26:
                losses.left_out(question, "it has no right choice, or more than 26 choices.")
                return None
            if not many and len(keys) > 1:
                more.append("any-of key (now: the first right choice)")
                cells["letters"] = (cells["letters"] or "")[:1]
            if any(0 < choice.credit < 1 or choice.credit < 0 for choice in choices):
                more.append("partial credit")
        case TrueFalse(answer=answer):
            cells["answer"] = str(answer).lower()
        case Short(accept=accept, blanks=blanks):
            if blanks:
                losses.left_out(question, "a table row has no place for gaps.")
                return None
            full = [entry for entry in accept if entry.credit >= 1]
            numbers = [entry for entry in full if entry.number is not None and not entry.unit]
            if numbers and len(numbers) == len(full) and len({(entry.tolerance, entry.relative) for entry in numbers}) == 1:
                first = numbers[0]
                slack = abs(first.number or 0.0) * first.tolerance if first.relative else first.tolerance
                cells["answer"] = "\n".join(number_text(entry.number or 0.0) for entry in numbers)
                cells["tolerance"] = number_text(slack)
            else:
                cells["answer"] = "\n".join(accepted_as_text(entry) for entry in full if entry.text is not None or entry.number is not None)
            if not cells["answer"]:
                losses.left_out(question, "none of its accepted answers is a text or a number.")
                return None
            if len(full) < len(accept) or any(entry.span is not None or entry.regex is not None for entry in full):
                more.append("ranges, expressions and partly right answers")
        case Open(reference=reference):
            cells["answer"] = losses.text(reference)
            more += [name for name in open_losses(question.body) if name != "reference answer"]
        case Match(pairs=pairs, distractors=distractors):
            options = [f"{losses.text(pair.left)} -> {losses.text(pair.right)}" for pair in pairs]
            options += [f" -> {losses.text(item.text)}" for item in distractors]
        case Order(items=items):
            options = [losses.text(item.text) for item in items]
        case Info():
            losses.left_out(question, "a table row has no place for a text without an answer.")
            return None
    losses.dropped(question, holds, *more)
    return options, cells


class WaygroundWriter:
    name = "wayground"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        header = ["Question Text", "Question Type", *(f"Option {i}" for i in range(1, WAYGROUND_OPTIONS + 1))]
        header += ["Correct Answer", "Time in seconds", "Image Link", "Answer explanation"]
        rows = [header, *(row for question in quiz.questions if (row := _wayground(question, losses)) is not None)]
        losses.written = len(rows) - 1
        return losses.export(_table(rows), "wayground.csv")


def _wayground(question: Question, losses: Losses) -> list[str] | None:
    holds = frozenset(("explanation", "time_limit", "media"))
    stem = losses.plain(question.stem, question, lines=True)
    key = ""
    match question.body:
        case Choices(choices=choices, many=many):
            options = [losses.plain(choice.text, question) for choice in choices]
            right = [i for i, choice in enumerate(choices) if choice.id in keys_of(choices)]
            if len(options) > WAYGROUND_OPTIONS:
                kept = sorted(sorted(range(len(options)), key=lambda i: i not in right)[:WAYGROUND_OPTIONS])
                losses.changed(question, "WAYGROUND-CHOICES", f"{len(options)} choices were cut to {WAYGROUND_OPTIONS}.")
                options, right = [options[i] for i in kept], [n for n, i in enumerate(kept) if i in right]
            kind = "Checkbox" if many or len(right) > 1 else "Multiple Choice"
            key = ",".join(str(i + 1) for i in right)
        case TrueFalse(answer=answer):
            kind, options, key = "Multiple Choice", ["True", "False"], "1" if answer else "2"
        case Short(accept=accept, blanks=()):
            full = [entry for entry in accept if entry.credit >= 1 and (entry.text is not None or entry.number is not None)]
            kind = "Fill-in-the-Blank"
            options = [entry.text if entry.text is not None else number_text(entry.number or 0.0) for entry in full][:WAYGROUND_OPTIONS]
            if len(full) > WAYGROUND_OPTIONS:
                losses.changed(question, "WAYGROUND-ANSWERS", f"{len(full)} accepted answers were cut to {WAYGROUND_OPTIONS}.")
        case Open():
            kind, options = "Open-Ended", []
        case _:
            losses.left_out(question, f"Wayground's sheet has no place for {question.type}.")
            return None
    if not stem or (kind != "Open-Ended" and not any(options)):
        losses.left_out(question, "without markup and pictures nothing of a text is left.")
        return None
    image = next((medium.url for medium in question.media if medium.url), "") or ""
    if len(question.media) > int(bool(image)):
        losses.changed(question, "WAYGROUND-IMAGE", "only one picture with a web address fits a row.")
    losses.dropped(question, holds, *(open_losses(question.body) if isinstance(question.body, Open) else ()))
    cells = [*options, *[""] * (WAYGROUND_OPTIONS - len(options))]
    explanation = losses.plain(question.explanation, question, lines=True)
    return [stem, kind, *cells, key, str(question.time_limit_s or 30), image, explanation]


class QuizletWriter:
    name = "quizlet"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        lines: list[str] = []
        for question in quiz.questions:
            card = front_and_back(question, losses)
            if card is None:
                continue
            front, back = (" ".join(losses.plain_of(side, question).split()) for side in card)
            if not front or not back:
                losses.left_out(question, "without markup and pictures one side of the card is empty.")
                continue
            losses.dropped(question, frozenset())
            lines.append(f"{front}\t{back}")
        losses.written = len(lines)
        return losses.export("\n".join(lines) + "\n", "quizlet.txt")


class AnkiTextWriter:
    name = "anki-text"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        rows: list[list[str]] = []
        for question in quiz.questions:
            card = front_and_back(question, losses)
            if card is None:
                continue
            front, back = (card_html(side, question.media) for side in card)
            more = card_html(losses.text(question.explanation), question.media)
            losses.dropped(question, frozenset(("explanation", "tags", "media")))
            rows.append([question.id, front, back, more, " ".join(tag.replace(" ", "_") for tag in question.tags)])
        losses.written = len(rows)
        head = "#separator:tab\n#html:true\n#guid column:1\n#tags column:5\n"
        return losses.export(head + _table(rows, "\t"), "anki.txt")
