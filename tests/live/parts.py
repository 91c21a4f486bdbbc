"""The bot as a process of its own for the crash test: what `studyhall run` builds, less the language model.

python -m tests.live.parts URL GATEWAY TOKEN FOLDER
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

warnings.simplefilter("ignore", DeprecationWarning)  # discord.py's voice code, unused here, imports audioop

from bot.client import StudyhallClient  # noqa: E402
from bot.commands import live  # noqa: E402
from bot.sandbox.launch import point_discord_at  # noqa: E402
from content.load import load_library  # noqa: E402
from engines.quoting import QuotingEngine  # noqa: E402
from tutor.answering import Answering  # noqa: E402
from tutor.live_service import LiveRounds  # noqa: E402
from tutor.retrieval import Retriever  # noqa: E402
from tutor.service import Tutor  # noqa: E402
from tutor.store.database import Database  # noqa: E402
from tutor.store.live import LiveStore  # noqa: E402
from tutor.store.misses import MissStore  # noqa: E402
from tutor.store.people import PeopleStore  # noqa: E402
from tutor.store.rounds import RoundStore  # noqa: E402


@asynccontextmanager
async def live_client(folder: Path, *, role: str = "") -> AsyncGenerator[StudyhallClient, None]:
    """A client with live rounds alone, over the content and the database of this folder."""
    library = load_library([folder / "content"]).library
    database = await Database.open(folder / "studyhall.db")
    engine = QuotingEngine()
    answering = Answering(library, Retriever(library, None), engine, engine)
    people = PeopleStore(database)
    tutor = Tutor(library, round_store=RoundStore(database), people=people, answering=answering, new_id=lambda: secrets.token_hex(6))
    rounds = LiveRounds(library, store=LiveStore(database), misses=MissStore(database), new_id=lambda: secrets.token_hex(6))
    try:
        async with StudyhallClient(tutor, (live.feature(rounds, role=role),)) as client:
            yield client
    finally:
        await answering.aclose()
        await engine.aclose()
        await database.close()


async def serve(token: str, folder: Path) -> None:
    async with live_client(folder) as client:
        await client.start(token)


if __name__ == "__main__":
    url, gateway_url, token, folder = sys.argv[1:]
    logging.basicConfig(level=logging.ERROR)
    point_discord_at(url, gateway_url)
    asyncio.run(serve(token, Path(folder)))
