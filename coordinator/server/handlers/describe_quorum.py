"""DescribeQuorum (key 55), v0-2 (KIP-595, KIP-853): all brokers are voters, the controller leads
the metadata log; any other partition is unknown (3).

There is no metadata log: its end offset is the number of changes of the cluster. Endpoints (v2)
are the brokers' own, for there is no controller listener.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
    Listener,
    Node,
    ReplicaState,
)

from ..requests.call import by_element
from ..topics import CLUSTER_METADATA

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Sliced


def handle(broker: Broker, call: Call) -> DescribeQuorumResponse | Sliced:
    """Handle a DescribeQuorum; it is never parked."""
    request = call.message
    assert isinstance(request, DescribeQuorumRequest)
    asked = [
        (topic.topic_name, [partition.partition_index for partition in topic.partitions])
        for topic in request.topics
    ]
    if asked != [(CLUSTER_METADATA, [0])]:
        return by_element(
            call,
            asked,
            lambda topic, _: _unknown_topic(*topic),
            lambda topics: DescribeQuorumResponse(topics=topics),
        )
    return DescribeQuorumResponse(
        topics=[
            DescribeQuorumResponseTopicData(
                topic_name=CLUSTER_METADATA, partitions=[_quorum(broker, call)]
            )
        ],
        nodes=[
            Node(
                node_id=node.node_id,
                listeners=[
                    Listener(name=name, host=host, port=port)
                    for name, (host, port) in node.endpoints.items()
                ],
            )
            for node in broker.cluster.brokers.values()
        ],
    )


def _quorum(broker: Broker, call: Call) -> DescribeQuorumResponsePartitionData:
    end, now_ms = broker.cluster.version, broker.epoch_ms + call.now
    quorum = broker.controller.quorum
    voters = [
        ReplicaState(
            replica_id=voter,
            log_end_offset=end,
            last_fetch_timestamp=now_ms,
            last_caught_up_timestamp=now_ms,
        )
        for voter in quorum.voters
    ]
    leader = broker.cluster.controller_id if quorum.leader is None else quorum.leader
    return DescribeQuorumResponsePartitionData(
        leader_id=leader, leader_epoch=quorum.epoch, high_watermark=end, current_voters=voters
    )


def _unknown_topic(name: str, indexes: list[int]) -> DescribeQuorumResponseTopicData:
    return DescribeQuorumResponseTopicData(
        topic_name=name, partitions=[_unknown(index) for index in indexes]
    )


def _unknown(index: int) -> DescribeQuorumResponsePartitionData:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DescribeQuorumResponsePartitionData(
        partition_index=index, error_code=code, error_message=code.message
    )
