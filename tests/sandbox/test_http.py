"""HTTP itself: rate limits as discord.py meets them, unknown routes, faults, the log, and who may talk to the server."""

from __future__ import annotations

import asyncio
import io
import time
from typing import Any

import aiohttp
import discord
import pytest

from bot.sandbox.driver import Sandbox
from bot.sandbox.launch import point_discord_at
from bot.sandbox.rates import Rates
from bot.sandbox.wire import PortTaken
from tests.sandbox.bot_under_test import Client, logged_in
from tests.sandbox.conftest import Clock


async def ask(sandbox: Sandbox, method: str, path: str, **options: Any) -> tuple[int, Any, Any]:
    """Status, body and headers of one bare request with the bot's token."""
    headers = {"Authorization": f"Bot {sandbox.token}", **options.pop("headers", {})}
    async with aiohttp.ClientSession() as session, session.request(method, sandbox.url + path, headers=headers, **options) as reply:
        body = await reply.json() if reply.content_type == "application/json" else await reply.text()
        return reply.status, body, reply.headers


async def test_every_reply_has_the_headers_that_discord_py_needs(sandbox: Sandbox) -> None:
    status, body, headers = await ask(sandbox, "GET", "/api/v10/users/@me")
    assert (status, body["bot"]) == (200, True)
    assert headers["Content-Type"] == "application/json"
    assert headers["Via"]
    assert headers.keys() >= {
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
        "X-RateLimit-Reset-After",
        "X-RateLimit-Bucket",
    }


async def test_a_wrong_token_is_401_and_counted(sandbox: Sandbox) -> None:
    status, body, _ = await ask(sandbox, "GET", "/api/v10/users/@me", headers={"Authorization": "Bot wrong"})
    assert (status, body) == (401, {"message": "401: Unauthorized", "code": 0})
    assert sandbox.limiter.invalid_requests(sandbox.clock()) == 1


async def test_a_wrong_token_ends_discord_py(sandbox: Sandbox) -> None:
    point_discord_at(sandbox.url, sandbox.gateway_url)
    async with Client() as client:
        with pytest.raises(discord.LoginFailure):
            await asyncio.wait_for(client.start("another"), 5)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/v10/voice/regions"), ("POST", "/api/v10/users/@me"), ("GET", "/api/v9/users/@me")]
)
async def test_an_unknown_route_is_404_and_a_violation(sandbox: Sandbox, method: str, path: str) -> None:
    status, body, _ = await ask(sandbox, method, path)
    assert (status, body["code"]) == (404, 0)
    assert sandbox.violations == [f"no such route: {method} {path}"]
    assert sandbox.status()["violations"] == 1


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/channels/1", 10003),
        ("/channels/{ask}/messages/1", 10008),
        ("/users/1", 10013),
        ("/guilds/1", 10004),
        ("/applications/1/commands", 10002),
    ],
)
async def test_what_does_not_exist_has_its_own_code(sandbox: Sandbox, path: str, code: int) -> None:
    status, body, _ = await ask(sandbox, "GET", "/api/v10" + path.replace("{ask}", str(sandbox.channels["ask"].id)))
    assert (status, body["code"]) == (404, code)


async def test_broken_json_is_400(sandbox: Sandbox) -> None:
    path = f"/api/v10/channels/{sandbox.channels['ask'].id}/messages"
    status, body, _ = await ask(sandbox, "POST", path, data=b"{", headers={"Content-Type": "application/json"})
    assert (status, body["code"]) == (400, 50109)


async def test_a_request_above_25_mib_is_413(sandbox: Sandbox) -> None:
    form = aiohttp.FormData(quote_fields=False)
    for number in range(3):
        form.add_field(f"files[{number}]", io.BytesIO(bytes(9 << 20)), filename=f"{number}", content_type="application/octet-stream")
    status, body, _ = await ask(sandbox, "POST", f"/api/v10/channels/{sandbox.channels['ask'].id}/messages", data=form)
    assert (status, body["code"]) == (413, 40005)


async def test_discord_py_waits_out_the_channel_bucket() -> None:
    async with Sandbox(rates=Rates(channel_messages=(5, 0.4))) as sandbox, logged_in(sandbox) as client:
        channel = client.get_partial_messageable(sandbox.channels["ask"].id)
        started = time.monotonic()
        await asyncio.gather(*(channel.send(str(number)) for number in range(12)))
        assert time.monotonic() - started > 0.75
        assert len(sandbox.person("Sam").messages("ask")) == 12


async def test_a_429_is_retried_by_discord_py_because_it_looks_like_discord_s() -> None:
    async with Sandbox(rates=Rates(channel_messages=(1, 0.3))) as tight, logged_in(tight) as client:
        path = f"/api/v10/channels/{tight.channels['ask'].id}/messages"
        assert (await ask(tight, "POST", path, json={"content": "another process"}))[0] == 200
        await client.get_partial_messageable(tight.channels["ask"].id).send("mine")
        assert tight.limiter.hits == 1
        assert [m.content for m in tight.person("Sam").messages("ask")] == ["another process", "mine"]


async def test_create_and_edit_share_the_bucket_of_their_channel(clock: Clock, sandbox: Sandbox) -> None:
    clock.freeze()
    path = f"/api/v10/channels/{sandbox.channels['ask'].id}/messages"
    _, message, _ = await ask(sandbox, "POST", path, json={"content": "0"})
    statuses = [(await ask(sandbox, "PATCH", f"{path}/{message['id']}", json={"content": str(n)}))[0] for n in range(6)]
    assert statuses == [200] * 4 + [429] * 2
    status, body, headers = await ask(sandbox, "POST", path, json={"content": "x"})
    assert (status, body["global"], headers["X-RateLimit-Scope"]) == (429, False, "user")
    assert 0 < body["retry_after"] <= 5
    other = f"/api/v10/channels/{sandbox.channels['welcome'].id}/messages"
    assert (await ask(sandbox, "POST", other, json={"content": "x"}))[0] == 200


async def test_edits_of_an_old_message_are_30046_after_three(clock: Clock) -> None:
    async with Sandbox(clock=clock, rates=Rates(channel_messages=None)) as sandbox:
        path = f"/api/v10/channels/{sandbox.channels['ask'].id}/messages"
        _, message, _ = await ask(sandbox, "POST", path, json={"content": "0"})
        clock.jump(3_601)
        replies = [await ask(sandbox, "PATCH", f"{path}/{message['id']}", json={"content": str(n)}) for n in range(4)]
        assert [(status, body.get("code")) for status, body, _ in replies[2:]] == [(200, None), (429, 30046)]


async def test_the_webhook_bucket_is_per_token_and_the_shared_one_per_channel(clock: Clock) -> None:
    clock.freeze()
    async with Sandbox(clock=clock, rates=Rates(webhook_shared=(7, 60.0))) as sandbox, logged_in(sandbox) as client:
        replies: list[tuple[int, Any, Any]] = []
        for _ in range(2):
            await sandbox.person("Sam").slash("hello")
            assert client.latest is not None
            path = f"/api/v10/webhooks/{client.application_id}/{client.latest.token}"
            replies += [await ask(sandbox, "POST", path, json={"content": "x"}) for _ in range(6)]
        assert [status for status, _, _ in replies] == [200] * 5 + [429] + [200] * 2 + [429] * 4
        assert [headers["X-RateLimit-Scope"] for status, _, headers in replies if status == 429] == ["user"] + ["shared"] * 4


async def test_the_51st_request_of_a_second_is_a_global_429(clock: Clock, sandbox: Sandbox) -> None:
    clock.freeze()
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {sandbox.token}"}) as session:

        async def get(path: str) -> tuple[int, Any]:
            async with session.get(sandbox.url + "/api/v10" + path) as reply:
                return reply.status, await reply.json()

        replies = await asyncio.gather(*(get(path) for path in ("/users/@me", "/gateway/bot") for _ in range(30)))
    refused = [body for status, body in replies if status == 429]
    assert len(refused) == 10
    assert all(body["global"] for body in refused)


async def test_the_fault_switches_fail_and_slow_requests(sandbox: Sandbox, client: Client) -> None:
    channel = client.get_partial_messageable(sandbox.channels["ask"].id)
    sandbox.faults.set({"fail_next": 1, "fail_status": 503})
    with pytest.raises(discord.DiscordServerError):
        await channel.send("lost")
    sandbox.faults.set({"slow_replies_s": 0.2})
    started = time.monotonic()
    await channel.send("slow")
    assert time.monotonic() - started >= 0.2
    assert [m.content for m in sandbox.person("Sam").messages("ask")] == ["slow"]


async def test_every_request_is_logged_with_its_route_and_time(sandbox: Sandbox, client: Client) -> None:
    await sandbox.person("Sam").slash("hello")
    _, log, _ = await ask(sandbox, "GET", "/sandbox/log")
    assert [entry["route"] for entry in log] == [
        "/users/@me",
        "/oauth2/applications/@me",
        "/applications/{app:\\d+}/commands",
        "/interactions/{interaction:\\d+}/{token}/callback",
    ]
    assert all(entry["status"] == 200 and entry["ms"] >= 0 for entry in log)


@pytest.mark.parametrize("path", ["/", "/api/v10/users/@me", "/sandbox/log", "/sandbox/ws", "/gateway?v=10&encoding=json"])
@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
async def test_requests_for_another_name_or_from_another_page_are_refused(sandbox: Sandbox, path: str, headers: dict[str, str]) -> None:
    status, body, _ = await ask(sandbox, "GET", path, headers=headers)
    assert (status, "only to its own address" in body) == (403, True)


async def test_the_page_s_own_origin_is_let_in(sandbox: Sandbox) -> None:
    for origin in (sandbox.url, sandbox.url.replace("127.0.0.1", "localhost")):
        assert (await ask(sandbox, "GET", "/sandbox/log", headers={"Origin": origin}))[0] == 200


async def test_attachments_cannot_run_as_pages(sandbox: Sandbox) -> None:
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("files[0]", b"<script>alert(1)</script>", filename="x.html", content_type="application/octet-stream")
    _, message, _ = await ask(sandbox, "POST", f"/api/v10/channels/{sandbox.channels['ask'].id}/messages", data=form)
    status, body, headers = await ask(sandbox, "GET", message["attachments"][0]["url"].removeprefix(sandbox.url))
    assert (status, body, headers["Content-Type"]) == (200, "<script>alert(1)</script>", "text/html")
    assert headers["Content-Security-Policy"].startswith("sandbox")
    assert (await ask(sandbox, "GET", "/attachments/1/2/x.html"))[0] == 404


async def test_a_taken_port_is_named_with_the_way_out(sandbox: Sandbox) -> None:
    with pytest.raises(PortTaken, match=rf"port {sandbox.port} .* --port") as taken:
        await Sandbox().start(sandbox.port)
    assert isinstance(taken.value, OSError)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org"])
async def test_only_loopback_is_ever_bound(host: str) -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.1 only"):
        await Sandbox().start(host=host)


async def test_starting_again_after_closing_works_on_the_same_port() -> None:
    first = await Sandbox().start()
    port = first.port
    await first.close()
    async with await Sandbox().start(port) as second:
        assert (await ask(second, "GET", "/api/v10/users/@me"))[0] == 200
