"""QTI 1.2: Canvas quiz exports (.zip), Common Cartridges (.imscc), and bare `<questestinterop>` files.

Which answers are right is found by running the item's scoring rules on each answer (`qti12_scoring`); conditions without a
score only link feedback. Groups that draw some of their questions become native groups. Formula questions, file uploads
and hot spots are reported, not imported.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from typing import Final

from content.model import ContentError, Group, Question, Select
from content.readers.base import About, Import, Unusable, slug
from content.readers.detect import CERTAIN, LIKELY
from content.readers.intake import Archive, peek
from content.readers.markup import html_to_markdown
from content.readers.package import PackageReport, member_names, peek_member
from content.readers.qti12_items import Item12
from content.readers.xml_tree import BadXml, Node, parse_leniently, pieces, source

_ROOT: Final = re.compile(r"<(?:\w{1,20}:)?questestinterop[\s>]")
_QTI2_RESOURCE: Final = re.compile(r"imsqti_(?:item|test|section)_xmlv[23]")
_TYPES: Final = re.compile(r"imsqti_xmlv1p|imscc_xmlv1p\d/(?:assessment|question-bank)")


class Qti12Reader:
    name = "qti12"

    def sniff(self, data: bytes, name: str) -> float:
        names = member_names(data)
        if not names:
            head = peek(data)
            return CERTAIN if _ROOT.search(head) else 0.0
        if "imsmanifest.xml" in names:
            manifest = peek_member(data, "imsmanifest.xml", 200_000)
            if _QTI2_RESOURCE.search(manifest):
                return 0.0
            if _TYPES.search(manifest):
                return CERTAIN
        candidates = [member for member in names if _may_hold_items(member)]
        return LIKELY if any(_ROOT.search(peek_member(data, member)) for member in candidates[:20]) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = PackageReport(self.name, name, data)
        bank = _Bank(report)
        if data[:2] == b"PK":
            archive = Archive(data, name)
            for member in _members(archive):
                report.member = member
                bank.read(archive.read(member), archive, member)
            report.member = ""
        else:
            bank.read(data, None, "")
        if not bank.documents:
            raise ContentError(f"{name}: no <questestinterop> in it. Export the quiz from Canvas as QTI, or choose another format.")
        return bank.close()


def _may_hold_items(member: str) -> bool:
    base = posixpath.basename(member)
    return member.endswith((".xml", ".qti", ".dat")) and base not in ("imsmanifest.xml", "assessment_meta.xml")


def _members(archive: Archive) -> list[str]:
    """The documents with items; of a quiz that a cartridge holds twice, the richer copy in non_cc_assessments."""
    found = [member for member in archive.names if _may_hold_items(member)]
    richer = {_quiz_of(member) for member in found if member.startswith("non_cc_assessments/")}
    return [member for member in found if member.startswith("non_cc_assessments/") or _quiz_of(member) not in richer]


def _quiz_of(member: str) -> str:
    """The quiz's identifier in `non_cc_assessments/<id>.xml.qti` and `<id>/assessment_qti.xml`."""
    if member.startswith("non_cc_assessments/"):
        return posixpath.basename(member).partition(".")[0]
    return posixpath.basename(posixpath.dirname(member))


@dataclass(slots=True)
class _Bank:
    report: PackageReport
    documents: int = 0
    titles: list[str] = field(default_factory=list[str])
    descriptions: list[str] = field(default_factory=list[str])
    groups: list[Group] = field(default_factory=list[Group])
    counts: list[int] = field(default_factory=list[int])  # questions before each document

    def read(self, data: bytes, archive: Archive | None, member: str) -> None:
        where = f"{self.report.name}: {member}" if member else self.report.name
        if not _ROOT.search(peek(data)) and member:
            return  # some other XML of the cartridge
        try:
            found = source(data, self.report)
            try:
                root, notes = parse_leniently(found)
            except BadXml as fault:
                self._read_pieces(found.text, fault, archive, member)
                return
        except BadXml as fault:
            if not member:
                raise ContentError(f"{where}:{fault.line}: {fault}. Export the quiz again.") from fault
            self.report.error(fault.line, fault.code, f"{fault}. Export the quiz again.")
            return
        for line, code, text in notes:
            self.report.warn(line, code, f"{text}.", "")
        if root.name != "questestinterop":
            return
        self.documents += 1
        shuffled, title, description = _meta(archive, member)
        container = root.child("assessment", "objectbank") or root
        title = title or container.get("title")
        self.titles.append(title)
        self.descriptions.append(description)
        self.counts.append(len(self.report.questions))
        self._walk(container, _Place(archive, member, shuffled, None))

    def _walk(self, container: Node, place: _Place) -> None:
        for node in container.children("item", "section"):
            if node.name == "item":
                self._take(node, place)
                continue
            inner = place
            picked = node.at("selection_ordering", "selection", "selection_number")
            if picked is not None and picked.text().strip().isdigit():
                inner = replace(place, group=self._group(node, int(picked.text().strip())))
            self._walk(node, inner)

    def _group(self, section: Node, pick: int) -> str:
        selection = section.at("selection_ordering", "selection")
        taken = {group.id for group in self.groups}
        base = slug(section.get("title")) or f"group-{len(self.groups) + 1}"
        group_id = base if base not in taken else f"{base[:34]}-{len(self.groups) + 1}"
        points = selection.first("points_per_item") if selection is not None else None
        try:
            each = float(points.text()) if points is not None else None
        except ValueError:
            each = None
        items = sum(1 for _ in section.children("item"))
        if selection is not None and selection.child("sourcebank_ref") is not None and not items:
            self.report.warn(
                section.line, "QTI-BANK", f"the group {group_id!r} draws from a question bank that is not in the file. Export it too.", ""
            )
        elif pick > items:
            self.report.warn(section.line, "QTI-GROUP", f"the group {group_id!r} picks {pick} of {items} questions; all are asked.", "")
        if items:
            self.groups.append(Group(group_id, max(1, min(pick, items)), each if each is not None and 0 <= each <= 1000 else None))
        return group_id

    def _take(self, node: Node, place: _Place) -> None:
        title = node.get("title")
        with self.report.question(node.line, "" if title.lower() in ("", "question") else title[:80]):
            item = Item12(node, self.report, place.archive, place.member)
            question = item.question(shuffled=place.shuffled)
            self.report.add(replace(question, group=place.group), wanted_id=item.wanted_id)

    def _read_pieces(self, text: str, fault: BadXml, archive: Archive | None, member: str) -> None:
        parts = pieces(text, "item")
        if not any(part.node is not None for part in parts):
            raise fault
        self.documents += 1
        self.counts.append(len(self.report.questions))
        self.titles.append("")
        self.report.warn(fault.line, fault.code, f"not well-formed XML ({fault}); each item was read by itself. Export it again.", "")
        place = _Place(archive, member, True, None)
        for part in parts:
            if part.node is not None:
                self._take(part.node, place)
                continue
            with self.report.question(part.line):
                raise Unusable("XML-SYNTAX", f"not well-formed: {part.fault}. Export the quiz again.", part.fault_line)

    def close(self) -> Import:
        titled = [title for title in self.titles if title]
        if len(self.titles) > 1:
            self._tag_by_quiz()
        title = titled[0] if len(set(titled)) == 1 else ""
        result = self.report.close(
            About(title=title, description="\n\n".join(filter(None, self.descriptions)) if len(self.titles) == 1 else "")
        )
        used = {question.group for question in result.questions}
        groups = tuple(group for group in self.groups if group.id in used)
        if result.quiz is None or not groups:
            return result
        return replace(result, quiz=replace(result.quiz, select=Select(groups=groups)))

    def _tag_by_quiz(self) -> None:
        """Several quizzes of one package become one file, each question tagged with the quiz it comes from."""
        questions: list[Question] = []
        for title, start, end in zip(self.titles, self.counts, [*self.counts[1:], len(self.report.questions)], strict=True):
            tag = " ".join(title.split())[:80]
            questions += [
                replace(question, tags=(*question.tags, tag)) if tag else question for question in self.report.questions[start:end]
            ]
        self.report.note(0, "QTI-SEVERAL", f"{len(self.titles)} quizzes in one package; each question is tagged with its quiz's title.", "")
        self.report.questions[:] = questions


@dataclass(frozen=True, slots=True)
class _Place:
    archive: Archive | None
    member: str
    shuffled: bool
    group: str | None


def _meta(archive: Archive | None, member: str) -> tuple[bool, str, str]:
    """Shuffle, title and description from Canvas's assessment_meta.xml beside this document, where there is one."""
    if archive is None:
        return True, "", ""
    quiz = _quiz_of(member)
    name = next((other for other in (f"{quiz}/assessment_meta.xml", "assessment_meta.xml") if other in archive), None)
    if name is None:
        return True, "", ""
    try:
        root, _ = parse_leniently(source(archive.read(name), PackageReport("qti12", name)))
    except ContentError:
        return True, "", ""  # only settings of Canvas: the questions do not depend on it
    return (
        root.text("shuffle_answers").strip().lower() != "false",
        root.text("title").strip(),
        html_to_markdown(root.text("description")).strip(),
    )
