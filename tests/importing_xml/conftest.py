"""Real sample files, read where they lie: `STUDYHALL_SAMPLES`, or shared/samples/import beside the repository."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def sample() -> Callable[[str], bytes]:
    folder = Path(os.environ.get("STUDYHALL_SAMPLES") or ROOT.parent / "shared" / "samples" / "import")

    def read(name: str) -> bytes:
        path = folder / name
        if not path.is_file():
            pytest.skip(f"the sample {name} is not here; set STUDYHALL_SAMPLES to the folder of import samples")
        return path.read_bytes()

    return read
