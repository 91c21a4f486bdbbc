"""Every rule that content is held to: a stable code, a severity, one sentence. It finds nothing itself.

`content.load` and the `content.lint_*` modules report through `fault`, so a code that is not in this table cannot be
reported. docs/content-format.md prints the table; a test keeps the two equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from content.model import Fault, Severity

ERROR: Final = Severity.ERROR
WARNING: Final = Severity.WARNING
NOTE: Final = Severity.NOTE


@dataclass(frozen=True, slots=True)
class Rule:
    code: str
    severity: Severity
    sentence: str
    fixable: bool = False  # content.fix repairs it


_TABLE: Final = (
    # reading
    Rule("FILE-READ", ERROR, "A file or folder cannot be read, is not UTF-8, or is larger than the reader accepts."),
    Rule("FILE-NAME", WARNING, "A file is named after the id that it holds."),
    Rule("FILE-STRAY", WARNING, "A YAML file in a content folder has a name that no reader takes."),
    Rule("YAML-SYNTAX", ERROR, "The text is not YAML, or holds more than one document."),
    Rule("YAML-LIMIT", ERROR, "A YAML file is nested too deeply or holds too many values."),
    Rule("YAML-ALIAS", ERROR, "Anchors, aliases and tags are refused: content is plain text, lists and maps."),
    Rule("YAML-DUPLICATE", ERROR, "A key stands twice in one map; YAML readers would silently keep one of the two."),
    Rule(
        "YAML-TRAP",
        WARNING,
        "An unquoted value that YAML takes for a number, date, truth value or null stands where text belongs.",
        True,
    ),
    Rule("YAML-NUMBER", NOTE, "A plain number stands where text belongs; quotes make it text for every reader.", True),
    Rule("YAML-NO", ERROR, "The unquoted language key `no` (or `on`, `yes`, …) is a truth value to YAML.", True),
    Rule("SCHEMA-VERSION", ERROR, "`schema` is missing or names a format or major version that is not known here."),
    Rule("SCHEMA-MISSING", ERROR, "A required key is missing."),
    Rule("SCHEMA-UNKNOWN", ERROR, "A key is not part of the format."),
    Rule("SCHEMA-TYPE", ERROR, "A value is of the wrong kind, for example a list where a text belongs."),
    Rule("SCHEMA-VALUE", ERROR, "A value is out of range, empty, or not one of the words allowed."),
    Rule("ID-MISSING", ERROR, "Everything that answers, translations or links refer to has an id.", True),
    Rule("ID-FORM", ERROR, "Ids are lower-case letters, digits and hyphens, 1 to 64 of them."),
    Rule("ID-DUPLICATE", ERROR, "An id is used once among its neighbours; a quiz, guide or course id once in the library."),
    Rule("LANG-CODE", ERROR, "A language key is a BCP 47 tag such as en, zh or zh-TW."),
    Rule("LANG-UNLISTED", WARNING, "A text has a language that `languages` of the quiz does not list."),
    Rule("LANG-DEFAULT", WARNING, "A text exists in other languages, but not in the first of the quiz."),
    Rule("QUIZ-EMPTY", ERROR, "A quiz holds at least one question that can be used."),
    Rule("QUIZ-KEY", ERROR, "A question has a key: exactly one for single (or `any: true`), at least one for the others."),
    Rule("QUIZ-CHOICES", ERROR, "A question offers at least two things to choose, order or match."),
    Rule("QUIZ-BLANKS", ERROR, "The gaps {{…}} of a stem are the keys of `blanks`, in every language."),
    Rule("QUIZ-REGEX", ERROR, "A regex is anchored (^…$), at most 200 characters, and in RE2's linear-time syntax."),
    Rule("QUIZ-SELECT", ERROR, "`select` asks for no more questions than there are, from groups that exist."),
    Rule("MEDIA-MISSING", ERROR, "A media file lies beside its quiz."),
    Rule("MEDIA-HASH", WARNING, "The sha256 of a medium is 64 hexadecimal digits."),
    Rule("MEDIA-LICENCE", NOTE, "Media name their licence."),
    Rule("GUIDE-FRONT", ERROR, "A guide starts with front matter between two lines of `---`."),
    Rule("GUIDE-EMPTY", ERROR, "A guide has at least one `## ` section with text in it."),
    Rule("GUIDE-LOOSE", WARNING, "Text before the first `## ` heading belongs to no section and is not shown."),
    Rule("GUIDE-ANCHOR", NOTE, "A section without {#id} gets a slug of its heading, which changes when the heading does.", True),
    Rule("GUIDE-SUMMARY", NOTE, "Each section opens with a summary in a blockquote."),
    Rule("LEVEL-OTHER", NOTE, "A level is beginner, intermediate or advanced, unless the course defines its own."),
    # translations
    Rule("TRANS-ORPHAN", ERROR, "A translation names an original that is in the library, and its language in the file name."),
    Rule("TRANS-EXTRA", WARNING, "A translation has an item or text that its original has not."),
    Rule("TRANS-STALE", WARNING, "A translation was made for another version of its original."),
    Rule("TRANS-MISSING", WARNING, "A quiz lists a language in which it has no text at all."),
    Rule("TRANS-FALLBACK", WARNING, "Some texts lack a language of the quiz, so its readers see another one."),
    Rule(
        "TRANS-NEUTRAL",
        WARNING,
        "In a quiz of several languages each sentence says which language it is in.",
    ),
    Rule("TRANS-SECTION", WARNING, "A translated guide has the sections of its original, in the same order, each once."),
    Rule("TRANS-GUIDE", NOTE, "A guide lacks a language that other guides of the library, or its own quizzes, have."),
    # links
    Rule("LINK-GUIDE", ERROR, "A guide that a quiz, question, guide or course names exists."),
    Rule("LINK-SECTION", ERROR, "A section that a quiz, a question or its evidence names exists in that guide."),
    Rule("LINK-QUIZ", ERROR, "A quiz that a guide or course names exists."),
    Rule("LINK-PREREQUISITE", WARNING, "A prerequisite is a guide of the library."),
    Rule("LINK-ANCHOR", WARNING, "A link to `#section` inside a guide leads to one of its sections."),
    Rule("EVIDENCE-NONE", WARNING, "A question with a key names the guide sections that give it away, so that hints can leave them out."),
    # Discord
    Rule("LIMIT-BUTTON", NOTE, "A choice over 80 characters does not fit a button: letters are shown instead."),
    Rule("LIMIT-SELECT", NOTE, "A choice over 100 characters does not fit a select menu: letters are shown instead."),
    Rule("LIMIT-CHOICES", ERROR, "A question has at most 25 choices, items, pairs or rubric points, as many as a select menu holds."),
    Rule("LIMIT-EMBED", ERROR, "Stem and choices together fit an embed description of 4,096 characters."),
    Rule("LIMIT-PAGES", NOTE, "A reference answer over 4,096 characters does not fit an embed and is shown on several pages."),
    Rule("LIMIT-TITLE", ERROR, "A title fits the 256 characters of an embed title."),
    Rule("LIMIT-NAME", NOTE, "A quiz, guide or course title over 100 characters is cut in command suggestions and thread names."),
    Rule(
        "LIMIT-FIELD",
        NOTE,
        "A feedback, explanation, hint or probe over 1,024 characters does not fit an embed field and is shown on its own.",
    ),
    # item writing
    Rule("KEY-POSITION", WARNING, "The keys of a quiz do not gather at one position, nor its true/false answers at one value."),
    Rule("KEY-LENGTH", WARNING, "The longest option is not the right one in more than half of a quiz."),
    Rule("OPTION-DUPLICATE", ERROR, "Two options of a question do not say the same."),
    Rule("OPTION-OVERLAP", WARNING, "No option of a single-choice question includes another one."),
    Rule("OPTION-ALL-NONE", WARNING, "No option is \u201call of the above\u201d or \u201cnone of the above\u201d."),
    Rule("OPTION-ABSOLUTE", NOTE, "Words such as always and never do not stand in wrong options only."),
    Rule("STEM-NEGATIVE", WARNING, "A stem that asks for what is not so emphasises the negation."),
    Rule("STEM-GIVEAWAY", WARNING, "A stem does not hold the key of another question of its quiz."),
    Rule("STEM-DUPLICATE", WARNING, "Two questions of a quiz do not share stem and options."),
    Rule("TIME-SHORT", WARNING, "The time limit leaves enough to read stem and options at the usual speed of the language."),
    Rule("EXPLANATION-MISSING", WARNING, "A question with a key explains it."),
    Rule("FEEDBACK-MISSING", NOTE, "A wrong choice says why it is wrong."),
    Rule("REFERENCE-MISSING", WARNING, "An open question has a reference answer and a rubric."),
    # text
    Rule("TEXT-MENTION", ERROR, "No text mentions everyone, a person, role or channel."),
    Rule("TEXT-LINK", WARNING, "Links are https and lead to hosts on the allow-list."),
    Rule("TEXT-SCHEME", ERROR, "No link uses another scheme than http or https, or shows one address and leads to another."),
    Rule("TEXT-HIDDEN", ERROR, "No text holds zero-width, direction-changing, tag or control characters.", True),
    Rule("TEXT-TOKEN", ERROR, "No text holds a language model's control token."),
    Rule("TEXT-NFC", WARNING, "Text is in Unicode normal form C.", True),
    Rule("TEXT-HTML", WARNING, "No raw HTML: Discord shows it as text."),
    Rule("TEXT-MARKDOWN", WARNING, "Code fences, code spans, bold and spoilers that are opened are closed."),
    # facts
    Rule("FACT-FORM", ERROR, "A fact id is a letter or a few, a hyphen and a number, such as T-001."),
    Rule("FACT-UNKNOWN", ERROR, "A fact id that content names is in the table of facts."),
    Rule("FACT-NONE", WARNING, "Questions with an explanation, rubric points and FAQ answers name the facts they rest on."),
    Rule("FACT-SHARED", NOTE, "A choice's feedback names facts of its own; without, it rests on those of its question."),
    Rule("FACT-TABLE", ERROR, "The table of facts can be read and has each id once."),
)
RULES: Final = {rule.code: rule for rule in _TABLE}


def fault(path: str, line: int, code: str, what: str, remedy: str) -> Fault:
    """A fault of a rule in the table. `what` and `remedy` are sentences."""
    return Fault(path, line, code, what, remedy, RULES[code].severity)


def in_order(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """By file, line and code, each once."""
    return tuple(sorted(set(faults)))
