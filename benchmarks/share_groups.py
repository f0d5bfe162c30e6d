"""Share groups (KIP-932) of raw wire clients: what fetching and accepting costs, and the memory of
records in flight; and how long the first test of a ShareConsumer takes.

Each fetch accepts what the one before gave. Records of 1 KiB stand in batches of 500, one batch a
request. Fifty consumers read a partition each; they are asked in turn by one client process, which is
part of the time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from multiprocessing import get_context
from statistics import median

from benchmarks.process import Client, Row, ServerProcess, server
from coordinator import Emulator
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.messages.share_acknowledge import AcknowledgementBatch as AckOfRecords
from coordinator.wire.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from coordinator.wire.messages.share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from coordinator.wire.messages.share_group_states import (
    InitializeShareGroupStateRequest,
    InitializeStateData,
)
from coordinator.wire.messages.share_group_states import (
    InitializeStatePartitionData as PartitionData,
)

_TOPIC, _GROUP, _ACCEPT, _GROUP_CONFIG = "jobs", "workers", 1, 32
_BATCH, _RECORD_BYTES = 500, 1024
_FLIGHT_PARTITIONS, _FLIGHT_RECORDS = 500, 2_000
_FIRST_TESTS = 5
_FAST = {"group.share.heartbeat.interval.ms": 100, "group.share.assignment.interval.ms": 0}
"""What docs/testing_queues.md recommends for tests."""


class _Consumer:
    """A share session that reads one partition."""

    def __init__(
        self, address: tuple[str, int], topic_id: bytes, name: str, partition: int
    ) -> None:
        self.client = Client(address)
        self._topic_id, self._name, self._partition = topic_id, name, partition
        self._epoch = 0
        self._given: list[AcknowledgementBatch] = []
        self.records = 0

    def send(self, *, most: int = _BATCH) -> None:
        """Fetch, and acknowledge what the last fetch gave."""
        for of in self._given:
            of.acknowledge_types = [_ACCEPT]
        row = FetchPartition(partition_index=self._partition, acknowledgement_batches=self._given)
        request = ShareFetchRequest(
            group_id=_GROUP,
            member_id=self._name,
            share_session_epoch=self._epoch,
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=1 << 30,
            max_records=most,
            batch_size=most,
            topics=[FetchTopic(topic_id=self._topic_id, partitions=[row])],
        )
        self.client.send(request, 2)
        self._epoch += 1

    def receive(self) -> int:
        """How many records came."""
        answer = self.client.receive(ShareFetchRequest.api_key, 2)
        assert isinstance(answer, ShareFetchResponse) and not answer.error_code, answer
        rows = [row for topic in answer.responses for row in topic.partitions]
        assert not any(row.error_code or row.acknowledge_error_code for row in rows), rows
        self._given = [
            AcknowledgementBatch(first_offset=of.first_offset, last_offset=of.last_offset)
            for row in rows
            for of in row.acquired_records
        ]
        count = sum(of.last_offset - of.first_offset + 1 for of in self._given)
        self.records += count
        return count

    def accept_every_second(self) -> None:
        """Of what the last fetch gave, each record by a range of its own."""
        ranges = [
            AckOfRecords(first_offset=offset, last_offset=offset, acknowledge_types=[_ACCEPT])
            for of in self._given
            for offset in range(of.first_offset, of.last_offset + 1, 2)
        ]
        row = AcknowledgePartition(partition_index=self._partition, acknowledgement_batches=ranges)
        answer = self.client.ask(
            ShareAcknowledgeRequest(
                group_id=_GROUP,
                member_id=self._name,
                share_session_epoch=self._epoch,
                topics=[AcknowledgeTopic(topic_id=self._topic_id, partitions=[row])],
            ),
            2,
        )
        assert isinstance(answer, ShareAcknowledgeResponse)
        assert [of.error_code for of in answer.responses[0].partitions] == [0]
        self._epoch += 1


def _ready(serving: ServerProcess, partitions: int) -> tuple[Client, bytes]:
    """The group reads from the start, and its states are initialised."""
    client = Client(serving.address)
    reset = AlterableConfig(name="share.auto.offset.reset", value="earliest")
    group = AlterConfigsResource(resource_type=_GROUP_CONFIG, resource_name=_GROUP, configs=[reset])
    client.ask(IncrementalAlterConfigsRequest(resources=[group]), 1)
    told = client.ask(MetadataRequest(topics=[MetadataRequestTopic(name=_TOPIC)]), 12)
    assert isinstance(told, MetadataResponse)
    topic_id = told.topics[0].topic_id
    client.ask(
        FindCoordinatorRequest(key_type=2, coordinator_keys=["g:AAAAAAAAAAAAAAAAAAAAAA:0"]), 6
    )
    rows = [
        PartitionData(partition=index, state_epoch=0, start_offset=-1)
        for index in range(partitions)
    ]
    client.ask(
        InitializeShareGroupStateRequest(
            group_id=_GROUP, topics=[InitializeStateData(topic_id=topic_id, partitions=rows)]
        ),
        0,
    )
    return client, topic_id


def _produce(client: Client, partition: int, records: bytes, times: int) -> None:
    data = PartitionProduceData(index=partition, records=records)
    request = ProduceRequest(
        acks=1, timeout_ms=10_000, topic_data=[TopicProduceData(name=_TOPIC, partition_data=[data])]
    )
    for _ in range(times):
        client.ask(request, 9)


def throughput(consumers: int, batches: int) -> tuple[float, float]:
    """(megabytes a second, microseconds of the server's processor time a record): consumers with a
    partition each fetch and accept so many batches each."""
    batch = build_batch([b"v" * _RECORD_BYTES] * _BATCH, timestamp=1_000)
    with server("--topic", f"{_TOPIC}:{consumers}") as serving:
        client, topic_id = _ready(serving, consumers)
        for index in range(consumers):
            _produce(client, index, batch, batches)
        members = [
            _Consumer(serving.address, topic_id, f"m{index}", index) for index in range(consumers)
        ]
        cpu, began = serving.cpu_s(), time.perf_counter()
        for _ in range(batches + 1):  # the last one only accepts
            for member in members:
                member.send()
            for member in members:
                member.receive()
        took, cpu = time.perf_counter() - began, serving.cpu_s() - cpu
        records = sum(member.records for member in members)
        assert records == consumers * batches * _BATCH, records
        for each in (client, *(member.client for member in members)):
            each.close()
    return records * _RECORD_BYTES / took / 1e6, cpu / records * 1e6


def in_flight() -> tuple[float, float]:
    """Bytes that a million records in flight add, and with every second one accepted."""
    batch = build_batch([b""] * _FLIGHT_RECORDS, timestamp=1_000)
    with server(
        *("--topic", f"{_TOPIC}:{_FLIGHT_PARTITIONS}"),
        *("--config", "group.share.partition.max.record.locks=4000"),
        *("--config", "group.share.max.record.lock.duration.ms=3600000"),
        *("--config", "group.share.record.lock.duration.ms=3600000"),
    ) as serving:
        client, topic_id = _ready(serving, _FLIGHT_PARTITIONS)
        for index in range(_FLIGHT_PARTITIONS):
            _produce(client, index, batch, 1)
        idle = serving.resident_bytes()
        members = [
            _Consumer(serving.address, topic_id, f"m{index}", index)
            for index in range(_FLIGHT_PARTITIONS)
        ]
        for member in members:
            member.send(most=_FLIGHT_RECORDS)
            assert member.receive() == _FLIGHT_RECORDS
        acquired = serving.resident_bytes()
        for member in members:
            member.accept_every_second()
        accepted = serving.resident_bytes()
        for each in (client, *(member.client for member in members)):
            each.close()
    return acquired - idle, accepted - idle


def first_test(_: int = 0) -> tuple[float, float]:
    """(seconds of wall clock, seconds of this process's processor time) from the start of an
    embedded emulator until a ShareConsumer of confluent-kafka has three records."""
    from confluent_kafka import ShareConsumer

    began, cpu = time.perf_counter(), time.process_time()
    with Emulator({_TOPIC: 1}, config=_FAST) as kafka:
        share = kafka.share_group(_GROUP)
        share.configure({"share.auto.offset.reset": "earliest"})
        kafka.produce(_TOPIC, ["a", "b", "c"], partition=0)
        settings = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": _GROUP}
        consumer = ShareConsumer(settings)
        consumer.subscribe([_TOPIC])
        records = 0
        while records < 3:
            records += len(consumer.poll(0.5))
        share.wait(members=1, acquired=3)
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        consumer.close()
    return took, cpu


def _first_tests() -> list[tuple[float, float]]:
    """Each in a process of its own, which has imported the emulator and the client before."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return pool.map(first_test, range(_FIRST_TESTS), chunksize=1)


def run() -> Iterator[Row]:
    """Measure."""
    walls, cpus = zip(*_first_tests(), strict=True)
    what = f"first test of a ShareConsumer, until it has 3 records, median of {_FIRST_TESTS}"
    yield Row(what, median(walls), "s", "<= 1")
    yield Row("processor time of it, client included", median(cpus), "s")
    for consumers, batches in ((1, 200), (50, 4)):
        speed, cpu = throughput(consumers, batches)
        who = "one consumer" if consumers == 1 else f"{consumers} consumers"
        yield Row(f"ShareFetch and accept, 1 KiB records, {who}", speed, "MB/s", ">= 40")
        yield Row(f"server CPU of a record so, {who}", cpu, "us")
    acquired, accepted = in_flight()
    yield Row("1 M records in flight over 500 partitions", acquired / 1e6, "MB")
    yield Row("the same, every second one accepted", accepted / 1e6, "MB", "<= 150")


if __name__ == "__main__":
    print(*run(), sep="\n")
