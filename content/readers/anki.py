"""Anki packages (.apkg): notes become questions, one each; basic notes with a reversed card become two.

The front is the note's first field, or the first one its card shows; the back is the field that the card's other side
adds. Further fields become the explanation. Cloze notes become texts with blanks. Image occlusion and sound are reported.
How somebody learned these cards is personal and is not read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from content.model import ContentError, Media, Open, Question, Short, Text
from content.readers.anki_collection import COLLECTIONS, MAX_NOTE_CHARACTERS, MAX_NOTES, Collection, Note, NoteType, Template, collection_of
from content.readers.base import About, Import, Report, Unusable, text_or_none
from content.readers.cards import answer_text, body_of, gaps_of, has_cloze
from content.readers.detect import CERTAIN
from content.readers.markup import Pictures, html_to_markdown, normalise_latex
from content.readers.package import MAX_PICTURE_BYTES, member_names

_BACKS: Final = re.compile(
    r"back|answer|meaning|definition|translation|english|solution|response|rückseite|antwort|bedeutung|übersetzung|réponse|verso|traduction"
    r"|respuesta|significado|traducción|resposta|risposta|ответ|перевод|значение|απάντηση|答案|意思|释义|背面|解答|意味|裏|답|뜻|뒷면",
    re.IGNORECASE,
)
_ASIDES: Final = frozenset({"back extra", "extra", "comments", "notes", "note", "source", "remarks"})
_REFERENCE: Final = re.compile(r"\{\{(?![#^/!])(?:[a-zA-Z-]{1,20}:){0,3}([^{}]{1,100})\}\}")
# parts of a card side that are there but not to be seen
_UNSEEN: Final = re.compile(
    r"<(\w{1,10})[^>]{0,300}?(?:visibility:\s?hidden|display:\s?none)[^>]{0,300}>.{0,2000}?</\1>|<script.{0,20000}?</script>|<a\s[^>]{0,500}>",
    re.DOTALL | re.IGNORECASE,
)
MAX_TEMPLATE_CHARACTERS: Final = 20_000
_SOUND: Final = re.compile(r"\[sound:[^\]\n]{1,300}\]|\[anki:[^\]\n]{1,300}\]")


class AnkiReader:
    name = "anki"

    def sniff(self, data: bytes, name: str) -> float:
        return CERTAIN if set(COLLECTIONS) & set(member_names(data)) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        collection = collection_of(data, name)
        if collection.cut:
            report.warn(0, "ANKI-NOTES", f"only the first {MAX_NOTES:,} notes were read. Export single decks.", "")
        decks = list(dict.fromkeys(note.deck for note in collection.notes if note.deck))
        told: set[str] = set()
        for number, note in enumerate(collection.notes, 1):
            reading = _Reading(report, collection, note, deck_tag=len(decks) > 1)
            with report.question(0, f"note {number}"):
                reading.add()
            _tell_of_other_cards(note.type, reading.cards_used, told, report)
        title = decks[0].rpartition("::")[2] if len(decks) == 1 else ""
        return report.close(About(title="" if title == "Default" else title))


def _tell_of_other_cards(kind: NoteType, used: int, told: set[str], report: Report) -> None:
    if 0 < used < len(kind.templates) and kind.name not in told:
        told.add(kind.name)
        left = ", ".join(repr(template.name[:40]) for template in kind.templates[used:][:5])
        report.note(0, "ANKI-CARDS", f"notes of the type {kind.name[:60]!r} make further cards, which are not imported: {left}.", "")


@dataclass(frozen=True, slots=True)
class _Sides:
    front: int
    back: int
    others: tuple[int, ...]


class _Reading:
    """One note. `cards_used` is how many of its type's templates the questions stand for; 0 when it was refused."""

    def __init__(self, report: Report, collection: Collection, note: Note, *, deck_tag: bool) -> None:
        self._report = report
        self._collection = collection
        self._note = note
        self._deck_tag = deck_tag
        self._pictures = Pictures()
        self._sounds = 0
        self.cards_used = 0

    def add(self) -> None:
        note = self._note
        if "occlusion" in note.type.name.lower() or any(name.lower() == "occlusion" for name in note.type.fields):
            raise Unusable("ANKI-OCCLUSION", "image occlusion hides parts of a picture. Ask about the picture in words.")
        if sum(map(len, note.values)) > MAX_NOTE_CHARACTERS:
            raise Unusable("ANKI-LENGTH", f"the note is longer than {MAX_NOTE_CHARACTERS:,} characters. Shorten it.")
        if len(note.values) > 1 and tuple(value.strip() for value in note.values) == note.type.fields:
            self._report.warn(
                0, "ANKI-HEADER", "the note repeats the field names; it looks like the header of an imported table. Delete it?"
            )
        texts = [self._markdown(value) for value in note.values]
        cloze = next((i for i, text in enumerate(texts) if has_cloze(text)), None)
        if cloze is not None:
            self._add_cloze(texts, cloze)
        else:
            self._add_basic(texts)
        if self._sounds:
            self._report.note(0, "ANKI-SOUND", f"{self._sounds} sound(s) were left out; Discord buttons play none.")

    def _add_cloze(self, texts: Sequence[str], at: int) -> None:
        stem, body, hints = gaps_of(texts[at])
        if has_cloze(stem) or re.search(r"\{\{c\d+::", stem):
            raise Unusable("CARD-CLOZE", "a gap stands inside another one. Take them apart.")
        question = Question(id="", stem=Text.of(stem), body=body, hints=hints, explanation=self._aside(texts, {at}))
        self.cards_used = len(self._note.type.templates)
        self._report.add(self._finished(question), wanted_id=self._note.guid)

    def _add_basic(self, texts: Sequence[str]) -> None:
        sides = self._sides(texts)
        front, back = texts[sides.front], texts[sides.back]
        aside = self._aside(texts, {sides.front, sides.back})
        question = Question(id="", stem=Text.of(front), body=_body(back), explanation=aside)
        self._report.add(self._finished(question), wanted_id=self._note.guid)
        self.cards_used = 1
        if self._is_reversed(sides):
            self.cards_used = 2
            other = Question(id="", stem=Text.of(back), body=_body(front), explanation=aside)
            self._report.add(self._finished(other), wanted_id=f"{self._note.guid}-reversed")

    def _sides(self, texts: Sequence[str]) -> _Sides:
        kind = self._note.type
        names = tuple(name.lower() for name in kind.fields)
        asked, answered = _fields_on(kind.templates[0], names) if kind.templates else ((), ())
        filled = [i for i, text in enumerate(texts) if text]
        fronts = [i for i in filled if not asked or i in asked] or filled
        if not fronts:
            raise Unusable("CARD-FRONT", "the note is empty. Write its fields or delete it.")
        front = fronts[0]
        plain = answer_text(texts[front])
        others = [i for i in filled if i != front and answer_text(texts[i]) != plain]
        added = [i for i in answered if i in others and i not in asked]
        named = [i for i in (added or others) if i < len(names) and _BACKS.search(names[i]) and names[i] not in _ASIDES]
        backs = named or added or [i for i in others if i not in asked] or others
        if not backs:
            raise Unusable("CARD-BACK", "the card has nothing on its back. Write the answer.")
        return _Sides(front, backs[0], tuple(others))

    def _is_reversed(self, sides: _Sides) -> bool:
        """Whether the second card asks for the front by showing the back."""
        kind = self._note.type
        if len(kind.templates) < 2 or (self._note.cards and 1 not in self._note.cards):
            return False
        names = tuple(name.lower() for name in kind.fields)
        asked, answered = _fields_on(kind.templates[1], names)
        real = [i for i in range(len(names)) if names[i] not in _ASIDES and names[i] != "add reverse"]
        return asked[:1] == (sides.back,) and sides.front in answered and sides.front not in asked and len(real) == 2

    def _aside(self, texts: Sequence[str], used: set[int]) -> Text | None:
        """The other fields, named where their names say more than that they are something extra."""
        seen = {answer_text(texts[i]) for i in used}
        parts: list[str] = []
        for i, text in enumerate(texts):
            name = self._note.type.fields[i] if i < len(self._note.type.fields) else ""
            plain = answer_text(text)
            if i in used or not plain or plain in seen or name.lower() == "add reverse":
                continue
            seen.add(plain)
            parts.append(text if name.lower() in _ASIDES or not name else f"{name}: {text}")
        return text_or_none("\n".join(parts))

    def _finished(self, question: Question) -> Question:
        tags = [tag for tag in self._note.tags if tag.lower() not in ("leech", "marked")]
        if self._deck_tag and self._note.deck:
            tags.append(self._note.deck)
        shown = " ".join(text for text in (*question.stem, *(question.explanation or ())))
        reference = getattr(question.body, "reference", None)
        shown += " ".join(reference or ())
        media = tuple(self._kept(medium) for medium in self._pictures.media if f"({medium.id})" in shown)
        return replace(question, tags=tuple(dict.fromkeys(tags)), media=media, extra={"anki": {"guid": self._note.guid}})

    def _kept(self, medium: Media) -> Media:
        if medium.file is None:
            return medium
        name = unquote(medium.file)
        try:
            data = self._collection.media(name) or self._collection.media(medium.file)
        except ContentError as error:
            self._report.warn(0, "MEDIA", f"the picture {name[:80]!r} cannot be read ({error})")
            return replace(medium, file=name)
        if data is None or len(data) > MAX_PICTURE_BYTES:
            why = "is not in the package" if data is None else f"has more than {MAX_PICTURE_BYTES:,} bytes"
            self._report.warn(0, "MEDIA", f"the picture {name[:80]!r} {why}. Add it beside the quiz.")
            return replace(medium, file=name)
        return replace(medium, file=self._report.keep_file(name, data), sha256=hashlib.sha256(data).hexdigest())

    def _markdown(self, html: str) -> str:
        html, sounds = _SOUND.subn("", html)
        self._sounds += sounds
        return html_to_markdown(normalise_latex(html), self._pictures).strip()


def _body(back: str) -> Short | Open:
    """A formula is shown, not typed: nobody writes LaTeX into an answer box."""
    return Open(reference=Text.of(back)) if re.search(r"\$[^$\n]{1,2000}\$", back) else body_of(back)


@lru_cache(maxsize=64)
def _fields_on(template: Template, names: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The fields that the two sides of a card show, in order; the answer side usually repeats the question side."""
    sides: list[tuple[int, ...]] = []
    for html in (template.question, template.answer):
        found = (name.strip().lower() for name in _REFERENCE.findall(_UNSEEN.sub("", html[:MAX_TEMPLATE_CHARACTERS])))
        sides.append(tuple(dict.fromkeys(names.index(name) for name in found if name in names)))
    return sides[0], sides[1]
