"""DescribeTopicPartitions (key 75), v0 (KIP-966): topics by name in pages, each limited by a number
of partitions. Topics are sorted by name, partitions by index; the answer's cursor is the first
partition that did not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

from ..authorized_operations import TOPIC_OPERATIONS
from ..cluster import Partition, Topic
from ..cluster.topic_names import why_invalid
from ..requests.refusals import refused_whole

if TYPE_CHECKING:
    from coordinator.wire.schema import Response

    from ..broker import Broker
    from ..requests.call import Call


_MOST: Final = 2**31 - 1


def handle(broker: Broker, call: Call) -> Response:
    """Handle a DescribeTopicPartitions. An invalid cursor refuses every topic with 42; an empty
    name without a cursor with -1.
    """
    request = call.message
    assert isinstance(request, DescribeTopicPartitionsRequest)
    cursor = request.cursor
    start = cursor.topic_name if cursor else ""
    names = sorted({topic.name for topic in request.topics} or broker.cluster.topics)
    if "" in names and cursor is None:
        return refused_whole(request, call.version, ErrorCode.UNKNOWN_SERVER_ERROR, None)
    if cursor and (cursor.partition_index < 0 or (request.topics and start not in names)):
        return refused_whole(request, call.version, ErrorCode.INVALID_REQUEST, None)
    left = max(
        1,
        min(
            request.response_partition_limit,
            broker.configs.get_int("max.request.partition.size.limit"),
        ),
    )
    response = DescribeTopicPartitionsResponse()
    for name in names:
        if name < start:
            continue
        topic = broker.cluster.topics.get(name)
        first = cursor.partition_index if cursor and name == start else 0
        if left == 0:
            response.next_cursor = Cursor(topic_name=name, partition_index=first)
            break
        if topic is None:
            response.topics.append(_unknown(name))
            continue
        end = first + left
        if end > _MOST:  # Kafka's sum has 32 bits: the cursor of the answer is negative
            end -= 1 << 32
        shown = topic.partitions[first:end]
        response.topics.append(_topic(topic, shown))
        left -= len(shown)
        if end < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=end)
            break
    return response


def _topic(topic: Topic, shown: list[Partition]) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.internal,
        partitions=[_partition(partition) for partition in shown],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _partition(partition: Partition) -> DescribeTopicPartitionsResponsePartition:
    return DescribeTopicPartitionsResponsePartition(
        partition_index=partition.index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        eligible_leader_replicas=list(partition.elr),
        last_known_elr=list(partition.last_known_elr),
        offline_replicas=list(partition.offline),
    )


def _unknown(name: str) -> DescribeTopicPartitionsResponseTopic:
    code = (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if why_invalid(name) is None
        else ErrorCode.INVALID_TOPIC_EXCEPTION
    )
    return DescribeTopicPartitionsResponseTopic(
        error_code=code, name=name, topic_authorized_operations=TOPIC_OPERATIONS
    )
