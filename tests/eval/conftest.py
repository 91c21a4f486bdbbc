"""The shipped library, its index and the shipped suites, read once: nothing here changes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.evaluate_suite import load_suite
from content.load import SHIPPED, load_library
from content.model import Library
from tutor.evaluation import Suite
from tutor.evaluation_attacks import attack_suite
from tutor.retrieval import Retriever

SUITES = Path(__file__).parent.parent / "suites"


@pytest.fixture(scope="session")
def library() -> Library:
    return load_library([SHIPPED]).library


@pytest.fixture(scope="session")
def retriever(library: Library) -> Iterator[Retriever]:
    made = Retriever(library)
    yield made
    made.close()


@pytest.fixture(scope="session")
def grounding(library: Library) -> Suite:
    return load_suite(SUITES / "grounding.yaml", library).suite


@pytest.fixture(scope="session")
def injection(library: Library) -> Suite:
    return load_suite(SUITES / "injection.yaml", library).suite


@pytest.fixture(scope="session")
def leak(library: Library) -> Suite:
    return attack_suite(library)
