"""Question banks in the strict sandbox, with the real bot: read, kept, played, explained, handed out, taken away.

Proves what an instructor sees and what stays after a restart. What each format means is proven in tests/importing.
"""

from __future__ import annotations

import asyncio
import io
import time
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.cli.compose import tutor_for
from bot.sandbox.driver import Person, Sandbox
from bot.sandbox.model import Message, Upload
from bot.sandbox.wire import Refused
from bot.settings import Settings
from bot.views.content import ContentDesk
from content import banks
from content.model import ContentError, Library, Quiz
from tests.bot.conftest import Running
from tutor.drafts_service import AT_ONCE, ID_LENGTH, MOST_DRAFTS, VERSIONS, Drafts, Offered, draft_id_of
from tutor.errors import BankRefused, NotFound, Throttled, TooManyDrafts
from tutor.service import Tutor
from tutor.store.drafts import DraftRow, DraftStore, Proposal, ReadBank

GUILD, ELSEWHERE, ADA = 4_242, 4_343, 7
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

BANK = """// [id:tied]
::Tied:: Why is a serialized TensorRT engine tied to one kind of GPU? {
=Its kernels were chosen and timed on that GPU
~Its licence names the GPU
~The file holds the serial number of the card
}

// [id:rivers]
::Rivers:: Which river flows through Paris? {
=Seine #Right.
~Loire
~Rhine
}

// [id:sky]
::Sky:: The sky is green. {FALSE #### Blue light is scattered most.}

// [id:broken]
::Broken:: Which of these? { ~this ~that }

// [id:essay]
::Essay:: Tell what you think. {}
"""
GIFT = Upload("Week 3.gift", BANK.encode())


def embed_text(message: Message) -> str:
    """Everything that the embeds of a message say."""
    parts: list[str] = []
    for embed in message.embeds:
        parts += [str(embed.get("title", "")), str(embed.get("description", "")), str(embed.get("footer", {}).get("text", ""))]
        parts += [f"{entry['name']}\n{entry['value']}" for entry in embed.get("fields", [])]
    return "\n".join(parts)


def labels(message: Message) -> list[str]:
    return [button.get("label", "") for button in message.buttons]


def sent(sandbox: Sandbox, message: Message) -> dict[str, bytes]:
    """The files that came with a message."""
    by_id = {str(number): kept.content for (_, number, _), kept in sandbox.world.files.items()}
    return {entry["filename"]: by_id[entry["id"]] for entry in message.attachments}


async def read(person: Person, file: Upload, **options: str) -> Message:
    act = await person.slash("content import", file=file, **options)
    return (await act.settled()).message


async def pressed(person: Person, message: Message, label: str) -> Message:
    """Press a button whose answer takes a moment: the message once it has changed."""
    before = (message.content, embed_text(message), message.buttons)
    await person.press(message, label=label)
    await person.sandbox.wait_for(lambda: (message.content, embed_text(message), message.buttons) != before)
    return message


async def kept(person: Person, file: Upload = GIFT) -> str:
    """Import a file, keep it, and return the id of its draft."""
    await pressed(person, await read(person, file), "Keep as draft")
    suggested = await person.complete("content remove", focused="quiz", value="")
    return str(suggested[0]["value"])


# Importing ----------------------------------------------------------------------------------------------------------


async def test_an_import_says_what_it_would_keep_and_keeps_it_only_after_a_yes(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox) as client:
        ada = sandbox.person("Ada")
        message = await read(ada, GIFT)
        said = embed_text(message)
        assert "Week 3.gift · gift" in said
        assert "**4 of 5 questions** can be used." in said
        assert "Left out: 1" in said
        assert "2 questions have no explanation yet." in said
        assert "1 question is not asked in rounds" in said
        assert "❌ line 19 `" in said
        assert "✅ Seine" in said
        assert "▫️ Loire" in said
        report = sent(sandbox, message)["Week 3-report.txt"]
        assert 'Week 3.gift:9: single "Which river flows through Paris?" key: Seine' in report.decode("utf-8-sig")
        assert labels(message) == ["Keep as draft", "Discard"]
        assert not [choice for choice in await ada.complete("quiz play", focused="quiz", value="week") if "draft" in choice["name"]]

        message = await pressed(ada, message, "Keep as draft")
        assert message.content.startswith("Kept: **Week 3**, version 1, 4 questions.")
        assert "2 questions have no explanation yet" in message.content
        suggested = await sandbox.person("Sam").complete("quiz play", focused="quiz", value="week")
        assert [choice["name"] for choice in suggested] == ["Week 3 · draft"]
        assert suggested[0]["value"] not in client.tutor.library.quizzes


async def test_a_draft_is_played_like_any_quiz_and_says_where_an_explanation_is_missing(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        draft_id = await kept(sandbox.person("Ada"))
        sam = sandbox.person("Sam")
        message = (await sam.slash("quiz play", quiz=draft_id, shuffle=False)).message
        message = (await sam.press(message, label="A. Its kernels were chosen and timed on that GPU")).message
        assert "✅ Right" in embed_text(message)
        assert "-# No explanation yet." in embed_text(message)
        message = (await sam.press(message, label="Next question")).message
        message = (await sam.press(message, label="B. Loire")).message
        why = await sam.press(message, label="Why?")
        await sandbox.wait_for(lambda: why.message.embeds and "writing" not in embed_text(why.message))
        assert "not" in embed_text(why.message)  # no guide here is about rivers, and it says so
        message = (await sam.press(message, label="Next question")).message
        message = (await sam.press(message, label="False")).message
        assert "Blue light is scattered most." in embed_text(message)
        assert "No explanation yet" not in embed_text(message)
        message = (await sam.press(message, label="See the result")).message
        assert "**2 of 3 points**" in embed_text(message)
        again = (await sam.press(message, label="Play again")).message
        assert "question 1 of 3" in embed_text(again)


async def test_a_draft_and_a_round_on_it_survive_a_restart(sandbox: Sandbox, running: Running) -> None:
    ada, sam = sandbox.person("Ada"), sandbox.person("Sam")
    async with running(sandbox):
        waiting = await read(ada, Upload("later.gift", b"Is it late? {TRUE}"))
        draft_id = await kept(ada)
        message = (await sam.slash("quiz play", quiz=draft_id, shuffle=False)).message
    async with running(sandbox):
        message = (await sam.press(message, label="A. Its kernels were chosen and timed on that GPU")).message
        assert "✅ Right" in embed_text(message)
        assert "Kept: **later**" in (await pressed(ada, waiting, "Keep as draft")).content
        listed = embed_text((await ada.slash("content list")).message)
        assert "**Week 3** · version 1 · 4 questions, 2 without explanation" in listed
        assert "**later**" in listed


async def test_the_same_bank_again_becomes_the_next_version_or_a_second_draft(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox) as client:
        ada, sam = sandbox.person("Ada"), sandbox.person("Sam")
        first = await kept(ada)
        going = (await sam.slash("quiz play", quiz=first, shuffle=False)).message
        changed = Upload(
            "Week 3.gift", BANK.replace("::Rivers::", "// the rest is new\n\n::Towns::").replace("[id:tied]", "[id:bound]").encode()
        )
        message = await read(ada, changed)
        assert "“Week 3” is here already in version 1." in embed_text(message)
        assert "version 2" in (await pressed(ada, message, "Keep as draft")).content
        message = await read(ada, changed)
        assert labels(message) == ["Keep as draft", "Keep both", "Discard"]
        assert "version 1" in (await pressed(ada, message, "Keep both")).content
        drafts = [choice["value"] for choice in await ada.complete("content remove", focused="quiz", value="week")]
        assert sorted(drafts) == [first, f"{first}-2"]
        # a round that began on the first version goes on with its questions
        message = (await sam.press(going, label="A. Its kernels were chosen and timed on that GPU")).message
        assert "✅ Right" in embed_text(message)
        quiz = next(quiz for quiz in client.tutor.quizzes("week", "en", guild_id=sam.sandbox.channel(None).guild_id) if quiz.id == first)
        assert (quiz.version, quiz.questions[0].id) == (2, "bound")


async def raced(person: Person, message: Message, *custom_ids: str) -> list[str]:
    """Press these buttons of a message at once; what was said beside the message."""
    acts = await asyncio.gather(*(person.press(message, custom_id=each) for each in custom_ids))

    def told() -> list[str]:
        own = [act.message for act in acts if act.interaction.response not in (None, message)]
        return [each.content for each in [*own, *(each for act in acts for each in act.followups)]]

    await person.sandbox.wait_for(lambda: told() and message.content)
    return told()


async def test_of_two_presses_of_keep_one_keeps_and_the_other_is_told(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        ada = sandbox.person("Ada")
        message = await read(ada, GIFT)
        keep = message.buttons[0]["custom_id"]
        assert await raced(ada, message, keep, keep) == ["This is no longer there. Start again with /content."]
        assert message.content.startswith("Kept: **Week 3**, version 1")
        assert embed_text((await ada.slash("content list")).message).count("Week 3") == 1


async def test_what_is_discarded_cannot_be_kept_any_more(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        ada = sandbox.person("Ada")
        message = await read(ada, GIFT)
        keep, discard = (button["custom_id"] for button in message.buttons)
        assert await raced(ada, message, discard, keep) == ["This is no longer there. Start again with /content."]
        listed = embed_text((await ada.slash("content list")).message)
        assert message.content.startswith("Kept") is ("Week 3" in listed)  # one of the two came first
        assert message.content.startswith(("Kept", "Discarded. Nothing was kept."))


async def test_only_those_who_manage_the_guild_may_and_only_in_it(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        ada = sandbox.person("Ada")
        draft_id = await kept(ada)
        with pytest.raises(Refused):
            await sandbox.person("Sam").slash("content list")
        with pytest.raises(Refused):
            await ada.slash("content list", channel=ada.dm())
        # in a direct message there is no guild, and so no draft of it
        suggested = await ada.complete("quiz play", focused="quiz", value="week", channel=ada.dm())
        assert suggested == []
        said = (await ada.slash("quiz play", quiz=draft_id, channel=ada.dm())).message.content
        assert "There is no quiz called" in said


def bomb() -> bytes:
    """A zip that looks like a Canvas export and unpacks to 300 MB."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("imsmanifest.xml", "<manifest/>")
        with archive.open("quiz/quiz.xml", "w") as member:
            for _ in range(300):
                member.write(b" " * (1 << 20))
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.gift", b""),
        ("letter.txt", b"Dear all,\n\nthe room is closed on Monday. See you on Tuesday.\n"),
        ("song.mp3", bytes(range(256)) * 64),
        ("large.csv", b"question,answer\n" + b"a" * 20_000_000),
        ("bomb.zip", bomb()),
        ("alias.quiz.yaml", b"schema: quiz/1\nid: &a x\ntitle: *a\nversion: 1\nlanguages: [en]\nquestions: []\n"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_no_bank_is_refused_in_a_sentence(sandbox: Sandbox, running: Running, name: str, data: bytes) -> None:
    async with running(sandbox):
        ada = sandbox.person("Ada")
        started = time.monotonic()
        message = await read(ada, Upload(name, data))
        assert time.monotonic() - started < 8
        said = message.content or embed_text(message)
        assert said.startswith("This cannot be used.") or "Nothing of this file can be kept." in said, said
        assert len(said) < 2_000
        assert "Traceback" not in said
        assert "Keep as draft" not in labels(message)
        assert "There are none." in embed_text((await ada.slash("content list")).message)


async def test_a_format_can_be_named_and_a_wrong_name_is_answered(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        ada = sandbox.person("Ada")
        suggested = [choice["value"] for choice in await ada.complete("content import", focused="format", value="moo", file=GIFT)]
        assert suggested == ["moodle-xml"]
        assert "'nonsense' is not known" in (await read(ada, GIFT, format="nonsense")).content
        message = await read(ada, Upload("pairs.txt", b"Rome\tItaly\nParis\tFrance\n"), format="quizlet")
        assert "**2 of 2 questions**" in embed_text(message)


# Handing out, taking away -------------------------------------------------------------------------------------------


async def test_an_export_comes_with_the_list_of_what_it_cannot_hold(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        ada = sandbox.person("Ada")
        draft_id = await kept(ada)
        message = (await (await ada.slash("content export", quiz=draft_id, format="aiken")).settled()).message
        assert message.content.startswith("3 of 4 questions are in the file.\nWhat it cannot hold:")
        assert "`LEFT-OUT` essay" in message.content
        files = sent(sandbox, message)
        assert b"ANSWER: A" in files["week-3.aiken.txt" if "week-3.aiken.txt" in files else next(iter(files))]
        message = (await (await ada.slash("content export", quiz="tensorrt-engines", format="gift", language="ko")).settled()).message
        assert message.content.startswith("8 of 8 questions are in the file.")
        assert "tensorrt-engines.gift" in sent(sandbox, message)
        native = (await (await ada.slash("content export", quiz=draft_id, format="native")).settled()).message
        back = banks.read_bank(sent(sandbox, native)["week-3.quiz.yaml"], "week-3.quiz.yaml")
        assert (back.format, [question.id for question in back.questions]) == ("native", ["tied", "rivers", "sky", "essay"])
        refused = (await (await ada.slash("content export", quiz=draft_id, format="papyrus")).settled()).message
        assert "'papyrus' cannot be written" in refused.content


async def test_a_removed_draft_is_gone_and_can_be_put_back(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        ada, sam = sandbox.person("Ada"), sandbox.person("Sam")
        draft_id = await kept(ada)
        message = (await ada.slash("content remove", quiz=draft_id)).message
        assert message.content.startswith("**Week 3** is gone from the list.")
        assert "There is no quiz called" in (await sam.slash("quiz play", quiz=draft_id)).message.content
        assert (await ada.slash("content remove", quiz=draft_id)).message.content.startswith("This is no longer there.")
        assert (await ada.press(message, label="Put it back")).message.content == "**Week 3** is back."
        assert "question 1 of 3" in embed_text((await sam.slash("quiz play", quiz=draft_id)).message)


# Explaining ---------------------------------------------------------------------------------------------------------


async def test_an_explanation_is_proposed_from_a_guide_and_kept_only_after_a_yes(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox) as client:
        ada = sandbox.person("Ada")
        draft_id = await kept(ada)
        act = await ada.slash("content explain", quiz=draft_id, guide="tensorrt-engines")
        message = (await act.settled()).message
        said = embed_text(message)
        assert "Why is a serialized TensorRT engine tied to one kind of GPU?" in said
        assert "Its kernels were chosen" in said
        assert "Sources\n[1] TensorRT and inference engines" in said
        assert "2 without explanation" in said
        assert labels(message) == ["Use it", "Change it", "Skip"]
        assert len(client.tutor.quizzes("week", "en", guild_id=sandbox.channel(None).guild_id)[0].questions) == 4
        assert draft(client.tutor, sandbox, draft_id).questions[0].explanation is None

        act = await ada.press(message, label="Use it")
        await sandbox.wait_for(lambda: "Rivers" in embed_text(act.message) or "Which river" in embed_text(act.message))
        explained = draft(client.tutor, sandbox, draft_id).questions[0]
        assert explained.explanation is not None
        assert explained.explanation["en"] in said
        assert explained.evidence[0].guide == "tensorrt-engines"
        # no guide has the next one, so there is nothing to use
        assert "Nothing to propose." in embed_text(act.message)
        assert labels(act.message) == ["Skip"]
        act = await ada.press(act.message, label="Skip")
        await sandbox.wait_for(lambda: act.message.content.startswith("That was the last one. 1 question"))
    async with running(sandbox) as client:
        assert draft(client.tutor, sandbox, draft_id).questions[0].explanation == explained.explanation
        # the same bank anew: the question is the same, so its explanation stays
        await pressed(ada, await read(ada, GIFT), "Keep as draft")
        again = draft(client.tutor, sandbox, draft_id)
        assert (again.version, again.questions[0].explanation) == (2, explained.explanation)


async def test_a_proposal_can_be_put_into_own_words(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox) as client:
        ada = sandbox.person("Ada")
        draft_id = await kept(ada)
        act = await ada.slash("content explain", quiz=draft_id, guide="tensorrt-engines")
        message = (await act.settled()).message
        use = message.buttons[0]["custom_id"]
        opened = await ada.press(message, label="Change it")
        assert opened.modal.fields["Explanation"]["value"] in embed_text(message)
        await ada.submit(opened, {"Explanation": "Timed there, so it belongs there."})
        await sandbox.wait_for(lambda: draft(client.tutor, sandbox, draft_id).questions[0].explanation is not None)
        assert draft(client.tutor, sandbox, draft_id).questions[0].explanation["en"] == "Timed there, so it belongs there."
        await sandbox.wait_for(lambda: "Which river" in embed_text(act.message))
        drafts = client.part(ContentDesk).drafts
        with pytest.raises(NotFound):  # a second press of the old button
            await drafts.accept(use.partition(":")[2], guild_id=sandbox.channel(None).guild_id)


def draft(tutor: Tutor, sandbox: Sandbox, draft_id: str) -> Quiz:
    found = tutor.quizzes("", "en", guild_id=sandbox.channel(None).guild_id)
    return next(quiz for quiz in found if quiz.id == draft_id)


# The use cases by themselves ----------------------------------------------------------------------------------------


@pytest.fixture
async def drafts(tmp_path: Path) -> AsyncIterator[Drafts]:
    settings = Settings(database=tmp_path / "studyhall.db", engine="quoting", embeddings=False)
    async with tutor_for(settings) as (_, _, made):
        yield made


async def offered(drafts: Drafts, text: str, name: str = "bank.gift") -> Offered:
    return await drafts.read(text.encode(), name, None, guild_id=GUILD, by=ADA, now=NOW)


async def keeping(drafts: Drafts, text: str, name: str = "bank.gift", *, guild_id: int = GUILD) -> str:
    bank = await offered(drafts, text, name)
    assert bank.id is not None
    return (await drafts.keep(bank.id, guild_id=guild_id, by=ADA, separate=False, now=NOW)).id


async def test_another_guild_neither_sees_nor_keeps_nor_removes_a_draft(drafts: Drafts) -> None:
    draft_id = await keeping(drafts, BANK)
    assert [draft.id for draft in drafts.of_guild(GUILD)] == [draft_id]
    assert drafts.of_guild(ELSEWHERE) == drafts.of_guild(None) == []
    assert drafts.find(draft_id, ELSEWHERE) is drafts.find(draft_id, None) is None
    waiting = await offered(drafts, BANK)
    assert waiting.id is not None
    for refused in (
        drafts.keep(waiting.id, guild_id=ELSEWHERE, by=ADA, separate=False, now=NOW),
        drafts.remove(draft_id, guild_id=ELSEWHERE, now=NOW),
        drafts.restore(draft_id, guild_id=ELSEWHERE),
        drafts.export(draft_id, "gift", None, guild_id=ELSEWHERE),
        drafts.propose(draft_id, "tensorrt-engines", after=None, guild_id=ELSEWHERE, by=ADA, now=NOW),
    ):
        with pytest.raises(NotFound):
            await refused
    assert not await drafts.discard(waiting.id, guild_id=ELSEWHERE)
    assert await drafts.discard(waiting.id, guild_id=GUILD)


async def test_ids_of_drafts_fit_a_button_and_are_no_ids_of_the_library(drafts: Drafts) -> None:
    snowflake = 9_223_372_036_854_775_807
    ids = {draft_id_of(snowflake, f"{'a' * 38}{end}") for end in ("", "b", "bc", "c" * 26)}
    assert len(ids) == 4
    assert all(len(each) <= ID_LENGTH for each in ids)
    assert not any("." in each for each in drafts.library.quizzes)


async def test_banks_without_a_latin_title_do_not_overwrite_each_other(drafts: Drafts) -> None:
    one, two = [await keeping(drafts, "天是蓝的。{TRUE}", name) for name in ("第一周.gift", "第二周.gift")]
    assert one != two
    assert await keeping(drafts, "天是绿的。{FALSE}", "第一周.gift") == one
    assert [draft.quiz.version for draft in drafts.of_guild(GUILD) if draft.id == one] == [2]


async def test_as_many_versions_drafts_and_waiting_files_are_kept_as_agreed(drafts: Drafts) -> None:
    for number in range(VERSIONS + 2):
        draft_id = await keeping(drafts, f"Is {number} even? {{TRUE}}")
    assert drafts.of_guild(GUILD)[0].quiz.version == VERSIONS + 2
    assert drafts.version(draft_id, 3).questions[0].stem["en"] == "Is 2 even?"
    assert drafts.version(draft_id, 1) is drafts.find(draft_id, GUILD)  # gone: the newest is the best there is
    first = await offered(drafts, "Is it? {TRUE}")
    for number in range(MOST_DRAFTS - 1):
        await keeping(drafts, "Is it? {TRUE}", f"bank {number}.gift")
    with pytest.raises(TooManyDrafts):
        await keeping(drafts, "Is it? {TRUE}", "one too many.gift")
    assert first.id is not None
    assert (await drafts.keep(first.id, guild_id=GUILD, by=ADA, separate=False, now=NOW)).quiz.version == VERSIONS + 3


@dataclass
class SlowBanks:
    """Stands in for `content.banks`; reads for as long as it is not released."""

    release: asyncio.Event = field(default_factory=asyncio.Event)
    READABLE = WRITABLE = ("slow",)

    def read_draft(self, data: bytes, name: str, format: str | None = None) -> banks.DraftReading:
        while not self.release.is_set():
            time.sleep(0.005)
        raise ContentError("slow.txt: no questions. Send another file.")

    native = staticmethod(banks.native)
    loaded_native = staticmethod(banks.loaded_native)
    export = staticmethod(banks.export)


async def test_a_file_that_takes_too_long_is_given_up_and_counts_until_its_thread_ends(drafts: Drafts) -> None:
    slow = SlowBanks()
    service = Drafts(Library(), store=drafts._store, banks=slow, answering=drafts._answering, new_id=lambda: "0" * 12, deadline_s=0.05)
    try:
        for _ in range(AT_ONCE):
            with pytest.raises(BankRefused, match="took longer than"):
                await service.read(b"x", "slow.txt", None, guild_id=GUILD, by=ADA, now=NOW)
        with pytest.raises(Throttled):
            await service.read(b"x", "slow.txt", None, guild_id=GUILD, by=ADA, now=NOW)
    finally:
        slow.release.set()
    await asyncio.gather(*service._working, return_exceptions=True)
    await asyncio.sleep(0)
    with pytest.raises(BankRefused, match="no questions"):
        await service.read(b"x", "slow.txt", None, guild_id=GUILD, by=ADA, now=NOW)


async def test_a_draft_that_cannot_be_loaded_any_more_is_told_and_harms_no_other(drafts: Drafts) -> None:
    store: DraftStore = drafts._store
    good = await keeping(drafts, BANK)
    await store.save_read(ReadBank("b" * 12, GUILD, ADA, NOW, "x", "schema: quiz/9"), before=NOW, most=10)
    await store.keep("b" * 12, "g1.bad", lambda version: DraftRow("g1.bad", version, GUILD, "schema: quiz/9", ADA, NOW), versions=3)
    service = Drafts(drafts.library, store=store, banks=banks, answering=drafts._answering, new_id=lambda: "0" * 12)
    told = await service.load(now=NOW)
    assert len(told) == 1
    assert told[0].startswith("g1.bad:")
    assert [draft.id for draft in service.of_guild(GUILD)] == [good]


async def test_a_person_who_is_forgotten_leaves_their_drafts_to_the_guild(drafts: Drafts) -> None:
    store: DraftStore = drafts._store
    draft_id = await keeping(drafts, BANK)
    waiting = await offered(drafts, BANK)
    await store.save_proposal(Proposal("c" * 12, draft_id, "tied", "tensorrt-engines", "en", "Because.", ("a",), ADA, NOW))
    await drafts.forget(ADA)
    assert [(draft.id, draft.kept_by) for draft in drafts.of_guild(GUILD)] == [(draft_id, 0)]
    assert [row.kept_by for row in await store.all_drafts()] == [0]
    assert waiting.id is not None
    assert await store.read_bank(waiting.id) is None
    assert await store.proposal("c" * 12) is None


async def test_what_was_removed_long_ago_is_deleted_for_good(drafts: Drafts) -> None:
    store: DraftStore = drafts._store
    draft_id = await keeping(drafts, BANK)
    await store.save_proposal(Proposal("c" * 12, draft_id, "tied", "tensorrt-engines", "en", "Because.", ("a",), ADA, NOW))
    await drafts.remove(draft_id, guild_id=GUILD, now=NOW)
    await drafts.load(now=NOW + timedelta(days=29))
    assert len(await store.all_drafts()) == 1
    await drafts.load(now=NOW + timedelta(days=31))
    assert await store.all_drafts() == []
    assert await store.proposal("c" * 12) is None
