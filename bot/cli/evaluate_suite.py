"""Reads an evaluation suite (docs/evaluation.md): YAML -> `tutor.evaluation.Suite`, every fault with its line, none silently repaired.

It refuses what the content reader refuses (aliases, tags, a key twice), unknown keys, and items that name guides, sections
or questions which the library does not have.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from content.expressions import fault_of
from content.fields import Fields
from content.model import ContentError, Fault, Library, Severity
from content.yaml_source import ListNode, MapNode, Node, Source, parse
from tutor.evaluation import WHEN, Expect, Item, Planted, Split, Suite, Threshold
from tutor.evaluation_metrics import MEASURES, TIMES
from tutor.reply import Reason

SCHEMA: Final = "eval-suite/1"
MAX_BYTES: Final = 8_000_000  # far more than ten thousand items

SUITE_KEYS: Final = frozenset({"schema", "id", "version", "title", "thresholds", "items"})
THRESHOLD_KEYS: Final = frozenset({"metric", "group", "at_least", "at_most", "when", "least_items"})
ITEM_KEYS: Final = frozenset(
    "id category lang question guide expect must must_not evidence_any history open_question closed_question planted obeys reasons"
    " original_only split".split()
)
METRICS: Final = (*MEASURES, "refusal_f1", *(f"{time}.{share}" for time in TIMES for share in ("p50", "p95", "slowest")))


@dataclass(frozen=True, slots=True)
class LoadedSuite:
    suite: Suite
    digest: str  # SHA-256 of the file


def load_suite(path: Path, library: Library) -> LoadedSuite:
    """Raises ContentError with all faults, one a line, when the suite cannot be used."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ContentError(f"{path}: {error.strerror}. Name a suite file.") from error
    if len(data) > MAX_BYTES:
        raise ContentError(f"{path}: it has {len(data):,} bytes. A suite has at most {MAX_BYTES:,}.")
    suite, faults = suite_of(data.decode("utf-8", "replace"), str(path), library)
    errors = [fault for fault in faults if fault.severity is Severity.ERROR]
    if suite is None or errors:
        raise ContentError("\n".join(map(str, sorted(errors))))
    return LoadedSuite(suite, hashlib.sha256(data).hexdigest())


def suite_of(text: str, path: str, library: Library) -> tuple[Suite | None, list[Fault]]:
    source = Source(path, text)
    root = parse(source, items_key="items")
    if root is None:
        return None, source.faults
    return _SuiteReader(source, library).suite(root), source.faults


class _SuiteReader(Fields):
    def __init__(self, source: Source, library: Library) -> None:
        super().__init__(source)
        self._library = library

    def suite(self, root: Node) -> Suite | None:
        top = self.mapping(root, "the suite")
        if top is None:
            return None
        self.only(top, SUITE_KEYS, "a suite")
        schema = self.required(top, "schema", "The suite")
        if schema is not None and self.scalar(schema, "schema") != SCHEMA:
            self.add("SCHEMA-VERSION", schema, "schema is another one.", f"Write schema: {SCHEMA}.")
        suite_id = self.identifier(self.required(top, "id", "The suite"), "id")
        title = self.required(top, "title", "The suite")
        items = [item for node in self.items(top.entries.get("items"), "items") if (item := self._item(node)) is not None]
        self._twice(items)
        thresholds = [self._threshold(node) for node in self.items(top.entries.get("thresholds"), "thresholds")]
        return Suite(
            id=suite_id or "",
            version=self.integer(top.entries.get("version"), "version", 1, 1_000_000, 1),
            title=(self.words(title, "title") if title is not None else None) or "",
            items=tuple(items),
            thresholds=tuple(threshold for threshold in thresholds if threshold is not None),
        )

    def _twice(self, items: list[Item]) -> None:
        self.item = ""
        first: dict[str, int] = {}
        for item in items:
            if item.id in first:
                what = f"The item id {item.id!r} is used on line {first[item.id]} too."
                self.source.add_line("ID-DUPLICATE", item.line, what, "Give each item an id of its own.")
            first.setdefault(item.id, item.line)

    def _item(self, node: Node) -> Item | None:
        self.item = ""
        entry = self.mapping(node, "an item")
        if entry is None:
            return None
        errors = self.errors
        item_id = self.identifier(self.required(entry, "id", "The item"), "id")
        self.item = f"item {item_id!r}: " if item_id else ""
        self.only(entry, ITEM_KEYS, "an item")
        closed = self._question_name(entry, "closed_question")
        question = entry.entries.get("question") if closed else self.required(entry, "question", "The item")
        expect = self.one_of(self.required(entry, "expect", "The item"), "expect", tuple(Expect), Expect.ANSWER)
        guide = self._guide(entry)
        found = Item(
            id=item_id or "",
            category=self.identifier(self.required(entry, "category", "The item"), "category") or "",
            language=self.language(self.required(entry, "lang", "The item"), "lang") or "en",
            question=(self.words(question, "question") if question is not None else None) or "",
            expect=Expect(expect),
            guide=guide,
            must=self._facts(entry.entries.get("must")),
            must_not=self.names(entry.entries.get("must_not"), "must_not"),
            evidence_any=self._evidence(entry, guide),
            history=self.names(entry.entries.get("history"), "history"),
            open_question=self._question_name(entry, "open_question"),
            closed_question=closed,
            planted=self._planted(entry, guide),
            obeys=self._patterns(entry.entries.get("obeys")),
            reasons=tuple(self._word(child, "a reason", tuple(Reason)) for child in self.items(entry.entries.get("reasons"), "reasons")),
            original_only=self.truth(entry.entries.get("original_only"), "original_only", False),
            split=self._split(entry),
            line=self.source.line(node.at),
        )
        return found if self.errors == errors else None

    def _word(self, node: Node, what: str, known: tuple[str, ...]) -> str:
        return self.one_of(node, what, known, known[0])

    def _split(self, entry: MapNode) -> Split | None:
        node = entry.entries.get("split")
        return None if node is None else Split(self._word(node, "split", tuple(Split)))

    def _guide(self, entry: MapNode) -> str | None:
        node = entry.entries.get("guide")
        guide = self.identifier(node, "guide")
        if guide is not None and node is not None and guide not in self._library.guides:
            self.add("LINK-GUIDE", node, f"There is no guide {guide!r}.", f"Use one of: {', '.join(sorted(self._library.guides))}.")
            return None
        return guide

    def _evidence(self, entry: MapNode, guide: str | None) -> tuple[str, ...]:
        node = entry.entries.get("evidence_any")
        found: list[str] = []
        for ref in self.evidence(node):
            name, section = ref.guide or guide or "", ref.section or ""
            if not self._has_section(name, section):
                where = entry if node is None else node
                self.add("LINK-SECTION", where, f"There is no section {name}:{section}.", "Write guide:section, or a section of the guide.")
            found.append(f"{name}:{section}")
        return tuple(found)

    def _has_section(self, guide_id: str, section_id: str) -> bool:
        return any(guide.section(section_id) for guide in self._library.guides.get(guide_id, {}).values())

    def _facts(self, node: Node | None) -> tuple[tuple[str, ...], ...]:
        """A list of facts; each is a text, or a list of alternatives of which one is enough."""
        if node is None:
            return ()
        return tuple(
            self.names(child, "a fact") if isinstance(child, ListNode) else tuple(filter(None, [self.words(child, "a fact")]))
            for child in self.items(node, "must")
        )

    def _question_name(self, entry: MapNode, key: str) -> str | None:
        node = entry.entries.get(key)
        value = self.scalar(node, key) if node is not None else None
        if value is None or node is None:
            return None
        quiz_id, _, question_id = value.partition(":")
        quiz = self._library.quizzes.get(quiz_id)
        if quiz is None or quiz.question(question_id) is None:
            self.add("LINK-QUIZ", node, f"There is no question {value!r}.", "Write quiz:question.")
            return None
        return value

    def _planted(self, entry: MapNode, guide: str | None) -> Planted | None:
        node = entry.entries.get("planted")
        planted = self.mapping(node, "planted") if node is not None else None
        if planted is None:
            return None
        self.only(planted, {"section", "text"}, "planted")
        section = self.identifier(self.required(planted, "section", "planted"), "section")
        text = self.required(planted, "text", "planted")
        written = self.words(text, "text") if text is not None else None
        if guide is None or section is None or not self._has_section(guide, section):
            self.add("LINK-SECTION", planted, "planted names no section of the item's guide.", "Name a guide and one of its sections.")
            return None
        return Planted(section, written or "")

    def _patterns(self, node: Node | None) -> tuple[str, ...]:
        found: list[str] = []
        for child in self.items(node, "obeys") if node is not None else ():
            pattern = self.words(child, "a pattern")
            if pattern is None:
                continue
            if problem := fault_of(pattern):
                self.add("SCHEMA-VALUE", child, f"The pattern {pattern!r} is none: {problem}.", "Write a regular expression of RE2.")
                continue
            found.append(pattern)
        return tuple(found)

    def _threshold(self, node: Node) -> Threshold | None:
        self.item = ""
        entry = self.mapping(node, "a threshold")
        if entry is None:
            return None
        errors = self.errors
        self.only(entry, THRESHOLD_KEYS, "a threshold")
        metric = self.one_of(self.required(entry, "metric", "The threshold"), "metric", METRICS, METRICS[0])
        least, most, when = (entry.entries.get(key) for key in ("at_least", "at_most", "when"))
        if (least is None) == (most is None):
            self.add("SCHEMA-MISSING", entry, "A threshold has one bound.", "Write at_least or at_most.")
        group = entry.entries.get("group")
        found = Threshold(
            metric=metric,
            group=(self.scalar(group, "group") if group is not None else None) or "all",
            at_least=None if least is None else self.number(least, "at_least", 0.0, 1_000.0, 0.0),
            at_most=None if most is None else self.number(most, "at_most", 0.0, 1_000.0, 0.0),
            when=None if when is None else self.one_of(when, "when", WHEN, WHEN[0]),
            least_items=self.integer(entry.entries.get("least_items"), "least_items", 1, 1_000_000, 1),
        )
        return found if self.errors == errors else None
