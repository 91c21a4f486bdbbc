"""`studyhall engine plan` from the settings alone: the command is that of the server which the bot will ask. Nothing is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.cli import cli, engines
from engines.capacity import GIB
from engines.doctor import Gpu

SETTINGS = "engine: server\nserver_flavour: trtllm\nserver_model: qwen3-4b-instruct-2507\nserver_url: http://127.0.0.1:8123/v1\n"
SMALL, LARGE = Gpu("small", 8 * GIB, "570", (8, 0)), Gpu("large", 80 * GIB, "570", (9, 0))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def plan(*arguments: str) -> Any:
    said = CliRunner().invoke(cli, ["engine", "plan", "--json", *arguments])
    return json.loads(said.output) if said.exit_code == 0 else said.output


def test_the_settings_alone_give_the_exact_command(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("studyhall.yaml").write_text(SETTINGS, "utf-8")
    monkeypatch.setattr(engines, "found_gpus", lambda: ((SMALL, LARGE), ""))
    made = plan("--local")
    assert made["command"][:2] == ["trtllm-serve", "Qwen/Qwen3-4B-Instruct-2507"], "an id of ours means nothing to the server"
    assert made["base_url"] == "http://127.0.0.1:8123/v1"
    assert made["memory"]["gpu_bytes"] == 80 * GIB


def test_the_command_line_comes_before_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("studyhall.yaml").write_text(SETTINGS, "utf-8")
    monkeypatch.setattr(engines, "found_gpus", lambda: pytest.fail("there was no need to ask"))
    made = plan("--local", "--model", "Qwen/Qwen2.5-1.5B-Instruct", "--gpu-memory", "24", "--port", "9001")
    assert made["model"] == "Qwen/Qwen2.5-1.5B-Instruct"
    assert (made["base_url"], made["memory"]["gpu_bytes"]) == ("http://127.0.0.1:9001/v1", 24 * GIB)


def test_what_nobody_said_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "set server_model in studyhall.yaml" in plan()
    monkeypatch.setattr(engines, "found_gpus", lambda: ((), "nvidia-smi is not installed"))
    assert "--gpu-memory: it cannot be asked here (nvidia-smi is not installed)" in plan("--model", "qwen3-1.7b")
