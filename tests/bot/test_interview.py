"""The interview in the strict sandbox, with the real bot and the shipped bank: questions, follow-ups, answers, references.

Proves what a learner sees and that nothing written is kept. Whether the reference answers are right is not proved here.
"""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview_render import EMBEDS_TOTAL, answer_embed, check_embed, fitted, paged, question_embed, reference_pages
from bot.sandbox.driver import Sandbox
from bot.sandbox.model import Message
from bot.settings import Settings
from bot.views.interview import State
from content.load import SHIPPED, load_library
from content.model import Library
from tests.bot.conftest import Running
from tutor.errors import NotFound
from tutor.interview import Bank, Posed

BANK = Bank.of(load_library([SHIPPED]).library)
ANSWER = "The host launches a kernel over a grid of blocks; threads run in warps, so I never assume lockstep. " * 3


def posed_on(message: Message, language: str = "en") -> Posed:
    shown = str(message.embeds[0]["description"])
    return next(posed for posed in BANK.by_key.values() if posed.question.stem[language] in shown)


def labels(message: Message) -> list[str]:
    return [button.get("label", "") for button in message.buttons]


async def test_an_interview_question_is_asked_answered_and_checked_by_its_learner(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        offered = await sam.complete("interview", focused="part", value="performance")
        assert [choice["value"] for choice in offered] == ["interview-performance"]
        message = (await sam.slash("interview", part="interview-performance")).message
        posed = posed_on(message)
        assert posed.quiz.id == "interview-performance"
        assert labels(message)[:4] == ["Write my answer", "Follow-up", "Show the reference", "Next question"]
        assert labels(message)[4].startswith("Read: ")
        modal = await sam.press(message, label="Write my answer")
        checked = (await sam.submit(modal, {"answer": ANSWER})).message
        assert checked.id == message.id
        assert checked.embeds[1]["description"] == ANSWER.strip()
        assert checked.embeds[2]["title"] == "Self-check: 0 of 10 points"
        menu = checked.selects[0]
        assert [option["label"] for option in menu["options"]] == [point.criterion["en"] for point in posed.body.rubric]
        ticked = (await sam.select(checked, None, ["0", "2"])).message
        reached = posed.body.rubric[0].points + posed.body.rubric[2].points
        assert ticked.embeds[2]["title"] == f"Self-check: {reached:g} of 10 points"
        assert str(ticked.embeds[2]["description"]).count("☑") == 2
        assert ticked.embeds[1]["description"] == ANSWER.strip()
        none = (await sam.select(ticked, None, [])).message
        assert none.embeds[2]["title"] == "Self-check: 0 of 10 points"
        assert sandbox.person("Minjun").messages() == []  # an interview is nobody else's business


async def test_follow_ups_come_one_by_one_and_keep_the_answer_on_the_message(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        message = (await sam.slash("interview", part="interview-topics")).message
        posed = posed_on(message)
        message = (await sam.press(message, label="Follow-up")).message
        fields = message.embeds[0]["fields"]
        assert [field["name"] for field in fields] == ["Follow-up 1 of 3"]
        assert fields[0]["value"] == posed.body.probes[0]["en"]
        message = (await sam.submit(await sam.press(message, label="Write my answer"), {"answer": ANSWER})).message
        message = (await sam.select(message, None, ["1"])).message
        for _ in posed.body.probes[1:]:
            message = (await sam.press(message, label="Follow-up")).message
        assert [field["value"] for field in message.embeds[0]["fields"]] == [probe["en"] for probe in posed.body.probes]
        assert "Follow-up" not in labels(message)
        assert message.embeds[1]["description"] == ANSWER.strip()
        assert str(message.embeds[2]["description"]).count("☑") == 1
        again = await sam.press(message, label="Write it again")
        assert again.modal.fields["Your answer"]["value"] == ANSWER.strip()  # to be gone on with


async def test_the_next_question_is_another_one_of_the_same_part(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox) as client:
        client.rng = random.Random(3)
        sam = sandbox.person("Sam")
        message = (await sam.slash("interview", part="interview-topics")).message
        seen = [posed_on(message).question.id]
        for _ in range(4):
            message = (await sam.press(message, label="Next question")).message
            seen.append(posed_on(message).question.id)
        assert all(one != two for one, two in pairwise(seen))
        anywhere = (await sam.slash("interview")).message
        parts = set()
        for _ in range(12):
            anywhere = (await sam.press(anywhere, label="Next question")).message
            parts.add(posed_on(anywhere).quiz.id)
        assert len(parts) > 2


async def test_the_reference_opens_beside_the_question_with_its_code_whole(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox) as client:
        task = next(posed for posed in BANK.by_key.values() if posed.question.id == "task-tiled-matmul")
        client.rng = Drawing(task.key)
        sam = sandbox.person("Sam")
        message = (await sam.slash("interview", part="interview-coding")).message
        assert posed_on(message) == task
        shown = (await sam.press(message, label="Show the reference")).message
        assert shown.id != message.id
        pages = [str(shown.embeds[0]["description"])]
        while any(button.get("label") == "Next" and not button.get("disabled") for button in shown.buttons):
            shown = (await sam.press(shown, label="Next")).message
            pages.append(str(shown.embeds[0]["description"]))
        code = next(page for page in pages if "```cpp" in page)
        assert "__global__ void matmul" in code
        assert code.count("```") == 2
        assert "return EXIT_SUCCESS;" in code
        assert any("**What counts** · 10 points" in page for page in pages)
        assert all(point.criterion["en"] in "\n".join(pages) for point in task.body.rubric)
        if len(pages) > 1:
            back = (await sam.press(shown, label="Back")).message
            assert back.embeds[0]["description"] == pages[-2]
        assert not sandbox.violations


class Drawing(random.Random):
    """Chance that always falls on one question."""

    def __init__(self, key: str) -> None:
        super().__init__(0)
        self.key = key

    def choice(self, seq):  # type: ignore[no-untyped-def]  # of any sequence, as the original
        return next(posed for posed in seq if posed.key == self.key)


async def test_what_a_learner_writes_is_in_no_file_of_the_bot(sandbox: Sandbox, running: Running, settings: Settings) -> None:
    secret = "zebrafish-harmonica-quarrel " * 12
    async with running(sandbox):
        sam = sandbox.person("Sam")
        message = (await sam.slash("interview")).message
        message = (await sam.submit(await sam.press(message, label="Write my answer"), {"answer": secret})).message
        assert "zebrafish" in str(message.embeds[1]["description"])
        await sam.select(message, None, ["0"])
    files = [path for path in Path(settings.database).parent.rglob("*") if path.is_file()]
    assert Path(settings.database) in files
    assert not any(b"zebrafish" in path.read_bytes() for path in files)


async def test_the_buttons_go_on_after_a_restart(sandbox: Sandbox, running: Running) -> None:
    sam = sandbox.person("Sam")
    async with running(sandbox):
        message = (await sam.slash("interview", part="interview-cases")).message
        opened = await sam.press(message, label="Write my answer")
    await sandbox.wait_for(lambda: not sandbox.gateway.online, 10)
    async with running(sandbox):
        message = (await sam.submit(opened, {"answer": ANSWER})).message
        message = (await sam.select(message, None, ["0"])).message
        assert str(message.embeds[2]["description"]).count("☑") == 1
        message = (await sam.press(message, label="Follow-up")).message
        assert len(message.embeds) == 3
        other = (await sam.press(message, label="Next question")).message
        assert len(other.embeds) == 1
        assert posed_on(other).quiz.id == "interview-cases"


@pytest.mark.parametrize(
    ("locale", "language", "button", "note"),
    [
        ("zh-CN", "zh", "写下回答", None),
        ("ko", "en", "답변 쓰기", "영어"),
        ("ru", "en", "Написать ответ", "английский"),
        ("el", "en", "Γράψτε την απάντησή σας", "Αγγλικά"),
    ],
)
async def test_people_read_their_language_and_are_told_where_it_is_missing(
    sandbox: Sandbox, running: Running, locale: str, language: str, button: str, note: str | None
) -> None:
    async with running(sandbox):
        sam = sandbox.person("Sam")
        sam.locale = locale
        message = (await sam.slash("interview", part="interview-cuda-basics")).message
        assert posed_on(message, language).quiz.id == "interview-cuda-basics"
        assert button in labels(message)
        described = str(message.embeds[0]["description"])
        assert ("-# " in described) is (note is not None)
        assert note is None or note.casefold() in described.casefold()
        chinese = (await sam.slash("interview", part="interview-cuda-basics", language="zh")).message
        assert posed_on(chinese, "zh")
        modal = await sam.press(chinese, label="写下回答")
        assert modal.modal.fields["你的回答"]["min_length"] == 120


async def test_interview_questions_are_not_offered_as_a_quiz_or_a_live_round(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox):
        sam, ada = sandbox.person("Sam"), sandbox.person("Ada")
        offered = [choice["value"] for choice in await sam.complete("quiz play", focused="quiz", value="")]
        assert "tensorrt-engines" in offered
        assert not [quiz_id for quiz_id in offered if quiz_id.startswith("interview-")]
        live = [choice["value"] for choice in await ada.complete("live start", focused="quiz", value="")]
        assert "tensorrt-engines" in live
        assert not [quiz_id for quiz_id in live if quiz_id.startswith("interview-")]
        parts = [choice["value"] for choice in await sam.complete("interview", focused="part", value="")]
        assert len(parts) == 8


async def test_wrong_input_is_answered_with_what_to_do(sandbox: Sandbox, running: Running) -> None:
    async with running(sandbox) as client:
        sam = sandbox.person("Sam")
        assert "no quiz called “nonsense”" in (await sam.slash("interview", part="nonsense")).message.content
        message = (await sam.slash("interview")).message
        client.tutor.library = Library()  # an author took the bank away
        assert "no longer there" in (await sam.press(message, label="Follow-up")).message.content
        assert "no longer there" in (await sam.press(message, label="Next question")).message.content
        assert "no interview questions here yet" in (await sam.slash("interview")).message.content


LONG = """\
schema: quiz/1
id: week-3
version: 1
title: {en: Week 3}
questions:
- id: essay
  type: open
  stem: {en: Write.}
  length: {min: 0, max: 4000}
  reference:
    en: |-
      First.

      ```cpp
%s
      ```
  rubric:
  - {id: long, points: 1.5, criterion: {en: "%s"}, levels: [{points: 0.5, text: {en: Partly there.}}]}
  - {id: short, points: 1, criterion: {en: It is short.}}
"""


async def test_a_long_answer_stays_whole_and_a_long_reference_is_paged(sandbox: Sandbox, running: Running, settings: Settings) -> None:
    folder = settings.database.parent / "mine" / "quizzes"
    folder.mkdir(parents=True)
    code = "\n".join(f"      int line_{number} = {number};  // a line of a long program" for number in range(200))
    (folder / "week-3.quiz.yaml").write_text(LONG % (code, "word " * 400), "utf-8")
    settings.content = [folder.parent]
    async with running(sandbox):
        sam = sandbox.person("Sam")
        message = (await sam.slash("interview", part="week-3")).message
        blank = await sam.submit(await sam.press(message, label="Write my answer"), {"answer": " \n "})
        assert "cannot be an answer" in blank.message.content
        essay = "x y " * 999 + "end"
        message = (await sam.submit(await sam.press(message, label="Write my answer"), {"answer": essay})).message
        assert message.embeds[1]["description"] == essay
        message = (await sam.select(message, None, ["0"])).message
        assert message.embeds[2]["title"] == "Self-check: 1.5 of 2.5 points"
        shown = (await sam.press(message, label="Show the reference")).message
        seen: list[str] = []
        while True:
            page = str(shown.embeds[0]["description"])
            assert page.count("```") % 2 == 0
            assert ("```cpp\n" in page) is ("int line_" in page)
            seen += [line for line in page.splitlines() if line.startswith("int line_")]
            if not any(button.get("label") == "Next" and not button.get("disabled") for button in shown.buttons):
                break
            shown = (await sam.press(shown, label="Next")).message
        assert seen == [line.strip() for line in code.splitlines()]
        assert "  - 0.5: Partly there." in page
        assert not sandbox.violations


# Without Discord ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("posed", BANK.by_key.values(), ids=lambda posed: posed.question.id)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_shipped_question_fits_what_discord_allows(posed: Posed, language: str) -> None:
    longest = "x" * posed.body.most_length
    everything = frozenset(range(len(posed.body.rubric)))
    embeds = fitted(
        question_embed(posed, len(posed.body.probes), language), answer_embed(longest, language), check_embed(posed, everything, language)
    )
    assert sum(map(len, embeds)) <= EMBEDS_TOTAL
    assert embeds[1].description == longest
    assert posed.reached(everything) == posed.possible == 10
    pages = reference_pages(posed, language)
    assert all(len(page) <= 4_096 and page.count("```") in (0, 2) for page in pages)
    assert posed.body.reference is not None
    code = posed.body.reference[language].partition("```cpp\n")[2].partition("\n```")[0]
    assert any(code in page for page in pages)  # a shipped program stands on one page


MARKDOWN = st.lists(
    st.one_of(
        st.text(alphabet="ab \n字", min_size=1, max_size=400),
        st.text(alphabet="xy ;\n{}", max_size=400).map(lambda code: f"```cpp\n{code}\n```"),
    ),
    max_size=6,
).map("\n\n".join)


@given(MARKDOWN, st.integers(40, 200))
def test_pages_fit_keep_every_character_and_close_their_code(markdown: str, limit: int) -> None:
    pages = paged(markdown, limit)
    assert all(0 < len(page) <= limit for page in pages)
    assert all(page.count("```") % 2 == 0 for page in pages)
    assert not any(set("xy;{}") & set(re.sub(r"```cpp\n.*?\n```", "", page, flags=re.DOTALL)) for page in pages)  # code stays code
    kept = "".join("".join(pages).replace("```cpp", "").replace("```", "").split())
    assert kept == "".join(markdown.replace("```cpp", "").replace("```", "").split())


@given(st.integers(0, 2**32), st.sampled_from([None, *(quiz.id for quiz in BANK.parts)]))
def test_a_drawn_question_is_never_the_one_just_shown(seed: int, part: str | None) -> None:
    rng = random.Random(seed)
    first = BANK.drawn(part, rng=rng)
    second = BANK.drawn(part, but=first.key, rng=rng)
    assert second.key != first.key
    assert part in (None, first.quiz.id)
    assert part in (None, second.quiz.id)


def test_a_question_alone_in_its_part_is_asked_again() -> None:
    only = next(iter(BANK.by_key.values()))
    alone = Bank(BANK.library, (only.quiz,), {only.key: only})
    assert alone.drawn(only.quiz.id, but=only.key, rng=random.Random(0)) == only
    with pytest.raises(NotFound):
        alone.drawn("another", rng=random.Random(0))
    with pytest.raises(NotFound):
        alone.posed("0" * 12)


@given(st.frozensets(st.integers(0, 24)), st.booleans(), st.integers(0, 99))
def test_a_state_goes_through_a_custom_id_unchanged(ticked: frozenset[int], within: bool, probes: int) -> None:
    for marks in (ticked, None):
        state = State("0123456789ab", "zh", within, probes, marks)
        assert State.of(state.parts) == state
        assert len(":".join(("iv-write", *state.parts))) <= 100
