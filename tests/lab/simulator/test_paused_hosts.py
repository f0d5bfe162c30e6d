"""A host that stands still does nothing, whatever befalls its connections meanwhile."""

from __future__ import annotations

from coordinator.events import EventLog
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario

SCENARIO = """
duration = "60s"
[topics]
orders = 4
[[producers]]
name = "shop"
topics = "orders"
rate = 5
[[members]]
name = "app"
count = 2
topics = "orders"
consumes = true
processing = "200ms"
commit = "batch"
[[faults]]
verb = "PauseMember"
member = "app-1"
at = "20s"
lasts = "20s"
[[faults]]
verb = "ResetMember"
member = "app-1"
at = "30s"
"""


def test_a_paused_member_notices_later_that_its_connections_were_reset() -> None:
    log = EventLog(seed=1)
    run_scenario(read_scenario(SCENARIO, "paused", ()), 1, log)
    lines = list(log.events())
    own = [line for line in lines if line.get("client") == "app-1" and line["stream"] == "member"]
    assert not [line for line in own if 20_000 < line["at_ms"] < 40_000]
    assert [line for line in own if line["at_ms"] >= 40_000]
    closed = [
        line["at_ms"]
        for line in lines
        if line["type"] == "ConnectionClosed" and line["client"] == "app-1"
    ]
    assert closed and 40_000 <= min(closed) < 45_000
