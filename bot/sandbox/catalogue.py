"""The bot's synced commands: one list for everywhere, one per guild, and what of them a person is offered.

Plain state; what a command must look like is in `bot.sandbox.commands`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.sandbox import limits
from bot.sandbox.commands import SLASH, check_commands, stored
from bot.sandbox.fields import Form
from bot.sandbox.model import ADMINISTRATOR, DM, GUILD_ID, Channel, Member
from bot.sandbox.wire import ApiError, Json, as_list

DAY_S = 86_400.0


class Catalogue:
    def __init__(self, application_id: int, next_id: Callable[[float], int]) -> None:
        self.application_id = application_id
        self.next_id = next_id
        self.scopes: dict[int | None, list[Json]] = {None: []}  # None: global; else a guild
        self._created_at: dict[int | None, list[float]] = {}

    @property
    def synced(self) -> bool:
        return any(self.scopes.values())

    def overwrite(self, guild_id: int | None, payload: Any, now: float) -> list[Json]:
        """Replace one scope, all or nothing. Known names keep their id; only new ones count as creates of the day."""
        entries = as_list(payload)
        if entries is None:
            form = Form()
            form.add((), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
            form.raise_if_any()
        commands: list[Json] = entries or []
        check_commands(commands)
        known = {(command["type"], command["name"]): command for command in self.scopes.get(guild_id, [])}
        fresh = sum((entry.get("type", SLASH), entry["name"]) not in known for entry in commands)
        created = [at for at in self._created_at.get(guild_id, []) if at > now - DAY_S]
        if len(created) + fresh > limits.COMMAND_CREATES_PER_DAY:
            most = limits.COMMAND_CREATES_PER_DAY
            raise ApiError(400, 30034, f"Max number of daily application command creates has been reached ({most})")
        self._created_at[guild_id] = created + [now] * fresh
        self.scopes[guild_id] = [
            self._stored(guild_id, entry, known.get((entry.get("type", SLASH), entry["name"])), now) for entry in commands
        ]
        return self.scopes[guild_id]

    def _stored(self, guild_id: int | None, entry: Json, old: Json | None, now: float) -> Json:
        command_id = self.next_id(now) if old is None else int(old["id"])
        version = command_id if old is None else int(old["version"])
        command = stored(entry, command_id=command_id, application_id=self.application_id, version=version, guild_id=guild_id)
        if old is not None and command != old:
            command["version"] = str(self.next_id(now))
        return command

    def offered(self, person: Member, channel: Channel | None = None) -> list[Json]:
        """What Discord's client offers this person (in this channel); a guild's command hides the global one of its name."""
        found: dict[tuple[int, str], Json] = {}
        for command in (*self.scopes[None], *self.scopes.get(GUILD_ID, [])):
            if usable(command, person, channel):
                found[command["type"], command["name"]] = command
        return list(found.values())


def usable(command: Json, person: Member, channel: Channel | None) -> bool:
    """May this person use the command here? Without a channel: anywhere."""
    in_dm = channel is not None and channel.type == DM
    if in_dm and ("guild_id" in command or command["dm_permission"] is False):
        return False
    contexts = command["contexts"]
    if channel is not None and contexts is not None and (1 if in_dm else 0) not in contexts:
        return False
    wanted = command["default_member_permissions"]
    if wanted is None or in_dm or person.permissions & ADMINISTRATOR:
        return True
    return wanted != "0" and person.permissions & int(wanted) == int(wanted)  # "0": administrators only [docs]
