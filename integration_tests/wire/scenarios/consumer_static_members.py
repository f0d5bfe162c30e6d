"""Static members of consumer groups (KIP-848): replaced, fenced, and named by LeaveGroup."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


@scenario("consumer")
def static_members(s: Session) -> None:
    """An instance id in use, left for a while, taken over, left for good (K8-ST-1..4, K8-LV-2,
    K8-LV-3)."""
    t, u = topics(s, 3, 1)
    a = Consumer(s, "a", s.name("g"), instance="i")
    other = Consumer(s, "b", a.group, instance="i")
    a.join(t)
    a.ack()
    other.join(t)
    a.join(t)
    a.ack()
    other.beat(member_epoch=2)
    other.leave()
    other.leave(-2)
    other.beat(member_epoch=2, instance_id="j")
    other.leave(instance_id="j")
    a.leave(-2)
    describe(a.link, a.group)
    a.beat(member_epoch=2)
    a.beat(member_epoch=-2)
    other.join(t)
    other.ack()
    describe(a.link, a.group)
    a.beat(member_epoch=2)
    other.leave(-2)
    other.join(t, u)
    other.ack()
    other.leave(-2)
    other.join(t, u)
    describe(a.link, a.group)
    other.leave()
    describe(a.link, a.group)


@scenario("consumer")
def a_static_member_beside_others(s: Session) -> None:
    """Its partitions stay its own while it is away, and what it had to revoke is free at once."""
    (t,) = topics(s, 4)
    a = Consumer(s, "a", s.name("g"), instance="i")
    b = Consumer(s, "b", a.group)
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    a.leave(-2)
    describe(b.link, b.group)
    b.beat()
    describe(b.link, b.group)
    again = Consumer(s, "c", a.group, instance="i")
    again.join(t)
    again.ack()
    b.beat()
    describe(b.link, b.group)
    b.beat(instance_id="late")
    b.join(t, instance_id="late")
    describe(b.link, b.group)


@scenario("consumer")
def leave_group_names_consumer_members(s: Session) -> None:
    """LeaveGroup, the administrators' way to take members out (K8-CLS-7)."""
    (t,) = topics(s, 3)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    c = Consumer(s, "c", a.group, instance="i")
    for member in (a, b, c):
        member.join(t)
    named = [
        {"member_id": "member-a"},
        {"member_id": "nobody"},
        {"member_id": "x", "group_instance_id": "i"},
        {"member_id": "", "group_instance_id": "j"},
    ]
    b.link.ask("LeaveGroup", 5, group_id=a.group, members=named)
    a.beat()
    describe(b.link, b.group)
    b.link.ask(
        "LeaveGroup", 5, group_id=a.group, members=[{"member_id": "", "group_instance_id": "i"}]
    )
    b.link.ask("LeaveGroup", 2, group_id=a.group, member_id="nobody")
    b.link.ask("LeaveGroup", 2, group_id=a.group, member_id="member-b")
    b.link.ask("LeaveGroup", 5, group_id=a.group, members=[])
    describe(b.link, b.group)


@scenario("consumer", since="4.3")
def a_member_takes_another_instance_id(s: Session) -> None:
    """A member that joins again with another instance id leaves its former one to others: it is
    unknown. With none it keeps it. Before 4.4 the former one stands for it, too (K8-ST-5)."""
    (t,) = topics(s, 3)
    a = Consumer(s, "a", s.name("g"), instance="i")
    b = Consumer(s, "b", a.group, instance="i")
    a.join(t)
    a.ack()
    a.join(t, instance_id="j")
    a.leave(-2)
    a.leave()
    describe(a.link, a.group)
    a.join(t)
    a.join(t, instance_id=None)
    a.leave(-2)
    a.beat(instance_id="i")
    b.join(t)
    a.beat(instance_id=None, topic_partitions=[])
    b.ack()
    a.join(t)
    describe(a.link, a.group)
    b.leave()
    describe(a.link, a.group)


@scenario("consumer", since="4.3")
def a_member_takes_one_instance_id_after_another(s: Session) -> None:
    """K8-ST-5: who brings which of them while the member is there, is away, and has gone; and when
    another one had it meanwhile."""
    (t,) = topics(s, 4)
    a = Consumer(s, "a", s.name("g"), instance="i")
    b = Consumer(s, "b", a.group, instance="i")
    c = Consumer(s, "c", a.group, instance="k")
    a.join(t)
    a.join(t, instance_id="j")
    a.join(t, instance_id="k")
    for instance in "ijk":
        a.beat(instance_id=instance)
        b.join(t, instance_id=instance)
        b.leave(instance_id=instance)
    a.leave(-2, instance_id="j")
    b.join(t)
    for instance in "ijk":
        a.join(t, instance_id=instance)
        c.beat(instance_id=instance)
    describe(b.link, b.group)
    b.link.ask(
        "LeaveGroup",
        5,
        group_id=a.group,
        members=[{"member_id": "", "group_instance_id": of} for of in "jkji"],
    )
    for instance in "ijk":
        c.join(t, instance_id=instance)
    describe(b.link, b.group)
