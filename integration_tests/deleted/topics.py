"""Logs from which records are gone: deleted by retention, deleted within a segment, compacted, and of
an aborted transaction that was cleaned. Made with confluent-kafka on any broker that looks at its
logs every tenth of a second (profile `logs`)."""

from __future__ import annotations

import time
from collections.abc import Iterable

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from coordinator.base.errors import ErrorCode
from integration_tests.deleted.tasks import Read, Times

PATIENCE_S = 60
DAY_MS = 86_400_000
SEGMENT_EACH = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.0",
    "internal.segment.bytes": "100",
}
Rows = Iterable[tuple[str | None, str, int]]
"""Keys, values and timestamps."""


class Logs:
    """Topics of one reader on one broker; `mark` keeps their names apart from others'."""

    def __init__(self, address: str, mark: str) -> None:
        self._address = address
        self._mark = mark
        self._admin = AdminClient({"bootstrap.servers": address})
        self.now_ms = int(time.time() * 1000)

    def tasks(self) -> list[Read | Times]:
        """Make the topics; return what is to be tried on them."""
        deleted, cut, compacted, aborted = (
            self._deleted(),
            self._cut(),
            self._compacted(),
            self._aborted(),
        )
        month_ago, day_ago = self.now_ms - 30 * DAY_MS, self.now_ms - DAY_MS
        groups = iter(range(100))

        def read(name: str, topic: str, reset: str, until: int, *, committed: int = -1) -> Read:
            group = f"group-{next(groups)}-{self._mark}"
            if committed >= 0:
                self._commit(group, topic, committed)
            isolation = "read_committed" if topic == aborted else "read_uncommitted"
            return Read(name, topic, group, reset, isolation, until)

        return [
            read("earliest", deleted, "earliest", 12, committed=2),
            read("none", deleted, "none", 12, committed=2),
            read("by duration", deleted, "by_duration:P1D", 12, committed=2),
            Times("by time, deleted", deleted, month_ago),
            Times("by time", deleted, day_ago),
            Times("by time, to come", deleted, self.now_ms + DAY_MS),
            Times("by time, below a start within a segment", cut, month_ago + 1),
            read("compacted", compacted, "earliest", 4),
            read("compacted, from a gap", compacted, "none", 4, committed=1),
            read("aborted and cleaned", aborted, "earliest", 6),
            read("aborted and cleaned, from a gap", aborted, "none", 6, committed=2),
            read("latest", deleted, "latest", 12, committed=2),
        ]

    def _deleted(self) -> str:
        """Ten records that `retention.ms` deleted, one of the day before yesterday, one of now."""
        name = self._topic("deleted", {"retention.ms": str(7 * DAY_MS)})
        old_ms = self.now_ms - 30 * DAY_MS
        self._produce(name, [(None, f"old {number}", old_ms) for number in range(10)])
        self._until(name, 10)
        self._produce(name, [(None, "new", self.now_ms - 2 * DAY_MS), (None, "new", self.now_ms)])
        return name

    def _cut(self) -> str:
        """Five records of one segment, a second apart; the first three are deleted by hand."""
        name = self._topic("cut", {"retention.ms": "-1"})
        old_ms = self.now_ms - 30 * DAY_MS
        self._produce(name, [(None, "v", old_ms + 1_000 * number) for number in range(5)])
        for future in self._admin.delete_records([TopicPartition(name, 0, 3)]).values():
            future.result(PATIENCE_S)
        return name

    def _compacted(self) -> str:
        """Three prices of tea, of which the last is left, and one of milk."""
        name = self._topic("compacted", SEGMENT_EACH)
        rows = [("tea", "1"), ("tea", "2"), ("tea", "3"), ("milk", "9")]
        self._produce(name, [(key, value, self.now_ms) for key, value in rows])
        self._until_left(name, [2, 3])
        return name

    def _aborted(self) -> str:
        """A record, two of an aborted transaction that were cleaned, its marker, two records."""
        name = self._topic("aborted", SEGMENT_EACH)
        self._produce(name, [("a", "1", self.now_ms)])
        producer = Producer(
            {"bootstrap.servers": self._address, "transactional.id": f"tx-{self._mark}"}
        )
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for value in ("2", "3"):
            producer.produce(name, value, key="b", partition=0)
            producer.flush(PATIENCE_S)
        producer.abort_transaction(PATIENCE_S)
        self._until(name, 0, end=4)  # the marker comes later than the answer
        self._produce(name, [("c", "4", self.now_ms), ("d", "5", self.now_ms)])
        self._until_left(name, [0, 4, 5])
        return name

    # -- what all of them need

    def _topic(self, label: str, config: dict[str, str]) -> str:
        name = f"{label}-{self._mark}"
        for future in self._admin.create_topics([NewTopic(name, 1, 1, config=config)]).values():
            future.result(PATIENCE_S)
        return name

    def _produce(self, name: str, rows: Rows) -> None:
        """A batch for each record."""
        producer = Producer({"bootstrap.servers": self._address})
        for key, value, timestamp_ms in rows:
            producer.produce(name, value, key=key, partition=0, timestamp=timestamp_ms)
            assert producer.flush(PATIENCE_S) == 0, f"{name} does not take {value!r}"

    def _commit(self, group: str, name: str, offset: int) -> None:
        consumer = self._consumer(group)
        consumer.commit(offsets=[TopicPartition(name, 0, offset)], asynchronous=False)
        consumer.close()

    def _consumer(self, group: str) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self._address,
                "group.id": group,
                "enable.partition.eof": True,
                "isolation.level": "read_uncommitted",
            }
        )

    def _until(self, name: str, start: int, end: int | None = None) -> None:
        """Wait until a log starts there, and ends there."""
        consumer, deadline = self._consumer("nobody"), time.monotonic() + PATIENCE_S
        while (found := consumer.get_watermark_offsets(TopicPartition(name, 0), PATIENCE_S)) != (
            start,
            found[1] if end is None else end,
        ):
            assert time.monotonic() < deadline, f"{name} has {found}, not {start}"
        consumer.close()

    def _until_left(self, name: str, offsets: list[int]) -> None:
        """Wait until a log has no records but these."""
        deadline = time.monotonic() + PATIENCE_S
        while (left := self._left(name)) != offsets:
            assert time.monotonic() < deadline, f"{name} has {left}, not {offsets}"

    def _left(self, name: str) -> list[int]:
        consumer, found = self._consumer("nobody"), list[int]()
        consumer.assign([TopicPartition(name, 0, 0)])
        while (message := consumer.poll(PATIENCE_S)) is not None:
            error = message.error()
            if error is not None:
                assert error.code() != ErrorCode.OFFSET_OUT_OF_RANGE, error
                break
            found.append(message.offset() or 0)
        consumer.close()
        return found
