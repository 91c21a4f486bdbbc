"""What people do in the sandbox, from Python: for tests, benchmarks and the browser page.

`Sandbox` starts and stops the whole loopback Discord. A `Person` can do what Discord's client lets a person do and gets
`Refused` for the rest; what they did is an `Act` that the bot answers or fails. Only 127.0.0.1 is ever bound.

    async with Sandbox() as sandbox:
        point_discord_at(sandbox.url, sandbox.gateway_url)  # then start the bot with sandbox.token
        await sandbox.ready(10)
        act = await sandbox.person("Sam").slash("quiz play", quiz="dns")
        await sandbox.person("Sam").press(act.message, label="A")
"""

from __future__ import annotations

import asyncio
import errno
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, Self, TypeVar

from aiohttp import web

from bot.sandbox import limits
from bot.sandbox.acts import Act, ShownModal
from bot.sandbox.commands import ATTACHMENT, GROUP, SUBCOMMAND
from bot.sandbox.faults import FaultSwitches
from bot.sandbox.gateway import Gateway
from bot.sandbox.interactions import Interactions
from bot.sandbox.model import (
    Channel,
    Event,
    Interaction,
    InteractionSettled,
    Member,
    Message,
    MessageChanged,
    PersonChanged,
    Role,
    Upload,
)
from bot.sandbox.page import Page
from bot.sandbox.rates import RateLimiter, Rates
from bot.sandbox.server import Api, own_address_only
from bot.sandbox.wire import Json, NoAnswer, PortTaken, Refused
from bot.sandbox.world import World

HOST: Final = "127.0.0.1"
DEFAULT_CHANNEL: Final = "quiz-room"
# A person needs this long to see what appeared. discord.py registers a view only after it has read the reply that
# carried it, so an instant press would be dropped; on Discord the network takes care of that.
REACTION_S: Final = 0.02
REACTION_TURNS: Final = 10  # turns of the event loop given to the bot on top, should the loop be busy
SWEEP_S: Final = 0.05  # how often the 3 s deadline is looked at
LATENCIES_KEPT: Final = 10_000
VIOLATIONS_KEPT: Final = 10_000  # a bot that breaks a rule in a loop must not fill the memory

Found = TypeVar("Found")


class HostLog(Protocol):
    """The part of `bot.sandbox.launch.ConnectionLog` that the status shows."""

    @property
    def attempts(self) -> Sequence[str]: ...


class Person:
    """One pretended user. Channels may be given as value or by name; a DM with the bot is `person.dm()`."""

    def __init__(self, sandbox: Sandbox, member: Member) -> None:
        self.sandbox = sandbox
        self.member = member

    @property
    def id(self) -> int:
        return self.member.id

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def locale(self) -> str:
        return self.member.locale

    @locale.setter
    def locale(self, locale: str) -> None:
        self.sandbox.world.set_locale(self.member, locale)

    async def slash(self, command: str, /, *, channel: Channel | str | None = None, wait: bool = True, **options: Any) -> Act:
        """Use a slash command ("quiz play") with options by name; people, channels and Uploads may be given as values.

        Waits for the first response unless `wait` is false. Raises Refused for what Discord's client would not send.
        """
        where = self.sandbox.channel(channel)
        found, objects = self._filled(command, where, options, focused=None)
        return await self._act(self.sandbox.interactions.command(self.member, where, int(found["id"]), objects, self.sandbox.clock()), wait)

    async def complete(
        self, command: str, /, focused: str, value: Any = "", *, channel: Channel | str | None = None, **options: Any
    ) -> list[Json]:
        """The suggestions for what is typed into the option `focused`; raises NoAnswer when the bot gives none in time."""
        where = self.sandbox.channel(channel)
        found, objects = self._filled(command, where, {**options, focused: value}, focused=focused)
        interaction = self.sandbox.interactions.complete(self.member, where, int(found["id"]), objects, self.sandbox.clock())
        await self.sandbox.act(interaction).answered()
        if interaction.choices is None:
            raise NoAnswer(f"loading options of /{command} failed")
        return interaction.choices

    async def menu(self, command: str, target: Message | Person, /, *, channel: Channel | str | None = None, wait: bool = True) -> Act:
        """Use a context menu command on a message or a person."""
        where = target.channel if isinstance(target, Message) else self.sandbox.channel(channel)
        kind = 3 if isinstance(target, Message) else 2
        found = next(
            (c for c in self.sandbox.world.catalogue.offered(self.member, where) if c["type"] == kind and c["name"] == command), None
        )
        if found is None:
            raise Refused(f"no menu command {command!r} is synced that {self.name} can use here")
        aim = target if isinstance(target, Message) else target.member
        return await self._act(self.sandbox.interactions.use_menu(self.member, where, int(found["id"]), aim, self.sandbox.clock()), wait)

    async def press(self, message: Message, *, label: str | None = None, custom_id: str | None = None, wait: bool = True) -> Act:
        """Press a button, found by its label or its custom_id."""
        await self.sandbox.reaction(message)
        if custom_id is None:
            fitting = [button for button in message.buttons if button.get("label") == label]
            if len(fitting) != 1:
                raise Refused(
                    f"{len(fitting)} buttons are labelled {label!r}; there is {[button.get('label') for button in message.buttons]}"
                )
            custom_id = fitting[0].get("custom_id", "")
        return await self._act(self.sandbox.interactions.press(self.member, message, str(custom_id), self.sandbox.clock()), wait)

    async def select(self, message: Message, custom_id: str | None, values: Sequence[str], *, wait: bool = True) -> Act:
        """Choose in a select, by values or labels; without a custom_id the message must have exactly one select."""
        await self.sandbox.reaction(message)
        fitting = [node for node in message.selects if custom_id in (None, node["custom_id"])]
        if len(fitting) != 1:
            raise Refused(f"{len(fitting)} selects fit {custom_id!r}; there is {[node['custom_id'] for node in message.selects]}")
        by_label = {option["label"]: option["value"] for option in fitting[0].get("options", [])}
        known = set(by_label.values())
        chosen = [value if value in known else by_label.get(value, value) for value in values]
        interaction = self.sandbox.interactions.press(self.member, message, fitting[0]["custom_id"], self.sandbox.clock(), chosen)
        return await self._act(interaction, wait)

    async def submit(self, modal: ShownModal | Act, fields: Mapping[str, Any], *, wait: bool = True) -> Act:
        """Send a modal; `fields` by label or custom_id. What is left out keeps its default."""
        shown = modal.modal if isinstance(modal, Act) else modal
        if shown.interaction.person is not self.member:
            raise Refused(f"this modal is shown to {shown.interaction.person.name}")
        await self.sandbox.pause()
        by_label = {label: node["custom_id"] for label, node in shown.fields.items()}
        values = {by_label.get(key, key): value for key, value in fields.items()}
        return await self._act(self.sandbox.interactions.submit(shown.interaction, values, self.sandbox.clock()), wait)

    def messages(self, channel: Channel | str | None = None) -> list[Message]:
        """What this person sees in a channel, oldest first."""
        where = self.sandbox.channel(channel)
        return [message for message in where.messages.values() if self.sandbox.world.sees(message, self.member)]

    def say(self, channel: Channel | str | None, content: str) -> Message:
        return self.sandbox.world.say(self.member, self.sandbox.channel(channel), content, self.sandbox.clock())

    def dismiss(self, message: Message) -> None:
        """Close an ephemeral message."""
        self.sandbox.world.dismiss(message, self.member)

    def dm(self) -> Channel:
        """The DM channel with the bot."""
        return self.sandbox.world.dm(self.member, self.sandbox.clock())

    def _filled(self, command: str, channel: Channel, options: Mapping[str, Any], focused: str | None) -> tuple[Json, list[Json]]:
        first, *rest = command.removeprefix("/").split()
        commands = [found for found in self.sandbox.world.catalogue.offered(self.member, channel) if found["type"] == 1]
        found = next((entry for entry in commands if entry["name"] == first), None)
        if found is None:
            raise Refused(f"no command /{first} is synced that {self.name} can use here; there is {[entry['name'] for entry in commands]}")
        declared: list[Json] = found["options"]
        steps: list[Json] = []
        for word in rest:
            step = next((entry for entry in declared if entry["name"] == word and entry["type"] in (SUBCOMMAND, GROUP)), None)
            if step is None:
                raise Refused(f"/{command} is not synced; /{first} has {[entry['name'] for entry in declared]}")
            steps.append(step)
            declared = step.get("options") or []
        types = {entry["name"]: entry["type"] for entry in declared}
        objects: list[Json] = []
        for name, value in options.items():
            if value is not None:
                entry: Json = {"name": name, "type": types.get(name), "value": self._value(channel, types.get(name), value)}
                objects.append(entry | ({"focused": True} if name == focused else {}))
        for step in reversed(steps):
            objects = [{"name": step["name"], "type": step["type"], "options": objects}]
        return found, objects

    def _value(self, channel: Channel, kind: int | None, value: Any) -> Any:
        if isinstance(value, Person | Channel):
            return str(value.id)
        if kind == ATTACHMENT and isinstance(value, Upload):
            return self.sandbox.world.keep(channel, value, self.sandbox.clock())["id"]
        return value

    async def _act(self, interaction: Interaction, wait: bool) -> Act:
        act = self.sandbox.act(interaction)
        return await act.answered() if wait else act

    def __repr__(self) -> str:
        return f"<Person {self.name} ({self.member.role}, {self.locale})>"


class Sandbox:
    """The loopback Discord. Nothing runs before `start`.

    clock: seconds since 1970; deadlines, ids and rate limits follow it. `rates`: the limits in force.
    `privileged_intents`: bits that the bot may ask for. `identify_spacing_s` is 0 because a test that restarts its bot
    would have to wait; Discord's own value is 5. `pages` are further GET routes, such as guides that messages link to.
    """

    def __init__(
        self,
        *,
        token: str = "sandbox-token",
        clock: Callable[[], float] = time.time,
        rates: Rates | None = None,
        privileged_intents: int = 0,
        heartbeat_s: float = limits.HEARTBEAT_S,
        identify_spacing_s: float = 0.0,
        pages: Sequence[web.RouteDef] = (),
    ) -> None:
        self.token = token
        self._pages = pages
        self.clock = clock
        self.port = 0
        self.faults = FaultSwitches()
        self.violations: list[str] = []
        self.latencies_ms: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self.download: Json | None = None
        self.hosts: HostLog | None = None
        self.world = World()
        self.interactions = Interactions(self.world)
        self.limiter = RateLimiter(rates or Rates())
        self.gateway = Gateway(
            self.world,
            token=token,
            clock=clock,
            faults=self.faults,
            report=self._report,
            changed=self._wake,
            intents_allowed=limits.INTENTS_ALL & ~limits.PRIVILEGED_INTENTS | privileged_intents,
            heartbeat_s=heartbeat_s,
            identify_spacing_s=identify_spacing_s,
        )
        self.api = Api(self.world, self.interactions, self.gateway, self.limiter, self.faults, clock, token, self._report)
        self.people: dict[str, Person] = {member.name: Person(self, member) for member in self.world.people.values()}
        self.page = Page(self)
        self.world.listeners.append(self._hear)
        self._acts: dict[int, Act] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self._runner: web.AppRunner | None = None
        self._sweeper: asyncio.Task[None] | None = None

    # starting and stopping

    async def start(self, port: int = 0, *, host: str = HOST) -> Self:
        """Listen on 127.0.0.1:`port` (0: any free one). Raises PortTaken, or ValueError for any other host."""
        if host != HOST:
            raise ValueError(f"the sandbox listens on {HOST} only, not on {host!r}: whoever reaches it can act as anybody")
        app = web.Application(
            middlewares=[own_address_only(lambda: {f"{HOST}:{self.port}", f"localhost:{self.port}"})],
            client_max_size=limits.REQUEST_BYTES_MAX,
        )
        app.add_routes([*self.api.routes(), web.get("/gateway", self.gateway.handle), *self._pages, *self.page.routes()])
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, port, backlog=1_024).start()
        except OSError as error:
            await runner.cleanup()
            if error.errno != errno.EADDRINUSE:
                raise
            raise PortTaken(
                f"port {port} on {HOST} is in use by another program. Stop that one, or choose another port with --port."
            ) from error
        self._runner = runner
        self.port = runner.addresses[0][1]
        self.world.url = self.url
        self.gateway.url = self.gateway_url
        self._sweeper = asyncio.create_task(self._sweep())
        return self

    async def close(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        if self._runner is not None:
            await self.page.close()
            await self.gateway.close()
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        return self if self._runner is not None else await self.start()

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def gateway_url(self) -> str:
        return f"ws://{HOST}:{self.port}/gateway"

    # looking around

    @property
    def channels(self) -> dict[str, Channel]:
        """Channels and threads by name; of several with one name the newest."""
        return {channel.name: channel for channel in self.world.channels.values() if channel.guild_id is not None}

    def channel(self, channel: Channel | str | None) -> Channel:
        if isinstance(channel, Channel):
            return channel
        name = (channel or DEFAULT_CHANNEL).removeprefix("#")
        found = self.channels.get(name)
        if found is None:
            raise Refused(f"there is no channel {name!r}; there is {', '.join(self.channels)}")
        return found

    def person(self, name: str) -> Person:
        found = self.people.get(name)
        if found is None:
            raise Refused(f"there is nobody called {name!r}; there is {', '.join(self.people)}")
        return found

    def add_person(self, name: str, *, locale: str = "en-US", role: Role = "learner") -> Person:
        if name in self.people:
            raise Refused(f"there is a {name!r} already")
        self.world.add_person(name, locale=locale, role=role)  # the listener below makes the Person
        return self.people[name]

    def crowd(self, count: int) -> list[Person]:
        """So many further learners."""
        first = len(self.people)
        return [self.add_person(f"Learner {first + number}") for number in range(count)]

    def set_download(self, download: Json | None) -> None:
        """What the status shows of a model download: `{name, done_bytes, total_bytes, state, detail}`."""
        self.download = download
        self._wake()

    def latency_ms(self) -> Json:
        """p50 and p95 of the newest answers, in milliseconds, and how many there were; None without any."""
        newest = sorted(self.latencies_ms)
        if not newest:
            return {"p50": None, "p95": None, "count": 0}
        last = len(newest) - 1
        return {"p50": round(newest[last // 2], 1), "p95": round(newest[round(last * 0.95)], 1), "count": len(newest)}

    def status(self) -> Json:
        """The `status` object of docs/sandbox.md."""
        return {
            "bot": "online" if self.gateway.online else "offline",
            "activity": self.gateway.activity,
            "download": self.download,
            "latency_ms": self.latency_ms(),
            "refused_hosts": 0 if self.hosts is None else len(self.hosts.attempts),
            "violations": len(self.violations),
        }

    # waiting

    async def ready(self, timeout_s: float = 15.0) -> None:
        """Wait until a bot is logged in and has synced commands; raises NoAnswer with what is missing."""
        try:
            await self.wait_for(lambda: self.gateway.online and self.world.catalogue.synced, timeout_s)
        except NoAnswer:
            missing = "has not synced any command" if self.gateway.online else "has not logged in"
            raise NoAnswer(f"after {timeout_s} s the bot {missing}; violations: {self.violations}") from None

    async def wait_for(self, predicate: Callable[[], Found], timeout_s: float = 5.0) -> Found:
        """Wait until the predicate holds, looking after every change of the world; returns what it returned.

        Raises NoAnswer after `timeout_s` of real time.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while not (found := predicate()):
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.append(waiter)
            await asyncio.wait([waiter], timeout=deadline - loop.time())
            if not waiter.done():
                self._waiters.remove(waiter)
                raise NoAnswer(f"this did not come true in {timeout_s} s")
        return found

    def tick(self) -> None:
        """Look at the deadlines now; for a test whose clock has just jumped."""
        self.interactions.sweep(self.clock())

    async def reaction(self, message: Message) -> None:
        """Let a person see a message that changed just now before they act on it."""
        if asyncio.get_running_loop().time() - message.changed_at < REACTION_S:
            await self.pause()

    async def pause(self) -> None:
        """The time a person needs to see what the bot has just shown."""
        await asyncio.sleep(REACTION_S)
        for _ in range(REACTION_TURNS):
            await asyncio.sleep(0)

    def act(self, interaction: Interaction) -> Act:
        """The Act of an interaction that was made just now."""
        act = self._acts[interaction.id] = Act(interaction, self.wait_for)
        return act

    # details

    def _report(self, violation: str) -> None:
        if len(self.violations) < VIOLATIONS_KEPT:
            self.violations.append(violation)
        self._wake()

    def _hear(self, event: Event) -> None:
        match event:
            case MessageChanged(_, message):
                message.changed_at = asyncio.get_running_loop().time()
            case InteractionSettled(interaction):
                if interaction.response is not None:
                    interaction.response.changed_at = asyncio.get_running_loop().time()
                if interaction.latency_ms is not None:
                    self.latencies_ms.append(interaction.latency_ms)
                act = self._acts.pop(interaction.id, None)
                if act is not None:
                    act.end()
            case PersonChanged(member) if member.name not in self.people:
                self.people[member.name] = Person(self, member)
            case _:
                pass
        self.page.hear(event)
        self._wake()

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        self.page.status_changed()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            self.tick()
