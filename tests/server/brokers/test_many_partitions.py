"""Topics of thousands of partitions on several brokers: brokers hear of them one after the other,
and replicas follow in pieces."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import whole
from coordinator.server.handlers import create_topics
from coordinator.server.requests.call import Call, Sliced
from coordinator.wire.messages.topics import CreatableTopic, CreateTopicsRequest
from tests.server.brokers.desk import Cluster, produce

MANY = 3_000


def make(cluster: Cluster, name: str, partitions: int) -> None:
    replicas = [[1, 2, 3]] * partitions
    cluster.runtime.controller.create_topic(
        name, topic_id=name.encode().ljust(16), replicas=replicas, configs={}, now=cluster.now
    )


def test_one_broker_hears_of_them_a_tick_and_replicas_follow_in_pieces() -> None:
    """At most 20 ms a piece: what a tick does does not grow with the topic, but for one broker's
    copy of it."""
    cluster = Cluster()
    runtime = cluster.runtime
    make(cluster, "many", MANY)
    assert "many" in cluster.truth.topics
    heard, waiting = [], []
    while runtime.next_deadline() == 0:
        runtime.tick(0)
        heard.append([node for node, image in runtime.images.items() if "many" in image.topics])
        waiting.append(len(runtime.replication.waiting))
    assert heard[:4] == [[1], [1, 2], [1, 2, 3], [1, 2, 3]]
    looked = [before - after for before, after in pairwise(waiting[2:])]
    assert max(looked) < 1_000
    assert waiting[-1] == 0
    client = cluster.client(1)
    client.send(produce(index=MANY - 1, topic="many"), 9)
    assert cluster.partition(MANY - 1, "many", at=2).log.log_end_offset == 1


def test_what_is_made_after_them_is_heard_of_after_them() -> None:
    cluster = Cluster()
    make(cluster, "many", MANY)
    make(cluster, "few", 1)
    assert all("few" not in image.topics for image in cluster.runtime.images.values())
    cluster.settle()
    assert all({"many", "few"} <= set(image.topics) for image in cluster.runtime.images.values())


def test_a_few_are_known_everywhere_at_once() -> None:
    cluster = Cluster()
    make(cluster, "few", 100)
    assert all("few" in image.topics for image in cluster.runtime.images.values())


def test_a_topic_that_another_request_made_between_two_slices_exists_already() -> None:
    cluster = Cluster()
    wanted = [
        CreatableTopic(name=name, num_partitions=MANY // 2, replication_factor=3)
        for name in ("first", "second")
    ]
    call = Call(
        CreateTopicsRequest(topics=wanted, timeout_ms=30_000),
        7,
        "test",
        "/127.0.0.1",
        1,
        0,
        "PLAINTEXT",
        None,
    )
    handled = create_topics.handle(cluster.runtime.brokers[1], call)
    assert isinstance(handled, Sliced)
    next(handled.work)  # both are planned in turn
    make(cluster, "second", 1)
    answer: Any = whole(handled.work, 0)
    assert [(one.name, one.error_code) for one in answer.topics] == [
        ("first", ErrorCode.NONE),
        ("second", ErrorCode.TOPIC_ALREADY_EXISTS),
    ]
    assert len(cluster.truth.topics["second"].partitions) == 1
