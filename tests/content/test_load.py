"""Native files become exactly the values that their authors wrote; what is faulty is reported and left out, alone.

Proves the mapping of every question type, the line numbers, what survives beside a fault, and that no file makes the
loader raise. Translations, guides and courses are in test_load_guides.py, speed and mutated files in test_bounds.py.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from content.check import check
from content.facts import find_facts, load_facts
from content.load import SHIPPED, load_guide, load_library, load_quiz
from content.model import (
    Accept,
    Choice,
    Choices,
    GuideRef,
    Match,
    Open,
    Order,
    QuestionType,
    RubricLevel,
    Scoring,
    Short,
    Text,
    TrueFalse,
)
from content.writers import write as write_bank
from tests.content.writing import GUIDE, HEAD, QUIZ, SOUND, SYN, loaded, question, write

DOCS = Path(__file__).parents[2] / "docs/content-format.md"

ALL_TYPES = """\
schema: quiz/1
id: tcp-basics
version: 4
title: {en: TCP basics, zh: TCP 基础}
description: {en: Handshake and teardown}
level: beginner
languages: [en, zh]
guide: {id: tcp, section: handshake}
tags: [networking]
defaults: {points: 2, time_limit: 30, shuffle: false, scoring: per_choice, difficulty: 4}
select: {pick: 2, order: random, groups: [{id: g, pick: 1, points: 3}]}
source: {format: gift, file: week3.gift, title: Week 3, author: Ada, licence: CC-BY-4.0, imported: 2026-11-30}
questions:
- id: syn
  type: single
  title: {en: First segment}
  stem: {en: "Which flag opens a connection?", zh: "哪个标志用于建立连接？"}
  choices:
  - {id: a, text: SYN, correct: true, feedback: {en: Right.}, facts: [T-001]}
  - {id: b, text: FIN, credit: -0.25}
  - {id: c, text: {en: None of these, zh: 以上都不是}, fixed: true}
  explanation: {en: "See RFC 9293, section 3.5."}
  hints: [{en: Think of "synchronise".}, "SYN?"]
  difficulty: easy
  points: 1
  time_limit: null
  tags: [handshake]
  group: g
  shuffle: true
  guide: {section: three-way}
  evidence: [three-way, "udp:ports"]
  facts: [T-001, Q-012]
  extra: {moodle: {penalty: 0.33, name: "x", on: true, none: null, list: [1, a]}}
- {id: ack, type: truefalse, stem: {en: UDP has a handshake.}, answer: false, feedback: {"true": {en: No.}, false: {en: Yes.}}}
- {id: two, type: multiple, stem: {en: "Which two?"}, scoring: per_choice, min: 1, max: 2,
   choices: [{id: a, text: TCP, credit: 0.5}, {id: b, text: UDP, credit: 0.5}, {id: c, text: ARP}]}
- id: port
  type: short
  stem: {en: "Port of HTTPS: ____"}
  accept:
  - {number: 443, tolerance: 5%, unit: ms, credit: 1}
  - {number: -1.5e3, tolerance: 0.5}
  - {range: [1, 5.5]}
  - {text: "four hundred forty-three", case: true, lang: en}
  - {regex: "^(tcp/)?443$"}
  - {text: "80", credit: 0, feedback: {en: That is HTTP.}}
  reveal: "443"
- {id: gaps, type: short, stem: "{{b1}} then {{b2}}",
   blanks: {b1: {accept: [{text: SYN}]}, b2: {choices: [{id: a, text: ACK, correct: true}, {id: b, text: RST}]}}}
- id: why
  type: open
  stem: {en: "Why three segments and not two?"}
  reference: {en: Both sides must confirm a number.}
  rubric: [{id: seq, points: 2, criterion: {en: names numbers}, levels: [{points: 1, text: {en: vague}}], facts: [T-003]}]
  probes: [{en: And with two?}]
  length: {min: 20, max: 900}
- {id: ord, type: order, stem: In order., items: [{id: a, text: SYN}, {id: b, text: ACK}], scoring: adjacent}
- {id: mat, type: match, stem: Match., pairs: [{id: a, left: "80", right: HTTP}, {id: b, left: "443", right: HTTPS}],
   distractors: [{id: x, right: FTP}]}
- {id: i1, type: info, stem: {en: The next questions use this trace.}}
"""


def test_every_field_of_every_type_becomes_the_value_that_was_written() -> None:
    quiz, faults = load_quiz(ALL_TYPES)
    assert faults == ()
    assert quiz is not None
    assert (quiz.id, quiz.version, quiz.languages, quiz.level, quiz.tags) == ("tcp-basics", 4, ("en", "zh"), "beginner", ("networking",))
    assert quiz.title == Text({"en": "TCP basics", "zh": "TCP 基础"})
    assert quiz.guide == GuideRef("tcp", "handshake")
    assert (quiz.select.pick, quiz.select.shuffled, quiz.select.groups[0].points) == (2, True, 3.0)
    assert quiz.source is not None
    assert (quiz.source.file, quiz.source.licence, quiz.source.imported) == ("week3.gift", "CC-BY-4.0", date(2026, 11, 30))
    assert [each.type for each in quiz.questions] == [
        QuestionType(name) for name in ("single", "truefalse", "multiple", "short", "short", "open", "order", "match", "info")
    ]
    syn, ack, two, port, gaps, why, order, match, info = quiz.questions
    assert syn.body == Choices(
        (
            Choice("a", Text.of("SYN"), 1.0, Text({"en": "Right."}), False, ("T-001",)),
            Choice("b", Text.of("FIN"), -0.25),
            Choice("c", Text({"en": "None of these", "zh": "以上都不是"}), 0.0, None, True),
        )
    )
    assert (syn.difficulty, syn.points, syn.time_limit_s, syn.group, syn.shuffle, syn.line) == (2, 1.0, None, "g", True, 14)
    assert syn.hints == (Text({"en": 'Think of "synchronise".'}), Text.of("SYN?"))
    assert syn.guide == GuideRef("", "three-way")
    assert quiz.section_of(syn) == GuideRef("tcp", "three-way")
    assert syn.evidence == (GuideRef("", "three-way"), GuideRef("udp", "ports"))
    assert syn.facts == ("T-001", "Q-012")
    assert syn.extra == {"moodle": {"penalty": 0.33, "name": "x", "on": True, "none": None, "list": [1, "a"]}}
    assert (ack.difficulty, ack.points, ack.time_limit_s, ack.shuffle, ack.line) == (4, 2.0, 30, False, 34)
    assert ack.body == TrueFalse(False, {True: Text({"en": "No."}), False: Text({"en": "Yes."})})
    assert isinstance(two.body, Choices)
    assert (two.body.many, two.body.scoring, two.body.least, two.body.most) == (True, Scoring.PER_CHOICE, 1, 2)
    assert port.body == Short(
        (
            Accept(number=443.0, tolerance=0.05, relative=True, unit="ms"),
            Accept(number=-1500.0, tolerance=0.5),
            Accept(span=(1.0, 5.5)),
            Accept(text="four hundred forty-three", case=True, language="en"),
            Accept(regex="^(tcp/)?443$"),
            Accept(text="80", credit=0.0, feedback=Text({"en": "That is HTTP."})),
        ),
        Text.of("443"),
    )
    assert isinstance(gaps.body, Short)
    assert [(blank.id, len(blank.accept), len(blank.choices)) for blank in gaps.body.blanks] == [("b1", 1, 0), ("b2", 0, 2)]
    assert isinstance(why.body, Open)
    assert why.body.rubric[0].levels == (RubricLevel(1.0, Text({"en": "vague"})),)
    assert (why.body.rubric[0].facts, why.body.probes, why.body.least_length, why.body.most_length) == (
        ("T-003",),
        (Text({"en": "And with two?"}),),
        20,
        900,
    )
    assert isinstance(order.body, Order)
    assert (order.body.scoring, [item.id for item in order.body.items]) == (Scoring.ADJACENT, ["a", "b"])
    assert isinstance(match.body, Match)
    assert (match.body.pairs[0].left["en"], match.body.distractors[0].text["en"]) == ("80", "FTP")
    assert info.stem["zh"] == "The next questions use this trace."


def test_the_examples_of_the_documentation_are_a_library_without_faults(tmp_path: Path) -> None:
    examples = re.findall(r"<!-- example: (\S+) -->\n```\w+\n(.*?)^```$", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    folder = write(tmp_path, dict(examples))
    found = load_library([folder])
    table = find_facts(folder)
    assert table is not None
    facts = load_facts(table)
    assert facts.faults == ()
    noted = [fault.code for fault in check(found, facts=facts.by_id) if fault.code != "FACT-SHARED"]
    assert noted == ["TRANS-GUIDE"], "the guide is not translated, on purpose"
    assert (len(found.library.quizzes), len(found.library.guides), len(found.library.courses), len(facts.by_id)) == (1, 1, 1, 3)


def test_the_shipped_library_loads() -> None:
    found = load_library([SHIPPED])
    assert [fault for fault in found.faults if fault.severity == "error"] == []


def test_a_faulty_question_drops_out_and_its_neighbours_stay(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        {
            "quizzes/tcp.quiz.yaml": HEAD
            + SYN
            + SYN.replace("id: syn", "id: bad").replace("type: single", "type: singel")
            + SYN.replace("id: syn", "id: ack")
        },
    )
    assert [each.id for each in found.library.quizzes["tcp"].questions] == ["syn", "ack"]
    assert [(fault.line, fault.code) for fault in found.faults] == [(18, "SCHEMA-VALUE")]
    assert "Did you mean 'single'?" in found.faults[0].remedy


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ('- id: bad\n  type: single\n  stem: "never closed\n', 22),
        ("- id: bad\n  stem: {en: [x}\n", 18),
        ("- id: bad\n  stem: one: two\n", 18),
        ("- id: bad\n  stem: *nothing here*\n", 18),
        ("- id: bad\n stem: x\n", 18),
        ("- id: bad\n\tstem: x\n", 18),
    ],
)
def test_a_question_that_is_no_yaml_drops_out_and_later_faults_are_still_found(tmp_path: Path, broken: str, line: int) -> None:
    later = SYN.replace("id: syn", "id: ack").replace("correct: true", "corect: true") + SYN.replace("id: syn", "id: fin")
    found = loaded(
        tmp_path,
        {"quizzes/tcp.quiz.yaml": HEAD + SYN + SYN.replace("id: syn", "id: one").replace("- id: one", broken + "- id: one") + later},
    )
    assert [each.id for each in found.library.quizzes["tcp"].questions] == ["syn", "one", "fin"]
    codes = {fault.code: fault.line for fault in found.faults}
    assert codes.get("YAML-SYNTAX", codes.get("YAML-ALIAS")) == line
    assert "SCHEMA-UNKNOWN" in codes


def test_every_fault_of_every_file_is_in_one_report(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "quizzes/tcp.quiz.yaml": QUIZ.replace("text: FIN", "txt: FIN").replace("text: RST", "text: ''").replace("[handshake]", "handshake"),
        "quizzes/udp.quiz.yaml": "schema: quiz/9\n",
        "guides/x.md": "no front matter",
        "courses/c.yaml": "schema: course/1\nid: c\nversion: x\ntitle: C\nsteps: []\npass_mark: 170%\n",
    }
    found = loaded(tmp_path, files)
    shown = [(Path(fault.path).name, fault.line, fault.code) for fault in found.faults]
    assert shown == [
        ("c.yaml", 3, "SCHEMA-VALUE"),
        ("c.yaml", 5, "SCHEMA-VALUE"),
        ("c.yaml", 6, "SCHEMA-VALUE"),
        ("x.md", 1, "GUIDE-FRONT"),
        ("tcp.quiz.yaml", 7, "QUIZ-EMPTY"),
        ("tcp.quiz.yaml", 12, "SCHEMA-TYPE"),
        ("tcp.quiz.yaml", 15, "SCHEMA-MISSING"),
        ("tcp.quiz.yaml", 15, "SCHEMA-UNKNOWN"),
        ("tcp.quiz.yaml", 17, "SCHEMA-VALUE"),
        ("udp.quiz.yaml", 1, "SCHEMA-VERSION"),
    ]


def test_an_unknown_key_names_the_nearest_known_one_or_the_type_it_belongs_to() -> None:
    _, faults = load_quiz(question("  choises: [{id: a, text: x}]\n  answer: true\n"))
    remedies = [fault.remedy for fault in faults if fault.code == "SCHEMA-UNKNOWN"]
    assert remedies == ["Did you mean 'choices'? Otherwise remove it.", "It belongs to type truefalse. Otherwise remove it."]


@pytest.mark.parametrize("value", ["yes", "No", "on", "007", "1_000", "12:30", "2026-11-30", "1.10", "0x1f", "1e3", ".5", "true", "="])
def test_an_unquoted_value_that_yaml_would_change_is_kept_as_written_and_reported(value: str) -> None:
    quiz, faults = load_quiz(question(f"  accept: [{{text: {value}}}]\n", kind="short"))
    assert quiz is not None
    assert quiz.questions[0].body == Short((Accept(text=value),))
    assert [(fault.code, fault.line) for fault in faults] == [("YAML-TRAP", 10)]


@pytest.mark.parametrize("value", ["SYN", "y", "n", "443 ms", "v1.10", "1.2.3", "-x", "no way", "+", "..."])
def test_an_unquoted_text_that_stays_text_is_not_reported(value: str) -> None:
    quiz, faults = load_quiz(question(f"  accept: [{{text: {value}}}]\n", kind="short"))
    assert (quiz is not None, faults) == (True, ())


def test_the_language_key_no_is_an_error_unless_it_is_quoted() -> None:
    body = "  accept: [{text: x}]\n"
    _, faults = load_quiz(question(body, kind="short", stem="{no: Hva?, en: What?}").replace("languages: [en]", 'languages: [en, "no"]'))
    assert [(fault.code, fault.line) for fault in faults] == [("YAML-NO", 9), ("QUIZ-EMPTY", 6)][::-1]
    quiz, faults = load_quiz(
        question(body, kind="short", stem='{"no": Hva?, en: What?}').replace("languages: [en]", 'languages: [en, "no"]')
    )
    assert faults == ()
    assert quiz is not None
    assert quiz.questions[0].stem["no"] == "Hva?"


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_lines_are_physical_whatever_ends_them_and_a_byte_order_mark_is_no_text(tmp_path: Path, newline: str) -> None:
    text = ("\ufeff" + QUIZ.replace("text: RST", "text: 💡 键, txt: x")).replace("\n", newline)
    found = loaded(tmp_path, {"quizzes/tcp.quiz.yaml": text})
    assert [(fault.line, fault.code) for fault in found.faults] == [(7, "QUIZ-EMPTY"), (17, "SCHEMA-UNKNOWN")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n# nothing\n",
        b"- a\n",
        b"just text",
        b"\x00\x01",
        b"\xff\xfe",
        QUIZ.encode("utf-16"),
        b"a: b\n---\nc: d\n",
        b"{{{{",
        b"? [a]\n: b\n",
    ],
)
def test_a_file_that_holds_no_quiz_is_a_fault_and_never_raises(tmp_path: Path, data: bytes) -> None:
    found = loaded(tmp_path, {"quizzes/x.quiz.yaml": data, "guides/x.md": data, "courses/x.yaml": data, "quizzes/x.ko.quiz.yaml": data})
    assert {Path(fault.path).name for fault in found.faults} == {"x.quiz.yaml", "x.md", "x.yaml", "x.ko.quiz.yaml"}
    assert all(fault.line >= 1 for fault in found.faults)
    assert found.library.quizzes == {}


def test_a_path_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "loop.quiz.yaml").symlink_to(tmp_path / "loop.quiz.yaml")
    found = load_library([tmp_path, tmp_path / "nowhere"])
    assert [(Path(fault.path).name, fault.code) for fault in found.faults] == [("loop.quiz.yaml", "FILE-READ"), ("nowhere", "FILE-READ")]
    assert load_quiz(tmp_path / "nowhere")[0] is None
    assert [fault.code for fault in load_library([Path("x" * 5_000), Path("nul\x00")]).faults] == ["FILE-READ", "FILE-READ"]
    assert load_guide(tmp_path)[1][0].code == "FILE-READ"


def test_an_id_used_twice_is_a_fault_that_names_both_places_and_the_first_one_stays(tmp_path: Path) -> None:
    first = write(tmp_path / "one", {"quizzes/tcp.quiz.yaml": QUIZ, "guides/tcp-guide.md": GUIDE})
    second = write(tmp_path / "two", {"quizzes/tcp.quiz.yaml": QUIZ.replace("title: TCP", "title: Other"), "guides/tcp-guide.md": GUIDE})
    found = load_library([first, second])
    assert [fault.code for fault in found.faults] == ["ID-DUPLICATE", "ID-DUPLICATE"]
    for fault, name in zip(found.faults, ("guides/tcp-guide.md:3", "quizzes/tcp.quiz.yaml:2"), strict=True):
        assert f"{fault.path}:{fault.line}" == f"{second.as_posix()}/{name}"
        assert f"{first.as_posix()}/{name}" in fault.what
    assert found.library.quizzes["tcp"].title == Text.of("TCP")


def test_later_paths_add_to_earlier_ones(tmp_path: Path) -> None:
    write(tmp_path / "one", dict(SOUND))
    write(tmp_path / "two", {"deep/er/quizzes/udp.quiz.yaml": QUIZ.replace("id: tcp\n", "id: udp\n"), ".hidden/quizzes/no.quiz.yaml": "x"})
    found = load_library([tmp_path / "one", tmp_path / "two"])
    assert found.faults == ()
    assert list(found.library.quizzes) == ["tcp", "udp"]


def test_a_medium_may_not_lie_outside_the_folder_of_its_quiz(tmp_path: Path) -> None:
    for name in ("../secret.png", "/etc/passwd", "C:\\x.png", "a/../../x.png"):
        _, faults = load_quiz(
            question(f"  accept: [{{text: x}}]\n  media: [{{id: m, file: '{name}', alt: x, licence: CC0-1.0}}]\n", kind="short")
        )
        assert [fault.code for fault in faults if fault.line == 11] == ["SCHEMA-VALUE"], name


def test_several_keys_of_which_one_is_enough_are_loaded_and_written_back() -> None:
    text = (
        "schema: quiz/1\nid: any\nversion: 1\ntitle: Any\nlanguages: [en]\nquestions:\n"
        "- id: q\n  type: single\n  stem: Name a primary colour.\n{any}  choices:\n"
        "  - {{id: a, text: Red, correct: true}}\n  - {{id: b, text: Blue, correct: true}}\n  - {{id: c, text: Green}}\n"
    )
    quiz, faults = load_quiz(text.format(any="  any: true\n"))
    assert quiz is not None
    assert not faults
    assert [choice.correct for choice in quiz.questions[0].body.choices] == [True, True, False]  # type: ignore[union-attr]
    again, _ = load_quiz(write_bank(quiz, "native").data.decode())
    assert again is not None
    assert again.questions[0].body == quiz.questions[0].body
    _, faults = load_quiz(text.format(any=""))
    assert "any: true" in next(fault for fault in faults if fault.code == "QUIZ-KEY").remedy
