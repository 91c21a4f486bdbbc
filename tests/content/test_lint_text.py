"""What a text may not hold, and what looks like it but may; each finding stands on the line of the text it is about.

The second half proves the places: in block and flow style, in a translation file, and inside a guide.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from content.lint_text import findings, suspicious
from tests.content.writing import GUIDE, QUIZ, SOUND, faults_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Ask @everyone", "TEXT-MENTION"),
        ("Ask @Here.", "TEXT-MENTION"),
        ("Ask <@123456789>", "TEXT-MENTION"),
        ("Ask <@&123456789>", "TEXT-MENTION"),
        ("in <#123456789>", "TEXT-MENTION"),
        ("use </quiz play:123>", "TEXT-MENTION"),
        ("see https://example.org/x", "TEXT-LINK"),
        ("see http://docs.nvidia.com/x", "TEXT-LINK"),
        ("see https://docs.nvidia.com@evil.example/x", "TEXT-LINK"),
        ("see https://docs.nvidia.com.evil.example/x", "TEXT-LINK"),
        ("[x](https://discord.gg/abc)", "TEXT-LINK"),
        ("[x](javascript:alert(1))", "TEXT-SCHEME"),
        ("[x](data:text/html,hi)", "TEXT-SCHEME"),
        ("<file:///etc/passwd>", "TEXT-SCHEME"),
        ("[https://docs.nvidia.com](https://github.com/x)", "TEXT-SCHEME"),
        ("[github.com](https://arxiv.org/x)", "TEXT-SCHEME"),
        ("zero\u200bwidth", "TEXT-HIDDEN"),
        ("\u202eabc", "TEXT-HIDDEN"),
        ("\u2066abc\u2069", "TEXT-HIDDEN"),
        ("tag\U000e0041", "TEXT-HIDDEN"),
        ("a\u200db", "TEXT-HIDDEN"),
        ("a\u200fb", "TEXT-HIDDEN"),
        ("soft\u00adhyphen", "TEXT-HIDDEN"),
        ("\u3164", "TEXT-HIDDEN"),
        ("bell\x07", "TEXT-HIDDEN"),
        ("<|im_start|>system", "TEXT-TOKEN"),
        ("in code `<|endoftext|>` too", "TEXT-TOKEN"),
        ("[INST] obey [/INST]", "TEXT-TOKEN"),
        ("<<SYS>>", "TEXT-TOKEN"),
        ("<start_of_turn>user", "TEXT-TOKEN"),
        ("<｜begin▁of▁sentence｜>", "TEXT-TOKEN"),
        ("<think>", "TEXT-TOKEN"),
        ("cafe\u0301", "TEXT-NFC"),
        ("\u1112\u1161\u11ab", "TEXT-NFC"),
        ("a <b>bold</b> word", "TEXT-HTML"),
        ("<!-- hidden -->", "TEXT-HTML"),
        ("vector<float> x", "TEXT-HTML"),
        ("```\nopen", "TEXT-MARKDOWN"),
        ("an `open span", "TEXT-MARKDOWN"),
        ("**bold", "TEXT-MARKDOWN"),
        ("a || b", "TEXT-MARKDOWN"),
    ],
)
def test_what_a_text_may_not_hold_is_found(text: str, code: str) -> None:
    assert suspicious(text)
    assert code in {found.code for found in findings(text)}


@pytest.mark.parametrize(
    "text",
    [
        "Write to someone@example.org",
        "`@everyone` in code",
        "```\n@here <b> https://x.y ||\n```",
        "[docs](https://docs.nvidia.com/tensorrt) and https://github.com/NVIDIA.",
        "[github.com](https://github.com/x), [NVIDIA docs](https://docs.nvidia.com)",
        "<https://arxiv.org/abs/2305.14314>",
        "<t:1700000000:R>",
        "kernel`<<<grid, block>>>`(x)",
        "kernel<<<grid, block>>>(x)",
        "a < b and c > d",
        "family 👨‍👩‍👧 and ❤️‍🔥",
        "نمی\u200cخواهم",
        "עברית \u200fabc",
        "α, ά, 한국어, русский, 中文。",
        "**bold** and *it* and ||spoiler|| and `code` and ``a ` b``",
        "2 * 3 * 4, a_b_c, \\*\\*escaped",
        "- [ ] a box, [1], [INSTALL]",
        "$a_1 < b^2$",
        "|a|b|\n|-|-|",
    ],
)
def test_what_only_looks_alike_is_left_alone(text: str) -> None:
    assert findings(text) == []


def test_hosts_may_be_allowed_by_the_caller() -> None:
    assert findings("https://wiki.example.org/x", hosts=("example.org",)) == []
    assert [found.code for found in findings("https://notexample.org/x", hosts=("example.org",))] == ["TEXT-LINK"]


def test_a_finding_in_a_block_scalar_has_the_line_of_what_was_found(tmp_path: Path) -> None:
    text = QUIZ.replace(
        '  explanation: {en: "The first segment carries SYN."}\n',
        "  explanation:\n    en: |\n      One line.\n\n      Ask @here about it.\n",
    )
    found = faults_of(tmp_path, {**SOUND, "quizzes/tcp.quiz.yaml": text})
    assert [(fault.code, fault.line) for fault in found] == [("TEXT-MENTION", 15)]
    assert found[0].what.startswith("question 'syn': explanation (en) holds the mention '@here'")


def test_a_finding_in_a_translation_is_in_the_file_of_the_translation(tmp_path: Path) -> None:
    korean = """\
translation_of: {id: tcp, version: 1}
title: 제목
questions:
- id: syn
  stem: 어떤 플래그?
  explanation: 설명.
  choices:
  - {id: a, text: 핀, feedback: 닫아요.}
  - {id: b, text: 씬, feedback: 맞아요 @everyone}
  - {id: c, text: 알, feedback: 끊어요.}
"""
    found = faults_of(tmp_path, {**SOUND, "quizzes/tcp.ko.quiz.yaml": korean})
    shown = [(Path(fault.path).name, fault.code, fault.line) for fault in found if fault.code != "TRANS-GUIDE"]
    assert shown == [("tcp.ko.quiz.yaml", "TEXT-MENTION", 9)]


def test_a_finding_in_flow_style_has_at_least_the_line_of_its_question(tmp_path: Path) -> None:
    text = "{schema: quiz/1, id: tcp, version: 1, title: T, languages: [en],\n questions: [\n  {id: q, type: info, stem: '@here'}]}\n"
    found = faults_of(tmp_path, {"quizzes/tcp.quiz.yaml": text})
    assert [(fault.code, fault.line) for fault in found] == [("TEXT-MENTION", 3)]


def test_a_finding_in_a_guide_has_its_line_in_the_file(tmp_path: Path) -> None:
    text = GUIDE.replace("The client sends SYN.", "The client\nsends <b>SYN</b>.")
    text = text.replace("summary: Handshake and teardown.", "summary: '@here, look'")
    found = faults_of(tmp_path, {**SOUND, "guides/tcp-guide.md": text})
    assert [(fault.code, fault.line) for fault in found] == [("TEXT-MENTION", 6), ("TEXT-HTML", 14), ("TEXT-HTML", 14)]
