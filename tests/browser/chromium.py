"""Debian's Chromium as the page's tests start it: headless, an empty profile, and no traffic of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.page_double import PageDouble

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
TIMEOUT_MS = 10_000  # generous: two cores may be shared with other work
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}

# every test module of the page: one event loop, so that all its tests share one browser
MARKS = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed"),
]


async def opened(browser: Browser, double: PageDouble, viewport: dict[str, int], query: str = "") -> tuple[Page, list[str]]:
    """A page that shows its channel, and the list in which its errors would stand."""
    context = await browser.new_context(viewport=viewport, reduced_motion="reduce", locale="en-US")
    context.set_default_timeout(TIMEOUT_MS)
    page = await context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    await page.goto(f"{double.origin}/{query}")
    await expect(page.locator("#title")).not_to_be_empty()
    await double.said("open")
    return page, errors
