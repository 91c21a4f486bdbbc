"""R/exams exercises (.Rmd, .Rnw) that are static: single and multiple choice, numbers, texts, and cloze made of these.

One file is one exercise. Anything that R would run (chunks, inline `r …`, \\Sexpr) is refused with its line: run it in R and
give the result. The answer key comes from the meta-information, feedback from the solution's answer list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from content.model import Accept, Blank, Body, Choice, Choices, Open, Question, Short, Text
from content.readers.answers import number_in
from content.readers.base import About, Import, Report, Unusable, choice_id, text_or_none
from content.readers.detect import CERTAIN, LIKELY, suffix
from content.readers.intake import decode, peek
from content.readers.markup import Pictures, keep_pictures, markdown_to_plain, normalise_latex, plain_to_markdown
from content.readers.playable import check_gaps

_RUNS: Final = (
    (re.compile(r"^\s*(?:```+|~~~+)\s*\{\s*[A-Za-z]"), "a chunk of code that knitr runs"),
    (re.compile(r"^\s*<<.*>>=\s*$"), "a chunk of R code"),
    (re.compile(r"`r[ #][^`]*`"), "inline R code"),
    (re.compile(r"\\Sexpr\s*\{"), r"\Sexpr runs R code"),
)
_UNDERLINE: Final = re.compile(r"(?:={3,}|-{3,})\s*")
_ATX: Final = re.compile(r"#{1,3}\s+(Question|Solution|Answerlist|Meta-information)\s*#*\s*", re.IGNORECASE)
_NAMES: Final = frozenset({"question", "solution", "answerlist", "meta-information"})
_META: Final = re.compile(r"\s*(ex[a-z]+(?:\[[\w, ]*\])?)\s*:\s*(.*)")
_LATEX_META: Final = re.compile(r"^\s*%*\s*\\(ex[a-z]+)\{(.*)\}\s*(?:%.*)?$")
_KINDS: Final = ("schoice", "mchoice", "num", "string", "cloze", "essay")


@dataclass(slots=True)
class _Exercise:
    question: list[str] = field(default_factory=list[str])
    answers: list[str] = field(default_factory=list[str])
    solution: list[str] = field(default_factory=list[str])
    feedback: list[str] = field(default_factory=list[str])
    meta: dict[str, str] = field(default_factory=dict[str, str])
    meta_line: int = 0


class RexamsReader:
    name = "rexams"

    def sniff(self, data: bytes, name: str) -> float:
        head = peek(data)
        markdown = re.search(r"^Question\s*\n={3,}", head, re.MULTILINE) or re.search(r"^#{1,2} Question\s*$", head, re.MULTILINE)
        if (markdown and re.search(r"^\s*extype\s*:", head, re.MULTILINE)) or ("\\begin{question}" in head and "\\extype{" in head):
            return CERTAIN
        return LIKELY if suffix(name) in ("rmd", "rnw") and re.search(r"\bextype\b", head) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        text = decode(data, report)
        lines = text.split("\n")
        with report.question(1):
            _refuse_code(lines)
            exercise = _latex_exercise(lines) if "\\begin{question}" in text else _markdown_exercise(lines)
            report.add(_question(exercise, report))
        return report.close(About(title=exercise.meta.get("exname", "") if report.questions else ""))


def _refuse_code(lines: Sequence[str]) -> None:
    for number, line in enumerate(lines, 1):
        for pattern, what in _RUNS:
            if pattern.search(line[:2_000]):
                raise Unusable("REXAMS-CODE", f"{what}, and nothing is run here. Run the exercise in R and give the static result.", number)


# Reading the two spellings -------------------------------------------------------------------------------------------


def _markdown_exercise(lines: Sequence[str]) -> _Exercise:
    exercise = _Exercise()
    section = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        heading = _ATX.fullmatch(line)
        underlined = at + 1 < len(lines) and line.strip().lower() in _NAMES and _UNDERLINE.fullmatch(lines[at + 1]) is not None
        if heading or underlined:
            name = (heading[1] if heading else line.strip()).lower()
            section = f"{section.partition(' ')[0]} answerlist" if name == "answerlist" else name
            if name == "meta-information":
                exercise.meta_line = at + 1
            at += 1 if heading else 2
            continue
        _sort_line(exercise, section, line)
        at += 1
    return exercise


def _sort_line(exercise: _Exercise, section: str, line: str) -> None:
    match section:
        case "question":
            exercise.question.append(line)
        case "solution":
            exercise.solution.append(line)
        case "question answerlist":
            _list_line(exercise.answers, line)
        case "solution answerlist":
            _list_line(exercise.feedback, line)
        case "meta-information":
            if (found := _META.fullmatch(line)) is not None:
                exercise.meta[found[1].lower()] = found[2].strip()
        case _:
            pass


def _list_line(items: list[str], line: str) -> None:
    """`* item`, its continuation lines indented or not."""
    item = re.match(r"\s{0,3}[*+-]\s+(.*)|\s{0,3}[*+-]\s*$", line)
    if item:
        items.append((item[1] or "").strip())
    elif items and line.strip():
        items[-1] = f"{items[-1]}\n{line.strip()}".strip()


def _latex_exercise(lines: Sequence[str]) -> _Exercise:
    exercise = _Exercise()
    section, in_list = "", False
    for number, line in enumerate(lines, 1):
        meta = _LATEX_META.match(line)
        if meta:
            exercise.meta[meta[1]] = meta[2].strip()
            exercise.meta_line = exercise.meta_line or number
            continue
        stripped = re.sub(r"(?<!\\)%.*", "", line).rstrip()
        for mark in re.findall(r"\\(begin|end)\{(question|solution|answerlist)\}", stripped):
            if mark[1] == "answerlist":
                in_list = mark[0] == "begin"
            else:
                section = mark[1] if mark[0] == "begin" else ""
        rest = re.sub(r"\\(?:begin|end)\{(?:question|solution|answerlist)\}", "", stripped)
        if in_list and section:
            target = exercise.answers if section == "question" else exercise.feedback
            first, *items = re.split(r"\\item(?![a-zA-Z])", rest)
            if target and first.strip():
                target[-1] = f"{target[-1]} {first.strip()}".strip()
            target += [item.strip() for item in items]
        elif section:
            (exercise.question if section == "question" else exercise.solution).append(rest)
    for part in (exercise.question, exercise.solution):
        part[:] = [_latex_to_markdown("\n".join(part))]
    exercise.answers[:] = map(_latex_to_markdown, exercise.answers)
    exercise.feedback[:] = map(_latex_to_markdown, exercise.feedback)
    return exercise


_LATEX: Final = (
    (re.compile(r"\\(?:textbf|strong)\{([^{}]*)\}"), r"**\1**"),
    (re.compile(r"\\(?:emph|textit)\{([^{}]*)\}"), r"*\1*"),
    (re.compile(r"\\(?:texttt|code|verb\*?)\{([^{}]*)\}"), r"`\1`"),
    (re.compile(r"\\verb\*?([|!+])(.*?)\1"), r"`\2`"),
    (re.compile(r"\\includegraphics(?:\[[^\]]*\])?\{([^{}]*)\}"), r"![](\1)"),
    (re.compile(r"\\(?:item|newline|\\)(?![a-zA-Z])\s?"), "\n"),
    (re.compile(r"\\(?:begin|end)\{(?:itemize|enumerate|center|quote)\}"), ""),
    (re.compile(r"``(.*?)''"), "“\\1”"),
    (re.compile(r"(?<!\\)~"), " "),
    (re.compile(r"\\([%&#_{}$])"), r"\1"),
)


def _latex_to_markdown(text: str) -> str:
    """The usual text commands; formulas between dollars stay as they are."""
    parts = re.split(r"(\$\$.+?\$\$|\$[^$]+\$)", normalise_latex(text), flags=re.DOTALL)
    for i in range(0, len(parts), 2):
        for pattern, replacement in _LATEX:
            parts[i] = pattern.sub(replacement, parts[i])
    return "".join(parts).strip()


# From the exercise to the question -------------------------------------------------------------------------------------


def _question(exercise: _Exercise, report: Report) -> Question:
    pictures = Pictures()

    def shown(text: str) -> str:
        return keep_pictures(normalise_latex(text), pictures).strip()

    meta = exercise.meta
    kind = meta.get("extype", "").lower()
    if kind not in _KINDS:
        raise Unusable("REXAMS-TYPE", f"extype is {kind[:40]!r}. Use one of {', '.join(_KINDS)}.", exercise.meta_line or None)
    stem = shown("\n".join(exercise.question))
    answers = [shown(answer) for answer in exercise.answers]
    feedback = [shown(remark) for remark in exercise.feedback]
    if kind == "cloze":
        stem, body = _cloze(stem, answers, meta, exercise.meta_line)
    else:
        body = _body(kind, answers, feedback, meta, exercise.meta_line)
    if not stem:
        raise Unusable("NO-STEM", "the section Question is empty. Write the question.")
    name = plain_to_markdown(meta.get("exname", ""))
    tags = [part.strip() for part in re.split(r"[/|,]", meta.get("exsection", "")) if part.strip()]
    shuffle = meta.get("exshuffle", "FALSE").strip().upper()
    if pictures.media:
        report.note(1, "MEDIA", "pictures of R exercises are files of their own. Put them beside the quiz.")
    extra = {key: value for key, value in meta.items() if key not in ("exname", "extype", "exsolution", "extol", "expoints", "exsection")}
    return Question(
        id="",
        stem=Text.of(stem),
        body=body,
        title=text_or_none(name),
        explanation=text_or_none(shown("\n".join(exercise.solution))),
        points=_points(meta, report, exercise.meta_line),
        tags=tuple(dict.fromkeys(tags)),
        shuffle=shuffle not in ("FALSE", "F", "0", ""),
        media=pictures.media,
        extra={"rexams": extra} if extra else {},
    )


def _body(kind: str, answers: Sequence[str], feedback: Sequence[str], meta: Mapping[str, str], line: int) -> Body:
    solution = meta.get("exsolution", "")
    match kind:
        case "schoice" | "mchoice":
            return Choices(_choices(answers, feedback, solution, single=kind == "schoice", line=line), many=kind == "mchoice")
        case "num":
            return Short((_number(solution, meta.get("extol", "0"), line),))
        case "string":
            if not solution or "essay" in meta.get("exstringtype", ""):
                return Open(text_or_none(solution))
            return Short((Accept(text=markdown_to_plain(solution)),))
        case _:
            return Open(text_or_none(solution if solution.lower() != "nil" else ""))


def _choices(answers: Sequence[str], feedback: Sequence[str], solution: str, *, single: bool, line: int) -> tuple[Choice, ...]:
    if not re.fullmatch(r"[01]+", solution) or len(solution) != len(answers):
        raise Unusable("REXAMS-KEY", f"exsolution is {solution[:40]!r} for {len(answers)} answers. Write one 0 or 1 for each.", line)
    if single and solution.count("1") != 1:
        raise Unusable(
            "REXAMS-KEY", f"exsolution {solution[:40]!r} marks {solution.count('1')} answers; schoice needs one. Use mchoice.", line
        )
    said = list(feedback) if len(feedback) == len(answers) else [""] * len(answers)
    # "True" and "False" alone only repeat the key
    said = ["" if re.fullmatch(r"(?:true|false)\.?", remark, re.IGNORECASE) else remark for remark in said]
    return tuple(
        Choice(choice_id(i), Text.of(answer), float(mark == "1"), text_or_none(remark))
        for i, (answer, mark, remark) in enumerate(zip(answers, solution, said, strict=True))
        if answer
    )


def _number(solution: str, tolerance: str, line: int) -> Accept:
    number, slack = number_in(solution), number_in(tolerance or "0")
    if number is None or slack is None or slack < 0:
        raise Unusable("REXAMS-KEY", f"exsolution {solution[:40]!r} with extol {tolerance[:40]!r} is no number. Write digits.", line)
    return Accept(number=number, tolerance=slack)


def _cloze(stem: str, answers: Sequence[str], meta: Mapping[str, str], line: int) -> tuple[str, Body]:
    """`a|b|01` with exclozetype and extol likewise; the answer list is dealt out: one item a number, one a choice."""
    solutions = [part.strip() for part in meta.get("exsolution", "").split("|")]
    kinds = [part.strip() for part in meta.get("exclozetype", "").split("|")] if meta.get("exclozetype") else []
    if not kinds:
        kinds = [
            "num"
            if number_in(part) is not None and not re.fullmatch(r"[01]{2,}", part)
            else "schoice"
            if re.fullmatch(r"[01]{2,}", part)
            else "string"
            for part in solutions
        ]
    if len(kinds) != len(solutions):
        raise Unusable("REXAMS-KEY", f"exclozetype names {len(kinds)} parts, exsolution {len(solutions)}. Name each part once.", line)
    check_gaps(len(kinds))
    slacks = [part.strip() for part in meta.get("extol", "0").split("|")]
    slacks = slacks if len(slacks) == len(solutions) else slacks[:1] * len(solutions)
    left = list(answers)
    blanks: list[Blank] = []
    for position, (kind, solution, slack) in enumerate(zip(kinds, solutions, slacks, strict=True), 1):
        mark = "{{" + f"b{position}" + "}}"
        shown = f"##ANSWER{position}##"
        if kind in ("schoice", "mchoice"):
            if solution.count("1") != 1:
                raise Unusable(
                    "REXAMS-TYPE", f"part {position} has {solution.count('1')} right answers; a gap takes one. Split the exercise.", line
                )
            texts, left = left[: len(solution)], left[len(solution) :]
            blank = Blank(f"b{position}", choices=_choices(texts, (), solution, single=True, line=line))
            label = ""
        else:
            label, left = (left[0], left[1:]) if left else ("", left)
            accept = _number(solution, slack, line) if kind == "num" else Accept(text=markdown_to_plain(solution))
            if kind not in ("num", "string", "verbatim") or not solution:
                raise Unusable("REXAMS-TYPE", f"part {position} is of the type {kind[:20]!r}, which is no gap. Split the exercise.", line)
            blank = Blank(f"b{position}", accept=(accept,))
        blanks.append(blank)
        stem = stem.replace(shown, mark, 1) if shown in stem else f"{stem}\n{position}. {f'{label} ' if label else ''}{mark}"
    return stem, Short(blanks=tuple(blanks))


def _points(meta: Mapping[str, str], report: Report, line: int) -> float:
    raw = meta.get("expoints", "")
    points = number_in(raw) if raw else 1.0
    if points is None or not 0 <= points <= 1000:
        report.warn(line, "REXAMS-POINTS", f"expoints is {raw[:20]!r}; taken as 1.")
        return 1.0
    return points
