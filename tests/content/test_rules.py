"""Every rule of the table is broken once, in a real file, and reported on the right line; and the documentation lists every rule.

Proves that each code can be reported, at a line, and that a sound library breaks none. It does not prove that a rule finds
every way of breaking it: test_load.py and the test_lint_* files go into those.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from content.check import check
from content.facts import load_facts
from content.load import load_library
from content.rules import RULES
from tests.content.writing import COURSE, GUIDE, HEAD, QUIZ, SOUND, SYN, faults_of, question, write

ROOT = Path(__file__).parents[2]
FACTS = {"T-001": "a fact"}
Files = dict[str, str | bytes]

TWO = '  choices: [{id: a, text: "One of them", correct: true}, {id: b, text: "Quite another"}]\n'
PLAIN = question(TWO)


def quiz(text: str) -> Files:
    return {"quizzes/tcp.quiz.yaml": text}


def changed(name: str, before: str, after: str) -> Files:
    text = SOUND[name]
    assert before in text, f"{before!r} is not in {name}"
    return {**SOUND, name: text.replace(before, after)}


def in_quiz(before: str, after: str) -> Files:
    return changed("quizzes/tcp.quiz.yaml", before, after)


def in_guide(before: str, after: str) -> Files:
    return changed("guides/tcp-guide.md", before, after)


def several(count: int, *, key: int | None = None, wide: bool = False) -> str:
    """`count` single-choice questions whose key stands at `key` (None: spread), and is the longest option when `wide`."""
    text = HEAD
    for number in range(count):
        place = number % 3 if key is None else key
        text += f"- id: q{number}\n  type: single\n  stem: Question number {number}?\n  choices:\n"
        for at in range(3):
            right = at == place
            option = f"answer {number} {at} and more words" if right and wide else f"answer {number} {at}"
            text += f"  - {{id: c{at}, text: {option}{', correct: true' if right else ''}}}\n"
    return text


KO = "schema: quiz/1\ntranslation_of: {id: tcp, version: 1}\ntitle: 티씨피\nquestions:\n- id: syn\n  stem: 연결을 여는 플래그는?\n"
GUIDE_KO = """\
---
schema: guide/1
translation_of: {id: tcp-guide, version: 2}
title: 제목
summary: 요약.
---
## 연결 {#handshake}
> 요약. 요약.

글.

## 질문 {#faq}
### 왜? {#faq-three}
글.
"""
LONG = "x" * 90

# code -> (files, line of the fault)
EXAMPLES: dict[str, tuple[Files, int]] = {
    "FILE-READ": (quiz("a: b\nc: \xff".encode("latin-1")), 2),
    "FILE-NAME": ({"quizzes/other.quiz.yaml": PLAIN}, 1),
    "FILE-STRAY": ({"quizzes/tcp.yml": PLAIN}, 1),
    "YAML-SYNTAX": (quiz(HEAD + '- id: q\n  type: single\n  stem: "open\n'), 9),
    "YAML-LIMIT": (quiz(HEAD + "- " + "[" * 40 + "]" * 40), 7),
    "YAML-ALIAS": (in_quiz("text: SYN", "text: &key SYN"), 16),
    "YAML-DUPLICATE": (in_quiz("  facts: [T-001]\n", "  facts: [T-001]\n  facts: []\n"), 14),
    "YAML-TRAP": (in_quiz("text: SYN", "text: yes"), 16),
    "YAML-NUMBER": (in_quiz("text: SYN", "text: 443"), 16),
    "YAML-NO": (in_quiz("  stem: {en: ", "  stem: {no: Hei?, en: "), 10),
    "SCHEMA-VERSION": (in_quiz("quiz/1", "quiz/2"), 1),
    "SCHEMA-MISSING": (in_quiz("title: TCP\n", ""), 1),
    "SCHEMA-UNKNOWN": (in_quiz("  explanation:", "  explanaton:"), 11),
    "SCHEMA-TYPE": (in_quiz("{en: That one closes.}", "[That one closes.]"), 15),
    "SCHEMA-VALUE": (in_quiz("  facts: [T-001]\n", "  difficulty: 9\n"), 13),
    "ID-MISSING": (in_quiz("- id: syn\n  type", "- type"), 8),
    "ID-FORM": (in_quiz("- id: syn", "- id: Syn Flag"), 8),
    "ID-DUPLICATE": (quiz(QUIZ + SYN), 18),
    "LANG-CODE": (in_quiz("  stem: {en: ", "  stem: {English: What?, en: "), 10),
    "LANG-UNLISTED": (in_quiz("  stem: {en: ", "  stem: {ru: Что?, en: "), 10),
    "LANG-DEFAULT": (
        {
            **SOUND,
            "quizzes/tcp.quiz.yaml": QUIZ.replace("languages: [en]", "languages: [en, ru]").replace(
                "{en: That one closes.}", "{ru: Закрывает.}"
            ),
        },
        15,
    ),
    "QUIZ-EMPTY": (quiz(HEAD + "- {id: q, type: single}\n"), 6),
    "QUIZ-KEY": (in_quiz(", correct: true", ""), 15),
    "QUIZ-CHOICES": (quiz(question("  choices:\n  - {id: a, text: SYN, correct: true}\n")), 11),
    "QUIZ-BLANKS": (quiz(question("  blanks: {b: {accept: [{text: x}]}}\n", kind="short", stem='"{{a}}"')), 9),
    "QUIZ-REGEX": (quiz(question("  accept:\n  - {text: x}\n  - {regex: '^(?=a)$'}\n", kind="short")), 12),
    "QUIZ-SELECT": (in_quiz("questions:", "select: {pick: 9}\nquestions:"), 7),
    "MEDIA-MISSING": (in_quiz("  facts: [T-001]\n", "  media: [{id: m, file: no.png, alt: x, licence: CC0-1.0}]\n"), 8),
    "MEDIA-HASH": (in_quiz("  facts: [T-001]\n", "  media: [{id: m, url: 'https://x.org', sha256: abc, alt: x, licence: CC0-1.0}]\n"), 13),
    "MEDIA-LICENCE": (in_quiz("  facts: [T-001]\n", "  media: [{id: m, url: 'https://x.org', alt: x}]\n"), 13),
    "GUIDE-FRONT": ({"guides/x.md": "## Hello\ntext\n"}, 1),
    "GUIDE-EMPTY": (in_guide("The client sends SYN.\n", "The client sends SYN.\n\n## Nothing {#nothing}\n"), 15),
    "GUIDE-LOOSE": (in_guide("## Handshake", "Hello.\n\n## Handshake"), 9),
    "GUIDE-ANCHOR": (in_guide("## Handshake {#handshake}", "## Handshake"), 9),
    "GUIDE-SUMMARY": (in_guide("> Three", "Three"), 9),
    "LEVEL-OTHER": (in_quiz("version: 1", "version: 1\nlevel: begginer"), 4),
    "TRANS-ORPHAN": (SOUND | {"quizzes/udp.ko.quiz.yaml": KO.replace("id: tcp", "id: udp")}, 2),
    "TRANS-EXTRA": (SOUND | {"quizzes/tcp.ko.quiz.yaml": KO.replace("id: syn", "id: ack")}, 5),
    "TRANS-STALE": (SOUND | {"quizzes/tcp.ko.quiz.yaml": KO.replace("version: 1", "version: 7")}, 2),
    "TRANS-MISSING": (in_quiz("languages: [en]", "languages: [en, ru]"), 5),
    "TRANS-FALLBACK": (SOUND | {"quizzes/tcp.ko.quiz.yaml": KO}, 8),
    "TRANS-NEUTRAL": (
        SOUND | {"quizzes/tcp.ko.quiz.yaml": KO, "quizzes/tcp.quiz.yaml": QUIZ.replace("{en: That one closes.}", "That one closes it.")},
        8,
    ),
    "TRANS-SECTION": (SOUND | {"guides/tcp-guide.ko.md": GUIDE_KO.replace("#handshake", "#hanshake")}, 7),
    "TRANS-GUIDE": (
        SOUND | {"guides/udp.md": GUIDE.replace("tcp-guide", "udp"), "guides/udp.ko.md": GUIDE_KO.replace("tcp-guide", "udp")},
        1,
    ),
    "LINK-GUIDE": (in_quiz("id: tcp-guide", "id: tcp-gide"), 6),
    "LINK-SECTION": (in_quiz("evidence: [handshake]", "evidence:\n  - hanshake"), 13),
    "LINK-QUIZ": ({**SOUND, "courses/net.yaml": COURSE.replace("quiz: tcp", "quiz: tcpp")}, 5),
    "LINK-PREREQUISITE": (in_guide("quizzes: [tcp]", "quizzes: [tcp]\nprerequisites: [ip]"), 8),
    "LINK-ANCHOR": (in_guide("The client sends SYN.", "The client sends SYN.\nSee [this](#nothing)."), 14),
    "EVIDENCE-NONE": (in_quiz("  evidence: [handshake]\n", ""), 8),
    "LIMIT-BUTTON": (in_quiz("text: SYN", f"text: {LONG}"), 16),
    "LIMIT-SELECT": (in_quiz("text: SYN", f"text: {LONG}{LONG}"), 16),
    "LIMIT-CHOICES": (
        quiz(question("  choices:\n  - {id: a, text: k, correct: true}\n" + "".join(f"  - {{id: c{n}, text: w{n}}}\n" for n in range(25)))),
        11,
    ),
    "LIMIT-EMBED": (in_quiz("Which flag opens a connection?", "Which? " * 600), 10),
    "LIMIT-PAGES": (
        quiz(question(f"  reference: {'Because. ' * 500}\n  rubric: [{{id: a, points: 1, criterion: it}}]\n", kind="open")),
        10,
    ),
    "LIMIT-TITLE": (in_quiz("title: TCP", f"title: {LONG}{LONG}{LONG}"), 4),
    "LIMIT-NAME": (in_quiz("title: TCP", f"title: {LONG}{LONG}"), 4),
    "LIMIT-FIELD": (in_quiz("The first segment carries SYN.", "Because. " * 150), 11),
    "KEY-POSITION": (quiz(several(5, key=1)), 6),
    "KEY-LENGTH": (quiz(several(6, wide=True)), 6),
    "OPTION-DUPLICATE": (
        {**SOUND, "quizzes/tcp.quiz.yaml": QUIZ.replace("text: FIN", "text: A  segment").replace("text: RST", "text: a **segment**.")},
        17,
    ),
    "OPTION-OVERLAP": (
        {**SOUND, "quizzes/tcp.quiz.yaml": QUIZ.replace("text: FIN", "text: a segment").replace("text: RST", "text: a segment with RST")},
        17,
    ),
    "OPTION-ALL-NONE": (in_quiz("text: RST", "text: All of the above"), 17),
    "OPTION-ABSOLUTE": (in_quiz("text: RST", "text: Always RST"), 17),
    "STEM-NEGATIVE": (in_quiz("Which flag opens a connection?", "Which flag does not open a connection?"), 10),
    "STEM-GIVEAWAY": (
        quiz(
            HEAD
            + SYN.replace("text: SYN", "text: the SYN segment")
            + SYN.replace("id: syn", "id: ack").replace("Which flag", "After the SYN segment, what")
        ),
        19,
    ),
    "STEM-DUPLICATE": (quiz(HEAD + SYN + SYN.replace("id: syn", "id: ack")), 19),
    "TIME-SHORT": (in_quiz("  facts: [T-001]\n", "  time_limit: 3\n"), 13),
    "EXPLANATION-MISSING": (in_quiz('  explanation: {en: "The first segment carries SYN."}\n', ""), 8),
    "FEEDBACK-MISSING": (in_quiz(", feedback: {en: That one closes.}", ""), 8),
    "REFERENCE-MISSING": (quiz(question("", kind="open")), 7),
    "TEXT-MENTION": (in_quiz("That one aborts.", "Ask @everyone."), 17),
    "TEXT-LINK": (in_quiz("That one aborts.", "See https://example.org now."), 17),
    "TEXT-SCHEME": (in_quiz("{en: That one aborts.}", '{en: "See [this](javascript:alert)."}'), 17),
    "TEXT-HIDDEN": (in_quiz("That one aborts.", "That\u200b one aborts."), 17),
    "TEXT-TOKEN": (in_quiz("That one aborts.", "That <|im_start|> one aborts."), 17),
    "TEXT-NFC": (in_quiz("That one aborts.", "That cafe\u0301 aborts."), 17),
    "TEXT-HTML": (in_quiz("That one aborts.", "That <b>one</b> aborts."), 17),
    "TEXT-MARKDOWN": (in_quiz("That one aborts.", "That **one aborts."), 17),
    "FACT-FORM": (in_quiz("  facts: [T-001]\n", "  facts: [T001]\n"), 13),
    "FACT-UNKNOWN": (in_quiz("  facts: [T-001]\n", "  facts: [T-002]\n"), 13),
    "FACT-NONE": (in_guide("<!-- facts: T-001 -->\n", ""), 17),
    "FACT-SHARED": (in_quiz("{en: That one closes.}, facts: [T-001]", "{en: That one closes.}"), 8),
}
ELSEWHERE = {"FACT-TABLE": "the table of facts is not a content file: test_a_broken_table_of_facts_is_reported"}


def test_a_sound_library_breaks_no_rule(tmp_path: Path) -> None:
    assert faults_of(tmp_path, dict(SOUND), FACTS) == ()


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_a_broken_rule_is_reported_on_its_line(tmp_path: Path, code: str) -> None:
    files, line = EXAMPLES[code]
    found = faults_of(tmp_path, files, FACTS)
    lines = [fault.line for fault in found if fault.code == code]
    assert line in lines, "\n".join(map(str, found))
    assert all(fault.severity is RULES[fault.code].severity for fault in found)


def test_every_rule_has_an_example() -> None:
    assert EXAMPLES.keys() | ELSEWHERE.keys() == RULES.keys()


def test_a_broken_table_of_facts_is_reported(tmp_path: Path) -> None:
    write(tmp_path, {"facts.yaml": "- {id: T-001, fact: One}\n- {id: T-001, fact: Again}\n- {id: T1, fact: Odd}\n- {id: T-003, fact: }\n"})
    found = load_facts(tmp_path / "facts.yaml")
    assert [(fault.line, fault.code) for fault in found.faults] == [(2, "FACT-TABLE"), (3, "FACT-FORM"), (4, "SCHEMA-VALUE")]
    assert list(found.by_id) == ["T-001"]


def test_facts_are_read_from_the_rows_of_a_markdown_table(tmp_path: Path) -> None:
    table = "# Facts\n| id | fact | source | holds for |\n|---|---|---|---|\n| T-001 | It is so. | DOC | v1 |\n| C-012b | And so. | X |\n"
    write(tmp_path, {"facts.md": table})
    found = load_facts(tmp_path / "facts.md")
    assert found.faults == ()
    assert [(fact.id, fact.fact, fact.source, fact.holds_for, fact.line) for fact in found.by_id.values()] == [
        ("T-001", "It is so.", "DOC", "v1", 4),
        ("C-012b", "And so.", "X", "", 5),
    ]


def test_without_a_table_of_facts_no_rule_about_facts_is_applied(tmp_path: Path) -> None:
    files = in_quiz("facts: [T-001]\n", "facts: [T-999]\n")
    assert check(load_library([write(tmp_path, files)])) == ()


def test_the_documentation_lists_every_rule_with_its_severity_and_sentence() -> None:
    text = (ROOT / "docs/content-format.md").read_text("utf-8")
    written = re.findall(r"^\| `([A-Z]+-[A-Z-]+)` \| (error|warning|note)( \(fixed\))? \| (.+) \|$", text, re.MULTILINE)
    assert written == [(rule.code, str(rule.severity), " (fixed)" if rule.fixable else "", rule.sentence) for rule in RULES.values()]
