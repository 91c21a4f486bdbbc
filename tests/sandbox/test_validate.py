"""What Discord refuses in messages, components and modals, as tables: a body, the field and the code that comes back.

Proves the rules of bot.sandbox.validate and bot.sandbox.components without a server; that discord.py meets them is in
test_client.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox import limits
from bot.sandbox.components import filled, numbered
from bot.sandbox.fields import Form
from bot.sandbox.model import AUTOCOMPLETE, COMMAND, COMPONENT, MODAL_SUBMIT, Upload, walk
from bot.sandbox.validate import check_callback, check_edit, check_message, check_modal, check_uploads
from bot.sandbox.wire import ApiError, Refused

ALL_FLAGS = limits.EPHEMERAL | limits.SUPPRESS_EMBEDS | limits.COMPONENTS_V2
V2 = limits.COMPONENTS_V2


def row(*children: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(children)}


def button(custom_id: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "label": "A", "custom_id": custom_id, **more}


def select(count: int = 2, **more: Any) -> dict[str, Any]:
    return {"type": 3, "custom_id": "s", "options": [{"label": f"L{n}", "value": f"v{n}"} for n in range(count)], **more}


def display(text: str = "text") -> dict[str, Any]:
    return {"type": 10, "content": text}


def label(component: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": 18, "label": "L", "component": component, **more}


def text_input(custom_id: str = "t", **more: Any) -> dict[str, Any]:
    return {"type": 4, "style": 1, "custom_id": custom_id, **more}


def modal(*components: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"title": "T", "custom_id": "m", "components": list(components), **more}


def codes(refusal: ApiError) -> dict[str, str]:
    """The codes of a 50035 body by dotted path."""
    found: dict[str, str] = {}

    def visit(node: dict[str, Any], path: str) -> None:
        for key, value in node.items():
            if key == "_errors":
                found[path] = value[0]["code"]
            else:
                visit(value, f"{path}.{key}" if path else key)

    visit(refusal.body.get("errors", {}), "")
    return found


def refusal_of(payload: dict[str, Any], files: int = 0) -> ApiError:
    with pytest.raises(ApiError) as caught:
        check_message(payload, [Upload(f"f{n}.png", b"x") for n in range(files)], flags_allowed=ALL_FLAGS)
    return caught.value


@pytest.mark.parametrize(
    ("payload", "path", "code"),
    [
        ({"content": "x" * 2001}, "content", "BASE_TYPE_MAX_LENGTH"),
        ({"content": 7}, "content", "STRING_TYPE_CONVERT"),
        ({"content": "x", "flags": 1 << 4}, "flags", "MESSAGE_FLAGS_INVALID"),
        ({"content": "x", "nonce": "n" * 26}, "nonce", "BASE_TYPE_MAX_LENGTH"),
        ({"content": "x", "poll": {"question": {}}}, "poll", "SANDBOX_NOT_OFFERED"),
        ({"embeds": [{"title": "x"}] * 11}, "embeds", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"title": "x" * 257}]}, "embeds.0.title", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"description": "x" * 4097}]}, "embeds.0.description", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"title": "t", "footer": {"text": "x" * 2049}}]}, "embeds.0.footer.text", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"title": "t", "author": {"name": "x" * 257}}]}, "embeds.0.author.name", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"fields": [{"name": "n", "value": "v"}] * 26}]}, "embeds.0.fields", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"fields": [{"name": "n", "value": ""}]}]}, "embeds.0.fields.0.value", "BASE_TYPE_REQUIRED"),
        ({"embeds": [{"fields": [{"name": "x" * 257, "value": "v"}]}]}, "embeds.0.fields.0.name", "BASE_TYPE_BAD_LENGTH"),
        ({"embeds": [{"fields": [{"name": "n", "value": "x" * 1025}]}]}, "embeds.0.fields.0.value", "BASE_TYPE_BAD_LENGTH"),
        ({"embeds": [{"description": "x" * 3001}] * 2}, "embeds", "MAX_EMBED_SIZE_EXCEEDED"),
        ({"embeds": [{"color": 1}]}, "embeds.0.description", "BASE_TYPE_REQUIRED"),
        ({"embeds": [{"image": {"url": "attachment://none.png"}}]}, "embeds.0.image.url", "URL_TYPE_INVALID_SCHEME"),
        ({"embeds": [{"title": "t", "color": 1 << 24}]}, "embeds.0.color", "NUMBER_TYPE_MAX"),
        ({"content": "x", "attachments": [{"id": 0}]}, "attachments.0.id", "ATTACHMENT_NOT_FOUND"),
        ({"content": "x", "allowed_mentions": {"users": ["1"] * 101}}, "allowed_mentions.users", "BASE_TYPE_MAX_LENGTH"),
        (
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions",
            "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
        ),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0", "BASE_TYPE_CHOICES"),
    ],
)
def test_a_message_out_of_bounds_is_refused_with_path_and_code(payload: dict[str, Any], path: str, code: str) -> None:
    refusal = refusal_of(payload)
    assert (refusal.status, refusal.code) == (400, 50035)
    assert codes(refusal).get(path) == code, codes(refusal)


@pytest.mark.parametrize(
    ("components", "path", "code"),
    [
        ([row(button())] * 6, "components", "BASE_TYPE_MAX_LENGTH"),
        ([row(*(button(str(n)) for n in range(6)))], "components.0.components", "BASE_TYPE_BAD_LENGTH"),
        ([row()], "components.0.components", "BASE_TYPE_BAD_LENGTH"),
        ([button()], "components.0.type", "BASE_TYPE_CHOICES"),
        ([display()], "components.0.type", "BASE_TYPE_CHOICES"),
        ([row(select(), button())], "components.0.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED"),
        ([row(text_input())], "components.0.components.0.type", "BASE_TYPE_CHOICES"),
        (
            [
                row(button("")),
            ],
            "components.0.components.0.custom_id",
            "BASE_TYPE_REQUIRED",
        ),
        ([row(button("x" * 101))], "components.0.components.0.custom_id", "BASE_TYPE_BAD_LENGTH"),
        ([row(button(label="x" * 81))], "components.0.components.0.label", "BASE_TYPE_MAX_LENGTH"),
        ([row(button(label=None))], "components.0.components.0", "BUTTON_COMPONENT_INVALID"),
        ([row(button(style=9))], "components.0.components.0.style", "BASE_TYPE_CHOICES"),
        ([row(button(url="https://a"))], "components.0.components.0.url", "BASE_TYPE_BAD_FIELD"),
        ([row({"type": 2, "style": 5, "label": "x"})], "components.0.components.0.url", "BASE_TYPE_REQUIRED"),
        ([row(button(style=5, url="https://a"))], "components.0.components.0.custom_id", "BASE_TYPE_BAD_FIELD"),
        ([row({"type": 2, "style": 5, "label": "x", "url": "ftp://a"})], "components.0.components.0.url", "URL_TYPE_INVALID_SCHEME"),
        (
            [row({"type": 2, "style": 5, "label": "x", "url": "http://" + "a" * 510})],
            "components.0.components.0.url",
            "BASE_TYPE_BAD_LENGTH",
        ),
        ([row(button("a"), button("a", disabled=True))], "components.0.components.1.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED"),
        ([row(button("a", id=3), button("b", id=3))], "components.0.components.1.id", "COMPONENT_ID_DUPLICATED"),
        ([row(select(0))], "components.0.components.0.options", "BASE_TYPE_BAD_LENGTH"),
        ([row(select(26))], "components.0.components.0.options", "BASE_TYPE_BAD_LENGTH"),
        ([row(select(min_values=2))], "components.0.components.0.min_values", "SELECT_COMPONENT_MIN_VALUES"),
        ([row(select(max_values=3))], "components.0.components.0.max_values", "SELECT_COMPONENT_MAX_VALUES"),
        ([row(select(max_values=26))], "components.0.components.0.max_values", "NUMBER_TYPE_MAX"),
        ([row(select(placeholder="x" * 151))], "components.0.components.0.placeholder", "BASE_TYPE_MAX_LENGTH"),
        (
            [row(select(options=[{"label": "a", "value": "v"}, {"label": "b", "value": "v"}]))],
            "components.0.components.0.options.1.value",
            "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
        ),
        ([row(select(options=[{"label": "x" * 101, "value": "v"}]))], "components.0.components.0.options.0.label", "BASE_TYPE_BAD_LENGTH"),
        ([row(select(options=[{"label": "a", "value": "x" * 101}]))], "components.0.components.0.options.0.value", "BASE_TYPE_BAD_LENGTH"),
        (
            [row(select(options=[{"label": "a", "value": "v", "description": "x" * 101}]))],
            "components.0.components.0.options.0.description",
            "BASE_TYPE_MAX_LENGTH",
        ),
    ],
)
def test_legacy_components_out_of_bounds_are_refused(components: list[Any], path: str, code: str) -> None:
    found = codes(refusal_of({"content": "x", "components": components}))
    assert found.get(path) == code, found


@pytest.mark.parametrize(
    ("components", "path", "code"),
    [
        ([display()] * 41, "components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"),
        ([{"type": 17, "components": [display()] * 40}], "components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"),
        ([display("x" * 2001)] * 2, "components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"),
        ([display("")], "components.0.content", "BASE_TYPE_REQUIRED"),
        ([{"type": 17, "components": []}], "components.0.components", "BASE_TYPE_BAD_LENGTH"),
        ([{"type": 17, "components": [{"type": 17, "components": [display()]}]}], "components.0.components.0.type", "BASE_TYPE_CHOICES"),
        ([{"type": 9, "components": [display()] * 4, "accessory": button()}], "components.0.components", "BASE_TYPE_BAD_LENGTH"),
        ([{"type": 9, "components": [display()]}], "components.0.accessory", "BASE_TYPE_REQUIRED"),
        ([{"type": 9, "components": [button()], "accessory": button("b")}], "components.0.components.0.type", "BASE_TYPE_CHOICES"),
        ([{"type": 12, "items": []}], "components.0.items", "BASE_TYPE_BAD_LENGTH"),
        ([{"type": 12, "items": [{"media": {"url": "https://a"}}] * 11}], "components.0.items", "BASE_TYPE_BAD_LENGTH"),
        (
            [{"type": 12, "items": [{"media": {"url": "https://a"}, "description": "x" * 1025}]}],
            "components.0.items.0.description",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            [{"type": 13, "file": {"url": "attachment://none"}}],
            "components.0.file",
            "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND",
        ),
        ([{"type": 13, "file": {"url": "https://a"}}], "components.0.file.url", "URL_TYPE_INVALID_SCHEME"),
        ([{"type": 14, "spacing": 3}], "components.0.spacing", "NUMBER_TYPE_MAX"),
        ([button()], "components.0.type", "BASE_TYPE_CHOICES"),
    ],
)
def test_v2_components_out_of_bounds_are_refused(components: list[Any], path: str, code: str) -> None:
    found = codes(refusal_of({"flags": V2, "components": components}))
    assert found.get(path) == code, found


@pytest.mark.parametrize("field", [{"content": "x"}, {"embeds": [{"title": "x"}]}])
def test_a_v2_message_has_no_content_and_no_embeds(field: dict[str, Any]) -> None:
    found = codes(refusal_of({"flags": V2, "components": [display()], **field}))
    assert found == {next(iter(field)): "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"}


@pytest.mark.parametrize("payload", [{}, {"content": ""}, {"content": " \n"}, {"content": None, "embeds": [], "components": []}])
def test_an_empty_message_is_refused(payload: dict[str, Any]) -> None:
    assert refusal_of(payload).code == 50006


def test_every_fault_of_a_body_is_reported_at_once() -> None:
    found = codes(refusal_of({"content": "x" * 2001, "components": [row(button(label="x" * 81))], "embeds": [{"title": "x" * 257}]}))
    assert set(found) == {"content", "components.0.components.0.label", "embeds.0.title"}


@pytest.mark.parametrize(
    "payload",
    [
        {"content": "x" * 2000},
        {"content": "  " + "x" * 2000},
        {"embeds": [{"description": "x" * 4096, "title": "x" * 256}]},
        {"content": "x", "components": [row(*(button(str(n)) for n in range(r, r + 5))) for r in range(0, 25, 5)]},
        {"content": "x", "components": [row(select(25, max_values=25, min_values=0))]},
        {"flags": V2, "components": [display("x" * 100)] * 40},
        {"flags": V2, "components": [{"type": 9, "components": [display()], "accessory": button()}]},
        {"content": "x", "components": [row({"type": 5, "custom_id": "u", "max_values": 25})]},
        {"content": "x", "components": [row({"type": 2, "style": 2, "emoji": {"name": "x"}, "custom_id": "e"})]},
    ],
)
def test_what_fits_exactly_is_accepted(payload: dict[str, Any]) -> None:
    assert check_message(payload, [], flags_allowed=ALL_FLAGS) == payload.get("flags", 0)


def test_a_file_of_the_message_can_be_shown_by_name() -> None:
    embed = {"embeds": [{"image": {"url": "attachment://f0.png"}}], "attachments": [{"id": 0, "filename": "f0.png"}]}
    assert check_message(embed, [Upload("f0.png", b"x")], flags_allowed=0) == 0


def test_too_many_or_too_large_files_are_refused() -> None:
    with pytest.raises(ApiError) as many:
        check_uploads([Upload("f", b"")] * 11)
    with pytest.raises(ApiError) as large:
        check_uploads([Upload("f", bytes(limits.FILE_BYTES_MAX + 1))])
    assert (many.value.code, large.value.status, large.value.code) == (30015, 413, 40005)


CURRENT = {"content": "old", "embeds": [], "components": [], "flags": 0}


def test_an_edit_must_leave_something() -> None:
    with pytest.raises(ApiError) as caught:
        check_edit({"content": None}, [], CURRENT, flags_allowed=ALL_FLAGS, kept=())
    assert caught.value.code == 50006


def test_an_edit_to_v2_must_take_the_old_content_away() -> None:
    change = {"flags": V2, "components": [display()]}
    with pytest.raises(ApiError) as caught:
        check_edit(change, [], CURRENT, flags_allowed=ALL_FLAGS, kept=())
    assert codes(caught.value) == {"content": "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"}
    assert check_edit({**change, "content": None}, [], CURRENT, flags_allowed=ALL_FLAGS, kept=()) == V2


def test_v2_cannot_be_unset() -> None:
    current = {"content": "", "embeds": [], "components": [display()], "flags": V2}
    assert check_edit({"flags": 0}, [], current, flags_allowed=ALL_FLAGS, kept=()) == V2


def test_an_edit_cannot_make_a_message_ephemeral() -> None:
    assert check_edit({"flags": limits.EPHEMERAL, "content": "x"}, [], CURRENT, flags_allowed=ALL_FLAGS, kept=()) == 0


@pytest.mark.parametrize(
    ("interaction_type", "from_component", "legal"),
    [
        (COMMAND, False, {4, 5, 9}),
        (COMPONENT, True, {4, 5, 6, 7, 9}),
        (AUTOCOMPLETE, False, {8}),
        (MODAL_SUBMIT, False, {4, 5}),
        (MODAL_SUBMIT, True, {4, 5, 6, 7}),
    ],
)
def test_only_fitting_callback_types_answer_an_interaction(interaction_type: int, from_component: bool, legal: set[int]) -> None:
    data = {8: {"choices": []}, 9: modal(label(text_input()))}

    def fault(kind: int) -> dict[str, str] | None:
        try:
            check_callback({"type": kind, "data": data.get(kind)}, [], interaction_type=interaction_type, from_component=from_component)
        except ApiError as refusal:
            return codes(refusal)
        return None

    faults = {kind: fault(kind) for kind in range(14)}
    assert {kind for kind in faults if faults[kind] is None} == legal
    assert all(faults[kind] == {"type": "BASE_TYPE_CHOICES"} for kind in faults if kind not in legal)


def test_a_deferral_carries_no_flag_but_ephemeral() -> None:
    assert check_callback({"type": 5, "data": {"flags": 64}}, [], interaction_type=COMMAND, from_component=False) == (5, {"flags": 64})
    with pytest.raises(ApiError) as caught:
        check_callback({"type": 5, "data": {"flags": V2}}, [], interaction_type=COMMAND, from_component=False)
    assert codes(caught.value) == {"data.flags": "MESSAGE_FLAGS_INVALID"}


def test_autocomplete_offers_at_most_25_choices() -> None:
    body = {"type": 8, "data": {"choices": [{"name": "n", "value": "v"}] * 26}}
    with pytest.raises(ApiError) as caught:
        check_callback(body, [], interaction_type=AUTOCOMPLETE, from_component=False)
    assert codes(caught.value) == {"data.choices": "BASE_TYPE_MAX_LENGTH"}


OPTIONS = [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}]


@pytest.mark.parametrize(
    ("data", "path", "code"),
    [
        (modal(), "components", "BASE_TYPE_BAD_LENGTH"),
        (modal(*(label(text_input(str(n))) for n in range(6))), "components", "BASE_TYPE_BAD_LENGTH"),
        (modal(label(text_input()), title="x" * 46), "title", "BASE_TYPE_BAD_LENGTH"),
        (modal(label(text_input()), custom_id=""), "custom_id", "BASE_TYPE_REQUIRED"),
        (modal(label(text_input()), label(text_input())), "components.1.component.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED"),
        (modal(label(text_input(), label="x" * 46)), "components.0.label", "BASE_TYPE_BAD_LENGTH"),
        (modal(label(text_input(), description="x" * 101)), "components.0.description", "BASE_TYPE_MAX_LENGTH"),
        (modal({"type": 18, "label": "L"}), "components.0.component", "BASE_TYPE_REQUIRED"),
        (modal(label(button())), "components.0.component.type", "BASE_TYPE_CHOICES"),
        (modal(row(button())), "components.0.components.0.type", "BASE_TYPE_CHOICES"),
        (modal(row(text_input())), "components.0.components.0.label", "BASE_TYPE_REQUIRED"),
        (modal(label(text_input(max_length=4001))), "components.0.component.max_length", "NUMBER_TYPE_MAX"),
        (modal(label(text_input(min_length=5, max_length=4))), "components.0.component.min_length", "TEXT_INPUT_MIN_LENGTH"),
        (modal(label(text_input(placeholder="x" * 101))), "components.0.component.placeholder", "BASE_TYPE_MAX_LENGTH"),
        (modal(label(text_input(value="xx", max_length=1))), "components.0.component.value", "BASE_TYPE_MAX_LENGTH"),
        (modal(label({"type": 21, "custom_id": "r", "options": OPTIONS[:1]})), "components.0.component.options", "BASE_TYPE_BAD_LENGTH"),
        (
            modal(label({"type": 22, "custom_id": "c", "options": OPTIONS, "max_values": 3})),
            "components.0.component.max_values",
            "SELECT_COMPONENT_MAX_VALUES",
        ),
        (modal(label({"type": 19, "custom_id": "f", "max_values": 11})), "components.0.component.max_values", "NUMBER_TYPE_MAX"),
    ],
)
def test_a_modal_out_of_bounds_is_refused(data: dict[str, Any], path: str, code: str) -> None:
    form = Form()
    check_modal(form, (), data)
    with pytest.raises(ApiError) as caught:
        form.raise_if_any()
    assert codes(caught.value).get(path) == code, codes(caught.value)


def test_components_are_numbered_from_one_around_given_ids() -> None:
    tree = [
        {"type": 17, "components": [{"type": 10, "content": "x", "id": 2}, {"type": 9, "components": [display()], "accessory": button()}]}
    ]
    assert [node["id"] for node in walk(numbered(tree))] == [1, 2, 3, 4, 5]


GROUP = {"type": 22, "id": 1, "custom_id": "c", "options": OPTIONS, "min_values": 1}


@pytest.mark.parametrize(
    ("component", "value"),
    [
        ({**text_input(), "id": 1}, ""),
        ({**text_input(min_length=3), "id": 1}, "ab"),
        ({**text_input(max_length=3), "id": 1}, "abcd"),
        ({**select(), "id": 1}, []),
        ({**select(), "id": 1}, ["v0", "v1"]),
        ({**select(max_values=2), "id": 1}, ["v0", "v0"]),
        ({**select(), "id": 1}, ["v9"]),
        ({"type": 21, "id": 1, "custom_id": "r", "options": OPTIONS}, None),
        ({"type": 21, "id": 1, "custom_id": "r", "options": OPTIONS}, "3"),
        (GROUP, []),
        ({"type": 23, "id": 1, "custom_id": "b"}, "yes"),
        ({"type": 19, "id": 1, "custom_id": "f", "min_values": 1}, []),
    ],
)
def test_a_modal_input_filled_in_wrongly_is_refused(component: dict[str, Any], value: object) -> None:
    with pytest.raises(Refused):
        filled(component, value)


@pytest.mark.parametrize(
    ("component", "value", "answer"),
    [
        ({**text_input(required=False), "id": 1}, None, {"value": ""}),
        ({**text_input(value="kept"), "id": 1}, None, {"value": "kept"}),
        ({**select(), "id": 1}, ["v1"], {"values": ["v1"]}),
        ({**select(required=False), "id": 1}, None, {"values": []}),
        ({"type": 21, "id": 1, "custom_id": "r", "options": OPTIONS}, "2", {"value": "2"}),
        ({"type": 21, "id": 1, "custom_id": "r", "options": OPTIONS, "required": False}, None, {"value": None}),
        (GROUP, ["1", "2"], {"values": ["1", "2"]}),
        ({"type": 23, "id": 1, "custom_id": "b", "default": True}, None, {"value": True}),
    ],
)
def test_a_modal_input_filled_in_well_is_sent(component: dict[str, Any], value: object, answer: dict[str, Any]) -> None:
    assert filled(component, value).items() >= answer.items()
