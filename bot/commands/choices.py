"""Options that several commands share: which quiz, which guide, which language."""

from __future__ import annotations

from typing import Any, Final

from discord import Interaction
from discord.app_commands import Choice

from bot.texts import language_of, text
from bot.views.buttons import client_of
from content.model import LANGUAGES

SUGGESTIONS: Final = 25  # Discord shows no more

_OWN_NAMES: Final = {"en": "English", "ko": "한국어", "el": "Ελληνικά", "ru": "Русский", "zh": "中文"}


def languages() -> list[Choice[str]]:
    """Each language in its own words."""
    return [Choice(name=_OWN_NAMES[code], value=code) for code in LANGUAGES]


async def suggest_quiz(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    language = language_of(interaction.locale)
    found = client_of(interaction).tutor.quizzes(typed, language)
    return [Choice(name=_named(quiz.title[language], quiz.level, language), value=quiz.id) for quiz in found[:SUGGESTIONS]]


async def suggest_own_too(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    """Quizzes of the library, and those that this guild brought itself, which are marked."""
    language = language_of(interaction.locale)
    tutor = client_of(interaction).tutor
    found = tutor.quizzes(typed, language, guild_id=interaction.guild_id)[:SUGGESTIONS]
    return [
        Choice(name=_named(quiz.title[language], quiz.level, language), value=quiz.id)
        if quiz.id in tutor.library.quizzes
        else Choice(name=draft_name(quiz.title[language], language), value=quiz.id)
        for quiz in found
    ]


def draft_name(title: str, language: str) -> str:
    """At most 100 characters, with the mark of a draft."""
    mark = f" · {text('content-draft-mark', language)}"
    return title[: 100 - len(mark)] + mark


async def suggest_guide(interaction: Interaction[Any], typed: str) -> list[Choice[str]]:
    found = client_of(interaction).tutor.guides(typed, language_of(interaction.locale))
    return [Choice(name=guide.title[:100], value=guide.id) for guide in found[:SUGGESTIONS]]


def _named(title: str, level: str, language: str) -> str:
    known = level in ("beginner", "intermediate", "advanced")
    return f"{title} ({text(f'level-{level}', language) if known else level})"[:100]
