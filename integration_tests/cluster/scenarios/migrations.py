"""Groups that pass from one protocol to the other while their coordinator is another, and members
of consumer groups who are late there."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.consumers import (
    Consumer,
    _await_same,
    _served,
    _topic,
    describe,
)
from integration_tests.cluster.scenarios.coordinators import _state
from integration_tests.cluster.scenarios.standstills import commit, coordinated, fetched
from integration_tests.cluster.stage import OFFSETS, Cluster
from integration_tests.wire.people import assignment, protocols, subscription
from integration_tests.wire.raw import Plain


class Classic:
    """A static member of the classic protocol who may ask any broker."""

    def __init__(self, c: Cluster, label: str, group: str, name: str) -> None:
        self.c = c
        self.name = name
        self.group = group
        self.label = label
        self.member_id = ""
        self.generation = -1

    def join(self, broker: int, **other: Any) -> Plain:
        """JoinGroup and its answer."""
        metadata = subscription(self.name, version=1, user_data=b"")[:-8] + "00000000" * 2
        fields: Plain = {
            "group_id": self.group,
            "session_timeout_ms": 45_000,
            "rebalance_timeout_ms": 60_000,
            "protocol_type": "consumer",
            "group_instance_id": self.label,
            "member_id": self.member_id,
            "protocols": protocols("range", metadata=metadata),
        }
        answer = self.c.at(broker).ask("JoinGroup", 9, **fields | other)
        if answer["error_code"] == 0:
            self.member_id, self.generation = answer["member_id"], answer["generation_id"]
        return answer

    @property
    def who(self) -> Plain:
        """What its requests say of it."""
        return {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.member_id,
            "group_instance_id": self.label,
        }

    def sync(self, broker: int, *partitions: int) -> Plain:
        """SyncGroup, with partitions for itself if it gives any."""
        given = (
            [{"member_id": self.member_id, "assignment": assignment(self.name, *partitions)}]
            if partitions
            else []
        )
        return self.c.at(broker).ask(
            "SyncGroup",
            5,
            **self.who,
            protocol_type="consumer",
            protocol_name="range",
            assignments=given,
        )

    def beat(self, broker: int) -> Plain:
        """Heartbeat."""
        return self.c.at(broker).ask("Heartbeat", 4, **self.who)

    def leave(self, broker: int) -> Plain:
        """LeaveGroup by its instance id."""
        return self.c.at(broker).ask(
            "LeaveGroup",
            5,
            group_id=self.group,
            members=[{"member_id": "", "group_instance_id": self.label}],
        )


@scenario
def a_classic_group_is_upgraded_at_the_next_coordinator(c: Cluster) -> None:
    """A consumer joins a classic group after its coordinator has moved; the mixed group moves back,
    and is downgraded there."""
    name, group = _topic(c, 2), c.name("g", 3)
    old = Classic(c, "old", group, name)
    old.join(3)
    old.sync(3, 0, 1)
    commit(
        c,
        group,
        name,
        5,
        3,
        member_id=old.member_id,
        generation_id_or_member_epoch=1,
        group_instance_id="old",
    )
    c.lead(OFFSETS, 2, 1)
    coordinated(c, group, 1)
    new = Consumer(c, "new", group)
    new.join(1, name)
    describe(c, 1, group)
    old.beat(1)
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    c.at(1).ask("ListGroups", 5, only="groups")
    before = dict(c.quietly("ConsumerGroupDescribe", 1, 1, group_ids=[group])["groups"][0])
    c.lead(OFFSETS, 2, 3)
    c.s.until(
        lambda: (
            dict(c.quietly("ConsumerGroupDescribe", 1, 3, group_ids=[group])["groups"][0]) == before
        ),
        "3 never had it",
    )
    old.beat(3)
    old.join(3)
    old.sync(3)
    new.beat(3)
    new.ack(3)
    new.beat(3, member_epoch=-1)
    c.at(3).ask("DescribeGroups", 6, groups=[group])
    describe(c, 3, group)
    fetched(c, group, 3)
    old.beat(3)
    c.lead(OFFSETS, 2, 1)
    c.s.until(
        lambda: _state(c, group, 1)["group_state"] == "Stable", "1 never had it as a classic group"
    )
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    old.beat(1)


@scenario
def static_consumers_at_the_next_coordinator(c: Cluster) -> None:
    """UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID and UNKNOWN_MEMBER_ID as at the former one; an
    instance that left is taken over."""
    name, group = _topic(c, 2), c.name("g", 3)
    one, two = Consumer(c, "one", group, instance="i"), Consumer(c, "two", group, instance="j")
    one.join(3, name)
    one.ack(3)
    two.join(3, name)
    one.beat(3)
    one.ack(3)
    two.beat(3)
    two.ack(3)
    two.beat(3, member_epoch=-2)
    before = dict(describe(c, 3, group)["groups"][0])
    c.crash(3)
    _await_same(c, group, before)
    thief = Consumer(c, "thief", group, instance="i")
    thief.join(1, name)
    one.beat(1, instance_id=None)
    one.beat(1, instance_id="j")
    two.beat(1)
    heir = Consumer(c, "heir", group, instance="j")
    heir.join(1, name)
    two.beat(1)
    two.beat(1, member_epoch=-2)
    heir.ack(1)
    one.beat(1, member_epoch=-1)
    thief.join(1, name)
    heir.beat(1)
    describe(c, 1, group)


@scenario
def a_revocation_that_never_comes_at_the_next_coordinator(c: Cluster) -> None:
    """K8: its time counts from where the next coordinator has loaded the group; then the member is
    fenced, and its partitions go."""
    name, group = _topic(c, 2), c.name("g", 3)
    keeps, wants = Consumer(c, "keeps", group), Consumer(c, "wants", group)
    keeps.beat(3, rebalance_timeout_ms=4_000, topic_partitions=[], subscribed_topic_names=[name])
    keeps.ack(3)
    c.lead(OFFSETS, 2, 1)
    c.s.until(lambda: _served(c, 1, group), "1 never coordinated it")
    wants.join(1, name)
    keeps.beat(1)
    c.lead(OFFSETS, 2, 3)
    c.s.until(lambda: _served(c, 3, group), "3 never coordinated it")

    def fenced() -> bool:
        return (
            len(c.quietly("ConsumerGroupDescribe", 1, 3, group_ids=[group])["groups"][0]["members"])
            == 1
        )

    c.s.until(fenced, "it was never fenced")
    keeps.beat(3)
    wants.beat(3)
    wants.ack(3)
    describe(c, 3, group)
    keeps.join(3, name)
    describe(c, 3, group)
