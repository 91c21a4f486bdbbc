"""A stand-in for the batcher of the `paged` engine: it says what it is told to, and needs no PyTorch.

One token is one piece. What it is asked and what is cancelled stands in its fields. It shows nothing about a model, a cache or speed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engines.base import Message
from engines.paged_batcher import Progress

END = -1  # the token that ends a reply


@dataclass
class Asked:
    request_id: str
    tokens: list[int]
    max_tokens: int
    seen: Callable[[Progress], None]


@dataclass
class Double:
    pieces: Sequence[str] = ("An engine ", "fits one GPU. ", "[S1]")
    blocks: int = 1_000
    ends: frozenset[int] = frozenset({END})
    by_hand: bool = False  # the test says what happens, with `give`
    hang_after: int | None = None  # tokens, then nothing more comes
    die_after: int | None = None  # tokens, then the thread is dead
    trouble: str = ""
    revivals: int = 0
    closed: bool = False
    asked: list[Asked] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def encode(self, messages: Sequence[Message], stable: int = 0) -> list[int]:
        return [ord(letter) for letter in "".join(f"{message.role}:{message.text}\n" for message in messages)[::4]]

    def decoder(self) -> Callable[[int], str | None]:
        return lambda token: None if token == END else self.pieces[token]

    def add(self, request_id: str, tokens: list[int], max_tokens: int, seen: Callable[[Progress], None]) -> None:
        self.asked.append(Asked(request_id, tokens, max_tokens, seen))
        if not self.by_hand:
            task = asyncio.create_task(self._say(self.asked[-1]))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _say(self, asked: Asked) -> None:
        said: list[int] = []
        for token in [*range(len(self.pieces)), END]:
            if self.die_after == len(said):
                self.trouble = "the batching thread died: of the test"
                asked.seen(Progress(said, True, "the device is gone"))
                return
            if self.hang_after == len(said) or asked.request_id in self.cancelled:
                return
            said = [*said, token]
            finished = token == END or len(said) == asked.max_tokens
            asked.seen(Progress(said, finished, cached_tokens=0))
            if finished:
                return
            await asyncio.sleep(0)

    def give(self, number: int, *tokens: int, finished: bool = False) -> None:
        """Let the reply of the `number`th request be these tokens so far."""
        self.asked[number].seen(Progress(tokens, finished))

    def cancel(self, request_id: str) -> None:
        self.cancelled.append(request_id)
        self.left.set()

    def free_blocks(self) -> int:
        return self.blocks

    def problem(self) -> str:
        return self.trouble

    def revive(self) -> None:
        self.revivals += 1
        self.trouble = ""

    def close(self) -> None:
        self.closed = True
