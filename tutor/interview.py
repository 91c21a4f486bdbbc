"""The interview bank as values: which open questions there are, which one comes next, what a self-check adds up to.

Nothing here grades: a learner compares an answer with the reference and ticks the rubric points that it meets. No answer
is kept, so there is nothing to load or to save.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from content.model import Library, Open, Question, Quiz
from tutor.errors import NotFound

KEY_DIGITS: Final = 12
"""Hexadecimal digits that name a question in a button: a quiz and a question id of 64 characters each would not fit."""


@dataclass(frozen=True, slots=True)
class Posed:
    """An open question in its quiz. `number` and `total` count the open questions of that quiz, from 1."""

    quiz: Quiz
    question: Question
    body: Open
    number: int
    total: int

    @property
    def key(self) -> str:
        """The same for as long as the two ids are; KEY_DIGITS hexadecimal digits."""
        return hashlib.sha256(f"{self.quiz.id}:{self.question.id}".encode()).hexdigest()[:KEY_DIGITS]

    @property
    def possible(self) -> float:
        """The points of the whole rubric."""
        return sum(criterion.points for criterion in self.body.rubric)

    def reached(self, ticked: Collection[int]) -> float:
        """The points of the rubric points at these positions, from 0."""
        return sum(criterion.points for at, criterion in enumerate(self.body.rubric) if at in ticked)


@dataclass(frozen=True, slots=True)
class Bank:
    """Every open question of a library. `parts` are the quizzes that have any, in the library's order."""

    library: Library
    parts: tuple[Quiz, ...]
    by_key: Mapping[str, Posed]

    @classmethod
    def of(cls, library: Library) -> Bank:
        found: list[Posed] = []
        for quiz in library.quizzes.values():
            opened = [(question, question.body) for question in quiz.questions if isinstance(question.body, Open)]
            found += [Posed(quiz, question, body, at, len(opened)) for at, (question, body) in enumerate(opened, start=1)]
        parts = {posed.quiz.id: posed.quiz for posed in found}
        return cls(library, tuple(parts.values()), {posed.key: posed for posed in found})

    def posed(self, key: str) -> Posed:
        """Raises NotFound for a question that the library no longer has."""
        found = self.by_key.get(key)
        if found is None:
            raise NotFound("interview question", key)
        return found

    def drawn(self, part: str | None, *, but: str = "", rng: random.Random) -> Posed:
        """A question by chance, of one part (a quiz id) or of all; not the one with the key `but` unless it is the only one.

        Raises NotFound when there is no such part, or no open question at all.
        """
        there = [posed for posed in self.by_key.values() if part in (None, posed.quiz.id)]
        if not there:
            raise NotFound("quiz" if part is not None else "interview question", part or "")
        return rng.choice([posed for posed in there if posed.key != but] or there)
