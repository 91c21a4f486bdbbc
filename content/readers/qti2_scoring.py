"""The key of one QTI 2.x or 3.0 item: declarations of right answers, and what response processing says where they are silent.

Version 3.0 writes `qti-simple-choice` for `simpleChoice` and `response-identifier` for `responseIdentifier`; `both` and
`attribute` hide that. Processing is looked at as data, never run: only matches and comparisons that raise SCORE count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from content.model import Accept
from content.readers.xml_tree import Node

_MATCHES: Final = ("match", "stringMatch", "member", "contains", "equal", "equalRounded")
_COMPARES: Final = ("gte", "lte", "gt", "lt")


@lru_cache(maxsize=512)
def both(*names: str) -> tuple[str, ...]:
    """Element names as 2.x and as 3.0 write them."""
    return (*names, *("qti-" + kebab(name) for name in names))


def kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "-" + found[1].lower(), name)


def attribute(node: Node, name: str, default: str = "") -> str:
    return node.get(name, kebab(name), default=default)


def base_name(node: Node) -> str:
    """`simpleChoice` for both spellings."""
    name = node.name.removeprefix("qti-")
    return re.sub(r"-([a-z0-9])", lambda found: found[1].upper(), name) if name != node.name else name


@dataclass(frozen=True, slots=True)
class Declaration:
    """What an item declares of one response. `mapped` is answer -> (points, whether case matters)."""

    identifier: str
    cardinality: str = "single"
    base_type: str = ""
    correct: tuple[str, ...] = ()
    mapped: tuple[tuple[str, float, bool], ...] = ()
    upper: float | None = None

    @property
    def numeric(self) -> bool:
        return self.base_type.lower() in ("float", "integer")


@dataclass(frozen=True, slots=True)
class Rule:
    """A branch of response processing that gives points: what it asks for, and how many."""

    condition: Node
    points: float


class Key:
    """The declarations and the scoring rules of one item."""

    def __init__(self, item: Node) -> None:
        self.declared = {found.identifier: found for found in map(_declaration, item.children(*both("responseDeclaration")))}
        self.rules = tuple(_rules(item))

    def declaration(self, response: str) -> Declaration:
        return self.declared.get(response) or Declaration(response)

    def chosen(self, response: str) -> tuple[tuple[str, ...], bool]:
        """The identifiers that are right, and whether each counts by itself (a sum of rules) or only all together."""
        declared = self.declaration(response)
        positive = {key: points for key, points, _ in declared.mapped if points > 0}
        if declared.correct:
            return declared.correct, bool(positive)
        if positive:
            best = max(positive.values()) if declared.cardinality == "single" else 0.0
            return tuple(key for key, points in positive.items() if points >= best), True
        rules = [rule for rule in self.rules if any(self._asked(rule, response))]
        if not rules:
            return (), False
        if declared.cardinality == "single":
            best = max(rule.points for rule in rules)
            return tuple(dict.fromkeys(value for rule in rules if rule.points == best for value in self._asked(rule, response))), False
        if len(rules) > 1 and all(len(list(self._asked(rule, response))) == 1 for rule in rules):
            return tuple(dict.fromkeys(value for rule in rules for value in self._asked(rule, response))), True
        best_rule = max(rules, key=lambda rule: rule.points)
        return tuple(dict.fromkeys(self._asked(best_rule, response))), False

    def typed(self, response: str) -> tuple[Accept, ...]:
        """The accepted answers of a typed response, with credits as shares of the best one."""
        declared = self.declaration(response)
        found: list[Accept] = []
        best = max((points for _, points, _ in declared.mapped), default=0.0)
        for text, points, case in declared.mapped:
            if best > 0 and points > 0:
                found.append(self._accept(declared, text, min(1.0, points / best), case=case))
        known = {text for text, _, _ in declared.mapped}
        found += [self._accept(declared, text, 1.0, case=False) for text in declared.correct if text not in known]
        if found:
            return tuple(found)
        most = max((rule.points for rule in self.rules), default=0.0)
        for rule in self.rules:
            credit = min(1.0, rule.points / most)
            span = _span(rule.condition, response)
            if span is not None:
                low, high = span
                found.append(Accept(number=low, credit=credit) if low == high else Accept(span=span, credit=credit))
                continue
            found += [self._accept(declared, text, credit, case=False) for text in self._asked(rule, response)]
        return tuple(dict.fromkeys(found))

    def most_points(self) -> float | None:
        return max((rule.points for rule in self.rules), default=None)

    def _accept(self, declared: Declaration, text: str, credit: float, *, case: bool) -> Accept:
        number = as_number(text) if declared.numeric else None
        if number is None:
            return Accept(text=text, case=case, credit=round(credit, 6))
        for rule in self.rules:
            slack = _tolerance(rule.condition, declared.identifier)
            if slack is not None:
                return Accept(number=number, tolerance=slack[0], relative=slack[1], credit=round(credit, 6))
        return Accept(number=number, credit=round(credit, 6))

    def _asked(self, rule: Rule, response: str) -> Iterator[str]:
        for node in _affirmed(rule.condition):
            if base_name(node) in _MATCHES and _names(node, response):
                for value in node.children(*both("baseValue")):
                    if value.text().strip():
                        yield value.text().strip()


def as_number(text: str) -> float | None:
    try:
        value = float(text.strip()[:100])
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _declaration(node: Node) -> Declaration:
    correct = node.child(*both("correctResponse"))
    mapping = node.child(*both("mapping"))
    mapped: list[tuple[str, float, bool]] = []
    for entry in mapping.children(*both("mapEntry")) if mapping is not None else ():
        points = as_number(attribute(entry, "mappedValue"))
        key = attribute(entry, "mapKey")
        if key and points is not None:
            mapped.append((key, points, attribute(entry, "caseSensitive").lower() == "true"))
    values = (" ".join(value.text().split()) for value in correct.children(*both("value"))) if correct is not None else ()
    return Declaration(
        attribute(node, "identifier"),
        attribute(node, "cardinality", "single").lower(),
        attribute(node, "baseType"),
        tuple(value for value in values if value),
        tuple(mapped),
        as_number(attribute(mapping, "upperBound")) if mapping is not None else None,
    )


def _rules(item: Node) -> Iterator[Rule]:
    processing = item.child(*both("responseProcessing"))
    if processing is None:
        return
    for branch in processing.all(*both("responseIf", "responseElseIf")):
        points = max((_set_points(setting) for setting in branch.children(*both("setOutcomeValue"))), default=0.0)
        condition = branch.child()
        if points > 0 and condition is not None:
            yield Rule(condition, points)


def _set_points(setting: Node) -> float:
    """What this gives to SCORE: a value, or a value added to it; 0 for other outcomes."""
    if not attribute(setting, "identifier").upper().endswith("SCORE"):
        return 0.0
    values = [as_number(value.text()) for value in setting.all(*both("baseValue"))]
    return next((value for value in values if value is not None), 0.0)


def _affirmed(node: Node) -> Iterator[Node]:
    name = base_name(node)
    if name in ("and", "or", "anyN"):
        for child in node.children():
            yield from _affirmed(child)
    elif name != "not":
        yield node


def _names(node: Node, response: str) -> bool:
    return any(attribute(variable, "identifier") == response for variable in node.all(*both("variable")))


def _span(condition: Node, response: str) -> tuple[float, float] | None:
    low = high = None
    for node in _affirmed(condition):
        name = base_name(node)
        if name not in _COMPARES or not _names(node, response):
            continue
        value = node.first(*both("baseValue"))
        number = as_number(value.text()) if value is not None else None
        first = node.child()
        if number is None or first is None:
            continue
        upwards = name.startswith("g") == (base_name(first) == "variable")  # gte(variable, 3) and lte(3, variable) both bound below
        if upwards:
            low = number
        else:
            high = number
    return (low, high) if low is not None and high is not None and low <= high else None


def _tolerance(condition: Node, response: str) -> tuple[float, bool] | None:
    """The slack of an `equal` test, and whether it is relative (QTI counts that in percent)."""
    for node in _affirmed(condition):
        if base_name(node) == "equal" and _names(node, response):
            mode = attribute(node, "toleranceMode", "exact").lower()
            slack = [number for part in attribute(node, "tolerance").split() if (number := as_number(part)) is not None]
            if mode in ("absolute", "relative") and slack and max(slack) >= 0:
                return (max(slack) / 100, True) if mode == "relative" else (max(slack), False)
    return None
