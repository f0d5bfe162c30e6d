"""Classic groups at the next coordinator: who is fenced, which protocols it still knows, and how
rebalances go on from there."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import Transactor, _state
from integration_tests.cluster.scenarios.second_version import _moved
from integration_tests.cluster.scenarios.standstills import commit
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster
from integration_tests.wire.people import protocols
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link


class Rejoiner:
    """A member that may ask any broker, each time on a connection of its own, so that it may wait
    while others ask."""

    def __init__(
        self,
        c: Cluster,
        label: str,
        group: str,
        *names: str,
        instance: str | None = None,
        kind: str = "consumer",
    ) -> None:
        self.c = c
        self.label = label
        self.group = group
        self.names = names or ("range",)
        self.instance = instance
        self.kind = kind
        self.member_id = ""
        self.generation = -1
        self._links: dict[int, Link] = {}

    def at(self, broker: int) -> Link:
        """Its connection to a broker."""
        if broker not in self._links:
            self._links[broker] = self.c.connect(self.label, broker)
        return self._links[broker]

    def send_join(self, broker: int, **other: Any) -> None:
        """JoinGroup; is left parked."""
        fields: Plain = {
            "group_id": self.group,
            "session_timeout_ms": 60_000,
            "rebalance_timeout_ms": 120_000,
            "member_id": self.member_id,
            "group_instance_id": self.instance,
            "protocol_type": self.kind,
            "protocols": protocols(*self.names),
        }
        self.at(broker).send("JoinGroup", 9, **fields | other)

    def take_join(self, broker: int) -> Plain:
        """Its answer."""
        answer = self.at(broker).expect()
        if answer["error_code"] in (0, 79):
            self.member_id = answer["member_id"]
        if answer["error_code"] == 0:
            self.generation = answer["generation_id"]
        return answer

    def join(self, broker: int, **other: Any) -> Plain:
        """JoinGroup and its answer; once more with the id if it is told one."""
        self.send_join(broker, **other)
        answer = self.take_join(broker)
        if answer["error_code"] == 79:
            self.send_join(broker, **other)
            answer = self.take_join(broker)
        return answer

    @property
    def who(self) -> Plain:
        """What its requests say of it."""
        return {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.member_id,
            "group_instance_id": self.instance,
        }

    def sync(self, broker: int, *members: Rejoiner, name: str = "range") -> Plain:
        """SyncGroup with assignments for these."""
        given = [
            {"member_id": member.member_id, "assignment": member.label.encode().hex()}
            for member in members
        ]
        return self.at(broker).ask(
            "SyncGroup",
            5,
            **self.who,
            protocol_type=self.kind,
            protocol_name=name,
            assignments=given,
        )

    def beat(self, broker: int) -> Plain:
        """Heartbeat."""
        return self.at(broker).ask("Heartbeat", 4, **self.who)


def preparing(c: Cluster, group: str, broker: int, members: int) -> None:
    """Wait until a rebalance has begun, and so many members are known."""

    def begun() -> bool:
        found = _state(c, group, broker)
        return found["group_state"] == "PreparingRebalance" and len(found["members"]) == members

    c.s.until(begun, "no rebalance began")


def two_of(
    c: Cluster, group: str, *names: str, instances: bool = False
) -> tuple[Rejoiner, Rejoiner]:
    """A Stable group of two at broker 3, of which the first leads."""
    one, two = (
        Rejoiner(c, label, group, *names, instance=label if instances else None)
        for label in ("one", "two")
    )
    one.join(3)
    one.sync(3, one)
    two.send_join(3)
    if not instances:
        two.take_join(3)
        two.send_join(3)
    preparing(c, group, 3, 2)
    one.join(3)
    two.take_join(3)
    one.sync(3, one, two)
    two.sync(3)
    return one, two


def over_to_1(c: Cluster, group: str) -> None:
    """Broker 3, which coordinated a group, crashes; 1 has it as it was."""
    before = len(_state(c, group, 3)["members"])
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=1)
    c.s.until(lambda: len(_state(c, group, 1)["members"]) == before, "1 never had it as it was")


@scenario
def who_is_fenced_at_the_next_coordinator(c: Cluster) -> None:
    """STA rules: FENCED_INSTANCE_ID and UNKNOWN_MEMBER_ID in each request, for a wrong member under
    an instance id that is known."""
    name, group = c.topic("t", [1, 2]), c.name("g", 3)
    one, two = two_of(c, group, instances=True)
    tx = Transactor(c, "tx")
    tx.init()
    c.at(3).ask("AddOffsetsToTxn", 3, **tx.who, group_id=group)
    over_to_1(c, group)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, tx, 1)
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 5}]}]
    for member_id, instance in (
        (one.member_id, "one"),
        (two.member_id, "one"),
        (one.member_id, "nobody"),
        ("ghost", "one"),
        ("", "one"),
        (one.member_id, None),
        ("ghost", None),
    ):
        c.at(1).ask(
            "Heartbeat",
            4,
            group_id=group,
            generation_id=2,
            member_id=member_id,
            group_instance_id=instance,
        )
        commit(
            c,
            group,
            name,
            5,
            1,
            member_id=member_id,
            group_instance_id=instance,
            generation_id_or_member_epoch=2,
        )
        c.at(1).ask(
            "SyncGroup",
            5,
            group_id=group,
            generation_id=2,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[],
        )
        c.at(1).ask(
            "TxnOffsetCommit",
            3,
            **tx.who,
            group_id=group,
            generation_id_or_member_epoch=2,
            member_id=member_id,
            group_instance_id=instance,
            topics=topics,
        )
    gone = [
        {"member_id": member, "group_instance_id": instance}
        for member, instance in (
            ("ghost", "one"),
            ("", "nobody"),
            ("ghost", None),
            (two.member_id, "two"),
            (two.member_id, "two"),
            ("", "one"),
        )
    ]
    c.at(1).ask("LeaveGroup", 5, group_id=group, members=gone)
    c.at(1).ask("DescribeGroups", 6, groups=[group])


@scenario
def protocols_at_the_next_coordinator(c: Cluster) -> None:
    """ERR-7: of members that it loaded it knows the selected protocol only: who offers another is
    inconsistent until they have rejoined."""
    group = c.name("g", 3)
    one, two = two_of(c, group, "range", "roundrobin")
    over_to_1(c, group)
    other = Rejoiner(c, "other", group, "roundrobin")
    other.join(1)
    odd = Rejoiner(c, "odd", group, kind="connect")
    odd.join(1)
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    one.send_join(1)
    preparing(c, group, 1, 2)
    two.beat(1)
    two.send_join(1)
    one.take_join(1)
    two.take_join(1)
    other.send_join(1)
    other.take_join(1)
    one.sync(1, one, two)
    two.sync(1)
    c.at(1).ask("DescribeGroups", 6, groups=[group])


@scenario
def a_leader_rejoins_at_the_next_coordinator(c: Cluster) -> None:
    """JOIN rules after a load: a follower with what it offered gets the generation there is; a new
    member begins a rebalance."""
    group = c.name("g", 3)
    one, two = two_of(c, group)
    over_to_1(c, group)
    two.join(1)
    two.sync(1)
    one.beat(1)
    three = Rejoiner(c, "three", group)
    three.send_join(1)
    three.take_join(1)
    three.send_join(1)
    preparing(c, group, 1, 3)
    one.beat(1)
    two.beat(1)
    one.send_join(1)
    two.send_join(1)
    for member in (one, two, three):
        member.take_join(1)
    three.at(1).send(
        "SyncGroup", 5, **three.who, protocol_type="consumer", protocol_name="range", assignments=[]
    )
    two.beat(1)
    one.sync(1, one, two, three)
    three.at(1).expect()
    two.sync(1)
    c.at(1).ask(
        "LeaveGroup",
        5,
        group_id=group,
        members=[{"member_id": one.member_id, "group_instance_id": None}],
    )
    two.beat(1)
    three.beat(1)
    one.beat(1)
    c.at(1).ask("DescribeGroups", 6, groups=[group])


@scenario
def a_static_leader_comes_back_at_the_next_coordinator(c: Cluster) -> None:
    """STA-2: static members that come back get the generation there is, with other metadata, too; a
    leader that joins begins another."""
    group = c.name("g", 3)
    one, two = two_of(c, group, instances=True)
    over_to_1(c, group)
    same = Rejoiner(c, "same", group, instance="one")
    same.join(1)
    one.beat(1)
    same.beat(1)
    same.sync(1)
    again = Rejoiner(c, "again", group, instance="two")
    again.join(1, protocols=protocols("range", metadata="00010000000000000000000000000000"))
    two.beat(1)
    again.sync(1)
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    same.send_join(1)
    preparing(c, group, 1, 2)
    again.beat(1)
    again.send_join(1)
    same.take_join(1)
    again.take_join(1)
    c.at(1).ask("DescribeGroups", 6, groups=[group])
