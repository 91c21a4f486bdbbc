"""The command and YAML for trtllm-serve 1.2.1, against its contract table, and the sums behind them.

TensorRT-LLM does not run here: these tests prove that nothing is passed without evidence that 1.2.1 takes it, no more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engines.capacity import GIB, DoesNotFit, Load, capacity, graph_sizes
from engines.catalogue import catalogue
from engines.openai_http import ALSO, COMMON, HEALTH_PATH, Flavour
from engines.trtllm import ContractError, Entry, ServeSettings, config, contract, launch, plan
from tests.engines.openai_double import TRTLLM_FIELDS

FOUR_B = "Qwen/Qwen3-4B-Instruct-2507"

# Written down apart from the table, from a dump of 1.2.1's own schema: the table must agree with it.
KV_CACHE = set(
    """enable_block_reuse max_tokens max_attention_window sink_token_length free_gpu_memory_fraction host_cache_size onboard_blocks
    cross_kv_cache_fraction secondary_offload_min_priority event_buffer_max_size attention_dp_events_gather_period_ms enable_partial_reuse
    copy_on_partial_reuse use_uvm max_gpu_total_bytes dtype mamba_ssm_cache_dtype tokens_per_block""".split()
)


def keys_of(value: Any, prefix: str = "") -> list[str]:
    if not isinstance(value, dict):
        return []
    return [f"{prefix}{key}" for key in value] + [inner for key, child in value.items() for inner in keys_of(child, f"{prefix}{key}.")]


def test_every_key_of_the_planned_file_and_command_is_in_the_contract() -> None:
    made = plan(FOUR_B, 24)
    table = contract()
    sections = {"kv_cache_config": "KvCacheConfig", "scheduler_config": "SchedulerConfig", "cuda_graph_config": "CudaGraphConfig"}
    for path in keys_of(yaml.safe_load(made.launch.yaml)):
        section, _, inner = path.partition(".")
        assert section in table.keys
        assert not inner or inner in table.sections[sections[section]], path
    command = made.launch.command
    used = [word for word in command[command.index("trtllm-serve") + 2 :] if word.startswith("--")]
    assert used
    assert set(used) <= set(table.options)
    assert not set(used) & table.later


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"served_model_name": "x"}, "no evidence"),
        ({"telemetry_config": {}}, "came after 1.2"),
        ({"kv_cache_config": {"use_kv_cache_manager_v2": True}}, "came after 1.2"),
        ({"kv_cache_config": {"enable_block_reuse": "yes"}}, "Give: bool"),
        ({"kv_cache_config": True}, "Give a mapping"),
        ({"scheduler_config": {"capacity_scheduler_policy": "FAIR"}}, "MAX_UTILIZATION or GUARANTEED_NO_EVICT"),
        ({"guided_decoding_backend": "outlines"}, "xgrammar or llguidance"),
        ({"enable_chunked_prefill": None}, "must not be null"),
        ({"cuda_graph_config": {"batch_sizes": ["1"]}}, "Give: ints"),
        ({"max_batch_size": 8}, "two places"),
        ({"tensor_parallel_size": True}, "Give: int"),
    ],
)
def test_a_planted_wrong_key_or_value_is_refused(extra: dict[str, Any], said: str) -> None:
    room = plan(FOUR_B, 24).capacity
    with pytest.raises(ContractError, match=said):
        launch(ServeSettings(FOUR_B, extra=extra), room, Path("/tmp/serve.yaml"))


def test_a_wrong_option_is_refused_too() -> None:
    with pytest.raises(ContractError, match="came after 1"):
        contract().check_options({"--served_model_name": "x"})
    with pytest.raises(ContractError, match="no evidence"):
        contract().check_options({"--max-batch-size": 8})


def test_the_operators_own_keys_are_merged_into_their_section() -> None:
    room = plan(FOUR_B, 24).capacity
    made = config(ServeSettings(FOUR_B, extra={"kv_cache_config": {"dtype": "auto"}, "stream_interval": 2}), room)
    assert made["kv_cache_config"]["dtype"] == "auto"
    assert made["kv_cache_config"]["enable_block_reuse"] is True
    assert made["stream_interval"] == 2


def test_the_table_says_what_was_dumped_and_what_the_client_sends_is_in_it() -> None:
    table = contract()
    assert set(table.sections["KvCacheConfig"]) == KV_CACHE
    assert all(entry.evidence == "exact" for entry in table.sections["KvCacheConfig"].values())
    assert set(table.chat) == TRTLLM_FIELDS
    assert COMMON | ALSO[Flavour.TRTLLM] <= set(table.chat)
    assert table.paths["health"] == HEALTH_PATH[Flavour.TRTLLM]
    assert not table.later & (set(table.options) | set(table.keys)), "a name cannot be both there and not yet there"
    with pytest.raises(ContractError, match="TYPE EVIDENCE"):
        Entry.of("bool maybe")


def test_reuse_chunks_and_no_eviction_are_always_asked_for() -> None:
    made = yaml.safe_load(plan("qwen2.5-1.5b-instruct", 8).launch.yaml)
    assert made["kv_cache_config"]["enable_block_reuse"] is True
    assert made["enable_chunked_prefill"] is True
    assert made["scheduler_config"] == {"capacity_scheduler_policy": "GUARANTEED_NO_EVICT"}
    assert "host_cache_size" not in made["kv_cache_config"], "reported to mix up answers of different people"


def test_the_server_is_only_ever_bound_to_loopback_unless_the_operator_says_otherwise() -> None:
    command = plan(FOUR_B, 24).launch.command
    assert command[command.index("-p") + 1] == "127.0.0.1:8000:8000"
    bare = plan(FOUR_B, 24, settings=ServeSettings(FOUR_B, container=False)).launch.command
    assert bare[0] == "trtllm-serve"
    assert bare[bare.index("--host") + 1] == "127.0.0.1"


def test_a_folder_is_mounted_and_served_under_its_last_name() -> None:
    room = plan(FOUR_B, 24).capacity
    made = launch(ServeSettings("/models/my qwen"), room, Path("/tmp/serve.yaml"))
    assert made.served_name == "my qwen"
    assert "/models/my qwen:/models/my qwen:ro" in made.command
    assert "'/models/my qwen'" in made.shell()
    assert made.after_stop[:2] == ("docker", "rm")


def test_the_plan_for_people_names_the_sums_and_what_was_not_run() -> None:
    text = plan(FOUR_B, 24).text()
    for part in ("weights", "learners at once", "it was not run here", "trtllm-serve Qwen/Qwen3-4B-Instruct-2507", "enable_block_reuse"):
        assert part in text
    assert "not run" in plan(FOUR_B, 24).as_dict()["checked_against"]


def test_two_gpus_share_the_weights_and_the_cache() -> None:
    one = plan(FOUR_B, 24).capacity
    two = plan(FOUR_B, 24, settings=ServeSettings(FOUR_B, gpus=2))
    assert two.capacity.weight_bytes * 2 == one.weight_bytes
    assert two.capacity.pool_tokens > 2 * one.pool_tokens
    assert two.launch.command[two.launch.command.index("--tp_size") + 1] == "2"


def test_a_model_that_does_not_fit_is_refused_with_one_that_does() -> None:
    with pytest.raises(DoesNotFit, match=r"needs 9\.\d GiB before the first learner.*Use qwen3-1\.7b"):
        plan(FOUR_B, 8)
    with pytest.raises(DoesNotFit, match="on the CPU"):
        plan("qwen3-0.6b", 2)


def test_the_sums_are_right_for_a_case_worked_out_by_hand() -> None:
    room = capacity(catalogue().card("qwen3-4b-instruct-2507"), 24 * GIB, catalogue(), load=Load(2_000, 5, 100, 160))
    left = 24 * GIB - 8_044_936_192 - 2 * GIB - 8 * (200 << 20)
    assert room.pool_bytes == int(left * 0.9)
    assert room.pool_tokens == room.pool_bytes // 147_456 // 32 * 32
    assert room.learners == (room.pool_tokens - 5 * 2_016) // 288
    assert room.learners_unshared == room.pool_tokens // 2_272


@given(st.integers(4, 200), st.integers(1, 8), st.sampled_from(sorted(catalogue().cards)))
def test_more_memory_never_fits_fewer_learners_and_the_pool_never_exceeds_the_gpu(gib: int, gpus: int, name: str) -> None:
    card, models = catalogue().card(name), catalogue()
    try:
        room = capacity(card, gib * GIB, models, gpus=gpus)
    except DoesNotFit:
        return
    assert room.weight_bytes + room.reserved_bytes + room.pool_bytes <= gib * GIB
    assert room.learners >= room.learners_unshared or room.learners < 5
    assert room.batch <= max(1, room.learners)
    assert capacity(card, (gib + 4) * GIB, models, gpus=gpus).learners >= room.learners


def test_graphs_cover_every_batch_up_to_the_largest() -> None:
    assert graph_sizes(1) == (1,)
    assert graph_sizes(48) == (1, 2, 4, 8, 16, 32, 48)
