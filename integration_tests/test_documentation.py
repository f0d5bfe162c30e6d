"""`make docs` builds the documentation: no warning, which a link to a page or a heading that is not there would be, and
nothing that a reader's browser would fetch from elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from integration_tests.page.undisturbed import undisturbed
from tools.chromium import chromium
from tools.docs.__main__ import inside
from tools.public_names import NAMES

ROOT: Final = Path(__file__).resolve().parents[1]
_PATIENT_MS: Final = 120_000
"""How long a browser is waited for: machines are busy."""
_FETCHED: Final = re.compile(
    r"<(?:script|img|source|iframe)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\"'> ]+"
    r"|<link\b[^>]*\brel=[\"']?(?:stylesheet|preload|preconnect|icon)[^>]*\bhref=[\"']?(?:https?:)?//[^\"'> ]+"
)


def run(*command: str) -> str:
    """One step of `make docs`, in this environment: what it says."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def site() -> Path:
    run("make", "--no-print-directory", ".venv-docs/.ready", f"PYTHON={sys.executable}")
    run(sys.executable, "-m", "tools.docs")
    said = run(".venv-docs/bin/python", "-m", "mkdocs", "build", "--quiet")
    assert not re.search("WARNING|ERROR", said), said
    return ROOT / "build" / "docs"


def test_it_can_be_searched(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {each["location"].partition("#")[0] for each in index["docs"]}
    assert {"tutorial/", "rules/", "api/coordinator/"} <= found


def test_every_public_name_has_its_reference(site: Path) -> None:
    missing = [
        f"{module}.{name}"
        for module, names in NAMES.items()
        for name in names
        if not name.startswith("__")
        and f'id="{module}.{name}"' not in (site / "api" / module / "index.html").read_text()
    ]
    assert missing == []


def test_no_page_fetches_from_elsewhere(site: Path) -> None:
    pages = [*(site / "api").rglob("*.html"), *site.glob("*/index.html"), site / "index.html"]
    assert pages
    assert [
        (page.name, found[0]) for page in pages for found in _FETCHED.finditer(page.read_text())
    ] == []
    assert _FETCHED.search('<link rel="stylesheet" href="https://fonts.example/css">')
    assert _FETCHED.search("<script src=//cdn.example/x.js></script>")


def test_links_out_of_the_pages() -> None:
    text = "see [examples](../examples/go), [curve](curve), [tables](tables.md#runs)"
    assert inside(text, "") == "see examples, [curve](curve/README.md), [tables](tables.md#runs)"
    assert "(https://x.example/a/blob/main/examples/go)" in inside(text, "https://x.example/a")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing is said."""


@pytest.fixture
def served(site: Path, tmp_path: Path) -> Iterator[str]:
    """The site as it is published, one version beside another: the address of one."""
    for version in ("0.1.0", "dev"):
        (tmp_path / version).symlink_to(site, target_is_directory=True)
    versions: list[dict[str, object]] = [
        {"version": each, "title": each, "aliases": []} for each in ("dev", "0.1.0")
    ]
    (tmp_path / "versions.json").write_text(json.dumps(versions))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/0.1.0/"
    server.shutdown()
    thread.join()
    server.server_close()


LEADS_TO: Final = {
    "rebalance timeout": "rules/",
    "static member": "simulator_incidents/",
    "JoinGroup": "rules/",
    "share group": "testing_queues/",
    "SASL": "security/",
}
"""What a reader types, and a page that has to be among the first three found."""
_IS_AMONG_THE_FIRST: Final = """(path) =>
    [...document.querySelectorAll('.md-search-result__item')].slice(0, 3)
        .some((each) => each.querySelector('a').pathname === path)"""


def test_a_reader_finds_pages_versions_and_the_reference(served: str, tmp_path: Path) -> None:
    """In a browser, by keyboard and by pointer; nothing is asked of another host."""
    path = chromium()
    if path is None:
        assert os.environ.get("REQUIRE_PAGE", "") in ("", "0"), "there is no Chromium"
        pytest.skip("a Chromium is missing")
    asked: set[str] = set()
    with sync_playwright() as playwright:
        quiet = undisturbed(path, tmp_path)
        browser = playwright.chromium.launch(executable_path=quiet, timeout=_PATIENT_MS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(_PATIENT_MS)
        page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
        page.goto(served)
        field = page.locator("input.md-search__input")
        told = page.locator(".md-search-result__meta")
        page.keyboard.press("/")
        for words, target in LEADS_TO.items():
            told.filter(has_text="Type to start").wait_for()
            field.press_sequentially(words)
            # what was found of the first letters alone may still stand there
            page.wait_for_function(_IS_AMONG_THE_FIRST, arg=f"/0.1.0/{target}")
            field.fill("")
            field.press("Backspace")
        field.press_sequentially("SASL")
        page.wait_for_function(_IS_AMONG_THE_FIRST, arg="/0.1.0/security/")
        field.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/security/**")

        page.locator(".md-version__current").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/dev/**")
        page.goto(served)
        page.locator(".md-version__current").hover(force=True)  # the list covers it
        page.locator(".md-version__link", has_text="dev").click()
        page.wait_for_url("**/dev/**")

        page.get_by_role("link", name="Reference").first.click()
        page.wait_for_url("**/api/")
        page.get_by_role("link", name="coordinator.event_log").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/api/coordinator.event_log/")
        browser.close()
    assert asked == {urlsplit(served).netloc}
