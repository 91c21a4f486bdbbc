"""Quizzes as files of other programs: one module per format, one line per writer in `WRITERS`.

`write` returns the file's bytes and everything that the format could not hold; nothing is written to disk here.
"""

from __future__ import annotations

from typing import Final

from content.model import ContentError, Quiz
from content.writers.aiken import AikenWriter
from content.writers.anki import AnkiWriter
from content.writers.base import Export, Writer
from content.writers.delimited import AnkiTextWriter, CsvWriter, QuizletWriter, WaygroundWriter
from content.writers.gift import GiftWriter
from content.writers.kahoot import KahootWriter
from content.writers.moodle_xml import MoodleXmlWriter
from content.writers.native import NativeWriter
from content.writers.red_trivia import RedTriviaWriter
from content.writers.text2qti import Text2QtiWriter

__all__ = ["WRITERS", "Export", "Writer", "write"]

WRITERS: Final[tuple[Writer, ...]] = (
    NativeWriter(),
    GiftWriter(),
    MoodleXmlWriter(),
    AikenWriter(),
    KahootWriter(),
    WaygroundWriter(),
    CsvWriter(),
    QuizletWriter(),
    AnkiTextWriter(),
    AnkiWriter(),
    RedTriviaWriter(),
    Text2QtiWriter(),
)


def write(quiz: Quiz, format: str, language: str | None = None) -> Export:
    """The quiz as a file of this format, in one language where the format holds only one (default: the quiz's first).

    Raises ContentError for an unknown format, and where the format can hold none of the questions.
    """
    for writer in WRITERS:
        if writer.name == format:
            return writer.write(quiz, language or quiz.languages[0])
    known = ", ".join(sorted(writer.name for writer in WRITERS))
    raise ContentError(f"{quiz.id}: the format {format!r} cannot be written. Use one of: {known}.")
