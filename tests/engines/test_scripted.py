"""The scripted engine keeps to its script, waits where it says so, and never invents a reply."""

from __future__ import annotations

import asyncio

import pytest

from engines.base import DeadlineExceeded, EngineBusy, EngineError, Finish
from engines.scripted import CUT_OFF, ScriptedEngine, ScriptExhausted
from tests.engines.contract import prompt, read


async def test_replies_are_given_in_order_and_prompts_are_kept() -> None:
    engine = ScriptedEngine([["one"], ["two", CUT_OFF]])
    assert await read(engine, prompt("a")) == (["one"], Finish())
    assert await read(engine, prompt("b")) == (["two"], Finish(cut_off=True))
    assert [asked.question for asked in engine.prompts] == ["a", "b"]


async def test_running_out_is_no_engine_error_that_a_fallback_could_hide() -> None:
    engine = ScriptedEngine([])
    with pytest.raises(ScriptExhausted, match="question 1"):
        await read(engine, prompt())
    assert not issubclass(ScriptExhausted, EngineError)


async def test_an_event_holds_the_reply_until_it_is_set() -> None:
    event = asyncio.Event()
    replies = ScriptedEngine([["one", event, "two"]]).stream(prompt(), max_tokens=9, deadline_s=5)
    assert await anext(replies) == "one"
    following = asyncio.ensure_future(anext(replies))
    await asyncio.sleep(0)
    assert not following.done()
    event.set()
    assert await following == "two"
    await replies.aclose()


async def test_an_event_that_is_never_set_ends_at_the_deadline() -> None:
    engine = ScriptedEngine([["one", asyncio.Event()]])
    with pytest.raises(DeadlineExceeded):
        await read(engine, prompt(), deadline_s=0.01)
    assert engine.stopped == []


async def test_an_error_in_the_script_is_raised_as_it_is() -> None:
    error = EngineBusy("scripted", "full", "Wait")
    with pytest.raises(EngineBusy) as raised:
        await read(ScriptedEngine([[error]]), prompt())
    assert raised.value is error
