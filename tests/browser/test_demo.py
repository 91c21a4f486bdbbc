"""The demo as a stranger meets it: `studyhall demo` in a process of its own, its page in Chromium.

Plays the whole TensorRT quiz by slash command and buttons, asks why, reads the cited answer and the score, at desk and at
phone width. STUDYHALL_SCREENSHOTS names a folder for the pictures of the README. It does not prove that the page looks
good: somebody has to look.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.chromium import DESK, MARKS, PHONE, TIMEOUT_MS

pytestmark = MARKS


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of a running demo that quotes, with a database of its own."""
    database = tmp_path_factory.mktemp("demo") / "demo.db"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo", "--port", "0", "--engine", "quoting", "--no-browser", "--database", str(database),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    line = (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
    found = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert found, line
    yield found.group()
    process.terminate()
    await asyncio.wait_for(process.wait(), 20)
    assert process.returncode == 0


async def picture(page: Page, name: str) -> None:
    folder = os.environ.get("STUDYHALL_SCREENSHOTS")
    if folder:
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def as_sam(browser: Browser, demo: str, viewport: dict[str, int]) -> Page:
    context = await browser.new_context(viewport=viewport, reduced_motion="reduce", locale="en-US", color_scheme="dark")
    context.set_default_timeout(TIMEOUT_MS)
    page = await context.new_page()
    await page.goto(demo)
    await page.get_by_test_id("person-switcher").click()
    await page.locator('[data-testid=person][data-name="Sam"]').click()
    await expect(page.get_by_test_id("person-switcher")).to_contain_text("Sam")
    return page


async def command(page: Page, name: str, typed: str, suggestion: str) -> None:
    """Use a slash command by hand: menu, first option, a suggestion, Enter."""
    await page.get_by_test_id("composer").click()
    await page.keyboard.type(f"/{name.split()[0]}")
    await page.locator(f'[data-testid=slash-item][data-command="{name}"]').click()
    await page.keyboard.type(typed)
    await page.get_by_test_id("suggestion").get_by_text(suggestion, exact=True).click()
    await page.keyboard.press("Enter")


async def test_the_whole_quiz_is_played_and_why_is_answered_with_citations(browser: Browser, demo: str) -> None:
    page = await as_sam(browser, demo, DESK)
    title = "TensorRT and inference engines"
    await command(page, "quiz play", "tensorrt and", f"{title} (intermediate)")
    for number in range(1, 9):
        await expect(page.get_by_text(f"{title} · question {number} of 8")).to_be_visible()
        if number == 1:
            await picture(page, "question")
        await page.get_by_role("button", name=re.compile(r"^B\. ")).last.click()
        await expect(page.get_by_role("button", name="Why?")).to_be_visible()
        if number == 1:
            await picture(page, "verdict")
            await page.get_by_role("button", name="Why?").click()
            answer = page.get_by_test_id("message").last
            await expect(answer).to_contain_text("[1]")
            await expect(answer).to_contain_text("Sources")
            await picture(page, "why")
            link = answer.get_by_role("link", name="[1]").first
            target = await link.get_attribute("href")
            assert target is not None
            assert target.startswith(f"{demo}/guides/tensorrt-engines")
            section = await page.context.request.get(target)
            assert f'id="{target.partition("#")[2]}"' in await section.text()
            await answer.get_by_text("Dismiss message").click()
        await page.get_by_role("button", name="See the result" if number == 8 else "Next question").click()
    result = page.get_by_test_id("message").last
    await expect(result).to_contain_text(re.compile(r"\d of 8 points"))
    await expect(result).to_contain_text("Time:")
    await picture(page, "result")
    await expect(page.get_by_test_id("status")).to_contain_text("quoting the guide")
    await page.context.close()


async def test_a_phone_shows_the_same_round_without_scrolling_sideways(browser: Browser, demo: str) -> None:
    page = await as_sam(browser, demo, PHONE)
    await command(page, "quiz play", "model", "Model quantization (intermediate)")
    await expect(page.get_by_text("Model quantization · question 1 of 8")).to_be_visible()
    await picture(page, "phone-question")
    await page.get_by_role("button", name=re.compile(r"^A\. ")).click()
    await page.get_by_role("button", name="Why?").click()
    await expect(page.get_by_test_id("message").last).to_contain_text("Sources")
    await picture(page, "phone-why")
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await page.context.close()


async def test_a_guide_is_read_page_by_page_and_a_question_is_asked(browser: Browser, demo: str) -> None:
    page = await as_sam(browser, demo, DESK)
    await command(page, "guide", "tensor", "TensorRT and inference engines")
    await expect(page.get_by_text(re.compile("TensorRT and inference engines · 1 of"))).to_be_visible()
    await picture(page, "guide")
    await page.get_by_role("button", name="Next", exact=True).click()
    await expect(page.get_by_text(re.compile("TensorRT and inference engines · 2 of"))).to_be_visible()
    await page.get_by_test_id("composer").click()
    await page.keyboard.type("/ask")
    await page.locator('[data-testid=slash-item][data-command="ask"]').click()
    await page.keyboard.type("Why is my engine tied to one GPU?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_test_id("message").last).to_contain_text("Why an engine is tied to one GPU")
    await picture(page, "ask")
    await page.context.close()
