"""From what an engine writes to what a learner may read: every sentence is tied to a section, or dropped.

The engine is never trusted. A sentence stays when its numbers, units and identifiers stand in a section (or in the
question) and enough of its meaning words do; a wrong tag is replaced by the right one; a sentence that no section
supports is dropped, and so is one that obeys an order which was planted in a question or a guide. Thresholds were set on
the shipped guides with the 1.5B model (docs/evaluation.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from content import words
from engines.base import NOT_IN_GUIDE
from tutor import orders
from tutor.prompting import POLICY, Evidence, harmless
from tutor.reply import Sentence

SUPPORT: Final = 0.55
"""Share of a sentence's meaning words that its section must have, where both are in one alphabetic language."""
SUPPORT_CJK: Final = 0.4
"""The same for pairs of letters, where a changed particle breaks two of them."""
STRAY: Final = 3
"""Plain Latin words that a guide in another script does not have, from which a sentence without its letters is not in its language."""
MAX_SENTENCES: Final = 6
SAID: Final = 0.7  # share of a text's meaning words from which an answer has said it
SHOUTED: Final = 0.7
"""Share of capital letters from which a sentence of more than three words is not one of a guide: its names alone have fewer."""
POLICY_RUN: Final = 6  # words of our own instructions in a row

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
_REPORTED: Final = re.compile(r"(?:According to the guide, |The guide (?:states|says|mentions|notes|explains) that )(?=\S)")
_PLAIN_LATIN: Final = re.compile(r"(?<![\w.])[a-z]{2,}(?![\w.]\w)", re.ASCII)
_UNIT: Final = (
    r"%|×|x\b|[kmgt]i?b(?:it)?\b|bits?\b|bytes?\b|(?:milli|micro|nano)?seconds?\b|[mnuµμ]?s\b|minutes?\b|hours?\b|[kmg]?hz\b|t?flops?\b"
    r"|位|比特|字节|毫秒|微秒|秒|倍|бит\w{0,5}|байт\w{0,3}|[кмг]и?б\b|비트|바이트|초|배"
)
_MEASURE: Final = re.compile(rf"(\d+(?:[.,]\d+)*)(?:\s?[–—-]\s?(\d+(?:[.,]\d+)*))?[\s-]?({_UNIT})", re.IGNORECASE)
"""A number, or the two ends of a range, with a unit that says how much it is; what is merely counted ("threads") is no unit."""
_SHORT: Final = {
    "s": "second",
    "ms": "millisecond",
    "us": "microsecond",
    "µs": "microsecond",
    "μs": "microsecond",
    "ns": "nanosecond",
    "×": "x",
}
_PLAIN_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*%?")
_DOTTED: Final = re.compile(r"\b\w{3,40}\.[a-z]{2,10}\b", re.ASCII)  # threadIdx.x aside, these are addresses
_DATA: Final = re.compile(r"\s*[{\[]|.{0,40}\":", re.DOTALL)
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#-]{1,16}")
_LIST_MARK: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


_POLICY_WORDS: Final = re.findall(r"\w+", POLICY.casefold())
_POLICY_RUNS: Final = tuple(" ".join(_POLICY_WORDS[i : i + POLICY_RUN]) for i in range(len(_POLICY_WORDS) - POLICY_RUN + 1))


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
        if not self._within_line:
            line = _LIST_MARK.sub("", line)
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


@lru_cache(maxsize=512)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(words.words(text))


@lru_cache(maxsize=512)
def _exact_in(text: str) -> frozenset[str]:
    return frozenset({form for part in exact_parts(text) for form in _forms(part)} | set(_WORD.findall(words.folded(text))))


@lru_cache(maxsize=512)
def _measures(text: str) -> tuple[tuple[str, str], ...]:
    """Every number that has a unit, with it; both ends of a range."""
    return tuple((number, _unit(found[3])) for found in _MEASURE.finditer(text) for number in (found[1], found[2]) if number)


def _unit(written: str) -> str:
    unit = written.casefold()
    return _SHORT.get(unit) or (unit.removesuffix("s") if unit.isascii() else unit[:3])


def _keeps_units(claim: str, section: str) -> bool:
    """No number gets a unit that is not its own: the section has it so, or has the number bare in a sentence that has the unit."""
    there = {(form, unit) for number, unit in _measures(section) for form in _forms(number)}
    return all(
        any((form, unit) in there for form in _forms(number))
        or any(_has_apart(sentence, _forms(number), unit) for sentence in _SENTENCE_END.split(section))
        for number, unit in _measures(claim)
    )


def _has_apart(sentence: str, number: set[str], unit: str) -> bool:
    measures = _measures(sentence)
    bare = set(exact_parts(sentence)) - {measured for measured, _ in measures}
    return bool(number & bare) and any(unit == measure for _, measure in measures)


def _holds_exactly(claim: str, section: str, question: str) -> bool:
    """Every number and identifier stands in the section; of the question, only plain numbers count: names must be the guide's."""
    there = _exact_in(section) | {part for part in exact_parts(question) if _PLAIN_NUMBER.fullmatch(part)}
    if any(name.casefold() not in section.casefold() for name in _DOTTED.findall(claim)):
        return False
    if not _keeps_units(claim, f"{section}\n{question}"):
        return False
    return all(_forms(part) & there or part.removesuffix("s") in there for part in exact_parts(claim))


def _supports(evidence: Evidence, claim: str, question: str) -> float:
    """How well a section supports a claim: the share of meaning words found, 0 when a number or identifier is not there, or
    when a word of the claim comes from an order and from nowhere else."""
    text = f"{evidence.section.heading}\n{evidence.text}"
    plain, ordered = orders.parted(question)
    if not _holds_exactly(claim, text, plain) or _strays(claim, text, evidence.guide.language):
        return 0.0
    if ordered or evidence.ordered:
        commanded = {*words.terms(ordered), *words.terms(evidence.ordered)}
        if (commanded & set(words.words(claim))) - _words_of(text) - _words_of(plain):
            return 0.0
    wanted = words.terms(claim)
    return sum(term in _words_of(text) for term in wanted) / len(wanted) if wanted else 1.0


def _strays(claim: str, section: str, language: str) -> bool:
    """Whether a sentence left the section's language for English, as small models do: its words are nobody's then."""
    if words.in_script_of(claim, language):
        return False
    return len(set(_PLAIN_LATIN.findall(claim)) - _words_of(section)) >= STRAY


def _has_a_form(text: str) -> bool:
    """Whether a sentence comes in a form that nobody but an attacker asks for: all capitals, or as data."""
    letters = [mark for mark in text if mark.isalpha()]
    shouted = sum(mark.isupper() for mark in letters) > SHOUTED * len(letters) and len(text.split()) > 3
    return shouted or _DATA.match(text) is not None


def _repeats_the_policy(text: str) -> bool:
    """Whether words of the instructions are said in a row, as many as no sentence about a subject would."""
    there = " ".join(re.findall(r"\w+", text.casefold()))
    return any(run in there for run in _POLICY_RUNS)


def _needed(claim: str) -> float:
    wide = sum(1 for mark in claim if mark >= "\u2e80")
    return SUPPORT_CJK if wide * 3 > len(claim) else SUPPORT


def verified(claim: Claim, evidence: Sequence[Evidence], question: str) -> Sentence | None:
    """The claim tied to the sections that support it, the tagged ones tried first; None when none does."""
    if claim.code:
        return _verified_code(claim, evidence)
    text = _said_directly(clean(claim.text))
    if _has_a_form(text) or _repeats_the_policy(text):
        return None
    if _says_nothing(text, evidence, question):
        return None
    needed = _needed(text)
    tagged = [item for tag in claim.tags for item in evidence if item.tag == tag]
    kept = [item for item in tagged if _supports(item, text, question) >= needed]
    if not kept:
        scores = [_supports(item, text, question) for item in evidence]
        if not scores or max(scores) < needed:
            return None
        kept = [evidence[scores.index(max(scores))]]
    return Sentence(_ended(text), tuple(item.citation for item in kept[:2]))


def _said_directly(text: str) -> str:
    """Without "The guide states that": the citation behind the sentence says so already."""
    reported = _REPORTED.match(text)
    if reported is None:
        return text
    text = text[reported.end() :]
    return text[0].upper() + text[1:] if re.match(r"[a-z]+[\s,]", text) else text


def _ended(text: str) -> str:
    """The sentence with its stop, which often stands behind the tag and went with it."""
    last = text[-1]
    if not last.isalnum() and last not in "`)]»”":
        return text
    han = "\u3040" <= last <= "\u9fff"
    return text + ("。" if han else ".")


def _says_nothing(text: str, evidence: Sequence[Evidence], question: str) -> bool:
    """A scrap of a sentence, a heading, or the question said back, which is no answer and often a wrong premise ("Yes, it blocks")."""
    wide = re.search(r"[\u2e80-\U0001ffff]{3}", text)
    said = set(words.terms(text))
    if len(text) < 8 and not wide:
        return True
    if len(said) < 2 and not exact_parts(text) and not wide:
        return True
    return said <= set(words.words(question)) or any(said <= set(words.words(item.section.heading)) for item in evidence)


def _verified_code(claim: Claim, evidence: Sequence[Evidence]) -> Sentence | None:
    """Code is shown only where the guide has it: every line of it, white space aside."""
    lines = ["".join(line.split()) for line in claim.text.splitlines()[1:-1] if line.strip()]
    for item in evidence:
        there = "".join(item.text.split())
        if lines and all(line in there for line in lines):
            return Sentence(_plain_fence(claim.text), (item.citation,))
    return None


def _plain_fence(code: str) -> str:
    """The block with nothing but a language on its first line: an engine may write anything there."""
    first, *rest = code.splitlines()
    language = _LANGUAGE.fullmatch(first.strip().strip("`"))
    return "\n".join([_FENCE + (language.group() if language else ""), *rest[:-1], _FENCE])


def says_already(sentences: Sequence[Sentence], text: str) -> bool:
    """Whether what a text says stands in these sentences, in other words perhaps: its numbers and names, and most of its meaning words."""
    said = " ".join(sentence.text for sentence in sentences)
    wanted = words.terms(text)
    there = _words_of(said)
    return set(exact_parts(text)) <= _exact_in(said) and sum(term in there for term in wanted) >= SAID * len(wanted)


def worth_adding(sentence: Sentence, so_far: Sequence[Sentence]) -> bool:
    """Whether a sentence says something that the ones before do not."""
    if len(so_far) >= MAX_SENTENCES:
        return False
    return all(words.folded(sentence.text) != words.folded(earlier.text) for earlier in so_far)
