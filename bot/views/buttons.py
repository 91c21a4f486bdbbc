"""What all our buttons and menus share: the state is in the custom id, and whatever happens is answered once."""

from __future__ import annotations

import re
from typing import Any, Self, TypeVar

import discord
from discord import ButtonStyle, Interaction

from bot.client import StudyhallClient

Item = discord.ui.Item[Any]
ButtonT = TypeVar("ButtonT", bound="StateButton")

ROUND = "[0-9a-f]{12}"
KEY = "[a-zA-Z0-9_.-]"


def client_of(interaction: Interaction[Any]) -> StudyhallClient:
    client = interaction.client
    assert isinstance(client, StudyhallClient)
    return client


def custom_id(kind: str, *parts: str | int) -> str:
    """`kind:part:part`; Discord allows 100 characters, and the content checks keep ids short enough."""
    made = ":".join((kind, *map(str, parts)))
    assert len(made) <= 100, f"custom id {made!r} is longer than Discord allows"
    return made


class StateButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template="never^"):
    """A button named by its custom id. Subclasses give `template=` and `pressed`."""

    def __init__(
        self,
        parts: tuple[str | int, ...],
        kind: str,
        label: str,
        *,
        style: ButtonStyle = ButtonStyle.secondary,
        emoji: str | None = None,
        row: int | None = None,
        disabled: bool = False,
    ) -> None:
        self.parts = tuple(map(str, parts))
        button = discord.ui.Button[Any](
            label=label[:80] or None, style=style, emoji=emoji, custom_id=custom_id(kind, *parts), disabled=disabled
        )
        super().__init__(button, row=row)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction[Any], item: Item, match: re.Match[str], /) -> Self:
        assert isinstance(item, discord.ui.Button)
        kind = (item.custom_id or "").partition(":")[0]
        return cls(tuple(match.groups()), kind, item.label or "")  # type: ignore[arg-type]

    async def callback(self, interaction: Interaction[Any]) -> None:
        client = client_of(interaction)
        async with client.reporting(interaction):  # discord.py would only log what is raised here
            await self.pressed(client, interaction)

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        raise NotImplementedError


class StateMenu(discord.ui.DynamicItem[discord.ui.Select[Any]], template="never^"):
    """A select named by its custom id. Subclasses give `template=` and `chosen`."""

    def __init__(self, parts: tuple[str | int, ...], kind: str, select: discord.ui.Select[Any]) -> None:
        self.parts = tuple(map(str, parts))
        select.custom_id = custom_id(kind, *parts)
        super().__init__(select)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction[Any], item: Item, match: re.Match[str], /) -> Self:
        assert isinstance(item, discord.ui.Select)
        return cls(tuple(match.groups()), item.custom_id.partition(":")[0], item)

    async def callback(self, interaction: Interaction[Any]) -> None:
        client = client_of(interaction)
        async with client.reporting(interaction):
            await self.chosen(client, interaction)

    async def chosen(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        raise NotImplementedError
