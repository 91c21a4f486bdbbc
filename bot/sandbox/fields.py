"""One request body under examination: single fields are checked in Discord's words, all faults are reported at once.

A `Form` collects; `raise_if_any` raises them as Discord's code 50035. Absent and null fields are the same, as on Discord.
It knows kinds and bounds of values, nothing of what a message or a command is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from bot.sandbox.limits import Range
from bot.sandbox.wire import ApiError, Json, as_list, as_object

Path = tuple[str | int, ...]


class Form:
    def __init__(self) -> None:
        self.errors: Json = {}

    def add(self, path: Path, code: str, message: str) -> None:
        node = self.errors
        for step in path:
            node = node.setdefault(str(step), {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def raise_if_any(self) -> None:
        if self.errors:
            raise ApiError(400, 50035, "Invalid Form Body", self.errors)

    def missing(self, path: Path) -> None:
        self.add(path, "BASE_TYPE_REQUIRED", "This field is required")

    def text(self, path: Path, value: Json, key: str, bounds: Range, *, required: bool = False, trim: bool = False) -> str | None:
        """The text under `key`; its length, after trimming where Discord trims, must lie within `bounds`."""
        found = value.get(key)
        where = (*path, key)
        if found is None:
            if required:
                self.missing(where)
            return None
        if not isinstance(found, str):
            self.add(where, "STRING_TYPE_CONVERT", f"Could not interpret {found!r} as string.")
            return None
        length = len(found.strip() if trim else found)
        least, most = bounds
        if not least <= length <= most:
            if length == 0 and required:
                self.missing(where)
            elif least == 0:
                self.add(where, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")
            else:
                self.add(where, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
        return found

    def integer(self, path: Path, value: Json, key: str, bounds: Range, *, default: int | None = None) -> int | None:
        found = value.get(key, default)
        where = (*path, key)
        if found is None:
            return default
        if not isinstance(found, int) or isinstance(found, bool):
            self.add(where, "NUMBER_TYPE_COERCE", f'Value "{found}" is not int.')
            return default
        least, most = bounds
        if found < least:
            self.add(where, "NUMBER_TYPE_MIN", f"int value should be greater than or equal to {least}.")
        elif found > most:
            self.add(where, "NUMBER_TYPE_MAX", f"int value should be less than or equal to {most}.")
        return found

    def boolean(self, path: Path, value: Json, key: str, *, default: bool = False) -> bool:
        found = value.get(key)
        if found is None:
            return default
        if not isinstance(found, bool):
            self.add((*path, key), "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")
            return default
        return found

    def one_of(self, path: Path, value: Any, allowed: Collection[Any]) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | str) or value not in allowed:
            self.add(path, "BASE_TYPE_CHOICES", f"Value must be one of {{{', '.join(map(str, allowed))}}}.")
            return False
        return True

    def objects(self, path: Path, value: Json, key: str, bounds: Range, *, required: bool = False) -> list[Json]:
        """The list of objects under `key`; entries that are no objects are reported and left out."""
        found = value.get(key)
        where = (*path, key)
        if found is None:
            if required:
                self.missing(where)
            return []
        entries = as_list(found)
        if entries is None:
            self.add(where, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
            return []
        least, most = bounds
        if not least <= len(entries) <= most:
            if least == 0:
                self.add(where, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")
            else:
                self.add(where, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
        objects: list[Json] = []
        for index, entry in enumerate(entries):
            candidate = as_object(entry)
            if candidate is None:
                self.add((*where, index), "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
            else:
                objects.append(candidate)
        return objects
