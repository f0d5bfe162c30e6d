"""Which partitions of __consumer_offsets a coordinator serves, or a share coordinator of
__share_group_state. Every change is an event, so a log tells it and a replay follows it.

A partition is led (its requests are served), loading (they get COORDINATOR_LOAD_IN_PROGRESS, ERR-4)
or not led (NOT_COORDINATOR, ERR-5). A coordinator that shuts down leads nothing any more
(COORDINATOR_NOT_AVAILABLE, ENT-5). Holds no groups; does not depend on them. The
order in which Kafka asks for groups is that of their partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from ..common.java_hash import in_compute_order, topic_partition_hash
from ..common.slices import ITEMS_A_STEP, Slices
from ..errors import ErrorCode


class PartitionsUnloaded(NamedTuple):
    """The coordinator lost these partitions of __consumer_offsets, or knows from the start that it
    does not lead them (ERR-5)."""

    partitions: tuple[int, ...]


class PartitionsLoading(NamedTuple):
    """The coordinator leads these partitions now and reads what they hold of groups (ERR-4)."""

    partitions: tuple[int, ...]


class PartitionsLoaded(NamedTuple):
    """All groups of these partitions are loaded: their requests are served (ERR-7)."""

    partitions: tuple[int, ...]


class PartitionsEmptied(NamedTuple):
    """These partitions were deleted with everything they held of groups: they are lost, and their
    durable events are gone."""

    partitions: tuple[int, ...]


class LogTruncated(NamedTuple):
    """Another broker came to lead a partition and begins to load it from its own copy: which events
    its copy has not, by their numbers in the event log, and which it has that an earlier leader had
    not. From now on the former do not count, and the latter do again.
    """

    topic: str
    partition: int
    lost: tuple[int, ...]
    restored: tuple[int, ...]


class ShareStatesUnloaded(NamedTuple):
    """The share coordinator of a broker lost these partitions of __share_group_state."""

    partitions: tuple[int, ...]


class ShareStatesLoading(NamedTuple):
    """The share coordinator of a broker leads these partitions now, and reads from its own copies
    what they hold of share partitions."""

    partitions: tuple[int, ...]


class ShareStatesLoaded(NamedTuple):
    """All that these partitions hold of share partitions is read: their requests are served."""

    partitions: tuple[int, ...]


class ShareStatesEmptied(NamedTuple):
    """These partitions of __share_group_state were deleted with everything they held."""

    partitions: tuple[int, ...]


class CoordinatorStopped(NamedTuple):
    """The coordinator shuts down (ENT-3, ENT-5)."""


AvailabilityEvent = (
    PartitionsUnloaded
    | PartitionsLoading
    | PartitionsLoaded
    | PartitionsEmptied
    | CoordinatorStopped
    | LogTruncated
    | ShareStatesUnloaded
    | ShareStatesLoading
    | ShareStatesLoaded
    | ShareStatesEmptied
)
OF_SHARE_STATES = (ShareStatesUnloaded, ShareStatesLoading, ShareStatesLoaded, ShareStatesEmptied)
"""Those of `__share_group_state`: they tell nothing of groups."""


class Leadership(Enum):
    """A coordinator's role for a partition."""

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
    """A coordinator's role for each partition. `evolve` is its only writer."""

    def __init__(self, *, leads_all: bool = True) -> None:
        """At first it leads every partition, or, as one of several coordinators, none."""
        self.stopped = False
        self._at_first = Leadership.LED if leads_all else Leadership.NOT_LED
        self._others: dict[int, Leadership] = {}
        """Partitions to which it is something else than at first."""

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
        """The coordinator's role for one partition."""
        return self._others.get(partition, self._at_first)

    def error(self, partition: int) -> ErrorCode:
        """The error of a request for a group of this partition; NONE if it is served."""
        return _ERRORS[self.of(partition)]

    def refuse(self, group_id: str | None, *, empty_allowed: bool) -> ErrorCode:
        """The checks before a group's partition is looked at: COORDINATOR_NOT_AVAILABLE, then
        INVALID_GROUP_ID (ENT-5, ENT-6)."""
        if self.stopped:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if not group_id and (group_id is None or not empty_allowed):
            return ErrorCode.INVALID_GROUP_ID
        return ErrorCode.NONE

    def any_loading(self) -> bool:
        """True if some partition is loading, which a ListGroups is told (ERR-4)."""
        return Leadership.LOADING in self._others.values()

    def only(self, partitions: Iterable[int], leadership: Leadership) -> tuple[int, ...]:
        """Those of `partitions` to which the coordinator is this."""
        return tuple(partition for partition in partitions if self.of(partition) is leadership)

    def snapshot(self) -> tuple[object, ...]:
        """Everything there is to know: equal snapshots mean equal availability."""
        return self.stopped, self._at_first, dict(self._others)


def by_partition(
    group_ids: Sequence[str], partition_for: Callable[[str], int]
) -> Slices[list[str]]:
    """Groups in the order in which Kafka asks for them, worked out in slices: by partition of
    __consumer_offsets, partitions in the order of a HashMap (DSC-5, HM-3). `partition_for`: the
    partition that holds a group (CFG-2)."""
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
