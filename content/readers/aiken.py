"""Aiken: a stem, lettered choices, `ANSWER: B`. Moodle's smallest format, and the one that converters emit.

Also reads what its cousins add: several right letters, TRUE and FALSE, labels and keywords of other languages, NUMBERING
lines, feedback under the answer. The text is plain: nothing in it is taken for markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from content.model import Choices, Question, Scoring, Text, TrueFalse
from content.readers.base import Import, Report, Unusable, lettered, text_or_none
from content.readers.detect import LIKELY, POSSIBLE, suffix
from content.readers.intake import decode, peek
from content.readers.labels import Label, answer_in, keys_in, label_at, place_of, truth_in
from content.readers.markup import normalise_latex, plain_to_markdown

_NUMBERING: Final = re.compile(r"\s*(?:NUMBERING|סוג|TYPE|NUMMERIERUNG|NUMÉROTATION)\s*:\s*(\S{1,10})\s*$", re.IGNORECASE)
_FEEDBACK: Final = re.compile(
    r"\s*(?:feedback|general ?feedback|explanation|rationale|solution|comment|erklärung|explication|explicación|пояснение"
    r"|解析|解释|משוב|הסבר)"
    r"\s*[:：]\s*(.*)",
    re.IGNORECASE,
)
_MARKDOWN: Final = re.compile(r"^[ \t]{0,99}(?:#{1,6}\s|```|[-*+]\s+\[[ xX]\]|<details|\*[a-z]\)|={1,6}\s*\S)|\*\*", re.MULTILINE)
_NUMBER: Final = re.compile(r"(?:Q(?:uestion)?\s*)?(\d{1,6})\s*[.):]\s+(?=\S)", re.IGNORECASE)
_KEY_LINE: Final = re.compile(r"^[ \t]{0,8}(ANSWER|[^\W\d_]{2,20})[ \t]{0,4}[:：][ \t]{0,4}([^\n]{1,30})$", re.MULTILINE)


@dataclass(slots=True)
class _Draft:
    line: int = 0
    stem: list[str] = field(default_factory=list[str])
    labels: list[str] = field(default_factory=list[str])
    choices: list[str] = field(default_factory=list[str])

    @property
    def empty(self) -> bool:
        return not self.stem and not self.choices


class AikenReader:
    name = "aiken"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        if not text or _MARKDOWN.search(text) or text.lstrip()[0:1] in "{[<":
            return 0.0
        keys = [found for found in _KEY_LINE.finditer(text) if answer_in(found.group()) is not None]
        if not keys:
            return 0.0
        labelled = sum(label_at(line.strip()) is not None for line in text.split("\n"))
        strict = sum(found.group(1) == "ANSWER" for found in keys)
        if labelled < 2 * len(keys) and not any(truth_in(found.group(2)) is not None for found in keys):
            return 0.0
        numbered = len(re.findall(r"^[ \t]{0,8}(?:Q|Question )?\d{1,3}[.):]\s", text, re.MULTILINE | re.IGNORECASE))
        if strict == len(keys):
            return 0.9 if suffix(name) == "aiken" or not numbered else 0.8
        if re.search(r"^(?:NUMBERING|סוג)\s*:", text, re.MULTILINE):
            return 0.9
        return LIKELY + 0.02 if not numbered or strict else POSSIBLE

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        _Reading(decode(data, report).split("\n"), report).run()
        return report.close()


class _Reading:
    def __init__(self, lines: list[str], report: Report) -> None:
        self.lines = lines
        self.report = report
        self.draft = _Draft()
        self.blank = False

    def run(self) -> None:
        at = 0
        while at < len(self.lines):
            line, number = self.lines[at].strip(), at + 1
            at += 1
            if not line:
                self.blank = True
                continue
            key = answer_in(line)
            if key is not None and (self.draft.choices or (self.draft.stem and truth_in(key) is not None)):
                at = self._close(number, key, at)
            elif _NUMBERING.match(line):
                pass
            elif (label := self._label(line, at)) is not None:
                self._choice(label, number)
            else:
                self._text(line, number)
            self.blank = False
        if not self.draft.empty:
            self._without_key(len(self.lines))

    def _label(self, line: str, following: int) -> Label | None:
        """The label that makes this line a choice: A first, then in order; "1. What is …?" before A) is a stem."""
        label = label_at(line)
        place = place_of(label.mark) if label is not None else None
        if label is None or place is None or (label.glued and label.mark.isdecimal() and label.rest[:1].isdecimal()):
            return None
        if self.draft.choices:
            last = place_of(self.draft.labels[-1])
            same_kind = label.mark.isdecimal() == self.draft.labels[-1].isdecimal()
            return label if same_kind and last is not None and (place > last or place == 0) else None
        if place != 0:
            return None
        for later in self.lines[following : following + 30]:
            after = label_at(later.strip())
            if after is not None and after.mark.isdecimal() == label.mark.isdecimal():
                return label if place_of(after.mark) == 1 else None
            if answer_in(later) is not None or (after is not None and place_of(after.mark) == 0):
                return None
        return None

    def _choice(self, label: Label, number: int) -> None:
        draft = self.draft
        if draft.choices and place_of(label.mark) == 0:
            self._without_key(number - 1)
            draft = self.draft
        if not draft.line:
            draft.line = number
        draft.labels.append(label.mark)
        draft.choices.append(label.rest.strip())

    def _text(self, line: str, number: int) -> None:
        if self.draft.choices and self.blank:
            self._without_key(number - 1)
        if self.draft.choices:
            self.draft.choices[-1] += "\n" + line
            self.report.warn(number, "AIKEN-LINES", "this line was added to the choice above it. Put a choice on one line.", self._name())
            return
        if not self.draft.line:
            self.draft.line = number
        self.draft.stem.append(line)

    def _name(self) -> str:
        return str(self.report.read + 1)

    def _close(self, number: int, key: str, at: int) -> int:
        """Finish the question at its ANSWER line; returns where to go on, after feedback if there is some."""
        draft, self.draft = self.draft, _Draft()
        explanation: list[str] = []
        while at < len(self.lines) and self.lines[at].strip():
            line = self.lines[at].strip()
            marked = _FEEDBACK.match(line)
            if marked is None and not explanation and not _NUMBERING.match(line) and self._stem_ahead(at):
                break
            if not _NUMBERING.match(line):
                explanation.append(marked.group(1) if marked else line)
            at += 1
        with self.report.question(draft.line):
            if len(draft.stem) > 1:
                self.report.warn(draft.line, "AIKEN-STEM", f"the stem has {len(draft.stem)} lines; Moodle reads only the last one.")
            if explanation:
                self.report.warn(number + 1, "AIKEN-FEEDBACK", "text under ANSWER was read as the explanation.")
            self._add(draft, key, number, " ".join(explanation))
        return at

    def _stem_ahead(self, at: int) -> bool:
        """Whether the paragraph at this line goes on to choices, and so is a stem and no feedback."""
        for line in self.lines[at : at + 40]:
            if not line.strip():
                break
            if answer_in(line) is not None or ((label := label_at(line.strip())) is not None and place_of(label.mark) == 0):
                return True
        return False

    def _question(self, draft: _Draft, body: Choices | TrueFalse, explanation: str = "") -> Question:
        stem = "\n".join(draft.stem)
        numbered = _NUMBER.match(stem)
        if numbered is not None and int(numbered.group(1)) != self.report.read:
            numbered = None
        if not stem.strip():
            raise Unusable("AIKEN-STEM", "there is no question text above the choices. Write one.")
        return Question(
            id="",
            stem=Text.of(_shown(stem[numbered.end() if numbered else 0 :])),
            body=body,
            explanation=text_or_none(_shown(explanation)),
            line=draft.line,
        )

    def _add(self, draft: _Draft, key: str, number: int, explanation: str) -> None:
        truth = truth_in(key)
        if not draft.choices and truth is not None:
            self.report.warn(number, "AIKEN-TRUE-FALSE", "ANSWER names true or false and there are no choices; read as true/false.")
            self.report.add(self._question(draft, TrueFalse(truth), explanation))
            return
        if "" in draft.choices:
            raise Unusable("AIKEN-EMPTY", f"choice {draft.choices.index('') + 1} has no text. Write it or remove its letter.")
        right = keys_in(key, draft.labels)
        if right is None and truth is not None:
            right = tuple(i for i, choice in enumerate(draft.choices) if truth_in(choice) is truth)
        if not right:
            folded = key.strip().casefold()
            right = tuple(i for i, choice in enumerate(draft.choices) if choice.casefold() == folded)
        choices = lettered(map(_shown, draft.choices), right)
        if not right:
            shown = ", ".join(draft.labels).upper()
            question = self._question(draft, Choices(choices), explanation)
            self.report.add_draft(question, "AIKEN-KEY", f"the answer {key[:40]!r} is none of {shown}. Name one of them.")
            return
        many = len(right) > 1
        if many:
            self.report.warn(number, "AIKEN-SEVERAL", f"{len(right)} right answers; plain Aiken knows one. Read as: all of them.")
        question = self._question(draft, Choices(choices, many=many, scoring=Scoring.ALL_OR_NOTHING), explanation)
        self.report.add(question)

    def _without_key(self, last: int) -> None:
        draft, self.draft = self.draft, _Draft()
        with self.report.question(draft.line):
            if not draft.choices:
                shown = " ".join(draft.stem)[:60]
                raise Unusable("AIKEN-CHOICES", f"{shown!r} has no choices such as 'A. text' below it. Add them.")
            text = f"no ANSWER line up to line {last}; kept as a draft. Add ANSWER: and the letter."
            self.report.add_draft(self._question(draft, Choices(lettered(map(_shown, draft.choices), ()))), "NO-KEY", text)


def _shown(text: str) -> str:
    return plain_to_markdown(normalise_latex(text))
