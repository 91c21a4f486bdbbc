"""Question banks in Discord: what an import would keep, the buttons that keep or discard it, explanations to take or leave.

Every state is in a custom id and the store. Only people who may manage the guild get to press; nothing here reads a file.
"""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import discord
from discord import ButtonStyle, Interaction

from bot import render
from bot.client import StudyhallClient, custom_id_of
from bot.texts import text
from bot.views import answers, solo
from bot.views.buttons import KEY, ROUND, StateButton, client_of, custom_id
from content.model import Choices, Question, Severity
from tutor import grading
from tutor.drafts_service import EXPLANATION, Draft, Drafts, Offered, Proposal, Proposed, Remark, Written, unexplained
from tutor.errors import BankRefused, NotFound, Throttled, TooManyDrafts
from tutor.grading import FALSE, TRUE
from tutor.reply import TutorReply
from tutor.rounds import Mode, playable

PROBLEMS_SHOWN: Final = 5
LOSSES_SHOWN: Final = 10
PREVIEWED: Final = 3
CHOICES_SHOWN: Final = 6
_PROBLEM: Final = 280  # characters of one problem in the message; the report has all of it
_STEM: Final = 300
_MARKS: Final = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.NOTE: "🛈"}
_COLOUR: Final = discord.Colour(0xD9A21B)


@dataclass(slots=True)
class ContentDesk:
    """A part of the client: where its commands and buttons find the use cases."""

    drafts: Drafts

    async def start(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


def drafts_of(interaction: Interaction[Any]) -> Drafts:
    return client_of(interaction).part(ContentDesk).drafts


async def may(interaction: Interaction[Any], language: str) -> bool:
    """Whether this person may manage the guild; if not, they have been told."""
    if interaction.guild_id is not None and (interaction.permissions.manage_guild or interaction.permissions.administrator):
        return True
    await interaction.response.send_message(text("content-forbidden", language), ephemeral=True)
    return False


@asynccontextmanager
async def telling(interaction: Interaction[Any], language: str) -> AsyncGenerator[None]:
    """Around whatever may be refused: the person reads why, in the place where the answer was to come."""
    try:
        yield
    except BankRefused as error:
        await say(interaction, text("content-refused", language, problem=plain(str(error), 1_500)))
    except TooManyDrafts as error:
        await say(interaction, text("content-too-many", language, most=error.most))
    except Throttled:
        await say(interaction, text("content-busy", language))
    except NotFound as error:
        if error.kind in ("quiz", "guide"):
            raise
        await say(interaction, text("content-gone", language))


async def say(interaction: Interaction[Any], message: str) -> None:
    """In the place where "thinking" stands; beside a message whose button was pressed, which stays as it is."""
    if not interaction.response.is_done():
        await interaction.response.send_message(message, ephemeral=True)
    elif interaction.type is discord.InteractionType.application_command:
        await interaction.edit_original_response(content=message)
    else:
        await interaction.followup.send(message, ephemeral=True)


def plain(written: str, limit: int) -> str:
    """Text of a file, as it is: no mark of it means anything to Discord."""
    return render.cut(discord.utils.escape_markdown(discord.utils.escape_mentions(" ".join(written.split()))), limit)


# What was read ------------------------------------------------------------------------------------------------------


def offered_embed(offered: Offered, file: str, language: str) -> discord.Embed:
    """Counts, the first problems, the first questions, and what keeping it would mean."""
    reading = offered.reading
    counts = {severity: sum(problem.severity is severity for problem in reading.problems) for severity in Severity}
    parts = [
        text("content-counts", language, imported=reading.imported, read=reading.read),
        text(
            "content-problems",
            language,
            errors=counts[Severity.ERROR],
            warnings=counts[Severity.WARNING],
            notes=counts[Severity.NOTE],
        ),
    ]
    quiz = reading.quiz
    if quiz is None:
        parts.append(text("content-nothing", language))
    else:
        missing, unasked = len(unexplained(quiz.questions)), sum(not playable(question) for question in quiz.questions)
        parts += [text("content-missing", language, count=missing)] if missing else []
        parts += [text("content-unasked", language, count=unasked)] if unasked else []
        if offered.replaces is not None:
            older = offered.replaces
            parts.append(text("content-replaces", language, title=plain(older.quiz.title[language], 100), version=older.quiz.version))
    lines = problem_lines(sorted(reading.problems, key=lambda problem: list(Severity).index(problem.severity)), PROBLEMS_SHOWN, language)
    embed = discord.Embed(
        title=render.cut(text("content-title", language, file=plain(file, 120), format=reading.format), render.EMBED_TITLE),
        description="\n".join([*parts, *([""] if lines else []), *lines]),
        colour=_COLOUR if counts[Severity.ERROR] else render.BRAND,
    )
    for number, question in enumerate(quiz.questions[:PREVIEWED] if quiz else (), start=1):
        name = f"{number}. {question.type}"
        embed.add_field(name=name, value=render.cut(previewed(question, language), render.FIELD_VALUE), inline=False)
    return embed


def problem_lines(problems: Sequence[Remark], most: int, language: str) -> list[str]:
    """The first ones, those that cost most in front, and how many more there are."""
    lines: list[str] = []
    for problem in problems[:most]:
        where = text("content-line", language, line=problem.line) if problem.line else text("content-whole", language)
        about = f" {plain(problem.question, 60)}:" if problem.question else ""
        lines.append(f"{_MARKS[problem.severity]} {where} `{problem.code}`{about} {plain(problem.text, _PROBLEM)}")
    if len(problems) > most:
        lines.append(f"-# {text('content-more', language, count=len(problems) - most)}")
    return lines


def previewed(question: Question, language: str) -> str:
    """The stem, and what is right."""
    stem = render.cut(question.stem[language], _STEM)
    body = question.body
    if isinstance(body, Choices):
        shown = [f"{'✅' if choice.credit > 0 else '▫️'} {render.cut(choice.text[language], 90)}" for choice in body.choices[:CHOICES_SHOWN]]
        shown += ["…"] if len(body.choices) > CHOICES_SHOWN else []
    else:
        shown = [f"✅ {render.cut(key, 120)}" for key in keys(question, language)[:CHOICES_SHOWN]]
    return "\n".join([stem, *shown])


def keys(question: Question, language: str) -> list[str]:
    found = grading.right_answer(question, language)
    return [render.shown_key(question, key, language) if key in (TRUE, FALSE) else key for key in found]


def offered_buttons(offered: Offered, language: str) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    if offered.id is not None:
        view.add_item(KeepButton(("next", offered.id), "content-keep", text("content-button-keep", language), style=ButtonStyle.primary))
        if offered.replaces is not None:
            view.add_item(KeepButton(("apart", offered.id), "content-keep", text("content-button-apart", language)))
        view.add_item(DiscardButton((offered.id,), "content-discard", text("content-button-discard", language)))
    return view


def text_file(written: str, name: str) -> discord.File:
    """UTF-8 with a mark, so that every editor shows it right."""
    return discord.File(io.BytesIO(("\ufeff" + written).encode("utf-8", "replace")), name)


class KeepButton(StateButton, template=rf"content-keep:(next|apart):({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        way, bank_id = self.parts
        language = await client.language(interaction)
        if not await may(interaction, language):
            return
        await interaction.response.defer()  # a large bank is loaded again, to be sure
        async with telling(interaction, language):
            draft = await drafts_of(interaction).keep(
                bank_id, guild_id=interaction.guild_id, by=interaction.user.id, separate=way == "apart", now=interaction.created_at
            )
            view = discord.ui.View(timeout=None)
            if any(map(playable, draft.quiz.questions)):
                again = (Mode.PRACTICE.value, draft.id)
                view.add_item(solo.AgainButton(again, "again", text("content-button-try", language), style=ButtonStyle.primary))
            await interaction.edit_original_response(content=kept(draft, language), view=view)


def kept(draft: Draft, language: str) -> str:
    title = plain(draft.quiz.title[language], 100)
    parts = [text("content-kept", language, title=title, version=draft.quiz.version, questions=len(draft.quiz.questions))]
    missing = len(draft.unexplained)
    return "\n".join([*parts, *([text("content-kept-missing", language, count=missing)] if missing else [])])


class DiscardButton(StateButton, template=rf"content-discard:({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        language = await client.language(interaction)
        if not await may(interaction, language):
            return
        if await drafts_of(interaction).discard(self.parts[0], guild_id=interaction.guild_id):
            message = text("content-discarded", language)
            await interaction.response.edit_message(content=message, embed=None, attachments=[], view=None)
        else:
            await say(interaction, text("content-gone", language))


class UndoButton(StateButton, template=rf"content-undo:({KEY}{{1,60}})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        language = await client.language(interaction)
        if not await may(interaction, language):
            return
        async with telling(interaction, language):
            draft = await drafts_of(interaction).restore(self.parts[0], guild_id=interaction.guild_id)
            title = plain(draft.quiz.title[language], 100)
            await interaction.response.edit_message(content=text("content-restored", language, title=title), view=None)


def removed(draft: Draft, language: str) -> tuple[str, discord.ui.View]:
    view = discord.ui.View(timeout=None)
    view.add_item(UndoButton((draft.id,), "content-undo", text("content-button-undo", language)))
    return text("content-removed", language, title=plain(draft.quiz.title[language], 100)), view


def listed(drafts: Sequence[Draft], language: str) -> discord.Embed:
    lines = [
        text(
            "content-listed",
            language,
            title=plain(draft.quiz.title[language], 80),
            version=draft.quiz.version,
            questions=len(draft.quiz.questions),
            missing=len(draft.unexplained),
            date=f"<t:{int(draft.kept_at.timestamp())}:d>",
        )
        for draft in drafts
    ]
    description = "\n".join(lines) or text("content-none", language)
    return discord.Embed(title=text("content-list-title", language), description=render.cut(description, 4_000), colour=render.BRAND)


# Handing out --------------------------------------------------------------------------------------------------------


def exported(file: Written, questions: int, language: str) -> tuple[str, list[discord.File]]:
    """What the file does not hold, and the file; the whole list as a text file where it is long."""
    left_out = {loss.question for loss in file.losses if loss.severity is Severity.ERROR}
    parts = [text("content-exported", language, written=questions - len(left_out), questions=questions)]
    files = [discord.File(io.BytesIO(file.data), file.filename)]
    if file.losses:
        parts += [text("content-losses", language), *problem_lines(file.losses, LOSSES_SHOWN, language)]
    while len("\n".join(parts)) > 1_900:
        del parts[-2 if parts[-1].startswith("-#") else -1]
    if len(file.losses) > LOSSES_SHOWN:
        lines = [f"{loss.severity} {loss.code} {loss.question}: {loss.text}" for loss in file.losses]
        files.append(text_file("\n".join(lines), f"{file.filename}-losses.txt"))
    return "\n".join(parts), files


# Explaining ---------------------------------------------------------------------------------------------------------


class UseButton(StateButton, template=rf"content-use:({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        language = await client.language(interaction)
        if await may(interaction, language):
            await use(interaction, self.parts[0], None, language)


class ChangeButton(StateButton, template=rf"content-change:({ROUND})"):
    """Opens the proposal for editing; sending it is a yes."""

    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        language = await client.language(interaction)
        if not await may(interaction, language):
            return
        async with telling(interaction, language):
            proposal = await drafts_of(interaction).proposal(self.parts[0], guild_id=interaction.guild_id)
            if not proposal.explanation:
                raise NotFound("proposal", proposal.id)
            field = discord.ui.TextInput[Any](
                custom_id="explanation",
                style=discord.TextStyle.paragraph,
                default=proposal.explanation,
                min_length=2,
                max_length=EXPLANATION,
            )
            title = render.cut(text("judged-why", language), 45)
            modal = discord.ui.Modal(title=title, custom_id=custom_id("content-changed", proposal.id))
            modal.add_item(discord.ui.Label(text=title, component=field))
            await interaction.response.send_modal(modal)


async def changed(interaction: Interaction[Any]) -> None:
    """A proposal that an instructor put into their own words."""
    language = await client_of(interaction).language(interaction)
    if await may(interaction, language):
        written = solo.submitted_fields(interaction).get("explanation", "")
        await use(interaction, custom_id_of(interaction).partition(":")[2], str(written), language)


class SkipButton(StateButton, template=rf"content-skip:({ROUND})"):
    async def pressed(self, client: StudyhallClient, interaction: Interaction[Any]) -> None:
        language = await client.language(interaction)
        if not await may(interaction, language):
            return
        async with telling(interaction, language):
            proposal = await drafts_of(interaction).proposal(self.parts[0], guild_id=interaction.guild_id)
            await interaction.response.defer()
            await go_on(interaction, proposal, language)


async def use(interaction: Interaction[Any], proposal_id: str, written: str | None, language: str) -> None:
    await interaction.response.defer()  # the whole draft is written anew
    async with telling(interaction, language):
        proposal = await drafts_of(interaction).accept(proposal_id, guild_id=interaction.guild_id, text=written)
        await go_on(interaction, proposal, language)


async def go_on(interaction: Interaction[Any], done: Proposal, language: str) -> None:
    """Say that the next one is being written, with a button to go on should the bot stop now; then show it."""
    view = discord.ui.View(timeout=None)
    view.add_item(SkipButton((done.id,), "content-skip", text("content-button-go-on", language)))
    await interaction.edit_original_response(content=text("content-writing", language), embed=None, view=view)
    try:
        await propose(interaction, done.draft_id, done.guide_id, done.question_id, language)
    except Throttled:
        await interaction.edit_original_response(content=text("content-busy", language), view=view)


async def propose(interaction: Interaction[Any], draft_id: str, guide_id: str, after: str | None, language: str) -> None:
    """Show the next proposal in the answer to this interaction, which has been deferred."""
    drafts = drafts_of(interaction)
    proposed = await drafts.propose(
        draft_id, guide_id, after=after, guild_id=interaction.guild_id, by=interaction.user.id, now=interaction.created_at
    )
    if proposed is None:
        left = len(drafts.draft(draft_id, interaction.guild_id).unexplained)
        await interaction.edit_original_response(content=text("content-explained", language, count=left), embed=None, view=None)
        return
    client = client_of(interaction)
    await interaction.edit_original_response(
        content=None, embed=proposed_embed(client, proposed, language), view=proposed_buttons(proposed, language)
    )


def proposed_embed(client: StudyhallClient, proposed: Proposed, language: str) -> discord.Embed:
    question, proposal, reply = proposed.question, proposed.proposal, proposed.reply
    embed = discord.Embed(
        title=render.cut(text("content-proposal", language, title=proposed.draft.quiz.title[language]), render.EMBED_TITLE),
        description=render.cut(question.stem[language], 1_500),
        colour=render.BRAND if proposal.explanation else _COLOUR,
    )
    right = "\n".join(keys(question, language)) or "—"
    embed.add_field(name=text("judged-right", language), value=render.cut(right, render.FIELD_VALUE), inline=False)
    if proposal.explanation:
        embed.add_field(name=text("judged-why", language), value=proposal.explanation, inline=False)
        embed.add_field(name=text("ask-sources", language), value=answers.sources(client, reply) or "—", inline=False)
    else:
        embed.add_field(name=text("judged-why", language), value=nothing_found(reply, language), inline=False)
    embed.set_footer(text=text("content-left", language, count=proposed.left, engine=reply.engine))
    return embed


def nothing_found(reply: TutorReply, language: str) -> str:
    reason = f" {text(f'ask-refusal-{reply.reason.value}', language)}" if reply.reason and reply.reason.value in _REFUSALS else ""
    return f"{text('content-no-proposal', language)}{reason}"


_REFUSALS: Final = ("not_covered", "off_topic", "locked")


def proposed_buttons(proposed: Proposed, language: str) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    key = (proposed.proposal.id,)
    if proposed.proposal.explanation:
        view.add_item(UseButton(key, "content-use", text("content-button-use", language), style=ButtonStyle.primary))
        view.add_item(ChangeButton(key, "content-change", text("content-button-change", language)))
    view.add_item(SkipButton(key, "content-skip", text("content-button-skip", language)))
    return view


BUTTONS = (KeepButton, DiscardButton, UndoButton, UseButton, ChangeButton, SkipButton)
