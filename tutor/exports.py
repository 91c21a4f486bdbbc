"""A round's results as files: CSV (one row per person), XLSX (summary, people, questions), JSON (everything).

All three are written from one `Report`, whose numbers are those of the board, so a file always adds up to what people saw.
Names are people's own: in CSV and XLSX a cell that a spreadsheet would run as a formula gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from content.model import Choices, Question
from tutor import grading
from tutor.grading import Arranged, Filled, Paired, Response, Selected, Verdict, Written
from tutor.live import NO_LIMIT, LiveRound
from tutor.live_repair import Repair
from tutor.scoring import Board, Standing
from tutor.statistics import QuestionFigures

FORMATS: Final = ("csv", "xlsx", "json")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_WIDEST: Final = 60  # characters of a column


@dataclass(frozen=True, slots=True)
class Report:
    round: LiveRound
    board: Board
    figures: tuple[QuestionFigures, ...]
    lost: dict[int, int]

    @property
    def title(self) -> str:
        return self.round.quiz.title[self.round.language]


def written(report: Report, format_: str) -> bytes:
    """The report as a file of this format ("csv", "xlsx", "json"); raises ValueError for another one."""
    match format_:
        case "csv":
            return csv_file(report)
        case "xlsx":
            return xlsx_file(report)
        case "json":
            return json_file(report)
        case _:
            raise ValueError(f"{format_!r} is not a format of a report; there is {', '.join(FORMATS)}")


def csv_file(report: Report) -> bytes:
    """UTF-8 with a byte order mark, which spreadsheets need to read other alphabets."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for row in _people(report):
        writer.writerow([_safe(cell) for cell in row])
    return ("\ufeff" + out.getvalue()).encode()


def xlsx_file(report: Report) -> bytes:
    from openpyxl import Workbook  # here, because it takes a third of a second that every start would pay

    book = Workbook()
    summary = cast("Any", book.active)
    summary.title = "Summary"
    _fill(summary, _summary(report))
    _fill(book.create_sheet("People"), _people(report))
    _fill(book.create_sheet("Questions"), _questions(report))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def json_file(report: Report) -> bytes:
    round_, board = report.round, report.board
    made = {
        "schema": "studyhall/live-report/1",
        "round": {
            "id": round_.id,
            "quiz": round_.quiz.id,
            "quiz_version": round_.quiz.version,
            "title": report.title,
            "language": round_.language,
            "guild_id": str(round_.guild_id),
            "channel_id": str(round_.channel_id),
            "host_id": str(round_.host_id),
            "created_at": round_.created_at.isoformat(),
            "ended_at": round_.ended_at.isoformat() if round_.ended_at else None,
            "scheme": round_.rules.scheme.value,
            "possible": board.possible,
        },
        "people": [_person(report, standing) for standing in board.standings],
        "teams": [{"team": team.team + 1, "place": team.place, "points": team.points, "members": team.members} for team in board.teams],
        "questions": [_question(report, figures) for figures in report.figures],
        "repairs": [_repair(repair) for repair in round_.repairs],
    }
    return json.dumps(made, ensure_ascii=False, indent=1).encode()


def _person(report: Report, standing: Standing) -> dict[str, Any]:
    seat = standing.seat
    return {
        "place": standing.place,
        "name": seat.name,
        "learner_id": str(seat.learner_id),
        "team": None if seat.team is None else seat.team + 1,
        "points": standing.points,
        "time_factor": None if seat.factor == NO_LIMIT else seat.factor,
        "answers": [
            {
                "question": report.round.quiz.questions[line.position].id,
                "answer": grading.to_json(line.response) if line.response else None,
                "first_vote": grading.to_json(line.first) if line.first else None,
                "verdict": line.verdict.value if line.verdict else None,
                "credit": line.credit,
                "points": line.points,
                "seconds": None if line.taken_s is None else round(line.taken_s, 3),
            }
            for line in standing.lines
        ],
    }


def _question(report: Report, figures: QuestionFigures) -> dict[str, Any]:
    return {
        "position": figures.position + 1,
        "id": figures.question.id,
        "stem": figures.question.stem[report.round.language],
        "void": figures.void,
        "repaired": figures.repaired,
        "answered": figures.answered,
        "missing": figures.missing,
        "right": figures.right,
        "partly": figures.partly,
        "wrong": figures.wrong,
        "difficulty": _rounded(figures.difficulty),
        "discrimination": _rounded(figures.discrimination),
        "median_seconds": _rounded(figures.median_s),
        "lost": figures.lost,
        "suspected_key": figures.suspected_key,
        "options": [
            {
                "id": option.id,
                "right": option.right,
                "count": option.count,
                "share": _rounded(option.share),
                "discrimination": _rounded(option.discrimination),
                "dead": option.dead,
            }
            for option in figures.options
        ],
    }


def _repair(repair: Repair) -> dict[str, Any]:
    return {
        "position": repair.position + 1,
        "fix": repair.fix.value,
        "ids": list(repair.ids),
        "text": repair.text,
        "by": str(repair.by),
        "at": repair.at.isoformat(),
    }


def _people(report: Report) -> list[list[Any]]:
    round_, board = report.round, report.board
    head: list[Any] = ["place", "name", "discord_id", "team", "points", "possible", "right", "partly", "wrong", "no_answer"]
    for position in board.positions:
        number = position + 1
        head += [f"q{number}_answer", f"q{number}_credit", f"q{number}_points", f"q{number}_seconds"]
    table = [head]
    for standing in board.standings:
        seat = standing.seat
        row: list[Any] = [
            standing.place,
            seat.name,
            str(seat.learner_id),  # as text: a spreadsheet keeps 15 digits of a number
            "" if seat.team is None else seat.team + 1,
            standing.points,
            board.possible,
            standing.count(Verdict.RIGHT),
            standing.count(Verdict.PARTLY),
            standing.count(Verdict.WRONG),
            standing.count(None),
        ]
        for line in standing.lines:
            question = round_.quiz.questions[line.position]
            answer = plain(question, line.response, round_.language) if line.response else ""
            seconds = "" if line.taken_s is None else round(line.taken_s, 3)
            row += [answer, line.credit if line.response else "", line.points, seconds]
        table.append(row)
    return table


def _questions(report: Report) -> list[list[Any]]:
    language = report.round.language
    table: list[list[Any]] = [
        "number id question answered no_answer right partly wrong difficulty discrimination median_seconds lost void repaired"
        " suspected_key dead_distractors distribution".split()
    ]
    for figures in report.figures:
        texts = _option_texts(figures.question, language)
        table.append(
            [
                figures.position + 1,
                figures.question.id,
                figures.question.stem[language],
                figures.answered,
                figures.missing,
                figures.right,
                figures.partly,
                figures.wrong,
                _rounded(figures.difficulty),
                _rounded(figures.discrimination),
                _rounded(figures.median_s),
                figures.lost,
                "yes" if figures.void else "",
                "yes" if figures.repaired else "",
                texts.get(figures.suspected_key, figures.suspected_key) if figures.suspected_key else "",
                "; ".join(texts.get(key, key) for key in figures.dead),
                "; ".join(f"{'*' if option.right else ''}{texts.get(option.id, option.id)}: {option.count}" for option in figures.options),
            ]
        )
    return table


def _summary(report: Report) -> list[list[Any]]:
    round_, board = report.round, report.board
    table: list[list[Any]] = [
        ["quiz", report.title],
        ["round", round_.id],
        ["started", round_.created_at.isoformat(timespec="seconds")],
        ["ended", round_.ended_at.isoformat(timespec="seconds") if round_.ended_at else ""],
        ["scoring", round_.rules.scheme.value],
        ["people", len(board.standings)],
        ["questions that count", len(board.positions)],
        ["possible points", board.possible],
        ["mean points", round(sum(standing.points for standing in board.standings) / len(board.standings), 3) if board.standings else ""],
        [],
    ]
    table += [["team", "place", "mean points", "members"]] if board.teams else []
    table += [[team.team + 1, team.place, team.points, team.members] for team in board.teams]
    if round_.repairs:
        table += [[], ["repaired question", "what", "now", "when"]]
        for repair in round_.repairs:
            table.append(
                [repair.position + 1, repair.fix.value, repair.text or ", ".join(repair.ids), repair.at.isoformat(timespec="seconds")]
            )
    return table


def _fill(sheet: Any, table: Sequence[Sequence[Any]]) -> None:
    """`sheet` is openpyxl's, which has no types."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    for row in table:
        sheet.append([_safe(cell) for cell in row])
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for index in range(1, sheet.max_column + 1):
        widest = max((len(str(row[index - 1])) for row in table if len(row) >= index), default=8)
        sheet.column_dimensions[get_column_letter(index)].width = min(_WIDEST, widest + 2)


def _safe(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _option_texts(question: Question, language: str) -> dict[str, str]:
    return {choice.id: choice.text[language] for choice in question.body.choices} if isinstance(question.body, Choices) else {}


def plain(question: Question, response: Response, language: str) -> str:
    """An answer in words, on one line."""
    match response:
        case Selected(ids):
            texts = _option_texts(question, language)
            return "; ".join(texts.get(key, key) for key in ids)
        case Written(text):
            return text
        case Filled(blanks):
            return "; ".join(f"{key}={value}" for key, value in blanks.items())
        case Arranged(ids):
            return " > ".join(ids)
        case Paired(pairs):
            return "; ".join(f"{left}={right}" for left, right in pairs.items())
