"""The transaction APIs of one broker: what each answers in its versions, and what becomes of logs,
groups and the event log."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.core.transactions.coordinator import TransactionCoordinator
from coordinator.events import EventLog, Line
from coordinator.events.handlers import kinds_of
from coordinator.events.line import LogError
from coordinator.server.build import build_broker
from coordinator.server.replay.one_broker import group_events, transaction_events
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.server.storage.record_codec import build_batch
from coordinator.server.storage.records import TRANSACTIONAL
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from coordinator.wire.messages.produce import PartitionProduceResponse, ProduceResponse
from coordinator.wire.messages.topics import DeleteTopicsRequest, DeleteTopicState
from coordinator.wire.messages.transaction_views import (
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    ListTransactionsRequest,
    TopicRequest,
)
from coordinator.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from coordinator.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.server.broker.data import (
    EPOCH_MS,
    DataDriver,
    fetch_request,
    partitions_of,
    produce_request,
    wanted,
)
from tests.server.broker.driver import Driver


class TransactionDriver(DataDriver):
    """A driver whose one client is a transactional producer."""

    def __init__(self, config: dict[str, str] | None = None, log: EventLog | None = None) -> None:
        super().__init__(config)
        self.producer_id, self.epoch = -1, -1
        self.sequence = 0
        if log is not None:
            self.broker.log = log
            self.broker.coordinator._log = log

    def ask(self, request: Any, version: int) -> Any:
        return self.client_.ask(request, version)

    def init(
        self, version: int = 5, *, timeout_ms: int = 60_000, who: tuple[int, int] = (-1, -1)
    ) -> int:
        answer = self.ask(
            InitProducerIdRequest(
                transactional_id="tx",
                transaction_timeout_ms=timeout_ms,
                producer_id=who[0],
                producer_epoch=who[1],
            ),
            version,
        )
        if not answer.error_code:
            self.producer_id, self.epoch, self.sequence = (
                answer.producer_id,
                answer.producer_epoch,
                0,
            )
        return int(answer.error_code)

    def write(
        self,
        *indexes: int,
        version: int = 12,
        name: str | None = "tx",
        epoch: int | None = None,
        topic: str = "t",
    ) -> list[PartitionProduceResponse]:
        """One transactional record to each partition."""
        batch = build_batch(
            [b"x"],
            timestamp=EPOCH_MS,
            attributes=TRANSACTIONAL,
            producer_id=self.producer_id,
            base_sequence=self.sequence,
            producer_epoch=self.epoch if epoch is None else epoch,
        )
        request = produce_request({(topic, index): batch for index in indexes})
        request.transactional_id = name
        answer = self.ask(request, version)
        assert isinstance(answer, ProduceResponse)
        return [partition for one in answer.responses for partition in one.partition_responses]

    def end(self, commit: bool, version: int = 5) -> EndTxnResponse:
        answer = self.ask(
            EndTxnRequest(
                transactional_id="tx",
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                committed=commit,
            ),
            version,
        )
        assert isinstance(answer, EndTxnResponse)
        if version >= 5 and not answer.error_code:
            self.producer_id, self.epoch, self.sequence = (
                answer.producer_id,
                answer.producer_epoch,
                0,
            )
        return answer

    def commit_offset(
        self, offset: int, version: int = 5, *, index: int = 0, topic: str = "t", group: str = "g"
    ) -> list[int]:
        answer = self.ask(
            TxnOffsetCommitRequest(
                transactional_id="tx",
                group_id=group,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                topics=[
                    TxnOffsetCommitRequestTopic(
                        name=topic,
                        partitions=[
                            TxnOffsetCommitRequestPartition(
                                partition_index=index, committed_offset=offset
                            )
                        ],
                    )
                ],
            ),
            version,
        )
        return [partition.error_code for topic in answer.topics for partition in topic.partitions]

    def committed(self) -> list[tuple[int, int]]:
        """(error, offset) of each of group g's partitions."""
        answer = self.ask(
            OffsetFetchRequest(
                groups=[OffsetFetchRequestGroup(group_id="g", topics=None)], require_stable=True
            ),
            8,
        )
        return [
            (p.error_code, p.committed_offset)
            for topic in answer.groups[0].topics
            for p in topic.partitions
        ]

    def described(self) -> Any:
        return self.ask(
            DescribeTransactionsRequest(transactional_ids=["tx"]), 0
        ).transaction_states[0]


@pytest.fixture
def driver() -> TransactionDriver:
    return TransactionDriver()


def codes(answers: list[PartitionProduceResponse]) -> list[int]:
    return [answer.error_code for answer in answers]


def test_the_topic_of_transactions_is_made_when_somebody_asks(driver: TransactionDriver) -> None:
    assert "__transaction_state" not in driver.broker.cluster.topics
    answer = driver.ask(
        FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4
    ).coordinators[0]
    assert (answer.error_code, answer.node_id, answer.port) == (0, 1, 9092)
    topic = driver.broker.cluster.topics["__transaction_state"]
    assert (topic.internal, len(topic.partitions)) == (True, 50)
    assert topic.configs["cleanup.policy"] == "compact"


def test_a_request_of_two_producers_is_refused_whole(driver: TransactionDriver) -> None:
    driver.init()
    batches = {
        ("t", index): build_batch(
            [b"x"], attributes=TRANSACTIONAL, producer_id=index, producer_epoch=0, base_sequence=0
        )
        for index in (0, 1)
    }
    request = produce_request(batches)
    request.transactional_id = "tx"
    assert [
        p.error_code
        for topic in driver.ask(request, 12).responses
        for p in topic.partition_responses
    ] == [49, 49]


@pytest.mark.parametrize(("version", "error"), [(3, 48), (10, 48), (11, 120), (12, 0)])
def test_produce_is_verified_by_its_version(
    driver: TransactionDriver, version: int, error: int
) -> None:
    driver.init()
    (answer,) = driver.write(0, version=version)
    assert answer.error_code == error
    assert answer.error_message == (
        "Partition was not added to the transaction" if version == 10 else None
    )
    assert codes(driver.write(0, version=version, name=None)) == [53]
    assert codes(driver.write(0, version=version, epoch=3)) == [47]
    assert codes(driver.write(0, version=version, name="")) == (
        [42] if error else [0]
    )  # nobody is asked inside a transaction
    assert driver.t.partitions[0].log.log_end_offset == (0 if error else 1)


def test_one_partition_is_admitted_without_the_other(driver: TransactionDriver) -> None:
    driver.init()
    topics = [AddPartitionsToTxnTopic(name="t", partitions=[1])]
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="tx",
        v3_and_below_producer_id=driver.producer_id,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=topics,
    )
    assert (
        driver.ask(request, 3)
        .results_by_topic_v3_and_below[0]
        .results_by_partition[0]
        .partition_error_code
        == 0
    )
    assert sorted(
        (answer.index, answer.error_code) for answer in driver.write(0, 1, version=11)
    ) == [(0, 120), (1, 0)]


def test_nothing_to_add_is_answered(driver: TransactionDriver) -> None:
    """KAFKA-BUG: 4.4.0 never answers a request without transactions."""
    assert driver.ask(AddPartitionsToTxnRequest(transactions=[]), 5).results_by_transaction == []


def test_several_transactions_at_once(driver: TransactionDriver) -> None:
    driver.init()
    topics = [
        AddPartitionsToTxnTopic(name="t", partitions=[0, 0]),
        AddPartitionsToTxnTopic(name="t", partitions=[1]),
    ]
    one = AddPartitionsToTxnTransaction(
        transactional_id="tx", producer_id=0, producer_epoch=0, topics=topics
    )
    other = AddPartitionsToTxnTransaction(
        transactional_id="other", producer_id=0, producer_epoch=0, topics=topics, verify_only=True
    )
    results = driver.ask(
        AddPartitionsToTxnRequest(transactions=[one, other]), 4
    ).results_by_transaction
    assert [
        [
            (row.partition_index, row.partition_error_code)
            for topic in result.topic_results
            for row in topic.results_by_partition
        ]
        for result in results
    ] == [[(0, 0), (0, 0), (1, 0)], [(0, 49), (1, 49)]], (
        "a coordinator's answer has the rows of the request"
    )


@pytest.mark.parametrize(("version", "fenced"), [(0, 47), (1, 47), (2, 90), (4, 90)])
def test_old_versions_are_told_of_fencing_in_other_words(
    driver: TransactionDriver, version: int, fenced: int
) -> None:
    """KIP-588."""
    driver.init()
    driver.epoch = 7
    assert driver.end(True, version).error_code == fenced
    offsets = AddOffsetsToTxnRequest(
        transactional_id="tx", producer_id=driver.producer_id, producer_epoch=7, group_id="g"
    )
    assert driver.ask(offsets, version).error_code == fenced
    assert driver.init(3, who=(driver.producer_id, 7)) == 47
    assert driver.init(4, who=(driver.producer_id, 7)) == 90


@pytest.mark.parametrize(("level", "error"), [(2, 0), (1, 0), (0, 35)])
def test_the_second_version_of_transactions_is_switched_off(
    driver: TransactionDriver, level: int, error: int
) -> None:
    """TXN-12: the first one goes on."""
    update = FeatureUpdateKey(
        feature="transaction.version", max_version_level=level, upgrade_type=2 if level < 2 else 1
    )
    assert driver.ask(UpdateFeaturesRequest(feature_updates=[update]), 1).error_code == 0
    driver.init()
    assert codes(driver.write(0)) == [error]
    assert driver.commit_offset(7) == [error]
    topics = [AddPartitionsToTxnTopic(name="t", partitions=[0])]
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="tx",
        v3_and_below_producer_id=driver.producer_id,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=topics,
    )
    driver.ask(request, 3)
    if error:
        assert codes(driver.write(0, version=11)) == [0]
        assert driver.end(True).error_code == error
        assert driver.end(True, 4).error_code == 0
    else:
        assert driver.end(True).error_code == 0


@pytest.mark.parametrize(("version", "error"), [(0, 48), (3, 48), (4, 120), (5, 0)])
def test_offsets_are_verified_by_their_version(
    driver: TransactionDriver, version: int, error: int
) -> None:
    """TXN-8, VER-12."""
    driver.init()
    assert driver.commit_offset(7, version) == [error]
    driver.epoch = 3
    assert driver.commit_offset(7, version) == [47]
    driver.epoch, producer_id = 0, driver.producer_id
    driver.producer_id = 99
    assert driver.commit_offset(7, version) == [49]
    driver.producer_id = producer_id
    if error:
        driver.ask(
            AddOffsetsToTxnRequest(
                transactional_id="tx", producer_id=producer_id, producer_epoch=0, group_id="g"
            ),
            3,
        )
        assert driver.commit_offset(7, version) == [0]
    driver.end(True, 4)
    assert driver.committed() == [(0, 7)]


def test_loading_groups_have_two_names_and_unknown_partitions_are_not_asked_about(
    driver: TransactionDriver,
) -> None:
    """TXN-4, TXN-1: 14 is 15 before version 2; 3 for what the cluster does not have; 24 for no
    group."""
    driver.init()
    assert driver.commit_offset(1, topic="nope") == [3]
    assert driver.commit_offset(1, index=9) == [3]
    assert driver.described().transaction_state == "Empty"
    assert driver.commit_offset(1, group="") == [24]
    assert driver.commit_offset(1) == [0]
    driver.broker.coordinator.begin_load(driver.now)
    assert [driver.commit_offset(1, version) for version in (0, 1, 2, 5)] == [
        [15],
        [15],
        [14],
        [14],
    ]


def test_the_unknown_partitions_of_a_topic_are_answered_first(driver: TransactionDriver) -> None:
    driver.init()
    rows = [TxnOffsetCommitRequestPartition(partition_index=index) for index in (0, 9, 1)]
    answer = driver.ask(
        TxnOffsetCommitRequest(
            transactional_id="tx",
            group_id="g",
            producer_id=0,
            producer_epoch=0,
            topics=[TxnOffsetCommitRequestTopic(name="t", partitions=rows)],
        ),
        5,
    )
    assert [(p.partition_index, p.error_code) for p in answer.topics[0].partitions] == [
        (9, 3),
        (0, 0),
        (1, 0),
    ]


def test_readers_of_committed_records_stop_and_are_woken(driver: TransactionDriver) -> None:
    driver.init()
    driver.write(0)
    driver.produce(index=0)
    reader = driver.client()
    reader.send(fetch_request(wanted(0, 0), wait=60_000, isolation=1), 12)
    driver.pass_time(1000)
    assert reader.answers() == []
    assert [
        p.last_stable_offset for p in partitions_of(driver.fetch(fetch_request(wanted(0, 0))))
    ] == [0]
    latest = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=1,
        topics=[
            ListOffsetsTopic(
                name="t",
                partitions=[
                    ListOffsetsPartition(partition_index=0, timestamp=timestamp)
                    for timestamp in (-1,)
                ],
            )
        ],
    )
    assert driver.ask(latest, 7).topics[0].partitions[0].offset == 0
    driver.end(False)
    (partition,) = partitions_of(driver.fetched(reader))
    assert partition.last_stable_offset == 4
    assert [
        (one.producer_id, one.first_offset) for one in partition.aborted_transactions or ()
    ] == [(driver.producer_id, 0)]
    assert driver.ask(latest, 7).topics[0].partitions[0].offset == 4


def test_overdue_transactions_are_aborted_by_time_alone() -> None:
    """The deadline is one of the broker's: nothing has to ask."""
    driver = TransactionDriver(
        {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "500"}
    )
    driver.init(timeout_ms=1000)
    driver.write(1)
    driver.commit_offset(5)
    driver.pass_time(1499)
    assert driver.described().transaction_state == "Ongoing"
    driver.pass_time(1)
    told = driver.described()
    assert (told.transaction_state, told.producer_epoch, told.transaction_start_time_ms) == (
        "CompleteAbort",
        1,
        EPOCH_MS,
    )
    assert (driver.t.partitions[1].log.last_stable_offset, driver.committed()) == (2, [])
    assert codes(driver.write(1)) == [47]


def test_settings_change_while_transactions_are_open(driver: TransactionDriver) -> None:
    driver.broker.configs.replace_dynamic(
        {"transaction.max.timeout.ms": "10"}, for_all_brokers=False
    )
    assert driver.init(timeout_ms=11) == 50
    assert driver.init(timeout_ms=10) == 0


def test_a_topic_that_is_deleted_does_not_hold_a_transaction_up(driver: TransactionDriver) -> None:
    driver.topic("gone")
    driver.init()
    assert codes(driver.write(0, topic="gone")) == [0]
    driver.broker.cluster.delete_topic("gone")
    assert driver.end(True).error_code == 0
    assert (driver.described().transaction_state, driver.described().topics) == (
        "CompleteCommit",
        [],
    )


def test_markers_by_hand_outrun_the_coordinator(driver: TransactionDriver) -> None:
    """A later marker of the coordinator is too old then, and the transaction ends all the same."""
    driver.init()
    driver.write(0)
    marker = WritableTxnMarker(
        producer_id=driver.producer_id,
        producer_epoch=9,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0, 8])],
    )
    rows = driver.ask(WriteTxnMarkersRequest(markers=[marker]), 1).markers[0].topics[0].partitions
    assert [(row.partition_index, row.error_code) for row in rows] == [(8, 3), (0, 0)]
    log = driver.t.partitions[0].log
    assert (log.last_stable_offset, driver.described().transaction_state) == (2, "Ongoing")
    assert driver.end(True).error_code == 0
    assert (log.log_end_offset, driver.described().transaction_state) == (2, "CompleteCommit")


def test_describing_and_listing(driver: TransactionDriver) -> None:
    driver.init()
    driver.now = 50
    driver.write(0, 2)
    told = driver.described()
    assert [(topic.topic, sorted(topic.partitions)) for topic in told.topics] == [("t", [0, 2])]
    assert told.transaction_start_time_ms == EPOCH_MS + 50
    states = driver.ask(
        DescribeTransactionsRequest(transactional_ids=["", "nobody"]), 0
    ).transaction_states
    assert [state.error_code for state in states] == [42, 105]

    def listed(version: int = 2, **filters: Any) -> list[str]:
        return [
            one.transactional_id
            for one in driver.ask(ListTransactionsRequest(**filters), version).transaction_states
        ]

    driver.now = 60
    assert listed() == listed(0) == ["tx"]
    assert (listed(state_filters=["Ongoing"]), listed(state_filters=["Empty"])) == (["tx"], [])
    assert driver.ask(
        ListTransactionsRequest(state_filters=["ongoing", "Empty"]), 2
    ).unknown_state_filters == ["ongoing"]
    assert listed(state_filters=["nonsense"]) == []
    assert (listed(producer_id_filters=[driver.producer_id]), listed(producer_id_filters=[99])) == (
        ["tx"],
        [],
    )
    assert (listed(1, duration_filter=9), listed(1, duration_filter=10)) == (["tx"], [])
    assert (listed(transactional_id_pattern="t."), listed(transactional_id_pattern="t")) == (
        ["tx"],
        [],
    )
    assert driver.ask(ListTransactionsRequest(transactional_id_pattern="["), 2).error_code == 128


def test_producers_of_a_partition(driver: TransactionDriver) -> None:
    driver.init()
    driver.write(0)
    request = DescribeProducersRequest(
        topics=[
            TopicRequest(name="t", partition_indexes=[0, 1, 9]),
            TopicRequest(name="nope", partition_indexes=[0]),
        ]
    )
    known, missing = driver.ask(request, 0).topics
    assert [row.error_code for row in known.partitions] == [0, 0, 3]
    (producer,) = known.partitions[0].active_producers
    assert (producer.producer_id, producer.last_sequence) == (0, 0)
    assert (producer.coordinator_epoch, producer.current_txn_start_offset) == (-1, 0)
    assert (missing.partitions[0].error_code, missing.partitions[0].error_message) == (
        3,
        "This server does not host this topic-partition.",
    )
    driver.end(True)
    (producer,) = driver.ask(request, 0).topics[0].partitions[0].active_producers
    assert (producer.producer_epoch, producer.last_sequence) == (1, -1)
    assert (producer.coordinator_epoch, producer.current_txn_start_offset) == (0, -1)


# -- the event log


def story() -> tuple[TransactionDriver, EventLog]:
    """Every event of a transactional id, and what it does to a group."""
    log = EventLog(run="test", seed=1, epoch_ms=EPOCH_MS)
    driver = TransactionDriver(
        {
            "transactional.id.expiration.ms": "1000",
            "transaction.remove.expired.transaction.cleanup.interval.ms": "1000",
        },
        log,
    )
    driver.init()
    driver.write(0)
    driver.commit_offset(5)
    driver.end(True)
    driver.pass_time(5000)
    driver.init()
    for topic in (None, DeleteTopicState(name="__transaction_state")):
        if topic is not None:
            driver.ask(DeleteTopicsRequest(topics=[topic], timeout_ms=9_000), 6)
        driver.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
        driver.init()
        driver.write(0)
    return driver, log


def test_same_requests_same_log() -> None:
    assert story()[1].lines == story()[1].lines


def test_the_log_gives_back_what_happened() -> None:
    driver, log = story()
    lines = list(log.read())
    coordinator = driver.broker.services.transactions.coordinator
    again = TransactionCoordinator.replay(
        coordinator.config, driver.broker.services.producer_ids.next, transaction_events(lines)
    )
    assert [one.snapshot() for one in again.transactions.values()] == [
        one.snapshot() for one in coordinator.transactions.values()
    ]
    told = {line.kind for line in lines if line.stream == "transaction"}
    assert told == set(kinds_of("transaction"))
    groups = GroupCoordinator.replay(
        driver.broker.coordinator.config, group_events(lines), driver.now
    )
    assert groups.groups["g"].offsets == driver.broker.coordinator.groups["g"].offsets


def test_causes_lead_from_a_groups_offsets_to_the_end_of_the_transaction() -> None:
    _, log = story()
    lines = {line["seq"]: line for line in log.events()}
    ended = next(line for line in lines.values() if line["type"] == "PendingOffsetsEnded")
    prepared = lines[ended["cause"]]
    completed = next(line for line in lines.values() if line["type"] == "TransactionCompleted")
    assert (prepared["type"], prepared["reason"]) == (
        "TransactionPrepared",
        "the producer committed",
    )
    assert (lines[prepared["cause"]]["api"], lines[prepared["cause"]]["transactional_id"]) == (
        "end_txn",
        "tx",
    )
    assert completed["cause"] == prepared["seq"]
    assert ended["seq"] < completed["seq"]


def test_a_line_that_is_no_event_of_a_transaction() -> None:
    for name in ("Nonsense", "PartitionsEnlisted"):
        plain = {"seq": 1, "at_ms": 0, "run": "r", "stream": "transaction", "type": name}
        with pytest.raises(LogError, match=f"line 1: .*{name}"):
            list(transaction_events([Line.of(plain)]))


def test_idempotent_producers_wake_nobody() -> None:
    """A broker without transactions has no coordinator of them, and an idle one no deadline but its
    groups' check."""
    broker = build_broker(configs=BrokerConfigs({}), random=Driver().broker.random, epoch_ms=0)
    assert broker.services.started_transactions is None
    assert broker.next_deadline() == broker.coordinator.next_deadline()


def test_markers_follow_the_answer() -> None:
    """Who asks right behind EndTxn is told CONCURRENT_TRANSACTIONS, and is served a moment
    later."""
    driver = TransactionDriver()
    driver.init()
    driver.write(0)
    end = EndTxnRequest(
        transactional_id="tx",
        producer_id=driver.producer_id,
        producer_epoch=driver.epoch,
        committed=True,
    )
    begin = InitProducerIdRequest(
        transactional_id="tx", transaction_timeout_ms=1_000, producer_id=-1, producer_epoch=-1
    )
    driver.client_.feed(driver.client_.frame(end, 3) + driver.client_.frame(begin, 4))
    assert [answer.error_code for answer in driver.client_.answers()] == [
        0,
        ErrorCode.CONCURRENT_TRANSACTIONS,
    ]  # type: ignore[attr-defined]
    assert driver.ask(begin, 4).error_code == 0
