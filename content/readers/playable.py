"""Can this question be asked and graded on Discord? The checks that all imports share.

It refuses nothing by itself: what cannot be asked raises `Unusable` for the report, what would look bad is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from content.model import Accept, Choice, Choices, ContentError, Info, Match, Open, Order, Question, Short, TrueFalse

MAX_CHOICES: Final = 25  # options of one Discord select menu
BUTTON_LABEL: Final = 80  # characters
SELECT_LABEL: Final = 100  # characters
MAX_OFFERED: Final = 500  # choices of one question that are read at all; a select menu shows 25
MAX_GAPS: Final = 50  # blanks of one text; a round shows five at a time, and each pick repeats all its words
MAX_STEM: Final = 4_000  # characters; an embed description holds 4,096, the rest is for the question's number and timer


class Unusable(ContentError):
    """One question cannot be imported. `code` and `text` become its problem; the rest of the file goes on."""

    def __init__(self, code: str, text: str, line: int | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.line = line


def check_gaps(count: int) -> None:
    """Raise Unusable for a text with more than MAX_GAPS gaps; call it while they are found."""
    if count > MAX_GAPS:
        raise Unusable("PLAY-GAPS", f"more than {MAX_GAPS} gaps in one text. Split it.")


def check_usable(question: Question) -> None:
    """Raise Unusable for what no round could ask or grade: no choices, no key, nothing to put in order."""
    match question.body:
        case Choices(choices=choices, many=many):
            if len(choices) < 2:
                raise Unusable("FEW-CHOICES", f"{len(choices)} choice where at least 2 are needed. Add the others.")
            if not any(choice.credit > 0 for choice in choices) and not many:
                raise Unusable("NO-KEY", "no choice is marked as right. Mark one.")
        case Short(accept=accept, blanks=blanks):
            if not blanks and not any(entry.credit > 0 for entry in accept):
                raise Unusable("NO-KEY", "no answer is accepted as right. Add one.")
            for blank in blanks:
                if not any(entry.credit > 0 for entry in (*blank.accept, *blank.choices)):
                    raise Unusable("NO-KEY", f"blank {blank.id!r} has no right answer. Add one.")
        case Order(items=items):
            if len(items) < 2:
                raise Unusable("FEW-ITEMS", f"{len(items)} item where at least 2 are needed to put in order. Add the others.")
        case Match(pairs=pairs, distractors=distractors):
            if len(pairs) + len(distractors) < 2 or not pairs:
                raise Unusable("FEW-PAIRS", "at least two answers, one of them paired, are needed to match. Add the others.")
        case TrueFalse() | Open() | Info():
            pass


def remarks(question: Question) -> Iterator[tuple[str, str]]:
    """(code, text) of what Discord's limits will do to this question."""
    stem = max(len(text) for text in question.stem)
    if stem > MAX_STEM:
        yield "PLAY-STEM", f"the stem has {stem:,} characters; Discord shows {MAX_STEM:,}. Shorten it."
    if not isinstance(question.body, Choices):
        return
    choices = question.body.choices
    if len(choices) > MAX_CHOICES:
        yield "PLAY-CHOICES", f"{len(choices)} choices; a Discord select menu holds {MAX_CHOICES}. Remove some before it is asked."
    longest = max(len(text) for choice in choices for text in choice.text)
    if longest > BUTTON_LABEL:
        limit = f"a select label ({SELECT_LABEL})" if longest > SELECT_LABEL else f"a button ({BUTTON_LABEL})"
        yield (
            "PLAY-CHOICE-LENGTH",
            f"a choice of {longest} characters is too long for {limit}; it will be shown above lettered buttons.",
        )


_LETTERS: Final = re.compile(
    r"(?:(?:[Aa]nswers?|[Oo]ptions?|[Cc]hoices?|[Bb]oth|[Oo]nly|[Ee]ither|[Nn]either|[Aa]ll of|[Rr]éponses?|[Aa]ntworten)\s+)*"
    r"\(?[A-H]\)?(?:\s*(?:,|;|/|and|or|nor|&|\+|und|oder|et|ou|y|o|e|и|или|和|及|و)\s*\(?[A-H]\)?)+"
    r"(?:\s+(?:only|are correct|are right|above|are true))?\s*\.?"
)
_ALL_OR_NONE: Final = re.compile(
    r"(?:(?:all|none|any|both|neither) (?:of )?(?:the |these|those|them)?\s*(?:above|answers?|options?|choices?|others?)?"
    r"|(?:none|all) (?:of )?(?:these|those|them)"
    r"|alle (?:oben genannten|genannten|antworten)|keine (?:der (?:genannten|obigen|antworten)\s*(?:antworten)?)"
    r"|toutes (?:ces|les) réponses|aucune (?:de ces|des) réponses?|todas las anteriores|ninguna de las anteriores|todas as anteriores"
    r"|nenhuma das anteriores|tutte le precedenti|nessuna delle precedenti|все (?:вышеперечисленные|вышеперечисленное|ответы верны)"
    r"|ни один из (?:них|вышеперечисленных)|以上都是|以上都不是|以上全部|以上皆是|以上皆非"
    r"|上記すべて|上記のいずれでもない|위의 모두|모두 해당|해당 없음"
    r"|όλα τα παραπάνω|κανένα από τα παραπάνω|كل ما سبق|لا شيء مما سبق|جميع ما سبق|כל התשובות נכונות|אף תשובה אינה נכונה)\s*[.。]?",
    re.IGNORECASE,
)


def names_letters(choice: Choice) -> bool:
    """Whether a choice is about other choices by letter ("A and C"): in another order it would be wrong."""
    return any(len(text) < 60 and _LETTERS.fullmatch(text.strip()) is not None for text in choice.text)


def with_last_choice_fixed(question: Question) -> Question:
    """ "None of the above" at the end stays at the end when the choices are shuffled."""
    body = question.body
    if not isinstance(body, Choices) or not body.choices:
        return question
    last = body.choices[-1]
    if last.fixed or not any(len(text) < 60 and _ALL_OR_NONE.fullmatch(text.strip()) for text in last.text):
        return question
    return replace(question, body=replace(body, choices=(*body.choices[:-1], replace(last, fixed=True))))


def with_full_credit(question: Question) -> Question | None:
    """The short question with its best answer worth everything, or None where one already is."""
    body = question.body
    if not isinstance(body, Short) or not body.accept or any(entry.credit >= 1 for entry in body.accept):
        return None
    best = max(entry.credit for entry in body.accept)
    accept = tuple(replace(entry, credit=1.0) if entry.credit == best else entry for entry in body.accept)
    return replace(question, body=replace(body, accept=accept))


def content_marks(question: Question) -> tuple[str, ...]:
    """What two copies of one question share besides the stem."""
    match question.body:
        case Choices(choices=choices):
            return tuple(sorted(text for choice in choices for text in choice.text))
        case Short(accept=accept):
            return tuple(sorted(accepted_as_text(entry) for entry in accept))
        case Match(pairs=pairs):
            return tuple(sorted(text for pair in pairs for side in (pair.left, pair.right) for text in side))
        case Order(items=items):
            return tuple(sorted(text for item in items for text in item.text))
        case TrueFalse() | Open() | Info():
            return ()


def number_text(value: float) -> str:
    """A number as people write it: 443, not 443.0; every digit kept."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def accepted_as_text(accept: Accept) -> str:
    """One accepted answer on one line: "Rome", "443", "3.14 ± 0.01", "1..5", "/^(a|b)$/"."""
    if accept.text is not None:
        return accept.text
    if accept.number is not None:
        shown = number_text(accept.number)
        if accept.tolerance:
            shown += f" ± {number_text(accept.tolerance * 100)}%" if accept.relative else f" ± {number_text(accept.tolerance)}"
        return shown
    if accept.span is not None:
        return f"{number_text(accept.span[0])}..{number_text(accept.span[1])}"
    return f"/{accept.regex}/"
