"""What changes around a consumer group whose members are in the midst of something: topics,
configurations, silent members."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, await_coordinators, describe, topics
from integration_tests.wire.people import (
    Member,
    await_topic,
    protocols,
    subscription,
    topic,
    topic_id,
)
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.consumer_timers import settings


@scenario("consumer")
def a_topic_made_anew_while_it_moves(s: Session) -> None:
    """Deleted and made again while one member is to revoke: its old partitions are nobody's,
    commits under the old id are refused."""
    (t,) = topics(s, 4)
    old = topic_id(s, t)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    a.commit(t)
    stage = s.stage()
    stage.ask_quietly("DeleteTopics", 5, topic_names=[t], timeout_ms=5_000)
    await_topic(stage, t, None)
    topic(s, "t0", 2)
    new = topic_id(s, t)
    s.names.topic_id(new)
    await_coordinators(s, t)
    s.wait(1_500)
    b.beat()
    a.ack()
    for member in (a, b, a, b):
        member.ack()
    describe(a.link, a.group)
    a.fetch(t)
    for uuid in (old, new):
        listed = [{"partition_index": p, "committed_offset": 1} for p in (0, 1, 3)]
        a.commit(t, version=10, topics=[{"topic_id": uuid, "partitions": listed}])
        a.fetch(t, version=10, topics=[{"topic_id": uuid, "partition_indexes": [0, 3]}])


@scenario("consumer", lasts_s=20)
def a_session_ends_before_the_revocation(s: Session) -> None:
    """A member that is to revoke falls silent: what it had is free when its session has ended
    (K8-LV-5, K8-REC-6)."""
    (t,) = topics(s, 4)
    group = s.name("g")
    settings(s, group, consumer_session_timeout_ms=4_000, consumer_heartbeat_interval_ms=500)
    a = Consumer(s, "a", group, rebalance_timeout_ms=60_000)
    b = Consumer(s, "b", group)
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    for _ in range(6):
        s.wait(1_000)
        b.link.ask_quietly(
            "ConsumerGroupHeartbeat", 1, group_id=group, member_id=b.member_id, member_epoch=b.epoch
        )
    describe(b.link, group)
    a.ack()
    a.commit(t)
    b.beat()
    b.ack()
    describe(b.link, group)
    a.join(t)
    describe(b.link, group)


@scenario("consumer", lasts_s=20)
def configurations_change_beside_a_mixed_group(s: Session) -> None:
    """Live members hear of a new heartbeat interval; classic members keep their own session
    timeout; the value goes back (K8-CFG-1)."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    a.ack()
    m = Member(s, "m", a.group, protocols=protocols("range", metadata=subscription(t)))
    m.member_id = "member-m"
    m.join()
    m.sync()
    settings(s, a.group, consumer_heartbeat_interval_ms=700, consumer_session_timeout_ms=50_000)
    a.beat()
    m.heartbeat()
    a.ack()
    undo = [{"name": "consumer.heartbeat.interval.ms", "config_operation": 1, "value": None}]
    s.stage().ask(
        "IncrementalAlterConfigs",
        1,
        resources=[{"resource_type": 32, "resource_name": a.group, "configs": undo}],
    )
    s.wait(2_500)
    a.beat()
    describe(a.link, a.group)


@scenario("consumer")
def names_and_patterns_of_several(s: Session) -> None:
    """One member by name, one by pattern, one classic; the pattern is replaced by a name while
    partitions move (K8-RX-1)."""
    t, u = topics(s, 4, 2)
    group = s.name("g")
    a, b = (Consumer(s, label, group, server_assignor="range") for label in "ab")
    a.join(t)
    a.ack()
    b.join(subscribed_topic_regex=f"t[01]-{s.nonce}")
    s.wait(1_500)
    b.beat()
    a.beat()
    b.beat()
    m = Member(s, "m", group, protocols=protocols("range", metadata=subscription(u)))
    m.member_id = "member-m"
    m.join()
    m.sync()
    a.ack()
    b.beat(subscribed_topic_regex="", subscribed_topic_names=[t])
    describe(a.link, group)
    for member in (b, a, b, a):
        member.ack()
    m.heartbeat()
    describe(a.link, group)
    b.beat(subscribed_topic_regex="(")
    b.beat(subscribed_topic_regex="")
    b.ack()
    describe(a.link, group)
    b.leave()
    a.beat()
    a.ack()
    describe(a.link, group)
