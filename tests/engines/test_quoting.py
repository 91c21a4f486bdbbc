"""The quoting engine on five languages: what it picks, what it leaves whole, and that it never says more than the guide."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.base import NOT_IN_GUIDE, Finish, Passage, Prompt
from engines.quoting import QuotingEngine, best, keys, quotes, sentences

ENGLISH = Passage(
    "S1",
    "Why an engine is tied to one GPU",
    """An engine holds kernels that were timed on one GPU. It does not load on
another kind of GPU, e.g. on a T4. Build it again there.

- A timing cache makes the second build about 3.5 times faster.
- Strong typing keeps the types of the network.

```python
config.set_flag(trt.BuilderFlag.FP16)
print("a. b. c")
```
""",
)
KOREAN = Passage(
    "S1", "엔진", "엔진은 한 GPU에 맞춰 만들어집니다. 다른 GPU에서는 다시 빌드해야 합니다. 타이밍 캐시는 두 번째 빌드를 빠르게 합니다."
)
GREEK = Passage("S1", "Μηχανές", "Κάθε μηχανή φτιάχνεται για μία κάρτα. Σε άλλη κάρτα τη χτίζουμε ξανά. Η κβάντιση μικραίνει το μοντέλο.")
RUSSIAN = Passage(
    "S1", "Движки", "Движок собирается под одну видеокарту. На другой карте его собирают заново. Квантование уменьшает модель."
)
CHINESE = Passage("S1", "引擎", "引擎是为一块显卡生成的。换一种显卡就要重新构建！量化会缩小模型。")


def ask(question: str, *passages: Passage) -> list[str]:
    return [quote.cited() for quote in best(Prompt((), question, passages))]


@pytest.mark.parametrize(
    ("question", "passage", "start"),
    [
        ("Why do engines not load on another GPU?", ENGLISH, "It does not load on another kind of GPU, e.g. on a T4."),
        ("What is a timing cache for?", ENGLISH, "A timing cache makes the second build about 3.5 times faster."),
        ("다른 GPU에서도 엔진을 쓸 수 있나요?", KOREAN, "다른 GPU에서는 다시 빌드해야 합니다."),
        ("Τι κάνει η κβαντιση;", GREEK, "Η κβάντιση μικραίνει το μοντέλο."),
        ("Что делает квантование с моделью?", RUSSIAN, "Квантование уменьшает модель."),
        ("量化有什么用？", CHINESE, "量化会缩小模型。"),
    ],
)
def test_the_sentence_that_answers_comes_first_in_every_language(question: str, passage: Passage, start: str) -> None:
    assert ask(question, passage)[0] == f"{start} [S1]"


@pytest.mark.parametrize(
    "question", ["Who won the cup?", "오늘 날씨 어때?", "Какая сегодня погода?", "今天天气怎么样？", "Τι καιρό κάνει;", "", "??!"]
)
async def test_a_question_that_shares_no_word_gets_the_marker_alone(question: str) -> None:
    passages = (ENGLISH, KOREAN, GREEK, RUSSIAN, CHINESE)
    said = [piece async for piece in QuotingEngine().stream(Prompt((), question, passages), max_tokens=9, deadline_s=1)]
    assert said == [NOT_IN_GUIDE, Finish(quoted=True)]


def test_the_passage_that_fits_is_the_one_cited() -> None:
    other = Passage("S2", "Quantization", "Quantization stores weights in fewer bits.")
    assert ask("Which bits does quantization use for weights?", ENGLISH, other)[0].endswith("[S2]")


def test_sentences_end_where_a_reader_would_end_them() -> None:
    text = "Use INT8, e.g. on a T4. It costs 0.5 points, cf. Fig. 3 of J. Smith. Really? Yes!"
    assert sentences(text) == ["Use INT8, e.g. on a T4.", "It costs 0.5 points, cf. Fig. 3 of J. Smith.", "Really?", "Yes!"]
    assert sentences("引擎绑定显卡。为什么？“因为快。”对！") == ["引擎绑定显卡。", "为什么？", "“因为快。”", "对！"]
    assert sentences("Τι είναι; Είναι μηχανή.") == ["Τι είναι;", "Είναι μηχανή."]
    assert sentences("One; two; three.") == ["One; two; three."]


def test_a_code_block_is_quoted_whole_or_not_at_all() -> None:
    code = [quote for quote in quotes(ENGLISH) if quote.code]
    assert [quote.text.splitlines()[0] for quote in code] == ["```python"]
    assert code[0].text.endswith("```")
    assert code[0].cited().endswith("```\n[S1]"), "a tag on the fence's own line would keep the fence open"


def test_list_marks_headings_comments_and_table_rules_are_not_quoted() -> None:
    text = "## Heading\n\n> Summary here.\n\n1. first step\n2. second step\n\n| a | b |\n| --- | --- |\n| x | y |\n<!-- facts: T-001 -->"
    assert [quote.text for quote in quotes(Passage("S1", "", text))] == [
        "Summary here.",
        "first step",
        "second step",
        "| a | b |",
        "| x | y |",
    ]


def test_accents_case_and_endings_do_not_hide_a_match() -> None:
    assert keys("Η ΜΗΧΑΝΉ") == keys("μηχανη")
    assert keys("engines") == keys("Engine")
    assert not keys("what is the how of it")


WORDS = st.sampled_from(
    ["engine", "cache.", "GPU", "엔진은", "引擎。", "Движок!", "μηχανή;", "3.5", "e.g.", "\n", "\n\n", "- ", "```\n", "| a |"]
)


@given(st.lists(WORDS, max_size=40).map(" ".join), st.sampled_from(["engine cache", "엔진은", "引擎", "движки", "μηχανή"]))
def test_every_quoted_line_is_in_the_guide(text: str, question: str) -> None:
    found = best(Prompt((), question, (Passage("S1", "t", text),)))
    bare = re.sub(r"[\s-]", "", text)
    for quote in found:
        assert re.sub(r"[\s-]", "", quote.text) in bare
    if question == "引擎" and "引擎" in text:
        assert found


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=300))
def test_cutting_into_sentences_loses_no_letter(text: str) -> None:
    assert re.sub(r"\s+", "", "".join(sentences(text))) == re.sub(r"\s+", "", text)


def test_the_same_prompt_always_gives_the_same_answer() -> None:
    prompt = Prompt((), "Why does an engine not load?", (ENGLISH, KOREAN))
    assert best(prompt) == best(prompt)
