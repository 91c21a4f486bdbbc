"""GIFT as people write it: what Moodle reads, what they get wrong, and what each repair says."""

from __future__ import annotations

import pytest

from content.model import Info, Open, Scoring, Severity, Text, TrueFalse
from tests.importing.conftest import codes, outline, read


def one(text: str):
    result = read(text, "gift")
    assert result.imported == 1, result.problems
    return result.questions[0]


def test_types_are_told_by_what_stands_in_the_braces() -> None:
    result = read(
        "Essay {}\n\nNumber {#3:0.5}\n\nPick {~a =b}\n\nMatch {=a -> 1 =b -> 2 = -> 3}\n\n"
        "Truth {TRUE#no#yes}\n\nShort {=x =%50%y}\n\nJust text.",
        "gift",
    )
    assert [str(question.type) for question in result.questions] == ["open", "short", "single", "match", "truefalse", "short", "info"]
    assert outline(result)[3][2] == [["a", "1"], ["b", "2"]]
    assert result.questions[3].body.distractors[0].text == Text.of("3")
    assert result.questions[4].body == TrueFalse(True, {False: Text.of("no"), True: Text.of("yes")})
    assert [entry.credit for entry in result.questions[5].body.accept] == [1.0, 0.5]
    assert isinstance(result.questions[6].body, Info)


def test_a_category_glued_to_its_question_still_begins_a_block() -> None:
    result = read("$CATEGORY: $course$/top/Nets/Ports\n::A::a {=1}\n::B::b {=2}\n$CATEGORY: Other\n::C::c {T}", "gift")
    assert [question.title for question in result.questions] == [Text.of("A"), Text.of("B"), Text.of("C")]
    assert [question.tags for question in result.questions] == [("Ports",), ("Ports",), ("Other",)]
    assert result.questions[0].extra == {"gift": {"category": "$course$/top/Nets/Ports"}}


def test_a_blank_line_inside_braces_is_joined_with_a_warning_at_its_line() -> None:
    result = read("::A::Which? {\n=right\n\n~wrong\n}\n\n::B::Next {T}", "gift")
    assert [str(question.type) for question in result.questions] == ["single", "truefalse"]
    warning = next(problem for problem in result.problems if problem.code == "GIFT-BRACE")
    assert (warning.line, warning.severity) == (1, Severity.WARNING)
    assert "blank line 3" in warning.text


def test_a_brace_that_never_closes_costs_only_its_question() -> None:
    result = read("One {=a ~b\n\nTwo {=c ~d}\n\nThree {T}", "gift")
    assert [stem for _, stem, _ in outline(result)] == ["Two", "Three"]
    assert [(problem.line, problem.code) for problem in result.problems] == [(1, "GIFT-BRACE")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_any_line_ends_are_read_and_counted(line_end: str) -> None:
    result = read(line_end.join(["// c", "", "A {=a ~b}", "", "B {=a ~b"]), "gift")
    assert result.questions[0].line == 3
    assert result.problems[0].line == 5


def test_escapes_become_the_sign_and_n_a_line_end() -> None:
    question = one(r"a\nb \{x\} \: \# \= \~ \\ {=\=1 ~\~2}")
    assert question.stem == Text.of("a\nb {x} : # = ~ \\")
    assert [next(iter(choice.text)) for choice in question.body.choices] == ["=1", "~2"]


def test_latex_braces_and_commands_survive_unescaped() -> None:
    assert one(r"What is $\frac{1}{2}$? {#0.5}").stem == Text.of(r"What is $\frac{1}{2}$?")
    assert one(r"Solve x^{2}=4, $a \neq b$ {=2 ~3}").stem == Text.of(r"Solve x^{2}=4, $a \neq b$")
    assert one(r"Pick {=$x=2$ ~$x^{3}$}").body.choices[0].text == Text.of("$x=2$")


def test_bare_equals_and_colons_in_a_stem_are_text() -> None:
    assert one("Note: x=2, y=3. True: {T}").stem == Text.of("Note: x=2, y=3. True:")


def test_a_bare_equals_inside_an_answer_is_text_where_the_keys_stand_free() -> None:
    result = read("Which? {\n=x=2\n~x=3\n}", "gift")
    assert [next(iter(choice.text)) for choice in result.questions[0].body.choices] == ["x=2", "x=3"]
    assert codes(result) == ["GIFT-EQUALS"]
    assert outline(read("Which? {~a~b=c}", "gift"))[0][2] == ["c"]


def test_html_attributes_and_numeric_entities_are_no_control_characters() -> None:
    question = one('[html]See <a href="https://x.y">this</a> &#39;now&#39; {=<b class="k">a</b>#no ~b}')
    assert question.stem == Text.of("See [this](https://x.y) 'now'")
    assert question.body.choices[0].text == Text.of("**a**")


def test_text_behind_the_answers_makes_a_gap() -> None:
    assert one("Rome is in {=Italy ~Spain} since ever.").stem == Text.of("Rome is in _____ since ever.")
    result = read('What is it? {=a ~b}";', "gift")
    assert outline(result)[0][1] == "What is it?"
    assert codes(result) == ["GIFT-TAIL"]


def test_only_the_first_braces_count() -> None:
    result = read("A {=x ~y} and {=z ~w}", "gift")
    assert codes(result) == ["GIFT-SECOND-BRACES"]


def test_tilde_equals_and_weighted_equals_are_right_answers() -> None:
    result = read("A {~=x ~y}\n\nB {=%100%x ~y}\n\nC {~%100%x ~%-15%y}", "gift")
    assert [key for _, _, key in outline(result)] == [["x"], ["x"], ["x"]]
    assert "GIFT-TILDE-EQUALS" in codes(result)
    assert result.questions[2].body.many


def test_uneven_weights_are_told_and_kept() -> None:
    result = read("A {~%75%x ~%25%y ~z}", "gift")
    assert codes(result) == ["WEIGHTS"]
    assert result.questions[0].extra["gift"]["weights"] == [75.0, 25.0, 0.0]
    assert result.questions[0].body.scoring is Scoring.PER_CHOICE


def test_a_weight_above_100_is_an_error_that_names_it() -> None:
    result = read("A {~%140%x ~y}\n\nB {T}", "gift")
    assert result.imported == 1
    assert "140" in result.problems[0].text


def test_comments_carry_id_and_tags() -> None:
    question = one("// [id:my-q] [tag:nets] [tag:a\\]b]\nWhich? {=a ~b}")
    assert (question.id, question.tags) == ("my-q", ("nets", "a]b"))


def test_general_feedback_and_formats() -> None:
    question = one("[markdown]**Why** {=a#f ~b####All *of* it}")
    assert question.explanation == Text.of("All *of* it")
    assert one("[plain]2 * 3 * 4 {}").stem == Text.of(r"2 \* 3 \* 4")
    assert isinstance(one("[plain]x {}").body, Open)


def test_languages_named_with_a_sharp_keep_it() -> None:
    result = read("Which runs on .NET? {=C# ~Java ~Ada}", "gift")
    assert outline(result)[0][2] == [r"C#"]
    assert codes(result) == ["GIFT-SHARP"]


def test_a_wildcard_is_an_expression() -> None:
    entry = one("Say {=run*#ok =%0%*#no}").body.accept
    assert (entry[0].regex, entry[1].regex, entry[1].credit) == ("^run.*$", "^.*$", 0.0)


def test_no_right_answer_is_a_draft_and_never_a_guess() -> None:
    result = read("Which? {~a ~b}", "gift")
    assert (result.imported, len(result.drafts), codes(result)) == (0, 1, ["NO-KEY"])
