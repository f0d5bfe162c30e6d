"""FindCoordinator (key 10): the broker that coordinates a group, a transactional id or a share
partition.

v0: groups only. v1-3: one key and its type. v4+: a batch of keys (KIP-699). v6: share partitions
(KIP-932, SH-FC-1). Group ids and transactional ids are not validated, "" has a coordinator too
(FC-5). A missing internal topic is created by the request (Kafka answers
COORDINATOR_NOT_AVAILABLE until it exists).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

from ..cluster.internal_topics import partition_for
from ..cluster.model import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from ..requests.call import by_element
from ..settings.definitions import parse_whole, trim
from ..shares.service import is_enabled
from ..topics import ensure_internal_topic

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Result, Sliced

GROUP, TRANSACTION, SHARE = 0, 1, 2
_TOPICS = {GROUP: CONSUMER_OFFSETS, TRANSACTION: TRANSACTION_STATE, SHARE: SHARE_GROUP_STATE}
_FIRST_BATCHED = 4
_FIRST_WITH_SHARE = 6


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Handle a FindCoordinator: one entry for each key in the order of the request, repeated keys
    included (FC-4).
    """
    request = call.message
    assert isinstance(request, FindCoordinatorRequest)
    if call.version >= _FIRST_BATCHED:
        return by_element(
            call,
            request.coordinator_keys,
            lambda key, call: _find(broker, call, request.key_type, key),
            lambda found: FindCoordinatorResponse(coordinators=found),
        )
    one = _find(broker, call, request.key_type, request.key)
    error = ErrorCode(one.error_code)
    return FindCoordinatorResponse(
        error_code=error,
        error_message=error.message or "NONE",
        node_id=one.node_id,
        host=one.host,
        port=one.port,
    )


def _find(broker: Broker, call: Call, key_type: int, key: str) -> Coordinator:
    """Return the coordinator of one key, or its error (FC-1, FC-3)."""
    if key_type == SHARE and not (call.version >= _FIRST_WITH_SHARE and _is_share_key(key)):
        return _refused(key, ErrorCode.INVALID_REQUEST)
    if key_type == SHARE and not is_enabled(broker):
        return _refused(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    if key_type not in _TOPICS:
        return _refused(key, ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST.message)
    cluster = broker.cluster
    topic = _TOPICS[key_type]
    if topic not in cluster.topics:
        if broker.log_is_blocked:
            return _refused(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        ensure_internal_topic(broker, topic, call)
    partition = cluster.partition(topic, partition_for(broker.configs, topic, key))
    node = cluster.brokers.get(partition.leader) if partition is not None else None
    if node is None or call.listener not in node.endpoints:
        return _refused(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    host, port = node.endpoints[call.listener]
    return Coordinator(key=key, node_id=node.node_id, host=host, port=port)


def _refused(key: str, error: ErrorCode, message: str = "") -> Coordinator:
    return Coordinator(
        key=key, node_id=-1, host="", port=-1, error_code=error, error_message=message
    )


def _is_share_key(key: str) -> bool:
    """Return True if the text is a share partition's key, group:topic id:partition. The topic id is
    22 characters of URL-safe base64, the partition an int as Java parses it; the group may
    contain colons.
    """
    group, topic_id, partition = ["", "", "", *key.rsplit(":", 2)][-3:]
    return bool(
        trim(group) and _TOPIC_ID.fullmatch(topic_id) and parse_whole(partition) is not None
    )


_TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{22}")
