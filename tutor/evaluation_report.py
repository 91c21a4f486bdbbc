"""A run as Markdown for people and as JSON for programs. Says what it was made with, and lists what failed by id.

It rounds for reading only: the JSON has the counts, so any figure here can be computed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tutor.evaluation import Run, Suite
from tutor.evaluation_judge import Verdict
from tutor.evaluation_metrics import MEASURES, Comparison, Missed, Rate, rates, refusal_f1, times
from tutor.evaluation_metrics import missed as thresholds_missed

BY_GROUP: Final = (
    "recall_at_3", "all_facts", "key_facts", "answered", "refused", "citation_precision", "unsupported", "language", "leaked", "injected",
)  # fmt: skip
FAILURES: Final = 60  # listed in the Markdown; the JSON has all

RETRIEVAL: Final = ("recall_at_1", "recall_at_3", "reciprocal_rank")


def as_json(suite: Suite, run: Run, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Metrics, thresholds and every item with what was shown. Stable names (docs/evaluation.md)."""
    by_group = rates(verdicts)
    return {
        **run.setup.to_json(),
        "items": len(verdicts),
        "metrics": {group: {name: rate.to_json() for name, rate in found.items()} for group, found in by_group.items()},
        "refusal_f1": refusal_f1(by_group.get("all", {})),
        "times": times(run),
        "missed": [str(missed) for missed in thresholds_missed(suite, run, by_group)],
        "outcomes": [
            {
                **run.outcomes[verdict.item.id].to_json(),
                "category": verdict.item.category,
                "lang": verdict.item.language,
                "counts": {name: [float(hits), of] for name, (hits, of) in verdict.counts.items()},
                "findings": list(verdict.findings),
            }
            for verdict in verdicts
        ],
    }


def as_markdown(suite: Suite, run: Run, verdicts: Sequence[Verdict], *, retrieval_only: bool = False) -> str:
    by_group = rates(verdicts)
    setup = run.setup
    lines = [
        f"# {suite.title}",
        "",
        f"Suite `{suite.id}` version {suite.version}, {len(verdicts)} items"
        + (f" of the half `{setup.split}`" if setup.split else "")
        + f"; engine `{setup.engine}`"
        + (f" with {setup.model}" if setup.model else "")
        + f"; embeddings {'on' if setup.embeddings else 'off'}; scope {setup.scope}; {setup.at or 'no date'}; {setup.machine}.",
        "",
    ]
    shown = [name for name in MEASURES if name in by_group.get("all", {}) and (not retrieval_only or name in RETRIEVAL)]
    lines += ["| measure | value | 95 % | n | what it says |", "| --- | --- | --- | --- | --- |"]
    lines += [_row(name, by_group["all"][name]) for name in shown]
    if not retrieval_only and (f1 := refusal_f1(by_group.get("all", {}))) is not None:
        lines.append(f"| refusal_f1 | {f1:.3f} | | | of refused and refusal_precision |")
    columns = [name for name in (RETRIEVAL if retrieval_only else BY_GROUP) if name in shown]
    for kind in ("category", "lang"):
        lines += ["", *_table(kind, by_group, columns)]
    lines += ["", *_times(times(run)), "", *_thresholds(suite, run, thresholds_missed(suite, run, by_group))]
    if not retrieval_only:
        lines += ["", *_failures(verdicts)]
    return "\n".join(lines) + "\n"


def _row(name: str, rate: Rate) -> str:
    low, high = rate.interval
    return f"| {name} | {rate.value:.3f} | {low:.3f}-{high:.3f} | {rate.of} | {MEASURES[name][0]} |"


def _table(kind: str, by_group: Mapping[str, Mapping[str, Rate]], columns: Sequence[str]) -> list[str]:
    groups = [group for group in by_group if group.startswith(f"{kind}:")]
    lines = [f"| {kind} | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for group in groups:
        cells = (f"{rate.value:.2f} ({rate.of})" if (rate := by_group[group].get(name)) else "" for name in columns)
        lines.append(f"| {group.removeprefix(kind + ':')} | " + " | ".join(cells) + " |")
    return lines


def _times(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    lines = ["| time | p50 | p95 | slowest | n |", "| --- | --- | --- | --- | --- |"]
    for name, figures in found.items():
        cells = " | ".join(f"{figures[share]:.3f} s" for share in ("p50", "p95", "slowest"))
        lines.append(f"| {name.removesuffix('_s')} | {cells} | {figures['of']:.0f} |")
    return lines


def _thresholds(suite: Suite, run: Run, missed: Sequence[Missed]) -> list[str]:
    asked = sum(run.setup.fits(threshold.when) for threshold in suite.thresholds)
    if not asked:
        return ["The suite names no threshold for such a run."]
    if not missed:
        return [f"All {asked} thresholds of the suite for such a run are reached, or had no items."]
    return [f"{len(missed)} of {asked} thresholds are missed:", "", *(f"- {one}" for one in missed)]


def _failures(verdicts: Sequence[Verdict]) -> list[str]:
    failed = [verdict for verdict in verdicts if verdict.findings]
    lines = [f"{len(failed)} items with findings" + (f", the first {FAILURES}:" if len(failed) > FAILURES else ":"), ""]
    for verdict in failed[:FAILURES]:
        question = verdict.item.question.replace("\n", " ")
        lines.append(f"- `{verdict.item.id}` {question[:100]!r}: {'; '.join(verdict.findings[:3])[:240]}".replace("@", "(at)"))
    return lines


def comparison_markdown(found: Sequence[Comparison], first: str, second: str) -> str:
    """Two runs on the same items; a small p says that the difference is hardly chance. Many rows are many chances to be wrong."""
    lines = [f"| measure | {first} | {second} | n | only first | only second | p |", "| --- |" + " --- |" * 6]
    lines += [
        f"| {one.measure} | {one.first.value:.3f} | {one.second.value:.3f} | {one.first.of} "
        f"| {one.only_first} | {one.only_second} | {one.p:.3f} |"
        for one in found
    ]
    return "\n".join(lines) + "\n"
