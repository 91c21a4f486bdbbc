"""Any bytes give a report or a ContentError, soon; ten thousand questions are read in seconds.

Mutates the samples and small banks with a fixed seed, and feeds runs of the signs that parsers stumble over. Times are
processor time of this process, so that a busy machine does not matter.
"""

from __future__ import annotations

import json
import random
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.model import ContentError
from content.readers import READERS, read_bytes
from tests.importing.conftest import FOLDER
from tests.importing.quizzes import ALPHABET

TEXT_FORMATS = (
    *("aiken", "anki-text", "csv", "gift", "jupyterquiz", "markdown", "mdbook", "opentdb", "opentriviaqa", "quizlet", "red"),
    "text2qti",
)
N = 10_000
BANKS = {
    "gift": "\n\n".join(f"::Q{i}::What is {i}?{{\n={i}#Right\n~%25%{i + 1}\n~x}}" for i in range(N)),
    "aiken": "\n\n".join(f"What is {i}?\nA. {i}\nB. x\nC. y\nANSWER: A" for i in range(N)),
    "text2qti": "Quiz title: T\n" + "\n\n".join(f"{i}. What is {i}?\na) x\n*b) {i}\n... yes" for i in range(1, N + 1)),
    "markdown": "\n\n".join(f"### {i}. What is {i}?\n\n- A: x\n- B: {i}\n\nAnswer: B\n\nBecause {i}." for i in range(1, N + 1)),
    "csv": "Question,Option 1,Option 2,Correct Answer\n" + "\n".join(f'"What, {i}?",{i},x,1' for i in range(N)),
    "quizlet": "\n".join(f"term {i}\tdefinition {i}" for i in range(N)),
    "anki-text": "#separator:tab\n#html:true\n" + "\n".join(f"term <b>{i}</b>\tback {i}" for i in range(N)),
    "red": "\n".join(f"What is {i}?:\n- {i}\n- answer {i}" for i in range(N)),
    "opentriviaqa": "\n\n".join(f"#Q What is {i}?\n^ {i}\nA {i}\nB x" for i in range(N)),
    "mdbook": "\n".join(f'[[questions]]\ntype="ShortAnswer"\nprompt.prompt="What is {i}?"\nanswer.answer="{i}"' for i in range(N)),
    "jupyterquiz": json.dumps(
        [{"type": "many_choice", "question": f"{i}?", "answers": [{"answer": "a", "correct": True}, {"answer": "b"}]} for i in range(N)]
    ),
    "opentdb": json.dumps({"results": [{"question": f"{i}?", "correct_answer": "a", "incorrect_answers": ["b"]} for i in range(N)]}),
}


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_ten_thousand_questions_are_read_in_five_seconds(format: str) -> None:
    data = BANKS[format].encode()
    began = time.process_time()
    result = read_bytes(data, "bank.txt")
    assert time.process_time() - began < 5
    assert (result.format, result.read, result.imported) == (format, N, N)


def harmless(data: bytes, name: str, format: str | None) -> None:
    began = time.process_time()
    result = None
    with suppress(ContentError):  # any other error is a fault of the reader
        result = read_bytes(data, name, format)
    assert result is None or result.imported <= result.read
    assert time.process_time() - began < 2, (format, data[:80])


TOKENS = [
    token.encode()
    for token in (
        *(
            "{",
            "}",
            "=",
            "~",
            "#",
            "\\",
            "\n",
            "::",
            "->",
            "%50%",
            '"',
            "'",
            "```",
            "<details>",
            "|",
            "\t",
            ",",
            "* ",
            "[*] ",
            "A) ",
            "ANSWER: ",
        ),
        *(
            "$",
            "$$",
            "\\(",
            "&#39;",
            "<b>",
            "<!--",
            "![](",
            "- ",
            "[",
            "]",
            ": ",
            "&x ",
            "*x ",
            "\ufeff",
            "\u00a0",
            "1. ",
            "Q: ",
            "____",
            "#Q ",
        ),
        *("^ ", "{{c1::a}}", "{{", "9" * 400, "e999", "NaN", "\u2028", "[[questions]]\n", "@gap\n", "\r"),
    )
] + [b"\xff\xfe", b"\x00", b"\xe4", b"\x81"]


def mutated(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    if len(out) > 12_000:
        start = chance.randrange(len(out) - 12_000)
        out = out[start : start + 12_000]
    for _ in range(chance.choice([1, 2, 5, 20])):
        at = chance.randrange(len(out) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            out[at:at] = chance.choice(TOKENS) * chance.choice([1, 1, 300])
        elif kind == 1:
            del out[at : at + chance.choice([1, 10, 200])]
        elif kind == 2 and out:
            out[at % len(out)] = chance.randrange(256)
        elif kind == 3:
            other = chance.randrange(len(out) + 1)
            out[at:at] = out[other : other + chance.choice([5, 50, 500])]
        else:
            out = out[: max(at, 20)]
    return bytes(out)


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_mutated_banks_are_harmless(format: str) -> None:
    chance = random.Random(format)
    seeds = [BANKS[format][:3_000].encode()]
    if FOLDER.is_dir():
        files = sorted(
            path for path in FOLDER.rglob("*") if path.is_file() and path.suffix in ("", ".txt", ".md", ".mdx", ".gift", ".json")
        )
        seeds += [chance.choice(files).read_bytes() for _ in range(20)]
    for i in range(40):
        data = mutated(seeds[i % len(seeds)], chance)
        harmless(data, "bank.md", format)
        harmless(data, "bank.txt", None)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300) | st.text(alphabet=ALPHABET + "ABQ1.T", max_size=300).map(str.encode), st.sampled_from(TEXT_FORMATS))
def test_any_bytes_are_harmless(data: bytes, format: str) -> None:
    harmless(data, "x", format)
    harmless(data, "x.csv", None)


RUNS = [
    *(
        "{",
        "}",
        "{=",
        "~",
        "\\",
        "\n",
        " ",
        "::",
        '"',
        '",',
        "```\n",
        "<details>",
        "|a",
        "**a",
        "A) ",
        "Answer: ",
        "$a",
        "$$",
        "\\(a",
        "\\[",
    ),
    *("&", "<b>", '<a href="', "<!--", "{/*", "![a](", "[", "((", "1. a\n", "_a", "#Q ", "{{c1::a", "# a\n", "9", "- ", "? ", "a:\n- b\n"),
    *(
        "// [id:",
        "[[questions]]\n",
        "a.b.",
        "a=[",
        '{"question":',
        "correct answer ",
        "A and ",
        "a---b\n",
        "COMMENT\n",
        "<p>",
        "\u00a0",
        "a,b\n",
    ),
]


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_long_runs_of_one_sign_take_linear_time(format: str) -> None:
    reader = next(reader for reader in READERS if reader.name == format)
    for run in RUNS:
        for start in ("", "1. q\nA) x\n", "::t::q{"):
            data = (start + run * (10_000 // len(run))).encode()
            began = time.process_time()
            reader.sniff(data, "x.txt")
            harmless(data, "x.txt", format)
            assert time.process_time() - began < 1, (format, start, run)
