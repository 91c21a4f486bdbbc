"""How an evaluation reads texts: is a fact said, is a sentence supported, in which script is it, was a number changed.

Written apart from `content.words` and `tutor.grounding` on purpose: a judge that shared their code would share their
mistakes. All expressions are linear.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

SUPPORTED: Final = 0.5
"""Share of a sentence's words that the section must have for it to count as supported (compared by their first five letters)."""
OWN_SCRIPT: Final = 0.3
"""Share of letters in its own script from which a text counts as written in that language: names and code stay Latin."""
FOREIGN: Final = 0.1
"""Share of letters of another script (Latin aside) up to which a text is still in its language."""

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_TOKEN: Final = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[\u0370-\u03ff]+|[\u0400-\u04ff]+|[\u3400-\u9fff\uac00-\ud7af]+")
_WIDE: Final = re.compile(r"[\u3400-\u9fff\uac00-\ud7af]")
_FENCE: Final = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_QUANTITY: Final = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)[\s-]?"
    r"(%|×|x\b|bits?\b|bytes?\b|[kmgt]i?b\b|ms\b|us\b|µs\b|[sn]s?\b|hz\b|ghz\b|fps\b|layers?\b|threads?\b|warps?\b|samples?\b|epochs?\b)?",
    re.IGNORECASE,
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+|__[a-z]+|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z]+[a-z]*\d[A-Za-z0-9]*")
_COMMON: Final = frozenset(
    "the a an and or but if then else of to in on at by for from with as is are was were be been it its this that these those not no so "
    "can may must will which who what when where than into over per only also each every one all any more most use uses used using".split()
)


def folded(text: str) -> str:
    """One form for comparing: NFKC, case and accents dropped, hyphens as spaces, no thousands separators, single spaces."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    text = unicodedata.normalize("NFC", "".join(mark for mark in text if not unicodedata.combining(mark))).replace("ς", "σ")
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"[\u2010-\u2015\-_/`*\"“”«»]+", " ", text)
    text = re.sub(r"(?<=\d)\s+(?=[%×])", "", text)
    return re.sub(r"\s+", " ", text).strip()


def says(text: str, phrase: str) -> bool:
    """Whether the text says this phrase. A number stands alone ("32" is not in "320"); a word may have an ending."""
    wanted = folded(phrase)
    if not wanted:
        return False
    there = folded(text)
    at = there.find(wanted)
    while at >= 0:
        before, after = there[:at], there[at + len(wanted) :]
        if _may_begin(before, wanted) and _may_end(wanted, after):
            return True
        at = there.find(wanted, at + 1)
    return False


def _may_begin(before: str, wanted: str) -> bool:
    if not before or _WIDE.match(wanted):
        return True
    if wanted[0].isdigit():
        return not re.search(r"\w$|\d[.,]$|[-−]$", before, re.ASCII)
    return not re.search(r"[^\W\u3400-\u9fff\uac00-\ud7af]$", before)


def _may_end(wanted: str, after: str) -> bool:
    return not wanted[-1].isdigit() or re.match(r"\d|[.,]\d", after) is None


def facts_said(text: str, facts: Iterable[Iterable[str]]) -> list[bool]:
    """For each fact, whether one of its alternatives is said."""
    return [any(says(text, alternative) for alternative in alternatives) for alternatives in facts]


def tokens(text: str) -> list[str]:
    """Words by their first five letters, numbers whole, wide scripts as pairs; the commonest English words left out."""
    found: list[str] = []
    for token in _TOKEN.findall(folded(text)):
        if _WIDE.match(token):
            found += [token[i : i + 2] for i in range(max(1, len(token) - 1))]
        elif token not in _COMMON:
            found.append(token if token[0].isdigit() else token[:5])
    return found


def support(sentence: str, section: str) -> float:
    """The share of the sentence's tokens that the section has, 0..1; 1 for a sentence without any."""
    wanted = tokens(sentence)
    there = set(tokens(section))
    return sum(token in there for token in wanted) / len(wanted) if wanted else 1.0


def changed(sentence: str, *sources: str) -> list[str]:
    """Numbers, quantities and identifiers of the sentence that stand in none of the sources.

    A quantity is there too where its number stands alone and its unit elsewhere: "warps of 32" holds "32 threads" if threads are spoken
    of, and "128–256 threads" both of its ends. A number that only ever has another unit there is a changed one.
    """
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", unicodedata.normalize("NFKC", sentence))
    there = [re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", unicodedata.normalize("NFKC", source)) for source in sources]
    known = {_quantity(found) for source in there for found in _QUANTITY.finditer(source)}
    numbers = {number for number, _ in known}
    words = {word.rstrip("s") for source in there for word in re.findall(r"[^\W\d_]+|[%×]", source.casefold())}
    bare = "".join(re.sub(r"[\W_]+", "", source.casefold()) + " " for source in there)
    missing = [
        found.group().strip()
        for found in _QUANTITY.finditer(text)
        if (quantity := _quantity(found))[0] not in numbers
        or (found[2] and quantity not in known and not ((quantity[0], "") in known and quantity[1] in words))
    ]
    missing += [name for name in _IDENTIFIER.findall(text) if re.sub(r"[\W_]+", "", name.casefold()) not in bare]
    return missing


def _quantity(found: re.Match[str]) -> tuple[str, str]:
    number = found[1].rstrip("0").rstrip(".") if "." in found[1] else found[1]
    return number, (found[2] or "").casefold().rstrip("s")


def script_shares(text: str) -> dict[str, float]:
    """Share of letters by script: ko, zh (Han), el, ru (Cyrillic), en (Latin). Code blocks are left out."""
    counts = dict.fromkeys(("ko", "zh", "el", "ru", "en"), 0)
    for mark in "".join(_LETTERS.findall(_FENCE.sub(" ", text))):
        if "\uac00" <= mark <= "\ud7af" or "\u1100" <= mark <= "\u11ff":
            counts["ko"] += 1
        elif "\u3040" <= mark <= "\u9fff":
            counts["zh"] += 1
        elif "\u0370" <= mark <= "\u03ff":
            counts["el"] += 1
        elif "\u0400" <= mark <= "\u04ff":
            counts["ru"] += 1
        else:
            counts["en"] += 1
    total = sum(counts.values())
    return {language: count / total if total else 0.0 for language, count in counts.items()}


def written_in(text: str, language: str) -> bool:
    """Whether a text is in this language, by its script; too short a text to tell counts as right."""
    if sum(len(run) for run in _LETTERS.findall(text)) < 8:
        return True
    base = language.partition("-")[0]
    shares = script_shares(text)
    foreign = sum(share for other, share in shares.items() if other not in (base, "en"))
    if base not in shares or base == "en":
        return foreign <= FOREIGN
    return shares[base] >= OWN_SCRIPT and foreign <= FOREIGN
