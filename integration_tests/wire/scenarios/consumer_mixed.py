"""Requests that meet a consumer group in an intermediate state: while partitions move, between
protocols, between two lives of an id."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.people import Member, protocols, subscription
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.consumer_migration import owning
from integration_tests.wire.transacting import Transactor


def classic(s: Session, label: str, group: str, *names: str, protocol: str = "range") -> Member:
    """A classic member that brings its member id."""
    member = Member(s, label, group, protocols=protocols(protocol, metadata=subscription(*names)))
    member.member_id = f"member-{label}"
    return member


def both(link: Link, group: str) -> None:
    """The group as both versions of ConsumerGroupDescribe, and as DescribeGroups, show it."""
    describe(link, group, 0)
    describe(link, group, 1)
    link.ask("DescribeGroups", 6, groups=[group])


@scenario("consumer")
def wrong_epochs_in_each_state(s: Session) -> None:
    """Epochs around the right one of members that revoke, wait for partitions, and are stable
    (K8-EP-1)."""
    (t,) = topics(s, 4)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    for member in (a, b):
        for epoch in (-3, 1, member.epoch + 1, 9):
            member.beat(member_epoch=epoch)
            member.commit(t, epoch=epoch)
            member.fetch(t, member_epoch=epoch)
    both(b.link, b.group)
    a.beat(topic_partitions=a.listed(), member_epoch=1)
    a.ack()
    both(b.link, b.group)
    for epoch in (0, 1, 2, 3, 4):
        b.commit(t, 2, epoch=epoch)
        a.commit(t, 2, epoch=epoch)
    b.beat()
    b.ack()
    for epoch in (1, 2, 3, 4):
        for partition in range(4):
            b.commit(t, partition, epoch=epoch)
            a.commit(t, partition, epoch=epoch)
    both(b.link, b.group)


@scenario("consumer")
def who_leaves_in_each_state(s: Session) -> None:
    """Members that leave while they have to revoke, and while they wait: what they had or were to
    have is free at once (K8-LV-1)."""
    (t,) = topics(s, 4)
    for label, revoking in (("giver", True), ("taker", False)):
        a, b, c = (Consumer(s, f"{each}-{label}", s.name(label)) for each in "abc")
        a.join(t)
        a.ack()
        b.join(t)
        a.beat()
        c.join(t)
        (a if revoking else b).leave()
        both(c.link, c.group)
        for member in (b, a, c, b, a, c):
            if member is not (a if revoking else b):
                member.ack()
        both(c.link, c.group)


@scenario("consumer")
def static_members_away_in_each_state(s: Session) -> None:
    """Epoch -2 of a member that revokes, of one that waits, twice, and who comes back with other
    words (K8-LV-2, K8-ST-2)."""
    t, u = topics(s, 4, 2)
    a = Consumer(s, "a", s.name("g"), instance="i")
    b = Consumer(s, "b", s.name("g"), instance="j")
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    b.leave(-2)
    both(a.link, a.group)
    b.leave(-2)
    b.beat(member_epoch=-2, topic_partitions=[])
    a.leave(-2)
    both(a.link, a.group)
    a.commit(t, epoch=-2)
    a.commit(t, epoch=-1)
    a.fetch(t, member_epoch=-2)
    back = Consumer(s, "back", a.group, instance="j", server_assignor="range")
    back.join(t, u)
    back.ack()
    b.beat()
    b.leave()
    both(back.link, back.group)
    a.join(t)
    a.ack()
    back.ack()
    a.beat()
    both(back.link, back.group)
    a.link.ask(
        "LeaveGroup",
        5,
        group_id=a.group,
        members=[{"member_id": "member-a", "group_instance_id": "j"}],
    )
    a.link.ask(
        "LeaveGroup",
        5,
        group_id=a.group,
        members=[{"member_id": "member-a", "group_instance_id": "i"}],
    )
    a.beat()


@scenario("consumer")
def an_id_used_again(s: Session) -> None:
    """A member id that left comes back, as a consumer and as a classic member; joining anew in the
    midst of a revocation."""
    (t,) = topics(s, 4)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.ack()
    a.leave()
    a.beat(member_epoch=1)
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    a.join(t)
    both(b.link, b.group)
    a.join(t, topic_partitions=[])
    a.ack()
    b.ack()
    both(b.link, b.group)
    m = classic(s, "a", a.group, t)
    m.join()
    m.heartbeat()
    m.sync()
    a.leave()
    m = classic(s, "a", a.group, t)
    m.join()
    m.sync()
    m.heartbeat()
    a.beat()
    a.join(t)
    both(b.link, b.group)


@scenario("consumer")
def deletion_beside_members(s: Session) -> None:
    """DeleteGroups and OffsetDelete of a group whose members subscribe, some by an expression, some
    as classic members."""
    t, u, v = topics(s, 2, 1, 1)
    a = Consumer(s, "a", s.name("g"))
    a.commit(v, epoch=-1, member_id="")
    a.commit(u, epoch=-1, member_id="")
    a.commit(t, epoch=-1, member_id="")
    a.join(u, subscribed_topic_regex=f"t0-{s.nonce}")
    s.wait(1_500)
    a.beat()
    a.ack()

    def delete(*names: str) -> None:
        asked = [
            {"name": name, "partitions": [{"partition_index": p} for p in (0, 7)]} for name in names
        ]
        a.link.ask("OffsetDelete", 0, group_id=a.group, topics=asked)

    delete(t, u, v)
    m = classic(s, "m", a.group, v)
    m.join()
    m.sync()
    a.commit(v)
    delete(v, t, s.name("nowhere"))
    a.link.ask("DeleteGroups", 2, groups_names=[a.group])
    m.leave()
    delete(v)
    a.leave()
    delete(t, u, v)
    a.link.ask("DeleteGroups", 2, groups_names=[a.group])
    both(a.link, a.group)


@scenario("consumer")
def transactions_of_mixed_groups(s: Session) -> None:
    """TxnOffsetCommit of a classic member inside a consumer group, by its generation, before and
    after a change of epoch."""
    (t,) = topics(s, 2)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    a.ack()
    m = classic(s, "m", a.group, t)
    m.join()
    m.sync()
    tx = Transactor(s, a.link)
    tx.init(5)
    for generation in (m.generation, 1, 9, 0, -1):
        tx.commit_offsets(
            a.group,
            t,
            1,
            version=4,
            generation_id_or_member_epoch=generation,
            member_id=m.member_id,
        )
        tx.commit_offsets(
            a.group,
            t,
            1,
            version=5,
            generation_id_or_member_epoch=generation,
            member_id=m.member_id,
        )
        m.commit(t, 1, generation_id_or_member_epoch=generation)
        m.commit(t, 1, version=8, generation_id_or_member_epoch=generation)
    a.beat()
    a.ack()
    m.heartbeat()
    tx.commit_offsets(
        a.group, t, 2, version=5, generation_id_or_member_epoch=m.generation, member_id=m.member_id
    )
    m.join()
    tx.commit_offsets(
        a.group, t, 2, version=5, generation_id_or_member_epoch=m.generation, member_id=m.member_id
    )
    m.sync()
    tx.commit_offsets(
        a.group, t, 2, version=5, generation_id_or_member_epoch=m.generation, member_id=m.member_id
    )
    tx.end(commit=True)
    both(a.link, a.group)


@scenario("consumer")
def partitions_added_while_some_are_revoked(s: Session) -> None:
    """A topic grows before what moves is given up: a new epoch, while the member is still in the
    old one (K8-HB-4, K8-REC-2)."""
    from integration_tests.wire.people import await_topic

    (t,) = topics(s, 4)
    a, b = (Consumer(s, label, s.name("g"), server_assignor="range") for label in "ab")
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    stage = s.stage()
    stage.ask_quietly(
        "CreatePartitions",
        3,
        topics=[{"name": t, "count": 8, "assignments": None}],
        timeout_ms=5_000,
        validate_only=False,
    )
    await_topic(stage, t, 8)
    s.wait(1_500)
    a.beat()
    both(b.link, b.group)
    a.ack()
    a.ack()
    b.beat()
    b.ack()
    both(b.link, b.group)


@scenario("consumer")
def votes_of_mixed_groups(s: Session) -> None:
    """Classic members have no vote; one for an unknown assignor is refused and changes nothing
    (K8-TGT-1, K8-VAL-3)."""
    (t,) = topics(s, 5)
    a = Consumer(s, "a", s.name("g"), server_assignor="range")
    a.join(t)
    a.ack()
    for label in "mn":
        classic(s, label, a.group, t, protocol="uniform").join()
        both(a.link, a.group)
    m = classic(s, "m", a.group, t)
    m.join()
    both(a.link, a.group)
    a.beat(server_assignor="nobody")
    a.beat(server_assignor="")
    a.beat(server_assignor="RANGE")
    a.beat(server_assignor="uniform")
    both(a.link, a.group)


@scenario("consumer")
def voters_that_become_classic(s: Session) -> None:
    """A join that changes which assignor is preferred bumps no epoch by itself; the next heartbeat
    may (K8-TGT-44-2)."""
    (t,) = topics(s, 5)
    a, b = (
        Consumer(s, label, s.name("g"), instance=f"i-{label}", server_assignor=assignor)
        for label, assignor in (("a", "range"), ("b", "uniform"))
    )
    c = Consumer(s, "c", a.group)
    for one in (a, b, c):
        one.join(t)
    for one in (a, b, c, a, b, c):
        one.ack()
    became = [
        Member(
            s,
            f"classic-{one.link.name}",
            a.group,
            instance=one.instance,
            protocols=protocols("range", metadata=owning(t)),
        )
        for one in (a, b)
    ]
    for m, one in zip(became, (a, b), strict=True):
        m.member_id = one.member_id
    for m in (*became, *became):
        m.join()
        both(a.link, a.group)
        c.beat()
        m.sync()


@scenario("consumer")
def a_static_member_of_a_mixed_group_changes_protocol(s: Session) -> None:
    """Classic to consumer and back while another consumer and another classic member keep the group
    what it is (K8-CLS-3, K8-ST-1)."""
    (t,) = topics(s, 4)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    a.ack()
    m = Member(s, "m", a.group, instance="i", protocols=protocols("range", metadata=owning(t)))
    m.join()
    m.sync()
    a.beat()
    a.ack()
    m.heartbeat()
    m.join()
    m.sync()
    n = Consumer(s, "n", a.group, instance="i")
    n.join(t)
    both(a.link, a.group)
    m.leave()
    n.leave(-2)
    n.join(t)
    both(a.link, a.group)
    n.leave(-2)
    n.join(t)
    n.ack()
    o = Member(
        s, "o", a.group, instance="i", protocols=protocols("range", metadata=subscription(t))
    )
    o.join()
    n.commit(t, 0)
    both(a.link, a.group)
    o.sync()
    o.heartbeat()
    a.leave()
    a.link.ask("DescribeGroups", 6, groups=[a.group])
    o.heartbeat()


@scenario("consumer")
def cooperative_members_of_a_mixed_group(s: Session) -> None:
    """A cooperative classic member says it owns too much, too little, and a partition that is not
    there (K8-CLS-8)."""
    (t,) = topics(s, 4)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    a.ack()
    m = Member(s, "m", a.group, protocols=protocols("cooperative-sticky", metadata=owning(t)))
    m.member_id = "member-m"
    m.join()
    m.sync(protocol_name="cooperative-sticky")
    m.join(protocols=protocols("cooperative-sticky", metadata=owning(t, 0, 1, 2, 3)))
    m.sync(protocol_name="cooperative-sticky")
    a.beat()
    a.ack()
    both(a.link, a.group)
    m.heartbeat()
    for partitions in ((0, 1, 9), (), (2, 3)):
        m.join(protocols=protocols("cooperative-sticky", metadata=owning(t, *partitions)))
        m.heartbeat()
        m.sync(protocol_name="cooperative-sticky")
        both(a.link, a.group)
    n = Consumer(s, "n", a.group)
    n.join(t)
    m.heartbeat()
    m.join(protocols=protocols("cooperative-sticky", metadata=owning(t, 2, 3)))
    m.sync(protocol_name="cooperative-sticky")
    a.beat()
    both(a.link, a.group)
    m.leave()
    a.ack()
    n.ack()
    n.ack()
    both(a.link, a.group)
