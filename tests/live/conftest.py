"""The real bot with live rounds, logged in to the strict sandbox over loopback."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.cli.compose import client_for
from bot.client import StudyhallClient
from bot.sandbox.driver import Sandbox
from bot.sandbox.launch import point_discord_at
from bot.settings import Settings


@asynccontextmanager
async def logged_in(sandbox: Sandbox, settings: Settings) -> AsyncIterator[StudyhallClient]:
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


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database=tmp_path / "studyhall.db", engine="quoting", live_role="Instructor")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox() as made:
        yield made
        assert not made.violations


@pytest.fixture
async def bot(sandbox: Sandbox, settings: Settings) -> AsyncIterator[StudyhallClient]:
    async with logged_in(sandbox, settings) as client:
        yield client
