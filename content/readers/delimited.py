"""Text with separators: CSV and TSV with or without a header, Quizlet's term and definition, Anki's text export.

Quotes that never close cost one cell, not the rest of the file. Where columns have no names, what they were taken for is
said in a warning: look before importing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from content.model import ContentError, Question, Text
from content.readers.base import About, Import, Report, Unusable, text_or_none
from content.readers.cards import body_of, gaps_of, has_cloze
from content.readers.columns import Layout, Row, layout_of, read_rows
from content.readers.detect import CERTAIN, LIKELY, POSSIBLE, UNLIKELY, suffix
from content.readers.intake import decode, peek
from content.readers.labels import keys_in
from content.readers.markup import Pictures, html_to_markdown, normalise_latex, plain_to_markdown

SEPARATORS: Final = (",", ";", "\t", "|")
MAX_CELL: Final = 50_000  # characters of a quoted cell; an unclosed quote ends there at the latest
HEADER_ROWS: Final = 20  # rows among which a header is looked for

_WAYGROUND: Final = frozenset(("question text", "question type"))


def split_rows(text: str, separator: str, report: Report | None = None, first_line: int = 1) -> list[Row]:
    """The rows of CSV text, each with its physical line. Quotes work as in RFC 4180; a stray one is text, with a warning."""
    rows: list[Row] = []
    cells: list[str] = []
    at, line = 0, first_line
    start_line = line
    size = len(text)
    while at < size:
        end, value = -1, ""
        if text.startswith('"', at):
            end, value = _quoted(text, at, separator)
            if end < 0 and report is not None:
                report.warn(line, "CSV-QUOTE", "a quote that opens a cell here is not closed; it was kept as text. Double it.", "")
        if end >= 0:
            cells.append(value)
            line += text.count("\n", at, end)
            at = end
        else:
            stop = text.find("\n", at)
            stop = size if stop < 0 else stop
            until = text.find(separator, at, stop)
            end = stop if until < 0 else until
            cells.append(text[at:end])
            at = end
        if at < size and text.startswith(separator, at) and separator != "\n":
            at += len(separator)
            if at < size and text[at] != "\n":
                continue
            cells.append("")
        if at >= size or text[at] == "\n":
            rows.append((start_line, cells))
            cells = []
            at += 1
            line += 1
            start_line = line
    if cells:
        rows.append((start_line, cells))
    return rows


def _quoted(text: str, at: int, separator: str) -> tuple[int, str]:
    """(end, value) of the quoted cell at `at`; (-1, "") when its quote does not close before a separator or a line end."""
    limit = min(len(text), at + MAX_CELL)
    mark = at + 1
    while (mark := text.find('"', mark, limit)) >= 0:
        if text.startswith('""', mark):
            mark += 2
            continue
        after = mark + 1
        while after < limit and text[after] in " \r" and separator != " ":
            after += 1
        if after >= len(text) or text[after] == "\n" or text.startswith(separator, after):
            return after, text[at + 1 : mark].replace('""', '"')
        return -1, ""
    return -1, ""


class CsvReader:
    name = "csv"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        if not text.strip() or text.lstrip()[0:1] in "{[<" or text.startswith(("#separator:", "#html:")):
            return 0.0
        is_named = suffix(name) in ("csv", "tsv", "tab")
        found = _table(text[:20_000], None)
        if found is not None:
            return 0.9 if is_named else 0.8
        if not is_named:
            return 0.0
        return POSSIBLE if _columns(text[:20_000]) else UNLIKELY

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        text = decode(data, report)
        found = _table(text, report)
        if found is not None:
            header, layout, rows = found
            names = {cell.strip().casefold() for cell in header}
            if layout.unused:
                report.note(
                    rows[0][0] - 1 if rows else 1, "CSV-COLUMNS", f"columns that are not used: {', '.join(layout.unused)[:300]}.", ""
                )
            is_wayground = names >= _WAYGROUND
            if "key" in layout.fields and not (layout.options or layout.wrong):
                front, back = header[layout.fields["stem"]].strip(), header[layout.fields["key"]].strip()
                if front.casefold() not in ("question", "front", "term") or len(header) > 6:
                    report.warn(
                        1, "CSV-COLUMNS", f"the column {front!r} was taken as the question and {back!r} as the answer. Please check.", ""
                    )
            read_rows(rows, layout, report, positions=is_wayground)
            return report.close()
        separator = _columns(text)
        if separator is None:
            raise ContentError(f"{name}: no table of questions: rows differ in their columns, and no header names them. Add a header row.")
        rows = [row for row in split_rows(text, separator, report) if any(cell.strip() for cell in row[1])]
        layout = _guessed(rows)
        report.warn(
            1,
            "CSV-NO-HEADER",
            f"no header row names the columns; the first was taken as the question{', the last as the key' if layout.options else ''}. "
            "Please check, or add a header such as Question, Option 1, Option 2, Correct Answer.",
            "",
        )
        read_rows(rows, layout, report)
        return report.close()


def _table(text: str, report: Report | None) -> tuple[Sequence[str], Layout, list[Row]] | None:
    """(header, layout, rows below it) by the separator under which a header makes the most sense."""
    start = re.match(r"sep=(.)\n", text)
    offset = start.end() if start else 0
    best: tuple[int, str, int, Layout] | None = None
    head = text[offset : offset + 20_000]
    for separator in (start.group(1),) if start else SEPARATORS:
        for index, (_, cells) in enumerate(split_rows(head, separator)[:HEADER_ROWS]):
            layout = layout_of(cells) if len(cells) > 1 else None
            if layout is not None and (best is None or len(layout.fields) + len(layout.options) > best[0]):
                best = (len(layout.fields) + len(layout.options), separator, index, layout)
    if best is None:
        return None
    rows = split_rows(text[offset:], best[1], report, 2 if start else 1)
    return rows[best[2]][1], best[3], rows[best[2] + 1 :]


def _columns(text: str) -> str | None:
    """The separator that cuts nearly all lines into the same number of cells, or None."""
    for separator in ("\t", ";", "|", ","):
        counts = Counter(len(cells) for _, cells in split_rows(text[:100_000], separator) if any(cell.strip() for cell in cells))
        if not counts:
            continue
        width, often = counts.most_common(1)[0]
        if width > 1 and often >= 0.8 * counts.total():
            return separator
    return None


def _guessed(rows: Sequence[Row]) -> Layout:
    """Columns without names: question and answer, or question, choices and a key."""
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    if width < 4:
        return Layout(fields={"stem": 0, "key": 1, **({"explanation": 2} if width == 3 else {})})

    def fits(key: int, options: range) -> int:
        hits = 0
        for _, cells in rows[:200]:
            if len(cells) == width:
                texts = [cells[at].strip().casefold() for at in options]
                value = cells[key].strip()
                hits += value.casefold() in texts or keys_in(value, [chr(97 + i) for i in range(len(texts))]) is not None
        return hits

    candidates = [(fits(width - 1, range(1, width - 1)), width - 1, range(1, width - 1))]
    candidates.append((fits(width - 2, range(1, width - 2)), width - 2, range(1, width - 2)))
    candidates.append((fits(1, range(2, width)), 1, range(2, width)))
    _, key, options = max(candidates, key=lambda candidate: candidate[0])
    fields = {"stem": 0, "key": key}
    if key == width - 2:
        fields["explanation"] = width - 1
    return Layout(fields=fields, options=list(options))


# --- Quizlet --------------------------------------------------------------------------------------------------------

_CARD_MARKS: Final = ("\t", "---", "|", "::", "=>", " – ", " — ", " - ", ";", ",")


class QuizletReader:
    name = "quizlet"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or text.lstrip()[0:1] in "{[<#" or text.startswith("---\n"):
            return 0.0
        mark = _card_mark(lines)
        if mark is None:
            return 0.0
        shape = sum(line.count(mark) == 1 for line in lines) / len(lines)
        if mark in ("\t", "---"):
            return LIKELY if shape > 0.9 else POSSIBLE if shape > 0.5 else 0.0
        return 0.3 if shape > 0.9 and suffix(name) in ("txt", "") else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        lines = decode(data, report).split("\n")
        mark = _card_mark([line for line in lines if line.strip()])
        if mark is None:
            raise ContentError(f"{name}: no separator stands between terms and definitions on most lines. Export with a tab between them.")
        if mark != "\t":
            report.note(1, "CARD-SEPARATOR", f"{mark.strip()!r} was taken as the mark between term and definition.", "")
        cards: list[tuple[int, str, list[str]]] = []
        rejoined: list[int] = []
        for number, line in enumerate(lines, 1):
            if mark in line:
                term, _, definition = line.partition(mark)
                cards.append((number, term.strip(), [definition.strip()]))
            elif line.strip() and cards:
                cards[-1][2].append(line.strip())
                rejoined.append(number)
            elif line.strip():
                report.error(number, "CARD-STRAY", f"{line.strip()[:60]!r} has no separator and no card before it; left out.", "")
        if rejoined:
            shown = ", ".join(map(str, rejoined[:20]))
            report.warn(
                rejoined[0], "CARD-LINES", f"lines without a separator were added to the definition above them: {shown}. Check them.", ""
            )
        for number, term, definition in cards:
            with report.question(number, " ".join(term.split())[:80]):
                if not term:
                    raise Unusable("CARD-FRONT", "the card has no term. Write one before the separator.")
                body = body_of(plain_to_markdown(normalise_latex("\n".join(definition))))
                report.add(Question(id="", stem=Text.of(plain_to_markdown(normalise_latex(term))), body=body))
        return report.close()


def _card_mark(lines: Sequence[str]) -> str | None:
    sample = lines[:2_000]
    shares = [(sum(line.count(mark) == 1 for line in sample), mark) for mark in _CARD_MARKS]
    count, mark = max(shares, key=lambda share: share[0])  # of equals the first, which is the more telling mark
    return mark if count >= max(1, len(sample) * 0.4) else None


# --- Anki text ------------------------------------------------------------------------------------------------------

_ANKI_KEYS: Final = (
    *("separator", "html", "tags", "columns", "notetype", "deck", "notetype column", "deck column", "tags column", "guid column"),
    "if matches",
)
_ANKI_SEPARATORS: Final = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":", "space": " "}
_SOUND: Final = re.compile(r"\[sound:[^\]\n]{1,200}\]")


class AnkiTextReader:
    name = "anki-text"

    def sniff(self, data: bytes, name: str) -> float:
        return CERTAIN if re.match(rf"#(?:{'|'.join(_ANKI_KEYS)}):", peek(data).lstrip()) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        text = decode(data, report)
        settings: dict[str, str] = {}
        kept: list[str] = []
        for line in text.split("\n"):
            key, colon, value = line[1:].partition(":") if line.startswith("#") else ("", "", "")
            if colon and key.strip().lower() in _ANKI_KEYS and not any(kept):
                settings[key.strip().lower()] = value if key == "separator" else value.strip()
                kept.append("")
            else:
                kept.append("" if line.startswith("#") else line)
        named = settings.get("separator", "\t")
        separator = _ANKI_SEPARATORS.get(named.strip().lower(), named.strip() or "\t")
        rows = [row for row in split_rows("\n".join(kept), separator, report) if any(cell.strip() for cell in row[1])]
        reading = _AnkiReading(settings, separator, report)
        for line, cells in rows:
            with report.question(line):
                reading.note(cells)
        return report.close(About(title=settings.get("deck", "")))


class _AnkiReading:
    def __init__(self, settings: dict[str, str], separator: str, report: Report) -> None:
        self.report = report
        self.is_html = settings.get("html", "false").lower() == "true"
        self.tags = settings.get("tags", "").split()
        self.columns = [name.strip() for name in settings.get("columns", "").split(separator)] if "columns" in settings else []
        self.special = {
            kind: int(settings[f"{kind} column"]) - 1
            for kind in ("tags", "guid", "deck", "notetype")
            if settings.get(f"{kind} column", "").isdecimal() and 0 < int(settings[f"{kind} column"][:4]) < 1_000
        }

    def note(self, cells: Sequence[str]) -> None:
        def special(kind: str) -> str:
            at = self.special.get(kind, -1)
            return cells[at].strip() if 0 <= at < len(cells) else ""

        pictures = Pictures()
        fields = [(i, self._shown(cell, pictures)) for i, cell in enumerate(cells) if i not in self.special.values()]
        if any(_SOUND.search(cell) for cell in cells):
            self.report.note(0, "CARD-SOUND", "a sound of the card was left out.")
        front = fields[0][1] if fields else ""
        if not front:
            raise Unusable("CARD-FRONT", "the first field is empty. Write the question into it.")
        tags = (*self.tags, *special("tags").split(), *((deck,) if (deck := special("deck")) else ()))
        rest = [(i, text) for i, text in fields[1:] if text]
        if has_cloze(front):
            stem, body, hints = gaps_of(front)
            extra = rest
        else:
            if not rest:
                raise Unusable("CARD-BACK", "the card has nothing on its back. Write the answer.")
            stem, body, hints, extra = front, body_of(rest[0][1]), (), rest[1:]
        explanation = "\n".join(f"{self._column(i)}{text}" for i, text in extra)
        question = Question(
            id="",
            stem=Text.of(stem),
            body=body,
            explanation=text_or_none(explanation),
            hints=hints,
            tags=tuple(dict.fromkeys(tags)),
            media=pictures.media,
        )
        self.report.add(question, special("guid"))

    def _shown(self, cell: str, pictures: Pictures) -> str:
        text = _SOUND.sub("", cell).strip()
        return html_to_markdown(text, pictures, keep_newlines=True) if self.is_html else plain_to_markdown(normalise_latex(text))

    def _column(self, index: int) -> str:
        return f"{self.columns[index]}: " if index < len(self.columns) and self.columns[index] else ""
