"""Offsets committed in transactions: pending until the transaction ends (TXN-*, OC-*)."""

from __future__ import annotations

from integration_tests.wire.people import stable, topic
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.transactions import committed
from integration_tests.wire.transacting import Transactor, state_of


@scenario()
def offsets_in_a_transaction(s: Session) -> None:
    """TXN-5, OF-4, OF-5: pending offsets are unstable (88), then committed; an abort forgets
    them."""
    a = s.connect()
    tx, name, group = Transactor(s, a), topic(s, "t", 2), s.name("g")
    tx.init(5)
    tx.commit_offsets(group, name, 5)
    for version in (6, 7, 8):
        committed(a, group, name, version=version, **({} if version > 6 else {"stable": False}))
    committed(a, group, name, stable=False)
    committed(a, group)
    s.say("in the transaction", [topic["topic"] for topic in state_of(s, tx.name)["topics"]])
    tx.end(commit=True)
    committed(a, group, name)
    committed(a, group)
    tx.commit_offsets(group, name, 9, 10)
    committed(a, group)
    committed(a, group, stable=False)
    tx.end(commit=False)
    committed(a, group)


@scenario(alone=True)  # verifications of different versions, sent together, are answered alike
def offsets_in_a_transaction_before_v2(s: Session) -> None:
    """TXN-8: TxnOffsetCommit below v5 without AddOffsetsToTxn is 48, v4 120; with it 0 in every
    version."""
    a = s.connect()
    tx, name, group = Transactor(s, a), topic(s, "t", 2), s.name("g")
    tx.add_offsets(group)
    tx.init()
    tx.init()
    for version in range(6):
        tx.commit_offsets(group, name, 1, version=version, transactional_id=s.name("nobody"))
        tx.commit_offsets(group, name, 1, version=version, producer_id=987654321)
        tx.commit_offsets(group, name, 1, version=version, producer_epoch=0)
        if version < 5:
            tx.commit_offsets(group, name, 1, version=version)
    for version in range(5):
        tx.add_offsets(group, version)
        tx.add_offsets(group, version, producer_epoch=0)
        tx.add_offsets(group, version, producer_epoch=2)
        tx.add_offsets(group, version, producer_id=987654321)
        tx.add_offsets(group, version, transactional_id=s.name("nobody"))
    tx.add_offsets(group, transactional_id="")
    for version in range(5):
        tx.commit_offsets(group, name, 10 + version, version=version)
    tx.commit_offsets(group, s.name("nope"), 1)
    tx.commit_offsets(group, name, 1, 2, 3)
    tx.commit_offsets(group, name)
    tx.commit_offsets("", name, 1)
    tx.end(commit=True, version=4)
    committed(a, group, name)


@scenario()
def offsets_of_members_in_a_transaction(s: Session) -> None:
    """TXN-1, TXN-2: unknown groups with a generation 22, strangers 25, wrong generations 22, fenced
    instances 82, anybody else 0."""
    a = s.connect()
    tx, name, group = Transactor(s, a), topic(s, "t", 2), s.name("g")
    tx.init(5)
    tx.commit_offsets(group, name, 1, generation_id_or_member_epoch=3, member_id="x")
    tx.commit_offsets(group, name, 1)
    a.ask("DescribeGroups", 5, groups=[group])
    group = s.name("peopled")
    member = stable(s, group, "m")[0]
    tx.commit_offsets(group, name, 1)
    tx.commit_offsets(group, name, 2, generation_id_or_member_epoch=1, member_id=member.member_id)
    tx.commit_offsets(group, name, 3, generation_id_or_member_epoch=2, member_id=member.member_id)
    tx.commit_offsets(group, name, 4, generation_id_or_member_epoch=1, member_id="stranger")
    tx.commit_offsets(group, name, 5, generation_id_or_member_epoch=1, member_id="")
    tx.commit_offsets(group, name, 6, generation_id_or_member_epoch=-1, member_id=member.member_id)
    tx.commit_offsets(
        group,
        name,
        7,
        generation_id_or_member_epoch=1,
        member_id=member.member_id,
        group_instance_id="who",
    )
    tx.end(commit=True)
    committed(a, group, name)


@scenario()
def pending_offsets_of_two_producers(s: Session) -> None:
    """TXN-6: unstable until the last one ends; of two that commit, the later record wins, also
    against a plain commit (TXN-5)."""
    a = s.connect()
    one, two, name, group = (
        Transactor(s, a, "one"),
        Transactor(s, a, "two"),
        topic(s, "t", 2),
        s.name("g"),
    )
    one.init(5)
    two.init(5)
    one.commit_offsets(group, name, 1, 1)
    two.commit_offsets(group, name, 2)
    two.end(commit=True)
    committed(a, group, name)
    one.end(commit=True)
    committed(a, group, name)
    one.commit_offsets(group, name, 10, 10)
    a.ask(
        "OffsetCommit",
        8,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 20}]}],
    )
    committed(a, group, name)
    one.end(commit=True)
    committed(a, group, name)


@scenario()
def deleted_pending_offsets(s: Session) -> None:
    """TXN-7, EXP-7: OffsetDelete, DeleteGroups and DeleteTopics cancel what is pending."""
    a = s.connect()
    tx, name, group = Transactor(s, a), topic(s, "t", 2), s.name("g")
    tx.init(5)
    tx.commit_offsets(group, name, 1, 2)
    asked = [{"name": name, "partitions": [{"partition_index": 0}]}]
    a.ask("OffsetDelete", 0, group_id=group, topics=asked)
    committed(a, group, name)
    tx.end(commit=True)
    committed(a, group, name)
    tx.commit_offsets(group, name, 3, 4)
    a.ask("DeleteGroups", 2, groups_names=[group])
    a.ask("DescribeGroups", 5, groups=[group])
    committed(a, group, name)
    tx.end(commit=True)
    committed(a, group, name)
