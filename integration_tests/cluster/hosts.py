"""Three brokers of either kind, and what can be done to each: the real cluster as Java processes,
and the emulator's.

Owns the start and the end of both, with the same settings. Does not depend on what is asked of
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from coordinator import Emulator
from coordinator.kit.cluster import StartBroker, StopBroker
from integration_tests.java_cluster import QUICK_TO_NOTICE, RACKS, JavaCluster

SETTINGS: Final = {
    **QUICK_TO_NOTICE,
    "leader.imbalance.check.interval.seconds": "3600",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.max.session.timeout.ms": "600000",
    "group.consumer.session.timeout.ms": "600000",
    "group.share.assignment.interval.ms": "0",
    "group.share.max.session.timeout.ms": "600000",
    "group.share.session.timeout.ms": "600000",
    "share.coordinator.state.topic.num.partitions": "4",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}
"""Consumers that name their rack may read from followers (KIP-392). No leader moves by itself in
the midst of a scenario, each heartbeat that wants a new assignment gets it, and no
member's session ends while a broker is slow to start."""
MISSED_S: Final = 2.5
"""Longer than a broker's session, and than the voters wait for the leader of their quorum."""


WRITES_S: Final = 5.5
"""Longer than offsets.commit.timeout.ms."""


class Hosts(Protocol):
    """Three brokers, 1 to 3."""

    @property
    def bootstrap_servers(self) -> str:
        """Their addresses in the order of their ids, comma-separated."""

    def stop_broker(self, node: int) -> None:
        """A controlled shutdown, to its end."""

    def crash_broker(self, node: int) -> None:
        """kill -9."""

    def pause_brokers(self, *nodes: int) -> None:
        """They stand still at the same time, their connections open."""

    def resume_broker(self, node: int) -> None:
        """It goes on."""

    def start_broker(self, node: int) -> None:
        """Start a broker that was stopped or has crashed, where it was."""

    def writes_time_out(self) -> None:
        """Coordinators give up what they wait for: that a write is replicated
        (offsets.commit.timeout.ms, five seconds)."""


class EmulatorHosts:
    """The brokers of an emulator. Its clock jumps over the time until a broker that is gone is
    missed."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator

    def _missed(self) -> None:
        self._emulator.advance(MISSED_S, grace=0)

    @property
    def bootstrap_servers(self) -> str:
        """Their addresses."""
        return self._emulator.bootstrap_servers

    def stop_broker(self, node: int) -> None:
        """A controlled shutdown."""
        self._emulator.control(StopBroker(node, "controlled"))

    def crash_broker(self, node: int) -> None:
        """As kill -9."""
        self._emulator.control(StopBroker(node, "crash"))
        self._missed()

    def pause_brokers(self, *nodes: int) -> None:
        """As SIGSTOP."""
        for node in nodes:
            self._emulator.control(StopBroker(node, "pause"))
        self._missed()

    def resume_broker(self, node: int) -> None:
        """As SIGCONT."""
        self._emulator.control(StartBroker(node))

    def start_broker(self, node: int) -> None:
        """Start it again."""
        self._emulator.control(StartBroker(node))

    def writes_time_out(self) -> None:
        """The clock jumps over offsets.commit.timeout.ms."""
        self._emulator.advance(WRITES_S, grace=0)


@contextmanager
def real_cluster() -> Iterator[Hosts]:
    """Three plain Java brokers. Raises NoJavaError, BrokerError."""
    with JavaCluster(SETTINGS) as cluster:
        yield cluster


@contextmanager
def emulated_cluster() -> Iterator[Hosts]:
    """Three brokers of an emulator."""
    # A real cluster lives longer: a scenario falls between two of its looks for old records.
    config = {**SETTINGS, "log.initial.task.delay.ms": "3600000"}
    with Emulator(brokers=3, racks=list(RACKS), config=config) as emulator:
        yield EmulatorHosts(emulator)
