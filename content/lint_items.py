"""Item-writing rules: what a question, or a whole quiz, gives away without meaning to.

Every rule looks at one quiz at a time and takes time linear in its questions: what could be compared pairwise is looked up
in a table instead. Texts are compared per language, as a reader of that language sees them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from content.findings import Findings
from content.lint_words import (
    ABSOLUTE,
    ALL_OR_NONE,
    NEGATIVE,
    NEGATIVE_WINDOW,
    OPTION_MAX,
    THINKING_S,
    reading_s,
)
from content.model import NEUTRAL, Choice, Choices, Info, Match, Open, Order, Question, Quiz, Short, Text, TrueFalse

LEAST_FOR_BIAS: Final = 4
"""Questions below which a pattern of keys is chance: three of four keys at one place happen once in twenty quizzes."""
COMMON_STEMS: Final = 3
"""A key found in this many other stems is the quiz's vocabulary, not a hint."""
LONGEST_KEY: Final = 12
"""Words (or Chinese characters) of a key up to which it is looked for in other stems."""

_MARKS = re.compile(r"[*_`~]+")
_SPACES = re.compile(r"\s+")
_UNEVEN = re.compile(r"[*_`~\t\n\r\f\v\u00a0\u3000]|  ")
_TOKENS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
_TECHNICAL = re.compile(r"[a-z][A-Z]|[A-Za-z]_|[A-Za-z][0-9]|[0-9][A-Za-z]")
_RANGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:-|–|—|to|…|\.\.)\s*([0-9]+(?:\.[0-9]+)?)(\D{0,20})", re.IGNORECASE)


def written(text: Text, language: str) -> str | None:
    """The text as written for this language, or for all; None where a reader would see a fallback."""
    by_language = text.by_language
    return by_language.get(language) or by_language.get(NEUTRAL)


def normal(option: str) -> str:
    """An option as it is compared: without emphasis, case, outer punctuation and differences in spacing."""
    if _UNEVEN.search(option) is not None:
        option = _SPACES.sub(" ", _MARKS.sub("", option))
    return option.strip(" .。;；,，!！?？").casefold()


def lint_items(quiz: Quiz, findings: Findings) -> None:
    for question in quiz.questions:
        body = question.body
        if isinstance(body, Info):
            continue
        if isinstance(body, Choices):
            _options(quiz, question, body, findings)
        elif isinstance(body, Match | Order):
            _parts(quiz, question, body, findings)
        if isinstance(body, Choices | TrueFalse):
            _negative(quiz, question, findings)
        if question.time_limit_s is not None:
            _time(quiz, question, question.time_limit_s, findings)
        _explained(quiz, question, findings)
    _positions(quiz, findings)
    _lengths(quiz, findings)
    _giveaways(quiz, findings)
    _twins(quiz, findings)


def _options(quiz: Quiz, question: Question, body: Choices, findings: Findings) -> None:
    told: set[tuple[str, str]] = set()  # rule and choice: said once, not once per language
    for language in quiz.languages:
        seen: dict[str, str] = {}
        keyed = False
        absolute: list[tuple[Choice, str]] = []
        for choice in body.choices:
            text = written(choice.text, language)
            if text is None:
                continue
            option = normal(text)
            if not option:
                continue
            if len(option) <= OPTION_MAX and ALL_OR_NONE.match(option) and ("all", choice.id) not in told:
                told.add(("all", choice.id))
                what = f"choice {choice.id!r} is {text[:50]!r}."
                remedy = "Replace it: such options reward guessing, and mean nothing once choices are shuffled."
                findings.question(quiz, question, "OPTION-ALL-NONE", what, remedy, ("choices", choice.id, "text"), language)
            found = ABSOLUTE.search(option)
            if found is not None:
                keyed = keyed or choice.credit > 0
                absolute.append((choice, found.group()))
            other = seen.setdefault(option, choice.id)
            if other != choice.id and not _differ_by_case(body, other, text, language) and ("same", choice.id) not in told:
                told.add(("same", choice.id))
                what = f"choices {other!r} and {choice.id!r} say the same{_in(language, choice.text)}: {text[:40]!r}."
                findings.question(quiz, question, "OPTION-DUPLICATE", what, "Change one.", ("choices", choice.id, "text"), language)
        if not keyed:
            for choice, word in absolute:
                if ("absolute", choice.id) not in told:
                    told.add(("absolute", choice.id))
                    what = f"only wrong options are absolute: choice {choice.id!r} says {word!r}."
                    remedy = "Soften it; test-wise learners rule out such options."
                    findings.question(quiz, question, "OPTION-ABSOLUTE", what, remedy, ("choices", choice.id, "text"), language)
        if not body.many:
            _overlap(quiz, question, seen, language, told, findings)


def _differ_by_case(body: Choices, other: str, text: str, language: str) -> bool:
    """`b` and `B`, `mb` and `MB` are different answers; short options are compared with their case."""
    first = next((written(choice.text, language) for choice in body.choices if choice.id == other), None)
    return first is not None and len(text) <= 4 and first.strip() != text.strip()


def _in(language: str, text: Text) -> str:
    return "" if NEUTRAL in text.by_language else f" ({language})"


def _overlap(
    quiz: Quiz, question: Question, options: Mapping[str, str], language: str, told: set[tuple[str, str]], findings: Findings
) -> None:
    if len(options) > 25:
        return  # LIMIT-CHOICES says so; no pairs of hundreds
    names = list(options.items())
    for index, (one, _) in enumerate(names):
        for two, second in names[index + 1 :]:
            short, long = (one, two) if len(one) <= len(two) else (two, one)
            if (len(short) >= 8 or (len(short) >= 4 and not short.isascii())) and short in long:
                inside = re.search(rf"(?<!\w){re.escape(short)}(?!\w)", long) is not None
            else:
                inside = _ranges_overlap(one, two)
            if inside and ("overlap", second) not in told:
                told.add(("overlap", second))
                what = f"choice {options[short]!r} is part of choice {options[long]!r} ({short[:40]!r})."
                remedy = "Let options exclude each other, or a learner can defend two of them."
                findings.question(quiz, question, "OPTION-OVERLAP", what, remedy, ("choices", options[long], "text"), language)


def _ranges_overlap(one: str, two: str) -> bool:
    if not (one[:1].isdigit() and two[:1].isdigit()):
        return False
    first, second = _RANGE.fullmatch(one), _RANGE.fullmatch(two)
    if first is None or second is None or first.group(3).strip() != second.group(3).strip():
        return False
    low, high = max(float(first.group(1)), float(second.group(1))), min(float(first.group(2)), float(second.group(2)))
    return low < high


def _parts(quiz: Quiz, question: Question, body: Match | Order, findings: Findings) -> None:
    columns: list[tuple[str, str, list[tuple[str, Text]]]]
    if isinstance(body, Order):
        columns = [("items", "text", [(item.id, item.text) for item in body.items])]
    else:
        rights = [(pair.id, pair.right) for pair in body.pairs] + [(item.id, item.text) for item in body.distractors]
        columns = [("pairs", "left", [(pair.id, pair.left) for pair in body.pairs]), ("pairs", "right", rights)]
    for key, field, texts in columns:
        told: set[str] = set()
        for language in quiz.languages:
            seen: dict[str, str] = {}
            for name, text in texts:
                option = normal(written(text, language) or "")
                other = seen.setdefault(option, name) if option else name
                if other != name and name not in told:
                    told.add(name)
                    what = f"{field} of {other!r} and {name!r} say the same: {option[:40]!r}."
                    findings.question(quiz, question, "OPTION-DUPLICATE", what, "Change one.", (key, name, field), language)


def _negative(quiz: Quiz, question: Question, findings: Findings) -> None:
    for language in quiz.languages:
        pattern = NEGATIVE.get(language.partition("-")[0])
        stem = question.stem.by_language.get(language) or (
            question.stem.by_language.get(NEUTRAL) if language == quiz.languages[0] else None
        )
        if pattern is None or stem is None:
            continue
        found = pattern.search(stem[:NEGATIVE_WINDOW])
        if found is None or isinstance(question.body, TrueFalse):
            continue
        name, word = next((name, word) for name, word in found.groupdict().items() if word)
        if _emphasised(stem, found.start(name), found.end(name), word):
            continue
        what = f"the stem asks for what is not ({language}: {word!r}) without emphasis."
        findings.question(quiz, question, "STEM-NEGATIVE", what, f"Ask positively, or write **{word}**.", ("stem",), language)


def _emphasised(stem: str, start: int, end: int, word: str) -> bool:
    around = stem[max(0, start - 12) : start], stem[start : end + 3]
    if any(mark in around[0] or mark in around[1] for mark in ("**", "__")):
        return True
    last = word.split()[-1]
    return (last.isupper() and len(last) > 1) or bool(re.search(r"[*_]\s*$", around[0]))


def _time(quiz: Quiz, question: Question, limit_s: int, findings: Findings) -> None:
    for language in quiz.languages:
        texts = [written(text, language) for text in read_before_answering(question)]
        needed = sum(reading_s(text, language) for text in texts if text is not None) + THINKING_S
        if needed > limit_s:
            what = f"the time limit is {limit_s} s, reading it takes about {needed:.0f} s ({language})."
            findings.question(quiz, question, "TIME-SHORT", what, f"Allow {int(needed * 1.5) + 1} s, or shorten it.", ("time_limit",))
            return


def read_before_answering(question: Question) -> Iterator[Text]:
    yield question.stem
    match question.body:
        case Choices(choices=choices):
            yield from (choice.text for choice in choices)
        case Order(items=items):
            yield from (item.text for item in items)
        case Match(pairs=pairs, distractors=distractors):
            for pair in pairs:
                yield pair.left
                yield pair.right
            yield from (item.text for item in distractors)
        case Short(blanks=blanks):
            for blank in blanks:
                yield from (choice.text for choice in blank.choices)
        case _:
            return


def _explained(quiz: Quiz, question: Question, findings: Findings) -> None:
    body = question.body
    if isinstance(body, Open):
        missing = " and ".join(name for name, there in (("reference answer", body.reference), ("rubric", body.rubric)) if not there)
        if missing:
            findings.question(quiz, question, "REFERENCE-MISSING", f"there is no {missing}.", "Add it: answers are compared with it.")
        return
    if question.explanation is None:
        findings.question(quiz, question, "EXPLANATION-MISSING", "there is no explanation.", "Say why the key is right.")
    if isinstance(body, Choices):
        silent = [choice.id for choice in body.choices if choice.feedback is None and choice.credit < 1]
        if silent:
            what = f"wrong choices without feedback: {', '.join(silent)}."
            findings.question(quiz, question, "FEEDBACK-MISSING", what, "Say why each is wrong.")


def _singles(quiz: Quiz) -> list[tuple[Question, Choices, int]]:
    """Single-choice questions of three choices or more, with the position of the key."""
    found: list[tuple[Question, Choices, int]] = []
    for question in quiz.questions:
        body = question.body
        if isinstance(body, Choices) and not body.many and len(body.choices) > 2:
            found.append((question, body, next((at for at, choice in enumerate(body.choices) if choice.credit >= 1), 0)))
    return found


def _positions(quiz: Quiz, findings: Findings) -> None:
    singles = _singles(quiz)
    if len(singles) >= LEAST_FOR_BIAS:
        place, count = Counter(at for _, _, at in singles).most_common(1)[0]
        if count * 2 > len(singles):
            what = f"{count} of {len(singles)} keys are at position {place + 1}."
            findings.quiz(quiz, "KEY-POSITION", what, "Spread them: exports and printed copies are not shuffled.", "questions")
    answers = [question.body.answer for question in quiz.questions if isinstance(question.body, TrueFalse)]
    if len(answers) >= LEAST_FOR_BIAS and len(set(answers)) == 1:
        what = f"all {len(answers)} true/false questions are {str(answers[0]).lower()}."
        findings.quiz(quiz, "KEY-POSITION", what, "Turn some of them round.", "questions")


def _lengths(quiz: Quiz, findings: Findings) -> None:
    singles = _singles(quiz)
    if len(singles) < LEAST_FOR_BIAS:
        return
    for language in quiz.languages:
        longest = compared = 0
        for _, body, key in singles:
            lengths = [len(written(choice.text, language) or "") for choice in body.choices]
            if not all(lengths):
                continue
            compared += 1
            longest += lengths[key] > max(length for at, length in enumerate(lengths) if at != key)
        if compared >= LEAST_FOR_BIAS and longest * 2 > compared:
            what = f"the longest option is right in {longest} of {compared} questions ({language})."
            findings.quiz(quiz, "KEY-LENGTH", what, "Lengthen distractors or shorten keys.", "questions")


def _keys(question: Question, language: str) -> Iterator[str]:
    match question.body:
        case Choices(choices=choices):
            texts = (written(choice.text, language) for choice in choices if choice.credit >= 1)
        case Short(accept=accept):
            texts = (entry.text for entry in accept if entry.credit >= 1 and entry.language in (None, language))
        case _:
            return
    yield from (text for text in texts if text is not None)


def _tokens(text: str) -> list[str]:
    return _TOKENS.findall(text.casefold())


def _giveaways(quiz: Quiz, findings: Findings) -> None:
    told: set[tuple[str, str]] = set()
    for language in quiz.languages:
        stems: list[tuple[Question, list[str]]] = []
        wanted: dict[tuple[str, ...], list[Question]] = {}
        lengths: dict[str, set[int]] = {}
        for question in quiz.questions:
            stem = written(question.stem, language)
            if stem is None:
                continue
            stems.append((question, _tokens(stem)))
            for key in _keys(question, language):
                tokens = tuple(_tokens(key))
                if _tells(key, tokens):
                    wanted.setdefault(tokens, []).append(question)
                    lengths.setdefault(tokens[0], set()).add(len(tokens))
        found: dict[tuple[str, ...], list[Question]] = {}
        for question, tokens in stems:
            for at, token in enumerate(tokens):
                for length in lengths.get(token, ()):
                    key = tuple(tokens[at : at + length])
                    if key in wanted and (key not in found or found[key][-1] is not question):
                        found.setdefault(key, []).append(question)
        for key, holders in found.items():
            owners = wanted[key]
            named = {owner.id for owner in owners}
            others = [holder for holder in holders if holder.id not in named]
            if len(others) >= COMMON_STEMS or len(others) != len(holders):
                continue  # vocabulary, or in the owner's own stem and so no secret
            for holder in others:
                pair = (holder.id, owners[0].id)
                if pair not in told:
                    told.add(pair)
                    what = f"the stem holds {' '.join(key)!r}, the key of question {owners[0].id!r} ({language})."
                    findings.question(
                        quiz, holder, "STEM-GIVEAWAY", what, "Reword it, or put the two in different quizzes.", ("stem",), language
                    )


def _tells(key: str, tokens: tuple[str, ...]) -> bool:
    """Whether a key is particular enough to give something away: two words, four Chinese characters, or a technical name."""
    if not tokens or len(tokens) > LONGEST_KEY:
        return False
    if len(tokens) == 1:
        return len(key) >= 5 and _TECHNICAL.search(key) is not None
    wide = sum("\u3400" <= token <= "\u9fff" for token in tokens)
    return wide >= 4 if wide == len(tokens) else len(key) >= 8


def _twins(quiz: Quiz, findings: Findings) -> None:
    """The same stem with the same options; one stem with other options is a series and fine."""
    language = quiz.languages[0]
    by_stem: dict[str, list[Question]] = {}
    for question in quiz.questions:
        if not isinstance(question.body, Info):
            by_stem.setdefault(normal(written(question.stem, language) or ""), []).append(question)
    for twins in by_stem.values():
        seen: dict[tuple[str, ...], Question] = {}
        for question in twins if len(twins) > 1 else ():
            parts = tuple(sorted(normal(written(text, language) or "") for text in read_before_answering(question)))
            first = seen.setdefault((question.type, *parts), question)
            if first is not question:
                what = f"stem and options are those of question {first.id!r} (line {first.line})."
                findings.question(quiz, question, "STEM-DUPLICATE", what, "Remove one, or ask something else.", ("stem",))
