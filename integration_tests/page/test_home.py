"""The front page: a group that moves, that can be acted on, and that says why; cards that know what was seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from coordinator.lab.page import engine
from coordinator.lab.page.engine import picture_of, play
from coordinator.lab.page.home import BEGINS_MS, SCENARIO, SEED
from coordinator.lab.page.server import PageServer

from .conftest import PATIENT_MS, accessible
from .engine_here import played_here
from .test_lessons import open_lesson

expect.set_options(timeout=PATIENT_MS)


def open_home(page: Page, server: PageServer) -> None:
    page.goto(server.url)
    page.wait_for_selector("body[data-ready]")


def test_the_group_moves_by_itself(browser: Browser, server: PageServer) -> None:
    moving = browser.new_context(service_workers="block", reduced_motion="no-preference")
    try:
        page = moving.new_page()
        page.set_default_timeout(PATIENT_MS)
        open_home(page, server)
        at = page.locator(".hero p", has_text="lost so far")
        before = at.inner_text()
        expect(at).not_to_have_text(before)
        page.locator(".space .dot").first.wait_for(state="attached")
    finally:
        moving.close()


@pytest.mark.usefixtures("engine")
def test_a_reader_acts_on_the_group_from_the_instant_in_view(
    page: Page, server: PageServer
) -> None:
    """Where less motion is wanted it stands still until it is told to go on."""
    open_home(page, server)
    assert accessible(page) == []
    expect(page.locator(".space .tile")).to_have_count(9)
    page.locator("[data-do=kill]").click()
    expect(page.locator(".done")).to_contain_text("kill its process (app-3)")
    expect(page.locator(".space .gone")).to_contain_text("C app-3")
    action = {"kind": "kill", "member": "app-3", "at_ms": BEGINS_MS}
    (group,) = picture_of(play(SCENARIO, "home", SEED, (), [action])).plain()["groups"]
    assert "crashed" not in group["lanes"][1]["marks"]["kinds"], "the story's own kill is gone"
    marks = group["lanes"][2]["marks"]
    removed = marks["at_ms"][marks["kind"].index(marks["kinds"].index("removed"))]
    told = page.locator(".hero p", has_text="lost so far")
    for _ in group["states"] * 10:
        if f"at {removed / 1000:.1f} s" in told.inner_text():
            break
        page.get_by_text("next event").click()
    expect(told).to_contain_text(f"at {removed / 1000:.1f} s")
    page.locator(".why").click()
    expect(page.locator(".because")).to_contain_text(
        re.compile("Because .*app-3.* And that: you did that, at 10.600 s")
    )
    assert accessible(page) == []
    page.locator("[data-do=undo]").click()
    expect(page.locator(".done")).to_have_count(0)


def test_cards_know_which_lessons_were_seen(page: Page, server: PageServer) -> None:
    open_lesson(page, server, "00_what_is_what")
    page.locator("input[value=share]").check()
    page.locator("#reveal").click()
    page.locator(".pager").wait_for()
    open_home(page, server)
    expect(page.locator("[data-lesson='00_what_is_what'] .seen")).to_have_text("✓ foreseen")
    expect(page.locator(".lessons .seen")).to_have_count(1)


@pytest.mark.parametrize("wide", [390, 1440])
def test_texts_of_the_group_can_be_read_on_any_screen(
    browser: Browser, server: PageServer, wide: int
) -> None:
    sized = browser.new_context(
        service_workers="block", viewport={"width": wide, "height": 844}, reduced_motion="reduce"
    )
    try:
        page = sized.new_page()
        page.set_default_timeout(PATIENT_MS)
        open_home(page, server)
        assert page.evaluate("document.documentElement.scrollWidth") <= wide
        smallest = """Math.min(...[...document.querySelectorAll(".space text")].map((each) =>
            parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a))"""
        assert page.evaluate(smallest) >= 11.9
    finally:
        sized.close()


def test_a_first_action_is_shown_at_once_and_a_second_one_waits_visibly_until_it_is_done(
    page: Page, context: BrowserContext, server: PageServer, tmp_path: Path
) -> None:
    """While the engine is not there: it is held back until the second action has been seen to wait."""
    played_here(context, tmp_path)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    context.route("**/engine-asked", hold)
    open_home(page, server)
    page.locator(".hero select").select_option("app-1")
    page.locator("[data-do=kill]").click()
    expect(page.locator(".done")).to_contain_text("kill its process (app-1)")
    expect(page.locator(".space .gone")).to_contain_text("A app-1")
    for _ in range(3):
        page.get_by_text("next event").click()
    page.locator("[data-do=join]").click()
    expect(page.locator(".waits")).to_contain_text(
        "let another member join: this waits for the engine"
    )
    expect(page.locator(".done")).not_to_contain_text("join")
    while not held:
        page.wait_for_timeout(50)
    context.unroute("**/engine-asked", hold)
    answer = engine.request(held[0].request.post_data or "")
    held[0].fulfill(body=answer, content_type="application/json")
    expect(page.locator(".done")).to_contain_text("let another member join")
    expect(page.locator(".waits")).to_have_count(0)


def test_each_event_of_the_front_page_has_a_cause_or_what_is_known(
    page: Page, server: PageServer
) -> None:
    """No cause is a sentence about how a request was answered."""
    open_home(page, server)
    said = page.evaluate(
        """async () => {
            const { unpacked } = await import("./packed.js"), { why } = await import("./why.js");
            const home = await unpacked("home"), forks = await unpacked("home.forks");
            const told = (picture, done, who) => picture.steps
                .filter((step) => !step.message && ["group", "member"].includes(step.stream))
                .map((step) => [step.type, why(picture, step, done, who)]);
            const acted = forks.flatMap(({ action, picture }) => told(picture, [action], "You"));
            return [...told(home.picture, home.story, "The recording"), ...acted];
        }"""
    )
    assert len(said) > 100
    for kind, text in said:
        assert text.startswith(
            ("Because ", "You did", "The recording did", "The log has no cause", "The run is over")
        ), (kind, text)
        assert "answered at once" not in text and "undefined" not in text, (kind, text)
