"""An Anki package (.apkg, .colpkg) as plain notes: which collection to take, what its tables say, where its media lie.

The newest collection in the package is taken; in packages for current Anki the old `collection.anki2` holds one note that asks
to update, and nothing else. SQLite gets a copy in memory, may only read tables, and is stopped after SQL_STEPS. Learning
history is never looked at.

Errors: `ContentError`.
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

import zstandard

from content.model import ContentError
from content.readers.intake import Archive, load_json

COLLECTIONS: Final = ("collection.anki21b", "collection.anki21", "collection.anki2")  # the newest first
MAX_COLLECTION_BYTES: Final = 48 * 1024 * 1024
"""Unpacked, without media; a deck of 20,000 notes has about 10 MB."""
MAX_NOTES: Final = 30_000
MAX_NOTE_CHARACTERS: Final = 200_000
MAX_WINDOW_BYTES: Final = 64 * 1024 * 1024  # of zstd; Anki writes with 8 MB
MAX_VALUE_BYTES: Final = 8 * 1024 * 1024  # of one value in a row
SQL_STEPS: Final = 200_000_000  # instructions of SQLite's machine; 30,000 notes take about 2 million

_DECOY: Final = "Please update to the latest Anki version"
_MAGIC: Final = b"SQLite format 3\x00"
_TABLES: Final = frozenset({"notes", "cards", "col", "notetypes", "fields", "templates", "decks"})
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})


@dataclass(frozen=True, slots=True)
class Template:
    name: str
    question: str  # HTML with {{Field}}
    answer: str


@dataclass(frozen=True, slots=True)
class NoteType:
    name: str
    fields: tuple[str, ...]
    templates: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class Note:
    guid: str
    type: NoteType
    tags: tuple[str, ...]
    values: tuple[str, ...]  # HTML, one for each field of its type
    deck: str
    cards: frozenset[int]  # positions of the templates that made a card


@dataclass(slots=True)
class Collection:
    notes: list[Note]
    cut: bool = False  # there were more than MAX_NOTES
    _archive: Archive | None = None
    _media: dict[str, str] = field(default_factory=dict[str, str])  # file name -> member
    _packed: bool = False

    def media(self, name: str) -> bytes | None:
        """The bytes of a picture that a note names, or None when the package does not hold it."""
        member = self._media.get(name)
        if self._archive is None or member is None or member not in self._archive:
            return None
        data = self._archive.read(member)
        return unpacked(data, name) if self._packed else data


def collection_of(data: bytes, where: str) -> Collection:
    """Raises ContentError for a package without a readable collection, or with nothing but the request to update Anki."""
    archive = Archive(data, where)
    member = next((name for name in COLLECTIONS if name in archive), None)
    if member is None:
        raise ContentError(f"{where}: no Anki collection in it. Export the deck as .apkg again.")
    raw = archive.read(member)
    packed = member.endswith("b")
    if packed:
        raw = unpacked(raw, f"{where}: {member}")
    if len(raw) > MAX_COLLECTION_BYTES:
        raise ContentError(f"{where}: the collection has {len(raw):,} bytes, above {MAX_COLLECTION_BYTES:,}. Export single decks.")
    if not raw.startswith(_MAGIC) or len(raw) < 512:
        raise ContentError(f"{where}: {member} is no SQLite file. Export the deck again.")
    # a database in write-ahead mode cannot be opened in memory; bytes 18 and 19 say which mode it is in
    raw = raw[:18] + b"\x01\x01" + raw[20:]
    connection = sqlite3.connect(":memory:")
    try:
        found = _read(connection, raw, where)
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError, UnicodeError) as error:
        raise ContentError(f"{where}: {member} cannot be read ({error}). Export the deck again.") from error
    finally:
        connection.close()
    if len(found.notes) == 1 and _DECOY in found.notes[0].values[0]:
        raise ContentError(f"{where}: only the note that asks to update Anki is in it. Export with 'Support older Anki versions' on.")
    found._archive, found._packed = archive, packed  # pyright: ignore[reportPrivateUsage]  # same module
    found._media = _media_list(archive, packed, where)  # pyright: ignore[reportPrivateUsage]  # same module
    return found


def unpacked(data: bytes, where: str) -> bytes:
    """A zstd frame, of at most MAX_COLLECTION_BYTES."""
    try:
        decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
        with decompressor.stream_reader(io.BytesIO(data)) as stream:
            result = stream.read(MAX_COLLECTION_BYTES + 1)
    except zstandard.ZstdError as error:
        raise ContentError(f"{where}: not readable as zstd ({error}). Export the deck again.") from error
    if len(result) > MAX_COLLECTION_BYTES:
        raise ContentError(f"{where}: unpacks to more than {MAX_COLLECTION_BYTES:,} bytes. Export single decks.")
    return result


def _read(connection: sqlite3.Connection, raw: bytes, where: str) -> Collection:
    connection.text_factory = _text
    connection.create_collation("unicase", lambda a, b: (a.casefold() > b.casefold()) - (a.casefold() < b.casefold()))
    connection.deserialize(raw)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    left = [SQL_STEPS // 10_000]

    def spend() -> int:
        left[0] -= 1
        return int(left[0] < 0)

    connection.set_progress_handler(spend, 10_000)
    tables = _plain_tables(connection)
    connection.set_authorizer(_authorized)
    if "notes" not in tables or not ({"notetypes", "fields"} <= tables or "col" in tables):
        raise ContentError(f"{where}: the collection has no notes table. Export the deck again.")
    modern = {"notetypes", "fields", "templates"} <= tables
    types = _modern_types(connection) if modern else _old_types(connection, where)
    decks = _decks(connection, where, modern="decks" in tables)
    cards: dict[int, tuple[str, set[int]]] = {}
    if "cards" in tables:
        for note_id, deck_id, position in connection.execute("SELECT nid, did, ord FROM cards LIMIT 200000"):
            entry = cards.setdefault(note_id, (decks.get(str(deck_id), ""), set()))
            if isinstance(position, int):
                entry[1].add(position)
    notes: list[Note] = []
    rows = connection.execute("SELECT id, guid, mid, tags, flds FROM notes ORDER BY id LIMIT ?", (MAX_NOTES + 1,))
    for note_id, guid, type_id, tags, values in rows:
        parts = tuple(str(values or "")[: MAX_NOTE_CHARACTERS + 1].split("\x1f"))
        kind = types.get(str(type_id)) or NoteType("", tuple(f"Field {i}" for i in range(1, len(parts) + 1)), ())
        deck, positions = cards.get(note_id, ("", set[int]()))
        notes.append(Note(str(guid or ""), kind, tuple(str(tags or "").split()), parts, deck, frozenset(positions)))
    return Collection(notes[:MAX_NOTES], cut=len(notes) > MAX_NOTES)


def _plain_tables(connection: sqlite3.Connection) -> set[str]:
    """Views, virtual tables and computed columns under the name of a table would run expressions of their own."""
    found: set[str] = set()
    for name, kind, sql in connection.execute("SELECT name, type, sql FROM sqlite_master LIMIT 1000").fetchall():
        if kind != "table" or name not in _TABLES or not str(sql).lstrip()[:20].upper().startswith("CREATE TABLE"):
            continue
        hidden = [column[6] for column in connection.execute(f"PRAGMA table_xinfo({name})")]  # a name from _TABLES
        if not any(hidden):
            found.add(name)
    return found


def _text(found: bytes) -> str:
    return found.decode("utf-8", "replace")


def _authorized(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _old_types(connection: sqlite3.Connection, where: str) -> dict[str, NoteType]:
    row = connection.execute("SELECT models FROM col LIMIT 1").fetchone()
    models: object = load_json(str(row[0]), f"{where}: note types") if row and row[0] else None
    found: dict[str, NoteType] = {}
    for key, model in _mapping(models).items():
        model = _mapping(model)
        fields = tuple(str(_mapping(entry).get("name", "")) for entry in _list(model.get("flds")))
        templates = tuple(
            Template(str(_mapping(entry).get("name", "")), str(_mapping(entry).get("qfmt", "")), str(_mapping(entry).get("afmt", "")))
            for entry in _list(model.get("tmpls"))
        )
        found[key] = NoteType(str(model.get("name", "")), fields, templates)
    return found


def _modern_types(connection: sqlite3.Connection) -> dict[str, NoteType]:
    fields: dict[str, list[str]] = {}
    for type_id, name in connection.execute("SELECT ntid, name FROM fields ORDER BY ntid, ord LIMIT 100000"):
        fields.setdefault(str(type_id), []).append(str(name))
    templates: dict[str, list[Template]] = {}
    for type_id, name, config in connection.execute("SELECT ntid, name, config FROM templates ORDER BY ntid, ord LIMIT 100000"):
        texts = {number: value for number, value in _protobuf(config) if isinstance(value, bytes)}
        sides = [texts.get(number, b"").decode("utf-8", "replace") for number in (1, 2)]
        templates.setdefault(str(type_id), []).append(Template(str(name), *sides))
    return {
        str(type_id): NoteType(str(name), tuple(fields.get(str(type_id), ())), tuple(templates.get(str(type_id), ())))
        for type_id, name in connection.execute("SELECT id, name FROM notetypes LIMIT 10000")
    }


def _decks(connection: sqlite3.Connection, where: str, *, modern: bool) -> dict[str, str]:
    if modern:
        return {str(key): str(name).replace("\x1f", "::") for key, name in connection.execute("SELECT id, name FROM decks LIMIT 10000")}
    row = connection.execute("SELECT decks FROM col LIMIT 1").fetchone()
    decks: object = load_json(str(row[0]), f"{where}: decks") if row and row[0] else None
    return {key: str(_mapping(deck).get("name", "")) for key, deck in _mapping(decks).items()}


def _media_list(archive: Archive, packed: bool, where: str) -> dict[str, str]:
    if "media" not in archive:
        return {}
    raw = archive.read("media")
    if not packed:
        try:
            listed = _mapping(json.loads(raw or b"{}"))
        except (ValueError, RecursionError):
            return {}  # only pictures depend on it, and each missing one is reported
        return {str(name): member for member, name in listed.items()}
    entries = [value for number, value in _protobuf(unpacked(raw, f"{where}: media")) if number == 1 and isinstance(value, bytes)]
    found: dict[str, str] = {}
    for position, entry in enumerate(entries):
        name = next((value for number, value in _protobuf(entry) if number == 1 and isinstance(value, bytes)), b"")
        found[name.decode("utf-8", "replace")] = str(position)
    return found


def _protobuf(data: object) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of a protobuf message; stops at the first byte that is none."""
    if not isinstance(data, bytes):
        return
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if at < 0 or key == 0:
            return
        match key & 7:
            case 0:
                value, at = _varint(data, at)
                if at < 0:
                    return
                yield key >> 3, value
            case 2:
                size, at = _varint(data, at)
                if at < 0 or at + size > len(data):
                    return
                yield key >> 3, data[at : at + size]
                at += size
            case 1 | 5:
                at += 8 if key & 7 == 1 else 4
            case _:
                return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(value, where it ends); the end is -1 when the data ends first or it is longer than 64 bits."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            return 0, -1
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return 0, -1


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []
