"""The public messages of one live round, kept equal to its state: the lobby, each question, the board, the podium.

`sync` compares what each message should show with what it showed last and sends or edits the difference, the current
question first. It can be called at any time, after a crash too: what was drawn last is forgotten then, and drawn again.
Counts alone are a soft difference; the caller decides how often those are worth an edit.
"""

from __future__ import annotations

import asyncio
import io
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import discord
from discord.utils import MISSING

from bot import charts, live_render
from bot.client import StudyhallClient
from bot.live_desk import LiveDesk
from bot.texts import text
from bot.views import live as buttons
from tutor.live import Asking, LiveRound, Phase
from tutor.live_service import MessageAt, Stage

log = logging.getLogger("studyhall.live")

_UNKNOWN_MESSAGE: Final = 10008
_SECOND: Final = 1_000  # added to the position of a second vote's message, so that each vote has its own

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Content:
    embed: discord.Embed
    items: discord.ui.View
    picture: bytes | None = None
    alt: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one message should show. `hard` differences are drawn at once, `soft` ones (counts) when there is time."""

    key: Key
    hard: tuple[object, ...]
    soft: object
    build: Callable[[], Awaitable[Content]]
    create: bool = True  # else it is only edited where it is there already


class RoundMessages:
    def __init__(self, client: StudyhallClient, desk: LiveDesk, round_id: str, *, all_again: bool = False) -> None:
        """`all_again`: draw every earlier question too, as after a repair; else only the current and the last one."""
        self._client = client
        self._live = desk.live
        self._pace = desk.pace
        self._round_id = round_id
        self._all_again = all_again
        self.moved = False  # a question appeared late, so that its deadline is another one now
        self._known: dict[Key, MessageAt] | None = None  # where its messages are; read once
        self._drawn: dict[Key, tuple[tuple[object, ...], object]] = {}

    async def sync(self, *, counts: bool) -> bool:
        """Draw what differs; returns whether only counts are left undrawn. Raises discord.HTTPException, NotFound."""
        stage = await self._live.stage(self._round_id)
        left = False
        for wanted in self._wanted(stage):
            drawn = self._drawn.get(wanted.key)
            if drawn == (wanted.hard, wanted.soft):
                continue
            if drawn is not None and drawn[0] == wanted.hard and not counts:
                left = True
                continue
            if await self._draw(stage.round, wanted, urgent=drawn is None or drawn[0] != wanted.hard):
                self._drawn[wanted.key] = (wanted.hard, wanted.soft)
        self._all_again = False
        return left

    async def note(self, said: str) -> None:
        """A line for everybody, as a message of its own."""
        round_ = await self._live.load(self._round_id)
        await self._channel(round_.channel_id, round_.guild_id).send(said)

    def _wanted(self, stage: Stage) -> list[Wanted]:
        round_ = stage.round
        wanted: list[Wanted] = []
        if round_.current is not None:
            wanted.append(self._question(stage, round_.current, latest=True))
        if round_.boards:
            wanted.append(Wanted(("board", round_.boards), (len(round_.repairs),), None, lambda: self._board(stage)))
        if round_.over:
            wanted.append(Wanted(("podium", 0), (len(round_.repairs),), None, lambda: self._podium(stage)))
        counts = (stage.seats, stage.teams) if round_.phase is Phase.LOBBY else (round_.over,)
        wanted.append(Wanted(("lobby", 0), (), counts, lambda: self._lobby(stage)))  # nobody looks there once it runs: never first
        for age, asking in enumerate(reversed(round_.askings[:-1]), start=1):
            earlier = self._question(stage, asking, latest=False)
            if age > 1 and not self._all_again and earlier.key not in self._drawn:
                self._drawn[earlier.key] = (earlier.hard, earlier.soft)  # it was drawn before this process began
            wanted.append(earlier)
        return wanted

    def _question(self, stage: Stage, asking: Asking, *, latest: bool) -> Wanted:
        round_ = stage.round
        key = ("question", asking.position + (_SECOND if asking.vote == 2 else 0))
        hard: tuple[object, ...]
        if asking.revealed_at is not None:
            hard = ("revealed", len(round_.repairs), (round_.board_shown, round_.over) if latest else None)
            drawn = self._drawn.get(key)
            if not latest and drawn is not None and drawn[0][:2] == hard[:2]:
                hard = drawn[0]  # it keeps the board of its time until a repair makes that wrong
            return Wanted(key, hard, None, lambda: self._revealed(asking, stage if latest else None), create=latest)
        hard = ("vote", asking, (round_.phase, round_.paused_at, round_.outage_s) if latest else None)
        soft = (stage.answered, stage.seats) if latest and round_.phase is not Phase.ENDED else None
        return Wanted(key, hard, soft, lambda: self._vote(stage, asking, latest=latest), create=latest)

    # Contents -------------------------------------------------------------------------------------------------------

    async def _lobby(self, stage: Stage) -> Content:
        return Content(live_render.lobby_embed(stage), buttons.lobby_items(stage.round))

    async def _vote(self, stage: Stage, asking: Asking, *, latest: bool) -> Content:
        round_ = stage.round
        if not latest:
            stage = await self._live.stage(self._round_id, asking.position)
        answering = latest and round_.phase is Phase.ASKING and round_.paused_at is None
        if latest and not asking.skipped:
            items = buttons.question_items(round_, asking.position, asking.vote, answering=answering)
        else:
            items = discord.ui.View(timeout=None)
        return Content(live_render.question_embed(stage, asking), items)

    async def _revealed(self, asking: Asking, stage: Stage | None) -> Content:
        stage = stage or await self._live.stage(self._round_id, asking.position)
        embed = live_render.reveal_embed(stage, asking.position)
        items = buttons.reveal_items(self._client, stage.round, asking.position)
        bars, split, first = live_render.bars_of(stage, asking.position), stage.split, stage.first_split
        if not bars or split is None:
            return Content(embed, items)
        before = first.answered if first else 0
        picture = await asyncio.to_thread(charts.distribution, bars, answered=split.answered, answered_before=before)
        embed.set_image(url=f"attachment://{live_render.CHART}")
        return Content(embed, items, picture, live_render.chart_alt(stage, bars))

    async def _board(self, stage: Stage) -> Content:
        board = stage.board or await self._live.board(self._round_id)
        return Content(live_render.board_embed(stage.round, board), discord.ui.View(timeout=None))

    async def _podium(self, stage: Stage) -> Content:
        return Content(live_render.podium_embed(stage), buttons.podium_items(stage.round))

    # Sending --------------------------------------------------------------------------------------------------------

    async def _draw(self, round_: LiveRound, wanted: Wanted, *, urgent: bool) -> bool:
        """Send or edit one message; False when it is not there and is not to be made."""
        if self._known is None:
            self._known = await self._live.messages(round_.id)
        known = self._known.get(wanted.key)
        if known is None and not wanted.create:
            return True
        content = await wanted.build()
        await self._pace.turn(urgent=urgent)
        if known is not None:
            try:
                await self._edit(round_, known.channel_id, known.message_id, content)
                return True
            except discord.NotFound as error:
                if error.code != _UNKNOWN_MESSAGE or not wanted.create:
                    raise
                log.info("message %d of round %s was deleted; sending it again", known.message_id, round_.id)
        # Discord gives back the first message for a nonce it knows, so one sent just before a crash is not sent twice
        nonce = f"{round_.id}{wanted.key[0][0]}{wanted.key[1]}" if known is None else secrets.token_hex(12)
        message = await self._channel(round_.channel_id, round_.guild_id).send(
            embed=content.embed, view=content.items, nonce=nonce, file=_file(content) or MISSING
        )
        self._known[wanted.key] = await self._live.save_message(round_.id, *wanted.key, message.channel.id, message.id)
        await self._after_sending(round_, wanted, message)
        return True

    async def _after_sending(self, round_: LiveRound, wanted: Wanted, message: discord.Message) -> None:
        kind, place = wanted.key
        if kind == "question":
            moved = await self._live.appeared(round_.id, at=message.created_at)
            self.moved = moved.current != round_.current
        elif kind == "board":
            await self._remove(round_, ("board", place - 1))

    async def _edit(self, round_: LiveRound, channel_id: int, message_id: int, content: Content) -> None:
        message = self._channel(channel_id, round_.guild_id).get_partial_message(message_id)
        file = _file(content)
        await message.edit(embed=content.embed, view=content.items, attachments=[file] if file else [])

    async def _remove(self, round_: LiveRound, key: Key) -> None:
        known = (await self._live.messages(round_.id)).get(key)
        if known is None:
            return
        try:
            await self._channel(known.channel_id, round_.guild_id).get_partial_message(known.message_id).delete()
        except discord.HTTPException as error:
            log.info("an old board of round %s stays: %s", round_.id, error)
        await self._live.drop_message(round_.id, *key)

    async def open_talk(self, round_: LiveRound) -> None:
        """Peer instruction: a thread on the question to talk it over, where the channel can have one."""
        messages = await self._live.messages(round_.id)
        question = messages.get(("question", round_.position))
        if question is None or ("talk", round_.position) in messages:
            return
        name = text("live-discuss-thread", round_.language, number=round_.position + 1)[:100]
        try:
            message = self._channel(question.channel_id, round_.guild_id).get_partial_message(question.message_id)
            thread = await message.create_thread(name=name)
        except (discord.HTTPException, ValueError, TypeError) as error:
            log.info("no thread for the discussion in round %s: %s", round_.id, error)  # a thread cannot have threads: they talk right here
            await self._live.save_message(round_.id, "talk", round_.position, question.channel_id, question.message_id)
            return
        await self._live.save_message(round_.id, "talk", round_.position, thread.id, question.message_id)

    def _channel(self, channel_id: int, guild_id: int) -> discord.PartialMessageable:
        return self._client.get_partial_messageable(channel_id, guild_id=guild_id)


def _file(content: Content) -> Any:
    """A new file object each time: discord.py reads it to its end."""
    if content.picture is None:
        return None
    return discord.File(io.BytesIO(content.picture), live_render.CHART, description=content.alt)
