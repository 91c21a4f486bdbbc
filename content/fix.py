"""`check --fix`: the repairs that need no judgement, made in place. Everything else in the file keeps its bytes.

Repaired: unquoted values that YAML does not take for text, missing ids and anchors, text that is not in normal form C,
characters that nobody can see. ruamel.yaml finds the scalars and the comments; the edit is made in the text itself,
because a file that is loaded and dumped again comes back with other line breaks, quotes and indentation. An edit that would
change a comment is not made. Repairing twice changes nothing more.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from content.fields import ID, NULLS, Fields, is_trap, slug
from content.guide_markdown import FAQ, heading_slug, outline, read_guide
from content.lint_text import hidden_positions
from content.load import MAX_BYTES, content_files, language_of
from content.quiz_yaml import read_course, read_quiz
from content.yaml_source import ListNode, MapNode, Node, ScalarNode, Source, parse

Edit = tuple[int, int, str]  # replace text[start:end]
_LETTERS: Final = tuple("abcdefghijklmnopqrstuvwxyz")
_NEWLINES = re.compile(r"(\r\n?|\n)")
_LETTERED: Final = ("choices", "items", "pairs", "distractors")
_FRONT = re.compile(r"---[ \t]*(?:\r\n?|\n)(.*?)^(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)", re.DOTALL | re.MULTILINE)


def fix(path: Path) -> list[str]:
    """Repair a file, or every content file below a folder; returns `file:line: what was done.` for each repair.

    Files that cannot be read or are not YAML stay as they are; `content.check` reports them. Raises OSError when a
    repaired file cannot be written.
    """
    return [line for file in content_files([path]) for line in _fix_file(file)]


def _fix_file(path: Path) -> list[str]:
    try:
        data = path.read_bytes()
        if len(data) > MAX_BYTES:
            return []
        original = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    bom = "\ufeff" if original.startswith("\ufeff") else ""
    text, done = _fixed(original.removeprefix("\ufeff"), path)
    if done:
        _replace(path, (bom + text).encode("utf-8"))
    return done


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file, then take its place: a crash leaves the old file or the new one."""
    real = path.resolve()
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        shutil.copymode(real, name)
        Path(name).replace(real)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _fixed(text: str, path: Path) -> tuple[str, list[str]]:
    done: list[str] = []
    if path.name.endswith(".md"):
        text = _guide(text, path, done)
    else:
        for step in (_characters, _quotes, _ids):
            text = _checked(text, path, step, done)
    return text, done


def _checked(text: str, path: Path, step: Callable[[str, Path], list[tuple[Edit, str]]], done: list[str]) -> str:
    """One kind of repair to YAML text, made only when ruamel.yaml reads the same comments before and after."""
    try:
        edits = step(text, path)
        if not edits:
            return text
        changed = _applied(text, [edit for edit, _ in edits])
        if _comments(text) != _comments(changed):
            return text
    except YAMLError:
        return text
    for (start, _, _), what in edits:
        done.append(f"{path.as_posix()}:{len(_NEWLINES.findall(text[:start])) + 1}: {what}")
    return changed


def _applied(text: str, edits: list[Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _tokens(text: str) -> Iterator[Any]:
    yaml: Any = YAML(typ="rt", pure=True)
    yield from yaml.scan(StringIO(text, newline=""))


def _comments(text: str) -> list[str]:
    found: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, list | tuple):
            for each in value:  # pyright: ignore[reportUnknownVariableType]
                collect(each)
        elif value is not None:
            found.extend(line.strip() for line in str(value.value).split("\n") if line.strip())

    for token in _tokens(text):
        collect(getattr(token, "comment", None))
    return found


# characters


def _clean(text: str) -> str:
    hidden = set(hidden_positions(text))
    kept = "".join(character for at, character in enumerate(text) if at not in hidden) if hidden else text
    return unicodedata.normalize("NFC", kept)


def _characters(text: str, path: Path) -> list[tuple[Edit, str]]:
    found: list[tuple[Edit, str]] = []
    if unicodedata.is_normalized("NFC", text) and not hidden_positions(text):
        return found  # finding the scalars takes ruamel.yaml a second for every few thousand lines
    for token in _tokens(text):
        if type(token).__name__ != "ScalarToken":
            continue
        start, end = token.start_mark.index, token.end_mark.index
        before = text[start:end]
        after = _clean(before)
        if after != before and after.strip():
            found.append(((start, end, after), "Removed hidden characters, or composed letters and accents."))
    return found


# quotes


def _quotes(text: str, path: Path) -> list[tuple[Edit, str]]:
    source = Source(path.as_posix(), text)
    root = parse(source)
    if root is None:
        return []
    if isinstance(root, MapNode) and "translation_of" in root.entries:
        traps = [(node.at, node.value) for node in _texts(root) if node.value not in NULLS and is_trap(node)]
    else:
        read = read_course if path.parent.name == "courses" else read_quiz
        read(Fields(source), root, None)
        traps = source.traps
    return _quoted(text, traps)


def _quoted(text: str, traps: list[tuple[int, str]]) -> list[tuple[Edit, str]]:
    found: list[tuple[Edit, str]] = []
    for at, value in sorted(set(traps)):
        if text[at : at + len(value)] == value:
            found.append(((at, at + len(value), f'"{value}"'), f"Quoted {value}."))
    return found


def _texts(node: Node, key: str = "") -> Iterator[ScalarNode]:
    """The scalars of a translation that are texts or ids: all but what says what it translates."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, ListNode):
        for child in node.items:
            yield from _texts(child)
    else:
        for name, child in node.entries.items():
            if name not in ("schema", "translation_of", "lang"):
                yield from _texts(child, name)


# ids


def _ids(text: str, path: Path) -> list[tuple[Edit, str]]:
    root = parse(Source(path.as_posix(), text))
    if not isinstance(root, MapNode) or "translation_of" in root.entries:
        return []
    found: list[tuple[Edit, str]] = []
    if "id" not in root.entries:
        name = slug(path.name.removesuffix(".yaml").removesuffix(".quiz"))
        _insert(text, root, name, found)
    questions = root.entries.get("questions")
    if isinstance(questions, ListNode):
        _list_ids(text, questions, "stem", found, lettered=False)
        for question in questions.items:
            for key, child in question.entries.items() if isinstance(question, MapNode) else ():
                if isinstance(child, ListNode) and key in (*_LETTERED, "rubric"):
                    _list_ids(text, child, "criterion", found, lettered=key in _LETTERED)
    return found


def _list_ids(text: str, listed: ListNode, key: str, found: list[tuple[Edit, str]], *, lettered: bool) -> None:
    taken = {name.value for item in listed.items if isinstance(item, MapNode) and isinstance(name := item.entries.get("id"), ScalarNode)}
    for at, item in enumerate(listed.items):
        if not isinstance(item, MapNode) or "id" in item.entries:
            continue
        if lettered:
            wanted = _LETTERS[at] if at < len(_LETTERS) else f"c{at + 1}"
        else:
            wanted = slug(_first_text(item.entries.get(key))) or f"q{at + 1}"
        name, count = wanted, 2
        while name in taken:
            name, count = f"{wanted}-{count}", count + 1
        taken.add(name)
        _insert(text, item, name, found)


def _first_text(node: Node | None) -> str:
    if isinstance(node, MapNode):
        node = node.entries.get("en") or next(iter(node.entries.values()), None)
    return node.value if isinstance(node, ScalarNode) else ""


def _insert(text: str, node: MapNode, name: str, found: list[tuple[Edit, str]]) -> None:
    """`id: name` as the first key, in the style of the map."""
    if not ID.fullmatch(name) or not node.entries:
        return
    written = f'"{name}"' if is_trap(ScalarNode(name, 0, 0, "")) else name
    what = f"Added id: {name}."
    if text.startswith("{", node.at):
        found.append(((node.at + 1, node.at + 1, f"id: {written}, "), what))
        return
    line_start = max(text.rfind("\n", 0, node.at), text.rfind("\r", 0, node.at)) + 1
    newline = _NEWLINES.search(text)
    indent = " " * (node.at - line_start)
    found.append(((node.at, node.at, f"id: {written}{newline.group() if newline else chr(10)}{indent}"), what))


# guides


def _guide(text: str, path: Path, done: list[str]) -> str:
    front = _FRONT.match(text)
    if front is None:
        return text
    start, end = front.span(1)
    head = text[start:end]

    def quotes(part: str, path: Path) -> list[tuple[Edit, str]]:
        return _front_quotes(text[:start] + part + text[end:], start, len(part), path)

    for step in (_characters, quotes):
        before = len(done)
        head = _checked(head, path, step, done)
        done[before:] = [_moved(line, path, len(_NEWLINES.findall(text[:start]))) for line in done[before:]]
    body = text[end:]
    first_line = len(_NEWLINES.findall(text[:end])) + 1
    return text[:start] + head + _body(body, first_line, path, done, anchors=language_of(path, ".md") is None)


def _moved(line: str, path: Path, by: int) -> str:
    """A message about the front matter, with the line it has in the whole file."""
    prefix = f"{path.as_posix()}:"
    number, _, rest = line.removeprefix(prefix).partition(":")
    return f"{prefix}{int(number) + by}:{rest}"


def _front_quotes(text: str, start: int, length: int, path: Path) -> list[tuple[Edit, str]]:
    if "\r" in text:  # the guide reader counts in normalised line ends
        return []
    source = Source(path.as_posix(), text)
    read_guide(source, None, language_of(path, ".md"))
    return _quoted(text[start : start + length], source.traps)


def _body(body: str, first_line: int, path: Path, done: list[str], *, anchors: bool) -> str:
    pieces = _NEWLINES.split(body)
    lines, ends = pieces[::2], [*pieces[1::2], ""]
    found = outline("\n".join(lines))
    code = {line for first, last in found.code for line in range(first, last)}
    for index, line in enumerate(lines):
        cleaned = line if index in code else _clean(line)
        if cleaned != line:
            lines[index] = cleaned
            done.append(f"{path.as_posix()}:{first_line + index}: Removed hidden characters, or composed letters and accents.")
    taken = {heading.anchor for heading in found.headings}
    in_faq = False
    for heading in found.headings:
        if heading.level == 2:
            in_faq = FAQ in (heading.anchor, heading_slug(heading.text) if heading.anchor is None else None)
        line = lines[heading.first]
        wanted = heading_slug(heading.text)
        if heading.anchor is not None or heading.level == 1 or (heading.level == 3 and not in_faq) or not anchors:
            continue
        if ID.fullmatch(wanted) and wanted not in taken and line.lstrip().startswith("#") and not line.rstrip().endswith("#"):
            taken.add(wanted)
            lines[heading.first] = f"{line.rstrip()} {{#{wanted}}}"
            done.append(f"{path.as_posix()}:{first_line + heading.first}: Added the anchor {{#{wanted}}}.")
    return "".join(line + end for line, end in zip(lines, ends, strict=True))
