"""OffsetCommit (key 8): commits offsets of a group.

v10 has topic ids (KIP-848): each partition of an unknown id gets 100. An unknown topic or
partition gets 3. The rest goes to the group coordinator; if there is none, it is not asked
(OC-6). In the response a topic's refused partitions come first, then the coordinator's, as Kafka
merges them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from coordinator.wire.primitives import fits

from ..requests.missing_partitions import MissingPartitions, nothing_is_missing
from ..requests.refusals import refused_whole

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Result

_LAST_WITHOUT_NOT_FOUND, _FIRST_WITH_IDS = 8, 10


def handle(broker: Broker, call: Call) -> Result:
    """Handle an OffsetCommit."""
    request = call.message
    assert isinstance(request, OffsetCommitRequest)
    if not call.version:  # those went to ZooKeeper, which there is none of
        return refused_whole(request, call.version, ErrorCode.UNSUPPORTED_VERSION, None)
    if not broker.configs.release.has("OC-40-1"):  # no version knows GROUP_ID_NOT_FOUND
        call = call._replace(version=min(call.version, _LAST_WITHOUT_NOT_FOUND))
    by_id = call.version >= _FIRST_WITH_IDS
    if not request.topics:
        return OffsetCommitResponse()  # no coordinator is asked: no group begins
    if (
        not by_id
        and nothing_is_missing(broker.cluster, request.topics)
        and fits(request.group_id)
        and (call.sees is None or all(call.sees(topic.name) for topic in request.topics))
    ):
        return broker.groups.coordinate(call, request)  # most requests, in short
    missing: MissingPartitions[OffsetCommitRequestTopic, OffsetCommitResponseTopic] = (
        MissingPartitions(
            broker.cluster,
            OffsetCommitResponseTopic,
            OffsetCommitResponsePartition,
            by_id=by_id,
            sees=call.sees,
        )
    )
    request.topics = missing.refuse(request.topics)
    if not request.topics:
        return OffsetCommitResponse(topics=missing.merged(()))
    if not fits(request.group_id):  # Kafka cannot write the record of such a group: -1
        refused = refused_whole(request, call.version, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        assert isinstance(refused, OffsetCommitResponse)
        return OffsetCommitResponse(topics=missing.before(refused.topics))
    ids = [topic.topic_id for topic in request.topics]
    answer = broker.groups.coordinate(call, request)
    assert isinstance(answer, OffsetCommitResponse)
    if by_id:
        for topic_id, answered in zip(ids, answer.topics, strict=True):
            answered.topic_id = topic_id
    answer.topics = missing.before(answer.topics)
    return answer
