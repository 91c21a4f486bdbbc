"""A real discord.py client against the sandbox over loopback sockets: every way to answer, and every refusal it can meet."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import discord
import pytest

from bot.sandbox.driver import REACTION_S, Sandbox
from bot.sandbox.launch import point_discord_at
from bot.sandbox.model import GUILD_ID, Upload
from bot.sandbox.rates import UNLIMITED
from bot.sandbox.wire import NoAnswer, Refused
from tests.sandbox.bot_under_test import PNG, Client, CountButton, Pick, logged_in
from tests.sandbox.conftest import Clock


async def test_a_slash_command_is_answered_and_timed(sandbox: Sandbox, client: Client) -> None:
    act = await sandbox.person("Sam").slash("hello", name="Bo", times=2)
    assert (act.state, act.message.content) == ("done", "hello Bo hello Bo")
    assert act.latency_ms is not None
    assert 0 < act.latency_ms < 3000
    assert sandbox.latency_ms()["count"] == 1
    assert act.message.data["interaction_metadata"]["name"] == "hello"
    assert client.latest is not None
    assert client.latest.user.display_name == "Sam"
    assert client.latest.locale is discord.Locale.american_english
    assert sandbox.violations == []


async def test_a_dynamic_button_edits_its_message(sandbox: Sandbox, client: Client) -> None:
    act = await sandbox.person("Sam").slash("counter")
    for count in range(3):
        act = await sandbox.person("Eleni").press(act.message, label=f"Count {count}")
    assert (act.message.content, act.message.buttons[0]["label"]) == ("counted to 3", "Count 3")


async def test_buttons_of_a_message_of_an_earlier_bot_still_work(sandbox: Sandbox) -> None:
    async with logged_in(sandbox):
        message = (await sandbox.person("Sam").slash("counter")).message
    assert not sandbox.gateway.online
    async with logged_in(sandbox):
        act = await sandbox.person("Sam").press(message, label="Count 0")
        assert act.message.content == "counted to 1"


async def test_a_select_is_answered_privately_and_a_silent_press_shows_nothing(sandbox: Sandbox, client: Client) -> None:
    sam = sandbox.person("Sam")
    private = (await sam.slash("pick")).message
    act = await sam.select(private, "pick", ["Option a", "c"])
    assert (act.message.content, act.message.ephemeral) == ("picked a+c", True)
    silent = await sam.press(private, label="Silent")
    assert (silent.state, silent.message is private) == ("done", True)
    with pytest.raises(Refused, match="1 to 2"):
        await sam.select(private, "pick", ["a", "b", "c"])
    with pytest.raises(Refused, match="disabled"):
        await sam.press(private, label="Off")
    with pytest.raises(Refused, match="does not see"):
        await sandbox.person("Lin").select(private, None, ["a"])


@pytest.mark.parametrize("private", [True, False])
async def test_a_deferred_reply_keeps_the_visibility_of_its_deferral(sandbox: Sandbox, client: Client, private: bool) -> None:
    act = await sandbox.person("Sam").slash("think", private=private)
    await act.settled()
    await sandbox.wait_for(lambda: act.message.content == "thought twice" and act.followups)
    assert act.message.ephemeral is private
    assert [(m.content, m.ephemeral) for m in act.followups] == [("and more, edited", True)]
    assert (act.message in sandbox.person("Ada").messages()) is not private


async def test_a_modal_with_every_input_is_filled_in(sandbox: Sandbox, client: Client) -> None:
    sam = sandbox.person("Sam")
    act = await sam.slash("survey")
    assert (act.modal.title, list(act.modal.fields)) == ("Survey", ["Answer", "Colour", "Size", "Extras", "Agree"])
    with pytest.raises(NoAnswer):
        _ = act.message
    with pytest.raises(Refused, match="at least 3"):
        await sam.submit(act.modal, {"Answer": "ab", "Colour": "r", "Size": "s"})
    with pytest.raises(Refused, match="shown to Sam"):
        await sandbox.person("Lin").submit(act.modal, {})
    done = await sam.submit(act.modal, {"Answer": "abc", "colour": ["b"], "Size": "l", "Extras": ["i", "m"], "Agree": True})
    assert done.message.content == "abc ['b'] l ['i', 'm'] True"


async def test_a_v2_layout_with_a_picture_arrives_and_its_button_works(sandbox: Sandbox, client: Client) -> None:
    message = (await sandbox.person("Sam").slash("layout")).message
    assert message.text == "# Heading\nbeside"
    assert message.attachments[0].items() >= {"width": 3, "height": 2, "description": "A dot"}.items()
    thumbnail = message.components[0]["components"][1]["accessory"]
    assert thumbnail["media"]["url"] == message.attachments[0]["url"]
    assert [n["id"] for n in (message.components[0], message.components[0]["components"][0])] == [1, 2]
    # the handler answers with legacy content, which a v2 message refuses: the press fails, and says so
    failed = await sandbox.person("Sam").press(message, label="Count 7", wait=False)
    await sandbox.wait_for(lambda: any("LEGACY_FIELDS" in text for text in sandbox.violations))
    assert failed.state == "pending"


async def test_autocomplete_suggests_and_typed_text_may_differ(sandbox: Sandbox, client: Client) -> None:
    sam = sandbox.person("Sam")
    choices = await sam.complete("book", focused="title", value="ten", copies=2)
    assert [choice["value"] for choice in choices] == ["ten-0", "ten-1", "ten-2"]
    assert (await sam.slash("book", title="anything", copies=2)).message.content == "2 x anything"


async def test_files_and_people_are_resolved_for_the_bot(sandbox: Sandbox, client: Client) -> None:
    act = await sandbox.person("Ada").slash("read", file=Upload("notes.txt", b"abc"), who=sandbox.person("Eleni"))
    assert act.message.content == "notes.txt b'abc' for Eleni"


async def test_context_menus_work_on_messages(sandbox: Sandbox, client: Client) -> None:
    said = sandbox.person("Sam").say("ask", "to be")
    assert (await sandbox.person("Ada").menu("Quote", said)).message.content == "> to be"


async def test_what_is_not_synced_or_not_allowed_is_refused(sandbox: Sandbox, client: Client) -> None:
    sam, ada = sandbox.person("Sam"), sandbox.person("Ada")
    with pytest.raises(Refused, match="no command /nothing"):
        await sam.slash("nothing")
    with pytest.raises(Refused, match="not synced"):
        await sam.slash("quiz stop")
    with pytest.raises(Refused, match="needs quiz"):
        await sam.slash("quiz play")
    with pytest.raises(Refused, match="1 to 3"):
        await sam.slash("hello", times=4)
    with pytest.raises(Refused, match="no command /manage"):
        await sam.slash("manage")
    assert (await ada.slash("manage")).message.content == "managed"
    with pytest.raises(Refused, match="no command /manage"):
        await ada.slash("manage", channel=ada.dm())
    assert (await sam.slash("hello", channel=sam.dm())).message.channel is sam.dm()


async def test_a_command_that_never_answers_fails_after_three_seconds_and_stays_dead(
    clock: Clock, sandbox: Sandbox, client: Client
) -> None:
    act = await sandbox.person("Sam").slash("mute", wait=False)
    await asyncio.wait_for(client.called.wait(), 5)
    clock.jump(3.1)
    sandbox.tick()
    assert (await act.answered()).state == "failed"
    assert client.latest is not None
    with pytest.raises(discord.NotFound) as late:
        await client.latest.response.send_message("too late")
    assert late.value.code == 10062
    assert any("10062" in text for text in sandbox.violations)


async def test_two_answers_at_once_give_one_40060(sandbox: Sandbox, client: Client) -> None:
    act = await sandbox.person("Sam").slash("mute", wait=False)
    await asyncio.wait_for(client.called.wait(), 5)
    assert client.latest is not None
    adapter = client.latest.response
    results = await asyncio.gather(adapter.send_message("one"), adapter.send_message("two"), return_exceptions=True)
    refused = [result for result in results if isinstance(result, discord.HTTPException)]
    assert [(error.status, error.code) for error in refused] == [(400, 40060)]
    assert (await act.answered()).state == "done"


async def test_after_15_minutes_the_token_is_dead_but_the_channel_is_not(clock: Clock, sandbox: Sandbox, client: Client) -> None:
    act = await sandbox.person("Sam").slash("hello")
    assert client.latest is not None
    original = await client.latest.original_response()
    clock.jump(901)
    with pytest.raises(discord.HTTPException) as dead:
        await client.latest.edit_original_response(content="x")
    assert (dead.value.status, dead.value.code) == (401, 50027)
    with pytest.raises(discord.HTTPException):
        await original.edit(content="x")
    channel = client.get_partial_messageable(act.message.channel.id)
    await channel.get_partial_message(act.message.id).edit(content="edited through the channel")
    assert act.message.content == "edited through the channel"


async def test_a_followup_before_any_answer_is_10015(sandbox: Sandbox, client: Client) -> None:
    await sandbox.person("Sam").slash("mute", wait=False)
    await asyncio.wait_for(client.called.wait(), 5)
    assert client.latest is not None
    with pytest.raises(discord.NotFound) as early:
        await client.latest.followup.send("first")
    assert early.value.code == 10015


async def test_an_ephemeral_message_is_unknown_to_the_channel_route(sandbox: Sandbox, client: Client) -> None:
    message = (await sandbox.person("Sam").slash("pick")).message
    with pytest.raises(discord.NotFound) as unknown:
        await client.get_partial_messageable(message.channel.id).get_partial_message(message.id).edit(content="x")
    assert unknown.value.code == 10008
    sandbox.person("Sam").dismiss(message)
    assert sandbox.person("Sam").messages() == []


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"content": "x" * 2001}, "2000 or fewer"),
        ({"embed": discord.Embed(title="x" * 257)}, "256 or fewer"),
        ({"embeds": [discord.Embed(description="x" * 4000)] * 2}, "6000"),
        ({"content": " "}, "empty message"),
        ({"embed": discord.Embed(title="t").set_image(url="attachment://no.png")}, "no file of this message"),
    ],
)
async def test_a_message_that_discord_refuses_is_refused(sandbox: Sandbox, client: Client, arguments: dict[str, Any], part: str) -> None:
    channel = client.get_channel(sandbox.channels["ask"].id)
    assert isinstance(channel, discord.TextChannel)
    with pytest.raises(discord.HTTPException, match=part) as refused:
        await channel.send(**arguments)
    assert refused.value.status == 400
    assert len(sandbox.violations) == 1


async def test_duplicate_custom_ids_are_refused(sandbox: Sandbox, client: Client) -> None:
    view = discord.ui.View(timeout=None).add_item(CountButton(1)).add_item(CountButton(1))
    with pytest.raises(discord.HTTPException, match="cannot be duplicated"):
        await client.get_partial_messageable(sandbox.channels["ask"].id).send("x", view=view)


async def test_a_file_above_10_mib_is_413(sandbox: Sandbox, client: Client) -> None:
    with pytest.raises(discord.HTTPException) as refused:
        await client.get_partial_messageable(sandbox.channels["ask"].id).send(file=discord.File(io.BytesIO(bytes(11 << 20)), "big"))
    assert (refused.value.status, refused.value.code) == (413, 40005)


async def test_files_can_be_read_back_replaced_and_kept(sandbox: Sandbox, client: Client) -> None:
    channel = client.get_partial_messageable(sandbox.channels["ask"].id)
    sent = await channel.send(files=[discord.File(io.BytesIO(PNG), "a b.png"), discord.File(io.BytesIO(b"two"), "två.txt")])
    assert [await attachment.read() for attachment in sent.attachments] == [PNG, b"two"]
    edited = await sent.edit(content="x", attachments=[sent.attachments[1], discord.File(io.BytesIO(b"three"), "3.txt")])
    assert [attachment.filename for attachment in edited.attachments] == ["två.txt", "3.txt"]


async def test_threads_from_channels_and_messages_carry_messages(sandbox: Sandbox, client: Client) -> None:
    channel = client.get_channel(sandbox.channels["live-rounds"].id)
    assert isinstance(channel, discord.TextChannel)
    message = await channel.send("round")
    thread = await message.create_thread(name="talk")
    await thread.send("inside")
    private = await channel.create_thread(name="duel", type=discord.ChannelType.private_thread)
    await private.add_user(discord.Object(sandbox.person("Lin").id))
    await private.send("for Lin")
    await thread.edit(archived=True, locked=True)
    assert [m.content for m in sandbox.person("Sam").messages("talk")] == ["inside"]
    assert [m.content for m in sandbox.person("Lin").messages("duel")] == ["for Lin"]
    assert sandbox.person("Sam").messages("duel") == []
    assert sandbox.channels["talk"].archived
    act = await sandbox.person("Lin").slash("hello", channel="duel")
    assert act.state == "done"
    await private.delete()
    assert "duel" not in sandbox.channels


async def test_the_bot_writes_a_dm_unless_the_person_is_closed_to_it(sandbox: Sandbox, client: Client) -> None:
    user = await client.fetch_user(sandbox.person("Dmitri").id)
    await user.send("hello")
    dmitri = sandbox.person("Dmitri")
    assert [m.content for m in dmitri.messages(dmitri.dm())] == ["hello"]
    dmitri.member.accepts_dms = False
    with pytest.raises(discord.Forbidden) as closed:
        await user.send("hello?")
    assert closed.value.code == 50007


async def test_history_presence_and_members_can_be_asked_for(sandbox: Sandbox, client: Client) -> None:
    channel = client.get_channel(sandbox.channels["ask"].id)
    assert isinstance(channel, discord.TextChannel)
    for number in range(4):
        await channel.send(str(number))
    assert [m.content async for m in channel.history(limit=3)] == ["3", "2", "1"]
    await channel.typing()
    await client.change_presence(activity=discord.CustomActivity("quotes the guide"))
    assert await sandbox.wait_for(lambda: sandbox.status()["activity"]) == "quotes the guide"
    guild = client.guilds[0]
    assert [m.display_name for m in await guild.query_members(user_ids=[sandbox.person("Ada").id])] == ["Ada"]
    assert (await guild.fetch_member(sandbox.person("Lin").id)).display_name == "Lin"
    assert (await client.fetch_guild(guild.id)).name == "Study hall"


async def test_a_sync_that_discord_refuses_leaves_the_old_commands(sandbox: Sandbox, client: Client) -> None:
    class Shouting(discord.app_commands.Translator):
        async def translate(self, string: Any, locale: discord.Locale, context: Any) -> str | None:
            return string.message.upper() if locale is discord.Locale.greek else None

    await client.tree.set_translator(Shouting())
    with pytest.raises(discord.app_commands.CommandSyncFailure):
        await client.tree.sync()
    assert (await sandbox.person("Sam").slash("hello")).state == "done"


async def test_localised_names_reach_the_menu_and_default_names_the_bot(sandbox: Sandbox, client: Client) -> None:
    class Greek(discord.app_commands.Translator):
        async def translate(self, string: Any, locale: discord.Locale, context: Any) -> str | None:
            return {"hello": "γεια"}.get(string.message) if locale is discord.Locale.greek else None

    await client.tree.set_translator(Greek())
    await client.tree.sync()
    eleni = sandbox.person("Eleni")
    (hello,) = [c for c in sandbox.world.catalogue.offered(eleni.member) if c["name"] == "hello"]
    assert hello["name_localizations"] == {"el": "γεια"}
    await eleni.slash("hello")
    assert client.latest is not None
    assert (client.latest.locale, client.latest.command.name) == (discord.Locale.greek, "hello")  # type: ignore[union-attr]


async def test_a_crowd_can_press_at_once(sandbox: Sandbox, client: Client) -> None:
    await client.get_partial_messageable(sandbox.channels["live-rounds"].id).send("vote", view=Pick())
    (message,) = sandbox.person("Ada").messages("live-rounds")
    acts = await asyncio.gather(*(person.press(message, label="Silent") for person in sandbox.crowd(50)))
    assert {act.state for act in acts} == {"done"}
    assert sandbox.latency_ms()["count"] == 50


async def test_nobody_presses_faster_than_a_person_can_see(sandbox: Sandbox, client: Client) -> None:
    sam = sandbox.person("Sam")
    message = (await sam.slash("counter")).message
    shown_at = message.changed_at
    pressed_at: list[float] = []
    sandbox.world.listeners.append(lambda event: pressed_at.append(asyncio.get_running_loop().time()))
    await sam.press(message, label="Count 0")
    assert pressed_at[0] - shown_at >= REACTION_S


async def test_without_the_content_intent_the_text_of_others_is_blank() -> None:
    intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True)
    async with Sandbox() as sandbox, logged_in(sandbox, intents=intents) as client:
        sam = sandbox.person("Sam")
        assert (await sam.slash("pick")).message.ephemeral  # and is never dispatched
        sam.say("ask", "secret")
        sam.say("ask", f"hey <@{client.user.id}>")  # type: ignore[union-attr]
        sam.say(sam.dm(), "in private")
        for _ in range(3):
            if len(client.heard) < 3:
                await client.wait_for("message", timeout=5)
        assert [message.content for message in client.heard] == ["", f"hey <@{client.user.id}>", "in private"]  # type: ignore[union-attr]


async def test_privileged_intents_must_be_enabled_first() -> None:
    intents = discord.Intents(guilds=True, message_content=True, guild_messages=True)
    async with Sandbox(privileged_intents=intents.value) as sandbox, logged_in(sandbox, intents=intents) as client:
        sandbox.person("Sam").say("ask", "open")
        assert (await client.wait_for("message", timeout=5)).content == "open"
    async with Sandbox() as sandbox:
        with pytest.raises(NoAnswer, match="4014"):
            await _login_only(sandbox, intents)


async def _login_only(sandbox: Sandbox, intents: discord.Intents) -> None:
    async with Client(intents=intents) as client:
        point_discord_at(sandbox.url, sandbox.gateway_url)
        with pytest.raises(discord.PrivilegedIntentsRequired):
            await asyncio.wait_for(client.start(sandbox.token), 5)
        await sandbox.ready(0.01)


async def test_shards_get_what_is_theirs() -> None:
    async with Sandbox(rates=UNLIMITED) as sandbox, logged_in(sandbox, shard_id=0, shard_count=2) as client:
        assert bool(client.guilds) == ((GUILD_ID >> 22) % 2 == 0)
        assert client.shard_id == 0
