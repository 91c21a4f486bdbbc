"""`studyhall demo`: a Discord of our own on this machine, the real bot in it, and a page to try it in.

Two processes. This one holds the sandbox and the page, and fetches the model; the other is the bot, which may reach
nothing but this machine. So killing the bot leaves the page standing, and what the bot connects to can be proven.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import webbrowser
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import click
from aiohttp import web

from bot.cli.compose import loaded_library
from bot.cli.running import serve, set_up_logging, settings_with
from bot.cli.writer import model_file
from bot.guide_pages import guide_page
from bot.sandbox.driver import Sandbox
from bot.sandbox.launch import point_discord_at, refuse_other_hosts
from bot.settings import Settings, SettingsError
from content.model import Library
from engines import weights
from engines.base import EngineError
from engines.catalogue import catalogue

log = logging.getLogger("studyhall.demo")

PORT: Final = 8765
TOKEN_VARIABLE: Final = "STUDYHALL_SANDBOX_TOKEN"  # the name of a variable; the sandbox makes the token up
SETTINGS_VARIABLE: Final = "STUDYHALL_SANDBOX_SETTINGS"  # the parent's settings, whole, so that both agree
STOPPED: Final = "demo: the bot stopped by itself. What it said last stands above; correct that and start the demo again."
LOG_IN_DEADLINE_S: Final = 60.0
DONE_SHOWN_S: Final = 10.0  # how long the page says that a download is complete
STOP_GRACE_S: Final = 10.0
_PROGRESS_EVERY: Final = 1 << 20  # bytes: more often would only move the bar by less than a pixel


@click.command()
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65_535), help="Where the page is; 0: any free port.")
@click.option("--engine", type=click.Choice(["auto", "quoting", "llamacpp", "server"]), help="Who writes answers.")
@click.option("--content", "content", multiple=True, type=click.Path(path_type=Path), help="A folder of quizzes and guides; repeatable.")
@click.option("--database", type=click.Path(path_type=Path, dir_okay=False), help="The file that keeps rounds and answers.")
@click.option("--no-browser", is_flag=True, help="Do not open the page.")
@click.option("--no-download", is_flag=True, help="Do not fetch a model; the guide is quoted unless one is there already.")
def demo(port: int, engine: str | None, content: tuple[Path, ...], database: Path | None, no_browser: bool, no_download: bool) -> None:
    """Try the bot in a page on this machine: no Discord account, no token, no GPU."""
    settings = settings_with(content, engine, database=database or Path("data/demo.db"))
    loaded_library(settings.content, shipped=settings.shipped_library)  # faults are said before anything is started
    set_up_logging(settings)
    asyncio.run(serve_demo(settings, port, browser=not no_browser, download=not no_download))


async def serve_demo(settings: Settings, port: int, *, browser: bool, download: bool) -> None:
    """Until Ctrl-C or SIGTERM, or until the bot cannot be kept running."""
    library = loaded_library(settings.content, shipped=settings.shipped_library)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with await Sandbox(pages=guide_routes(library)).start(port) as sandbox, bot_process(sandbox, settings) as bot:
        await sandbox.ready(LOG_IN_DEADLINE_S)
        click.echo(f"Studyhall is ready: {sandbox.url}  (Ctrl-C stops it)")
        if browser:
            await asyncio.to_thread(webbrowser.open, sandbox.url)
        async with fetching(sandbox, settings, wanted=download):
            stopped = asyncio.create_task(stop.wait())
            ended = asyncio.create_task(bot.wait())
            await asyncio.wait({stopped, ended}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if not stop.is_set():
                raise SettingsError(STOPPED)


def guide_routes(library: Library) -> Sequence[web.RouteDef]:
    """The guides as pages, so that links in messages lead somewhere."""

    async def show(request: web.Request) -> web.Response:
        guide = library.guide(request.match_info["guide"], request.query.get("lang", "en"))
        if guide is None:
            raise web.HTTPNotFound(text="There is no such guide.")
        return web.Response(text=guide_page(guide), content_type="text/html")

    return [web.get("/guides/{guide}", show)]


# The bot's own process ----------------------------------------------------------------------------------------------


@asynccontextmanager
async def bot_process(sandbox: Sandbox, settings: Settings) -> AsyncGenerator[asyncio.subprocess.Process, None]:
    """Start the bot against this sandbox; stop it by SIGTERM at the end."""
    environment = os.environ | {TOKEN_VARIABLE: sandbox.token, SETTINGS_VARIABLE: settings.model_dump_json()}
    environment.pop("DISCORD_TOKEN", None)  # the demo has no business with it
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "sandboxed", sandbox.url, sandbox.gateway_url, env=environment, stdout=asyncio.subprocess.PIPE
    )  # fmt: skip
    refused = RefusedHosts()
    sandbox.hosts = refused
    assert process.stdout is not None
    listening = asyncio.create_task(listen(process.stdout, refused), name="listen to the bot")
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), STOP_GRACE_S)
            except TimeoutError:
                process.kill()
                await process.wait()
        await listening


class RefusedHosts:
    """Hosts that the bot's process tried to reach and was refused; it reports them on its standard output."""

    def __init__(self) -> None:
        self.attempts: list[str] = []


async def listen(output: asyncio.StreamReader, refused: RefusedHosts) -> None:
    async for line in output:
        try:
            report: dict[str, Any] = json.loads(line)
        except ValueError:
            click.echo(line.decode(errors="replace").rstrip())
            continue
        if "refused" in report:
            refused.attempts[:] = report["refused"]


@click.command(hidden=True)
@click.argument("url")
@click.argument("gateway_url")
def sandboxed(url: str, gateway_url: str) -> None:
    """The bot's side of the demo: log in to the sandbox at URL and refuse every other host."""
    settings = Settings.model_validate_json(os.environ[SETTINGS_VARIABLE]).model_copy(update={"guide_url": f"{url}/guides"})
    set_up_logging(settings)
    hosts = refuse_other_hosts()
    point_discord_at(url, gateway_url)
    try:
        asyncio.run(serve(settings, os.environ[TOKEN_VARIABLE]))
    finally:
        print(json.dumps({"refused": hosts.attempts}), flush=True)  # noqa: T201  # read by `listen` in the parent


# The model ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def fetching(sandbox: Sandbox, settings: Settings, *, wanted: bool) -> AsyncGenerator[None, None]:
    """Fetch the weights in a thread of this process, and show how far it is; the bot finds them by itself."""
    stop = threading.Event()
    loop = asyncio.get_running_loop()
    shown = 0

    def show(state: str, done: int, total: int, detail: str) -> None:
        name = "language model"
        status = {"name": name, "done_bytes": done, "total_bytes": total, "state": state, "detail": detail}
        loop.call_soon_threadsafe(sandbox.set_download, status)

    def progress(done: int, total: int, what: str) -> None:
        nonlocal shown
        if done - shown >= _PROGRESS_EVERY or done < shown or done == total:
            shown = done
            show("running", done, total, what)

    def fetch() -> None:
        try:
            weights.fetch_first(catalogue().embedded_models(), weights.default_folder(), progress=progress, stop=stop)
            show("done", shown, shown, "")
            loop.call_soon_threadsafe(loop.call_later, DONE_SHOWN_S, sandbox.set_download, None)
        except weights.FetchStopped:
            pass
        except EngineError as error:
            log.warning("%s", error)
            show("failed", 0, 0, str(error))

    needed = wanted and settings.engine == "auto" and model_file(settings) is None
    thread = threading.Thread(target=fetch, name="fetch model", daemon=True) if needed else None
    if thread:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if thread:
            await asyncio.to_thread(thread.join, STOP_GRACE_S)


COMMANDS = (demo, sandboxed)
