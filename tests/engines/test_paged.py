"""The engine in this process: who goes first, who waits for room and who is refused, on a stand-in for the batcher; then the real
one with a tiny random model, and its attention kernel, where PyTorch and a GPU are present.

The stand-in proves nothing about batching. A random model proves that the paged cache gives what plain generation gives, and
nothing about good answers.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.base import DeadlineExceeded, EngineBusy, EngineDown, Finish, Message, Prompt, PromptTooLong
from engines.paged import PagedEngine
from engines.paged_batcher import CACHE_LEAST, CACHE_STEP, Batcher, Settings, cache_read
from engines.paged_room import Room
from tests.engines.contract import GUIDE, prompt, read
from tests.engines.paged_double import END, Double

TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("transformers") is not None
needs_torch = pytest.mark.skipif(not TORCH, reason="torch and transformers are not installed (the extra `gpu`)")


def paged(double: Double, settings: Settings | None = None) -> PagedEngine:
    return PagedEngine(Path("none"), settings=settings, make=lambda _source, _settings: double)


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not true():  # noqa: ASYNC110 - what is waited for is a state of the engine, which has no event for tests
            await asyncio.sleep(0.001)


async def test_the_first_question_on_a_guide_goes_ahead_and_the_others_follow() -> None:
    double = Double(by_hand=True)
    engine = paged(double)
    readers = [asyncio.create_task(read(engine, prompt(f"question {number}"))) for number in range(5)]
    other = asyncio.create_task(read(engine, prompt(guide="Another guide.")))
    await until(lambda: len(double.asked) == 2)  # one for each guide
    await asyncio.sleep(0.05)
    assert len(double.asked) == 2
    assert not engine.is_warm(prompt())
    first = next(number for number, asked in enumerate(double.asked) if len(asked.tokens) > 40)
    double.give(first, 0)
    await until(lambda: len(double.asked) == 6)
    assert engine.is_warm(prompt())
    for number in range(6):
        double.give(number, 0, END, finished=True)
    assert all(pieces == ["An engine "] for pieces, _ in await asyncio.gather(*readers, other))
    await engine.aclose()


async def test_when_the_first_one_leaves_early_another_goes_ahead() -> None:
    double = Double(by_hand=True)
    engine = paged(double)
    first = asyncio.create_task(read(engine, prompt("one")))
    await until(lambda: double.asked)
    second = asyncio.create_task(read(engine, prompt("two")))
    await asyncio.sleep(0.02)
    assert len(double.asked) == 1
    first.cancel()
    await until(lambda: len(double.asked) == 2)
    assert double.cancelled == [double.asked[0].request_id]
    double.give(1, 0, 1, END, finished=True)
    pieces, finish = await second
    assert pieces == ["An engine fits one GPU. "]  # what came meanwhile is one piece
    assert finish.new_tokens == 3
    assert not finish.cut_off
    await engine.aclose()


async def test_a_reply_waits_until_the_blocks_of_its_longest_form_are_free() -> None:
    settings = Settings(block_tokens=16)
    one = len(Double().encode(prompt("a").messages)) + 24
    double = Double(by_hand=True, blocks=one // 16 + 2)
    engine = paged(double, settings)
    first = asyncio.create_task(read(engine, prompt("a", guide=f"A{GUIDE}")))
    await until(lambda: double.asked)
    second = asyncio.create_task(read(engine, prompt("b", guide=f"B{GUIDE}")))
    with pytest.raises(DeadlineExceeded, match="no room"):
        await read(engine, prompt("c", guide=f"C{GUIDE}"), deadline_s=0.1)
    assert len(double.asked) == 1
    assert "1 waiting" in (await engine.health()).detail
    double.give(0, 0, END, finished=True)
    await first
    await until(lambda: len(double.asked) == 2)
    double.give(1, 0, END, finished=True)
    await second
    assert "0 running, 0 waiting" in (await engine.health()).detail
    await engine.aclose()


async def test_what_can_never_fit_is_refused_and_a_full_house_is_busy() -> None:
    double = Double(by_hand=True, blocks=8)
    engine = paged(double, Settings(block_tokens=16, context_tokens=1_000, running=1, waiting=0))
    with pytest.raises(PromptTooLong, match="1000 fit"):
        await read(engine, prompt("word " * 1_000))
    with pytest.raises(PromptTooLong, match="whole cache holds 128"):
        await read(engine, prompt("word " * 200))
    first = asyncio.create_task(read(engine, prompt("a")))
    await until(lambda: double.asked)
    second = asyncio.create_task(read(engine, prompt("b")))
    await until(lambda: engine._room is not None and engine._room.waiting == 1)
    with pytest.raises(EngineBusy):
        await read(engine, prompt("c"))
    second.cancel()
    double.give(0, END, finished=True)
    await first
    await engine.aclose()


async def test_a_thread_that_died_is_started_anew_but_not_at_every_question() -> None:
    double = Double(die_after=1)
    engine = paged(double)
    for expected in (0, 1):
        with pytest.raises(EngineDown, match="broke off"):
            await read(engine, prompt())
        assert double.revivals == expected
        assert not (await engine.health()).ok
    with pytest.raises(EngineDown, match="died"):
        await read(engine, prompt())
    assert double.revivals == 1
    await engine.aclose()
    assert double.closed


async def test_a_load_that_failed_is_tried_again_by_the_next_question() -> None:
    tries: list[int] = []

    def make(_source: Path, _settings: Settings) -> Double:
        tries.append(1)
        if len(tries) == 1:
            raise EngineDown("paged", "no memory", "Free some")
        return Double()

    engine = PagedEngine(Path("none"), make=make)
    with pytest.raises(EngineDown, match="no memory"):
        await engine.start(5)
    assert (await engine.health()).ok is False
    assert (await read(engine, prompt()))[0]
    await engine.aclose()


async def test_closing_sends_those_who_wait_away() -> None:
    double = Double(by_hand=True)
    engine = paged(double, Settings(running=1))
    first = asyncio.create_task(read(engine, prompt("a", guide=f"A{GUIDE}")))
    await until(lambda: double.asked)
    second = asyncio.create_task(read(engine, prompt("b", guide=f"B{GUIDE}")))
    follower = asyncio.create_task(read(engine, prompt("c", guide=f"A{GUIDE}")))
    await until(lambda: engine._room is not None and engine._room.waiting == 2)
    await engine.aclose()
    for reader in (second, follower):
        with pytest.raises(EngineDown):
            await reader
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first


async def test_without_pytorch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    engine = PagedEngine(tmp_path)
    with pytest.raises(EngineDown, match=r"studyhall\[gpu\]"):
        await read(engine, prompt())
    await engine.aclose()


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 120), st.integers(1, 40), st.booleans()), min_size=1, max_size=30),
    st.integers(4, 16),
)
def test_room_is_never_given_twice_and_all_comes_back(wishes: list[tuple[int, int, int, bool]], blocks: int) -> None:
    async def run() -> None:
        room = Room(blocks, 16, 6)
        most = 0

        async def reply(guide: int, own: int, steps: int, early: bool) -> None:
            nonlocal most
            tokens = [guide] * 40 + [guide + 10] * own  # 40 in common: two whole blocks
            needed = room.needed(len(tokens) + 8)
            if needed > blocks:
                return
            async with room.place(bytes([guide]), tokens, needed) as place:
                if not early:
                    room.computed(place)
                most = max(most, room.reserved)
                for _ in range(steps):
                    await asyncio.sleep(0)

        async with asyncio.timeout(10):
            await asyncio.gather(*(reply(*wish) for wish in wishes))
        assert most <= blocks
        assert (room.running, room.waiting, room.reserved) == (0, 0, 0)

    asyncio.run(run())


def test_what_replies_on_one_guide_share_is_counted_once() -> None:
    async def run() -> None:
        room = Room(100, 16, 10)
        tokens = list(range(160))
        async with room.place(b"g", [*tokens, 1], room.needed(170)) as first:
            room.computed(first)
            alone = room.reserved
            async with room.place(b"g", [*tokens, 2], room.needed(170)) as second:
                assert alone == 11
                assert room.reserved == 12  # ten whole blocks are the same
                assert second.blocks == 1

    asyncio.run(run())


# --- the real batcher, on a random model of two layers ---


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tokenizers
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("tiny")
    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator([GUIDE], trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>")
    tokenizer.chat_template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = transformers.Qwen2Config(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=len(tokenizer),
        max_position_embeddings=2_048,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = transformers.Qwen2ForCausalLM(config)
    model.save_pretrained(folder)
    return folder


@pytest.fixture
async def real(tiny: Path) -> AsyncIterator[PagedEngine]:
    engine = PagedEngine(tiny, settings=Settings(context_tokens=768, running=8, block_tokens=16))
    await engine.start(60)
    yield engine
    await engine.aclose()


@needs_torch
@pytest.mark.filterwarnings("default")
async def test_the_paged_cache_writes_what_plain_generation_writes(tiny: Path, real: PagedEngine) -> None:
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny, dtype=torch.float32)
    questions = [f"question {number}?" for number in range(8)]
    answers = await asyncio.gather(*(read(real, prompt(question), max_tokens=20) for question in questions))
    assert sum((finish.cached_tokens or 0) > 0 for _, finish in answers) >= 7  # all but the first share the guide
    for question, (pieces, finish) in zip(questions, answers, strict=True):
        chat = [{"role": message.role, "content": message.text} for message in prompt(question).messages]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        inputs = tokenizer(text, return_tensors="pt", add_special_tokens=False)
        made = model.generate(**inputs, max_new_tokens=20, do_sample=False)[0, inputs["input_ids"].shape[1] :]
        decode = tokenizers_stream(tokenizer)
        assert "".join(pieces) == "".join(piece for token in made.tolist() if (piece := decode(token)))
        assert finish.prompt_tokens == inputs["input_ids"].shape[1]


def tokenizers_stream(tokenizer: Any) -> Callable[[int], str | None]:
    from tokenizers.decoders import DecodeStream

    stream = DecodeStream(skip_special_tokens=True)
    return lambda token: stream.step(tokenizer.backend_tokenizer, token)


@needs_torch
@pytest.mark.filterwarnings("default")
async def test_leaving_frees_the_blocks_and_many_at_once_are_answered(real: PagedEngine) -> None:
    batcher = real._starting.result() if real._starting else None
    assert batcher is not None

    async def left(number: int) -> None:
        replies = real.stream(prompt(f"left {number}"), max_tokens=300, deadline_s=30)
        with suppress(StopAsyncIteration):
            await anext(replies)
        await replies.aclose()

    await asyncio.gather(*(left(number) for number in range(12)))
    await until(lambda: batcher.free_blocks() == batcher.blocks)
    answers = await asyncio.gather(*(read(real, prompt("the same"), max_tokens=8) for _ in range(24)))
    assert len({"".join(pieces) for pieces, _ in answers}) == 1
    await real.warm(prompt(guide="Something new."))
    assert real.is_warm(prompt(guide="Something new."))


@needs_torch
@pytest.mark.filterwarnings("default")
async def test_the_remembered_tokens_of_a_guide_change_nothing(tiny: Path) -> None:
    batcher = await asyncio.to_thread(Batcher, tiny, Settings(context_tokens=256, running=2, block_tokens=16))
    try:
        for question in ("why?", "", "\n\n what", "<|im_end|>\n<|im_start|>system", "엔진", " \u0301accent", "why?"):
            asked = prompt(question)
            assert batcher.encode(asked.messages, asked.stable) == batcher.encode(asked.messages), question
        [head] = batcher._heads.values()
        assert head.text.endswith(f"{GUIDE}<|im_end|>\n")
        assert len(head.tokens) > 40
        batcher._tokenizer.chat_template = "{{ messages[0].content }}{{ messages[1].content if messages|length > 1 else '.' }}"
        runs_on = (Message("system", GUIDE + "wor"), Message("user", "d"))  # no mark between guide and question, and one token over both
        assert [batcher.encode(runs_on, 1) for _ in range(2)] == [batcher.encode(runs_on)] * 2
        assert batcher._heads[runs_on[:1]].tokens == []
    finally:
        await asyncio.to_thread(batcher.close)


@needs_torch
@pytest.mark.filterwarnings("default")
async def test_a_prompt_that_is_read_in_pieces_is_shared_whole_where_steps_overlap(tiny: Path) -> None:
    """The steps by hand, in the order of a GPU: each is prepared before the result of the one before it is looked at."""
    import torch

    settings = Settings(context_tokens=512, running=2, block_tokens=16, batch_tokens=96)
    batcher = await asyncio.to_thread(Batcher, tiny, settings)
    manager = batcher._manager
    try:
        tokens = list(range(3, 203))  # 12 whole blocks, read as 96, 96 and 8
        manager.stop(block=True, keep_for_next_session=True)
        processor = manager.batch_processor
        manager.background_thread_status.clear()
        inputs = processor.inputs_and_outputs
        manager.add_request(tokens, request_id="long", max_new_tokens=4)
        before: tuple[list[Any], int] | None = None
        with torch.no_grad():
            for _ in range(3):
                assert processor.prepare_next_batch()
                here = list(inputs.requests_in_batch), inputs.num_request_in_batch
                if before is not None:
                    inputs.requests_in_batch, inputs.num_request_in_batch = before
                    processor.update_batch()
                inputs.requests_in_batch, inputs.num_request_in_batch = here
                processor._generation_step(manager.model)
                before = here
            processor.update_batch()
        assert processor.cache.search_prefix_match("another", [*tokens, 7]) == 192
    finally:
        await asyncio.to_thread(batcher.close)


@given(st.integers(0, 2_000_000))
def test_a_step_is_recorded_for_at_least_what_it_reads_and_at_most_for_twice_as_much(tokens: int) -> None:
    read = cache_read(tokens)
    assert tokens <= read <= max(CACHE_LEAST, 2 * tokens)
    assert read <= tokens + CACHE_STEP
    assert cache_read(read) == read


@needs_torch
@pytest.mark.filterwarnings("default")
async def test_characters_of_several_tokens_stay_whole(tiny: Path) -> None:
    settings = Settings(context_tokens=256, running=2, block_tokens=16)
    batcher = await asyncio.to_thread(Batcher, tiny, settings)
    try:
        text = "엔진 引擎 Μηχανή 🦤👩\u200d🚀"
        tokens = batcher.encode([Message("user", text)])
        decode = batcher.decoder()
        pieces = [piece for token in tokens if (piece := decode(token))]
        assert len(tokens) > len(pieces)
        assert not any("\ufffd" in piece for piece in pieces)
        assert text in "".join(pieces)
    finally:
        await asyncio.to_thread(batcher.close)


@needs_torch
@pytest.mark.filterwarnings("default")
async def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    for source in (tmp_path, tmp_path / "none.gguf"):
        engine = PagedEngine(source)
        with pytest.raises(EngineDown, match=r"Check the model path|Set the path"):
            await engine.start(60)
        await engine.aclose()


def has_gpu() -> bool:
    if not TORCH:
        return False
    import torch

    return torch.cuda.is_available()


@pytest.mark.gpu
@pytest.mark.skipif(not has_gpu(), reason="no CUDA device")
@pytest.mark.parametrize(("heads", "kv_heads", "width", "page"), [(12, 2, 128, 64), (32, 8, 128, 256), (16, 8, 64, 16)])
@pytest.mark.parametrize("lengths", [[0], [1_250], [63, 64, 65, 1_250, -1, 5, 4_000], [1_250] * 64 + [-1]])
def test_the_attention_kernel_agrees_with_double_precision(heads: int, kv_heads: int, width: int, page: int, lengths: list[int]) -> None:
    import torch

    from engines.paged_kernel import with_pages

    counts = [max(length, 0) // page + 1 if length >= 0 else 0 for length in lengths]
    keys = torch.randn(sum(counts) + 1, page, kv_heads, width, device="cuda", dtype=torch.bfloat16)
    values = torch.randn_like(keys)
    order = torch.randperm(sum(counts) + 1).tolist()
    table = torch.full((len(lengths), max(counts)), -1, dtype=torch.int32)
    for row, count in enumerate(counts):
        table[row, :count] = torch.tensor([order.pop() for _ in range(count)])
    q = torch.randn(len(lengths), 1, heads, width, device="cuda", dtype=torch.bfloat16)
    k = torch.randn(len(lengths), 1, kv_heads, width, device="cuda", dtype=torch.bfloat16)
    v = torch.randn_like(k)
    before = keys.clone(), values.clone()
    table, sizes = table.cuda(), torch.tensor(lengths, dtype=torch.int32, device="cuda")
    out = with_pages(q, keys, values, k, v, sizes, width**-0.5, table)
    for row, length in enumerate(lengths):
        if length < 0:
            continue
        pages = table[row, : counts[row]].long()
        whole = [
            torch.cat([old[pages].reshape(-1, kv_heads, width)[:length], new[row]]).repeat_interleave(heads // kv_heads, 1).double()
            for old, new in zip(before, (k, v), strict=True)
        ]
        score = torch.einsum("qhd,khd->hqk", q[row].double(), whole[0]) * width**-0.5
        expected = torch.einsum("hqk,khd->qhd", score.softmax(-1), whole[1])
        assert ((out[row].double() - expected).norm() / expected.norm()).item() < 0.01
        assert torch.equal(keys[pages[-1], length % page], k[row, 0])
    changed = (keys != before[0]).flatten(2).any(-1).sum().item()
    assert changed == sum(length >= 0 for length in lengths)  # nothing else was written


async def test_a_prompt_object_without_shared_messages_still_works() -> None:
    engine = paged(Double())
    bare = Prompt((Message("user", "hello"),), "hello", (), "en", 0)
    await engine.warm(bare)
    pieces, finish = await read(engine, bare)
    assert isinstance(finish, Finish)
    assert "".join(pieces) == "An engine fits one GPU. [S1]"
    await engine.aclose()
