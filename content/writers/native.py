"""The native format: one quiz as YAML, every language and field of it.

Written with PyYAML's C emitter: a new file has no comments to keep, and ten thousand questions take a second. Texts that
YAML would take for something else are quoted. Two things of other formats have no native form and are told: a single
choice with several right answers, and pictures whose address is not https.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, Final, cast

import yaml

from content.model import (
    NEUTRAL,
    Accept,
    Blank,
    Choice,
    Choices,
    Criterion,
    GuideRef,
    Info,
    Match,
    Media,
    Open,
    Order,
    Question,
    Quiz,
    Scoring,
    Short,
    Source,
    Text,
    TrueFalse,
)
from content.writers.base import Export, Losses

_SAFE: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ][\w ,.()?!/'’“”&+;=-]*[\w.)?!]|[A-Za-z]")
_TRAP_WORDS: Final = frozenset("y n yes no true false on off null nan inf".split())
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?:[eE][-+]?[0-9]{1,3})?")  # what the loader reads

# typed once as Any: PyYAML ships no types for its emitter
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Emitter(_Dumper):  # pyright: ignore[reportUntypedBaseClass]  # see above
    """Quotes like an author who is careful, and writes floats that the loader reads back exactly."""


def _string(emitter: Any, text: str) -> Any:
    if (
        "\n" in text
        and "\r" not in text
        and not re.search(r"[ \t]\n|[ \t]$|^\s|[^\S \t\n]|[^\u0009\u000a\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd]", text)
    ):
        style = "|"
    elif _SAFE.fullmatch(text) and text.lower() not in _TRAP_WORDS and len(text) < 100:
        style = None
    else:
        style = '"'
    return emitter.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _float(emitter: Any, value: float) -> Any:
    if value.is_integer() and abs(value) < 1e15:
        return emitter.represent_scalar("tag:yaml.org,2002:int", str(int(value)))
    shown = repr(value)
    if not _NUMBER.fullmatch(shown):  # up to 17 digits, of which the loader takes 15 on each side of the point
        sign, digits, exponent = Decimal(shown).as_tuple()
        text = "".join(map(str, digits))
        front = max(1, len(text) - 15)
        shown = f"{'-' if sign else ''}{text[:front]}.{text[front:]}e{int(exponent) + len(text) - front:+03d}"
    if "." not in shown:  # YAML 1.1 knows 1.0e-05 as a number, but not 1e-05
        shown = shown.replace("e", ".0e")
    return emitter.represent_scalar("tag:yaml.org,2002:float", shown)


class _Flow(dict[str, Any]):
    """A mapping written on one line."""


def _flow(emitter: Any, value: _Flow) -> Any:
    return emitter.represent_mapping("tag:yaml.org,2002:map", dict(value).items(), flow_style=True)


class _FlowList(list[Any]):
    """A list written on one line."""


def _flow_list(emitter: Any, value: _FlowList) -> Any:
    return emitter.represent_sequence("tag:yaml.org,2002:seq", list(value), flow_style=True)


_Emitter.add_representer(str, _string)
_Emitter.add_representer(float, _float)
_Emitter.add_representer(_Flow, _flow)
_Emitter.add_representer(_FlowList, _flow_list)


class NativeWriter:
    name = "native"

    def write(self, quiz: Quiz, language: str) -> Export:
        losses = Losses(quiz, language, self.name)
        document: dict[str, Any] = {"schema": "quiz/1", "id": quiz.id, "version": quiz.version, "title": _text(quiz.title)}
        if quiz.description is not None:
            document["description"] = _text(quiz.description)
        document["level"] = str(quiz.level)
        document["languages"] = _FlowList(quiz.languages)
        if quiz.guide is not None:
            document["guide"] = _guide(quiz.guide)
        if quiz.tags:
            document["tags"] = _FlowList(quiz.tags)
        if (select := _select(quiz)) is not None:
            document["select"] = select
        if quiz.source is not None and (source := _source(quiz.source)):
            document["source"] = source
        document["questions"] = [_question(_repaired(question, losses)) for question in quiz.questions]
        losses.written = len(quiz.questions)
        text = cast(str, cast(Any, yaml).dump(document, Dumper=_Emitter, allow_unicode=True, sort_keys=False, width=140, indent=2))
        return losses.export(text, "quiz.yaml")


def _repaired(question: Question, losses: Losses) -> Question:
    """The question with what the format refuses put right, with its warning."""
    kept = tuple(medium for medium in question.media if medium.file is not None or (medium.url or "").startswith("https://"))
    if len(kept) < len(question.media):
        gone = {medium.id: medium for medium in question.media if medium not in kept}
        losses.changed(
            question, "MEDIA-URL", f"pictures without https became links: {', '.join(m.url or '' for m in gone.values())[:200]}."
        )

        def linked(found: re.Match[str]) -> str:
            medium = gone.get(found.group(1))
            return found.group() if medium is None else f"[{next(iter(medium.alt))}]({medium.url})"

        stem = Text({language: re.sub(r"!\[\]\(([\w-]+)\)", linked, text) for language, text in question.stem.by_language.items()})
        question = replace(question, media=kept, stem=stem)
    return question


def _text(text: Text) -> Any:
    if set(text.by_language) == {NEUTRAL}:
        return text.by_language[NEUTRAL]
    return dict(text.by_language)


def _guide(guide: GuideRef) -> _Flow:
    parts = {"id": guide.guide, "section": guide.section}
    return _Flow({key: value for key, value in parts.items() if value})


def _select(quiz: Quiz) -> dict[str, Any] | None:
    select: dict[str, Any] = {}
    if quiz.select.pick is not None:
        select["pick"] = quiz.select.pick
    if quiz.select.shuffled:
        select["order"] = "random"
    if quiz.select.groups:
        select["groups"] = [
            _Flow({"id": group.id, "pick": group.pick} | ({"points": group.points} if group.points is not None else {}))
            for group in quiz.select.groups
        ]
    return select or None


def _source(source: Source) -> dict[str, Any]:
    names = ("format", "file", "sha256", "title", "author", "url", "licence")
    out: dict[str, Any] = {name: getattr(source, name) for name in names if getattr(source, name)}
    if source.imported is not None:
        out["imported"] = source.imported
    return out


def _choices(choices: Sequence[Choice]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for choice in choices:
        row: dict[str, Any] = {"id": choice.id, "text": _text(choice.text)}
        if choice.credit == 1:
            row["correct"] = True
        elif choice.credit:
            row["credit"] = choice.credit
        if choice.feedback is not None:
            row["feedback"] = _text(choice.feedback)
        if choice.fixed:
            row["fixed"] = True
        if choice.facts:
            row["facts"] = _FlowList(choice.facts)
        rows.append(row)
    return rows


def _accepted(entries: Sequence[Accept]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for entry in entries:
        row: dict[str, Any] = {}
        if entry.text is not None:
            row["text"] = entry.text
        elif entry.number is not None:
            row["number"] = entry.number
        elif entry.span is not None:
            row["range"] = _FlowList(entry.span)
        else:
            row["regex"] = entry.regex
        if entry.tolerance:
            row["tolerance"] = f"{entry.tolerance * 100:.10g}%" if entry.relative else entry.tolerance
        row |= {name: value for name, value in (("unit", entry.unit), ("lang", entry.language)) if value is not None}
        if entry.case:
            row["case"] = True
        if entry.credit != 1:
            row["credit"] = entry.credit
        if entry.feedback is not None:
            row["feedback"] = _text(entry.feedback)
        rows.append(row)
    return rows


def _blank(blank: Blank) -> dict[str, Any]:
    return {"choices": _choices(blank.choices)} if blank.choices else {"accept": _accepted(blank.accept)}


def _rubric(rubric: Sequence[Criterion]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for entry in rubric:
        row: dict[str, Any] = {"id": entry.id, "points": entry.points, "criterion": _text(entry.criterion)}
        if entry.levels:
            row["levels"] = [{"points": level.points, "text": _text(level.text)} for level in entry.levels]
        if entry.facts:
            row["facts"] = _FlowList(entry.facts)
        rows.append(row)
    return rows


def _body(question: Question) -> dict[str, Any]:
    out: dict[str, Any] = {}
    match question.body:
        case Choices(choices=choices, many=many, scoring=scoring, least=least, most=most):
            out["choices"] = _choices(choices)
            if not many and sum(choice.correct for choice in choices) > 1:
                out["any"] = True
            if scoring is not Scoring.ALL_OR_NOTHING:
                out["scoring"] = str(scoring)
            if many and least != 1:
                out["min"] = least
            if many and most is not None:
                out["max"] = most
        case TrueFalse(answer=answer, feedback=feedback):
            out["answer"] = answer
            if feedback:
                out["feedback"] = {str(key).lower(): _text(text) for key, text in feedback.items()}
        case Short(accept=accept, reveal=reveal, blanks=blanks):
            if blanks:
                out["blanks"] = {blank.id: _blank(blank) for blank in blanks}
            else:
                out["accept"] = _accepted(accept)
            if reveal is not None:
                out["reveal"] = _text(reveal)
        case Open(reference=reference, rubric=rubric, probes=probes, least_length=least, most_length=most):
            if reference is not None:
                out["reference"] = _text(reference)
            if rubric:
                out["rubric"] = _rubric(rubric)
            if probes:
                out["probes"] = [_text(probe) for probe in probes]
            if (least, most) != (1, 1_500):
                out["length"] = _Flow({"min": least, "max": most})
        case Order(items=items, scoring=scoring):
            out["items"] = [{"id": item.id, "text": _text(item.text)} for item in items]
            if scoring is not Scoring.ALL_OR_NOTHING:
                out["scoring"] = str(scoring)
        case Match(pairs=pairs, distractors=distractors, scoring=scoring):
            out["pairs"] = [{"id": pair.id, "left": _text(pair.left), "right": _text(pair.right)} for pair in pairs]
            if distractors:
                out["distractors"] = [{"id": item.id, "right": _text(item.text)} for item in distractors]
            if scoring is not Scoring.ALL_OR_NOTHING:
                out["scoring"] = str(scoring)
        case Info():
            pass
    return out


def _media(medium: Media) -> dict[str, Any]:
    out: dict[str, Any] = {"id": medium.id}
    if medium.file is not None:
        out["file"] = PurePosixPath(medium.file).as_posix()
    if medium.url is not None:
        out["url"] = medium.url
    if medium.sha256 is not None:
        out["sha256"] = medium.sha256
    out["alt"] = _text(medium.alt)
    if medium.licence is not None:
        out["licence"] = medium.licence
    return out


def _question(question: Question) -> dict[str, Any]:
    out: dict[str, Any] = {"id": question.id, "type": str(question.type)}
    if question.title is not None:
        out["title"] = _text(question.title)
    out["stem"] = _text(question.stem)
    out.update(_body(question))
    if question.explanation is not None:
        out["explanation"] = _text(question.explanation)
    if question.hints:
        out["hints"] = [_text(hint) for hint in question.hints]
    if question.guide is not None:
        out["guide"] = _guide(question.guide)
    if question.evidence:
        out["evidence"] = _FlowList(f"{ref.guide}:{ref.section}" if ref.guide else str(ref.section) for ref in question.evidence)
    if question.facts:
        out["facts"] = _FlowList(question.facts)
    if question.difficulty != 3:
        out["difficulty"] = question.difficulty
    if question.points != 1:
        out["points"] = question.points
    if question.time_limit_s is not None:
        out["time_limit"] = question.time_limit_s
    if question.tags:
        out["tags"] = _FlowList(question.tags)
    if question.group is not None:
        out["group"] = question.group
    if not question.shuffle:
        out["shuffle"] = False
    if question.media:
        out["media"] = [_media(medium) for medium in question.media]
    if question.extra:
        out["extra"] = dict(question.extra)
    return out
