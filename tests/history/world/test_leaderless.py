"""Partitions that no live broker leads."""

from __future__ import annotations

from typing import Any

from coordinator.events.line import Line
from coordinator.history.world.leaderless import Leaderless
from tests.lines import line_from


def _line(stream: str, kind: str, **fields: Any) -> Line:
    return line_from({"stream": stream, "type": kind, **fields})


def _elected(partition: int, leader: int) -> Line:
    return _line("cluster", "LeaderElected", topic="orders", partition=partition, leader_id=leader)


def _seen(*lines: Line) -> Leaderless:
    seen = Leaderless()
    for line in lines:
        seen.see(line)
    return seen


CREATED = _line("cluster", "TopicCreated", topic="orders", replicas=[[1, 2], [2, 1], [1, 2]])
CRASH = _line("fault", "StopBroker", broker=1, how="crash")


def test_a_crashed_brokers_partitions_have_no_leader_until_another_is_elected() -> None:
    assert _seen(CREATED, CRASH).now == {("orders", 0), ("orders", 2)}
    assert _seen(CREATED, CRASH, _elected(0, 2)).now == {("orders", 2)}


def test_a_broker_that_is_back_leads_what_nobody_took() -> None:
    back = _line("fault", "StartBroker", broker=1)
    assert _seen(CREATED, CRASH, _elected(0, 2), back).now == set()


def test_a_partition_that_is_offline_has_none_and_one_of_a_deleted_topic_is_not_counted() -> None:
    assert _seen(CREATED, _elected(1, -1)).now == {("orders", 1)}
    gone = _line("cluster", "TopicDeleted", topic="orders")
    assert _seen(CREATED, _elected(1, -1), gone).now == set()


def test_only_what_changed_is_returned() -> None:
    seen = Leaderless()
    changes = [seen.see(line) for line in (CREATED, CRASH, _elected(0, 2))]
    assert changes == [set(), {("orders", 0), ("orders", 2)}, {("orders", 0)}]
