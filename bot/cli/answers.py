"""`studyhall ask`: one grounded answer on the terminal."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bot.cli.compose import answering_for, loaded_library
from bot.cli.running import settings_with
from bot.settings import Settings
from bot.texts import text
from content.model import LANGUAGES
from engines.base import EngineDown
from engines.switching import SwitchingEngine
from tutor.answering import Answering, Asked
from tutor.errors import NotFound
from tutor.reply import Kind, TutorReply

MODEL_DEADLINE_S = 180.0  # to load the weights and to compute the guide's prefix for the first time
SERVER_DEADLINE_S = 10.0  # it runs already, or it does not


@click.command()
@click.argument("guide")
@click.argument("question")
@click.option("--lang", "language", default="en", show_default=True, help=f"Language of the answer: {', '.join(LANGUAGES)}.")
@click.option("--engine", type=click.Choice(["auto", "quoting", "llamacpp", "paged", "server"]), help="Who writes the answer.")
@click.option("--content", "content", multiple=True, type=click.Path(path_type=Path), help="A folder of quizzes and guides; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Text, citations, verdict and timings as JSON.")
def ask(guide: str, question: str, language: str, engine: str | None, content: tuple[Path, ...], as_json: bool) -> None:
    """Answer QUESTION from GUIDE, with citations; or say that the guide does not cover it."""
    settings = settings_with(content, engine)
    reply = asyncio.run(answered(settings, Asked(question, language, learner_id=0, guide_id=guide)))
    if as_json:
        click.echo(json.dumps(as_data(reply), ensure_ascii=False, indent=2))
        return
    if reply.kind is Kind.REFUSAL:
        assert reply.reason is not None, "a refusal has a reason"
        click.echo(text(f"ask-refusal-{reply.reason.value}", language))
        for citation in reply.considered:
            click.echo(f"  {citation.key}  {citation.heading}")
        return
    click.echo(reply.text)
    for number, citation in enumerate(reply.cited, start=1):
        click.echo(f"[{number}] {citation.guide_title}: {citation.heading} ({citation.key})")


async def answered(settings: Settings, asked: Asked) -> TutorReply:
    library = loaded_library(settings.content, shipped=settings.shipped_library)
    if asked.guide_id not in library.guides:
        raise NotFoundLine(asked.guide_id or "", sorted(library.guides))
    async with answering_for(library, settings) as answering:
        await ready(answering, asked, settings)
        async with aclosing(answering.ask(asked)) as replies:
            return [reply async for reply in replies][-1]


async def ready(answering: Answering, asked: Asked, settings: Settings) -> None:
    """With a model asked for by name, wait for it: a one-off question should not be answered by its stand-in."""
    engine = answering.engine
    if settings.engine == "auto" or not isinstance(engine, SwitchingEngine):
        return
    deadline_s = SERVER_DEADLINE_S if settings.engine == "server" else MODEL_DEADLINE_S
    if not await engine.switched(deadline_s):
        why = (await engine.health()).detail
        raise EngineDown(settings.engine, f"not ready after {deadline_s:.0f} s: {why}", "See studyhall engine doctor")
    assert asked.guide_id is not None, "the command line names a guide"
    await answering.warmed(asked.guide_id, asked.language)


class NotFoundLine(NotFound):
    def __init__(self, key: str, known: list[str]) -> None:
        super().__init__("guide", key)
        self.args = (f"there is no guide {key!r}. Choose one of: {', '.join(known)}.",)


def as_data(reply: TutorReply) -> dict[str, Any]:
    """The reply as JSON-ready data; stable names, documented in docs/command-line.md."""
    return {
        "kind": reply.kind.value,
        "reason": reply.reason.value if reply.reason else None,
        "text": reply.text,
        "language": reply.language,
        "sentences": [{"text": s.text, "sections": [c.key for c in s.citations], "quoted": s.quoted} for s in reply.sentences],
        "citations": [{"number": i, "section": c.key, "guide": c.guide_title, "heading": c.heading} for i, c in enumerate(reply.cited, 1)],
        "considered": [citation.key for citation in reply.considered],
        "verdict": {"supported": len(reply.sentences), "dropped": reply.dropped},
        "engine": reply.engine,
        "timings": asdict(reply.timings),
        "tokens": asdict(reply.tokens),
    }


COMMANDS = (ask,)
