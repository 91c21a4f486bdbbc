"""Red-DiscordBot trivia lists: questions that are answered by typing. Everything is quoted, so YAML changes nothing."""

from __future__ import annotations

import json
import re

from content.model import Question, Quiz, Short
from content.readers.base import number_text
from content.writers.base import Export, Losses, with_addresses

_RESERVED = frozenset(("AUTHOR", "DESCRIPTION", "CONFIG", "$schema"))
_SIMPLE_KEY = 900  # characters; YAML allows a key without '?' up to 1,024


class RedTriviaWriter:
    name = "red"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        lines: list[str] = []
        if quiz.source is not None and quiz.source.author:
            lines.append(f"AUTHOR: {_quoted(quiz.source.author)}")
        if description := losses.text(quiz.description):
            lines.append(f"DESCRIPTION: {_quoted(description)}")
        limits = {question.time_limit_s for question in quiz.questions}
        delay = limits.pop() if len(limits) == 1 else None
        if delay is not None and delay >= 4:
            lines += ["CONFIG:", f"  delay: {delay}"]
        seen: set[str] = set()
        for question in quiz.questions:
            lines += _entry(question, losses, seen, delay is not None)
        return losses.export("\n".join(lines) + "\n", "yaml")


def _quoted(text: str) -> str:
    """A double-quoted YAML scalar; JSON's escapes are a part of YAML's."""
    return re.sub(
        r"[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]", lambda found: f"\\u{ord(found.group()):04x}", json.dumps(text, ensure_ascii=False)
    )


def _entry(question: Question, losses: Losses, seen: set[str], keeps_time: bool) -> list[str]:
    body = question.body
    if not isinstance(body, Short) or body.blanks:
        losses.left_out(
            question, f"Red's lists hold typed answers; this is {'a text with gaps' if isinstance(body, Short) else question.type}."
        )
        return []
    stem = with_addresses(losses.text(question.stem), question.media).strip()
    stem = re.sub(r"!\[[^\]]*\]\((https?://[^\s)]+)\)", r"\1", stem)  # Discord shows the picture of a bare address
    if stem in seen or stem in _RESERVED:
        losses.left_out(question, "another question, or a setting, has the same text, which is the key in Red's lists.")
        return []
    answers: dict[str, str] = {}
    partial = 0
    for entry in body.accept:
        text = entry.text if entry.text is not None else number_text(entry.number) if entry.number is not None else None
        if entry.credit < 1:
            partial += 1
        elif text is None or not text.strip():
            losses.changed(question, "RED-ANSWER", "a range or an expression among the accepted answers was left out.")
        else:
            if entry.tolerance:
                losses.changed(question, "RED-TOLERANCE", f"Red compares exactly: the tolerance around {text} is lost.")
            answers.setdefault(text.strip().casefold(), text.strip())
    if not answers:
        losses.left_out(question, "none of its accepted answers is a text or a number.")
        return []
    seen.add(stem)
    losses.written += 1
    more = (f"{partial} answers with partial or no credit" if partial else "", "answer to reveal" if body.reveal is not None else "")
    losses.dropped(question, frozenset(("media", "time_limit")) if keeps_time else frozenset(("media",)), *more)
    key = _quoted(stem)
    head = f"{key}:" if len(key) < _SIMPLE_KEY else f"? {key}\n:"
    return [head, *(f"- {_quoted(answer)}" for answer in answers.values())]
