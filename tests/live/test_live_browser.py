"""A live round in the sandbox's page: one browser for the instructor, one for each of three learners, the real bot behind.

Everything is done by hand in the page: commands typed, buttons clicked, a wrong key repaired in the middle. The pictures of
docs/live-rounds.md come from here (STUDYHALL_SCREENSHOTS names the folder), and so does a recording of each page, step by
step, for `playwright show-trace` (STUDYHALL_RECORDINGS). It does not prove that the page looks good: somebody has to look.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from bot.sandbox.driver import Sandbox
from tests.browser.chromium import CHROMIUM, DESK, FLAGS, TIMEOUT_MS
from tests.live.conftest import ROOM, logged_in

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed"),
]
RECORDS = os.environ.get("STUDYHALL_RECORDINGS")
LEARNERS = ("Sam", "Eleni", "Lin")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


async def page_of(browser: Browser, url: str, name: str, *, scheme: str = "dark") -> Page:
    """A browser of this person's own, in the room of the live rounds."""
    context = await browser.new_context(viewport=DESK, reduced_motion="reduce", locale="en-US", color_scheme=scheme)
    context.set_default_timeout(TIMEOUT_MS)
    if RECORDS:
        await context.tracing.start(title=name, screenshots=True, snapshots=True)
    page = await context.new_page()
    await page.goto(url)
    await page.get_by_test_id("person-switcher").click()
    await page.locator(f'[data-testid=person][data-name="{name}"]').click()
    await expect(page.get_by_test_id("person-switcher")).to_contain_text(name)
    await page.locator(f'[data-testid=channel][data-name="{ROOM}"]').click()
    return page


async def picture(page: Page, name: str) -> None:
    folder = os.environ.get("STUDYHALL_SCREENSHOTS")
    if folder:
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def option(page: Page, name: str, value: str, suggestion: str | None = None) -> None:
    """Fill one option of the command that is being typed."""
    field = page.get_by_test_id(f"option-{name}")
    if not await field.is_visible():
        await page.get_by_text(name, exact=True).last.click()
    await field.click()
    await page.keyboard.type(value)
    if suggestion is not None:
        await page.get_by_test_id("suggestion").get_by_text(suggestion, exact=True).click()


def message(page: Page, words: str) -> Locator:
    return page.get_by_test_id("message").filter(has_text=words).last


def button(where: Locator, label: str) -> Locator:
    return where.get_by_role("button", name=label, exact=True)


async def test_an_instructor_and_three_learners_play_a_round_with_a_repair_in_the_middle(chromium: Browser, tmp_path: Path) -> None:
    async with Sandbox() as sandbox, logged_in(sandbox, tmp_path):
        for name in LEARNERS:
            sandbox.person(name).locale = "en-US"
        ada = await page_of(chromium, sandbox.url, "Ada")
        # the instructor opens the round by typing the command
        await ada.get_by_test_id("composer").click()
        await ada.keyboard.type("/live")
        await ada.locator('[data-testid=slash-item][data-command="live start"]').click()
        await ada.keyboard.type("harb")
        await ada.get_by_test_id("suggestion").get_by_text(re.compile("^The harbour")).click()
        await option(ada, "shuffle", "", "False")
        await ada.keyboard.press("Enter")
        console = message(ada, "Console · The harbour")
        await expect(console).to_be_visible()
        await picture(ada, "live-lobby")
        learners = [await page_of(chromium, sandbox.url, name, scheme="light" if name == "Lin" else "dark") for name in LEARNERS]
        for page in learners:
            await button(message(page, "live round"), "Join").click()
            await expect(message(page, "You are in")).to_be_visible()
        await button(console, "Start").click()
        for page, choice in zip(learners, ("At dawn", "At dusk", "At dawn"), strict=True):
            question = message(page, "question 1 of 5")
            await question.get_by_role("button", name=re.compile(choice)).click()
            await expect(message(page, "Recorded")).to_contain_text(choice)
        await expect(message(ada, "question 1 of 5")).to_contain_text("3 answered · 3 here")
        await picture(learners[0], "live-question")
        await expect(console).to_contain_text("3 of 3 answered")
        await picture(ada, "live-console")
        await button(console, "Close now").click()
        revealed = message(ada, "Answer · question 1 of 5")
        await expect(revealed).to_contain_text("1 of 3 had it right")
        await expect(revealed.locator("img[src*=answers]")).to_be_visible()
        await expect(revealed).to_contain_text("Eleni · 1")
        # the key was wrong: dawn it is
        await ada.get_by_test_id("composer").click()
        await ada.keyboard.type("/live")
        await ada.locator('[data-testid=slash-item][data-command="live repair"]').click()
        await ada.keyboard.type("1")
        await ada.keyboard.press("Tab")
        await ada.get_by_test_id("suggestion").get_by_text("this is the key", exact=True).click()
        await option(ada, "answer", "dawn")
        await ada.get_by_test_id("suggestion").get_by_text(re.compile("At dawn")).click()
        await ada.keyboard.press("Enter")
        await expect(message(ada, "was repaired")).to_contain_text("The points of 3 people changed")
        for page in learners:
            shown = message(page, "Answer · question 1 of 5")
            await expect(shown).to_contain_text("2 of 3 had it right")
            await expect(shown).to_contain_text("Sam · 1")
            await expect(shown.locator("img[src*=answers]")).to_have_attribute("alt", re.compile("At dawn: 2 .*right answer"))
        await message(learners[0], "Answer · question 1 of 5").scroll_into_view_if_needed()
        await picture(learners[0], "live-reveal")
        await picture(learners[2], "live-reveal-light")
        await button(message(learners[1], "Answer · question 1 of 5"), "My place").click()
        await expect(message(learners[1], "You are in place")).to_contain_text("place 3 of 3 with 0 of 1 points")
        await button(console, "Next question").click()
        await expect(message(learners[0], "question 2 of 5")).to_be_visible()
        await button(console, "End round").click()
        await button(console, "End round").click()
        podium = message(learners[0], "the end")
        await expect(podium).to_contain_text("Sam · 1")
        await podium.scroll_into_view_if_needed()
        await picture(learners[0], "live-podium")
        await button(podium, "My results").click()
        await expect(message(learners[0], "Your results")).to_contain_text("When does the outer gate close?")
        for name, page in zip(("Ada", *LEARNERS), (ada, *learners), strict=True):
            if RECORDS:
                await page.context.tracing.stop(path=Path(RECORDS) / f"live-round-{name.lower()}.zip")
            await page.context.close()
