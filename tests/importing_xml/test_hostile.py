"""Files built to harm: entities, path escapes, bombs, deep nesting; and thousands of damaged samples.

Proves that every reader here ends in a report or a `ContentError`, soon and without much memory. The mutations are seeded,
so a failure can be repeated; other seeds: STUDYHALL_FUZZ_SEED.
"""

from __future__ import annotations

import io
import json
import os
import random
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping

import openpyxl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from content.model import ContentError
from content.readers.anki import AnkiReader
from content.readers.base import Import, Reader, to_json
from content.readers.h5p import H5pReader
from content.readers.moodle_xml import MoodleXmlReader
from content.readers.qti2 import Qti2Reader
from content.readers.qti12 import Qti12Reader
from content.readers.rexams import RexamsReader
from content.readers.spreadsheet import KahootReader, WaygroundReader, WorkbookReader

XML: list[Reader] = [MoodleXmlReader(), Qti12Reader(), Qti2Reader()]
PACKAGES: list[Reader] = [Qti12Reader(), Qti2Reader(), AnkiReader(), H5pReader(), KahootReader(), WaygroundReader(), WorkbookReader()]
TRUE = b'<answer fraction="100"><text>true</text></answer><answer fraction="0"><text>false</text></answer>'
MOODLE = b'<question type="truefalse"><questiontext><text>%s</text></questiontext>' + TRUE + b"</question>"


def package(members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return out.getvalue()


def ends(reader: Reader, data: bytes, name: str = "file.bin") -> Import | None:
    """Sniff and read; the result as JSON must be writable as UTF-8. Any error but ContentError is a failure of the test."""
    reader.sniff(data, name)
    try:
        result = reader.read(data, name)
    except ContentError:
        return None
    json.dumps(to_json(result), allow_nan=False, ensure_ascii=False).encode()
    return result


# XML ----------------------------------------------------------------------------------------------------------------

LAUGHS = b'<!DOCTYPE quiz [<!ENTITY a "ha">' + b"".join(b'<!ENTITY %c "&%c;&%c;">' % (c, c - 1, c - 1) for c in range(98, 120)) + b"]>"
ENTITIES = [
    LAUGHS + b"<quiz>" + MOODLE % b"&w;" + b"</quiz>",
    b'<!DOCTYPE quiz [<!ENTITY x SYSTEM "file:///etc/passwd">]><quiz>' + MOODLE % b"&x;" + b"</quiz>",
    b'<?xml version="1.0"?><!-- c --><?pi x?>\n<!DOCTYPE quiz [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]><quiz/>',
    '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE quiz [<!ENTITY x "y">]><quiz/>'.encode("utf-16"),
]


@pytest.mark.parametrize("data", ENTITIES, ids=["laughs", "file", "parameter", "utf-16"])
@pytest.mark.parametrize("reader", XML, ids=lambda reader: reader.name)
def test_entity_declarations_are_refused(reader: Reader, data: bytes) -> None:
    with pytest.raises(ContentError, match="DOCTYPE"):
        reader.read(data, "bank.xml")


def test_an_external_dtd_is_left_out_and_said() -> None:
    data = b'<?xml version="1.0"?>\n<!DOCTYPE quiz SYSTEM "http://127.0.0.1:9/quiz.dtd">\n<quiz>' + MOODLE % b"Q?" + b"</quiz>"
    result = MoodleXmlReader().read(data, "bank.xml")
    assert (result.imported, [(p.line, p.code) for p in result.problems]) == (1, [(2, "XML-DTD")])


def test_a_doctype_inside_a_question_is_text() -> None:
    data = b"<quiz>" + MOODLE % b"<![CDATA[What is &lt;!DOCTYPE html [x]&gt;?]]>" + b"</quiz>"
    assert MoodleXmlReader().read(data, "bank.xml").questions[0].stem[""] == "What is <!DOCTYPE html [x]>?"


def test_an_entity_without_a_declaration_costs_its_question_only() -> None:
    data = b"<quiz>\n" + MOODLE % b"&unknown;" + b"\n" + MOODLE % b"Fine?" + b"</quiz>"
    result = MoodleXmlReader().read(data, "bank.xml")
    assert (result.read, [found.stem[""] for found in result.questions]) == (2, ["Fine?"])


DEEP = 100_000


@pytest.mark.parametrize(
    ("reader", "data"),
    [
        (MoodleXmlReader(), b"<quiz>" + b"<question>" * DEEP),
        (MoodleXmlReader(), b"<quiz>" + MOODLE % (b"&lt;div&gt;" * DEEP) + b"</quiz>"),
        (MoodleXmlReader(), b"<quiz>" + MOODLE % (b"&lt;b&gt;&lt;i&gt;" * DEEP) + b"</quiz>"),
        (MoodleXmlReader(), b"<quiz>" + b"<![CDATA[<question type='x'>" * DEEP),
        (MoodleXmlReader(), b"<quiz>" + b"<question type='x'>&nbsp;<!--" * DEEP),
        (MoodleXmlReader(), b"<!--" * DEEP + b"<quiz/>"),
        (Qti12Reader(), b"<questestinterop>" + b"<section>" * DEEP),
        (Qti12Reader(), b"<questestinterop><assessment>" + b"<section>" * 250 + b"</section>" * 250 + b"</assessment></questestinterop>"),
        (Qti2Reader(), b"<assessmentItem ><itemBody>" + b"<div>" * 250 + b"</div>" * 250 + b"</itemBody></assessmentItem>"),
        (Qti2Reader(), b"<assessmentItem >" + b"<and>" * DEEP),
        (H5pReader(), b'{"library": "H5P.X 1", "a": ' + b"[" * DEEP),
        (H5pReader(), b'{"library": "H5P.X 1", "a": ' + b'{"b":' * DEEP),
        (RexamsReader(), b"Question\n========\n" + b"* " * DEEP + b"\nMeta-information\n===\nextype: num\n"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_deep_nesting_and_unclosed_marks_end_soon(reader: Reader, data: bytes) -> None:
    started = time.perf_counter()
    ends(reader, data)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("tag", ["div", "unknown", "and", "not", "flow"])
def test_elements_nested_hundreds_deep_are_refused(tag: str) -> None:
    nested = f"<{tag}>" * 240 + f"</{tag}>" * 240
    for reader, frame in (
        (Qti2Reader(), "<assessmentItem ><itemBody>{}</itemBody></assessmentItem>"),
        (Qti12Reader(), "<questestinterop>{}</questestinterop>"),
    ):
        with pytest.raises(ContentError, match="deeper than 100"):
            reader.read(frame.format(nested).encode(), "deep.xml")


def test_a_cloze_of_unclosed_gaps_ends_soon() -> None:
    for stem in (b"{1:SA:" * 50_000, b"{1:MC:=a~" * 50_000, b"{1:SA:=a}" * 20_000, b"[[1]]" * 50_000):
        started = time.perf_counter()
        question = b'<question type="%s"><questiontext><text>%s</text></questiontext></question>'
        for kind in (b"cloze", b"gapselect"):
            ends(MoodleXmlReader(), b"<quiz>" + question % (kind, stem) + b"</quiz>")
        assert time.perf_counter() - started < 2


def repeated(piece: str, count: int) -> str:
    return "".join(piece.replace("#", str(i)) for i in range(count))


LABELS = repeated("<response_label ident='a#'><material><mattext>x#</mattext></material></response_label>", 4_000)
RULE = "<conditionvar><varequal respident='r'>a#</varequal></conditionvar><setvar>1</setvar>"
RULES = repeated(f"<respcondition>{RULE}</respcondition>", 4_000)
CHOICES = repeated('<simpleChoice identifier="c#">x</simpleChoice>', 20_000)
MAPPED = repeated('<mapEntry mapKey="c#" mappedValue="1"/>', 20_000)
GAPS = repeated('<gap identifier="g#"/>', 3_000) + repeated('<gapText identifier="t#">x#</gapText>', 3_000)
GAPS = f'<gapMatchInteraction responseIdentifier="R">{GAPS}</gapMatchInteraction>'
SELECT = (
    repeated("[[1]] ", 3_000) + "</text></questiontext>" + repeated("<selectoption><text>x#</text><group>1</group></selectoption>", 3_000)
)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (MoodleXmlReader(), "<quiz>" + (MOODLE % (b"&lt;span lang='en' class='multilang'&gt;" * 100_000)).decode() + "</quiz>"),
        (MoodleXmlReader(), "<quiz>" + (MOODLE % (b"{mlang en}" * 200_000)).decode() + "</quiz>"),
        (
            MoodleXmlReader(),
            f"<quiz><question type='gapselect'><questiontext><text>{SELECT}</question></quiz>",
        ),
        (
            Qti12Reader(),
            "<questestinterop><item ident='i'><presentation><response_lid ident='r' rcardinality='Multiple'><render_choice>"
            f"{LABELS}</render_choice></response_lid></presentation><resprocessing>{RULES}</resprocessing></item></questestinterop>",
        ),
        (
            Qti2Reader(),
            f'<assessmentItem ><responseDeclaration identifier="R" cardinality="multiple"><mapping>{MAPPED}</mapping></responseDeclaration>'
            f'<itemBody><choiceInteraction responseIdentifier="R">{CHOICES}</choiceInteraction></itemBody></assessmentItem>',
        ),
        (
            Qti2Reader(),
            f"<assessmentItem ><itemBody>{GAPS}</itemBody></assessmentItem>",
        ),
        (H5pReader(), json.dumps({"textField": repeated("*word#* ", 3_000), "overallFeedback": []})),
        (H5pReader(), json.dumps({"textField": "*a" * 100_000, "overallFeedback": []})),
    ],
    ids=["spans", "mlang", "gaps", "rules", "choices", "gap-match", "words", "stars"],
)
def test_questions_of_thousands_of_parts_cost_little(reader: Reader, text: str) -> None:
    started = time.perf_counter()
    result = ends(reader, text.encode())
    assert time.perf_counter() - started < 2
    assert result is not None
    assert result.read == 1


def test_too_many_tags_are_refused_before_they_are_parsed() -> None:
    started = time.perf_counter()
    with pytest.raises(ContentError, match="tags"):
        MoodleXmlReader().read(b"<quiz>" + b"<a/>" * 2_000_000 + b"</quiz>", "bank.xml")
    assert time.perf_counter() - started < 1


# Packages ------------------------------------------------------------------------------------------------------------

NAMES = ("imsmanifest.xml", "collection.anki2", "h5p.json", "content/content.json", "xl/workbook.xml", "a.xml")


@pytest.mark.parametrize("reader", PACKAGES, ids=lambda reader: reader.name)
@pytest.mark.parametrize("escape", ["../../evil.xml", "/etc/evil.xml", "a/../../evil.xml", "..\\evil.xml", "C:\\evil.xml"])
def test_members_that_point_outside_are_refused(reader: Reader, escape: str) -> None:
    members = dict.fromkeys(NAMES, b"<questestinterop><assessmentItem ><quiz>") | {escape: b"x"}
    with pytest.raises(ContentError):
        reader.read(package(members), "evil.zip")


@pytest.fixture(scope="module")
def bomb() -> bytes:
    data = package(dict.fromkeys(NAMES, b"<questestinterop ><assessmentItem >" + b" " * 60_000_000))
    assert len(data) < 1_000_000
    return data


@pytest.mark.parametrize("reader", PACKAGES, ids=lambda reader: reader.name)
def test_a_bomb_is_refused_without_being_unpacked(reader: Reader, bomb: bytes) -> None:
    tracemalloc.start()
    started = time.perf_counter()
    assert reader.sniff(bomb, "bomb.zip") >= 0
    with pytest.raises(ContentError):
        reader.read(bomb, "bomb.zip")
    took, (_, peak) = time.perf_counter() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 2
    assert peak < 200_000_000, f"{peak / 1e6:.0f} MB"


@pytest.mark.parametrize("reader", PACKAGES, ids=lambda reader: reader.name)
def test_too_many_members_are_refused(reader: Reader) -> None:
    members = {f"{i}.xml": b"" for i in range(2_500)} | dict.fromkeys(NAMES, b"x")
    with pytest.raises(ContentError):
        reader.read(package(members, zipfile.ZIP_STORED), "many.zip")


def test_a_zstd_bomb_in_an_anki_package_is_refused() -> None:
    bomb = zstandard.ZstdCompressor(level=1).compress(b"SQLite format 3\x00" + bytes(150_000_000))
    tracemalloc.start()
    with pytest.raises(ContentError, match="unpacks to more"):
        AnkiReader().read(package({"collection.anki21b": bomb}, zipfile.ZIP_STORED), "bomb.apkg")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150_000_000


def test_a_workbook_with_entities_is_refused() -> None:
    out = io.BytesIO()
    book = openpyxl.Workbook()
    book.save(out)
    with zipfile.ZipFile(out) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    members["xl/worksheets/sheet1.xml"] = LAUGHS + members["xl/worksheets/sheet1.xml"]
    with pytest.raises(ContentError, match="DTD"):
        WorkbookReader().read(package(members), "evil.xlsx")


# Damage --------------------------------------------------------------------------------------------------------------

SAMPLES: list[tuple[Reader, str]] = [
    (MoodleXmlReader(), "moodle-xml/matching.xml"),
    (MoodleXmlReader(), "moodle-xml/multichoices.xml"),
    (Qti12Reader(), "qti12/feedback_quiz_1.2.xml"),
    (Qti12Reader(), "qti12/text2qti_quiz_qti12.zip"),
    (Qti2Reader(), "qti21/categorization.xml"),
    (Qti2Reader(), "qti21/minimal_qti_2.1_sample.zip"),
    (Qti2Reader(), "qti30/test_qti21_output.zip"),
    (KahootReader(), "kahoot/kahoot-quiz-from-csv.xlsx"),
    (AnkiReader(), "anki/2020_ITPATFR_Benton.apkg"),
    (AnkiReader(), "anki/zhongwen-deck.apkg"),
    (H5pReader(), "h5p/kitchen-tools/content.json"),
    (RexamsReader(), "rexams/swisscapital.Rmd"),
]
TOKENS = (
    *(b"<", b">", b"&", b'"', b"</", b"<![CDATA[", b"]]>", b"{", b"}", b"\x00", b"\xff", b"NaN", b"1e999", b"-1", b"9" * 30),
    *(b"\xe2\x80\xae", b'<question type="cloze">', b"{1:SA:", b"*", b"$", b"\\(", b"[[1]]", b"<text/>", b"\n", b"|", b"null", b"=", b""),
)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A few bytes changed, cut, repeated or replaced by what breaks parsers."""
    text = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 3, 8, 30))):
        at = chance.randrange(len(text) + 1)
        end = min(len(text), at + chance.choice((1, 3, 10, 100, 1000)))
        match chance.randrange(5):
            case 0 if text:
                text[min(at, len(text) - 1)] = chance.randrange(256)
            case 1:
                text[at:at] = chance.choice(TOKENS)
            case 2:
                del text[at:end]
            case 3:
                text[chance.randrange(len(text) + 1) :] = text[at:end] + text[chance.randrange(len(text) + 1) :]
            case _:
                close = text.find(b">", at)
                text[at : close + 1 if close >= 0 else at] = chance.choice(TOKENS)
    return bytes(text)


def damaged_package(data: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.2:
        return damaged(data, chance)
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    for name in chance.sample(sorted(members), min(len(members), chance.choice((1, 1, 2)))):
        if name.endswith("21b") and chance.random() < 0.8:
            plain = zstandard.ZstdDecompressor().decompressobj().decompress(members[name])
            members[name] = zstandard.ZstdCompressor(level=1).compress(damaged(plain, chance))
        elif chance.random() < 0.1:
            del members[name]
        else:
            members[name] = damaged(members[name], chance)
    return package(members)


@pytest.mark.parametrize(("reader", "path"), SAMPLES, ids=[path for _, path in SAMPLES])
def test_damaged_samples_end_in_a_report_or_a_refusal(sample: Callable[[str], bytes], reader: Reader, path: str) -> None:
    data = sample(path)
    chance = random.Random(f"{os.environ.get('STUDYHALL_FUZZ_SEED', '1')} {path}")
    read = 0
    for _ in range(80):
        hurt = damaged_package(data, chance) if data.startswith(b"PK") else damaged(data, chance)
        started = time.perf_counter()
        read += ends(reader, hurt, path.rpartition("/")[2]) is not None
        assert time.perf_counter() - started < 2
    assert read > 5, "most damage must leave something to read, or this proves little"


HEADS = [b"", b"PK\x03\x04", b"<quiz>", b"<questestinterop>", b'{"library": "H5P.X 1', b"Question\n===\n"]


@given(data=st.binary(max_size=300), head=st.sampled_from(HEADS))
@settings(max_examples=150, deadline=None)
def test_any_bytes_end_in_a_report_or_a_refusal(data: bytes, head: bytes) -> None:
    for reader in (*PACKAGES, MoodleXmlReader(), RexamsReader()):
        ends(reader, head + data)
