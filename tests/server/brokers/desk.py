"""A cluster without sockets: three brokers whose time is what the test says, and clients that put
bytes into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from coordinator.base.releases import NEWEST, release_named
from coordinator.events import EventLog
from coordinator.kit.cluster import Verb, perform
from coordinator.server.build import topic_options
from coordinator.server.cluster import Partition
from coordinator.server.cluster_runtime import Brokers, ClusterOptions, Hosts
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.server.broker.driver import Client

DEFAULTS = {
    "broker.session.timeout.ms": "2000",
    "default.replication.factor": "3",
    "offsets.topic.num.partitions": "4",
    "replica.lag.time.max.ms": "1000",
}


MOST_AT_ONCE = 1_000


class Cluster:
    """Brokers and their clock."""

    def __init__(
        self,
        topics: Iterable[str] = ("orders:2",),
        config: Mapping[str, str] | None = None,
        *,
        racks: Sequence[str | None] = (),
        brokers: int = 3,
        metadata_delay_ms: int = 0,
        release: str = NEWEST.name,
    ) -> None:
        self.now = 0
        self.log = EventLog(epoch_ms=1_000_000)
        configs = [
            BrokerConfigs(
                {**DEFAULTS, **(config or {})}, node_id=node, release=release_named(release)
            )
            for node in range(1, brokers + 1)
        ]
        self.runtime = Brokers(
            ClusterOptions(
                configs=configs,
                random=Random(1),
                epoch_ms=1_000_000,
                topics=topic_options(topics),
                racks=racks,
                log=self.log,
                metadata_delay_ms=metadata_delay_ms,
            )
        )
        self.hosts = Hosts(self.runtime)
        for node in range(1, brokers + 1):
            self.runtime.set_endpoints(node, {"PLAINTEXT": (f"host{node}", 9092)})
        self.truth = self.runtime.controller.cluster

    def do(self, verb: Verb) -> Verb | None:
        """Carry a verb out; answers its inverse."""
        inverse = perform(self.hosts, verb, self.now)
        self.settle()
        return inverse

    def settle(self) -> None:
        """What a driver does after every piece of work."""
        self.runtime.run_resumable(self.now)
        self._tick_until(self.now)

    def pass_time(self, ms: int) -> None:
        """Let time pass, deadline by deadline."""
        end = self.now + ms
        self._tick_until(end)
        self.now = end

    def _tick_until(self, end: int) -> None:
        at_once = 0
        while (deadline := self.runtime.next_deadline()) is not None and deadline <= end:
            at_once = 0 if deadline > self.now else at_once + 1
            assert at_once < MOST_AT_ONCE, "time stands still: what is due is due again"
            self.now = max(self.now, deadline)
            self.runtime.tick(self.now)

    def partition(
        self, index: int = 0, topic: str = "orders", *, at: int | None = None
    ) -> Partition:
        """A partition as the controller has it, or as a broker believes it to be."""
        found = (self.truth if at is None else self.runtime.images[at]).partition(topic, index)
        assert found is not None
        return found

    def client(self, node: int) -> Client:
        """A new connection to a broker."""
        return Client(Seat(self, node), "127.0.0.1:50000")  # type: ignore[arg-type]

    def logged(self, kind: str) -> list[dict[str, object]]:
        """The log's lines of a type."""
        return [line for line in self.log.events() if line["type"] == kind]


class Seat:
    """One broker of a cluster, as `tests.server.broker.driver.Client` wants it."""

    def __init__(self, cluster: Cluster, node: int) -> None:
        self.cluster = cluster
        self.broker = cluster.runtime.brokers[node]

    @property
    def now(self) -> int:
        return self.cluster.now

    def settle(self) -> None:
        self.cluster.settle()


def produce(
    text: bytes = b"x",
    *,
    key: bytes | None = None,
    index: int = 0,
    acks: int = -1,
    timeout_ms: int = 500,
    topic: str = "orders",
) -> ProduceRequest:
    """One record."""
    batch = build_batch([(key, text)], timestamp=1_000_000)
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=index, records=batch)]
            )
        ],
    )
