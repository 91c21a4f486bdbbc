"""One QTI 1.2 item as a native question.

The type comes from Canvas's or Common Cartridge's metadata; where there is none, from the shape of the presentation.

Errors: `Unusable` for what cannot be asked here (file upload, formulas, hot spots) or has no key.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any, Final

from content.model import (
    Accept,
    Blank,
    Body,
    Choice,
    Choices,
    Info,
    Item,
    Match,
    Open,
    Order,
    Pair,
    Question,
    Scoring,
    Short,
    Text,
    TrueFalse,
)
from content.readers.base import Report, Unusable, choice_id, slug, text_or_none
from content.readers.intake import Archive
from content.readers.labels import true_false_pair, truth_in
from content.readers.markup import Pictures, has_html, html_to_markdown, plain_to_markdown
from content.readers.package import media_of, short_id, without_filebase
from content.readers.playable import check_gaps
from content.readers.qti12_scoring import Scorer
from content.readers.qti_feedback import with_general_feedback
from content.readers.xml_tree import Node

_REFUSED: Final = {
    "file_upload_question": ("PLAY-UPLOAD", "it asks for a file; Discord rounds take none"),
    "calculated_question": ("QTI-TYPE", "its numbers are computed by a formula"),
    "hot_spot_question": ("QTI-TYPE", "it is answered by pointing into a picture"),
}
_PROFILES: Final = {
    "multiple_choice": "multiple_choice_question",
    "true_false": "true_false_question",
    "multiple_response": "multiple_answers_question",
    "fib": "short_answer_question",
    "pattern_match": "short_answer_question",
    "essay": "essay_question",
}
_RESPONSES: Final = ("response_lid", "response_str", "response_num", "response_xy", "response_grp")


MAX_COMPARISONS: Final = 100_000
"""Answers times scoring rules of one item; Canvas's largest matching questions have about 2,000."""


class Item12:
    """`wanted_id` is the item's identifier, for stable ids across imports."""

    def __init__(self, node: Node, report: Report, archive: Archive | None, member: str) -> None:
        self._node = node
        self._report = report
        self._archive = archive
        self._member = member
        self._pictures = Pictures()
        self._metadata = _metadata(node)
        presentation = node.child("presentation")
        if presentation is None:
            raise Unusable("QTI-ITEM", "the item has no <presentation>. Export it again.")
        self._presentation = presentation
        self._responses = [found for found in presentation.all(*_RESPONSES) if found.get("ident")]
        single = frozenset(found.get("ident") for found in self._responses if found.get("rcardinality").lower() in ("", "single"))
        self._scorer = Scorer(node, single)
        offered = sum(1 for _ in presentation.all("response_label"))
        if offered * len(self._scorer.rules) > MAX_COMPARISONS:
            raise Unusable(
                "PLAY-CHOICES", f"{offered} answers under {len(self._scorer.rules)} rules are too many to read. Split the question."
            )
        self._feedback = {found.get("ident"): found for found in node.children("itemfeedback")}
        self.wanted_id = short_id(node.get("ident"))

    def question(self, *, shuffled: bool) -> Question:
        kind = self._kind()
        if kind in _REFUSED:
            code, why = _REFUSED[kind]
            raise Unusable(code, f"{why}. Ask it elsewhere or rewrite it.")
        stem_html = self._stem_html(gaps=kind == "fill_in_multiple_blanks_question")
        stem, body = self._built(kind, stem_html)
        title = plain_to_markdown(" ".join(self._node.get("title").split()))
        title = "" if title.lower() == "question" else title
        if not stem:
            stem = title or "Question"
            self._report.warn(self._node.line, "NO-STEM", "the question has no text; its title is asked instead. Write the question.")
        if title and " ".join(stem.split()).startswith(title.rstrip(".… ")):
            title = ""
        hints = tuple(hint for node in self._feedback_texts("hint", "hintmaterial") if (hint := node))
        question = Question(
            id="",
            stem=Text.of(stem),
            body=self._with_feedback(body),
            title=text_or_none(title),
            explanation=self._explanation(),
            hints=hints,
            points=self._points(),
            shuffle=shuffled and not any(node.get("shuffle").lower() == "no" for node in self._presentation.all("render_choice")),
            extra=self._extra(kind),
        )
        return replace(question, media=media_of(self._pictures, self._report, self._archive, self._member, self._node.line))

    # what kind of question

    def _kind(self) -> str:
        declared = self._metadata.get("question_type", "").lower()
        if declared:
            return declared
        profile = re.match(r"cc\.([a-z_]+)\.", self._metadata.get("cc_profile", "").lower())
        if profile and profile[1] in _PROFILES and profile[1] != "fib":
            return _PROFILES[profile[1]]
        names = [found.name for found in self._responses]
        if not names:
            return "text_only_question"
        if "response_xy" in names or "response_grp" in names:
            return "hot_spot_question"
        if all(name == "response_lid" for name in names):
            return self._kind_of_choice()
        if "response_lid" in names:
            raise Unusable("QTI-TYPE", "it mixes choices and typed answers. Split it into two questions.")
        if len(names) > 1:
            return "fill_in_multiple_blanks_question"
        ident = self._responses[0].get("ident")
        fib = self._responses[0].first("render_fib")
        numeric = names[0] == "response_num" or (fib is not None and fib.get("fibtype").lower() in ("decimal", "integer", "scientific"))
        if numeric and self._scorer.numbers(ident):
            return "numerical_question"
        return "short_answer_question" if self._scorer.texts(ident) else "essay_question"

    def _kind_of_choice(self) -> str:
        if len(self._responses) > 1:
            own = all(found.child("material") is not None for found in self._responses)
            return "matching_question" if own else "multiple_dropdowns_question"
        only = self._responses[0]
        match only.get("rcardinality").lower():
            case "multiple":
                return "multiple_answers_question"
            case "ordered":
                return "ordering_question"
            case _:
                texts = [text for _, text in self._labels(only)]
                return "true_false_question" if true_false_pair(texts) else "multiple_choice_question"

    def _built(self, kind: str, stem_html: str) -> tuple[str, Body]:
        stem = self._markdown(stem_html)
        match kind:
            case "multiple_choice_question":
                return stem, self._choices(many=False)
            case "true_false_question":
                return stem, self._truefalse()
            case "multiple_answers_question":
                return stem, self._choices(many=True)
            case "short_answer_question":
                return stem, Short(self._typed(self._only_response()))
            case "numerical_question":
                return stem, Short(self._numbers(self._only_response()))
            case "essay_question":
                return stem, Open()
            case "text_only_question":
                return stem, Info()
            case "fill_in_multiple_blanks_question" | "multiple_dropdowns_question":
                return self._blanks(stem_html, picked=kind.startswith("multiple_dropdowns"))
            case "matching_question":
                return stem, self._match()
            case "ordering_question":
                return stem, self._order()
            case _:
                raise Unusable("QTI-TYPE", f"the question type {kind[:60]!r} is not known. Rewrite it as another type.")

    def _only_response(self) -> Node:
        if len(self._responses) != 1:
            raise Unusable("QTI-ITEM", f"{len(self._responses)} places to answer where 1 is needed. Export it again.")
        return self._responses[0]

    # texts

    def _stem_html(self, *, gaps: bool) -> str:
        """The material outside the responses; where `gaps`, typed responses leave their mark at their place."""
        parts: list[str] = []

        def collect(node: Node) -> None:
            for child in node.children():
                if child.name == "material":
                    parts.append(_material_html(child))
                elif child.name in _RESPONSES:
                    if gaps and child.name != "response_lid":
                        parts.append(f" [{child.get('ident')}] ")
                elif child.name in ("flow", "flow_mat"):
                    collect(child)

        collect(self._presentation)
        return "".join(parts)

    def _markdown(self, html: str) -> str:
        return html_to_markdown(without_filebase(html), self._pictures).strip()

    def _material(self, node: Node) -> str:
        return self._markdown("".join(_material_html(found) for found in node.all("material")))

    def _labels(self, response: Node) -> list[tuple[str, str]]:
        """(identifier, text) of the answers offered."""
        return [(label.get("ident"), self._material(label)) for label in response.all("response_label")]

    def _feedback_texts(self, *names: str) -> list[Text]:
        found = (self._material(node) for feedback in self._feedback.values() for node in feedback.all(*names))
        return [Text.of(text) for text in found if text]

    def _feedback_text(self, *idents: str) -> Text | None:
        for ident in idents:
            node = self._feedback.get(ident)
            if node is not None and (text := self._material(node)):
                return Text.of(text)
        return None

    def _explanation(self) -> Text | None:
        general = self._feedback_text("general_fb")
        solutions = self._feedback_texts("solutionmaterial")
        return general or (solutions[0] if solutions else None)

    def _with_feedback(self, body: Body) -> Body:
        """What Canvas says to any right and to any wrong answer goes to the choices that have no word of their own."""
        right, wrong = (
            self._feedback_text("correct_fb", "correct"),
            self._feedback_text("general_incorrect_fb", "incorrect_fb", "incorrect"),
        )
        return with_general_feedback(body, right, wrong)

    def _points(self) -> float:
        raw = self._metadata.get("points_possible") or self._metadata.get("cc_weighting") or "1"
        try:
            points = float(raw)
        except ValueError:
            points = math.nan
        if not 0 <= points <= 1000:
            self._report.warn(self._node.line, "QTI-POINTS", f"points_possible is {raw[:20]!r}; taken as 1. Use 0 to 1,000.")
            return 1.0
        return points

    def _extra(self, kind: str) -> dict[str, Any]:
        kept: dict[str, Any] = {"ident": self._node.get("ident"), "question_type": kind}
        for name in ("correct_fb", "general_incorrect_fb"):
            if (text := self._feedback_text(name)) is not None:
                kept[name] = next(iter(text))
        return {"qti12": {name: value for name, value in kept.items() if value}}

    # bodies

    def _choices(self, *, many: bool) -> Choices:
        response = self._only_response()
        ident = response.get("ident")
        labels = self._labels(response)
        empty = sum(not text for _, text in labels)
        if empty:
            self._report.warn(response.line, "QTI-EMPTY", f"{empty} empty choice(s) were left out.")
        if not self._scorer.scores:
            raise Unusable("NO-KEY", "no rule gives a score, so the right answer is not known. Mark it and export again.")
        nothing = self._scorer.credit({ident: frozenset()}) if many else 0.0  # some banks pay for wrong choices left alone
        alone = {label: self._scorer.credit({ident: frozenset({label})}) - nothing for label, _ in labels}
        keys = {label for label, credit in alone.items() if credit > 0}
        scoring = Scoring.ALL_OR_NOTHING
        if many:
            required = self._scorer.required(ident)
            if self._scorer.adds():
                scoring = Scoring.PER_CHOICE
            elif self._scorer.credit({ident: required}) > 0:
                keys = set(required)
            alone = {label: 1.0 if label in keys else min(0.0, credit) for label, credit in alone.items()}
        choices: list[Choice] = []
        for label, text in labels:
            if not text:
                if label in keys:
                    raise Unusable("QTI-EMPTY", "the right choice is empty. Write it.")
                continue
            credit = round(max(-1.0, min(1.0, alone[label])), 6)
            choices.append(Choice(choice_id(len(choices)), Text.of(text), credit, self._said_to(ident, label)))
        if not keys:
            raise Unusable("NO-KEY", "no choice scores. Mark the right one and export again.")
        if not many and not any(choice.correct for choice in choices):
            best = max(choice.credit for choice in choices)
            self._report.warn(
                self._node.line, "WEIGHTS", f"no choice earns all points, the most is {best:.0%}; the highest was taken as right."
            )
            choices = [replace(choice, credit=1.0 if choice.credit == best else choice.credit) for choice in choices]
        return Choices(tuple(choices), many=many, scoring=scoring)

    def _said_to(self, response: str, label: str) -> Text | None:
        linked = [ident for ident in self._scorer.feedback_of(response, label) if ident not in ("correct_fb", "general_incorrect_fb")]
        return self._feedback_text(*linked, f"{label}_fb")

    def _truefalse(self) -> TrueFalse:
        response = self._only_response()
        ident = response.get("ident")
        labels = self._labels(response)
        if len(labels) != 2:
            raise Unusable("QTI-TRUEFALSE", f"{len(labels)} answers where true and false are needed. Give both.")
        values = [truth_in(text) for _, text in labels]
        if {*values} != {True, False}:
            self._report.warn(
                response.line,
                "QTI-TRUEFALSE",
                f"the answers are {labels[0][1][:30]!r} and {labels[1][1][:30]!r}; the first was taken as true.",
            )
            values = [True, False]
        credits = [self._scorer.credit({ident: frozenset({label})}) for label, _ in labels]
        if credits[0] == credits[1]:
            raise Unusable("NO-KEY", "true and false score the same. Mark the right one and export again.")
        answer = values[0] if credits[0] > credits[1] else values[1]
        said = {bool(value): text for value, (label, _) in zip(values, labels, strict=True) if (text := self._said_to(ident, label))}
        return TrueFalse(bool(answer), said)

    def _typed(self, response: Node) -> tuple[Accept, ...]:
        found = self._scorer.texts(response.get("ident"))
        return tuple(
            Accept(
                text=text,
                case=case,
                credit=round(credit, 6),
                feedback=self._feedback_text(*(link for link in links if link != "correct_fb")),
            )
            for text, case, credit, links in found
        )

    def _numbers(self, response: Node) -> tuple[Accept, ...]:
        return tuple(self._scorer.numbers(response.get("ident")))

    def _blanks(self, stem_html: str, *, picked: bool) -> tuple[str, Body]:
        blanks: list[Blank] = []
        taken: set[str] = set()
        missing: list[str] = []
        for position, response in enumerate(self._responses, 1):
            check_gaps(position)
            ident = response.get("ident")
            name = ident.removeprefix("response_")
            blank_id = slug(name) or f"b{position}"
            while blank_id in taken:
                blank_id = f"b{position}-{len(taken)}"
            taken.add(blank_id)
            mark = "{{" + blank_id + "}}"
            marked = next((found for found in (f"[{name}]", f"[{escape(name)}]", f"[{ident}]") if found in stem_html), None)
            if marked is None:
                missing.append(mark)
            else:
                stem_html = stem_html.replace(marked, mark, 1)
            blanks.append(self._blank(blank_id, response, picked=picked))
        stem = self._markdown(stem_html)
        if missing:
            self._report.warn(self._node.line, "QTI-GAP", f"{len(missing)} gap(s) have no place in the text; added at its end.")
            stem = " ".join((stem, *missing))
        return stem, Short(blanks=tuple(blanks))

    def _blank(self, blank_id: str, response: Node, *, picked: bool) -> Blank:
        ident = response.get("ident")
        if response.name != "response_lid":
            return Blank(blank_id, self._typed(response) or self._numbers(response))
        labels = [(label, text) for label, text in self._labels(response) if text]
        if not picked:  # Canvas scores only the first, but offers every label as an accepted answer
            plain = [" ".join(label.text().split()) for label in response.all("response_label")]
            return Blank(blank_id, tuple(Accept(text=text) for text in dict.fromkeys(plain) if text))
        keys = {label for label, _ in labels if self._scorer.credit({ident: frozenset({label})}) > 0}
        choices = [
            Choice(choice_id(i), Text.of(text), float(label in keys), self._said_to(ident, label)) for i, (label, text) in enumerate(labels)
        ]
        return Blank(blank_id, choices=tuple(choices))

    def _match(self) -> Match:
        pairs: list[Pair] = []
        offered: dict[str, None] = {}
        for response in self._responses:
            ident = response.get("ident")
            left = self._markdown("".join(_material_html(found) for found in response.children("material")))
            labels = [(label, text) for label, text in self._labels(response) if text]
            offered |= dict.fromkeys(text for _, text in labels)
            right = next((text for label, text in labels if self._scorer.credit({ident: frozenset({label})}) > 0), None)
            if not left:
                raise Unusable("QTI-MATCH", "an item to match is empty. Write it.", response.line)
            if right is None:
                raise Unusable("NO-KEY", f"no answer is right for {left[:40]!r}. Mark it and export again.", response.line)
            pairs.append(Pair(choice_id(len(pairs)), Text.of(left), Text.of(right)))
        used = {pair.right[""] for pair in pairs}
        wrong = [text for text in offered if text not in used]
        distractors = tuple(Item(f"x{i}", Text.of(text)) for i, text in enumerate(wrong, 1))
        return Match(tuple(pairs), distractors, Scoring.PER_CHOICE)

    def _order(self) -> Order:
        response = self._only_response()
        texts = dict(self._labels(response))
        for rule in self._scorer.rules:
            if rule.action and rule.value > 0:
                placed = [node for node in rule.condition.all("varequal") if node.get("respident") == response.get("ident")]
                idents = [node.text().strip() for node in placed]
                if sorted(idents) == sorted(texts):
                    indexed = sorted(
                        zip(placed, idents, strict=True),
                        key=lambda pair: int(pair[0].get("index", default="0")) if pair[0].get("index", default="0").isdigit() else 0,
                    )
                    return Order(tuple(Item(choice_id(i), Text.of(texts[ident])) for i, (_, ident) in enumerate(indexed)))
        raise Unusable("NO-KEY", "no rule names the whole right order. Mark it and export again.")


def _metadata(item: Node) -> Mapping[str, str]:
    fields: dict[str, str] = {}
    for holder in item.children("itemmetadata"):
        for field in holder.all("qtimetadatafield"):
            fields.setdefault(field.text("fieldlabel").strip().lower(), field.text("fieldentry").strip())
    return fields


def _material_html(material: Node) -> str:
    parts: list[str] = []
    for node in material.children():
        match node.name:
            case "mattext" | "matemtext":
                if node.child() is not None:  # unescaped XHTML
                    text = node.html()
                elif node.get("texttype").lower() == "text/plain" or not has_html(node.text()):
                    text = escape(node.text(), quote=False).replace("\n", "<br>")
                else:
                    text = node.text()
                parts.append(f"<em>{text}</em>" if node.name == "matemtext" else text)
            case "matimage":
                parts.append(f'<img src="{escape(node.get("uri"))}" alt="{escape(node.get("label"))}">')
            case "matbreak":
                parts.append("<br>")
            case _:
                pass
    return " ".join(parts)
