"""One question of the native format, from its tree to `content.model.Question`.

It refuses what cannot be played: no key, fewer than two choices, gaps that do not agree with the stem, a regex outside
RE2's linear-time syntax. A question with an error is None; its faults say why. `content.bodies_yaml` reads what belongs
to one question type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from content.bodies_yaml import BODIES, NO_DEFAULTS, SCORINGS, Defaults, agree_on_gaps, own_id
from content.fields import Fields, similar
from content.model import Media, Question, QuestionType, Scoring, Short
from content.yaml_source import MapNode, Node, ScalarNode

MAX_SECONDS: Final = 3_600

_SHA256 = re.compile(r"[0-9a-f]{64}")
_DIFFICULTY: Final = {"easy": 2, "medium": 3, "hard": 4}

COMMON: Final = frozenset(
    "id type title stem explanation hints guide evidence facts difficulty points time_limit tags group shuffle media extra".split()
)
BY_TYPE: Final[Mapping[str, frozenset[str]]] = {
    "single": frozenset({"choices", "scoring", "any"}),
    "multiple": frozenset({"choices", "scoring", "min", "max"}),
    "truefalse": frozenset({"answer", "feedback"}),
    "short": frozenset({"accept", "reveal", "blanks"}),
    "open": frozenset({"reference", "rubric", "probes", "length"}),
    "order": frozenset({"items", "scoring"}),
    "match": frozenset({"pairs", "distractors", "scoring"}),
    "info": frozenset(),
}
_ALLOWED: Final = {name: COMMON | keys for name, keys in BY_TYPE.items()}
_ELSEWHERE: Final = {
    key: "type " + " or ".join(name for name, keys in BY_TYPE.items() if key in keys)
    for key in sorted(frozenset[str]().union(*BY_TYPE.values()))
}
_MEDIA: Final = frozenset({"id", "file", "url", "sha256", "alt", "licence"})


def read_defaults(fields: Fields, node: Node | None) -> Defaults:
    entry = fields.mapping(node, "defaults") if node is not None else None
    if entry is None:
        return NO_DEFAULTS
    get = entry.entries.get
    fields.only(entry, {"points", "time_limit", "shuffle", "scoring", "difficulty"}, "defaults")
    return Defaults(
        points=fields.number(get("points"), "points", 0, 1_000, 1.0),
        time_limit_s=time_limit(fields, get("time_limit"), None),
        shuffle=fields.truth(get("shuffle"), "shuffle", True),
        scoring=fields.one_of(get("scoring"), "scoring", SCORINGS, Scoring.ALL_OR_NOTHING),
        difficulty=_difficulty(fields, get("difficulty"), 3),
    )


def read_question(fields: Fields, node: Node, defaults: Defaults, seen: dict[str, int], index: int) -> Question | None:
    """The question, or None after its faults were reported. `seen` holds the ids so far and their lines."""
    before = fields.errors
    fields.item = f"question {index}: "
    entry = fields.mapping(node, "the question")
    if entry is None:
        return None
    get = entry.entries.get
    name = fields.identifier(fields.required(entry, "id", "the question"), "id")
    if name is not None:
        fields.item = f"question {name!r}: "
        line = fields.source.line(entry.at)
        if name in seen:
            fields.add("ID-DUPLICATE", entry.entries["id"], f"the id is already that of line {seen[name]}.", "Give this one another id.")
        else:
            seen[name] = line
    else:
        line = 0
    kind = _type(fields, entry)
    if kind is None:
        fields.only(entry, _ELSEWHERE.keys() | COMMON, "a question")
    else:
        fields.only(entry, _ALLOWED[kind], f"a question of type {kind}", _ELSEWHERE)
    stem = fields.text(fields.required(entry, "stem", "the question"), "stem")
    body = BODIES[kind](fields, entry, defaults) if kind is not None else None
    if isinstance(body, Short) and stem is not None:
        agree_on_gaps(fields, entry.entries["stem"], stem, body)
    title = fields.text(get("title"), "title")
    explanation = fields.text(get("explanation"), "explanation")
    hints = fields.texts(get("hints"), "hints")
    guide = fields.guide(get("guide"), "guide", whole=False)
    evidence = fields.evidence(get("evidence"))
    facts = fields.facts(get("facts"))
    difficulty = _difficulty(fields, get("difficulty"), defaults.difficulty)
    points = fields.number(get("points"), "points", 0, 1_000, defaults.points)
    limit = time_limit(fields, get("time_limit"), defaults.time_limit_s)
    tags = fields.names(get("tags"), "tags")
    group = fields.identifier(get("group"), "group")
    shuffle = fields.truth(get("shuffle"), "shuffle", defaults.shuffle)
    media = read_media(fields, get("media"))
    extra = _extra(fields, get("extra"))
    if fields.source.broken and fields.source.broken_between(entry.at, entry.end):
        return None
    if fields.errors != before or name is None or stem is None or body is None:
        return None
    given = (title, explanation, hints, guide, evidence, facts, difficulty, points, limit, tags, group, shuffle, media, extra, line)
    return Question(name, stem, body, *given)


def _type(fields: Fields, entry: MapNode) -> str | None:
    node = fields.required(entry, "type", "the question")
    value = fields.scalar(node, "type") if node is not None else None
    if node is None or value is None:
        return None
    if value not in BY_TYPE:
        remedy = f"{similar(value, BY_TYPE)}Use one of: {', '.join(QuestionType)}."
        fields.add("SCHEMA-VALUE", node, f"the type {value[:40]!r} is not known.", remedy)
        return None
    return value


def time_limit(fields: Fields, node: Node | None, default: int | None) -> int | None:
    if node is None:
        return default
    if isinstance(node, ScalarNode) and node.plain and node.value in ("", "null", "~"):
        return None
    return fields.integer(node, "time_limit (seconds)", 1, MAX_SECONDS, 0) or default


def _difficulty(fields: Fields, node: Node | None, default: int) -> int:
    if isinstance(node, ScalarNode) and node.value in _DIFFICULTY:
        return _DIFFICULTY[node.value]
    return fields.integer(node, "difficulty", 1, 5, default)


def _extra(fields: Fields, node: Node | None) -> Mapping[str, Any]:
    entry = fields.mapping(node, "extra") if node is not None else None
    return {} if entry is None else fields.plain_value(entry)


def read_media(fields: Fields, node: Node | None) -> tuple[Media, ...]:
    if node is None:
        return ()
    found: list[Media] = []
    seen: dict[str, int] = {}
    for child in fields.items(node, "media"):
        entry = fields.mapping(child, "an entry of media")
        if entry is None:
            continue
        get = entry.entries.get
        fields.only(entry, _MEDIA, "media")
        name = own_id(fields, entry, "an entry of media", seen)
        alt = fields.text(fields.required(entry, "alt", "an entry of media"), "alt")
        file = fields.words(entry.entries["file"], "file") if "file" in entry.entries else None
        url = fields.words(entry.entries["url"], "url") if "url" in entry.entries else None
        if ("file" in entry.entries) == ("url" in entry.entries):
            fields.add("SCHEMA-VALUE", entry, "a medium has either a file or a url.", "Keep one of the two.")
        if file is not None and (PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts or "\\" in file or ":" in file):
            fields.add("SCHEMA-VALUE", entry.entries["file"], f"file is {file[:60]!r}.", "Name a file beside the quiz, or below.")
        if url is not None and not url.startswith("https://"):
            fields.add("SCHEMA-VALUE", entry.entries["url"], f"url is {url[:60]!r}.", "Use an https:// address.")
        digest = fields.scalar(entry.entries["sha256"], "sha256") if "sha256" in entry.entries else None
        if digest is not None and not _SHA256.fullmatch(digest):
            fields.add("MEDIA-HASH", entry.entries["sha256"], f"sha256 is {digest[:20]!r}.", "Write the 64 hexadecimal digits.")
        licence = get("licence")
        if licence is None:
            fields.add("MEDIA-LICENCE", entry, "an entry of media names no licence.", "Add licence: …, for example CC-BY-4.0.")
        if name is not None and alt is not None:
            found.append(Media(name, alt, file, url, digest, fields.words(licence, "licence") if licence is not None else None))
    return tuple(found)
