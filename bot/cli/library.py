"""`studyhall check`: what is wrong with content, line by line."""

from __future__ import annotations

import json
from pathlib import Path

import click

from content.check import check as checked
from content.facts import Facts, find_facts, load_facts
from content.fix import fix
from content.load import SHIPPED, load_library
from content.model import ContentError, Severity
from content.report import report_github, report_text, to_json


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--facts", "with_facts", is_flag=True, help="Also prove that every fact id exists, and name what rests on none.")
@click.option("--fix", "repair", is_flag=True, help="Repair what is mechanical; comments stay as they are.")
@click.option("--format", "style", type=click.Choice(["text", "json", "github"]), default="text", show_default=True, help="Of the report.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def check(paths: tuple[Path, ...], with_facts: bool, repair: bool, style: str, as_json: bool) -> None:
    """Check quizzes, guides and courses under PATHS (by default the shipped library).

    Exit code 1 when something cannot be used; warnings and notes alone are 0.
    """
    folders = paths or (SHIPPED,)
    if repair:
        for folder in folders:
            for done in fix(folder):
                click.echo(done, err=True)
    loaded = load_library(folders)
    facts = facts_of(folders) if with_facts else None
    faults = (*(facts.faults if facts else ()), *checked(loaded, facts=facts.by_id if facts else None))
    match "json" if as_json else style:
        case "json":
            click.echo(json.dumps(to_json(loaded, faults), ensure_ascii=False, indent=2))
        case "github":
            click.echo(report_github(faults), nl=bool(faults))
        case _:
            click.echo(report_text(loaded, faults))
    if any(fault.severity is Severity.ERROR for fault in faults):
        raise click.exceptions.Exit(1)


def facts_of(folders: tuple[Path, ...]) -> Facts:
    """The table of facts of the first folder that has one; the shipped one where none has. Raises ContentError."""
    for folder in (*folders, SHIPPED):
        table = find_facts(folder)
        if table is not None:
            return load_facts(table)
    raise ContentError(f"{folders[0]}: there is no facts.yaml. Put one beside quizzes/ and guides/, or leave out --facts.")


COMMANDS = (check,)
