"""Producers that have written group offsets in a transaction without a marker yet.

As in Kafka's group coordinator, only a producer's first TxnOffsetCommit in a partition is
verified with the transaction coordinator. The knowledge ends with the partition's leader epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coordinator.core.transactions.decide import Producer

    from ..cluster import Partition


class BegunOffsets:
    """Epochs of the producer and of the leader, by partition of __consumer_offsets and producer id."""

    def __init__(self) -> None:
        self._epochs: dict[tuple[bytes, int, int], tuple[int, int]] = {}

    def add(self, topic_id: bytes, found: Partition, producer: Producer) -> None:
        """Note that a producer has written offsets."""
        self._epochs[topic_id, found.index, producer.producer_id] = (
            producer.epoch,
            found.leader_epoch,
        )

    def has(self, topic_id: bytes, found: Partition, producer: Producer) -> bool:
        """Return True if the producer has written offsets there, under this epoch, since the last
        marker.
        """
        return self._epochs.get((topic_id, found.index, producer.producer_id)) == (
            producer.epoch,
            found.leader_epoch,
        )

    def end(self, topic_id: bytes, found: Partition, producer_id: int) -> None:
        """Forget a producer whose marker was written."""
        self._epochs.pop((topic_id, found.index, producer_id), None)
