"""Answers from one engine until a better one is ready, then from that, and from the first again whenever the better one fails.

For a bot that must answer from its first second: the guide is quoted while weights are still being fetched and the model
loads, or while its server is away. It looks for the weights itself, so they may appear while it runs, and asks the better engine how it
is, so that whoever looks sees who answers. A request is never answered half by one engine and half by the other: the switch back
happens only before the first piece.

Errors: those of the engine that answers.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar, runtime_checkable

from engines.base import Engine, EngineBusy, EngineDown, EngineError, Finish, Health, Message, Prompt, Traits

log = logging.getLogger(__name__)

POLL_S: Final = 2.0  # between two looks for the weights: soon enough for someone who waits, nothing for the disk
FIRST_PAUSE_S: Final = 10.0  # after the better engine could not be started; doubles up to LONGEST_PAUSE_S
LONGEST_PAUSE_S: Final = 300.0
HEALTH_S: Final = 5.0  # between two looks at the better engine: a learner's question finds out sooner
ILL_AFTER: Final = 2  # looks in a row that fail; one alone may be a server that is only busy
REMEMBERED: Final = 8  # guides to warm once the model is there; each may take a minute

OnChange = Callable[[Traits, str], None]
"""Called with the traits of the engine that answers from now on, and why, in one line for the operator."""


@runtime_checkable
class KnowsWarmth(Protocol):
    """An engine that can say whether a prompt would be answered promptly."""

    def is_warm(self, prompt: Prompt) -> bool: ...


SourceT = TypeVar("SourceT", Path, str)


class SwitchingEngine(Generic[SourceT]):
    """`available` says where the weights are (or the address of a server), or None; `then_factory` makes a running engine of it, or
    raises EngineError.

    With `quote_when_cold`, a guide whose prefix the better engine has yet to compute is answered by the first one meanwhile.
    """

    def __init__(
        self,
        first: Engine,
        then_factory: Callable[[SourceT], Awaitable[Engine]],
        available: Callable[[], SourceT | None],
        *,
        on_change: OnChange | None = None,
        quote_when_cold: bool = True,
        poll_s: float = POLL_S,
        longest_pause_s: float = LONGEST_PAUSE_S,
    ) -> None:
        self.first = first
        self.then: Engine | None = None
        self._factory = then_factory
        self._available = available
        self._on_change = on_change
        self._quote_when_cold = quote_when_cold
        self._poll_s = poll_s
        self._longest_pause_s = longest_pause_s
        self._well = True  # what the better engine last said of itself
        self._reason = "waits for the weights"
        self._watch: asyncio.Task[None] | None = None
        self._warming: set[asyncio.Task[None]] = set()
        self._asked: OrderedDict[tuple[Message, ...], Prompt] = OrderedDict()
        self._switched = asyncio.Event()
        self._closed = False

    @property
    def traits(self) -> Traits:
        return (self.then if self.then is not None and self._well else self.first).traits

    def start(self) -> None:
        """Begin to look for the weights; happens by itself at the first question."""
        if self._watch is None and not self._closed:
            self._watch = asyncio.create_task(self._wait_and_switch(), name="switching")

    async def switched(self, deadline_s: float) -> bool:
        """Wait until the better engine answers; False when it does not within `deadline_s`."""
        self.start()
        try:
            async with asyncio.timeout(deadline_s):
                await self._switched.wait()
        except TimeoutError:
            return False
        return True

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        self.start()
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + deadline_s
        engine = self._engine_for(prompt)
        started = False
        if engine is not self.first:
            replies = engine.stream(prompt, max_tokens=max_tokens, deadline_s=deadline_s)
            try:
                async for piece in replies:
                    started = True
                    yield piece
                return
            except (EngineDown, EngineBusy) as error:
                if started:
                    raise
                log.info("answered by %s, because %s", self.first.traits.name, error)
            finally:
                await replies.aclose()
        replies = self.first.stream(prompt, max_tokens=max_tokens, deadline_s=max(0.001, ends_at - loop.time()))
        try:
            async for piece in replies:
                yield piece
        finally:
            await replies.aclose()

    def _engine_for(self, prompt: Prompt) -> Engine:
        engine = self.then
        if engine is None or not self._well:
            self._remember(prompt)
            return self.first
        if self._quote_when_cold and isinstance(engine, KnowsWarmth) and not engine.is_warm(prompt):
            self._warm_later(engine, prompt)
            return self.first
        return engine

    async def warm(self, prompt: Prompt) -> None:
        self.start()
        if self.then is None:
            self._remember(prompt)
        else:
            await self.then.warm(prompt)

    async def health(self) -> Health:
        if self.then is None:
            return Health(True, f"{self.first.traits.name} answers; {self._reason}")
        health = await self.then.health()
        return health if health.ok else Health(True, f"{self.first.traits.name} answers; {self.then.traits.name}: {health.detail}")

    async def aclose(self) -> None:
        self._closed = True
        tasks = [task for task in (self._watch, *self._warming) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self.then is not None:
            await self.then.aclose()
        await self.first.aclose()

    def _remember(self, prompt: Prompt) -> None:
        stable = prompt.messages[: prompt.stable]
        if stable:
            self._asked[stable] = prompt
            self._asked.move_to_end(stable)
            while len(self._asked) > REMEMBERED:
                self._asked.popitem(last=False)

    def _warm_later(self, engine: Engine, prompt: Prompt) -> None:
        task = asyncio.create_task(engine.warm(prompt))
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def _wait_and_switch(self) -> None:
        pause = FIRST_PAUSE_S
        while True:
            path = await asyncio.to_thread(self._find)
            if path is None:
                await asyncio.sleep(self._poll_s)
                continue
            self._say(f"starts a model from {path.name}" if isinstance(path, Path) else f"asks for {path}")
            try:
                engine = await self._factory(path)
            except EngineError as error:
                self._say(f"{error} Next attempt in {pause:.0f} s")
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._longest_pause_s)
                continue
            self.then = engine
            self._switched.set()
            self._answers(engine)
            await self._look_after(engine)

    def _answers(self, engine: Engine) -> None:
        self._say(f"{engine.traits.model} answers from now on")
        for prompt in reversed(self._asked.values()):
            self._warm_later(engine, prompt)
        self._asked.clear()

    async def _look_after(self, engine: Engine) -> None:
        """Ask it for ever how it is, and say so when that changes."""
        failed = 0
        while True:
            await asyncio.sleep(HEALTH_S)
            health = await engine.health()
            failed = 0 if health.ok else failed + 1
            if health.ok and not self._well:
                self._well = True
                self._answers(engine)
            elif self._well and failed >= ILL_AFTER:
                self._well = False
                self._say(health.detail)

    def _find(self) -> SourceT | None:
        try:
            return self._available()
        except EngineError as error:
            self._reason = str(error)  # a wrong path in the settings: it may be corrected while we run
            return None

    def _say(self, reason: str) -> None:
        self._reason = reason
        log.info("engine: %s", reason)
        if self._on_change is not None:
            self._on_change(self.traits, reason)
