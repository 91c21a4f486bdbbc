"""Multiple choice in Markdown or plain text, as course repositories write it; lists of questions and answers go to `markdown_qa`.

Reads lettered, checkbox and table choices, and keys given as a letter, a check mark, bold type, a folded `<details>` or a
list at the end. Refuses to guess: what has no key is a draft. Pages saved from the web whose labels are gone are reported.
"""

from __future__ import annotations

import re

from content.model import Choice, Choices, Open, Question, Scoring, Short, Text, TrueFalse
from content.readers.answers import number_in
from content.readers.base import About, Import, Report, Unusable, choice_id, text_or_none
from content.readers.cards import body_of
from content.readers.detect import LIKELY, POSSIBLE, UNLIKELY, suffix
from content.readers.intake import decode, peek
from content.readers.labels import answer_in, folded, keys_in, place_of, true_false_pair, truth_in
from content.readers.markdown_choices import BOX, NUMBERED, STAR, Block, blocks_of, option_at, with_key_list
from content.readers.markdown_qa import read_answers
from content.readers.markdown_text import FrontMatter, Line, markdown_lines, shown
from content.readers.markup import Pictures


class MarkdownReader:
    name = "markdown"

    def sniff(self, data: bytes, name: str) -> float:
        text = peek(data)
        if not text.strip() or text.lstrip()[0:1] in "{[" or re.match(r"\s*<(?:\?xml|!DOCTYPE|html|quiz)", text, re.IGNORECASE):
            return 0.0
        is_named = suffix(name) in ("md", "mdx", "markdown")
        lines = text.split("\n")
        choices = sum(option_at(line, "") is not None for line in lines[:3_000])
        headings = sum(line.startswith("#") for line in lines)
        keys = sum(answer_in(line.strip()) is not None or STAR.match(line) is not None for line in lines[:3_000])
        boxes = sum(BOX.match(line) is not None for line in lines[:3_000])
        front = text.startswith("---\n")
        starts = sum(NUMBERED.match(line.strip().lstrip("# ")) is not None for line in lines[:3_000])
        if choices > 1 and (keys or boxes or "<details" in text) and (starts or headings):
            return 0.86 if is_named or headings or boxes or "**" in text else 0.76
        if choices > 1 and starts:
            return 0.5
        if re.search(r"^\W{0,4}(?:Q|问|問)\d{0,3}\s*[.:：]", text, re.MULTILINE) and re.search(
            r"^\W{0,4}(?:A|答)\d{0,3}\s*[.:：]", text, re.MULTILINE
        ):
            return LIKELY
        return POSSIBLE + 0.1 if (is_named or front) and headings else POSSIBLE if is_named or front else UNLIKELY / 2 if headings else 0.0

    def read(self, data: bytes, name: str) -> Import:
        report = Report(self.name, name, data)
        front, lines = markdown_lines(decode(data, report), report)
        blocks = list(blocks_of(lines))
        if not any(len(block.options) > 1 or (block.key and truth_in(block.key) is not None) for block in blocks):
            return read_answers(front, lines, report)
        blocks = with_key_list(blocks)
        for block in blocks:
            with report.question(block.line, block.number or block.title[:80]):
                _question(block, front, report)
        tags = front.words("tags", "tag", "topics", "category")
        about = About(
            title=front.text("title") or _title(lines),
            description=front.text("description", "summary"),
            author=front.text("author") or None,
            licence=front.text("licence", "license") or None,
            tags=tags,
        )
        return report.close(about)


def _title(lines: list[Line]) -> str:
    titles = [heading[1] for line in lines if (heading := line.heading) is not None and heading[0] == 1]
    return titles[0] if len(titles) == 1 else ""


# --- block to question ----------------------------------------------------------------------------------------------


def _question(block: Block, front: FrontMatter, report: Report) -> None:
    pictures = Pictures()
    stem = shown(block.stem, pictures)
    if not stem:
        raise Unusable("MD-STEM", "the question has no text before its choices. Write it.")
    texts = [shown(option.text, pictures) for option in block.options]
    if "" in texts:
        raise Unusable("MD-EMPTY", f"choice {texts.index('') + 1} has no text. Write it.")
    labels = [option.mark for option in block.options]
    if len(labels) > 1 and any(labels) and [place_of(mark) for mark in labels] != list(range(len(labels))):
        report.warn(block.line, "MD-LABELS", f"the labels {', '.join(labels)} are not in order; a choice may be missing. Please check.")
    rights = _rights(block, texts)
    body = _body(block, texts, rights, pictures)
    points = number_in(block.facts.get("point", "")) or number_in(front.text("points_per_question", "points")) or 1.0
    question = Question(
        id="",
        stem=Text.of(stem),
        body=body,
        explanation=text_or_none(shown(block.after, pictures)),
        points=points if 0 < points <= 1_000 else 1.0,
        shuffle=front.text("shuffle_answers", "shuffle").lower() != "false",
        media=pictures.media,
        line=block.line,
    )
    if isinstance(body, Choices) and not any(choice.correct for choice in body.choices):
        what = f"the key {block.key[:40]!r} is none of {', '.join(labels)}" if block.key else "no choice is marked as right"
        report.add_draft(question, "NO-KEY", f"{what}; kept as a draft. Add a line such as 'Answer: B'.")
        return
    report.add(question, block.facts.get("id", ""))


def _rights(block: Block, texts: list[str]) -> tuple[int, ...]:
    marked = tuple(i for i, option in enumerate(block.options) if option.right)
    if not block.key:
        return marked if len(marked) < len(block.options) or len(marked) == 1 else ()
    places = keys_in(block.key, [option.mark or choice_id(i) for i, option in enumerate(block.options)])
    if places:
        return places
    wanted = folded(block.key).strip(" .*`")
    by_text = tuple(i for i, text in enumerate(texts) if folded(text).strip(" .*`") == wanted)
    truth = truth_in(block.key)
    if not by_text and truth is not None:
        by_text = tuple(i for i, text in enumerate(texts) if truth_in(text) is truth)
    return by_text or marked


def _body(block: Block, texts: list[str], rights: tuple[int, ...], pictures: Pictures) -> Choices | TrueFalse | Short | Open:
    kind = block.facts.get("type", "").lower().replace("-", "_")
    if not texts:
        truth = truth_in(block.key)
        if truth is not None:
            return TrueFalse(truth)
        if block.key:
            return body_of(shown([block.key], pictures))
        if "essay" in kind or "open" in kind:
            return Open()
        raise Unusable("MD-CHOICES", "neither choices nor an answer were found below the question. Letter the choices A) B) C).")
    truth = truth_in(texts[rights[0]]) if len(rights) == 1 and true_false_pair(texts) else None
    if truth is not None:
        return TrueFalse(truth)
    many = len(rights) > 1 or (bool(rights) and any(word in kind for word in ("multiple_answer", "multiple_select", "checkbox")))
    choices = tuple(Choice(choice_id(i), Text.of(text), 1.0 if i in rights else 0.0) for i, text in enumerate(texts))
    return Choices(choices, many=many, scoring=Scoring.ALL_OR_NOTHING)
