"""What the sandbox's tests share: a running sandbox, a discord.py client in it, and a clock that a test moves."""

from __future__ import annotations

import time
import warnings
from collections.abc import AsyncIterator

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # discord.py's voice code, unused here, imports audioop
    import discord  # noqa: F401

from bot.sandbox.driver import Sandbox
from tests.sandbox.bot_under_test import Client, logged_in


class Clock:
    """Runs like the real one; jumps and stands still when told to."""

    def __init__(self) -> None:
        self.ahead_s = 0.0
        self.frozen_at: float | None = None

    def __call__(self) -> float:
        return (time.time() if self.frozen_at is None else self.frozen_at) + self.ahead_s

    def freeze(self) -> None:
        """A slow machine must not see a rate limit's window pass."""
        self.frozen_at = time.time()

    def jump(self, seconds: float) -> None:
        self.ahead_s += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def sandbox(clock: Clock) -> AsyncIterator[Sandbox]:
    async with Sandbox(clock=clock) as running:
        yield running


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[Client]:
    async with logged_in(sandbox) as running:
        yield running
