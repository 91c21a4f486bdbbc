"""The contract of engines.base.Engine, run on every engine; the cases are in contract.py.

Proves order, whole characters, cancelling, deadlines, limits and failures. It proves nothing about the quality of answers, and
for servers that cannot run here it proves only what their double does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engines.base import DeadlineExceeded, EngineDown, EngineError, Finish, PromptTooLong
from engines.switching import SwitchingEngine
from tests.engines.contract import CASES, Case, LlamaCases, llamacpp, prompt, read

# Korean, Chinese, Greek with accents, Russian, an emoji of two UTF-16 units, and one joined from several.
LETTERS = [
    "엔진은 ",
    "한 GPU에 ",
    "맞춰집니다. ",
    "引擎绑定",
    "一块显卡。",
    "Η μηχανή ",
    "είναι δεμένη. ",
    "Движок. ",
    "🦤",
    "👩\u200d🚀",
    "\u2028",
    " é",
]

SCRIPTED_ONLY = {
    "test_pieces_keep_their_order_and_their_characters",
    "test_cancelling_the_reader_stops_the_work",
    "test_a_server_that_dies_in_mid_reply_is_an_error",  # test_llamacpp.py kills it
}


@pytest.fixture(params=CASES)
async def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Case]:
    if request.param is llamacpp and request.function.__name__ in SCRIPTED_ONLY:
        pytest.skip("a real model cannot be made to do this")  # before its server is started for nothing
    LlamaCases.folder = tmp_path_factory.getbasetemp() / "llamacpp"  # kept between tests: a computed prefix is used again
    async with request.param() as made:
        yield made


def needs(what: object, reason: str) -> None:
    if what is None:
        pytest.skip(f"this engine cannot be made to {reason}")


async def test_pieces_come_first_and_one_finish_last(case: Case) -> None:
    pieces, finish = await read(case.engine, prompt())
    assert "".join(pieces).strip()
    assert not finish.cut_off or finish.new_tokens == 24


async def test_pieces_keep_their_order_and_their_characters(case: Case) -> None:
    if case.says:
        pieces, _ = await read(case.engine, prompt(), max_tokens=200)
        assert "".join(pieces) == case.says(200)
        return
    needs(case.say, "say given words")
    assert case.say
    case.say(LETTERS)
    pieces, _ = await read(case.engine, prompt())
    assert "".join(pieces) == "".join(LETTERS)


async def test_no_piece_holds_half_a_character(case: Case) -> None:
    if case.say:
        case.say(LETTERS)
    question = "다음을 그대로 써 주세요: 엔진 引擎 Μηχανή 🦤👩\u200d🚀"
    for max_tokens in (3, 24):
        pieces, _ = await read(case.engine, prompt(question, f"{question} {''.join(LETTERS)}"), max_tokens=max_tokens)
        for piece in pieces:
            assert "\ufffd" not in piece
            piece.encode("utf-8")  # raises on half a surrogate pair


async def test_the_token_limit_is_kept_and_named(case: Case) -> None:
    if case.say:
        case.say(["one ", "two ", "three ", "four "])
    elif case.engine.traits.model is None:
        pytest.skip("nothing here counts tokens")
    pieces, finish = await read(case.engine, prompt(), max_tokens=2)
    if case.engine.traits.name == "scripted":
        assert not finish.cut_off  # it says its script, whatever the limit
    else:
        assert finish.cut_off
        assert len(pieces) <= 2


async def test_closing_the_stream_stops_the_work(case: Case) -> None:
    if not case.talks:
        needs(case.hang, "hang")
    if case.hang:
        case.hang()
    replies = case.engine.stream(prompt(), max_tokens=3_000, deadline_s=60)
    assert isinstance(await anext(replies), str)
    if case.stopped is None:
        await replies.aclose()
        async with asyncio.timeout(20):  # all slots are free again: four more questions are answered
            await asyncio.gather(*(read(case.engine, prompt(), max_tokens=2) for _ in range(4)))
        return
    async with case.stopped():
        await replies.aclose()


async def test_cancelling_the_reader_stops_the_work(case: Case) -> None:
    if not case.talks:
        needs(case.hang, "hang")
    assert case.stopped
    if case.hang:
        case.hang()
    began = asyncio.Event()

    async def reader() -> None:
        async for _ in case.engine.stream(prompt(), max_tokens=3_000, deadline_s=60):
            began.set()

    task = asyncio.create_task(reader())
    await began.wait()
    async with case.stopped():
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()


async def test_the_deadline_ends_a_reply_that_hangs(case: Case) -> None:
    if not case.talks:
        needs(case.hang, "hang")
    if case.hang:
        case.hang()
    loop = asyncio.get_running_loop()
    began = loop.time()
    asked = prompt("Write a poem of a thousand lines about engines, and never stop.")
    with pytest.raises(DeadlineExceeded):
        await read(case.engine, asked, max_tokens=3_000, deadline_s=0.5)
    assert loop.time() - began < 2.5


async def test_a_prompt_that_cannot_fit_is_named_as_such(case: Case) -> None:
    needs(case.limit, "run out of context")
    assert case.limit
    with pytest.raises(PromptTooLong):
        await read(case.engine, prompt("word " * (case.limit // 5)))
    assert "".join((await read(case.engine, prompt()))[0])  # and the next one is answered


async def test_an_empty_question_is_answered_in_some_way(case: Case) -> None:
    _, finish = await read(case.engine, prompt(""))
    assert isinstance(finish, Finish)


async def test_a_server_that_dies_in_mid_reply_is_an_error(case: Case) -> None:
    needs(case.die, "die")
    assert case.die
    case.die()
    replies = case.engine.stream(prompt(), max_tokens=24, deadline_s=10)
    assert isinstance(await anext(replies), str)
    with pytest.raises(EngineDown):
        await anext(replies)


async def test_many_at_once_each_get_their_whole_answer(case: Case) -> None:
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(read(case.engine, prompt(), max_tokens=8) for _ in range(case.many)))
    assert len(answers) == case.many
    if case.exact:  # elsewhere the batch may change the last bit, and so a word
        assert len({"".join(pieces) for pieces, _ in answers}) == 1


async def test_warming_never_fails_the_caller(case: Case) -> None:
    await case.engine.warm(prompt())
    if case.down:
        case.down()
        await case.engine.warm(prompt())


async def test_health_says_whether_it_answers(case: Case) -> None:
    assert (await case.engine.health()).ok
    if case.down and case.engine.traits.name in ("trtllm", "vllm", "llamacpp"):
        case.down()
        health = await case.engine.health()
        assert "503" in health.detail
        assert health.ok == isinstance(case.engine, SwitchingEngine)  # it still answers, from the first engine


async def test_closing_twice_is_fine_and_a_closed_engine_says_so(case: Case) -> None:
    await case.engine.aclose()
    await case.engine.aclose()
    if case.closes:
        with pytest.raises(EngineError):
            await read(case.engine, prompt())


def test_every_engine_of_the_package_has_a_case() -> None:
    names = {str(param.id) for param in CASES}
    package = Path(__file__).parents[2] / "engines"
    classes = {
        line.split()[1].split(":")[0].split("(")[0]
        for path in package.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if line.startswith("class ") and "Engine" in line.split()[1].rstrip(":") and "Error" not in line and path.name != "base.py"
    }
    cased = {
        "AdmittedEngine",
        "ServedEngine",
        "QuotingEngine",
        "ScriptedEngine",
        "OpenAIEngine",
        "SwitchingEngine",
        "LlamaCppEngine",
        "PagedEngine",
    }
    assert classes == cased, "a new engine needs a case in contract.py"
    assert {"quoting", "scripted", "switching", "llamacpp"} < names
