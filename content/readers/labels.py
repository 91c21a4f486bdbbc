"""Choice labels ("B)", "د:", "②") and answer words ("Antwort:", "正确答案：") of many languages.

It refuses to guess: a key that fits no label, or more than one, gives None.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

ALPHABETS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзиклмнопрстуфхцчшщэюя",  # Russian lists leave out ё й ъ ы ь
    "αβγδεζηθικλμνξοπρστυφχψω",
    "אבגדהוזחטיכלמנסעפצקרשת",
    "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",  # abjad order, as Arabic exams label choices
    "가나다라마바사아자차카타파하",
    "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "甲乙丙丁戊己庚辛壬癸",
    "アイウエオカキクケコ",
)
_POSITION: Final = {letter: place for alphabet in ALPHABETS for place, letter in enumerate(alphabet)}
# one letter, several shapes: hamza is often dropped, the fifth Arabic letter is written with a tail
_FOLDED: Final = {"ا": "أ", "إ": "أ", "ھ": "ه", "ى": "ي", "ς": "σ"}
# letters of other alphabets that look like Latin ones, found in Latin lists
_LOOKALIKE: Final = str.maketrans("асевмнркотхуαβενικορτχ", "acebmhpkotxyabevikoptx")
_LETTERS: Final = "A-Za-zА-Яа-яΑ-Ωα-ωא-תأ-يھ가나다라마바사아자차카타파하ㄱ-ㅎ甲乙丙丁戊己庚辛壬癸アイウエオカキクケコＡ-Ｚａ-ｚ"
_CIRCLED: Final = "①②③④⑤⑥⑦⑧⑨⑩Ⓐ-ⓩ🅐-🅩"
_MARKS: Final = ".):：、．）。"
LABEL: Final = re.compile(
    rf"(?P<open>[(（\[])?(?P<label>(?:هـ|[{_LETTERS}]|[1-9１-９]\d?)(?=\s*[{_MARKS}\])])|[{_CIRCLED}])\s*"
    rf"(?(open)[)）\]]|(?:[{_MARKS}\]])?)(?P<after>\s*)"
)


@dataclass(frozen=True, slots=True)
class Label:
    """A label at the start of a line: what it says, folded to one spelling, and the text behind it."""

    mark: str
    rest: str
    glued: bool  # no space between label and text
    sign: str = ""  # what parts them: ")", "." or, for circled digits, nothing


def label_at(text: str) -> Label | None:
    """The label that a line begins with, or None. "A text" has none: without a mark it may be the word."""
    found = LABEL.match(text)
    if found is None:
        return None
    sign = found.group()[len(found.group("open") or "") + len(found.group("label")) :].strip()
    return Label(folded(found.group("label")), text[found.end() :], glued=not found.group("after"), sign=sign)


@lru_cache(maxsize=1_024)
def folded(mark: str) -> str:
    """One spelling of a label: lower case, half width, no tatweel, circled digits as digits."""
    plain = unicodedata.normalize("NFKC", mark).strip().lower().replace("\u0640", "")
    return "".join(_FOLDED.get(letter, letter) for letter in plain)


def place_of(mark: str) -> int | None:
    """The position, from 0, of a label in its own alphabet."""
    mark = folded(mark)
    if mark.isdecimal() and len(mark) <= 3:
        return int(mark) - 1 if int(mark) else None
    return _POSITION.get(mark)


def position_among(mark: str, labels: Sequence[str]) -> int | None:
    """Which of the choices with these labels is meant: by the label itself, by a look-alike, by its place in the alphabet.

    None where no choice or more than one fits; `labels` are folded.
    """
    mark = folded(mark)
    for wanted, among in ((mark, labels), (mark.translate(_LOOKALIKE), [label.translate(_LOOKALIKE) for label in labels])):
        places = [i for i, label in enumerate(among) if label == wanted]
        if places:
            return places[0] if len(places) == 1 else None
    place = place_of(mark)
    if place is None or place >= len(labels):
        return None
    # "א" answers a list labelled 1) 2) 3); but "E" does not answer one labelled A, B, C, F
    own = [_alphabet_of(label) for label in labels]
    return place if _alphabet_of(mark) not in own else None


def _alphabet_of(mark: str) -> int:
    return next((i for i, alphabet in enumerate(ALPHABETS) if mark and mark in alphabet), -1)


# --- answer words ---------------------------------------------------------------------------------------------------

_ANSWER_WORDS: Final = (
    "correct answers?|right answers?|the (?:correct |right )?answer(?: is)?|answers?|ans|solution|correct(?: option| choice)?|key"
    "|bonne réponse|réponses?(?: correctes?)?|reponses?|respuestas?(?: correctas?)?|resposta(?: correta| certa)?|gabarito"
    "|(?:richtige |korrekte )?antwort(?:en)?|lösung(?:en)?|risposta(?: corretta| esatta)?|odpowiedź|(?:juiste |correct )?antwoord"
    "|správná odpověď|odpověď|doğru cevap|cevap|yanıt|svar|vastaus|jawaban|đáp án"
    "|(?:правильный |верный )?ответ(?:ы)?|відповідь|(?:правильна )?відповідь|σωστή απάντηση|απάντηση"
    "|正确答案|参考答案|標準答案|标准答案|正確答案|答案|正解|答え|解答|回答|答|정답|해답|답"
    "|(?:ال)?[إا]جابة(?: الصحيحة)?|الجواب(?: الصحيح)?|תשובה(?: נכונה)?|התשובה(?: הנכונה)?|پاسخ|उत्तर|सही उत्तर"
)
_EDGE: Final = r"(?:\*\*|__|[*_#>`]|</?(?:b|strong|em|i|p|u|summary|details)>|\s){0,12}"
_ANSWER: Final = re.compile(
    rf"{_EDGE}(?:{_ANSWER_WORDS}){_EDGE}(?:[:：=]|(?<=[*_>\s])[-–—]|(?<=[*_>\s])(?=[({{\[]?[A-Za-z0-9]{{1,2}}[)\]}}.]?[*_\s]*$)){_EDGE}(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)


def answer_in(line: str) -> str | None:
    """What follows the answer word that a line begins with ("**Answer:** b" gives "b"), or None without such a word."""
    found = _ANSWER.match(line[:2_000])
    if found is None:
        return None
    rest = found.group("rest") + line[2_000:]
    return re.sub(r"(?:\*\*|__|</?(?:b|strong|em|i|p|u|summary|details)>|\s){1,12}$", "", rest) if len(rest) < 2_000 else rest


_ONE_KEY: Final = rf"(?:هـ|[{_LETTERS}]|[1-9１-９]\d?|[{_CIRCLED}])"
_WRAP: Final = r"[\s(\[（*_`\"'“]*"
_UNWRAP: Final = rf"[\s{_MARKS}\])*_`\"'”]*"
_KEYS: Final = re.compile(
    rf"{_WRAP}(?P<first>{_ONE_KEY}){_UNWRAP}(?P<others>(?:(?:,|;|/|&|\+|、|，|；|و|ו|\band\b|\bund\b|\bet\b|\by\b|\be\b|\bи\b|\s){_WRAP}{_ONE_KEY}{_UNWRAP})*)$",
    re.IGNORECASE,
)
_KEY_THEN_TEXT: Final = re.compile(rf"{_WRAP}(?P<key>{_ONE_KEY})(?:[*_\s`]*[{_MARKS}\]]|\s*[-–—]\s|[*_`]+\s)")


def keys_in(text: str, labels: Sequence[str]) -> tuple[int, ...] | None:
    """Positions, from 0, that a key such as "B", "(b)", "A, C", "A and C", "AC", "B) because" names; None when it names none."""
    text = text.strip()[:200]
    if not text:
        return None
    whole = _KEYS.match(text)
    if whole is not None:
        marks = [whole.group("first"), *re.findall(_ONE_KEY, _without_words(whole.group("others")))]
        return _all_of(marks, labels)
    bare = text.strip("*_`() .")
    if 2 <= len(bare) <= len(labels) and bare.isalpha() and bare.isupper() and list(bare) == sorted(set(bare)):
        return _all_of(list(bare), labels)  # "ACD"
    start = _KEY_THEN_TEXT.match(text)
    return _all_of([start.group("key")], labels) if start is not None else None


def _without_words(text: str) -> str:
    return re.sub(r"\b(?:and|und|et|y|e|и)\b(?=\s)|(?<=\s)[וو](?=\s)", " ", text, flags=re.IGNORECASE)


def _all_of(marks: Sequence[str], labels: Sequence[str]) -> tuple[int, ...] | None:
    places = [position_among(mark, labels) for mark in marks]
    found = tuple(dict.fromkeys(place for place in places if place is not None))
    return found if found and len(places) == len([place for place in places if place is not None]) else None


# --- true and false -------------------------------------------------------------------------------------------------

_TRUE: Final = frozenset(
    "true t wahr richtig vrai verdadero verdadeiro vero waar prawda pravda doğru sant tosi benar đúng верно правда истина да так "
    "σωστό αληθές 对 對 正确 正確 是 真 ○ 참 맞음 o صح صحيح נכון ✓ ✔ √ yes".split()  # a word list reads better
)
_FALSE: Final = frozenset(
    "false f falsch faux falso onwaar niet fałsz nepravda yanlış falskt epätosi salah sai неверно ложь нет ні "
    "λάθος ψευδές 错 錯 错误 錯誤 否 假 誤 × 거짓 틀림 x خطأ خطا לא ✗ ✘ no".split()
)


def truth_in(text: str) -> bool | None:
    """True or False in any of the languages known, None for any other text."""
    word = text.strip().strip("*_`.()[]。！!\"'").strip().lower()
    if word in ("не верно", "לא נכון", "غير صحيح", "не правда"):
        return False
    return True if word in _TRUE else False if word in _FALSE else None


def true_false_pair(texts: Sequence[str]) -> bool:
    """Whether these are exactly a word for true and one for false, whatever their order. Yes and no are answers, not truth."""
    words = [text.strip().strip("*_`.").lower() for text in texts]
    weak = {"yes", "no", "да", "нет", "o", "x", "t", "f", "是", "否", "так", "ні"}
    return len(words) == 2 and not weak & set(words) and {truth_in(word) for word in words} == {True, False}
