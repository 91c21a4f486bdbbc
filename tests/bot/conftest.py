"""The real bot, logged in to the strict sandbox over loopback, with the shipped library and a database in tmp_path."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from bot.cli.compose import client_for
from bot.client import StudyhallClient
from bot.sandbox.driver import Sandbox
from bot.sandbox.launch import point_discord_at
from bot.settings import Settings

Running = Callable[[Sandbox], AbstractAsyncContextManager[StudyhallClient]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database=tmp_path / "studyhall.db", engine="quoting", embeddings=False)


@pytest.fixture
def running(settings: Settings) -> Running:
    """A context manager that runs the bot against a sandbox."""

    @asynccontextmanager
    async def run(sandbox: Sandbox) -> AsyncIterator[StudyhallClient]:
        point_discord_at(sandbox.url, sandbox.gateway_url)
        async with client_for(settings) as client:
            session = asyncio.create_task(client.start(sandbox.token))
            try:
                ready = asyncio.create_task(sandbox.ready(15))
                await asyncio.wait({session, ready}, return_when=asyncio.FIRST_COMPLETED)
                if session.done():
                    ready.cancel()
                    session.result()
                await ready
                yield client
            finally:
                session.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await session

    return run


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox() as made:
        yield made
        assert not made.violations
