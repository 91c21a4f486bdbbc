"""Makes a model of a few megabytes that always says the same text, for a real vLLM to serve: `VLLM_PYTHON vllm_model.py FOLDER`.

Run by the Python that has vLLM in it; the text alone (`said`) needs nothing. Each token is followed by one certain other token, whatever
stood before, so every reply is known in advance; yet the server schedules, batches, caches and streams as for any other model. Every
letter of the text is cut between two tokens, which no real vocabulary does so thoroughly. Nothing about a model's quality or speed shows.
"""

from __future__ import annotations

import json
import sys
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

# Korean, Chinese, Greek, Russian, one beyond the basic plane, and one that is joined from several.
ALPHABET = ("엔", "引", "ή", "Д", "🦤", "👩\u200d🚀", "é", "\u2028")
TOKENS = 3_000  # of a whole reply: at the speed of so small a model enough for every test that leaves early
CONTEXT = 4_096
MARKS = ("<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
WIDTH = 128  # random directions of so many dimensions are told apart with certainty
TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"


def fragments() -> list[bytes]:
    """The tokens of the reply in order: a number, which makes the token the only one of its kind, with half a letter; then its other half.

    Not half a letter in each: a server passes text on where a token ends with a whole one.
    """
    made: list[bytes] = []
    for number, letter in enumerate(islice(cycle(ALPHABET), TOKENS // 2)):
        whole = letter.encode()
        made += [f" {number}".encode() + whole[:1], whole[1:] + f"{number}".encode()]
    return made


def said(tokens: int = TOKENS) -> str:
    """What a reply of so many tokens says: the letter that its last token begins is no text yet."""
    return b"".join(fragments()[:tokens]).decode("utf-8", "ignore")


def byte_letters() -> dict[int, str]:
    """The visible letter by which a byte-level vocabulary writes each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in plain)
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + place) for place, byte in enumerate(others)}


def make(folder: Path) -> None:
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    letters = byte_letters()
    words = [letters[byte] for byte in range(256)] + ["".join(letters[byte] for byte in token) for token in fragments()]
    numbers = {word: number for number, word in enumerate(words)}
    numbers |= {mark: len(words) + place for place, mark in enumerate(MARKS)}
    chain = [numbers["<|assistant|>"], *range(256, 256 + TOKENS), numbers["<|end|>"]]

    torch.manual_seed(7)
    size = len(numbers)
    seen = torch.nn.functional.normalize(torch.randn(size, WIDTH), dim=1)
    spoken = torch.zeros(size, WIDTH)
    for token, following in pairwise(chain):
        spoken[following] = seen[token]
    layer = "model.layers.0."
    nothing = {f"{layer}self_attn.{name}_proj.weight": torch.zeros(WIDTH, WIDTH) for name in "qkvo"}  # what a token is decides alone
    nothing |= {f"{layer}self_attn.{name}_proj.bias": torch.zeros(WIDTH) for name in "qkv"}
    nothing |= {f"{layer}mlp.{name}_proj.weight": torch.zeros(WIDTH, WIDTH) for name in ("gate", "up", "down")}
    ones = {
        name: torch.ones(WIDTH)
        for name in (f"{layer}input_layernorm.weight", f"{layer}post_attention_layernorm.weight", "model.norm.weight")
    }
    weights = {"model.embed_tokens.weight": seen, "lm_head.weight": spoken, **nothing, **ones}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    config: dict[str, Any] = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "vocab_size": size,
        "hidden_size": WIDTH,
        "intermediate_size": WIDTH,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 10_000.0,
        "max_position_embeddings": CONTEXT,
        "tie_word_embeddings": False,
        "eos_token_id": numbers["<|end|>"],
        "pad_token_id": numbers["<|pad|>"],
        "torch_dtype": "float32",
    }
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    marks = [
        {"id": numbers[mark], "content": mark, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        for mark in MARKS
    ]
    tokenizer = {
        "version": "1.0",
        "added_tokens": marks,
        "pre_tokenizer": byte_level,
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": {word: number for word, number in numbers.items() if word not in MARKS}, "merges": []},
    }
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|end|>",
        "pad_token": "<|pad|>",
        "model_max_length": CONTEXT,
        "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }
    for name, value in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", settings)):
        (folder / f"{name}.json").write_text(json.dumps(value, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
