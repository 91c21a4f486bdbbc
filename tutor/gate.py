"""What is decided about a question before any engine is asked: locked, off topic, not covered, or free to answer.

A question that is open for its asker locks the sections that give its key away, and gets the authored hint ladder instead
of a model. This is structure, not persuasion: no prompt holds what must not be said. It errs on the side of a hint.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from content import words
from content.leaks import leak
from content.model import NEUTRAL, Question, Quiz
from tutor.reply import Reason
from tutor.search import Hit

COVERAGE: Final = 0.27
"""Share of a question's information that a section's words must have, where there are no embeddings [tuned on half of suite A]."""
NEAR: Final = 0.914
"""Nearness (see `nearness`) from which a section is taken to cover a question in its own script [tuned on half of suite A]."""
WEIGHT: Final = 0.2
"""What shared words add to a cosine: the cosine alone does not tell a question that a guide answers from one on the same subject
that it does not; questions of the second kind bring words of their own [tuned on half of suite A]."""
ENOUGH: Final = 0.5
"""Coverage beyond which more shared words say nothing more."""
NEAR_ACROSS: Final = 0.82
"""Cosine from which a section covers a question in another script, where no words can be shared [tuned on half of suite A]."""
FAR: Final = 0.82
"""Nearness below which no section is about the question at all [tuned on half of suite A]."""
FAR_ACROSS: Final = 0.80
"""The same for a question in another script, by its cosine."""
SURE: Final = 0.5
"""Coverage from which a small model's own refusal is taken for a mistake [tune half of suite A: all 15 near misses lie below 0.43]."""
SURE_NEAR: Final = 0.97
"""Nearness from which it is, too [tune half of suite A: near misses reach 0.958; 53 of 76 answerable questions lie beyond 0.97]."""
DOUBT: Final = 0.13
"""How much surer than usual of its "yes" a model must be where search says that no section covers the question [tune half of suite A:
near misses that search refuses give at most 0.33, questions that it refuses and the guide answers at least 0.42]."""
ABOUT: Final = 0.5
"""Share of an open question's own words that a question must have to be taken for one about it."""

_ASKS_FOR_KEY: Final = re.compile(
    r"\b(?:answers?|solutions?|correct|right (?:one|option|choice)|key|letters?|options?|choices?|quiz"
    r"|question\s?\d*|hint|cheat|eliminat\w+|"
    r"true or false|is it (?:true|false|[a-e]\b)|which (?:one|of (?:these|them|the))|pick|choose|guess"
    r"|spoil\w*|yes or no|encode|base64|rot13|json|reverse|"
    r"first letters?|acrostic|translate|pretend|role.?play|imagine you|instructor|teacher|admin|developer|ignore|previous instructions)\b"
    r"|정답|답(?:을|이|은|안|만)|보기|선택지|문항|퀴즈|문제|힌트|글자|번호|맞(?:는|나|아|습|죠)|틀렸|고르|번역|선생|교수|관리자|무시"
    r"|\b(?:απάντηση|απαντήσεις|σωστ\w+|λύση|επιλογ\w+|γράμμα|κουίζ|ερώτηση|υπόδειξη|μετάφρασ\w+|καθηγητ\w+|αγνόησε|διάλεξε|ναι ή όχι)\b"
    r"|\b(?:ответ\w*|правильн\w+|верн\w+|вариант\w*|букв\w+|тест\w*|викторин\w+|вопрос\w*|подсказ\w+|перевед\w+|да или нет)\b"
    r"|\b(?:преподавател\w+|игнориру\w+|выбра\w+|выбер\w+)\b"
    r"|答案|正确|选项|选哪|选择|题|测验|提示|字母|翻译|老师|管理员|忽略|哪一个|哪个对|是或不是|对吧",
    re.IGNORECASE,
)
"""Words of somebody who wants the key and not the subject. Only looked at while a question is open, so a false alarm costs a hint."""


REFERRING: Final = 3  # meaning words up to which a question with such a word is about the one before
_REFERS_BACK: Final = re.compile(
    r"^\W*(?:and|but|so|then|or|what about|how about|и|а|но|тогда|και|αλλά|τότε|그럼|그러면|그리고|那么|那)\b"
    r"|^\W*(?:那|那么|它)|\b(?:it|its|that|they|them|those|these|there|then|он|она|оно|его|её|ее|их|это|этого|там"
    r"|αυτό|αυτή|αυτά|αυτές|τους|εκεί)\b|그건|그거|그게|그것|이건|它|这个|那个|呢\W*$",
    re.IGNORECASE,
)


def refers_back(question: str) -> bool:
    """Whether a question means little without the one before: it is short, and begins with "and" or says "it"."""
    return len(words.terms(question)) <= REFERRING and _REFERS_BACK.search(question) is not None


@dataclass(frozen=True, slots=True)
class Lock:
    """A question that is open for the asker, or in the asker's channel."""

    quiz: Quiz
    question: Question

    @property
    def sections(self) -> frozenset[tuple[str, str]]:
        """(guide id, section id) of everything that gives the key away."""
        named = [*self.quiz.evidence_of(self.question), *filter(None, [self.quiz.section_of(self.question)])]
        return frozenset((ref.guide, ref.section) for ref in named if ref.section)

    def covers(self, hit: Hit) -> bool:
        """The section is evidence, or gives the key away all the same."""
        if (hit.guide.id, hit.section.id) in self.sections:
            return True
        return leak(f"{hit.section.heading}. {hit.section.summary} {hit.section.body}", self.question) is not None

    def is_asked_about(self, text: str) -> bool:
        """Whether a text repeats enough of the question, in any of its languages."""
        asked = set(words.terms(text))
        stems = [set(words.terms(stem)) for stem in self.question.stem]
        return any(stem and len(stem & asked) >= max(2, ABOUT * len(stem)) for stem in stems)


def locked_by(question: str, hits: Sequence[Hit], locks: Sequence[Lock]) -> Lock | None:
    """The open question that this one is really about, if any: it asks for a key, repeats the stem, or leads to the evidence."""
    if not locks:
        return None
    about = next((lock for lock in locks if lock.is_asked_about(question)), None)
    if about is not None:
        return about
    for hit in hits[:2]:
        for lock in locks:
            if (hit.guide.id, hit.section.id) in lock.sections:
                return lock
    return locks[0] if _ASKS_FOR_KEY.search(question) else None


def unlocked(hits: Sequence[Hit], locks: Sequence[Lock]) -> list[Hit]:
    return [hit for hit in hits if not any(lock.covers(hit) for lock in locks)]


def says_a_key(text: str, locks: Sequence[Lock]) -> bool:
    return any(leak(text, lock.question) is not None for lock in locks)


def hint(lock: Lock, rung: int, language: str) -> tuple[str, str, int] | None:
    """The authored hint on this rung (from 1; the last one repeats), its language, and the rung given; None without hints."""
    hints = lock.question.hints
    if not hints:
        return None
    given = min(rung, len(hints))
    picked = hints[given - 1].pick(language)
    return picked.text, picked.language if picked.language != NEUTRAL else language, given


def nearness(cosine: float, coverage: float) -> float:
    """One figure for how sure it is that a section answers, of what embeddings and shared words say."""
    return cosine + WEIGHT * min(coverage, ENOUGH)


def surely_covered(hits: Sequence[Hit]) -> bool:
    """A section has so much of the question that a model's "not in the guide" is not believed: the guide is quoted then."""
    if any(hit.certain or hit.coverage >= SURE for hit in hits):
        return True
    nearest = [nearness(hit.cosine, hit.coverage) for hit in hits if hit.cosine is not None]
    return max(nearest, default=0.0) >= SURE_NEAR


def yes_needed(measured: float | None, hits: Sequence[Hit], *, doubtful: bool) -> float | None:
    """The share of "yes" that a probe must give before a model answers, of what was measured for the model; None: it need not be asked."""
    if measured is None or surely_covered(hits):
        return None
    return measured + DOUBT if doubtful else measured


def refused(question: str, hits: Sequence[Hit]) -> Reason | None:
    """Why no section can answer this; None when one may."""
    if not words.terms(question) and not any(hit.cosine for hit in hits):
        return Reason.OFF_TOPIC
    if not hits:
        return Reason.OFF_TOPIC
    if any(hit.certain for hit in hits):
        return None
    coverage = max(hit.coverage for hit in hits)
    cosine = max((hit.cosine for hit in hits if hit.cosine is not None), default=None)
    if cosine is None:
        return None if coverage >= COVERAGE else Reason.NOT_COVERED
    if words.in_script_of(question, hits[0].guide.language):
        near, needed, far = nearness(cosine, coverage), NEAR, FAR
    else:
        near, needed, far = cosine, NEAR_ACROSS, FAR_ACROSS
    if near < far:
        return Reason.OFF_TOPIC
    return None if near >= needed else Reason.NOT_COVERED
