"""Moodle XML: what Moodle imports as a question bank. Texts are written as Markdown, which Moodle renders.

All types are held. Moodle numbers the gaps of a text, so gaps are renamed in order; ranges become a number with a
tolerance; scoring that Moodle does not know stands in an element that it ignores.
"""

from __future__ import annotations

import re
from typing import Any, Final
from xml.sax.saxutils import escape

from content.model import Accept, Choices, Info, Match, Open, Order, Question, Quiz, Scoring, Short, Text, TrueFalse
from content.readers.answers import ANYTHING, wildcard_of
from content.readers.base import number_text
from content.writers.base import Export, Losses, plain_text, with_addresses

_HOLDS: Final = frozenset(("title", "explanation", "feedback", "hints", "difficulty", "points", "tags", "media", "shuffle"))
_NOT_XML: Final = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GAP: Final = re.compile(r"\{\{\s*([^{}\s]{1,64})\s*\}\}")
_CLOZE: Final = re.compile(r"([\\~=#}/\"])")


class MoodleXmlWriter:
    name = "moodle-xml"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        parts = ['<?xml version="1.0" encoding="UTF-8"?>', "<quiz>"]
        category = ""
        for question in quiz.questions:
            xml = _Writing(question, losses).xml()
            if xml is None:
                continue
            losses.written += 1
            wanted = str(_extra(question).get("category", ""))
            if wanted and wanted != category:
                parts.append(f'<question type="category"><category><text>{_xml(wanted)}</text></category></question>')
                category = wanted
            parts.append(xml)
        return losses.export("\n".join([*parts, "</quiz>", ""]), "xml")


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub("", text))


def _extra(question: Question) -> dict[str, Any]:
    found = question.extra.get("moodle-xml")
    return dict(found) if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # any YAML


_KEPT: Final = (
    *("answernumbering", "showstandardinstruction", "responseformat", "responserequired", "responsefieldlines", "minwordlimit"),
    *("maxwordlimit", "attachments", "unitgradingtype", "unitpenalty", "showunits", "layouttype", "selecttype", "selectcount"),
)
_KEPT_TEXTS: Final = ("correctfeedback", "partiallycorrectfeedback", "incorrectfeedback", "responsetemplate")


def _kept(question: Question) -> list[str]:
    """What the reader found no native place for."""
    kept = {name: _xml(str(value)) for name, value in _extra(question).items()}
    rows = [f"<{name}>{kept[name]}</{name}>" for name in _KEPT if name in kept]
    return rows + [f'<{name} format="markdown"><text>{kept[name]}</text></{name}>' for name in _KEPT_TEXTS if name in kept]


class _Writing:
    def __init__(self, question: Question, losses: Losses) -> None:
        self.question = question
        self.losses = losses
        self.more: list[str] = []

    def markdown(self, text: Text | None) -> str:
        return _xml(with_addresses(self.losses.text(text), self.question.media))

    def element(self, name: str, text: Text | None, *, always: bool = False) -> str:
        """`<name format="markdown"><text>…`; "" for no text unless `always`."""
        if text is None and not always:
            return ""
        return f'<{name} format="markdown"><text>{self.markdown(text)}</text></{name}>'

    def answer(self, fraction: float, text: str, feedback: Text | None, more: str = "", form: str = "markdown") -> str:
        said = self.element("feedback", feedback)
        return f'<answer fraction="{_number(fraction)}" format="{form}"><text>{text}</text>{said}{more}</answer>'

    def xml(self) -> str | None:
        question = self.question
        stem = self.losses.text(question.stem)
        built = self._body()
        if built is None:
            return None
        kind, body = built
        if kind == "cloze":
            stem = self._cloze(stem)
        name = plain_text(self.losses.text(question.title), question.media) or question.id
        tags = [*question.tags, *((f"difficulty:{question.difficulty}",) if question.difficulty != 3 else ())]
        self.losses.dropped(question, _HOLDS, *self.more)
        rows = [
            f'<question type="{kind}">',
            f"<name><text>{_xml(' '.join(name.split()))}</text></name>",
            f'<questiontext format="markdown"><text>{_xml(with_addresses(stem, question.media))}</text></questiontext>',
            self.element("generalfeedback", question.explanation, always=True),
            f"<defaultgrade>{_number(question.points)}</defaultgrade>" if kind != "description" else "<defaultgrade>0</defaultgrade>",
            f"<penalty>{_number(_penalty(question))}</penalty>",
            f"<hidden>{int(str(_extra(question).get('hidden')) == '1')}</hidden>",
            f"<idnumber>{_xml(question.id)}</idnumber>",
            *body,
            *(self.element("hint", hint) for hint in question.hints),
            *_kept(question),
        ]
        if tags:
            rows.append("<tags>" + "".join(f"<tag><text>{_xml(tag)}</text></tag>" for tag in tags) + "</tags>")
        return "\n".join([*(row for row in rows if row), "</question>"])

    def _body(self) -> tuple[str, list[str]] | None:
        question = self.question
        shuffle = f"<shuffleanswers>{str(question.shuffle).lower()}</shuffleanswers>"
        match question.body:
            case Choices():
                return self._choices(question.body, shuffle)
            case TrueFalse(answer=answer, feedback=feedback):
                rows = [
                    self.answer(100.0 * (value is answer), str(value).lower(), feedback.get(value), form="moodle_auto_format")
                    for value in (True, False)
                ]
                return "truefalse", rows
            case Short(blanks=blanks) if blanks:
                return "cloze", []
            case Short():
                return self._typed(question.body)
            case Open(reference=reference, rubric=rubric):
                lines = [self.losses.text(reference)] if reference is not None else []
                if rubric:
                    lines.append("Rubric:")
                for point in rubric:
                    words = " ".join(self.losses.text(point.criterion).split())
                    lines.append(f"- [{_number(point.points)}] {words} {{#{point.id}}}")
                    lines += [f"  - [{_number(level.points)}] {' '.join(self.losses.text(level.text).split())}" for level in point.levels]
                if question.body.probes:
                    self.more.append("probes")
                guide = f'<graderinfo format="markdown"><text>{_xml(chr(10).join(lines))}</text></graderinfo>'
                return "essay", [guide if lines else ""]
            case Order(items=items, scoring=scoring):
                kinds = {Scoring.ALL_OR_NOTHING: "-1", Scoring.PER_CHOICE: "0", Scoring.ADJACENT: "2"}
                rows = [self.answer(i, self.markdown(item.text), None) for i, item in enumerate(items, 1)]
                return "ordering", [f"<gradingtype>{kinds[scoring]}</gradingtype>", f"<scoring>{scoring}</scoring>", *rows]
            case Match(pairs=pairs, distractors=distractors, scoring=scoring):
                rows = [self._pair(self.markdown(pair.left), pair.right) for pair in pairs]
                rows += [self._pair("", item.text) for item in distractors]
                return "matching", [shuffle, f"<scoring>{scoring}</scoring>", *rows]
            case Info():
                return "description", []

    def _pair(self, left: str, right: Text) -> str:
        shown = self.losses.text(right)
        plain = plain_text(shown, self.question.media)
        words = _xml(" ".join(plain.split()))
        return f'<subquestion format="markdown"><text>{left}</text><answer><text>{words}</text></answer></subquestion>'

    def _choices(self, body: Choices, shuffle: str) -> tuple[str, list[str]] | None:
        if body.many and not any(choice.credit > 0 for choice in body.choices):
            self.losses.left_out(self.question, "no choice is right, which Moodle cannot say.")
            return None
        if body.least != 1 or body.most is not None:
            self.more.append("number of choices to select")
        kept = _extra(self.question).get("fractions")
        fractions = [float(value) for value in kept] if isinstance(kept, list) and len(kept) == len(body.choices) else None  # pyright: ignore
        keys = sum(choice.credit > 0 for choice in body.choices)
        rows: list[str] = []
        for i, choice in enumerate(body.choices):
            fraction = choice.credit * 100
            if body.many and choice.credit > 0:
                fraction = 100 / keys
            elif body.many and body.scoring is Scoring.ALL_OR_NOTHING:
                fraction = -100.0
            if fractions is not None:
                fraction = fractions[i]
            rows.append(self.answer(fraction, self.markdown(choice.text), choice.feedback))
        scoring = [f"<scoring>{body.scoring}</scoring>"] if body.many and body.scoring is not Scoring.PER_CHOICE else []
        return "multichoice", [f"<single>{str(not body.many).lower()}</single>", shuffle, *scoring, *rows]

    def _typed(self, body: Short) -> tuple[str, list[str]] | None:
        entries = body.accept
        if body.reveal is not None:
            self.more.append("answer to reveal")
        if any(entry.language is not None for entry in entries):
            self.more.append("language of an answer")
        numeric = all(entry.number is not None or entry.span is not None or entry.regex == ANYTHING for entry in entries)
        if numeric and any(entry.regex is None for entry in entries):
            units = {entry.unit for entry in entries if entry.unit is not None}
            if len(units) > 1:
                self.more.append("units of answers")
            rows = [self._numeric(entry) for entry in entries]
            if len(units) == 1:
                unit = f"<unit><multiplier>1</multiplier><unit_name>{_xml(units.pop())}</unit_name></unit>"
                rows.append(f"<units>{unit}</units>")
            return "numerical", rows
        texts = [(entry, text) for entry in entries if (text := self._pattern(entry)) is not None]
        if not texts:
            self.losses.left_out(self.question, "none of its accepted answers can be written for Moodle.")
            return None
        cases = {entry.case for entry, _ in texts}
        if len(cases) > 1:
            self.losses.changed(self.question, "MOODLE-CASE", "Moodle minds upper and lower case in all answers or in none; here in none.")
        usecase = f"<usecase>{int(cases == {True})}</usecase>"
        return "shortanswer", [
            usecase,
            *(self.answer(entry.credit * 100, _xml(text), entry.feedback, form="plain_text") for entry, text in texts),
        ]

    def _numeric(self, entry: Accept) -> str:
        if entry.regex is not None:
            return self.answer(entry.credit * 100, "*", entry.feedback, form="plain_text")
        number, slack = _middle(entry)
        more = f"<tolerance>{number_text(slack)}</tolerance>"
        return self.answer(entry.credit * 100, number_text(number), entry.feedback, more, form="plain_text")

    def _pattern(self, entry: Accept) -> str | None:
        if entry.text is not None:
            return entry.text.replace("*", "\\*")
        pattern = wildcard_of(entry.regex) if entry.regex is not None else None
        if pattern is None and entry.number is not None:
            return number_text(entry.number)
        if pattern is None:
            what = f"the expression {entry.regex[:60]!r}" if entry.regex is not None else "a range among text answers"
            self.losses.changed(self.question, "MOODLE-REGEX", f"{what} was left out; Moodle's short answers know only '*'.")
        return pattern

    def _cloze(self, stem: str) -> str:
        assert isinstance(self.question.body, Short)
        blanks = {blank.id: blank for blank in self.question.body.blanks}
        names = [name for name in _GAP.findall(stem) if name in blanks]
        if names != [f"b{i}" for i in range(1, len(names) + 1)]:
            self.more.append("names of gaps")

        def gap(found: re.Match[str]) -> str:
            blank = blanks.get(found.group(1))
            if blank is None:
                return found.group()
            if blank.choices:
                rows = [self._option(choice.credit, self.losses.text(choice.text), choice.feedback) for choice in blank.choices]
                return "{1:MULTICHOICE:" + "~".join(rows) + "}"
            numeric = all(entry.number is not None or entry.span is not None for entry in blank.accept)
            rows: list[str] = []
            for entry in blank.accept:
                if numeric:
                    number, slack = _middle(entry)
                    rows.append(self._option(entry.credit, f"{number_text(number)}:{number_text(slack)}", entry.feedback))
                elif (text := self._pattern(entry)) is not None:
                    rows.append(self._option(entry.credit, text, entry.feedback))
            case = all(entry.case for entry in blank.accept) and bool(blank.accept)
            return "{1:" + ("NUMERICAL" if numeric else "SHORTANSWER_C" if case else "SHORTANSWER") + ":" + "~".join(rows) + "}"

        return _GAP.sub(gap, stem)

    def _option(self, credit: float, text: str, feedback: Text | None) -> str:
        mark = "=" if credit == 1 else "" if credit == 0 else f"%{_number(credit * 100)}%"
        said = "#" + _CLOZE.sub(r"\\\1", self.losses.text(feedback)) if feedback is not None else ""
        return mark + _CLOZE.sub(r"\\\1", text) + said


def _middle(entry: Accept) -> tuple[float, float]:
    """A number and its absolute tolerance; of a range its middle."""
    if entry.span is not None:
        low, high = entry.span
        return (low + high) / 2, (high - low) / 2
    number = entry.number or 0.0
    return number, abs(number) * entry.tolerance if entry.relative else entry.tolerance


def _penalty(question: Question) -> float:
    kept = _extra(question).get("penalty")
    return float(kept) if isinstance(kept, int | float) and not isinstance(kept, bool) else 0.3333333


def _number(value: float) -> str:
    return f"{value:.7f}".rstrip("0").rstrip(".") if value else "0"
