"""Brokers as a client can reach them: which run, which one leads a partition, coordinates a group
or is the controller, and why none does.

The controller's view decides, not that of a broker that is cut off. Called between two requests;
this module must not know time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from coordinator.server.cluster.model import CONSUMER_OFFSETS
from coordinator.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

from .in_process_requests import ControlError, ask
from .waiting import WaitBoard

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.cluster import Partition
    from coordinator.server.storage.partition_log import PartitionLog

    from .views.group_snapshots import TopicPartition


class Reach:
    """The brokers of one emulator as clients reach them. `brokers`: all brokers. `running`: says
    whether the broker with an id runs. `now`: the brokers' clock. `waits`: waits of tests."""

    def __init__(
        self,
        brokers: Callable[[], list[Broker]],
        running: Callable[[int], bool],
        now: Callable[[], int],
    ) -> None:
        self.brokers = brokers
        self.running = running
        self.now = now
        self.waits = WaitBoard()

    def any_broker(self) -> Broker:
        """Return a running broker, preferably one in contact with the controller. Raises
        ControlError if none runs."""
        running = [broker for broker in self.brokers() if self.running(broker.node_id)]
        if not running:
            raise ControlError("no broker runs: start one")
        return next((each for each in running if each.reaches_controller), running[0])

    def running_broker(self, node: int) -> Broker | None:
        """Return the broker with this id, if it runs."""
        return next(
            (each for each in self.brokers() if each.node_id == node and self.is_up(each)), None
        )

    def is_up(self, broker: Broker) -> bool:
        """Return True if this broker object runs. A broker that was started again is another
        object."""
        return self.running(broker.node_id) and broker in self.brokers()

    def controlling(self) -> Broker | None:
        """Return a running broker that reaches the controller, or None."""
        return next(
            (each for each in self.brokers() if self.is_up(each) and each.reaches_controller), None
        )

    def about(self, node: int | None) -> str:
        """Return a phrase about which brokers run and, if `node` is a broker (-1: none), about
        that one."""
        running = [each.node_id for each in self.brokers() if self.is_up(each)]
        those = f"running are {', '.join(map(str, running)) or 'none'}"
        if node is None or node < 0 or node in running:
            return those
        return f"broker {node} does not run; {those}"

    def leader_of(self, topic: str, index: int) -> Broker:
        """Return the leader of a partition, if it runs and knows that it leads. Raises
        ControlError, which says why there is none."""
        lacking = self.unready(topic, index)
        if lacking:
            raise ControlError(lacking[0])
        found = self.any_broker().controller.cluster.partition(topic, index)
        leader = None if found is None else self.running_broker(found.leader)
        return leader or self.any_broker()

    def log_of(self, partition: TopicPartition) -> PartitionLog | None:
        """Return the log of a partition as readers see it: the leader's, even if the leader does
        not run; without a leader the longest replica. None if the partition does not exist."""
        brokers = {broker.node_id: broker for broker in self.brokers()}
        found = next(iter(brokers.values())).controller.cluster.partition(*partition)
        if found is None:
            return None
        nodes = [found.leader] if found.leader in brokers else found.replicas
        own = [brokers[node].cluster.partition(*partition) for node in nodes if node in brokers]
        logs = [each.log for each in own if each is not None]
        return max(logs, key=lambda log: log.high_watermark, default=None)

    def coordinator_of(self, group_id: str) -> Broker | None:
        """Return the broker that clients find as a group's coordinator, if it runs and serves
        the group; else None. An emulator's only broker is returned even if it does not serve the
        group: its response says so."""
        asked = self.any_broker()
        if asked.replication is None:
            return asked
        index = asked.coordinator.partition_for(group_id)
        found = asked.controller.cluster.partition(CONSUMER_OFFSETS, index)
        broker = None if found is None else self.running_broker(found.leader)
        if broker is None or broker.coordinator.availability.error(index):
            return None
        return broker

    def coordinating(self, transactional_id: str) -> Broker | None:
        """Return the coordinator of a transactional id, if it runs. The call creates Kafka's
        topic for transactions if necessary."""
        ask(
            self.any_broker(),
            FindCoordinatorRequest(key_type=1, coordinator_keys=[transactional_id]),
            FindCoordinatorResponse,
            self.now(),
        )
        return next(
            (
                broker
                for broker in self.brokers()
                if self.is_up(broker)
                and not broker.services.transactions.availability(transactional_id)
            ),
            None,
        )

    # -- who is missing

    def all_brokers_down(self) -> tuple[str, ...]:
        """Return the sentence that no broker runs, or nothing if one does."""
        if any(self.running(broker.node_id) for broker in self.brokers()):
            return ()
        return ("no broker runs",)

    def unready(
        self, topic: str, index: int, *, writing: bool = False, at_once: bool = False
    ) -> tuple[str, ...]:
        """Return why a client cannot read a partition now, or nothing if it can. With `writing`:
        why it cannot write to it with acks=all. With `at_once`: also why the response would have
        to wait for something else to happen."""
        if self.all_brokers_down():
            return self.all_brokers_down()
        found = self.any_broker().controller.cluster.partition(topic, index)
        if found is None:
            return ()  # who asks is told so by the broker
        leader, where = self.running_broker(found.leader), f"{topic}-{index}"
        replicas = f"in sync: {_listed(found.isr) or 'none'}; replicas: {_listed(found.replicas)}"
        if leader is None:
            return (f"{where} has no leader that runs ({self.about(found.leader)}; {replicas})",)
        own = leader.cluster.partition(topic, index)
        if own is None or own.leader != leader.node_id:
            why = f"broker {leader.node_id} does not know yet that it is the leader"
        else:
            why = self._unwritable(leader, own, at_once=at_once) if writing else ""
        return (f"{where}: {why} ({replicas})",) if why else ()

    def _unwritable(self, leader: Broker, own: Partition, *, at_once: bool) -> str:
        """Return why a leader cannot take records with acks=all, or "" if it can."""
        topic = leader.cluster.topics[own.topic]
        least = min(topic.effective_int("min.insync.replicas"), len(own.replicas))
        if len(own.isr) < least:
            return f"its leader {leader.node_id} accepts no records, because min.insync.replicas is {least}"
        followers = leader.replication
        if at_once and followers is not None:
            for node in own.isr:
                if node != leader.node_id and not followers.is_prompt(leader.node_id, node):
                    return f"broker {node} is in sync, but does not replicate at once: it is stopped, paused, cut off or slow"
        return ""

    def uncoordinated(self, group_id: str) -> tuple[str, ...]:
        """Return why a client cannot reach a group's coordinator now, or nothing if it can."""
        if self.all_brokers_down():
            return self.all_brokers_down()
        if self.coordinator_of(group_id) is not None:
            return ()
        return (f"group {group_id!r} has no coordinator that runs ({self.about(None)})",)

    def uncontrolled(self) -> tuple[str, ...]:
        """Return why a client cannot change a topic now, or nothing if it can."""
        if self.all_brokers_down():
            return self.all_brokers_down()
        if self.controlling() is not None:
            return ()
        return (f"no broker that runs reaches a controller ({self.about(None)})",)


def _listed(nodes: Iterable[int]) -> str:
    return ", ".join(map(str, nodes))
