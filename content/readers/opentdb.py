"""OpenTDB: the JSON of the Open Trivia Database, as its API sends it or as people paste it into a file.

The texts are HTML-escaped, percent-encoded or base64, as the API was asked; all three are undone once. The data is
CC BY-SA 4.0, so the credit goes with the quiz.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from typing import Any, Final, cast
from urllib.parse import unquote

from content.model import Choices, ContentError, Question, Text, TrueFalse
from content.readers.base import About, Import, Report, Unusable, lettered
from content.readers.detect import CERTAIN
from content.readers.intake import decode, load_json, peek
from content.readers.labels import truth_in
from content.readers.markup import plain_to_markdown

_DIFFICULTY: Final = {"easy": 2, "medium": 3, "hard": 4}
_CODES: Final = {
    1: "the database had too few questions for the request",
    2: "the request held a wrong parameter",
    3: "the session token was unknown",
    4: "the session token had no questions left",
    5: "it was asked too often",
}
_BASE64_TYPES: Final = frozenset(("bXVsdGlwbGU=", "Ym9vbGVhbg=="))
_BEFORE_JSON: Final = re.compile(r"\s+|//[^\n]*|#[^\n]*|/\*(?:[^*]|\*(?!/)){0,5000}\*/")
_ASSIGNMENT: Final = re.compile(
    r"(?:export\s{1,9}default\s{1,9}|(?:export\s{1,9})?(?:const\s{1,9}|let\s{1,9}|var\s{1,9})?[\w.$]{1,60}\s{0,9}=\s{0,9})(?=[\[{])"
)
_QUESTION_KEY: Final = re.compile(r'"question"\s*:')


class OpenTdbReader:
    name = "opentdb"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        if '"incorrect_answers"' in text and '"correct_answer"' in text:
            return CERTAIN
        return 0.6 if '"response_code"' in text and '"results"' in text else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        text = decode(data, report)
        value = load_json(pasted_json(text), name)
        results: Any = value
        if isinstance(value, dict):
            document = cast(dict[str, Any], value)
            code = document.get("response_code", 0)
            if code:
                raise ContentError(f"{name}: OpenTDB answered code {code!r}: {_CODES.get(code, 'unknown')}. Ask it again.")
            results = document.get("results")
        if not isinstance(results, list):
            raise ContentError(f"{name}: no list of questions ('results'). Save the whole answer of the API.")
        entries = cast(list[Any], results)
        lines = lines_of(_QUESTION_KEY, text, len(entries))
        encoding = _encoding(entries)
        for line, entry in zip(lines, entries, strict=True):
            with report.question(line):
                _question(entry, encoding, report)
        about = About(title="", url="https://opentdb.com", author="Open Trivia Database", licence="CC-BY-SA-4.0")
        return report.close(about)


def pasted_json(text: str) -> str:
    """JSON out of a script or a saved page: comment lines and `name =` before it, `;` after it; lines keep their numbers."""
    at = 0
    while (skipped := _BEFORE_JSON.match(text, at)) is not None and skipped.end() > at:
        at = skipped.end()
    at = assigned.end() if (assigned := _ASSIGNMENT.match(text, at)) is not None else at
    if text[at : at + 1] not in ("[", "{"):
        return text
    end = max(text.rfind("]"), text.rfind("}")) + 1
    if text[end:].strip(" \t\r\n;"):
        end = len(text)
    return "\n" * text.count("\n", 0, at) + text[at:end]


def lines_of(key: re.Pattern[str], text: str, count: int) -> list[int]:
    """The physical line of each of `count` entries, found by a key that every one has; zeros where that does not work out."""
    lines: list[int] = []
    line, at = 1, 0
    for found in key.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        lines.append(line)
    return lines if len(lines) == count else [0] * count


def _encoding(entries: list[Any]) -> str:
    first = cast(dict[str, Any], entries[0]) if entries and isinstance(entries[0], dict) else {}
    if first.get("type") in _BASE64_TYPES:
        return "base64"
    stem = str(first.get("question", ""))
    return "url" if re.search(r"%[0-9A-F]{2}", stem) and " " not in stem else "html"


def _decoded(value: Any, encoding: str, what: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unusable("OPENTDB-FIELD", f"{what} is missing or no text. Export the questions again.")
    text = str(value)
    if encoding == "base64":
        try:
            return base64.b64decode(text, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError) as error:
            raise Unusable("OPENTDB-BASE64", f"{what} is not base64 as the other fields are. Export the questions again.") from error
    return unquote(text) if encoding == "url" else html.unescape(text)


def _question(entry: Any, encoding: str, report: Report) -> None:
    if not isinstance(entry, dict):
        raise Unusable("OPENTDB-FIELD", "this entry is no object with a question. Export the questions again.")
    fields = cast(dict[str, Any], entry)

    def text(name: str) -> str:
        return _decoded(fields.get(name), encoding, name).strip()

    stem = text("question")
    right = text("correct_answer")
    wrong_field = fields.get("incorrect_answers")
    if not stem or not right or not isinstance(wrong_field, list):
        raise Unusable("OPENTDB-FIELD", "question, correct_answer or incorrect_answers is empty. Export the questions again.")
    wrong = [_decoded(value, encoding, "incorrect_answers").strip() for value in cast(list[Any], wrong_field)]
    kind = text("type") if "type" in fields else "multiple"
    truth = truth_in(right)
    body: Choices | TrueFalse
    if truth is not None and (kind == "boolean" or ([truth_in(other) for other in wrong] == [not truth] and right in ("True", "False"))):
        body = TrueFalse(truth)
    else:
        body = Choices(lettered([plain_to_markdown(choice) for choice in (right, *wrong)], (0,)))
    level = text("difficulty") if "difficulty" in fields else "medium"
    category = text("category") if "category" in fields else ""
    if level not in _DIFFICULTY:
        report.warn(0, "OPENTDB-DIFFICULTY", f"the difficulty {level[:40]!r} is unknown; medium was taken.")
    report.add(
        Question(
            id="",
            stem=Text.of(plain_to_markdown(stem)),
            body=body,
            difficulty=_DIFFICULTY.get(level, 3),
            tags=(category,) if category else (),
        )
    )
