"""Produce and Fetch in few words, for the tests of the data plane: a broker with topics, and what a
4.4.0 broker was asked too."""

from __future__ import annotations

from collections.abc import Mapping

from coordinator.server.cluster import Topic
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from coordinator.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.server.broker.driver import Client, Driver

EPOCH_MS = 1_000_000  # the driver's wall clock at its zero
BATCH = build_batch([b"a" * 100, b"b" * 100], timestamp=EPOCH_MS)
SIZE = 279


class DataDriver(Driver):
    """A driver with topic t of three partitions, and one client at hand."""

    def __init__(self, config: Mapping[str, str] | None = None) -> None:
        super().__init__(["t:3"], config)
        self.client_ = self.client()

    @property
    def t(self) -> Topic:
        """Topic t."""
        return self.broker.cluster.topics["t"]

    def topic(self, name: str, **configs: str) -> Topic:
        """Another topic, of one partition; configuration names with _ for a dot."""
        named = {key.replace("_", "."): value for key, value in configs.items()}
        return self.broker.cluster.create_topic(
            name, topic_id=self.broker.fresh_uuid(), assignment=[[1]], configs=named
        )

    def produce(
        self,
        records: bytes | None = BATCH,
        index: int = 0,
        *,
        topic: str = "t",
        version: int = 12,
        acks: int = -1,
        topic_id: bytes | None = None,
    ) -> PartitionProduceResponse:
        """Send one batch; the answer for its partition."""
        request = produce_request({(topic, index): records}, acks=acks)
        if version >= 13:
            request.topic_data[0].topic_id = (
                self.broker.cluster.topics[topic].id if topic_id is None else topic_id
            )
        answer = self.client_.ask(request, version)
        assert isinstance(answer, ProduceResponse)
        (of_topic,) = answer.responses
        (partition,) = of_topic.partition_responses
        return partition

    def fetch(self, request: FetchRequest, version: int = 12) -> FetchResponse:
        """The answer to a fetch that must not wait."""
        answer = self.client_.ask(request, version)
        assert isinstance(answer, FetchResponse)
        return answer

    def fetched(self, client: Client | None = None) -> FetchResponse:
        """The one answer that came to a fetch that waited."""
        (answer,) = (client or self.client_).answers()
        assert isinstance(answer, FetchResponse)
        return answer


def produce_request(
    batches: Mapping[tuple[str, int], bytes | None], *, acks: int = -1
) -> ProduceRequest:
    """A Produce of one entry a batch."""
    return ProduceRequest(
        acks=acks,
        timeout_ms=1_000,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=index, records=records)]
            )
            for (topic, index), records in batches.items()
        ],
    )


def wanted(
    index: int = 0,
    offset: int = 0,
    *,
    max_bytes: int = 1 << 20,
    epoch: int = -1,
    last_epoch: int = -1,
) -> FetchPartition:
    """One partition of a fetch."""
    return FetchPartition(
        partition=index,
        fetch_offset=offset,
        partition_max_bytes=max_bytes,
        current_leader_epoch=epoch,
        last_fetched_epoch=last_epoch,
    )


def fetch_request(
    *partitions: FetchPartition,
    topic: str = "t",
    topic_id: bytes = bytes(16),
    wait: int = 500,
    min_bytes: int = 1,
    max_bytes: int = 1 << 24,
    session: tuple[int, int] = (0, -1),
    forget: tuple[int, ...] = (),
    isolation: int = 0,
) -> FetchRequest:
    """A fetch from one topic. `session`: id and epoch."""
    return FetchRequest(
        max_wait_ms=wait,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation,
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(topic=topic, topic_id=topic_id, partitions=list(partitions))]
        if partitions
        else [],
        forgotten_topics_data=[
            ForgottenTopic(topic=topic, topic_id=topic_id, partitions=list(forget))
        ]
        if forget
        else [],
    )


def partitions_of(response: FetchResponse) -> list[PartitionData]:
    """All partitions of an answer, whatever their topic."""
    topics: list[FetchableTopicResponse] = response.responses
    return [partition for topic in topics for partition in topic.partitions]


def sizes(response: FetchResponse) -> list[tuple[int, int, int]]:
    """(partition, error, bytes of records) of an answer, in its order."""
    return [
        (each.partition_index, each.error_code, len(each.records or b""))
        for each in partitions_of(response)
    ]
