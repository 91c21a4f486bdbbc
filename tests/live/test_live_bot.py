"""Live rounds in the strict sandbox, with the real bot: what an instructor and learners press, read and get at the end."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections import Counter
from pathlib import Path

from bot.client import StudyhallClient
from bot.live_desk import LiveDesk
from bot.sandbox.driver import Person, Sandbox
from bot.sandbox.model import GUILD_ID, Message
from bot.sandbox.wire import Json
from tests.live.conftest import ROOM, Round, labels, logged_in, newest, opened, read


async def closed_and_shown(round_: Round) -> Message:
    """The instructor closes the question; the key follows by itself a second later."""
    await round_.press("Close now")
    return await round_.shown("Why?")


def answer_ids(message: Message) -> dict[str, str]:
    """Label -> custom id of the ways to answer."""
    return {str(b.get("label")): str(b["custom_id"]) for b in message.buttons if str(b["custom_id"]).startswith("live:")}


def choice_id(message: Message, choice: str) -> str:
    """Of the button with this option; its letter differs from round to round."""
    found = [custom_id for label, custom_id in answer_ids(message).items() if choice in label]
    assert len(found) == 1, answer_ids(message)
    return found[0]


def pngs(message: Message) -> list[Json]:
    return [attachment for attachment in message.data["attachments"] if attachment["filename"].endswith(".png")]


async def test_a_round_from_the_lobby_to_the_podium_with_a_repair_in_the_middle(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam, eleni, lin = (sandbox.person(name) for name in ("Sam", "Eleni", "Lin"))
    round_ = await opened(sandbox, language="en")
    lobby = await round_.shown("Join")
    for person in (sam, eleni):
        assert "You are in" in (await person.press(lobby, label="Join")).message.content
    await round_.says("2 people are here")
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    for person, choice in ((sam, "At dawn"), (eleni, "At dusk"), (lin, "At noon")):
        receipt = await person.press(question, custom_id=choice_id(question, choice))
        assert receipt.message.ephemeral
        assert choice in receipt.message.content
    await round_.says("3 answered · 3 here")
    shown = await closed_and_shown(round_)
    assert "✅ At dusk" in read(shown)
    assert "At dawn it opens." in read(shown)
    assert "🥇 **Eleni** · 1" in read(shown)
    (picture,) = pngs(shown)
    assert "At dusk: 1 (33%), right answer" in picture["description"]
    assert "place **1** of 3" in (await eleni.press(shown, label="My place")).message.content
    # the key was wrong
    done = await round_.host.slash("live repair", channel=ROOM, question=1, fix="key", answer="At dawn")
    assert "Sam: 0 → 1 points, place 2 → 1" in done.message.content
    await round_.says("Question 1 was repaired")
    await sandbox.wait_for(lambda: "🥇 **Sam** · 1" in read(shown) and "✅ At dawn" in read(shown), 8)
    assert "At dawn: 1 (33%), right answer" in pngs(shown)[0]["description"]
    assert "place **2** of 3" in (await eleni.press(shown, label="My place")).message.content
    await round_.press("End round")
    await round_.press("End round")  # it asks once
    podium = await round_.shown("My results")
    assert "🏁" in read(podium)
    assert "🥇 **Sam** · 1" in read(podium)
    mine = (await sam.press(podium, label="My results")).message
    assert "✅ 1. When does the outer gate close?" in read(mine)
    assert "Kept" in (await sam.press(mine, label="Keep what I missed")).message.content
    sent = await (await sam.press(mine, label="Send me this")).settled()
    assert "direct messages" in sent.message.content
    assert "The harbour" in read(sam.messages(sam.dm())[-1])
    results = await (await round_.host.slash("live results", channel=ROOM)).settled()
    files = {a["filename"].rpartition(".")[2]: a["url"] for a in results.message.data["attachments"]}
    assert set(files) == {"csv", "xlsx", "json"}
    stored = {name.rpartition(".")[2]: file.content for (_, _, name), file in sandbox.world.files.items()}
    made = json.loads(stored["json"])
    assert [(person["name"], person["points"]) for person in made["people"]] == [("Sam", 1.0), ("Eleni", 0.0), ("Lin", 0.0)]
    assert [repair["ids"] for repair in made["repairs"]] == [["dawn"]]
    rows = list(csv.DictReader(io.StringIO(stored["csv"].decode("utf-8-sig"))))
    assert (rows[0]["name"], rows[0]["q1_answer"], rows[0]["points"]) == ("Sam", "At dawn", "1.0")


async def test_every_kind_of_question_is_answered_and_scored(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam = sandbox.person("Sam")
    round_ = await opened(sandbox, language="en", scoring="gentle")
    await round_.press("Start")
    marks: list[str] = []
    for number in range(1, 6):
        question = await round_.says(f"question {number} of 5")
        marks.append(await answered_right(sam, question))
        await round_.press("Close now")
        await sandbox.wait_for(lambda number=number: f"Answer · question {number} of 5" in read(round_.messages()[-1]), 8)
        await round_.press("Next question" if number < 5 else "End: show the podium")
    assert all("Recorded" in mark for mark in marks), marks
    podium = await round_.shown("My results")
    points = (await sam.press(podium, label="My results")).message
    assert read(points).count("✅") == 5, read(points)


async def answered_right(person: Person, question: Message) -> str:
    shown = read(question)
    if "outer gate" in shown:
        act = await person.press(question, custom_id=choice_id(question, "dusk"))
    elif "lamps" in shown:
        act = await person.select(question, None, ["red", "both"])
    elif "pilot" in shown:
        act = await person.press(question, label="True")
    elif "metres" in shown:
        act = await person.submit(await person.press(question, label="Type your answer"), {"answer": "3 m"})
    else:
        fields = {f"place-{place}": item for place, item in enumerate(("enter", "fill", "leave"), start=1)}
        act = await person.submit(await person.press(question, label="Put in order"), fields)
    return act.message.content


async def test_only_instructors_open_and_control_a_round(sandbox: Sandbox, bot: StudyhallClient) -> None:
    refused = await sandbox.person("Sam").slash("live start", channel=ROOM, quiz="harbour")
    assert "Only instructors" in refused.message.content
    for command in ("live console", "live results"):
        assert "Only instructors" in (await sandbox.person("Sam").slash(command, channel=ROOM)).message.content


async def test_a_second_press_of_a_control_changes_nothing(sandbox: Sandbox, bot: StudyhallClient) -> None:
    round_ = await opened(sandbox, language="en")
    await round_.press("Start")
    await round_.says("question 1 of 5")
    ids = {label: button["custom_id"] for label, button in zip(labels(round_.console), round_.console.buttons, strict=True)}
    acts = await asyncio.gather(*(round_.host.press(round_.console, custom_id=ids["+15 s"], wait=False) for _ in range(3)))
    settled = [await act.answered() for act in acts]
    assert all(act.state == "done" for act in settled)
    (loaded,) = await bot.part(LiveDesk).live.newest(GUILD_ID)
    assert loaded.extensions == 1


async def test_a_pause_takes_no_answers_and_gives_the_time_back(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam = sandbox.person("Sam")
    round_ = await opened(sandbox, language="en", seconds=40)
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    choice = next(iter(answer_ids(question).values()))
    await round_.press("Pause")
    await sandbox.wait_for(lambda: "⏸ Paused" in read(question) and not answer_ids(question), 5)
    await round_.press("Go on")
    await sandbox.wait_for(lambda: answer_ids(question), 5)
    assert "Recorded" in (await sam.press(question, custom_id=choice)).message.content


async def test_an_answer_may_be_changed_and_late_or_old_presses_are_told_so(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam = sandbox.person("Sam")
    round_ = await opened(sandbox, language="en")
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    first, second, *_ = answer_ids(question).values()
    await sam.press(question, custom_id=first)
    assert "Changed to" in (await sam.press(question, custom_id=second)).message.content
    assert "already" in (await sam.press(question, custom_id=second)).message.content
    assert "Your answer" in read((await sam.press(question, label="My answer")).message)
    held = {**question.data}
    await closed_and_shown(round_)
    # a client that has not seen the edit yet still has the buttons
    question.data = held
    assert "shown already" in (await sam.press(question, custom_id=first)).message.content
    await round_.press("Next question")
    await round_.says("question 2 of 5")
    question.data = held
    assert "earlier question" in (await sam.press(question, custom_id=first)).message.content


async def test_presses_edit_the_board_together_and_never_one_by_one(sandbox: Sandbox, bot: StudyhallClient) -> None:
    round_ = await opened(sandbox, language="en")
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    before = Counter(entry.route for entry in sandbox.api.log if entry.method == "PATCH")
    ids = list(answer_ids(question).values())
    acts = [await person.press(question, custom_id=ids[n % 4], wait=False) for n, person in enumerate(sandbox.crowd(40))]
    for act in acts:
        assert (await act.answered()).state == "done"
    await round_.says("40 answered · 40 here")
    edits = Counter(entry.route for entry in sandbox.api.log if entry.method == "PATCH") - before
    assert sum(count for route, count in edits.items() if "channels" in route) <= 3, edits
    assert sandbox.limiter.hits == 0


async def test_own_option_orders_are_answered_on_a_private_sheet(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam = sandbox.person("Sam")
    round_ = await opened(sandbox, language="en", way="own")
    await round_.press("Start")
    question = await round_.shown("Answer")
    assert not answer_ids(question)
    orders = set()
    for person in sandbox.crowd(6):
        sheet = (await person.press(question, label="Answer")).message
        orders.add(tuple(label[3:] for label in labels(sheet)))
    assert len(orders) > 1
    sheet = (await sam.press(question, label="Answer")).message
    assert sheet.ephemeral
    dusk = next(b["custom_id"] for b in sheet.buttons if b["label"].endswith("At dusk"))
    act = await sam.press(sheet, custom_id=dusk)
    assert act.message is sheet
    assert "Your answer: **At dusk**" in read(sheet)
    shown = await closed_and_shown(round_)
    assert "1 of 1 had it right" in read(shown)
    await round_.press("Next question")
    await round_.says("question 2 of 5")
    sheet = (await sam.press(round_.messages()[-1], label="Answer")).message
    await sam.select(sheet, None, ["red", "both"])
    assert "Red; Red and white" in read(sheet) or "Red and white; Red" in read(sheet)


async def test_more_time_is_private_and_the_answer_waits_for_it(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam, eleni = sandbox.person("Sam"), sandbox.person("Eleni")
    told = await sandbox.person("Ada").slash("live time", channel=ROOM, person=sam, time="unlimited")
    assert told.message.ephemeral
    assert "Sam" in told.message.content
    round_ = await opened(sandbox, language="en")
    lobby = await round_.shown("Join")
    for person in (sam, eleni):
        await person.press(lobby, label="Join")
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    await round_.press("Close now")
    await sandbox.wait_for(lambda: not answer_ids(question), 5)
    assert "time for this question is up" in read((await eleni.press(question, label="My answer")).message)
    sheet = (await sam.press(question, label="My answer")).message
    assert "no time limit" in read(sheet)
    dusk = next(b["custom_id"] for b in sheet.buttons if b["label"].endswith("At dusk"))
    await sam.press(sheet, custom_id=dusk)
    shown = await round_.shown("Why?")  # the last one waited for has answered
    assert "1 of 1 had it right" in read(shown)
    assert all("time limit" not in read(message) for message in round_.messages())


async def test_peer_instruction_votes_twice_and_shows_the_shift(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam, eleni = sandbox.person("Sam"), sandbox.person("Eleni")
    round_ = await opened(sandbox, language="en", way="peer")
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    dawn, dusk = choice_id(question, "dawn"), choice_id(question, "dusk")
    await sam.press(question, custom_id=dawn)
    await eleni.press(question, custom_id=dusk)
    await round_.press("Close now")
    await sandbox.wait_for(lambda: "Discuss" in labels(round_.console), 5)
    assert "had it right" not in read(question)
    await round_.press("Discuss")
    await sandbox.wait_for(lambda: "Discussion: question 1" in sandbox.channels, 5)
    await round_.press("Second vote")
    second = await round_.says("second vote")
    await sandbox.wait_for(lambda: newest(round_.messages(), "My answer") not in (None, question), 5)
    second = round_.messages()[-1]
    again = choice_id(second, "dusk")
    await sam.press(second, custom_id=again)
    await round_.press("Close now")
    shown = await round_.shown("Why?")
    assert "First vote 1 of 2 right, second vote 1 of 1" in read(shown)
    assert "1 → 1" in pngs(shown)[0]["description"]
    assert "place **1** of 2 with **1**" in (await eleni.press(shown, label="My place")).message.content


async def test_two_rounds_of_one_guild_keep_apart_and_one_channel_has_one(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam = sandbox.person("Sam")
    first = await opened(sandbox, language="en")
    again = await (await first.host.slash("live start", channel=ROOM, quiz="harbour")).settled()
    assert "A round is running" in again.message.content
    second = await opened(sandbox, language="en", place="thread", teams=2)
    lobby = await second.shown("🔵 Team 1")
    await sam.press(lobby, label="🟠 Team 2")
    await second.press("Start")
    question = await second.says("question 1 of 5")
    await sam.press(question, custom_id=choice_id(question, "dusk"))
    shown = await closed_and_shown(second)
    assert "🥇 **🟠 Team 2** · 1" in read(shown)
    assert not any("question 1" in read(message) for message in first.messages())


async def test_an_open_question_is_repaired_without_giving_its_key_away(sandbox: Sandbox, bot: StudyhallClient) -> None:
    round_ = await opened(sandbox, language="en")
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    done = await round_.host.slash("live repair", channel=ROOM, question=1, fix="accept", answer="At noon")
    assert "is accepted too" in done.message.content
    await sandbox.person("Sam").press(question, custom_id=choice_id(question, "noon"))
    assert not any("repaired" in read(message).lower() for message in round_.messages())
    shown = await closed_and_shown(round_)
    assert "1 of 1 had it right" in read(shown)
    assert "“At noon” is accepted too" in read(shown)


async def test_the_answers_of_the_question_are_suggested_for_a_repair(sandbox: Sandbox, bot: StudyhallClient) -> None:
    round_ = await opened(sandbox, language="en")
    choices = await round_.host.complete("live repair", "answer", "", channel=ROOM, question=1, fix="key")
    assert {choice["value"] for choice in choices} == {"dawn", "noon", "dusk", "never"}


async def test_a_round_whose_channel_is_deleted_ends(sandbox: Sandbox, bot: StudyhallClient) -> None:
    round_ = await opened(sandbox, language="en", place="thread")
    await round_.press("Start")
    await round_.says("question 1 of 5")
    del sandbox.world.channels[round_.room.id]
    await round_.press("Close now")
    live = bot.part(LiveDesk).live
    for _ in range(400):
        (loaded,) = await live.newest(GUILD_ID)
        if loaded.over:
            break
        await asyncio.sleep(0.02)
    assert loaded.over


async def test_a_deleted_message_is_sent_again(sandbox: Sandbox, bot: StudyhallClient) -> None:
    round_ = await opened(sandbox, language="en")
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    sandbox.world.delete(question)
    await round_.press("Close now")
    shown = await round_.shown("Why?")
    assert shown.id != question.id


async def test_signals_of_the_lost_and_the_live_split_reach_only_the_console(sandbox: Sandbox, bot: StudyhallClient) -> None:
    sam = sandbox.person("Sam")
    round_ = await opened(sandbox, language="en")
    await round_.press("Start")
    question = await round_.says("question 1 of 5")
    await sam.press(question, custom_id=choice_id(question, "dusk"))
    assert "not who" in (await sam.press(question, label="I'm lost")).message.content
    console = await round_.press("Refresh")
    assert "1 lost" in read(console)
    assert "✅ `C ██████████` 1 · At dusk" in read(console) or "██████████` 1 · At dusk" in read(console)
    assert console.ephemeral
    assert all("██" not in read(message) for message in round_.messages())


async def test_after_a_restart_the_round_goes_on_with_the_time_given_back(sandbox: Sandbox, tmp_path: Path) -> None:
    sam, eleni = sandbox.person("Sam"), sandbox.person("Eleni")
    async with logged_in(sandbox, tmp_path):
        round_ = await opened(sandbox, language="en", seconds=30)
        await round_.press("Start")
        question = await round_.says("question 1 of 5")
        dusk = choice_id(question, "dusk")
        await sam.press(question, custom_id=dusk)
        before = read(question)
    await sandbox.wait_for(lambda: not sandbox.gateway.online, 5)
    async with logged_in(sandbox, tmp_path):
        await sandbox.wait_for(lambda: read(question) != before, 8)
        assert "Recorded" in (await eleni.press(question, custom_id=dusk)).message.content
        console = (await round_.host.slash("live console", channel=ROOM)).message
        round_.console = console
        shown = await closed_and_shown(round_)
        assert "2 of 2 had it right" in read(shown)


async def test_an_automatic_round_in_another_language_needs_nobody(sandbox: Sandbox, bot: StudyhallClient) -> None:
    round_ = await opened(sandbox, language="ko", seconds=5, pace="automatic", questions=1, anonymous=True)
    await round_.press("Start")
    await sandbox.wait_for(lambda: sheets(round_), 8)
    (question,) = sheets(round_)
    await sandbox.wait_for(lambda: any(b["custom_id"].startswith("live-why") for b in question.buttons), 12)
    assert "**Sam**" not in read(question)


def sheets(round_: Round) -> list[Message]:
    """Questions in the room, in any language."""
    return [m for m in round_.messages() if any(b["custom_id"].startswith("live-sheet") for b in m.buttons)]
