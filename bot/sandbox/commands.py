"""Application commands: what a synced one must look like, and how a person may fill one in.

Pure: a payload of the bulk overwrite goes in, an `ApiError` (50035) or the stored form comes out; a filled-in command
goes in, `Refused` or clean option objects come out. It does not know who has synced what.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.sandbox import limits
from bot.sandbox.fields import Form, Path
from bot.sandbox.wire import Json, Refused, as_list, as_object, as_objects

SLASH, USER_MENU, MESSAGE_MENU = 1, 2, 3
SUBCOMMAND, GROUP, STRING, INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, ATTACHMENT = range(1, 12)
WITH_CHOICES: Final = (STRING, INTEGER, NUMBER)
REFERENCES: Final = (USER, CHANNEL, ROLE, MENTIONABLE, ATTACHMENT)


def check_commands(payload: Sequence[Any]) -> None:
    """Check a whole scope as Discord does on a bulk overwrite; raises ApiError with every fault of every command."""
    form = Form()
    seen: set[tuple[int, str]] = set()
    counts = dict.fromkeys(limits.COMMANDS_PER_SCOPE, 0)
    for index, command in enumerate(payload):
        path: Path = (index,)
        entry = as_object(command)
        if entry is None:
            form.add(path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
            continue
        kind = entry.get("type", SLASH)
        if not form.one_of((*path, "type"), kind, limits.COMMANDS_PER_SCOPE):
            continue
        counts[kind] += 1
        _command(form, path, entry, kind)
        key = (kind, str(entry.get("name")))
        if key in seen:
            form.add((*path, "name"), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
        seen.add(key)
    for kind, count in counts.items():
        if count > limits.COMMANDS_PER_SCOPE[kind]:
            form.add((), "BASE_TYPE_MAX_LENGTH", f"Must be {limits.COMMANDS_PER_SCOPE[kind]} or fewer in length.")
    form.raise_if_any()


def stored(payload: Json, *, command_id: int, application_id: int, version: int, guild_id: int | None) -> Json:
    """The command object that Discord keeps and returns for a checked payload."""
    permissions = payload.get("default_member_permissions")
    command: Json = {
        "id": str(command_id),
        "application_id": str(application_id),
        "version": str(version),
        "type": payload.get("type", SLASH),
        "name": payload["name"],
        "name_localizations": payload.get("name_localizations"),
        "description": payload.get("description") or "",
        "description_localizations": payload.get("description_localizations"),
        "default_member_permissions": None if permissions is None else str(permissions),
        "dm_permission": payload.get("dm_permission", True),
        "contexts": payload.get("contexts"),
        "integration_types": payload.get("integration_types") or [0],
        "nsfw": payload.get("nsfw", False),
        "options": [_without_nulls(option) for option in as_objects(payload.get("options"))],
    }
    if guild_id is not None:
        command["guild_id"] = str(guild_id)
    return command


def _without_nulls(option: Json) -> Json:
    kept = {key: value for key, value in option.items() if value is not None}
    if "options" in kept:
        kept["options"] = [_without_nulls(child) for child in as_objects(kept["options"])]
    return kept


def name_fault(name: str) -> str | None:
    """Why Discord refuses this slash command or option name, or None."""
    least, most = limits.COMMAND_NAME_LEN
    if not least <= len(name) <= most:
        return f"Must be between {least} and {most} in length."
    for character in name:
        if unicodedata.category(character)[0] in "LN" or character in limits.COMMAND_NAME_EXTRA:
            continue
        if not unicodedata.name(character, "").startswith(limits.COMMAND_NAME_SCRIPTS):
            return f"Command name is invalid: {character!r} is neither letter nor number"
    if name != name.lower():
        return "Command name is invalid: it has upper-case letters"
    if name != unicodedata.normalize("NFC", name):
        return "Command name is invalid: it is not in Unicode form NFC"
    return None


def _name(form: Form, path: Path, entry: Json, *, slash: bool) -> None:
    name = form.text(path, entry, "name", (0, 10**6), required=True)
    named = [((*path, "name"), name)] if name is not None else []
    localised = _localisations(form, path, entry, "name_localizations")
    named += [((*path, "name_localizations", locale), text) for locale, text in localised.items()]
    for where, text in named:
        least, most = limits.COMMAND_NAME_LEN
        if slash:
            fault = name_fault(text)
            if fault is not None:
                form.add(where, "APPLICATION_COMMAND_INVALID_NAME", fault)
        elif not least <= len(text.strip()) <= most:
            form.add(where, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")


def _description(form: Form, path: Path, entry: Json) -> None:
    form.text(path, entry, "description", limits.COMMAND_DESCRIPTION_LEN, required=True)
    least, most = limits.COMMAND_DESCRIPTION_LEN
    for locale, text in _localisations(form, path, entry, "description_localizations").items():
        if not least <= len(text) <= most:
            form.add((*path, "description_localizations", locale), "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")


def _localisations(form: Form, path: Path, entry: Json, key: str) -> dict[str, str]:
    found = as_object(entry.get(key) or {})
    if found is None:
        form.add((*path, key), "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        return {}
    texts: dict[str, str] = {}
    for locale, text in found.items():
        if locale not in limits.LOCALES:
            form.add((*path, key, locale), "BASE_TYPE_CHOICES", f"{locale!r} is not a locale of Discord.")
        elif isinstance(text, str):
            texts[locale] = text
    return texts


def _command(form: Form, path: Path, entry: Json, kind: int) -> None:
    _name(form, path, entry, slash=kind == SLASH)
    if kind != SLASH:
        for key in ("description", "options"):
            if entry.get(key):
                form.add((*path, key), "APPLICATION_COMMAND_CONTEXT_MENU_FIELD", f"Context menu commands cannot have {key}")
        return
    _description(form, path, entry)
    for key in ("contexts", "integration_types"):
        numbers = as_list(entry.get(key))
        if numbers is None and entry.get(key) is not None:
            form.add((*path, key), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        for index, number in enumerate(numbers or []):
            form.one_of((*path, key, index), number, (0, 1, 2))
    permissions = entry.get("default_member_permissions")
    if permissions is not None and not str(permissions).isdigit():
        form.add((*path, "default_member_permissions"), "NUMBER_TYPE_COERCE", f'Value "{permissions}" is not int.')
    _options(form, path, entry, depth=0)
    characters = _characters(entry)
    if characters > limits.COMMAND_CHARACTERS_MAX:
        form.add(path, "APPLICATION_COMMAND_TOO_LARGE", f"Command exceeds maximum size ({limits.COMMAND_CHARACTERS_MAX}): {characters}")


def _options(form: Form, path: Path, entry: Json, *, depth: int) -> None:
    options = form.objects(path, entry, "options", (0, limits.COMMAND_OPTIONS_MAX))
    names: set[str] = set()
    optional_seen = False
    nested = [option.get("type") in (SUBCOMMAND, GROUP) for option in options]
    if any(nested) and not all(nested):
        form.add((*path, "options"), "APPLICATION_COMMAND_OPTIONS_MIXED", "Subcommands and other options cannot stand side by side")
    for index, option in enumerate(options):
        where = (*path, "options", index)
        kind = option.get("type")
        allowed = {0: range(1, 12), 1: (1, *range(3, 12)), 2: range(3, 12)}[depth]
        if not form.one_of((*where, "type"), kind, allowed):
            continue
        _name(form, where, option, slash=True)
        _description(form, where, option)
        name = option.get("name")
        if isinstance(name, str) and name in names:
            form.add((*where, "name"), "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists")
        names.add(str(name))
        if kind in (SUBCOMMAND, GROUP):
            _options(form, where, option, depth=1 if kind == GROUP else 2)
            continue
        if option.get("required"):
            if optional_seen:
                form.add(
                    where, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options"
                )
        else:
            optional_seen = True
        _option_values(form, where, option, kind)


def _option_values(form: Form, path: Path, option: Json, kind: Any) -> None:
    choices = form.objects(path, option, "choices", (0, limits.COMMAND_CHOICES_MAX))
    if choices and kind not in WITH_CHOICES:
        form.add((*path, "choices"), "APPLICATION_COMMAND_OPTIONS_TYPE_CHOICES_INVALID", "Only text and number options can have choices")
    if choices and option.get("autocomplete"):
        form.add(
            (*path, "autocomplete"), "APPLICATION_COMMAND_AUTOCOMPLETE_WITH_CHOICES", "Autocomplete and choices are mutually exclusive"
        )
    check_choices(form, (*path, "choices"), choices, kind)
    for key in ("min_length", "max_length"):
        form.integer(path, option, key, (0 if key == "min_length" else 1, limits.COMMAND_STRING_LENGTH_MAX))
    for key in ("min_value", "max_value"):
        value = option.get(key)
        number = isinstance(value, int | float) and abs(value) <= limits.COMMAND_INTEGER_ABS_MAX
        if value is not None and (kind not in (INTEGER, NUMBER) or not number):
            form.add((*path, key), "APPLICATION_COMMAND_OPTIONS_VALUE_INVALID", f"{value!r} is no bound for this option")


def check_choices(form: Form, path: Path, choices: Sequence[Json], kind: Any) -> None:
    """Check fixed or suggested choices of an option of this kind."""
    for index, choice in enumerate(choices):
        where = (*path, index)
        form.text(where, choice, "name", limits.CHOICE_NAME_LEN, required=True)
        for locale, text in _localisations(form, where, choice, "name_localizations").items():
            if not 1 <= len(text) <= limits.CHOICE_NAME_LEN[1]:
                form.add((*where, "name_localizations", locale), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
        value = choice.get("value")
        if kind == STRING:
            form.text(where, choice, "value", (0, limits.CHOICE_VALUE_MAX), required=True)
        elif isinstance(value, bool) or not isinstance(value, int if kind == INTEGER else int | float):
            form.add((*where, "value"), "NUMBER_TYPE_COERCE", f'Value "{value}" is not {"int" if kind == INTEGER else "a number"}.')


def _characters(entry: Json) -> int:
    def longest(part: Json, key: str) -> int:
        localised = as_object(part.get(f"{key}_localizations")) or {}
        return max(len(str(text)) for text in (part.get(key) or "", *localised.values()))

    total = longest(entry, "name") + longest(entry, "description")
    total += sum(longest(choice, "name") + len(str(choice.get("value", ""))) for choice in as_objects(entry.get("choices")))
    return total + sum(_characters(option) for option in as_objects(entry.get("options")))


@dataclass(frozen=True, slots=True)
class Filled:
    """A command as a person sends it: its full name, clean option objects, the ids they refer to by kind, and the focus."""

    name: str
    options: list[Json]
    references: tuple[tuple[int, str], ...]
    focused: Json | None  # the declared option that is being typed


def fill(command: Json, options: Sequence[Json], *, completing: bool) -> Filled:
    """Check what a person put into a command, as Discord's client does before sending; raises Refused.

    While `completing`, required options may be missing and exactly one option must be `focused`.
    """
    name = command["name"]
    declared: list[Json] = command["options"]
    path: list[Json] = []
    given = list(options)
    while any(option["type"] in (SUBCOMMAND, GROUP) for option in declared):
        if len(given) != 1:
            raise Refused(f"/{name} cannot be used without a subcommand: {', '.join(option['name'] for option in declared)}")
        step = given[0]
        found = next((option for option in declared if option["name"] == step.get("name")), None)
        if found is None:
            raise Refused(f"/{name} has no subcommand {step.get('name')!r}; there is {', '.join(option['name'] for option in declared)}")
        path.append(found)
        name = f"{name} {found['name']}"
        declared = found.get("options") or []
        given = as_objects(step.get("options"))
    by_name = {option["name"]: option for option in declared}
    clean: list[Json] = []
    references: list[tuple[int, str]] = []
    focused: Json | None = None
    for option in given:
        spec = by_name.pop(str(option.get("name")), None)
        if spec is None:
            raise Refused(f"/{name} has no option {option.get('name')!r} (or it is given twice); options: {[o['name'] for o in declared]}")
        if completing and option.get("focused"):
            if not spec.get("autocomplete"):
                raise Refused(f"/{name}: option {spec['name']!r} has no autocomplete")
            if focused is not None:
                raise Refused(f"/{name}: only one option can be focused")
            focused = spec
            clean.append({"name": spec["name"], "type": spec["type"], "value": option.get("value", ""), "focused": True})
            continue
        value = _value(name, spec, option.get("value"))
        clean.append({"name": spec["name"], "type": spec["type"], "value": value})
        if spec["type"] in REFERENCES:
            references.append((spec["type"], value))
    if completing and focused is None:
        raise Refused(f"/{name}: no option is focused")
    absent = [spec["name"] for spec in by_name.values() if spec.get("required")]
    if absent and not completing:
        raise Refused(f"/{name} needs {', '.join(absent)}")
    for step in reversed(path):
        clean = [{"name": step["name"], "type": step["type"], "options": clean}]
    return Filled(name, clean, tuple(references), focused)


def _value(name: str, spec: Json, value: Any) -> Any:
    where = f"/{name}: option {spec['name']!r}"
    kind = spec["type"]
    wanted = {STRING: str, INTEGER: int, BOOLEAN: bool, NUMBER: int | float}.get(kind, str)
    choices = spec.get("choices")
    if choices:
        match = next((choice["value"] for choice in choices if value in (choice["value"], choice["name"])), None)
        if match is None:
            raise Refused(f"{where} offers {', '.join(choice['name'] for choice in choices)}, not {value!r}")
        return match
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != BOOLEAN):
        raise Refused(f"{where} does not take {value!r}")
    if isinstance(value, str) and kind == STRING:
        least, most = spec.get("min_length", 0), spec.get("max_length", limits.COMMAND_STRING_LENGTH_MAX)
        if not least <= len(value) <= most or (spec.get("required") and not value):
            raise Refused(f"{where} takes {least} to {most} characters, not {len(value)}")
    elif kind in (INTEGER, NUMBER):
        least, most = spec.get("min_value", -limits.COMMAND_INTEGER_ABS_MAX), spec.get("max_value", limits.COMMAND_INTEGER_ABS_MAX)
        if not least <= value <= most:
            raise Refused(f"{where} takes {least} to {most}, not {value!r}")
    return value
