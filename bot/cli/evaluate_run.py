"""Asks the items of a suite, each as a person of its own, and keeps what was shown; results go to a file line by line.

Only the real path is used: `Answering.ask` with the library's own index. An item whose reply never comes, or that raises, is
an outcome too. A results file that is there already is gone on with, if it was made with the same suite and engine.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from content.model import Choices, ContentError, Library, Question
from engines.base import Engine
from tutor.answering import Answering, Asked
from tutor.evaluation import Item, Outcome, Planted, Run, Setup, Shown
from tutor.gate import Lock
from tutor.grading import Response, Selected, Written
from tutor.reply import TutorReply
from tutor.retrieval import Retriever

ITEM_DEADLINE_S: Final = 240.0  # per turn: longer than any engine's own deadline and its queue

log = logging.getLogger("studyhall.eval")


class Examiner:
    """Asks items one by one; state of one item never reaches another. `engine_for` gives the engine that answers an item."""

    def __init__(
        self,
        library: Library,
        retriever: Retriever,
        engine_for: Callable[[Item], Engine],
        quoting: Engine,
        *,
        everywhere: bool = False,
        deadline_s: float = ITEM_DEADLINE_S,
    ) -> None:
        """With `everywhere`, the guide that an item names is not told: all guides are searched."""
        self.library = library
        self._retriever = retriever
        self._engine_for = engine_for
        self._quoting = quoting
        self._original: tuple[Library, Retriever] | None = None
        self._warming: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._everywhere = everywhere
        self._deadline_s = deadline_s

    async def outcome(self, item: Item) -> Outcome:
        turns: list[Shown] = []
        try:
            async with aclosing(self._turns(item)) as replies:
                async for reply in replies:
                    turns.append(reply)  # noqa: PERF401  # those before a failure were shown too
        except TimeoutError:
            return Outcome(item.id, tuple(turns), f"no reply within {self._deadline_s:g} s")
        except Exception as error:  # whatever it is: the person who asked got no reply, and that is what is measured
            log.warning("%s: no reply", item.id, exc_info=error)
            return Outcome(item.id, tuple(turns), f"{type(error).__name__}: {error}")
        return Outcome(item.id, tuple(turns))

    async def _turns(self, item: Item) -> AsyncGenerator[Shown, None]:
        library, retriever = self._untranslated() if item.original_only else (self.library, self._retriever)
        planted = item.planted is not None and item.guide is not None
        if item.planted is not None and item.guide is not None:
            library = with_planted(library, item.guide, item.planted, item.language)
            retriever = Retriever(library, retriever.vectors)
        answering = Answering(library, retriever, self._engine_for(item), self._quoting)
        try:
            if not planted:
                await self._warm(answering, library, item)
            for asked in self._asked(item, answering):
                async with asyncio.timeout(self._deadline_s):
                    reply = await shown(answering, asked)
                yield reply
        finally:
            if planted:
                retriever.close()

    async def _warm(self, answering: Answering, library: Library, item: Item) -> None:
        """Have the guide's prefix computed before its first item is timed, as a bot does when a round begins."""
        guide = library.guide(item.guide, item.language) if item.guide else None
        if guide is None or not answering.engine.traits.whole_guide:
            return
        key = (guide.id, guide.language)
        if key not in self._warming:
            self._warming[key] = asyncio.create_task(answering.warmed(guide.id, guide.language), name=f"warm {key}")
        await asyncio.shield(self._warming[key])  # one of several workers may be cancelled, the others still need it

    def _untranslated(self) -> tuple[Library, Retriever]:
        """The library as if nothing had been translated, and its index; made once."""
        if self._original is None:
            library = originals(self.library)
            self._original = library, Retriever(library, self._retriever.vectors)
        return self._original

    def close(self) -> None:
        """Closes what it made itself."""
        for task in self._warming.values():
            task.cancel()
        if self._original is not None:
            self._original[1].close()

    def _asked(self, item: Item, answering: Answering) -> list[Asked]:
        locks = (self._lock(item.open_question),) if item.open_question else ()
        guide = None if self._everywhere and item.planted is None else item.guide
        turns = [Asked(question, item.language, 1, guide_id=guide, locks=locks) for question in (*item.history, item.question)]
        if item.closed_question is not None:
            lock = self._lock(item.closed_question)
            response, right = wrong_response(lock.question)
            turns[-1] = answering.why(lock.quiz, lock.question, response, right=right, language=item.language, learner_id=1)
        return turns

    def _lock(self, name: str) -> Lock:
        quiz_id, _, question_id = name.partition(":")
        quiz = self.library.quizzes[quiz_id]
        question = quiz.question(question_id)
        assert question is not None, "the suite was checked against this library"
        return Lock(quiz, question)


async def shown(answering: Answering, asked: Asked) -> Shown:
    """The last reply to one question, and how long its first one took: that is what retrieval and gate take."""
    started = time.perf_counter()
    gate_s = 0.0
    last: TutorReply | None = None
    async with aclosing(answering.ask(asked)) as replies:
        async for reply in replies:
            gate_s = gate_s if last else time.perf_counter() - started
            last = reply
    if last is None or not last.complete:
        raise RuntimeError("the question ended without a complete reply")
    return Shown.of(asked.question, last, gate_s)


def with_planted(library: Library, guide_id: str, planted: Planted, language: str) -> Library:
    """A library of this one guide as a reader of this language gets it, with the text planted at the end of the section."""
    guide = library.guide(guide_id, language)
    assert guide is not None, "the suite was checked against this library"
    sections = tuple(replace(s, body=f"{s.body}\n\n{planted.text}") if s.id == planted.section else s for s in guide.sections)
    return Library(quizzes=library.quizzes, guides={guide_id: {guide.language: replace(guide, sections=sections)}})


def originals(library: Library) -> Library:
    """The same library with each guide in its first language only."""
    first = {guide_id: {language: variants[language]} for guide_id, variants in library.guides.items() for language in [*variants][:1]}
    return Library(quizzes=library.quizzes, guides=first, courses=library.courses)


def wrong_response(question: Question) -> tuple[Response, bool]:
    """What somebody who does not know would answer, and whether it happens to be right."""
    if isinstance(question.body, Choices):
        wrong = next((choice for choice in question.body.choices if not choice.correct), question.body.choices[0])
        return Selected((wrong.id,)), wrong.correct
    return Written("?"), False


async def run(
    examiner: Examiner,
    items: Sequence[Item],
    *,
    at_once: int = 1,
    on_outcome: Callable[[Outcome], None] = lambda _: None,
) -> dict[str, Outcome]:
    """Ask all items, `at_once` at a time; `on_outcome` is called as each is done. The order of items is the order of asking."""
    found: dict[str, Outcome] = {}
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:  # one iterator for all workers: each item is taken once
            found[item.id] = await examiner.outcome(item)
            on_outcome(found[item.id])

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, at_once)):
            group.create_task(work())
    return found


def in_cheap_order(items: Iterable[Item]) -> list[Item]:
    """Items of one guide and language one after another, so that a model's prefix stays warm; changed guides last."""
    return sorted(items, key=lambda item: (item.planted is not None, item.guide or "", item.language))


def spread(items: Sequence[Item], limit: int | None) -> list[Item]:
    """At most `limit` items, spread evenly over the suite: the first ones would all be of one category."""
    if limit is None or limit >= len(items):
        return list(items)
    return [items[number * len(items) // limit] for number in range(limit)]


class ResultsFile:
    """JSON lines: the setup, then an outcome each. Written as they come, so that a run that was stopped goes on where it was."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def opened(self, setup: Setup) -> Run:
        """What is there already of this very setup; the file is begun when there is none. Raises ContentError for another one's."""
        if not self._path.exists() or not self._path.stat().st_size:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(_line(setup.to_json()), "utf-8")
            return Run(setup)
        there = read_results(self._path)
        if not setup.continues(there.setup):
            raise ContentError(f"{self._path}: it holds another run ({_named(there.setup)}). Name another file, or remove this one.")
        return there

    def add(self, outcome: Outcome) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(outcome.to_json()))


def read_results(path: Path) -> Run:
    """Raises ContentError when this is no results file. A last line that was cut off by a crash is left out."""
    try:
        lines = path.read_text("utf-8").splitlines()
        setup = Setup.from_json(json.loads(lines[0]))
    except OSError as error:
        raise ContentError(f"{path}: {error.strerror}. Name a results file of studyhall eval.") from error
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise ContentError(f"{path}:1: it is no results file ({error}). Name one that studyhall eval --results wrote.") from error
    outcomes: dict[str, Outcome] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            outcome = Outcome.from_json(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            if number == len(lines):
                break
            raise ContentError(f"{path}:{number}: it is no outcome ({error}). Remove the line.") from error
        outcomes[outcome.item_id] = outcome
    return Run(setup, outcomes)


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False) + "\n"


def _named(setup: Setup) -> str:
    return f"suite {setup.suite}, engine {setup.engine}, scope {setup.scope}, embeddings {'on' if setup.embeddings else 'off'}"
