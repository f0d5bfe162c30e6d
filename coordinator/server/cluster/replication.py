"""Replication: followers copy their leader's log, the high watermark advances, and the leader
proposes the ISR.

Owns what every broker that believes to lead a partition knows about its followers. Kafka's
rules: a follower copies only if it and the leader agree on leader and leader epoch, after
truncating to the point where their logs agree (KIP-101, KIP-279); the high watermark is the
least log end offset of the ISR, and stands still while the ISR is smaller than
min.insync.replicas (KIP-966); a follower that has not been at the log end for
replica.lag.time.max.ms leaves the ISR, and one that has reached the high watermark and the start
of the leader epoch joins it (KIP-497). Each broker acts on its own copy of the metadata. A
follower copies at once unless it has a `Pace`. Does not know requests, groups, or how the
controller decides.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import NamedTuple

from coordinator.base.deadlines import Deadlines

from ..storage.replica_log import ReplicaLog
from .model import Cluster, Partition
from .network import HostState, Network
from .replication_throttles import LOOK_AGAIN_MS, Throttles

TopicPartition = tuple[str, int]
_LOOKS = 128
"""The number of partitions that are checked in one slice."""
_CHUNK_BYTES = 65_536
"""The number of bytes that a follower with a limited rate copies at a time."""


class Pace(NamedTuple):
    """Slowness of a follower: its delay in ms, and its bytes per second (None: unlimited)."""

    delay_ms: int = 0
    bytes_per_second: int | None = None

    def step_ms(self, size: int) -> int:
        """Return the time in ms to copy `size` bytes."""
        return self.delay_ms + (
            0 if not self.bytes_per_second else max(1, size * 1000 // self.bytes_per_second)
        )


class Proposal(NamedTuple):
    """A leader's proposal of an ISR to the controller (AlterPartition), with its epochs."""

    leader: int
    topic: str
    partition: int
    isr: list[int]
    leader_epoch: int
    partition_epoch: int
    reason: str


class Follower:
    """A leader's view of one follower. `log_end` -1: it has not fetched in this leader epoch yet."""

    __slots__ = ("arrives_ms", "lagging_since", "log_end")

    def __init__(self) -> None:
        self.log_end = -1
        self.lagging_since: int | None = None
        self.arrives_ms: int | None = None


class Leadership:
    """A broker's belief that it leads a partition. `start_offset`: the first offset of its leader
    epoch.
    """

    __slots__ = ("asks_again_ms", "followers", "leader", "leader_epoch", "start_offset")

    def __init__(self, leader: int, leader_epoch: int, start_offset: int) -> None:
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.followers: dict[int, Follower] = {}
        self.asks_again_ms: int | None = None  # its proposal was refused


class Replication:
    """Replication of all partitions of a cluster. `images`: each broker's copy of the metadata,
    with its logs.

    Callbacks: `propose` asks the controller for an ISR and returns whether it was granted;
    `advanced` is called when a broker's high watermark rises or a follower's log start offset
    moves; `progressed` with the log end offset and lag of each replica that is being added;
    `followed` when a follower's log needs its cleaner or its log start offset moved.
    """

    def __init__(
        self,
        images: Mapping[int, Cluster],
        network: Network,
        *,
        lag_max_ms: int,
        propose: Callable[[Proposal, int], bool],
        advanced: Callable[[int, str, int, int], None],
        progressed: Callable[
            [str, int, dict[int, tuple[int, int]], int], None
        ] = lambda _topic, _index, _replicas, _now: None,
        followed: Callable[[int, str, int, int], None] = lambda _broker, _topic, _index, _now: None,
    ) -> None:
        self.paces: dict[int, Pace] = {}
        self._throttles = Throttles(images)
        self._images = images
        self._network = network
        self._lag_max_ms = lag_max_ms
        self._propose = propose
        self._advanced = advanced
        self._progressed = progressed
        self._followed = followed
        self._led: dict[TopicPartition, dict[int, Leadership]] = {}
        self._deadlines: Deadlines[TopicPartition] = Deadlines()
        self.waiting: OrderedDict[TopicPartition, bool] = OrderedDict()
        """The partitions that are to be looked at. True: something changed; False: only time
        passed."""
        self._running = False

    # -- what others tell

    def mark(self, topic: str, index: int) -> None:
        """Let the next `run` look at a partition that changed."""
        self.waiting[topic, index] = True

    def mark_all(self) -> None:
        """Let the next `run` look at all partitions, after a change of hosts or links."""
        self.waiting.update(dict.fromkeys(self._led, True))

    def set_pace(self, broker: int, pace: Pace | None) -> None:
        """Set a follower's pace; None: it copies at once."""
        if pace is None:
            self.paces.pop(broker, None)
        else:
            self.paces[broker] = pace
        self.mark_all()

    def restarted(self, broker: int, now_ms: int, expiration_ms: int) -> None:
        """Drop what a restarted broker knew as leader or follower; its logs read their producers'
        state again (`ReplicaLog.restarted`).
        """
        for topic in self._images[broker].topics.values():
            for partition in topic.partitions:
                if broker in partition.replicas:
                    assert isinstance(partition.log, ReplicaLog)
                    partition.log.restarted(now_ms, expiration_ms)
        for leaderships in self._led.values():
            leaderships.pop(broker, None)
        self.mark_all()

    def run(self, now: int, *, whole: bool = False) -> None:
        """Process the marked partitions until nothing changes. Beyond a bounded number the rest is
        due in the next tick, unless `whole`.
        """
        if self._running:
            return
        self._running = True
        try:
            left = _LOOKS
            while self.waiting and left:
                partition, changed = self.waiting.popitem(last=False)
                self._look(partition, now, changed=changed)
                left -= not whole
        finally:
            self._running = False

    @property
    def has_many(self) -> bool:
        """True if more partitions are marked than one run processes."""
        return len(self.waiting) > _LOOKS

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, 0 if partitions are marked, or None."""
        return 0 if self.waiting else self._deadlines.next()

    def tick(self, now: int) -> None:
        """Run what is due: delayed followers copy, and followers that lag too long leave the ISR."""
        for partition in list(self._deadlines.due(now)):
            self.waiting.setdefault(partition, False)
        self.run(now)

    def follower(self, leader: int, topic: str, index: int, broker: int) -> Follower | None:
        """Return a leader's view of a follower, or None if that broker does not lead or does not
        know it.
        """
        leadership = self._led.get((topic, index), {}).get(leader)
        return None if leadership is None else leadership.followers.get(broker)

    def is_prompt(self, leader: int, broker: int) -> bool:
        """Return True if a follower copies the leader's records without delay."""
        return self._network.reaches(leader, broker) and broker not in self.paces

    def log_start(self, broker: int, topic: str, index: int) -> int | None:
        """Return the log start offset of a broker's replica, or None if it has none."""
        image = self._images.get(broker)
        own = None if image is None else image.partition(topic, index)
        return None if own is None else own.log.log_start_offset

    def low_watermark(self, leader: int, partition: Partition) -> int:
        """Return the least log start offset of the replicas whose brokers the leader believes to be
        alive (KIP-107).
        """
        starts = [partition.log.log_start_offset]
        for broker in partition.replicas:
            known = self._images[leader].brokers.get(broker)
            start = self.log_start(broker, partition.topic, partition.index)
            if known is not None and not known.fenced and start is not None:
                starts.append(start)
        return min(starts)

    def is_unsure(self, leader: int, partition: Partition) -> bool:
        """Return True if a new leader's high watermark has not reached the start of its leader
        epoch: earlier records may be committed (KIP-207).
        """
        leadership = self._led.get((partition.topic, partition.index), {}).get(leader)
        return leadership is not None and partition.log.high_watermark < leadership.start_offset

    # -- one partition

    def _look(self, at: TopicPartition, now: int, *, changed: bool) -> None:
        leaderships = self._led.setdefault(at, {})
        if len(self._images) == 1 and self._look_at_only_replica(at, leaderships, now):
            return
        deadlines = []
        for broker, image in self._images.items():
            partition = image.partition(*at)
            if (
                partition is None
                or partition.leader != broker
                or self._network.hosts[broker] is HostState.STOPPED
            ):
                leaderships.pop(broker, None)
                continue
            log = partition.log
            assert isinstance(log, ReplicaLog), at
            leadership = leaderships.get(broker)
            if leadership is None or leadership.leader_epoch != partition.leader_epoch:
                log.assign_epoch(partition.leader_epoch)
                leadership = leaderships[broker] = Leadership(
                    broker, partition.leader_epoch, log.log_end_offset
                )
            if changed:
                leadership.asks_again_ms = None
            deadline = self._lead(leadership, partition, log, now)
            if deadline is not None:
                deadlines.append(deadline)
        if not leaderships and all(image.partition(*at) is None for image in self._images.values()):
            del self._led[at]
        if deadlines:
            self._deadlines.arm(at, min(deadlines))
        else:
            self._deadlines.cancel(at)

    def _look_at_only_replica(
        self, at: TopicPartition, leaderships: dict[int, Leadership], now: int
    ) -> bool:
        """Process a partition with a single replica, whose records are committed when written;
        return False if the partition is not of this kind.
        """
        ((broker, image),) = self._images.items()
        partition, leadership = image.partition(*at), leaderships.get(broker)
        if (
            leadership is None
            or partition is None
            or partition.leader != broker
            or partition.leader_epoch != leadership.leader_epoch
            or leadership.followers
            or len(partition.replicas) != 1
            or len(partition.isr) != 1
            or partition.adding
            or self._network.hosts[broker] is not HostState.RUNNING
        ):
            return False
        log = partition.log
        assert isinstance(log, ReplicaLog), at
        if log.log_end_offset > log.committed:
            log.committed = log.log_end_offset
            self._advanced(broker, *at, now)
        return True

    def _lead(
        self, leadership: Leadership, partition: Partition, log: ReplicaLog, now: int
    ) -> int | None:
        """Let followers copy, advance the high watermark, propose an ISR. Return the instant of the
        next look, or None.
        """
        deadlines: list[int] = []
        for broker in partition.replicas:
            if broker != leadership.leader:
                follower = leadership.followers.get(broker)
                if follower is None:
                    follower = leadership.followers[broker] = Follower()
                self._follow(leadership, follower, broker, partition, log, now)
        if not self._network.running(leadership.leader):
            return None  # it looks again when it goes on
        self._advance(leadership, partition, log, now)
        if partition.adding:
            self._tell_progress(leadership, partition, log, now)
        for broker, follower in leadership.followers.items():
            if follower.arrives_ms is not None:
                deadlines.append(follower.arrives_ms)
            if broker in partition.isr and follower.lagging_since is not None:
                deadlines.append(follower.lagging_since + self._lag_max_ms)
        again = self._ask(leadership, partition, log, now)
        if again is not None:
            deadlines = [again, *(at for at in deadlines if at > now)]
        return min(deadlines, default=None)

    def _tell_progress(
        self, leadership: Leadership, partition: Partition, log: ReplicaLog, now: int
    ) -> None:
        ends = {
            node: max(0, leadership.followers[node].log_end)
            for node in partition.adding
            if node in leadership.followers
        }
        if any(end < log.log_end_offset for end in ends.values()):
            self._progressed(
                partition.topic,
                partition.index,
                {node: (end, log.log_end_offset - end) for node, end in ends.items()},
                now,
            )

    def _follow(
        self,
        leadership: Leadership,
        follower: Follower,
        broker: int,
        partition: Partition,
        log: ReplicaLog,
        now: int,
    ) -> None:
        own = self._replica(broker, leadership, partition)
        if own is None:
            follower.arrives_ms = None
            if follower.lagging_since is None:
                follower.lagging_since = now
            return
        pace, rates = (
            self.paces.get(broker),
            self._throttles.in_force(leadership.leader, broker, partition),
        )
        complete = own.log_end_offset == log.log_end_offset and own.last_epoch == log.last_epoch
        held_ms = self._throttles.wait_ms(rates, now, complete=complete) if rates else 0
        if held_ms == 0 and (
            pace is None or (follower.arrives_ms is not None and follower.arrives_ms <= now)
        ):
            whole = not rates and (pace is None or pace.bytes_per_second is None)
            start = own.log_start_offset
            copied = self._copy(own, log, None if whole else _CHUNK_BYTES)
            if own.log_start_offset != start:
                self._advanced(leadership.leader, partition.topic, partition.index, now)
            if own.log_start_offset != start or (copied and own.calls_cleaner):
                self._followed(broker, partition.topic, partition.index, now)
            if rates:
                self._throttles.spend(rates, copied, now)
                held_ms = self._throttles.wait_ms(rates, now)
            follower.arrives_ms = None
            follower.log_end = own.log_end_offset
        behind = follower.log_end < log.log_end_offset
        if not behind:
            follower.lagging_since = None
        elif follower.lagging_since is None:
            follower.lagging_since = now
        if (
            held_ms
            and behind
            and (pace is None or (follower.arrives_ms is not None and follower.arrives_ms <= now))
        ):
            follower.arrives_ms = now + min(held_ms, LOOK_AGAIN_MS)
        elif (
            pace is not None
            and follower.arrives_ms is None
            and (
                behind
                or own.committed < log.committed
                or own.log_start_offset < log.log_start_offset
            )
        ):
            left = log.bytes_from(own.log_end_offset) if behind else 0
            follower.arrives_ms = now + max(1, pace.step_ms(min(left, _CHUNK_BYTES)))
        elif pace is None and behind and follower.arrives_ms is None:
            follower.arrives_ms = now + 1

    def _copy(self, own: ReplicaLog, log: ReplicaLog, most: int | None) -> int:
        copied = 0
        if own.log_end_offset != log.log_end_offset or own.last_epoch != log.last_epoch:
            own.truncate(own.diverges_at(log))
            copied = own.follow(log, most)
        own.committed = max(own.committed, min(log.committed, own.log_end_offset))
        if own.log_start_offset < log.log_start_offset <= own.committed:
            own.delete_records(
                log.log_start_offset
            )  # DeleteRecords moved the leader's start (KIP-107)
        return copied

    def _replica(
        self, broker: int, leadership: Leadership, partition: Partition
    ) -> ReplicaLog | None:
        """Return a follower's log if it can fetch from this leader now: both run, reach each other,
        and agree on leader and leader epoch. Else return None.
        """
        if not self._network.reaches(leadership.leader, broker):
            return None
        own = self._images[broker].partition(partition.topic, partition.index)
        if (
            own is None
            or own.leader != leadership.leader
            or own.leader_epoch != partition.leader_epoch
        ):
            return None
        if broker not in own.replicas:
            return None
        assert isinstance(own.log, ReplicaLog)
        return own.log

    def _advance(
        self, leadership: Leadership, partition: Partition, log: ReplicaLog, now: int
    ) -> None:
        """Raise the high watermark to the least log end offset of the ISR, if the ISR is large
        enough.
        """
        topic = self._images[leadership.leader].topics[partition.topic]
        if len(partition.isr) < min(
            topic.effective_int("min.insync.replicas"), len(partition.replicas)
        ):
            return
        ends = [
            leadership.followers[node].log_end
            for node in partition.isr
            if node != leadership.leader
        ]
        reached = min(ends, default=log.log_end_offset)
        reached = min(reached, log.log_end_offset)
        if reached <= log.committed:
            return
        log.committed = reached
        self._advanced(leadership.leader, partition.topic, partition.index, now)
        for broker, follower in leadership.followers.items():
            own = self._replica(broker, leadership, partition)
            if own is not None and broker in self.paces:  # it learns of it with its next fetch
                follower.arrives_ms = follower.arrives_ms or now + max(
                    1, self.paces[broker].delay_ms
                )
            elif own is not None:
                before, own.committed = (
                    own.committed,
                    max(own.committed, min(reached, own.log_end_offset)),
                )
                if own.committed > before:
                    self._advanced(broker, partition.topic, partition.index, now)

    def _ask(
        self, leadership: Leadership, partition: Partition, log: ReplicaLog, now: int
    ) -> int | None:
        """Propose the ISR that fits the followers' state. If the controller does not grant it,
        return the instant of the next attempt.
        """
        if leadership.asks_again_ms is not None and now < leadership.asks_again_ms:
            return leadership.asks_again_ms
        leadership.asks_again_ms = None
        behind = {
            node
            for node, follower in leadership.followers.items()
            if follower.lagging_since is not None
            and now - follower.lagging_since >= self._lag_max_ms
        }
        late = [node for node in partition.isr if node in behind]
        nodes = self._images[leadership.leader].brokers
        caught_up = [
            node
            for node, follower in leadership.followers.items()
            if node not in partition.isr
            and node not in behind
            and node in partition.replicas
            and node in nodes
            and nodes[node].active
            and follower.log_end >= max(log.committed, leadership.start_offset)
            and self._replica(node, leadership, partition) is not None
        ]
        if not late and not caught_up:
            return None
        isr = [node for node in partition.isr if node not in late]
        if late:
            reason = f"{_text(late)} did not keep up for {self._lag_max_ms} ms"
        else:
            isr = sorted([*isr, caught_up[0]])  # ascending once it grew, as seen on 4.4.0
            reason = f"{caught_up[0]} caught up"
        granted = self._propose(
            Proposal(
                leadership.leader,
                partition.topic,
                partition.index,
                isr,
                partition.leader_epoch,
                partition.partition_epoch,
                reason,
            ),
            now,
        )
        if granted:
            self.mark(partition.topic, partition.index)
            return None
        leadership.asks_again_ms = now + max(1, self._lag_max_ms // 2)
        return leadership.asks_again_ms


def _text(brokers: list[int]) -> str:
    return ", ".join(map(str, brokers))
