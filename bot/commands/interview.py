"""`/interview`: open questions to practise on, with follow-ups, a reference answer and a self-check. Nothing is graded."""

from __future__ import annotations

from typing import Any

from discord import Interaction, app_commands
from discord.app_commands import Choice

from bot.client import StudyhallClient
from bot.commands.choices import SUGGESTIONS, languages
from bot.texts import label, language_of, text
from bot.views import interview as views
from bot.views.buttons import client_of


def register(client: StudyhallClient) -> None:
    client.add_commands(interview)
    client.add_buttons(*views.BUTTONS)
    client.add_modal("iv-answer", views.answered)


async def suggest_part(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    language = language_of(interaction.locale)
    found = client_of(interaction).tutor.interview_parts(typed, language)
    return [Choice(name=quiz.title[language][:100], value=quiz.id) for quiz in found[:SUGGESTIONS]]


@app_commands.command(name=label("cmd-interview"), description=label("cmd-interview.description"))
@app_commands.rename(part=label("opt-interview-part"), language=label("opt-language"))
@app_commands.describe(part=label("opt-interview-part.description"), language=label("opt-language.description"))
@app_commands.choices(language=languages())
@app_commands.autocomplete(part=suggest_part)
async def interview(interaction: Interaction[Any], part: str | None = None, language: str | None = None) -> None:
    client = client_of(interaction)
    chosen = language or await client.language(interaction)
    bank = client.tutor.interviews
    if not bank.parts:
        await interaction.response.send_message(text("interview-none", chosen), ephemeral=True)
        return
    posed = bank.drawn(part, rng=client.rng)
    await views.show(client, interaction, views.State(posed.key, chosen, within=part is not None))
