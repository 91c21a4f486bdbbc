"""Questions and their answers in Markdown: headings, bold lines, `Q:` and `A:`, folded `<details>`, one page per question.

Becomes open questions whose reference answer is the text below; short answers after `A:` can be typed. It refuses what
has no answer below it. Tables of contents, references, licences and the like are no questions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from content.model import ContentError, Criterion, Open, Question, Quiz, Text
from content.readers.base import About, Import, Report, Unusable
from content.readers.cards import body_of
from content.readers.intake import load_json
from content.readers.markdown_text import FrontMatter, Line, shown
from content.readers.markup import Pictures

_LEVELS: Final = {"easy": 2, "medium": 3, "hard": 4, "beginner": 2, "intermediate": 3, "advanced": 4, "junior": 2, "senior": 4}
_ASKS: Final = re.compile(
    r"[?？؟;]\s*$|\b(?:what|how|why|when|where|which|who|differences? between)\b"
    r"|^(?:explain|describe|compare|define|list|name|give|discuss|is|are|can|could|do|does|did|should|will|would|has|have)\b"
    r"|什么|如何|怎么|怎样|为什么|哪些|哪个|区别|是否|吗|谈谈|说说|介绍|简述|何|なぜ|とは|違い|무엇|어떻게|차이|왜|설명"
    r"|^(?:что|как|почему|зачем|чем|когда|какие|какой|объясните)\b|^(?:was|wie|warum|wann|welche|qué|cómo|por qué)\b"
    r"|^(?:quoi|comment|pourquoi|quel|τι|πώς|γιατί)\b",
    re.IGNORECASE,
)
_NO_QUESTION: Final = re.compile(
    r"(?:table of contents?|contents?|toc|index|目录|目錄|目次|목차|references?|further reading|resources?|links?|see also"
    r"|参考.{0,6}|參考.{0,6}|参照|licen[cs]e|许可证|contribut\w+|贡献.{0,4}|acknowledg\w+|credits?|authors?|about|introduction|intro"
    r"|preface|overview|summary|前言|总结|简介|概述|changelog|sponsors?|installation|usage|getting started|author'?s? note"
    r"|литература|оглавление|содержание|источники|quellen|inhalt|références|sommaire"
    r"|bibliografía|índice|المراجع|المحتويات|παραπομπές|περιεχόμενα)\s*[:：]?",
    re.IGNORECASE,
)
_BACK: Final = re.compile(
    r"\s*\**\[[^\]]{0,60}(?:back to top|top|⬆|↑|🔝|返回|回到|наверх)[^\]]{0,40}\]\(#[^)]{0,100}\)\**\s*$", re.IGNORECASE
)
_NUMBER: Final = re.compile(
    r"(?:Q(?:uestion)?\s*#?\s*\d{1,4}\s*[.:：)]\s*|\d{1,4}\s*[.)、：:]\s*|Q\s*[.:：]\s+|[(（]\d{1,4}[)）]\s*)(?=\S)", re.IGNORECASE
)
_ASK_LINE: Final = re.compile(
    r"[*_>\s]{0,6}(?:Q(?:uestion)?\s*\d{0,4}|问题?|問|質問|질문|Вопрос|Frage|Pregunta|Ερώτηση|سؤال|ש)\s*[.:：][*_\s]*(.*)", re.IGNORECASE
)
_REPLY_LINE: Final = re.compile(
    r"[*_>\s]{0,6}(?:A(?:ns(?:wer)?)?\s*\d{0,4}|答案?|回答|答え|답변?|Ответ|Antwort|Respuesta|Απάντηση|جواب|ת)\s*[.:：][*_\s]*(.*)",
    re.IGNORECASE,
)
_BOLD_LINE: Final = re.compile(r"(?:[-*+]\s+|\d{1,4}[.)]\s+)?\*\*(.{3,300}?)\*\*\s*$")
_ANSWER_HEADING: Final = re.compile(
    r"(?:answer|solution|答案|解答|回答|ответ|antwort|réponse|respuesta|정답|απάντηση)s?\s*[:：]?", re.IGNORECASE
)
_RUBRIC_HEADING: Final = re.compile(r"(?:good to hear|key points|must mention|rubric|scoring)\s*[:：]?", re.IGNORECASE)
_LANGUAGE_FILE: Final = re.compile(r"(?:.*/)?(?:README[._-])?([a-z]{2}(?:-[A-Za-z]{2,4})?)\.(?:mdx?|markdown)$")

Entry = tuple[int, str, list[Line]]
"""Line, question, and the lines of its answer."""


def read_answers(front: FrontMatter, lines: list[Line], report: Report) -> Import:
    """Questions with reference answers. Raises nothing for a file without any: the report is then empty."""
    entries, typed = _entries(front, lines, report)
    difficulty = _LEVELS.get(front.text("difficulty", "level").lower(), 3)
    tags = tuple(dict.fromkeys((*front.words("tags", "tag", "topics"), *front.words("category", "categories"))))
    for number, ask, answer in entries:
        with report.question(number, ask[:80]):
            _question(number, ask, answer, typed, difficulty, tags, report)
    title = front.text("title") or _only_title(lines)
    about = About(
        title="" if len(entries) == 1 and entries[0][1] == title else title,
        description=front.text("description", "summary"),
        author=front.text("author") or None,
        licence=front.text("licence", "license") or None,
        tags=tags,
    )
    return report.close(about)


def _entries(front: FrontMatter, lines: list[Line], report: Report) -> tuple[list[Entry], bool]:
    title = front.text("title", "question")
    headings = [(line, heading) for line in lines if (heading := line.heading) is not None]
    asked = _marked(lines, _ASK_LINE, _REPLY_LINE)
    if asked and len(asked) >= max(1, sum(bool(_ASKS.search(text)) for _, (_, text) in headings)):
        return asked, True
    asking = [level for _, (level, text) in headings if _ASKS.search(text) and not _NO_QUESTION.fullmatch(_plain_heading(text))]
    marked = [level for _, (level, text) in headings if re.search(r"[?？؟]\s*$", text)]
    if title and _ASKS.search(title) and len(marked) < 2 and any(line.bare for line in lines):
        return [(1, title, [line for line in lines if line.heading is None or line.heading[0] > 1 or line.heading[1] != title])], False
    if asking:
        level = Counter(marked or asking).most_common(1)[0][0]
        return list(_below_headings(lines, level, report)), False
    folded = _folded(lines)
    if folded:
        return folded, False
    bold = [(i, found.group(1)) for i, line in enumerate(lines) if not line.code and (found := _BOLD_LINE.match(line.bare)) is not None]
    bold = [(i, text) for i, text in bold if _ASKS.search(text)]
    if not bold:
        return [], False
    ends = [*(i for i, _ in bold[1:]), len(lines)]
    return [(lines[i].number, _clean_question(text), lines[i + 1 : end]) for (i, text), end in zip(bold, ends, strict=True)], False


def _plain_heading(text: str) -> str:
    return re.sub(r"[*_`#\s]+", " ", re.sub(r":\w+:|[^\w\s:：'()（）-]", "", text)).strip()


def _clean_question(text: str) -> str:
    text = re.sub(r"^\[([^\]]{1,300})\]\([^)]{0,300}\)$", r"\1", text.strip())
    found = _NUMBER.match(text)
    return text[found.end() :].strip() if found is not None and text[found.end() :].strip() else text


def _below_headings(lines: list[Line], level: int, report: Report) -> list[Entry]:
    """Headings of this level as questions; deeper ones stay in the answer, higher ones end it."""
    here = [heading[1] for line in lines if (heading := line.heading) is not None and heading[0] == level]
    strict = sum(bool(_ASKS.search(text)) for text in here) >= 0.7 * len(here)
    entries: list[Entry] = []
    current: list[Line] | None = None
    for line in lines:
        heading = line.heading
        if heading is None or heading[0] > level:
            if current is not None:
                current.append(line)
            continue
        current = None
        if heading[0] < level:
            continue
        text = heading[1]
        if _NO_QUESTION.fullmatch(_plain_heading(text)) or (strict and not _ASKS.search(text)):
            report.note(line.number, "MD-HEADING", f"the heading {text[:60]!r} is no question and was left out.", "")
            continue
        current = []
        entries.append((line.number, _clean_question(text), current))
    return entries


def _marked(lines: list[Line], ask: re.Pattern[str], reply: re.Pattern[str]) -> list[Entry]:
    """`Q:` … `A:` … in turn; a question's text may run over lines until its answer begins."""
    entries: list[Entry] = []
    answering = False
    for line in lines:
        text = line.bare.lstrip("#").strip() if not line.code else ""
        found = ask.match(text) if text else None
        if found is not None and (not entries or answering):
            entries.append((line.number, found.group(1).strip("* "), []))
            answering = False
        elif entries and text and not answering and (answer := reply.match(text)) is not None:
            answering = True
            if answer.group(1):
                entries[-1][2].append(replace(line, text=answer.group(1).strip()))
        elif entries and answering:
            entries[-1][2].append(line)
        elif entries and text:
            number, question, answer_lines = entries[-1]
            entries[-1] = (number, f"{question}\n{line.bare}".strip(), answer_lines)
    return entries if any(entry[2] for entry in entries) else []


def _folded(lines: list[Line]) -> list[Entry]:
    """`<details><summary>question</summary>answer</details>`."""
    entries: list[Entry] = []
    inside = False
    for line in lines:
        if line.code:
            if inside:
                entries[-1][2].append(line)
            continue
        found = re.search(r"<summary>(.{1,500}?)</summary>(.*)", line.text, re.IGNORECASE)
        if found is not None:
            entries.append((line.number, _clean_question(re.sub(r"</?[a-zA-Z]\w{0,10}>", "", found.group(1))), []))
            inside = True
            if rest := re.sub(r"</details>.*", "", found.group(2), flags=re.IGNORECASE).strip():
                entries[-1][2].append(replace(line, text=rest))
        elif "</details>" in line.text.lower():
            inside = False
        elif inside:
            entries[-1][2].append(line)
    return entries if sum(bool(_ASKS.search(entry[1])) for entry in entries) * 2 > len(entries) else []


def _question(number: int, ask: str, lines: list[Line], typed: bool, difficulty: int, tags: tuple[str, ...], report: Report) -> None:
    pictures = Pictures()
    answer: list[Line] = []
    points: list[Line] = []
    target = answer
    for line in lines:
        heading = line.heading
        if heading is not None and _ANSWER_HEADING.fullmatch(_plain_heading(heading[1])):
            target = answer
        elif heading is not None and _RUBRIC_HEADING.fullmatch(_plain_heading(heading[1])):
            target = points
        elif heading is not None and _NO_QUESTION.fullmatch(_plain_heading(heading[1])):
            target = []
        elif not _BACK.match(line.text):
            target.append(line)
    reference = shown(answer, pictures)
    if not ask.strip():
        raise Unusable("MD-QUESTION", "the question has no text. Write it.")
    if not reference and not points:
        raise Unusable("MD-ANSWER", "there is no answer below the question. Write one.")
    bullets = [found.group(1) for found in (re.match(r"\s*[-*+]\s+(\S.*)", line.text) for line in points) if found is not None]
    rubric = tuple(Criterion(f"c{i}", 1.0, Text.of(shown([text], pictures))) for i, text in enumerate(bullets, 1))
    body = body_of(reference) if typed and not rubric else Open(reference=Text.of(reference) if reference else None, rubric=rubric)
    stem = shown([ask], pictures)
    report.add(Question(id="", stem=Text.of(stem), body=body, difficulty=difficulty, tags=tags, media=pictures.media, line=number))


def _only_title(lines: list[Line]) -> str:
    titles = [heading[1] for line in lines if (heading := line.heading) is not None and heading[0] == 1]
    return titles[0] if len(titles) == 1 else ""


def language_of_file(name: str) -> str | None:
    """ "zh-CN" for `…/zh-CN.mdx`, None for names that are no language."""
    found = _LANGUAGE_FILE.match(name.replace("\\", "/"))
    return found.group(1) if found is not None else None


def joined(parts: Mapping[str, Import], name: str, metadata: bytes | None = None) -> Import:
    """The same questions in several languages (language -> its import) as one; `metadata` is the JSON beside them.

    Raises ContentError where the files do not hold the same number of questions.
    """
    first, *others = parts.values()
    if any(other.imported != first.imported for other in others) or first.quiz is None:
        counts = ", ".join(f"{language}: {part.imported}" for language, part in parts.items())
        raise ContentError(f"{name}: the languages hold different numbers of questions ({counts}). Import them one by one.")
    extra = cast(dict[str, Any], load_json(metadata.decode("utf-8", "replace"), name)) if metadata else {}
    extra = extra if isinstance(extra, dict) else {}  # pyright: ignore[reportUnnecessaryIsInstance]  # JSON may be anything
    topics = extra.get("topics")
    tags = tuple(str(topic) for topic in cast(list[Any], topics)) if isinstance(topics, list) else ()
    minutes = extra.get("duration")
    seconds = int(minutes * 60) if isinstance(minutes, int | float) and not isinstance(minutes, bool) and 0 < minutes <= 60 else None
    level = _LEVELS.get(str(extra.get("difficulty", "")).lower())
    questions: list[Question] = []
    for i, question in enumerate(first.questions):
        versions = {language: part.questions[i] for language, part in parts.items()}
        references = {
            language: next(iter(version.body.reference))
            for language, version in versions.items()
            if isinstance(version.body, Open) and version.body.reference is not None
        }
        body = replace(question.body, reference=Text(references)) if isinstance(question.body, Open) and references else question.body
        questions.append(
            replace(
                question,
                stem=Text({language: next(iter(version.stem)) for language, version in versions.items()}),
                body=body,
                tags=tuple(dict.fromkeys((*question.tags, *tags))),
                time_limit_s=question.time_limit_s or seconds,
                difficulty=level or question.difficulty,
            )
        )
    problems = tuple(replace(problem, text=f"{language}: {problem.text}") for language, part in parts.items() for problem in part.problems)
    quiz: Quiz = replace(first.quiz, questions=tuple(questions), languages=tuple(parts))
    return replace(first, questions=tuple(questions), problems=problems, quiz=quiz)
