"""Kahoot and Wayground templates and other workbooks: what Excel does to keys and numbers, and formulas that stay harmless.

Proves the template readers on workbooks made here; a real Kahoot export is in test_samples.py.
"""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Sequence
from datetime import date
from typing import Any

import openpyxl
import pytest

from content.model import Choices, ContentError, Open, Severity, Short, TrueFalse
from content.readers.base import Import, to_json
from content.readers.spreadsheet import KahootReader, WaygroundReader, WorkbookReader

KAHOOT = [
    "Question - max 120 characters",
    *(f"Answer {i} - max 75 characters" for i in range(1, 5)),
    "Time limit (sec) – 5, 10, 20, 30, 60, 90, 120, or 240 secs",
    "Correct answer(s) - choose at least one",
]
WAYGROUND = [
    *("Question Text", "Question Type", "Option 1", "Option 2", "Option 3", "Option 4", "Option 5"),
    *("Correct Answer", "Time in seconds", "Image Link", "Answer explanation"),
]


def workbook(*rows: Sequence[Any], formats: dict[str, str] | None = None) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(list(row))
    for cell, format in (formats or {}).items():
        sheet[cell].number_format = format
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def kahoot(*rows: Sequence[Any], formats: dict[str, str] | None = None) -> Import:
    head = [[None, "Quiz template"], *([None] for _ in range(6)), [None, *KAHOOT]]
    numbered = [[i, *row] for i, row in enumerate(rows, 1)]
    return KahootReader().read(workbook(*head, *numbered, [len(rows) + 1], formats=formats), "quiz.xlsx")


def keys(result: Import) -> list[Any]:
    return [found["key"] for found in to_json(result)["questions"]]


@pytest.mark.parametrize(
    ("cell", "key"),
    [(2, ["b"]), (2.0, ["b"]), ("1,3", ["a", "c"]), ("1; 3", ["a", "c"]), ("1 and 4", ["a", "d"]), (" 4 ", ["d"])],
)
def test_a_key_is_read_however_it_was_typed(cell: object, key: list[str]) -> None:
    result = kahoot(["Q?", "w", "x", "y", "z", 20, cell])
    assert (keys(result), result.problems) == ([key], ())
    body = result.questions[0].body
    assert isinstance(body, Choices)
    assert not body.many, "several right ones mean any of these"


@pytest.mark.parametrize(
    ("cell", "key"),
    [(1.2, ["a", "b"]), (13, ["a", "c"]), (date(2026, 2, 1), ["a", "b"]), ("y", ["c"])],
    ids=["number", "glued", "date", "text"],
)
def test_a_key_that_excel_or_its_author_changed_is_read_and_said(cell: object, key: list[str]) -> None:
    result = kahoot(["Q?", "w", "x", "y", "z", 20, cell], formats={"H9": "d.m"} if isinstance(cell, date) else None)
    assert keys(result) == [key]
    assert [(problem.line, problem.code, problem.severity) for problem in result.problems] == [(9, "XLSX-KEY", Severity.WARNING)]


@pytest.mark.parametrize("cell", [7, 3, "0", "1,9"])
def test_a_key_beyond_the_answers_is_an_error(cell: object) -> None:
    result = kahoot(["Q?", "w", "x", None, "z", 20, cell], ["Fine?", "True", "False", None, None, 30, 1])
    assert (result.read, result.imported) == (2, 1)
    assert [(problem.line, problem.code) for problem in result.problems] == [(9, "XLSX-KEY")]
    assert isinstance(result.questions[0].body, TrueFalse)


def test_a_row_without_a_key_is_a_draft_and_empty_rows_are_no_questions() -> None:
    result = kahoot(["Q?", "w", "x", None, None, 20, None], [None], ["Later?", "a", "b", None, None, 7, 2])
    assert [found.stem[""] for found in result.drafts] == ["Q?"]
    assert [(p.line, p.code) for p in result.problems] == [(9, "NO-KEY"), (11, "KAHOOT-TIME")]
    assert [(found.stem[""], found.time_limit_s) for found in result.questions] == [("Later?", 7)]


def test_numbers_and_dates_show_as_in_excel() -> None:
    cells = [1.0, 0.5, 1234.5, date(2026, 11, 30)]
    formats = {"C9": "General", "D9": "0%", "E9": "#,##0.00", "F9": "dd.mm.yyyy"}
    result = kahoot(["How many?", *cells, 20, 1], formats=formats)
    body = result.questions[0].body
    assert isinstance(body, Choices)
    assert [choice.text[""] for choice in body.choices] == ["1", "50%", "1,234.50", "30.11.2026"]


def test_formulas_are_not_computed() -> None:
    result = kahoot(['=WEBSERVICE("http://example.org")', "a", "b", None, None, 20, 1], ["Safe?", "a", "b", None, None, 20, 1])
    assert [found.stem[""] for found in result.questions] == ["Safe?"]
    assert {problem.code for problem in result.problems} == {"XLSX-FORMULA", "NO-STEM"}


def test_texts_are_plain_and_longer_than_kahoot_allows() -> None:
    result = kahoot(["*What* is *a_b_c*? " + "x" * 200, "**", "||b||", None, None, 20, 1])
    assert result.questions[0].stem[""].startswith(r"\*What\* is \*a_b_c\*?")
    assert [problem.code for problem in result.problems] == ["KAHOOT-LENGTH"]


def test_every_wayground_type_is_read_or_reported() -> None:
    rows = [
        ["Text of the question", "Choose a type", "Option 1 text", None, None, None, None, "number", "seconds", "url", "why"],
        ["Flag?", "Multiple Choice", "SYN", "FIN", None, None, None, 1, 20, "https://example.org/flag.png", "RFC 793"],
        ["Which?", "Checkbox", "TCP", "IP", "UDP", None, None, "1,3", None, None, None],
        ["Port of HTTPS?", "Fill-in-the-Blank", "443", "four four three", None, None, None, None, 30, None, None],
        ["Why?", "Open-Ended", None, None, None, None, None, None, 60, None, None],
        ["Best?", "Poll", "a", "b", None, None, None, None, None, None, None],
        ["Draw!", "Draw", None, None, None, None, None, None, None, None, None],
        ["True?", "Multiple Choice", "True", "False", None, None, None, 2, None, None, None],
    ]
    result = WaygroundReader().read(workbook(WAYGROUND, *rows), "quiz.xlsx")
    single, many, typed, open_, truth = result.questions
    assert result.read == 7
    assert [(p.line, p.code) for p in result.problems] == [(7, "WAYGROUND-POLL"), (8, "PLAY-UPLOAD")]
    assert (single.time_limit_s, single.media[0].url, single.stem[""]) == (20, "https://example.org/flag.png", "Flag?\n\n![](m1)")
    assert single.explanation is not None
    assert single.explanation[""] == "RFC 793"
    assert isinstance(many.body, Choices)
    assert (many.body.many, [c.correct for c in many.body.choices], many.time_limit_s) == (True, [True, False, True], 30)
    assert isinstance(typed.body, Short)
    assert [accept.text for accept in typed.body.accept] == ["443", "four four three"]
    assert isinstance(open_.body, Open)
    assert isinstance(truth.body, TrueFalse)
    assert truth.body.answer is False


def test_the_templates_are_read_as_csv_too() -> None:
    quoted = '"Line one,\nline two?",Multiple Choice,a,b,,,,2,20,,'
    data = (",".join(WAYGROUND) + "\r\n" + quoted + "\r\n" + "Next?,Multiple Choice,a,b,,,,1,20,,\r\n").encode("utf-8-sig")
    assert WaygroundReader().sniff(data, "x.txt") > 0.9
    result = WaygroundReader().read(data, "quiz.csv")
    assert keys(result) == [["b"], ["a"]]
    assert [found.line for found in result.questions] == [2, 4]


def test_any_workbook_with_a_header_is_read_by_its_columns() -> None:
    data = workbook(["My quiz"], [], ["Вопрос", "Вариант 1", "Вариант 2", "Правильный ответ"], ["2+2?", 4, 5, 1])
    assert KahootReader().sniff(data, "x.xlsx") == 0
    assert 0 < WorkbookReader().sniff(data, "x.xlsx") < 0.9
    result = WorkbookReader().read(data, "quiz.xlsx")
    assert (keys(result), result.questions[0].line) == ([["a"]], 4)


def test_a_workbook_without_a_known_header_is_refused() -> None:
    with pytest.raises(ContentError, match="header row"):
        WorkbookReader().read(workbook([1, 2, 3]), "numbers.xlsx")


def test_a_stated_size_of_a_million_rows_costs_nothing() -> None:
    data = workbook(["Question", "Option A", "Option B", "Answer"], ["Q?", "a", "b", "A"])
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                text = text.replace(b'ref="A1:D2"', b'ref="A1:XFD1048576"').replace(b'r="2"', b'r="1048000"').replace(b'2"', b'1048000"')
            new.writestr(name, text)
    started = time.perf_counter()
    with pytest.raises(ContentError):
        WorkbookReader().read(out.getvalue(), "trap.xlsx")
    assert time.perf_counter() - started < 2
