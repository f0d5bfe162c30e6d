"""Unclean elections: elections of leaders that lacked records. They are found from the replicas in
sync, not from the reason that the controller gives.

Knows which replicas are in sync with each partition, or eligible to lead it (KIP-966), as far as
the log has been read. This module has no judge.
"""

from __future__ import annotations

from coordinator.events.cluster import (
    PartitionChange,
    PartitionChanged,
    PartitionsAdded,
    TopicCreated,
    TopicDeleted,
)
from coordinator.events.handlers import Reader, on

from .base import Line

_Place = tuple[str, int]


class Elections(Reader):
    """The partitions of a log. Ask `is_unclean` about a PartitionChanged before showing it."""

    def __init__(self) -> None:
        self._may_lead: dict[_Place, frozenset[int]] = {}

    @on(TopicCreated, PartitionsAdded)
    def _made(self, _: Line, event: TopicCreated | PartitionsAdded) -> None:
        first = event.first if isinstance(event, PartitionsAdded) else 0
        for number, replicas in enumerate(event.replicas, first):
            self._may_lead[event.topic, number] = frozenset(replicas)

    @on(TopicDeleted)
    def _deleted(self, _: Line, event: TopicDeleted) -> None:
        for number in range(event.partitions):
            self._may_lead.pop((event.topic, number), None)

    @on(PartitionChanged)
    def _changed(self, _: Line, event: PartitionChanged) -> None:
        self._may_lead[event.topic, event.partition] = frozenset((*event.isr, *event.elr))

    def is_unclean(self, event: PartitionChanged) -> bool:
        """Return True if the partition's new leader was neither in sync nor eligible. For a
        partition without earlier lines the controller's own word counts."""
        if event.what is not PartitionChange.LEADER_ELECTED or event.leader < 0:
            return False
        before = self._may_lead.get((event.topic, event.partition))
        return "nclean" in event.reason if before is None else event.leader not in before
