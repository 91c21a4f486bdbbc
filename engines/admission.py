"""Stands in front of an engine and decides whose turn it is: fair between learners, bounded, and honest about the wait.

Each learner has a short queue of their own and turns go round, so ten questions of one delay nobody by more than one. A
question that would not be answered before its deadline is refused at once (`EngineBusy`) instead of after the wait. It keeps
what it observed of every reply for metrics. It never looks at the text of a prompt.

Whose question it is stands in `Prompt.learner`; those without one share one queue, and no limit of their own.

Errors: `EngineBusy`, and those of the engine.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Final

from engines.base import DeadlineExceeded, Engine, EngineBusy, EngineError, Finish, Health, Prompt, Traits

NAME: Final = "admission"
TOLD_EVERY_S: Final = 0.2  # how often those who wait learn their place
Position = Callable[[int, int], None]
"""Told a learner and how many turns away their waiting question is, when that changes: 1 is next. Must not raise."""


@dataclass(frozen=True, slots=True)
class Limits:
    running: int  # replies at once; an engine's slots or its batch
    waiting: int = 200  # questions in all queues together
    per_learner: int = 3  # running and waiting of one learner
    usual_s: float = 5.0  # how long a reply takes, until enough were seen

    def __post_init__(self) -> None:
        if min(self.running, self.per_learner) < 1 or self.waiting < 0 or self.usual_s <= 0:
            raise ValueError("running and per_learner are at least 1, waiting is not negative, usual_s is above 0")


@dataclass(frozen=True, slots=True)
class Observation:
    """One question that is over. Seconds count from its arrival here; None: it never came so far."""

    engine: str
    outcome: str  # "done", "cut_off", "left", or the name of the error's class
    waited_s: float
    first_s: float | None
    total_s: float
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    new_tokens: int | None = None


@dataclass(slots=True)
class Tally:
    """Sums over all observations and the newest times, for a status line; a metrics library can take `Observation` itself."""

    most_kept: int = 512
    outcomes: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    prompt_tokens: int = 0
    cached_tokens: int = 0
    new_tokens: int = 0
    first_s: deque[float] = field(default_factory=lambda: deque[float](maxlen=512))
    waited_s: deque[float] = field(default_factory=lambda: deque[float](maxlen=512))
    writing_s: float = 0.0

    def __call__(self, seen: Observation) -> None:
        self.outcomes[seen.outcome] = self.outcomes.get(seen.outcome, 0) + 1
        self.prompt_tokens += seen.prompt_tokens or 0
        self.cached_tokens += seen.cached_tokens or 0
        self.new_tokens += seen.new_tokens or 0
        self.waited_s.append(seen.waited_s)
        if seen.first_s is not None:
            self.first_s.append(seen.first_s)
            self.writing_s += seen.total_s - seen.first_s

    def snapshot(self) -> dict[str, float | int | dict[str, int]]:
        """For --json and status pages; seconds and tokens. Shares and times are 0 before the first reply."""
        return {
            "outcomes": dict(self.outcomes),
            "first_word_p50_s": quantile(self.first_s, 0.5),
            "first_word_p95_s": quantile(self.first_s, 0.95),
            "waited_p95_s": quantile(self.waited_s, 0.95),
            "cached_share": self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0,
            "tokens_per_s_per_reply": self.new_tokens / self.writing_s if self.writing_s else 0.0,
            "new_tokens": self.new_tokens,
        }


def quantile(values: deque[float], share: float) -> float:
    """The value that `share` of all values do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


@dataclass(slots=True, eq=False)
class _Waiter:
    learner: int | None
    turn: asyncio.Event = field(default_factory=asyncio.Event)
    told: int = 0


class AdmittedEngine:
    """`observe` gets an Observation of every question, refused ones included; `on_position` is for "you are 3rd"."""

    def __init__(
        self,
        engine: Engine,
        limits: Limits,
        *,
        observe: Callable[[Observation], None] | None = None,
        on_position: Position | None = None,
    ) -> None:
        self.engine = engine
        self.limits = limits
        self.running = 0
        self.waiting = 0  # in all queues together; kept as a count, for every question that arrives looks at it
        self._observe = observe
        self._on_position = on_position
        self._telling: asyncio.TimerHandle | None = None
        self._queues: OrderedDict[int | None, deque[_Waiter]] = OrderedDict()  # the learner whose turn is next is the first
        self._held: dict[int | None, int] = {}  # running and waiting of each learner
        self._usual_s = limits.usual_s

    @property
    def traits(self) -> Traits:
        return self.engine.traits

    def expected_wait_s(self) -> float:
        """Until a question that arrives now gets its turn, at the pace of the last replies."""
        if self.running < self.limits.running and not self._queues:
            return 0.0
        return (self.waiting + 1) / self.limits.running * self._usual_s

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        """As the protocol says. Raises EngineBusy before anything is waited for."""
        now = asyncio.get_running_loop().time
        arrived = now()
        waited_s, first_s, outcome, finish = 0.0, None, "left", Finish()
        name = self.engine.traits.name
        try:
            self._refuse_if_full(prompt.learner, deadline_s)
            async with _Turn(self, prompt.learner, arrived + deadline_s, deadline_s):
                waited_s = now() - arrived
                replies = self.engine.stream(prompt, max_tokens=max_tokens, deadline_s=max(0.001, deadline_s - waited_s))
                try:
                    async for piece in replies:
                        if isinstance(piece, Finish):
                            finish, outcome = piece, "cut_off" if piece.cut_off else "done"
                        elif first_s is None:
                            first_s = now() - arrived
                        yield piece
                finally:
                    await replies.aclose()
                    self._usual_s += 0.2 * (now() - arrived - waited_s - self._usual_s)
        except EngineError as error:
            outcome = type(error).__name__
            raise
        finally:
            if self._observe is not None:
                tokens = (finish.prompt_tokens, finish.cached_tokens, finish.new_tokens)
                self._observe(Observation(name, outcome, waited_s or now() - arrived, first_s, now() - arrived, *tokens))

    def is_warm(self, prompt: Prompt) -> bool:
        """What the engine says, or True for one that has nothing to say about it."""
        asked = getattr(self.engine, "is_warm", None)
        return bool(asked(prompt)) if callable(asked) else True

    async def warm(self, prompt: Prompt) -> None:
        await self.engine.warm(prompt)

    async def health(self) -> Health:
        health = await self.engine.health()
        return Health(health.ok, f"{health.detail}; {self.running} running, {self.waiting} waiting")

    async def aclose(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
        await self.engine.aclose()

    def _refuse_if_full(self, learner: int | None, deadline_s: float) -> None:
        if learner is not None and self._held.get(learner, 0) >= self.limits.per_learner:
            problem = f"this learner has {self.limits.per_learner} questions under way"
            raise EngineBusy(NAME, problem, "Wait for an answer first", retryable=True)
        if self.running < self.limits.running:
            return
        if self.waiting >= self.limits.waiting:
            raise EngineBusy(NAME, f"{self.waiting} questions are waiting", "Ask again in a moment", retryable=True)
        if (wait := self.expected_wait_s()) >= deadline_s:
            raise EngineBusy(
                NAME, f"the wait would be about {wait:.0f} s, the deadline is {deadline_s:.0f} s", "Ask again later", retryable=True
            )

    # --- the round; called by _Turn ---

    def enter(self, learner: int | None) -> _Waiter | None:
        """None: it is your turn now. Otherwise wait for `turn`."""
        self._held[learner] = self._held.get(learner, 0) + 1
        if self.running < self.limits.running and not self._queues:
            self.running += 1
            return None
        waiter = _Waiter(learner)
        self._queues.setdefault(learner, deque()).append(waiter)
        self.waiting += 1
        self._tell()
        return waiter

    def leave(self, learner: int | None, waiter: _Waiter | None) -> None:
        """Its reply is over, or it stopped waiting."""
        held = self._held[learner] - 1
        if held:
            self._held[learner] = held
        else:
            del self._held[learner]
        if waiter is not None and not waiter.turn.is_set():
            queue = self._queues[learner]
            queue.remove(waiter)
            self.waiting -= 1
            if not queue:
                del self._queues[learner]
        else:
            self.running -= 1
            self._next()
        self._tell()

    def _next(self) -> None:
        while self._queues and self.running < self.limits.running:
            learner, queue = next(iter(self._queues.items()))
            waiter = queue.popleft()
            self.waiting -= 1
            if queue:
                self._queues.move_to_end(learner)  # the others first
            else:
                del self._queues[learner]
            self.running += 1
            waiter.turn.set()

    def _tell(self) -> None:
        """Soon, not now: in a crowd each arrival and each end moves everybody, and nobody can read that fast."""
        if self._on_position is not None and self._telling is None and self._queues:
            self._telling = asyncio.get_running_loop().call_later(TOLD_EVERY_S, self._tell_all)

    def _tell_all(self) -> None:
        self._telling = None
        place = 0
        rounds = [list(queue) for queue in self._queues.values()]
        for turn in range(max(map(len, rounds), default=0)):
            for queue in rounds:
                if turn < len(queue):
                    place += 1
                    waiter = queue[turn]
                    if self._on_position is not None and waiter.learner is not None and waiter.told != place:
                        waiter.told = place
                        self._on_position(waiter.learner, place)


class _Turn:
    """One place in the queue and then one running reply, given back whatever happens."""

    def __init__(self, admission: AdmittedEngine, learner: int | None, ends_at: float, deadline_s: float) -> None:
        self._admission = admission
        self._learner = learner
        self._ends_at = ends_at
        self._deadline_s = deadline_s
        self._waiter: _Waiter | None = None

    async def __aenter__(self) -> None:
        self._waiter = self._admission.enter(self._learner)
        if self._waiter is None:
            return
        try:
            async with asyncio.timeout_at(self._ends_at):
                await self._waiter.turn.wait()
        except BaseException as error:
            self._admission.leave(self._learner, self._waiter)
            if isinstance(error, TimeoutError):
                problem = f"no turn within {self._deadline_s:.0f} s"
                raise DeadlineExceeded(NAME, problem, "Ask again when fewer people ask", retryable=True) from error
            raise

    async def __aexit__(self, *_: object) -> None:
        self._admission.leave(self._learner, self._waiter)
