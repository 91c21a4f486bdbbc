"""What learners press in a live round. All state is in the custom ids and the store.

Answers take the short way (`StudyhallClient.add_presses`): one custom id, one commit, one reply. Everything else is a
`StateButton`. No press edits a public message: that is the conductor's, every two seconds at most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import discord
from discord import ButtonStyle, Interaction

from bot import live_private, live_render, render
from bot.client import StudyhallClient, custom_id_of
from bot.live_desk import LiveDesk
from bot.texts import language_of, text
from bot.views import answers, solo
from bot.views.buttons import ROUND, Item, StateButton, client_of, custom_id
from bot.views.reading import OpenSection
from content.model import Choices, Question, QuestionType, TrueFalse
from tutor.errors import StaleAnswer
from tutor.grading import Response, Selected
from tutor.live import LiveRound, Phase
from tutor.live_press import Receipt, own_until
from tutor.live_service import Sheet, order_for
from tutor.rounds import Mode, Round
from tutor.rounds import score as solo_score
from tutor.scoring import Press
from tutor.service import RoundView

ROWS: Final = 5
OPTIONS: Final = 20  # of buttons; more options become a menu
_MINE_ROW: Final = ROWS - 1
_TYPING: Final = {QuestionType.ORDER: "button-order", QuestionType.MATCH: "button-match"}


class PressButton(discord.ui.Button[Any]):
    """A button that discord.py does not dispatch: `add_presses` does. So its message is not kept in memory either."""

    def is_dispatchable(self) -> bool:
        return False


class PressMenu(discord.ui.Select[Any]):
    def is_dispatchable(self) -> bool:
        return False


def desk_of(interaction: Interaction[Any]) -> LiveDesk:
    return client_of(interaction).part(LiveDesk)


# Answers ------------------------------------------------------------------------------------------------------------


async def pressed(interaction: Interaction[Any]) -> None:
    """`live:ROUND:POSITION:VOTE:OPTION` and `live-pick:ROUND:POSITION:VOTE`, on the message that everybody sees."""
    receipt = await _taken(interaction, _chosen(interaction))
    language = receipt.language or language_of(interaction.locale)
    await interaction.response.send_message(_with_own_time(receipt, live_private.receipt_text(receipt, language), language), ephemeral=True)


async def pressed_privately(interaction: Interaction[Any]) -> None:
    """The same on a person's own sheet, which then shows what they chose."""
    receipt = await _taken(interaction, _chosen(interaction))
    await _show_on_sheet(interaction, receipt)


async def typed(interaction: Interaction[Any]) -> None:
    """A submitted answer modal, `live-typed:ROUND:POSITION:VOTE`."""
    _, round_id, position, _ = custom_id_of(interaction).split(":")
    round_ = await desk_of(interaction).live.load(round_id)
    if int(position) >= round_.total:
        raise StaleAnswer(f"round {round_id} has no question {position}")
    response = solo.response_of(round_.quiz.questions[int(position)], solo.submitted_fields(interaction))
    if response is None:
        await interaction.response.send_message(text("error-order-twice", language_of(interaction.locale)), ephemeral=True)
        return
    receipt = await _taken(interaction, response)
    language = receipt.language or language_of(interaction.locale)
    await interaction.response.send_message(_with_own_time(receipt, live_private.receipt_text(receipt, language), language), ephemeral=True)


async def opened(interaction: Interaction[Any]) -> None:
    """`live-type:ROUND:POSITION:VOTE`: the fields to type, order or match in."""
    _, round_id, position, vote = custom_id_of(interaction).split(":")
    desk = desk_of(interaction)
    desk.clock.heard(interaction.created_at)
    round_ = await desk.live.load(round_id)
    refusal = round_.refusal(int(position), int(vote), interaction.created_at, factor=float("inf"))  # their own time is judged later
    if refusal is not None:
        await interaction.response.send_message(text(f"live-refused-{refusal.value}", language_of(interaction.locale)), ephemeral=True)
        return
    await interaction.response.send_modal(answer_modal(round_, int(position), int(vote), interaction.user.id))


def _chosen(interaction: Interaction[Any]) -> Response:
    data: dict[str, Any] = dict(interaction.data or {})
    values = data.get("values")
    return Selected(tuple(values)) if values is not None else Selected((custom_id_of(interaction).rsplit(":", 1)[1],))


async def _taken(interaction: Interaction[Any], response: Response) -> Receipt:
    _, round_id, position, vote, *_ = custom_id_of(interaction).split(":")
    desk = desk_of(interaction)
    made_at = interaction.created_at
    desk.clock.heard(made_at)
    press = Press(interaction.id, int(position), int(vote), interaction.user.id, response, made_at)
    receipt = await desk.live.press(round_id, press, interaction.user.display_name)
    if receipt.refusal is None:
        desk.pressed(round_id)
        if receipt.round.phase is Phase.CLOSED and receipt.seat is not None and receipt.seat.factor > 1:
            desk.changed(round_id)  # the reveal has waited for this, and may be due now
    return receipt


def _with_own_time(receipt: Receipt, message: str, language: str) -> str:
    until = own_until(receipt) if receipt.refusal is None else None
    return f"{message}\n-# {text('live-sheet-until', language, when=discord.utils.format_dt(until, 'R'))}" if until else message


async def _show_on_sheet(interaction: Interaction[Any], receipt: Receipt) -> None:
    language = receipt.language or language_of(interaction.locale)
    round_, question = receipt.round, receipt.question
    if receipt.refusal is not None or question is None or receipt.standing is None or receipt.seat is None:
        await interaction.response.send_message(live_private.receipt_text(receipt, language), ephemeral=True)
        return
    sheet = Sheet(
        round=round_,
        position=receipt.position,
        vote=receipt.vote,
        question=question,
        order=order_for(round_, receipt.position, interaction.user.id if round_.rules.own_order else None),
        mine=receipt.standing.response,
        factor=receipt.seat.factor,
        until=own_until(receipt),
        open=True,
    )
    await interaction.response.edit_message(embed=live_private.sheet_embed(sheet, language), view=sheet_items(sheet))


# Seats, places ------------------------------------------------------------------------------------------------------


async def joining(interaction: Interaction[Any]) -> None:
    """`live-join:ROUND` and `live-team:ROUND:TEAM`: a lobby of 500 people fills in seconds."""
    _, round_id, *team = custom_id_of(interaction).split(":")
    desk = desk_of(interaction)
    desk.clock.heard(interaction.created_at)
    person = interaction.user
    try:
        joined = await desk.live.join(
            round_id, person.id, person.display_name, team=int(team[0]) if team else None, now=interaction.created_at
        )
    except StaleAnswer:
        await interaction.response.send_message(text("live-not-in", language_of(interaction.locale)), ephemeral=True)
        return
    language, seat = joined.language or language_of(interaction.locale), joined.seat
    if seat.team is not None:
        said = text("live-joined-team", language, team=live_render.team_name(seat.team, language))
    elif joined.new:
        said = text("live-joined", language, number=seat.number, channel=str(joined.round.channel_id))
    else:
        said = text("live-joined-already", language)
    await interaction.response.send_message(said, ephemeral=True)
    if joined.new:
        desk.pressed(round_id)


async def placed(interaction: Interaction[Any]) -> None:
    """`live-place:ROUND`: everybody wants to know after a reveal."""
    _, round_id = custom_id_of(interaction).split(":")
    place = await desk_of(interaction).live.place(round_id, interaction.user.id)
    said = live_private.place_text(place, await client_of(interaction).language(interaction))
    await interaction.response.send_message(said, ephemeral=True)


def place_button(round_: LiveRound) -> PressButton:
    return PressButton(label=text("live-button-place", round_.language), emoji="🏅", custom_id=custom_id("live-place", round_.id))


# What is pressed ----------------------------------------------------------------------------------------------------


def add_options(
    items: discord.ui.View,
    round_: LiveRound,
    position: int,
    vote: int,
    options: list[tuple[str, str]],
    *,
    prefix: str,
    chosen: tuple[str, ...] = (),
    disabled: bool = False,
) -> None:
    question, language = round_.quiz.questions[position], round_.language
    key = (round_.id, position, vote)
    match question.body:
        case Choices(many=many) as body if many or len(options) > OPTIONS:
            most = min(body.most or len(options), len(options)) if many else 1
            placeholder = text("choose-placeholder" if many else "choose-one-placeholder", language)
            ids, texts = [option for option, _ in options], [shown for _, shown in options]
            plain = solo.menu(ids, texts, placeholder, most=most)
            for option in plain.options:
                option.default = option.value in chosen
            items.add_item(
                PressMenu(
                    custom_id=custom_id(f"{prefix}-pick", *key),
                    options=plain.options,
                    placeholder=placeholder,
                    min_values=plain.min_values,
                    max_values=plain.max_values,
                    disabled=disabled,
                )
            )
        case Choices():
            lettered = [f"{render.letter(i)}. {shown}" for i, (_, shown) in enumerate(options)]
            long = any(len(label) > render.BUTTON_LABEL for label in lettered)
            per_row = len(options) <= ROWS - 1 and not long and max(map(len, lettered)) > 24
            for i, (option, _) in enumerate(options):
                label = render.letter(i) if long else lettered[i]
                style = ButtonStyle.success if option in chosen else ButtonStyle.secondary
                row = i if per_row else i // 5
                items.add_item(PressButton(label=label, style=style, custom_id=custom_id(prefix, *key, option), row=row, disabled=disabled))
        case TrueFalse():
            for option, shown in options:
                style = ButtonStyle.success if option in chosen else ButtonStyle.secondary
                items.add_item(PressButton(label=shown, style=style, custom_id=custom_id(prefix, *key, option), disabled=disabled))
        case _:
            label = _TYPING.get(question.type, "button-type")
            items.add_item(
                PressButton(
                    label=text(label, language), style=ButtonStyle.primary, custom_id=custom_id("live-type", *key), disabled=disabled
                )
            )


def question_items(round_: LiveRound, position: int, vote: int, *, answering: bool) -> discord.ui.View:
    """Under a question: its answers while it takes some, one's own answer, and the signal that one is lost."""
    language = round_.language
    items = discord.ui.View(timeout=None)
    own = answering and round_.rules.own_order and isinstance(round_.quiz.questions[position].body, Choices)
    if own:
        items.add_item(SheetButton((round_.id,), "live-sheet", text("live-button-answer", language), style=ButtonStyle.primary))
    elif answering:
        add_options(items, round_, position, vote, live_render.options_of(round_, position), prefix="live")
    if not round_.over:
        if not own:
            items.add_item(SheetButton((round_.id,), "live-sheet", text("live-button-mine", language), row=_MINE_ROW))
        items.add_item(LostButton((round_.id,), "live-lost", text("live-button-lost", language), emoji="🖐️", row=_MINE_ROW))
    return items


def sheet_items(sheet: Sheet) -> discord.ui.View:
    items = discord.ui.View(timeout=None)
    chosen = sheet.mine.ids if isinstance(sheet.mine, Selected) else ()
    options = live_render.options_of(sheet.round, sheet.position, sheet.order)
    add_options(items, sheet.round, sheet.position, sheet.vote, options, prefix="live-own", chosen=chosen, disabled=not sheet.open)
    return items


def reveal_items(client: StudyhallClient, round_: LiveRound, position: int) -> discord.ui.View:
    language = round_.language
    items = discord.ui.View(timeout=None)
    items.add_item(WhyButton((round_.id, position), "live-why", text("live-button-why", language), emoji="💡", style=ButtonStyle.primary))
    items.add_item(place_button(round_))
    located = client.tutor.located(round_.quiz.section_of(round_.quiz.questions[position]), language)
    if located and located[1]:
        items.add_item(OpenSection.to(client, located[0], located[1], language))
    if not round_.over:
        items.add_item(LostButton((round_.id,), "live-lost", text("live-button-lost", language), emoji="🖐️"))
    return items


def lobby_items(round_: LiveRound) -> discord.ui.View:
    language = round_.language
    items = discord.ui.View(timeout=None)
    if round_.over or (round_.phase is not Phase.LOBBY and not round_.rules.late_join):
        return items
    if round_.rules.teams and round_.phase is Phase.LOBBY:
        for team in range(round_.rules.teams):
            label = live_render.team_name(team, language)
            items.add_item(PressButton(label=label, custom_id=custom_id("live-team", round_.id, team), row=team // 4))
    else:
        label = text("live-join", language)
        items.add_item(PressButton(label=label, style=ButtonStyle.success, custom_id=custom_id("live-join", round_.id)))
    return items


def podium_items(round_: LiveRound) -> discord.ui.View:
    items = discord.ui.View(timeout=None)
    label = text("live-button-results", round_.language)
    items.add_item(MineButton((round_.id,), "live-mine", label, emoji="📋", style=ButtonStyle.primary))
    items.add_item(place_button(round_))
    return items


def answer_modal(round_: LiveRound, position: int, vote: int, learner_id: int) -> discord.ui.Modal:
    """The fields of a solo round, with an id that names the live question."""
    question = round_.quiz.questions[position]
    order = order_for(round_, position, learner_id if round_.rules.own_order else None)
    modal = solo.answer_modal(as_solo(round_, question, order, learner_id), question)
    title = round_.quiz.title[round_.language]
    heading = text("live-question-title", round_.language, title=title, number=position + 1, total=round_.total)
    modal.title = render.cut(heading, 45)
    modal.custom_id = custom_id("live-typed", round_.id, position, vote)
    return modal


def as_solo(round_: LiveRound, question: Question, order: tuple[str, ...], learner_id: int) -> RoundView:
    """One live question as a solo round of its own, for the views that both kinds of round share."""
    alone = Round(
        id=round_.id,
        learner_id=learner_id,
        guild_id=round_.guild_id,
        channel_id=round_.channel_id,
        quiz_id=round_.quiz.id,
        quiz_version=round_.quiz.version,
        language=round_.language,
        mode=Mode.EXAM,
        question_ids=(question.id,),
        orders={question.id: order},
        started_at=round_.created_at,
        asked_at=round_.created_at,
    )
    quiz = replace(round_.quiz, questions=(question,))
    return RoundView(alone, quiz, question, solo_score(alone, quiz, now=round_.created_at))


# Other buttons ------------------------------------------------------------------------------------------------------


class SheetButton(StateButton, template=rf"live-sheet:({ROUND})"):
    """One's own answer; with an order of one's own, or extra time, also the place to give it."""

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        desk = client.part(LiveDesk)
        desk.clock.heard(interaction.created_at)
        sheet = await desk.live.sheet(self.parts[0], interaction.user.id, now=interaction.created_at)
        language = await client.language(interaction)
        own = sheet.round.rules.own_order or (sheet.factor > 1 and sheet.round.phase is Phase.CLOSED)
        embed = live_private.sheet_embed(sheet, language)
        if own and sheet.open:
            await interaction.response.send_message(embed=embed, view=sheet_items(sheet), ephemeral=True)
        else:
            await interaction.response.send_message(embed=embed, ephemeral=True)


class LostButton(StateButton, template=rf"live-lost:({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        desk = client.part(LiveDesk)
        await desk.live.signal_lost(self.parts[0], interaction.user.id)
        await interaction.response.send_message(text("live-lost-noted", await client.language(interaction)), ephemeral=True)
        desk.pressed(self.parts[0])


class WhyButton(StateButton, template=rf"live-why:({ROUND}):(\d{{1,3}})"):
    """Asks the guide about this person's own answer."""

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        await answers.received(interaction, ephemeral=True)
        round_id, position = self.parts
        round_, made, line = await client.part(LiveDesk).live.line(round_id, int(position), interaction.user.id)
        asked = client.tutor.answering.why(
            round_.quiz,
            made.question,
            line.response if line and line.response else Selected(()),
            right=bool(line and line.credit >= 1),
            language=await client.language(interaction),
            learner_id=interaction.user.id,
        )
        await answers.stream(client, interaction, asked, ephemeral=True)


class MineButton(StateButton, template=rf"live-mine:({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        desk, language = client.part(LiveDesk), await client.language(interaction)
        place = await desk.live.place(self.parts[0], interaction.user.id)
        items = discord.ui.View(timeout=None)
        items.add_item(SendButton(self.parts, "live-dm", text("live-mine-dm", language), emoji="✉️"))
        items.add_item(KeepButton(self.parts, "live-keep", text("live-mine-keep", language), emoji="🔖"))
        await interaction.response.send_message(embed=live_private.mine_embed(place, language), view=items, ephemeral=True)


class SendButton(StateButton, template=rf"live-dm:({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        language = await client.language(interaction)
        await interaction.response.defer(ephemeral=True, thinking=True)
        place = await client.part(LiveDesk).live.place(self.parts[0], interaction.user.id)
        try:
            await interaction.user.send(embed=live_private.mine_embed(place, language))
            said = "live-mine-sent"
        except discord.Forbidden:
            said = "live-mine-refused"
        await interaction.edit_original_response(content=text(said, language))


class KeepButton(StateButton, template=rf"live-keep:({ROUND})"):
    """Agree that misses are kept for a review; pressed again, take that back."""

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        live, person = client.part(LiveDesk).live, interaction.user.id
        keeps = not await live.misses.keeps(person)
        await live.keep_misses(person, self.parts[0], keeps=keeps)
        said = text("live-mine-kept" if keeps else "live-mine-dropped", await client.language(interaction))
        await interaction.response.send_message(said, ephemeral=True)


BUTTONS: Final[tuple[type[discord.ui.DynamicItem[Item]], ...]] = (
    SheetButton, LostButton, WhyButton, MineButton, SendButton, KeepButton,
)  # fmt: skip
PRESSES: Final = {
    "live": pressed,
    "live-pick": pressed,
    "live-own": pressed_privately,
    "live-own-pick": pressed_privately,
    "live-type": opened,
    "live-join": joining,
    "live-team": joining,
    "live-place": placed,
}
