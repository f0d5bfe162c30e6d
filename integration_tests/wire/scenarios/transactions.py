"""Transactions (KIP-98, KIP-360, KIP-890): their ids, what is in them, how they end, and what readers see of them."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.people import stable, topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, fill, wanted
from integration_tests.wire.scenarios.produce import producer, request
from integration_tests.wire.transacting import BEFORE_V2, SINCE_V2, TRANSACTIONAL, Transactor, await_transactions, now_ms, settled, state_of

READ_UNCOMMITTED, READ_COMMITTED = 0, 1


def read(link: Link, name: str, offset: int = 0, **other: Any) -> None:
    """What a reader of each isolation level gets."""
    for level in (READ_UNCOMMITTED, READ_COMMITTED):
        fetch(link, wanted(name, offset), isolation_level=level, **other)


def offsets(s: Session, link: Link, name: str, timestamp: int = -1) -> None:
    """ListOffsets under each isolation level; of timestamps only what they lead to."""
    asked = [{"name": name, "partitions": [{"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}]}]
    for level in (READ_UNCOMMITTED, READ_COMMITTED):
        found = link.ask_quietly("ListOffsets", 7, replica_id=-1, isolation_level=level, topics=asked)["topics"][0]["partitions"][0]
        s.say("offsets", {
            "isolation": level, "asked": timestamp if timestamp < 0 else "an instant", "error": found["error_code"],
            "offset": found["offset"], "epoch": found["leader_epoch"], "timed": found["timestamp"] > 0})


def committed(link: Link, group: str, *topics: str, stable: bool = True, version: int = 8) -> Plain:
    """OffsetFetch of partitions 0 and 1, or of everything."""
    listed = [{"name": name, "partition_indexes": [0, 1]} for name in topics] or None
    if version >= 8:
        return link.ask("OffsetFetch", version, groups=[{"group_id": group, "topics": listed}], require_stable=stable)
    return link.ask("OffsetFetch", version, group_id=group, topics=listed, require_stable=stable)


@scenario()
def a_transactional_id(s: Session) -> None:
    """InitProducerId in each version: one producer id, an epoch more each time."""
    tx = Transactor(s, s.connect())
    for version in range(6):
        tx.init(version)
    tx.describe()


@scenario()
def odd_transactional_ids(s: Session) -> None:
    """Empty id, timeouts that cannot be (50), half an identity (42)."""
    a = s.connect()
    tx = Transactor(s, a)
    for timeout_ms in (0, -1, 900_000, 900_001, 2_147_483_647):
        tx.init(4, timeout_ms=timeout_ms)
    a.ask("InitProducerId", 4, transactional_id="", transaction_timeout_ms=60_000)
    tx.init(4, producer_id=987654321, producer_epoch=-1)
    tx.init(4, producer_id=-1, producer_epoch=3)
    tx.init(4, timeout_ms=0, producer_id=987654321, producer_epoch=3)
    tx.describe()


@scenario()
def recovering_producers(s: Session) -> None:
    """KIP-360: who names its id and epoch keeps them if nobody else came; a repetition is answered the same; others are fenced."""
    tx = Transactor(s, s.connect())
    tx.init()
    me = tx.producer_id
    tx.init(producer_id=me, producer_epoch=0)
    tx.init(producer_id=me, producer_epoch=0)
    tx.init(producer_id=me, producer_epoch=1)
    tx.init(producer_id=me, producer_epoch=0)
    tx.init(3, producer_id=me, producer_epoch=0)
    tx.init(producer_id=me, producer_epoch=7)
    tx.init(producer_id=987654321, producer_epoch=0)
    tx.init()
    tx.init(producer_id=me, producer_epoch=2)
    tx.init(producer_id=me, producer_epoch=3)
    other = Transactor(s, tx.link, "other")
    other.init(producer_id=987654321, producer_epoch=5)


@scenario()
def a_transaction_before_v2(s: Session) -> None:
    """The old way: AddPartitionsToTxn, Produce, EndTxn; the epoch stays, and what is committed shows."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init()
    tx.add((name, [0]))
    tx.produce(name, b"a", b"b", version=BEFORE_V2)
    read(a, name)
    tx.describe()
    tx.end(commit=True, version=4)
    tx.describe()
    read(a, name)
    tx.add((name, [0]))
    tx.produce(name, b"c", version=BEFORE_V2)
    tx.end(commit=False, version=4)
    read(a, name)
    read(a, name, 3)
    tx.describe()


@scenario()
def a_transaction_since_v2(s: Session) -> None:
    """KIP-890: Produce v12 adds the partition by itself, EndTxn v5 raises the epoch and answers it."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a", b"b")
    tx.describe()
    read(a, name)
    tx.end(commit=True)
    tx.describe()
    read(a, name)
    tx.produce(name, b"c")
    tx.produce(name, b"d")
    tx.end(commit=False)
    read(a, name)
    tx.produce(name, b"e")
    tx.end(commit=True)
    read(a, name)
    read(a, name, 4)


@scenario()
def ending_what_never_began_before_v2(s: Session) -> None:
    """EndTxn v0-4 without a transaction: 48; said twice it is right, said the other way 48."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.end(commit=True, version=4)
    tx.init()
    for version in range(5):
        tx.end(commit=version % 2 == 0, version=version)
    for commit in (True, False):
        tx.add((name, [0]))
        tx.end(commit=commit, version=4)
        tx.end(commit=commit, version=4)
        tx.end(commit=not commit, version=4)
        tx.describe()


@scenario()
def ending_what_never_began_since_v2(s: Session) -> None:
    """EndTxn v5: an abort of nothing raises the epoch all the same, a commit of nothing is 48; an old epoch is a repetition."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.end(commit=True)
    tx.end(commit=False)
    tx.describe()
    tx.end(commit=False)
    tx.end(commit=True)
    for commit in (True, False):
        tx.produce(name, b"a")
        before = tx.epoch
        tx.end(commit=commit)
        tx.end(commit=commit, producer_epoch=before)
        tx.end(commit=not commit, producer_epoch=before)
        tx.end(commit=commit, producer_epoch=before - 1)
        tx.end(commit=commit, producer_epoch=before + 2)
        tx.end(commit=True)
        tx.describe()


@scenario()
def who_may_end_a_transaction(s: Session) -> None:
    """Unknown ids (49), foreign producers (49), other epochs (90, before v2 47), no name at all (42)."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init()
    tx.init()
    tx.add((name, [0]))
    for version in range(6):
        tx.end(commit=True, version=version, transactional_id=s.name("nobody"))
        tx.end(commit=True, version=version, producer_id=987654321)
        tx.end(commit=True, version=version, producer_epoch=0)
        tx.end(commit=True, version=version, producer_epoch=2)
    a.ask("EndTxn", 4, transactional_id="", producer_id=tx.producer_id, producer_epoch=1, committed=True)
    tx.describe()


@scenario()
def adding_partitions(s: Session) -> None:
    """AddPartitionsToTxn v0-3: unknown topics (3) take the others with them (55), then the checks of who asks."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    tx.add((name, [0]))
    tx.init()
    tx.init()
    for version in range(4):
        tx.add((name, [0, 1]), version=version)
        tx.add((name, [0, 7]), (s.name("nope"), [0]), version=version)
        tx.add((name, [0]), version=version, producer_id=987654321)
        tx.add((name, [0]), version=version, producer_epoch=0)
        tx.add((name, [0]), version=version, producer_epoch=2)
        tx.add((name, [0]), version=version, transactional_id=s.name("nobody"))
    tx.add((name, [0]), transactional_id="")
    tx.add()
    tx.describe()


@scenario()
def adding_partitions_as_brokers_do(s: Session) -> None:
    """AddPartitionsToTxn v4-5, several transactions at once and verification alone; nobody is kept from it here."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    tx.init(5)
    for version in (4, 5):
        tx.add_batched((name, [0]), version=version, verify_only=True)
        tx.add_batched((name, [0]), version=version)
        tx.add_batched((name, [0, 1]), version=version, verify_only=True)
        tx.add_batched((name, [0, 7]), (s.name("nope"), [0]), version=version)
        tx.add_batched((name, [7]), (s.name("nope"), [0]), version=version, verify_only=True)
        tx.add_batched((name, [0]), version=version, producer_id=987654321)
        tx.add_batched((name, [0]), version=version, producer_epoch=9)
        tx.add_batched((name, [0]), version=version, producer_epoch=9, verify_only=True)
        tx.add_batched((name, [0]), version=version, transactional_id=s.name("nobody"))
        tx.add_batched((name, [0]), version=version, transactional_id="")
    a.ask("AddPartitionsToTxn", 5, transactions=[
        tx.fields(verify_only=True, topics=[{"name": name, "partitions": [0]}]),
        tx.fields(transactional_id=s.name("nobody"), verify_only=False, topics=[{"name": name, "partitions": [1]}])])
    tx.describe()


@scenario(alone=True)  # verifications of different versions, sent together, are answered alike
def verified_before_v2(s: Session) -> None:
    """Produce below v12 into a partition that was not added: 48, v11 120; foreign producers 49, other epochs 47."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    tx.init()
    tx.init()
    for version in (3, 8, 10, 11):
        tx.produce(name, b"a", version=version)
        tx.sequences.clear()
    tx.add((name, [0]))
    for version in (3, 10, 11):
        tx.produce(name, b"a", partition=1, version=version)
        tx.sequences.clear()
        for other in (Producer(987654321, 1, 0), Producer(tx.producer_id, 0, 0), Producer(tx.producer_id, 2, 0)):
            tx.produce(name, b"a", version=version, producer=other)
    tx.sequences.clear()
    tx.produce(name, b"a", version=3)
    for other in (Producer(987654321, 1, 1), Producer(tx.producer_id, 0, 1), Producer(tx.producer_id, 2, 0)):
        tx.produce(name, b"b", version=BEFORE_V2, producer=other)
    tx.end(commit=True, version=4)
    tx.produce(name, b"after", version=BEFORE_V2)
    read(a, name)


@scenario(alone=True)  # verifications of different versions, sent together, are answered alike
def verified_since_v2(s: Session) -> None:
    """Produce v12: foreign producers 49, other epochs 47, unknown partitions 3; first sequences other than 0."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    tx.init(5)
    tx.init(5)
    for other in (Producer(987654321, 1, 0), Producer(tx.producer_id, 0, 0), Producer(tx.producer_id, 2, 0)):
        tx.produce(name, b"a", producer=other)
    tx.produce(name, b"a", partition=7)
    tx.produce(name, b"a", producer=Producer(tx.producer_id, 1, 5))
    tx.describe()
    tx.sequences.clear()
    tx.produce(name, b"a")
    tx.produce(name, b"b", producer=Producer(tx.producer_id, 1, 0))
    tx.produce(name, b"b", producer=Producer(tx.producer_id, 1, 0), timestamp_ms=1_600_000_000_000)
    tx.produce(name, b"b", producer=Producer(tx.producer_id, 1, 5))
    tx.produce(name, b"b", producer=Producer(tx.producer_id, 1, 1), attributes=0)
    tx.end(commit=True)
    tx.produce(name, b"old epoch", producer=Producer(tx.producer_id, 1, 1))
    tx.produce(name, b"not at 0", producer=Producer(tx.producer_id, 2, 1))
    tx.sequences.clear()
    tx.produce(name, b"at 0")
    tx.end(commit=True)
    read(a, name)


@scenario()
def produce_under_a_transactional_id(s: Session) -> None:
    """Produce that names a transactional id: with a batch that is not transactional, and with one of an unknown producer."""
    a = s.connect()
    name = topic(s, "t")
    tx = Transactor(s, a)
    a.ask("Produce", 9, **request(name, batch(b"x"), transactional_id=tx.name))
    for version in (9, 11, 12):
        mine = Producer(producer(s), 0, 0)
        a.ask("Produce", version, **request(name, batch(b"x", producer=mine, attributes=TRANSACTIONAL), transactional_id=tx.name))
        a.ask("Produce", version, **request(name, batch(b"x", producer=mine, attributes=TRANSACTIONAL), transactional_id=""))
        a.ask("Produce", version, **request(name, batch(b"x", producer=mine, attributes=TRANSACTIONAL)))
        a.ask("Produce", version, **request(name, batch(b"x", attributes=TRANSACTIONAL), transactional_id=tx.name))


@scenario()
def several_partitions_and_producers(s: Session) -> None:
    """Transactions that overlap in a log: the last stable offset, and who is listed as aborted."""
    a = s.connect()
    one, two, name = Transactor(s, a, "one"), Transactor(s, a, "two"), topic(s, "t", 2)
    one.init(5)
    two.init(5)
    one.produce(name, b"one-0")
    fill(s, name, batch(b"plain-1", timestamp_ms=now_ms()))
    two.produce(name, b"two-2")
    two.produce(name, b"two-p1", partition=1)
    read(a, name)
    offsets(s, a, name)
    two.end(commit=False)
    read(a, name)
    offsets(s, a, name)
    one.produce(name, b"one-4")
    one.end(commit=False)
    for offset in range(7):
        fetch(a, wanted(name, offset), isolation_level=READ_COMMITTED)
    fetch(a, wanted(name, 0, partition_max_bytes=150), isolation_level=READ_COMMITTED)
    fetch(a, wanted(name, 0, 0), isolation_level=READ_COMMITTED)
    offsets(s, a, name)


@scenario()
def long_logs_of_aborted_transactions(s: Session) -> None:
    """How far ahead of the records read the list of aborted transactions looks."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    for i in range(12):
        tx.produce(name, bytes([65 + i]) * 1000)
        tx.end(commit=i % 3 == 0)
    for offset in range(0, 24, 3):
        for limit in (500, 1500, 3000, 6000):
            fetch(a, wanted(name, offset, partition_max_bytes=limit), isolation_level=READ_COMMITTED)


@scenario()
def offsets_under_isolation(s: Session) -> None:
    """ListOffsets: by time, latest and highest timestamp stop at the last stable offset; earliest does not care."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    base = now_ms() - 10_000
    fill(s, name, batch(b"a", timestamp_ms=base))
    tx.produce(name, b"b", timestamp_ms=base + 1000)
    fill(s, name, batch(b"c", timestamp_ms=base + 2000))
    for timestamp in (-1, -2, -3, base, base + 500, base + 1500, base + 2500):
        offsets(s, a, name, timestamp)
    tx.end(commit=True)
    for timestamp in (-1, -2, -3, base, base + 500, base + 1500, base + 2500, base + 100_000):
        offsets(s, a, name, timestamp)


@scenario()
def a_reader_that_waits(s: Session) -> None:
    """A read_committed fetch waits past records in a transaction, and is answered by the marker."""
    a, b = s.connect(), s.connect("b")
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    fields: Plain = {"max_wait_ms": 20_000, "min_bytes": 1, "max_bytes": 1 << 20, "isolation_level": READ_COMMITTED, "replica_id": -1,
                     "session_id": 0, "session_epoch": -1, "forgotten_topics_data": [], "topics": [wanted(name, 0)]}
    b.send("Fetch", 12, **fields)
    b.silent()
    tx.produce(name, b"b")
    b.silent()
    tx.end(commit=True)
    b.expect()


@scenario()
def sessions_under_isolation(s: Session) -> None:
    """An incremental fetch session tells a partition again when its transaction ended."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    answer = fetch(a, wanted(name, 0), isolation_level=READ_COMMITTED, session_epoch=0)
    session: Plain = {"isolation_level": READ_COMMITTED, "session_id": answer["session_id"]}
    fetch(a, session_epoch=1, **session)
    tx.produce(name, b"b")
    fetch(a, session_epoch=2, **session)
    tx.end(commit=True)
    fetch(a, session_epoch=3, **session)
    fetch(a, wanted(name, 3), session_epoch=4, **session)
    fetch(a, session_epoch=5, **session)


@scenario()
def a_new_producer_fences_the_old(s: Session) -> None:
    """InitProducerId in the middle of a transaction aborts it (51 until done); the old producer is told 47 and 90."""
    a, b = s.connect(), s.connect("b")
    old, name = Transactor(s, a), topic(s, "t")
    old.init(5)
    old.produce(name, b"a")
    new = Transactor(s, b)
    new.init(5)
    new.describe()
    old.produce(name, b"b")
    old.end(commit=True)
    old.end(commit=True, version=4)
    old.add((name, [0]))
    old.add((name, [0]), version=1)
    old.init(producer_id=old.producer_id, producer_epoch=0)
    old.init(3, producer_id=old.producer_id, producer_epoch=0)
    new.produce(name, b"c")
    new.end(commit=True)
    read(a, name)


@scenario()
def a_new_producer_fences_the_old_before_v2(s: Session) -> None:
    """The same where the transaction was made the old way."""
    a, b = s.connect(), s.connect("b")
    old, name = Transactor(s, a), topic(s, "t")
    old.init()
    old.add((name, [0]))
    old.produce(name, b"a", version=BEFORE_V2)
    new = Transactor(s, b)
    new.init()
    new.describe()
    old.produce(name, b"b", version=BEFORE_V2)
    old.end(commit=True, version=4)
    new.add((name, [0]))
    new.produce(name, b"c", version=BEFORE_V2)
    new.end(commit=True, version=4)
    read(a, name)


@scenario()
def recovery_in_the_middle(s: Session) -> None:
    """A producer that names its id and epoch while its transaction is open: aborted, and the epoch moves on (KIP-360)."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    tx.init(5, again=False, producer_id=tx.producer_id, producer_epoch=0)
    settled(s, tx.name)
    tx.describe()
    tx.init(5, producer_id=tx.producer_id, producer_epoch=0)
    tx.init(5, producer_id=tx.producer_id, producer_epoch=1)
    tx.describe()
    read(a, name)


@scenario()
def mixed_ways(s: Session) -> None:
    """Partitions added the old way and ended the new way, and the reverse."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init()
    tx.add((name, [0]))
    tx.produce(name, b"a", version=BEFORE_V2)
    tx.end(commit=True)
    tx.describe()
    tx.produce(name, b"b", version=SINCE_V2)
    tx.end(commit=True, version=4)
    tx.describe()
    tx.produce(name, b"c", version=SINCE_V2)
    tx.end(commit=True)
    read(a, name)


@scenario()
def offsets_in_a_transaction(s: Session) -> None:
    """TXN-5, OF-4, OF-5: pending offsets are unstable (88), then committed; an abort forgets them."""
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
    """TXN-8: TxnOffsetCommit below v5 without AddOffsetsToTxn is 48, v4 120; with it 0 in every version."""
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
    """TXN-1, TXN-2: unknown groups with a generation 22, strangers 25, wrong generations 22, fenced instances 82, anybody else 0."""
    a = s.connect()
    tx, name, group = Transactor(s, a), topic(s, "t", 2), s.name("g")
    tx.init(5)
    tx.commit_offsets(group, name, 1, generation_id=3, member_id="x")
    tx.commit_offsets(group, name, 1)
    a.ask("DescribeGroups", 5, groups=[group])
    group = s.name("peopled")
    member = stable(s, group, "m")[0]
    tx.commit_offsets(group, name, 1)
    tx.commit_offsets(group, name, 2, generation_id=1, member_id=member.member_id)
    tx.commit_offsets(group, name, 3, generation_id=2, member_id=member.member_id)
    tx.commit_offsets(group, name, 4, generation_id=1, member_id="stranger")
    tx.commit_offsets(group, name, 5, generation_id=1, member_id="")
    tx.commit_offsets(group, name, 6, generation_id=-1, member_id=member.member_id)
    tx.commit_offsets(group, name, 7, generation_id=1, member_id=member.member_id, group_instance_id="who")
    tx.end(commit=True)
    committed(a, group, name)


@scenario()
def pending_offsets_of_two_producers(s: Session) -> None:
    """TXN-6: unstable until the last one ends; of two that commit, the later record wins, also against a plain commit (TXN-5)."""
    a = s.connect()
    one, two, name, group = Transactor(s, a, "one"), Transactor(s, a, "two"), topic(s, "t", 2), s.name("g")
    one.init(5)
    two.init(5)
    one.commit_offsets(group, name, 1, 1)
    two.commit_offsets(group, name, 2)
    two.end(commit=True)
    committed(a, group, name)
    one.end(commit=True)
    committed(a, group, name)
    one.commit_offsets(group, name, 10, 10)
    a.ask("OffsetCommit", 8, group_id=group, generation_id_or_member_epoch=-1, member_id="",
          topics=[{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 20}]}])
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


@scenario("cleanup", lasts_s=2)
def a_transaction_that_takes_too_long(s: Session) -> None:
    """Its timeout passed, so the coordinator aborts it at its next look; the producer is told 47 and 90."""
    await_transactions(s, s.name("tx"))
    tx, name = Transactor(s, s.connect()), topic(s, "t")
    tx.init(5, timeout_ms=100)
    tx.produce(name, b"a")
    s.until(lambda: state_of(s, tx.name)["transaction_state"] == "CompleteAbort", "the transaction was never aborted")
    tx.link = s.connect("b")  # in this profile a connection that is silent for long is closed
    tx.describe()
    tx.produce(name, b"b")
    tx.end(commit=True)
    tx.init(5, producer_id=tx.producer_id, producer_epoch=0)
    tx.init(5)
    read(tx.link, name)


@scenario("cleanup", lasts_s=5)
def an_id_that_nobody_uses(s: Session) -> None:
    """It is forgotten after transactional.id.expiration.ms: its producer is unknown (49), and who comes next gets another id."""
    await_transactions(s, s.name("tx"))
    tx, name = Transactor(s, s.connect()), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    tx.end(commit=True)
    s.until(lambda: bool(state_of(s, tx.name)["error_code"]), "the id was never forgotten")
    tx.link = s.connect("b")
    tx.describe()
    tx.add((name, [0]))
    tx.end(commit=True)
    tx.produce(name, b"b")
    tx.init(5, producer_id=tx.producer_id, producer_epoch=tx.epoch)
    tx.init(5)


@scenario()
def listing_and_describing(s: Session) -> None:
    """ListTransactions and DescribeTransactions in their versions, with filters; unknown ids, unknown states."""
    a = s.connect()
    one, two, name = Transactor(s, a, "one"), Transactor(s, a, "two"), topic(s, "t", 3)
    one.init(5)
    two.init(5)
    two.produce(name, b"a", partition=2)
    two.produce(name, b"a", partition=0)
    mine: Plain = {"state_filters": [], "producer_id_filters": []}
    for version in range(3):
        a.ask("ListTransactions", version, only="transaction_states", **mine)
        a.ask("ListTransactions", version, only="transaction_states", **(mine | {"state_filters": ["Ongoing"]}))
        a.ask("ListTransactions", version, only="transaction_states", **(mine | {"state_filters": ["Empty", "Nonsense", "ongoing"]}))
        a.ask("ListTransactions", version, only="transaction_states", **(mine | {"producer_id_filters": [one.producer_id]}))
    for duration in (-1, 0, 3_600_000):
        a.ask("ListTransactions", 1, only="transaction_states", duration_filter=duration, **mine)
    for pattern in (one.name, "o.e-.*", "one", "", None, "[", f".*-{s.nonce}"):
        a.ask("ListTransactions", 2, only="transaction_states", transactional_id_pattern=pattern, **mine)
    a.ask("DescribeTransactions", 0, shuffled="transaction_states", transactional_ids=[one.name, two.name, s.name("nobody"), "", one.name])
    a.ask("DescribeTransactions", 0, transactional_ids=[])


@scenario()
def describing_producers(s: Session) -> None:
    """DescribeProducers: idle, idempotent, in a transaction, after it; unknown partitions."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    asked = [{"name": name, "partition_indexes": [0, 1, 7]}, {"name": s.name("nope"), "partition_indexes": [0]}]
    a.ask("DescribeProducers", 0, topics=asked)
    me = producer(s)
    fill(s, name, batch(b"x", b"y", producer=Producer(me, 0, 0), timestamp_ms=now_ms()), partition=1)
    tx.init(5)
    tx.produce(name, b"a", b"b")
    a.ask("DescribeProducers", 0, topics=asked)
    tx.end(commit=True)
    a.ask("DescribeProducers", 0, topics=asked)
    tx.produce(name, b"c")
    a.ask("DescribeProducers", 0, topics=asked[:1])


@scenario()
def markers_by_hand(s: Session) -> None:
    """WriteTxnMarkers, as an administrator aborts a hanging transaction: epochs (47), unknown partitions (3)."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    tx.init(5)
    tx.init(5)
    tx.produce(name, b"a")

    def marker(version: int, partitions: list[int], **other: Any) -> None:
        fields: Plain = {"producer_id": tx.producer_id, "producer_epoch": 1, "transaction_result": False, "coordinator_epoch": 0,
                         "transaction_version": 0, "topics": [{"name": name, "partition_indexes": partitions}]}
        a.ask("WriteTxnMarkers", version, shuffled="markers", markers=[fields | other])

    marker(1, [0], producer_epoch=0)
    marker(2, [0], producer_epoch=1, transaction_version=2)
    marker(1, [7])
    marker(1, [1])
    marker(1, [0, 7])
    read(a, name)
    marker(1, [0])
    marker(1, [0], transaction_result=True, producer_epoch=2)
    marker(1, [0], coordinator_epoch=-1)
    a.ask("WriteTxnMarkers", 1, markers=[])
    read(a, name)
    a.ask("DescribeProducers", 0, topics=[{"name": name, "partition_indexes": [0, 1]}])
    tx.describe()


@scenario()
def topics_that_go_in_a_transaction(s: Session) -> None:
    """A topic is deleted while a transaction writes to it: the transaction ends all the same."""
    a = s.connect()
    tx, name, gone = Transactor(s, a), topic(s, "t"), topic(s, "gone")
    tx.init(5)
    tx.produce(name, b"a")
    tx.produce(gone, b"a")
    a.ask("DeleteTopics", 5, topic_names=[gone], timeout_ms=5000)
    tx.end(commit=True)
    tx.describe()
    read(a, name)


@scenario()
def records_deleted_in_a_transaction(s: Session) -> None:
    """DeleteRecords in the middle: the last stable offset never lies below the log start."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    tx.produce(name, b"b")
    a.ask("DeleteRecords", 2, timeout_ms=5000, topics=[{"name": name, "partitions": [{"partition_index": 0, "offset": 1}]}])
    read(a, name, 1)
    offsets(s, a, name)
    a.ask("DeleteRecords", 2, timeout_ms=5000, topics=[{"name": name, "partitions": [{"partition_index": 0, "offset": -1}]}])
    offsets(s, a, name)
    tx.end(commit=False)
    read(a, name, 2)


@scenario()
def where_transactions_are_kept(s: Session) -> None:
    """FindCoordinator of type 1 and the topic it makes; the cluster's features."""
    a = s.connect()
    Transactor(s, a)
    for version in range(7):
        asked: Plain = {"coordinator_keys": [s.name("tx"), ""]} if version >= 4 else {"key": s.name("tx")}
        a.ask("FindCoordinator", version, **(asked | ({"key_type": 1} if version else {})))
    found = a.ask_quietly("Metadata", 12, topics=[{"name": "__transaction_state"}], allow_auto_topic_creation=False)["topics"][0]
    s.say("topic", {"error": found["error_code"], "internal": found["is_internal"]})
    shown = a.ask_quietly("DescribeConfigs", 4, include_synonyms=False, include_documentation=False, resources=[
        {"resource_type": 2, "resource_name": "__transaction_state", "configuration_keys": None}])["results"][0]["configs"]
    s.say("configs", sorted(f"{config['name']}={config['value']}" for config in shown
                              if config["config_source"] == 1 and config["name"] != "min.insync.replicas"))
    features = a.ask_quietly("ApiVersions", 4, client_software_name="raw", client_software_version="1")
    s.say("transaction.version", [f for f in features["finalized_features"] if f["name"] == "transaction.version"])
    a.ask("Produce", 12, **request("__transaction_state", batch(b"x", key=b"k")))
