"""The time that a group lost, where the rule has something to decide."""

from __future__ import annotations

import pytest

from coordinator.events.line import Line
from coordinator.history.explain.output import timeline_of
from coordinator.history.world.lost_time.partitions import Lost
from coordinator.history.world.timeline import Timeline
from tests.lines import line_from

_ORDERS = {"topic": "orders", "topic_id": "00" * 16, "partitions": [0, 1]}
_HELD = {**_ORDERS, "epochs": [1, 1]}


def _of_group(at_ms: int, kind: str, **fields: object) -> Line:
    return line_from({"seq": at_ms, "at_ms": at_ms, "type": kind, "group": "g"} | fields)


def _consumer_group(*more: Line) -> Timeline:
    """Member m of a consumer group has orders 0-1 from 1 s on."""
    return timeline_of(
        [
            _of_group(0, "ConsumerGroupCreated"),
            _of_group(1, "ConsumerMemberSubscribed", member="m", client_id="app"),
            _of_group(2, "GroupEpochBumped", group_epoch=1),
            _of_group(
                1000,
                "TargetAssigned",
                assignment_epoch=1,
                targets=[{"member_id": "m", "topics": [_ORDERS]}],
            ),
            _of_group(
                1001,
                "ConsumerMemberReconciled",
                member="m",
                member_epoch=1,
                held=[_HELD],
                state="stable",
            ),
            *more,
        ]
    )


def _share_group(*more: Line) -> Timeline:
    """Members m and n of a share group share orders 0-1 from 1 s on."""
    members = [
        line
        for at, name in enumerate("mn")
        for line in (
            _of_group(1 + at, "ShareMemberSubscribed", member=name, client_id=f"app-{name}"),
            _of_group(
                1001 + at,
                "ShareMemberReconciled",
                member=name,
                member_epoch=1,
                partitions=[_ORDERS],
            ),
        )
    ]
    return timeline_of(
        [
            _of_group(0, "ShareGroupCreated"),
            *(line for line in members if line.at_ms < 1000),
            _of_group(
                1000,
                "ShareTargetAssigned",
                assignment_epoch=1,
                targets=[{"member_id": "m", "topics": [_ORDERS]}],
            ),
            *(line for line in members if line.at_ms > 1000),
            *more,
        ]
    )


def _lost(timeline: Timeline) -> Lost:
    """The lost time from 1.1 s on: what it took to begin is left out."""
    end_ms = timeline.end_ms
    spans = timeline.lost_time.groups["g"].partitions.lost(end_ms)
    rows = [(span.end - max(span.begin, 1100), span.lost) for _, span in spans if span.end > 1100]
    return Lost(sum(ms for ms, lost in rows if lost != "silent"), sum(ms for ms, _ in rows))


def test_a_silent_member_of_a_consumer_group_may_have_stopped_at_its_last_sign_of_life() -> None:
    gone = _of_group(
        50_000, "ConsumerMemberRemoved", member="m", reason="session expired", detail="45000 ms"
    )
    bumped = _of_group(50_000, "GroupEpochBumped", seq=50_001, group_epoch=2)
    timeline = _consumer_group(gone, bumped, _of_group(50_010, "GroupDeleted"))
    assert _lost(timeline) == (2 * 10, 2 * 45_010)
    costs = timeline.lost_time.costs(timeline.groups["g"], timeline.end_ms)
    assert costs[50_001].lost == (2 * 10, 2 * 45_010), "it began because the member expired"


def test_a_static_member_that_left_for_now_consumes_nothing() -> None:
    left = _of_group(2000, "ConsumerMemberReconciled", member="m", member_epoch=-2, held=[_HELD])
    back = _of_group(
        5000, "ConsumerMemberReconciled", member="m", member_epoch=1, held=[_HELD], state="stable"
    )
    assert _lost(_consumer_group(left, back)) == (2 * 3000, 2 * 3000)


def test_a_partition_of_a_share_group_is_lost_when_all_its_members_are() -> None:
    one, other = (
        _of_group(at, "ShareMemberRemoved", member=name, reason="session expired", detail="9000 ms")
        for at, name in ((20_000, "m"), (21_000, "n"))
    )
    assert _lost(_share_group(one)) == (0, 0)
    both = _lost(_share_group(one, other))
    assert both == (0, 2 * 9000), "n may have stopped at 12 s, and m before that"


@pytest.mark.parametrize("protocol", ["consumer", "share"])
def test_a_partition_without_a_leader_is_lost(protocol: str) -> None:
    def cluster(at_ms: int, kind: str, **fields: object) -> Line:
        return line_from(
            {"seq": at_ms, "at_ms": at_ms, "stream": "cluster", "type": kind, **fields}
        )

    offline, back = (
        cluster(at, "LeaderElected", topic="orders", partition=1, leader_id=leader)
        for at, leader in ((2000, -1), (3500, 1))
    )
    timeline = (_consumer_group if protocol == "consumer" else _share_group)(offline, back)
    assert _lost(timeline) == (1500, 1500)


def test_a_deleted_group_loses_nothing_any_more() -> None:
    left = _of_group(2000, "ConsumerMemberRemoved", member="m", reason="left")
    deleted, later = _of_group(3000, "GroupDeleted"), _of_group(9000, "GroupCreated")
    assert _lost(_consumer_group(left, deleted, later)) == (2 * 1000, 2 * 1000)
