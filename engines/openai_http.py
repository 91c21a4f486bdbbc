"""One client for every model server that speaks the OpenAI protocol, on the HTTP client and the errors of the official `openai` package.

It sends only fields that the server's flavour is known to take, because trtllm-serve 1.2.1 answers 400 to an unknown one. A
reply counts only when the server said how it ended; a stream that just stops is a failure. It retries in one case: the
connection was refused, so nothing was ever asked. It does not queue, does not choose between servers, starts none.

Errors: those of `engines.base`. Everything the `openai` package raises is translated in `translated`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any, Final

import aiohttp
import openai

from engines import probing
from engines.base import (
    NOT_IN_GUIDE,
    DeadlineExceeded,
    EngineDown,
    EngineError,
    Finish,
    Health,
    Message,
    Probe,
    Prompt,
    PromptTooLong,
    Traits,
)
from engines.event_stream import Reading, failure
from engines.http_transport import Opened, read_directly, transport

log = logging.getLogger(__name__)

REFUSED_PAUSE_S: Final = 0.25  # before the one retry: long enough for a server that is just binding its port
CLOSING_S: Final = 2.0  # how long leaving a stream may take; a peer that no longer reads must not hold a learner up
END_S: Final = 0.1  # how long the end of a body may come after the end marker in it
WARM_LIMIT_S: Final = 600.0  # a cold guide on a slow CPU takes over half a minute; this only bounds a hang


class Flavour(StrEnum):
    """Which server answers; it decides which fields may be sent beyond the common ones."""

    TRTLLM = "trtllm"
    VLLM = "vllm"
    LLAMACPP = "llamacpp"
    OLLAMA = "ollama"
    GENERIC = "generic"


# Sent to every server; all five take them (for trtllm-serve 1.2.1: engines/trtllm_contract.yaml, `chat`).
COMMON: Final = frozenset({"model", "messages", "max_tokens", "temperature", "seed", "stop", "stream", "stream_options", "response_format"})
WEIGHING: Final = frozenset({"logprobs", "top_logprobs"})  # not for trtllm-serve: cancelling such a request has crashed it
ALSO: Final[Mapping[Flavour, frozenset[str]]] = {
    Flavour.TRTLLM: frozenset({"top_p", "repetition_penalty", "chat_template_kwargs", "cache_salt"}),
    Flavour.VLLM: frozenset({"top_p", "repetition_penalty", "chat_template_kwargs", "cache_salt", "structured_outputs", *WEIGHING}),
    Flavour.LLAMACPP: frozenset(
        {"top_p", "repeat_penalty", "chat_template_kwargs", "cache_prompt", "id_slot", "grammar", "json_schema", *WEIGHING}
    ),
    Flavour.OLLAMA: frozenset({"top_p", "reasoning_effort"}),
    Flavour.GENERIC: frozenset({"top_p"}),
}


def weighs(flavour: Flavour) -> bool:
    """Whether such a server lists the likeliest words with their probabilities, which a probe is read from."""
    return ALSO[flavour] >= WEIGHING


# Seconds that an unused connection is kept. A server that closes it just as it is used looks like one that crashed, so it is let go
# well before: uvicorn, which both of these stand on, closes after 5. llama.cpp's closes after a number of requests: not kept.
KEEP_S: Final[Mapping[Flavour, float]] = {Flavour.TRTLLM: 2.0, Flavour.VLLM: 2.0}
# Where the path of a health check is not known, the list of models is asked for.
HEALTH_PATH: Final[Mapping[Flavour, str]] = {Flavour.TRTLLM: "/health", Flavour.VLLM: "/health", Flavour.LLAMACPP: "/health"}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How words are picked. Greedy by default: an answer that is checked against a guide gains nothing from chance."""

    temperature: float = 0.0
    top_p: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a reply may look like. Exactly one of the three; not every server can hold a model to each.

    `grammar` is in the server's own notation: GBNF for llama.cpp, EBNF for the others.
    """

    json_schema: Mapping[str, Any] | None = None
    regex: str | None = None
    grammar: str | None = None

    def __post_init__(self) -> None:
        if sum(part is not None for part in (self.json_schema, self.regex, self.grammar)) != 1:
            raise ValueError("a constraint is a JSON schema, a regular expression or a grammar: give exactly one")


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is and what it serves. `model` is the name the server lists under /v1/models."""

    base_url: str  # with /v1
    model: str
    flavour: Flavour = Flavour.GENERIC
    api_key: str = "none"  # loopback servers mostly want none, the client wants some
    thinking: bool = False  # the model's template has a thinking switch, to be turned off
    grammar: bool = False  # it can hold a model to the grammar of a prompt; trtllm-serve only with a guided-decoding backend
    sampling: Sampling = field(default_factory=Sampling)


def constraint_fields(flavour: Flavour, constraint: Constraint) -> dict[str, Any]:
    """The request fields that hold a reply to the constraint. Raises EngineError where the server cannot."""
    match flavour, constraint:
        case Flavour.TRTLLM, Constraint(json_schema=dict() as schema):
            # Type "json" with the bare schema: 1.2.1 does not enforce the {name, schema} wrapper of "json_schema".
            return {"response_format": {"type": "json", "schema": schema}}
        case Flavour.TRTLLM, Constraint(regex=str() as regex):
            return {"response_format": {"type": "regex", "regex": regex}}
        case Flavour.TRTLLM, Constraint(grammar=str() as grammar):
            return {"response_format": {"type": "ebnf", "ebnf": grammar}}
        case Flavour.VLLM, Constraint(json_schema=dict() as schema):
            return {"structured_outputs": {"json": schema}}
        case Flavour.VLLM, Constraint(regex=str() as regex):
            return {"structured_outputs": {"regex": regex}}
        case Flavour.VLLM, Constraint(grammar=str() as grammar):
            return {"structured_outputs": {"grammar": grammar}}
        case Flavour.LLAMACPP, Constraint(json_schema=dict() as schema):
            return {"json_schema": schema}
        case Flavour.LLAMACPP, Constraint(grammar=str() as grammar):
            return {"grammar": grammar}
        case ((Flavour.OLLAMA | Flavour.GENERIC), Constraint(json_schema=dict() as schema)):
            return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}}
        case _:
            raise EngineError(flavour, "this kind of constraint is not known to work here", "Use a JSON schema, or no constraint")


def body(server: Server, messages: tuple[Message, ...], *, max_tokens: int, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON of one streamed chat request. Raises EngineError for a field that this server is not known to take."""
    fields: dict[str, Any] = {
        "model": server.model,
        "messages": [{"role": message.role, "content": message.text or " "} for message in messages],  # some refuse an empty one
        "max_tokens": max(1, max_tokens),  # 0 has stopped a trtllm-serve for good; none at all means until the context is full
        "temperature": server.sampling.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if server.sampling.seed is not None:
        fields["seed"] = server.sampling.seed
    if server.sampling.top_p is not None:
        fields["top_p"] = server.sampling.top_p
    if server.sampling.repetition_penalty is not None:
        name = "repeat_penalty" if server.flavour is Flavour.LLAMACPP else "repetition_penalty"
        fields[name] = server.sampling.repetition_penalty
    if server.thinking:
        if server.flavour is Flavour.OLLAMA:
            fields["reasoning_effort"] = "none"
        elif server.flavour is not Flavour.GENERIC:
            fields["chat_template_kwargs"] = {"enable_thinking": False}
    fields.update(extra or {})
    unknown = sorted(set(fields) - COMMON - ALSO[server.flavour])
    if unknown:
        allowed = ", ".join(sorted(COMMON | ALSO[server.flavour]))
        raise EngineError(server.flavour, f"field {', '.join(unknown)} is not known to be taken by this server", f"Use: {allowed}")
    return fields


class OpenAIEngine:
    """An engine that is a server somewhere else. `count` gives the tokens of a text where the caller can count them.

    With `count` a prompt that cannot fit is refused here: trtllm-serve has been seen to crash on one.
    """

    def __init__(
        self,
        server: Server,
        *,
        traits: Traits | None = None,
        count: Callable[[str], int] | None = None,
        connect_timeout_s: float = 5.0,
    ) -> None:
        self.server = server
        self.traits = traits or Traits(name=server.flavour, model=server.model)
        self._count = count
        self._connect_timeout_s = connect_timeout_s
        self._closed = False
        self._httpx: Any = import_module(_library())
        self._http: Any = openai.DefaultAsyncHttpxClient(
            transport=transport(_library(), keep_s=KEEP_S.get(server.flavour, 0.0)), timeout=connect_timeout_s
        )
        self._chat = self._httpx.URL(server.base_url.removesuffix("/") + "/chat/completions")
        self._headers = {"Accept": "application/json", "Content-Type": "application/json", "Authorization": f"Bearer {server.api_key}"}
        self._client = openai.AsyncOpenAI(
            base_url=server.base_url, api_key=server.api_key, timeout=connect_timeout_s, max_retries=0, http_client=self._http
        )

    async def stream(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        deadline_s: float,
        constraint: Constraint | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[str | Finish, None]:
        """As the protocol says. `extra` are request fields of this flavour (llama.cpp: `id_slot`)."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + deadline_s
        name = self.traits.name
        self._refuse_if_impossible(prompt, max_tokens)
        if constraint is None and prompt.grammar and self.server.grammar:
            constraint = Constraint(grammar=prompt.grammar)
        fields = {**(constraint_fields(self.server.flavour, constraint) if constraint else {}), **(extra or {})}
        request = body(self.server, prompt.messages, max_tokens=max_tokens, extra=fields)
        reading = Reading(name)
        response: Any = None
        opened: Opened | None = None
        timer: asyncio.TimerHandle | None = None
        try:
            async with asyncio.timeout_at(ends_at):
                declined = prompt.probe is not None and await self._declines(prompt, prompt.probe, extra, ends_at - loop.time())
                if not declined:
                    response = await self._opened(request, max(0.001, ends_at - loop.time()))
            if response is None:
                yield NOT_IN_GUIDE
                yield Finish(declined=True)
                return
            opened = read_directly(response.extensions)
            # One timer for the whole stream, which breaks it off: a timeout around each read costs as much as the reading.
            timer = loop.call_at(ends_at, opened.cut)
            while not reading.ended:
                if text := "".join(reading.read(await opened.read())):  # what came together is one piece
                    yield text
            yield reading.finish()
        except TimeoutError as error:
            raise _deadline(name, deadline_s) from error
        except EngineError:
            raise
        except Exception as error:
            if loop.time() >= ends_at:
                raise _deadline(name, deadline_s) from error
            raise translated(name, error) from error
        finally:
            if timer is not None:
                timer.cancel()
            if response is not None:
                await _left(response, opened if reading.ended else None)

    def _refuse_if_impossible(self, prompt: Prompt, max_tokens: int) -> None:
        if self._closed:
            raise EngineDown(self.traits.name, "it was closed", "Start it again")
        if self._count is None:
            return
        # 8 per message for the template's own marks; no template of the catalogue needs more.
        needed = sum(self._count(message.text) + 8 for message in prompt.messages) + max(1, max_tokens)
        if needed > self.traits.context_tokens:
            problem = f"prompt and reply need about {needed} tokens, {self.traits.context_tokens} fit"
            raise PromptTooLong(self.traits.name, problem, "Send fewer passages")

    async def _declines(self, prompt: Prompt, probe: Probe, extra: Mapping[str, Any] | None, timeout_s: float) -> bool:
        """Whether the model says that this cannot be answered; what was read for it is in the prefix cache then."""
        if not weighs(self.server.flavour):
            return False
        messages = (*prompt.messages[:-1], Message("user", probe.text))
        fields = {**body(self.server, messages, max_tokens=1, extra=extra), **probing.FIELDS}
        del fields["stream_options"]
        said = json.loads(await (await self._create(fields, max(0.001, timeout_s))).aread())
        share = probing.share_of_yes(said)
        return share is not None and share < probe.least

    async def _opened(self, request: dict[str, Any], timeout_s: float) -> Any:
        try:
            return await self._create(request, timeout_s)
        except openai.APIConnectionError as error:
            if isinstance(error, openai.APITimeoutError) or not _refused(error):
                raise
            await asyncio.sleep(REFUSED_PAUSE_S)
            return await self._create(request, timeout_s)

    async def _create(self, request: dict[str, Any], timeout_s: float) -> Any:
        """The library's response to a chat request, its body not yet read. Raises what the package raises, and never asks twice.

        The request is written here. The package takes 0.4 ms to build one, twice as long as sending it takes, and where 256 learners
        ask together the last waits for all of them.
        """
        httpx = self._httpx
        asked = httpx.Request(
            "POST",
            self._chat,
            headers=self._headers,
            content=json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode(),
            extensions={"timeout": {"connect": min(timeout_s, self._connect_timeout_s), "read": timeout_s}},
        )
        try:
            response = await self._http.send(asked, stream=True)
            if response.is_error:
                await response.aread()
        except httpx.TimeoutException as error:
            raise openai.APITimeoutError(request=asked) from error
        except httpx.TransportError as error:
            raise openai.APIConnectionError(request=asked) from error
        if not response.is_success:
            raise openai.APIStatusError(response.text if response.is_error else "redirected", response=response, body=None)
        return response

    async def warm(self, prompt: Prompt) -> None:
        """Ask for one token after the stable part, which leaves that part in the server's prefix cache."""
        stable = Prompt(prompt.messages[: prompt.stable], prompt.question, (), prompt.language, prompt.stable)
        if not stable.messages:
            return
        try:
            async for _ in self.stream(stable, max_tokens=1, deadline_s=WARM_LIMIT_S):
                pass
        except EngineError:
            return  # a hint: the next real question will say what is wrong

    async def health(self) -> Health:
        if self._closed:
            return Health(False, "closed")
        path = HEALTH_PATH.get(self.server.flavour)
        url = self.server.base_url.removesuffix("/").removesuffix("/v1") + path if path else "/models"
        try:
            await self._client.get(url, cast_to=object, options={"timeout": 5.0})
        except openai.APIStatusError as error:
            return Health(False, f"{self.server.base_url} answers {error.status_code}")
        except openai.OpenAIError as error:
            return Health(False, f"{self.server.base_url}: {_line(error)}")
        return Health(True, f"{self.server.model} at {self.server.base_url}")

    async def aclose(self) -> None:
        self._closed = True
        await self._client.close()


Translation = Callable[[str, Any], EngineError]


def _status(engine: str, error: Exception) -> EngineError:
    assert isinstance(error, openai.APIStatusError), "the table sends only these here"
    return failure(engine, error.status_code, _line(error))


def _down(engine: str, error: Exception) -> EngineError:
    return EngineDown(engine, f"no connection: {_line(error)}", "Check that the server runs", retryable=True)


def _late(engine: str, error: Exception) -> EngineError:
    return DeadlineExceeded(engine, "the server did not answer in time", "Ask again", retryable=True)


def _unfit(engine: str, error: Exception) -> EngineError:
    return EngineError(engine, f"the reply makes no sense here: {_line(error)}", "Check that the flavour setting names this server")


def _setup(engine: str, error: Exception) -> EngineError:
    return EngineError(engine, f"the client cannot be used like this: {_line(error)}", "Correct the engine settings")


# Every public exception of the package, nearest class first wins; a test fails when a new version brings one that is not here.
TRANSLATIONS: Final[Mapping[str, Translation]] = {
    "APITimeoutError": _late,
    "APIConnectionError": _down,
    "AuthenticationError": _status,
    "BadRequestError": _status,
    "ConflictError": _status,
    "InternalServerError": _status,
    "NotFoundError": _status,
    "PermissionDeniedError": _status,
    "RateLimitError": _status,
    "UnprocessableEntityError": _status,
    "APIStatusError": _status,
    "APIResponseValidationError": _unfit,
    "ContentFilterFinishReasonError": _unfit,
    "LengthFinishReasonError": _unfit,
    "APIError": _down,
    "OAuthError": _setup,
    "InvalidWebhookSignatureError": _setup,
    "WebSocketConnectionClosedError": _down,
    "WebSocketQueueFullError": _down,
    "OpenAIError": _setup,
}


def translated(engine: str, error: Exception) -> EngineError:
    """Any foreign exception as one of ours. What no table knows comes from the HTTP library in mid-stream: the server is gone."""
    for kind in type(error).__mro__:
        if kind.__module__.partition(".")[0] == "openai" and kind.__name__ in TRANSLATIONS:
            return TRANSLATIONS[kind.__name__](engine, error)
    return EngineDown(engine, f"the connection broke: {_line(error)}", "Ask again", retryable=True)


def _library() -> str:
    """The HTTP library below the package: `httpx` in its version 2, `httpx2` in version 3."""
    return next(base.__module__.partition(".")[0] for base in openai.DefaultAsyncHttpxClient.__mro__ if base.__name__ == "AsyncClient")


def _refused(error: BaseException) -> bool:
    """The connection was never made, so the server cannot have seen the request."""
    cause: BaseException | None = error
    while cause is not None:
        # By name as well: the HTTP library below differs between versions of the package, and wraps the system's error.
        if isinstance(cause, ConnectionRefusedError) or type(cause).__name__ == "ConnectError":
            return True
        cause = cause.__cause__ or cause.__context__
    return False


async def _left(response: Any, ended: Opened | None) -> None:
    """Close the connection, which is how a server learns that nobody reads any more. Never fails, never takes long.

    One that was read to its end is kept for the next request, if that is what the server allows.
    """
    with contextlib.suppress(TimeoutError, aiohttp.ClientError):
        if ended is not None:
            async with asyncio.timeout(END_S):
                while await ended.read():
                    pass
    try:
        async with asyncio.timeout(CLOSING_S):
            await response.aclose()
    except Exception as error:  # noqa: BLE001 - the reply is over, and the HTTP library may raise anything of its own here
        log.debug("leaving a stream: %s", _line(error))


def _deadline(engine: str, deadline_s: float) -> DeadlineExceeded:
    return DeadlineExceeded(engine, f"no complete reply within {deadline_s:.1f} s", "Ask again", retryable=True)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
