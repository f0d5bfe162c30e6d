"""What can be seen: questions, answers and runs to try above the fold; texts that can be read, signs
that are told apart without colour, in light and in dark."""

from __future__ import annotations

import base64
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from coordinator.lab.page.lessons import load
from coordinator.lab.page.server import PageServer

from .chosen import TOGETHER
from .conftest import PATIENT_MS, accessible
from .test_lessons import open_lesson
from .walking import by_pointer, not_in_view, to_the_answer, to_the_end

expect.set_options(timeout=PATIENT_MS)
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


@pytest.mark.parametrize("lessons", TOGETHER)
@pytest.mark.parametrize(("wide", "high"), [(1280, 720), (390, 844)])
def test_every_lesson_is_walked_by_pointer_and_the_point_of_each_step_is_in_view(
    browser: Browser, server: PageServer, lessons: tuple[str, ...], wide: int, high: int
) -> None:
    """At 1440 x 900 and by keyboard: `test_a_lesson_is_predicted_revealed_and_accessible`."""
    sized = browser.new_context(
        service_workers="block", viewport={"width": wide, "height": high}, reduced_motion="reduce"
    )
    try:
        page = sized.new_page()
        page.set_default_timeout(PATIENT_MS)
        wrong: dict[str, list[str]] = {}
        for slug in lessons:
            open_lesson(page, server, slug)
            missing = not_in_view(page, load(slug).lanes) + to_the_answer(page, by_pointer)
            if missing:
                wrong[slug] = missing
            to_the_end(page, by_pointer)
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
