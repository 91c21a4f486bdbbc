"""Rules for a single text: mentions, links, hidden characters, control tokens, HTML, Markdown that is not closed.

Pure: a string in, findings out. What stands in code is read for hidden characters and control tokens only, because
Discord shows code as it is while a language model reads it like any other text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

HOSTS: Final = frozenset(
    "docs.nvidia.com developer.nvidia.com nvidia.github.io nvidia.com github.com arxiv.org doi.org pytorch.org docs.pytorch.org "
    "huggingface.co onnx.ai onnxruntime.ai wikipedia.org rfc-editor.org ietf.org docs.python.org unicode.org discord.com".split()
)
"""Where links may lead, with their subdomains."""

MAX_FINDINGS: Final = 20
"""Of one text; whoever repairs those runs the check again."""
HIDDEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e007f"
)
"""Never wanted: soft hyphen, zero-width, fillers, direction changes, tags. Joiners and marks are judged by their neighbours."""

_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_ALWAYS = re.compile(f"[{HIDDEN}{_CONTROLS}]")
_JOINERS: Final = "\u200c\u200d\u200e\u200f"
_SUSPECT = re.compile(f"[@<>`\\[|*/\\\\{_JOINERS}{HIDDEN}{_CONTROLS}]")
_JOINED = re.compile("[\u0600-\u08ff\u0900-\u0dff\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]")
_RTL = re.compile("[\u0590-\u08ff]")
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(`{1,3})[^`\n](?:.{0,500}?[^`\n])??\1(?!`)", re.DOTALL)
_MENTION = re.compile(r"@(?:everyone|here)\b|<@[!&]?\d+>|<#\d+>|<id:\w+>|</[^<>\n:]{1,120}:\d+>", re.IGNORECASE)
_TOKEN = re.compile(
    r"<[|｜][^<>|｜\n]{1,60}[|｜]>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_(?:turn|text|image)>|</?(?:s|bos|eos|pad|unk|think|tool_call)>|\[(?:BOS|EOS|AVAILABLE_TOOLS|TOOL_CALLS)\]"
)
_URL = re.compile(r"\bhttps?://[^\s<>\"'`\])]+", re.IGNORECASE)
_MASKED = re.compile(r"\[([^\[\]\n]{0,300})\]\([ \t]*<?([^()\s<>]{1,2000})")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]{1,2000})>")
_HTML = re.compile(r"<!--|</?[A-Za-z][A-Za-z0-9-]{0,40}(?:\s[^<>]{0,500})?/?>")
_HOST_IN_TEXT = re.compile(r"\b(?:https?://)?((?:[a-z0-9-]+\.)+[a-z]{2,})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule broken by a text; `needle` is what stands in the text, for finding its line."""

    code: str
    what: str
    remedy: str
    needle: str = ""


def suspicious(text: str) -> bool:
    """Whether `findings` could find anything; several times cheaper than asking it."""
    return _SUSPECT.search(text) is not None or not (text.isascii() or unicodedata.is_normalized("NFC", text))


def findings(text: str, hosts: Collection[str] = HOSTS, *, anchors: bool = False) -> list[Finding]:
    """Everything wrong with one text. With `anchors`, links to #section are left to the caller."""
    found = _hidden(text)
    for token in _TOKEN.findall(text):
        found.append(Finding("TEXT-TOKEN", f"holds the control token {token!r}", "Remove or reword it.", token))
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        found.append(Finding("TEXT-NFC", "is not in Unicode normal form C", "Run check --fix."))
    fences = len(re.findall(r"^[ \t]*```", text, re.MULTILINE))
    if fences % 2:
        found.append(Finding("TEXT-MARKDOWN", "has a code fence that is not closed", "Add a line of ```.", "```"))
    prose = _SPAN.sub(" ", _FENCE.sub("\n", text))
    for mention in _MENTION.findall(prose):
        found.append(Finding("TEXT-MENTION", f"holds the mention {mention!r}", "Reword it, or put it in `code`.", mention))
    found += _links(prose, hosts, anchors=anchors)
    for tag in _HTML.findall(prose):
        if not _TOKEN.fullmatch(tag) and not _MENTION.fullmatch(tag):
            found.append(Finding("TEXT-HTML", f"holds the HTML {tag[:40]!r}", "Use Markdown, or put it in `code`.", tag))
    found += _unclosed(prose)
    return list({(each.code, each.what): each for each in found}.values())[:MAX_FINDINGS]


def _hidden(text: str) -> list[Finding]:
    found: list[Finding] = []
    for position in hidden_positions(text):
        character = text[position]
        name = unicodedata.name(character, f"control character {ord(character):#04x}")
        found.append(Finding("TEXT-HIDDEN", f"holds U+{ord(character):04X} ({name})", "Run check --fix, or delete it.", character))
        if len(found) == 3:
            break
    return found


def hidden_positions(text: str) -> list[int]:
    """Offsets of characters that a reader cannot see. Joiners inside emoji and scripts that need them are fine."""
    found = [match.start() for match in _ALWAYS.finditer(text)]
    for match in re.finditer(f"[{_JOINERS}]", text):
        at = match.start()
        if match.group() in "\u200e\u200f":
            fine = _RTL.search(text) is not None
        else:
            fine = 0 < at < len(text) - 1 and bool(_JOINED.match(text[at - 1])) and bool(_JOINED.match(text[at + 1]))
        if not fine:
            found.append(at)
    return sorted(found)


def _links(prose: str, hosts: Collection[str], *, anchors: bool) -> list[Finding]:
    found: list[Finding] = []
    for label, target in _MASKED.findall(prose):
        scheme = _SCHEME.match(target)
        if target.startswith("#") and anchors:
            continue
        if scheme is not None and scheme.group(1).lower() not in ("http", "https"):
            found.append(Finding("TEXT-SCHEME", f"links to {target[:60]!r}", "Link to an https:// address.", target))
            continue
        shown = _HOST_IN_TEXT.search(label)
        host = _host(target)
        if shown is not None and host and _related(shown.group(1).lower(), host) is False:
            what = f"shows {shown.group(1)!r} and leads to {host!r}"
            found.append(Finding("TEXT-SCHEME", what, "Let the text of a link name where it leads.", target))
    for target in _AUTOLINK.findall(prose):
        scheme = target.partition(":")[0].lower()
        if scheme not in ("http", "https", "t", "a", "id"):
            found.append(Finding("TEXT-SCHEME", f"links to {target[:60]!r}", "Link to an https:// address.", target))
    for url in _URL.findall(prose):
        host = _host(url)
        if not any(host == allowed or host.endswith("." + allowed) for allowed in hosts):
            found.append(Finding("TEXT-LINK", f"links to {host or url[:60]!r}, which is not on the allow-list", "Remove the link.", url))
        elif not url.startswith("https://"):
            found.append(Finding("TEXT-LINK", f"links to {url[:60]!r} without encryption", "Use https://.", url))
    return found


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:  # brackets that are no IPv6 address
        return ""


def _related(shown: str, host: str) -> bool:
    return host == shown or host.endswith("." + shown) or shown.endswith("." + host)


def _unclosed(prose: str) -> list[Finding]:
    plain = re.sub(r"\\.", "", prose, flags=re.DOTALL)
    found: list[Finding] = []
    if plain.count("`") % 2:
        found.append(Finding("TEXT-MARKDOWN", "has a ` that is not closed", "Close the code span, or write \\`.", "`"))
    for mark, name in (("**", "bold"), ("||", "spoiler")):
        if len(re.findall(re.escape(mark), plain)) % 2:
            found.append(Finding("TEXT-MARKDOWN", f"has a {mark} ({name}) that is not closed", f"Close it, or put {mark} in `code`.", mark))
    return found
