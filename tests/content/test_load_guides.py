"""Translations, guides and courses become exactly what their authors wrote.

Proves where each text of a translation goes, that a translation cannot change what is right, and how Markdown is cut into
sections. Quizzes themselves are in test_load.py.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

from content.load import load_course, load_guide, load_quiz
from content.model import Choices, Match, Open, Short, Text, TranslationOf, TrueFalse
from tests.content.test_load import ALL_TYPES
from tests.content.writing import GUIDE, SOUND, loaded

# translations


def test_a_translation_file_adds_its_texts_and_nothing_else(tmp_path: Path) -> None:
    korean = """\
translation_of: {id: tcp-basics, version: 4}
title: TCP 기초
questions:
- id: syn
  title: 첫 세그먼트
  stem: {ko: 어떤 플래그?}
  hints: [동기화]
  choices:
  - {id: a, text: 씬, feedback: 맞아요.}
  - {id: c, text: 없음}
- {id: ack, feedback: {"true": 아니요., "false": 예.}}
- {id: port, accept: [{}, {}, {}, {}, {}, {feedback: HTTP예요.}]}
- {id: gaps, stem: "{{b1}} 다음 {{b2}}", blanks: {b2: {choices: [{id: a, text: 애크}]}}}
- {id: why, reference: 둘 다., rubric: [{id: seq, criterion: 번호, levels: [{text: 모호}]}], probes: [둘이면?]}
- {id: ord, items: [{id: a, text: 씬}]}
- {id: mat, pairs: [{id: a, right: 에이치}], distractors: [{id: x, right: 에프}]}
"""
    original, _ = load_quiz(ALL_TYPES)
    found = loaded(tmp_path, {"quizzes/tcp-basics.quiz.yaml": ALL_TYPES, "quizzes/tcp-basics.ko.yaml": korean})
    assert found.faults == ()
    quiz = found.library.quizzes["tcp-basics"]
    assert original is not None
    assert quiz.languages == ("en", "zh", "ko")
    assert (quiz.title["ko"], quiz.questions[0].stem["ko"], quiz.questions[0].hints[0]["ko"]) == ("TCP 기초", "어떤 플래그?", "동기화")
    body = quiz.questions[0].body
    assert isinstance(body, Choices)
    assert body.choices[0].text == Text({"en": "SYN", "ko": "씬"})
    assert body.choices[0].feedback == Text({"en": "Right.", "ko": "맞아요."})
    assert [(choice.id, choice.credit, choice.fixed) for choice in body.choices] == [
        ("a", 1.0, False),
        ("b", -0.25, False),
        ("c", 0.0, True),
    ]
    true_false = quiz.questions[1].body
    assert isinstance(true_false, TrueFalse)
    assert (true_false.answer, true_false.feedback[True]["ko"]) == (False, "아니요.")
    assert quiz.questions[4].stem["ko"] == "{{b1}} 다음 {{b2}}"
    short = quiz.questions[3].body
    assert isinstance(short, Short)
    assert short.accept[5].feedback == Text({"en": "That is HTTP.", "ko": "HTTP예요."})
    opened = quiz.questions[5].body
    assert isinstance(opened, Open)
    assert (opened.rubric[0].criterion["ko"], opened.rubric[0].levels[0].text["ko"], opened.probes[0]["ko"]) == ("번호", "모호", "둘이면?")
    matched = quiz.questions[7].body
    assert isinstance(matched, Match)
    assert (matched.pairs[0].right["ko"], matched.pairs[0].left["ko"], matched.distractors[0].text["ko"]) == ("에이치", "80", "에프")


def test_a_translation_cannot_change_what_is_right(tmp_path: Path) -> None:
    korean = "translation_of: {id: tcp, version: 1}\nquestions:\n"
    korean += "- {id: syn, choices: [{id: a, text: 핀, correct: true}], accept: [{text: 핀}]}\n"
    found = loaded(tmp_path, {**SOUND, "quizzes/tcp.ko.quiz.yaml": korean})
    assert [(Path(fault.path).name, fault.line, fault.code) for fault in found.faults] == [
        ("tcp.ko.quiz.yaml", 3, "SCHEMA-UNKNOWN"),
        ("tcp.ko.quiz.yaml", 3, "SCHEMA-UNKNOWN"),
        ("tcp.ko.quiz.yaml", 3, "TRANS-EXTRA"),
    ]
    body = found.library.quizzes["tcp"].questions[0].body
    assert isinstance(body, Choices)
    assert [choice.credit for choice in body.choices] == [0.0, 1.0, 0.0]


def test_a_translation_without_a_language_in_its_name_is_refused(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"quizzes/tcp-korean.quiz.yaml": "translation_of: {id: tcp, version: 1}\ntitle: 제목\n"})
    assert [(fault.code, fault.line) for fault in found.faults] == [("TRANS-ORPHAN", 1)]


# guides


def test_a_guide_is_cut_into_sections_at_headings_outside_code() -> None:
    text = """\
---
schema: guide/1
id: g
version: 3
title: "A guide: the first"
lang: en
level: advanced
summary: All of it.
tags: [a, b]
prerequisites: [p]
quizzes: [q]
next: n
related: [r]
sources: ["Doc 1, section 2"]
reviewed: 2026-11-29
glossary: {engine: what runs, "plan": what is stored}
narration: |
  Listen.
  Closely.
source: {author: Ada}
---

## First part {#first}
> One sentence. **Two** sentences
> over two lines.

Text <!-- facts: T-001, T-002 -->with facts.

```python
## not a heading {#no}
# <!-- facts: T-009 -->
```
### A third level stays in the body
    ## neither is this

<!-- facts: Q-003 -->
## Second part
> [!NOTE]
> An alert is text.

Setext heading {#third}
-----------------------
* a list
  > a quote in it

## Questions {#faq}

Ask away.

### Why? {#faq-why}
> A quoted answer stays.

Because. <!-- facts: C-001 -->

### How? {#faq-how}
So.
"""
    guide, faults = load_guide(text)
    assert guide is not None
    assert [(fault.line, fault.code) for fault in faults] == [(37, "GUIDE-ANCHOR")]
    assert [(section.id, section.faq, section.line) for section in guide.sections] == [
        ("first", False, 23),
        ("second-part", False, 37),
        ("third", False, 41),
        ("faq", False, 46),
        ("faq-why", True, 50),
        ("faq-how", True, 55),
    ]
    first, second, third, faq, why, how = guide.sections
    assert first.heading == "First part"
    assert first.summary == "One sentence. **Two** sentences over two lines."
    assert first.facts == ("T-001", "T-002", "Q-003")
    assert first.body == (
        "Text with facts.\n\n```python\n## not a heading {#no}\n# <!-- facts: T-009 -->\n```\n"
        "### A third level stays in the body\n    ## neither is this"
    )
    assert (second.summary, second.body) == ("", "> [!NOTE]\n> An alert is text.")
    assert third.body == "* a list\n  > a quote in it"
    assert faq.body == "Ask away."
    assert (why.heading, why.summary, why.body, why.facts) == ("Why?", "", "> A quoted answer stays.\n\nBecause.", ("C-001",))
    assert how.body == "So."
    assert (guide.id, guide.version, guide.title, guide.language, guide.level) == ("g", 3, "A guide: the first", "en", "advanced")
    assert (guide.prerequisites, guide.quizzes, guide.next, guide.related) == (("p",), ("q",), "n", ("r",))
    assert (guide.sources, guide.reviewed, guide.narration) == (
        ("Doc 1, section 2",),
        date(2026, 11, 29),
        "Listen.\nCloselY.".replace("Y", "y"),
    )
    assert [(term.term, term.meaning) for term in guide.glossary] == [("engine", "what runs"), ("plan", "what is stored")]


def test_a_translated_guide_takes_links_and_facts_from_its_original(tmp_path: Path) -> None:
    korean = """\
---
schema: guide/1
lang: ko
translation_of: {id: tcp-guide, version: 2}
title: TCP 연결
summary: 연결과 종료.
---
## 핸드셰이크 {#handshake}
> 요약. 요약.

글.

## 질문 {#faq}
### 왜 셋인가요? {#faq-three}
양쪽을 확인합니다.
"""
    found = loaded(tmp_path, {**SOUND, "guides/tcp-guide.ko.md": korean})
    assert found.faults == ()
    guide = found.library.guide("tcp-guide", "ko")
    assert guide is not None
    assert (guide.language, guide.title, guide.version, guide.translation_of) == ("ko", "TCP 연결", 2, TranslationOf("tcp-guide", 2))
    assert (guide.quizzes, guide.level, guide.sections[1].facts) == (("tcp",), "intermediate", ("T-001",))
    assert list(found.library.guides["tcp-guide"]) == ["en", "ko"]


def test_a_broken_section_leaves_the_rest_of_its_guide(tmp_path: Path) -> None:
    text = GUIDE.replace("## Questions", "## Again {#handshake}\nTwice.\n\n## Questions")
    found = loaded(tmp_path, {**SOUND, "guides/tcp-guide.md": text})
    assert [(fault.line, fault.code) for fault in found.faults] == [(15, "ID-DUPLICATE")]
    assert [section.id for section in found.library.guides["tcp-guide"]["en"].sections] == ["handshake", "faq-three"]


def test_a_faulty_key_in_front_matter_has_its_line_in_the_file() -> None:
    guide, faults = load_guide(GUIDE.replace("summary: Handshake", "sumary: x\nsummary: Handshake"))
    assert guide is not None
    assert [(fault.line, fault.code) for fault in faults] == [(6, "SCHEMA-UNKNOWN")]
    assert "'summary'" in faults[0].remedy


def test_a_course_names_its_steps_in_order() -> None:
    text = "schema: course/1\nid: c\nversion: 2\ntitle: C\nsteps:\n- guide: g\n- quiz: q\npass_mark: 0.75\ncertificate: {en: Well done}\n"
    course, faults = load_course(text)
    assert faults == ()
    assert course is not None
    assert ([(step.kind, step.id) for step in course.steps], course.pass_mark) == ([("guide", "g"), ("quiz", "q")], 0.75)
    assert course.certificate == Text({"en": "Well done"})
