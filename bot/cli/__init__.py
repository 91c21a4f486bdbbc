"""The command line. Exit codes: 0 fine, 1 found problems, 2 wrong use. Every foreseeable failure is one line on stderr.

This package is the composition root: the only place that builds an engine, a store, a tutor and a client and puts them
together (`compose`). Each module holds the commands of one subject.
"""

from __future__ import annotations

import errno
import importlib
import logging
import sys
from typing import Any, Final, cast

import click

from bot.settings import SettingsError
from content.model import ContentError
from engines.base import EngineError
from tutor.errors import StoreError, TutorError

# command -> the module that holds it: `check` on a large bank must not wait for Discord's and a model client's imports
MODULES: Final = {
    "ask": "answers",
    "bench": "benchmarks",
    "check": "library",
    "demo": "demo",
    "engine": "engines",
    "eval": "evaluate",
    "export": "banks",
    "import": "banks",
    "manual": "manual",
    "model": "model",
    "report": "results",
    "run": "running",
    "sandboxed": "demo",
}


FROM_AFAR: Final = ("CatalogueError", "PortTaken")
"""Errors of modules that are only there when their command was loaded."""


class Commands(click.Group):
    """Loads a command's module when the command is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        module: Any = importlib.import_module(f"bot.cli.{MODULES[cmd_name]}")
        return next(command for command in module.COMMANDS if command.name == cmd_name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="studyhall", prog_name="studyhall")
def cli() -> None:
    """Studyhall: quiz rounds and grounded answers for study groups on Discord.

    Begin with `studyhall demo`: it needs no Discord account, no token and no GPU.
    """


def main() -> None:
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)  # an int where a command ended with an exit code
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        print("studyhall: stopped", file=sys.stderr)  # noqa: T201  # the command line's own output
        sys.exit(130)
    except Exception as error:  # known failures become one line; anything else is a fault of ours and is raised
        line = one_line(error)
        if line is None:
            raise
        print(f"studyhall: {line}", file=sys.stderr)  # noqa: T201  # the command line's own output
        logging.getLogger("studyhall").debug("in full", exc_info=error)
        sys.exit(2 if isinstance(error, SettingsError) else 1)


def one_line(error: BaseException) -> str | None:
    """What an operator reads of a failure that is nobody's bug; None for one that is."""
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return one_line(inner[0]) if len(inner) == 1 else None
    if isinstance(error, SettingsError | ContentError | EngineError | StoreError | TutorError) or type(error).__name__ in FROM_AFAR:
        return str(error).replace("\n", " ")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        where = f" ({error.filename})" if error.filename else ""
        return f"the disk is full{where}. Free some space and start again; nothing that was acknowledged is lost."
    if isinstance(error, PermissionError):
        return f"{error.filename}: this user may not do that. Give it the right, or choose another path."
    return None
