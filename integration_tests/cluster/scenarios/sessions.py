"""Fetch sessions of several brokers: each broker has its own, and what one is told when leaders,
topics and brokers change under it."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.raw import Plain

LIMITS: Plain = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20}


class Fetcher:
    """A consumer's session with one broker."""

    def __init__(self, c: Cluster, broker: int, version: int = 17) -> None:
        self.c = c
        self.broker = broker
        self.version = version
        self.session = 0
        self.epoch = 0

    def fetch(
        self,
        *partitions: tuple[str, int],
        current: int = -1,
        forget: str = "",
        broker: int = 0,
        epoch: int | None = None,
    ) -> Plain:
        """Fetch these (topic, offset) of partition 0 in the session, and all that it has."""

        def named(topic: str) -> Plain:
            return {"topic": topic} if self.version <= 12 else {"topic_id": self.c.topic_id(topic)}

        def entry(offset: int) -> Plain:
            return {
                "partition": 0,
                "current_leader_epoch": current,
                "fetch_offset": offset,
                "partition_max_bytes": 1 << 20,
            }

        topics: list[Any] = [
            named(topic) | {"partitions": [entry(offset)]} for topic, offset in partitions
        ]
        forgotten: list[Any] = [named(forget) | {"partitions": [0]}] if forget else []
        answer = self.c.at(broker or self.broker).ask(
            "Fetch",
            self.version,
            **LIMITS,
            session_id=self.session,
            session_epoch=self.epoch if epoch is None else epoch,
            topics=topics,
            forgotten_topics_data=forgotten,
        )
        if not answer["error_code"] and epoch is None:
            self.session = answer["session_id"] or self.session
            self.epoch += 1
        return answer


@scenario
def sessions_belong_to_their_broker(c: Cluster) -> None:
    """FETCH_SESSION_ID_NOT_FOUND at another broker, and at the same one once it has started again;
    INVALID_FETCH_SESSION_EPOCH."""
    name = c.topic("t", [3, 1, 2])
    c.produce(name, b"a", broker=3)
    c.committed_at(name, 1, 1)
    one = Fetcher(c, 3)
    one.fetch((name, 0))
    one.fetch()
    one.fetch((name, 1))
    one.fetch(broker=1)
    one.fetch(epoch=9)
    one.fetch(epoch=-1)
    one.fetch()
    c.stop(3)
    c.start(3)
    c.until(name, 0, isr_nodes={1, 2, 3})
    one.fetch()


@scenario
def leaders_change_under_a_session(c: Cluster) -> None:
    """Who led follows now, and goes on serving; an older epoch is FENCED_LEADER_EPOCH, a newer one
    UNKNOWN_LEADER_EPOCH."""
    name, other = c.topic("t", [3, 1, 2]), c.topic("other", [3, 2])
    plain = Fetcher(c, 3)
    for version in (12, 17):
        c.lead(name, 0, 3)
        epoch = int(c.partition(name)["leader_epoch"])
        plain, epochs = Fetcher(c, 3, version), Fetcher(c, 3, version)
        plain.fetch((name, 0), (other, 0))
        epochs.fetch((name, 0), current=epoch)
        c.lead(name, 0, 1)
        plain.fetch()
        epochs.fetch()
        epochs.fetch((name, 0), current=epoch + 1)
        epochs.fetch((name, 0), current=epoch + 7)
        epochs.fetch()
    c.produce(name, b"a", broker=1)
    c.committed_at(name, 3, 1)
    plain.fetch()
    plain.fetch((name, 1), forget=other)


@scenario
def partitions_leave_a_broker_under_a_session(c: Cluster) -> None:
    """NOT_LEADER_OR_FOLLOWER where a replica has moved away, UNKNOWN_TOPIC_ID where the topic was
    deleted."""
    name, other = c.topic("t", [3, 1]), c.topic("other", [3, 2])
    sessions = [Fetcher(c, 3, version) for version in (12, 17)]
    for one in sessions:
        one.fetch((name, 0), (other, 0))
    entry = {"partition_index": 0, "replicas": [1, 2]}
    c.quietly(
        "AlterPartitionReassignments",
        0,
        topics=[{"name": name, "partitions": [entry]}],
        timeout_ms=10_000,
    )
    c.until(name, 0, replica_nodes=[1, 2], isr_nodes={1, 2})
    for one in sessions:
        one.fetch()
        one.fetch()
    c.at(1).ask("DeleteTopics", 4, topic_names=[other], timeout_ms=10_000)
    c.s.until(
        lambda: not any(c._patient.partitions(broker, other) for broker in c.alive), "it stayed"
    )
    for one in sessions:
        one.fetch()
