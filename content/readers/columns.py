"""Rows of a table as questions: which column is what, and what a row then says. One mapping for CSV, TSV and spreadsheets.

Headers are known in many languages. A key may be a letter, a number or the text of a choice; where a file could be read
both ways the readings are compared over all rows, and what stays unsure is said. It reads no files.

Use: `layout_of(header)`, then `read_rows(rows, layout, report)`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from content.model import Accept, Choices, Item, Match, Open, Order, Pair, Question, Scoring, Short, Text, TrueFalse
from content.readers.answers import number_in
from content.readers.base import Report, Unusable, choice_id, lettered, text_or_none
from content.readers.labels import keys_in, label_at, place_of, true_false_pair, truth_in
from content.readers.markup import (
    Pictures,
    has_html,
    html_to_markdown,
    keep_pictures,
    markdown_to_plain,
    normalise_latex,
    plain_to_markdown,
)

Row = tuple[int, Sequence[str]]
"""Physical line (or spreadsheet row), and its cells as text."""

SHORT_ANSWER: Final = 40  # characters; a longer one is not typed by anybody, so it is a reference answer

_FIELDS: Final = {
    "stem": (
        "question|question text|questions|stem|prompt|q|frage|fragetext|question texte|pregunta|pergunta|domanda|vraag|pytanie|otázka|soru"
        "|вопрос|питання|ερώτηση|题目|题干|问题|題目|問題|問題文|質問|문제|질문|السؤال|سؤال|שאלה|pertanyaan|câu hỏi"
        "|front|term|word|vocabulary|expression|simplified|kanji|hanzi|begriff|vorderseite|recto|anverso|термин|слово|词|单词|용어|단어"
    ),
    "key": (
        "correct answer|correct answers|correct|correct option|right answer|right answers|answer key|key|solution|answer|réponse"
        "|bonne réponse|réponse correcte|richtige antwort|richtig|lösung|antwort|respuesta correcta|respuesta|resposta correta|resposta"
        "|risposta corretta|risposta|juiste antwoord|poprawna odpowiedź|doğru cevap|правильный ответ|ответ|правильна відповідь"
        "|σωστή απάντηση|απάντηση|正确答案|答案|正確答案|正解|答え|정답|답|الإجابة الصحيحة|الإجابة|الاجابة|תשובה נכונה|תשובה|jawaban"
        "|back|definition|meaning|translation|rückseite|verso|reverso|bedeutung|übersetzung|значение|перевод|释义|翻译|定义|意味|뜻"
        "|correct answer(s)"
    ),
    "options": (
        "options|choices|answers|answer options|answer choices|antworten|optionen|réponses|opciones|opções|варианты|варианты ответов"
        "|选项|選択肢|보기"
    ),
    "explanation": (
        "explanation|answer explanation|feedback|rationale|comment|note|notes|erklärung|explication|explicación|explicação|spiegazione"
        "|пояснение|объяснение|комментарий|εξήγηση|解析|解释|解説|해설|설명|شرح|הסבר|extra"
    ),
    "time": "time|time limit|time in seconds|seconds|timer|zeit|zeitlimit|temps|tiempo|tempo|время|时间|時間|시간",
    "points": "points|score|marks|weight|punkte|puntos|pontos|punti|баллы|分值|分数|配点|점수",
    "difficulty": "difficulty|level|schwierigkeit|difficulté|dificultad|dificuldade|сложность|难度|難易度|난이도",
    "tags": (
        "tags|tag|category|topic|subject|chapter|kategorie|thema|catégorie|categoría|categoria|категория|тема|分类|标签|章节|カテゴリ|분류"
    ),
    "type": "type|question type|fragetyp|typ|tipo|type de question|тип|题型|类型|種類|유형",
    "image": "image|image link|image url|picture|media|bild|imagen|imagem|изображение|图片|画像|이미지",
    "hint": "hint|hints|hinweis|tipp|indice|pista|dica|подсказка|提示|ヒント|힌트",
    "id": "id|guid|key id|identifier|question id",
    "tolerance": "tolerance|toleranz|tolérance|tolerancia",
    "letters": "correct letters|correct letter|answer letter|answer letters|correct option letter",
    "markup": "markup",
}
_NAMES: Final = {name: kind for kind, names in _FIELDS.items() for name in names.split("|")}
_OPTION: Final = re.compile(
    r"(?:answer option|answer choice|answer|option|choice|response|antwort(?:möglichkeit)?|réponse|choix|opción|respuesta|opção|alternativa"
    r"|resposta|opzione|risposta|вариант(?: ответа)?|ответ|опция|选项|選択肢|보기|선택지)\s*(?:no\.?|#)?\s*([a-zа-яα-ωא-תأ-ي]|[1-9]\d?)"
)
_WRONG: Final = re.compile(
    r"(?:wrong|incorrect|false)(?: answer| option| choice)?s?\s*([1-9]\d?)?|distractor\s*([1-9]\d?)?|falsche antwort\s*([1-9]\d?)?"
)
_LANGUAGE: Final = re.compile(r"(.+?)\s*(?:[\[(:_]|\s-\s)\s*([a-z]{2}(?:-[a-zA-Z]{2,4})?)\s*[\])]?$")
_LANGUAGES: Final = frozenset(
    "ar cs da de el en es fi fr he hi hu id it ja ko nb nl no pl pt ro ru sv th tr uk vi zh zh-cn zh-tw pt-br".split()
)
_DIFFICULTY: Final = {
    "very easy": 1, "easy": 2, "medium": 3, "normal": 3, "hard": 4, "difficult": 4, "very hard": 5, "beginner": 2, "intermediate": 3,
    "advanced": 4, "leicht": 2, "mittel": 3, "schwer": 4, "facile": 2, "moyen": 3, "difficile": 4, "fácil": 2, "medio": 3, "difícil": 4,
    "лёгкий": 2, "легкий": 2, "средний": 3, "сложный": 4, "简单": 2, "容易": 2, "中等": 3, "困难": 4, "쉬움": 2, "보통": 3, "어려움": 4,
}  # fmt: skip


@dataclass(slots=True)
class Layout:
    """Column numbers, from 0. `options` are choices in their order; `wrong` are columns of wrong answers only."""

    fields: dict[str, int] = field(default_factory=dict[str, int])
    options: list[int] = field(default_factory=list[int])
    wrong: list[int] = field(default_factory=list[int])
    languages: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict[tuple[str, int], dict[str, int]])
    unused: list[str] = field(default_factory=list[str])

    def cell(self, row: Sequence[str], name: str) -> str:
        at = self.fields.get(name, -1)
        return row[at].strip() if 0 <= at < len(row) else ""


def layout_of(header: Sequence[str]) -> Layout | None:
    """What the columns under this header are, or None when there is no question column with anything to answer it."""
    layout = Layout()
    names = [_folded(cell) for cell in header]
    for at, name in enumerate(names):
        if not name:
            continue
        language = _LANGUAGE.fullmatch(name)
        if language is not None and language.group(2).lower() in _LANGUAGES and _kind(language.group(1)) is not None:
            base = _kind(language.group(1)) or ("", 0)
            layout.languages.setdefault(base, {})[language.group(2).lower()] = at
            if base[0] == "option" or base[0] in layout.fields:
                if base[0] == "option" and len(layout.languages[base]) == 1:
                    layout.options.append(at)
                continue
            layout.fields[base[0]] = at
            continue
        kind = _kind(name)
        if kind is None:
            layout.unused.append(header[at].strip())
        elif kind[0] == "option":
            layout.options.append(at)
            layout.languages.setdefault(kind, {})[""] = at
        elif kind[0] == "wrong":
            layout.wrong.append(at)
        elif kind[0] in layout.fields:
            layout.unused.append(header[at].strip())
        else:
            layout.fields[kind[0]] = at
            layout.languages.setdefault(kind, {})[""] = at
    if not layout.options:
        layout.options = _bare_letters(names)
    has_answer = layout.options or layout.wrong or "key" in layout.fields or "options" in layout.fields
    return layout if "stem" in layout.fields and has_answer else None


def _folded(cell: str) -> str:
    text = unicodedata.normalize("NFKC", cell).strip().strip("*#:").casefold()
    text = re.sub(r"\s*[-–—(,]\s*(?:max(?:imum)?\b|optional|required|\d|choose|in sec|sec).*$", "", text)
    return re.sub(r"[\s_]+", " ", text).strip() if not _LANGUAGE.fullmatch(text) else re.sub(r"\s+", " ", text).strip()


def _kind(name: str) -> tuple[str, int] | None:
    name = name.replace("_", " ").strip()
    if name in _NAMES:
        return _NAMES[name], 0
    if (option := _OPTION.fullmatch(name)) is not None:
        return "option", (place_of(option.group(1)) or 0) + 1
    if (wrong := _WRONG.fullmatch(name)) is not None:
        return "wrong", int(next((part for part in wrong.groups() if part), 1))
    return None


def _bare_letters(names: Sequence[str]) -> list[int]:
    """Columns headed A, B, C … or 1, 2, 3 …"""
    for first in ("a", "1", "а", "①"):
        if first in names:
            start = names.index(first)
            marks = "abcdefghij" if first == "a" else "123456789" if first == "1" else "абвгдежз" if first == "а" else "①②③④⑤⑥"
            places = [start + i for i, mark in enumerate(marks) if start + i < len(names) and names[start + i] == mark]
            if len(places) > 1:
                return places
    return []


Several = Literal["all", "any"]
"""What several right choices mean: all of them must be chosen, or any one of them will do."""


def read_rows(rows: Iterable[Row], layout: Layout, report: Report, *, several: Several = "all", positions: bool = False) -> None:
    """Add every row's question to the report. `positions`: the key always counts choices (Kahoot, Wayground), it is no text."""
    kept = [(line, cells) for line, cells in rows if any(cell.strip() for cell in cells)]
    reading = _Reading(layout, report, several, positions or not _keys_are_texts(kept, layout, report))
    for line, cells in kept:
        if layout.cell(cells, "stem").casefold() in ("text of the question", "text of question"):
            continue  # Wayground's second row explains the first
        with report.question(line):
            reading.question(cells)


def _choices_of(cells: Sequence[str], layout: Layout) -> list[str]:
    if layout.options:
        return [cells[at].strip() if at < len(cells) else "" for at in layout.options]
    return split_options(layout.cell(cells, "options"))


def split_options(cell: str) -> list[str]:
    """Choices that share one cell, parted by line ends, `|`, `;` or labels such as "A) … B) …"."""
    for mark in ("\n", "|", ";", "；"):
        if mark in cell:
            parts = [part.strip() for part in cell.split(mark) if part.strip()]
            break
    else:
        parts = [part.strip() for part in re.split(r"(?:^|\s+|[,，、]\s*)(?=\(?[A-Ha-h][).:、]\s?\S)", cell) if part and part.strip()]
        if len(parts) < 2 and "," in cell:
            parts = [part.strip() for part in cell.split(",") if part.strip()]
    labels = [label_at(part) for part in parts]
    if parts and all(label is not None and label.mark == "abcdefghijklmnopqrstuvwxyz"[i : i + 1] for i, label in enumerate(labels)):
        return [label.rest.strip() for label in labels if label is not None]
    return parts


def _keys_are_texts(rows: Sequence[Row], layout: Layout, report: Report) -> bool:
    """Whether the keys of this file are the choices' texts and not their letters or numbers."""
    as_text = as_mark = 0
    unsure: list[int] = []
    for line, cells in rows[:2_000]:
        key = layout.cell(cells, "key")
        choices = [choice for choice in _choices_of(cells, layout) if choice]
        if not key or len(choices) < 2:
            continue
        is_text = bool(_positions_by_text(key, choices))
        is_mark = keys_in(key, _labels(len(choices))) is not None
        as_text += is_text
        as_mark += is_mark
        if is_text and is_mark and _positions_by_text(key, choices) != keys_in(key, _labels(len(choices))):
            unsure.append(line)
    if unsure and as_text == as_mark:
        shown = ", ".join(map(str, unsure[:10]))
        report.warn(unsure[0], "KEY-UNSURE", f"a key can be a choice's text or its number; read as text in line {shown}. Please check.", "")
    return as_text >= as_mark


def _labels(count: int) -> list[str]:
    return [choice_id(i) for i in range(count)]


def _by_mark(key: str, count: int) -> tuple[int, ...] | None:
    key = re.sub(r"(?<=\d)\.0+\b", "", key)  # a spreadsheet's 2.0
    key = re.sub(r"\b(?:option|answer|choice|antwort|réponse|вариант|选项)\s*(?=[A-Za-z0-9]\b)", "", key, flags=re.IGNORECASE)
    return keys_in(key, _labels(count))


def _positions_by_text(key: str, choices: Sequence[str]) -> tuple[int, ...]:
    folded = [" ".join(choice.split()).casefold() for choice in choices]
    wanted = " ".join(key.split()).casefold()
    if wanted in folded:
        return (folded.index(wanted),)
    for mark in ("\n", "|", ";", "；", ","):
        parts = [" ".join(part.split()).casefold() for part in key.split(mark) if part.strip()]
        if len(parts) > 1 and all(part in folded for part in parts):
            return tuple(sorted({folded.index(part) for part in parts}))
    return ()


class _Reading:
    def __init__(self, layout: Layout, report: Report, several: Several, by_position: bool) -> None:
        self.layout = layout
        self.report = report
        self.several = several
        self.by_position = by_position
        self.markdown = self.lettered = False  # of the row at hand: cells are Markdown, the key can only be letters

    def question(self, cells: Sequence[str]) -> None:
        layout, report = self.layout, self.report
        pictures = Pictures()
        markdown = layout.cell(cells, "markup").casefold() == "markdown"

        def shown(text: str) -> str:
            text = text.strip()
            if markdown:
                return keep_pictures(text, pictures)
            return html_to_markdown(text, pictures, keep_newlines=True) if has_html(text) else plain_to_markdown(normalise_latex(text))

        stem = shown(layout.cell(cells, "stem"))
        if not stem:
            raise Unusable("ROW-STEM", "the row has no question. Fill in its cell or remove the row.")
        if image := layout.cell(cells, "image"):
            stem = f"{stem}\n{pictures.add(image)}".strip()
        kind = _type_of(layout.cell(cells, "type"))
        choices = [shown(choice) for choice in _choices_of(cells, layout)]
        wrong = [shown(cells[at]) for at in layout.wrong if at < len(cells) and cells[at].strip()]
        letters = layout.cell(cells, "letters")
        key = letters or layout.cell(cells, "key")
        tags = [tag.strip() for tag in re.split(r"[,;|]", layout.cell(cells, "tags")) if tag.strip()]
        question = Question(
            id="",
            stem=self._translated(cells, "stem", 0, stem, shown),
            body=Open(),
            explanation=self._optional(cells, "explanation", shown),
            hints=(Text.of(shown(hint)),) if (hint := layout.cell(cells, "hint")) else (),
            difficulty=self._difficulty(layout.cell(cells, "difficulty")),
            points=self._number(cells, "points", 1.0, 0.0, 1_000.0),
            time_limit_s=round(self._number(cells, "time", 0.0, 0.0, 3_600.0)) or None,
            tags=tuple(tags),
        )
        self.markdown, self.lettered = markdown, bool(letters)
        body = self._body(kind, choices, wrong, key, shown, cells)
        question = replace(question, body=body, media=pictures.media)
        if isinstance(body, Choices) and not any(choice.credit > 0 for choice in body.choices):
            what = f"the key {key[:40]!r} is none of the choices" if key else "the row has no key"
            report.add_draft(question, "ROW-KEY", f"{what}; kept as a draft. Give a letter, a number or the text of a choice.")
            return
        report.add(question, layout.cell(cells, "id"))

    def _body(
        self, kind: str, choices: list[str], wrong: list[str], key: str, shown: Callable[[str], str], cells: Sequence[str]
    ) -> Choices | TrueFalse | Short | Open | Match | Order:
        filled = [(i, choice) for i, choice in enumerate(choices) if choice]
        texts = [choice for _, choice in filled]
        if kind == "refused":
            raise Unusable("ROW-TYPE", f"questions of the type {self.layout.cell(cells, 'type')[:40]!r} have no place in Discord.")
        if kind == "open":
            return Open(reference=text_or_none(shown(key) or "\n".join(texts)))
        if kind == "match":
            return _pairs(texts)
        if kind == "order":
            return Order(tuple(Item(choice_id(i), Text.of(text)) for i, text in enumerate(texts)))
        if wrong and key:
            return Choices(lettered((plain_to_markdown(key), *wrong), (0,)))
        if kind in ("short", "number") or len(texts) < 2:
            return self._typed(kind, texts, key, cells)
        places = self._places(key, choices, filled)
        truth = truth_in(texts[places[0]]) if len(places) == 1 and true_false_pair(texts) else None
        if truth is not None:
            return TrueFalse(truth)
        many = kind == "multiple" or (len(places) > 1 and self.several == "all" and kind != "single")
        return Choices(lettered(texts, places), many=many and bool(places), scoring=Scoring.ALL_OR_NOTHING)

    def _places(self, key: str, choices: list[str], filled: list[tuple[int, str]]) -> tuple[int, ...]:
        """Positions among the filled choices. A number counts the columns, empty ones too."""
        by_text = _positions_by_text(key, [markdown_to_plain(choice) for _, choice in filled]) if key else ()
        marks = _by_mark(key, len(choices)) if key else None
        column_of = {column: i for i, (column, _) in enumerate(filled)}
        by_mark = tuple(column_of[place] for place in marks or () if place in column_of) if marks else ()
        if marks and len(by_mark) < len(marks):
            by_mark = ()  # it names an empty cell
        if self.lettered:
            return by_mark
        first, second = (by_mark, by_text) if self.by_position else (by_text, by_mark)
        return first or second

    def _typed(self, kind: str, texts: list[str], key: str, cells: Sequence[str]) -> Short | TrueFalse | Open:
        """No choices to press: the answer is typed, true or false, or too long to be either."""
        if kind != "number" and not texts and kind != "short" and (truth := truth_in(key)) is not None and key.casefold() not in ("x", "o"):
            return TrueFalse(truth)
        accepted = texts if texts and not key else [part.strip() for part in re.split(r"\n" if self.markdown else r"[\n|]", key)]
        accepted = [part for part in accepted if part]
        if not accepted:
            raise Unusable("ROW-KEY", "the row has neither choices nor an answer. Fill in one of them.")
        if kind == "number":
            tolerance = self._number(cells, "tolerance", 0.0, 0.0, 1e12)
            numbers = [number_in(text) for text in accepted]
            if None in numbers:
                raise Unusable("ROW-NUMBER", f"the answer {key[:40]!r} is no number. Write digits.")
            return Short(accept=tuple(Accept(number=number, tolerance=tolerance) for number in numbers))
        plain = accepted if self.markdown else [markdown_to_plain(html_to_markdown(text) if has_html(text) else text) for text in accepted]
        if kind == "short" or max(map(len, plain)) < SHORT_ANSWER:
            return Short(accept=tuple(Accept(text=text) for text in dict.fromkeys(plain) if text))
        return Open(reference=Text.of(html_to_markdown(key, keep_newlines=True) if has_html(key) else plain_to_markdown(key)))

    def _translated(self, cells: Sequence[str], name: str, number: int, neutral: str, shown: Callable[[str], str]) -> Text:
        columns = self.layout.languages.get((name, number), {})
        found = {language: shown(cells[at]) for language, at in columns.items() if language and at < len(cells) and cells[at].strip()}
        return Text(found) if found else Text.of(neutral)

    def _optional(self, cells: Sequence[str], name: str, shown: Callable[[str], str]) -> Text | None:
        text = self.layout.cell(cells, name)
        return self._translated(cells, name, 0, shown(text), shown) if text else None

    def _number(self, cells: Sequence[str], name: str, default: float, low: float, high: float) -> float:
        text = self.layout.cell(cells, name)
        if not text:
            return default
        value = number_in(re.sub(r"\s*(?:s|sec|secs|seconds?|sek|с|сек|秒|초|points?|p)\.?$", "", text, flags=re.IGNORECASE))
        if value is None or not low <= value <= high or (value == 0 and name == "points"):
            self.report.warn(0, "ROW-FIELD", f"{name} {text[:40]!r} is no number up to {high:g}; the default was taken.")
            return default
        return value

    def _difficulty(self, text: str) -> int:
        if not text:
            return 3
        level = _DIFFICULTY.get(text.casefold()) or (int(text) if text in ("1", "2", "3", "4", "5") else None)
        if level is None:
            self.report.note(0, "ROW-FIELD", f"the difficulty {text[:40]!r} is unknown; medium was taken.")
        return level or 3


def _type_of(text: str) -> str:
    """One of "", single, multiple, truefalse, short, number, open, match, order, refused."""
    name = re.sub(r"[\s_-]+", " ", text).strip().casefold()
    for kind, pattern in _TYPES:
        if pattern.search(name):
            return kind
    return ""


_TYPES: Final = (
    ("refused", re.compile(r"\bdraw|hotspot|upload|audio response|video response|绘图")),
    (
        "multiple",
        re.compile(r"checkbox|multiple (?:answers?|select|response|correct)|multi ?select|mehrfach|^multiple$|^mr$|多选|複数選択|복수"),
    ),
    ("truefalse", re.compile(r"true ?/? ?(?:or )?false|^t ?/ ?f$|^tf$|truefalse|wahr|vrai|verdadero|判断|○×|ox")),
    ("single", re.compile(r"multiple choice|^mcq?$|single|choice|quiz|单选|択一|객관식|einfach")),
    ("number", re.compile(r"numeric|number|zahl|数值|숫자")),
    ("short", re.compile(r"fill|short|blank|type (?:the )?answer|identification|lückentext|kurz|填空|簡答|简答|記述|주관식|단답")),
    ("open", re.compile(r"open|essay|poll|long|paragraph|freitext|aufsatz|问答|論述|서술")),
    ("match", re.compile(r"match|zuordnung|连线|配对")),
    ("order", re.compile(r"order|sequence|reorder|sort|reihenfolge|排序")),
)


def _pairs(texts: list[str]) -> Match:
    pairs: list[Pair] = []
    distractors: list[Item] = []
    for text in texts:
        left, arrow, right = re.sub(r"\s*(?:→|=>|->)\s*", "\x00", text, count=1).partition("\x00")
        if not arrow or not right:
            raise Unusable("ROW-PAIR", f"the pair {text[:40]!r} has no '->'. Write left -> right.")
        if left:
            pairs.append(Pair(choice_id(len(pairs)), Text.of(left), Text.of(right)))
        else:
            distractors.append(Item(f"x{len(distractors) + 1}", Text.of(right)))
    return Match(tuple(pairs), tuple(distractors))
