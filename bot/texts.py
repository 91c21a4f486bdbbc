"""Every text that people read, by key and language, from the Fluent files in `bot/locales/LANGUAGE`.

Also the Translator that gives Discord the localised names of commands: a `locale_str` carries its key in `extras`.
A text that a language does not have comes from English; a key that no file has is a fault of ours and raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from discord import Locale
from discord.app_commands import TranslationContextTypes, Translator, locale_str
from fluent.runtime import FluentBundle, FluentResource

from content.model import LANGUAGES

DEFAULT: Final = LANGUAGES[0]
_DISCORD: Final[Mapping[Locale, str]] = {
    Locale.american_english: "en",
    Locale.british_english: "en",
    Locale.korean: "ko",
    Locale.greek: "el",
    Locale.russian: "ru",
    Locale.chinese: "zh",
    Locale.taiwan_chinese: "zh",  # simplified, but nearer than English
}


def language_of(locale: Locale | str) -> str:
    """The language of our texts for a Discord locale (or BCP 47 tag); English where we have none. zh-TW readers get zh."""
    base = str(locale).partition("-")[0]
    return base if base in LANGUAGES else DEFAULT


@cache
def _bundle(language: str) -> FluentBundle:
    # isolation marks would end up in command names and file names; our arguments are short and of one direction
    bundle = FluentBundle([language], use_isolating=False)
    folder = resources.files("bot").joinpath("locales", language)
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        bundle.add_resource(FluentResource(file.read_text("utf-8")))
    return bundle


@lru_cache(maxsize=8_192)  # the same labels stand on every message; formatting them anew was a tenth of a press
def text(key: str, language: str, /, **arguments: str | int | float) -> str:
    """The text for this key; `key.attribute` names an attribute such as `.description`. Raises KeyError for an unknown key."""
    name, _, attribute = key.partition(".")
    for candidate in dict.fromkeys((language_of(language), DEFAULT)):
        bundle = _bundle(candidate)
        if not bundle.has_message(name):
            continue
        message = bundle.get_message(name)
        pattern = message.attributes.get(attribute) if attribute else message.value
        if pattern is None:
            continue
        formatted, faults = bundle.format_pattern(pattern, dict(arguments))
        if faults:
            raise faults[0]
        return str(formatted)
    raise KeyError(f"no text {key!r} in bot/locales/{DEFAULT}")


def label(key: str) -> locale_str:
    """A command name, description or choice for discord.py: English, with the key that the translator looks up."""
    return locale_str(text(key, DEFAULT), key=key)


class CommandTranslator(Translator):
    """Gives Discord our command texts in every locale we have; None lets Discord show the English one."""

    async def translate(self, string: locale_str, locale: Locale, context: TranslationContextTypes) -> str | None:
        language = _DISCORD.get(locale)
        key = string.extras.get("key")
        if key is None or language is None or language == DEFAULT:
            return None
        translated = text(key, language)
        return None if translated == string.message else translated
