"""The last lesson: a recorded incident, whose cause the learner finds; and a log of the reader's own, of which
the same is asked."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from coordinator.lab.page.recorded import recorded
from coordinator.lab.page.server import PageServer

from .conftest import PATIENT_MS, accessible

expect.set_options(timeout=PATIENT_MS)
_SIZES = ((1280, 720), (390, 844), (1440, 900))
_IN_VIEW = """() => ["#questions legend", "#questions .options label", "#questions .check"].every((which) =>
    [...document.querySelectorAll(which)].every((each) => each.getBoundingClientRect().bottom <= innerHeight))
    && document.documentElement.scrollWidth <= innerWidth"""


@pytest.fixture(scope="module")
def asked() -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = recorded()["questions"]
    return questions


def open_incident(page: Page, server: PageServer) -> None:
    page.goto(f"{server.url}incident.html")
    page.wait_for_selector("body[data-ready]")


def option(page: Page, number: int) -> Locator:
    return page.locator("#questions .options input").nth(number)


def test_the_cause_is_found_and_each_answer_is_shown_in_the_picture(
    page: Page, server: PageServer, asked: list[dict[str, Any]]
) -> None:
    foreign: list[str] = []
    page.on("request", lambda request: foreign.append(request.url))
    open_incident(page, server)
    assert accessible(page) == []
    for at, each in enumerate(asked):
        expect(page.locator("#questions legend")).to_have_text(each["asks"])
        option(page, each["right"]).check()
        page.locator("#questions .check").click()
        expect(page.locator("#questions .verdict.yes")).to_have_text("Yes.")
        expect(page.locator("#questions .says")).to_have_text(each["says"])
        expect(page.locator(".groups [aria-current] strong")).to_have_text(each["group"])
        if each["at_ms"]:
            instant = page.locator(".headline strong").nth(1)
            expect(instant).to_have_text(f"{each['at_ms'] / 1000:.3f} s")
        if at + 1 < len(asked):
            page.locator("#questions .next").click()
    expect(page.locator("section[data-card=end]")).to_be_visible()
    expect(page.locator("#questions .right")).to_contain_text(f"{len(asked)} of {len(asked)}")
    assert accessible(page) == []
    assert [each for each in foreign if not each.startswith((server.url, "data:", "blob:"))] == []
    page.goto(server.url)
    page.wait_for_selector("body[data-ready]")
    expect(page.locator("[data-lesson=incident] .seen")).to_have_text("✓ foreseen")


def test_a_wrong_diagnosis_is_said_by_keyboard(
    page: Page, server: PageServer, asked: list[dict[str, Any]]
) -> None:
    open_incident(page, server)
    wrong = 1 if asked[0]["right"] == 0 else 0
    right = asked[0]["options"][asked[0]["right"]]
    option(page, wrong).focus()
    page.keyboard.press(" ")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#questions .verdict")).to_have_text(f"No: {right}.")
    expect(page.locator("#questions .heard")).to_contain_text(asked[0]["says"])
    for _ in asked[1:]:
        page.locator("#questions .next").press("Enter")
        option(page, 0).press(" ")
        page.locator("#questions .check").press("Enter")
    expect(page.locator("section[data-card=end]")).to_be_visible()
    page.locator("#questions .back").press("Enter")
    expect(page.locator("#questions legend")).to_have_text(asked[-2]["asks"])
    expect(page.locator("section[data-card=end]")).to_be_hidden()


def test_what_real_clients_did_is_drawn(page: Page, server: PageServer) -> None:
    open_incident(page, server)
    page.locator(".groups button", has_text="billing").click()
    expect(page.locator(".legend", has_text="heartbeat")).to_be_visible()
    names = page.locator("svg.picture .labels g title").all_text_contents()
    assert {"billing-1", "billing-3"} < set(names) and len(set(names)) == len(names)
    shown = page.locator("svg.picture .labels g text").all_text_contents()
    assert len(set(shown)) == len(shown), "members of one client id are told apart"


def test_the_question_is_in_view_at_each_size(browser: Browser, server: PageServer) -> None:
    wrong = []
    for wide, high in _SIZES:
        sized = browser.new_context(
            service_workers="block", viewport={"width": wide, "height": high}
        )
        page = sized.new_page()
        page.set_default_timeout(PATIENT_MS)
        open_incident(page, server)
        page.locator(".groups button", has_text="billing").click()
        if not page.evaluate(_IN_VIEW):
            wrong.append((wide, high))
        sized.close()
    assert wrong == []


def test_without_scripts_questions_and_answers_are_there(
    browser: Browser, server: PageServer, asked: list[dict[str, Any]]
) -> None:
    plain = browser.new_context(java_script_enabled=False)
    try:
        page = plain.new_page()
        page.set_default_timeout(PATIENT_MS)
        page.goto(f"{server.url}incident.html")
        expect(page.locator("figure.first svg.picture")).to_be_visible()
        expect(page.locator("#questions summary")).to_have_count(len(asked))
        page.locator("#questions summary").first.click()
        expect(page.locator("#questions .right").first).to_be_visible()
    finally:
        plain.close()


@pytest.mark.usefixtures("engine")
def test_a_log_that_was_opened_is_diagnosed(page: Page, server: PageServer) -> None:
    page.goto(f"{server.url}open.html")
    page.wait_for_selector("body[data-ready]")
    page.locator("[data-sample='simulated.jsonl']").click()
    page.locator(".quiz .begin").click()
    for right in ("generation 4", "billing-4-7944", "billing-3", "smaller batches"):
        page.locator(".quiz label", has_text=right).locator("input").check()
        page.locator(".quiz .check").click()
        expect(page.locator(".quiz .verdict.yes")).to_have_text("Yes.")
        if right != "smaller batches":
            page.locator(".quiz .next").click()
    assert accessible(page) == []
    page.locator("[data-sample='incident.jsonl']").click()
    expect(page.locator(".choose option")).to_have_count(3)
    page.locator(".quiz .begin").click()
    page.locator(".quiz input").nth(1).check()
    page.locator(".quiz .check").click()
    expect(page.locator(".quiz .verdict")).to_have_text(re.compile("No: billing"))
