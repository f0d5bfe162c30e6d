"""Offsets that members of the consumer protocol commit in transactions: TxnOffsetCommit with a
member epoch (K8-OFF-1, TXN-1)."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.transacting import Transactor


@scenario("consumer")
def offsets_of_consumers_in_a_transaction(s: Session) -> None:
    """The right epoch is taken; an old one, a future one, a stranger and nobody are refused, each
    in its version's words."""
    (t,) = topics(s, 2)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    tx = Transactor(s, a.link)
    tx.init(5)
    tx.commit_offsets(a.group, t, 1, generation_id_or_member_epoch=1, member_id=a.member_id)
    a.join(t)
    a.ack()
    tx.commit_offsets(a.group, t, 2, generation_id_or_member_epoch=1, member_id=a.member_id)
    b.join(t)
    a.beat()
    a.ack()
    b.beat()
    for version in (3, 4, 5):
        tx.commit_offsets(
            a.group,
            t,
            10 + version,
            version=version,
            generation_id_or_member_epoch=a.epoch,
            member_id=a.member_id,
        )
        tx.commit_offsets(
            a.group, t, 20, version=version, generation_id_or_member_epoch=1, member_id=a.member_id
        )
        tx.commit_offsets(
            a.group, t, 21, version=version, generation_id_or_member_epoch=0, member_id=a.member_id
        )
        tx.commit_offsets(
            a.group, t, 22, version=version, generation_id_or_member_epoch=9, member_id=a.member_id
        )
        tx.commit_offsets(
            a.group,
            t,
            23,
            version=version,
            generation_id_or_member_epoch=a.epoch,
            member_id="stranger",
        )
        tx.commit_offsets(
            a.group, t, 24, version=version, generation_id_or_member_epoch=a.epoch, member_id=""
        )
        tx.commit_offsets(
            a.group, t, 25, version=version, generation_id_or_member_epoch=-1, member_id=a.member_id
        )
        tx.commit_offsets(a.group, t, 26, version=version)
        tx.commit_offsets(
            a.group,
            t,
            27,
            version=version,
            generation_id_or_member_epoch=a.epoch,
            member_id=a.member_id,
            group_instance_id="who",
        )
    tx.end(commit=True)
    a.fetch(t)


@scenario("consumer")
def a_partition_under_an_old_epoch_in_a_transaction(s: Session) -> None:
    """KIP-1251: an epoch since which a partition was the member's is right for that partition, also
    in a transaction."""
    (t,) = topics(s, 2)
    a, b = (Consumer(s, label, s.name("g")) for label in "ab")
    tx = Transactor(s, a.link)
    tx.init(5)
    a.join(t)
    a.ack()
    b.join(t)
    a.beat()
    a.ack()
    b.beat()
    b.ack()
    tx.commit_offsets(a.group, t, 1, generation_id_or_member_epoch=1, member_id=a.member_id)
    tx.commit_offsets(a.group, t, 1, 2, generation_id_or_member_epoch=1, member_id=a.member_id)
    tx.commit_offsets(a.group, t, 3, 4, generation_id_or_member_epoch=2, member_id=b.member_id)
    tx.commit_offsets(
        a.group, t, 5, 6, generation_id_or_member_epoch=a.epoch, member_id=a.member_id
    )
    a.fetch(t)
    tx.end(commit=False)
    a.fetch(t)


@scenario("consumer")
def an_empty_consumer_group_in_a_transaction(s: Session) -> None:
    """Who has left is a stranger; without a member's name offsets are taken when the group is
    empty. Pending ones outlive a member."""
    (t,) = topics(s, 1)
    a = Consumer(s, "a", s.name("g"), instance="one")
    tx = Transactor(s, a.link)
    tx.init(5)
    a.join(t)
    a.ack()
    tx.commit_offsets(
        a.group,
        t,
        1,
        generation_id_or_member_epoch=1,
        member_id=a.member_id,
        group_instance_id="one",
    )
    a.leave(-2)
    tx.commit_offsets(
        a.group,
        t,
        2,
        generation_id_or_member_epoch=1,
        member_id=a.member_id,
        group_instance_id="one",
    )
    tx.commit_offsets(a.group, t, 3, generation_id_or_member_epoch=-2, member_id=a.member_id)
    a.leave()
    tx.commit_offsets(a.group, t, 4, generation_id_or_member_epoch=1, member_id=a.member_id)
    tx.commit_offsets(a.group, t, 5)
    describe(a.link, a.group)
    tx.end(commit=True)
    a.fetch(t, member_id=None, member_epoch=-1)
