"""What the engines do, for Prometheus: who waited how long, how soon the first word came, how fast, what was cached, what failed.

`Metrics` is an observer of `AdmittedEngine`; `served` puts its figures on a port, on this machine only unless told otherwise. No
figure carries a learner, a guild or a word of a question: labels are an engine's name and how a reply ended, a handful of values.

The share of prompt tokens that came from a cache is the rate of `studyhall_cached_prompt_tokens_total` over that of
`studyhall_prompt_tokens_total`.

Errors: `EngineError` when the port cannot be used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from engines.admission import Observation
from engines.base import EngineError

# Seconds. A first word comes in 0.02 (a GPU, a known guide) to 60 (a CPU, a new one); beyond that deadlines end it.
WAITS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# Tokens per second of one reply: a person reads about 5, two CPU cores write 7, a GPU for one learner 450.
SPEEDS: Final = (1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0)


class Queue(Protocol):
    """What `AdmittedEngine` tells of its queue at any time."""

    @property
    def running(self) -> int: ...
    @property
    def waiting(self) -> int: ...


class Metrics:
    """Give it to `AdmittedEngine(observe=…)`, and the engine to `watch`. One for the process; `registry` is for tests."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        made = self.registry
        self._ended = Counter(
            "studyhall_questions",
            "Questions that are over, by how: done, cut_off, left, or the error.",
            ("engine", "outcome"),
            registry=made,
        )
        self._waited = Histogram("studyhall_wait_seconds", "Until a question's turn came.", ("engine",), buckets=WAITS, registry=made)
        self._first = Histogram(
            "studyhall_first_word_seconds", "From a question's arrival to its first word.", ("engine",), buckets=WAITS, registry=made
        )
        self._whole = Histogram(
            "studyhall_answer_seconds", "From a question's arrival to the end of its answer.", ("engine",), buckets=WAITS, registry=made
        )
        self._speed = Histogram(
            "studyhall_reply_tokens_per_second", "Of one reply, after its first word.", ("engine",), buckets=SPEEDS, registry=made
        )
        self._prompt = Counter("studyhall_prompt_tokens", "Tokens of prompts, where the engine counts them.", ("engine",), registry=made)
        self._cached = Counter("studyhall_cached_prompt_tokens", "Of these, those a prefix cache held.", ("engine",), registry=made)
        self._new = Counter("studyhall_new_tokens", "Tokens written.", ("engine",), registry=made)
        self._running = Gauge("studyhall_replies_running", "Replies being written now.", registry=made)
        self._waiting = Gauge("studyhall_questions_waiting", "Questions waiting for their turn now.", registry=made)

    def __call__(self, seen: Observation) -> None:
        """One question is over."""
        self._ended.labels(seen.engine, seen.outcome).inc()
        self._waited.labels(seen.engine).observe(seen.waited_s)
        self._prompt.labels(seen.engine).inc(seen.prompt_tokens or 0)
        self._cached.labels(seen.engine).inc(seen.cached_tokens or 0)
        self._new.labels(seen.engine).inc(seen.new_tokens or 0)
        if seen.first_s is None:
            return  # it was refused, or ended before its first word
        self._first.labels(seen.engine).observe(seen.first_s)
        if seen.outcome not in ("done", "cut_off"):
            return  # how long a broken reply took says nothing about answers
        self._whole.labels(seen.engine).observe(seen.total_s)
        writing_s = seen.total_s - seen.first_s
        if seen.new_tokens and seen.new_tokens > 1 and writing_s > 0:
            self._speed.labels(seen.engine).observe((seen.new_tokens - 1) / writing_s)

    def watch(self, queue: Queue) -> None:
        """The two gauges show this queue, read when somebody asks."""
        self._running.set_function(lambda: queue.running)
        self._waiting.set_function(lambda: queue.waiting)


def served(metrics: Metrics, port: int, *, host: str = "127.0.0.1") -> Callable[[], None]:
    """Answer GET /metrics on this port from a thread of its own, until the function that is returned is called.

    Raises EngineError when the port cannot be used. There is no key: keep `host` on loopback or a private network.
    """
    try:
        server, thread = start_http_server(port, addr=host, registry=metrics.registry)
    except (OSError, OverflowError) as error:
        raise EngineError("metrics", f"{host}:{port} cannot be used ({error})", "Set another metrics_port, or none") from error

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)

    return close
