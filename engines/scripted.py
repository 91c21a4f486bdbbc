"""The test engine, shipped so that anyone can test what stands on an engine: it says what its script says.

A script is a sequence of replies, one a call of `stream`, in the order of the calls; a reply is a sequence of steps. It never
invents: when the script runs out it raises `ScriptExhausted`, which is no EngineError, so that no fallback can hide it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Final

from engines.base import DeadlineExceeded, EngineDown, Finish, Health, Prompt, Traits

Step = str | asyncio.Event | BaseException | Finish
"""A piece to say, an event to wait for, an error to raise, or the end. A reply without a Finish ends with a plain one."""

Reply = Sequence[Step]
CUT_OFF: Final = Finish(cut_off=True)


class ScriptExhausted(Exception):
    """The engine was asked more often than its script has replies."""


class ScriptedEngine:
    """`script` is the replies in order, or a function that gives the reply to a prompt and never runs out.

    `prompts`, `warmed` and `stopped` record what was asked, what was warmed, and which prompts were closed before the end.
    """

    def __init__(self, script: Iterable[Reply] | Callable[[Prompt], Reply], *, traits: Traits | None = None) -> None:
        self.traits = traits or Traits(name="scripted", model="script")
        self.prompts: list[Prompt] = []
        self.warmed: list[Prompt] = []
        self.stopped: list[Prompt] = []
        self._script = script if callable(script) else iter(tuple(script))
        self._closed = False

    def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        """As the protocol says; the deadline is real time, and only waiting for an event can use it up."""
        self.prompts.append(prompt)
        if self._closed:
            return self._say(prompt, (EngineDown("scripted", "it was closed", "Make a new one"),), deadline_s)
        if callable(self._script):
            return self._say(prompt, self._script(prompt), deadline_s)
        reply = next(self._script, None)
        if reply is None:
            raise ScriptExhausted(f"question {len(self.prompts)} ({prompt.question!r}) came after the last reply of the script")
        return self._say(prompt, reply, deadline_s)

    async def _say(self, prompt: Prompt, reply: Reply, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        ends_at = asyncio.get_running_loop().time() + deadline_s
        finished = False
        try:
            for step in reply:
                match step:
                    case str():
                        yield step
                    case Finish():
                        finished = True
                        yield step
                        return
                    case BaseException():
                        finished = True
                        raise step
                    case asyncio.Event():
                        try:
                            async with asyncio.timeout_at(ends_at):
                                await step.wait()
                        except TimeoutError:
                            finished = True
                            problem = f"no reply within {deadline_s:g} s"
                            raise DeadlineExceeded("scripted", problem, "Set the event of the script", retryable=True) from None
            finished = True
            yield Finish()
        finally:
            if not finished:
                self.stopped.append(prompt)

    async def warm(self, prompt: Prompt) -> None:
        self.warmed.append(prompt)

    async def health(self) -> Health:
        return Health(not self._closed, "closed" if self._closed else "reads from its script")

    async def aclose(self) -> None:
        self._closed = True
