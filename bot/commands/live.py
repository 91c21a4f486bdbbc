"""`/live`: open a round, control it, repair it, read its results, give somebody more time."""

from __future__ import annotations

import io
from typing import Any, Final

import discord
from discord import Interaction, app_commands
from discord.app_commands import Choice, Range

from bot import live_private, live_render
from bot.client import Feature, StudyhallClient
from bot.commands.choices import SUGGESTIONS, languages, suggest_own_too
from bot.conductor import Conductor
from bot.live_desk import LiveDesk
from bot.live_stage import RoundMessages
from bot.render import cut, number
from bot.texts import label, language_of, text
from bot.views import live as views
from bot.views import live_console
from bot.views.buttons import client_of
from bot.views.live import desk_of
from content.model import Choices, TrueFalse
from tutor import exports
from tutor.errors import NotFound, RoundRunning, StaleAnswer
from tutor.grading import FALSE, TRUE
from tutor.live import LONGEST_S, NO_LIMIT, LiveRound, Rules, Scheme
from tutor.live_repair import Fix, Repair
from tutor.live_service import Control, LiveRounds

TEAMS: Final = 8
LEAST_S: Final = 5  # a phone needs that long to show a question
MOVED_SHOWN: Final = 10
FACTORS: Final = {"normal": 1.0, "quarter": 1.25, "half": 1.5, "double": 2.0, "unlimited": NO_LIMIT}


def feature(live: LiveRounds, *, role: str = "") -> Feature:
    """Live rounds for a client; `role` (name or id) may run them beside those who manage the server."""

    def register(client: StudyhallClient) -> None:
        desk = LiveDesk(live, role)
        client.add_part(desk)
        client.add_part(Conductor(client, desk))
        client.add_commands(group)
        client.add_buttons(*views.BUTTONS, *live_console.BUTTONS)
        for prefix, handler in views.PRESSES.items():
            client.add_presses(prefix, handler)
        client.add_modal("live-typed", views.typed)

    return register


group = app_commands.Group(
    name=label("cmd-live"),
    description=label("cmd-live.description"),
    guild_only=True,
)


async def may(interaction: Interaction[Any]) -> bool:
    """Whether this person may run rounds; if not, they have been told."""
    desk = desk_of(interaction)
    desk.clock.heard(interaction.created_at)
    if desk.may_run(interaction):
        return True
    language = await client_of(interaction).language(interaction)
    await interaction.response.send_message(desk.refusal(language), ephemeral=True)
    return False


# Start --------------------------------------------------------------------------------------------------------------


@group.command(name=label("cmd-live-start"), description=label("cmd-live-start.description"))
@app_commands.rename(
    quiz=label("opt-quiz"),
    questions=label("opt-questions"),
    seconds=label("opt-live-seconds"),
    scoring=label("opt-live-scoring"),
    way=label("opt-live-way"),
    teams=label("opt-live-teams"),
    place=label("opt-live-place"),
    pace=label("opt-live-pace"),
    locked=label("opt-live-locked"),
    anonymous=label("opt-live-anonymous"),
    late=label("opt-live-late"),
    streaks=label("opt-live-streaks"),
    shuffle=label("opt-shuffle"),
    language=label("opt-language"),
)
@app_commands.describe(
    quiz=label("opt-quiz.description"),
    questions=label("opt-questions.description"),
    seconds=label("opt-live-seconds.description"),
    scoring=label("opt-live-scoring.description"),
    way=label("opt-live-way.description"),
    teams=label("opt-live-teams.description"),
    place=label("opt-live-place.description"),
    pace=label("opt-live-pace.description"),
    locked=label("opt-live-locked.description"),
    anonymous=label("opt-live-anonymous.description"),
    late=label("opt-live-late.description"),
    streaks=label("opt-live-streaks.description"),
    shuffle=label("opt-shuffle.description"),
    language=label("opt-language.description"),
)
@app_commands.choices(
    scoring=[Choice(name=label(f"choice-live-{scheme.value}"), value=scheme.value) for scheme in Scheme],
    way=[Choice(name=label(f"choice-live-{way}"), value=way) for way in ("together", "peer", "own")],
    place=[Choice(name=label(f"choice-live-{place}"), value=place) for place in ("here", "thread")],
    pace=[Choice(name=label(f"choice-live-{pace}"), value=pace) for pace in ("instructor", "automatic")],
    language=languages(),
)
@app_commands.autocomplete(quiz=suggest_own_too)
async def start(
    interaction: Interaction[Any],
    quiz: str,
    questions: Range[int, 1, 100] | None = None,
    seconds: Range[int, 0, LONGEST_S] | None = None,
    scoring: str = "accuracy",
    way: str = "together",
    teams: Range[int, 0, TEAMS] = 0,
    place: str = "here",
    pace: str = "instructor",
    locked: bool = False,
    anonymous: bool = False,
    late: bool = True,
    streaks: bool = False,
    shuffle: bool = True,
    language: str | None = None,
) -> None:
    if not await may(interaction):
        return
    client, desk = client_of(interaction), desk_of(interaction)
    reader = await client.language(interaction)
    found = desk.live.quiz(quiz, interaction.guild_id or 0)  # an unknown one is said at once
    rules = Rules(
        seconds=max(LEAST_S, seconds) if seconds else seconds,
        scheme=Scheme(scoring),
        streaks=streaks,
        teams=teams if teams != 1 else 0,
        anonymous=anonymous,
        late_join=late,
        shuffled=shuffle,
        locked=locked,
        peer=way == "peer",
        own_order=way == "own",
        automatic=pace == "automatic",
    )
    channel = interaction.channel
    if interaction.guild_id is None or not isinstance(channel, discord.TextChannel | discord.Thread):
        await interaction.response.send_message(text("live-error-place", reader), ephemeral=True)
        return
    await interaction.response.defer(ephemeral=True, thinking=True)  # a thread and the lobby come first: two requests
    chosen = language or reader
    if place == "thread" and isinstance(channel, discord.TextChannel):
        try:
            name = cut(text("live-lobby-title", chosen, title=found.title[chosen]), 100)
            channel = await channel.create_thread(name=name, type=discord.ChannelType.public_thread)
        except discord.Forbidden:
            await interaction.edit_original_response(content=text("live-error-thread", reader))
            return
    try:
        round_ = await desk.live.open(
            quiz,
            guild_id=interaction.guild_id,
            channel_id=channel.id,
            host_id=interaction.user.id,
            language=chosen,
            rules=rules,
            count=questions,
            now=desk.clock.now(),
            rng=client.rng,
        )
    except RoundRunning:
        await interaction.edit_original_response(content=text("live-error-running", reader))
        return
    await present(client, desk, interaction, round_, reader)


async def present(client: StudyhallClient, desk: LiveDesk, interaction: Interaction[Any], round_: LiveRound, language: str) -> None:
    """Show the lobby to everybody and the console to the instructor; a round that cannot be shown is ended again."""
    messages = RoundMessages(client, desk, round_.id)
    try:
        await messages.sync(counts=True)
    except discord.Forbidden:
        await desk.live.control(round_.id, Control.END, round_.turn, now=desk.clock.now())
        await interaction.edit_original_response(content=text("live-error-send", language))
        return
    client.part(Conductor).watch(round_.id, messages)
    if round_.quiz.guide:
        client.tutor.answering.warm(round_.quiz.guide.guide, round_.language)
    embed, items = await live_console.console(desk, round_.id, language)
    said = text("live-opened", language, channel=str(round_.channel_id))
    await interaction.edit_original_response(content=said, embed=embed, view=items)
    desk.keep_console(round_.id, interaction, language)


# Which round --------------------------------------------------------------------------------------------------------


async def suggest_round(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    """The newest rounds of this server, those of this channel first."""
    if interaction.guild_id is None:
        return []
    found = await desk_of(interaction).live.newest(interaction.guild_id, limit=100)
    found.sort(key=lambda round_: round_.channel_id != interaction.channel_id)  # stable: newest first within each
    named = [(f"{round_.quiz.title[round_.language]} · {round_.created_at:%Y-%m-%d %H:%M} UTC", round_.id) for round_ in found]
    fitting = [(name, round_id) for name, round_id in named if typed.casefold() in name.casefold() or typed == round_id]
    return [Choice(name=cut(name, 100), value=round_id) for name, round_id in fitting[:SUGGESTIONS]]


async def round_of(interaction: Interaction[Any], round_id: str | None) -> LiveRound | None:
    """The named round of this server, or the newest one here. Raises NotFound for a round of another server."""
    live = desk_of(interaction).live
    guild_id = interaction.guild_id or 0
    if round_id is not None:
        round_ = await live.load(round_id)
        if round_.guild_id != guild_id:
            raise NotFound("round", round_id)
        return round_
    found = await live.newest(guild_id, limit=100)
    return next((round_ for round_ in found if round_.channel_id == interaction.channel_id), None)


# Console ------------------------------------------------------------------------------------------------------------


@group.command(name=label("cmd-live-console"), description=label("cmd-live-console.description"))
@app_commands.rename(round_id=label("opt-live-round"))
@app_commands.describe(round_id=label("opt-live-round.description"))
@app_commands.autocomplete(round_id=suggest_round)
async def console(interaction: Interaction[Any], round_id: str | None = None) -> None:
    if not await may(interaction):
        return
    desk, language = desk_of(interaction), await client_of(interaction).language(interaction)
    round_ = await round_of(interaction, round_id)
    if round_ is None or (round_id is None and round_.over):
        await interaction.response.send_message(text("live-console-none", language), ephemeral=True)
        return
    embed, items = await live_console.console(desk, round_.id, language)
    await interaction.response.send_message(embed=embed, view=items, ephemeral=True)
    desk.keep_console(round_.id, interaction, language)


# Repair -------------------------------------------------------------------------------------------------------------


async def suggest_answer(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    """The options of the question named so far; several of them, by commas, where several may be chosen."""
    place = getattr(interaction.namespace, "question", None)
    round_ = await round_of(interaction, getattr(interaction.namespace, "round", None) or None)
    if round_ is None or not isinstance(place, int) or not 1 <= place <= round_.total:
        return []
    options = live_render.options_of(round_, place - 1)
    named = [(cut(f"{chr(65 + i)}. {shown}", 100), option) for i, (option, shown) in enumerate(options)]
    return [Choice(name=name, value=option) for name, option in named if typed.casefold() in name.casefold()][:SUGGESTIONS]


@group.command(name=label("cmd-live-repair"), description=label("cmd-live-repair.description"))
@app_commands.rename(
    place=label("opt-live-number"), fix=label("opt-live-fix"), answer=label("opt-live-answer"), round_id=label("opt-live-round")
)
@app_commands.describe(
    place=label("opt-live-number.description"),
    fix=label("opt-live-fix.description"),
    answer=label("opt-live-answer.description"),
    round_id=label("opt-live-round.description"),
)
@app_commands.choices(fix=[Choice(name=label(f"choice-live-{fix.value}"), value=fix.value) for fix in Fix])
@app_commands.autocomplete(answer=suggest_answer, round_id=suggest_round)
async def repair(
    interaction: Interaction[Any],
    place: Range[int, 1, 100],
    fix: str,
    answer: Range[str, 1, 200] | None = None,
    round_id: str | None = None,
) -> None:
    if not await may(interaction):
        return
    client, desk = client_of(interaction), desk_of(interaction)
    language = await client.language(interaction)
    round_ = await round_of(interaction, round_id)
    if round_ is None:
        await interaction.response.send_message(text("live-results-none", language), ephemeral=True)
        return
    ids, written = named_answer(round_, place - 1, answer)
    wanted = Repair(place - 1, Fix(fix), interaction.user.id, interaction.created_at, ids, written)
    try:
        done = await desk.live.repair(round_.id, wanted)
    except StaleAnswer:
        await interaction.response.send_message(text("live-error-unasked", language), ephemeral=True)
        return
    lines = [
        text(
            "live-repair-done",
            language,
            number=place,
            what=live_render.repair_text(wanted, done.question.question, language),
            moved=text("live-repaired-moved", language, people=len(done.moved)),
        )
    ]
    lines += [
        text(
            "live-repair-line",
            language,
            name=discord.utils.escape_markdown(cut(moved.seat.name, 40)),
            before=number(moved.points_before),
            after=number(moved.points_after),
            place_before=moved.place_before,
            place_after=moved.place_after,
        )
        for moved in done.moved[:MOVED_SHOWN]
    ]
    await interaction.response.send_message(cut("\n".join(lines), 2_000), ephemeral=True)
    if done.round.shown(place - 1):  # before the reveal a note would give the key away
        await RoundMessages(client, desk, round_.id).note(live_render.repair_note(done, round_.language))
    desk.repaired(round_.id)


def named_answer(round_: LiveRound, position: int, answer: str | None) -> tuple[tuple[str, ...], str | None]:
    """Option ids, or the text of a typed answer. Ids come from the suggestions; a letter or the option's text is understood too."""
    if answer is None or not 0 <= position < round_.total:
        return (), None
    body = round_.quiz.questions[position].body
    if not isinstance(body, Choices | TrueFalse):
        return (), answer
    known: dict[str, str] = {TRUE: TRUE, FALSE: FALSE} if isinstance(body, TrueFalse) else {}
    for i, (option, shown) in reversed(list(enumerate(live_render.options_of(round_, position)))):
        known |= {shown.casefold(): option, chr(ord("a") + i): option}
    ids = {option for option, _ in live_render.options_of(round_, position)}
    parts = [answer] if answer in ids or answer.casefold() in known else [part.strip() for part in answer.split(",")]
    return tuple(part if part in ids else known.get(part.casefold(), part) for part in parts), None


# Results, time ------------------------------------------------------------------------------------------------------


@group.command(name=label("cmd-live-results"), description=label("cmd-live-results.description"))
@app_commands.rename(round_id=label("opt-live-round"))
@app_commands.describe(round_id=label("opt-live-round.description"))
@app_commands.autocomplete(round_id=suggest_round)
async def results(interaction: Interaction[Any], round_id: str | None = None) -> None:
    if not await may(interaction):
        return
    desk, language = desk_of(interaction), await client_of(interaction).language(interaction)
    round_ = await round_of(interaction, round_id)
    if round_ is None:
        await interaction.response.send_message(text("live-results-none", language), ephemeral=True)
        return
    await interaction.response.defer(ephemeral=True, thinking=True)
    report = await desk.live.report(round_.id)
    name = f"{round_.quiz.id}-{round_.created_at:%Y-%m-%d}-{round_.id}"
    files = [discord.File(io.BytesIO(exports.written(report, kind)), f"{name}.{kind}") for kind in exports.FORMATS]
    await interaction.edit_original_response(embed=live_private.results_embed(report, language), attachments=files)


@group.command(name=label("cmd-live-time"), description=label("cmd-live-time.description"))
@app_commands.rename(person=label("opt-live-person"), factor=label("opt-live-factor"))
@app_commands.describe(person=label("opt-live-person.description"), factor=label("opt-live-factor.description"))
@app_commands.choices(factor=[Choice(name=label(f"choice-live-time-{name}"), value=name) for name in FACTORS])
async def time(interaction: Interaction[Any], person: discord.Member, factor: str) -> None:
    if not await may(interaction):
        return
    language = language_of(interaction.locale)
    await desk_of(interaction).live.allow(interaction.guild_id or 0, person.id, FACTORS[factor])
    name = discord.utils.escape_markdown(person.display_name)
    given = text(f"choice-live-time-{factor}", language)
    await interaction.response.send_message(text("live-time-done", language, name=name, time=given), ephemeral=True)
