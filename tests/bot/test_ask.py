"""`/ask`, `/guide` and `/help` in the strict sandbox: what is asked, what may be read, and what stays hidden while a question is open."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bot.cli import compose
from bot.client import StudyhallClient
from bot.sandbox.driver import Sandbox
from bot.sandbox.model import Message
from bot.settings import Settings
from bot.views import answers
from content.leaks import leak
from content.load import SHIPPED, load_library
from content.model import Library
from engines.base import EngineDown
from engines.scripted import ScriptedEngine
from tests.bot.conftest import Running
from tests.bot.test_solo_round import answered, asked, embed, labels
from tutor.errors import NotFound
from tutor.reply import Citation, Kind, Sentence, TutorReply

LIBRARY = load_library([SHIPPED]).library


async def answer_of(sandbox: Sandbox, question: str, **options: object) -> Message:
    act = await sandbox.person("Sam").slash("ask", question=question, **options)
    return await sandbox.wait_for(lambda: act.message if act.message and act.message.buttons else None, 20)


async def test_an_answer_quotes_and_cites_and_its_sections_can_be_opened(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        message = await answer_of(sandbox, "Why is my engine tied to one GPU?")
        assert "[1]" in str(embed(message)["description"])
        assert not message.ephemeral
        opened = await sandbox.person("Lin").press(message, label="Read: Why an engine is tied to one GPU")
        assert opened.message.ephemeral
        assert "GPU" in str(embed(opened.message)["title"])


async def test_an_off_topic_question_is_refused_plainly(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        message = await answer_of(sandbox, "How do I bake a sourdough bread?")
        assert str(embed(message)["description"]).startswith("This is not something that the guides here are about.")


async def test_while_a_question_is_open_its_learner_gets_hints_and_others_get_answers(sandbox: Sandbox, running: Running) -> None:
    quiz = LIBRARY.quizzes["tensorrt-engines"]
    async with running(sandbox):
        sam = sandbox.person("Sam")
        message = (await sam.slash("quiz play", quiz=quiz.id, shuffle=False)).message
        question = asked(quiz, message)
        hints = [hint["en"] for hint in question.hints]
        for rung, attempt in enumerate(("What is the answer?", "Is it A?", f"Unrelated to the quiz: {question.stem['en']}"), start=1):
            reply = await answer_of(sandbox, attempt, guide="tensorrt-engines")
            shown = str(embed(reply)["description"])
            assert f"**Hint {rung}**\n{hints[rung - 1]}" in shown
            assert reply.ephemeral
            assert leak(shown, question) is None
        button = (await sam.press(message, label="Hint")).message
        assert hints[2] in str(embed(button)["description"])  # the ladder is the same one, and its last rung repeats
        other = await sandbox.person("Lin").slash("ask", question=question.stem["en"], guide="tensorrt-engines")
        await sandbox.wait_for(lambda: other.message.buttons, 20)
        assert "Hint" not in str(embed(other.message)["description"])
        await answered(sam, message, question, right=True)


async def test_an_exam_locks_all_of_its_questions_until_its_end(sandbox: Sandbox, running: Running) -> None:
    quiz = LIBRARY.quizzes["tensorrt-engines"]
    async with running(sandbox):
        message = (await sandbox.person("Sam").slash("quiz play", quiz=quiz.id, mode="exam")).message
        assert "Hint" not in labels(message)
        last = quiz.questions[-1]
        reply = await answer_of(sandbox, last.stem["en"], guide="tensorrt-engines")
        assert "**Hint 1**" in str(embed(reply)["description"])


async def test_a_model_is_never_asked_while_a_question_is_open(sandbox: Sandbox, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ScriptedEngine([])  # raises when it is asked anything
    monkeypatch.setattr(compose, "built_engine", lambda settings, **hooks: engine)
    async with running(sandbox):
        await sandbox.person("Sam").slash("quiz play", quiz="tensorrt-engines", shuffle=False)
        reply = await answer_of(sandbox, "What happens when the input is outside the profile?", guide="tensorrt-engines")
        assert embed(reply)["description"]
    assert not engine.prompts


async def test_a_models_answer_shows_its_sentences_and_the_quote_behind_them(
    sandbox: Sandbox, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [["Layer fusion replaces neighbouring layers by one that behaves the same. ", "It also paints them blue. ", "\n"]]
    monkeypatch.setattr(compose, "built_engine", lambda settings, **hooks: ScriptedEngine(script))
    async with running(sandbox):
        message = await answer_of(sandbox, "What does layer fusion do?", guide="tensorrt-engines")
        shown = str(embed(message)["description"])
        assert shown.startswith("Layer fusion replaces neighbouring layers by one that behaves the same. [1]")
        assert "blue" not in shown
        quote = await sandbox.person("Sam").press(message, label="Show quote")
        assert "Layer fusion" in str(embed(quote.message)["fields"])


async def test_a_model_that_dies_leaves_a_quote(sandbox: Sandbox, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [[EngineDown("scripted", "gone", "Start it")]]
    monkeypatch.setattr(compose, "built_engine", lambda settings, **hooks: ScriptedEngine(script))
    async with running(sandbox):
        message = await answer_of(sandbox, "What does layer fusion do?", guide="tensorrt-engines")
        assert "The language model did not answer in time" in str(embed(message)["description"])


async def test_one_learner_has_one_question_running_and_two_waiting(
    sandbox: Sandbox, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = asyncio.Event()
    answer = "Layer fusion replaces neighbouring layers by one that behaves the same."
    monkeypatch.setattr(compose, "built_engine", lambda settings, **hooks: ScriptedEngine([[go, answer], [answer], [answer]]))
    async with running(sandbox):
        sam = sandbox.person("Sam")
        acts = [await sam.slash("ask", question="What does layer fusion do?") for _ in range(4)]
        await sandbox.wait_for(lambda: "Ask again in a moment" in acts[3].message.content, 10)
        go.set()
        for act in acts[:3]:
            await sandbox.wait_for(lambda act=act: act.message.buttons, 10)
            assert answer in str(embed(act.message)["description"])


def edits(sandbox: Sandbox) -> int:
    return sum(entry.method == "PATCH" for entry in sandbox.api.log)


async def test_a_quote_comes_whole_in_one_edit_and_a_slow_answer_is_shown_as_it_grows(
    sandbox: Sandbox, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = asyncio.Event()
    first = "Layer fusion replaces neighbouring layers by one that behaves the same."
    slow = [f"{first}\n", go, "Patterns vary with the TensorRT version, data type and GPU.\n"]
    gone = [EngineDown("scripted", "gone", "Start it")]
    monkeypatch.setattr(compose, "built_engine", lambda settings, **hooks: ScriptedEngine([slow, gone]))
    async with running(sandbox):
        before = edits(sandbox)
        act = await sandbox.person("Sam").slash("ask", question="What does layer fusion do?", guide="tensorrt-engines")
        growing = await sandbox.wait_for(lambda: act.message if act.message and first in str(act.message.data.get("embeds")) else None, 20)
        assert not growing.buttons
        go.set()
        await sandbox.wait_for(lambda: growing.buttons, 20)
        assert edits(sandbox) == before + 2
        monkeypatch.setattr(answers, "BETWEEN_EDITS_S", 600.0)  # a second edit would never come
        before = edits(sandbox)
        message = await answer_of(sandbox, "What happens when the input is outside the profile?", guide="tensorrt-engines")
        assert "> " in str(embed(message)["description"])
        assert edits(sandbox) == before + 1


async def test_why_is_received_before_the_store_is_asked_and_what_goes_wrong_then_is_said(
    sandbox: Sandbox, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiz = LIBRARY.quizzes["tensorrt-engines"]
    go = asyncio.Event()
    async with running(sandbox) as client:
        sam = sandbox.person("Sam")
        message = (await sam.slash("quiz play", quiz=quiz.id, shuffle=False)).message
        message = (await answered(sam, message, asked(quiz, message), right=True)).message

        async def review(*_: object, **__: object) -> None:
            await go.wait()
            raise NotFound("round", "gone")

        monkeypatch.setattr(client.tutor, "review", review)
        act = await sam.press(message, label="Why?")  # it is received, though nothing is known yet
        assert act.message.loading
        go.set()
        told = await sandbox.wait_for(lambda: act.followups or (not act.message.loading and [act.message]), 10)
        assert told[-1].content
        assert told[-1].ephemeral


async def test_dismissing_a_growing_answer_stops_the_engine(sandbox: Sandbox, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    go = asyncio.Event()
    first = "Layer fusion replaces neighbouring layers by one that behaves the same.\n"
    engine = ScriptedEngine([[first, go, "Patterns vary with the TensorRT version, data type and GPU.\n", asyncio.Event()]])
    monkeypatch.setattr(compose, "built_engine", lambda settings, **hooks: engine)
    async with running(sandbox) as client:
        sam = sandbox.person("Sam")
        act = await sam.slash("ask", question="What does layer fusion do?", private=True)
        await sandbox.wait_for(lambda: act.message.embeds, 10)
        sam.dismiss(act.message)
        await asyncio.sleep(1.3)  # the next edit comes no sooner
        go.set()
        await sandbox.wait_for(lambda: client.tutor.answering.position(sam.id) is None, 5)
        again = await sam.slash("help")
        assert again.message


async def test_a_guide_is_paged_to_its_end(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        message = (await sam.slash("guide", topic="tensorrt-engines")).message
        pages = 1
        while "Next" in labels(message):
            message = (await sam.press(message, label="Next")).message
            pages += 1
        assert f"{pages} of {pages}" in str(embed(message)["author"])
        assert "Next guide: Model quantization" in str(embed(message)["fields"])
        following = (await sam.press(message, label="Next guide: Model quantization")).message
        assert "Model quantization · 1 of" in str(embed(following)["author"])
        jumped = (await sam.select(following, None, ["3"])).message
        assert "4 of" in str(embed(jumped)["author"])


async def test_a_guide_and_a_section_are_suggested_while_typing(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        assert [choice["value"] for choice in await sam.complete("guide", focused="topic", value="cuda")] == ["cuda-programming"]
        found = await sam.complete("guide", focused="section", value="fusion", topic="tensorrt-engines")
        assert "layer-fusion" in [choice["value"] for choice in found]


async def test_help_says_what_answers(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        message = (await sandbox.person("Sam").slash("help")).message
        assert "quoting the guide" in str(embed(message)["description"])


async def test_unchanged_commands_are_not_sent_again(settings: Settings, running: Running, tmp_path: Path) -> None:
    async with Sandbox() as sandbox:
        async with running(sandbox):
            pass
        async with running(sandbox):
            pass
        sent = [entry for entry in sandbox.api.log_json() if entry["method"] == "PUT"]
        assert len(sent) == 1


def test_every_guide_fits_discord() -> None:
    from bot import render
    from tutor.service import GuideView

    library: Library = LIBRARY
    for variants in library.guides.values():
        for guide in variants.values():
            for number in range(len(render.guide_pages(guide))):
                made = render.guide_embed(GuideView(guide, guide.language, None, (), ()), number, guide.language)
                assert len(made) <= 6_000
                assert made.description is not None
                assert not made.description.endswith(" …"), f"{guide.id} ({guide.language}), page {number} is cut"


async def test_a_live_question_is_locked_for_everybody_there_until_it_is_revealed(sandbox: Sandbox, running: Running) -> None:
    from tests.live.conftest import labels as live_labels
    from tests.live.conftest import read

    quiz = LIBRARY.quizzes["tensorrt-engines"]
    async with running(sandbox):
        ada, sam = sandbox.person("Ada"), sandbox.person("Sam")
        console = await ada.slash("live start", channel="live-rounds", quiz=quiz.id, questions=1)
        await sandbox.wait_for(lambda: "Start" in live_labels(console.message), 10)
        await ada.press(console.message, label="Start")
        shown = await sandbox.wait_for(
            lambda: next((m for m in sam.messages("live-rounds") if m.embeds and "question 1 of 1" in read(m)), None), 10
        )
        question = next(q for q in quiz.questions if q.stem["en"].splitlines()[0] in read(shown))
        here = await answer_of(sandbox, "What is the right answer?", channel="live-rounds", guide="tensorrt-engines")
        assert here.ephemeral
        assert "**Hint 1**" in str(embed(here)["description"])
        assert leak(str(embed(here)["description"]), question) is None


def test_blanks_are_shown_as_gaps_numbered_like_the_fields_that_fill_them() -> None:
    from bot.render import gaps_shown
    from content.model import Accept, Blank, Question, Short, Text

    question = Question("q", Text.of("?"), Short(blanks=(Blank("b2", (Accept("x"),)), Blank("b1", (Accept("y"),)))))
    assert gaps_shown(question, "{{b1}} then {{b2}}, not {{b3}}") == "\\_\\_\\_\\_ (2) then \\_\\_\\_\\_ (1), not {{b3}}"


def test_the_guides_own_sentence_stands_below_an_answer_as_a_quote_with_its_number() -> None:
    citation = Citation("harbour", "gates", "The harbour", "Gates", "en")
    sentences = (Sentence("It closes early.", (citation,)), Sentence("The outer gate closes at dusk.", (citation,), quoted=True))
    reply = TutorReply(Kind.ANSWER, "en", sentences)
    shown = answers.body(cast(StudyhallClient, SimpleNamespace(guide_url="")), reply, "en")
    assert shown == "It closes early. [1]\n> The outer gate closes at dusk. [1]"
    assert reply.text == "It closes early. [1]\n> The outer gate closes at dusk. [1]"
