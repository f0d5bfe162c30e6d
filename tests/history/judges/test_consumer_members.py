"""Changes of a consumer group's members get a group epoch, and static members that close stay."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.history.judges.consumer_members import ChangesBumpEpochs, StaticMembersMayReturn
from tests.history.judges.crafted import judge

Line = dict[str, Any]
STREAMS = frozenset({"group", "member", "wire"})


def of_group(at_ms: int, kind: str, **fields: Any) -> Line:
    return {"seq": at_ms, "at_ms": at_ms, "type": kind, "group": "g", **fields}


def subscribed(at_ms: int, *topics: str, member: str = "m", **fields: Any) -> Line:
    return of_group(at_ms, "ConsumerMemberSubscribed", member=member, topics=list(topics), **fields)


def bumped(at_ms: int) -> Line:
    return of_group(at_ms, "GroupEpochBumped", group_epoch=at_ms)


CREATED = of_group(0, "ConsumerGroupCreated")
NEXT = of_group(90, "ConsumerMemberReconciled", member="m", member_epoch=2)
REMOVED = of_group(20, "ConsumerMemberRemoved", member="m", reason="left")


def blamed(*lines: Line) -> list[int]:
    (verdict,) = judge(lines, [ChangesBumpEpochs])
    return [finding.seq for finding in verdict.findings]


@pytest.mark.parametrize(
    "change",
    [
        [subscribed(20, "t", member="n")],
        [subscribed(20, "t", "u")],
        [subscribed(20)],
        [REMOVED],
    ],
)
def test_a_change_without_a_group_epoch_is_found(change: list[Line]) -> None:
    before = [CREATED, subscribed(10, "t"), bumped(10)]
    assert blamed(*before, *change, NEXT) == [20]
    assert blamed(*before, *change, bumped(20), NEXT) == []
    assert blamed(*before, *change, bumped(21), NEXT) == [20], "an instant too late"


@pytest.mark.parametrize(
    "lines",
    [
        [CREATED, subscribed(10), NEXT],
        [CREATED, subscribed(10, "t"), bumped(10), subscribed(20, "t", rack_id="r"), NEXT],
        [subscribed(10, "t"), NEXT],
        [of_group(0, "ConsumerGroupUpgraded", members=["m"]), subscribed(0, "t"), NEXT],
        [CREATED, subscribed(10, "t"), bumped(10), REMOVED, of_group(30, "GroupUnloaded"), NEXT],
        [CREATED, REMOVED, of_group(20, "ConsumerGroupDowngraded", generation=3), NEXT],
    ],
    ids=["no topics", "another rack", "not known before", "upgraded", "unloaded", "downgraded"],
)
def test_what_needs_no_group_epoch(lines: list[Line]) -> None:
    assert blamed(*lines) == []


STATIC = subscribed(10, "t", group_instance_id="i")
CLOSING = {
    "seq": 15,
    "at_ms": 15,
    "stream": "member",
    "type": "MemberClosing",
    "group": "g",
    "member": "m",
    "client": "app-1",
}
ADMIN = {"seq": 18, "at_ms": 18, "stream": "wire", "type": "RequestSeen", "api": "leave_group"}


def removed_at_once(*lines: Line) -> bool:
    (verdict,) = judge(lines, [StaticMembersMayReturn], streams=STREAMS)
    return bool(verdict.findings)


def test_a_static_member_that_closes_is_not_removed_at_once() -> None:
    """K8-LV-2."""
    assert removed_at_once(STATIC, CLOSING, REMOVED)
    assert not removed_at_once(STATIC, CLOSING, REMOVED | {"reason": "session expired"})
    assert not removed_at_once(subscribed(10, "t"), CLOSING, REMOVED), "a dynamic one is"
    assert not removed_at_once(STATIC, REMOVED), "it left for good, with epoch -1"
    assert not removed_at_once(STATIC, CLOSING, ADMIN, REMOVED | {"cause": 18})
    replaced = {"group_instance_id": "i", "topics": ["t"]}
    again = of_group(16, "ConsumerMemberReplaced", member="n", replaced="m", subscription=replaced)
    assert removed_at_once(again, CLOSING | {"member": "n"}, REMOVED | {"member": "n"})
