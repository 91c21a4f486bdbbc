"""mdBook-quiz: TOML with `[[questions]]`: multiple choice, short answers, and programs to trace. Programs are shown, never run."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final, cast

from content.model import Accept, Choices, ContentError, Question, Scoring, Short, Text, TrueFalse
from content.readers.base import Import, Report, Unusable, lettered, text_or_none
from content.readers.detect import CERTAIN
from content.readers.intake import MAX_DEPTH, decode, peek
from content.readers.markup import Pictures, keep_pictures, normalise_latex
from content.readers.opentdb import lines_of

_QUESTION: Final = re.compile(r"^[ \t]*\[\[\s*questions\s*\]\]", re.MULTILINE)


class MdBookReader:
    name = "mdbook"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        return CERTAIN if _QUESTION.search(text) and re.search(r"^[ \t]*(?:type|prompt[.\w]*)\s*=", text, re.MULTILINE) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        text = decode(data, report)
        document = load_toml(text, name)
        entries = document.get("questions", [])
        if not isinstance(entries, list):
            raise ContentError(f"{name}: 'questions' is no list. Write [[questions]] before each one.")
        questions = cast(list[Any], entries)
        lines = lines_of(_QUESTION, text, len(questions))
        shared_field = document.get("multipart", {})
        shared = cast(dict[str, Any], shared_field) if isinstance(shared_field, dict) else {}
        for line, entry in zip(lines, questions, strict=True):
            with report.question(line):
                if not isinstance(entry, dict):
                    raise Unusable("MDBOOK-FIELD", "this entry is no table. Write [[questions]] before it.")
                _question(cast(dict[str, Any], entry), shared, report)
        return report.close()


def load_toml(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text of at most MAX_DEPTH levels. Raises ContentError with the line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count("[") + line.count("{") > 40 * MAX_DEPTH or line.split("=")[0].count(".") > MAX_DEPTH:
            raise ContentError(f"{where}:{number}: nested deeper than {MAX_DEPTH} levels. Flatten the file.")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        shown = f":{line.group(1)}" if line else ""
        raise ContentError(f"{where}{shown}: not TOML: {error}. Mend it.") from error
    except (RecursionError, ValueError, OverflowError) as error:
        raise ContentError(f"{where}: not usable TOML: {error}. Flatten the file.") from error


def _table(fields: dict[str, Any], name: str) -> dict[str, Any]:
    value = fields.get(name)
    if not isinstance(value, dict):
        raise Unusable("MDBOOK-FIELD", f"the table {name!r} is missing. Add it.")
    return cast(dict[str, Any], value)


def _text(value: Any, pictures: Pictures, what: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unusable("MDBOOK-FIELD", f"{what} is missing or no text. Write it.")
    return keep_pictures(normalise_latex(str(value).strip()), pictures)


def _question(fields: dict[str, Any], shared: dict[str, Any], report: Report) -> None:
    pictures = Pictures()
    kind, answer = fields.get("type"), _table(fields, "answer")
    prompt = _table(fields, "prompt")
    body: Choices | Short | TrueFalse
    if kind == "MultipleChoice":
        stem = _text(prompt.get("prompt"), pictures, "prompt.prompt")
        body = _choices(prompt, answer, pictures)
    elif kind == "ShortAnswer":
        stem = _text(prompt.get("prompt"), pictures, "prompt.prompt")
        others_field = answer.get("alternatives", [])
        others = cast(list[Any], others_field) if isinstance(others_field, list) else []
        texts = [_text(value, pictures, "answer.answer") for value in (answer.get("answer"), *others)]
        body = Short(accept=tuple(Accept(text=text) for text in texts if text))
    elif kind == "Tracing":
        program = str(prompt.get("program", "")).strip("\n")
        compiles, printed = answer.get("doesCompile"), answer.get("stdout")
        if not program or not isinstance(compiles, bool):
            raise Unusable("MDBOOK-TRACING", "a program or answer.doesCompile is missing. Add both.")
        code = f"```rust\n{program}\n```"
        if compiles and isinstance(printed, str) and printed.strip():
            stem = f"{code}\nThis program compiles. What does it print?"
            body = Short(accept=(Accept(text=" ".join(printed.split()), case=True),))
        else:
            stem = f"{code}\nThis program compiles."
            body = TrueFalse(compiles)
        report.note(0, "MDBOOK-TRACING", "the two steps of a tracing question became one: what it prints, or whether it compiles.")
    else:
        raise Unusable("MDBOOK-TYPE", f"the type {str(kind)[:40]!r} is unknown. Use MultipleChoice, ShortAnswer or Tracing.")
    if (part := fields.get("multipart")) is not None:
        common = shared.get(str(part))
        if not isinstance(common, str):
            raise Unusable("MDBOOK-MULTIPART", f"the shared text {str(part)[:40]!r} is missing under [multipart]. Add it.")
        stem = f"{_text(common, pictures, 'multipart')}\n\n{stem}"
    if not stem:
        raise Unusable("MDBOOK-FIELD", "the prompt is empty. Write it.")
    context = fields.get("context")
    report.add(
        Question(
            id="",
            stem=Text.of(stem),
            body=body,
            explanation=text_or_none(_text(context, pictures, "context") if context is not None else None),
            media=pictures.media,
        ),
        str(fields.get("id", "")),
    )


def _choices(prompt: dict[str, Any], answer: dict[str, Any], pictures: Pictures) -> Choices:
    right_field = answer.get("answer")
    many = isinstance(right_field, list)
    rights = [_text(value, pictures, "answer.answer") for value in (cast(list[Any], right_field) if many else [right_field])]
    wrong_field = prompt.get("distractors", [])
    if not isinstance(wrong_field, list):
        raise Unusable("MDBOOK-FIELD", 'prompt.distractors is no list. Write ["…", "…"].')
    texts = [_text(value, pictures, "prompt.distractors") for value in cast(list[Any], wrong_field)]
    if not all((*rights, *texts)):
        raise Unusable("MDBOOK-FIELD", "a choice is empty. Write it.")
    index = answer.get("answerIndex", 0)
    at = min(index, len(texts)) if isinstance(index, int) and not isinstance(index, bool) and index >= 0 else 0
    texts[at:at] = rights
    return Choices(lettered(texts, range(at, at + len(rights))), many=many, scoring=Scoring.ALL_OR_NOTHING)
