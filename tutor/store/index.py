"""Full-text search over guide sections: FTS5 in memory, built from the library at start.

A guide library is at most some thousand sections, so building takes well under a second and nothing can go stale.
Ranking is bm25 with the heading counted double. Terms come from `tutor.search`, which also cut the text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from sqlite_utils import Database as Connection

from content import words
from content.model import Guide, Section
from tutor import search
from tutor.search import Hit
from tutor.store.database import rows, write


class SectionIndex:
    """Read-only after it is built; a search takes well under a millisecond, so it may run on the event loop."""

    def __init__(self, guides: Iterable[Guide]) -> None:
        self._sections: list[tuple[Guide, Section]] = [(guide, section) for guide in guides for section in guide.sections]
        self._words: list[frozenset[str]] = []
        connection = Connection(memory=True)
        write(connection, "CREATE VIRTUAL TABLE sections USING fts5 (heading, body, guide UNINDEXED, language UNINDEXED)")
        self._frequency: dict[str, Counter[str]] = {}
        for number, (guide, section) in enumerate(self._sections, start=1):
            heading = search.indexed(f"{section.heading} {guide.title if section.id == guide.sections[0].id else ''}")
            body = search.indexed(f"{section.summary} {section.body}")
            write(
                connection,
                "INSERT INTO sections (rowid, heading, body, guide, language) VALUES (?, ?, ?, ?, ?)",
                (number, heading, body, guide.id, guide.language),
            )
            there = frozenset(heading.split()) | frozenset(body.split())
            self._words.append(there)
            self._frequency.setdefault(guide.language, Counter()).update(there)
        self._count = Counter(guide.language for guide, _ in self._sections)
        self._connection = connection

    def search(self, question: str, guides: Sequence[Guide], *, limit: int) -> list[Hit]:
        """The best sections of these guides for the question, the best first; empty when no meaning word is found."""
        expression = search.match_expression(question)
        if expression is None or not guides:
            return []
        scope = {(guide.id, guide.language) for guide in guides}
        ranked = rows(
            self._connection,
            "SELECT rowid AS number FROM sections WHERE sections MATCH ? ORDER BY bm25(sections, 2.0, 1.0)",
            [expression],
        )
        hits: list[Hit] = []
        for row in ranked:
            number = int(row["number"]) - 1
            guide, section = self._sections[number]
            if (guide.id, guide.language) not in scope:
                continue
            hits.append(Hit(guide, section, self._coverage(question, guide.language, self._words[number])))
            if len(hits) == limit:
                break
        return hits

    def _coverage(self, question: str, language: str, there: frozenset[str]) -> float:
        weights = {term: self._idf(term, language) for term in words.terms(question)}
        total = sum(weights.values())
        return sum(weight for term, weight in weights.items() if term in there) / total if total else 0.0

    def _idf(self, term: str, language: str) -> float:
        return math.log((self._count[language] + 1) / (self._frequency[language][term] + 0.5))

    def close(self) -> None:
        self._connection.close()
