"""The browser page, driven in Chromium against the double of `page_double.py`: commands, controls, people, the phone.

Proves what a person can do with the page and what the page sends for it. It proves nothing about the sandbox behind the
page, and how messages look is `test_page_messages.py`.
"""

from __future__ import annotations

import re

from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.chromium import DESK, MARKS, PHONE, opened
from tests.browser.page_double import CHANNELS, PageDouble

pytestmark = MARKS


def command(page: Page, name: str) -> Locator:
    return page.locator(f'[data-testid=slash-item][data-command="{name}"]')


# --- slash commands -------------------------------------------------------------------------------------------------------


async def test_a_slash_lists_every_subcommand_and_typing_narrows_the_list(page: Page) -> None:
    await page.get_by_test_id("composer").fill("/")
    names = [await item.get_attribute("data-command") for item in await page.get_by_test_id("slash-item").all()]
    assert names == ["ask", "broken", "help", "quiz list", "quiz play"]
    await page.get_by_test_id("composer").fill("/pla")
    await expect(page.get_by_test_id("slash-item")).to_have_count(1)
    await expect(page.get_by_test_id("slash-item")).to_contain_text("Play a quiz on your own")


async def test_a_command_is_picked_filled_and_sent_by_keyboard_alone(double: PageDouble, page: Page) -> None:
    await page.get_by_test_id("composer").press_sequentially("/quiz p")
    await page.keyboard.press("Tab")
    await expect(page.get_by_test_id("option-quiz")).to_be_focused()
    await page.keyboard.type("tensor")
    await expect(page.get_by_test_id("suggestion")).to_have_text(["Tensor Parallel"])
    await page.keyboard.press("Enter")
    await expect(page.get_by_test_id("option-quiz")).to_have_value("Tensor Parallel")
    await page.keyboard.press("Tab")
    await expect(page.get_by_test_id("option-level")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    sent = await double.said("slash")
    options = [{"name": "quiz", "type": 3, "value": "tensor-parallel"}, {"name": "level", "type": 3, "value": "advanced"}]
    assert sent["options"] == [{"name": "play", "type": 1, "options": options}]
    assert (sent["command"], sent["channel_id"]) == ("301", "201")
    answer = page.get_by_test_id("message").last
    await expect(answer).to_contain_text("Ada Lindqvist")
    await expect(answer.locator(".command-name")).to_have_text("/quiz play")
    await expect(page.get_by_test_id("composer")).to_be_focused()


async def test_autocomplete_asks_with_the_focused_option_and_the_others_so_far(double: PageDouble, page: Page) -> None:
    await page.get_by_test_id("composer").fill("/quiz play")
    await command(page, "quiz play").click()
    await page.get_by_test_id("option-count").fill("7")
    await page.get_by_test_id("option-quiz").fill("tcp")
    await expect(page.get_by_test_id("suggestion")).to_have_text(["Tcp Handshake"])
    asked = [await double.said("complete"), await double.said("complete")][-1]
    while asked["options"][0]["options"][0]["value"] != "tcp":
        asked = await double.said("complete")
    assert asked["options"][0]["options"] == [
        {"name": "quiz", "type": 3, "value": "tcp", "focused": True},
        {"name": "count", "type": 4, "value": 7},
    ]


async def test_a_missing_required_option_and_a_number_out_of_range_are_named_and_nothing_is_sent(double: PageDouble, page: Page) -> None:
    await page.get_by_test_id("composer").fill("/quiz play")
    await command(page, "quiz play").click()
    await page.get_by_test_id("send").click()
    await expect(page.get_by_test_id("composer-problem")).to_have_text("quiz: This option is required")
    await expect(page.get_by_test_id("option-quiz")).to_have_attribute("aria-invalid", "true")
    await page.get_by_test_id("suggestion").first.click()
    await page.get_by_test_id("option-count").fill("99")
    await page.keyboard.press("Enter")
    await expect(page.get_by_test_id("composer-problem")).to_have_text("count: Enter a value between 1 and 20")
    await page.get_by_test_id("option-count").fill("five")
    await page.keyboard.press("Enter")
    await expect(page.get_by_test_id("composer-problem")).to_have_text("count: Enter a whole number")
    assert [each for each in double.received if each["t"] == "slash"] == []


async def test_escape_and_backspace_leave_a_command(page: Page) -> None:
    await page.get_by_test_id("composer").fill("/ask")
    await page.keyboard.press("Enter")
    await expect(page.get_by_test_id("option-question")).to_be_focused()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await expect(page.get_by_test_id("composer")).to_be_focused()
    await page.keyboard.type("/ask")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Backspace")
    await expect(page.get_by_test_id("composer")).to_have_value("/ask")


async def test_a_reader_of_korean_sees_korean_names_and_the_default_ones_are_sent(browser: Browser, double: PageDouble) -> None:
    page, errors = await opened(browser, double, DESK, "?person=103")
    await page.get_by_test_id("composer").fill("/퀴즈")
    await expect(command(page, "quiz play")).to_contain_text("/퀴즈 풀기")
    await expect(command(page, "quiz play")).to_contain_text("혼자 퀴즈를 풀어요")
    await command(page, "quiz play").click()
    await page.get_by_test_id("suggestion").first.click()
    await page.get_by_test_id("option-level").fill("쉬움")
    await page.get_by_test_id("suggestion").first.click()
    await page.keyboard.press("Enter")
    sent = await double.said("slash")
    assert sent["options"][0]["name"] == "play"
    assert sent["options"][0]["options"][1] == {"name": "level", "type": 3, "value": "beginner"}
    await page.context.close()
    assert errors == []


async def test_plain_text_is_said_and_a_mistyped_command_is_not(double: PageDouble, page: Page) -> None:
    await page.get_by_test_id("composer").fill("hello, all")
    await page.keyboard.press("Enter")
    assert (await double.said("say"))["content"] == "hello, all"
    await expect(page.get_by_test_id("message").last).to_contain_text("hello, all")
    await page.get_by_test_id("composer").fill("/nonsense")
    await page.keyboard.press("Enter")
    await expect(page.get_by_test_id("composer-problem")).to_contain_text("/nonsense")
    await expect(page.get_by_test_id("composer")).to_have_value("/nonsense")
    assert [each for each in double.received if each["t"] == "say"] == []


async def test_a_command_without_an_answer_says_that_the_interaction_failed(page: Page) -> None:
    await page.get_by_test_id("composer").fill("/broken")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    failed = page.get_by_test_id("sending")
    await expect(failed.get_by_test_id("failed")).to_contain_text("This interaction failed")
    await failed.get_by_role("button", name="Dismiss message").click()
    await expect(failed).to_have_count(0)


# --- buttons, selects, modals ---------------------------------------------------------------------------------------------


async def test_a_press_shows_a_spinner_until_it_is_answered(double: PageDouble, page: Page) -> None:
    button = page.get_by_role("button", name="Wait", exact=True)
    await button.click()
    sent = await double.said("press", custom_id="slow")
    await expect(button).to_have_attribute("aria-busy", "true")
    await button.click()  # a second press while the first is pending is not sent
    await double.push(t="interaction", nonce=sent["nonce"], state="done", latency_ms=12.0)
    await expect(button).not_to_have_attribute("aria-busy", "true")
    await expect(button).to_be_focused()
    assert [each for each in double.received if each["t"] == "press"] == []


async def test_an_ephemeral_reply_says_so_and_can_be_dismissed(double: PageDouble, page: Page) -> None:
    await page.get_by_role("button", name="B", exact=True).click()
    reply = page.get_by_test_id("message").last
    await expect(reply).to_contain_text("Only you can see this")
    await reply.get_by_role("button", name="Dismiss message").click()
    await expect(page.get_by_text("Only you can see this")).to_have_count(0)
    assert (await double.said("dismiss"))["message_id"]


async def test_a_failed_press_and_a_refused_press_say_why_below_their_message(page: Page) -> None:
    await page.get_by_role("button", name="Fail", exact=True).click()
    await expect(page.get_by_test_id("failed")).to_have_text("This interaction failed")
    await page.get_by_role("button", name="Gone", exact=True).click()
    await expect(page.get_by_test_id("failed").last).to_have_text("this button is not on the message any more")


async def test_a_disabled_button_cannot_be_pressed_and_a_link_button_opens_a_new_tab(page: Page) -> None:
    await expect(page.get_by_role("button", name="Closed", exact=True)).to_be_disabled()
    guide = page.get_by_role("link", name="Guide", exact=True)
    await expect(guide).to_have_attribute("target", "_blank")
    await expect(guide).to_have_attribute("rel", re.compile("noopener"))


async def test_one_value_is_sent_at_once_and_several_when_the_list_closes(double: PageDouble, page: Page) -> None:
    one, many = page.get_by_test_id("select").first, page.get_by_test_id("select").nth(1)
    await one.click()
    await page.get_by_role("option", name="Topic b").click()
    assert (await double.said("select"))["values"] == ["b"]
    await expect(one).to_contain_text("Topic b")

    await many.focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")  # closed with one, where two are needed: nothing is sent
    await expect(many).to_have_attribute("aria-expanded", "false")
    await expect(many).to_contain_text("Several topics")
    await many.click()
    for letter in "dace":  # the fourth is one too many
        await page.get_by_role("option", name=f"Topic {letter}").click(force=True)
    await page.get_by_role("button", name="Done").click()
    assert (await double.said("select"))["values"] == ["a", "c", "d"]


async def test_a_modal_checks_its_fields_and_sends_them_all(double: PageDouble, page: Page) -> None:
    await page.get_by_role("button", name="Report", exact=True).click()
    modal = page.get_by_test_id("modal")
    await expect(modal).to_contain_text("Thank you for looking closely.")
    text = modal.get_by_label("What is wrong?")
    await expect(text).to_be_focused()
    await modal.get_by_role("button", name="Submit").click()
    await expect(modal.get_by_text("This field is required")).to_have_count(3)
    await text.fill("short")
    await modal.get_by_role("button", name="Submit").click()
    await expect(modal.get_by_text("At least 10 characters")).to_be_visible()
    await text.fill("The key should be C.")
    await modal.get_by_test_id("select").click()
    await page.get_by_role("option", name="Choices").click()
    await modal.get_by_label("Quite").check()
    await modal.get_by_label("한국어").check()
    await modal.get_by_label("Tell me what became of it").uncheck()
    await modal.get_by_role("button", name="Submit").click()
    sent = await double.said("submit")
    assert sent["modal_id"] == "m1"
    assert sent["fields"] == {"text": "The key should be C.", "where": ["choices"], "sure": "quite", "languages": ["ko"], "tell": False}
    await expect(modal).to_have_count(0)


async def test_a_failed_submit_keeps_what_was_typed_and_escape_closes_the_modal(double: PageDouble, page: Page) -> None:
    await page.get_by_role("button", name="Report", exact=True).click()
    modal = page.get_by_test_id("modal")
    await modal.get_by_label("What is wrong?").fill("please fail now")
    await modal.get_by_test_id("select").click()
    await page.keyboard.press("Enter")
    await modal.get_by_label("A hunch").check()
    await modal.get_by_role("button", name="Submit").click()
    await double.said("submit")
    await expect(modal.get_by_text("Something went wrong. Try again.")).to_be_visible()
    await expect(modal.get_by_label("What is wrong?")).to_have_value("please fail now")
    await page.keyboard.press("Escape")
    await expect(modal).to_have_count(0)


# --- people, channels, the socket -----------------------------------------------------------------------------------------


async def test_another_person_keeps_the_channel_and_brings_a_language(double: PageDouble, page: Page) -> None:
    await page.locator("[data-testid=channel][data-name=empty-room]").click()
    await double.said("open", channel_id="202")
    await expect(page.get_by_text("Type / to see what the bot can do – try /quiz play")).to_be_visible()
    await page.get_by_test_id("person-switcher").click()
    await page.locator('[data-testid=person][data-name="Иван Белов"]').click()
    await double.said("open", channel_id="202")
    assert list(double.sockets.values()) == ["105"]
    await expect(page.get_by_test_id("person-switcher")).to_contain_text("Иван Белов")
    await expect(page.get_by_text("Добро пожаловать в #empty-room")).to_be_visible()
    await page.get_by_test_id("person-switcher").click()
    await page.get_by_test_id("locale-select").select_option("el")
    assert (await double.said("locale"))["locale"] == "el"
    await expect(page.get_by_text("Καλώς ήρθατε στο #empty-room")).to_be_visible()
    await expect(page.locator("html")).to_have_attribute("lang", "el")


async def test_a_new_thread_is_listed_below_its_channel_and_unread_channels_are_marked(double: PageDouble, page: Page) -> None:
    thread = {"id": "212", "name": "Round 2", "type": 11, "parent_id": "201", "topic": None}
    double.history["212"] = []
    await double.push(t="channel", op="create", channel=thread)
    entry = page.locator('[data-testid=channel][data-name="Round 2"]')
    await expect(page.locator(".threads").filter(has=entry)).to_be_visible()
    await double.show("212", "Here we go.")
    await expect(entry).to_have_class(re.compile("unread"))
    await entry.click()
    await expect(page.get_by_test_id("message")).to_have_count(1)
    await expect(entry).not_to_have_class(re.compile("unread"))


async def test_a_lost_socket_is_said_and_comes_back_with_everything(double: PageDouble, page: Page) -> None:
    await page.locator("[data-testid=channel][data-name=empty-room]").click()
    await double.said("open", channel_id="202")
    await page.evaluate(
        """() => {
          window.banners = [];
          const banner = document.getElementById("banner");
          const note = () => banner.hidden || window.banners.push(banner.textContent);
          new MutationObserver(note).observe(banner, { childList: true, attributes: true });
        }"""
    )
    await page.get_by_test_id("composer").fill("half a sentence")
    double.message("202", "Said while the page was away.")
    await double.drop()
    await double.said("open", channel_id="202")
    await expect(page.get_by_text("Said while the page was away.")).to_be_visible()
    assert "Reconnecting…" in await page.evaluate("window.banners")
    await expect(page.locator("#banner")).to_be_hidden()
    await expect(page.get_by_test_id("composer")).to_have_value("half a sentence")


async def test_a_restarted_sandbox_keeps_the_person_and_one_that_does_not_know_them_offers_another(
    browser: Browser, double: PageDouble
) -> None:
    page, _ = await opened(browser, double, DESK, "?person=104&channel=203")
    port = int(double.origin.rpartition(":")[2])
    await double.close()
    await expect(page.locator("#banner")).to_be_visible()
    await page.wait_for_event("console", lambda message: "WebSocket" in message.text)  # one try was in vain
    restarted = PageDouble()
    await restarted.start(port)
    try:
        await restarted.said("open", channel_id="203")
        assert list(restarted.sockets.values()) == ["104"]
        restarted.people = [person for person in restarted.people if person["id"] != "104"]
        await restarted.drop()
        await restarted.said("open", channel_id="203")
        assert list(restarted.sockets.values()) == ["101"]
        await page.context.close()
    finally:
        await restarted.close()


async def test_the_status_line_shows_the_engine_the_download_and_the_latency(double: PageDouble, page: Page) -> None:
    status = page.get_by_test_id("status")
    await expect(status).to_contain_text("Studyhall online")
    await expect(status).to_contain_text("answers by quoting the guide")
    await expect(status).to_contain_text("p50 41 ms · p95 118 ms")
    download = {"name": "qwen", "done_bytes": 275_000_000, "total_bytes": 1_100_000_000, "state": "downloading", "detail": ""}
    await double.push(t="status", status=double.status | {"bot": "offline", "download": download, "violations": 2})
    await expect(status).to_contain_text("275.0 MB / 1100.0 MB · 25 %")
    await expect(status.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "25")
    await expect(status).to_contain_text("Studyhall offline")
    await expect(status).to_contain_text("2 rule violations")


# --- the phone ------------------------------------------------------------------------------------------------------------

SMALL_TARGETS = """() => [...document.querySelectorAll("button, a.button, li[role=option], input, textarea, select")]
  .filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest(".markup"))
  .map((node) => node.closest("label.pill, label.choice") ?? node)
  .filter((node) => node.getBoundingClientRect().height < 40)
  .map((node) => [node.getBoundingClientRect().height, node.outerHTML.slice(0, 90)])"""


async def test_a_phone_has_no_sideways_scroll_a_drawer_and_targets_that_a_thumb_can_hit(browser: Browser, double: PageDouble) -> None:
    page, errors = await opened(browser, double, PHONE)
    for channel in CHANNELS:
        await expect(page.get_by_test_id("channel").first).not_to_be_in_viewport()
        await page.locator("#menu").click()
        entry = page.locator(f'[data-testid=channel][data-name="{channel["name"]}"]')
        await entry.click()
        await double.said("open", channel_id=channel["id"])
        await expect(page.locator("#title")).to_have_text(channel["name"])
        wide = await page.evaluate("[document.documentElement.scrollWidth, document.getElementById('log').scrollWidth, innerWidth]")
        assert wide == [390, 390, 390]
        assert await page.evaluate(SMALL_TARGETS) == []
    await page.get_by_test_id("composer").fill("/quiz play")
    await page.get_by_test_id("slash-item").first.click()
    await expect(page.get_by_test_id("suggestion").first).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    assert await page.evaluate(SMALL_TARGETS) == []
    await page.context.close()
    assert errors == []
