"""A loopback server that speaks the OpenAI protocol, with the habits that were seen or reported of trtllm-serve 1.2.1.

Strict where that server is strict: an unknown field is a 400 with {"error": text}. After a crash it stays up and answers 503. It
can leave out the end marker, break the connection, say nothing, or cut a character in two. It says what it is told to; it
shows nothing about what a model would write, and nothing about speed.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

# The fields of a chat request to trtllm-serve 1.2.1 (written down again here: a test must not ask the code under test).
TRTLLM_FIELDS = frozenset(
    """messages model max_tokens max_completion_tokens temperature top_p top_k min_p top_p_min n best_of seed stop stop_token_ids
    include_stop_str_in_output ignore_eos min_tokens frequency_penalty presence_penalty repetition_penalty length_penalty early_stopping
    use_beam_search logit_bias logprobs top_logprobs stream stream_options response_format tools tool_choice user reasoning_effort
    skip_special_tokens spaces_between_special_tokens truncate_prompt_tokens echo add_generation_prompt add_special_tokens documents
    chat_template chat_template_kwargs disaggregated_params prompt_token_ids prompt_ignore_length lora_request cache_salt
    mm_processor_kwargs""".split()
)


@dataclass
class Double:
    """What it will do next is in its fields; what it was asked is in `requests`."""

    pieces: Sequence[str] = ("An engine ", "fits one GPU. ", "[S1]")
    fields: frozenset[str] | None = TRTLLM_FIELDS  # None: takes everything, as vLLM, llama.cpp and Ollama do
    finish_reason: str | None = "stop"
    end_marker: bool = True
    status: int = 200
    message: str = "no"
    hang_after: int | None = None  # pieces, then nothing more comes
    die_after: int | None = None  # pieces, then the connection breaks
    error_after: int | None = None  # pieces, then an error event in a stream that began with 200
    raw: Sequence[bytes] = ()  # written as they are instead of a reply
    listed: Sequence[tuple[str, float]] = ()  # words with their probabilities, for a request that is not streamed and asks for them
    context: int = 4_096  # tokens; four characters count as one
    crashed: bool = False
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    connections: int = 0
    seen: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)  # a reader went away before the end

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        if self.crashed:
            return self._error(503, "the executor is not healthy")
        if self.status != 200:
            return self._error(self.status, self.message)
        if self.fields is not None and (extra := sorted(set(body) - self.fields)):
            return web.json_response({"error": f"extra fields are not permitted: {extra}"}, status=400)
        if body.get("max_tokens", 1) < 1:
            self.crashed = True
            return self._error(500, "executor failure")
        text = "\n".join(message["content"] for message in body["messages"])
        tokens = len(text) // 4
        if tokens + body.get("max_tokens", 1) > self.context:
            return self._error(400, f"The prompt length ({tokens}) exceeds max_num_tokens ({self.context})")
        cached = max((len(_common(text, before)) // 4 for before in self.seen), default=0)
        self.seen.append(text)
        if not body.get("stream", False):
            return self._whole(body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        usage = {"prompt_tokens": tokens, "completion_tokens": len(self.pieces), "prompt_tokens_details": {"cached_tokens": cached}}
        try:
            await self._reply(response, request, body, usage)
        except (ConnectionError, asyncio.CancelledError):
            self.left.set()
            raise
        return response

    def _whole(self, body: Mapping[str, Any]) -> web.Response:
        words = [{"token": word, "logprob": math.log(share)} for word, share in self.listed[: body.get("top_logprobs", 0)]]
        logprobs = {"content": [{**words[0], "top_logprobs": words}]} if words and body.get("logprobs") else None
        message = {"role": "assistant", "content": words[0]["token"] if words else ""}
        return web.json_response({"choices": [{"index": 0, "message": message, "logprobs": logprobs, "finish_reason": "length"}]})

    async def _reply(self, response: web.StreamResponse, request: web.Request, body: Mapping[str, Any], usage: Mapping[str, Any]) -> None:
        for block in self.raw:
            await response.write(block)
        if self.raw:
            return
        await self._event(response, {"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]})
        limit = body.get("max_tokens", len(self.pieces))
        pieces = self.pieces[:limit]
        for number in range(len(pieces) + 1):
            if number == self.hang_after:
                await asyncio.Event().wait()
            if number == self.die_after:
                transport = request.transport
                assert transport is not None
                transport.abort()
                return
            if number == self.error_after:
                await self._event(response, {"error": {"message": "the worker is gone", "code": 500}})
                return
            if number < len(pieces):
                await self._event(response, {"choices": [{"index": 0, "delta": {"content": pieces[number]}, "finish_reason": None}]})
        reason = "length" if limit < len(self.pieces) and self.finish_reason == "stop" else self.finish_reason
        if reason is not None:
            await self._event(response, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason, "stop_reason": None}]})
        if body.get("stream_options", {}).get("include_usage"):
            await self._event(response, {"choices": [], "usage": usage})
        if self.end_marker:
            await response.write(b"data: [DONE]\n\n")

    async def _event(self, response: web.StreamResponse, event: Mapping[str, Any]) -> None:
        await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")  # ASCII: every other letter is escaped

    def _error(self, status: int, message: str) -> web.Response:
        body = {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": status}
        return web.json_response(body, status=status)

    async def health(self, request: web.Request) -> web.Response:
        return web.Response(status=503 if self.crashed else 200)

    async def models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "small"}]})


def _common(one: str, other: str) -> str:
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return one[:at]
    return min(one, other, key=len)


@asynccontextmanager
async def running(double: Double) -> AsyncIterator[Double]:
    # handler_cancellation: a reader that goes away cancels the reply, as a model server stops the work
    app = web.Application()
    app.router.add_post("/v1/chat/completions", double.chat)
    app.router.add_get("/health", double.health)
    app.router.add_get("/v1/models", double.models)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    double.url = f"http://{host}:{port}/v1"
    try:
        yield double
    finally:
        with suppress(asyncio.CancelledError):
            await runner.cleanup()
