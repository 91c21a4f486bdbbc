"""How much of a GPU a model takes, and how many learners then fit at once: plain arithmetic, nothing is asked or run.

The sums are upper bounds of memory, not of speed: whether the GPU is quick enough for so many is a measurement
(docs/engines.md). What a server keeps for itself is an assumption that is printed with the result; the server's own log has
the real size of its pool.

Errors: `DoesNotFit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engines.base import EngineError
from engines.catalogue import Card, Catalogue

GIB: Final = 1 << 30
CONTEXT_BYTES: Final = 1 * GIB  # CUDA context, libraries, allocator slack; assumed
ACTIVATION_BYTES: Final = 1 * GIB  # one step of 8,192 prompt tokens on a model of up to 8 billion; assumed
GRAPH_BYTES: Final = 200 << 20  # per recorded batch size, the upper end that NVIDIA's documentation names
BLOCK_TOKENS: Final = 32  # trtllm-serve's default page; vLLM's 16 would waste a little less
MOST_AT_ONCE: Final = 256  # beyond it our measurements show longer waits and hardly more words
LONGEST_SEQUENCE: Final = 8_192  # tokens; a model that allows 262,144 would otherwise size everything for that


class DoesNotFit(EngineError):
    """The model leaves no room for a single learner on this GPU."""


@dataclass(frozen=True, slots=True)
class Load:
    """What learners do. Tokens. A guide is held once for all who ask about it; the rest is each one's own."""

    guide_tokens: int = 2_000
    guides: int = 5  # in use at the same time
    question_tokens: int = 100  # with the template's marks and the last turns
    reply_tokens: int = 160

    @property
    def own_tokens(self) -> int:
        return self.question_tokens + self.reply_tokens


@dataclass(frozen=True, slots=True)
class Capacity:
    """Bytes are for one GPU of `gpus`; tokens and learners for all together."""

    model: str
    gpus: int
    gpu_bytes: int
    weight_bytes: int
    reserved_bytes: int
    pool_bytes: int
    kv_bytes_per_token: int  # on each GPU
    pool_tokens: int
    learners: int  # at once, the guides shared
    learners_unshared: int  # the same if every learner held a guide of their own
    batch: int  # most requests in one step
    sequence_tokens: int  # longest prompt and reply together


def capacity(
    card: Card,
    gpu_bytes: int,
    catalogue: Catalogue,
    *,
    gpus: int = 1,
    memory_share: float = 0.9,
    kv_bytes: int = 2,
    load: Load | None = None,
) -> Capacity:
    """Raises DoesNotFit, with a model of the catalogue that would fit. `kv_bytes` per value: 2, or 1 for an FP8 cache."""
    load = load or Load()
    if gpus < 1 or gpu_bytes <= 0 or not 0 < memory_share < 1 or kv_bytes not in (1, 2):
        raise ValueError("gpus and gpu_bytes are above 0, memory_share is between 0 and 1, kv_bytes is 1 or 2")
    sums = _sums(card, gpu_bytes, gpus, memory_share, kv_bytes, load)
    if sums.learners >= 1:
        return sums
    smaller = [
        other.id
        for other in sorted(catalogue.cards.values(), key=lambda other: -other.weight_bytes)
        if other.weight_bytes < card.weight_bytes and _sums(other, gpu_bytes, gpus, memory_share, kv_bytes, load).learners >= 1
    ]
    needed = (sums.weight_bytes + sums.reserved_bytes) / GIB
    problem = f"{card.id} needs {needed:.1f} GiB before the first learner, the GPU has {gpu_bytes / GIB:.1f} GiB"
    remedy = f"Use {smaller[0]}, or a larger GPU" if smaller else "Use a larger GPU, or the embedded engine on the CPU"
    raise DoesNotFit("capacity", problem, remedy)


def _sums(card: Card, gpu_bytes: int, gpus: int, memory_share: float, kv_bytes: int, load: Load) -> Capacity:
    weights = -(-card.weight_bytes // gpus)
    kv = -(-card.kv_bytes_per_token * kv_bytes // 2 // gpus)
    sequence = min(LONGEST_SEQUENCE, card.context_tokens)
    batch = MOST_AT_ONCE
    while True:
        reserved = CONTEXT_BYTES + ACTIVATION_BYTES + GRAPH_BYTES * len(graph_sizes(batch))
        pool = int(max(0, gpu_bytes - weights - reserved) * memory_share)
        tokens = pool // kv // BLOCK_TOKENS * BLOCK_TOKENS
        own = _blocks(load.own_tokens)
        shared = (tokens - load.guides * _blocks(load.guide_tokens)) // own
        alone = tokens // _blocks(load.guide_tokens + load.own_tokens)
        learners = max(0, shared)
        if batch <= max(1, learners) or batch == 1:  # fewer at once need fewer recorded graphs, which leaves more for the pool
            break
        batch //= 2
    return Capacity(
        model=card.id,
        gpus=gpus,
        gpu_bytes=gpu_bytes,
        weight_bytes=weights,
        reserved_bytes=reserved,
        pool_bytes=pool,
        kv_bytes_per_token=kv,
        pool_tokens=tokens,
        learners=learners,
        learners_unshared=max(0, alone),
        batch=batch,
        sequence_tokens=max(BLOCK_TOKENS, min(sequence, tokens)),
    )


def graph_sizes(batch: int) -> tuple[int, ...]:
    """Batch sizes worth a recorded graph: with padding a batch of 5 runs as one of 8, so powers of two are enough."""
    sizes = [1]
    while sizes[-1] < batch:
        sizes.append(min(batch, sizes[-1] * 2))
    return tuple(sizes)


def _blocks(tokens: int) -> int:
    return -(-tokens // BLOCK_TOKENS) * BLOCK_TOKENS
