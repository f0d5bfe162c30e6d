"""What can be seen: questions, answers and runs to try above the fold, by keyboard and by pointer;
texts that can be read, signs that are told apart without colour, in light and in dark."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from coordinator.page.lessons import load, slugs
from coordinator.page.server import PageServer

from .conftest import PATIENT_MS, accessible
from .test_lessons import open_lesson

expect.set_options(timeout=PATIENT_MS)
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
_SMALLEST = """Math.min(...[...document.querySelectorAll("svg text, p, li, label, summary, button, td, th, dt, dd")]
    .filter((each) => each.checkVisibility() && each.textContent.trim()).map((each) => parseFloat(getComputedStyle(each).fontSize)))"""
_SEEN_BY = """async ([shot, matrix, boxes]) => {
    const bytes = Uint8Array.from(atob(shot), (each) => each.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
    const on = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    on.drawImage(bitmap, 0, 0);
    const patches = boxes.map(([x, y]) => {
        const {data} = on.getImageData(x, y, 36, 16), seen = [];
        for (let at = 0; at < data.length; at += 4) {
            for (const [red, green, blue] of matrix) seen.push(red * data[at] + green * data[at + 1] + blue * data[at + 2]);
        }
        return seen;
    });
    const apart = (one, other) => one.reduce((sum, each, at) => sum + Math.abs(each - other[at]), 0) / one.length;
    let least = Infinity;
    patches.forEach((one, at) => patches.slice(at + 1).forEach((other) => { least = Math.min(least, apart(one, other)); }));
    return least;
}"""
_EYES = {
    "everybody": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "in grey": [[0.299, 0.587, 0.114]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}
"""Machado, Oliveira and Fernandes (2009), severity 1."""
_SIGNS = """async () => {
    const [draw, view, preact] = await Promise.all(["draw.js", "view.js", "vendor/preact.mjs"].map((each) => import(`./${each}`)));
    const fills = ["own-0", "own-1", "own-2", "own-3", "own-4", "own-5", "hatch", "busy", "cross"].map((each) => `url(#${each})`);
    const place = document.createElement("div");
    document.body.replaceChildren(place);
    document.body.style.margin = "0";
    preact.render(view.html`<svg class="signs" width="600" height="60"><${draw.Definitions} />
        ${fills.map((fill, at) => view.html`<rect x=${at * 48} y="0" width="44" height="24" fill=${fill} />`)}
        <rect class="cell nobody" x=${9 * 48} y="1" width="42" height="22" /></svg>`, place);
    return [...fills, "nobody"].map((_, at) => [at * 48 + 4, 4]);
}"""


def by_pointer(page: Page, selector: str) -> None:
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


def out_of_view(page: Page, small: bool, act: Callable[[Page, str], None]) -> list[str]:
    """Walk a lesson to its end; what cannot be seen on the way, although it is the step's point."""
    act(page, "input[name=guess]")
    act(page, "#reveal")
    page.locator(".note.truth").wait_for()
    missing: list[str] = page.evaluate(_WHOLLY_SEEN, ["#answer .aha", ".pager .next"])
    act(page, ".pager .next")
    expect(page.locator("section[data-card=why]")).to_be_visible()
    act(page, ".pager .next")
    act(page, "button.try")
    both = [".left .branch .says" if small else ".said-of .says", ".left .branch svg.picture"]
    page.wait_for_function(f"(each) => !({_WHOLLY_SEEN})(each).length", arg=both)
    act(page, ".pager .next")
    expect(page.locator(".whatif button.run")).to_be_enabled()
    return missing


@pytest.mark.parametrize(
    ("wide", "high", "act"),
    [(1280, 720, by_pointer), (390, 844, by_pointer), (1440, 900, by_keyboard)],
)
def test_every_lesson_is_walked_and_the_point_of_each_step_is_in_view(
    browser: Browser,
    server: PageServer,
    wide: int,
    high: int,
    act: Callable[[Page, str], None],
) -> None:
    sized = browser.new_context(
        service_workers="block", viewport={"width": wide, "height": high}, reduced_motion="reduce"
    )
    try:
        page = sized.new_page()
        page.set_default_timeout(PATIENT_MS)
        wrong: dict[str, Any] = {}
        for slug in slugs():
            open_lesson(page, server, slug)
            found = page.evaluate(_IN_VIEW, list(load(slug).lanes))
            if wide > 1000:
                found["legend"] = not page.evaluate(_WHOLLY_SEEN, [".legend"])
            if not all(found.values()):
                wrong[slug] = found
            if missing := out_of_view(page, wide < 1000, act):
                wrong[f"{slug}, answer"] = missing
        assert wrong == {}
    finally:
        sized.close()


def test_no_text_is_smaller_than_twelve_pixels(page: Page, server: PageServer) -> None:
    for slug in ("07_commit_in_each_half", "14_coordinator_moves"):
        open_lesson(page, server, slug)
        assert page.evaluate(_SMALLEST) >= 12
        page.locator("#reveal").click()
        page.locator(".note.truth").wait_for()
        assert page.evaluate(_SMALLEST) >= 12


@pytest.mark.parametrize("eyes", _EYES)
def test_owners_and_states_are_told_apart_by_all_eyes(
    page: Page, server: PageServer, eyes: str
) -> None:
    page.goto(f"{server.url}open.html")
    boxes = page.evaluate(_SIGNS)
    shot = base64.b64encode(page.locator("svg.signs").screenshot()).decode()
    assert page.evaluate(_SEEN_BY, [shot, _EYES[eyes], boxes]) > 6
    twice = [*boxes, boxes[0]]  # the measure sees two that are the same
    assert page.evaluate(_SEEN_BY, [shot, _EYES[eyes], twice]) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_part_of_a_lesson_is_accessible_in_light_and_dark(
    browser: Browser, server: PageServer, scheme: Literal["light", "dark"]
) -> None:
    coloured = browser.new_context(
        service_workers="block", color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        page = coloured.new_page()
        page.set_default_timeout(PATIENT_MS)
        open_lesson(page, server, "04_slowest_decides")
        assert accessible(page) == []
        page.locator("#reveal").click()
        for card in ("answer", "why", "try", "change"):
            page.locator(f".pager [data-to={card}]").click()
            expect(page.locator(f"section[data-card={card}]")).to_be_visible()
            assert accessible(page) == [], card
    finally:
        coloured.close()
