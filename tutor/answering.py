"""Follow-up questions: find sections, ask the engine, show only what the guide supports.

`Answering.ask` yields the reply as it grows: first with nothing but what was considered, then with each sentence that
passed the check, and last the complete one. A failing engine, a silent one and one that invents all end in a quote
from the guide or in a plain refusal, never in an exception and never in silence.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from content.model import Guide, GuideRef, Library, Question, Quiz, Section, preference
from engines.base import Engine, EngineError, Finish, Prompt
from tutor import grading, prompting, search
from tutor.errors import NotFound, Throttled
from tutor.grading import Response, Selected
from tutor.grounding import ClaimReader, verified, worth_adding
from tutor.prompting import Attempt, Evidence, Turn
from tutor.reply import Citation, Kind, Reason, Sentence, Timings, Tokens, TutorReply
from tutor.store.index import Hit, SectionIndex

CONSIDERED: Final = 3  # sections offered as most relevant
COVERAGE: Final = 0.34
"""Share of a question's information that one section must have; below it the guide does not cover the question."""
ELLIPTIC: Final = 2
"""A question with so few meaning words may be about the one before; a longer one that no section covers is simply not covered."""
DEADLINE_S: Final = 90.0
TURNS: Final = 2  # earlier questions that a follow-up may refer to
_MEMORY: Final = 2_000  # (learner, channel) pairs whose last turns are remembered, in memory only


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and where it came from. `refs` are sections that belong to it for sure (a quiz question's evidence)."""

    question: str
    language: str
    learner_id: int
    channel_id: int | None = None
    guide_id: str | None = None
    refs: tuple[GuideRef, ...] = ()
    attempt: Attempt | None = None
    searched: str | None = None  # what to search with, where that differs from the question


class Answering:
    def __init__(self, library: Library, engine: Engine, quoting: Engine, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`quoting` answers where `engine` cannot; the two may be one. `clock` gives seconds and is only used for timings."""
        self.engine = engine
        self._library = library
        self._quoting = quoting
        self._clock = clock
        self._index = SectionIndex([guide for variants in library.guides.values() for guide in variants.values()])
        self._turns: OrderedDict[tuple[int, int | None], list[Turn]] = OrderedDict()
        self._running: set[int] = set()
        self._warming: set[asyncio.Task[None]] = set()

    async def aclose(self) -> None:
        for task in self._warming:
            task.cancel()
        await asyncio.gather(*self._warming, return_exceptions=True)
        self._index.close()

    # Asking ---------------------------------------------------------------------------------------------------------

    async def ask(self, asked: Asked) -> AsyncGenerator[TutorReply, None]:
        """Yield the growing reply; the last one is `complete`. Raises NotFound for an unknown guide, Throttled when this
        learner's last question is still being answered."""
        if asked.guide_id is not None and asked.guide_id not in self._library.guides:
            raise NotFound("guide", asked.guide_id)
        if asked.learner_id in self._running:
            raise Throttled(5.0)
        self._running.add(asked.learner_id)
        try:
            last: TutorReply | None = None
            async with aclosing(self._reply(asked)) as replies:
                async for reply in replies:
                    last = reply
                    yield reply
            if last is not None and last.kind in (Kind.ANSWER, Kind.QUOTE):
                self._remember(asked, last)
        finally:
            self._running.discard(asked.learner_id)

    def why(self, quiz: Quiz, question: Question, response: Response, *, right: bool, language: str, learner_id: int) -> Asked:
        """The question behind the **Why?** button of a closed question."""
        key = "; ".join(grading.right_answer(question, language))
        explanation = question.explanation[language] if question.explanation else ""
        stem = question.stem[language]
        chosen = _shown(question, response, language)
        section = quiz.section_of(question)
        evidence = quiz.evidence_of(question) or ((section,) if section else ())
        return Asked(
            question=f'Why is "{key}" the right answer to "{stem}"?'[: prompting.MAX_QUESTION],
            language=language,
            learner_id=learner_id,
            guide_id=section.guide if section else None,
            refs=evidence,
            attempt=Attempt(stem, chosen, right),
            searched=f"{stem} {key} {explanation}",
        )

    async def _reply(self, asked: Asked) -> AsyncGenerator[TutorReply, None]:
        started = self._clock()
        hits = self._retrieve(asked)
        considered = tuple(Citation(hit.guide.id, hit.section.id, hit.guide.title, hit.section.heading, hit.guide.language) for hit in hits)
        blank = TutorReply(
            kind=Kind.ANSWER,
            language=hits[0].guide.language if hits else asked.language,
            considered=considered,
            timings=Timings(retrieval_s=self._clock() - started),
            complete=False,
        )
        if reason := _refused(asked, hits):
            yield self._finished(replace(blank, kind=Kind.REFUSAL, reason=reason, engine=self.engine.traits.name), started)
            return
        reason = self._cannot_write(asked, hits)
        if reason is None:
            written = blank
            async with aclosing(self._stream(self.engine, asked, hits, blank, started)) as replies:
                async for written in replies:
                    if written.sentences or not written.complete:
                        yield written
            if written.sentences:
                return
            if written.reason is Reason.NOT_COVERED:
                yield replace(written, kind=Kind.REFUSAL)
                return
            blank, reason = replace(blank, dropped=written.dropped), written.reason
        quoted = blank
        async with aclosing(self._stream(self._quoting, asked, hits, blank, started)) as replies:
            async for quoted in replies:
                if quoted.sentences or not quoted.complete:
                    yield replace(quoted, kind=Kind.QUOTE, reason=reason)
        if not quoted.sentences:
            yield replace(quoted, kind=Kind.REFUSAL, reason=Reason.NOT_COVERED)

    def _cannot_write(self, asked: Asked, hits: Sequence[Hit]) -> Reason | None:
        """Why the guide is quoted without even asking the engine."""
        traits = self.engine.traits
        if traits.model is None:
            return Reason.NO_MODEL
        base = asked.language.partition("-")[0]
        if traits.languages is not None and base not in traits.languages:
            return Reason.LANGUAGE
        # a sentence in one language cannot be checked, word by word, against a section in another
        return Reason.LANGUAGE if hits[0].guide.language.partition("-")[0] != base else None

    async def _stream(
        self, engine: Engine, asked: Asked, hits: Sequence[Hit], blank: TutorReply, started: float
    ) -> AsyncGenerator[TutorReply, None]:
        """The engine's checked sentences; ends with a complete reply whose `reason` says why it has none, where it has none."""
        traits = engine.traits
        guide = hits[0].guide
        sections = [hit.section for hit in hits if hit.guide is guide]
        evidence = prompting.evidence_for(guide, sections, traits)
        prompt = self._prompt(asked, evidence, sections, guide)
        reply = replace(blank, engine=traits.name)
        reader = ClaimReader()
        dropped = 0
        tokens = Tokens()

        def taken(piece: str | None) -> list[Sentence]:
            nonlocal dropped
            found: list[Sentence] = []
            for claim in reader.finish() if piece is None else reader.feed(piece):
                sentence = verified(claim, evidence, prompt.question)
                if sentence is None:
                    dropped += 1
                elif worth_adding(sentence, [*reply.sentences, *found]):
                    found.append(sentence)
            return found

        yield reply
        failed = quoted = False
        try:
            stream = engine.stream(prompt, max_tokens=traits.max_tokens, deadline_s=DEADLINE_S)
            async with aclosing(stream) as events:
                async for event in events:
                    if isinstance(event, Finish):
                        tokens = Tokens(event.prompt_tokens, event.cached_tokens, event.new_tokens)
                        quoted = event.quoted
                        break
                    if reply.timings.first_piece_s is None:
                        reply = replace(reply, timings=replace(reply.timings, first_piece_s=self._clock() - started))
                    if new := taken(event):
                        reply = self._grown(reply, new, started)
                        yield reply
        except EngineError:
            failed = True
        reply = self._grown(reply, taken(None), started)
        reply = replace(reply, dropped=dropped, tokens=tokens)
        if not reply.sentences:
            covered = not reader.not_in_guide or dropped > 0
            reason = Reason.ENGINE_FAILED if failed else Reason.UNVERIFIED if covered else Reason.NOT_COVERED
            reply = replace(reply, reason=reason)
        elif quoted and traits.model is not None:  # a stand-in answered, because the model was not ready for this guide
            reply = replace(reply, kind=Kind.QUOTE, reason=Reason.WARMING, engine=self._quoting.traits.name)
        elif failed:
            reply = replace(reply, reason=Reason.ENGINE_FAILED)  # what was checked before the failure still stands
        yield self._finished(reply, started)

    def _grown(self, reply: TutorReply, new: Sequence[Sentence], started: float) -> TutorReply:
        if not new:
            return reply
        first = reply.timings.first_sentence_s
        timings = replace(reply.timings, first_sentence_s=self._clock() - started if first is None else first)
        return replace(reply, sentences=(*reply.sentences, *new), timings=timings)

    def _finished(self, reply: TutorReply, started: float) -> TutorReply:
        return replace(reply, complete=True, timings=replace(reply.timings, total_s=self._clock() - started))

    # Finding --------------------------------------------------------------------------------------------------------

    def _retrieve(self, asked: Asked) -> list[Hit]:
        """The sections to answer from, all of one guide, the best first."""
        guides = self._scope(asked)
        found = self._search(asked, guides)
        sure = [Hit(guide, section, 0.0, 1.0) for ref in asked.refs for guide, section in self._sections(ref, asked.language)]
        if not found and not sure:
            return []
        guide = sure[0].guide if sure else found[0].guide
        known = {hit.section.id for hit in sure}
        rest = [hit for hit in found if hit.guide is guide and hit.section.id not in known]
        return [*sure, *rest][: max(CONSIDERED, len(sure))]

    def _search(self, asked: Asked, guides: Sequence[Guide]) -> list[Hit]:
        searched = asked.searched or asked.question
        hits = self._index.search(searched, guides, limit=CONSIDERED * 3)
        history = self._turns.get((asked.learner_id, asked.channel_id))
        elliptic = len(search.terms(searched)) <= ELLIPTIC and (not hits or hits[0].coverage < COVERAGE)
        if history and elliptic:  # "and on a T4?" means little without the question before
            hits = self._index.search(f"{history[-1].question} {searched}", guides, limit=CONSIDERED * 3) or hits
        return hits

    def _scope(self, asked: Asked) -> list[Guide]:
        """Guides to search, in the asker's language where there is one, the original beside it (an English term may only stand there)."""
        ids = [asked.guide_id] if asked.guide_id else list(self._library.guides)
        found: list[Guide] = []
        for guide_id in ids:
            variants = self._library.guides[guide_id]
            key = preference(asked.language, variants)
            if key is not None:
                found.append(variants[key])
        return found

    def _sections(self, ref: GuideRef, language: str) -> list[tuple[Guide, Section]]:
        guide = self._library.guide(ref.guide, language)
        section = guide.section(ref.section) if guide and ref.section else None
        return [(guide, section)] if guide and section else []

    def _prompt(self, asked: Asked, evidence: Sequence[Evidence], sections: Sequence[Section], guide: Guide) -> Prompt:
        tag_of = {item.section.id: item.tag for item in evidence}
        return prompting.prompt_for(
            asked.question,
            evidence,
            relevant=[tag_of[section.id] for section in sections if section.id in tag_of],
            language=guide.language if asked.language.partition("-")[0] != guide.language.partition("-")[0] else asked.language,
            history=self._turns.get((asked.learner_id, asked.channel_id), ()) if asked.attempt is None else (),
            attempt=asked.attempt,
        )

    def _remember(self, asked: Asked, reply: TutorReply) -> None:
        key = (asked.learner_id, asked.channel_id)
        turns = self._turns.pop(key, [])
        text = "\n".join(sentence.text for sentence in reply.sentences)
        self._turns[key] = [*turns, Turn(asked.question, text)][-TURNS:]
        while len(self._turns) > _MEMORY:
            self._turns.popitem(last=False)

    # Warming --------------------------------------------------------------------------------------------------------

    def warm(self, guide_id: str, language: str) -> None:
        """Begin to make the guide's prefix cheap; returns at once."""
        task = asyncio.create_task(self.warmed(guide_id, language), name=f"warm {guide_id}")
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def warmed(self, guide_id: str, language: str) -> None:
        """Make the guide's prefix cheap, where the engine has such a thing."""
        guide = self._library.guide(guide_id, language)
        traits = self.engine.traits
        if guide is None or not traits.whole_guide:
            return
        evidence = prompting.evidence_for(guide, guide.sections, traits)
        await self.engine.warm(prompting.prompt_for("", evidence, relevant=(), language=language))


def _refused(asked: Asked, hits: Sequence[Hit]) -> Reason | None:
    if not asked.question.strip() or not hits:
        return Reason.OFF_TOPIC
    return Reason.NOT_COVERED if max(hit.coverage for hit in hits) < COVERAGE else None


def _shown(question: Question, response: Response, language: str) -> tuple[str, ...]:
    """What the learner answered, in words."""
    match response:
        case Selected(ids) if hasattr(question.body, "choices"):
            texts = {choice.id: choice.text[language] for choice in getattr(question.body, "choices", ())}
            return tuple(texts.get(choice_id, choice_id) for choice_id in ids)
        case Selected(ids):
            return ids
        case grading.Written(text):
            return (text,)
        case _:
            return ()
