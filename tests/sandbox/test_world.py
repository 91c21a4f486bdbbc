"""The rules of the place and the life of an interaction, without a server: time is a number that the test passes in."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox import limits
from bot.sandbox import world as world_module
from bot.sandbox.interactions import Interactions
from bot.sandbox.model import GUILD_ID, Channel, Event, Interaction, InteractionSettled, Member, Message, MessageChanged, Upload
from bot.sandbox.wire import ApiError, Refused, snowflake_time
from bot.sandbox.world import World

NOW = 1_800_000_000.0
ROW = {
    "type": 1,
    "components": [
        {"type": 2, "style": 1, "label": "A", "custom_id": "a"},
        {"type": 2, "style": 1, "label": "B", "custom_id": "b", "disabled": True},
    ],
}


class Stage:
    """A world with one synced command, two learners, and all that was told to listeners."""

    def __init__(self) -> None:
        self.world = World("http://127.0.0.1:1")
        self.interactions = Interactions(self.world)
        self.events: list[Event] = []
        self.world.listeners.append(self.events.append)
        self.ada, self.sam, self.minjun = list(self.world.people.values())[:3]
        self.room = list(self.world.channels.values())[1]
        (command,) = self.world.sync(None, [{"type": 1, "name": "quiz", "description": "d"}], NOW)
        self.command_id = int(command["id"])

    def used(self, person: Member | None = None, channel: Channel | None = None, now: float = NOW) -> Interaction:
        return self.interactions.command(person or self.sam, channel or self.room, self.command_id, [], now)

    def respond(self, interaction: Interaction, body: dict[str, Any], now: float = NOW) -> dict[str, Any]:
        _, answer = self.interactions.respond(interaction.id, interaction.token, body, [], now)
        self.interactions.settle(interaction)
        return answer

    def answered(self, data: dict[str, Any], kind: int = 4, now: float = NOW) -> tuple[Interaction, Message]:
        interaction = self.used(now=now)
        self.respond(interaction, {"type": kind, "data": data}, now)
        assert interaction.response is not None
        return interaction, interaction.response

    def code(self, action: Any, *arguments: Any) -> tuple[int, int]:
        with pytest.raises(ApiError) as caught:
            action(*arguments)
        return caught.value.status, caught.value.code


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_an_answer_within_three_seconds_is_taken(stage: Stage) -> None:
    interaction = stage.used()
    answer = stage.respond(interaction, {"type": 4, "data": {"content": "hi"}}, NOW + 2.9)
    assert (interaction.state, round(interaction.latency_ms or 0)) == ("done", 2900)
    assert answer["resource"]["message"]["content"] == "hi"
    assert answer["interaction"]["response_message_id"] == answer["resource"]["message"]["id"]


def test_an_answer_after_three_seconds_is_10062_and_the_interaction_has_failed(stage: Stage) -> None:
    interaction = stage.used()
    assert stage.code(stage.respond, interaction, {"type": 4, "data": {"content": "hi"}}, NOW + 3.1) == (404, 10062)
    assert interaction.state == "failed"
    assert InteractionSettled(interaction) in stage.events
    assert stage.code(stage.interactions.webhook, stage.world.bot.id, interaction.token, NOW + 4) == (404, 10015)


def test_what_nobody_answers_fails_at_the_next_sweep(stage: Stage) -> None:
    first, second = stage.used(), stage.used(now=NOW + 2)
    stage.interactions.sweep(NOW + 3.5)
    assert (first.state, second.state, stage.interactions.failed) == ("failed", "pending", 1)


def test_a_second_answer_is_40060(stage: Stage) -> None:
    interaction, _ = stage.answered({"content": "hi"})
    assert stage.code(stage.respond, interaction, {"type": 4, "data": {"content": "again"}}) == (400, 40060)


def test_a_refused_answer_can_be_repeated_in_time(stage: Stage) -> None:
    interaction = stage.used()
    assert stage.code(stage.respond, interaction, {"type": 4, "data": {"content": ""}}) == (400, 50006)
    stage.respond(interaction, {"type": 4, "data": {"content": "hi"}}, NOW + 1)
    assert interaction.state == "done"


def test_a_wrong_token_or_id_is_10062(stage: Stage) -> None:
    interaction = stage.used()
    assert stage.code(stage.interactions.respond, interaction.id, "x", {"type": 4}, [], NOW) == (404, 10062)
    assert stage.code(stage.interactions.respond, interaction.id + 1, interaction.token, {"type": 4}, [], NOW) == (404, 10062)


def test_the_webhook_opens_with_the_first_answer_and_dies_after_15_minutes(stage: Stage) -> None:
    interaction = stage.used()
    bot = stage.world.bot.id
    assert stage.code(stage.interactions.webhook, bot, interaction.token, NOW) == (404, 10015)
    stage.respond(interaction, {"type": 4, "data": {"content": "hi"}})
    assert stage.interactions.webhook(bot, interaction.token, NOW + 899) is interaction
    assert stage.code(stage.interactions.webhook, bot, interaction.token, NOW + 901) == (401, 50027)
    stage.interactions.sweep(NOW + 1_801)
    assert stage.code(stage.interactions.webhook, bot, interaction.token, NOW + 1_801) == (404, 10015)


def test_the_first_followup_fills_the_placeholder_and_keeps_its_visibility(stage: Stage) -> None:
    interaction, placeholder = stage.answered({"flags": 64}, kind=5)
    assert (placeholder.loading, placeholder.ephemeral) == (True, True)
    filled = stage.interactions.followup(interaction, {"content": "thought"}, [], NOW)
    assert filled is placeholder
    assert (filled.loading, filled.ephemeral, filled.content) == (False, True, "thought")
    second = stage.interactions.followup(interaction, {"content": "more", "flags": 64}, [], NOW)
    assert second is not placeholder
    assert stage.interactions.webhook_message(interaction, str(second.id)) is second
    assert stage.interactions.webhook_message(interaction, "@original") is placeholder


def test_an_ephemeral_message_is_seen_by_one_and_unknown_to_the_channel(stage: Stage) -> None:
    _, message = stage.answered({"content": "secret", "flags": 64, "components": [ROW]})
    assert stage.world.sees(message, stage.sam)
    assert not stage.world.sees(message, stage.ada)
    assert stage.code(stage.world.message, stage.room, message.id) == (404, 10008)
    with pytest.raises(Refused, match="does not see"):
        stage.interactions.press(stage.minjun, message, "a", NOW)


def test_a_dismissed_message_is_gone_for_the_bot_too(stage: Stage) -> None:
    interaction, message = stage.answered({"content": "secret", "flags": 64})
    with pytest.raises(Refused):
        stage.world.dismiss(message, stage.ada)
    stage.world.dismiss(message, stage.sam)
    assert stage.code(stage.interactions.webhook_message, interaction, "@original") == (404, 10008)
    assert not stage.world.sees(message, stage.sam)


def test_a_public_message_cannot_be_dismissed(stage: Stage) -> None:
    _, message = stage.answered({"content": "hi"})
    with pytest.raises(Refused):
        stage.world.dismiss(message, stage.sam)


@pytest.mark.parametrize(
    ("custom_id", "values", "why"), [("b", None, "disabled"), ("c", None, "no component"), ("a", ["x"], "is a button")]
)
def test_a_press_that_the_client_does_not_offer_is_refused(stage: Stage, custom_id: str, values: Any, why: str) -> None:
    _, message = stage.answered({"content": "x", "components": [ROW]})
    with pytest.raises(Refused, match=why):
        stage.interactions.press(stage.sam, message, custom_id, NOW, values)


def test_a_link_button_sends_nothing(stage: Stage) -> None:
    link = {"type": 1, "components": [{"type": 2, "style": 5, "label": "L", "url": "https://example.org"}]}
    _, message = stage.answered({"content": "x", "components": [link]})
    with pytest.raises(Refused):
        stage.interactions.press(stage.sam, message, "", NOW)


def test_a_button_of_a_deleted_message_cannot_be_pressed(stage: Stage) -> None:
    _, message = stage.answered({"content": "x", "components": [ROW]})
    stage.world.delete(message)
    with pytest.raises(Refused):
        stage.interactions.press(stage.sam, message, "a", NOW)


def test_a_press_can_update_its_message_or_stay_silent(stage: Stage) -> None:
    _, message = stage.answered({"content": "x", "components": [ROW]})
    pressed = stage.interactions.press(stage.ada, message, "a", NOW)
    stage.respond(pressed, {"type": 7, "data": {"content": "y"}})
    assert (message.content, message.data["edited_timestamp"] is None, pressed.response) == ("y", False, message)
    silent = stage.interactions.press(stage.ada, message, "a", NOW)
    answer = stage.respond(silent, {"type": 6})
    assert (message.content, silent.state, "resource" in answer) == ("y", "done", False)
    assert stage.interactions.webhook_message(silent, "@original") is message


def test_an_update_of_a_message_that_is_gone_is_10008(stage: Stage) -> None:
    _, message = stage.answered({"content": "x", "components": [ROW]})
    pressed = stage.interactions.press(stage.ada, message, "a", NOW)
    stage.world.delete(message)
    assert stage.code(stage.respond, pressed, {"type": 7, "data": {"content": "y"}}) == (404, 10008)


def test_a_modal_stays_open_until_its_submit_is_answered(stage: Stage) -> None:
    field = {"type": 18, "label": "Name", "component": {"type": 4, "style": 1, "custom_id": "name"}}
    opener = stage.used()
    with pytest.raises(Refused):
        stage.interactions.submit(opener, {"name": "x"}, NOW)
    stage.respond(opener, {"type": 9, "data": {"title": "T", "custom_id": "m", "components": [field]}})
    with pytest.raises(Refused, match="no field 'other'"):
        stage.interactions.submit(opener, {"name": "x", "other": 1}, NOW)
    ignored = stage.interactions.submit(opener, {"name": "x"}, NOW)
    stage.interactions.sweep(NOW + 4)
    assert ignored.state == "failed"
    sent = stage.interactions.submit(opener, {"name": "x"}, NOW + 5)
    assert sent.data["components"][0]["component"] == {"type": 4, "id": 2, "custom_id": "name", "value": "x"}
    assert stage.code(stage.respond, sent, {"type": 9, "data": {}}, NOW + 5) == (400, 50035)
    stage.respond(sent, {"type": 4, "data": {"content": "thanks"}}, NOW + 5)
    with pytest.raises(Refused, match="no modal"):
        stage.interactions.submit(opener, {"name": "x"}, NOW + 6)


def test_only_synced_commands_can_be_used(stage: Stage) -> None:
    stage.world.sync(None, [], NOW)
    with pytest.raises(Refused, match="no command"):
        stage.used()


def test_a_failed_sync_changes_nothing(stage: Stage) -> None:
    assert stage.code(stage.world.sync, None, [{"type": 1, "name": "BAD", "description": "d"}], NOW) == (400, 50035)
    assert stage.code(stage.world.sync, None, {"name": "x"}, NOW) == (400, 50035)
    assert stage.used().state == "pending"


def test_ids_carry_the_time_and_never_repeat(stage: Stage) -> None:
    ids = [stage.world.ids.next(NOW) for _ in range(100)] + [stage.world.ids.next(NOW - 5)]
    assert ids == sorted(set(ids))
    assert snowflake_time(ids[0]) == NOW
    assert snowflake_time(stage.used().id) == NOW


def test_people_keep_their_ids_over_restarts() -> None:
    assert list(World().people) == list(World().people)
    assert list(World().channels) == list(World().channels)


def test_an_edit_replaces_only_what_it_names_and_a_new_object(stage: Stage) -> None:
    _, message = stage.answered({"content": "x", "components": [ROW], "embeds": [{"title": "t"}]})
    before = message.data
    stage.world.edit(message, {"content": "y"}, [], NOW)
    assert (before["content"], message.content, message.embeds[0]["title"], len(message.buttons)) == ("x", "y", "t", 2)
    stage.world.edit(message, {"components": []}, [], NOW)
    assert (message.buttons, message.content) == ([], "y")


def test_nobody_else_s_message_can_be_edited_by_the_bot(stage: Stage) -> None:
    said = stage.world.say(stage.sam, stage.room, "hello", NOW)
    assert stage.code(stage.world.edit, said, {"content": "x"}, [], NOW) == (403, 50005)


def test_attachments_are_stored_described_and_kept_by_id(stage: Stage) -> None:
    payload = {"embeds": [{"image": {"url": "attachment://a.png"}}], "attachments": [{"id": 0, "filename": "a.png", "description": "A"}]}
    message = stage.world.post(stage.room, payload, [Upload("a.png", b"data"), Upload("b b.txt", b"more")], NOW)
    first, second = message.attachments
    assert (first["description"], first["size"], first["content_type"]) == ("A", 4, "image/png")
    assert second["url"].endswith("/b%20b.txt")
    assert message.embeds[0]["image"]["url"] == first["url"]
    stage.world.edit(message, {"attachments": [{"id": second["id"]}], "embeds": [], "content": "x"}, [], NOW)
    assert [entry["id"] for entry in message.attachments] == [second["id"]]


def test_a_nonce_makes_a_repeated_send_harmless(stage: Stage) -> None:
    send = {"content": "start", "nonce": "round-1", "enforce_nonce": True}
    first = stage.world.post(stage.room, send, [], NOW)
    assert stage.world.post(stage.room, send, [], NOW + 10) is first
    assert stage.world.post(stage.room, send, [], NOW + 400) is not first


def test_a_reply_needs_a_message_to_reply_to(stage: Stage) -> None:
    said = stage.world.say(stage.sam, stage.room, "hello", NOW)
    reply = stage.world.post(stage.room, {"content": "x", "message_reference": {"message_id": str(said.id)}}, [], NOW)
    assert (reply.data["type"], reply.data["referenced_message"]["content"]) == (19, "hello")
    assert stage.code(stage.world.post, stage.room, {"content": "x", "message_reference": {"message_id": "1"}}, [], NOW) == (400, 50035)


@pytest.mark.parametrize(
    ("allowed", "mentioned"),
    [(None, ["Sam", "Ada"]), ({"parse": []}, []), ({"parse": [], "users": ["SAM"]}, ["Sam"]), ({"parse": ["users"]}, ["Sam", "Ada"])],
)
def test_allowed_mentions_decide_who_is_mentioned(stage: Stage, allowed: Any, mentioned: list[str]) -> None:
    if allowed and "users" in allowed:
        allowed["users"] = [str(stage.sam.id)]
    payload = {"content": f"<@{stage.sam.id}> <@!{stage.ada.id}> <@{stage.sam.id}> <@5>", "allowed_mentions": allowed}
    message = stage.world.post(stage.room, payload, [], NOW)
    assert [user["global_name"] for user in message.data["mentions"]] == mentioned


def test_threads_hang_on_their_message_and_private_ones_show_to_members_and_instructors(stage: Stage) -> None:
    _, message = stage.answered({"content": "x"})
    thread = stage.world.start_thread(stage.room, {"name": "talk"}, NOW, message=message)
    assert (thread.id, thread.type, message.flags & limits.HAS_THREAD) == (message.id, 11, limits.HAS_THREAD)
    assert stage.code(lambda: stage.world.start_thread(stage.room, {"name": "talk"}, NOW, message=message)) == (400, 160004)
    assert stage.code(stage.world.start_thread, thread, {"name": "deeper"}, NOW) == (400, 50024)
    private = stage.world.start_thread(stage.room, {"name": "duel", "type": 12}, NOW)
    assert [stage.world.channel_sees(private, person) for person in (stage.ada, stage.sam)] == [True, False]
    stage.world.join_thread(private, stage.sam, joins=True)
    assert stage.world.channel_sees(private, stage.sam)


@pytest.mark.parametrize(
    "fault", [{"name": ""}, {"name": "x" * 101}, {"name": "x", "auto_archive_duration": 61}, {"name": "x", "type": 10}]
)
def test_a_thread_out_of_bounds_is_refused(stage: Stage, fault: dict[str, Any]) -> None:
    assert stage.code(stage.world.start_thread, stage.room, fault, NOW) == (400, 50035)


def test_a_dm_belongs_to_one_person_who_can_close_it_to_bots(stage: Stage) -> None:
    dm = stage.world.dm(stage.sam, NOW)
    assert stage.world.dm(stage.sam, NOW) is dm
    stage.world.post(dm, {"content": "hello"}, [], NOW)
    assert not stage.world.channel_sees(dm, stage.ada)
    with pytest.raises(Refused):
        stage.world.say(stage.ada, dm, "let me in", NOW)
    stage.sam.accepts_dms = False
    assert stage.code(stage.world.post, dm, {"content": "hello"}, [], NOW) == (403, 50007)


def test_an_interaction_in_a_dm_has_a_user_and_no_guild(stage: Stage) -> None:
    stage.used(channel=stage.world.dm(stage.sam, NOW))
    created = stage.events[-1]
    assert created.payload.keys() >= {"user", "locale", "attachment_size_limit"}  # type: ignore[union-attr]
    assert not {"guild_id", "member"} & created.payload.keys()  # type: ignore[union-attr]


def test_an_interaction_in_the_guild_tells_locale_member_and_permissions(stage: Stage) -> None:
    stage.used(person=stage.minjun)
    payload = stage.events[-1].payload  # type: ignore[union-attr]
    assert (payload["locale"], payload["guild_id"], payload["context"]) == ("ko", str(GUILD_ID), 0)
    assert payload["member"]["permissions"] == str(stage.minjun.permissions)


def test_a_person_can_only_take_a_language_that_discord_has(stage: Stage) -> None:
    stage.world.set_locale(stage.sam, "el")
    with pytest.raises(Refused):
        stage.world.set_locale(stage.sam, "tlh")
    assert stage.sam.locale == "el"


def test_the_oldest_messages_and_files_make_room(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_module, "MESSAGES_KEPT", 3)
    monkeypatch.setattr(world_module, "FILE_BYTES_KEPT", 10)
    messages = [stage.world.post(stage.room, {"content": str(n)}, [Upload("f", b"1234")], NOW) for n in range(5)]
    assert [message.content for message in stage.room.messages.values()] == ["2", "3", "4"]
    assert stage.code(stage.world.message, stage.room, messages[0].id) == (404, 10008)
    assert len(stage.world.files) == 2


def test_every_change_of_a_message_is_told_once(stage: Stage) -> None:
    stage.events.clear()
    message = stage.world.post(stage.room, {"content": "x"}, [], NOW)
    stage.world.edit(message, {"content": "y"}, [], NOW)
    stage.world.delete(message)
    assert [event.op for event in stage.events if isinstance(event, MessageChanged)] == ["create", "update", "delete"]
