"""Movement of coordinators: the leader of a partition of __consumer_offsets serves its groups, of
__transaction_state its transactional ids, of __share_group_state the states of share partitions.

Owns which broker serves which partitions now. A broker that learns that it leads a partition
loads it from its own copy of the log (ERR-7); one that learns that it no longer leads unloads it
(ERR-6). A broker that is cut off keeps serving what it believes to lead; what it writes is not
replicated, and is truncated when it follows its successor. Does not know why leaders move.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from coordinator.base.deadlines import Deadlines
from coordinator.core.shards.durable import DurableEvents
from coordinator.events.availability import LogTruncated

from ..cluster import CONSUMER_OFFSETS
from ..cluster.model import INTERNAL_TOPICS, SHARE_GROUP_STATE, TRANSACTION_STATE
from .events_log import EventBody, EventsLog, OffsetsLog

if TYPE_CHECKING:
    from coordinator.events import EventLog

    from ..broker import Broker
    from ..cluster import Cluster
    from .transactions import SharedTransactions


class Coordinators:
    """The coordinators of all brokers, by the partitions that they serve."""

    def __init__(
        self, transactions: SharedTransactions, images: Mapping[int, Cluster], log: EventLog | None
    ) -> None:
        self._images = images
        self._log = log
        self._lost_from: dict[tuple[str, int], int] = {}
        """Of partitions with events that were lost: the lowest offset of one."""
        self._transactions = transactions
        self._serving: dict[Broker, set[int]] = {}
        self.load_ms: dict[int, int] = {}
        """The least duration of a broker's loads, by its id."""
        self._loads: Deadlines[tuple[int, int]] = Deadlines()
        self._ended: dict[Broker, None] = {}
        """Brokers whose process has ended, with groups that are still to be unloaded."""

    def begin(self, broker: Broker) -> None:
        """Prepare a starting broker; it serves no partition until it leads one."""

        def durable(index: int) -> DurableEvents:
            partition = broker.cluster.partition(CONSUMER_OFFSETS, index)
            assert partition is not None
            assert isinstance(partition.log, OffsetsLog), "only who holds a partition serves it"
            return partition.log.durable

        broker.coordinator.share(durable)

    def restarts(self, node: int, now: int) -> None:
        """Finish the unload of a stopped broker's former process, before it starts again."""
        for broker in [broker for broker in self._ended if broker.node_id == node]:
            broker.groups.send_replies(broker.coordinator.finish_unload(now), now)
            del self._ended[broker]

    def look(self, broker: Broker, topic: str, index: int, now: int) -> None:
        """Load or unload a partition of an internal topic, after a change in the broker's metadata."""
        if topic not in INTERNAL_TOPICS:
            return
        partition = broker.cluster.partition(topic, index)
        leads = partition is not None and partition.leader == broker.node_id
        if leads:
            assert partition is not None
            partition.log.assign_epoch(partition.leader_epoch)
        if topic == TRANSACTION_STATE:
            self._look_at_transactions(broker, index, leads, now)
            return
        if topic == SHARE_GROUP_STATE:
            self._look_at_share_states(broker, index, leads, now)
            return
        serving = self._serving.setdefault(broker, set())
        if leads and index not in serving:
            serving.add(index)
            self._tell_lost(broker, topic, index, now)
            broker.groups.begin_load(index, self.load_ms.get(broker.node_id, 0), now)
        elif not leads and index in serving:
            serving.discard(index)
            broker.groups.unload(index, now)

    def _look_at_transactions(self, broker: Broker, index: int, leads: bool, now: int) -> None:
        if leads and not self._transactions.serves(broker, index):
            self._tell_lost(broker, TRANSACTION_STATE, index, now)
            self._transactions.begin_load(broker, index)
            load_ms = self.load_ms.get(broker.node_id, 0)
            if load_ms:
                self._loads.arm((broker.node_id, index), now + load_ms)
            else:
                self._transactions.load(broker, index)
        elif not leads and self._transactions.serves(broker, index):
            self._loads.cancel((broker.node_id, index))
            self._transactions.unload(broker, index)
            if broker.groups.gate is not None:
                broker.groups.gate.lost(TRANSACTION_STATE, index, now)

    def _look_at_share_states(self, broker: Broker, index: int, leads: bool, now: int) -> None:
        loads = broker.services.shares.states.loads
        assert loads is not None, "one of several brokers"
        if leads and not loads.is_served(index):
            self._tell_lost(broker, SHARE_GROUP_STATE, index, now)
            loads.begin(index, self.load_ms.get(broker.node_id, 0), now)
        elif not leads and loads.is_served(index):
            loads.unload(index, now)

    def _tell_lost(self, broker: Broker, topic: str, index: int, now: int) -> None:
        """While a broker loads a partition, log which events other copies have and its own does
        not, and which events count again.
        """
        own = broker.cluster.partition(topic, index)
        if self._log is None or own is None or not isinstance(own.log, EventsLog):
            return
        lost: list[EventBody] = []
        for image in self._images.values():
            other = image.partition(topic, index)
            if other is not None and other is not own and isinstance(other.log, EventsLog):
                diverges = other.log.diverges_at(own.log)
                lost += [body for body in other.log.bodies(diverges) if not body.lost]
                lost += self._dropped(other.log, own.log)
        lost += self._dropped(own.log, own.log)
        lost_from = self._lost_from.get((topic, index), own.log.log_end_offset)
        restored = [body for body in own.log.bodies(lost_from) if body.lost]
        for body in lost:
            body.lost = True
        for body in restored:
            body.lost = False
        if lost:
            self._lost_from[topic, index] = min(lost_from, *(body.stored.offset for body in lost))
        event = LogTruncated(topic, index, _numbers(lost), _numbers(restored))
        if event.lost or event.restored:
            self._log.coordinator_event(event, now, None, broker.node_id)

    def _dropped(self, log: EventsLog, own: EventsLog) -> list[EventBody]:
        """Return the batches that a copy has truncated and the loading broker's copy does not have."""
        dropped, log.dropped = log.dropped, []
        kept = {
            id(body)
            for body in own.bodies(
                min((body.stored.offset for body in dropped), default=own.log_end_offset)
            )
        }
        return [body for body in dropped if id(body) not in kept and not body.lost]

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        if not self._ended:
            return self._loads.next()
        instants = [broker.coordinator.next_deadline() for broker in self._ended]
        return min(
            (instant for instant in (self._loads.next(), *instants) if instant is not None),
            default=None,
        )

    def tick(self, brokers: Mapping[int, Broker], now: int) -> None:
        """Finish loads of transactional ids that are due (group loads are the broker's own), and
        continue the unloads of brokers whose process has ended, for nothing else drives them.
        """
        for broker in list(self._ended):
            broker.groups.send_replies(broker.coordinator.tick(now), now)
            if not broker.coordinator.is_unloading:
                del self._ended[broker]
        for node, index in self._loads.due(now):
            self._transactions.load(brokers[node], index)

    def stopped(self, broker: Broker, now: int) -> None:
        """Unload everything that a broker served whose process has ended, in slices."""
        serving = tuple(sorted(self._serving.pop(broker, ())))
        if serving:
            broker.groups.unload(serving, now)
        if broker.coordinator.is_unloading:
            self._ended.setdefault(broker)
        for index in self._transactions.loading(broker):
            self._loads.cancel((broker.node_id, index))
        self._transactions.stopped(broker)
        broker.services.shares_stopped(now)
        broker.loggers.reset()


def _numbers(bodies: list[EventBody]) -> tuple[int, ...]:
    return tuple(sorted({body.seq for body in bodies if body.seq is not None}))
