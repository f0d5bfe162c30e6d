"""Consumer groups (KIP-848): joining, reconciliation, leaving, static members, epochs (K8-HB,
K8-EP, K8-REC, K8-LV, K8-ST, K8-DSC)."""

from __future__ import annotations

from integration_tests.wire.consumers import API, Consumer, describe, topics
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


@scenario("consumer")
def a_lone_member(s: Session) -> None:
    """It joins, acknowledges, stays, leaves; the group is empty and can be deleted."""
    (t,) = topics(s, 3)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    describe(a.link, a.group)
    a.ack()
    a.beat()
    a.beat(rebalance_timeout_ms=60_000, subscribed_topic_names=[t], topic_partitions=a.listed())
    a.link.ask("DeleteGroups", 2, groups_names=[a.group])
    a.leave()
    describe(a.link, a.group)
    a.link.ask("ListGroups", 5, only="groups")
    a.link.ask("DescribeGroups", 6, groups=[a.group])
    a.link.ask("DescribeGroups", 5, groups=[a.group])
    a.join(t)
    a.leave()
    a.link.ask("DeleteGroups", 2, groups_names=[a.group])
    describe(a.link, a.group)
    a.beat()
    a.leave()


@scenario("consumer")
def version_0_mints_ids(s: Session) -> None:
    """A blank member id is replaced by one of the coordinator's, at epoch 0 only."""
    (t,) = topics(s, 1)
    a = Consumer(s, "a", s.name("g"), version=0, member_id="")
    a.join(t)
    a.ack()
    describe(a.link, a.group, 0)
    a.beat(
        member_id="",
        member_epoch=0,
        rebalance_timeout_ms=1_000,
        subscribed_topic_names=[t],
        topic_partitions=[],
    )
    a.beat(member_id="", member_epoch=-2, instance_id="i")
    a.beat(member_id="", member_epoch=-2, instance_id="i", group_id=s.name("other"))
    a.leave()


@scenario("consumer")
def three_members_are_reconciled(s: Session) -> None:
    """The main vector of the reconciliation: two join one after the other, everybody revokes what
    moves (K8-REC-1..5)."""
    t, u = topics(s, 6, 3)
    a, b, c = (Consumer(s, label, s.name("g"), server_assignor="range") for label in "abc")
    a.join(t, u)
    a.ack()
    b.join(t, u)
    describe(a.link, a.group)
    a.beat()
    a.beat()
    c.join(t, u)
    describe(a.link, a.group)
    a.ack()
    a.ack()
    b.beat()
    b.ack()
    c.beat()
    c.ack()
    describe(a.link, a.group)
    a.ack()
    b.ack()
    c.ack()
    describe(a.link, a.group)
    b.leave()
    describe(a.link, a.group)
    c.beat()
    a.beat()
    a.ack()
    c.ack()
    describe(a.link, a.group)


@scenario("consumer")
def members_that_do_not_revoke(s: Session) -> None:
    """Heartbeats without an owned list, with the old one, and with a part of it, keep a member
    where it is (K8-REC-2)."""
    (t,) = topics(s, 4)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.ack()
    old = a.listed()
    b.join(t)
    a.beat()
    a.beat(topic_partitions=old)
    a.beat(topic_partitions=[{**old[0], "partitions": old[0]["partitions"][:1]}])
    b.beat()
    describe(a.link, a.group)
    a.beat(topic_partitions=[])
    b.beat()
    b.ack()
    describe(a.link, a.group)


@scenario("consumer")
def epochs_too_old_and_too_new(s: Session) -> None:
    """The previous epoch is accepted with a subset of what is held; every other wrong epoch fences
    (K8-EP-1)."""
    (t,) = topics(s, 4)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.ack()
    old = a.listed()
    b.join(t)
    a.beat()
    a.ack()
    b.beat()
    a.beat(member_epoch=2)
    a.beat(member_epoch=2, topic_partitions=[])
    a.beat(member_epoch=2, topic_partitions=a.listed())
    a.beat(member_epoch=2, topic_partitions=old)
    a.beat(member_epoch=1, topic_partitions=[])
    a.beat(member_epoch=9)
    a.beat(member_epoch=2_147_483_647)
    a.join(t)
    a.beat()
    a.join()
    a.join(t)
    a.beat(member_id="stranger")
    a.beat(group_id=s.name("nowhere"))
    b.beat(topic_partitions=[{"topic_id": "ab" * 16, "partitions": [0]}])
    describe(a.link, a.group)


@scenario("consumer")
def requests_that_are_none(s: Session) -> None:
    """Every field wrong (K8-VAL-1..4), to a group that is not there and to one that is."""
    (t,) = topics(s, 1)
    for version in (0, 1):
        a = Consumer(s, f"a{version}", s.name(f"g{version}"), version=version)
        for _ in range(2):
            a.join(t, group_id="")
            a.join(t, group_id="  ")
            a.join(t, member_id="")
            a.join(t, member_id=" ")
            a.join(t, instance_id="")
            a.join(t, rack_id=" ")
            a.join(t, rebalance_timeout_ms=-1)
            a.join(t, topic_partitions=None)
            a.join(t, topic_partitions=[{"topic_id": "ab" * 16, "partitions": [0]}])
            a.join(subscribed_topic_names=None)
            a.join(t, server_assignor="")
            a.join(t, server_assignor="nobody")
            a.beat(member_id="", member_epoch=1)
            a.beat(member_id="", member_epoch=-1)
            a.beat(member_id="", member_epoch=-2)
            a.beat(member_epoch=-2)
            a.beat(member_epoch=-3)
            a.beat(member_epoch=-3, server_assignor="nobody")
            a.beat(member_epoch=1)
            a.leave()
            a.leave(-2, instance_id="i")
            a.join(t)
        a.join(t, rebalance_timeout_ms=-5)
        a.beat(rebalance_timeout_ms=0)


@scenario("consumer")
def subscriptions_change(s: Session) -> None:
    """Names added, taken away, doubled, of topics that are not there (yet), and of nothing at
    all."""
    t, u = topics(s, 2, 2)
    later = s.name("later")
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    a.join(t, t)
    a.ack()
    a.beat(subscribed_topic_names=[t])
    a.beat(subscribed_topic_names=[t, u])
    a.ack()
    b.join(u, later)
    a.beat()
    a.ack()
    b.beat()
    b.ack()
    describe(a.link, a.group)
    a.beat(subscribed_topic_names=[u])
    a.ack()
    b.beat()
    a.beat(subscribed_topic_names=[])
    a.beat()
    a.ack()
    describe(a.link, a.group)
    b.beat()
    b.beat(subscribed_topic_names=[])
    b.ack()
    b.ack()
    describe(a.link, a.group)


@scenario("consumer")
def nothing_to_subscribe_to(s: Session) -> None:
    """A first member without names is at epoch 1; one with the name of no topic at 2."""
    a, b = (Consumer(s, label, s.name(f"g{label}")) for label in "ab")
    a.join()
    describe(a.link, a.group)
    b.join(s.name("nowhere"))
    describe(b.link, b.group)
    a.leave()
    a.join(s.name("nowhere"))


@scenario("consumer")
def assignors_by_vote(s: Session) -> None:
    """The assignor most members ask for is used; without a wish the first that is configured
    (K8-TGT-1)."""
    (t,) = topics(s, 5)
    a, b, c = (Consumer(s, label, s.name("g")) for label in "abc")
    a.join(t, server_assignor="range")
    describe(a.link, a.group)
    b.join(t, server_assignor="uniform")
    describe(a.link, a.group)
    c.join(t, server_assignor="uniform")
    describe(a.link, a.group)
    c.beat(server_assignor="range")
    describe(a.link, a.group)
    b.leave()
    a.leave()
    c.ack()
    describe(a.link, a.group)


@scenario("consumer")
def range_and_uniform_with_unequal_subscriptions(s: Session) -> None:
    """Both assignors where members subscribe to different topics."""
    names = topics(s, 4, 3, 5)
    for assignor in ("range", "uniform"):
        members = [Consumer(s, f"{label}-{assignor}", s.name(assignor)) for label in "abc"]
        for i, member in enumerate(members):
            member.join(*names[: i + 1], server_assignor=assignor)
            for other in members[: i + 1]:
                other.ack()
                other.ack()
        describe(members[0].link, members[0].group)


@scenario("consumer")
def more_members_than_partitions(s: Session) -> None:
    """Some have nothing."""
    (t,) = topics(s, 2)
    members = [Consumer(s, label, s.name("g")) for label in "abcd"]
    for member in members:
        member.join(t)
        for other in members:
            if other.epoch:
                other.ack()
    describe(members[0].link, members[0].group)


@scenario("consumer")
def described_together(s: Session) -> None:
    """Several groups in one request, and what is none."""
    (t,) = topics(s, 1)
    a = Consumer(s, "a", s.name("g"), rack_id="r1")
    a.join(t)
    a.link.ask("ConsumerGroupDescribe", 1, group_ids=[""])
    a.link.ask("ConsumerGroupDescribe", 1, group_ids=[s.name("nowhere")])
    a.link.ask("ConsumerGroupDescribe", 1, group_ids=[])
    a.link.ask("ConsumerGroupDescribe", 0, group_ids=[a.group], include_authorized_operations=True)
    a.link.ask("ConsumerGroupDescribe", 1, group_ids=[a.group, a.group])
    a.link.ask(
        "OffsetCommit",
        9,
        group_id=s.name("simple"),
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[{"name": t, "partitions": [{"partition_index": 0, "committed_offset": 1}]}],
    )
    describe(a.link, s.name("simple"))
    for kind in ("consumer", "Consumer", "classic", "share", "nothing"):
        a.link.ask("ListGroups", 5, only="groups", types_filter=[kind])
    for state in ("stable", "Stable ", "reconciling", "assigning", "empty"):
        a.link.ask("ListGroups", 5, only="groups", states_filter=[state])


@scenario("consumer")
def offsets_of_a_consumer_group(s: Session) -> None:
    """Who may commit and fetch with which epoch (K8-OFF-1, K8-OFF-2, KIP-1251)."""
    t, u = topics(s, 2, 1)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    a.commit(t, epoch=0)
    a.join(t)
    a.ack()
    a.commit(t)
    a.commit(u)
    a.commit(t, version=8)
    a.commit(t, epoch=1)
    a.commit(t, epoch=0)
    a.commit(t, epoch=-1)
    a.commit(t, epoch=9)
    a.commit(t, member_id="stranger")
    a.commit(t, member_id="", epoch=-1)
    a.commit(t, group_instance_id="i")
    b.join(t)
    a.beat()
    a.ack()
    b.beat()
    a.commit(t, 0, epoch=2)
    a.commit(t, 1, epoch=2)
    a.commit(t, 0)
    a.commit(t, 1)
    a.commit(u, epoch=2)
    both = [{"partition_index": p, "committed_offset": 5} for p in (0, 1)]
    a.commit(t, epoch=2, topics=[{"name": t, "partitions": both}])
    a.fetch(t)
    a.fetch(t, member_epoch=2)
    a.fetch(t, member_epoch=9)
    a.fetch(t, member_id="stranger")
    a.fetch(t, member_id="", member_epoch=-1)
    a.fetch(t, member_id="", member_epoch=0)
    a.fetch(t, member_id=None, member_epoch=-1)
    a.fetch(t, member_id=None, member_epoch=3)
    a.fetch(t, member_id="member-a", member_epoch=-1)
    a.link.ask(
        "OffsetFetch",
        7,
        group_id=a.group,
        topics=[{"name": t, "partition_indexes": [0, 1]}],
        require_stable=False,
    )
    a.link.ask(
        "OffsetDelete",
        0,
        group_id=a.group,
        topics=[{"name": n, "partitions": [{"partition_index": 0}]} for n in (t, u)],
    )
    a.leave()
    b.leave()
    a.commit(t, epoch=-1, member_id="")
    a.commit(t, epoch=3)
    a.fetch(t)
    a.link.ask(
        "OffsetDelete",
        0,
        group_id=a.group,
        topics=[{"name": t, "partitions": [{"partition_index": 0}]}],
    )
    describe(a.link, a.group)


@scenario("consumer")
def topics_come_grow_and_go(s: Session) -> None:
    """The next heartbeat after a change of a subscribed topic bumps the epoch (K8-HB-4)."""
    from integration_tests.wire.people import await_topic, topic, topic_id

    (t,) = topics(s, 2)
    later = s.name("later")
    a = Consumer(s, "a", s.name("g"))
    a.join(t, later)
    a.ack()
    stage = s.stage()
    topic(s, "later", 1)
    s.names.topic_id(topic_id(s, later))
    s.wait(1_500)
    a.beat()
    a.ack()
    stage.ask_quietly(
        "CreatePartitions",
        3,
        topics=[{"name": t, "count": 4, "assignments": None}],
        timeout_ms=5_000,
        validate_only=False,
    )
    await_topic(stage, t, 4)
    s.wait(1_500)
    a.beat()
    a.ack()
    stage.ask_quietly("DeleteTopics", 5, topic_names=[t], timeout_ms=5_000)
    await_topic(stage, t, None)
    s.wait(1_500)
    describe(a.link, a.group)
    a.beat()
    a.ack()
    describe(a.link, a.group)
    topic(s, "t0", 2)
    s.names.topic_id(topic_id(s, t))
    s.wait(1_500)
    a.beat()
    a.ack()
    describe(a.link, a.group)


@scenario("consumer")
def what_only_members_of_the_other_protocol_send(s: Session) -> None:
    """Classic requests of consumer members, and of strangers."""
    (t,) = topics(s, 1)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    a.ack()
    for member_id in ("member-a", "nobody"):
        a.link.ask("Heartbeat", 4, group_id=a.group, generation_id=2, member_id=member_id)
        a.link.ask(
            "SyncGroup",
            5,
            group_id=a.group,
            generation_id=2,
            member_id=member_id,
            protocol_type="consumer",
            protocol_name="range",
        )
    a.link.ask(API, 1, group_id=a.group, member_id="member-a", member_epoch=2)
    a.leave()
    a.link.ask("Heartbeat", 4, group_id=a.group, generation_id=2, member_id="member-a")
    a.link.ask(
        "SyncGroup",
        5,
        group_id=a.group,
        generation_id=2,
        member_id="member-a",
        protocol_type="consumer",
        protocol_name="range",
    )
    a.link.ask("LeaveGroup", 5, group_id=a.group, members=[{"member_id": "member-a"}])
