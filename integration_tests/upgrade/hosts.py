"""Three brokers of either kind that can be started as another release, or end when they are.

Owns how each kind is started, and how it is told that a release does not start. Does not depend on
what is asked of the brokers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from coordinator import Emulator
from coordinator.base.releases import release_named
from coordinator.kit.cluster import StartBroker, StopBroker
from coordinator.server.cluster_runtime import ClusterError
from coordinator.testing.readiness import live_brokers
from integration_tests.cluster.hosts import SETTINGS
from integration_tests.java_cluster import BROKERS, RACKS, JavaCluster

_WORDS: Final = re.compile(
    r"No MetadataVersion with feature level \d+"
    r"|Tried to apply FeatureLevelRecord FeatureLevelRecord\(.*\), but this controller only supports versions \d+-\d+"
)
_LIMIT_S: Final = 600.0


class UpgradeHosts(Protocol):
    """Three brokers, 1 to 3."""

    @property
    def bootstrap_servers(self) -> str:
        """Their addresses in the order of their ids, comma-separated."""

    def stop(self, node: int) -> None:
        """A controlled shutdown, to its end."""

    def start(self, node: int, release: str) -> str:
        """Start a stopped broker as a release; answers why it ended, "" if it runs."""


class EmulatedHosts:
    """The brokers of an emulator."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self.bootstrap_servers = emulator.bootstrap_servers

    def stop(self, node: int) -> None:
        """A controlled shutdown."""
        self._emulator.control(StopBroker(node, "controlled"))

    def start(self, node: int, release: str) -> str:
        """Start it as a release."""
        try:
            self._emulator.control(StartBroker(node, release))
        except ClusterError as error:
            found = _WORDS.search(str(error))
            return found[0] if found else str(error)
        return ""


class JavaHosts:
    """Plain Java brokers."""

    def __init__(self, cluster: JavaCluster) -> None:
        self._cluster = cluster
        self.bootstrap_servers = cluster.bootstrap_servers

    def stop(self, node: int) -> None:
        """A controlled shutdown."""
        self._cluster.stop_broker(node)

    def start(self, node: int, release: str) -> str:
        """Start it as a release, and wait until the others know it, or its process has ended."""
        broker, before = self._cluster.brokers[node], len(self._cluster.brokers[node].logs())
        self._cluster.start_broker(node, release_named(release).number)
        end = time.monotonic() + _LIMIT_S
        while live_brokers("127.0.0.1", broker.port) != set(BROKERS):
            if not broker.running:
                told = _WORDS.findall(broker.logs()[before:])
                return told[0] if told else "it ended"
            assert time.monotonic() < end, broker.logs()[before:]
            time.sleep(0.05)
        return ""


@contextmanager
def real_hosts(release: str) -> Iterator[UpgradeHosts]:
    """Three plain Java brokers of a release. Raises NoJavaError, BrokerError."""
    with JavaCluster(SETTINGS, version=release_named(release).number) as cluster:
        yield JavaHosts(cluster)


@contextmanager
def emulated_hosts(release: str) -> Iterator[UpgradeHosts]:
    """Three brokers of an emulator."""
    with Emulator(brokers=3, racks=list(RACKS), config=SETTINGS, kafka_version=release) as emulator:
        yield EmulatedHosts(emulator)
