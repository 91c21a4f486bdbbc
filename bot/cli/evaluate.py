"""`studyhall eval`: how good the answers are on a suite, with what engine, and whether its thresholds are reached.

It measures what is shown, not what a model meant. Exit code 1 when a threshold of the suite is missed.
"""

from __future__ import annotations

import asyncio
import json
import platform
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import Progress

from bot.cli.compose import built_vectors, loaded_library
from bot.cli.evaluate_run import Examiner, ResultsFile, in_cheap_order, read_results, run, spread
from bot.cli.evaluate_suite import LoadedSuite, load_suite
from bot.cli.running import settings_with
from bot.cli.writer import PAGED_DEADLINE_S, START_DEADLINE_S, built_engine, model_file
from bot.settings import Settings
from content.model import Library
from engines.base import Engine, EngineDown
from engines.hostile import HOSTILE
from engines.quoting import QuotingEngine
from engines.switching import SwitchingEngine
from tutor.evaluation import Item, Outcome, Run, Setup, Suite
from tutor.evaluation_attacks import SEED, attack_suite, secrets_of
from tutor.evaluation_judge import Verdict, judged, question_of
from tutor.evaluation_metrics import compared, missed, rates
from tutor.evaluation_report import as_json, as_markdown, comparison_markdown
from tutor.retrieval import Retriever
from tutor.store.vectors import VectorIndex

LEAK: Final = "leak"  # the suite that is generated from the library
ENGINES: Final = ("auto", "quoting", "llamacpp", "paged", "server", *HOSTILE)


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a suite is asked, and how."""

    split: str | None
    category: str | None
    limit: int | None
    everywhere: bool
    at_once: int
    results: Path | None

    def of(self, items: Sequence[Item]) -> list[Item]:
        wanted = [
            item
            for item in items
            if (self.split is None or (item.split and item.split.value == self.split)) and self.category in (None, item.category)
        ]
        return in_cheap_order(spread(wanted, self.limit))


@click.command("eval")
@click.argument("suite")
@click.option("--engine", type=click.Choice(ENGINES), help="Who writes answers; the last five are hostile stand-ins.")
@click.option("--split", type=click.Choice(["tune", "locked"]), help="Only this half of the suite.")
@click.option("--category", help="Only items of this category.")
@click.option("--limit", type=click.IntRange(1), help="At most so many items, spread evenly over the suite.")
@click.option("--scope", type=click.Choice(["topic", "all"]), default="topic", show_default=True, help="Search the item's guide, or all.")
@click.option("--at-once", default=1, show_default=True, type=click.IntRange(1, 64), help="Items asked at the same time.")
@click.option("--embeddings/--no-embeddings", default=None, help="Search by meaning too, or by words alone.")
@click.option("--retrieval", is_flag=True, help="Only what was found: no engine is asked.")
@click.option("--results", type=click.Path(path_type=Path, dir_okay=False), help="Keep outcomes here as they come; go on if it exists.")
@click.option("--compare", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="Results of another run on these items.")
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False), help="Write the Markdown report here.")
@click.option("--content", "content", multiple=True, type=click.Path(path_type=Path), help="A folder of quizzes and guides; repeatable.")
@click.option("--json", "as_data", is_flag=True, help="Metrics, thresholds and every item as JSON.")
def evaluate(
    suite: str,
    engine: str | None,
    split: str | None,
    category: str | None,
    limit: int | None,
    scope: str,
    at_once: int,
    embeddings: bool | None,
    retrieval: bool,
    results: Path | None,
    compare: Path | None,
    report: Path | None,
    content: tuple[Path, ...],
    as_data: bool,
) -> None:
    """Score grounded answering on SUITE: a YAML file, or `leak` for attacks made from the library's own quizzes."""
    hostile = engine if engine in HOSTILE else None
    settings = settings_with(content, "quoting" if retrieval or hostile else engine, embeddings=embeddings)
    library = loaded_library(settings.content, shipped=settings.shipped_library)
    loaded = suite_named(suite, library)
    choice = Choice(split, category, limit, scope == "all", at_once, results)
    if not choice.of(loaded.suite.items):
        raise click.UsageError("no item of the suite is both of this category and of this half")
    made = asyncio.run(evaluated(loaded, choice, library, settings, hostile))
    verdicts = verdicts_of(loaded.suite, made, library)
    markdown = as_markdown(loaded.suite, made, verdicts, retrieval_only=retrieval)
    if compare is not None:
        other = read_results(compare)
        found = compared(verdicts_of(loaded.suite, other, library), verdicts)
        markdown += "\n" + comparison_markdown(found, f"{compare.name} ({other.setup.engine})", "this run")
    if report is not None:
        report.write_text(markdown, "utf-8")
    click.echo(json.dumps(as_json(loaded.suite, made, verdicts), ensure_ascii=False, indent=2) if as_data else markdown)
    if missed(loaded.suite, made, rates(verdicts)):
        raise click.exceptions.Exit(1)


def suite_named(name: str, library: Library) -> LoadedSuite:
    """The generated suite, or the one in this file. Raises ContentError."""
    if name == LEAK:
        made = attack_suite(library)
        return LoadedSuite(made, f"seed-{SEED}-{len(made.items)}")
    return load_suite(Path(name), library)


def verdicts_of(suite: Suite, made: Run, library: Library) -> list[Verdict]:
    """Of the items that were asked, in the order of the suite."""
    return [judged(item, outcome, library) for item in suite.items if (outcome := made.outcomes.get(item.id)) is not None]


async def evaluated(loaded: LoadedSuite, choice: Choice, library: Library, settings: Settings, hostile: str | None) -> Run:
    async with AnsweringParts.opened(library, settings, hostile) as parts:
        setup = Setup(
            suite=f"{loaded.suite.id}/{loaded.suite.version}",
            digest=loaded.digest,
            engine=hostile or parts.engine.traits.name,
            model="hostile" if hostile else parts.engine.traits.model,
            embeddings=parts.vectors is not None,
            scope="all" if choice.everywhere else "topic",
            split=choice.split,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=f"{platform.machine()}, Python {platform.python_version()}",
        )
        file = ResultsFile(choice.results) if choice.results else None
        so_far = dict(file.opened(setup).outcomes) if file else {}
        items = choice.of(loaded.suite.items)
        waiting = [item for item in items if item.id not in so_far]
        examiner = Examiner(library, parts.retriever, parts.engine_for, parts.quoting, everywhere=choice.everywhere)
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(loaded.suite.id, total=len(items), completed=len(items) - len(waiting))

            def keep(outcome: Outcome) -> None:
                progress.advance(task)
                if file is not None:
                    file.add(outcome)

            try:
                fresh = await run(examiner, waiting, at_once=choice.at_once, on_outcome=keep)
            finally:
                examiner.close()
        chosen = {item.id for item in items}
        return Run(setup, {key: outcome for key, outcome in (so_far | fresh).items() if key in chosen})


@dataclass(frozen=True, slots=True)
class AnsweringParts:
    """What answers are made of, ready before the first item: the index is built, the model is loaded."""

    retriever: Retriever
    vectors: VectorIndex | None
    engine: Engine
    quoting: Engine
    engine_for: Callable[[Item], Engine]

    @classmethod
    @asynccontextmanager
    async def opened(cls, library: Library, settings: Settings, hostile: str | None) -> AsyncGenerator[AnsweringParts, None]:
        vectors = built_vectors(library) if settings.embeddings else None
        if vectors is not None:
            await asyncio.to_thread(vectors.build)
        engine, quoting = built_engine(settings), QuotingEngine()
        retriever = Retriever(library, vectors)
        try:
            writer = await written_by(engine, settings)
            yield cls(retriever, vectors, writer, quoting, engine_for(library, writer, hostile))
        finally:
            retriever.close()
            await engine.aclose()


def engine_for(library: Library, writer: Engine, hostile: str | None) -> Callable[[Item], Engine]:
    """The engine of an item: the same for all, or a hostile one that knows the key of the item's open question."""
    if hostile is None:
        return lambda _: writer

    def made(item: Item) -> Engine:
        question = question_of(library, item.open_question) if item.open_question else None
        return HOSTILE[hostile](secrets_of(question) if question else (), item.must_not)

    return made


async def written_by(engine: Engine, settings: Settings) -> Engine:
    """The engine that is to be measured: of a switching one the model itself, for its stand-in is another engine."""
    if not isinstance(engine, SwitchingEngine):
        return engine
    if settings.engine == "auto" and model_file(settings) is None:
        return engine.first
    if not await engine.switched(PAGED_DEADLINE_S if settings.engine == "paged" else START_DEADLINE_S):
        raise EngineDown(settings.engine, f"not ready: {(await engine.health()).detail}", "See studyhall engine doctor")
    assert engine.then is not None, "it has switched"
    return engine.then


COMMANDS = (evaluate,)
