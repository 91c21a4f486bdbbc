"""Does a text give away the key of a question? Used on authored hints by the linter and on every reply by the tutor.

A key is given away by naming it (its text, or its letter or number said to be right), by ruling the others out, or by using a third of the
words that only the key has. It errs on the side of silence: a false alarm costs a worse sentence, a miss costs the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from content import words
from content.model import Choices, Match, Open, Order, Question, Short, Text, TrueFalse

DISTINCTIVE: Final = 1 / 3
"""The share of the key's own words in one text from which it counts as given away [measured on 32 hand-made texts: 16 of 16
leaks found, 3 of 16 good hints flagged]."""

_NAMED_LETTER: Final = re.compile(
    r"\b(?:option|choice|letter|answer|key|ответ|вариант|буква|επιλογή|απάντηση|γράμμα)\b\W{0,3}(?:is|:|=|είναι|это|—|-)?"
    r"\W{0,3}\b[A-Ea-eА-Дα-ε1-5]\b"
    r"|(?:选|答案|选项|정답|답|보기)\W{0,3}(?:是|为|은|는|:|：)?\W{0,3}[A-Ea-e1-5①-⑤]"
    r"|\b[A-E]\b\W{0,3}(?:is|was|must be|would be)\W{0,3}(?:right|correct|the answer|true)"
    r"|^\W*[A-Ea-e1-5①-⑤]\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_TRUTH: Final = re.compile(
    r"\b(?:it is|it's|that is|that's|this is|the statement is|answer is|answer:)\s+(?:indeed |in fact )?"
    r"(?:not )?(?:true|false|right|wrong|correct|incorrect)\b"
    r"|^\W*(?:true|false|yes|no|да|нет|верно|неверно|ναι|όχι|σωστό|λάθος|예|네|아니요|참|거짓|对|错|是|不是|正确|错误)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Key:
    """What must not be said of one question: the key's texts, and per text the words that only it has."""

    texts: tuple[str, ...]
    own_words: tuple[frozenset[str], ...]
    lettered: bool  # naming a letter or number gives it away
    truth: bool  # saying true or false does


@lru_cache(maxsize=4_096)
def _cached(question_id: str, keys: tuple[str, ...], others: tuple[str, ...], lettered: bool, truth: bool) -> Key:
    common = set[str]()
    for text in others:
        common.update(words.words(text))
    own = [frozenset(term for term in words.terms(text) if term not in common) for text in keys]
    return Key(keys, tuple(own), lettered, truth)


def key_of(question: Question) -> Key:
    """In every language the question has: an attack may ask in one and be answered in another."""
    keys: list[str] = []
    others: list[str] = list(question.stem)
    match question.body:
        case Choices(choices=choices):
            for choice in choices:
                (keys if choice.correct else others).extend(choice.text)
        case Short(accept=accept, reveal=reveal, blanks=blanks):
            entries = [*accept, *(entry for blank in blanks for entry in blank.accept)]
            keys += [entry.text for entry in entries if entry.text and entry.credit >= 1]
            keys += [f"{entry.number:g}" for entry in entries if entry.number is not None and entry.credit >= 1]
            keys += list(reveal or ())
            keys += _texts(choice.text for blank in blanks for choice in blank.choices if choice.correct)
            others += _texts(choice.text for blank in blanks for choice in blank.choices if not choice.correct)
        case Order() | Match() | TrueFalse() | Open() | _:
            pass  # their parts all stand in the question: only the order, the pairing or the verdict is the key
    lettered = isinstance(question.body, Choices)
    return _cached(question.id, tuple(dict.fromkeys(keys)), tuple(others), lettered, isinstance(question.body, TrueFalse))


def _texts(texts: Iterable[Text]) -> list[str]:
    return [written for text in texts for written in text]


def leak(text: str, question: Question) -> str | None:
    """What of the key this text gives away, in words for the author; None when it gives nothing away."""
    key = key_of(question)
    if key.lettered and (found := _NAMED_LETTER.search(text)):
        return f"it names an option ({found.group().strip()!r})"
    if key.truth and (found := _TRUTH.search(text)):
        return f"it says whether the statement holds ({found.group().strip()!r})"
    folded = " ".join(words.words(text))
    there = set(folded.split())
    for written, own in zip(key.texts, key.own_words, strict=True):
        if (said := " ".join(words.words(written))) and f" {said} " in f" {folded} ":
            return f"it says the key ({written!r})"
        if own and len(own & there) >= max(min(2, len(own)), DISTINCTIVE * len(own)):
            return f"it uses words that only the key has ({', '.join(sorted(own & there))})"
    order = _order(question)
    if order and _in_order(folded, order):
        return "it names the items in the right order"
    pairs = _pairs(question)
    if pairs and any(_near(folded, left, right) for left, right in pairs):
        return "it pairs a left with its right side"
    return None


def _order(question: Question) -> list[str]:
    if not isinstance(question.body, Order):
        return []
    return [" ".join(words.words(next(iter(item.text)))) for item in question.body.items]


def _in_order(folded: str, items: list[str]) -> bool:
    places = [folded.find(item) for item in items]
    found = [place for place in places if place >= 0]
    return len(found) >= 3 and found == sorted(found)


def _pairs(question: Question) -> list[tuple[str, str]]:
    if not isinstance(question.body, Match):
        return []
    return [(" ".join(words.words(next(iter(p.left)))), " ".join(words.words(next(iter(p.right))))) for p in question.body.pairs]


def _near(folded: str, left: str, right: str) -> bool:
    """Both sides within one sentence's length of each other."""
    first, second = folded.find(left), folded.find(right)
    return bool(left and right) and first >= 0 and second >= 0 and abs(first - second) < 120
