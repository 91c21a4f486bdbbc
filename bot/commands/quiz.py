"""`/quiz play`: a solo round."""

from __future__ import annotations

from typing import Any

import discord
from discord import Interaction, app_commands
from discord.app_commands import Choice, Range

from bot import render
from bot.client import StudyhallClient
from bot.commands.choices import languages, suggest_own_too
from bot.texts import label, text
from bot.views import solo
from bot.views.buttons import client_of
from tutor.rounds import Mode


def register(client: StudyhallClient) -> None:
    client.add_commands(group)
    client.add_buttons(*solo.BUTTONS)
    client.add_modal("typed", solo.typed)


group = app_commands.Group(name=label("cmd-quiz"), description=label("cmd-quiz.description"))


@group.command(name=label("cmd-quiz-play"), description=label("cmd-quiz-play.description"))
@app_commands.rename(
    quiz=label("opt-quiz"),
    questions=label("opt-questions"),
    language=label("opt-language"),
    mode=label("opt-mode"),
    shuffle=label("opt-shuffle"),
)
@app_commands.describe(
    quiz=label("opt-quiz.description"),
    questions=label("opt-questions.description"),
    language=label("opt-language.description"),
    mode=label("opt-mode.description"),
    shuffle=label("opt-shuffle.description"),
)
@app_commands.choices(
    language=languages(),
    mode=[Choice(name=label("choice-practice"), value="practice"), Choice(name=label("choice-exam"), value="exam")],
)
@app_commands.autocomplete(quiz=suggest_own_too)
async def play(
    interaction: Interaction[Any],
    quiz: str,
    questions: Range[int, 1, 100] | None = None,
    language: str | None = None,
    mode: str = "practice",
    shuffle: bool = True,
) -> None:
    client = client_of(interaction)
    chosen = language or await client.language(interaction)
    unfinished = await client.tutor.unfinished(interaction.user.id, quiz, guild_id=interaction.guild_id, now=interaction.created_at)
    if unfinished is not None:
        await offer(interaction, unfinished.round.id, unfinished.quiz.id, mode, chosen)
        return
    view = await client.tutor.start_round(
        quiz,
        learner_id=interaction.user.id,
        guild_id=interaction.guild_id,
        channel_id=interaction.channel_id,
        language=chosen,
        mode=Mode(mode),
        count=questions,
        shuffled=shuffle,
        now=interaction.created_at,
        rng=client.rng,
    )
    await solo.show(client, interaction, view)


async def offer(interaction: Interaction[Any], round_id: str, quiz_id: str, mode: str, language: str) -> None:
    """An unfinished round is offered, never thrown away unasked."""
    client = client_of(interaction)
    view = await client.tutor.show(round_id, interaction.user.id, now=interaction.created_at)
    items = discord.ui.View(timeout=None)
    items.add_item(solo.NextButton((round_id,), "next", text("button-resume", language), style=discord.ButtonStyle.primary))
    items.add_item(solo.AgainButton((mode, quiz_id), "again", text("button-afresh", language)))
    message = text(
        "round-offer",
        language,
        title=view.quiz.title[language],
        number=view.position + 1,
        total=view.total,
        points=render.number(view.score.points),
    )
    await interaction.response.send_message(message, view=items, ephemeral=True)
