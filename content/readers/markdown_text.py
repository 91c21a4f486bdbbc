"""Markdown files as lines: front matter, code fences, headings, and the HTML that people mix in.

Components of web frameworks, comments and `import` lines are dropped; code stays as written. It knows nothing of quizzes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from content.model import ContentError
from content.readers.base import Report
from content.readers.intake import Mapping, Scalar, Sequence, load_yaml
from content.readers.markup import KNOWN_TAGS, Pictures, html_to_markdown, keep_pictures, normalise_latex

_FENCE: Final = re.compile(r"[ \t]{0,12}(?:>[ \t]?)?(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(\S.*?)[ \t]*#*[ \t]*$")
_ANCHOR: Final = re.compile(r"<a\s+(?:name|id)\s*=[^<>]{0,200}>\s*(?:</a>)?|\{#[\w-]{1,80}\}", re.IGNORECASE)
_LAYOUT_ONLY: Final = re.compile(r"\s*(?:</?(?:div|p|center|span|section|article|br)\b[^<>]{0,300}>\s*)+$", re.IGNORECASE)
_COMPONENT: Final = re.compile(r"\s*</?[A-Z][A-Za-z.]{0,60}(?:\s[^<>]{0,1000})?/?>\s*$")
_MODULE_LINE: Final = re.compile(r"(?:import\s.{1,300}\sfrom\s|import\s+['\"]|export\s+(?:const|default|let)\s)")
_TAG: Final = re.compile(r"</?([A-Za-z][A-Za-z0-9]{0,15})((?:\s[^<>]{0,1000})?)/?>")
_CODE: Final = re.compile(r"(`{3,}[\s\S]*?`{3,}|``[^`](?:[^`\n]|`(?!`)){0,500}``|`[^`\n]{1,500}`)")
_INLINE: Final = {"b": "**", "strong": "**", "i": "*", "em": "*", "u": "__", "s": "~~", "del": "~~", "code": "`", "kbd": "`"}


@dataclass(frozen=True, slots=True)
class Line:
    number: int  # physical, from 1
    text: str
    code: bool = False  # inside a fence, or one of its marks

    @property
    def bare(self) -> str:
        return self.text.strip()

    @property
    def heading(self) -> tuple[int, str] | None:
        """(level, text) of a heading line."""
        found = None if self.code else _HEADING.match(self.text)
        return (len(found.group(1)), found.group(2)) if found is not None else None


@dataclass(slots=True)
class FrontMatter:
    """What stands between `---` lines at the top, as text or lists of text."""

    fields: dict[str, str] = field(default_factory=dict[str, str])
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def text(self, *names: str) -> str:
        return next((self.fields[name] for name in names if self.fields.get(name)), "")

    def words(self, *names: str) -> tuple[str, ...]:
        for name in names:
            if name in self.lists:
                return self.lists[name]
            if self.fields.get(name):
                return tuple(part.strip() for part in self.fields[name].split(",") if part.strip())
        return ()


def markdown_lines(text: str, report: Report) -> tuple[FrontMatter, list[Line]]:
    """The front matter and the lines below it; comments and layout tags are blanked, line numbers stay physical."""
    front = FrontMatter()
    first = 0
    lines = text.split("\n")
    if lines and lines[0].rstrip() == "---":
        end = next((i for i, line in enumerate(lines[1:400], 1) if line.rstrip() in ("---", "...")), 0)
        if end:
            front = _front_matter("\n".join(lines[1:end]), report)
            first = end + 1
    body = "\n" * first + _without_comments("\n".join(lines[first:]))
    return front, list(_cleaned(body.split("\n"), report))


def _without_comments(text: str) -> str:
    """The text with `<!-- -->` and `{/* */}` blanked out; one that does not end is text."""
    for mark, end in (("<!--", "-->"), ("{/*", "*/}")):
        parts: list[str] = []
        at = 0
        while (start := text.find(mark, at)) >= 0 and (stop := text.find(end, start)) >= 0:
            parts += (text[at:start], "\n" * text.count("\n", start, stop))
            at = stop + len(end)
        text = "".join((*parts, text[at:]))
    return text


def _front_matter(text: str, report: Report) -> FrontMatter:
    front = FrontMatter()
    try:
        root = load_yaml(text, report.name, first_line=2)
    except ContentError as error:
        report.warn(1, "MD-FRONT-MATTER", f"the front matter was left out: {error}", "")
        return front
    if not isinstance(root, Mapping):
        return front
    for key, value in root.pairs:
        if isinstance(value, Scalar):
            front.fields[key.text.lower()] = value.text.strip()
        elif isinstance(value, Sequence):
            front.lists[key.text.lower()] = tuple(item.text.strip() for item in value.items if isinstance(item, Scalar))
    return front


def _cleaned(lines: list[str], report: Report) -> Iterator[Line]:
    fence = ""
    dropped: list[int] = []
    for number, text in enumerate(lines, 1):
        mark = _FENCE.match(text)
        if fence:
            if mark is not None and mark.group(1).startswith(fence) and not text.strip(" \t>`~"):
                fence = ""
            yield Line(number, text, code=True)
            continue
        if mark is not None and "`" not in text[mark.end() :]:
            fence = mark.group(1)
            yield Line(number, text, code=True)
            continue
        if "<" in text or "{" in text:
            if _COMPONENT.match(text):
                dropped.append(number)
                text = ""
            elif _LAYOUT_ONLY.match(text):
                text = ""
            else:
                text = _ANCHOR.sub("", text)
        elif _MODULE_LINE.match(text):
            dropped.append(number)
            text = ""
        yield Line(number, text.replace("\u00a0", " ").replace("\u3000", " ").rstrip())
    if dropped:
        shown = ", ".join(map(str, dropped[:20]))
        report.note(dropped[0], "MD-COMPONENT", f"components and imports of a web page were left out: lines {shown}.", "")


def shown(lines: list[Line] | list[str], pictures: Pictures) -> str:
    """Lines as one Discord Markdown text: HTML tags turned into Markdown outside of code, runs of blank lines closed."""
    text = "\n".join(line if isinstance(line, str) else line.text for line in lines)
    parts = _CODE.split(text)
    parts[::2] = [_without_html(part, pictures) for part in parts[::2]]
    text = keep_pictures(normalise_latex("".join(parts)), pictures)
    text = re.sub(r"(?:^|\n)[ \t]*(?:-{3,}|\*{3,}|_{5,})[ \t]*(?=\n|$)", "\n", text) if "\n" in text else text
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n").rstrip().lstrip("\n")


def _without_html(text: str, pictures: Pictures) -> str:
    if "<" in text:
        text = _TAG.sub(lambda found: _tag(found, pictures), text)
    return html.unescape(text) if "&" in text else text


def _tag(found: re.Match[str], pictures: Pictures) -> str:
    name = found.group(1).lower()
    if name not in KNOWN_TAGS and name not in ("details", "summary"):
        return found.group()
    if name == "br":
        return "\n"
    if name == "img":
        return html_to_markdown(found.group(), pictures)
    return _INLINE.get(name, "")
