"""What the linter found, written down: for a terminal, as JSON, as GitHub annotations. Plain functions of values.

The JSON also counts what was loaded, per language, so that a library's completeness can be read off it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from content.load import Loaded
from content.model import NEUTRAL, Fault, Quiz, Severity

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def counts(faults: Sequence[Fault]) -> dict[str, int]:
    """How many of each severity: {"errors": …, "warnings": …, "notes": …}."""
    found = Counter(fault.severity for fault in faults)
    return {"errors": found[Severity.ERROR], "warnings": found[Severity.WARNING], "notes": found[Severity.NOTE]}


def report_text(loaded: Loaded, faults: Sequence[Fault]) -> str:
    """One line per fault, then one of totals: `path:line: what. What to do. [CODE]`."""
    library, found = loaded.library, counts(faults)
    questions = sum(len(quiz.questions) for quiz in library.quizzes.values())
    have = ", ".join(
        (
            _number(len(library.guides), "guide"),
            _number(len(library.quizzes), "quiz", "quizzes"),
            _number(questions, "question"),
            _number(len(library.courses), "course"),
        )
    )
    wrong = ", ".join((_number(found["errors"], "error"), _number(found["warnings"], "warning"), _number(found["notes"], "note")))
    return "\n".join((*map(str, faults), f"{have}: {wrong if faults else 'nothing to report'}."))


def _number(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def report_github(faults: Sequence[Fault]) -> str:
    """One workflow command per fault, which GitHub shows beside the line in a pull request."""
    return "\n".join(
        f"::{_GITHUB[fault.severity]} file={_property(fault.path)},line={fault.line},title={_property(fault.code)}"
        f"::{_data(f'{fault.what} {fault.remedy}')}"
        for fault in faults
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def report_json(loaded: Loaded, faults: Sequence[Fault]) -> str:
    return json.dumps(to_json(loaded, faults), ensure_ascii=False, indent=2)


def to_json(loaded: Loaded, faults: Sequence[Fault]) -> dict[str, Any]:
    """Faults, their counts, and what the library holds in each language.

    A question counts for a language when its stem is written in it, or is the same in all and the quiz lists the language.
    """
    library = loaded.library
    languages = list(
        dict.fromkeys(
            [language for quiz in library.quizzes.values() for language in quiz.languages]
            + [language for variants in library.guides.values() for language in variants]
        )
    )
    found = counts(faults)
    return {
        "ok": found["errors"] == 0,
        "counts": found,
        "guides": len(library.guides),
        "quizzes": len(library.quizzes),
        "questions": sum(len(quiz.questions) for quiz in library.quizzes.values()),
        "courses": len(library.courses),
        "languages": {language: _language(loaded, language) for language in languages},
        "faults": [
            {
                "path": fault.path,
                "line": fault.line,
                "code": fault.code,
                "severity": str(fault.severity),
                "what": fault.what,
                "remedy": fault.remedy,
            }
            for fault in faults
        ],
    }


def _language(loaded: Loaded, language: str) -> dict[str, Any]:
    library = loaded.library
    by_level: Counter[str] = Counter()
    by_type: Counter[str] = Counter()
    by_both: dict[str, Counter[str]] = {}
    quizzes = 0
    for quiz in library.quizzes.values():
        before = by_level.total()
        for question in quiz.questions:
            if _in_language(quiz, question.stem.by_language, language):
                by_level[quiz.level] += 1
                by_type[question.type] += 1
                by_both.setdefault(quiz.level, Counter())[question.type] += 1
        quizzes += by_level.total() > before
    return {
        "guides": sum(language in variants for variants in library.guides.values()),
        "quizzes": quizzes,
        "questions": by_level.total(),
        "by_level": dict(by_level),
        "by_type": {str(name): count for name, count in by_type.items()},
        "by_level_and_type": {level: {str(name): count for name, count in types.items()} for level, types in by_both.items()},
    }


def _in_language(quiz: Quiz, stem: Any, language: str) -> bool:
    return language in stem or (NEUTRAL in stem and language in quiz.languages)
