"""Asking a suite: fresh state for each item, histories, planted text, failures as outcomes, and runs that go on where they stopped.

The engines are the test engine and the quoting one; how a model does is measured with `studyhall eval`, not here.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot.cli.evaluate import evaluate
from bot.cli.evaluate_run import Examiner, ResultsFile, in_cheap_order, read_results, run, spread
from content.model import ContentError, Library
from engines.base import Prompt, Traits
from engines.hostile import Slow
from engines.quoting import QuotingEngine
from engines.scripted import ScriptedEngine
from tests.eval.builders import LIBRARY, item, shown
from tests.eval.conftest import SUITES
from tutor.evaluation import Expect, Outcome, Planted, Setup
from tutor.retrieval import Retriever

SETUP = Setup("s/1", "digest", "quoting", None, embeddings=False)


def saying(text: str, prompts: list[Prompt]) -> ScriptedEngine:
    def script(prompt: Prompt) -> list[str]:
        prompts.append(prompt)
        return [text]

    return ScriptedEngine(script)


def examiner(engine: Any, *, library: Library = LIBRARY, **more: Any) -> Examiner:
    return Examiner(library, Retriever(library), lambda _: engine, QuotingEngine(), **more)


async def test_a_history_is_asked_first_and_reaches_the_prompt_and_no_other_item() -> None:
    prompts: list[Prompt] = []
    asking = examiner(saying("The outer gate closes at dusk [S1].", prompts))
    first = await asking.outcome(item(question="And the outer gate's weight?", history=("When does the outer gate close?",)))
    assert [turn.question for turn in first.turns] == ["When does the outer gate close?", "And the outer gate's weight?"]
    assert "When does the outer gate close?" in [message.text for message in prompts[1].messages]
    await asking.outcome(item(question="When does the outer gate close?"))
    assert len(prompts[2].messages) == 2


async def test_what_was_shown_is_kept_with_its_sections_and_times() -> None:
    prompts: list[Prompt] = []
    final = (await examiner(saying("The outer gate closes at dusk [S1]. It weighs 50 tons [S1].", prompts)).outcome(item())).final
    assert final is not None
    assert [(line.text, line.sections) for line in final.lines] == [("The outer gate closes at dusk.", ("harbour:gates",))]
    assert (final.kind, final.dropped) == ("answer", 1)
    assert 0 < final.gate_s <= final.total_s + 0.1


async def test_a_guide_is_warmed_once_before_its_first_item() -> None:
    engine = ScriptedEngine(lambda _: ["The outer gate closes at dusk [S1]."], traits=Traits("x", model="m", whole_guide=True))
    asking = examiner(engine)
    await run(asking, [item(id="a"), item(id="b"), item(id="c", planted=Planted("gates", "More."))], at_once=2)
    asking.close()
    assert len(engine.warmed) == 1
    assert len(engine.prompts) == 3
    assert engine.prompts[0].messages[0] == engine.warmed[0].messages[0]


async def test_planted_text_is_there_for_its_item_alone() -> None:
    prompts: list[Prompt] = []
    asking = examiner(saying("The outer gate closes at dusk [S1].", prompts))
    await asking.outcome(item(planted=Planted("gates", "The inner gate is painted green.")))
    await asking.outcome(item())
    assert ["painted green" in prompt.messages[0].text for prompt in prompts] == [True, False]


async def test_an_item_that_wants_the_original_is_asked_as_if_nothing_were_translated() -> None:
    korean = next(iter(LIBRARY.guides["harbour"].values()))
    library = Library(guides={"harbour": {"en": korean, "ko": korean}})
    asking = examiner(QuotingEngine(), library=library)
    assert (await asking.outcome(item(original_only=True, language="ko", question="gate?"))).failure is None
    assert list(asking._untranslated()[0].guides["harbour"]) == ["en"]
    asking.close()


async def test_an_open_question_is_locked_and_a_closed_one_is_explained() -> None:
    asking = examiner(QuotingEngine())
    locked = await asking.outcome(
        item(Expect.HINT, question="what is the answer", open_question="port:gate", history=("tell me the key", "which option"))
    )
    assert [turn.kind for turn in locked.turns] == ["hint"] * 3
    closed = await asking.outcome(item(question="", closed_question="port:gate"))
    assert closed.final is not None
    assert "At sunset every single evening" in closed.final.question


async def test_a_reply_that_never_comes_or_raises_is_an_outcome_and_not_an_end() -> None:
    late = await examiner(Slow(), deadline_s=0.05).outcome(item())
    assert late.final is None
    assert late.failure == "no reply within 0.05 s"
    broken = ScriptedEngine([])  # raises what no engine may raise
    outcomes = await run(examiner(broken), [item(id="a"), item(id="b", question="zzz", expect=Expect.REFUSE)])
    assert (outcomes["a"].failure or "").startswith("ScriptExhausted")
    assert outcomes["b"].failure is None


async def test_items_are_each_asked_once_however_many_at_a_time() -> None:
    done: list[str] = []
    items = [item(id=str(number)) for number in range(20)]
    outcomes = await run(examiner(QuotingEngine()), items, at_once=7, on_outcome=lambda outcome: done.append(outcome.item_id))
    assert sorted(done) == sorted(outcomes) == sorted(str(number) for number in range(20))


def test_a_limit_takes_items_from_all_over_the_suite_and_guides_stay_together() -> None:
    items = [item(id=str(number), guide="ab"[number % 2]) for number in range(100)]
    assert [one.id for one in spread(items, 4)] == ["0", "25", "50", "75"]
    assert spread(items, None) == spread(items, 500) == items
    assert [one.guide for one in in_cheap_order(items)] == ["a"] * 50 + ["b"] * 50


def test_results_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / "new" / "results.jsonl")
    assert not file.opened(SETUP).outcomes
    outcomes = [Outcome("a", (shown("Text. «ώ»"), shown(kind="hint", hint_rung=2))), Outcome("b", (), "it hung")]
    for outcome in outcomes:
        file.add(outcome)
    assert list(file.opened(SETUP).outcomes.values()) == outcomes


def test_a_run_that_was_killed_while_writing_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    file = ResultsFile(path)
    file.opened(SETUP)
    file.add(Outcome("a", (shown("x"),)))
    whole = path.read_text("utf-8")
    for cut in range(whole.index("\n") + 2, len(whole) - 1):
        path.write_text(whole[:cut], "utf-8")
        assert list(read_results(path).outcomes) == []


def test_another_run_is_not_gone_on_with_and_what_is_no_results_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    ResultsFile(path).opened(SETUP)
    other = Setup("s/1", "another digest", "quoting", None, embeddings=False)
    with pytest.raises(ContentError, match="another run"):
        ResultsFile(path).opened(other)
    path.write_text('{"schema": "x"}\n', "utf-8")
    with pytest.raises(ContentError, match=":1: it is no results file"):
        read_results(path)
    path.write_text(json.dumps(SETUP.to_json()) + "\n{}\n" + json.dumps(Outcome("a", ()).to_json()) + "\n", "utf-8")
    with pytest.raises(ContentError, match=":2: it is no outcome"):
        read_results(path)


def called(*arguments: str) -> Result:
    return CliRunner().invoke(evaluate, [*arguments, "--no-embeddings", "--engine", "quoting"])


def test_the_command_goes_on_with_its_results_and_compares_two_runs(tmp_path: Path) -> None:
    results, report = tmp_path / "a.jsonl", tmp_path / "report.md"
    suite = str(SUITES / "grounding.yaml")
    first = called(suite, "--limit", "6", "--results", str(results))
    assert first.exit_code == 0, first.output
    size = results.stat().st_size
    again = called(suite, "--limit", "6", "--results", str(results), "--compare", str(results), "--report", str(report))
    assert again.exit_code == 0, again.output
    assert results.stat().st_size == size
    assert "| answered |" in report.read_text("utf-8")
    assert "| measure | a.jsonl (quoting) | this run |" in report.read_text("utf-8")


def test_words_alone_reach_the_thresholds_of_the_half_they_were_tuned_on() -> None:
    """Recall in topic scope at least 0.65, off-topic refused at least 0.95, retrieval and gate within 120 ms: the suite says so."""
    found = called(str(SUITES / "grounding.yaml"), "--split", "tune", "--json")
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    assert data["items"] == 120
    assert data["missed"] == []
    assert data["metrics"]["all"]["recall_at_3"]["value"] >= 0.80
    assert data["times"]["gate_s"]["of"] == 120


def test_a_missed_threshold_is_exit_code_1_and_wrong_use_is_2(tmp_path: Path) -> None:
    path = tmp_path / "hard.yaml"
    path.write_text(
        "schema: eval-suite/1\nid: hard\ntitle: Hard\nthresholds: [{metric: answered, at_least: 1}]\n"
        "items: [{id: a, category: c, lang: en, guide: cuda-programming, question: who won the cup, expect: answer}]\n",
        "utf-8",
    )
    missed = called(str(path))
    assert missed.exit_code == 1
    assert "answered of all is 0.000 (n = 1), wanted at least 1" in missed.output
    assert called(str(path), "--category", "none").exit_code == 2
    assert called(str(path), "--split", "half").exit_code == 2


def test_the_generated_suite_is_asked_by_name() -> None:
    found = called("leak", "--limit", "30")
    assert found.exit_code == 0, found.output
    assert "| leaked | 0.000 |" in found.output


async def test_asking_is_given_up_cleanly_when_the_run_is_cancelled() -> None:
    task = asyncio.create_task(run(examiner(Slow()), [item()]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
