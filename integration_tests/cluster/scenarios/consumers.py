"""Consumer groups (KIP-848) whose coordinator is another broker, moves, stops or crashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.stage import OFFSETS, Cluster
from integration_tests.wire.people import protocols, subscription
from integration_tests.wire.raw import Plain

Gone = Callable[[Cluster], None]
"""What happens to broker 3, which coordinates the groups."""

GROUP_ID_NOT_FOUND = 69
API = "ConsumerGroupHeartbeat"


class Consumer:
    """A member of the consumer protocol that may ask any broker: what it says depends on no
    connection."""

    def __init__(self, c: Cluster, label: str, group: str, *, instance: str | None = None) -> None:
        self.c = c
        self.who: Plain = {
            "group_id": group,
            "member_id": f"member-{label}",
            "instance_id": instance,
        }
        self.group = group
        self.member_id = f"member-{label}"
        self.epoch = 0
        self.given: dict[str, list[int]] = {}

    def join(self, broker: int, *names: str, **other: Any) -> Plain:
        """The first heartbeat."""
        self.epoch = 0
        topics: Plain = (
            {} if "subscribed_topic_regex" in other else {"subscribed_topic_names": list(names)}
        )
        return self.beat(
            broker, rebalance_timeout_ms=60_000, topic_partitions=[], **topics, **other
        )

    def beat(self, broker: int, version: int = 1, **other: Any) -> Plain:
        """A heartbeat that says nothing but what is given; learns from the answer."""
        return self._learnt(
            self.c.at(broker).ask(API, version, **(self.who | {"member_epoch": self.epoch} | other))
        )

    def beat_until_given(self, broker: int) -> None:
        """Heartbeats without a step until it was given partitions: a pattern is matched in the
        background."""

        def given() -> bool:
            self._learnt(self.c.quietly(API, 1, broker, **self.who, member_epoch=self.epoch))
            return bool(self.given)

        self.c.s.until(given, "it was never given anything")

    def _learnt(self, answer: Plain) -> Plain:
        if answer["error_code"] == 0:
            self.epoch = answer["member_epoch"]
            if answer["assignment"] is not None:
                self.given = {
                    of["topic_id"]: of["partitions"]
                    for of in answer["assignment"]["topic_partitions"]
                }
        return answer

    def ack(self, broker: int) -> Plain:
        """A heartbeat that reports to own exactly what was given last."""
        return self.beat(
            broker,
            topic_partitions=[
                {"topic_id": topic, "partitions": held} for topic, held in self.given.items()
            ],
        )

    def commit(
        self, broker: int, name: str, offset: int, epoch: int | None = None, version: int = 9
    ) -> Plain:
        """Commit an offset of partition 0 under an epoch, by default its own."""
        topics = [
            {"name": name, "partitions": [{"partition_index": 0, "committed_offset": offset}]}
        ]
        member: Plain = {
            "member_id": self.member_id,
            "generation_id_or_member_epoch": self.epoch if epoch is None else epoch,
        }
        return self.c.at(broker).ask(
            "OffsetCommit", version, group_id=self.group, **member, topics=topics
        )

    def fetch(self, broker: int, name: str) -> Plain:
        """OffsetFetch of partition 0 with its epoch."""
        asked: Plain = {
            "group_id": self.group,
            "member_id": self.member_id,
            "member_epoch": self.epoch,
        }
        return self.c.at(broker).ask(
            "OffsetFetch",
            9,
            groups=[asked | {"topics": [{"name": name, "partition_indexes": [0]}]}],
        )


def describe(c: Cluster, broker: int, *groups: str, version: int = 1) -> Plain:
    """ConsumerGroupDescribe."""
    return c.at(broker).ask("ConsumerGroupDescribe", version, group_ids=list(groups))


def _described(c: Cluster, broker: int, group: str) -> Plain:
    """ConsumerGroupDescribe of one group, without a step."""
    return dict(c.quietly("ConsumerGroupDescribe", 1, broker, group_ids=[group])["groups"][0])


def _served(c: Cluster, broker: int, group: str) -> bool:
    return _described(c, broker, group)["error_code"] in (0, GROUP_ID_NOT_FOUND)


def _await_same(c: Cluster, group: str, before: Plain) -> None:
    """Wait until 1 serves a group as it was. A description shows what is committed, and the next
    leader learns that a moment later."""
    c.s.until(
        lambda: _described(c, 1, group) == before, f"1 never had {c.s.names.text(group)} as it was"
    )


def _topic(c: Cluster, partitions: int = 4) -> str:
    name = c.topic("t", *[[1, 2]] * partitions)
    c.s.names.topic_id(c.topic_id(name))
    return name


@scenario
def consumers_at_another_coordinator(c: Cluster) -> None:
    """NOT_COORDINATOR, and what is refused before anybody looks for the coordinator (K8-HB-1)."""
    name, group, here = _topic(c), c.name("g", 2), c.name("h", 1)
    a, static = Consumer(c, "a", group), Consumer(c, "s", group, instance="one")
    for version in (0, 1):
        join: Plain = {
            "version": version,
            "rebalance_timeout_ms": 1_000,
            "topic_partitions": [],
            "subscribed_topic_names": [name],
        }
        a.beat(1, **join)
        a.beat(1, **join, member_epoch=7)
        a.beat(1, **join, group_id="")
        a.beat(1, **join, member_id="")
        a.beat(1, **join | {"rebalance_timeout_ms": -1})
        a.beat(1, **join | {"subscribed_topic_names": []})
        a.beat(1, **join, server_assignor="nope")
        a.beat(1, version, member_epoch=5)
        a.beat(1, version, member_epoch=-1)
        a.beat(1, version, member_epoch=-2)
        static.beat(1, version, member_epoch=-2)
        describe(c, 1, group, here, "", version=version)
    a.beat(1, 1, rebalance_timeout_ms=1_000, topic_partitions=[], subscribed_topic_regex="(")
    a.commit(1, name, 1, epoch=1)
    a.fetch(1, name)


def _groups(c: Cluster, name: str) -> dict[str, list[Consumer]]:
    """Consumer groups in different states, all coordinated by broker 3."""
    named = {
        state: c.name(state, 3) for state in ("reconciled", "revoking", "away", "empty", "pattern")
    }
    a, b = (Consumer(c, f"reconciled-{label}", named["reconciled"]) for label in "ab")
    a.join(3, name)
    a.ack(3)
    b.join(3, name)
    a.beat(3)
    a.ack(3)
    b.beat(3)
    b.ack(3)
    a.commit(3, name, 5)
    has, wants = (Consumer(c, f"revoking-{label}", named["revoking"]) for label in ("has", "wants"))
    has.join(3, name)
    has.ack(3)
    has.commit(3, name, 6)
    wants.join(3, name)
    has.beat(3)
    away = Consumer(c, "away", named["away"], instance="one")
    away.join(3, name)
    away.ack(3)
    away.beat(3, member_epoch=-2)
    gone = Consumer(c, "gone", named["empty"])
    gone.join(3, name)
    gone.ack(3)
    gone.commit(3, name, 7)
    gone.beat(3, member_epoch=-1)
    pattern = Consumer(c, "pattern", named["pattern"])
    pattern.join(3, subscribed_topic_regex=f"{name}|nothing")
    pattern.beat_until_given(3)
    return {
        "reconciled": [a, b],
        "revoking": [has, wants],
        "away": [away],
        "empty": [gone],
        "pattern": [pattern],
    }


def _fail_over(c: Cluster, gone: Gone) -> None:
    """Groups in each state lose their coordinator; the next one knows every epoch and assignment,
    and reconciliation goes on."""
    name = _topic(c)
    groups = _groups(c, name)
    before = {
        members[0].group: dict(describe(c, 3, members[0].group)["groups"][0])
        for members in groups.values()
    }
    gone(c)
    for group, known in before.items():
        _await_same(c, group, known)
        describe(c, 1, group)
    a, b = groups["reconciled"]
    a.beat(1)
    b.beat(1)
    a.beat(1, member_epoch=1)
    a.beat(1, member_epoch=9)
    a.beat(1, member_id="stranger")
    a.fetch(1, name)
    a.commit(1, name, 8, epoch=9)
    a.commit(1, name, 8)
    has, wants = groups["revoking"]
    wants.beat(1)
    has.beat(1)
    has.ack(1)
    wants.beat(1)
    wants.ack(1)
    has.fetch(1, name)
    describe(c, 1, has.group)
    (away,) = groups["away"]
    back = Consumer(c, "back", away.group, instance="one")
    back.join(1, name)
    describe(c, 1, away.group)
    (pattern,) = groups["pattern"]
    pattern.ack(1)
    (empty,) = groups["empty"]
    empty.beat(1)
    empty.join(1, name)
    empty.fetch(1, name)
    describe(c, 1, empty.group)


@scenario
def a_coordinator_of_consumers_moves(c: Cluster) -> None:
    """ERR-7, PST-4: the old one says NOT_COORDINATOR; the next one goes on where it was."""

    def move(c: Cluster) -> None:
        c.lead(OFFSETS, 2, 1)
        c.s.steps.append({"moved": "the groups of 3 to 1"})
        group = c.name("reconciled", 3)
        c.s.until(lambda: not _served(c, 3, group), "3 coordinated on")
        member = Consumer(c, "reconciled-a", group)
        member.beat(3, member_epoch=2)
        member.beat(3, member_epoch=-1)
        describe(c, 3, group)
        describe(c, 3, group, version=0)

    _fail_over(c, move)


@scenario
def a_coordinator_of_consumers_shuts_down(c: Cluster) -> None:
    """The same after a controlled shutdown."""
    _fail_over(c, lambda c: c.stop(3))


@scenario
def a_coordinator_of_consumers_crashes(c: Cluster) -> None:
    """The same after a crash."""
    _fail_over(c, lambda c: c.crash(3))


@scenario
def a_mixed_group_loses_its_coordinator(c: Cluster) -> None:
    """A classic member and a consumer in one group: the next coordinator has both."""
    name, group = _topic(c), c.name("mixed", 3)
    a = Consumer(c, "a", group)
    a.join(3, name)
    a.ack(3)
    old: Plain = {
        "group_id": group,
        "session_timeout_ms": 45_000,
        "rebalance_timeout_ms": 60_000,
        "protocol_type": "consumer",
        "group_instance_id": "classic",
        "protocols": protocols("range", metadata=subscription(name)),
    }
    joined = c.at(3).ask("JoinGroup", 9, **old, member_id="")
    member: Plain = {
        "group_id": group,
        "generation_id": joined["generation_id"],
        "member_id": joined["member_id"],
        "group_instance_id": "classic",
    }
    sync: Plain = {"protocol_type": "consumer", "protocol_name": "range", "assignments": []}
    c.at(3).ask("SyncGroup", 5, **member, **sync)
    before = dict(describe(c, 3, group)["groups"][0])
    c.crash(3)
    _await_same(c, group, before)
    describe(c, 1, group)
    c.at(1).ask("Heartbeat", 4, **member)
    a.beat(1)
    a.ack(1)
    c.at(1).ask("Heartbeat", 4, **member)
    c.at(1).ask("JoinGroup", 9, **old, member_id=joined["member_id"])
    c.at(1).ask("SyncGroup", 5, **member | {"generation_id": 2}, **sync)
    c.at(1).ask("Heartbeat", 4, **member | {"generation_id": 2})
    describe(c, 1, group)
