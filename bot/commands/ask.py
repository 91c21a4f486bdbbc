"""`/ask`: a follow-up question, answered from the guides."""

from __future__ import annotations

from typing import Any

from discord import Interaction, app_commands
from discord.app_commands import Range

from bot.client import StudyhallClient
from bot.commands.choices import suggest_guide
from bot.texts import label
from bot.views import answers
from bot.views.buttons import client_of
from tutor.answering import Asked


def register(client: StudyhallClient) -> None:
    client.add_commands(ask)
    client.add_buttons(*answers.BUTTONS)


@app_commands.command(name=label("cmd-ask"), description=label("cmd-ask.description"))
@app_commands.rename(question=label("opt-question"), guide=label("opt-guide"), private=label("opt-private"))
@app_commands.describe(
    question=label("opt-question.description"), guide=label("opt-guide.description"), private=label("opt-private.description")
)
@app_commands.autocomplete(guide=suggest_guide)
async def ask(interaction: Interaction[Any], question: Range[str, 2, 600], guide: str | None = None, private: bool = False) -> None:
    client = client_of(interaction)
    if guide is not None:
        client.tutor.guide(guide, "en")  # an unknown guide is said at once, not after "thinking"
    locks = await client.tutor.locks(interaction.user.id, interaction.channel_id, now=interaction.created_at)
    asked = Asked(
        question=question,
        language=await client.language(interaction),
        learner_id=interaction.user.id,
        channel_id=interaction.channel_id,
        guide_id=guide,
        locks=locks,
    )
    await answers.stream(client, interaction, asked, ephemeral=private or bool(locks))  # a hint for one is not everybody's
