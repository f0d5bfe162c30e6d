"""A member of a share group that a test drives by hand: each request when the test says so."""

from __future__ import annotations

import socket
from typing import Any, TypeVar

from coordinator.wire.framing import frame, parse_response_header, request_header
from coordinator.wire.messages import response_type
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from coordinator.wire.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.schema import Request

R = TypeVar("R")


class Sharer:
    """One member of a share group, on a connection of its own, that reads one topic's partition
    0."""

    def __init__(self, servers: str, group: str, client_id: str, topic: str) -> None:
        host, port = servers.split(",")[0].rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), 30)
        self._socket.settimeout(30)
        self.group, self.client_id, self.topic = group, client_id, topic
        self.member_id = f"{client_id}-id"
        self._epoch = self._session = self._asked = 0
        found = self._ask(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 12)
        self._topic_id = found.topics[0].topic_id

    def join(self) -> None:
        """Join, and go on until partitions are assigned."""
        answer = self._beat(subscribed_topic_names=[self.topic])
        while not (answer.assignment and answer.assignment.topic_partitions):
            answer = self._beat()

    def leave(self) -> None:
        """Leave, and hang up."""
        self._epoch = -1
        self._beat()
        self._socket.close()

    def fetch(self) -> list[tuple[int, int, int]]:
        """What is acquired at once: first and last offset, delivery count."""
        named = [FetchTopic(topic_id=self._topic_id, partitions=[FetchPartition()])]
        answer = self._ask(
            ShareFetchRequest(
                group_id=self.group,
                member_id=self.member_id,
                share_session_epoch=self._session,
                max_records=500,
                batch_size=500,
                topics=named if not self._session else [],
            ),
            2,
        )
        assert not answer.error_code
        self._session += 1
        return [
            (of.first_offset, of.last_offset, of.delivery_count)
            for topic in answer.responses
            for partition in topic.partitions
            for of in partition.acquired_records
        ]

    def acknowledge(self, *acks: tuple[int, ...]) -> int:
        """Acknowledge (first, last, types ...); the error."""
        batches = [
            AcknowledgementBatch(
                first_offset=of[0], last_offset=of[1], acknowledge_types=list(of[2:])
            )
            for of in acks
        ]
        of_topic = AcknowledgeTopic(
            topic_id=self._topic_id,
            partitions=[AcknowledgePartition(acknowledgement_batches=batches)],
        )
        answer = self._ask(
            ShareAcknowledgeRequest(
                group_id=self.group,
                member_id=self.member_id,
                share_session_epoch=self._session,
                topics=[of_topic],
            ),
            2,
        )
        if answer.error_code:
            return int(answer.error_code)
        self._session += 1
        return int(answer.responses[0].partitions[0].error_code)

    def _beat(self, **fields: Any) -> Any:
        answer = self._ask(
            ShareGroupHeartbeatRequest(
                group_id=self.group, member_id=self.member_id, member_epoch=self._epoch, **fields
            ),
            1,
        )
        assert not answer.error_code, answer
        self._epoch = answer.member_epoch
        return answer

    def _ask(self, request: Request, version: int) -> Any:
        self._asked += 1
        key = type(request).api_key
        header = request_header(key, version, self._asked, self.client_id)
        self._socket.sendall(frame(header, request.encode(version)))
        size = int.from_bytes(self._read(4), "big")
        body = self._read(size)
        _, at = parse_response_header(body, key, version)
        return response_type(key).decode(version, body, at)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            assert more, "the connection was closed"
            data += more
        return data
