"""The brokers of a cluster: delivery of the controller's events to them, and each broker's
reaction.

Owns each broker's copy of the metadata and the order of late work. An event reaches a broker
after `metadata_delay_ms`, in order, and not while the broker is stopped, paused or cut off from
the controller; a broker leads, follows and coordinates by its own copy. Does not depend on
sockets: `hosts_changed` tells a driver which listeners to close, freeze or open. Actions on
hosts are in `hosts`.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import uncollected
from coordinator.events import cluster as ev
from coordinator.events.cluster import ConfigChanged, ReassignmentProgressed, Replica

from ..broker import Broker
from ..build import TopicOption, new_group_coordinator, topic_maker
from ..client_links import ClientLinks
from ..cluster import CONSUMER_OFFSETS, BrokerNode, Cluster
from ..cluster.config_changes import Operation
from ..cluster.controller import Controller
from ..cluster.controller.controller import ControllerSettings
from ..cluster.evolve import evolve
from ..cluster.internal_topics import OFFSETS_CONFIGS
from ..cluster.model import SHARE_GROUP_STATE, TRANSACTION_STATE
from ..cluster.network import HostState, Network
from ..cluster.placement import place
from ..cluster.replication import Proposal, Replication
from ..fetching.parked import ParkedFetches
from ..requests.commit_gate import CommitGate
from ..shares.host import SharePeers
from ..storage.producers import ProducerIds
from ..storage.replica_log import ReplicaLog
from .broker_log import BrokerLog
from .coordinators import Coordinators
from .events_log import EventBody, OffsetsLog, ShareStatesLog, TransactionsLog
from .options import ClusterOptions
from .transactions import SharedTransactions

if TYPE_CHECKING:
    from ..requests.call import Call
    from ..settings.broker_configs import BrokerConfigs
    from ..storage.partition_log import PartitionLog

_PRODUCER_ID_BLOCK = 1_000


class _InFlight(NamedTuple):
    arrives_ms: int
    event: ev.Event
    cause: int | None


class Brokers:
    """All brokers of a cluster, by id. A restarted broker is a new `Broker` object."""

    def __init__(self, options: ClusterOptions) -> None:
        ids = range(1, len(options.configs) + 1)
        self.options = options
        self.log = options.log
        self.racks: dict[int, str | None] = dict(
            zip(ids, options.racks or [None] * len(ids), strict=True)
        )
        self.endpoints: dict[int, dict[str, tuple[str, int]]] = {node: {} for node in ids}
        self.configs: dict[int, BrokerConfigs] = dict(zip(ids, options.configs, strict=True))
        self.network = Network(ids)
        self.metadata_delay_ms = options.metadata_delay_ms
        self.hosts_changed: Callable[[int, HostState], None] = lambda _broker, _state: None
        self.unfenced: Callable[[int], None] = lambda _broker: (
            None
        )  # hears of a broker that learned that it was unfenced
        self.clocks: dict[int, int] = dict.fromkeys(ids, 0)
        """The milliseconds by which the wall clock of each broker's host has jumped."""
        self.images: dict[int, Cluster] = {node: self._cluster(node) for node in ids}
        self._in_flight: dict[int, deque[_InFlight]] = {node: deque() for node in ids}
        self._unseen: dict[int, dict[tuple[str, int], None]] = {node: {} for node in ids}
        """Partitions of which a broker has learned something, and has not acted on it."""
        self._delivering = False
        # how much brokers may still hear of in this piece of work, where it is much: new or changed
        # partitions
        self._room = 0
        self._next_producer_id = 0
        configs = self.configs[1]
        self.controller = Controller(
            self._cluster(None),
            self._publish,
            reaches=self.network.reaches,
            settings=ControllerSettings(
                session_timeout_ms=configs.get_int("broker.session.timeout.ms"),
                imbalance_check_ms=configs.get_int("leader.imbalance.check.interval.seconds")
                * 1000,
                rebalances=configs.get_bool("auto.leader.rebalance.enable"),
                fetch_timeout_ms=configs.get_int("controller.quorum.fetch.timeout.ms"),
                reassignments=configs.reassignment_controller,
            ),
        )
        self.replication = Replication(
            self.images,
            self.network,
            lag_max_ms=configs.get_int("replica.lag.time.max.ms"),
            propose=self._propose,
            advanced=self._advanced,
            progressed=self._progressed,
            followed=self._followed,
        )
        self._progress_ms: dict[tuple[str, int], int] = {}
        self.brokers: dict[int, Broker] = {}
        self.transactions = SharedTransactions(self.brokers, self.network, self.log)
        self.share_peers = SharePeers(
            lambda one, other: (
                self.brokers[other]
                if other in self.brokers and self.network.reaches(one, other)
                else None
            ),
            _number_state,
            self._states_changed,
        )
        for each in self.configs.values():
            each.on_change(self.replication.mark_all)  # throttles may have changed
        self.coordinators = Coordinators(self.transactions, self.images, self.log)
        self._logs = {} if self.log is None else {node: BrokerLog(self.log, node) for node in ids}
        self.brokers.update((node, self.new_broker(node)) for node in ids)
        self._name_cluster()
        if self.log is not None:
            for node, rack in self.racks.items():
                release = self.configs[node].release.number
                self.log.append(ev.BrokerRegistered(node, 1, rack, {}, release), at_ms=0)
                self.log.append(ev.BrokerUnfenced(node), at_ms=0)
        self._configure_groups()
        self._create_first_topics()

    # -- making

    def _cluster(self, node: int | None) -> Cluster:
        """Return a copy of the metadata for a broker, with its replicas' logs, or for the
        controller (None), without logs.
        """

        def new_log(topic: str, index: int, replicas: list[int]) -> ReplicaLog:
            return (
                self._new_log(node, topic, index)
                if node is not None and node in replicas
                else _NO_LOG
            )

        nodes = [BrokerNode(each, rack, epoch=1) for each, rack in self.racks.items()]
        configs = self.configs[1 if node is None else node]
        return Cluster(
            cluster_id="", controller_id=1, brokers=nodes, configs=configs, new_log=new_log
        )

    def _new_log(self, node: int, topic: str, index: int) -> ReplicaLog:
        kind = _EVENTS.get(topic)
        return (
            ReplicaLog()
            if kind is None
            else kind(lambda body, end: self._written(node, topic, index, body, end))
        )

    def _written(self, node: int, topic: str, index: int, body: EventBody, end_offset: int) -> None:
        """Follow a batch that a broker's coordinator appended to an internal topic: replicate it,
        and let the request's answer wait for it.
        """
        if topic == CONSUMER_OFFSETS and node in self._logs:
            self._logs[node].appended = body
        self.replication.mark(topic, index)
        gate = self.brokers[node].groups.gate
        assert gate is not None
        gate.note(topic, index, end_offset)

    def _high_watermark(self, node: int, topic: str, index: int) -> int:
        partition = self.images[node].partition(topic, index)
        return 0 if partition is None else partition.log.high_watermark

    def _log_end(self, node: int, topic: str, index: int) -> int:
        partition = self.images[node].partition(topic, index)
        return 0 if partition is None else partition.log.log_end_offset

    def new_broker(self, node: int) -> Broker:
        """Return a broker as it starts: with its copy of the metadata and its logs, and nothing
        from memory.
        """
        configs = self.configs[node]
        broker = Broker(
            node_id=node,
            cluster=self.images[node],
            configs=configs,
            coordinator=new_group_coordinator(configs, self._logs.get(node), self.images[node]),
            parked_fetches=ParkedFetches(),
            random=self.options.random,
            epoch_ms=0,
            log=self.log,
            controller=self.controller,
            limits=self.options.limits,
        )
        broker.replication = self.replication
        broker.cooperation = self.transactions
        broker.share_peers = self.share_peers
        broker.topic_maker = topic_maker(broker)
        broker.groups.gate = CommitGate(
            answer=broker.parked.answer,
            timeout_ms=lambda topic, call: _write_timeout_ms(broker, topic, call),
            reached=lambda topic, index: self._high_watermark(node, topic, index),
            end=lambda topic, index: self._log_end(node, topic, index),
            replicate=self.replication.run,
            failed=broker.groups.write_failed,
        )
        broker.services.client_links = ClientLinks(broker, self.network.cut_clients(node))
        broker.configs_of_all = list(self.configs.values())
        broker.services.producer_ids = ProducerIds(block=self._next_block)
        self._follow_clock(broker)
        self.coordinators.begin(broker)
        return broker

    def set_clock(self, node: int, ahead_ms: int) -> None:
        """Set how many milliseconds the wall clock of a broker's host is ahead."""
        self.clocks[node] = ahead_ms
        self._follow_clock(self.brokers[node])
        self.brokers[node].services.clock_moved()

    def _follow_clock(self, broker: Broker) -> None:
        ahead_ms = self.clocks[broker.node_id]
        broker.epoch_ms, broker.coordinator.config.clock_ms = (
            self.options.epoch_ms + ahead_ms,
            ahead_ms,
        )

    def _next_block(self) -> range:
        """Return a block of unused producer ids."""
        first = self._next_producer_id
        self._next_producer_id += _PRODUCER_ID_BLOCK
        return range(first, self._next_producer_id)

    def _name_cluster(self) -> None:
        drawn = self.brokers[1].fresh_name()
        truth = self.controller.cluster
        truth.cluster_id = self.options.cluster_id or drawn
        for image in self.images.values():
            image.cluster_id = truth.cluster_id
            # What no broker acts on is not copied: these are the same for all at once.
            image.group_configs, image.client_metrics = truth.group_configs, truth.client_metrics
            image.client_quotas, image.scram_credentials = (
                truth.client_quotas,
                truth.scram_credentials,
            )

    def _configure_groups(self) -> None:
        for name, settings in self.options.groups.items():
            self.controller.cluster.group_configs[name] = dict(settings)
            if self.log is not None:
                changes = tuple((key, int(Operation.SET), value) for key, value in settings.items())
                self.log.append(ConfigChanged("group", name, True, changes), at_ms=0)

    def _create_first_topics(self) -> None:
        configs, nodes = self.configs[1], self.controller.cluster.brokers.values()
        count = len(nodes)
        offsets = TopicOption(CONSUMER_OFFSETS, configs.get_int("offsets.topic.num.partitions"))
        for name, partitions in (offsets, *self.options.topics):
            internal = name == CONSUMER_OFFSETS
            factor = configs.get_int(
                "offsets.topic.replication.factor" if internal else "default.replication.factor"
            )
            wanted = configs.get_int("num.partitions") if partitions is None else partitions
            self.controller.create_topic(
                name,
                topic_id=self.brokers[1].fresh_uuid(),
                replicas=place(wanted, min(factor, count), nodes, self.options.random),
                configs=OFFSETS_CONFIGS if internal else {},
                now=0,
            )
        self._room = sys.maxsize
        self.deliver(0)
        self._room = 0
        self.replication.run(0, whole=True)

    # -- the metadata's way to the brokers

    def _publish(self, event: ev.Event, now: int, cause: int | None) -> int | None:
        seq = None
        if self.log is not None and not isinstance(event, ev.TopicConfigured):
            seq = self.log.append(event, at_ms=now, cause=cause)
        for waiting in self._in_flight.values():
            waiting.append(
                _InFlight(now + self.metadata_delay_ms, event, cause if seq is None else seq)
            )
        self.deliver(now)
        return seq

    def deliver(self, now: int) -> None:
        """Deliver the events that have reached brokers by now. Large amounts are spread over ticks,
        which are then due at once: a topic with many partitions reaches one broker in each tick.
        """
        if self._delivering or not any(self._in_flight.values()):
            return
        self._delivering = True
        try:
            while sum(
                self._deliver_next(node, now) for node in self.images
            ):  # each event to all before the next one
                pass
        finally:
            self._delivering = False

    def _deliver_next(self, node: int, now: int) -> bool:
        waiting = self._in_flight[node]
        if not waiting or waiting[0].arrives_ms > now or not self.controller.in_contact(node):
            return False
        event, cause = waiting[0].event, waiting[0].cause
        weight = ev.weight(event)
        if weight > _MANY_PARTITIONS or len(waiting) > _MANY_PARTITIONS:
            if self._room <= 0:
                return False
            self._room -= weight
        waiting.popleft()
        uncollected(evolve, self.images[node], event)  # partitions are many objects, and stay
        self._learned(node, event, now, cause)
        if (
            not waiting or waiting[0].arrives_ms > now
        ):  # who catches up acts on what holds in the end, as Kafka's brokers do
            unseen, self._unseen[node] = self._unseen[node], {}
            for topic, index in unseen:
                self.coordinators.look(self.brokers[node], topic, index, now)
        return True

    def _learned(self, node: int, event: ev.Event, now: int, cause: int | None) -> None:
        """React to a change in a broker's copy of the metadata: what it leads, follows and
        coordinates.
        """
        broker = self.brokers[node]
        match event:
            case ev.PartitionChanged():
                partition = self.images[node].partition(event.topic, event.partition)
                assert partition is not None
                if node in partition.replicas and partition.log is _NO_LOG:
                    partition.log = self._new_log(node, event.topic, event.partition)
                elif node not in partition.replicas:
                    partition.log = _NO_LOG
                self.replication.mark(event.topic, event.partition)
                self._unseen[node][event.topic, event.partition] = None
            case ev.TopicCreated() | ev.PartitionsAdded():
                first = event.first if isinstance(event, ev.PartitionsAdded) else 0
                for index in range(first, first + len(event.replicas)):
                    self.replication.mark(event.topic, index)
                    self._unseen[node][event.topic, index] = None
            case ev.TopicConfigured():
                for index in range(len(self.images[node].topics[event.topic].partitions)):
                    self.replication.mark(event.topic, index)
            case ev.BrokerUnfenced() | ev.BrokerFenced() | ev.BrokerShutdownStarted():
                self.replication.mark_all()
                if event == ev.BrokerUnfenced(node):
                    self.unfenced(node)
        broker.metadata_changed(event, now, cause)

    # -- replication

    def _propose(self, proposal: Proposal, now: int) -> bool:
        partition = self.controller.cluster.partition(proposal.topic, proposal.partition)
        return (
            partition is not None
            and self.controller.alter_isr(
                proposal.leader,
                partition,
                proposal.isr,
                proposal.leader_epoch,
                proposal.partition_epoch,
                now,
                reason=proposal.reason,
            )
            is ErrorCode.NONE
        )

    def _advanced(self, node: int, topic: str, index: int, now: int) -> None:
        broker = self.brokers[node]
        broker.parked_fetches.wake(topic, index, now)
        if topic == SHARE_GROUP_STATE:
            self._states_changed()
        elif topic in _EVENTS and broker.groups.gate is not None:
            broker.groups.gate.advanced(now)

    def _followed(self, node: int, topic: str, index: int, now: int) -> None:
        """Let a follower's cleaner look at a log."""
        partition = self.images[node].partition(topic, index)
        assert partition is not None
        self.brokers[node].services.cleaning.appended(partition, now)

    def _states_changed(self) -> None:
        """Let every broker check whether writes of share states that it waits for are done."""
        for broker in self.brokers.values():
            broker.services.share_states_changed()

    def _progressed(
        self, topic: str, index: int, replicas: dict[int, tuple[int, int]], now: int
    ) -> None:
        """Log the progress of replicas that are being added to a partition, at most once a second."""
        last = self._progress_ms.get((topic, index))
        if self.log is not None and (last is None or now - last >= _PROGRESS_MS):
            self._progress_ms[topic, index] = now
            rows = [Replica(node, end, behind) for node, (end, behind) in replicas.items()]
            self.log.append(ReassignmentProgressed(topic, index, tuple(rows)), at_ms=now)

    # -- what drivers use

    @property
    def calm(self) -> bool:
        """True if all brokers run, reach each other and have the newest metadata, and no request
        fault is in force.
        """
        if not self.network.whole or self.controller.is_changing or any(self._in_flight.values()):
            return False
        return all(not broker.interceptors for broker in self.brokers.values())

    def look(self, now: int) -> None:
        """Follow a change of hosts or links: the controller, metadata delivery and replication."""
        self.controller.look(now)
        self.deliver(now)
        self.replication.mark_all()
        self.replication.run(now)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None if only a request can change anything."""
        return self._earliest(Broker.next_deadline)

    def wake_by(self) -> int | None:
        """Return an instant no later than `next_deadline` that is cheaper to compute: the latest
        instant at which a driver's timer must fire.
        """
        return self._earliest(Broker.wake_by)

    def only_looks(self, now: int) -> bool:
        """Return True if nothing is due but the periodic check for expired group data, which no
        client notices.
        """
        other = self._earliest(lambda broker: None if broker.only_looks(now) else now)
        return other is None or other > now

    def _earliest(self, of: Callable[[Broker], int | None]) -> int | None:
        first = self.controller.next_deadline()
        if (at := self.replication.next_deadline()) is not None and (first is None or at < first):
            first = at
        if (at := self.coordinators.next_deadline()) is not None and (first is None or at < first):
            first = at
        running, hosts = HostState.RUNNING, self.network.hosts
        for node, broker in self.brokers.items():
            if hosts[node] is running:
                if (at := of(broker)) is not None and (first is None or at < first):
                    first = at
                gate = broker.groups.gate
                if (
                    gate is not None
                    and gate.holds
                    and (at := gate.next_deadline()) is not None
                    and (first is None or at < first)
                ):
                    first = at
        for node, waiting in self._in_flight.items():
            if (
                waiting
                and (first is None or waiting[0].arrives_ms < first)
                and self.controller.in_contact(node)
            ):
                first = waiting[0].arrives_ms
        return first

    def tick(self, now: int) -> None:
        """Run the timers that are due, of the cluster and then of each running broker."""
        uncollected(self.controller.tick, now)
        self._room = _MANY_PARTITIONS
        self.deliver(now)
        self._room = min(self._room, 0)  # below 0: this tick has done enough
        if (due := self.replication.next_deadline()) is not None and due <= now:
            self._replicate(self.replication.tick, now)
        self.coordinators.tick(self.brokers, now)
        for node, broker in list(self.brokers.items()):
            if self.network.running(node):
                broker.tick(now)
                if broker.groups.gate is not None:
                    broker.groups.gate.tick(now)
        self.run_resumable(now)

    def run_resumable(self, now: int) -> None:
        """Let connections whose parked request was answered handle their next requests."""
        for events in self._in_flight.values():
            if events:
                self.deliver(now)
                break
        replication, running, hosts = self.replication, HostState.RUNNING, self.network.hosts
        if replication.waiting and not replication.has_many:  # else ticks go on with them
            self._replicate(replication.run, now)
        for node, broker in self.brokers.items():
            if hosts[node] is running:
                broker.run_resumable(now)
        if replication.waiting and not replication.has_many:
            self._replicate(replication.run, now)

    def _replicate(self, how: Callable[[int], None], now: int) -> None:
        if self._room >= 0:
            uncollected(how, now)

    def shut_down(self, now: int) -> None:
        """Answer the parked requests of all running brokers, as stopping brokers do."""
        for node, broker in self.brokers.items():
            if self.network.running(node):
                broker.groups.shut_down(now)

    def set_endpoints(self, node: int, endpoints: dict[str, tuple[str, int]]) -> None:
        """Set the addresses to advertise for a broker, whose listeners a driver has opened."""
        self.endpoints[node] = dict(endpoints)
        for cluster in (self.controller.cluster, *self.images.values()):
            cluster.brokers[node].endpoints = dict(endpoints)
            cluster.changed()


_EVENTS: dict[str, type[OffsetsLog | TransactionsLog | ShareStatesLog]] = {
    CONSUMER_OFFSETS: OffsetsLog,
    TRANSACTION_STATE: TransactionsLog,
    SHARE_GROUP_STATE: ShareStatesLog,
}
"""The internal topics, whose records are events."""
_PROGRESS_MS = 1_000
_MANY_PARTITIONS = 256
_NO_LOG = ReplicaLog()
"""In place of the log of a partition that a broker does not hold. Nothing is ever appended to it.
"""


def _number_state(log: PartitionLog, seq: int | None) -> None:
    """Record the event's number in the event log for the record that a share coordinator appended."""
    assert isinstance(log, ShareStatesLog), "only who holds a partition serves it"
    log.number(seq)


def _write_timeout_ms(broker: Broker, topic: str, call: Call | None) -> int:
    """Return how long a request's write to an internal topic may take to be replicated. `call`
    None: the request was parked before.
    """
    if topic == CONSUMER_OFFSETS:
        return broker.configs.get_int("offsets.commit.timeout.ms")
    return (
        broker.configs.get_int("request.timeout.ms")
        if call is None
        else broker.services.transactions.write_timeout_ms(call.message)
    )
