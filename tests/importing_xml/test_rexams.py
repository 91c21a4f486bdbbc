"""R/exams: static exercises in both spellings; whatever R would run is refused with its line.

Proves the reader on exercises written here; two of the package's own are in test_samples.py.
"""

from __future__ import annotations

import pytest

from content.model import Accept, Choices, Open, Severity, Short
from content.readers.base import Import
from content.readers.rexams import RexamsReader


def read(text: str, name: str = "exercise.Rmd") -> Import:
    return RexamsReader().read(text.encode(), name)


def exercise(meta: str, question: str = "Why?", answers: str = "", solution: str = "") -> str:
    listed = f"\nAnswerlist\n----------\n{answers}\n" if answers else ""
    return f"Question\n========\n{question}\n{listed}\nSolution\n========\n{solution}\n\nMeta-information\n================\n{meta}\n"


def test_a_number_has_its_tolerance_points_and_section() -> None:
    text = exercise(
        "exname: Root\nextype: num\nexsolution: 1.414\nextol: 0.01\nexpoints: 3\nexsection: Algebra/Roots", r"Root of \(2\)?", "", "See."
    )
    (found,) = read(text).questions
    assert found.body == Short((Accept(number=1.414, tolerance=0.01),))
    assert (found.stem[""], found.points, found.tags, found.explanation and found.explanation[""]) == (
        "Root of $2$?",
        3.0,
        ("Algebra", "Roots"),
        "See.",
    )


def test_a_string_is_typed_and_an_essay_is_open() -> None:
    assert read(exercise("extype: string\nexsolution: Bern")).questions[0].body == Short((Accept(text="Bern"),))
    assert isinstance(read(exercise("extype: string\nexsolution: nil\nexstringtype: essay")).questions[0].body, Open)


def test_a_cloze_deals_its_answer_list_out() -> None:
    meta = "extype: cloze\nexsolution: 3|010|Bern\nexclozetype: num|schoice|string\nextol: 0.5|0|0"
    answers = "* How many?\n* red\n* green\n* blue\n* Which city?"
    (found,) = read(exercise(meta, "Look: ##ANSWER2##", answers)).questions
    assert found.stem[""] == "Look: {{b2}}\n1. How many? {{b1}}\n3. Which city? {{b3}}"
    assert isinstance(found.body, Short)
    number, pick, text = found.body.blanks
    assert number.accept == (Accept(number=3.0, tolerance=0.5),)
    assert [(c.text[""], c.correct) for c in pick.choices] == [("red", False), ("green", True), ("blue", False)]
    assert text.accept == (Accept(text="Bern"),)


def test_latex_exercises_are_read_without_their_commands() -> None:
    text = r"""
\begin{question}
Which \textbf{flag} opens? Use $x_1$ \& think.  % a comment
\begin{answerlist}
  \item \texttt{SYN}
  \item \emph{FIN}
        or RST
\end{answerlist}
\end{question}
\begin{solution}
\begin{answerlist}
  \item True.
  \item False. That closes.
\end{answerlist}
\end{solution}
%% \extype{schoice}
%% \exsolution{10}
%% \exname{Flags}
"""
    (found,) = read(text, "flags.Rnw").questions
    assert found.stem[""] == "Which **flag** opens? Use $x_1$ & think."
    assert isinstance(found.body, Choices)
    assert [(c.text[""], c.credit, c.feedback and c.feedback[""]) for c in found.body.choices] == [
        ("`SYN`", 1.0, None),
        ("*FIN* or RST", 0.0, "False. That closes."),
    ]
    assert (found.title and found.title[""], found.shuffle) == ("Flags", False)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("```{r, echo=FALSE}\nx <- sample(1:10)\n```\n", 1),
        ("\n~~~{python}\nimport os\n~~~\n", 2),
        ("\n\n<<echo=FALSE>>=\nx <- 1\n@\n", 3),
        ("The mean is `r mean(x)`.\n", 1),
        ("A value of \\Sexpr{x} here.\n", 1),
    ],
)
def test_code_that_r_would_run_is_refused_with_its_line(code: str, line: int) -> None:
    result = read(code + exercise("extype: num\nexsolution: 1"))
    assert (result.read, result.imported) == (1, 0)
    (problem,) = result.problems
    assert (problem.severity, problem.line, problem.code) == (Severity.ERROR, line, "REXAMS-CODE")


def test_code_that_is_only_shown_stays() -> None:
    (found,) = read(exercise("extype: num\nexsolution: 3", "What does it print?\n\n```r\nprint(3)\n```")).questions
    assert "```r\nprint(3)\n```" in found.stem[""]


@pytest.mark.parametrize(
    "meta",
    [
        "extype: schoice\nexsolution: 01",
        "extype: schoice\nexsolution: 111",
        "extype: schoice\nexsolution: a",
        "extype: mchoice\nexsolution: 000",
        "extype: num\nexsolution: many",
        "extype: verbatim",
        "extype: cloze\nexsolution: 1|2\nexclozetype: num",
        "",
    ],
)
def test_a_key_that_does_not_fit_is_an_error(meta: str) -> None:
    result = read(exercise(meta, answers="* a\n* b\n* c"))
    if "mchoice" in meta:  # choosing none may be right, but then there is nothing to grade by share
        assert result.imported == 1
        return
    assert (result.imported, result.count(Severity.ERROR)) == (0, 1)
