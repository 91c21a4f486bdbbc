"""`studyhall import` and `studyhall export` as an author meets them: reports, exit codes, files that load again.

What each format means is proven in tests/importing; here, that nothing is lost in silence on the way to a native file.
"""

from __future__ import annotations

import json
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.cli import main
from content import banks
from content.check import check
from content.load import load_library, load_quiz
from content.mending import mended_text
from content.model import Choice, Choices, ContentError, Match, Media, Pair, Question, Quiz, Severity, Short, Text
from content.readers import Import
from content.writers import WRITERS

GIFT = """::Syn:: Which flag opens a connection? {=SYN ~FIN #That one closes. ~RST}

::Port:: Port of HTTPS? {#443:0}

::Bad:: Which of these? {~this ~that}
"""
AIKEN = "Which flag opens a connection?\nA. SYN\nB. FIN\nANSWER: A\n"
FIELDS = ["format", "questions", "read", "imported", "problems"]


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("week3.gift").write_text(GIFT, "utf-8")
    Path("flags.txt").write_text(AIKEN, "utf-8")


def ran(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    sys.argv = ["studyhall", *arguments]
    with pytest.raises(SystemExit) as exit_:
        main()
    output = capfd.readouterr()
    assert "Traceback" not in output.err
    return int(exit_.value.code or 0), output.out, output.err


def accepted(folder: str) -> list[str]:
    """The ids of the quizzes below a folder, which load and pass the check without an error."""
    loaded = load_library([Path(folder)])
    errors = [str(fault) for fault in check(loaded) if fault.severity is Severity.ERROR]
    assert not errors
    return sorted(loaded.library.quizzes)


# Importing ----------------------------------------------------------------------------------------------------------


def test_a_report_names_every_question_with_its_line_and_key_and_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capfd, "import", "week3.gift")
    lines = out.splitlines()
    assert code == 1  # one question has no key
    assert lines[0] == "week3.gift: gift, 2 of 3 questions imported; no explanation yet: 2. 1 error."
    assert lines[1] == 'week3.gift:1: single "Which flag opens a connection?" key: SYN'
    assert lines[2] == 'week3.gift:3: short "Port of HTTPS?" key: 443'
    assert lines[3].startswith("week3.gift:5: error ")
    assert "question Bad" in lines[3]
    assert err == ""
    assert sorted(path.name for path in Path().iterdir()) == ["flags.txt", "week3.gift"]


def test_the_json_has_exactly_the_agreed_fields_one_object_per_file(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capfd, "import", "flags.txt", "--json")
    one = json.loads(out)
    assert code == 0
    assert list(one) == FIELDS
    assert (one["format"], one["read"], one["imported"], one["problems"]) == ("aiken", 1, 1, [])
    question = one["questions"][0]
    assert {"id", "type", "stem", "choices", "key"} <= question.keys()
    assert (question["type"], question["key"]) == ("single", ["a"])
    code, out, _ = ran(capfd, "import", "week3.gift", "flags.txt", "missing.gift", "--json")
    several = json.loads(out)
    assert code == 1
    assert [list(each) for each in several] == [FIELDS] * 3
    assert [each["imported"] for each in several] == [2, 1, 0]
    problem = several[0]["problems"][0]
    assert list(problem) == ["line", "severity", "code", "question", "text"]
    assert (problem["line"], problem["severity"]) == (5, "error")
    assert several[2]["problems"][0]["code"] == "FILE"


def test_what_is_written_loads_passes_the_check_and_is_not_overwritten(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capfd, "import", "week3.gift", "flags.txt", "--to", "bank")
    assert code == 1
    assert "week3.gift: written to bank/week3.quiz.yaml" in out
    assert accepted("bank") == ["flags", "week3"]
    assert ran(capfd, "check", "bank")[0] == 0
    written = Path("bank/flags.quiz.yaml").read_bytes()
    code, _, err = ran(capfd, "import", "flags.txt", "--to", "bank")
    assert (code, err) == (1, "studyhall: bank/flags.quiz.yaml: exists already. Use --force to write it anew as the next version.\n")
    assert Path("bank/flags.quiz.yaml").read_bytes() == written
    code, _, _ = ran(capfd, "import", "flags.txt", "--to", "bank", "--force")
    assert code == 0
    assert load_library([Path("bank")]).library.quizzes["flags"].version == 2


def test_ids_stay_unique_among_files_and_beside_the_shipped_library(capfd: pytest.CaptureFixture[str]) -> None:
    Path("other").mkdir()
    Path("other/flags.txt").write_text(AIKEN.replace("opens", "closes"), "utf-8")
    Path("TensorRT engines.txt").write_text(AIKEN, "utf-8")
    code, out, _ = ran(capfd, "import", "flags.txt", "other/flags.txt", "TensorRT engines.txt", "--to", "bank")
    assert code == 0
    assert accepted("bank") == ["flags", "flags-2", "tensorrt-engines-2"]
    assert "note ID-TAKEN the id 'flags' is taken; this quiz is 'flags-2'." in out


def test_a_title_without_latin_letters_gets_an_id_of_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("第一周.gift", "第二周.gift"):
        Path(name).write_text("天是蓝的。{TRUE}", "utf-8")
    assert ran(capfd, "import", "第一周.gift", "第二周.gift", "--to", "bank")[0] == 0
    first, second = accepted("bank")
    assert first != second
    assert first.startswith("bank-")


def test_a_native_file_is_imported_too(capfd: pytest.CaptureFixture[str]) -> None:
    ran(capfd, "import", "flags.txt", "--to", "bank")
    code, out, _ = ran(capfd, "import", "bank/flags.quiz.yaml", "--json")
    assert code == 0
    assert (json.loads(out)["format"], json.loads(out)["imported"]) == ("native", 1)
    Path("bad.quiz.yaml").write_text(
        "schema: quiz/1\nid: bad\nversion: 1\ntitle: B\nlanguages: [en]\nquestions:\n- {id: a, type: single}\n"
    )
    code, out, _ = ran(capfd, "import", "bad.quiz.yaml")
    assert code == 1
    assert "bad.quiz.yaml:7: error" in out


def test_pictures_that_came_along_are_written_and_others_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    item = (
        '<quiz><question type="truefalse"><name><text>P</text></name><questiontext format="html"><text>'
        '<![CDATA[<p>Red? <img src="@@PLUGINFILE@@/red.png" alt="a dot"/> <img src="gone.png" alt="a cat"/></p>]]></text>'
        '<file name="red.png" path="/" encoding="base64">iVBORw0KGgo=</file></questiontext>'
        '<answer fraction="100"><text>true</text></answer><answer fraction="0"><text>false</text></answer></question></quiz>'
    )
    Path("pictures.xml").write_text(item, "utf-8")
    ran(capfd, "import", "pictures.xml", "--to", "bank")
    assert accepted("bank") == ["pictures"]
    question = load_library([Path("bank")]).library.quizzes["pictures"].questions[0]
    kept = [medium.file for medium in question.media if medium.file]
    assert [Path("bank", name).read_bytes()[:4] for name in kept] == [b"\x89PNG"]
    assert "a cat" in question.stem["en"]


def bomb() -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("imsmanifest.xml", "<manifest/>")
        with archive.open("quiz/quiz.xml", "w") as member:
            for _ in range(300):
                member.write(b" " * (1 << 20))
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.gift", b""),
        ("letter.txt", b"Dear all,\n\nthe room is closed on Monday. See you on Tuesday.\n"),
        ("song.mp3", bytes(range(256)) * 64),
        ("large.txt", b"a" * 40_000_000),
        ("bomb.zip", bomb()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_bank_is_one_line_and_harms_no_neighbour(capfd: pytest.CaptureFixture[str], name: str, data: bytes) -> None:
    Path(name).write_bytes(data)
    code, out, err = ran(capfd, "import", name, "flags.txt", "--to", "bank")
    assert code == 1
    told = [line for line in [*err.splitlines(), *out.splitlines()] if name in line]
    assert len(told) == 1, (out, err)
    assert accepted("bank") == ["flags"]


def test_wrong_use_is_exit_code_2(capfd: pytest.CaptureFixture[str]) -> None:
    assert ran(capfd, "import")[0] == 2
    assert ran(capfd, "import", "flags.txt", "--format", "papyrus")[0] == 2
    assert ran(capfd, "export", "tensorrt-engines", "--format", "papyrus")[0] == 2
    assert ran(capfd, "export", "tensorrt-engines", "--format", "gift", "--lang", "fr")[0] == 2


# Exporting ----------------------------------------------------------------------------------------------------------


def test_an_export_goes_to_standard_output_and_its_losses_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capfd, "export", "tensorrt-engines", "--format", "gift", "--lang", "ko")
    assert code == 0
    assert out.count("{\n=") + out.count("{\n~") >= 4
    assert "LOST-LANGUAGES" in err
    assert all(line.startswith("tensorrt-engines: ") for line in err.splitlines())


def test_questions_that_have_to_be_left_out_are_counted_named_and_exit_code_1(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capfd, "export", "week3.gift", "--format", "aiken")
    assert code == 1
    assert out.replace("\r\n", "\n") == AIKEN.replace("B. FIN\n", "B. FIN\nC. RST\n")
    assert "week3: 1 of 2 questions left out." in err
    assert "week3: error LEFT-OUT question port: " in err
    assert "week3.gift:5: error" in err  # what the file itself had wrong is said too


@pytest.mark.parametrize("format", [writer.name for writer in WRITERS])
def test_every_format_can_be_written_to_a_file_and_none_is_overwritten(capfd: pytest.CaptureFixture[str], format: str) -> None:
    Path("out").mkdir()
    code, out, err = ran(capfd, "export", "week3.gift", "--format", format, "--to", "out")
    (file,) = Path("out").iterdir()
    assert code in (0, 1)
    assert (code == 1) is ("questions left out" in err)
    assert out == ""
    assert file.stat().st_size > 20
    before = file.read_bytes()
    code, _, err = ran(capfd, "export", "week3.gift", "--format", format, "--to", str(file))
    assert (code, "exists already" in err) == (1, True)
    assert file.read_bytes() == before


def test_an_unknown_quiz_is_answered_with_those_there_are(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = ran(capfd, "export", "nothing", "--format", "gift")
    assert code == 1
    assert "Choose one of: " in err
    assert len(err.splitlines()) == 1


# Mending ------------------------------------------------------------------------------------------------------------


def single(stem: str, *choices: tuple[str, float], **more: object) -> Question:
    listed = tuple(Choice(chr(97 + at), Text.of(text), credit) for at, (text, credit) in enumerate(choices))
    return Question("q", Text.of(stem), Choices(listed), line=7, **more)  # type: ignore[arg-type]


def settled(question: Question) -> Import:
    quiz = Quiz("bank", 1, Text.of("Bank"), ("en",), (question,))
    return banks.settled(Import("test", (question,), (), 1, quiz))


@pytest.mark.parametrize(
    ("found", "mended"),
    [
        ("a\u200bb", "ab"),
        ("hi @\u200beveryone", "hi `@everyone`"),
        ("`@everyone` in code", "`@everyone` in code"),
        ("ask <@123>", "ask `<@123>`"),
        ("[here](javascript:alert)", "here (`javascript:alert`)"),
        ("[bank.com](https://evil.example/x)", "bank.com (`https://evil.example/x`)"),
        ("[docs](https://docs.python.org/3/)", "[docs](https://docs.python.org/3/)"),
        ("family 👨\u200d👩\u200d👧", "family 👨\u200d👩\u200d👧"),
    ],
)
def test_texts_are_mended_where_nothing_is_lost(found: str, mended: str) -> None:
    assert mended_text(found) == mended
    if found != mended:
        result = settled(single(found, ("yes", 1.0), ("no", 0.0)))
        assert result.quiz is not None
        assert result.quiz.questions[0].stem["en"] == mended
        assert [(problem.line, problem.severity) for problem in result.problems] == [(7, Severity.WARNING)]


def test_two_equal_distractors_become_one_and_a_doubtful_key_is_left_out() -> None:
    kept = settled(single("Which?", ("yes", 1.0), ("by no means", 0.0), ("By no means.", 0.0)))
    assert kept.quiz is not None
    assert isinstance(kept.quiz.questions[0].body, Choices)
    assert [choice.id for choice in kept.quiz.questions[0].body.choices] == ["a", "b"]
    left_out = settled(single("Which?", ("in all cases", 1.0), ("no", 0.0), ("In all cases.", 0.0)))
    assert (left_out.quiz, left_out.imported) == (None, 0)
    assert [(problem.line, problem.severity, problem.code) for problem in left_out.problems] == [(7, Severity.ERROR, "OPTION-DUPLICATE")]


def test_pairs_that_share_a_right_side_are_asked_as_gaps() -> None:
    pairs = tuple(
        Pair(key, Text.of(left), Text.of(right))
        for key, left, right in (("a", "Rome", "Italy"), ("b", "Milan", "Italy"), ("c", "Nice", "France"))
    )
    result = settled(Question("q", Text.of("Where?"), Match(pairs), line=3))
    assert isinstance(result.questions[0].body, Match)  # the report says what the file says
    assert result.quiz is not None
    body = result.quiz.questions[0].body
    assert isinstance(body, Short)
    assert [[choice.text["en"] for choice in blank.choices if choice.correct] for blank in body.blanks] == [
        ["Italy"],
        ["Italy"],
        ["France"],
    ]
    assert {len(blank.choices) for blank in body.blanks} == {2}
    assert [problem.code for problem in result.problems] == ["MATCH-SHARED"]


def test_what_cannot_be_shown_is_left_out_with_an_error() -> None:
    many = single("Which?", *((f"number {at}", float(at == 0)) for at in range(30)))
    long = single("x" * 5_000, ("yes", 1.0), ("no", 0.0))
    token = single("Say <|im_start|> now", ("yes", 1.0), ("no", 0.0))
    for question, code in ((many, "LIMIT-CHOICES"), (long, "LIMIT-EMBED"), (token, "TEXT-TOKEN")):
        result = settled(question)
        assert result.quiz is None
        assert [(problem.severity, problem.code) for problem in result.problems] == [(Severity.ERROR, code)]


def test_a_draft_in_discord_names_its_pictures() -> None:
    media = (Media("m1", Text.of("a map"), file="map.png"), Media("m2", Text.of("a photo"), url="https://example.org/p.jpg"))
    question = single("Look: ![](m1) ![](m2)", ("yes", 1.0), ("no", 0.0), media=media)
    quiz = Quiz("bank", 1, Text.of("Bank"), ("en",), (question,))
    named = banks.read_draft(banks.export(quiz, "native").data, "bank.quiz.yaml").quiz
    assert named is not None
    assert named.questions[0].stem["en"] == "Look: [picture: a map] [a photo](https://example.org/p.jpg)"
    assert named.questions[0].media == ()


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40) | st.sampled_from(
    ["\u200b", "@everyone", "<@1>", "[a](b:c)", "</s>", "```", "{{a}}", "x" * 300, " ", "\u2028", "- a: b", "# no", "&a *a !!x"]
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=3), texts)
def test_whatever_a_reader_gives_is_kept_loadable_or_told(rows: list[tuple[str, str, str]], title: str) -> None:
    questions = tuple(
        Question(f"q{at}", Text.of(stem), Choices((Choice("a", Text.of(right), 1.0), Choice("b", Text.of(wrong)))), line=at + 1)
        for at, (stem, right, wrong) in enumerate(rows)
    )
    quiz = Quiz("bank", 1, Text.of(title), ("en",), questions)
    result = banks.settled(Import("test", questions, (), len(questions), quiz))
    told = {problem.question for problem in result.problems if problem.severity is Severity.ERROR}
    if result.quiz is not None:
        try:
            text, loaded, problems = banks.native(result.quiz)
        except ContentError:
            return
        told |= {problem.question for problem in problems if problem.severity is Severity.ERROR}
        assert load_quiz(text)[0] == loaded
        errors = [fault for fault in check_of(loaded, text) if fault.severity is Severity.ERROR]
        assert not errors
        assert {question.id for question in loaded.questions} == {question.id for question in questions} - told
    else:
        assert told == {question.id for question in questions}


def check_of(quiz: Quiz, text: str) -> tuple[object, ...]:
    from content.load import Loaded, Origin
    from content.model import Library

    return check(Loaded(Library(quizzes={quiz.id: quiz}), origins={("quiz", quiz.id, ""): Origin("x", text)}))
