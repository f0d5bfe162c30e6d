"""After a try both numbers above the pictures are those of the whole window, and the cursor stands
at the instant that the sentence is about."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Page, expect

from coordinator.lab.page.differing import lost_ms
from coordinator.lab.page.lessons import load
from coordinator.lab.page.server import PageServer

from .chosen import ONE_BY_ONE
from .conftest import PATIENT_MS

expect.set_options(timeout=PATIENT_MS)


@pytest.mark.parametrize("slug", ONE_BY_ONE)
def test_the_numbers_above_both_pictures_are_those_of_the_sentence(
    page: Page, server: PageServer, slug: str
) -> None:
    lesson = load(slug)
    page.goto(f"{server.url}{slug}.html")
    page.wait_for_selector("body[data-ready]")
    page.locator("#reveal").click()
    page.locator(".pager [data-to=try]").click()
    own = lesson.plain()["picture"]
    for each in lesson.tries:
        page.locator(f"button[data-try={each.id}]").click()
        page.locator(f"button[data-try={each.id}][aria-pressed=true]").wait_for()
        low, high = each.window_ms
        headlines = page.locator(".left .headline")
        for at in range(2):
            expect(headlines.nth(at)).to_contain_text(
                f" from {low / 1000:.3f} s to {high / 1000:.3f} s"
            )
        if own["groups"][0]["protocol"] != "share":
            before, after = (
                f"{lost_ms(group, each.window_ms) / 1000:g}"
                for group in (own["groups"][0], each.run(own)["picture"]["groups"][0])
            )
            expect(headlines.nth(0).locator(".lost")).to_have_text([before])
            expect(headlines.nth(1).locator(".lost")).to_have_text([before, after])
        expect(page.locator(".left .branch .note.truth text")).to_have_text(each.truth)
        for picture in page.locator(".left .over").all():
            expect(picture.locator(".cursor")).to_have_count(1)
        expect(page.locator(".scrub").first).to_have_value(str(each.truth_ms))


def test_a_picture_is_saved_with_its_title_its_legend_and_a_link(
    page: Page, server: PageServer
) -> None:
    lesson = load("04_slowest_decides")
    page.goto(f"{server.url}{lesson.slug}.html")
    page.wait_for_selector("body[data-ready]")
    page.locator("#reveal").click()
    page.locator(".pager [data-to=try]").click()
    page.locator("button.try").first.click()
    page.locator(".left .branch svg.picture").wait_for()
    with page.expect_download() as drawn:
        page.locator("[data-save=svg]").click()
    assert drawn.value.suggested_filename == "eager_one_is_slow.svg"
    text = drawn.value.path().read_text(encoding="utf-8")
    root = ET.fromstring(text)
    words = "".join(root.itertext())
    assert lesson.title in words and lesson.tries[0].text in words
    assert page.url in words
    for meaning in page.locator(".legend li").all_inner_texts():
        assert meaning.strip().splitlines()[-1] in words
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", text.replace(server.url, ""))
    with page.expect_download() as painted:
        page.locator("[data-save=png]").click()
    assert painted.value.path().read_bytes().startswith(b"\x89PNG")
