"""Points, places, repairs and figures, on plain values: properties over random presses, and the formulas by example."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from dataclasses import replace
from datetime import timedelta

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.model import Question
from tests.live.builders import Played, after, every_kind, new_round, press, single, started
from tutor.errors import BadResponse, StaleAnswer
from tutor.exports import Report, csv_file, json_file, written, xlsx_file
from tutor.grading import Arranged, Paired, Selected, Verdict, Written
from tutor.live import GRACE_S, NO_LIMIT, Rules, Scheme
from tutor.live_repair import Fix, Repair, check, keyed, right_answer
from tutor.scoring import Board, Press, board, full_value, moved, points
from tutor.statistics import correlation, figures, split

PEOPLE = range(1, 9)
# one press: who, which choice, when, and how long it is on its way
PRESSES = st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from("abcd"), st.integers(0, 24_000), st.integers(0, 999)), max_size=40)
RULES = st.builds(
    Rules, seconds=st.just(20), scheme=st.sampled_from(Scheme), locked=st.booleans(), streaks=st.booleans(), teams=st.sampled_from([0, 2])
)


def played_out(rules: Rules, sent: list[Press], delays_ms: list[int], seed: int, *, doubled: bool) -> Board:
    """The first question of a round, the presses delivered in the order of arrival (ties at random), some of them twice."""
    rng = random.Random(seed)
    played = started(rules, people=PEOPLE)
    arriving = [(one.pressed_at + timedelta(milliseconds=delay), one) for one, delay in zip(sent, delays_ms, strict=True)]
    arriving += [(at + timedelta(milliseconds=rng.randrange(900)), one) for at, one in arriving if doubled and rng.random() < 0.5]
    rng.shuffle(arriving)
    arriving.sort(key=lambda entry: entry[0])
    deadline = after(20)
    for at, one in arriving:
        if at >= deadline:
            played.round = played.round.ticked(now=deadline)
        if at >= deadline + timedelta(seconds=GRACE_S):
            played.round = played.round.ticked(now=deadline + timedelta(seconds=GRACE_S))
        played.deliver(one)
    played.round = played.round.ticked(now=deadline)
    played.round = played.round.ticked(now=deadline + timedelta(seconds=GRACE_S))
    return played.board()


@settings(deadline=None)
@given(RULES, PRESSES, st.integers(0, 9))
def test_order_doubling_and_delay_of_presses_never_change_the_board(
    rules: Rules, drawn: list[tuple[int, str, int, int]], seed: int
) -> None:
    sent = [press(number, who, choice, ms / 1000) for number, (who, choice, ms, _) in enumerate(drawn)]
    at_once = played_out(rules, sent, [0] * len(sent), 0, doubled=False)
    late_and_twice = played_out(rules, sent, [delay for *_, delay in drawn], seed, doubled=True)
    assert late_and_twice == at_once


@settings(deadline=None)
@given(RULES, PRESSES)
def test_a_shuffled_store_gives_the_same_board(rules: Rules, drawn: list[tuple[int, str, int, int]]) -> None:
    played = started(rules, people=PEOPLE)
    for number, (who, choice, ms, _) in enumerate(drawn):
        played.press(number, who, choice, ms / 1000)
    played.finish_question()
    seats = list(played.seats.values())
    assert board(played.round, played.presses[::-1] + played.presses, seats) == played.board()


@settings(deadline=None)
@given(PRESSES)
def test_an_answer_after_the_reveal_never_scores(drawn: list[tuple[int, str, int, int]]) -> None:
    played = started(people=PEOPLE)
    played.press(900, 1, "a", 4)
    played.finish_question()
    before = played.board()
    for number, (who, choice, ms, _) in enumerate(drawn):
        played.press(number, who, choice, ms / 1000)
    assert played.board() == before


@settings(deadline=None)
@given(PRESSES)
def test_presses_for_an_earlier_question_never_count_for_the_next_one(drawn: list[tuple[int, str, int, int]]) -> None:
    played = started(people=PEOPLE)
    played.finish_question()
    played.next(30)
    for number, (who, choice, ms, _) in enumerate(drawn):
        played.press(number, who, choice, 30 + ms / 1000, position=0)
    played.finish_question()
    assert set(played.points().values()) == {0.0}


@settings(deadline=None)
@given(RULES, PRESSES)
def test_every_export_adds_up_to_the_board(rules: Rules, drawn: list[tuple[int, str, int, int]]) -> None:
    played = started(rules, people=PEOPLE)
    for number, (who, choice, ms, _) in enumerate(drawn):
        if number == len(drawn) // 2:
            played.finish_question()
            played.next(30)
        played.press(number, who, choice, played.round.position * 30 + ms / 1000)
    played.finish_question()
    report = report_of(played)
    made = json.loads(json_file(report))
    for standing, person in zip(report.board.standings, made["people"], strict=True):
        assert math.isclose(sum(answer["points"] for answer in person["answers"]), standing.points, abs_tol=1e-6)
        assert (person["place"], person["learner_id"]) == (standing.place, str(standing.seat.learner_id))
    table = list(csv.DictReader(io.StringIO(csv_file(report).decode("utf-8-sig"))))
    for standing, row in zip(report.board.standings, table, strict=True):
        assert float(row["points"]) == standing.points
        parts = [float(value) for name, value in row.items() if name.startswith("q") and name.endswith("_points")]
        assert math.isclose(sum(parts), standing.points, abs_tol=1e-6)


def report_of(played: Played) -> Report:
    made = played.board()
    return Report(played.round, made, figures(played.round, made, {0: 2}), {0: 2})


@pytest.mark.parametrize(
    ("scheme", "share", "expected"),
    [
        (Scheme.ACCURACY, 0.9, 1.0),
        (Scheme.GENTLE, 0.0, 1000.0),
        (Scheme.GENTLE, 0.5, 800.0),
        (Scheme.GENTLE, 1.0, 600.0),
        (Scheme.CLASSIC, 0.0, 1000.0),
        (Scheme.CLASSIC, 0.5, 750.0),
        (Scheme.CLASSIC, 1.0, 500.0),
    ],
)
def test_the_schemes_give_what_the_rules_say(scheme: Scheme, share: float, expected: float) -> None:
    rules = Rules(scheme=scheme)
    assert points(rules, 1.0, 1.0, share) == expected
    assert points(rules, 2.0, 0.5, share) == expected
    assert points(rules, 1.0, 0.0, share) == 0
    assert points(rules, 1.0, 1.0, 0.0) <= full_value(rules, 1.0)


def test_extra_time_scores_by_the_share_of_ones_own_time() -> None:
    played = started(Rules(seconds=20, scheme=Scheme.GENTLE), people=[1])
    played.seat(2, factor=2.0)
    played.seat(3, factor=NO_LIMIT)
    played.press(1, 1, "b", 10)
    played.press(2, 2, "b", 20)
    played.press(3, 3, "b", 20)
    played.finish_question()
    assert played.points() == {1: 800.0, 2: 800.0, 3: 1000.0}


def test_equal_points_share_a_place_and_the_next_place_is_left_out() -> None:
    played = started(people=[1, 2, 3, 4])
    for number, (who, choice) in enumerate([(1, "a"), (2, "b"), (3, "b"), (4, "c")]):
        played.press(number, who, choice, 3)
    played.finish_question()
    assert [(s.seat.learner_id, s.place) for s in played.board().standings] == [(2, 1), (3, 1), (1, 3), (4, 3)]


def test_a_streak_adds_a_tenth_per_right_answer_before_it_and_breaks_with_a_wrong_one() -> None:
    played = started(Rules(seconds=20, streaks=True), [single(f"q{n}", "b") for n in range(5)], people=[1])
    for number, choice in enumerate("bbbab"):
        played.press(number, 1, choice, number * 40 + 2)
        played.finish_question()
        played.next(number * 40 + 40)
    assert [line.points for line in played.board().standings[0].lines] == [1.0, 1.1, 1.2, 0.0, 1.0]


def test_a_team_scores_the_mean_of_its_members() -> None:
    played = started(Rules(seconds=20, teams=2))
    for learner_id, team in [(1, 0), (2, 0), (3, 1)]:
        played.seat(learner_id)
        played.seats[learner_id] = replace(played.seats[learner_id], team=team)
    played.press(1, 1, "b", 2)
    played.press(2, 3, "b", 2)
    played.finish_question()
    assert [(team.team, team.points, team.members, team.place) for team in played.board().teams] == [(1, 1.0, 1, 1), (0, 0.5, 2, 2)]


def test_partial_credit_counts_for_its_part() -> None:
    played = started(Rules(seconds=20), every_kind(), people=[1])
    answers = [
        Selected(("b",)),
        Selected(("a",)),
        Selected(("false",)),
        Written("HTTPS"),
        Arranged(("p", "q", "r")),
        Paired({"x": "x", "y": "x"}),
    ]
    for position, answer in enumerate(answers):
        played.deliver(press(position, 1, answer, position * 40 + 2, position))
        played.finish_question()
        played.next(position * 40 + 40)
    assert [line.points for line in played.board().standings[0].lines] == [1.0, 0.5, 0.0, 0.5, 1.0, 0.0]


# Repair ---------------------------------------------------------------------------------------------------------------


def repair(fix: Fix, *ids: str, position: int = 0, text: str | None = None) -> Repair:
    return Repair(position, fix, by=3, at=after(500), ids=ids, text=text)


@settings(deadline=None)
@given(PRESSES, st.lists(st.sampled_from(Fix), min_size=1, max_size=4), st.data())
def test_a_repair_gives_the_board_that_the_right_key_would_have_given(
    drawn: list[tuple[int, str, int, int]], fixes: list[Fix], data: st.DataObject
) -> None:
    played = started(people=PEOPLE)
    for number, (who, choice, ms, _) in enumerate(drawn):
        played.press(number, who, choice, ms / 1000)
    played.finish_question()
    for fix in fixes:
        played.round = played.round.repaired(repair(fix, data.draw(st.sampled_from("abcd"))))
    made = keyed(played.round.quiz.questions[0], 0, played.round.repairs)
    held = played.board()
    if made.void:
        assert (held.positions, held.possible) == ((), 0.0)
        return
    for standing in held.standings:
        (line,) = standing.lines
        if line.response is not None:
            assert line.points == made.grade(line.response, "en").credit


def test_a_repaired_key_moves_points_and_says_whose() -> None:
    played = started(people=[1, 2, 3])
    for number, (who, choice) in enumerate([(1, "b"), (2, "c"), (3, "d")]):
        played.press(number, who, choice, 3)
    played.finish_question()
    before = played.board()
    played.round = played.round.repaired(repair(Fix.KEY, "c"))
    changes = moved(before, played.board())
    assert [(change.seat.learner_id, change.points_before, change.points_after) for change in changes] == [(2, 0.0, 1.0), (1, 1.0, 0.0)]
    played.round = played.round.repaired(repair(Fix.ACCEPT, "b"))
    assert played.points() == {1: 1.0, 2: 1.0, 3: 0.0}
    assert right_answer(keyed(played.round.quiz.questions[0], 0, played.round.repairs), "en") == ("Option c", "Option b")
    played.round = played.round.repaired(repair(Fix.KEY, "d"))  # a new key is the whole key
    assert played.points() == {1: 0.0, 2: 0.0, 3: 1.0}


def test_an_accepted_typed_answer_counts_as_the_key_does() -> None:
    question = every_kind()[3]
    made = keyed(question, 0, [repair(Fix.ACCEPT, text="HTTP/3 over QUIC")])
    assert made.grade(Written("http/3 over quic"), "en").verdict is Verdict.RIGHT
    assert made.grade(Written("443"), "en").verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        (single("q"), repair(Fix.KEY, "z")),
        (single("q"), repair(Fix.KEY, "a", "b")),
        (single("q"), repair(Fix.KEY)),
        (every_kind()[2], repair(Fix.KEY, "maybe")),
        (every_kind()[3], repair(Fix.ACCEPT, text="  ")),
        (every_kind()[4], repair(Fix.KEY, "p")),
    ],
)
def test_a_repair_that_does_not_fit_its_question_is_refused(question: Question, wrong: Repair) -> None:
    with pytest.raises(BadResponse):
        check(question, wrong)


def test_a_question_that_was_not_asked_cannot_be_repaired() -> None:
    with pytest.raises(StaleAnswer):
        new_round().repaired(repair(Fix.VOID))


# Figures --------------------------------------------------------------------------------------------------------------


def test_a_wrong_key_is_suspected_where_the_strong_choose_another_option() -> None:
    questions = [single("bad", "a"), *(single(f"q{n}", "b") for n in range(4))]
    played = started(Rules(seconds=20), questions, people=range(1, 21))
    number = 0
    for position in range(5):
        for who in range(1, 21):
            strong = who <= 10
            number += 1
            choice = ("c" if strong else "a") if position == 0 else ("b" if strong or (who + position) % 3 == 0 else "d")
            played.press(number, who, choice, position * 40 + 2)
        played.finish_question()
        played.next(position * 40 + 40)
    first, second, *_ = figures(played.round, played.board(), {0: 3})
    assert (first.suspected_key, first.lost) == ("c", 3)
    assert first.discrimination is not None
    assert first.discrimination < -0.8
    assert second.suspected_key is None
    assert second.discrimination is not None
    assert second.discrimination > 0.5
    assert second.dead == ("a", "c")
    assert first.difficulty == 0.5


def test_with_few_people_nothing_is_judged() -> None:
    played = started(people=[1, 2, 3])
    for who in (1, 2, 3):
        played.press(who, who, "c", 2)
    played.finish_question()
    (only,) = figures(played.round, played.board(), {})
    assert (only.discrimination, only.suspected_key, only.dead, only.wrong) == (None, None, (), 3)


def test_correlation_is_pearsons_and_none_without_variation() -> None:
    assert correlation([1, 0, 1, 0], [4, 1, 3, 2]) == pytest.approx(0.894, abs=1e-3)
    assert correlation([1, 1, 1], [1, 2, 3]) is None


def test_the_split_of_a_second_vote_is_its_own() -> None:
    played = started(Rules(seconds=20, peer=True), people=[1, 2])
    played.press(1, 1, "a", 1)
    played.press(2, 2, "b", 1)
    played.tick(20)
    played.next(22)
    played.next(60)
    played.press(3, 1, "b", 61)
    played.finish_question()
    first, second = (split(played.round, 0, vote, played.presses, {}) for vote in (1, 2))
    assert (first.counts["a"], first.counts["b"], first.answered) == (1, 1, 2)
    assert (second.counts["a"], second.counts["b"], second.answered) == (0, 1, 1)
    assert played.points() == {1: 1.0, 2: 1.0}


# Files ----------------------------------------------------------------------------------------------------------------


def test_a_spreadsheet_has_summary_people_and_questions_and_runs_no_name_as_a_formula() -> None:
    played = started(people=[1, 2])
    played.seats[1] = replace(played.seats[1], name="=HYPERLINK(1)")
    played.press(1, 1, "b", 2)
    played.finish_question()
    book = openpyxl.load_workbook(io.BytesIO(xlsx_file(report_of(played))))
    assert book.sheetnames == ["Summary", "People", "Questions"]
    assert book["People"]["B2"].value == "'=HYPERLINK(1)"
    assert [cell.value for cell in book["People"]["E"]] == ["points", 1, 0]
    assert book["Questions"]["C2"].value == "What is alpha?"
    assert b"'=HYPERLINK" in csv_file(report_of(played))


def test_a_part_of_a_point_is_exported_as_it_stands_on_the_board() -> None:
    played = started(Rules(seconds=20), every_kind()[1:2], people=[1])
    played.deliver(press(1, 1, Selected(("a",)), 2))
    played.finish_question()
    report = report_of(played)
    (row,) = csv.DictReader(io.StringIO(csv_file(report).decode("utf-8-sig")))
    assert (row["points"], row["q1_points"], row["q1_credit"], row["partly"]) == ("0.5", "0.5", "0.5", "1")
    book = openpyxl.load_workbook(io.BytesIO(xlsx_file(report)))
    assert [cell.value for cell in book["People"]["E"]] == ["points", 0.5]


def test_an_unknown_format_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="csv, xlsx, json"):
        written(report_of(started()), "pdf")
