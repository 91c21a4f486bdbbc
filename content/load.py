"""Native content files -> `content.model.Library`, and every fault of every file in one report.

`load_library` reads folders; `load_quiz`, `load_guide` and `load_course` read one file or text (previews, tests). What is
on disk never raises: a file that cannot be read is a fault. Whatever can be used is used, so a library with faults still
serves its good questions; `content.check` judges what was loaded.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from content.fields import LANGUAGE, Fields, similar
from content.guide_markdown import inherited, read_guide
from content.model import Course, Fault, Guide, Library, Quiz
from content.quiz_translation import QuizTranslation, graft, read_translation
from content.quiz_yaml import read_course, read_quiz
from content.rules import fault, in_order
from content.yaml_source import MapNode, Source, parse

SHIPPED: Final = Path(__file__).parent / "library"
MAX_BYTES: Final = 32 << 20  # of one file; ten thousand questions in two languages have half of it
MAX_FILES: Final = 20_000

_GUIDE_IGNORED: Final = frozenset({"readme.md"})


@dataclass(frozen=True, slots=True)
class Origin:
    """The text that something was read from, kept so that a fault found later can name its line."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read. `origins` is keyed by kind ("quiz", "guide", "course"), id, and the language of a translation or ""."""

    library: Library = field(default_factory=Library)
    faults: tuple[Fault, ...] = ()
    translations: tuple[QuizTranslation, ...] = ()
    origins: Mapping[tuple[str, str, str], Origin] = field(default_factory=lambda: dict[tuple[str, str, str], Origin]())

    def path(self, kind: str, name: str, language: str = "") -> str:
        origin = self.origins.get((kind, name, language)) or self.origins.get((kind, name, ""))
        return origin.path if origin is not None else name


@contextmanager
def no_collector() -> Generator[None]:
    """Building a million small values that all stay makes the cyclic collector run for nothing, for most of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def load_library(paths: Sequence[Path]) -> Loaded:
    """Read native folders and files, in order.

    Below a folder: `*.quiz.yaml`, translations `<id>.<lang>.quiz.yaml`, `guides/*.md` and `courses/*.yaml`, at any depth;
    hidden folders are skipped. An id that is used twice is a fault that names both places, and the first one stays.
    """
    with no_collector():
        return _Loading().run(paths)


def content_files(paths: Sequence[Path]) -> list[Path]:
    """The files that `load_library` would read, in its order."""
    return _Loading().files(paths)


def load_quiz(source: Path | str, *, name: str = "<text>") -> tuple[Quiz | None, tuple[Fault, ...]]:
    """One quiz from a file or from text; `name` is what faults call the text."""
    loading = _Loading()
    read, path = _one(loading, source, name)
    quiz = None
    if read is not None:
        with no_collector():
            quiz = read_quiz(Fields(read), parse(read, items_key="questions"), path)
        loading.take(read)
    if quiz is not None and path is not None:
        loading.media(quiz, path, read.path if read is not None else name)
    return quiz, in_order(loading.faults)


def load_guide(source: Path | str, *, name: str = "<text>") -> tuple[Guide | None, tuple[Fault, ...]]:
    """One guide from a file or from text. A translation says its `lang` itself and inherits nothing here."""
    loading = _Loading()
    read, path = _one(loading, source, name)
    guide = None
    if read is not None:
        guide = read_guide(read, path, language_of(path, ".md") if path is not None else None)
        loading.take(read)
    return guide, in_order(loading.faults)


def load_course(source: Path | str, *, name: str = "<text>") -> tuple[Course | None, tuple[Fault, ...]]:
    loading = _Loading()
    read, path = _one(loading, source, name)
    course = None
    if read is not None:
        course = read_course(Fields(read), parse(read), path)
        loading.take(read)
    return course, in_order(loading.faults)


def _one(loading: _Loading, source: Path | str, name: str) -> tuple[Source | None, Path | None]:
    if isinstance(source, Path):
        return loading.read(source), source
    return Source(name, source.removeprefix("\ufeff")), None


def language_of(path: Path, suffix: str) -> str | None:
    """The language in `tcp.zh-TW.quiz.yaml`; None for `tcp.quiz.yaml`."""
    parts = path.name.removesuffix(suffix).removesuffix(".quiz").rsplit(".", 1)
    return parts[1] if len(parts) == 2 and LANGUAGE.fullmatch(parts[1]) else None


class _Loading:
    """One pass over the files. Translations come first, so that an original can take its texts up as it is read."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.quizzes: dict[str, Quiz] = {}
        self.guides: dict[str, dict[str, Guide]] = {}
        self.courses: dict[str, Course] = {}
        self.origins: dict[tuple[str, str, str], Origin] = {}
        self.translations: list[QuizTranslation] = []
        self.waiting: dict[str, list[tuple[QuizTranslation, Fields]]] = {}

    def run(self, paths: Sequence[Path]) -> Loaded:
        quizzes: list[Path] = []
        guides: list[Path] = []
        courses: list[Path] = []
        for path in self.files(paths):
            if path.name.endswith(".md"):
                guides.append(path)
            elif path.parent.name == "courses" and not path.name.endswith(".quiz.yaml"):
                courses.append(path)
            elif language_of(path, ".yaml") is not None:
                self._translation(path)
            else:
                quizzes.append(path)
        for path in quizzes:
            self._quiz(path)
        for path in guides:
            self._guide(path)
        for path in courses:
            self._course(path)
        self._orphans()
        return Loaded(self._library(), in_order(self.faults), tuple(self.translations), self.origins)

    def add(self, path: Path | str, line: int, code: str, what: str, remedy: str) -> None:
        self.faults.append(fault(path if isinstance(path, str) else path.as_posix(), line, code, what, remedy))

    def take(self, source: Source) -> None:
        self.faults += source.faults
        source.faults = []

    # files

    def files(self, paths: Sequence[Path]) -> list[Path]:
        found: dict[Path, None] = {}
        for path in paths:
            try:
                if path.is_file():
                    found[path] = None
                elif path.is_dir():
                    self._below(path, found)
                else:
                    self.add(path, 1, "FILE-READ", "There is no such file or folder.", "Check the path.")
            except OSError as error:  # a name that is too long, a folder that may not be entered
                self._unreadable(path.as_posix(), error)
        return list(found)

    def _below(self, folder: Path, found: dict[Path, None]) -> None:
        for file in _walk(folder, lambda error: self._unreadable(str(error.filename), error)):
            if len(found) >= MAX_FILES:
                self.add(folder, 1, "FILE-READ", f"There are more than {MAX_FILES:,} files.", "Name the folders to read.")
                return
            if self._wanted(file):
                found[file] = None

    def _unreadable(self, shown: str, error: OSError | ValueError) -> None:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.add(shown, 1, "FILE-READ", f"This cannot be read: {reason}.", "Check the path and its permissions.")

    def _wanted(self, path: Path) -> bool:
        name = path.name
        if name.endswith(".md"):
            return "guides" in path.parent.parts and name.lower() not in _GUIDE_IGNORED
        if name.endswith(".quiz.yaml") or (path.parent.name == "courses" and name.endswith(".yaml")):
            return True
        if name.endswith((".yaml", ".yml")) and path.parent.name in ("quizzes", "courses"):
            if name.endswith(".yaml") and language_of(path, ".yaml") is not None:
                return True
            self.add(path, 1, "FILE-STRAY", "This file is not read.", "Name it <id>.quiz.yaml, or <id>.<lang>.quiz.yaml for a translation.")
        return False

    def read(self, path: Path) -> Source | None:
        shown = path.as_posix()
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            self._unreadable(shown, error)
            return None
        if len(data) > MAX_BYTES:
            self.add(shown, 1, "FILE-READ", f"The file is larger than {MAX_BYTES >> 20} MiB.", "Split it.")
            return None
        try:
            return Source(shown, data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = len(re.findall(rb"\r\n?|\n", data[: error.start])) + 1
            what = f"The byte 0x{data[error.start]:02x} is not UTF-8."
            self.add(shown, line, "FILE-READ", what, "Save the file as UTF-8.")
            return None

    # kinds

    def _translation(self, path: Path) -> None:
        source = self.read(path)
        language = language_of(path, ".yaml")
        if source is None or language is None:
            return
        fields = Fields(source)
        translation = read_translation(fields, parse(source, items_key="questions"), language)
        self.take(source)
        if translation is not None:
            self._named(path, translation.of.id, source.path)
            self.waiting.setdefault(translation.of.id, []).append((translation, fields))

    def _named(self, path: Path, name: str, shown: str) -> None:
        stem = path.name.removesuffix(".md").removesuffix(".yaml").removesuffix(".quiz")
        language = language_of(path, ".md" if path.name.endswith(".md") else ".yaml")
        if language is not None:
            stem = stem.removesuffix(f".{language}")
        if stem != name:
            self.add(shown, 1, "FILE-NAME", f"The file holds {name!r}.", f"Name it after its id: {path.name.replace(stem, name, 1)}.")

    def _quiz(self, path: Path) -> None:
        source = self.read(path)
        if source is None:
            return
        root = parse(source, items_key="questions")
        if isinstance(root, MapNode) and "translation_of" in root.entries:
            at = root.entries["translation_of"].key_at
            what = "The file is a translation, but its name has no language."
            source.add("TRANS-ORPHAN", at, what, "Name it <id>.<lang>.quiz.yaml.")
            self.take(source)
            return
        name = root.entries.get("id") if isinstance(root, MapNode) else None
        quiz_id = getattr(name, "value", "")
        for translation, fields in self.waiting.pop(quiz_id, ()) if isinstance(root, MapNode) else ():
            assert isinstance(root, MapNode)
            graft(root, translation, fields)
            self.take(fields.source)
            kept = QuizTranslation(translation.of, translation.language, translation.path, translation.line)
            self.translations.append(kept)
            self.origins["quiz", quiz_id, translation.language] = Origin(translation.path, fields.source.text)
        quiz = read_quiz(Fields(source), root, path)
        self.take(source)
        if quiz is None:
            return
        self._named(path, quiz.id, source.path)
        if self._first("quiz", quiz.id, source):
            self.quizzes[quiz.id] = quiz
            self.media(quiz, path, source.path)

    def media(self, quiz: Quiz, path: Path, shown: str) -> None:
        for question in quiz.questions:
            for medium in question.media:
                if medium.file is not None and not (path.parent / medium.file).is_file():
                    what = f"question {question.id!r}: there is no file {medium.file!r} beside the quiz."
                    self.add(shown, question.line, "MEDIA-MISSING", what, "Add it, or correct the name.")

    def _first(self, kind: str, name: str, source: Source, language: str = "") -> bool:
        known = self.origins.get((kind, name, language))
        if known is None:
            self.origins[kind, name, language] = Origin(source.path, source.full or source.text)
            return True
        line = self._line_of_id(source.full or source.text)
        what = f"The {kind} id {name!r} is already that of {known.path}:{self._line_of_id(known.text)}."
        self.add(source.path, line, "ID-DUPLICATE", what, "Give one of the two another id, or remove it.")
        return False

    @staticmethod
    def _line_of_id(text: str) -> int:
        found = re.search(r"^[ \t]*(?:id|translation_of)[ \t]*:", text, re.MULTILINE)
        return text.count("\n", 0, found.start()) + 1 if found else 1

    def _guide(self, path: Path) -> None:
        source = self.read(path)
        if source is None:
            return
        guide = read_guide(source, path, language_of(path, ".md"))
        self.take(source)
        if guide is None:
            return
        self._named(path, guide.id, source.path)
        language = guide.language if guide.translation_of is not None else ""
        if self._first("guide", guide.id, source, language):
            variants = self.guides.setdefault(guide.id, {})
            if guide.language in variants:
                what = f"The guide {guide.id!r} exists twice in {guide.language!r}."
                self.add(source.path, 1, "ID-DUPLICATE", what, "Correct lang, or remove one of the two.")
            else:
                variants[guide.language] = guide

    def _course(self, path: Path) -> None:
        source = self.read(path)
        if source is None:
            return
        course = read_course(Fields(source), parse(source), path)
        self.take(source)
        if course is None:
            return
        self._named(path, course.id, source.path)
        if self._first("course", course.id, source):
            self.courses[course.id] = course

    # ends

    def _orphans(self) -> None:
        for name, translations in self.waiting.items():
            for translation, _ in translations:
                remedy = f"{similar(name, self.quizzes)}Add the original, or correct translation_of."
                self.add(translation.path, translation.line, "TRANS-ORPHAN", f"There is no quiz {name!r} to translate.", remedy)

    def _library(self) -> Library:
        guides: dict[str, Mapping[str, Guide]] = {}
        for name, variants in self.guides.items():
            original = next((guide for guide in variants.values() if guide.translation_of is None), None)
            if original is None:
                for guide in variants.values():
                    remedy = f"{similar(name, self.guides.keys() - {name})}Add {name}.md, or correct translation_of."
                    line = self._line_of_id(self.origins["guide", name, guide.language].text)
                    path = self.origins["guide", name, guide.language].path
                    self.add(path, line, "TRANS-ORPHAN", f"There is no guide {name!r} to translate.", remedy)
                continue
            others = {lang: inherited(guide, original) for lang, guide in sorted(variants.items()) if guide is not original}
            guides[name] = {original.language: original, **others}
        return Library(self.quizzes, guides, self.courses)


def _walk(folder: Path, onerror: Callable[[OSError], None]) -> Iterator[Path]:
    """Files below a folder, sorted, without hidden ones and without following links to folders."""
    for base, folders, files in os.walk(folder, onerror=onerror):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(base) / name
