"""A stand-in for the sandbox's server, for working on the browser page alone.

It speaks the page's WebSocket (docs/sandbox.md) and plays canned Discord objects; no bot and no rule of Discord is behind
it. `python tests/browser/page_double.py [PORT]` serves the page with one of everything that a message can hold; the page's
browser tests run against the same class. What it proves is the page, never the sandbox.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

STATIC = Path(__file__).parent.parent.parent / "bot" / "sandbox" / "static"
WAIT_S = 10.0  # for what the page should send at once

PEOPLE = [
    {"id": "101", "name": "Ada Lindqvist", "avatar": "#d9605f", "locale": "en-US", "role": "instructor"},
    {"id": "102", "name": "Ben Okafor", "avatar": "#2f9a72", "locale": "en-US", "role": "learner"},
    {"id": "103", "name": "김하늘", "avatar": "#a763c9", "locale": "ko", "role": "learner"},
    {"id": "104", "name": "Ελένη Ρήγα", "avatar": "#2b8fb8", "locale": "el", "role": "learner"},
    {"id": "105", "name": "Иван Белов", "avatar": "#c97b2b", "locale": "ru", "role": "learner"},
    {"id": "106", "name": "李明", "avatar": "#7d9a2f", "locale": "zh-CN", "role": "learner"},
]
CHANNELS = [
    {"id": "201", "name": "study-hall", "type": 0, "parent_id": None, "topic": "Practise alone or together. Start with /quiz play"},
    {"id": "211", "name": "Round 1: paging", "type": 11, "parent_id": "201", "topic": None},
    {"id": "202", "name": "empty-room", "type": 0, "parent_id": None, "topic": ""},
    {"id": "203", "name": "markdown", "type": 0, "parent_id": None, "topic": "What text can look like"},
    {"id": "204", "name": "layouts", "type": 0, "parent_id": None, "topic": "Components v2"},
]
BOT = {"id": "900", "username": "Studyhall", "global_name": None, "bot": True, "discriminator": "0", "avatar": None}
QUIZZES = ["paged-kv-cache", "tensor-parallel", "tcp-handshake", "binary-search", "photosynthesis"]
COMMANDS: list[dict[str, Any]] = [
    {
        "id": "301",
        "name": "quiz",
        "name_localizations": {"ko": "퀴즈", "ru": "тест"},
        "description": "Practise with a quiz",
        "type": 1,
        "options": [
            {
                "type": 1,
                "name": "play",
                "name_localizations": {"ko": "풀기", "ru": "пройти"},
                "description": "Play a quiz on your own",
                "description_localizations": {"ko": "혼자 퀴즈를 풀어요", "ru": "Пройти тест самостоятельно"},
                "options": [
                    {"type": 3, "name": "quiz", "description": "Which quiz", "required": True, "autocomplete": True},
                    {
                        "type": 3,
                        "name": "level",
                        "description": "How hard the questions are",
                        "choices": [
                            {"name": "Easy", "name_localizations": {"ko": "쉬움"}, "value": "beginner"},
                            {"name": "Hard", "value": "advanced"},
                        ],
                    },
                    {"type": 4, "name": "count", "description": "How many questions", "min_value": 1, "max_value": 20},
                    {"type": 5, "name": "shuffle", "description": "In a new order"},
                ],
            },
            {"type": 1, "name": "list", "description": "Which quizzes there are", "options": []},
        ],
    },
    {
        "id": "302",
        "name": "ask",
        "description": "Ask a question about a guide",
        "type": 1,
        "options": [{"type": 3, "name": "question", "description": "Your question", "required": True, "min_length": 3}],
    },
    {"id": "303", "name": "broken", "description": "Never answers", "type": 1, "options": []},
    {"id": "304", "name": "help", "description": "What the bot can do", "type": 1, "options": []},
    {"id": "305", "name": "Show profile", "description": "", "type": 2, "options": []},
]
MODAL: dict[str, Any] = {
    "title": "Report a question",
    "custom_id": "report",
    "components": [
        {"type": 10, "content": "Thank you for **looking closely**."},
        {
            "type": 18,
            "label": "What is wrong?",
            "description": "One or two sentences help most.",
            "component": {
                "type": 4,
                "custom_id": "text",
                "style": 2,
                "min_length": 10,
                "max_length": 300,
                "required": True,
                "placeholder": "The key of question 3 …",
            },
        },
        {
            "type": 18,
            "label": "Where?",
            "component": {
                "type": 3,
                "custom_id": "where",
                "options": [{"label": "Stem", "value": "stem"}, {"label": "Choices", "value": "choices", "description": "A, B, C or D"}],
            },
        },
        {
            "type": 18,
            "label": "How sure are you?",
            "component": {
                "type": 21,
                "custom_id": "sure",
                "options": [{"label": "Quite", "value": "quite"}, {"label": "A hunch", "value": "hunch"}],
            },
        },
        {
            "type": 18,
            "label": "Languages concerned",
            "component": {
                "type": 22,
                "custom_id": "languages",
                "required": False,
                "options": [{"label": "English", "value": "en"}, {"label": "한국어", "value": "ko"}],
            },
        },
        {"type": 18, "label": "Tell me what became of it", "component": {"type": 23, "custom_id": "tell", "default": True}},
    ],
}
MARKDOWN = """# Paging the KV cache
Memory is cut into *blocks* of **16 tokens**; a __block table__ maps them. ~~One big slab~~ is gone. ***Both at once.***
## Why it matters
- Less waste: only the last block is part empty
- Sharing: two prompts with one prefix share blocks
  - copy on write, when they part
  - reference counts
1. Allocate
2. Map
> A page table for attention
> is all there is to it.

Inline `block_size=16`, a spoiler ||the answer is **C**||, a link to [the guide](http://127.0.0.1:8765/guide), a bare
https://example.org/a?b=1 and <https://example.org/quiet>. Mentions: <@102>, <#202>, </quiz play:301>. \\*Not italic\\*, snake_case_name.
```python
def blocks(tokens: int, size: int = 16) -> int:
    return -(-tokens // size)  # ceiling
```
-# Sources: guide section 2"""
CHART = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="240"><rect width="480" height="240" fill="#1b1d22"/>'
    '<g fill="#6d74e8"><rect x="40" y="120" width="80" height="90"/><rect x="150" y="40" width="80" height="170" fill="#3fb56f"/>'
    '<rect x="260" y="160" width="80" height="50"/><rect x="370" y="190" width="80" height="20"/></g></svg>'
)


def button(custom_id: str, label: str | None, style: int = 2, **more: Any) -> dict[str, Any]:
    return {"type": 2, "custom_id": custom_id, "label": label, "style": style} | more


def row(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(parts)}


QUESTION = {
    "title": "Question 1 of 5",
    "description": "**What does a block table map?**\n\n**A** Layers to GPUs\n**B** Logical blocks to physical blocks\n"
    "**C** Tokens to words\n**D** Requests to users",
    "color": 0x6168E0,
    "footer": {"text": "Paged KV cache • beginner"},
}
ANSWERS = [
    row(button("answer:a", "A", 1), button("answer:b", "B", 1), button("answer:c", "C", 1), button("answer:d", "D", 1)),
    row(
        button("why", "Why?", 2, emoji={"name": "💡"}), button("report", "Report", 4), button("slow", "Wait", 3), button("fail", "Fail", 2)
    ),
]


class PageDouble:
    """The double: `received` holds what the page sent, `said` waits for it, `push` plays what the sandbox would send."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.news = asyncio.Condition()
        self.sockets: dict[web.WebSocketResponse, str] = {}
        self.ids = itertools.count(1000)
        self.origin = ""
        self.people = [dict(person) for person in PEOPLE]
        self.history: dict[str, list[dict[str, Any]]] = {channel["id"]: [] for channel in CHANNELS}
        self.status: dict[str, Any] = {
            "bot": "online",
            "activity": "answers by quoting the guide",
            "download": None,
            "latency_ms": {"p50": 41.2, "p95": 118.0, "count": 37},
            "refused_hosts": 0,
            "violations": 0,
        }
        self.app = web.Application()
        self.app.add_routes(
            [
                web.get("/", self.page),
                web.get("/sandbox/ws", self.socket),
                web.get("/attachments/chart.svg", self.chart),
                web.static("/static", STATIC),
            ]
        )
        self.runner = web.AppRunner(self.app, shutdown_timeout=1.0)

    async def start(self, port: int = 0) -> str:
        """Listen on loopback; the page's address comes back."""
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", port)
        await site.start()
        self.origin = f"http://127.0.0.1:{self.runner.addresses[0][1]}"
        self.fill()
        return f"{self.origin}/"

    async def close(self) -> None:
        await self.drop()
        await self.runner.cleanup()

    async def drop(self) -> None:
        """Cut every socket, as a restart of the sandbox would."""
        for socket in list(self.sockets):
            await socket.close(code=1012)

    async def page(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / "index.html")

    async def chart(self, request: web.Request) -> web.StreamResponse:
        return web.Response(text=CHART, content_type="image/svg+xml")

    async def socket(self, request: web.Request) -> web.StreamResponse:
        asked = request.query.get("person", "101")
        person = next((each for each in self.people if each["id"] == asked), None)
        if person is None:
            raise web.HTTPNotFound
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets[socket] = person["id"]
        await socket.send_json(
            {
                "t": "hello",
                "person": person,
                "people": self.people,
                "channels": CHANNELS,
                "commands": COMMANDS,
                "bot": BOT,
                "status": self.status,
                "open": "201",
            }
        )
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    await self.take(socket, frame.json())
        finally:
            del self.sockets[socket]
        return socket

    async def said(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The first message of this kind with these fields that the page sent, waited for up to WAIT_S seconds; it is used up."""

        def found() -> dict[str, Any] | None:
            return next((each for each in self.received if each["t"] == kind and fields.items() <= each.items()), None)

        async with asyncio.timeout(WAIT_S), self.news:
            await self.news.wait_for(lambda: found() is not None)
        message = found()
        assert message is not None
        self.received.remove(message)
        return message

    async def push(self, **fields: Any) -> None:
        for socket in list(self.sockets):
            await socket.send_json(fields)

    async def show(self, channel_id: str, content: str = "", *, op: str = "create", **more: Any) -> dict[str, Any]:
        """Store a message and show it to everyone who is connected."""
        message = self.message(channel_id, content, **more)
        await self.push(t="message", op=op, channel_id=channel_id, message=message)
        return message

    def message(self, channel_id: str, content: str = "", *, author: dict[str, Any] = BOT, ago_s: float = 0, **more: Any) -> dict[str, Any]:
        message = {
            "id": str(next(self.ids)),
            "channel_id": channel_id,
            "type": 0,
            "author": author,
            "content": content,
            "timestamp": (datetime.now(UTC) - timedelta(seconds=ago_s)).isoformat(),
            "edited_timestamp": None,
            "attachments": [],
            "embeds": [],
            "components": [],
            "mentions": [],
            "flags": 0,
        } | more
        if not message["flags"] & 64:
            self.history[channel_id].append(message)
        return message

    async def take(self, socket: web.WebSocketResponse, sent: dict[str, Any]) -> None:
        kind, nonce, person = sent["t"], sent.get("nonce"), self.sockets[socket]

        async def state(name: str) -> None:
            await socket.send_json({"t": "interaction", "nonce": nonce, "state": name, "latency_ms": 40.0})

        async def reply(channel_id: str, content: str = "", **more: Any) -> None:
            message = self.message(channel_id, content, **more)
            await socket.send_json({"t": "message", "op": "create", "channel_id": channel_id, "message": message})

        if kind == "open":
            messages = self.history[sent["channel_id"]]
            await socket.send_json({"t": "history", "channel_id": sent["channel_id"], "messages": messages})
        elif kind == "say":
            await reply(sent["channel_id"], sent["content"], author=self.user(person))
            await state("done")
        elif kind == "complete":
            typed = str(self.focused(sent["options"])["value"]).lower()
            choices = [{"name": name.replace("-", " ").title(), "value": name} for name in QUIZZES if typed in name.replace("-", " ")]
            await socket.send_json({"t": "suggestions", "nonce": nonce, "choices": choices})
        elif kind == "slash":
            await self.slash(sent, person, state, reply)
        elif kind == "press":
            await self.press(sent, socket, state, reply)
        elif kind == "select":
            await state("done")
            await reply("201", f"You chose {', '.join(sent['values'])}", flags=64)
        elif kind == "submit":
            await state("failed" if sent["fields"].get("text") == "please fail now" else "done")
        elif kind == "dismiss":
            await socket.send_json({"t": "message", "op": "delete", "channel_id": "201", "message": {"id": sent["message_id"]}})
        elif kind == "locale":
            next(each for each in self.people if each["id"] == person)["locale"] = sent["locale"]
        async with self.news:
            self.received.append(sent)
            self.news.notify_all()

    async def slash(self, sent: dict[str, Any], person: str, state: Callable[..., Any], reply: Callable[..., Any]) -> None:
        command = next(each for each in COMMANDS if each["id"] == sent["command"])
        names = [command["name"], *(each["name"] for each in sent["options"] if each["type"] in (1, 2))]
        used = {"type": 2, "name": " ".join(names), "user": self.user(person)}
        await state("pending")
        if command["name"] == "broken":
            await state("failed")
        elif command["name"] == "help":
            await state("done")
            await reply(sent["channel_id"], "**Studyhall** quizzes you and explains.", flags=64, interaction_metadata=used)
        elif command["name"] == "ask":
            await state("done")
            await reply(sent["channel_id"], flags=64 | 128, interaction_metadata=used)
        else:
            await state("done")
            await reply(sent["channel_id"], embeds=[QUESTION], components=ANSWERS, interaction_metadata=used)

    async def press(
        self, sent: dict[str, Any], socket: web.WebSocketResponse, state: Callable[..., Any], reply: Callable[..., Any]
    ) -> None:
        custom_id = sent["custom_id"]
        if custom_id == "slow":
            return  # stays pending until a test says how it ends
        if custom_id == "fail":
            await state("failed")
        elif custom_id == "gone":
            await socket.send_json({"t": "refused", "nonce": sent["nonce"], "message": "this button is not on the message any more"})
        elif custom_id == "report":
            await state("done")
            await socket.send_json({"t": "modal", "nonce": sent["nonce"], "modal_id": "m1", "modal": MODAL})
        else:
            await state("done")
            await reply("201", "**Right!** The table maps logical to physical blocks.", flags=64)

    def focused(self, options: list[dict[str, Any]]) -> dict[str, Any]:
        for option in options:
            if option.get("focused"):
                return option
            if "options" in option:
                return self.focused(option["options"])
        raise AssertionError("a complete message without a focused option")

    def user(self, person_id: str) -> dict[str, Any]:
        person = next(each for each in self.people if each["id"] == person_id)
        return {"id": person["id"], "username": person["name"], "global_name": person["name"], "bot": False, "avatar": None}

    def fill(self) -> None:
        """One of everything, so that a look at the page shows all of it."""
        ada, ben = self.user("101"), self.user("102")
        soon = int(time.time()) + 300
        self.message("201", "Good morning! Round on **paging** today.", author=ada, ago_s=90_000)
        self.message("201", "I will be there <@101>", author=ben, ago_s=4000, mentions=[ada])
        self.message("201", "Bring tea 🍵", author=ben, ago_s=3980, edited_timestamp=datetime.now(UTC).isoformat())
        used = {"type": 2, "name": "quiz play", "user": ben}
        picture = {
            "id": "1",
            "filename": "chart.svg",
            "url": f"{self.origin}/attachments/chart.svg",
            "content_type": "image/svg+xml",
            "size": 900,
            "width": 480,
            "height": 240,
            "description": "Answers: A 9, B 17, C 5, D 2",
        }
        self.message(
            "201",
            ago_s=600,
            embeds=[
                {
                    "title": "Round closed",
                    "url": f"{self.origin}/",
                    "description": f"33 people answered. Next round <t:{soon}:R>.",
                    "color": 0x2F9A72,
                    "author": {"name": "Ada's round"},
                    "fields": [
                        {"name": "Right", "value": "17 (52 %)", "inline": True},
                        {"name": "Median", "value": "6.4 s", "inline": True},
                        {"name": "Fastest", "value": "<@102>", "inline": True},
                        {"name": "Key", "value": "**B** Logical blocks to physical blocks", "inline": False},
                    ],
                    "image": {"url": "attachment://chart.svg"},
                    "footer": {"text": "Round 1"},
                    "timestamp": datetime.now(UTC).isoformat(),
                }
            ],
            attachments=[],
            interaction_metadata=used,
        )["embeds"][0]["image"]["url"] = picture["url"]
        self.message("201", ago_s=300, embeds=[QUESTION], components=ANSWERS, interaction_metadata=used)
        options = [{"label": f"Topic {letter}", "value": letter, "description": f"About {letter}"} for letter in "abcdef"]
        self.message(
            "201",
            "Pick what to practise:",
            ago_s=120,
            components=[
                row({"type": 3, "custom_id": "one", "placeholder": "One topic", "options": options}),
                row(
                    {"type": 3, "custom_id": "many", "placeholder": "Several topics", "min_values": 2, "max_values": 3, "options": options}
                ),
                row(
                    {"type": 2, "style": 5, "label": "Guide", "url": f"{self.origin}/guide"},
                    button("off", "Closed", 1, disabled=True),
                    button("gone", "Gone", 2),
                ),
            ],
        )
        self.message("203", MARKDOWN, ago_s=60)
        self.message("203", f"Now <t:{soon}:f>, <t:{soon}:R>, <t:{soon}:t>, <t:{soon}:D>", ago_s=50)
        self.message("203", "<img src=x onerror=alert(1)> [bad](javascript:alert(1)) <script>alert(2)</script>", ago_s=40)
        self.message("204", flags=1 << 15, ago_s=30, attachments=[picture], components=self.layout(picture["url"]))

    def layout(self, url: str) -> list[dict[str, Any]]:
        return [
            {
                "type": 17,
                "accent_color": 0xC97B2B,
                "components": [
                    {
                        "type": 9,
                        "components": [{"type": 10, "content": "## Your week\n**12** cards due, **3** new\n-# Streak: 5 days"}],
                        "accessory": {"type": 11, "media": {"url": url}, "description": "A small chart"},
                    },
                    {"type": 14, "divider": True, "spacing": 2},
                    {
                        "type": 9,
                        "components": [{"type": 10, "content": "Paged KV cache: 4 due"}],
                        "accessory": button("start", "Review", 3),
                    },
                    {"type": 12, "items": [{"media": {"url": url}, "description": "Answers"}, {"media": {"url": url}, "spoiler": True}]},
                    {"type": 13, "file": {"url": "attachment://chart.svg"}, "name": "chart.svg", "size": 900},
                    row(button("more", "More"), button("stop", "Stop", 4)),
                ],
            },
            {"type": 10, "content": "Text after the container."},
        ]


async def main(port: int) -> None:
    double = PageDouble()
    sys.stdout.write(f"{await double.start(port)}\n")
    sys.stdout.flush()
    try:
        await asyncio.Event().wait()
    finally:
        await double.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 8799))
