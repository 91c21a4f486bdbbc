"""A quiz translation (`<id>.<lang>.quiz.yaml`): ids and texts of one language, grafted onto the tree of the original.

Keys, credits and accepted answers are not part of it and are refused, so a translation can never change what is right.
Texts without an id (hints, probes, levels, feedback of accepted answers) stand at their original's position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from content.fields import Fields
from content.model import TranslationOf
from content.quiz_yaml import accepts_schema, read_translation_of
from content.yaml_source import ListNode, MapNode, Node, ScalarNode


@dataclass(frozen=True, slots=True)
class _ById:
    """A list whose entries are found by `id`."""

    texts: tuple[str, ...]
    lists: tuple[str, ...] = ()
    nested: tuple[tuple[str, _ById], ...] = ()


_CHOICES: Final = _ById(("text", "feedback"))
_QUESTION: Final = _ById(
    ("title", "stem", "explanation", "reveal", "reference"),
    ("hints", "probes"),
    (
        ("choices", _CHOICES),
        ("items", _ById(("text",))),
        ("pairs", _ById(("left", "right"))),
        ("distractors", _ById(("right",))),
        ("rubric", _ById(("criterion",))),
        ("media", _ById(("alt",))),
    ),
)
_FILE: Final = frozenset({"schema", "translation_of", "lang", "title", "description", "questions"})


@dataclass(frozen=True, slots=True)
class QuizTranslation:
    """A translation file that was read: what it translates, into what, and where that is said."""

    of: TranslationOf
    language: str
    path: str
    line: int
    root: MapNode | None = None


def read_translation(fields: Fields, root: Node | None, language: str) -> QuizTranslation | None:
    if root is None:
        return None
    entry = fields.mapping(root, "The file")
    if entry is None or ("schema" in entry.entries and not accepts_schema(fields, entry, "quiz")):
        return None
    fields.only(entry, _FILE, "a translation")
    node = fields.required(entry, "translation_of", "A translation")
    of = read_translation_of(fields, node)
    said = fields.language(entry.entries.get("lang"), "lang")
    if said is not None and said != language:
        fields.add("FILE-NAME", entry.entries["lang"], f"lang is {said!r}, the file name says {language!r}.", "Let them agree.")
    if of is None or node is None:
        return None
    return QuizTranslation(of, language, fields.source.path, fields.source.line(node.key_at), entry)


def graft(original: MapNode, translation: QuizTranslation, fields: Fields) -> None:
    """Add the translation's texts to the original's tree; what has no place there is reported in the translation."""
    root = translation.root
    if root is None:
        return
    languages = original.entries.get("languages")
    default = _first_language(original)
    if isinstance(languages, ListNode) and all(
        not isinstance(item, ScalarNode) or item.value != translation.language for item in languages.items
    ):
        languages.items.append(ScalarNode(translation.language, languages.at, languages.at, '"'))
    elif languages is None:
        listed = ListNode(original.at, original.at)
        listed.items = [ScalarNode(each, original.at, original.at, '"') for each in (default, translation.language)]
        original.entries["languages"] = listed
    grafting = _Graft(fields, translation.language, default)
    for key in ("title", "description"):
        grafting.text(original, root, key)
    grafting.by_id(original, root, "questions", _QUESTION)


def _first_language(original: MapNode) -> str:
    languages, title = original.entries.get("languages"), original.entries.get("title")
    if isinstance(languages, ListNode) and languages.items and isinstance(languages.items[0], ScalarNode):
        return languages.items[0].value
    if isinstance(title, MapNode) and title.entries:
        return next(iter(title.entries))
    return "en"


class _Graft:
    def __init__(self, fields: Fields, language: str, default: str) -> None:
        self.fields = fields
        self.language = language
        self.default = default

    def extra(self, node: Node, what: str) -> None:
        self.fields.add("TRANS-EXTRA", node.key_at, f"{what} is not in the original.", "Remove it, or add it to the original first.")

    def words(self, node: Node, what: str) -> str | None:
        """The text itself, or a map that holds just this language."""
        if isinstance(node, MapNode):
            for language, child in node.entries.items():
                if language != self.language:
                    remedy = f"Keep only {self.language}, or write the text itself."
                    self.fields.add("TRANS-EXTRA", child.key_at, f"{what} has the language {language[:20]!r}.", remedy)
            found = node.entries.get(self.language)
            return self.fields.words(found, what) if found is not None else None
        return self.fields.words(node, what)

    def merged(self, before: Node, words: str) -> Node:
        new = ScalarNode(words, before.at, before.key_at, '"')
        if isinstance(before, MapNode):
            before.entries[self.language] = new
            return before
        both = MapNode(before.at, before.key_at)
        both.entries = {self.default: before, self.language: new}
        return both

    def text(self, original: MapNode, translation: MapNode, key: str) -> None:
        node = translation.entries.get(key)
        if node is None:
            return
        before = original.entries.get(key)
        words = self.words(node, key)
        if before is None:
            self.extra(node, key)
        elif words is not None and not isinstance(before, ListNode):
            original.entries[key] = self.merged(before, words)

    def listed(self, original: MapNode, translation: MapNode, key: str) -> None:
        node = translation.entries.get(key)
        if node is None:
            return
        before = original.entries.get(key)
        items = before.items if isinstance(before, ListNode) else []
        for index, child in enumerate(self.fields.items(node, key)):
            words = self.words(child, key)
            if index >= len(items):
                self.extra(child, f"entry {index + 1} of {key}")
            elif words is not None and not isinstance(items[index], ListNode):
                items[index] = self.merged(items[index], words)

    def by_id(self, original: MapNode, translation: MapNode, key: str, spec: _ById) -> None:
        node = translation.entries.get(key)
        if node is None:
            return
        before = original.entries.get(key)
        known: dict[str, MapNode] = {}
        for item in before.items if isinstance(before, ListNode) else ():
            name = item.entries.get("id") if isinstance(item, MapNode) else None
            if isinstance(item, MapNode) and isinstance(name, ScalarNode):
                known.setdefault(name.value, item)
        allowed = {"id", *spec.texts, *spec.lists, *(name for name, _ in spec.nested)}
        if key == "questions":
            allowed |= {"feedback", "blanks", "accept"}
        if key == "rubric":
            allowed |= {"levels"}
        for child in self.fields.items(node, key):
            entry = self.fields.mapping(child, f"an entry of {key}")
            name = self.fields.identifier(self.fields.required(entry, "id", f"an entry of {key}"), "id") if entry is not None else None
            if entry is None or name is None:
                continue
            if key == "questions":
                self.fields.item = f"question {name!r}: "
            self.fields.only(entry, allowed, f"the translation of {key}")
            target = known.get(name)
            if target is None:
                self.extra(entry.entries["id"], f"the id {name!r} in {key}")
                continue
            self.entry(target, entry, key, spec)
        if key == "questions":
            self.fields.item = ""

    def entry(self, target: MapNode, entry: MapNode, key: str, spec: _ById) -> None:
        for name in spec.texts:
            self.text(target, entry, name)
        for name in spec.lists:
            self.listed(target, entry, name)
        for name, below in spec.nested:
            self.by_id(target, entry, name, below)
        if key == "questions":
            self.feedback(target, entry)
            self.blanks(target, entry)
            self.placed(target, entry, "accept", "feedback")
        elif key == "rubric":
            self.placed(target, entry, "levels", "text")

    def feedback(self, target: MapNode, entry: MapNode) -> None:
        node = entry.entries.get("feedback")
        both = self.fields.mapping(node, "feedback") if node is not None else None
        before = target.entries.get("feedback")
        if both is None:
            return
        self.fields.only(both, {"true", "false"}, "feedback")
        if not isinstance(before, MapNode):
            self.extra(both, "feedback")
            return
        for key in ("true", "false"):
            self.text(before, both, key)

    def blanks(self, target: MapNode, entry: MapNode) -> None:
        node = entry.entries.get("blanks")
        gaps = self.fields.mapping(node, "blanks") if node is not None else None
        before = target.entries.get("blanks")
        for name, child in gaps.entries.items() if gaps is not None else ():
            gap = self.fields.mapping(child, f"gap {name[:40]!r}")
            original = before.entries.get(name) if isinstance(before, MapNode) else None
            if gap is None:
                continue
            self.fields.only(gap, {"choices", "accept"}, "the translation of a gap")
            if isinstance(original, MapNode):
                self.by_id(original, gap, "choices", _CHOICES)
                self.placed(original, gap, "accept", "feedback")
            else:
                self.extra(child, f"gap {name[:40]!r}")

    def placed(self, target: MapNode, entry: MapNode, key: str, text: str) -> None:
        """A list whose entries have no ids and are found by position; `{}` leaves one as it is."""
        before = target.entries.get(key)
        items = before.items if isinstance(before, ListNode) else []
        for index, child in enumerate(self.fields.items(entry.entries.get(key), key)):
            translated = self.fields.mapping(child, f"an entry of {key}")
            if translated is None:
                continue
            self.fields.only(translated, {text}, f"the translation of {key}")
            original = items[index] if index < len(items) else None
            if isinstance(original, MapNode):
                self.text(original, translated, text)
            else:
                self.extra(child, f"entry {index + 1} of {key}")
