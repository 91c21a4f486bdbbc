"""A live round as plain values: lobby, questions with their clock, pauses, reveals, the end. Every step gives a new round.

Nothing here reads a clock, a file, chance or Discord. The time of a press is passed in, taken from the press itself and not
from its arrival; whether it counts depends only on it and on the round's own times, so neither order nor delay of delivery
changes a result. Points are not kept here: `tutor.scoring` derives them from the presses each time.

A control names the `turn` it was made for. A second press of the same control, or one that another instructor or the timer
was faster than, therefore changes nothing: every step returns the round unchanged when it does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from content.model import Choices, Info, Question, Quiz
from tutor import rounds
from tutor.errors import StaleAnswer
from tutor.live_repair import Repair

NO_LIMIT: Final = math.inf
"""The time factor of a person who may take as long as they like."""
READING_WORDS_PER_S: Final = 220 / 60  # Brysbaert 2019 measures 238 words a minute for non-fiction; a little slower for study
READING_CJK_PER_S: Final = 400 / 60  # characters
THINKING_S: Final = 20  # after reading, when neither instructor nor author sets a time
LONGEST_S: Final = 600
EXTENSION_S: Final = 15
GRACE_S: Final = 1.0
"""Between the deadline and the earliest reveal: a press made in time may take this long to arrive and still counts."""
DISCUSSION_S: Final = 90
REVEAL_S: Final = 15  # how long an automatic round shows a reveal
LEAST_AFTER_OUTAGE_S: Final = 5.0  # nobody can react faster to a question that comes back
LONGEST_WAIT_S: Final = 600.0  # for a person without a time limit, before a reveal comes by itself


class Phase(StrEnum):
    LOBBY = "lobby"
    ASKING = "asking"
    CLOSED = "closed"  # time is up; what was pressed before and is still on its way counts until the reveal
    DISCUSSING = "discussing"  # peer instruction: between the votes
    REVEALED = "revealed"
    ENDED = "ended"


class Scheme(StrEnum):
    ACCURACY = "accuracy"  # the question's own points, whenever it was answered
    GENTLE = "gentle"  # 600 for being right, up to 400 more for being quick
    CLASSIC = "classic"  # 1000 × (1 − t / 2T)


class Refusal(StrEnum):
    """Why a press does not count. None of them is a fault of the program."""

    NOT_STARTED = "not_started"
    LATE = "late"
    PAUSED = "paused"
    EARLIER_QUESTION = "earlier_question"
    REVEALED = "revealed"
    OVER = "over"
    NOT_IN = "not_in"  # the round does not let people join late


@dataclass(frozen=True, slots=True)
class Rules:
    """What an instructor chose. `seconds` None: the author's limit, else reading time and 20 s; 0: until it is closed by hand."""

    seconds: int | None = None
    scheme: Scheme = Scheme.ACCURACY
    streaks: bool = False
    teams: int = 0  # 0: everybody for themselves
    anonymous: bool = False  # the board shows places and points without names
    late_join: bool = True
    shuffled: bool = True  # choices are mixed; what is to be ordered or matched always is
    locked: bool = False  # the first answer stands; else it may be changed until the close
    peer: bool = False  # vote, discuss, vote again
    own_order: bool = False  # everybody gets the options in an order of their own
    automatic: bool = False  # reveals lead to the next question by themselves


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time in which answers are taken; `closes_at` is the plan until it has passed. None: no limit."""

    opened_at: datetime
    closes_at: datetime | None

    def length_s(self) -> float:
        return (self.closes_at - self.opened_at).total_seconds() if self.closes_at else 0.0


@dataclass(frozen=True, slots=True)
class Asking:
    """One vote on one question. A pause or an outage ends a window, going on opens the next one."""

    position: int
    vote: int  # 1, or 2 after a discussion
    windows: tuple[Window, ...]
    allotted_s: float | None  # planned in all, extensions included; None: no limit
    closed: bool = False
    revealed_at: datetime | None = None
    skipped: bool = False

    @property
    def deadline(self) -> datetime | None:
        return self.windows[-1].closes_at

    @property
    def open_s(self) -> float:
        """Seconds in which answers were taken, or are planned to be."""
        return sum(window.length_s() for window in self.windows)

    def taken_s(self, pressed_at: datetime, factor: float = 1.0) -> float | None:
        """Seconds of open time until this press, or None when it was made outside it.

        `factor` stretches a person's own time beyond the common close; their extra time runs until the reveal.
        """
        if self.revealed_at is not None and pressed_at > self.revealed_at:
            return None
        before = 0.0
        for window in self.windows:
            if pressed_at < window.opened_at:
                # the first one: a clock that differs a little from Discord's, the button was there
                return 0.0 if window is self.windows[0] else None
            if window.closes_at is None or pressed_at <= window.closes_at:
                return before + (pressed_at - window.opened_at).total_seconds()
            before += window.length_s()
        last = self.deadline
        assert last is not None, "a window without an end holds every later press"
        taken = before + (pressed_at - last).total_seconds()
        return taken if factor > 1 and taken <= before * factor else None

    def own_deadline(self, factor: float) -> datetime | None:
        """When a person's own time is up; None: never."""
        if self.deadline is None or factor == NO_LIMIT:
            return None
        return self.deadline + timedelta(seconds=self.open_s * (max(1.0, factor) - 1))


@dataclass(frozen=True, slots=True)
class LiveRound:
    """`askings` are in the order asked; the last one is the current one. `quiz` holds just the questions of this round."""

    id: str
    guild_id: int
    channel_id: int
    host_id: int
    quiz: Quiz
    language: str
    rules: Rules
    seed: int
    created_at: datetime  # UTC, as all times here
    phase: Phase = Phase.LOBBY
    phase_at: datetime | None = None
    askings: tuple[Asking, ...] = ()
    paused_at: datetime | None = None
    board_shown: bool = True
    extensions: int = 0
    boards: int = 0  # how often the board was called back
    outage_s: float = 0.0  # time given back after outages, for the message that says so
    ended_at: datetime | None = None
    repairs: tuple[Repair, ...] = field(default=())

    @property
    def current(self) -> Asking | None:
        return self.askings[-1] if self.askings else None

    @property
    def position(self) -> int:
        """Of the current question, from 0; −1 in the lobby."""
        return self.askings[-1].position if self.askings else -1

    @property
    def total(self) -> int:
        return len(self.quiz.questions)

    @property
    def question(self) -> Question | None:
        return self.quiz.questions[self.position] if self.askings else None

    @property
    def turn(self) -> str:
        """What a control is bound to; at most 30 characters of `[a-z0-9.]`. It never comes back: a window is opened once."""
        vote, windows = (self.current.vote, len(self.current.windows)) if self.current else (0, 0)
        counts = f"{windows}.{int(self.paused_at is not None)}.{self.extensions}.{self.boards}"
        return f"{self.position + 1}.{vote}.{self.phase[:2]}.{counts}"

    @property
    def over(self) -> bool:
        return self.phase is Phase.ENDED

    def asking(self, position: int, vote: int) -> Asking | None:
        return next((asking for asking in self.askings if (asking.position, asking.vote) == (position, vote)), None)

    def shown(self, position: int) -> bool:
        """Whether the key of this question has been revealed and the question was not dropped."""
        return any(asking.position == position and asking.revealed_at is not None and not asking.skipped for asking in self.askings)

    # Presses --------------------------------------------------------------------------------------------------------

    def refusal(self, position: int, vote: int, pressed_at: datetime, factor: float = 1.0) -> Refusal | None:
        """Why a press that arrives now would not count; None when it does."""
        if self.phase is Phase.LOBBY:
            return Refusal.NOT_STARTED
        current = self.current
        if current is None or self.phase is Phase.ENDED:
            return Refusal.OVER
        if (position, vote) != (current.position, current.vote):
            return Refusal.EARLIER_QUESTION
        if self.phase is Phase.REVEALED or current.revealed_at is not None:
            return Refusal.REVEALED
        if self.phase is Phase.ASKING and self.paused_at is not None and pressed_at > self.paused_at:
            return Refusal.PAUSED
        if current.taken_s(pressed_at, factor) is None:
            return Refusal.PAUSED if any(pressed_at < window.opened_at for window in current.windows) else Refusal.LATE
        return None

    # Controls -------------------------------------------------------------------------------------------------------

    def advanced(self, *, now: datetime, last_press: datetime | None = None) -> LiveRound:
        """The instructor's "next": start, close, reveal (or discuss), second vote, next question, end."""
        match self.phase:
            case Phase.LOBBY:
                return self._asked(0, 1, now)
            case Phase.ASKING:
                return self.closed(now=now, last_press=last_press)
            case Phase.CLOSED if self.rules.peer and self.current is not None and self.current.vote == 1:
                return replace(self, phase=Phase.DISCUSSING, phase_at=now, paused_at=None)
            case Phase.CLOSED:
                return self.revealed(now=now, last_press=last_press)
            case Phase.DISCUSSING:
                return self._asked(self.position, 2, now)
            case Phase.REVEALED if self.position + 1 < self.total:
                return self._asked(self.position + 1, 1, now)
            case Phase.REVEALED:
                return self.ended(now=now)
            case Phase.ENDED:
                return self

    def closed(self, *, now: datetime, last_press: datetime | None = None) -> LiveRound:
        """No more answers. `last_press` is the latest one already taken: it has its receipt, so the close is not before it."""
        current = self.current
        if self.phase is not Phase.ASKING or current is None:
            return self
        if self.paused_at is None:
            current = _cut(current, _latest(now, last_press))
        return replace(self._with(replace(current, closed=True)), phase=Phase.CLOSED, phase_at=now, paused_at=None)

    def revealed(self, *, now: datetime, last_press: datetime | None = None) -> LiveRound:
        """Show the key; not within the grace after the close, when presses made in time may be on their way. Extra time ends here."""
        if self.phase not in (Phase.CLOSED, Phase.DISCUSSING) or self.current is None or self.phase_at is None:
            return self
        if self.phase is Phase.CLOSED and now < self.phase_at + timedelta(seconds=GRACE_S):
            return self
        shown = replace(self.current, revealed_at=_latest(now, last_press))
        return replace(self._with(shown), phase=Phase.REVEALED, phase_at=now, paused_at=None)

    def paused(self, *, now: datetime, last_press: datetime | None = None) -> LiveRound:
        if self.paused_at is not None or self.phase in (Phase.LOBBY, Phase.ENDED, Phase.CLOSED) or self.current is None:
            return self
        stopped = _latest(now, last_press)
        if self.phase is not Phase.ASKING:
            return replace(self, paused_at=now)
        if self.current.deadline is not None and now >= self.current.deadline:
            return self  # the time is up already, only the timer has not said so yet
        return replace(self._with(_cut(self.current, stopped)), paused_at=stopped)

    def resumed(self, *, now: datetime) -> LiveRound:
        if self.paused_at is None or self.current is None:
            return self
        if self.phase is not Phase.ASKING:
            later = now - self.paused_at
            return replace(self, paused_at=None, phase_at=self.phase_at + later if self.phase_at else None)
        return replace(self._with(_reopened(self.current, now)), paused_at=None)

    def extended(self, seconds: int = EXTENSION_S, *, now: datetime) -> LiveRound:
        """More time for the open question; a question that is paused or closed by time alone is not opened again."""
        current = self.current
        if self.phase is not Phase.ASKING or current is None or current.allotted_s is None or current.deadline is None:
            return self
        if self.paused_at is not None:
            longer = replace(current, allotted_s=current.allotted_s + seconds)
        elif now >= current.deadline:
            return self
        else:
            last = replace(current.windows[-1], closes_at=current.deadline + timedelta(seconds=seconds))
            longer = replace(current, windows=(*current.windows[:-1], last), allotted_s=current.allotted_s + seconds)
        return replace(self._with(longer), extensions=self.extensions + 1)

    def skipped(self, *, now: datetime, last_press: datetime | None = None) -> LiveRound:
        """Drop the question that is not revealed yet: it is not scored, its key is not shown, the next one is asked."""
        if self.phase not in (Phase.ASKING, Phase.CLOSED, Phase.DISCUSSING) or self.current is None:
            return self
        stopped = self.closed(now=now, last_press=last_press)
        assert stopped.current is not None
        position = self.position
        dropped = tuple(replace(asking, skipped=True) if asking.position == position else asking for asking in stopped.askings)
        after = replace(stopped, askings=dropped)
        return after._asked(position + 1, 1, now) if position + 1 < self.total else after.ended(now=now)

    def ended(self, *, now: datetime) -> LiveRound:
        """The end, at any time. A question whose key was not revealed is not scored."""
        if self.phase is Phase.ENDED:
            return self
        stopped = self.closed(now=now)
        return replace(stopped, phase=Phase.ENDED, phase_at=now, ended_at=now, paused_at=None)

    def with_board(self, *, shown: bool) -> LiveRound:
        return replace(self, board_shown=shown)

    def board_called(self) -> LiveRound:
        """The board once more, as the newest message."""
        return replace(self, boards=self.boards + 1) if self.phase in (Phase.REVEALED, Phase.ENDED) else self

    def repaired(self, repair: Repair) -> LiveRound:
        """Raises StaleAnswer for a question that this round has not asked yet, or not at all."""
        if not any(asking.position == repair.position for asking in self.askings):
            raise StaleAnswer(f"round {self.id} has not asked question {repair.position + 1}")
        return replace(self, repairs=(*self.repairs, repair))

    # Time -----------------------------------------------------------------------------------------------------------

    def appeared(self, *, at: datetime) -> LiveRound:
        """The question stood in the channel at `at`, by Discord's clock: nobody's time runs before that."""
        current = self.current
        if self.phase is not Phase.ASKING or current is None or len(current.windows) != 1 or self.paused_at is not None:
            return self
        window = current.windows[0]
        late = at - window.opened_at
        if abs(late) < timedelta(seconds=0.5) or self.extensions:
            return self
        if window.closes_at is None or current.allotted_s is None:
            return self._with(replace(current, windows=(replace(window, opened_at=at),)))
        return self._with(replace(current, windows=(_window(at, current.allotted_s),)))

    def next_due(self, *, wait_until: datetime | None = None, grace_s: float = GRACE_S) -> datetime | None:
        """When `ticked` has something to do. `wait_until`: the end of the extra time of those who still have some."""
        if self.paused_at is not None or self.phase_at is None or self.current is None:
            return None
        match self.phase:
            case Phase.ASKING:
                return self.current.deadline
            case Phase.CLOSED if self.rules.peer and self.current.vote == 1 and not self.rules.automatic:
                return None
            case Phase.CLOSED:
                earliest = self.phase_at + timedelta(seconds=grace_s)
                return max(earliest, wait_until) if wait_until else earliest
            case Phase.DISCUSSING if self.rules.automatic:
                return self.phase_at + timedelta(seconds=DISCUSSION_S)
            case Phase.REVEALED if self.rules.automatic:
                return self.phase_at + timedelta(seconds=REVEAL_S)
            case _:
                return None

    def ticked(self, *, now: datetime, wait_until: datetime | None = None, grace_s: float = GRACE_S) -> LiveRound:
        """What the timer does: at most one step, and none before its time."""
        due = self.next_due(wait_until=wait_until, grace_s=grace_s)
        if due is None or now < due:
            return self
        if self.phase is Phase.ASKING and self.current is not None:
            closed = replace(self.current, closed=True)  # by plan: the window ends at the deadline, however late the timer is
            return replace(self._with(closed), phase=Phase.CLOSED, phase_at=now)
        return self.advanced(now=now)

    def after_outage(self, *, alive_until: datetime, now: datetime) -> LiveRound:
        """The round as it goes on after the program was away: the time that was left then is left now."""
        current = self.current
        if self.paused_at is not None or current is None or now <= alive_until:
            return self
        away = now - alive_until
        if self.phase in (Phase.DISCUSSING, Phase.REVEALED):
            return replace(self, phase_at=self.phase_at + away if self.phase_at else None)
        if self.phase is not Phase.ASKING or current.deadline is None or current.allotted_s is None or current.deadline <= alive_until:
            return self
        opened = current.windows[-1].opened_at
        stopped = max(alive_until, opened)
        again = _reopened(_cut(current, stopped), now, least_s=min(LEAST_AFTER_OUTAGE_S, current.allotted_s))
        return replace(self._with(again), outage_s=self.outage_s + (now - stopped).total_seconds())

    # Parts ----------------------------------------------------------------------------------------------------------

    def _asked(self, position: int, vote: int, now: datetime) -> LiveRound:
        seconds = allotted_s(self.quiz.questions[position], self.language, self.rules)
        window = _window(now, seconds) if seconds is not None else Window(now, None)
        asking = Asking(position, vote, (window,), window.length_s() if seconds is not None else None)
        return replace(
            self,
            phase=Phase.ASKING,
            phase_at=now,
            askings=(*self.askings, asking),
            paused_at=None,
            extensions=0,
            outage_s=0.0,
        )

    def _with(self, asking: Asking) -> LiveRound:
        return replace(self, askings=(*self.askings[:-1], asking))


def _window(opened_at: datetime, seconds: float) -> Window:
    """Ends on a whole second: that is all a Discord timestamp can show, and what is shown is what counts."""
    return Window(opened_at, _whole_second(opened_at + timedelta(seconds=seconds)))


def _whole_second(at: datetime) -> datetime:
    return at if at.microsecond == 0 else at.replace(microsecond=0) + timedelta(seconds=1)


def _latest(now: datetime, last_press: datetime | None) -> datetime:
    return max(now, last_press) if last_press else now


def _cut(asking: Asking, at: datetime) -> Asking:
    """The last window ends at `at` at the latest."""
    window = asking.windows[-1]
    end = max(window.opened_at, at if window.closes_at is None else min(at, window.closes_at))
    return replace(asking, windows=(*asking.windows[:-1], replace(window, closes_at=end)))


def _reopened(asking: Asking, now: datetime, *, least_s: float = 1.0) -> Asking:
    """A new window with the time that was left; rounding up to a whole second is given to everybody."""
    if asking.allotted_s is None:
        return replace(asking, windows=(*asking.windows, Window(now, None)))
    left = max(least_s, asking.allotted_s - asking.open_s)
    window = _window(now, left)
    return replace(asking, windows=(*asking.windows, window), allotted_s=asking.open_s + window.length_s())


def playable(question: Question) -> bool:
    """Whether a live round can ask it: what a solo round can, but for texts to read, which have nothing to answer."""
    return rounds.playable(question) and not isinstance(question.body, Info)


def allotted_s(question: Question, language: str, rules: Rules) -> float | None:
    """Seconds for this question; None when the instructor closes it by hand."""
    if rules.seconds == 0:
        return None
    if rules.seconds is not None:
        return float(min(rules.seconds, LONGEST_S))
    if question.time_limit_s:
        return float(min(question.time_limit_s, LONGEST_S))
    return float(min(LONGEST_S, math.ceil(reading_s(question, language)) + THINKING_S))


def reading_s(question: Question, language: str) -> float:
    texts = [question.stem[language]]
    if isinstance(question.body, Choices):
        texts += [choice.text[language] for choice in question.body.choices]
    joined = " ".join(texts)
    wide = sum(1 for mark in joined if mark >= "\u2e80" and not "\uac00" <= mark <= "\ud7af")  # Korean writes spaces
    narrow = len("".join(" " if mark >= "\u2e80" and not "\uac00" <= mark <= "\ud7af" else mark for mark in joined).split())
    return narrow / READING_WORDS_PER_S + wide / READING_CJK_PER_S


def waiting_until(round_: LiveRound, factors: Mapping[int, float], answered: Iterable[int]) -> datetime | None:
    """Until when the reveal waits for people who have extra time and no answer yet. None: for nobody.

    `factors` are those of the people in this round. Without a limit means `LONGEST_WAIT_S`; the instructor may be faster.
    """
    current = round_.current
    if current is None or current.deadline is None or round_.phase not in (Phase.ASKING, Phase.CLOSED):
        return None
    done = frozenset(answered)
    ends = [
        current.own_deadline(factor) or current.deadline + timedelta(seconds=LONGEST_WAIT_S)
        for learner_id, factor in factors.items()
        if factor > 1 and learner_id not in done
    ]
    return max(ends, default=None)
