"""The shipped model table is sound, and a damaged one is refused with the place and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.catalogue import TABLE, CatalogueError, catalogue, parsed


def test_the_shipped_table_loads_and_its_pins_are_complete() -> None:
    models = catalogue().embedded_models()
    assert [model.id for model in models] == ["qwen2.5-1.5b-instruct", "qwen2.5-coder-1.5b-instruct"]
    for model in models:
        assert model.url is not None
        assert model.url.startswith("https://")
        assert model.size > 1_000_000_000
    assert models[1].sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def test_kv_bytes_are_those_of_the_models_shape() -> None:
    shapes = {
        "qwen3-4b-instruct-2507": (36, 8, 128),
        "qwen3-1.7b": (28, 8, 128),
        "qwen3-0.6b": (28, 8, 128),
        "qwen2.5-1.5b-instruct": (28, 2, 128),
    }
    for name, (layers, heads, size) in shapes.items():
        assert catalogue().card(name).kv_bytes_per_token == 2 * layers * heads * size * 2, name


def test_a_card_is_found_by_id_and_by_repository_in_any_case() -> None:
    assert catalogue().card("qwen/QWEN3-4B-instruct-2507") is catalogue().card("qwen3-4b-instruct-2507")
    with pytest.raises(CatalogueError, match="no model 'gpt'"):
        catalogue().card("gpt")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("licence: Apache-2.0", "license: Apache-2.0", "unknown"),
        ("size: 1_117_320_736", "size: -1", "above 0"),
        ("sha256: 6a1a2eb6", "sha256: XYZ", "hex digits"),
        ("file: qwen2.5-1.5b", "file: ../qwen2.5-1.5b", "without a folder"),
        ("embedded: [qwen2.5-1.5b-instruct", "embedded: [nothing", "no model here"),
        ("embedded: [qwen2.5-1.5b-instruct", "embedded: [qwen3-0.6b", "no gguf"),
        ("thinking: true", "thinking: perhaps", "true or false"),
        ("id: qwen3-1.7b", "id: qwen3-0.6b", "twice"),
        ("models:", "models: [", "not YAML"),
    ],
)
def test_a_damaged_table_is_refused_with_its_place(old: str, new: str, said: str) -> None:
    text = TABLE.read_text("utf-8")
    assert old in text
    with pytest.raises(CatalogueError, match=said):
        parsed(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("Qwen/Qwen3-1.7B", "qwen3-1.7b"),
        ("qwen3:1.7b", "qwen3-1.7b"),
        ("Qwen3-1.7B", "qwen3-1.7b"),
        ("/models/Qwen3-1.7B/", "qwen3-1.7b"),
        ("./Qwen3-1.7B", "qwen3-1.7b"),
        ("models/qwen2.5-1.5b-instruct-q4_k_m.gguf", "qwen2.5-1.5b-instruct"),
        ("somebody/Qwen3-1.7B", None),
        ("qwen3", None),
        ("", None),
    ],
)
def test_a_model_is_known_by_the_names_that_servers_and_folders_give_it(name: str, model: str | None) -> None:
    card = catalogue().named(name)
    assert (card.id if card else None) == model


def test_weights_in_the_hubs_own_cache_are_known_by_the_folder_above() -> None:
    snapshot = Path("/home/x/.cache/huggingface/hub/models--Qwen--Qwen3-0.6B/snapshots/0123abcd")
    card = catalogue().card_of_file(snapshot)
    assert card is not None
    assert card.id == "qwen3-0.6b"
    assert catalogue().card_of_file(Path("/models/of-my-own")) is None
