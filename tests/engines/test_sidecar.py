"""The supervisor of server processes, on small Python programs: crashes, hangs, 503s, back-off, stopping, and dying with the bot."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engines import leash, sidecar
from engines.base import EngineDown
from engines.sidecar import Patience, Program, Sidecar, State, Status, http_probe

QUICK = Patience(
    ready_s=5, poll_s=0.05, unhealthy_polls=2, grace_s=0.5, first_pause_s=0.02, longest_pause_s=0.1, failures=100, settled_s=60
)
FOREVER = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"


class Watched:
    """A sidecar with everything it said, and its health in our hand."""

    def __init__(self, code: str, patience: Patience = QUICK, env: dict[str, str] | None = None) -> None:
        self.said = ""
        self.lines: list[str] = []
        self.history: list[Status] = []
        self.up = asyncio.Event()
        self._waiters: list[tuple[Callable[[], bool], asyncio.Event]] = []
        program = Program("test", (sys.executable, "-c", code), self._probe, env=env or {})
        self.sidecar = Sidecar(program, patience, on_line=self._line, on_change=self._change)

    async def _probe(self) -> str:
        return self.said if self.up.is_set() else "not up yet"

    def _line(self, line: str) -> None:
        self.lines.append(line)
        self.up.set()

    def _change(self, status: Status) -> None:
        if status.state is State.RESTARTING:
            self.up.clear()
        self.history.append(status)
        for ready, event in self._waiters:
            if ready():
                event.set()

    async def until(self, ready: Callable[[], bool]) -> None:
        if ready():
            return
        event = asyncio.Event()
        self._waiters.append((ready, event))
        async with asyncio.timeout(10):
            await event.wait()

    @property
    def states(self) -> list[State]:
        return [status.state for status in self.history]


@asynccontextmanager
async def supervised(code: str, patience: Patience = QUICK, env: dict[str, str] | None = None) -> AsyncIterator[Watched]:
    watched = Watched(code, patience, env)
    watched.sidecar.start()
    try:
        yield watched
    finally:
        async with asyncio.timeout(10):  # a server that cannot be ended must fail the test, not hang it
            await watched.sidecar.stop()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_it_becomes_healthy_passes_lines_on_and_stops() -> None:
    async with supervised(FOREVER) as watched:
        await watched.sidecar.healthy(5)
        pid = watched.sidecar.status.pid
        assert pid is not None
        assert alive(pid)
    assert watched.lines == ["up"]
    assert watched.sidecar.status.state is State.STOPPED
    assert not alive(pid)
    assert watched.states[0] is State.STARTING


async def test_a_crash_is_followed_by_a_restart_until_it_is_healthy_again() -> None:
    async with supervised(FOREVER) as watched:
        for restarts in (1, 2, 3):
            await watched.sidecar.healthy(5)
            pid = watched.sidecar.status.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            await watched.until(lambda restarts=restarts: watched.sidecar.status.restarts == restarts)
        await watched.sidecar.healthy(5)
    assert any("killed by SIGKILL" in status.reason for status in watched.history)


async def test_a_server_that_is_alive_but_unhealthy_is_shown_so_and_then_replaced() -> None:
    async with supervised(FOREVER) as watched:
        await watched.sidecar.healthy(5)
        first = watched.sidecar.status.pid
        watched.said = "its health check answers 503"
        await watched.until(lambda: State.UNHEALTHY in watched.states and watched.sidecar.status.restarts > 0)
        watched.said = ""
        await watched.sidecar.healthy(5)
        assert watched.sidecar.status.pid != first
    assert any("unhealthy for 2 checks" in status.reason for status in watched.history)


async def test_one_bad_health_answer_is_no_reason_to_restart() -> None:
    async with supervised(FOREVER, Patience(poll_s=0.05, unhealthy_polls=1_000, grace_s=0.5)) as watched:
        await watched.sidecar.healthy(5)
        watched.said = "slow"
        await watched.until(lambda: State.UNHEALTHY in watched.states)
        watched.said = ""
        await watched.sidecar.healthy(5)
        assert watched.sidecar.status.restarts == 0


async def test_a_server_that_never_gets_ready_is_replaced_and_its_reason_kept() -> None:
    silent = "import time; time.sleep(600)"
    async with supervised(silent, Patience(ready_s=0.2, poll_s=0.05, grace_s=0.5, first_pause_s=0.02)) as watched:
        await watched.until(lambda: watched.sidecar.status.restarts > 0)
    assert any("not ready after 0.2 s (not up yet)" in status.reason for status in watched.history)


async def test_the_last_words_of_a_program_that_fails_are_its_reason() -> None:
    async with supervised("import sys; print('no such model'); sys.exit(3)") as watched:
        watched.up.set()
        watched.said = "starting"
        await watched.until(lambda: watched.sidecar.status.restarts > 0)
    assert any("exited with status 3 (no such model)" in status.reason for status in watched.history)


async def test_pauses_grow_and_after_many_failures_become_long() -> None:
    patience = Patience(first_pause_s=1, longest_pause_s=5, failures=4, open_s=300)
    sidecar = Sidecar(Program("x", ("true",), http_probe("http://127.0.0.1:9/")), patience)
    assert [sidecar._pause_s(failures) for failures in (1, 2, 3, 4, 5, 50)] == [1, 2, 4, 5, 300, 300]


async def test_a_command_that_does_not_exist_is_a_reason_not_an_exception() -> None:
    watched = Watched(FOREVER)
    watched.sidecar.program = Program("x", ("/no/such/program",), watched._probe)
    watched.sidecar.start()
    await watched.until(lambda: watched.sidecar.status.restarts > 0)
    with pytest.raises(EngineDown, match="not ready after"):
        await watched.sidecar.healthy(0.05)
    await watched.sidecar.stop()


async def test_a_program_that_ignores_sigterm_is_killed_after_the_grace() -> None:
    async with supervised(STUBBORN) as watched:
        await watched.sidecar.healthy(5)
        pid = watched.sidecar.status.pid
    assert pid is not None
    assert not alive(pid)


WITH_HELPER = """
import subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(helper.pid, flush=True)
time.sleep(600)
"""


def ended(pid: int) -> bool:
    """Gone, or a zombie that nobody here is the parent of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").split()[2] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_helpers_of_the_server_end_with_it() -> None:
    async with supervised(WITH_HELPER) as watched:
        await watched.sidecar.healthy(5)
        helper = int(watched.lines[0])
        assert alive(helper)
    async with asyncio.timeout(5):
        while not ended(helper):  # noqa: ASYNC110 - nothing tells us when a process of others is gone
            await asyncio.sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_helpers_that_outlive_the_server_are_ended_before_its_last_words_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidecar, "LAST_WORDS_S", 600.0)  # they hold its output open
    async with supervised(WITH_HELPER) as watched:
        await watched.sidecar.healthy(5)
        helper, server = int(watched.lines[0]), watched.sidecar.status.pid
        assert server
        os.kill(server, signal.SIGKILL)
        await watched.until(lambda: State.RESTARTING in watched.states)
        async with asyncio.timeout(5):
            while not ended(helper):  # noqa: ASYNC110 - nothing tells us when a process of others is gone
                await asyncio.sleep(0.01)


async def test_secrets_go_by_the_environment_and_a_handler_that_raises_does_not_stop_the_reading() -> None:
    watched = Watched(
        "import os, time; print(os.environ['KEY'], flush=True); print('more', flush=True); time.sleep(600)", env={"KEY": "s3"}
    )
    seen: list[str] = []

    def handler(line: str) -> None:
        seen.append(line)
        watched.up.set()
        if line == "s3":
            raise ValueError(line)

    watched.sidecar._on_line = handler
    watched.sidecar.start()
    await watched.sidecar.healthy(5)
    async with asyncio.timeout(5):
        while seen != ["s3", "more"]:  # noqa: ASYNC110 - the pipe is read by the task under test
            await asyncio.sleep(0.01)
    assert "s3" not in " ".join(watched.sidecar.program.command)
    await watched.sidecar.stop()


async def test_starting_and_stopping_twice_is_fine_and_waiting_for_a_stopped_one_fails_at_once() -> None:
    watched = Watched(FOREVER)
    with pytest.raises(EngineDown, match="not started"):
        await watched.sidecar.healthy(60)
    watched.sidecar.start()
    watched.sidecar.start()
    await watched.sidecar.healthy(5)
    await watched.sidecar.stop()
    await watched.sidecar.stop()
    watched.sidecar.start()
    watched.up.set()
    await watched.sidecar.healthy(5)
    await watched.sidecar.stop()


@pytest.mark.parametrize("mode", [pytest.param([], id="kernel"), pytest.param(["--watch"], id="pipe")])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_server_dies_with_a_bot_that_is_killed(mode: list[str]) -> None:
    # The bot is a process that starts the server on a leash, says its pid, and is killed without a chance to clean up.
    server = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    command = [*mode, "PARENT", sys.executable, "-c", server]
    bot = (
        "import os, subprocess, sys, time\n"
        f"command = [str(os.getpid()) if part == 'PARENT' else part for part in {command!r}]\n"
        f"child = subprocess.Popen([sys.executable, '-P', '-S', {leash.__file__!r}, *command], stdin=subprocess.PIPE)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", bot], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert alive(pid)
        process.kill()
        process.wait(5)
        began = time.monotonic()
        assert process.stdout.read() == "", "the pipe closes only when the server is gone too"
        assert time.monotonic() - began < leash.GRACE_S / 2, "it was asked to end, not only killed after the grace"


def test_a_leash_whose_parent_is_already_gone_starts_nothing() -> None:
    done = subprocess.run([sys.executable, leash.__file__, "1", "echo", "started"], capture_output=True, timeout=20, check=False)
    assert done.stdout == b""
    assert done.returncode == 1
