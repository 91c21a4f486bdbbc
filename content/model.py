"""What is taught, as frozen values: texts, questions, quizzes, guides, courses.

Nothing here reads a file. The field names are those of the native format (docs/content-format.md); a value that exists
is a value that was checked by `content.load` or by a reader, so the rest of the program never asks again.

Errors: `ContentError`, the base of this package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

NEUTRAL: Final = ""
"""The language key of a text that is the same in every language ("TensorRT", "443")."""

LANGUAGES: Final = ("en", "ko", "el", "ru", "zh")
"""Languages of the interface and of the shipped library, the default first (BCP 47)."""


class ContentError(Exception):
    """Content could not be used; the message is `where: what is wrong. What to do.`"""


class Severity(StrEnum):
    ERROR = "error"  # the item cannot be used
    WARNING = "warning"  # it can, but a learner would notice
    NOTE = "note"  # worth knowing


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong in one place of one file. `line` is the physical line, from 1; 0 means the whole file."""

    path: str
    line: int
    code: str  # stable, upper-case, e.g. QUIZ-KEY
    what: str
    remedy: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        mark = "" if self.severity is Severity.ERROR else f"{self.severity}: "
        return f"{self.path}:{self.line}: {mark}{self.what} {self.remedy} [{self.code}]"


@dataclass(frozen=True, slots=True)
class Picked:
    """A text chosen for a reader: `language` is what it is written in, NEUTRAL when that does not matter."""

    text: str
    language: str

    def __str__(self) -> str:
        return self.text


def preference(asked: str, available: Mapping[str, object], default: str | None = None) -> str | None:
    """The key of `available` to show a reader of `asked` (BCP 47), or None when there is none at all.

    Order: the neutral text, the language asked (zh-TW), its base (zh), another variant of the base, the default, the
    first there is.
    """
    if NEUTRAL in available:
        return NEUTRAL
    base = asked.partition("-")[0]
    variants = (key for key in available if key.partition("-")[0] == base)
    for key in (asked, base, next(variants, None), default):
        if key is not None and key in available:
            return key
    return next(iter(available), None)


@dataclass(frozen=True, slots=True)
class Text:
    """One text in one or more languages; never empty. The first language written is the final fallback."""

    by_language: Mapping[str, str]

    @classmethod
    def of(cls, text: str, language: str = NEUTRAL) -> Text:
        return cls({language: text})

    def pick(self, language: str) -> Picked:
        key = preference(language, self.by_language)
        assert key is not None, "a Text holds at least one language"
        return Picked(self.by_language[key], key)

    def __getitem__(self, language: str) -> str:
        return self.pick(language).text

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_language.values())


class Level(StrEnum):
    BEGINNER = "beginner"
    INTERMEDIATE = "intermediate"
    ADVANCED = "advanced"


class Scoring(StrEnum):
    """How the credit of several selections becomes one credit (formats.md section 5)."""

    ALL_OR_NOTHING = "all_or_nothing"
    PER_CHOICE = "per_choice"  # sum of the credits of what was selected, within 0..1
    ADJACENT = "adjacent"  # order: share of neighbouring pairs kept


@dataclass(frozen=True, slots=True)
class GuideRef:
    """A guide, or one section of it. `guide` empty means: the quiz's own guide."""

    guide: str
    section: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    id: str
    text: Text
    credit: float = 0.0  # -1..1; 1 is a key
    feedback: Text | None = None
    fixed: bool = False  # keeps its place when shuffled
    facts: tuple[str, ...] = ()

    @property
    def correct(self) -> bool:
        return self.credit >= 1


@dataclass(frozen=True, slots=True)
class Accept:
    """One accepted (or expected and wrong: credit 0) answer of a short question. Exactly one of text, number, span, regex."""

    text: str | None = None
    number: float | None = None
    span: tuple[float, float] | None = None
    regex: str | None = None
    tolerance: float = 0.0  # absolute, or a share of `number` when `relative`
    relative: bool = False
    unit: str | None = None
    case: bool = False  # text: upper and lower case differ
    language: str | None = None  # only for readers of this language
    credit: float = 1.0
    feedback: Text | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """single and multiple."""

    choices: tuple[Choice, ...]
    many: bool = False
    scoring: Scoring = Scoring.ALL_OR_NOTHING
    least: int = 1
    most: int | None = None  # None: as many as there are


@dataclass(frozen=True, slots=True)
class TrueFalse:
    answer: bool
    feedback: Mapping[bool, Text] = field(default_factory=lambda: dict[bool, Text]())


@dataclass(frozen=True, slots=True)
class Blank:
    """One gap of a short question: free text (`accept`) or a pick (`choices`)."""

    id: str
    accept: tuple[Accept, ...] = ()
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Short:
    accept: tuple[Accept, ...] = ()
    reveal: Text | None = None  # shown afterwards; None: the first accepted answer
    blanks: tuple[Blank, ...] = ()  # when not empty, `accept` is


@dataclass(frozen=True, slots=True)
class RubricLevel:
    points: float
    text: Text


@dataclass(frozen=True, slots=True)
class Criterion:
    id: str
    points: float
    criterion: Text
    levels: tuple[RubricLevel, ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Open:
    reference: Text | None = None
    rubric: tuple[Criterion, ...] = ()
    probes: tuple[Text, ...] = ()  # follow-up questions an interviewer would ask
    least_length: int = 1
    most_length: int = 1_500


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    text: Text


@dataclass(frozen=True, slots=True)
class Order:
    items: tuple[Item, ...]  # in the right order
    scoring: Scoring = Scoring.ALL_OR_NOTHING


@dataclass(frozen=True, slots=True)
class Pair:
    id: str
    left: Text
    right: Text


@dataclass(frozen=True, slots=True)
class Match:
    pairs: tuple[Pair, ...]
    distractors: tuple[Item, ...] = ()
    scoring: Scoring = Scoring.ALL_OR_NOTHING


@dataclass(frozen=True, slots=True)
class Info:
    """Text between questions; not scored."""


Body = Choices | TrueFalse | Short | Open | Order | Match | Info


class QuestionType(StrEnum):
    SINGLE = "single"
    MULTIPLE = "multiple"
    TRUEFALSE = "truefalse"
    SHORT = "short"
    OPEN = "open"
    ORDER = "order"
    MATCH = "match"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Media:
    id: str
    alt: Text
    file: str | None = None  # beside the quiz
    url: str | None = None  # kept as a link, never fetched
    sha256: str | None = None
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    stem: Text
    body: Body
    title: Text | None = None
    explanation: Text | None = None
    hints: tuple[Text, ...] = ()
    guide: GuideRef | None = None
    evidence: tuple[GuideRef, ...] = ()  # the sections that give the key away
    facts: tuple[str, ...] = ()
    difficulty: int = 3  # 1-5
    points: float = 1.0
    time_limit_s: int | None = None
    tags: tuple[str, ...] = ()
    group: str | None = None
    shuffle: bool = True
    media: tuple[Media, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())  # fields of other formats, kept for export
    line: int = 0  # where it stands in its file

    @property
    def type(self) -> QuestionType:
        match self.body:
            case Choices(many=many):
                return QuestionType.MULTIPLE if many else QuestionType.SINGLE
            case TrueFalse():
                return QuestionType.TRUEFALSE
            case Short():
                return QuestionType.SHORT
            case Open():
                return QuestionType.OPEN
            case Order():
                return QuestionType.ORDER
            case Match():
                return QuestionType.MATCH
            case Info():
                return QuestionType.INFO


@dataclass(frozen=True, slots=True)
class Source:
    """Where content came from; `sha256` is that of the original file."""

    format: str | None = None
    file: str | None = None
    sha256: str | None = None
    title: str | None = None
    author: str | None = None
    url: str | None = None
    licence: str | None = None
    imported: date | None = None


@dataclass(frozen=True, slots=True)
class Group:
    id: str
    pick: int
    points: float | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """How many of the questions one round asks."""

    pick: int | None = None
    shuffled: bool = False
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True)
class Quiz:
    id: str
    version: int
    title: Text
    languages: tuple[str, ...]  # the first is the default
    questions: tuple[Question, ...]
    description: Text | None = None
    level: str = Level.INTERMEDIATE
    guide: GuideRef | None = None
    tags: tuple[str, ...] = ()
    select: Select = Select()
    source: Source | None = None
    path: Path | None = None

    def question(self, question_id: str) -> Question | None:
        return next((question for question in self.questions if question.id == question_id), None)

    def section_of(self, question: Question) -> GuideRef | None:
        """The guide section that a learner should reread for this question, with the quiz's guide filled in."""
        ref = question.guide or self.guide
        if ref is None:
            return None
        return ref if ref.guide or self.guide is None else GuideRef(self.guide.guide, ref.section)

    def evidence_of(self, question: Question) -> tuple[GuideRef, ...]:
        default = self.guide.guide if self.guide else ""
        return tuple(ref if ref.guide else GuideRef(default, ref.section) for ref in question.evidence)


@dataclass(frozen=True, slots=True)
class TranslationOf:
    id: str
    version: int


@dataclass(frozen=True, slots=True)
class Section:
    """One `##` part of a guide, or one `###` pair of its FAQ. `body` is Markdown without its heading and summary."""

    id: str  # the same in every language of the guide
    heading: str
    body: str
    summary: str = ""
    faq: bool = False
    facts: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Term:
    """A glossary entry: the word in the guide's language, and what it means."""

    term: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Guide:
    id: str
    version: int
    title: str
    language: str
    summary: str
    sections: tuple[Section, ...]
    level: str = Level.INTERMEDIATE
    translation_of: TranslationOf | None = None
    tags: tuple[str, ...] = ()
    prerequisites: tuple[str, ...] = ()
    quizzes: tuple[str, ...] = ()
    next: str | None = None
    related: tuple[str, ...] = ()
    glossary: tuple[Term, ...] = ()
    sources: tuple[str, ...] = ()
    reviewed: date | None = None
    narration: str | None = None  # a text written to be read aloud
    source: Source | None = None
    path: Path | None = None

    def section(self, section_id: str) -> Section | None:
        return next((section for section in self.sections if section.id == section_id), None)


@dataclass(frozen=True, slots=True)
class CourseStep:
    kind: str  # "guide" or "quiz"
    id: str


@dataclass(frozen=True, slots=True)
class Course:
    id: str
    version: int
    title: Text
    steps: tuple[CourseStep, ...]
    pass_mark: float  # share of points, 0..1
    certificate: Text | None = None
    description: Text | None = None
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Library:
    """All content the bot serves. Guides are keyed by id, then by language, the original first."""

    quizzes: Mapping[str, Quiz] = field(default_factory=lambda: dict[str, Quiz]())
    guides: Mapping[str, Mapping[str, Guide]] = field(default_factory=lambda: dict[str, Mapping[str, Guide]]())
    courses: Mapping[str, Course] = field(default_factory=lambda: dict[str, Course]())

    def guide(self, guide_id: str, language: str) -> Guide | None:
        """The guide in the language asked, or in the nearest there is: compare `.language` to know which."""
        variants = self.guides.get(guide_id)
        if not variants:
            return None
        key = preference(language, variants)
        return variants[key] if key is not None else None
