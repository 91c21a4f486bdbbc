"""Discord's limits on what content may hold. Lengths are characters, as the Discord documentation counts them.

The numbers and their pages are in LIMITS; other parts of the program have their own, for what they send themselves.
"""

from __future__ import annotations

from typing import Final

from content.findings import Findings
from content.lint_items import read_before_answering, written
from content.model import NEUTRAL, Choices, Guide, Match, Open, Order, Question, Quiz, Text, TrueFalse

LIMITS: Final = {
    # name: (characters or entries, page of the Discord developer documentation)
    "button label": (80, "components/reference, Button"),
    "select option": (100, "components/reference, String Select"),
    "select options": (25, "components/reference, String Select"),
    "embed title": (256, "resources/message, Embed Limits"),
    "embed description": (4_096, "resources/message, Embed Limits"),
    "embed field": (1_024, "resources/message, Embed Limits"),
    "name": (100, "interactions/application-commands, choice name; resources/channel, thread name"),
}
_LETTER: Final = 6  # "**A** " or its like before each choice

BUTTON: Final = LIMITS["button label"][0]
SELECT: Final = LIMITS["select option"][0]
OPTIONS: Final = LIMITS["select options"][0]
TITLE: Final = LIMITS["embed title"][0]
DESCRIPTION: Final = LIMITS["embed description"][0]
FIELD: Final = LIMITS["embed field"][0]
NAME: Final = LIMITS["name"][0]


def lint_quiz_limits(quiz: Quiz, findings: Findings) -> None:
    length = _longest(quiz.title)
    if length > TITLE:
        findings.quiz(quiz, "LIMIT-TITLE", f"The title has {length} characters.", f"Use at most {TITLE}.", "title")
    elif length > NAME:
        findings.quiz(quiz, "LIMIT-NAME", f"The title has {length} characters.", f"{NAME} are shown in suggestions.", "title")
    for question in quiz.questions:
        _question(quiz, question, findings)


def lint_guide_limits(guide: Guide, findings: Findings) -> None:
    length = len(guide.title)
    if length > TITLE:
        findings.guide(guide, "LIMIT-TITLE", f"The title has {length} characters.", f"Use at most {TITLE}.", key="title")
    elif length > NAME:
        findings.guide(guide, "LIMIT-NAME", f"The title has {length} characters.", f"{NAME} are shown in suggestions.", key="title")
    for section in guide.sections:
        if len(section.heading) > TITLE:
            what = f"The heading has {len(section.heading)} characters."
            findings.guide(guide, "LIMIT-TITLE", what, f"Use at most {TITLE}.", section=section)


def _longest(text: Text) -> int:
    values = text.by_language.values()
    return len(next(iter(values))) if len(values) == 1 else max(map(len, values))


def _question(quiz: Quiz, question: Question, findings: Findings) -> None:
    body = question.body
    if question.title is not None and _longest(question.title) > TITLE:
        what = f"the title has {_longest(question.title)} characters."
        findings.question(quiz, question, "LIMIT-TITLE", what, f"Use at most {TITLE}.", ("title",))
    if isinstance(body, Choices):
        wide = [(choice.id, length) for choice in body.choices if (length := _longest(choice.text)) > BUTTON]
        if wide:
            letters = "Nothing to do if letters are fine; otherwise shorten it."
            for name, length in wide:
                code, limit = ("LIMIT-SELECT", SELECT) if length > SELECT else ("LIMIT-BUTTON", BUTTON)
                what = f"choice {name!r} has {length} characters, over {limit}: letters are shown instead."
                findings.question(quiz, question, code, what, letters, ("choices", name, "text"))
        _many(quiz, question, len(body.choices), "choices", findings)
    elif isinstance(body, Order):
        _many(quiz, question, len(body.items), "items", findings)
    elif isinstance(body, Match):
        _many(quiz, question, len(body.pairs) + len(body.distractors), "pairs", findings)
    elif isinstance(body, Open):
        _many(quiz, question, len(body.rubric), "rubric", findings)
    _embed(quiz, question, findings)
    _fields(quiz, question, findings)


def _many(quiz: Quiz, question: Question, count: int, key: str, findings: Findings) -> None:
    if count > OPTIONS:
        what = f"there are {count} {'rubric points' if key == 'rubric' else key}, a select menu holds {OPTIONS}."
        findings.question(quiz, question, "LIMIT-CHOICES", what, "Split the question.", (key,))


def _embed(quiz: Quiz, question: Question, findings: Findings) -> None:
    texts = list(read_before_answering(question))
    if sum(_longest(text) for text in texts) + _LETTER * len(texts) <= DESCRIPTION:
        return
    for language in dict.fromkeys((*quiz.languages, *question.stem.by_language)):
        length = sum(len(written(text, language) or "") for text in texts) + _LETTER * (len(texts) - 1)
        if length > DESCRIPTION:
            where = f" ({language})" if language != NEUTRAL else ""
            what = f"stem and choices have {length:,} characters{where}, an embed holds {DESCRIPTION:,}."
            findings.question(quiz, question, "LIMIT-EMBED", what, "Shorten it, or move code to the guide.", ("stem",), language)
            return


def _fields(quiz: Quiz, question: Question, findings: Findings) -> None:
    body = question.body
    texts: list[tuple[str, tuple[str, ...], Text]] = []
    if question.explanation is not None:
        texts.append(("explanation", ("explanation",), question.explanation))
    texts += [(f"hint {at + 1}", ("hints", str(at)), hint) for at, hint in enumerate(question.hints)]
    if isinstance(body, Choices):
        texts += [
            (f"feedback of {choice.id!r}", ("choices", choice.id, "feedback"), choice.feedback)
            for choice in body.choices
            if choice.feedback
        ]
    elif isinstance(body, TrueFalse):
        texts += [(f"feedback for {key}".lower(), ("feedback", str(key).lower()), text) for key, text in body.feedback.items()]
    elif isinstance(body, Open):
        texts += [(f"probe {at + 1}", ("probes", str(at)), probe) for at, probe in enumerate(body.probes)]
        if body.reference is not None and (length := _longest(body.reference)) > DESCRIPTION:
            what = f"the reference has {length:,} characters."
            findings.question(quiz, question, "LIMIT-PAGES", what, f"Shorten it to {DESCRIPTION:,} for one page.", ("reference",))
    for name, steps, text in texts:
        length = _longest(text)
        if length > FIELD:
            what = f"the {name} has {length:,} characters, over {FIELD:,}."
            findings.question(quiz, question, "LIMIT-FIELD", what, "Shorten it if it should stand beside others.", steps)
