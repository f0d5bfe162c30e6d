"""The same inputs for kafka-python's assignors, which want a cluster and members as its own
coordinator makes them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

_CLASSES: dict[str, type[AbstractPartitionAssignor]] = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


class _Member(NamedTuple):
    """As JoinGroup's answer lists it."""

    member_id: str
    group_instance_id: None
    metadata: Any


class _Cluster:
    """What the assignors ask of cluster metadata."""

    def __init__(self, topics: int, partitions: int) -> None:
        self._topics = {f"t{t:04d}": set(range(partitions)) for t in range(topics)}

    def topics(self) -> set[str]:
        return set(self._topics)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return self._topics.get(topic)


def measure(
    assignor: str,
    topics: int,
    partitions: int,
    wanted: Mapping[str, Sequence[str]],
    remaining: Callable[[Mapping[str, Any]], list[str]],
) -> list[tuple[float, float, str]]:
    """Both steps once: milliseconds (twice, as there is nothing to warm up), digest of the
    answer."""
    cluster = _Cluster(topics, partitions)
    fresh = {member: _CLASSES[assignor]().metadata(listed) for member, listed in wanted.items()}
    took, plan = _timed(assignor, cluster, fresh)
    steps = [(took, took, _digest(plan))]
    remembering = {}
    for member in remaining(fresh):
        own = _CLASSES[assignor]()
        own.on_assignment(plan[member], 1)
        remembering[member] = own.metadata(wanted[member])
    took, plan = _timed(assignor, cluster, remembering)
    return [*steps, (took, took, _digest(plan))]


def _timed(
    assignor: str, cluster: _Cluster, metadata: Mapping[str, Any]
) -> tuple[float, Mapping[str, Any]]:
    members = [_Member(member, None, told) for member, told in metadata.items()]
    began = time.perf_counter()
    plan = _CLASSES[assignor]().assign(cluster, members)
    return (time.perf_counter() - began) * 1e3, plan


def _digest(plan: Mapping[str, Any]) -> str:
    return hashlib.sha256(
        repr({member: part.assigned_partitions for member, part in plan.items()}).encode()
    ).hexdigest()[:16]
