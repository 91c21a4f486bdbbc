"""Reads single fields of the native format: texts, numbers, ids, lists, references; each fault with its line.

A reader returns None (or the default) for what it had to report, and never raises; the caller compares `errors` before and
after an item to know whether the item can be used. Values are taken as written: only a field that holds a number or a
truth value looks at a scalar that way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Set
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from content.model import NEUTRAL, GuideRef, Text
from content.yaml_source import ListNode, MapNode, Node, ScalarNode, Source

MAX_TEXT: Final = 20_000  # characters; an embed holds 4,096, a guide section a few times that
MAX_ID: Final = 64  # a custom_id of 100 characters holds a round, a question and a choice

ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
LANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
FACT: Final = re.compile(r"[A-Z]{1,3}-[0-9]{1,5}[a-z]?")
_INTEGER = re.compile(r"[-+]?[0-9]{1,15}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?:[eE][-+]?[0-9]{1,3})?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_EXACT_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,14}[1-9])?")  # text that every reader gives back as it was
# what YAML 1.1 resolves to something other than text: null, truth, octal and sexagesimal numbers, dates, …
_TRAP = re.compile(
    r"~|null|Null|NULL|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"
    r"|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.[0-9_]+(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?|=|<<"
)
NULLS: Final = frozenset({"~", "null", "Null", "NULL"})
_TRAP_START = frozenset("~nNyYtTfFoO0123456789-+.=<")
_TRUTH = {"true": True, "false": False, "True": True, "False": False, "TRUE": True, "FALSE": False}


def is_trap(node: ScalarNode) -> bool:
    """Whether other YAML readers would not see this scalar as text."""
    value = node.value
    return not node.style and value[:1] in _TRAP_START and len(value) <= 40 and _TRAP.fullmatch(value) is not None


def similar(word: str, known: Iterable[str]) -> str:
    """`Did you mean 'stem'? ` or nothing."""
    found = _closest(word[:60], tuple(islice(known, 1_000)))
    return f"Did you mean {found!r}? " if found else ""


@lru_cache(maxsize=4_096)  # one misspelling in ten thousand questions is looked up once
def _closest(word: str, known: tuple[str, ...]) -> str | None:
    return next(iter(get_close_matches(word, known, n=1, cutoff=0.6)), None)


def _shown(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:39] + "…")


class Fields:
    """Reads the fields of one file's items. `item` names the item at hand in messages: "question 'syn': "."""

    def __init__(self, source: Source, languages: tuple[str, ...] = ()) -> None:
        self.source = source
        self.item = ""
        self.languages = languages
        self._known = set(languages)

    def set_languages(self, languages: tuple[str, ...]) -> None:
        self.languages = languages
        self._known = set(languages)

    @property
    def errors(self) -> int:
        return self.source.errors

    def add(self, code: str, node: Node | int, what: str, remedy: str) -> None:
        self.source.add(code, node if isinstance(node, int) else node.at, self.item + what, remedy)

    # containers

    def mapping(self, node: Node, what: str) -> MapNode | None:
        if isinstance(node, MapNode):
            return node
        self.add("SCHEMA-TYPE", node, f"{what} is {_kind(node)}.", "Write a map: key: value.")
        return None

    def items(self, node: Node | None, what: str) -> list[Node]:
        if node is None:
            return []
        if isinstance(node, ListNode):
            return node.items
        self.add("SCHEMA-TYPE", node, f"{what} is {_kind(node)}.", "Write a list: [a, b], or lines that start with - .")
        return []

    def only(self, node: MapNode, allowed: Set[str], what: str, elsewhere: Mapping[str, str] | None = None) -> None:
        """Report keys that do not belong here. `elsewhere` says where a key that is known would belong."""
        if node.entries.keys() <= allowed:
            return
        for key, child in node.entries.items():
            if key in allowed:
                continue
            place = (elsewhere or {}).get(key)
            hint = f"It belongs to {place}. " if place else similar(key, allowed)
            name = "The merge key '<<'" if key == "<<" else f"The key {_shown(key)}"
            remedy = hint + f"Known here: {', '.join(sorted(allowed))}." if not hint else hint + "Otherwise remove it."
            self.add("SCHEMA-UNKNOWN", child.key_at, f"{name} is not known in {what}.", remedy)

    def required(self, node: MapNode, key: str, what: str) -> Node | None:
        child = node.entries.get(key)
        if child is None:
            code = "ID-MISSING" if key == "id" else "SCHEMA-MISSING"
            self.add(code, node, f"{what} has no {key!r}.", f"Add {key}: …")
        return child

    # scalars

    def scalar(self, node: Node, what: str) -> str | None:
        if isinstance(node, ScalarNode):
            return node.value
        self.add("SCHEMA-TYPE", node, f"{what} is {_kind(node)}.", "Write one value.")
        return None

    def words(self, node: Node, what: str) -> str | None:
        """A scalar that is text, not empty; traps are reported and taken as written."""
        if not isinstance(node, ScalarNode):
            self.add("SCHEMA-TYPE", node, f"{what} is {_kind(node)}.", "Write a text.")
            return None
        value = node.value
        style = node.style
        if not style:
            if value in NULLS:
                self.add("SCHEMA-VALUE", node, f"{what} is null.", f'Leave the key out, or write "{value}" if that is the text.')
                return None
            if value[:1] in _TRAP_START and is_trap(node):
                self._trap(node, what)
        elif style in "|>":
            value = value.strip("\n")
        if not value or value.isspace():
            self.add("SCHEMA-VALUE", node, f"{what} is empty.", "Write the text, or leave the key out.")
            return None
        if len(value) > MAX_TEXT:
            self.add("SCHEMA-VALUE", node, f"{what} has {len(value):,} characters.", f"Use at most {MAX_TEXT:,}.")
            return None
        return value

    def _trap(self, node: ScalarNode, what: str) -> None:
        value = node.value
        self.source.traps.append((node.at, value))
        if _EXACT_NUMBER.fullmatch(value):
            self.add("YAML-NUMBER", node, f"{what} is the unquoted number {value}.", f'Write "{value}".')
        else:
            self.add("YAML-TRAP", node, f"{what} is the unquoted value {value}, which YAML does not take for text.", f'Write "{value}".')

    def identifier(self, node: Node | None, what: str) -> str | None:
        if node is None:
            return None
        value = self.scalar(node, what)
        if value is None:
            return None
        assert isinstance(node, ScalarNode)
        if not ID.fullmatch(value):
            remedy = f"Use a-z, 0-9 and -, at most {MAX_ID}."
            suggestion = slug(value)
            self.add("ID-FORM", node, f"{what} is {_shown(value)}.", f"{remedy} For example: {suggestion}." if suggestion else remedy)
            return None
        if not node.style and value[:1] in _TRAP_START and is_trap(node):
            self._trap(node, what)
        return value

    def integer(self, node: Node | None, what: str, low: int, high: int, default: int) -> int:
        if node is None:
            return default
        value = self.scalar(node, what)
        if value is None:
            return default
        if not _INTEGER.fullmatch(value) or not low <= int(value) <= high:
            self.add("SCHEMA-VALUE", node, f"{what} is {_shown(value)}.", f"Use a whole number from {low} to {high:,}.")
            return default
        return int(value)

    def number(self, node: Node | None, what: str, low: float, high: float, default: float) -> float:
        if node is None:
            return default
        value = self.scalar(node, what)
        if value is None:
            return default
        number = as_number(value)
        if number is None or not low <= number <= high:
            self.add("SCHEMA-VALUE", node, f"{what} is {_shown(value)}.", f"Use a number from {low:g} to {high:,g}.")
            return default
        return number

    def truth(self, node: Node | None, what: str, default: bool) -> bool:
        if node is None:
            return default
        value = self.scalar(node, what)
        if value is None:
            return default
        if value not in _TRUTH:
            self.add("SCHEMA-VALUE", node, f"{what} is {_shown(value)}.", "Use true or false.")
            return default
        return _TRUTH[value]

    def day(self, node: Node | None, what: str) -> date | None:
        if node is None:
            return None
        value = self.scalar(node, what)
        if value is None:
            return None
        found = _DATE.fullmatch(value)
        try:
            return date(*(int(part) for part in found.groups())) if found else self._no_date(node, what, value)
        except ValueError:
            return self._no_date(node, what, value)

    def _no_date(self, node: Node, what: str, value: str) -> None:
        self.add("SCHEMA-VALUE", node, f"{what} is {_shown(value)}.", "Use a date such as 2026-11-30.")

    def one_of(self, node: Node | None, what: str, known: Collection[str], default: str) -> str:
        if node is None:
            return default
        value = self.scalar(node, what)
        if value is None:
            return default
        if value not in known:
            self.add("SCHEMA-VALUE", node, f"{what} is {_shown(value)}.", f"{similar(value, known)}Use one of: {', '.join(known)}.")
            return default
        return value

    def language(self, node: Node | None, what: str) -> str | None:
        if node is None:
            return None
        value = self.scalar(node, what)
        if value is None or not self.is_language(value, node, what):
            return None
        return value

    def is_language(self, value: str, node: Node | int, what: str) -> bool:
        if LANGUAGE.fullmatch(value):
            return True
        self.add("LANG-CODE", node, f"{what} is {_shown(value)}.", "Use a language tag: en, ko, el, ru, zh, zh-TW, …")
        return False

    # texts

    def text(self, node: Node | None, what: str) -> Text | None:
        """A text in one or more languages; a plain one is the same in all of them."""
        if node is None:
            return None
        if isinstance(node, ScalarNode):
            value = self.words(node, what)
            return None if value is None else Text({NEUTRAL: value})
        if isinstance(node, ListNode) or not node.entries:
            self.add("SCHEMA-TYPE", node, f"{what} is {_kind(node)}.", "Write a text, or a map of languages: {en: …, zh: …}.")
            return None
        if node.traps is not None:
            self.no_language(node)
        by_language: dict[str, str] = {}
        for language, child in node.entries.items():
            if language not in self._known and not self._unlisted(language, child, what):
                continue
            value = self.words(child, what)
            if value is not None:
                by_language[language] = value
        if not by_language:
            return None
        first = self.languages[0] if self.languages else None
        if first is not None and first not in by_language:
            self.add("LANG-DEFAULT", node, f"{what} has no {first!r}, the first language of the quiz.", f"Add {first}: …")
        return Text(by_language)

    def no_language(self, node: MapNode) -> None:
        for key, at in node.traps or ():
            self.source.traps.append((at, key))
            advice = 'Write nb, or "no" in quotes.' if key.lower() == "no" else "Use a language tag such as en."
            self.add("YAML-NO", at, f"The language key {key} is {_resolved(key)} to YAML.", advice)

    def _unlisted(self, language: str, child: Node, what: str) -> bool:
        if not LANGUAGE.fullmatch(language):
            if language.lower() not in ("no", "on", "off", "yes", "true", "false", "null", "~"):  # reported by no_language
                hint = similar(language, self._known)
                remedy = hint + "Use language tags (en, zh-TW) as keys, or quote the whole text."
                self.add("LANG-CODE", child.key_at, f"{what} has the language key {_shown(language)}.", remedy)
            return False
        if self.languages:
            remedy = f"Add it to languages: [{', '.join((*self.languages, language))}]."
            self.add("LANG-UNLISTED", child.key_at, f"{what} has the language {language!r}, which the quiz does not list.", remedy)
        return True

    def texts(self, node: Node | None, what: str) -> tuple[Text, ...]:
        if node is None:
            return ()
        found = (self.text(child, what) for child in self.items(node, what))
        return tuple(text for text in found if text is not None)

    # lists of names and references

    def names(self, node: Node | None, what: str) -> tuple[str, ...]:
        if node is None:
            return ()
        found = (self.words(child, what) for child in self.items(node, what))
        return tuple(name for name in found if name is not None)

    def identifiers(self, node: Node | None, what: str) -> tuple[str, ...]:
        if node is None:
            return ()
        found = (self.identifier(child, what) for child in self.items(node, what))
        return tuple(name for name in found if name is not None)

    def facts(self, node: Node | None) -> tuple[str, ...]:
        if node is None:
            return ()
        found: list[str] = []
        for child in self.items(node, "facts"):
            value = self.scalar(child, "a fact id")
            if value is not None and not FACT.fullmatch(value):
                self.add("FACT-FORM", child, f"The fact id {_shown(value)} is malformed.", "Write ids such as T-001.")
            elif value is not None:
                found.append(value)
        return tuple(found)

    def guide(self, node: Node | None, what: str, *, whole: bool) -> GuideRef | None:
        """`{id, section}`; with `whole` the id is required, otherwise that of the quiz is meant."""
        if node is None:
            return None
        entry = self.mapping(node, what)
        if entry is None:
            return None
        self.only(entry, {"id", "section"}, what)
        if whole and self.required(entry, "id", what) is None:
            return None
        section = entry.entries.get("section")
        name = self.scalar(section, f"{what} section") if section is not None else None
        guide = self.identifier(entry.entries.get("id"), f"{what} id")
        if guide is None and name is None:
            if not entry.entries:
                self.add("SCHEMA-MISSING", entry, f"{what} names nothing.", "Write {id: guide, section: anchor}.")
            return None
        return GuideRef(guide or "", name)

    def evidence(self, node: Node | None) -> tuple[GuideRef, ...]:
        """`section` or `guide:section` each."""
        if node is None:
            return ()
        found: list[GuideRef] = []
        for child in self.items(node, "evidence"):
            value = self.scalar(child, "evidence")
            if value is None:
                continue
            guide, colon, section = value.rpartition(":")
            if not section or (colon and not ID.fullmatch(guide)):
                self.add("SCHEMA-VALUE", child, f"evidence is {_shown(value)}.", "Write a section id, or guide:section.")
            else:
                found.append(GuideRef(guide, section))
        return tuple(found)

    def plain_value(self, node: Node) -> Any:
        """A whole tree as Python values, resolved as JSON would be; for `extra`."""
        if isinstance(node, MapNode):
            return {key: self.plain_value(child) for key, child in node.entries.items()}
        if isinstance(node, ListNode):
            return [self.plain_value(child) for child in node.items]
        value = node.value
        if node.style:
            return value
        if value in _TRUTH:
            return _TRUTH[value]
        if value in ("", "~", "null"):
            return None
        if _INTEGER.fullmatch(value):
            return int(value)
        number = as_number(value)
        return value if number is None else number


def as_number(value: str) -> float | None:
    """A finite decimal number, or None."""
    if not _NUMBER.fullmatch(value):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def slug(text: str) -> str:
    """An id made of a text: its Latin letters and digits, at most 48 characters; empty when it has none."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"['’]", "", text.casefold()))
    kept = ""
    for word in words:
        if kept and len(kept) + len(word) > 47:
            break
        kept = f"{kept}-{word}" if kept else word[:48]
    return kept


def _kind(node: Node) -> str:
    if isinstance(node, ScalarNode):
        return "one value" if node.value else "empty"
    if isinstance(node, ListNode):
        return "a list" if node.items else "an empty list"
    return "a map" if node.entries else "an empty map"


def _resolved(key: str) -> str:
    low = key.lower()
    return "null" if low in ("null", "~") else "true" if low in ("yes", "on", "true") else "false"
