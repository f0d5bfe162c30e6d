"""What judges find by the members' own word alone, as of a run on a foreign Kafka: the logs are of
simulations, without what brokers have written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.events.line import Line
from coordinator.history.judges import Judgement
from coordinator.history.judges.by_members import OwnedOnce, SettledWithin
from coordinator.lab.live_world.run import live_verdicts
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.members import rebalancing
from coordinator.wire.consumer_protocol import Assignment
from tests.history.judges.crafted import judge
from tests.lab.simulator.planted import (
    partitions_are_given_before_they_are_free,
    two_members_are_given_the_same,
)

pytestmark = pytest.mark.unjudged
Patch = pytest.MonkeyPatch
SCENARIO = """
duration = "4m"
[topics]
orders = 6
[[members]]
name = "app"
count = 3
topics = "orders"
KIND
config = { "metadata.max.age.ms" = 10000 }
[[churn]]
kind = "restart"
members = "app"
how = "close"
at = "40s"
down = "10s"
[[faults]]
verb = "CutMember"
member = "app-2"
at = "60s"
lasts = "60s"
[must]
stable_within = "60s"
"""


def _found(kind: str, bug: Callable[[Patch], None] | None = None) -> dict[str, list[str]]:
    """What the judges find in what members and faults tell; no names of those that do not judge."""
    scenario, log = read_scenario(SCENARIO.replace("KIND", kind), "mine.toml"), EventLog(seed=1)
    with pytest.MonkeyPatch.context() as patch:
        if bug is not None:
            bug(patch)
        run_scenario(scenario, 1, log)
    lines = [line for line in log.read() if line.stream in ("run", "member", "fault")]
    return {
        verdict.judge: [finding.text for finding in verdict.findings]
        for verdict in live_verdicts(scenario, lines, foreign=True)
        if verdict.judgement is not Judgement.NOT_JUDGED
    }


@pytest.mark.parametrize(
    "kind",
    [
        'assignor = "range"',
        'assignor = "cooperative-sticky"',
        'assignor = "sticky"\nstatic = true',
        'protocol = "consumer"',
        'protocol = "consumer"\nstatic = true',
    ],
)
def test_members_own_and_settle_by_their_own_word(kind: str) -> None:
    found = _found(kind)
    assert found == {
        "listeners_are_told": [],
        "no_member_fails": [],
        "owned_once": [],
        "settled_within": [],
    }


def test_two_members_that_are_given_the_same_are_found() -> None:
    found = _found('assignor = "range"', two_members_are_given_the_same)
    assert "in generation" in found["owned_once"][0]


def test_a_partition_that_is_given_too_early_is_found() -> None:
    found = _found('protocol = "consumer"', partitions_are_given_before_they_are_free)
    assert "and still has" in found["owned_once"][0]


def test_partitions_that_nobody_was_told_of_are_found() -> None:
    def told_nothing(patch: Patch) -> None:
        complete = rebalancing.complete

        def nothing(m: Any, assignment: bytes, now: int) -> None:
            complete(m, assignment if now < 100_000 else Assignment(()).encode(), now)

        patch.setattr(rebalancing, "complete", nothing)

    found = _found('assignor = "range"', told_nothing)
    assert (
        "has no owner in group app, 60000 ms after the last churn or fault"
        in (found["settled_within"][0])
    )


def _member(kind: str, at_ms: int, client: str, **fields: Any) -> dict[str, Any]:
    return {
        "stream": "member",
        "type": kind,
        "at_ms": at_ms,
        "group": "g",
        "client": client,
        "member": client,
        "generation": 1,
        **fields,
    }


def test_what_is_given_long_after_the_last_deed_is_named() -> None:
    place = [{"topic": "t", "partition": 0}]
    lines: list[Line | dict[str, Any]] = [
        _member("MemberStarted", 0, "a"),
        _member("PartitionsAssigned", 1, "a", partitions=place),
        _member("PartitionsRevoked", 90_000, "a", partitions=place),
        _member("PartitionsAssigned", 90_001, "a", partitions=place),
    ]
    (verdict,) = judge(lines, [lambda: SettledWithin(60_000)])
    assert [finding.text for finding in verdict.findings] == [
        "a of group g loses partitions, although there was no churn or fault since 0 ms"
    ]
    (verdict,) = judge(lines, [lambda: SettledWithin(95_000)])
    assert verdict.findings == ()


def test_who_does_not_know_that_it_is_out_is_not_blamed() -> None:
    place = [{"topic": "t", "partition": 0}]
    cut = {"stream": "fault", "type": "CutMember", "at_ms": 2, "client": "a"}
    lines: list[Line | dict[str, Any]] = [
        _member("MemberStarted", 0, "a"),
        _member("PartitionsAssigned", 1, "a", partitions=place),
        _member("PartitionsAssigned", 50_000, "b", partitions=place, generation=2),
    ]
    (verdict,) = judge(lines, [OwnedOnce])
    assert len(verdict.findings) == 1
    (verdict,) = judge([*lines[:2], cut, lines[2]], [OwnedOnce])
    assert verdict.findings == ()
