"""The table of facts that content rests on: YAML entries {id, fact, source, holds_for}, or rows of a Markdown table.

It reads ids and what they say; whether a fact is true is for people to check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from content.fields import FACT, Fields
from content.model import Fault
from content.rules import fault, in_order
from content.yaml_source import ListNode, MapNode, Source, parse

FILE: Final = "facts.yaml"
_MAX_BYTES: Final = 8 << 20
_ROW = re.compile(r"^\|[ \t]*([A-Z]{1,3}-[0-9]{1,5}[a-z]?)[ \t]*\|([^|\n]*)(?:\|([^|\n]*))?(?:\|([^|\n]*))?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fact:
    id: str
    fact: str
    source: str = ""
    holds_for: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    by_id: Mapping[str, Fact] = field(default_factory=lambda: dict[str, Fact]())
    faults: tuple[Fault, ...] = ()


def find_facts(folder: Path) -> Path | None:
    """`facts.yaml` in a content folder, or in the one above (when a single sub-folder is checked)."""
    return next((path for path in (folder / FILE, folder.parent / FILE) if path.is_file()), None)


def load_facts(path: Path) -> Facts:
    """Read a table of facts; a file that cannot be read is a fault. Names that end in .md are read as Markdown."""
    shown = path.as_posix()
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        return Facts(faults=(fault(shown, 1, "FACT-TABLE", f"The facts cannot be read: {error}.", "Check the path; save it as UTF-8."),))
    if len(text) > _MAX_BYTES:
        return Facts(faults=(fault(shown, 1, "FACT-TABLE", "The table is larger than 8 MiB.", "Split it."),))
    source = Source(shown, text)
    found = _markdown(source) if path.suffix == ".md" else _yaml(source)
    by_id: dict[str, Fact] = {}
    for fact in found:
        if fact.id in by_id:
            what = f"The fact {fact.id} is already on line {by_id[fact.id].line}."
            source.add_line("FACT-TABLE", fact.line, what, "Give this one another id.")
        else:
            by_id[fact.id] = fact
    return Facts(by_id, in_order(source.faults))


def _markdown(source: Source) -> list[Fact]:
    rows: list[Fact] = []
    for row in _ROW.finditer(source.text):
        said, origin, holds_for = (str(cell or "").strip() for cell in row.groups()[1:])
        rows.append(Fact(row.group(1), said, origin, holds_for, source.line(row.start())))
    if not rows:
        source.add_line(
            "FACT-TABLE", 1, "The file has no table rows that begin with a fact id.", "Write | T-001 | fact | source | holds for |."
        )
    return rows


def _yaml(source: Source) -> list[Fact]:
    root = parse(source)
    fields = Fields(source)
    if isinstance(root, MapNode) and isinstance(root.entries.get("facts"), ListNode):
        root = root.entries["facts"]
    found: list[Fact] = []
    for node in fields.items(root, "The file") if root is not None else ():
        entry = fields.mapping(node, "a fact")
        if entry is None:
            continue
        fields.only(entry, {"id", "fact", "source", "holds_for"}, "a fact")
        name_node = fields.required(entry, "id", "a fact")
        name = fields.scalar(name_node, "id") if name_node is not None else None
        if name_node is None or name is None:
            continue
        if not FACT.fullmatch(name):
            fields.add("FACT-FORM", name_node, f"The fact id {name[:20]!r} is malformed.", "Write ids such as T-001.")
            continue
        text = fields.required(entry, "fact", "a fact")
        said = fields.words(text, "fact") if text is not None else None
        rest = {key: fields.words(entry.entries[key], key) or "" for key in ("source", "holds_for") if key in entry.entries}
        if said is not None:
            found.append(Fact(name, said, rest.get("source", ""), rest.get("holds_for", ""), source.line(entry.at)))
    return found
