"""The figures for Prometheus: what a real admission reports is what a scrape shows, on loopback, without a word of a question.

Proves the numbers and the text format as Prometheus' own parser reads it; it does not run Prometheus.
"""

from __future__ import annotations

import asyncio
import socket
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engines.admission import AdmittedEngine, Limits, Observation
from engines.base import EngineBusy, EngineDown, EngineError, Finish
from engines.metrics import Metrics, served
from engines.scripted import ScriptedEngine
from tests.engines.contract import prompt, read


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def scraped(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()) if key != "engine")
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


async def test_a_scrape_shows_what_happened_and_nothing_of_what_was_said() -> None:
    secret = "a question that nobody else may read"
    release = asyncio.Event()
    engine = ScriptedEngine(
        [
            ["An engine ", "fits.", Finish(prompt_tokens=100, cached_tokens=80, new_tokens=5)],
            ["half", EngineDown("scripted", "died", "Nothing to do")],
            ["one", release, Finish(cut_off=True, prompt_tokens=100, cached_tokens=100, new_tokens=7)],
        ]
    )
    metrics = Metrics()
    admitted = AdmittedEngine(engine, Limits(running=1, waiting=0), observe=metrics)
    metrics.watch(admitted)
    port = free_port()
    close = served(metrics, port)
    try:
        await read(admitted, prompt(secret))
        with pytest.raises(EngineDown):
            await read(admitted, prompt(secret))
        third = admitted.stream(prompt(secret), max_tokens=24, deadline_s=30)
        assert await anext(third) == "one"
        with pytest.raises(EngineBusy):
            await read(admitted, prompt(secret))
        assert (await asyncio.to_thread(scraped, port))["studyhall_replies_running"] == 1
        release.set()
        assert [piece async for piece in third][-1].cut_off
        found = await asyncio.to_thread(scraped, port)
        raw = await asyncio.to_thread(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode())
    finally:
        close()
    outcomes = {key: value for key, value in found.items() if key.startswith("studyhall_questions_total")}
    assert outcomes == {f"studyhall_questions_total{{outcome={name}}}": 1 for name in ("done", "EngineDown", "cut_off", "EngineBusy")}
    assert (found["studyhall_prompt_tokens_total"], found["studyhall_cached_prompt_tokens_total"]) == (200, 180)
    assert found["studyhall_new_tokens_total"] == 12
    assert found["studyhall_first_word_seconds_count"] == 3  # the refused one never had a word
    assert found["studyhall_answer_seconds_count"] == 2  # the broken one is no answer
    assert found["studyhall_wait_seconds_count"] == 4
    assert (found["studyhall_replies_running"], found["studyhall_questions_waiting"]) == (0, 0)
    assert secret not in raw


def test_the_speed_of_a_reply_counts_from_its_first_word() -> None:
    metrics = Metrics()
    metrics(Observation("vllm", "done", 0.5, 1.0, 3.0, 10, 0, 101))
    metrics(Observation("vllm", "done", 0.0, 1.0, 1.0, 10, 0, 1))  # one token has no speed
    assert metrics.registry.get_sample_value("studyhall_reply_tokens_per_second_sum", {"engine": "vllm"}) == 50.0
    assert metrics.registry.get_sample_value("studyhall_reply_tokens_per_second_count", {"engine": "vllm"}) == 1


def test_a_port_in_use_is_named_and_a_closed_one_can_be_used_again() -> None:
    port = free_port()
    close = served(Metrics(), port)
    with pytest.raises(EngineError, match=f"127.0.0.1:{port} cannot be used"):
        served(Metrics(), port)
    close()
    served(Metrics(), port)()


def test_two_of_them_do_not_meet_in_one_registry() -> None:
    first, second = Metrics(), Metrics()
    first(Observation("a", "done", 0, 0, 0))
    assert second.registry.get_sample_value("studyhall_questions_total", {"engine": "a", "outcome": "done"}) is None
