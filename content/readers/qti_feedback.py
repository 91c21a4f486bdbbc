"""What a QTI item says to every right and to every wrong answer, given to the answers that have no word of their own."""

from __future__ import annotations

from dataclasses import replace

from content.model import Body, Choices, Short, Text, TrueFalse


def with_general_feedback(body: Body, right: Text | None, wrong: Text | None) -> Body:
    """Only where one answer is chosen or typed: a set of choices has no feedback of its own."""
    match body:
        case Choices(choices=choices, many=False):
            return replace(body, choices=tuple(replace(c, feedback=c.feedback or (right if c.correct else wrong)) for c in choices))
        case TrueFalse(answer=answer, feedback=feedback):
            general = {value: text for value, text in ((answer, right), (not answer, wrong)) if text}
            return TrueFalse(answer, general | dict(feedback))
        case Short(accept=accept):
            return replace(body, accept=tuple(replace(a, feedback=a.feedback or (right if a.credit >= 1 else None)) for a in accept))
        case _:
            return body
