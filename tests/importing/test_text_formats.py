"""Aiken, text2qti, Markdown lists and trivia lists with the quirks of files in the wild, in several languages."""

from __future__ import annotations

import pytest

from content.model import Open, Scoring, Severity, Text, TrueFalse
from content.readers import detect
from tests.importing.conftest import codes, outline, read

# --- Aiken ---


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Q?\nA. x\nB. y\nANSWER: B", ["y"]),
        ("Q?\na) x\nb) y\nAnswer: b", ["y"]),
        ("Q?\nA.x\nB.y\nANSWER: B\n", ["y"]),
        ("Frage?\nA) x\nB) y\nANTWORT: B", ["y"]),
        ("Вопрос?\nА) икс\nБ) игрек\nОтвет: Б", ["игрек"]),
        ("问题？\nA．甲\nB．乙\n答案：B", ["乙"]),
        ("問題？\n①甲\n②乙\n正解：②", ["乙"]),
        ("질문?\n가. 하나\n나. 둘\n정답: 나", ["둘"]),
        ("سؤال؟\nأ) واحد\nب) اثنان\nالإجابة: ب", ["اثنان"]),
        ("שאלה?\nא. אחת\nב. שתיים\nתשובה: ב", ["שתיים"]),
        ("Ερώτηση;\nΑ) ένα\nΒ) δύο\nΑπάντηση: Β", ["δύο"]),
        ("Q?\n1) x\n2) y\nANSWER: B", ["y"]),
        ("Q\u00a0?\r\nA.\u00a0x\r\nB.\ty\r\nANSWER:\u00a0B", ["y"]),
    ],
)
def test_aiken_labels_and_answer_words_of_many_languages(text: str, key: list[str]) -> None:
    result = read(text, "aiken")
    assert [found for _, _, found in outline(result)] == [key], result.problems


def test_aiken_several_answers_and_true_false_are_read_with_a_warning() -> None:
    result = read("A?\nA. x\nB. y\nC. z\nANSWER: A, C\n\nThe sky is blue.\nANSWER: TRUE", "aiken")
    assert [key for _, _, key in outline(result)] == [["x", "z"], True]
    assert codes(result) == ["AIKEN-SEVERAL", "AIKEN-TRUE-FALSE"]


def test_aiken_stems_and_choices_over_several_lines() -> None:
    result = read("First line\nsecond line?\nA. x\ngoes on\nB. y\nANSWER: A\nBecause of x.\n\nNext?\nA. p\nB. q\nANSWER: B", "aiken")
    assert outline(result)[0] == ("single", "First line\nsecond line?", ["x\ngoes on"])
    assert result.questions[0].explanation == Text.of("Because of x.")
    assert outline(result)[1][1] == "Next?"


def test_aiken_questions_without_a_key_are_drafts_and_lose_no_neighbour() -> None:
    result = read("One?\nA. x\nB. y\n\nTwo?\nA. p\nB. q\nANSWER: B\n\nThree?\nA. k\nB. l\nANSWER: E", "aiken")
    assert [stem for _, stem, _ in outline(result)] == ["Two?"]
    assert [draft.stem for draft in result.drafts] == [Text.of("One?"), Text.of("Three?")]
    assert [problem.line for problem in result.problems] == [1, 10]


def test_choices_that_name_letters_are_not_shuffled() -> None:
    result = read("Q?\nA. x\nB. y\nC. Answers A) and B)\nANSWER: C", "aiken")
    assert result.questions[0].shuffle is False
    assert codes(result) == ["LETTERS-IN-TEXT"]


def test_none_of_the_above_keeps_its_place() -> None:
    choices = read("Q?\nA. x\nB. y\nC. None of the above\nANSWER: A", "aiken").questions[0].body.choices
    assert [choice.fixed for choice in choices] == [False, False, True]


def test_signs_that_discord_would_take_for_markup_are_escaped_in_plain_formats() -> None:
    result = read("What is 2*3*4 and __init__ for @everyone?\nA. x_1\nB. y\nANSWER: A", "aiken")
    assert outline(result)[0][1] == "What is 2\\*3\\*4 and \\_\\_init\\_\\_ for @\u200beveryone?"
    assert outline(result)[0][2] == ["x_1"]


# --- text2qti ---


def test_text2qti_groups_regions_numbers_and_feedback() -> None:
    text = """Quiz title: T
shuffle answers: false

Text title: Note
Text: Read this.

GROUP
pick: 1
points per question: 2

1. Two?
! See page 3.
    more of it
= 1.4 +- 5%

2. Three?
= [1, 2]
END_GROUP

% a comment
COMMENT
3. hidden
END_COMMENT
4. Pick
*a) x
... yes
b) y
"""
    result = read(text, "text2qti")
    assert [str(question.type) for question in result.questions] == ["info", "short", "short", "single"]
    assert outline(result)[1][2] == ["1.4 ± 5%"]
    assert result.quiz is not None
    assert [(group.pick, group.points) for group in result.quiz.select.groups] == [(1, 2.0)]
    assert [question.group for question in result.questions] == [None, "g1", "g1", None]
    assert result.questions[3].shuffle is False
    assert result.questions[3].body.choices[0].feedback == Text.of("yes")


def test_text2qti_code_that_would_run_is_refused_with_its_line() -> None:
    text = "1. A?\n*a) x\nb) y\n\n```{.python .run}\nprint('2. B?')\n```\n\n3. C?\n*a) x\nb) y\n"
    result = read(text, "text2qti")
    assert [stem for _, stem, _ in outline(result)] == ["A?", "C?"]
    assert [(problem.line, problem.code) for problem in result.problems] == [(5, "T2Q-RUN")]


def test_text2qti_code_in_a_stem_stays_as_it_is() -> None:
    result = read("1.  What is printed?\n\n    ```python\n    for i in x:\n        print(i)\n    ```\n\n*a) x\nb) y\n", "text2qti")
    assert outline(result)[0][1] == "What is printed?\n\n```python\nfor i in x:\n    print(i)\n```"


def test_text2qti_mixed_or_missing_answers_cost_one_question() -> None:
    result = read("1. A?\n*a) x\n[*] y\n\n2. B?\n^^^^\n\n3. C?\na) x\nb) y\n\n4. D?\n____\n", "text2qti")
    assert [stem for _, stem, _ in outline(result)] == ["D?"]
    assert codes(result) == ["T2Q-MIXED", "T2Q-UPLOAD", "NO-KEY"]


# --- Markdown ---


@pytest.mark.parametrize(
    "text",
    [
        "### 1. Which?\n\n- A: x\n- B: y\n\n<details><summary>Answer</summary>\n<p>\n\n#### Answer: B\n\nBecause.\n</p>\n</details>\n",
        "1. Which?\n   - [ ] x\n   - [x] y\n\n   Because.\n",
        "**1. Which?**\n\nA) x\nB) y\n\n**Answer:** b\n\nBecause.\n",
        "Q1. Which?\n(A) x\n(B) y\nAnswer: (B)\nExplanation: Because.\n",
        "1) Which?\na) A) x\nb) B) y\nAns: b\nBecause.\n",
        "## Question 1\n\nWhich?\n\na) x\n*b) y\n\nFeedback: Because.\n",
        "1. Which?\n\nA. x  B. y\n\nAnswer: B\n\nBecause.\n",
        "1. Which?\n\n| x | ***y*** |\n\nExplanation: Because.\n",
        "1. Which?\n- x\n- y ✓\n\nExplanation: Because.\n",
        "1. Which?\n- A) x\n- **B) y**\n\nExplanation: Because.\n",
        "###### 1. <a name=q1></a> Which?\n- A. x\n- B. y\n\n<details>\n<summary>Show</summary>\n\nB\n\nBecause.\n\n</details>\n",
        "第1题：Which?\nA、x\nB、y\n答案：B\n解析：Because.\n",
        "Вопрос 1. Which?\nА) x\nБ) y\nОтвет: Б\nПояснение: Because.\n",
    ],
)
def test_markdown_choices_and_keys_in_every_common_shape(text: str) -> None:
    result = read(text, "markdown")
    assert outline(result) == [("single", "Which?", ["y"])], (result.questions, result.problems)
    assert result.questions[0].explanation == Text.of("Because.")


def test_markdown_key_list_at_the_end() -> None:
    text = "1. One?\nA) x\nB) y\n\n2. Two?\nA) p\nB) q\n\n3. Three?\nA) k\nB) l\n\n## Answers\n\n1. B\n2. A\n3. B\n"
    assert [key for _, _, key in outline(read(text, "markdown"))] == [["y"], ["p"], ["l"]]
    inline = text.replace("1. B\n2. A\n3. B\n", "1-B, 2-A, 3-B\n")
    assert [key for _, _, key in outline(read(inline, "markdown"))] == [["y"], ["p"], ["l"]]


def test_markdown_without_a_key_is_a_draft() -> None:
    result = read("### 1. Which?\n- A: x\n- B: y\n\n### 2. That?\n- A: x\n- B: y\n\nAnswer: A\n", "markdown")
    assert (result.imported, len(result.drafts)) == (1, 1)
    assert result.problems[0].severity is Severity.ERROR


def test_markdown_code_belongs_to_the_stem_or_the_explanation() -> None:
    text = "### 1. Which?\n\n```js\n- A: no\n1. no\n```\n\n- A: x\n- B: y\n\nAnswer: A\n\n```js\nmore\n```\n"
    question = read(text, "markdown").questions[0]
    assert question.stem == Text.of("Which?\n\n```js\n- A: no\n1. no\n```")
    assert question.explanation == Text.of("```js\nmore\n```")


def test_markdown_truth_and_several_answers() -> None:
    result = read("1. True?\nA) True\nB) False\nAnswer: A\n\n2. Which two?\nA) x\nB) y\nC) z\nAnswer: A and C\n", "markdown")
    assert result.questions[0].body == TrueFalse(True)
    assert outline(result)[1] == ("multiple", "Which two?", ["x", "z"])
    assert result.questions[1].body.scoring is Scoring.ALL_OR_NOTHING


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\n## Why?\n\nBecause of *this*.\n\n## References\n\n- a\n",
        "Q: Why?\nA: Because of *this*.\n" + "\nQ: Really?\nA: Yes, it is as I say, and it always was like that.\n",
        "<details><summary>Why?</summary>\n\nBecause of *this*.\n\n</details>\n",
        "**Why?**\n\nBecause of *this*.\n",
        "---\ntitle: Why?\n---\n\nBecause of *this*.\n",
        "## 1. Why?\n\nBecause of *this*.\n\n**[⬆ Back to Top](#top)**\n",
    ],
)
def test_questions_with_answers_in_every_common_shape(text: str) -> None:
    result = read(text, "markdown")
    first = result.questions[0]
    assert first.stem == Text.of("Why?"), result.questions
    answer = next(iter(first.body.reference)) if isinstance(first.body, Open) else first.body.accept[0].text
    assert answer in ("Because of *this*.", "Because of this.")


def test_good_to_hear_becomes_a_rubric_and_components_are_dropped() -> None:
    text = (
        "import X from 'x'\n\n### What is it?\n\n#### Answer\n\nA thing.\n\n<Ad id=1 />\n\n#### Good to hear\n\n- names it\n- explains it\n"
    )
    result = read(text, "markdown")
    body = result.questions[0].body
    assert body.reference == Text.of("A thing.")
    assert [next(iter(point.criterion)) for point in body.rubric] == ["names it", "explains it"]
    assert codes(result) == ["MD-COMPONENT"]


# --- lists of trivia ---


def test_red_words_stay_as_written_and_traps_are_told() -> None:
    text = "AUTHOR: me\nIs it so?:\n- No\n- yes\nWhen?:\n- 12:30\n- 007\n- 443\nCONFIG:\n  delay: 20\nWhen?:\n- again\n"
    result = read(text, "red")
    assert [key for _, _, key in outline(result)] == [["No", "yes"], ["12:30", "007", "443"], ["again"]]
    assert codes(result).count("RED-TYPE") == 4
    assert "RED-DUPLICATE" in codes(result)
    assert result.questions[0].time_limit_s == 20


def test_red_broken_answers_cost_one_question() -> None:
    result = read("A?:\n- x\nB?:\n  k: v\nC?:\nD?: one\n", "red")
    assert [stem for _, stem, _ in outline(result)] == ["A?", "D?"]
    assert [problem.line for problem in result.problems if problem.severity is Severity.ERROR] == [4, 5]


def test_opentriviaqa_matches_the_answer_to_a_choice() -> None:
    result = read(
        "#Q One\nmore?\n^ the  cat.\nA dog\nВ The cat\n\n#Q Two?\n^ bird\nA dog\nB cat\n\n#Q Three?\n^ True\nA True\nB False\n",
        "opentriviaqa",
    )
    assert outline(result) == [("single", "One\nmore?", ["The cat"]), ("truefalse", "Three?", True)]
    assert len(result.drafts) == 1


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("::T::What? {=a ~b}\n", "gift"),
        ("What?\nA. x\nB. y\nANSWER: A\n", "aiken"),
        ("Quiz title: T\n\n1. Q\n*a) x\nb) y\n", "text2qti"),
        ("1. Q\n*a) x\nb) y\n\n2. R\n[*] x\n[ ] y\n", "text2qti"),
        ("### 1. Q\n- A: x\n- B: y\n\nAnswer: A\n", "markdown"),
        ("A?:\n- x\nB?:\n- y\n", "red"),
        ("#Q a\n^ b\nA b\nB c\n", "opentriviaqa"),
        ("Question,Option A,Option B,Answer\nq,x,y,A\n", "csv"),
        ("Frage;Antwort A;Antwort B;Richtige Antwort\nq;x;y;A\n", "csv"),
        ("term\tdefinition\nx\ty\nz\tw\n", "csv"),
        ("cat\tgato\ndog\tperro\nbird\tave\n", "quizlet"),
        ("#separator:tab\n#html:true\na\tb\n", "anki-text"),
        ('[[questions]]\ntype = "ShortAnswer"\nprompt.prompt = "q"\nanswer.answer = "a"\n', "mdbook"),
        ('[{"type": "numeric", "question": "q", "answers": []}]', "jupyterquiz"),
        ('{"response_code": 0, "results": [{"correct_answer": "a", "incorrect_answers": ["b"]}]}', "opentdb"),
    ],
)
def test_formats_are_told_apart_by_content(text: str, format: str) -> None:
    assert detect(text.encode(), "file.txt")[0][0].name == format
