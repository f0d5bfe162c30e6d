"""A site of one's own lessons in a browser: alone, with the recorded runs, and beside ours, with the
engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from coordinator.lab.page.lessons import slugs
from coordinator.lab.page.lessons.own import read_files
from coordinator.lab.page.server import PageServer
from coordinator.lab.page.site.own import write_own_site

from .conftest import accessible
from .test_lessons import change, open_lesson

FILE = Path(__file__).resolve().parents[2] / "tests" / "lab" / "page" / "own" / "one_is_killed.toml"
SLUG = FILE.stem


def served(folder: Path) -> Iterator[PageServer]:
    server = PageServer("127.0.0.1", 0, folder, "index.html")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[PageServer]:
    """A site with the lesson alone."""
    write_own_site(tmp_path / "alone", read_files([str(FILE)]))
    yield from served(tmp_path / "alone")


@pytest.fixture
def beside(site: Path, tmp_path: Path) -> Iterator[PageServer]:
    """A site with the lesson behind ours."""
    ours = slugs()
    write_own_site(tmp_path / "beside", read_files([str(FILE)], ours, len(ours)), site)
    yield from served(tmp_path / "beside")


def test_alone_a_lesson_and_its_tries_are_recorded_and_a_change_says_what_is_missing(
    page: Page, alone: PageServer
) -> None:
    page.goto(alone.url)
    page.get_by_role("link", name="A process dies").click()
    page.wait_for_selector("body[data-ready]")
    page.locator("#reveal").click()
    expect(page.locator("#answer .aha")).to_be_visible()
    assert accessible(page) == []
    page.locator(".pager [data-to=try]").click()
    page.locator("button[data-try=close]").click()
    expect(page.locator(".said-of .says")).to_contain_text("B leaves the group at 20.05 s")
    expect(page.locator(".left svg.picture")).to_have_count(2)
    page.locator(".pager [data-to=change]").click()
    page.locator(".whatif .run").click()
    expect(page.locator(".problem")).to_contain_text("This site has the recorded runs alone")


@pytest.mark.usefixtures("engine")
def test_beside_ours_a_lesson_can_be_changed(page: Page, beside: PageServer) -> None:
    page.goto(beside.url)
    cards = page.locator("ol.lessons li")
    expect(cards).to_have_count(len(slugs()) + 2)
    expect(cards.last).to_contain_text(f"{len(slugs())} · 5 minutes")
    open_lesson(page, beside, SLUG)
    change(page)
    page.locator(".whatif select").first.select_option("join")
    page.locator(".whatif .run").click()
    expect(page.locator(".said-of .done")).to_contain_text("let another member join")
