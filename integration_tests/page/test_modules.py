"""What the page works out by itself: labels of an axis, links. In Node, without a browser."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from .conftest import REQUIRED
from .modules import run

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None and not REQUIRED, reason="node is missing"
)
DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 40_000, ["0 s", "5 s", "10 s", "15 s"]),
        (15_000, 17_000, ["15.0 s", "15.5 s", "16.0 s", "16.5 s", "17.0 s"]),
        (15_648, 15_652, ["15.648 s", "15.649 s", "15.650 s", "15.651 s", "15.652 s"]),
        (0, DAY_MS, ["0:00:00", "6:00:00", "12:00:00", "18:00:00", "24:00:00"]),
        (3_600_000, 3_660_000, ["1:00:00", "1:00:10", "1:00:20", "1:00:30"]),
        (
            64_523_117,
            64_523_121,
            ["17:55:23.117", "17:55:23.118", "17:55:23.119", "17:55:23.120", "17:55:23.121"],
        ),
        (64_523_000, 64_523_400, ["17:55:23.00", "17:55:23.05", "17:55:23.10"]),
    ],
)
def test_labels_say_as_much_as_the_distance_between_ticks_asks(
    low: int, high: int, labels: list[str]
) -> None:
    body = """
        const [from, to] = given, step = m.distance(from, to, 9), all = m.ticks(from, to, 9);
        const ordered = all.every((at) => at % step === 0 && at >= from && at <= to);
        return { ordered, labels: all.map((at) => m.tick(at, step, to)) };"""
    made = run("view.js", body, [low, high])
    assert made["ordered"] and len(made["labels"]) <= 10
    assert len(set(made["labels"])) == len(made["labels"]), "two ticks have the same label"
    assert made["labels"][: len(labels)] == labels


def test_a_scale_keeps_its_order_and_draws_nothing_too_far_out() -> None:
    body = """
        const x = m.scale({ from: 43_200_000, to: 43_200_004, width: 960, horizon: 86_400_000 });
        return [0, 43_199_999, 43_200_000, 43_200_001, 43_200_004, 86_400_000].map(x);"""
    places = run("draw.js", body)
    assert places == sorted(places) and all(abs(each) <= 20_000 for each in places)
    assert places[4] - places[2] == 4 * (places[3] - places[2]) > 800


STATE: dict[str, Any] = {
    "v": "0.1.0",
    "seed": 1,
    "settings": ["members.app.assignor=sticky"],
    "now": 12_345,
    "actions": [
        {"kind": "kill", "at_ms": 20_000, "member": "app-1", "down_ms": 500},
        {"kind": "join", "at_ms": 25_000},
    ],
    "sides": [[], ["members.app.protocol=consumer"]],
    "marks": [
        {"kind": "at", "at_ms": 5, "lane": ""},
        {"kind": "span", "at_ms": 5, "to_ms": 9, "lane": "app-1"},
        {"kind": "owner", "at_ms": 7, "lane": "", "row": "orders-3"},
    ],
}


def test_a_link_says_what_it_was_made_of() -> None:
    assert run("url.js", "return m.fromHash(await m.toHash(given));", STATE) == STATE


def test_a_link_keeps_all_branches() -> None:
    earlier = [
        {"settings": [], "actions": STATE["actions"][:1], "without": [0]},
        {"settings": ["members.app.assignor=range"], "actions": []},
    ]
    more = {"kind": "move_coordinator", "at_ms": 9, "to": 1}
    state = {**STATE, "actions": [*STATE["actions"], more], "earlier": earlier, "without": [1, 2]}
    assert run("url.js", "return m.fromHash(await m.toHash(given));", state) == state


def test_a_link_without_predictions_as_older_pages_made_is_read() -> None:
    body = """
        const deflated = new Blob([JSON.stringify(given)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
        const bytes = await new Response(deflated).arrayBuffer();
        return m.fromHash(`#r=${Buffer.from(bytes).toString("base64url")}`);"""
    read = run("url.js", body, ["0.1.0", 1, [], [], 5])
    assert (read["now"], read["sides"], read["marks"]) == (5, None, [])


def test_a_link_longer_than_any_that_was_made_is_refused() -> None:
    body = """return m.fromHash(given).then(() => "taken", (error) => error.message);"""
    assert run("url.js", body, "#r=" + "A" * 32_768) == "damaged"


@pytest.mark.parametrize(
    "rest",
    [
        [0, [[9, 1, 0, "", ""]]],
        [0, [[0, "soon", 0, "", ""]]],
        [0, ["x"]],
        [[[]], []],
        [[[], [1]], []],
        [0, 7],
        [0, [], 7],
        [0, [], [7]],
        [0, [], [[[]]]],
        [0, [], [], ["x"]],
    ],
)
def test_a_damaged_link_is_refused(rest: list[Any]) -> None:
    body = """
        const deflated = new Blob([JSON.stringify(given)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
        const bytes = await new Response(deflated).arrayBuffer();
        const read = m.fromHash(`#r=${Buffer.from(bytes).toString("base64url")}`);
        return read.then(() => "taken", (error) => error.message);"""
    assert run("url.js", body, ["0.1.0", 1, [], [], 5, *rest]) == "damaged"
