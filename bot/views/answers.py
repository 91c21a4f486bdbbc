"""A grounded reply in Discord: acknowledged at once, grown sentence by sentence, always finished by a last edit.

Edits are at least 1.2 s apart (a webhook token allows 5 in 2 s, and several people share a channel's hidden limit), and what is complete
at once, as a quote is, comes in one.
Mentions are off on the client and escaped here; the only links are to our own sections.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

import discord
from discord import Interaction

from bot import render
from bot.client import StudyhallClient
from bot.texts import text
from bot.views.buttons import StateButton
from bot.views.reading import OpenSection, section_url
from tutor.answering import Asked
from tutor.reply import Citation, Kind, TutorReply

log = logging.getLogger("studyhall")

BETWEEN_EDITS_S: Final = 1.2
FIRST_EDIT_S: Final = 0.25  # after the first sentence, if there is more to come: a quote is whole by then
UNKNOWN_MESSAGE: Final = 10_008  # [Discord: topics/opcodes-and-status-codes]
CITED_BUTTONS: Final = 3

_COLOURS: Final = {
    Kind.ANSWER: discord.Colour(0x2E9E6B),
    Kind.QUOTE: render.BRAND,
    Kind.HINT: discord.Colour(0xD9A21B),
    Kind.REFUSAL: discord.Colour(0x8A8F98),
}


class HelpfulButton(StateButton, template=r"helpful:(yes|no):([0-9a-f]{12})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        said, reply_id = self.parts
        await client.tutor.people.save_helpful(reply_id, interaction.user.id, helpful=said == "yes")
        await interaction.response.send_message(text("ask-noted", await client.language(interaction)), ephemeral=True)


class QuoteButton(StateButton, template=r"quote:([0-9a-f]{12})"):
    """The guide's own words behind an answer, for the person who presses."""

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        language = await client.language(interaction)
        made = discord.Embed(title=text("ask-quote", language), colour=render.BRAND)
        for citation, section in (await client.tutor.cited(self.parts[0], language))[:5]:
            quoted = "\n".join(f"> {line}" for line in render.unwrapped(f"{section.summary}\n\n{section.body}".strip()).splitlines())
            made.add_field(name=render.cut(section.heading, 256), value=render.cut(quoted, render.FIELD_VALUE), inline=False)
            if url := section_url(client, citation.guide_id, citation.section_id, citation.language):
                made.url = made.url or url
        await interaction.response.send_message(embed=made, ephemeral=True)


BUTTONS = (HelpfulButton, QuoteButton)


async def stream(client: StudyhallClient, interaction: Interaction[Any], asked: Asked, *, ephemeral: bool) -> None:
    """Answer `asked` as a new message of this interaction. When its asker dismisses the message, the engine is stopped."""
    await received(interaction, ephemeral=ephemeral)
    telling = asyncio.create_task(_tell_position(client, interaction, asked.language), name=f"tell position {interaction.id}")
    try:
        async with aclosing(client.tutor.answering.ask(asked)) as replies:
            await _grow(client, interaction, asked, replies, telling)
    except discord.NotFound as error:
        if error.code != UNKNOWN_MESSAGE:
            raise
        log.info("the asker dismissed the answer of interaction %d", interaction.id)
    finally:
        await _ended(telling)


async def received(interaction: Interaction[Any], *, ephemeral: bool) -> None:
    """Say that an answer comes, once. Where finding out what is asked takes the database, before that: a class that asks together
    would else wait for each other's reading within the three seconds that Discord gives. Nothing is stored by asking."""
    if not interaction.response.is_done():
        await interaction.response.defer(ephemeral=ephemeral, thinking=True)


async def _grow(
    client: StudyhallClient,
    interaction: Interaction[Any],
    asked: Asked,
    replies: AsyncGenerator[TutorReply, None],
    telling: asyncio.Task[None],
) -> None:
    language = asked.language
    growing = _Growing(client, interaction, asked)
    last: TutorReply | None = None
    async with aclosing(growing):
        async for last in replies:
            if not last.complete and last.sentences:
                await _ended(telling)
                await growing.show(last)
    assert last is not None, "a question ends in a reply"
    await _ended(telling)
    reply_id = secrets.token_hex(6)
    await client.tutor.save_reply(reply_id, asked, last, now=interaction.created_at)
    await growing.ready()
    view = items(client, reply_id, last, language)
    await interaction.edit_original_response(content=None, embed=embed(client, asked, last, language), view=view)


class _Growing:
    """A reply that is still written, in the message that will hold it."""

    def __init__(self, client: StudyhallClient, interaction: Interaction[Any], asked: Asked) -> None:
        self._client = client
        self._interaction = interaction
        self._asked = asked
        self._newest: TutorReply | None = None
        self._first: asyncio.Task[None] | None = None
        self._shown_at: float | None = None

    async def show(self, reply: TutorReply) -> None:
        """Show it when it is time; a later one may come first. Raises what an edit raises."""
        self._newest = reply
        if self._first is None:
            self._first = asyncio.create_task(self._soon(), name=f"first sentence {self._interaction.id}")
        elif self._first.done():
            self._first.result()
            if self._shown_at is not None and time.monotonic() - self._shown_at >= BETWEEN_EDITS_S:
                await self._edit()

    async def ready(self) -> None:
        """Wait until the next edit may come."""
        if self._shown_at is not None:
            await asyncio.sleep(max(0.0, BETWEEN_EDITS_S - (time.monotonic() - self._shown_at)))

    async def aclose(self) -> None:
        """Nothing more is shown. An edit that has begun is waited for; raises what it raises."""
        if self._first is None:
            return
        if self._shown_at is None:
            await _ended(self._first)
        else:
            await self._first

    async def _soon(self) -> None:
        await asyncio.sleep(FIRST_EDIT_S)
        await self._edit()

    async def _edit(self) -> None:
        assert self._newest is not None, "something is to be shown"
        self._shown_at = time.monotonic()
        made = embed(self._client, self._asked, self._newest, self._asked.language)
        await self._interaction.edit_original_response(content=None, embed=made)


async def _tell_position(client: StudyhallClient, interaction: Interaction[Any], language: str) -> None:
    """While a question waits for its turn, say how many are before it."""
    told: int | None = None
    while True:
        await asyncio.sleep(BETWEEN_EDITS_S)
        position = client.tutor.answering.position(interaction.user.id)
        if position is not None and position != told:
            told = position
            await interaction.edit_original_response(content=text("ask-waiting", language, position=position))


async def _ended(task: asyncio.Task[None]) -> None:
    """Stop a helper task; whatever it failed with does not matter any more."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def embed(client: StudyhallClient, asked: Asked, reply: TutorReply, language: str) -> discord.Embed:
    made = discord.Embed(description=render.cut(body(client, reply, language), render.EMBED_DESCRIPTION), colour=_COLOURS[reply.kind])
    if asked.attempt is None:
        made.title = render.cut(discord.utils.escape_mentions(asked.question), render.EMBED_TITLE)
    else:
        made.title = text("button-why", language)
    if reply.complete:
        if reply.cited and reply.kind is not Kind.HINT:
            made.add_field(name=text("ask-sources", language), value=sources(client, reply), inline=False)
        footer = text("ask-footer", language, engine=reply.engine, seconds=f"{reply.timings.total_s:.1f}")
    else:
        footer = text("ask-streaming", language)
    made.set_footer(text=footer)
    return made


def hint_embed(client: StudyhallClient, reply: TutorReply, language: str) -> discord.Embed:
    return discord.Embed(description=body(client, reply, language), colour=_COLOURS[reply.kind])


def body(client: StudyhallClient, reply: TutorReply, language: str) -> str:
    """The reply as Discord Markdown: why it is what it is, then its sentences with their numbers."""
    if reply.kind is Kind.REFUSAL:
        assert reply.reason is not None, "a refusal has a reason"
        parts = [text(f"ask-refusal-{reply.reason.value}", language)]
        if reply.considered:
            nearest = ", ".join(linked(client, citation, citation.heading) for citation in reply.considered[:3])
            parts.append("-# " + text("ask-nearest", language, sections=nearest))
        return "\n\n".join(parts)
    if reply.kind is Kind.HINT:
        pointer = "".join(f"\n\n📖 {linked(client, citation, citation.heading)}" for citation in reply.cited)
        heading = text("ask-hint", language, rung=reply.hint_rung or 1)
        return f"**{heading}**\n{reply.sentences[0].text}{pointer}\n\n-# {text('ask-hint-open', language)}"
    numbers = {citation: place for place, citation in enumerate(reply.cited, start=1)}
    lines: list[str] = []
    for place, sentence in enumerate(reply.sentences):
        following = reply.sentences[place + 1] if place + 1 < len(reply.sentences) else None
        # sentences in a row from one section carry its number once, after the last of them
        ends = following is None or following.quoted or following.citations != sentence.citations or not reply.complete
        marks = " ".join(linked(client, citation, f"[{numbers[citation]}]") for citation in sentence.citations) if ends else ""
        quoted = reply.kind is Kind.QUOTE or sentence.quoted
        shown = sentence.text if sentence.text.startswith("```") else safe(sentence.text)
        line = f"> {shown} {marks}" if quoted and "\n" not in shown else f"{shown} {marks}"
        lines.append(("\n" if sentence.quoted else "") + line.rstrip())
    joined = "\n".join(lines) if reply.kind is Kind.QUOTE else " ".join(lines).replace(" \n", "\n")
    if reply.kind is not Kind.QUOTE:
        return joined
    other = reply.language.partition("-")[0] != language.partition("-")[0]
    heading = (
        text("ask-quote-language", language, language=render.language_name(reply.language, language))
        if other
        else text("ask-quote", language)
    )
    reason = f"\n\n-# {text(f'ask-reason-{reply.reason.value}', language)}" if reply.complete and reply.reason else ""
    return f"**{heading}**\n{joined}{reason}"


def safe(written: str) -> str:
    return discord.utils.escape_mentions(written).replace("\n", " ")


def linked(client: StudyhallClient, citation: Citation, shown: str) -> str:
    url = section_url(client, citation.guide_id, citation.section_id, citation.language)
    return f"[{shown}]({url})" if url else shown


def sources(client: StudyhallClient, reply: TutorReply) -> str:
    listed = [
        linked(client, citation, f"[{place}] {citation.guide_title}: {citation.heading}")
        for place, citation in enumerate(reply.cited, start=1)
    ]
    return render.cut("\n".join(listed), render.FIELD_VALUE)


def items(client: StudyhallClient, reply_id: str, reply: TutorReply, language: str) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for citation in (reply.cited or reply.considered)[:CITED_BUTTONS]:
        guide = client.tutor.library.guide(citation.guide_id, citation.language)
        section = guide.section(citation.section_id) if guide else None
        if guide and section:
            view.add_item(OpenSection.to(client, guide, section, language))
    if reply.kind is Kind.ANSWER:
        view.add_item(QuoteButton((reply_id,), "quote", text("button-quote", language), emoji="📜", row=1))
    if reply.kind is not Kind.REFUSAL:
        view.add_item(HelpfulButton(("yes", reply_id), "helpful", text("button-helpful", language), emoji="👍", row=1))
    view.add_item(HelpfulButton(("no", reply_id), "helpful", text("button-not-helpful", language), emoji="👎", row=1))
    return view
