"""A question bank of another program, taken in so that it can be kept: read, held to the linter, mended, written natively.

Readers say what a file holds; this module says what of it can be used here, with the same report. Whatever is kept loads
without an error and passes `studyhall check`: a question that cannot is left out with an error that names the rule, and
never in silence. It writes no file and asks nobody.

Errors: `ContentError`, one line, where nothing of a file can be used.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from content.check import check
from content.load import Loaded, load_quiz
from content.mending import TITLE, as_gaps, mended_text, with_short_title, with_texts, without_pictures, without_twins
from content.model import (
    Choices,
    ContentError,
    Fault,
    Info,
    Library,
    Match,
    Open,
    Order,
    Question,
    Quiz,
    Severity,
    Short,
    Text,
    TrueFalse,
)
from content.readers import READERS, Import, Problem
from content.readers import read_bytes as read_foreign
from content.readers import read_file as read_foreign_file
from content.readers.base import accepted_as_text, keys_of
from content.writers import WRITERS, Export, write
from content.yaml_source import ListNode, MapNode, Source, parse

NATIVE: Final = "native"
READABLE: Final = (NATIVE, *(reader.name for reader in READERS))
WRITABLE: Final = tuple(writer.name for writer in WRITERS)
MAX_ROUNDS: Final = 4  # of leaving out what does not load; each leaves out at least one question, and one nearly always does

_NATIVE_MARK: Final = re.compile(rb"^(?:\xef\xbb\xbf)?(?:[ \t]*#[^\n]*\n|[ \t]*\r?\n)*(?:.*\n){0,20}?schema:[ \t]*[\"']?quiz/", re.ASCII)
_ABOUT: Final = re.compile(r"question '([^']*)': ")
_LINKS: Final = frozenset({"LINK-GUIDE", "LINK-SECTION"})  # what a quiz links to is judged where it will stand
_PEEK: Final = 8_192
UNTITLED: Final = "Imported questions"
_STEM_SHOWN: Final = 90
_KEY_SHOWN: Final = 90


# Reading ------------------------------------------------------------------------------------------------------------


def read_bank(data: bytes, name: str, format: str | None = None) -> Import:
    """What of these bytes can be used, and every problem. `name` is for messages and the quiz's id.

    Raises ContentError when the file is none of the formats, or cannot be read at all.
    """
    if format == NATIVE or (format is None and is_native(data)):
        return _read_native(data, name)
    return settled(read_foreign(data, name, format))


def read_bank_file(path: Path, format: str | None = None) -> Import:
    """The same for a file, or for a folder with the pages of one bank in several languages."""
    if path.is_dir():
        return settled(read_foreign_file(path, format))
    try:
        with path.open("rb") as file:
            head = file.read(_PEEK)
    except OSError as error:
        raise ContentError(f"{path}: cannot be read ({error.strerror}). Check the name.") from error
    if format == NATIVE or (format is None and is_native(head)):
        return _read_native(path.read_bytes(), path.name)
    return settled(read_foreign_file(path, format))


def is_native(data: bytes) -> bool:
    return _NATIVE_MARK.match(data[:_PEEK]) is not None


def _read_native(data: bytes, name: str) -> Import:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContentError(f"{name}: this is no text in UTF-8 ({error.reason}). Save the file as UTF-8.") from error
    quiz, faults = load_quiz(text, name=name)
    root = parse(Source(name, text), items_key="questions")
    listed = root.entries.get("questions") if isinstance(root, MapNode) else None
    read = len(listed.items) if isinstance(listed, ListNode) else 0
    problems = tuple(Problem(fault.line, fault.severity, fault.code, "", f"{fault.what} {fault.remedy}") for fault in faults)
    if quiz is None and not problems:
        raise ContentError(f"{name}: this is no quiz. It begins with schema: quiz/1, an id and a title.")
    return settled(Import(NATIVE, quiz.questions if quiz else (), problems, read, quiz))


# Settling -----------------------------------------------------------------------------------------------------------


def settled(result: Import) -> Import:
    """The import with everything mended or left out that `studyhall check` would call an error, and a problem for each.

    `questions` stays what the file says, less what is left out; `quiz` is what would be kept of it.
    """
    if result.quiz is None:
        return result
    problems = list(result.problems)
    questions = [_mended_pictures(question, result.files, problems) for question in result.quiz.questions]
    quiz = replace(_named(result.quiz), questions=tuple(questions))
    wrong, general = _errors(quiz)
    if wrong or general:
        quiz = _mended(quiz, wrong, general, problems)
        wrong, _ = _errors(quiz)
        quiz = _without(quiz, wrong, problems)
    kept = {question.id for question in quiz.questions}
    return replace(
        result,
        questions=tuple(question for question in result.questions if question.id in kept),
        quiz=quiz if kept else None,
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
    )


def _mended_pictures(question: Question, files: Collection[str], problems: list[Problem]) -> Question:
    gone = [medium for medium in question.media if medium.file is not None and medium.file not in files]
    if not gone:
        return question
    names = ", ".join(medium.file or "" for medium in gone)[:200]
    what = f"pictures that are not in the file ({names}) are named in the text instead. Add them to the quiz by hand."
    problems.append(Problem(question.line, Severity.WARNING, "MEDIA-MISSING", question.id, what))
    return without_pictures(question, gone)


def _named(quiz: Quiz) -> Quiz:
    """With an id of its own: titles without Latin letters have no slug, and two of them must not share one."""
    title = next(iter(quiz.title))
    if quiz.id != "imported" or title == UNTITLED:
        return quiz
    return replace(quiz, id=f"bank-{hashlib.sha256(title.encode()).hexdigest()[:8]}")


def _errors(quiz: Quiz) -> tuple[dict[str, list[Fault]], list[Fault]]:
    """What the linter refuses, by question id, and what it refuses of the quiz itself."""
    by_question: dict[str, list[Fault]] = {}
    general: list[Fault] = []
    for fault in check(Loaded(Library(quizzes={quiz.id: quiz}))):
        if fault.severity is not Severity.ERROR or fault.code in _LINKS:
            continue
        about = _ABOUT.match(fault.what)
        if about is None:
            general.append(fault)
        else:
            by_question.setdefault(about.group(1), []).append(fault)
    return by_question, general


def _mended(quiz: Quiz, wrong: dict[str, list[Fault]], general: Sequence[Fault], problems: list[Problem]) -> Quiz:
    if general:
        what = "the title and the description were mended; please look at them."
        problems.append(Problem(0, Severity.WARNING, general[0].code, "", what))
        titles = {language: mended_text(each)[:TITLE].strip() for language, each in quiz.title.by_language.items()}
        described = quiz.description
        descriptions = {key: mended_text(each).strip() for key, each in described.by_language.items()} if described else {}
        quiz = replace(
            quiz,
            title=Text({language: each or UNTITLED for language, each in titles.items()}),
            description=Text(descriptions) if descriptions and all(descriptions.values()) else None,
        )
        if _errors(replace(quiz, questions=()))[1]:
            quiz = replace(quiz, title=Text.of(UNTITLED), description=None)
    questions = [_mended_question(question, wrong.get(question.id, ()), problems) for question in quiz.questions]
    return replace(quiz, questions=tuple(questions))


def _mended_question(question: Question, faults: Sequence[Fault], problems: list[Problem]) -> Question:
    if not faults:
        return question
    mended = question
    gaps = as_gaps(question) if any(fault.code == "OPTION-DUPLICATE" for fault in faults) else None
    if gaps is not None:
        what = "several left sides share one right side; it is asked as gaps to choose for instead of pairs."
        problems.append(Problem(question.line, Severity.WARNING, "MATCH-SHARED", question.id, what))
        mended = gaps
    elif any(fault.code == "OPTION-DUPLICATE" for fault in faults):
        mended = without_twins(question)
    texts = with_short_title(with_texts(mended, mended_text))
    if texts != question and texts != gaps:
        what = f"{_ABOUT.sub('', faults[0].what)} It was mended; please look at it."
        problems.append(Problem(question.line, Severity.WARNING, faults[0].code, question.id, what))
    return texts


def _without(quiz: Quiz, wrong: dict[str, list[Fault]], problems: list[Problem]) -> Quiz:
    for question in quiz.questions:
        for fault in wrong.get(question.id, ())[:1]:
            what = f"not kept: {_ABOUT.sub('', fault.what)} {fault.remedy}"
            problems.append(Problem(question.line, Severity.ERROR, fault.code, question.id, what))
    return replace(quiz, questions=tuple(question for question in quiz.questions if question.id not in wrong))


# Keeping ------------------------------------------------------------------------------------------------------------


def native(quiz: Quiz) -> tuple[str, Quiz, tuple[Problem, ...]]:
    """The quiz as native YAML, as it loads again, and what had to change for that.

    Raises ContentError where nothing of it loads.
    """
    problems: list[Problem] = []
    for _ in range(MAX_ROUNDS):
        export = write(quiz, NATIVE)
        text = export.data.decode("utf-8")
        loaded, faults = load_quiz(text, name=export.filename)
        errors = [fault for fault in faults if fault.severity is Severity.ERROR]
        if loaded is not None and not errors:
            return text, loaded, (*problems, *export.losses)
        starts = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith("- id:")]
        bad: dict[str, list[Fault]] = {}
        for fault in errors:
            at = bisect_right(starts, fault.line) - 1
            if at >= 0:
                bad.setdefault(quiz.questions[at].id, []).append(fault)
        if bad:
            quiz = _without(quiz, bad, problems)
        elif quiz.tags or quiz.description or quiz.source:  # something that the file says about itself
            quiz = replace(quiz, tags=(), description=None, source=None)
            problems.append(Problem(0, Severity.WARNING, errors[0].code, "", f"left out what the file says of itself: {errors[0].what}"))
        else:
            break
        if not quiz.questions:
            break
    raise ContentError(f"{quiz.id}: nothing of this can be kept. The report says why, question by question.")


def loaded_native(text: str, name: str) -> Quiz:
    """A quiz that `native` wrote. Raises ContentError where it cannot be used any more."""
    quiz, faults = load_quiz(text, name=name)
    if quiz is None:
        raise ContentError(str(faults[0]) if faults else f"{name}: this is no quiz.")
    return quiz


@dataclass(frozen=True, slots=True)
class DraftReading:
    """A file read for use in Discord. `quiz` is what `native` loads as again; None where nothing can be kept."""

    format: str
    read: int
    imported: int
    problems: tuple[Problem, ...]
    quiz: Quiz | None
    native: str
    report: str


def read_draft(data: bytes, name: str, format: str | None = None) -> DraftReading:
    """Read a file all the way to what would be kept. Raises ContentError when it cannot be read at all."""
    result = read_bank(data, name, format)
    problems, text, quiz = list(result.problems), "", None
    if result.quiz is not None:
        named, more = _without_files(result.quiz)
        problems += more
        try:
            text, quiz, more = native(named)
            problems += more
        except ContentError as error:
            problems.append(Problem(0, Severity.ERROR, "NOTHING-LEFT", "", str(error)))
    kept = {question.id for question in quiz.questions} if quiz is not None else set[str]()
    result = replace(
        result,
        questions=tuple(question for question in result.questions if question.id in kept),
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
    )
    return DraftReading(result.format, result.read, result.imported, result.problems, quiz, text, report(result, name))


def _without_files(quiz: Quiz) -> tuple[Quiz, list[Problem]]:
    """Discord drafts show no pictures: each is named in the text, or linked where it has an address."""
    problems: list[Problem] = []
    questions: list[Question] = []
    for question in quiz.questions:
        if question.media:
            what = "its pictures are named or linked in the text: a draft in Discord holds none."
            problems.append(Problem(question.line, Severity.WARNING, "MEDIA-NAMED", question.id, what))
        questions.append(without_pictures(question, question.media))
    return replace(quiz, questions=tuple(questions)), problems


def export(quiz: Quiz, format: str, language: str | None = None) -> Export:
    """Raises ContentError for an unknown format, and where the format can hold none of the questions."""
    return write(quiz, format, language)


# Reporting ----------------------------------------------------------------------------------------------------------


def report(result: Import, name: str) -> str:
    """Everything, in the order of the file: what was read, and what was changed, doubted or left out, line by line."""
    rows: list[tuple[int, int, str]] = [
        (question.line, 1, f"{name}:{question.line}: {question.type} {_shown(question)} key: {key_text(question)}")
        for question in result.questions
    ]
    rows += [(problem.line, 0, f"{name}:{problem}") for problem in result.problems]
    body = [row for _, _, row in sorted(rows, key=lambda row: row[:2])]
    return "\n".join([f"{name}: {summary(result)}", *body])


def summary(result: Import) -> str:
    counts = {severity: result.count(severity) for severity in Severity}
    found = ", ".join(f"{count} {severity}{'s' if count > 1 else ''}" for severity, count in counts.items() if count)
    unexplained = sum(question.explanation is None and not isinstance(question.body, Info) for question in result.questions)
    plain = f"; no explanation yet: {unexplained}" if unexplained else ""
    return f"{result.format}, {result.imported} of {result.read} questions imported{plain}. {found.capitalize() or 'No problems'}."


def _shown(question: Question) -> str:
    stem = " ".join(next(iter(question.stem)).split())
    return f'"{_cut(stem, _STEM_SHOWN)}"'


def key_text(question: Question) -> str:
    """What is right, on one line, for somebody who checks it."""
    return _cut(" ".join("; ".join(_key(question)).split()), _KEY_SHOWN) or "-"


def _key(question: Question) -> Iterator[str]:
    def first(text: Text) -> str:
        return next(iter(text))

    match question.body:
        case Choices(choices=choices):
            keys = keys_of(choices)
            yield from (first(choice.text) for choice in choices if choice.id in keys)
        case TrueFalse(answer=answer):
            yield str(answer).lower()
        case Short(accept=accept, blanks=blanks):
            yield from _best(accepted_as_text(entry) for entry in accept if entry.credit > 0)
            for blank in blanks:
                yield from _best(accepted_as_text(entry) for entry in blank.accept if entry.credit > 0)
                yield from (first(choice.text) for choice in blank.choices if choice.correct)
        case Open(reference=reference):
            yield first(reference) if reference is not None else "open"
        case Order(items=items):
            yield " > ".join(first(item.text) for item in items)
        case Match(pairs=pairs):
            yield from (f"{first(pair.left)} = {first(pair.right)}" for pair in pairs)
        case Info():
            yield "none, a text"


def _best(answers: Iterable[str]) -> Iterator[str]:
    yield from list(answers)[:5]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 2].rstrip() + " …"
