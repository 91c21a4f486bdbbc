"""The bot's gateway: sessions over a WebSocket with HELLO, heartbeats, IDENTIFY, RESUME with replay, and dispatches.

It turns what happens in the world into Discord's events, filtered by the session's intents; it changes nothing in the
world. Refuses as Discord does, with close codes 4001 to 4014. Each dispatch is serialised once, whatever the number of
sessions, and kept for a resume.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final

from aiohttp import WSMsgType, web

from bot.sandbox import limits
from bot.sandbox.faults import FaultSwitches
from bot.sandbox.model import (
    DM,
    GUILD_ID,
    JOINED_AT,
    THREADS,
    ChannelChanged,
    Event,
    InteractionCreated,
    Message,
    MessageChanged,
)
from bot.sandbox.wire import Json, as_list, as_object, dumps, loads
from bot.sandbox.world import World

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, VOICE, RESUME, RECONNECT, MEMBERS, INVALID, HELLO, ACK = 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11
SESSION_ENDING: Final = (4007, 4009)  # after these a client must identify anew [docs]
HEARTBEATS_MISSED: Final = 1.5  # intervals without any frame before a connection counts as dead


@dataclass(slots=True, eq=False)
class Connection:
    """One open WebSocket and what is still to be written to it, in order."""

    ws: web.WebSocketResponse
    transport: asyncio.Transport | None
    deflate: Any  # zlib.compressobj, or None for plain text
    session: Session | None = None
    closed_here: bool = False
    outgoing: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue[bytes]())
    sent_at: deque[float] = field(default_factory=lambda: deque[float]())

    def send(self, op: int, data: Any) -> None:
        self.outgoing.put_nowait(dumps({"op": op, "d": data, "s": None, "t": None}))

    async def write(self) -> None:
        """Write what is put into `outgoing` until cancelled or the peer is gone."""
        while True:
            text = await self.outgoing.get()
            try:
                if self.deflate is None:
                    await self.ws.send_str(text.decode())
                else:
                    await self.ws.send_bytes(self.deflate.compress(text) + self.deflate.flush(zlib.Z_SYNC_FLUSH))
            except ConnectionError:
                return  # the reader notices too, and keeps the session for a resume


@dataclass(slots=True, eq=False)
class Session:
    id: str
    intents: int
    shard: tuple[int, int]
    connection: Connection | None
    seq: int = 0
    events: deque[tuple[int, bytes]] = field(default_factory=lambda: deque[tuple[int, bytes]](maxlen=limits.SESSION_EVENTS_MAX))
    detached_at: float | None = None
    presence: Json | None = None

    def dispatch(self, name: str, body: bytes) -> None:
        self.seq += 1
        text = b'{"op":0,"t":"%s","s":%d,"d":%s}' % (name.encode(), self.seq, body)
        self.events.append((self.seq, text))
        if self.connection is not None:
            self.connection.outgoing.put_nowait(text)

    def hears(self, guild_id: int | None) -> bool:
        number, count = self.shard
        return number == ((guild_id >> 22) % count if guild_id is not None else 0)


class Gateway:
    def __init__(
        self,
        world: World,
        *,
        token: str,
        clock: Callable[[], float],
        faults: FaultSwitches,
        report: Callable[[str], None],
        changed: Callable[[], None],
        intents_allowed: int = limits.INTENTS_ALL & ~limits.PRIVILEGED_INTENTS,
        heartbeat_s: float = limits.HEARTBEAT_S,
        identify_spacing_s: float = 0.0,
    ) -> None:
        """`report` takes a text for every breach of protocol; `changed` is called when the bot comes, goes or sets its presence."""
        self.world = world
        self.token = token
        self.url = ""  # known once the server listens
        self.clock = clock
        self.faults = faults
        self.report = report
        self.changed = changed
        self.intents_allowed = intents_allowed
        self.heartbeat_s = heartbeat_s
        self.identify_spacing_s = identify_spacing_s
        self.sessions: dict[str, Session] = {}
        self.identified_at: deque[float] = deque()
        self.resumes = 0
        self._connections: set[Connection] = set()
        world.listeners.append(self.hear)

    @property
    def online(self) -> bool:
        return any(session.connection is not None for session in self.sessions.values())

    @property
    def activity(self) -> str | None:
        """What the bot says it does, from its presence: the text of a custom status, else the activity's name."""
        for session in self.sessions.values():
            presence = session.presence or {}
            # discord.py 2.7 still identifies with the older single `game`, which Discord takes
            game = presence.get("game")
            activities: list[Any] = presence.get("activities") or ([game] if game else [])
            for activity in activities:
                text = activity.get("state") if activity.get("type") == 4 else activity.get("name")
                if text:
                    return str(text)
        return None

    @property
    def identifies_left(self) -> int:
        """IDENTIFYs left of today's 1,000."""
        day_ago = self.clock() - 86_400
        return limits.IDENTIFIES_PER_DAY - sum(at > day_ago for at in self.identified_at)

    # what a test or the fault panel does to the connections

    def reconnect(self) -> None:
        """Op 7: please reconnect and resume."""
        for connection in self._connections:
            connection.send(RECONNECT, None)

    def invalidate(self, *, resumable: bool) -> None:
        """Op 9; when not resumable the session is forgotten."""
        for connection in self._connections:
            if not resumable and connection.session is not None:
                self.sessions.pop(connection.session.id, None)
            connection.send(INVALID, resumable)

    def abort(self) -> None:
        """Cut the TCP connections without a word."""
        for connection in list(self._connections):
            if connection.transport is not None:
                connection.transport.abort()

    async def close(self, code: int = 1001) -> None:
        """Close every connection with this close code."""
        for connection in self._connections:
            connection.closed_here = True
        await asyncio.gather(*(connection.ws.close(code=code) for connection in list(self._connections)))

    # events of the world

    def hear(self, event: Event) -> None:
        match event:
            case InteractionCreated(interaction, payload):
                self._dispatch("INTERACTION_CREATE", payload, 0, interaction.channel.guild_id)
            case MessageChanged(op, message) if not message.ephemeral:
                self._dispatch_message(op, message)
            case ChannelChanged(op, channel) if channel.type != DM:
                kind = "THREAD" if channel.type in THREADS else "CHANNEL"
                extra: Json = {"newly_created": True} if kind == "THREAD" and op == "create" else {}
                if kind == "THREAD":
                    extra["member"] = {"id": str(channel.id), "user_id": str(self.world.bot.id), "join_timestamp": JOINED_AT, "flags": 0}
                self._dispatch(f"{kind}_{op.upper()}", channel.json() | extra, limits.INTENT_GUILDS, GUILD_ID)
            case _:
                pass

    def _dispatch(self, name: str, data: Json, intent: int, guild_id: int | None) -> None:
        body: bytes | None = None
        for session in list(self.sessions.values()):
            if session.detached_at is not None and self.clock() - session.detached_at > limits.SESSION_LIFE_S:
                del self.sessions[session.id]
            elif session.hears(guild_id) and (not intent or session.intents & intent):
                body = body or dumps(data)
                session.dispatch(name, body)

    def _dispatch_message(self, op: str, message: Message) -> None:
        guild_id = message.channel.guild_id
        intent = limits.INTENT_DIRECT_MESSAGES if guild_id is None else limits.INTENT_GUILD_MESSAGES
        if not any(session.intents & intent for session in self.sessions.values()):
            return
        place: Json = {} if guild_id is None else {"guild_id": str(guild_id)}
        if op == "delete":
            self._dispatch(
                "MESSAGE_DELETE", {"id": message.data["id"], "channel_id": message.data["channel_id"], **place}, intent, guild_id
            )
            return
        author = self.world.member(int(message.data["author"]["id"]))
        if guild_id is not None:
            place["member"] = author.guild_json()
        full = message.data | place
        own = author.bot or guild_id is None or any(user["id"] == str(self.world.bot.id) for user in message.data["mentions"])
        nothing: list[Json] = []
        blank: Json = full if own else full | {"content": "", "embeds": nothing, "attachments": nothing, "components": nothing}
        for session in self.sessions.values():
            if session.intents & intent and session.hears(guild_id):
                readable = full if session.intents & limits.INTENT_CONTENT else blank
                session.dispatch(f"MESSAGE_{op.upper()}", dumps(readable))

    # one connection

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """The aiohttp handler of the gateway's address."""
        ws = web.WebSocketResponse(compress=False, max_msg_size=1 << 20)
        await ws.prepare(request)
        zlib_asked = request.query.get("compress") == "zlib-stream"
        # level 1: the other end is on this machine, time counts and bytes do not
        connection = Connection(ws, request.transport, zlib.compressobj(1) if zlib_asked else None)
        if request.query.get("v") != limits.GATEWAY_VERSION or request.query.get("encoding", "json") != "json":
            return await self._refuse(connection, 4012, "this gateway speaks version 10 in JSON")
        self._connections.add(connection)
        writer = asyncio.create_task(connection.write())
        connection.send(HELLO, {"heartbeat_interval": int(self.heartbeat_s * 1000), "_trace": []})
        try:
            await self._read(connection)
        finally:
            writer.cancel()
            self._connections.discard(connection)
            self._detach(connection)
        return ws

    async def _read(self, connection: Connection) -> None:
        while True:
            try:
                frame = await connection.ws.receive(timeout=self.heartbeat_s * HEARTBEATS_MISSED)
            except TimeoutError:
                await self._refuse(connection, 4009, "no heartbeat came in time")
                return
            if frame.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            fault = self._receive(connection, frame.data)
            if fault is not None:
                await self._refuse(connection, *fault)
                return

    async def _refuse(self, connection: Connection, code: int, why: str) -> web.WebSocketResponse:
        self.report(f"gateway closed with {code}: {why}")
        connection.closed_here = True
        if code in SESSION_ENDING and connection.session is not None:
            self.sessions.pop(connection.session.id, None)
        await connection.ws.close(code=code, message=why.encode())
        return connection.ws

    def _detach(self, connection: Connection) -> None:
        session = connection.session
        if session is None or session.connection is not connection:
            return
        session.connection = None
        session.detached_at = self.clock()
        if not connection.closed_here and connection.ws.close_code in (1000, 1001):  # the bot left for good [docs]
            self.sessions.pop(session.id, None)
        self.changed()

    def _receive(self, connection: Connection, raw: str | bytes) -> tuple[int, str] | None:
        """Act on one frame; returns a close code and its reason when Discord would close."""
        now = self.clock()
        while connection.sent_at and connection.sent_at[0] <= now - limits.GATEWAY_SENDS[1]:
            connection.sent_at.popleft()
        connection.sent_at.append(now)
        if len(connection.sent_at) > limits.GATEWAY_SENDS[0]:
            return 4008, f"more than {limits.GATEWAY_SENDS[0]} messages in {limits.GATEWAY_SENDS[1]:.0f} s"
        if len(raw) > limits.GATEWAY_BYTES_MAX:
            return 4002, f"a payload of {len(raw)} bytes; {limits.GATEWAY_BYTES_MAX} is the limit"
        try:
            frame = as_object(loads(raw))
        except ValueError:
            frame = None
        if frame is None:
            return 4002, "that is no JSON object"
        op = frame.get("op")
        data = as_object(frame.get("d")) or {}
        if op == HEARTBEAT:
            if not self.faults.drop_acks:
                connection.send(ACK, None)
            return None
        if op == IDENTIFY:
            return self._identify(connection, data, now)
        if op == RESUME:
            return self._resume(connection, data, now)
        if op not in (PRESENCE, VOICE, MEMBERS):
            return 4001, f"there is no opcode {op!r} for clients"
        if connection.session is None:
            return 4003, "the session has not been identified"
        if op == PRESENCE:
            connection.session.presence = data
            self.changed()
        elif op == MEMBERS:
            self._members(connection.session, data)
        return None

    def _identify(self, connection: Connection, data: Json, now: float) -> tuple[int, str] | None:
        if connection.session is not None:
            return 4005, "identified twice"
        if data.get("token") != self.token:
            return 4004, "the token is not the bot's"
        intents = data.get("intents")
        if not isinstance(intents, int) or isinstance(intents, bool) or intents & ~limits.INTENTS_ALL:
            return 4013, f"intents {intents!r}"
        if intents & ~self.intents_allowed:
            return 4014, f"privileged intents {intents & ~self.intents_allowed} are not enabled for this bot"
        number, count = data.get("shard") or (0, 1)
        if not 0 <= number < count:
            return 4010, f"shard {number} of {count}"
        if self.identified_at and now - self.identified_at[-1] < self.identify_spacing_s:
            connection.send(INVALID, False)
            return None
        self.identified_at.append(now)
        if self.identifies_left < 0:
            return 4004, f"more than {limits.IDENTIFIES_PER_DAY} IDENTIFYs in a day"
        session = Session(token_hex(16), intents, (number, count), connection, presence=as_object(data.get("presence")))
        connection.session = session
        self.sessions[session.id] = session
        ready = {
            "v": 10,
            "user": self.world.bot.user | {"verified": True, "mfa_enabled": False, "email": None, "flags": 0},
            "guilds": [{"id": str(GUILD_ID), "unavailable": True}] if session.hears(GUILD_ID) else [],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self.url,
            "shard": [number, count],
            "application": {"id": str(self.world.bot.id), "flags": 0},
            "private_channels": [],
            "relationships": [],
            "_trace": [],
        }
        session.dispatch("READY", dumps(ready))
        if session.hears(GUILD_ID) and intents & limits.INTENT_GUILDS:
            session.dispatch("GUILD_CREATE", dumps(self.world.guild_json()))
        self.changed()
        return None

    def _resume(self, connection: Connection, data: Json, now: float) -> tuple[int, str] | None:
        if connection.session is not None:
            return 4005, "this connection has a session already"
        if data.get("token") != self.token:
            return 4004, "the token is not the bot's"
        session = self.sessions.get(str(data.get("session_id")))
        seq = data.get("seq")
        stale = session is not None and session.detached_at is not None and now - session.detached_at > limits.SESSION_LIFE_S
        if session is None or stale or not isinstance(seq, int):
            connection.send(INVALID, False)
            return None
        if seq > session.seq:
            return 4007, f"seq {seq} was never sent; the last one is {session.seq}"
        if session.events and session.events[0][0] > seq + 1:
            connection.send(INVALID, False)  # what is missing was not kept
            return None
        session.connection, session.detached_at = connection, None
        connection.session = session
        for number, text in session.events:
            if number > seq:
                connection.outgoing.put_nowait(text)
        session.dispatch("RESUMED", b'{"_trace":[]}')
        self.resumes += 1
        self.changed()
        return None

    def _members(self, session: Session, data: Json) -> None:
        """Op 8: by ids, or by the beginning of a name; everybody only with the members intent."""
        ids = data.get("user_ids")
        wanted = [str(entry) for entry in as_list(ids) or ([] if ids is None else [ids])]
        everybody = [*self.world.people.values(), self.world.bot]
        if wanted:
            found = [member for member in everybody if str(member.id) in wanted]
        elif data.get("query") or session.intents & limits.INTENT_MEMBERS:
            query = str(data.get("query") or "").lower()
            found = [member for member in everybody if member.name.lower().startswith(query)][: data.get("limit") or None]
        else:
            found = []
        known = {str(member.id) for member in found}
        chunk: Json = {
            "guild_id": str(GUILD_ID),
            "members": [member.member_json() for member in found],
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [entry for entry in wanted if entry not in known],
        }
        if data.get("nonce") is not None:
            chunk["nonce"] = data["nonce"]
        session.dispatch("GUILD_MEMBERS_CHUNK", dumps(chunk))
