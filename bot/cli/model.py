"""`studyhall model fetch`: the weights of the embedded model, resumable and checked."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from engines import weights
from engines.catalogue import catalogue


@click.group()
def model() -> None:
    """The weights of the embedded model."""


@model.command()
@click.option("--model", "name", help="Which model of the catalogue; by default the first that can be had.")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="Where to keep it, instead of the user's cache.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, without a progress bar.")
def fetch(name: str | None, folder: Path | None, as_json: bool) -> None:
    """Download the model (about 1.1 GB). Ctrl-C is fine: the next fetch goes on from there."""
    known = catalogue()
    card = known.card(name) if name else None
    if card is not None and card.gguf is None:
        raise click.UsageError(f"{card.id} is served by a GPU server, not by the embedded engine. Choose one of: {', '.join(embedded())}.")
    models = (card.gguf,) if card and card.gguf else known.embedded_models()
    target = folder or weights.default_folder()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    stop = threading.Event()
    with Progress(*columns, disable=as_json) as bar:
        task = bar.add_task("looking for the model", total=None)

        def progress(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=what)

        path = weights.fetch_first(models, target, progress=progress, stop=stop)
    result: dict[str, Any] = {"path": str(path), "bytes": path.stat().st_size}
    click.echo(json.dumps(result) if as_json else f"The model is at {path}")


def embedded() -> list[str]:
    return [found.id for found in catalogue().embedded_models()]


COMMANDS = (model,)
