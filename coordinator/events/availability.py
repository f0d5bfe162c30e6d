"""Events that tell which partitions a coordinator serves: those of __consumer_offsets for groups,
those of __share_group_state for the states of share partitions.

A log tells every change of them, so a replay follows it. What follows from an event is
`core.shards.availability`.
"""

from __future__ import annotations

from typing import NamedTuple


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
