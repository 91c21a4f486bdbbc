"""Who writes answers, by the settings: against the loopback double of a model server that comes, goes and comes back."""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.cli import writer
from bot.cli.compose import answering_for, metrics_of, metrics_served, status_line, tutor_for
from bot.settings import Settings, SettingsError
from content.load import SHIPPED, load_library
from engines import switching
from engines.base import Traits
from engines.metrics import Metrics
from engines.switching import SwitchingEngine
from tests.engines.openai_double import Double, running
from tutor.answering import Asked
from tutor.reply import Kind, TutorReply

ANSWER = ("TensorRT's builder times kernels on the GPU ", "of its machine and keeps the winners [S1].")
QUESTION = "Why is an engine tied to one GPU architecture?"


@pytest.fixture
async def double() -> AsyncIterator[Double]:
    async with running(Double(pieces=ANSWER, fields=None)) as made:
        yield made


def settings(double: Double, **more: object) -> Settings:
    given = {"engine": "server", "server_url": double.url, "server_model": "qwen3-4b-instruct-2507", "server_flavour": "vllm"}
    given |= {"embeddings": False, **more}
    return Settings(database=Path("unused.db"), **given)  # type: ignore[arg-type]


async def asked(answering: object) -> TutorReply:
    question = Asked(QUESTION, "en", 7, guide_id="tensorrt-engines")
    return [reply async for reply in answering.ask(question)][-1]  # type: ignore[attr-defined]


async def test_a_server_that_goes_away_leaves_quotes_that_say_so_and_answers_again_when_it_is_back(
    double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switching, "HEALTH_S", 0.02)
    told: asyncio.Queue[str] = asyncio.Queue()

    async def until(said: str) -> str:
        async with asyncio.timeout(10):
            while said not in (status := await told.get()):
                pass
        return status

    def tell(traits: Traits, why: str) -> None:
        told.put_nowait(status_line(traits, why))

    async with answering_for(load_library([SHIPPED]).library, settings(double), on_change=tell) as answering:
        await until("answers by qwen3-4b-instruct-2507")
        reply = await asked(answering)
        assert (reply.kind, reply.engine) == (Kind.ANSWER, "server")
        double.crashed = True
        assert await until("the model does not answer") == "quoting the guide · the model does not answer"
        assert (await asked(answering)).kind is Kind.QUOTE
        double.crashed = False
        await until("answers by qwen3-4b-instruct-2507")
        assert (await asked(answering)).kind is Kind.ANSWER


async def test_a_server_that_is_not_there_yet_is_waited_for_with_quotes(double: Double) -> None:
    double.crashed = True
    async with answering_for(load_library([SHIPPED]).library, settings(double)) as answering:
        assert (await asked(answering)).kind is Kind.QUOTE
        assert isinstance(answering.engine, SwitchingEngine)
        assert not await answering.engine.switched(0.2)
        assert "503" in (await answering.engine.health()).detail


async def test_what_the_catalogue_knows_of_a_served_model_is_used(double: Double) -> None:
    known = writer.served_traits(settings(double, server_model="Qwen/Qwen2.5-Coder-1.5B-Instruct", server_flavour="vllm"))
    assert known.languages == {"en", "ru", "zh"}
    assert known.answerable_from
    assert known.whole_guide
    blunt = writer.served_traits(settings(double, server_model="qwen2.5-coder-1.5b-instruct", server_flavour="trtllm"))
    assert blunt.answerable_from == {}, "that server is never asked to list words"
    assert writer.doubts(settings(double, server_model="Qwen/Qwen2.5-Coder-1.5B-Instruct")) == []
    assert "is not in the catalogue" in writer.doubts(settings(double, server_model="my-own"))[0]
    assert "thinks before it writes" in writer.doubts(settings(double, server_model="qwen3:1.7b", server_flavour="generic"))[0]
    unknown = writer.served_traits(settings(double, server_model="my-own"))
    assert (unknown.languages, unknown.answerable_from) == (None, {})
    assert writer.server_of(settings(double, server_model="qwen3-1.7b")).thinking
    assert not writer.server_of(settings(double, server_model="my-own")).thinking


async def test_the_figures_of_a_question_are_on_the_metrics_port(double: Double, free_port: int) -> None:
    metrics = Metrics()
    close = metrics_served(metrics, free_port)
    try:
        async with answering_for(load_library([SHIPPED]).library, settings(double), metrics=metrics) as answering:
            assert isinstance(answering.engine, SwitchingEngine)
            assert await answering.engine.switched(5)
            await asked(answering)
            address = f"http://127.0.0.1:{free_port}/metrics"
            page = (await asyncio.to_thread(lambda: urllib.request.urlopen(address, timeout=5).read())).decode()
        with pytest.raises(SettingsError, match="metrics_port"):
            metrics_served(Metrics(), free_port)
    finally:
        await asyncio.to_thread(close)
    assert 'studyhall_questions_total{engine="server",outcome="done"} 1.0' in page
    assert 'studyhall_first_word_seconds_count{engine="server"} 1.0' in page
    assert 'studyhall_prompt_tokens_total{engine="server"}' in page
    assert "studyhall_questions_waiting 0.0" in page


def test_the_presence_names_no_address_and_no_path() -> None:
    quoting = Traits("quoting")
    assert status_line(quoting, "http://10.0.0.7:8000/v1 answers 503") == "quoting the guide · the model does not answer"
    assert status_line(quoting, r"C:\models\x cannot be used") == "quoting the guide · the model does not answer"
    assert status_line(quoting, "starts a model from tutor.gguf") == "quoting the guide · starts a model from tutor.gguf"
    assert status_line(Traits("server", model="Qwen/Qwen3-1.7B"), "answers from now on") == "answers by Qwen/Qwen3-1.7B"


async def test_a_report_beside_the_bot_does_not_want_its_metrics_port(tmp_path: Path, free_port: int) -> None:
    wanted = Settings(database=tmp_path / "x.db", engine="quoting", embeddings=False, metrics_port=free_port)
    async with metrics_of(wanted) as metrics:
        assert metrics is not None
        async with tutor_for(wanted) as (tutor, _, _):
            assert tutor.answering.engine.traits.name == "quoting"
        with pytest.raises(SettingsError, match="metrics_port"):
            async with metrics_of(wanted):
                pass
    async with metrics_of(wanted) as again:
        assert again is not None, "the port was given back"


def test_paged_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"torch is not installed.*studyhall\[gpu\]"):
        writer.built_engine(Settings(engine="paged"))
    monkeypatch.setattr(writer.importlib.util, "find_spec", lambda name: object())
    with pytest.raises(SettingsError, match="model_path is empty"):
        writer.built_engine(Settings(engine="paged"))
    with pytest.raises(SettingsError, match="does not exist"):
        writer.built_engine(Settings(engine="paged", model_path=tmp_path / "nowhere"))


async def test_paged_quotes_until_the_model_is_loaded_and_while_it_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engines import paged
    from engines.base import EngineDown
    from engines.paged_batcher import Settings as Batching
    from engines.scripted import ScriptedEngine

    (tmp_path / "Qwen3-1.7B").mkdir()
    loaded = asyncio.Event()

    class Loading(ScriptedEngine):
        def __init__(self, source: Path, *, settings: Batching) -> None:
            assert settings.thinking, "the folder's name says which model it is, and that one has a switch to turn off"
            super().__init__(lambda _: ["".join(ANSWER)], traits=Traits("paged", model=source.name))

        async def start(self, deadline_s: float) -> None:
            await loaded.wait()

        def is_warm(self, prompt: object) -> bool:
            return False  # a new guide

    monkeypatch.setattr(writer.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(paged, "PagedEngine", Loading)
    wanted = Settings(engine="paged", model_path=tmp_path / "Qwen3-1.7B", embeddings=False)
    async with answering_for(load_library([SHIPPED]).library, wanted) as answering:
        assert (await asked(answering)).kind is Kind.QUOTE
        loaded.set()
        assert isinstance(answering.engine, SwitchingEngine)
        assert await answering.engine.switched(5)
        assert (await asked(answering)).kind is Kind.ANSWER

    class Failing(Loading):
        async def start(self, deadline_s: float) -> None:
            raise EngineDown("paged", "no CUDA device", "See studyhall engine doctor")

    monkeypatch.setattr(paged, "PagedEngine", Failing)
    async with answering_for(load_library([SHIPPED]).library, wanted) as answering:
        assert (await asked(answering)).kind is Kind.QUOTE
        assert isinstance(answering.engine, SwitchingEngine)
        assert not await answering.engine.switched(0.1)
        assert "no CUDA device" in (await answering.engine.health()).detail
