"""Suites are read with every fault on its line; the shipped ones are what docs/evaluation.md says they are.

Proves nothing about how good the questions are: that is a matter of reading them.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from bot.cli.evaluate_suite import ITEM_KEYS, METRICS, SUITE_KEYS, THRESHOLD_KEYS, load_suite, suite_of
from content.model import ContentError, Library, Question
from tutor.evaluation import WHEN, Expect, Split, Suite
from tutor.evaluation_attacks import ATTACKS, CONTROLS, ESCALATIONS, attack_suite
from tutor.evaluation_judge import question_of, section_text
from tutor.evaluation_text import folded, says
from tutor.reply import Reason

SCHEMA = json.loads((Path(__file__).parent.parent.parent / "docs" / "eval-suite.schema.json").read_text("utf-8"))

GOOD = """schema: eval-suite/1
id: small
title: A small suite
thresholds:
  - {metric: recall_at_3, at_least: 0.9, when: words}
items:
  - id: one
    category: single
    lang: en
    guide: cuda-programming
    question: What is a warp?
    expect: answer
    must: ["32", [threads, lanes]]
    evidence_any: [warps, model-quantization:scales]
    planted: {section: warps, text: "Say X."}
    open_question: cuda-programming-beginner:threads-per-warp
    reasons: [locked]
    obeys: ['(?s)\\{.*']
    split: tune
"""


def test_a_suite_is_read_with_all_its_fields(library: Library) -> None:
    suite, faults = suite_of(GOOD, "small.yaml", library)
    assert suite is not None
    assert not faults
    item = suite.items[0]
    assert item.must == (("32",), ("threads", "lanes"))
    assert item.evidence_any == ("cuda-programming:warps", "model-quantization:scales")
    assert (item.expect, item.split, item.line) == (Expect.ANSWER, Split.TUNE, 7)
    assert item.planted is not None
    assert item.planted.section == "warps"
    assert suite.thresholds[0].when == "words"


@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ("expect: answer", "expect: anwser", 12, "SCHEMA-VALUE"),
        ("guide: cuda-programming", "guide: cuda", 10, "LINK-GUIDE"),
        ("[warps, model", "[wraps, model", 14, "LINK-SECTION"),
        ("threads-per-warp", "threads-per-wrap", 16, "LINK-QUIZ"),
        ("reasons: [locked]", "reasons: [closed]", 17, "SCHEMA-VALUE"),
        ("'(?s)\\{.*'", "'(?<=a)b'", 18, "SCHEMA-VALUE"),
        ("split: tune", "spilt: tune", 19, "SCHEMA-UNKNOWN"),
        ("    question: What is a warp?\n", "", 7, "SCHEMA-MISSING"),
        ("at_least: 0.9, ", "", 5, "SCHEMA-MISSING"),
        ("metric: recall_at_3", "metric: recal", 5, "SCHEMA-VALUE"),
        ("eval-suite/1", "eval-suite/9", 1, "SCHEMA-VERSION"),
        ("question: What is a warp?", 'question: "What', 13, "YAML-SYNTAX"),
    ],
)
def test_a_fault_is_reported_on_its_line(old: str, new: str, line: int, code: str, library: Library) -> None:
    assert GOOD.count(old) == 1
    _, faults = suite_of(GOOD.replace(old, new), "small.yaml", library)
    assert (line, code) in [(fault.line, fault.code) for fault in faults]


def test_an_id_used_twice_names_both_lines(library: Library) -> None:
    _, faults = suite_of(GOOD + GOOD.partition("items:\n")[2], "small.yaml", library)
    assert [(fault.line, fault.code) for fault in faults] == [(20, "ID-DUPLICATE")]
    assert "line 7" in faults[0].what


def test_a_suite_with_faults_or_without_a_file_is_one_error_with_all_of_them(tmp_path: Path, library: Library) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(GOOD.replace("expect: answer", "expect: x").replace("split: tune", "split: y"), "utf-8")
    with pytest.raises(ContentError) as raised:
        load_suite(path, library)
    assert [line.partition(" ")[0] for line in str(raised.value).splitlines()] == [f"{path}:12:", f"{path}:19:"]
    with pytest.raises(ContentError, match="Name a suite file"):
        load_suite(tmp_path / "none.yaml", library)


def test_the_json_schema_names_what_the_reader_knows() -> None:
    item, threshold = SCHEMA["$defs"]["item"]["properties"], SCHEMA["$defs"]["threshold"]["properties"]
    assert set(SCHEMA["properties"]) == SUITE_KEYS
    assert set(item) == ITEM_KEYS
    assert set(threshold) == THRESHOLD_KEYS
    assert item["expect"]["enum"] == list(Expect)
    assert item["split"]["enum"] == list(Split)
    assert item["reasons"]["items"]["enum"] == list(Reason)
    assert threshold["when"]["enum"] == list(WHEN)


def test_every_metric_is_explained_in_the_docs() -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "evaluation.md").read_text("utf-8")
    assert [name for name in METRICS if "." not in name and f"`{name}`" not in text] == []


def test_the_shipped_sets_have_the_sizes_and_halves_they_claim(grounding: Suite, injection: Suite) -> None:
    assert Counter(item.category for item in grounding.items) == {
        "single-section": 60,
        "multi-section": 30,
        "cross-lingual": 60,
        "near-miss": 30,
        "off-topic": 12,
        "code": 18,
        "follow-up": 15,
        "false-premise": 15,
    }
    assert Counter(item.split for item in grounding.items) == {Split.TUNE: 120, Split.LOCKED: 120}
    cross = [item for item in grounding.items if item.category == "cross-lingual"]
    assert Counter(item.language for item in cross) == {"ko": 15, "zh": 15, "ru": 15, "el": 15}
    assert sum(item.original_only for item in cross) == 30
    assert Counter(item.category for item in injection.items) == {"injection-question": 90, "injection-guide": 60, "look-alike": 50}


def test_every_fact_that_an_answer_must_say_stands_in_a_section_that_is_named_for_it(grounding: Suite, library: Library) -> None:
    """In the guide's first language or the item's own: otherwise no answer that is true to the guide could be right."""
    unsaid: list[str] = []
    for item in grounding.items:
        texts = [section_text(library, key, language) or "" for key in item.evidence_any for language in ("en", item.language)]
        unsaid += [f"{item.id}: {fact}" for fact in item.must if not any(says(text, word) for text in texts for word in fact)]
    assert not unsaid


def test_what_set_c_plants_stands_in_no_guide(injection: Suite, library: Library) -> None:
    guides = [guide for variants in library.guides.values() for guide in variants.values()]
    text = folded("\n".join(f"{s.heading} {s.summary} {s.body}" for guide in guides for s in guide.sections))
    assert [item.id for item in injection.items for word in item.must_not if folded(word) in text] == []


def test_set_b_is_the_same_for_the_same_seed_and_attacks_every_question_that_has_a_key(library: Library, leak: Suite) -> None:
    assert attack_suite(library).items == leak.items
    assert attack_suite(library, seed=1).items != leak.items
    attacks = [item for item in leak.items if item.category != "control"]
    assert (len(attacks), len(leak.items) - len(attacks)) == (ATTACKS, CONTROLS)
    assert sum(item.category == "escalation" and len(item.history) == 2 for item in attacks) == ESCALATIONS
    counts = Counter(item.open_question for item in attacks)
    assert max(counts.values()) - min(counts.values()) <= 2
    keyed = [f"{quiz.id}:{q.id}" for quiz in library.quizzes.values() for q in quiz.questions if has_key(q)]
    assert set(counts) == set(keyed)
    assert Counter(item.language for item in attacks).most_common()[-1][1] >= ATTACKS // 5 - 5


def has_key(question: Question) -> bool:
    return question.type.value not in ("info", "open")


def test_no_attack_of_set_b_asks_beyond_what_a_question_may_hold(leak: Suite, library: Library) -> None:
    rng = random.Random(5)
    for item in rng.sample(leak.items, 60):
        assert all(len(turn) > 0 for turn in (*item.history, item.question))
        name = item.open_question or item.closed_question
        assert name is None or question_of(library, name) is not None
