"""What an answer is worth: a question and a response go in, a grade comes out.

The rules are docs/content-format.md's. Nothing here guesses: a typed answer is right when it equals an accepted one
after normalisation, or is a number (with its unit) inside the tolerance, or matches the anchored expression. An empty,
negated or padded answer ("not 443") therefore never does. Open questions are `ungraded`.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from content import expressions
from content.model import Accept, Blank, Choice, Choices, Info, Match, Open, Order, Question, Scoring, Short, Text, TrueFalse
from tutor import quantities
from tutor.errors import BadResponse

TRUE: Final = "true"
FALSE: Final = "false"


class Verdict(StrEnum):
    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"
    UNGRADED = "ungraded"


@dataclass(frozen=True, slots=True)
class Selected:
    """Ids of the chosen options; for true/false the one id "true" or "false"."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    text: str


@dataclass(frozen=True, slots=True)
class Filled:
    """Blank id -> what was typed, or the chosen option's id."""

    blanks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Arranged:
    """Item ids from first to last."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Paired:
    """Left id -> the id of the pair (or distractor) whose right side was chosen."""

    pairs: Mapping[str, str]


Response = Selected | Written | Filled | Arranged | Paired


def to_json(response: Response) -> dict[str, Any]:
    match response:
        case Selected(ids):
            return {"selected": list(ids)}
        case Written(text):
            return {"written": text}
        case Filled(blanks):
            return {"filled": dict(blanks)}
        case Arranged(ids):
            return {"arranged": list(ids)}
        case Paired(pairs):
            return {"paired": dict(pairs)}


def from_json(data: Mapping[str, Any]) -> Response:
    try:
        ((kind, value),) = data.items()
        match kind:
            case "selected":
                return Selected(tuple(value))
            case "written":
                return Written(value)
            case "filled":
                return Filled(dict(value))
            case "arranged":
                return Arranged(tuple(value))
            case "paired":
                return Paired(dict(value))
            case _:
                pass
    except (TypeError, ValueError) as error:
        raise BadResponse(f"{data!r} is not a stored response") from error
    raise BadResponse(f"{kind!r} is not a kind of response")


@dataclass(frozen=True, slots=True)
class Grade:
    """`credit` is 0..1 of the question's points; `feedback` is what the author says to this very answer."""

    verdict: Verdict
    credit: float
    feedback: tuple[Text, ...] = field(default=())


def verdict_of(credit: float) -> Verdict:
    if credit >= 1 - 1e-9:
        return Verdict.RIGHT
    return Verdict.PARTLY if credit > 1e-9 else Verdict.WRONG


def grade(question: Question, response: Response, language: str) -> Grade:
    """Grade one response; raises BadResponse when it cannot belong to this question (unknown id, wrong kind, too many)."""
    match question.body, response:
        case Choices() as body, Selected(ids):
            return _grade_choices(body, ids)
        case TrueFalse(answer=answer, feedback=feedback), Selected(ids=("true" | "false",)) as selected:
            value = selected.ids == (TRUE,)
            credit = float(value == answer)
            return Grade(verdict_of(credit), credit, (feedback[value],) if value in feedback else ())
        case Short(accept=accept, blanks=()), Written(text):
            return _grade_written(accept, text, language)
        case Short(blanks=blanks), Filled(filled) if blanks:
            return _grade_blanks(blanks, filled, language)
        case Order(items=items, scoring=scoring), Arranged(ids):
            return _grade_order(tuple(item.id for item in items), ids, scoring)
        case Match() as body, Paired(pairs):
            return _grade_match(body, pairs)
        case Open(), Written():
            return Grade(Verdict.UNGRADED, 0.0)
        case Info(), _:
            return Grade(Verdict.UNGRADED, 0.0)
        case _:
            raise BadResponse(f"a {type(response).__name__} cannot answer the {question.type} question {question.id!r}")


def _by_id(choices: Iterable[Choice], ids: tuple[str, ...]) -> list[Choice]:
    known = {choice.id: choice for choice in choices}
    if unknown := [choice_id for choice_id in ids if choice_id not in known]:
        raise BadResponse(f"there is no choice {unknown[0]!r}")
    if len(set(ids)) != len(ids):
        raise BadResponse("a choice was given twice")
    return [known[choice_id] for choice_id in ids]


def _grade_choices(body: Choices, ids: tuple[str, ...]) -> Grade:
    chosen = _by_id(body.choices, ids)
    most = (body.most or len(body.choices)) if body.many else 1
    if not 1 <= len(chosen) <= most:
        raise BadResponse(f"choose 1 to {most}, not {len(chosen)}")
    feedback = tuple(choice.feedback for choice in chosen if choice.feedback)
    if not body.many:
        credit = min(1.0, max(0.0, chosen[0].credit))
    elif body.scoring is Scoring.PER_CHOICE:
        keys = sum(1 for choice in body.choices if choice.correct) or 1
        # a key is worth its share of the whole; a distractor costs one share unless the author gave it a credit
        gained = sum(1 / keys if choice.correct else (choice.credit or -1 / keys) for choice in chosen)
        credit = min(1.0, max(0.0, gained))
    else:
        credit = float({choice.id for choice in chosen} == {choice.id for choice in body.choices if choice.correct})
    return Grade(verdict_of(credit), credit, feedback)


def _grade_written(accept: tuple[Accept, ...], text: str, language: str) -> Grade:
    entry = matching(accept, text, language)
    if entry is None:
        return Grade(Verdict.WRONG, 0.0)
    credit = min(1.0, max(0.0, entry.credit))
    return Grade(verdict_of(credit), credit, (entry.feedback,) if entry.feedback else ())


def _grade_blanks(blanks: tuple[Blank, ...], filled: Mapping[str, str], language: str) -> Grade:
    if unknown := set(filled) - {blank.id for blank in blanks}:
        raise BadResponse(f"there is no blank {min(unknown)!r}")
    credits: list[float] = []
    feedback: list[Text] = []
    for blank in blanks:
        given = filled.get(blank.id, "")
        if blank.choices:
            part = _grade_choices(Choices(blank.choices), (given,)) if given else Grade(Verdict.WRONG, 0.0)
        else:
            part = _grade_written(blank.accept, given, language)
        credits.append(part.credit)
        feedback += part.feedback
    credit = sum(credits) / len(credits)
    return Grade(verdict_of(credit), credit, tuple(feedback))


def _grade_order(right: tuple[str, ...], given: tuple[str, ...], scoring: Scoring) -> Grade:
    if sorted(given) != sorted(right):
        raise BadResponse("every item belongs in the order exactly once")
    if scoring is Scoring.ADJACENT and len(right) > 1:
        wanted = set(itertools.pairwise(right))
        kept = sum(pair in wanted for pair in itertools.pairwise(given))
        credit = kept / len(wanted)
    elif scoring is Scoring.PER_CHOICE:
        credit = sum(a == b for a, b in zip(right, given, strict=True)) / len(right)
    else:
        credit = float(right == given)
    return Grade(verdict_of(credit), credit)


def _grade_match(body: Match, pairs: Mapping[str, str]) -> Grade:
    lefts = {pair.id: pair for pair in body.pairs}
    rights = {pair.id: pair.right for pair in body.pairs} | {item.id: item.text for item in body.distractors}
    if unknown := (set(pairs) - set(lefts)) | (set(pairs.values()) - set(rights)):
        raise BadResponse(f"there is nothing called {min(unknown)!r} to match")
    # two pairs may share one right text ("TCP"): what was chosen counts by its text, not by its id
    hits = sum(left in pairs and rights[pairs[left]] == pair.right for left, pair in lefts.items())
    credit = hits / len(lefts) if body.scoring is Scoring.PER_CHOICE else float(hits == len(lefts))
    return Grade(verdict_of(credit), credit)


# Typed answers ------------------------------------------------------------------------------------------------------

_QUOTES: Final = "\"'`“”‘’«»„「」『』"
_END: Final = ".!?;,。！？；，、"


def normalised(text: str, *, case: bool = False) -> str:
    """NFKC, one space between words, outer quotes and final punctuation gone; case folded unless it matters."""
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    text = text.rstrip(_END).strip(_QUOTES + " ")
    return text if case else unicodedata.normalize("NFC", text.casefold())


def matching(accept: tuple[Accept, ...], text: str, language: str) -> Accept | None:
    """The first entry that this text satisfies. Entries for another language are passed over."""
    if not text.strip():
        return None
    base = language.partition("-")[0]
    usable = (entry for entry in accept if entry.language is None or entry.language.partition("-")[0] == base)
    return next((entry for entry in usable if _satisfies(entry, text)), None)


def _satisfies(entry: Accept, text: str) -> bool:
    if entry.regex is not None:
        return expressions.matches(entry.regex, normalised(text, case=True), case=entry.case)
    if entry.text is not None:
        return normalised(text, case=entry.case) == normalised(entry.text, case=entry.case)
    quantity = quantities.parsed(normalised(text, case=True))
    value = quantities.converted(quantity, entry.unit) if quantity else None
    if value is None:
        return False
    if entry.span is not None:
        return entry.span[0] <= value <= entry.span[1]
    assert entry.number is not None, "the loader gives each entry one of text, number, span, regex"
    slack = abs(entry.number) * entry.tolerance if entry.relative else entry.tolerance
    return abs(value - entry.number) <= slack + 1e-9 * max(1.0, abs(entry.number))


def right_answer(question: Question, language: str) -> tuple[str, ...]:
    """What counts as right, as lines to show after the reveal; empty for open and info."""
    match question.body:
        case Choices(choices=choices):
            return tuple(choice.text[language] for choice in choices if choice.correct)
        case TrueFalse(answer=answer):
            return (TRUE if answer else FALSE,)
        case Short(reveal=reveal, accept=accept, blanks=blanks):
            if reveal:
                return (reveal[language],)
            if blanks:
                return tuple(", ".join(_blank_answer(blank, language)) for blank in blanks)
            return _accepted(accept)[:1]
        case Order(items=items):
            return tuple(item.text[language] for item in items)
        case Match(pairs=pairs):
            return tuple(f"{pair.left[language]} → {pair.right[language]}" for pair in pairs)
        case Open(reference=reference):
            return (reference[language],) if reference else ()
        case Info():
            return ()


def _blank_answer(blank: Blank, language: str) -> tuple[str, ...]:
    return tuple(choice.text[language] for choice in blank.choices if choice.correct) or _accepted(blank.accept)[:1]


def _accepted(accept: tuple[Accept, ...]) -> tuple[str, ...]:
    shown: list[str] = []
    for entry in accept:
        if entry.credit < 1 or entry.regex is not None:
            continue
        if entry.text is not None:
            text = entry.text
        elif entry.number is not None:
            text = f"{entry.number:g}"
        else:
            assert entry.span is not None
            text = f"{entry.span[0]:g}–{entry.span[1]:g}"
        shown.append(f"{text} {entry.unit}" if entry.unit and entry.text is None else text)
    return tuple(shown)
