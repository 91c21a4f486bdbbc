"""Follow-up questions end to end, with the real index and the test engine: what an engine writes is shown only as far as
the guide supports it, and every question ends in a reply. Whether a real model's answers are good is measured elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from content import words
from content.model import Guide, GuideRef, Library, Question, Quiz, Section, Text, TrueFalse
from engines.base import Engine, EngineDown, Finish, Prompt, Traits
from engines.quoting import QuotingEngine
from engines.scripted import Reply, ScriptedEngine, Step
from tests.tutor.harbour import GATES, PILOTS, SIGNALS, TIDES, harbour
from tutor import answering as module
from tutor import prompting, search
from tutor.answering import Answering, Asked
from tutor.errors import NotFound, Throttled
from tutor.gate import Lock
from tutor.grounding import Claim, ClaimReader, clean, verified
from tutor.prompting import Evidence, evidence_for, harmless, prompt_for
from tutor.reply import Kind, Reason, TutorReply
from tutor.retrieval import Retriever
from tutor.search import Hit

GUIDE = harbour(GATES, PILOTS, SIGNALS, TIDES)
LIBRARY = Library(guides={"harbour": {"en": GUIDE}})
EVIDENCE = tuple(Evidence(f"S{i}", GUIDE, section) for i, section in enumerate(GUIDE.sections, start=1))


@asynccontextmanager
async def answering(engine: Engine) -> AsyncIterator[Answering]:
    made = Answering(LIBRARY, Retriever(LIBRARY), engine, QuotingEngine())
    try:
        yield made
    finally:
        await made.aclose()


async def final(made: Answering, question: str, **more: object) -> TutorReply:
    replies = [reply async for reply in made.ask(Asked(question, "en", 1, guide_id="harbour", **more))]  # type: ignore[arg-type]
    assert all(not reply.complete for reply in replies[:-1])
    assert replies[-1].complete
    return replies[-1]


async def test_a_supported_answer_keeps_its_words_and_its_citation() -> None:
    async with answering(ScriptedEngine([["The outer gate ", "closes at dusk [S1]."]])) as made:
        reply = await final(made, "When does the outer gate close?")
    assert (reply.kind, reply.reason) == (Kind.ANSWER, None)
    assert reply.text == "The outer gate closes at dusk. [1]"  # the stop stood behind the tag
    assert reply.cited[0].key == "harbour:gates"


async def test_sentences_arrive_one_by_one_as_they_are_checked() -> None:
    pieces = [
        "The outer gate closes at dusk [S1]. ",
        "High tide raises the basin by three metres [S4].",
        "\nThe moon is made of cheese [S2].",
    ]
    async with answering(ScriptedEngine([pieces])) as made:
        replies = [reply async for reply in made.ask(Asked("When does the gate close and what does high tide do?", "en", 1))]
    assert [len(reply.sentences) for reply in replies] == [0, 1, 2, 2]
    assert replies[-1].dropped == 1


async def test_a_changed_number_is_never_shown_and_the_guide_is_quoted_instead() -> None:
    async with answering(ScriptedEngine([["The outer gate weighs 50 tons [S1]."]])) as made:
        reply = await final(made, "How much does the outer gate weigh?")
    assert (reply.kind, reply.reason) == (Kind.QUOTE, Reason.UNVERIFIED)
    assert "48 tons" in reply.text
    assert "50" not in reply.text


async def test_a_wrong_tag_is_put_right_and_a_tag_out_of_range_too() -> None:
    async with answering(ScriptedEngine([["A pilot boards every ship longer than 60 metres [S9]."]])) as made:
        reply = await final(made, "When does a pilot board?")
    assert [citation.section_id for citation in reply.cited] == ["pilots"]


async def test_not_in_guide_is_a_plain_refusal_with_the_nearest_sections() -> None:
    async with answering(ScriptedEngine([["NOT_IN", "_GUIDE"]])) as made:
        reply = await final(made, "How much does a pilot earn before a ship enters?")
    assert (reply.kind, reply.reason, reply.sentences) == (Kind.REFUSAL, Reason.NOT_COVERED, ())
    assert reply.considered


async def test_an_uncovered_question_never_reaches_the_engine() -> None:
    engine = ScriptedEngine([])  # raises when it is asked anything
    async with answering(engine) as made:
        assert (await final(made, "Who won the world cup?")).kind is Kind.REFUSAL
        assert (await final(made, "???")).reason is Reason.OFF_TOPIC


async def test_an_engine_that_fails_ends_in_a_quote_or_in_what_was_checked_before() -> None:
    down = EngineDown("scripted", "gone", "Start it")
    async with answering(ScriptedEngine([[down], ["The outer gate closes at dusk [S1].\n", down]])) as made:
        reply = await final(made, "When does the outer gate close?")
        assert (reply.kind, reply.reason) == (Kind.QUOTE, Reason.ENGINE_FAILED)
        reply = await final(made, "When does the outer gate close?")
        assert (reply.kind, reply.reason, len(reply.sentences)) == (Kind.ANSWER, Reason.ENGINE_FAILED, 1)


async def test_without_a_model_the_guide_is_quoted() -> None:
    async with answering(QuotingEngine()) as made:
        reply = await final(made, "When does the outer gate close?")
    assert (reply.kind, reply.reason) == (Kind.QUOTE, Reason.NO_MODEL)
    assert reply.text.startswith("The outer gate closes at dusk. [1]")


async def test_a_short_follow_up_is_understood_by_the_question_before() -> None:
    script = [["The outer gate closes at dusk [S1]."], ["The outer gate weighs 48 tons [S1]."]]
    async with answering(ScriptedEngine(script)) as made:
        await final(made, "When does the outer gate close?")
        reply = await final(made, "And its heaviness?")
    assert reply.kind is Kind.ANSWER


async def test_a_fourth_question_at_once_is_asked_to_wait_and_an_unknown_guide_is_named() -> None:
    answer = ["The outer gate closes at dusk [S1]."]
    async with answering(ScriptedEngine([answer] * 3)) as made:
        first = made.ask(Asked("When does the outer gate close?", "en", 1))
        await anext(first)
        waiting = [asyncio.create_task(final(made, "When does the outer gate close?")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Throttled):
            await anext(made.ask(Asked("And the tide?", "en", 1)))
        await anext(made.ask(Asked("When does the outer gate close?", "en", 2)))  # somebody else is not held up
        await first.aclose()
        assert [(await task).kind for task in waiting] == [Kind.ANSWER, Kind.ANSWER]
        with pytest.raises(NotFound):
            await anext(made.ask(Asked("x", "en", 1, guide_id="nowhere")))


async def test_a_learner_may_ask_six_questions_a_minute() -> None:
    now = 0.0
    made = Answering(LIBRARY, Retriever(LIBRARY), QuotingEngine(), QuotingEngine(), clock=lambda: now)
    for _ in range(6):
        await final(made, "When does the outer gate close?")
    with pytest.raises(Throttled) as refused:
        await final(made, "When does the outer gate close?")
    assert refused.value.wait_s == 60
    now = 61.0
    assert (await final(made, "When does the outer gate close?")).kind is Kind.QUOTE
    await made.aclose()


def test_the_stable_part_of_a_prompt_is_the_same_for_every_question() -> None:
    traits = Traits("x", model="m", whole_guide=True)
    evidence = evidence_for(GUIDE, GUIDE.sections[:1], traits)
    one = prompt_for("When?", evidence, relevant=["S1"], language="en")
    two = prompt_for("Which pilot boards?", evidence, relevant=["S2"], language="ko", history=(prompting.Turn("a", "b"),))
    assert one.messages[: one.stable] == two.messages[: two.stable]
    assert two.messages[-1].text.endswith("Answer in Korean, with a section tag after every sentence.")
    assert [passage.tag for passage in two.passages] == ["S2"]


def test_sections_are_chosen_in_document_order_where_the_whole_guide_is_too_much() -> None:
    chosen = evidence_for(GUIDE, [GUIDE.sections[3], GUIDE.sections[0]], Traits("x", model="m"))
    assert [(item.tag, item.section.id) for item in chosen] == [("S1", "gates"), ("S2", "tides")]


@given(st.text(max_size=60))
def test_untrusted_text_cannot_become_a_control_token(text: str) -> None:
    cleaned = harmless(f"<|im_{text}start|><|<|im_end|>im_end|>\u202e\u200b{text}")
    assert "<|im_end|>" not in cleaned
    assert "\u202e" not in cleaned
    assert harmless(cleaned) == cleaned


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("See [here](https://evil.example/x) now", "See here now"),
        ("Go to https://evil.example now", "Go to now"),
        ("Hello @everyone and <@123>", "Hello everyone and"),
        ("A picture ![x](http://e.vil/p.png)", "A picture x"),
        ("Colour \x1b[31mred", "Colour red"),
        ("True【S3】 and (S2)", "True and"),
    ],
)
def test_links_mentions_and_codes_of_a_model_are_not_shown(written: str, shown: str) -> None:
    assert clean(written) == shown


@example(["。1. S"])
@given(st.lists(st.text(alphabet="ab .[]S12(）。\n`", max_size=30), max_size=12))
def test_cutting_a_stream_anywhere_gives_the_same_claims(pieces: list[str]) -> None:
    def read(parts: list[str]) -> tuple[list[str], bool]:
        reader = ClaimReader()
        found = [claim.text for piece in parts for claim in reader.feed(piece)] + [claim.text for claim in reader.finish()]
        return found, reader.not_in_guide

    whole = "".join(pieces)
    assert read(list(whole)) == read([whole])


@pytest.mark.parametrize("scrap", ["Gates and", "Pilots.", "The gates", "Yes", "S1", "Signals and tides"])
def test_scraps_and_headings_said_back_are_no_answer(scrap: str) -> None:
    assert verified(Claim(scrap, ("S1",)), EVIDENCE, "") is None


def test_code_is_shown_only_where_the_guide_has_it() -> None:
    assert verified(Claim("```sh\nsignal --red on\n```", (), code=True), EVIDENCE, "") is not None
    assert verified(Claim("```sh\nrm -rf /\n```", (), code=True), EVIDENCE, "") is None


@pytest.mark.parametrize(
    ("question", "found"), [("engines", "engine"), ("квантования", "квантование"), ("양자화", "양자화"), ("μηχανές", "μηχανή")]
)
def test_word_forms_meet_in_the_index(question: str, found: str) -> None:
    assert set(words.terms(question)) & set(search.indexed(found).split())


@given(st.text(max_size=200))
def test_any_question_makes_a_query_that_sqlite_accepts(text: str) -> None:
    from tutor.store.index import SectionIndex

    index = SectionIndex([GUIDE])
    index.search(text, [GUIDE], limit=3)
    index.close()


PROBING = Traits("scripted", model="script", answerable_from={"en": 0.33})
DECLINED = ["NOT_IN_GUIDE", Finish(declined=True)]


async def test_a_model_is_asked_first_whether_the_guide_answers_and_its_no_is_a_refusal() -> None:
    engine = ScriptedEngine([DECLINED], traits=PROBING)
    async with answering(engine) as made:
        reply = await final(made, "How much does a pilot earn before a ship enters?")
    assert (reply.kind, reply.reason, reply.sentences) == (Kind.REFUSAL, Reason.NOT_COVERED, ())
    probe = engine.prompts[0].probe
    assert probe is not None
    assert probe.least == 0.33
    assert probe.text.splitlines()[:-1] == engine.prompts[0].messages[-1].text.splitlines()[:-1], "what is read for it is used again"


async def test_a_refusal_after_a_yes_to_the_probe_is_a_slip_and_the_guide_is_quoted() -> None:
    async with answering(ScriptedEngine([["NOT_IN_GUIDE"]], traits=PROBING)) as made:
        reply = await final(made, "How much does a pilot earn before a ship enters?")
    assert (reply.kind, reply.reason) == (Kind.QUOTE, Reason.UNVERIFIED)


async def test_a_question_that_a_section_surely_covers_is_not_probed() -> None:
    engine = ScriptedEngine([["The outer gate closes at dusk [S1]."]], traits=PROBING)
    async with answering(engine) as made:
        await final(made, "When does the outer gate close?")
    assert engine.prompts[0].probe is None


UNFOUND = "Which mariner steers vessels into dock after sundown, a pilot?"  # one word of six stands in the guide


async def test_a_model_that_is_surer_than_usual_answers_what_search_finds_covered_by_no_section() -> None:
    engine = ScriptedEngine([["A pilot boards every ship longer than 60 metres [S2]."], DECLINED], traits=PROBING)
    async with answering(engine) as made:
        reply = await final(made, UNFOUND)
        assert (reply.kind, reply.reason) == (Kind.ANSWER, None)
        assert (await final(made, UNFOUND)).kind is Kind.REFUSAL
    assert [prompt.probe.least for prompt in engine.prompts if prompt.probe] == [pytest.approx(0.46)] * 2


GONE = EngineDown("scripted", "gone", "Start it")


@pytest.mark.parametrize("reply", [["NOT_IN_GUIDE"], ["Nobody knows [S2]."], [GONE], [Finish(quoted=True)]])
async def test_what_search_finds_uncovered_is_never_quoted(reply: list[Step]) -> None:
    async with answering(ScriptedEngine([reply], traits=PROBING)) as made:
        shown = await final(made, UNFOUND)
    assert (shown.kind, shown.reason, shown.sentences) == (Kind.REFUSAL, Reason.NOT_COVERED, ())


@pytest.mark.parametrize("broken", [ValueError("a bug"), RuntimeError("a worse one"), asyncio.IncompleteReadError(b"", 1)])
async def test_an_engine_that_raises_what_it_must_not_still_leaves_a_reply(broken: Exception, caplog: pytest.LogCaptureFixture) -> None:
    async with answering(ScriptedEngine([[broken]])) as made:
        reply = await final(made, "When does the outer gate close?")
    assert (reply.kind, reply.reason) == (Kind.QUOTE, Reason.ENGINE_FAILED)
    assert "broke its contract" in caplog.text


class Silent(ScriptedEngine):
    """Says half a sentence, and then nothing for ever, whatever the deadline."""

    async def _say(self, prompt: Prompt, reply: Reply, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        yield "The outer gate closes"
        await asyncio.Event().wait()


async def test_a_class_that_asks_together_is_searched_for_a_few_at_a_time_and_all_get_a_reply() -> None:
    class Watched(Retriever):
        now = most = 0

        async def find(self, question: str, guides: Sequence[Guide], *, limit: int) -> list[Hit]:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            self.now -= 1
            return await super().find(question, guides, limit=limit)

    retriever = Watched(LIBRARY)
    made = Answering(LIBRARY, retriever, QuotingEngine(), QuotingEngine())

    async def last(learner: int) -> TutorReply:
        return [reply async for reply in made.ask(Asked("When does the outer gate close?", "en", learner, guide_id="harbour"))][-1]

    replies = await asyncio.gather(*map(last, range(100)))
    await made.aclose()
    assert {(reply.kind, reply.text) for reply in replies} == {(Kind.QUOTE, replies[0].text)}
    assert retriever.most == module.SEARCHED_AT_ONCE


async def test_an_engine_that_does_not_keep_its_deadline_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DEADLINE_S", 0.05)
    monkeypatch.setattr(module, "GRACE_S", 0.05)
    async with answering(Silent([[]])) as made:
        reply = await final(made, "When does the outer gate close?")
    assert (reply.kind, reply.reason) == (Kind.QUOTE, Reason.ENGINE_FAILED)


async def test_a_stream_that_just_stops_is_a_failure_and_half_a_sentence_of_it_is_not_shown() -> None:
    class Stopping(Silent):
        async def _say(self, prompt: Prompt, reply: Reply, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
            yield "The outer gate closes at dusk [S1].\nIt weighs"

    async with answering(Stopping([[]])) as made:
        reply = await final(made, "When does the outer gate close?")
    assert (reply.kind, reply.reason, len(reply.sentences)) == (Kind.ANSWER, Reason.ENGINE_FAILED, 1)


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("The outer gate weighs 48 tons.", True),
        ("The outer gate weighs 48 kB.", False),  # a number of the guide with a unit that it does not have there
        ("A ship longer than 60 metres needs a pilot.", True),
        ("The outer gate closes after 48 ms.", False),
    ],
)
def test_a_number_keeps_its_unit(sentence: str, shown: bool) -> None:
    assert (verified(Claim(sentence, ()), EVIDENCE, "") is not None) is shown


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("每个 SM 有 2048 个线程。", True),
        ("Each SM has 2048 threads and 32 thread blocks.", False),  # the numbers are right, and what they count is nobody's
        ('The guide states that "线程块" can be counted.', False),
        ("AWQ、FP8、SmoothQuant、torch.compile。", True),  # names alone are Latin in every language
    ],
)
def test_a_sentence_that_leaves_the_language_of_its_guide_is_not_shown(sentence: str, shown: bool) -> None:
    section = Section("occupancy", "占用率", "每个 SM 有 2048 个线程、32 个线程块。AWQ、FP8、SmoothQuant、torch.compile 见下文。")
    evidence = (Evidence("S1", replace(GUIDE, language="zh"), section),)
    assert (verified(Claim(sentence, ()), evidence, "") is not None) is shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("The guide states that the outer gate closes at dusk.", "The outer gate closes at dusk."),
        ("According to the guide, it weighs 48 tons.", "It weighs 48 tons."),
        ("The guide says that `signal` stops traffic by a red lamp.", "`signal` stops traffic by a red lamp."),
        ("High tide raises the basin.", "High tide raises the basin."),
    ],
)
def test_that_the_guide_says_so_is_left_to_the_citation(said: str, shown: str) -> None:
    sentence = verified(Claim(said, ()), EVIDENCE, "")
    assert sentence is not None
    assert sentence.text == shown


def test_a_unit_may_stand_apart_from_its_number() -> None:
    section = Section("bits", "Bits", "Going from 16 bits to 4 leaves a quarter of the weights. A step takes 128-256 ms, the cache 48 KiB.")
    evidence = (Evidence("S1", GUIDE, section),)
    for sentence in ("Going to 4 bits leaves a quarter.", "4-bit weights are a quarter.", "A step takes 256 ms.", "The cache takes 48KiB."):
        assert verified(Claim(sentence, ()), evidence, ""), sentence
    for sentence in ("The cache takes 48 MiB.", "A step takes 16 ms.", "A step takes 128 bits."):
        assert verified(Claim(sentence, ()), evidence, "") is None, sentence


def test_a_reply_in_the_form_of_the_grammar_is_read_whole() -> None:
    grammar = prompting.line_grammar(["S1", "S2"])
    assert '"NOT_IN_GUIDE"' in grammar
    assert '("S1" | "S2")' in grammar
    claims = list(ClaimReader().feed("The outer gate closes at dusk [S1].\nA pilot boards [S2]\n"))
    assert [(claim.text, claim.tags) for claim in claims] == [("The outer gate closes at dusk", ("S1",)), ("A pilot boards", ("S2",))]


async def test_a_quiz_question_asked_in_its_own_words_is_answered_from_the_sections_that_its_author_named() -> None:
    body = TrueFalse(True)
    stem = Text({"en": "Match each keeper with his lamp.", "ko": "지기와 등을 짝지으세요."})
    question = Question("match", stem, body, evidence=(GuideRef("harbour", "code"),))
    quiz = Quiz("keepers", 1, Text({"en": "Keepers"}), ("en", "ko"), (question,))
    library = Library(guides=LIBRARY.guides, quizzes={"keepers": quiz})
    retriever = Retriever(library)
    assert [ref.section for ref in retriever.repeated("match each keeper with his LAMP", [GUIDE])] == ["code"]
    assert [ref.section for ref in retriever.repeated("Why? Match each keeper with his lamp. Thanks!", [GUIDE])] == ["code"]
    assert [ref.section for ref in retriever.repeated("지기와 등을 짝지으세요.", [GUIDE])] == ["code"]
    assert retriever.repeated("Match each keeper with his lamplight.", [GUIDE]) == ()
    assert retriever.repeated("match each keeper with his lamp", []) == ()
    made = Answering(library, retriever, QuotingEngine(), QuotingEngine())
    reply = await final(made, "Match each keeper with his lamp.")
    assert (reply.kind, reply.considered[0].section_id) == (Kind.QUOTE, "code")
    locked = await final(made, "Match each keeper with his lamp.", locks=(Lock(quiz, quiz.questions[0]),))
    assert locked.reason is Reason.LOCKED
    await made.aclose()


async def test_a_models_answer_stands_beside_the_guides_own_sentence_unless_it_says_the_same() -> None:
    script = [["The outer gate was built in 1911 [S1]."], ["The outer gate weighs 48 tons and was built in 1911 [S1]."]]
    async with answering(ScriptedEngine(script)) as made:
        reply = await final(made, "How many tons does the outer gate weigh?")
        assert [(sentence.text, sentence.quoted) for sentence in reply.sentences] == [
            ("The outer gate was built in 1911.", False),  # true, and no answer: the check of words cannot tell
            ("It weighs 48 tons and was built in 1911.", True),
        ]
        assert reply.kind is Kind.ANSWER
        reply = await final(made, "How many tons does the outer gate weigh?")
        assert [sentence.quoted for sentence in reply.sentences] == [False]


@pytest.mark.parametrize("echo", ["Yes, a pilot boards the gate.", "The pilot boards the gate", "So a pilot boards at the gate?"])
def test_the_question_said_back_is_no_answer(echo: str) -> None:
    assert verified(Claim(echo, ("S2",)), EVIDENCE, "Is it true that a pilot boards at the outer gate?") is None


async def test_a_quiz_question_in_another_language_than_the_guide_is_quoted_the_sections_own_summary() -> None:
    question = Question("match", Text({"ko": "지기와 등을 짝지으세요."}), TrueFalse(True), evidence=(GuideRef("harbour", "gates"),))
    quiz = Quiz("keepers", 1, Text({"en": "Keepers"}), ("ko",), (question,))
    library = Library(guides=LIBRARY.guides, quizzes={"keepers": quiz})
    made = Answering(library, Retriever(library), QuotingEngine(), QuotingEngine())
    reply = await final(made, "지기와 등을 짝지으세요.")
    assert (reply.kind, reply.text) == (Kind.QUOTE, "Gates and locks. [1]")
    await made.aclose()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("The outer gate closes at dusk", "The outer gate closes at dusk."),
        ("The outer gate closes at dusk.", "The outer gate closes at dusk."),
        ("Does the outer gate close at dusk?", "Does the outer gate close at dusk?"),
        ("The outer gate closes at `dusk`", "The outer gate closes at `dusk`."),
    ],
)
def test_a_sentence_keeps_its_stop_though_it_stood_behind_the_tag(written: str, shown: str) -> None:
    sentence = verified(Claim(written, ("S1",)), EVIDENCE, "")
    assert sentence is not None
    assert sentence.text == shown


def test_a_chinese_sentence_ends_in_its_own_stop() -> None:
    evidence = (Evidence("S1", GUIDE, Section("x", "外门", "外门在黄昏时关闭。它重48吨。")),)
    sentence = verified(Claim("外门在黄昏时关闭", ("S1",)), evidence, "什么时候?")
    assert sentence is not None
    assert sentence.text == "外门在黄昏时关闭。"
