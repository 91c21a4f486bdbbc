"""Guides in Discord: one ephemeral message, paged by buttons and a menu; links to sections."""

from __future__ import annotations

from typing import Any

import discord
from discord import Interaction

from bot import render
from bot.client import StudyhallClient
from bot.texts import text
from bot.views.buttons import KEY, StateButton, StateMenu
from content.model import Guide, Section
from tutor.service import GuideView


class OpenSection(StateButton, template=rf"section:({KEY}{{1,40}}):({KEY}{{1,46}})"):
    """Opens one section for the person who pressed, beside the message it stands on."""

    @classmethod
    def to(cls, client: StudyhallClient, guide: Guide, section: Section, language: str) -> discord.ui.Item[Any]:
        """A link where guides are published, else a button that opens the section here."""
        label = render.cut(text("button-read", language, heading=section.heading), render.BUTTON_LABEL)
        if url := section_url(client, guide.id, section.id, guide.language):
            return discord.ui.Button(label=label, url=url, emoji="📖")
        return cls((guide.id, section.id), "section", label, emoji="📖")

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        guide_id, section_id = self.parts
        language = await client.language(interaction)
        view = client.tutor.guide(guide_id, language)
        embed, items = page(client, view, render.page_of(view.guide, section_id), language)
        await interaction.response.send_message(embed=embed, view=items, ephemeral=True)


class PageButton(StateButton, template=rf"page:({KEY}{{1,60}}):(\d{{1,3}}):([a-z]{{2}})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        guide_id, number, language = self.parts
        await turn(client, interaction, guide_id, int(number), language)


class GuideButton(StateButton, template=rf"guide:({KEY}{{1,60}}):([a-z]{{2}})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        guide_id, language = self.parts
        await turn(client, interaction, guide_id, 0, language)


class PageMenu(StateMenu, template=rf"jump:({KEY}{{1,60}}):([a-z]{{2}})"):
    async def chosen(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        guide_id, language = self.parts
        await turn(client, interaction, guide_id, int(self.item.values[0]), language)


BUTTONS = (OpenSection, PageButton, GuideButton, PageMenu)


async def turn(client: StudyhallClient, interaction: Interaction[Any], guide_id: str, number: int, language: str) -> None:
    view = client.tutor.guide(guide_id, language)
    embed, items = page(client, view, min(number, len(render.guide_pages(view.guide)) - 1), language)
    await interaction.response.edit_message(embed=embed, view=items)


def page(client: StudyhallClient, view: GuideView, number: int, language: str) -> tuple[discord.Embed, discord.ui.View]:
    guide = view.guide
    pages = render.guide_pages(guide)
    items = discord.ui.View(timeout=None)
    headings = [text("guide-faq", language) if sections[0].faq else sections[0].heading for sections in pages]
    options = [
        discord.SelectOption(label=render.cut(f"{place + 1}. {heading}", 100), value=str(place), default=place == number)
        for place, heading in enumerate(headings)
    ]
    start = max(0, min(number - 12, len(options) - 25))  # a menu holds 25: show those around the page
    menu = discord.ui.Select[Any](options=options[start : start + 25], placeholder=text("guide-jump", language))
    items.add_item(PageMenu((guide.id, language), "jump", menu))
    back, forward = max(0, number - 1), min(len(pages) - 1, number + 1)
    # the ids of the two buttons differ even where both would lead to the same page
    items.add_item(PageButton((guide.id, back, language), "page", text("button-previous", language), emoji="◀️", disabled=number == 0))
    if number < len(pages) - 1:
        items.add_item(
            PageButton(
                (guide.id, forward, language), "page", text("button-forward", language), emoji="▶️", style=discord.ButtonStyle.primary
            )
        )
    elif view.next:
        label = text("guide-next", language, title=view.next.title)
        items.add_item(GuideButton((view.next.id, language), "guide", label, style=discord.ButtonStyle.primary))
    return render.guide_embed(view, number, language), items


def section_url(client: StudyhallClient, guide_id: str, section_id: str, language: str) -> str | None:
    """Where a section is published, if guides are: a link has at most 512 characters."""
    url = f"{client.guide_url}/{guide_id}?lang={language}#{section_id}" if client.guide_url else None
    return url if url and len(url) <= 512 else None
