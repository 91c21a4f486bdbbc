"""Who writes answers, by the settings: an engine behind fair turns and a bounded queue, and quotes until it is ready or while it is away.

Every choice but `quoting` is a `SwitchingEngine`: the bot answers from its first second, and says who answers. It starts what runs in
or beside this process (llamacpp, paged) and never a server.

Errors: `SettingsError`, one line, for settings that can never work on this machine.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from bot.settings import Settings, SettingsError
from engines import weights
from engines.admission import AdmittedEngine, Limits, Observation, Position
from engines.base import Engine, EngineDown, Traits
from engines.catalogue import catalogue
from engines.doctor import PAGED_MODULES
from engines.llamacpp import launched
from engines.openai_http import Flavour, OpenAIEngine, Server, weighs
from engines.quoting import QuotingEngine
from engines.switching import SwitchingEngine

log = logging.getLogger("studyhall")

START_DEADLINE_S: Final = 120.0  # for the embedded model to load its weights
PAGED_DEADLINE_S: Final = 600.0  # a GGUF file is unpacked once, which takes minutes
SERVER_PAUSE_S: Final = 30.0  # the longest between two tries to reach a server; asking costs nothing

OnEngine = Callable[[Traits, str], None]
Observe = Callable[[Observation], None]
OnAdmission = Callable[[AdmittedEngine], None]


def model_file(settings: Settings) -> Path | None:
    """The weights that the embedded engine would use: the operator's own, or those in the cache."""
    return weights.locate(catalogue().embedded_models(), weights.default_folder(), settings.model_path)


def built_engine(
    settings: Settings,
    *,
    on_change: OnEngine | None = None,
    on_position: Position | None = None,
    observe: Observe | None = None,
    on_admission: OnAdmission | None = None,
) -> Engine:
    """The engine of the settings. `observe` sees every question that is over, `on_admission` gets each queue as it is made."""

    def admitted(engine: Engine, running: int) -> Engine:
        made = AdmittedEngine(engine, Limits(running=running), observe=observe, on_position=on_position)
        if on_admission is not None:
            on_admission(made)
        return made

    async def embedded(path: Path) -> Engine:
        engine = await launched(path, weights.default_folder().parent, deadline_s=START_DEADLINE_S)
        return admitted(engine, engine.settings.slots)

    async def paged(path: Path) -> Engine:
        from engines.paged import PagedEngine
        from engines.paged_batcher import Settings as Batching

        card = catalogue().card_of_file(path)
        batching = Batching(
            running=settings.server_running,
            context_tokens=settings.server_context,
            thinking=card is not None and card.thinking,
        )
        engine = PagedEngine(path, settings=batching)
        try:
            await engine.start(PAGED_DEADLINE_S)
        except BaseException:
            await engine.aclose()
            raise
        return admitted(engine, settings.server_running)

    async def served(address: str) -> Engine:
        engine = OpenAIEngine(server_of(settings), traits=served_traits(settings))
        health = await engine.health()
        if not health.ok:
            await engine.aclose()
            raise EngineDown("server", health.detail, f"Start the model server at {address}, or correct server_url", retryable=True)
        return admitted(engine, settings.server_running)

    match settings.engine:
        case "quoting":
            return QuotingEngine()
        case "server":
            if not settings.server_model:
                raise SettingsError("settings: server_model is empty. Name the model that the server at server_url serves.")
            address = settings.server_url
            for line in doubts(settings):
                log.warning("%s", line)
            return SwitchingEngine(QuotingEngine(), served, lambda: address, on_change=on_change, longest_pause_s=SERVER_PAUSE_S)
        case "paged":
            source = paged_source(settings)
            # a GPU computes a new guide in a fraction of a second: nobody needs a quote meanwhile
            return SwitchingEngine(QuotingEngine(), paged, lambda: source, on_change=on_change, quote_when_cold=False)
        case "llamacpp" if model_file(settings) is None:
            raise SettingsError("settings: engine is llamacpp, but there are no weights. Get them with: studyhall model fetch")
        case _:
            return SwitchingEngine(QuotingEngine(), embedded, lambda: model_file(settings), on_change=on_change)


def paged_source(settings: Settings) -> Path:
    """The model folder or GGUF file for the engine `paged`. Raises SettingsError, also where its libraries are not installed."""
    missing = [name for name in PAGED_MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise SettingsError(f"settings: engine is paged, but {missing[0]} is not installed. Install it with: pip install 'studyhall[gpu]'")
    if settings.model_path is None:
        raise SettingsError("settings: engine is paged, but model_path is empty. Name a folder that transformers can load, or a GGUF file.")
    source = settings.model_path.expanduser()
    if not source.exists():
        raise SettingsError(f"settings: model_path: {source} does not exist. Name a model folder, or a GGUF file.")
    return source


def server_of(settings: Settings) -> Server:
    """The server of the settings; a thinking model is told not to think, where the catalogue knows it."""
    flavour = Flavour(settings.server_flavour)
    card = catalogue().named(settings.server_model)
    thinking = card is not None and card.thinking
    return Server(settings.server_url, settings.server_model, flavour, thinking=thinking, grammar=settings.server_grammar)


def served_traits(settings: Settings) -> Traits:
    """What the model on the server can do, as far as the catalogue knows it; an unknown one may write any language and is not probed."""
    room = settings.server_context
    traits = Traits("server", settings.server_model, context_tokens=room, max_tokens=settings.server_tokens, whole_guide=True)
    card = catalogue().named(settings.server_model)
    if card is None:
        return traits
    return replace(
        traits, languages=card.languages, answerable_from=card.answerable_from if weighs(Flavour(settings.server_flavour)) else {}
    )


def doubts(settings: Settings) -> list[str]:
    """What an operator of the engine `server` should know of its model; said once, at the start."""
    card = catalogue().named(settings.server_model)
    if card is None:
        return [
            f"server_model {settings.server_model!r} is not in the catalogue: answers are shown in every language, and a thinking model is "
            "not told not to think. Name it as its hub repository, or add it to engines/models.yaml."
        ]
    if card.thinking and Flavour(settings.server_flavour) is Flavour.GENERIC:
        return [f"{card.id} thinks before it writes, and server_flavour generic has no way to turn that off. Set the server's own flavour."]
    return []
