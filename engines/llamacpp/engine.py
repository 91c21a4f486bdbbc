"""llama.cpp's server beside the bot, as an engine: a few slots, and guide prefixes that are computed once and kept on disk.

On two CPU cores a guide of 1,200 tokens costs over half a minute before the first word, and a slot that has its state
restored costs about a second. So `warm` computes the state of a guide once, in the background, and `stream` restores it into
whatever slot is free. Slots share nothing by themselves. This module chooses slots; it does not queue fairly and does not
shed, that is for whatever stands in front.

Memory: about 1.1 GB of weights, mapped, plus 28 KB per token of context on a 1.5B model (16,384: 470 MB), plus buffers.
Errors: those of `engines.base`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import sys
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import aiohttp

from engines.base import DeadlineExceeded, EngineDown, EngineError, Finish, Health, Prompt, Traits
from engines.catalogue import catalogue
from engines.llamacpp import child
from engines.llamacpp.prefixes import Fit, PrefixStore
from engines.openai_http import Constraint, Flavour, OpenAIEngine, Sampling, Server
from engines.sidecar import Patience, Program, Sidecar, State, Status, http_probe

log = logging.getLogger(__name__)

NAME: Final = "llamacpp"
SLOT_LIMIT_S: Final = 30.0  # saving and restoring take milliseconds, but wait for a step of the other slots
QUIET_LIMIT_S: Final = 15.0  # how long a computation waits for a moment when nobody is being answered, before it begins anyway
COMPUTE_LIMIT_S: Final = 600.0  # a full context on two slow cores, with every other slot busy
PATIENCE: Final = Patience(ready_s=180.0, poll_s=2.0, grace_s=3.0, longest_pause_s=30.0)


def usual_threads() -> int:
    """All cores this process may use, at least 1, at most 8: on small models more threads wait for each other."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(8, cores))


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server is set up. The defaults were measured on two cores."""

    slots: int = 4  # replies at once; more gain nothing on two cores
    context_tokens: int = 16_384  # of all slots together: 4,096 each hold a whole guide, a question and a reply
    threads: int = field(default_factory=usual_threads)
    batch_tokens: int = 128  # a step of prefill: as fast as 512, and the other slots get a word in between
    max_tokens: int = 96  # per reply, about ten seconds
    sampling: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        if min(self.slots, self.threads, self.max_tokens) < 1 or self.batch_tokens < 32:
            raise ValueError("slots, threads and max_tokens are at least 1, batch_tokens at least 32")
        if self.context_tokens // self.slots < 512:
            raise ValueError(
                f"{self.context_tokens} tokens for {self.slots} slots leave under 512 each. Raise context_tokens or lower slots"
            )


@dataclass(slots=True)
class _Slot:
    number: int
    prefix: str | None = None  # whose state it holds, if it is one of ours
    used: int = 0  # when it was taken last, as a running number


class LlamaCppEngine:
    """`start` is explicit or happens at the first question. `on_change` gets each new state of the server process.

    `model_path` is any GGUF file with a chat template; `cache_dir` holds the computed prefixes.
    """

    def __init__(
        self,
        model_path: Path,
        cache_dir: Path,
        *,
        settings: Settings | None = None,
        patience: Patience = PATIENCE,
        on_change: Callable[[Status], None] | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.model_path = model_path
        card = catalogue().card_of_file(model_path)
        per_slot = self.settings.context_tokens // self.settings.slots
        self.traits = Traits(
            name=NAME,
            model=card.id if card else model_path.stem,
            context_tokens=per_slot,
            max_tokens=self.settings.max_tokens,
            languages=card.languages if card else None,
            whole_guide=True,
            answerable_from=card.answerable_from if card else {},
        )
        try:
            pinned = card.gguf.sha256 if card and card.gguf and card.gguf.size == model_path.stat().st_size else None
            fit = Fit.of(model_path, pinned, slots=self.settings.slots, context_tokens=self.settings.context_tokens)
            self.prefixes = PrefixStore(cache_dir / "prefixes", fit)
        except OSError as error:
            raise EngineDown(
                NAME, f"{error.filename} cannot be used ({error.strerror})", "Check the model path and the cache folder"
            ) from error
        self._key = secrets.token_urlsafe(32)
        self._address: str | None = None
        self._client: OpenAIEngine | None = None
        self._closing: set[asyncio.Future[None]] = set()  # clients of processes that are gone
        self._http: aiohttp.ClientSession | None = None
        self._slots = [_Slot(number) for number in range(self.settings.slots)]
        self._free = list(self._slots)
        self._turn = asyncio.Semaphore(self.settings.slots)  # first come, first served
        self._taken = 0
        self._quiet = asyncio.Event()  # no slot is taken
        self._quiet.set()
        self._computing: dict[str, asyncio.Task[None]] = {}
        self._one_prefix = asyncio.Lock()  # two guides at once would each take twice as long, and two slots
        self._on_change = on_change
        self._closed = False
        self.sidecar = Sidecar(self._program(), patience, on_line=self._heard, on_change=self._changed)

    async def start(self, deadline_s: float, *, through_restarts: bool = True) -> None:
        """Start the server and wait until it answers. Raises EngineDown; the attempts go on in the background even then."""
        self._begin()
        await self.sidecar.healthy(deadline_s, through_restarts=through_restarts)

    @property
    def status(self) -> Status:
        return self.sidecar.status

    def is_warm(self, prompt: Prompt) -> bool:
        """Would a question with this prompt get its first word in about a second?"""
        key = self.prefixes.key(prompt)
        return key is None or self.prefixes.has(key) or any(slot.prefix == key for slot in self._free)

    def slots_with(self, prompt: Prompt) -> frozenset[int]:
        """The numbers of the slots that hold this prompt's guide by now; none for one too short to be kept."""
        key = self.prefixes.key(prompt)
        return frozenset(slot.number for slot in self._slots if key is not None and slot.prefix == key)

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, deadline_s: float, constraint: Constraint | None = None
    ) -> AsyncGenerator[str | Finish, None]:
        """As the protocol says; a guide whose prefix is not computed yet still works, only slowly."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + deadline_s
        client = await self._ready(deadline_s)
        key = self.prefixes.key(prompt)
        slot = await self._slot(key, ends_at, deadline_s)
        try:
            await self._bring(slot, key)
            replies = client.stream(
                prompt,
                max_tokens=max_tokens,
                deadline_s=max(0.001, ends_at - loop.time()),
                constraint=constraint,
                extra={"id_slot": slot.number, "cache_prompt": True},
            )
            try:
                async for piece in replies:
                    slot.prefix = key  # computed by now, if it was not restored
                    yield piece
            finally:
                await replies.aclose()
        finally:
            self._give_back(slot)

    async def warm(self, prompt: Prompt) -> None:
        """Compute and store the prefix of this guide, unless that is done or under way; returns when it is there, or failed.

        Cancelling the caller leaves the computation running: somebody else will want it.
        """
        key = self.prefixes.key(prompt)
        if key is None or self._closed or self.prefixes.has(key):
            return
        task = self._computing.get(key)
        if task is None:
            task = asyncio.create_task(self._compute(prompt, key), name=f"prefix {key[:8]}")
            self._computing[key] = task
            task.add_done_callback(lambda _: self._computing.pop(key, None))
        await asyncio.shield(task)

    async def health(self) -> Health:
        status = self.sidecar.status
        detail = str(status)
        if self._computing:
            detail += f"; computing {len(self._computing)} guide prefix(es)"
        return Health(status.state is State.HEALTHY, detail)

    async def aclose(self) -> None:
        self._closed = True
        for task in list(self._computing.values()):
            task.cancel()
        await self.sidecar.stop()
        if self._client is not None:
            await self._client.aclose()
        await asyncio.gather(*self._closing)
        if self._http is not None:
            await self._http.close()

    # --- the process ---

    def _program(self) -> Program:
        settings = self.settings
        command = (sys.executable, "-P", child.__file__, str(self.model_path), "--slots", str(settings.slots))
        command += ("--context", str(settings.context_tokens), "--threads", str(settings.threads))
        command += ("--batch", str(settings.batch_tokens), "--store", str(self.prefixes.folder))
        return Program(NAME, command, self._probe, env={child.KEY_VARIABLE: self._key})

    def _begin(self) -> None:
        if self._closed:
            raise EngineDown(NAME, "it was closed", "Make a new one")
        self.sidecar.start()

    async def _probe(self) -> str:
        if self._address is None:
            return "loading the model"
        return await http_probe(self._address + "/health")()

    def _heard(self, line: str) -> None:
        if not line.startswith('{"listening"'):
            log.debug("%s: %s", NAME, line)
            return
        self._address = str(json.loads(line)["listening"])
        server = Server(self._address + "/v1", self.traits.model or NAME, Flavour.LLAMACPP, self._key, sampling=self.settings.sampling)
        if self._client is not None:  # of the process before this one; replies that it still reads break off, as that process did
            closing = asyncio.ensure_future(self._client.aclose())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        self._client = OpenAIEngine(server, traits=self.traits)

    def _changed(self, status: Status) -> None:
        if status.state in (State.RESTARTING, State.STOPPED):
            self._address = None  # the next process has another port and empty slots
            for slot in self._slots:
                slot.prefix = None
        if self._on_change is not None:
            self._on_change(status)

    async def _ready(self, deadline_s: float) -> OpenAIEngine:
        if self.sidecar.status.state is State.STOPPED:
            self._begin()
        if self.sidecar.status.state is State.UNHEALTHY:
            raise EngineDown(NAME, f"the model server is {self.sidecar.status}", "It comes back by itself", retryable=True)
        # Not through a restart: somebody else can answer now, and waiting for a crashed server helps no learner.
        await self.sidecar.healthy(deadline_s, through_restarts=False)
        if self._client is None:
            raise EngineDown(NAME, "the model server has not said where it listens", "Look at its log", retryable=True)
        return self._client

    # --- slots and prefixes ---

    async def _slot(self, key: str | None, ends_at: float, deadline_s: float) -> _Slot:
        try:
            async with asyncio.timeout_at(ends_at):
                await self._turn.acquire()
        except TimeoutError:
            problem = f"no slot was free within {deadline_s:.1f} s"
            raise DeadlineExceeded(NAME, problem, "Ask again when fewer people ask", retryable=True) from None
        # The one that holds this guide, else an empty one, else the one unused for longest.
        slot = min(self._free, key=lambda slot: (slot.prefix != key, slot.prefix is not None, slot.used))
        self._free.remove(slot)
        self._quiet.clear()
        self._taken += 1
        slot.used = self._taken
        return slot

    def _give_back(self, slot: _Slot) -> None:
        self._free.append(slot)
        if len(self._free) == len(self._slots):
            self._quiet.set()
        self._turn.release()

    async def _bring(self, slot: _Slot, key: str | None) -> None:
        """Restore the prefix into the slot, if it is stored; a failure only makes the answer slow."""
        if key is None:
            slot.prefix = None  # this question will push out whatever is there
        elif slot.prefix != key:
            slot.prefix = None
            if self.prefixes.has(key):
                try:
                    await self._act(slot, "restore", self.prefixes.file(key))
                except EngineError as error:
                    log.warning("%s: a stored prefix was refused and removed: %s", NAME, error.problem)
                    self.prefixes.drop(key)
                else:
                    slot.prefix = key
                    self.prefixes.used(key)

    async def _compute(self, prompt: Prompt, key: str) -> None:
        try:
            async with self._one_prefix:
                loop = asyncio.get_running_loop()
                client = await self._ready(COMPUTE_LIMIT_S)
                # Each step of a prefill holds up every reply that is being written by about a second.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(QUIET_LIMIT_S):
                        await self._quiet.wait()
                slot = await self._slot(key, loop.time() + COMPUTE_LIMIT_S, COMPUTE_LIMIT_S)
                try:
                    slot.prefix = None
                    stable = Prompt(prompt.messages[: prompt.stable], "", (), prompt.language, prompt.stable)
                    extra = {"id_slot": slot.number, "cache_prompt": True}
                    async for _ in client.stream(stable, max_tokens=1, deadline_s=COMPUTE_LIMIT_S, extra=extra):
                        pass
                    await self._act(slot, "save", self.prefixes.scratch(key))
                    self.prefixes.keep(key)
                    slot.prefix = key
                finally:
                    self._give_back(slot)
        except (EngineError, OSError) as error:
            log.warning("%s: a guide prefix could not be computed: %s", NAME, error)

    async def _act(self, slot: _Slot, action: str, filename: str) -> None:
        """Save or restore one slot. Raises EngineError."""
        if self._http is None:
            self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SLOT_LIMIT_S))
        url = f"{self._address}/slots/{slot.number}"
        headers = {"Authorization": f"Bearer {self._key}"}
        try:
            async with self._http.post(url, params={"action": action}, json={"filename": filename}, headers=headers) as response:
                said = cast(dict[str, Any], await response.json(content_type=None))
                if response.status != 200:
                    raise EngineError(NAME, f"slot {action} answers {response.status}: {str(said)[:200]}", "Look at the model server's log")
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise EngineDown(NAME, f"slot {action} failed ({type(error).__name__})", "Ask again", retryable=True) from error


async def launched(
    model_path: Path,
    cache_dir: Path,
    *,
    settings: Settings | None = None,
    deadline_s: float = 180.0,
    on_change: Callable[[Status], None] | None = None,
) -> LlamaCppEngine:
    """An engine that answers. Raises EngineDown at the first failed attempt, and leaves no process behind then."""
    engine = LlamaCppEngine(model_path, cache_dir, settings=settings, on_change=on_change)
    try:
        await engine.start(deadline_s, through_restarts=False)
    except BaseException:
        await engine.aclose()
        raise
    return engine
