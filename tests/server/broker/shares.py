"""Share groups in few words, for tests of the broker: a broker that serves them, and members that
fetch and acknowledge on connections of their own."""

from __future__ import annotations

from collections.abc import Mapping

from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.messages.share_acknowledge import AcknowledgementBatch as Acknowledged
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
    ForgottenTopic,
    PartitionData,
    ShareFetchRequest,
    ShareFetchResponse,
)
from coordinator.wire.schema import Message
from tests.server.broker.data import DataDriver
from tests.server.broker.driver import Client

Given = dict[int, list[tuple[int, int, int]]]
"""By partition: first and last offset, and delivery count."""
LOCK_MS = 30_000


class ShareDriver(DataDriver):
    """A broker with topic t of three partitions, that serves share groups; the group "g" reads it
    from the start."""

    def __init__(self, config: Mapping[str, str] | None = None, **of_group: str) -> None:
        super().__init__(config)
        cluster = self.broker.cluster
        cluster.set_feature("share.version", 2)
        self.configure("g", share_auto_offset_reset="earliest", **of_group)

    def configure(self, group: str, **values: str) -> None:
        """Set configurations of a group; _ for a dot."""
        known = self.broker.cluster.group_configs.get(group, {})
        named = {key.replace("_", "."): value for key, value in values.items()}
        self.broker.cluster.group_configs[group] = known | named

    def records(self, *sizes: int, index: int = 0, topic: str = "t") -> None:
        """Produce batches of so many records each."""
        for size in sizes:
            self.produce(build_batch([b"v"] * size, timestamp=1_000_000), index, topic=topic)

    def member(self, name: str = "a", group: str = "g", peer: str = "") -> Member:
        """A member on a connection of its own."""
        return Member(self, name, group, self.client(peer or f"127.0.0.1:{name}"))


class Member:
    """One member's share session. Epochs go on by themselves."""

    def __init__(self, driver: ShareDriver, name: str, group: str, client: Client) -> None:
        self.driver, self.name, self.group, self.client = driver, name, group, client
        self.epoch = 0

    def request(
        self,
        *indexes: int,
        acks: tuple[tuple[int, ...], ...] = (),
        forget: tuple[int, ...] = (),
        most: int = 500,
        wait: int = 0,
        min_bytes: int = 1,
        max_bytes: int = 1 << 20,
        exact: bool = False,
        renew: bool = False,
        topic_id: bytes | None = None,
    ) -> ShareFetchRequest:
        """A fetch. `acks`: of partition 0, (first, last, types ...) each."""
        of_topic = self.driver.t.id if topic_id is None else topic_id
        named = [FetchPartition(partition_index=index) for index in indexes]
        if acks:
            batches = [
                AcknowledgementBatch(
                    first_offset=of[0], last_offset=of[1], acknowledge_types=list(of[2:])
                )
                for of in acks
            ]
            named = [of for of in named if of.partition_index]
            named.append(FetchPartition(partition_index=0, acknowledgement_batches=batches))
        return ShareFetchRequest(
            group_id=self.group,
            member_id=self.name,
            share_session_epoch=self.epoch,
            max_wait_ms=wait,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
            max_records=most,
            batch_size=most,
            share_acquire_mode=int(exact),
            is_renew_ack=renew,
            topics=[FetchTopic(topic_id=of_topic, partitions=named)] if named else [],
            forgotten_topics_data=[ForgottenTopic(topic_id=of_topic, partitions=list(forget))]
            if forget
            else [],
        )

    def took(self, answer: Message) -> ShareFetchResponse:
        """An answer came: the session goes on."""
        assert isinstance(answer, ShareFetchResponse)
        if not answer.error_code and self.epoch >= 0:
            self.epoch += 1
        return answer

    def ask(self, request: ShareFetchRequest, version: int = 2) -> ShareFetchResponse:
        """The answer to a fetch that must not wait."""
        return self.took(self.client.ask(request, version))

    def fetch(self, *indexes: int, most: int = 500, exact: bool = False) -> Given:
        """What is acquired at once."""
        return given(self.ask(self.request(*indexes, most=most, exact=exact)))

    def acknowledge(
        self, *acks: tuple[int, ...], index: int = 0, renew: bool = False, version: int = 2
    ) -> ShareAcknowledgeResponse:
        """Acknowledge ranges of a partition: (first, last, types ...)."""
        batches = [
            Acknowledged(first_offset=of[0], last_offset=of[1], acknowledge_types=list(of[2:]))
            for of in acks
        ]
        partition = AcknowledgePartition(partition_index=index, acknowledgement_batches=batches)
        answer = self.client.ask(
            ShareAcknowledgeRequest(
                group_id=self.group,
                member_id=self.name,
                share_session_epoch=self.epoch,
                is_renew_ack=renew,
                topics=[AcknowledgeTopic(topic_id=self.driver.t.id, partitions=[partition])],
            ),
            version,
        )
        assert isinstance(answer, ShareAcknowledgeResponse)
        if not answer.error_code and self.epoch >= 0:
            self.epoch += 1
        return answer

    def said(self, *acks: tuple[int, ...], **other: bool) -> int:
        """The error of the only partition of an acknowledgement."""
        answer = self.acknowledge(*acks, **other)
        assert not answer.error_code
        ((partition,),) = [topic.partitions for topic in answer.responses]
        return partition.error_code


def partitions(answer: ShareFetchResponse) -> dict[int, PartitionData]:
    """The partitions of an answer, of whatever topic."""
    return {of.partition_index: of for topic in answer.responses for of in topic.partitions}


def given(answer: ShareFetchResponse) -> Given:
    """What an answer says was acquired."""
    assert not answer.error_code
    return {
        index: [
            (of.first_offset, of.last_offset, of.delivery_count) for of in data.acquired_records
        ]
        for index, data in partitions(answer).items()
        if data.acquired_records
    }


def initialize(driver: ShareDriver, group: str = "g", start: int = -1, epoch: int = 0) -> None:
    """Have the states of all partitions of t initialized, as the group coordinator does when a
    member subscribes."""
    from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
    from coordinator.wire.messages.share_group_states import (
        InitializeShareGroupStateRequest,
        InitializeStateData,
    )
    from coordinator.wire.messages.share_group_states import (
        InitializeStatePartitionData as PartitionData,
    )

    client = driver.client("127.0.0.1:init")
    client.ask(
        FindCoordinatorRequest(key_type=2, coordinator_keys=[f"{group}:AAAAAAAAAAAAAAAAAAAAAA:0"]),
        6,
    )
    of_t = [
        PartitionData(partition=index, state_epoch=epoch, start_offset=start) for index in range(3)
    ]
    client.ask(
        InitializeShareGroupStateRequest(
            group_id=group, topics=[InitializeStateData(topic_id=driver.t.id, partitions=of_t)]
        ),
        0,
    )
