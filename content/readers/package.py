"""Question banks that come as a zip: looking inside for detection, naming the member in every problem, finding pictures.

Nothing is unpacked to disk; `intake.Archive` bounds what comes out. Pictures are only looked for inside the package.
"""

from __future__ import annotations

import hashlib
import io
import posixpath
import re
import struct
import zipfile
import zlib
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from content.model import ContentError, Media, Severity
from content.readers.base import Report
from content.readers.intake import Archive
from content.readers.markup import Pictures

MAX_PICTURE_BYTES: Final = 10 * 1000 * 1000
"""Of one picture; Discord takes no larger file from a bot in a server without boosts (10 MB)."""

_FILEBASE: Final = re.compile(r"(?:\$|%24)(?:IMS|CANVAS)[-_](?:CC[-_]FILEBASE|OBJECT_REFERENCE)(?:\$|%24)/*", re.IGNORECASE)
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    struct.error,
    OverflowError,
)


def member_names(data: bytes) -> tuple[str, ...]:
    """The members of a zip, for detection; () for anything else. Never raises."""
    if data[:2] != b"PK":
        return ()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            return tuple(opened.namelist()[:2_000])
    except _UNREADABLE:
        return ()


def peek_member(data: bytes, name: str, size: int = 8_192) -> str:
    """The beginning of one member as text, for detection; "" when it cannot be read. Never raises."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened, opened.open(name) as member:
            return member.read(size).decode("utf-8-sig", "replace")
    except (*_UNREADABLE, KeyError):
        return ""


class PackageReport(Report):
    """A report whose problems name the member of the package that their line counts in."""

    member: str = ""

    def say(self, severity: Severity, line: int, code: str, text: str, question: str | None = None) -> None:
        super().say(severity, line, code, f"{posixpath.basename(self.member)}: {text}" if self.member else text, question)


def without_filebase(html: str) -> str:
    """HTML whose `$IMS-CC-FILEBASE$/x.png` addresses are plain member names."""
    return _FILEBASE.sub("", html)


def media_of(pictures: Pictures, report: Report, archive: Archive | None, beside: str, line: int) -> tuple[Media, ...]:
    """The pictures of one question; those inside the package, beside the member `beside`, come along in the report."""
    result: list[Media] = []
    for left_out in pictures.left_out:
        report.warn(line, "MEDIA", f"a picture was left out: {left_out[:80]!r}.")
    for medium in pictures.media:
        if medium.file is None:
            result.append(medium)
            continue
        name = unquote(medium.file.partition("?")[0])
        found = _member(archive, beside, name) if archive is not None else None
        if archive is None or found is None:
            report.warn(line, "MEDIA", f"the picture {name[:80]!r} is not in the package. Add it beside the quiz.")
            result.append(replace(medium, file=name))
            continue
        try:
            data = archive.read(found)
        except ContentError as error:
            report.warn(line, "MEDIA", f"the picture {name[:80]!r} cannot be read ({error})")
            result.append(replace(medium, file=name))
            continue
        if len(data) > MAX_PICTURE_BYTES:
            report.warn(line, "MEDIA", f"the picture {name[:80]!r} has {len(data):,} bytes, above {MAX_PICTURE_BYTES:,}; it was left out.")
            result.append(replace(medium, file=name))
            continue
        result.append(replace(medium, file=report.keep_file(name, data), sha256=hashlib.sha256(data).hexdigest()))
    return tuple(result)


def _member(archive: Archive, beside: str, name: str) -> str | None:
    """The member that an address beside another member means. Steps upwards are gone from it: the only fitting end decides."""
    folder = posixpath.dirname(beside)
    for candidate in (posixpath.join(folder, name), name, posixpath.join("web_resources", name), posixpath.join("content", name)):
        normal = posixpath.normpath(candidate)
        if normal in archive:
            return normal
    ends = [member for member in archive.names if member.endswith("/" + name)]
    return ends[0] if len(ends) == 1 else None


def short_id(identifier: str) -> str:
    """An identifier as the file gives it, without the long common beginnings that tools put before a hash."""
    if len(identifier) <= 40:
        return identifier
    return "q-" + re.sub(r"[^A-Za-z0-9]", "", identifier)[-24:].lower()
