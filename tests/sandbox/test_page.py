"""The page's WebSocket and HTTP, as docs/sandbox.md describes them; how the page looks is tested with a browser elsewhere."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.sandbox import page as page_module
from bot.sandbox.driver import Sandbox
from tests.sandbox.bot_under_test import Client
from tests.sandbox.conftest import Clock


class Browser:
    """A page without a browser."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse, hello: dict[str, Any]) -> None:
        self.ws = ws
        self.hello = hello
        self.room = next(channel["id"] for channel in hello["channels"] if channel["name"] == "quiz-room")
        self.commands = {command["name"]: command["id"] for command in hello["commands"]}

    async def send(self, t: str, nonce: str = "n", **fields: Any) -> None:
        await self.ws.send_json({"t": t, "nonce": nonce, **fields})

    async def next(self, *kinds: str) -> dict[str, Any]:
        """The next message of one of these kinds."""
        while True:
            message = await self.ws.receive_json(timeout=5)
            if message["t"] in kinds:
                return message

    async def outcome(self) -> dict[str, Any]:
        """What became of the last thing done: `done`, `failed` or `refused`."""
        while (message := await self.next("interaction", "refused")).get("state") == "pending":
            pass
        return message

    async def slash(self, command: str, *options: dict[str, Any], **more: Any) -> None:
        await self.send("slash", channel_id=self.room, command=self.commands[command], options=list(options), **more)


@asynccontextmanager
async def viewing(sandbox: Sandbox, name: str) -> AsyncIterator[Browser]:
    address = f"{sandbox.url}/sandbox/ws?person={sandbox.person(name).id}"
    async with aiohttp.ClientSession(headers={"Origin": sandbox.url}) as session, session.ws_connect(address) as ws:
        yield Browser(ws, await ws.receive_json(timeout=5))


def option(name: str, value: Any, kind: int = 3, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "value": value, **more}


async def test_hello_has_what_the_protocol_promises(sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Eleni") as browser:
        hello = browser.hello
    assert set(hello) == {"t", "person", "people", "channels", "commands", "bot", "status", "open"}
    assert hello["person"].items() >= {"name": "Eleni", "locale": "el", "role": "learner"}.items()
    assert [person["name"] for person in hello["people"]] == ["Ada", "Sam", "Minjun", "Eleni", "Dmitri", "Lin"]
    assert set(hello["channels"][0]) == {"id", "name", "type", "parent_id", "topic"}
    assert hello["open"] in {channel["id"] for channel in hello["channels"]}
    assert "manage" not in browser.commands
    assert set(hello["status"]) == {"bot", "activity", "download", "latency_ms", "refused_hosts", "violations"}
    assert (hello["status"]["bot"], hello["bot"]["name"]) == ("online", "Studyhall")


async def test_a_slash_command_shows_pending_the_message_and_done(sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Sam") as browser:
        await browser.slash("hello", option("name", "Bo"), nonce="7")
        pending = await browser.next("interaction")
        message = await browser.next("message")
        done = await browser.next("interaction")
    assert pending == {"t": "interaction", "nonce": "7", "state": "pending", "latency_ms": None}
    assert (message["op"], message["channel_id"], message["message"]["content"]) == ("create", browser.room, "hello Bo")
    assert (done["nonce"], done["state"], done["latency_ms"] > 0) == ("7", "done", True)


async def test_private_messages_reach_only_their_reader(sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Sam") as sam, viewing(sandbox, "Lin") as lin:
        await sam.slash("pick")
        private = (await sam.next("message"))["message"]
        await sam.outcome()
        await sam.slash("hello")
        assert (await sam.next("message"))["message"]["content"] == "hello you"
        assert (await lin.next("message"))["message"]["content"] == "hello you"
        await lin.send("press", message_id=private["id"], custom_id="silent")
        assert "does not see" in (await lin.outcome())["message"]
        await sam.outcome()
        await sam.send("select", message_id=private["id"], custom_id="pick", values=["b"])
        assert (await sam.next("message"))["message"]["content"] == "picked b"
        await sam.send("dismiss", message_id=private["id"])
        gone = await sam.next("message")
        assert (gone["op"], gone["message"]) == ("delete", {"id": private["id"]})


async def test_a_button_updates_its_message_for_everybody(sandbox: Sandbox, client: Client) -> None:
    message = (await sandbox.person("Ada").slash("counter")).message
    async with viewing(sandbox, "Sam") as sam, viewing(sandbox, "Lin") as lin:
        await sam.send("press", message_id=message.data["id"], custom_id="count:0")
        updates = [await browser.next("message") for browser in (sam, lin)]
    assert {(update["op"], update["message"]["content"]) for update in updates} == {("update", "counted to 1")}


async def test_suggestions_come_with_their_nonce(sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Sam") as browser:
        fields = {"channel_id": browser.room, "command": browser.commands["book"]}
        await browser.send("complete", nonce="c", options=[option("title", "ab", focused=True)], **fields)
        suggestions = await browser.next("suggestions")
    assert (suggestions["nonce"], suggestions["choices"][0]) == ("c", {"name": "ab 0", "value": "ab-0"})


async def test_a_modal_is_shown_filled_in_and_sent(sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Sam") as browser:
        await browser.slash("survey", nonce="m")
        shown = await browser.next("modal")
        assert (shown["nonce"], shown["modal"]["title"], len(shown["modal"]["components"])) == ("m", "Survey", 5)
        await browser.outcome()
        await browser.send("submit", modal_id=shown["modal_id"], fields={"answer": "no", "colour": ["r"], "size": "s"})
        assert "at least 3" in (await browser.outcome())["message"]
        await browser.send("submit", modal_id=shown["modal_id"], fields={"answer": "yes", "colour": ["r"], "size": "s", "agree": True})
        assert (await browser.next("message"))["message"]["content"] == "yes ['r'] s [] True"
        assert (await browser.outcome())["state"] == "done"
        await browser.send("submit", modal_id=shown["modal_id"], fields={})
        assert (await browser.next("refused"))["message"] == "there is no modal to submit"


async def test_no_answer_shows_as_failed(clock: Clock, sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Sam") as browser:
        await browser.slash("mute", nonce="f")
        await browser.next("interaction")
        clock.jump(3.1)
        assert await browser.outcome() == {"t": "interaction", "nonce": "f", "state": "failed", "latency_ms": None}


async def test_history_has_only_what_this_person_may_see(sandbox: Sandbox, client: Client) -> None:
    await sandbox.person("Sam").slash("pick")
    await sandbox.person("Sam").slash("hello")
    async with viewing(sandbox, "Lin") as lin, viewing(sandbox, "Sam") as sam:
        await lin.send("open", nonce="o", channel_id=lin.room)
        await sam.send("open", channel_id=sam.room)
        seen = [await browser.next("history") for browser in (lin, sam)]
    assert [[m["content"] for m in history["messages"]] for history in seen] == [["hello you"], ["pick one", "hello you"]]
    assert (seen[0]["nonce"], seen[0]["channel_id"]) == ("o", lin.room)


async def test_people_talk_and_change_their_language(sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Sam") as browser:
        await browser.send("say", channel_id=browser.room, content="hello all")
        assert (await browser.next("message"))["message"]["author"]["global_name"] == "Sam"
        await browser.send("locale", locale="ko")
        await browser.send("locale", locale="klingon")
        assert "not a locale" in (await browser.next("refused"))["message"]
    assert sandbox.person("Sam").locale == "ko"


async def test_new_threads_and_commands_are_told(sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Sam") as browser:
        sandbox.world.start_thread(sandbox.channels["ask"], {"name": "talk", "type": 11}, sandbox.clock())
        told = await browser.next("channel")
        assert (told["op"], told["channel"]["name"], told["channel"]["parent_id"]) == ("create", "talk", str(sandbox.channels["ask"].id))
        client.tree.remove_command("hello")
        await client.tree.sync()
        assert "hello" not in {command["name"] for command in (await browser.next("commands"))["commands"]}


async def test_the_status_is_sent_when_it_changes(sandbox: Sandbox, client: Client) -> None:
    async with viewing(sandbox, "Sam") as browser:
        sandbox.set_download({"name": "model", "done_bytes": 1, "total_bytes": 2, "state": "running", "detail": ""})
        assert (await browser.next("status"))["status"]["download"]["done_bytes"] == 1
        await client.close()
        assert (await browser.next("status"))["status"]["bot"] == "offline"


@pytest.mark.parametrize(
    ("request_", "part"),
    [
        ({"t": "shout"}, "does not know 'shout'"),
        ({}, "does not know"),
        ({"t": "open"}, "malformed"),
        ({"t": "open", "channel_id": "x"}, "malformed"),
        ({"t": "open", "channel_id": "5"}, "Unknown Channel"),
        ({"t": "press", "message_id": "5", "custom_id": "x"}, "no message 5"),
        ({"t": "submit", "modal_id": "5", "fields": {}}, "not open"),
        ({"t": "slash", "channel_id": "ROOM", "command": "5", "options": []}, "no command 5"),
        ({"t": "slash", "channel_id": "ROOM", "command": "HELLO", "options": [7]}, "malformed"),
        ({"t": "slash", "channel_id": "ROOM", "command": "BOOK", "options": []}, "needs title"),
        ({"t": "say", "channel_id": "ROOM", "content": " "}, "1 to 2000"),
    ],
)
async def test_a_wrong_request_is_refused_with_its_nonce(sandbox: Sandbox, client: Client, request_: dict[str, Any], part: str) -> None:
    async with viewing(sandbox, "Sam") as browser:
        places = {"ROOM": browser.room, "HELLO": browser.commands["hello"], "BOOK": browser.commands["book"]}
        sent = {key: places.get(value, value) if isinstance(value, str) else value for key, value in request_.items()}
        await browser.ws.send_json({**sent, "nonce": "r"})
        refused = await browser.next("refused")
    assert refused["nonce"] == "r"
    assert part in refused["message"]


async def test_broken_json_is_refused_and_the_page_lives_on(sandbox: Sandbox) -> None:
    async with viewing(sandbox, "Sam") as browser:
        for text in ("{", "[]", "7"):
            await browser.ws.send_str(text)
            assert (await browser.next("refused"))["nonce"] is None


async def test_nobody_can_be_somebody_unknown(sandbox: Sandbox) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(f"{sandbox.url}/sandbox/ws?person=5")


async def test_the_fault_panel_reads_and_sets_switches(sandbox: Sandbox, client: Client) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{sandbox.url}/sandbox/faults", json={"drop_acks": True, "do": "reconnect"}) as reply:
            assert (await reply.json())["drop_acks"] is True
        async with session.get(f"{sandbox.url}/sandbox/faults") as reply:
            assert await reply.json() == sandbox.faults.json()
        for wrong in ({"explode": True}, {"fail_next": "x"}, {"fail_status": 200}, {"do": "explode"}, {"slow_replies_s": True}, []):
            async with session.post(f"{sandbox.url}/sandbox/faults", json=wrong) as reply:
                assert reply.status == 400
    await asyncio.wait_for(client.resumed.wait(), 5)


async def test_files_of_the_page_are_served_uncached_and_nothing_else(sandbox: Sandbox) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{sandbox.url}/") as reply:
            assert (reply.status, reply.headers["Cache-Control"], reply.content_type) == (200, "no-cache", "text/html")
        for path in ("..%2fpage.py", "%2e%2e/driver.py", "none.js", "a/../../page.py"):
            async with session.get(f"{sandbox.url}/static/{path}") as reply:
                assert reply.status == 404


async def test_a_page_that_lags_too_far_behind_is_cut_off(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "QUEUE_MAX", 3)
    async with viewing(sandbox, "Sam") as browser:
        for number in range(10):
            sandbox.person("Lin").say("ask", str(number))
        while (await browser.ws.receive(timeout=5)).type is aiohttp.WSMsgType.TEXT:
            pass
        assert browser.ws.closed


def test_the_page_can_do_what_the_documentation_lists() -> None:
    text = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text("utf-8").partition("Page to sandbox")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == {"t", *page_module.ACTIONS}  # the table's heading is `t`
