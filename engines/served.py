"""A model server that we start and watch, used over HTTP: trtllm-serve, vLLM, or any other that speaks the OpenAI protocol.

It joins the supervisor and the client and adds what only both together can see: a server that answers its health check and
has stopped writing. While the server is not healthy every question fails at once, so that the caller can quote the guide; it
never queues and never starts a second server.

Errors: those of `engines.base`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Final

from engines.base import EngineDown, Finish, Health, Prompt, Traits
from engines.openai_http import HEALTH_PATH, Flavour, OpenAIEngine, Server
from engines.sidecar import Patience, Probe, Program, Sidecar, State, Status, http_probe
from engines.trtllm import Launch

HANG_S: Final = 60.0  # with somebody waiting and not one word for anybody; a full prefill batch takes seconds
PATIENCE: Final = Patience(ready_s=1_800.0)  # the first start fetches gigabytes and tunes kernels for minutes

# Words in a server's log that say how far its start has come. A hint for a progress line and no more: readiness is asked.
PHASES: Final = (
    ("ready", ("application startup complete", "uvicorn running", "server is ready")),
    ("warming up", ("autotun", "warm-up", "warmup", "warming up", "cuda graph", "capturing", "compil")),
    ("loading weights", ("loading weights", "load weights", "loading model", "loading checkpoint", "safetensors", "prefetching")),
    ("downloading", ("downloading", "fetching", "pulling", "download complete")),
)


def phase(line: str) -> str | None:
    """How far a start is, from one line of log; None when the line does not say."""
    lower = line.casefold()
    return next((name for name, words in PHASES if any(word in lower for word in words)), None)


class ServedEngine:
    """`program.probe` is replaced by one that also notices a hang. Starts at `start` or at the first question."""

    def __init__(
        self,
        program: Program,
        server: Server,
        *,
        traits: Traits | None = None,
        count: Callable[[str], int] | None = None,
        patience: Patience = PATIENCE,
        hang_s: float = HANG_S,
        on_line: Callable[[str], None] | None = None,
        on_change: Callable[[Status], None] | None = None,
    ) -> None:
        self.client = OpenAIEngine(server, traits=traits, count=count)
        self.traits = self.client.traits
        self.phase: str | None = None
        self._asked = program.probe
        self._hang_s = hang_s
        self._waiting = 0
        self._moved_at = 0.0  # loop time of the last word for anybody, or of the last time nobody waited
        self._on_line = on_line
        self._on_change = on_change
        self._closed = False
        watched = Program(program.name, program.command, self._probe, program.env, program.cwd, program.after_stop)
        self.sidecar = Sidecar(watched, patience, on_line=self._line, on_change=self._changed)

    async def start(self, deadline_s: float) -> None:
        """Start the server and wait until it is healthy. Raises EngineDown; the attempts go on even then."""
        self._begin()
        await self.sidecar.healthy(deadline_s)

    @property
    def status(self) -> Status:
        return self.sidecar.status

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        if self.sidecar.status.state is not State.HEALTHY:
            self._begin()
            raise EngineDown(self.traits.name, f"the model server is {self.sidecar.status}", "It comes back by itself", retryable=True)
        now = asyncio.get_running_loop().time
        if self._waiting == 0:
            self._moved_at = now()
        self._waiting += 1
        replies = self.client.stream(prompt, max_tokens=max_tokens, deadline_s=deadline_s)
        try:
            async for piece in replies:
                self._moved_at = now()
                yield piece
        finally:
            self._waiting -= 1
            await replies.aclose()

    async def warm(self, prompt: Prompt) -> None:
        if self.sidecar.status.state is State.HEALTHY:
            await self.client.warm(prompt)

    async def health(self) -> Health:
        status = self.sidecar.status
        return Health(status.state is State.HEALTHY, f"{status} ({self.phase})" if self.phase and status.pid else str(status))

    async def aclose(self) -> None:
        self._closed = True
        await self.sidecar.stop()
        await self.client.aclose()

    def _begin(self) -> None:
        if self._closed:
            raise EngineDown(self.traits.name, "it was closed", "Make a new one")
        self.sidecar.start()

    async def _probe(self) -> str:
        said = await self._asked()
        silent_s = asyncio.get_running_loop().time() - self._moved_at
        if not said and self._waiting and silent_s > self._hang_s:
            return f"not a word for {silent_s:.0f} s while {self._waiting} wait"
        return said

    def _line(self, line: str) -> None:
        self.phase = phase(line) or self.phase
        if self._on_line is not None:
            self._on_line(line)

    def _changed(self, status: Status) -> None:
        if status.state is State.RESTARTING:
            self.phase = None
            self._moved_at = asyncio.get_running_loop().time()
        if self._on_change is not None:
            self._on_change(status)


def program_of(launch: Launch, name: str = "trtllm") -> Program:
    """What a planned launch is to the supervisor."""
    root = launch.base_url.removesuffix("/v1")
    probe: Probe = http_probe(root + HEALTH_PATH[Flavour.TRTLLM])
    return Program(name, launch.command, probe, env=launch.env, after_stop=launch.after_stop)


def served_trtllm(
    launch: Launch,
    config_path: Path,
    traits: Traits,
    *,
    thinking: bool = False,
    count: Callable[[str], int] | None = None,
    on_line: Callable[[str], None] | None = None,
    on_change: Callable[[Status], None] | None = None,
) -> ServedEngine:
    """Writes the planned YAML and gives the engine that runs the planned command; nothing is started yet. Raises EngineDown."""
    try:
        config_path.parent.mkdir(parents=True, exist_ok=True)
        config_path.write_text(launch.yaml, "utf-8")
    except OSError as error:
        raise EngineDown("trtllm", f"{config_path} cannot be written ({error.strerror})", "Choose another place for it") from error
    server = Server(launch.base_url, launch.served_name, Flavour.TRTLLM, thinking=thinking)
    return ServedEngine(program_of(launch), server, traits=traits, count=count, on_line=on_line, on_change=on_change)
