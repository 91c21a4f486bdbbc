"""Moodle's question types, one function each: the element goes in, the stem and the native body come out.

Weights follow the native rules, and where they change, the source's stay in `Reading.extra`. What cannot be asked raises
`Unusable` with its line; nothing is guessed beyond what Moodle itself assumes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

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
from content.readers.answers import ANYTHING, wildcard_expression
from content.readers.base import Report, Unusable, choice_id
from content.readers.labels import truth_in
from content.readers.markup import Pictures, has_html, html_to_markdown, keep_pictures, normalise_latex, plain_to_markdown
from content.readers.moodle_cloze import split_cloze
from content.readers.multilang import split_languages
from content.readers.playable import MAX_OFFERED, check_gaps
from content.readers.xml_tree import Node


class Reading:
    """One `<question>`: its texts are converted here, so its pictures come together here too."""

    def __init__(self, report: Report, node: Node, kind: str, languages: dict[str, None]) -> None:
        self.report = report
        self.node = node
        self.kind = kind
        self.pictures = Pictures()
        self.extra: dict[str, Any] = {}
        self._languages = languages  # of the whole file, in order of appearance
        self._first: dict[str, Node] = {}
        for child in node.children():
            self._first.setdefault(child.name, child)

    def child(self, name: str) -> Node | None:
        """The first child element of this name."""
        return self._first.get(name)

    def raw(self, name: str) -> str:
        """The stripped character data of the first child element of this name; "" without one."""
        node = self._first.get(name)
        return node.text().strip() if node is not None else ""

    # texts

    def text(self, node: Node | None) -> Text | None:
        """The text of an element in its own format, as Discord Markdown in every language it holds."""
        if node is None:
            return None
        return self.converted(node.text("text"), node.get("format", default="html").lower())

    def converted(self, raw: str, format: str) -> Text | None:
        if not raw.strip():
            return None
        convert = self.conversion(format)
        variants = {"": raw} if format in ("plain_text", "2") else split_languages(raw)
        found = {language: convert(part).strip() for language, part in variants.items()}
        found = {language: part for language, part in found.items() if part}
        self._languages.update(dict.fromkeys(filter(None, found)))
        return Text(found) if found else None

    def conversion(self, format: str) -> Callable[[str], str]:
        """What turns a text of this Moodle format into Discord Markdown."""
        match format:
            case "markdown" | "4":
                return lambda raw: keep_pictures(normalise_latex(_without_plugin_mark(raw)), self.pictures)
            case "plain_text" | "2":
                return plain_to_markdown
            case "moodle_auto_format" | "0":
                return lambda raw: self._from_html(raw, keep_newlines=True)
            case _:
                return lambda raw: self._from_html(raw, keep_newlines=False)

    def _from_html(self, raw: str, *, keep_newlines: bool) -> str:
        if len(raw) <= 200 and "<img" not in raw.lower():
            return _short_html(raw, keep_newlines)
        return html_to_markdown(_without_plugin_mark(raw), self.pictures, keep_newlines=keep_newlines)

    def plain(self, node: Node | None) -> str:
        """An element that Moodle shows as it stands, such as a name; some files hold tags there, which are dropped."""
        raw = " ".join(node.text().split()) if node is not None else ""
        return " ".join(html_to_markdown(raw).split()) if has_html(raw) else plain_to_markdown(raw)

    def stem(self) -> Text | None:
        return self.text(self.child("questiontext"))

    # values

    def flag(self, name: str, *, default: bool) -> bool:
        raw = self.raw(name)
        if not raw:
            return default
        if raw.lower() not in ("true", "false", "1", "0"):
            self.report.warn(
                self.node.line, "MOODLE-FLAG", f"<{name}> is {raw[:20]!r}; taken as {str(default).lower()}. Write true or false."
            )
            return default
        if name == "single" and raw != "false" and raw.lower() == "false":
            self.report.warn(
                self.node.line,
                "MOODLE-SINGLE",
                f"<single>{raw}</single>: Moodle knows only lower case and reads it as true; taken as false.",
            )
        return raw.lower() in ("true", "1")

    def points(self) -> float:
        value = self.number(self.raw("defaultgrade") or "1", "defaultgrade")
        if not 0 <= value <= 1000:
            raise Unusable("MOODLE-POINTS", f"{value:g} points are not within 0 to 1,000. Correct <defaultgrade>.")
        return value

    def number(self, raw: str, what: str) -> float:
        """A finite number; a decimal comma is understood."""
        try:
            value = float(raw.strip().replace(",", ".") if raw.count(",") == 1 and "." not in raw else raw.strip())
        except ValueError:
            raise Unusable("MOODLE-NUMBER", f"{what} is {raw.strip()[:40]!r}, which is no number. Write digits.") from None
        if not math.isfinite(value):
            raise Unusable("MOODLE-NUMBER", f"{what} is {raw.strip()[:40]!r}; a finite number is needed.")
        return value

    def fraction(self, answer: Node) -> float:
        value = self.number(answer.get("fraction", default="0"), "an answer's fraction")
        if not -100 <= value <= 100:
            raise Unusable("MOODLE-FRACTION", f"the fraction {value:g} is not within -100 to 100. Correct it.", answer.line)
        return value


@lru_cache(maxsize=4_096)
def _short_html(raw: str, keep_newlines: bool) -> str:
    """Short texts repeat in every question of an export: "Your answer is correct.", "True", "None of these"."""
    return html_to_markdown(_without_plugin_mark(raw), keep_newlines=keep_newlines)


def _without_plugin_mark(raw: str) -> str:
    return re.sub(r"@@PLUGINFILE@@/+", "", raw) if "@@" in raw else raw


# One function per type ----------------------------------------------------------------------------------------------

Built = tuple[Text | None, Body]


def _multichoice(reading: Reading) -> Built:
    node = reading.node
    stem = reading.stem()
    single = reading.kind == "multichoice" and reading.flag("single", default=True)
    scoring = _stated_scoring(reading)
    choices: list[Choice] = []
    fractions: list[float] = []
    for answer in node.children("answer"):
        text = reading.text(answer)
        if text is None:
            reading.report.warn(answer.line, "MOODLE-EMPTY", "an empty choice was left out.")
            continue
        fraction = reading.fraction(answer)
        if answer.text("correctanswer").strip() == "1":  # OU multiple response
            fraction = 100.0
        fractions.append(fraction)
        choices.append(Choice(choice_id(len(choices)), text, round(fraction / 100, 7), reading.text(answer.child("feedback"))))
    if single:
        return stem, Choices(_single(reading, choices, fractions))
    if not any(fraction > 0 for fraction in fractions) and scoring is None:
        raise Unusable("NO-KEY", "no choice has a positive fraction. Give the right ones one.")
    if scoring is Scoring.ALL_OR_NOTHING or reading.kind != "multichoice":
        choices = [replace(choice, credit=1.0 if choice.credit > 0 else 0.0) for choice in choices]
        return stem, Choices(tuple(choices), many=True)
    positive = [fraction for fraction in fractions if fraction > 0]
    if max(positive) - min(positive) > 0.01 or abs(sum(positive) - 100) > 1.5:
        reading.extra["fractions"] = fractions
        shown = "/".join(f"{fraction:g}" for fraction in positive)
        why = "are not equal" if max(positive) - min(positive) > 0.01 else "do not add up to 100"
        reading.report.warn(node.line, "WEIGHTS", f"the right choices' weights {shown} {why}; each now counts the same.")
    choices = [replace(choice, credit=1.0 if choice.credit > 0 else choice.credit) for choice in choices]
    return stem, Choices(tuple(choices), many=True, scoring=scoring or Scoring.PER_CHOICE)


def _single(reading: Reading, choices: list[Choice], fractions: list[float]) -> tuple[Choice, ...]:
    best = max(fractions, default=0.0)
    if best <= 0:
        raise Unusable("NO-KEY", "no choice has a positive fraction. Give the right one 100.")
    if best < 100:
        reading.extra["fractions"] = fractions
        ways = "the highest was taken as right" if fractions.count(best) == 1 else "the highest ones were taken as right"
        reading.report.warn(reading.node.line, "WEIGHTS", f"no choice is worth 100, the most is {best:g}; {ways}. Check the key.")
        choices = [
            replace(choice, credit=1.0 if value == best else choice.credit) for choice, value in zip(choices, fractions, strict=True)
        ]
    return tuple(choices)


def _stated_scoring(reading: Reading) -> Scoring | None:
    """What our own export wrote: Moodle's format has no place for it and ignores the element."""
    stated = reading.raw("scoring")
    return Scoring(stated) if stated in tuple(Scoring) else None


def _truefalse(reading: Reading) -> Built:
    answers = list(reading.node.children("answer"))
    if len(answers) != 2:
        raise Unusable("MOODLE-TRUEFALSE", f"{len(answers)} answers where true and false are needed. Give both.")
    words = [" ".join(re.sub(r"<[^<>]{0,200}>", " ", answer.text("text")).split()) for answer in answers]
    first, second = map(truth_in, words)
    first_is_true = first is True or second is False
    if {first, second} != {True, False}:
        shown = " and ".join(repr(word[:30]) for word in words)
        taken = "first" if first_is_true or first is second is None else "second"
        reading.report.warn(answers[0].line, "MOODLE-TRUEFALSE", f"the answers are {shown}; the {taken} was taken as true. Check the key.")
        first_is_true = taken == "first"
    right, wrong = answers if first_is_true else reversed(answers)
    credits = {True: reading.fraction(right), False: reading.fraction(wrong)}
    if credits[True] == credits[False]:
        raise Unusable("NO-KEY", "true and false have the same fraction. Give the right one 100.")
    feedback = {value: text for value, answer in ((True, right), (False, wrong)) if (text := reading.text(answer.child("feedback")))}
    return reading.stem(), TrueFalse(credits[True] > credits[False], feedback)


def _shortanswer(reading: Reading) -> Built:
    case = reading.flag("usecase", default=False)
    accept: list[Accept] = []
    shown = ""
    for answer in reading.node.children("answer"):
        text = answer.text("text").strip()
        if not text:
            continue
        credit = round(reading.fraction(answer) / 100, 7)
        accept.append(accepted(text, case=case, credit=credit, feedback=reading.text(answer.child("feedback")), line=answer.line))
        if credit >= 1 and not shown and accept[-1].regex is not None:
            shown = text
    reveal = Text.of(plain_to_markdown(shown)) if shown and not any(entry.text and entry.credit >= 1 for entry in accept) else None
    return reading.stem(), Short(tuple(accept), reveal)


def accepted(text: str, *, case: bool, credit: float, feedback: Text | None, line: int | None = None) -> Accept:
    """An accepted answer; Moodle's `*` wildcard becomes an expression, `\\*` is a literal star."""
    if not re.search(r"(?<!\\)\*", text):
        return Accept(text=text.replace("\\*", "*"), case=case, credit=credit, feedback=feedback)
    expression = wildcard_expression(text)
    if expression is None:
        raise Unusable("MOODLE-WILDCARD", "the answer with wildcards is too long. Shorten it.", line)
    return Accept(regex=expression, case=case, credit=credit, feedback=feedback)


def _numerical(reading: Reading) -> Built:
    units: list[tuple[str, float]] = []
    for unit in (reading.child("units") or reading.node).children("unit"):
        name = unit.text("unit_name").strip()
        if name:
            units.append((name, reading.number(unit.text("multiplier") or "1", "a unit's multiplier")))
    if reading.raw("showunits") == "3":  # Moodle: the unit is not asked for
        units = []
    accept: list[Accept] = []
    for answer in reading.node.children("answer"):
        raw = answer.text("text").strip()
        credit = round(reading.fraction(answer) / 100, 7)
        feedback = reading.text(answer.child("feedback"))
        if raw == "*":
            accept.append(Accept(regex=ANYTHING, credit=credit, feedback=feedback))
            continue
        if not raw:
            continue
        number = reading.number(raw, "the answer")
        slack = abs(reading.number(answer.text("tolerance") or "0", "the tolerance"))
        entry = Accept(number=number, tolerance=slack, credit=credit, feedback=feedback)
        base = next((name for name, factor in units if factor == 1), None)
        accept.append(replace(entry, unit=base))
        accept += [
            replace(entry, number=number * factor, tolerance=slack * abs(factor), unit=name) for name, factor in units if name != base
        ]
    return reading.stem(), Short(tuple(accept))


def _matching(reading: Reading) -> Built:
    stem = reading.stem()
    pairs: list[Pair] = []
    distractors: list[Item] = []
    for sub in reading.node.children("subquestion"):
        left = reading.text(sub)
        answer = sub.child("answer")
        right = reading.plain(answer.child("text") if answer is not None else None)
        if not right:
            if left is not None:
                raise Unusable("MOODLE-MATCH", "an item to match has no answer. Add it.", sub.line)
            continue
        if left is None:
            distractors.append(Item(f"x{len(distractors) + 1}", Text.of(right)))
        else:
            pairs.append(Pair(choice_id(len(pairs)), left, Text.of(right)))
    return stem, Match(tuple(pairs), tuple(distractors), _stated_scoring(reading) or Scoring.PER_CHOICE)


def _ordering(reading: Reading) -> Built:
    placed: list[tuple[float, int, Text]] = []
    for position, answer in enumerate(reading.node.children("answer")):
        text = reading.text(answer)
        if text is None:
            raise Unusable("MOODLE-ORDER", "an item to put in order is empty. Write it or remove it.", answer.line)
        placed.append((reading.number(answer.get("fraction", default=str(position + 1)), "an item's position"), position, text))
    items = tuple(Item(choice_id(i), text) for i, (_, _, text) in enumerate(sorted(placed, key=lambda entry: entry[:2])))
    by_type = {"-1": Scoring.ALL_OR_NOTHING, "0": Scoring.PER_CHOICE}
    grading = reading.raw("gradingtype") or "0"
    return reading.stem(), Order(items, _stated_scoring(reading) or by_type.get(grading, Scoring.ADJACENT))


def _essay(reading: Reading) -> Built:
    required = reading.raw("attachmentsrequired")
    if required not in ("", "0"):
        reading.report.warn(
            reading.node.line, "PLAY-UPLOAD", f"{required} uploaded file(s) are required in Moodle; here the answer is text."
        )
    guidance = reading.text(reading.child("graderinfo"))
    reference, rubric = _rubric(next(iter(guidance)) if guidance else "", reading.points())
    return reading.stem(), Open(reference, rubric)


_CRITERION: Final = re.compile(r"- \[(\d+(?:\.\d+)?)\] (.+?)(?: \{#([a-z0-9-]{1,40})\})?")
_RUBRIC_LEVEL: Final = re.compile(r"  - \[(\d+(?:\.\d+)?)\] (.+)")


def _rubric(guidance: str, points: float) -> tuple[Text | None, tuple[Criterion, ...]]:
    """Reference answer and criteria from what the author told graders; free text is one criterion worth the question."""
    if not guidance:
        return None, ()
    before, found, after = guidance.rpartition("Rubric:\n")
    criteria: list[Criterion] = []
    for line in after.split("\n") if found and (not before or before.endswith("\n")) else ():
        if (entry := _CRITERION.fullmatch(line)) is not None:
            criteria.append(Criterion(entry[3] or f"c{len(criteria) + 1}", float(entry[1]), Text.of(entry[2])))
        elif (level := _RUBRIC_LEVEL.fullmatch(line)) is not None and criteria:
            last = criteria[-1]
            criteria[-1] = replace(last, levels=(*last.levels, RubricLevel(float(level[1]), Text.of(level[2]))))
        elif line.strip():
            criteria = []
            break
    if criteria:
        return (Text.of(before.strip()) if before.strip() else None), tuple(criteria)
    return None, (Criterion("c1", points or 1.0, Text.of(guidance)),)


def _description(reading: Reading) -> Built:
    return reading.stem(), Info()


def _cloze(reading: Reading) -> Built:
    node = reading.child("questiontext")
    raw = node.text("text") if node is not None else ""
    format = node.get("format", default="html").lower() if node is not None else "html"
    shown = reading.conversion(format) if format in ("markdown", "4", "plain_text", "2") else None
    text, blanks = split_cloze(next(iter(split_languages(raw).values())), reading.node.line, accepted, shown)
    if not blanks:
        raise Unusable("MOODLE-CLOZE", "the text holds no {1:SHORTANSWER:=…} gap. Add one or make it a description.")
    return reading.converted(text, format), Short(blanks=blanks)


def _gapselect(reading: Reading) -> Built:
    boxes = list(reading.node.children("selectoption", "dragbox"))
    if len(boxes) > MAX_OFFERED:
        raise Unusable("PLAY-CHOICES", f"{len(boxes)} words to choose from; more than {MAX_OFFERED} are not read. Split the question.")
    options = [(reading.plain(box.child("text")), box.text("group").strip() or "1") for box in boxes]
    stem = reading.stem()
    if stem is None:
        raise Unusable("MOODLE-STEM", "it has no text. Write the question.")
    blanks: list[Blank] = []

    def blank(found: re.Match[str]) -> str:
        number = int(found[1])
        check_gaps(len(blanks) + 1)
        if not 1 <= number <= len(options):
            raise Unusable("MOODLE-GAP", f"the gap [[{number}]] has no answer; there are {len(options)}. Correct the number.")
        right, group = options[number - 1]
        texts = list(dict.fromkeys(text for text, other in options if other == group and text))
        choices = tuple(Choice(choice_id(i), Text.of(text), float(text == right)) for i, text in enumerate(texts))
        blanks.append(Blank(f"b{len(blanks) + 1}", choices=choices))
        return "{{" + blanks[-1].id + "}}"

    text = re.sub(r"\\?\[\\?\[(\d{1,3})\\?\]\\?\]", blank, next(iter(stem)))
    if not blanks:
        raise Unusable("MOODLE-GAP", "the text holds no [[1]] gap. Add one.")
    return Text.of(text), Short(blanks=tuple(blanks))


BUILDERS: Final[dict[str, Callable[[Reading], Built]]] = {
    "multichoice": _multichoice,
    "multichoiceset": _multichoice,
    "oumultiresponse": _multichoice,
    "truefalse": _truefalse,
    "shortanswer": _shortanswer,
    "numerical": _numerical,
    "matching": _matching,
    "match": _matching,
    "ordering": _ordering,
    "essay": _essay,
    "essayautograde": _essay,
    "description": _description,
    "cloze": _cloze,
    "multianswer": _cloze,
    "gapselect": _gapselect,
    "ddwtos": _gapselect,
}
