"""The life of an interaction: a person acts, the bot has three seconds to answer once, and fifteen minutes to say more.

Plain state and rules over a `World`, time passed in as `now` (seconds since 1970). What Discord refuses the bot is an
`ApiError`; what Discord's client would not let a person do is `Refused`. Nothing here sends anything: the payload for the
gateway travels in the event `InteractionCreated`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from secrets import token_urlsafe
from typing import Any, Final

from bot.sandbox import limits
from bot.sandbox.commands import ATTACHMENT, CHANNEL, MENTIONABLE, ROLE, USER, Filled, check_choices, fill
from bot.sandbox.components import BUTTON, LINK_STYLE, PREMIUM_STYLE, STRING_SELECT, chosen, filled, numbered
from bot.sandbox.fields import Form
from bot.sandbox.model import (
    AUTOCOMPLETE,
    BOT_PERMISSIONS,
    CHOICES,
    COMMAND,
    COMPONENT,
    DEFERRED_MESSAGE,
    DEFERRED_UPDATE,
    DM,
    GUILD_ID,
    INSTRUCTOR_ROLE_ID,
    MESSAGE,
    MODAL,
    MODAL_SUBMIT,
    UPDATE,
    Channel,
    Interaction,
    InteractionCreated,
    InteractionSettled,
    Member,
    Message,
    Upload,
    walk,
)
from bot.sandbox.validate import check_callback, check_message
from bot.sandbox.wire import ApiError, Json, Refused, as_list, unknown
from bot.sandbox.world import World

REPLY_FLAGS: Final = limits.EPHEMERAL | limits.SUPPRESS_EMBEDS | limits.SUPPRESS_NOTIFICATIONS | limits.COMPONENTS_V2
SELECT_REFERS_TO: Final = {5: USER, 6: ROLE, 7: MENTIONABLE, 8: CHANNEL}  # select type -> option type of the same thing
FORGOTTEN_S: Final = 2 * limits.TOKEN_LIFE_S  # until then a dead token is told from one that never was


class Interactions:
    def __init__(self, world: World) -> None:
        self.world = world
        self.failed = 0
        self._by_token: dict[str, Interaction] = {}  # oldest first
        self._pending: deque[Interaction] = deque()

    def by_token(self, token: str) -> Interaction | None:
        return self._by_token.get(token)

    # what people do

    def command(self, person: Member, channel: Channel, command_id: int, options: Sequence[Json], now: float) -> Interaction:
        """A person sends a slash command with Discord's option objects."""
        command = self._usable(person, channel, command_id)
        filled_in = fill(command, options, completing=False)
        return self._create(COMMAND, person, channel, self._command_data(command, filled_in), now, command_name=filled_in.name)

    def complete(self, person: Member, channel: Channel, command_id: int, options: Sequence[Json], now: float) -> Interaction:
        """A person pauses while typing an option with autocomplete."""
        command = self._usable(person, channel, command_id)
        filled_in = fill(command, options, completing=True)
        return self._create(AUTOCOMPLETE, person, channel, self._command_data(command, filled_in), now, focused=filled_in.focused)

    def use_menu(self, person: Member, channel: Channel, command_id: int, target: Message | Member, now: float) -> Interaction:
        """A person picks a context menu command on a message or on somebody."""
        command = self._usable(person, channel, command_id)
        if command["type"] != (3 if isinstance(target, Message) else 2):
            raise Refused(f"{command['name']!r} is not in the menu of this")
        data: Json = {"id": command["id"], "name": command["name"], "type": command["type"], "target_id": str(target.id)}
        if isinstance(target, Message):
            self._check_sees(person, target)
            data["resolved"] = {"messages": {str(target.id): target.data}}
        else:
            data["resolved"] = {"users": {str(target.id): target.user}, "members": {str(target.id): target.guild_json()}}
        return self._create(COMMAND, person, channel, data, now, command_name=command["name"])

    def press(self, person: Member, message: Message, custom_id: str, now: float, values: Sequence[str] | None = None) -> Interaction:
        """A person presses a button, or with `values` leaves a select."""
        self._check_sees(person, message)
        component = next((node for node in walk(message.components) if node.get("custom_id") == custom_id), None)
        if component is None:
            there = [node["custom_id"] for node in walk(message.components) if node.get("custom_id")]
            raise Refused(f"message {message.id} has no component {custom_id!r}; there is {there}")
        if component.get("disabled"):
            raise Refused(f"{custom_id!r} is disabled")
        kind = component["type"]
        if kind == BUTTON and component["style"] in (LINK_STYLE, PREMIUM_STYLE):
            raise Refused("a link button sends nothing to the bot")
        if (kind == BUTTON) != (values is None):
            raise Refused(f"{custom_id!r} is {'a button: press it' if kind == BUTTON else 'a select: choose values'}")
        data: Json = {"id": component["id"], "custom_id": custom_id, "component_type": kind}
        if values is not None:
            chosen(component, list(values))
            data["values"] = list(values)
            if kind != STRING_SELECT:
                data["resolved"] = self._resolved([(SELECT_REFERS_TO[kind], value) for value in values])
        return self._create(COMPONENT, person, message.channel, data, now, message=message)

    def submit(self, opener: Interaction, fields: Mapping[str, Any], now: float) -> Interaction:
        """The person to whom `opener` showed a modal sends it; `fields` are by custom_id, a field left out keeps its default."""
        modal = opener.modal
        if modal is None or not opener.modal_open:
            raise Refused("there is no modal to submit")
        left = dict(fields)
        components: list[Json] = []
        files: Json = {}

        def answer(node: Json) -> Json:
            value = left.pop(node["custom_id"], None)
            uploads = [entry for entry in as_list(value) or [value] if isinstance(entry, Upload)]
            if uploads:
                kept = [self.world.keep(opener.channel, upload, now) for upload in uploads]
                files.update({entry["id"]: entry for entry in kept})
                value = [entry["id"] for entry in kept]
            return filled(node, value)

        for top in modal["components"]:
            copy: Json = {"type": top["type"], "id": top["id"]}
            if "component" in top:
                copy["component"] = answer(top["component"])
            elif "components" in top:
                copy["components"] = [answer(child) for child in top["components"]]
            components.append(copy)
        if left:
            raise Refused(f"the modal has no field {', '.join(map(repr, left))}")
        data: Json = {"custom_id": modal["custom_id"], "components": components}
        if files:
            data["resolved"] = {"attachments": files}
        return self._create(MODAL_SUBMIT, opener.person, opener.channel, data, now, message=opener.message, parent=opener)

    # the bot's first answer

    def respond(self, interaction_id: int, token: str, body: Json, files: Sequence[Upload], now: float) -> tuple[Interaction, Json]:
        """Take the bot's response; return the interaction and the body of the 200. The caller then calls `settle`."""
        interaction = self._by_token.get(token)
        if interaction is None or interaction.id != interaction_id:
            raise unknown("interaction", 10062)
        if interaction.callback is not None:
            raise ApiError(400, 40060, "Interaction has already been acknowledged.")
        if interaction.state == "failed" or now - interaction.created_at > limits.FIRST_RESPONSE_S:
            self._fail(interaction)
            raise unknown("interaction", 10062)
        kind, data = check_callback(body, files, interaction_type=interaction.type, from_component=interaction.message is not None)
        reply: Json = {"id": str(interaction.id), "type": interaction.type, "channel_id": str(interaction.channel.id)}
        answer: Json = {"interaction": reply}
        if kind == MESSAGE:
            flags = check_message(data, files, flags_allowed=REPLY_FLAGS, path=("data",))
            interaction.response = self.world.answer(interaction, data, files, now, flags=flags)
        elif kind == DEFERRED_MESSAGE:
            flags = (data.get("flags") or 0) | limits.LOADING
            interaction.response = self.world.answer(interaction, {}, [], now, flags=flags)
        elif kind in (UPDATE, DEFERRED_UPDATE):
            assert interaction.message is not None, "check_callback lets only component interactions update"
            if interaction.message.deleted:
                raise unknown("Message", 10008)
            if kind == UPDATE:
                self.world.edit(interaction.message, data, files, now, path=("data",))
            interaction.response = interaction.message
        elif kind == MODAL:
            interaction.modal = {**data, "components": numbered(data["components"])}
            interaction.modal_open = True
        elif kind == CHOICES:
            form = Form()
            check_choices(form, ("data", "choices"), data["choices"], interaction.focused_type)
            form.raise_if_any()
            interaction.choices = data["choices"]
        interaction.callback = kind
        interaction.answered_at = now
        if interaction.response is not None:
            interaction.ephemeral = interaction.response.ephemeral
            reply |= {
                "response_message_id": str(interaction.response.id),
                "response_message_loading": interaction.response.loading,
                "response_message_ephemeral": interaction.ephemeral,
            }
            if kind in (MESSAGE, UPDATE):
                answer["resource"] = {"type": kind, "message": interaction.response.data}
        return interaction, answer

    def settle(self, interaction: Interaction) -> None:
        """The response has left for the bot: tell the listeners. Only now may the person act on what it shows."""
        interaction.state = "done"
        if interaction.type == MODAL_SUBMIT and interaction.parent is not None:
            interaction.parent.modal_open = False  # after a failure it stays open and can be sent again
        self.world.emit(InteractionSettled(interaction))

    def sweep(self, now: float) -> None:
        """Fail what has waited longer than three seconds; forget tokens that died long ago."""
        while self._pending and (self._pending[0].callback is not None or now - self._pending[0].created_at > limits.FIRST_RESPONSE_S):
            self._fail(self._pending.popleft())
        while self._by_token:
            token, oldest = next(iter(self._by_token.items()))
            if now - oldest.created_at <= FORGOTTEN_S:
                break
            del self._by_token[token]

    # the bot's later answers, through the interaction's webhook

    def webhook(self, application_id: int, token: str, now: float) -> Interaction:
        """The interaction behind a webhook address; raises 10015 before the first answer and 50027 after 15 minutes."""
        interaction = self._by_token.get(token)
        if interaction is None or application_id != self.world.bot.id or interaction.callback is None:
            raise unknown("Webhook", 10015)
        if now - interaction.created_at > limits.TOKEN_LIFE_S:
            raise ApiError(401, 50027, "Invalid Webhook Token")
        return interaction

    def webhook_message(self, interaction: Interaction, which: str) -> Message:
        """`@original` or one of the follow-ups by id."""
        reachable = [interaction.response, *interaction.followups]
        if which == "@original":
            found = interaction.response
        else:
            found = next((message for message in reachable if message is not None and str(message.id) == which), None)
        if found is None or found.deleted:
            raise unknown("Message", 10008)
        return found

    def followup(self, interaction: Interaction, payload: Json, files: Sequence[Upload], now: float) -> Message:
        """A further message; the first one after a deferral fills the placeholder and keeps its visibility."""
        if interaction.callback == DEFERRED_MESSAGE and interaction.response is not None and interaction.response.loading:
            return self.world.edit(interaction.response, {"content": "", **payload}, files, now)
        flags = check_message(payload, files, flags_allowed=REPLY_FLAGS)
        message = self.world.answer(interaction, payload, files, now, flags=flags)
        interaction.followups.append(message)
        return message

    # details

    def _usable(self, person: Member, channel: Channel, command_id: int) -> Json:
        if not self.world.channel_sees(channel, person):
            raise Refused(f"{person.name} cannot see #{channel.name}")
        for command in self.world.catalogue.offered(person, channel):
            if int(command["id"]) == command_id:
                return command
        raise Refused(f"no command {command_id} is synced that {person.name} can use in #{channel.name}")

    def _check_sees(self, person: Member, message: Message) -> None:
        if not self.world.sees(message, person):
            raise Refused(f"{person.name} does not see message {message.id}")

    def _command_data(self, command: Json, filled_in: Filled) -> Json:
        data: Json = {"id": command["id"], "name": command["name"], "type": command["type"], "options": filled_in.options}
        if "guild_id" in command:
            data["guild_id"] = command["guild_id"]
        if filled_in.references:
            data["resolved"] = self._resolved(filled_in.references)
        return data

    def _resolved(self, references: Sequence[tuple[int, str]]) -> Json:
        found: Json = {}
        for kind, value in references:
            if kind == ATTACHMENT:
                attachment = self.world.attachments.get(value)
                if attachment is None:
                    raise Refused(f"there is no attachment {value}")
                found.setdefault("attachments", {})[value] = attachment
            elif kind == CHANNEL:
                channel = self.world.channels.get(int(value)) if value.isdigit() else None
                if channel is None:
                    raise Refused(f"there is no channel {value}")
                found.setdefault("channels", {})[value] = channel.json() | {"permissions": str(BOT_PERMISSIONS)}
            elif kind == ROLE or value in (str(GUILD_ID), str(INSTRUCTOR_ROLE_ID)):
                role = next((role for role in self.world.guild_json()["roles"] if role["id"] == value), None)
                if role is None:
                    raise Refused(f"there is no role {value}")
                found.setdefault("roles", {})[value] = role
            else:
                member = self.world.people.get(int(value)) if value.isdigit() else None
                if member is None:
                    raise Refused(f"there is nobody {value}")
                found.setdefault("users", {})[value] = member.user
                found.setdefault("members", {})[value] = member.guild_json()
        return found

    def _create(
        self,
        kind: int,
        person: Member,
        channel: Channel,
        data: Json,
        now: float,
        *,
        message: Message | None = None,
        parent: Interaction | None = None,
        command_name: str | None = None,
        focused: Json | None = None,
    ) -> Interaction:
        interaction = Interaction(
            self.world.ids.next(now), token_urlsafe(96), kind, person, channel, now, data, message, parent, command_name=command_name
        )
        interaction.focused_type = None if focused is None else focused["type"]
        self._by_token[interaction.token] = interaction
        self._pending.append(interaction)
        payload: Json = {
            "id": str(interaction.id),
            "application_id": str(self.world.bot.id),
            "type": kind,
            "token": interaction.token,
            "version": 1,
            "data": data,
            "channel_id": str(channel.id),
            "channel": channel.json() | {"permissions": str(person.permissions)},
            "locale": person.locale,
            "app_permissions": str(BOT_PERMISSIONS),
            "entitlements": [],
            "attachment_size_limit": limits.FILE_BYTES_MAX,
        }
        if channel.type == DM:
            payload |= {"context": 1, "user": person.user, "authorizing_integration_owners": {"0": "0"}}
        else:
            payload |= {
                "context": 0,
                "guild_id": str(GUILD_ID),
                "guild": {"id": str(GUILD_ID), "locale": "en-US", "features": []},
                "guild_locale": "en-US",
                "member": person.member_json(),
                "authorizing_integration_owners": {"0": str(GUILD_ID)},
            }
        if message is not None:
            payload["message"] = message.data
        self.world.emit(InteractionCreated(interaction, payload))
        return interaction

    def _fail(self, interaction: Interaction) -> None:
        if interaction.callback is None and interaction.state == "pending":
            interaction.state = "failed"
            self.failed += 1
            self.world.emit(InteractionSettled(interaction))
