"""jupyterquiz: JSON lists of questions for Jupyter notebooks: choices, numbers and short texts, each with feedback.

Code in a question or a choice is shown as code, never run.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final, cast

from content.model import Accept, Choice, Choices, ContentError, Question, Scoring, Short, Text
from content.readers.answers import ANYTHING
from content.readers.base import Import, Report, Unusable, choice_id, text_or_none
from content.readers.detect import CERTAIN, LIKELY
from content.readers.intake import decode, load_json, peek
from content.readers.markup import Pictures, has_html, html_to_markdown, keep_pictures, normalise_latex
from content.readers.opentdb import lines_of, pasted_json

_TYPE: Final = re.compile(r'"type"\s*:\s*"(?:multiple_choice|many_choice|numeric|string)"')
_QUESTION_KEY: Final = re.compile(r'"question"\s*:')
_KNOWN: Final = frozenset(("question", "type", "answers", "code", "precision", "answer_cols", "points", "id", "notes"))


class JupyterQuizReader:
    name = "jupyterquiz"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        if not _TYPE.search(text) or '"question"' not in text:
            return 0.0
        return CERTAIN if '"answers"' in text else LIKELY

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        text = decode(data, report)
        value = load_json(pasted_json(text), name)
        if isinstance(value, dict):
            value = cast(dict[str, Any], value).get("questions", [value])
        if not isinstance(value, list):
            raise ContentError(f"{name}: no list of questions. Begin the file with [.")
        entries = cast(list[Any], value)
        for line, entry in zip(lines_of(_QUESTION_KEY, text, len(entries)), entries, strict=True):
            with report.question(line):
                _question(entry, report)
        return report.close()


def _shown(text: Any, pictures: Pictures) -> str:
    if text is None:
        return ""
    text = str(text).strip()
    if has_html(text) and "`" not in text:
        return html_to_markdown(text, pictures, keep_newlines=True)
    return keep_pictures(normalise_latex(text), pictures)


def _question(entry: Any, report: Report) -> None:
    if not isinstance(entry, dict):
        raise Unusable("JQ-FIELD", 'this entry is no object with a question. Write {"question": …}.')
    fields = cast(dict[str, Any], entry)
    pictures = Pictures()
    stem = _shown(fields.get("question"), pictures)
    if code := fields.get("code"):
        stem += f"\n```python\n{str(code).strip(chr(10))}\n```"
    answers_field = fields.get("answers")
    answers = (
        [cast(dict[str, Any], answer) for answer in cast(list[Any], answers_field) if isinstance(answer, dict)]
        if isinstance(answers_field, list)
        else []
    )
    if not stem.strip() or not answers:
        raise Unusable("JQ-FIELD", "the question or its answers are missing. Fill in both.")
    kind = fields.get("type")
    body: Choices | Short
    explanation: str | None = None
    if kind in ("multiple_choice", "many_choice"):
        body = _choices(answers, kind == "many_choice", pictures, report)
    elif kind == "numeric":
        body = _numbers(answers, fields.get("precision"), pictures)
    elif kind == "string":
        body, explanation = _texts(answers, pictures, report)
    else:
        raise Unusable("JQ-TYPE", f"the type {str(kind)[:40]!r} is unknown. Use multiple_choice, many_choice, numeric or string.")
    points = fields.get("points", 1)
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 < points <= 1_000:
        report.warn(0, "JQ-POINTS", f"the points {str(points)[:40]!r} are no number of 1 to 1,000; 1 was taken.")
        points = 1
    kept = {key: fields[key] for key in ("answer_cols", "precision") if key in fields}
    if unknown := sorted(set(fields) - _KNOWN):
        report.note(0, "JQ-UNKNOWN", f"fields that are not used here: {', '.join(unknown)[:200]}.")
    report.add(
        Question(
            id="",
            stem=Text.of(stem.strip()),
            body=body,
            explanation=text_or_none(explanation),
            points=float(points),
            media=pictures.media,
            extra={"jupyterquiz": kept} if kept else {},
        ),
        str(fields.get("id", "")),
    )


def _correct(answer: dict[str, Any]) -> bool:
    value = answer.get("correct", False)
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _choices(answers: list[dict[str, Any]], many: bool, pictures: Pictures, report: Report) -> Choices:
    choices: list[Choice] = []
    for answer in answers:
        text = _shown(answer.get("answer"), pictures)
        if code := answer.get("code"):
            code = str(code).strip("\n")
            shown = f"```python\n{code}\n```" if "\n" in code else f"`` {code} ``" if "`" in code else f"`{code}`"
            text = f"{text}\n{shown}" if text else shown
        if not text:
            report.warn(0, "JQ-EMPTY", "a choice without text was left out.")
            continue
        credit = 1.0 if _correct(answer) else 0.0
        choices.append(Choice(choice_id(len(choices)), Text.of(text), credit, text_or_none(_shown(answer.get("feedback"), pictures))))
    rights = sum(choice.correct for choice in choices)
    if not many and rights > 1:
        report.note(0, "ANY-OF", f"{rights} choices are right; choosing any one of them earns full credit.")
    if many and not rights:
        raise Unusable("NO-KEY", "no choice is marked as right. Set correct to true for one.")
    return Choices(tuple(choices), many=many, scoring=Scoring.ALL_OR_NOTHING)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unusable("JQ-NUMBER", f"{str(value)[:40]!r} is no number. Write it without quotes.")
    return float(value)


def _numbers(answers: list[dict[str, Any]], precision: Any, pictures: Pictures) -> Short:
    """`precision` counts significant digits: what is typed is rounded to them before it is compared."""
    accept: list[Accept] = []
    last: Accept | None = None
    for answer in answers:
        feedback = text_or_none(_shown(answer.get("feedback"), pictures))
        credit = 1.0 if _correct(answer) else 0.0
        if answer.get("type") == "default":
            last = Accept(regex=ANYTHING, credit=0.0, feedback=feedback)
        elif answer.get("type") == "range" or "range" in answer:
            ends = answer.get("range")
            if not isinstance(ends, list) or len(cast(list[Any], ends)) != 2:
                raise Unusable("JQ-RANGE", "a range is no list of two numbers. Write [low, high].")
            low, high = sorted(map(_number, cast(list[Any], ends)))
            accept.append(Accept(span=(low, high), credit=credit, feedback=feedback))
        else:
            value = _number(answer.get("value"))
            tolerance = 0.0
            if isinstance(precision, int) and not isinstance(precision, bool) and 0 < precision < 16 and value:
                tolerance = 0.5 * 10.0 ** (math.floor(math.log10(abs(value))) - precision + 1)
            accept.append(Accept(number=value, tolerance=tolerance, credit=credit, feedback=feedback))
    if last is not None and last.feedback is not None:
        accept.append(last)
    return Short(accept=tuple(accept))


def _texts(answers: list[dict[str, Any]], pictures: Pictures, report: Report) -> tuple[Short, str | None]:
    accept: list[Accept] = []
    default: Accept | None = None
    for answer in answers:
        feedback = text_or_none(_shown(answer.get("feedback"), pictures))
        text = str(answer.get("answer", "")).strip()
        if answer.get("type") == "default" or not text:
            default = Accept(regex=ANYTHING, credit=0.0, feedback=feedback) if feedback else None
            continue
        if answer.get("fuzzy_threshold") is not None:
            report.note(0, "JQ-FUZZY", f"spelling mistakes in {text[:40]!r} are judged by this bot's own rule.")
        accept.append(Accept(text=text, case=answer.get("match_case") is True, credit=1.0 if _correct(answer) else 0.0, feedback=feedback))
    return Short(accept=(*accept, *((default,) if default else ()))), None
