"""Moodle GIFT: the text format that instructors write by hand.

Reads what Moodle reads, and mends what people get wrong: blank lines inside braces, a category glued to its question,
LaTeX braces, bare `=` and `:`. Each repair is a warning with its line. Refuses nothing but questions that have no braces
to close or no key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from content.model import Accept, Choice, Choices, Info, Item, Match, Open, Pair, Question, Scoring, Short, Text, TrueFalse
from content.readers.answers import ANYTHING, number_in, wildcard_expression
from content.readers.base import About, Import, Report, Unusable, choice_id, text_or_none
from content.readers.detect import LIKELY, POSSIBLE, UNLIKELY, suffix
from content.readers.gift_text import ANSWERS_START, SIGNS, Block, blocks, hide, joined, masked, plain, split
from content.readers.intake import decode, peek
from content.readers.markup import (
    Pictures,
    has_html,
    html_to_markdown,
    keep_pictures,
    markdown_to_plain,
    normalise_latex,
    plain_to_markdown,
)

_TITLE: Final = re.compile(r"\s*::((?:[^:]|:(?!:))*)::")
_FORMAT: Final = re.compile(r"\s*\[(html|moodle|plain|markdown)\]", re.IGNORECASE)
_WEIGHT: Final = re.compile(r"\s*%([+-]?\d{1,3}(?:[.,]\d{1,10})?)%")
_SHARP: Final = re.compile(r"\b([CFcf])#(?=\s|$)")
_TRUTH: Final = re.compile(r"\s*(T|TRUE|F|FALSE)\s*(?:#|$)", re.IGNORECASE)
_LEFTOVER: Final = re.compile(r"[\s\"'.;,!?)\]]*")
_SNIFF: Final = re.compile(r"\{\s*(?:[=~#]|T\s*[}#]|F\s*[}#]|TRUE|FALSE|\})")


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    right: bool
    weight: float | None
    feedback: str


class GiftReader:
    name = "gift"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        head = text.lstrip()
        if not head or head[0] in "<[" or "\\begin{" in text or head.startswith("---\n"):
            return UNLIKELY if suffix(name) == "gift" else 0.0
        marks = len(_SNIFF.findall(text))
        titled = len(re.findall(r"^[ \t]{0,99}(?:::.+?::|\$CATEGORY:)", text, re.MULTILINE))
        if suffix(name) == "gift" and (marks or titled):
            return 0.97
        if titled and marks:
            return 0.92
        if "```" in text or head[0] == "{":
            return UNLIKELY if marks else 0.0
        paragraphs = len(re.findall(r"\n[ \t]{0,99}\n", text)) + 1
        if marks * 3 >= paragraphs:
            return LIKELY
        return POSSIBLE if titled or marks else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        for block in joined(blocks(decode(data, report), report), report):
            title = _TITLE.match(hide(block.text))
            label = " ".join(plain(title.group(1)).split())[:80] if title else ""
            with report.question(block.line, label):
                _question(block, report)
        return report.close(About())


# --- one question ---------------------------------------------------------------------------------------------------


def _question(block: Block, report: Report) -> None:
    text = hide(block.text)
    title = _TITLE.match(text)
    start = title.end() if title else 0
    marker = _FORMAT.match(text, start)
    form = marker.group(1).lower() if marker else "moodle"
    start = marker.end() if marker else start
    opened, closed = _braces(text, start, block)
    stem, inner, tail = (text[start:], None, "") if opened < 0 else (text[start:opened], text[opened + 1 : closed], text[closed + 1 :])
    if _LEFTOVER.fullmatch(tail) and (not tail.strip() or stem.rstrip()[-1:] in ".?!:;)" or set(tail.strip()) - set(".!?")):
        if set(tail.strip()) - set(".!?,"):
            report.warn(block.line_at(closed), "GIFT-TAIL", f"{tail.strip()!r} behind the answers was left out.")
        tail = ""
    if re.search(r"(?<![\^_}$\w\\])\{[^{}]*[=~][^{}]*\}", tail):
        report.warn(block.line_at(closed), "GIFT-SECOND-BRACES", "only the first {…} of a question counts; the others became text.")
    if tail:
        stem = f"{stem.rstrip()} _____{'' if tail.lstrip()[:1] in '.,;:!?)' else ' '}{tail.strip()}"
    pictures = Pictures()
    shown = _shown(stem, form, pictures)
    if not shown:
        raise Unusable("GIFT-STEM", "there is no question text before the answers. Write one.")
    general = ""
    if inner is not None:
        inner, mark, general = inner.partition("####")
        general = general if mark else ""
    tags = [value for name, value in block.fields if name == "tag"]
    path = [part for part in re.split(r"(?<!/)/(?!/)", block.category) if part and part not in ("top", "$course$", "$module$", "$system$")]
    if path and (leaf := path[-1].replace("//", "/").strip()) and leaf not in tags:
        tags.append(leaf)
    extra: dict[str, Any] = {"category": block.category} if block.category else {}
    scoring = next((value for name, value in block.fields if name == "scoring"), "")
    reading = _Reading(form, pictures, report, block, opened, extra, scoring)
    body = Info() if inner is None else reading.body(inner)
    question = Question(
        id="",
        stem=Text.of(shown),
        body=body,
        title=text_or_none(" ".join(plain(title.group(1)).split())) if title else None,
        explanation=text_or_none(_shown(general, form, pictures)),
        tags=tuple(tags),
        media=pictures.media,
        extra={"gift": extra} if extra else {},
        line=block.line,
    )
    for left_out in pictures.left_out:
        report.warn(block.line, "PICTURE", f"the picture {left_out[:80]!r} is inside the text itself and was left out.")
    wanted = next((value for name, value in block.fields if name == "id"), "")
    if isinstance(body, Choices) and not body.many and not any(choice.credit > 0 for choice in body.choices):
        report.add_draft(question, "NO-KEY", "no answer is marked as right; kept as a draft. Put = before the right one.")
        return
    report.add(question, wanted)


def _braces(text: str, start: int, block: Block) -> tuple[int, int]:
    """Where the answers stand: the braces that are no LaTeX. (-1, -1) without any. Raises Unusable where one is not closed."""
    bare = masked(text)
    skipped = False
    at = start
    while (opened := bare.find("{", at)) >= 0:
        closed = _closing(bare, opened)
        if closed < 0:
            raise Unusable(
                "GIFT-BRACE",
                "'{' opened here is never closed. Close it with }, or write \\{ for a literal brace.",
                block.line_at(opened),
            )
        before = text[max(0, opened - 30) : opened]
        if ANSWERS_START.match(bare, opened) or not re.search(r"(?:[\^_}]|\\[A-Za-z]{1,28})$", before):
            return opened, closed
        skipped = True  # LaTeX outside of dollars: x^{2}, \frac{1}{2}
        at = closed + 1
    if "}" in bare and not skipped:
        offset = text.find("}")
        raise Unusable("GIFT-BRACE", "'}' without a '{' before it. Write \\} for a literal brace.", block.line_at(offset))
    return -1, -1


def _closing(text: str, opened: int) -> int:
    depth = 0
    for found in re.finditer(r"[{}]", text[opened:]):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return opened + found.start()
    return -1


def _shown(hidden: str, form: str, pictures: Pictures) -> str:
    """One text part as Discord Markdown; it may name its own format."""
    if (marker := _FORMAT.match(hidden)) is not None:
        form, hidden = marker.group(1).lower(), hidden[marker.end() :]
    text = plain(hidden).strip()
    if form == "html":
        return html_to_markdown(text, pictures)
    if form == "markdown":
        return keep_pictures(normalise_latex(text), pictures)
    if form == "moodle" and has_html(text):
        return html_to_markdown(text, pictures, keep_newlines=True)
    return plain_to_markdown(normalise_latex(text))


class _Reading:
    """The answers of one question: what `{…}` holds, by the order of tests that Moodle uses."""

    def __init__(
        self, form: str, pictures: Pictures, report: Report, block: Block, opened: int, extra: dict[str, Any], scoring: str
    ) -> None:
        self.form = form
        self.pictures = pictures
        self.report = report
        self.block = block
        self.line = block.line_at(opened) if opened >= 0 else block.line
        self.extra = extra
        self.scoring = scoring

    def body(self, inner: str) -> Choices | TrueFalse | Short | Open | Match:
        bare = inner.strip()
        if not bare:
            return Open()
        if bare.startswith("#"):
            return Short(accept=tuple(self._numbers(bare[1:])))
        bare = _SHARP.sub(self._keep_sharp, bare)
        if "~" in bare:
            return self._choices(bare)
        if "=" in bare and "->" in bare:
            return self._pairs(bare)
        if _TRUTH.match(bare):
            return self._truth(bare)
        return Short(accept=tuple(self._accepted(bare)))

    def _keep_sharp(self, found: re.Match[str]) -> str:
        self.report.warn(self.line, "GIFT-SHARP", f"'{found.group()}' was read as the language's name. Write {found.group(1)}\\#.")
        return found.group(1) + SIGNS["#"]

    def _text(self, hidden: str) -> str:
        return _shown(hidden, self.form, self.pictures)

    def _answers(self, bare: str, marks: str) -> list[_Answer]:
        answers: list[_Answer] = []
        for mark, part in split(bare, marks, self._bare_equals):
            text, _, feedback = part.partition("#")
            right = mark == "="
            if mark == "~" and text.lstrip().startswith("="):
                text, right = text.lstrip()[1:], True
                self.report.warn(self.line, "GIFT-TILDE-EQUALS", "'~=' was read as a right answer. Write '=' alone.")
            weight = None
            if (found := _WEIGHT.match(text)) is not None:
                weight, text = float(found.group(1).replace(",", ".")), text[found.end() :]
                if abs(weight) > 100:
                    raise Unusable("GIFT-WEIGHT", f"credit {weight:g} is outside -100 to 100. Use a weight within it.", self.line)
            answers.append(_Answer(text, right, weight, feedback))
        return answers

    def _bare_equals(self) -> None:
        self.report.warn(self.line, "GIFT-EQUALS", "a bare '=' inside an answer was kept as text. Write \\=.")

    def _choices(self, bare: str) -> Choices:
        answers = self._answers(bare, "~=")
        shown = [(self._text(answer.text), answer) for answer in answers]
        kept = [(text, answer) for text, answer in shown if text]
        if len(kept) < len(shown):
            self.report.warn(self.line, "GIFT-EMPTY-CHOICE", f"{len(shown) - len(kept)} empty answer(s) left out.")
        many = not any(answer.right for _, answer in kept)
        credits = [(100.0 if answer.right else 0.0) if answer.weight is None else answer.weight for _, answer in kept]
        credits = [round(credit / 100, 7) for credit in credits]
        if not many:
            rights = sum(credit >= 1 for credit in credits)
            if rights > 1:
                self.report.note(self.line, "ANY-OF", f"{rights} answers are right; choosing any one of them earns full credit.")
            if not rights:
                self.report.warn(self.line, "WEIGHTS", "no answer is worth 100 %; the best one counts as right.")
                best = max(credits)
                credits = [1.0 if credit == best > 0 else credit for credit in credits]
        scoring = Scoring.ALL_OR_NOTHING
        if many and not any(credit > 0 for credit in credits):
            many = False  # nothing is marked at all: a draft
        elif many:
            credits, scoring = self._shares(credits)
        choices = tuple(
            Choice(choice_id(i), Text.of(text), credit, text_or_none(self._text(answer.feedback)))
            for i, ((text, answer), credit) in enumerate(zip(kept, credits, strict=True))
        )
        return Choices(choices, many=many, scoring=scoring)

    def _shares(self, credits: list[float]) -> tuple[list[float], Scoring]:
        """Weights of a question with several right answers: each positive one is a key of equal share."""
        positive = [credit for credit in credits if credit > 0]
        if max(positive) - min(positive) > 0.01 or abs(sum(positive) - 1) > 0.011:
            self.extra["weights"] = [round(credit * 100, 5) for credit in credits]
            shown = ", ".join(f"{credit * 100:g}" for credit in positive)
            self.report.warn(self.line, "WEIGHTS", f"the weights {shown} became equal shares of 100; the numbers are kept for export.")
        if self.scoring == "all_or_nothing":
            return [1.0 if credit > 0 else 0.0 if credit == -1 else credit for credit in credits], Scoring.ALL_OR_NOTHING
        return [1.0 if credit > 0 else credit for credit in credits], Scoring.PER_CHOICE

    def _pairs(self, bare: str) -> Match:
        pairs: list[Pair] = []
        distractors: list[Item] = []
        for _, part in split(bare, "=", self._bare_equals):
            left, arrow, right = part.partition("->")
            left, right = self._text(left), self._text(right.partition("#")[0])
            if not arrow or not right:
                raise Unusable("GIFT-PAIR", f"the pair {plain(part).strip()[:60]!r} has no '-> answer'. Write left -> right.", self.line)
            if left:
                pairs.append(Pair(choice_id(len(pairs)), Text.of(left), Text.of(right)))
            else:
                distractors.append(Item(f"x{len(distractors) + 1}", Text.of(right)))
        whole = self.scoring == "all_or_nothing"
        return Match(tuple(pairs), tuple(distractors), Scoring.ALL_OR_NOTHING if whole else Scoring.PER_CHOICE)

    def _truth(self, bare: str) -> TrueFalse:
        word, *comments = bare.split("#")
        answer = word.strip().upper() in ("T", "TRUE")
        said = [text_or_none(self._text(comment)) for comment in comments[:2]]
        # Moodle's order: first what a wrong answer is told, then what a right one is
        feedback = {choice: text for choice, text in zip((not answer, answer), said, strict=False) if text is not None}
        return TrueFalse(answer, feedback)

    def _accepted(self, bare: str) -> Iterable[Accept]:
        for answer in self._answers(bare, "="):
            text = self._literal(answer.text)
            if not text:
                continue
            credit = 1.0 if answer.weight is None else round(answer.weight / 100, 7)
            feedback = text_or_none(self._text(answer.feedback))
            expression = wildcard_expression(text) if "*" in text else None
            if expression is not None:
                yield Accept(regex=expression, credit=credit, feedback=feedback)
            else:
                yield Accept(text=text.replace("\\*", "*"), credit=credit, feedback=feedback)

    def _literal(self, hidden: str) -> str:
        """An accepted answer: what is typed, so no markup; HTML is turned into its words."""
        form = self.form
        if (marker := _FORMAT.match(hidden)) is not None:
            form, hidden = marker.group(1).lower(), hidden[marker.end() :]
        text = plain(hidden).strip()
        return markdown_to_plain(html_to_markdown(text)) if form in ("html", "moodle") and has_html(text) else text

    def _numbers(self, bare: str) -> Iterable[Accept]:
        parts = list(split(bare, "=~", self._bare_equals)) if "=" in bare or "~" in bare else [("=", bare)]
        for mark, part in parts:
            text, _, comment = part.partition("#")
            feedback = text_or_none(self._text(comment))
            weight = _WEIGHT.match(text)
            credit = 1.0 if weight is None else round(float(weight.group(1).replace(",", ".")) / 100, 7)
            text = plain(text[weight.end() :] if weight else text).strip()
            if mark == "~" and text in ("", "*"):
                if feedback is not None:
                    yield Accept(regex=ANYTHING, credit=0.0, feedback=feedback)
                continue
            if text:
                yield self._number(text, 0.0 if mark == "~" and weight is None else credit, feedback)

    def _number(self, text: str, credit: float, feedback: Text | None) -> Accept:
        low, dots, high = text.partition("..")
        ends = (number_in(low), number_in(high)) if dots else (None, None)
        if ends[0] is not None and ends[1] is not None:
            return Accept(span=(min(ends[0], ends[1]), max(ends[0], ends[1])), credit=credit, feedback=feedback)
        value, colon, slack = text.partition(":")
        number, tolerance = number_in(value), number_in(slack) if colon else 0.0
        if number is None or tolerance is None:
            raise Unusable("GIFT-NUMBER", f"{text[:60]!r} is no number, number:tolerance or low..high. Write 3.14:0.01.", self.line)
        return Accept(number=number, tolerance=abs(tolerance), credit=credit, feedback=feedback)
