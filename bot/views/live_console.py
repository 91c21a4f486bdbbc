"""The instructor's console: one private message with the controls of a round.

Each control carries the turn it was made for, so a second press, or one that the timer or another instructor was faster
than, only refreshes the console.
"""

from __future__ import annotations

from typing import Any, Final

import discord
from discord import ButtonStyle, Interaction

from bot import live_private
from bot.client import StudyhallClient
from bot.live_desk import LiveDesk
from bot.texts import text
from bot.views.buttons import ROUND, StateButton
from tutor.live import LiveRound, Phase
from tutor.live_service import Control

_REFRESH: Final = "refresh"
_SURE: Final = "sure"  # asks before a round is ended


class DoButton(StateButton, template=rf"live-do:({ROUND}):([a-z]{{3,10}}):([a-z0-9.]{{1,40}})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        round_id, action, turn = self.parts
        desk, language = client.part(LiveDesk), await client.language(interaction)
        desk.clock.heard(interaction.created_at)
        if not desk.may_run(interaction):
            await interaction.response.send_message(desk.refusal(language), ephemeral=True)
            return
        stale = False
        if action not in (_REFRESH, _SURE):
            _, changed = await desk.live.control(round_id, Control(action), turn, now=interaction.created_at)
            stale = not changed
            if changed:
                desk.changed(round_id)
        embed, items = await console(desk, round_id, language, stale=stale, ending=action == _SURE)
        await interaction.response.edit_message(embed=embed, view=items)
        desk.keep_console(round_id, interaction, language)


BUTTONS: Final = (DoButton,)


async def console(
    desk: LiveDesk, round_id: str, language: str, *, stale: bool = False, ending: bool = False
) -> tuple[discord.Embed, discord.ui.View]:
    seen = await desk.live.desk(round_id)
    return live_private.desk_embed(seen, language, stale=stale), controls(seen.round, language, ending=ending)


def controls(round_: LiveRound, language: str, *, ending: bool = False) -> discord.ui.View:
    items = discord.ui.View(timeout=None)
    if round_.over:
        items.add_item(_button(round_, Control.BOARD, "live-do-board", language))
        return items
    if ending:
        items.add_item(_button(round_, Control.END, "live-do-end", language, style=ButtonStyle.danger))
        items.add_item(_button(round_, _REFRESH, "live-do-resume", language))
        return items
    items.add_item(_button(round_, Control.NEXT, next_label(round_), language, style=ButtonStyle.primary))
    open_ = round_.phase is Phase.ASKING
    if round_.phase is Phase.DISCUSSING or (round_.phase is Phase.CLOSED and first_vote(round_)):
        items.add_item(_button(round_, Control.REVEAL, "live-do-reveal", language))
    if round_.paused_at is not None:
        items.add_item(_button(round_, Control.RESUME, "live-do-resume", language, style=ButtonStyle.success))
    elif open_ or (round_.rules.automatic and round_.phase in (Phase.REVEALED, Phase.DISCUSSING)):
        items.add_item(_button(round_, Control.PAUSE, "live-do-pause", language))
    if open_ and round_.current is not None and round_.current.allotted_s is not None:
        items.add_item(_button(round_, Control.EXTEND, "live-do-extend", language))
    if round_.phase in (Phase.ASKING, Phase.CLOSED, Phase.DISCUSSING):
        items.add_item(_button(round_, Control.SKIP, "live-do-skip", language, row=1))
    if round_.phase is Phase.REVEALED:
        items.add_item(_button(round_, Control.BOARD, "live-do-board", language, row=1))
    shown = round_.board_shown
    items.add_item(
        _button(round_, Control.HIDE_BOARD if shown else Control.SHOW_BOARD, "live-do-hide" if shown else "live-do-show", language, row=1)
    )
    items.add_item(_button(round_, _REFRESH, "live-do-refresh", language, row=1))
    items.add_item(_button(round_, _SURE, "live-do-end", language, style=ButtonStyle.danger, row=1))
    return items


def first_vote(round_: LiveRound) -> bool:
    return round_.rules.peer and round_.current is not None and round_.current.vote == 1


def next_label(round_: LiveRound) -> str:
    """What "next" does now."""
    match round_.phase:
        case Phase.LOBBY:
            return "live-do-start"
        case Phase.ASKING:
            return "live-do-close"
        case Phase.CLOSED:
            return "live-do-discuss" if first_vote(round_) else "live-do-reveal"
        case Phase.DISCUSSING:
            return "live-do-vote"
        case _:
            return "live-do-next" if round_.position + 1 < round_.total else "live-do-podium"


def _button(
    round_: LiveRound, action: str, label: str, language: str, *, style: ButtonStyle = ButtonStyle.secondary, row: int = 0
) -> DoButton:
    return DoButton((round_.id, action, round_.turn), "live-do", text(label, language), style=style, row=row)
