"""`group.consumer.migration.policy` at `upgrade` and at `downgrade` (K8-MIG): the same story under
each."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.people import Member, assignment, protocols, subscription
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


def _classic(s: Session, label: str, group: str, topic: str, instance: str | None = None) -> Member:
    return Member(
        s,
        label,
        group,
        protocols=protocols("range", metadata=subscription(topic)),
        instance=instance,
    )


def _a_consumer_comes_to_classic_members(s: Session) -> None:
    """It upgrades the group, or is refused; the last consumer that leaves takes the protocol with
    it, or not."""
    (t,) = topics(s, 4)
    m = _classic(s, "m", s.name("g"), t)
    m.join()
    m.sync({m.member_id: assignment(t, 0, 1, 2, 3)})
    m.commit(t, 3)
    b = Consumer(s, "b", m.group)
    b.join(t)
    m.heartbeat()
    b.link.ask("DescribeGroups", 6, groups=[m.group])
    describe(b.link, m.group)
    b.leave()
    m.heartbeat()
    b.link.ask("DescribeGroups", 6, groups=[m.group])
    describe(b.link, m.group)
    m.leave()
    b.join(t)
    describe(b.link, m.group)
    b.leave()


def _a_classic_member_comes_to_consumers(s: Session) -> None:
    """It may join them in either case; when they have left, the group is downgraded or stays what
    it is."""
    (t,) = topics(s, 4)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    m = _classic(s, "m", a.group, t)
    m.join()
    m.sync()
    a.beat()
    describe(a.link, a.group)
    a.leave()
    m.heartbeat()
    describe(a.link, a.group)
    a.link.ask("DescribeGroups", 6, groups=[a.group])
    m.leave()
    describe(a.link, a.group)


def _a_static_member_changes_its_protocol(s: Session) -> None:
    """The same instance id comes back as a member of the other protocol, there and back."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"), instance="i")
    a.join(t)
    m = _classic(s, "m", a.group, t, "i")
    m.join()
    m.sync()
    describe(a.link, a.group)
    a.link.ask("DescribeGroups", 6, groups=[a.group])
    b = Consumer(s, "b", a.group, instance="i")
    b.join(t)
    m.heartbeat()
    describe(a.link, a.group)


@scenario("upgrades")
def upgrade_by_a_consumer(s: Session) -> None:
    """K8-MIG-1: allowed."""
    _a_consumer_comes_to_classic_members(s)


@scenario("upgrades")
def no_downgrade_by_the_last_consumer(s: Session) -> None:
    """K8-MIG-2: refused."""
    _a_classic_member_comes_to_consumers(s)


@scenario("upgrades")
def upgrade_of_a_static_member(s: Session) -> None:
    """One instance id in both protocols."""
    _a_static_member_changes_its_protocol(s)


@scenario("downgrades")
def no_upgrade_by_a_consumer(s: Session) -> None:
    """K8-MIG-1: refused."""
    _a_consumer_comes_to_classic_members(s)


@scenario("downgrades")
def downgrade_by_the_last_consumer(s: Session) -> None:
    """K8-MIG-2: allowed."""
    _a_classic_member_comes_to_consumers(s)


@scenario("downgrades")
def downgrade_of_a_static_member(s: Session) -> None:
    """One instance id in both protocols."""
    _a_static_member_changes_its_protocol(s)
