"""A small real discord.py client that uses every way of answering the sandbox knows; the tests log it in.

It is no part of Studyhall: it proves the sandbox against discord.py itself. What a handler got and which HTTP errors it
met is kept on the client, so that a test can look.
"""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import discord
from discord import app_commands

from bot.sandbox.driver import Sandbox
from bot.sandbox.launch import point_discord_at

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000003000000020802000000" + "00" * 8)


class CountButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"count:(?P<count>\d+)"):
    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(discord.ui.Button(label=f"Count {count}", custom_id=f"count:{count}"))

    @classmethod
    async def from_custom_id(cls, interaction: discord.Interaction, item: Any, match: re.Match[str], /) -> CountButton:
        return cls(int(match["count"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        view = discord.ui.View(timeout=None)
        view.add_item(CountButton(self.count + 1))
        await interaction.response.edit_message(content=f"counted to {self.count + 1}", view=view)


class Survey(discord.ui.Modal, title="Survey"):
    answer = discord.ui.Label(
        text="Answer", component=discord.ui.TextInput(custom_id="answer", min_length=3, max_length=20), description="In your own words"
    )
    colour = discord.ui.Label(
        text="Colour",
        component=discord.ui.Select(
            custom_id="colour", options=[discord.SelectOption(label="Red", value="r"), discord.SelectOption(label="Blue", value="b")]
        ),
    )
    size = discord.ui.Label(
        text="Size",
        component=discord.ui.RadioGroup(
            custom_id="size",
            options=[discord.RadioGroupOption(label="Small", value="s"), discord.RadioGroupOption(label="Large", value="l")],
        ),
    )
    extras = discord.ui.Label(
        text="Extras",
        component=discord.ui.CheckboxGroup(
            custom_id="extras",
            required=False,
            min_values=0,
            options=[discord.CheckboxGroupOption(label="Ice", value="i"), discord.CheckboxGroupOption(label="Lime", value="m")],
        ),
    )
    agree = discord.ui.Label(text="Agree", component=discord.ui.Checkbox(custom_id="agree"))

    async def on_submit(self, interaction: discord.Interaction) -> None:
        told = [self.answer.component.value, self.colour.component.values, self.size.component.value]  # type: ignore[union-attr]
        told += [self.extras.component.values, self.agree.component.value]  # type: ignore[union-attr]
        await interaction.response.send_message(" ".join(map(str, told)), ephemeral=True)


class Pick(discord.ui.View):
    def __init__(self) -> None:
        super().__init__(timeout=None)

    @discord.ui.select(
        custom_id="pick",
        min_values=1,
        max_values=2,
        options=[discord.SelectOption(label=f"Option {letter}", value=letter) for letter in "abc"],
    )
    async def pick(self, interaction: discord.Interaction, select: discord.ui.Select[Any]) -> None:
        await interaction.response.send_message(f"picked {'+'.join(select.values)}", ephemeral=True)

    @discord.ui.button(label="Off", custom_id="off", disabled=True)
    async def off(self, interaction: discord.Interaction, button: discord.ui.Button[Any]) -> None:
        raise AssertionError("a disabled button was pressed")

    @discord.ui.button(label="Silent", custom_id="silent")
    async def silent(self, interaction: discord.Interaction, button: discord.ui.Button[Any]) -> None:
        await interaction.response.defer()


class Layout(discord.ui.LayoutView):
    def __init__(self) -> None:
        super().__init__(timeout=None)
        row = discord.ui.ActionRow[Any](CountButton(7))
        section = discord.ui.Section(discord.ui.TextDisplay("beside"), accessory=discord.ui.Thumbnail("attachment://dot.png"))
        self.add_item(discord.ui.Container(discord.ui.TextDisplay("# Heading"), section, discord.ui.Separator(), row))


class Client(discord.Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            intents=options.pop("intents", discord.Intents(guilds=True)), max_messages=None, guild_ready_timeout=0.05, **options
        )
        self.tree = app_commands.CommandTree(self)
        self.called = asyncio.Event()  # /mute or /hello ran
        self.heard: list[Any] = []
        self.resumed = asyncio.Event()
        self.latest: discord.Interaction | None = None
        add_commands(self)

    async def setup_hook(self) -> None:
        self.add_dynamic_items(CountButton)
        self.add_view(Pick())
        await self.tree.sync()

    async def on_resumed(self) -> None:
        self.resumed.set()

    async def on_message(self, message: discord.Message) -> None:
        self.heard.append(message)


def add_commands(client: Client) -> None:
    tree = client.tree

    @tree.command(description="Says hello")
    async def hello(interaction: discord.Interaction, name: str = "you", times: app_commands.Range[int, 1, 3] = 1) -> None:
        client.latest = interaction
        await interaction.response.send_message(" ".join([f"hello {name}"] * times))

    @tree.command(description="A message with a counter")
    async def counter(interaction: discord.Interaction) -> None:
        view = discord.ui.View(timeout=None)
        view.add_item(CountButton(0))
        await interaction.response.send_message("count", view=view)

    @tree.command(description="A private message with a select")
    async def pick(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("pick one", view=Pick(), ephemeral=True)

    @tree.command(description="Thinks, then answers")
    async def think(interaction: discord.Interaction, private: bool = False) -> None:
        client.latest = interaction
        await interaction.response.defer(thinking=True, ephemeral=private)
        await interaction.followup.send("thought", ephemeral=not private)  # the deferral decides, not this
        more = await interaction.followup.send("and more", wait=True, ephemeral=True)
        await more.edit(content="and more, edited")
        await interaction.edit_original_response(content="thought twice")

    @tree.command(description="Opens a form")
    async def survey(interaction: discord.Interaction) -> None:
        await interaction.response.send_modal(Survey())

    @tree.command(description="A v2 layout with a picture")
    async def layout(interaction: discord.Interaction) -> None:
        await interaction.response.send_message(view=Layout(), file=discord.File(io.BytesIO(PNG), "dot.png", description="A dot"))

    @tree.command(description="Never answers")
    async def mute(interaction: discord.Interaction) -> None:
        client.latest = interaction
        client.called.set()

    @tree.command(description="Picks a book")
    async def book(interaction: discord.Interaction, title: str, copies: int = 1) -> None:
        await interaction.response.send_message(f"{copies} x {title}")

    @book.autocomplete("title")
    async def titles(interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=f"{current} {n}", value=f"{current}-{n}") for n in range(3)]

    @tree.command(description="Reads a file")
    async def read(interaction: discord.Interaction, file: discord.Attachment, who: discord.Member) -> None:
        content = await file.read()
        await interaction.response.send_message(f"{file.filename} {content!r} for {who.display_name}")

    @tree.command(description="For instructors")
    @app_commands.default_permissions(manage_guild=True)
    @app_commands.guild_only()
    async def manage(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("managed", ephemeral=True)

    group = app_commands.Group(name="quiz", description="Quizzes")

    @group.command(description="Play one")
    async def play(interaction: discord.Interaction, quiz: str, questions: int = 5) -> None:
        await interaction.response.send_message(f"{quiz} {questions}", ephemeral=True)

    tree.add_command(group)

    @tree.context_menu(name="Quote")
    async def quote(interaction: discord.Interaction, message: discord.Message) -> None:
        await interaction.response.send_message(f"> {message.content}")


@asynccontextmanager
async def logged_in(sandbox: Sandbox, **options: Any) -> AsyncIterator[Client]:
    """A client logged in to the sandbox, with its commands synced; closed at the end."""
    before = discord.http.Route.BASE, str(discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY)
    point_discord_at(sandbox.url, sandbox.gateway_url)
    async with Client(**options) as client:
        running = asyncio.create_task(client.start(sandbox.token))
        try:
            await sandbox.ready(10)
            await asyncio.wait_for(client.wait_until_ready(), 10)
            yield client
        finally:
            point_discord_at(before[0].removesuffix("/api/v10"), before[1])
            await client.close()
            await asyncio.wait([running], timeout=5)
            if not running.cancelled() and running.exception() is not None:
                raise running.exception()  # type: ignore[misc]
