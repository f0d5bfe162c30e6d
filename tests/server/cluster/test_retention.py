"""Segments and what retention deletes of them: whole ones, the oldest first (RET-1 to RET-7)."""

from __future__ import annotations

import pytest

from coordinator.server.storage.append_checks import LogConfig
from coordinator.server.storage.partition_log import Marker, PartitionLog, TimestampedOffset
from coordinator.server.storage.record_codec import build_batch
from coordinator.server.storage.records import CRC_START, parse_header, sole_batch
from coordinator.server.storage.replica_log import ReplicaLog
from coordinator.server.storage.retention import (
    BY_AGE,
    BY_SIZE,
    BY_START,
    Retention,
    delete_old_segments,
    next_deletion_ms,
)

NOW = 1_000_000
SIZE = len(build_batch([b"x"], timestamp=NOW))
TWO = LogConfig(segment_bytes=2 * SIZE)
"""Two batches a segment."""


def put(
    log: PartitionLog, *timestamps: int, config: LogConfig = TWO, now_ms: int = NOW, epoch: int = 0
) -> None:
    """Append a record for each timestamp, in a batch each."""
    for timestamp in timestamps:
        batch = build_batch([b"x"], timestamp=timestamp)
        log.append(batch, sole_batch(batch, 12), config, leader_epoch=epoch, now_ms=now_ms)


def filled(*timestamps: int) -> PartitionLog:
    """A log with a record for each timestamp, two a segment."""
    log = PartitionLog()
    put(log, *timestamps)
    return log


def starts(log: PartitionLog) -> list[int]:
    """Where its segments begin."""
    return [segment.first_offset for segment in log.segments()]


def deleted(log: PartitionLog, now_ms: int, **rules: int | bool) -> list[tuple[str, int, int]]:
    """Reason, former and present log start of what went."""
    found = delete_old_segments(log, Retention(**rules), now_ms)  # type: ignore[arg-type]
    return [(each.reason, each.first_offset, each.end_offset) for each in found]


class TestRolling:
    """SEG-2: what begins a segment beside a time."""

    def test_a_batch_that_would_make_it_too_large(self) -> None:
        log = filled(*[NOW] * 5)
        assert starts(log) == [0, 2, 4]
        assert [segment.size for segment in log.segments()] == [2 * SIZE, 2 * SIZE, SIZE]
        assert [segment.active for segment in log.segments()] == [False, False, True]
        assert log.size == 5 * SIZE

    def test_a_read_ends_with_its_segment(self) -> None:
        log = filled(*[NOW] * 5)
        assert [len(log.read(offset, 10_000)) for offset in range(5)] == [
            2 * SIZE, SIZE, 2 * SIZE, SIZE, SIZE
        ]  # fmt: skip

    def test_a_marker_begins_one_too(self) -> None:
        log = filled(NOW, NOW)
        log.append_marker(Marker(1, 0, True), leader_epoch=0, now_ms=NOW, config=TWO)
        assert starts(log) == [0, 2]

    def test_a_limit_that_was_lowered_counts_for_the_next_batch(self) -> None:
        log = PartitionLog()
        put(log, NOW, NOW, NOW, config=LogConfig())
        put(log, NOW)
        assert starts(log) == [0, 3]

    def test_an_index_that_is_full(self) -> None:
        """An entry is due after more than index.interval.bytes; the index of times is full with one
        entry left, and has one only where the time rose."""
        config = LogConfig(index_interval_bytes=0, index_max_bytes=48)  # 6 and 4 entries
        log = PartitionLog()
        put(log, *range(NOW, NOW + 8), config=config)
        assert starts(log) == [0, 4]
        same = PartitionLog()
        put(same, *[NOW] * 8, config=config)
        assert starts(same) == [0, 7]

    def test_jitter_shortens_the_time_as_much_again(self) -> None:
        config = LogConfig(segment_ms=1_000, segment_jitter_ms=500)
        first, again = PartitionLog(), PartitionLog()
        for log in (first, again):
            put(log, *range(NOW, NOW + 20_000, 100), config=config)
        lengths = {
            end - start for start, end in zip(starts(first), starts(first)[1:], strict=False)
        }
        assert starts(first) == starts(again)
        assert lengths <= set(range(6, 12)) and len(lengths) > 1

    def test_without_a_time_the_clock_counts_from_when_it_began(self) -> None:
        config = LogConfig(segment_ms=100)
        log = PartitionLog()
        put(log, -1, -1, config=config)
        put(log, -1, config=config, now_ms=NOW + 100)
        put(log, -1, config=config, now_ms=NOW + 101)
        put(log, -1, config=config, now_ms=NOW + 201)
        put(log, -1, config=config, now_ms=NOW + 202)
        assert starts(log) == [0, 3, 5]


class TestByAge:
    """retention.ms, counted from a segment's largest timestamp."""

    def test_whole_segments_go_once_all_of_them_is_too_old(self) -> None:
        log = filled(NOW, NOW + 10, NOW, NOW + 20, NOW + 30)
        assert deleted(log, NOW + 110, retention_ms=100) == []
        assert deleted(log, NOW + 111, retention_ms=100) == [(BY_AGE, 0, 2)]
        assert (starts(log), log.log_start_offset, log.size) == ([2, 4], 2, 3 * SIZE)

    def test_one_that_is_young_keeps_the_older_ones_behind_it(self) -> None:
        log = filled(NOW + 500, NOW, NOW, NOW, NOW)
        assert deleted(log, NOW + 200, retention_ms=100) == []

    def test_the_active_one_is_rolled_first_when_all_of_it_is_too_old(self) -> None:
        log = filled(NOW, NOW, NOW)
        assert deleted(log, NOW + 101, retention_ms=100) == [(BY_AGE, 0, 3)]
        assert (starts(log), log.log_start_offset, log.size) == ([3], 3, 0)
        assert log.highest_timestamp() == TimestampedOffset()
        assert deleted(log, NOW + 1_000, retention_ms=100) == []
        put(log, NOW + 1_000)
        assert (log.log_end_offset, len(log.read(3, 1_000))) == (4, SIZE)
        assert starts(log) == [3]

    def test_a_time_in_the_future_keeps_it(self) -> None:
        assert deleted(filled(NOW + 10_000), NOW + 101, retention_ms=100) == []

    def test_without_times_its_last_change_counts(self) -> None:
        log = PartitionLog()
        put(log, -1)
        put(log, -1, now_ms=NOW + 50)
        assert next_deletion_ms(log, Retention(retention_ms=100), NOW) == NOW + 151
        assert deleted(log, NOW + 150, retention_ms=100) == []
        assert deleted(log, NOW + 151, retention_ms=100) == [(BY_AGE, 0, 2)]

    def test_any_age_where_it_is_below_0(self) -> None:
        assert deleted(filled(0), NOW, retention_ms=-1) == []
        assert next_deletion_ms(filled(0), Retention(retention_ms=-1), NOW) is None

    def test_when_the_next_one_goes(self) -> None:
        log = filled(NOW, NOW + 10, NOW + 20)
        rules = Retention(retention_ms=100)
        assert next_deletion_ms(log, rules, NOW) == NOW + 111
        assert next_deletion_ms(log, rules, NOW + 500) == NOW + 500
        assert next_deletion_ms(PartitionLog(), rules, NOW) is None


class TestBySize:
    """retention.bytes: only as far as the rest is not below it."""

    @pytest.mark.parametrize(
        ("most", "start"), [(7, 0), (6, 0), (5, 2), (4, 2), (3, 4), (1, 6), (0, 7)]
    )
    def test_the_rest_has_as_much(self, most: int, start: int) -> None:
        log = filled(*[NOW] * 7)
        rules = Retention(retention_ms=-1, retention_bytes=most * SIZE)
        due = next_deletion_ms(log, rules, NOW) is not None
        found = delete_old_segments(log, rules, NOW)
        assert (log.log_start_offset, due) == (start, start > 0)
        assert [each.reason for each in found] == [BY_SIZE] * (start > 0)

    def test_size_comes_before_age(self) -> None:
        log = filled(NOW, NOW, NOW, NOW, NOW + 500)
        assert deleted(log, NOW + 101, retention_ms=100, retention_bytes=3 * SIZE) == [
            (BY_SIZE, 0, 2),
            (BY_AGE, 2, 4),
        ]


class TestEmptied:
    """The oldest segment has no batch left: compaction took all of them."""

    def test_it_goes_by_size_with_those_behind_it(self) -> None:
        log = filled(*[NOW] * 7)
        log.replace_segments(1, log.rewrite([0]), [])
        rules = Retention(retention_ms=-1, retention_bytes=2 * SIZE)
        assert next_deletion_ms(log, rules, NOW) == NOW
        assert deleted(log, NOW, retention_ms=-1, retention_bytes=2 * SIZE) == [(BY_SIZE, 0, 4)]

    def test_by_age_its_last_change_counts(self) -> None:
        log = filled(0, 0, NOW)
        log.replace_segments(1, log.rewrite([0]), [])
        rules = Retention(retention_ms=100)
        assert next_deletion_ms(log, rules, NOW) == NOW + 101
        assert deleted(log, NOW + 100, retention_ms=100) == []
        assert deleted(log, NOW + 101, retention_ms=100) == [(BY_AGE, 0, 3)]


class TestByStart:
    """Segments below the log start go with the next check, and until then they count."""

    def test_whole_ones_below_it(self) -> None:
        log = filled(*[NOW] * 6)
        log.delete_records(3)
        assert (starts(log), log.size) == ([0, 2, 4], 6 * SIZE)
        rules = Retention(deletes=False)
        assert next_deletion_ms(log, rules, NOW) == NOW
        (gone,) = delete_old_segments(log, rules, NOW)
        assert (gone.reason, gone.first_offset, gone.end_offset, gone.size) == (
            BY_START, 3, 3, 2 * SIZE
        )  # fmt: skip
        assert (starts(log), log.log_start_offset, log.size) == ([2, 4], 3, 4 * SIZE)
        assert next_deletion_ms(log, rules, NOW) is None

    def test_the_active_one_stays(self) -> None:
        log = filled(NOW, NOW)
        log.delete_records(-1)
        assert deleted(log, NOW, deletes=False) == []
        assert (log.size, log.read(2, 1_000)) == (2 * SIZE, b"")

    def test_its_highest_time_counts_as_long_as_it_is_there(self) -> None:
        log = filled(NOW + 9, NOW, NOW, NOW + 5, NOW)
        log.delete_records(4)
        assert log.highest_timestamp() == TimestampedOffset(0, NOW + 9, 0)
        delete_old_segments(log, Retention(), NOW)
        assert log.highest_timestamp() == TimestampedOffset(4, NOW, 0)

    def test_bytes_of_deleted_records_are_not_kept(self) -> None:
        log = filled(*[NOW] * 6)
        log.delete_records(5)
        assert (
            sum(map(len, log._pieces)) == SIZE
        )  # and of each segment the one with the highest time


class TestHighWatermark:
    """What lies behind the high watermark stays, however old and large."""

    def test_a_segment_that_is_not_replicated_as_a_whole(self) -> None:
        log = ReplicaLog()
        put(log, *[NOW] * 5)
        log.committed = 3
        assert deleted(log, NOW + 101, retention_ms=100, retention_bytes=0) == [(BY_SIZE, 0, 2)]
        log.committed = 5
        assert deleted(log, NOW + 101, retention_ms=100) == [(BY_AGE, 2, 5)]


class TestWhatElseShrinks:
    """Epochs, aborted transactions and look-ups follow."""

    def test_leader_epochs(self) -> None:
        log = PartitionLog()
        put(log, NOW, NOW, NOW, epoch=1)
        put(log, NOW, NOW, epoch=3)
        log.delete_segments(2)
        assert log.epoch_end(1) == (1, 4)
        assert log.epoch_end(3) == (3, 5)
        assert log.earliest() == TimestampedOffset(4, -1, 3)

    def test_look_ups_by_time(self) -> None:
        """Only the first segment is searched that is not too old as a whole."""
        log = filled(NOW, NOW + 40, NOW + 10, NOW + 20, NOW + 30)
        found = [log.first_at_or_after(NOW + delta).offset for delta in (0, 15, 40, 41)]
        assert found == [0, 1, 1, -1]
        log.delete_records(2)
        assert [log.first_at_or_after(NOW + delta).offset for delta in (0, 15, 25)] == [-1, -1, -1]
        log.delete_segments(1)
        found = [log.first_at_or_after(NOW + delta).offset for delta in (0, 15, 25, 40)]
        assert found == [2, 3, 4, -1]

    def test_the_list_of_aborted_transactions_ends_with_the_segment(self) -> None:
        log = filled(*[NOW] * 6)
        log.aborted.enter(1, 1, 3, 4)
        log.aborted.enter(2, 4, 5, 6)
        assert [one.producer_id for one in log.aborted_in(0, 2 * SIZE)] == [1]
        assert [one.producer_id for one in log.aborted_in(4, 2 * SIZE)] == [2]
        log.delete_segments(2)
        assert [one.producer_id for one in log.aborted_in(4, 2 * SIZE)] == [2]


class TestCopies:
    """A follower has its leader's segments; who is adopted or truncated keeps them."""

    def test_a_follower_has_the_leaders(self) -> None:
        leader, follower = ReplicaLog(), ReplicaLog()
        for count in (1, 3, 1):
            put(leader, *[NOW] * count)
            follower.follow(leader)
        assert starts(follower) == starts(leader) == [0, 2, 4]
        assert follower.segments() == leader.segments()

    def test_one_behind_the_log_start_begins_there(self) -> None:
        leader, follower = ReplicaLog(), ReplicaLog()
        put(leader, *[NOW] * 5)
        leader.committed = 5
        delete_old_segments(leader, Retention(retention_bytes=3 * SIZE), NOW)
        follower.follow(leader)
        assert (starts(follower), follower.log_start_offset) == ([2, 4], 2)
        assert follower.read(2, 1_000) == leader.read(2, 1_000)

    def test_a_truncated_log_has_those_that_are_left(self) -> None:
        log = ReplicaLog()
        put(log, *[NOW] * 6)
        log.committed = 6
        log.delete_records(1)
        log.truncate(3)
        assert (starts(log), log.log_start_offset, log.log_end_offset) == ([0, 2], 1, 3)
        put(log, NOW, NOW)
        assert starts(log) == [0, 2, 4]

    def test_an_adopted_log_is_deleted_from_by_itself(self) -> None:
        log, copy = filled(*[NOW] * 5), PartitionLog()
        copy.adopt(log)
        log.delete_segments(1)
        put(copy, NOW, NOW)
        assert (starts(log), starts(copy)) == ([2, 4], [0, 2, 4, 6])
        head = parse_header(copy.read(6, 1_000))
        assert head.base_offset == 6 and head.length + 12 - CRC_START == SIZE - CRC_START
