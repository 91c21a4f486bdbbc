"""Questions as flashcards: what stands on the front and on the back, as Markdown or as the HTML that Anki shows."""

from __future__ import annotations

import re
from typing import Any, Final, cast

from markdown_it import MarkdownIt

from content.model import Choices, Info, Match, Media, Open, Order, Question, Short, TrueFalse
from content.readers.base import accepted_as_text, keys_of
from content.writers.base import Losses, with_addresses

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["strikethrough", "table"])
_FORMULA: Final = re.compile(r"\$\$(?=\S)([^$]{1,4000}?)\$\$|(?<![\\\w$])\$(?=[^\s$])((?:\\.|[^$\n\\]){1,2000}?)(?<=\S)\$(?![\w$])")
_GAP: Final = re.compile(r"\{\{\s*([^{}\s]{1,64})\s*\}\}")


def front_and_back(question: Question, losses: Losses) -> tuple[str, str] | None:
    """(front, back) as Markdown, or None, with its problem, for what is no card. Choices are listed on the front."""
    stem = losses.text(question.stem)
    match question.body:
        case Choices(choices=choices):
            right = [losses.text(choice.text) for choice in choices if choice.id in keys_of(choices)]
            listed = "\n".join(f"- {losses.text(choice.text)}" for choice in choices)
            stem, back = f"{stem}\n\n{listed}", "\n".join(right)
            losses.changed(question, "CARD-CHOICES", "the choices stand on the front as a list; the back holds the right ones.")
        case TrueFalse(answer=answer):
            back = "True" if answer else "False"
        case Short(accept=accept, blanks=()):
            full = [entry for entry in accept if entry.credit >= 1]
            back = losses.text(question.body.reveal) or next(iter(map(accepted_as_text, full)), "")
            if len(full) > 1:
                losses.changed(question, "CARD-ANSWERS", f"of {len(full)} accepted answers the back holds the first.")
        case Open(reference=reference):
            back = losses.text(reference)
        case Short() | Order() | Match() | Info():
            losses.left_out(question, f"a flashcard has no place for {'gaps' if isinstance(question.body, Short) else question.type}.")
            return None
    if not back.strip():
        losses.left_out(question, "there is nothing to put on the back of the card.")
        return None
    return stem, back


def cloze_of(question: Question, losses: Losses) -> str | None:
    """A text with gaps as Anki's cloze (Markdown), or None where a gap has no typed answer."""
    assert isinstance(question.body, Short)
    answers = {
        blank.id: next((accepted_as_text(entry) for entry in blank.accept if entry.credit >= 1), None)
        or next((losses.text(choice.text) for choice in blank.choices if choice.correct), None)
        for blank in question.body.blanks
    }
    numbers = {name: i for i, name in enumerate(answers, 1)}
    if None in answers.values():
        return None
    return _GAP.sub(
        lambda found: f"{{{{c{numbers[found.group(1)]}::{answers[found.group(1)]}}}}}" if found.group(1) in answers else found.group(),
        losses.text(question.stem),
    )


def card_html(markdown: str, media: tuple[Media, ...]) -> str:
    r"""Markdown as HTML on one line; formulas as `\( \)` and `\[ \]`, which Anki shows."""
    formulas: list[str] = []

    def hidden(found: re.Match[str]) -> str:
        block = found.group(1) is not None
        formulas.append(f"\\[{found.group(1)}\\]" if block else f"\\({found.group(2)}\\)")
        return f"\ufdd8{len(formulas) - 1}\ufdd9"

    text = _FORMULA.sub(hidden, with_addresses(markdown, media))
    html = cast(Any, _MARKDOWN).render(text).strip()
    html = re.sub(r"^<p>(.*)</p>$", r"\1", html, flags=re.DOTALL) if html.count("<p>") == 1 else html
    escaped = [formula.replace("&", "&amp;").replace("<", "&lt;") for formula in formulas]
    html = re.sub(r"\ufdd8(\d+)\ufdd9", lambda found: escaped[int(found.group(1))], html)
    parts = re.split(r"(<pre>.*?</pre>)", html, flags=re.DOTALL)
    parts[::2] = [re.sub(r"(?:<br />)?\n", lambda found: "<br>" if "br" in found.group() else "", part) for part in parts[::2]]
    parts[1::2] = [part.replace("\n", "<br>") for part in parts[1::2]]
    return "".join(parts)
