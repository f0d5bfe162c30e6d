"""The site without a network: its service worker keeps what was looked at and the engine; another
version takes its place, and a live page at the same address puts it away."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from coordinator.lab.page.following import Follower
from coordinator.lab.page.lessons import load
from coordinator.lab.page.server import PageServer, assets
from coordinator.lab.page.site.files import write_worker
from tests.ports import kept_port

from .conftest import PATIENT_MS
from .test_lessons import change

expect.set_options(timeout=PATIENT_MS)
_UNTIL = """async ([holds, arg]) => {
    const look = (0, eval)(holds);
    while (!await look(arg)) await new Promise((again) => setTimeout(again, 50));
}"""
_KEPT = """async (names) => {
    const there = (name) => caches.match(new URL(name, location.href), { ignoreSearch: true });
    return (await Promise.all(names.map(there))).every(Boolean);
}"""


def until(page: Page, holds: str, arg: object = None) -> None:
    """Wait, in the page, until a promise's value is true."""
    page.evaluate(_UNTIL, [holds, arg])


@pytest.fixture
def kept(browser: Browser) -> Iterator[Page]:
    """A page of a browser that has service workers."""
    context = browser.new_context(service_workers="allow", reduced_motion="reduce")
    context.set_default_timeout(PATIENT_MS)
    yield context.new_page()
    context.close()


def serve(root: Path, port: int) -> PageServer:
    served = PageServer("127.0.0.1", port, root, "index.html")
    served.start()
    return served


def test_a_lesson_and_its_engine_are_there_without_a_network_until_another_version_comes(
    kept: Page, site: Path, tmp_path: Path
) -> None:
    port = kept_port()  # nobody else may have it while nobody listens there
    first = serve(site, port)
    url = first.url
    try:
        kept.goto(f"{url}04_slowest_decides.html")
        kept.wait_for_selector("body[data-ready]")
        # All of it is fetched while the page has nothing else to do.
        names = [path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()]
        until(kept, _KEPT, [name for name in names if name != "sw.js"])
        (old,) = kept.evaluate("caches.keys()")
    finally:
        first.stop()
    kept.goto(f"{url}13_no_barrier.html?teach")  # never looked at before
    kept.wait_for_selector("body[data-ready]")
    kept.goto(f"{url}04_slowest_decides.html")
    kept.wait_for_selector("body[data-ready]")
    change(kept)
    kept.locator(".whatif .run").click()
    expect(kept.locator(".said-of .changed")).not_to_be_empty()

    other = tmp_path / "other"
    shutil.copytree(site, other)
    index = other / "index.html"
    index.write_text(index.read_text().replace("Consumer groups, alive", "The other version"))
    write_worker(other)
    second = serve(other, port)
    try:
        kept.goto(url)
        expect(kept.locator("h1")).to_have_text("The other version")  # at once
        until(kept, "(old) => caches.keys().then((all) => !all.includes(old))", old)
    finally:
        second.stop()

    log = tmp_path / "run.jsonl"
    log.write_text("\n".join(load("04_slowest_decides").lines) + "\n")
    live = PageServer("127.0.0.1", port, assets(), "watch.html", Follower(log))
    live.start()
    try:
        kept.goto(url)
        expect(kept.locator("h1")).to_have_text("run.jsonl")
        until(kept, "() => navigator.serviceWorker.getRegistrations().then((all) => !all.length)")
        until(kept, "() => caches.keys().then((all) => !all.length)")
    finally:
        live.stop()


def test_a_site_is_called_by_its_content(site: Path, tmp_path: Path) -> None:
    """The same files give the same worker, another file another one."""
    other = tmp_path / "other"
    shutil.copytree(site, other)
    write_worker(other)
    assert (other / "sw.js").read_bytes() == (site / "sw.js").read_bytes()
    (other / "open.html").write_text("another")
    write_worker(other)
    assert (other / "sw.js").read_bytes() != (site / "sw.js").read_bytes()


def test_a_lesson_in_a_frame_is_the_picture_and_the_question(
    page: Page, server: PageServer
) -> None:
    page.goto(f"{server.url}index.html")
    page.set_content(f'<iframe src="{server.url}04_slowest_decides.html?embed"></iframe>')
    framed = page.frame_locator("iframe")
    expect(framed.locator("svg.picture")).to_be_visible()
    expect(framed.locator("header.site")).to_be_hidden()
    page.set_content(f'<iframe src="{server.url}04_slowest_decides.html"></iframe>')
    expect(page.frame_locator("iframe").locator("#stage")).to_have_count(0)
