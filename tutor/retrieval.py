"""Which sections may answer a question: words (FTS5) and, where they are installed, meanings (embeddings), fused by rank.

The scope is the topic at hand; other guides are searched only when it has nothing. Retrieval refuses nothing: it says how
sure it is (`coverage`, `cosine`), and `tutor.gate` decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from content import words
from content.model import Guide, GuideRef, Library, preference
from tutor import orders
from tutor.search import Hit, Key
from tutor.store.index import SectionIndex
from tutor.store.vectors import Near, VectorIndex

FUSION: Final = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
POOL: Final = 12  # hits taken from each side
STEM_LEAST: Final = 12
"""Letters from which a stem is looked for inside a longer question; a shorter one ("True?") must be all of it."""


class Retriever:
    """`vectors` None, or not built yet, means: words alone."""

    def __init__(self, library: Library, vectors: VectorIndex | None = None) -> None:
        self._library = library
        self._words = SectionIndex([guide for variants in library.guides.values() for guide in variants.values()])
        self.vectors = vectors
        self._stems = _stems(library)

    def close(self) -> None:
        self._words.close()

    def scope(self, guide_id: str | None, language: str) -> list[Guide]:
        """One guide, or all of them, each in the language asked or in the nearest there is."""
        ids = [guide_id] if guide_id else list(self._library.guides)
        keys = [(self._library.guides[key], preference(language, self._library.guides[key])) for key in ids]
        return [variants[key] for variants, key in keys if key is not None]

    async def find(self, question: str, guides: Sequence[Guide], *, limit: int) -> list[Hit]:
        """The best sections for the question, all of one guide, the best first; orders to a model in it are not searched for."""
        question = orders.parted(question)[0] or question
        matched = {hit.key: hit for hit in self._words.search(question, guides, limit=POOL)}
        vectors = self.vectors
        near: Mapping[Key, Near] = {}
        if vectors is not None and vectors.ready:
            near = await vectors.near(question, guides)
        nearest = list(near)[:POOL]
        scores: dict[Key, float] = {}
        for ranking in (matched, nearest):
            for rank, key in enumerate(ranking, start=1):
                scores[key] = scores.get(key, 0.0) + 1 / (FUSION + rank)
        hits: list[Hit] = []
        for key in sorted(scores, key=lambda key: -scores[key]):
            hit = matched.get(key) or self._hit(key)
            found = near.get(key)
            hits.append(replace(hit, cosine=found.cosine, nearest=found.sentence) if found else hit)
        return [hit for hit in hits if hit.guide is hits[0].guide][:limit]

    def named(self, refs: Sequence[GuideRef], language: str) -> list[Hit]:
        """The sections that these references name, where they exist."""
        hits: list[Hit] = []
        for ref in refs:
            guide = self._library.guide(ref.guide, language)
            section = guide.section(ref.section) if guide and ref.section else None
            if guide and section:
                hits.append(Hit(guide, section, coverage=1.0, certain=True))
        return hits

    def repeated(self, question: str, guides: Sequence[Guide]) -> tuple[GuideRef, ...]:
        """Where a text repeats a quiz question of one of these guides, in any language: the sections that its author named for it.

        A stem often names no subject ("Match each method with its idea."), so that neither words nor meaning would find them.
        """
        said = _plain(question)
        among = {guide.id for guide in guides}
        found = [
            refs
            for stem, refs in self._stems.items()
            if (stem == said or (len(stem) >= STEM_LEAST and f" {stem} " in f" {said} ")) and {ref.guide for ref in refs} <= among
        ]
        return found[0] if len(found) == 1 else ()

    def _hit(self, key: Key) -> Hit:
        guide = self._library.guides[key[0]][key[1]]
        section = guide.section(key[2])
        assert section is not None, "the vectors were made from this library"
        return Hit(guide, section)


def _plain(text: str) -> str:
    """The words of a text and nothing else, as two spellings of it are compared."""
    return " ".join(re.findall(r"\w+", words.folded(text)))


def _stems(library: Library) -> Mapping[str, tuple[GuideRef, ...]]:
    """Each stem of each quiz question, in each language -> the sections that answer it, those of two quizzes with one stem together."""
    found: dict[str, tuple[GuideRef, ...]] = {}
    for quiz in library.quizzes.values():
        for question in quiz.questions:
            section = quiz.section_of(question)
            refs = quiz.evidence_of(question) or ((section,) if section and section.section else ())
            for stem in question.stem:
                plain = _plain(stem)
                if refs:
                    found[plain] = tuple(dict.fromkeys((*found.get(plain, ()), *refs)))
    return found
