"""Aiken: single choice and true/false as plain text, one line for each part, at most 26 choices."""

from __future__ import annotations

from typing import Final

from content.model import Choices, Question, Quiz, TrueFalse
from content.readers.labels import answer_in, label_at
from content.writers.base import Export, Losses

MAX_CHOICES: Final = 26  # one letter each


class AikenWriter:
    name = "aiken"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        blocks = [block for question in quiz.questions if (block := _block(question, losses)) is not None]
        losses.written = len(blocks)
        return losses.export("\n\n".join(blocks) + "\n", "aiken.txt")


def _block(question: Question, losses: Losses) -> str | None:
    body = question.body
    if isinstance(body, TrueFalse):
        texts, key = ["True", "False"], 0 if body.answer else 1
    elif isinstance(body, Choices) and not body.many:
        texts = [losses.plain(choice.text, question) for choice in body.choices]
        keys = [i for i, choice in enumerate(body.choices) if choice.correct]
        key = keys[0] if keys else -1
        if len(keys) != 1:
            losses.left_out(question, f"Aiken names one right answer; this question has {len(keys)}.")
            return None
        if any(0 < choice.credit < 1 or choice.credit < 0 for choice in body.choices):
            losses.changed(question, "AIKEN-CREDIT", "partial credit is lost: only the key earns points.")
    else:
        losses.left_out(question, f"Aiken holds single choice; this is {question.type}.")
        return None
    if len(texts) > MAX_CHOICES:
        losses.left_out(question, f"{len(texts)} choices; Aiken has letters for {MAX_CHOICES}.")
        return None
    stem = losses.plain(question.stem, question)
    if not stem or not all(texts):
        losses.left_out(question, "without markup and pictures nothing of a text is left.")
        return None
    if answer_in(stem) is not None or (label_at(stem) is not None and not stem[:1].isdecimal()):
        stem = f"» {stem}"
        losses.changed(question, "AIKEN-STEM", "the stem looks like a choice or an answer line; a mark was put before it.")
    elif losses.text(question.stem).strip() != stem:
        losses.changed(question, "PLAIN-TEXT", "markup and line ends of the stem were flattened.")
    losses.dropped(question, frozenset())
    lines = [f"{chr(65 + i)}. {text}" for i, text in enumerate(texts)]
    return "\n".join([stem, *lines, f"ANSWER: {chr(65 + key)}"])
