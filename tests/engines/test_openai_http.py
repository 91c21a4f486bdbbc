"""The client for model servers, against the loopback double: fields, endings, errors, characters, and what it never sends twice."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.base import (
    DeadlineExceeded,
    EngineBusy,
    EngineDown,
    EngineError,
    Finish,
    Message,
    Probe,
    PromptTooLong,
    Traits,
)
from engines.event_stream import Reading
from engines.openai_http import (
    ALSO,
    COMMON,
    TRANSLATIONS,
    Constraint,
    Flavour,
    OpenAIEngine,
    Sampling,
    Server,
    body,
    constraint_fields,
    translated,
)
from tests.engines.contract import prompt, read
from tests.engines.openai_double import TRTLLM_FIELDS, Double, running


@pytest.fixture
async def double() -> AsyncIterator[Double]:
    async with running(Double()) as made:
        yield made


@pytest.fixture
async def engine(double: Double) -> AsyncIterator[OpenAIEngine]:
    made = OpenAIEngine(Server(double.url, "small", Flavour.TRTLLM))
    yield made
    await made.aclose()


async def test_counts_come_from_the_servers_usage_and_a_second_learner_finds_the_guide_cached(double: Double, engine: OpenAIEngine) -> None:
    _, first = await read(engine, prompt("one question", "guide " * 300))
    _, second = await read(engine, prompt("another one", "guide " * 300))
    assert first.cached_tokens == 0
    assert first.new_tokens == 3
    assert second.prompt_tokens is not None
    assert second.cached_tokens is not None
    assert second.cached_tokens > 0.9 * second.prompt_tokens


PROBED = replace(prompt("how?"), probe=Probe("Is it there? yes or no", 0.4), grammar='root ::= "x"')
SURE = (("Yes", 0.5), (" yes", 0.2), ("No", 0.2), ("maybe", 0.05))


@pytest.mark.parametrize(
    ("listed", "declined"),
    [
        (SURE, False),
        ((("No", 0.6), ("Yes", 0.35)), True),
        ((("No", 0.59), ("Yes", 0.41)), False),
        ((("Perhaps", 0.9), ("No", 0.1)), False),  # it has not answered: nothing is declined on a guess
        ((), False),  # this server lists nothing
    ],
)
async def test_a_probe_weighs_yes_against_no_before_a_word_is_written(
    double: Double, listed: Sequence[tuple[str, float]], declined: bool
) -> None:
    double.listed, double.fields = listed, None
    engine = OpenAIEngine(Server(double.url, "small", Flavour.VLLM))
    pieces, finish = await read(engine, PROBED)
    assert (pieces == ["NOT_IN_GUIDE"], finish.declined) == (declined, declined)
    assert [request["messages"][-1]["content"] for request in double.requests] == ["Is it there? yes or no", "how?"][: 2 - declined]
    assert double.requests[0]["max_tokens"] == 1
    assert "structured_outputs" not in double.requests[-1], "a server is held to a grammar only where it is said that it can be"
    await engine.aclose()


async def test_a_server_that_cannot_weigh_words_is_not_probed(double: Double, engine: OpenAIEngine) -> None:
    double.listed = (("No", 0.9),)
    _, finish = await read(engine, PROBED)
    assert not finish.declined
    assert len(double.requests) == 1


async def test_a_probe_that_fails_is_the_failure_of_the_question_and_its_deadline_counts(double: Double) -> None:
    engine = OpenAIEngine(Server(double.url, "small", Flavour.VLLM))
    double.status, double.fields = 500, None
    with pytest.raises(EngineDown):
        await read(engine, PROBED)
    double.status, double.hang_after = 200, 0
    with pytest.raises(DeadlineExceeded):
        await read(engine, PROBED, deadline_s=0.2)
    await engine.aclose()


async def test_a_prompt_brings_its_grammar_where_the_server_can_hold_a_model_to_it(double: Double) -> None:
    for flavour, fields in (
        (Flavour.VLLM, {"structured_outputs": {"grammar": PROBED.grammar}}),
        (Flavour.LLAMACPP, {"grammar": PROBED.grammar}),
        (Flavour.TRTLLM, {"response_format": {"type": "ebnf", "ebnf": PROBED.grammar}}),
    ):
        double.fields = None
        engine = OpenAIEngine(Server(double.url, "small", flavour, grammar=True))
        await read(engine, replace(PROBED, probe=None))
        assert fields.items() <= double.requests[-1].items()
        await engine.aclose()


async def test_warming_sends_the_stable_part_alone_for_one_token(double: Double, engine: OpenAIEngine) -> None:
    await engine.warm(prompt("never sent"))
    assert [message["role"] for message in double.requests[0]["messages"]] == ["system"]
    assert double.requests[0]["max_tokens"] == 1


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"end_marker": False, "finish_reason": None}, EngineDown, "without its end marker"),
        ({"finish_reason": None}, EngineDown, "without its end marker"),
        ({"finish_reason": "cancelled"}, EngineError, "cancelled"),
        ({"die_after": 0}, EngineDown, "connection"),
        ({"error_after": 1}, EngineDown, "the worker is gone"),
        ({"raw": [b"data: {not json\n\n"]}, EngineDown, "no JSON"),
        ({"crashed": True}, EngineDown, "503"),
        ({"status": 429}, EngineBusy, "full"),
        ({"status": 401}, EngineError, "key"),
        ({"status": 404, "message": "no such model"}, EngineError, "no such model"),
        ({"status": 504}, DeadlineExceeded, "gave up"),
        ({"status": 400, "message": "maximum context length is 4096"}, PromptTooLong, "does not fit"),
        ({"status": 400, "message": "bad temperature"}, EngineError, "flavour"),
        ({"status": 500}, EngineDown, "log"),
    ],
)
async def test_every_way_to_fail_has_its_own_error(
    double: Double, engine: OpenAIEngine, change: dict[str, Any], error: type, said: str
) -> None:
    for name, value in change.items():
        setattr(double, name, value)
    with pytest.raises(error, match=said) as raised:
        await read(engine, prompt(), deadline_s=5)
    assert type(raised.value) is error
    assert len(double.requests) == 1, "a prompt that reached a server is never sent again"


async def test_a_reply_that_ended_counts_even_where_the_end_marker_of_the_stream_is_missing(double: Double, engine: OpenAIEngine) -> None:
    double.end_marker = False
    _, finish = await read(engine, prompt())
    assert finish == Finish(prompt_tokens=finish.prompt_tokens, cached_tokens=0, new_tokens=3)


async def test_a_prompt_that_a_dying_server_may_have_seen_is_not_sent_again() -> None:
    connections = 0
    gone = asyncio.Event()

    async def dying(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()
        gone.set()

    server = await asyncio.start_server(dying, "127.0.0.1", 0)
    engine = OpenAIEngine(Server(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "small"))
    with pytest.raises(EngineDown):
        await read(engine, prompt(), deadline_s=5)
    await gone.wait()
    assert connections == 1
    await engine.aclose()
    server.close()
    await server.wait_closed()


async def test_a_refused_connection_is_tried_once_more(free_port: int) -> None:
    tries = 0
    engine = OpenAIEngine(Server(f"http://127.0.0.1:{free_port}/v1", "small"))
    create = engine._create

    async def counted(*given: Any) -> Any:
        nonlocal tries
        tries += 1
        return await create(*given)

    engine._create = counted
    with pytest.raises(EngineDown, match="no connection") as raised:
        await read(engine, prompt(), deadline_s=5)
    assert tries == 2
    assert raised.value.retryable
    await engine.aclose()


async def test_a_server_that_accepts_and_says_nothing_ends_at_the_deadline() -> None:
    gone = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        await writer.wait_closed()
        gone.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    engine = OpenAIEngine(Server(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "small"))
    with pytest.raises(DeadlineExceeded):
        await read(engine, prompt(), deadline_s=0.3)
    async with asyncio.timeout(5):
        await gone.wait()  # the client broke the connection
    await engine.aclose()
    server.close()
    await server.wait_closed()


async def test_a_prompt_that_the_caller_can_count_is_refused_before_it_reaches_the_server(double: Double) -> None:
    engine = OpenAIEngine(Server(double.url, "small"), traits=Traits("x", context_tokens=100), count=lambda text: len(text.split()))
    with pytest.raises(PromptTooLong, match="100 fit"):
        await read(engine, prompt("word " * 90))
    assert double.requests == []
    await engine.aclose()


def test_every_exception_of_the_package_is_translated() -> None:
    public = {
        name: kind
        for name, kind in list(vars(openai).items())
        if inspect.isclass(kind) and issubclass(kind, Exception) and not name.startswith("_")
    }
    assert len(public) >= 15
    missing = set(public) - set(TRANSLATIONS)
    assert not missing, f"add to TRANSLATIONS: {missing}"
    for name, kind in public.items():
        error = kind.__new__(kind)
        Exception.__init__(error, "said")
        error.status_code = 418
        assert isinstance(translated("x", error), EngineError), name


def test_an_exception_that_no_table_knows_means_the_server_is_gone() -> None:
    assert isinstance(translated("x", ValueError("broken chunk")), EngineDown)


@pytest.mark.parametrize("flavour", list(Flavour))
def test_a_field_the_server_is_not_known_to_take_is_never_sent(flavour: Flavour) -> None:
    server = Server("http://x/v1", "small", flavour)
    with pytest.raises(EngineError, match="best_guess"):
        body(server, (), max_tokens=1, extra={"best_guess": 1})
    for other in set().union(*ALSO.values()) - ALSO[flavour]:
        with pytest.raises(EngineError, match=other):
            body(server, (), max_tokens=1, extra={other: 1})


def test_everything_sent_to_trtllm_is_among_its_fields() -> None:
    assert COMMON | ALSO[Flavour.TRTLLM] <= TRTLLM_FIELDS
    sampling = Sampling(0.3, 0.9, 1.1, 7)
    full = body(Server("http://x/v1", "m", Flavour.TRTLLM, thinking=True, sampling=sampling), (Message("user", "q"),), max_tokens=0)
    assert set(full) <= TRTLLM_FIELDS
    assert full["max_tokens"] == 1, "0 has stopped that server for good"
    assert full["chat_template_kwargs"] == {"enable_thinking": False}


def test_thinking_is_turned_off_in_the_servers_own_way() -> None:
    def sent(flavour: Flavour) -> dict[str, Any]:
        return body(Server("http://x/v1", "m", flavour, thinking=True), (), max_tokens=1)

    for flavour in (Flavour.VLLM, Flavour.LLAMACPP):
        assert sent(flavour)["chat_template_kwargs"] == {"enable_thinking": False}
    assert sent(Flavour.OLLAMA)["reasoning_effort"] == "none"
    assert not {"chat_template_kwargs", "reasoning_effort"} & set(sent(Flavour.GENERIC))


def test_a_constraint_becomes_the_fields_of_the_flavour_or_an_error() -> None:
    schema = {"type": "object"}
    sent = constraint_fields(Flavour.TRTLLM, Constraint(json_schema=schema))
    assert sent == {"response_format": {"type": "json", "schema": schema}}, "the OpenAI wrapper is not enforced by 1.2.1"
    assert constraint_fields(Flavour.VLLM, Constraint(regex="a|b")) == {"structured_outputs": {"regex": "a|b"}}
    assert constraint_fields(Flavour.LLAMACPP, Constraint(grammar="root ::= x")) == {"grammar": "root ::= x"}
    for flavour in Flavour:
        for constraint in (Constraint(json_schema=schema), Constraint(regex="a"), Constraint(grammar="root ::= x")):
            try:
                fields = constraint_fields(flavour, constraint)
            except EngineError:
                continue
            body(Server("http://x/v1", "m", flavour), (), max_tokens=1, extra=fields)  # raises on a field it does not take
    with pytest.raises(ValueError, match="exactly one"):
        Constraint()


async def test_a_constraint_reaches_the_server(double: Double, engine: OpenAIEngine) -> None:
    async for _ in engine.stream(prompt(), max_tokens=9, deadline_s=5, constraint=Constraint(regex="[AB]")):
        pass
    assert double.requests[0]["response_format"] == {"type": "regex", "regex": "[AB]"}


def stream_of(pieces: list[str], *, ascii_only: bool, reason: str = "stop") -> bytes:
    events = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    events.append({"choices": [{"delta": {}, "finish_reason": reason}]})
    lines = [f"data: {json.dumps(event, ensure_ascii=ascii_only)}\n\n" for event in events]
    return "".join([": ping\n\n", *lines, "data: [DONE]\n\n"]).encode("utf-8", "surrogatepass")


@given(st.lists(st.text(max_size=8), max_size=8), st.lists(st.integers(1, 40), max_size=30), st.booleans())
def test_bytes_cut_anywhere_give_the_same_text(pieces: list[str], cuts: list[int], ascii_only: bool) -> None:
    reading = Reading("x")
    rest = stream_of(pieces, ascii_only=ascii_only)
    said = ""
    for cut in [*cuts, len(rest) or 1]:
        block, rest = rest[:cut], rest[cut:]
        if block:
            said += "".join(reading.read(block))
    if rest:
        said += "".join(reading.read(rest))
    assert said == "".join(pieces)
    assert reading.ended
    assert reading.finish() == Finish()


def test_a_character_cut_into_two_chunks_is_joined_and_half_a_one_at_the_end_is_marked() -> None:
    joined = Reading("x").read(stream_of(["a\ud83e", "\udda4b"], ascii_only=True))
    assert joined == ["a", "🦤b"]
    assert Reading("x").read(stream_of(["a\ud83e"], ascii_only=True)) == ["a", "\ufffd"]


def test_half_a_character_at_the_token_limit_is_left_out() -> None:
    for half in ("\ud83e", "\ufffd", "\ufffd\ufffd"):
        assert Reading("x").read(stream_of(["a", f"b{half}"], ascii_only=True, reason="length")) == ["a", "b"]
    assert "".join(Reading("x").read(stream_of(["a\ufffd", "b"], ascii_only=True, reason="length"))) == "a\ufffdb"  # the model said so


async def test_prompts_and_keys_are_not_logged(double: Double, caplog: pytest.LogCaptureFixture) -> None:
    engine = OpenAIEngine(Server(double.url, "small", api_key="secret-key"))
    with caplog.at_level(logging.DEBUG, "engines"):
        await read(engine, prompt("private question"))
    await engine.aclose()
    assert not [record for record in caplog.records if record.name.startswith("engines") and "private question" in record.getMessage()]
    assert "secret-key" not in caplog.text
