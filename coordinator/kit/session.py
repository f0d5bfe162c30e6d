"""The kit's state for a running emulator: faults, waits and members' activity. It is made when a
test first uses one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from coordinator.server.cluster.model import INTERNAL_TOPICS
from coordinator.server.shares.sessions import SessionKey

from .faults import FaultError
from .injection.fault_board import FaultBoard
from .injection.selector_fields import check_carried
from .journal import Records
from .reachable_brokers import Reach
from .thread_calls import Clock
from .views.group_snapshots import GroupSnapshot, TopicPartition
from .views.group_views import snapshot
from .waits.activity import Activity
from .waits.heartbeats import Heartbeats
from .waits.onlooker import Onlooker

if TYPE_CHECKING:
    from concurrent.futures import Future

    from coordinator.server.broker import Broker

    from .faults import Fault
    from .injection.engine import Active

_BEFORE_TOPICS = ("CreateTopics", "DescribeTopicPartitions", "Metadata")
"""APIs whose requests name topics that need not exist."""


class KitSession(Reach):
    """Faults, waits and activity of one emulator. Everything here is called between two requests.

    `brokers`: all brokers; `running` says whether the broker with an id runs. `clock`: the
    emulator's. `clients`: client ids with an open connection. `own`: member ids of the
    emulator's own peers, with the partitions that each took over. `paused`: those of them that
    are paused. `disconnect` closes all connections. `on_loop` returns True if the calling thread
    is the brokers' own, so that it must not wait. `failed_peers`: of a group, the peers that
    ended by a fault, and the fault, by client id. `end_peers` crashes all peers; their unread
    requests are discarded.
    """

    def __init__(
        self,
        brokers: Callable[[], list[Broker]],
        running: Callable[[int], bool],
        clock: Clock,
        seed: int,
        clients: Callable[[], set[str]],
        own: Callable[[], dict[str, frozenset[TopicPartition]]],
        paused: Callable[[], set[str]],
        disconnect: Callable[[], None],
        on_loop: Callable[[], bool],
        failed_peers: Callable[[str], dict[str, str]],
        end_peers: Callable[[], None],
    ) -> None:
        super().__init__(brokers, running, clock.now)
        self.clock = clock
        self.paused = paused
        self.disconnect = disconnect
        self.on_loop = on_loop
        self.failed_peers = failed_peers
        self.end_peers = end_peers
        self.faults = FaultBoard(brokers, seed)
        self.records: Records | None = None
        self.onlookers: dict[Future[Any], Onlooker] = {}
        """The onlooker of each wait for a group that does not exist."""
        self.clients = clients
        self._own = own
        self._activity: dict[int, tuple[Broker, Activity]] = {}
        self._heartbeats: dict[int, tuple[Broker, Heartbeats]] = {}

    def serving(self, group_id: str) -> Broker:
        """Return the broker that coordinates a group, or would."""
        for broker in self.brokers():
            if broker.coordinator.shard_of(group_id) is not None:
                return broker
        for broker in self.brokers():
            if not broker.coordinator.availability.error(
                broker.coordinator.partition_for(group_id)
            ):
                return broker
        running = [broker for broker in self.brokers() if self.is_up(broker)]
        return (running or self.brokers())[0]

    def group_ids(self) -> Iterable[str]:
        """Return all groups that have a coordinator."""
        return {group_id for broker in self.brokers() for group_id in broker.coordinator.groups}

    def group(self, group_id: str) -> GroupSnapshot:
        """Return the group as it is now."""
        clients, own = self.clients(), self._own()

        def acted(client_id: str, member_id: str, partition: TopicPartition, since_ms: int) -> bool:
            if member_id in own:
                return partition in own[member_id]
            return any(
                activity.acted(client_id, member_id, partition, since_ms)
                for _, activity in self._activity.values()
            )

        broker = self.serving(group_id)
        watched = self._heartbeats.get(broker.node_id)
        heard = (
            (lambda *_: False) if watched is None or watched[0] is not broker else watched[1].heard
        )
        return snapshot(
            broker,
            group_id,
            self.now(),
            acted,
            clients.__contains__,
            self.log_of,
            heard,
            self._reads,
        )

    def _reads(self, group_id: str, member_id: str, partition: TopicPartition) -> bool:
        """Return True if a share session of the member, at any broker, contains the partition."""
        topic, index = partition
        for broker in self.brokers():
            found = broker.cluster.topics.get(topic)
            session = broker.services.shares.sessions.get(SessionKey(group_id, member_id))
            if (
                found is not None
                and session is not None
                and (found.id, index) in session.partitions
            ):
                return True
        return False

    def add_fault(self, fault: Fault) -> Active:
        """Put a fault in force. Raises FaultError for one that no request can meet, such as one
        for an unknown topic. `missing_ok`: the topic or partition may be created later."""
        chosen = fault.selector
        check_carried(chosen)
        if (
            chosen.topic is not None
            and not fault.missing_ok
            and chosen.api not in _BEFORE_TOPICS
            and chosen.topic not in INTERNAL_TOPICS
        ):
            known = {
                name: topic
                for name, topic in self.any_broker().cluster.topics.items()
                if not topic.internal
            }
            why, found = "", known.get(chosen.topic)
            if found is None:
                why = f"topic {chosen.topic!r}: there is none; there are: {', '.join(known) or 'none'}"
            elif chosen.partition is not None and not 0 <= chosen.partition < len(found.partitions):
                why = f"partition {chosen.partition}: topic {found.name} has 0 to {len(found.partitions) - 1}"
            if why:
                raise FaultError(f"{why}. If it is to be made later, say missing_ok=True")
        return self.faults.add(fault)

    def watch_activity(self) -> None:
        """Begin to note what members fetch and commit."""
        for broker in self.brokers():
            known = self._activity.get(broker.node_id)
            if known is None or known[0] is not broker:
                activity = Activity(broker)
                self._activity[broker.node_id] = (broker, activity)
                broker.interceptors.insert(0, activity)

    def look_on(self, wait: Future[Any]) -> None:
        """Note what clients ask for until a wait is over."""
        if wait.done():
            return
        onlooker = self.onlookers[wait] = Onlooker(self.brokers())

        def end(wait: Future[Any]) -> None:
            onlooker.end()
            if not wait.cancelled():
                self.onlookers.pop(wait, None)

        wait.add_done_callback(end)

    def watch_heartbeats(self) -> None:
        """Begin to note which members send heartbeats."""
        for broker in self.brokers():
            known = self._heartbeats.get(broker.node_id)
            if known is None or known[0] is not broker:
                heartbeats = Heartbeats()
                self._heartbeats[broker.node_id] = (broker, heartbeats)
                broker.interceptors.insert(0, heartbeats)

    def check_partition(self, topic: str, index: int) -> None:
        """Raise ControlError, which names what exists, for a partition that does not exist."""
        from .topics import partition_of

        partition_of(self.any_broker(), topic, index)

    def most_members(self, group_id: str) -> int:
        """Return the highest number of members that a group may have, by the setting of its
        protocol; for a group without members the highest of all protocols."""
        broker = self.serving(group_id)
        kind = snapshot(
            broker, group_id, self.now(), lambda *_: False, lambda _: False, lambda _: None
        )
        names = {
            "classic": "group.max.size",
            "consumer": "group.consumer.max.size",
            "share": "group.share.max.size",
        }
        known = [names[kind.type]] if kind.members and kind.type in names else list(names.values())
        return max(broker.configs.get_int(name) for name in known)

    def partitions_of(self, topic: str) -> int | None:
        """Return the number of partitions of a topic, or None if it does not exist."""
        found = self.any_broker().cluster.topics.get(topic)
        return None if found is None else len(found.partitions)
