"""What a group coordinator says while what it writes is not replicated: too few replicas of its
partition are in sync.

Rules: a coordinator appends without looking at who is in sync, and answers when the high watermark
has passed; after offsets.commit.timeout.ms it says COORDINATOR_NOT_AVAILABLE (ERR-1). What it wrote
stays, and counts when replicas are back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.consumers import API, Consumer, describe
from integration_tests.cluster.scenarios.coordinators import Member, Transactor
from integration_tests.cluster.stage import OFFSETS, Cluster
from integration_tests.wire.people import protocols
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link

TOPIC = 2
PATIENCE_MS = 15_000
"""Longer than offsets.commit.timeout.ms, on a busy machine."""


class Asked:
    """Requests that are sent to broker 3, each on a connection of its own, and whose answers come
    late."""

    def __init__(self, c: Cluster) -> None:
        self.c = c
        self._links: list[Link] = []

    def send(self, label: str, api: str, version: int, **fields: Any) -> None:
        """Send one; it is with the broker, and parked, afterwards."""
        link = self.c.connect(label, 3)
        link.send(api, version, **fields)
        link.silent()
        self._links.append(link)

    def answers(self) -> list[Plain]:
        """The answers, in the order of the requests."""
        self.c.hosts.writes_time_out()
        answers = [link.expect(timeout_ms=PATIENCE_MS) for link in self._links]
        self._links.clear()
        return answers


@contextmanager
def unreplicated(c: Cluster, topic: str = OFFSETS) -> Iterator[Asked]:
    """Broker 1 crashes while all three replicas of an internal topic have to be in sync; afterwards
    they are."""
    resource: Plain = {"resource_type": TOPIC, "resource_name": topic}
    change: Plain = {"name": "min.insync.replicas", "config_operation": 0, "value": "3"}
    c.quietly(
        "IncrementalAlterConfigs",
        1,
        resources=[resource | {"configs": [change]}],
        validate_only=False,
    )
    try:
        c.crash(1)
        c.until(topic, 2, isr_nodes={2, 3})
        yield Asked(c)
        c.start(1)
        c.until(topic, 2, isr_nodes={1, 2, 3})
    finally:
        change = {"name": "min.insync.replicas", "config_operation": 1, "value": None}
        c.quietly(
            "IncrementalAlterConfigs",
            1,
            resources=[resource | {"configs": [change]}],
            validate_only=False,
        )


def commit(group: str, name: str, offset: int, **member: Any) -> Plain:
    """The fields of an OffsetCommit of one partition."""
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": offset}]}]
    return {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": topics,
    } | member


@scenario
def consumers_whose_writes_wait(c: Cluster) -> None:
    """ERR-1: heartbeats that write nothing are answered; others are told COORDINATOR_NOT_AVAILABLE,
    and count all the same."""
    name = c.topic("t", [1, 2], [1, 2])
    c.s.names.topic_id(c.topic_id(name))
    a, b, new = (
        Consumer(c, label, c.name(group, 3))
        for label, group in (("a", "g"), ("b", "g"), ("new", "fresh"))
    )
    a.join(3, name)
    a.ack(3)
    a.commit(3, name, 1)
    joins: Plain = {
        "member_epoch": 0,
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": [name],
        "topic_partitions": [],
    }
    with unreplicated(c) as asked:
        a.beat(3)
        a.beat(3, 0)
        asked.send(
            "commits",
            "OffsetCommit",
            9,
            **commit(a.group, name, 2, member_id=a.member_id, generation_id_or_member_epoch=2),
        )
        asked.send("joins", API, 1, **b.who, **joins)
        asked.send("founds", API, 1, **new.who, **joins)
        asked.answers()
        describe(c, 3, a.group, new.group)
        a.beat(3, member_id="stranger")
        a.fetch(3, name)
        asked.send("stays", API, 1, **b.who, member_epoch=3)
        asked.answers()
        asked.send("leaves", API, 1, **b.who, member_epoch=-1)
        asked.answers()
        a.beat(3, member_id=b.member_id, member_epoch=3)
    c.s.until(
        lambda: (
            c.quietly("ConsumerGroupDescribe", 1, 3, group_ids=[a.group])["groups"][0][
                "group_epoch"
            ]
            == 4
        ),
        "b never left",
    )
    describe(c, 3, a.group, new.group)
    a.fetch(3, name)
    a.beat(3)
    new.beat(3, member_epoch=2)


@scenario
def offsets_whose_writes_wait(c: Cluster) -> None:
    """ERR-1, TXN-8: the same for commits of classic members, of nobody, and in transactions."""
    name, group = c.topic("t", [1, 2]), c.name("g", 3)
    member = Member(c, "m", group)
    member.enter()
    member.take_join()
    member.send_sync({member.member_id: "0a"})
    member.link.expect()
    simple = c.name("simple", 3)
    c.at(3).ask("OffsetCommit", 9, **commit(simple, name, 1))
    producer = Transactor(c, "tx")
    producer.init()
    c.at(3).ask("AddOffsetsToTxn", 3, **producer.who, group_id=simple)
    entry = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 9}]}]
    with unreplicated(c) as asked:
        member.heartbeat(3)
        asked.send(
            "commits",
            "OffsetCommit",
            9,
            **commit(group, name, 2, member_id=member.member_id, generation_id_or_member_epoch=1),
        )
        asked.send("nobody", "OffsetCommit", 9, **commit(simple, name, 3))
        asked.send(
            "in a transaction",
            "TxnOffsetCommit",
            3,
            **producer.who,
            group_id=simple,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=entry,
        )
        asked.answers()
        for known in (group, simple):
            c.at(3).ask("OffsetFetch", 9, groups=[{"group_id": known, "topics": None}])
        c.at(3).ask(
            "OffsetCommit",
            9,
            **commit(group, name, 2, member_id="stranger", generation_id_or_member_epoch=1),
        )
        asked.send(
            "deletes",
            "OffsetDelete",
            0,
            group_id=simple,
            topics=[{"name": name, "partitions": [{"partition_index": 0}]}],
        )
        asked.answers()
    producer.end(3, committed=False)
    for known in (group, simple):
        c.at(3).ask("OffsetFetch", 9, groups=[{"group_id": known, "topics": None}])


@scenario
def a_generation_whose_write_waits(c: Cluster) -> None:
    """ERR-2: what members of classic groups are told that join, sync and leave meanwhile; and what
    the group is afterwards."""
    group, founded = c.name("g", 3), c.name("fresh", 3)
    member = Member(c, "m", group)
    member.enter()
    member.take_join()
    member.send_sync({member.member_id: "0a"})
    member.link.expect()
    join: Plain = {
        "session_timeout_ms": 60_000,
        "rebalance_timeout_ms": 120_000,
        "protocol_type": "consumer",
        "protocols": protocols("range"),
    }
    with unreplicated(c) as asked:
        told = c.at(3).ask("JoinGroup", 9, **join, group_id=founded, member_id="")
        new = c.at(3).ask("JoinGroup", 9, **join, group_id=founded, member_id=told["member_id"])
        sync: Plain = {
            "group_id": founded,
            "generation_id": new["generation_id"],
            "member_id": new["member_id"],
            "protocol_type": "consumer",
            "protocol_name": "range",
        }
        asked.send(
            "syncs",
            "SyncGroup",
            5,
            **sync,
            assignments=[{"member_id": new["member_id"], "assignment": "0a"}],
        )
        asked.answers()
        c.at(3).ask("DescribeGroups", 6, groups=[group, founded], shuffled="groups")
        c.at(3).ask(
            "Heartbeat",
            4,
            group_id=founded,
            generation_id=new["generation_id"],
            member_id=new["member_id"],
        )
        c.at(3).ask(
            "LeaveGroup",
            5,
            group_id=group,
            members=[{"member_id": member.member_id, "group_instance_id": None}],
        )
        member.heartbeat(3)
        c.at(3).ask("DescribeGroups", 6, groups=[group, founded], shuffled="groups")
    c.at(3).ask(
        "Heartbeat",
        4,
        group_id=founded,
        generation_id=new["generation_id"],
        member_id=new["member_id"],
    )
    c.at(3).ask("DescribeGroups", 6, groups=[group, founded], shuffled="groups")
