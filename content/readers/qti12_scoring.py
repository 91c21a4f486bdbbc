"""The scoring rules of one QTI 1.2 item: what is an answer worth, and which typed answers do the rules name?

Credits are shares of the item's maximum: 1 is all of it. A rule without a score is only a link to feedback. Conditions on
time and order of clicks never hold here; nothing is executed, conditions are looked at as data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from content.model import Accept
from content.readers.xml_tree import Node

_COMPARED: Final = ("vargte", "vargt", "varlte", "varlt")


@dataclass(frozen=True, slots=True)
class Rule:
    condition: Node
    action: str  # set, add, subtract, multiply, divide; "" when the rule does not score
    value: float
    goes_on: bool  # whether later rules are looked at after this one held
    feedback: tuple[str, ...]


class Scorer:
    """`single` holds the responses that take one answer: several `varequal` side by side for one of them mean any of these."""

    def __init__(self, item: Node, single: frozenset[str]) -> None:
        self._single = single
        self.rules = tuple(_rules(item))
        scoring = [rule for rule in self.rules if rule.action]
        declared = [_number(node.get("maxvalue")) for node in item.all("decvar")]
        top = next((value for value in declared if value is not None and value > 0), None)
        largest_set = max((rule.value for rule in scoring if rule.action == "set"), default=0.0)
        added = sum(rule.value for rule in scoring if rule.action == "add" and rule.value > 0)
        self.scores = bool(scoring)
        self._most = top if top is not None else max(largest_set, added) or 1.0

    def credit(self, given: Mapping[str, frozenset[str]]) -> float:
        """The share of the maximum that these answers earn: response -> the identifiers chosen for it."""
        score = 0.0
        any_held = False
        for rule in self.rules:
            if not self._holds(rule.condition, given, any_held):
                continue
            any_held = any_held or bool(rule.action)
            match rule.action:
                case "set":
                    score = rule.value
                case "add":
                    score += rule.value
                case "subtract":
                    score -= rule.value
                case "multiply":
                    score *= rule.value
                case "divide" if rule.value:
                    score /= rule.value
                case _:
                    pass
            if rule.action and not rule.goes_on:
                break
        return score / self._most

    def required(self, response: str) -> frozenset[str]:
        """What the rule of the highest score asks to be chosen: its `varequal`s outside `not`."""
        scoring = [rule for rule in self.rules if rule.action in ("set", "add") and rule.value > 0]
        if not scoring:
            return frozenset()
        best = max(scoring, key=lambda rule: rule.value)
        return frozenset(
            node.text().strip() for node in _affirmed(best.condition) if node.name == "varequal" and node.get("respident") == response
        )

    def adds(self) -> bool:
        """Whether the score grows answer by answer, so that a part of the answers earns a part of the points."""
        return sum(rule.action == "add" and rule.value > 0 for rule in self.rules) > 1

    def feedback_of(self, response: str, chosen: str) -> tuple[str, ...]:
        """The feedback linked to exactly this answer."""
        found: list[str] = []
        for rule in self.rules:
            tests = list(rule.condition.children())
            if (
                len(tests) == 1
                and tests[0].name == "varequal"
                and tests[0].text().strip() == chosen
                and tests[0].get("respident") == response
            ):
                found += rule.feedback
        return tuple(found)

    def texts(self, response: str) -> list[tuple[str, bool, float, tuple[str, ...]]]:
        """Typed answers that earn something: text, whether case matters, credit, feedback; the first mention counts."""
        found: dict[str, tuple[str, bool, float, tuple[str, ...]]] = {}
        for rule in self.rules:
            if rule.action not in ("set", "add") or rule.value <= 0:
                continue
            for node in _affirmed(rule.condition):
                text = node.text().strip()
                if node.name in ("varequal", "varsubstring") and node.get("respident") == response and text:
                    case = node.get("case").lower() == "yes"
                    found.setdefault(text, (text, case, min(1.0, rule.value / self._most), rule.feedback))
        return list(found.values())

    def numbers(self, response: str) -> list[Accept]:
        """Numbers and ranges that earn something, in the order of the rules."""
        found: list[Accept] = []
        for rule in self.rules:
            if rule.action in ("set", "add") and rule.value > 0:
                credit = min(1.0, rule.value / self._most)
                found += [entry for branch in _branches(rule.condition) if (entry := _accept(branch, response, credit)) is not None]
        return list(dict.fromkeys(found))

    def _holds(self, node: Node, given: Mapping[str, frozenset[str]], any_held: bool) -> bool:
        children = list(node.children())
        match node.name:
            case "conditionvar":
                idents = {child.get("respident") for child in children}
                if (
                    len(children) > 1
                    and len(idents) == 1
                    and idents <= self._single
                    and all(child.name == "varequal" for child in children)
                ):
                    return any(self._holds(child, given, any_held) for child in children)
                return all(self._holds(child, given, any_held) for child in children)
            case "and":
                return all(self._holds(child, given, any_held) for child in children)
            case "or":
                return any(self._holds(child, given, any_held) for child in children)
            case "not":
                return not all(self._holds(child, given, any_held) for child in children)
            case "varequal":
                return node.text().strip() in given.get(node.get("respident"), ())
            case "varsubset" | "varinside":
                return set(node.text().strip().split(",")) <= given.get(node.get("respident"), frozenset())
            case "unanswered":
                return not given.get(node.get("respident"))
            case "other":
                return not any_held
            case _:
                return False


def _rules(item: Node) -> Iterator[Rule]:
    for processing in item.children("resprocessing"):
        for node in processing.children("respcondition"):
            condition = node.child("conditionvar")
            if condition is None:
                continue
            setting = node.child("setvar")
            value = _number(setting.text()) if setting is not None else None
            action = (setting.get("action", default="set").lower() if setting is not None else "") if value is not None else ""
            feedback = tuple(link.get("linkrefid") for link in node.children("displayfeedback") if link.get("linkrefid"))
            yield Rule(condition, action, value or 0.0, node.get("continue").lower() == "yes", feedback)


def _affirmed(node: Node) -> Iterator[Node]:
    """The tests below a condition that are not negated."""
    for child in node.children():
        if child.name in ("and", "or"):
            yield from _affirmed(child)
        elif child.name != "not":
            yield child


def _branches(condition: Node) -> Iterator[tuple[Node, ...]]:
    """The tests that describe one number each: a value with its bounds, or bounds alone."""
    tests = list(condition.children())
    for node in tests:
        if node.name == "or":
            parts = list(node.children())
            values = [part for part in parts if part.name == "varequal"]
            ranges = [tuple(part.children(*_COMPARED)) for part in parts if part.name == "and"]
            if len(values) == len(ranges):
                yield from ((value, *bounds) for value, bounds in zip(values, ranges, strict=True))
            else:
                yield from ((value,) for value in values)
                yield from ranges
        elif node.name == "and":
            yield tuple(node.children("varequal", *_COMPARED))
    bounds = tuple(node for node in tests if node.name in _COMPARED)
    if bounds:
        yield bounds
    yield from ((node,) for node in tests if node.name == "varequal")


def _accept(tests: tuple[Node, ...], response: str, credit: float) -> Accept | None:
    value = low = high = None
    for node in tests:
        if node.get("respident") != response:
            continue
        number = _decimal(node.text())
        if number is None:
            continue
        if node.name == "varequal":
            value = number
        elif node.name.startswith("vargt"):
            low = number
        else:
            high = number
    if value is not None and (low is None or high is None):
        return Accept(number=float(value), credit=credit)
    if low is None or high is None or low > high:
        return None
    if value is None and low == high:
        return Accept(number=float(low), credit=credit)
    if value is not None and value - low == high - value:
        return Accept(number=float(value), tolerance=float(high - value), credit=credit)
    return Accept(span=(float(low), float(high)), credit=credit)


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text.strip()[:100])
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(value.adjusted()) < 300 else None


def _number(text: str) -> float | None:
    try:
        value = float(text.strip()[:100])
    except ValueError:
        return None
    return value if math.isfinite(value) else None
