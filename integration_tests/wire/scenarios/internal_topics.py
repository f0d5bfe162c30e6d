"""The topics in which Kafka keeps groups and transactional ids: they grow by CreatePartitions, are
deleted, and made again.

Each is played when nobody else is on its broker. Names are looked for that a number of partitions
sends elsewhere than another number does.
"""

from __future__ import annotations

from itertools import count

from coordinator.base.java_hash import coordinator_partition
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import PROFILES, scenario
from integration_tests.wire.scenarios.offsets import commit, committed
from integration_tests.wire.transacting import Transactor, settled, state_of

PROFILE = "limits"
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
AT_THE_START = {OFFSETS: int(PROFILES[PROFILE]["offsets.topic.num.partitions"]), TRANSACTIONS: 50}
ZERO_ID = "0" * 32


def partitions_of(s: Session, name: str) -> int:
    """How many partitions a topic has; 0: there is no such topic. Leaves no step."""
    found = s.stage().ask_quietly(
        "Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False
    )["topics"][0]
    return len(found["partitions"])


def name_that(s: Session, label: str, now: int, then: int, *, moves: bool) -> str:
    """A name of this run that `then` partitions hold elsewhere than `now` partitions do, or where
    these do."""
    for number in count():
        name = s.name(f"{label}~{number}")
        if (coordinator_partition(name, now) != coordinator_partition(name, then)) == moves:
            return name
    raise AssertionError


def grow(s: Session, name: str, more: int) -> int:
    """Add partitions to a topic; returns how many it has then."""
    wanted = partitions_of(s, name) + more
    answer = s.stage().ask_quietly(
        "CreatePartitions",
        3,
        topics=[{"name": name, "count": wanted, "assignments": None}],
        timeout_ms=5000,
        validate_only=False,
    )
    s.say("grown", [[row["error_code"], row["error_message"]] for row in answer["results"]])
    s.until(lambda: partitions_of(s, name) == wanted, f"{name} did not grow")
    return wanted


def delete(s: Session, name: str) -> None:
    """Delete a topic and wait until it is gone."""
    answer = s.stage().ask_quietly(
        "DeleteTopics", 6, topics=[{"name": name, "topic_id": ZERO_ID}], timeout_ms=5000
    )
    s.say("deleted", [[row["error_code"], row["error_message"]] for row in answer["responses"]])
    s.until(lambda: not partitions_of(s, name), f"{name} was not deleted")


def stable_offset(a: Link, group: str, name: str, partition: int) -> None:
    """OffsetFetch of what no open transaction may change."""
    asked = [{"group_id": group, "topics": [{"name": name, "partition_indexes": [partition]}]}]
    a.ask("OffsetFetch", 9, groups=asked, require_stable=True)


def found(a: Link, key_type: int, *keys: str) -> None:
    """FindCoordinator for each key."""
    a.ask("FindCoordinator", 4, key_type=key_type, coordinator_keys=list(keys))


def await_group_coordinator(s: Session, *groups: str) -> None:
    """Wait until the broker coordinates these groups again."""

    def coordinated() -> bool:
        asked = s.stage().ask_quietly(
            "FindCoordinator", 4, coordinator_keys=list(groups), key_type=0
        )["coordinators"]
        told = s.stage().ask_quietly("DescribeGroups", 5, groups=list(groups))["groups"]
        return not any(row["error_code"] for row in [*asked, *told])

    s.until(coordinated, "nobody coordinates the groups")


def await_transaction_coordinator(s: Session, *names: str) -> None:
    """Wait until the broker coordinates these transactional ids again."""

    def coordinated() -> bool:
        asked: list[Plain] = s.stage().ask_quietly(
            "FindCoordinator", 4, coordinator_keys=list(names), key_type=1
        )["coordinators"]
        return not any(row["error_code"] for row in asked) and all(
            state_of(s, name)["error_code"] in (0, 105) for name in names
        )

    s.until(coordinated, "nobody coordinates the transactional ids")


@scenario(PROFILE, alone=True)
def offsets_topic_grows(s: Session) -> None:
    """Groups stay where the number of partitions at the broker's start sent them, what they have
    committed stays theirs."""
    a, t = s.connect(), topic(s, "t", 2)
    start, then = AT_THE_START[OFFSETS], partitions_of(s, OFFSETS) + 3
    stays, moves = (
        name_that(s, "stays", start, then, moves=False),
        name_that(s, "moves", start, then, moves=True),
    )
    fresh = name_that(s, "fresh", start, then, moves=True)
    tx = Transactor(s, a)
    tx.init()
    for group in (stays, moves):
        commit(a, group, t, {"partition_index": 0, "committed_offset": 7})
    grow(s, OFFSETS, 3)
    found(a, 0, stays, moves, fresh)
    a.ask("DescribeGroups", 5, shuffled="groups", groups=[stays, moves, fresh])
    for group in (stays, moves, fresh):
        committed(a, group, t, 0, 1)
        commit(a, group, t, {"partition_index": 1, "committed_offset": 8})
        committed(a, group, t, 0, 1)
    tx.add_offsets(moves)
    tx.commit_offsets(moves, t, 9)
    stable_offset(a, moves, t, 0)
    tx.end(commit=True)
    stable_offset(a, moves, t, 0)
    a.ask("DeleteGroups", 2, shuffled="results", groups_names=[stays, moves, fresh])


@scenario(PROFILE, alone=True)
def offsets_topic_deleted(s: Session) -> None:
    """Groups are gone with it; who looks for a coordinator has it made again."""
    a, t = s.connect(), topic(s, "t", 2)
    group, other = s.name("g"), s.name("h")
    await_group_coordinator(s, group, other)
    commit(a, group, t, {"partition_index": 0, "committed_offset": 7})
    tx = Transactor(s, a)
    tx.init()
    tx.add_offsets(other)
    tx.commit_offsets(other, t, 9)
    delete(s, OFFSETS)

    def unloaded() -> bool:
        told = s.stage().ask_quietly("DescribeGroups", 5, groups=[group, other])["groups"]
        return all(row["error_code"] for row in told)

    s.until(unloaded, "the groups were not unloaded")
    commit(a, group, t, {"partition_index": 0, "committed_offset": 8})
    committed(a, group, t, 0)
    a.ask("DescribeGroups", 5, shuffled="groups", groups=[group])
    a.ask("ListGroups", 4, only="groups")
    a.ask("DeleteGroups", 2, groups_names=[group])
    a.ask("Heartbeat", 4, group_id=group, generation_id=1, member_id="m")
    tx.commit_offsets(other, t, 10)
    tx.end(commit=True)
    tx.describe()
    await_group_coordinator(s, group, other)
    s.say("partitions", partitions_of(s, OFFSETS))
    a.ask("DescribeGroups", 5, shuffled="groups", groups=[group, other])
    committed(a, group, t, 0)
    commit(a, group, t, {"partition_index": 0, "committed_offset": 9})
    committed(a, group, t, 0)
    committed(a, other, t, 0)


@scenario(PROFILE, alone=True)
def transactions_topic_grows(s: Session) -> None:
    """Transactional ids stay where the number of partitions at the broker's start sent them.

    ListTransactions is not asked: Kafka mostly answers COORDINATOR_LOAD_IN_PROGRESS then, because
    it never loads the new partitions.
    """
    a, t = s.connect(), topic(s, "t", 1)
    seed = Transactor(s, a, "seed")
    seed.init()
    start, then = AT_THE_START[TRANSACTIONS], partitions_of(s, TRANSACTIONS) + 10
    old = Transactor(s, a, name_that(s, "old", start, then, moves=True).removesuffix(f"-{s.nonce}"))
    old.init()
    old.produce(t, b"one")
    grow(s, TRANSACTIONS, 10)
    found(a, 1, old.name)
    old.describe()
    old.produce(t, b"two")
    old.end(commit=True)
    new = Transactor(s, a, name_that(s, "new", start, then, moves=True).removesuffix(f"-{s.nonce}"))
    found(a, 1, new.name)
    new.init()
    new.produce(t, b"three")
    new.end(commit=False)
    for one in (old, new):
        one.describe()


@scenario(PROFILE, alone=True)
def transactions_topic_deleted(s: Session) -> None:
    """Transactional ids are forgotten with it; who looks for a coordinator has it made again."""
    a, t = s.connect(), topic(s, "t", 1)
    open_one, done, group = Transactor(s, a, "open"), Transactor(s, a, "done"), s.name("g")
    for one in (open_one, done):
        one.init()
        one.produce(t, b"one")
    done.end(commit=True)
    open_one.add_offsets(group)
    open_one.commit_offsets(group, t, 5)
    delete(s, TRANSACTIONS)
    s.until(
        lambda: all(state_of(s, one.name)["error_code"] for one in (open_one, done)),
        "the transactional ids were not unloaded",
    )
    open_one.describe()
    a.ask(
        "ListTransactions", 1, only="transaction_states", state_filters=[], producer_id_filters=[]
    )
    done.init(again=False)
    open_one.add_offsets(group)
    open_one.link.ask("EndTxn", 5, **open_one.fields(committed=True))
    open_one.produce(t, b"two")
    await_transaction_coordinator(s, open_one.name, done.name)
    s.say("partitions", partitions_of(s, TRANSACTIONS))
    for one in (open_one, done):
        one.describe()
    a.ask(
        "ListTransactions", 1, only="transaction_states", state_filters=[], producer_id_filters=[]
    )
    stable_offset(a, group, t, 0)
    open_one.link.ask("EndTxn", 5, **open_one.fields(committed=True))
    open_one.produce(t, b"three")
    for one in (open_one, done):
        one.init()
        one.produce(t, b"four")
        one.end(commit=True)
    settled(s, open_one.name)
    told = a.ask_quietly("DescribeProducers", 0, topics=[{"name": t, "partition_indexes": [0]}])[
        "topics"
    ][0]["partitions"][0]
    s.say(
        "producers",
        sorted(
            [one["producer_epoch"], one["last_sequence"], one["current_txn_start_offset"]]
            for one in told["active_producers"]
        ),
    )
    stable_offset(a, group, t, 0)
