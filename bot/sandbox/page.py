"""The browser page: its files, its WebSocket (docs/sandbox.md has the protocol), the request log and the fault switches.

One `Viewer` per open page, acting as one person through the driver. What a page may not do comes back as `refused`; what it
sends that is no request at all is answered the same way, never with a traceback.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiohttp import WSMsgType, web

from bot.sandbox.model import (
    AUTOCOMPLETE,
    MODAL,
    Channel,
    ChannelChanged,
    CommandsChanged,
    Event,
    Interaction,
    InteractionSettled,
    Member,
    Message,
    MessageChanged,
)
from bot.sandbox.wire import ApiError, Json, Refused, as_object, dumps, loads

if TYPE_CHECKING:
    from bot.sandbox.driver import Person, Sandbox

STATIC: Final = Path(__file__).parent / "static"
HISTORY_MAX: Final = 200  # messages shown on opening a channel
QUEUE_MAX: Final = 2_000  # events a page may lag behind before it is cut off; it reconnects and reopens its channel
STATUS_EVERY_S: Final = 0.25
FAULT_ACTIONS: Final = ("reconnect", "invalidate", "invalidate-resumable", "abort")


class Viewer:
    """One open page."""

    def __init__(self, sandbox: Sandbox, person: Person, ws: web.WebSocketResponse, transport: asyncio.Transport | None) -> None:
        self.sandbox = sandbox
        self.person = person
        self.ws = ws
        self.transport = transport
        self.outgoing: asyncio.Queue[bytes] = asyncio.Queue(QUEUE_MAX)
        self.modals: dict[str, Interaction] = {}
        self.nonces: dict[int, Any] = {}  # by interaction id

    def send(self, t: str, **fields: Any) -> None:
        self.send_text(dumps({"t": t, **fields}))

    def send_text(self, text: bytes) -> None:
        try:
            self.outgoing.put_nowait(text)
        except asyncio.QueueFull:
            asyncio.get_running_loop().call_soon(self.cut_off)

    def cut_off(self) -> None:
        """The page does not read what it is sent: drop it rather than keep ever more for it."""
        if self.transport is not None:
            self.transport.abort()

    async def write(self) -> None:
        while True:
            text = await self.outgoing.get()
            try:
                await self.ws.send_str(text.decode())
            except ConnectionError:
                return

    def hello(self) -> None:
        world, member = self.sandbox.world, self.person.member
        channels = [channel for channel in world.channels.values() if world.channel_sees(channel, member)]
        self.send(
            "hello",
            person=person_json(member),
            people=[person_json(other) for other in world.people.values()],
            channels=[channel_json(channel, world.bot) for channel in channels],
            commands=world.catalogue.offered(member),
            bot={"id": str(world.bot.id), "name": world.bot.name},
            status=self.sandbox.status(),
            open=str(self.sandbox.channel(None).id),
        )

    def hear(self, event: Event) -> None:
        world, member = self.sandbox.world, self.person.member
        match event:
            case MessageChanged("delete", message):
                if message.viewer_id in (None, member.id) and world.channel_sees(message.channel, member):
                    self.send("message", op="delete", channel_id=message.data["channel_id"], message={"id": message.data["id"]})
            case MessageChanged(op, message):
                if world.sees(message, member):
                    self.send("message", op=op, channel_id=message.data["channel_id"], message=message.data)
            case ChannelChanged(op, channel):
                if world.channel_sees(channel, member):
                    self.send("channel", op=op, channel=channel_json(channel, world.bot))
            case InteractionSettled(interaction) if interaction.id in self.nonces:
                self._settled(interaction, self.nonces.pop(interaction.id))
            case CommandsChanged():
                self.send("commands", commands=world.catalogue.offered(member))
            case _:
                pass

    def _settled(self, interaction: Interaction, nonce: Any) -> None:
        if interaction.callback == MODAL and interaction.state == "done":
            modal_id = str(interaction.id)
            self.modals[modal_id] = interaction
            self.send("modal", nonce=nonce, modal_id=modal_id, modal=interaction.modal)
        if interaction.type == AUTOCOMPLETE and interaction.state == "done":
            self.send("suggestions", nonce=nonce, choices=interaction.choices)
        self.send("interaction", nonce=nonce, state=interaction.state, latency_ms=interaction.latency_ms)

    # what the page sends

    async def receive(self, raw: str) -> None:
        nonce: Any = None
        try:
            request = as_object(loads(raw))
            if request is None:
                raise Refused("that is no JSON object")
            nonce = request.get("nonce")
            action = ACTIONS.get(str(request.get("t")))
            if action is None:
                raise Refused(f"the sandbox does not know {request.get('t')!r}; it knows {', '.join(ACTIONS)}")
            interaction = action(self, request)
            if interaction is not None:
                self.sandbox.act(interaction)
                self.nonces[interaction.id] = nonce
                self.send("interaction", nonce=nonce, state="pending", latency_ms=None)
        except (Refused, ApiError) as refusal:
            self.send("refused", nonce=nonce, message=str(refusal))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            self.send("refused", nonce=nonce, message=f"the request is malformed: {error!r}")

    def _channel(self, request: Json) -> Channel:
        channel = self.sandbox.world.channel(int(request["channel_id"]))
        if not self.sandbox.world.channel_sees(channel, self.person.member):
            raise Refused(f"{self.person.name} cannot see #{channel.name}")
        return channel

    def _message(self, request: Json) -> Message:
        wanted = int(request["message_id"])
        for channel in self.sandbox.world.channels.values():
            if wanted in channel.messages:
                return channel.messages[wanted]
        raise Refused(f"there is no message {wanted}")

    def open(self, request: Json) -> None:
        channel = self._channel(request)
        messages = self.person.messages(channel)[-HISTORY_MAX:]
        self.send("history", nonce=request.get("nonce"), channel_id=str(channel.id), messages=[message.data for message in messages])

    def say(self, request: Json) -> None:
        self.person.say(self._channel(request), str(request["content"]))

    def slash(self, request: Json) -> Interaction:
        channel = self._channel(request)
        options: list[Json] = request.get("options") or []
        return self.sandbox.interactions.command(self.person.member, channel, int(request["command"]), options, self.sandbox.clock())

    def complete(self, request: Json) -> Interaction:
        channel = self._channel(request)
        options: list[Json] = request.get("options") or []
        return self.sandbox.interactions.complete(self.person.member, channel, int(request["command"]), options, self.sandbox.clock())

    def press(self, request: Json) -> Interaction:
        return self.sandbox.interactions.press(self.person.member, self._message(request), str(request["custom_id"]), self.sandbox.clock())

    def select(self, request: Json) -> Interaction:
        values = [str(value) for value in request["values"]]
        message = self._message(request)
        return self.sandbox.interactions.press(self.person.member, message, str(request["custom_id"]), self.sandbox.clock(), values)

    def submit(self, request: Json) -> Interaction:
        opener = self.modals.get(str(request["modal_id"]))
        if opener is None:
            raise Refused("this modal is not open")
        return self.sandbox.interactions.submit(opener, request["fields"], self.sandbox.clock())

    def dismiss(self, request: Json) -> None:
        self.person.dismiss(self._message(request))

    def locale(self, request: Json) -> None:
        self.person.locale = str(request["locale"])


Action = Callable[[Viewer, Json], "Interaction | None"]
ACTIONS: Final[dict[str, Action]] = {
    "open": Viewer.open,
    "say": Viewer.say,
    "slash": Viewer.slash,
    "complete": Viewer.complete,
    "press": Viewer.press,
    "select": Viewer.select,
    "submit": Viewer.submit,
    "dismiss": Viewer.dismiss,
    "locale": Viewer.locale,
}


class Page:
    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.viewers: list[Viewer] = []
        self._status: Json = {}
        self._status_timer: asyncio.TimerHandle | None = None

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.index),
            web.get("/static/{path:[A-Za-z0-9_-][A-Za-z0-9_./-]*}", self.static),
            web.get("/sandbox/ws", self.websocket),
            web.get("/sandbox/log", self.log),
            web.get("/sandbox/faults", self.faults),
            web.post("/sandbox/faults", self.set_faults),
        ]

    async def close(self) -> None:
        if self._status_timer is not None:
            self._status_timer.cancel()
        await asyncio.gather(*(viewer.ws.close(code=1001) for viewer in list(self.viewers)))

    def hear(self, event: Event) -> None:
        for viewer in self.viewers:
            viewer.hear(event)

    def status_changed(self) -> None:
        """The status may have changed; pages learn of it within a quarter of a second."""
        if self.viewers and self._status_timer is None:
            self._status_timer = asyncio.get_running_loop().call_later(STATUS_EVERY_S, self._send_status)

    def _send_status(self) -> None:
        self._status_timer = None
        status = self.sandbox.status()
        if status != self._status:
            self._status = status
            for viewer in self.viewers:
                viewer.send("status", status=status)

    async def index(self, request: web.Request) -> web.StreamResponse:
        return self._file("index.html")

    async def static(self, request: web.Request) -> web.StreamResponse:
        return self._file(request.match_info["path"])

    def _file(self, name: str) -> web.StreamResponse:
        path = (STATIC / name).resolve()
        if not path.is_relative_to(STATIC) or not path.is_file():
            return web.Response(status=404, text=f"The sandbox has no file {name}.\n")
        return web.FileResponse(path, headers={"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"})

    async def websocket(self, request: web.Request) -> web.StreamResponse:
        wanted = request.query.get("person")
        people = self.sandbox.people.values()
        person = next((person for person in people if wanted is None or str(person.id) == wanted), None)
        if person is None:
            return web.Response(status=404, text=f"There is nobody with the id {wanted}.\n")
        ws = web.WebSocketResponse(heartbeat=20.0, max_msg_size=1 << 18)
        await ws.prepare(request)
        viewer = Viewer(self.sandbox, person, ws, request.transport)
        viewer.hello()
        self.viewers.append(viewer)
        writer = asyncio.create_task(viewer.write())
        try:
            async for frame in ws:
                if frame.type == WSMsgType.TEXT:
                    await viewer.receive(frame.data)
        finally:
            writer.cancel()
            self.viewers.remove(viewer)
        return ws

    async def log(self, request: web.Request) -> web.Response:
        return web.json_response(self.sandbox.api.log_json())

    async def faults(self, request: web.Request) -> web.Response:
        return web.json_response(self.sandbox.faults.json())

    async def set_faults(self, request: web.Request) -> web.Response:
        """Switches by name, and with `do` one of FAULT_ACTIONS."""
        try:
            values = as_object(await request.json())
            if values is None:
                raise Refused("send a JSON object")
            action = values.pop("do", None)
            if action is not None and action not in FAULT_ACTIONS:
                raise Refused(f"there is no action {action!r}; there is {', '.join(FAULT_ACTIONS)}")
            self.sandbox.faults.set(values)
        except (Refused, ValueError) as refusal:
            return web.json_response({"message": str(refusal)}, status=400)
        gateway = self.sandbox.gateway
        if action == "reconnect":
            gateway.reconnect()
        elif action == "abort":
            gateway.abort()
        elif action is not None:
            gateway.invalidate(resumable=action == "invalidate-resumable")
        return await self.faults(request)


def person_json(member: Member) -> Json:
    return {"id": str(member.id), "name": member.name, "avatar": member.colour, "locale": member.locale, "role": member.role}


def channel_json(channel: Channel, bot: Member) -> Json:
    name = bot.name if channel.recipient is not None else channel.name
    parent = None if channel.parent_id is None else str(channel.parent_id)
    return {
        "id": str(channel.id),
        "name": name,
        "type": channel.type,
        "parent_id": parent,
        "topic": channel.topic,
    }
