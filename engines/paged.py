"""A model in this process, batched over a paged cache: transformers' continuous batching, for any GPU, without a server.

Replies of all learners go through the model together, one step at a time. What their prompts share is computed once: the first
question on a guide goes ahead, and those that came meanwhile follow when its pages are there. A reply begins only when the pages
of its longest form are free, so that none is ever thrown out half written. Replies take their turn in the order they came;
fairness between learners is for `AdmittedEngine` in front.

A crash in native code here takes the bot with it, and the bot's own Python shares a lock with the batching thread: docs/serving.md
says when a server is the better choice. This module does not touch PyTorch; `engines.paged_batcher` does.

Errors: those of `engines.base`.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

from engines.base import DeadlineExceeded, EngineBusy, EngineDown, EngineError, Finish, Health, Message, Prompt, PromptTooLong, Traits
from engines.catalogue import catalogue
from engines.paged_batcher import NAME, Batcher, Progress, Settings
from engines.paged_room import Room

log = logging.getLogger(__name__)

WARM_LIMIT_S: Final = 60.0
REVIVE_PAUSE_S: Final = 30.0  # a thread that died of the GPU's state will die again; not at every question


class Batching(Protocol):
    """What this engine needs of a batcher; `engines.paged_batcher.Batcher` is the real one. `add` calls back on the event loop."""

    @property
    def blocks(self) -> int: ...
    @property
    def ends(self) -> frozenset[int]: ...
    def encode(self, messages: Sequence[Message], stable: int = 0) -> list[int]: ...
    def decoder(self) -> Callable[[int], str | None]: ...
    def add(self, request_id: str, tokens: list[int], max_tokens: int, seen: Callable[[Progress], None]) -> None: ...
    def cancel(self, request_id: str) -> None: ...
    def free_blocks(self) -> int: ...
    def problem(self) -> str: ...
    def revive(self) -> None: ...
    def close(self) -> None: ...


class PagedEngine:
    """`source` is a folder of weights or a GGUF file; loading begins with `start` or at the first question.

    `make` gives the batcher, in a thread; tests put a scripted one there.
    """

    def __init__(self, source: Path, *, settings: Settings | None = None, make: Callable[[Path, Settings], Batching] | None = None) -> None:
        self.source = source
        self.settings = settings or Settings()
        card = catalogue().card_of_file(source)
        self.traits = Traits(
            name=NAME,
            model=card.id if card else source.stem,
            context_tokens=self.settings.context_tokens,
            max_tokens=self.settings.max_tokens,
            languages=card.languages if card else None,
            whole_guide=True,
        )
        self._make = make or Batcher
        self._starting: asyncio.Task[Batching] | None = None
        self._room: Room | None = None
        self._numbers = itertools.count()
        self._revived_at: float | None = None
        self._closed = False

    async def start(self, deadline_s: float) -> None:
        """Load the weights and record the graphs: about half a minute. Raises EngineDown, or DeadlineExceeded; loading goes on."""
        await self._ready(asyncio.get_running_loop().time() + deadline_s, deadline_s)

    def is_warm(self, prompt: Prompt) -> bool:
        """Is the part that all learners of this guide share in the cache?"""
        return self._room is not None and self._room.has(_guide(prompt))

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        """As the protocol says. Under load several tokens may come as one piece."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + deadline_s
        max_tokens = max(1, max_tokens)
        batcher, room = await self._ready(ends_at, deadline_s)
        tokens = await asyncio.to_thread(batcher.encode, prompt.messages, prompt.stable)
        needed = self._possible(room, len(tokens) + max_tokens)
        turn = room.place(_guide(prompt), tokens, needed)
        try:
            # A timeout never spans a yield: it would interrupt whoever reads this stream.
            async with asyncio.timeout_at(ends_at):
                place = await turn.__aenter__()
        except TimeoutError as error:
            raise DeadlineExceeded(NAME, f"no room within {deadline_s:.1f} s", "Ask when fewer people ask", retryable=True) from error
        reply = _Reply(f"reply-{next(self._numbers)}", batcher, deadline_s)
        timer = loop.call_at(ends_at, reply.late)
        try:
            batcher.add(reply.id, tokens, max_tokens, reply.seen)
            while not reply.ended:
                text = await reply.more()
                room.computed(place)
                if text:
                    yield text
            yield reply.finish(len(tokens))
        finally:
            timer.cancel()
            if not reply.ended:
                batcher.cancel(reply.id)
            await turn.__aexit__(None, None, None)

    async def warm(self, prompt: Prompt) -> None:
        """Compute the stable part, for one token: its pages stay in the cache until the room is needed."""
        stable = Prompt(prompt.messages[: prompt.stable], prompt.question, (), prompt.language, prompt.stable)
        if not stable.messages or self.is_warm(prompt):
            return
        try:
            async for _ in self.stream(stable, max_tokens=1, deadline_s=WARM_LIMIT_S):
                pass
        except EngineError as error:
            log.debug("paged: warming failed: %s", error)  # a hint: the next question will say what is wrong

    async def health(self) -> Health:
        if self._closed:
            return Health(False, "closed")
        if self._starting is None:
            return Health(False, "not started")
        if not self._starting.done() or self._room is None:
            return Health(False, "loading the weights")
        if error := self._starting.exception():
            return Health(False, str(error))
        batcher = self._starting.result()
        if problem := batcher.problem():
            return Health(False, problem)
        room = self._room
        return Health(
            True,
            f"{self.traits.model}: {room.running} running, {room.waiting} waiting, {batcher.free_blocks()} of {batcher.blocks} blocks free",
        )

    async def aclose(self) -> None:
        self._closed = True
        if self._room is not None:
            self._room.close()
        starting, self._starting = self._starting, None
        if starting is not None:
            [made] = await asyncio.gather(starting, return_exceptions=True)
            if not isinstance(made, BaseException):
                await asyncio.to_thread(made.close)

    async def _ready(self, ends_at: float, deadline_s: float) -> tuple[Batching, Room]:
        if self._closed:
            raise EngineDown(NAME, "it was closed", "Start it again")
        if self._starting is None or (self._starting.done() and self._starting.exception()):
            self._starting = asyncio.create_task(asyncio.to_thread(self._make, self.source, self.settings))
        starting = self._starting
        if not starting.done():
            try:
                async with asyncio.timeout_at(ends_at):
                    await asyncio.shield(starting)  # whoever waits may leave; the others want it still
            except TimeoutError as error:
                raise DeadlineExceeded(NAME, f"not loaded within {deadline_s:.1f} s", "Ask again in a minute", retryable=True) from error
        batcher = starting.result()
        if self._room is None:
            self._room = Room(batcher.blocks, self.settings.block_tokens, self.settings.running)
        if problem := batcher.problem():
            await self._revive(batcher, problem)
        return batcher, self._room

    async def _revive(self, batcher: Batching, problem: str) -> None:
        now = asyncio.get_running_loop().time()
        if self._closed or (self._revived_at is not None and now - self._revived_at < REVIVE_PAUSE_S):
            raise EngineDown(NAME, problem, "Ask again in a minute", retryable=True)
        self._revived_at = now
        log.warning("paged: %s; starting it anew", problem)
        if self._room is not None:
            self._room.forget()
        await asyncio.to_thread(batcher.revive)

    def _possible(self, room: Room, tokens: int) -> int:
        """The blocks of so many tokens. Raises PromptTooLong or EngineBusy."""
        if tokens > self.settings.context_tokens:
            problem = f"prompt and reply need {tokens} tokens, {self.settings.context_tokens} fit"
            raise PromptTooLong(NAME, problem, "Send fewer passages")
        needed = room.needed(tokens)
        if needed > room.blocks:
            problem = f"prompt and reply need {tokens} tokens, the whole cache holds {room.blocks * self.settings.block_tokens}"
            raise PromptTooLong(NAME, problem, "Send fewer passages")
        if room.waiting > self.settings.waiting:
            raise EngineBusy(NAME, f"{room.waiting} replies are waiting", "Ask again in a moment", retryable=True)
        return needed


class _Reply:
    """One reply as its tokens come in. `seen` and `late` are called on the event loop, between the steps of whoever reads."""

    def __init__(self, identifier: str, batcher: Batching, deadline_s: float) -> None:
        self.id = identifier
        self.ended = False
        self._deadline_s = deadline_s
        self._decode = batcher.decoder()
        self._ends = batcher.ends
        self._news = asyncio.Event()
        self._progress = Progress((), False)
        self._read = 0
        self._late = False

    def seen(self, progress: Progress) -> None:
        self._progress = progress  # the newest holds all before it: whoever reads slowly gets several tokens at once
        self._news.set()

    def late(self) -> None:
        self._late = True
        self._news.set()

    async def more(self) -> str:
        """The text that the new tokens complete; it may be empty. Raises EngineDown or DeadlineExceeded."""
        await self._news.wait()
        self._news.clear()
        progress = self._progress
        if progress.error is not None:
            self.ended = True
            raise EngineDown(NAME, f"the reply broke off: {' '.join(progress.error.split())[:200]}", "Ask again", retryable=True)
        if self._late and not progress.finished:
            raise DeadlineExceeded(NAME, f"no complete reply within {self._deadline_s:.1f} s", "Ask again", retryable=True)
        fresh = progress.tokens[self._read :]
        self._read += len(fresh)
        self.ended = progress.finished
        return "".join(text for token in fresh if (text := self._decode(token)))

    def finish(self, prompt_tokens: int) -> Finish:
        tokens = self._progress.tokens
        return Finish(
            cut_off=not tokens or tokens[-1] not in self._ends,
            prompt_tokens=prompt_tokens,
            cached_tokens=self._progress.cached_tokens,
            new_tokens=len(tokens),
        )


def _guide(prompt: Prompt) -> bytes:
    """Names the part that all learners of a guide share."""
    digest = hashlib.blake2b(digest_size=16)
    for message in prompt.messages[: prompt.stable]:
        digest.update(f"{message.role}\0{message.text}\0".encode())
    return digest.digest()
