"""From the bytes of a file to text, JSON, YAML or zip members, with the bounds that hostile files need.

It refuses what cannot be read without guessing (multi-byte encodings other than UTF-8, UTF-16 without a mark), what is
built to exhaust a reader (deep nesting, zip bombs, YAML aliases), and member names that point outside an archive. It
never writes, never follows a name to another file, and drops no byte without saying so.

Errors: `ContentError`.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any, Final, cast

import yaml

from content.model import ContentError
from content.readers.base import Report

MAX_TEXT_BYTES: Final = 32 * 1024 * 1024  # of one text file; the largest public bank seen has 5 MB
MAX_UNPACKED_BYTES: Final = 200 * 1024 * 1024  # of a whole archive
MAX_MEMBERS: Final = 2_000  # of an archive
MAX_RATIO: Final = 100  # unpacked to packed, of a member above MIN_SUSPECT_BYTES
MIN_SUSPECT_BYTES: Final = 1024 * 1024  # small members of blanks compress better than any bomb and harm nobody
MAX_DEPTH: Final = 50  # nested JSON or YAML collections
PEEK_BYTES: Final = 65_536  # what detection looks at

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\ufdd0-\ufdef\ufffe\uffff]")
# the last ranges are noncharacters: no text holds them, so readers may use them as marks of their own


def peek(data: bytes) -> str:
    """The beginning of a text file, for detection only: never raises, line ends are \\n, undecodable bytes are U+FFFD."""
    head = data[:PEEK_BYTES]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = head.decode("utf-16", "replace")
    elif b"\x00" in head[:1024]:
        return ""  # binary
    else:
        text = head.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode(data: bytes, report: Report) -> str:
    """The text of a file with \\n line ends: UTF-8, UTF-16 with a byte order mark, or windows-1252 for single lines.

    Lines count as an editor counts them. Raises ContentError for other encodings, which look alike to a machine.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise ContentError(f"{report.name}: {len(data):,} bytes is above {MAX_TEXT_BYTES:,}. Split the file.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") and data[:4] != b"\xff\xfe\x00\x00":
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise ContentError(f"{report.name}: it starts as UTF-16 but is not ({error.reason}). Save it as UTF-8.") from error
    elif b"\x00" in data[:1024]:
        raise ContentError(f"{report.name}: this is no text file (NUL bytes; UTF-16 needs a byte order mark). Save it as UTF-8.")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = _decode_by_line(data.removeprefix(b"\xef\xbb\xbf"), report)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n" if "\n" not in text else " ")
    text = text.replace("\u2028", "\n").replace("\u2029", "\n").replace("\x85", "\n") if _only_odd_line_ends(text) else text
    if _CONTROLS.search(text):
        lines = [number for number, line in enumerate(text.split("\n"), 1) if _CONTROLS.search(line)]
        report.warn(lines[0], "ENCODING-CONTROL", f"control characters left out in {_lines(lines)}. Check these lines.", "")
        text = _CONTROLS.sub("", text)
    return text


def _only_odd_line_ends(text: str) -> bool:
    return "\n" not in text and any(mark in text for mark in "\u2028\u2029\x85")


def _decode_by_line(data: bytes, report: Report) -> str:
    lines: list[str] = []
    fallback: list[int] = []
    unknown: list[int] = []
    high_bytes = isolated = 0
    for number, raw in enumerate(re.split(rb"\r\n|\r|\n", data), 1):
        try:
            lines.append(raw.decode("utf-8"))
            continue
        except UnicodeDecodeError:
            fallback.append(number)
        for run in re.findall(rb"[\x80-\xff]+", raw):
            high_bytes += len(run)
            isolated += len(run) if len(run) < 4 else 0
        try:
            lines.append(raw.decode("cp1252"))
        except UnicodeDecodeError:  # five bytes mean nothing in windows-1252
            lines.append("".join(bytes([byte]).decode("cp1252", "replace") for byte in raw))
            unknown.append(number)
    if isolated * 2 < high_bytes:
        # accented letters stand alone between plain ones; long runs are GBK, Shift-JIS, windows-1251 and their like
        raise ContentError(
            f"{report.name}:{fallback[0]}: this line is neither UTF-8 nor Western European text; its encoding is not guessed. "
            "Save the file as UTF-8."
        )
    report.warn(
        fallback[0], "ENCODING-1252", f"not UTF-8, read as windows-1252: {_lines(fallback)}. Check the accents and save as UTF-8.", ""
    )
    if unknown:
        report.warn(unknown[0], "ENCODING-UNKNOWN", f"bytes without a meaning became U+FFFD in {_lines(unknown)}.", "")
    return "\n".join(lines)


def _lines(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:20]))
    return f"line{'s' if len(numbers) > 1 else ''} {shown}" + (f" and {len(numbers) - 20} more" if len(numbers) > 20 else "")


# --- JSON -----------------------------------------------------------------------------------------------------------

_JSON_PART: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


def load_json(text: str, where: str) -> Any:
    """The value of a JSON text of at most MAX_DEPTH levels; NaN, Infinity and repeated keys are refused.

    Raises ContentError with the physical line.
    """
    depth = 0
    for part in _JSON_PART.finditer(text):
        first = part.group()[0]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                line = text.count("\n", 0, part.start()) + 1
                raise ContentError(f"{where}:{line}: nested deeper than {MAX_DEPTH} levels. Flatten the file.")
        elif first in "]}":
            depth -= 1
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        raise ContentError(f"{where}:{error.lineno}: not JSON: {error.msg} (column {error.colno}). Mend or export it again.") from error
    except (ValueError, RecursionError) as error:  # also: an integer of thousands of digits
        raise ContentError(f"{where}: not usable JSON: {error}. Mend or export it again.") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {twice[:80]!r} stands twice in one object")
    return found


# --- YAML -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scalar:
    """A YAML scalar as written: `text` before any typing, `plain` when it had no quotes (so that 007 and No survive)."""

    text: str
    plain: bool
    line: int

    def value(self) -> str | int | float | bool | None:
        """What YAML 1.1 makes of it: a plain `yes` is True. Never a date: those stay text."""
        if not self.plain:
            return self.text
        tag = _RESOLVER.resolve(yaml.ScalarNode, self.text, (True, False))
        try:
            return _construct(tag, self.text)
        except ValueError:  # such as 4,300 digits, or 0b without bits
            return self.text


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """Pairs in their order; a repeated key keeps both pairs, so the reader can tell."""

    pairs: tuple[tuple[Scalar, Node], ...]
    line: int

    def get(self, key: str) -> Node | None:
        return next((value for name, value in self.pairs if name.text == key), None)


Node = Scalar | Sequence | Mapping

_RESOLVER: Final = cast(Any, yaml.resolver.Resolver())
_CONSTRUCTOR: Final = cast(Any, yaml.constructor.SafeConstructor())
_TYPED: Final = {
    "tag:yaml.org,2002:bool": "construct_yaml_bool",
    "tag:yaml.org,2002:int": "construct_yaml_int",
    "tag:yaml.org,2002:float": "construct_yaml_float",
    "tag:yaml.org,2002:null": "construct_yaml_null",
}


def _construct(tag: str, text: str) -> str | int | float | bool | None:
    if tag not in _TYPED:
        return text
    return getattr(_CONSTRUCTOR, _TYPED[tag])(yaml.ScalarNode(tag, text))


def load_yaml(text: str, where: str, first_line: int = 1) -> Node:
    """The first document as nodes with physical lines; an empty one is an empty Mapping.

    Built from parser events and not by recursion, so depth is bounded; aliases, tags that name types of a program and
    keys that are collections are refused. Raises ContentError.
    """
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stack: list[tuple[str, list[Node], int]] = []
    try:
        for event in cast(Any, yaml).parse(text, Loader=loader):
            line = event.start_mark.line + first_line
            if isinstance(event, yaml.AliasEvent):
                raise ContentError(f"{where}:{line}: YAML aliases (*name) are not accepted. Write the value out.")
            tag = getattr(event, "tag", None)
            if tag and not tag.startswith(("tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")) and tag != "!":
                raise ContentError(f"{where}:{line}: the YAML tag {tag[:80]!r} is not accepted. Remove it.")
            done: Node
            if isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                if len(stack) >= MAX_DEPTH:
                    raise ContentError(f"{where}:{line}: nested deeper than {MAX_DEPTH} levels. Flatten the file.")
                stack.append(("map" if isinstance(event, yaml.MappingStartEvent) else "seq", [], line))
                continue
            if isinstance(event, yaml.ScalarEvent):
                done = Scalar(cast(Any, event).value, not cast(Any, event).style and not tag, line)
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                kind, parts, start = stack.pop()
                done = Sequence(tuple(parts), start) if kind == "seq" else Mapping(_pairs(parts, where), start)
            elif isinstance(event, yaml.DocumentEndEvent):
                return Mapping((), first_line)  # nothing stood between the document's marks
            else:
                continue
            if not stack:
                return done
            stack[-1][1].append(done)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + first_line if mark else first_line
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
        raise ContentError(f"{where}:{line}: not YAML: {problem}. Quote texts that hold ': ' or '#'.") from error
    return Mapping((), first_line)


def _pairs(parts: list[Node], where: str) -> tuple[tuple[Scalar, Node], ...]:
    pairs: list[tuple[Scalar, Node]] = []
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        if not isinstance(key, Scalar):
            raise ContentError(f"{where}:{key.line}: a YAML key must be text. Quote it.")
        pairs.append((key, value))
    return tuple(pairs)


# --- zip ------------------------------------------------------------------------------------------------------------


class Archive:
    """A zip file read from memory. Member names are those inside; nothing is unpacked to disk."""

    def __init__(self, data: bytes, where: str) -> None:
        """Raises ContentError for what is no zip, has too many members, or names a place outside itself."""
        self._where = where
        self._left = MAX_UNPACKED_BYTES
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, struct.error, NotImplementedError, OverflowError) as error:
            raise ContentError(f"{where}: not a readable zip file ({error}). Export it again.") from error
        if len(infos) > MAX_MEMBERS:
            raise ContentError(f"{where}: {len(infos):,} members, above {MAX_MEMBERS:,}. Split the package.")
        for info in infos:
            parts = re.split(r"[\\/]", info.filename)
            if info.filename.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
                raise ContentError(f"{where}: the member {info.filename[:80]!r} points outside the package. Do not open this file.")
        if sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
            raise ContentError(f"{where}: unpacks to more than {MAX_UNPACKED_BYTES:,} bytes. Remove its media.")
        self._infos = {info.filename: info for info in infos if not info.is_dir()}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._infos)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def read(self, name: str) -> bytes:
        """The bytes of one member. Raises ContentError when it is missing, damaged, encrypted or blown up."""
        info = self._infos.get(name)
        if info is None:
            raise ContentError(f"{self._where}: the member {name[:80]!r} is missing. Export the package again.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ContentError(f"{self._where}: the member {name[:80]!r} uses an unusual compression. Zip the package again.")
        # the header's size may lie, so what counts is what comes out
        allowed = self._left
        if info.compress_size * MAX_RATIO > MIN_SUSPECT_BYTES:
            allowed = min(allowed, info.compress_size * MAX_RATIO)
        else:
            allowed = min(allowed, MIN_SUSPECT_BYTES)
        try:
            with self._zip.open(info) as member:
                data = member.read(allowed + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            OSError,
            EOFError,
            ValueError,
            RuntimeError,  # encrypted
            struct.error,
        ) as error:
            raise ContentError(f"{self._where}: the member {name[:80]!r} cannot be read ({error}). Export the package again.") from error
        if len(data) > allowed:
            raise ContentError(
                f"{self._where}: the member {name[:80]!r} unpacks to over {MAX_RATIO} times its size. Do not open this file."
            )
        self._left -= len(data)
        return data
