"""A solo round in Discord: one ephemeral message that each press edits. All state is in the custom ids and the store."""

from __future__ import annotations

from typing import Any

import discord
from discord import ButtonStyle, Interaction

from bot import render
from bot.client import StudyhallClient, custom_id_of
from bot.texts import language_of, text
from bot.views import answers
from bot.views.buttons import KEY, ROUND, StateButton, StateMenu, client_of, custom_id
from bot.views.reading import OpenSection
from content.model import Choices, Info, Match, Order, Question, Short, TrueFalse
from tutor.errors import BadResponse
from tutor.grading import FALSE, TRUE, Arranged, Filled, Paired, Response, Selected, Written
from tutor.rounds import Mode
from tutor.service import RoundView

ROWS = 5
MODAL_PARTS = 5  # components of a modal; `tutor.rounds.playable` keeps longer questions out


class AnswerButton(StateButton, template=rf"answer:({ROUND}):(\d{{1,3}}):({KEY}{{1,60}})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        round_id, position, choice = self.parts
        await submit(client, interaction, round_id, int(position), Selected((choice,)))


class AnswerMenu(StateMenu, template=rf"pick:({ROUND}):(\d{{1,3}})"):
    async def chosen(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        round_id, position = self.parts
        await submit(client, interaction, round_id, int(position), Selected(tuple(self.item.values)))


class TypeButton(StateButton, template=rf"type:({ROUND}):(\d{{1,3}})"):
    """Opens the modal for questions that are typed, ordered or matched."""

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        round_id, position = self.parts
        view = await client.tutor.show(round_id, interaction.user.id, now=interaction.created_at)
        if view.open is None or view.position != int(position):
            await show(client, interaction, view)  # the button is old: the round as it stands is the best answer
            return
        await interaction.response.send_modal(answer_modal(view, view.open))


class NextButton(StateButton, template=rf"next:({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        view = await client.tutor.show(self.parts[0], interaction.user.id, now=interaction.created_at)
        await show(client, interaction, view)


class WhyButton(StateButton, template=rf"why:({ROUND}):(\d{{1,3}})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        await answers.received(interaction, ephemeral=True)
        round_id, position = self.parts
        view = await client.tutor.review(round_id, int(position), interaction.user.id, now=interaction.created_at)
        assert view.judged is not None, "a review has a verdict"
        judged = view.judged
        asked = client.tutor.answering.why(
            view.quiz,
            judged.question,
            judged.answer.response,
            right=judged.answer.grade.credit >= 1,
            language=view.round.language,
            learner_id=interaction.user.id,
        )
        await answers.stream(client, interaction, asked, ephemeral=True)


class HintButton(StateButton, template=rf"hint:({ROUND}):(\d{{1,3}})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        round_id, position = self.parts
        reply = await client.tutor.hint(round_id, int(position), interaction.user.id)
        language = await client.language(interaction)
        await interaction.response.send_message(embed=answers.hint_embed(client, reply, language), ephemeral=True)


class EndButton(StateButton, template=rf"end:({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        await show(client, interaction, await client.tutor.end(self.parts[0], interaction.user.id, now=interaction.created_at))


class ReviewMenu(StateMenu, template=rf"review:({ROUND})"):
    """After the end: look at one question again."""

    async def chosen(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        position = int(self.item.values[0])
        view = await client.tutor.review(self.parts[0], position, interaction.user.id, now=interaction.created_at)
        await show(client, interaction, view)


class AgainButton(StateButton, template=rf"again:(practice|exam):({KEY}{{1,60}})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        mode, quiz_id = self.parts
        view = await client.tutor.start_round(
            quiz_id,
            learner_id=interaction.user.id,
            guild_id=interaction.guild_id,
            channel_id=interaction.channel_id,
            language=await client.language(interaction),
            mode=Mode(mode),
            count=None,
            shuffled=True,
            now=interaction.created_at,
            rng=client.rng,
        )
        await show(client, interaction, view)


BUTTONS = (AnswerButton, AnswerMenu, TypeButton, NextButton, WhyButton, HintButton, EndButton, ReviewMenu, AgainButton)


async def submit(client: StudyhallClient, interaction: Interaction[Any], round_id: str, position: int, response: Response) -> None:
    view = await client.tutor.answer(round_id, position, response, interaction.user.id, now=interaction.created_at)
    await show(client, interaction, view)


async def show(client: StudyhallClient, interaction: Interaction[Any], view: RoundView) -> None:
    """Show the round as it stands: on a press by editing the message pressed, else in a new ephemeral one."""
    embed, items = page(client, view)
    if interaction.message is not None:
        await interaction.response.edit_message(content=None, embed=embed, view=items)
    else:
        await interaction.response.send_message(embed=embed, view=items, ephemeral=True)


def page(client: StudyhallClient, view: RoundView) -> tuple[discord.Embed, discord.ui.View]:
    language = view.round.language
    items = discord.ui.View(timeout=None)
    if view.judged is not None:
        located = client.tutor.located(view.quiz.section_of(view.judged.question), language)
        section = located[1] if located else None
        items.add_item(WhyButton((view.round.id, view.position), "why", text("button-why", language), emoji="💡"))
        if located and section:
            items.add_item(OpenSection.to(client, located[0], section, language))
        proceed = text("button-finish" if view.finished else "button-next", language)
        items.add_item(NextButton((view.round.id,), "next", proceed, style=ButtonStyle.primary))
        return render.judged_embed(view, view.judged, section), items
    if view.open is None:
        return result_page(client, view, items)
    add_answer_items(items, view, view.open)
    if view.open.hints and view.round.mode is Mode.PRACTICE:
        items.add_item(HintButton((view.round.id, view.position), "hint", text("button-hint", language), emoji="🧭", row=ROWS - 1))
    if view.round.answers:
        items.add_item(EndButton((view.round.id,), "end", text("button-end", language), row=ROWS - 1))
    return render.question_embed(view), items


def result_page(client: StudyhallClient, view: RoundView, items: discord.ui.View) -> tuple[discord.Embed, discord.ui.View]:
    language = view.round.language
    reread = client.tutor.missed_sections(view)
    options = [
        discord.SelectOption(
            label=text("button-review", language, number=place + 1),
            value=str(place),
            description=render.cut(question.stem[language].splitlines()[0], 100),
            emoji=render.MARKS[answer.grade.verdict],
        )
        for place, answer in enumerate(view.round.answers[:25])
        if (question := view.quiz.question(answer.question_id))
    ]
    if options:
        questions = discord.ui.Select[Any](options=options, placeholder=text("result-questions", language))
        items.add_item(ReviewMenu((view.round.id,), "review", questions))
    for guide, section in reread[:3]:
        items.add_item(OpenSection.to(client, guide, section, language))
    again = text("button-again", language)
    items.add_item(AgainButton((view.round.mode.value, view.quiz.id), "again", again, style=ButtonStyle.primary))
    return render.result_embed(view, reread), items


def add_answer_items(items: discord.ui.View, view: RoundView, question: Question) -> None:
    language, key = view.round.language, (view.round.id, view.position)
    match question.body:
        case Choices(many=many):
            choices = render.ordered(question, view.round)
            texts = [choice.text[language] for choice in choices]
            if many or len(choices) > (ROWS - 1) * 5:
                most = min(question.body.most or len(choices), len(choices)) if many else 1
                placeholder = text("choose-placeholder" if many else "choose-one-placeholder", language)
                items.add_item(AnswerMenu(key, "pick", menu([choice.id for choice in choices], texts, placeholder, most=most)))
                return
            lettered = [f"{render.letter(i)}. {choice}" for i, choice in enumerate(texts)]
            long = any(len(label) > render.BUTTON_LABEL for label in lettered)
            per_row = len(choices) <= ROWS - 1 and not long and max(map(render.width, lettered)) > 24
            for i, choice in enumerate(choices):
                label = render.letter(i) if long else lettered[i]
                row = i if per_row else i // 5
                items.add_item(AnswerButton((*key, choice.id), "answer", label, row=row))
        case TrueFalse():
            items.add_item(AnswerButton((*key, TRUE), "answer", text("answer-true", language)))
            items.add_item(AnswerButton((*key, FALSE), "answer", text("answer-false", language)))
        case Info():
            items.add_item(AnswerButton((*key, "read"), "answer", text("button-next", language), style=ButtonStyle.primary))
        case Order():
            items.add_item(TypeButton(key, "type", text("button-order", language), style=ButtonStyle.primary))
        case Match():
            items.add_item(TypeButton(key, "type", text("button-match", language), style=ButtonStyle.primary))
        case _:
            items.add_item(TypeButton(key, "type", text("button-type", language), style=ButtonStyle.primary))


def menu(ids: list[str], texts: list[str], placeholder: str, *, most: int = 1) -> discord.ui.Select[Any]:
    """A select; a text over the 100 characters of an option keeps its letter, and the whole text stands above."""
    lettered = [f"{render.letter(i)}. {choice}" for i, choice in enumerate(texts)] if len(ids) <= 26 else texts
    options = [discord.SelectOption(label=render.cut(label, 100), value=key) for key, label in zip(ids, lettered, strict=True)]
    return discord.ui.Select(options=options[:25], placeholder=placeholder, min_values=1, max_values=min(most, len(options)))


# Modals -------------------------------------------------------------------------------------------------------------


def answer_modal(view: RoundView, question: Question) -> discord.ui.Modal:
    """The modal's own id says which question it answers; each part's id says which blank, place or pair it is."""
    language = view.round.language
    heading = text("round-title", language, title=view.quiz.title[language], number=view.position + 1, total=view.total)
    modal = discord.ui.Modal(title=render.cut(heading, 45), custom_id=custom_id("typed", view.round.id, view.position))
    match question.body:
        case Short(blanks=blanks) if blanks:
            for place, blank in enumerate(blanks[:MODAL_PARTS], start=1):
                part = (
                    menu([choice.id for choice in blank.choices], [choice.text[language] for choice in blank.choices], "")
                    if blank.choices
                    else discord.ui.TextInput[Any](max_length=200)
                )
                part.custom_id = blank.id
                modal.add_item(discord.ui.Label(text=text("modal-gap", language, number=place), component=part))
        case Order(items=items):
            by_id = {item.id: item.text[language] for item in items}
            shown = view.round.orders[question.id]
            for place in range(1, len(items[:MODAL_PARTS]) + 1):
                part = menu(list(shown), [by_id[key] for key in shown], "")
                part.custom_id = f"place-{place}"
                modal.add_item(discord.ui.Label(text=text("modal-place", language, number=place), component=part))
        case Match() as body:
            rights = {pair.id: pair.right for pair in body.pairs} | {item.id: item.text for item in body.distractors}
            shown = view.round.orders[question.id]
            for pair in body.pairs[:MODAL_PARTS]:
                part = menu(list(shown), [rights[key][language] for key in shown], "")
                part.custom_id = f"pair-{pair.id}"
                left = pair.left[language]
                short = render.cut(left, 45)
                modal.add_item(discord.ui.Label(text=short, component=part, description=render.cut(left, 100) if short != left else None))
        case _:
            part = discord.ui.TextInput[Any](custom_id="answer", max_length=200, placeholder=render.cut(question.stem[language], 100))
            modal.add_item(discord.ui.Label(text=text("modal-answer", language), component=part))
    return modal


async def typed(interaction: Interaction[Any]) -> None:
    """A submitted answer modal."""
    client = client_of(interaction)
    _, round_id, position = custom_id_of(interaction).split(":")
    view = await client.tutor.show(round_id, interaction.user.id, now=interaction.created_at)
    question = view.quiz.question(view.round.question_ids[int(position)])
    response = response_of(question, submitted_fields(interaction))
    if response is None:
        await interaction.response.send_message(text("error-order-twice", language_of(interaction.locale)), ephemeral=True)
        return
    await submit(client, interaction, round_id, int(position), response)


def submitted_fields(interaction: Interaction[Any]) -> dict[str, str]:
    """Custom id -> what was typed or chosen, from Discord's own modal payload."""
    components: list[dict[str, Any]] = [dict(part) for part in (interaction.data or {}).get("components", [])]
    fields: dict[str, str] = {}
    for outer in components:
        inner = [outer["component"]] if "component" in outer else outer.get("components", [])
        for part in inner:
            values = part.get("values")
            fields[part["custom_id"]] = str(values[0] if values else part.get("value", ""))
    return fields


def response_of(question: Question | None, fields: dict[str, str]) -> Response | None:
    """None when an order names one item twice, which is a slip and not an answer."""
    match question.body if question else None:
        case Short(blanks=blanks) if blanks:
            return Filled(fields)
        case Order(items=items):
            ids = [fields[f"place-{place}"] for place in range(1, len(items) + 1) if f"place-{place}" in fields]
            if len(set(ids)) < len(ids):
                return None
            left = [item.id for item in items if item.id not in ids]
            return Arranged((*ids, *left)) if len(left) <= 1 else None  # a sixth item has the place that is left
        case Match():
            return Paired({name.removeprefix("pair-"): value for name, value in fields.items()})
        case Short():
            return Written(fields.get("answer", ""))
        case _:
            raise BadResponse("this question is not answered by typing")
