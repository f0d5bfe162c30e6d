"""Groups that move between the protocols, and classic members inside consumer groups (K8-MIG,
K8-CLS)."""

from __future__ import annotations

import struct
from typing import Any

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.people import Member, assignment, protocols, subscription, until
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


def owning(topic: str, *partitions: int, version: int = 1) -> str:
    """The bytes of a subscription to one topic that names what its member has."""
    head = struct.pack(">hih", version, 1, len(topic)) + topic.encode() + b"\xff\xff\xff\xff"
    if not partitions:
        return (head + struct.pack(">i", 0)).hex()
    owned = (
        struct.pack(">ih", 1, len(topic))
        + topic.encode()
        + struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)
    )
    return (head + owned).hex()


def classic(s: Session, label: str, group: str, *names: str, **other: Any) -> Member:
    """A classic member that subscribes to topics."""
    return Member(
        s, label, group, protocols=protocols("range", metadata=subscription(*names)), **other
    )


@scenario("consumer")
def empty_groups_convert(s: Session) -> None:
    """An empty group of either kind becomes one of the other, and its offsets stay (K8-MIG-3)."""
    (t,) = topics(s, 1)
    a = Consumer(s, "a", s.name("g"))
    a.commit(t, epoch=-1, member_id="")
    describe(a.link, a.group)
    a.join(t)
    describe(a.link, a.group)
    a.commit(t)
    a.leave()
    m = classic(s, "m", a.group, t)
    m.join()
    m.sync({m.member_id: assignment(t, 0)})
    a.fetch(t, member_id=None, member_epoch=-1)
    m.leave()
    a.link.ask("DescribeGroups", 6, groups=[a.group])
    a.join(t)
    a.fetch(t)
    describe(a.link, a.group)
    a.leave()


@scenario("consumer")
def a_classic_group_is_upgraded(s: Session) -> None:
    """A consumer joins a Stable classic group; the classic member follows step by step (K8-MIG-1,
    K8-CLS-2..5)."""
    (t,) = topics(s, 4)
    m = classic(s, "m", s.name("g"), t)
    m.join()
    m.sync({m.member_id: assignment(t, 0, 1, 2, 3)})
    b = Consumer(s, "b", m.group)
    b.beat(member_epoch=1)
    b.join(t)
    describe(b.link, m.group)
    m.heartbeat()
    m.sync()
    m.heartbeat(generation_id=9)
    m.commit(t, 1)
    m.join(protocols=protocols("range", metadata=owning(t, 0, 1, 2, 3)))
    m.heartbeat()
    m.sync()
    describe(b.link, m.group)
    m.join(protocols=protocols("range", metadata=owning(t, 0, 1)))
    m.sync()
    m.heartbeat()
    b.beat()
    b.ack()
    describe(b.link, m.group)
    b.link.ask("DescribeGroups", 6, groups=[m.group])
    m.leave()
    b.beat()
    b.ack()
    describe(b.link, m.group)


@scenario("consumer")
def parked_requests_of_an_upgraded_group(s: Session) -> None:
    """Who waits in a join or a sync is told to rejoin (K8-MIG-1). Nobody gets partitions: that
    would hang on the order of minted ids."""
    t = s.name("nowhere")
    m = classic(s, "m", s.name("g"), t)
    n = classic(s, "n", m.group, t)
    m.join()
    n.enter()
    until(s, m.group, "PreparingRebalance")
    b = Consumer(s, "b", m.group)
    b.join(t)
    n.take_join()
    describe(b.link, m.group)
    m.heartbeat()
    m.join()
    m.sync()
    describe(b.link, m.group)
    o, p = classic(s, "o", s.name("h"), t), classic(s, "p", s.name("h"), t)
    o.join()
    o.sync({o.member_id: assignment(t, 0, 1)})
    p.enter()
    o.send_join()
    o.take_join()
    p.take_join()
    follower = p if o.leader else o
    follower.send_sync()
    follower.link.silent()
    c = Consumer(s, "c", o.group)
    c.join(t)
    follower.link.expect()
    describe(c.link, o.group)


@scenario("consumer")
def groups_that_cannot_be_upgraded(s: Session) -> None:
    """Of another type, or with bytes nobody can read (K8-MIG-1)."""
    (t,) = topics(s, 1)
    m = Member(s, "m", s.name("connect"), protocol_type="connect")
    m.join()
    m.sync({m.member_id: "00"}, protocol_type="connect")
    Consumer(s, "a", m.group).join(t)
    m.heartbeat()
    for label, blob in (
        ("short", "0001"),
        ("user", assignment(t, 0)[:-8] + "00000001ff"),
        ("none", ""),
    ):
        n = classic(s, label, s.name(label), "nowhere")
        n.join()
        n.sync({n.member_id: blob})
        b = Consumer(s, f"b-{label}", n.group)
        b.join("nowhere")
        n.heartbeat()
        describe(b.link, n.group)
    n = Member(s, "q", s.name("unreadable"), protocols=protocols("range", metadata="0001"))
    n.join()
    n.sync({n.member_id: assignment(t, 0)})
    Consumer(s, "c", n.group).join(t)
    n.heartbeat()


@scenario("consumer")
def a_classic_member_joins_a_consumer_group(s: Session) -> None:
    """It needs an id, has no leader, and takes what is free (K8-CLS-1, K8-CLS-2)."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    a.ack()
    m = Member(
        s,
        "m",
        a.group,
        protocols=protocols("range", "other", metadata=subscription(t)),
        member_id="member-m",
    )
    m.join_fields.pop("member_id")
    m.member_id = "member-m"
    m.join(protocol_type="connect")
    m.join(protocols=[])
    m.join()
    m.sync()
    m.heartbeat()
    m.sync(protocol_name="other")
    m.sync(protocol_type="connect")
    m.sync(generation_id=1)
    m.sync(version=0)
    a.beat()
    a.ack()
    m.heartbeat()
    m.sync()
    m.join()
    m.sync()
    m.heartbeat()
    n = Member(s, "n", a.group, protocols=protocols("other", metadata=subscription(t)))
    n.member_id = "member-n"
    n.join()
    Member(s, "o", a.group, protocols=protocols("third", metadata=subscription(t))).join(
        member_id="member-o"
    )
    Member(s, "p", a.group, protocols=protocols("other", metadata="0001")).join(
        member_id="member-p"
    )
    old = Member(
        s, "old", a.group, version=3, protocols=protocols("other", metadata=subscription(t))
    )
    old.join()
    old.leave()
    describe(a.link, a.group)
    m.leave()
    n.leave()
    describe(a.link, a.group)


@scenario("consumer")
def the_last_consumer_leaves(s: Session) -> None:
    """The group is classic again, and rebalances (K8-MIG-2)."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    m = Member(s, "m", a.group, protocols=protocols("range", metadata=subscription(t)))
    m.member_id = "member-m"
    m.join()
    m.sync()
    a.ack()
    a.commit(t)
    a.leave()
    describe(a.link, a.group)
    a.link.ask("DescribeGroups", 6, groups=[a.group])
    a.beat()
    m.heartbeat()
    m.join()
    m.sync({m.member_id: assignment(t, 0, 1)})
    a.link.ask("DescribeGroups", 6, groups=[a.group])
    a.fetch(t, member_id=None, member_epoch=-1)


@scenario("consumer")
def a_static_member_changes_protocol(s: Session) -> None:
    """The same instance id comes back with the other protocol (K8-ST-1, K8-CLS-3, K8-MIG-2)."""
    (t,) = topics(s, 3)
    m = classic(s, "m", s.name("g"), t, instance="i")
    m.join()
    m.sync({m.member_id: assignment(t, 0, 1, 2)})
    a = Consumer(s, "a", m.group, instance="i")
    a.join(t)
    m.heartbeat()
    a.ack()
    describe(a.link, m.group)
    back = Member(
        s, "back", m.group, instance="i", protocols=protocols("range", metadata=subscription(t))
    )
    back.join()
    a.beat()
    a.link.ask("DescribeGroups", 6, groups=[m.group])
    back.heartbeat()
    back.sync()
    back.heartbeat()


@scenario("consumer")
def static_classic_members_inside(s: Session) -> None:
    """Instance ids of classic members in a consumer group that stays one (K8-CLS-3, K8-CLS-7)."""
    (t,) = topics(s, 4)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    m = Member(
        s, "m", a.group, instance="i", protocols=protocols("range", metadata=subscription(t))
    )
    m.join()
    m.sync()
    a.beat()
    a.ack()
    m.heartbeat()
    m.join()
    m.sync()
    n = Member(
        s, "n", a.group, instance="i", protocols=protocols("range", metadata=subscription(t))
    )
    n.join()
    n.sync()
    m.heartbeat()
    m.sync()
    m.join()
    n.heartbeat(group_instance_id="j")
    n.join(group_instance_id="j")
    describe(a.link, a.group, 1)
    a.link.ask(
        "LeaveGroup", 5, group_id=a.group, members=[{"member_id": "", "group_instance_id": "i"}]
    )
    describe(a.link, a.group)


@scenario("consumer")
def cooperative_classic_members(s: Session) -> None:
    """Members that report what they own revoke step by step (K8-CLS-8)."""
    (t,) = topics(s, 4)
    m = Member(s, "m", s.name("g"), protocols=protocols("cooperative-sticky", metadata=owning(t)))
    m.join()
    m.sync({m.member_id: assignment(t, 0, 1, 2, 3)}, protocol_name="cooperative-sticky")
    a = Consumer(s, "a", m.group)
    a.join(t)
    m.heartbeat()
    m.join(protocols=protocols("cooperative-sticky", metadata=owning(t, 0, 1, 2, 3)))
    m.sync(protocol_name="cooperative-sticky")
    m.heartbeat()
    a.beat()
    m.join(protocols=protocols("cooperative-sticky", metadata=owning(t, 0, 1)))
    m.sync(protocol_name="cooperative-sticky")
    m.heartbeat()
    a.beat()
    a.ack()
    describe(a.link, m.group)
    m.commit(t, 1)
    m.commit(t, 1, generation_id_or_member_epoch=1)
    m.commit(t, 1, generation_id_or_member_epoch=9)
