"""The first frame of every lesson, pixel by pixel: prerendered for readers without scripts, and
drawn from what the engine plays there.

Both are drawn by one browser at one place, so fonts and versions of browsers make no difference.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from playwright.sync_api import Page

from coordinator.lab.page.server import PageServer

from .chosen import TOGETHER

_READY = """async () => {
    const modules = ["engine.js", "draw.js", "view.js", "vendor/preact.mjs", "packed.js"];
    const [engine, draw, view, preact, { unpacked }] = await Promise.all(modules.map((each) => import(`./${each}`)));
    document.body.replaceChildren();
    document.body.style.margin = "0";
    globalThis.prerendered = async (slug) => {
        const read = new DOMParser().parseFromString(await (await fetch(`${slug}.html`)).text(), "text/html");
        const place = document.createElement("div");
        place.innerHTML = read.querySelector("figure.first svg").outerHTML;
        document.body.replaceChildren(place);
    };
    globalThis.played = async (slug, later) => {
        const lesson = await unpacked(slug), [from, to] = lesson.window_ms;
        const { scenario, seed, script } = lesson;
        const { picture } = await engine.ask({ op: "play", scenario, seed, script, name: slug });
        const place = document.createElement("div");
        document.body.replaceChildren(place);
        const window = { from: from + later, to: to + later, width: 960, horizon: lesson.stop_ms };
        const { groups: [group], replicas } = picture;
        preact.render(view.html`<${draw.Drawing} group=${group} replicas=${replicas} window=${window} label=${slug} />`, place);
    };
}"""
_COMPARE = """async (shots) => {
    const all = [];
    for (const shot of shots) {
        const bytes = Uint8Array.from(atob(shot), (each) => each.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
        const on = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
        on.drawImage(bitmap, 0, 0);
        all.push([bitmap.width, bitmap.height, on.getImageData(0, 0, bitmap.width, bitmap.height).data]);
    }
    const [[wide, high, one], [wideToo, highToo, other]] = all;
    const colours = new Set();
    let differ = 0;
    for (let at = 0; at < one.length; at += 4) {
        colours.add((one[at] << 16) | (one[at + 1] << 8) | one[at + 2]);
        if ([0, 1, 2].some((each) => Math.abs(one[at + each] - other[at + each]) > 24)) differ++;
    }
    return {size: [wide, high], same_size: wide === wideToo && high === highToo, colours: colours.size, differ: differ / (wide * high)};
}"""
MOST = 0.0005
"""The part of the pixels that may differ: none does, where one browser draws both."""


def shot(page: Page) -> str:
    return base64.b64encode(page.locator("svg.picture").screenshot()).decode()


def compared(page: Page, one: str, other: str) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(_COMPARE, [one, other])
    return found


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("lessons", TOGETHER)
def test_the_first_frame_of_every_lesson_is_what_the_engine_plays(
    page: Page, server: PageServer, lessons: tuple[str, ...]
) -> None:
    page.goto(f"{server.url}index.html")
    page.evaluate(_READY)
    wrong: dict[str, Any] = {}
    kept = ""
    for slug in lessons:
        page.evaluate(f"prerendered({json.dumps(slug)})")
        kept = shot(page)
        page.evaluate(f"played({json.dumps(slug)}, 0)")
        found = compared(page, kept, shot(page))
        if (
            not found["same_size"]
            or found["differ"] > MOST
            or found["colours"] < 12
            or found["size"][0] != 960
        ):
            wrong[slug] = found
    assert wrong == {}
    page.evaluate(
        f"played({json.dumps(lessons[-1])}, 700)"
    )  # the comparison sees a picture that is moved along by 0.7 s
    assert compared(page, kept, shot(page))["differ"] > 10 * MOST
