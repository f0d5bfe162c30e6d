"""Releases of records without an acknowledgement: a lock expired, or a test or the end of a session
took them back. Does not know why.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from coordinator.core.share_partitions import release as releasing

from .letters import DELIVERED_TOO_OFTEN

if TYPE_CHECKING:
    from coordinator.core.share_partitions.model import SharePartition
    from coordinator.events import share_partitions as ev

    from .partitions import SharePartitions


class Releases:
    """Releases in the share partitions of one broker."""

    def __init__(self, partitions: SharePartitions) -> None:
        self._partitions = partitions

    def release(
        self,
        partition: SharePartition,
        member_id: str,
        reason: str,
        now: int,
        cause: int | None = None,
    ) -> int:
        """Release all records that a member holds; return their number. If the share coordinator
        refuses, they stay locked until the locks expire (SH-LD-5).
        """
        deliveries = self._partitions.settings.deliveries(partition.key.group_id)
        event = releasing.release(partition, member_id, reason, deliveries)
        if event is None or not self._partitions.store(partition, event.records, now, cause):
            return 0
        self._released(partition, (event,), now, cause, stored=True)
        return _count((event,))

    def give_back(
        self,
        partition: SharePartition,
        first: int,
        last: int,
        reason: str,
        now: int,
        cause: int | None = None,
    ) -> int:
        """Release records whichever member holds them; return their number."""
        deliveries = self._partitions.settings.deliveries(partition.key.group_id)
        events = releasing.give_back(partition, first, last, reason, deliveries)
        self._released(partition, events, now, cause)
        return _count(events)

    def expire(self, partition: SharePartition, now: int) -> None:
        """Release the records whose locks have expired."""
        deliveries = self._partitions.settings.deliveries(partition.key.group_id)
        self._released(partition, releasing.expire(partition, now, deliveries), now, None)
        self._partitions.arm_locks(partition)

    def _released(
        self,
        partition: SharePartition,
        events: Iterable[ev.RecordsReleased],
        now: int,
        cause: int | None,
        *,
        stored: bool = False,
    ) -> None:
        """Store (unless `stored`) and apply releases. As in Kafka, a refusal of the share
        coordinator does not prevent them.
        """
        told = False
        for event in events:
            if not stored:
                self._partitions.store(partition, event.records, now, cause)
            self._partitions.fold(partition, event, now, cause)
            self._partitions.letters.send(partition, event.records, DELIVERED_TOO_OFTEN, now, cause)
            told = True
        if told:
            self._partitions.wake(partition, now)


def _count(events: Iterable[ev.RecordsReleased]) -> int:
    return sum(of.last_offset - of.first_offset + 1 for event in events for of in event.records)
