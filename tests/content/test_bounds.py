"""Size and damage: large banks stay cheap, and whatever is done to a file gives faults with line numbers, never an exception.

The time limits are processor time with slack for a busy machine; what they prove is that no rule is quadratic. Mutations are
random but seeded: a failure names the seed of the file that caused it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from content.check import check
from content.fix import fix
from content.load import load_guide, load_library, load_quiz
from content.report import report_text
from tests.content.banks import bank
from tests.content.test_load import ALL_TYPES
from tests.content.writing import COURSE, GUIDE, SOUND, write

MEASURE = """
import json, resource, sys
from pathlib import Path
from content.check import check
from content.load import load_library
loaded = load_library([Path(sys.argv[1])])
faults = check(loaded, facts={})
used = resource.getrusage(resource.RUSAGE_SELF)
# VmHWM and not ru_maxrss, which still counts the memory of the process that this one was forked from
peak = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
print(json.dumps({"questions": sum(len(quiz.questions) for quiz in loaded.library.quizzes.values()), "faults": len(faults),
    "cpu_s": used.ru_utime + used.ru_stime, "peak_mib": peak / 1024}))
"""


def test_ten_thousand_questions_are_checked_within_three_seconds_and_300_mib(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"quizzes/large.quiz.yaml": bank(5_000, name="large")}
    files |= {f"quizzes/b{number}.quiz.yaml": bank(50, seed=number, name=f"b{number}") for number in range(100)}
    write(tmp_path, files)
    result = subprocess.run([sys.executable, "-c", MEASURE, str(tmp_path)], capture_output=True, text=True, timeout=120, check=True)
    measured = json.loads(result.stdout)
    assert measured["questions"] == 10_000
    assert measured["peak_mib"] < 300
    assert measured["cpu_s"] < 6.0, "about 2.2 s alone on a slow machine; 6 s leaves room for others on it"


def test_four_times_the_questions_take_about_four_times_as_long() -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        assert load_quiz(text)[0] is not None
        return time.process_time() - start

    small, large = bank(500), bank(4_000)
    seconds(small)
    assert seconds(large) < 8 * 2.5 * max(seconds(small), seconds(small))


ODD = ("", "null", "yes", "[]", "{}", "-1", "1e999", "9" * 40, "*a", "&a x", "!!python/name:os.system x", "<<", "2026-13-45")


def mutated(text: str, random: Random) -> bytes:
    """The text with one to four pieces of damage, of the kinds that editors, merges and mail do to files."""
    for _ in range(random.randint(1, 4)):
        at, length = random.randrange(len(text) + 1), random.choice((1, 1, 2, 5, 30, 200))
        kind = random.randrange(9)
        if kind == 0:
            text = text[:at] + text[at + length :]
        elif kind == 1:
            text = (
                text[:at]
                + random.choice("{}[]:,&*!|>'\"#%@`?- \t\n\r\x00\u200b\u2028\u0301😀~<>=$\\") * random.choice((1, 1, 3))
                + text[at:]
            )
        elif kind == 2:
            text = text[:at] + text[at : at + length] + text[at:]
        elif kind == 3:
            lines = text.split("\n")
            one, two = random.randrange(len(lines)), random.randrange(len(lines))
            lines[one], lines[two] = lines[two], lines[one]
            text = "\n".join(lines)
        elif kind == 4:
            words = re.findall(r"[\w.-]+", text)
            text = text.replace(random.choice(words), random.choice(words), 1) if words else text
        elif kind == 5:
            lines = text.split("\n")
            index = random.randrange(len(lines))
            lines[index] = random.choice((" ", "   ", "\t", "- ", "# ", "? ")) + lines[index]
            text = "\n".join(lines)
        elif kind == 6:
            text = re.sub(r": [^\n{\[]+", f": {random.choice(ODD)}", text, count=random.randint(1, 3))
        elif kind == 7:
            text = text.replace("\n", random.choice(("\r\n", "\r", "\n\n", " ")), random.choice((1, 5, -1)))
        else:
            text = text[:at]
    data = text.encode("utf-8")
    if data and random.random() < 0.1:
        at = random.randrange(len(data))
        data = data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
    return data


TRANSLATION = """\
translation_of: {id: tcp-basics, version: 4}
title: TCP 기초
questions:
- id: syn
  stem: {ko: 어떤 플래그?}
  hints: [동기화]
  choices:
  - {id: a, text: 씬, feedback: 맞아요.}
- {id: ack, feedback: {"true": 아니요., "false": 예.}}
- {id: why, reference: 둘 다., rubric: [{id: seq, criterion: 번호, levels: [{text: 모호}]}], probes: [둘이면?]}
"""
VICTIMS = (
    ("quizzes/tcp-basics.quiz.yaml", ALL_TYPES, {}),
    ("quizzes/tcp.quiz.yaml", SOUND["quizzes/tcp.quiz.yaml"], {}),
    ("guides/tcp-guide.md", GUIDE, {}),
    ("courses/net.yaml", COURSE, {}),
    ("quizzes/tcp-basics.ko.quiz.yaml", TRANSLATION, {"quizzes/tcp-basics.quiz.yaml": ALL_TYPES}),
)


def test_five_thousand_mutated_files_give_only_faults_with_line_numbers(tmp_path: Path) -> None:
    write(tmp_path, {name: text for _, _, others in VICTIMS for name, text in others.items()})
    dropped = 0
    for seed in range(5_000):
        random = Random(seed)
        name, text, others = VICTIMS[seed % len(VICTIMS)]
        data = mutated(text, random)
        path = tmp_path / str(len(others)) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        try:
            loaded = load_library([*(tmp_path / other for other in others), path])
            faults = check(loaded, facts={"T-001": ""})
            report_text(loaded, faults)
        except Exception as error:
            error.add_note(f"seed {seed}, {name}: {data!r}")
            raise
        lines = data.count(b"\n") + data.count(b"\r") + 1
        for fault in faults:
            assert 1 <= fault.line <= (lines if fault.path == path.as_posix() else 1_000), f"seed {seed}: {fault}"
            assert fault.what, f"seed {seed}: {fault}"
            assert fault.remedy, f"seed {seed}: {fault}"
        library = loaded.library
        if not others and not (library.quizzes or library.guides or library.courses):
            dropped += 1
            assert faults, f"seed {seed}: the file was dropped in silence"
    assert 200 < dropped < 4_500, "the damage should neither spare nor kill nearly every file"


def test_repairing_mutated_files_never_raises_and_settles(tmp_path: Path) -> None:
    for seed in range(300):
        name, text, _ = VICTIMS[seed % len(VICTIMS)]
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mutated(text, Random(seed)))
        fix(path)
        assert fix(path) == [], f"seed {seed}"


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_read_without_an_exception(text: str) -> None:
    for quiz, faults in (load_quiz(text), load_quiz("schema: quiz/1\nquestions:\n- " + text)):
        assert quiz is not None or faults
    guide, faults = load_guide(f"---\nschema: guide/1\nid: g\nversion: 1\ntitle: T\nsummary: S\n---\n{text}")
    assert guide is not None or faults


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 50_000,
        "- " * 50_000,
        "? " * 50_000,
        "a: &a [x]\nb: [" + "*a," * 50_000 + "]",
        "- [a]\n" * 50_000,
        "'" + "''" * 200_000,
        "a: |\n" + " x\n" * 200_000,
        "schema: quiz/1\nid: q\nversion: 1\ntitle: T\nquestions:\n" + '- "\n' * 5_000,
        "#" * 1_000_000,
    ],
    ids=range(10),
)
def test_hostile_text_takes_less_than_two_seconds(text: str) -> None:
    start = time.process_time()
    _, faults = load_quiz(text)
    assert faults
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "body", [">" * 20_000, "[" * 20_000, "* " * 10_000, "`" * 20_000, "## x\n" * 3_000, "<!--" * 10_000, "**a" * 10_000]
)
def test_hostile_markdown_takes_less_than_two_seconds(tmp_path: Path, body: str) -> None:
    write(tmp_path, {**SOUND, "guides/tcp-guide.md": GUIDE.replace("The client sends SYN.", body)})
    start = time.process_time()
    check(load_library([tmp_path]))
    assert time.process_time() - start < 2
