"""Which sections may answer a question: words (FTS5) and, where they are installed, meanings (embeddings), fused by rank.

The scope is the topic at hand; other guides are searched only when it has nothing. Retrieval refuses nothing: it says how
sure it is (`coverage`, `cosine`), and `tutor.gate` decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from content.model import Guide, GuideRef, Library, preference
from tutor import orders
from tutor.search import Hit, Key
from tutor.store.index import SectionIndex
from tutor.store.vectors import Near, VectorIndex

FUSION: Final = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
POOL: Final = 12  # hits taken from each side


class Retriever:
    """`vectors` None, or not built yet, means: words alone."""

    def __init__(self, library: Library, vectors: VectorIndex | None = None) -> None:
        self._library = library
        self._words = SectionIndex([guide for variants in library.guides.values() for guide in variants.values()])
        self.vectors = vectors

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
            near = await asyncio.to_thread(vectors.search, question, guides)
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

    def _hit(self, key: Key) -> Hit:
        guide = self._library.guides[key[0]][key[1]]
        section = guide.section(key[2])
        assert section is not None, "the vectors were made from this library"
        return Hit(guide, section)
