"""Records that members no longer hold, though they said nothing of them: their locks ended, or somebody
took them back. Does not depend on why that is."""

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
    """Those of the share partitions of one broker."""

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
        """Take back all that a member holds; how many records that were. Where the share
        coordinator does not take it they stay locked until their time is over (SH-LD-5)."""
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
        """Take back records, whoever holds them; how many they were."""
        deliveries = self._partitions.settings.deliveries(partition.key.group_id)
        events = releasing.give_back(partition, first, last, reason, deliveries)
        self._released(partition, events, now, cause)
        return _count(events)

    def expire(self, partition: SharePartition, now: int) -> None:
        """Take back the records whose locks have ended."""
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
        """As in Kafka, records are given back although the share coordinator does not take it, but
        for those of a session that ends."""
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
