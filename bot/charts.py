"""How the answers to a question are spread, as a PNG that can be read on a dark and on a light background.

The picture brings its own dark card, so neither theme shows through. Right answers are marked by shape as well as colour.
What cannot be drawn because no font here has its letters (Chinese or Korean without a font such as Noto Sans CJK) is left
to the message: the picture then shows the options by letter alone. Drawing takes tens of milliseconds: call it off the loop.
"""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

Font = ImageFont.FreeTypeFont
Colour = tuple[int, int, int]

CARD: Final[Colour] = (0x22, 0x24, 0x2E)
INK: Final[Colour] = (0xF4, 0xF5, 0xF8)
QUIET: Final[Colour] = (0xC3, 0xC7, 0xD6)
TRACK: Final[Colour] = (0x33, 0x36, 0x45)
RIGHT: Final[Colour] = (0x35, 0xB5, 0x7B)
OTHER: Final[Colour] = (0x7B, 0x8A, 0xF7)
BEFORE: Final[Colour] = (0x8A, 0x8F, 0xA3)

WIDTH: Final = 1_000
SCALE: Final = 2  # drawn larger and made smaller, for smooth corners
MARGIN: Final = 36
ROW: Final = 88
BAR: Final = 26
TEXT: Final = 25
BADGE: Final = 44
CHECK: Final = 34  # room for the tick
FIGURES: Final = 176  # right of the bars: count and share
ALT_TEXT: Final = 1_024  # Discord's limit for the description of a file

_NAMES: Final = (
    "DejaVuSans.ttf", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansCJKkr-Regular.otf", "NotoSans-Regular.ttf",
    "segoeui.ttf", "malgun.ttf", "msyh.ttc", "Arial Unicode.ttf", "AppleSDGothicNeo.ttc", "PingFang.ttc",
)  # fmt: skip
_MISSING: Final = "\U0010fffd"  # a private character that no font has: what it draws is the box for "missing"


@dataclass(frozen=True, slots=True)
class Bar:
    """One option. `before` is its count in an earlier vote, where there was one."""

    label: str  # "A"
    text: str
    count: int
    right: bool
    before: int | None = None


def distribution(bars: Sequence[Bar], *, answered: int, answered_before: int = 0) -> bytes:
    """The PNG; shares are of the people who answered, so with several choices each they add up to more than 100 %."""
    named = any(font_for(bar.text, TEXT * SCALE) for bar in bars)
    row = ROW if named else ROW - TEXT
    height = 2 * MARGIN + row * len(bars) - (row - BADGE) // 2
    image = Image.new("RGBA", (WIDTH * SCALE, height * SCALE), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle(_scaled(0, 0, WIDTH - 1, height - 1), 24 * SCALE, fill=CARD)
    for number, bar in enumerate(bars):
        _row(draw, bar, MARGIN + number * row, answered, answered_before, named=named)
    out = io.BytesIO()
    image.reduce(SCALE).save(out, "PNG", compress_level=4)  # the mean of four points: as smooth as a filter here, a fifth of the time
    return out.getvalue()


def _row(draw: ImageDraw.ImageDraw, bar: Bar, top: int, answered: int, answered_before: int, *, named: bool) -> None:
    colour = RIGHT if bar.right else OTHER
    middle = top + BADGE // 2
    draw.rounded_rectangle(_scaled(MARGIN, top, MARGIN + BADGE, top + BADGE), 12 * SCALE, fill=colour)
    draw.text((_at(MARGIN + BADGE / 2), _at(middle)), bar.label, font=_plain(24 * SCALE), fill=CARD, anchor="mm")
    left = MARGIN + BADGE + 20
    if bar.right:
        _check(draw, left, top + 8 if named else middle)
    if named:
        _name(draw, bar, left + (CHECK if bar.right else 0), top + 8)
        bar_top = top + BADGE - BAR + 10
    else:
        left += CHECK  # for all, so that the bars start in one line
        bar_top = middle - BAR // 2
    width = WIDTH - left - (FIGURES if bar.before is None else FIGURES + 60) - MARGIN
    share = bar.count / answered if answered else 0.0
    draw.rounded_rectangle(_scaled(left, bar_top, left + width, bar_top + BAR), BAR * SCALE // 2, fill=TRACK)
    if share > 0:
        draw.rounded_rectangle(_scaled(left, bar_top, left + max(BAR, width * share), bar_top + BAR), BAR * SCALE // 2, fill=colour)
    if bar.before is not None and answered_before:
        x = left + width * bar.before / answered_before
        draw.rounded_rectangle(_scaled(x - 4, bar_top - 6, x + 4, bar_top + BAR + 6), 4 * SCALE, fill=CARD)
        draw.rounded_rectangle(_scaled(x - 2, bar_top - 6, x + 2, bar_top + BAR + 6), 2 * SCALE, fill=INK)
    figures = f"{bar.count} · {share:.0%}" if bar.before is None else f"{bar.before} → {bar.count} · {share:.0%}"
    font = font_for(figures, 24 * SCALE)
    plain = figures.replace("→", "/").replace("·", "-")
    draw.text(
        (_at(WIDTH - MARGIN), _at(bar_top + BAR / 2)),
        figures if font else plain,
        font=font or _plain(24 * SCALE),
        fill=QUIET,
        anchor="rm",
    )


def _name(draw: ImageDraw.ImageDraw, bar: Bar, left: int, middle: int) -> None:
    font = font_for(bar.text, TEXT * SCALE)
    if font is not None:
        draw.text((_at(left), _at(middle)), _fitting(bar.text, font, (WIDTH - left - MARGIN) * SCALE), font=font, fill=INK, anchor="lm")


def _check(draw: ImageDraw.ImageDraw, left: int, middle: int) -> None:
    """A tick drawn by hand: not every font has one."""
    points = [(left + 1, middle + 1), (left + 9, middle + 9), (left + 23, middle - 8)]
    draw.line([(x * SCALE, y * SCALE) for x, y in points], fill=RIGHT, width=5 * SCALE, joint="curve")


def alt_text(bars: Sequence[Bar], *, answered: int, intro: str, right: str) -> str:
    """The picture in words, at most Discord's 1,024 characters. `intro` and `right` ("right answer") are in the reader's language."""
    parts: list[str] = []
    for bar in bars:
        share = bar.count / answered if answered else 0.0
        before = f"{bar.before} → " if bar.before is not None else ""
        parts.append(f"{bar.label} {bar.text}: {before}{bar.count} ({share:.0%}){f', {right}' if bar.right else ''}")
    whole = f"{intro}: " + "; ".join(parts)
    return whole if len(whole) <= ALT_TEXT else whole[: ALT_TEXT - 2].rstrip() + " …"


def _scaled(left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
    return (left * SCALE, top * SCALE, right * SCALE, bottom * SCALE)


def _at(value: float) -> float:
    return value * SCALE


def _fitting(text: str, font: Font, width: float) -> str:
    """The text, cut with an ellipsis where it is too wide."""
    line = " ".join(text.split())
    if font.getlength(line) <= width:
        return line
    low, high = 0, len(line)
    while low < high:
        half = (low + high + 1) // 2
        if font.getlength(line[:half].rstrip() + "…") <= width:
            low = half
        else:
            high = half - 1
    return line[:low].rstrip() + "…"


# Fonts --------------------------------------------------------------------------------------------------------------


def font_for(text: str, size: int) -> Font | None:
    """A font of this machine that has every letter of the text; None when there is none."""
    for path in _files():
        font = _loaded(path, size)
        if font is not None and all(_covers(path, mark) for mark in set(text) if not mark.isspace()):
            return font
    default = _plain(size)
    return default if text.isascii() else None


def _plain(size: int) -> Font:
    """For letters and digits, which every font has."""
    for path in _files():
        if (font := _loaded(path, size)) is not None:
            return font
    font = ImageFont.load_default(size)
    assert isinstance(font, Font), "Pillow's wheels have FreeType"
    return font


@cache
def _files() -> tuple[Path, ...]:
    """The font files found, in the order of preference."""
    found: list[Path] = []
    for name in _NAMES:
        for folder in _folders():
            path = next(folder.rglob(name), None)
            if path is not None:
                found.append(path)
                break
    return tuple(found)


@cache
def _folders() -> tuple[Path, ...]:
    home = Path.home()
    folders = [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), home / ".local/share/fonts", home / ".fonts"]
    if sys.platform == "darwin":
        folders += [Path("/System/Library/Fonts"), Path("/Library/Fonts")]
    elif sys.platform == "win32":
        folders += [Path("C:/Windows/Fonts")]
    matplotlib = importlib.util.find_spec("matplotlib")  # its wheel carries DejaVu; it is not imported for that
    if matplotlib is not None and matplotlib.origin is not None:
        folders.append(Path(matplotlib.origin).parent / "mpl-data/fonts/ttf")
    return tuple(folder for folder in folders if folder.is_dir())


@cache
def _loaded(path: Path, size: int) -> Font | None:
    try:
        return ImageFont.truetype(str(path), size)
    except OSError:
        return None  # damaged, or a kind that FreeType was built without: the next one is tried


@cache
def _covers(path: Path, mark: str) -> bool:
    """Whether the font draws this character as anything but the box for a missing one."""
    font = _loaded(path, TEXT)
    if font is None:
        return False
    return _drawn(font, mark) != _drawn(font, _MISSING)


def _drawn(font: Font, mark: str) -> bytes:
    image = Image.new("L", (2 * TEXT, 2 * TEXT), 0)
    ImageDraw.Draw(image).text((0, 0), mark, font=font, fill=255)
    return image.tobytes()
