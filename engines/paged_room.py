"""Room in a paged cache, counted ahead: a reply begins when the blocks of its longest form are free, and not before.

Replies on one guide share its pages, so those are counted once; and until the first of them has computed the guide the others wait,
because they would compute it again. Turns go in the order of arrival. It counts, it holds no pages itself.

Errors: `EngineDown` for whoever waits when it is closed.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from engines.base import EngineDown

KNOWN_GUIDES: Final = 256  # remembered as computed; forgetting one only costs its next reply going ahead of the others


@dataclass(slots=True, eq=False)
class Place:
    """What one reply holds. `blocks` are its own, on top of what it shares."""

    guide: bytes
    tokens: list[int]
    needed: int  # blocks of its longest form, shared ones included
    blocks: int = 0
    first: bool = False  # of its guide: the others wait for it
    given: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class _Guide:
    """The replies under way on one guide."""

    tokens: list[int]  # of one of them; what another has in common with it is shared
    replies: int = 1
    shared: int = 0  # blocks that several of them hold
    charged: int = 0  # of these, those that no reply counts as its own any more


class Room:
    """`blocks` of `block_tokens` tokens each, for at most `running` replies at once."""

    def __init__(self, blocks: int, block_tokens: int, running: int) -> None:
        self.blocks = blocks
        self.running = 0
        self.reserved = 0  # blocks
        self.closed = False
        self._block_tokens = block_tokens
        self._most = running
        self._queue: deque[Place] = deque()
        self._guides: dict[bytes, _Guide] = {}
        self._computed: OrderedDict[bytes, None] = OrderedDict()  # whose pages are in the cache, the newest last
        self._computing: dict[bytes, asyncio.Event] = {}
        self._following = 0

    @property
    def waiting(self) -> int:
        return len(self._queue) + self._following

    def needed(self, tokens: int) -> int:
        """Blocks for so many tokens, and the one that the library takes ahead when the last is just full."""
        return tokens // self._block_tokens + 1

    def has(self, guide: bytes) -> bool:
        """Was this guide computed? Its pages may have been given up since for want of room."""
        return guide in self._computed

    @asynccontextmanager
    async def place(self, guide: bytes, tokens: list[int], needed: int) -> AsyncGenerator[Place]:
        """Room for a reply, waited for. Call `computed` with it when its first token is there."""
        place = Place(guide, tokens, needed)
        await self._follow(place)
        try:
            await self._enter(place)
            try:
                yield place
            finally:
                self._leave(place)
        finally:
            if place.first:  # it ended without a single token
                self._computing.pop(guide).set()

    def computed(self, place: Place) -> None:
        """The pages of this reply's guide are in the cache."""
        if place.first:
            place.first = False
            self._computed[place.guide] = None
            if len(self._computed) > KNOWN_GUIDES:
                self._computed.popitem(last=False)
            self._computing.pop(place.guide).set()

    def forget(self) -> None:
        """The cache is empty: nothing is computed any more."""
        self._computed.clear()

    def close(self) -> None:
        """Send all who wait away."""
        self.closed = True
        for place in self._queue:
            place.given.set()
        self._queue.clear()
        for event in self._computing.values():
            event.set()

    async def _follow(self, place: Place) -> None:
        self._following += 1
        try:
            while place.guide not in self._computed and (event := self._computing.get(place.guide)) and not self.closed:
                await event.wait()
        finally:
            self._following -= 1
        if place.guide in self._computed:
            self._computed.move_to_end(place.guide)
        elif not self.closed:
            place.first = True
            self._computing[place.guide] = asyncio.Event()

    async def _enter(self, place: Place) -> None:
        if not self._queue and self._fits(place):
            self._take(place)
        elif not self.closed:
            self._queue.append(place)
            try:
                await place.given.wait()
            except BaseException:
                if place in self._queue:
                    self._queue.remove(place)
                    self._serve()  # those behind it may be smaller
                elif not self.closed:
                    self._leave(place)  # it was given in the moment it left
                raise
        if self.closed:
            raise EngineDown("paged", "it was closed", "Start it again")

    def _serve(self) -> None:
        while self._queue and self._fits(self._queue[0]):
            place = self._queue.popleft()
            self._take(place)
            place.given.set()

    def _shared(self, place: Place) -> int:
        guide = self._guides.get(place.guide)
        if guide is None:
            return 0
        common = 0
        for mine, other in zip(place.tokens, guide.tokens, strict=False):
            if mine != other:
                break
            common += 1
        return common // self._block_tokens

    def _fits(self, place: Place) -> bool:
        if self.closed or self.running >= self._most:
            return False
        return self.running == 0 or self.reserved + place.needed - self._shared(place) <= self.blocks

    def _take(self, place: Place) -> None:
        shared = self._shared(place)
        place.blocks = place.needed - shared
        self.reserved += place.blocks
        self.running += 1
        if guide := self._guides.get(place.guide):
            guide.replies += 1
            guide.shared = max(guide.shared, shared)
        else:
            self._guides[place.guide] = _Guide(place.tokens)

    def _leave(self, place: Place) -> None:
        self.running -= 1
        self.reserved -= place.blocks
        guide = self._guides[place.guide]
        guide.replies -= 1
        if guide.replies == 0:
            self.reserved -= guide.charged
            del self._guides[place.guide]
        elif place.tokens is guide.tokens:  # it counted what the others share as its own: now the guide does
            guide.charged = guide.shared
            self.reserved += guide.charged
        self._serve()
