"""The world of a log makes the parts that somebody asks for, shows them the lines that count, and
reports changes."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events.line import Line
from coordinator.history.world.groups.memberships import Membership
from coordinator.history.world.ownership.gaps import WithoutOwner
from coordinator.history.world.world import Completed, World
from tests.lines import line_from


def line(kind: str, seq: int, broker: int = 1, **fields: Any) -> Line:
    plain = {"seq": seq, "at_ms": seq, "type": kind, "group": "g", "broker": broker, **fields}
    return line_from(plain)


JOINED = line("MemberJoined", 2, member="m")


def story(*more: Line) -> list[Line]:
    return [line("GroupCreated", 1, by="join"), JOINED, *more]


def test_changes_are_reported_to_whoever_subscribed() -> None:
    world, first, second = World(), list[Membership](), list[Membership]()
    world.subscribe(Membership, first.append)
    world.subscribe(Membership, second.append)
    for each in story(line("MemberRemoved", 3, member="m", reason="left")):
        world.see(each)
    assert [(one.member, one.left_seq, one.reason) for one in first] == [("m", 3, "left")]
    assert first == second


def test_what_lasts_is_reported_at_the_end() -> None:
    world, told = World(), list[Membership]()
    world.subscribe(Membership, told.append)
    for each in story():
        world.see(each)
    assert not told
    world.finish(9)
    assert [(one.member, one.left_seq) for one in told] == [("m", None)]


def test_what_a_former_coordinator_does_changes_nothing() -> None:
    """Its part of the story neither reaches a part nor whoever shows the lines to readers."""
    world, told = World(), list[Membership]()
    world.subscribe(Membership, told.append)
    expires = line("MemberRemoved", 4, 1, member="m", reason="session expired")
    lines = story(line("GroupLoaded", 3, 2, state="Stable"), expires)
    counted = [each.seq for read in lines for each in world.see(read)]
    assert counted == [1, 2, 3]
    assert not told
    assert world.timeline.groups == {}, "a part sees the lines that come after it was asked for"


def test_a_part_that_was_asked_for_late_sees_the_lines_from_there_on() -> None:
    world = World()
    world.see(story()[0])
    groups = world.consumer_groups
    world.see(line("ConsumerGroupCreated", 2))
    assert groups.get("g") is not None


def test_a_completed_rebalance_is_told_once() -> None:
    world, told = World(), list[Completed]()
    world.subscribe(Completed, told.append)
    for each in story(
        line("RebalanceStarted", 3),
        line("GenerationStarted", 4, generation=1),
        line("GenerationStored", 5, generation=1),
        line("GenerationStored", 6, generation=1),
    ):
        world.see(each)
    assert [one.line.seq for one in told] == [5]


def test_time_without_an_owner_ends_with_the_log() -> None:
    world, told = World(), list[WithoutOwner]()
    world.subscribe(WithoutOwner, told.append)
    told_by = {
        "stream": "member",
        "client": "c",
        "member": "m",
        "partitions": [{"topic": "t", "partition": 0}],
    }
    world.see(line("PartitionsAssigned", 1, **told_by))
    world.see(line("PartitionsLost", 4, **told_by))
    world.finish(10)
    assert told == [WithoutOwner(4, 10)]


def test_what_is_no_change_is_refused() -> None:
    with pytest.raises(TypeError, match="Line is no change of the world"):
        World().subscribe(Line, print)
