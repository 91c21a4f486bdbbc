"""Moodle's own question export: XML, one `<question type="…">` after the other.

Each type becomes the native type that asks the same (`moodle_types`); fields without a native place stay in
`extra["moodle-xml"]`. Types whose answer is computed or drawn (calculated, STACK, CodeRunner, drag and drop onto images)
are reported, not imported. Embedded pictures are kept as files, linked ones as addresses; nothing is fetched. A question
that is not well-formed XML costs only itself.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote

from content.model import ContentError, Info, Media, Question, Text
from content.readers.base import About, Import, Report, Unusable
from content.readers.detect import CERTAIN, LIKELY
from content.readers.intake import peek
from content.readers.markup import markdown_to_plain
from content.readers.moodle_types import BUILDERS, Reading
from content.readers.xml_tree import BadXml, Node, parse_leniently, pieces, source

NAME: Final = "moodle-xml"

_COMPUTED: Final = {
    "calculated": "its numbers are drawn from a data set",
    "calculatedsimple": "its numbers are drawn from a data set",
    "calculatedmulti": "its numbers are drawn from a data set",
    "formulas": "its numbers are computed",
    "stack": "a computer algebra system grades it",
    "coderunner": "it runs the learner's program",
    "pmatch": "its answer is a pattern language of its own",
    "regexp": "its answer is a pattern language of its own",
    "ddimageortext": "it is answered by dragging onto a picture",
    "ddmarker": "it is answered by dragging onto a picture",
    "random": "it stands for another question, drawn at random",
    "randomsamatch": "it is put together from other questions",
}
# elements that have no native place and are written back on export
_KEPT: Final = (
    *("penalty", "hidden", "answernumbering", "showstandardinstruction", "responseformat", "responserequired", "responsefieldlines"),
    *("minwordlimit", "maxwordlimit", "attachments", "unitgradingtype", "unitpenalty", "showunits", "layouttype", "selecttype"),
    *("selectcount", "gradingtype", "numberingstyle"),
)
_KEPT_TEXTS: Final = ("correctfeedback", "partiallycorrectfeedback", "incorrectfeedback", "responsetemplate")


class MoodleXmlReader:
    name = NAME

    def sniff(self, data: bytes, name: str) -> float:
        head = peek(data)
        if not re.search(r"<quiz[\s>/]", head):
            return 0.0
        return CERTAIN if re.search(r"<question\s+type\s*=", head) else LIKELY if re.search(r"<quiz\s*/?>", head) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        bank = _Bank(report)
        try:
            found = source(data, report)
            try:
                root, notes = parse_leniently(found)
            except BadXml as fault:
                _read_pieces(found.text, fault, bank)
                return bank.close()
        except BadXml as fault:
            raise ContentError(f"{name}:{fault.line}: {fault}. Export the questions from Moodle as Moodle XML again.") from fault
        for line, code, text in notes:
            report.warn(line, code, f"{text}.", "")
        if root.name != "quiz":
            raise ContentError(f"{name}:{root.line}: <{root.name[:40]}> is no Moodle XML; it begins with <quiz>. Choose another format.")
        for node in root.children("question"):
            bank.take(node)
        return bank.close()


def _read_pieces(text: str, fault: BadXml, bank: _Bank) -> None:
    parts = pieces(text, "question")
    if not any(part.node is not None for part in parts):
        raise fault
    bank.report.warn(fault.line, fault.code, f"not well-formed XML ({fault}); each question was read by itself. Mend the file.", "")
    hidden = len(re.findall(r"<question\s", text)) - len(parts)
    if hidden:
        bank.report.warn(0, fault.code, f"{hidden} more <question> inside comments or CDATA were not read. Check these places.", "")
    for part in parts:
        if part.node is not None:
            bank.take(part.node)
            continue
        with bank.report.question(part.line):
            raise Unusable("XML-SYNTAX", f"not well-formed: {part.fault}. Mend this question's XML.", part.fault_line)


@dataclass(slots=True)
class _Bank:
    """One file being read: its report, the category that holds just now, the languages met in multilang spans."""

    report: Report
    category: str = ""
    categories: dict[str, None] = field(default_factory=dict[str, None])
    languages: dict[str, None] = field(default_factory=dict[str, None])

    def take(self, node: Node) -> None:
        kind = node.get("type").lower()
        if kind == "category":
            self.category = node.text("category", "text").strip()
            return
        self.categories[self.category] = None
        reading = Reading(self.report, node, kind, self.languages)
        label = reading.raw("name")
        label = " ".join((re.sub(r"<[^<>]{0,200}>", " ", label) if "<" in label else label).split())[:80]
        with self.report.question(node.line, label):
            self._add(reading)

    def close(self) -> Import:
        only = next(iter(self.categories), "").rpartition("/")[2] if len(self.categories) == 1 else ""
        title = "" if only.lower() in ("top", "$course$") else only
        return self.report.close(About(title=title, languages=tuple(self.languages)))

    def _add(self, reading: Reading) -> None:
        if reading.kind in _COMPUTED:
            raise Unusable("MOODLE-TYPE", f"type {reading.kind!r}: {_COMPUTED[reading.kind]}. Rewrite it as another type of question.")
        build = BUILDERS.get(reading.kind)
        if build is None:
            raise Unusable("MOODLE-TYPE", f"the type {reading.kind[:40]!r} is not known. Rewrite it as another type of question.")
        node = reading.node
        points = reading.points()
        stem, body = build(reading)
        idnumber = reading.raw("idnumber")
        title = reading.plain(reading.child("name"))
        if stem is None:
            stem = _stem_from(reading, title)
        question = Question(
            id="",
            stem=stem,
            body=body,
            title=Text.of(title) if title and not _says_nothing_new(title, idnumber, stem) else None,
            explanation=reading.text(reading.child("generalfeedback")),
            hints=tuple(hint for hint in map(reading.text, node.children("hint")) if hint),
            points=1.0 if isinstance(body, Info) else points,
            shuffle=reading.flag("shuffleanswers", default=True),
        )
        question = _with_tags(question, node)
        extra = reading.extra | self._kept(reading, idnumber)
        self.report.add(replace(question, media=_media(reading), extra={NAME: extra} if extra else {}), wanted_id=idnumber)

    def _kept(self, reading: Reading, idnumber: str) -> dict[str, Any]:
        kept: dict[str, Any] = {name: raw for name in _KEPT if (raw := reading.raw(name))}
        if "penalty" in kept:
            kept["penalty"] = reading.number(kept["penalty"], "penalty")
        for name in _KEPT_TEXTS:
            text = reading.text(reading.child(name))
            if text is not None:
                kept[name] = next(iter(text))
        if idnumber:
            kept["idnumber"] = idnumber
        if self.category:
            kept["category"] = self.category
        if kept.get("hidden") == "1":
            self.report.note(reading.node.line, "MOODLE-HIDDEN", "hidden in Moodle's question bank; imported.")
        return kept


def _says_nothing_new(title: str, idnumber: str, stem: Text) -> bool:
    """Exports must name every question: the name is then the id, or how the question begins."""
    plain = " ".join(markdown_to_plain(title).removesuffix("...").removesuffix("…").split())
    beginning = " ".join(markdown_to_plain(next(iter(stem))).split())
    return plain in (idnumber, beginning) or (len(plain) >= 20 and beginning.startswith(plain))


def _stem_from(reading: Reading, title: str) -> Text:
    if not title:
        raise Unusable("NO-STEM", "it has neither a text nor a name. Write the question.")
    reading.report.warn(reading.node.line, "NO-STEM", "the question has no text; its name is asked instead. Write the question.")
    return Text.of(title)


def _with_tags(question: Question, node: Node) -> Question:
    tags: dict[str, None] = {}
    for tag in (node.child("tags") or node).children("tag"):
        text = " ".join(tag.text().split())
        level = re.fullmatch(r"difficulty:([1-5])", text)
        if level:
            question = replace(question, difficulty=int(level.group(1)))
        elif text:
            tags[text] = None
    return replace(question, tags=tuple(tags))


def _media(reading: Reading) -> tuple[Media, ...]:
    """The pictures of the texts, with the bytes of embedded ones taken into the report."""
    files: dict[str, bytes] = {}
    for node in reading.node.all("file") if reading.pictures.media else ():
        name = node.get("name")
        if not name or node.get("encoding").lower() != "base64":
            continue
        try:
            files[_base(name)] = base64.b64decode("".join(node.text().split()), validate=True)
        except (binascii.Error, ValueError):
            reading.report.warn(node.line, "MEDIA", f"the embedded file {name[:80]!r} is damaged; it was left out.")
    for left_out in reading.pictures.left_out:
        reading.report.warn(reading.node.line, "MEDIA", f"a picture was left out: {left_out[:80]!r}.")
    result: list[Media] = []
    for medium in reading.pictures.media:
        if medium.file is None:
            result.append(medium)
            continue
        name = unquote(medium.file)
        data = files.get(_base(name))
        if data is None:
            reading.report.warn(reading.node.line, "MEDIA", f"the picture {name[:80]!r} is not in the file. Add it beside the quiz.")
            result.append(replace(medium, file=name))
            continue
        file = reading.report.keep_file(name, data)
        result.append(replace(medium, file=file, sha256=hashlib.sha256(data).hexdigest()))
    return tuple(result)


def _base(name: str) -> str:
    return re.split(r"[/\\]", name)[-1]
