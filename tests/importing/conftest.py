"""Real sample files, read where they lie: `STUDYHALL_SAMPLES`, or shared/samples/import beside the repository."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from content.readers import Import, read_bytes
from content.readers.base import question_json

FOLDER = Path(os.environ.get("STUDYHALL_SAMPLES") or Path(__file__).parents[2].parent / "shared" / "samples" / "import")


def sample_path(name: str) -> Path:
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"the sample {name} is not here; set STUDYHALL_SAMPLES to the folder of import samples")
    return path


@pytest.fixture
def sample() -> Callable[[str], bytes]:
    return lambda name: sample_path(name).read_bytes()


def read(text: str | bytes, format: str | None = None, name: str = "bank.txt") -> Import:
    """Read a bank that stands in a test."""
    return read_bytes(text.encode("utf-8") if isinstance(text, str) else text, name, format)


def outline(result: Import) -> list[tuple[str, object, object]]:
    """(type, stem, key) of each question; the keys of choices as their texts."""
    rows = []
    for question in result.questions:
        shown = question_json(question)
        key = shown["key"]
        if shown["type"] in ("single", "multiple"):
            key = [choice["text"] for choice in shown["choices"] if choice["id"] in key]
        rows.append((shown["type"], shown["stem"], key))
    return rows


def codes(result: Import) -> list[str]:
    return [problem.code for problem in result.problems]
