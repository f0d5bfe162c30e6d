"""One scenario live and in virtual time: the same groups' events in the same order. Every step
waits for the one before, none for time."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.calibration import Step, compare, steps
from coordinator.events import EventLog
from coordinator.events.groups import MemberPending, PendingMemberRemoved
from coordinator.history.judges import Judgement
from coordinator.lab.live_world.run import live_verdicts, run_live
from coordinator.lab.live_world.world import LiveWorld
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.triggers import Trigger

SCENARIO = """
duration = "60s"
[topics]
orders = 4
[brokers]
config = { "group.initial.rebalance.delay.ms" = 0 }
[[producers]]
name = "shop"
stop = "60s"
topics = "orders"
[[members]]
name = "app"
topics = "orders"
consumes = true
assignor = "range"
config = { "heartbeat.interval.ms" = 100 }
[[churn]]
kind = "scale"
members = "app"
to = 2
when = "poll"
of = "app-1"
[[faults]]
verb = "SlowMember"
member = "app-1"
bytes_per_second = 1000000
when = "assigned"
[[churn]]
kind = "scale"
members = "app"
to = 1
when = "assigned"
of = "app"
seen = 3
"""
LAST = Trigger("assigned", "app", 4, 0)
"""app-1 alone, then app-1 and app-2, then app-1 alone again."""
KINDS = {
    "RebalanceStarted",
    "GenerationStarted",
    "GenerationStored",
    "MemberJoined",
    "MemberRemoved",
}


def group_events(lines: list[dict[str, Any]]) -> list[tuple[str, int | None]]:
    return [
        (line["type"], line["generation"])
        for line in lines
        if line["stream"] == "group" and line["type"] in KINDS
    ]


def test_a_live_run_goes_as_the_virtual_one() -> None:
    scenario = read_scenario(SCENARIO, "mine.toml")
    virtual, live = EventLog(seed=1), EventLog(seed=1)
    run_scenario(scenario, 1, virtual)

    def began(where: str, world: LiveWorld) -> None:
        assert where.startswith("127.0.0.1:")
        world.triggers.wait(LAST, lambda _: world.end())

    run_live(scenario, 1, live, began=began)
    lines = list(live.events())
    assert group_events(lines) == group_events(list(virtual.events()))
    assert compare(steps(virtual.read()), steps(live.read())) is not None
    assert any(line["type"] == "SlowMember" for line in lines)
    assert any(line["type"] == "RecordsPolled" for line in lines)
    broken = [
        str(verdict)
        for verdict in live_verdicts(scenario, live.read(), foreign=False)
        if verdict.judgement is Judgement.BROKEN
    ]
    assert broken == []


def test_runs_are_compared_step_by_step() -> None:
    virtual = [
        Step("MemberStarted a", None),
        Step("generation 1: a", 6000),
        Step("MemberStarted b", None),
        Step("generation 2: a, b", 300),
    ]
    late = [*virtual[:3], Step("generation 2: a, b", 600)]
    assert compare(virtual, virtual) == (0.0, 0)
    assert compare(virtual, late) == (
        0.1,
        300,
    )  # of a heartbeat interval, which is longer than what it took
    assert compare(virtual, [virtual[0], Step("generation 1: a", 7200), *virtual[2:]]) == (
        0.2,
        1200,
    )
    assert compare(virtual, [virtual[0], virtual[2], virtual[1], virtual[3]]) is None


@pytest.mark.parametrize(
    ("grace", "blamed"), [("", 0), ('grace = "4s"\n', 1), ('grace = "5s"\n', 0)]
)
def test_how_late_what_is_due_may_be_is_said_by_the_scenario(grace: str, blamed: int) -> None:
    """MID-5: five seconds after its deadline a member id that was not used is there still."""
    scenario = read_scenario(f'{SCENARIO}[must]\njudges = ["timeouts_end"]\n{grace}', "live")
    log = EventLog(seed=1)
    log.append(MemberPending("m", "c", 2_000), at_ms=1_000, group="app")
    log.append(PendingMemberRemoved("m", "session expired"), at_ms=7_000, group="app")
    verdicts = live_verdicts(scenario, log.read(), foreign=False)
    (verdict,) = [each for each in verdicts if each.judge == "timeouts_end"]
    assert len(verdict.findings) == blamed
