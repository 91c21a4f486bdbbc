"""The sandbox's world as values: people, channels, messages, interactions, and what can happen to them.

A `Message` keeps Discord's own JSON object and replaces it as a whole on every change, so an object that was handed out
never changes underneath its reader. Nothing here reads a clock, a file or a socket, or knows a rule; the rules are in
`bot.sandbox.world` and `bot.sandbox.interactions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from bot.sandbox import limits
from bot.sandbox.wire import Json, timestamp

# Ids that stay the same over restarts, so that a learner of yesterday's demo is known today.
BASE_ID: Final = (1_704_067_200_000 - 1_420_070_400_000) << 22  # as if made on 2024-01-01
GUILD_ID: Final = BASE_ID + 1
APPLICATION_ID: Final = BASE_ID + 2  # of the bot and its user, as on Discord today
INSTRUCTOR_ROLE_ID: Final = BASE_ID + 3
FIRST_CHANNEL_ID: Final = BASE_ID + 100
FIRST_PERSON_ID: Final = BASE_ID + 1_000
JOINED_AT: Final = timestamp(1_704_067_200)

# permission bits [docs: topics/permissions]
ADMINISTRATOR: Final = 1 << 3
LEARNER_PERMISSIONS: Final = 1 << 6 | 1 << 10 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 16 | 1 << 31 | 1 << 38
INSTRUCTOR_PERMISSIONS: Final = LEARNER_PERMISSIONS | 1 << 4 | 1 << 5 | 1 << 13 | 1 << 17 | 1 << 33 | 1 << 34 | 1 << 35 | 1 << 36 | 1 << 40
BOT_PERMISSIONS: Final = LEARNER_PERMISSIONS | 1 << 13 | 1 << 34 | 1 << 35 | 1 << 36

TEXT, DM, PUBLIC_THREAD, PRIVATE_THREAD = 0, 1, 11, 12
THREADS: Final = (PUBLIC_THREAD, PRIVATE_THREAD)

COLOURS: Final = ("#c0563f", "#3f78c0", "#4c8f5a", "#8a5fb0", "#b0883a", "#3a9aa0", "#b0507f", "#6b7480")

Role = Literal["instructor", "learner"]
Op = Literal["create", "update", "delete"]
State = Literal["pending", "done", "failed"]

PING, COMMAND, COMPONENT, AUTOCOMPLETE, MODAL_SUBMIT = 1, 2, 3, 4, 5  # interaction types
MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9  # callback types


@dataclass(slots=True, eq=False)
class Member:
    """Somebody in the guild: a learner, an instructor or the bot itself."""

    id: int
    name: str
    locale: str = "en-US"
    role: Role = "learner"
    bot: bool = False
    accepts_dms: bool = True
    user: Json = field(init=False)

    def __post_init__(self) -> None:
        self.user = {
            "id": str(self.id),
            "username": self.name.lower().replace(" ", "_"),
            "global_name": None if self.bot else self.name,
            "discriminator": "0",
            "avatar": None,
            "public_flags": 0,
        }
        if self.bot:
            self.user["bot"] = True

    @property
    def permissions(self) -> int:
        if self.bot:
            return BOT_PERMISSIONS
        return INSTRUCTOR_PERMISSIONS if self.role == "instructor" else LEARNER_PERMISSIONS

    @property
    def colour(self) -> str:
        return COLOURS[self.id % len(COLOURS)]

    def member_json(self) -> Json:
        return {"user": self.user, **self.guild_json()}

    def guild_json(self) -> Json:
        """The member object without its user, as a message carries it."""
        return {
            "nick": None,
            "avatar": None,
            "roles": [str(INSTRUCTOR_ROLE_ID)] if self.role == "instructor" else [],
            "joined_at": JOINED_AT,
            "deaf": False,
            "mute": False,
            "flags": 0,
            "permissions": str(self.permissions),
        }


@dataclass(slots=True, eq=False)
class Channel:
    """A text channel, a thread, or a DM between the bot and one person."""

    id: int
    name: str
    type: int = TEXT
    topic: str | None = None
    position: int = 0
    parent_id: int | None = None
    owner_id: int = 0
    recipient: Member | None = None
    archived: bool = False
    locked: bool = False
    auto_archive_minutes: int = 1_440
    slowmode_s: int = 0
    created_at: float = 0.0
    message_count: int = 0
    member_ids: set[int] = field(default_factory=lambda: set[int]())
    messages: dict[int, Message] = field(default_factory=lambda: dict[int, Message]())

    @property
    def guild_id(self) -> int | None:
        return None if self.type == DM else GUILD_ID

    def json(self) -> Json:
        newest = next(reversed(self.messages), None)
        data: Json = {"id": str(self.id), "type": self.type, "last_message_id": newest and str(newest), "flags": 0}
        if self.recipient is not None:
            return data | {"recipients": [self.recipient.user]}
        data |= {"guild_id": str(GUILD_ID), "name": self.name, "parent_id": self.parent_id and str(self.parent_id)}
        data["rate_limit_per_user"] = self.slowmode_s
        if self.type not in THREADS:
            return data | {"position": self.position, "topic": self.topic, "nsfw": False, "permission_overwrites": []}
        return data | {
            "owner_id": str(self.owner_id),
            "message_count": self.message_count,
            "total_message_sent": self.message_count,
            "member_count": len(self.member_ids),
            "thread_metadata": {
                "archived": self.archived,
                "locked": self.locked,
                "auto_archive_duration": self.auto_archive_minutes,
                "archive_timestamp": timestamp(self.created_at),
                "create_timestamp": timestamp(self.created_at),
                "invitable": True,
            },
        }


@dataclass(slots=True, eq=False)
class Message:
    """One message, as Discord's JSON object plus what only the server knows: who may see it."""

    data: Json
    channel: Channel
    viewer_id: int | None = None  # ephemeral: the only person who sees it
    deleted: bool = False
    changed_at: float = 0.0  # time of the event loop; when a person could see it

    @property
    def id(self) -> int:
        return int(self.data["id"])

    @property
    def content(self) -> str:
        return self.data["content"]

    @property
    def embeds(self) -> list[Json]:
        return self.data["embeds"]

    @property
    def components(self) -> list[Json]:
        return self.data["components"]

    @property
    def attachments(self) -> list[Json]:
        return self.data["attachments"]

    @property
    def flags(self) -> int:
        return self.data["flags"]

    @property
    def ephemeral(self) -> bool:
        return self.viewer_id is not None

    @property
    def loading(self) -> bool:
        """The bot has promised an answer here ("thinking") and not given it yet."""
        return bool(self.flags & limits.LOADING)

    @property
    def text(self) -> str:
        """All that a person reads here outside buttons: content, embeds and text displays, one per line."""
        parts = [self.content]
        for embed in self.embeds:
            parts += [embed.get("title", ""), embed.get("description", "")]
            for entry in embed.get("fields", ()):
                parts += [entry["name"], entry["value"]]
            parts.append(embed.get("footer", {}).get("text", ""))
        parts += [component["content"] for component in walk(self.components) if component["type"] == 10]
        return "\n".join(part for part in parts if part)

    @property
    def buttons(self) -> list[Json]:
        """Button objects in reading order."""
        return [component for component in walk(self.components) if component["type"] == 2]

    @property
    def selects(self) -> list[Json]:
        return [component for component in walk(self.components) if component["type"] in (3, 5, 6, 7, 8)]

    def __repr__(self) -> str:
        return f"<Message {self.id} in {self.channel.name!r}: {self.text[:60]!r}, buttons {[b.get('label') for b in self.buttons]}>"


def walk(components: list[Json]) -> Iterator[Json]:
    """Every component of a tree, parents before children, in reading order."""
    for component in components:
        yield component
        yield from walk(component.get("components", []))
        for key in ("accessory", "component"):
            if isinstance(component.get(key), dict):
                yield from walk([component[key]])


@dataclass(frozen=True, slots=True)
class Upload:
    """A file on its way in, from the bot's request or from a person's command option."""

    filename: str
    content: bytes


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What `GET /attachments/…` serves."""

    content: bytes
    content_type: str


@dataclass(slots=True, eq=False)
class Interaction:
    """Something a person did that the bot must answer, and what became of it."""

    id: int
    token: str
    type: int
    person: Member
    channel: Channel
    created_at: float  # seconds since 1970
    data: Json
    message: Message | None = None  # the one whose component was used
    parent: Interaction | None = None  # the one that opened the modal
    state: State = "pending"
    callback: int | None = None  # type of the first response
    answered_at: float | None = None
    ephemeral: bool | None = None  # fixed by the first response that says so
    response: Message | None = None  # what @original means: the reply, or the message that was updated
    followups: list[Message] = field(default_factory=lambda: list[Message]())
    modal: Json | None = None
    modal_open: bool = False
    choices: list[Json] | None = None
    command_name: str | None = None
    focused_type: int | None = None  # autocomplete: kind of the option being typed

    @property
    def latency_ms(self) -> float | None:
        return None if self.answered_at is None else (self.answered_at - self.created_at) * 1000

    def metadata(self) -> Json:
        """`interaction_metadata` of the messages that answer this interaction."""
        data: Json = {
            "id": str(self.id),
            "type": self.type,
            "user": self.person.user,
            "authorizing_integration_owners": {"0": str(GUILD_ID)},
        }
        if self.command_name is not None:
            data["name"] = self.command_name
        if self.type == COMPONENT and self.message is not None:
            data["interacted_message_id"] = str(self.message.id)
        if self.type == MODAL_SUBMIT and self.parent is not None:
            data["triggering_interaction_metadata"] = self.parent.metadata()
        return data


@dataclass(frozen=True, slots=True)
class MessageChanged:
    op: Op
    message: Message


@dataclass(frozen=True, slots=True)
class ChannelChanged:
    op: Op
    channel: Channel


@dataclass(frozen=True, slots=True)
class InteractionCreated:
    interaction: Interaction
    payload: Json


@dataclass(frozen=True, slots=True)
class InteractionSettled:
    """Answered or failed; `interaction.state` says which."""

    interaction: Interaction


@dataclass(frozen=True, slots=True)
class CommandsChanged:
    pass


@dataclass(frozen=True, slots=True)
class PersonChanged:
    """A person joined, or changed language."""

    person: Member


Event = MessageChanged | ChannelChanged | InteractionCreated | InteractionSettled | CommandsChanged | PersonChanged
