"""Live rounds as Discord embeds and pictures. Nothing here decides anything; what may be shown is decided by the service.

Texts that everybody sees are in the round's language, those for one person in theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import discord
from discord.utils import escape_markdown, format_dt

from bot import charts, render
from bot.charts import Bar
from bot.render import BRAND, COLOURS, EMBED_DESCRIPTION, EMBED_TITLE, FIELD_VALUE, cut, letter, number
from bot.texts import text
from content.model import Choices, Match, Order, Question, TrueFalse
from tutor.grading import FALSE, TRUE, Verdict
from tutor.live import Asking, LiveRound, Phase
from tutor.live_repair import Fix, Keyed, Repair, key_ids, right_answer
from tutor.live_service import Repaired, Stage, order_for
from tutor.scoring import Board, Standing
from tutor.statistics import Split, option_ids

SHOWN_PLACES: Final = 10
CHART: Final = "answers.png"
_MEDALS: Final = {1: "🥇", 2: "🥈", 3: "🥉"}
_TEAM_MARKS: Final = "🔵🟠🟢🟣🟡🔴⚪🟤"
_OTHERS: Final = 8  # wrong options explained in a reveal


# The lobby ----------------------------------------------------------------------------------------------------------


def lobby_embed(stage: Stage) -> discord.Embed:
    round_, language = stage.round, stage.round.language
    if round_.over:
        state = text("live-lobby-over", language)
    elif round_.phase is Phase.LOBBY:
        state = text("live-lobby-text", language, questions=round_.total)
    else:
        state = text("live-lobby-running", language)
    description = round_.quiz.description[language] if round_.quiz.description else ""
    embed = discord.Embed(
        title=cut(text("live-lobby-title", language, title=round_.quiz.title[language]), EMBED_TITLE),
        description=cut("\n\n".join(filter(None, (description, state, f"-# {rules_line(round_)}"))), EMBED_DESCRIPTION),
        colour=BRAND,
    )
    for team, members in enumerate(stage.teams):
        embed.add_field(name=team_name(team, language), value=str(members))
    embed.set_footer(text=text("live-lobby-here", language, people=stage.seats))
    return embed


def rules_line(round_: LiveRound) -> str:
    rules, language = round_.rules, round_.language
    answers = text("live-rule-locked" if rules.locked else "live-rule-change", language)
    parts = [text("live-lobby-rules", language, scoring=text(f"live-rule-{rules.scheme.value}", language), answers=answers)]
    parts += [text(f"live-rule-{name}", language) for name in ("peer", "anonymous") if getattr(rules, name)]
    parts += [text("live-rule-own", language)] if rules.own_order else []
    return " · ".join(parts)


def team_name(team: int, language: str) -> str:
    return f"{_TEAM_MARKS[team % len(_TEAM_MARKS)]} {text('live-team', language, number=team + 1)}"


# A question ---------------------------------------------------------------------------------------------------------


def options_of(round_: LiveRound, position: int, order: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """Option id and text in the order shown; empty for questions that are typed, ordered or matched."""
    question, language = round_.quiz.questions[position], round_.language
    match question.body:
        case Choices(choices=choices):
            texts = {choice.id: choice.text[language] for choice in choices}
            return [(key, texts[key]) for key in order or order_for(round_, position, None)]
        case TrueFalse():
            return [(TRUE, text("answer-true", language)), (FALSE, text("answer-false", language))]
        case _:
            return []


def question_embed(stage: Stage, asking: Asking) -> discord.Embed:
    """A vote that is open, paused, closed, dropped or being discussed. Its key is not in here."""
    round_, language = stage.round, stage.round.language
    question = round_.quiz.questions[asking.position]
    parts = [stem(question, language)]
    if round_.rules.own_order:
        parts.append(f"-# {text('live-own-order', language)}")
    else:
        parts += listed(round_, asking.position)
    parts.append(state_line(round_, asking))
    if round_.outage_s >= 1 and asking == round_.current and round_.phase is Phase.ASKING:
        parts.append(f"-# {text('live-outage', language, seconds=round(round_.outage_s))}")
    key = "live-second-title" if asking.vote == 2 else "live-question-title"
    title = text(key, language, title=round_.quiz.title[language], number=asking.position + 1, total=round_.total)
    embed = discord.Embed(title=cut(title, EMBED_TITLE), description=cut("\n\n".join(filter(None, parts)), EMBED_DESCRIPTION), colour=BRAND)
    embed.set_footer(text=text("live-footer", language, answered=stage.answered, people=stage.seats))
    return embed


def stem(question: Question, language: str) -> str:
    written = render.gaps_shown(question, question.stem[language])
    return f"**{written}**" if "\n" not in written and "**" not in written else written


def listed(round_: LiveRound, position: int) -> list[str]:
    """What is to be chosen from, in full, where buttons or fields would cut it."""
    question, language = round_.quiz.questions[position], round_.language
    options = options_of(round_, position)
    match question.body:
        case Choices(many=many):
            lines = "\n".join(f"**{letter(i)}**  {option}" for i, (_, option) in enumerate(options))
            long = many or any(len(option) > render.VISIBLE_LABEL for _, option in options)
            return [lines, *([f"-# {text('round-multiple', language)}"] if many else [])] if long else []
        case Order(items=items):
            texts = {item.id: item.text[language] for item in items}
            return ["\n".join(f"• {texts[key]}" for key in order_for(round_, position, None)), f"-# {text('round-order', language)}"]
        case Match() as body:
            rights = {pair.id: pair.right for pair in body.pairs} | {item.id: item.text for item in body.distractors}
            lefts = "\n".join(f"**{i}**  {pair.left[language]}" for i, pair in enumerate(body.pairs, start=1))
            shown = "\n".join(f"• {rights[key][language]}" for key in order_for(round_, position, None))
            return [lefts, shown, f"-# {text('round-match', language)}"]
        case TrueFalse():
            return []
        case _:
            return [f"-# {text('round-short', language)}"]


def state_line(round_: LiveRound, asking: Asking) -> str:
    language = round_.language
    if asking.skipped:
        return text("live-skipped", language)
    if round_.over and not round_.shown(asking.position):
        return text("live-dropped-end", language)
    if asking != round_.current or round_.phase in (Phase.CLOSED, Phase.REVEALED):
        return text("live-closed", language) if asking == round_.current else ""
    if round_.phase is Phase.DISCUSSING:
        due = round_.next_due()
        return text("live-discuss-until", language, when=format_dt(due, "R")) if due else text("live-discuss", language)
    if round_.paused_at is not None:
        if asking.allotted_s is None:
            return text("live-paused-open", language)
        return text("live-paused", language, seconds=max(1, round(asking.allotted_s - asking.open_s)))
    return text("live-closes", language, when=format_dt(asking.deadline, "R")) if asking.deadline else text("live-no-limit", language)


# The reveal ---------------------------------------------------------------------------------------------------------


def reveal_embed(stage: Stage, position: int) -> discord.Embed:
    """Key, explanation, why not the others, what was repaired, and the board when it is shown. The chart is `CHART`."""
    round_, language, made, split = stage.round, stage.round.language, stage.question, stage.split
    assert made is not None, "a revealed question has its key"
    assert split is not None, "a revealed question has its split"
    question = made.question
    parts = [stem(question, language), share_line(split, stage.first_split, language)]
    if made.void:
        parts.append(text("live-reveal-voided", language))
    title = text("live-reveal-title", language, number=position + 1, total=round_.total)
    embed = discord.Embed(title=cut(title, EMBED_TITLE), description=cut("\n\n".join(parts), 1_200), colour=COLOURS[Verdict.RIGHT])
    key = [render.shown_key(question, line, language) for line in right_answer(made, language)]
    embed.add_field(name=text("live-reveal-key", language), value=cut("\n".join(f"✅ {line}" for line in key) or "—", 600), inline=False)
    if question.explanation:
        embed.add_field(name=text("live-reveal-why", language), value=cut(question.explanation[language], 900), inline=False)
    if others := why_not(round_, made, split):
        embed.add_field(name=text("live-reveal-others", language), value=cut("\n".join(others), 800), inline=False)
    if made.repaired:
        whats = [repair_text(repair, question, language) for repair in round_.repairs if repair.position == position]
        note = ". ".join([*whats, text("live-repaired-moved", language, people=stage.moved)])
        embed.add_field(name=text("live-repaired", language), value=cut(note, 400), inline=False)
    if round_.board_shown and stage.board is not None and position == round_.position:
        add_board(embed, round_, stage.board, limit=SHOWN_PLACES)
    embed.set_footer(text=text("live-footer", language, answered=stage.answered, people=stage.seats))
    return embed


def share_line(split: Split, first: Split | None, language: str) -> str:
    if split.answered == 0 and first is None:
        return text("live-reveal-nobody", language)
    if first is not None:
        return text(
            "live-reveal-shift",
            language,
            before=first.right,
            answered_before=first.answered,
            right=split.right,
            answered=split.answered,
        )
    return text("live-reveal-share", language, right=split.right, answered=split.answered)


def why_not(round_: LiveRound, made: Keyed, split: Split) -> list[str]:
    """The author's word on each wrong option, those chosen most first."""
    language = round_.language
    names = {key: letter(i) for i, (key, _) in enumerate(options_of(round_, split.position))}
    match made.question.body:
        case Choices(choices=choices):
            said = [(choice.id, choice.feedback) for choice in choices if choice.id not in split.keys]
        case TrueFalse(answer=answer, feedback=feedback):
            said = [(FALSE if answer else TRUE, feedback.get(not answer))]
            names = {TRUE: text("answer-true", language), FALSE: text("answer-false", language)}
        case _:
            return []
    # what the author said to a key that was wrong ("Right. …") would now mislead
    was_right = key_ids(Keyed(round_.quiz.questions[split.position])) if made.repaired else frozenset[str]()
    explained = [(key, feedback) for key, feedback in said if feedback is not None and key not in was_right]
    explained.sort(key=lambda entry: -split.counts.get(entry[0], 0))
    return [f"**{names[key]}**  {feedback[language]}" for key, feedback in explained[:_OTHERS]]


def bars_of(stage: Stage, position: int) -> list[Bar]:
    """What the chart shows; empty for answers that are not options."""
    split, first = stage.split, stage.first_split
    if split is None or not option_ids(stage.round.quiz.questions[position]):
        return []
    return [
        Bar(letter(i), option, split.counts.get(key, 0), key in split.keys, None if first is None else first.counts.get(key, 0))
        for i, (key, option) in enumerate(options_of(stage.round, position))
    ]


def chart_alt(stage: Stage, bars: Sequence[Bar]) -> str:
    assert stage.split is not None, "a chart shows a split"
    language, answered = stage.round.language, stage.split.answered
    intro = text("live-chart-intro", language, answered=answered)
    return charts.alt_text(bars, answered=answered, intro=intro, right=text("live-chart-right", language))


def repair_text(repair: Repair, question: Question, language: str) -> str:
    if repair.fix in (Fix.VOID, Fix.RESTORE):
        return text(f"live-repaired-{repair.fix.value}", language)
    texts: dict[str, str] = {}
    if isinstance(question.body, Choices):
        texts = {choice.id: choice.text[language] for choice in question.body.choices}
    elif isinstance(question.body, TrueFalse):
        texts = {TRUE: text("answer-true", language), FALSE: text("answer-false", language)}
    answer = repair.text or ", ".join(texts.get(key, key) for key in repair.ids)
    return text(f"live-repaired-{repair.fix.value}", language, answer=cut(f"“{answer}”", 120))


def repair_note(done: Repaired, language: str) -> str:
    """For everybody, once the key of the question is shown."""
    return text(
        "live-repaired-note",
        language,
        number=done.repair.position + 1,
        what=repair_text(done.repair, done.question.question, language),
        moved=text("live-repaired-moved", language, people=len(done.moved)),
    )


# Boards -------------------------------------------------------------------------------------------------------------


def add_board(embed: discord.Embed, round_: LiveRound, board: Board, *, limit: int) -> None:
    language = round_.language
    if board.teams:
        lines = [
            text("live-board-line", language, place=_medal(team.place), name=team_name(team.team, language), points=number(team.points))
            for team in board.teams
        ]
        embed.add_field(name=text("live-board-teams", language), value=cut("\n".join(lines), 500), inline=False)
    scored = [standing for standing in board.standings if standing.points > 0]
    lines = [board_line(round_, standing) for standing in scored[:limit]]
    if len(board.standings) > len(lines) and lines:
        lines.append(f"-# {text('live-board-more', language, people=len(board.standings) - len(lines))}")
    shown = "\n".join(lines) or text("live-board-empty", language)
    embed.add_field(name=text("live-board", language), value=cut(shown, FIELD_VALUE), inline=False)


def board_line(round_: LiveRound, standing: Standing) -> str:
    place = _medal(standing.place)
    if round_.rules.anonymous:
        return f"{place} {number(standing.points)}"
    name = cut(escape_markdown(standing.seat.name), 40)
    return text("live-board-line", round_.language, place=place, name=name, points=number(standing.points))


def _medal(place: int) -> str:
    return _MEDALS.get(place, f"`{place}.`")


def board_embed(round_: LiveRound, board: Board) -> discord.Embed:
    embed = discord.Embed(title=cut(round_.quiz.title[round_.language], EMBED_TITLE), colour=BRAND)
    add_board(embed, round_, board, limit=SHOWN_PLACES)
    return embed


def podium_embed(stage: Stage) -> discord.Embed:
    round_, board, language = stage.round, stage.board, stage.round.language
    assert board is not None, "an ended round has its board"
    summary = text(
        "live-podium-text" if board.standings else "live-podium-nobody",
        language,
        people=len(board.standings),
        questions=len(board.positions),
        possible=number(board.possible),
    )
    embed = discord.Embed(
        title=cut(text("live-podium-title", language, title=round_.quiz.title[language]), EMBED_TITLE),
        description=summary,
        colour=COLOURS[Verdict.PARTLY],
    )
    if board.standings:
        add_board(embed, round_, board, limit=SHOWN_PLACES)
    return embed
