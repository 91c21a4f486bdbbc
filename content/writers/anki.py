"""An Anki package (.apkg), written with genanki: one note for each question, its id as the note's guid.

Importing the file again updates the same notes. Pictures are not packed: only their addresses are known here.
"""

from __future__ import annotations

import hashlib
import tempfile
import warnings
from pathlib import Path
from typing import Any, Final, cast

import genanki  # pyright: ignore[reportMissingTypeStubs]  # it ships none

from content.model import Quiz, Short
from content.writers.base import Export, Losses
from content.writers.cards import card_html, cloze_of, front_and_back

_genanki: Final = cast(Any, genanki)
_CSS: Final = ".card { font-family: sans-serif; font-size: 20px; text-align: center; }"
_BACK: Final = '{{FrontSide}}<hr id="answer">{{Back}}<p>{{Explanation}}</p>'
# chosen once: Anki knows a note type and a deck by these numbers
_BASIC_ID: Final = 1_607_392_701
_CLOZE_ID: Final = 1_607_392_702


class AnkiWriter:
    name = "anki"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        basic = _genanki.Model(
            _BASIC_ID,
            "Studyhall basic",
            fields=[{"name": "Front"}, {"name": "Back"}, {"name": "Explanation"}],
            templates=[{"name": "Card 1", "qfmt": "{{Front}}", "afmt": _BACK}],
            css=_CSS,
        )
        cloze = _genanki.Model(
            _CLOZE_ID,
            "Studyhall cloze",
            fields=[{"name": "Text"}, {"name": "Explanation"}],
            templates=[{"name": "Cloze", "qfmt": "{{cloze:Text}}", "afmt": "{{cloze:Text}}<p>{{Explanation}}</p>"}],
            css=_CSS,
            model_type=_genanki.Model.CLOZE,
        )
        number = int.from_bytes(hashlib.sha256(quiz.id.encode()).digest()[:4], "big") & 0x3FFF_FFFF
        deck = _genanki.Deck(1 << 30 | number, losses.text(quiz.title), losses.text(quiz.description))
        for question in quiz.questions:
            tags = [tag.replace(" ", "_") for tag in question.tags]
            more = card_html(losses.text(question.explanation), question.media)
            if isinstance(question.body, Short) and question.body.blanks:
                text = cloze_of(question, losses)
                if text is None:
                    losses.left_out(question, "a gap has no answer that can be typed.")
                    continue
                fields, model = [card_html(text, question.media), more], cloze
            else:
                card = front_and_back(question, losses)
                if card is None:
                    continue
                fields, model = [*(card_html(side, question.media) for side in card), more], basic
            losses.dropped(question, frozenset(("explanation", "tags")))
            losses.written += 1
            deck.add_note(_genanki.Note(model=model, fields=fields, tags=tags, guid=f"{quiz.id}/{question.id}"))
        return losses.export(_packed(deck) if losses.written else b"", "apkg")


def _packed(deck: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # it warns about text that looks like HTML; all fields here are HTML that card_html escaped
        warnings.simplefilter("ignore")
        path = Path(folder) / "deck.apkg"
        _genanki.Package(deck).write_to_file(str(path))
        return path.read_bytes()
