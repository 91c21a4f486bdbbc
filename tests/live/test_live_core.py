"""The clock and the controls of a live round, on plain values. Storage, Discord and points are proved elsewhere."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.model import Text
from tests.live.builders import Played, after, new_round, single, started
from tutor.live import NO_LIMIT, Phase, Refusal, Rules, allotted_s, waiting_until
from tutor.live_service import Control, _controlled, order_for

STEPS = st.lists(st.sampled_from(list(Control)), max_size=25)


def test_next_leads_from_the_lobby_through_every_question_to_the_end() -> None:
    round_, at, phases = new_round(), 0.0, []
    while not round_.over:
        at += 30
        round_ = round_.advanced(now=after(at))
        phases.append((round_.phase, round_.position))
    asked = [(phase, position) for position in range(3) for phase in (Phase.ASKING, Phase.CLOSED, Phase.REVEALED)]
    assert phases == [*asked, (Phase.ENDED, 2)]


def test_the_deadline_is_a_whole_second_and_nobody_loses_time_by_that() -> None:
    round_ = new_round().advanced(now=after(0.25))
    assert round_.current is not None
    assert round_.current.deadline == after(21)
    assert round_.current.allotted_s == 20.75


def test_a_press_in_time_counts_until_the_reveal_however_late_it_arrives() -> None:
    played = started()
    played.tick(20)  # the deadline
    assert played.round.phase is Phase.CLOSED
    assert played.press(1, 5, "b", 19.9) == "recorded"
    assert played.press(2, 6, "b", 20.1) == Refusal.LATE


def test_the_key_is_not_shown_before_the_grace_has_passed() -> None:
    played = started()
    played.tick(20)
    played.tick(20.9)
    played.next(20.9)
    assert played.round.phase is Phase.CLOSED
    played.tick(21)
    assert played.round.phase is Phase.REVEALED


def test_an_answer_after_the_reveal_is_refused_even_with_an_early_time() -> None:
    played = started()
    played.finish_question()
    assert played.press(1, 5, "b", 3) == Refusal.REVEALED


def test_a_press_for_an_earlier_question_never_counts_for_the_next_one() -> None:
    played = started()
    played.finish_question()
    played.next(30)
    assert played.press(1, 5, "b", 31, position=0) == Refusal.EARLIER_QUESTION
    assert played.presses == []


def test_a_pause_stops_the_clock_and_takes_no_answers() -> None:
    played = started()
    played.round = played.round.paused(now=after(5))
    assert played.press(1, 5, "b", 6) == Refusal.PAUSED
    assert played.press(2, 5, "b", 4.9) == "recorded"
    played.round = played.round.resumed(now=after(100))
    assert played.round.current is not None
    assert played.round.current.deadline == after(115)
    assert played.press(3, 6, "b", 50) == Refusal.PAUSED
    assert played.press(4, 6, "b", 110) == "recorded"
    assert played.round.current.taken_s(after(110)) == 15


def test_fifteen_more_seconds_move_the_deadline_and_only_while_there_is_time() -> None:
    round_ = new_round().advanced(now=after(0)).extended(now=after(3))
    assert round_.current is not None
    assert round_.current.deadline == after(35)
    assert round_.extended(now=after(36)) == round_


def test_a_close_by_hand_keeps_what_was_already_answered_a_moment_later() -> None:
    played = started()
    assert played.press(1, 5, "b", 8.4) == "recorded"
    played.round = played.round.closed(now=after(8.2), last_press=played.last_press())  # pressed before, processed after
    played.tick(9.5)
    assert played.points() == {5: 1.0}


def test_a_skipped_question_is_not_scored_and_the_next_one_is_asked() -> None:
    played = started()
    played.press(1, 5, "b", 2)
    played.round = played.round.skipped(now=after(4))
    assert (played.round.phase, played.round.position) == (Phase.ASKING, 1)
    played.finish_question()
    assert played.board().positions == (1,)


def test_a_round_that_ends_early_does_not_score_the_open_question() -> None:
    played = started()
    played.press(1, 5, "b", 2)
    played.round = played.round.ended(now=after(4))
    assert played.board().positions == ()
    assert played.press(2, 5, "b", 3) == Refusal.OVER


def test_after_an_outage_the_time_that_was_left_is_left_again() -> None:
    played = started()
    played.press(1, 5, "b", 7)
    played.round = played.round.after_outage(alive_until=after(8), now=after(300))
    current = played.round.current
    assert current is not None
    assert current.deadline == after(312)
    assert played.round.outage_s == 292
    assert current.taken_s(after(7)) == 7
    assert current.taken_s(after(302)) == 10
    assert current.taken_s(after(100)) is None


def test_after_an_outage_at_the_last_moment_there_is_time_to_react() -> None:
    round_ = new_round().advanced(now=after(0)).after_outage(alive_until=after(19.8), now=after(60))
    assert round_.current is not None
    assert round_.current.deadline == after(65)


def test_an_outage_after_the_deadline_gives_no_time_back() -> None:
    round_ = new_round().advanced(now=after(0)).after_outage(alive_until=after(21), now=after(60))
    assert round_.current is not None
    assert round_.current.deadline == after(20)
    assert round_.ticked(now=after(60)).phase is Phase.CLOSED


def test_a_paused_round_stays_paused_over_an_outage() -> None:
    round_ = new_round().advanced(now=after(0)).paused(now=after(5))
    assert round_.after_outage(alive_until=after(6), now=after(90)) == round_


def test_a_question_that_appeared_late_starts_when_it_appeared() -> None:
    round_ = new_round().advanced(now=after(0)).appeared(at=after(4))
    assert round_.current is not None
    assert round_.current.deadline == after(24)
    assert round_.current.taken_s(after(6)) == 2


def test_somebody_with_more_time_may_answer_after_the_common_close() -> None:
    played = started(people=[5])
    played.seat(6, factor=1.5)
    played.tick(20)
    assert played.press(1, 5, "b", 25) == Refusal.LATE
    assert played.press(2, 6, "b", 29) == "recorded"
    assert played.press(3, 6, "c", 31) == Refusal.LATE


def test_the_reveal_waits_for_extra_time_only_while_there_is_no_answer() -> None:
    played = started(people=[5])
    factors = {6: 1.5}
    assert waiting_until(played.round, factors, answered=[5]) == after(30)
    assert waiting_until(played.round, factors, answered=[5, 6]) is None
    played.tick(20)
    assert played.round.next_due(wait_until=after(30)) == after(30)
    assert played.round.next_due() == after(21)


def test_a_person_without_a_limit_is_waited_for_but_not_for_ever() -> None:
    round_ = new_round().advanced(now=after(0))
    assert waiting_until(round_, {6: NO_LIMIT}, answered=[]) == after(620)


def test_peer_instruction_asks_twice_and_shows_the_key_once() -> None:
    played = started(Rules(seconds=20, peer=True))
    played.press(1, 5, "a", 3)
    played.tick(20)
    played.next(22)
    assert played.round.phase is Phase.DISCUSSING
    assert played.press(2, 6, "c", 19) == "recorded"  # made in time, and nothing has been given away yet
    played.next(100)
    assert played.round.current is not None
    assert (played.round.phase, played.round.current.vote) == (Phase.ASKING, 2)
    assert played.press(3, 5, "b", 101, vote=1) == Refusal.EARLIER_QUESTION
    assert played.press(4, 5, "b", 101) == "recorded"
    played.finish_question()
    assert played.points() == {5: 1.0, 6: 0.0}


def test_an_automatic_round_runs_to_its_end_by_itself() -> None:
    round_ = new_round(Rules(seconds=10, automatic=True)).advanced(now=after(0))
    for _ in range(40):
        due = round_.next_due()
        if due is None:
            break
        assert round_.ticked(now=due - timedelta(milliseconds=1)) == round_
        round_ = round_.ticked(now=due)
    assert round_.over


def test_the_time_for_a_question_follows_instructor_then_author_then_length() -> None:
    question = single("q")
    assert allotted_s(question, "en", Rules(seconds=33)) == 33
    assert allotted_s(question, "en", Rules(seconds=0)) is None
    assert allotted_s(replace(question, time_limit_s=45), "en", Rules()) == 45
    long = replace(question, stem=Text.of("word " * 220))
    assert allotted_s(long, "en", Rules()) == pytest.approx(60 + 20, abs=4)
    assert allotted_s(replace(question, stem=Text.of("字" * 400)), "zh", Rules()) == pytest.approx(60 + 20, abs=4)


def test_own_option_orders_differ_between_people_and_never_change() -> None:
    round_ = new_round(Rules(own_order=True))
    orders = {order_for(round_, 0, learner) for learner in range(30)}
    assert len(orders) > 5
    assert all(sorted(order) == ["a", "b", "c", "d"] for order in orders)
    assert order_for(round_, 0, 4) == order_for(round_, 0, 4)


@settings(deadline=None)
@given(STEPS, st.integers(1, 40))
def test_no_control_works_twice_for_one_turn(steps: list[Control], gap: int) -> None:
    """Pressed twice, or by two instructors at once: the second time the turn has passed, or nothing changes."""
    round_ = new_round().advanced(now=after(0))
    for number, control in enumerate(steps):
        now = after(gap * (number + 1))
        once = _controlled(round_, control, now=now, last_press=None)
        if once.turn == round_.turn:
            assert _controlled(once, control, now=now + timedelta(seconds=1), last_press=None) == once
        round_ = once


@settings(deadline=None)
@given(STEPS, st.integers(1, 40))
def test_every_order_of_controls_keeps_the_round_in_shape(steps: list[Control], gap: int) -> None:
    played = Played(new_round(Rules(seconds=20, peer=gap % 2 == 0)))
    for number, control in enumerate(steps):
        before = played.round
        played.round = _controlled(before, control, now=after(gap * (number + 1)), last_press=None)
        earlier = [asking for asking in before.askings if asking.position < before.position]
        assert list(played.round.askings[: len(earlier)]) == earlier  # what has been asked before is never touched again
        for asking in played.round.askings:
            opened = [window.opened_at for window in asking.windows]
            assert opened == sorted(opened)
            assert all(window.length_s() >= 0 for window in asking.windows)
        assert (played.round.phase is Phase.ENDED) == (played.round.ended_at is not None)
        if before.over:
            assert replace(played.round, boards=0, board_shown=True) == replace(before, boards=0, board_shown=True)
