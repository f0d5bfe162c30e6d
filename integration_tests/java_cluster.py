"""Three real brokers without containers: a cluster of plain Java processes on loopback, each broker
a controller too.

Owns which broker is where, and what can be done to one: a controlled shutdown, a crash, a pause,
and a start. A broker keeps its port and its data over all of these. The settings are Kafka's own
but for those that make it notice a lost broker within seconds.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from integration_tests.java_broker import FOR_TESTS, JavaBroker, archive_classes
from tests.ports import kept_port

BROKERS: Final = (1, 2, 3)
RACKS: Final = ("a", "b", "c")
QUICK_TO_NOTICE: Final[Mapping[str, str]] = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "3000",
    "leader.imbalance.check.interval.seconds": "5",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
}
"""Settings of a cluster in which things happen while somebody waits."""


class JavaCluster:
    """Three brokers, 1 to 3, for as long as a `with` lasts.

    `config` is for all brokers, `each` for one broker by its id; `racks` in the order of the
    brokers. `version` is the exact release that they begin as, the reference unless given. Raises
    NoJavaError, BrokerError.
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        *,
        racks: Sequence[str] = RACKS,
        each: Mapping[int, Mapping[str, object]] | None = None,
        version: str | None = None,
    ) -> None:
        self._version = version
        voters = {node: f"127.0.0.1:{kept_port()}" for node in BROKERS}
        of_racks: dict[int, dict[str, object]] = {
            node: {"broker.rack": rack} for node, rack in zip(BROKERS, racks, strict=False)
        }
        common = {**FOR_TESTS, **QUICK_TO_NOTICE, **(config or {})}
        self.brokers = {
            node: JavaBroker(
                common | of_racks.get(node, {}) | dict((each or {}).get(node, {})),
                node=node,
                voters=voters,
                version=version,
            )
            for node in BROKERS
        }

    @property
    def bootstrap_servers(self) -> str:
        """All addresses, by broker, comma-separated."""
        return ",".join(broker.bootstrap_servers for broker in self.brokers.values())

    def start(self) -> Self:
        """Start all brokers, and wait until each knows the others."""
        archive_classes(self._version)
        try:
            for broker in self.brokers.values():
                broker.begin()
            self.await_all()
        except BaseException:
            self.stop()
            raise
        return self

    def await_all(self) -> None:
        """Wait until each broker knows all of them to be alive."""
        for broker in self.brokers.values():
            broker.await_brokers(set(BROKERS))

    def stop(self) -> None:
        """End all of them."""
        for broker in self.brokers.values():
            broker.halt(signal.SIGKILL)
            broker.stop()

    def logs(self) -> str:
        """What they wrote."""
        return "\n".join(
            f"--- broker {node}\n{broker.logs()[-4_000:]}" for node, broker in self.brokers.items()
        )

    # -- what can be done to a broker
    # -------------------------------------------------------------------------------

    def stop_broker(self, node: int) -> None:
        """A controlled shutdown."""
        self.brokers[node].halt()

    def crash_broker(self, node: int) -> None:
        """kill -9."""
        self.brokers[node].halt(signal.SIGKILL)

    def pause_brokers(self, *nodes: int) -> None:
        """They stand still, their connections open."""
        for node in nodes:
            self.brokers[node].pause()

    def resume_broker(self, node: int) -> None:
        """It goes on."""
        self.brokers[node].pause(False)

    def start_broker(self, node: int, version: str | None = None) -> None:
        """Start a broker that was stopped or has crashed, on its port and its data, as another
        exact release if one is given. Does not wait."""
        self.brokers[node].begin(version)

    def writes_time_out(self) -> None:
        """Nothing to do: offsets.commit.timeout.ms passes while the answers are awaited."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
