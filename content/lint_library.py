"""Rules across files: links between guides, quizzes and courses; translations and fallbacks; the facts that texts rest on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from content.fields import similar
from content.findings import Findings, Steps
from content.lint_text import HOSTS, suspicious
from content.lint_text import findings as text_findings
from content.model import (
    NEUTRAL,
    Choices,
    Guide,
    GuideRef,
    Info,
    Library,
    Match,
    Open,
    Order,
    Question,
    Quiz,
    Section,
    Short,
    Text,
    TrueFalse,
)

SENTENCE_WORDS: Final = 4
"""Words from which a text without a language is a sentence in some language, rather than a name or a number."""

_INNER_LINK = re.compile(r"\]\([ \t]*#([^()\s]{1,100})\)")
Part = tuple[str, Steps, Text]


def parts(question: Question) -> list[Part]:
    """Every text of a question, with what to call it and where it stands."""
    found: list[Part] = [("stem", ("stem",), question.stem)]
    if question.title is not None:
        found.append(("title", ("title",), question.title))
    if question.explanation is not None:
        found.append(("explanation", ("explanation",), question.explanation))
    found += [(f"hint {at + 1}", ("hints", str(at)), hint) for at, hint in enumerate(question.hints)]
    found += [(f"alt of {medium.id}", ("media", medium.id, "alt"), medium.alt) for medium in question.media]
    match question.body:
        case Choices(choices=choices):
            for choice in choices:
                found.append((f"choice {choice.id}", ("choices", choice.id, "text"), choice.text))
                if choice.feedback is not None:
                    found.append((f"feedback of {choice.id}", ("choices", choice.id, "feedback"), choice.feedback))
        case TrueFalse(feedback=feedback):
            for key, text in feedback.items():
                name = str(key).lower()
                found.append((f"feedback for {name}", ("feedback", name), text))
        case Short():
            found += _short_parts(question.body)
        case Open():
            found += _open_parts(question.body)
        case Order(items=items):
            found += [(f"item {item.id}", ("items", item.id, "text"), item.text) for item in items]
        case Match(pairs=pairs, distractors=distractors):
            for pair in pairs:
                found.append((f"left of {pair.id}", ("pairs", pair.id, "left"), pair.left))
                found.append((f"right of {pair.id}", ("pairs", pair.id, "right"), pair.right))
            found += [(f"distractor {item.id}", ("distractors", item.id, "right"), item.text) for item in distractors]
        case Info():
            pass
    return found


def _short_parts(body: Short) -> Iterator[Part]:
    if body.reveal is not None:
        yield "reveal", ("reveal",), body.reveal
    for at, entry in enumerate(body.accept):
        if entry.feedback is not None:
            yield f"feedback of answer {at + 1}", ("accept", str(at), "feedback"), entry.feedback
    for blank in body.blanks:
        for choice in blank.choices:
            yield f"choice {choice.id} of gap {blank.id}", ("blanks", blank.id, "choices", choice.id, "text"), choice.text
            if choice.feedback is not None:
                yield f"feedback of {choice.id}", ("blanks", blank.id, "choices", choice.id, "feedback"), choice.feedback
        for at, entry in enumerate(blank.accept):
            if entry.feedback is not None:
                yield f"feedback in gap {blank.id}", ("blanks", blank.id, "accept", str(at), "feedback"), entry.feedback


def _open_parts(body: Open) -> Iterator[Part]:
    if body.reference is not None:
        yield "reference", ("reference",), body.reference
    for point in body.rubric:
        yield f"rubric point {point.id}", ("rubric", point.id, "criterion"), point.criterion
        for at, level in enumerate(point.levels):
            yield f"level {at + 1} of {point.id}", ("rubric", point.id, "levels", str(at), "text"), level.text
    for at, probe in enumerate(body.probes):
        yield f"probe {at + 1}", ("probes", str(at)), probe


def lint_texts(quiz: Quiz, findings: Findings, hosts: Collection[str] = HOSTS) -> None:
    """Languages and safety of every text of a quiz, in one pass over them."""
    several = len(quiz.languages) > 1
    written = {language for question in quiz.questions for language in question.stem.by_language}
    absent = [language for language in quiz.languages if language not in written and NEUTRAL not in written]
    for language in absent:
        findings.quiz(
            quiz, "TRANS-MISSING", f"No question is written in {language!r}.", "Translate it, or leave it out of languages.", "languages"
        )
    wanted = frozenset(quiz.languages) - frozenset(absent)
    for text, key in ((quiz.title, "title"), (quiz.description, "description")):
        for each in text or ():
            for found in text_findings(each, hosts) if suspicious(each) else ():
                findings.quiz(quiz, found.code, f"The {key} {found.what}.", found.remedy, key)
        missing = [] if text is None or NEUTRAL in text.by_language else sorted(wanted - text.by_language.keys())
        if missing:
            what = f"The {key} has no {', '.join(missing)}; its readers see another language."
            findings.quiz(quiz, "TRANS-FALLBACK", what, "Translate it.", key)
    for question in quiz.questions:
        texts = parts(question)
        if several:
            _fallbacks(quiz, question, texts, wanted, findings)
        if suspicious("\n".join(each for _, _, text in texts for each in text.by_language.values())):
            for name, steps, text in texts:
                for language, each in text.by_language.items():
                    for found in text_findings(each, hosts) if suspicious(each) else ():
                        where = f"{name} ({language})" if language else name
                        findings.question(quiz, question, found.code, f"{where} {found.what}.", found.remedy, steps, language, found.needle)


def _fallbacks(quiz: Quiz, question: Question, texts: list[Part], wanted: frozenset[str], findings: Findings) -> None:
    lacking: dict[str, list[str]] = {}
    neutral: list[str] = []
    for name, _, text in texts:
        by_language = text.by_language
        if NEUTRAL in by_language:
            if by_language[NEUTRAL].count(" ") >= SENTENCE_WORDS - 1 and "`" not in by_language[NEUTRAL]:
                neutral.append(name)
        elif len(by_language) < len(wanted) or not by_language.keys() >= wanted:
            for language in wanted - by_language.keys():
                lacking.setdefault(language, []).append(name)
    for language, names in sorted(lacking.items()):
        what = f"no {language!r} for {', '.join(names)}; its readers see another language."
        findings.question(quiz, question, "TRANS-FALLBACK", what, "Translate it.")
    if neutral:
        remedy = f"Write {{{quiz.languages[0]}: …}}, or translate it."
        findings.question(quiz, question, "TRANS-NEUTRAL", f"no language is named for {', '.join(neutral)}.", remedy)


# links

Problem = tuple[str, str, str]  # code, what, remedy


def lint_links(library: Library, findings: Findings) -> None:
    for quiz in library.quizzes.values():
        problem = _dead(library, quiz.guide) if quiz.guide is not None else None
        if problem is not None:
            code, what, remedy = problem
            findings.quiz(quiz, code, f"The quiz {what}", remedy, "guide")
        for question in quiz.questions:
            _question_links(library, quiz, question, findings)
    for variants in library.guides.values():
        for guide in variants.values():
            if guide.translation_of is None:
                _guide_links(library, guide, findings)
            _inner_links(guide, findings)
    for course in library.courses.values():
        for step in course.steps:
            known = library.guides if step.kind == "guide" else library.quizzes
            if step.id not in known:
                code = "LINK-GUIDE" if step.kind == "guide" else "LINK-QUIZ"
                what = f"The course names the {step.kind} {step.id!r}, which does not exist."
                findings.course(course, code, what, f"{similar(step.id, known)}Add it, or correct the step.", "steps", step.id)


def _dead(library: Library, ref: GuideRef) -> Problem | None:
    if not ref.guide:
        return "LINK-GUIDE", f"names the section {ref.section!r}, but the quiz has no guide.", "Name the guide too."
    variants = library.guides.get(ref.guide)
    if variants is None:
        what = f"names the guide {ref.guide!r}, which does not exist."
        return "LINK-GUIDE", what, f"{similar(ref.guide, library.guides)}Add it, or correct the name."
    original = next(iter(variants.values()))
    if ref.section is not None and original.section(ref.section) is None:
        hint = similar(ref.section, [section.id for section in original.sections])
        return "LINK-SECTION", f"names the section {ref.section!r}, which the guide {ref.guide!r} does not have.", f"{hint}Correct it."
    return None


def _question_links(library: Library, quiz: Quiz, question: Question, findings: Findings) -> None:
    quiz_guide_is_dead = quiz.guide is not None and quiz.guide.guide not in library.guides  # said once, of the quiz

    def dead(ref: GuideRef) -> Problem | None:
        return None if quiz_guide_is_dead and quiz.guide is not None and ref.guide == quiz.guide.guide else _dead(library, ref)

    ref = quiz.section_of(question) if question.guide is not None else None
    problem = dead(ref) if ref is not None else None
    if problem is not None:
        code, what, remedy = problem
        findings.question(quiz, question, code, f"guide {what}", remedy, ("guide",))
    for at, evidence in enumerate(quiz.evidence_of(question)):
        problem = dead(evidence)
        if problem is not None:
            code, what, remedy = problem
            findings.question(quiz, question, code, f"evidence {what}", remedy, ("evidence", str(at)))
    if not question.evidence and not isinstance(question.body, Open | Info) and (quiz.guide or question.guide):
        what = "no evidence: hints cannot tell which sections give the key away."
        findings.question(quiz, question, "EVIDENCE-NONE", what, "Add evidence: [section].")


def _guide_links(library: Library, guide: Guide, findings: Findings) -> None:
    for key, names in (("next", (guide.next,) if guide.next else ()), ("related", guide.related)):
        for name in names:
            if name not in library.guides:
                what = f"{key} names the guide {name!r}, which does not exist."
                findings.guide(guide, "LINK-GUIDE", what, f"{similar(name, library.guides)}Correct it.", key=key)
            elif name == guide.id:
                findings.guide(guide, "LINK-GUIDE", f"{key} names the guide itself.", "Remove it.", key=key)
    for name in guide.quizzes:
        if name not in library.quizzes:
            what = f"quizzes names {name!r}, which does not exist."
            findings.guide(guide, "LINK-QUIZ", what, f"{similar(name, library.quizzes)}Correct it.", key="quizzes")
    for name in guide.prerequisites:
        if name not in library.guides:
            what = f"prerequisites names {name!r}, which is no guide here."
            findings.guide(guide, "LINK-PREREQUISITE", what, f"{similar(name, library.guides)}Add it, or correct it.", key="prerequisites")


def _inner_links(guide: Guide, findings: Findings) -> None:
    known = {section.id for section in guide.sections}
    for section in guide.sections:
        for anchor in _INNER_LINK.findall(section.body):
            if anchor not in known:
                what = f"A link leads to #{anchor}, which is no section of this guide."
                findings.guide(guide, "LINK-ANCHOR", what, f"{similar(anchor, known)}Correct it.", section=section, needle=f"(#{anchor}")


# translations


def lint_translations(library: Library, findings: Findings) -> None:
    for translation in findings.loaded.translations:
        quiz = library.quizzes.get(translation.of.id)
        if quiz is not None and translation.of.version != quiz.version:
            what = f"This was translated from version {translation.of.version}; the original is at version {quiz.version}."
            remedy = "Translate what changed, then write the new version in translation_of."
            findings.add(translation.path, translation.line, "TRANS-STALE", what, remedy)
    languages = {language for variants in library.guides.values() for language in variants}
    for variants in library.guides.values():
        original = next(iter(variants.values()))
        for guide in variants.values():
            if guide.translation_of is not None:
                _translated_guide(guide, original, findings)
        missing = sorted(languages - variants.keys())
        if missing:
            what = f"The guide {original.id!r} has no {', '.join(missing)}, which other guides have."
            findings.guide(original, "TRANS-GUIDE", what, f"Add {original.id}.{missing[0]}.md.")
    for quiz in library.quizzes.values():
        variants = library.guides.get(quiz.guide.guide) if quiz.guide is not None else None
        missing = [
            language for language in quiz.languages if variants is not None and language not in variants and language not in languages
        ]
        if missing and quiz.guide is not None:
            what = f"The quiz is in {', '.join(missing)}, its guide {quiz.guide.guide!r} is not."
            findings.quiz(quiz, "TRANS-GUIDE", what, "Translate the guide.", "guide")


def _translated_guide(guide: Guide, original: Guide, findings: Findings) -> None:
    of = guide.translation_of
    if of is not None and of.version != original.version:
        what = f"This was translated from version {of.version}; the original is at version {original.version}."
        remedy = "Translate what changed, then write the new version in translation_of."
        findings.guide(guide, "TRANS-STALE", what, remedy, key="translation_of")
    here, there = [section.id for section in guide.sections], [section.id for section in original.sections]
    missing = [name for name in there if name not in here]
    extra = [name for name in here if name not in there]
    if missing:
        what = f"Sections of the original are missing: {', '.join(missing)}."
        findings.guide(guide, "TRANS-SECTION", what, "Translate them, with the same {#id}.")
    for name in extra:
        what = f"The section {name!r} is not in the original."
        findings.guide(guide, "TRANS-SECTION", what, f"{similar(name, missing)}Use the ids of the original.", section=guide.section(name))
    if not missing and not extra and here != there:
        findings.guide(guide, "TRANS-SECTION", "The sections are not in the order of the original.", "Move them.")
    if original.glossary and not guide.glossary:
        findings.guide(guide, "TRANS-SECTION", "The glossary of the original is missing.", "Translate it.")


# guides


def lint_guide_texts(guide: Guide, findings: Findings, hosts: Collection[str] = HOSTS) -> None:
    head = (("title", guide.title), ("summary", guide.summary), ("narration", guide.narration or ""))
    entries = [("glossary", term) for entry in guide.glossary for term in (entry.term, entry.meaning)]
    for key, text in (*head, *entries):
        for found in text_findings(text, hosts) if suspicious(text) else ():
            findings.guide(guide, found.code, f"The {key} {found.what}.", found.remedy, key=key, needle=found.needle)
    for section in guide.sections:
        _section(guide, section, findings, hosts)


def _section(guide: Guide, section: Section, findings: Findings, hosts: Collection[str]) -> None:
    for text in (section.heading, section.summary, section.body):
        for found in text_findings(text, hosts, anchors=True) if suspicious(text) else ():
            what = f"The section {section.id!r} {found.what}."
            findings.guide(guide, found.code, what, found.remedy, section=section, needle=found.needle)
    if not section.summary and not section.faq:
        what = f"The section {section.id!r} has no summary."
        findings.guide(guide, "GUIDE-SUMMARY", what, "Begin it with two sentences after >.", section=section)


# facts


def lint_facts(library: Library, facts: Mapping[str, Any], findings: Findings) -> None:
    """Every fact id that is named exists, and what should name one does."""
    for quiz in library.quizzes.values():
        for question in quiz.questions:
            _question_facts(quiz, question, facts, findings)
    for variants in library.guides.values():
        for guide in variants.values():
            for section in guide.sections:
                for fact in section.facts:
                    if fact not in facts:
                        what = f"The section {section.id!r} names the fact {fact}, which does not exist."
                        findings.guide(guide, "FACT-UNKNOWN", what, f"{similar(fact, facts)}Correct it.", section=section, needle=fact)
                if section.faq and not section.facts:
                    what = f"The answer {section.id!r} names no facts."
                    findings.guide(guide, "FACT-NONE", what, "Add <!-- facts: T-001 --> to it.", section=section)


def _question_facts(quiz: Quiz, question: Question, facts: Mapping[str, Any], findings: Findings) -> None:
    body = question.body
    named: list[tuple[str, Steps]] = [(fact, ("facts",)) for fact in question.facts]
    if isinstance(body, Choices):
        named += [(fact, ("choices", choice.id, "facts")) for choice in body.choices for fact in choice.facts]
        resting = [choice.id for choice in body.choices if choice.feedback is not None and not choice.facts]
        if resting and question.facts:
            what = f"feedback of {', '.join(resting)} rests on the question's facts."
            findings.question(quiz, question, "FACT-SHARED", what, "Name facts per choice where they differ.")
    elif isinstance(body, Open):
        named += [(fact, ("rubric", point.id, "facts")) for point in body.rubric for fact in point.facts]
        bare = [point.id for point in body.rubric if not point.facts]
        if bare:
            what = f"rubric points without facts: {', '.join(bare)}."
            findings.question(quiz, question, "FACT-NONE", what, "Add facts: [T-001] to each.")
    for fact, steps in named:
        if fact not in facts:
            what = f"the fact {fact} does not exist."
            findings.question(quiz, question, "FACT-UNKNOWN", what, f"{similar(fact, facts)}Correct it.", steps)
    # an open question makes its claims in rubric points, which name their own; its explanation, where there is one, is a claim too
    claims = question.explanation is not None if isinstance(body, Open) else not isinstance(body, Info)
    if claims and not question.facts:
        findings.question(quiz, question, "FACT-NONE", "no facts are named.", "Add facts: [T-001].")
