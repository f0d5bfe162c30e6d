"""Logs of a reader's own cluster, dropped on the page or pasted there: told by the page, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from coordinator.cli import main
from coordinator.clusters.diagnosis import diagnose
from coordinator.clusters.output.frame import as_plain
from coordinator.clusters.output.redaction import Redaction
from coordinator.lab.page.server import PageServer

from .conftest import PATIENT_MS, accessible

expect.set_options(timeout=PATIENT_MS)
STORIES = Path(__file__).parents[2] / "tests" / "clusters" / "stories"
JAVA = STORIES / "missed-max-poll-java"


def opened(page: Page, server: PageServer) -> None:
    page.goto(f"{server.url}open.html")
    page.wait_for_selector("body[data-ready]")


@pytest.mark.usefixtures("engine")
def test_files_of_an_incident_are_told_together(page: Page, server: PageServer) -> None:
    opened(page, server)
    page.locator("#file").set_input_files(sorted(JAVA.glob("*.log")))
    group = page.locator("section.group")
    expect(group).to_have_count(1)
    expect(group.locator(".finding").first).to_contain_text("max-poll-exceeded")
    rows = group.locator("tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("inv-app-1 did not poll in time, and left")
    picture = group.locator("svg.picture")
    expect(picture.locator("g.lane")).to_have_count(2)
    expect(picture.locator("g.number")).to_have_count(4)
    expect(group.locator("ul.legend")).to_contain_text("in the group; what it did is not known")
    group.locator("details.lines summary").first.click()
    expect(group.locator("pre").first).to_contain_text("server.log:")
    assert accessible(page) == []


@pytest.mark.usefixtures("engine")
def test_an_event_log_that_the_command_wrote_is_drawn(
    page: Page, server: PageServer, tmp_path: Path
) -> None:
    log = tmp_path / "told.jsonl"
    assert main(["diagnose", *map(str, sorted(JAVA.glob("*.log"))), "--log", str(log)]) == 0
    opened(page, server)
    page.locator("#file").set_input_files(log)
    picture = page.locator("svg.picture").first
    expect(picture.locator("g.lane")).to_have_count(2)
    expect(page.locator("section.verdict")).to_contain_text("cost not known")
    expect(page.locator("section.verdict")).to_contain_text(
        "inv-app-1 did not poll in time, and left"
    )


@pytest.mark.usefixtures("engine")
def test_what_is_saved_is_the_frame_of_the_command(
    page: Page, server: PageServer, tmp_path: Path
) -> None:
    opened(page, server)
    log = tmp_path / "server.log"
    log.write_text((JAVA / "server.log").read_text())
    page.locator("#file").set_input_files(log)
    link = page.locator("a[download='diagnosis.json']")
    address = link.get_attribute("href") or ""
    saved = json.loads(unquote(address.partition(",")[2]))
    found = diagnose([str(log)])
    frame = as_plain(found, Redaction(found.groups, on=False))
    assert saved == json.loads(json.dumps(frame).replace(str(log), "server.log"))


@pytest.mark.usefixtures("engine")
def test_pasted_lines_of_one_client_say_what_they_do_not_know(
    page: Page, server: PageServer
) -> None:
    opened(page, server)
    page.locator(".paste summary").click()
    page.locator("#pasted").fill((JAVA / "inv-app-0.log").read_text())
    page.locator("#tell").click()
    group = page.locator("section.group")
    expect(group).to_contain_text("Not known from these lines")
    expect(group.locator("tbody tr").first).to_contain_text("not known")
    page.locator("#pasted").fill("<b>nothing</b> of a group\n")
    page.locator("#tell").click()
    expect(page.locator(".problem")).to_contain_text("Nothing in this is understood")
    assert accessible(page) == []
