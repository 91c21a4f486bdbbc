"""Excel workbooks (.xlsx) as rows of shown texts.

Formulas are never computed: the stored result is what counts, and it is said that there were some. Members with a DTD,
blown-up packages and sheets beyond the bounds below are refused. Numbers and dates come as Excel shows them, as far as
their format is a plain one.

Errors: `ContentError`.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from xml.etree.ElementTree import ParseError

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from content.model import ContentError
from content.readers.base import Report, number_text
from content.readers.intake import Archive
from content.readers.package import member_names

MAX_ROWS: Final = 30_000
MAX_COLUMNS: Final = 64
MAX_SHEETS: Final = 20
MAX_XML_BYTES: Final = 48 * 1024 * 1024
"""Of all sheets and texts of one workbook, unpacked; 10,000 questions take about 8 MB."""

# what openpyxl was seen to raise on damaged workbooks
_OPENPYXL: Final = (
    *(KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError, AssertionError, EOFError, OSError, RuntimeError),
    *(SyntaxError, zipfile.BadZipFile, zlib.error, InvalidFileException, ParseError),
)


@dataclass(frozen=True, slots=True)
class Row:
    number: int  # as Excel counts, from 1
    cells: tuple[str, ...]
    dates: frozenset[int] = frozenset()  # positions of cells that Excel holds as dates


@dataclass(frozen=True, slots=True)
class Sheet:
    title: str
    rows: tuple[Row, ...]  # rows without any text are left out


def is_workbook(data: bytes) -> bool:
    return "xl/workbook.xml" in member_names(data)


def sheets_of(data: bytes, report: Report) -> tuple[Sheet, ...]:
    """Every sheet with its texts. Raises ContentError for what is no workbook or beyond the bounds."""
    _check_members(data, report)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl tells about decorations that it leaves out
            book: Any = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            try:
                found = [Sheet(str(sheet.title), tuple(_rows(sheet, report))) for sheet in book.worksheets[:MAX_SHEETS]]
            finally:
                book.close()
    except _OPENPYXL as error:
        raise ContentError(f"{report.name}: not a readable workbook ({type(error).__name__}). Save it as .xlsx again.") from error
    return tuple(sheet for sheet in found if sheet.rows)


def _check_members(data: bytes, report: Report) -> None:
    archive = Archive(data, report.name)
    left = MAX_XML_BYTES
    for name in archive.names:
        if not name.endswith((".xml", ".rels")):
            continue
        content = archive.read(name)
        left -= len(content)
        if left < 0:
            raise ContentError(f"{report.name}: more than {MAX_XML_BYTES:,} bytes of sheets. Split the workbook.")
        if content[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in content[:64]:
            raise ContentError(f"{report.name}: {name[:80]!r} is not UTF-8. Save the workbook as .xlsx again.")
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise ContentError(f"{report.name}: {name[:80]!r} declares a DTD; no workbook needs one. Do not open this file.")
        if name.startswith("xl/worksheets/") and re.search(rb"<(?:\w+:)?f[ >]", content):
            report.note(0, "XLSX-FORMULA", f"formulas in {name[:80]!r} are not computed; their stored results were read.", "")


def _rows(sheet: Any, report: Report) -> Iterator[Row]:
    sheet.reset_dimensions()  # the stated size may be wrong, or a trap
    for number, cells in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS), 1):
        if number > MAX_ROWS:
            report.warn(number, "XLSX-ROWS", f"only the first {MAX_ROWS:,} rows of a sheet are read. Split the workbook.", "")
            return
        texts = [_shown(cell) for cell in cells]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            dates = frozenset(i for i, cell in enumerate(cells) if isinstance(cell.value, date | datetime | time | timedelta))
            yield Row(number, tuple(texts), dates)


def _shown(cell: Any) -> str:
    value = cell.value
    match value:
        case None:
            return ""
        case str():
            return "" if cell.data_type == "e" else value.strip()
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return _shown_number(float(value), str(cell.number_format or "General"))
        case datetime() if value.time() == time(0):
            return _shown_date(value, str(cell.number_format or ""))
        case date():
            return _shown_date(value, str(cell.number_format or ""))
        case _:
            return str(value)


def _shown_number(value: float, format: str) -> str:
    plain = re.fullmatch(r"(#,##)?0(?:\.(0+))?(%?)", format.partition(";")[0])
    if plain is None or (format == "0" and not value.is_integer()):
        return number_text(value)
    grouped, decimals, percent = plain.groups()
    shown = f"{value * (100 if percent else 1):{',' if grouped else ''}.{len(decimals or '')}f}"
    return shown + percent


_DATE_PARTS: Final = {"yyyy": "%Y", "yy": "%y", "mmmm": "%B", "mmm": "%b", "mm": "%m", "dd": "%d"}


def _shown_date(value: date, format: str) -> str:
    parts = re.findall(r"[a-z]+|[^a-z]", re.sub(r"\[[^\]]*\]|\\", "", format.lower().partition(";")[0]))
    if not parts or any(part.isalpha() and part not in (*_DATE_PARTS, "d", "m") for part in parts):
        return value.isoformat(" ") if isinstance(value, datetime) and value.time() != time(0) else value.isoformat()[:10]
    single = {"d": str(value.day), "m": str(value.month)}
    return "".join(single.get(part) or (value.strftime(_DATE_PARTS[part]) if part in _DATE_PARTS else part) for part in parts)
