"""Anki packages: basic, reversed and cloze notes, media of old and new packages, and what is refused.

Packages are built here with SQLite and zstd as Anki lays them out; real ones are in test_samples.py.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence

import pytest
import zstandard

from content.model import ContentError, Open, Short
from content.readers.anki import AnkiReader
from content.readers.base import Import

CARD = {"name": "Card 1", "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr>{{Back}}"}
BACK = {"name": "Card 2", "qfmt": "{{Back}}", "afmt": "{{FrontSide}}<hr>{{Front}}"}
GAPS = {"name": "Cloze", "qfmt": "{{cloze:Text}}", "afmt": "{{cloze:Text}}<br>{{Back Extra}}"}
SIDES = [{"name": "Front"}, {"name": "Back"}]
BASIC = {"name": "Basic", "flds": SIDES, "tmpls": [CARD]}
REVERSED = {"name": "Basic (and reversed card)", "flds": SIDES, "tmpls": [CARD, BACK]}
CLOZE = {"name": "Cloze", "flds": [{"name": "Text"}, {"name": "Back Extra"}], "tmpls": [GAPS]}
OCCLUSION = {"name": "Image Occlusion", "flds": [{"name": "Occlusion"}, {"name": "Image"}], "tmpls": []}
MODELS = {"1": BASIC, "2": REVERSED, "3": CLOZE, "4": OCCLUSION}


def collection(notes: Sequence[tuple[str, int, str, Sequence[str]]], extra: str = "", decks: Mapping[str, str] | None = None) -> bytes:
    """An old collection: (guid, note type, tags, fields) each; every note has a card of each template in deck 10."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE col (id integer primary key, models text, decks text);"
        "CREATE TABLE notes (id integer primary key, guid text, mid integer, tags text, flds text);"
        "CREATE TABLE cards (id integer primary key, nid integer, did integer, ord integer);"
    )
    named = {key: {"name": name} for key, name in (decks or {"10": "Networks"}).items()}
    connection.execute("INSERT INTO col VALUES (1, ?, ?)", (json.dumps(MODELS), json.dumps(named)))
    for number, (guid, kind, tags, fields) in enumerate(notes, 1):
        connection.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?)", (number, guid, kind, tags, "\x1f".join(fields)))
        for position in range(len(MODELS[str(kind)]["tmpls"])):
            deck = int(list(named)[(number - 1) % len(named)])
            connection.execute("INSERT INTO cards (nid, did, ord) VALUES (?, ?, ?)", (number, deck, position))
    connection.executescript(extra)
    connection.commit()
    data = connection.serialize()
    connection.close()
    return data


def package(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return out.getvalue()


def read(*notes: tuple[str, int, str, Sequence[str]], media: Mapping[str, bytes] | None = None) -> Import:
    files = media or {}
    listed = {str(i): name for i, name in enumerate(files)}
    members = {"collection.anki2": collection(notes), "media": json.dumps(listed).encode()}
    members |= {str(i): data for i, data in enumerate(files.values())}
    return AnkiReader().read(package(members), "deck.apkg")


def test_a_short_back_is_typed_and_a_long_one_is_open() -> None:
    result = read(("g-1", 1, " tcp leech ", ["Port of <b>HTTPS</b>?", "443"]), ("g-2", 1, "", ["Why?", "Because " + "of it " * 20]))
    first, second = result.questions
    assert (first.id, first.stem[""], first.tags) == ("g-1", "Port of **HTTPS**?", ("tcp",))
    assert isinstance(first.body, Short)
    assert first.body.accept[0].text == "443"
    assert isinstance(second.body, Open)
    assert result.quiz is not None
    assert result.quiz.title[""] == "Networks"


def test_a_reversed_card_asks_the_other_way_round() -> None:
    result = read(("g1", 2, "", ["SYN", "opens"]))
    assert [(q.id, q.stem[""]) for q in result.questions] == [("g1", "SYN"), ("g1-reversed", "opens")]
    assert isinstance(result.questions[1].body, Short)
    assert result.questions[1].body.accept[0].text == "SYN"


def test_a_cloze_note_becomes_blanks_with_its_hints_and_extra() -> None:
    result = read(("g1", 3, "", ["{{c1::SYN::a flag}} comes before {{c2::<i>ACK</i>}}.", "RFC 793"]))
    (found,) = result.questions
    assert found.stem[""] == "{{b1}} comes before {{b2}}."
    assert isinstance(found.body, Short)
    assert [blank.accept[0].text for blank in found.body.blanks] == ["SYN", "ACK"]
    assert [hint[""] for hint in found.hints] == ["1: a flag"]
    assert found.explanation is not None
    assert found.explanation[""] == "RFC 793"


def test_formulas_are_kept_and_never_have_to_be_typed() -> None:
    result = read(("g1", 1, "", ["Area of a circle [$]r[/$]?", r"\(\pi r^2\)"]))
    assert result.questions[0].stem[""] == "Area of a circle $r$?"
    body = result.questions[0].body
    assert isinstance(body, Open)
    assert body.reference is not None
    assert body.reference[""] == r"$\pi r^2$"


def test_pictures_come_along_and_sounds_are_left_out_with_a_word() -> None:
    result = read(
        ("g1", 1, "", ['<img src="a%20b.png">What is it?', "A map"]),
        ("g2", 1, "", ['[sound:x.mp3]Hear? <img src="gone.png">', "yes"]),
        media={"a b.png": b"\x89PNG"},
    )
    first = result.questions[0].media[0]
    assert (first.file, result.files[first.file or ""]) == ("a-b.png", b"\x89PNG")
    assert [(p.question, p.code) for p in result.problems] == [("note 2", "MEDIA"), ("note 2", "ANKI-SOUND")]
    assert "sound" not in result.questions[1].stem[""]


def test_what_cannot_become_a_question_is_reported() -> None:
    result = read(("a", 4, "", ["x", "y"]), ("b", 1, "", ["Front only", ""]), ("c", 1, "", ["", ""]), ("d", 1, "", ["Fine?", "yes"]))
    assert (result.read, result.imported) == (4, 1)
    assert [p.code for p in result.problems] == ["ANKI-OCCLUSION", "CARD-BACK", "CARD-FRONT"]


def test_several_decks_become_tags() -> None:
    data = collection([("a", 1, "", ["A?", "a"]), ("b", 1, "", ["B?", "b"])], decks={"1": "Net::TCP", "2": "Net::UDP"})
    result = AnkiReader().read(package({"collection.anki21": data}), "deck.apkg")
    assert [found.tags for found in result.questions] == [("Net::TCP",), ("Net::UDP",)]


def test_the_newest_collection_wins_over_the_decoy() -> None:
    decoy = collection([("x", 1, "", ["Please update to the latest Anki version, then import the .apkg file again.", ""])])
    real = zstandard.ZstdCompressor().compress(collection([("a", 1, "", ["Real?", "yes"])]))
    media_entry = b"\x0a\x05m.png\x10\x03"
    media = zstandard.ZstdCompressor().compress(b"\x0a" + bytes([len(media_entry)]) + media_entry)
    result = AnkiReader().read(package({"collection.anki2": decoy, "collection.anki21b": real, "media": media}), "deck.apkg")
    assert [found.stem[""] for found in result.questions] == ["Real?"]
    with pytest.raises(ContentError, match="asks to update"):
        AnkiReader().read(package({"collection.anki2": decoy}), "deck.apkg")
    with pytest.raises(ContentError, match="zstd"):
        AnkiReader().read(package({"collection.anki2": decoy, "collection.anki21b": b"broken"}), "deck.apkg")


def test_media_of_a_current_package_are_unpacked() -> None:
    pack = zstandard.ZstdCompressor().compress
    entry = b"\x0a\x05m.png\x10\x03"
    members = {
        "collection.anki21b": pack(collection([("a", 1, "", ['<img src="m.png"> Which?', "this"])])),
        "media": pack(b"\x0a" + bytes([len(entry)]) + entry),
        "0": pack(b"PNG"),
    }
    assert AnkiReader().read(package(members), "deck.apkg").files == {"m.png": b"PNG"}


def test_a_view_posing_as_a_table_is_never_run() -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x id, 'g' guid, 1 mid, '' tags, 'a' flds FROM c"
    data = collection([], f"DROP TABLE notes; CREATE VIEW notes AS {endless};")
    with pytest.raises(ContentError, match="no notes table"):
        AnkiReader().read(package({"collection.anki2": data}), "deck.apkg")


def test_computed_columns_and_huge_values_are_never_looked_at() -> None:
    computed = "DROP TABLE cards; CREATE TABLE cards (nid integer, did integer, ord integer AS (length(hex(zeroblob(300000000)))));"
    data = collection([("a", 1, "", ["Q?", "a"])], computed + "INSERT INTO cards (nid, did) VALUES (1, 10);")
    result = AnkiReader().read(package({"collection.anki2": data}), "deck.apkg")
    assert (result.imported, result.quiz and result.quiz.title[""]) == (1, "deck"), "the cards, and so the deck, are unknown"
    notes = "DROP TABLE notes; CREATE TABLE notes (id integer, guid text, mid integer, tags text, flds text AS (hex(zeroblob(300000000))));"
    with pytest.raises(ContentError, match="no notes table"):
        AnkiReader().read(package({"collection.anki2": collection([], notes)}), "deck.apkg")
    huge = collection([("a", 1, "", ["Q?", "x" * 9_000_000])])
    with pytest.raises(ContentError, match="cannot be read"):
        AnkiReader().read(package({"collection.anki2": huge}), "deck.apkg")


def test_the_package_is_not_touched_and_history_is_not_read() -> None:
    data = package({"collection.anki2": collection([("a", 1, "", ["Q?", "a"])], "CREATE TABLE revlog (id integer, secret text);")})
    before = bytes(data)
    AnkiReader().read(data, "deck.apkg")
    assert data == before
