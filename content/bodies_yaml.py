"""The part of a question that its type decides: choices, answers, gaps, rubric, order, pairs. One reader per type.

Each takes the question's map and returns a body, whole or not: what is wrong with it has been reported to `fields`, and
the caller looks there before it uses the body.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from content.expressions import fault_of
from content.fields import ID, Fields, as_number
from content.model import (
    Accept,
    Blank,
    Body,
    Choice,
    Choices,
    Criterion,
    Info,
    Item,
    Match,
    Open,
    Order,
    Pair,
    RubricLevel,
    Scoring,
    Short,
    Text,
    TrueFalse,
)
from content.yaml_source import ListNode, MapNode, Node

MAX_ANSWER: Final = 4_000  # characters of a Discord text input

PLACEHOLDER: Final = re.compile(r"\{\{\s*([^{}\s]{1,64})\s*\}\}")
SCORINGS: Final = tuple(Scoring)
_CHOICE: Final = frozenset({"id", "text", "correct", "credit", "feedback", "fixed", "facts"})
_ACCEPT: Final = frozenset("text number range regex tolerance unit case lang credit feedback".split())
_CRITERION: Final = frozenset({"id", "points", "criterion", "levels", "facts"})


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a quiz's `defaults` give to questions that say nothing."""

    points: float = 1.0
    time_limit_s: int | None = None
    shuffle: bool = True
    scoring: str = Scoring.ALL_OR_NOTHING
    difficulty: int = 3


NO_DEFAULTS: Final = Defaults()


def own_id(fields: Fields, entry: MapNode, what: str, seen: dict[str, int]) -> str | None:
    name = fields.identifier(fields.required(entry, "id", what), "id")
    if name is not None:
        if name in seen:
            fields.add("ID-DUPLICATE", entry.entries["id"], f"{what} has the id {name!r} of another one.", "Give it an id of its own.")
        seen[name] = 1
    return name


def _choice_list(fields: Fields, node: Node | None, what: str) -> tuple[Choice, ...]:
    if node is None:
        return ()
    found: list[Choice] = []
    seen: dict[str, int] = {}
    for child in fields.items(node, what):
        entry = fields.mapping(child, "a choice")
        if entry is None:
            continue
        get = entry.entries.get
        fields.only(entry, _CHOICE, "a choice")
        name = own_id(fields, entry, "a choice", seen)
        text = fields.text(fields.required(entry, "text", "a choice"), "choice text")
        correct, weight = get("correct"), get("credit")
        if correct is not None and weight is not None:
            fields.add("SCHEMA-VALUE", correct, "a choice has both correct and credit.", "Keep one: correct: true is credit: 1.")
        credit = fields.number(weight, "credit", -1, 1, 0.0)
        if correct is not None and fields.truth(correct, "correct", False):
            credit = 1.0
        feedback = get("feedback")
        choice = Choice(
            name or "",
            text or _EMPTY,
            credit,
            fields.text(feedback, "choice feedback") if feedback is not None else None,
            fields.truth(get("fixed"), "fixed", False),
            fields.facts(get("facts")),
        )
        if name is not None and text is not None:
            found.append(choice)
    return tuple(found)


_EMPTY: Final = Text.of(" ")  # stands in for a text that was reported


def _many(fields: Fields, entry: MapNode, key: str, count: int, what: str) -> None:
    node = entry.entries.get(key)
    if node is None:
        fields.add("SCHEMA-MISSING", entry, f"the question has no {key!r}.", f"Add {key}: …")
    elif isinstance(node, ListNode) and len(node.items) < 2:
        fields.add("QUIZ-CHOICES", node, f"there {'is' if count == 1 else 'are'} {count} {what}.", "Write at least two.")


def _single(fields: Fields, entry: MapNode, defaults: Defaults) -> Body:
    choices = _choice_list(fields, entry.entries.get("choices"), "choices")
    _many(fields, entry, "choices", len(choices), "choices")
    keys = sum(choice.credit >= 1 for choice in choices)
    any_right = fields.truth(entry.entries.get("any"), "any", False)
    if len(choices) > 1 and (keys == 0 or (keys > 1 and not any_right)):
        what = "no choice is marked right." if keys == 0 else f"{keys} choices are marked right."
        several = "Keep one, use type: multiple, or say any: true where any one of them is enough."
        remedy = "Mark one with correct: true." if keys == 0 else several
        fields.add("QUIZ-KEY", entry.entries["choices"], what, remedy)
    return Choices(choices, False, _scoring(fields, entry, Scoring.ALL_OR_NOTHING))


def _multiple(fields: Fields, entry: MapNode, defaults: Defaults) -> Body:
    get = entry.entries.get
    choices = _choice_list(fields, get("choices"), "choices")
    _many(fields, entry, "choices", len(choices), "choices")
    scoring = _scoring(fields, entry, defaults.scoring)
    least_credit = 0.0 if scoring is Scoring.PER_CHOICE else 0.999
    if len(choices) > 1 and not any(choice.credit > least_credit for choice in choices):
        fields.add("QUIZ-KEY", entry.entries["choices"], "no choice is marked right.", "Mark the right ones with correct: true.")
    count = max(len(choices), 1)
    least = fields.integer(get("min"), "min", 0, count, 1)
    most = fields.integer(get("max"), "max", 1, count, count) if get("max") is not None else None
    if most is not None and most < least:
        fields.add("SCHEMA-VALUE", entry.entries["max"], f"max is {most}, below min {least}.", "Swap them.")
    return Choices(choices, True, scoring, least, most)


def _scoring(fields: Fields, entry: MapNode, default: str) -> Scoring:
    return Scoring(fields.one_of(entry.entries.get("scoring"), "scoring", SCORINGS, default))


def _truefalse(fields: Fields, entry: MapNode, defaults: Defaults) -> Body:
    answer = fields.truth(fields.required(entry, "answer", "the question"), "answer", False)
    node = entry.entries.get("feedback")
    feedback: dict[bool, Text] = {}
    both = fields.mapping(node, "feedback") if node is not None else None
    if both is not None:
        fields.only(both, {"true", "false"}, 'feedback (keys "true" and "false")')
        for key, value in (("true", True), ("false", False)):
            text = fields.text(both.entries.get(key), f"feedback for {key}")
            if text is not None:
                feedback[value] = text
    return TrueFalse(answer, feedback)


def _short(fields: Fields, entry: MapNode, defaults: Defaults) -> Body:
    get = entry.entries.get
    accept = _accept_list(fields, get("accept"))
    blanks = _blanks(fields, get("blanks"))
    if get("blanks") is None and get("accept") is None:
        fields.add("SCHEMA-MISSING", entry, "the question has no 'accept'.", "Add accept: [{text: …}], or blanks.")
    elif get("blanks") is not None and get("accept") is not None:
        fields.add("SCHEMA-VALUE", entry, "the question has both accept and blanks.", "Keep one of the two.")
    return Short(accept, fields.text(get("reveal"), "reveal"), blanks)


def _accept_list(fields: Fields, node: Node | None) -> tuple[Accept, ...]:
    if node is None:
        return ()
    found = [_accept(fields, child) for child in fields.items(node, "accept")]
    accepted = tuple(accept for accept in found if accept is not None)
    if not any(accept.credit >= 1 for accept in accepted) and len(accepted) == len(found):
        fields.add("QUIZ-KEY", node, "no answer is accepted in full.", "Add one without credit, or with credit: 1.")
    return accepted


def _accept(fields: Fields, node: Node) -> Accept | None:
    entry = fields.mapping(node, "an accepted answer")
    if entry is None:
        return None
    get = entry.entries.get
    fields.only(entry, _ACCEPT, "an accepted answer")
    kinds = [key for key in ("text", "number", "range", "regex") if key in entry.entries]
    if len(kinds) != 1:
        fields.add(
            "SCHEMA-VALUE", entry, f"an accepted answer has {' and '.join(kinds) or 'nothing'}.", "Use one of text, number, range, regex."
        )
        return None
    kind = kinds[0]
    value = entry.entries[kind]
    for key, owners in (("tolerance", ("number", "range")), ("unit", ("number", "range")), ("case", ("text", "regex"))):
        if key in entry.entries and kind not in owners:
            fields.add(
                "SCHEMA-UNKNOWN", entry.entries[key].key_at, f"{key} does not go with {kind}.", f"It belongs to {' or '.join(owners)}."
            )
    tolerance, relative = _tolerance(fields, get("tolerance"))
    unit = get("unit")
    return Accept(
        text=fields.words(value, "accepted text") if kind == "text" else None,
        number=fields.number(value, "accepted number", -1e300, 1e300, 0.0) if kind == "number" else None,
        span=_span(fields, value) if kind == "range" else None,
        regex=_regex(fields, value) if kind == "regex" else None,
        tolerance=tolerance,
        relative=relative,
        unit=fields.words(unit, "unit") if unit is not None else None,
        case=fields.truth(get("case"), "case", False),
        language=fields.language(get("lang"), "lang"),
        credit=fields.number(get("credit"), "credit", -1, 1, 1.0),
        feedback=fields.text(get("feedback"), "answer feedback"),
    )


def _tolerance(fields: Fields, node: Node | None) -> tuple[float, bool]:
    value = fields.scalar(node, "tolerance") if node is not None else None
    if node is None or value is None:
        return 0.0, False
    share = value.endswith("%")
    number = as_number(value[:-1].rstrip() if share else value)
    if number is None or number < 0 or (share and number > 100):
        fields.add("SCHEMA-VALUE", node, f"tolerance is {value[:20]!r}.", "Use a number such as 0.5, or a share such as 5%.")
        return 0.0, False
    return (number / 100, True) if share else (number, False)


def _span(fields: Fields, node: Node) -> tuple[float, float] | None:
    if isinstance(node, ListNode) and len(node.items) == 2:
        low, high = (fields.number(child, "range", -1e300, 1e300, 0.0) for child in node.items)
        if low <= high:
            return low, high
    fields.add("SCHEMA-VALUE", node, "range is not two numbers in order.", "Write range: [1, 5].")
    return None


def _regex(fields: Fields, node: Node) -> str | None:
    pattern = fields.scalar(node, "regex")
    problem = "it is empty" if pattern == "" else fault_of(pattern) if pattern is not None else None
    if problem is not None:
        fields.add("QUIZ-REGEX", node, f"the regex is refused: {problem}.", "Use RE2 syntax: no look-around, no back-references.")
        return None
    return pattern


def _blanks(fields: Fields, node: Node | None) -> tuple[Blank, ...]:
    entry = fields.mapping(node, "blanks") if node is not None else None
    if node is None or entry is None:
        return ()
    found: list[Blank] = []
    for name, child in entry.entries.items():
        if not ID.fullmatch(name):
            fields.add("ID-FORM", child.key_at, f"the gap {name[:40]!r} is no id.", "Use a-z, 0-9 and -.")
        blank = fields.mapping(child, f"gap {name[:40]!r}")
        if blank is None:
            continue
        fields.only(blank, {"accept", "choices"}, "a gap")
        accept = _accept_list(fields, blank.entries.get("accept"))
        choices = _choice_list(fields, blank.entries.get("choices"), "choices")
        if len(blank.entries.keys() & {"accept", "choices"}) != 1:
            fields.add("SCHEMA-VALUE", blank, f"gap {name[:40]!r} has neither or both of accept and choices.", "Give it one of the two.")
        elif "choices" in blank.entries and (len(choices) < 2 or sum(choice.credit >= 1 for choice in choices) != 1):
            fields.add(
                "QUIZ-KEY", blank, f"gap {name[:40]!r} needs two choices or more, one of them right.", "Mark one with correct: true."
            )
        found.append(Blank(name, accept, choices))
    if not entry.entries:
        fields.add("QUIZ-BLANKS", entry, "blanks is empty.", "Name each gap of the stem, or use accept.")
    return tuple(found)


def agree_on_gaps(fields: Fields, node: Node, stem: Text, body: Short) -> None:
    if not body.blanks:
        return
    names = {blank.id for blank in body.blanks}
    for language, text in stem.by_language.items():
        written = set(PLACEHOLDER.findall(text))
        if written != names:
            missing = ", ".join(f"{{{{{name}}}}}" for name in sorted(names - written))
            extra = ", ".join(f"{{{{{name}}}}}" for name in sorted(written - names))
            parts = [f"lacks {missing}" if missing else "", f"has {extra}, which blanks does not" if extra else ""]
            where = f"the stem ({language})" if language else "the stem"
            fields.add("QUIZ-BLANKS", node, f"{where} {' and '.join(part for part in parts if part)}.", "Let stem and blanks agree.")


def _open(fields: Fields, entry: MapNode, defaults: Defaults) -> Body:
    get = entry.entries.get
    length = get("length")
    least, most = 1, 1_500
    limits = fields.mapping(length, "length") if length is not None else None
    if limits is not None:
        fields.only(limits, {"min", "max"}, "length")
        least = fields.integer(limits.entries.get("min"), "length min", 0, MAX_ANSWER, 1)
        most = fields.integer(limits.entries.get("max"), "length max", 1, MAX_ANSWER, max(1_500, least))
        if most < least:
            fields.add("SCHEMA-VALUE", limits, f"length max {most} is below min {least}.", "Swap them.")
    rubric: list[Criterion] = []
    seen: dict[str, int] = {}
    for child in fields.items(get("rubric"), "rubric"):
        point = fields.mapping(child, "a rubric point")
        if point is None:
            continue
        fields.only(point, _CRITERION, "a rubric point")
        name = own_id(fields, point, "a rubric point", seen)
        points = fields.number(fields.required(point, "points", "a rubric point"), "points", 0, 1_000, 0)
        text = fields.text(fields.required(point, "criterion", "a rubric point"), "criterion")
        levels = _levels(fields, point.entries.get("levels"), points)
        facts = fields.facts(point.entries.get("facts"))
        if name is not None and text is not None:
            rubric.append(Criterion(name, points, text, levels, facts))
    return Open(fields.text(get("reference"), "reference"), tuple(rubric), fields.texts(get("probes"), "probes"), least, most)


def _levels(fields: Fields, node: Node | None, most: float) -> tuple[RubricLevel, ...]:
    found: list[RubricLevel] = []
    for child in fields.items(node, "levels"):
        entry = fields.mapping(child, "a level")
        if entry is None:
            continue
        fields.only(entry, {"points", "text"}, "a level")
        points = fields.number(fields.required(entry, "points", "a level"), "points of a level", 0, most, 0)
        text = fields.text(fields.required(entry, "text", "a level"), "level text")
        if text is not None:
            found.append(RubricLevel(points, text))
    return tuple(found)


def _order(fields: Fields, entry: MapNode, defaults: Defaults) -> Body:
    items = _item_list(fields, entry.entries.get("items"), "items", "text")
    _many(fields, entry, "items", len(items), "items")
    return Order(items, _scoring(fields, entry, defaults.scoring))


def _item_list(fields: Fields, node: Node | None, what: str, key: str) -> tuple[Item, ...]:
    found: list[Item] = []
    seen: dict[str, int] = {}
    for child in fields.items(node, what):
        entry = fields.mapping(child, f"an entry of {what}")
        if entry is None:
            continue
        fields.only(entry, {"id", key}, f"an entry of {what}")
        name = own_id(fields, entry, f"an entry of {what}", seen)
        text = fields.text(fields.required(entry, key, f"an entry of {what}"), key)
        if name is not None and text is not None:
            found.append(Item(name, text))
    return tuple(found)


def _match(fields: Fields, entry: MapNode, defaults: Defaults) -> Body:
    pairs: list[Pair] = []
    seen: dict[str, int] = {}
    for child in fields.items(entry.entries.get("pairs"), "pairs"):
        pair = fields.mapping(child, "a pair")
        if pair is None:
            continue
        fields.only(pair, {"id", "left", "right"}, "a pair")
        name = own_id(fields, pair, "a pair", seen)
        left = fields.text(fields.required(pair, "left", "a pair"), "left")
        right = fields.text(fields.required(pair, "right", "a pair"), "right")
        if name is not None and left is not None and right is not None:
            pairs.append(Pair(name, left, right))
    _many(fields, entry, "pairs", len(pairs), "pairs")
    distractors = _item_list(fields, entry.entries.get("distractors"), "distractors", "right")
    for item in distractors:
        if item.id in seen:
            fields.add(
                "ID-DUPLICATE", entry.entries["distractors"], f"a distractor has the id {item.id!r} of a pair.", "Give it another one."
            )
    return Match(tuple(pairs), distractors, _scoring(fields, entry, defaults.scoring))


def _info(fields: Fields, entry: MapNode, defaults: Defaults) -> Body:
    return Info()


BODIES: Final[Mapping[str, Callable[[Fields, MapNode, Defaults], Body]]] = {
    "single": _single,
    "multiple": _multiple,
    "truefalse": _truefalse,
    "short": _short,
    "open": _open,
    "order": _order,
    "match": _match,
    "info": _info,
}
