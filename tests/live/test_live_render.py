"""Pictures, texts, clock and pace of live rounds, without Discord: lengths, contrast, coverage, and time that runs right."""

from __future__ import annotations

import ast
import asyncio
import io
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bot import charts, live_private, live_render
from bot.charts import Bar
from bot.commands import live as command
from bot.live_desk import COUNTS_PER_S, LONGEST_GRACE_S, URGENT_PER_S, DiscordClock, RequestPace
from content.model import Choice, Choices, Question, Text
from tests.live.builders import Played, after, every_kind, new_round, single, started
from tutor.live import GRACE_S, NO_LIMIT, Rules
from tutor.live_repair import Fix, Repair, keyed
from tutor.live_service import Place, Stage
from tutor.statistics import changed, split

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "ko", "el", "ru", "zh")
BARS = [Bar("A", "Caffe files", 3, False), Bar("B", "ONNX files", 18, True), Bar("C", "UFF files", 0, False)]


def luminance(colour: tuple[int, ...]) -> float:
    parts = [(c / 255 / 12.92) if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(left: tuple[int, ...], right: tuple[int, ...]) -> float:
    lighter, darker = sorted((luminance(left), luminance(right)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def drawn(bars: list[Bar], answered: int = 21) -> Image.Image:
    return Image.open(io.BytesIO(charts.distribution(bars, answered=answered, answered_before=answered)))


def test_the_chart_is_readable_on_its_own_card() -> None:
    """WCAG 2.1: 4.5 for text, 3 for shapes; the card is opaque, so the theme behind does not matter."""
    assert contrast(charts.INK, charts.CARD) > 7
    assert contrast(charts.QUIET, charts.CARD) > 4.5
    assert contrast(charts.RIGHT, charts.CARD) > 4.5
    assert contrast(charts.OTHER, charts.CARD) > 4.5
    image = drawn(BARS)
    assert image.getpixel((image.width // 2, 6)) == (*charts.CARD, 255)
    assert image.getpixel((0, 0))[3] == 0  # type: ignore[index]


def test_a_bar_is_as_long_as_its_share() -> None:
    def coloured(count: int) -> int:
        image = drawn([Bar("A", "x", count, False)], answered=20).convert("RGB")
        return sum(image.getpixel((x, 64)) == charts.OTHER for x in range(120, image.width))

    half, full = coloured(10), coloured(20)
    assert coloured(0) == 0
    assert half == pytest.approx(full / 2, rel=0.05)


def test_a_right_answer_is_told_by_more_than_its_colour() -> None:
    def grey(bar: Bar) -> bytes:
        return drawn([bar]).convert("L").crop((90, 30, 140, 70)).point(lambda value: 255 if value > 120 else 0).tobytes()

    assert grey(Bar("A", " ", 5, True)) != grey(Bar("A", " ", 5, False))


def test_letters_that_no_font_has_leave_the_options_to_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_files", lambda: ())
    with_words = drawn([Bar("A", "plain", 1, True)])
    without = drawn([Bar("A", "你好", 1, True)])
    assert without.height < with_words.height


def test_every_language_is_drawn_where_its_letters_are_there() -> None:
    for words in ("What", "무엇", "Ποιο", "Какой", "哪一个"):
        font = charts.font_for(words, 50)
        if font is not None:
            assert font.getlength(words) > 60


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.text(max_size=300), st.integers(0, 900)), min_size=1, max_size=8), st.booleans())
def test_any_words_and_counts_give_a_picture_and_an_alternative_text(options: list[tuple[str, int]], shift: bool) -> None:
    bars = [Bar("ABCDEFGH"[n], words, count, n == 0, count if shift else None) for n, (words, count) in enumerate(options)]
    assert drawn(bars, answered=900).width == charts.WIDTH
    assert len(charts.alt_text(bars, answered=900, intro="Answers", right="right")) <= charts.ALT_TEXT


# Embeds ---------------------------------------------------------------------------------------------------------------


def stage_of(played: Played, *, long_names: bool = False) -> Stage:
    position = max(0, played.round.position)
    made = played.board()
    if long_names:
        standings = tuple(replace(s, seat=replace(s.seat, name="W" * 32 + str(s.seat.number))) for s in made.standings)
        made = replace(made, standings=standings)
    shown = played.round.shown(position)
    return Stage(
        round=played.round,
        seats=len(played.seats),
        answered=len(played.presses),
        teams=(),
        question=keyed(played.round.quiz.questions[position], position, played.round.repairs),
        split=split(played.round, position, 1, played.presses, {}) if shown else None,
        first_split=None,
        moved=changed(played.round, position, played.presses, {}),
        board=made if shown else None,
    )


def huge(question: Question) -> Question:
    """As long as the content checks let a question be, and longer."""
    assert isinstance(question.body, Choices)
    choices = tuple(Choice(c.id, Text.of("choice " * 40), c.credit, Text.of("feedback " * 60)) for c in question.body.choices)
    return replace(question, stem=Text.of("stem " * 500), body=Choices(choices), explanation=Text.of("because " * 400))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_longest_reveal_fits_discord_in_every_language(language: str) -> None:
    questions = [huge(single("q", "b", options="abcdefghij"))]
    played = started(Rules(seconds=20), questions, people=range(1, 300))
    played.round = replace(played.round, language=language)
    for who in range(1, 300):
        played.press(who, who, "abcdefghij"[who % 10], 3)
    played.finish_question()
    for fix in (Fix.KEY, Fix.ACCEPT, Fix.KEY):
        played.round = played.round.repaired(Repair(0, fix, 3, after(60), ("c",)))
    stage = stage_of(played, long_names=True)
    for embed in (
        live_render.reveal_embed(stage, 0),
        live_render.podium_embed(stage),
        live_render.question_embed(stage, played.round.askings[0]),
    ):
        assert len(embed) <= 6_000
        assert all(len(field.value or "") <= 1_024 for field in embed.fields)
        assert len(embed.description or "") <= 4_096


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_person_sees_each_of_many_questions_in_their_results(language: str) -> None:
    played = started(Rules(seconds=20), [single(f"q{n}") for n in range(40)], people=[1])
    for number in range(40):
        played.press(number, 1, "b" if number % 2 else "c", number * 40 + 2)
        played.finish_question()
        played.next(number * 40 + 40)
    made = played.board()
    embed = live_private.mine_embed(Place(played.round, made, made.of(1)), language)
    assert len(embed) <= 6_000
    assert sum((field.value or "").count("· 1") + (field.value or "").count("· 0") for field in embed.fields) == 40


def test_a_question_that_is_open_gives_nothing_of_its_key_away() -> None:
    for question in every_kind():
        played = started(Rules(seconds=20), [question], people=[1])
        stage = stage_of(played)
        shown = live_render.question_embed(stage, played.round.askings[0])
        assert "✅" not in str(shown.to_dict())
        assert not shown.fields


def literals() -> tuple[set[str], set[str], set[str]]:
    """Of the code of live rounds: all strings, the beginnings of f-strings, and what `text` and `label` are called with."""
    files = [*(ROOT / "bot").glob("live_*.py"), *(ROOT / "bot/views").glob("live*.py"), ROOT / "bot/commands/live.py"]
    strings: set[str] = set()
    beginnings: set[str] = set()
    called: set[str] = set()
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            beginnings.add(str(node.values[0].value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("text", "label"):
            called |= {str(value.value) for value in ast.walk(node.args[0]) if isinstance(value, ast.Constant)}
    return strings, beginnings, called


def test_every_text_that_the_code_names_is_there_and_every_text_is_used() -> None:
    keys = set(re.findall(r"^([a-z][a-z0-9_-]*) =", (ROOT / "bot/locales/en/live.ftl").read_text("utf-8"), re.MULTILINE))
    strings, beginnings, called = literals()
    ours = {name.partition(".")[0] for name in called if name.startswith(("live-", "cmd-live", "opt-live", "choice-live"))}
    assert not {name for name in ours - keys if not any(key.startswith(name) for key in keys)}
    unused = keys - {string.partition(".")[0] for string in strings}
    assert not {key for key in unused if not any(len(part) > 4 and key.startswith(part) for part in beginnings)}


def test_an_answer_for_a_repair_is_understood_as_id_letter_or_words() -> None:
    round_ = new_round(Rules(seconds=20, shuffled=False))
    for written in ("c", "C", "Option c", "option C"):
        assert command.named_answer(round_, 0, written) == (("c",), None)
    assert command.named_answer(round_, 0, "a, b") == (("a", "b"), None)
    assert command.named_answer(new_round(questions=every_kind()), 3, "8443") == ((), "8443")


# Time -----------------------------------------------------------------------------------------------------------------


def test_the_clock_follows_discords_and_not_the_machines() -> None:
    at = after(0)
    clock = DiscordClock(lambda: at + timedelta(seconds=7))  # this machine is seven seconds ahead
    assert clock.now() == after(7)
    clock.heard(after(-0.2))
    clock.heard(after(-0.1))
    for _ in range(500):
        clock.heard(after(-3))  # a crowd keeps us busy: we are behind, but it is not later
    assert clock.now() == pytest.approx(after(-0.1), abs=timedelta(seconds=0.001))


def test_the_grace_grows_while_presses_arrive_late_and_never_beyond_what_can_be_answered() -> None:
    at = [after(0)]
    clock = DiscordClock(lambda: at[0])
    clock.heard(after(-0.01))
    assert clock.grace_s == pytest.approx(GRACE_S, abs=0.001)
    at[0] = after(1)
    clock.heard(after(0.5))
    assert clock.grace_s == pytest.approx(GRACE_S + 2 * 0.49, abs=0.01)
    clock.heard(after(-9))
    assert clock.grace_s == LONGEST_GRACE_S
    at[0] = after(10)
    assert clock.grace_s == GRACE_S


async def test_counts_leave_room_for_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(asyncio, "sleep", sleep)
    pace = RequestPace(lambda: now[0])
    for _ in range(COUNTS_PER_S):
        await pace.turn(urgent=False)
    for _ in range(URGENT_PER_S - COUNTS_PER_S):
        await pace.turn(urgent=True)
    assert now[0] == 100.0
    await pace.turn(urgent=True)
    assert now[0] >= 101.0


def test_an_unlimited_factor_survives_the_database_and_the_board() -> None:
    played = started(Rules(seconds=20), people=[1])
    played.seat(2, factor=NO_LIMIT)
    played.tick(20)
    assert played.press(1, 2, "b", 400) == "recorded"
