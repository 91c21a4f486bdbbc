"""What in an imported question the linter would refuse, and what can be mended without a judgement on its content.

Mended: characters nobody can see, mentions, links that hide where they lead, pictures that did not come along, two options
that say the same where one of them is enough. It changes no key and guesses none; what cannot be mended stays as it is, and
the linter's word on it stands. Pure: values in, values out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final

from content.lint_items import normal
from content.lint_text import findings, hidden_positions
from content.model import Accept, Blank, Choice, Choices, Match, Media, Open, Order, Question, Short, Text, TrueFalse

TITLE: Final = 256  # characters of an embed title [Discord: resources/message, Embed Limits]

_CODE: Final = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.DOTALL)
_MENTION: Final = re.compile(r"@\u200b?(?:everyone|here)\b|<@[!&]?\d+>|<#\d+>|<id:\w+>|</[^<>\n:]{1,120}:\d+>", re.IGNORECASE)
_MASKED: Final = re.compile(r"\[([^\[\]\n]{0,300})\]\([ \t]*<?([^()\s<>]{1,2000})>?[ \t]*\)")
_AUTOLINK: Final = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]{1,2000})>")
_PICTURE: Final = re.compile(r"!\[\]\(([\w-]{1,64})\)")


def mended_text(text: str) -> str:
    """The text without hidden characters, with mentions as code and with links that say where they lead."""
    parts = _CODE.split(text)
    prose = [part if at % 2 else _mended_prose(part) for at, part in enumerate(parts)]
    return _visible("".join(prose))


def _mended_prose(prose: str) -> str:
    prose = _MENTION.sub(lambda found: f"`{found.group().replace(chr(0x200B), '')}`", prose)
    for pattern in (_MASKED, _AUTOLINK):
        prose = pattern.sub(_open_link, prose)
    return prose


def _open_link(found: re.Match[str]) -> str:
    """A link that the linter refuses becomes its label, with its address in code behind it."""
    if not any(each.code == "TEXT-SCHEME" for each in findings(found.group())):
        return found.group()
    *label, target = found.groups()
    return f"{label[0]} (`{target}`)" if label else f"`{target}`"


def _visible(text: str) -> str:
    hidden = set(hidden_positions(text))
    return "".join(mark for at, mark in enumerate(text) if at not in hidden) if hidden else text


def with_texts(question: Question, change: Callable[[str], str]) -> Question:
    """The question with every text that people read changed; a text that would become empty stays as it was."""

    def text(value: Text) -> Text:
        return Text({language: changed if (changed := change(each)).strip() else each for language, each in value.by_language.items()})

    def maybe(value: Text | None) -> Text | None:
        return text(value) if value is not None else None

    def accept(entries: tuple[Accept, ...]) -> tuple[Accept, ...]:
        return tuple(
            replace(entry, text=_visible(entry.text) or entry.text if entry.text else entry.text, feedback=maybe(entry.feedback))
            for entry in entries
        )

    def choices(entries: tuple[Choice, ...]) -> tuple[Choice, ...]:
        return tuple(replace(entry, text=text(entry.text), feedback=maybe(entry.feedback)) for entry in entries)

    body = question.body
    match body:
        case Choices():
            body = replace(body, choices=choices(body.choices))
        case TrueFalse():
            body = replace(body, feedback={key: text(value) for key, value in body.feedback.items()})
        case Short():
            blanks = tuple(replace(blank, accept=accept(blank.accept), choices=choices(blank.choices)) for blank in body.blanks)
            body = replace(body, accept=accept(body.accept), reveal=maybe(body.reveal), blanks=blanks)
        case Open():
            rubric = tuple(
                replace(
                    point,
                    criterion=text(point.criterion),
                    levels=tuple(replace(level, text=text(level.text)) for level in point.levels),
                )
                for point in body.rubric
            )
            body = replace(body, reference=maybe(body.reference), rubric=rubric, probes=tuple(map(text, body.probes)))
        case Order():
            body = replace(body, items=tuple(replace(item, text=text(item.text)) for item in body.items))
        case Match():
            pairs = tuple(replace(pair, left=text(pair.left), right=text(pair.right)) for pair in body.pairs)
            distractors = tuple(replace(item, text=text(item.text)) for item in body.distractors)
            body = replace(body, pairs=pairs, distractors=distractors)
        case _:
            pass
    return replace(
        question,
        stem=text(question.stem),
        title=maybe(question.title),
        explanation=maybe(question.explanation),
        hints=tuple(map(text, question.hints)),
        media=tuple(replace(medium, alt=text(medium.alt)) for medium in question.media),
        body=body,
    )


def with_short_title(question: Question) -> Question:
    """A title over the 256 characters of an embed title is the beginning of the stem: it is cut."""
    if question.title is None or all(len(each) <= TITLE for each in question.title):
        return question
    return replace(question, title=Text({key: each[: TITLE - 2].rstrip() + " …" for key, each in question.title.by_language.items()}))


def without_twins(question: Question) -> Question:
    """Of options that say the same and are worth the same, the first one is enough."""
    body = question.body
    if not isinstance(body, Choices):
        return question
    seen: dict[tuple[tuple[str, str], ...], Choice] = {}
    for choice in body.choices:
        marks = tuple(sorted((language, _mark(each)) for language, each in choice.text.by_language.items()))
        if seen.setdefault(marks, choice).credit != choice.credit:
            return question  # the key is in doubt
    kept = tuple(seen.values())
    return question if len(kept) < 2 else replace(question, body=replace(body, choices=kept))


def _mark(option: str) -> str:
    """What two options share that say the same; `b` and `B`, or `.` and `,`, do not."""
    return option.strip() if len(option) <= 4 else normal(option) or option


def as_gaps(question: Question) -> Question | None:
    """A match question in which several left sides share one right side, asked as gaps to choose for; None for any other.

    Two equal right sides look alike to a learner, but only one of them would be counted.
    """
    body = question.body
    if not isinstance(body, Match):
        return None
    rights: dict[str, Text] = {}
    place: dict[str, str] = {}  # pair -> the choice that stands for its right side
    for key, right in [*((pair.id, pair.right) for pair in body.pairs), *((item.id, item.text) for item in body.distractors)]:
        same = next((known for known, text in rights.items() if _same(text, right)), None)
        if same is None:
            rights[key] = right
        place[key] = same or key
    if len(rights) == len(place) or len(rights) < 2 or any("{{" in each for each in question.stem):
        return None
    stem = {
        language: each + "\n\n" + "\n".join(f"{pair.left[language]} → {{{{{pair.id}}}}}" for pair in body.pairs)
        for language, each in question.stem.by_language.items()
    }
    blanks = tuple(
        Blank(pair.id, choices=tuple(Choice(key, text, 1.0 if place[pair.id] == key else 0.0) for key, text in rights.items()))
        for pair in body.pairs
    )
    return replace(question, stem=Text(stem), body=Short(blanks=blanks))


def _same(one: Text, other: Text) -> bool:
    return any(_mark(one[language]) == _mark(each) for language, each in other.by_language.items())


def without_pictures(question: Question, gone: Collection[Media]) -> Question:
    """The question with these pictures named in its text instead of shown: `[picture: alt]`, or a link where there is one."""
    by_id = {medium.id: medium for medium in gone}

    def named(found: re.Match[str]) -> str:
        medium = by_id.get(found.group(1))
        if medium is None:
            return found.group()
        alt = next(iter(medium.alt)).replace("[", "(").replace("]", ")").replace("\n", " ")
        if not medium.url or not medium.url.startswith("https://"):
            return f"[picture: {alt}]"
        return _MASKED.sub(_open_link, f"[{alt}]({medium.url})")  # "[640.png](https://…)" would look like another address

    if not by_id:
        return question
    kept = tuple(medium for medium in question.media if medium not in gone)
    return replace(with_texts(question, lambda text: _PICTURE.sub(named, text)), media=kept)
