"""The REST API that the bot talks to: routes, authorisation, rate limits, uploads, errors, and a log of every request.

Each route draws from its buckets, then does its work in the world and answers as Discord does: exact content type, rate
limit headers, a `Via` header (discord.py takes a 429 without one for a ban). Routes that Discord has and this table lacks
are answered with 404 and reported as violations. The gateway is in `bot.sandbox.gateway`, the page in `bot.sandbox.page`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, Final

from aiohttp import BodyPartReader, web
from aiohttp.typedefs import Middleware

from bot.sandbox import limits
from bot.sandbox.faults import FaultSwitches
from bot.sandbox.gateway import Gateway
from bot.sandbox.interactions import Interactions
from bot.sandbox.model import GUILD_ID, THREADS, Channel, Message, Upload
from bot.sandbox.rates import Ask, RateLimiter, Verdict
from bot.sandbox.wire import ApiError, Json, dumps, loads, snowflake_time, unknown
from bot.sandbox.world import World

VIA: Final = "1.1 studyhall-sandbox"
LOG_ENTRIES: Final = 5_000
VIOLATION_STATUSES: Final = (400, 413)
UNAUTHORISED: Final = "401: Unauthorized"
HISTORY: Final = (1, 100)  # messages a history request may ask for [docs: resources/message]


@dataclass(frozen=True, slots=True)
class LogEntry:
    at: float  # seconds since 1970
    method: str
    route: str  # template
    path: str
    status: int
    ms: float
    code: int | None  # Discord's, when refused


@dataclass(slots=True)
class Call:
    """One request on its way through a handler. `after` runs once the reply has been written."""

    request: web.Request
    now: float
    body: Json | list[Any]
    files: list[Upload]
    after: Callable[[], None] | None = None

    def number(self, name: str) -> int:
        return int(self.request.match_info[name])

    def word(self, name: str) -> str:
        return self.request.match_info[name]

    @property
    def fields(self) -> Json:
        return self.body if isinstance(self.body, dict) else {}


Handler = Callable[[Call], Any]
Asks = Callable[[web.Request, float], list[Ask]]


@dataclass(slots=True)
class Api:
    """`clock` gives seconds since 1970; `report` takes a text for every violation."""

    world: World
    interactions: Interactions
    gateway: Gateway
    limiter: RateLimiter
    faults: FaultSwitches
    clock: Callable[[], float]
    token: str
    report: Callable[[str], None]
    log: deque[LogEntry] = field(default_factory=lambda: deque[LogEntry](maxlen=LOG_ENTRIES))

    def routes(self) -> list[web.RouteDef]:
        bot = self._bot_route
        app, channel = "/applications/{app:\\d+}", "/channels/{channel:\\d+}"
        message = channel + "/messages/{message:\\d+}"
        hook = "/webhooks/{app:\\d+}/{token}"
        one = hook + "/messages/{which:@original|\\d+}"
        return [
            bot("GET", "/users/@me", self.get_me),
            bot("POST", "/users/@me/channels", self.open_dm),
            bot("GET", "/users/{user:\\d+}", self.get_user),
            bot("GET", "/oauth2/applications/@me", self.get_application),
            bot("GET", "/gateway/bot", self.get_gateway),
            bot("GET", "/guilds/{guild:\\d+}", self.get_guild),
            bot("GET", "/guilds/{guild:\\d+}/members/{user:\\d+}", self.get_member),
            *(bot(verb, app + "/commands", self.commands) for verb in ("GET", "PUT")),
            *(bot(verb, app + "/guilds/{guild:\\d+}/commands", self.commands) for verb in ("GET", "PUT")),
            bot("GET", channel, self.get_channel),
            bot("PATCH", channel, self.patch_channel),
            bot("DELETE", channel, self.delete_channel),
            bot("POST", channel + "/typing", self.typing),
            bot("POST", channel + "/threads", self.post_thread),
            *(bot(verb, channel + "/thread-members/{user:@me|\\d+}", self.thread_member) for verb in ("PUT", "DELETE")),
            bot("GET", channel + "/messages", self.get_messages),
            bot("POST", channel + "/messages", self.post_message, self._message_asks),
            bot("GET", message, self.get_message),
            bot("PATCH", message, self.patch_message, self._message_asks),
            bot("DELETE", message, self.delete_message),
            bot("POST", message + "/threads", self.post_thread),
            self._route("POST", "/interactions/{interaction:\\d+}/{token}/callback", self.callback, lambda request, now: [], auth=False),
            self._route("POST", hook, self.post_followup, self._webhook_asks, auth=False),
            self._route("GET", one, self.get_reply, self._webhook_asks, auth=False),
            self._route("PATCH", one, self.patch_reply, self._webhook_asks, auth=False),
            self._route("DELETE", one, self.delete_reply, self._webhook_asks, auth=False),
            web.get("/attachments/{channel:\\d+}/{id:\\d+}/{name}", self.attachment),
            web.route("*", "/api/{rest:.*}", self.unknown_route),
        ]

    # who is who

    def get_me(self, call: Call) -> Json:
        return self.world.bot.user | {"verified": True, "mfa_enabled": False, "email": None, "flags": 0}

    def get_application(self, call: Call) -> Json:
        bot = self.world.bot
        return {
            "id": str(bot.id),
            "name": bot.name,
            "icon": None,
            "description": "",
            "bot_public": False,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "flags": 0,
            "bot": bot.user,
            "owner": next(iter(self.world.people.values())).user,
            "team": None,
            "approximate_guild_count": 1,
        }

    def get_gateway(self, call: Call) -> Json:
        left = self.gateway.identifies_left
        start = {"total": limits.IDENTIFIES_PER_DAY, "remaining": max(0, left), "reset_after": 86_400_000, "max_concurrency": 1}
        return {"url": self.gateway.url, "shards": 1, "session_start_limit": start}

    def get_user(self, call: Call) -> Json:
        return self.world.member(call.number("user")).user

    def get_guild(self, call: Call) -> Json:
        self._guild(call)
        left_out = ("channels", "threads", "members", "presences", "voice_states", "joined_at", "member_count", "unavailable")
        return {key: value for key, value in self.world.guild_json().items() if key not in left_out}

    def get_member(self, call: Call) -> Json:
        self._guild(call)
        return self.world.member(call.number("user")).member_json()

    def open_dm(self, call: Call) -> Json:
        recipient = str(call.fields.get("recipient_id"))
        person = self.world.people.get(int(recipient)) if recipient.isdigit() else None
        if person is None:
            raise ApiError(400, 50033, "Invalid Recipient(s)")
        return self.world.dm(person, call.now).json()

    def commands(self, call: Call) -> list[Json]:
        if call.number("app") != self.world.bot.id:
            raise unknown("Application", 10002)
        guild_id = self._guild(call) if "guild" in call.request.match_info else None
        if call.request.method == "GET":
            return self.world.catalogue.scopes.get(guild_id, [])
        return self.world.sync(guild_id, call.body, call.now)

    # channels and messages

    def get_channel(self, call: Call) -> Json:
        return self._channel(call).json()

    def patch_channel(self, call: Call) -> Json:
        return self.world.edit_channel(self._channel(call), call.fields).json()

    def delete_channel(self, call: Call) -> Json:
        channel = self._channel(call)
        if channel.type not in THREADS:
            raise ApiError(403, 50013, "Missing Permissions")
        self.world.delete_channel(channel)
        return channel.json()

    def typing(self, call: Call) -> None:
        self._channel(call)

    def post_thread(self, call: Call) -> Json:
        channel = self._channel(call)
        message = self._message(call) if "message" in call.request.match_info else None
        return self.world.start_thread(channel, call.fields, call.now, message=message).json()

    def thread_member(self, call: Call) -> None:
        word = call.word("user")
        member = self.world.bot if word == "@me" else self.world.member(int(word))
        self.world.join_thread(self._channel(call), member, joins=call.request.method == "PUT")

    def get_messages(self, call: Call) -> list[Json]:
        query = call.request.query
        try:
            limit, before, after = int(query.get("limit", 50)), int(query.get("before", 1 << 63)), int(query.get("after", 0))
        except ValueError:
            raise ApiError(400, 50035, "Invalid Form Body") from None
        if not HISTORY[0] <= limit <= HISTORY[1]:
            raise ApiError(
                400,
                50035,
                "Invalid Form Body",
                {"limit": {"_errors": [{"code": "NUMBER_TYPE_MAX", "message": "int value should be 1 to 100."}]}},
            )
        found = [m for m in self._channel(call).messages.values() if not m.ephemeral and after < m.id < before]
        return [m.data for m in reversed(found[:limit] if "after" in query else found[-limit:])]

    def post_message(self, call: Call) -> Json:
        return self.world.post(self._channel(call), call.fields, call.files, call.now).data

    def get_message(self, call: Call) -> Json:
        return self._message(call).data

    def patch_message(self, call: Call) -> Json:
        return self.world.edit(self._message(call), call.fields, call.files, call.now).data

    def delete_message(self, call: Call) -> None:
        self.world.delete(self._message(call))

    # interactions

    def callback(self, call: Call) -> Json | None:
        interaction, answer = self.interactions.respond(call.number("interaction"), call.word("token"), call.fields, call.files, call.now)
        call.after = lambda: self.interactions.settle(interaction)
        return answer if call.request.query.get("with_response") in ("1", "true", "True") else None

    def post_followup(self, call: Call) -> Json:
        interaction = self.interactions.webhook(call.number("app"), call.word("token"), call.now)
        return self.interactions.followup(interaction, call.fields, call.files, call.now).data

    def get_reply(self, call: Call) -> Json:
        return self._reply(call).data

    def patch_reply(self, call: Call) -> Json:
        return self.world.edit(self._reply(call), call.fields, call.files, call.now).data

    def delete_reply(self, call: Call) -> None:
        self.world.delete(self._reply(call))

    # beside the API

    async def attachment(self, request: web.Request) -> web.Response:
        found = self.world.files.get((int(request.match_info["channel"]), int(request.match_info["id"]), request.match_info["name"]))
        if found is None:
            return web.Response(status=404, text="This content is no longer available.")
        # whatever was uploaded, it must not run as a page of this address
        headers = {"Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'", "X-Content-Type-Options": "nosniff"}
        return web.Response(body=found.content, content_type=found.content_type, headers=headers)

    async def unknown_route(self, request: web.Request) -> web.Response:
        self.report(f"no such route: {request.method} {request.path}")
        self._log(request, "(unknown)", 404, 0.0, 0)
        return _json_response({"message": "404: Not Found", "code": 0}, 404, {})

    # details

    def _guild(self, call: Call) -> int:
        if call.number("guild") != GUILD_ID:
            raise unknown("Guild", 10004)
        return GUILD_ID

    def _channel(self, call: Call) -> Channel:
        return self.world.channel(call.number("channel"))

    def _message(self, call: Call) -> Message:
        return self.world.message(self._channel(call), call.number("message"))

    def _reply(self, call: Call) -> Message:
        interaction = self.interactions.webhook(call.number("app"), call.word("token"), call.now)
        return self.interactions.webhook_message(interaction, call.word("which"))

    def _message_asks(self, request: web.Request, now: float) -> list[Ask]:
        """Create and edit share one bucket per channel; edits of old messages have a tighter one of their own."""
        channel = request.match_info["channel"]
        asks: list[Ask] = []
        if self.limiter.rates.channel_messages is not None:
            asks.append(Ask("channel messages", channel, self.limiter.rates.channel_messages))
        message = request.match_info.get("message")
        if message is not None and self.limiter.rates.old_edits is not None and now - snowflake_time(int(message)) > limits.OLD_MESSAGE_S:
            asks.append(Ask("old edits", channel, self.limiter.rates.old_edits, code=30046))
        return asks

    def _webhook_asks(self, request: web.Request, now: float) -> list[Ask]:
        token, rates = request.match_info["token"], self.limiter.rates
        asks: list[Ask] = []
        if rates.webhook is not None:
            asks.append(Ask("webhook", token, rates.webhook))
        if rates.webhook_shared is not None:
            interaction = self.interactions.by_token(token)
            if interaction is not None:
                asks.append(Ask("webhook shared", str(interaction.channel.id), rates.webhook_shared, "shared"))
        return asks

    def _bot_route(self, method: str, path: str, handler: Handler, asks: Asks | None = None) -> web.RouteDef:
        name = f"{method} {path}"

        def other(request: web.Request, now: float) -> list[Ask]:
            major = request.match_info.get("channel") or request.match_info.get("guild") or ""
            return [] if self.limiter.rates.other is None else [Ask(name, major, self.limiter.rates.other)]

        return self._route(method, path, handler, asks or other, auth=True)

    def _route(self, method: str, path: str, handler: Handler, asks: Asks, *, auth: bool) -> web.RouteDef:
        async def handle(request: web.Request) -> web.StreamResponse:
            started = perf_counter()
            now = self.clock()
            verdict = Verdict({})
            code: int | None = None
            call: Call | None = None
            try:
                if self.faults.fail_next > 0:
                    self.faults.fail_next -= 1
                    raise ApiError(self.faults.fail_status, 0, f"{self.faults.fail_status}: Service unavailable (fault switch)")
                verdict = self.limiter.check(asks(request, now), now, counts_globally=auth)
                if verdict.retry_after_s is not None:
                    self.limiter.count_invalid(429, now, shared=verdict.scope == "shared")
                    response, code = _json_response(verdict.body, 429, verdict.headers), verdict.code
                else:
                    if auth and request.headers.get("Authorization") != f"Bot {self.token}":
                        raise ApiError(401, 0, UNAUTHORISED)
                    body, files = await _read(request)
                    # the time counts when the whole request has arrived
                    call = Call(request, self.clock(), body, files)
                    result = handler(call)
                    response = (
                        web.Response(status=204, headers=verdict.headers | {"Via": VIA})
                        if result is None
                        else _json_response(result, 200, verdict.headers)
                    )
            except ApiError as refusal:
                code = refusal.code
                response = _json_response(refusal.body, refusal.status, verdict.headers)
                self.limiter.count_invalid(refusal.status, now, shared=False)
                if refusal.status in VIOLATION_STATUSES or code == 10062:
                    self.report(f"{request.method} {request.path}: {refusal}")
            self._log(request, path, response.status, (perf_counter() - started) * 1000, code)
            if self.faults.slow_replies_s:
                await asyncio.sleep(self.faults.slow_replies_s)
            if call is not None and call.after is not None:
                try:
                    await response.prepare(request)
                    await response.write_eof()
                finally:
                    call.after()
            return response

        return web.route(method, "/api/v10" + path, handle)

    def _log(self, request: web.Request, route: str, status: int, ms: float, code: int | None) -> None:
        self.log.append(LogEntry(self.clock(), request.method, route, request.path, status, round(ms, 3), code))

    def log_json(self) -> list[Json]:
        return [asdict(entry) for entry in self.log]


def _json_response(body: Any, status: int, headers: dict[str, str]) -> web.Response:
    # the content type must be exactly this: discord.py reads a body with a charset as text
    return web.Response(body=dumps(body), status=status, headers={**headers, "Content-Type": "application/json", "Via": VIA})


async def _read(request: web.Request) -> tuple[Json | list[Any], list[Upload]]:
    """The JSON body and the files of a request; raises 400/50109 for bad JSON, 413/40005 for too much."""
    if not request.can_read_body:
        return {}, []
    if (request.content_length or 0) > limits.REQUEST_BYTES_MAX:
        raise ApiError(413, 40005, "Request entity too large")
    if not request.content_type.startswith("multipart/"):
        try:
            return loads(await request.read()), []
        except web.HTTPRequestEntityTooLarge:
            raise ApiError(413, 40005, "Request entity too large") from None
        except ValueError:
            raise ApiError(400, 50109, "The request body contains invalid JSON.") from None
    payload: Json = {}
    numbered: dict[int, Upload] = {}
    total = 0
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            continue
        content = bytes(await part.read())
        total += len(content)
        if total > limits.REQUEST_BYTES_MAX:
            raise ApiError(413, 40005, "Request entity too large")
        if part.name == "payload_json":
            payload = loads(content)
        elif part.name is not None and part.name.startswith("files[") and part.name[6:-1].isdigit():
            numbered[int(part.name[6:-1])] = Upload(part.filename or "unknown", content)
    return payload, [numbered[number] for number in sorted(numbered)]


def own_address_only(addresses: Callable[[], set[str]]) -> Middleware:
    """Refuse requests that a browser sends here for another site: DNS rebinding (Host) and foreign pages (Origin)."""

    @web.middleware
    async def check(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.StreamResponse:
        allowed = addresses()
        origin = request.headers.get("Origin")
        if request.headers.get("Host") not in allowed or (origin is not None and origin.removeprefix("http://") not in allowed):
            return web.Response(status=403, text="The sandbox answers only to its own address on this machine.\n")
        return await handler(request)

    return check
