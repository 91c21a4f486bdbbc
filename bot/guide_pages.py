"""A guide as one plain HTML page, for links from Discord. Pure: a value goes in, a page comes out."""

from __future__ import annotations

from html import escape
from typing import Final

from markdown_it import MarkdownIt

from content.model import Guide

# no raw HTML from a guide, and only links that a browser follows harmlessly (markdown-it's own check)
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1f2330; --paper: #fff; --soft: #5c6275; --line: #e3e5ec; --mark: #fff3c4; --brand: #4a5be0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8f0; --paper: #1e2029; --soft: #a2a8bb; --line: #343846; --mark: #4a4322; --brand: #99a5ff; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.65 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 2.5rem 1.25rem 6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { margin: 2.6rem 0 .6rem; font-size: 1.3rem; } h3 { margin: 1.8rem 0 .4rem; font-size: 1.05rem; }
section { scroll-margin-top: 1rem; border-radius: 8px; } section:target { background: var(--mark); box-shadow: 0 0 0 .75rem var(--mark); }
.lead { color: var(--soft); font-size: 1.1rem; } .summary { border-left: 3px solid var(--brand); padding-left: .9rem; color: var(--soft); }
pre { overflow-x: auto; padding: .9rem; border: 1px solid var(--line); border-radius: 8px; } code { font-size: .92em; }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .3rem .6rem; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .9rem; }
"""


def guide_page(guide: Guide) -> str:
    """Sections carry their ids, so `…/tensorrt-engines#fusion` opens and highlights that section."""
    parts = [f"<h1>{escape(guide.title)}</h1>", f'<p class="lead">{escape(guide.summary)}</p>']
    for section in guide.sections:
        level = "h3" if section.faq else "h2"
        summary = f'<p class="summary">{escape(section.summary)}</p>' if section.summary else ""
        body = _MARKDOWN.render(section.body)
        parts.append(f'<section id="{escape(section.id)}"><{level}>{escape(section.heading)}</{level}>{summary}{body}</section>')
    if guide.glossary:
        terms = "".join(f"<dt><b>{escape(term.term)}</b></dt><dd>{escape(term.meaning)}</dd>" for term in guide.glossary)
        parts.append(f"<dl>{terms}</dl>")
    sources = "".join(f"<li>{escape(source)}</li>" for source in guide.sources)
    reviewed = escape(guide.reviewed.isoformat()) if guide.reviewed else ""
    parts.append(f"<footer><ul>{sources}</ul>{reviewed}</footer>")
    return (
        f'<!doctype html><html lang="{escape(guide.language)}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(guide.title)}</title>'
        f"<style>{_STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>"
    )
