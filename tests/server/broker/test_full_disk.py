"""An event log that cannot be written for a while: what is refused, what goes on, and what happens
when there is space again."""

from __future__ import annotations

from random import Random
from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.events import EventLog
from coordinator.events.reader import read_lines
from coordinator.server.build import build_broker, topic_options
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.join_group import JoinGroupResponse
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from coordinator.wire.messages.transactions import (
    EndTxnRequest,
    InitProducerIdRequest,
    InitProducerIdResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.events.disk import Disk
from tests.server.broker.data import BATCH
from tests.server.broker.driver import Client, Driver, join, new_member


class FullDiskDriver(Driver):
    """A broker whose event log is on a disk of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = Disk(1 << 20)
        self.told: list[str] = []
        log = EventLog(self.disk, seed=1)
        log.tell = self.told.append
        self.broker = build_broker(
            configs=BrokerConfigs({}),
            random=Random(1),
            epoch_ms=1_000_000,
            topics=topic_options(["orders:2"]),
            log=log,
        )
        self.broker.cluster.brokers[1].endpoints["PLAINTEXT"] = ("127.0.0.1", 9092)
        self.settle()

    def fill(self, client: Client) -> None:
        """Let the disk be full, and the broker notice."""
        self.disk.room = 7
        client.ask(
            CreateTopicsRequest(
                topics=[CreatableTopic(name="last", num_partitions=1, replication_factor=1)]
            ),
            5,
        )
        assert not self.broker.log.writable  # type: ignore[union-attr]

    def lines(self) -> list[dict[str, Any]]:
        texts = self.disk.data.decode().splitlines(keepends=True)
        return [line.plain for line in read_lines(texts)]

    def topics(self) -> set[str]:
        return {name for name in self.broker.cluster.topics if not name.startswith("__")}


def test_changes_of_topics_and_configurations_are_refused_with_a_storage_error() -> None:
    driver = FullDiskDriver()
    client = driver.client()
    driver.fill(client)
    code = ErrorCode.KAFKA_STORAGE_ERROR
    answers: list[Any] = [
        client.ask(
            CreateTopicsRequest(
                topics=[CreatableTopic(name="more", num_partitions=1, replication_factor=1)]
            ),
            5,
        ),
        client.ask(
            CreatePartitionsRequest(
                topics=[CreatePartitionsTopic(name="orders", count=5, assignments=None)],
                timeout_ms=1000,
            ),
            3,
        ),
        client.ask(DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000), 5),
        client.ask(
            IncrementalAlterConfigsRequest(
                resources=[
                    AlterConfigsResource(
                        resource_type=2,
                        resource_name="orders",
                        configs=[
                            AlterableConfig(name="retention.ms", config_operation=0, value="1")
                        ],
                    )
                ]
            ),
            1,
        ),
    ]
    created, grown, deleted, altered = answers
    assert [
        created.topics[0].error_code,
        grown.results[0].error_code,
        deleted.responses[0].error_code,
    ] == [code] * 3
    assert altered.responses[0].error_code == code
    metadata: Any = client.ask(
        MetadataRequest(topics=[MetadataRequestTopic(name="auto")], allow_auto_topic_creation=True),
        9,
    )
    assert metadata.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    found: Any = client.ask(FindCoordinatorRequest(key="tx", key_type=1), 3)
    assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert driver.topics() == {"orders", "last"}
    assert len(driver.told) == 1


def test_produce_goes_on_and_so_do_heartbeats() -> None:
    driver = FullDiskDriver()
    client = driver.client()
    member = new_member(client)
    joined = client.ask(join("g", member), 9)
    assert isinstance(joined, JoinGroupResponse)
    driver.fill(client)
    data = TopicProduceData(
        name="orders", partition_data=[PartitionProduceData(index=0, records=BATCH)]
    )
    produced = client.ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[data]), 9)
    assert isinstance(produced, ProduceResponse)
    assert produced.responses[0].partition_responses[0].error_code == 0
    beat = HeartbeatRequest(group_id="g", generation_id=joined.generation_id, member_id=member)
    assert client.ask(beat, 4) == HeartbeatResponse(error_code=0)


def test_what_falls_due_is_put_off_and_happens_when_there_is_space_again() -> None:
    """SES-2: a member expires late, once, and the log says so once; nothing spins meanwhile."""
    driver = FullDiskDriver()
    client = driver.client()
    member = new_member(client)
    client.ask(join("g", member), 9)
    driver.fill(client)
    ticks = 0
    end = driver.now + 60_000
    while (deadline := driver.broker.next_deadline()) is not None and deadline <= end:
        assert deadline > driver.now, "the timer would spin"
        driver.now = deadline
        driver.broker.tick(deadline)
        ticks += 1
    assert 55 <= ticks <= 61, "the log is tried again every second"
    assert member in driver.broker.coordinator.groups["g"].members  # type: ignore[attr-defined]
    driver.disk.room = 1 << 20
    driver.pass_time(2000)
    assert not driver.broker.log_is_blocked
    removed = [line for line in driver.lines() if line["type"] == "MemberRemoved"]
    assert len(removed) == 1
    assert [line["seq"] for line in driver.lines()] == list(range(len(driver.lines())))
    assert len([line for line in driver.lines() if line.get("topic") == "last"]) == 1


class TestTransactions:
    """EndTxn and WriteTxnMarkers: what needs an event is refused, what was decided ends when there
    is space again."""

    def begun(self) -> tuple[FullDiskDriver, Client, InitProducerIdResponse]:
        """A transaction with a record and with an offset of group g."""
        driver = FullDiskDriver()
        client = driver.client()
        client.ask(FindCoordinatorRequest(key="tx", key_type=1), 3)
        producer = client.ask(
            InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=600_000), 5
        )
        assert isinstance(producer, InitProducerIdResponse)
        offset = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=5)
        committed: Any = client.ask(
            TxnOffsetCommitRequest(
                transactional_id="tx",
                group_id="g",
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                topics=[TxnOffsetCommitRequestTopic(name="orders", partitions=[offset])],
            ),
            5,
        )
        assert committed.topics[0].partitions[0].error_code == 0
        return driver, client, producer

    def end(self, client: Client, producer: InitProducerIdResponse) -> int:
        answer: Any = client.ask(
            EndTxnRequest(
                transactional_id="tx",
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                committed=True,
            ),
            5,
        )
        return int(answer.error_code)

    def check_that_all_is_there_once(self, driver: FullDiskDriver) -> None:
        group = driver.broker.coordinator.groups["g"]
        assert not group.pending_offsets
        assert group.offsets["orders", 0].offset == 5
        lines = driver.lines()
        assert [line["seq"] for line in lines] == list(range(len(lines)))
        kinds = [line["type"] for line in lines]
        assert [
            kinds.count(kind)
            for kind in ("TransactionPrepared", "PendingOffsetsEnded", "TransactionCompleted")
        ] == [1, 1, 1]

    def test_a_transaction_cannot_be_ended_and_is_ended_later(self) -> None:
        """ERR-2: NOT_COORDINATOR, and nothing has changed."""
        driver, client, producer = self.begun()
        driver.fill(client)
        assert self.end(client, producer) == ErrorCode.NOT_COORDINATOR
        group = driver.broker.coordinator.groups["g"]
        assert group.pending_offsets
        assert (
            str(driver.broker.services.transactions.coordinator.transactions["tx"].state)
            == "Ongoing"
        )
        driver.disk.room = 1 << 20
        driver.pass_time(2000)
        assert self.end(client, producer) == 0
        self.check_that_all_is_there_once(driver)

    def test_what_was_decided_when_the_disk_filled_ends_when_there_is_space_again(self) -> None:
        driver, client, producer = self.begun()
        driver.disk.room = 7
        assert self.end(client, producer) == 0, "nobody knew yet"
        assert driver.broker.log_is_blocked
        driver.pass_time(5000)
        assert driver.broker.log_is_blocked
        driver.disk.room = 1 << 20
        driver.pass_time(2000)
        self.check_that_all_is_there_once(driver)

    def test_markers_by_hand_reach_records_but_no_groups(self) -> None:
        driver, client, producer = self.begun()
        partition = driver.broker.coordinator.partition_for("g")
        driver.fill(client)

        def mark(topic: str, index: int) -> int:
            marker = WritableTxnMarker(
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                transaction_result=True,
                topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[index])],
            )
            answer: Any = client.ask(WriteTxnMarkersRequest(markers=[marker]), 1)
            return int(answer.markers[0].topics[0].partitions[0].error_code)

        assert mark("orders", 0) == 0
        assert mark("__consumer_offsets", partition) == ErrorCode.NOT_LEADER_OR_FOLLOWER
        group = driver.broker.coordinator.groups["g"]
        assert group.pending_offsets
        driver.disk.room = 1 << 20
        driver.pass_time(2000)
        assert mark("__consumer_offsets", partition) == 0
        assert not group.pending_offsets
        assert group.offsets["orders", 0].offset == 5
        assert [line["type"] for line in driver.lines()].count("PendingOffsetsEnded") == 1


def test_the_log_says_which_requests_it_did_not_see() -> None:
    driver = FullDiskDriver()
    client = driver.client()
    driver.fill(client)
    for _ in range(5):
        client.ask(
            CreateTopicsRequest(
                topics=[CreatableTopic(name="more", num_partitions=1, replication_factor=1)]
            ),
            5,
        )
    driver.disk.room = 1 << 20
    driver.pass_time(2000)
    (gap,) = [line for line in driver.lines() if line["type"] == "LogGap"]
    assert gap["left_out"] == 10, "five requests and their refusals"
    assert len(driver.told) == 2
