"""The bot as Discord sees it: one client, its commands, its buttons, and what happens when something goes wrong.

No rule of a quiz is in here. What a person may do is decided by `tutor.service`; this module routes presses to it and
makes sure that each of them is answered once, in words that the person can act on.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, TypeVar

import aiohttp
import discord
from discord import app_commands

from bot.texts import CommandTranslator, language_of, text
from tutor.errors import BadResponse, NotFound, NotYours, StaleAnswer, StoreError, Throttled, TutorError
from tutor.service import Tutor

log = logging.getLogger("studyhall")

CONNECTIONS: Final = 64
"""Open connections to Discord's API. The default is unlimited: 600 presses at once opened 598. With replies that take 100 ms,
500 presses in 2 s kept 16 connections busy for 1.5 s too long, 32 just sufficed, and 64 had room (docs/live-rounds.md)."""
_SYNC_TIMEOUT_S: Final = 60.0  # a daily limit makes Discord answer "wait for hours": go on with the commands it has
_CLOSE_GRACE_S: Final = 5.0
_SYNCED: Final = "commands synced"

Feature = Callable[["StudyhallClient"], None]
"""Adds the commands, buttons and modals of one subject to the client."""
Handler = Callable[[discord.Interaction[Any]], Awaitable[None]]


class Part(Protocol):
    """Something a feature brings along that runs beside the commands: timers, reminders."""

    async def start(self) -> None:
        """Called once, logged in but not connected yet."""
        ...

    async def aclose(self) -> None: ...


PartT = TypeVar("PartT", bound=Part)


class StudyhallClient(discord.Client):
    """Logs in with the guilds intent only; message content and member lists are never asked for."""

    def __init__(self, tutor: Tutor, features: Sequence[Feature], *, guide_url: str = "", rng: random.Random | None = None) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_ratelimit_timeout=30.0,
        )
        self.tutor = tutor
        self.guide_url = guide_url.rstrip("/")
        self.rng = rng or random.Random(secrets.randbits(64))
        self.tree = app_commands.CommandTree(self)
        self.tree.error(self._on_command_error)
        self._status = ""
        self._announced: asyncio.Task[None] | None = None
        self._modals: dict[str, Handler] = {}
        self._presses: dict[str, Handler] = {}
        self._parts: list[Part] = []
        self._buttons: list[re.Pattern[str]] = []
        for feature in features:
            feature(self)

    def add_commands(self, *commands: Any) -> None:
        """Add slash commands and groups. Untyped: a Command made by a decorator does not know its group."""
        for command in commands:
            self.tree.add_command(command)

    def add_buttons(self, *kinds: type[discord.ui.DynamicItem[Any]]) -> None:
        """Buttons whose whole state is in their custom id: they work on every message ever sent, after a restart too."""
        self.add_dynamic_items(*kinds)
        self._buttons += [kind.__discord_ui_compiled_template__ for kind in kinds]

    def add_modal(self, prefix: str, handler: Handler) -> None:
        """Modals whose custom id is `prefix:…`. Handled by id and not by object, so a submit after a restart still counts."""
        self._modals[prefix] = handler

    def add_presses(self, prefix: str, handler: Handler) -> None:
        """Components whose custom id is `prefix:…`, many of which are pressed at once.

        discord.py rebuilds the whole message for each press of a dynamic item; this is the short way around that.
        """
        self._presses[prefix] = handler

    def add_part(self, part: Part) -> None:
        self._parts.append(part)

    def part(self, kind: type[PartT]) -> PartT:
        """The part of this kind; a feature may only ask for what it added itself."""
        return next(part for part in self._parts if isinstance(part, kind))

    async def login(self, token: str) -> None:
        # the session is made in here, with the connector there is then; a connector belongs to the loop that runs it
        self.http.connector = aiohttp.TCPConnector(limit=CONNECTIONS)
        await super().login(token)

    async def setup_hook(self) -> None:
        await self.tree.set_translator(CommandTranslator())
        await self._sync_when_changed()
        for part in self._parts:
            await part.start()

    async def close(self) -> None:
        """Let the handlers of presses that came in finish, since each was promised an answer; then disconnect."""
        await _handlers_finished()
        if not self.is_closed():
            for part in reversed(self._parts):
                await part.aclose()
        await super().close()
        await _handlers_finished()  # of what closing itself has told

    async def _sync_when_changed(self) -> None:
        """Discord counts command creations per day, so an unchanged set of commands is not sent again."""
        translator = self.tree.translator
        payload = [
            await command.get_translated_payload(self.tree, translator) if translator else command.to_dict(self.tree)
            for command in self.tree.get_commands()
        ]
        application = self.application_id or 0
        digest = hashlib.sha256(json.dumps([application, payload], sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        if await self.tutor.people.fact(_SYNCED) == digest:
            return
        try:
            await asyncio.wait_for(self.tree.sync(), _SYNC_TIMEOUT_S)
        except (TimeoutError, discord.HTTPException, app_commands.AppCommandError) as error:
            log.warning("commands could not be synced, going on with those that Discord has: %s", error)
            return
        await self.tutor.people.save_fact(_SYNCED, digest)

    def announce(self, status: str) -> None:
        """Say below the bot's name what writes its answers; at once when connected, else as soon as it is."""
        self._status = status[:128]  # of a custom activity
        self.activity = discord.CustomActivity(name=self._status)  # goes with the next log-in
        if self.is_ready():
            self._announced = asyncio.create_task(self._announce(), name="presence")

    async def _announce(self) -> None:
        try:
            await self.change_presence(activity=discord.CustomActivity(name=self._status))
        except ConnectionError:
            log.info("the connection went before the presence was sent; it goes with the next log-in")

    async def on_ready(self) -> None:
        log.info("logged in as %s, %d guilds", self.user, len(self.guilds))

    async def language(self, interaction: discord.Interaction[Any]) -> str:
        """The language for this person: what they chose once, or their Discord's."""
        return await self.tutor.people.language(interaction.user.id) or language_of(interaction.locale)

    # Every press is answered ----------------------------------------------------------------------------------------

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Modals by their custom id (so one submitted after a restart still counts), and presses that nothing else knows."""
        if interaction.type is discord.InteractionType.modal_submit:
            handler = self._modals.get(custom_id_of(interaction).partition(":")[0])
            if handler is not None:
                async with self.reporting(interaction):
                    await handler(interaction)
        elif interaction.type is discord.InteractionType.component:
            custom_id = custom_id_of(interaction)
            pressed = self._presses.get(custom_id.partition(":")[0])
            if pressed is not None:
                async with self.reporting(interaction):
                    await pressed(interaction)
            elif not any(button.fullmatch(custom_id) for button in self._buttons):
                await self._say(interaction, text("error-old-button", language_of(interaction.locale)))

    @asynccontextmanager
    async def reporting(self, interaction: discord.Interaction[Any]) -> AsyncGenerator[None, None]:
        """Around every handler: whatever is raised inside becomes one reply to the person and one line in the log.

        discord.py would only log it, and the person would read "This interaction failed" after three seconds.
        """
        try:
            yield
        except discord.NotFound as error:
            if error.code != 10062:  # Unknown interaction: Discord gave up on it, nobody is left to be told
                raise
            log.warning("interaction %d was answered too late", interaction.id)
        except Exception as error:  # the one place where anything may arrive
            reference = secrets.token_hex(4)
            if not isinstance(error, TutorError) or isinstance(error, StoreError):
                known = isinstance(error, StoreError)
                log.error(
                    "%s: user %d, guild %s, channel %s: %s",
                    reference, interaction.user.id, interaction.guild_id, interaction.channel_id, error,
                    exc_info=None if known else error,
                )  # fmt: skip
            await self._say(interaction, explained(error, language_of(interaction.locale), reference))

    async def _on_command_error(self, interaction: discord.Interaction[Any], error: app_commands.AppCommandError) -> None:
        cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
        async with self.reporting(interaction):
            raise cause

    async def _say(self, interaction: discord.Interaction[Any], message: str) -> None:
        try:
            if interaction.response.is_done():
                await interaction.followup.send(message, ephemeral=True)
            else:
                await interaction.response.send_message(message, ephemeral=True)
        except discord.HTTPException as error:
            log.warning("could not tell user %d what went wrong: %s", interaction.user.id, error)


async def _handlers_finished() -> None:
    """Wait for discord.py's event tasks, for some seconds at most."""
    ours = [task for task in asyncio.all_tasks() if task.get_name().startswith("discord.py: ") and task is not asyncio.current_task()]
    if ours:
        await asyncio.wait(ours, timeout=_CLOSE_GRACE_S)


def custom_id_of(interaction: discord.Interaction[Any]) -> str:
    return str((interaction.data or {}).get("custom_id", ""))


def explained(error: Exception, language: str, reference: str) -> str:
    """What the person reads: what happened, and what to press."""
    match error:
        case StaleAnswer():
            return text("error-stale", language)
        case NotYours():
            return text("error-foreign", language)
        case NotFound(kind="quiz", key=key):
            return text("error-no-quiz", language, name=key)
        case NotFound(kind="guide", key=key):
            return text("error-no-guide", language, name=key)
        case NotFound():
            return text("error-gone", language)
        case BadResponse():
            return text("error-bad", language)
        case Throttled():
            return text("error-throttled", language)
        case StoreError():
            return text("error-store", language, reference=reference)
        case _:
            return text("error-unknown", language, reference=reference)
