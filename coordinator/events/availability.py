"""Events of a coordinator's availability: which partitions of __consumer_offsets (groups) and of
__share_group_state (states of share partitions) it serves.

The log holds every change of them, so a replay follows it. `core.shards.availability` folds
these events.
"""

from __future__ import annotations

from typing import NamedTuple


class PartitionsUnloaded(NamedTuple):
    """The coordinator lost these partitions of __consumer_offsets, or knows from the start that it
    does not lead them (ERR-5)."""

    partitions: tuple[int, ...]


class PartitionsLoading(NamedTuple):
    """The coordinator leads these partitions now and reads the groups' records in them (ERR-4)."""

    partitions: tuple[int, ...]


class PartitionsLoaded(NamedTuple):
    """All groups of these partitions are loaded: their requests are served (ERR-7)."""

    partitions: tuple[int, ...]


class PartitionsEmptied(NamedTuple):
    """These partitions were deleted with all groups' records in them: they are lost, and their
    durable events are gone.
    """

    partitions: tuple[int, ...]


class LogTruncated(NamedTuple):
    """Another broker became the leader of a partition and begins to load it from its own replica.
    `lost`: events, by their numbers in the event log, that its replica does not have; they no
    longer count. `restored`: events that its replica has and an earlier leader's had not; they
    count again.
    """

    topic: str
    partition: int
    lost: tuple[int, ...]
    restored: tuple[int, ...]


class ShareStatesUnloaded(NamedTuple):
    """The share coordinator of a broker lost these partitions of __share_group_state."""

    partitions: tuple[int, ...]


class ShareStatesLoading(NamedTuple):
    """The share coordinator of a broker leads these partitions now, and reads the records of share
    partitions from its own replicas.
    """

    partitions: tuple[int, ...]


class ShareStatesLoaded(NamedTuple):
    """All records of share partitions in these partitions are read: their requests are served."""

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
