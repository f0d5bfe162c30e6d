"""On a projector (?present) and in a frame (?embed) a lesson's question, its answers and the button
stand on the screen, none of them cut off, and so does the picture with its members."""

from __future__ import annotations

from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from coordinator.lab.page.lessons import slugs
from coordinator.lab.page.server import PageServer

from .chosen import CHOSEN
from .conftest import PATIENT_MS

SIZES: Final = ((1920, 1080), (1440, 900), (1280, 720), (1024, 768), (900, 700), (390, 844))
LONG: Final = frozenset({"14_coordinator_moves", "15_migration_in_place", "16_broker_crashes"})
"""Lessons whose texts are the longest."""
_ALL: Final = [
    pytest.param(slug, marks=() if slug in {*CHOSEN[:2], *LONG} else pytest.mark.thorough)
    for slug in slugs()
]
_CUT: Final = """() => {
    const inside = (each) => {
        const box = each.getBoundingClientRect();
        return box.height > 0 && box.left >= -1 && box.top >= -1 && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1;
    };
    const shown = [...document.querySelectorAll("#question legend, .options label, #reveal, .plot")];
    const cut = shown.filter((each) => !inside(each)).map((each) => each.className || each.id || each.innerText);
    const small = [...document.querySelectorAll("#question legend, .options label, svg.picture text")]
        .filter((each) => parseFloat(getComputedStyle(each).fontSize) * (each.getScreenCTM?.().a ?? 1) < 11.9);
    const root = document.documentElement;
    return [...cut, ...small.map((each) => `small: ${each.textContent}`),
        ...(root.scrollWidth > innerWidth || root.scrollHeight > innerHeight ? ["the page scrolls"] : [])];
}"""


def shown(page: Page, server: PageServer, address: str) -> None:
    page.goto(f"{server.url}{address}")
    page.wait_for_selector("body[data-ready]")
    page.evaluate("document.fonts.ready")


@pytest.mark.parametrize("slug", _ALL)
def test_nothing_of_a_question_is_cut_off_at_any_size(
    browser: Browser, server: PageServer, slug: str
) -> None:
    fresh = browser.new_context(service_workers="block", reduced_motion="reduce")
    try:
        page = fresh.new_page()
        page.set_default_timeout(PATIENT_MS)
        found: dict[str, Any] = {}
        for how in ("present", "embed"):
            for wide, high in SIZES:
                page.set_viewport_size({"width": wide, "height": high})
                shown(page, server, f"{slug}.html?{how}")
                if cut := page.evaluate(_CUT):
                    found[f"{how} {wide}x{high}"] = cut
        assert found == {}
    finally:
        fresh.close()


def test_on_a_projector_the_picture_uses_the_height_that_there_is(
    page: Page, server: PageServer
) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    shown(page, server, "04_slowest_decides.html?present")
    page.wait_for_function(
        """() => {
            const plot = document.querySelector(".plot").clientHeight;
            return document.querySelector("svg.picture").getBoundingClientRect().height > plot * 0.8;
        }"""
    )
    assert page.evaluate("document.querySelector('.plot').clientHeight / innerHeight") > 0.6
    assert not page.evaluate("document.querySelector('.signs').open")


@pytest.mark.parametrize("size", SIZES)
def test_in_a_frame_the_answer_and_both_pictures_of_a_try_are_there(
    page: Page, server: PageServer, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    shown(page, server, "04_slowest_decides.html?embed")
    page.locator("#reveal").click()
    page.locator("#answer .aha").wait_for()
    page.locator(".pager [data-to=try]").click()
    page.locator("button.try").first.click()
    page.locator(".left .branch svg.picture").wait_for()
    boxes = page.evaluate(
        """[...document.querySelectorAll(".left .plot")].map((each) => {
            const box = each.getBoundingClientRect();
            return [box.top, box.bottom, box.height];
        })"""
    )
    assert len(boxes) == 2
    assert all(0 <= top < bottom <= size[1] and high > 40 for top, bottom, high in boxes)


def test_partitions_move_with_their_owner_above_the_picture(page: Page, server: PageServer) -> None:
    """At the cursor each partition stands under who has it, and it is one thing that moves."""
    shown(page, server, "08_leader_leaves.html")
    page.locator("#reveal").click()
    page.locator(".pager").wait_for()
    place = """(at) => {
        const scrub = document.querySelector(".scrub");
        scrub.value = at;
        scrub.dispatchEvent(new Event("input", { bubbles: true }));
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
            const tile = document.querySelector(".people .tile.p0");
            const kept = globalThis.tile === tile;
            globalThis.tile = tile;
            done([tile.getAttribute("transform"), kept]);
        })));
    }"""
    before, _ = page.evaluate(place, 16_000)
    after, kept = page.evaluate(place, 24_000)
    assert before != after
    assert kept, "the same element moves"


def test_how_partitions_stand_together_does_not_tell_what_comes(
    page: Page, server: PageServer
) -> None:
    """Until the question orders-3 to orders-5 have gone one way, though one of them moves later."""
    page.set_viewport_size({"width": 1440, "height": 900})
    shown(page, server, "04_slowest_decides.html")
    titles = page.locator("svg.picture .raster title").all_text_contents()
    assert any(title.startswith("orders-3 to 5: app-2") for title in titles)
    page.locator("#reveal").click()
    page.locator(".note.truth").wait_for()
    page.wait_for_function(
        """() => [...document.querySelectorAll("svg.picture .raster title")]
            .some((each) => each.textContent.startsWith("orders-5: app-2"))"""
    )


_UNFILLED = """() => [...document.querySelectorAll("svg.picture [fill^='url(#']")].map((each) => {
    const name = each.getAttribute("fill").slice(5, -1);
    const first = document.getElementById(name);
    return first && !first.closest("svg").checkVisibility() ? name : "";
}).filter(Boolean)"""


@pytest.mark.parametrize("media", ["screen", "print"])
def test_what_fills_a_picture_is_never_taken_from_one_that_is_hidden(
    page: Page, server: PageServer, media: Literal["screen", "print"]
) -> None:
    """A reference leads to the first pattern of its name on the page. On a phone and on paper the
    members above the picture, which have these patterns too, are hidden."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}04_slowest_decides.html")
    expect(page.locator("svg.picture")).to_be_visible()
    page.emulate_media(media=media)
    assert not page.locator(".people").is_visible()
    assert page.locator("svg.picture [fill^='url(#own-']").count() > 0
    assert page.evaluate(_UNFILLED) == []
