"""Question banks of other programs: one module per format, one line per reader in `READERS`.

`read_file` and `read_bytes` return an `Import` (every good question, every problem); nothing is written or fetched.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from content.model import ContentError
from content.readers.aiken import AikenReader
from content.readers.anki import AnkiReader
from content.readers.base import Import, Problem, Reader, to_json
from content.readers.delimited import AnkiTextReader, CsvReader, QuizletReader
from content.readers.detect import ranked, read_with
from content.readers.gift import GiftReader
from content.readers.h5p import H5pReader
from content.readers.intake import MAX_UNPACKED_BYTES
from content.readers.jupyterquiz import JupyterQuizReader
from content.readers.markdown_lists import MarkdownReader
from content.readers.markdown_qa import joined, language_of_file
from content.readers.mdbook import MdBookReader
from content.readers.moodle_xml import MoodleXmlReader
from content.readers.opentdb import OpenTdbReader
from content.readers.opentriviaqa import OpenTriviaQaReader
from content.readers.qti2 import Qti2Reader
from content.readers.qti12 import Qti12Reader
from content.readers.red_trivia import RedTriviaReader
from content.readers.rexams import RexamsReader
from content.readers.spreadsheet import KahootReader, WaygroundReader, WorkbookReader
from content.readers.text2qti import Text2QtiReader

__all__ = ["READERS", "Import", "Problem", "Reader", "detect", "read_bytes", "read_file", "to_json"]

READERS: Final[tuple[Reader, ...]] = (
    MoodleXmlReader(),
    Qti12Reader(),
    Qti2Reader(),
    KahootReader(),
    WaygroundReader(),
    AnkiReader(),
    H5pReader(),
    RexamsReader(),
    WorkbookReader(),
    OpenTdbReader(),
    JupyterQuizReader(),
    MdBookReader(),
    OpenTriviaQaReader(),
    AnkiTextReader(),
    GiftReader(),
    Text2QtiReader(),
    AikenReader(),
    MarkdownReader(),
    RedTriviaReader(),
    CsvReader(),
    QuizletReader(),
)
"""Formats with a mark of their own first; of two readers that are equally sure, the earlier one is tried."""


def detect(data: bytes, name: str = "") -> list[tuple[Reader, float]]:
    """The readers that recognise the content, with their confidence 0..1, the surest first."""
    return ranked(READERS, data, name)


def read_bytes(data: bytes, name: str, format: str | None = None) -> Import:
    """Read one file's bytes; `name` serves messages and the quiz id. Raises ContentError when nothing can be read."""
    return read_with(READERS, data, name, format)


def read_file(path: Path | str, format: str | None = None) -> Import:
    """Read one file, or a folder that holds the same Markdown questions in several languages (en-US.mdx, zh-CN.mdx).

    Raises ContentError when it is missing, too large, or of no known format.
    """
    path = Path(path)
    if path.is_dir():
        return _read_folder(path, format)
    return read_with(READERS, _bytes_of(path), path.name, format)


def _bytes_of(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_UNPACKED_BYTES:
            raise ContentError(f"{path}: {size:,} bytes is above {MAX_UNPACKED_BYTES:,}. Split the file.")
        return path.read_bytes()
    except OSError as error:
        raise ContentError(f"{path}: cannot be read ({error.strerror}). Check the name.") from error


def _read_folder(path: Path, format: str | None) -> Import:
    pages = {language: file for file in sorted(path.iterdir())[:200] if (language := language_of_file(file.name)) and file.is_file()}
    if not pages:
        raise ContentError(f"{path}: no pages named after languages, such as en.md, are in this folder. Name a file.")
    # English first, since the first language is the fallback for all others
    order = sorted(pages, key=lambda language: (not language.startswith("en"), language))
    parts = {language: read_with(READERS, _bytes_of(pages[language]), path.name, format or "markdown") for language in order}
    metadata = path / "metadata.json"
    return joined(parts, path.name, _bytes_of(metadata) if metadata.is_file() else None)
