"""CSV, TSV, Quizlet and Anki text: separators, headers in many languages, keys of every kind, and cards."""

from __future__ import annotations

import pytest

from content.model import Open, Severity, Text, TrueFalse
from content.readers.base import Report
from content.readers.columns import layout_of, read_rows
from content.readers.delimited import split_rows
from tests.importing.conftest import codes, outline, read


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_any_common_separator_is_found(separator: str) -> None:
    rows = [["Question", "Option A", "Option B", "Correct Answer"], ["q?", "x", "y", "B"]]
    result = read("\n".join(separator.join(row) for row in rows), "csv")
    assert outline(result) == [("single", "q?", ["y"])]


@pytest.mark.parametrize(
    "header",
    [
        "Frage,Antwort A,Antwort B,Richtige Antwort",
        "Pregunta,Opción A,Opción B,Respuesta correcta",
        "Question,Réponse A,Réponse B,Bonne réponse",
        "题目,选项A,选项B,答案",
        "問題,選択肢1,選択肢2,正解",
        "문제,보기1,보기2,정답",
        "Вопрос,Вариант А,Вариант Б,Правильный ответ",
        "Question,A,B,Answer",
        "Question Text,Answer 1,Answer 2,Correct",
    ],
)
def test_headers_of_many_languages_are_understood(header: str) -> None:
    assert outline(read(f"{header}\nq?,x,y,2\n", "csv")) == [("single", "q?", ["y"])]


@pytest.mark.parametrize(
    ("key", "right"), [("B", ["y"]), ("2", ["y"]), ("y", ["y"]), ("Y", ["y"]), ("A;C", ["x", "z"]), ("1,3", ["x", "z"])]
)
def test_a_key_is_a_letter_a_number_or_a_text(key: str, right: list[str]) -> None:
    result = read(f'Question,Option 1,Option 2,Option 3,Answer\nq?,x,y,z,"{key}"\n', "csv")
    assert outline(result)[0][2] == right


def test_numbers_as_choices_are_told_from_positions_by_the_whole_file() -> None:
    head = "Question,Option 1,Option 2,Option 3,Option 4,Answer\n"
    positions = read(head + "2+2?,3,4,5,6,2\n3+3?,6,7,8,9,1\n", "csv")
    assert [key for _, _, key in outline(positions)] == [["4"], ["6"]]
    texts = read(head + "2+2?,3,4,5,6,4\n3+3?,6,7,8,9,6\n", "csv")
    assert [key for _, _, key in outline(texts)] == [["4"], ["6"]]


def test_a_file_that_can_be_read_both_ways_says_so() -> None:
    result = read("Question,Option 1,Option 2,Option 3,Option 4,Answer\nq?,3,4,1,2,3\n", "csv")
    assert codes(result) == ["KEY-UNSURE"]


def test_a_key_that_fits_nothing_is_a_draft_with_its_line() -> None:
    result = read("Question,Option 1,Option 2,Answer\nq?,x,y,Z\nr?,x,y,x\n", "csv")
    assert (result.imported, len(result.drafts)) == (1, 1)
    assert [(problem.line, problem.code) for problem in result.problems] == [(2, "ROW-KEY")]


def test_wayground_rows_and_types() -> None:
    text = (
        "Question Text,Question Type,Option 1,Option 2,Option 3,Correct Answer,Time in seconds,Image Link,Answer explanation\n"
        "Text of the question,(default is Multiple Choice),Text for option 1,,,,,,\n"
        "Which?,Multiple Choice,3,1,2,2,20,https://a.b/c.png,Because\n"
        'Which two?,Checkbox,x,y,z,"1,3",,,\n'
        "Fill,Fill-in-the-Blank,cat,kitty,,,,,\n"
        "Say,Open-Ended,,,,,,,\n"
        "Sky?,Multiple Choice,True,False,,1,,,\n"
    )
    result = read(text, "csv")
    assert [kind for kind, _, _ in outline(result)] == ["single", "multiple", "short", "open", "truefalse"]
    assert [key for _, _, key in outline(result)] == [["1"], ["x", "z"], ["cat", "kitty"], None, True]
    first = result.questions[0]
    assert (first.time_limit_s, first.media[0].url, first.explanation) == (20, "https://a.b/c.png", Text.of("Because"))
    assert first.line == 3


def test_two_columns_are_short_or_open_by_the_length_of_the_answer() -> None:
    result = read("Question,Answer\nCapital?,Rome\nWhy?,Because of a reason that nobody will ever type in\nTrue?,false\n", "csv")
    assert isinstance(result.questions[1].body, Open)
    assert result.questions[2].body == TrueFalse(False)
    assert outline(result)[0] == ("short", "Capital?", ["Rome"])


def test_quotes_hold_separators_and_line_ends_and_a_stray_one_costs_nothing() -> None:
    text = 'Question,Option A,Option B,Answer\n"q, ""one""\nmore?",x,y,A\n"stray,x,y,B\nlast?,x,y,B\n'
    result = read(text, "csv")
    assert [stem for _, stem, _ in outline(result)] == ['q, "one"\nmore?', '"stray', "last?"]
    assert [question.line for question in result.questions] == [2, 4, 5]
    assert [problem.line for problem in result.problems if problem.code == "CSV-QUOTE"] == [4]


def test_rows_know_their_lines() -> None:
    assert split_rows('a,"b\nc",d\ne,,"f"', ",") == [(1, ["a", "b\nc", "d"]), (3, ["e", "", "f"])]
    assert split_rows("a,\n", ",") == [(1, ["a", ""])]


def test_columns_without_a_header_are_guessed_with_a_warning() -> None:
    result = read("q1?,x,y,z,x\nq2?,x,y,z,z\n", "csv", "bank.csv")
    assert [key for _, _, key in outline(result)] == [["x"], ["z"]]
    assert codes(result) == ["CSV-NO-HEADER"]


def test_options_in_one_cell_wrong_answer_columns_and_languages() -> None:
    one_cell = read('Question,Options,Answer\nq?,"x|y|z",y\n', "csv")
    assert outline(one_cell) == [("single", "q?", ["y"])]
    wrong = read("Question,Correct Answer,Wrong 1,Wrong 2\nq?,x,y,z\n", "csv")
    assert outline(wrong) == [("single", "q?", ["x"])]
    languages = read("Question (en),Question (zh),Option A,Option B,Answer\nWhich?,哪个？,x,y,A\n", "csv")
    assert languages.questions[0].stem == Text({"en": "Which?", "zh": "哪个？"})


def test_the_mapping_serves_spreadsheets_whose_keys_count_choices() -> None:
    layout = layout_of(["Question - max 120 characters", "Answer 1", "Answer 2", "Answer 3", "Time limit", "Correct answer"])
    assert layout is not None
    report = Report("kahoot", "k.xlsx")
    read_rows([(9, ["q?", "2", "3", "1", "20", "1.0, 2"])], layout, report, several="any", positions=True)
    question = report.close().questions[0]
    assert [choice.credit for choice in question.body.choices] == [1.0, 1.0, 0.0]
    assert (question.body.many, question.time_limit_s, question.line) == (False, 20, 9)


def test_broken_numbers_and_types_are_told() -> None:
    result = read("Question,Option A,Option B,Answer,Points,Type\nq?,x,y,A,many,\nr?,x,y,A,2,Draw\n", "csv")
    assert [(problem.code, problem.severity) for problem in result.problems] == [
        ("ROW-FIELD", Severity.WARNING),
        ("ROW-TYPE", Severity.ERROR),
    ]


def test_quizlet_lines_without_a_separator_join_the_card_above() -> None:
    result = read("cat\tgato\ndog\tperro\nque ladra\nbird\tave\nfish\tpez\n", "quizlet")
    assert [key for _, _, key in outline(result)] == [["gato"], "perro\nque ladra", ["ave"], ["pez"]]
    assert "CARD-LINES" in codes(result)


def test_anki_text_headers_columns_and_clozes() -> None:
    text = (
        "#separator:Semicolon\n#html:true\n#guid column:1\n#tags column:4\n#columns:Guid;Front;Back;Tags;Extra\n# a comment\n"
        'g-1;"a <b>bold</b>; word";back<br>two;one two;more\n'
        "g2;{{c1::Rome::city}} is in {{c2::Italy}};;;\n"
        "g3;;nothing;;\n"
    )
    result = read(text, "anki-text")
    first, second = result.questions
    assert (first.id, first.stem, first.tags) == ("g-1", Text.of("a **bold**; word"), ("one", "two"))
    assert first.explanation == Text.of("Extra: more")
    assert second.stem == Text.of("{{b1}} is in {{b2}}")
    assert [blank.accept[0].text for blank in second.body.blanks] == ["Rome", "Italy"]
    assert second.hints == (Text.of("1: city"),)
    assert [(problem.line, problem.code) for problem in result.problems if problem.severity is Severity.ERROR] == [(9, "CARD-FRONT")]
