"""YAML text as a small tree in which every value knows its place; nothing is resolved, constructed or looked up.

Scalars stay the text that the author wrote, so `no`, `007` and `12:30` reach the caller as they are. Refused, each with its
line: anchors, aliases, tags, keys that are not text, a key twice, several documents, nesting past MAX_DEPTH, more than
MAX_NODES values. The events of libyaml are read directly: composing PyYAML's own nodes takes nine times as long and
double the memory.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml import events

from content.model import Fault
from content.rules import RULES, Severity, fault

MAX_DEPTH: Final = 24  # the format itself needs ten
MAX_NODES: Final = 3_000_000  # ten thousand questions in five languages need about two million
MAX_FLOW_PROBLEMS: Final = 20  # questions that are cut out of one file before it is given up

NEWLINE = re.compile(r"\r\n?|\n")
_COMPLEX: Final = "\0key"  # stands for a key that is no text


class ScalarNode:
    __slots__ = ("at", "key_at", "style", "value")

    def __init__(self, value: str, at: int, key_at: int, style: str) -> None:
        self.value = value
        self.at = at  # character offset
        self.key_at = key_at  # of the key it stands under, else `at`
        self.style = style  # "" plain, otherwise the quote or block mark

    @property
    def plain(self) -> bool:
        return not self.style


class MapNode:
    __slots__ = ("at", "end", "entries", "key_at", "traps")

    def __init__(self, at: int, key_at: int) -> None:
        self.at = at
        self.key_at = key_at
        self.end = at
        self.entries: dict[str, Node] = {}
        self.traps: list[tuple[str, int]] | None = None  # plain keys that YAML 1.1 takes for a truth value


class ListNode:
    __slots__ = ("at", "end", "items", "key_at")

    def __init__(self, at: int, key_at: int) -> None:
        self.at = at
        self.key_at = key_at
        self.end = at
        self.items: list[Node] = []


Node = ScalarNode | MapNode | ListNode
KEY_TRAPS: Final = frozenset(
    word for base in ("yes", "no", "on", "off", "true", "false", "null") for word in (base, base.capitalize(), base.upper())
) | {"~"}


@dataclass(slots=True)
class Source:
    """One file's text, the faults found in it so far, and where in it each stands. `start` is where YAML begins in `full`."""

    path: str
    text: str
    full: str = ""
    start: int = 0
    faults: list[Fault] = field(default_factory=lambda: list[Fault]())
    errors: int = 0
    broken: list[int] = field(default_factory=lambda: list[int]())  # offsets of structural errors, for the item that holds them
    traps: list[tuple[int, str]] = field(default_factory=lambda: list[tuple[int, str]]())  # offset and text of what quotes would repair
    _newlines: list[int] | None = None

    def line(self, at: int) -> int:
        """The physical line of an offset, from 1."""
        if self._newlines is None:
            self._newlines = [found.end() for found in NEWLINE.finditer(self.full or self.text)]
        return bisect_right(self._newlines, at + self.start) + 1

    def add(self, code: str, at: int, what: str, remedy: str) -> None:
        self.add_line(code, self.line(at), what, remedy)

    def add_line(self, code: str, line: int, what: str, remedy: str) -> None:
        self.faults.append(fault(self.path, line, code, what, remedy))
        if RULES[code].severity is Severity.ERROR:
            self.errors += 1

    def breaks(self, code: str, at: int, what: str, remedy: str) -> None:
        self.broken.append(at)
        self.add(code, at, what, remedy)

    def broken_between(self, start: int, end: int) -> bool:
        return any(start <= at < end for at in self.broken)


class _Stopped(Exception):
    """The parse cannot go on. Offsets: where it stopped, and where what it was reading had begun."""

    def __init__(self, code: str, at: int, begun: int | None, what: str, remedy: str) -> None:
        super().__init__(what)
        self.code, self.at, self.begun, self.what, self.remedy = code, at, begun, what, remedy


def parse(source: Source, *, items_key: str = "") -> Node | None:
    """The tree of the first document, or None when there is none to use; every fault goes to `source`.

    With `items_key` ("questions"), a list item of that key whose text is not YAML is reported, left out, and the rest is
    read: one unclosed quote does not hide the other faults of the file.
    """
    text = source.text
    for attempt in range(MAX_FLOW_PROBLEMS + 1):
        kept = (len(source.faults), source.errors, len(source.broken))
        try:
            root = _tree(source, text)
            if root is None:
                source.add("YAML-SYNTAX", 0, "There is nothing here to read.", "Begin with schema: …")
            return root
        except _Stopped as stop:
            del source.faults[kept[0] :]
            source.errors = kept[1]
            del source.broken[kept[2] :]
            source.add(stop.code, stop.at, stop.what, stop.remedy)
            cut = _without_item(text, items_key, stop) if items_key and attempt < MAX_FLOW_PROBLEMS else None
            if cut is None:
                return None
            text = cut
    return None


def _without_item(text: str, key: str, stop: _Stopped) -> str | None:
    """`text` with the list item that holds the problem blanked out at the same length, or None when it is in no item."""
    head = re.search(rf"^{re.escape(key)}:[ \t]*(?:#.*)?\r?\n(?:[ \t]*(?:#.*)?\r?\n)*([ ]*)-[ \t]", text, re.MULTILINE)
    if head is None:
        return None
    starts = [found.start() for found in re.finditer(rf"^{head.group(1)}-(?=[ \t])", text, re.MULTILINE) if found.start() >= head.start(1)]
    for at in (stop.begun, stop.at):
        if at is None or at < starts[0]:
            continue
        index = bisect_right(starts, at) - 1
        begin = starts[index]
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        if not text[begin:end].strip():
            continue
        return text[:begin] + re.sub(r"[^\r\n]", " ", text[begin:end]) + text[end:]
    return None


def _tree(source: Source, text: str) -> Node | None:
    try:
        return _events(source, text)
    except yaml.MarkedYAMLError as error:
        mark, begun = error.problem_mark or error.context_mark, error.context_mark
        at = mark.index if mark is not None else 0
        if begun is not None and (at >= len(text) or "quoted scalar" in str(error.context)):
            at = begun.index  # what is not closed is found at the end of the file, and mended where it begins
        begun_at = begun.index if begun is not None else None
        raise _Stopped("YAML-SYNTAX", at, begun_at, _sentence(error, source, at, begun_at), _advice(error)) from None
    except yaml.reader.ReaderError as error:
        at = max(text.find(chr(error.character)), 0) if isinstance(error.character, int) else 0
        raise _Stopped("YAML-SYNTAX", at, None, "The text holds a character that YAML does not allow.", "Remove it.") from None
    except UnicodeError:
        raise _Stopped("YAML-SYNTAX", 0, None, "The text is not valid Unicode.", "Save it as UTF-8.") from None


def _sentence(error: yaml.MarkedYAMLError, source: Source, at: int, begun_at: int | None) -> str:
    context = error.context or ""
    if begun_at is not None and context and source.line(begun_at) != source.line(at):
        context += f" that begins on line {source.line(begun_at)}"
    return f"This is not YAML: {', '.join(part for part in (context, error.problem) if part)}."


def _advice(error: yaml.MarkedYAMLError) -> str:
    problem = f"{error.context} {error.problem}"
    if "quoted scalar" in problem:
        return "Close the quote that is opened here."
    if "mapping values are not allowed" in problem:
        return 'Quote a text that holds ": ".'
    if "flow" in problem:
        return 'Close the bracket, and quote texts inside {} and [] that hold ",", ":", "?" or brackets.'
    if "cannot start any token" in problem or "scanning an alias" in problem or "scanning an anchor" in problem:
        return "Quote a text that starts with *, &, %, @, ` or ?; indent with spaces, not tabs."
    return "Check the indentation and the quotes of this line and the one before."


def _events(source: Source, text: str) -> Node | None:
    # libyaml where PyYAML was built with it; without, the same events some ten times slower
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    get: Callable[[], Any] = loader(text).get_event
    root: Node | None = None
    stack: list[tuple[MapNode | ListNode, str | None, int]] = []
    into: MapNode | ListNode | None = None  # the container being filled; `entries` or `items` is its content
    entries: dict[str, Node] | None = None
    items: list[Node] | None = None
    key: str | None = None
    key_at = nodes = 0
    known: dict[str, str] = {}  # keys repeat: one string object each
    while True:
        event = get()
        kind = event.__class__
        if kind is events.ScalarEvent:
            at: int = event.start_mark.index
            value: str = event.value
            if event.anchor is not None or event.tag is not None:
                _refuse(source, event, at)
            if entries is not None:
                if key is None:
                    key, key_at = known.setdefault(value, value), at
                    if not event.style and key in KEY_TRAPS:
                        assert isinstance(into, MapNode)
                        into.traps = [*(into.traps or ()), (key, at)]
                    continue
                if key in entries:
                    _twice(source, key, key_at)
                elif key is not _COMPLEX:
                    entries[key] = ScalarNode(value, at, key_at, event.style or "")
                key = None
            elif items is not None:
                items.append(ScalarNode(value, at, at, event.style or ""))
            else:
                root = ScalarNode(value, at, at, event.style or "")
            nodes += 1
        elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
            at = event.start_mark.index
            if event.anchor is not None or event.tag is not None:
                _refuse(source, event, at)
            node: MapNode | ListNode
            begun_at = at if key is None else key_at
            node = MapNode(at, begun_at) if kind is events.MappingStartEvent else ListNode(at, begun_at)
            if into is None:
                root = node
            else:
                stack.append((into, _place(source, into, node, key, key_at), key_at))
            if len(stack) >= MAX_DEPTH:
                raise _Stopped("YAML-LIMIT", at, at, f"The nesting is deeper than {MAX_DEPTH} levels.", "Flatten it.")
            into, key = node, None
            entries, items = (node.entries, None) if isinstance(node, MapNode) else (None, node.items)
            nodes += 1
        elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
            assert into is not None
            into.end = event.end_mark.index
            if stack:
                into, key, key_at = stack.pop()
                entries, items = (into.entries, None) if isinstance(into, MapNode) else (None, into.items)
            else:
                into = entries = items = None
        elif kind is events.AliasEvent:
            at = event.start_mark.index
            source.breaks("YAML-ALIAS", at, f"The alias *{event.anchor} is refused.", "Write it out, or quote a text with *.")
            if entries is None:
                continue
            key, key_at = (_COMPLEX, at) if key is None else (None, key_at)
        elif kind is events.StreamEndEvent:
            return root
        elif kind is events.DocumentStartEvent and root is not None:
            at = event.start_mark.index
            source.add("YAML-SYNTAX", at, "A second document begins here and is not read.", "Make it a file of its own.")
            return root
        if nodes > MAX_NODES:
            raise _Stopped("YAML-LIMIT", 0, None, f"The file holds more than {MAX_NODES:,} values.", "Split it.")


def _place(source: Source, into: MapNode | ListNode, node: MapNode | ListNode, key: str | None, key_at: int) -> str | None:
    """Put a new container into the one around it; returns the key with which to go on there."""
    if isinstance(into, ListNode):
        into.items.append(node)
        return None
    if key is None:
        source.breaks("SCHEMA-TYPE", node.at, "A key must be text, not a list or map.", "Quote a text that starts with [, { or ?.")
        return _COMPLEX
    if key in into.entries:
        _twice(source, key, key_at)
    elif key is not _COMPLEX:
        into.entries[key] = node
    return None


def _twice(source: Source, key: str, at: int) -> None:
    source.breaks("YAML-DUPLICATE", at, f"The key {key!r} stands twice in one map.", "Remove or rename one of the two.")


def _refuse(source: Source, event: Any, at: int) -> None:
    if event.anchor is not None:
        source.breaks("YAML-ALIAS", at, f"The anchor &{event.anchor} is refused.", "Remove it, or quote a text that starts with &.")
    if event.tag is not None:
        source.breaks("YAML-ALIAS", at, f"The tag {event.tag!r} is refused.", "Remove it, or quote a text that starts with !.")
