"""H5P content: a package (.h5p), or its bare content.json.

Question sets, multiple choice, true/false, single choice sets, fill in the blanks, drag the words and essays become native
questions. What is dragged onto pictures, watched or drawn is reported. Nothing of the package's programs is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from content.model import (
    Accept,
    Blank,
    Body,
    Choice,
    Choices,
    ContentError,
    Criterion,
    Info,
    Item,
    Open,
    Order,
    Question,
    Scoring,
    Short,
    Text,
    TrueFalse,
)
from content.readers.base import About, Import, Report, Unusable, choice_id, text_or_none
from content.readers.cards import answer_text
from content.readers.detect import CERTAIN, LIKELY
from content.readers.intake import Archive, decode, load_json, peek
from content.readers.markup import Pictures, html_to_markdown, plain_to_markdown
from content.readers.package import media_of, member_names
from content.readers.playable import check_gaps

MAX_LEVELS: Final = 8
"""Of question sets inside columns inside presentations; the editor offers three."""

_SETS: Final = {"QuestionSet": "questions", "Column": "content", "InteractiveBook": "chapters"}
_LICENCES: Final = {"U": None, "C": "Copyright", "PD": "Public domain", "CC PDM": "Public domain", "CC0 1.0": "CC0-1.0"}

Params = Mapping[str, Any]


class H5pReader:
    name = "h5p"

    def sniff(self, data: bytes, name: str) -> float:
        names = member_names(data)
        if names:
            return CERTAIN if "h5p.json" in names and "content/content.json" in names else 0.0
        head = peek(data)
        if not head.lstrip().startswith("{"):
            return 0.0
        if re.search(r'"library"\s*:\s*"H5P\.\w+ \d', head):
            return CERTAIN
        return LIKELY if re.search(r'"(?:tipsAndFeedback|overallFeedback|mainLibrary)"\s*:', head) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        if data[:2] == b"PK":
            archive = Archive(data, name)
            about: Params = _mapping(load_json(decode(archive.read("h5p.json"), report), f"{name}: h5p.json"))
            content = load_json(decode(archive.read("content/content.json"), report), f"{name}: content/content.json")
        else:
            archive = None
            about = {}
            content = load_json(decode(data, report), name)
            if "mainLibrary" in _mapping(content):
                raise ContentError(f"{name}: h5p.json only describes a package. Give the .h5p file or its content/content.json.")
        library = str(about.get("mainLibrary") or _library_of(_mapping(content)))
        if not library:
            raise ContentError(f"{name}: no H5P content type is named or recognised in it. Give the whole .h5p file.")
        bank = _Bank(report, archive)
        bank.take(library, _mapping(content), about, 0)
        if not report.read:
            raise ContentError(f"{name}: {library} holds no questions. Choose a file with questions in it.")
        return report.close(_about(about))


def _library_of(content: Params) -> str:
    """The type of a bare content.json, by its shape."""
    if isinstance(content.get("questions"), list):
        first = next(iter(_list(content["questions"])), None)
        return "H5P.QuestionSet" if "library" in _mapping(first) else "H5P.Blanks" if isinstance(first, str) else ""
    if isinstance(content.get("choices"), list):
        return "H5P.SingleChoiceSet"
    if isinstance(content.get("answers"), list) and "question" in content:
        return "H5P.MultiChoice"
    if "textField" in content:
        return "H5P.DragText"
    return "H5P.TrueFalse" if isinstance(content.get("correct"), str) and "question" in content else ""


def _about(about: Params) -> About:
    licence = str(about.get("license") or "U").strip()
    version = str(about.get("licenseVersion") or "").strip()
    named = _LICENCES.get(licence, "-".join(filter(None, (licence.replace(" ", "-"), version))))
    authors = ", ".join(str(author["name"]) for author in map(_mapping, _list(about.get("authors"))) if author.get("name"))
    language = str(about.get("defaultLanguage") or about.get("language") or "")
    return About(
        title=" ".join(str(about.get("title") or "").split()),
        author=authors or None,
        url=str(about.get("source") or "") or None,
        licence=named,
        languages=(language,) if re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]{2,8})?", language) and language != "und" else (),
    )


class _Bank:
    def __init__(self, report: Report, archive: Archive | None) -> None:
        self.report = report
        self.archive = archive

    def take(self, library: str, params: Params, metadata: Params, level: int, content_id: str = "") -> None:
        """A content type by its library name, such as "H5P.MultiChoice 1.14"; sets are gone through."""
        kind = library.partition(" ")[0].removeprefix("H5P.")
        if level > MAX_LEVELS:
            self.report.error(0, "H5P-DEPTH", f"contents are nested deeper than {MAX_LEVELS} levels. Flatten them.", "")
            return
        if kind in _SETS or kind == "CoursePresentation":
            for inner in _inner(kind, params):
                inner_library = str(inner.get("library") or "")
                if inner_library:
                    self.take(
                        inner_library,
                        _mapping(inner.get("params")),
                        _mapping(inner.get("metadata")),
                        level + 1,
                        str(inner.get("subContentId") or ""),
                    )
            return
        if kind in ("AdvancedText", "Text", "Image", "Video", "Audio", "Link", "Table") and level:
            return  # between the questions
        if kind == "SingleChoiceSet":
            for entry in map(_mapping, _list(params.get("choices"))):
                self._one(kind, entry, metadata, str(entry.get("subContentId") or ""))
            return
        if kind == "Blanks" and len(_list(params.get("questions"))) > 1:
            for number, text in enumerate(_list(params.get("questions")), 1):
                self._one(kind, {**params, "questions": [text]}, metadata, f"{content_id}-{number}" if content_id else "")
            return
        self._one(kind, params, metadata, content_id)

    def _one(self, kind: str, params: Params, metadata: Params, content_id: str) -> None:
        title = " ".join(str(metadata.get("title") or "").split())
        with self.report.question(0, title[:80]):
            build = _BUILDERS.get(kind)
            if build is None:
                raise Unusable(
                    "H5P-TYPE",
                    f"H5P.{kind[:40]}: {_WHY.get(kind, 'this content type has no counterpart here')}. Rewrite it as another type.",
                )
            pictures = Pictures()
            stem, body, explanation = build(params, pictures)
            medium = _mapping(_mapping(_mapping(params.get("media")).get("type")).get("params"))
            path = _mapping(medium.get("file")).get("path")
            if isinstance(path, str) and path:
                stem = f"{stem}\n\n{pictures.add(path, str(medium.get('alt') or ''))}".strip()
            if not stem:
                raise Unusable("NO-STEM", "the question has no text. Write it.")
            behaviour = _mapping(params.get("behaviour"))
            question = Question(
                id="",
                stem=Text.of(stem),
                body=body,
                title=None if title.lower().startswith(("untitled", "true/false question")) else text_or_none(plain_to_markdown(title)),
                explanation=explanation,
                hints=_hints(params, pictures),
                shuffle=behaviour.get("randomAnswers") is not False,
                media=media_of(pictures, self.report, self.archive, "content/content.json", 0),
                extra={"h5p": {"library": f"H5P.{kind}", **({"subContentId": content_id} if content_id else {})}},
            )
            self.report.add(question, wanted_id=content_id)


def _inner(kind: str, params: Params) -> Iterator[Params]:
    if kind == "CoursePresentation":
        for slide in map(_mapping, _list(_mapping(params.get("presentation")).get("slides"))):
            for element in map(_mapping, _list(slide.get("elements"))):
                yield _mapping(element.get("action"))
        return
    for entry in map(_mapping, _list(params.get(_SETS[kind]))):
        yield _mapping(entry.get("content")) if kind == "Column" else entry


# One function per content type ---------------------------------------------------------------------------------------

_Built = tuple[str, Body, Text | None]


def _multi_choice(params: Params, pictures: Pictures) -> _Built:
    choices: list[Choice] = []
    for answer in map(_mapping, _list(params.get("answers"))):
        text = _markdown(answer.get("text"), pictures)
        if not text:
            continue
        said = _mapping(answer.get("tipsAndFeedback"))
        right = _true(answer.get("correct"))
        chosen = _markdown(said.get("chosenFeedback"), pictures)
        choices.append(Choice(choice_id(len(choices)), Text.of(text), float(right), text_or_none(chosen)))
    keys = sum(choice.correct for choice in choices)
    if not keys:
        raise Unusable("NO-KEY", "no answer is marked as correct. Mark one.")
    behaviour = _mapping(params.get("behaviour"))
    forced = str(behaviour.get("type") or "auto")
    many = forced == "multi" or (forced == "auto" and keys > 1)
    scoring = Scoring.ALL_OR_NOTHING if _true(behaviour.get("singlePoint")) or not many else Scoring.PER_CHOICE
    return _markdown(params.get("question"), pictures), Choices(tuple(choices), many=many, scoring=scoring), _overall(params, pictures)


def _true_false(params: Params, pictures: Pictures) -> _Built:
    correct = params.get("correct")
    if correct not in ("true", "false", True, False):
        raise Unusable("NO-KEY", f"'correct' is {str(correct)[:20]!r}. Write true or false.")
    behaviour = _mapping(params.get("behaviour"))
    answer = _true(correct)
    right, wrong = (_markdown(behaviour.get(name), pictures) for name in ("feedbackOnCorrect", "feedbackOnWrong"))
    said = {value: Text.of(text) for value, text in ((answer, right), (not answer, wrong)) if text}
    return _markdown(params.get("question"), pictures), TrueFalse(answer, said), None


def _single_choice(params: Params, pictures: Pictures) -> _Built:
    texts = [text for answer in _list(params.get("answers")) if (text := _markdown(answer, pictures))]
    choices = tuple(Choice(choice_id(i), Text.of(text), float(i == 0)) for i, text in enumerate(texts))  # the first is right
    return _markdown(params.get("question"), pictures), Choices(choices), None


_GAP: Final = re.compile(r"(?<!\\)\*((?:[^*\\\n]|\\.){1,500}?)\*")


def _blanks(params: Params, pictures: Pictures) -> _Built:
    texts = _list(params.get("questions"))
    case = _true(_mapping(params.get("behaviour")).get("caseSensitive"))
    blanks: list[Blank] = []

    def gap(found: re.Match[str]) -> str:
        check_gaps(len(blanks) + 1)
        solutions, _, _ = found[1].partition(":")
        accepted = [answer_text(html_to_markdown(part)) for part in solutions.split("/")]
        blanks.append(Blank(f"b{len(blanks) + 1}", tuple(Accept(text=text, case=case) for text in dict.fromkeys(accepted) if text)))
        return "{{" + blanks[-1].id + "}}"

    html = _GAP.sub(gap, _bold_as_html(str(texts[0] if texts else "")))
    if not blanks:
        raise Unusable("H5P-GAP", "the text holds no *gap*. Put stars around the words to fill in.")
    task = _markdown(params.get("text"), pictures)
    return "\n\n".join(filter(None, (task, _markdown(html, pictures)))), Short(blanks=tuple(blanks)), _overall(params, pictures)


def _drag_text(params: Params, pictures: Pictures) -> _Built:
    words: list[str] = []

    def gap(found: re.Match[str]) -> str:
        word = answer_text(html_to_markdown(re.split(r"(?<!\\):|\\[+-]", found[1])[0]))
        words.append(word)
        check_gaps(len(words))
        return "{{" + f"b{len(words)}" + "}}"

    marked = _GAP.sub(gap, str(params.get("textField") or ""))
    if not words or not all(words):
        raise Unusable("H5P-GAP", "the text holds no *word* to drag, or an empty one. Put stars around the words.")
    wrong = [answer_text(html_to_markdown(found[1].partition(":")[0])) for found in _GAP.finditer(str(params.get("distractors") or ""))]
    offered = [word for word in dict.fromkeys((*words, *wrong)) if word]
    blanks = tuple(
        Blank(
            f"b{i}",
            choices=tuple(Choice(choice_id(n), Text.of(plain_to_markdown(text)), float(text == word)) for n, text in enumerate(offered)),
        )
        for i, word in enumerate(words, 1)
    )
    task = _markdown(params.get("taskDescription"), pictures)
    text = html_to_markdown(marked, pictures, keep_newlines=True).strip()
    return "\n\n".join(filter(None, (task, text))), Short(blanks=blanks), _overall(params, pictures)


def _essay(params: Params, pictures: Pictures) -> _Built:
    rubric: list[Criterion] = []
    for entry in map(_mapping, _list(params.get("keywords"))):
        options = _mapping(entry.get("options"))
        words = [str(word) for word in (entry.get("keyword"), *_list(entry.get("alternatives"))) if isinstance(word, str) and word.strip()]
        points = options.get("points", 1)
        if words:
            worth = float(points) if isinstance(points, int | float) and 0 < points <= 1000 else 1.0
            criterion = " / ".join(plain_to_markdown(word.strip()) for word in words)
            rubric.append(Criterion(f"c{len(rubric) + 1}", worth, Text.of(criterion)))
    solution = _markdown(_mapping(params.get("solution")).get("sample"), pictures)
    return _markdown(params.get("taskDescription"), pictures), Open(text_or_none(solution), tuple(rubric)), None


def _sort_paragraphs(params: Params, pictures: Pictures) -> _Built:
    texts = [text for entry in _list(params.get("paragraphs")) if (text := _markdown(entry, pictures))]
    return (
        _markdown(params.get("taskDescription"), pictures),
        Order(tuple(Item(choice_id(i), Text.of(text)) for i, text in enumerate(texts))),
        None,
    )


def _text(params: Params, pictures: Pictures) -> _Built:
    return _markdown(params.get("text"), pictures), Info(), None


_BUILDERS: Final[dict[str, Callable[[Params, Pictures], _Built]]] = {
    "MultiChoice": _multi_choice,
    "TrueFalse": _true_false,
    "SingleChoiceSet": _single_choice,
    "Blanks": _blanks,
    "DragText": _drag_text,
    "Essay": _essay,
    "SortParagraphs": _sort_paragraphs,
    "AdvancedText": _text,
}
_WHY: Final = {
    "DragQuestion": "things are dragged onto a picture",
    "ImageHotspotQuestion": "it is answered by pointing into a picture",
    "MarkTheWords": "words are marked in a text",
    "InteractiveVideo": "its questions belong to moments of a video",
    "SpeakTheWords": "it listens to the learner",
    "ImageHotspots": "it is a picture to explore",
}


def _markdown(html: object, pictures: Pictures) -> str:
    return html_to_markdown(html, pictures).strip() if isinstance(html, str) else ""


def _bold_as_html(html: str) -> str:
    """Stars that the editor uses for emphasis come doubled; a gap has one on each side."""
    return re.sub(r"\*\*([^*\n]{1,500})\*\*", r"<strong>\1</strong>", html)


def _overall(params: Params, pictures: Pictures) -> Text | None:
    """Feedback that is said whatever the score: the one entry that covers all of it."""
    entries = [_mapping(entry) for entry in _list(params.get("overallFeedback"))]
    if len(entries) != 1 or entries[0].get("from", 0) != 0 or entries[0].get("to", 100) != 100:
        return None
    return text_or_none(_markdown(entries[0].get("feedback"), pictures))


def _hints(params: Params, pictures: Pictures) -> tuple[Text, ...]:
    """Tips inside gaps (`*word:tip*`) and of right answers."""
    found: list[str] = []
    for text in (*_list(params.get("questions")), params.get("textField")):
        if isinstance(text, str):
            found += [
                plain_to_markdown(html_to_markdown(tip))
                for gap in _GAP.findall(_bold_as_html(text))
                if (tip := gap.partition(":")[2].strip())
            ]
    for answer in map(_mapping, _list(params.get("answers"))):
        if _true(answer.get("correct")) and (tip := _markdown(_mapping(answer.get("tipsAndFeedback")).get("tip"), pictures)):
            found.append(tip)
    return tuple(Text.of(text) for text in dict.fromkeys(found) if text)


def _true(value: object) -> bool:
    return value is True or value == "true"


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []
