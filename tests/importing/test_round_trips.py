"""What is exported comes back the same, for the fields that formats.md marks as held; the rest is in the loss report.

Proves parse(write(quiz)) == quiz over generated quizzes that use every sign which a format gives a meaning to. It does
not prove that the other programs read our files the same way.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from content.load import load_quiz
from content.model import (
    Accept,
    Choice,
    Choices,
    ContentError,
    Item,
    Open,
    Order,
    Question,
    Quiz,
    Scoring,
    Severity,
    Short,
    Text,
    TrueFalse,
)
from content.readers import read_bytes
from content.readers.markup import has_html, normalise_latex, plain_to_markdown
from content.writers import WRITERS, write
from content.writers.base import plain_text
from tests.importing import quizzes as made

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
WILD, PLAIN = made.wild_words, made.plain_words


def read_back(quiz: Quiz, format: str, reader: str | None = None) -> tuple[Question, ...]:
    export = write(quiz, format)
    result = read_bytes(export.data, export.filename, reader or format)
    errors = [str(problem) for problem in result.problems if problem.severity is Severity.ERROR]
    assert not errors, (errors, export.data.decode("utf-8", "replace"))
    return tuple(replace(question, line=0) for question in result.questions)


def all_texts(quiz: Quiz) -> str:
    return repr(quiz.questions)


def stable(quiz: Quiz) -> bool:
    """Whether the readers' own normal form of LaTeX leaves the texts alone; others are changed by any import."""
    return not any(mark in all_texts(quiz) for mark in ("\\\\(", "\\\\[", "[$", "![")) and "->" not in all_texts(quiz)


@few
@given(
    made.quizzes(
        st.one_of(
            made.single(WILD, weights=True),
            made.multiple(WILD),
            made.true_false(WILD),
            made.short(WILD),
            made.numeric(WILD),
            made.matching(WILD),
            made.essays,
            made.infos,
        ),
        WILD,
    )
)
def test_gift_gives_back_every_question_it_holds(quiz: Quiz) -> None:
    assume(stable(quiz))
    assert read_back(quiz, "gift") == quiz.questions


@few
@given(
    made.quizzes(
        st.one_of(
            made.single(WILD, weights=True),
            made.multiple(WILD),
            made.true_false(WILD),
            made.short(WILD),
            made.numeric(WILD, spans=False),
            made.essays,
            made.infos,
        ),
        WILD,
    )
)
def test_moodle_xml_gives_back_every_question_it_holds(quiz: Quiz) -> None:
    assume(stable(quiz))
    back = read_back(quiz, "moodle-xml")
    assert [replace(q, title=None, extra={}) for q in back] == [replace(q, title=None) for q in quiz.questions]


@few
@given(
    made.quizzes(
        st.one_of(
            made.single(WILD, weights=True),
            made.multiple(WILD),
            made.true_false(WILD),
            made.short(WILD),
            made.numeric(WILD),
            made.matching(WILD),
            made.essays,
            made.infos,
        ),
        WILD,
    )
)
def test_the_native_format_gives_back_everything(quiz: Quiz) -> None:
    export = write(quiz, "native")
    loaded, faults = load_quiz(export.data.decode("utf-8"))
    assert loaded is not None, faults
    assert [replace(q, line=0) for q in loaded.questions] == list(quiz.questions), export.data.decode()


@few
@given(
    made.quizzes(
        st.one_of(
            made.single(WILD, feedback=False),
            made.multiple(WILD, scorings=(Scoring.ALL_OR_NOTHING,), feedback=False),
            made.true_false(WILD, feedback=False),
            made.short(WILD, credit=False, feedback=False),
            made.numeric(WILD, spans=False, most=1, feedback=False),
        ),
        WILD,
        titles=False,
    )
)
def test_csv_gives_back_every_question_it_holds(quiz: Quiz) -> None:
    assume(stable(quiz))
    assert read_back(quiz, "csv") == quiz.questions


@few
@given(
    made.quizzes(
        st.one_of(
            made.single(PLAIN),
            made.multiple(PLAIN, scorings=(Scoring.ALL_OR_NOTHING,)),
            made.true_false(PLAIN),
            made.short(PLAIN, credit=False),
            made.numeric(PLAIN, most=1, feedback=False),
            made.essays,
        ),
        PLAIN,
    )
)
def test_text2qti_gives_back_every_question_it_holds(quiz: Quiz) -> None:
    back = read_back(quiz, "text2qti")
    assert [replace(q, id="") for q in back] == [replace(q, id="") for q in quiz.questions]


@few
@given(made.quizzes(made.single(PLAIN, feedback=False), PLAIN, titles=False, explanations=False))
def test_aiken_gives_back_single_choice(quiz: Quiz) -> None:
    assume(not any("looks like" in loss.text for loss in write(quiz, "aiken").losses))
    back = read_back(quiz, "aiken")
    flat = [_flat(question) for question in quiz.questions]
    assert [replace(_flat(q), shuffle=True) for q in back] == flat


def _flat(question: Question) -> Question:
    assert isinstance(question.body, Choices)
    rows = tuple(replace(choice, text=_one_line(choice.text), fixed=False) for choice in question.body.choices)
    return replace(question, id="", stem=_one_line(question.stem), body=replace(question.body, choices=rows))


def _one_line(text: Text) -> Text:
    return Text.of(" ".join(next(iter(text)).split()))


@few
@given(made.quizzes(made.short(WILD, credit=False, feedback=False), WILD, titles=False, explanations=False))
def test_red_lists_give_back_typed_answers(quiz: Quiz) -> None:
    stems = [next(iter(question.stem)) for question in quiz.questions]
    assume(stable(quiz) and len(set(stems)) == len(stems) and not any("http" in stem for stem in stems))
    back = read_back(quiz, "red")
    assert [replace(q, id="") for q in back] == [replace(q, id="") for q in quiz.questions]


@settings(few, max_examples=15)
@given(made.quizzes(made.single(PLAIN, feedback=False), PLAIN, titles=False, explanations=False))
def test_kahoot_gives_back_short_single_choice(quiz: Quiz) -> None:
    cut = [replace(q, body=replace(q.body, choices=_four(q.body.choices))) for q in quiz.questions]
    quiz = replace(quiz, questions=tuple(cut))
    back = read_back(quiz, "kahoot")
    assert [_flat(replace(q, time_limit_s=None)) for q in back] == [_flat(q) for q in quiz.questions]


def _four(choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
    right = next(choice for choice in choices if choice.correct)
    kept = [*[choice for choice in choices if choice is not right][:3], right]
    return tuple(replace(choice, id="abcd"[i]) for i, choice in enumerate(kept))


@few
@given(st.text(alphabet=made.ALPHABET, max_size=80))
def test_plain_text_that_becomes_markdown_reads_the_same_in_gift_with_and_without_marks(text: str) -> None:
    stem = " ".join(text.split())
    assume(stem and "\\(" not in stem and "\\[" not in stem and "[$" not in stem and "![" not in stem)
    shown = plain_to_markdown(normalise_latex(stem))
    quiz = Quiz("s", 1, Text.of("S"), ("en",), (Question("n1", Text.of(shown), Open()),))
    assert read_back(quiz, "gift")[0].stem == Text.of(shown)
    assert (
        has_html(stem)
        or b"[markdown]" not in write(replace(quiz, questions=(Question("n1", Text.of("plain words"), Open()),)), "gift").data
    )


FULL = Quiz(
    id="full",
    version=3,
    title=Text({"en": "Full", "zh": "全"}),
    languages=("en", "zh"),
    questions=(
        Question("one", Text({"en": "Which?", "zh": "哪个？"}), Choices((Choice("a", Text.of("A"), 1.0), Choice("b", Text.of("B"))))),
        Question("tf", Text.of("True?"), TrueFalse(True)),
        Question("sh", Text.of("Port?"), Short(accept=(Accept(number=443.0), Accept(text="https"), Accept(regex="^4{2}3$")))),
        Question("op", Text.of("Why?"), Open(reference=Text.of("Because."))),
        Question("or", Text.of("Order."), Order((Item("a", Text.of("1")), Item("b", Text.of("2"))))),
    ),
)


@pytest.mark.parametrize("format", [writer.name for writer in WRITERS])
def test_every_question_is_written_or_named_in_the_loss_report(format: str) -> None:
    export = write(FULL, format)
    lost = {problem.question for problem in export.losses if problem.severity is Severity.ERROR}
    reader = {"anki-text": "anki-text", "wayground": "wayground"}.get(format, format)
    if format == "native":
        loaded, _ = load_quiz(export.data.decode())
        assert loaded is not None
        assert loaded.questions == tuple(replace(q, line=loaded.questions[i].line) for i, q in enumerate(FULL.questions))
        return
    result = read_bytes(export.data, export.filename, reader)
    assert result.imported + len(lost) == len(FULL.questions)
    assert result.imported > 0


@pytest.mark.parametrize("format", [writer.name for writer in WRITERS if writer.name != "native"])
def test_the_other_languages_of_a_quiz_are_named_as_lost(format: str) -> None:
    assert any(problem.code == "LOST-LANGUAGES" and "zh" in problem.text for problem in write(FULL, format).losses)


def test_another_language_can_be_exported() -> None:
    assert "哪个？" in write(FULL, "gift", "zh").data.decode("utf-8")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ContentError, match="aiken"):
        write(FULL, "mentimeter")


def test_a_format_that_can_hold_no_question_says_why() -> None:
    quiz = replace(FULL, questions=FULL.questions[-1:])
    with pytest.raises(ContentError, match="or: Aiken holds single choice"):
        write(quiz, "aiken")


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("_____ is __bold__", "_____ is bold"),
        ("**a** ||b|| ~~c~~", "a b c"),
        ("||||", "||||"),
        ("one ______, two ______", "one ______, two ______"),
    ],
)
def test_a_row_of_marks_stays_and_emphasis_goes(markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain
