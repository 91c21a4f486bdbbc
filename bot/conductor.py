"""The timers of live rounds: closes and reveals on time, draws what changed, gives time back after a crash.

One task per running round does all its drawing and all its timed steps, so an edit that only counts can never come after
the one that closes. Counts are drawn together, every two seconds at most and not just before a deadline; consoles update
themselves on every step. What goes wrong in a task is logged and tried again: a round does not stop for a failed edit.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import datetime
from typing import Final

import discord

from bot.client import StudyhallClient
from bot.live_desk import CONSOLE_LIFE, LiveDesk
from bot.live_stage import RoundMessages
from bot.views.live_console import console
from tutor.errors import NotFound
from tutor.live import LiveRound, Phase
from tutor.live_service import Control

log = logging.getLogger("studyhall.live")

COUNTS_EVERY_S: Final = 2.0
"""A channel takes 5 messages or edits in 5 s; one edit per press would bring the closing edit a minute late."""
QUIET_S: Final = 1.5  # before a deadline, in which no count is drawn: the closing edit must find the way free
CONSOLES_EVERY_S: Final = 5.0  # between two updates of a console by counts alone
HEARTBEAT_S: Final = 1.0
RETRY_S: Final = 5.0
RETRY_FORBIDDEN_S: Final = 60.0
_UNKNOWN_CHANNEL: Final = 10003


class Conductor:
    """A part of the client; `watch` a round once it is open."""

    def __init__(self, client: StudyhallClient, desk: LiveDesk) -> None:
        self._client = client
        self._desk = desk
        self._rounds: dict[str, _Conducted] = {}
        self._heartbeat: asyncio.Task[None] | None = None
        desk.changed = self.changed
        desk.pressed = self.pressed
        desk.repaired = self.repaired

    async def start(self) -> None:
        """Find the open rounds and go on with them."""
        for round_ in await self._desk.live.resume(now=self._desk.clock.now()):
            log.info("going on with round %s, question %d of %d", round_.id, round_.position + 1, round_.total)
            self.watch(round_.id)
        self._heartbeat = asyncio.create_task(self._beat(), name="live heartbeat")

    async def aclose(self) -> None:
        tasks = [conducted.task for conducted in self._rounds.values()]
        tasks += [self._heartbeat] if self._heartbeat else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._rounds.clear()

    def watch(self, round_id: str, messages: RoundMessages | None = None) -> None:
        """Conduct this round until it has ended. `messages`: where its first ones were sent already."""
        known = self._rounds.get(round_id)
        if known is not None and not known.task.done():
            known.changed()
            return
        conducted = _Conducted(self._client, self._desk, round_id, messages)
        self._rounds[round_id] = conducted
        conducted.task.add_done_callback(lambda _: self._forget(round_id, conducted))

    def changed(self, round_id: str) -> None:
        self.watch(round_id)

    def pressed(self, round_id: str) -> None:
        conducted = self._rounds.get(round_id)
        if conducted is not None:
            conducted.pressed()

    def repaired(self, round_id: str) -> None:
        """Every message of the round may be different now, those of long ago too."""
        conducted = self._rounds.pop(round_id, None)
        if conducted is not None:
            conducted.task.cancel()
        self.watch(round_id, RoundMessages(self._client, self._desk, round_id, all_again=True))

    def _forget(self, round_id: str, conducted: _Conducted) -> None:
        if self._rounds.get(round_id) is conducted:
            del self._rounds[round_id]

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            if self._rounds:
                with suppress(Exception):  # the database says on every press what is wrong with it
                    await self._desk.live.beat(now=self._desk.clock.now())


class _Conducted:
    """One round's task."""

    def __init__(self, client: StudyhallClient, desk: LiveDesk, round_id: str, messages: RoundMessages | None) -> None:
        self._desk = desk
        self._id = round_id
        self._messages = messages or RoundMessages(client, desk, round_id)
        self._wake = asyncio.Event()
        self._changed = True
        self._counts_differ = False
        self._counted_at = 0.0  # of the loop's clock, as all `_at` here
        self._consoles_at = 0.0
        self._console_turn = ""
        self._consoles_stale = False
        self._consoles: asyncio.Task[None] | None = None
        self.task = asyncio.create_task(self._run(), name=f"live round {round_id}")

    def changed(self) -> None:
        self._changed = True
        self._wake.set()

    def pressed(self) -> None:
        now = asyncio.get_running_loop().time()
        if not self._consoles_stale:
            self._consoles_stale = True
            self._consoles_at = max(self._consoles_at, now - CONSOLES_EVERY_S + COUNTS_EVERY_S)
        if not self._counts_differ:  # the first press since the last count wakes the task, the others need not
            self._counts_differ = True
            self._counted_at = now  # counts are drawn two seconds after the first press that changes them, with all that follow
            self._wake.set()

    async def _run(self) -> None:
        try:
            while True:
                try:
                    if await self._step():
                        return
                except NotFound:
                    log.warning("live round %s is gone from the database", self._id)
                    return
                except discord.NotFound as error:
                    if error.code == _UNKNOWN_CHANNEL:
                        await self._end_unseen()
                        return
                    log.warning("live round %s, a message is gone, trying again: %s", self._id, error)
                    await self._wait(RETRY_S)
                except discord.Forbidden as error:
                    log.warning("live round %s cannot be shown: %s", self._id, error)
                    await self._wait(RETRY_FORBIDDEN_S)
                except discord.HTTPException as error:
                    log.warning("live round %s, a message could not be drawn, trying again: %s", self._id, error)
                    await self._wait(RETRY_S)
                except Exception:
                    log.exception("live round %s, trying again", self._id)
                    await self._wait(RETRY_S)
        finally:
            if self._consoles is not None:
                self._consoles.cancel()

    async def _end_unseen(self) -> None:
        """The channel was deleted: nobody can answer any more, and the results are kept."""
        log.warning("the channel of live round %s is gone; the round ends here", self._id)
        round_ = await self._desk.live.load(self._id)
        await self._desk.live.control(self._id, Control.END, round_.turn, now=self._desk.clock.now())

    async def _step(self) -> bool:
        """Do what is due, draw what differs, then wait for the next of either; True when the round is over and drawn."""
        loop, live, clock = asyncio.get_running_loop(), self._desk.live, self._desk.clock
        self._wake.clear()
        round_, due = await live.due(self._id, grace_s=clock.grace_s)
        if due is not None and clock.now() >= due:
            await live.tick(self._id, now=clock.now(), grace_s=clock.grace_s)
            round_, due = await live.due(self._id, grace_s=clock.grace_s)
            self._changed = True
        left_s = (due - clock.now()).total_seconds() if due else None
        quiet = round_.phase is Phase.ASKING and left_s is not None and left_s < QUIET_S
        counting = self._counts_differ and not quiet and loop.time() - self._counted_at >= COUNTS_EVERY_S
        if self._changed or counting:
            await self._draw(counting=counting)
        if round_.phase is Phase.DISCUSSING:
            await self._messages.open_talk(round_)
        self._refresh_consoles(round_)
        if round_.over and not self._counts_differ:
            await self._last_consoles()
            return True
        await self._wait(self._patience(round_, due))
        return False

    async def _draw(self, *, counting: bool) -> None:
        """Draw what differs. A failed drawing is drawn again, so the marks are taken back."""
        changed, self._changed = self._changed, False
        self._counts_differ = self._counts_differ and not counting
        try:
            left = await self._messages.sync(counts=counting)
        except BaseException:
            self._changed = changed
            self._counts_differ = self._counts_differ or counting
            raise
        self._counts_differ = self._counts_differ or left
        if self._messages.moved:
            self._messages.moved = False
            self.changed()
        if counting:
            self._counted_at = asyncio.get_running_loop().time()

    def _patience(self, round_: LiveRound, due: datetime | None) -> float | None:
        """Seconds until there is something to do without being woken; None: for as long as it takes."""
        waits: list[float] = []
        left_s = (due - self._desk.clock.now()).total_seconds() if due else None
        if left_s is not None:
            waits.append(left_s)
        if self._counts_differ:
            next_count_s = self._counted_at + COUNTS_EVERY_S - asyncio.get_running_loop().time()
            quiet = round_.phase is Phase.ASKING and left_s is not None and left_s - max(0.0, next_count_s) < QUIET_S
            if not quiet:
                waits.append(next_count_s)
        if self._consoles_stale and self._desk.watched(self._id):
            waits.append(self._consoles_at + CONSOLES_EVERY_S - asyncio.get_running_loop().time())
        return max(0.0, min(waits)) if waits else None

    async def _wait(self, seconds: float | None) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), seconds)

    # Consoles -------------------------------------------------------------------------------------------------------

    def _refresh_consoles(self, round_: LiveRound) -> None:
        """Beside the drawing, never before it. By counts alone only every few seconds."""
        loop = asyncio.get_running_loop()
        if self._consoles is not None and not self._consoles.done():
            return
        stale = self._consoles_stale and loop.time() - self._consoles_at >= CONSOLES_EVERY_S
        if not stale and round_.turn == self._console_turn:
            return
        self._consoles_at = loop.time()
        self._consoles_stale = False
        self._console_turn = round_.turn
        self._consoles = asyncio.create_task(self._update_consoles(), name=f"consoles of {self._id}")

    async def _update_consoles(self) -> None:
        for key, shown in list(self._desk.consoles.items()):
            if key[0] != self._id:
                continue
            if self._desk.clock.now() - shown.interaction.created_at > CONSOLE_LIFE:
                self._desk.consoles.pop(key, None)
                continue
            try:
                embed, items = await console(self._desk, self._id, shown.language)
                await shown.interaction.edit_original_response(embed=embed, view=items)
            except discord.HTTPException as error:
                log.info("a console of round %s no longer updates: %s", self._id, error)
                if self._desk.consoles.get(key) is shown:
                    self._desk.consoles.pop(key, None)

    async def _last_consoles(self) -> None:
        if self._consoles is not None:
            await self._consoles
        for key in [key for key in self._desk.consoles if key[0] == self._id]:
            self._desk.consoles.pop(key, None)
