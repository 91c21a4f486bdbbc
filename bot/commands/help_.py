"""`/help`: what the bot can do, and what writes its answers right now."""

from __future__ import annotations

from typing import Any

import discord
from discord import Interaction, app_commands

from bot import render
from bot.client import StudyhallClient
from bot.texts import label, text
from bot.views.buttons import client_of

HELP = ("help-quiz", "help-live", "help-ask", "help-guide", "help-interview")


def register(client: StudyhallClient) -> None:
    client.add_commands(help_)


@app_commands.command(name=label("cmd-help"), description=label("cmd-help.description"))
async def help_(interaction: Interaction[Any]) -> None:
    client = client_of(interaction)
    language = await client.language(interaction)
    traits = client.tutor.answering.engine.traits
    engine = text("engine-model", language, model=traits.model) if traits.model else text("engine-quoting", language)
    embed = discord.Embed(
        title=text("help-title", language),
        description="\n".join([*(text(key, language) for key in HELP), "", text("help-engine", language, engine=engine)]),
        colour=render.BRAND,
    )
    await interaction.response.send_message(embed=embed, ephemeral=True)
