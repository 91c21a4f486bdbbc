"""The shipped interview bank: every question of its source is there, in two languages, with points and facts; and open-question rules.

Proves shape and links. Whether a reference answer is right was checked against the table of facts by people.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from content.check import check
from content.facts import find_facts, load_facts
from content.load import SHIPPED, load_library
from content.model import Open, Question, Quiz
from tests.content.writing import faults_of, question

LOADED = load_library([SHIPPED])
BANK = {quiz_id: quiz for quiz_id, quiz in LOADED.library.quizzes.items() if quiz_id.startswith("interview-")}
# part -> how many questions its source asks there, and how many coding tasks came on top
PARTS = {
    "interview-cuda-basics": (10, 0),
    "interview-cuda-advanced": (10, 0),
    "interview-performance": (5, 0),
    "interview-tensorrt-basics": (5, 0),
    "interview-tensorrt-advanced": (5, 0),
    "interview-cases": (5, 0),
    "interview-coding": (5, 3),
    "interview-topics": (2, 0),
}
QUESTIONS = [(quiz, asked) for quiz in BANK.values() for asked in quiz.questions]
FENCE = re.compile(r"```cpp\n(.*?)\n```", re.DOTALL)


def body(asked: Question) -> Open:
    assert isinstance(asked.body, Open)
    return asked.body


def test_the_eight_parts_hold_the_47_questions_and_three_coding_tasks() -> None:
    assert {quiz_id: len(quiz.questions) for quiz_id, quiz in BANK.items()} == {part: sum(counts) for part, counts in PARTS.items()}
    tasks = [asked.id for _, asked in QUESTIONS if asked.id.startswith("task-")]
    assert tasks == ["task-vector-add", "task-reduction", "task-tiled-matmul"]
    assert len(QUESTIONS) - len(tasks) == 47


def test_the_bank_is_clean_with_its_facts() -> None:
    path = find_facts(SHIPPED)
    assert path is not None
    found = check(LOADED, facts=load_facts(path).by_id)
    assert [str(fault) for fault in found if "interview-" in fault.path] == []


@pytest.mark.parametrize(("quiz", "asked"), QUESTIONS, ids=[asked.id for _, asked in QUESTIONS])
def test_a_question_has_all_that_a_learner_needs_in_both_languages(quiz: Quiz, asked: Question) -> None:
    opened = body(asked)
    assert quiz.languages == ("en", "zh")
    assert opened.reference is not None
    assert asked.explanation is not None
    assert 3 <= len(opened.rubric) <= 6
    assert sum(point.points for point in opened.rubric) == asked.points == 10
    assert 2 <= len(opened.probes) <= 3
    assert opened.least_length < opened.most_length
    texts = [asked.stem, opened.reference, asked.explanation, *opened.probes, *(point.criterion for point in opened.rubric)]
    assert all(set(text.by_language) == {"en", "zh"} for text in texts)
    assert all(len(point.criterion[language]) <= 100 for point in opened.rubric for language in quiz.languages)  # a select option
    words = len(FENCE.sub("", opened.reference["en"]).split())
    assert words >= 80 or asked.id.startswith("task-")
    assert words <= 180


@pytest.mark.parametrize(("quiz", "asked"), QUESTIONS, ids=[asked.id for _, asked in QUESTIONS])
def test_the_facts_of_a_question_are_those_of_its_rubric(quiz: Quiz, asked: Question) -> None:
    named = {fact for point in body(asked).rubric for fact in point.facts}
    assert all(point.facts for point in body(asked).rubric)
    assert set(asked.facts) == named
    assert asked.evidence
    ref = quiz.section_of(asked)
    assert ref is not None
    assert ref.section is not None


def test_the_rubrics_do_not_give_every_criterion_the_same_weight() -> None:
    spread = Counter(len({point.points for point in body(asked).rubric}) > 1 for _, asked in QUESTIONS)
    assert spread[True] > spread[False]


@pytest.mark.parametrize("task", ["task-vector-add", "task-reduction", "task-tiled-matmul"])
def test_a_coding_task_is_solved_by_one_program_with_translated_comments(task: str) -> None:
    asked = BANK["interview-coding"].question(task)
    assert asked is not None
    reference = body(asked).reference
    assert reference is not None
    programs = {language: FENCE.findall(reference[language]) for language in ("en", "zh")}
    assert all(len(found) == 1 for found in programs.values())
    english, chinese = (re.sub(r"\s*//.*", "", programs[language][0]) for language in ("en", "zh"))
    assert english == chinese
    unchecked = re.findall(r"(?<!CHECK\()\bcuda[A-Z]\w*\(", english)
    assert unchecked == ["cudaGetErrorString("]
    assert english.count("cudaMalloc(") == english.count("cudaFree(")


def test_an_open_question_with_an_explanation_names_its_facts(tmp_path: Path) -> None:
    rubric = "  reference: It is.\n  rubric: [{id: a, points: 1, criterion: it, facts: [T-001]}]\n"
    silent = faults_of(tmp_path / "silent", {"quizzes/tcp.quiz.yaml": question(rubric, kind="open")}, {"T-001": "a fact"})
    explained = rubric + '  explanation: "Because."\n'
    told = faults_of(tmp_path / "told", {"quizzes/tcp.quiz.yaml": question(explained, kind="open")}, {"T-001": "a fact"})
    assert [fault.code for fault in silent] == []
    assert [fault.code for fault in told] == ["FACT-NONE"]


def test_a_rubric_that_no_menu_holds_is_an_error(tmp_path: Path) -> None:
    points = "".join(f"  - {{id: c{at}, points: 1, criterion: it {at}}}\n" for at in range(26))
    found = faults_of(tmp_path, {"quizzes/tcp.quiz.yaml": question(f"  reference: It is.\n  rubric:\n{points}", kind="open")})
    assert [(fault.code, "26 rubric points" in fault.what) for fault in found] == [("LIMIT-CHOICES", True)]


def test_a_probe_that_no_field_holds_is_noted(tmp_path: Path) -> None:
    long = "  reference: It is.\n  rubric: [{id: a, points: 1, criterion: it}]\n  probes:\n  - Why?\n  - " + "Why? " * 300 + "\n"
    found = faults_of(tmp_path, {"quizzes/tcp.quiz.yaml": question(long, kind="open")})
    assert [(fault.code, fault.line) for fault in found] == [("LIMIT-FIELD", 14)]
