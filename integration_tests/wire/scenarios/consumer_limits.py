"""Consumer groups under other broker configurations: no room, one assignor only, no migration
(K8-CFG-1, K8-HB-1, K8-MIG, K8-VAL-3)."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.people import Member, protocols, subscription
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


@scenario("consumer_limits")
def a_full_group(s: Session) -> None:
    """The third member is refused, members that are there are not."""
    (t,) = topics(s, 2)
    a, b, c = (Consumer(s, label, s.name("g")) for label in "abc")
    a.join(t)
    b.join(t)
    c.join(t)
    c.beat(member_epoch=1)
    c.leave()
    b.join(t)
    a.leave()
    c.join(t)
    describe(c.link, c.group)


@scenario("consumer_limits")
def one_assignor(s: Session) -> None:
    """What is configured is the default, and all there is."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"))
    a.join(t, server_assignor="uniform")
    a.join(t, server_assignor="range")
    a.join(t)
    describe(a.link, a.group)


@scenario("consumer_limits")
def migration_disabled(s: Session) -> None:
    """Groups with members keep their protocol; empty ones convert all the same (K8-MIG-3)."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"))
    m = Member(s, "m", a.group, protocols=protocols("range", metadata=subscription(t)))
    m.join()
    m.sync({m.member_id: ""})
    a.join(t)
    m.heartbeat()
    m.leave()
    m.member_id = ""
    a.join(t)
    m.join()
    m.join(member_id="member-m")
    a.leave()
    m.join()
    a.link.ask("DescribeGroups", 5, groups=[s.name("nowhere")])
