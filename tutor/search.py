"""What a text puts into the full-text index, what a question asks of it, and what is found.

FTS5's own tokenizer glues runs of Chinese and Korean together and knows no Greek or Russian endings, so words are cut in
`content.words`. A question never reaches FTS5 as typed: only quoted terms, joined by OR.
"""

from __future__ import annotations

from dataclasses import dataclass

from content.model import Guide, Section
from content.words import terms, words

Key = tuple[str, str, str]
"""Guide id, language, section id."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A section found. `coverage` is the share of the question's information (idf-weighted terms) that it has, 0..1."""

    guide: Guide
    section: Section
    coverage: float = 0.0
    cosine: float | None = None  # of the question and the nearest piece; None without embeddings
    nearest: str = ""  # the sentence of the section that is nearest in meaning; "" without embeddings
    certain: bool = False  # it was named (a quiz question's evidence), not found

    @property
    def key(self) -> Key:
        return self.guide.id, self.guide.language, self.section.id


def indexed(text: str) -> str:
    """What is stored in the index for this text."""
    return " ".join(words(text))


def match_expression(question: str) -> str | None:
    """An FTS5 MATCH expression for this question, or None when no word of it carries meaning."""
    quoted = ['"' + term.replace('"', '""') + '"' for term in terms(question)]
    return " OR ".join(quoted) or None
