"""Red-DiscordBot trivia lists: YAML whose keys are questions and whose values are lists of accepted answers.

The words count as written: YAML would turn an unquoted `No`, `007` or `12:30` into something else, and drop the first of two
equal questions. Both are kept here, with a warning. Settings of a game (CONFIG) have no place in a quiz, except the time.
"""

from __future__ import annotations

import re
from typing import Final

from content.model import Accept, ContentError, Question, Short, Text
from content.readers.base import About, Import, Report, Unusable
from content.readers.detect import LIKELY, POSSIBLE
from content.readers.intake import Mapping, Node, Scalar, Sequence, decode, load_yaml, peek
from content.readers.markup import Pictures, normalise_latex

_SETTINGS: Final = frozenset(("AUTHOR", "DESCRIPTION", "CONFIG", "$schema"))
_IMAGE: Final = re.compile(r"<?(https?://[^\s<>]{1,500}\.(?:png|jpe?g|gif|webp))(?:\?[^\s<>]{0,300})?>?", re.IGNORECASE)
_SNIFF_LIST: Final = re.compile(r"^[^\s#\-][^\n]{1,400}:[ \t]*\n[ \t]*- ", re.MULTILINE)
_SECTIONS: Final = re.compile(r"^(?:schema|questions|version|languages|id):", re.MULTILINE)


class RedTriviaReader:
    name = "red"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        if not text or text.lstrip()[0:1] in "{[<" or text.lstrip().startswith("---\ntitle") or _SECTIONS.search(text):
            return 0.0
        entries = len(_SNIFF_LIST.findall(text))
        if not entries:
            return 0.0
        if re.search(r"^(?:AUTHOR|DESCRIPTION|CONFIG|\$schema):", text, re.MULTILINE):
            return 0.9
        plain = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
        shaped = sum(line.lstrip().startswith("- ") or line.rstrip().endswith(":") for line in plain)
        return LIKELY if shaped >= 0.9 * len(plain) else POSSIBLE if shaped > 0.6 * len(plain) else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        root = load_yaml(decode(data, report), name)
        if not isinstance(root, Mapping):
            raise ContentError(f"{name}:{root.line}: not a list of questions with answers under them. Write 'question:' and '- answer'.")
        time_limit_s = _time_limit(root, report)
        seen: dict[str, int] = {}
        for key, value in root.pairs:
            if key.text in _SETTINGS:
                continue
            with report.question(key.line, " ".join(key.text.split())[:80]):
                if key.text in seen:
                    report.warn(
                        key.line,
                        "RED-DUPLICATE",
                        f"this question stands in line {seen[key.text]} too; Red keeps only the last one. Both were imported.",
                    )
                seen[key.text] = key.line
                _question(key, value, time_limit_s, report)
        author, description = root.get("AUTHOR"), root.get("DESCRIPTION")
        about = About(
            description=description.text if isinstance(description, Scalar) else "",
            author=author.text if isinstance(author, Scalar) else None,
        )
        return report.close(about)


def _time_limit(root: Mapping, report: Report) -> int | None:
    config = root.get("CONFIG")
    if not isinstance(config, Mapping):
        return None
    report.note(
        config.line, "RED-CONFIG", "CONFIG is for Red's games; of it only the delay, the seconds a question stays open, is kept.", ""
    )
    delay = config.get("delay")
    value = delay.value() if isinstance(delay, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 4 <= value <= 3_600:
        return None
    return int(value)


def _question(key: Scalar, value: Node, time_limit_s: int | None, report: Report) -> None:
    _as_written(key, "question", report)
    if isinstance(value, Scalar):
        if not value.text.strip():
            raise Unusable("RED-ANSWERS", "there are no answers below it. Add lines with '- answer'.")
        report.warn(value.line, "RED-LIST", "the answer is no list; Red would refuse it. Write it below, after '- '.")
        value = Sequence((value,), value.line)
    if isinstance(value, Mapping):
        raise Unusable("RED-ANSWERS", "the answers are a mapping and no list. Quote answers that hold ': '.", value.line)
    accept: list[Accept] = []
    for answer in value.items:
        if not isinstance(answer, Scalar):
            report.warn(answer.line, "RED-ANSWER", "an answer that is no text was left out. Quote answers that hold ': '.")
        elif not answer.text.strip():
            report.warn(answer.line, "RED-ANSWER", "an empty answer was left out.")
        elif answer.text.strip().casefold() in {(entry.text or "").casefold() for entry in accept[:200]}:
            report.note(answer.line, "RED-REPEATED", f"the answer {answer.text[:60]!r} stands twice.")
        else:
            _as_written(answer, "answer", report)
            accept.append(Accept(text=answer.text.strip()))
    if not accept:
        raise Unusable("RED-ANSWERS", "there are no answers below it. Add lines with '- answer'.")
    pictures = Pictures()
    stem = _IMAGE.sub(lambda found: pictures.add(found.group(0).strip("<>")), normalise_latex(key.text.strip()))
    if not stem.strip():
        raise Unusable("RED-STEM", "the question is empty. Write it before the colon.")
    report.add(Question(id="", stem=Text.of(stem), body=Short(accept=tuple(accept)), time_limit_s=time_limit_s, media=pictures.media))


def _as_written(scalar: Scalar, what: str, report: Report) -> None:
    """Warn where YAML would hand Red something else than what stands there."""
    value = scalar.value()
    if not isinstance(value, str) and (isinstance(value, bool) or str(value) != scalar.text):
        report.warn(
            scalar.line,
            "RED-TYPE",
            f"the unquoted {what} {scalar.text[:40]!r} is {value!r} to YAML; kept as written. Put it in quotes.",
        )
