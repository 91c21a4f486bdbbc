"""`studyhall engine doctor | plan | serve`: what can run here, the exact server command, and running it."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from bot.settings import load_settings
from engines.base import EngineDown, Traits
from engines.capacity import GIB, Load
from engines.catalogue import catalogue
from engines.doctor import diagnose, found_gpus
from engines.served import served_trtllm
from engines.sidecar import Status
from engines.trtllm import Plan, ServeSettings
from engines.trtllm import plan as planned

DEFAULT_PORT: Final = 8_000
START_DEADLINE_S = 3_600.0  # a first start downloads and loads the model


@click.group()
def engine() -> None:
    """The engines that write answers."""


@engine.command()
@click.option("--port", default=8_000, show_default=True, type=click.IntRange(1, 65_535), help="Where a server would listen.")
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
def doctor(port: int, as_json: bool) -> None:
    """Say which engines can run on this machine, why not, and what to do."""
    diagnosis = diagnose(port=port, own=load_settings().model_path)
    click.echo(json.dumps(diagnosis.as_dict(), indent=2) if as_json else diagnosis.text())


def model_options(command: click.Command) -> click.Command:
    """The options that `plan` and `serve` share."""
    for option in (
        click.option(
            "--container/--local", default=True, show_default=True, help="Run trtllm-serve in its container, or as installed here."
        ),
        click.option("--fp8-cache", is_flag=True, help="Keep the KV cache in 8 bits."),
        click.option("--gpus", default=1, show_default=True, type=click.IntRange(1, 64), help="Tensor parallel over so many GPUs."),
        click.option("--port", type=click.IntRange(1, 65_535), help="Where it listens, on loopback; by default as in server_url."),
        click.option("--gpu-memory", type=float, help="Memory of one GPU in GiB; by default that of this machine's largest."),
        click.option("--model", help="A model of the catalogue, by id or hub repository; by default server_model of the settings."),
    ):
        command = option(command)
    return command


def plan_of(
    model: str | None, gpu_memory: float | None, port: int | None, gpus: int, fp8_cache: bool, container: bool, config: Path
) -> Plan:
    """The plan of the command line; what it does not say comes from studyhall.yaml and from the driver."""
    known = load_settings()
    model = model or known.server_model
    if not model:
        raise click.UsageError("Which model? Name it with --model, or set server_model in studyhall.yaml.")
    if gpu_memory is None:
        found, problem = found_gpus()
        if not found:
            raise click.UsageError(f"How large is the GPU? Say it with --gpu-memory: it cannot be asked here ({problem}).")
        gpu_memory = max(gpu.memory_bytes for gpu in found) / GIB
    port = port or urlsplit(known.server_url).port or DEFAULT_PORT
    repo = catalogue().card(model).repo  # the server knows hub repositories, not our ids
    settings = ServeSettings(repo, port=port, gpus=gpus, fp8_cache=fp8_cache, container=container)
    return planned(model, gpu_memory, settings=settings, load=Load(), config_path=config)


@engine.command()
@click.option("--config", default=Path("serve.yaml"), show_default=True, type=click.Path(path_type=Path), help="Where the YAML is to be.")
@click.option("--json", "as_json", is_flag=True, help="The plan as JSON.")
def plan(
    model: str | None,
    gpu_memory: float | None,
    port: int | None,
    gpus: int,
    fp8_cache: bool,
    container: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Print the trtllm-serve command, its YAML, and the memory arithmetic. Nothing is started."""
    made = plan_of(model, gpu_memory, port, gpus, fp8_cache, container, config)
    click.echo(json.dumps(made.as_dict(), indent=2) if as_json else made.text())


@engine.command()
@click.option("--config", default=Path("serve.yaml"), show_default=True, type=click.Path(path_type=Path), help="Where the YAML is written.")
def serve(model: str | None, gpu_memory: float | None, port: int | None, gpus: int, fp8_cache: bool, container: bool, config: Path) -> None:
    """Start the planned server and keep it running until Ctrl-C: its log, restarts, and what it waits for."""
    made = plan_of(model, gpu_memory, port, gpus, fp8_cache, container, config)
    click.echo(made.text())
    asyncio.run(kept_running(made, config))


async def kept_running(made: Plan, config: Path) -> None:
    def changed(status: Status) -> None:
        click.echo(f"-- {status.state.value}: {status.reason}")

    traits = Traits(name="trtllm", model=made.card.id)
    served = served_trtllm(made.launch, config, traits, thinking=made.card.thinking, on_line=click.echo, on_change=changed)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        starting = asyncio.create_task(served.start(START_DEADLINE_S))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not stop.is_set():
            await starting
            await stopped
        starting.cancel()
    except EngineDown as error:
        raise click.ClickException(str(error)) from error
    finally:
        await served.aclose()


plan = model_options(plan)
serve = model_options(serve)
COMMANDS = (engine,)
