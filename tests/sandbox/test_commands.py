"""Which commands Discord lets a bot sync, and what its client lets a person put into them."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from bot.sandbox.catalogue import Catalogue, usable
from bot.sandbox.commands import check_commands, fill, name_fault, stored
from bot.sandbox.model import DM, Channel, Member
from bot.sandbox.wire import ApiError, Refused, Snowflakes
from tests.sandbox.test_validate import codes


def command(name: str = "quiz", **more: Any) -> dict[str, Any]:
    return {"type": 1, "name": name, "description": "d", **more}


def option(name: str = "o", kind: int = 3, **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "description": "d", **more}


def synced(payload: dict[str, Any]) -> dict[str, Any]:
    check_commands([payload])
    return stored(payload, command_id=1, application_id=2, version=1, guild_id=None)


@pytest.mark.parametrize("name", ["quiz", "κουίζ", "викторина", "퀴즈", "测验", "quiz-2_b'", "हिन्दी", "ไทย", "a" * 32])
def test_a_name_in_letters_of_any_script_is_accepted(name: str) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize(
    "name",
    ["", "a" * 33, "Quiz", "qu iz", "quiz!", "Κουίζ", unicodedata.normalize("NFD", "κουίζ"), unicodedata.normalize("NFD", "퀴즈"), "🎲"],
)
def test_a_name_that_discord_refuses_is_refused(name: str) -> None:
    assert name_fault(name) is not None


@pytest.mark.parametrize(
    ("payload", "path", "code"),
    [
        (command("Quiz"), "0.name", "APPLICATION_COMMAND_INVALID_NAME"),
        (command(name_localizations={"el": "Κουίζ"}), "0.name_localizations.el", "APPLICATION_COMMAND_INVALID_NAME"),
        (command(name_localizations={"gr": "κουίζ"}), "0.name_localizations.gr", "BASE_TYPE_CHOICES"),
        (command(description=""), "0.description", "BASE_TYPE_REQUIRED"),
        (command(description="x" * 101), "0.description", "BASE_TYPE_BAD_LENGTH"),
        (command(description_localizations={"ko": "x" * 101}), "0.description_localizations.ko", "BASE_TYPE_BAD_LENGTH"),
        (command(options=[option(f"o{n}") for n in range(26)]), "0.options", "BASE_TYPE_MAX_LENGTH"),
        (command(options=[option(), option()]), "0.options.1.name", "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS"),
        (command(options=[option("a"), option("b", required=True)]), "0.options.1", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID"),
        (command(options=[option("a", 1), option("b", 3)]), "0.options", "APPLICATION_COMMAND_OPTIONS_MIXED"),
        (command(options=[option("a", 2, options=[option("b", 2)])]), "0.options.0.options.0.type", "BASE_TYPE_CHOICES"),
        (command(options=[option("a", 1, options=[option("b", 1)])]), "0.options.0.options.0.type", "BASE_TYPE_CHOICES"),
        (command(options=[option("a", 12)]), "0.options.0.type", "BASE_TYPE_CHOICES"),
        (command(options=[option(choices=[{"name": "n", "value": "v"}] * 26)]), "0.options.0.choices", "BASE_TYPE_MAX_LENGTH"),
        (command(options=[option(choices=[{"name": "x" * 101, "value": "v"}])]), "0.options.0.choices.0.name", "BASE_TYPE_BAD_LENGTH"),
        (command(options=[option(choices=[{"name": "n", "value": "x" * 101}])]), "0.options.0.choices.0.value", "BASE_TYPE_MAX_LENGTH"),
        (command(options=[option(kind=4, choices=[{"name": "n", "value": "v"}])]), "0.options.0.choices.0.value", "NUMBER_TYPE_COERCE"),
        (
            command(options=[option(choices=[{"name": "n", "value": "v"}], autocomplete=True)]),
            "0.options.0.autocomplete",
            "APPLICATION_COMMAND_AUTOCOMPLETE_WITH_CHOICES",
        ),
        (command(options=[option(max_length=6001)]), "0.options.0.max_length", "NUMBER_TYPE_MAX"),
        (command(type=3, name="Quote", description="d"), "0.description", "APPLICATION_COMMAND_CONTEXT_MENU_FIELD"),
        (command(type=9), "0.type", "BASE_TYPE_CHOICES"),
        (command(contexts=[3]), "0.contexts.0", "BASE_TYPE_CHOICES"),
        (command(contexts=0), "0.contexts", "LIST_TYPE_CONVERT"),
        (command(options=[option(kind=4, min_value="1")]), "0.options.0.min_value", "APPLICATION_COMMAND_OPTIONS_VALUE_INVALID"),
        (command(options=[option(kind=3, max_value=1)]), "0.options.0.max_value", "APPLICATION_COMMAND_OPTIONS_VALUE_INVALID"),
    ],
)
def test_a_command_out_of_bounds_is_refused_on_sync(payload: dict[str, Any], path: str, code: str) -> None:
    with pytest.raises(ApiError) as caught:
        check_commands([payload])
    assert codes(caught.value).get(path) == code, codes(caught.value)


def test_the_longest_localisation_counts_towards_8000_characters() -> None:
    choices = [{"name": "x" * 100, "value": "v" * 60} for _ in range(25)]
    fits = command(options=[option("a", choices=choices), option("b", choices=choices[:24])])
    check_commands([fits])
    with pytest.raises(ApiError) as caught:
        check_commands(
            [{**fits, "description_localizations": {"ko": "x" * 100}, "options": [*fits["options"], option("c", choices=choices[:2])]}]
        )
    assert codes(caught.value) == {"0": "APPLICATION_COMMAND_TOO_LARGE"}


def test_a_scope_holds_100_slash_commands_of_different_names() -> None:
    with pytest.raises(ApiError) as many:
        check_commands([command(f"c{n}") for n in range(101)])
    with pytest.raises(ApiError) as twice:
        check_commands([command(), command()])
    assert codes(many.value) == {"": "BASE_TYPE_MAX_LENGTH"}
    assert codes(twice.value) == {"1.name": "APPLICATION_COMMANDS_DUPLICATE_NAME"}


def test_a_command_keeps_its_id_and_changes_its_version_when_it_changes() -> None:
    catalogue = Catalogue(7, Snowflakes().next)
    (first,) = catalogue.overwrite(None, [command()], 1e9)
    (same,) = catalogue.overwrite(None, [command()], 2e9)
    (other,) = catalogue.overwrite(None, [command(description="new")], 3e9)
    assert (same["id"], same["version"]) == (first["id"], first["version"])
    assert other["id"] == first["id"]
    assert other["version"] != first["version"]


def test_only_new_names_count_towards_200_creates_a_day() -> None:
    catalogue = Catalogue(7, Snowflakes().next)
    first, second, third = ([command(f"{letter}{n}") for n in range(100)] for letter in "abc")
    catalogue.overwrite(None, first, 1e9)
    catalogue.overwrite(None, first, 1e9)
    catalogue.overwrite(None, second, 1e9)
    with pytest.raises(ApiError) as caught:
        catalogue.overwrite(None, third, 1e9)
    assert caught.value.code == 30034
    assert catalogue.scopes[None][0]["name"] == "b0"
    catalogue.overwrite(None, third, 1e9 + 86_401)


QUIZ = command(
    options=[
        option(
            "play",
            1,
            options=[
                option("quiz", required=True, autocomplete=True),
                option("questions", 4, min_value=1, max_value=50),
                option("mode", choices=[{"name": "Fast", "value": "f"}, {"name": "Slow", "value": "s"}]),
                option("note", min_length=2, max_length=4),
            ],
        )
    ]
)


def given(**values: Any) -> list[dict[str, Any]]:
    return [{"name": "play", "type": 1, "options": [{"name": name, "value": value} for name, value in values.items()]}]


def test_a_filled_in_command_carries_declared_types_and_choice_values() -> None:
    done = fill(synced(QUIZ), given(quiz="dns", questions=5, mode="Fast"), completing=False)
    assert done.name == "quiz play"
    assert done.options == [
        {
            "name": "play",
            "type": 1,
            "options": [
                {"name": "quiz", "type": 3, "value": "dns"},
                {"name": "questions", "type": 4, "value": 5},
                {"name": "mode", "type": 3, "value": "f"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ([], "without a subcommand"),
        ([{"name": "stop", "type": 1}], "no subcommand"),
        (given(), "needs quiz"),
        (given(quiz=""), "characters"),
        (given(quiz=3), "does not take"),
        (given(quiz="dns", questions=0), "1 to 50"),
        (given(quiz="dns", questions="5"), "does not take"),
        (given(quiz="dns", questions=True), "does not take"),
        (given(quiz="dns", mode="Medium"), "Fast, Slow"),
        (given(quiz="dns", note="x"), "2 to 4"),
        (given(quiz="dns", speed=1), "no option"),
    ],
)
def test_a_command_filled_in_wrongly_is_refused(options: list[Any], part: str) -> None:
    with pytest.raises(Refused, match=part):
        fill(synced(QUIZ), options, completing=False)


def test_completing_needs_one_focused_option_that_has_autocomplete() -> None:
    options = given(quiz="d")
    with pytest.raises(Refused, match="no option is focused"):
        fill(synced(QUIZ), options, completing=True)
    options[0]["options"][0]["focused"] = True
    assert fill(synced(QUIZ), options, completing=True).focused == QUIZ["options"][0]["options"][0]
    options[0]["options"] = [{"name": "note", "value": "x", "focused": True}]
    with pytest.raises(Refused, match="no autocomplete"):
        fill(synced(QUIZ), options, completing=True)


def test_default_permissions_and_contexts_decide_who_is_offered_a_command() -> None:
    ada, sam = Member(1, "Ada", role="instructor"), Member(2, "Sam")
    room, dm = Channel(3, "room"), Channel(4, "Sam", DM, recipient=sam)
    managed = synced(command(default_member_permissions=1 << 5))
    assert (usable(managed, ada, room), usable(managed, sam, room)) == (True, False)
    admins = synced(command(default_member_permissions=0))
    assert not usable(admins, ada, room)
    guild_only = synced(command(contexts=[0]))
    assert (usable(guild_only, sam, room), usable(guild_only, sam, dm)) == (True, False)
