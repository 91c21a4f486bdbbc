"""text2qti: the Markdown-like text from which Canvas quizzes are made.

Blocks that would run code (`{.python .run}`) are refused with their line, and the question they stand in. Lines that
text2qti itself would stop at are added to the part above them, with a warning, and the next question is read as usual.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final

from content.model import (
    Accept,
    Choice,
    Choices,
    Group,
    Info,
    Open,
    Question,
    Scoring,
    Select,
    Short,
    Text,
    TrueFalse,
)
from content.readers.answers import number_in
from content.readers.base import About, Import, Report, Unusable, choice_id, text_or_none
from content.readers.detect import CERTAIN, POSSIBLE
from content.readers.intake import decode, peek
from content.readers.labels import true_false_pair, truth_in
from content.readers.markup import Pictures, keep_pictures, normalise_latex

_HEADER: Final = re.compile(
    r"(quiz title|quiz description|title|points|text title|text|pick|points per question)\s*:[ \t]*(.*)", re.IGNORECASE
)
_OPTION: Final = re.compile(
    r"(shuffle answers|show correct answers|one question at a time|can't go back|feedback is solution|solutions? [a-z ]{3,30})\s*:\s*(\w+)",
    re.IGNORECASE,
)
_STEM: Final = re.compile(r"(\d{1,5})\.(?:[ \t]+(.*)|$)")
_CHOICE: Final = re.compile(r"(\*?)([A-Za-z])\)(?:[ \t]+(.*)|$)")
_BOX: Final = re.compile(r"\[( |\*|x|X)?\](?:[ \t]+(.*)|$)")
_MARKED: Final = re.compile(r"(\.\.\.|\+|-|!|\*|=)[ \t]+(\S.*)|(=)(\S.*)")
_ESSAY: Final = re.compile(r"_{3,}\s*")
_UPLOAD: Final = re.compile(r"\^{3,}\s*")
_FENCE: Final = re.compile(r"\s*(```+|~~~+)(.*)")
_RUN: Final = re.compile(r"\.run\b")
_NUMBER: Final = re.compile(r"(.+?)\s*(?:\+-|\+/-|±)\s*(.+?)(%?)\s*")


@dataclass(slots=True)
class _Part:
    """One choice or accepted answer, and its feedback."""

    text: list[str]
    right: bool
    feedback: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Draft:
    line: int
    title: str
    points: str
    stem: list[str]
    group: str | None = None
    kind: str = ""  # choice, box, short, number, essay, upload
    parts: list[_Part] = field(default_factory=list[_Part])
    general: list[str] = field(default_factory=list[str])
    right: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    solution: list[str] = field(default_factory=list[str])
    refused: tuple[str, str, int] | None = None
    info: bool = False


class Text2QtiReader:
    name = "text2qti"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        if re.match(r"\s*Quiz (?:title|description):", text):
            return CERTAIN
        if text.startswith("---\n") or re.search(r"^#{1,4} ", text, re.MULTILINE) or not re.search(r"^\d{1,5}\.\s", text, re.MULTILINE):
            return 0.0
        marks = len(re.findall(r"^(?:\*[A-Za-z]\)[ \t]|\[\*\][ \t]|=[ \t]+-?[\d\[.]|_{3,}[ \t]*$)", text, re.MULTILINE))
        return 0.88 if marks > 1 or (marks and re.search(r"^(?:Title|Points):", text, re.MULTILINE)) else POSSIBLE if marks else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        reading = _Reading(report)
        reading.lines(decode(data, report).split("\n"))
        reading.finish()
        about = About(title=reading.about.get("quiz title", ""), description=reading.about.get("quiz description", ""))
        result = report.close(about)
        if result.quiz is None or not reading.groups:
            return result
        return replace(result, quiz=replace(result.quiz, select=Select(groups=tuple(reading.groups))))


class _Reading:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.about: dict[str, str] = {}
        self.groups: list[Group] = []
        self.shuffle = True
        self._draft: _Draft | None = None
        self._target: list[str] | None = None  # the part that an indented line goes on with
        self._title = self._points = ""
        self._header_line = 0
        self._group: dict[str, str] | None = None
        self._blank = False

    def lines(self, lines: list[str]) -> None:
        at = 0
        while at < len(lines):
            line, number = lines[at].replace("\u00a0", " ").rstrip(), at + 1
            at += 1
            bare = line.strip()
            fence = _FENCE.match(line)
            if bare == "COMMENT":
                while at < len(lines) and lines[at].strip() != "END_COMMENT":
                    at += 1
                at += 1
            elif fence is not None:
                at = self._fenced(lines, at - 1, fence)
            elif not bare:
                self._blank = True
            elif line[0] in " \t" and self._target is not None:
                self._continue(line)
            elif not line.startswith("%"):
                self._line(bare, number)
                self._blank = False

    def _continue(self, text: str) -> None:
        if self._target is None:
            return
        if self._blank:
            self._target.append("")
        self._target.append(text.strip() if not text.startswith(("\t\t", " " * 8)) else text[4:].rstrip())
        self._blank = False

    def _fenced(self, lines: list[str], first: int, fence: re.Match[str]) -> int:
        """A code block: part of the question where it is indented or inside one; refused where it would be run."""
        indent = len(lines[first]) - len(lines[first].lstrip())
        end = first + 1
        while end < len(lines) and not lines[end].strip().startswith(fence.group(1)):
            end += 1
        if _RUN.search(fence.group(2)):
            text = "a block that runs code is refused. Write its result into the question."
            if self._draft is not None and (indent or self._draft.kind == ""):
                self._draft.refused = self._draft.refused or ("T2Q-RUN", text, first + 1)
            else:
                self.report.error(first + 1, "T2Q-RUN", text, "")
        elif self._target is not None:
            if self._blank:
                self._target.append("")
            block = lines[first : end + 1]
            self._target.extend(line[indent:].rstrip() if not line[:indent].strip() else line.strip() for line in block)
        self._blank = False
        return end + 1

    def _line(self, line: str, number: int) -> None:
        if (option := _OPTION.fullmatch(line)) is not None and self._draft is None:
            if option.group(1).lower() == "shuffle answers":
                self.shuffle = option.group(2).lower() == "true"
            return
        if (header := _HEADER.fullmatch(line)) is not None:
            self._header(header.group(1).lower(), header.group(2).strip(), number)
            return
        if line in ("GROUP", "END_GROUP"):
            self.finish()
            self._group = {"line": str(number)} if line == "GROUP" else None
            return
        if (stem := _STEM.fullmatch(line)) is not None:
            self.finish()
            text = [(stem.group(2) or "").strip()]
            self._draft = _Draft(self._header_line or number, self._title, self._points, text, self._open_group(number))
            self._target = text
            self._title = self._points = ""
            self._header_line = 0
            return
        draft = self._draft
        if draft is None:
            self.report.warn(number, "T2Q-STRAY", f"{line[:60]!r} belongs to no question and was left out.", "")
            return
        if (choice := _CHOICE.fullmatch(line)) is not None:
            self._part(draft, "choice", choice.group(3) or "", choice.group(1) == "*", number)
        elif (box := _BOX.fullmatch(line)) is not None:
            self._part(draft, "box", box.group(2) or "", (box.group(1) or " ") != " ", number)
        elif _ESSAY.fullmatch(line) or _UPLOAD.fullmatch(line):
            self._kind(draft, "essay" if line[0] == "_" else "upload", number)
            self._target = None
        elif (marked := _MARKED.fullmatch(line)) is not None:
            self._marked(draft, marked.group(1) or marked.group(3), (marked.group(2) or marked.group(4)).strip(), number)
        elif re.match(r"@(?:gap|match)\b", line):
            draft.refused = draft.refused or ("T2Q-GAP", "@gap and @match are no text2qti. Write the gaps as separate questions.", number)
        elif self._target is not None:
            self.report.warn(
                number, "T2Q-INDENT", "this line is not indented; it was added to the part above it. Indent it.", draft.title or None
            )
            self._continue(line)
        else:
            self.report.warn(number, "T2Q-STRAY", f"{line[:60]!r} belongs to nothing and was left out.", draft.title or None)

    def _header(self, name: str, value: str, number: int) -> None:
        if name in ("pick", "points per question"):
            if self._group is not None:
                self._group[name] = value
            return
        if name.startswith("quiz "):
            self.about[name] = value
            self._target = None
            return
        if name == "text":
            self.finish()
            text = [value]
            self._draft = _Draft(self._header_line or number, self._title, "", text, info=True)
            self._target = text
            self._title = self._points = ""
            self._header_line = 0
            return
        self.finish()
        if name == "points":
            self._points = value
        else:
            self._title = value
        self._header_line = self._header_line or number
        self._target = None

    def _open_group(self, number: int) -> str | None:
        if self._group is None:
            return None
        if "id" not in self._group:
            self._group["id"] = f"g{len(self.groups) + 1}"
            pick, points = self._group.get("pick", "1"), number_in(self._group.get("points per question", "1"))
            if not pick.isdecimal() or not 0 < int(pick[:6]) < 100_000:
                self.report.warn(number, "T2Q-GROUP", f"pick {pick[:20]!r} is no number; 1 was taken.", "")
                pick = "1"
            self.groups.append(Group(self._group["id"], int(pick), points if points and points > 0 else None))
        return self._group["id"]

    def _kind(self, draft: _Draft, kind: str, number: int) -> bool:
        if draft.kind and draft.kind != kind:
            draft.refused = draft.refused or ("T2Q-MIXED", f"{draft.kind} and {kind} answers are mixed. Keep one kind.", number)
            return False
        draft.kind = kind
        return True

    def _part(self, draft: _Draft, kind: str, text: str, right: bool, number: int) -> None:
        if self._kind(draft, kind, number):
            part = _Part([text.strip()], right)
            draft.parts.append(part)
            self._target = part.text

    def _marked(self, draft: _Draft, mark: str, text: str, number: int) -> None:
        if mark == "*":
            self._part(draft, "short", text, True, number)
            return
        if mark == "=":
            self._part(draft, "number", text, True, number)
            return
        if mark == "...":
            target = draft.parts[-1].feedback if draft.parts else draft.general
        else:
            target = draft.right if mark == "+" else draft.wrong if mark == "-" else draft.solution
        target.append(text)
        self._target = target

    def finish(self) -> None:
        draft, self._draft = self._draft, None
        self._target = None
        self._blank = False
        if draft is not None:
            with self.report.question(draft.line, draft.title[:80]):
                if draft.refused is not None:
                    raise Unusable(*draft.refused)
                _question(draft, self.shuffle, self.report)


def _question(draft: _Draft, shuffle: bool, report: Report) -> None:
    pictures = Pictures()

    def shown(lines: list[str]) -> str:
        return keep_pictures(normalise_latex("\n".join(lines).strip()), pictures)

    stem = shown(draft.stem)
    if not stem:
        raise Unusable("T2Q-STEM", "the question has no text. Write it behind the number.")
    right, wrong = shown(draft.right), shown(draft.wrong)
    extra: dict[str, Any] = {name: text for name, text in (("right", right), ("wrong", wrong)) if text}
    points = number_in(draft.points) if draft.points else 1.0
    if points is None or not 0 <= points <= 1_000:
        report.warn(0, "T2Q-POINTS", f"the points {draft.points[:40]!r} are no number up to 1,000; 1 was taken.")
        points = 1.0
    question = Question(
        id="",
        stem=Text.of(stem),
        body=Info() if draft.info else _body(draft, shown, right, wrong),
        title=text_or_none(draft.title),
        explanation=text_or_none("\n\n".join(part for part in (shown(draft.general), shown(draft.solution)) if part)),
        points=points,
        group=draft.group,
        shuffle=shuffle,
        media=pictures.media,
        extra={"text2qti": extra} if extra else {},
    )
    if isinstance(question.body, Choices) and not any(choice.correct for choice in question.body.choices):
        mark = "*a)" if draft.kind == "choice" else "[*]"
        report.add_draft(question, "NO-KEY", f"no choice is marked as right; kept as a draft. Write {mark} for it.")
        return
    report.add(question)


def _body(draft: _Draft, shown: Any, right: str, wrong: str) -> Choices | TrueFalse | Short | Open:
    if draft.kind == "essay":
        return Open()
    if draft.kind == "upload":
        raise Unusable("T2Q-UPLOAD", "a file upload cannot be asked in Discord. Ask for a text instead.")
    if draft.kind == "number":
        return Short(accept=tuple(_number(" ".join(part.text)) for part in draft.parts))
    if draft.kind == "short":
        answers = [" ".join(" ".join(part.text).split()) for part in draft.parts]  # Canvas compares them as plain text
        return Short(
            accept=tuple(
                Accept(text=answer, feedback=text_or_none(shown(part.feedback)))
                for answer, part in zip(answers, draft.parts, strict=True)
                if answer
            )
        )
    if not draft.parts:
        raise Unusable("T2Q-ANSWERS", "the question has no answers. Add a) …, [ ] …, * …, = …, or ____ for an essay.")
    texts = [shown(part.text) for part in draft.parts]
    if not all(texts):
        raise Unusable("T2Q-EMPTY", f"choice {texts.index('') + 1} has no text. Write it.")
    feedback = [shown(part.feedback) or (right if part.right else wrong) for part in draft.parts]
    keys = [part.right for part in draft.parts]
    if draft.kind == "choice" and true_false_pair(texts) and sum(keys) == 1:
        answer = truth_in(texts[keys.index(True)]) is True
        said = {truth_in(text) is True: Text.of(words) for text, words in zip(texts, feedback, strict=True) if words}
        return TrueFalse(answer, said)
    choices = tuple(
        Choice(choice_id(i), Text.of(text), 1.0 if key else 0.0, text_or_none(words))
        for i, (text, key, words) in enumerate(zip(texts, keys, feedback, strict=True))
    )
    return Choices(choices, many=draft.kind == "box" and any(keys), scoring=Scoring.ALL_OR_NOTHING)


def _number(text: str) -> Accept:
    text = text.strip()
    if (ends := re.fullmatch(r"\[\s*([^,\]]+),\s*([^\]]+)\]", text)) is not None:
        low, high = number_in(ends.group(1)), number_in(ends.group(2))
        if low is not None and high is not None:
            return Accept(span=(min(low, high), max(low, high)))
    elif (spread := _NUMBER.fullmatch(text)) is not None:
        value, slack = number_in(spread.group(1)), number_in(spread.group(2))
        if value is not None and slack is not None:
            relative = spread.group(3) == "%"
            return Accept(number=value, tolerance=abs(slack) / 100 if relative else abs(slack), relative=relative)
    elif (value := number_in(text)) is not None:
        return Accept(number=value)
    raise Unusable("T2Q-NUMBER", f"{text[:60]!r} is no number, number +- margin or [low, high]. Write = 1.41 +- 0.01.")
