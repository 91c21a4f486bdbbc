"""Keeps one server process running beside the bot: starts it, asks how it is, restarts it, stops it.

It knows no brand: what to run, how to ask for health and what a log line means are given to it. A server that crashes, hangs,
answers unhealthy for too long or never becomes ready is ended and started again, with growing pauses, and after several
failures in a row with a long one. It never gives up for good and never raises into the bot; how things stand is in `status`.

Stopping is SIGTERM to the whole process group, then SIGKILL. The server also dies with the bot (`engines/leash.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

import aiohttp

from engines import leash
from engines.base import EngineDown

log = logging.getLogger(__name__)

LONGEST_LINE: Final = 4_000  # characters of a log line that are passed on; progress bars can be endless
PROBE_LIMIT_S: Final = 5.0  # a health answer that takes longer counts as none
LAST_WORDS_S: Final = 1.0  # how long the end of the output is waited for

Probe = Callable[[], Awaitable[str]]
"""Asks the server how it is: "" when healthy, else the reason in a few words. Must not raise; takes at most PROBE_LIMIT_S."""


class State(StrEnum):
    STARTING = "starting"
    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"  # runs, but does not answer as it should; restarted if it stays so
    RESTARTING = "restarting"  # not running, waiting for the next attempt
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Status:
    state: State = State.STOPPED
    reason: str = "not started"
    restarts: int = 0  # since start()
    pid: int | None = None

    def __str__(self) -> str:
        return f"{self.state}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is too long. Seconds."""

    ready_s: float = 600.0  # from start to the first healthy answer; a 4-billion model compiles for minutes
    poll_s: float = 2.0  # between two health questions
    unhealthy_polls: int = 5  # in a row, then it is restarted
    grace_s: float = 15.0  # between SIGTERM and SIGKILL
    first_pause_s: float = 1.0  # before the first restart; doubles with each failure in a row
    longest_pause_s: float = 60.0
    failures: int = 5  # in a row; from then on each pause is `open_s`
    open_s: float = 300.0
    settled_s: float = 60.0  # healthy for that long: the next failure counts as the first


@dataclass(frozen=True, slots=True)
class Program:
    name: str  # for messages: "llamacpp"
    command: tuple[str, ...]
    probe: Probe
    env: Mapping[str, str] = field(
        default_factory=lambda: dict[str, str]()
    )  # added to the bot's own; secrets belong here, not in the command
    cwd: Path | None = None
    after_stop: tuple[str, ...] = ()  # run once it is gone, e.g. to remove a container that a killed client left behind


class Sidecar:
    """`on_line` gets every line of the server's output, `on_change` every new status; both are called on the event loop."""

    def __init__(
        self,
        program: Program,
        patience: Patience | None = None,
        *,
        on_line: Callable[[str], None] | None = None,
        on_change: Callable[[Status], None] | None = None,
    ) -> None:
        self.program = program
        self.patience = patience or Patience()
        self.status = Status()
        self._on_line = on_line
        self._on_change = on_change
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._last_line = ""
        self._pump: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to supervise; a second call does nothing."""
        if self._task is None or self._task.done():
            self._set(State.STARTING, "about to start", pid=None)
            self._task = asyncio.create_task(self._supervise(), name=f"sidecar {self.program.name}")

    async def healthy(self, deadline_s: float, *, through_restarts: bool = True) -> None:
        """Wait until it is healthy. Raises EngineDown with the last reason after `deadline_s`, or when nobody started it.

        Without `through_restarts` also as soon as an attempt has failed, for those who have something else to do meanwhile.
        """
        try:
            async with asyncio.timeout(deadline_s):
                while self.status.state is not State.HEALTHY:
                    if self._task is None or self._task.done():
                        raise EngineDown(self.program.name, f"the server is {self.status}", "Start it")
                    if self.status.state is State.RESTARTING and not through_restarts:
                        raise EngineDown(self.program.name, f"the server is {self.status}", "It is tried again by itself", retryable=True)
                    changed = self._changed
                    await changed.wait()
        except TimeoutError:
            problem = f"the server is not ready after {deadline_s:g} s ({self.status})"
            raise EngineDown(self.program.name, problem, "Wait, or look at its log", retryable=True) from None

    async def stop(self) -> None:
        """End the server and the supervision; done when the process is gone. Calling it twice is fine."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])  # not gather: our own cancellation must not be mistaken for the task's
        if self.status.state is not State.STOPPED:
            self._set(State.STOPPED, "stopped on request", pid=None)

    def _set(self, state: State, reason: str, *, pid: int | None, restarts: int | None = None) -> None:
        status = Status(state, reason, self.status.restarts if restarts is None else restarts, pid)
        if status == self.status:
            return
        if status.state is not self.status.state:
            log.info("%s: %s", self.program.name, status)
        self.status = status
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        if self._on_change is not None:
            self._on_change(status)

    async def _supervise(self) -> None:
        failures = 0
        loop = asyncio.get_running_loop()
        while True:
            healthy_at: float | None = None
            process: Process | None = None
            try:
                self._last_line = ""
                process = await self._spawned()
                self._pump = asyncio.create_task(_pump(process, self._line))
                self._set(State.STARTING, "started, not ready yet", pid=process.pid)
                reason = await self._until_ready(process)
                if not reason:
                    healthy_at = loop.time()
                    reason = await self._until_sick(process)
            except OSError as error:
                reason = f"cannot be started: {error.strerror or error}"
            finally:
                if process is not None:
                    await self._end(process)
            settled = healthy_at is not None and loop.time() - healthy_at >= self.patience.settled_s
            failures = 1 if settled else failures + 1
            pause = self._pause_s(failures)
            self._set(State.RESTARTING, f"{reason}; next attempt in {pause:g} s", pid=None, restarts=self.status.restarts + 1)
            await asyncio.sleep(pause)

    def _pause_s(self, failures: int) -> float:
        if failures > self.patience.failures:
            return self.patience.open_s
        return min(self.patience.longest_pause_s, self.patience.first_pause_s * 2 ** (failures - 1))

    async def _spawned(self) -> Process:
        command = (sys.executable, "-P", "-S", leash.__file__, str(os.getpid()), *self.program.command)
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,  # held open: its end is how the leash learns of our death where the kernel does not tell
            stdout=PIPE,
            stderr=STDOUT,
            env={**os.environ, **self.program.env},
            cwd=self.program.cwd,
            start_new_session=True,  # a group of its own: Ctrl-C is ours, and helpers it starts end with it
        )

    def _line(self, line: str) -> None:
        self._last_line = line
        if self._on_line is not None:
            try:
                self._on_line(line)
            except Exception:
                log.exception("%s: a log line could not be handled: %r", self.program.name, line)  # the next ones still must be read

    async def _until_ready(self, process: Process) -> str:
        """ "" once healthy, else why this attempt is over."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self.patience.ready_s
        while True:
            if gone := await self._gone_within(process, 0):
                return gone
            said = await self._asked()
            if not said:
                self._set(State.HEALTHY, "answers", pid=process.pid)
                return ""
            if loop.time() >= ends_at:
                return f"not ready after {self.patience.ready_s:g} s ({said})"
            self._set(State.STARTING, said, pid=process.pid)
            if gone := await self._gone_within(process, min(self.patience.poll_s, 0.25)):
                return gone

    async def _until_sick(self, process: Process) -> str:
        """Why it has to be restarted, once it has to be."""
        bad = 0
        while True:
            if gone := await self._gone_within(process, self.patience.poll_s):
                return gone
            said = await self._asked()
            if not said:
                bad = 0
                self._set(State.HEALTHY, "answers", pid=process.pid)
                continue
            bad += 1
            self._set(State.UNHEALTHY, said, pid=process.pid)
            if bad >= self.patience.unhealthy_polls:
                return f"unhealthy for {bad} checks ({said})"

    async def _asked(self) -> str:
        try:
            async with asyncio.timeout(PROBE_LIMIT_S + 1):
                return await self.program.probe()
        except TimeoutError:
            return f"no health answer within {PROBE_LIMIT_S:g} s"

    async def _gone_within(self, process: Process, seconds: float) -> str:
        """How it ended, if it does within that time, else ""."""
        if process.returncode is None and seconds > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await process.wait()
        code = process.returncode
        if code is None:
            return ""
        _signal_group(process.pid, signal.SIGKILL)  # helpers that outlive it would go on answering, and hold its port and its memory
        await self._last_words()
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"
        return f"{how} ({self._last_line[:160]})" if self._last_line else how

    async def _last_words(self) -> None:
        """Read what the process wrote before it went; a helper in a session of its own may hold the pipe open, so not for long."""
        if self._pump is not None:
            await asyncio.wait([self._pump], timeout=LAST_WORDS_S)

    async def _end(self, process: Process) -> None:
        """SIGTERM, a grace, SIGKILL; shielded, because it also runs while the supervision is being cancelled."""
        await asyncio.shield(asyncio.ensure_future(self._ended(process)))

    async def _ended(self, process: Process) -> None:
        if process.returncode is None:
            _signal_group(process.pid, signal.SIGTERM)
            try:
                async with asyncio.timeout(self.patience.grace_s):
                    await process.wait()
            except TimeoutError:
                log.warning("%s: still there %g s after SIGTERM, killed", self.program.name, self.patience.grace_s)
        _signal_group(process.pid, signal.SIGKILL)  # also whatever it left behind in its group
        await process.wait()
        await self._last_words()
        if self._pump is not None:
            self._pump.cancel()
        if process.stdin is not None:
            process.stdin.close()
        if self.program.after_stop:
            with contextlib.suppress(OSError, TimeoutError):
                cleaner = await asyncio.create_subprocess_exec(*self.program.after_stop, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
                async with asyncio.timeout(self.patience.grace_s):
                    await cleaner.wait()


def http_probe(url: str) -> Probe:
    """Healthy is status 200 within the limit. A server that is alive and answers 503 is not healthy."""

    async def probe() -> str:
        try:
            timeout = aiohttp.ClientTimeout(total=PROBE_LIMIT_S)
            async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as response:
                return "" if response.status == 200 else f"its health check answers {response.status}"
        except TimeoutError:
            return f"no health answer within {PROBE_LIMIT_S:g} s"
        except aiohttp.ClientError as error:
            return f"no connection ({type(error).__name__})"

    return probe


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


async def _pump(process: Process, on_line: Callable[[str], None]) -> None:
    assert process.stdout is not None, "started with a pipe"
    rest = b""
    while block := await process.stdout.read(65_536):
        *lines, rest = (rest + block.replace(b"\r", b"\n")).split(b"\n")
        rest = rest[-LONGEST_LINE:]
        for line in lines:
            if text := line.decode("utf-8", "replace").strip():
                on_line(text[:LONGEST_LINE])
