"""Hypothesis strategies for quizzes that authors could have written, by question type."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from content.model import (
    Accept,
    Choice,
    Choices,
    Info,
    Item,
    Match,
    Open,
    Pair,
    Question,
    Quiz,
    Scoring,
    Short,
    Text,
    TrueFalse,
)
from content.readers.base import choice_id

# every sign that some format gives a meaning to, and letters of several scripts
ALPHABET = "ab cdeZ019 ~=#{}:\\%*_`$<>&|\"'()[]@^-+.,;/!?\n\téßΩяЖ中文한글عב½→…😀"
plain_words = st.text(alphabet="abc deZ019 .,;?!'éßΩяЖ中文한글عב()-", min_size=1, max_size=40)
wild_words = st.text(alphabet=ALPHABET, min_size=1, max_size=60)


def trimmed(strategy):
    """Texts without space around and without blank lines inside, as every reader returns them."""
    return strategy.map(lambda text: "\n".join(line.strip() for line in text.strip().split("\n") if line.strip())).filter(bool)


def texts(words):
    return trimmed(words).map(Text.of)


def maybe(strategy):
    return st.none() | strategy


def single(words, *, weights=False, feedback=True):
    @st.composite
    def build(draw):
        count = draw(st.integers(2, 6))
        right = draw(st.integers(0, count - 1))
        partial = st.sampled_from([0.0, 0.0, 0.25, 0.5, -0.3333333, -1.0]) if weights else st.just(0.0)
        rows = tuple(
            Choice(choice_id(i), draw(texts(words)), 1.0 if i == right else draw(partial), draw(maybe(texts(words))) if feedback else None)
            for i in range(count)
        )
        return Choices(rows)

    return build()


def multiple(words, *, scorings=(Scoring.ALL_OR_NOTHING, Scoring.PER_CHOICE), feedback=True):
    @st.composite
    def build(draw):
        count = draw(st.integers(2, 7))
        keys = draw(st.sets(st.integers(0, count - 1), min_size=1))
        scoring = draw(st.sampled_from(scorings))
        wrong = st.sampled_from([0.0, -0.5, -0.25]) if scoring is Scoring.PER_CHOICE else st.just(0.0)
        rows = tuple(
            Choice(choice_id(i), draw(texts(words)), 1.0 if i in keys else draw(wrong), draw(maybe(texts(words))) if feedback else None)
            for i in range(count)
        )
        return Choices(rows, many=True, scoring=scoring)

    return build()


def true_false(words, *, feedback=True):
    said = st.dictionaries(st.booleans(), texts(words)) if feedback else st.just({})
    return st.builds(TrueFalse, st.booleans(), said)


def short(words, *, credit=True, feedback=True):
    """Typed answers; the first is right."""
    one_line = trimmed(words).map(lambda text: " ".join(text.split()))

    @st.composite
    def build(draw):
        answers = draw(st.lists(one_line, min_size=1, max_size=4, unique_by=str.casefold))
        rows = [
            Accept(
                text=answer,
                credit=1.0 if i == 0 or not credit else draw(st.sampled_from([1.0, 0.5, 0.0])),
                feedback=draw(maybe(texts(words))) if feedback else None,
            )
            for i, answer in enumerate(answers)
        ]
        return Short(accept=tuple(rows))

    return build()


numbers = st.integers(-(10**9), 10**9).map(float) | st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


def numeric(words, *, spans=True, most=3, feedback=True):
    @st.composite
    def build(draw):
        rows = []
        for i in range(draw(st.integers(1, most))):
            credit = 1.0 if i == 0 else draw(st.sampled_from([1.0, 0.5, 0.0]))
            said = draw(maybe(texts(words))) if feedback else None
            if spans and draw(st.booleans()):
                low, high = sorted((draw(numbers), draw(numbers)))
                rows.append(Accept(span=(low, high), credit=credit, feedback=said))
            else:
                slack = draw(st.sampled_from([0.0, 0.0, 0.5, 0.001, 12.0]))
                rows.append(Accept(number=draw(numbers), tolerance=slack, credit=credit, feedback=said))
        return Short(accept=tuple(rows))

    return build()


def matching(words):
    @st.composite
    def build(draw):
        sides = texts(words)
        pairs = tuple(Pair(choice_id(i), draw(sides), draw(sides)) for i in range(draw(st.integers(2, 4))))
        distractors = tuple(Item(f"x{i + 1}", draw(sides)) for i in range(draw(st.integers(0, 2))))
        return Match(pairs, distractors, draw(st.sampled_from([Scoring.ALL_OR_NOTHING, Scoring.PER_CHOICE])))

    return build()


essays = st.just(Open())
infos = st.just(Info())


def questions(bodies, words, *, titles=True, explanations=True):
    @st.composite
    def build(draw):
        body = draw(bodies)
        title = draw(maybe(trimmed(words).map(lambda text: " ".join(text.split())))) if titles else None
        return Question(
            id="q",
            stem=draw(texts(words)),
            body=body,
            title=Text.of(title) if title else None,
            explanation=draw(maybe(texts(words))) if explanations and not isinstance(body, Info) else None,
        )

    return build()


def quizzes(bodies, words, **options):
    """One to three questions; ids are given by place."""

    def build(found):
        numbered = tuple(replace(question, id=f"n{i}") for i, question in enumerate(found, 1))
        return Quiz(id="sample", version=1, title=Text.of("Sample"), languages=("en",), questions=numbered)

    return st.lists(questions(bodies, words, **options), min_size=1, max_size=3).map(build)
