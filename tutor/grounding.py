"""From what an engine writes to what a learner may read: every sentence is tied to a section, or dropped.

The engine is never trusted. A sentence stays when its numbers, units and identifiers stand in a section (or in the
question) and enough of its meaning words do; a wrong tag is replaced by the right one; a sentence that no section
supports is dropped. Thresholds were set on the shipped guides with the 1.5B model (docs/evaluation.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from content import words
from engines.base import NOT_IN_GUIDE
from tutor.prompting import Evidence, harmless
from tutor.reply import Sentence

SUPPORT: Final = 0.55
"""Share of a sentence's meaning words that its section must have, where both are in one alphabetic language."""
SUPPORT_CJK: Final = 0.4
"""The same for pairs of letters, where a changed particle breaks two of them."""
MAX_SENTENCES: Final = 6

_TAG: Final = re.compile(r"[\[(【［]\s*((?:S\s*)?\d{1,3}(?:\s*[,;、]\s*(?:S\s*)?\d{1,3}){0,5})\s*[\])】］]")
_NUMBER_IN_TAG: Final = re.compile(r"\d{1,3}")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])[\"'”’)]?\s+(?=[\[(]?[^\s\d\W]|[\[(]S?\d)|(?<=[。！？])")
# a new sentence has begun: white space and stray stops, then something that is no tag and no more of the stops
_BEGUN: Final = re.compile(r"[\s.。!?…]*[^\s.。!?…\[(【［,;、]")
_FENCE: Final = "```"
_LINK: Final = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\s]{0,500}\)")
_BARE_LINK: Final = re.compile(r"<?\bhttps?://\S+", re.IGNORECASE)
_MENTION: Final = re.compile(r"<[@#][!&]?\d{1,20}>|@(?=everyone|here)")
_ANSI: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
# numbers with what belongs to them, and words that name something exactly: FP16, cudaMalloc, INT8, kv_cache, TensorRT
# ASCII on purpose: Chinese stands beside "FP16" without a space
_EXACT: Final = re.compile(
    r"\d+(?:[.,]\d+)*\s?%?|\b[A-Za-z0-9_]*(?:[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|_)[A-Za-z0-9_]*\b|\b[A-Z]{2,}\b", re.ASCII
)
_WORD: Final = re.compile(r"[a-z0-9_]+", re.ASCII)
_LIST_MARK: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence as the engine wrote it, with the section numbers it named."""

    text: str
    tags: tuple[str, ...]
    code: bool = False


@dataclass(slots=True)
class ClaimReader:
    """Cuts a stream into claims as soon as each is complete. Feed pieces, then `finish()`.

    A sentence is complete when the next one begins, so that it can be shown while the engine still writes; a tag belongs
    to the sentence before it. A code block is one claim.
    Bounded: all expressions are linear and lines are cut at 2,000 characters.
    """

    _pending: str = ""
    not_in_guide: bool = False
    _in_code: bool = False
    _within_line: bool = False  # the beginning of the pending line was read already
    _code: list[str] = field(default_factory=lambda: list[str]())

    def feed(self, piece: str) -> Iterator[Claim]:
        self._pending += piece
        while (end := self._pending.find("\n")) >= 0 or len(self._pending) > 2_000:
            end = end if 0 <= end <= 2_000 else 2_000
            line, self._pending = self._pending[:end], self._pending[end + 1 :]
            yield from self._line(line)
            self._within_line = False
        if not self._in_code and (self._within_line or not self._pending.lstrip().startswith("`")):
            yield from self._complete_claims()

    def finish(self) -> Iterator[Claim]:
        line, self._pending = self._pending, ""
        yield from self._line(line)
        if self._code:
            self._in_code = False
            yield Claim("\n".join([*self._code, _FENCE]), (), code=True)
            self._code.clear()

    def _complete_claims(self) -> Iterator[Claim]:
        """Claims of the unfinished line: up to the last place where a sentence, or its tags, ended for sure."""
        ends = [end.end() for end in _SENTENCE_END.finditer(self._pending) if _BEGUN.match(self._pending, end.end())]
        ends += [tag.end() for tag in _TAG.finditer(self._pending) if _BEGUN.match(self._pending, tag.end())]
        if ends:
            done, self._pending = self._pending[: max(ends)], self._pending[max(ends) :]
            yield from self._line(done)
            self._within_line = True

    def _line(self, line: str) -> Iterator[Claim]:
        if line.lstrip().startswith(_FENCE) and not self._within_line:
            self._code.append(line.strip())
            self._in_code = not self._in_code
            if not self._in_code:
                yield Claim("\n".join(self._code), (), code=True)
                self._code.clear()
            return
        if self._in_code:
            self._code.append(line)
            return
        if NOT_IN_GUIDE in line.upper().replace(" ", "_"):
            self.not_in_guide = True
            return
        position = 0
        waiting: list[str] = []
        for tag in _TAG.finditer(line):
            waiting += _sentences(line[position : tag.start()])
            position = tag.end()
            yield from (Claim(text, ()) for text in waiting[:-1])
            waiting = waiting[-1:]
            if waiting:  # a tag speaks for the sentence before it; a second tag at once adds nothing
                yield Claim(waiting.pop(), tuple(f"S{int(number)}" for number in _NUMBER_IN_TAG.findall(tag.group(1))))
        yield from (Claim(text, ()) for text in _sentences(line[position:]))


def _sentences(text: str) -> list[str]:
    text = _LIST_MARK.sub("", text)
    parts = [part.strip(" \t,;") for part in _SENTENCE_END.split(text)]
    return [part for part in parts if re.search(r"\w", part)]


def clean(text: str) -> str:
    """Model output made safe to show: no links, mentions, images, ANSI codes, control tokens or invisible characters."""
    text = harmless(_ANSI.sub("", text))
    text = _LINK.sub(r"\1", text)
    text = _BARE_LINK.sub("", text)
    text = _MENTION.sub("", text)
    text = _TAG.sub("", text)
    return re.sub(r"[ \t]{2,}", " ", text).strip()


def exact_parts(text: str) -> tuple[str, ...]:
    """Numbers, units and identifiers, as they are compared: case folded, without spaces inside."""
    return tuple(re.sub(r"\s", "", part).casefold().rstrip(".,") for part in _EXACT.findall(text))


def _forms(part: str) -> set[str]:
    """How a number may be written: "4,125" groups thousands in English and is a decimal in Greek and Russian."""
    if not part[:1].isdigit() or "," not in part:
        return {part}
    return {part, part.replace(",", "."), part.replace(",", "")}


def _holds_exactly(claim: str, *sources: str) -> bool:
    there = set[str]()
    for source in sources:
        there.update(form for part in exact_parts(source) for form in _forms(part))
        there.update(_WORD.findall(words.folded(source)))
    return all(_forms(part) & there or part.removesuffix("s") in there for part in exact_parts(claim))


def _supports(evidence: Evidence, claim: str, question: str) -> float:
    """How well a section supports a claim: the share of meaning words found, 0 when a number or identifier is not there."""
    text = f"{evidence.section.heading}\n{evidence.text}"
    if not _holds_exactly(claim, text, question):
        return 0.0
    return words.overlap(claim, text)


def _needed(claim: str) -> float:
    wide = sum(1 for mark in claim if mark >= "\u2e80")
    return SUPPORT_CJK if wide * 3 > len(claim) else SUPPORT


def verified(claim: Claim, evidence: Sequence[Evidence], question: str) -> Sentence | None:
    """The claim tied to the sections that support it, the tagged ones tried first; None when none does."""
    if claim.code:
        return _verified_code(claim, evidence)
    text = clean(claim.text)
    if len(text) < 8 and not re.search(r"[\u2e80-\U0001ffff]{3}", text):
        return None
    needed = _needed(text)
    tagged = [item for tag in claim.tags for item in evidence if item.tag == tag]
    kept = [item for item in tagged if _supports(item, text, question) >= needed]
    if not kept:
        best = max(evidence, key=lambda item: _supports(item, text, question), default=None)
        if best is None or _supports(best, text, question) < needed:
            return None
        kept = [best]
    return Sentence(text, tuple(item.citation for item in kept[:2]))


def _verified_code(claim: Claim, evidence: Sequence[Evidence]) -> Sentence | None:
    """Code is shown only where the guide has it: every line of it, white space aside."""
    lines = ["".join(line.split()) for line in claim.text.splitlines()[1:-1] if line.strip()]
    for item in evidence:
        there = "".join(item.text.split())
        if lines and all(line in there for line in lines):
            return Sentence(claim.text, (item.citation,))
    return None


def worth_adding(sentence: Sentence, so_far: Sequence[Sentence]) -> bool:
    """Whether a sentence says something that the ones before do not."""
    if len(so_far) >= MAX_SENTENCES:
        return False
    return all(words.folded(sentence.text) != words.folded(earlier.text) for earlier in so_far)
