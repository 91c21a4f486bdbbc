"""What one person alone sees of a live round, as embeds and texts: receipts, their place, the instructor's console.

Texts are in the reader's language; what the quiz says is in the round's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import discord
from discord.utils import format_dt

from bot import render
from bot.live_render import options_of, state_line, stem
from bot.render import BRAND, EMBED_DESCRIPTION, EMBED_TITLE, FIELD_VALUE, MARKS, cut, letter, number
from bot.texts import text
from content.model import Choices, Question
from tutor.exports import Report
from tutor.grading import Response
from tutor.live import LiveRound, Phase
from tutor.live_press import Outcome, Receipt
from tutor.live_service import Desk, Place, Sheet
from tutor.scoring import Line
from tutor.statistics import QuestionFigures, Split

# For one person -----------------------------------------------------------------------------------------------------


def receipt_text(receipt: Receipt, language: str) -> str:
    if receipt.refusal is not None:
        return text(f"live-refused-{receipt.refusal.value}", language)
    assert receipt.outcome is not None, "a receipt has an outcome or a refusal"
    assert receipt.standing is not None, "an answer that counts stands"
    asked = _Asked(receipt.round.id, receipt.position, repr(receipt.standing.response), receipt)
    return _receipt(asked, receipt.outcome, language)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a receipt's words depend on: the same for everybody who gave the same answer to the same question."""

    round_id: str
    position: int
    answer: str
    receipt: Receipt = field(compare=False)


@lru_cache(maxsize=2_048)  # 500 people press four buttons: wording each receipt anew would be most of our time per press
def _receipt(asked: _Asked, outcome: Outcome, language: str) -> str:
    receipt = asked.receipt
    assert receipt.question is not None
    assert receipt.standing is not None
    answer = answer_text(receipt.round, receipt.position, receipt.question, receipt.standing.response)
    key = f"live-receipt-{outcome.value}"
    return text(f"{key}-locked" if outcome is Outcome.RECORDED and receipt.round.rules.locked else key, language, answer=answer)


def answer_text(round_: LiveRound, position: int, question: Question, response: Response) -> str:
    """An answer in words, with its letter where everybody sees the same letters."""
    words = render.answered_text(question, response, round_.language)
    if isinstance(question.body, Choices) and not round_.rules.own_order:
        names = {option: letter(i) for i, (_, option) in enumerate(options_of(round_, position))}
        words = [f"{names[word]}. {word}" if word in names else word for word in words]
    return cut("; ".join(words), 300) or "—"


def sheet_embed(sheet: Sheet, language: str) -> discord.Embed:
    """The question for one person: their answer, and their own deadline where it differs."""
    round_ = sheet.round
    asking = round_.current
    assert asking is not None, "a sheet shows the current question"
    parts = [stem(sheet.question, round_.language)]
    options = options_of(round_, sheet.position, sheet.order)
    if any(len(option) > render.VISIBLE_LABEL for _, option in options):
        parts.append("\n".join(f"**{letter(i)}**  {option}" for i, (_, option) in enumerate(options)))
    if sheet.mine is None:
        parts.append(text("live-sheet-none", language))
    else:
        parts.append(text("live-sheet-mine", language, answer="; ".join(render.answered_text(sheet.question, sheet.mine, round_.language))))
    if not sheet.open:
        parts.append(text("live-sheet-over", language) if round_.paused_at is None else text("live-paused-open", language))
    elif sheet.factor > 1:
        until = sheet.until
        parts.append(text("live-sheet-until", language, when=format_dt(until, "R")) if until else text("live-sheet-unlimited", language))
    elif asking.deadline is not None:
        parts.append(text("live-closes", language, when=format_dt(asking.deadline, "R")))
    title = text("live-question-title", language, title=round_.quiz.title[language], number=sheet.position + 1, total=round_.total)
    return discord.Embed(title=cut(title, EMBED_TITLE), description=cut("\n\n".join(parts), EMBED_DESCRIPTION), colour=BRAND)


def place_text(place: Place, language: str) -> str:
    standing = place.standing
    if standing is None or not place.board.positions:
        return text("live-place-none", language)
    lines = [
        text(
            "live-place",
            language,
            place=standing.place,
            people=len(place.board.standings),
            points=number(standing.points),
            possible=number(place.board.possible),
        )
    ]
    team = next((team for team in place.board.teams if team.team == standing.seat.team), None)
    if team is not None:
        lines.append(text("live-place-team", language, team=team.team + 1, place=team.place, points=number(team.points)))
    return "\n".join(lines)


def mine_embed(place: Place, language: str) -> discord.Embed:
    round_ = place.round
    embed = discord.Embed(
        title=cut(text("live-mine-title", language, title=round_.quiz.title[language]), EMBED_TITLE),
        description=place_text(place, language),
        colour=BRAND,
    )
    lines = [mine_line(round_, line, language) for line in place.standing.lines] if place.standing else []
    for start in range(0, min(len(lines), 60), 6):
        embed.add_field(name="\u200b", value=cut("\n".join(lines[start : start + 6]), 560), inline=False)
    return embed


def mine_line(round_: LiveRound, line: Line, language: str) -> str:
    question = round_.quiz.questions[line.position]
    mark = MARKS[line.verdict] if line.verdict else "▫️"
    answer = (
        cut("; ".join(render.answered_text(question, line.response, language)), 50) if line.response else text("live-mine-none", language)
    )
    first = text(
        "live-mine-line",
        language,
        mark=mark,
        number=line.position + 1,
        stem=cut(question.stem[language].splitlines()[0], 60),
        points=number(line.points),
    )
    return f"{first}\n-# {answer}"


# For instructors ----------------------------------------------------------------------------------------------------


def desk_embed(desk: Desk, language: str, *, stale: bool = False) -> discord.Embed:
    round_ = desk.round
    state = text(f"live-console-{round_.phase.value}", language, number=round_.position + 1, total=round_.total, people=desk.seats)
    parts = [f"**{state}**"]
    current = round_.current
    if current is not None and not round_.over:
        line = state_line(round_, current) if round_.phase is Phase.ASKING else ""
        parts += [line] if line else []
        counts = [text("live-console-answered", language, answered=desk.answered, people=desk.seats)]
        counts += [text("live-console-lost", language, people=desk.lost)] if desk.lost else []
        parts.append(" · ".join(counts))
        if desk.waiting:
            until = desk.waiting_until
            parts.append(
                text("live-console-waiting", language, people=desk.waiting, when=format_dt(until, "R"))
                if until
                else text("live-console-waiting-open", language, people=desk.waiting)
            )
    if stale:
        parts.append(f"-# {text('live-console-stale', language)}")
    embed = discord.Embed(
        title=cut(text("live-console-title", language, title=round_.quiz.title[round_.language]), EMBED_TITLE),
        description="\n".join(parts),
        colour=BRAND,
    )
    if desk.split is not None and not round_.over and (lines := split_lines(round_, desk.split)):
        embed.add_field(name=text("live-console-split", language), value=cut("\n".join(lines), FIELD_VALUE), inline=False)
    embed.set_footer(text=text("live-console-private", language))
    return embed


def split_lines(round_: LiveRound, split: Split) -> list[str]:
    lines: list[str] = []
    for i, (key, option) in enumerate(options_of(round_, split.position)):
        count = split.counts.get(key, 0)
        filled = round(10 * count / split.answered) if split.answered else 0
        mark = "✅" if key in split.keys else "▫️"
        lines.append(f"{mark} `{letter(i)} {'█' * filled}{'░' * (10 - filled)}` {count} · {cut(option, 40)}")
    return lines


def results_embed(report: Report, language: str) -> discord.Embed:
    board = report.board
    people = len(board.standings)
    mean = sum(standing.points for standing in board.standings) / people if people else 0.0
    embed = discord.Embed(
        title=cut(text("live-results-title", language, title=report.title), EMBED_TITLE),
        description=text(
            "live-results-text",
            language,
            people=people,
            questions=len(board.positions),
            mean=f"{mean:.1f}",
            possible=number(board.possible),
        ),
        colour=BRAND,
    )
    for figures in report.figures[:15]:
        heading = text("live-results-question", language, number=figures.position + 1, stem=cut(figures.question.stem[language], 80))
        embed.add_field(name=cut(heading, 110), value=cut(figures_text(figures, language), 240), inline=False)
    return embed


def figures_text(figures: QuestionFigures, language: str) -> str:
    texts: dict[str, str] = {}
    if isinstance(figures.question.body, Choices):
        texts = {choice.id: choice.text[language] for choice in figures.question.body.choices}
    parts = [
        text(
            "live-results-figures",
            language,
            right=figures.right,
            answered=figures.answered,
            difficulty="–" if figures.difficulty is None else f"{figures.difficulty:.2f}",
            discrimination="–" if figures.discrimination is None else f"{figures.discrimination:.2f}",
        )
    ]
    if figures.void:
        parts = [text("live-repaired-void", language)]
    if figures.suspected_key:
        parts.append(text("live-results-suspected", language, option=cut(texts.get(figures.suspected_key, figures.suspected_key), 60)))
    if figures.dead:
        parts.append(text("live-results-dead", language, options=cut(", ".join(texts.get(key, key) for key in figures.dead), 60)))
    if figures.lost:
        parts.append(text("live-results-lost", language, people=figures.lost))
    return "\n".join(parts)
