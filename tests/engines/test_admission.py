"""Turns in front of an engine: fairness, bounds, refusals, positions, and that no turn is ever lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import admission
from engines.admission import AdmittedEngine, Limits, Observation, Tally
from engines.base import DeadlineExceeded, EngineBusy, EngineDown, Finish
from engines.scripted import ScriptedEngine
from tests.engines.contract import prompt, read


class House:
    """An engine whose replies wait until we let them go on, in the order they began."""

    def __init__(self, limits: Limits) -> None:
        self.gates: list[asyncio.Event] = []
        self.seen: list[Observation] = []
        self.places: list[tuple[int, int]] = []
        self.inner = ScriptedEngine(lambda _: ["one", self._gate(), Finish(prompt_tokens=100, cached_tokens=80, new_tokens=1)])
        self.engine = AdmittedEngine(self.inner, limits, observe=self.seen.append, on_position=lambda *place: self.places.append(place))
        self.tasks: list[asyncio.Task[object]] = []

    def _gate(self) -> asyncio.Event:
        self.gates.append(asyncio.Event())
        return self.gates[-1]

    async def ask(self, learner: int | None, deadline_s: float = 60.0) -> asyncio.Task[object]:
        asked = replace(prompt(f"of {learner}"), learner=learner)
        task = asyncio.create_task(read(self.engine, asked, deadline_s=deadline_s))
        self.tasks.append(task)
        await asyncio.sleep(0)
        return task

    async def go_on(self, number: int) -> None:
        self.gates[number].set()
        for _ in range(8):  # the reply ends, its turn is given on, the next one begins
            await asyncio.sleep(0)

    @property
    def answered(self) -> list[str]:
        return [asked.question for asked in self.inner.prompts]


async def test_turns_go_round_so_one_learners_pile_delays_nobody() -> None:
    house = House(Limits(running=1, per_learner=5))
    for learner in (1, 1, 1, 2, 3):
        await house.ask(learner)
    for number in range(5):
        await house.go_on(number)
    await asyncio.gather(*house.tasks)
    assert house.answered == ["of 1", "of 1", "of 2", "of 3", "of 1"]


async def test_those_who_wait_are_told_their_place_and_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "TOLD_EVERY_S", 0.0)
    house = House(Limits(running=1))
    for learner in (1, 2, 3):
        await house.ask(learner)
    await asyncio.sleep(0.01)
    assert house.places == [(2, 1), (3, 2)]
    await house.go_on(0)
    await asyncio.sleep(0.01)
    assert house.places[2:] == [(3, 1)]
    for number in (1, 2):
        await house.go_on(number)
    await asyncio.gather(*house.tasks)


async def test_a_crowd_that_comes_at_once_is_told_once_and_not_at_every_arrival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "TOLD_EVERY_S", 0.01)
    house = House(Limits(running=1))
    for learner in range(1, 41):
        await house.ask(learner, deadline_s=6_000.0)
    await asyncio.sleep(0.05)
    assert house.places == [(learner, learner - 1) for learner in range(2, 41)]
    for task in house.tasks:
        task.cancel()
    await asyncio.gather(*house.tasks, return_exceptions=True)


async def test_a_full_house_refuses_at_once_and_says_why() -> None:
    house = House(Limits(running=1, waiting=1, per_learner=2))
    for learner in (1, 2):
        await house.ask(learner)
    with pytest.raises(EngineBusy, match="1 questions are waiting"):
        await read(house.engine, replace(prompt(), learner=3))
    await house.ask(None)
    with pytest.raises(EngineBusy):
        await house.tasks[-1]
    await house.go_on(0)
    await house.go_on(1)
    await asyncio.gather(*house.tasks[:2])


async def test_one_learner_cannot_fill_the_queue() -> None:
    house = House(Limits(running=1, per_learner=2))
    for _ in range(2):
        await house.ask(7)
    with pytest.raises(EngineBusy, match="has 2 questions under way"):
        await read(house.engine, replace(prompt(), learner=7))
    for number in range(2):
        await house.go_on(number)
    await asyncio.gather(*house.tasks)
    again = await house.ask(7)
    await house.go_on(2)
    await again


async def test_a_wait_longer_than_the_deadline_is_refused_before_it_begins() -> None:
    house = House(Limits(running=1, usual_s=10))
    await house.ask(1)
    await house.ask(2)
    with pytest.raises(EngineBusy, match="the wait would be about 20 s, the deadline is 15 s"):
        await read(house.engine, replace(prompt(), learner=3), deadline_s=15)
    for number in range(2):
        await house.go_on(number)
    await asyncio.gather(*house.tasks)


async def test_a_deadline_that_passes_while_waiting_frees_the_place() -> None:
    house = House(Limits(running=1, usual_s=0.001))
    await house.ask(1)
    with pytest.raises(DeadlineExceeded, match="no turn"):
        await read(house.engine, replace(prompt(), learner=2), deadline_s=0.05)
    assert house.engine.waiting == 0
    await house.go_on(0)
    await house.tasks[0]
    assert house.engine.running == 0


async def test_leaving_while_waiting_and_while_running_gives_the_turn_on() -> None:
    house = House(Limits(running=1))
    for learner in (1, 2, 3):
        await house.ask(learner)
    house.tasks[1].cancel()
    await asyncio.wait([house.tasks[1]])
    house.tasks[0].cancel()
    await asyncio.wait([house.tasks[0]])
    await asyncio.sleep(0)
    assert house.answered == ["of 1", "of 3"]
    await house.go_on(1)
    await house.tasks[2]
    assert (house.engine.running, house.engine.waiting) == (0, 0)


async def test_an_engine_that_fails_gives_its_turn_on_and_is_observed() -> None:
    seen: list[Observation] = []
    engine = AdmittedEngine(ScriptedEngine([[EngineDown("x", "crashed", "Wait")], ["fine"]]), Limits(running=1), observe=seen.append)
    with pytest.raises(EngineDown):
        await read(engine, prompt())
    assert (await read(engine, prompt()))[0] == ["fine"]
    assert [observation.outcome for observation in seen] == ["EngineDown", "done"]


async def test_what_is_observed_adds_up() -> None:
    house = House(Limits(running=2))
    tally = Tally()
    for learner in (1, 2):
        await house.ask(learner)
    for number in range(2):
        await house.go_on(number)
    await asyncio.gather(*house.tasks)
    for observation in house.seen:
        tally(observation)
    snapshot = tally.snapshot()
    assert snapshot["outcomes"] == {"done": 2}
    assert snapshot["cached_share"] == 0.8
    assert snapshot["new_tokens"] == 2
    assert Tally().snapshot()["first_word_p95_s"] == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["ask", "ask", "finish", "leave"])), max_size=40), st.integers(1, 3))
def test_whatever_happens_no_turn_is_lost_and_no_bound_is_broken(events: list[tuple[int, str]], running: int) -> None:
    async def play() -> None:
        house = House(Limits(running=running, waiting=5, per_learner=3))
        for number, event in events:
            if event == "ask":
                await house.ask(number)
            elif event == "finish" and house.gates:
                await house.go_on(number % len(house.gates))
            elif event == "leave" and house.tasks:
                house.tasks[number % len(house.tasks)].cancel()
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert house.engine.running <= running
            assert house.engine.waiting <= 5
        for _ in range(100):
            for gate in house.gates:
                gate.set()
            await asyncio.sleep(0)
            if all(task.done() for task in house.tasks):
                break
        await asyncio.gather(*house.tasks, return_exceptions=True)
        assert (house.engine.running, house.engine.waiting) == (0, 0)
        assert not house.engine._held
        assert len(house.seen) <= len(house.tasks)

    asyncio.run(play())
