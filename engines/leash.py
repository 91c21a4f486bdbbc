"""Starts a program that must not outlive the one that started it: `python leash.py PARENT_PID COMMAND…`.

On Linux it asks the kernel for SIGTERM when the parent dies and then becomes the program, so no process is added. Elsewhere
(or with `--watch` first) it stays, reads its stdin, and ends the program when that pipe closes, which it does when the parent
is gone however it went. Runs by path, imports only the standard library, prints nothing.

The kernel's signal comes when the *thread* that started the program ends: start servers from a thread that lives as long as
the bot (the event loop's).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from typing import Final

PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
GRACE_S: Final = 10.0  # between SIGTERM and SIGKILL when the parent is gone and nobody else will do it


def main(arguments: list[str]) -> int:
    watch = arguments[:1] == ["--watch"]
    parent, *command = arguments[watch:]
    if not watch and sys.platform == "linux" and ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM) == 0:
        if os.getppid() != int(parent):
            return 1  # it died before the request was made, and no signal will come
        os.execvp(command[0], command)
    return watched(command)


def watched(command: list[str]) -> int:
    """The program's exit status; ends it when stdin closes or on SIGTERM."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda _number, _frame: process.terminate())

    def wait_for_parent() -> None:
        while os.read(0, 4096):
            pass
        process.terminate()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()

    threading.Thread(target=wait_for_parent, daemon=True).start()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
