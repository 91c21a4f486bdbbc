"""Whatever JSON a bot or a page sends is accepted or refused, never a crash; and what is accepted can be stored and shown.

Property tests over bodies made of Discord's own keys with values of any kind.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sandbox import limits
from bot.sandbox.commands import check_commands, fill, stored
from bot.sandbox.components import numbered
from bot.sandbox.faults import FaultSwitches
from bot.sandbox.fields import Form
from bot.sandbox.model import COMPONENT, MODAL_SUBMIT, walk
from bot.sandbox.validate import check_callback, check_edit, check_message, check_modal
from bot.sandbox.wire import ApiError, Refused, dumps
from bot.sandbox.world import World

SCALARS = (
    st.none() | st.booleans() | st.integers(-2, 70_000) | st.floats(-2, 2) | st.sampled_from(["", "a", "x" * 101, "attachment://a", "7"])
)
KEYS = {
    "component": "type custom_id style label url disabled components accessory component options min_values max_values content items media "
    "file id emoji placeholder required value min_length max_length description spacing accent_color sku_id",
    "message": "content embeds components flags attachments allowed_mentions nonce poll sticker_ids enforce_nonce message_reference tts",
    "embed": "title description url color fields name value footer text author image thumbnail",
    "command": "name description type options required choices autocomplete min_value max_value min_length name_localizations "
    "description_localizations default_member_permissions contexts integration_types el value",
}
NESTED = {"components", "embeds", "options", "fields", "items", "attachments", "choices", "parse", "users"}


def bodies(*kinds: str) -> st.SearchStrategy[Any]:
    keys = sorted({key for kind in kinds for key in KEYS[kind].split()})

    def grown(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        types = st.fixed_dictionaries({}, optional=dict.fromkeys(keys, children) | {"type": st.integers(0, 24)})
        return types | st.lists(children, max_size=3)

    return st.recursive(SCALARS, grown, max_leaves=10)


def objects(*kinds: str) -> st.SearchStrategy[dict[str, Any]]:
    keys = sorted({key for kind in kinds for key in KEYS[kind].split()})
    return st.dictionaries(st.sampled_from(keys), bodies(*kinds) | st.lists(bodies(*kinds), max_size=3), max_size=6)


@settings(max_examples=150, deadline=None)
@given(objects("message", "embed", "component"), st.sampled_from([0, limits.COMPONENTS_V2]))
def test_any_message_is_stored_or_refused(body: dict[str, Any], flags: int) -> None:
    world = World()
    room = next(iter(world.channels.values()))
    try:
        message = world.post(room, {**body, "flags": flags}, [], 1_800_000_000.0)
    except ApiError:
        return
    assert isinstance(message.text, str)
    assert all({"type", "id"} <= node.keys() for node in walk(message.components))
    dumps(message.data)


@settings(max_examples=150, deadline=None)
@given(objects("message", "component"))
def test_any_edit_is_taken_or_refused(body: dict[str, Any]) -> None:
    current: dict[str, Any] = {"content": "x", "embeds": [], "components": [], "flags": 0}
    try:
        flags = check_edit(body, [], current, flags_allowed=limits.COMPONENTS_V2, kept=())
    except ApiError:
        return
    assert flags in (0, limits.COMPONENTS_V2)


@settings(max_examples=150, deadline=None)
@given(bodies("component"))
def test_any_modal_is_numbered_or_refused(components: Any) -> None:
    form = Form()
    check_modal(form, (), {"title": "T", "custom_id": "m", "components": components})
    if not form.errors:
        ids = [node["id"] for node in walk(numbered(components))]
        assert len(ids) == len(set(ids))
        assert all(ids)


@settings(max_examples=150, deadline=None)
@given(bodies("message", "component"), st.integers(0, 13), st.sampled_from([COMPONENT, MODAL_SUBMIT]))
def test_any_callback_is_understood_or_refused(data: Any, kind: int, interaction_type: int) -> None:
    try:
        accepted, fields = check_callback({"type": kind, "data": data}, [], interaction_type=interaction_type, from_component=True)
    except ApiError:
        return
    assert accepted == kind
    if kind in (4, 7):
        with suppress(ApiError):
            assert check_message(fields, [], flags_allowed=0, path=("data",)) == 0


@settings(max_examples=150, deadline=None)
@given(objects("command"), st.lists(objects("command"), max_size=2))
def test_any_command_is_stored_or_refused_and_any_use_of_it_sent_or_refused(payload: dict[str, Any], options: list[Any]) -> None:
    entry = {"type": 1, "name": "a", "description": "d", **payload}
    try:
        check_commands([entry])
    except ApiError:
        return
    command = stored(entry, command_id=1, application_id=1, version=1, guild_id=None)
    for completing in (False, True):
        try:
            assert fill(command, options, completing=completing).name.startswith(command["name"])
        except Refused:
            continue


@given(st.dictionaries(st.sampled_from(["drop_acks", "fail_next", "fail_status", "slow_replies_s", "x"]), SCALARS))
def test_any_fault_switches_are_set_as_a_whole_or_not_at_all(values: dict[str, Any]) -> None:
    switches = FaultSwitches()
    before = switches.json()
    try:
        switches.set(values)
    except Refused:
        assert switches.json() == before
        return
    assert switches.json() == {**before, **values}
