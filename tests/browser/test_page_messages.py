"""How the browser page shows messages: Markdown, embeds, edits; and that no text of a message becomes code.

Chromium is the judge: the page draws what the double of `page_double.py` sends. What a person does with a message is
`test_page.py`.
"""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.chromium import DESK, MARKS, opened
from tests.browser.page_double import PageDouble

pytestmark = MARKS


async def message(double: PageDouble, page: Page, content: str = "", **more: Any) -> Locator:
    """Show a message of the bot in the first channel and find it on the page."""
    shown = await double.show("201", content, **more)
    found = page.locator(f'[data-testid=message][data-id="{shown["id"]}"]')
    await expect(found).to_be_visible()
    return found


# --- messages -------------------------------------------------------------------------------------------------------------


async def test_a_thinking_reply_becomes_its_answer_and_an_edit_is_marked(double: PageDouble, page: Page) -> None:
    thinking = await message(double, page, flags=128)
    await expect(thinking).to_contain_text("Studyhall is thinking…")
    stored = double.history["201"][-1]
    stored |= {"flags": 0, "content": "Because blocks are shared."}
    await double.push(t="message", op="update", channel_id="201", message=stored)
    await expect(thinking).to_contain_text("Because blocks are shared.")
    await expect(thinking).not_to_contain_text("(edited)")
    await expect(thinking).to_have_attribute("aria-live", "polite")  # an awaited answer is announced, an edit of it is not
    stored["edited_timestamp"] = stored["timestamp"]
    await double.push(t="message", op="update", channel_id="201", message=stored)
    await expect(thinking).to_contain_text("(edited)")
    await expect(thinking).to_have_attribute("aria-live", "off")


async def test_messages_of_one_author_are_grouped_and_a_deleted_one_disappears(double: PageDouble, page: Page) -> None:
    first, second = (
        await message(double, page, "One.", author=double.user("102")),
        await message(double, page, "Two.", author=double.user("102")),
    )
    await expect(first.locator(".author")).to_be_visible()
    await expect(second.locator(".author")).to_be_hidden()
    identity = await first.get_attribute("data-id")
    await double.push(t="message", op="delete", channel_id="201", message={"id": identity})
    await expect(first).to_have_count(0)
    await expect(second.locator(".author")).to_be_visible()


async def test_no_text_of_a_message_becomes_code_or_a_script_link(double: PageDouble, page: Page) -> None:
    evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
    links = "[a](javascript:window.hacked=1) [b](data:text/html,x) <javascript:window.hacked=1>"
    embed = {"title": evil, "url": "javascript:window.hacked=1", "description": evil, "fields": [{"name": evil, "value": evil}]}
    buttons = [{"type": 1, "components": [{"type": 2, "style": 5, "label": evil, "url": "javascript:window.hacked=1"}]}]
    shown = await message(double, page, f"{evil}\n{links}", embeds=[embed], components=buttons)
    await expect(shown).to_contain_text(evil)
    assert await shown.locator("img, script, a").count() == 0
    assert await page.evaluate("window.hacked") is None


async def test_the_browser_itself_refuses_to_parse_a_string_as_html(browser: Browser, double: PageDouble) -> None:
    page, errors = await opened(browser, double, DESK)
    refused = await page.evaluate("() => { try { document.body.innerHTML = '<b>x</b>'; return 'parsed'; } catch (e) { return e.name; } }")
    assert refused == "TypeError"
    assert any("TrustedHTML" in error for error in errors)
    await page.context.close()


MARKDOWN = {
    "**bold** *it* _al_ __under__ ~~gone~~": "<strong>bold</strong> <em>it</em> <em>al</em> <u>under</u> <s>gone</s>",
    "***both*** **a *b* c**": "<em><strong>both</strong></em> <strong>a <em>b</em> c</strong>",
    "snake_case_name 2*3*4": "snake_case_name 2<em>3</em>4",
    r"\*plain\* \`x`": "*plain* `x`",
    "`**code**` ``a`b``": "<code>**code**</code> <code>a`b</code>",
    "one\ntwo": "one<br>two",
    "a < b && c > d": "a &lt; b &amp;&amp; c &gt; d",
    "**never closed": "**never closed",
    "<@102> <#202> <@999>": '<span class="mention">@Ben Okafor</span> <button type="button" class="mention">#empty-room</button> '
    '<span class="mention">@999</span>',
    ":tada: <:custom:123>": ":tada: :custom:",
}
BLOCKS = {
    "# One\n## Two\n### Three\n#### Four": ["h3:One", "h4:Two", "h5:Three", "div:#### Four"],
    "-# small": ["small:small"],
    "> a\n> b\nc": ["blockquote:a\nb", "div:c"],
    ">>> a\n\nb": ["blockquote:a\n\nb"],
    "x\n```py\n**a**\n```\ny": ["div:x", "pre:**a**", "div:y"],
    "- a\n  - b\n- c\n1. d": ["div:a\nb\nc\nd"],
}
IN_PAGE = """async (text) => {
  const { markdown } = await import("/static/markdown.js");
  const people = { "102": "Ben Okafor" };
  const names = { userName: (id) => people[id] ?? id, channelName: () => "empty-room", word: (key) => key };
  const context = { locale: "en-US", openChannel() {}, ...names };
  const node = document.createElement("div");
  document.body.append(node);
  node.append(markdown(text, context));
  const blocks = [...node.children].map((each) => `${each.tagName.toLowerCase()}:${each.innerText}`);
  const result = { inline: node.firstChild?.innerHTML ?? "", blocks, html: node.innerHTML };
  node.remove();
  return result;
}"""


async def test_discord_markdown_becomes_the_right_elements(page: Page) -> None:
    assert {text: (await page.evaluate(IN_PAGE, text))["inline"] for text in MARKDOWN} == MARKDOWN
    assert {text: (await page.evaluate(IN_PAGE, text))["blocks"] for text in BLOCKS} == BLOCKS
    nested = (await page.evaluate(IN_PAGE, "- a\n  - b\n- c\n1. d"))["html"]
    assert '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul><ol start="1"><li>d</li></ol>' in nested
    linked = (await page.evaluate(IN_PAGE, '[the *guide*](http://127.0.0.1:1/a_(b) "t"), https://x.test/a?b=1. <https://y.test/>'))[
        "inline"
    ]
    assert re.findall(r'href="([^"]*)"', linked) == ["http://127.0.0.1:1/a_(b)", "https://x.test/a?b=1", "https://y.test/"]
    assert linked.count('target="_blank" rel="noopener noreferrer"') == 3


async def test_no_text_makes_the_renderer_hang(page: Page) -> None:
    pieces = ["*", "**a**", "__b__ _", "||", "`", "```", "> ", "- ", "[a](", "~~", "\\", "<t:1:R> ", "\n> - # ", "[[", "\n  - a\n1. b"]
    timed = f"async (text) => {{ const start = performance.now(); await ({IN_PAGE})(text); return performance.now() - start; }}"
    spent_ms = {piece: await page.evaluate(timed, (piece * 4096)[:4096]) for piece in pieces}
    assert {piece: spent for piece, spent in spent_ms.items() if spent > 4000} == {}  # unbounded backtracking would take minutes


async def test_a_spoiler_is_hidden_until_it_is_pressed_and_an_edit_does_not_hide_it_again(double: PageDouble, page: Page) -> None:
    shown = await message(double, page, "The key is ||B||.")
    spoiler = shown.get_by_role("button", name="Spoiler")
    await expect(spoiler.locator(".spoiler-text")).to_have_css("visibility", "hidden")
    await spoiler.press("Enter")
    await expect(shown.locator(".spoiler-text")).to_have_css("visibility", "visible")
    edited = double.history["201"][-1] | {"content": "The key is ||B||, and ||C|| is close."}
    await double.push(t="message", op="update", channel_id="201", message=edited)
    await expect(shown.locator(".spoiler-text")).to_have_count(2)
    await expect(shown.locator(".spoiler-text").first).to_have_css("visibility", "visible")
    await expect(shown.locator(".spoiler-text").last).to_have_css("visibility", "hidden")


async def test_a_relative_time_counts_down_by_itself(double: PageDouble, page: Page) -> None:
    now_s = await page.evaluate("Math.floor(Date.now() / 1000)")
    shown = await message(double, page, f"Ends <t:{now_s + 45}:R>")
    time = shown.locator("time.timestamp")
    before = await time.inner_text()
    assert re.fullmatch(r"in 4\d seconds", before)
    await expect(time).not_to_have_text(before)
    far = """async (s) => { const { relative } = await import("/static/markdown.js");
    return [relative(s + 7300, "en-US", s * 1000), relative(s - 90, "ru", s * 1000)]; }"""
    assert await page.evaluate(far, now_s) == ["in 2 hours", "1 минуту назад"]


async def test_an_embed_shows_its_parts_and_a_picture_its_alt_text(page: Page) -> None:
    embed = page.get_by_test_id("embed").first
    await expect(embed.get_by_role("link", name="Round closed")).to_be_visible()
    await expect(embed.locator(".field.span-3")).to_have_count(3)
    await expect(embed.locator(".field.span-1")).to_contain_text("Logical blocks to physical blocks")
    await page.locator("[data-testid=channel][data-name=layouts]").click()
    await expect(page.get_by_role("img", name="Answers", exact=True)).to_be_visible()
    await expect(page.locator(".container")).to_contain_text("Your week")
    await expect(page.get_by_role("button", name="Review", exact=True)).to_be_enabled()
