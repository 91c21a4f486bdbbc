"""The use cases of live rounds: open one, join, press, control, repair, read the results. Load, one pure step, save, a view.

Time comes in as `now`, chance as a `random.Random`. Who may control a round is the caller's to decide; everything here is
safe to ask twice. Points are never stored: each board is derived from the presses and the keys as they are now.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from content.model import Library, Question, Quiz
from tutor import grading, live, rounds, scoring, statistics
from tutor.errors import NotFound, StaleAnswer
from tutor.exports import Report
from tutor.gate import Lock
from tutor.grading import Response
from tutor.live import LiveRound, Phase, Rules
from tutor.live_press import Receipt
from tutor.live_repair import Keyed, Repair, check, keyed
from tutor.scoring import Board, Line, Moved, Press, Standing
from tutor.service import GuildQuizzes
from tutor.statistics import Split
from tutor.store.live import Joined, LiveStore, MessageAt
from tutor.store.misses import Miss, MissStore

_LOOK_BACK: Final = timedelta(hours=12)  # an end older than this is no news any more
_BOARDS: Final = 64  # boards kept; one is derived once per reveal or repair, then 500 people ask for their place


class Control(StrEnum):
    """What an instructor can do with a running round."""

    NEXT = "next"
    CLOSE = "close"
    PAUSE = "pause"
    RESUME = "resume"
    EXTEND = "extend"
    SKIP = "skip"
    REVEAL = "reveal"  # peer instruction: without a second vote
    BOARD = "board"  # back to the board
    SHOW_BOARD = "show"
    HIDE_BOARD = "hide"
    END = "end"


@dataclass(frozen=True, slots=True)
class Stage:
    """What everybody may see now. `split` and `first_split` are there once the key is shown, and only then."""

    round: LiveRound
    seats: int
    answered: int
    teams: tuple[int, ...]  # seats per team
    question: Keyed | None
    split: Split | None
    first_split: Split | None
    moved: int  # people with another credit on this question since it was repaired
    board: Board | None


@dataclass(frozen=True, slots=True)
class Desk:
    """What only instructors see: the live split, who is lost, who has time left."""

    round: LiveRound
    seats: int
    answered: int
    split: Split | None
    lost: int
    waiting: int  # people with extra time and no answer yet
    waiting_until: datetime | None


@dataclass(frozen=True, slots=True)
class Place:
    """One person's own result. `standing` None: nothing of theirs counts yet."""

    round: LiveRound
    board: Board
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class Repaired:
    round: LiveRound
    repair: Repair
    question: Keyed
    moved: tuple[Moved, ...]  # everybody whose points changed


@dataclass(frozen=True, slots=True)
class Sheet:
    """A question as one person sees it on their own: option order, their answer, their private deadline."""

    round: LiveRound
    position: int
    vote: int
    question: Question
    order: tuple[str, ...]
    mine: Response | None
    factor: float
    until: datetime | None
    open: bool


class LiveRounds:
    """Everything that people can do in live rounds. Raises NotFound for a round that is not there."""

    def __init__(
        self,
        library: Library,
        *,
        store: LiveStore,
        misses: MissStore,
        new_id: Callable[[], str],
        guild_quizzes: GuildQuizzes | None = None,
    ) -> None:
        self.library = library
        self._guild_quizzes = guild_quizzes
        self.misses = misses
        self._store = store
        self._new_id = new_id
        self._boards: OrderedDict[tuple[str, str, int, int], Board] = OrderedDict()
        self._deriving = asyncio.Lock()

    # Opening and joining --------------------------------------------------------------------------------------------

    def quiz(self, quiz_id: str, guild_id: int) -> Quiz:
        """Of the library, or one that the guild brought itself. Raises NotFound, also without a question that can be asked live."""
        quiz = self.library.quizzes.get(quiz_id)
        if quiz is None and self._guild_quizzes is not None:
            quiz = self._guild_quizzes.find(quiz_id, guild_id)
        if quiz is None:
            raise NotFound("quiz", quiz_id)
        if not any(live.playable(question) for question in quiz.questions):
            raise NotFound("playable question", quiz_id)
        return quiz

    async def open(
        self,
        quiz_id: str,
        *,
        guild_id: int,
        channel_id: int,
        host_id: int,
        language: str,
        rules: Rules,
        count: int | None,
        now: datetime,
        rng: random.Random,
    ) -> LiveRound:
        """A new round in its lobby; `count` None: as many questions as the quiz says.

        Raises NotFound, and RoundRunning when this channel has a round that has not ended.
        """
        quiz = self.quiz(quiz_id, guild_id)
        playable = tuple(question for question in quiz.questions if live.playable(question))
        asked = rounds.chosen_questions(replace(quiz, questions=playable), count=count, shuffled=rules.shuffled, rng=rng)
        by_id = {question.id: question for question in playable}
        round_ = LiveRound(
            id=self._new_id(),
            guild_id=guild_id,
            channel_id=channel_id,
            host_id=host_id,
            quiz=replace(quiz, questions=tuple(by_id[question_id] for question_id in asked)),
            language=language,
            rules=rules,
            seed=rng.getrandbits(48),
            created_at=now,
        )
        await self._store.save_new(round_)
        return await self._store.load(round_.id)  # as it will be read after a restart

    async def join(self, round_id: str, learner_id: int, name: str, *, team: int | None = None, now: datetime) -> Joined:
        """Take a seat, or change sides in the lobby. Raises StaleAnswer when nobody is let in any more."""
        return await self._store.join(round_id, learner_id, name, team=team, now=now)

    async def press(self, round_id: str, press: Press, name: str) -> Receipt:
        """One answer; on the disk when this returns, unless the receipt refuses it. Raises BadResponse, StaleAnswer, StoreError."""
        return await self._store.save_press(round_id, press, name)

    async def sheet(self, round_id: str, learner_id: int, *, now: datetime) -> Sheet:
        """The current question for this person alone. Raises StaleAnswer when none is open or the key is shown already."""
        round_ = await self._store.load(round_id)
        current, question = round_.current, round_.question
        if current is None or question is None or round_.phase not in (Phase.ASKING, Phase.CLOSED, Phase.DISCUSSING):
            raise StaleAnswer(f"round {round_id} has no open question")
        factor = await self._factor_of(round_, learner_id)
        presses = await self._store.presses_of(round_id, current.position, learner_id)
        held = scoring.standing_presses(current, presses, {learner_id: factor}, locked=round_.rules.locked)
        return Sheet(
            round=round_,
            position=current.position,
            vote=current.vote,
            question=question,
            order=order_for(round_, current.position, learner_id if round_.rules.own_order else None),
            mine=held[learner_id][0].response if learner_id in held else None,
            factor=factor,
            until=current.own_deadline(factor),
            open=round_.refusal(current.position, current.vote, now, factor) is None,
        )

    async def _factor_of(self, round_: LiveRound, learner_id: int) -> float:
        seat = await self._store.seat(round_.id, learner_id)
        return seat.factor if seat else await self._store.factor(round_.guild_id, learner_id)

    async def signal_lost(self, round_id: str, learner_id: int) -> LiveRound:
        """This person cannot follow at this point. Raises StaleAnswer before the first question and after the end."""
        round_ = await self._store.load(round_id)
        if round_.position < 0 or round_.over:
            raise StaleAnswer(f"round {round_id} is not at a question")
        await self._store.save_lost(round_id, round_.position, learner_id)
        return round_

    async def allow(self, guild_id: int, learner_id: int, factor: float) -> None:
        """A person may take `factor` times as long (1: as everybody; `live.NO_LIMIT`). Raises ValueError below 1."""
        if factor < 1:
            raise ValueError(f"a time factor is at least 1, not {factor}")
        await self._store.save_factor(guild_id, learner_id, factor)

    # Controlling ----------------------------------------------------------------------------------------------------

    async def control(self, round_id: str, control: Control, turn: str, *, now: datetime) -> tuple[LiveRound, bool]:
        """The round after the control, and whether it changed anything. `turn` is the round's turn that the control was made for.

        A control of an earlier turn changes nothing: somebody else, a second press or the timer was faster.
        """
        changed = False

        def step(round_: LiveRound, last_press: datetime | None) -> LiveRound:
            nonlocal changed
            after = round_ if round_.turn != turn else _controlled(round_, control, now=now, last_press=last_press)
            changed = after != round_
            return after

        round_ = await self._store.step(round_id, step)
        if changed and round_.over:
            await self._keep_misses(round_)
        return round_, changed

    async def tick(self, round_id: str, *, now: datetime, grace_s: float = live.GRACE_S) -> LiveRound:
        """What the timer does; at most one step. Call again at `due`."""
        round_, longer, answered = await self._store.timed(round_id)
        until = live.waiting_until(round_, longer, answered)

        def step(round_: LiveRound, last_press: datetime | None) -> LiveRound:
            return round_.ticked(now=now, wait_until=until, grace_s=grace_s)

        after = await self._store.step(round_id, step)
        if after.over and not round_.over:
            await self._keep_misses(after)
        return after

    async def due(self, round_id: str, *, grace_s: float = live.GRACE_S) -> tuple[LiveRound, datetime | None]:
        """The round, and when `tick` has something to do; None: not by itself."""
        round_, longer, answered = await self._store.timed(round_id)
        return round_, round_.next_due(wait_until=live.waiting_until(round_, longer, answered), grace_s=grace_s)

    async def appeared(self, round_id: str, *, at: datetime) -> LiveRound:
        """The question's message stood in the channel at this time, by Discord's clock."""
        return await self._store.step(round_id, lambda round_, last_press: round_.appeared(at=at) if last_press is None else round_)

    async def resume(self, *, now: datetime) -> list[LiveRound]:
        """After a start: every open round, with the time given back that the bot was away; and rounds whose end was not shown."""
        alive = await self._store.alive()
        resumed: list[LiveRound] = []
        for round_ in await self._store.open_rounds(ended_after=now - _LOOK_BACK):

            def step(round_: LiveRound, last_press: datetime | None) -> LiveRound:
                known = [at for at in (alive, last_press, round_.phase_at) if at is not None]
                return round_.after_outage(alive_until=max(known), now=now) if known else round_

            resumed.append(await self._store.step(round_.id, step))
        await self._store.save_alive(now=now)
        return resumed

    async def beat(self, *, now: datetime) -> None:
        """The bot is alive; to be called about every second while a round runs."""
        await self._store.save_alive(now=now)

    async def repair(self, round_id: str, repair: Repair) -> Repaired:
        """Raises BadResponse when the repair does not fit the question, StaleAnswer when it was not asked yet."""
        loaded = await self._store.load(round_id)
        if not 0 <= repair.position < loaded.total:
            raise StaleAnswer(f"round {round_id} has no question {repair.position + 1}")
        check(loaded.quiz.questions[repair.position], repair)
        before = await self.board(round_id)
        round_ = await self._store.step(round_id, lambda round_, _: round_.repaired(repair))
        after = await self.board(round_id)
        if round_.over:
            await self._keep_misses(round_)
        made = keyed(round_.quiz.questions[repair.position], repair.position, round_.repairs)
        return Repaired(round_, repair, made, scoring.moved(before, after))

    # Looking --------------------------------------------------------------------------------------------------------

    async def load(self, round_id: str) -> LiveRound:
        return await self._store.load(round_id)

    async def locks(self, learner_id: int, channel_id: int | None, now: datetime) -> list[Lock]:
        """The questions that are open in live rounds of this channel, or of which this person has a seat, wherever they ask.

        Only the reveal unlocks: a question whose time is up stays locked until then.
        """
        found: list[Lock] = []
        for round_ in await self._store.open_rounds(ended_after=now):
            if round_.question is None or round_.phase not in (Phase.ASKING, Phase.CLOSED, Phase.DISCUSSING):
                continue
            if round_.channel_id == channel_id or await self._store.seat(round_.id, learner_id):
                found.append(Lock(round_.quiz, round_.question))
        return found

    async def newest(self, guild_id: int | None, *, limit: int = 25) -> list[LiveRound]:
        return await self._store.newest(guild_id, limit=limit)

    async def stage(self, round_id: str, position: int | None = None) -> Stage:
        """What everybody may see: of the current question, or of an earlier one that is to be drawn again."""
        round_, counts, answered = await self._store.counted(round_id, position)
        at = round_.position if position is None else position
        askings = [asking for asking in round_.askings if asking.position == at]
        revealed = round_.shown(at)
        splits: list[Split] = []
        moved = 0
        if revealed:
            presses = await self._store.presses(round_id, at)
            factors = {seat.learner_id: seat.factor for seat in await self._store.seats(round_id)}
            splits = [statistics.split(round_, at, asking.vote, presses, factors) for asking in askings]
            moved = statistics.changed(round_, at, presses, factors)
        return Stage(
            round=round_,
            seats=sum(counts.values()),
            answered=answered,
            teams=tuple(counts.get(team, 0) for team in range(round_.rules.teams)),
            question=keyed(round_.quiz.questions[at], at, round_.repairs) if askings else None,
            split=splits[-1] if splits else None,
            first_split=splits[0] if len(splits) > 1 else None,
            moved=moved,
            board=await self.board(round_id) if revealed or round_.over else None,
        )

    async def desk(self, round_id: str) -> Desk:
        round_, longer, answered = await self._store.timed(round_id)
        seats = await self._store.seats(round_id)
        until = live.waiting_until(round_, longer, answered)
        split: Split | None = None
        if round_.current is not None:
            presses = await self._store.presses(round_id, round_.position)
            factors = {seat.learner_id: seat.factor for seat in seats}
            split = statistics.split(round_, round_.position, round_.current.vote, presses, factors)
        lost = await self._store.lost(round_id)
        waiting = len(longer.keys() - answered) if until else 0
        return Desk(round_, len(seats), split.answered if split else 0, split, lost.get(round_.position, 0), waiting, until)

    async def board(self, round_id: str) -> Board:
        """The board as it stands; derived once for each reveal and repair."""
        async with self._deriving:
            round_ = await self._store.load(round_id)
            key = (round_id, round_.phase.value, len(round_.askings), len(round_.repairs))
            board = self._boards.get(key)
            if board is None:
                board = await self._derived(round_)
                self._boards[key] = board
            self._boards.move_to_end(key)
            while len(self._boards) > _BOARDS:
                self._boards.popitem(last=False)
            return board

    async def _derived(self, round_: LiveRound) -> Board:
        presses = await self._store.presses(round_.id)
        seats = await self._store.seats(round_.id)
        return await asyncio.to_thread(scoring.board, round_, presses, seats)  # 500 people take tens of milliseconds

    async def place(self, round_id: str, learner_id: int) -> Place:
        round_ = await self._store.load(round_id)
        board = await self.board(round_id)
        return Place(round_, board, board.of(learner_id))

    async def line(self, round_id: str, position: int, learner_id: int) -> tuple[LiveRound, Keyed, Line | None]:
        """What a person has on a question whose key is shown; None: no answer. Raises StaleAnswer before that."""
        round_ = await self._store.load(round_id)
        if not 0 <= position < round_.total or not round_.shown(position):
            raise StaleAnswer(f"question {position + 1} of round {round_id} is not revealed")
        made = keyed(round_.quiz.questions[position], position, round_.repairs)
        standing = (await self.board(round_id)).of(learner_id)
        line = next((line for line in standing.lines if line.position == position), None) if standing else None
        return round_, made, line if line and line.response else None

    async def report(self, round_id: str) -> Report:
        """Everything of a round, for a file. Derived anew each time."""
        round_ = await self._store.load(round_id)
        board = await self._derived(round_)
        lost = await self._store.lost(round_id)
        return Report(round_, board, statistics.figures(round_, board, lost), lost)

    async def keep_misses(self, learner_id: int, round_id: str, *, keeps: bool) -> None:
        """A person agrees that what they miss is kept for a review, from this round on; or takes that back."""
        await self.misses.save_keeps(learner_id, keeps=keeps)
        round_ = await self._store.load(round_id)
        if keeps and round_.over:
            await self._keep_misses(round_)

    async def kept_of(self, learner_id: int) -> list[dict[str, Any]]:
        """What live rounds keep of a person, as JSON-ready data, for themselves to read."""
        return [
            {
                "round": round_.id,
                "quiz": round_.quiz.id,
                "question": round_.quiz.questions[press.position].id,
                "vote": press.vote,
                "answer": grading.to_json(press.response),
                "pressed_at": press.pressed_at.isoformat(),
            }
            for round_, press in await self._store.presses_by(learner_id)
        ]

    async def forget(self, learner_id: int) -> None:
        """Remove a person from all live rounds, and what was kept of their misses."""
        await self._store.forget(learner_id)
        await self.misses.forget(learner_id)
        self._boards.clear()

    # Messages of a round, for the one who draws them ----------------------------------------------------------------

    async def messages(self, round_id: str) -> dict[tuple[str, int], MessageAt]:
        return await self._store.messages(round_id)

    async def save_message(self, round_id: str, kind: str, position: int, channel_id: int, message_id: int) -> MessageAt:
        message = MessageAt(kind, position, channel_id, message_id)
        await self._store.save_message(round_id, message)
        return message

    async def drop_message(self, round_id: str, kind: str, position: int) -> None:
        await self._store.drop_message(round_id, kind, position)

    # Parts ----------------------------------------------------------------------------------------------------------

    async def _keep_misses(self, round_: LiveRound) -> None:
        board = await self.board(round_.id)
        shown = {asking.position: asking.revealed_at for asking in round_.askings if asking.revealed_at}
        found = [
            Miss(
                standing.seat.learner_id,
                round_.id,
                round_.quiz.id,
                round_.quiz.questions[line.position].id,
                line.response,
                line.credit,
                shown[line.position],
            )
            for standing in board.standings
            for line in standing.lines
            if line.credit < 1
        ]
        await self.misses.save(round_.id, found)


def _controlled(round_: LiveRound, control: Control, *, now: datetime, last_press: datetime | None) -> LiveRound:
    match control:
        case Control.NEXT:
            return round_.advanced(now=now, last_press=last_press)
        case Control.CLOSE:
            return round_.closed(now=now, last_press=last_press)
        case Control.PAUSE:
            return round_.paused(now=now, last_press=last_press)
        case Control.RESUME:
            return round_.resumed(now=now)
        case Control.EXTEND:
            return round_.extended(now=now)
        case Control.SKIP:
            return round_.skipped(now=now, last_press=last_press)
        case Control.REVEAL:
            return round_.revealed(now=now, last_press=last_press)
        case Control.BOARD:
            return round_.board_called()
        case Control.SHOW_BOARD:
            return round_.with_board(shown=True)
        case Control.HIDE_BOARD:
            return round_.with_board(shown=False)
        case Control.END:
            return round_.ended(now=now)


def order_for(round_: LiveRound, position: int, learner_id: int | None) -> tuple[str, ...]:
    """Option ids in the order shown: one for everybody, or a person's own. The same each time it is asked."""
    question = round_.quiz.questions[position]
    seed = f"{round_.seed}:{position}:{learner_id}" if learner_id is not None else f"{round_.seed}:{position}"
    return rounds.option_order(question, shuffled=round_.rules.shuffled or learner_id is not None, rng=random.Random(seed))
