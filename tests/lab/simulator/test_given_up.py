"""A client that gives its coordinator's connection up waits for no answer on it."""

from __future__ import annotations

from coordinator.events import EventLog
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario

SCENARIO = """
duration = "80s"
[topics]
orders = 4
[[members]]
name = "app"
count = 2
topics = "orders"
reads = 10
config = { "session.timeout.ms" = 10000, "heartbeat.interval.ms" = 1000 }
[[members]]
name = "late"
group = "app"
topics = "orders"
start = "40s"
[[faults]]
verb = "CutMember"
member = "app-1"
direction = "from_broker"
at = "20s"
lasts = "11s"
"""


def test_who_gave_its_coordinator_up_goes_on_with_its_heartbeats() -> None:
    """No heartbeat is answered for a whole session: Java's client disconnects, which fails what is
    in flight, and goes on. It hears of the next rebalance with its next heartbeat."""
    log = EventLog(seed=1)
    run_scenario(read_scenario(SCENARIO, "given up", ()), 1, log)
    lines = list(log.events())
    joined = next(
        line["at_ms"]
        for line in lines
        if line["type"] == "MemberJoined" and line["client_id"] == "late-1"
    )
    heard = next(
        line["at_ms"]
        for line in lines
        if line["type"] == "RequestRefused"
        and line["api"] == "heartbeat"
        and line["client"] == "app-1"
        and line["at_ms"] >= joined
    )
    assert heard - joined < 1_500


def test_an_application_that_polls_has_polled_although_nothing_is_answered() -> None:
    """Its member's heartbeat waits behind a cut for longer than max.poll.interval.ms."""
    text = SCENARIO.replace('session.timeout.ms" = 10000', 'session.timeout.ms" = 45000')
    text = text.replace('"heartbeat', '"max.poll.interval.ms" = 9000, "heartbeat')
    text = text.replace("reads = 10", "reads = 0").replace("from_broker", "to_broker")
    log = EventLog(seed=1)
    run_scenario(read_scenario(text, "polls", ()), 1, log)
    own = [line for line in log.events() if line.get("client") == "app-1"]
    assert "PartitionsAssigned" in [line["type"] for line in own]
    assert "PartitionsLost" not in [line["type"] for line in own if line["at_ms"] < 40_000]
    assert "leave_group" not in [line.get("api") for line in own if line["at_ms"] < 40_000]
