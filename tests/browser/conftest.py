"""The browser (one for a module), the double (one for a test), and a page that shows its first channel without an error."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.browser.chromium import CHROMIUM, DESK, FLAGS, opened
from tests.browser.page_double import PageDouble


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def double() -> AsyncIterator[PageDouble]:
    double = PageDouble()
    await double.start()
    yield double
    await double.close()


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, double: PageDouble) -> AsyncIterator[Page]:
    page, errors = await opened(browser, double, DESK)
    await expect(page.get_by_test_id("message").first).to_be_visible()
    yield page
    await page.context.close()
    assert errors == []
