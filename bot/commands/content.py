"""`/content`: bring question banks, keep them as drafts of this guild, explain them, hand quizzes out. For people who manage it.

What a file means is not decided here: an attachment goes to `tutor.drafts_service`, what comes back is shown. Files larger
than `MAX_BYTES` are refused before they are fetched.
"""

from __future__ import annotations

import asyncio
from pathlib import PurePath
from typing import Any, Final

import aiohttp
import discord
from discord import Interaction, app_commands
from discord.app_commands import Choice

from bot.client import Feature, StudyhallClient
from bot.commands.choices import SUGGESTIONS, draft_name, languages, suggest_guide, suggest_own_too
from bot.texts import label, language_of, text
from bot.views import content as views
from bot.views.buttons import client_of
from bot.views.content import ContentDesk, drafts_of, may, telling
from tutor.drafts_service import MAX_BYTES, Draft, Drafts, too_large
from tutor.errors import NotFound

FETCH_S: Final = 20.0  # for an attachment of MAX_BYTES


def feature(drafts: Drafts) -> Feature:
    def register(client: StudyhallClient) -> None:
        client.add_part(ContentDesk(drafts))
        client.add_commands(group)
        client.add_buttons(*views.BUTTONS)
        client.add_modal("content-changed", views.changed)

    return register


group = app_commands.Group(
    name=label("cmd-content"),
    description=label("cmd-content.description"),
    guild_only=True,
    default_permissions=discord.Permissions(manage_guild=True),
)


# Choices ------------------------------------------------------------------------------------------------------------


async def suggest_readable(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    return _names(drafts_of(interaction).banks.READABLE, typed)


async def suggest_writable(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    return _names(drafts_of(interaction).banks.WRITABLE, typed)


def _names(names: Any, typed: str) -> list[Choice[str]]:
    return [Choice(name=name, value=name) for name in names if typed.casefold() in name][:SUGGESTIONS]


async def suggest_draft(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    """The drafts of this guild, the newest first."""
    return _drafts(interaction, typed, drafts_of(interaction).of_guild(interaction.guild_id))


async def suggest_unexplained(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    return _drafts(interaction, typed, [draft for draft in drafts_of(interaction).of_guild(interaction.guild_id) if draft.unexplained])


def _drafts(interaction: Interaction[Any], typed: str, drafts: list[Draft]) -> list[Choice[str]]:
    language = language_of(interaction.locale)
    named = [(draft.quiz.title[language], draft.id) for draft in drafts]
    return [Choice(name=draft_name(title, language), value=key) for title, key in named if typed.casefold() in title.casefold()][
        :SUGGESTIONS
    ]


# Import -------------------------------------------------------------------------------------------------------------


@group.command(name=label("cmd-content-import"), description=label("cmd-content-import.description"))
@app_commands.rename(file=label("opt-content-file"), format=label("opt-content-format"))
@app_commands.describe(file=label("opt-content-file.description"), format=label("opt-content-format.description"))
@app_commands.autocomplete(format=suggest_readable)
async def import_(interaction: Interaction[Any], file: discord.Attachment, format: str | None = None) -> None:
    language = await client_of(interaction).language(interaction)
    if not await may(interaction, language):
        return
    async with telling(interaction, language):
        if file.size > MAX_BYTES:
            raise too_large(file.filename, file.size)
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            data = await asyncio.wait_for(file.read(), FETCH_S)
        except (TimeoutError, OSError, aiohttp.ClientError, discord.HTTPException):
            await interaction.edit_original_response(content=text("content-unreachable", language))
            return
        offered = await drafts_of(interaction).read(
            data, file.filename, format or None, guild_id=interaction.guild_id or 0, by=interaction.user.id, now=interaction.created_at
        )
        report = views.text_file(offered.reading.report, f"{PurePath(file.filename).stem[:60] or 'import'}-report.txt")
        await interaction.edit_original_response(
            embed=views.offered_embed(offered, file.filename, language),
            attachments=[report],
            view=views.offered_buttons(offered, language),
        )


# Export -------------------------------------------------------------------------------------------------------------


@group.command(name=label("cmd-content-export"), description=label("cmd-content-export.description"))
@app_commands.rename(quiz=label("opt-quiz"), format=label("opt-content-target"), language=label("opt-language"))
@app_commands.describe(
    quiz=label("opt-quiz.description"),
    format=label("opt-content-target.description"),
    language=label("opt-content-language.description"),
)
@app_commands.choices(language=languages())
@app_commands.autocomplete(quiz=suggest_own_too, format=suggest_writable)
async def export(interaction: Interaction[Any], quiz: str, format: str, language: str | None = None) -> None:
    reader = await client_of(interaction).language(interaction)
    if not await may(interaction, reader):
        return
    async with telling(interaction, reader):
        await interaction.response.defer(ephemeral=True, thinking=True)
        found, file = await drafts_of(interaction).export(quiz, format, language or reader, guild_id=interaction.guild_id)
        message, files = views.exported(file, len(found.questions), reader)
        await interaction.edit_original_response(content=message, attachments=files)


# List, remove -------------------------------------------------------------------------------------------------------


@group.command(name=label("cmd-content-list"), description=label("cmd-content-list.description"))
async def list_(interaction: Interaction[Any]) -> None:
    language = await client_of(interaction).language(interaction)
    if await may(interaction, language):
        drafts = drafts_of(interaction).of_guild(interaction.guild_id)
        await interaction.response.send_message(embed=views.listed(drafts, language), ephemeral=True)


@group.command(name=label("cmd-content-remove"), description=label("cmd-content-remove.description"))
@app_commands.rename(quiz=label("opt-quiz"))
@app_commands.describe(quiz=label("opt-content-draft.description"))
@app_commands.autocomplete(quiz=suggest_draft)
async def remove(interaction: Interaction[Any], quiz: str) -> None:
    language = await client_of(interaction).language(interaction)
    if not await may(interaction, language):
        return
    async with telling(interaction, language):
        draft = await drafts_of(interaction).remove(quiz, guild_id=interaction.guild_id, now=interaction.created_at)
        message, view = views.removed(draft, language)
        await interaction.response.send_message(message, view=view, ephemeral=True)


# Explain ------------------------------------------------------------------------------------------------------------


@group.command(name=label("cmd-content-explain"), description=label("cmd-content-explain.description"))
@app_commands.rename(quiz=label("opt-quiz"), guide=label("opt-guide"))
@app_commands.describe(quiz=label("opt-content-draft.description"), guide=label("opt-content-guide.description"))
@app_commands.autocomplete(quiz=suggest_unexplained, guide=suggest_guide)
async def explain(interaction: Interaction[Any], quiz: str, guide: str) -> None:
    client = client_of(interaction)
    language = await client.language(interaction)
    if not await may(interaction, language):
        return
    async with telling(interaction, language):
        if guide not in client.tutor.library.guides:
            raise NotFound("guide", guide)
        drafts_of(interaction).draft(quiz, interaction.guild_id)  # one that is not there is said at once
        await interaction.response.defer(ephemeral=True, thinking=True)
        await views.propose(interaction, quiz, guide, None, language)
