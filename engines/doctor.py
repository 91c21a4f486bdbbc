"""What can run on this machine and why not the rest, in plain words.

`looked` asks the machine (reads files under /proc, runs nvidia-smi and docker with a limit), `examined` judges what it found
and touches nothing, so every advice can be tested without the machine it is about. It installs and changes nothing.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from engines.capacity import ACTIVATION_BYTES, CONTEXT_BYTES, GIB, DoesNotFit, capacity
from engines.catalogue import catalogue
from engines.trtllm import CONTAINER
from engines.weights import SPARE, default_folder, locate

LIMIT_S: Final = 10.0  # for each program that is asked
EMBEDDED_BYTES: Final = 3 * GIB  # measured: 2.3 GiB with four slots of 4,096 tokens; the rest is for the bot
IMAGE_BYTES: Final = 60 * GIB  # reports of the unpacked image go from 37 to 59 GB
COMPUTE: Final = {
    "trtllm": (8, 0),  # Ampere; what NVIDIA lists and what reports use
    "vllm": (7, 0),
    "paged": (8, 0),  # for the fast kernels; older GPUs run it slowly, for trying things
}
PAGED_MODULES: Final = ("torch", "transformers")
TORCH_LIMIT_S: Final = 60.0  # to import it from a cold disk; asked in a process of its own, which gives the memory back
ASK_TORCH: Final = """
import json, torch
there = torch.cuda.is_available()
free = torch.cuda.mem_get_info()[0] if there else 0
print(json.dumps({"built_for": torch.version.cuda or "", "device": torch.cuda.get_device_name() if there else "", "free_bytes": free}))
"""


@dataclass(frozen=True, slots=True)
class Gpu:
    name: str
    memory_bytes: int
    driver: str
    compute: tuple[int, int]  # (8, 0) is an A100, (9, 0) an H100 or H200


@dataclass(frozen=True, slots=True)
class Torch:
    """What the installed PyTorch says for itself: the driver may list a GPU that it cannot use."""

    built_for: str  # the version of CUDA; empty: it has none
    device: str  # the GPU it would use; empty: it sees none
    free_bytes: int  # of that GPU, now


@dataclass(frozen=True, slots=True)
class Machine:
    """What was found. None: could not be found out."""

    system: str
    python: tuple[int, int]
    cores: int
    memory_bytes: int | None  # available to new programs
    cache_free_bytes: int
    cpu_flags: frozenset[str] | None
    modules: frozenset[str]  # of those asked for, which can be imported
    weights: Path | None
    weights_problem: str
    gpus: tuple[Gpu, ...]
    gpu_problem: str  # why there is none
    docker: bool
    docker_problem: str
    nvidia_runtime: bool
    trtllm_command: bool
    port_free: bool
    port: int
    torch: Torch | None = None
    torch_problem: str = ""  # why it could not be asked
    own: Path | None = None  # the model path of the settings
    own_bytes: int | None = None  # its weights as a GPU holds them, in 16 bits
    own_problem: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One engine: whether it can run here, why, and what to do."""

    engine: str
    ok: bool
    why: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    machine: Machine
    findings: tuple[Finding, ...]  # the best first

    @property
    def best(self) -> Finding:
        return next(finding for finding in self.findings if finding.ok)  # quoting always is

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        machine = asdict(self.machine)
        machine["weights"] = str(self.machine.weights) if self.machine.weights else None
        machine["own"] = str(self.machine.own) if self.machine.own else None
        machine["cpu_flags"] = sorted(self.machine.cpu_flags or ())
        machine["modules"] = sorted(self.machine.modules)
        return {"best": self.best.engine, "engines": [asdict(finding) for finding in self.findings], "machine": machine}

    def text(self) -> str:
        """For people."""
        machine = self.machine
        memory = f"{machine.memory_bytes / GIB:.0f} GiB of memory free" if machine.memory_bytes else "memory unknown"
        gpus = ", ".join(f"{gpu.name} ({gpu.memory_bytes / GIB:.0f} GiB)" for gpu in machine.gpus) or f"no GPU ({machine.gpu_problem})"
        lines = [f"This machine: {machine.cores} cores, {memory}, {gpus}.", ""]
        for finding in self.findings:
            lines.append(f"{'yes' if finding.ok else 'no '}  {finding.engine:<9} {finding.why}")
            if finding.remedy:
                lines.append(f"               {finding.remedy}")
        lines += ["", f"Best here: {self.best.engine}."]
        return "\n".join(lines)


def diagnose(*, port: int = 8_000, cache_dir: Path | None = None, own: Path | None = None) -> Diagnosis:
    """Look and judge. Blocks for some seconds where PyTorch is installed, and up to a minute and a half where programs hang."""
    machine = looked(port=port, cache_dir=cache_dir, own=own)
    return Diagnosis(machine, examined(machine))


def examined(machine: Machine) -> tuple[Finding, ...]:
    """A finding for every engine, the best first."""
    return (_trtllm(machine), _vllm(machine), _paged(machine), _llamacpp(machine), QUOTING)


QUOTING: Final = Finding("quoting", True, "needs nothing: it quotes the guide, without a model")


def _gpu_problem(machine: Machine, engine: str) -> tuple[str, str] | None:
    if machine.system != "Linux":
        return f"it runs on Linux only, this is {machine.system}", "Run it on a Linux machine and set the engine's base URL"
    if not machine.gpus:
        return f"there is no usable NVIDIA GPU ({machine.gpu_problem})", "Install the driver, or use the embedded engine"
    gpu = max(machine.gpus, key=lambda gpu: gpu.memory_bytes)
    least = COMPUTE[engine]
    if gpu.compute < least:
        have, need = (".".join(map(str, number)) for number in (gpu.compute, least))
        return f"{gpu.name} has compute capability {have}, {need} is needed", "Use a newer GPU, or the embedded engine"
    return None


def _trtllm(machine: Machine) -> Finding:
    if problem := _gpu_problem(machine, "trtllm"):
        return Finding("trtllm", False, *problem)
    gpu = max(machine.gpus, key=lambda gpu: gpu.memory_bytes)
    if not machine.trtllm_command:
        if not machine.docker:
            remedy = "Install Docker and NVIDIA's container toolkit, or trtllm-serve itself"
            return Finding("trtllm", False, f"neither trtllm-serve nor Docker can be used ({machine.docker_problem})", remedy)
        if not machine.nvidia_runtime:
            return Finding("trtllm", False, "Docker has no NVIDIA runtime", "Install NVIDIA's container toolkit and restart Docker")
        # The image goes where Docker keeps its own; mostly that is the same disk.
        if machine.cache_free_bytes < IMAGE_BYTES:
            free = f"{machine.cache_free_bytes / GIB:.0f} GiB of disk are free, the image takes up to {IMAGE_BYTES / GIB:.0f}"
            return Finding("trtllm", False, free, "Free some space, or move Docker's folder")
    if not machine.port_free:
        return Finding(
            "trtllm", False, f"port {machine.port} is taken", f"Set another port, or stop what uses it (docker ps shows {CONTAINER})"
        )
    models = catalogue()
    for name in models.server:
        with suppress(DoesNotFit):
            room = capacity(models.card(name), gpu.memory_bytes, models)
            return Finding("trtllm", True, f"{gpu.name}: {name} for about {room.learners} learners at once (computed, not measured)")
    return Finding("trtllm", False, f"{gpu.name} is too small for every model of the catalogue", "Use the embedded engine")


def _vllm(machine: Machine) -> Finding:
    if problem := _gpu_problem(machine, "vllm"):
        return Finding("vllm", False, *problem)
    if "vllm" not in machine.modules:
        why = "it is not installed beside the bot"
        return Finding("vllm", False, why, "Install it in an environment of its own and set the engine's base URL: it pins many libraries")
    return Finding("vllm", True, "it can be imported; start it with its own command and set the engine's base URL")


def _paged(machine: Machine) -> Finding:
    if problem := _gpu_problem(machine, "paged"):
        return Finding("paged", False, *problem)
    missing = [name for name in PAGED_MODULES if name not in machine.modules]
    if missing:
        return Finding("paged", False, f"{' and '.join(missing)} cannot be imported", "pip install 'studyhall[gpu]'")
    if machine.torch_problem:
        return Finding("paged", False, f"PyTorch cannot be used: {machine.torch_problem}", "Install it anew: pip install 'studyhall[gpu]'")
    if machine.torch is not None and not machine.torch.built_for:
        return Finding("paged", False, "this PyTorch was built without CUDA", "Install the build of PyTorch for your driver's CUDA")
    if machine.torch is not None and not machine.torch.device:
        why = f"the driver lists a GPU, but PyTorch for CUDA {machine.torch.built_for} sees none"
        return Finding("paged", False, why, "Look at CUDA_VISIBLE_DEVICES; an old driver needs an older PyTorch, or an update")
    if machine.own_problem:
        return Finding("paged", False, machine.own_problem, "Correct the model path in the settings")
    gpu = max(machine.gpus, key=lambda gpu: gpu.memory_bytes)
    if machine.own is not None and machine.own_bytes is not None:
        return _paged_with(machine, machine.own, machine.own_bytes, gpu)
    models = catalogue()
    for name in models.server:
        with suppress(DoesNotFit):
            room = capacity(models.card(name), gpu.memory_bytes, models)
            why = f"{gpu.name}: {name} would fit, for about {room.learners} learners at once (computed, not measured)"
            return Finding("paged", True, why, "Set engine: paged, and model_path to a model folder or a GGUF file")
    return Finding("paged", False, f"{gpu.name} is too small for every model of the catalogue", "Use the embedded engine")


def _paged_with(machine: Machine, own: Path, weights: int, gpu: Gpu) -> Finding:
    """The model of the settings against the GPU's memory; what learners need beside it is small against the weights."""
    free = machine.torch.free_bytes if machine.torch else gpu.memory_bytes
    needed = weights + CONTEXT_BYTES + ACTIVATION_BYTES
    sizes = f"{own.name} needs about {needed / GIB:.1f} GiB before the first learner"
    if needed >= gpu.memory_bytes:
        why = f"{sizes}, {gpu.name} has {gpu.memory_bytes / GIB:.1f}"
        return Finding("paged", False, why, "Use a smaller model (engine plan has the sums), or a larger GPU")
    if needed >= free:
        why = f"{sizes}, {free / GIB:.1f} GiB of {gpu.name} are free"
        return Finding("paged", False, why, "Stop what else uses the GPU (nvidia-smi shows it), or use a smaller model")
    return Finding("paged", True, f"{gpu.name}: {sizes}, which leaves {(free - needed) / GIB:.1f} for the cache", "Set engine: paged")


def _llamacpp(machine: Machine) -> Finding:
    if "xllamacpp" not in machine.modules:
        return Finding("llamacpp", False, "xllamacpp is not installed", "pip install 'studyhall[local]'")
    if machine.cpu_flags is not None and "avx2" not in machine.cpu_flags and platform.machine() in ("x86_64", "AMD64"):
        return Finding("llamacpp", False, "this CPU has no AVX2, which the wheel is built for", "Use another machine, or quotes")
    if machine.memory_bytes is not None and machine.memory_bytes < EMBEDDED_BYTES:
        free, needed = machine.memory_bytes / GIB, EMBEDDED_BYTES / GIB
        return Finding(
            "llamacpp", False, f"{free:.1f} GiB of memory are free, about {needed:.0f} are needed", "Close something, or use quotes"
        )
    if machine.weights is not None:
        return Finding("llamacpp", True, f"weights are in {machine.weights.parent}")
    if machine.weights_problem:
        return Finding("llamacpp", False, machine.weights_problem, "Correct the model path in the settings")
    needed_bytes = max(model.size for model in catalogue().embedded_models()) + SPARE
    if machine.cache_free_bytes < needed_bytes:
        why = f"the weights are missing and the disk has {machine.cache_free_bytes / GIB:.1f} GiB free of {needed_bytes / GIB:.1f} needed"
        return Finding("llamacpp", False, why, "Free some space, or set another cache folder")
    return Finding("llamacpp", True, "only the weights are missing; they are fetched at the first start (1.1 GB)")


def looked(*, port: int = 8_000, cache_dir: Path | None = None, own: Path | None = None) -> Machine:
    """What is there, asked of the machine itself."""
    folder = cache_dir or default_folder()
    weights, weights_problem = None, ""
    try:
        weights = locate(catalogue().embedded_models(), folder, None if own is not None and own.expanduser().is_dir() else own)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a path is a finding, not a failure
        weights_problem = str(error)
    gpus, gpu_problem = found_gpus()
    docker, docker_problem, nvidia = _docker()
    own_bytes, own_problem = _own(own) if own is not None else (None, "")
    modules = frozenset(name for name in ("xllamacpp", "vllm", *PAGED_MODULES) if importlib.util.find_spec(name))
    torch, torch_problem = _torch() if "torch" in modules else (None, "")
    return Machine(
        system=platform.system(),
        python=(sys.version_info.major, sys.version_info.minor),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=_memory(),
        cache_free_bytes=shutil.disk_usage(_existing(folder)).free,
        cpu_flags=_cpu_flags(),
        modules=modules,
        weights=weights,
        weights_problem=weights_problem,
        gpus=gpus,
        gpu_problem=gpu_problem,
        docker=docker,
        docker_problem=docker_problem,
        nvidia_runtime=nvidia,
        trtllm_command=shutil.which("trtllm-serve") is not None,
        port_free=_port_free(port),
        port=port,
        torch=torch,
        torch_problem=torch_problem,
        own=own,
        own_bytes=own_bytes,
        own_problem=own_problem,
    )


def parsed_gpus(text: str) -> tuple[Gpu, ...]:
    """The lines of `nvidia-smi --query-gpu=name,memory.total,driver_version,compute_cap --format=csv,noheader,nounits`."""
    found: list[Gpu] = []
    for line in text.splitlines():
        with suppress(ValueError):
            name, memory, driver, compute = (part.strip() for part in line.rsplit(",", 3))
            major, _, minor = compute.partition(".")
            found.append(Gpu(name, int(memory) << 20, driver, (int(major), int(minor or 0))))
    return tuple(found)


def found_gpus() -> tuple[tuple[Gpu, ...], str]:
    """The GPUs that the driver lists, or why there is none. Blocks for up to LIMIT_S."""
    query = "--query-gpu=name,memory.total,driver_version,compute_cap"
    said, problem = _asked(["nvidia-smi", query, "--format=csv,noheader,nounits"])
    if problem:
        return (), problem
    gpus = parsed_gpus(said)
    return gpus, "" if gpus else "nvidia-smi lists none"


def _docker() -> tuple[bool, str, bool]:
    said, problem = _asked(["docker", "info", "--format", "{{json .Runtimes}}"])
    if problem:
        return False, problem, False
    try:
        return True, "", "nvidia" in json.loads(said)
    except (ValueError, TypeError):
        return True, "", False


def _torch() -> tuple[Torch | None, str]:
    said, problem = _asked([sys.executable, "-c", ASK_TORCH], "PyTorch", TORCH_LIMIT_S)
    if problem:
        return None, problem
    return parsed_torch(said)


def parsed_torch(text: str) -> tuple[Torch | None, str]:
    """What ASK_TORCH prints last; a library may have printed before it."""
    try:
        found: dict[str, Any] = json.loads(text.strip().splitlines()[-1])
        return Torch(str(found["built_for"]), str(found["device"]), int(found["free_bytes"])), ""
    except (ValueError, IndexError, KeyError, TypeError):
        return None, f"it said {text.strip()[-80:]!r}"


def _own(path: Path) -> tuple[int | None, str]:
    """The 16-bit size of the operator's weights, where that can be known, and what is wrong with the path."""
    card = catalogue().card_of_file(path)
    path = path.expanduser()
    try:
        if path.is_file():  # GGUF: how many bits a weight has in it is not known from outside
            return (card.weight_bytes if card else None), ""
        files = [file for kind in ("*.safetensors", "*.bin") for file in path.glob(kind)]
        if not path.is_dir() or not files:
            return None, f"{path} holds no weights" if path.is_dir() else f"{path} does not exist"
        return sum(file.stat().st_size for file in files if file.suffix == files[0].suffix), ""
    except OSError as error:
        return None, f"{path} cannot be read ({error.strerror})"


def _asked(command: Sequence[str], name: str = "", limit_s: float = LIMIT_S) -> tuple[str, str]:
    """What a program says, or why it says nothing."""
    name = name or command[0]
    if shutil.which(command[0]) is None:
        return "", f"{name} is not installed"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return "", f"{name} does not answer within {limit_s:.0f} s"
    except OSError as error:
        return "", f"{name} cannot be run ({error.strerror})"
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        return "", f"{name}: {lines[-1][:160]}"
    return done.stdout, ""


def _memory() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text("utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return None


def _cpu_flags() -> frozenset[str] | None:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith(("flags", "Features")):
                return frozenset(line.partition(":")[2].split())
    return None


def _existing(folder: Path) -> Path:
    return next((path for path in (folder, *folder.parents) if path.exists()), Path.cwd())


def _port_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a port that only lingers is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
