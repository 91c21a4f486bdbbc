"""Kahoot's spreadsheet: up to four answers, several of which may be right, and a time limit from its list.

Texts are cut to Kahoot's limits, and each cut is in the loss report. Cells are always text, so nothing in them is a
formula.
"""

from __future__ import annotations

import io
from typing import Any, Final, cast

from openpyxl import Workbook  # pyright: ignore[reportMissingModuleSource]  # openpyxl ships no types

from content.model import Choices, Question, Quiz, TrueFalse
from content.writers.base import Export, Losses

MAX_QUESTION: Final = 120  # characters
MAX_ANSWER: Final = 75  # characters
MAX_ANSWERS: Final = 4
TIMES_S: Final = (5, 10, 20, 30, 60, 90, 120, 240)
HEADER_ROW: Final = 8  # where Kahoot's template has it; questions begin below
_HEADER: Final = (
    "",
    f"Question - max {MAX_QUESTION} characters",
    *(f"Answer {i} - max {MAX_ANSWER} characters" for i in range(1, MAX_ANSWERS + 1)),
    "Time limit (sec) – 5, 10, 20, 30, 60, 90, 120, or 240 secs",
    "Correct answer(s) - choose at least one",
)


class KahootWriter:
    name = "kahoot"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        rows = [row for question in quiz.questions if (row := _row(question, losses)) is not None]
        losses.written = len(rows)
        book = cast(Any, Workbook())
        sheet = book.active
        sheet.title = "Sheet1"
        _put(sheet, 2, 2, losses.text(quiz.title))
        for column, text in enumerate(_HEADER, 1):
            _put(sheet, HEADER_ROW, column, text)
        for number, row in enumerate(rows, 1):
            sheet.cell(HEADER_ROW + number, 1, number)
            for column, text in enumerate(row, 2):
                _put(sheet, HEADER_ROW + number, column, text)
        data = io.BytesIO()
        if rows:
            book.save(data)
        return losses.export(data.getvalue(), "kahoot.xlsx")


def _put(sheet: Any, row: int, column: int, value: str | int) -> None:
    if value == "":
        return
    cell = sheet.cell(row, column)
    if isinstance(value, int):
        cell.value = value
    else:
        cell.value = "".join(letter for letter in value if letter in "\t\n" or letter >= " ")
        cell.data_type = "s"  # a text that begins with = is no formula


def _cut(text: str, limit: int, what: str, question: Question, losses: Losses) -> str:
    if len(text) <= limit:
        return text
    losses.changed(question, "KAHOOT-CUT", f"{what} of {len(text)} characters was cut to {limit}.")
    return text[: limit - 1].rstrip() + "…"


def _row(question: Question, losses: Losses) -> list[str | int] | None:
    body = question.body
    if isinstance(body, TrueFalse):
        answers = [("True", body.answer), ("False", not body.answer)]
    elif isinstance(body, Choices):
        answers = [(losses.plain(choice.text, question), choice.credit > 0 if body.many else choice.correct) for choice in body.choices]
    else:
        losses.left_out(question, f"Kahoot's spreadsheet holds choices; this is {question.type}.")
        return None
    stem = losses.plain(question.stem, question)
    if not stem or not all(text for text, _ in answers):
        losses.left_out(question, "without markup and pictures nothing of a text is left.")
        return None
    if not any(right for _, right in answers):
        losses.left_out(question, "no choice is right.")
        return None
    if len(answers) > MAX_ANSWERS:
        kept = sorted(sorted(range(len(answers)), key=lambda i: not answers[i][1])[:MAX_ANSWERS])
        losses.changed(question, "KAHOOT-CHOICES", f"{len(answers)} choices; the {MAX_ANSWERS} kept hold the right ones first.")
        answers = [answers[i] for i in kept]
    if isinstance(body, Choices) and body.many:
        losses.changed(question, "KAHOOT-ANY-OF", "in a Kahoot any one of the right answers is enough.")
    limit = question.time_limit_s or 30
    time = min(TIMES_S, key=lambda allowed: (abs(allowed - limit), allowed))
    if question.time_limit_s is not None and time != limit:
        losses.changed(question, "KAHOOT-TIME", f"{limit} s became {time} s, the nearest that Kahoot allows.")
    losses.dropped(question, frozenset(("time_limit",)))
    texts = [_cut(text, MAX_ANSWER, "an answer", question, losses) for text, _ in answers]
    keys = ",".join(str(i) for i, (_, right) in enumerate(answers, 1) if right)
    return [_cut(stem, MAX_QUESTION, "the question", question, losses), *texts, *[""] * (MAX_ANSWERS - len(texts)), time, keys]
