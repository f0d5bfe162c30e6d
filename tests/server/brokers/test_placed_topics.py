"""How many replicas topics have that nobody gave a number of, and how their followers keep up."""

from __future__ import annotations

import pytest

from coordinator.kit.cluster import MoveLeader, SlowFollower
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.server.brokers.desk import Cluster, produce

GROUP, TRANSACTION = 0, 1
DEFAULT_FACTORS = {"default.replication.factor": "1"}


@pytest.mark.parametrize("brokers", [1, 2, 3, 4])
def test_internal_topics_have_three_replicas_or_as_many_as_there_are_brokers(brokers: int) -> None:
    """From three brokers on Kafka's own factors; with fewer, Kafka would not make them."""
    cluster = Cluster(brokers=brokers, config=DEFAULT_FACTORS)
    for key_type in (GROUP, TRANSACTION):
        cluster.client(1).ask(FindCoordinatorRequest(key="g", key_type=key_type), 3)
    for topic in ("__consumer_offsets", "__transaction_state"):
        assert len(cluster.partition(0, topic).replicas) == min(3, brokers)


@pytest.mark.parametrize(("rebalances", "comes_back"), [("true", True), ("false", False)])
def test_the_preferred_leader_comes_back_if_it_may(rebalances: str, comes_back: bool) -> None:
    """auto.leader.rebalance.enable: every leader.imbalance.check.interval.seconds."""
    cluster = Cluster(config={"auto.leader.rebalance.enable": rebalances})
    preferred, second, _ = cluster.partition().replicas
    cluster.do(MoveLeader("orders", 0, second))
    cluster.pass_time(300_000)
    assert cluster.partition().leader == (preferred if comes_back else second)


def test_a_follower_copies_so_many_bytes_a_second() -> None:
    cluster = Cluster(config={"replica.lag.time.max.ms": "30000"})
    leader, slow, _ = cluster.partition().replicas
    cluster.do(SlowFollower(slow, bytes_per_second=1000))
    client = cluster.client(leader)
    client.send(produce(b"x" * 5_000, timeout_ms=60_000), 9)
    began = cluster.now
    while cluster.partition(at=leader).log.high_watermark == 0:
        deadline = cluster.runtime.next_deadline()
        assert deadline is not None
        cluster.pass_time(max(1, deadline - cluster.now))
    assert 5_000 <= cluster.now - began < 6_000
    cluster.do(SlowFollower(slow))
    client.send(produce(b"x" * 5_000), 9)
    assert cluster.partition(at=leader).log.high_watermark == 2


def test_what_records_change_is_not_in_the_stream_of_the_cluster() -> None:
    """Log ends, high watermarks and lag are not logged."""
    cluster = Cluster()
    before = [line for line in cluster.log.events() if line["stream"] == "cluster"]
    for _ in range(5):
        cluster.client(cluster.partition().leader).send(produce(), 9)
    assert cluster.partition(at=cluster.partition().leader).log.high_watermark == 5
    assert [line for line in cluster.log.events() if line["stream"] == "cluster"] == before
