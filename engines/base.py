"""The one seam to whatever writes an answer: nothing above it knows which engine that is.

An engine gets a `Prompt` and streams text pieces, then one `Finish`. Closing the stream early cancels the work. A model
engine reads `messages`; the quoting engine reads `question` and `passages`, which say the same in structure.
This module imports no serving library.

Errors: `EngineError`; its subclasses `EngineBusy`, `EngineDown`, `DeadlineExceeded`, `PromptTooLong` say what happened.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

NOT_IN_GUIDE: Final = "NOT_IN_GUIDE"
"""What an engine answers, and nothing else, when the passages do not hold the answer."""


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A guide section offered as evidence. `tag` is what a citation names: "S1"."""

    tag: str
    title: str
    text: str
    nearest: str = ""  # the sentence of it that is nearest to the question in meaning, where that is known


@dataclass(frozen=True, slots=True)
class Probe:
    """A yes-or-no question that is put before the reply is begun, in the place of the last message: may this be answered at all?

    An engine that can weigh words (`Traits.answerable_from`) replies NOT_IN_GUIDE, and a Finish that is `declined`, where the share
    of "yes" in "yes or no" is under `least`. Another engine takes no notice of it.
    """

    text: str  # like the last message up to its last line, so that the prefix cache holds nearly all of both
    least: float  # 0..1


@dataclass(frozen=True, slots=True)
class Prompt:
    """A chat, longest shared part first, so that a server's prefix cache holds it.

    `messages[:stable]` are byte-for-byte the same for every learner of the guide; `warm` takes just that part.
    """

    messages: tuple[Message, ...]
    question: str
    passages: tuple[Passage, ...]
    language: str = "en"
    stable: int = 1
    learner: int | None = None  # whose question it is, for fair turns; no engine passes it on
    probe: Probe | None = None
    grammar: str = ""  # what a reply may look like, in EBNF as xgrammar and llama.cpp read it; for engines that can hold a model to it


@dataclass(frozen=True, slots=True)
class Finish:
    """The last thing a stream gives. Counts are tokens; None where the engine has none to count."""

    cut_off: bool = False  # the token limit ended it, not the model
    quoted: bool = False  # no model wrote this: it is the passages' own words
    declined: bool = False  # the probe said that this cannot be answered, and nothing was written
    prompt_tokens: int | None = None
    cached_tokens: int | None = None  # of prompt_tokens, how many the prefix cache held
    new_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Health:
    ok: bool
    detail: str = ""  # for the operator: what is wrong, or what is being waited for


@dataclass(frozen=True, slots=True)
class Traits:
    """What callers may know about an engine, and no more."""

    name: str  # "quoting", "llamacpp", …: for settings and status lines
    model: str | None = None  # what writes the text; None: nothing does, the guide is quoted
    context_tokens: int = 8_192  # prompt and reply together, per request
    max_tokens: int = 160  # the longest reply that makes sense on this engine
    languages: frozenset[str] | None = None  # that the model writes well enough; None: all
    whole_guide: bool = False  # a cached prefix is cheap enough to send every section
    answerable_from: Mapping[str, float] = field(default_factory=lambda: dict[str, float]())
    """Language -> the `Probe.least` that was measured for this model; a language that is not there is not probed."""

    def writes(self, language: str) -> bool:
        """Whether its model writes this language, of whatever region, well enough to be shown."""
        return self.languages is None or language.partition("-")[0] in self.languages


class EngineError(Exception):
    """An engine failed. `retryable` says whether the same prompt may be sent once more."""

    def __init__(self, engine: str, problem: str, remedy: str, *, retryable: bool = False) -> None:
        super().__init__(f"{engine}: {problem}. {remedy}.")
        self.engine = engine
        self.problem = problem
        self.remedy = remedy
        self.retryable = retryable


class EngineDown(EngineError):
    """Nothing answers: not started, crashed, or closed."""


class EngineBusy(EngineError):
    """The queue is full; the same prompt may be sent later."""


class DeadlineExceeded(EngineError):
    """The deadline passed before the reply was complete."""


class PromptTooLong(EngineError):
    """The prompt does not fit the context; the same prompt never will."""


class Engine(Protocol):
    """What every engine does; `tests/engine_contract.py` holds all of them to it."""

    @property
    def traits(self) -> Traits: ...

    def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        """Yield pieces of whole characters in order, then exactly one Finish.

        Raises EngineError. `aclose()` on the iterator (or cancelling the task that reads it) stops the work and frees its slot.
        `deadline_s` counts from the call, queueing included.
        """
        ...

    async def warm(self, prompt: Prompt) -> None:
        """Make the stable part of the prompt cheap, if the engine can; a hint that never fails the caller."""
        ...

    async def health(self) -> Health: ...

    async def aclose(self) -> None:
        """Stop and release everything; calling it twice is fine."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors, so that texts of like meaning lie close, also across languages. Blocking."""

    @property
    def id(self) -> str:
        """Names the model and its version: vectors of two ids are never compared."""
        ...

    @property
    def at_once(self) -> int:
        """How many calls run beside each other; more of them would only wait."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
        """One vector per text: little-endian float32, of length 1. A question is embedded otherwise than what answers it."""
        ...
