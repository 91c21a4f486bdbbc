"""`studyhall import` and `studyhall export`: question banks of other programs in and out, with a report of what that costs.

Importing has two phases: without `--to` nothing is written, and the report says what would be. No file is overwritten
without `--force`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from bot.cli.compose import loaded_library
from bot.cli.running import settings_with
from content.banks import READABLE, WRITABLE, export, native, read_bank_file, report
from content.load import SHIPPED, content_files
from content.model import ContentError, Quiz, Severity
from content.readers import Import, Problem, to_json

PEEKED: Final = 16_384  # of a content file, to find its id
_ID: Final = re.compile(r"^id:[ \t]*[\"']?([a-z0-9-]+)", re.MULTILINE)
_VERSION: Final = re.compile(r"^version:[ \t]*(\d{1,9})", re.MULTILINE)


@dataclass(slots=True)
class Taken:
    """One file, and what became of it."""

    path: Path
    result: Import | None = None  # None: nothing of it could be read, `refused` says why
    refused: str = ""
    written: Path | None = None

    @property
    def complete(self) -> bool:
        result = self.result
        return result is not None and not self.refused and result.imported == result.read and not result.count(Severity.ERROR)


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "format_", type=click.Choice(READABLE), help="What the files are; by default their content tells.")
@click.option("--to", "target", type=click.Path(path_type=Path, file_okay=False), help="Write native quizzes into this folder.")
@click.option("--force", is_flag=True, help="Overwrite a quiz of the same id there; its version counts up.")
@click.option("--json", "as_json", is_flag=True, help="One object per file: format, questions, read, imported, problems.")
def import_(files: tuple[Path, ...], format_: str | None, target: Path | None, force: bool, as_json: bool) -> None:
    """Read question banks in FILES and report, question by question, what would be kept, changed or left out.

    With --to the quizzes are written as native YAML, which `studyhall check` accepts. Exit code 1 when something was not
    imported.
    """
    taken = [_read(path, format_) for path in files]
    if target is not None:
        folder = Folder(target, force=force)
        for each in taken:
            _keep(each, folder)
    if as_json:
        objects = [_as_data(each) for each in taken]
        click.echo(json.dumps(objects if len(objects) > 1 else objects[0], ensure_ascii=False, indent=2))
    for each in taken:
        if each.result is not None and not as_json:
            click.echo(report(each.result, str(each.path)))
        if each.refused:
            click.echo(f"studyhall: {each.refused}", err=True)
        elif each.written is not None:
            click.echo(f"{each.path}: written to {each.written}", err=as_json)
    if not all(each.complete for each in taken):
        raise click.exceptions.Exit(1)


def _read(path: Path, format_: str | None) -> Taken:
    if not path.exists():
        return Taken(path, refused=f"{path}: there is no such file. Check the name.")
    try:
        return Taken(path, read_bank_file(path, format_))
    except ContentError as error:
        return Taken(path, refused=str(error).replace("\n", " "))


def _as_data(taken: Taken) -> dict[str, Any]:
    if taken.result is None:
        problem = {"line": 0, "severity": "error", "code": "FILE", "question": "", "text": taken.refused}
        return {"format": None, "questions": [], "read": 0, "imported": 0, "problems": [problem]}
    data = to_json(taken.result)
    return {name: data[name] for name in ("format", "questions", "read", "imported", "problems")}


# Writing ------------------------------------------------------------------------------------------------------------


class Folder:
    """Where quizzes are written to. Ids stay unique: there, in the shipped library, and among the files of one call."""

    def __init__(self, path: Path, *, force: bool) -> None:
        self.path = path
        self.force = force
        self._others = {identity for file in content_files([SHIPPED]) if (identity := _id_of(file))}
        self._others |= {name for file in content_files([path]) if path.is_dir() and (name := _id_of(file)) and file != self.file(name)}

    def file(self, quiz_id: str) -> Path:
        return self.path / f"{quiz_id}.quiz.yaml"

    def free_id(self, quiz_id: str) -> str:
        """The id itself, or with the first number that nothing else has taken."""
        found, number = quiz_id, 1
        while found in self._others:
            number += 1
            found = f"{quiz_id}-{number}"
        self._others.add(found)
        return found

    def keep(self, quiz: Quiz, files: dict[str, bytes]) -> tuple[Path, Quiz, tuple[Problem, ...]]:
        """Write the quiz, its pictures first. Raises ContentError when it exists, or when nothing of it loads."""
        target = self.file(quiz.id)
        if target.exists():
            if not self.force:
                raise ContentError(f"{target}: exists already. Use --force to write it anew as the next version.")
            quiz = replace(quiz, version=_version_of(target) + 1)
        text, kept, problems = native(quiz)
        self.path.mkdir(parents=True, exist_ok=True)
        used = {medium.file for question in kept.questions for medium in question.media}
        for name, data in files.items():
            if name in used:
                self._picture(name, data)
        _replace(target, text.encode("utf-8"))
        return target, kept, problems

    def _picture(self, name: str, data: bytes) -> None:
        beside = self.path / name
        if beside.exists():
            if beside.read_bytes() == data:
                return
            if not self.force:
                raise ContentError(f"{beside}: is another picture of that name. Write into an empty folder, or use --force.")
        _replace(beside, data)


def _keep(taken: Taken, folder: Folder) -> None:
    result = taken.result
    if result is None or result.quiz is None:
        return
    quiz_id = folder.free_id(result.quiz.id)
    try:
        taken.written, kept, problems = folder.keep(replace(result.quiz, id=quiz_id), dict(result.files))
    except ContentError as error:
        taken.refused = str(error)
        return
    if quiz_id != result.quiz.id:
        what = f"the id {result.quiz.id!r} is taken; this quiz is {quiz_id!r}."
        problems = (Problem(0, Severity.NOTE, "ID-TAKEN", "", what), *problems)
    ids = {question.id for question in kept.questions}
    questions = tuple(question for question in result.questions if question.id in ids)
    ordered = tuple(sorted((*result.problems, *problems), key=lambda problem: problem.line))
    taken.result = replace(result, questions=questions, problems=ordered)


def _id_of(file: Path) -> str | None:
    found = _ID.search(_head(file)) if file.name.endswith(".yaml") else None
    return found.group(1) if found else None


def _version_of(file: Path) -> int:
    found = _VERSION.search(_head(file))
    return int(found.group(1)) if found else 0


def _head(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(PEEKED).decode("utf-8", "replace")


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file, then take its place: a crash leaves the old file or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


# Exporting ----------------------------------------------------------------------------------------------------------


@click.command("export")
@click.argument("quiz")
@click.option("--format", "format_", required=True, type=click.Choice(WRITABLE), help="What to write.")
@click.option("--to", "target", type=click.Path(path_type=Path), help="A file or folder; by default standard output.")
@click.option("--lang", "language", help="Which language, for formats that hold one; by default the quiz's first.")
@click.option("--content", "content", multiple=True, type=click.Path(path_type=Path), help="A folder of quizzes and guides; repeatable.")
@click.option("--force", is_flag=True, help="Overwrite the file.")
def export_(
    quiz: str, format_: str, target: Path | None, language: str | None, content: tuple[Path, ...], force: bool
) -> None:  # fmt: skip
    """Write QUIZ (an id of the library, or a file of any format) as another format.

    What that format cannot hold is listed on standard error; exit code 1 when questions had to be left out.
    """
    found = _quiz(quiz, content)
    if language is not None and language not in found.languages:
        raise click.UsageError(f"{found.id} is not written in {language!r}; it has {', '.join(found.languages)}.")
    made = export(found, format_, language)
    if target is None:
        if sys.stdout.isatty() and b"\x00" in made.data[:1_024]:
            raise click.UsageError(f"{made.filename} is no text. Name a file with --to.")
        sys.stdout.buffer.write(made.data)
        sys.stdout.flush()
    else:
        file = target / made.filename if target.is_dir() else target
        if file.exists() and not force:
            raise ContentError(f"{file}: exists already. Use --force to overwrite it, or name another file.")
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, made.data)
        click.echo(f"{found.id}: written to {file}", err=True)
    lines = list(loss_lines(made.losses, len(found.questions)))
    for line in lines:
        click.echo(f"{found.id}: {line}", err=True)
    if any(loss.severity is Severity.ERROR for loss in made.losses):
        raise click.exceptions.Exit(1)


def loss_lines(losses: Sequence[Problem], total: int) -> Iterator[str]:
    left_out = {loss.question for loss in losses if loss.severity is Severity.ERROR}
    if left_out:
        yield f"{len(left_out)} of {total} questions left out."
    for loss in losses:
        where = f"question {loss.question}: " if loss.question else ""
        yield f"{loss.severity} {loss.code} {where}{loss.text}"


def _quiz(name: str, content: tuple[Path, ...]) -> Quiz:
    path = Path(name)
    if path.is_file() or path.is_dir() or "/" in name:
        if not path.exists():
            raise ContentError(f"{path}: there is no such file. Check the name.")
        result = read_bank_file(path)
        errors = [problem for problem in result.problems if problem.severity is Severity.ERROR]
        for problem in errors:
            click.echo(f"{path}:{problem}", err=True)
        if result.quiz is None:
            raise ContentError(f"{path}: no question of it can be used. See why with: studyhall import {path}")
        return result.quiz
    settings = settings_with(content, None)
    library = loaded_library(settings.content, shipped=settings.shipped_library)
    found = library.quizzes.get(name)
    if found is None:
        raise ContentError(f"there is no quiz {name!r}. Choose one of: {', '.join(sorted(library.quizzes))}; or name a file.")
    return found


COMMANDS = (import_, export_)
