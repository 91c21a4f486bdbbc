"""Bytes to text, HTML to Markdown, zips, labels and answer words: the rules that all readers share, and what they refuse."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.model import Choices, ContentError, Media, Question, Severity, Text
from content.readers import read_bytes, read_file, to_json
from content.readers.answers import number_in, wildcard_expression, wildcard_of
from content.readers.base import About, Report, Unusable, language_of, lettered, slug
from content.readers.intake import Archive, decode
from content.readers.labels import answer_in, keys_in, label_at, truth_in
from content.readers.markup import Pictures, html_to_markdown, markdown_to_plain, normalise_latex, plain_to_markdown
from tests.importing.conftest import codes, read

BANK = "Frage: über $x$?\nA. ä\nB. b\nANSWER: A\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_bank_reads_the_same_in_every_encoding_that_is_certain(encoding: str) -> None:
    data = BANK.encode(encoding)
    result = read_bytes(data, "b.txt", "aiken")
    assert result.questions[0].body.choices[0].text == Text.of("ä")
    assert codes(result) == (["ENCODING-1252"] if encoding == "cp1252" else [])


def test_a_few_windows_1252_lines_in_a_utf_8_file_are_named() -> None:
    data = "Größe?\nA. ä\n".encode() + "B. \x93zitiert\x94 é\n".encode("latin-1") + b"ANSWER: B\n"
    result = read_bytes(data, "b.txt", "aiken")
    assert result.questions[0].body.choices[1].text == Text.of("“zitiert” é")
    assert "line 3" in result.problems[0].text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("问题是什么？选择正确答案\nA. 甲\nANSWER: A".encode("gbk"), "not guessed"),
        ("Какой ответ верный из этих\n".encode("cp1251"), "not guessed"),
        (BANK.encode("utf-16-le"), "byte order mark"),
        (b"\xff\xfea", "UTF-16"),
    ],
)
def test_other_encodings_are_never_guessed(data: bytes, said: str) -> None:
    with pytest.raises(ContentError, match=said):
        read_bytes(data, "b.txt", "aiken")


def test_bytes_without_a_meaning_and_control_characters_are_told() -> None:
    report = Report("x", "x")
    assert decode(b"caf\xe9 \x81\n\x07bell", report) == "café \ufffd\nbell"
    assert [problem.code for problem in report.problems] == ["ENCODING-1252", "ENCODING-UNKNOWN", "ENCODING-CONTROL"]


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    assert decode(b"a\r\nb\rc\nd", Report("x", "x")).split("\n") == ["a", "b", "c", "d"]


# --- zip ---


def packed(*members: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "..\\x", "C:/x"])
def test_a_member_that_points_outside_is_refused(name: str) -> None:
    with pytest.raises(ContentError, match="outside"):
        Archive(packed((name, b"x")), "p.zip")


def test_a_bomb_is_stopped_by_what_comes_out_of_it() -> None:
    archive = Archive(packed(("a", b"\0" * 8_000_000), ("b", b"fine")), "p.zip")
    assert archive.read("b") == b"fine"
    with pytest.raises(ContentError, match="100 times"):
        archive.read("a")


def test_too_many_members_damage_and_odd_compression_are_refused() -> None:
    with pytest.raises(ContentError, match="members"):
        Archive(packed(*((str(i), b"") for i in range(2_001))), "p.zip")
    with pytest.raises(ContentError, match="not a readable zip"):
        Archive(b"PK\x03\x04rubbish", "p.zip")
    with pytest.raises(ContentError, match="compression"):
        Archive(packed(("a", b"x" * 99), compression=zipfile.ZIP_BZIP2), "p.zip").read("a")
    good = packed(("a", bytes(range(256)) * 9))
    with pytest.raises(ContentError, match="cannot be read"):
        Archive(good[:40] + b"\xff\xff" + good[42:], "p.zip").read("a")
    with pytest.raises(ContentError, match="missing"):
        Archive(good, "p.zip").read("b")


# --- markup ---


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a <b> b </b>c</p><p>d</p>", "a **b** c\n\nd"),
        ("x<sup>2</sup> H<sub>2</sub>O e<sup>ix+γ</sup>", "x² H₂O e^(ix+γ)"),
        ("<ul><li>a<ol><li>b</li></ol></li></ul>c", "- a\n  1. b\n\nc"),
        ("<table><tr><th>A</th><td><b>bb</b></td></tr><tr><td>1</td></tr></table>", "```\nA  bb\n1\n```"),
        ("<pre><code class='language-py'>a  *b*\n</code></pre>", "```py\na  *b*\n```"),
        ("a &lt;b&gt; &amp;amp; 2*3*4", "a <b> &amp; 2\\*3\\*4"),
        ("<script>x</script>a<style>y</style><!-- z --><iframe src=q></iframe>", "a"),
        ("<a href='javascript:x'>a</a> <a href=\"https://x.y\">b</a>", "a [b](https://x.y)"),
        ('<img class="equation_image" data-equation-content="\\frac{1}{2}">', "$\\frac{1}{2}$"),
        ("<math><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></math>", "$x^2$"),
        ("List<String> and a < b", "List<String> and a < b"),
        ("<i>open <u>and</i> closed</u>", "*open __and__* closed"),
    ],
)
def test_html_becomes_discord_markdown(html: str, markdown: str) -> None:
    assert html_to_markdown(html) == markdown


def test_pictures_are_kept_by_address_and_never_lead_outside() -> None:
    pictures = Pictures()
    text = html_to_markdown(
        '<img src="https://x/y.png" alt="Y"> <img src="../../etc/p.png"> <img src="data:image/png;base64,AA" alt="d">', pictures
    )
    assert text == "![](m1) ![](m2) d"
    assert pictures.media == (Media("m1", Text.of("Y"), url="https://x/y.png"), Media("m2", Text.of("p.png"), file="etc/p.png"))
    assert pictures.left_out == ["d"]


@pytest.mark.parametrize("latex", ["\\(x_1*y*z\\)", "[$]x_1*y*z[/$]", "[latex]x_1*y*z[/latex]"])
def test_formulas_keep_their_source(latex: str) -> None:
    assert plain_to_markdown(normalise_latex(f"a*b*c {latex}")) == "a\\*b\\*c $x_1*y*z$"


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab \\*_~|>#@$`-\n12everyonehere", max_size=40) | st.text(max_size=40))
def test_escaping_for_discord_can_be_undone(text: str) -> None:
    text = text.replace("\u200b", "")
    assert markdown_to_plain(plain_to_markdown(text)) == text


# --- labels and answers ---


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("Answer: B", "B"), ("**Answer** a)", "a)"), ("Réponse : C", "C"),
        ("Respuesta: B", "B"), ("Resposta: B", "B"), ("Antwort: B", "B"),
        ("Risposta: B", "B"), ("Ответ: Б", "Б"), ("答案：B", "B"), ("正确答案：B", "B"), ("正解: 2", "2"), ("答え：ア", "ア"),
        ("정답: 3", "3"),
        ("#### الاجابة الصحيحة: د", "د"), ("الإجابة: ب", "ب"), ("תשובה: א", "א"), ("Correct Answer - B", "B"), ("<b>Answer:</b> B", "B"),
        ("Answer the question", None), ("Key takeaways", None), ("Answers", None), ("Solution", None),
    ],
)  # fmt: skip
def test_answer_words_of_many_languages(line: str, rest: str | None) -> None:
    assert answer_in(line) == rest


@pytest.mark.parametrize(
    ("key", "places"),
    [
        ("B", (1,)),
        ("(b)", (1,)),
        ("A, C", (0, 2)),
        ("A and C", (0, 2)),
        ("AC", (0, 2)),
        ("B) because", (1,)),
        ("2", (1,)),
        ("E", None),
        ("The", None),
    ],
)
def test_keys_are_letters_among_the_labels(key: str, places: tuple[int, ...] | None) -> None:
    assert keys_in(key, ["a", "b", "c", "d"]) == places


def test_letters_that_belong_to_other_alphabets_find_their_choice() -> None:
    assert keys_in("א", ["1", "2", "3"]) == (0,)
    assert keys_in("В", ["a", "b", "c"]) == (1,)  # a Cyrillic letter that looks like B
    assert keys_in("В", ["а", "б", "в"]) == (2,)
    assert label_at("هـ) خمسة") is not None
    assert label_at("A text") is None


def test_truth_in_many_languages() -> None:
    assert [truth_in(word) for word in ("True", "верно", "正确", "참", "صح", "Falsch", "错误", "λάθος", "maybe")] == [True] * 5 + [
        False
    ] * 3 + [None]


@pytest.mark.parametrize(
    ("text", "number"), [("1,5", 1.5), ("−2", -2.0), ("1,234", None), ("1e3", 1000.0), ("x", None), ("1e999", None), ("٣", 3.0)]
)
def test_numbers_as_people_write_them(text: str, number: float | None) -> None:
    assert number_in(text) == number


@given(st.text(alphabet="ab*\\.+()[]{}^$|?", min_size=1, max_size=20))
def test_wildcards_survive_the_way_to_an_expression_and_back(text: str) -> None:
    expression = wildcard_expression(text)
    if expression is not None and "\\*" not in text:
        assert wildcard_of(expression) == text


# --- the report ---


def test_one_bad_question_never_loses_its_neighbours_and_ids_stay_unique() -> None:
    report = Report("x", "bank.txt", b"data")
    for i in range(3):
        with report.question(i + 1, "Same"):
            if i == 1:
                raise Unusable("X-BAD", "broken. Mend it.")
            report.add(Question("", Text.of(f"Why {i}?"), Choices(lettered(["a", "b"], (0,))), title=Text.of("Same")))
    result = report.close(About(title="A Bank"))
    assert [question.id for question in result.questions] == ["same", "same-2"]
    assert (result.read, result.imported, result.quiz.id if result.quiz else "") == (3, 2, "a-bank")
    assert [(p.line, p.severity, p.code, p.question) for p in result.problems] == [(2, Severity.ERROR, "X-BAD", "Same")]


def test_what_discord_cannot_show_is_a_warning() -> None:
    report = Report("x", "x")
    with report.question(1):
        report.add(Question("", Text.of("q" * 4_001), Choices(lettered(["c" * 101, *map(str, range(26))], (0,)))))
    assert [problem.code for problem in report.problems] == ["PLAY-STEM", "PLAY-CHOICES", "PLAY-CHOICE-LENGTH"]


def test_ids_are_words_and_a_title_in_another_script_is_numbered() -> None:
    assert slug("Émile's  question: why?") == "emile-s-question-why"
    assert slug("为什么 TCP 要三次握手") == ""
    assert len(slug("word " * 40)) <= 40
    assert language_of([Question("q", Text.of("Почему?"), Choices(()))]) == "ru"


def test_the_import_as_json_holds_types_keys_and_problems() -> None:
    shown = to_json(read("Q?\nA. x\nB. y\nANSWER: B\n\nR?\nA. x\nB. y\n", "aiken"))
    assert (shown["format"], shown["read"], shown["imported"]) == ("aiken", 2, 1)
    question = shown["questions"][0]
    assert (question["type"], question["stem"], question["key"]) == ("single", "Q?", ["b"])
    assert [choice["text"] for choice in question["choices"]] == ["x", "y"]
    assert set(shown["problems"][0]) == {"line", "severity", "code", "question", "text"}
    assert (shown["problems"][0]["line"], shown["problems"][0]["severity"]) == (6, "error")


def test_unknown_formats_empty_files_and_missing_files_are_refused(tmp_path) -> None:
    for data, format, said in ((b"x", "word", "not known"), (b" \n", None, "empty"), (b"just some prose", None, "no known format")):
        with pytest.raises(ContentError, match=said):
            read_bytes(data, "f.dat", format)
    with pytest.raises(ContentError, match="cannot be read"):
        read_file(tmp_path / "none.txt")
    with pytest.raises(ContentError, match="no pages named after languages"):
        read_file(tmp_path)
