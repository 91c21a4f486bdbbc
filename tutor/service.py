"""The use cases of learning alone: play a round, read a guide. Load, one pure step, save, and a view for the renderer.

`Tutor` is the only place where the core, the store and (through `tutor.answering`) the engine meet. Time comes in as
`now`, chance as a `random.Random`. A press is on the disk before its view is returned.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from content import words
from content.model import Guide, GuideRef, Info, Level, Library, Picked, Question, Quiz, Section, Text
from tutor import grading, rounds
from tutor.answering import Answering, Asked
from tutor.errors import NotFound, NotYours, StaleAnswer
from tutor.gate import Lock
from tutor.grading import Grade, Response
from tutor.interview import Bank
from tutor.reply import Citation, Kind, Reason, TutorReply
from tutor.rounds import Answer, Mode, Round, Score
from tutor.store.people import PeopleStore
from tutor.store.rounds import RoundStore

LOCKED_FOR: Final = timedelta(minutes=30)
"""A round that nobody has touched for so long locks nothing any more: its learner went on to other things."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer just given, and all that may be said about it now that its question is closed."""

    question: Question
    answer: Answer
    grade: Grade
    right: tuple[str, ...]  # what would have been right, in the round's language


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round as its learner may see it now. At most one of `judged` and `open` is to be shown first: `judged` wins."""

    round: Round
    quiz: Quiz
    open: Question | None
    score: Score
    judged: Judged | None = None
    resumed: bool = False

    @property
    def finished(self) -> bool:
        return self.round.finished_at is not None

    @property
    def position(self) -> int:
        """Of the question shown, from 0: the judged one, or else the open one."""
        if self.judged is not None:
            return self.round.question_ids.index(self.judged.question.id)
        return self.round.position

    @property
    def total(self) -> int:
        return len(self.round.question_ids)

    def text(self, text: Text) -> Picked:
        return text.pick(self.round.language)


@dataclass(frozen=True, slots=True)
class GuideView:
    guide: Guide
    asked_language: str
    next: Guide | None
    related: tuple[Guide, ...]
    quizzes: tuple[Quiz, ...]

    @property
    def fallback(self) -> bool:
        return self.guide.language.partition("-")[0] != self.asked_language.partition("-")[0]


class GuildQuizzes(Protocol):
    """Quizzes that a guild brought itself; `tutor.drafts_service` has them. No id of theirs is one of the library."""

    def quizzes_of(self, guild_id: int | None) -> Sequence[Quiz]: ...

    def find(self, quiz_id: str, guild_id: int | None) -> Quiz | None:
        """One that this guild may begin a round of."""
        ...

    def version(self, quiz_id: str, version: int) -> Quiz | None:
        """One as a round that is under way began with it."""
        ...


class Tutor:
    """Everything that a person can do, except by way of a live round."""

    def __init__(
        self,
        library: Library,
        *,
        round_store: RoundStore,
        people: PeopleStore,
        answering: Answering,
        new_id: Callable[[], str],
        guild_quizzes: GuildQuizzes | None = None,
    ) -> None:
        self.library = library
        self.people = people
        self.answering = answering
        self.further_locks: list[Callable[[int, int | None, datetime], Awaitable[Sequence[Lock]]]] = []
        self._bank = Bank.of(library)
        self._guild_quizzes = guild_quizzes
        self.further_forgetting: list[Callable[[int], Awaitable[None]]] = []
        self._rounds = round_store
        self._new_id = new_id

    # Rounds ---------------------------------------------------------------------------------------------------------

    async def start_round(
        self,
        quiz_id: str,
        *,
        learner_id: int,
        guild_id: int | None,
        channel_id: int | None,
        language: str,
        mode: Mode,
        count: int | None,
        shuffled: bool,
        now: datetime,
        rng: random.Random,
    ) -> RoundView:
        """Begin a new round; an unfinished one of the same quiz is ended first. Raises NotFound."""
        quiz = self._startable(quiz_id, guild_id)
        unfinished = await self._rounds.open_round(learner_id, quiz_id)
        if unfinished is not None:
            await self._rounds.step(unfinished.id, lambda round_: round_.abandoned(now=now))
        asked = [
            question_id
            for question_id in rounds.chosen_questions(quiz, count=count, shuffled=shuffled, rng=rng)
            if (question := quiz.question(question_id)) is not None and rounds.playable(question)
        ]
        if not asked:
            raise NotFound("playable question", quiz_id)
        round_ = Round(
            id=self._new_id(),
            learner_id=learner_id,
            guild_id=guild_id,
            channel_id=channel_id,
            quiz_id=quiz.id,
            quiz_version=quiz.version,
            language=language,
            mode=mode,
            question_ids=tuple(asked),
            orders={
                question.id: rounds.option_order(question, shuffled=shuffled, rng=rng)
                for question in quiz.questions
                if question.id in asked
            },
            started_at=now,
            asked_at=now,
        )
        await self._rounds.save_new(round_)
        if quiz.guide:
            self.answering.warm(quiz.guide.guide, language)
        return self._view(round_, now=now)

    async def unfinished(self, learner_id: int, quiz_id: str, *, guild_id: int | None, now: datetime) -> RoundView | None:
        """The learner's open round of this quiz, to be offered before a new one starts. Raises NotFound."""
        self._startable(quiz_id, guild_id)
        round_ = await self._rounds.open_round(learner_id, quiz_id)
        return self._view(round_, now=now, resumed=True) if round_ and round_.answers else None

    async def show(self, round_id: str, learner_id: int, *, now: datetime) -> RoundView:
        """The round as it stands: its open question, or its result. Raises NotFound, NotYours."""
        return self._view(await self._owned(round_id, learner_id), now=now)

    async def answer(self, round_id: str, position: int, response: Response, learner_id: int, *, now: datetime) -> RoundView:
        """Grade and save the answer to the question at this position (from 0).

        Raises NotFound, NotYours, StaleAnswer, BadResponse; after any of them nothing has changed.
        """
        grades: list[Grade] = []

        def step(round_: Round) -> Round:
            _check_owner(round_, learner_id)
            question = self._question(round_, position)
            grade = grading.grade(question, response, round_.language)
            grades.append(grade)
            return round_.answered(question.id, response, grade, question.points, now=now)

        round_ = await self._rounds.step(round_id, step)
        question = self._question(round_, position)
        if round_.mode is Mode.EXAM or isinstance(question.body, Info):
            return self._view(round_, now=now)
        return self._view(round_, now=now, judged=self._judged(round_, question, grades[-1]))

    async def review(self, round_id: str, position: int, learner_id: int, *, now: datetime) -> RoundView:
        """One answered question of a round again, with its verdict. Raises StaleAnswer while it is open: in an exam, until the end."""
        round_ = await self._owned(round_id, learner_id)
        question = self._question(round_, position)
        answer = round_.answer_to(question.id)
        if answer is None or (round_.mode is Mode.EXAM and round_.finished_at is None):
            raise StaleAnswer(f"question {question.id!r} is still open")
        grade = grading.grade(question, answer.response, round_.language)
        return self._view(round_, now=now, judged=self._judged(round_, question, grade))

    async def end(self, round_id: str, learner_id: int, *, now: datetime) -> RoundView:
        def step(round_: Round) -> Round:
            _check_owner(round_, learner_id)
            return round_.abandoned(now=now)

        return self._view(await self._rounds.step(round_id, step), now=now)

    async def locks(self, learner_id: int, channel_id: int | None, *, now: datetime) -> tuple[Lock, ...]:
        """The questions that must not be given away to this person in this channel now.

        Of a practice round that is its open question; of an exam all of them, because none has been explained yet.
        """
        found: list[Lock] = []
        for round_ in await self._rounds.open_since(learner_id, now - LOCKED_FOR):
            quiz = self._known(round_)
            ids = round_.question_ids if round_.mode is Mode.EXAM else (round_.open_question,)
            found += [Lock(quiz, question) for key in ids if quiz and key and (question := quiz.question(key))]
        for more in self.further_locks:
            found += await more(learner_id, channel_id, now)
        return tuple(found)

    async def hint(self, round_id: str, position: int, learner_id: int) -> TutorReply:
        """The next hint of a question that is open in this round. Raises StaleAnswer once it is answered."""
        round_ = await self._owned(round_id, learner_id)
        question = self._question(round_, position)
        if question.id != round_.open_question:
            raise StaleAnswer(f"question {question.id!r} is not open")
        return self.answering.hint(Lock(self._quiz(round_), question), learner_id, round_.language)

    def missed_sections(self, view: RoundView) -> tuple[tuple[Guide, Section], ...]:
        """What to reread: the section of each missed question, each once, in the order asked."""
        found: dict[tuple[str, str], tuple[Guide, Section]] = {}
        for question_id in rounds.missed(view.round):
            question = view.quiz.question(question_id)
            located = self.located(view.quiz.section_of(question), view.round.language) if question else None
            if located and located[1]:
                found.setdefault((located[0].id, located[1].id), (located[0], located[1]))
        return tuple(found.values())

    def located(self, ref: GuideRef | None, language: str) -> tuple[Guide, Section | None] | None:
        """The guide (in the nearest language) and section a reference names, where both exist."""
        guide = self.library.guide(ref.guide, language) if ref else None
        if guide is None or ref is None:
            return None
        return guide, guide.section(ref.section) if ref.section else None

    def _judged(self, round_: Round, question: Question, grade: Grade) -> Judged:
        answer = round_.answer_to(question.id)
        assert answer is not None, "an answer is judged after it was saved"
        return Judged(question, answer, grade, grading.right_answer(question, round_.language))

    def _view(self, round_: Round, *, now: datetime, judged: Judged | None = None, resumed: bool = False) -> RoundView:
        quiz = self._quiz(round_)
        open_question = self._question(round_, round_.position) if round_.open_question else None
        return RoundView(round_, quiz, open_question, rounds.score(round_, quiz, now=now), judged, resumed)

    async def _owned(self, round_id: str, learner_id: int) -> Round:
        round_ = await self._rounds.load(round_id)
        _check_owner(round_, learner_id)
        return round_

    def _startable(self, quiz_id: str, guild_id: int | None) -> Quiz:
        """A quiz of the library, or else one that the guild brought itself."""
        quiz = self.library.quizzes.get(quiz_id)
        if quiz is None and self._guild_quizzes is not None:
            quiz = self._guild_quizzes.find(quiz_id, guild_id)
        if quiz is None:
            raise NotFound("quiz", quiz_id)
        return quiz

    def _known(self, round_: Round) -> Quiz | None:
        """The quiz of a round that has begun."""
        quiz = self.library.quizzes.get(round_.quiz_id)
        if quiz is None and self._guild_quizzes is not None:
            quiz = self._guild_quizzes.version(round_.quiz_id, round_.quiz_version)
        return quiz

    def _quiz(self, round_: Round) -> Quiz:
        quiz = self._known(round_)
        if quiz is None:
            raise NotFound("quiz", round_.quiz_id)
        return quiz

    def _question(self, round_: Round, position: int) -> Question:
        if not 0 <= position < len(round_.question_ids):
            raise StaleAnswer(f"round {round_.id} has no question {position}")
        question = self._quiz(round_).question(round_.question_ids[position])
        if question is None:
            raise NotFound("question", round_.question_ids[position])
        return question

    async def forget(self, learner_id: int) -> None:
        """Remove what is kept of a person. Results of live rounds stay: they belong to the class that played them."""
        await self.people.forget(learner_id)
        for also in self.further_forgetting:
            await also(learner_id)

    async def save_reply(self, reply_id: str, asked: Asked, reply: TutorReply, *, now: datetime) -> None:
        """Note what became of a question; a question that no guide answers becomes a gap for the author."""
        await self.people.save_reply(reply_id, asked.learner_id, asked.guide_id, reply, asked_at=now)
        if reply.kind is Kind.REFUSAL and reply.reason is not None and reply.reason in (Reason.NOT_COVERED, Reason.OFF_TOPIC):
            agreed = await self.people.keeps_questions(asked.learner_id)
            nearest = reply.considered[0] if reply.considered else None
            text = asked.question if agreed else None
            await self.people.save_gap(asked.guide_id, nearest, reply.reason.value, asked.language, text, asked_at=now)

    async def cited(self, reply_id: str, language: str) -> list[tuple[Citation, Section]]:
        """The sections that a reply rested on, as they stand now. Raises NotFound."""
        keys = await self.people.cited(reply_id)
        if keys is None:
            raise NotFound("reply", reply_id)
        found: list[tuple[Citation, Section]] = []
        for guide_id, _, section_id in (key.partition(":") for key in keys):
            located = self.located(GuideRef(guide_id, section_id), language)
            guide, section = located or (None, None)
            if guide and section:
                found.append((Citation(guide.id, section.id, guide.title, section.heading, guide.language), section))
        return found

    # Choosing and reading -------------------------------------------------------------------------------------------

    def quizzes(self, typed: str, language: str, *, guild_id: int | None = None) -> list[Quiz]:
        """Quizzes that a round can play whose title, id or tags have what was typed, those that begin with it first.

        Of equals, those in the reader's language come first, then the easier ones. With a guild, those that it brought itself come
        after those of the library.
        """
        own = self._guild_quizzes.quizzes_of(guild_id) if self._guild_quizzes is not None and guild_id is not None else ()
        shipped = sorted(self.library.quizzes.values(), key=lambda quiz: (not _speaks(quiz, language), _LEVELS.get(quiz.level, 1)))
        playable = (quiz for quiz in (*shipped, *own) if any(map(rounds.playable, quiz.questions)))
        return _ranked(playable, typed, lambda quiz: (quiz.title[language], quiz.id, *quiz.tags))

    def interview_parts(self, typed: str, language: str) -> list[Quiz]:
        """Quizzes with open questions, found like `quizzes`."""
        return _ranked(self.interviews.parts, typed, lambda quiz: (quiz.title[language], quiz.id, *quiz.tags))

    @property
    def interviews(self) -> Bank:
        """The open questions of the library there is now."""
        if self._bank.library is not self.library:
            self._bank = Bank.of(self.library)
        return self._bank

    def guides(self, typed: str, language: str) -> list[Guide]:
        shown = [guide for guide_id in self.library.guides if (guide := self.library.guide(guide_id, language))]
        return _ranked(shown, typed, lambda guide: (guide.title, guide.id, *guide.tags))

    def guide(self, guide_id: str, language: str) -> GuideView:
        """Raises NotFound."""
        guide = self.library.guide(guide_id, language)
        if guide is None:
            raise NotFound("guide", guide_id)
        library = self.library
        return GuideView(
            guide=guide,
            asked_language=language,
            next=library.guide(guide.next, language) if guide.next else None,
            related=tuple(other for key in guide.related if (other := library.guide(key, language))),
            quizzes=tuple(library.quizzes[key] for key in guide.quizzes if key in library.quizzes),
        )


def _check_owner(round_: Round, learner_id: int) -> None:
    if round_.learner_id != learner_id:
        raise NotYours(f"round {round_.id} belongs to somebody else")


T = TypeVar("T")


_LEVELS: Final[Mapping[str, int]] = {Level.BEGINNER: 0, Level.INTERMEDIATE: 1, Level.ADVANCED: 2}


def _speaks(quiz: Quiz, language: str) -> bool:
    return language.partition("-")[0] in {other.partition("-")[0] for other in quiz.languages}


def _ranked(items: Iterable[T], typed: str, names: Callable[[T], Sequence[str]]) -> list[T]:
    wanted = words.folded(typed).strip()

    def rank(item: T) -> int | None:
        folded = [words.folded(name) for name in names(item)]
        if any(name.startswith(wanted) for name in folded):
            return 0
        return 1 if any(wanted in name for name in folded) else None

    ranked = [(place, item) for item in items if (place := rank(item)) is not None]
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]
