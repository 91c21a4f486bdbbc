"""XML from strangers as a small read-only tree, with physical line numbers; the only place that touches lxml.

It refuses entity declarations, expands none, loads no DTD, opens no file and no network address, and bounds the size
and the depth of what it parses. Names are local names: namespaces are dropped, since question banks use them freely.
What is not well-formed can be taken apart with `pieces`, so that one broken question costs only itself.

Errors: `BadXml`, a `ContentError` that knows its line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from html.entities import html5
from itertools import pairwise
from typing import Any, Final, cast

# lxml ships no types; Node below is the typed face of it
from lxml import etree as _lxml  # pyright: ignore[reportMissingTypeStubs, reportAttributeAccessIssue, reportUnknownVariableType]

from content.model import ContentError
from content.readers.base import Report
from content.readers.intake import MAX_TEXT_BYTES, decode

_etree = cast(Any, _lxml)

MAX_MARKS: Final = 1_500_000
"""Of `<` in one document: with about 160 bytes a node this keeps a tree below 130 MB."""

MAX_LEVELS: Final = 100
"""Of elements inside each other; real items have about 30, and readers that go down by recursion stay far from its limit."""

_TOO_DEEP: Final = _etree.XPath("boolean(" + "/*" * (MAX_LEVELS + 1) + ")")
_DECLARATION: Final = re.compile(r"\A\s*<\?xml\b[^>]{0,500}\?>")
_DECLARED: Final = re.compile(rb"""\A\s{0,100}<\?xml\b[^>]{0,300}?\bencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
# single- and multi-byte encodings that exports declare; UTF-8, UTF-16 and unknown names follow the rule of all readers
_ENCODINGS: Final = frozenset(
    {
        *("latin1", "koi8-r", "gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"),
        *(f"iso-8859-{part}" for part in (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15)),
        *(f"windows-{page}" for page in range(1250, 1259)),
    }
)
_XML_OWN: Final = frozenset({"lt", "gt", "amp", "quot", "apos"})
_NAMED_ENTITY: Final = re.compile(r"<!\[CDATA\[|&([A-Za-z][A-Za-z0-9]{1,31});")


class BadXml(ContentError):
    """The document is not XML that is read here. `line` is physical, from 1; 0 means the whole document."""

    def __init__(self, line: int, code: str, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.code = code


class Node:
    """One element. Empty attributes and absent ones read the same: as the default."""

    __slots__ = ("_element", "_offset")

    def __init__(self, element: Any, offset: int = 0) -> None:
        self._element = element
        self._offset = offset  # lines before the piece that this element was parsed from

    @property
    def name(self) -> str:
        return _local(self._element.tag)

    @property
    def line(self) -> int:
        return self._offset + int(self._element.sourceline or 0)

    def get(self, *names: str, default: str = "") -> str:
        """The first of these attributes that is there and not blank, stripped."""
        attributes: Any = self._element.attrib
        for name in names:
            value = attributes.get(name)
            if value is not None and value.strip():
                return str(value).strip()
        if len(attributes):
            for key, value in attributes.items():  # xml:lang and other qualified names
                if _local(key) in names and value.strip():
                    return str(value).strip()
        return default

    def children(self, *names: str) -> Iterator[Node]:
        """The child elements, all of them or those with one of these names, in document order."""
        for element in self._element.iterchildren(*_any_namespace(names)):
            yield Node(element, self._offset)

    def child(self, *names: str) -> Node | None:
        return next(self.children(*names), None)

    def at(self, *path: str) -> Node | None:
        """The element at the end of a path of child names, or None."""
        node: Node | None = self
        for name in path:
            node = node.child(name) if node is not None else None
        return node

    def all(self, *names: str) -> Iterator[Node]:
        """The descendants with one of these names (all of them without one), in document order, without this element."""
        for element in self._element.iterdescendants(*_any_namespace(names)):
            yield Node(element, self._offset)

    def first(self, *names: str) -> Node | None:
        return next(self.all(*names), None)

    def text(self, *path: str) -> str:
        """All character data below the element at `path`, unstripped; "" when there is no such element."""
        node = self.at(*path) if path else self
        if node is None:
            return ""
        element: Any = node._element
        return "".join(element.itertext()) if len(element) else element.text or ""

    def html(self, replaced: Callable[[Node], str | None] | None = None) -> str:
        """What is inside this element as HTML. `replaced` gives the HTML to put for a descendant, None to keep it."""
        parts: list[str] = []
        _write_inside(self, parts, replaced or (lambda _: None))
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class Piece:
    """One repeated element of a document that is not well-formed as a whole: either it parsed by itself, or why not."""

    line: int
    node: Node | None
    fault: str = ""
    fault_line: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """A document as text without declaration and DOCTYPE, its lines as in the file; `notes` are (line, code, what was done)."""

    text: str
    notes: tuple[tuple[int, str, str], ...] = ()


def source(data: bytes, report: Report) -> Source:
    """Decode a document and take its declaration and an external DOCTYPE off. A declared encoding is believed when it
    fits; otherwise the rule for all text files decides.

    Raises `BadXml` for a DOCTYPE with declarations of its own (entities) and for more than MAX_TEXT_BYTES or MAX_MARKS.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise BadXml(0, "XML-SIZE", f"the XML is {len(data):,} bytes, above {MAX_TEXT_BYTES:,}; split the export")
    if data.count(b"<") > MAX_MARKS:
        raise BadXml(0, "XML-SIZE", f"the XML holds more than {MAX_MARKS:,} tags; split the export")
    text = _decoded(data, report).replace("\r\n", "\n").replace("\r", "\n")
    found = _DECLARATION.match(text)
    if found:
        text = _blanked(text, found.start(), found.end())
    return _without_doctype(text.lstrip("\ufeff"))


def parse(text: str) -> Node:
    """The root of a well-formed document; raises `BadXml` with the line of the first fault."""
    try:
        root: Any = _etree.fromstring(text.encode(), _parser())
    except (_etree.XMLSyntaxError, ValueError) as fault:
        raise BadXml(int(getattr(fault, "lineno", 0) or 0), "XML-SYNTAX", _reason(fault)) from fault
    if _TOO_DEEP(root):
        raise BadXml(0, "XML-DEPTH", f"elements are nested deeper than {MAX_LEVELS} levels")
    return Node(root)


def parse_leniently(found: Source) -> tuple[Node, tuple[tuple[int, str, str], ...]]:
    """Like `parse`, but named HTML entities (`&nbsp;`), which XML does not know, are taken as what they mean in HTML."""
    try:
        return parse(found.text), found.notes
    except BadXml as fault:
        repaired, line = _with_html_entities(found.text)
        if not line:
            raise
        try:
            return parse(repaired), (*found.notes, (line, "XML-ENTITY", "HTML entities such as &nbsp; are not XML; taken as in HTML"))
        except BadXml:
            raise fault from None


def pieces(text: str, name: str) -> list[Piece]:
    """Every `<name …>…</name>` of a document that does not parse, each parsed by itself."""
    starts: list[int] = []
    skip_to = 0
    unclosed: set[str] = set()  # marks that nothing closes any more: what follows is still looked at, but not searched again
    for found in re.finditer(rf"<!\[CDATA\[|<!--|<{re.escape(name)}(?=[\s>/])", text):
        mark = found.group()
        if found.start() < skip_to or mark in unclosed:
            continue
        if mark.startswith("<!"):
            close = text.find("]]>" if mark == "<![CDATA[" else "-->", found.end())
            skip_to = max(close, 0)
            if close < 0:
                unclosed.add(mark)
        else:
            starts.append(found.start())
    newlines = [at for at, letter in enumerate(text) if letter == "\n"]
    result: list[Piece] = []
    closing = f"</{name}>"
    for start, following in pairwise((*starts, len(text))):
        before = bisect_right(newlines, start - 1)
        line = before + 1
        end = text.rfind(closing, start, following)
        if end < 0:
            result.append(Piece(line, None, f"<{name}> is not closed", line))
            continue
        try:
            inside = parse(_with_html_entities(text[start : end + len(closing)])[0])
            result.append(Piece(line, Node(inside._element, before)))  # pyright: ignore[reportPrivateUsage]  # same module
        except BadXml as fault:
            result.append(Piece(line, None, str(fault), before + max(fault.line, 1)))
    return result


def _parser() -> Any:
    # no DTD, no entities, no network, libxml2's own limits (depth 256, text 10 MB) in force
    return _etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)


def _reason(fault: Exception) -> str:
    """libxml2's words without the position, which is reported as a line."""
    return re.sub(r",? ?line \d+, column \d+.*\Z", "", str(fault), flags=re.DOTALL).strip() or "not well-formed"


@lru_cache(maxsize=512)
def _any_namespace(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(["{*}" + name for name in names])


def _local(tag: object) -> str:
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _decoded(data: bytes, report: Report) -> str:
    declared = _DECLARED.match(data)
    encoding = declared.group(1).decode("ascii").lower() if declared else "utf-8"
    if encoding in _ENCODINGS:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            pass  # the declaration is wrong: the rule for all text files decides, and says so
    return decode(data, report)


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + "\n" * text.count("\n", start, end) + text[end:]


def _without_doctype(text: str) -> Source:
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if text.startswith("<!--", at):
            close = text.find("-->", at)
        elif text.startswith("<?", at):
            close = text.find("?>", at)
        else:
            break
        if close < 0:
            return Source(text)
        at = close + 2
        at += text[at : at + 1] == ">"
    if text[at : at + 9].upper() != "<!DOCTYPE":
        return Source(text)
    line = text.count("\n", 0, at) + 1
    close = text.find(">", at)
    if close < 0 or "[" in text[at:close]:
        raise BadXml(line, "XML-DTD", "a DOCTYPE with declarations of its own (entities) is refused; export the file without it")
    return Source(_blanked(text, at, close + 1), ((line, "XML-DTD", "the DOCTYPE was left out; no DTD is ever loaded"),))


def _with_html_entities(text: str) -> tuple[str, int]:
    """The text with named HTML entities outside CDATA as characters, and the line of the first one (0: there was none)."""
    if "&" not in text:
        return text, 0
    parts: list[str] = []
    at = line = skip_to = 0
    for found in _NAMED_ENTITY.finditer(text):
        if found.start() < skip_to:
            continue
        if found.group(1) is None:
            close = text.find("]]>", found.end())
            skip_to = close if close >= 0 else len(text)
            continue
        character = html5.get(found.group(1) + ";")
        if character is None or found.group(1) in _XML_OWN:
            continue
        line = line or text.count("\n", 0, found.start()) + 1
        parts += (text[at : found.start()], escape(character))
        at = found.end()
    return "".join((*parts, text[at:])), line


_VOID: Final = frozenset({"br", "hr", "img", "input", "source", "wbr", "col"})


def _write_inside(node: Node, parts: list[str], replaced: Callable[[Node], str | None]) -> None:
    element: Any = node._element  # pyright: ignore[reportPrivateUsage]  # same module
    if element.text:
        parts.append(escape(element.text, quote=False))
    for inner in node.children():
        other = replaced(inner)
        if other is not None:
            parts.append(other)
        else:
            attributes = "".join(f' {_local(key)}="{escape(value)}"' for key, value in inner._element.attrib.items())  # pyright: ignore[reportPrivateUsage]
            parts.append(f"<{inner.name}{attributes}>")
            if inner.name not in _VOID:
                _write_inside(inner, parts, replaced)
                parts.append(f"</{inner.name}>")
        if inner._element.tail:  # pyright: ignore[reportPrivateUsage]
            parts.append(escape(inner._element.tail, quote=False))  # pyright: ignore[reportPrivateUsage]
