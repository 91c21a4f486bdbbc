"""Follow-up questions: find sections, ask the engine, show only what the guide supports.

`Answering.ask` yields the reply as it grows: first with nothing but what was considered, then with each sentence that
passed the check, and last the complete one. A failing engine, a silent one and one that invents all end in a quote
from the guide or in a plain refusal, never in an exception and never in silence.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final

from content import words
from content.model import Guide, GuideRef, Library, Question, Quiz
from engines.base import Engine, EngineError, Finish, Prompt
from tutor import gate, grading, prompting
from tutor.errors import NotFound, Throttled
from tutor.gate import Lock
from tutor.grading import Response, Selected
from tutor.grounding import ClaimReader, says_already, verified, worth_adding
from tutor.prompting import Attempt, Evidence, Turn
from tutor.reply import Citation, Kind, Reason, Sentence, Timings, Tokens, TutorReply
from tutor.retrieval import Retriever
from tutor.search import Hit

log = logging.getLogger(__name__)

CONSIDERED: Final = 3  # sections offered as most relevant
ELLIPTIC: Final = 2
"""A question with so few meaning words may be about the one before; a longer one that no section covers is simply not covered."""
DEADLINE_S: Final = 90.0
GRACE_S: Final = 5.0  # past its deadline, until an engine that does not keep it is left
PER_MINUTE: Final = 6  # questions of one learner
AT_ONCE: Final = 3  # of one learner: one running, two waiting
SEARCHED_AT_ONCE: Final = 8  # enough for the embedding models, few enough that the loop gets to others when a whole class asks
TURNS: Final = 2  # earlier questions that a follow-up may refer to
REMEMBERED: Final = 2_000  # learners whose last turns and hint rungs are kept, in memory only


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and where it came from.

    `refs` are sections that belong to it for sure (a quiz question's evidence); `locks` are questions that are still open for the asker.
    """

    question: str
    language: str
    learner_id: int
    channel_id: int | None = None
    guide_id: str | None = None
    refs: tuple[GuideRef, ...] = ()
    attempt: Attempt | None = None
    searched: str | None = None  # what to search with, where that differs from the question
    locks: tuple[Lock, ...] = ()


@dataclass(slots=True)
class _Line:
    """One learner's questions, waiting for their turn."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    asked_at: deque[float] = field(default_factory=lambda: deque[float](maxlen=PER_MINUTE))

    def enter(self, now: float) -> None:
        if self.waiting >= AT_ONCE:
            raise Throttled(5.0)
        if len(self.asked_at) == PER_MINUTE and now - self.asked_at[0] < 60.0:
            raise Throttled(60.0 - (now - self.asked_at[0]))
        self.asked_at.append(now)
        self.waiting += 1


class Answering:
    def __init__(
        self, library: Library, retriever: Retriever, engine: Engine, quoting: Engine, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`quoting` answers where `engine` cannot; the two may be one. `clock` gives seconds and is only used for timings."""
        self.engine = engine
        self._library = library
        self._retriever = retriever
        self._quoting = quoting
        self._clock = clock
        self._turns: OrderedDict[tuple[int, int | None], list[Turn]] = OrderedDict()
        self._rungs: OrderedDict[tuple[int, str, str], int] = OrderedDict()
        self._lines: dict[int, _Line] = {}
        self._searching = asyncio.Semaphore(SEARCHED_AT_ONCE)
        self._positions: dict[int, int] = {}
        self._warming: set[asyncio.Task[None]] = set()

    async def aclose(self) -> None:
        for task in self._warming:
            task.cancel()
        await asyncio.gather(*self._warming, return_exceptions=True)
        self._retriever.close()

    # Asking ---------------------------------------------------------------------------------------------------------

    async def ask(self, asked: Asked) -> AsyncGenerator[TutorReply, None]:
        """Yield the growing reply; the last one is `complete`. Closing it early stops the engine.

        One learner's questions are answered one after another. Raises NotFound for an unknown guide, Throttled for a learner who asks
        more than agreed.
        """
        if asked.guide_id is not None and asked.guide_id not in self._library.guides:
            raise NotFound("guide", asked.guide_id)
        line = self._lines.setdefault(asked.learner_id, _Line())
        line.enter(self._clock())
        try:
            async with line.turn:
                last: TutorReply | None = None
                async with aclosing(self._reply(asked)) as replies:
                    async for reply in replies:
                        last = reply
                        yield reply
                if last is not None and last.kind in (Kind.ANSWER, Kind.QUOTE):
                    self._remember(asked, last)
        finally:
            line.waiting -= 1
            self._positions.pop(asked.learner_id, None)
            if len(self._lines) > REMEMBERED:
                self._lines = {learner: kept for learner, kept in self._lines.items() if kept.waiting}

    def moved(self, learner_id: int, position: int) -> None:
        """The engine's queue says how many turns away this learner's question is: 1 is next."""
        self._positions[learner_id] = position

    def position(self, learner_id: int) -> int | None:
        """How many turns away this learner's waiting question is; None when it is not waiting."""
        return self._positions.get(learner_id)

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
        async with self._searching:
            hits = await self._retrieve(asked)
        blank = TutorReply(
            kind=Kind.ANSWER,
            language=hits[0].guide.language if hits else asked.language,
            considered=tuple(cited(hit) for hit in hits),
            engine=self.engine.traits.name,
            timings=Timings(retrieval_s=self._clock() - started),
            complete=False,
        )
        lock = gate.locked_by(asked.question, hits, asked.locks)
        if lock is not None:
            hint = self.hint(lock, asked.learner_id, asked.language)
            yield self._finished(replace(hint, timings=blank.timings), started)
            return
        free = gate.unlocked(hits, asked.locks)
        reason = gate.refused(asked.searched or asked.question, free)
        if reason and len(free) < len(hits):
            reason = Reason.LOCKED
        if reason is Reason.NOT_COVERED and self._measured(asked) is not None and self._cannot_write(asked, free) is None:
            replies = self._second_opinion(asked, free, blank, started)
        elif reason:
            considered = tuple(cited(hit) for hit in free)
            yield self._finished(replace(blank, kind=Kind.REFUSAL, reason=reason, considered=considered), started)
            return
        else:
            replies = self._written_or_quoted(asked, free, blank, started)
        async with aclosing(replies):
            async for reply in replies:
                yield reply

    async def _second_opinion(
        self, asked: Asked, hits: Sequence[Hit], blank: TutorReply, started: float
    ) -> AsyncGenerator[TutorReply, None]:
        """Search finds the question covered by no section: only a model that is sure of the contrary may answer, and nothing is quoted."""
        least = gate.yes_needed(self._measured(asked), hits, doubtful=True)
        written = blank
        async with aclosing(self._stream(self.engine, asked, hits, blank, started, least)) as replies:
            async for written in replies:
                if not written.complete and not written.sentences:
                    yield written
        if written.kind is Kind.ANSWER and written.sentences:
            yield written
        else:
            yield replace(written, kind=Kind.REFUSAL, reason=Reason.NOT_COVERED, sentences=())

    async def _written_or_quoted(
        self, asked: Asked, hits: Sequence[Hit], blank: TutorReply, started: float
    ) -> AsyncGenerator[TutorReply, None]:
        """The engine's checked sentences, or else the guide's own."""
        reason = self._cannot_write(asked, hits)
        if reason is None:
            least = gate.yes_needed(self._measured(asked), hits, doubtful=False)
            written = blank
            async with aclosing(self._stream(self.engine, asked, hits, blank, started, least)) as replies:
                async for written in replies:
                    if written.complete and written.kind is Kind.ANSWER and written.sentences:
                        written = await self._with_the_guides_words(asked, hits, written)
                    if written.sentences or not written.complete:
                        yield written
            if written.sentences:
                return
            if written.reason is Reason.NOT_COVERED and not gate.surely_covered(hits):
                yield replace(written, kind=Kind.REFUSAL)
                return
            reason = Reason.UNVERIFIED if written.reason is Reason.NOT_COVERED else written.reason
            blank = replace(blank, dropped=written.dropped)
        quoted = blank
        async with aclosing(self._stream(self._quoting, asked, hits, blank, started)) as replies:
            async for quoted in replies:
                if quoted.sentences or not quoted.complete:
                    yield replace(quoted, kind=Kind.QUOTE, reason=reason)
        if not quoted.sentences:
            yield replace(quoted, kind=Kind.REFUSAL, reason=Reason.LOCKED if asked.locks else Reason.NOT_COVERED)

    async def _with_the_guides_words(self, asked: Asked, hits: Sequence[Hit], reply: TutorReply) -> TutorReply:
        """A model's answer with the sentence of the guide that fits the question best, unless the answer says it already.

        A check of words cannot tell that a model took the wrong one of two figures; who reads the guide's own sentence beside it can.
        """
        best: tuple[Sentence, ...] = ()
        async with aclosing(self._stream(self._quoting, asked, hits, replace(reply, sentences=()), self._clock())) as replies:
            async for quoted in replies:
                best = quoted.sentences[:1]
        if not best or says_already(reply.sentences, best[0].text):
            return reply
        return replace(reply, sentences=(*reply.sentences, replace(best[0], quoted=True)))

    def _measured(self, asked: Asked) -> float | None:
        """From which share of "yes" the engine's model is believed that a guide answers a question in this language."""
        return self.engine.traits.answerable_from.get(asked.language.partition("-")[0])

    def hint(self, lock: Lock, learner_id: int, language: str) -> TutorReply:
        """The next authored hint of an open question, or a plain "it is still open" where its author wrote none."""
        key = (learner_id, lock.quiz.id, lock.question.id)
        rung = self._rungs.pop(key, 0) + 1
        self._rungs[key] = rung
        while len(self._rungs) > REMEMBERED:
            self._rungs.popitem(last=False)
        section = lock.quiz.section_of(lock.question)
        pointers = tuple(cited(hit) for hit in self._retriever.named([section] if section else [], language))
        found = gate.hint(lock, rung, language)
        if found is None:
            return TutorReply(Kind.REFUSAL, language, reason=Reason.LOCKED, considered=pointers)
        text, written_in, given = found
        sentences = (Sentence(text, pointers[:1]),)
        return TutorReply(Kind.HINT, written_in, sentences, Reason.LOCKED, pointers, hint_rung=given)

    def _cannot_write(self, asked: Asked, hits: Sequence[Hit]) -> Reason | None:
        """Why the guide is quoted without even asking the engine."""
        traits = self.engine.traits
        if traits.model is None:
            return Reason.NO_MODEL
        if asked.locks:  # a model must not even read the guide of a question that is open
            return Reason.LOCKED
        if not traits.writes(asked.language):
            return Reason.LANGUAGE
        # a sentence in one language cannot be checked, word by word, against a section in another
        return Reason.LANGUAGE if hits[0].guide.language.partition("-")[0] != asked.language.partition("-")[0] else None

    async def _stream(
        self, engine: Engine, asked: Asked, hits: Sequence[Hit], blank: TutorReply, started: float, least: float | None = None
    ) -> AsyncGenerator[TutorReply, None]:
        """The engine's checked sentences; ends with a complete reply whose `reason` says why it has none, where it has none.

        With `least` the engine is asked first whether the guide answers this at all.
        """
        traits = engine.traits
        guide = hits[0].guide
        sections = [hit.section for hit in hits if hit.guide is guide]
        evidence = prompting.evidence_for(guide, sections, traits)
        prompt = self._prompt(asked, evidence, hits, guide, least)
        reply = replace(blank, engine=traits.name)
        reader = ClaimReader()
        dropped = 0
        tokens = Tokens()

        def taken(piece: str | None) -> list[Sentence]:
            nonlocal dropped
            found: list[Sentence] = []
            for claim in reader.finish() if piece is None else reader.feed(piece):
                sentence = verified(claim, evidence, asked.question)
                if sentence is None or gate.says_a_key(sentence.text, asked.locks):
                    dropped += 1
                elif worth_adding(sentence, [*reply.sentences, *found]):
                    found.append(sentence)
            return found

        quoted = False
        yield reply
        finish: Finish | None = None  # None at the end: it failed
        async with aclosing(within(engine.stream(prompt, max_tokens=traits.max_tokens, deadline_s=DEADLINE_S))) as events:
            async for event in events:
                if isinstance(event, Finish):
                    finish = event
                    break
                if reply.timings.first_piece_s is None:
                    self._positions.pop(asked.learner_id, None)
                    reply = replace(reply, timings=replace(reply.timings, first_piece_s=self._clock() - started))
                if new := taken(event):
                    reply = self._grown(reply, new, started)
                    yield reply
        failed = finish is None
        if finish is not None:
            tokens = Tokens(finish.prompt_tokens, finish.cached_tokens, finish.new_tokens)
            quoted = finish.quoted
            if not finish.cut_off:  # half a sentence is no sentence
                reply = self._grown(reply, taken(None), started)
        reply = replace(reply, dropped=dropped, tokens=tokens)
        if not reply.sentences:
            # a refusal that comes after a "yes" to the probe is a slip, and one with sentences around it is none
            refused = (finish is not None and finish.declined) or (reader.not_in_guide and not dropped and least is None)
            reason = Reason.ENGINE_FAILED if failed else Reason.NOT_COVERED if refused else Reason.UNVERIFIED
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

    async def _retrieve(self, asked: Asked) -> list[Hit]:
        """The sections to answer from, all of one guide, the best first: those that were named, then those that were found."""
        guides = self._retriever.scope(asked.guide_id, asked.language)
        named = self._retriever.named(asked.refs or self._retriever.repeated(asked.question, guides), asked.language)
        found = await self._found(asked, [named[0].guide] if named else guides)
        # what is named may be in another language than the question: its nearest sentence, or else its summary, is what to quote of it
        nearest = {hit.key: hit.nearest for hit in found}
        named = [replace(hit, nearest=nearest.get(hit.key) or hit.section.summary) for hit in named]
        known = {hit.key for hit in named}
        return [*named, *(hit for hit in found if hit.key not in known)][: max(CONSIDERED, len(named))]

    async def _found(self, asked: Asked, guides: Sequence[Guide]) -> list[Hit]:
        searched = asked.searched or asked.question
        history = self._turns.get((asked.learner_id, asked.channel_id))
        joined = f"{history[-1].question} {searched}" if history else searched  # "and on a T4?" means little without the question before
        if history and gate.refers_back(searched) and (hits := await self._retriever.find(joined, guides, limit=CONSIDERED)):
            return hits
        hits = await self._retriever.find(searched, guides, limit=CONSIDERED)
        if history and len(words.terms(searched)) <= ELLIPTIC and gate.refused(searched, hits):
            return await self._retriever.find(joined, guides, limit=CONSIDERED) or hits
        return hits

    def _prompt(self, asked: Asked, evidence: Sequence[Evidence], hits: Sequence[Hit], guide: Guide, least: float | None) -> Prompt:
        tag_of = {item.section.id: item.tag for item in evidence}
        ours = [hit for hit in hits if hit.guide is guide]
        return prompting.prompt_for(
            asked.question,
            evidence,
            relevant=[tag_of[hit.section.id] for hit in ours if hit.section.id in tag_of],
            nearest_sentences={hit.section.id: hit.nearest for hit in ours},
            language=guide.language if asked.language.partition("-")[0] != guide.language.partition("-")[0] else asked.language,
            history=self._turns.get((asked.learner_id, asked.channel_id), ()) if asked.attempt is None else (),
            attempt=asked.attempt,
            learner=asked.learner_id,
            answerable_from=least,
        )

    def _remember(self, asked: Asked, reply: TutorReply) -> None:
        key = (asked.learner_id, asked.channel_id)
        turns = self._turns.pop(key, [])
        text = "\n".join(sentence.text for sentence in reply.sentences)
        self._turns[key] = [*turns, Turn(asked.question, text)][-TURNS:]
        while len(self._turns) > REMEMBERED:
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
        if guide is None or not traits.whole_guide or not traits.writes(guide.language):
            return  # in a language that the model does not write, the guide is quoted
        evidence = prompting.evidence_for(guide, guide.sections, traits)
        await self.engine.warm(prompting.prompt_for("", evidence, relevant=(), language=language))


async def within(events: AsyncGenerator[str | Finish, None]) -> AsyncGenerator[str | Finish, None]:
    """What an engine gives, until it fails in whatever way, or is silent past its own deadline: then it just ends, without a Finish.

    Engines keep their deadline themselves; this holds also for one that does not, so that nobody is left without a reply.
    """
    ends_at = asyncio.get_running_loop().time() + DEADLINE_S + GRACE_S
    async with aclosing(events):
        while True:
            try:
                async with asyncio.timeout_at(ends_at):
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except EngineError as error:
                log.info("no answer: %s", error)
                return
            except Exception:  # an engine's own fault is no reason to leave a learner without a reply
                log.exception("an engine broke its contract")
                return
            yield event
            if isinstance(event, Finish):
                return


def cited(hit: Hit) -> Citation:
    return Citation(hit.guide.id, hit.section.id, hit.guide.title, hit.section.heading, hit.guide.language)


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
