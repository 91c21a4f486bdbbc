"""The lines of a Markdown or plain text list, sorted into questions: stem, choices, key and what explains it.

Knows lettered, checkbox, table and bullet choices, and keys given as a letter, a mark, bold type, a folded `<details>` or
a list at the end. It only sorts; whether a question can be used is decided in `markdown_lists`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from content.readers.labels import answer_in, folded, keys_in, label_at, place_of, truth_in
from content.readers.markdown_text import Line

NUMBERED: Final = re.compile(
    r"(?:\*\*|__)?(?:(?:Q(?:uestion)?|Frage|Pregunta|Pergunta|Domanda|Вопрос|Ερώτηση|سؤال|السؤال|שאלה|第|题目?|問題?|문제)\s*#?\s*)?"
    r"(\d{1,6})\s*(?:题|問|번)?\s*(?:[.):：、．]|(?=\*\*|__)|$)\s*(?:\*\*|__)?\s*(.*)",
    re.IGNORECASE,
)
_HEADED: Final = re.compile(
    r"(?:Q(?:uestion)?|Frage|Pregunta|Pergunta|Domanda|Вопрос|Ερώτηση|سؤال|السؤال|שאלה|第|题目?|問題?|문제)\s*#?\s*\d{1,4}", re.IGNORECASE
)
_BULLET: Final = re.compile(r"\s{0,12}(?:[-*+•·]|\d{1,2}[.)](?=\s*\[))\s+")
BOX: Final = re.compile(r"\s{0,12}(?:[-*+•]\s+|\d{1,2}[.)]\s+)?\[( |x|X|✓|✔|\*)?\]\s*(?=\S)")
STAR: Final = re.compile(r"\s{0,12}\*(?=\(?[A-Za-z]\)?[).:])")
_TICK: Final = re.compile(
    r"\s*(?:✓|✔️?|✅|☑️?|\((?:correct|right|true|answer|x|✓|richtig|correcta?|верно|正确|正解|정답)\)|<-+\s*(?:correct|answer).{0,10}|←.{0,12}|!!!T)\s*$",
    re.IGNORECASE,
)
_TICK_BEFORE: Final = re.compile(r"\s*(?:✓|✔️?|✅|☑️?)\s*")
_ONE_LINE: Final = re.compile(r"(?:^|\s{1,9}|[,;|]\s{0,9})(?=\(?([A-Ha-h])[).:]\s?\S)")
_BOLD_CELL: Final = re.compile(r"(\*{2,3}|__)(.{1,300})\1")
_DETAILS: Final = re.compile(r"</?(?:details|summary)\b[^<>]{0,100}>", re.IGNORECASE)
_TYPE: Final = re.compile(r"\[\s*(type|points|difficulty|id|tags?)\s*:\s*([^\]]{0,100})\]\s*$", re.IGNORECASE)
_EXPLAINS: Final = re.compile(
    r"(?:[*_#>\s]{0,8})(?:feedback|explanation|rationale|reason|why|erklärung|explication|explicación|explicação|spiegazione|пояснение|объяснение"
    r"|解析|解释|解説|해설|شرح|التفسير|הסבר|εξήγηση)[*_\s]{0,6}[:：][*_\s]{0,6}(.*)",
    re.IGNORECASE | re.DOTALL,
)
_KEY_PAIR: Final = re.compile(r"(?<![\w.])(\d{1,4})\s*[.):：、\-–]?\s*[(\[]?\b([A-Ha-hА-Еأ-ي])\b[)\]]?(?=[\s,;|.)]|$)")
_KEYS_HEADING: Final = re.compile(
    r"(?:answers?|answer keys?|keys?|solutions?|antworten|lösungen|réponses|respuestas|ответы|答案|参考答案|解答|정답)\s*[:：]?",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Option:
    mark: str  # folded label; "" for a bullet or a box
    text: list[str]
    right: bool


@dataclass(slots=True)
class Block:
    line: int
    number: str
    stem: list[Line]
    title: str = ""
    options: list[Option] = field(default_factory=list[Option])
    key: str = ""
    key_line: int = 0
    after: list[Line] = field(default_factory=list[Line])
    facts: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def has_key(self) -> bool:
        return bool(self.key) or any(option.right for option in self.options)


def option_at(text: str, last: str) -> Option | None:
    """The choice that a line is, when the last label was `last`; None for other lines."""
    if (box := BOX.match(text)) is not None:
        rest = text[box.end() :]
        label = label_at(rest)
        mark, rest = (label.mark, label.rest) if label is not None and place_of(label.mark) is not None else ("", rest)
        return Option(mark, [rest.strip()], (box.group(1) or " ") != " ")
    star = STAR.match(text)
    bullet = None if star else _BULLET.match(text)
    rest = text[star.end() if star else bullet.end() if bullet else 0 :].strip()
    ticked = _TICK_BEFORE.match(rest)
    rest = rest[ticked.end() :] if ticked else rest
    bold = re.match(r"(\*\*|__)(.{1,500}?)\1\s*$", rest)
    label = label_at(bold.group(2) if bold else re.sub(r"^(?:\*\*|__)(\(?\w\)?[).:]?)(?:\*\*|__)", r"\1", rest))
    if label is None or (label.glued and not bullet and label.sign in (".", ":") and label.rest[:1].isalnum()):
        return None
    place = place_of(label.mark)
    if place is None or (label.mark.isdecimal() and not (bullet or star)):
        return None
    if last and (label.mark.isdecimal() != last.isdecimal() or place <= (place_of(last) or 0)):
        return None
    if not last and place != 0:
        return None
    again = label_at(label.rest)
    inner = again.rest if again is not None and again.mark == label.mark else label.rest  # "a) A) text"
    tick = _TICK.search(inner)
    inner = inner[: tick.start()] if tick else inner
    return Option(label.mark, [inner.strip()], bool(star or ticked or tick or bold))


def _starts(lines: list[Line]) -> dict[int, tuple[str, str]]:
    """index -> (number, text) of the lines that begin questions, by the way that most of this file's questions begin."""
    found: dict[str, dict[int, tuple[str, str]]] = {}
    for i, line in enumerate(lines):
        if line.code or not line.bare:
            continue
        heading = line.heading
        text = heading[1] if heading is not None else line.bare
        numbered = NUMBERED.match(text) if line.text[:4].strip() else None  # not indented: an indented number is a choice
        if numbered is not None and numbered.group(2)[:1].isdigit() and text[numbered.end(1) : numbered.end(1) + 1] == ".":
            numbered = None  # 3.14
        if heading is not None:
            if numbered is not None:
                found.setdefault("numbered heading", {})[i] = (numbered.group(1), numbered.group(2))
            else:
                found.setdefault(f"heading {heading[0]}", {})[i] = ("", text)
        elif numbered is not None:
            style = "named" if _HEADED.match(text.lstrip("*_")) else "numbered"
            found.setdefault(style, {})[i] = (numbered.group(1), numbered.group(2))
    scores = {style: _score(lines, starts) for style, starts in found.items()}
    best = max(scores, key=lambda style: (scores[style], style), default="")
    return found[best] if best and scores[best] else {}


def _score(lines: list[Line], starts: dict[int, tuple[str, str]]) -> float:
    """How many of these beginnings have choices before the next one."""
    places = sorted(starts)
    good = 0.0
    for start, end in zip(places, [*places[1:], len(lines)], strict=True):
        last, count = "", 0
        for line in lines[start + 1 : min(end, start + 120)]:
            if line.code:
                continue
            option = option_at(line.text, last)
            if len(_on_one_line(line.bare)) > 1 or _is_marked(line):
                count += 2
            elif option is not None:
                count, last = count + 1, option.mark or last
            if count > 1:
                break
        good += 1 if count > 1 else -0.01
    return good


def _is_marked(line: Line) -> bool:
    """A ticked bullet, or a table row whose one bold cell is the key."""
    if line.bare.startswith("|"):
        return sum(_BOLD_CELL.fullmatch(cell.strip()) is not None for cell in line.bare.strip("|").split("|")) == 1
    return _BULLET.match(line.text) is not None and _TICK.search(line.text) is not None


def blocks_of(lines: list[Line]) -> Iterator[Block]:
    starts = _starts(lines)
    places = sorted(starts)
    if not places:
        yield from _unnumbered(lines)
        return
    for start, end in zip(places, [*places[1:], len(lines)], strict=True):
        number, text = starts[start]
        text = text.strip().removesuffix("**").strip() if text.count("**") == 1 else text.strip()
        block = Block(lines[start].number, number, [replace(lines[start], text=text)] if text and not _HEADED.fullmatch(text) else [])
        _fill(block, lines[start + 1 : end])
        yield block


def _unnumbered(lines: list[Line]) -> Iterator[Block]:
    """Questions without numbers: a paragraph followed by choices."""
    paragraphs: list[list[Line]] = [[]]
    for line in lines:
        if not line.bare and not line.code:
            paragraphs.append([])
        elif line.heading is None or line.heading[0] > 2:
            paragraphs[-1].append(line)
    current: list[Line] = []
    has_choices = has_key = False
    for paragraph in filter(None, paragraphs):
        first = next((line for line in paragraph if not line.code), paragraph[0])
        is_part = option_at(first.text, "") is not None or answer_in(first.bare) is not None or _EXPLAINS.match(first.bare) or first.code
        if has_choices and not is_part and (has_key or any(option_at(line.text, "") for line in paragraph)) and "details" not in first.text:
            yield from _one(current)
            current, has_choices, has_key = [], False, False
        current += [*paragraph, Line(paragraph[-1].number, "")]
        has_choices = has_choices or any(option_at(line.text, "") is not None for line in paragraph if not line.code)
        has_key = has_key or any(answer_in(line.bare) is not None or BOX.match(line.text) for line in paragraph)
    yield from _one(current)


def _one(lines: list[Line]) -> Iterator[Block]:
    if any(option_at(line.text, "") is not None for line in lines if not line.code):
        first = lines[0]
        heading = first.heading
        block = Block(first.number, "", [replace(first, text=heading[1] if heading else first.text)])
        _fill(block, lines[1:])
        yield block


def _on_one_line(text: str) -> list[Option]:
    """`A) x  B) y  C) z` on one line as choices; [] unless the letters run from A without a gap."""
    marks = list(_ONE_LINE.finditer(text))
    letters = "".join(found.group(1).lower() for found in marks)
    if len(marks) < 2 or letters != "abcdefgh"[: len(letters)] or text[: marks[0].end()].strip():
        return []
    ends = [found.start() for found in marks[1:]] + [len(text)]
    options: list[Option] = []
    for found, end in zip(marks, ends, strict=True):
        label = label_at(text[found.end() : end])
        if label is None or not label.rest.strip():
            return []
        tick = _TICK.search(label.rest)
        options.append(Option(label.mark, [(label.rest[: tick.start()] if tick else label.rest).strip(" ,;|")], bool(tick)))
    return options


def _fill(block: Block, lines: list[Line]) -> None:
    """Sort the lines of one question into stem, choices, key and what explains it."""
    explaining = expects_key = False
    table: list[Line] = []
    has_bullets = False
    indent = 0  # of the last choice
    for before, line in zip([None, *lines], lines, strict=False):
        goes_on = before is not None and bool(before.bare)  # no blank line between this one and the one above
        text = _DETAILS.sub("", line.text) if "<" in line.text and not line.code else line.text
        bare = text.strip()
        if line.code:
            part = block.after if explaining or (block.has_key and block.options) else None
            if part is None and block.options and line.text[:2].strip() == "" and line.text.strip():
                block.options[-1].text.append(line.text)
            else:
                (part if part is not None else block.stem).append(line)
            continue
        if not bare:
            (block.after if explaining else block.stem if not block.options else []).append(replace(line, text=""))
            continue
        if not explaining and not block.options and (fact := _TYPE.match(bare)) is not None:
            block.facts[fact.group(1).lower().removesuffix("s")] = fact.group(2).strip()
            continue
        if not explaining and bare.startswith("|") and not block.options:
            table.append(replace(line, text=text))
            block.stem.append(replace(line, text=text))
            continue
        has_bullets = has_bullets or _BULLET.match(text) is not None
        if not explaining and not block.options and (options := _on_one_line(bare)):
            block.options = options
            continue
        option = None if explaining or block.key else option_at(text, block.options[-1].mark if block.options else "")
        if option is not None and (block.options or option.mark or BOX.match(text)):
            block.options.append(option)
            indent = _indent(text)
            continue
        answer = answer_in(bare) if not block.key else None
        if answer is not None and (block.options or table or truth_in(answer) is not None or len(answer) < 60):
            _take_key(block, answer, line)
            explaining, expects_key = True, not answer
            continue
        explains = _EXPLAINS.match(bare)
        if explains is not None and (block.options or block.key or table or has_bullets):
            explaining = True
            bare = explains.group(1)
        if expects_key or ("<summary" in line.text.lower() and not block.key):
            expects_key = True
            if keys_in(bare, [option.mark for option in block.options]) is not None and len(bare) < 200:
                _take_key(block, bare, line)
                expects_key = False
                continue
            if "<summary" in line.text.lower():
                explaining = True
                continue
        if "<details" in line.text.lower():
            explaining = True
        if not explaining and block.options and not block.has_key and len(bare) <= 4 and keys_in(bare, [o.mark for o in block.options]):
            _take_key(block, bare, line)  # a bare letter on its own line
            explaining = True
        elif explaining or (block.options and block.has_key and (not text[:2].isspace() or (not goes_on and _indent(text) < indent + 2))):
            explaining = True
            block.after.append(replace(line, text=text if explains is None else bare))
        elif block.options and (text[:2].isspace() or not block.stem):
            block.options[-1].text.append(bare)
        elif block.options:
            block.options[-1].text.append(bare) if goes_on else block.stem.append(replace(line, text=text))
        else:
            block.stem.append(replace(line, text=text))
    if not block.options and table:
        _table_options(block, table)
    if not block.options:
        _bullets(block)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _take_key(block: Block, answer: str, line: Line) -> None:
    block.key, block.key_line = answer, line.number
    labels = [option.mark for option in block.options]
    label = label_at(answer.lstrip("*_` "))
    if label is None or keys_in(answer, labels) is None or len(answer) < 6:
        return
    rest = label.rest.strip(" *_`").strip()
    place = next(iter(keys_in(answer, labels) or ()), None)
    if (
        rest
        and place is not None
        and folded(rest)[:30] != folded(" ".join(block.options[place].text))[:30]
        and keys_in(rest, labels) is None
    ):
        block.after.append(Line(line.number, rest))


def _table_options(block: Block, table: list[Line]) -> None:
    """A table whose right cell is bold."""
    cells = [cell.strip() for line in table for cell in line.bare.strip("|").split("|")]
    cells = [cell for cell in cells if cell and not re.fullmatch(r":?-{2,}:?", cell)]
    bold = [_BOLD_CELL.fullmatch(cell) is not None for cell in cells]
    if len(cells) < 2 or bold.count(True) != 1:
        return
    texts = [re.sub(r"^(?:\*{1,3}|__)(.{1,300}?)(?:\*{1,3}|__)$", r"\1", cell) for cell in cells]
    labels = [label_at(text) for text in texts]
    if all(label is not None for label in labels):
        texts = [label.rest for label in labels if label is not None]
    block.options = [Option("", [text], right) for text, right in zip(texts, bold, strict=True)]
    block.stem = [line for line in block.stem if line not in table and not line.bare.startswith("|")]


def _bullets(block: Block) -> None:
    """Bullets without letters, where one is ticked or in bold, or the key is the text of one."""
    rows = [(line, _BULLET.match(line.text)) for line in block.stem if not line.code]
    bullets = [(line, line.text[found.end() :].strip()) for line, found in rows if found is not None]
    if len(bullets) < 2:
        return
    texts = [_TICK.sub("", _TICK_BEFORE.sub("", text, count=1) if _TICK_BEFORE.match(text) else text).strip() for _, text in bullets]
    ticked = [text != plain for (_, text), plain in zip(bullets, texts, strict=True)]
    bold = [re.fullmatch(r"(\*\*|__)(.+)\1", text) is not None for text in texts]
    wanted = folded(block.key).strip(" .*`") if block.key else None
    by_key = [wanted is not None and folded(text).strip(" .*`") == wanted for text in texts]
    rights = ticked if any(ticked) else by_key if any(by_key) else bold if 0 < sum(bold) < len(bold) else []
    if not rights:
        return
    plain = [
        re.sub(r"^(\*\*|__)(.+)\1$", r"\2", text) if right and rights is bold else text for text, right in zip(texts, rights, strict=True)
    ]
    block.options = [Option("", [text], right) for text, right in zip(plain, rights, strict=True)]
    gone = {line.number for line, _ in bullets}
    block.stem = [line for line in block.stem if line.number not in gone]


def with_key_list(blocks: list[Block]) -> list[Block]:
    """Keys that stand in a list at the end ("1. B  2. D"), given to the questions with these numbers."""
    if sum(block.has_key for block in blocks) * 2 > len(blocks):
        return blocks
    keys: dict[str, tuple[str, int]] = {}
    kept: list[Block] = []
    for block in blocks:
        lines = [*block.stem, *block.after, *(Line(block.line, text) for option in block.options[-1:] for text in option.text[1:])]
        if block.key and not block.options:
            lines.append(Line(block.key_line, block.key))
        bare = re.fullmatch(r"\W*([A-Ha-hА-Еأ-ي])\W*", " ".join(line.bare for line in lines))
        if not block.options and block.number and bare is not None:
            keys.setdefault(block.number, (bare.group(1), block.line))  # the list's own lines look like questions
            continue
        listed = [line for line in lines if _is_key_list(line.text)]
        for at in listed:
            for pair in _KEY_PAIR.finditer(at.text):
                keys.setdefault(pair.group(1), (pair.group(2), at.number))
        if listed and not block.options:
            continue
        block.stem, block.after = ([line for line in part if not _is_key_list(line.text)] for part in (block.stem, block.after))
        for option in block.options[-1:]:
            option.text = [text for text in option.text if text is option.text[0] or not _is_key_list(text)]
        kept.append(block)
    for block in kept:
        if not block.has_key and block.number in keys:
            block.key, block.key_line = keys[block.number]
    return kept


def _is_key_list(line: str) -> bool:
    """A heading such as "Answers", or a line that is nothing but numbers with letters."""
    if _KEYS_HEADING.fullmatch(line.strip().strip("#* ")):
        return True
    return _KEY_PAIR.search(line) is not None and not re.search(r"\w", _KEY_PAIR.sub("", line))
