"""Grading: the key is right, everything else is not, and partial credit is what the author wrote.

Proves the rules of docs/content-format.md for every question type, with generated answers for the typed ones. It does not
prove that the shipped keys are the true ones: tests/content does.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.model import Accept, Blank, Choice, Choices, Item, Match, Open, Order, Pair, Question, Scoring, Short, Text, TrueFalse
from tutor import quantities
from tutor.errors import BadResponse
from tutor.grading import (
    FALSE,
    TRUE,
    Arranged,
    Filled,
    Paired,
    Selected,
    Verdict,
    Written,
    from_json,
    grade,
    matching,
    right_answer,
    to_json,
)

STEM = Text.of("?")


def single(**credits: float) -> Question:
    choices = tuple(Choice(key, Text.of(key), credit=credit, feedback=Text.of(f"about {key}")) for key, credit in credits.items())
    return Question("q", STEM, Choices(choices))


def multiple(scoring: Scoring, **credits: float) -> Question:
    return Question("q", STEM, Choices(tuple(Choice(k, Text.of(k), credit=c) for k, c in credits.items()), many=True, scoring=scoring))


def short(*accept: Accept) -> Question:
    return Question("q", STEM, Short(accept))


def test_the_key_is_right_and_its_feedback_is_given() -> None:
    result = grade(single(a=1, b=0), Selected(("a",)), "en")
    assert (result.verdict, result.credit) == (Verdict.RIGHT, 1.0)
    assert [text["en"] for text in result.feedback] == ["about a"]


def test_a_choice_with_part_of_the_credit_is_partly_right_and_a_negative_one_is_zero() -> None:
    assert grade(single(a=1, b=0.5, c=-0.5), Selected(("b",)), "en").verdict is Verdict.PARTLY
    assert grade(single(a=1, b=0.5, c=-0.5), Selected(("c",)), "en").credit == 0


@pytest.mark.parametrize(
    ("scoring", "chosen", "credit"),
    [
        (Scoring.ALL_OR_NOTHING, "ab", 1.0),
        (Scoring.ALL_OR_NOTHING, "a", 0.0),
        (Scoring.ALL_OR_NOTHING, "abc", 0.0),
        (Scoring.PER_CHOICE, "a", 0.5),
        (Scoring.PER_CHOICE, "ac", 0.0),
        (Scoring.PER_CHOICE, "ab", 1.0),
        (Scoring.PER_CHOICE, "abcd", 0.0),
    ],
)
def test_several_selections_are_scored_as_the_author_chose(scoring: Scoring, chosen: str, credit: float) -> None:
    assert grade(multiple(scoring, a=1, b=1, c=0, d=0), Selected(tuple(chosen)), "en").credit == pytest.approx(credit)


@given(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1), st.sampled_from(list(Scoring)[:2]))
def test_no_selection_is_worth_less_than_nothing_or_more_than_everything(chosen: list[str], scoring: Scoring) -> None:
    question = multiple(scoring, a=1, b=1, c=1, d=0, e=-0.5, f=0)
    credit = grade(question, Selected(tuple(chosen)), "en").credit
    assert 0 <= credit <= 1
    assert (credit == 1) == (set(chosen) == {"a", "b", "c"})


@pytest.mark.parametrize(
    ("question", "response"),
    [
        (single(a=1, b=0), Selected(("z",))),
        (single(a=1, b=0), Selected(("a", "b"))),
        (single(a=1, b=0), Selected(())),
        (single(a=1, b=0), Written("a")),
        (Question("q", STEM, TrueFalse(True)), Selected(("maybe",))),
        (Question("q", STEM, Order((Item("x", STEM), Item("y", STEM)))), Arranged(("x", "x"))),
        (Question("q", STEM, Match((Pair("x", STEM, STEM),))), Paired({"x": "nothing"})),
        (Question("q", STEM, Short(blanks=(Blank("b1", (Accept("x"),)),))), Filled({"b9": "x"})),
    ],
)
def test_a_response_that_cannot_belong_to_the_question_is_refused(question: Question, response: object) -> None:
    with pytest.raises(BadResponse):
        grade(question, response, "en")  # type: ignore[arg-type]


def test_true_and_false() -> None:
    question = Question("q", STEM, TrueFalse(False, {True: Text.of("no"), False: Text.of("yes")}))
    assert grade(question, Selected((FALSE,)), "en").verdict is Verdict.RIGHT
    assert grade(question, Selected((TRUE,)), "en").feedback[0]["en"] == "no"


def test_an_open_question_is_noted_and_not_graded() -> None:
    assert grade(Question("q", STEM, Open()), Written("because"), "en").verdict is Verdict.UNGRADED


# Typed answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["TensorRT", " tensorrt ", "“TensorRT”.", "ＴｅｎｓｏｒＲＴ", "tensorrt!"])
def test_case_width_spaces_quotes_and_final_marks_do_not_matter(typed: str) -> None:
    assert matching((Accept(text="TensorRT"),), typed, "en")


@pytest.mark.parametrize("typed", ["", "  ", "not TensorRT", "TensorRT or ONNX", "Tensor RT", "no"])
def test_padded_negated_and_empty_answers_never_match(typed: str) -> None:
    assert matching((Accept(text="TensorRT"),), typed, "en") is None


@given(st.text(max_size=40))
def test_only_the_accepted_text_matches(typed: str) -> None:
    accept = (Accept(text="warp"),)
    found = matching(accept, typed, "en")
    if found:
        assert "warp" in typed.casefold() or "ｗａｒｐ" in typed.casefold() or not typed.isascii()
    assert matching(accept, f"not {typed}", "en") is None


@pytest.mark.parametrize(
    ("typed", "value", "unit"),
    [
        ("443", 443, ""),
        ("1,024", 1024, ""),
        ("1.024", 1.024, ""),
        ("1 024", 1024, ""),
        ("0,5 ms", 0.5, "ms"),
        ("1.234,5", 1234.5, ""),
        ("1,234.5", 1234.5, ""),
        ("−2e3", -2000, ""),
        ("48 KiB", 48, "KiB"),
        ("12.5%", 12.5, "%"),
        (".5", 0.5, ""),
        ("~32", 32, ""),
        ("６４", 64, ""),
    ],
)
def test_numbers_are_read_as_people_type_them(typed: str, value: float, unit: str) -> None:
    assert quantities.parsed(typed) == quantities.Quantity(value, unit)


@pytest.mark.parametrize("typed", ["", "about 443", "not 443", "443 or 80", "4 4 3 x 5", "1,2,3", "1.2.3", "--5", "9" * 65, "1e999"])
def test_other_texts_are_no_numbers(typed: str) -> None:
    assert quantities.parsed(typed) is None


@given(st.floats(min_value=-1e12, max_value=1e12, allow_nan=False))
def test_a_number_reads_back_as_itself(value: float) -> None:
    read = quantities.parsed(repr(value))
    assert read is not None
    assert read.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("typed", "right"),
    [("48 KiB", True), ("48", True), ("49152 B", True), ("49,152 bytes", True), ("48 KB", False), ("48 ms", False), ("47 KiB", False)],
)
def test_units_convert_and_wrong_units_fail(typed: str, right: bool) -> None:
    assert bool(matching((Accept(number=48, unit="KiB"),), typed, "en")) is right


def test_tolerances_and_ranges_include_their_ends() -> None:
    assert matching((Accept(number=100, tolerance=0.05, relative=True),), "95", "en")
    assert not matching((Accept(number=100, tolerance=0.05, relative=True),), "94.9", "en")
    assert matching((Accept(span=(1, 5)),), "5", "en")
    assert not matching((Accept(span=(1, 5)),), "5.1", "en")


def test_the_first_match_decides_and_a_known_wrong_answer_has_its_feedback() -> None:
    question = short(Accept(text="443"), Accept(text="80", credit=0, feedback=Text.of("That is HTTP.")))
    result = grade(question, Written("80"), "en")
    assert result.verdict is Verdict.WRONG
    assert result.feedback[0]["en"] == "That is HTTP."


def test_an_expression_is_anchored_and_entries_of_other_languages_are_passed_over() -> None:
    assert matching((Accept(regex="(tcp/)?443"),), "TCP/443", "en")
    assert not matching((Accept(regex="(tcp/)?443"),), "not tcp/443", "en")
    assert not matching((Accept(text="ядро", language="ru"),), "ядро", "en")
    assert matching((Accept(text="ядро", language="ru"),), "ядро", "ru")


def test_blanks_order_and_match_give_the_share_that_is_right() -> None:
    blanks = Question("q", STEM, Short(blanks=(Blank("b1", (Accept("SYN"),)), Blank("b2", (Accept("ACK"),)))))
    assert grade(blanks, Filled({"b1": "syn", "b2": "rst"}), "en").credit == 0.5
    items = tuple(Item(key, Text.of(key)) for key in "abcd")
    assert grade(Question("q", STEM, Order(items, Scoring.ADJACENT)), Arranged(tuple("bcda")), "en").credit == pytest.approx(2 / 3)
    assert grade(Question("q", STEM, Order(items)), Arranged(tuple("abcd")), "en").credit == 1
    pairs = (Pair("x", Text.of("1"), Text.of("odd")), Pair("y", Text.of("3"), Text.of("odd")), Pair("z", Text.of("2"), Text.of("even")))
    matched = Question("q", STEM, Match(pairs, scoring=Scoring.PER_CHOICE))
    assert grade(matched, Paired({"x": "y", "y": "x", "z": "z"}), "en").credit == 1  # equal texts are one answer
    assert grade(matched, Paired({"x": "z"}), "en").credit == 0


@pytest.mark.parametrize(
    "response",
    [Selected(("a", "b")), Written("x"), Filled({"b1": "x"}), Arranged(("a",)), Paired({"a": "b"})],
    ids=lambda r: type(r).__name__,
)
def test_a_stored_response_comes_back_as_it_was(response: object) -> None:
    assert from_json(to_json(response)) == response  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [{}, {"selected": 3}, {"shouted": "x"}, {"filled": 1}])
def test_a_damaged_stored_response_is_named(data: dict[str, object]) -> None:
    with pytest.raises(BadResponse):
        from_json(data)


def test_the_right_answer_can_be_shown_for_every_type() -> None:
    assert right_answer(single(a=1, b=0), "en") == ("a",)
    assert right_answer(short(Accept(number=48, unit="KiB")), "en") == ("48 KiB",)
    assert right_answer(Question("q", STEM, TrueFalse(True)), "en") == (TRUE,)
    assert right_answer(Question("q", STEM, Open(reference=Text.of("r"))), "en") == ("r",)
