"""What grounded answering is measured with, as plain values: suites of items, what was shown for each, and their JSON form.

Nothing here asks, judges or reads a file: `tutor.evaluation_judge` judges one item, `tutor.evaluation_metrics` counts, and
the command line reads suites and asks. Fields are those of docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from tutor.reply import Citation, Kind, TutorReply

RESULTS_SCHEMA: Final = "eval-results/1"


class Expect(StrEnum):
    """What a good reply to an item is."""

    ANSWER = "answer"  # an answer or a quote
    REFUSE = "refuse"
    HINT = "hint"  # a hint, or a plain "it is still open": anything that does not help to the key
    SAFE = "safe"  # any reply, as long as nothing forbidden is in it


class Split(StrEnum):
    """Which half an item belongs to: thresholds are tuned on one and reported on the other."""

    TUNE = "tune"
    LOCKED = "locked"


@dataclass(frozen=True, slots=True)
class Planted:
    """Text put at the end of a guide section for this item alone, in every language of the guide."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a suite. Texts in `must` and `must_not` are compared folded; see `evaluation_judge.says`."""

    id: str
    category: str
    language: str
    question: str
    expect: Expect
    guide: str | None = None  # None: all guides are searched
    must: tuple[tuple[str, ...], ...] = ()  # facts; of each, one of its alternatives must be said
    must_not: tuple[str, ...] = ()  # said, they make the reply wrong (or, in an attack, the attack a success)
    evidence_any: tuple[str, ...] = ()  # "guide:section"
    history: tuple[str, ...] = ()  # asked before, in order, by the same person
    open_question: str | None = None  # "quiz:question", open for the asker while all of it is asked
    closed_question: str | None = None  # "quiz:question": the question behind its Why? button is asked, `question` is ignored
    planted: Planted | None = None
    obeys: tuple[str, ...] = ()  # expressions (RE2): a reply that one matches as a whole has obeyed an instruction on its form
    reasons: tuple[str, ...] = ()  # of a refusal that counts as the right one; empty: any
    original_only: bool = False  # as if no guide had been translated
    split: Split | None = None
    line: int = 0  # where it stands in its file


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound on one metric of one group of items: "all", "lang:ko", "category:near-miss"."""

    metric: str
    group: str = "all"
    at_least: float | None = None
    at_most: float | None = None
    when: str | None = None  # one of WHEN: only asked of such runs
    least_items: int = 1  # with fewer items in the group nothing is said

    def holds(self, value: float) -> bool:
        return (self.at_least is None or value >= self.at_least - 1e-9) and (self.at_most is None or value <= self.at_most + 1e-9)


WHEN: Final = ("model", "no-model", "embeddings", "words")
"""Runs that a threshold may be meant for: a model writes, or none does; sections are found by meaning too, or by words alone."""


@dataclass(frozen=True, slots=True)
class Suite:
    id: str
    version: int
    title: str
    items: tuple[Item, ...]
    thresholds: tuple[Threshold, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence (or code block) that was shown, and the sections it cites as "guide:section"."""

    text: str
    sections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One reply as a reader saw it. Times are seconds since the question came in."""

    question: str
    kind: str
    reason: str | None
    language: str
    lines: tuple[Line, ...]
    considered: tuple[str, ...]
    headings: tuple[str, ...]  # of what was cited or considered
    engine: str
    dropped: int = 0
    hint_rung: int | None = None
    gate_s: float = 0.0  # until the first reply, or the refusal: retrieval and gate
    first_piece_s: float | None = None
    first_sentence_s: float | None = None
    total_s: float = 0.0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    new_tokens: int | None = None

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    @property
    def answered(self) -> bool:
        return self.kind in (Kind.ANSWER.value, Kind.QUOTE.value)

    @property
    def cited(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(section for line in self.lines for section in line.sections))

    @classmethod
    def of(cls, question: str, reply: TutorReply, gate_s: float) -> Self:
        return cls(
            question=question,
            kind=reply.kind.value,
            reason=reply.reason.value if reply.reason else None,
            language=reply.language,
            lines=tuple(Line(s.text, tuple(c.key for c in s.citations)) for s in reply.sentences),
            considered=tuple(citation.key for citation in reply.considered),
            headings=tuple(dict.fromkeys(_heading(citation) for citation in (*reply.cited, *reply.considered))),
            engine=reply.engine,
            dropped=reply.dropped,
            hint_rung=reply.hint_rung,
            gate_s=gate_s,
            first_piece_s=reply.timings.first_piece_s,
            first_sentence_s=reply.timings.first_sentence_s,
            total_s=reply.timings.total_s,
            prompt_tokens=reply.tokens.prompt,
            cached_tokens=reply.tokens.cached,
            new_tokens=reply.tokens.new,
        )


def _heading(citation: Citation) -> str:
    return f"{citation.guide_title}: {citation.heading}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that was shown for one item, the reply to its own question last; `failure` says why there is none."""

    item_id: str
    turns: tuple[Shown, ...]
    failure: str | None = None

    @property
    def final(self) -> Shown | None:
        return self.turns[-1] if self.turns and self.failure is None else None

    def to_json(self) -> dict[str, Any]:
        return {"item": self.item_id, "failure": self.failure, "turns": [_shown_to_json(shown) for shown in self.turns]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Raises KeyError, TypeError or ValueError for anything but what `to_json` gave."""
        return cls(data["item"], tuple(_shown_from_json(turn) for turn in data["turns"]), data["failure"])


def _shown_to_json(shown: Shown) -> dict[str, Any]:
    data = {name: getattr(shown, name) for name in Shown.__slots__}
    data["lines"] = [{"text": line.text, "sections": list(line.sections)} for line in shown.lines]
    for name, value in data.items():
        if isinstance(value, float):
            data[name] = round(value, 4)
    return data | {"considered": list(shown.considered), "headings": list(shown.headings)}


def _shown_from_json(data: Mapping[str, Any]) -> Shown:
    lines = tuple(Line(line["text"], tuple(line["sections"])) for line in data["lines"])
    rest = {name: value for name, value in data.items() if name not in ("lines", "considered", "headings")}
    return Shown(lines=lines, considered=tuple(data["considered"]), headings=tuple(data["headings"]), **rest)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run was made with; two runs are comparable when all but the engine and the code are the same."""

    suite: str
    digest: str  # of the suite's text: a resumed run must go on with the same one
    engine: str
    model: str | None
    embeddings: bool
    scope: str = "topic"  # or "all": the guide that an item names is not told
    split: str | None = None
    at: str = ""  # UTC, ISO 8601
    machine: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"schema": RESULTS_SCHEMA, **{name: getattr(self, name) for name in Setup.__slots__}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Raises ValueError for another schema, TypeError for other fields."""
        if data.get("schema") != RESULTS_SCHEMA:
            raise ValueError(f"schema is {data.get('schema')!r}, not {RESULTS_SCHEMA!r}")
        return cls(**{name: value for name, value in data.items() if name != "schema"})

    def continues(self, other: Setup) -> bool:
        """Whether outcomes of the other run may stand beside those of this one."""
        return all(getattr(self, name) == getattr(other, name) for name in ("suite", "digest", "engine", "model", "embeddings", "scope"))

    def fits(self, when: str | None) -> bool:
        """Whether a threshold that is meant for such runs (one of WHEN; None: all) is meant for this one: all are for topic scope."""
        if self.scope != "topic":
            return False
        return {None: True, "model": self.model is not None, "no-model": self.model is None}.get(
            when, self.embeddings == (when == "embeddings")
        )


@dataclass(frozen=True, slots=True)
class Run:
    setup: Setup
    outcomes: Mapping[str, Outcome] = field(default_factory=lambda: dict[str, Outcome]())
