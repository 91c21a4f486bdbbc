"""One QTI 2.1, 2.2 or 3.0 item as a native question.

Mapped: choice, hot text, order, match, gap match, inline choice, text entry, extended text, slider. Refused with `Unusable`:
adaptive items, templates, graphic and custom interactions, uploads and drawings, and items that mix kinds of interaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from html import escape
from html.entities import html5
from typing import Any, Final

from content.model import (
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
    Question,
    Scoring,
    Short,
    Text,
    TrueFalse,
)
from content.readers.base import Report, Unusable, choice_id, text_or_none
from content.readers.intake import Archive
from content.readers.labels import true_false_pair, truth_in
from content.readers.markup import KNOWN_TAGS, Pictures, html_to_markdown, plain_to_markdown
from content.readers.package import media_of, short_id
from content.readers.playable import MAX_OFFERED, check_gaps
from content.readers.qti2_scoring import Declaration, Key, as_number, attribute, base_name, both
from content.readers.qti_feedback import with_general_feedback
from content.readers.xml_tree import Node

_INTERACTIONS: Final = (
    *("choiceInteraction", "orderInteraction", "matchInteraction", "gapMatchInteraction", "inlineChoiceInteraction"),
    *("textEntryInteraction", "extendedTextInteraction", "hottextInteraction", "sliderInteraction", "uploadInteraction"),
    *("associateInteraction", "drawingInteraction", "hotspotInteraction", "selectPointInteraction", "graphicOrderInteraction"),
    *("graphicAssociateInteraction", "graphicGapMatchInteraction", "positionObjectInteraction", "mediaInteraction"),
    *("customInteraction", "portableCustomInteraction"),
)
_INLINE: Final = frozenset({"textEntryInteraction", "inlineChoiceInteraction"})
_HIDDEN: Final = frozenset(
    {"feedbackInline", "feedbackBlock", "modalFeedback", "templateInline", "templateBlock", "gapText", "gapImg", "prompt"}
)
_DOUBLE_ESCAPED: Final = re.compile(r"&amp;([A-Za-z]{2,16}[0-9]{0,2});")


class Item2:
    """`before` is HTML of a shared stimulus, shown above the item's own text."""

    def __init__(self, node: Node, report: Report, archive: Archive | None, member: str, before: str = "") -> None:
        self._node = node
        self._report = report
        self._archive = archive
        self._member = member
        self._before = before
        self._pictures = Pictures()
        self._key = Key(node)
        self._extra: dict[str, Any] = {}
        self._feedback: dict[str, Text] = {}  # modal feedback by its identifier
        self._used: set[str] = set()  # identifiers of feedback that has found its place
        self.wanted_id = short_id(attribute(node, "identifier"))
        self.language = node.get("lang")

    def question(self, *, time_limit_s: int | None = None) -> Question:
        if attribute(self._node, "adaptive").lower() == "true":
            raise Unusable("QTI-TYPE", "an adaptive item changes with every attempt. Rewrite it as a plain question.")
        if self._node.first(*both("templateDeclaration", "printedVariable")) is not None:
            raise Unusable("QTI-TYPE", "its text is computed from template variables. Rewrite it with fixed values.")
        body_node = self._node.child(*both("itemBody"))
        if body_node is None:
            raise Unusable("QTI-ITEM", "the item has no body. Export it again.")
        self._feedback = self._modal_feedback()
        found = list(body_node.all(*both(*_INTERACTIONS)))
        shuffled = not any(attribute(node, "shuffle").lower() == "false" for node in found)
        stem, body = self._built(body_node, found)
        title = plain_to_markdown(" ".join(attribute(self._node, "title").split()))
        if not stem:
            if not title:
                raise Unusable("NO-STEM", "it has neither a text nor a title. Write the question.")
            self._report.warn(self._node.line, "NO-STEM", "the question has no text; its title is asked instead. Write the question.")
            stem = title
        right = self._feedback_called("correct_fb", "correct", "feedback_correct")
        wrong = self._feedback_called("incorrect_fb", "general_incorrect_fb", "incorrect", "feedback_incorrect")
        question = Question(
            id="",
            stem=Text.of(stem),
            body=with_general_feedback(body, right, wrong),
            title=None if stem.startswith(title) else text_or_none(title),
            explanation=self._explanation(),
            points=self._points(),
            time_limit_s=time_limit_s,
            shuffle=shuffled,
            extra={"qti2": {"identifier": attribute(self._node, "identifier"), **self._extra}},
        )
        return replace(question, media=media_of(self._pictures, self._report, self._archive, self._member, self._node.line))

    def _built(self, body: Node, found: list[Node]) -> tuple[str, Body]:
        kinds = {base_name(node) for node in found}
        if not found:
            return self._stem(body), Info()
        if kinds <= _INLINE and (len(found) > 1 or kinds == {"inlineChoiceInteraction"}):
            return self._inline_blanks(body, found)
        if len(found) > 1:
            raise Unusable("QTI-TYPE", f"it has {len(found)} parts to answer ({', '.join(sorted(kinds))}). Split it into questions.")
        node = found[0]
        build = _BUILDERS.get(base_name(node))
        if build is None:
            upload = base_name(node) in ("uploadInteraction", "drawingInteraction")
            code, what = (
                ("PLAY-UPLOAD", "it asks for a file or a drawing")
                if upload
                else ("QTI-TYPE", f"{base_name(node)} needs a picture or a program")
            )
            raise Unusable(code, f"{what}. Ask it elsewhere or rewrite it.", node.line)
        return build(self, body, node)

    # texts

    def markdown(self, html: str) -> str:
        return html_to_markdown(_DOUBLE_ESCAPED.sub(_once, html), self._pictures).strip()

    def html(self, node: Node, gap: Callable[[Node], str | None] | None = None) -> str:
        def put(inner: Node) -> str | None:
            name = base_name(inner)
            if gap is not None and (mark := gap(inner)) is not None:
                return mark
            if name in _HIDDEN:
                return ""
            if name == "rubricBlock":
                return f"<div>{self.html(inner, gap)}</div>" if "candidate" in attribute(inner, "view") else ""
            if name == "object":
                kind = inner.get("type")
                return (
                    f'<img src="{escape(inner.get("data"))}" alt="{escape(" ".join(inner.text().split()))}">'
                    if kind.startswith("image/")
                    else ""
                )
            if name in _INTERACTIONS:
                prompt = inner.child(*both("prompt"))
                return f"<div>{self.html(prompt)}</div>" if prompt is not None else ""
            return None if inner.name in KNOWN_TAGS else f"<div>{self.html(inner, gap)}</div>"  # such as qti-content-body

        return node.html(put)

    def _stem(self, body: Node, gap: Callable[[Node], str | None] | None = None) -> str:
        return self.markdown(self._before + self.html(body, gap))

    def text(self, node: Node) -> str:
        return self.markdown(self.html(node))

    def said_to(self, option: Node) -> Text | None:
        """The feedback inside a choice, or the modal feedback named after it."""
        found = option.first(*both("feedbackInline", "feedbackBlock"))
        if found is not None and (text := self.markdown(found.html())):
            return Text.of(text)
        identifier = attribute(option, "identifier")
        return self._feedback_called(identifier, f"{identifier}_fb")

    def _feedback_called(self, *names: str) -> Text | None:
        for identifier, text in self._feedback.items():
            if identifier in names or identifier.lower() in names:
                self._used.add(identifier)
                return text
        return None

    def _explanation(self) -> Text | None:
        """Feedback named as general, or the only one left that does not depend on the answer; others stay in `extra`."""
        named = self._feedback_called("general_fb", "general", "explanation", "solution")
        left = {identifier: text for identifier, text in self._feedback.items() if identifier not in self._used}
        if named is None and len(left) == 1 and not self._branches_on(next(iter(left))):
            return left.popitem()[1]
        if left:
            self._extra["feedback"] = {identifier: next(iter(text)) for identifier, text in left.items()}
        return named

    def _modal_feedback(self) -> dict[str, Text]:
        found: dict[str, Text] = {}
        for node in self._node.children(*both("modalFeedback")):
            text = self.markdown(self.html(node))
            if text:
                found.setdefault(attribute(node, "identifier"), Text.of(text))
        return found

    def _branches_on(self, identifier: str) -> bool:
        """Whether this feedback is shown only for some answers."""
        processing = self._node.child(*both("responseProcessing"))
        if processing is None:
            return False
        branches = processing.all(*both("responseIf", "responseElseIf", "responseElse"))
        return any(
            identifier in value.text() and branch.first(*both("match")) is not None
            for branch in branches
            for value in branch.all(*both("baseValue"))
        )

    def _points(self) -> float:
        for outcome in self._node.children(*both("outcomeDeclaration")):
            name = attribute(outcome, "identifier").upper()
            value = outcome.first(*both("value")) if name == "MAXSCORE" else None
            found = (
                as_number(value.text())
                if value is not None
                else as_number(attribute(outcome, "normalMaximum"))
                if name == "SCORE"
                else None
            )
            if found is not None and 0 < found <= 1000:
                return found
        points = self._key.most_points()
        return points if points is not None and points <= 1000 else 1.0

    # bodies

    def choice(self, body: Node, node: Node) -> tuple[str, Body]:
        hot = base_name(node) == "hottextInteraction"
        stem = self._stem(body, self._shown_hottext if hot else None)
        offered = list(node.all(*both("hottext")) if hot else node.children(*both("simpleChoice")))
        declared = self._key.declaration(attribute(node, "responseIdentifier"))
        keys, each = self._key.chosen(declared.identifier)
        if len(offered) > MAX_OFFERED:
            raise Unusable("PLAY-CHOICES", f"{len(offered)} choices; more than {MAX_OFFERED} are not read. Split the question.")
        entries: list[tuple[str, Choice]] = []
        for option in offered:
            text = self.text(option)
            if not text:
                self._report.warn(option.line, "QTI-EMPTY", "an empty choice was left out.")
                continue
            ident = attribute(option, "identifier")
            fixed = attribute(option, "fixed").lower() == "true"
            entries.append((ident, Choice(choice_id(len(entries)), Text.of(text), float(ident in keys), self.said_to(option), fixed)))
        if not any(ident in keys for ident, _ in entries):
            raise Unusable("NO-KEY", "neither the declaration nor the processing names a right choice. Mark it and export again.")
        most = attribute(node, "maxChoices")
        many = declared.cardinality == "multiple" and not (most == "1" and len(keys) == 1)
        if not many and true_false_pair([choice.text[""] for _, choice in entries]):
            return stem, _as_truefalse(entries)
        choices = self._weighted(declared, entries, many=many)
        if not many:
            return stem, Choices(choices)
        limit = int(most) if most.isdigit() and len(keys) <= int(most) < len(choices) else None
        least = attribute(node, "minChoices")
        scoring = Scoring.PER_CHOICE if each else Scoring.ALL_OR_NOTHING
        return stem, Choices(
            choices, many=True, scoring=scoring, least=int(least) if least.isdigit() and 0 < int(least) <= len(keys) else 1, most=limit
        )

    def _weighted(self, declared: Declaration, entries: list[tuple[str, Choice]], *, many: bool) -> tuple[Choice, ...]:
        if not declared.mapped:
            return tuple(choice for _, choice in entries)
        worth = {key: value for key, value, _ in declared.mapped}
        points = {ident: worth.get(ident, 0.0) for ident, _ in entries}
        positive = [value for value in points.values() if value > 0]
        most = max(positive, default=0.0)
        if most <= 0:
            return tuple(choice for _, choice in entries)
        total = sum(positive) if many else most
        if many and min(positive) < most:
            self._extra["mapping"] = points
            shown = "/".join(f"{value:g}" for value in positive)
            self._report.warn(self._node.line, "WEIGHTS", f"the right choices' points {shown} are not equal; each now counts the same.")
        result: list[Choice] = []
        for ident, choice in entries:
            value = points[ident]
            credit = 1.0 if many and value > 0 else max(-1.0, min(1.0, value / total))
            result.append(replace(choice, credit=round(max(credit, choice.credit), 6) if value >= 0 else round(credit, 6)))
        return tuple(result)

    def _shown_hottext(self, node: Node) -> str | None:
        if base_name(node) == "hottextInteraction":
            prompt = node.child(*both("prompt"))
            before = f"<div>{self.html(prompt)}</div>" if prompt is not None else ""
            return before + self.html(node, self._shown_hottext)
        return f"<u>{self.html(node)}</u>" if base_name(node) == "hottext" else None

    def order(self, body: Node, node: Node) -> tuple[str, Body]:
        texts = {attribute(option, "identifier"): self.text(option) for option in node.children(*both("simpleChoice"))}
        declared = self._key.declaration(attribute(node, "responseIdentifier"))
        if not declared.correct or sorted(declared.correct) != sorted(texts):
            raise Unusable("NO-KEY", f"the right order names {len(declared.correct)} of {len(texts)} items. Name every item once.")
        if not all(texts.values()):
            raise Unusable("QTI-EMPTY", "an item to put in order is empty. Write it.")
        items = tuple(Item(choice_id(i), Text.of(texts[ident])) for i, ident in enumerate(declared.correct))
        return self._stem(body), Order(items)

    def match(self, body: Node, node: Node) -> tuple[str, Body]:
        sets = list(node.children(*both("simpleMatchSet")))
        if len(sets) != 2:
            raise Unusable("QTI-ITEM", f"{len(sets)} sets to match where 2 are needed. Export it again.")
        left, right = (
            {attribute(o, "identifier"): self.text(o) for o in group.children(*both("simpleAssociableChoice"))} for group in sets
        )
        declared = self._key.declaration(attribute(node, "responseIdentifier"))
        answers, _ = self._key.chosen(declared.identifier)
        paired: dict[str, str] = {}
        for answer in answers:
            first, _, second = answer.partition(" ")
            if first not in left and second in left:
                first, second = second, first
            if first not in left or second not in right:
                raise Unusable("QTI-KEY", f"the key names the pair {answer[:60]!r}, which is not there. Correct it.")
            if paired.setdefault(first, second) != second:
                raise Unusable("QTI-TYPE", f"{left[first][:40]!r} matches several answers at once. Rewrite it as multiple choice.")
        if not paired:
            raise Unusable("NO-KEY", "no pair is right. Name the pairs and export again.")
        if not all((*left.values(), *right.values())):
            raise Unusable("QTI-EMPTY", "an item to match is empty or only a picture. Write it.")
        alone = [text for ident, text in left.items() if ident not in paired]
        if alone:
            self._report.warn(node.line, "QTI-MATCH", f"{len(alone)} item(s) without a partner were left out: {alone[0][:40]!r}.")
        worth = {key: value for key, value, _ in declared.mapped}
        weights = {worth[answer] for answer in answers if answer in worth}
        if len(weights) > 1:
            self._extra["mapping"] = {key: points for key, points, _ in declared.mapped}
            self._report.warn(node.line, "WEIGHTS", "the pairs' points are not equal; each now counts the same.")
        pairs = tuple(Pair(choice_id(i), Text.of(left[first]), Text.of(right[second])) for i, (first, second) in enumerate(paired.items()))
        used = set(paired.values())
        unused = [text for ident, text in right.items() if ident not in used]
        scoring = Scoring.PER_CHOICE if declared.mapped else Scoring.ALL_OR_NOTHING
        return self._stem(body), Match(pairs, _items(unused), scoring)

    def gap_match(self, body: Node, node: Node) -> tuple[str, Body]:
        texts = {attribute(o, "identifier"): self.text(o) for o in node.all(*both("gapText"))}
        if len(texts) > MAX_OFFERED:
            raise Unusable("PLAY-CHOICES", f"{len(texts)} words to drag; more than {MAX_OFFERED} are not read. Split the question.")
        if not all(texts.values()) or node.first(*both("gapImg")) is not None:
            raise Unusable("QTI-TYPE", "pictures are dragged into the text. Rewrite it with words.")
        keys: dict[str, str] = {}
        for answer in self._key.chosen(attribute(node, "responseIdentifier"))[0]:
            first, _, second = answer.partition(" ")
            word, place = (first, second) if first in texts else (second, first)
            keys.setdefault(place, word)
        blanks: list[Blank] = []

        def gap(inner: Node) -> str | None:
            if base_name(inner) == "gapMatchInteraction":
                prompt = inner.child(*both("prompt"))
                return (f"<div>{self.html(prompt)}</div>" if prompt is not None else "") + self.html(inner, gap)
            if base_name(inner) != "gap":
                return None
            right = texts.get(keys.get(attribute(inner, "identifier"), ""))
            if right is None:
                raise Unusable("NO-KEY", f"gap {len(blanks) + 1} has no right word. Name it and export again.", inner.line)
            check_gaps(len(blanks) + 1)
            offered = list(dict.fromkeys(texts.values()))
            choices = tuple(Choice(choice_id(i), Text.of(text), float(text == right)) for i, text in enumerate(offered))
            blanks.append(Blank(f"b{len(blanks) + 1}", choices=choices))
            return "{{" + blanks[-1].id + "}}"

        stem = self._stem(body, gap)
        if not blanks:
            raise Unusable("QTI-ITEM", "the text holds no gap. Export it again.")
        return stem, Short(blanks=tuple(blanks))

    def _inline_blanks(self, body: Node, found: Iterable[Node]) -> tuple[str, Body]:
        blanks: list[Blank] = []

        def gap(inner: Node) -> str | None:
            name = base_name(inner)
            if name not in _INLINE:
                return None
            check_gaps(len(blanks) + 1)
            blank_id = f"b{len(blanks) + 1}"
            response = attribute(inner, "responseIdentifier")
            if name == "textEntryInteraction":
                blanks.append(Blank(blank_id, self._key.typed(response)))
            else:
                keys, _ = self._key.chosen(response)
                options = [(attribute(o, "identifier"), self.text(o)) for o in inner.children(*both("inlineChoice"))]
                choices = tuple(
                    Choice(choice_id(i), Text.of(text), float(ident in keys)) for i, (ident, text) in enumerate(options) if text
                )
                blanks.append(Blank(blank_id, choices=choices))
            return "{{" + blank_id + "}}"

        return self._stem(body, gap), Short(blanks=tuple(blanks))

    def text_entry(self, body: Node, node: Node) -> tuple[str, Body]:
        stem = self._stem(body, lambda inner: " _____ " if base_name(inner) == "textEntryInteraction" else None)
        return re.sub(r"\s*_____\s*\Z", "", stem), Short(self._key.typed(attribute(node, "responseIdentifier")))

    def extended_text(self, body: Node, node: Node) -> tuple[str, Body]:
        declared = self._key.declaration(attribute(node, "responseIdentifier"))
        rubric: list[Criterion] = []
        for block in body.all(*both("rubricBlock")):
            text = self.markdown(block.html()) if "scorer" in attribute(block, "view") else ""
            if text:
                rubric.append(Criterion(f"c{len(rubric) + 1}", 1.0, Text.of(text)))
        if len(rubric) == 1:
            rubric = [replace(rubric[0], points=self._points())]
        reference = plain_to_markdown("\n".join(declared.correct))
        return self._stem(body), Open(text_or_none(reference), tuple(rubric))

    def slider(self, body: Node, node: Node) -> tuple[str, Body]:
        low, high = attribute(node, "lowerBound", "?"), attribute(node, "upperBound", "?")
        accept = self._key.typed(attribute(node, "responseIdentifier"))
        return f"{self._stem(body)} ({low}–{high})".strip(), Short(accept)


_BUILDERS: Final[dict[str, Callable[[Item2, Node, Node], tuple[str, Body]]]] = {
    "choiceInteraction": Item2.choice,
    "hottextInteraction": Item2.choice,
    "orderInteraction": Item2.order,
    "matchInteraction": Item2.match,
    "gapMatchInteraction": Item2.gap_match,
    "textEntryInteraction": Item2.text_entry,
    "extendedTextInteraction": Item2.extended_text,
    "sliderInteraction": Item2.slider,
}


def _once(found: re.Match[str]) -> str:
    """Some tools escape HTML entities once too often; `&amp;lt;` is left, since it may be what the author means."""
    name = found[1]
    return f"&{name};" if name + ";" in html5 and name.lower() not in ("lt", "gt", "amp", "quot", "apos") else found[0]


def _items(texts: Iterable[str]) -> tuple[Item, ...]:
    return tuple(Item(f"x{i}", Text.of(text)) for i, text in enumerate(texts, 1))


def _as_truefalse(entries: list[tuple[str, Choice]]) -> TrueFalse:
    values = {bool(truth_in(choice.text[""])): choice for _, choice in entries}
    return TrueFalse(values[True].credit > values[False].credit, {value: c.feedback for value, c in values.items() if c.feedback})
