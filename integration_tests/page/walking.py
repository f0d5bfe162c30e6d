"""A walk through a lesson, by keyboard alone or by pointer, and what cannot be seen on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from .conftest import PATIENT_MS

expect.set_options(timeout=PATIENT_MS)
Act = Callable[[Page, str], None]
_IN_VIEW = """(lanes) => {
    const high = innerHeight, plot = document.querySelector(".plot").getBoundingClientRect();
    const seen = (each, from, to) => {
        const box = each.getBoundingClientRect();
        return box.top >= from && box.bottom <= to;
    };
    const labels = [...document.querySelectorAll("svg.picture .labels g")];
    const named = labels.filter((each) => lanes.includes(each.querySelector("title")?.textContent));
    return {
        page: document.documentElement.scrollWidth <= innerWidth,
        question: seen(document.querySelector("#question legend"), 0, high),
        answers: [...document.querySelectorAll(".options label")].every((each) => seen(each, 0, high)),
        next: seen(document.querySelector("#reveal"), 0, high),
        lanes: named.length === lanes.length && named.every((each) => seen(each, plot.top, Math.min(plot.bottom, high))),
    };
}"""
_WHOLLY_SEEN = """(selectors) => selectors.filter((each) => {
    const box = document.querySelector(each)?.getBoundingClientRect();
    return !box || !box.height || box.top < 0 || box.bottom > innerHeight + 1;
})"""
_MOST_TABS = 120


def by_pointer(page: Page, selector: str) -> None:
    """Press an element."""
    page.locator(selector).first.click()


def by_keyboard(page: Page, selector: str) -> None:
    """Go to an element with the tab key alone, and press it."""
    for _ in range(_MOST_TABS):
        if page.evaluate("(each) => document.activeElement.matches(each)", selector):
            break
        page.keyboard.press("Tab")
    else:
        pytest.fail(f"{selector} cannot be reached by the tab key")
    page.keyboard.press(" " if "input" in selector else "Enter")


def not_in_view(page: Page, lanes: Iterable[str]) -> list[str]:
    """What of a fresh lesson is not in view: its question, answers and next step, the lanes that
    the question names, and, but on a small screen, the meaning of signs."""
    found: dict[str, Any] = page.evaluate(_IN_VIEW, list(lanes))
    missing = [] if small(page) else page.evaluate(_WHOLLY_SEEN, [".legend"])
    return [*(part for part, seen in found.items() if not seen), *missing]


def to_the_answer(page: Page, act: Act) -> list[str]:
    """Guess, and see the answer."""
    act(page, "input[name=guess]")
    expect(page.locator(".note.guess")).to_have_count(1)
    act(page, "#reveal")
    expect(page.locator(".note.truth")).to_have_count(1)
    missing: list[str] = page.evaluate(_WHOLLY_SEEN, ["#answer .aha", ".pager .next"])
    return missing


def to_the_end(page: Page, act: Act) -> None:
    """From the answer on: why, the first thing to try, whose text and two pictures come into view,
    and what can be changed."""
    act(page, ".pager .next")
    expect(page.locator("section[data-card=why]")).to_be_visible()
    act(page, ".pager .next")
    act(page, "button.try")
    says = ".left .branch .says" if small(page) else ".said-of .says"
    both = [says, ".left .branch svg.picture"]
    page.wait_for_function(f"(each) => !({_WHOLLY_SEEN})(each).length", arg=both)
    act(page, ".pager .next")
    expect(page.locator(".whatif")).to_be_visible()


def small(page: Page) -> bool:
    """Whether the screen is one of a phone."""
    size = page.viewport_size
    return size is not None and size["width"] < 768
