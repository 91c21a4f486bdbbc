"""`studyhall bench`: how fast it is, as figures that another machine can check."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import click

from bot.cli.bench_ask import bench_ask
from bot.cli.bench_crowd import bench_crowd
from bot.cli.bench_live import bench_live
from bot.cli.bench_play import bench_play
from bot.settings import load_settings


@click.group()
def bench() -> None:
    """Benchmarks. Everything runs on this machine and stops by itself."""


@bench.command()
@click.option("--people", default=20, show_default=True, type=click.IntRange(1, 500), help="How many play at once.")
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
def play(people: int, as_json: bool) -> None:
    """Solo rounds: press to reply while many people play."""
    show(asyncio.run(bench_play(people)), as_json)


@bench.command()
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
def ask(as_json: bool) -> None:
    """The embedded model: a guide computed, restored, and asked about by four at once. Takes some minutes."""
    show(asyncio.run(bench_ask(load_settings())), as_json)


@bench.command()
@click.option("--people", default=300, show_default=True, type=click.IntRange(1, 1_000), help="How many ask.")
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
def crowd(people: int, as_json: bool) -> None:
    """A class asks at one moment: search, gate and quotes beside one learner alone, and how long the rest of the bot waits."""
    show(asyncio.run(bench_crowd(people)), as_json)


@bench.command()
@click.option("--people", default=500, show_default=True, type=click.IntRange(1, 2_000), help="How many press.")
@click.option("--spread", default=2.0, show_default=True, type=click.FloatRange(0, 60), help="Seconds over which they press.")
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(1, 50), help="Live rounds they are spread over.")
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
def live(people: int, spread: float, rounds: int, as_json: bool) -> None:
    """Live rounds: so many people press within seconds, beside a bare handler in the same run."""
    show(asyncio.run(bench_live(people, spread, rounds)), as_json)


def show(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        click.echo(f"{name:>16}  {value}")


COMMANDS = (bench,)
