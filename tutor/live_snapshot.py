"""The questions of a live round as JSON and back, so that a round never depends on the quiz file again.

A file may be edited, renamed or removed while a round runs or before its results are exported; a restarted round asks what
it asked before. Files, media and fields of foreign formats are left out: a round shows none of them. A field that a later
version adds takes its default, one that it drops is passed over.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, cast

from content import model
from content.model import Question, Quiz
from tutor.errors import StoreError

_LEFT_OUT: Final = frozenset({"path", "source", "extra", "media", "line", "select"})
_KINDS: Final[Mapping[str, type[Any]]] = {
    kind.__name__: kind
    for kind in (
        model.Accept,
        model.Blank,
        model.Choice,
        model.Choices,
        model.GuideRef,
        model.Info,
        model.Item,
        model.Match,
        model.Order,
        model.Pair,
        model.Question,
        model.Quiz,
        model.Short,
        model.Text,
        model.TrueFalse,
    )
}
_ENUMS: Final[Mapping[str, type[Enum]]] = {"Scoring": model.Scoring, "Level": model.Level}


def snapshot(quiz: Quiz, questions: tuple[Question, ...]) -> dict[str, Any]:
    """The quiz with just these questions, in this order."""
    return cast("dict[str, Any]", _packed(dataclasses.replace(quiz, questions=questions)))


def restored(data: Mapping[str, Any]) -> Quiz:
    """Raises StoreError when the snapshot cannot be read."""
    try:
        made = _unpacked(data)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"the questions of a stored round cannot be read: {error!r}. Report it; the presses are still there.") from error
    assert isinstance(made, Quiz), "a snapshot is packed from a quiz"
    return made


def _packed(value: object) -> object:
    if isinstance(value, Enum):
        return {"$enum": type(value).__name__, "value": value.value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields: dict[str, object] = {"$": type(value).__name__}
        for field in dataclasses.fields(value):
            held: object = getattr(value, field.name)
            if field.name not in _LEFT_OUT and not _is_default(field, held):
                fields[field.name] = _packed(held)
        return fields
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {"$map": [[key, _packed(held)] for key, held in items]}
    if isinstance(value, tuple):
        return [_packed(held) for held in cast("tuple[object, ...]", value)]
    return value


def _is_default(field: dataclasses.Field[Any], value: object) -> bool:
    return field.default is not dataclasses.MISSING and field.default == value


def _unpacked(value: object) -> Any:
    if isinstance(value, list):
        return tuple(_unpacked(held) for held in cast("list[object]", value))
    if not isinstance(value, Mapping):
        return value
    data = cast("Mapping[str, Any]", value)
    if "$enum" in data:
        return _ENUMS[data["$enum"]](data["value"])
    if "$map" in data:
        return {key: _unpacked(held) for key, held in data["$map"]}
    kind = _KINDS[data["$"]]
    known = {field.name for field in dataclasses.fields(kind)}
    fields: dict[str, Any] = {name: _unpacked(held) for name, held in data.items() if name in known}
    return kind(**fields)
