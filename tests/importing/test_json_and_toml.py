"""OpenTDB, jupyterquiz and mdBook-quiz: every question type, every encoding of the API, and broken entries."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from content.model import ContentError, Text, TrueFalse
from tests.importing.conftest import codes, outline, read


def opentdb(change=str, **more) -> str:
    entry = {"type": "multiple", "difficulty": "hard", "category": "Art & more", "question": 'Who\'s "x"?', "correct_answer": "a"}
    entry |= {"incorrect_answers": ["b", "c"]} | more
    return json.dumps(
        {
            "response_code": 0,
            "results": [{k: [change(x) for x in v] if isinstance(v, list) else change(v) for k, v in entry.items()}],
        }
    )


@pytest.mark.parametrize(
    "change",
    [
        str,
        lambda text: text.replace("&", "&amp;").replace("'", "&#039;").replace('"', "&quot;"),
        lambda text: quote(text, safe=""),
        lambda text: base64.b64encode(text.encode()).decode(),
    ],
)
def test_opentdb_in_each_encoding_of_its_api(change) -> None:
    result = read(opentdb(change), "opentdb")
    assert outline(result) == [("single", 'Who\'s "x"?', ["a"])]
    assert (result.questions[0].difficulty, result.questions[0].tags) == (4, ("Art & more",))


def test_opentdb_pasted_into_a_script_keeps_its_lines() -> None:
    text = "// from the web\nconst data = " + json.dumps(json.loads(opentdb()), indent=1) + ";\n"
    result = read(text, "opentdb")
    assert result.questions[0].line == 1 + next(line for line, x in enumerate(text.split("\n")) if '"question"' in x)


def test_opentdb_codes_and_broken_entries() -> None:
    with pytest.raises(ContentError, match="code 5: it was asked too often"):
        read('{"response_code": 5, "results": []}', "opentdb")
    document = json.loads(opentdb())
    document["results"] += [
        {"question": "q"},
        3,
        {"question": "T?", "type": "boolean", "correct_answer": "True", "incorrect_answers": ["False"]},
    ]
    result = read(json.dumps(document), "opentdb")
    assert (result.read, result.imported, codes(result)) == (4, 2, ["OPENTDB-FIELD"] * 2)
    assert result.questions[1].body == TrueFalse(True)


def test_jupyterquiz_strings_numbers_and_any_of() -> None:
    bank = [
        {"question": "Name?", "type": "string", "answers": [{"answer": "Bob", "correct": True, "match_case": True, "feedback": "yes"}]},
        {"question": "Two?", "type": "multiple_choice", "answers": [{"answer": "a", "correct": True}, {"answer": "b", "correct": True}]},
        {"question": "N?", "type": "numeric", "answers": [{"type": "value", "value": "x", "correct": True}]},
        {"question": "E?", "type": "essay", "answers": [{"answer": "a"}]},
    ]
    result = read(json.dumps(bank), "jupyterquiz")
    assert result.questions[0].body.accept[0].case is True
    assert [choice.correct for choice in result.questions[1].body.choices] == [True, True]
    assert result.questions[1].body.many is False
    assert codes(result) == ["ANY-OF", "JQ-NUMBER", "JQ-TYPE"] or set(codes(result)) == {"ANY-OF", "JQ-NUMBER", "JQ-TYPE"}


def test_mdbook_types_and_shared_stems() -> None:
    text = """
[multipart]
m = "Shared."

[[questions]]
type = "ShortAnswer"
multipart = "m"
prompt.prompt = "Word?"
answer.answer = "box"
answer.alternatives = ["Box<T>"]

[[questions]]
type = "Tracing"
prompt.program = "fn main() { println!(\\"{}\\", 1); }"
answer.doesCompile = true
answer.stdout = "1\\n"

[[questions]]
type = "Tracing"
prompt.program = "let"
answer.doesCompile = false

[[questions]]
type = "MultipleChoice"
prompt.prompt = "Which?"
answer.answer = "x"
answer.answerIndex = 1
prompt.distractors = ["a", "b"]

[[questions]]
type = "Parsons"
prompt.prompt = "?"
answer.answer = "x"
"""
    result = read(text, "mdbook")
    assert result.questions[0].stem == Text.of("Shared.\n\nWord?")
    assert [key for _, _, key in outline(result)] == [["box", "Box<T>"], ["1"], False, ["x"]]
    assert [next(iter(choice.text)) for choice in result.questions[3].body.choices] == ["a", "x", "b"]
    assert [problem.line for problem in result.problems if problem.code == "MDBOOK-TYPE"] == [30]


@pytest.mark.parametrize(
    ("text", "format", "said"),
    [
        ('{"results": [', "opentdb", "x.txt:1: not JSON"),
        ('[{"question": NaN}]', "jupyterquiz", "NaN"),
        ('[{"question": 1, "question": 2}]', "jupyterquiz", "stands twice"),
        ("[" * 60 + "]" * 60, "jupyterquiz", "nested deeper"),
        ("[[questions]]\na = ", "mdbook", "not TOML"),
        ("a: &x [1]\nb: *x", "red", "aliases"),
        ("a:\n- !!python/object:os.system x", "red", "tag"),
        ("- a\n- b", "red", "not a list of questions"),
        ("a: 'x", "red", "not YAML"),
        ("[" * 60, "red", "nested deeper"),
    ],
)
def test_files_that_cannot_be_read_at_all_say_why(text: str, format: str, said: str) -> None:
    with pytest.raises(ContentError, match=said):
        read(text, format, "x.txt")
