"""An interview question as embeds: the question, what its learner wrote, the self-check, the reference in pages.

Values in, embeds out; nothing here knows a button. An answer that comes back is the learner's own and is shown as typed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

import discord

from bot import render
from bot.texts import text
from tutor.interview import Posed

EMBEDS_TOTAL: Final = 6_000
"""Characters of all embeds of a message together [Discord: resources/message, Embed Limits]."""
PROBES_SHOWN: Final = 5
"""The latest follow-ups that stay on the message; a conversation has moved on from older ones."""
_LEAST: Final = 200  # characters of a description that remain when a long answer needs the room
_PAGE: Final = render.EMBED_DESCRIPTION
_DIFFICULTY: Final = 5

ANSWERED: Final = discord.Colour(0x8A8F98)
CHECKED: Final = discord.Colour(0x2E9E6B)

_BLOCKS: Final = re.compile(r"^(```[^\n]*\n.*?^```[ \t]*$)", re.MULTILINE | re.DOTALL)


def question_embed(posed: Posed, probes: int, language: str) -> discord.Embed:
    """The question with its first `probes` follow-ups."""
    question = posed.question
    stem = question.stem.pick(language)
    parts = [f"**{stem.text}**" if "\n" not in stem.text and "**" not in stem.text else stem.text]
    if stem.language and stem.language.partition("-")[0] != language.partition("-")[0]:
        parts.append(f"-# {text('round-fallback', language, language=render.language_name(stem.language, language))}")
    heading = text("interview-title", language, title=posed.quiz.title[language], number=posed.number, total=posed.total)
    embed = discord.Embed(
        title=render.cut(heading, render.EMBED_TITLE),
        description=render.cut("\n\n".join(parts), render.EMBED_DESCRIPTION),
        colour=render.BRAND,
    )
    for at in range(max(0, probes - PROBES_SHOWN), min(probes, len(posed.body.probes))):
        name = text("interview-probe", language, number=at + 1, total=len(posed.body.probes))
        embed.add_field(name=name, value=render.cut(posed.body.probes[at][language], render.FIELD_VALUE), inline=False)
    stars = "★" * question.difficulty + "☆" * (_DIFFICULTY - question.difficulty)
    embed.set_footer(text=text("interview-footer", language, stars=stars, points=render.number(posed.possible)))
    return embed


def answer_embed(answer: str, language: str) -> discord.Embed:
    return discord.Embed(title=text("interview-yours", language), description=render.cut(answer, render.EMBED_DESCRIPTION), colour=ANSWERED)


def check_embed(posed: Posed, ticked: Collection[int], language: str) -> discord.Embed:
    """The rubric with what the learner ticked, and what that adds up to."""
    lines = [
        f"{'☑' if at in ticked else '☐'} **{render.number(criterion.points)}** · {criterion.criterion[language]}"
        for at, criterion in enumerate(posed.body.rubric)
    ]
    reached, possible = render.number(posed.reached(ticked)), render.number(posed.possible)
    embed = discord.Embed(
        title=text("interview-check", language, points=reached, possible=possible),
        description=render.cut("\n".join(lines), render.EMBED_DESCRIPTION),
        colour=CHECKED if ticked else ANSWERED,
    )
    embed.set_footer(text=text("interview-check-note", language))
    return embed


def fitted(question: discord.Embed, answer: discord.Embed, check: discord.Embed) -> list[discord.Embed]:
    """The three as one message: a long answer stays whole, what stands elsewhere too gives way."""
    over = len(question) + len(answer) + len(check) - EMBEDS_TOTAL
    for made in (check, question):
        if over > 0 and made.description is not None:
            before = len(made)
            made.description = render.cut(made.description, max(_LEAST, len(made.description) - over))
            over -= before - len(made)
    if over > 0:
        question.clear_fields()
    return [question, answer, check]


def reference_pages(posed: Posed, language: str) -> list[str]:
    """The reference answer, the rubric with its points, and what a strong answer shows; each page fits an embed description."""
    parts: list[str] = []
    if posed.body.reference is not None:
        parts.append(render.unwrapped(posed.body.reference[language]))
    if posed.body.rubric:
        lines = [text("interview-rubric", language, points=render.number(posed.possible))]
        for criterion in posed.body.rubric:
            lines.append(f"- **{render.number(criterion.points)}** · {criterion.criterion[language]}")
            lines += [f"  - {render.number(level.points)}: {level.text[language]}" for level in criterion.levels]
        parts.append("\n".join(lines))
    if posed.question.explanation is not None:
        parts.append(f"*{posed.question.explanation[language]}*")
    return paged("\n\n".join(parts), _PAGE) or [text("interview-no-reference", language)]


def reference_embed(posed: Posed, number: int, language: str) -> discord.Embed:
    """Page `number`, from 0; past the end the last one."""
    pages = reference_pages(posed, language)
    number = min(number, len(pages) - 1)
    embed = discord.Embed(title=text("interview-reference", language), description=pages[number], colour=render.BRAND)
    embed.set_author(name=render.cut(posed.question.stem[language].splitlines()[0], render.EMBED_TITLE))
    if len(pages) > 1:
        embed.set_footer(text=text("interview-page", language, number=number + 1, total=len(pages)))
    return embed


def paged(markdown: str, limit: int) -> list[str]:
    """Markdown in pages of at most `limit` characters (30 or more), each of which is sound by itself.

    A page ends between paragraphs or code blocks where it can, else between lines. A code block longer than a page is
    closed at the end of the one and opened again, with its language, on the next.
    """
    pages: list[str] = []
    page = ""
    for block in _blocks(markdown):
        for piece in _pieces(block, limit):
            if page and len(page) + 2 + len(piece) > limit:
                pages.append(page)
                page = ""
            page = f"{page}\n\n{piece}" if page else piece
    return [*pages, page] if page else pages


def _blocks(markdown: str) -> list[str]:
    """Paragraphs and code blocks; what stands between blank lines stays together."""
    found: list[str] = []
    for at, part in enumerate(_BLOCKS.split(markdown)):
        found += [part] if at % 2 else [block.strip("\n") for block in re.split(r"\n[ \t]*\n", part) if block.strip()]
    return found


def _pieces(block: str, limit: int) -> list[str]:
    if len(block) <= limit:
        return [block]
    lines = block.split("\n")
    opening, closing = "", ""
    if _BLOCKS.fullmatch(block):
        opening, closing = lines[0] + "\n", "\n```"
        lines = lines[1:-1]
    room = limit - len(opening) - len(closing)
    pieces: list[str] = []
    for part in (part for line in lines for part in _chopped(line, room)):
        if pieces and len(pieces[-1]) + 1 + len(part) <= room:
            pieces[-1] += f"\n{part}"
        else:
            pieces.append(part)
    return [f"{opening}{piece}{closing}" for piece in pieces]


def _chopped(line: str, room: int) -> list[str]:
    """A line in parts of at most `room` characters, ended at a space where there is one."""
    parts: list[str] = []
    while len(line) > room:
        space = line.rfind(" ", room // 2, room + 1)
        end = space if space > 0 else room
        parts.append(line[:end])
        line = line[end:].removeprefix(" ")
    return [*parts, line]
