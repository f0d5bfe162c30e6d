"""The sandbox: a scenario written with completion, run, changed by hand, shared; files of a reader's
own, also hostile ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from coordinator.lab.page.lessons import load
from coordinator.lab.page.server import PageServer

from .conftest import PATIENT_MS, accessible

expect.set_options(timeout=PATIENT_MS)


@pytest.mark.usefixtures("engine")
def test_a_scenario_is_completed_run_changed_and_shared(page: Page, server: PageServer) -> None:
    page.goto(f"{server.url}sandbox.html")
    page.wait_for_selector("body[data-ready]")
    assert accessible(page) == []
    editor = page.locator(".editor")
    scenario = load("04_slowest_decides").scenario
    editor.fill(scenario + "[[ch")
    editor.press("Control+ ")
    page.locator(".completions button", has_text="[[churn]]").click()
    editor.press_sequentially('kind = "rest')
    page.locator(".completions button", has_text='restart"').click()
    editor.press_sequentially('\nmembers = "app-1"\ntimes = 1\nat = "20s"\ndown = "5s"\nho')
    editor.press("Alt+ArrowDown")
    editor.press_sequentially('crash"\n')
    expect(editor).to_have_value(
        re.compile(r'\[\[churn\]\]\nkind = "restart"\n.*\nhow = "crash"', re.DOTALL)
    )
    assert accessible(page) == []
    editor.press("Control+Enter")
    expect(page.locator(".left svg.picture")).to_be_visible()
    page.locator(".plot").click(position={"x": 400, "y": 156})
    page.locator(".menu [data-do=kill]").click()
    expect(page.locator(".done")).to_contain_text("kill its process (app-2)")
    expect(page.locator(".branch svg.picture")).to_be_visible()
    expect(page.locator(".changed")).not_to_be_empty()
    page.locator(".as-file [data-op=as_test]").click()
    expect(page.locator(".as-file textarea")).to_have_value(re.compile(r"peers\['app-2'\]\.crash"))
    page.locator(".share").click()
    expect(page).to_have_url(re.compile("#s="))
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".done")).to_contain_text("kill its process (app-2)")
    assert accessible(page) == []
    page.locator(".done button").click()
    expect(page.locator(".done")).to_have_count(0)


_TWO_GROUPS = """
duration = "60s"
[topics]
orders = 3
bills = 4
[[members]]
name = "a"
count = 3
group = "one"
topics = ["orders"]
[[members]]
name = "b"
count = 2
group = "two"
topics = ["bills"]
"""


@pytest.mark.usefixtures("engine")
def test_the_group_that_is_shown_is_acted_on_by_keyboard_and_a_reload_keeps_it(
    page: Page, server: PageServer
) -> None:
    page.goto(f"{server.url}sandbox.html")
    page.wait_for_selector("body[data-ready]")
    page.locator(".editor").fill(_TWO_GROUPS)
    page.locator(".editor").press("Control+Enter")
    for group, member in (("one", "a-3"), ("two", "b-2")):
        page.locator(".choose select").select_option(group)
        page.locator(".acted-on select").select_option(member)
        plot = page.locator(".plot").first
        plot.focus()
        for _ in range(3):
            page.keyboard.press("PageUp")
        page.keyboard.press("Enter")
        expect(page.locator(".menu strong")).to_contain_text(member)
        page.keyboard.press("Escape")
        expect(plot).to_be_focused()
    page.keyboard.press("Enter")
    page.locator(".menu [data-do=kill]").press("Enter")
    expect(page.locator(".done")).to_contain_text("kill its process (b-2)")
    expect(page.locator(".changed")).to_contain_text("Both runs of group two are the same until")
    expect(page).to_have_url(re.compile("#s="))
    page.reload()
    expect(page.locator(".done")).to_contain_text("kill its process (b-2)")
    expect(page.locator(".editor")).to_have_value(_TWO_GROUPS)


@pytest.mark.usefixtures("engine")
def test_what_is_wrong_in_a_scenario_is_said_with_its_line(page: Page, server: PageServer) -> None:
    page.goto(f"{server.url}sandbox.html")
    page.wait_for_selector("body[data-ready]")
    page.locator(".editor").fill(
        'duration = "10s"\n[topics]\norders = 3\n[[members]]\nnmae = "app"\n'
    )
    page.locator("button.run").click()
    expect(page.locator(".problem")).to_contain_text("scenario, line 5")
    page.goto("about:blank")
    page.goto(f"{server.url}sandbox.html#s=AAAA")
    expect(page.locator(".problem")).to_contain_text("This link is damaged")


HOSTILE = (
    "<img src=x onerror='document.title=1'>\u202e\u2028</textarea><script>document.title=2</script>"
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(HOSTILE, id="markup, RTL"),
        pytest.param("y" * 32_000, id="32 KiB"),
        pytest.param("\u202e" * 200, id="RTL", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.usefixtures("engine")
def test_a_hostile_scenario_file_runs_nothing_and_widens_nothing(
    page: Page, server: PageServer, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "hostile.toml"
    scenario = load("01_leader_dies").scenario
    path.write_text(
        f"# {name}\n" + scenario.replace('name = "app"', f'name = "app"\ngroup = "{name}"', 1)
    )
    page.goto(f"{server.url}sandbox.html")
    page.wait_for_selector("body[data-ready]")
    page.locator("#file").set_input_files(path)
    expect(page.locator(".editor")).to_have_value(re.compile("^# "))
    page.locator("button.run").click()
    expect(page.locator(".left svg.picture, .problem").first).to_be_visible()
    assert page.title() == "The sandbox"
    assert page.locator("main img, main script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    bad = tmp_path / "bad.toml"
    bad.write_text(name + "\n[[[")
    page.locator("#file").set_input_files(bad)
    expect(page.locator(".live").last).to_have_text("It is there. Run it.")
    page.locator("button.run").click()
    expect(page.locator(".problem")).to_contain_text("scenario, line 1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.usefixtures("engine")
def test_a_log_becomes_a_scenario(page: Page, server: PageServer, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(load("04_slowest_decides").lines) + "\n")
    page.goto(f"{server.url}sandbox.html")
    page.wait_for_selector("body[data-ready]")
    page.locator("#file").set_input_files(path)
    expect(page.locator(".editor")).to_have_value(
        re.compile(r"# Guessed.*\[\[members\]\]", re.DOTALL)
    )
    page.locator("button.run").click()
    expect(page.locator(".left svg.picture")).to_be_visible()
