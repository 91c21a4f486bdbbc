"""QTI 2.1, 2.2 and 3.0: packages (.zip) of items and tests, and bare item files.

A test gives the order, the sections that draw some of their items, and time limits; items that no test names follow in the
order of the package. What an item becomes is decided in `qti2_items`. One broken item file costs only itself.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import unquote

from content.model import ContentError, Group, Select
from content.readers.base import About, Import, Unusable, slug
from content.readers.detect import CERTAIN, LIKELY
from content.readers.intake import Archive, peek
from content.readers.package import PackageReport, member_names, peek_member
from content.readers.qti2_items import Item2
from content.readers.qti2_scoring import as_number, attribute, base_name, both
from content.readers.xml_tree import BadXml, Node, parse_leniently, source

_ITEM: Final = re.compile(r"<(?:[\w.-]{1,20}:)?(?:assessmentItem|qti-assessment-item)[\s>]")
_TEST: Final = re.compile(r"<(?:[\w.-]{1,20}:)?(?:assessmentTest|qti-assessment-test|assessmentSection|qti-assessment-section)[\s>]")
_RESOURCE: Final = re.compile(r"imsqti_(?:item|test|section)_xmlv[23]")


class Qti2Reader:
    name = "qti2"

    def sniff(self, data: bytes, name: str) -> float:
        names = member_names(data)
        if not names:
            return CERTAIN if _ITEM.search(peek(data)) else 0.0
        if "imsmanifest.xml" in names and _RESOURCE.search(peek_member(data, "imsmanifest.xml", 200_000)):
            return CERTAIN
        candidates = [member for member in names if member.endswith(".xml")]
        return LIKELY if any(_ITEM.search(peek_member(data, member)) for member in candidates[:20]) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = PackageReport(self.name, name, data)
        bank = _Bank(report)
        if data[:2] == b"PK":
            bank.read_package(Archive(data, name))
        else:
            try:
                root, notes = parse_leniently(source(data, report))
            except BadXml as fault:
                raise ContentError(f"{name}:{fault.line}: {fault}. Export the item again.") from fault
            for line, code, text in notes:
                report.warn(line, code, f"{text}.", "")
            items = [root] if base_name(root) == "assessmentItem" else list(root.all(*both("assessmentItem")))
            for item in items:
                bank.take(item, _Place(None, ""))
        if not report.read:
            raise ContentError(f"{name}: no assessment item in it. Export items with the test, or choose another format.")
        return bank.close()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an item stands: its member, and what the test says about it."""

    archive: Archive | None
    member: str
    group: str | None = None
    time_limit_s: int | None = None


@dataclass(slots=True)
class _Bank:
    report: PackageReport
    title: str = ""
    groups: list[Group] = field(default_factory=list[Group])
    languages: dict[str, None] = field(default_factory=dict[str, None])

    def read_package(self, archive: Archive) -> None:
        items: list[str] = []
        tests: list[str] = []
        for member in archive.names:
            if not member.lower().endswith((".xml", ".qti")) or posixpath.basename(member) == "imsmanifest.xml":
                continue
            head = peek(archive.read(member))
            if _ITEM.search(head):
                items.append(member)
            elif _TEST.search(head):
                tests.append(member)
        places: dict[str, _Place] = {}
        for test in tests:
            root = self._document(archive, test)
            if root is not None:
                self.title = self.title or attribute(root, "title")
                limit = _seconds(root)
                if limit is not None:
                    self.report.note(root.line, "QTI-TIME", f"the test as a whole is limited to {limit} s; rounds have no such limit.", "")
                for place in self._places(archive, root, test, None):
                    places.setdefault(place.member, place)
        self.report.member = ""
        known = set(items)
        for member in places:
            if member not in known:
                self.report.error(0, "QTI-MEMBER", f"the test names {member[:120]!r}, which is not in the package. Export it again.", "")
        for member in (*(member for member in places if member in known), *(member for member in items if member not in places)):
            root = self._document(archive, member)
            place = places.get(member, _Place(archive, member))
            for item in () if root is None else [root] if base_name(root) == "assessmentItem" else root.all(*both("assessmentItem")):
                self.take(item, place)
        self.report.member = ""

    def take(self, node: Node, place: _Place) -> None:
        with self.report.question(node.line, attribute(node, "title")[:80]):
            item = Item2(node, self.report, place.archive, place.member, self._stimulus(node, place))
            question = item.question(time_limit_s=place.time_limit_s)
            self.report.add(replace(question, group=place.group), wanted_id=item.wanted_id)
            if item.language:
                self.languages[item.language] = None

    def close(self) -> Import:
        languages = tuple(self.languages) if len(self.languages) == 1 else ()
        result = self.report.close(About(title=self.title, languages=languages))
        used = {question.group for question in result.questions}
        groups = tuple(group for group in self.groups if group.id in used)
        if result.quiz is None or not groups:
            return result
        return replace(result, quiz=replace(result.quiz, select=Select(groups=groups)))

    def _document(self, archive: Archive, member: str) -> Node | None:
        self.report.member = member
        try:
            root, notes = parse_leniently(source(archive.read(member), self.report))
        except BadXml as fault:
            with self.report.question(fault.line, posixpath.basename(member)[:80]):
                raise Unusable(fault.code, f"{fault}. Export it again.", fault.line) from fault
            return None
        for line, code, text in notes:
            self.report.warn(line, code, f"{text}.", "")
        return root

    def _places(self, archive: Archive, node: Node, test: str, group: str | None) -> Iterator[_Place]:
        for child in node.children(*both("testPart", "assessmentSection", "assessmentItemRef")):
            if base_name(child) == "assessmentItemRef":
                href = unquote(attribute(child, "href"))
                yield _Place(archive, posixpath.normpath(posixpath.join(posixpath.dirname(test), href)), group, _seconds(child))
                continue
            selection = child.child(*both("selection"))
            count = attribute(selection, "select") if selection is not None else ""
            inner = group
            if count.isdigit():
                inner = slug(attribute(child, "identifier")) or f"group-{len(self.groups) + 1}"
                if any(known.id == inner for known in self.groups):
                    inner = f"{inner[:34]}-{len(self.groups) + 1}"
                self.groups.append(Group(inner, max(1, min(int(count), 10_000))))
            yield from self._places(archive, child, test, inner)

    def _stimulus(self, item: Node, place: _Place) -> str:
        """The HTML of the shared texts that the item refers to, from the package."""
        parts: list[str] = []
        for reference in item.children(*both("assessmentStimulusRef")):
            member = posixpath.normpath(posixpath.join(posixpath.dirname(place.member), unquote(attribute(reference, "href"))))
            if place.archive is None or member not in place.archive:
                self.report.warn(reference.line, "QTI-STIMULUS", f"the shared text {member[:120]!r} is not in the package. Add it by hand.")
                continue
            try:
                root, _ = parse_leniently(source(place.archive.read(member), self.report))
            except BadXml as fault:
                self.report.warn(reference.line, "QTI-STIMULUS", f"the shared text {member[:120]!r} is broken ({fault}). Add it by hand.")
                continue
            body = root.child(*both("stimulusBody"))
            parts.append(f"<div>{body.html()}</div>" if body is not None else "")
        return "".join(parts)


def _seconds(node: Node) -> int | None:
    limits = node.child(*both("timeLimits"))
    seconds = as_number(attribute(limits, "maxTime")) if limits is not None else None
    return round(seconds) if seconds is not None and 1 <= seconds <= 86_400 else None
