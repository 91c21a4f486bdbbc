"""The rules of the place: who sees what, what becomes of a message, which commands are synced.

Plain state and rules. Time is passed in as `now` (seconds since 1970); nothing here does I/O: every change is told to the
listeners, and the gateway, the driver and the page do the sending. What becomes of an interaction is in
`bot.sandbox.interactions`, the rate limits in `bot.sandbox.rates`.

Errors: `ApiError` for what Discord refuses the bot, `Refused` for what its client refuses a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from mimetypes import guess_type
from typing import Any, Final
from urllib.parse import quote

from bot.sandbox import limits
from bot.sandbox.catalogue import Catalogue
from bot.sandbox.components import numbered
from bot.sandbox.fields import Form
from bot.sandbox.model import (
    APPLICATION_ID,
    DM,
    FIRST_CHANNEL_ID,
    FIRST_PERSON_ID,
    GUILD_ID,
    INSTRUCTOR_ROLE_ID,
    JOINED_AT,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    THREADS,
    Channel,
    ChannelChanged,
    CommandsChanged,
    Event,
    Interaction,
    Member,
    Message,
    MessageChanged,
    PersonChanged,
    StoredFile,
    Upload,
)
from bot.sandbox.validate import check_edit, check_message, check_uploads
from bot.sandbox.wire import ApiError, Json, Refused, Snowflakes, as_list, as_object, as_objects, timestamp, unknown

GUILD_NAME: Final = "Study hall"
CHANNELS: Final = (
    ("welcome", "What Studyhall is and how to begin"),
    ("quiz-room", "Practise alone: /quiz"),
    ("live-rounds", "Rounds for everybody: /live"),
    ("ask", "Questions about the guides: /ask"),
)
PEOPLE: Final = (
    ("Ada", "instructor", "en-US"),
    ("Sam", "learner", "en-US"),
    ("Minjun", "learner", "ko"),
    ("Eleni", "learner", "el"),
    ("Dmitri", "learner", "ru"),
    ("Lin", "learner", "zh-CN"),
)
MENTION: Final = re.compile(r"<@!?(\d+)>")
CHANNEL_MESSAGE_FLAGS: Final = limits.SUPPRESS_EMBEDS | limits.SUPPRESS_NOTIFICATIONS | limits.VOICE_MESSAGE | limits.COMPONENTS_V2
MESSAGES_KEPT: Final = 5_000  # per channel; the oldest go first, as if nobody had scrolled up so far
FILE_BYTES_KEPT: Final = 256 * 1024 * 1024
NONCES_KEPT: Final = 1_000
REPLY, DEFAULT, COMMAND_REPLY = 19, 0, 20  # message types


class World:
    """One guild, its people, and one bot. `url` is where attachments are served."""

    def __init__(self, url: str = "http://127.0.0.1") -> None:
        self.url = url
        self.ids = Snowflakes()
        self.listeners: list[Callable[[Event], None]] = []
        self.bot = Member(APPLICATION_ID, "Studyhall", bot=True)
        self.people: dict[int, Member] = {}
        self.channels: dict[int, Channel] = {}
        self.files: dict[tuple[int, int, str], StoredFile] = {}
        self.attachments: dict[str, Json] = {}
        self._file_bytes = 0
        self.catalogue = Catalogue(self.bot.id, self.ids.next)
        self._nonces: dict[tuple[int, str], tuple[float, Message]] = {}
        for position, (name, topic) in enumerate(CHANNELS):
            channel = Channel(FIRST_CHANNEL_ID + position, name, topic=topic, position=position)
            self.channels[channel.id] = channel
        for name, role, locale in PEOPLE:
            self.add_person(name, locale=locale, role="instructor" if role == "instructor" else "learner")

    def emit(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)

    # people

    def add_person(self, name: str, *, locale: str = "en-US", role: str = "learner") -> Member:
        person = Member(FIRST_PERSON_ID + len(self.people), name, locale, "instructor" if role == "instructor" else "learner")
        self.people[person.id] = person
        self.emit(PersonChanged(person))
        return person

    def set_locale(self, person: Member, locale: str) -> None:
        if locale not in limits.LOCALES:
            raise Refused(f"{locale!r} is not a locale of Discord; there is {', '.join(sorted(limits.LOCALES))}")
        person.locale = locale
        self.emit(PersonChanged(person))

    def member(self, user_id: int) -> Member:
        found = self.bot if user_id == self.bot.id else self.people.get(user_id)
        if found is None:
            raise unknown("User", 10013)
        return found

    def guild_json(self) -> Json:
        """GUILD_CREATE: without the members intent a bot gets no member but itself."""
        rooms = [channel for channel in self.channels.values() if channel.type != DM]
        roles = [
            (GUILD_ID, "@everyone", self.people[FIRST_PERSON_ID + 1].permissions),
            (INSTRUCTOR_ROLE_ID, "Instructor", self.people[FIRST_PERSON_ID].permissions),
        ]
        return {
            "id": str(GUILD_ID),
            "name": GUILD_NAME,
            "icon": None,
            "owner_id": str(FIRST_PERSON_ID),
            "unavailable": False,
            "joined_at": JOINED_AT,
            "large": False,
            "member_count": len(self.people) + 1,
            "members": [self.bot.member_json()],
            "channels": [channel.json() for channel in rooms if channel.type not in THREADS],
            "threads": [channel.json() for channel in rooms if channel.type in THREADS and not channel.archived],
            "roles": [
                {
                    "id": str(role_id),
                    "name": name,
                    "color": 0,
                    "hoist": False,
                    "position": position,
                    "permissions": str(bits),
                    "managed": False,
                    "mentionable": False,
                    "flags": 0,
                }
                for position, (role_id, name, bits) in enumerate(roles)
            ],
            "emojis": [],
            "stickers": [],
            "features": ["COMMUNITY"],
            "presences": [],
            "voice_states": [],
            "guild_scheduled_events": [],
            "stage_instances": [],
            "preferred_locale": "en-US",
            "premium_tier": 0,
            "verification_level": 1,
            "default_message_notifications": 1,
            "explicit_content_filter": 2,
            "mfa_level": 0,
            "nsfw_level": 0,
            "afk_timeout": 300,
            "system_channel_flags": 0,
        }

    # channels

    def channel(self, channel_id: int) -> Channel:
        found = self.channels.get(channel_id)
        if found is None:
            raise unknown("Channel", 10003)
        return found

    def channel_sees(self, channel: Channel, person: Member) -> bool:
        """May this person open the channel? Private threads show themselves to their members and to instructors."""
        if channel.type == DM:
            return channel.recipient is person
        return channel.type != PRIVATE_THREAD or person.id in channel.member_ids or person.role == "instructor"

    def sees(self, message: Message, person: Member) -> bool:
        return not message.deleted and message.viewer_id in (None, person.id) and self.channel_sees(message.channel, person)

    def dm(self, person: Member, now: float) -> Channel:
        found = next((channel for channel in self.channels.values() if channel.recipient is person), None)
        if found is None:
            found = Channel(self.ids.next(now), person.name, DM, recipient=person, created_at=now)
            self.channels[found.id] = found
            self.emit(ChannelChanged("create", found))
        return found

    def start_thread(self, parent: Channel, payload: Json, now: float, *, message: Message | None = None) -> Channel:
        if parent.type in THREADS or parent.type == DM:
            raise ApiError(400, 50024, "Cannot execute action on this channel type")
        form = Form()
        name = form.text((), payload, "name", limits.THREAD_NAME_LEN, required=True)
        minutes = payload.get("auto_archive_duration") or limits.THREAD_ARCHIVE_MINUTES[1]
        form.one_of(("auto_archive_duration",), minutes, limits.THREAD_ARCHIVE_MINUTES)
        slowmode = form.integer((), payload, "rate_limit_per_user", limits.THREAD_SLOWMODE_S, default=0)
        kind = PUBLIC_THREAD if message is not None else payload.get("type") or PRIVATE_THREAD  # the default without a message [docs]
        form.one_of(("type",), kind, THREADS)
        form.raise_if_any()
        if message is not None and message.id in self.channels:
            raise ApiError(400, 160004, "A thread has already been created for this message")
        thread = Channel(
            message.id if message is not None else self.ids.next(now),
            name or "",
            kind,
            parent_id=parent.id,
            owner_id=self.bot.id,
            auto_archive_minutes=minutes,
            slowmode_s=slowmode or 0,
            created_at=now,
            member_ids={self.bot.id},
        )
        self.channels[thread.id] = thread
        self.emit(ChannelChanged("create", thread))
        if message is not None:
            message.data = message.data | {"flags": message.flags | limits.HAS_THREAD, "thread": thread.json()}
            self.emit(MessageChanged("update", message))
        return thread

    def edit_channel(self, channel: Channel, payload: Json) -> Channel:
        if channel.type == DM:
            raise ApiError(400, 50024, "Cannot execute action on this channel type")
        form = Form()
        name = form.text((), payload, "name", limits.THREAD_NAME_LEN)
        topic = form.text((), payload, "topic", (0, 1_024))
        archived = form.boolean((), payload, "archived", default=channel.archived)
        locked = form.boolean((), payload, "locked", default=channel.locked)
        slowmode = form.integer((), payload, "rate_limit_per_user", limits.THREAD_SLOWMODE_S, default=channel.slowmode_s)
        minutes = payload.get("auto_archive_duration") or channel.auto_archive_minutes
        form.one_of(("auto_archive_duration",), minutes, limits.THREAD_ARCHIVE_MINUTES)
        form.raise_if_any()
        channel.name = name or channel.name
        channel.topic = channel.topic if topic is None else topic
        channel.archived, channel.locked = archived, locked
        channel.slowmode_s, channel.auto_archive_minutes = slowmode or 0, minutes
        self.emit(ChannelChanged("update", channel))
        return channel

    def delete_channel(self, channel: Channel) -> None:
        del self.channels[channel.id]
        for message in channel.messages.values():
            message.deleted = True
        self.emit(ChannelChanged("delete", channel))

    def join_thread(self, thread: Channel, member: Member, *, joins: bool) -> None:
        if thread.type not in THREADS:
            raise ApiError(400, 50024, "Cannot execute action on this channel type")
        if joins:
            thread.member_ids.add(member.id)
        else:
            thread.member_ids.discard(member.id)
        self.emit(ChannelChanged("update", thread))

    # messages

    def message(self, channel: Channel, message_id: int, *, ephemeral_too: bool = False) -> Message:
        """A message as the bot reaches it through its channel: an ephemeral one is unknown there."""
        found = channel.messages.get(message_id)
        if found is None or found.deleted or (found.ephemeral and not ephemeral_too):
            raise unknown("Message", 10008)
        return found

    def say(self, person: Member, channel: Channel, content: str, now: float) -> Message:
        if not self.channel_sees(channel, person):
            raise Refused(f"{person.name} cannot see #{channel.name}")
        if not content.strip() or len(content) > limits.CONTENT_MAX:
            raise Refused(f"a message has 1 to {limits.CONTENT_MAX} characters, not {len(content)}")
        return self._add(channel, person, {"content": content}, [], now, flags=0)

    def post(self, channel: Channel, payload: Json, files: Sequence[Upload], now: float) -> Message:
        """The bot's message to a channel."""
        nonce = payload.get("nonce")
        if payload.get("enforce_nonce") and nonce is not None:
            known = self._nonces.get((channel.id, str(nonce)))
            if known is not None and now - known[0] < limits.NONCE_MEMORY_S:
                return known[1]
        check_uploads(files)
        flags = check_message(payload, files, flags_allowed=CHANNEL_MESSAGE_FLAGS)
        if channel.recipient is not None and not channel.recipient.accepts_dms:
            raise ApiError(403, 50007, "Cannot send messages to this user")
        reference = as_object(payload.get("message_reference"))
        replied: Message | None = None
        if reference is not None:
            replied = channel.messages.get(int(reference.get("message_id") or 0))
            if (replied is None or replied.deleted or replied.ephemeral) and reference.get("fail_if_not_exists", True):
                form = Form()
                form.add(("message_reference",), "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
                form.raise_if_any()
        channel.archived = False  # a message wakes a thread
        message = self._add(channel, self.bot, payload, files, now, flags=flags, replied=replied)
        if payload.get("enforce_nonce") and nonce is not None:
            self._nonces[channel.id, str(nonce)] = (now, message)
            if len(self._nonces) > NONCES_KEPT:
                del self._nonces[next(iter(self._nonces))]
        return message

    def answer(self, interaction: Interaction, payload: Json, files: Sequence[Upload], now: float, *, flags: int) -> Message:
        """The bot's message in answer to an interaction; it was checked, and `flags` are what it will have."""
        viewer = interaction.person.id if flags & limits.EPHEMERAL else None
        return self._add(interaction.channel, self.bot, payload, files, now, flags=flags, interaction=interaction, viewer_id=viewer)

    def edit(self, message: Message, payload: Json, files: Sequence[Upload], now: float, *, path: tuple[str, ...] = ()) -> Message:
        if message.data["author"]["id"] != self.bot.user["id"]:
            raise ApiError(403, 50005, "Cannot edit a message authored by another user")
        check_uploads(files)
        kept = self._kept(message, payload)
        flags = check_edit(
            payload, files, message.data, flags_allowed=CHANNEL_MESSAGE_FLAGS, kept=[entry["filename"] for entry in kept], path=path
        )
        attachments = kept + self._store(message.channel, payload, files, now)
        data = dict(message.data)
        if payload.get("content") is not None or "content" in payload:
            data["content"] = payload["content"] or ""
        data |= {"attachments": attachments, "flags": flags & ~limits.LOADING, "edited_timestamp": timestamp(now)}
        data |= self._bodies(payload, attachments, "embeds", "components")
        data["mentions"] = self._mentions(data["content"], payload)
        message.data = data
        self.emit(MessageChanged("update", message))
        return message

    def delete(self, message: Message) -> None:
        message.deleted = True
        message.channel.messages.pop(message.id, None)
        self.emit(MessageChanged("delete", message))

    def dismiss(self, message: Message, person: Member) -> None:
        """A person closes an ephemeral message; the bot does not learn of it, and cannot reach it any more."""
        if message.viewer_id != person.id or message.deleted:
            raise Refused("only an ephemeral message of one's own can be dismissed")
        self.delete(message)

    def _add(
        self,
        channel: Channel,
        author: Member,
        payload: Json,
        files: Sequence[Upload],
        now: float,
        *,
        flags: int,
        interaction: Interaction | None = None,
        viewer_id: int | None = None,
        replied: Message | None = None,
    ) -> Message:
        message_id = self.ids.next(now)
        attachments = self._store(channel, payload, files, now)
        content = payload.get("content") or ""
        data: Json = {
            "id": str(message_id),
            "channel_id": str(channel.id),
            "type": DEFAULT,
            "author": author.user,
            "content": content,
            "timestamp": timestamp(now),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": self._mentions(content, payload),
            "mention_roles": [],
            "attachments": attachments,
            "embeds": [],
            "components": [],
            "pinned": False,
            "flags": flags,
        }
        data |= self._bodies(payload, attachments, "embeds", "components")
        if payload.get("nonce") is not None:
            data["nonce"] = payload["nonce"]
        if interaction is not None:
            data |= {
                "type": COMMAND_REPLY if interaction.command_name is not None else DEFAULT,
                "application_id": str(self.bot.id),
                "webhook_id": str(self.bot.id),
                "interaction_metadata": interaction.metadata(),
            }
            if interaction.message is not None:
                reference = {"type": 0, "message_id": str(interaction.message.id), "channel_id": str(channel.id)}
                data |= {"type": REPLY, "message_reference": reference}
        if replied is not None:
            data |= {
                "type": REPLY,
                "message_reference": {"type": 0, "message_id": str(replied.id), "channel_id": str(channel.id)},
                "referenced_message": replied.data,
            }
        message = Message(data, channel, viewer_id)
        channel.messages[message_id] = message
        if len(channel.messages) > MESSAGES_KEPT:
            channel.messages.pop(next(iter(channel.messages))).deleted = True
        if viewer_id is None:
            channel.message_count += 1
        self.emit(MessageChanged("create", message))
        return message

    def _kept(self, message: Message, payload: Json) -> list[Json]:
        if payload.get("attachments") is None:
            return message.attachments
        ids = {str(entry.get("id")) for entry in as_objects(payload["attachments"])}
        return [entry for entry in message.attachments if entry["id"] in ids]

    def _bodies(self, payload: Json, attachments: Sequence[Json], *keys: str) -> Json:
        """Embeds and components as they are stored: numbered, their `attachment://` addresses resolved."""
        bodies: Json = {}
        by_name = {entry["filename"]: entry for entry in attachments}
        for key in keys:
            if key in payload:
                body = as_objects(payload[key])
                bodies[key] = resolved(numbered(body) if key == "components" else [{"type": "rich", **embed} for embed in body], by_name)
        return bodies

    def _mentions(self, content: str, payload: Json) -> list[Json]:
        allowed = as_object(payload.get("allowed_mentions"))
        permitted: set[str] | None = None
        if allowed is not None and "users" not in (as_list(allowed.get("parse")) or ()):
            permitted = {str(user) for user in as_list(allowed.get("users")) or ()}
        found = dict.fromkeys(MENTION.findall(content))
        if not found:
            return []
        known = {str(member.id): member.user for member in (self.bot, *self.people.values())}
        return [known[user] for user in found if user in known and (permitted is None or user in permitted)]

    def _store(self, channel: Channel, payload: Json, files: Sequence[Upload], now: float) -> list[Json]:
        described = {str(entry.get("id")): entry for entry in as_objects(payload.get("attachments"))}
        return [self.keep(channel, file, now, description=described.get(str(i), {}).get("description")) for i, file in enumerate(files)]

    def keep(self, channel: Channel, file: Upload, now: float, *, description: str | None = None) -> Json:
        """Store a file; return Discord's attachment object."""
        attachment_id = self.ids.next(now)
        content_type = guess_type(file.filename)[0] or "application/octet-stream"
        self.files[channel.id, attachment_id, file.filename] = StoredFile(file.content, content_type)
        self._file_bytes += len(file.content)
        while self._file_bytes > FILE_BYTES_KEPT and len(self.files) > 1:
            self._file_bytes -= len(self.files.pop(next(iter(self.files))).content)
        url = f"{self.url}/attachments/{channel.id}/{attachment_id}/{quote(file.filename)}"
        attachment: Json = {
            "id": str(attachment_id),
            "filename": file.filename,
            "size": len(file.content),
            "url": url,
            "proxy_url": url,
            "content_type": content_type,
        }
        if description is not None:
            attachment["description"] = description
        if file.content[:8] == b"\x89PNG\r\n\x1a\n" and len(file.content) >= 24:
            attachment["width"] = int.from_bytes(file.content[16:20])
            attachment["height"] = int.from_bytes(file.content[20:24])
        self.attachments[str(attachment_id)] = attachment
        return attachment

    def sync(self, guild_id: int | None, payload: Any, now: float) -> list[Json]:
        """Bulk overwrite of the commands of one scope: everywhere (None) or a guild."""
        commands = self.catalogue.overwrite(guild_id, payload, now)
        self.emit(CommandsChanged())
        return commands


def resolved(body: Any, files: dict[str, Json]) -> Any:
    """A copy of an embed or component body in which `attachment://NAME` is the address of that file."""
    tree, entries = as_object(body), as_list(body)
    if tree is not None:
        copy = {key: resolved(value, files) for key, value in tree.items()}
        url = copy.get("url")
        if isinstance(url, str) and url.startswith("attachment://") and url[13:] in files:
            file = files[url[13:]]
            copy |= {"url": file["url"], "proxy_url": file["url"], "attachment_id": file["id"], "content_type": file["content_type"]}
        return copy
    return body if entries is None else [resolved(entry, files) for entry in entries]
