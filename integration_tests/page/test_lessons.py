"""The lessons in a browser: a prediction, the answer, a run with something changed, links,
keyboard, and what stands without scripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from coordinator.lab.page.lessons import SEED, load, slugs
from coordinator.lab.page.server import PageServer

from .chosen import CHOSEN, ONE_BY_ONE
from .conftest import PATIENT_MS, accessible
from .walking import by_keyboard, not_in_view, to_the_answer, to_the_end

expect.set_options(timeout=PATIENT_MS)


def open_lesson(page: Page, server: PageServer, slug: str, more: str = "") -> None:
    page.goto(f"{server.url}{slug}.html{more}")
    page.wait_for_selector("body[data-ready]")


def change(page: Page) -> None:
    """Show the answer, and then what may be changed."""
    page.locator("#reveal").click()
    page.locator(".pager [data-to=change]").click()
    page.locator(".whatif").wait_for()


@pytest.mark.parametrize("slug", ONE_BY_ONE)
def test_a_lesson_is_predicted_revealed_and_accessible(
    page: Page, server: PageServer, slug: str
) -> None:
    foreign: list[str] = []

    def watch(request: Request) -> None:
        if not request.url.startswith((server.url, "data:", "blob:")):
            foreign.append(request.url)

    page.on("request", watch)
    page.set_viewport_size({"width": 1440, "height": 900})
    open_lesson(page, server, slug)
    expect(page.locator("svg.picture .future")).to_have_count(1)
    assert not_in_view(page, load(slug).lanes) == []
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 2, (
        "printed, a page with the question and one with the answer"
    )
    assert accessible(page) == []
    assert to_the_answer(page, by_keyboard) == []
    expect(page.locator("svg.picture .future")).to_have_count(0)
    assert accessible(page) == []
    to_the_end(page, by_keyboard)
    assert foreign == []


def test_stepping_by_keyboard_speaks_and_does_not_pass_the_question(
    page: Page, server: PageServer
) -> None:
    open_lesson(page, server, "03_when_does_a_know")
    plot = page.locator(".plot").first
    plot.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".live").first).not_to_be_empty()
    page.keyboard.press("End")
    expect(page.locator(".headline strong").nth(1)).to_have_text("15.700 s")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".headline strong").nth(1)).to_have_text("15.700 s")
    page.keyboard.press("m")
    expect(page.locator(".live").first).to_contain_text("by message")


@pytest.mark.parametrize(("motion", "speaks"), [("no-preference", False), ("reduce", True)])
def test_play_ends_at_the_question_and_speaks_only_where_it_steps(
    browser: Browser, server: PageServer, motion: Literal["no-preference", "reduce"], speaks: bool
) -> None:
    fresh = browser.new_context(service_workers="block", reduced_motion=motion)
    try:
        page = fresh.new_page()
        page.set_default_timeout(PATIENT_MS)
        open_lesson(page, server, "03_when_does_a_know")
        page.locator(".plot").first.focus()
        for key in ("End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "m", "m", "m"):
            page.keyboard.press(key)
        spoken = page.locator(".live").first
        expect(spoken).to_have_text("Steps go by event now.")
        page.keyboard.press(" ")
        expect(page.locator(".headline strong").nth(1)).to_have_text("15.700 s")
        expect(page.locator(".controls button", has_text="play").first).to_have_attribute(
            "aria-pressed", "false"
        )
        assert (spoken.inner_text() != "Steps go by event now.") is speaks
    finally:
        fresh.close()


@pytest.mark.parametrize("slug", ["05_three_clocks", "14_coordinator_moves"])
def test_at_200_percent_nothing_is_cut_off(browser: Browser, server: PageServer, slug: str) -> None:
    zoomed = browser.new_context(
        service_workers="block", viewport={"width": 640, "height": 500}, device_scale_factor=2
    )
    try:
        page = zoomed.new_page()
        page.set_default_timeout(PATIENT_MS)
        open_lesson(page, server, slug)
        change(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 640
    finally:
        zoomed.close()


@pytest.mark.usefixtures("engine")
def test_a_run_is_changed_linked_and_found_again(page: Page, server: PageServer) -> None:
    open_lesson(page, server, "01_leader_dies")
    change(page)
    page.locator(".whatif select").first.select_option("kill")
    page.locator(".plot").first.focus()
    page.locator(".whatif select").nth(1).select_option("app-2")
    page.locator(".whatif button.run").click()
    branch = page.locator(".left .branch")
    done = page.locator(".said-of .done")
    expect(done).to_contain_text("kill its process (app-2)")
    expect(branch.locator("svg.picture")).to_be_visible()
    expect(page).to_have_url(re.compile("#r="))
    link = page.url
    assert len(link) <= 2000
    page.locator(".whatif select").nth(2).select_option(
        ""
    )  # forks the lesson's run again, beside the first branch
    page.locator(".whatif select").first.select_option("join")
    page.locator(".whatif button.run").click()
    expect(done).to_contain_text("let another member join")
    expect(done).not_to_contain_text("kill its process")
    expect(page.locator("#runs .branch")).to_contain_text("kill its process (app-2)")
    expect(page).not_to_have_url(link)
    link = page.url
    assert len(link) <= 2000
    page.goto("about:blank")
    page.goto(link)
    expect(done).to_contain_text("let another member join")
    expect(page.locator("#runs .branch")).to_contain_text("kill its process (app-2)")
    page.locator(".branch button", has_text="remove").nth(1).click()
    expect(page).not_to_have_url(link)
    page.goto(
        link
    )  # in the page that is open: what the link says takes the place of what was there
    expect(page.locator(".branch > h2")).to_have_text(
        [re.compile("from the link, 2"), re.compile("from the link, 1")]
    )


@pytest.mark.parametrize("state", ["#r=AAAA", "#r=cut%20off", "#r=i1Yy0DPUM1DSMdSJjtWJjlbK"])
def test_a_damaged_link_says_what_to_do(page: Page, server: PageServer, state: str) -> None:
    open_lesson(page, server, "01_leader_dies", state)
    expect(page.locator(".problem")).to_contain_text("damaged")
    expect(page.locator("svg.picture")).to_be_visible()


def test_a_link_of_another_version_says_so(page: Page, server: PageServer) -> None:
    open_lesson(page, server, "01_leader_dies")
    link = page.evaluate(
        "import('./url.js').then((url) => url.toHash({v: '0.0.9', seed: 1, settings: [], actions: [], now: 5000}))"
    )
    page.goto("about:blank")
    open_lesson(page, server, "01_leader_dies", link)
    expect(page.locator(".problem")).to_contain_text("made with version 0.0.9")


def test_fifty_actions_fit_into_a_link(page: Page, server: PageServer) -> None:
    open_lesson(page, server, "01_leader_dies")
    script = """import('./url.js').then(async (url) => {
        const kinds = ["kill", "freeze", "stall", "cut", "join"];
        const actions = Array.from({length: 50}, (_, at) => ({
            kind: kinds[at % 5], at_ms: 1000 + 379 * at, member: `app-${at % 3 + 1}`, lasts_ms: 500 * at + 500}));
        const { unpacked } = await import("./packed.js");
        const lesson = await unpacked("04_slowest_decides"), sides = lesson.choices.slice(-2).map((each) => each.settings);
        const marks = Array.from({length: 12}, (_, at) => [
            {kind: "at", at_ms: 15000 + 7 * at, lane: "app-1"}, {kind: "span", at_ms: 1000 * at, to_ms: 1500 * at + 9, lane: ""},
            {kind: "owner", at_ms: 12345 + 91 * at, lane: "app-2", row: `orders-${at}`}][at % 3]);
        const state = {v: "0.1.0", seed: 1, settings: ["members.app.assignor=sticky"], actions, now: 12345, sides, marks};
        const hash = await url.toHash(state), back = await url.fromHash(hash);
        const same = JSON.stringify([back.sides, back.marks]) === JSON.stringify([sides, marks]);
        return [hash.length, back.actions.length, back.now, back.settings[0], back.actions[49].at_ms, same];
    })"""
    length, count, now, setting, at_ms, same = page.evaluate(script)
    assert same
    assert length <= 2000
    assert (count, now, setting, at_ms) == (
        50,
        12345,
        "members.app.assignor=sticky",
        1000 + 379 * 49,
    )


def test_a_teacher_shows_the_answer_when_the_class_is_ready(page: Page, server: PageServer) -> None:
    open_lesson(page, server, "01_leader_dies", "?teach&present")
    expect(page.locator("#answer")).to_be_hidden()
    expect(page.locator("svg.picture .future")).to_have_count(1)
    assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 22
    smallest = """Math.min(...[...document.querySelectorAll("svg.picture text")].map((each) =>
        parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a))"""
    assert page.evaluate(smallest) >= 16, "texts of the picture can be read from the last row"
    page.locator("#reveal").click()
    expect(page.locator("#answer .aha")).to_be_visible()
    expect(page.locator(".note.truth")).to_have_count(1)


def test_play_on_a_fresh_lesson_plays(page: Page, server: PageServer) -> None:
    open_lesson(page, server, "01_leader_dies")
    stands = page.locator(".headline strong").nth(1)
    expect(stands).to_have_text("6.000 s")
    page.locator(".controls button", has_text="play").first.click()
    expect(stands).not_to_have_text("6.000 s")


def test_after_the_reveal_the_panel_shows_what_was_asked_about(
    page: Page, server: PageServer
) -> None:
    lesson = load("03_when_does_a_know")
    open_lesson(page, server, lesson.slug)
    page.locator("#reveal").click()
    expect(page.locator(".panel .type").first).to_have_text("RequestRefused")
    (step,) = [
        step for step in lesson.plain()["picture"]["steps"] if step["seq"] == lesson.truth_seq
    ]
    expect(page.locator(".panel .say").first).to_contain_text(step["say"])


def test_what_was_lost_before_the_lessons_window_is_told_there(
    page: Page, server: PageServer
) -> None:
    """Orders 3 to 5 are nobody's while they move, long before the lesson's own question."""
    lesson = load("13_no_barrier")
    (group,) = lesson.plain()["picture"]["groups"]
    begin, headline = lesson.window_ms[0], page.locator(".headline").first
    lost = [
        end - start
        for row in group["raster"]
        for start, end, owners, _ in row["spans"]
        if not owners and start > 0 and end < begin
    ]
    assert lost
    open_lesson(page, server, lesson.slug)
    expect(headline).to_contain_text(f"lost from {begin / 1000:.3f} s up to")
    page.locator(".scrub").first.evaluate(
        "(each, at) => { each.value = at; each.dispatchEvent(new Event('input', {bubbles: true})); }",
        begin - 1,
    )
    expect(headline).to_have_text(
        f"{sum(lost) / 1000:g} partition-seconds lost up to {(begin - 1) / 1000:.3f} s"
    )


def test_what_was_tried_is_there_after_a_reload_and_the_answer_is_shown_again(
    page: Page, server: PageServer
) -> None:
    open_lesson(page, server, "04_slowest_decides")
    at_the_answer = str(load("04_slowest_decides").plain()["truth_ms"])
    page.locator("#reveal").click()
    expect(page.locator(".scrub").first).to_have_value(at_the_answer)
    page.locator(".pager [data-to=try]").click()
    page.locator("button.try").first.click()
    expect(page).to_have_url(re.compile("#r="))
    page.reload()
    page.wait_for_selector("body[data-ready]")
    expect(page.locator(".branch > h2")).to_contain_text("from the link")
    page.locator("#reveal").click()
    expect(page.locator(".scrub").first).to_have_value(at_the_answer)


def test_the_focus_goes_to_what_is_shown_where_the_button_is_gone(
    page: Page, server: PageServer
) -> None:
    open_lesson(page, server, "04_slowest_decides")
    page.locator("#reveal").press("Enter")
    expect(page.locator("section[data-card=answer]")).to_be_focused()
    for _ in range(2):
        page.locator(".pager .next").press("Enter")
    expect(page.locator(".pager .next")).to_be_focused()
    page.locator(".pager .next").press("Enter")
    expect(page.locator("section[data-card=change]")).to_be_focused()


def test_every_thing_to_try_is_a_button_that_answers(page: Page, server: PageServer) -> None:
    for slug in ("01_leader_dies", "03_when_does_a_know", "13_no_barrier"):
        open_lesson(page, server, slug)
        page.locator("#reveal").click()
        page.locator(".pager [data-to=try]").click()
        for each in load(slug).tries:
            button = page.locator(f"button[data-try={each.id}]")
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
            expect(page.locator(".said-of .says")).to_have_text(each.says.strip())
            expect(page.locator(".said-of .changed")).not_to_be_empty()
            expect(page.locator(".left .branch h2")).to_contain_text(each.text)
            expect(page.locator(".left svg.picture")).to_have_count(2)
    assert accessible(page) == []


@pytest.mark.usefixtures("engine")
def test_the_lessons_own_actions_are_left_out_and_what_cannot_be_is_not_offered(
    page: Page, server: PageServer
) -> None:
    open_lesson(page, server, "06_frozen_wakes")
    change(page)
    offered = page.locator(".whatif select").first.locator("option").all_inner_texts()
    assert not any(
        "twin" in each or "coordinator" in each or "reassign" in each for each in offered
    )
    page.locator(".own input").uncheck()
    page.locator(".own button").click()
    expect(page.locator(".said-of .changed")).to_contain_text("The run ends in generation 1")
    expect(page).to_have_url(re.compile("#r="))
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".said-of .changed")).to_contain_text("The run ends in generation 1")


@pytest.mark.usefixtures("engine")
def test_what_is_touched_says_what_can_be_done_to_it(page: Page, server: PageServer) -> None:
    open_lesson(page, server, "04_slowest_decides")
    plot = page.locator(".plot").first
    plot.click(position={"x": 400, "y": 110})
    expect(page.locator(".menu")).to_have_count(0)  # before the answer a lane is pointed at only
    page.locator("#reveal").click()
    page.locator(".pager").wait_for()
    plot.click(position={"x": 400, "y": 110})
    expect(page.locator(".menu strong")).to_contain_text("A app-1, at ")
    assert accessible(page) == []
    page.locator(".menu [data-do=kill]").click()
    expect(page.locator(".said-of .done")).to_contain_text("kill its process (app-1)")
    page.locator(".as-file [data-op=as_file]").click()
    expect(page.locator(".as-file textarea")).to_have_value(re.compile('how = "crash"'))
    expect(page.locator(".as-file code")).to_have_text(
        f"coordinator simulate story.toml --seed {SEED}"
    )
    page.locator(".as-file [data-op=as_test]").click()
    expect(page.locator(".as-file textarea").nth(1)).to_have_value(
        re.compile(r"peers\['app-1'\]\.crash\(\)")
    )
    assert accessible(page) == []
    plot.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".menu button").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".menu")).to_have_count(0)
    page.keyboard.press("Enter")
    page.locator(".menu [data-do=undo]").click()
    expect(page.locator(".left .branch")).to_have_count(0)


@pytest.mark.usefixtures("engine")
def test_who_was_added_is_acted_on_too_and_what_no_test_can_do_is_said(
    page: Page, server: PageServer
) -> None:
    open_lesson(page, server, "07_commit_in_each_half")
    change(page)
    page.locator(".whatif select").first.select_option("join")
    page.locator(".whatif .run").click()
    added = page.locator(".left .branch .plot")
    added.wait_for()
    lane = page.locator(".left .branch svg.picture .labels g", has_text="new-1").bounding_box()
    whole = added.bounding_box()
    assert lane is not None and whole is not None
    added.click(position={"x": 640, "y": lane["y"] + lane["height"] / 2 - whole["y"]})
    expect(page.locator(".left .branch .menu strong")).to_contain_text("new-1, at ")
    page.locator(".left .branch .menu [data-do=kill]").click()
    expect(page.locator(".said-of .done")).to_contain_text("kill its process (new-1)")
    page.locator(".as-file [data-op=as_test]").click()
    expect(page.locator(".only-here")).to_contain_text("commit without asking")


@pytest.mark.usefixtures("engine")
def test_a_run_that_does_not_change_says_why(page: Page, server: PageServer) -> None:
    open_lesson(page, server, "08_leader_leaves")
    change(page)
    plot = page.locator(".plot").first
    plot.focus()
    page.keyboard.press("End")
    page.locator(".whatif select").nth(1).wait_for()
    at_the_end = page.locator(".whatif select").nth(1).locator("option").all_inner_texts()
    assert at_the_end == ["app-2", "app-3"], "who has left is not offered"
    page.locator(".whatif select").first.select_option("lose_answer")
    page.locator(".whatif button.run").click()
    expect(page.locator(".said-of .changed")).to_contain_text("Members and owners are as before")


def test_without_webassembly_a_lesson_can_be_stepped_through(
    page: Page, server: PageServer
) -> None:
    page.add_init_script("delete globalThis.WebAssembly")
    open_lesson(page, server, "01_leader_dies")
    change(page)
    page.locator(".whatif button.run").click()
    expect(page.locator(".problem")).to_contain_text("cannot run the engine")
    expect(page.locator("svg.picture")).to_be_visible()


@pytest.mark.parametrize("slug", ["01_leader_dies", "index"])
def test_the_text_and_the_first_picture_stand_without_scripts(
    browser: Browser, server: PageServer, slug: str
) -> None:
    plain = browser.new_context(service_workers="block", java_script_enabled=False)
    try:
        page = plain.new_page()
        page.goto(f"{server.url}{slug}.html", timeout=PATIENT_MS)
        if slug == "index":
            assert page.locator(".lessons a").count() == len(slugs()) + 1, "and the incident"
            assert page.locator("svg.space .tile").count() == 9
        else:
            assert page.locator("svg.picture .lane").count() == 3
            page.locator("#answer summary").click()
            assert page.locator("#answer .aha").is_visible()
    finally:
        plain.close()


@pytest.mark.parametrize("slug", CHOSEN[:3])
def test_a_phone_held_upright_shows_everything(
    browser: Browser, server: PageServer, slug: str
) -> None:
    phone = browser.new_context(
        service_workers="block", viewport={"width": 360, "height": 740}, has_touch=True
    )
    try:
        page = phone.new_page()
        page.set_default_timeout(PATIENT_MS)
        open_lesson(page, server, slug)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert (
            page.evaluate(
                "Math.min(...[...document.querySelectorAll('.options label')].map((each) => each.offsetHeight))"
            )
            >= 24
        )
        change(page)
        page.locator(".controls button", has_text="step ▶").first.click()
        for doing in page.locator(".whatif select").first.locator("option").all():
            page.locator(".whatif select").first.select_option(doing.get_attribute("value"))
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
    finally:
        phone.close()


@pytest.mark.parametrize("name", ["01_leader_dies", "open"])
def test_a_page_opened_from_a_file_says_what_to_do(page: Page, site: Path, name: str) -> None:
    page.goto((site / f"{name}.html").as_uri())
    expect(page.locator(".unserved")).to_be_visible()
    expect(page.locator(".unserved")).to_contain_text("coordinator lessons DIR")


def test_print_leaves_out_what_only_a_reader_at_the_screen_needs(
    page: Page, server: PageServer
) -> None:
    open_lesson(page, server, "01_leader_dies")
    page.emulate_media(media="print")
    assert page.locator(".controls").first.is_hidden()
    assert page.locator(".panel dl").first.is_hidden()
    expect(page.locator("svg.picture")).to_be_visible()
