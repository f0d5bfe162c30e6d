"""A partition's log: offsets, limits of a read, look-ups, configuration. The figures are those of a
4.4.0 broker, asked the same."""

from __future__ import annotations

import gzip

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.storage.append_checks import LogConfig
from coordinator.server.storage.compression import Budget
from coordinator.server.storage.partition_log import (
    Appended,
    EpochEnd,
    PartitionLog,
    TimestampedOffset,
)
from coordinator.server.storage.record_codec import Record, build_batch, encode_record
from coordinator.server.storage.records import (
    TRANSACTIONAL,
    BatchRefused,
    crc32c,
    parse_header,
    seal,
    sole_batch,
)
from coordinator.server.storage.replica_log import ReplicaLog

NOW = 1_700_000_000_000


def put(
    log: PartitionLog, batch: bytes, config: LogConfig = LogConfig(), *, epoch: int = 0
) -> Appended:
    return log.append(
        batch, sole_batch(batch, 12), config, leader_epoch=epoch, now_ms=NOW, where="t-0"
    )


def refused(batch: bytes, config: LogConfig = LogConfig()) -> BatchRefused:
    """The refusal of a batch, which changes nothing."""
    log = PartitionLog()
    with pytest.raises(BatchRefused) as refusal:
        put(log, batch, config)
    assert (log.log_end_offset, log.size, log.producers.states) == (0, 0, {})
    return refusal.value


def at(*timestamps: int) -> bytes:
    return build_batch(
        [Record(offset, timestamp, None, b"x") for offset, timestamp in enumerate(timestamps)]
    )


@pytest.fixture
def log() -> PartitionLog:
    """Three batches of two records, 279 bytes each."""
    log = PartitionLog()
    for _ in range(3):
        put(log, build_batch([b"a" * 100, b"b" * 100], timestamp=NOW))
    return log


def test_batches_are_kept_as_sent(log: PartitionLog) -> None:
    sent = build_batch([b"a" * 100, b"b" * 100], timestamp=NOW)
    whole = log.read(0, 10_000)
    assert len(whole) == log.size == 3 * 279
    for i in range(3):
        batch = whole[i * 279 : (i + 1) * 279]
        assert batch[:8] == (2 * i).to_bytes(8, "big")
        assert batch[8:12] == sent[8:12]
        assert batch[12:16] == bytes(4)  # leader epoch 0
        assert batch[16:] == sent[16:]


@pytest.mark.parametrize(
    ("offset", "max_bytes", "size"),
    [
        (0, 10_000, 837),
        (1, 10_000, 837),
        (2, 10_000, 558),
        (3, 10_000, 558),
        (5, 10_000, 279),
        (6, 10_000, 0),
        (3, 10, 279),
        (0, 0, 279),
        (0, 279, 279),
        (0, 280, 280),
        (0, 300, 300),
        (0, 557, 557),
        (0, 558, 558),
        (2, 300, 300),
    ],
)
def test_read_limits(log: PartitionLog, offset: int, max_bytes: int, size: int) -> None:
    """KIP-74: the first batch whole, then up to the limit, even through a batch."""
    assert len(log.read(offset, max_bytes)) == size
    assert log.read(0, 10_000)[(offset // 2) * 279 :][:size] == log.read(offset, max_bytes)


def test_a_batch_that_does_not_fit_may_be_left_out(log: PartitionLog) -> None:
    assert log.read(0, 278, at_least_one=False) == b""
    assert len(log.read(0, 279, at_least_one=False)) == 279


def test_bytes_from(log: PartitionLog) -> None:
    assert [log.bytes_from(offset) for offset in (0, 1, 2, 5, 6)] == [837, 837, 558, 279, 0]


def test_delete_records(log: PartitionLog) -> None:
    """KIP-107: the start moves into a batch, which stays; never back; -1 is the high watermark. The
    segment keeps its size."""
    assert log.delete_records(3) == 3
    assert log.delete_records(1) == 3
    assert (log.log_start_offset, log.size) == (3, 837)
    assert len(log.read(3, 10_000)) == 558
    assert log.bytes_from(3) == 558
    assert log.earliest() == TimestampedOffset(3, -1, 0)
    for wrong in (7, -2):
        with pytest.raises(BatchRefused) as refusal:
            log.delete_records(wrong)
        assert refusal.value.error == ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.delete_records(-1) == 6
    assert (log.size, log.bytes_from(6), log.read(6, 100)) == (837, 0, b"")
    assert put(log, build_batch([b"x"], timestamp=NOW)).base_offset == 6
    assert len(log.read(6, 10_000)) == log.size - 837 > 0


@pytest.mark.parametrize(
    ("start", "stable"), [(0, 0), (1, 1), (2, 1), (3, 1), (4, 4), (5, 4), (6, 6)]
)
def test_the_last_stable_offset_of_an_open_transaction_below_the_start(
    start: int, stable: int
) -> None:
    """It is where the batch begins that contains the log start offset."""
    log = PartitionLog()
    in_transaction = build_batch(
        [b"t"],
        timestamp=NOW,
        producer_id=7,
        producer_epoch=0,
        base_sequence=0,
        attributes=TRANSACTIONAL,
    )
    put(log, in_transaction)
    put(log, build_batch([b"x"] * 3, timestamp=NOW))
    put(log, build_batch([b"x"] * 2, timestamp=NOW))
    log.delete_records(start)
    assert (log.last_stable_offset, log.log_start_offset) == (stable, start)


def test_checks_come_in_kafkas_order() -> None:
    """Base offset, size, checksum, header, records, segment."""
    large = build_batch([b"x" * 100], timestamp=NOW)
    small = LogConfig(max_message_bytes=100)
    assert (
        refused(seal(parse_header(large)._replace(base_offset=5), large[61:]), small).error
        == ErrorCode.INVALID_RECORD
    )
    assert refused(large[:-1] + b"y", small).error == ErrorCode.MESSAGE_TOO_LARGE
    assert (
        refused(seal(parse_header(large)._replace(record_count=9), large[61:])[:-1] + b"y").error
        == ErrorCode.CORRUPT_MESSAGE
    )
    assert (
        refused(seal(parse_header(large)._replace(record_count=9), large[61:])).error
        == ErrorCode.INVALID_RECORD
    )
    assert refused(large, LogConfig(segment_bytes=100)).error == ErrorCode.RECORD_LIST_TOO_LARGE


def test_max_message_bytes_boundary() -> None:
    batch = build_batch([b"x" * 30], timestamp=NOW)
    assert put(PartitionLog(), batch, LogConfig(max_message_bytes=len(batch))).base_offset == 0
    assert (
        refused(batch, LogConfig(max_message_bytes=len(batch) - 1)).error
        == ErrorCode.MESSAGE_TOO_LARGE
    )


def test_compacted_topics_want_keys() -> None:
    """KIP-467: each faulty record is named."""
    compacted = LogConfig(compacted=True)
    refusal = refused(build_batch([b"x", (b"k", b"v"), b"y"], timestamp=NOW), compacted)
    text = "Compacted topic cannot accept message without key in topic partition t-0"
    assert refusal.error == ErrorCode.INVALID_RECORD
    assert refusal.records == ((0, text), (2, text))
    assert refusal.message == (
        "One or more records have been rejected due to 2 record errors in total, and only showing the first three errors at most: "
        f"[RecordError(batchIndex=0, message='{text}'), RecordError(batchIndex=2, message='{text}')]"
    )
    put(PartitionLog(), build_batch([(b"", None)], timestamp=NOW), compacted)
    packed = build_batch([b"x"], timestamp=NOW, attributes=1, compress=gzip.compress)
    assert refused(packed, compacted).error == ErrorCode.INVALID_RECORD
    put(PartitionLog(), packed)


def test_timestamp_bounds() -> None:
    """KIP-937: an hour into the future by default, any past; -1 is no timestamp."""
    put(PartitionLog(), at(NOW + 3_600_000, 0, -1))
    refusal = refused(at(NOW, NOW + 3_600_001))
    assert refusal.error == ErrorCode.INVALID_TIMESTAMP
    assert refusal.message == "One or more records have been rejected due to invalid timestamp"
    (error,) = refusal.records
    assert error.at == 1
    assert error.message == (
        f"Timestamp {NOW + 3_600_001} of message with offset 1 is out of range. "
        f"The timestamp should be within [{NOW - (1 << 63) + 1}, {NOW + 3_600_000}]"
    )
    bounded = LogConfig(timestamp_before_max_ms=1_000)
    put(PartitionLog(), at(NOW - 1_000), bounded)
    assert refused(at(NOW, NOW - 1_001), bounded).records[0].at == 1
    packed = build_batch(
        [Record(0, NOW + 9_999_999, None, b"x")], attributes=1, compress=gzip.compress
    )
    assert refused(packed).records[0].at == 0
    mixed = build_batch([b"x", Record(1, NOW + 9_999_999, b"k", b"v")], timestamp=NOW)
    assert refused(mixed, LogConfig(compacted=True)).error == ErrorCode.INVALID_TIMESTAMP


def test_log_append_time() -> None:
    """KIP-32: the batch gets the broker's time and a new checksum; producers may not claim it
    themselves."""
    log = PartitionLog()
    config = LogConfig(append_time=True)
    assert put(log, at(5, 9_999_999_999_999), config) == Appended(0, NOW)
    stored = log.read(0, 10_000)
    assert parse_header(stored).max_timestamp == NOW
    assert parse_header(stored).attributes == 8
    assert parse_header(stored).crc == crc32c(stored[21:])
    assert log.highest_timestamp() == TimestampedOffset(0, NOW, 0)
    claimed = build_batch([b"x"], timestamp=NOW, attributes=8)
    refusal = refused(claimed, config)
    assert refusal.error == ErrorCode.INVALID_TIMESTAMP
    assert refusal.records[0].message == (
        f"Invalid timestamp type in message DefaultRecord(offset=0, timestamp={NOW}, key=0 bytes, value=1 bytes). "
        "Producer should not set timestamp type to LogAppendTime."
    )
    create_time = PartitionLog()
    assert put(create_time, claimed) == Appended(0, -1)
    assert parse_header(create_time.read(0, 10_000)).attributes == 0


def test_a_wrong_maximum_timestamp_is_put_right() -> None:
    log = PartitionLog()
    batch = at(NOW - 5, NOW)
    put(log, seal(parse_header(batch)._replace(max_timestamp=5), batch[61:]))
    stored = log.read(0, 10_000)
    assert parse_header(stored).max_timestamp == NOW
    assert parse_header(stored).crc == crc32c(stored[21:])


def test_timestamps_at_the_end_of_time() -> None:
    """A record's timestamp wraps, and so its batch's true maximum is found."""
    boundless = LogConfig(timestamp_after_max_ms=(1 << 63) - 1)
    batch = at(5, 6)
    log = PartitionLog()
    put(
        log,
        seal(
            parse_header(batch)._replace(base_timestamp=(1 << 63) - 1, max_timestamp=0), batch[61:]
        ),
        boundless._replace(timestamp_before_max_ms=1 << 64),
    )
    assert parse_header(log.read(0, 1_000)).max_timestamp == (1 << 63) - 1


@pytest.mark.parametrize("codec", [1, 3, 4])
def test_what_no_codec_wrote_is_refused(codec: int) -> None:
    batch = build_batch([b"x"], timestamp=NOW, attributes=codec)
    assert refused(batch).error == ErrorCode.UNKNOWN_SERVER_ERROR


# --- timestamps
# --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def timed() -> PartitionLog:
    """Offsets 0-3 at +10 +30 +20 +30, 4-5 at +5 +25, 6-8 (gzip) at +40 +50 +50, 9 at +50."""
    log = PartitionLog()
    put(log, at(NOW + 10, NOW + 30, NOW + 20, NOW + 30))
    put(log, at(NOW + 5, NOW + 25))
    packed = [
        Record(0, NOW + 40, None, b"x"),
        Record(1, NOW + 50, None, b"x"),
        Record(2, NOW + 50, None, b"x"),
    ]
    put(log, build_batch(packed, attributes=1, compress=gzip.compress))
    put(log, at(NOW + 50))
    return log


@pytest.mark.parametrize(
    ("after", "offset", "found"),
    [
        (0, 0, 10),
        (10, 0, 10),
        (11, 1, 30),
        (20, 1, 30),
        (30, 1, 30),
        (31, 6, 40),
        (40, 6, 40),
        (41, 7, 50),
        (50, 7, 50),
    ],
)
def test_first_at_or_after(timed: PartitionLog, after: int, offset: int, found: int) -> None:
    """KIP-79: record by record, also within a compressed batch."""
    assert timed.first_at_or_after(NOW + after) == TimestampedOffset(offset, NOW + found, 0)


def test_no_record_so_late(timed: PartitionLog) -> None:
    assert timed.first_at_or_after(NOW + 51) == TimestampedOffset(-1, -1, -1)


def test_look_up_stays_behind_the_log_start(timed: PartitionLog) -> None:
    timed.delete_records(3)
    assert timed.first_at_or_after(0) == TimestampedOffset(3, NOW + 30, 0)
    assert timed.first_at_or_after(NOW + 10) == TimestampedOffset(3, NOW + 30, 0)
    timed.delete_records(4)
    assert timed.first_at_or_after(NOW + 5) == TimestampedOffset(4, NOW + 5, 0)
    assert timed.first_at_or_after(NOW + 6) == TimestampedOffset(5, NOW + 25, 0)
    timed.delete_records(10)
    assert timed.first_at_or_after(0) == TimestampedOffset()


def test_highest_timestamp(timed: PartitionLog) -> None:
    """KIP-734: the first of equals; a 4.4.0 broker still names it after DeleteRecords."""
    assert timed.highest_timestamp() == TimestampedOffset(7, NOW + 50, 0)
    timed.delete_records(-1)
    assert timed.highest_timestamp() == TimestampedOffset(7, NOW + 50, 0)
    assert PartitionLog().highest_timestamp() == TimestampedOffset()
    without = PartitionLog()
    put(without, at(-1))
    assert without.highest_timestamp() == TimestampedOffset(0, -1, 0)
    assert without.first_at_or_after(0) == TimestampedOffset()


def test_a_batch_that_cannot_be_opened_answers_with_its_first_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "coordinator.server.storage.partition_log.decompress", lambda codec, data, budget: None
    )
    log = PartitionLog()
    put(
        log,
        build_batch(
            [b"a", Record(1, NOW + 9, None, b"b")],
            timestamp=NOW,
            attributes=1,
            compress=gzip.compress,
        ),
    )
    assert log.first_at_or_after(NOW + 5) == TimestampedOffset(0, NOW + 9, 0)
    assert log.highest_timestamp() == TimestampedOffset(0, NOW + 9, 0)


# --- leader epochs
# -----------------------------------------------------------------------------------------------------------


def test_epoch_ends() -> None:
    """KIP-101, KIP-279: the newest known epoch not above the asked one, and where the next
    begins."""
    log = PartitionLog()
    assert log.epoch_end(0) == EpochEnd(0, 0)
    put(log, at(NOW, NOW))
    assert log.epoch_end(0) == EpochEnd(0, 2)
    put(log, at(NOW), epoch=3)
    log.assign_epoch(3)
    log.assign_epoch(1)
    assert [log.epoch_end(epoch) for epoch in (0, 1, 2, 3)] == [(0, 2), (0, 2), (0, 2), (3, 3)]
    assert log.epoch_end(4) == EpochEnd(-1, -1)
    assert log.epoch_end(-1) == EpochEnd(-1, -1)
    assert log.epoch_end(-2) == EpochEnd(-2, 0)
    assert parse_header(log.read(2, 1_000)).leader_epoch == 3


def test_epochs_are_forgotten_with_their_records() -> None:
    log = PartitionLog()
    for epoch in range(3):
        put(log, at(NOW, NOW), epoch=epoch)
    log.delete_records(4)
    assert log.earliest() == TimestampedOffset(4, -1, 2)
    assert log.epoch_end(1) == EpochEnd(1, 4)
    log.delete_records(5)
    assert log.earliest() == TimestampedOffset(5, -1, 2)
    assert log.epoch_end(2) == EpochEnd(2, 6)


def many(count: int, *, attributes: int = 0, key: bool = False) -> bytes:
    """A gzip batch of `count` equal records, a thousandth of their size."""
    record = bytes((14, 0, 0, 0, 2, 107, 1, 0)) if key else bytes((12, 0, 0, 0, 1, 1, 0))
    return seal(
        parse_header(build_batch([b""] * 1, timestamp=NOW))._replace(
            length=49 + len(payload := gzip.compress(record * count)),
            attributes=1 | attributes,
            last_offset_delta=count - 1,
            record_count=count,
        ),
        payload,
    )


@pytest.mark.parametrize(("count", "true"), [(4, 3), (2, 3), (1, 3), (3, 2)])
@pytest.mark.parametrize(("codec", "compress"), [(0, None), (1, gzip.compress)])
def test_a_batch_that_miscounts_its_records_is_refused(
    count: int, true: int, codec: int, compress: object
) -> None:
    """It was taken when it came compressed, and broke every later look-up by time (scenario
    compressed_batches.a_header_that_miscounts)."""
    batch = build_batch([b"x"] * true, timestamp=NOW, attributes=codec, compress=compress)  # type: ignore[arg-type]
    lying = seal(
        parse_header(batch)._replace(record_count=count, last_offset_delta=count - 1), batch[61:]
    )
    assert refused(lying).error == ErrorCode.INVALID_RECORD


def test_what_a_few_compressed_bytes_may_cost_is_bounded() -> None:
    """20 KiB of gzip stand for millions of records: 7 s where each is refused by itself, 8 s and 1
    GB in a compacted topic."""
    stamped = refused(many(2_000_000, attributes=8), LogConfig(append_time=True))
    assert stamped.error == ErrorCode.INVALID_TIMESTAMP
    assert 1_000 < len(stamped.records) < 50_000
    keyless = refused(many(2_000_000), LogConfig(compacted=True))
    assert keyless.error == ErrorCode.INVALID_RECORD
    assert 1_000 < len(keyless.records) < 50_000


@pytest.mark.unmeasured
def test_a_look_up_opens_no_more_than_its_request_may_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    log = PartitionLog()
    count = 200_000
    sound = b"".join(bytes(encode_record(Record(i, NOW, None, None), 0, NOW)) for i in range(count))
    payload = gzip.compress(sound)
    batch = parse_header(build_batch([b""], timestamp=NOW))._replace(
        length=49 + len(payload),
        attributes=1,
        last_offset_delta=count - 1,
        record_count=count,
        max_timestamp=NOW + 9,
    )
    put(log, seal(batch, payload))
    budget = Budget(1_000)
    assert log.first_at_or_after(NOW + 5, budget) == TimestampedOffset(0, NOW + 9, 0)
    assert budget.left == 0
    assert log.first_at_or_after(NOW, Budget(1_000)) == TimestampedOffset(0, NOW, 0)


def test_a_size_that_no_append_looks_at_refuses_the_look_up() -> None:
    """Kafka reads compressed records from a stream when they come, and by their sizes later
    (scenario records_that_are_damaged)."""
    log = PartitionLog()
    good = encode_record(Record(0, NOW, b"k", b"value"), 0, NOW)
    payload = gzip.compress(bytes((good[0] - 2,)) + good[1:])
    put(
        log,
        seal(
            parse_header(build_batch([b""], timestamp=NOW))._replace(
                length=49 + len(payload), attributes=1
            ),
            payload,
        ),
    )
    with pytest.raises(BatchRefused) as refusal:
        log.first_at_or_after(NOW)
    assert refusal.value.error == ErrorCode.INVALID_RECORD


def test_compressed_records_out_of_order_are_refused() -> None:
    """Kafka builds such a batch anew, and fails (-1)."""
    record = encode_record(Record(5, NOW, b"k", b"value"), 0, NOW)
    payload = gzip.compress(record)
    batch = seal(
        parse_header(build_batch([b""], timestamp=NOW))._replace(
            length=49 + len(payload), attributes=1
        ),
        payload,
    )
    assert refused(batch).error == ErrorCode.UNKNOWN_SERVER_ERROR


class TestSegments:
    """SEG-1: where a time begins a segment a read ends."""

    @staticmethod
    def offsets(log: PartitionLog, offset: int) -> list[int]:
        """The base offsets of the batches of a read."""
        data, found = log.read(offset, 10_000), []
        while data:
            header = parse_header(data)
            found.append(header.base_offset)
            data = data[header.size :]
        return found

    def test_a_read_ends_with_its_segment(self) -> None:
        """The first batch of a segment counts, be it that a later one is older."""
        log, config = PartitionLog(), LogConfig(segment_ms=100)
        for timestamp in (NOW, NOW + 100, NOW + 101, NOW, NOW + 300):
            put(log, at(timestamp, timestamp), config)
        assert [self.offsets(log, offset) for offset in (0, 2, 4, 7, 8)] == [
            [0, 2],
            [2],
            [4, 6],
            [6],
            [8],
        ]

    def test_a_limit_of_the_reader_still_counts(self) -> None:
        log = PartitionLog()
        for timestamp in (NOW, NOW, NOW + 1_000):
            put(log, at(timestamp), LogConfig(segment_ms=100))
        first = len(log.read(0, 10_000)) // 2
        assert len(log.read(0, first)) == first
        assert log.read(0, 10_000, end=1) == log.read(0, first)
        assert self.offsets(log, 2) == [2]

    def test_batches_without_a_time_begin_none_behind_the_present(self) -> None:
        log = PartitionLog()
        for timestamp in (-1, -1, NOW - 50):
            put(log, at(timestamp), LogConfig(segment_ms=100))
        assert self.offsets(log, 0) == [0, 1, 2]

    def test_what_is_truncated_has_no_segment_any_more(self) -> None:
        log, config = ReplicaLog(), LogConfig(segment_ms=100)
        for timestamp in (NOW, NOW + 200, NOW + 400):
            put(log, at(timestamp), config)
        log.committed = 3
        log.truncate(1)
        put(log, at(NOW + 100), config)
        put(log, at(NOW + 450), config)
        assert [self.offsets(log, offset) for offset in (0, 2)] == [[0, 1], [2]]

    def test_who_copied_begins_one_where_the_first_batch_is_too_old(self) -> None:
        leader, follower = ReplicaLog(), ReplicaLog()
        config = LogConfig(segment_ms=100)
        put(leader, at(NOW), config)
        follower.follow(leader)
        for timestamp in (NOW + 50, NOW + 150):
            put(follower, at(timestamp), config)
        assert [self.offsets(follower, offset) for offset in (0, 2)] == [[0, 1], [2]]

    def test_who_copied_has_the_leaders(self) -> None:
        leader, follower = ReplicaLog(), ReplicaLog()
        config = LogConfig(segment_ms=100)
        for timestamp in (NOW, NOW + 200):
            put(leader, at(timestamp), config)
            follower.follow(leader)
        put(follower, at(NOW + 250), config)
        assert [self.offsets(follower, offset) for offset in (0, 1)] == [[0], [1, 2]]

    def test_a_copy_has_the_same(self) -> None:
        log, copy = PartitionLog(), PartitionLog()
        for timestamp in (NOW, NOW + 200):
            put(log, at(timestamp), LogConfig(segment_ms=100))
        copy.adopt(log)
        put(log, at(NOW + 400), LogConfig(segment_ms=100))
        assert self.offsets(copy, 0) == [0]
        assert self.offsets(copy, 1) == [1]
