"""DeleteTopics (key 20): remove topics.

1: throttle time. 4: flexible. 5: error messages; quota errors (KIP-599). 6: by name or by id
(KIP-516). 0 was removed in Kafka 4.0.
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, string, uuid

KEY = 20


class DeleteTopicState(Struct):
    name: str | None = string(since=6, nullable=6, default=None)
    topic_id: bytes = uuid(since=6, default=ZERO_UUID)


class DeleteTopicsRequest(Request, key=KEY, versions=(0, 6), flexible=4):
    topics: list[DeleteTopicState] = array(DeleteTopicState, since=6, default=())
    topic_names: list[str] = array(string, until=5, default=())
    timeout_ms: int = int32(default=0)


class DeletableTopicResult(Struct):
    name: str | None = string(nullable=6, default="")
    topic_id: bytes = uuid(since=6, default=ZERO_UUID)
    error_code: int = int16(default=0)
    error_message: str | None = string(since=5, nullable=5, default=None)


class DeleteTopicsResponse(Response, key=KEY, versions=(0, 6), flexible=4):
    throttle_time_ms: int = int32(since=1, default=0)
    responses: list[DeletableTopicResult] = array(DeletableTopicResult, default=())
