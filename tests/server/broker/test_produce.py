"""Produce (key 0) and InitProducerId (key 22) from bytes to bytes; codes and fields as a 4.4.0
broker gave them."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.storage.record_codec import build_batch
from coordinator.server.storage.records import crc32c, parse_header, seal
from coordinator.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)
from coordinator.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from tests.server.broker.data import BATCH, EPOCH_MS, DataDriver, produce_request


@pytest.fixture
def driver() -> DataDriver:
    return DataDriver()


def patched(at: int, new: bytes) -> bytes:
    return BATCH[:at] + new + BATCH[at + len(new) :]


SHORT = patched(8, b"\0\0\0\x27")[:51]


@pytest.mark.parametrize("version", range(3, 14))
def test_every_version_appends(driver: DataDriver, version: int) -> None:
    for acks in (1, -1):
        answer = driver.produce(version=version, acks=acks)
        assert (answer.error_code, answer.log_append_time_ms) == (0, -1)
    assert answer.base_offset == 2
    assert driver.t.partitions[0].log.log_end_offset == 4


@pytest.mark.parametrize("version", [0, 1, 2])
def test_versions_before_3_close_the_connection(driver: DataDriver, version: int) -> None:
    """Advertised for librdkafka's sake only (VER-16)."""
    client = driver.client()
    client.feed(b"\0\0\0\x0e\0\0" + version.to_bytes(2, "big") + b"\0\0\0\1\xff\xff\0\1\0\0")
    assert client.closed is not None


def test_success_says_where(driver: DataDriver) -> None:
    driver.produce()
    assert driver.produce(index=0) == PartitionProduceResponse(
        index=0, base_offset=2, log_append_time_ms=-1, log_start_offset=0
    )
    driver.t.partitions[0].log.delete_records(3)
    assert driver.produce().log_start_offset == 3


@pytest.mark.parametrize(
    ("kind", "records", "code"),
    [
        ("none", b"", 87),
        ("two", BATCH + BATCH, 87),
        ("short", BATCH[:-1], 87),
        ("null", None, 87),
        ("old format", patched(16, b"\1"), 87),
        ("checksum", BATCH[:-1] + b"\1", 2),
        ("shorter than its header", SHORT, 2),
        ("too short to name its producer", patched(8, b"\0\0\0\x14")[:32], -1),
        ("a stub before something else", patched(8, b"\0\0\0\x14"), 2),
    ],
)
def test_bad_batches(driver: DataDriver, kind: str, records: bytes | None, code: int) -> None:
    """No message, no log start. Null records: a 4.4.0 broker never answers (KAFKA-BUG)."""
    assert driver.produce(records) == PartitionProduceResponse(
        error_code=code, base_offset=-1, log_start_offset=-1
    ), kind
    assert driver.t.partitions[0].log.log_end_offset == 0


@pytest.mark.parametrize(
    ("version", "bad"),
    [
        (12, patched(8, b"\0\0\0\x26")[:50]),
        (6, seal(parse_header(BATCH)._replace(attributes=7), BATCH[61:])),
    ],
)
def test_what_kafka_trips_over_before_the_logs_fails_the_whole_request(
    driver: DataDriver, version: int, bad: bytes
) -> None:
    """Every partition -1, the good and the unknown too. In a partition that there is not nobody
    looks at the batch."""

    def ask(where: tuple[str, int]) -> list[tuple[int, int]]:
        answer = driver.client_.ask(
            produce_request({("t", 0): BATCH, where: bad, ("t", 77): BATCH}), version
        )
        assert isinstance(answer, ProduceResponse)
        return sorted(
            (partition.index, partition.error_code)
            for topic in answer.responses
            for partition in topic.partition_responses
        )

    assert ask(("t", 1)) == [(0, -1), (1, -1), (77, -1)]
    assert driver.t.partitions[0].log.log_end_offset == 0
    assert ask(("nope", 1)) == [(0, 0), (1, 3), (77, 3)]


def test_a_batch_that_ends_within_its_header_is_refused_by_the_log(driver: DataDriver) -> None:
    """Its base offset is looked at before (87), so are acks (21) and the size allowed (10)."""
    assert driver.produce(b"\0" * 7 + b"\5" + SHORT[8:]).error_code == 87
    assert driver.produce(SHORT, acks=2).error_code == 21
    driver.topic("small", max_message_bytes="50")
    assert driver.produce(SHORT, topic="small").error_code == 10
    checked = SHORT[:17] + crc32c(SHORT[21:]).to_bytes(4, "big") + SHORT[21:]
    assert driver.produce(checked).error_code == 2


def test_refusals_by_the_log_say_where_it_starts(driver: DataDriver) -> None:
    lying = seal(parse_header(BATCH)._replace(record_count=9), BATCH[61:])
    assert driver.produce(lying) == PartitionProduceResponse(
        error_code=87, base_offset=-1, log_start_offset=0
    )
    driver.topic("small", max_message_bytes="100")
    assert driver.produce(topic="small") == PartitionProduceResponse(
        error_code=10, base_offset=-1, log_start_offset=-1
    )


def test_record_errors(driver: DataDriver) -> None:
    """KIP-467."""
    driver.topic("compacted", cleanup_policy="compact")
    answer = driver.produce(
        build_batch([(b"k", b"v"), b"x"], timestamp=EPOCH_MS), topic="compacted"
    )
    text = "Compacted topic cannot accept message without key in topic partition compacted-0"
    assert (answer.error_code, answer.log_start_offset) == (87, 0)
    assert [
        (error.batch_index, error.batch_index_error_message) for error in answer.record_errors
    ] == [(1, text)]
    assert (answer.error_message or "").endswith(f"[RecordError(batchIndex=1, message='{text}')]")
    late = driver.produce(build_batch([b"x"], timestamp=EPOCH_MS + 3_600_001))
    assert (late.error_code, late.error_message) == (
        32,
        "One or more records have been rejected due to invalid timestamp",
    )


def test_log_append_time_is_told(driver: DataDriver) -> None:
    driver.topic("timed", message_timestamp_type="LogAppendTime")
    driver.now = 77
    assert driver.produce(topic="timed").log_append_time_ms == EPOCH_MS + 77


@pytest.mark.parametrize(
    ("topic", "index", "code"),
    [("nope", 0, 3), ("t", 9, 3), ("t", -1, 3), ("__consumer_offsets", 0, 17)],
)
def test_where_nothing_can_be_written(
    driver: DataDriver, topic: str, index: int, code: int
) -> None:
    assert driver.produce(topic=topic, index=index) == PartitionProduceResponse(
        index=index, error_code=code, base_offset=-1, log_start_offset=-1
    )


def test_unknown_topic_ids(driver: DataDriver) -> None:
    """KIP-516."""
    assert driver.produce(version=13).error_code == 0
    assert driver.produce(version=13, topic_id=b"\1" * 16).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert driver.produce(version=13, topic_id=bytes(16)).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert driver.produce(version=13, index=9).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_acks(driver: DataDriver) -> None:
    assert driver.produce(acks=2).error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert driver.produce(acks=2, topic="nope").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert driver.produce(b"", acks=-2).error_code == ErrorCode.INVALID_RECORD


def test_acks_0_is_silent_and_an_error_closes(driver: DataDriver) -> None:
    client = driver.client()
    client.send(produce_request({("t", 0): BATCH}, acks=0), 12)
    assert client.answers() == []
    assert client.closed is None
    assert driver.t.partitions[0].log.log_end_offset == 2
    client.send(produce_request({("t", 0): BATCH, ("nope", 0): BATCH}, acks=0), 12)
    assert client.answers() == []
    assert client.closed is not None
    assert driver.t.partitions[0].log.log_end_offset == 4


def test_a_transactional_batch_refuses_the_whole_request(driver: DataDriver) -> None:
    """As one whose transactional id is not authorised."""
    transactional = seal(parse_header(BATCH)._replace(attributes=0x10), BATCH[61:])
    answer = driver.client_.ask(produce_request({("t", 0): BATCH, ("t", 1): transactional}), 12)
    assert isinstance(answer, ProduceResponse)
    assert [
        each.error_code for topic in answer.responses for each in topic.partition_responses
    ] == [53, 53]
    assert driver.t.partitions[0].log.log_end_offset == 0


def test_an_unreadable_batch_refuses_the_whole_request_with_a_message(driver: DataDriver) -> None:
    answer = driver.client_.ask(
        produce_request({("t", 0): BATCH, ("t", 1): patched(16, b"\3")}), 12
    )
    assert isinstance(answer, ProduceResponse)
    ((first, second),) = [topic.partition_responses for topic in answer.responses]
    assert (first.error_code, first.error_message) == (2, "Invalid magic found in record: 3")
    assert (second.error_code, second.error_message) == (2, "Invalid magic found in record: 3")


def test_one_bad_partition_does_not_stop_the_others(driver: DataDriver) -> None:
    answer = driver.client_.ask(
        produce_request({("t", 0): BATCH, ("t", 1): b"", ("nope", 0): BATCH, ("t", 2): BATCH}), 12
    )
    assert isinstance(answer, ProduceResponse)
    assert {
        (topic.name, each.index): each.error_code
        for topic in answer.responses
        for each in topic.partition_responses
    } == {("t", 0): 0, ("t", 1): 87, ("t", 2): 0, ("nope", 0): 3}
    assert len(answer.responses) == 2


def test_a_partition_named_twice(driver: DataDriver) -> None:
    """What came last is appended, once; a refusal of either wins the answer."""
    twice = produce_request({("t", 0): build_batch([b"first"], timestamp=EPOCH_MS)})
    twice.topic_data += produce_request({("t", 0): BATCH}).topic_data
    answer = driver.client_.ask(twice, 12)
    assert isinstance(answer, ProduceResponse)
    assert [
        (each.error_code, each.base_offset)
        for topic in answer.responses
        for each in topic.partition_responses
    ] == [(0, 0)]
    assert driver.t.partitions[0].log.log_end_offset == 2
    twice.topic_data[0].partition_data[0].records = b""
    answer = driver.client_.ask(twice, 12)
    assert isinstance(answer, ProduceResponse)
    assert [
        (each.error_code, each.base_offset)
        for topic in answer.responses
        for each in topic.partition_responses
    ] == [(87, -1)]
    assert driver.t.partitions[0].log.log_end_offset == 4


def test_nothing_to_write(driver: DataDriver) -> None:
    for acks in (-1, 2):
        assert driver.client_.ask(ProduceRequest(acks=acks), 12) == ProduceResponse()


def test_another_leader_is_named(driver: DataDriver) -> None:
    """KIP-951: from v10 on the answer says who leads, and where."""
    partition = driver.t.partitions[0]
    partition.leader, partition.leader_epoch = 1, 0
    driver.broker.node_id = 5
    answer = driver.client_.ask(produce_request({("t", 0): BATCH}), 10)
    assert isinstance(answer, ProduceResponse)
    refused = answer.responses[0].partition_responses[0]
    assert (
        refused.error_code,
        refused.current_leader.leader_id,
        refused.current_leader.leader_epoch,
    ) == (6, 1, 0)
    assert [(node.node_id, node.host, node.port) for node in answer.node_endpoints] == [
        (1, "127.0.0.1", 9092)
    ]
    answer = driver.client_.ask(produce_request({("t", 0): BATCH}), 9)
    assert isinstance(answer, ProduceResponse)
    assert answer.node_endpoints == []


def test_too_few_replicas_in_sync(driver: DataDriver) -> None:
    partition = driver.t.partitions[0]
    partition.replicas, partition.isr = [1, 2, 3], [1]
    driver.t.set_configs({"min.insync.replicas": "2"})
    assert driver.produce().error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert driver.produce(acks=1).error_code == 0
    driver.t.set_configs({"min.insync.replicas": "1"})
    assert driver.produce().error_code == 0


def idempotent(sequence: int, producer: int = 0) -> bytes:
    return build_batch(
        [b"x"], timestamp=EPOCH_MS, producer_id=producer, producer_epoch=0, base_sequence=sequence
    )


def test_duplicates_are_answered_with_the_first_offset(driver: DataDriver) -> None:
    """KIP-98; the answer carries the batch's timestamp."""
    for sequence in range(3):
        assert driver.produce(idempotent(sequence)).base_offset == sequence
    assert driver.produce(idempotent(1)) == PartitionProduceResponse(
        base_offset=1, log_append_time_ms=EPOCH_MS, log_start_offset=0
    )
    gap = driver.produce(idempotent(9))
    assert gap == PartitionProduceResponse(error_code=45, base_offset=-1, log_start_offset=0)


def test_topic_configurations_change_while_serving(driver: DataDriver) -> None:
    assert driver.produce().error_code == 0
    driver.t.set_configs({"max.message.bytes": "100"})
    assert driver.produce().error_code == ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize(
    ("transactional_id", "producer", "epoch", "code"),
    [
        (None, -1, -1, 0),
        (None, 0, 3, 0),
        (None, 12345, 0, 0),
        (None, 5, -1, 42),
        (None, -1, 5, 42),
        ("", -1, -1, 42),
    ],
)
@pytest.mark.parametrize("version", [3, 5])
def test_init_producer_id(
    driver: DataDriver,
    version: int,
    transactional_id: str | None,
    producer: int,
    epoch: int,
    code: int,
) -> None:
    """KIP-98, KIP-360: without a transactional id every call gives a new producer id at epoch 0."""
    request = InitProducerIdRequest(
        transactional_id=transactional_id, producer_id=producer, producer_epoch=epoch
    )
    for expected in (0, 1):
        answer = driver.client_.ask(request, version)
        if code:
            assert answer == InitProducerIdResponse(
                error_code=code, producer_id=-1, producer_epoch=-1
            )
        else:
            assert answer == InitProducerIdResponse(producer_id=expected, producer_epoch=0)
