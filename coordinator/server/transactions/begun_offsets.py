"""Producers that have written offsets of groups in a transaction that has no marker yet.

As Kafka's group coordinator does, such a producer's next TxnOffsetCommit is not asked about at the
transaction coordinator: only the first one in a partition is. Known as long as the partition's
leader stays the same; afterwards it is asked about once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coordinator.core.transactions.decide import Producer

    from ..cluster import Partition


class BegunOffsets:
    """By partition of __consumer_offsets and producer id: the epochs of the producer and of the
    leader."""

    def __init__(self) -> None:
        self._epochs: dict[tuple[bytes, int, int], tuple[int, int]] = {}

    def add(self, topic_id: bytes, found: Partition, producer: Producer) -> None:
        """A producer's offsets were written."""
        self._epochs[topic_id, found.index, producer.producer_id] = (
            producer.epoch,
            found.leader_epoch,
        )

    def has(self, topic_id: bytes, found: Partition, producer: Producer) -> bool:
        """True if a producer has written offsets there, under this epoch, since the last marker."""
        return self._epochs.get((topic_id, found.index, producer.producer_id)) == (
            producer.epoch,
            found.leader_epoch,
        )

    def end(self, topic_id: bytes, found: Partition, producer_id: int) -> None:
        """A producer's marker came."""
        self._epochs.pop((topic_id, found.index, producer_id), None)
