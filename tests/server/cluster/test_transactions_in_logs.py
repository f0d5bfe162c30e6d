"""What transactions leave in a log: markers, the last stable offset, who was aborted. Bytes and
figures are a 4.4.0 broker's."""

from __future__ import annotations

import pytest

from coordinator.server.storage.aborted import AbortedTransactions
from coordinator.server.storage.append_checks import LogConfig
from coordinator.server.storage.offset_index import INTERVAL_BYTES, OffsetIndex
from coordinator.server.storage.partition_log import Marker, PartitionLog
from coordinator.server.storage.producers import EXPIRATION_CHECK_MS
from coordinator.server.storage.record_codec import build_batch
from coordinator.server.storage.records import TRANSACTIONAL, BatchRefused, parse_header, sole_batch

NOW = 1_700_000_000_000
COMMIT = bytes.fromhex(
    "00000000000000010000004200000000021ef3ba87003000000000000001a200c01ba1000001a200c01ba1000000000000001e0001ffffffff00000001"
    "2000000008000000010c00000000000000"
)
ABORT = bytes.fromhex(
    "0000000000000003000000420000000002faa78014003000000000000001a200c01c28000001a200c01c28000000000000001e0002ffffffff00000001"
    "2000000008000000000c00000000000000"
)


def put(
    log: PartitionLog,
    producer: int = -1,
    *,
    epoch: int = 0,
    sequence: int = 0,
    size: int = 1,
    transactional: bool = True,
    asks: bool | None = None,
    config: LogConfig = LogConfig(),
    now_ms: int = NOW,
) -> int:
    """Append one record, in a producer's transaction if one is named; its offset. `asks`: it begins
    one, adding its partition or not."""
    named = (
        {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
        if producer >= 0
        else {}
    )
    attributes = TRANSACTIONAL if transactional and producer >= 0 else 0
    batch = build_batch([b"x" * size], timestamp=NOW, attributes=attributes, **named)
    header = sole_batch(batch, 12)
    if asks is not None:
        log.producers.asks_to_begin(header, adds=asks, now_ms=now_ms)
    return log.append(batch, header, config, leader_epoch=0, now_ms=now_ms).base_offset


def end(
    log: PartitionLog,
    producer: int,
    epoch: int = 1,
    *,
    commit: bool = True,
    version: int = 2,
    coordinator: int = 0,
) -> int:
    marker = Marker(producer, epoch, commit, coordinator, version)
    return log.append_marker(marker, leader_epoch=0, now_ms=NOW)


def refused(log: PartitionLog, producer: int, **batch: int | bool) -> int:
    """The error of a batch, which changes nothing."""
    before = log.log_end_offset, log.last_stable_offset
    with pytest.raises(BatchRefused) as refusal:
        put(log, producer, **batch)  # type: ignore[arg-type]
    assert (log.log_end_offset, log.last_stable_offset) == before
    return int(refusal.value.error)


def test_markers_are_kafkas_to_the_byte() -> None:
    log = PartitionLog()
    put(log)
    assert log.append_marker(Marker(0x1E, 1, True), leader_epoch=0, now_ms=0x1A200C01BA1) == 1
    put(log)
    assert log.append_marker(Marker(0x1E, 2, False), leader_epoch=0, now_ms=0x1A200C01C28) == 3
    assert log.read(1, 1 << 20)[: len(COMMIT)] == COMMIT
    assert log.read(3, 1 << 20) == ABORT


def test_a_marker_takes_the_time_of_its_topic() -> None:
    """LogAppendTime: the timestamp type is in the attributes."""
    log = PartitionLog()
    log.append_marker(
        Marker(1, 0, True), leader_epoch=0, now_ms=NOW, config=LogConfig(append_time=True)
    )
    assert parse_header(log.read(0, 100)).attributes == 0x38


def test_the_last_stable_offset_is_where_the_oldest_open_transaction_began() -> None:
    log = PartitionLog()
    put(log)
    assert log.last_stable_offset == 1
    assert put(log, 1) == 1
    put(log)
    put(log, 2)
    put(log, 1, sequence=1)
    assert (log.last_stable_offset, log.high_watermark) == (1, 5)
    assert end(log, 1) == 5
    assert log.last_stable_offset == 3
    end(log, 2)
    assert log.last_stable_offset == log.log_end_offset == 7
    assert not log.aborted


def test_readers_may_be_stopped_there() -> None:
    log = PartitionLog()
    put(log)
    put(log, 1)
    put(log)
    one = log.size // 3
    assert [len(log.read(offset, 1 << 20, end=1)) for offset in range(3)] == [one, 0, 0]
    assert [log.bytes_from(offset, 1) for offset in range(3)] == [one, 0, 0]
    assert log.read(0, one + 5, end=1) == log.read(0, one)
    assert len(log.read(0, one + 5)) == one + 5


def test_aborted_transactions_are_listed_by_their_markers() -> None:
    """As a broker was asked: two that overlap, read from each offset."""
    log = PartitionLog()
    put(log, 1)
    put(log)
    put(log, 2)
    end(log, 2, commit=False)
    put(log, 1, sequence=1)
    end(log, 1, commit=False)
    listed = [
        [(one.producer_id, one.first_offset) for one in log.aborted_in(offset, log.size)]
        for offset in range(6)
    ]
    both, last = [(2, 2), (1, 0)], [(1, 0)]
    assert listed == [both, both, both, both, last, last]
    assert log.aborted_in(6, 0) == []


def test_a_committed_transaction_is_not_listed_nor_a_marker_that_ends_nothing() -> None:
    log = PartitionLog()
    put(log, 1)
    end(log, 1)
    end(log, 1, 2, commit=False)
    end(log, 7, commit=False)
    assert log.aborted_in(0, log.size) == []
    assert log.producers.states[7].batches.maxlen is not None


@pytest.mark.parametrize(
    ("offset", "limit", "first_offsets"),
    [
        (0, 500, [2, 4]),
        (0, 3000, [2, 4]),
        (0, 6000, [2, 4, 8, 10, 14]),
        (3, 1500, [2, 4]),
        (3, 3000, [2, 4, 8, 10, 14]),
        (6, 500, [8, 10, 14]),
        (9, 500, [8, 10, 14]),
        (12, 1500, [14]),
        (12, 3000, [14, 16, 20, 22]),
        (15, 500, [14, 16, 20, 22]),
        (18, 500, [20, 22]),
        (21, 6000, [20, 22]),
    ],
)
def test_the_list_looks_as_far_ahead_as_kafkas_index(
    offset: int, limit: int, first_offsets: list[int]
) -> None:
    """Twelve transactions of a kilobyte, every third committed; as a broker was asked."""
    log = PartitionLog()
    for i in range(12):
        put(log, 1, epoch=i, size=1000)
        end(log, 1, i + 1, commit=i % 3 == 0)
    read = log.read(offset, limit)
    assert [one.first_offset for one in log.aborted_in(offset, len(read))] == first_offsets


def test_the_index_is_brought_up_to_date_piece_by_piece() -> None:
    ends = [(i + 1) * 1000 for i in range(40)]
    last_offsets = list(range(40))
    whole, pieces = OffsetIndex(), OffsetIndex()
    whole.extend(0, ends, last_offsets, [])
    for count in range(1, 41):
        pieces.extend(0, ends[:count], last_offsets[:count], [])
    asked = range(0, 41_000, 500)
    assert [whole.behind(position) for position in asked] == [
        pieces.behind(position) for position in asked
    ]
    assert whole.behind(0) == INTERVAL_BYTES // 1000 + 1
    assert whole.behind(4999) == 5
    assert whole.behind(5000) == 10  # behind it, not at it
    assert whole.behind(40_000) is None


def test_each_segment_has_an_index_of_its_own() -> None:
    """Bytes since the last entry are counted anew from where a segment begins."""
    ends, last_offsets = [(i + 1) * 1000 for i in range(20)], list(range(20))
    index = OffsetIndex()
    index.extend(0, ends[:9], last_offsets[:9], [3, 15])
    index.extend(0, ends, last_offsets, [3, 15])
    found = {index.behind(position) for position in range(0, 20_000, 500)}
    assert found == {8, 13, None}


def test_entries_that_ended_late_do_not_hide_earlier_ones() -> None:
    aborted = AbortedTransactions()
    aborted.enter(1, 4, 6, 0)
    aborted.enter(2, 0, 8, 9)
    aborted.enter(3, 10, 12, 13)
    assert [one.producer_id for one in aborted.between(0, 9)] == [1, 2]
    assert [one.producer_id for one in aborted.between(0, 3)] == [2]
    aborted.forget(7)
    assert [one.producer_id for one in aborted.between(0, 13)] == [2, 3]


# -- who may write


def test_a_plain_batch_of_a_producer_in_a_transaction_is_refused() -> None:
    log = PartitionLog()
    put(log, 1)
    assert refused(log, 1, sequence=1, transactional=False) == 48
    assert refused(log, 1, sequence=5, transactional=False) == 45
    assert put(log, 1, sequence=1) == 1
    end(log, 1, 0, version=0)
    assert put(log, 1, sequence=2, transactional=False) == 3


def test_the_epoch_of_a_marker_begins_a_new_sequence() -> None:
    log = PartitionLog()
    put(log, 1)
    end(log, 1, 1)
    assert refused(log, 1, sequence=1) == 47
    assert refused(log, 1, epoch=1, sequence=1) == 45
    assert put(log, 1, epoch=1) == 2
    assert log.producers.in_transaction(1, 1)
    assert not log.producers.in_transaction(1, 0)
    assert not log.producers.in_transaction(2, 0)


def test_a_producer_that_adds_its_partition_begins_at_0() -> None:
    """KIP-890; without that, a producer without state may begin anywhere."""
    log = PartitionLog()
    assert refused(log, 1, sequence=5, asks=True) == 45
    assert put(log, 1, asks=True) == 0
    assert put(log, 2, sequence=5, asks=False) == 1
    assert put(log, 2, sequence=6) == 2


def test_nobody_overtakes_the_first_batch_that_asked_to_begin() -> None:
    """As random lives on a broker showed: what was refused is remembered until a batch of the
    transaction or a marker came."""
    log = PartitionLog()
    first = sole_batch(build_batch([b"x"], producer_id=1, producer_epoch=0, base_sequence=0), 12)
    log.producers.asks_to_begin(first, adds=False, now_ms=NOW)
    assert refused(log, 1, sequence=1, asks=False) == 45
    assert refused(log, 1, sequence=1, asks=True) == 45
    assert put(log, 1, asks=False) == 0
    assert put(log, 1, sequence=1) == 1
    assert log.producers.verifications == {}


def test_a_higher_epoch_asks_anew_but_as_the_first_did() -> None:
    log = PartitionLog()
    for epoch, sequence in ((0, 0), (1, 3)):
        header = sole_batch(
            build_batch([b"x"], producer_id=1, producer_epoch=epoch, base_sequence=sequence), 12
        )
        log.producers.asks_to_begin(header, adds=False, now_ms=NOW)
    assert put(log, 1, epoch=1, sequence=3, asks=True) == 0


def test_who_is_too_old_is_not_asked_about() -> None:
    """Nor does a lower epoch move the lowest sequence."""
    log = PartitionLog()
    assert put(log, 1, epoch=5, asks=False) == 0
    assert refused(log, 1, epoch=4, asks=False) == 47
    assert log.producers.verifications == {}
    assert put(log, 1, epoch=5, sequence=1) == 1
    for epoch, sequence in ((5, 3), (4, 0)):
        header = sole_batch(
            build_batch([b"x"], producer_id=2, producer_epoch=epoch, base_sequence=sequence), 12
        )
        log.producers.asks_to_begin(header, adds=False, now_ms=NOW)
    assert put(log, 2, epoch=5, sequence=3) == 2


def test_what_asks_under_the_epoch_of_a_marker_comes_behind_it() -> None:
    """KIP-890: the marker's epoch is that of the next transaction."""
    log = PartitionLog()
    put(log, 1, asks=True)
    header = sole_batch(build_batch([b"x"], producer_id=1, producer_epoch=1, base_sequence=0), 12)
    log.producers.asks_to_begin(header, adds=True, now_ms=NOW)
    end(log, 1, 1)
    assert set(log.producers.verifications) == {1}
    end(log, 1, 2)
    assert log.producers.verifications == {}


def test_a_marker_ends_what_was_asked_and_time_forgets_it() -> None:
    log = PartitionLog()
    config = LogConfig(producer_id_expiration_ms=1000)
    for producer in (1, 2):
        assert refused(log, producer, sequence=5, asks=True) == 45
    end(log, 1)
    assert set(log.producers.verifications) == {2}
    put(log, 3, config=config)
    put(log, 4, config=config, now_ms=NOW + EXPIRATION_CHECK_MS)
    assert put(log, 2, sequence=5) == 3


@pytest.mark.parametrize(
    ("epoch", "coordinator", "version", "error"),
    [
        (0, 3, 0, 47),
        (1, 3, 0, 0),
        (1, 3, 1, 0),
        (1, 3, 2, 0),
        (2, 3, 2, 0),
        (2, 2, 2, 52),
        (0, 2, 0, 47),
        (1, 4, 0, 0),
    ],
)
def test_markers_must_not_be_old(epoch: int, coordinator: int, version: int, error: int) -> None:
    log = PartitionLog()
    end(log, 1, 1, coordinator=3)
    if error:
        with pytest.raises(BatchRefused) as refusal:
            end(log, 1, epoch, version=version, coordinator=coordinator)
        assert (refusal.value.error, log.log_end_offset) == (error, 1)
    else:
        assert end(log, 1, epoch, version=version, coordinator=coordinator) == 1


def test_the_epoch_of_a_marker_must_have_risen_where_it_ends_something() -> None:
    """TXN-8, KIP-890: in transactions of version 2; a marker that comes again ends nothing, and is
    taken again."""
    log = PartitionLog()
    put(log, 1, epoch=1)
    with pytest.raises(BatchRefused) as refusal:
        end(log, 1, 1, version=2)
    assert refusal.value.error == 47
    end(log, 1, 2, version=2)
    end(log, 1, 2, version=2)
    assert (log.log_end_offset, log.last_stable_offset) == (3, 3)


# -- what else moves


def test_deleted_records_never_leave_the_last_stable_offset_behind() -> None:
    log = PartitionLog()
    put(log, 1)
    put(log, 1, sequence=1)
    log.delete_records(1)
    assert log.last_stable_offset == 1
    log.delete_records(-1)
    assert log.last_stable_offset == 2
    end(log, 1, commit=False)
    assert [(one.producer_id, one.first_offset) for one in log.aborted_in(2, 100)] == [(1, 0)]
    put(log)
    log.delete_records(-1)
    assert not log.aborted


def test_a_producer_in_a_transaction_does_not_expire() -> None:
    log = PartitionLog()
    config = LogConfig(producer_id_expiration_ms=1000)
    put(log, 1, config=config)
    put(log, 2, config=config, transactional=False)
    put(log, 3, config=config, now_ms=NOW + EXPIRATION_CHECK_MS)
    assert set(log.producers.states) == {1, 3}
