"""The linter: what was loaded, held to every rule of `content.rules`. Pure: no file is read, nothing is changed.

Loading faults are part of the result, so one report has everything. `content.fix` repairs what is mechanical,
`content.report` writes the result down.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from content.findings import Findings
from content.lint_items import lint_items
from content.lint_library import lint_facts, lint_guide_texts, lint_links, lint_texts, lint_translations
from content.lint_limits import lint_guide_limits, lint_quiz_limits
from content.lint_text import HOSTS
from content.load import Loaded, no_collector
from content.model import Fault
from content.rules import in_order


def check(loaded: Loaded, *, facts: Mapping[str, Any] | None = None, hosts: Collection[str] = HOSTS) -> tuple[Fault, ...]:
    """Every fault of the loaded content, those of loading included, by file and line.

    `facts` is the table of facts by id (`content.facts.load_facts`): with it, ids that do not exist and texts that name
    none are faults too; None leaves these rules out. `hosts` is where links may lead.
    """
    findings = Findings(loaded)
    library = loaded.library
    with no_collector():
        for quiz in library.quizzes.values():
            lint_quiz_limits(quiz, findings)
            lint_items(quiz, findings)
            lint_texts(quiz, findings, hosts)
        for variants in library.guides.values():
            for guide in variants.values():
                lint_guide_limits(guide, findings)
                lint_guide_texts(guide, findings, hosts)
        lint_links(library, findings)
        lint_translations(library, findings)
        if facts is not None:
            lint_facts(library, facts, findings)
        return in_order((*loaded.faults, *findings.faults))
