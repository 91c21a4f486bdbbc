"""The use cases of a guild's own quizzes: read a file, keep it as a draft, play it there, explain it, hand it out again.

A draft is seen in its guild and nowhere else. Reading and writing files is somebody else's work (`Banks`, given by whoever
puts the parts together); it runs in a thread and within `DEADLINE_S`. Nothing that a language model wrote is kept without a
person's yes.

Errors: BankRefused, TooManyDrafts, NotFound ("read bank", "draft", "proposal").
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from content.model import ContentError, GuideRef, Info, Library, Open, Question, Quiz, Severity, Text
from tutor import grading, prompting
from tutor.answering import Answering, Asked
from tutor.errors import BankRefused, NotFound, Throttled, TooManyDrafts
from tutor.reply import Kind, Sentence, TutorReply
from tutor.store.drafts import DraftRow, DraftStore, Proposal, ReadBank

MAX_BYTES: Final = 8 * 1024 * 1024
"""Of an uploaded file; Discord takes 10 MiB from people without a subscription, a bank of 10,000 questions has 3 MB."""
DEADLINE_S: Final = 20.0  # for reading or writing one file; the slowest real bank takes 2 s
AT_ONCE: Final = 2  # files read or written at the same time, in threads of their own
MOST_QUESTIONS: Final = 5_000  # of one draft: all drafts are kept in memory
MOST_DRAFTS: Final = 50  # of one guild
VERSIONS: Final = 3  # of one draft: a round that is under way goes on with the version it began with
WAITS_FOR: Final = timedelta(days=1)  # how long something read can still be kept
MOST_WAITING: Final = 10  # of one guild
REMOVED_FOR: Final = timedelta(days=30)  # how long a removed draft can be put back
ID_LENGTH: Final = 60  # `again:practice:<quiz id>` allows no more
EXPLANATION: Final = 1_000  # characters; an embed field holds 1,024

P = ParamSpec("P")
T = TypeVar("T")


class Remark(Protocol):
    """One thing worth telling about a file. `line` 0 means the whole file; `question` may be empty."""

    @property
    def line(self) -> int: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def code(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def text(self) -> str: ...


class Reading(Protocol):
    """What a file holds. `quiz` None: nothing of it can be kept; `native` is the text that loads as `quiz` again."""

    @property
    def format(self) -> str: ...
    @property
    def read(self) -> int: ...
    @property
    def imported(self) -> int: ...
    @property
    def problems(self) -> Sequence[Remark]: ...
    @property
    def quiz(self) -> Quiz | None: ...
    @property
    def native(self) -> str: ...
    @property
    def report(self) -> str: ...


class Written(Protocol):
    @property
    def data(self) -> bytes: ...
    @property
    def filename(self) -> str: ...
    @property
    def losses(self) -> Sequence[Remark]: ...


class Banks(Protocol):
    """Files of other programs, in and out. All of it blocks, and raises ContentError."""

    @property
    def READABLE(self) -> Sequence[str]: ...  # noqa: N802  # a constant of the module that stands in for this
    @property
    def WRITABLE(self) -> Sequence[str]: ...  # noqa: N802  # the same
    def read_draft(self, data: bytes, name: str, format: str | None = None) -> Reading: ...
    def native(self, quiz: Quiz) -> tuple[str, Quiz, Sequence[Remark]]: ...
    def loaded_native(self, text: str, name: str) -> Quiz: ...
    def export(self, quiz: Quiz, format: str, language: str | None = None) -> Written: ...


@dataclass(frozen=True, slots=True)
class Draft:
    """One version of a guild's own quiz; `quiz` has the draft's id and version."""

    quiz: Quiz
    guild_id: int
    kept_by: int
    kept_at: datetime  # UTC
    removed_at: datetime | None = None

    @property
    def id(self) -> str:
        return self.quiz.id

    @property
    def unexplained(self) -> tuple[Question, ...]:
        return unexplained(self.quiz.questions)


@dataclass(frozen=True, slots=True)
class Offered:
    """A file that was read. `id` is None where there is nothing to keep; `replaces` is the draft it would be the next version of."""

    id: str | None
    reading: Reading
    replaces: Draft | None


@dataclass(frozen=True, slots=True)
class Proposed:
    """An explanation offered for a question; `proposal.explanation` is empty where the guide does not have it."""

    draft: Draft
    question: Question
    left: int  # questions without explanation, this one included
    proposal: Proposal
    reply: TutorReply


def unexplained(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Questions with a key that nobody has explained yet."""
    return tuple(q for q in questions if q.explanation is None and not isinstance(q.body, Info | Open))


class Drafts:
    """All drafts of all guilds are in memory, so that looking one up while somebody types waits for nothing."""

    def __init__(
        self,
        library: Library,
        *,
        store: DraftStore,
        banks: Banks,
        answering: Answering,
        new_id: Callable[[], str],
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self.library = library
        self.banks = banks
        self._store = store
        self._answering = answering
        self._new_id = new_id
        self._deadline_s = deadline_s
        self._drafts: dict[str, dict[int, Draft]] = {}
        self._changing = asyncio.Lock()
        self._working: set[asyncio.Task[Any]] = set()

    async def load(self, *, now: datetime) -> list[str]:
        """Read all drafts from the store; called once at the start. Returns one line for each that cannot be used any more."""
        await self._store.purge(now - REMOVED_FOR)
        rows = await self._store.all_drafts()
        loaded, unusable = await asyncio.to_thread(self._loaded, rows)
        for draft in loaded:
            self._drafts.setdefault(draft.id, {})[draft.quiz.version] = draft
        return unusable

    def _loaded(self, rows: Sequence[DraftRow]) -> tuple[list[Draft], list[str]]:
        loaded: list[Draft] = []
        unusable: list[str] = []
        for row in rows:
            try:
                loaded.append(self._draft(row, self.banks.loaded_native(row.quiz, row.id)))
            except ContentError as error:
                unusable.append(str(error))
        return loaded, unusable

    @staticmethod
    def _draft(row: DraftRow, quiz: Quiz) -> Draft:
        return Draft(replace(quiz, id=row.id, version=row.version), row.guild_id, row.kept_by, row.kept_at, row.removed_at)

    # Looking up -----------------------------------------------------------------------------------------------------

    def of_guild(self, guild_id: int | None) -> list[Draft]:
        """The drafts of a guild, the newest first."""
        newest = [draft for key in self._drafts if (draft := self._newest(key)).guild_id == guild_id and draft.removed_at is None]
        return sorted(newest, key=lambda draft: draft.kept_at, reverse=True)

    def quizzes_of(self, guild_id: int | None) -> list[Quiz]:
        return [draft.quiz for draft in self.of_guild(guild_id)]

    def find(self, quiz_id: str, guild_id: int | None) -> Quiz | None:
        """A draft of this guild that a new round may ask."""
        draft = self._newest(quiz_id) if quiz_id in self._drafts else None
        return draft.quiz if draft and draft.guild_id == guild_id and draft.removed_at is None else None

    def version(self, quiz_id: str, version: int) -> Quiz | None:
        """The draft as a round that is under way knows it, removed or not; the newest where that version is gone."""
        versions = self._drafts.get(quiz_id)
        if versions is None:
            return None
        return (versions.get(version) or self._newest(quiz_id)).quiz

    def draft(self, draft_id: str, guild_id: int | None) -> Draft:
        """Raises NotFound."""
        if self.find(draft_id, guild_id) is None:
            raise NotFound("draft", draft_id)
        return self._newest(draft_id)

    def _newest(self, draft_id: str) -> Draft:
        versions = self._drafts[draft_id]
        return versions[max(versions)]

    # Reading and keeping --------------------------------------------------------------------------------------------

    async def read(self, data: bytes, name: str, format: str | None, *, guild_id: int, by: int, now: datetime) -> Offered:
        """Read a file and let it wait for a yes. Raises BankRefused, and Throttled when others are being read."""
        if len(data) > MAX_BYTES:
            raise too_large(name, len(data))
        reading = await self._bounded(self.banks.read_draft, data, name, format)
        quiz = reading.quiz
        if quiz is None:
            return Offered(None, reading, None)
        if len(quiz.questions) > MOST_QUESTIONS:
            raise BankRefused(f"{name}: {len(quiz.questions):,} questions, a draft holds {MOST_QUESTIONS:,}. Split the file.")
        bank = ReadBank(self._new_id(), guild_id, by, now, name, reading.native)
        await self._store.save_read(bank, before=now - WAITS_FOR, most=MOST_WAITING)
        draft_id = draft_id_of(guild_id, quiz.id)
        return Offered(bank.id, reading, self._newest(draft_id) if self.find(draft_id, guild_id) else None)

    async def keep(self, bank_id: str, *, guild_id: int | None, by: int, separate: bool, now: datetime) -> Draft:
        """Keep what was read: as the next version of the draft with its id, or `separate` under an id of its own.

        Explanations that were given to the same question before are carried over. Raises NotFound, TooManyDrafts.
        """
        async with self._changing:
            bank = await self._store.read_bank(bank_id)
            if bank is None or bank.guild_id != guild_id:
                raise NotFound("read bank", bank_id)
            quiz = await self._bounded(self.banks.loaded_native, bank.quiz, bank.file)
            draft_id = draft_id_of(bank.guild_id, quiz.id)
            if separate:
                draft_id = self._free_id(draft_id)
            known = self._newest(draft_id) if draft_id in self._drafts else None
            if (known is None or known.removed_at is not None) and len(self.of_guild(guild_id)) >= MOST_DRAFTS:
                raise TooManyDrafts(MOST_DRAFTS)
            text = bank.quiz
            if known is not None and (carried := with_explanations_of(quiz, known.quiz)) != quiz:
                text, quiz, _ = await self._bounded(self.banks.native, carried)

            def made(version: int) -> DraftRow:
                return DraftRow(draft_id, version, bank.guild_id, text, by, now)

            row = await self._store.keep(bank_id, draft_id, made, versions=VERSIONS)
            if row is None:
                raise NotFound("read bank", bank_id)
            versions = {number: replace(old, removed_at=None) for number, old in self._drafts.get(draft_id, {}).items()}
            versions[row.version] = self._draft(row, quiz)
            self._drafts[draft_id] = {number: versions[number] for number in sorted(versions)[-VERSIONS:]}
            return versions[row.version]

    async def discard(self, bank_id: str, *, guild_id: int | None) -> bool:
        """Whether it was still waiting."""
        bank = await self._store.read_bank(bank_id)
        return bank is not None and bank.guild_id == guild_id and await self._store.forget_read(bank_id)

    def _free_id(self, draft_id: str) -> str:
        found, number = draft_id, 1
        while found in self._drafts:
            number += 1
            end = f"-{number}"
            found = draft_id[: ID_LENGTH - len(end)].rstrip("-") + end
        return found

    async def remove(self, draft_id: str, *, guild_id: int | None, now: datetime) -> Draft:
        """No new round asks it; rounds under way go on, and for REMOVED_FOR it can be put back. Raises NotFound."""
        async with self._changing:
            draft = self.draft(draft_id, guild_id)
            await self._set_removed(draft_id, now)
            return draft

    async def restore(self, draft_id: str, *, guild_id: int | None) -> Draft:
        """Put a removed draft back. Raises NotFound, TooManyDrafts."""
        async with self._changing:
            draft = self._newest(draft_id) if draft_id in self._drafts else None
            if draft is None or draft.guild_id != guild_id:
                raise NotFound("draft", draft_id)
            if draft.removed_at is not None and len(self.of_guild(guild_id)) >= MOST_DRAFTS:
                raise TooManyDrafts(MOST_DRAFTS)
            await self._set_removed(draft_id, None)
            return self._newest(draft_id)

    async def _set_removed(self, draft_id: str, removed_at: datetime | None) -> None:
        await self._store.save_removed(draft_id, removed_at)
        self._drafts[draft_id] = {number: replace(old, removed_at=removed_at) for number, old in self._drafts[draft_id].items()}

    async def forget(self, person_id: int) -> None:
        """Drafts stay, since they belong to the guild; who brought them is forgotten."""
        async with self._changing:
            await self._store.forget(person_id)
            for key, versions in self._drafts.items():
                self._drafts[key] = {n: replace(old, kept_by=0) if old.kept_by == person_id else old for n, old in versions.items()}

    # Handing out ----------------------------------------------------------------------------------------------------

    async def export(self, quiz_id: str, format: str, language: str | None, *, guild_id: int | None) -> tuple[Quiz, Written]:
        """A quiz of the library, or a draft of this guild, as a file. Raises NotFound ("quiz"), BankRefused."""
        quiz = self.library.quizzes.get(quiz_id) or self.find(quiz_id, guild_id)
        if quiz is None:
            raise NotFound("quiz", quiz_id)
        quiz = replace(quiz, id=file_id(quiz.id))
        chosen = language if language in quiz.languages else None
        return quiz, await self._bounded(self.banks.export, quiz, format, chosen)

    # Explaining -----------------------------------------------------------------------------------------------------

    async def propose(
        self, draft_id: str, guide_id: str, *, after: str | None, guild_id: int | None, by: int, now: datetime
    ) -> Proposed | None:
        """Let the engine explain the next unexplained question behind `after` from a guide. None when there is none left.

        Raises NotFound ("draft", "guide"), Throttled.
        """
        draft = self.draft(draft_id, guild_id)
        missing = following(draft, after)
        if not missing:
            return None
        question, language = missing[0], draft.quiz.languages[0]
        async with aclosing(self._answering.ask(asked_to_explain(question, guide_id, language, by))) as replies:
            last = [reply async for reply in replies][-1]
        written = last.kind in (Kind.ANSWER, Kind.QUOTE)
        explanation = joined(last.sentences) if written else ""
        proposal = Proposal(
            id=self._new_id(),
            draft_id=draft_id,
            question_id=question.id,
            guide_id=last.cited[0].guide_id if written and last.cited else guide_id,
            language=last.language,
            explanation=explanation,
            sections=tuple(citation.section_id for citation in last.cited) if written else (),
            made_by=by,
            made_at=now,
        )
        await self._store.save_proposal(proposal)
        return Proposed(draft, question, len(missing), proposal, last)

    async def proposal(self, proposal_id: str, *, guild_id: int | None) -> Proposal:
        """Raises NotFound."""
        found = await self._store.proposal(proposal_id)
        if found is None or self.find(found.draft_id, guild_id) is None:
            raise NotFound("proposal", proposal_id)
        return found

    async def accept(self, proposal_id: str, *, guild_id: int | None, text: str | None = None) -> Proposal:
        """Keep a proposed explanation, or an instructor's own `text` in its place, with the guide's sections as evidence.

        Raises NotFound, also where it was taken up already or the question has an explanation by now.
        """
        async with self._changing:
            proposal = await self.proposal(proposal_id, guild_id=guild_id)
            if text is not None and proposal.explanation:
                proposal = replace(
                    proposal, explanation=text.strip()[:EXPLANATION], language=self.draft(proposal.draft_id, guild_id).quiz.languages[0]
                )
            draft = self.draft(proposal.draft_id, guild_id)
            question = draft.quiz.question(proposal.question_id)
            if question is None or question.explanation is not None or not proposal.explanation:
                raise NotFound("proposal", proposal_id)
            explained = explained_by(question, proposal, draft.quiz.languages)
            questions = tuple(explained if each.id == question.id else each for each in draft.quiz.questions)
            quiz = replace(draft.quiz, questions=questions)
            written, _, _ = await self._bounded(self.banks.native, replace(quiz, id=file_id(quiz.id)))
            if not await self._store.save_quiz(draft.id, quiz.version, written, taken=proposal_id):
                raise NotFound("proposal", proposal_id)
            self._drafts[draft.id][quiz.version] = replace(draft, quiz=quiz)
            return proposal

    # Threads --------------------------------------------------------------------------------------------------------

    async def _bounded(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run blocking work in a thread, for DEADLINE_S at most; a thread that overstays counts until it ends."""
        if len(self._working) >= AT_ONCE:
            raise Throttled(self._deadline_s)
        task = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs), name="question bank")
        self._working.add(task)
        task.add_done_callback(self._ended)
        try:
            return await asyncio.wait_for(asyncio.shield(task), self._deadline_s)
        except TimeoutError as error:
            raise BankRefused(f"this took longer than {self._deadline_s:g} s and was given up. Split the file.") from error
        except ContentError as error:
            raise BankRefused(str(error).replace("\n", " ")) from error

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._working.discard(task)
        if not task.cancelled():
            task.exception()  # of work that nobody waits for any more


def too_large(name: str, size: int) -> BankRefused:
    return BankRefused(f"{name}: {size:,} bytes, at most {MAX_BYTES:,} are read. Split the file, or leave pictures out.")


def draft_id_of(guild_id: int, quiz_id: str) -> str:
    """`g<guild>.<id>`: ids of the library have no full stop, so the two cannot be the same. At most ID_LENGTH characters."""
    made = f"g{guild_id}.{quiz_id}"
    if len(made) <= ID_LENGTH:
        return made
    mark = hashlib.sha256(quiz_id.encode()).hexdigest()[:6]
    return f"{made[: ID_LENGTH - 7].rstrip('-')}-{mark}"


def file_id(quiz_id: str) -> str:
    """The id that a draft has in a file: without its guild."""
    return quiz_id.rpartition(".")[2]


def following(draft: Draft, after: str | None) -> tuple[Question, ...]:
    """The unexplained questions behind this one; all of them for None or a question that is gone."""
    ids = [question.id for question in draft.quiz.questions]
    start = ids.index(after) + 1 if after in ids else 0
    return unexplained(draft.quiz.questions[start:])


def asked_to_explain(question: Question, guide_id: str, language: str, by: int) -> Asked:
    stem = question.stem[language]
    key = "; ".join(grading.right_answer(question, language))
    return Asked(
        question=f'Why is "{key}" the right answer to "{stem}"?'[: prompting.MAX_QUESTION],
        language=language,
        learner_id=by,
        guide_id=guide_id,
        searched=f"{stem} {key}",
    )


def joined(sentences: Sequence[Sentence]) -> str:
    """As one paragraph, code on lines of its own; as many whole sentences as EXPLANATION allows."""
    text = ""
    for sentence in sentences:
        space = "\n" if sentence.text.startswith("```") or text.endswith("```") else " "
        longer = f"{text}{space}{sentence.text}".strip()
        if len(longer) > EXPLANATION:
            break
        text = longer
    return text


def explained_by(question: Question, proposal: Proposal, languages: Sequence[str]) -> Question:
    """The question with the proposed explanation; neutral where the quiz has one language and it is in that one."""
    own = len(languages) == 1 and proposal.language.partition("-")[0] == languages[0].partition("-")[0]
    text = Text.of(proposal.explanation) if own else Text.of(proposal.explanation, proposal.language)
    evidence = tuple(GuideRef(proposal.guide_id, section) for section in proposal.sections)
    return replace(question, explanation=text, guide=question.guide or next(iter(evidence), None), evidence=question.evidence or evidence)


def with_explanations_of(quiz: Quiz, before: Quiz) -> Quiz:
    """A bank that is imported anew, with the explanations that the same questions were given here."""

    def carried(question: Question) -> Question:
        old = before.question(question.id)
        if question.explanation is not None or old is None or old.explanation is None:
            return question
        if (old.stem, old.body) != (question.stem, question.body):
            return question  # what was explained has changed
        return replace(question, explanation=old.explanation, guide=question.guide or old.guide, evidence=question.evidence or old.evidence)

    return replace(quiz, questions=tuple(map(carried, quiz.questions)))
