"""`studyhall report ROUND`: the results of a live round, from the database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from bot.cli.compose import tutor_for
from bot.cli.running import settings_with
from bot.settings import Settings
from tutor.errors import NotFound, TutorError
from tutor.exports import written


@click.command()
@click.argument("round_id", metavar="ROUND")
@click.option("--format", "style", type=click.Choice(["csv", "xlsx", "json"]), default="csv", show_default=True, help="Of the file.")
@click.option("--to", "target", type=click.Path(path_type=Path, dir_okay=False), help="Where to write it; standard output by default.")
@click.option("--database", type=click.Path(path_type=Path, dir_okay=False), help="The file that keeps the rounds.")
def report(round_id: str, style: str, target: Path | None, database: Path | None) -> None:
    """Write the results of the live round ROUND: per person, per question, and what looks wrong with a key."""
    settings = settings_with((), "quoting", database=database, embeddings=False)
    data = asyncio.run(exported(settings, round_id, style))
    if target is not None:
        target.write_bytes(data)
        click.echo(f"Written: {target}")
        return
    click.echo(data, nl=False)


async def exported(settings: Settings, round_id: str, style: str) -> bytes:
    async with tutor_for(settings) as (_, rounds, _drafts):
        try:
            made = await rounds.report(round_id)
        except NotFound as error:
            known = [found.id for found in await rounds.newest(None, limit=10)]
            raise TutorError(f"there is no live round {round_id!r}. The newest are: {', '.join(known) or 'none yet'}.") from error
        return written(made, style)


COMMANDS = (report,)
