"""Every sample of the XML, zip and binary formats imports with the counts and keys that were checked by eye.

Proves the readers on files that other programs wrote. It needs the sample folder and skips without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from content.model import ContentError, Severity
from content.readers import detect, read_bytes, to_json

Sample = Callable[[str], bytes]


def read(sample: Sample, path: str) -> tuple[list[dict[str, Any]], Any]:
    result = read_bytes(sample(path), path.rpartition("/")[2])
    return to_json(result)["questions"], result


@pytest.mark.parametrize(
    ("path", "format", "found", "imported"),
    [
        ("moodle-xml/matching.xml", "moodle-xml", 1, 1),
        ("moodle-xml/multichoices.xml", "moodle-xml", 5, 5),
        ("qti12/feedback_quiz_1.2.xml", "qti12", 3, 3),
        ("qti12/text2qti_quiz_qti12.zip", "qti12", 8, 7),
        ("qti21/categorization.xml", "qti2", 1, 1),
        ("qti21/minimal_qti_2.1_sample.zip", "qti2", 2, 2),
        ("qti30/test_qti21_output.zip", "qti2", 11, 10),
        ("kahoot/kahoot-quiz-from-csv.xlsx", "kahoot", 16, 16),
        ("anki/2020_ITPATFR_Benton.apkg", "anki", 3, 3),
        ("anki/zhongwen-deck.apkg", "anki", 3, 3),
        ("h5p/kitchen-tools/content.json", "h5p", 6, 2),
        ("rexams/swisscapital.Rmd", "rexams", 1, 1),
        ("rexams/switzerland.Rmd", "rexams", 1, 1),
    ],
)
def test_every_sample_is_recognised_and_counted(sample: Sample, path: str, format: str, found: int, imported: int) -> None:
    data = sample(path)
    best, confidence = detect(data, "upload.bin")[0]
    assert (best.name, confidence > 0.9) == (format, True)
    result = read_bytes(data, path)
    assert (result.format, result.read, result.imported) == (format, found, imported)
    assert result.read - result.imported == result.count(Severity.ERROR)


def test_moodle_choices_keep_their_weights_and_say_what_was_odd(sample: Sample) -> None:
    questions, result = read(sample, "moodle-xml/multichoices.xml")
    assert [(q["id"], q["type"], q["key"], q["line"]) for q in questions] == [
        ("pull", "multiple", ["a", "b"], 4),
        ("treat", "multiple", ["a", "b"], 60),
        ("painting", "single", ["a"], 117),
        ("teacher", "single", ["a"], 172),
        ("project", "multiple", ["a", "b"], 228),
    ]
    assert questions[2]["choices"][1]["credit"] == 0.25
    assert questions[0]["choices"][3]["feedback"] == "Optimized 24/7 task-force"
    assert result.questions[0].extra["moodle-xml"]["fractions"] == [75.0, 25.0, 0.0, 0.0]
    assert [str(hint[""]) for hint in result.questions[0].hints] == ["Organic hybrid model", "Digitized cohesive ability"]
    assert [question.shuffle for question in result.questions] == [True, False, False, True, True]
    codes = [(problem.line, problem.code) for problem in result.problems]
    assert codes.count((4, "MOODLE-SINGLE")) == 1
    assert (117, "MOODLE-SINGLE") not in codes, "True and true mean the same to Moodle"
    assert sum(code == "WEIGHTS" for _, code in codes) == 5


def test_moodle_matching_has_its_four_pairs(sample: Sample) -> None:
    (question,), _ = read(sample, "moodle-xml/matching.xml")
    assert question["key"] == [
        ["Sell individual state item.", "education"],
        ["Respond color property.", "visit"],
        ["Might feel teach opportunity soon glass social.", "goal"],
        ["Product read coach fly head have treatment clear.", "six"],
    ]


def test_canvas_feedback_of_every_kind_finds_its_place(sample: Sample) -> None:
    questions, result = read(sample, "qti12/feedback_quiz_1.2.xml")
    assert [(q["type"], q["stem"], q["key"]) for q in questions] == [
        ("open", "Question", None),  # its text is an empty div
        ("truefalse", "True", True),
        ("truefalse", "Also, True", True),
    ]
    assert questions[0]["explanation"] == "General Feedback"
    assert questions[1]["explanation"] == "Neutral"
    body = result.questions[1].body
    assert (body.feedback[True][""], body.feedback[False][""]) == ("Answer was True", "Answer was False")
    assert result.questions[1].extra["qti12"]["correct_fb"] == "Correct"
    assert result.quiz.title[""] == "I Can Haz Feedback"


def test_the_canvas_package_gives_every_type_and_reports_the_upload(sample: Sample) -> None:
    questions, result = read(sample, "qti12/text2qti_quiz_qti12.zip")
    assert [(q["type"], q["key"], q.get("points", 1.0)) for q in questions] == [
        ("single", ["c"], 1.0),
        ("truefalse", True, 1.0),
        ("multiple", ["b", "c"], 2.0),
        ("short", ["1.4142 ± 0.0001"], 1.0),
        ("short", ["5"], 1.0),
        ("short", ["Santa", "Santa Claus", "Father Christmas", "Saint Nicholas", "Saint Nick"], 1.0),
        ("open", None, 5.0),
    ]
    assert [choice.get("feedback") for choice in questions[0]["choices"]] == [
        "Feedback for this particular answer.",
        "Feedback for incorrect answer.",
        "Feedback for correct answer.",
    ]
    assert not questions[2]["shuffle"], "assessment_meta.xml says shuffle_answers false"
    (upload,) = [problem for problem in result.problems if problem.severity is Severity.ERROR]
    assert (upload.code, upload.question) == ("PLAY-UPLOAD", "File Upload Example")
    assert ".xml: " in upload.text, "the member whose line it is is named"
    assert result.quiz.description[""] == "This quiz demonstrates all seven question types."


def test_a_weighted_match_of_four_to_three_shares_one_right_side(sample: Sample) -> None:
    (question,), result = read(sample, "qti21/categorization.xml")
    assert question["key"] == [
        ["Capulet", "Romeo and Juliet"],
        ["Demetrius", "A Midsummer-Night's Dream"],
        ["Lysander", "A Midsummer-Night's Dream"],
        ["Prospero", "The Tempest"],
    ]
    assert question["distractors"] == []
    assert [problem.code for problem in result.problems] == ["WEIGHTS"]


def test_a_test_gives_its_items_their_order(sample: Sample) -> None:
    questions, _ = read(sample, "qti21/minimal_qti_2.1_sample.zip")
    assert [(q["stem"], q["type"], q["key"]) for q in questions] == [
        ("What is your favorite color?", "single", ["a"]),
        ("Which are types of fruit?", "multiple", ["a", "b", "c"]),
    ]


def test_qti_3_keys_are_found_in_response_processing(sample: Sample) -> None:
    questions, result = read(sample, "qti30/test_qti21_output.zip")
    assert [(q["type"], q["key"]) for q in questions] == [
        ("single", ["c"]),
        ("truefalse", True),
        ("multiple", ["b", "c"]),
        ("short", ["1.4141..1.4143"]),
        ("short", ["5"]),
        ("short", ["Santa", "Santa Claus", "Father Christmas", "Saint Nicholas", "Saint Nick"]),
        ("open", None),
        ("short", {"b1": ["a"], "b2": ["c"]}),
        ("short", {"b1": ["a"], "b2": ["c"]}),
        ("short", {"b1": ["a"], "b2": ["b"]}),
    ]
    assert questions[0]["explanation"] == "General question feedback."
    assert questions[7]["stem"].endswith("Now is the {{b1}} of our discontent. Made glorious {{b2}} by this sun of York.")
    assert "’s Richard III" in questions[7]["stem"], "its entity is escaped twice"
    assert [problem.code for problem in result.problems if problem.severity is Severity.ERROR] == ["PLAY-UPLOAD"]


def test_the_kahoot_workbook_has_the_keys_of_its_column_h(sample: Sample) -> None:
    questions, result = read(sample, "kahoot/kahoot-quiz-from-csv.xlsx")
    assert "".join(q["key"][0] for q in questions) == "adbaadaccbdaccbc"
    assert [q["line"] for q in questions] == list(range(9, 25))
    assert {q["time_limit"] for q in questions} == {20}
    assert [(p.line, p.code) for p in result.problems] == [(18, "KAHOOT-LENGTH")]
    assert len(questions[9]["stem"]) == 127, "imported in full"


def test_the_old_anki_package_becomes_open_questions(sample: Sample) -> None:
    questions, result = read(sample, "anki/2020_ITPATFR_Benton.apkg")
    assert [q["id"] for q in questions] == ["0001", "0002", "0003"]
    assert questions[1]["key"] == "The time $T$ for half of the radioactive parent atoms in a system to decay."
    assert questions[2]["key"] == r"$T = \frac{0.693}{\lambda}$"
    assert result.quiz.title[""] == "2020_ITPATFR_Benton"


def test_the_current_anki_package_gives_its_notes_and_not_the_decoy(sample: Sample) -> None:
    questions, result = read(sample, "anki/zhongwen-deck.apkg")
    assert [(q["stem"], q["key"]) for q in questions] == [("Simplified", ["Meaning"]), ("向量", ["vector"]), ("矩阵", ["matrix"])]
    assert "Pinyin: xiàng liàng" in questions[1]["explanation"]
    assert {problem.code for problem in result.problems} == {"ANKI-HEADER", "ANKI-CARDS"}
    assert result.quiz.languages == ("zh",)


def test_the_kitchen_quiz_imports_what_has_no_picture_to_drag_on(sample: Sample) -> None:
    questions, result = read(sample, "h5p/kitchen-tools/content.json")
    assert questions[0]["key"] is True
    assert questions[1]["key"] == {f"b{i}": [letter] for i, letter in enumerate("abcdef", 1)}
    assert [choice["text"] for choice in questions[1]["blanks"]["b1"]["choices"]][:2] == ["Chef's knife", "Utility knife"]
    assert [problem.code for problem in result.problems] == ["H5P-TYPE"] * 4


def test_h5p_json_alone_is_refused_with_the_file_to_give(sample: Sample) -> None:
    with pytest.raises(ContentError, match=r"content/content\.json"):
        read_bytes(sample("h5p/kitchen-tools/h5p.json"), "h5p.json")


def test_static_r_exercises_give_key_feedback_and_names(sample: Sample) -> None:
    (capital,), _ = read(sample, "rexams/swisscapital.Rmd")
    assert (capital["type"], capital["key"], capital["title"], len(capital["choices"])) == ("single", ["b"], "Swiss Capital", 7)
    assert "feedback" not in capital["choices"][0], "'False' alone only repeats the key"
    (facts,), _ = read(sample, "rexams/switzerland.Rmd")
    assert (facts["type"], facts["key"]) == ("multiple", ["b", "e"])
    assert facts["choices"][2]["feedback"] == "False. The currency is the Swiss Franc (CHF)."
