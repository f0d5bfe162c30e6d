"""Two settings under the same churn beside each other, and predictions that are marked on the
picture, in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from coordinator.lab.page.choices import choices
from coordinator.lab.page.engine import play
from coordinator.lab.page.lessons import SEED, load
from coordinator.lab.page.lessons.runs import Run
from coordinator.lab.page.server import PageServer

from .conftest import PATIENT_MS, accessible
from .test_lessons import open_lesson

expect.set_options(timeout=PATIENT_MS)
LESSON = "04_slowest_decides"


def again(page: Page) -> None:
    """Open the link that the page has now, as somebody else who got it."""
    link = page.url
    page.goto("about:blank")
    page.goto(link)


def lost_s(name: str) -> float:
    lesson = load(LESSON)
    (settings,) = [
        each["settings"] for each in choices(lesson.scenario, LESSON) if each["name"] == name
    ]
    lines = play(lesson.scenario, LESSON, SEED, settings, script=lesson.script)
    low, _ = lesson.window_ms
    return Run(lines, (low, 1 << 40)).lost_ms() / 1000


def cells(page: Page, row: int) -> list[str]:
    return page.locator(".compare tbody tr").nth(row).locator("td").all_inner_texts()


def plot_of(page: Page) -> tuple[Locator, float, float]:
    plot = page.locator(".plot").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    return plot, box["width"], box["height"]


@pytest.mark.usefixtures("engine")
def test_two_settings_beside_each_other_by_keyboard_and_by_link(
    page: Page, server: PageServer
) -> None:
    open_lesson(page, server, LESSON)
    page.locator("#reveal").click()
    page.locator(".pager").wait_for()  # a browser tells that the answer is open after the click
    page.locator(".plot").first.focus()
    page.keyboard.press("b")
    expect(page.locator(".side-a")).to_be_focused()
    page.keyboard.press("Tab")
    for key in ("End", "ArrowUp", "Tab"):  # the last but one: KIP-848
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator(".pair svg.picture")).to_have_count(2)
    a, b = lost_s("as it stands"), lost_s("KIP-848 (uniform)")
    assert cells(page, 0) == [f"{a:g}", f"{b:g}", f"−{a - b:g}"]
    assert accessible(page) == []
    first, second = page.locator(".pair .one").nth(0), page.locator(".pair .one").nth(1)
    first.locator(".plot").focus()
    for key in ("+", "Home", "ArrowRight", "PageDown"):
        page.keyboard.press(key)
    told = first.locator(".headline strong").nth(1).inner_text()
    expect(second.locator(".headline strong").nth(1)).to_have_text(told)
    assert (
        first.locator(".axis text").all_inner_texts()
        == second.locator(".axis text").all_inner_texts()
    )
    again(page)
    expect(page.locator(".pair svg.picture")).to_have_count(2)
    assert cells(page, 0) == [f"{a:g}", f"{b:g}", f"−{a - b:g}"]


def test_predictions_are_marked_with_a_pointer_kept_by_the_reveal_and_found_in_the_link(
    page: Page, server: PageServer
) -> None:
    open_lesson(page, server, LESSON)
    page.locator(".mark-prediction").click()
    plot, wide, high = plot_of(page)
    plot.click(position={"x": wide * 0.7, "y": 110})
    expect(page.locator(".marked li")).to_have_count(1)
    plot.hover(position={"x": wide * 0.6, "y": 60})
    page.mouse.down()
    plot.hover(position={"x": wide * 0.8, "y": 60})
    page.mouse.up()
    expect(page.locator(".marked li")).to_have_count(2)
    page.locator(".predictions select").select_option("d-1")
    plot.click(position={"x": wide * 0.9, "y": high - 14})
    expect(page.locator(".marked li")).to_have_count(3)
    said = page.locator(".marked li").all_inner_texts()
    assert (
        "happens to app-1" in said[0]
        and "lasts for the group" in said[1]
        and "d-1 has orders-8" in said[2]
    )
    assert not any("In the run" in each for each in said)
    assert accessible(page) == []
    page.locator("#reveal").click()
    expect(page.locator(".marked li strong").nth(2)).to_contain_text("d-1 has it then")
    expect(page.locator(".over .mine")).to_have_count(
        4
    )  # three, and the one that could be put next
    assert "right" not in page.locator(".marked").inner_text()
    again(page)
    expect(page.locator(".over .mine")).to_have_count(3)
    expect(page.locator(".marked li")).to_have_count(3)
    page.locator(".marked button").first.click()
    expect(page.locator(".marked li")).to_have_count(2)


def test_predictions_are_marked_by_keyboard_and_spoken(page: Page, server: PageServer) -> None:
    open_lesson(page, server, LESSON)
    page.locator(".plot").first.focus()
    for key in (
        "p",
        "PageDown",
        "ArrowDown",
        "Enter",
        "Shift+ArrowRight",
        "Shift+PageDown",
        "Enter",
        "ArrowUp",
        "ArrowUp",
        "Enter",
    ):
        page.keyboard.press(key)
    expect(page.locator(".marked li")).to_have_count(3)
    said = page.locator(".marked li").all_inner_texts()
    assert (
        "happens to app-1 at 20.100 s" in said[0]
        and "lasts for app-1 from 20.100 s to 21.860 s" in said[1]
    )
    assert "app-1 has orders-8 at 20.100 s" in said[2]
    expect(page.locator(".live", has_text="Marked: app-1 has orders-8")).to_have_count(1)
    page.keyboard.press("Backspace")
    expect(page.locator(".marked li")).to_have_count(2)
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    expect(page.locator(".headline strong").nth(1)).to_have_text("0.000 s")
