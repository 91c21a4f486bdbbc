"""From quotes to a model and back: weights that appear while running, failures, cold guides, and who is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engines import switching
from engines.base import Engine, EngineBusy, EngineDown, EngineError, Prompt, Traits
from engines.quoting import QuotingEngine
from engines.scripted import Reply, ScriptedEngine
from engines.switching import SwitchingEngine
from tests.engines.contract import prompt, read

QUOTE = "It does not load on another kind of GPU. [S1]"


def switching_to(then: Engine | Callable[[], Engine], **other: Any) -> SwitchingEngine:
    async def factory(_: Path) -> Engine:
        return then() if callable(then) else then

    return SwitchingEngine(QuotingEngine(), factory, lambda: Path("weights.gguf"), poll_s=0.01, **other)


async def test_quotes_come_first_and_the_model_answers_once_its_weights_appear() -> None:
    found: list[Path] = []
    told: list[tuple[str | None, str]] = []
    model = ScriptedEngine(lambda _: ["from the model"])

    async def factory(path: Path) -> Engine:
        assert path == Path("a.gguf")
        return model

    engine = SwitchingEngine(
        QuotingEngine(),
        factory,
        lambda: found[0] if found else None,
        poll_s=0.01,
        on_change=lambda traits, why: told.append((traits.model, why)),
    )
    assert engine.traits.model is None
    pieces, finish = await read(engine, prompt())
    assert QUOTE in "".join(pieces)
    assert finish.quoted, "whoever shows it can say that no model wrote it"
    assert not await engine.switched(0.05)
    found.append(Path("a.gguf"))
    assert await engine.switched(5)
    assert engine.traits.model == "script"
    assert (await read(engine, prompt()))[0] == ["from the model"]
    assert [model for model, _ in told] == [None, "script"]
    await engine.aclose()


@pytest.mark.parametrize("error", [EngineDown("m", "crashed", "Wait"), EngineBusy("m", "full", "Wait")])
async def test_a_model_that_fails_before_its_first_word_is_replaced_by_a_quote(error: EngineError) -> None:
    engine = switching_to(ScriptedEngine([[error], ["back"]]))
    assert await engine.switched(5)
    assert QUOTE in "".join((await read(engine, prompt()))[0])
    assert (await read(engine, prompt()))[0] == ["back"]
    await engine.aclose()


async def test_an_answer_that_began_is_never_finished_by_another_engine() -> None:
    engine = switching_to(ScriptedEngine([["half", EngineDown("m", "crashed", "Wait")]]))
    assert await engine.switched(5)
    with pytest.raises(EngineDown):
        await read(engine, prompt())
    await engine.aclose()


async def test_a_model_that_cannot_start_is_tried_again_and_its_reason_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switching, "FIRST_PAUSE_S", 0.01)
    tries: list[int] = []

    def sometimes() -> Engine:
        tries.append(1)
        if len(tries) < 3:
            raise EngineDown("m", "no memory", "Close something")
        return ScriptedEngine(lambda _: ["at last"])

    told: list[str] = []
    engine = switching_to(sometimes, on_change=lambda _, why: told.append(why))
    assert await engine.switched(5)
    assert sum("no memory" in why for why in told) == 2
    await engine.aclose()


async def test_a_wrong_path_is_said_in_health_and_does_not_end_the_waiting() -> None:
    def broken() -> Path | None:
        raise EngineError("weights", "/x.gguf cannot be read", "Correct the model path")

    engine = SwitchingEngine(QuotingEngine(), lambda _: asyncio.sleep(0, ScriptedEngine([])), broken, poll_s=0.01)
    assert not await engine.switched(0.1)
    health = await engine.health()
    assert health.ok
    assert "cannot be read" in health.detail
    await engine.aclose()


class Cold(ScriptedEngine):
    """Warm only once somebody warmed it."""

    def is_warm(self, asked: Prompt) -> bool:
        return bool(self.warmed)


async def test_a_cold_guide_is_quoted_while_the_model_computes_it() -> None:
    model = Cold(lambda _: ["from the model"])
    engine = switching_to(model)
    assert await engine.switched(5)
    assert QUOTE in "".join((await read(engine, prompt("Why not another GPU?")))[0])
    await asyncio.sleep(0)
    assert len(model.warmed) == 1
    assert (await read(engine, prompt()))[0] == ["from the model"]
    await engine.aclose()


async def test_guides_asked_about_before_the_model_was_there_are_warmed_the_last_one_first() -> None:
    model = Cold(lambda _: ["x"])
    gate: list[Path] = []
    engine = SwitchingEngine(
        QuotingEngine(), lambda _: asyncio.sleep(0, model), lambda: gate[0] if gate else None, poll_s=0.01, quote_when_cold=True
    )
    for guide in ("one", "two"):
        await engine.warm(prompt(guide=guide))
    await read(engine, prompt(guide="one"))
    gate.append(Path("w"))
    assert await engine.switched(5)
    await asyncio.sleep(0)
    assert [asked.messages[0].text[-3:] for asked in model.warmed] == ["one", "two"]
    await engine.aclose()


async def test_leaving_early_reaches_the_engine_that_answers() -> None:
    never: Reply = ["one", asyncio.Event()]
    model = ScriptedEngine([never])
    engine = switching_to(model)
    assert await engine.switched(5)
    replies = engine.stream(prompt(), max_tokens=9, deadline_s=60)
    assert await anext(replies) == "one"
    await replies.aclose()
    assert len(model.stopped) == 1
    await engine.aclose()


async def test_closing_while_it_still_waits_closes_everything() -> None:
    engine = SwitchingEngine(ScriptedEngine([]), lambda _: asyncio.sleep(0, ScriptedEngine([])), lambda: None, poll_s=0.01)
    engine.start()
    await engine.aclose()
    await engine.aclose()
    assert engine.first.traits == Traits("scripted", model="script")
    assert not (await engine.first.health()).ok
