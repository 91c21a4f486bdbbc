"""Small content folders for tests: a sound quiz and guide, and ways to break them."""

from __future__ import annotations

from pathlib import Path

from content.check import check
from content.load import Loaded, load_library
from content.model import Fault

HEAD = "schema: quiz/1\nid: tcp\nversion: 1\ntitle: TCP\nlanguages: [en]\nquestions:\n"
SYN = """\
- id: syn
  type: single
  stem: {en: "Which flag opens a connection?"}
  explanation: {en: "The first segment carries SYN."}
  evidence: [handshake]
  facts: [T-001]
  choices:
  - {id: a, text: FIN, feedback: {en: That one closes.}, facts: [T-001]}
  - {id: b, text: SYN, correct: true, feedback: {en: Right.}, facts: [T-001]}
  - {id: c, text: RST, feedback: {en: That one aborts.}, facts: [T-001]}
"""
QUIZ = HEAD.replace("questions:", "guide: {id: tcp-guide, section: handshake}\nquestions:") + SYN
GUIDE = """\
---
schema: guide/1
id: tcp-guide
version: 2
title: How TCP connects
summary: Handshake and teardown.
quizzes: [tcp]
---
## Handshake {#handshake}

> Three segments open a connection. Both sides learn a number.

The client sends SYN.

## Questions {#faq}

### Why three? {#faq-three}
<!-- facts: T-001 -->
Because both directions are confirmed.
"""
COURSE = "schema: course/1\nid: net\nversion: 1\ntitle: Networks\nsteps: [{guide: tcp-guide}, {quiz: tcp}]\npass_mark: 70%\n"
SOUND = {"quizzes/tcp.quiz.yaml": QUIZ, "guides/tcp-guide.md": GUIDE, "courses/net.yaml": COURSE}


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return folder


def loaded(folder: Path, files: dict[str, str | bytes]) -> Loaded:
    return load_library([write(folder, files)])


def faults_of(folder: Path, files: dict[str, str | bytes], facts: dict[str, str] | None = None) -> tuple[Fault, ...]:
    return check(loaded(folder, files), facts=facts)


def question(body: str, *, kind: str = "single", name: str = "q", stem: str = "What is it?") -> str:
    """A one-question quiz file without a guide; `body` holds the lines below type and stem, indented by two."""
    return f"{HEAD}- id: {name}\n  type: {kind}\n  stem: {stem}\n{body}"
