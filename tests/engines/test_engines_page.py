"""docs/engines.md: its Python runs, and its model table is the catalogue's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engines.capacity import GIB
from engines.catalogue import catalogue

PAGE = (Path(__file__).parents[2] / "docs" / "engines.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize("block", BLOCKS, ids=[block.splitlines()[-1][:40] for block in BLOCKS])
def test_the_code_on_the_page_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/engines.md", "exec"), {"__name__": "page"})
    said = capsys.readouterr().out
    promised = re.findall(r"print\(.*\)  # (.*)", block)
    for line in promised:
        assert line in said


def test_the_model_table_is_the_catalogues() -> None:
    rows = [
        f"| {card.id} | {' '.join(sorted(card.languages))} | {card.weight_bytes / GIB:.1f} GiB | {card.kv_bytes_per_token >> 10} KiB "
        f"| {', '.join(sorted(card.engines))} |"
        for card in catalogue().cards.values()
    ]
    for row in rows:
        assert row in PAGE, f"docs/engines.md lacks: {row}"
