"""REPL-6: striped placement, draw for draw as Kafka's own class places with the same draws."""

from __future__ import annotations

import random

import pytest

from coordinator.server.cluster import BrokerNode
from coordinator.server.cluster.placement import InvalidReplicationFactor, place


class Draws:
    """The n-th draw is (7n + 3) mod stop: the same numbers were given to Kafka's
    StripedReplicaPlacer."""

    def __init__(self) -> None:
        self.drawn = 0

    def randrange(self, stop: int) -> int:
        self.drawn += 1
        return ((self.drawn - 1) * 7 + 3) % stop


def brokers(text: str) -> list[BrokerNode]:
    """`id:rack:f` each; no rack and no f if empty."""
    parts = [item.split(":") for item in text.split(",")]
    return [
        BrokerNode(int(node), rack or None, fenced=fenced == "f") for node, rack, fenced in parts
    ]


# (partitions, replication factor, brokers, what Kafka 4.4.0's class answered)
KAFKA_PLACED = [
    (5, 1, "1::", [[1], [1], [1], [1], [1]]),
    (4, 2, "0::,1::,2::", [[0, 1], [1, 2], [2, 0], [1, 0]]),
    (
        7,
        3,
        "0::,1::,2::,3::",
        [[3, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 0], [1, 2, 3], [2, 3, 0], [3, 0, 1]],
    ),
    (
        9,
        2,
        "0:a:,1:a:,2:b:,3:b:,4:c:",
        [[1, 2], [3, 4], [4, 0], [1, 2], [3, 4], [3, 4], [4, 0], [1, 2], [3, 4]],
    ),
    (
        6,
        3,
        "5:a:,0:a:,1:c:,2:c:,3:b:,4:b:f",
        [[3, 1, 5], [2, 0, 3], [5, 3, 1], [3, 2, 0], [1, 5, 3], [5, 3, 2]],
    ),
    (4, 3, "0:a:f,1:a:,2::", [[2, 1, 0], [1, 2, 0], [2, 1, 0], [1, 2, 0]]),
    (
        12,
        4,
        "0:a:,1:a:,2:b:,3:b:f,4::,5::f",
        [
            [2, 4, 1, 3],
            [4, 0, 2, 5],
            [1, 2, 4, 0],
            [2, 4, 0, 3],
            [1, 2, 4, 0],
            [2, 4, 0, 3],
            [4, 1, 2, 5],
            [0, 2, 4, 1],
            [2, 0, 4, 3],
            [1, 4, 2, 0],
            [4, 2, 0, 3],
            [2, 1, 4, 3],
        ],
    ),
    (3, 2, "0:b:,1:a:f,2:c:", [[0, 1], [0, 2], [0, 2]]),
]


@pytest.mark.parametrize(("partitions", "factor", "cluster", "expected"), KAFKA_PLACED)
def test_replicas_are_those_of_kafkas_placer(
    partitions: int, factor: int, cluster: str, expected: list[list[int]]
) -> None:
    assert place(partitions, factor, brokers(cluster), Draws()) == expected


def test_more_replicas_than_brokers() -> None:
    with pytest.raises(InvalidReplicationFactor) as refused:
        place(2, 4, brokers("0::,1::,2::"), Draws())
    assert str(refused.value) == (
        "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot be reached because only 3 broker(s) are "
        "registered or some brokers have all their log directories cordoned."
    )


def test_no_broker_may_lead() -> None:
    with pytest.raises(
        InvalidReplicationFactor,
        match="All brokers are currently fenced, or have all their log directories cordoned",
    ):
        place(3, 2, brokers("0:a:f,1:b:f"), Draws())


@pytest.mark.parametrize("seed", range(20))
def test_any_placement_has_distinct_replicas_and_a_live_leader(seed: int) -> None:
    rng = random.Random(seed)
    nodes = [
        BrokerNode(i, rng.choice([None, "a", "b"]), fenced=i > 0 and rng.random() < 0.3)
        for i in range(6)
    ]
    for replicas in place(40, rng.randint(1, 6), nodes, rng):
        assert len(set(replicas)) == len(replicas)
        assert not nodes[replicas[0]].fenced
