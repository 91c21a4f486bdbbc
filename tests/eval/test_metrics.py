"""Counting: intervals, groups, thresholds, percentiles and the comparison of two runs, against values worked out by hand or published."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.eval.builders import item, shown
from tutor.evaluation import Outcome, Run, Setup, Split, Suite, Threshold
from tutor.evaluation_judge import Verdict
from tutor.evaluation_metrics import MEASURES, Rate, compared, mcnemar, missed, percentile, rates, refusal_f1, wilson
from tutor.evaluation_report import as_json, as_markdown, comparison_markdown

SETUP = Setup("s/1", "d", "quoting", None, embeddings=False)


def verdict(item_id: str, category: str = "c", **counts: tuple[float, int]) -> Verdict:
    return Verdict(item(id=item_id, category=category, split=Split.TUNE), counts)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 300, 0.0, 0.0127), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)],
)
def test_the_wilson_interval_is_the_published_one(hits: int, of: int, low: float, high: float) -> None:
    found = wilson(hits, of)
    assert found[0] == pytest.approx(low, abs=2e-4)
    assert found[1] == pytest.approx(high, abs=2e-4)


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_rate(hits: int, more: int) -> None:
    if hits + more:
        low, high = wilson(hits, hits + more)
        assert 0 <= low <= hits / (hits + more) + 1e-12
        assert hits / (hits + more) - 1e-12 <= high <= 1


def test_mcnemar_counts_only_items_on_which_the_runs_differ() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(5, 5) == 1.0
    assert mcnemar(0, 6) == pytest.approx(2 / 64)
    assert mcnemar(1, 9) == mcnemar(9, 1) == pytest.approx(2 * 11 / 1024)
    assert mcnemar(0, 2_000) < 1e-100


def test_counts_add_up_by_group() -> None:
    found = rates([verdict("a", key_facts=(1, 2)), verdict("b", "d", key_facts=(3, 3)), verdict("e", "d", refused=(0, 0))])
    assert found["all"]["key_facts"] == Rate(4, 5)
    assert found["category:d"]["key_facts"] == Rate(3, 3)
    assert found["split:tune"]["key_facts"] == Rate(4, 5)
    assert "refused" not in found["all"]


def test_the_f1_of_refusing_is_the_harmonic_mean() -> None:
    assert refusal_f1({"refused": Rate(1, 2), "refusal_precision": Rate(1, 1)}) == pytest.approx(2 / 3)
    assert refusal_f1({"refused": Rate(0, 2)}) is None
    assert refusal_f1({"refused": Rate(0, 2), "refusal_precision": Rate(0, 1)}) == 0.0


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = [0.4, 0.1, 0.3, 0.2]
    assert [percentile(values, share) for share in (0.5, 0.95, 0.0)] == [0.2, 0.4, 0.1]
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_a_threshold_is_asked_only_of_runs_and_groups_that_it_is_meant_for() -> None:
    thresholds = (
        Threshold("answered", at_least=0.9),
        Threshold("answered", at_least=0.9, when="model"),
        Threshold("answered", "category:none", at_least=0.9),
        Threshold("answered", at_least=0.9, least_items=3),
        Threshold("refused_falsely", at_most=0.5),
        Threshold("refused_falsely", at_most=0.4),
        Threshold("gate_s.p95", at_most=0.1),
    )
    verdicts = [verdict("a", answered=(1, 1), refused_falsely=(0, 1)), verdict("b", answered=(0, 1), refused_falsely=(1, 1))]
    run = Run(SETUP, {"a": Outcome("a", (shown(gate_s=0.2),)), "b": Outcome("b", (shown(gate_s=0.05),))})
    suite = Suite("s", 1, "S", (), thresholds)
    assert [(miss.threshold.metric, round(miss.value, 2)) for miss in missed(suite, run, rates(verdicts))] == [
        ("answered", 0.5), ("refused_falsely", 0.5), ("gate_s.p95", 0.2),
    ]  # fmt: skip
    everywhere = Run(Setup("s/1", "d", "quoting", None, embeddings=False, scope="all"), run.outcomes)
    assert not missed(suite, everywhere, rates(verdicts))


def test_two_runs_are_compared_on_the_items_that_both_have() -> None:
    first = [verdict(str(number), all_facts=(number < 3, 1), changed_numbers=(1, 2)) for number in range(10)]
    second = [verdict(str(number), all_facts=(number < 9, 1), changed_numbers=(0, 2)) for number in range(2, 12)]
    found = {one.measure: one for one in compared(first, second)}
    assert (found["all_facts"].only_first, found["all_facts"].only_second) == (0, 6)
    assert found["all_facts"].first == Rate(1, 8)
    assert found["all_facts"].p == pytest.approx(2 / 64)
    assert (found["changed_numbers"].only_first, found["changed_numbers"].only_second) == (0, 8)
    assert "| all_facts | 0.125 | 0.875 | 8 | 0 | 6 | 0.031 |" in comparison_markdown(list(found.values()), "a", "b")


def test_the_report_has_every_figure_and_nothing_that_would_ping() -> None:
    asked = item(id="a", question="@everyone, when?")
    found = [Verdict(asked, {"answered": (0, 1), "recall_at_3": (1, 1)}, ("said: @here",))]
    run = Run(SETUP, {"a": Outcome("a", (shown("x"),))})
    suite = Suite("s", 1, "A suite", (asked,), (Threshold("answered", at_least=0.5),))
    text = as_markdown(suite, run, found)
    assert "| answered | 0.000 | 0.000-0.793 | 1 |" in text
    assert "1 of 1 thresholds are missed" in text
    assert "@" not in text
    assert "answered" not in as_markdown(suite, run, found, retrieval_only=True).partition("thresholds")[0]
    data = as_json(suite, run, found)
    assert data["metrics"]["all"]["answered"]["hits"] == 0
    assert data["outcomes"][0]["findings"] == ["said: @here"]
    assert math.isclose(data["metrics"]["all"]["recall_at_3"]["value"], 1.0)


def test_every_measure_says_what_it_is() -> None:
    assert all(text for text, _ in MEASURES.values())
