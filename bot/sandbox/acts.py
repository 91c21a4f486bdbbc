"""What a person did, as a test or a page holds on to it: pending, then answered by the bot or failed.

Values over `bot.sandbox.model.Interaction`; the driver makes them. Reading what is not there raises `NoAnswer`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Self

from bot.sandbox.model import Interaction, Message, State, walk
from bot.sandbox.wire import Json, NoAnswer

PATIENCE_S: Final = 10.0  # bound of a wait that the rules should end sooner

WaitFor = Callable[[Callable[[], bool], float], Awaitable[Any]]


class ShownModal:
    """A modal that the bot opened for somebody."""

    def __init__(self, interaction: Interaction, modal: Json) -> None:
        self.interaction = interaction
        self.json = modal

    @property
    def title(self) -> str:
        return self.json["title"]

    @property
    def custom_id(self) -> str:
        return self.json["custom_id"]

    @property
    def fields(self) -> dict[str, Json]:
        """The inputs by what is written above them (or by custom_id where nothing is)."""
        found: dict[str, Json] = {}
        for top in self.json["components"]:
            for node in walk([top]):
                if "custom_id" in node:
                    found[top.get("label") or node.get("label") or node["custom_id"]] = node
        return found


class Act:
    """Something a person did, and what became of it."""

    def __init__(self, interaction: Interaction, wait_for: WaitFor) -> None:
        self.interaction = interaction
        self._wait_for = wait_for
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def state(self) -> State:
        return self.interaction.state

    @property
    def latency_ms(self) -> float | None:
        """From dispatch to the accepted response; None while there is none."""
        return self.interaction.latency_ms

    @property
    def message(self) -> Message:
        """The reply, or the message that the bot edited in answer; raises NoAnswer when there is none."""
        if self.interaction.response is None:
            raise NoAnswer(f"the bot showed no message in answer (state {self.state}, callback {self.interaction.callback})")
        return self.interaction.response

    @property
    def followups(self) -> list[Message]:
        return self.interaction.followups

    @property
    def modal(self) -> ShownModal:
        """The modal that the bot opened; raises NoAnswer when it opened none."""
        if self.interaction.modal is None:
            raise NoAnswer(f"the bot opened no modal in answer (state {self.state}, callback {self.interaction.callback})")
        return ShownModal(self.interaction, self.interaction.modal)

    def end(self) -> None:
        """Called by the sandbox when the interaction is answered or has failed."""
        if not self._over.done():
            self._over.set_result(None)

    async def answered(self, timeout_s: float = PATIENCE_S) -> Self:
        """Wait until the bot has answered or failed; raises NoAnswer after `timeout_s` of real time."""
        try:
            await asyncio.wait_for(asyncio.shield(self._over), timeout_s)
        except TimeoutError:
            raise NoAnswer(f"still pending after {timeout_s} s; does the sandbox's clock run?") from None
        return self

    async def settled(self, timeout_s: float = 30.0) -> Self:
        """Wait until nothing is "thinking" any more; raises NoAnswer after `timeout_s`."""
        await self.answered()
        response = self.interaction.response
        if response is not None:
            await self._wait_for(lambda: response.deleted or not response.loading, timeout_s)
        return self

    def __repr__(self) -> str:
        return f"<Act of {self.interaction.person.name}: {self.state}, {self.interaction.response!r}>"
