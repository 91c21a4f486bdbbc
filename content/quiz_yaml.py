"""Quiz and course files of the native format: a tree in, `Quiz` or `Course` out, every fault reported.

A faulty question is left out and the quiz goes on without it. Refused as a whole: an unknown `schema`, no id or title,
no question left.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from content.bodies_yaml import own_id
from content.fields import Fields, as_number, similar
from content.model import Course, CourseStep, Group, Level, Question, Quiz, Select, Source, TranslationOf
from content.question_yaml import read_defaults, read_question
from content.yaml_source import ListNode, MapNode, Node, ScalarNode

QUIZ: Final = frozenset("schema id version title description level languages guide tags defaults select source questions".split())
COURSE: Final = frozenset("schema id version title description steps pass_mark certificate".split())
_SOURCE: Final = ("format", "file", "sha256", "title", "author", "url", "licence", "imported")
_SCHEMA = re.compile(r"([a-z]+)/([0-9]{1,3})")
_LEVELS: Final = tuple(Level)


def accepts_schema(fields: Fields, entry: MapNode, kind: str) -> bool:
    """Whether the file says that it is `kind`/1; a wrong or missing `schema` is reported."""
    node = entry.entries.get("schema")
    if node is None:
        fields.add("SCHEMA-VERSION", entry, "The file has no 'schema'.", f"Begin with schema: {kind}/1.")
        return False
    value = fields.scalar(node, "schema")
    found = _SCHEMA.fullmatch(value or "")
    if value is None:
        return False
    if found is None or found.group(1) != kind:
        fields.add("SCHEMA-VERSION", node, f"schema is {value[:40]!r}.", f"Write schema: {kind}/1.")
        return False
    if found.group(2) != "1":
        fields.add(
            "SCHEMA-VERSION", node, f"schema is {value!r}; only {kind}/1 is known here.", "Update this program, or convert the file."
        )
        return False
    return True


def read_quiz(fields: Fields, root: Node | None, path: Path | None) -> Quiz | None:
    """The quiz with every question that can be used, or None after its faults were reported.

    The tree is used up: each question's part is dropped once it has been read, which halves the memory of large banks.
    """
    if root is None:
        return None
    entry = fields.mapping(root, "The file")
    if entry is None or not accepts_schema(fields, entry, "quiz"):
        return None
    get = entry.entries.get
    fields.only(entry, QUIZ, "a quiz")
    name = fields.identifier(fields.required(entry, "id", "The quiz"), "id")
    fields.set_languages(_languages(fields, entry))
    title = fields.text(fields.required(entry, "title", "The quiz"), "title")
    version = fields.integer(fields.required(entry, "version", "The quiz"), "version", 1, 1_000_000, 1)
    description = fields.text(get("description"), "description")
    level = _level(fields, get("level"))
    guide = fields.guide(get("guide"), "guide", whole=True)
    tags = fields.names(get("tags"), "tags")
    defaults = read_defaults(fields, get("defaults"))
    select = _select(fields, get("select"))
    source = read_source(fields, get("source"))
    listed = fields.required(entry, "questions", "The quiz")
    cut = isinstance(listed, ScalarNode) and not listed.value and bool(fields.errors)  # every question was no YAML, and that was said
    nodes = fields.items(listed, "questions") if listed is not None and not cut else []
    questions: list[Question] = []
    seen: dict[str, int] = {}
    for index in range(len(nodes)):
        question = read_question(fields, nodes[index], defaults, seen, index + 1)
        nodes[index] = _READ
        if question is not None:
            questions.append(question)
    fields.item = ""
    if listed is not None and not questions:
        fields.add("QUIZ-EMPTY", listed.key_at, "The quiz has no question that can be used.", "Add or repair one.")
    if name is None or title is None or not questions:
        return None
    _selectable(fields, get("select"), select, questions)
    return Quiz(name, version, title, fields.languages, tuple(questions), description, level, guide, tags, select, source, path)


_READ: Final = ScalarNode("", 0, 0, "")


def _languages(fields: Fields, entry: MapNode) -> tuple[str, ...]:
    """`languages`, or what the title is written in."""
    node = entry.entries.get("languages")
    if node is None:
        title = entry.entries.get("title")
        return tuple(title.entries) if isinstance(title, MapNode) else ("en",)
    found: list[str] = []
    for child in fields.items(node, "languages"):
        if isinstance(child, ScalarNode) and child.plain and child.value.lower() == "no":
            fields.source.traps.append((child.at, child.value))
            fields.add("YAML-NO", child, f"The language {child.value} is false to YAML.", 'Write nb, or "no" in quotes.')
        language = fields.language(child, "a language")
        if language is not None and language not in found:
            found.append(language)
    if not found:
        fields.add("SCHEMA-VALUE", node, "languages is empty.", "Write languages: [en].")
    return tuple(found) or ("en",)


def _level(fields: Fields, node: Node | None) -> str:
    if node is None:
        return Level.INTERMEDIATE
    value = fields.words(node, "level")
    if value is not None and value not in _LEVELS:
        remedy = f"{similar(value, _LEVELS)}Otherwise a level of your own is fine."
        fields.add("LEVEL-OTHER", node, f"The level {value[:40]!r} is not beginner, intermediate or advanced.", remedy)
    return value or Level.INTERMEDIATE


def read_level(fields: Fields, node: Node | None) -> str:
    return _level(fields, node)


def _select(fields: Fields, node: Node | None) -> Select:
    entry = fields.mapping(node, "select") if node is not None else None
    if entry is None:
        return Select()
    get = entry.entries.get
    fields.only(entry, {"pick", "order", "groups"}, "select")
    pick = fields.integer(get("pick"), "pick", 1, 1_000_000, 0) or None
    order = fields.one_of(get("order"), "order", ("random", "fixed"), "fixed")
    groups: list[Group] = []
    seen: dict[str, int] = {}
    for child in fields.items(get("groups"), "groups"):
        group = fields.mapping(child, "a group")
        if group is None:
            continue
        fields.only(group, {"id", "pick", "points"}, "a group")
        name = own_id(fields, group, "a group", seen)
        count = fields.integer(fields.required(group, "pick", "a group"), "pick", 1, 1_000_000, 1)
        points = fields.number(group.entries["points"], "points", 0, 1_000, 1) if "points" in group.entries else None
        if name is not None:
            groups.append(Group(name, count, points))
    return Select(pick, order == "random", tuple(groups))


def _selectable(fields: Fields, node: Node | None, select: Select, questions: list[Question]) -> None:
    if node is None:
        return
    asked = [question for question in questions if question.type != "info"]
    if select.pick is not None and select.pick > len(asked):
        fields.add("QUIZ-SELECT", node, f"select picks {select.pick} of {len(asked)} questions.", f"Pick at most {len(asked)}.")
    sizes: dict[str, int] = {}
    for question in asked:
        if question.group is not None:
            sizes[question.group] = sizes.get(question.group, 0) + 1
    for group in select.groups:
        size = sizes.get(group.id, 0)
        if group.pick > size:
            hint = similar(group.id, sizes) if size == 0 else ""
            fields.add(
                "QUIZ-SELECT", node, f"select picks {group.pick} of the {size} questions of group {group.id!r}.", f"{hint}Pick fewer."
            )


def read_source(fields: Fields, node: Node | None) -> Source | None:
    entry = fields.mapping(node, "source") if node is not None else None
    if entry is None:
        return None
    fields.only(entry, set(_SOURCE), "source")
    texts = {
        key: fields.words(entry.entries[key], f"source {key}") if key in entry.entries else None for key in _SOURCE if key != "imported"
    }
    return Source(**texts, imported=fields.day(entry.entries.get("imported"), "imported"))


def read_translation_of(fields: Fields, node: Node | None) -> TranslationOf | None:
    entry = fields.mapping(node, "translation_of") if node is not None else None
    if entry is None:
        return None
    fields.only(entry, {"id", "version"}, "translation_of")
    name = fields.identifier(fields.required(entry, "id", "translation_of"), "translation_of id")
    version = fields.integer(fields.required(entry, "version", "translation_of"), "translation_of version", 1, 1_000_000, 1)
    return TranslationOf(name, version) if name is not None else None


def read_course(fields: Fields, root: Node | None, path: Path | None) -> Course | None:
    if root is None:
        return None
    entry = fields.mapping(root, "The file")
    if entry is None or not accepts_schema(fields, entry, "course"):
        return None
    before = fields.errors
    get = entry.entries.get
    fields.only(entry, COURSE, "a course")
    name = fields.identifier(fields.required(entry, "id", "The course"), "id")
    title = fields.text(fields.required(entry, "title", "The course"), "title")
    version = fields.integer(fields.required(entry, "version", "The course"), "version", 1, 1_000_000, 1)
    steps: list[CourseStep] = []
    listed = fields.required(entry, "steps", "The course")
    for child in fields.items(listed, "steps"):
        step = _step(fields, child)
        if step is not None:
            steps.append(step)
    if isinstance(listed, ListNode) and not listed.items:
        fields.add("SCHEMA-VALUE", listed, "The course has no steps.", "Write steps: [{guide: id}, {quiz: id}].")
    pass_mark = share(fields, fields.required(entry, "pass_mark", "The course"), "pass_mark")
    certificate = fields.text(get("certificate"), "certificate")
    description = fields.text(get("description"), "description")
    if fields.errors != before or fields.source.broken or name is None or title is None or pass_mark is None:
        return None
    return Course(name, version, title, tuple(steps), pass_mark, certificate, description, path)


def _step(fields: Fields, node: Node) -> CourseStep | None:
    entry = fields.mapping(node, "a step")
    if entry is None:
        return None
    fields.only(entry, {"guide", "quiz"}, "a step")
    if len(entry.entries) != 1:
        fields.add("SCHEMA-VALUE", entry, "a step names neither or both of guide and quiz.", "Write {guide: id} or {quiz: id}.")
        return None
    kind, child = next(iter(entry.entries.items()))
    name = fields.identifier(child, f"the {kind} of a step")
    return CourseStep(kind, name) if name is not None else None


def share(fields: Fields, node: Node | None, what: str) -> float | None:
    """A share of one: 0.7, or 70%."""
    value = fields.scalar(node, what) if node is not None else None
    if node is None or value is None:
        return None
    percent = value.endswith("%")
    number = as_number(value[:-1].rstrip() if percent else value)
    number = number / 100 if number is not None and percent else number
    if number is None or not 0 <= number <= 1:
        fields.add("SCHEMA-VALUE", node, f"{what} is {value[:20]!r}.", "Use a share from 0 to 1, such as 0.7, or 70%.")
        return None
    return number
