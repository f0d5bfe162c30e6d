"""What happens to members of consumer groups as time passes (K8-LV-5, K8-REC-6, K8-CLS-6,
KIP-1263)."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.people import Member, protocols, subscription
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


def settings(s: Session, group: str, **values: int) -> None:
    """Set configurations of a group, and show the answer."""
    configs = [
        {"name": name.replace("_", "."), "config_operation": 0, "value": str(value)}
        for name, value in values.items()
    ]
    s.stage().ask(
        "IncrementalAlterConfigs",
        1,
        resources=[{"resource_type": 32, "resource_name": group, "configs": configs}],
    )
    s.wait(2_500)


@scenario("consumer", lasts_s=20)
def sessions_expire(s: Session) -> None:
    """A silent member goes, static ones too, also one that left for a while (K8-LV-5, K8-LV-2)."""
    (t,) = topics(s, 3)
    group = s.name("g")
    settings(s, group, consumer_session_timeout_ms=4_000, consumer_heartbeat_interval_ms=500)
    a, b = (Consumer(s, label, group) for label in "ab")
    c = Consumer(s, "c", group, instance="i")
    for member in (a, b, c):
        member.join(t)
    c.leave(-2)
    a.ack()
    a.ack()
    for _ in range(5):
        s.wait(1_000)
        a.link.ask_quietly(
            "ConsumerGroupHeartbeat",
            1,
            group_id=group,
            member_id=a.member_id,
            member_epoch=4,
            topic_partitions=a.listed(),
        )
    a.ack()
    b.beat()
    describe(a.link, group)
    c.join(t)
    s.wait(5_500)
    describe(c.link, group)


@scenario("consumer", lasts_s=20)
def revocation_takes_too_long(s: Session) -> None:
    """Who does not revoke within its rebalance timeout is fenced, however often it sends heartbeats
    (K8-REC-6)."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"), rebalance_timeout_ms=6_000)
    b = Consumer(s, "b", a.group)
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    a.beat()
    s.wait(2_500)
    a.beat()
    b.beat()
    s.wait(5_000)
    a.beat()
    b.beat()
    describe(b.link, a.group)


@scenario("consumer", lasts_s=45)
def classic_members_that_are_too_slow(s: Session) -> None:
    """They have to sync, and to rejoin, within their rebalance timeout (K8-CLS-6)."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    a.ack()
    m = Member(
        s,
        "m",
        a.group,
        rebalance_timeout_ms=5_000,
        protocols=protocols("range", metadata=subscription(t)),
    )
    m.member_id = "member-m"
    m.join()
    s.wait(6_000)
    m.heartbeat()
    describe(a.link, a.group)
    n = Member(
        s,
        "n",
        a.group,
        rebalance_timeout_ms=5_000,
        protocols=protocols("range", metadata=subscription(t)),
    )
    n.member_id = "member-n"
    n.join()
    n.sync()
    a.beat()
    a.ack()
    n.heartbeat()
    s.wait(6_000)
    n.heartbeat()
    describe(a.link, a.group)


@scenario("consumer", lasts_s=40)
def group_configurations(s: Session) -> None:
    """Values out of bounds are refused; the heartbeat interval is told with the next answer
    (K8-CFG-1)."""
    (t,) = topics(s, 1)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    settings(s, a.group, consumer_heartbeat_interval_ms=7_000)
    a.beat()
    settings(s, a.group, consumer_heartbeat_interval_ms=16_000)
    settings(s, a.group, consumer_session_timeout_ms=99)
    settings(s, a.group, consumer_session_timeout_ms=60_001)
    settings(s, a.group, consumer_session_timeout_ms=5_000)
    settings(s, a.group, consumer_session_timeout_ms=8_000)
    settings(s, a.group, consumer_assignment_interval_ms=15_001)
    settings(s, a.group, consumer_assignment_interval_ms=2_000)
    b = Consumer(s, "b", a.group)
    a.leave()
    b.join(t)
    describe(b.link, a.group)
    b.beat()


@scenario(lasts_s=30)
def assignment_interval(s: Session) -> None:
    """Within the interval a newcomer gets the old epoch and nothing; the first heartbeat after it
    brings the new one (KIP-1263)."""
    (t,) = topics(s, 2)
    settings(s, s.name("g"), consumer_assignment_interval_ms=6_000)
    Consumer(s, "first", s.name("other")).join(t)  # the first of its kind may take a broker long
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    a.join(t)
    b.join(t)
    describe(a.link, a.group)
    a.ack()
    b.beat()
    s.wait(6_500)
    describe(a.link, a.group)
    b.beat()
    describe(a.link, a.group)
    a.beat()
    a.ack()
    b.beat()
    b.ack()
    describe(a.link, a.group)
    a.leave()
    s.wait(6_500)
    b.beat()
    describe(a.link, a.group)
