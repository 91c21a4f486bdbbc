"""Foreign text as Discord Markdown: HTML, plain text and LaTeX in; one Markdown text and its pictures out.

It refuses to keep anything active (script, style, frames, comments) and never fetches a picture: addresses are stored.
LaTeX stays LaTeX, between `$` or `$$`; Discord cannot show it, but whoever renders it needs the source.
`plain_to_markdown` and `markdown_to_plain` undo each other.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Final

from content.readers.pictures import Pictures, keep_pictures

__all__ = [
    "KNOWN_TAGS",
    "Pictures",
    "has_html",
    "html_to_markdown",
    "keep_pictures",
    "markdown_to_plain",
    "normalise_latex",
    "plain_to_markdown",
]

# --- LaTeX ----------------------------------------------------------------------------------------------------------

# a dollar opens math when no word, dollar or backslash stands before it and no space after it; it closes likewise, so
# that "costs $5 and $6" stays money
_PROTECTED: Final = re.compile(
    r"```[\s\S]*?```"
    r"|(?<!`)`[^`\n]+`(?!`)"
    r"|(?<!\\)\$\$(?=\S)[^$]{1,4000}?\$\$"
    r"|(?<![\\\w$])\$(?=[^\s$])(?:\\[^\n]|[^$\n\\]){1,2000}?(?<=\S)\$(?![\w$])"
    r"|https?://[^\s<>\"')\]]+"
)
# a formula ends before the next opening mark: without that bound many opening marks would cost quadratic time
_LATEX_FORMS: Final = (
    (re.compile(r"\\\(((?:(?!\\\().){1,4000}?)\\\)", re.DOTALL), "$"),
    (re.compile(r"\\\[((?:(?!\\\[).){1,4000}?)\\\]", re.DOTALL), "$$"),
    (re.compile(r"\[\$\$\]((?:(?!\[\$).){1,4000}?)\[/\$\$\]", re.DOTALL), "$$"),
    (re.compile(r"\[\$\]((?:(?!\[\$).){1,4000}?)\[/\$\]", re.DOTALL), "$"),
    (re.compile(r"\[latex\]((?:(?!\[latex).){1,4000}?)\[/latex\]", re.DOTALL | re.IGNORECASE), "$"),
)
_LATEX_MARKS: Final = ("\\(", "\\[", "[$", "[latex]", "[LATEX]")


def normalise_latex(text: str) -> str:
    r"""`\( \)`, `\[ \]`, `[$] [/$]`, `[$$] [/$$]` and `[latex] [/latex]` written as `$…$` and `$$…$$`."""
    if not any(mark in text for mark in _LATEX_MARKS):
        return text
    for form, mark in _LATEX_FORMS:
        text = form.sub(lambda found, mark=mark: mark + found.group(1).strip().strip("$") + mark, text)
    return text


# --- plain text -----------------------------------------------------------------------------------------------------

_MENTION: Final = re.compile(r"@(everyone|here)\b")
_LINE_START: Final = re.compile(r"^(\s*)(>{1,3}(?= )|#{1,3}(?= )|-#(?= ))", re.MULTILINE)
_ESCAPED: Final = re.compile(r"\\([\\*_~|>#\-@])")
_BACKSLASH: Final = re.compile(r"\\(?=[\\*_~|>#\-@])")
_UNDERSCORES: Final = re.compile(r"_+")


def plain_to_markdown(text: str) -> str:
    """The Markdown that Discord shows as exactly this text: `* _ ~ | > #` escaped where they would act as markup.

    LaTeX, code in backticks, web addresses and runs of three or more underscores (a gap to fill) stay as they are.
    """
    return _outside_protected(text, _escape)


def markdown_to_plain(text: str) -> str:
    """What `plain_to_markdown` was given."""
    return _outside_protected(text, lambda part: _ESCAPED.sub(r"\1", part).replace("@\u200b", "@"))


def _outside_protected(text: str, change: Callable[[str], str]) -> str:
    parts: list[str] = []
    at = 0
    for found in _PROTECTED.finditer(text):
        parts += (change(text[at : found.start()]), found.group())
        at = found.end()
    return "".join((*parts, change(text[at:]))) if parts else change(text)


def _escape(part: str) -> str:
    if "\\" in part:
        part = _BACKSLASH.sub(r"\\\\", part)
    if part.count("*") > 1:
        part = part.replace("*", r"\*")
    if part.count("_") > 1:
        part = _UNDERSCORES.sub(_escape_underscores, part)
    if "~~" in part:
        part = part.replace("~", r"\~")
    if part.count("||") > 1:
        part = part.replace("|", r"\|")
    if "@" in part:
        part = _MENTION.sub("@\u200b\\1", part)
    return _LINE_START.sub(r"\1\\\2", part)


def _escape_underscores(found: re.Match[str]) -> str:
    run, whole = found.group(), found.string
    if len(run) > 2:
        return run
    before, after = whole[found.start() - 1 : found.start()], whole[found.end() : found.end() + 1]
    return run if len(run) == 1 and before.isalnum() and after.isalnum() else r"\_" * len(run)


# --- HTML -----------------------------------------------------------------------------------------------------------

_INLINE: Final = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "var", "cite", "dfn"), "*"),
    **dict.fromkeys(("u", "ins"), "__"),
    **dict.fromkeys(("s", "del", "strike"), "~~"),
}
_CODE: Final = frozenset(("code", "tt", "kbd", "samp"))
_BLOCK: Final = frozenset(
    {
        *("p", "div", "section", "article", "header", "footer", "main", "figure", "figcaption", "dl", "dt", "dd", "form", "fieldset"),
        *("center", "address", "aside", "details", "summary", "body", "html", "legend", "caption", "h1", "h2", "h3", "h4", "h5", "h6"),
    }
)
_DROPPED: Final = frozenset(
    {
        *("script", "style", "iframe", "object", "embed", "head", "title", "svg", "noscript", "template", "canvas", "select", "textarea"),
        *("audio", "video", "button"),
    }
)
_OTHER: Final = frozenset(
    {
        *("br", "hr", "ul", "ol", "li", "pre", "blockquote", "table", "thead", "tbody", "tfoot", "tr", "td", "th", "colgroup", "col", "a"),
        *("img", "sub", "sup", "span", "font", "small", "big", "mark", "q", "abbr", "label", "input", "meta", "link", "wbr", "nobr"),
        *("bdo", "bdi", "math", "semantics", "annotation", "source", "param", "picture", "ruby", "rt", "rp", "time", "o:p", "acronym"),
    }
)
_MATHML: Final = frozenset(("mrow", "mi", "mn", "mo", "msup", "msub", "mfrac", "msqrt", "mtext", "mstyle", "mspace", "msubsup", "mtable"))
KNOWN_TAGS: Final = frozenset(_INLINE) | _CODE | _BLOCK | _DROPPED | _OTHER | _MATHML

_TAG_NAME: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:]{0,15})(?=[\s/>])")
_TAG_MARK: Final = re.compile(r"[\"'>]")
_ATTRIBUTE: Final = re.compile(r"([A-Za-z_:][\w:.-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_SPACES: Final = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_SUPER: Final = str.maketrans("0123456789+-−=()niabcdefghjklmoprstuvwxyzT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀ")
_SUB: Final = str.maketrans("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
_MAX_FRAMES: Final = 60  # nested inline tags; more is no text that somebody wrote


def has_html(text: str) -> bool:
    """Whether the text holds an HTML tag or entity that `html_to_markdown` would change."""
    if "<" in text and any(found.group(2).lower() in KNOWN_TAGS for found in _TAG_NAME.finditer(text)):
        return True
    return "&" in text and any(html.unescape(found.group()) != found.group() for found in _ENTITY.finditer(text))


def html_to_markdown(source: str, pictures: Pictures | None = None, *, keep_newlines: bool = False) -> str:
    """HTML as Discord Markdown; `keep_newlines` is for text with a few tags in it, whose own line ends count.

    Tags that HTML does not know ("List<String>") stay as text. Time is linear in the length, whatever the input.
    """
    if "<" not in source and "&" not in source:
        text = source if keep_newlines else _SPACES.sub(" ", source)
        return plain_to_markdown(normalise_latex(text)).strip()
    writer = _Writer(pictures or Pictures(), keep_newlines)
    for text, closing, name, attributes in _tokens(source):
        if text:
            writer.text(text)
        elif closing:
            writer.end(name)
        else:
            writer.start(name, attributes)
    return writer.finish()


def _tokens(source: str) -> list[tuple[str, bool, str, str]]:
    """(text, False, "", "") or ("", closing, tag, attributes), in order."""
    tokens: list[tuple[str, bool, str, str]] = []
    start = at = 0
    quotes_pair = True  # once a quote does not close, tags end at their first '>': this keeps the time linear
    unclosed: set[str] = set()
    last = source.rfind(">")
    while 0 <= (at := source.find("<", at)) < last:
        if source.startswith("<!", at) or source.startswith("<?", at):
            is_comment = source.startswith("<!--", at)
            mark = "-->" if is_comment else "]]>" if source.startswith("<![CDATA[", at) else ">"
            end = source.find(mark, at + (4 if is_comment else 2))
            if end < 0:  # unclosed: as browsers do, up to the end for a comment; text otherwise
                if is_comment:
                    tokens.append((source[start:at], False, "", ""))
                    start = len(source)
                    break
                at += 1
                continue
            tokens.append((source[start:at], False, "", ""))
            if mark == "]]>":
                tokens.append((html.escape(source[at + 9 : end], quote=False), False, "", ""))
            start = at = end + len(mark)
            continue
        tag = _TAG_NAME.match(source, at)
        if tag is None or tag.group(2).lower() not in KNOWN_TAGS:
            at += 1
            continue
        end = _tag_end(source, tag.end()) if quotes_pair else -1
        if end < 0:
            quotes_pair = False
            end = source.find(">", tag.end())
        name = tag.group(2).lower()
        tokens.append((source[start:at], False, "", ""))
        tokens.append(("", bool(tag.group(1)), name, source[tag.end() : end]))
        start = at = end + 1
        if name in _DROPPED and name not in unclosed and not tag.group(1) and source[end - 1] != "/":
            close = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(source, at)
            if close is None:
                unclosed.add(name)
            else:
                tokens[-1] = ("", False, "", "")
                start = at = close.end()
    tokens.append((source[start:], False, "", ""))
    return [token for token in tokens if token[0] or token[2]]


def _tag_end(source: str, at: int) -> int:
    """Where the '>' that ends this tag stands, quoted ones passed over; -1 when a quote never closes."""
    while (found := _TAG_MARK.search(source, at)) is not None:
        if found.group() == ">":
            return found.start()
        close = source.find(found.group(), found.end())
        if close < 0:
            return -1
        at = close + 1
    return -1


class _Writer:
    """Builds the Markdown. A frame is an open inline tag, or a table cell, whose text is not yet placed."""

    def __init__(self, pictures: Pictures, keep_newlines: bool) -> None:
        self._pictures = pictures
        self._keep_newlines = keep_newlines
        self._frames: list[tuple[str, str, list[str]]] = [("", "", [])]  # tag, detail, pieces
        self._lists: list[int] = []  # 0: bullets; n: the next number
        self._pre: list[str] | None = None
        self._pre_language = ""
        self._rows: list[list[str]] | None = None
        self._math: list[str] | None = None
        self._tex: list[str] | None = None
        self._quotes = 0

    def text(self, raw: str) -> None:
        text = html.unescape(raw)
        if self._pre is not None:
            self._pre.append(text)
        elif self._tex is not None:
            self._tex.append(text)
        elif self._math is not None:
            self._math.append(text)
        elif any(frame[0] == "code" for frame in self._frames):
            self._put(_SPACES.sub(" ", text))
        else:
            text = text.replace("\u00a0", " ") if self._keep_newlines else _SPACES.sub(" ", text)
            self._put(plain_to_markdown(normalise_latex(text)))

    def start(self, name: str, attributes: str) -> None:
        if self._pre is not None:
            if name == "br":
                self._pre.append("\n")
            elif name in _CODE and not any(self._pre):
                self._pre_language = _language(attributes) or self._pre_language
            return
        if name in _INLINE or name in ("sub", "sup", "a", "q"):
            self._open(name, attributes)
        elif name in _CODE:
            self._open("code", "")
        elif name == "br":
            self._put("\n")
        elif name == "img":
            self._put(self._picture(attributes))
        elif name == "pre":
            self._pre, self._pre_language = [], _language(attributes)
        elif name in ("ul", "ol"):
            self._break("\n" if self._lists else "\n\n")
            self._lists.append(int(name == "ol"))
        elif name == "li":
            self._item()
        elif name == "table":
            self._break("\n\n")
            self._rows = []
        elif name == "tr" and self._rows is not None:
            self._rows.append([])
        elif name in ("td", "th") and self._rows is not None:
            self._close_cell()
            self._frames.append(("cell", "", []))
        elif name == "math":
            self._math = []
        elif name == "annotation" and self._math is not None and "tex" in attributes.lower():
            self._tex = []
        elif name == "blockquote":
            self._break("\n\n")
            self._frames.append(("blockquote", "", []))
        elif name in _BLOCK or name == "hr":
            self._break("\n\n")

    def end(self, name: str) -> None:
        if name == "pre" and self._pre is not None:
            code, self._pre = "".join(self._pre).strip("\n"), None
            self._break("\n\n")
            self._put(f"```{self._pre_language}\n{code}\n```")
            self._break("\n\n")
        elif self._pre is not None:
            return
        elif name == "annotation" and self._tex is not None:
            self._math, self._tex = ["$" + "".join(self._tex).strip().strip("$") + "$"], None
        elif name == "math" and self._math is not None:
            # without a TeX annotation what remains is the text of the formula
            math, self._math = "".join(self._math), None
            tex = math.rfind("$", 0, -1) if math.rstrip().endswith("$") else -1
            self._put(math.rstrip()[tex:] if tex >= 0 else _SPACES.sub(" ", math))
        elif name in _INLINE or name in ("sub", "sup", "a", "q", "blockquote"):
            self._close(name)
        elif name in _CODE:
            self._close("code")
        elif name in ("ul", "ol") and self._lists:
            self._lists.pop()
            self._break("\n" if self._lists else "\n\n")
        elif name in ("td", "th", "tr"):
            self._close_cell()
        elif name == "table":
            self._end_table()
        elif name in _BLOCK:
            self._break("\n\n")

    def finish(self) -> str:
        if self._pre is not None:
            self.end("pre")
        if self._math is not None:
            self.end("math")
        if self._rows is not None:
            self._end_table()
        while len(self._frames) > 1:
            self._close_top()
        text = "".join(self._frames[0][2])
        parts = re.split(r"(```[\s\S]*?```)", text)
        parts[::2] = [
            re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<![ \t])[ \t]+\n", "\n", re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", part)))
            for part in parts[::2]
        ]
        return "".join(parts).strip()

    def _put(self, text: str) -> None:
        pieces = self._frames[-1][2]
        if pieces and pieces[-1].endswith("\n") and not self._keep_newlines:
            text = text.lstrip(" ") if text.strip(" ") else ""
        if text:
            pieces.append(text)

    def _break(self, mark: str) -> None:
        pieces = self._frames[-1][2]
        if not pieces:
            return
        have = len(pieces[-1]) - len(pieces[-1].rstrip("\n"))
        if have < len(mark):
            pieces[-1] = pieces[-1].rstrip(" ") + mark[have:]

    def _item(self) -> None:
        self._break("\n")
        mark = "- "
        if self._lists and self._lists[-1]:
            mark = f"{self._lists[-1]}. "
            self._lists[-1] += 1
        self._frames[-1][2].append("  " * min(8, len(self._lists) - 1) + mark)

    def _open(self, name: str, attributes: str) -> None:
        if len(self._frames) < _MAX_FRAMES:
            self._frames.append((name, attributes, []))

    def _close(self, name: str) -> None:
        """Close the nearest frame of this tag and whatever was left open inside it; a stray end tag does nothing."""
        marker = _INLINE.get(name)
        for depth in range(len(self._frames) - 1, 0, -1):
            tag = self._frames[depth][0]
            if tag == "cell":
                return
            if tag == name or (marker is not None and _INLINE.get(tag) == marker):
                while len(self._frames) > depth:
                    self._close_top()
                return

    def _close_top(self) -> None:
        name, attributes, pieces = self._frames.pop()
        inner = "".join(pieces)
        core = inner.strip()
        if name == "cell":
            if self._rows is not None:
                self._rows[-1:] = [[*(self._rows[-1] if self._rows else []), " ".join(markdown_to_plain(core).split())]]
            return
        if name == "blockquote":
            self._put("\n".join("> " + line for line in core.split("\n")))
            self._break("\n\n")
            return
        if not core:
            self._put(inner)
            return
        lead, tail = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
        self._put(lead + self._wrapped(name, attributes, core) + tail)

    def _wrapped(self, name: str, attributes: str, core: str) -> str:
        if any(frame[0] == "cell" for frame in self._frames):
            return core  # tables become code, where markup would show
        if name in _INLINE:
            mark = _INLINE[name]
            doubled = any(_INLINE.get(frame[0]) == mark for frame in self._frames)
            return core if doubled or core.startswith("![](") else mark + core + mark
        if name == "code":
            fence = "``" if "`" in core else "`"
            return f"{fence}{core}{fence}"
        if name in ("sub", "sup"):
            table = _SUB if name == "sub" else _SUPER
            if all(ord(letter) in table for letter in core):
                return core.translate(table)
            return ("_" if name == "sub" else "^") + (core if len(core) == 1 else f"({core})")
        if name == "a":
            target = _attribute(attributes, "href")
            if target.lower().startswith(("http://", "https://", "mailto:")) and "](" not in core:
                target = target.replace(" ", "%20").replace(")", "%29")
                return target if core in (target, markdown_to_plain(target)) else f"[{core}]({target})"
            return core
        return f"“{core}”"  # q

    def _close_cell(self) -> None:
        while any(frame[0] == "cell" for frame in self._frames):
            self._close_top()

    def _end_table(self) -> None:
        self._close_cell()
        rows, self._rows = [row for row in self._rows or [] if row], None
        if not rows:
            return
        columns = max(map(len, rows))
        rows = [row + [""] * (columns - len(row)) for row in rows]
        widths = [min(60, max(len(row[i]) for row in rows)) for i in range(columns)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        self._put("```\n" + "\n".join(lines) + "\n```")
        self._break("\n\n")

    def _picture(self, attributes: str) -> str:
        formula = _attribute(attributes, "data-equation-content")
        if formula:
            return f"${formula.strip().strip('$')}$"
        return self._pictures.add(_attribute(attributes, "src"), _attribute(attributes, "alt"))


def _attribute(attributes: str, wanted: str) -> str:
    for found in _ATTRIBUTE.finditer(attributes):
        if found.group(1).lower() == wanted:
            return html.unescape(found.group(2) or found.group(3) or found.group(4) or "")
    return ""


def _language(attributes: str) -> str:
    found = re.search(r"\b(?:language|lang|brush:)[-\s]?([A-Za-z0-9+#]{1,20})", _attribute(attributes, "class"))
    return found.group(1) if found else ""
