"""Quiz templates of Kahoot and Wayground (once Quizizz), as .xlsx or .csv, and any other workbook with a header row.

The two templates are known by their header texts; other workbooks go through the column mapping of `delimited`. Limits of
the products (120 characters, four answers) are no limits here: texts come in whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from content.model import Accept, Choice, Choices, ContentError, Media, Open, Question, Short, Text, TrueFalse
from content.readers.base import Import, Report, Unusable, choice_id, text_or_none
from content.readers.columns import layout_of, read_rows
from content.readers.delimited import SEPARATORS, split_rows
from content.readers.detect import CERTAIN, POSSIBLE
from content.readers.intake import decode, peek
from content.readers.labels import true_false_pair, truth_in
from content.readers.markup import normalise_latex, plain_to_markdown
from content.readers.package import PackageReport, peek_member
from content.readers.workbook import Row, is_workbook, sheets_of

_HEADER_ROWS: Final = 20  # Kahoot's header is in row 8
KAHOOT_TIMES: Final = (5, 10, 20, 30, 60, 90, 120, 240)  # seconds
WAYGROUND_DEFAULT_S: Final = 30


class KahootReader:
    name = "kahoot"

    def sniff(self, data: bytes, name: str) -> float:
        return CERTAIN if _has_header(data, _kahoot_header, r"question\b[^<]{0,40}max", r"answer 1\b", r"correct answer") else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = PackageReport(self.name, name, data)
        for rows in _tables(data, report):
            found = _find(rows, _kahoot_header)
            if found is not None:
                for row in rows[found.after :]:
                    _kahoot_question(row, found.columns, report)
        return _closed(report, "a header 'Question - max 120 characters', 'Answer 1' …")


class WaygroundReader:
    name = "wayground"

    def sniff(self, data: bytes, name: str) -> float:
        return CERTAIN if _has_header(data, _wayground_header, "question text", "question type", "option 1") else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = PackageReport(self.name, name, data)
        for rows in _tables(data, report):
            found = _find(rows, _wayground_header)
            if found is not None:
                for row in rows[found.after :]:
                    _wayground_question(row, found.columns, report)
        return _closed(report, "a header 'Question Text', 'Question Type', 'Option 1' …")


class WorkbookReader:
    """Any workbook with a header row that names its columns."""

    name = "xlsx"

    def sniff(self, data: bytes, name: str) -> float:
        return POSSIBLE if is_workbook(data) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = PackageReport(self.name, name, data)
        for rows in _tables(data, report):
            for index, row in enumerate(rows):
                layout = layout_of(row.cells) if row.number <= _HEADER_ROWS else None
                if layout is not None:
                    read_rows(((below.number, below.cells) for below in rows[index + 1 :]), layout, report)
                    break
        return _closed(report, "a header row such as 'Question', 'Option A', 'Option B', 'Answer'")


def _closed(report: Report, header: str) -> Import:
    result = report.close()
    if not report.read:
        raise ContentError(f"{report.name}: no questions below {header}. Fill in the template, or choose another format.")
    return result


# Tables ------------------------------------------------------------------------------------------------------------

_Header = Callable[[Sequence[str]], "dict[str, int] | None"]


@dataclass(frozen=True, slots=True)
class _Found:
    columns: dict[str, int]
    after: int  # index of the first row below the header


def _tables(data: bytes, report: PackageReport) -> Iterator[tuple[Row, ...]]:
    if not is_workbook(data):
        yield _csv_rows(decode(data, report), report)
        return
    sheets = sheets_of(data, report)
    for sheet in sheets:
        report.member = f"sheet {sheet.title[:40]}" if len(sheets) > 1 else ""
        yield sheet.rows
    report.member = ""


def _csv_rows(text: str, report: Report | None = None) -> tuple[Row, ...]:
    separator = max(SEPARATORS, key=text[:4_000].count)
    found = ((line, tuple(cell.strip() for cell in cells)) for line, cells in split_rows(text, separator, report))
    return tuple(Row(line, cells) for line, cells in found if any(cells))


def _has_header(data: bytes, header: _Header, *marks: str) -> bool:
    """Cheap: of a workbook only the beginnings of the two members that can hold the header's texts are looked at."""
    if is_workbook(data):
        texts = peek_member(data, "xl/sharedStrings.xml", 1_000_000) + peek_member(data, "xl/worksheets/sheet1.xml", 200_000)
        return all(re.search(mark, texts, re.IGNORECASE) for mark in marks)
    head = peek(data)
    return re.search(marks[0], head, re.IGNORECASE) is not None and _find(_csv_rows(head), header) is not None


def _find(rows: Sequence[Row], header: _Header) -> _Found | None:
    for index, row in enumerate(rows):
        if row.number > _HEADER_ROWS:
            return None
        columns = header(row.cells)
        if columns is not None:
            return _Found(columns, index + 1)
    return None


def _cell(row: Row, columns: dict[str, int], name: str) -> str:
    at = columns.get(name, -1)
    return row.cells[at] if 0 <= at < len(row.cells) else ""


def _options(row: Row, columns: dict[str, int]) -> list[str]:
    names = sorted((name for name in columns if name.startswith("option")), key=lambda name: int(name[6:]))
    return [_cell(row, columns, name) for name in names]


def _shown(text: str) -> str:
    return plain_to_markdown(normalise_latex(text))


def _positions(text: str, options: Sequence[str], row: Row, at: int, report: Report) -> list[int]:
    """Which options, from 0, a cell such as `1,3` names. Excel may have made 1.3, 13 or a date of it."""
    if row.dates and at in row.dates:
        numbers = re.findall(r"\d+", text)
        digits = [str(int(number)) for number in numbers if int(number) <= len(options)]
        report.warn(
            row.number, "XLSX-KEY", f"Excel turned the right answers into the date {text}; read as {', '.join(digits)}. Check the key."
        )
    elif re.fullmatch(r"\d+\.\d+", text) and int(text.partition(".")[2]) > 0:
        digits = text.split(".")
        report.warn(
            row.number, "XLSX-KEY", f"Excel turned the right answers into the number {text}; read as {' and '.join(digits)}. Check the key."
        )
    elif re.fullmatch(r"[1-9]{2,}", text) and int(text) > len(options):
        digits = list(text)
        report.warn(row.number, "XLSX-KEY", f"the right answers {text} have no commas; read as {', '.join(digits)}. Check the key.")
    else:
        digits = [re.sub(r"\.0+$", "", part.strip()) for part in re.split(r"[,;/&、，]|\band\b", text) if part.strip()]
    if digits and all(part.isdigit() for part in digits):
        return list(dict.fromkeys(int(part) - 1 for part in digits))
    same = [i for i, option in enumerate(options) if option and option.casefold() == text.casefold()]
    if same:
        report.warn(row.number, "XLSX-KEY", f"the right answer is given as text {text[:40]!r}; it was found among the answers.")
    return same


def _checked(positions: Sequence[int], options: Sequence[str], text: str) -> list[int]:
    for position in positions:
        if not 0 <= position < len(options):
            raise Unusable("XLSX-KEY", f"the right answer is {text[:20]!r}; there are {len(options)} answers. Correct it.")
        if not options[position]:
            raise Unusable("XLSX-KEY", f"the right answer {position + 1} is empty. Write it or choose another.")
    return list(positions)


def _seconds(text: str, row: Row, report: Report) -> int | None:
    if not text:
        return None
    number = re.match(r"\d+(?:[.,]\d+)?", text)
    value = round(float(number.group().replace(",", "."))) if number else 0
    if not 1 <= value <= 86_400:
        report.warn(row.number, "XLSX-TIME", f"the time limit {text[:20]!r} is no number of seconds; left out.")
        return None
    return value


def _picked(options: Sequence[str], keys: Sequence[int], *, many: bool) -> Choices | TrueFalse:
    shown = [(i, option) for i, option in enumerate(options) if option]
    if not many and len(keys) == 1 and true_false_pair([option for _, option in shown]):
        return TrueFalse(bool(truth_in(options[keys[0]])))
    choices = tuple(Choice(choice_id(n), Text.of(_shown(option)), float(i in keys)) for n, (i, option) in enumerate(shown))
    return Choices(choices, many=many)


# Kahoot ------------------------------------------------------------------------------------------------------------


def _kahoot_header(cells: Sequence[str]) -> dict[str, int] | None:
    lower = [cell.lower() for cell in cells]
    question = next((i for i, cell in enumerate(lower) if re.match(r"question\b.*max", cell)), None)
    if question is None:
        return None
    columns = {"question": question}
    for i, cell in enumerate(lower):
        answer = re.match(r"answer (\d)\b", cell)
        if answer:
            columns[f"option{answer[1]}"] = i
        elif cell.startswith("time limit"):
            columns["time"] = i
        elif cell.startswith("correct answer"):
            columns["key"] = i
    return columns if "option1" in columns and "option2" in columns else None


def _kahoot_question(row: Row, columns: dict[str, int], report: Report) -> None:
    stem = _cell(row, columns, "question")
    options = _options(row, columns)
    if not stem and not any(options):
        return  # the template numbers a hundred rows
    with report.question(row.number, _cell(row, {"number": 0}, "number") if columns["question"] else ""):
        if not stem:
            raise Unusable("NO-STEM", "the answers have no question. Write it.")
        key = _cell(row, columns, "key")
        keys = _checked(_positions(key, options, row, columns.get("key", -1), report), options, key)
        long = max(len(stem) - 120, max((len(option) for option in options), default=0) - 75)
        if long > 0:
            report.note(row.number, "KAHOOT-LENGTH", f"a text is {long} characters longer than Kahoot allows; imported in full.")
        seconds = _seconds(_cell(row, columns, "time"), row, report)
        if seconds is not None and seconds not in KAHOOT_TIMES:
            report.note(row.number, "KAHOOT-TIME", f"{seconds} s is none of Kahoot's time limits; imported as it is.")
        if not keys and sum(map(bool, options)) >= 2:
            draft = Question(id="", stem=Text.of(_shown(stem)), body=_picked(options, (), many=False), time_limit_s=seconds)
            report.add_draft(draft, "NO-KEY", "no right answer is given. Write its number, 1 to 4.")
            return
        report.add(Question(id="", stem=Text.of(_shown(stem)), body=_picked(options, keys, many=False), time_limit_s=seconds))


# Wayground ---------------------------------------------------------------------------------------------------------

_WAYGROUND: Final = {
    "question text": "question",
    "question type": "type",
    "correct answer": "key",
    "time in seconds": "time",
    "image link": "image",
    "answer explanation": "explanation",
}


def _wayground_header(cells: Sequence[str]) -> dict[str, int] | None:
    columns: dict[str, int] = {}
    for i, cell in enumerate(cells):
        text = " ".join(cell.lower().split())
        option = re.fullmatch(r"option (\d)", text)
        if option:
            columns[f"option{option[1]}"] = i
        elif text in _WAYGROUND:
            columns[_WAYGROUND[text]] = i
    return columns if {"question", "type", "option1"} <= columns.keys() else None


def _wayground_question(row: Row, columns: dict[str, int], report: Report) -> None:
    stem = _cell(row, columns, "question")
    options = _options(row, columns)
    if stem.lower().startswith("text of the question") or (not stem and not any(options)):
        return
    with report.question(row.number):
        if not stem:
            raise Unusable("NO-STEM", "the options have no question. Write it.")
        kind = re.sub(r"[^a-z]", "", _cell(row, columns, "type").lower())
        body = _wayground_body(kind, row, columns, options, report)
        image = _cell(row, columns, "image")
        media: tuple[Media, ...] = ()
        if re.match(r"https?://\S+$", image):
            media = (Media("m1", Text.of(image.rsplit("/", 1)[-1] or "picture"), url=image),)
        elif image:
            report.warn(row.number, "MEDIA", f"the image link {image[:60]!r} is no web address; left out.")
        seconds = _seconds(_cell(row, columns, "time"), row, report) or (WAYGROUND_DEFAULT_S if "time" in columns else None)
        question = Question(
            id="",
            stem=Text.of(_shown(stem) + ("\n\n![](m1)" if media else "")),
            body=body,
            explanation=text_or_none(_shown(_cell(row, columns, "explanation"))),
            time_limit_s=seconds,
            media=media,
        )
        if isinstance(body, Choices) and not any(choice.credit > 0 for choice in body.choices):
            report.add_draft(question, "NO-KEY", "no right answer is given. Write its number in 'Correct Answer'.")
            return
        report.add(question)


def _wayground_body(
    kind: str, row: Row, columns: dict[str, int], options: Sequence[str], report: Report
) -> Choices | TrueFalse | Short | Open:
    key = _cell(row, columns, "key")
    match kind:
        case "multiplechoice" | "checkbox" | "truefalse" | "":
            keys = _checked(_positions(key, options, row, columns.get("key", -1), report), options, key)
            return _picked(options, keys, many=kind == "checkbox" or len(keys) > 1)
        case "fillintheblank" | "fillintheblanks" | "fillin":
            texts = list(dict.fromkeys(option for option in options if option))
            if not texts and key:
                texts = [key]
            return Short(tuple(Accept(text=text) for text in texts))
        case "openended" | "open":
            return Open()
        case "poll":
            raise Unusable("WAYGROUND-POLL", "a poll has no right answer. Give it one and make it Multiple Choice.")
        case "draw":
            raise Unusable("PLAY-UPLOAD", "it asks for a drawing. Ask it elsewhere or rewrite it.")
        case _:
            raise Unusable(
                "WAYGROUND-TYPE", f"the question type {_cell(row, columns, 'type')[:40]!r} is not known. Use one of the template's."
            )
