"""What the doctor says about machines that are not this one, and that asking this one does not fail."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engines.capacity import GIB
from engines.doctor import Diagnosis, Gpu, Machine, Torch, diagnose, examined, looked, parsed_gpus, parsed_torch

LAPTOP = Machine(
    system="Linux",
    python=(3, 12),
    cores=8,
    memory_bytes=16 * GIB,
    cache_free_bytes=200 * GIB,
    cpu_flags=frozenset({"avx2", "fma"}),
    modules=frozenset({"xllamacpp"}),
    weights=Path("/cache/model.gguf"),
    weights_problem="",
    gpus=(),
    gpu_problem="nvidia-smi is not installed",
    docker=True,
    docker_problem="",
    nvidia_runtime=True,
    trtllm_command=False,
    port_free=True,
    port=8_000,
)
H200 = Gpu("NVIDIA H200", 143_771 << 20, "570.1", (9, 0))
SERVER = replace(LAPTOP, gpus=(H200,), gpu_problem="")
GPU_MODULES = frozenset({"torch", "transformers"})
TORCH = Torch("12.9", "NVIDIA H200", 139 * GIB)
PAGED = replace(SERVER, modules=GPU_MODULES, torch=TORCH)
OWN = replace(PAGED, own=Path("/models/tutor"), own_bytes=3 * GIB)


def said(machine: Machine, engine: str) -> str:
    finding = next(finding for finding in examined(machine) if finding.engine == engine)
    return f"{'yes' if finding.ok else 'no'}: {finding.why}. {finding.remedy}"


def test_a_gpu_server_with_the_container_toolkit_is_for_trtllm() -> None:
    assert Diagnosis(SERVER, examined(SERVER)).best.engine == "trtllm"
    assert "yes: NVIDIA H200: qwen3-4b-instruct-2507" in said(SERVER, "trtllm")


def test_a_laptop_runs_the_embedded_engine_and_a_bare_one_quotes() -> None:
    assert Diagnosis(LAPTOP, examined(LAPTOP)).best.engine == "llamacpp"
    bare = replace(LAPTOP, modules=frozenset[str]())
    assert Diagnosis(bare, examined(bare)).best.engine == "quoting"


@pytest.mark.parametrize(
    ("machine", "engine", "words"),
    [
        (LAPTOP, "trtllm", "no usable NVIDIA GPU (nvidia-smi is not installed)"),
        (replace(SERVER, system="Darwin"), "trtllm", "Linux only, this is Darwin"),
        (replace(SERVER, gpus=(replace(H200, name="T4", compute=(7, 5)),)), "trtllm", "T4 has compute capability 7.5, 8.0 is needed"),
        (replace(SERVER, docker=False, docker_problem="docker is not installed"), "trtllm", "docker is not installed"),
        (replace(SERVER, nvidia_runtime=False), "trtllm", "Install NVIDIA's container toolkit"),
        (replace(SERVER, cache_free_bytes=10 * GIB), "trtllm", "10 GiB of disk are free, the image takes up to 60"),
        (replace(SERVER, port_free=False), "trtllm", "port 8000 is taken"),
        (replace(SERVER, gpus=(replace(H200, memory_bytes=2 * GIB),)), "trtllm", "too small for every model"),
        (SERVER, "vllm", "not installed beside the bot"),
        (LAPTOP, "paged", "no usable NVIDIA GPU"),
        (SERVER, "paged", "torch and transformers cannot be imported. pip install 'studyhall[gpu]'"),
        (replace(SERVER, gpus=(replace(H200, name="T4", compute=(7, 5)),)), "paged", "T4 has compute capability 7.5, 8.0 is needed"),
        (replace(SERVER, modules=GPU_MODULES, gpus=(replace(H200, memory_bytes=2 * GIB),)), "paged", "too small for every model"),
        (replace(PAGED, torch=replace(TORCH, built_for="", device="")), "paged", "built without CUDA"),
        (replace(PAGED, torch=replace(TORCH, device="")), "paged", "PyTorch for CUDA 12.9 sees none. Look at CUDA_VISIBLE_DEVICES"),
        (replace(PAGED, torch=None, torch_problem="PyTorch: libcudart is missing"), "paged", "PyTorch cannot be used: PyTorch: libcudart"),
        (replace(PAGED, own_problem="/models/x does not exist"), "paged", "/models/x does not exist. Correct the model path"),
        (replace(OWN, own_bytes=200 * GIB), "paged", "tutor needs about 202.0 GiB before the first learner, NVIDIA H200 has 140.4"),
        (replace(OWN, torch=replace(TORCH, free_bytes=4 * GIB)), "paged", "4.0 GiB of NVIDIA H200 are free. Stop what else uses the GPU"),
        (replace(LAPTOP, modules=frozenset[str]()), "llamacpp", "pip install 'studyhall[local]'"),
        (replace(LAPTOP, memory_bytes=GIB), "llamacpp", "1.0 GiB of memory are free, about 3 are needed"),
        (replace(LAPTOP, weights=None, cache_free_bytes=GIB), "llamacpp", "1.0 GiB free"),
        (replace(LAPTOP, weights=None, weights_problem="weights: /x is no GGUF file"), "llamacpp", "no GGUF file"),
    ],
)
def test_what_is_missing_is_named_in_plain_words(machine: Machine, engine: str, words: str) -> None:
    answer = said(machine, engine)
    assert answer.startswith("no: ")
    assert words in answer
    assert next(finding for finding in examined(machine) if finding.engine == engine).remedy, "a no without a way on helps nobody"


def test_missing_weights_are_no_obstacle_where_they_can_be_fetched() -> None:
    assert said(replace(LAPTOP, weights=None), "llamacpp").startswith("yes: only the weights are missing")


def test_a_gpu_with_the_libraries_can_run_paged_and_is_told_how() -> None:
    answer = said(replace(SERVER, modules=GPU_MODULES), "paged")
    assert answer.startswith("yes: NVIDIA H200: qwen3-4b-instruct-2507 would fit")
    assert "Set engine: paged" in answer


def test_the_model_of_the_settings_is_weighed_against_the_free_memory() -> None:
    assert said(OWN, "paged").startswith("yes: NVIDIA H200: tutor needs about 5.0 GiB before the first learner, which leaves 134.0")


def test_what_pytorch_says_is_read_from_its_last_line() -> None:
    said = 'a library greets\n{"built_for": "12.9", "device": "NVIDIA H200", "free_bytes": 5}\n'
    assert parsed_torch(said) == (Torch("12.9", "NVIDIA H200", 5), "")
    for nonsense in ("", "hello", "[]", '{"built_for": ""}'):
        found, problem = parsed_torch(nonsense)
        assert found is None
        assert problem.startswith("it said")


def test_a_model_folder_in_the_settings_is_for_paged_and_no_fault_of_the_embedded_engine(tmp_path: Path) -> None:
    folder = tmp_path / "tutor"
    folder.mkdir()
    assert looked(port=0, cache_dir=tmp_path, own=folder).own_problem.endswith("tutor holds no weights")
    for name, size in (("model-1.safetensors", 10), ("model-2.safetensors", 20), ("training.bin", 99)):
        (folder / name).write_bytes(b"x" * size)
    found = looked(port=0, cache_dir=tmp_path, own=folder)
    assert (found.own_bytes, found.own_problem, found.weights_problem) == (30, "", "")


def test_installed_trtllm_serve_needs_no_container() -> None:
    assert said(replace(SERVER, trtllm_command=True, docker=False), "trtllm").startswith("yes")


def test_lines_of_nvidia_smi_are_read_and_nonsense_is_skipped() -> None:
    text = "NVIDIA H200, 143771, 570.124.06, 9.0\nNVIDIA A100, 80GB PCIe, 81920, 550.54, 8.0\n[N/A]\n"
    assert [(gpu.name, gpu.memory_bytes >> 20, gpu.compute) for gpu in parsed_gpus(text)] == [
        ("NVIDIA H200", 143_771, (9, 0)),
        ("NVIDIA A100, 80GB PCIe", 81_920, (8, 0)),
    ]


def test_asking_this_machine_gives_an_answer_for_every_engine(tmp_path: Path) -> None:
    found = diagnose(port=0, cache_dir=tmp_path)
    assert {finding.engine for finding in found.findings} == {"trtllm", "vllm", "paged", "llamacpp", "quoting"}
    assert found.best.ok
    assert f"Best here: {found.best.engine}." in found.text()
    assert json.loads(json.dumps(found.as_dict()))["best"] == found.best.engine


def test_a_wrong_path_in_the_settings_is_a_finding_and_no_crash(tmp_path: Path) -> None:
    found = diagnose(port=0, cache_dir=tmp_path, own=tmp_path / "missing.gguf")
    assert "cannot be read" in found.machine.weights_problem
