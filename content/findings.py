"""Where the linter's faults go, and how each gets the line of what it is about.

Lines inside a question are looked up only when there is something to say: the text of that one question is parsed again.
No file is read: `Loaded` keeps the text it was read from.
"""

from __future__ import annotations

import re
from typing import Final

from content.load import Loaded, Origin
from content.model import Course, Fault, Guide, Question, Quiz, Section
from content.rules import fault
from content.yaml_source import NEWLINE, ListNode, MapNode, Node, ScalarNode, Source, parse

Steps = tuple[str, ...]
"""Where a text stands in its question: ("choices", "b", "feedback"); numbers are positions from 0."""

MAX_LOOKUPS: Final = 3_000
"""Lines looked up inside questions, at about 0.1 ms each; past that, a fault names the line where its question begins."""
_MAX_BLOCK: Final = 200_000  # characters of one question
_DASH = re.compile(r"([ ]*)-[ \t]")
_LINE = re.compile(r"^([ ]*)[^\s#]", re.MULTILINE)  # a line that holds something other than a comment


class Findings:
    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.faults: list[Fault] = []
        self._translated: tuple[Origin | None, Source, dict[str, Node]] = (None, Source("", ""), {})
        self._starts: tuple[Origin | None, list[int]] = (None, [])  # offsets of the lines of the file asked for last
        self._lookups = 0

    def add(self, path: str, line: int, code: str, what: str, remedy: str) -> None:
        self.faults.append(fault(path, max(line, 1), code, what, remedy))

    def quiz(self, quiz: Quiz, code: str, what: str, remedy: str, key: str = "id") -> None:
        origin = self.loaded.origins.get(("quiz", quiz.id, ""))
        line = _line_of_key(origin.text, key) if origin is not None else 1
        self.add(self.loaded.path("quiz", quiz.id), line, code, what, remedy)

    def course(self, course: Course, code: str, what: str, remedy: str, key: str = "id", needle: str = "") -> None:
        origin = self.loaded.origins.get(("course", course.id, ""))
        line = _line_of_key(origin.text, key) if origin is not None else 1
        if origin is not None and needle:
            line = _line_of_text(origin.text, needle, line)
        self.add(self.loaded.path("course", course.id), line, code, what, remedy)

    def question(
        self, quiz: Quiz, question: Question, code: str, what: str, remedy: str, steps: Steps = (), language: str = "", needle: str = ""
    ) -> None:
        path, line = self.loaded.path("quiz", quiz.id), question.line
        if steps and self._lookups < MAX_LOOKUPS:
            self._lookups += 1
            path, line = self._place(quiz, question, steps, language, needle)
        self.add(path, line, code, f"question {question.id!r}: {what}", remedy)

    def guide(
        self, guide: Guide, code: str, what: str, remedy: str, *, section: Section | None = None, key: str = "", needle: str = ""
    ) -> None:
        origin = self._guide_origin(guide)
        line = section.line if section is not None else 1
        if origin is not None:
            if key:
                line = _line_of_key(origin.text, key)
            if needle:
                line = _line_of_text(origin.text, needle, line)
        self.add(origin.path if origin is not None else guide.id, line, code, what, remedy)

    def _guide_origin(self, guide: Guide) -> Origin | None:
        language = guide.language if guide.translation_of is not None else ""
        return self.loaded.origins.get(("guide", guide.id, language))

    def _place(self, quiz: Quiz, question: Question, steps: Steps, language: str, needle: str) -> tuple[str, int]:
        translated = self.loaded.origins.get(("quiz", quiz.id, language)) if language else None
        if translated is not None:
            source, questions = self._questions(translated)
            node = _follow(questions.get(question.id), steps)
            if node is not None:
                return translated.path, _line_in(source, node, translated.text, needle)
        origin = self.loaded.origins.get(("quiz", quiz.id, ""))
        if origin is None:
            return self.loaded.path("quiz", quiz.id), question.line
        block = self._block(origin, question.line)
        if block is None:
            return origin.path, question.line
        source = Source(origin.path, block)
        root = parse(source)
        node = _follow(root.items[0], steps) if isinstance(root, ListNode) and root.items else None
        if isinstance(node, MapNode) and language in node.entries:
            node = node.entries[language]
        return origin.path, question.line if node is None else question.line - 1 + _line_in(source, node, block, needle)

    def _block(self, origin: Origin, line: int) -> str | None:
        """The lines of a block-style list item that begins at `line`, or None for another style."""
        if self._starts[0] is not origin:
            self._starts = (origin, [0, *(found.end() for found in NEWLINE.finditer(origin.text))])
        text, starts = origin.text, self._starts[1]
        if not 0 < line <= len(starts):
            return None
        start = starts[line - 1]
        following = starts[line] if line < len(starts) else len(text)
        dash = _DASH.match(text, start)
        if dash is None:
            return None
        indent = len(dash.group(1))
        end = next((found.start() for found in _LINE.finditer(text, following) if len(found.group(1)) <= indent), len(text))
        return text[start : min(end, start + _MAX_BLOCK)]

    def _questions(self, origin: Origin) -> tuple[Source, dict[str, Node]]:
        """A translation file's questions by id; the last file asked for is kept."""
        if self._translated[0] is not origin:
            source = Source(origin.path, origin.text)
            root = parse(source, items_key="questions")
            listed = root.entries.get("questions") if isinstance(root, MapNode) else None
            named: dict[str, Node] = {}
            for item in listed.items if isinstance(listed, ListNode) else ():
                name = item.entries.get("id") if isinstance(item, MapNode) else None
                if isinstance(name, ScalarNode):
                    named[name.value] = item
            self._translated = (origin, source, named)
        return self._translated[1], self._translated[2]


def _line_in(source: Source, node: Node, text: str, needle: str) -> int:
    """The line of a value, or that of `needle` when the value runs over several lines and holds it as it is."""
    if needle and isinstance(node, ScalarNode):
        at = text.find(needle, node.at, node.at + 2 * len(node.value) + 200)
        if at >= 0:
            return source.line(at)
    return source.line(node.at)


def _follow(node: Node | None, steps: Steps) -> Node | None:
    for step in steps:
        if isinstance(node, MapNode):
            node = node.entries.get(step)
        elif isinstance(node, ListNode):
            node = next((item for item in node.items if _id_of(item) == step), None) or _at(node, step)
        else:
            return None
    return node


def _id_of(node: Node) -> str | None:
    name = node.entries.get("id") if isinstance(node, MapNode) else None
    return name.value if isinstance(name, ScalarNode) else None


def _at(node: ListNode, step: str) -> Node | None:
    return node.items[int(step)] if step.isdecimal() and int(step) < len(node.items) else None


def _line_of_key(text: str, key: str) -> int:
    found = re.search(rf"^[ \t]*{re.escape(key)}[ \t]*:", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _line_of_text(text: str, needle: str, from_line: int) -> int:
    start = 0
    for _ in range(from_line - 1):
        start = text.find("\n", start) + 1
    at = text.find(needle, start)
    return text.count("\n", 0, at) + 1 if at >= 0 else from_line
