"""The pictures of a question: addresses found in its texts, kept as `Media`. Nothing is fetched or opened."""

from __future__ import annotations

import re
from typing import Final

from content.model import Media, Text


class Pictures:
    """The media of one question, found while its texts are converted. `left_out` names what could not be kept."""

    def __init__(self) -> None:
        self._by_source: dict[str, Media] = {}
        self.left_out: list[str] = []

    @property
    def media(self) -> tuple[Media, ...]:
        return tuple(self._by_source.values())

    def add(self, source: str, alt: str = "") -> str:
        """The Markdown that shows this picture, `![](m1)`; its alternative text where only the text can be kept."""
        source = source.strip()
        if not source or source[:5].lower() in ("data:", "java", "about"):
            self.left_out.append(alt.strip() or "a picture without an address")
            return alt.strip()
        if source not in self._by_source:
            number = len(self._by_source) + 1
            name = re.split(r"[/\\]", source.partition("?")[0])[-1]
            remote = re.match(r"(?:https?:)?//", source, re.IGNORECASE) is not None
            self._by_source[source] = Media(
                id=f"m{number}",
                alt=Text.of(alt.strip() or name or f"picture {number}"),
                url=("https:" + source if source.startswith("//") else source) if remote else None,
                file=None if remote else _inside(source),
            )
        return f"![]({self._by_source[source].id})"


def _inside(path: str) -> str:
    """A path that stays below the quiz's folder: whatever leads outside is cut off."""
    parts = [part for part in re.split(r"[/\\:]", path) if part and part not in (".", "..")]
    return "/".join(parts) or "picture"


_IMAGE: Final = re.compile(r"!\[([^\[\]\n]{0,300})\]\(\s*<?([^\s)>\[]{1,2000})>?(?:\s+\"[^\"\n]{0,300}\")?\s*\)")


def keep_pictures(markdown: str, pictures: Pictures) -> str:
    """Markdown whose image addresses are moved into `pictures`."""
    if "![" not in markdown:
        return markdown
    return _IMAGE.sub(lambda found: pictures.add(found.group(2), found.group(1)), markdown)
