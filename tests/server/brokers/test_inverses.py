"""Every verb of brokers has an inverse, which puts back what the verb changed, and which has the
verb itself as inverse.

What a verb changes is read from the controller's metadata and the hosts; epochs, which only grow,
are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from coordinator.kit.cluster import (
    VERBS,
    CreatePartitions,
    CreateTopic,
    CutClient,
    CutLink,
    DeleteTopic,
    FenceBroker,
    HealClient,
    HealLink,
    JumpClock,
    MoveCoordinator,
    MoveLeader,
    ReassignPartition,
    SlowBroker,
    SlowFollower,
    SlowLoad,
    StartBroker,
    StopBroker,
    UnfenceBroker,
    UpdateFeature,
    Verb,
    from_plain,
    to_plain,
)
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.server.brokers.desk import Cluster

OFFSETS = "__consumer_offsets"
LONG_MS = 10_000


def leads(cluster: Cluster) -> Any:
    return cluster.partition().leader


def coordinator(cluster: Cluster) -> Any:
    return [cluster.partition(index, OFFSETS).leader for index in range(4)]


def replicas(cluster: Cluster) -> Any:
    return list(cluster.partition().replicas)


def late_answers(cluster: Cluster) -> Any:
    return [type(each).__name__ for each in cluster.runtime.brokers[1].interceptors]


def pace(cluster: Cluster) -> Any:
    return cluster.runtime.replication.paces.get(1)


def state(node: int) -> Callable[[Cluster], Any]:
    return lambda cluster: (cluster.hosts.state(node), cluster.truth.brokers[node].fenced)


def client_links(cluster: Cluster) -> Any:
    return list(cluster.runtime.network.cut_clients(1))


def clock(cluster: Cluster) -> Any:
    return cluster.runtime.brokers[1].epoch_ms


def features(cluster: Cluster) -> Any:
    return dict(cluster.truth.features)


def topics(cluster: Cluster) -> Any:
    return {
        name: [len(row.replicas) for row in topic.partitions]
        for name, topic in cluster.truth.topics.items()
    }


CASES: list[tuple[list[Verb], Callable[[Cluster], Verb], Callable[[Cluster], Any]]] = [
    ([], lambda _: StopBroker(3, "controlled"), state(3)),
    ([], lambda _: StopBroker(3, "crash"), state(3)),
    ([], lambda _: StopBroker(3, "pause"), state(3)),
    ([StopBroker(3)], lambda _: StartBroker(3), state(3)),
    ([StopBroker(3, "pause")], lambda _: StartBroker(3), state(3)),
    (
        [],
        lambda cluster: MoveLeader(
            "orders", 0, next(node for node in (1, 2, 3) if node != leads(cluster))
        ),
        leads,
    ),
    (
        [],
        lambda cluster: MoveCoordinator(
            "g", next(node for node in (1, 2, 3) if node not in coordinator(cluster)[:1])
        ),
        coordinator,
    ),
    (
        [],
        lambda cluster: ReassignPartition(
            "orders", 0, tuple(reversed(cluster.partition().replicas))
        ),
        replicas,
    ),
    ([], lambda _: FenceBroker(3), state(3)),
    ([FenceBroker(3)], lambda _: UnfenceBroker(3), state(3)),
    ([], lambda _: CutLink(1, 2), lambda cluster: cluster.runtime.network.reaches(1, 2)),
    (
        [CutLink(1, 2)],
        lambda _: HealLink(1, 2),
        lambda cluster: cluster.runtime.network.reaches(1, 2),
    ),
    ([], lambda _: SlowFollower(1, 50, 1000), pace),
    ([SlowFollower(1, 50)], lambda _: SlowFollower(1, 70), pace),
    (
        [],
        lambda _: SlowLoad(1, 300),
        lambda cluster: cluster.runtime.coordinators.load_ms.get(1, 0),
    ),
    ([], lambda _: SlowBroker(1, 300), late_answers),
    ([SlowBroker(1, 300)], lambda _: SlowBroker(1, 0), late_answers),
    ([], lambda _: CutClient("app", 1), client_links),
    ([CutClient("app", 1)], lambda _: HealClient("app", 1), client_links),
    ([], lambda _: JumpClock(1, 5000), clock),
    ([], lambda _: UpdateFeature("transaction.version", 1), features),
    ([], lambda _: CreateTopic("new", 3, 2), topics),
    ([CreateTopic("new", 3, 2)], lambda _: DeleteTopic("new"), topics),
]


def over_http(verb: Verb | None) -> Verb:
    """A verb as a program in another language gets and sends it."""
    assert verb is not None
    return from_plain(json.loads(json.dumps(to_plain(verb))))


def test_no_verb_is_left_out() -> None:
    cluster = Cluster()
    assert {type(verb(cluster)).__name__ for _, verb, _ in CASES} == set(VERBS) - {
        "CleanLogs",
        "CreatePartitions",
    }


def test_partitions_that_were_added_stay() -> None:
    cluster = Cluster()
    assert cluster.do(CreatePartitions("orders", 5)) is None
    cluster.pass_time(LONG_MS)
    assert len(topics(cluster)["orders"]) == 5


@pytest.mark.parametrize(("before", "verb", "look"), CASES)
def test_the_inverse_puts_back_what_the_verb_changed(
    before: list[Verb],
    verb: Callable[[Cluster], Verb],
    look: Callable[[Cluster], Any],
) -> None:
    cluster = Cluster()
    cluster.client(1).ask(FindCoordinatorRequest(key="g", key_type=0), 3)
    for one in before:
        cluster.do(one)
    cluster.pass_time(LONG_MS)
    was = look(cluster)
    inverse = over_http(cluster.do(verb(cluster)))
    cluster.pass_time(LONG_MS)
    assert look(cluster) != was
    back = over_http(cluster.do(inverse))
    cluster.pass_time(LONG_MS)
    assert look(cluster) == was
    assert type(back) is type(verb(cluster))
