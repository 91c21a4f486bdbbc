"""From verdicts to figures: rates with Wilson intervals by group, percentiles, thresholds, and two runs compared on the same items.

An interval takes the units counted (items, facts or sentences) as independent, which those of one reply are not quite: it is
a little too narrow for measures of sentences. No failure in n only shows a rate below 3/n (rule of three).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tutor.evaluation import Item, Run, Suite, Threshold
from tutor.evaluation_judge import Verdict

Z: Final = 1.96  # 95 %

MEASURES: Final[Mapping[str, tuple[str, bool | None]]] = {
    # name -> (what it says, whether more is better; None where neither is)
    "recall_at_1": ("the best section found is one that answers", True),
    "recall_at_3": ("one of the best three is", True),
    "reciprocal_rank": ("1 / rank of the first that answers, within three", True),
    "key_facts": ("facts said", True),
    "all_facts": ("all facts of an item said and nothing wrong", True),
    "answered": ("answered or quoted where that is expected", True),
    "refused_falsely": ("refused where an answer is expected", False),
    "refused": ("refused where that is expected (recall of refusing)", True),
    "refusal_precision": ("of the refusals, those that were expected", True),
    "right_reason": ("of expected refusals, those for an expected reason", True),
    "citation_precision": ("citations whose section supports the sentence", True),
    "citation_recall": ("sentences with a citation that supports them", True),
    "cites_evidence": ("answers that cite a section which answers", True),
    "unsupported": ("sentences shown that no cited section supports", False),
    "changed_numbers": ("sentences shown with a number, unit or name from nowhere", False),
    "language": ("in the asker's language, or a quote labelled with its own", True),
    "leaked": ("dialogues that give an open question's key away", False),
    "useful_hint": ("hint dialogues with a pointer, no leak and no threefold repeat", True),
    "injected": ("replies with a ping, link, control token, tag, planted word or the system prompt", False),
    "obeyed_format": ("replies in a form that an attacker ordered", False),
    "unanswered": ("questions without any reply", False),
    "reused_tokens": ("prompt tokens that the prefix cache held", None),
}
TIMES: Final = ("gate_s", "first_piece_s", "first_sentence_s", "total_s")


@dataclass(frozen=True, slots=True)
class Rate:
    """`value` = hits / of; `low` and `high` bound it at 95 %."""

    hits: float
    of: int

    @property
    def value(self) -> float:
        return self.hits / self.of

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.hits, self.of)

    def to_json(self) -> dict[str, Any]:
        low, high = self.interval
        return {"value": round(self.value, 4), "low": round(low, 4), "high": round(high, 4), "hits": round(self.hits, 3), "of": self.of}


@dataclass(frozen=True, slots=True)
class Missed:
    threshold: Threshold
    value: float
    of: int

    def __str__(self) -> str:
        bound = (
            f"at least {self.threshold.at_least:g}" if self.threshold.at_least is not None else f"at most {self.threshold.at_most or 0:g}"
        )
        return f"{self.threshold.metric} of {self.threshold.group} is {self.value:.3f} (n = {self.of}), wanted {bound}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measure of two runs on the same items: how many only one of them passed, and the exact two-sided p of that split."""

    measure: str
    first: Rate
    second: Rate
    only_first: int
    only_second: int
    p: float


def wilson(hits: float, of: int) -> tuple[float, float]:
    """The 95 % score interval of a rate (Wilson 1927)."""
    if of == 0:
        return 0.0, 1.0
    rate = hits / of
    centre = rate + Z * Z / (2 * of)
    spread = Z * math.sqrt(max(0.0, rate * (1 - rate) / of + Z * Z / (4 * of * of)))
    scale = 1 + Z * Z / of
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def groups_of(item: Item) -> tuple[str, ...]:
    found = ["all", f"category:{item.category}", f"lang:{item.language}"]
    if item.language != "en":
        found.append("lang:not-en")
    if item.split is not None:
        found.append(f"split:{item.split.value}")
    return tuple(found)


def rates(verdicts: Iterable[Verdict]) -> dict[str, dict[str, Rate]]:
    """Group -> measure -> rate."""
    sums: dict[str, dict[str, tuple[float, int]]] = {}
    for verdict in verdicts:
        for group in groups_of(verdict.item):
            into = sums.setdefault(group, {})
            for measure, (hits, of) in verdict.counts.items():
                if of:
                    so_far = into.get(measure, (0.0, 0))
                    into[measure] = (so_far[0] + hits, so_far[1] + of)
    return {group: {measure: Rate(*found) for measure, found in measures.items()} for group, measures in sums.items()}


def refusal_f1(found: Mapping[str, Rate]) -> float | None:
    """The harmonic mean of refusal precision and recall; None where nothing was to be refused or nothing was."""
    if "refused" not in found or "refusal_precision" not in found:
        return None
    recall, precision = found["refused"].value, found["refusal_precision"].value
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: a value that was measured. Raises ValueError for no values."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def times(run: Run) -> dict[str, dict[str, float]]:
    """Seconds: median, 95th percentile and slowest of each time, over the final replies that have it."""
    found: dict[str, dict[str, float]] = {}
    finals = [final for outcome in run.outcomes.values() if (final := outcome.final) is not None]
    for name in TIMES:
        values: list[float] = [value for final in finals if (value := getattr(final, name)) is not None]
        if values:
            found[name] = {"p50": percentile(values, 0.5), "p95": percentile(values, 0.95), "slowest": max(values), "of": len(values)}
    return found


def missed(suite: Suite, run: Run, by_group: Mapping[str, Mapping[str, Rate]]) -> list[Missed]:
    """The thresholds of the suite that this run does not reach; one on a group without items says nothing."""
    found: list[Missed] = []
    for threshold in suite.thresholds:
        if not run.setup.fits(threshold.when):
            continue
        value, of = _measured(threshold, run, by_group)
        if value is not None and of >= threshold.least_items and not threshold.holds(value):
            found.append(Missed(threshold, value, of))
    return found


def _measured(threshold: Threshold, run: Run, by_group: Mapping[str, Mapping[str, Rate]]) -> tuple[float | None, int]:
    name, _, share = threshold.metric.partition(".")
    if name in TIMES:
        figures = times(run).get(name)
        return (figures[share or "p95"], int(figures["of"])) if figures else (None, 0)
    group = by_group.get(threshold.group, {})
    if threshold.metric == "refusal_f1":
        return refusal_f1(group), group["refused"].of if "refused" in group else 0
    rate = group.get(threshold.metric)
    return (rate.value, rate.of) if rate else (None, 0)


def compared(first: Iterable[Verdict], second: Iterable[Verdict]) -> list[Comparison]:
    """Every measure that both runs have, on the items that both have it for. An item passes when it passes in full."""
    ours = {verdict.item.id: verdict.counts for verdict in first}
    theirs = {verdict.item.id: verdict.counts for verdict in second}
    found: list[Comparison] = []
    for measure, (_, more_is_better) in MEASURES.items():
        pairs = [
            (counts[measure], theirs[key][measure])
            for key, counts in ours.items()
            if measure in counts and measure in theirs.get(key, {}) and counts[measure][1] and theirs[key][measure][1]
        ]
        if not pairs or more_is_better is None:
            continue
        passes = [(_passes(a, more_is_better), _passes(b, more_is_better)) for a, b in pairs]
        only_first, only_second = sum(a and not b for a, b in passes), sum(b and not a for a, b in passes)
        rates_ = [Rate(sum(pair[side][0] for pair in pairs), sum(pair[side][1] for pair in pairs)) for side in (0, 1)]
        found.append(Comparison(measure, rates_[0], rates_[1], only_first, only_second, mcnemar(only_first, only_second)))
    return found


def _passes(counts: tuple[float, int], more_is_better: bool) -> bool:
    return counts[0] >= counts[1] if more_is_better else counts[0] == 0


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p of so uneven a split, were both runs equally good (binomial with one half)."""
    n, fewer = only_first + only_second, min(only_first, only_second)
    if n == 0:
        return 1.0
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(fewer + 1)) / 2**n)
