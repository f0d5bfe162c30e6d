"""Transactions (KIP-98, KIP-360, KIP-890): their ids, what is in them, how they end, and what
readers see of them."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, fill, wanted
from integration_tests.wire.scenarios.produce import producer, request
from integration_tests.wire.transacting import (
    BEFORE_V2,
    SINCE_V2,
    TRANSACTIONAL,
    Transactor,
    now_ms,
    settled,
)

READ_UNCOMMITTED, READ_COMMITTED = 0, 1


def read(link: Link, name: str, offset: int = 0, **other: Any) -> None:
    """What a reader of each isolation level gets."""
    for level in (READ_UNCOMMITTED, READ_COMMITTED):
        fetch(link, wanted(name, offset), isolation_level=level, **other)


def offsets(s: Session, link: Link, name: str, timestamp: int = -1) -> None:
    """ListOffsets under each isolation level; of timestamps only what they lead to."""
    asked = [
        {
            "name": name,
            "partitions": [
                {"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}
            ],
        }
    ]
    for level in (READ_UNCOMMITTED, READ_COMMITTED):
        found = link.ask_quietly(
            "ListOffsets", 7, replica_id=-1, isolation_level=level, topics=asked
        )["topics"][0]["partitions"][0]
        s.say(
            "offsets",
            {
                "isolation": level,
                "asked": timestamp if timestamp < 0 else "an instant",
                "error": found["error_code"],
                "offset": found["offset"],
                "epoch": found["leader_epoch"],
                "timed": found["timestamp"] > 0,
            },
        )


def committed(link: Link, group: str, *topics: str, stable: bool = True, version: int = 8) -> Plain:
    """OffsetFetch of partitions 0 and 1, or of everything."""
    listed = [{"name": name, "partition_indexes": [0, 1]} for name in topics] or None
    if version >= 8:
        return link.ask(
            "OffsetFetch",
            version,
            groups=[{"group_id": group, "topics": listed}],
            require_stable=stable,
        )
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
    """KIP-360: who names its id and epoch keeps them if nobody else came; a repetition is answered
    the same; others are fenced."""
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
    """The old way: AddPartitionsToTxn, Produce, EndTxn; the epoch stays, and what is committed
    shows."""
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
    """KIP-890: Produce v12 adds the partition by itself, EndTxn v5 raises the epoch and answers
    it."""
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
    """EndTxn v5: an abort of nothing raises the epoch all the same, a commit of nothing is 48; an
    old epoch is a repetition."""
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
    """Unknown ids (49), foreign producers (49), other epochs (90, before v2 47), no name at all
    (42)."""
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
    a.ask(
        "EndTxn",
        4,
        transactional_id="",
        producer_id=tx.producer_id,
        producer_epoch=1,
        committed=True,
    )
    tx.describe()


@scenario()
def adding_partitions(s: Session) -> None:
    """AddPartitionsToTxn v0-3: unknown topics (3) take the others with them (55), then the checks
    of who asks."""
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
    """AddPartitionsToTxn v4-5, several transactions at once and verification alone; nobody is kept
    from it here."""
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
    a.ask(
        "AddPartitionsToTxn",
        5,
        transactions=[
            tx.fields(verify_only=True, topics=[{"name": name, "partitions": [0]}]),
            tx.fields(
                transactional_id=s.name("nobody"),
                verify_only=False,
                topics=[{"name": name, "partitions": [1]}],
            ),
        ],
    )
    tx.describe()


@scenario(alone=True)  # verifications of different versions, sent together, are answered alike
def verified_before_v2(s: Session) -> None:
    """Produce below v12 into a partition that was not added: 48, v11 120; foreign producers 49,
    other epochs 47."""
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
        for other in (
            Producer(987654321, 1, 0),
            Producer(tx.producer_id, 0, 0),
            Producer(tx.producer_id, 2, 0),
        ):
            tx.produce(name, b"a", version=version, producer=other)
    tx.sequences.clear()
    tx.produce(name, b"a", version=3)
    for other in (
        Producer(987654321, 1, 1),
        Producer(tx.producer_id, 0, 1),
        Producer(tx.producer_id, 2, 0),
    ):
        tx.produce(name, b"b", version=BEFORE_V2, producer=other)
    tx.end(commit=True, version=4)
    tx.produce(name, b"after", version=BEFORE_V2)
    read(a, name)


@scenario(alone=True)  # verifications of different versions, sent together, are answered alike
def verified_since_v2(s: Session) -> None:
    """Produce v12: foreign producers 49, other epochs 47, unknown partitions 3; first sequences
    other than 0."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    tx.init(5)
    tx.init(5)
    for other in (
        Producer(987654321, 1, 0),
        Producer(tx.producer_id, 0, 0),
        Producer(tx.producer_id, 2, 0),
    ):
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
    """Produce that names a transactional id: with a batch that is not transactional, and with one
    of an unknown producer."""
    a = s.connect()
    name = topic(s, "t")
    tx = Transactor(s, a)
    a.ask("Produce", 9, **request(name, batch(b"x"), transactional_id=tx.name))
    for version in (9, 11, 12):
        mine = Producer(producer(s), 0, 0)
        a.ask(
            "Produce",
            version,
            **request(
                name, batch(b"x", producer=mine, attributes=TRANSACTIONAL), transactional_id=tx.name
            ),
        )
        a.ask(
            "Produce",
            version,
            **request(
                name, batch(b"x", producer=mine, attributes=TRANSACTIONAL), transactional_id=""
            ),
        )
        a.ask(
            "Produce",
            version,
            **request(name, batch(b"x", producer=mine, attributes=TRANSACTIONAL)),
        )
        a.ask(
            "Produce",
            version,
            **request(name, batch(b"x", attributes=TRANSACTIONAL), transactional_id=tx.name),
        )


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
def a_new_producer_fences_the_old(s: Session) -> None:
    """InitProducerId in the middle of a transaction aborts it (51 until done); the old producer is
    told 47 and 90."""
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
    """A producer that names its id and epoch while its transaction is open: aborted, and the epoch
    moves on (KIP-360)."""
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
