"""Views of the service as Discord embeds. Lengths are Discord's; nothing here decides anything about a quiz.

Limits: docs/sandbox.md names the table; embeds hold 4,096 characters of description, 1,024 per field, 6,000 in all.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import discord

from bot.texts import text
from content.model import Choice, Choices, Guide, Info, Match, Order, Question, Section, Short, TrueFalse
from tutor.grading import FALSE, TRUE, Arranged, Filled, Paired, Response, Selected, Verdict, Written
from tutor.rounds import Round
from tutor.service import GuideView, Judged, RoundView

EMBED_DESCRIPTION: Final = 4_096
FIELD_VALUE: Final = 1_024
EMBED_TITLE: Final = 256
BUTTON_LABEL: Final = 80
VISIBLE_LABEL: Final = 34
"""Characters of a button label that a phone shows; a longer choice is also written in full above the buttons."""

BRAND: Final = discord.Colour(0x5B6EF5)
COLOURS: Final = {
    Verdict.RIGHT: discord.Colour(0x2E9E6B),
    Verdict.PARTLY: discord.Colour(0xD9A21B),
    Verdict.WRONG: discord.Colour(0xD9534F),
    Verdict.UNGRADED: BRAND,
}
MARKS: Final = {Verdict.RIGHT: "✅", Verdict.PARTLY: "🟡", Verdict.WRONG: "❌", Verdict.UNGRADED: "📝"}
WORDS_PER_MINUTE: Final = 220  # reading speed for non-fiction, Brysbaert 2019: 238 in English; a little slower for study
CJK_PER_MINUTE: Final = 400  # characters


def cut(text_: str, limit: int) -> str:
    """At most `limit` characters; what is cut ends in an ellipsis, and an open code block is closed."""
    if len(text_) <= limit:
        return text_
    kept = text_[: limit - 6]
    space = kept.rfind(" ", max(0, limit - 30))  # not within a word, where words have spaces
    kept = (kept[:space] if space > 0 else kept).rstrip()
    return kept + (" …\n```" if kept.count("```") % 2 else " …")


_BLOCK: Final = re.compile(r"\s*(?:[-*+>#|]|\d{1,3}[.)]\s|-#|$)")


def unwrapped(markdown: str) -> str:
    """Markdown whose paragraphs are one line each: Discord shows every newline, authors wrap their lines."""
    lines: list[str] = []
    in_code = False
    joins = False  # whether the line before may go on
    for line in markdown.splitlines():
        fence = line.lstrip().startswith("```")
        if joins and not in_code and not fence and not _BLOCK.match(line):
            wide = spaceless(lines[-1][-1:]) and spaceless(line.lstrip()[:1])  # Chinese has no space where a line ended
            lines[-1] += ("" if wide else " ") + line.strip()
        else:
            lines.append(line.rstrip())
        in_code ^= fence
        # a heading and a table row end with their line; a list item and a quote go on like a paragraph
        joins = bool(line.strip()) and not in_code and not fence and not line.lstrip().startswith(("#", "|"))
    return "\n".join(lines)


def spaceless(mark: str) -> bool:
    """Whether this letter belongs to a script without spaces between words; Hangul has them."""
    return mark >= "\u2e80" and not "\uac00" <= mark <= "\ud7af"


def width(text_: str) -> int:
    """Columns a text takes: East Asian letters take two (Unicode annex 11)."""
    return sum(2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in text_)


def letter(index: int) -> str:
    return chr(ord("A") + index)


def ordered(question: Question, round_: Round) -> list[Choice]:
    """The choices of a question in the order of this round."""
    assert isinstance(question.body, Choices)
    by_id = {choice.id: choice for choice in question.body.choices}
    return [by_id[key] for key in round_.orders.get(question.id, ()) if key in by_id] or list(question.body.choices)


def number(value: float) -> str:
    return f"{value:g}" if value == round(value) else f"{value:.1f}"


_GAP: Final = re.compile(r"\{\{[A-Za-z0-9_-]{1,60}\}\}")


def gaps_shown(question: Question, stem: str) -> str:
    """A stem with its blanks ("{{b1}} then {{b2}}") as gaps, numbered like the fields of the modal that fills them."""
    if not isinstance(question.body, Short) or not question.body.blanks:
        return stem
    places = {f"{{{{{blank.id}}}}}": place for place, blank in enumerate(question.body.blanks, start=1)}
    return _GAP.sub(lambda found: f"\\_\\_\\_\\_ ({places[found.group()]})" if found.group() in places else found.group(), stem)


def question_embed(view: RoundView) -> discord.Embed:
    question, language = view.open, view.round.language
    assert question is not None
    stem = view.text(question.stem)
    shown = gaps_shown(question, stem.text)
    parts = [f"**{shown}**" if "\n" not in shown and "**" not in shown else shown]
    match question.body:
        case Choices(many=many):
            choices = ordered(question, view.round)
            texts = [choice.text[language] for choice in choices]
            if any(width(choice) > VISIBLE_LABEL for choice in texts):
                parts.append("\n".join(f"**{letter(i)}**  {choice}" for i, choice in enumerate(texts)))
            if many:
                parts.append(f"-# {text('round-multiple', language)}")
        case Order(items=items):
            by_id = {item.id: item.text[language] for item in items}
            parts.append("\n".join(f"• {by_id[key]}" for key in view.round.orders[question.id]))
            parts.append(f"-# {text('round-order', language)}")
        case Match() as body:
            rights = {pair.id: pair.right for pair in body.pairs} | {item.id: item.text for item in body.distractors}
            parts.append("\n".join(f"**{i}**  {pair.left[language]}" for i, pair in enumerate(body.pairs, start=1)))
            parts.append("\n".join(f"• {rights[key][language]}" for key in view.round.orders[question.id]))
            parts.append(f"-# {text('round-match', language)}")
        case Short():
            parts.append(f"-# {text('round-short', language)}")
        case _:
            pass
    if stem.language and stem.language.partition("-")[0] != language.partition("-")[0]:
        parts.append(f"-# {text('round-fallback', language, language=language_name(stem.language, language))}")
    embed = discord.Embed(
        title=cut(text("round-title", language, title=view.quiz.title[language], number=view.position + 1, total=view.total), EMBED_TITLE),
        description=cut("\n\n".join(parts), EMBED_DESCRIPTION),
        colour=BRAND,
    )
    footer = [progress(view)]
    if view.round.mode == "practice" and view.round.answers:
        footer.append(text("round-score", language, points=number(view.score.points), possible=number(view.score.possible)))
    if question.time_limit_s:
        footer.append(text("round-time-hint", language, seconds=question.time_limit_s))
    embed.set_footer(text="  ·  ".join(footer))
    return embed


def progress(view: RoundView) -> str:
    """One mark per question: how the round went so far. An exam shows only what is done."""
    practice = view.round.mode == "practice" or view.finished
    done = "".join(MARKS[answer.grade.verdict] if practice else "◆" for answer in view.round.answers)
    return done + "◇" * (view.total - len(view.round.answers))


def judged_embed(view: RoundView, judged: Judged, section: Section | None) -> discord.Embed:
    language = view.round.language
    verdict = judged.answer.grade.verdict
    embed = discord.Embed(
        title=text(
            "judged-title",
            language,
            verdict=f"{MARKS[verdict]} {text(f'verdict-{verdict.value}', language)}",
            number=view.position + 1,
            total=view.total,
        ),
        description=cut(gaps_shown(judged.question, judged.question.stem[language]), EMBED_DESCRIPTION),
        colour=COLOURS[verdict],
    )
    given = "\n".join(answered_text(judged.question, judged.answer.response, language)) or "—"
    feedback = "\n".join(f"-# {item[language]}" for item in judged.grade.feedback)
    embed.add_field(name=text("judged-yours", language), value=cut(f"{given}\n{feedback}".strip(), FIELD_VALUE), inline=False)
    if verdict is not Verdict.RIGHT and judged.right:
        right = [shown_key(judged.question, item, language) for item in judged.right]
        embed.add_field(name=text("judged-right", language), value=cut("\n".join(right), FIELD_VALUE), inline=False)
    if judged.question.explanation:
        explanation = judged.question.explanation[language]
        embed.add_field(name=text("judged-why", language), value=cut(explanation, FIELD_VALUE), inline=False)
    else:
        embed.add_field(name=text("judged-why", language), value=f"-# {text('content-unexplained', language)}", inline=False)
    if section:
        embed.add_field(name=text("judged-section", language), value=cut(f"📖 {section.heading}", FIELD_VALUE), inline=False)
    score = text("round-score", language, points=number(view.score.points), possible=number(view.score.possible))
    embed.set_footer(text=f"{progress(view)}  ·  {score}")
    return embed


def shown_key(question: Question, key: str, language: str) -> str:
    if isinstance(question.body, TrueFalse):
        return text("answer-true" if key == TRUE else "answer-false", language)
    return key


def answered_text(question: Question, response: Response, language: str) -> list[str]:
    """What a person answered, in words."""
    match question.body, response:
        case Choices(choices=choices), Selected(ids):
            texts = {choice.id: choice.text[language] for choice in choices}
            return [texts.get(key, key) for key in ids]
        case TrueFalse(), Selected(ids):
            return [text("answer-true" if key == TRUE else "answer-false", language) for key in ids if key in (TRUE, FALSE)]
        case _, Written(written):
            return [discord.utils.escape_markdown(written)]
        case Short(blanks=blanks), Filled(filled):
            options = {(blank.id, choice.id): choice.text[language] for blank in blanks for choice in blank.choices}
            return [options.get((key, value), discord.utils.escape_markdown(value)) for key, value in filled.items()]
        case Order(items=items), Arranged(ids):
            texts = {item.id: item.text[language] for item in items}
            return [f"{place}. {texts.get(key, key)}" for place, key in enumerate(ids, start=1)]
        case Match() as body, Paired(pairs):
            rights = {pair.id: pair.right for pair in body.pairs} | {item.id: item.text for item in body.distractors}
            return [f"{pair.left[language]} → {rights[pairs[pair.id]][language]}" for pair in body.pairs if pair.id in pairs]
        case _:
            return []


def result_embed(view: RoundView, reread: Sequence[tuple[Guide, Section]]) -> discord.Embed:
    language, score = view.round.language, view.score
    lines: list[str] = []
    if view.round.answers:
        lines.append(
            text(
                "result-score",
                language,
                points=number(score.points),
                possible=number(score.possible),
                share=math.floor(score.share * 100),
            )
        )
        lines.append(text("result-tally", language, right=score.right, partly=score.partly, wrong=score.wrong))
        minutes, seconds = divmod(int(score.taken.total_seconds()), 60)
        lines.append(text("result-time", language, time=text("duration", language, minutes=minutes, seconds=seconds)))
    else:
        lines.append(text("result-nothing", language))
    colour = COLOURS[Verdict.RIGHT if score.share >= 0.75 else Verdict.PARTLY if score.share >= 0.5 else Verdict.WRONG]
    embed = discord.Embed(
        title=cut(text("result-title", language, title=view.quiz.title[language]), EMBED_TITLE),
        description="\n".join(lines),
        colour=colour if view.round.answers else BRAND,
    )
    questions = [
        f"{MARKS[answer.grade.verdict]} {place}. {cut(gaps_shown(question, question.stem[language]).splitlines()[0], 90)}"
        for place, answer in enumerate(view.round.answers, start=1)
        if (question := view.quiz.question(answer.question_id)) and not isinstance(question.body, Info)
    ]
    for start in range(0, len(questions), 8):  # eight lines of at most 100 characters fit a field
        embed.add_field(
            name=text("result-questions", language) if start == 0 else "\u200b",
            value=cut("\n".join(questions[start : start + 8]), FIELD_VALUE),
            inline=False,
        )
    if reread:
        listed = "\n".join(f"📖 {guide.title}: {section.heading}" for guide, section in reread[:8])
        embed.add_field(name=text("result-reread", language), value=cut(listed, FIELD_VALUE), inline=False)
    elif view.round.answers and score.wrong + score.partly == 0:
        embed.set_footer(text=text("result-perfect", language))
    return embed


def language_name(code: str, language: str) -> str:
    base = code.partition("-")[0]
    try:
        return text(f"language-{base}", language)
    except KeyError:
        return code


# Guides -------------------------------------------------------------------------------------------------------------


def reading_minutes(guide: Guide) -> int:
    """Whole minutes to read the guide, at least one."""
    everything = " ".join(f"{section.heading} {section.summary} {section.body}" for section in guide.sections)
    wide = sum(map(spaceless, everything))
    narrow = len("".join(" " if spaceless(mark) else mark for mark in everything).split())
    return max(1, math.ceil(narrow / WORDS_PER_MINUTE + wide / CJK_PER_MINUTE))


def guide_pages(guide: Guide) -> list[tuple[Section, ...]]:
    """The pages of a guide: one per section, all FAQ pairs of it on as few pages as the embed holds."""
    pages: list[tuple[Section, ...]] = [(section,) for section in guide.sections if not section.faq]
    pending: list[Section] = []
    for section in (section for section in guide.sections if section.faq):
        if pending and sum(len(item.heading) + len(item.body) + 12 for item in [*pending, section]) > EMBED_DESCRIPTION - 200:
            pages.append(tuple(pending))
            pending = []
        pending.append(section)
    return [*pages, tuple(pending)] if pending else pages


def page_of(guide: Guide, section_id: str | None) -> int:
    pages = guide_pages(guide)
    return next((i for i, page in enumerate(pages) if any(section.id == section_id for section in page)), 0)


def guide_embed(view: GuideView, page: int, language: str) -> discord.Embed:
    guide = view.guide
    pages = guide_pages(guide)
    sections = pages[page]
    if sections[0].faq:
        heading = text("guide-faq", language)
        body = "\n\n".join(f"**{section.heading}**\n{unwrapped(section.body)}" for section in sections)
    else:
        heading = sections[0].heading
        summary = f"> {sections[0].summary}\n\n" if sections[0].summary else ""
        body = summary + unwrapped(sections[0].body)
    if page == 0:
        body = f"*{guide.summary}*\n\n{body}" if guide.summary and guide.summary != sections[0].summary else body
    if view.fallback:
        body += f"\n\n-# {text('round-fallback', language, language=language_name(guide.language, language))}"
    embed = discord.Embed(title=cut(heading, EMBED_TITLE), description=cut(body, EMBED_DESCRIPTION), colour=BRAND)
    embed.set_author(name=cut(text("guide-page", language, title=guide.title, number=page + 1, total=len(pages)), EMBED_TITLE))
    if page == len(pages) - 1:
        more: list[str] = []
        if view.next:
            more.append(text("guide-next", language, title=view.next.title))
        more += [f"{text('guide-related', language)}: {other.title}" for other in view.related if other is not view.next]
        more += [text("guide-quiz", language, title=quiz.title[language]) for quiz in view.quizzes]
        if more:
            embed.add_field(name="→", value=cut("\n".join(more), FIELD_VALUE), inline=False)
        if guide.sources:
            embed.add_field(name=text("guide-sources", language), value=cut(" · ".join(guide.sources), FIELD_VALUE), inline=False)
    footer = [text("guide-reading", language, minutes=reading_minutes(guide))]
    if guide.level in ("beginner", "intermediate", "advanced"):
        footer.append(text("guide-level", language, level=text(f"level-{guide.level}", language)))
    if guide.reviewed:
        footer.append(text("guide-reviewed", language, date=guide.reviewed.isoformat()))
    embed.set_footer(text=" · ".join(footer))
    return embed
