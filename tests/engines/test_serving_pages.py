"""docs/serving.md and docs/capacity.md: the Python runs, the sums are those of the code, and no option is named that the table lacks."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from bot.settings import Settings
from engines.capacity import GIB, DoesNotFit, capacity
from engines.catalogue import catalogue
from engines.trtllm import contract

DOCS = Path(__file__).parents[2] / "docs"
SERVING = (DOCS / "serving.md").read_text("utf-8")
CAPACITY = (DOCS / "capacity.md").read_text("utf-8")


def test_the_code_on_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", SERVING, re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/serving.md", "exec"), {"__name__": "page"})


def test_every_option_and_key_for_trtllm_is_in_the_table() -> None:
    known = contract()
    commands = re.findall(r"^(?:srun .* )?(?:trtllm-llmapi-launch )?trtllm-serve MODEL (.*)$", SERVING, re.M)
    assert len(commands) >= 2
    for command in commands:
        known.check_options({name: int(value) if value.isdigit() else value for name, value in re.findall(r"(--\S+) (\S+)", command)})
    files = [yaml.safe_load(file) for file in re.findall(r"```yaml\n(.*?)```", SERVING, re.S)]
    ours, theirs = [file for file in files if "engine" in file], [file for file in files if "engine" not in file]
    assert ours
    assert theirs
    for file in theirs:
        known.check_yaml(file)
    for file in ours:
        assert Settings(**file).engine == file["engine"]


def test_the_table_of_memory_is_what_the_code_computes() -> None:
    rows = re.findall(r"^\| (\S+) \| (\d+) GB \| (.*?) \| (.*?) ?\| (.*?) ?\|$", CAPACITY, re.M)
    assert len(rows) == 18
    for model, size, tokens, learners, unshared in rows:
        try:
            room = capacity(catalogue().card(model), int(size) * GIB, catalogue())
        except DoesNotFit:
            assert tokens == "does not fit"
            continue
        assert (tokens, learners, unshared) == (f"{room.pool_tokens:,}", f"{room.learners:,}", f"{room.learners_unshared:,}")


def test_the_steady_load_is_divided_right() -> None:
    rows = re.findall(r"^\| ([\d,]+) \| ([\d.]+) \| ([\d,]+) \|", CAPACITY, re.M)
    assert [row[0] for row in rows] == ["5", "50", "500", "5,000", "50,000"]
    for learners, questions, tokens in rows:
        per_second = int(learners.replace(",", "")) / 120
        assert abs(float(questions) - per_second) <= 0.05 * per_second + 0.005
        assert int(tokens.replace(",", "")) == round(100 * per_second)


def test_the_pages_say_that_tensorrt_llm_was_not_measured() -> None:
    for page in (SERVING, CAPACITY):
        assert re.search(r"[Nn]othing (here )?was measured on TensorRT-LLM", page)
