"""Reports say what was found in the form that each reader wants, and count what a library holds per language."""

from __future__ import annotations

import json
from pathlib import Path

from content.check import check
from content.load import Loaded
from content.model import Fault, Severity
from content.report import counts, report_github, report_json, report_text, to_json
from tests.content.test_load import ALL_TYPES
from tests.content.test_rules import GUIDE_KO, KO
from tests.content.writing import SOUND, loaded

FAULTS = (
    Fault("a,b.yaml", 3, "QUIZ-KEY", "100% wrong:\nno key.", "Mark one.", Severity.ERROR),
    Fault("c.yaml", 1, "TIME-SHORT", "Too short.", "Allow 9 s.", Severity.WARNING),
    Fault("c.yaml", 2, "LIMIT-NAME", "Long.", "Shorten it.", Severity.NOTE),
)


def test_the_text_report_has_a_line_for_each_fault_and_one_of_totals() -> None:
    assert report_text(Loaded(), FAULTS[1:]).split("\n") == [
        "c.yaml:1: warning: Too short. Allow 9 s. [TIME-SHORT]",
        "c.yaml:2: note: Long. Shorten it. [LIMIT-NAME]",
        "0 guides, 0 quizzes, 0 questions, 0 courses: 0 errors, 1 warning, 1 note.",
    ]


def test_a_clean_library_says_what_it_holds(tmp_path: Path) -> None:
    found = loaded(tmp_path, dict(SOUND))
    assert report_text(found, check(found)) == "1 guide, 1 quiz, 1 question, 1 course: nothing to report."


def test_github_annotations_escape_what_the_command_syntax_uses() -> None:
    assert report_github(FAULTS).split("\n") == [
        "::error file=a%2Cb.yaml,line=3,title=QUIZ-KEY::100%25 wrong:%0Ano key. Mark one.",
        "::warning file=c.yaml,line=1,title=TIME-SHORT::Too short. Allow 9 s.",
        "::notice file=c.yaml,line=2,title=LIMIT-NAME::Long. Shorten it.",
    ]


def test_the_json_report_counts_guides_quizzes_and_questions_per_language(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        {**SOUND, "quizzes/tcp-basics.quiz.yaml": ALL_TYPES, "quizzes/tcp.ko.quiz.yaml": KO, "guides/tcp-guide.ko.md": GUIDE_KO},
    )
    report = json.loads(report_json(found, FAULTS))
    assert report == to_json(found, FAULTS)
    assert (report["ok"], report["counts"]) == (False, {"errors": 1, "warnings": 1, "notes": 1})
    assert (report["guides"], report["quizzes"], report["questions"], report["courses"]) == (1, 2, 10, 1)
    english, korean, chinese = (report["languages"][language] for language in ("en", "ko", "zh"))
    assert (english["guides"], english["quizzes"], english["questions"]) == (1, 2, 10)
    assert english["by_level"] == {"intermediate": 1, "beginner": 9}
    assert english["by_type"] == {
        "single": 2,
        "truefalse": 1,
        "multiple": 1,
        "short": 2,
        "open": 1,
        "order": 1,
        "match": 1,
        "info": 1,
    }
    assert english["by_level_and_type"]["intermediate"] == {"single": 1}
    assert (korean["guides"], korean["quizzes"], korean["questions"]) == (1, 1, 1)
    assert (chinese["guides"], chinese["questions"]) == (0, 4), "one stem in Chinese, three the same in every language"
    assert report["faults"][0] == {
        "path": "a,b.yaml",
        "line": 3,
        "code": "QUIZ-KEY",
        "severity": "error",
        "what": "100% wrong:\nno key.",
        "remedy": "Mark one.",
    }


def test_only_errors_make_a_report_not_ok() -> None:
    assert to_json(Loaded(), FAULTS[1:])["ok"] is True
    assert counts(FAULTS) == {"errors": 1, "warnings": 1, "notes": 1}
