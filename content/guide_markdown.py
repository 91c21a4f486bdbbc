"""Guide files: front matter and Markdown sections -> `Guide`. Structure comes from markdown-it, text from the file itself.

A `## ` heading begins a section, a `### ` heading under the one with {#faq} begins a question of the FAQ; a heading inside
a code fence is code. The first blockquote of a section is its summary, `<!-- facts: T-001 -->` names its facts; both
leave the body. Nothing is rendered here, and no HTML or link is followed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from content.fields import FACT, Fields
from content.model import Guide, Section, Term
from content.quiz_yaml import accepts_schema, read_level, read_source, read_translation_of
from content.yaml_source import MapNode, Source, parse

MAX_GUIDE: Final = 1_000_000  # characters
FAQ: Final = "faq"
GUIDE: Final = frozenset(
    "schema id version title lang level summary tags prerequisites quizzes next related sources reviewed glossary narration source "
    "translation_of".split()
)
INHERITED: Final = ("level", "tags", "prerequisites", "quizzes", "next", "related", "sources", "reviewed", "source")
"""Fields that a translation takes from its original where it does not say otherwise: they hold no text to translate."""

_ANCHOR = re.compile(r"[ \t]*\{#([^{}\s]{1,64})\}[ \t]*$")
_ANCHOR_FORM = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FACTS = re.compile(r"([ \t]*)<!--[ \t]*facts?:([^<>]{0,2000}?)-->")
_FRONT_END = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 2 or 3 outside code, quotes and lists. Lines count from 0 in the body."""

    level: int
    text: str
    anchor: str | None
    first: int
    last: int  # the line after it


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks of a body that this module looks at, found by markdown-it."""

    headings: tuple[Heading, ...]
    quotes: tuple[tuple[int, int], ...]  # line ranges of top-level blockquotes that hold one paragraph
    firsts: tuple[int, ...]  # first lines of the top-level blocks
    code: tuple[tuple[int, int], ...]  # line ranges of code


def outline(body: str) -> Outline:
    """The structure of a Markdown text; linear in its length, nesting past 20 levels is read as text."""
    parser = MarkdownIt("commonmark", {"maxNesting": 20})
    parser.core.ruler.enableOnly(["normalize", "block"])
    tokens = parser.parse(body)
    headings: list[Heading] = []
    quotes: list[tuple[int, int]] = []
    firsts: list[int] = []
    code: list[tuple[int, int]] = []
    for index, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = token.map
        if token.type in ("fence", "code_block"):
            code.append((first, last))
        if token.level != 0:
            continue
        firsts.append(first)
        if token.type == "heading_open" and token.tag in ("h1", "h2", "h3"):
            text = tokens[index + 1].content
            anchor = _ANCHOR.search(text)
            headings.append(Heading(int(token.tag[1]), _ANCHOR.sub("", text).strip(), anchor.group(1) if anchor else None, first, last))
        elif token.type == "blockquote_open" and _one_paragraph(tokens, index):
            quotes.append((first, last))
    return Outline(tuple(headings), tuple(quotes), tuple(firsts), tuple(code))


def _one_paragraph(tokens: Sequence[Token], index: int) -> bool:
    types = [token.type for token in tokens[index + 1 : index + 5]]
    return types == ["paragraph_open", "inline", "paragraph_close", "blockquote_close"]


def heading_slug(text: str) -> str:
    """The anchor of a heading that names none: its letters and digits in lower case, hyphens between."""
    return re.sub(r"[\W_]+", "-", text.casefold()).strip("-")[:64].strip("-")


def read_guide(source: Source, path: Path | None, language: str | None = None) -> Guide | None:
    """The guide without the sections that cannot be used, or None when it has no identity, title, summary or section.

    `language` is that of the file name, None for an original. Every fault goes to `source`.
    """
    if len(source.text) > MAX_GUIDE:
        source.add("FILE-READ", 0, f"The guide has {len(source.text):,} characters.", f"Split it; {MAX_GUIDE:,} are read.")
        return None
    text = re.sub(r"\r\n?", "\n", source.text)
    front = re.match(r"---[ \t]*\n", text)
    end = _FRONT_END.search(text, front.end()) if front else None
    if front is None or end is None:
        what = "The guide has no front matter." if front is None else "The front matter is not closed."
        source.add("GUIDE-FRONT", 0, what, "Begin with ---, schema: guide/1, id, title, …, and a second --- line.")
        return None
    source.full, source.text, source.start = text, text[front.end() : end.start()], front.end()
    fields = Fields(source)
    root = parse(source)
    if root is None:
        return None
    entry = fields.mapping(root, "The front matter")
    if entry is None or not accepts_schema(fields, entry, "guide"):
        return None
    guide = _front(fields, entry, path, language)
    first_line = text.count("\n", 0, end.end()) + 2  # physical line of the body's first line
    sections = _sections(source, text[end.end() :].removeprefix("\n"), first_line)
    return replace(guide, sections=sections) if guide is not None and sections else None


def _front(fields: Fields, entry: MapNode, path: Path | None, language: str | None) -> Guide | None:
    get = entry.entries.get
    fields.only(entry, GUIDE, "the front matter")
    of = read_translation_of(fields, get("translation_of"))
    if of is None and language is not None:
        where = f"The file name says that this is a translation ({language}), but"
        fields.add("SCHEMA-MISSING", entry, f"{where} there is no translation_of.", "Add translation_of: {id: …, version: …}.")
    name = fields.identifier(get("id") if of is not None else fields.required(entry, "id", "The guide"), "id")
    if of is not None and name is not None and name != of.id:
        fields.add("TRANS-ORPHAN", entry.entries["id"], f"id is {name!r}, translation_of says {of.id!r}.", "Let them agree.")
        return None
    title_node = fields.required(entry, "title", "The guide")
    title = fields.words(title_node, "title") if title_node is not None else None
    said = fields.language(get("lang"), "lang")
    if language is not None and said is not None and said != language:
        fields.add("FILE-NAME", entry.entries["lang"], f"lang is {said!r}, the file name says {language!r}.", "Let them agree.")
    if of is not None and said is None and language is None:
        fields.add("SCHEMA-MISSING", entry, "A translation has no 'lang'.", "Add lang: …")
    version_node = get("version") if of is not None else fields.required(entry, "version", "The guide")
    version = fields.integer(version_node, "version", 1, 1_000_000, of.version if of is not None else 1)
    summary_node = fields.required(entry, "summary", "The guide")
    texts = {key: fields.words(entry.entries[key], key) for key in ("next", "narration") if key in entry.entries}
    summary = fields.words(summary_node, "summary") if summary_node is not None else None
    names = {key: fields.names(get(key), key) for key in ("tags", "prerequisites", "quizzes", "related", "sources")}
    identity = of.id if of is not None else name
    if identity is None or title is None or summary is None:
        return None
    return Guide(
        identity,
        version,
        title,
        said or language or "en",
        summary.strip(),
        (),
        level=read_level(fields, get("level")),
        translation_of=of,
        tags=names["tags"],
        prerequisites=names["prerequisites"],
        quizzes=names["quizzes"],
        next=texts.get("next"),
        related=names["related"],
        glossary=_glossary(fields, entry),
        sources=names["sources"],
        reviewed=fields.day(get("reviewed"), "reviewed"),
        narration=(texts.get("narration") or "").strip() or None,
        source=read_source(fields, get("source")),
        path=path,
    )


def _glossary(fields: Fields, entry: MapNode) -> tuple[Term, ...]:
    node = entry.entries.get("glossary")
    terms = fields.mapping(node, "glossary") if node is not None else None
    found: list[Term] = []
    for term, child in terms.entries.items() if terms is not None else ():
        meaning = fields.words(child, f"the meaning of {term[:40]!r}")
        if meaning is not None and term.strip():
            found.append(Term(term.strip(), meaning.strip()))
    return tuple(found)


def _sections(source: Source, body: str, first_line: int) -> tuple[Section, ...]:
    lines = body.split("\n")
    found = outline(body)
    starts = [heading for heading in found.headings if heading.level <= 2]
    edge = starts[0].first if starts else len(lines)
    loose = next((index for index, line in enumerate(lines[:edge]) if line.strip() and not line.lstrip().startswith("<!--")), None)
    for heading in found.headings:
        if heading.level == 1:
            what, remedy = (
                f"A level-1 heading, {heading.text[:40]!r}, begins no section.",
                "Use ## for sections; the title is in the front matter.",
            )
            source.add_line("GUIDE-LOOSE", first_line + heading.first, what, remedy)
    if loose is not None:
        source.add_line("GUIDE-LOOSE", first_line + loose, "This text is before the first section.", "Put a ## heading above it.")
    sections: list[Section] = []
    seen: dict[str, int] = {}
    tops = [heading for heading in starts if heading.level == 2]
    for heading in tops:
        following = [other.first for other in starts if other.first > heading.first]
        stop = min(following, default=len(lines))
        cutter = _Cutter(source, lines, found, first_line)
        if heading.anchor == FAQ or (heading.anchor is None and heading_slug(heading.text) == FAQ):
            pairs = [other for other in found.headings if other.level == 3 and heading.first < other.first < stop]
            inner = min((pair.first for pair in pairs), default=stop)
            container = cutter.section(heading, inner, seen, faq=False, optional=True)
            if container is not None:
                sections.append(container)
            for place, pair in enumerate(pairs):
                last = pairs[place + 1].first if place + 1 < len(pairs) else stop
                answer = cutter.section(pair, last, seen, faq=True)
                if answer is not None:
                    sections.append(answer)
        else:
            section = cutter.section(heading, stop, seen, faq=False)
            if section is not None:
                sections.append(section)
    if not sections:
        source.add_line("GUIDE-EMPTY", first_line, "The guide has no section with text.", "Write ## headings with text under them.")
    return tuple(sections)


def _without_facts(text: str) -> str:
    """The line without its comments of facts, and without the space that a comment between two words leaves over."""
    return _FACTS.sub(lambda found: "" if text[found.end() : found.end() + 1] in ("", " ", "\t") else found.group(1), text)


class _Cutter:
    """Cuts sections out of the body's lines."""

    def __init__(self, source: Source, lines: list[str], found: Outline, first_line: int) -> None:
        self.source = source
        self.lines = lines
        self.found = found
        self.first_line = first_line
        self.code_starts = [first for first, _ in found.code]

    def in_code(self, line: int) -> bool:
        index = bisect_right(self.code_starts, line) - 1
        return index >= 0 and line < self.found.code[index][1]

    def section(self, heading: Heading, stop: int, seen: dict[str, int], *, faq: bool, optional: bool = False) -> Section | None:
        line = self.first_line + heading.first
        name = self._anchor(heading, seen, line)
        if name is None:
            return None
        begin = heading.last
        summary = ""
        first = next((start for start in self.found.firsts if begin <= start < stop), None)
        quote = next((quote for quote in self.found.quotes if quote[0] == first), None)
        if quote is not None and not faq:
            said = " ".join(re.sub(r"^[ \t]*>[ \t]?", "", each).strip() for each in self.lines[quote[0] : quote[1]]).strip()
            if not said.startswith("[!"):  # an alert such as [!NOTE] is text of the section
                summary, begin = said, quote[1]
        facts: list[str] = []
        body: list[str] = []
        for index in range(begin, stop):
            text = self.lines[index]
            if "<!--" in text and not self.in_code(index) and _FACTS.search(text):
                facts += self._facts(text, index)
                text = _without_facts(text)
                if not text.strip():
                    continue
            body.append(text)
        if summary and "<!--" in summary:
            facts = self._facts(summary, heading.last) + facts
            summary = _without_facts(summary).strip()
        written = "\n".join(body).strip("\n").rstrip()
        if not written and not summary:
            if not optional:
                self.source.add_line(
                    "GUIDE-EMPTY", line, f"The section {heading.text[:60]!r} has no text.", "Write it, or remove the heading."
                )
            return None
        return Section(name, heading.text, written, summary, faq, tuple(facts), line)

    def _anchor(self, heading: Heading, seen: dict[str, int], line: int) -> str | None:
        name = heading.anchor
        if name is None:
            name = heading_slug(heading.text)
            what = f"The section {heading.text[:60]!r} has no anchor; {name!r} is used."
            self.source.add_line("GUIDE-ANCHOR", line, what, f"Write ## {heading.text[:60]} {{#{name}}}.")
        elif not _ANCHOR_FORM.fullmatch(name):
            self.source.add_line("ID-FORM", line, f"The anchor {name!r} is no id.", "Use a-z, 0-9 and -, at most 64.")
            return None
        if not name:
            self.source.add_line("ID-MISSING", line, "The heading has neither text nor anchor.", "Write ## Heading {#id}.")
            return None
        if name in seen:
            what = f"The anchor {name!r} is already that of line {seen[name]}."
            self.source.add_line("ID-DUPLICATE", line, what, "Give this section another {#id}.")
            return None
        seen[name] = line
        return name

    def _facts(self, text: str, index: int) -> list[str]:
        found: list[str] = []
        for _, comment in _FACTS.findall(text):
            for fact in re.split(r"[,\s]+", comment.strip()):
                if FACT.fullmatch(fact):
                    found.append(fact)
                else:
                    line = self.first_line + index
                    self.source.add_line("FACT-FORM", line, f"The fact id {fact[:20]!r} is malformed.", "Write ids such as T-001.")
        return found


def inherited(translation: Guide, original: Guide) -> Guide:
    """The translation with its original's level, links and facts where it names none of its own."""
    taken = {name: getattr(translation, name) or getattr(original, name) for name in INHERITED if name != "level"}
    facts = {section.id: section.facts for section in original.sections}
    sections = tuple(section if section.facts else replace(section, facts=facts.get(section.id, ())) for section in translation.sections)
    return replace(translation, level=original.level, sections=sections, **taken)
