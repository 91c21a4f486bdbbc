"""The words of a text in five languages: cut, folded and stemmed the same way on every side that compares them.

CJK and Hangul runs become overlapping pairs of letters, other words lose case and accents, and in Greek and Russian the
ending is dropped. Light on purpose: it must bring "engines" to "engine", not do linguistics.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

MAX_TERMS: Final = 48  # of one query; a longer question has said enough

_WORD: Final = re.compile(r"[\w+#.\-]*\w[+#]*", re.UNICODE)
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
_CYRILLIC_OR_GREEK: Final = re.compile(r"[\u0370-\u03ff\u0400-\u04ff]")
_KEPT: Final = 4  # letters of a Greek or Russian word that are never dropped
_ENDING: Final = 3  # letters that endings take at most

STOP_WORDS: Final = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could did do does doing
    for from had has have having he her here him his how i if in into is it its just kind let like may me might more most my
    no
    not of off on one only or other our out over own please should so some such than that the their them
    then there these they
    this those through to too under until up use used using very was we were what when where which while who whom whose why will
    with would you your explain tell mean means happen happens
    и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему
    ли если или быть был до вас нибудь уж вам для чем при это этот эта почему зачем когда где какой какая какие можно ли
    ο η το οι τα του της των τον την και να με σε για από που πως πώς τι είναι δεν θα ή αν στο στη στην στον στα
    μου σου μας γιατί ποιο ποια ποιος
    은 는 이 가 을 를 의 에 에서 로 으로 와 과 도 만 왜 무엇 어떤 어떻게 언제 것 수 있는 하는
    的 了 是 在 和 与 或 吗 呢 什么 为什么 怎么 如何 哪个 哪些 可以""".split()
)


def folded(text: str) -> str:
    """NFKC, case folded, accents and other marks dropped (Greek τόνος, Russian ё -> е)."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(mark for mark in decomposed if not unicodedata.combining(mark))
    return unicodedata.normalize("NFC", kept).replace("ς", "σ")


def words(text: str) -> Iterator[str]:
    """The words of a text as the index knows them, in order, stop words included."""
    for found in _WORD.finditer(folded(text)):
        yield from _cut(found.group().strip(".-"))


def _cut(word: str) -> Iterator[str]:
    position = 0
    for run in _CJK.finditer(word):
        yield from _plain(word[position : run.start()])
        letters = run.group()
        yield from (letters[i : i + 2] for i in range(max(1, len(letters) - 1)))
        position = run.end()
    yield from _plain(word[position:])


def _plain(word: str) -> Iterator[str]:
    if not word:
        return
    yield _stem(word)
    if "-" in word or "." in word:  # "TensorRT-LLM" is found by "TensorRT" too
        yield from (_stem(part) for part in re.split(r"[-.]", word) if part)


def _stem(word: str) -> str:
    if _CYRILLIC_OR_GREEK.search(word):
        return word[: max(_KEPT, len(word) - _ENDING)]
    return _english(word)


def _english(word: str) -> str:
    """A light stemmer: plural and -ing/-ed/-ly, enough to meet a heading; never shortens below four letters."""
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("ly", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= _KEPT and not word.endswith("ss"):
            return (word[: -len(ending)] + replacement).removesuffix("e")
    return word.removesuffix("e") if len(word) > _KEPT else word


_STOPPED: Final = STOP_WORDS | frozenset(_stem(folded(word)) for word in STOP_WORDS) | frozenset(folded(word) for word in STOP_WORDS)


_FILLERS: Final = re.compile(
    r"为什么|是什么意思|什么意思|是什么|是做什么的|做什么|有什么|什么是|什么时候|什么|怎么样|怎么|如何|哪些|哪个|哪一个|多少|是否|能不能|可不可以|请问|吗|呢|吧"
    r"|무엇인가요|무엇입니까|무엇을|무엇이|무엇|뭔가요|뭐예요|뭐야|뭐|왜|어떻게|어떤|언제|어디서|어디|인가요|입니까|하나요|합니까|나요|까요|이란|란|해\s?줘|알려\s?줘|설명해"
)
"""Question words of scripts without spaces (or with endings): as pairs of letters they would dilute what is asked."""


def terms(question: str) -> tuple[str, ...]:
    """The words of a question that carry meaning, each once, in order of appearance."""
    found = dict.fromkeys(word for word in words(_FILLERS.sub(" ", question)) if word not in _STOPPED)
    return tuple(found)[:MAX_TERMS]


_SCRIPTS: Final = (
    ("hangul", "\u1100", "\u11ff"),
    ("hangul", "\uac00", "\ud7af"),
    ("han", "\u3040", "\u9fff"),
    ("greek", "\u0370", "\u03ff"),
    ("cyrillic", "\u0400", "\u04ff"),
)
_SCRIPT_OF: Final = {"ko": "hangul", "zh": "han", "ja": "han", "el": "greek", "ru": "cyrillic", "uk": "cyrillic", "bg": "cyrillic"}
OWN_SCRIPT: Final = 0.3
"""Share of letters that another script than Latin needs to be the script of a text: terms and code stay Latin in all of them."""


def script(text: str) -> str | None:
    """The script that a text is written in, or None when it has no letters."""
    letters = [mark for mark in text if mark.isalpha()]
    counts = {name: sum(low <= mark <= high for mark in letters) for name, low, high in _SCRIPTS}
    name = max(counts, key=lambda key: counts[key])
    if not letters:
        return None
    return name if counts[name] >= OWN_SCRIPT * len(letters) else "latin"


def in_script_of(text: str, language: str) -> bool:
    """Whether words of the text can be compared with those of this language: both are written in one script."""
    written = script(text)
    return written is None or written == _SCRIPT_OF.get(language.partition("-")[0], "latin")


def overlap(claim: str, text: str) -> float:
    """The share of the claim's meaning words that the text has too, 0..1; 1 for a claim without any."""
    wanted = terms(claim)
    if not wanted:
        return 1.0
    there = set(words(text))
    return sum(term in there for term in wanted) / len(wanted)
