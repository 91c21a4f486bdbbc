"""No model at all: the answer is the one or two sentences of the guide that fit the question best, quoted and cited.

It is what learners get with no model, while one starts, and when one fails. Matching is by shared words: word stems where a
script has spaces, pairs of characters where it has none (Chinese) or glues endings on (Korean); a sentence that was found to be
the nearest in meaning counts for more, and for a question in another language it is all there is. It never rephrases, never
combines, and says NOT_IN_GUIDE when nothing in the passages is near the question. The same prompt always gives the same answer.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from typing import Final

from engines.base import NOT_IN_GUIDE, Finish, Health, Passage, Prompt, Traits

LONGEST: Final = 700  # characters of one quoted sentence or code block; longer ones read as a page, not as an answer
SECOND: Final = 0.55  # share of the best score that a second sentence must reach to be worth its place
LATER: Final = 0.75  # what the words of a passage weigh against those of the one before: they were ranked by more than words
NEAREST: Final = 0.25  # what being the nearest in meaning adds, in shares of the best score by words; less for later passages

# Words so common that sharing one says nothing about the subject. Questions are made of them.
COMMON: Final = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have how i if in into is it its me more most much my no not of
    on or our please should so some tell than that the their them then there these they this those to us was we were what when where which
    while who whom whose why will with would you your about between explain mean means say says use used
    ο η το οι τα του της των τον την τους τις ενα ενας μια και ή να θα δεν μη με σε απο για που πως τι ποιο ποια ποιος ποιοι γιατι ειναι
    εχει εχουν αυτο αυτη αυτος στο στη στην στον στα στις στους οταν πιο οπως αν αλλα μου σου μας σας
    и в во не на я он она оно они мы вы ты что как так это этот эта эти того тот по к ко из за у от до с со о об для же бы ли или но а если
    то чем кто где когда почему зачем какой какая какие каков который которая которые есть быть был была были может можно нужно мой мне
    """.split()
)
# The same for scripts cut into pairs of characters: question words and endings, as whole strings to take out first.
FILLER: Final = re.compile(
    "什么|怎么样|怎么|为什么|为何|如何|哪个|哪些|哪里|是否|可以|请问|请|吗|呢|的|了|是|有|在|和|与|或|会|能|我们|我|你|它|这个|这|那|"
    "무엇|무슨|어떻게|어떤|어느|왜|언제|어디|인가요|나요|까요|입니까|습니까|합니까|해요|이란|하는|되는|하나요|되나요|주세요|설명|그리고|또는"
)
HAN: Final = r"\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff"
HANGUL: Final = r"\uac00-\ud7a3"
RUN: Final = re.compile(rf"[{HAN}]+|[{HANGUL}]+|[^\W_{HAN}{HANGUL}]+(?:[.'’][^\W_{HAN}{HANGUL}]+)*")
GREEK: Final = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")
FENCE: Final = re.compile(r"^ {0,3}(```+|~~~+)")
MARKER: Final = re.compile(r"^\s*(?:>\s?|[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)+")
TABLE_RULE: Final = re.compile(r"^\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$")
COMMENT: Final = re.compile(r"<!--.*?-->", re.S)

# A full stop after these ends no sentence. Lower case; compared without the stop.
SHORT: Final = frozenset(
    "e.g i.e etc cf vs fig no approx ca al dr mr ms mrs prof st eq sec ch vol pp inc ltd jr sr "
    "т.е т.к т.д т.п т.н др пр см рис им г гг стр напр "
    "π.χ δηλ κ.λπ κ.ά κ.α βλ σελ".split()
)
STOP: Final = re.compile(rf"[。！？…]+[」』”’）\)]*|[.!?;\u037e]+[\"'”’»\)\]]*(?=\s|[{HAN}{HANGUL}]|$)")


@dataclass(frozen=True, slots=True)
class Quote:
    """One sentence, list entry, table row or code block of a passage, as it stands there."""

    text: str
    tag: str
    title: str
    code: bool = False
    first: bool = False  # the passage begins with it

    def cited(self) -> str:
        return f"{self.text}\n[{self.tag}]" if self.code else f"{self.text} [{self.tag}]"


def sentences(text: str) -> list[str]:
    """The text cut after its sentences. Knows CJK stops, common abbreviations, decimals and initials; joins soft line breaks."""
    flat = re.sub(rf"(?<=[{HAN}])\n(?=[{HAN}])", "", text.strip())
    flat = re.sub(r"\s+", " ", flat)
    found: list[str] = []
    start = 0
    for stop in STOP.finditer(flat):
        if stop[0][0] == "." and not _ends(flat, start, stop):
            continue
        if stop[0][0] == ";" and not GREEK.search(flat, start, stop.start()):
            continue  # a semicolon is a question mark only in Greek
        found.append(flat[start : stop.end()].strip())
        start = stop.end()
    found.append(flat[start:].strip())
    return [sentence for sentence in found if sentence]


def _ends(text: str, start: int, stop: re.Match[str]) -> bool:
    """Does this full stop end a sentence? Not after an abbreviation or an initial, and not before a small letter."""
    before = text[start : stop.start()].rsplit(" ", 1)[-1].lstrip("(\"'“«").casefold()
    after = text[stop.end() :].lstrip()
    if not after:
        return True
    if before in SHORT or (len(before) == 1 and before.isalpha()):
        return False
    return not after[0].islower() or "`" in before[-1:]


def quotes(passage: Passage) -> Iterator[Quote]:
    """Everything of a passage that can be quoted, in order; a code fence stays whole, headings and table rules are left out."""
    first = True
    for block, code in _blocks(COMMENT.sub("", passage.text)):
        for text in [block] if code else sentences(block):
            if len(text) <= LONGEST:
                yield Quote(text, passage.tag, passage.title, code, first)
                first = False


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs, list entries, table rows and code fences (True), each as one text."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence:
            lines.append(line)
            if mark is not None and mark[1].startswith(fence):
                yield "\n".join(lines), True
                lines, fence = [], ""
            continue
        starts_anew = mark is not None or not line.strip() or MARKER.match(line) is not None or line.lstrip().startswith("|")
        if starts_anew and lines:
            yield "\n".join(lines), False
            lines = []
        if mark is not None:
            lines, fence = [line], mark[1]
        elif line.strip() and not line.lstrip().startswith("#") and not TABLE_RULE.match(line):
            lines.append(MARKER.sub("", line).strip())
            if line.lstrip().startswith("|"):
                yield lines.pop(), False
    if lines:
        yield "\n".join(lines), bool(fence)


def keys(text: str) -> Counter[str]:
    """What a text is matched by: stems of its words, pairs of its CJK characters; accents, case and common words removed."""
    found: Counter[str] = Counter()
    plain = unicodedata.normalize("NFKD", FILLER.sub(" ", unicodedata.normalize("NFKC", text)).casefold())
    plain = unicodedata.normalize("NFC", "".join(letter for letter in plain if not unicodedata.combining(letter)))
    for run in RUN.findall(plain):
        if re.match(rf"[{HAN}{HANGUL}]", run):
            found.update([run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)])
        elif run not in COMMON and (len(run) > 1 or run.isdigit()):
            found[_stem(run)] += 1
    return found


def _stem(word: str) -> str:
    """Cuts endings by length alone. Crude, the same for every language, and enough to let "engines" meet "engine"."""
    if any(letter.isdigit() for letter in word) or len(word) < 4:
        return word
    if word.isascii():
        for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y"):
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
        return word
    return word[: max(4, len(word) - 3)]  # Greek and Russian endings are long


def best(prompt: Prompt) -> list[Quote]:
    """At most two quotes, the best first; empty when no passage shares a word with the question and none is known to be near."""
    asked = keys(prompt.question)
    candidates = [quote for passage in prompt.passages for quote in quotes(passage)]
    if not candidates:
        return []
    held = [keys(quote.text) for quote in candidates]
    rank = {passage.tag: number for number, passage in enumerate(prompt.passages)}
    titles = {passage.title: keys(passage.title) for passage in prompt.passages}
    spread = Counter(key for keyset in held for key in set(keyset))
    weight = {key: math.log(1 + len(held) / (1 + spread[key])) for key in asked}
    scored: list[tuple[float, int]] = []
    for at, (quote, keyset) in enumerate(zip(candidates, held, strict=True)):
        own = sum(weight[key] for key in asked if key in keyset)
        title = sum(weight[key] for key in asked if key in titles[quote.title])
        score = own + 0.4 * title if own or quote.first else 0.0  # a title speaks for the whole passage: for its opening first
        scored.append((score * (0.6 if quote.code else 1.0) * LATER ** rank[quote.tag], -at))
    best_by_words = max(score for score, _ in scored) or 1.0
    for at, quote in enumerate(candidates):
        if _is_nearest(quote, prompt.passages[rank[quote.tag]]):
            scored[at] = (scored[at][0] + NEAREST * best_by_words / (1 + rank[quote.tag]), -at)
    ranked = [(score, candidates[-place]) for score, place in sorted(scored, reverse=True) if score > 0]
    chosen = [quote for score, quote in ranked[:2] if score >= SECOND * ranked[0][0]]
    return list(dict.fromkeys(chosen))


def _is_nearest(quote: Quote, passage: Passage) -> bool:
    """The nearest sentence was cut by somebody else: white space and list marks may differ."""
    wanted, there = ("".join(text.split()) for text in (passage.nearest, quote.text))
    return bool(wanted) and not quote.code and (wanted in there or (len(there) > 20 and there in wanted))


class QuotingEngine:
    """Deterministic and stateless; `max_tokens` and `deadline_s` never matter, an answer takes about a millisecond."""

    def __init__(self) -> None:
        self.traits = Traits(name="quoting", context_tokens=1_000_000, max_tokens=1_000, whole_guide=False)

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        found = best(prompt)
        if not found:
            yield NOT_IN_GUIDE
        for quote in found:
            yield quote.cited() + "\n"
        yield Finish(quoted=True)

    async def warm(self, prompt: Prompt) -> None:
        """Nothing to do."""

    async def health(self) -> Health:
        return Health(True, "quotes the guide, needs no model")

    async def aclose(self) -> None:
        """Nothing is held."""
