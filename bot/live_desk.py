"""What the commands, buttons and timers of live rounds share: the use cases, Discord's clock, the consoles that are open.

Holds no state of a round: that is in the store. What is lost here with a crash is only which consoles update by themselves.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import discord
from discord import Interaction

from bot.texts import text
from tutor.live import GRACE_S
from tutor.live_service import LiveRounds

LONGEST_GRACE_S: Final = 3.0  # a press that took longer cannot be answered any more: Discord has given up on it
URGENT_PER_S: Final = 40  # of the 50 that Discord allows a bot: the rest is for what is not drawn here
COUNTS_PER_S: Final = 20
_DRIFT: Final = 0.001  # seconds per second by which the clock follows a slower path: no machine's clock drifts more
_LAG_KEPT_S: Final = 3.0
CONSOLE_LIFE: Final = timedelta(minutes=14)
"""An interaction's token dies after 15 minutes [Discord: interactions/receiving-and-responding]."""


def _local_now() -> datetime:
    return datetime.now(UTC)


class DiscordClock:
    """Discord's time, as far as the ids of interactions show it, and how far we are behind.

    Deadlines are compared with times that Discord gave, so timers have to run by its clock and not by this machine's.
    """

    def __init__(self, local: Callable[[], datetime] = _local_now) -> None:
        self._local = local
        self._offset: timedelta | None = None  # ours minus Discord's, with the shortest way there was
        self._offset_at: datetime | None = None
        self._behind_s = 0.0
        self._behind_at = datetime.min.replace(tzinfo=UTC)

    def heard(self, made_at: datetime) -> None:
        """Something that Discord made at this time has arrived."""
        now = self._local()
        lag = now - made_at
        if self._offset is None or self._offset_at is None:
            self._offset = lag
        else:  # a crowd that makes us slow for seconds must not turn the clock
            self._offset = min(lag, self._offset + (now - self._offset_at) * _DRIFT)
        self._offset_at = now
        behind_s = (lag - self._offset).total_seconds()
        if behind_s >= self._behind_s or now - self._behind_at > timedelta(seconds=_LAG_KEPT_S):
            self._behind_s, self._behind_at = behind_s, now

    def now(self) -> datetime:
        return self._local() - (self._offset or timedelta())

    @property
    def grace_s(self) -> float:
        """How long after a close the reveal waits for presses on their way: longer while we are behind."""
        recent = self._local() - self._behind_at <= timedelta(seconds=_LAG_KEPT_S)
        return min(LONGEST_GRACE_S, GRACE_S + (2 * self._behind_s if recent else 0.0))


class RequestPace:
    """Keeps the drawing of all rounds together below Discord's 50 requests a second, counts below half of that.

    Replies to presses are not counted by Discord, and not here.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sent: deque[float] = deque()

    async def turn(self, *, urgent: bool) -> None:
        """Wait until a request may be sent. Those that only count leave room for closes and reveals."""
        most = URGENT_PER_S if urgent else COUNTS_PER_S
        while len(self._recent()) >= most:  # noqa: ASYNC110  # what it waits for is time
            await asyncio.sleep(max(0.005, self._sent[-most] + 1.0 - self._clock()))
        self._sent.append(self._clock())

    def _recent(self) -> deque[float]:
        while self._sent and self._sent[0] <= self._clock() - 1.0:
            self._sent.popleft()
        return self._sent


@dataclass(slots=True)
class Console:
    """An instructor's private message, which can be edited as long as the token of its last press lives."""

    interaction: Interaction[Any]
    language: str


@dataclass(slots=True)
class LiveDesk:
    """A part of the client. `changed` is told of every control and repair, `pressed` of every answer."""

    live: LiveRounds
    role: str = ""
    clock: DiscordClock = field(default_factory=DiscordClock)
    pace: RequestPace = field(default_factory=RequestPace)
    changed: Callable[[str], None] = lambda round_id: None
    pressed: Callable[[str], None] = lambda round_id: None
    repaired: Callable[[str], None] = lambda round_id: None
    consoles: dict[tuple[str, int], Console] = field(default_factory=lambda: dict[tuple[str, int], Console]())

    async def start(self) -> None:
        pass

    async def aclose(self) -> None:
        self.consoles.clear()

    def keep_console(self, round_id: str, interaction: Interaction[Any], language: str) -> None:
        """This message shows a console from now on; an older one of the same person is left as it is."""
        self.consoles[(round_id, interaction.user.id)] = Console(interaction, language)

    def watched(self, round_id: str) -> bool:
        """Whether a console of this round is open."""
        return any(key[0] == round_id for key in self.consoles)

    def may_run(self, interaction: Interaction[Any]) -> bool:
        """Instructors: everybody who may manage the server, and the role of the settings by name or id."""
        if interaction.permissions.manage_guild or interaction.permissions.administrator:
            return True
        roles = interaction.user.roles if isinstance(interaction.user, discord.Member) else []
        wanted = self.role.casefold()
        return bool(wanted) and any(wanted in (role.name.casefold(), str(role.id)) for role in roles)

    def refusal(self, language: str) -> str:
        return text("live-error-role", language, role=self.role) if self.role else text("live-error-role-unset", language)
