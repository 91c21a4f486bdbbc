"""`/privacy`: what the bot keeps of a person, one choice about it, and removing it."""

from __future__ import annotations

from typing import Any

import discord
from discord import ButtonStyle, Interaction, app_commands

from bot import render
from bot.client import StudyhallClient
from bot.texts import label, text
from bot.views.buttons import StateButton, client_of


def register(client: StudyhallClient) -> None:
    client.add_commands(privacy)
    client.add_buttons(KeepButton, ForgetButton)


@app_commands.command(name=label("cmd-privacy"), description=label("cmd-privacy.description"))
async def privacy(interaction: Interaction[Any]) -> None:
    embed, items = await page(interaction)
    await interaction.response.send_message(embed=embed, view=items, ephemeral=True)


class KeepButton(StateButton, template=r"privacy-keep:(yes|no)"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        await client.tutor.people.save_keeps_questions(interaction.user.id, keeps=self.parts[0] == "yes")
        embed, items = await page(interaction)
        await interaction.response.edit_message(embed=embed, view=items)


class ForgetButton(StateButton, template=r"privacy-forget:(ask|do)"):
    """Asks once before it removes anything."""

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        language = await client.language(interaction)
        if self.parts[0] == "ask":
            items = discord.ui.View(timeout=None)
            sure = text("button-forget-sure", language)
            items.add_item(ForgetButton(("do",), "privacy-forget", sure, style=ButtonStyle.danger))
            await interaction.response.edit_message(view=items)
            return
        await client.tutor.forget(interaction.user.id)
        await interaction.response.edit_message(content=text("privacy-forgotten", language), embed=None, view=None)


async def page(interaction: Interaction[Any]) -> tuple[discord.Embed, discord.ui.View]:
    client = client_of(interaction)
    language = await client.language(interaction)
    keeps = await client.tutor.people.keeps_questions(interaction.user.id)
    choice = text("privacy-keeps" if keeps else "privacy-keeps-not", language)
    embed = discord.Embed(
        title=text("privacy-title", language), description=f"{text('privacy-text', language)}\n\n{choice}", colour=render.BRAND
    )
    items = discord.ui.View(timeout=None)
    toggle = text("button-keep-not" if keeps else "button-keep", language)
    items.add_item(KeepButton(("no" if keeps else "yes",), "privacy-keep", toggle))
    items.add_item(ForgetButton(("ask",), "privacy-forget", text("button-forget", language), style=ButtonStyle.danger))
    return embed, items
