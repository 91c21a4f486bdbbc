"""The one object that a follow-up question ends in. Renderers see nothing else.

Whatever the engine wrote, only what `tutor.grounding` could tie to a guide section stands in `sentences`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    ANSWER = "answer"  # the model's words, each sentence checked against a section
    QUOTE = "quote"  # the guide's own words
    HINT = "hint"  # an authored hint, because the question is still open
    REFUSAL = "refusal"


class Reason(StrEnum):
    """Why a reply is not (or not only) a model's answer."""

    NOT_COVERED = "not_covered"  # no section answers this
    OFF_TOPIC = "off_topic"  # no section is even near it
    LOCKED = "locked"  # it asks for the key of an open question
    UNVERIFIED = "unverified"  # the model wrote, but nothing of it could be tied to the guide
    NO_MODEL = "no_model"  # there is no model: quoting is all there is
    ENGINE_FAILED = "engine_failed"  # the model failed or was too slow
    WARMING = "warming"  # the model has yet to read this guide
    LANGUAGE = "language"  # the model does not write the asker's language well enough


@dataclass(frozen=True, slots=True)
class Citation:
    """A guide section, with what a reader needs to see of it. `language` is the language of the text cited."""

    guide_id: str
    section_id: str
    guide_title: str
    heading: str
    language: str

    @property
    def key(self) -> str:
        return f"{self.guide_id}:{self.section_id}"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence (or one code block) and the sections it rests on, the best first."""

    text: str
    citations: tuple[Citation, ...]
    quoted: bool = False  # in an answer: the guide's own words, set beside the model's


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds since the question came in; None for what did not happen."""

    retrieval_s: float = 0.0
    first_piece_s: float | None = None
    first_sentence_s: float | None = None
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Tokens:
    prompt: int | None = None
    cached: int | None = None
    new: int | None = None


@dataclass(frozen=True, slots=True)
class TutorReply:
    kind: Kind
    language: str  # of the sentences
    sentences: tuple[Sentence, ...] = ()
    reason: Reason | None = None
    considered: tuple[Citation, ...] = ()  # what was retrieved, the best first; not what was used
    engine: str = ""
    timings: Timings = field(default_factory=Timings)
    tokens: Tokens = field(default_factory=Tokens)
    dropped: int = 0  # sentences of the model that no section supports
    complete: bool = True  # False while it still streams
    hint_rung: int | None = None  # 1-3, for hints

    @property
    def cited(self) -> tuple[Citation, ...]:
        """The sections used, each once, in order of use: citation [1] is the first."""
        return tuple(dict.fromkeys(citation for sentence in self.sentences for citation in sentence.citations))

    @property
    def text(self) -> str:
        """The sentences with their numbers, as plain text; the guide's own after "> "."""
        numbers = {citation: number for number, citation in enumerate(self.cited, start=1)}
        return "\n".join(
            ("> " if sentence.quoted else "") + sentence.text + "".join(f" [{numbers[citation]}]" for citation in sentence.citations)
            for sentence in self.sentences
        )
