"""What every reader of a foreign question bank shares: the report that is its result, and the rules all imports obey.

A reader turns the bytes of one file into questions of `content.model` plus one `Problem` for each thing that it changed,
doubted or could not use. It refuses nothing silently and loses no good question because of a bad neighbour. It runs
nothing and fetches nothing: addresses of pictures are kept as text.

Bytes become text, JSON, YAML or zip members in `content.readers.intake`; HTML and LaTeX become Discord Markdown in
`content.readers.markup`.

Errors: `Unusable` (one question; caught by `Report.question`) and `ContentError` (the whole file).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from content.model import (
    Accept,
    Choice,
    Choices,
    Info,
    Match,
    Open,
    Order,
    Question,
    QuestionType,
    Quiz,
    Severity,
    Short,
    Source,
    Text,
    TrueFalse,
)
from content.readers.playable import (
    Unusable,
    accepted_as_text,
    check_usable,
    content_marks,
    names_letters,
    number_text,
    remarks,
    with_full_credit,
    with_last_choice_fixed,
)

__all__ = [
    "About",
    "Import",
    "Problem",
    "Reader",
    "Report",
    "Unusable",
    "accepted_as_text",
    "choice_id",
    "keys_of",
    "language_of",
    "lettered",
    "number_text",
    "question_json",
    "slug",
    "text_or_none",
    "to_json",
]

MAX_ID: Final = 40  # characters; the custom_id of an answer button has room for no more


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing worth telling about one line of the imported file.

    `line` counts physical lines from 1; 0 means the whole file. `code` is stable (`GIFT-BRACE`), `question` is the
    number or the title of the question, or "", and `text` says what was found, what was done and how to mend it.
    """

    line: int
    severity: Severity
    code: str
    question: str
    text: str

    def __str__(self) -> str:
        which = f" question {self.question}:" if self.question else ""
        return f"{self.line}: {self.severity} {self.code}{which} {self.text}"


@dataclass(frozen=True, slots=True)
class Import:
    """The result of reading one file. Nothing is stored yet: an instructor looks at it first.

    `read` counts the questions found, good and bad; `drafts` are questions without a key: they need an answer before
    they can be asked, and are no part of `quiz`. `quiz` is None when no question could be imported.
    """

    format: str
    questions: tuple[Question, ...]
    problems: tuple[Problem, ...]
    read: int
    quiz: Quiz | None = None
    drafts: tuple[Question, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=lambda: dict[str, bytes]())  # pictures that came inside, by `Media.file`

    @property
    def imported(self) -> int:
        return len(self.questions)

    def count(self, severity: Severity) -> int:
        return sum(problem.severity is severity for problem in self.problems)


class Reader(Protocol):
    """One foreign format. `name` is what `--format` takes; readers hold no state between calls."""

    @property
    def name(self) -> str: ...

    def sniff(self, data: bytes, name: str) -> float:
        """How sure this reader is, 0..1, from the content first and the file's name last. Cheap; never raises."""
        ...

    def read(self, data: bytes, name: str) -> Import:
        """Every good question and every problem of the file. Raises ContentError when nothing of it can be read."""
        ...


@dataclass(frozen=True, slots=True)
class About:
    """What a file says about itself; all of it optional."""

    title: str = ""
    description: str = ""
    author: str | None = None
    url: str | None = None
    licence: str | None = None
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()  # empty: judged by the letters of the questions


class Report:
    """Collects the questions and problems of one file while it is read, then closes into an `Import`.

    Use: `with report.question(line, label): ... report.add(question)` for each question; `Unusable` raised inside
    becomes an error that names the question. `warn`, `note` and `error` inside the block name it by themselves.
    """

    def __init__(self, format: str, name: str, data: bytes = b"") -> None:
        self.format = format
        self.name = name
        self.problems: list[Problem] = []
        self.questions: list[Question] = []
        self.drafts: list[Question] = []
        self.read = 0
        self.files: dict[str, bytes] = {}
        self._sha256 = hashlib.sha256(data).hexdigest() if data else None
        self._ids: Counter[str] = Counter()
        self._label = ""
        self._line = 0

    @contextmanager
    def question(self, line: int, label: str = "") -> Generator[None]:
        """One question of the file, which starts at `line`; without a label it is called by its number."""
        self.read += 1
        self._label, self._line = label or str(self.read), line
        try:
            yield
        except Unusable as refused:
            self.error(line if refused.line is None else refused.line, refused.code, refused.text)
        finally:
            self._label, self._line = "", 0

    def say(self, severity: Severity, line: int, code: str, text: str, question: str | None = None) -> None:
        self.problems.append(Problem(line or self._line, severity, code, self._label if question is None else question, text))

    def error(self, line: int, code: str, text: str, question: str | None = None) -> None:
        """Something was not imported."""
        self.say(Severity.ERROR, line, code, text, question)

    def warn(self, line: int, code: str, text: str, question: str | None = None) -> None:
        """It was imported, but changed or in doubt."""
        self.say(Severity.WARNING, line, code, text, question)

    def note(self, line: int, code: str, text: str, question: str | None = None) -> None:
        self.say(Severity.NOTE, line, code, text, question)

    def add(self, question: Question, wanted_id: str = "") -> None:
        """Take a question after the checks that all formats share; raises Unusable when it cannot be asked.

        `wanted_id` is the id the file gives, if any; the question's own `id` and then its title and stem are the next
        choices. `question.line` 0 means the line given to `question()`.
        """
        if question.line == 0:
            question = replace(question, line=self._line)
        check_usable(question)
        for code, text in remarks(question):
            self.warn(question.line, code, text)
        question = with_last_choice_fixed(question)
        if (raised := with_full_credit(question)) is not None:
            self.warn(question.line, "WEIGHTS", "no answer is worth 100 %; the best one counts as right.")
            question = raised
        if isinstance(question.body, Choices) and question.shuffle and any(map(names_letters, question.body.choices)):
            self.warn(question.line, "LETTERS-IN-TEXT", "a choice names other choices by letter; the choices will not be shuffled.")
            question = replace(question, shuffle=False)
        self.questions.append(replace(question, id=self._unique_id(question, wanted_id)))

    def add_draft(self, question: Question, code: str, text: str) -> None:
        """Keep a question that has no key apart, with an error that asks for one: a key is never guessed."""
        if question.line == 0:
            question = replace(question, line=self._line)
        self.drafts.append(replace(question, id=self._unique_id(question, "")))
        self.error(question.line, code, text)

    def close(self, about: About | None = None) -> Import:
        """The finished import; problems are in the order of their lines."""
        about = about or About()
        self._check_duplicates()
        quiz = None
        if self.questions:
            stem_of_name = re.sub(r"\.[A-Za-z0-9]{1,8}$", "", re.split(r"[\\/]", self.name)[-1])
            quiz = Quiz(
                id=slug(about.title) or slug(stem_of_name) or "imported",
                version=1,
                title=Text.of(about.title or stem_of_name or "Imported questions"),
                languages=about.languages or (language_of(self.questions),),
                questions=tuple(self.questions),
                description=text_or_none(about.description),
                tags=about.tags,
                source=Source(
                    format=self.format,
                    file=self.name or None,
                    sha256=self._sha256,
                    title=about.title or None,
                    author=about.author,
                    url=about.url,
                    licence=about.licence,
                ),
            )
        return Import(
            format=self.format,
            questions=tuple(self.questions),
            problems=tuple(sorted(self.problems, key=lambda problem: problem.line)),
            read=self.read,
            quiz=quiz,
            drafts=tuple(self.drafts),
            files=dict(self.files),
        )

    def keep_file(self, name: str, data: bytes) -> str:
        """Keep a picture that came inside the file; returns the plain name it will have beside the quiz."""
        base = re.sub(r"[^\w.-]+", "-", re.split(r"[\\/]", name)[-1]).strip(".-")[-100:] or "picture"
        kept, number = base, 1
        while self.files.get(kept, data) != data:
            number += 1
            kept = f"{number}-{base}"
        self.files[kept] = data
        return kept

    def _unique_id(self, question: Question, wanted: str) -> str:
        candidates = (wanted, question.id, question.title[""] if question.title else "", next(iter(question.stem)))
        base = next((found for found in map(slug, candidates) if found), f"q{self.read}")
        number = self._ids[base]
        unique = base
        while number and self._ids[unique]:
            number += 1
            suffix = f"-{number}"
            unique = base[: MAX_ID - len(suffix)].rstrip("-") + suffix
        self._ids[base] = max(number, 1)
        if unique != base:
            self._ids[unique] = 1
        return unique

    def _check_duplicates(self) -> None:
        first: dict[tuple[Any, ...], Question] = {}
        for question in self.questions:
            if isinstance(question.body, Info):
                continue
            marks = (tuple(question.stem), content_marks(question))
            if (before := first.setdefault(marks, question)) is not question:
                where = f"in line {before.line}" if before.line else f"as {before.id!r}"
                self.warn(question.line, "DUPLICATE", f"the same question stands {where}. Remove one of them.", question.id)


def without_code(markdown: str) -> str:
    """The words of a text, without its code and formulas."""
    if "`" not in markdown and "$" not in markdown:
        return markdown
    return re.sub(r"```[\s\S]*?(?:```|$)|`[^`\n]*`|\$[^$\n]*\$", " ", markdown)


def slug(text: str) -> str:
    """Lower-case ASCII words joined by hyphens, at most MAX_ID characters, cut at a word where possible.

    "" when the words that would be lost matter, as in a Chinese title: such a question is named by its number.
    """
    words = without_code(text)[:400]
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii").lower()
    if sum(letter.isalpha() for letter in plain) * 5 < sum(letter.isalpha() for letter in words) * 4:
        return ""
    whole = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if len(whole) <= MAX_ID:
        return whole
    cut = whole[: MAX_ID + 1].rpartition("-")[0]
    return (cut or whole[:MAX_ID]).strip("-")


_SCRIPTS: Final = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
)
_SCRIPT_SHARE: Final = {"ja": 0.05, "ko": 0.1, "zh": 0.1, "ru": 0.3, "el": 0.3, "ar": 0.3, "he": 0.3}


def language_of(questions: Sequence[Question]) -> str:
    """The language that the script of the stems points to; "en" for Latin letters. A starting value for the author."""
    letters = "".join(without_code(text[:600])[:300] for question in questions[:200] for text in question.stem)
    total = sum(letter.isalpha() for letter in letters) or 1
    for language, script in _SCRIPTS:
        if len(script.findall(letters)) / total > _SCRIPT_SHARE[language]:
            return language
    return "en"


def text_or_none(text: str | None) -> Text | None:
    """A language-neutral Text, or None for nothing but space."""
    return Text.of(text.strip()) if text and text.strip() else None


def choice_id(position: int) -> str:
    """The id of the choice at `position` from 0: a … z, then c27, c28, …"""
    return chr(ord("a") + position) if position < 26 else f"c{position + 1}"


def lettered(texts: Iterable[str], right: Iterable[int]) -> tuple[Choice, ...]:
    """Choices a, b, c … from plain texts; `right` holds the positions, from 0, that earn full credit."""
    keys = set(right)
    return tuple(Choice(choice_id(i), Text.of(text), 1.0 if i in keys else 0.0) for i, text in enumerate(texts))


def keys_of(choices: Sequence[Choice]) -> list[str]:
    """The ids of the right choices: those of full credit, or where none has it (weights that add up) those above 0."""
    return [choice.id for choice in choices if choice.correct] or [choice.id for choice in choices if choice.credit > 0]


def to_json(result: Import) -> dict[str, Any]:
    """The import as plain data for `--json`; texts are strings, or language -> string where there is more than one."""
    return {
        "format": result.format,
        "questions": [question_json(question) for question in result.questions],
        "drafts": [question_json(question) for question in result.drafts],
        "read": result.read,
        "imported": result.imported,
        "problems": [
            {
                "line": problem.line,
                "severity": str(problem.severity),
                "code": problem.code,
                "question": problem.question,
                "text": problem.text,
            }
            for problem in result.problems
        ],
    }


def question_json(question: Question) -> dict[str, Any]:
    """One question; `key` is what is right: choice ids, a bool, accepted answers, items in order or [left, right] pairs."""
    out: dict[str, Any] = {"id": question.id, "type": str(question.type), "line": question.line, "stem": _text_json(question.stem)}
    for name, text in (("title", question.title), ("explanation", question.explanation)):
        if text is not None:
            out[name] = _text_json(text)
    match question.body:
        case Choices(choices=choices):
            out["choices"] = _choices_json(choices)
            out["key"] = keys_of(choices)
        case TrueFalse(answer=answer):
            out["choices"] = [{"id": "true", "text": "True"}, {"id": "false", "text": "False"}]
            out["key"] = answer
        case Short(accept=accept, blanks=blanks):
            out["accept"] = _accept_json(accept)
            out["key"] = [accepted_as_text(entry) for entry in accept if entry.credit >= 1] or [
                accepted_as_text(entry) for entry in accept if entry.credit > 0
            ]
            if blanks:
                out["blanks"] = {
                    blank.id: {"accept": _accept_json(blank.accept), "choices": _choices_json(blank.choices)} for blank in blanks
                }
                out["key"] = {
                    blank.id: [accepted_as_text(entry) for entry in blank.accept if entry.credit > 0] or keys_of(blank.choices)
                    for blank in blanks
                }
        case Open(reference=reference, rubric=rubric):
            out["key"] = _text_json(reference) if reference else None
            if rubric:
                out["rubric"] = [{"id": entry.id, "points": entry.points, "criterion": _text_json(entry.criterion)} for entry in rubric]
        case Order(items=items):
            out["items"] = [{"id": item.id, "text": _text_json(item.text)} for item in items]
            out["key"] = [_text_json(item.text) for item in items]
        case Match(pairs=pairs, distractors=distractors):
            out["pairs"] = [{"id": pair.id, "left": _text_json(pair.left), "right": _text_json(pair.right)} for pair in pairs]
            out["distractors"] = [_text_json(item.text) for item in distractors]
            out["key"] = [[_text_json(pair.left), _text_json(pair.right)] for pair in pairs]
        case Info():
            out["key"] = None
    if question.type in (QuestionType.SINGLE, QuestionType.MULTIPLE) and not question.shuffle:
        out["shuffle"] = False
    if question.tags:
        out["tags"] = list(question.tags)
    if question.points != 1:
        out["points"] = question.points
    if question.time_limit_s is not None:
        out["time_limit"] = question.time_limit_s
    if question.media:
        out["media"] = [{"id": medium.id, "file": medium.file, "url": medium.url} for medium in question.media]
    return out


def _text_json(text: Text) -> str | dict[str, str]:
    return next(iter(text)) if len(text.by_language) == 1 else dict(text.by_language)


def _choices_json(choices: Sequence[Choice]) -> list[dict[str, Any]]:
    return [
        {"id": choice.id, "text": _text_json(choice.text), "credit": choice.credit}
        | ({"feedback": _text_json(choice.feedback)} if choice.feedback else {})
        for choice in choices
    ]


def _accept_json(accept: Sequence[Accept]) -> list[dict[str, Any]]:
    return [
        {"answer": accepted_as_text(entry), "credit": entry.credit} | ({"feedback": _text_json(entry.feedback)} if entry.feedback else {})
        for entry in accept
    ]
