"""Computed guide prefixes on disk: the KV state of the part of a prompt that every learner of a guide shares.

A file holds the state of public guide text only, never of a learner's question. It fits exactly one model file, library
version, number of slots and text, so all of these are in its name; a name that is not there means "compute it". The folder is
a cache: deleting it costs time and nothing else, and it is kept under a size by removing what was used longest ago.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from engines.base import Prompt

SHORTEST: Final = 400  # characters; computing less than about a hundred tokens costs less than keeping track of it
MOST_BYTES: Final = 2 << 30  # of all files together: about 60 guides of 1,200 tokens on a 1.5B model, at 34 MB each
SUFFIX: Final = ".prefix"


@dataclass(frozen=True, slots=True)
class Fit:
    """What a saved state depends on besides the text. llama.cpp refuses a file of another number of slots."""

    model_file: str
    model_size: int
    model_mark: str  # SHA-256 where it is known, else the time of the last change
    library: str
    slots: int
    context_tokens: int

    @classmethod
    def of(cls, model_path: Path, sha256: str | None, *, slots: int, context_tokens: int) -> Fit:
        """Raises OSError when the model file cannot be looked at."""
        stat = model_path.stat()
        try:
            library = metadata.version("xllamacpp")
        except metadata.PackageNotFoundError:
            library = "none"
        return cls(model_path.name, stat.st_size, sha256 or str(stat.st_mtime_ns), library, slots, context_tokens)


class PrefixStore:
    """Blocking, but only with single small file operations."""

    def __init__(self, folder: Path, fit: Fit, *, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder
        self._fit = fit
        self._most_bytes = most_bytes
        folder.mkdir(parents=True, exist_ok=True)

    def key(self, prompt: Prompt) -> str | None:
        """The name of the state of the stable part; None when that part is too short to be worth a file."""
        stable = [(message.role, message.text) for message in prompt.messages[: prompt.stable]]
        if sum(len(text) for _, text in stable) < SHORTEST:
            return None
        fit = self._fit
        parts = [fit.model_file, fit.model_size, fit.model_mark, fit.library, fit.slots, fit.context_tokens, stable]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]

    def file(self, key: str) -> str:
        return key + SUFFIX

    def has(self, key: str) -> bool:
        return (self.folder / self.file(key)).is_file()

    def used(self, key: str) -> None:
        with contextlib.suppress(OSError):  # only the order of removal suffers
            os.utime(self.folder / self.file(key))

    def drop(self, key: str) -> None:
        """After the server refused it."""
        (self.folder / self.file(key)).unlink(missing_ok=True)

    def scratch(self, key: str) -> str:
        """The name to save under; `keep` turns it into the real one, so a state that exists is whole."""
        return key + ".saving"

    def keep(self, key: str) -> None:
        """Raises OSError when the server did not save anything."""
        (self.folder / self.scratch(key)).replace(self.folder / self.file(key))
        self._shrink(spare=key)

    def _shrink(self, *, spare: str) -> None:
        files = sorted(self.folder.glob("*" + SUFFIX), key=lambda path: path.stat().st_mtime, reverse=True)
        total = 0
        for path in files:
            total += path.stat().st_size
            if total > self._most_bytes and path.name != self.file(spare):
                path.unlink(missing_ok=True)
