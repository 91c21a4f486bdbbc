"""OpenTriviaQA: `#Q stem`, `^ right answer`, then `A …`, `B …`; blocks of plain text, CC BY-SA 4.0.

The right answer is given as text: it is matched to a choice, first exactly, then without regard to case, space and
punctuation. Where it fits none, the question is a draft.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

from content.model import Choices, Question, Text, TrueFalse
from content.readers.base import About, Import, Report, Unusable, lettered
from content.readers.detect import CERTAIN
from content.readers.intake import decode, peek
from content.readers.labels import true_false_pair, truth_in
from content.readers.markup import plain_to_markdown

# some labels in the wild are Cyrillic or Greek letters that look Latin
_CHOICE: Final = re.compile(r"([A-FА-ЕΑ-Ε])[ \t]+(.*)$")
_LOOKALIKE: Final = str.maketrans("АВСЕЅІЈКМНОРТХасеорху", "ABCESIJKMHOPTXaceopxy")


@dataclass(slots=True)
class _Block:
    line: int
    stem: list[str] = field(default_factory=list[str])
    right: list[str] = field(default_factory=list[str])
    choices: list[str] = field(default_factory=list[str])


class OpenTriviaQaReader:
    name = "opentriviaqa"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        return CERTAIN if re.search(r"^#Q .*\n(?:[^#^\n].*\n|\n){0,20}\^ ", text, re.MULTILINE) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        blocks: list[_Block] = []
        for number, raw in enumerate(decode(data, report).split("\n"), 1):
            line = raw.strip()
            if line.startswith("#Q"):
                blocks.append(_Block(number, [line[2:].strip()]))
            elif not line:
                continue
            elif not blocks:
                report.warn(number, "OTQA-STRAY", "text before the first #Q was left out.", "")
            elif line.startswith("^") and not blocks[-1].choices:
                blocks[-1].right.append(line[1:].strip())
            elif blocks[-1].right and (choice := _CHOICE.match(line)) is not None:
                if choice.group(1) not in "ABCDEF":
                    report.warn(
                        number, "OTQA-LETTER", f"the label {choice.group(1)!r} is not Latin; read as its look-alike.", str(len(blocks))
                    )
                blocks[-1].choices.append(choice.group(2).strip())
            else:
                part = blocks[-1].choices or blocks[-1].right or blocks[-1].stem
                if part is blocks[-1].stem:
                    part.append(line)
                else:
                    part[-1] += "\n" + line
        for block in blocks:
            with report.question(block.line):
                _question(block, report)
        return report.close(About(author="OpenTriviaQA", url="https://github.com/uberspot/OpenTriviaQA", licence="CC-BY-SA-4.0"))


def _loose(text: str) -> str:
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text.translate(_LOOKALIKE)).casefold()).strip()


def _question(block: _Block, report: Report) -> None:
    stem = "\n".join(block.stem).strip()
    if not stem:
        raise Unusable("OTQA-STEM", "there is no text behind #Q. Write the question.")
    if not block.right:
        raise Unusable("OTQA-KEY", "there is no '^ right answer' line. Add one.")
    right = block.right[0]
    places = [i for i, choice in enumerate(block.choices) if choice == right]
    if not places and _loose(right):
        places = [i for i, choice in enumerate(block.choices) if _loose(choice) == _loose(right)]
        if places:
            report.note(block.line, "OTQA-KEY", f"{right[:60]!r} was matched to the choice {block.choices[places[0]][:60]!r}.")
    if len(places) > 1:
        report.warn(block.line, "OTQA-REPEATED", "the right answer stands among the choices twice; the second was left out.")
        block.choices = [choice for i, choice in enumerate(block.choices) if i not in places[1:]]
    truth = truth_in(block.choices[places[0]]) if places and true_false_pair(block.choices) else None
    if truth is not None:
        report.add(Question(id="", stem=Text.of(plain_to_markdown(stem)), body=TrueFalse(truth)))
        return
    choices = lettered([plain_to_markdown(choice) for choice in block.choices if choice], places[:1])
    if len(choices) < len(block.choices):
        report.warn(block.line, "OTQA-EMPTY", "an empty choice was left out.")
    question = Question(id="", stem=Text.of(plain_to_markdown(stem)), body=Choices(choices))
    if not places and len(choices) > 1:
        report.add_draft(question, "OTQA-KEY", f"the right answer {right[:60]!r} is none of the choices. Write it as the choice does.")
        return
    report.add(question)
