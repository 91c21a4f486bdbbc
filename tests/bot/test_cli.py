"""The command line as a new user meets it: what it prints, its exit codes, and one clear line for every foreseeable failure."""

from __future__ import annotations

import errno
import json
import socket
import sys
from pathlib import Path

import pytest

from bot.cli import cli, main, one_line
from bot.cli.manual import COMMAND_LINE, EXAMPLE, command_line, example_settings
from bot.settings import Settings, SettingsError, load_settings
from engines import weights
from engines.catalogue import catalogue

ROOT = Path(__file__).parents[2]
QUIZ = "schema: quiz/1\nid: week-3\nversion: 1\ntitle: Week 3\nlanguages: [en]\nquestions:\n"
GOOD = QUIZ + "- {id: a, type: truefalse, stem: The sky is blue., answer: true, explanation: It is.}\n"
BAD = QUIZ + "- {id: a, type: single, stem: What?, choises: []}\n"


@pytest.fixture(autouse=True)
def _bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the person who runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in ("DISCORD_TOKEN", "DISCORD_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    sys.argv = ["studyhall", *arguments]
    with pytest.raises(SystemExit) as exit_:
        main()
    output = capsys.readouterr()
    return int(exit_.value.code or 0), output.out, output.err


def failed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code and the one line on standard error."""
    code, _, err = ran(capsys, *arguments)
    lines = err.strip().splitlines()
    assert len(lines) == 1, err
    assert "Traceback" not in err
    return code, lines[0]


def content(tmp_path: Path, text: str) -> str:
    (tmp_path / "course" / "quizzes").mkdir(parents=True)
    (tmp_path / "course" / "quizzes" / "week-3.quiz.yaml").write_text(text, "utf-8")
    return str(tmp_path / "course")


def test_ask_prints_a_cited_answer_and_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    question = ("tensorrt-engines", "Why is my engine tied to one GPU?", "--engine", "quoting")
    code, out, _ = ran(capsys, "ask", *question)
    assert code == 0
    assert "[1] TensorRT and inference engines: Why an engine is tied to one GPU" in out
    code, out, _ = ran(capsys, "ask", *question, "--json")
    reply = json.loads(out)
    assert code == 0
    assert reply["kind"] == "quote"
    assert reply["citations"][0]["section"] == "tensorrt-engines:hardware-compatibility"
    assert reply["verdict"] == {"supported": len(reply["sentences"]), "dropped": 0}
    assert reply["timings"]["total_s"] > 0


def test_ask_says_so_when_the_guide_does_not_cover_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "ask", "tensorrt-engines", "How do I bake bread?", "--engine", "quoting")
    assert code == 0
    assert out.startswith("This is not something that the guides here are about.")


@pytest.mark.weights
@pytest.mark.skipif(
    weights.locate(catalogue().embedded_models(), weights.default_folder()) is None, reason="no weights: studyhall model fetch"
)
def test_ask_with_the_real_weights_gives_a_cited_english_answer(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "ask", "tensorrt-engines", "Why is my engine tied to one GPU?", "--engine", "llamacpp", "--json")
    reply = json.loads(out)
    assert code == 0
    assert reply["kind"] == "answer"
    assert "GPU" in reply["text"]
    assert {c["section"] for c in reply["citations"]} & {"tensorrt-engines:hardware-compatibility", "tensorrt-engines:faq-one-gpu"}


def test_check_reports_every_fault_with_its_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = ran(capsys, "check", content(tmp_path, BAD))
    assert code == 1
    assert "week-3.quiz.yaml:7: question 'a'" in out
    assert "Did you mean 'choices'?" in out
    code, out, _ = ran(capsys, "check", str(tmp_path / "course"), "--json")
    assert code == 1
    assert json.loads(out)["counts"]["errors"] >= 2


def test_check_of_the_shipped_library_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "check", "--facts")
    assert code == 0
    assert out.strip().endswith("nothing to report.")


def test_an_own_folder_is_offered_beside_the_library(tmp_path: Path) -> None:
    from bot.cli.compose import loaded_library

    library = loaded_library([Path(content(tmp_path, GOOD))])
    assert {"week-3", "tensorrt-engines"} <= set(library.quizzes)


def test_bad_content_ends_a_start_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = content(tmp_path, BAD)
    for command in (("demo", "--no-browser"), ("ask", "tensorrt-engines", "what?", "--engine", "quoting")):
        code, line = failed(capsys, *command, "--content", folder)
        assert code == 1
        assert "week-3.quiz.yaml:" in line
        assert f"studyhall check {folder}" in line


def test_a_missing_folder_token_and_guide_are_named_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert failed(capsys, "demo", "--content", "nowhere") == (
        1,
        "studyhall: nowhere: there is no such folder. Name the folder that holds your quizzes/ and guides/.",
    )
    code, line = failed(capsys, "run")
    assert (code, "DISCORD_TOKEN is not set" in line) == (2, True)
    code, line = failed(capsys, "ask", "nothing", "what?")
    assert (code, "Choose one of: cuda-programming" in line) == (1, True)


def test_a_taken_port_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, line = failed(capsys, "demo", "--no-browser", "--port", str(taken.getsockname()[1]))
    assert code == 1
    assert "choose another port with --port" in line


def test_an_unreadable_database_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.db").write_bytes(b"not a database" * 100)
    monkeypatch.setenv("DISCORD_TOKEN", "a-secret-token")
    monkeypatch.setenv("STUDYHALL_DATABASE", str(tmp_path / "broken.db"))
    code, line = failed(capsys, "run")
    assert code == 1
    assert "broken.db" in line
    assert "backup" in line
    assert "a-secret-token" not in line


def test_a_full_disk_is_one_line() -> None:
    assert one_line(OSError(errno.ENOSPC, "No space left on device", "data/x")) == (
        "the disk is full (data/x). Free some space and start again; nothing that was acknowledged is lost."
    )
    assert one_line(ExceptionGroup("several", [SettingsError("one")])) == "one"
    assert one_line(KeyError("a fault of ours")) is None


@pytest.mark.parametrize(
    ("file", "named"),
    [("engine: turbo\n", "engine"), ("databse: x.db\n", "databse"), ("engine: [\n", "studyhall.yaml")],
)
def test_wrong_settings_are_named(tmp_path: Path, file: str, named: str) -> None:
    (tmp_path / "studyhall.yaml").write_text(file, "utf-8")
    with pytest.raises(SettingsError, match=named):
        load_settings()


def test_settings_come_from_the_environment_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "studyhall.yaml").write_text("engine: quoting\nguide_url: https://example.org/guides\n", "utf-8")
    monkeypatch.setenv("STUDYHALL_ENGINE", "llamacpp")
    settings = load_settings()
    assert (settings.engine, settings.guide_url) == ("llamacpp", "https://example.org/guides")


def test_the_token_can_stand_in_a_file_and_is_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bot.settings import load_token

    (tmp_path / "token").write_text("a-secret-token\n", "utf-8")
    monkeypatch.setenv("DISCORD_TOKEN_FILE", str(tmp_path / "token"))
    token = load_token()
    assert token.get_secret_value() == "a-secret-token"
    assert "a-secret" not in f"{token} {token!r}"
    monkeypatch.setenv("DISCORD_TOKEN_FILE", str(tmp_path / "no-token"))
    with pytest.raises(SettingsError, match="DISCORD_TOKEN_FILE"):
        load_token()


def test_the_generated_pages_are_up_to_date() -> None:
    assert (ROOT / COMMAND_LINE).read_text("utf-8") == command_line(cli), "run: studyhall manual"
    assert (ROOT / EXAMPLE).read_text("utf-8") == example_settings(), "run: studyhall manual"


def test_the_example_settings_are_settings(tmp_path: Path) -> None:
    lines = (ROOT / EXAMPLE).read_text("utf-8").splitlines()
    settings = [line.removeprefix("# ") for line in lines if line.partition(":")[0].removeprefix("# ") in Settings.model_fields]
    (tmp_path / "studyhall.yaml").write_text("\n".join(settings), "utf-8")
    assert load_settings() == Settings()
