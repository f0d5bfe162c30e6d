"""Fixtures: the site, built once; a server that shows it; a Chromium. Skips without Node or a
browser, unless REQUIRE_PAGE is set."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from coordinator.lab.page.server import PageServer
from tools.chromium import chromium
from tools.page_site.__main__ import HERE, build, install

from .engine_here import played_here
from .undisturbed import undisturbed

REQUIRED = os.environ.get("REQUIRE_PAGE", "") not in ("", "0")
PATIENT_MS = 120_000
"""How long anything is awaited: machines are busy."""


def _missing(what: str) -> NoReturn:
    if REQUIRED:
        pytest.fail(f"REQUIRE_PAGE is set, and {what} is missing", pytrace=False)
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, which no test changes. The first of a run's processes that asks builds it."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            _missing(tool)
    try:
        install()
    except subprocess.CalledProcessError as error:
        _missing(f"what npm brings (npm ci ended with status {error.returncode})")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of the whole run
    target, making = folder / "page-site", folder / "page-site-making"
    with (folder / "page-site.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not target.exists():
            build(making)
            making.rename(target)
    return target


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[PageServer]:
    """The site on loopback."""
    served = PageServer("127.0.0.1", 0, site, "index.html")
    served.start()
    yield served
    served.stop()


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A Chromium of the system, which containers that start and end beside it do not disturb.

    For this folder only: while Playwright's synchronous interface is open, its event loop counts as
    running in this thread, and no other test could run one.
    """
    path = chromium()
    if path is None:
        _missing("a Chromium")
    quiet = undisturbed(path, tmp_path_factory.mktemp("chromium"))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=quiet, timeout=PATIENT_MS)
        yield opened
        opened.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh browser profile that waits long."""
    fresh = browser.new_context(
        service_workers="block", viewport={"width": 1280, "height": 1000}, reduced_motion="reduce"
    )
    fresh.set_default_timeout(PATIENT_MS)
    yield fresh
    fresh.close()


@pytest.fixture(params=["here", pytest.param("webassembly", marks=pytest.mark.thorough)])
def engine(request: pytest.FixtureRequest, context: BrowserContext, tmp_path: Path) -> None:
    """What plays for the page: this Python, or, in `make fuzz`, WebAssembly as for a reader."""
    if request.param == "here":
        played_here(context, tmp_path)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page. What its scripts fail with fails the test."""
    opened = context.new_page()
    problems: list[str] = []

    def keep(error: Error) -> None:
        problems.append(str(error))

    opened.on("pageerror", keep)
    yield opened
    assert problems == []


def accessible(page: Page) -> list[str]:
    """What axe-core finds wrong: rules and places."""
    page.evaluate((HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations.map((each) => "
        "each.id + ': ' + each.nodes.map((node) => node.html.slice(0, 120)).join(' | ')))"
    )
    return list(found)
