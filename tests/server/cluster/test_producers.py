"""Idempotent producers (KIP-98, KIP-360) in one partition, and the ids given to new ones."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.storage.append_checks import LogConfig
from coordinator.server.storage.partition_log import Appended, PartitionLog, TimestampedOffset
from coordinator.server.storage.producers import EXPIRATION_CHECK_MS, ProducerIds
from coordinator.server.storage.record_codec import build_batch
from coordinator.server.storage.records import TRANSACTIONAL, BatchRefused, sole_batch
from coordinator.server.storage.replica_log import ReplicaLog

NOW = 1_700_000_000_000
CODES = {ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: 45, ErrorCode.INVALID_PRODUCER_EPOCH: 47}


class Partition:
    """A log, and a producer's batches into it."""

    def __init__(self) -> None:
        self.log = PartitionLog()
        self.now = NOW

    def send(
        self,
        sequence: int,
        *,
        epoch: int = 0,
        records: int = 1,
        producer: int = 7,
        timestamp: int = NOW,
    ) -> Appended | int:
        """Where the batch lies, or the error code it was refused with; a refusal leaves the log end
        where it was."""
        batch = build_batch(
            [b"x"] * records,
            timestamp=timestamp,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
        )
        end = self.log.log_end_offset
        try:
            return self.log.append(
                batch, sole_batch(batch, 12), LogConfig(), leader_epoch=0, now_ms=self.now
            )
        except BatchRefused as refusal:
            assert self.log.log_end_offset == end
            return CODES[refusal.error]


@pytest.fixture
def partition() -> Partition:
    return Partition()


def test_in_sequence(partition: Partition) -> None:
    assert [partition.send(s) for s in range(3)] == [
        Appended(0, -1),
        Appended(1, -1),
        Appended(2, -1),
    ]
    assert partition.send(3, records=4) == Appended(3, -1)
    assert partition.send(7) == Appended(7, -1)


def test_the_last_five_batches_are_known_again(partition: Partition) -> None:
    """Answered with the first offset and the batch's timestamp; the sixth back is out of order."""
    for sequence in range(7):
        partition.send(sequence)
    assert partition.send(6) == Appended(6, NOW, duplicate=True)
    assert partition.send(2) == Appended(2, NOW, duplicate=True)
    assert partition.send(1) == 45
    assert partition.log.log_end_offset == 7


def test_a_batch_cut_otherwise_is_no_duplicate(partition: Partition) -> None:
    partition.send(0, records=3)
    assert partition.send(0, records=2) == 45
    assert partition.send(1, records=2) == 45


def test_gaps_are_refused(partition: Partition) -> None:
    partition.send(0)
    assert partition.send(2) == 45
    assert partition.send(1) == Appended(1, -1)


def test_an_unknown_producer_may_start_anywhere(partition: Partition) -> None:
    """KIP-360: its earlier records may have been deleted."""
    assert partition.send(7) == Appended(0, -1)
    assert partition.send(9) == 45
    assert partition.send(8) == Appended(1, -1)


def test_a_new_epoch_starts_at_zero_and_fences_the_old(partition: Partition) -> None:
    partition.send(0)
    assert partition.send(3, epoch=1) == 45
    assert partition.send(0, epoch=1) == Appended(1, -1)
    assert partition.send(1, epoch=0) == 47
    assert partition.send(0, epoch=1) == Appended(1, NOW, duplicate=True)
    assert partition.send(2, epoch=1) == 45
    assert partition.send(0, epoch=3) == Appended(2, -1)


def test_sequences_wrap(partition: Partition) -> None:
    assert partition.send(0x7FFFFFFF) == Appended(0, -1)
    assert partition.send(0) == Appended(1, -1)
    assert partition.send(1) == Appended(2, -1)


def test_a_producer_without_an_epoch_is_not_checked(partition: Partition) -> None:
    assert partition.send(0, epoch=-1) == Appended(0, -1)
    assert partition.send(40, epoch=-1) == Appended(1, -1)


def test_producers_are_independent_and_survive_deleted_records(partition: Partition) -> None:
    partition.send(0)
    partition.send(0, producer=8)
    partition.log.delete_records(-1)
    assert partition.send(0) == Appended(0, NOW, duplicate=True)
    assert partition.send(2, producer=8) == 45


def test_silent_producers_are_forgotten_at_the_next_check(partition: Partition) -> None:
    """producer.id.expiration.ms, measured from the newest record's timestamp; looked at every ten
    minutes."""
    expiration = LogConfig().producer_id_expiration_ms
    partition.send(0, timestamp=NOW - expiration)
    assert partition.send(5) == 45
    partition.now = NOW + EXPIRATION_CHECK_MS - 1
    assert partition.send(5) == 45
    partition.send(0, producer=8)
    partition.now = NOW + EXPIRATION_CHECK_MS
    assert partition.send(5) == Appended(2, -1)
    assert partition.send(2, producer=8) == 45


def test_a_clock_that_jumps_does_not_bring_the_next_check() -> None:
    """Kafka's scheduler looks for expired producers by a clock that never jumps; what it finds
    there is dated by the wall clock."""
    log, day = PartitionLog(), LogConfig().producer_id_expiration_ms

    def send(sequence: int, *, ahead: int, elapsed_ms: int) -> Appended:
        batch = build_batch(
            [b"x"], timestamp=NOW, producer_id=7, producer_epoch=0, base_sequence=sequence
        )
        return log.append(
            batch,
            sole_batch(batch, 12),
            LogConfig(),
            leader_epoch=0,
            now_ms=NOW + ahead + elapsed_ms,
            elapsed_ms=elapsed_ms,
        )

    assert send(0, ahead=0, elapsed_ms=0) == Appended(0, -1)
    assert send(0, ahead=2 * day, elapsed_ms=EXPIRATION_CHECK_MS - 1) == Appended(
        0, NOW, duplicate=True
    )
    assert send(0, ahead=2 * day, elapsed_ms=EXPIRATION_CHECK_MS) == Appended(1, -1)


def written(
    log: ReplicaLog, sequence: int, *, producer: int = 7, timestamp: int = NOW, attributes: int = 0
) -> Appended | int:
    """Where a batch of one record lies, or the error code it was refused with."""
    batch = build_batch(
        [b"x"],
        timestamp=timestamp,
        producer_id=producer,
        producer_epoch=0,
        base_sequence=sequence,
        attributes=attributes,
    )
    try:
        return log.append(batch, sole_batch(batch, 12), LogConfig(), leader_epoch=0, now_ms=NOW)
    except BatchRefused as refusal:
        return CODES[refusal.error]


def test_a_broker_that_starts_knows_the_newest_batch_of_each_producer() -> None:
    """Kafka writes no more into its snapshots of producers; those that are silent for
    producer.id.expiration.ms are not read."""
    log, expiration = ReplicaLog(), LogConfig().producer_id_expiration_ms
    for sequence in range(3):
        written(log, sequence)
    written(log, 0, producer=8, timestamp=NOW - expiration + 1)
    written(log, 0, producer=9, timestamp=NOW - expiration)
    written(log, 0, producer=10, timestamp=NOW - expiration, attributes=TRANSACTIONAL)
    log.restarted(NOW, expiration)
    assert [*log.producers.states] == [7, 8, 10]
    assert log.transactions == {10: 5}
    assert written(log, 1) == 45
    assert written(log, 2) == Appended(2, NOW, duplicate=True)
    assert written(log, 3) == Appended(6, -1)
    assert written(log, 2) == Appended(2, NOW, duplicate=True)


def test_what_is_truncated_after_a_start_leaves_what_was_known_then() -> None:
    """Batches from before the start are known as they were read, later ones all; truncated into
    what was read, all is read from the log."""
    leader, log = ReplicaLog(), ReplicaLog()
    for sequence in range(3):
        written(leader, sequence)
    log.follow(leader)
    log.restarted(NOW, LogConfig().producer_id_expiration_ms)
    for sequence in range(3, 6):
        written(leader, sequence)
    log.follow(leader)
    log.truncate(5)
    assert [batch.first_sequence for batch in log.producers.states[7].batches] == [2, 3, 4]
    log.truncate(3)
    assert [batch.first_sequence for batch in log.producers.states[7].batches] == [2]
    log.truncate(2)
    assert [batch.first_sequence for batch in log.producers.states[7].batches] == [0, 1]


def test_a_replica_that_begins_behind_deleted_records_knows_no_older_epoch() -> None:
    """The log start's epoch is that under which the replica comes to lead, if it copied nothing
    (ListOffsets -2)."""
    leader, added = ReplicaLog(), ReplicaLog()
    for sequence in range(3):
        written(leader, sequence)
    leader.committed = 3
    leader.delete_records(3)
    added.truncate(added.diverges_at(leader))
    added.follow(leader)
    added.assign_epoch(1)
    assert added.earliest() == TimestampedOffset(3, -1, 1)


def test_ids_ascend() -> None:
    ids = ProducerIds()
    assert [ids.next() for _ in range(3)] == [0, 1, 2]
