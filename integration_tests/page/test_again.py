"""A page whose files are lost on their way: it comes by itself, or says what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from coordinator.lab.page.server import PageServer

from . import undisturbed
from .conftest import PATIENT_MS

expect.set_options(timeout=PATIENT_MS)


class Losing:
    """Loses the first `times` requests, as a network that changes does."""

    def __init__(self, times: int) -> None:
        self.asked = 0
        self._times = times

    def __call__(self, route: Route) -> None:
        self.asked += 1
        if self.asked <= self._times:
            route.abort("internetdisconnected")
        else:
            route.continue_()


@pytest.mark.parametrize(
    "lost",
    ["**/view.js", "**/lesson.js", "**/style.css", "**/04_slowest_decides.json.gz"],
    ids=["a module", "its script", "its style", "its run"],
)
def test_a_file_that_is_lost_is_asked_for_again(page: Page, server: PageServer, lost: str) -> None:
    losing = Losing(1)
    page.route(lost, losing)
    with page.expect_response(lost):
        page.goto(f"{server.url}04_slowest_decides.html", wait_until="commit")
    page.wait_for_selector("body[data-ready]")
    expect(page.locator("#question")).to_be_visible()
    assert page.evaluate("document.styleSheets.length") == 1
    assert losing.asked == 2


def test_a_file_that_is_missing_ends_it_and_is_said(page: Page, server: PageServer) -> None:
    losing = Losing(1_000)
    page.route("**/view.js", losing)
    with page.expect_event("requestfailed", lambda _: losing.asked == 4):
        page.goto(f"{server.url}04_slowest_decides.html", wait_until="commit")
    expect(page.locator(".unserved")).to_have_css("visibility", "visible")
    assert losing.asked == 4


def test_an_engine_that_is_lost_is_said_and_comes_with_the_next_question(
    page: Page, server: PageServer
) -> None:
    losing = Losing(2)
    page.route("**/engine.zip*", losing)
    page.goto(f"{server.url}sandbox.html")
    page.locator(".run").click()
    expect(page.locator(".problem")).to_contain_text("The engine could not be fetched")
    expect(page.locator(".problem")).to_contain_text("Try again")
    page.locator(".run").click()
    expect(page.locator("svg.picture")).to_be_visible()
    assert losing.asked == 3


def test_the_browser_of_these_tests_hears_nothing_of_interfaces(tmp_path: Path) -> None:
    """What tells them is refused; other sockets are there."""
    tried = (
        "import socket\n"
        "socket.socket(socket.AF_INET).close()\n"
        "try:\n    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()\n"
        "except OSError as error:\n    print(error.errno)"
    )
    command = undisturbed.undisturbed(sys.executable, tmp_path)
    if command == sys.executable:
        pytest.skip("no Linux, or a processor whose system calls are not known here")
    done = subprocess.run([command, "-c", tried], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "97"
