"""The interface's texts: every language has every text, with the same arguments, within Discord's limits for commands."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from fluent.syntax import FluentParser, ast

from bot import texts
from content.model import LANGUAGES

LOCALES = Path(texts.__file__).parent / "locales"
COMMAND_NAME = re.compile(r"[-_\w]{1,32}")  # [Discord: interactions/application-commands]


def messages(language: str) -> dict[str, set[str]]:
    """Key (with attribute) -> the arguments it uses."""
    found: dict[str, set[str]] = {}
    for file in sorted((LOCALES / language).glob("*.ftl")):
        for entry in FluentParser(with_spans=False).parse(file.read_text("utf-8")).body:
            assert not isinstance(entry, ast.Junk), f"{file}: {entry.content}"
            if isinstance(entry, ast.Message):
                parts = [("", entry.value), *((f".{attribute.id.name}", attribute.value) for attribute in entry.attributes)]
                for suffix, pattern in parts:
                    if pattern is not None:
                        assert entry.id.name + suffix not in found, f"{file}: {entry.id.name} stands twice"
                        found[entry.id.name + suffix] = variables(pattern)
    return found


def variables(node: ast.BaseNode) -> set[str]:
    found: set[str] = set()
    for value in vars(node).values():
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.VariableReference):
                found.add(child.id.name)
            elif isinstance(child, ast.BaseNode):
                found |= variables(child)
    return found


ENGLISH = messages("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text_with_the_same_arguments(language: str) -> None:
    assert messages(language) == ENGLISH


@pytest.mark.parametrize("language", LANGUAGES)
def test_command_texts_fit_discord(language: str) -> None:
    for key in ENGLISH:
        if not key.startswith(("cmd-", "opt-", "choice-")):
            continue
        shown = texts.text(key, language)
        if key.endswith(".description"):
            assert 1 <= len(shown) <= 100, key
        elif not key.startswith("choice-"):
            assert COMMAND_NAME.fullmatch(shown), f"{key}: {shown!r}"
            assert shown == shown.lower() == unicodedata.normalize("NFC", shown), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_fit_a_button(language: str) -> None:
    for key, arguments in ENGLISH.items():
        if key.startswith("button-"):
            assert len(texts.text(key, language, **dict.fromkeys(arguments, "x" * 20))) <= 80, key


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_a_text_names_a_command_as_its_reader_sees_it(language: str) -> None:
    english = {texts.text(key, "en") for key in ENGLISH if key.startswith("cmd-") and not key.endswith(".description")}
    own = tuple(texts.text(key, language) for key in ENGLISH if key.startswith("cmd-") and not key.endswith(".description"))
    for key, arguments in ENGLISH.items():
        shown = texts.text(key, language, **dict.fromkeys(arguments, "x"))
        for bracket, command in re.findall(r"(\(|（)?(?<![\w/])/(\w+)", shown):
            # a Korean particle is written to the name; the English name may stand in brackets
            assert command.startswith(own) or (bracket and command in english), f"{key}: /{command}"


def test_languages_are_found_for_discord_locales() -> None:
    assert [texts.language_of(locale) for locale in ("ko", "el", "ru", "zh-CN", "zh-TW", "en-GB", "fr")] == [
        "ko",
        "el",
        "ru",
        "zh",
        "zh",
        "en",
        "en",
    ]
    with pytest.raises(KeyError):
        texts.text("no-such-text", "en")
