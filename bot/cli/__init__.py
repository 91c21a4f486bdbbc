"""The command line. Exit codes: 0 fine, 1 found problems, 2 wrong use. Every foreseeable failure is one line on stderr.

This package is the composition root: the only place that builds an engine, a store, a tutor and a client and puts them
together (`compose`). Each module holds the commands of one subject.
"""

from __future__ import annotations

import errno
import logging
import sys

import click

from bot.cli import answers, benchmarks, demo, library, manual, model, running
from bot.sandbox.wire import PortTaken
from bot.settings import SettingsError
from content.model import ContentError
from engines.base import EngineError
from engines.catalogue import CatalogueError
from tutor.errors import StoreError, TutorError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="studyhall", prog_name="studyhall")
def cli() -> None:
    """Studyhall: quiz rounds and grounded answers for study groups on Discord.

    Begin with `studyhall demo`: it needs no Discord account, no token and no GPU.
    """


for module in (demo, running, answers, library, model, benchmarks, manual):
    for command in module.COMMANDS:
        cli.add_command(command)


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
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # group of anything
        return one_line(error.exceptions[0])  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    if isinstance(error, SettingsError | ContentError | CatalogueError | EngineError | StoreError | TutorError | PortTaken):
        return str(error).replace("\n", " ")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        where = f" ({error.filename})" if error.filename else ""
        return f"the disk is full{where}. Free some space and start again; nothing that was acknowledged is lost."
    if isinstance(error, PermissionError):
        return f"{error.filename}: this user may not do that. Give it the right, or choose another path."
    return None
