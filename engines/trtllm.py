"""What to start in production: the command line and the YAML of trtllm-serve 1.2.1, every name checked before it is used.

An unknown option or key ends that server at its start, so everything that is written here is looked up in
`trtllm_contract.yaml` first, and refused with the reason when there is no evidence for it. This module starts nothing
(`engines/served.py` does), and imports no serving library. TensorRT-LLM was never run for this project: what is checked is
that names, types and values are those of the contract, not that the server is quick or right.

Errors: `ContractError`; `capacity.DoesNotFit` and `catalogue.CatalogueError` from `plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import yaml

from engines.base import EngineError
from engines.capacity import GIB, Capacity, Load, capacity, graph_sizes
from engines.catalogue import Card, catalogue

TABLE: Final = Path(__file__).with_name("trtllm_contract.yaml")
IMAGE: Final = "nvcr.io/nvidia/tensorrt-llm/release:1.2.1"
CONTAINER: Final = "studyhall-trtllm"
CONFIG_IN_CONTAINER: Final = "/etc/studyhall/serve.yaml"
Evidence = str  # "exact", "report" or "bracket"


class ContractError(EngineError):
    """Something would be passed to trtllm-serve that 1.2.1 is not known to take."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of the contract: what it takes, and how we know."""

    kind: str  # bool, int, float, text, ints, map, object, flag, a|b, or a section
    nullable: bool
    evidence: Evidence

    @classmethod
    def of(cls, text: str) -> Entry:
        kind, _, evidence = text.partition(" ")
        if evidence not in ("exact", "report", "bracket"):
            raise ContractError("trtllm", f"the contract has {text!r}", "Write `TYPE EVIDENCE`")
        return cls(kind.removesuffix("?"), kind.endswith("?"), evidence)


@dataclass(frozen=True, slots=True)
class Contract:
    version: str
    options: Mapping[str, Entry]
    keys: Mapping[str, Entry]
    sections: Mapping[str, Mapping[str, Entry]]
    chat: Mapping[str, Entry]
    paths: Mapping[str, str]
    later: frozenset[str]

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raises ContractError for the first option that is unknown or has a wrong value."""
        for name, value in options.items():
            self._check(self.options, name, value, name)

    def check_yaml(self, config: Mapping[str, Any]) -> None:
        """The same for the keys of the YAML file, sections included."""
        for name, value in config.items():
            self._check(self.keys, name, value, name)

    def _check(self, table: Mapping[str, Entry], name: str, value: object, where: str) -> None:
        entry = table.get(name)
        if entry is None:
            why = "it came after 1.2" if name in self.later else "there is no evidence for it"
            raise ContractError("trtllm", f"{where!r} is nothing that trtllm-serve {self.version} takes ({why})", "Take it out")
        if value is None:
            if not entry.nullable:
                raise ContractError("trtllm", f"{where!r} must not be null", "Give a value, or leave it out")
            return
        if entry.kind in self.sections:
            if not isinstance(value, dict):
                raise ContractError("trtllm", f"{where!r} is {value!r}", f"Give a mapping of {entry.kind}")
            for inner, inner_value in cast(dict[str, object], value).items():
                self._check(self.sections[entry.kind], inner, inner_value, f"{where}.{inner}")
        elif not _fits(entry.kind, value):
            raise ContractError("trtllm", f"{where!r} is {value!r}", f"Give: {entry.kind.replace('|', ' or ')}")


def _fits(kind: str, value: object) -> bool:
    match kind:
        case "bool" | "flag":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "text":
            return isinstance(value, str)
        case "ints":
            return isinstance(value, list) and all(_fits("int", item) for item in cast(list[object], value))
        case "map":
            return isinstance(value, dict)
        case "object":
            return True
        case _:
            return value in kind.split("|")


@cache
def contract() -> Contract:
    """The shipped table. Raises ContractError when it was edited into nonsense."""
    table = cast(dict[str, Any], yaml.safe_load(TABLE.read_text("utf-8")))

    def entries(rows: Mapping[str, str]) -> dict[str, Entry]:
        return {name: Entry.of(text) for name, text in rows.items()}

    return Contract(
        version=str(table["version"]),
        options=entries(table["options"]),
        keys=entries(table["yaml"]),
        sections={name: entries(rows) for name, rows in cast(dict[str, dict[str, str]], table["sections"]).items()},
        chat=entries(table["chat"]),
        paths=dict(table["paths"]),
        later=frozenset(table["later"]),
    )


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What an operator decides; everything else follows from the model and the GPU.

    `extra` is merged into the YAML last, for whoever knows better, and is checked like the rest.
    """

    model: str  # a hub repository, or a folder on this machine
    host: str = "127.0.0.1"  # 1.2.1 has no keys and no users: never give it a public address
    port: int = 8_000
    memory_share: float = 0.9  # of what is free after the weights, for the KV cache; lower it on a GPU that others use
    gpus: int = 1
    fp8_cache: bool = False  # halves the cache; reuse with FP8 has been reported to go wrong, so not by default
    guided: bool = True
    container: bool = True
    model_cache: Path | None = None  # the hub's cache folder, mounted into the container; None: downloaded anew each time
    extra: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())


@dataclass(frozen=True, slots=True)
class Launch:
    """What to run and the file that must exist before. `after_stop` removes what a killed client leaves behind."""

    command: tuple[str, ...]
    yaml: str
    base_url: str
    served_name: str  # what goes into the field `model`
    after_stop: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())

    def shell(self) -> str:
        """The command as an operator would type it, one option a line."""
        words = [f"'{word}'" if set(word) & set(" '\"$&;|<>*?(){}") else word for word in self.command]
        lines = [words[0]]
        for word in words[1:]:
            if word.startswith("-") or word in ("trtllm-serve", IMAGE):
                lines.append(word)
            else:
                lines[-1] += f" {word}"
        return " \\\n  ".join(lines)


def options(settings: ServeSettings, room: Capacity, config_path: str) -> dict[str, Any]:
    """The command line of trtllm-serve after the model, by name. Raises ContractError."""
    found: dict[str, Any] = {
        "--host": "0.0.0.0" if settings.container else settings.host,  # inside; the container's port is bound to `host`
        "--port": settings.port,
        "--max_batch_size": room.batch,
        "--max_num_tokens": 8_192,
        "--max_seq_len": room.sequence_tokens,
        "--config": config_path,
    }
    if settings.gpus > 1:
        found["--tp_size"] = settings.gpus
    contract().check_options(found)
    return found


def config(settings: ServeSettings, room: Capacity) -> dict[str, Any]:
    """The YAML of trtllm-serve as values. Raises ContractError, also for a key of `extra`."""
    found: dict[str, Any] = {
        "enable_chunked_prefill": True,  # a new guide must not stall the streams of everybody else
        "kv_cache_config": {
            "enable_block_reuse": True,  # the whole point: one copy of a guide for all who ask about it
            "enable_partial_reuse": True,
            "free_gpu_memory_fraction": settings.memory_share,
        },
        "scheduler_config": {"capacity_scheduler_policy": "GUARANTEED_NO_EVICT"},  # a reply that began is never paused
        "cuda_graph_config": {"enable_padding": True, "batch_sizes": list(graph_sizes(room.batch))},
        "enable_iter_perf_stats": True,
        "return_perf_metrics": True,
    }
    if settings.fp8_cache:
        found["kv_cache_config"]["dtype"] = "fp8"
    if settings.guided:
        found["guided_decoding_backend"] = "xgrammar"
    for key, value in settings.extra.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            found[key] = {**found[key], **cast(dict[str, Any], value)}
        else:
            found[key] = value
    contract().check_yaml(found)
    return found


# The same thing by its two names: given in both places, 1.2.1 lets the YAML win and a later version the command line.
TWICE: Final = {
    "--max_batch_size": "max_batch_size",
    "--max_num_tokens": "max_num_tokens",
    "--max_seq_len": "max_seq_len",
    "--tp_size": "tensor_parallel_size",
    "--enable_chunked_prefill": "enable_chunked_prefill",
}


def launch(settings: ServeSettings, room: Capacity, config_path: Path) -> Launch:
    """The exact command and YAML. Raises ContractError. `config_path` is where the caller will write the YAML."""
    in_yaml = config(settings, room)
    on_line = options(settings, room, CONFIG_IN_CONTAINER if settings.container else str(config_path))
    for option, key in TWICE.items():
        if option in on_line and key in in_yaml:
            raise ContractError("trtllm", f"{option} and {key} say the same thing in two places", f"Take {key} out of `extra`")
    serve = ["trtllm-serve", settings.model]
    for name, value in on_line.items():
        serve += [name] if value is True else [name, str(value)]
    text = yaml.safe_dump(in_yaml, sort_keys=False)
    # A hub repository is served under its id, a folder under its last name.
    name = Path(settings.model).name if settings.model.startswith(("/", ".", "~")) else settings.model
    url = f"http://{settings.host}:{settings.port}/v1"
    if not settings.container:
        return Launch(tuple(serve), text, url, name)
    docker = ["docker", "run", "--rm", "--init", "--name", CONTAINER, "--gpus", "all", "--ipc", "host"]
    docker += ["--ulimit", "memlock=-1", "--ulimit", "stack=67108864", "-p", f"{settings.host}:{settings.port}:{settings.port}"]
    docker += ["-v", f"{config_path}:{CONFIG_IN_CONTAINER}:ro", "-e", "HF_TOKEN"]
    if settings.model_cache is not None:
        docker += ["-v", f"{settings.model_cache}:/root/.cache/huggingface"]
    if settings.model.startswith("/"):
        docker += ["-v", f"{settings.model}:{settings.model}:ro"]
    return Launch((*docker, IMAGE, *serve), text, url, name, after_stop=("docker", "rm", "--force", CONTAINER))


@dataclass(frozen=True, slots=True)
class Plan:
    """What `engine plan` shows: the sums, the command and the file."""

    card: Card
    capacity: Capacity
    load: Load
    launch: Launch
    config_path: Path

    def as_dict(self) -> dict[str, Any]:
        """For --json; numbers are bytes and tokens."""
        return {
            "model": self.card.repo,
            "licence": self.card.licence,
            "memory": asdict(self.capacity),
            "load": asdict(self.load),
            "command": list(self.launch.command),
            "yaml": self.launch.yaml,
            "config_path": str(self.config_path),
            "base_url": self.launch.base_url,
            "checked_against": f"trtllm-serve {contract().version}, from its contract table; not run",
        }

    def text(self) -> str:
        """For people."""
        room = self.capacity

        def gib(number: int) -> str:
            return f"{number / GIB:6.1f} GiB"

        gpus = f"{room.gpus} GPUs, each of" if room.gpus > 1 else "one GPU of"
        lines = [
            f"{self.card.repo} ({self.card.licence}) on {gpus} {room.gpu_bytes / GIB:.0f} GiB",
            "",
            f"  weights              {gib(room.weight_bytes)}   16-bit",
            f"  kept by the server   {gib(room.reserved_bytes)}   assumed: CUDA, one step, {len(graph_sizes(room.batch))} graphs",
            f"  left for the cache   {gib(room.pool_bytes)}   {room.pool_tokens:,} tokens at {room.kv_bytes_per_token / 1024:.0f} KiB",
            "",
            f"  learners at once     {room.learners:6,}       {self.load.guides} guides of {self.load.guide_tokens:,} tokens held once,",
            f"                                    {self.load.own_tokens} tokens of each one's own",
            f"  without prefix reuse {room.learners_unshared:6,}       a guide for each",
            f"  in one step          {room.batch:6,}       more wait their turn",
            "",
            f"{self.config_path}:",
            "",
            *(f"  {line}" for line in self.launch.yaml.splitlines()),
            "",
            f"Start (checked against the contract of trtllm-serve {contract().version}; it was not run here):",
            "",
            *(f"  {line}" for line in self.launch.shell().splitlines()),
        ]
        return "\n".join(lines)


def plan(
    model: str,
    gpu_memory_gb: float,
    *,
    settings: ServeSettings | None = None,
    load: Load | None = None,
    config_path: Path = Path("serve.yaml"),
) -> Plan:
    """Command, YAML and sums for a model of the catalogue on a GPU of so many GiB.

    Raises CatalogueError for an unknown model, DoesNotFit, and ContractError.
    """
    card = catalogue().card(model)
    if "trtllm" not in card.engines:
        raise ContractError("trtllm", f"{card.id} is not served by it", "Use an engine of that model's list, see engines/models.yaml")
    settings = settings or ServeSettings(card.repo)
    room = capacity(
        card,
        int(gpu_memory_gb * GIB),
        catalogue(),
        gpus=settings.gpus,
        memory_share=settings.memory_share,
        kv_bytes=1 if settings.fp8_cache else 2,
        load=load,
    )
    path = config_path.absolute()
    return Plan(card, room, load or Load(), launch(settings, room, path), path)
