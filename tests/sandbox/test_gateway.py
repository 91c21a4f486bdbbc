"""The gateway's protocol: a bare WebSocket for what discord.py never does wrong, discord.py for what it must survive."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from bot.sandbox.driver import Sandbox
from tests.sandbox.bot_under_test import Client, logged_in
from tests.sandbox.conftest import Clock


class Socket:
    """A bare gateway connection; reads JSON, compressed or not."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws
        self.inflate = zlib.decompressobj()

    async def read(self) -> Any:
        """The next frame as JSON, or the close code."""
        frame = await self.ws.receive(timeout=5)
        if frame.type is aiohttp.WSMsgType.TEXT:
            return json.loads(frame.data)
        if frame.type is aiohttp.WSMsgType.BINARY:
            assert frame.data.endswith(b"\x00\x00\xff\xff")
            return json.loads(self.inflate.decompress(frame.data))
        return self.ws.close_code

    async def send(self, op: int, data: Any) -> None:
        await self.ws.send_json({"op": op, "d": data})

    async def identify(self, sandbox: Sandbox, **changes: Any) -> Any:
        await self.send(2, {"token": sandbox.token, "intents": 1, "properties": {}, **changes})
        return await self.read()


@asynccontextmanager
async def connected(sandbox: Sandbox, query: str = "v=10&encoding=json") -> AsyncIterator[Socket]:
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{sandbox.gateway_url}?{query}") as ws:
        yield Socket(ws)


@asynccontextmanager
async def greeted(sandbox: Sandbox, query: str = "v=10&encoding=json") -> AsyncIterator[Socket]:
    async with connected(sandbox, query) as socket:
        hello = await socket.read()
        assert (hello["op"], hello["d"]["heartbeat_interval"]) == (10, int(sandbox.gateway.heartbeat_s * 1000))
        yield socket


@pytest.mark.parametrize("query", ["v=10&encoding=json", "v=10&encoding=json&compress=zlib-stream"])
async def test_identify_gives_ready_then_the_guild(sandbox: Sandbox, query: str) -> None:
    async with greeted(sandbox, query) as socket:
        ready = await socket.identify(sandbox)
        guild = await socket.read()
        assert (ready["t"], ready["s"], ready["d"]["resume_gateway_url"]) == ("READY", 1, sandbox.gateway_url)
        assert (guild["t"], guild["s"], guild["d"]["unavailable"]) == ("GUILD_CREATE", 2, False)
        assert [channel["name"] for channel in guild["d"]["channels"]] == ["welcome", "quiz-room", "live-rounds", "ask"]
        assert sandbox.gateway.online
    await sandbox.wait_for(lambda: not sandbox.gateway.online)


async def test_a_heartbeat_is_acknowledged_unless_the_fault_switch_drops_it(sandbox: Sandbox) -> None:
    async with greeted(sandbox) as socket:
        sandbox.faults.drop_acks = True
        await socket.send(1, None)
        await socket.send(1, None)
        await socket.identify(sandbox)  # READY comes next: no ACK was queued before it
        sandbox.faults.drop_acks = False
        assert (await socket.read())["t"] == "GUILD_CREATE"
        await socket.send(1, 2)
        assert (await socket.read())["op"] == 11


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"op": 2, "d": {"token": "wrong", "intents": 1}}, 4004),
        ({"op": 2, "d": {"intents": 1}}, 4004),
        ({"op": 6, "d": {"token": "wrong", "session_id": "x", "seq": 1}}, 4004),
        ({"op": 2, "d": {"token": "sandbox-token", "intents": 1 << 40}}, 4013),
        ({"op": 2, "d": {"token": "sandbox-token", "intents": 1 << 15}}, 4014),
        ({"op": 2, "d": {"token": "sandbox-token", "intents": 1, "shard": [2, 2]}}, 4010),
        ({"op": 3, "d": {}}, 4003),
        ({"op": 99, "d": {}}, 4001),
        ({"op": 1, "d": "x" * 5000}, 4002),
        ([], 4002),
    ],
)
async def test_a_breach_of_protocol_closes_with_discord_s_code(sandbox: Sandbox, frame: Any, code: int) -> None:
    async with greeted(sandbox) as socket:
        await socket.ws.send_json(frame)
        assert await socket.read() == code
        assert str(code) in sandbox.violations[0]


async def test_a_second_identify_closes_with_4005(sandbox: Sandbox) -> None:
    async with greeted(sandbox) as socket:
        await socket.identify(sandbox)
        assert (await socket.read())["t"] == "GUILD_CREATE"
        assert await socket.identify(sandbox) == 4005


async def test_another_version_closes_with_4012(sandbox: Sandbox) -> None:
    async with connected(sandbox, "v=9&encoding=json") as socket:
        assert await socket.read() == 4012


async def test_more_than_120_messages_a_minute_close_with_4008(sandbox: Sandbox) -> None:
    async with greeted(sandbox) as socket:
        for _ in range(121):
            await socket.send(1, None)
        answer: Any = {}
        while isinstance(answer, dict):
            answer = await socket.read()
        assert answer == 4008


async def test_a_client_that_stops_its_heartbeat_is_closed_with_4009() -> None:
    async with Sandbox(heartbeat_s=0.05) as sandbox, greeted(sandbox) as socket:
        assert await socket.read() == 4009


async def test_identifies_too_close_together_get_op_9() -> None:
    async with Sandbox(identify_spacing_s=5) as sandbox, greeted(sandbox) as first, greeted(sandbox) as second:
        assert (await first.identify(sandbox))["t"] == "READY"
        assert await second.identify(sandbox) == {"op": 9, "d": False, "s": None, "t": None}


async def _dropped_session(sandbox: Sandbox) -> str:
    """A session whose connection was cut after READY and GUILD_CREATE."""
    async with greeted(sandbox) as socket:
        ready = await socket.identify(sandbox)
        await socket.read()
        sandbox.gateway.abort()
        assert await socket.read() in (1006, None)
    await sandbox.wait_for(lambda: not sandbox.gateway.online)
    return ready["d"]["session_id"]


async def test_a_resume_replays_what_was_missed_in_order(sandbox: Sandbox) -> None:
    sandbox.world.sync(None, [{"type": 1, "name": "a", "description": "d"}], sandbox.clock())
    session_id = await _dropped_session(sandbox)
    acts = [await sandbox.person(name).slash("a", wait=False) for name in ("Sam", "Ada")]
    async with greeted(sandbox) as socket:
        await socket.send(6, {"token": sandbox.token, "session_id": session_id, "seq": 2})
        frames = [await socket.read() for _ in range(3)]
    assert [(frame["t"], frame["s"]) for frame in frames] == [("INTERACTION_CREATE", 3), ("INTERACTION_CREATE", 4), ("RESUMED", 5)]
    assert [int(frame["d"]["id"]) for frame in frames[:2]] == [act.interaction.id for act in acts]


async def test_a_resume_without_a_session_gets_op_9(clock: Clock, sandbox: Sandbox) -> None:
    session_id = await _dropped_session(sandbox)
    async with greeted(sandbox) as socket:
        await socket.send(6, {"token": sandbox.token, "session_id": "none", "seq": 2})
        assert (await socket.read())["op"] == 9
        clock.jump(121)
        await socket.send(6, {"token": sandbox.token, "session_id": session_id, "seq": 2})
        assert (await socket.read())["op"] == 9


async def test_a_resume_from_the_future_closes_with_4007(sandbox: Sandbox) -> None:
    session_id = await _dropped_session(sandbox)
    async with greeted(sandbox) as socket:
        await socket.send(6, {"token": sandbox.token, "session_id": session_id, "seq": 99})
        assert await socket.read() == 4007


async def test_a_session_that_was_closed_properly_cannot_be_resumed(sandbox: Sandbox) -> None:
    async with greeted(sandbox) as socket:
        ready = await socket.identify(sandbox)
        await socket.ws.close(code=1000)
    await sandbox.wait_for(lambda: not sandbox.gateway.online)
    async with greeted(sandbox) as socket:
        await socket.send(6, {"token": sandbox.token, "session_id": ready["d"]["session_id"], "seq": 2})
        assert (await socket.read())["op"] == 9


@pytest.mark.parametrize("fault", ["reconnect", "abort", "invalid-resumable", "close-4000"])
async def test_discord_py_resumes_after_an_interruption_and_answers_what_it_missed(sandbox: Sandbox, client: Client, fault: str) -> None:
    sam = sandbox.person("Sam")
    message = (await sam.slash("counter")).message
    if fault == "reconnect":
        sandbox.gateway.reconnect()
    elif fault == "abort":
        sandbox.gateway.abort()
    elif fault == "invalid-resumable":
        sandbox.gateway.invalidate(resumable=True)
    else:
        await sandbox.gateway.close(4000)
    act = await sam.press(message, label="Count 0", wait=False)
    await asyncio.wait_for(client.resumed.wait(), 5)
    assert (await act.answered()).state == "done"
    assert sandbox.gateway.resumes == 1
    assert (await sam.press(message, label="Count 1")).state == "done"


async def test_two_bots_with_one_token_both_hear_and_one_is_refused(sandbox: Sandbox, client: Client) -> None:
    async with logged_in(sandbox):
        await sandbox.wait_for(lambda: len(sandbox.gateway.sessions) == 2)
        act = await sandbox.person("Sam").slash("hello")
        assert act.state == "done"
        await sandbox.wait_for(lambda: any("40060" in text for text in sandbox.violations))
