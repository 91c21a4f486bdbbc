"""A harbour guide, a quiz on it, and replies made by hand: what judging and counting are tested on."""

from __future__ import annotations

from typing import Any

from content.model import (
    Accept,
    Choice,
    Choices,
    Guide,
    GuideRef,
    Item,
    Library,
    Match,
    Order,
    Pair,
    Question,
    Quiz,
    Section,
    Short,
    Text,
    TrueFalse,
)
from tutor import evaluation
from tutor.evaluation import Expect, Line, Outcome, Shown

GUIDE = Guide(
    "harbour",
    1,
    "The harbour",
    "en",
    "How the harbour works.",
    (
        Section("gates", "Gates", "The outer gate closes at dusk. It weighs 48 tons and was built in 1911."),
        Section("pilots", "Pilots", "A pilot boards every ship longer than 60 metres before it enters the basin."),
    ),
)


def question(question_id: str, body: Any, stem: str = "When does it happen?") -> Question:
    return Question(question_id, Text({"en": stem, "ko": "언제 일어나나요?"}), body, hints=(Text.of("Look at the gates."),))


GATE = question(
    "gate",
    Choices(
        (
            Choice("a", Text({"en": "At sunset every single evening", "ko": "매일 저녁 해가 질 때"}), credit=1.0),
            Choice("b", Text.of("When the harbour master rings twice")),
        )
    ),
)
WEIGHT = question("weight", Short(accept=(Accept(number=48.0), Accept(text="forty-eight"))))
OLD = question("old", TrueFalse(answer=True))
STEPS = question("steps", Order(tuple(Item(key, Text.of(text)) for key, text in (("1", "open"), ("2", "fill"), ("3", "sail")))))
PAIRS = question("pairs", Match((Pair("1", Text.of("pilot"), Text.of("boards ships")), Pair("2", Text.of("gate"), Text.of("keeps water")))))
QUIZ = Quiz("port", 1, Text.of("Port"), ("en", "ko"), (GATE, WEIGHT, OLD, STEPS, PAIRS), guide=GuideRef("harbour"))
LIBRARY = Library(quizzes={"port": QUIZ}, guides={"harbour": {"en": GUIDE}})


def item(expect: Expect = Expect.ANSWER, **more: Any) -> evaluation.Item:
    fields: dict[str, Any] = {"id": "x", "category": "c", "language": "en", "question": "When does the gate close?", "guide": "harbour"}
    return evaluation.Item(expect=expect, **(fields | more))


def shown(*lines: str | tuple[str, str], kind: str = "answer", **more: Any) -> Shown:
    """Lines are texts, or (text, section); a plain text cites the gates."""
    made = tuple(Line(line, ("harbour:gates",)) if isinstance(line, str) else Line(line[0], (line[1],)) for line in lines)
    fields: dict[str, Any] = {
        "question": "When?", "reason": None, "language": "en", "considered": ("harbour:gates",), "headings": (), "engine": "x",
    }  # fmt: skip
    return Shown(kind=kind, lines=made, **(fields | more))


def outcome(*turns: Shown) -> Outcome:
    return Outcome("x", turns)
