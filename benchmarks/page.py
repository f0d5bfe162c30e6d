"""The page: a lesson's first picture and first steps in a Chromium, forks, 12 members x 48
partitions, and a log of a million lines.

Needs Node and a Chromium, as `make page` does.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.chromium import chromium

BIG = """
duration = "10m"
[topics]
orders = 48
[[members]]
name = "app"
count = 12
topics = "orders"
assignor = "cooperative-sticky"
reads = 10
[[churn]]
kind = "rolling"
members = "app"
at = "1m"
every = "30s"
down = "8s"
"""
_FRAMES = """async ([count, act]) => {
    const plot = document.querySelector('.plot'), range = document.querySelector('.scrub'), times = [];
    for (let at = 0; at < count; at++) {
        const begun = performance.now();
        const key = act === 'step' ? 'ArrowRight' : at < count / 2 ? '+' : '-';
        if (act !== 'scrub') plot.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
        else { range.value = String(Number(range.max) * at / count); range.dispatchEvent(new Event('input', {bubbles: true})); }
        await new Promise((done) => setTimeout(done, 0));
        document.body.getBoundingClientRect();
        times.push(performance.now() - begun);
    }
    return times;
}"""


def _until_whole(page: Any) -> None:
    """The log was read to its end."""
    page.locator(".reading").wait_for(state="detached")


def run() -> Iterator[str]:
    """One row a figure."""
    from playwright.sync_api import sync_playwright

    from coordinator.lab.page.engine import play
    from coordinator.lab.page.following import Follower
    from coordinator.lab.page.server import PageServer, assets
    from tools.page_site.__main__ import build

    path = chromium()
    if path is None or shutil.which("node") is None:
        yield "page: a Chromium or Node is missing, so nothing is measured"
        return
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        site = Path(scratch, "site")
        build(site)
        size = sum(each.stat().st_size for each in site.rglob("*") if each.is_file())
        yield f"site: {size / 1e6:.1f} MB"
        served = PageServer("127.0.0.1", 0, site, "index.html")
        served.start()
        browser = playwright.chromium.launch(executable_path=path)
        page = browser.new_page()
        page.set_default_timeout(300_000)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for turn in ("cold", "warm"):
            yield from _lesson(page, f"{served.url}01_leader_dies.html", turn)
        foreign = [url for url in asked if not url.startswith((served.url, "data:", "blob:"))]
        yield f"requests: {len(asked)}, of them to other hosts: {len(foreign)}"
        served.stop()
        log = Path(scratch, "big.jsonl")
        lines = play(BIG, "big", 1)
        log.write_text("\n".join(lines) + "\n")
        watched = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(log))
        watched.start()
        page.goto(watched.url)
        page.wait_for_selector("svg.picture")
        _until_whole(page)
        page.locator(".plot").focus()
        page.keyboard.press("Home")
        for act in ("step", "scrub", "zoom"):
            times = page.evaluate(_FRAMES, [300 if act != "zoom" else 16, act])
            middle = statistics.median(times)
            yield f"12 members x 48 partitions, {len(lines)} lines, {act}: median {middle:.1f} ms, worst {max(times):.1f} ms"
        watched.stop()
        million = Path(scratch, "million.jsonl")
        yield from _million(lines, million)
        yield from _million_in_a_browser(page, million)
        browser.close()


def _lesson(page: Any, url: str, turn: str) -> Iterator[str]:
    page.goto(url)
    page.wait_for_selector("body[data-ready]")
    paint = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
    )
    ready = page.evaluate("performance.now()")
    yield f"a lesson, {turn}: first picture {paint:.0f} ms, can be stepped through {ready:.0f} ms"
    page.locator("#reveal").click()
    page.locator(".pager [data-to=change]").click()
    page.wait_for_selector(".whatif")
    begun = page.evaluate("performance.now()")
    page.locator(".whatif button.run").click()
    page.wait_for_selector(".branch svg.picture")
    yield f"the first run with something changed, {turn} (the engine is loaded for it): {page.evaluate('performance.now()') - begun:.0f} ms"
    begun = page.evaluate("performance.now()")
    page.locator(".whatif button.run").click()
    page.locator(".branch svg.picture").nth(1).wait_for()
    yield f"the next one, {turn}: {page.evaluate('performance.now()') - begun:.0f} ms"


def _million(lines: list[str], path: Path) -> Iterator[str]:
    """A run of a group, then commits up to a million lines."""
    last = json.loads(lines[-1])
    seen = next(
        json.loads(line)
        for line in reversed(lines)
        if '"api":"offset_commit"' in line and '"RequestSeen"' in line
    )
    answered = next(
        json.loads(line)
        for line in reversed(lines)
        if '"api":"offset_commit"' in line and '"RequestAnswered"' in line
    )
    seq, at_ms = last["seq"], last["at_ms"]
    with path.open("w") as file:
        file.write("\n".join(lines) + "\n")
        while seq < 1_000_000:
            at_ms += 10
            for line, cause in ((seen, None), (answered, seq + 1)):
                seq += 1
                file.write(
                    json.dumps(
                        {**line, "seq": seq, "at_ms": at_ms, "cause": cause}, separators=(",", ":")
                    )
                    + "\n"
                )
    program = (
        "import sys, time, resource; from coordinator.lab.page.following import Follower; begun = time.perf_counter(); "
        "follower = Follower(sys.argv[1]); follower.plain(); first = time.perf_counter() - begun\n"
        "while follower.behind: follower.poll()\n"
        "size = len(follower.plain()); took = time.perf_counter() - begun; "
        "print(f'{first:.1f} s, until it is whole: {took:.1f} s, '\n"
        "f'{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB, a picture of {size / 1e6:.1f} MB')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    yield f"a log of a million lines ({path.stat().st_size / 1e6:.0f} MB) until its picture is there: {done.stdout.strip()}"


def _million_in_a_browser(page: Any, path: Path) -> Iterator[str]:
    """The same log from the start of `coordinator watch` on, and what the browser needs for it."""
    from coordinator.lab.page.following import Follower
    from coordinator.lab.page.server import PageServer, assets

    begun = time.perf_counter()
    watched = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(path))
    watched.start()
    page.goto(watched.url)
    page.wait_for_selector("svg.picture")
    opened = time.perf_counter() - begun
    _until_whole(page)
    whole = time.perf_counter() - begun
    heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
    told = f"{opened:.1f} s until a picture, {whole:.1f} s until the overview of all"
    yield f"the same in a browser: {told}, {heap:.0f} MB of JavaScript's heap"
    for act, count in (("scrub", 200), ("zoom", 32)):
        times = page.evaluate(_FRAMES, [count, act])
        yield f"the same, {act}: median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms"
    watched.stop()
