"""Vectors of guide sentences and sections, kept in a SQLite file of their own by the hash of what they stand for.

Derived data: deleting the file costs time and nothing else, so it lies in the cache folder and not in the bot's database.
Search is by brute force in numpy: a thousand sections are three megabytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from sqlite_utils import Database as Connection

from content.model import Guide, Section
from engines.base import Embedder
from tutor.search import Key
from tutor.store.database import rows, write

KEPT_QUESTIONS: Final = 1_024
"""Whose vectors are kept: behind a Why? button all of a class ask the same. In memory only, and without who asked."""
SHORTEST: Final = 12  # characters of a sentence worth a vector of its own
_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n{2,}")
_BATCH: Final = 16  # texts embedded between two saves


def key_of(guide: Guide, section: Section) -> Key:
    return guide.id, guide.language, section.id


@dataclass(frozen=True, slots=True)
class Near:
    """How near a section is to a question, and its sentence that is nearest ("" when it has none of its own)."""

    cosine: float
    sentence: str = ""
    of_sentence: float = -1.0


def pieces(section: Section) -> list[str]:
    """What stands for a section: first all of it and its heading, then each of its sentences."""
    prose = re.sub(r"```.*?```", " ", f"{section.summary}\n\n{section.body}", flags=re.DOTALL)
    sentences = [part.strip() for part in _END.split(prose) if len(part.strip()) >= SHORTEST]
    whole = f"{section.heading}. {section.summary} {section.body}"[:1_200]
    return list(dict.fromkeys([whole, section.heading, *sentences]))


_NOWHERE: Final = Near(-1.0)


class VectorIndex:
    """Build it in a thread (`build` blocks); until then `search` finds nothing. One thread at a time may build.

    Questions are looked up in threads of its own: in the loop's, a class that asks together would keep everything else waiting that
    goes to a thread, such as the chart of its live round.
    """

    def __init__(self, guides: Iterable[Guide], embedder: Embedder, path: Path) -> None:
        self.ready = False
        self._stopped = False
        self._embedder = embedder
        self._path = path
        self._threads = ThreadPoolExecutor(embedder.at_once, thread_name_prefix="vectors")
        self._of_question = lru_cache(KEPT_QUESTIONS)(self._embedded)
        self._sections = [(guide, section) for guide in guides for section in guide.sections]
        self._matrix: Any = None
        self._owners: list[tuple[Key, str]] = []  # with the sentence, "" for a piece that is none
        self._spans: dict[tuple[str, str], tuple[int, int]] = {}  # the rows of a guide variant: only those in scope are looked at

    def build(self) -> None:
        """Read the vectors that are known and compute the others (about 20 ms a sentence). Interrupted, it goes on later."""
        owners = [
            (key_of(guide, section), piece, number > 1 and piece != section.heading)
            for guide, section in self._sections
            for number, piece in enumerate(pieces(section))
        ]
        known = self._load()
        missing = list(dict.fromkeys(piece for _, piece, _ in owners if self._hash(piece) not in known))
        for start in range(0, len(missing), _BATCH):
            if self._stopped:
                return
            batch = missing[start : start + _BATCH]
            fresh = {self._hash(piece): vector for piece, vector in zip(batch, self._embedder.embed(batch, query=False), strict=True)}
            self._save(fresh)
            known |= fresh
        matrix = b"".join(known[self._hash(piece)] for _, piece, _ in owners)
        self._matrix = np.frombuffer(matrix, dtype="<f4").reshape(len(owners), -1) if owners else None
        self._owners = [(owner, piece if is_sentence else "") for owner, piece, is_sentence in owners]
        self._spans = {}
        for row, (owner, _) in enumerate(self._owners):
            first, _ = self._spans.get(owner[:2], (row, row))
            self._spans[owner[:2]] = (first, row + 1)
        self.ready = True

    def stop(self) -> None:
        """Let a build in another thread end at its next batch; from now on `near` finds nothing."""
        self._stopped = True
        self._threads.shutdown(wait=False)

    async def near(self, question: str, guides: Sequence[Guide]) -> Mapping[Key, Near]:
        """As `search`, in a thread."""
        if self._stopped:
            return {}
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.search, question, guides)

    def search(self, question: str, guides: Sequence[Guide]) -> Mapping[Key, Near]:
        """How near each section of these guides is, the nearest first; empty until built. Takes 10 to 30 ms: not on the loop."""
        if not self.ready or self._matrix is None:
            return {}
        vector = self._of_question(question)
        best: dict[Key, Near] = {}
        for start, end in (self._spans[key] for guide in guides if (key := (guide.id, guide.language)) in self._spans):
            self._nearer(best, start, (self._matrix[start:end] @ vector).tolist())
        return dict(sorted(best.items(), key=lambda item: -item[1].cosine))

    def _embedded(self, question: str) -> Any:
        return np.frombuffer(self._embedder.embed([question], query=True)[0], dtype="<f4")

    def _nearer(self, best: dict[Key, Near], start: int, cosines: Sequence[float]) -> None:
        """Takes the cosines of the pieces from `start` on into account."""
        for (owner, sentence), cosine in zip(self._owners[start : start + len(cosines)], cosines, strict=True):
            so_far = best.get(owner, _NOWHERE)
            nearer = sentence and cosine > so_far.of_sentence
            if nearer or cosine > so_far.cosine:
                kept = (sentence, cosine) if nearer else (so_far.sentence, so_far.of_sentence)
                best[owner] = Near(max(cosine, so_far.cosine), *kept)

    def cosines(self, text: str, others: Sequence[str]) -> list[float]:
        """How near a text is to each of the others, as statements."""
        vectors = [np.frombuffer(v, dtype="<f4") for v in self._embedder.embed([text, *others], query=False)]
        return [float(vectors[0] @ vector) for vector in vectors[1:]]

    def _hash(self, piece: str) -> str:
        return hashlib.sha256(f"{self._embedder.id}\n{piece}".encode()).hexdigest()

    def _load(self) -> dict[str, bytes]:
        """An unreadable cache is an empty one: it can be computed again."""
        try:
            with self._opened() as connection:
                return {row["hash"]: row["vector"] for row in rows(connection, "SELECT hash, vector FROM vectors")}
        except sqlite3.Error:
            self._path.unlink(missing_ok=True)
            return {}

    def _save(self, fresh: Mapping[str, bytes]) -> None:
        try:
            with self._opened() as connection, connection.atomic():
                for digest, vector in fresh.items():
                    write(connection, "INSERT OR REPLACE INTO vectors (hash, vector) VALUES (?, ?)", (digest, vector))
        except sqlite3.Error:
            return  # a full disk costs the next start some seconds

    def _opened(self) -> Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = Connection(self._path)
        write(connection, "CREATE TABLE IF NOT EXISTS vectors (hash TEXT PRIMARY KEY, vector BLOB NOT NULL) STRICT")
        return connection
