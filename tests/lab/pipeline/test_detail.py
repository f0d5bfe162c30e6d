"""Column `detail` of `events`: an event's own fields, as `json.dumps` writes them."""

from __future__ import annotations

import json
import json.encoder
from typing import Any

import pytest

from coordinator.events.line import Line
from coordinator.lab.pipeline.fold import cluster
from coordinator.lab.pipeline.fold.cluster import detail

from .kit import SHORT, simulated

ODD: list[Any] = [
    None,
    True,
    1.5,
    -0.0,
    1e300,
    10**18,
    'é\u2028\ud800"\\\n',
    [],
    {},
    [[{"x": [1, "2"]}]],
    {"": None},
]


def dumped(line: dict[str, Any]) -> str:
    envelope = {
        "seq",
        "at_ms",
        "run",
        "stream",
        "type",
        "cause",
        "group",
        "generation",
        "member",
        "broker",
        "topic",
        "partition",
    }
    return json.dumps(
        {key: value for key, value in line.items() if key not in envelope}, separators=(",", ":")
    )


@pytest.mark.parametrize("quick", [True, False])
def test_it_is_what_json_dumps_says(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the encoder in C, too, which not every Python has."""
    if not quick:
        monkeypatch.setattr(json.encoder, "c_make_encoder", None)
        monkeypatch.setattr(cluster, "_compact", cluster._encoder())
    lines = [json.loads(text) for name in SHORT for text in simulated(name).splitlines()]
    bare = {"seq": 1, "at_ms": 1, "run": "1", "stream": "x", "type": "X"}
    lines += [{**bare, "own": value} for value in ODD] + [bare]
    assert [detail(Line.of(line)) for line in lines] == [dumped(line) for line in lines]
