"""What the linter knows about five languages: reading speeds, and the words of poor options and stems.

Data and patterns only. The lists are short on purpose: each entry is a phrase that hardly ever stands in a good option.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast adults read silently: `per_minute` words, or characters for scripts without spaces between words."""

    per_minute: int
    characters: bool = False


# English, Russian and Chinese: means of the IReST texts (Trauzettel-Klosinski and Dietz, 2012), rounded down. Greek and
# Korean are not in that table: our own careful figures. Technical text is read more slowly, hence the thinking time below.
SPEEDS: Final = {
    "en": Speed(220),
    "ru": Speed(180),
    "zh": Speed(250, True),
    "el": Speed(180),
    "ko": Speed(450, True),
    "ja": Speed(350, True),
}
OTHER: Final = Speed(180)
THINKING_S: Final = 3.0
"""Seconds on top of reading: to decide once and press once."""


def reading_s(text: str, language: str) -> float:
    """Seconds to read a text once."""
    speed = SPEEDS.get(language.partition("-")[0], OTHER)
    if speed.characters:
        wide = len(_WIDE.findall(text))
        return wide * 60 / speed.per_minute + len(_WIDE.sub(" ", text).split()) * 60 / OTHER.per_minute
    return len(text.split()) * 60 / speed.per_minute


_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")

ALL_OR_NONE: Final = re.compile(
    r"(?:all|none|neither|both|any)(?: of)?(?: the)? (?:above|these|those|them|others?|other (?:options|answers|choices))\b"
    r"|(?:all|none|both) of (?:the )?(?:answers|options|choices)\b"
    r"|위(?:의)? ?(?:모두|전부)|위(?:의)? ?(?:것|보기|답|항목) ?(?:중 ?)?(?:모두|전부|없음|답 없음|에 없음)"
    r"|모두 (?:정답|맞|옳|해당)|해당 (?:사항 )?없음|정답 없음|보기 ?(?:모두|에 없음)"
    r"|(?:όλα|όλες|όλοι)(?: αυτά| αυτές| αυτοί)?(?: τα| τις| οι)? (?:παραπάνω|ανωτέρω)"
    r"|(?:κανένα|καμία|κανένας|τίποτα) από (?:τα|τις|τους|αυτά|αυτές|αυτούς)\b"
    r"|вс[её] (?:из )?(?:выше ?)?перечисленн\w+|вс[её] варианты|нет (?:верного|правильного) ответа"
    r"|(?:ничего|ничто|ни один|ни одно|ни одна) из (?:(?:выше ?)?перечисленн\w+|этого|них|указанн\w+)"
    r"|以上(?:选项|说法|各项|答案)?(?:都|皆|均|全|没有)|以上所有|上述(?:选项|说法|各项)?(?:都|皆|均|全)"
    r"|(?:全部|都)(?:正确|不正确|不对|错误)$"
)
"""At the beginning of a normalised option of at most OPTION_MAX characters."""
OPTION_MAX: Final = 60

ABSOLUTE: Final = re.compile(
    r"\b(?:always|never|impossible|completely|entirely|absolutely|guaranteed|guarantees|in all cases|without exception)\b"
    r"|항상|언제나|절대(?:로|적으로)?|결코|무조건|모든 경우|예외 없이"
    r"|\b(?:πάντα|πάντοτε|ποτέ|απολύτως|αποκλείεται|σε κάθε περίπτωση|χωρίς εξαίρεση|εγγυημένα)\b"
    r"|\b(?:всегда|никогда|абсолютно|гарантированно|невозможно|во всех случаях|без исключений)\b"
    r"|总是|永远|从不|绝不|绝对|必然|任何情况下|所有情况|毫无例外"
)

# A negation counts where the stem asks for what is not ("Which … is not"), not where it tells ("When it does not fit, …").
NEGATIVE: Final = {
    "en": re.compile(
        r"\bwhich\b(?:(?!\b(?:when|if|because|that|who|although|while|unless|why|how)\b)[^.?!;:,]){0,120}?"
        r"\b(?P<not>(?:is|are|was|were|does|do|did|can|could|would|should|will|must|has|have)(?:n['’]t| not)\b|cannot\b)"
        r"|\bwhat (?P<what>(?:is|are|was|were|does|do|did|can|could|would|should|will|must)(?:n['’]t|(?: \w+){0,2} not)\b|cannot\b)"
        r"|\b(?:which|what|all)\b[^.?!]{0,120}?\b(?P<except>except\b|(?<!at )least\b|(?:is|are) (?:false|wrong|incorrect|untrue)\b)",
        re.IGNORECASE,
    ),
    "ko": re.compile(
        r"(?P<not>아닌|않은|않는|없는|틀린|옳지 않은|잘못된|거리가 먼)\s?(?:\S{1,12}\s){0,2}?"
        r"(?:것|설명|항목|보기|방법|이유|특징|기능|장점|단점)[은는이]?"
    ),
    "el": re.compile(
        r"\bποι(?:ο|α|ος|ες|οι|ους|ων|ον)\b[^.;:,]{0,120}?\b(?P<not>δεν|μη|μην|λανθασμέν\w+|λάθος|εσφαλμέν\w+)\b"
        r"|\b(?P<except>εκτός)\b",
        re.IGNORECASE,
    ),
    "ru": re.compile(
        r"\b(?:как(?:ой|ая|ое|ие|ого|ую|им|их|ому)|что из|чего из)\b[^.?!;:,]{0,120}?"
        r"\b(?P<not>не|неверн\w+|ложн\w+|ошибочн\w+)\b|\b(?P<except>кроме)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:哪|下列|以下)[^。？，；]{0,40}?(?P<not>不|没有|错误|除外)|(?P<except>除了)|(?P<wrong>(?:不正确|不属于|不包括|错误)的?(?:是|说法))"
    ),
}
"""The group that matched is the word that wants emphasis."""
NEGATIVE_WINDOW: Final = 600
"""Characters of a stem that are looked at; what is asked for stands in a short sentence."""
