"""--fix repairs what is mechanical and leaves every other byte; a second run changes nothing; comments survive.

Proves it on commented files in awkward styles. What needs judgement is not repaired and stays in the report.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from content.check import check
from content.fix import fix
from content.load import load_library
from tests.content.writing import GUIDE, QUIZ, SOUND, faults_of, write

BEFORE = """\
# A bank with comments: keep me.   \t
schema:   quiz/1     # odd   spacing
id: tcp
version: 1
title: {en: 443,   # a number
        ru: "Ответ"}
languages: [en, ru, no]

questions:


-   id: first           # four columns
    type: single
    stem: >
      Folded text
      that keeps its folds.   # this is text
    choices:
    - text:   yes       # a truth value
      correct: true
    # between choices
    - {text: 007, feedback: {no: Nei, en: 'It''s wrong'}}
    - id: c
      text: "caf\u0065\u0301 \u200bhidden"
-   type: truefalse     # no id
    stem: {en: Is it so that TCP has a handshake?}
    answer: yes
- {type: short, stem: "Port?", accept: [{text: 80}, {number: 80}]}
-   id: last
    # a comment first
    type: order
    stem: Order.
    items: [ {text: 1.10},{text: 2026-11-30} , {text: ~} ]
# the end, without a newline\u200b"""
AFTER = (
    BEFORE.replace("{en: 443,", '{en: "443",')
    .replace("[en, ru, no]", '[en, ru, "no"]')
    .replace("text:   yes ", 'id: a\n      text:   "yes" ')
    .replace("{text: 007, feedback: {no:", '{id: b, text: "007", feedback: {"no":')
    .replace("caf\u0065\u0301 \u200bhidden", "caf\u00e9 hidden")
    .replace("-   type: truefalse", "-   id: is-it-so-that-tcp-has-a-handshake\n    type: truefalse")
    .replace("- {type: short", "- {id: port, type: short")
    .replace("{text: 80}", '{text: "80"}')
    .replace("[ {text: 1.10},{text: 2026-11-30} , {text: ~} ]", '[ {id: a, text: "1.10"},{id: b, text: "2026-11-30"} , {id: c, text: ~} ]')
)


def test_only_what_is_mechanical_changes_and_every_other_byte_stays(tmp_path: Path) -> None:
    write(tmp_path, {"quizzes/tcp.quiz.yaml": BEFORE})
    done = fix(tmp_path)
    assert (tmp_path / "quizzes/tcp.quiz.yaml").read_text("utf-8") == AFTER
    path = (tmp_path / "quizzes/tcp.quiz.yaml").as_posix()
    assert f"{path}:5: Quoted 443." in done
    assert f"{path}:23: Removed hidden characters, or composed letters and accents." in done
    assert f"{path}:24: Added id: is-it-so-that-tcp-has-a-handshake." in done
    assert len(done) == 16


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"quizzes/tcp.quiz.yaml": BEFORE, "guides/g.md": GUIDE.replace(" {#handshake}", "").replace("client", "clie\u0301nt")})
    assert fix(tmp_path)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    assert fix(tmp_path) == []
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()} == after


def test_sound_files_are_not_written(tmp_path: Path) -> None:
    write(tmp_path, dict(SOUND))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert fix(tmp_path) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_byte_order_mark_and_mode_stay_as_they_are(tmp_path: Path, newline: str) -> None:
    text = QUIZ.replace("text: SYN", "text: on").replace("- id: syn\n  type", "- type")
    write(tmp_path, {"quizzes/tcp.quiz.yaml": ("\ufeff" + text).replace("\n", newline)})
    path = tmp_path / "quizzes/tcp.quiz.yaml"
    path.chmod(0o640)
    assert len(fix(path)) == 2
    expected = QUIZ.replace("text: SYN", 'text: "on"').replace("- id: syn", "- id: which-flag-opens-a-connection")
    assert path.read_bytes().decode("utf-8") == ("\ufeff" + expected).replace("\n", newline)
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_was_repaired_is_no_longer_reported(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        **SOUND,
        "quizzes/tcp.quiz.yaml": QUIZ.replace("text: SYN", "text: 443")
        .replace("  - {id: a, ", "  - {")
        .replace("closes.", "closes\u200b."),
        "guides/tcp-guide.md": GUIDE.replace(" {#handshake}", "")
        .replace("teardown", "te\u0301ardown")
        .replace("version: 2", "version: 2\nnarration: 007"),
    }
    assert {fault.code for fault in faults_of(tmp_path, files)} == {
        "YAML-NUMBER",
        "YAML-TRAP",
        "ID-MISSING",
        "QUIZ-EMPTY",
        "TEXT-NFC",
        "GUIDE-ANCHOR",
        "LINK-QUIZ",
    }
    assert len(fix(tmp_path)) == 6
    assert check(load_library([tmp_path])) == ()


def test_the_front_matter_and_headings_of_a_guide_are_repaired_but_not_its_code(tmp_path: Path) -> None:
    text = """\
---
schema: guide/1   # keep
id: g
version: 1
title: 1984       # a year
summary: A summa\u0301ry.
---
## First part\x20\x20
Text\u200b.
```
caf\u0065\u0301\u200b {#no}
## Not a heading
```
### Not a section
## Вторая часть
## Closed ##
## Questions
### Why so?
Because.
"""
    write(tmp_path, {"guides/g.md": text, "guides/g.ko.md": text.replace("id: g", "translation_of: {id: g, version: 1}")})
    done = fix(tmp_path)
    assert (tmp_path / "guides/g.md").read_text("utf-8") == text.replace("1984", '"1984"').replace("summa\u0301ry", "summ\u00e1ry").replace(
        "First part  ", "First part {#first-part}"
    ).replace("Text\u200b", "Text").replace("## Questions", "## Questions {#questions}")
    lines = [line.removeprefix((tmp_path / "guides/g.md").as_posix()) for line in done if "/g.md" in line]
    assert lines[:3] == [
        ":6: Removed hidden characters, or composed letters and accents.",
        ":5: Quoted 1984.",
        ":9: Removed hidden characters, or composed letters and accents.",
    ]
    korean = (tmp_path / "guides/g.ko.md").read_text("utf-8")
    assert "{#first-part}" not in korean, "a translation takes the ids of its original"


def test_a_translation_is_repaired_too(tmp_path: Path) -> None:
    text = "translation_of: {id: tcp, version: 1}  # keep\ntitle: 443\nquestions:\n- id: syn\n"
    text += "  choices: [{id: a, text: no}, {id: b, text: ~}]\n"
    write(tmp_path, {**SOUND, "quizzes/tcp.ko.quiz.yaml": text})
    assert len(fix(tmp_path)) == 2
    expected = text.replace("title: 443", 'title: "443"').replace("text: no", 'text: "no"')
    assert (tmp_path / "quizzes/tcp.ko.quiz.yaml").read_text("utf-8") == expected


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a: 'open", b"", b"- [", b"schema: quiz/1\nquestions: {a: b}\n"])
def test_a_file_that_cannot_be_read_stays_as_it_is(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, {"quizzes/x.quiz.yaml": data, "guides/x.md": data})
    fix(tmp_path / "guides")
    assert (tmp_path / "guides/x.md").read_bytes() == data
    if b"schema" not in data:
        assert fix(tmp_path) == []
        assert (tmp_path / "quizzes/x.quiz.yaml").read_bytes() == data
