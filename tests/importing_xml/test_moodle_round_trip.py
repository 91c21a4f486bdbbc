"""A quiz written as Moodle XML reads back the same: every type, with titles, hints, tags, points, rubrics and gaps.

Proves parse(write(quiz)) == quiz for what the format holds, and that foreign files keep their meaning through both.
Choices, typed answers and numbers with every odd sign are generated in tests/importing/test_round_trips.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from content.model import (
    Accept,
    Blank,
    Choice,
    Choices,
    Criterion,
    Item,
    Match,
    Open,
    Order,
    Pair,
    Question,
    Quiz,
    RubricLevel,
    Scoring,
    Severity,
    Short,
    Text,
    TrueFalse,
)
from content.readers.base import Import, choice_id
from content.readers.markup import plain_to_markdown
from content.readers.moodle_xml import MoodleXmlReader
from content.writers.moodle_xml import MoodleXmlWriter

LETTERS = "abc deZ019 .,;!?'\"<&>#~={}/%éßΩЖ中文한עב😀()-"
word = st.text(alphabet=LETTERS, min_size=1, max_size=25).map(lambda text: " ".join(text.split())).filter(bool)
text = word.map(plain_to_markdown).map(Text.of)
few = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read_back(*questions: Question) -> Import:
    quiz = Quiz("sample", 1, Text.of("Sample"), ("en",), questions)
    data = MoodleXmlWriter().write(quiz, "en").data
    result = MoodleXmlReader().read(data, "sample.xml")
    assert not result.count(Severity.ERROR), (result.problems, data.decode())
    return replace(result, questions=tuple(replace(question, line=0, extra={}) for question in result.questions))


@st.composite
def matches(draw: st.DrawFn) -> Match:
    pairs = tuple(Pair(choice_id(i), draw(text), draw(text)) for i in range(draw(st.integers(2, 4))))
    distractors = tuple(Item(f"x{i + 1}", draw(text)) for i in range(draw(st.integers(0, 2))))
    return Match(pairs, distractors, draw(st.sampled_from([Scoring.ALL_OR_NOTHING, Scoring.PER_CHOICE])))


orders = st.builds(
    lambda texts, scoring: Order(tuple(Item(choice_id(i), one) for i, one in enumerate(texts)), scoring),
    st.lists(text, min_size=2, max_size=6),
    st.sampled_from(list(Scoring)),
)


@st.composite
def essays(draw: st.DrawFn) -> Open:
    level = st.builds(RubricLevel, st.sampled_from([0.5, 1.0]), text)
    rubric = tuple(
        Criterion(f"k-{i}", draw(st.sampled_from([1.0, 2.5])), draw(text), tuple(draw(st.lists(level, max_size=2))))
        for i in range(draw(st.integers(0, 3)))
    )
    return Open(draw(text) if rubric else None, rubric)


@st.composite
def gaps(draw: st.DrawFn) -> tuple[str, Short]:
    stem = draw(word).replace("{", "(").replace("}", ")")
    blanks: list[Blank] = []
    for i in range(1, draw(st.integers(1, 3)) + 1):
        words = draw(st.lists(word, min_size=2, max_size=4))
        match draw(st.integers(0, 2)):
            case 0:
                blank = Blank(f"b{i}", accept=tuple(Accept(text=one, credit=draw(st.sampled_from([1.0, 0.5]))) for one in words))
            case 1:
                blank = Blank(f"b{i}", accept=(Accept(number=float(draw(st.integers(-99, 99))), tolerance=0.5),))
            case _:
                options = (Choice(choice_id(n), Text.of(plain_to_markdown(one)), float(n == 0)) for n, one in enumerate(words))
                blank = Blank(f"b{i}", choices=tuple(options))
        blanks.append(blank)
        stem += " {{" + blank.id + "}}"
    return stem, Short(blanks=tuple(blanks))


@few
@given(body=st.one_of(matches(), orders, essays()), stem=word, explanation=st.none() | text, hints=st.lists(text, max_size=2))
def test_matching_ordering_and_essays_come_back(body: Match | Order | Open, stem: str, explanation: Text | None, hints: list[Text]) -> None:
    question = Question("q-1", Text.of(stem), body, explanation=explanation, hints=tuple(hints), points=2.5)
    if isinstance(body, Match):
        question = replace(question, shuffle=False)
    assert read_back(question).questions == (question,)


@few
@given(gaps())
def test_texts_with_gaps_come_back(made: tuple[str, Short]) -> None:
    stem, body = made
    question = Question("q-1", Text.of(stem), body)
    assert read_back(question).questions == (question,)


@few
@given(title=word, tags=st.lists(word, max_size=3, unique=True), difficulty=st.integers(1, 5))
def test_titles_tags_and_difficulty_come_back(title: str, tags: list[str], difficulty: int) -> None:
    question = Question(
        "q-1", Text.of("Zzz?"), TrueFalse(True), title=Text.of(plain_to_markdown(title)), tags=tuple(tags), difficulty=difficulty
    )
    assert read_back(question).questions == (question,)


@pytest.mark.parametrize("path", ["moodle-xml/multichoices.xml", "moodle-xml/matching.xml"])
def test_a_foreign_file_means_the_same_after_both_ways(sample: Callable[[str], bytes], path: str) -> None:
    first = MoodleXmlReader().read(sample(path), "bank.xml")
    assert first.quiz is not None
    again = MoodleXmlReader().read(MoodleXmlWriter().write(first.quiz, "en").data, "bank.xml")

    def meaning(result: Import) -> list[Question]:
        return [replace(question, line=0, extra={}) for question in result.questions]

    def kept(result: Import, field: str) -> list[object]:
        return [question.extra["moodle-xml"].get(field) for question in result.questions]

    assert meaning(again) == meaning(first)
    assert all(kept(again, field) == kept(first, field) for field in ("fractions", "penalty", "correctfeedback", "answernumbering"))


def test_all_or_nothing_is_kept_though_moodle_has_no_such_thing() -> None:
    choices = tuple(Choice(choice_id(i), Text.of(str(i)), float(i < 2)) for i in range(4))
    question = Question("q-1", Text.of("Which?"), Choices(choices, many=True, scoring=Scoring.ALL_OR_NOTHING))
    assert read_back(question).questions == (question,)
