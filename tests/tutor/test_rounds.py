"""A solo round as plain values: whatever is pressed in whatever order, each question counts once."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.model import Choice, Choices, Info, Item, Order, Question, Quiz, Select, Text
from tutor import rounds
from tutor.errors import StaleAnswer
from tutor.grading import Selected, grade
from tutor.rounds import Mode, Round

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def question(key: str, **more: object) -> Question:
    return Question(key, Text.of(key), Choices((Choice("a", Text.of("A"), credit=1), Choice("b", Text.of("B")))), **more)  # type: ignore[arg-type]


def quiz(*questions: Question, **more: object) -> Quiz:
    return Quiz("quiz", 1, Text.of("Quiz"), ("en",), questions, **more)  # type: ignore[arg-type]


def started(quiz_: Quiz) -> Round:
    ids = tuple(q.id for q in quiz_.questions)
    return Round("0" * 12, 1, None, None, quiz_.id, 1, "en", Mode.PRACTICE, ids, {}, NOW, NOW)


def pressed(round_: Round, quiz_: Quiz, key: str, choice: str, second: int) -> Round:
    asked = quiz_.question(key)
    assert asked is not None
    response = Selected((choice,))
    return round_.answered(key, response, grade(asked, response, "en"), asked.points, now=NOW + timedelta(seconds=second))


@given(st.lists(st.tuples(st.sampled_from(["q0", "q1", "q2", "q3"]), st.sampled_from("ab")), max_size=40))
def test_any_order_of_presses_counts_each_question_once(presses: list[tuple[str, str]]) -> None:
    quiz_ = quiz(*(question(f"q{i}") for i in range(4)))
    round_ = started(quiz_)
    accepted: list[str] = []
    for second, (key, choice) in enumerate(presses):
        if key == round_.open_question:
            round_ = pressed(round_, quiz_, key, choice, second)
            accepted.append(choice)
        else:
            with pytest.raises(StaleAnswer):
                pressed(round_, quiz_, key, choice, second)
    assert [answer.question_id for answer in round_.answers] == ["q0", "q1", "q2", "q3"][: len(accepted)]
    assert round_.points == accepted.count("a")
    assert (round_.finished_at is not None) == (len(accepted) == 4)


def test_an_ended_round_asks_nothing_and_keeps_its_score() -> None:
    quiz_ = quiz(question("q0"), question("q1"))
    round_ = pressed(started(quiz_), quiz_, "q0", "a", 5).abandoned(now=NOW + timedelta(seconds=9))
    assert round_.open_question is None
    with pytest.raises(StaleAnswer):
        pressed(round_, quiz_, "q1", "a", 10)
    result = rounds.score(round_, quiz_, now=NOW + timedelta(hours=1))
    assert (result.points, result.possible, result.taken.total_seconds()) == (1, 1, 9)


def test_missed_questions_are_those_not_fully_right() -> None:
    quiz_ = quiz(question("q0"), question("q1"))
    round_ = pressed(pressed(started(quiz_), quiz_, "q0", "b", 1), quiz_, "q1", "a", 2)
    assert rounds.missed(round_) == ("q0",)


@given(st.integers(1, 12), st.booleans(), st.integers(0, 2**32))
def test_a_round_asks_distinct_questions_and_no_more_than_there_are(count: int, shuffled: bool, seed: int) -> None:
    quiz_ = quiz(*(question(f"q{i}") for i in range(8)))
    chosen = rounds.chosen_questions(quiz_, count=count, shuffled=shuffled, rng=random.Random(seed))
    assert len(chosen) == len(set(chosen)) == min(count, 8)
    if not shuffled:
        assert list(chosen) == sorted(chosen)


def test_an_info_text_stays_before_its_question() -> None:
    info = Question("i", Text.of("read this"), Info())
    quiz_ = quiz(question("q0"), info, question("q1"), select=Select(shuffled=True))
    for seed in range(20):
        chosen = rounds.chosen_questions(quiz_, count=None, shuffled=True, rng=random.Random(seed))
        assert chosen.index("i") + 1 == chosen.index("q1")


@given(st.integers(0, 2**32))
def test_fixed_choices_keep_their_place_and_an_order_never_shows_its_key(seed: int) -> None:
    choices = tuple(Choice(key, Text.of(key), fixed=key == "d") for key in "abcd")
    order = rounds.option_order(Question("q", Text.of("?"), Choices(choices)), shuffled=True, rng=random.Random(seed))
    assert sorted(order) == list("abcd")
    assert order[3] == "d"
    items = Question("o", Text.of("?"), Order(tuple(Item(key, Text.of(key)) for key in "abc")))
    assert rounds.option_order(items, shuffled=False, rng=random.Random(seed)) != ("a", "b", "c")
