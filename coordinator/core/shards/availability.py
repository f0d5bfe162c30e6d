"""Availability of partitions of __consumer_offsets at a group coordinator, and of
__share_group_state at a share coordinator. Every change is an event, so that a replay repeats
it.

A partition is led (requests are served), loading (COORDINATOR_LOAD_IN_PROGRESS, ERR-4) or not
led (NOT_COORDINATOR, ERR-5). A stopped coordinator answers COORDINATOR_NOT_AVAILABLE (ENT-5).
Contains no groups. Also has the order in which Kafka asks for groups: that of their partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import in_compute_order, topic_partition_hash
from coordinator.base.slices import ITEMS_A_STEP, Slices
from coordinator.events.availability import (
    AvailabilityEvent,
    CoordinatorStopped,
    LogTruncated,
    PartitionsEmptied,
    PartitionsLoaded,
    PartitionsLoading,
    PartitionsUnloaded,
    ShareStatesEmptied,
    ShareStatesLoaded,
    ShareStatesLoading,
    ShareStatesUnloaded,
)


class Leadership(Enum):
    """Role of a coordinator for a partition."""

    LED = "led"
    LOADING = "loading"
    NOT_LED = "not led"


_ERRORS = {
    Leadership.LED: ErrorCode.NONE,
    Leadership.LOADING: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    Leadership.NOT_LED: ErrorCode.NOT_COORDINATOR,
}
_BECOMES = {
    PartitionsUnloaded: Leadership.NOT_LED,
    PartitionsEmptied: Leadership.NOT_LED,
    PartitionsLoading: Leadership.LOADING,
    PartitionsLoaded: Leadership.LED,
    ShareStatesUnloaded: Leadership.NOT_LED,
    ShareStatesEmptied: Leadership.NOT_LED,
    ShareStatesLoading: Leadership.LOADING,
    ShareStatesLoaded: Leadership.LED,
}


class Availability:
    """Role of a coordinator for each partition. Only `evolve` writes it."""

    def __init__(self, *, leads_all: bool = True) -> None:
        """Start as leader of every partition, or, as one of several coordinators, of none."""
        self.stopped = False
        self._at_first = Leadership.LED if leads_all else Leadership.NOT_LED
        self._others: dict[int, Leadership] = {}
        """Partitions whose role differs from the initial one."""

    def evolve(self, event: AvailabilityEvent) -> None:
        """Fold one event."""
        if isinstance(event, CoordinatorStopped):
            self.stopped = True
            return
        if isinstance(event, LogTruncated):  # what is loaded next follows from it
            return
        becomes = _BECOMES[type(event)]
        for partition in event.partitions:
            if becomes is self._at_first:
                self._others.pop(partition, None)
            else:
                self._others[partition] = becomes

    def of(self, partition: int) -> Leadership:
        """Return the coordinator's role for a partition."""
        return self._others.get(partition, self._at_first)

    def error(self, partition: int) -> ErrorCode:
        """Return the error for requests about groups of this partition, or NONE if it is served."""
        return _ERRORS[self.of(partition)]

    def refuse(self, group_id: str | None, *, empty_allowed: bool) -> ErrorCode:
        """Return the error of the checks before a group's partition is known:
        COORDINATOR_NOT_AVAILABLE, then INVALID_GROUP_ID (ENT-5, ENT-6); else NONE.
        """
        if self.stopped:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if not group_id and (group_id is None or not empty_allowed):
            return ErrorCode.INVALID_GROUP_ID
        return ErrorCode.NONE

    def any_loading(self) -> bool:
        """Return True if any partition is loading, which ListGroups reports (ERR-4)."""
        return Leadership.LOADING in self._others.values()

    def only(self, partitions: Iterable[int], leadership: Leadership) -> tuple[int, ...]:
        """Return those of the partitions for which the coordinator has this role."""
        return tuple(partition for partition in partitions if self.of(partition) is leadership)

    def snapshot(self) -> tuple[object, ...]:
        """Return the whole state: equal snapshots mean equal availability."""
        return self.stopped, self._at_first, dict(self._others)


def by_partition(
    group_ids: Sequence[str], partition_for: Callable[[str], int]
) -> Slices[list[str]]:
    """Return group ids in the order in which Kafka asks for them: by partition of
    __consumer_offsets, partitions in the order of a HashMap (DSC-5, HM-3). `partition_for`: the
    partition of a group (CFG-2).
    """
    groups: dict[int, list[str]] = {}
    calls = []
    for count, group_id in enumerate(group_ids, 1):
        if not count % ITEMS_A_STEP:
            yield
        index = partition_for(group_id)
        calls.append(index)
        groups.setdefault(index, []).append(group_id)
    partitions = in_compute_order(
        calls, lambda index: topic_partition_hash("__consumer_offsets", index)
    )
    return [group_id for index in partitions for group_id in groups[index]]
