"""Solo rounds in the strict sandbox, with the real bot: what a learner presses, reads and gets at the end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import discord
import pytest

from bot.cli.demo import SETTINGS_VARIABLE, TOKEN_VARIABLE
from bot.client import StudyhallClient
from bot.sandbox.acts import Act
from bot.sandbox.driver import Person, Sandbox
from bot.sandbox.model import Message
from bot.sandbox.rates import Rates
from bot.settings import Settings
from content.load import SHIPPED, load_library
from content.model import Choices, Match, Order, Question, Quiz, Short, TrueFalse
from tests.bot.conftest import Running
from tutor.rounds import playable

LIBRARY = load_library([SHIPPED]).library


def asked(quiz: Quiz, message: Message) -> Question:
    """The question that a message shows."""
    shown = embed(message)["description"]
    return next(question for question in quiz.questions if question.stem["en"].splitlines()[0] in shown)


def embed(message: Message) -> dict[str, object]:
    return message.embeds[0]


def labels(message: Message) -> list[str]:
    return [button.get("label", "") for button in message.buttons]


async def answered(person: Person, message: Message, question: Question, *, right: bool) -> Act:
    """Answer the question shown, right or wrong, the way its type asks for."""
    match question.body:
        case Choices(many=False, choices=choices):
            wanted = next(choice for choice in choices if choice.correct is right)
            button = next(b for b in message.buttons if b["custom_id"].endswith(f":{wanted.id}"))
            return await person.press(message, custom_id=button["custom_id"])
        case Choices(choices=choices):
            chosen = [choice.id for choice in choices if choice.correct is right]
            return await person.select(message, None, chosen[:1] if not right else chosen)
        case TrueFalse(answer=answer):
            return await person.press(message, label="True" if answer is right else "False")
        case _:
            button = next(b for b in message.buttons if b["custom_id"].startswith("type:"))
            opened = await person.press(message, custom_id=button["custom_id"])
            return await person.submit(opened, fields_for(question, right=right))


def fields_for(question: Question, *, right: bool) -> dict[str, str]:
    match question.body:
        case Short(accept=accept, blanks=()):
            entry = accept[0]
            typed = entry.text or (f"{entry.number:g} {entry.unit or ''}" if entry.number is not None else str((entry.span or (0, 0))[0]))
            return {"answer": typed if right else "certainly not that"}
        case Short(blanks=blanks):
            return {
                b.id: (b.choices[0].id if b.choices else b.accept[0].text or str(b.accept[0].number)) if right else "zz" for b in blanks
            }
        case Order(items=items):
            ids = [item.id for item in items] if right else [item.id for item in reversed(items)]
            return {f"place-{place}": key for place, key in enumerate(ids[:5], start=1)}
        case Match(pairs=pairs):
            ids = [pair.id for pair in pairs]
            return {f"pair-{left}": chosen for left, chosen in zip(ids, ids if right else ids[1:] + ids[:1], strict=True)}
        case _:
            raise AssertionError(f"no way to answer a {question.type} question")


async def test_a_whole_round_by_slash_command_and_buttons_ends_in_a_score(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        suggestions = await sam.complete("quiz play", focused="quiz", value="tensorrt and")
        assert "tensorrt-engines" in [choice["value"] for choice in suggestions]
        message = (await sam.slash("quiz play", quiz="tensorrt-engines")).message
        quiz = LIBRARY.quizzes["tensorrt-engines"]
        for number in range(1, 9):
            question = asked(quiz, message)
            assert f"question {number} of 8" in str(embed(message)["title"])
            message = (await answered(sam, message, question, right=number != 3)).message
            fields = {field["name"]: field["value"] for field in embed(message)["fields"]}  # type: ignore[attr-defined, union-attr]
            assert question.explanation is not None
            assert fields["Explanation"] == question.explanation["en"]
            assert ("Right answer" in fields) is (number == 3)
            assert "Why?" in labels(message)
            message = (await sam.press(message, label="See the result" if number == 8 else "Next question")).message
        assert "**7 of 8 points** (87 %)" in str(embed(message)["description"])
        assert any(field["name"] == "Read again" for field in embed(message)["fields"])  # type: ignore[attr-defined, union-attr]
        assert sandbox.person("Minjun").messages() == []  # a solo round is nobody else's business


@pytest.mark.parametrize("quiz_id", sorted(key for key, quiz in LIBRARY.quizzes.items() if any(map(playable, quiz.questions))))
@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
async def test_every_shipped_question_can_be_played(sandbox: Sandbox, running: Running, quiz_id: str, right: bool) -> None:
    quiz = LIBRARY.quizzes[quiz_id]
    async with running(sandbox):
        sam = sandbox.person("Sam")
        message = (await sam.slash("quiz play", quiz=quiz_id)).message
        for number in range(1, len(quiz.questions) + 1):
            question = asked(quiz, message)
            message = (await answered(sam, message, question, right=right)).message
            verdict = "✅ Right" if right else "❌ Not right"
            assert str(embed(message)["title"]).startswith(verdict), question.id
            message = (await sam.press(message, label="See the result" if number == len(quiz.questions) else "Next question")).message
        total = sum(question.points for question in quiz.questions)
        assert f"**{total:g} of {total:g} points**" in str(embed(message)["description"]) or not right


async def test_why_is_answered_with_citations_beside_the_round(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        message = (await sam.slash("quiz play", quiz="tensorrt-engines", shuffle=False)).message
        question = asked(LIBRARY.quizzes["tensorrt-engines"], message)
        message = (await answered(sam, message, question, right=False)).message
        why = await sam.press(message, label="Why?")
        await sandbox.wait_for(lambda: why.message.buttons)
        shown = embed(why.message)
        assert "[1]" in str(shown["description"])
        assert [field["name"] for field in shown["fields"]] == ["Sources"]  # type: ignore[attr-defined, union-attr]
        assert labels(why.message)[0].startswith("Read: ")
        helpful = await sam.press(why.message, label="Not helpful")
        assert helpful.message.content == "Thank you, noted."
        assert "Next question" in labels(message)  # the round is where it was


async def test_an_exam_tells_nothing_before_its_end_and_everything_after(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        quiz = LIBRARY.quizzes["tensorrt-engines"]
        message = (await sam.slash("quiz play", quiz=quiz.id, mode="exam", questions=2)).message
        for _ in range(2):
            assert "✅" not in str(embed(message))
            message = (await answered(sam, message, asked(quiz, message), right=True)).message
        assert "**2 of 2 points** (100 %)" in str(embed(message)["description"])
        message = (await sam.select(message, None, ["0"])).message
        assert str(embed(message)["title"]).startswith("✅ Right")


async def test_stale_and_foreign_buttons_answer_politely_and_change_nothing(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox) as client:
        sam = sandbox.person("Sam")
        quiz = LIBRARY.quizzes["tensorrt-engines"]
        act = await sam.slash("quiz play", quiz=quiz.id)
        first = act.message
        stale = first.buttons[0]["custom_id"]
        # two presses of one message, the second sent before the first is answered
        one, two = await asyncio.gather(sam.press(first, custom_id=stale), sam.press(first, custom_id=first.buttons[1]["custom_id"]))
        texts = [act.message.content for act in (one, two)]
        assert sum("has been answered" in text for text in texts) == 1
        assert len([text for text in texts if not text]) == 1  # the other press was answered by the verdict

        public = await posted(client, sandbox, stale, f"answer:{'f' * 12}:0:a", "vote:of:another:age")
        foreign, gone, unknown = [await sandbox.person("Ada").press(public, custom_id=b["custom_id"]) for b in public.buttons]
        assert foreign.message.content == "This round belongs to somebody else. Start your own with /quiz play."
        assert "no longer there" in gone.message.content
        assert "older message" in unknown.message.content


async def posted(client: StudyhallClient, sandbox: Sandbox, *custom_ids: str) -> Message:
    """A public message of the bot with these buttons."""
    view = discord.ui.View(timeout=None)
    for custom_id in custom_ids:
        view.add_item(discord.ui.Button(label="press", custom_id=custom_id))
    channel = client.get_partial_messageable(sandbox.channels["quiz-room"].id)
    sent = await channel.send("look", view=view)
    view.stop()
    return next(message for message in sandbox.person("Lin").messages() if message.id == sent.id)


async def test_an_unfinished_round_is_offered_and_not_thrown_away(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        quiz = LIBRARY.quizzes["model-quantization"]
        message = (await sam.slash("quiz play", quiz=quiz.id)).message
        message = (await answered(sam, message, asked(quiz, message), right=True)).message
        offer = (await sam.slash("quiz play", quiz=quiz.id)).message
        assert "question 2 of 8, 1 points so far" in offer.content
        going_on = (await sam.press(offer, label="Go on")).message
        assert "question 2 of 8" in str(embed(going_on)["title"])
        again = (await sam.slash("quiz play", quiz=quiz.id)).message
        afresh = (await sam.press(again, label="Start afresh")).message
        assert "question 1 of 8" in str(embed(afresh)["title"])


async def test_wrong_input_is_answered_with_what_to_do(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        assert "no quiz called “nonsense”" in (await sam.slash("quiz play", quiz="nonsense")).message.content
        assert "no guide called “nonsense”" in (await sam.slash("guide", topic="nonsense")).message.content
        assert "no guide called “nonsense”" in (await sam.slash("ask", question="what?", guide="nonsense")).message.content


async def test_a_killed_bot_goes_on_from_the_same_question_with_the_same_score(tmp_path: Path) -> None:
    """Kill -9 in the middle of a round; the buttons of the old message work in the new process."""
    settings = Settings(database=tmp_path / "studyhall.db", engine="quoting", embeddings=False)
    quiz = LIBRARY.quizzes["tensorrt-engines"]
    async with Sandbox() as sandbox:
        bot = await spawned(sandbox, settings)
        await sandbox.ready(30)
        sam = sandbox.person("Sam")
        message = (await sam.slash("quiz play", quiz=quiz.id)).message
        for right in (True, False, True):
            message = (await answered(sam, message, asked(quiz, message), right=right)).message
            message = (await sam.press(message, label="Next question")).message
        before = embed(message)
        os.kill(bot.pid, signal.SIGKILL)
        await bot.wait()
        await sandbox.wait_for(lambda: not sandbox.gateway.online, 10)
        bot = await spawned(sandbox, settings)
        await sandbox.wait_for(lambda: sandbox.gateway.online, 30)
        offer = (await sam.slash("quiz play", quiz=quiz.id)).message
        assert embed((await sam.press(offer, label="Go on")).message) == before
        message = (await answered(sam, message, asked(quiz, message), right=True)).message
        assert "3 of 4 points" in str(embed(message)["footer"])
        bot.terminate()
        output, _ = await asyncio.wait_for(bot.communicate(), 15)
        assert bot.returncode == 0
        assert output.decode().strip() == '{"refused": []}'  # it never tried to reach anything but this machine


async def spawned(sandbox: Sandbox, settings: Settings) -> asyncio.subprocess.Process:
    environment = os.environ | {TOKEN_VARIABLE: sandbox.token, SETTINGS_VARIABLE: settings.model_dump_json()}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "sandboxed", sandbox.url, sandbox.gateway_url, env=environment, stdout=asyncio.subprocess.PIPE
    )


async def test_twenty_learners_play_at_once_without_a_late_or_lost_press(running: Running) -> None:
    async with Sandbox(rates=Rates()) as sandbox, running(sandbox):
        quiz = LIBRARY.quizzes["tensorrt-engines"]

        async def play(person: Person) -> str:
            message = (await person.slash("quiz play", quiz=quiz.id)).message
            for number in range(1, 9):
                message = (await answered(person, message, asked(quiz, message), right=True)).message
                message = (await person.press(message, label="See the result" if number == 8 else "Next question")).message
            return str(embed(message)["description"])

        results = await asyncio.gather(*map(play, sandbox.crowd(20)))
        assert all(result.startswith("**8 of 8 points** (100 %)") for result in results)
        assert not sandbox.violations
