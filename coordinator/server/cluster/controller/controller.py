"""The controller: decides about brokers, topics and partitions, and applies its decisions to its
own `Cluster`.

Owns broker sessions, fencing, elections and the ISR. Every change is an event, applied here
first and then published; a refused request changes nothing; without a majority of the quorum
nothing is decided (`active`). With one broker the controller's cluster is the broker's own.
`reassignments` and `leaders` have the rules of their subjects. Does not know how events reach
brokers, partition logs, or wire formats.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events import cluster as ev

from ..evolve import evolve
from ..model import ELIGIBLE_REPLICAS, Cluster, Partition, Topic
from .many_changes import ManyChanges
from .partition_change import NO_LEADER, Election, Wanted, change, without_eligible
from .quorum import Quorum, Reaches
from .zookeeper import KRAFT, ZOOKEEPER, steps_of_end, steps_of_start

if TYPE_CHECKING:
    from ...security.quotas import TokenBucket

_MIN_ISR = "min.insync.replicas"
Publish = Callable[[ev.Event, int, "int | None"], "int | None"]
"""Takes an event, its instant and its cause in the log; answers its own number in the log."""


class ControllerSettings(NamedTuple):
    """Settings of the controller; durations in milliseconds, with Kafka's names beside them."""

    session_timeout_ms: int = 9_000  # broker.session.timeout.ms
    imbalance_check_ms: int = 300_000  # leader.imbalance.check.interval.seconds
    rebalances: bool = True  # auto.leader.rebalance.enable
    fetch_timeout_ms: int = 2_000  # controller.quorum.fetch.timeout.ms
    reassignments: str = KRAFT  # reassignment.controller, which is ours


class Controller:
    """The controller of a cluster. `cluster`: the newest metadata; `reaches`: whether two brokers
    can reach each other.
    """

    def __init__(
        self,
        cluster: Cluster,
        publish: Publish,
        *,
        settings: ControllerSettings | None = None,
        reaches: Reaches | None = None,
    ) -> None:
        self.cluster = cluster
        self.settings = settings or ControllerSettings()
        self.reaches: Reaches = reaches or (lambda _one, _other: True)
        self.quorum = Quorum(cluster.brokers, fetch_timeout_ms=self.settings.fetch_timeout_ms)
        self._publish = publish
        self._many = ManyChanges(cluster)
        self._sessions: dict[int, int] = {}  # brokers out of contact -> when their session ends
        self.held: set[int] = set()
        """Brokers that are fenced on purpose."""
        self._deletions: set[str] = (
            set()
        )  # topics that the older controller will delete when their reassignments have ended
        self._starting: dict[
            int, ev.BrokerRegistered
        ] = {}  # those that announced themselves while nobody could decide
        self._unclean: set[int] = set()  # of those: who was not shut down in good order
        self._rebalance_ms: int | None = None
        self.mutations: dict[Hashable, TokenBucket] = {}
        """Token buckets that limit clients' changes of topics, where there is a quota (KIP-599)."""
        self.enforcers: dict[int, Callable[[], None]] = {}
        """By broker, who is to know when client quotas were changed."""
        self.quotas_set = False
        """True if there has ever been a client quota."""

    @property
    def active(self) -> bool:
        """True if the controller can decide now: it exists and a majority of the quorum reaches it."""
        return self.quorum.can_act(self.reaches)

    @property
    def keeps_eligible(self) -> bool:
        """True if the cluster keeps eligible leader replicas (KIP-966)."""
        return self.cluster.features.get(ELIGIBLE_REPLICAS, 0) > 0

    @property
    def leader(self) -> int | None:
        """The id of the broker that is the controller, or None."""
        return self.quorum.leader

    def apply(self, event: ev.Event, now: int, cause: int | None = None) -> int | None:
        """Apply and publish one event; return its number in the event log."""
        evolve(self.cluster, event)
        return self._publish(event, now, cause)

    # -- topics: the caller has checked them (`server.topics`)

    def create_topic(
        self,
        name: str,
        *,
        topic_id: bytes,
        replicas: list[list[int]],
        configs: Mapping[str, str],
        now: int,
        cause: int | None = None,
    ) -> Topic:
        """Create a topic; all checks were made before."""
        self.apply(ev.TopicCreated(name, topic_id, replicas, dict(configs)), now, cause)
        return self.cluster.topics[name]

    def delete_topic(self, topic: Topic, now: int, cause: int | None = None) -> None:
        """Delete a topic and end its reassignments. The ZooKeeper-style controller postpones the
        deletion until the reassignments have ended.
        """
        if self.settings.reassignments == ZOOKEEPER and any(
            one.reassigning for one in topic.partitions
        ):
            self._deletions.add(topic.name)
            self.apply(ev.DeletionPostponed(topic.name), now, cause)
            return
        self.apply(ev.TopicDeleted(topic.name, topic.id, len(topic.partitions)), now, cause)

    def add_partitions(
        self, name: str, replicas: list[list[int]], now: int, cause: int | None = None
    ) -> None:
        """Add partitions with these replicas to a topic."""
        self.apply(
            ev.PartitionsAdded(name, len(self.cluster.topics[name].partitions), replicas),
            now,
            cause,
        )

    def configure_topic(
        self, name: str, configs: Mapping[str, str], now: int, cause: int | None = None
    ) -> None:
        """Replace a topic's own configuration values."""
        before = self.cluster.topics[name].configs.get(_MIN_ISR)
        self.apply(ev.TopicConfigured(name, dict(configs)), now, cause)
        if configs.get(_MIN_ISR) != before:
            self.forget_eligible([name], now, cause)
        if self.active and self._unclean_allowed(self.cluster.topics[name]):
            self._many.begin(
                None,
                [one for one in self.cluster.topics[name].partitions if one.leader == NO_LEADER],
                lambda one, at: self.change(one, "unclean leader election was enabled", at, cause),
                now,
            )

    def forget_eligible(self, topics: Iterable[str], now: int, cause: int | None = None) -> None:
        """Clear the eligible leader replicas of topics whose min.insync.replicas changed (KIP-966)."""
        if not self.keeps_eligible:
            return
        for name in topics:
            for partition in self.cluster.topics[name].partitions:
                event = without_eligible(partition, "min.insync.replicas was changed")
                if event is not None:
                    self.apply(event, now, cause)

    # -- brokers

    def register(
        self,
        broker: int,
        rack: str | None,
        endpoints: Mapping[str, tuple[str, int]],
        now: int,
        *,
        clean: bool = True,
        kafka_version: str = "",
    ) -> None:
        """Start the registration of a broker; it is admitted once the controller is reachable.
        `clean`: its last shutdown was controlled, or the broker is new.
        """
        node = self.cluster.brokers.get(broker)
        self._starting[broker] = ev.BrokerRegistered(
            broker, 1 if node is None else node.epoch + 1, rack, dict(endpoints), kafka_version
        )
        if not clean:
            self._unclean.add(broker)
        self.look(now)

    def look(self, now: int) -> None:
        """Follow a change of hosts or links: which brokers are in contact, admit starting brokers,
        start or stop session timers, elect a controller.
        """
        self.quorum.look(self.reaches, now)
        if not self.active:
            return
        for broker in list(self._starting):
            if self.in_contact(broker):
                self._admit(broker, now)
        for broker, node in list(self.cluster.brokers.items()):
            if self.in_contact(broker):
                self._sessions.pop(broker, None)
                if (
                    node.fenced
                    and broker not in self.held
                    and broker not in self._starting
                    and not self._many.concern(broker)
                ):
                    self._unfence(broker, now)
            elif not node.fenced:
                self._sessions.setdefault(broker, now + self.settings.session_timeout_ms)
        self._arm_rebalance(now)

    def in_contact(self, broker: int) -> bool:
        """Return True if a broker's heartbeats reach the controller."""
        return self.leader is not None and self.reaches(self.leader, broker)

    def start_shutdown(self, broker: int, now: int, cause: int | None = None) -> None:
        """Start a broker's controlled shutdown: its leaderships move away, and it leaves every ISR
        (KIP-841).
        """
        if self.active and self.in_contact(broker) and broker in self.cluster.brokers:
            self.apply(ev.BrokerShutdownStarted(broker), now, cause)
            self._leave_partitions(broker, f"broker {broker} shuts down", now, cause)

    def fence(
        self, broker: int, reason: str, now: int, cause: int | None = None, *, hold: bool = False
    ) -> None:
        """Fence a broker: it leads nothing and is in no ISR. `hold`: it stays fenced until
        `release`.
        """
        if hold:
            self.held.add(broker)
        self._sessions.pop(broker, None)
        node = self.cluster.brokers.get(broker)
        if node is not None and not node.fenced:
            self.apply(ev.BrokerFenced(broker, reason), now, cause)
            self._leave_partitions(broker, reason, now, cause)

    def unregister(self, broker: int, now: int, cause: int | None = None) -> None:
        """Remove a broker's registration: it leads nothing and is in no ISR, but stays in replica
        lists.
        """
        self._sessions.pop(broker, None)
        self.held.discard(broker)
        self.apply(ev.BrokerUnregistered(broker), now, cause)
        self._leave_partitions(broker, f"broker {broker} was unregistered", now, cause)

    def release(self, broker: int, now: int) -> None:
        """Let a broker that was fenced with `hold` be unfenced at its next heartbeat."""
        self.held.discard(broker)
        self.look(now)

    def _admit(self, broker: int, now: int) -> None:
        """Register a starting broker, once all changes of its former leaderships and ISRs are made."""
        node = self.cluster.brokers.get(broker)
        if node is not None and not node.fenced:
            self.fence(broker, f"broker {broker} was started again", now)
        if self._many.concern(broker):
            return
        self.apply(self._starting.pop(broker), now)
        if broker in self._unclean:
            self._unclean.discard(broker)
            self._many.begin(
                broker,
                [one for one in self._partitions() if broker in one.elr or broker in one.isr],
                lambda one, at: self.change(
                    one,
                    f"broker {broker} had an unclean shutdown",
                    at,
                    isr=[node for node in one.isr if node != broker],
                    unclean_shutdown=(broker,),
                ),
                now,
            )

    def _unfence(self, broker: int, now: int) -> None:
        self.apply(ev.BrokerUnfenced(broker), now)
        self._many.begin(
            broker,
            [
                one
                for one in self._partitions()
                if one.leader == NO_LEADER and broker in one.replicas
            ],
            lambda one, at: self.change(one, f"broker {broker} is back", at),
            now,
        )

    def _leave_partitions(self, broker: int, reason: str, now: int, cause: int | None) -> None:
        self._many.begin(
            broker,
            [one for one in self._partitions() if broker in one.isr or one.leader == broker],
            lambda one, at: self.change(
                one, reason, at, cause, isr=[node for node in one.isr if node != broker]
            ),
            now,
        )

    # -- partitions

    def change(
        self,
        partition: Partition,
        reason: str,
        now: int,
        cause: int | None = None,
        *,
        election: Election | None = None,
        isr: list[int] | None = None,
        replicas: list[int] | None = None,
        adding: list[int] | None = None,
        removing: list[int] | None = None,
        unclean_shutdown: Iterable[int] = (),
    ) -> ev.PartitionChanged | None:
        """Change a partition as given, and elect a leader if it needs one. Return the event, or
        None if nothing changed.
        """
        topic = self.cluster.topics[partition.topic]
        if election is None:
            election = Election.UNCLEAN if self._unclean_allowed(topic) else Election.ONLINE
        event = change(
            partition,
            Wanted(
                acceptable=self.acceptable,
                min_isr=topic.effective_int(_MIN_ISR),
                eligible=self.keeps_eligible,
                election=election,
                isr=isr,
                replicas=replicas,
                adding=adding,
                removing=removing,
                unclean_shutdown=unclean_shutdown,
            ),
            reason,
        )
        if event is not None:
            self._change(partition, event, now, cause)
            self._arm_rebalance(now, [partition])
        return event

    def _change(
        self, partition: Partition, event: ev.PartitionChanged, now: int, cause: int | None
    ) -> None:
        """Apply a partition change; the ZooKeeper-style controller starts and ends a reassignment
        in steps.
        """
        steps = {
            ev.PartitionChange.REASSIGNMENT_STARTED: lambda: steps_of_start(event),
            ev.PartitionChange.REASSIGNMENT_COMPLETED: lambda: steps_of_end(partition, event),
        }.get(event.what)
        if self.settings.reassignments == KRAFT or steps is None:
            self.apply(event, now, cause)
        else:
            for told in steps():
                self.apply(
                    ev.ReassignmentStep(event.topic, event.partition, told.step, told.text),
                    now,
                    cause,
                )
                if told.event is not None:
                    self.apply(told.event, now, cause)
        topic = self.cluster.topics[event.topic]
        if topic.name in self._deletions and not any(one.reassigning for one in topic.partitions):
            self._deletions.discard(topic.name)
            self.delete_topic(topic, now, cause)

    def elect_member(
        self, partition: Partition, broker: int, reason: str, now: int, cause: int | None = None
    ) -> None:
        """Make one replica of the ISR the leader, regardless of the preferred one."""
        event = change(
            partition,
            Wanted(
                acceptable=lambda node: node == broker and self.acceptable(node),
                min_isr=self.cluster.topics[partition.topic].effective_int(_MIN_ISR),
                eligible=self.keeps_eligible,
            ),
            reason,
        )
        if event is not None:
            self.apply(event, now, cause)
            self._arm_rebalance(now, [partition])

    def acceptable(self, broker: int) -> bool:
        """Return True if a broker may lead partitions."""
        node = self.cluster.brokers.get(broker)
        return node is not None and node.active

    def alter_isr(
        self,
        broker: int,
        partition: Partition,
        isr: list[int],
        leader_epoch: int,
        partition_epoch: int,
        now: int,
        *,
        reason: str,
    ) -> ErrorCode:
        """Handle a leader's AlterPartition (KIP-497, KIP-841). Return NONE if it was applied, else
        NOT_CONTROLLER, FENCED_LEADER_EPOCH, INVALID_UPDATE_VERSION or INELIGIBLE_REPLICA.
        """
        if not self.active or not self.in_contact(broker):
            return ErrorCode.NOT_CONTROLLER
        if partition.leader != broker or leader_epoch < partition.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if partition_epoch != partition.partition_epoch:
            return ErrorCode.INVALID_UPDATE_VERSION
        if any(node not in partition.replicas or not self.acceptable(node) for node in isr):
            return ErrorCode.INELIGIBLE_REPLICA
        self.change(partition, reason, now, isr=isr)
        return ErrorCode.NONE

    def _unclean_allowed(self, topic: Topic) -> bool:
        return topic.effective("unclean.leader.election.enable") is True

    def _partitions(self) -> Iterable[Partition]:
        return (
            partition for topic in self.cluster.topics.values() for partition in topic.partitions
        )

    # -- time

    @property
    def is_changing(self) -> bool:
        """True if partitions remain to be changed because of an earlier event."""
        return bool(self._many)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, 0 if partitions remain to be changed, or None."""
        if self._many and self.active:
            return 0
        first = min(self._sessions.values()) if self._sessions else None
        for at in (self.quorum.next_deadline(), self._rebalance_ms):
            if at is not None and (first is None or at < first):
                first = at
        return first

    def tick(self, now: int) -> None:
        """Run what is due: elect a controller, end sessions of silent brokers, move leaderships
        back to preferred replicas.
        """
        if self.next_deadline() is None and not self._many:
            return
        if self.quorum.tick(self.reaches, now):
            self.leader_changed(now)
        if not self.active:
            self._sessions.clear()
            self._rebalance_ms = None
            return
        if self._many:
            self._many.go_on(now)
            if not self._many:
                self.look(now)  # brokers may wait for that
        for broker in [broker for broker, at in self._sessions.items() if at <= now]:
            self.fence(
                broker,
                f"broker {broker} sent no heartbeat for {self.settings.session_timeout_ms} ms",
                now,
            )
        if self._rebalance_ms is not None and self._rebalance_ms <= now:
            self._rebalance_ms = None
            self._many.begin(
                None,
                filter(self._imbalanced, self._partitions()),
                lambda one, at: self.change(
                    one, "the preferred replica leads again", at, election=Election.PREFERRED
                ),
                now,
            )

    def leader_changed(self, now: int) -> None:
        """Follow a change of the quorum's leader: a new controller starts every broker's session
        anew.
        """
        self._sessions.clear()
        former = self.cluster.controller_id
        if self.leader is None:
            self._publish(
                ev.ControllerLost(former, "no majority of the brokers can be reached"), now, None
            )
            return
        self.apply(ev.ControllerElected(self.leader, self.quorum.epoch), now)
        self.look(now)

    def _imbalanced(self, partition: Partition) -> bool:
        preferred = partition.replicas[0]
        return (
            partition.leader not in (NO_LEADER, preferred)
            and preferred in partition.isr
            and self.acceptable(preferred)
        )

    def _arm_rebalance(self, now: int, changed: Iterable[Partition] | None = None) -> None:
        """Schedule the next leader rebalance, at Kafka's fixed interval, if a changed partition
        (None: any) is led by another than its preferred replica.
        """
        if (
            self._rebalance_ms is None
            and self.settings.rebalances
            and any(map(self._imbalanced, changed or self._partitions()))
        ):
            self._rebalance_ms = (
                now // self.settings.imbalance_check_ms + 1
            ) * self.settings.imbalance_check_ms
