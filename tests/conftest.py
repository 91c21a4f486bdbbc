"""What holds for all tests: property tests have no deadline per example, because two cores may be shared with other work,
and in CI they take the same examples each time, so that a red run can be repeated."""

from __future__ import annotations

import os
import socket

import pytest
from hypothesis import settings

settings.register_profile("studyhall", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("studyhall")


@pytest.fixture
def free_port() -> int:
    """A port of the loopback address that was free a moment ago."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])
