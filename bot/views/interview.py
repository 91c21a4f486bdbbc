"""The interview in Discord: one ephemeral message that each press edits, the reference beside it.

The whole state is in the custom ids, so every button works after a restart. What a learner writes goes from the modal
into the message and nowhere else: Discord shows it back, nothing here keeps, grades or logs it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import discord
from discord import ButtonStyle, Interaction

from bot import interview_render, render
from bot.client import StudyhallClient, custom_id_of
from bot.texts import text
from bot.views.buttons import StateButton, StateMenu, client_of, custom_id
from bot.views.reading import OpenSection
from bot.views.solo import submitted_fields
from tutor.errors import BadResponse
from tutor.interview import KEY_DIGITS, Posed

CRITERIA: Final = 25  # options of a select; the content check reports longer rubrics
MODAL_TITLE: Final = 45
_STATE: Final = rf"([0-9a-f]{{{KEY_DIGITS}}}):([a-z]{{2}}):(part|all):(\d{{1,2}}):(-|[0-9a-f]{{1,7}})"
_PAGE: Final = rf"([0-9a-f]{{{KEY_DIGITS}}}):([a-z]{{2}}):(\d{{1,3}})"
_MODAL: Final = "iv-answer"


@dataclass(frozen=True, slots=True)
class State:
    """Where a learner is: the question, how many follow-ups were asked, and once an answer is written, what is ticked."""

    key: str
    language: str
    within: bool  # the next question is of the same part
    probes: int = 0
    ticked: frozenset[int] | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        bits = "-" if self.ticked is None else f"{sum(1 << at for at in self.ticked):x}"
        return (self.key, self.language, "part" if self.within else "all", str(self.probes), bits)

    @classmethod
    def of(cls, parts: tuple[str, ...]) -> State:
        key, language, scope, probes, bits = parts
        ticked = None if bits == "-" else frozenset(at for at in range(CRITERIA) if int(bits, 16) >> at & 1)
        return cls(key, language, scope == "part", int(probes), ticked)


class WriteButton(StateButton, template=rf"iv-write:{_STATE}"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        state = State.of(self.parts)
        posed = client.tutor.interviews.posed(state.key)
        await interaction.response.send_modal(answer_modal(state, posed, written_on(interaction)))


class ProbeButton(StateButton, template=rf"iv-probe:{_STATE}"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        state = State.of(self.parts)
        await show(client, interaction, replace(state, probes=state.probes + 1), written_on(interaction))


class NextQuestionButton(StateButton, template=rf"iv-next:{_STATE}"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        state = State.of(self.parts)
        shown = client.tutor.interviews.by_key.get(state.key)  # it may have left the library since
        part = shown.quiz.id if shown and state.within else None
        posed = client.tutor.interviews.drawn(part, but=state.key, rng=client.rng)
        await show(client, interaction, State(posed.key, state.language, state.within and part is not None))


class ReferenceButton(StateButton, template=rf"iv-ref:{_STATE}"):
    """Opens the reference beside the question, so that an answer can be compared with it."""

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        state = State.of(self.parts)
        embed, items = reference(client, state.key, state.language, 0)
        await interaction.response.send_message(embed=embed, view=items, ephemeral=True)


class ReferencePageButton(StateButton, template=rf"iv-page:{_PAGE}"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        key, language, number = self.parts
        embed, items = reference(client, key, language, int(number))
        await interaction.response.edit_message(embed=embed, view=items)


class CheckMenu(StateMenu, template=rf"iv-tick:{_STATE}"):
    """The learner ticks the rubric points that the answer meets."""

    async def chosen(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        ticked = frozenset(int(value) for value in self.item.values)
        await show(client, interaction, replace(State.of(self.parts), ticked=ticked), written_on(interaction))


BUTTONS = (WriteButton, ProbeButton, NextQuestionButton, ReferenceButton, ReferencePageButton, CheckMenu)


async def show(client: StudyhallClient, interaction: Interaction[Any], state: State, answer: str | None = None) -> None:
    """Show a question as it stands: on a press by editing the message pressed, else in a new ephemeral one."""
    embeds, items = page(client, state, answer)
    if interaction.message is not None:
        await interaction.response.edit_message(embeds=embeds, view=items)
    else:
        await interaction.response.send_message(embeds=embeds, view=items, ephemeral=True)


def page(client: StudyhallClient, state: State, answer: str | None) -> tuple[list[discord.Embed], discord.ui.View]:
    posed = client.tutor.interviews.posed(state.key)
    language, body = state.language, posed.body
    embeds = [interview_render.question_embed(posed, state.probes, language)]
    items = discord.ui.View(timeout=None)
    if state.ticked is not None and answer is not None:
        shown = interview_render.answer_embed(answer, language)
        check = interview_render.check_embed(posed, state.ticked, language)
        embeds = interview_render.fitted(embeds[0], shown, check)
        if body.rubric:
            items.add_item(CheckMenu(state.parts, "iv-tick", check_menu(posed, state.ticked, language)))
    again = "button-interview-again" if state.ticked is not None else "button-interview-write"
    items.add_item(WriteButton(state.parts, "iv-write", text(again, language), emoji="✍️", style=ButtonStyle.primary))
    if state.probes < len(body.probes):
        items.add_item(ProbeButton(state.parts, "iv-probe", text("button-interview-probe", language), emoji="🔎"))
    items.add_item(ReferenceButton(state.parts, "iv-ref", text("button-interview-reference", language), emoji="📋"))
    items.add_item(NextQuestionButton(state.parts, "iv-next", text("button-next", language), emoji="➡️"))
    located = client.tutor.located(posed.quiz.section_of(posed.question), language)
    if located and located[1]:
        items.add_item(OpenSection.to(client, located[0], located[1], language))
    return embeds, items


def check_menu(posed: Posed, ticked: frozenset[int], language: str) -> discord.ui.Select[Any]:
    """The rubric as options; a criterion over 100 characters stands in full above."""
    options = [
        discord.SelectOption(
            label=render.cut(criterion.criterion[language], 100),
            value=str(at),
            description=text("interview-points", language, points=criterion.points),
            default=at in ticked,
        )
        for at, criterion in enumerate(posed.body.rubric[:CRITERIA])
    ]
    placeholder = text("interview-tick", language)
    return discord.ui.Select(options=options, placeholder=placeholder, min_values=0, max_values=len(options))


def reference(client: StudyhallClient, key: str, language: str, number: int) -> tuple[discord.Embed, discord.ui.View]:
    posed = client.tutor.interviews.posed(key)
    last = len(interview_render.reference_pages(posed, language)) - 1
    number = min(number, last)
    items = discord.ui.View(timeout=None)
    if last > 0:
        before, after = (key, language, max(0, number - 1)), (key, language, number + 1)  # never the same id twice
        items.add_item(ReferencePageButton(before, "iv-page", text("button-previous", language), emoji="◀️", disabled=number == 0))
        items.add_item(ReferencePageButton(after, "iv-page", text("button-forward", language), emoji="▶️", disabled=number == last))
    return interview_render.reference_embed(posed, number, language), items


# Writing an answer --------------------------------------------------------------------------------------------------


def written_on(interaction: Interaction[Any]) -> str | None:
    """The answer that the pressed message shows, if it shows one: the second of its embeds."""
    embeds = interaction.message.embeds if interaction.message is not None else []
    return embeds[1].description if len(embeds) > 1 else None


def answer_modal(state: State, posed: Posed, before: str | None) -> discord.ui.Modal:
    """`before` is what the message shows already, to be gone on with."""
    language, body = state.language, posed.body
    written = discord.ui.TextInput[Any](
        custom_id="answer",
        style=discord.TextStyle.paragraph,
        min_length=body.least_length,
        max_length=body.most_length,
        required=True,
        default=before if before is not None and len(before) <= body.most_length else None,
    )
    title = render.cut(posed.quiz.title[language], MODAL_TITLE)
    modal = discord.ui.Modal(title=title, custom_id=custom_id(_MODAL, *state.parts))
    lengths = text("interview-length", language, least=body.least_length, most=body.most_length)
    modal.add_item(discord.ui.Label(text=text("interview-yours", language), description=render.cut(lengths, 100), component=written))
    return modal


async def answered(interaction: Interaction[Any]) -> None:
    """A submitted answer: shown back beside the rubric, with nothing ticked."""
    client = client_of(interaction)
    state = State.of(tuple(custom_id_of(interaction).split(":")[1:]))
    answer = submitted_fields(interaction).get("answer", "").strip()
    if not answer:
        raise BadResponse("the answer is blank")
    await show(client, interaction, replace(state, ticked=frozenset()), answer)
