"""The sample banks of the text formats come in whole: counts, keys and details that were looked over by eye.

Skips with a reason where the samples are not at hand. Every sample is found by its content alone, whatever its name.
"""

from __future__ import annotations

import pytest

from content.model import Choices, Scoring, Severity, Text
from content.readers import detect, read_bytes, read_file
from content.readers.base import keys_of
from tests.importing.conftest import codes, outline, sample_path

COUNTS = {
    "aiken/aiken_hebrew_english_sample.txt": ("aiken", 3, 3),
    "aiken/questions.aiken.txt": ("aiken", 2, 2),
    "anki/zhongwen-output.tsv": ("csv", 2, 2),
    "csv/male-voices-quiz.csv": ("csv", 16, 16),
    "gift/numerical1.gift": ("gift", 10, 10),
    "gift/options1.gift": ("gift", 14, 14),
    "jupyterquiz/questions.json": ("jupyterquiz", 8, 8),
    "mcq-markdown/README_ar-EG.md": ("markdown", 43, 43),
    "mcq-markdown/textmd_simple_quiz.txt": ("markdown", 5, 5),
    "mdbook-quiz/ch04-05-ownership-recap.toml": ("mdbook", 7, 7),
    "opentdb/opentdb-with-comment-header.json": ("opentdb", 10, 10),
    "opentriviaqa/brain-teasers": ("opentriviaqa", 207, 207),
    "qa-markdown/disruptor-questions.md": ("markdown", 7, 7),
    "qa-markdown/what-does-a-doctype-do/en-US.mdx": ("markdown", 1, 1),
    "qa-markdown/what-does-a-doctype-do/zh-CN.mdx": ("markdown", 1, 1),
    "quizlet/quizlet.txt": ("quizlet", 54, 54),
    "red-trivia/computers.yaml": ("red", 164, 164),
    "text2qti/quiz.txt": ("text2qti", 11, 7),
    "text2qti/test_quiz.txt": ("text2qti", 17, 17),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_sample_is_recognised_by_its_content_and_read_whole(sample, name: str) -> None:
    data = sample(name)
    format, found, imported = COUNTS[name]
    assert detect(data, "unnamed")[0][0].name == format
    result = read_bytes(data, name.rpartition("/")[2])
    assert (result.format, result.read, result.imported) == (format, found, imported)
    assert len({question.id for question in result.questions}) == imported
    assert all(question.line > 0 for question in result.questions)


def letters(result) -> str:
    return "".join(keys_of(question.body.choices)[0] for question in result.questions if isinstance(question.body, Choices))


def test_hebrew_and_english_aiken_keys(sample) -> None:
    result = read_bytes(sample("aiken/aiken_hebrew_english_sample.txt"), "a.txt")
    assert letters(result) == "daa"
    assert result.questions[2].body.choices[0].text == Text.of("בהחלט")


def test_gift_weights_feedback_and_escapes(sample) -> None:
    result = read_bytes(sample("gift/options1.gift"), "o.gift")
    types = [str(question.type) for question in result.questions]
    assert (
        types
        == ["short", "short", "single", "single", "short", "short", "truefalse", "single", "single", "short"]
        + ["multiple"] * 2
        + ["single"] * 2
    )
    tomb = result.questions[11].body
    assert [choice.credit for choice in tomb.choices] == [-0.5, 1.0, 1.0, -0.5]
    assert (tomb.many, tomb.scoring) == (True, Scoring.PER_CHOICE)
    assert [choice.credit for choice in result.questions[8].body.choices] == [0, 0.25, 0.5, 1]
    assert [next(iter(choice.text)) for choice in result.questions[13].body.choices] == ["~", "=", "#", "{", "}", "\\"]
    assert keys_of(result.questions[13].body.choices) == ["f"]
    assert [problem.line for problem in result.problems if problem.code == "DUPLICATE"] == [57]


def test_gift_numbers(sample) -> None:
    result = read_bytes(sample("gift/numerical1.gift"), "n.gift")
    keys = [key for _, _, key in outline(result)]
    assert keys == [
        ["1822"],
        ["-1"],
        ["3.1415 ± 0.0005"],
        ["-3.142 ± 0.001"],
        ["3.141..3.142"],
        ["-3.142..-3.141"],
        ["1..5"],
        ["-5..5"],
        ["1822"],
        ["9"],
    ]
    assert [entry.credit for entry in result.questions[9].body.accept] == [0.0, 1.0, 0.0]
    assert "(http://fr.wikipedia.org/wiki/Design_Patterns)" in next(iter(result.questions[9].body.accept[2].feedback))


def test_arabic_markdown_keys_are_those_of_the_file(sample) -> None:
    result = read_bytes(sample("mcq-markdown/README_ar-EG.md"), "README.md")
    assert letters(result).upper() == "DCBAAACDAAAADBCCBCCCABBCCACABBCADBABCAACBAA"
    assert result.quiz is not None
    assert result.quiz.languages == ("ar",)
    assert "```javascript" in next(iter(result.questions[0].stem))
    assert [len(question.body.choices) for question in result.questions[:6]] == [4, 3, 4, 3, 4, 5]


def test_the_text2qti_dialect_with_headings(sample) -> None:
    result = read_bytes(sample("mcq-markdown/textmd_simple_quiz.txt"), "t.txt")
    assert [key for _, _, key in outline(result)] == [["8"], ["array"], True, ["Returns the number of items in an object"], True]
    assert result.questions[1].explanation == Text.of("array is from the NumPy library, not a built-in Python type")


def test_text2qti_types_and_the_questions_that_are_not_text2qti(sample) -> None:
    result = read_bytes(sample("text2qti/quiz.txt"), "quiz.txt")
    assert [str(question.type) for question in result.questions] == ["single", "truefalse", "multiple", "short", "short", "short", "open"]
    assert outline(result)[0][2] == ["5"]
    assert outline(result)[2][2] == ["Tyrannosaurus rex", "Triceratops"]
    assert outline(result)[3][2] == ["1.4142 ± 0.0001"]
    assert result.questions[6].points == 5
    errors = [(problem.line, problem.code) for problem in result.problems if problem.severity is Severity.ERROR]
    assert errors == [(54, "T2Q-ANSWERS"), (65, "T2Q-GAP"), (79, "T2Q-GAP"), (93, "T2Q-GAP")]


def test_text2qti_without_a_last_line_end(sample) -> None:
    result = read_bytes(sample("text2qti/test_quiz.txt"), "t.txt")
    assert letters(result) == "abaaaaaaaacaaa"
    assert [str(question.type) for question in result.questions[14:]] == ["open"] * 3


def test_jupyterquiz_keys(sample) -> None:
    result = read_bytes(sample("jupyterquiz/questions.json"), "q.json")
    assert [len(key) for kind, _, key in outline(result) if kind == "multiple"] == [4, 4]
    assert [key for kind, _, key in outline(result) if kind == "single"] == [["Markdown"], ["12"], ["`mylist+=[3]`"], ["$\\pi$"]]
    assert result.questions[4].body.accept[0].tolerance == pytest.approx(0.005)


def test_mdbook_keys(sample) -> None:
    result = read_bytes(sample("mdbook-quiz/ch04-05-ownership-recap.toml"), "c.toml")
    assert [str(question.type) for question in result.questions] == ["single"] * 4 + ["multiple"] + ["single"] * 2
    assert outline(result)[5][2] == ["This function COULD cause undefined behavior"]
    assert result.questions[0].id == "1ec0098c-c5dc-46de-a889-b6659c0af757"
    assert [question.line for question in result.questions[:2]] == [1, 38]


def test_opentdb_key_is_first_and_entities_are_text(sample) -> None:
    result = read_bytes(sample("opentdb/opentdb-with-comment-header.json"), "data.py")
    assert [str(question.type) for question in result.questions].count("truefalse") == 1
    assert letters(result) == "a" * 9
    assert outline(result)[3][1] == 'In flight systems, what does the initialism "TCAS" stand for?'
    assert result.questions[0].difficulty == 3
    assert result.quiz is not None
    assert result.quiz.source is not None
    assert result.quiz.source.licence == "CC-BY-SA-4.0"


def test_opentriviaqa_keys_and_duplicates(sample) -> None:
    result = read_bytes(sample("opentriviaqa/brain-teasers"), "brain-teasers")
    assert letters(result)[:5] == "bbcbd"
    assert codes(result).count("DUPLICATE") == 9
    assert all(question.body.choices for question in result.questions if isinstance(question.body, Choices))


def test_red_answers_keep_what_is_written(sample) -> None:
    result = read_bytes(sample("red-trivia/computers.yaml"), "computers.yaml")
    assert sum(len(question.body.accept) for question in result.questions) == 221
    assert result.quiz is not None
    assert result.quiz.source is not None
    assert result.quiz.source.author == "JennJenn"
    assert outline(result)[7][2] == ["1.4 MB"]


def test_quizlet_terms(sample) -> None:
    result = read_bytes(sample("quizlet/quizlet.txt"), "quizlet.txt")
    assert outline(result)[0] == (
        "open",
        "Federal judiciary",
        "the branch of the federal government that interprets the laws of the nation",
    )
    assert all(stem == str(stem).strip() for _, stem, _ in outline(result))


def test_csv_keys_given_as_text(sample) -> None:
    result = read_bytes(sample("csv/male-voices-quiz.csv"), "m.csv")
    assert outline(result)[0][2] == ["Up to an inch and a half"]
    assert all(question.explanation for question in result.questions)


def test_chinese_questions_leave_the_reference_heading_out(sample) -> None:
    result = read_bytes(sample("qa-markdown/disruptor-questions.md"), "d.md")
    assert outline(result)[0][1] == "Disruptor 是什么？"
    assert [problem.line for problem in result.problems if problem.code == "MD-HEADING"] == [162]
    assert result.quiz is not None
    assert result.quiz.languages == ("zh",)


def test_a_folder_of_languages_is_one_question() -> None:
    result = read_file(sample_path("qa-markdown/what-does-a-doctype-do"))
    question = result.questions[0]
    assert set(question.stem.by_language) == {"en-US", "zh-CN"}
    assert question.body.reference is not None
    assert set(question.body.reference.by_language) == {"en-US", "zh-CN"}
    assert (question.difficulty, question.time_limit_s, question.tags) == (4, 300, ("html",))
