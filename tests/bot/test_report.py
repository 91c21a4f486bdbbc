"""`studyhall report`: the results of a live round that was played, as files; and what a wrong round id says."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from bot.cli import main
from bot.sandbox.driver import Sandbox
from tests.bot.conftest import Running
from tests.live.conftest import labels, read


def ran(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> tuple[int, bytes, bytes]:
    sys.argv = ["studyhall", *arguments]
    with pytest.raises(SystemExit) as exit_:
        main()
    output = capfdbinary.readouterr()
    return int(exit_.value.code or 0), output.out, output.err


@pytest.fixture
async def played(sandbox: Sandbox, running: Running) -> str:
    """The id of a round of one question that Sam answered."""
    async with running(sandbox):
        ada, sam = sandbox.person("Ada"), sandbox.person("Sam")
        console = await ada.slash("live start", channel="live-rounds", quiz="tensorrt-engines", questions=1)
        await sandbox.wait_for(lambda: "Start" in labels(console.message), 10)
        await ada.press(console.message, label="Start")
        shown = await sandbox.wait_for(
            lambda: next((m for m in sam.messages("live-rounds") if m.embeds and "question 1 of 1" in read(m)), None), 10
        )
        press = next(b["custom_id"] for b in shown.buttons if b["custom_id"].startswith("live:"))
        await sam.press(shown, custom_id=press)
        return str(press).split(":")[1]


def test_results_are_written_in_every_format_and_a_wrong_id_names_the_right_ones(
    played: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    database = ("--database", str(tmp_path / "studyhall.db"))
    code, out, _ = ran(capfdbinary, "report", played, "--format", "json", *database)
    assert code == 0
    assert [person["name"] for person in json.loads(out)["people"]] == ["Sam"]
    code, out, _ = ran(capfdbinary, "report", played, *database)
    assert next(csv.DictReader(io.StringIO(out.decode("utf-8-sig"))))["name"] == "Sam"
    code, _, _ = ran(capfdbinary, "report", played, "--format", "xlsx", "--to", str(tmp_path / "r.xlsx"), *database)
    assert code == 0
    assert (tmp_path / "r.xlsx").read_bytes().startswith(b"PK")
    code, _, err = ran(capfdbinary, "report", "nonsense", *database)
    assert code == 1
    assert err.decode().strip() == f"studyhall: there is no live round 'nonsense'. The newest are: {played}."
