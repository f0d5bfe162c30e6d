"""Schedule of the clean-up of a broker's partition logs, and the events that record it.

Owns the instants of Kafka's checks: for deletion the first log.initial.task.delay.ms after the
start, then every log.retention.check.interval.ms; for compaction every log.cleaner.backoff.ms. A
check that cannot remove anything is skipped, so an idle broker has no timer: a log gets a
deadline once something in it can fall due, and an append to a log without one is reported
(`PartitionLog.calls_cleaner`). Each broker cleans its own replicas by its own clock, a bounded
number per tick. Internal topics are left alone: their records are events here. What is removed
is decided by `server.storage.retention` and `server.storage.compaction`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from coordinator.base.deadlines import Deadlines
from coordinator.events.cluster import LogCompacted, SegmentsDeleted
from coordinator.events.wire import FetchOutOfRange, FetchWentOn

from . import data_log
from .log_configs import compaction, retention
from .storage.compaction import cleanable, compact, next_compaction_ms
from .storage.encoders import compress
from .storage.retention import delete_old_segments, next_deletion_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coordinator.events import EventLog

    from .cluster import Cluster
    from .cluster.model import Partition, Topic
    from .cluster.replication import Replication
    from .requests.call import Call
    from .settings.broker_configs import BrokerConfigs
    from .storage.compaction import Compacted, Steps
    from .storage.partition_log import PartitionLog
    from .storage.retention import Deleted

_LOGS_A_TICK = 64
_STEPS_AT_ONCE = 8
"""So much of a compaction is done at once on request; the rest follows in ticks."""
_MOST_LOST = 1_000
TopicPartition = tuple[str, int]


class LogHost(Protocol):
    """The part of a broker that the clean-up of logs uses."""

    @property
    def node_id(self) -> int:
        """The broker's id."""

    @property
    def cluster(self) -> Cluster:
        """The topics, and the logs of the replicas that the broker holds."""

    @property
    def configs(self) -> BrokerConfigs:
        """The broker's configuration."""

    @property
    def log(self) -> EventLog | None:
        """The event log, or None."""

    @property
    def epoch_ms(self) -> int:
        """The wall clock at the driver's zero, in milliseconds since 1970."""

    @property
    def replication(self) -> Replication | None:
        """The copier of records to followers, or None in a cluster of one broker."""


class LogCleaning:
    """Clean-up of one broker's logs."""

    def __init__(self, broker: LogHost) -> None:
        self._broker = broker
        self._started_ms = 0
        self._deadlines: Deadlines[TopicPartition] = Deadlines()
        self._compacting: dict[TopicPartition, tuple[PartitionLog, Steps]] = {}
        """Compactions that are under way, the first one first."""
        self._anew = False
        broker.configs.on_change(self.look_at_all)
        self._gone: dict[TopicPartition, Deleted] = {}
        """The latest deletion from each log."""
        self.lost: dict[tuple[str, TopicPartition], int] = {}
        """Readers, by their connection, that asked for what is deleted, and for which offset; the
        most that are remembered are `_MOST_LOST`."""

    # -- what others tell

    def begin(self, now: int) -> None:
        """Start the schedule: the broker's process started now, with logs from before."""
        self._started_ms = now
        self.look_at_all()

    def appended(self, partition: Partition, now: int) -> None:
        """Give a log its deadline after an append to a log that had none."""
        topic = self._broker.cluster.topics[partition.topic]
        if topic.internal:
            partition.log.calls_cleaner = False
            return
        self._tell_of_segment(partition, now)
        self._arm(topic, partition, now)

    def log_start_moved(self, partition: Partition, now: int) -> None:
        """Compute a log's deadline again after its log start offset moved (DeleteRecords, at the
        leader or a follower).
        """
        topic = self._broker.cluster.topics[partition.topic]
        if not topic.internal:
            self._arm(topic, partition, now)

    def topic_configured(self, name: str, now: int) -> None:
        """Compute the deadlines of a topic's logs again after its configuration changed."""
        topic = self._broker.cluster.topics[name]
        if topic.internal:
            return
        for partition in topic.partitions:
            if self._broker.node_id in partition.replicas and partition.log.size:
                self._arm(topic, partition, now)

    def look_at_all(self) -> None:
        """Let the next tick, due at once, compute all deadlines again: the configuration or the
        wall clock changed, or the broker started.
        """
        self._anew = True

    def out_of_range(self, call: Call, partition: Partition, offset: int) -> None:
        """Log that a consumer's offset is out of range, if retention deleted the record at that
        offset.
        """
        key = (partition.topic, partition.index)
        gone, log = self._gone.get(key), self._broker.log
        if gone is None or not 0 <= offset < gone.end_offset or (call.peer, key) in self.lost:
            return
        if len(self.lost) >= _MOST_LOST:
            del self.lost[next(iter(self.lost))]
        self.lost[call.peer, key] = offset
        if log is not None and log.writable:
            log.append(
                FetchOutOfRange(
                    offset,
                    partition.log.log_start_offset,
                    partition.log.log_end_offset,
                    gone.reason,
                    call.client_id,
                    call.peer,
                ),
                at_ms=call.now,
                broker=self._broker.node_id,
                topic=partition.topic,
                partition=partition.index,
            )

    def fetched(self, call: Call, at: TopicPartition, offset: int) -> None:
        """Log the offset at which a consumer continues whose previous offset had been deleted."""
        before, log = self.lost.get((call.peer, at)), self._broker.log
        if before is None or before == offset:
            return
        del self.lost[call.peer, at]
        partition = self._broker.cluster.partition(*at)
        if log is not None and log.writable and partition is not None:
            start, end = partition.log.log_start_offset, partition.log.log_end_offset
            log.append(
                FetchWentOn(offset, before, start, end, call.client_id, call.peer),
                at_ms=call.now,
                broker=self._broker.node_id,
                topic=partition.topic,
                partition=partition.index,
            )

    # -- what drivers use

    def next_deadline(self) -> int | None:
        """Return the instant of the next check that may remove something, 0 if `tick` is due now,
        or None.
        """
        return 0 if self._anew or self._compacting else self._deadlines.next()

    def tick(self, now: int) -> None:
        """Clean logs that are due, a bounded number; the rest stays due at once."""
        if self._anew:
            self._anew = False
            for partition in self._held(None, None):
                if partition.log.size:
                    self._arm(self._broker.cluster.topics[partition.topic], partition, now)
        if self._compacting:
            self._go_on(now)
            return
        due = self._deadlines.due(now)
        for _, (name, index) in zip(range(_LOGS_A_TICK), due, strict=False):
            self._clean(name, index, now)

    def clean(self, topic: str | None, index: int | None, now: int) -> None:
        """Clean logs now instead of at their next check: of all topics (None), or of all partitions
        of a topic (None).
        """
        for found in self._held(topic, index):
            self._clean(found.topic, found.index, now)
        for _ in range(_STEPS_AT_ONCE):
            if self._compacting:
                self._go_on(now)

    def check_soon(self, topic: str | None, index: int | None, now: int) -> None:
        """Let the next regular check look at these logs, whether or not anything can be due."""
        for found in self._held(topic, index):
            at = self._check_at(self._broker.cluster.topics[found.topic], now)
            self._deadlines.arm((found.topic, found.index), at)

    # -- one log

    def _held(self, topic: str | None, index: int | None) -> Iterator[Partition]:
        for each in list(self._broker.cluster.topics.values()):
            if topic in (None, each.name) and not each.internal:
                for partition in each.partitions:
                    if index in (None, partition.index) and (
                        self._broker.node_id in partition.replicas
                    ):
                        yield partition

    def _clean(self, name: str, index: int, now: int) -> None:
        broker = self._broker
        topic, partition = broker.cluster.topics.get(name), broker.cluster.partition(name, index)
        if topic is None or partition is None or broker.node_id not in partition.replicas:
            return
        wall_ms = broker.epoch_ms + now
        for deleted in delete_old_segments(partition.log, retention(topic), wall_ms):
            if deleted.end_offset > deleted.first_offset:
                self._gone[name, index] = deleted
            self._tell_of_deletion(topic, partition, deleted, now)
            if broker.replication is not None:
                broker.replication.mark(name, index)
        self._tell_of_segment(partition, now)
        if not self._begins(topic, partition, wall_ms):
            self._arm(topic, partition, now)

    def _begins(self, topic: Topic, partition: Partition, wall_ms: int) -> bool:
        """Start the compaction of a log if it is due; return True if it started or is running."""
        key = (topic.name, partition.index)
        under_way = self._compacting.get(key)
        if under_way is not None and under_way[0] is partition.log:
            return True
        if not retention(topic).compacts:
            return False
        rules = compaction(topic)
        dirty = cleanable(partition.log, rules, wall_ms)
        if dirty is None:
            return False
        self._deadlines.cancel(key)
        steps = compact(partition.log, dirty, rules, wall_ms, compress)
        self._compacting[key] = partition.log, steps
        return True

    def _go_on(self, now: int) -> None:
        """Run one step of the first compaction in progress. It is given up if its log is gone: its
        topic was deleted, or a snapshot restored.
        """
        key, (log, steps) = next(iter(self._compacting.items()))
        partition = self._broker.cluster.partition(*key)
        if partition is None or partition.log is not log:
            del self._compacting[key]
            self._anew = True
            return
        try:
            next(steps)
            return
        except StopIteration as ended:
            done: Compacted | None = ended.value
        del self._compacting[key]
        if self._broker.node_id not in partition.replicas:
            return
        if done is not None:
            self._tell_of_compaction(partition, done, now)
        self._arm(self._broker.cluster.topics[key[0]], partition, now)

    def _arm(self, topic: Topic, partition: Partition, now: int) -> None:
        """Set a log's deadline: the first check after now that can remove something."""
        log, rules = partition.log, retention(topic)
        wall_ms = self._broker.epoch_ms + now
        due_ms = next_deletion_ms(log, rules, wall_ms)
        if rules.compacts:
            compacts_ms = next_compaction_ms(log, compaction(topic), wall_ms)
            if compacts_ms is not None and (due_ms is None or compacts_ms < due_ms):
                due_ms = compacts_ms
        key = (topic.name, partition.index)
        if due_ms is None:
            self._deadlines.cancel(key)
        else:
            at = max(due_ms - self._broker.epoch_ms, now + 1)  # a check at this instant has been
            self._deadlines.arm(key, self._check_at(topic, at))
        # by size it is an append that lets something go, and so it is in a log that has no time yet
        log.calls_cleaner = rules.deletes and (
            rules.retention_bytes >= 0 or (due_ms is None and not log.first_segment().size)
        )
        if rules.compacts and log.transactions:  # what is open holds compaction up
            log.calls_cleaner = True

    def _check_at(self, topic: Topic, at: int) -> int:
        """Return the instant of the topic's first check at or after `at`."""
        if retention(topic).compacts:
            return self._next_check(at, "log.cleaner.backoff.ms", first_ms=0)
        return self._next_check(at, "log.retention.check.interval.ms")

    def _next_check(self, at: int, setting: str, first_ms: int | None = None) -> int:
        configs = self._broker.configs
        if first_ms is None:
            first_ms = configs.get_int("log.initial.task.delay.ms")
        first, every_ms = self._started_ms + first_ms, max(configs.get_int(setting), 1)
        return first + max(0, -(-(at - first) // every_ms)) * every_ms

    # -- what is written down

    def _tell_of_segment(self, partition: Partition, now: int) -> None:
        """Log, once, that a new active segment began and which setting caused it."""
        by, partition.log.began_by = partition.log.began_by, ""
        if by and partition.leader == self._broker.node_id:
            data_log.rolled(self._broker.log, self._broker.node_id, partition, by, now)

    def _tell_of_compaction(self, partition: Partition, done: Compacted, now: int) -> None:
        """Log the result of the compaction of a leader's log."""
        broker = self._broker
        if broker.log is None or partition.leader != broker.node_id:
            return
        broker.log.append(
            LogCompacted(
                reason=done.reason,
                first_offset=done.first_offset,
                end_offset=done.end_offset,
                removed=done.removed,
                bytes_before=done.size_before,
                bytes_after=done.size,
            ),
            at_ms=now,
            broker=broker.node_id,
            topic=partition.topic,
            partition=partition.index,
        )

    def _tell_of_deletion(
        self, topic: Topic, partition: Partition, deleted: Deleted, now: int
    ) -> None:
        """Log the segments that a leader deleted. Deletions at followers are not logged: no client
        reads there.
        """
        broker = self._broker
        if broker.log is None or partition.leader != broker.node_id:
            return
        rules = retention(topic)
        broker.log.append(
            SegmentsDeleted(
                reason=deleted.reason,
                segments=deleted.segments,
                first_offset=deleted.first_offset,
                end_offset=deleted.end_offset,
                bytes=deleted.size,
                largest_timestamp_ms=deleted.largest_timestamp,
                wall_ms=broker.epoch_ms + now,
                retention_ms=rules.retention_ms,
                retention_bytes=rules.retention_bytes,
            ),
            at_ms=now,
            broker=broker.node_id,
            topic=topic.name,
            partition=partition.index,
        )
