"""A partition's log against a list of records: whatever is appended and deleted, reads and look-ups
say what the list says."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from coordinator.server.storage.append_checks import LogConfig
from coordinator.server.storage.partition_log import PartitionLog, TimestampedOffset
from coordinator.server.storage.record_codec import Record, build_batch, read_records
from coordinator.server.storage.records import HEADER_SIZE, parse_header, sole_batch

NOW = 1_000


class LogAndList(RuleBasedStateMachine):
    """`batches`: (stored bytes, records with their true offsets) of every batch ever appended."""

    def __init__(self) -> None:
        super().__init__()
        self.log = PartitionLog()
        self.batches: list[tuple[int, list[Record]]] = []
        self.start = 0
        self.end = 0
        self.epoch = 0

    @rule(
        timestamps=st.lists(st.integers(0, 50), min_size=1, max_size=5),
        value=st.integers(0, 200),
        newer=st.booleans(),
    )
    def append(self, timestamps: list[int], value: int, newer: bool) -> None:
        self.epoch += newer
        batch = build_batch(
            [Record(i, timestamp, None, b"x" * value) for i, timestamp in enumerate(timestamps)]
        )
        placed = self.log.append(
            batch, sole_batch(batch, 12), LogConfig(), leader_epoch=self.epoch, now_ms=NOW
        )
        assert placed.base_offset == self.end
        self.batches.append(
            (
                len(batch),
                [
                    Record(self.end + i, timestamp, None, b"x" * value)
                    for i, timestamp in enumerate(timestamps)
                ],
            )
        )
        self.end += len(timestamps)

    @rule(share=st.floats(0, 1))
    def delete(self, share: float) -> None:
        before = round(self.end * share)
        self.start = max(self.start, before)
        assert self.log.delete_records(before) == self.start

    @rule(share=st.floats(0, 1), max_bytes=st.integers(0, 1_000))
    def read(self, share: float, max_bytes: int) -> None:
        offset = self.start + round((self.end - self.start) * share)
        ahead = [(size, records) for size, records in self.batches if records[-1].offset >= offset]
        data = self.log.read(offset, max_bytes)
        total = sum(size for size, _ in ahead)
        assert self.log.bytes_from(offset) == total
        assert len(data) == (max(min(max_bytes, total), ahead[0][0]) if ahead else 0)
        pos = 0
        for size, records in ahead:
            if pos + size > len(data):
                break
            header = parse_header(data, pos)
            assert (
                header.size,
                list(read_records(header, data[pos + HEADER_SIZE : pos + size])),
            ) == (size, records)
            pos += size

    @rule(timestamp=st.integers(-1, 51))
    def look_up(self, timestamp: int) -> None:
        found = next(
            (
                record
                for _, records in self.batches
                for record in records
                if record.timestamp >= timestamp and record.offset >= self.start
            ),
            None,
        )
        answer = self.log.first_at_or_after(timestamp)
        assert answer[:2] == (
            (found.offset, found.timestamp) if found is not None else TimestampedOffset()[:2]
        )

    @invariant()
    def ends(self) -> None:
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, self.end)
        everything = [record for _, records in self.batches for record in records]
        highest = max(everything, key=lambda record: record.timestamp, default=None)
        answer = self.log.highest_timestamp()
        assert answer[:2] == (
            (highest.offset, highest.timestamp) if highest is not None else TimestampedOffset()[:2]
        )
        assert self.log.epoch_end(self.epoch).end_offset == self.end
        assert self.log.size == sum(size for size, _ in self.batches)  # in the active segment


LogAndList.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestLogAndList = LogAndList.TestCase
