"""Transactional ids on three brokers: who coordinates them, markers at other leaders, a coordinator
that goes in the middle."""

from __future__ import annotations

from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import CutLink, MoveLeader, SlowFollower, StartBroker, StopBroker
from coordinator.server.cluster.internal_topics import partition_for
from coordinator.server.cluster.model import TRANSACTION_STATE
from coordinator.server.storage.record_codec import build_batch, read_records
from coordinator.server.storage.records import HEADER_SIZE, TRANSACTIONAL, parse_header
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.messages.transaction_views import DescribeTransactionsRequest, TopicData
from coordinator.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
    EndTxnRequest,
    InitProducerIdRequest,
)
from tests.server.brokers.desk import Cluster


def coordinator_of(cluster: Cluster, node: int = 1) -> int:
    answer: Any = cluster.client(node).ask(FindCoordinatorRequest(key="t", key_type=1), 3)
    assert answer.error_code == 0
    found: int = answer.node_id
    return found


def init(cluster: Cluster, node: int) -> Any:
    return cluster.client(node).ask(
        InitProducerIdRequest(
            transactional_id="t", transaction_timeout_ms=60_000, producer_id=-1, producer_epoch=-1
        ),
        4,
    )


def begin(cluster: Cluster) -> tuple[int, Any]:
    """A transaction with one record in each partition; answers its coordinator and its producer."""
    node = coordinator_of(cluster)
    producer = init(cluster, node)
    assert producer.error_code == 0
    added: Any = cluster.client(node).ask(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="t",
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="orders", partitions=[0, 1])],
        ),
        3,
    )
    assert {
        row.partition_error_code
        for topic in added.results_by_topic_v3_and_below
        for row in topic.results_by_partition
    } == {0}
    batch = build_batch(
        [(None, b"x")],
        timestamp=1_000_000,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=0,
        attributes=TRANSACTIONAL,
    )
    for index in (0, 1):
        told: Any = cluster.client(cluster.partition(index).leader).ask(
            ProduceRequest(
                transactional_id="t",
                acks=-1,
                timeout_ms=500,
                topic_data=[
                    TopicProduceData(
                        name="orders",
                        partition_data=[PartitionProduceData(index=index, records=batch)],
                    )
                ],
            ),
            9,
        )
        assert told.responses[0].partition_responses[0].error_code == 0
    return node, producer


def end(cluster: Cluster, node: int, producer: Any, *, commit: bool = True) -> int:
    answer: Any = cluster.client(node).ask(
        EndTxnRequest(
            transactional_id="t",
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=commit,
        ),
        3,
    )
    code: int = answer.error_code
    return code


def ends(cluster: Cluster, index: int) -> set[tuple[int, int]]:
    """Log end and last stable offset of a partition at all its replicas."""
    logs = [cluster.partition(index, at=node).log for node in (1, 2, 3)]
    return {(log.log_end_offset, log.last_stable_offset) for log in logs}


def test_others_are_told_that_they_do_not_coordinate() -> None:
    cluster = Cluster()
    node = coordinator_of(cluster)
    assert coordinator_of(cluster, 3) == node
    assert len(cluster.partition(topic="__transaction_state").replicas) == 3
    for other in {1, 2, 3} - {node}:
        assert init(cluster, other).error_code == ErrorCode.NOT_COORDINATOR
    assert init(cluster, node).error_code == 0


def test_every_broker_refuses_a_timeout_before_it_looks_for_the_coordinator() -> None:
    cluster = Cluster()
    other = min({1, 2, 3} - {coordinator_of(cluster)})
    codes = [
        cluster.client(other)
        .ask(
            InitProducerIdRequest(  # type: ignore[attr-defined]
                transactional_id="t",
                transaction_timeout_ms=timeout_ms,
                producer_id=-1,
                producer_epoch=-1,
            ),
            4,
        )
        .error_code
        for timeout_ms in (0, -1, 900_001, 900_000)
    ]
    assert codes == [ErrorCode.INVALID_TRANSACTION_TIMEOUT] * 3 + [ErrorCode.NOT_COORDINATOR]


def test_markers_reach_every_leader_and_its_followers() -> None:
    cluster = Cluster()
    node, producer = begin(cluster)
    assert ends(cluster, 0) == ends(cluster, 1) == {(1, 0)}
    assert end(cluster, node, producer) == 0
    assert ends(cluster, 0) == ends(cluster, 1) == {(2, 2)}


def test_another_coordinator_ends_the_transaction() -> None:
    cluster = Cluster()
    node, producer = begin(cluster)
    cluster.do(StopBroker(node, how="crash"))
    cluster.pass_time(5_000)
    next_one = next(other for other in (1, 2, 3) if other != node)
    assert coordinator_of(cluster, next_one) != node
    assert end(cluster, coordinator_of(cluster, next_one), producer, commit=False) == 0
    for index in (0, 1):
        log = cluster.partition(index, at=cluster.partition(index).leader).log
        assert (log.log_end_offset, log.last_stable_offset, len(log.aborted)) == (2, 2, 1)


def test_a_partition_without_a_leader_gets_no_marker() -> None:
    """TXN-11: the transaction is complete without it, and stays open there until the producer's
    next one ends."""
    cluster = Cluster(["orders:2"], {"default.replication.factor": "1"})
    node, producer = begin(cluster)
    holder = next(
        cluster.partition(index).leader
        for index in (0, 1)
        if cluster.partition(index).leader != node
    )
    held = next(index for index in (0, 1) if cluster.partition(index).leader == holder)
    cluster.do(StopBroker(holder))
    assert cluster.partition(held).leader == -1
    node = coordinator_of(cluster, next(other for other in (1, 2, 3) if other != holder))
    assert end(cluster, node, producer) == 0
    assert state(cluster, node) == "CompleteCommit"
    other = cluster.partition(1 - held, at=cluster.partition(1 - held).leader).log
    assert (other.log_end_offset, other.last_stable_offset) == (2, 2)
    cluster.do(StartBroker(holder))
    log = cluster.partition(held, at=holder).log
    assert (log.log_end_offset, log.last_stable_offset) == (1, 0)
    node, producer = begin(cluster)
    assert end(cluster, node, producer) == 0
    assert (log.log_end_offset, log.last_stable_offset) == (3, 3)


def described(cluster: Cluster, node: int) -> Any:
    """What DescribeTransactions says at a broker."""
    answer: Any = cluster.client(node).ask(DescribeTransactionsRequest(transactional_ids=["t"]), 0)
    (row,) = answer.transaction_states
    return row


def state(cluster: Cluster, node: int) -> str:
    """The state that DescribeTransactions tells at a broker; its error as text."""
    row = described(cluster, node)
    return ErrorCode(row.error_code).name if row.error_code else row.transaction_state


def state_followers(cluster: Cluster, node: int) -> list[int]:
    index = partition_for(cluster.runtime.configs[1], TRANSACTION_STATE, "t")
    return [
        other for other in cluster.partition(index, TRANSACTION_STATE).replicas if other != node
    ]


def test_the_end_is_answered_once_it_is_replicated_and_markers_follow() -> None:
    cluster = Cluster()
    node, producer = begin(cluster)
    slow = state_followers(cluster, node)[0]
    cluster.do(SlowFollower(slow, delay_ms=100))
    client, other = cluster.client(node), cluster.client(node)
    client.send(
        EndTxnRequest(
            transactional_id="t",
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=True,
        ),
        3,
    )
    assert client.answers() == []
    assert end(cluster, node, producer) == ErrorCode.CONCURRENT_TRANSACTIONS
    assert init(cluster, node).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    leaders = {cluster.partition(index).leader for index in (0, 1)}
    assert all(
        cluster.partition(index, at=leader).log.log_end_offset == 1
        for index in (0, 1)
        for leader in leaders
    ), "no marker yet"
    cluster.pass_time(1_000)
    (answer,) = client.answers()
    assert answer.error_code == 0  # type: ignore[attr-defined]
    cluster.pass_time(1_000)
    assert ends(cluster, 0) == ends(cluster, 1) == {(2, 2)}
    assert state(cluster, node) == "CompleteCommit"
    assert other.answers() == []


def test_a_decision_that_is_not_replicated_is_not_made() -> None:
    """The coordinator is cut off: its producer hears NOT_COORDINATOR in the end, and the
    transaction is open at its successor."""
    cluster = Cluster()
    node, producer = begin(cluster)
    undo = [cluster.do(CutLink(node, other)) for other in (1, 2, 3) if other != node]
    client = cluster.client(node)
    client.send(
        EndTxnRequest(
            transactional_id="t",
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=True,
        ),
        3,
    )
    cluster.pass_time(10_000)
    assert client.answers() == []
    successor = coordinator_of(cluster, next(other for other in (1, 2, 3) if other != node))
    assert successor != node
    assert state(cluster, successor) == "Ongoing"
    for verb in undo:
        assert verb is not None
        cluster.do(verb)
    cluster.pass_time(1_000)
    (answer,) = client.answers()
    assert answer.error_code == ErrorCode.NOT_COORDINATOR  # type: ignore[attr-defined]
    assert state(cluster, node) == "NOT_COORDINATOR"
    assert end(cluster, successor, producer, commit=False) == 0
    assert state(cluster, successor) == "CompleteAbort"


def test_the_next_coordinator_ends_what_was_decided() -> None:
    """The coordinator, 2, cannot reach a partition's leader, 3; the one that it moves to, 1,
    can."""
    cluster = Cluster()
    for index, leader in ((0, 3), (1, 1)):
        if cluster.partition(index).leader != leader:
            cluster.do(MoveLeader("orders", index, leader))
    keeper = partition_for(cluster.runtime.configs[1], TRANSACTION_STATE, "t")
    coordinator_of(cluster)
    if cluster.partition(keeper, TRANSACTION_STATE).leader != 2:
        cluster.do(MoveLeader(TRANSACTION_STATE, keeper, 2))
    node, producer = begin(cluster)
    assert node == 2
    cluster.do(CutLink(2, 3))
    client = cluster.client(2)
    client.send(
        EndTxnRequest(
            transactional_id="t",
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=True,
        ),
        3,
    )
    cluster.pass_time(40_000)  # until 3's copy of the decision is out of sync
    (answer,) = client.answers()
    assert answer.error_code == 0  # type: ignore[attr-defined]
    told = described(cluster, 2)
    assert (told.transaction_state, told.topics) == (
        "PrepareCommit",
        [TopicData(topic="orders", partitions=[0])],
    ), "1 has its marker"
    assert init(cluster, 2).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    cluster.do(MoveLeader(TRANSACTION_STATE, keeper, 1))
    assert state(cluster, 2) == "NOT_COORDINATOR"
    assert state(cluster, 1) == "CompleteCommit"
    log = cluster.partition(0, at=3).log
    assert (log.log_end_offset, log.last_stable_offset) == (2, 2)


def test_too_few_replicas_take_no_transactions() -> None:
    cluster = Cluster()
    node, producer = begin(cluster)
    for follower in state_followers(cluster, node):
        cluster.do(SlowFollower(follower, delay_ms=100_000))
    client = cluster.client(node)
    client.send(
        AddPartitionsToTxnRequest(
            transactions=[
                AddPartitionsToTxnTransaction(
                    transactional_id="t",
                    producer_id=producer.producer_id,
                    producer_epoch=producer.producer_epoch,
                    topics=[AddPartitionsToTxnTopic(name="__consumer_offsets", partitions=[0])],
                )
            ]
        ),
        4,
    )
    cluster.pass_time(5_000)  # until nobody is in sync but the leader
    assert end(cluster, node, producer) == ErrorCode.CONCURRENT_TRANSACTIONS, (
        "what was written before is not replicated"
    )
    cluster.pass_time(54_999)
    assert client.answers() == []
    cluster.pass_time(1)  # the transaction's timeout, as three real brokers do
    (told,) = client.answers()
    (row,) = told.results_by_transaction[0].topic_results[0].results_by_partition  # type: ignore[attr-defined]
    assert row.partition_error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE, "not replicated in time"
    refused: Any = cluster.client(node).ask(
        InitProducerIdRequest(
            transactional_id=neighbour(cluster),
            transaction_timeout_ms=1,
            producer_id=-1,
            producer_epoch=-1,
        ),
        4,
    )
    assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE, "too few are in sync"
    assert state(cluster, node) == "Ongoing"


def neighbour(cluster: Cluster) -> str:
    """Another transactional id in the partition of "t"."""
    configs = cluster.runtime.configs[1]
    mine = partition_for(configs, TRANSACTION_STATE, "t")
    return next(
        name
        for name in map(str, range(1_000))
        if partition_for(configs, TRANSACTION_STATE, name) == mine
    )


class Stalled:
    """A transaction whose coordinator's followers copy nothing, though all are in sync until it is
    noticed."""

    def __init__(self) -> None:
        self.cluster = Cluster(config={"replica.lag.time.max.ms": "1000000"})
        self.node, self.producer = begin(self.cluster)
        self.client = self.cluster.client(self.node)

    def stall(self, delay_ms: int = 100_000) -> None:
        for follower in state_followers(self.cluster, self.node):
            self.cluster.do(SlowFollower(follower, delay_ms=delay_ms))

    def send_end(self) -> None:
        """Ask to commit; the answer is for `codes`."""
        self.client.send(
            EndTxnRequest(
                transactional_id="t",
                producer_id=self.producer.producer_id,
                producer_epoch=self.producer.producer_epoch,
                committed=True,
            ),
            3,
        )

    def described(self, name: str = "t") -> Any:
        told: Any = self.cluster.client(self.node).ask(
            DescribeTransactionsRequest(transactional_ids=[name]), 0
        )
        return told.transaction_states[0]

    def codes(self) -> list[int]:
        return [answer.error_code for answer in self.client.answers()]  # type: ignore[attr-defined]


def test_an_end_that_is_not_replicated_in_time_is_taken_back() -> None:
    """ERR-1: the transaction is open again, shows as open all the while, and is ended by the next
    request."""
    stalled = Stalled()
    stalled.stall()
    stalled.send_end()
    stalled.cluster.pass_time(59_999)
    assert stalled.codes() == []
    assert stalled.described().transaction_state == "Ongoing"
    assert end(stalled.cluster, stalled.node, stalled.producer) == ErrorCode.CONCURRENT_TRANSACTIONS
    stalled.cluster.pass_time(1)
    assert stalled.codes() == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    assert stalled.described().transaction_state == "Ongoing"
    stalled.stall(0)
    assert end(stalled.cluster, stalled.node, stalled.producer, commit=False) == 0
    assert stalled.described().transaction_state == "CompleteAbort"
    assert ends(stalled.cluster, 0) == {(2, 2)}, "one marker: what was taken back wrote none"


def test_each_write_has_a_timeout_of_its_own() -> None:
    """The end of a transaction and the beginning of the next are replicated in 25 s each: that 60 s
    have passed since the first of them takes nothing back."""
    stalled = Stalled()
    stalled.stall(25_000)
    stalled.send_end()
    stalled.cluster.pass_time(51_000)
    assert stalled.codes() == [0]
    assert stalled.described().transaction_state == "CompleteCommit"
    stalled.client.send(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="t",
            v3_and_below_producer_id=stalled.producer.producer_id,
            v3_and_below_producer_epoch=stalled.producer.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="orders", partitions=[0])],
        ),
        3,
    )
    stalled.cluster.pass_time(26_000)
    assert len(stalled.client.answers()) == 1
    assert stalled.described().transaction_state == "Ongoing"


def test_a_new_id_that_is_not_replicated_in_time_has_no_epoch() -> None:
    stalled = Stalled()
    stalled.stall()
    name = neighbour(stalled.cluster)
    request = InitProducerIdRequest(
        transactional_id=name, transaction_timeout_ms=2_000, producer_id=-1, producer_epoch=-1
    )
    stalled.client.send(request, 4)
    shown = stalled.described(name)
    stalled.cluster.pass_time(2_000)
    assert stalled.codes() == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    for told in (shown, stalled.described(name)):
        assert (told.error_code, told.transaction_state, told.producer_epoch) == (0, "Empty", -1)
    stalled.stall(0)
    again: Any = stalled.client.ask(request, 4)
    assert (again.error_code, again.producer_id, again.producer_epoch) == (0, shown.producer_id, 0)


def test_what_is_replicated_just_in_time_counts() -> None:
    stalled = Stalled()
    stalled.stall(50_000)
    stalled.send_end()
    stalled.cluster.pass_time(70_000)
    assert stalled.codes() == [ErrorCode.NONE]
    stalled.stall(0)
    stalled.cluster.pass_time(100_000)
    assert stalled.described().transaction_state == "CompleteCommit"


def test_the_next_coordinator_has_what_was_taken_back() -> None:
    stalled = Stalled()
    stalled.stall()
    stalled.send_end()
    stalled.cluster.pass_time(60_000)
    stalled.stall(0)
    stalled.cluster.pass_time(1_000)
    stalled.cluster.do(StopBroker(stalled.node))
    node = coordinator_of(
        stalled.cluster, next(other for other in (1, 2, 3) if other != stalled.node)
    )
    assert state(stalled.cluster, node) == "Ongoing"
    assert end(stalled.cluster, node, stalled.producer) == 0


def test_producer_ids_come_in_blocks() -> None:
    """1,000 a broker, and a new block after a restart."""
    cluster = Cluster()
    request = InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=1, producer_id=-1, producer_epoch=-1
    )
    first: Any = cluster.client(1).ask(request, 4)
    other: Any = cluster.client(2).ask(request, 4)
    again: Any = cluster.client(1).ask(request, 4)
    assert again.producer_id == first.producer_id + 1
    assert other.producer_id // 1000 != first.producer_id // 1000
    cluster.do(StopBroker(1))
    cluster.do(StartBroker(1))
    restarted: Any = cluster.client(1).ask(request, 4)
    assert restarted.producer_id > other.producer_id
    assert restarted.producer_id % 1000 == 0


def test_markers_hold_the_epoch_of_who_leads_the_transactional_id() -> None:
    """So that a coordinator that was replaced is refused by who heard of its successor (52)."""
    cluster = Cluster()
    node, producer = begin(cluster)
    cluster.do(StopBroker(node, how="crash"))
    cluster.pass_time(5_000)
    successor = coordinator_of(cluster, next(other for other in (1, 2, 3) if other != node))
    assert end(cluster, successor, producer) == 0
    index = partition_for(cluster.runtime.configs[1], TRANSACTION_STATE, "t")
    epoch = cluster.partition(index, TRANSACTION_STATE).leader_epoch
    assert epoch > 0
    for data in (0, 1):
        log = cluster.partition(data, at=cluster.partition(data).leader).log
        marker = log.read(log.log_end_offset - 1, 1_000, at_least_one=True)
        (record,) = read_records(parse_header(marker), marker[HEADER_SIZE:])
        assert record.value == (0).to_bytes(2, "big") + epoch.to_bytes(4, "big")
