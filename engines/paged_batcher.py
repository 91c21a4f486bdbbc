"""Everything of the `paged` engine that touches PyTorch and transformers: weights, tokenizer, attention, the batching thread.

Both libraries are imported when a batcher is made, never before, so that the engine can be named, configured and tested where they
are not installed. It knows nothing of learners, deadlines or turns: that is `engines.paged`.

Weights are a folder that transformers can read, or one GGUF file. A GGUF file is unpacked once, to 16-bit weights in a folder
of its own, because reading it takes minutes each time and the result is what the GPU wants anyway.

Errors: `EngineDown` for what cannot be loaded.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from queue import Empty
from threading import Thread
from typing import Any, Final, Literal

from engines.base import EngineDown, Message

log = logging.getLogger(__name__)

NAME: Final = "paged"
ATTENTION: Final = "paged|studyhall_flash_2"  # "flash" and "2" in it: that is how transformers decides on graphs and page tables
REMEDY: Final = "Install Studyhall with its extra: pip install 'studyhall[gpu]'"
QUERY_STEP: Final = 256  # tokens of a step with prompts, rounded up to a multiple
# Cached tokens that such a step reads, rounded up too. Those that are none are copied all the same, and each shape costs 0.1 s once:
# powers of two for the few who ask alone, coarse multiples for a crowd.
CACHE_LEAST: Final = 8_192
CACHE_STEP: Final = 131_072
SHORTEST_RECORDED: Final = 1_024
KNOWN_HEADS: Final = 64  # guides whose tokens are remembered; a long one is 400 KB of them
STOP_S: Final = 10.0  # a step takes milliseconds on a GPU; the first ones compile


@dataclass(frozen=True, slots=True)
class Settings:
    """How the batch is set up. Tokens, unless said otherwise. The defaults were measured on an H200 (docs/h200-log.md)."""

    context_tokens: int = 8_192  # of one question, prompt and reply together
    running: int = 256  # replies in one step
    waiting: int = 1_024  # replies that wait for blocks or for their guide; beyond it the engine is busy
    max_tokens: int = 160  # per reply
    block_tokens: int = 64  # a page of the cache: prefixes are shared in whole pages
    cache_tokens: int | None = None  # the pool; None: what memory_share allows
    memory_share: float = 0.8  # of the memory that is free once the weights are loaded
    batch_tokens: int = 4_096  # of one step: a longer prompt is read in pieces, and the others get a word in between
    attention: Literal["auto", "flash", "sdpa"] = "auto"
    overlap: bool = True  # prepare the next step while the GPU computes; only where there are recorded graphs
    thinking: bool = False  # the chat template has the switch `enable_thinking`, to be turned off

    def __post_init__(self) -> None:
        least = min(self.context_tokens, self.running, self.waiting + 1, self.max_tokens, self.batch_tokens)
        if least < 1 or self.block_tokens < 4 or not 0 < self.memory_share < 1:
            raise ValueError("tokens and replies are at least 1, block_tokens at least 4, memory_share is between 0 and 1")
        if self.cache_tokens is not None and self.cache_tokens < self.block_tokens:
            raise ValueError(f"cache_tokens {self.cache_tokens} hold no block of {self.block_tokens} tokens. Raise them")


@dataclass(frozen=True, slots=True)
class Progress:
    """What a reply is so far. `tokens` are all new ones since its start."""

    tokens: Sequence[int]
    finished: bool
    error: str | None = None
    cached_tokens: int | None = None  # of the prompt, how many were there already


class Batcher:
    """A model with its batching thread. Makes: weights on the device, a pool of pages, recorded graphs where they pay. Blocking."""

    def __init__(self, source: Path, settings: Settings) -> None:
        self.settings = settings
        try:
            self._torch: Any = import_module("torch")
            transformers: Any = import_module("transformers")
            tokenizers: Any = import_module("tokenizers")
        except ImportError as error:
            raise EngineDown(NAME, f"{error.name} is not installed", REMEDY) from error
        self._decode_stream: Any = tokenizers.decoders.DecodeStream
        self._cached: dict[str, int] = {}
        self._heads: dict[tuple[Message, ...], _Head] = {}
        try:
            folder = unpacked(source, self._torch, transformers)
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(str(folder))
            self._model: Any = self._loaded(folder, transformers)
            self.ends = self._end_tokens()
            self._manager: Any = self._made(transformers)
        except EngineDown:
            raise
        except Exception as error:
            raise EngineDown(NAME, f"{source} cannot be used ({_line(error)})", "Check the model path and the GPU's free memory") from error
        self.blocks: int = self._manager.batch_processor.cache.num_blocks

    @property
    def device(self) -> str:
        """For status lines: the GPU's name, or the CPU."""
        return self._torch.cuda.get_device_name() if self._torch.cuda.is_available() else "the CPU"

    def _loaded(self, folder: Path, transformers: Any) -> Any:
        torch = self._torch
        if not torch.cuda.is_available():
            # Without bf16 units its arithmetic is emulated, which was measured at a fifth of the speed.
            return transformers.AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32, attn_implementation="paged|sdpa")
        dtype = torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
        model = transformers.AutoModelForCausalLM.from_pretrained(str(folder), dtype=dtype, attn_implementation="paged|sdpa")
        model = model.to("cuda")
        if self.settings.attention != "sdpa" and (problem := self._flash_problem(model)):
            if self.settings.attention == "flash":
                raise EngineDown(NAME, f"flash attention cannot be used: {problem}", "Set attention to auto")
            log.warning("paged: attention over a dense mask, which is slow with many learners: %s", problem)
        elif self.settings.attention != "sdpa":
            use_flash(model)
        return model

    def _flash_problem(self, model: Any) -> str:
        """Why the quick attention cannot be used here; nothing if it can."""
        config = model.config.get_text_config()
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        if self._torch.cuda.get_device_capability() < (8, 0):
            return "the GPU is older than Ampere"
        if width & (width - 1) or width > 256:
            return f"heads of {width} values are no power of two up to 256"
        if any(kind != "full_attention" for kind in getattr(config, "layer_types", None) or ()):
            return "the model has layers with a sliding window"
        try:
            import_module("engines.paged_kernel")
        except ImportError as error:
            return f"{error.name} is not installed"
        return ""

    def _end_tokens(self) -> frozenset[int]:
        ends = self._model.generation_config.eos_token_id
        found = {ends} if isinstance(ends, int) else set(ends or ())
        if self._tokenizer.eos_token_id is not None:
            found.add(self._tokenizer.eos_token_id)
        return frozenset(found)

    def _made(self, transformers: Any) -> Any:
        settings = self.settings
        flash = self._model.config._attn_implementation == ATTENTION
        blocks = None if settings.cache_tokens is None else settings.cache_tokens // settings.block_tokens
        if blocks is None and not self._torch.cuda.is_available():
            # On the CPU the library would take most of the memory; this many learners it cannot serve there anyway.
            blocks = -(-4 * settings.context_tokens // settings.block_tokens)
        config = transformers.ContinuousBatchingConfig(
            block_size=settings.block_tokens,
            num_blocks=blocks,
            max_batch_tokens=settings.batch_tokens,
            max_memory_percent=settings.memory_share,
            max_requests_per_batch=settings.running,
            max_blocks_per_request=-(-settings.context_tokens // settings.block_tokens) + 1 if flash else 0,
            # Recorded steps: those with one token for each reply, and those with prompts in them. The latter come in many shapes, and
            # recording one costs as much as two such steps, so shapes are rounded up coarsely.
            use_cuda_graph=(flash, flash),
            q_padding_interval_size=QUERY_STEP if flash else 0,
            kv_padding_interval_size=CACHE_STEP if flash else 0,  # see `cache_read`
            use_async_batching=flash and settings.overlap,
            scheduler_type=_scheduler(self._cached),
        )
        sampling = transformers.GenerationConfig(do_sample=False, eos_token_id=sorted(self.ends) or -1)
        manager = self._model.init_continuous_batching(generation_config=sampling, continuous_batching_config=config)
        with self._torch.no_grad():
            manager.batch_processor = manager._create_batch_processor()
            _round_up_reads(manager.batch_processor)
            _share_all_pieces(manager.batch_processor)
            manager.warmup()
            if flash:
                _record_small_steps(manager, settings.context_tokens)
        _start(manager)
        return manager

    def encode(self, messages: Sequence[Message], stable: int = 0) -> list[int]:
        """The tokens of a chat by the model's own template; those of the first `stable` messages are remembered.

        Raises EngineDown when the template refuses the chat.
        """
        known = tuple(messages[:stable])
        try:
            text = self._written(messages, asked=True)
            head = self._heads.get(known)
            if head is not None and text.startswith(head.text):
                return head.tokens + self._tokens(text[len(head.text) :])
            tokens = self._tokens(text)
        except Exception as error:
            raise EngineDown(NAME, f"the chat template refuses this chat ({_line(error)})", "Use a model for instructions") from error
        if known:
            self._remember(known, text, tokens)
        return tokens

    def _written(self, messages: Sequence[Message], *, asked: bool) -> str:
        chat = [{"role": message.role, "content": message.text} for message in messages]
        switch = {"enable_thinking": False} if self.settings.thinking else {}
        return self._tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=asked, **switch)

    def _tokens(self, text: str) -> list[int]:
        return self._tokenizer(text, add_special_tokens=False)["input_ids"]

    def _remember(self, messages: tuple[Message, ...], text: str, tokens: list[int]) -> None:
        """Keep the tokens of the part before the question, if the tokenizer divides there; else an empty part, so that none looks again."""
        head = _Head("", [])
        with suppress(Exception):  # a template may refuse a chat without a question
            begun = self._written(messages, asked=False)
            rest = self._tokens(text[len(begun) :])
            if text.startswith(begun) and rest and tokens[-len(rest) :] == rest:
                head = _Head(begun, tokens[: -len(rest)])
        if len(self._heads) >= KNOWN_HEADS:
            self._heads.clear()
        self._heads[messages] = head

    def decoder(self) -> Callable[[int], str | None]:
        """A function that takes the tokens of one reply in order and gives text as soon as whole characters are there."""
        stream = self._decode_stream(skip_special_tokens=True)
        backend = self._tokenizer.backend_tokenizer
        return lambda token: stream.step(backend, token)

    def add(self, request_id: str, tokens: list[int], max_tokens: int, seen: Callable[[Progress], None]) -> None:
        """Take up a reply; `seen` is called on the running event loop. Raises EngineDown when the thread is gone."""

        def handle(output: Any) -> None:
            cached = self._cached.pop(request_id, None) if output.is_finished() else self._cached.get(request_id)
            seen(Progress(output.generated_tokens, output.is_finished(), output.error, cached))

        self._manager.register_result_handler(request_id, handle)
        accepted = self._manager.add_request(tokens, request_id=request_id, max_new_tokens=max_tokens, streaming=True)
        if accepted is None:
            self._manager.output_router.result_handlers.pop(request_id, None)
            raise EngineDown(NAME, self.problem() or "the batching thread takes no more", "Restart the bot", retryable=True)

    def cancel(self, request_id: str) -> None:
        """Stop a reply at the next step; nothing more is heard of it. A finished one is no error."""
        router = self._manager.output_router
        router.result_handlers.pop(request_id, None)
        self._manager.cancel_request(request_id)
        self._cached.pop(request_id, None)
        with suppress(Empty):  # what came for others after they were cancelled: nobody ever reads it
            while True:
                router.output_queue.get_nowait()

    def free_blocks(self) -> int:
        """Blocks that no reply holds; those that keep a finished prefix count as free, they are given up when needed."""
        return self._manager.batch_processor.cache.get_num_free_blocks()

    def problem(self) -> str:
        """Why nothing is computed any more; nothing while all is well."""
        status = self._manager.background_thread_status
        if status.fatal_error is not None:
            return f"the batching thread died: {_line(status.fatal_error)}"
        return "" if self._manager.is_running() else "the batching thread has ended"

    def revive(self) -> None:
        """Start the thread anew after it died; what it was at has failed already. The cache begins empty."""
        _start(self._manager)

    def close(self) -> None:
        """Stop the thread and give the memory back. Blocks for up to STOP_S."""
        self._manager.stop(block=True, timeout=STOP_S, hard_stop=True)
        self._manager.destroy()
        self._model = None
        if self._torch.cuda.is_available():
            self._torch.cuda.empty_cache()


@dataclass(frozen=True, slots=True)
class _Head:
    """How all prompts on one guide begin: as the template writes it, and its tokens."""

    text: str
    tokens: list[int]


def cache_read(tokens: int) -> int:
    """The cached tokens that a step with prompts is recorded for, when it reads so many."""
    if tokens > CACHE_STEP:
        return -(-tokens // CACHE_STEP) * CACHE_STEP
    return max(CACHE_LEAST, 1 << (tokens - 1).bit_length()) if tokens else CACHE_LEAST


def _round_up_reads(processor: Any) -> None:
    """Let steps with prompts be recorded for `cache_read` tokens; the library knows multiples of one number only."""
    runner = processor.model_runner
    plain: Callable[[int, int, bool], tuple[int, int]] = runner.maybe_pad_inputs
    most: int = processor.cache.num_pages

    def padded(num_q_tokens: int, max_kv_read: int, use_decode_fast_path: bool) -> tuple[int, int]:
        queries, read = plain(num_q_tokens, max_kv_read, use_decode_fast_path)
        if use_decode_fast_path or not runner.pad_inputs:
            return queries, read
        return queries, min(cache_read(max_kv_read), most)

    runner.maybe_pad_inputs = padded


def _share_all_pieces(processor: Any) -> None:
    """Let a prompt that is read in several pieces be shared whole.

    Where steps overlap, the last piece is scheduled before the result of the one before it is looked at. The library then takes that
    one for a word of the reply without a word in it, and never marks its blocks as computed: measured on an H200, 15 % of a prompt of
    4,801 tokens were found again, and 98 % of one that is read in a single piece.
    """
    decoding: Any = import_module("transformers.generation.continuous_batching.requests").RequestStatus.DECODING
    inputs = processor.inputs_and_outputs
    plain: Callable[[], tuple[list[Any], list[int], Any]] = inputs.prepare_batch_update

    def prepare_batch_update() -> tuple[list[Any], list[int], Any]:
        batch = plain()
        for piece in batch[0]:
            if not piece.has_new_token and piece.state.status == decoding:
                processor.cache.mark_shareable_blocks_as_complete(piece.state, piece.complete_blocks)
        return batch

    inputs.prepare_batch_update = prepare_batch_update


def _record_small_steps(manager: Any, longest: int) -> None:
    """Record what a learner needs who asks alone on a known guide, so that no first question pays for it.

    A recording is for so many new and cached tokens and, in powers of two from 1,024, for so long a prompt; `longest` bounds those.
    """
    processor = manager.batch_processor
    pairs = 2 if processor.use_async_batching else 1  # where steps overlap there are two of everything
    for _ in range(pairs):
        length = SHORTEST_RECORDED
        while length <= min(longest, processor.cache.num_blocks * processor.cache.block_size):
            processor.model_runner.run_one_warmup(model=manager.model, num_q_tokens=QUERY_STEP, max_kv_read=length - QUERY_STEP)
            length *= 2
        if pairs == 2:
            processor.inputs_and_outputs.swap_io_pairs()


def _start(manager: Any) -> None:
    """As the library's own start, but a thread that does not keep a process alive which ends without closing the engine."""
    manager.background_thread_status.clear()
    manager._generation_thread = Thread(target=manager._run_generation_loop, name="studyhall-paged", daemon=True)
    manager._generation_thread.start()


def use_flash(model: Any) -> None:
    """Let the model attend by PyTorch's own flash kernel for prompts and by `engines.paged_kernel` for single tokens.

    transformers looks for these two functions in the flash-attn package or on the hub. What it found is kept in a module variable,
    under the name that was asked for; this puts ours there, and registers the wrapper that knows the paged cache.
    """
    kernel: Any = import_module("engines.paged_kernel")
    flash: Any = import_module("transformers.modeling_flash_attention_utils")
    wrapper: Any = import_module("transformers.integrations.flash_paged")
    functions: Any = import_module("transformers.modeling_utils").ALL_ATTENTION_FUNCTIONS
    flash._loaded_implementation = ATTENTION
    flash._flash_varlen_fn = _whole
    flash._flash_with_kvcache_fn = kernel.with_pages
    functions.register(ATTENTION, wrapper.paged_attention_forward)
    model.set_attn_implementation(ATTENTION)


def _whole(
    q: Any, k: Any, v: Any, ends_q: Any, ends_k: Any, longest_q: int, longest_k: int, *, softmax_scale: float, causal: bool, **_: Any
) -> Any:
    """Attention of several sequences laid end to end: what flash-attn calls varlen. PyTorch carries the same kernel."""
    forward: Any = import_module("torch").ops.aten._flash_attention_forward
    return forward(q, k, v, ends_q, ends_k, longest_q, longest_k, 0.0, causal, False, scale=softmax_scale)[0]


def _scheduler(cached: dict[str, int]) -> str:
    """The library's first-come scheduler, which also notes what a prompt shared, and survives a cancelled reply.

    Where steps overlap, a reply may be cancelled while a step that holds it is still computed; the library then looks for its
    blocks, which are gone, and the thread dies. Marked as finished it is passed over.
    """
    module: Any = import_module("transformers.generation.continuous_batching.scheduler")
    requests: Any = import_module("transformers.generation.continuous_batching.requests")
    base: Any = module.FIFOScheduler
    missed: set[str] = set()

    def clear_cancelled_requests(scheduler: Any) -> Any:
        asked: set[str] = scheduler._requests_to_cancel
        here = {identifier for identifier in asked if identifier in scheduler.active_requests or identifier in scheduler.waiting_requests}
        scheduler._requests_to_cancel = here  # one that is over has no blocks to free, and would be warned about
        states: Any = base.clear_cancelled_requests(scheduler)
        for state in states:
            state._status = requests.RequestStatus.FINISHED
        # One that is not here is over, or was asked and cancelled between two looks into the queues: then it is here next time.
        scheduler._requests_to_cancel = asked - here - missed
        missed.clear()
        missed.update(scheduler._requests_to_cancel)
        return states

    def infer_request_tokens(scheduler: Any, state: Any, taken: Any) -> Any:
        fresh = state.status == requests.RequestStatus.PENDING
        tokens: Any = base._infer_request_tokens(scheduler, state, taken)
        if fresh and not state.generated_tokens:
            cached[state.request_id] = state.position_offset
        return tokens

    changed = {"clear_cancelled_requests": clear_cancelled_requests, "_infer_request_tokens": infer_request_tokens}
    name = f"studyhall-{id(cached)}"  # the library knows schedulers by name only, and each batcher notes for itself
    module.SCHEDULER_MAPPING[name] = type("NotingScheduler", (base,), changed)
    return name


def unpacked(source: Path, torch: Any, transformers: Any) -> Path:
    """The folder that transformers can read: the source itself, or beside a GGUF file what was unpacked from it. Takes minutes once.

    Raises EngineDown when there is nothing.
    """
    if source.is_dir():
        return source
    if not source.is_file():
        raise EngineDown(NAME, f"there is no model at {source}", "Set the path of a folder with config.json, or of a GGUF file")
    folder = source.with_name(f"{source.stem}.unpacked")
    if (folder / "done").exists():
        return folder
    partial = source.with_name(f"{source.stem}.unpacking")
    shutil.rmtree(partial, ignore_errors=True)
    log.info("paged: unpacking %s, once; this takes some minutes", source.name)
    where, file = str(source.parent), source.name
    transformers.AutoTokenizer.from_pretrained(where, gguf_file=file).save_pretrained(partial)
    model = transformers.AutoModelForCausalLM.from_pretrained(where, gguf_file=file, dtype=torch.bfloat16)
    # The weights are plain numbers now, but the model still says it is quantised, and then it refuses to be saved.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(partial)
    (partial / "done").touch()
    partial.rename(folder)
    return folder


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
