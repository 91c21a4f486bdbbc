"""`/guide`: read a guide, section by section."""

from __future__ import annotations

from typing import Any

from discord import Interaction, app_commands
from discord.app_commands import Choice

from bot import render
from bot.client import StudyhallClient
from bot.commands.choices import SUGGESTIONS, languages, suggest_guide
from bot.texts import label, language_of
from bot.views import reading
from bot.views.buttons import client_of
from tutor.errors import NotFound


def register(client: StudyhallClient) -> None:
    client.add_commands(guide)
    client.add_buttons(*reading.BUTTONS)


async def suggest_section(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    language = language_of(interaction.locale)
    try:
        view = client_of(interaction).tutor.guide(str(getattr(interaction.namespace, "topic", "")), language)
    except NotFound:
        return []
    found = [section for section in view.guide.sections if typed.casefold() in section.heading.casefold()]
    return [Choice(name=section.heading[:100], value=section.id) for section in found[:SUGGESTIONS]]


@app_commands.command(name=label("cmd-guide"), description=label("cmd-guide.description"))
@app_commands.rename(topic=label("opt-topic"), section=label("opt-section"), language=label("opt-language"))
@app_commands.describe(
    topic=label("opt-topic.description"), section=label("opt-section.description"), language=label("opt-language.description")
)
@app_commands.choices(language=languages())
@app_commands.autocomplete(topic=suggest_guide, section=suggest_section)
async def guide(interaction: Interaction[Any], topic: str, section: str | None = None, language: str | None = None) -> None:
    client = client_of(interaction)
    chosen = language or await client.language(interaction)
    view = client.tutor.guide(topic, chosen)
    embed, items = reading.page(client, view, render.page_of(view.guide, section), chosen)
    await interaction.response.send_message(embed=embed, view=items, ephemeral=True)
