"""`studyhall run`: the bot on Discord, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from pathlib import Path

import click
import discord

from bot.cli.compose import client_for
from bot.settings import Settings, SettingsError, load_settings, load_token

log = logging.getLogger("studyhall")


@click.command()
@click.option("--content", "content", multiple=True, type=click.Path(path_type=Path), help="A folder of quizzes and guides; repeatable.")
@click.option("--engine", type=click.Choice(["auto", "quoting", "llamacpp", "paged", "server"]), help="Who writes answers.")
def run(content: tuple[Path, ...], engine: str | None) -> None:
    """Run the bot on Discord; the token comes from DISCORD_TOKEN."""
    settings = settings_with(content, engine)
    token = load_token()
    set_up_logging(settings)
    asyncio.run(serve(settings, token.get_secret_value()))


def settings_with(content: tuple[Path, ...], engine: str | None, **others: object) -> Settings:
    """Settings with what the command line named on top."""
    given: dict[str, object] = {name: value for name, value in others.items() if value is not None}
    if engine is not None:
        given["engine"] = engine
    if content:
        given["content"] = list(content)
    return load_settings(**given)


def set_up_logging(settings: Settings) -> None:
    logging.basicConfig(level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # the bot has no voice, so nothing is missing
    for name in ("discord", "openai", "httpx", "httpx2"):  # they tell of every request at INFO
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.root.level))


async def serve(settings: Settings, token: str) -> None:
    """Log in and stay until a signal. Cancelling the task that runs `start` is what makes discord.py close with 1000."""
    async with client_for(settings) as client:
        # the library stays for good: walking it again in every full collection would cost more than answering a press
        gc.collect()
        gc.freeze()
        session = asyncio.create_task(client.start(token), name="session")
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, session.cancel)
        try:
            await session
        except asyncio.CancelledError:
            log.info("stopping")
        except discord.LoginFailure as error:
            raise SettingsError("settings: Discord does not accept DISCORD_TOKEN. Copy the bot's token again from its page.") from error
        except discord.PrivilegedIntentsRequired as error:
            raise SettingsError(
                "settings: Discord refuses the intents. The bot asks for none that need a permission: report this."
            ) from error
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


COMMANDS = (run,)
