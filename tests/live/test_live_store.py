"""Live rounds on a real database: what a receipt says is on the disk, rounds do not touch each other, a restart reads the same."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from content.model import Library, Text
from tests.live.builders import after, every_kind, press, quiz, single
from tutor.errors import BadResponse, NotFound, RoundRunning, StaleAnswer, StoreError
from tutor.grading import Selected, Written
from tutor.live import NO_LIMIT, LiveRound, Phase, Refusal, Rules
from tutor.live_press import Outcome
from tutor.live_repair import Fix, Repair
from tutor.live_service import Control, LiveRounds
from tutor.live_snapshot import restored, snapshot
from tutor.scoring import board
from tutor.store.database import Database
from tutor.store.live import LiveStore
from tutor.store.misses import MissStore

LIBRARY = Library(quizzes={"harbour-quiz": quiz(), "kinds": replace(quiz(every_kind()), id="kinds")})


@asynccontextmanager
async def rounds_at(path: Path) -> AsyncIterator[LiveRounds]:
    database = await Database.open(path)
    ids = count(random.Random(str(path)).randrange(1 << 40))
    try:
        yield LiveRounds(LIBRARY, store=LiveStore(database), misses=MissStore(database), new_id=lambda: f"{next(ids):012x}")
    finally:
        await database.close()


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[LiveRounds]:
    async with rounds_at(tmp_path / "live.db") as made:
        yield made


async def opened(live: LiveRounds, rules: Rules | None = None, *, quiz_id: str = "harbour-quiz", channel_id: int = 20) -> LiveRound:
    return await live.open(
        quiz_id,
        guild_id=1,
        channel_id=channel_id,
        host_id=3,
        language="en",
        rules=replace(rules or Rules(seconds=20), shuffled=False),
        count=None,
        now=after(-60),
        rng=random.Random(1),
    )


async def begun(live: LiveRounds, rules: Rules | None = None, *, channel_id: int = 20, quiz_id: str = "harbour-quiz") -> LiveRound:
    round_ = await opened(live, rules, channel_id=channel_id, quiz_id=quiz_id)
    return await do(live, round_, Control.NEXT, 0)


async def do(live: LiveRounds, round_: LiveRound, control: Control, at: float) -> LiveRound:
    after_, changed = await live.control(round_.id, control, round_.turn, now=after(at))
    assert changed
    return after_


async def revealed(live: LiveRounds, round_: LiveRound) -> LiveRound:
    assert round_.current is not None
    assert round_.current.deadline is not None
    await live.tick(round_.id, now=round_.current.deadline)
    return await live.tick(round_.id, now=round_.current.deadline + timedelta(seconds=1))


async def test_a_round_reads_back_as_it_was_even_when_the_quiz_file_has_changed(live: LiveRounds) -> None:
    round_ = await begun(live, quiz_id="kinds")
    kinds = LIBRARY.quizzes["kinds"]
    assert round_.quiz.questions == kinds.questions
    assert restored(snapshot(kinds, kinds.questions)) == kinds
    again = await live.load(round_.id)
    assert again == round_


async def test_a_receipt_is_on_the_disk_and_read_by_another_connection(live: LiveRounds, tmp_path: Path) -> None:
    round_ = await begun(live)
    receipt = await live.press(round_.id, press(77, 5, "b", 3.25), "Sam")
    assert (receipt.outcome, receipt.seat.name if receipt.seat else None) == (Outcome.RECORDED, "Sam")
    with sqlite3.connect(f"file:{tmp_path / 'live.db'}?mode=ro", uri=True) as other:
        stored = other.execute("SELECT press_id, learner_id, response, pressed_at FROM live_presses").fetchall()
    other.close()
    assert stored == [(77, 5, '{"selected": ["b"]}', int(after(3.25).timestamp() * 1000))]


async def test_five_hundred_presses_at_once_are_all_kept_once(live: LiveRounds) -> None:
    round_ = await begun(live)
    rng = random.Random(5)
    sent = [press(number, number, rng.choice("abcd"), 2 + number / 500) for number in range(500)]
    receipts = await asyncio.gather(*(live.press(round_.id, one, f"P{one.learner_id}") for one in [*sent, *sent[:100]]))
    assert {receipt.outcome for receipt in receipts} == {Outcome.RECORDED}
    after_ = await revealed(live, round_)
    report = await live.report(after_.id)
    assert {s.seat.learner_id: s.lines[0].response for s in report.board.standings} == {p.learner_id: p.response for p in sent}
    assert sorted(standing.seat.number for standing in report.board.standings) == list(range(1, 501))


async def test_one_bad_press_in_a_batch_fails_alone(live: LiveRounds) -> None:
    round_ = await begun(live)
    results = await asyncio.gather(
        live.press(round_.id, press(1, 1, "b", 1), "A"),
        live.press(round_.id, press(2, 2, "nonsense", 1), "B"),
        live.press(round_.id, press(3, 3, Written("b"), 1), "C"),
        live.press("ffffffffffff", press(4, 4, "b", 1), "D"),
        live.press(round_.id, press(5, 5, "b", 1), "E"),
        return_exceptions=True,
    )
    kinds = [type(result) for result in results if isinstance(result, Exception)]
    assert kinds == [BadResponse, BadResponse, NotFound]
    stage = await live.stage(round_.id)
    assert (stage.answered, stage.seats) == (2, 2)


async def test_when_the_database_fails_every_waiting_press_is_told(live: LiveRounds, tmp_path: Path) -> None:
    round_ = await begun(live)
    with sqlite3.connect(tmp_path / "live.db") as other:
        other.execute("DROP TABLE live_presses")
    other.close()
    results = await asyncio.gather(*(live.press(round_.id, press(n, n, "b", 1), "A") for n in range(1, 9)), return_exceptions=True)
    assert all(isinstance(result, StoreError) for result in results)


async def test_changing_repeating_and_overtaking_are_told_apart(live: LiveRounds) -> None:
    round_ = await begun(live)
    assert (await live.press(round_.id, press(10, 5, "a", 3), "A")).outcome is Outcome.RECORDED
    assert (await live.press(round_.id, press(12, 5, "b", 5), "A")).outcome is Outcome.CHANGED
    assert (await live.press(round_.id, press(14, 5, "b", 6), "A")).outcome is Outcome.SAME
    late = await live.press(round_.id, press(11, 5, "c", 4), "A")
    assert late.outcome is Outcome.OVERTAKEN
    assert late.standing is not None
    assert late.standing.response == Selected(("b",))


async def test_a_locked_round_keeps_the_first_answer(live: LiveRounds) -> None:
    round_ = await begun(live, Rules(seconds=20, locked=True))
    await live.press(round_.id, press(10, 5, "a", 3), "A")
    kept = await live.press(round_.id, press(12, 5, "b", 5), "A")
    assert (kept.outcome, kept.standing.response if kept.standing else None) == (Outcome.KEPT, Selected(("a",)))


async def test_a_round_without_late_joining_takes_no_answer_from_outside(live: LiveRounds) -> None:
    round_ = await opened(live, Rules(seconds=20, late_join=False))
    await live.join(round_.id, 5, "A", now=after(-10))
    round_ = await do(live, round_, Control.NEXT, 0)
    assert (await live.press(round_.id, press(1, 5, "a", 3), "A")).outcome is Outcome.RECORDED
    assert (await live.press(round_.id, press(2, 6, "a", 3), "B")).refusal is Refusal.NOT_IN
    with pytest.raises(StaleAnswer):
        await live.join(round_.id, 6, "B", now=after(4))
    assert (await live.stage(round_.id)).seats == 1


async def test_teams_fill_evenly_and_sides_can_be_changed_in_the_lobby(live: LiveRounds) -> None:
    round_ = await opened(live, Rules(seconds=20, teams=3))
    seats = [(await live.join(round_.id, who, f"P{who}", now=after(-9))).seat for who in range(7)]
    assert [seat.team for seat in seats] == [0, 1, 2, 0, 1, 2, 0]
    assert (await live.join(round_.id, 0, "P0", team=2, now=after(-8))).seat.team == 2
    assert (await live.stage(round_.id)).teams == (2, 2, 3)
    await do(live, round_, Control.NEXT, 0)
    assert (await live.join(round_.id, 0, "P0", team=1, now=after(1))).seat.team == 2


async def test_a_channel_has_one_round_at_a_time_and_other_channels_have_their_own(live: LiveRounds) -> None:
    round_ = await opened(live)
    with pytest.raises(RoundRunning):
        await opened(live)
    other = await opened(live, channel_id=21)
    await do(live, round_, Control.END, 5)
    assert (await opened(live)).id not in (round_.id, other.id)


async def test_other_rounds_never_change_this_one(live: LiveRounds) -> None:
    """The same people press other things in nine other rounds at the same moments; this round's board is as if alone."""
    rng = random.Random(11)
    mine = await begun(live, channel_id=100)
    others = [await begun(live, channel_id=101 + n) for n in range(9)]
    ids = count(1)
    sent = [press(next(ids), who, rng.choice("abcd"), rng.randrange(20_000) / 1000) for who in range(30) for _ in range(3)]
    noise = [
        (rng.choice(others).id, press(next(ids), rng.randrange(30), rng.choice("abcd"), rng.randrange(20_000) / 1000)) for _ in range(300)
    ]
    todo = [*((mine.id, one) for one in sent), *noise]
    rng.shuffle(todo)
    await asyncio.gather(*(live.press(round_id, one, f"P{one.learner_id}") for round_id, one in todo))
    for other in others[::2]:
        await do(live, other, Control.SKIP, 19)
    round_ = await revealed(live, mine)
    got = await live.report(round_.id)
    seats = [standing.seat for standing in got.board.standings]
    assert got.board == board(round_, sent, seats)


async def test_a_press_in_the_same_batch_as_the_reveal_counts_before_it_or_not_at_all(live: LiveRounds) -> None:
    round_ = await begun(live)
    await live.tick(round_.id, now=after(20))
    waiting = [live.press(round_.id, press(n, n, "b", 19.99), "P") for n in range(1, 60)]
    results = await asyncio.gather(*waiting[:30], live.tick(round_.id, now=after(21)), *waiting[30:])
    receipts = [result for result in results if not isinstance(result, LiveRound)]
    kept = {receipt.standing.learner_id for receipt in receipts if receipt.standing}
    report = await live.report(round_.id)
    assert {s.seat.learner_id for s in report.board.standings if s.lines[0].response} == kept
    assert all(receipt.refusal in (None, Refusal.REVEALED) for receipt in receipts)


async def test_a_reveal_never_overtakes_a_press_that_is_here_already(live: LiveRounds) -> None:
    round_ = await begun(live)
    await live.press(round_.id, press(1, 1, "b", 3), "A")  # from now on presses gather for a moment
    await live.tick(round_.id, now=after(20))
    waiting = [asyncio.create_task(live.press(round_.id, press(n, n, "b", 19.9), "P")) for n in range(2, 40)]
    await asyncio.sleep(0)
    assert (await live.tick(round_.id, now=after(21))).phase is Phase.REVEALED
    assert {receipt.outcome for receipt in await asyncio.gather(*waiting)} == {Outcome.RECORDED}


async def test_a_killed_bot_finds_its_rounds_and_gives_the_lost_time_back(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    async with rounds_at(path) as live:
        round_ = await begun(live)
        await live.press(round_.id, press(1, 5, "b", 6), "A")
        await live.beat(now=after(8))
    async with rounds_at(path) as live:
        (again,) = await live.resume(now=after(108))
        assert again.current is not None
        assert again.current.deadline == after(120)
        assert (await live.press(round_.id, press(2, 6, "c", 110), "B")).outcome is Outcome.RECORDED
        desk = await live.desk(round_.id)
        assert (desk.answered, desk.seats) == (2, 2)


async def test_a_receipt_after_the_last_heartbeat_still_counts_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    async with rounds_at(path) as live:
        round_ = await begun(live)
        await live.beat(now=after(5))
        await live.press(round_.id, press(1, 5, "b", 5.9), "A")
    async with rounds_at(path) as live:
        await live.resume(now=after(60))
        after_ = await live.load(round_.id)
        assert (await revealed(live, after_)).phase is Phase.REVEALED
        place = await live.place(round_.id, 5)
        assert place.standing is not None
        assert place.standing.points == 1.0


async def test_a_time_factor_is_private_and_holds_the_reveal_back(live: LiveRounds) -> None:
    await live.allow(1, 6, 1.5)
    round_ = await begun(live)
    await live.join(round_.id, 6, "B", now=after(1))
    await live.press(round_.id, press(1, 5, "b", 2), "A")
    await live.tick(round_.id, now=after(20))
    assert (await live.tick(round_.id, now=after(21))).phase is Phase.CLOSED
    desk = await live.desk(round_.id)
    assert (desk.waiting, desk.waiting_until) == (1, after(30))
    assert (await live.sheet(round_.id, 6, now=after(25))).open
    assert not (await live.sheet(round_.id, 5, now=after(25))).open
    assert (await live.press(round_.id, press(2, 6, "b", 26), "B")).outcome is Outcome.RECORDED
    assert (await live.tick(round_.id, now=after(27))).phase is Phase.REVEALED


async def test_a_person_without_a_limit_may_answer_until_the_reveal(live: LiveRounds) -> None:
    round_ = await begun(live)
    await live.join(round_.id, 6, "B", now=after(1))
    await live.allow(1, 6, NO_LIMIT)
    closed = await live.tick(round_.id, now=after(20))
    assert (await live.tick(round_.id, now=after(200))).phase is Phase.CLOSED
    assert (await live.sheet(round_.id, 6, now=after(300))).until is None
    assert (await live.press(round_.id, press(2, 6, "b", 400), "B")).outcome is Outcome.RECORDED
    assert (await do(live, closed, Control.NEXT, 401)).phase is Phase.REVEALED


async def test_a_repair_changes_points_places_and_reports_and_says_whose(live: LiveRounds) -> None:
    round_ = await begun(live)
    await live.press(round_.id, press(1, 5, "b", 2), "A")
    await live.press(round_.id, press(2, 6, "c", 2), "B")
    round_ = await revealed(live, round_)
    assert [s.seat.name for s in (await live.board(round_.id)).standings] == ["A", "B"]
    done = await live.repair(round_.id, Repair(0, Fix.KEY, 3, after(40), ("c",)))
    assert [(moved.seat.name, moved.place_before, moved.place_after) for moved in done.moved] == [("B", 2, 1), ("A", 1, 2)]
    assert [s.seat.name for s in (await live.board(round_.id)).standings] == ["B", "A"]
    _, made, line = await live.line(round_.id, 0, 6)
    assert line is not None
    assert (line.points, made.repaired) == (1.0, True)
    with pytest.raises(BadResponse):
        await live.repair(round_.id, Repair(0, Fix.KEY, 3, after(41), ("z",)))
    assert len((await live.load(round_.id)).repairs) == 1


async def test_a_repair_a_week_later_needs_no_quiz_file(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    async with rounds_at(path) as live:
        round_ = await begun(live)
        await live.press(round_.id, press(1, 5, "c", 2), "A")
        round_ = await do(live, await revealed(live, round_), Control.END, 60)
    database = await Database.open(path)
    try:
        changed = replace(quiz([single("alpha", "d")]), title=Text.of("Another one"))
        live = LiveRounds(
            Library(quizzes={changed.id: changed}), store=LiveStore(database), misses=MissStore(database), new_id=lambda: "0" * 12
        )
        await live.repair(round_.id, Repair(0, Fix.KEY, 3, after(604_800), ("c",)))
        report = await live.report(round_.id)
        assert (report.board.standings[0].points, report.title) == (1.0, "The harbour")
    finally:
        await database.close()


async def test_the_key_stays_hidden_from_everybody_until_it_is_shown(live: LiveRounds) -> None:
    round_ = await begun(live)
    await live.press(round_.id, press(1, 5, "b", 2), "A")
    stage = await live.stage(round_.id)
    assert (stage.split, stage.board, stage.answered) == (None, None, 1)
    with pytest.raises(StaleAnswer):
        await live.line(round_.id, 0, 5)
    assert (await live.desk(round_.id)).split is not None


async def test_misses_are_kept_for_those_who_agreed_and_follow_a_repair(live: LiveRounds) -> None:
    await live.misses.save_keeps(5, keeps=True)
    round_ = await begun(live)
    await live.press(round_.id, press(1, 5, "c", 2), "A")
    await live.press(round_.id, press(2, 6, "c", 2), "B")
    round_ = await do(live, await revealed(live, round_), Control.END, 60)
    (miss,) = await live.misses.of(5)
    assert (miss.question_id, miss.response, miss.credit) == ("alpha", Selected(("c",)), 0.0)
    assert await live.misses.of(6) == []
    await live.keep_misses(6, round_.id, keeps=True)
    assert len(await live.misses.of(6)) == 1
    await live.repair(round_.id, Repair(0, Fix.KEY, 3, after(70), ("c",)))
    assert await live.misses.of(5) == []


async def test_an_unanswered_question_is_a_miss_too(live: LiveRounds) -> None:
    await live.misses.save_keeps(5, keeps=True)
    round_ = await begun(live)
    await live.join(round_.id, 5, "A", now=after(1))
    await do(live, await revealed(live, round_), Control.END, 60)
    assert [(miss.response, miss.question_id) for miss in await live.misses.of(5)] == [(None, "alpha")]


async def test_a_control_of_an_earlier_turn_changes_nothing(live: LiveRounds) -> None:
    round_ = await begun(live)
    both = await asyncio.gather(*(live.control(round_.id, Control.EXTEND, round_.turn, now=after(3)) for _ in range(5)))
    assert [changed for _, changed in both].count(True) == 1
    assert both[-1][0].extensions == 1


async def test_a_forgotten_person_is_gone_and_nobody_else_has_moved(live: LiveRounds) -> None:
    round_ = await begun(live)
    for who in (5, 6, 7):
        await live.press(round_.id, press(who, who, "b", 2), f"P{who}")
    round_ = await revealed(live, round_)
    before = (await live.report(round_.id)).board
    assert [kept["answer"] for kept in await live.kept_of(6)] == [{"selected": ["b"]}]
    await live.forget(6)
    assert await live.kept_of(6) == []
    now = (await live.report(round_.id)).board
    assert [s.seat.learner_id for s in now.standings] == [5, 7]
    assert [s.points for s in now.standings] == [s.points for s in before.standings if s.seat.learner_id != 6]


async def test_lost_signals_are_counted_once_per_person_and_question(live: LiveRounds) -> None:
    round_ = await begun(live)
    for who in (5, 6, 5):
        await live.signal_lost(round_.id, who)
    assert (await live.desk(round_.id)).lost == 2
