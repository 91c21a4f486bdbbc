"""The yardstick of `bench live`: a bot of discord.py alone that acknowledges each press with one private line.

Run as a process of its own (`python -m bot.cli.bench_bare URL GATEWAY TOKEN`). It has no store, no texts and no views; it
posts one message that looks like a question of ours, and answers whatever is pressed on it.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import aiohttp
import discord
from discord import app_commands

from bot.client import CONNECTIONS
from bot.sandbox.launch import point_discord_at, refuse_other_hosts

BUTTONS = 6  # four options, "My answer" and "I'm lost"


class Bare(discord.Client):
    def __init__(self) -> None:
        # the same connection limit as ours, which discord.py by itself does not have: reuse makes it cheaper per press
        super().__init__(intents=discord.Intents(guilds=True), max_messages=None, connector=aiohttp.TCPConnector(limit=CONNECTIONS))
        self.tree = app_commands.CommandTree(self)
        self.tree.command(name="bare", description="Post the message")(post)

    async def setup_hook(self) -> None:
        await self.tree.sync()

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        if interaction.type is discord.InteractionType.component:
            await interaction.response.send_message("ok", ephemeral=True)


class Plain(discord.ui.Button[Any]):
    def is_dispatchable(self) -> bool:
        return False


async def post(interaction: discord.Interaction[Any]) -> None:
    view = discord.ui.View(timeout=None)
    for number in range(BUTTONS):
        view.add_item(Plain(label=f"Option {number}", custom_id=f"bare:{number}"))
    embed = discord.Embed(title="A quiz · question 1 of 1", description="**What is asked?**\n\n⏳ Answers close <t:0:R>", colour=0x5B6EF5)
    embed.set_footer(text="0 answered · 0 here")
    await interaction.response.send_message(embed=embed, view=view)


async def serve(token: str) -> None:
    async with Bare() as client:
        await client.start(token)


if __name__ == "__main__":
    url, gateway_url, token = sys.argv[1:]
    refuse_other_hosts()
    point_discord_at(url, gateway_url)
    asyncio.run(serve(token))
