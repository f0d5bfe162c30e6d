"""Errors that brokers really return, for each API. A test that injects any other error tests
something that no application meets.

The sets are those that Kafka names for its responses, with the codes that any request may get.
An API that is not listed is not judged.
"""

from __future__ import annotations

from typing import Final

from coordinator.base.errors import ErrorCode as E


class ImprobableErrorWarning(UserWarning):
    """A fault answers an API with an error that no broker returns for it."""


_ANY: Final = frozenset(
    {E.UNKNOWN_SERVER_ERROR, E.INVALID_REQUEST, E.UNSUPPORTED_VERSION, E.THROTTLING_QUOTA_EXCEEDED}
)
_COORDINATOR: Final = frozenset(
    {
        E.COORDINATOR_LOAD_IN_PROGRESS,
        E.COORDINATOR_NOT_AVAILABLE,
        E.NOT_COORDINATOR,
        E.INVALID_GROUP_ID,
        E.GROUP_AUTHORIZATION_FAILED,
    }
)
_MEMBER: Final = frozenset(
    {*_COORDINATOR, E.UNKNOWN_MEMBER_ID, E.FENCED_INSTANCE_ID, E.GROUP_ID_NOT_FOUND}
)
_GENERATION: Final = frozenset({*_MEMBER, E.ILLEGAL_GENERATION, E.REBALANCE_IN_PROGRESS})
_TOPIC: Final = frozenset(
    {
        E.UNKNOWN_TOPIC_OR_PARTITION,
        E.UNKNOWN_TOPIC_ID,
        E.TOPIC_AUTHORIZATION_FAILED,
        E.INVALID_TOPIC_EXCEPTION,
    }
)
_LEADER: Final = frozenset(
    {
        *_TOPIC,
        E.NOT_LEADER_OR_FOLLOWER,
        E.LEADER_NOT_AVAILABLE,
        E.REPLICA_NOT_AVAILABLE,
        E.KAFKA_STORAGE_ERROR,
        E.FENCED_LEADER_EPOCH,
        E.UNKNOWN_LEADER_EPOCH,
        E.REQUEST_TIMED_OUT,
        E.INCONSISTENT_TOPIC_ID,
    }
)
_COMMIT: Final = frozenset(
    {
        *_GENERATION,
        *_TOPIC,
        E.OFFSET_METADATA_TOO_LARGE,
        E.INVALID_COMMIT_OFFSET_SIZE,
        E.REQUEST_TIMED_OUT,
        E.STALE_MEMBER_EPOCH,
    }
)
_PRODUCER: Final = frozenset(
    {
        E.INVALID_PRODUCER_EPOCH,
        E.PRODUCER_FENCED,
        E.INVALID_PRODUCER_ID_MAPPING,
        E.INVALID_TXN_STATE,
        E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        E.CONCURRENT_TRANSACTIONS,
        E.TRANSACTION_ABORTABLE,
        E.COORDINATOR_LOAD_IN_PROGRESS,
        E.COORDINATOR_NOT_AVAILABLE,
        E.NOT_COORDINATOR,
    }
)

ANSWERED: Final[dict[str, frozenset[E]]] = {
    "Produce": _LEADER
    | {
        E.CORRUPT_MESSAGE,
        E.MESSAGE_TOO_LARGE,
        E.RECORD_LIST_TOO_LARGE,
        E.NOT_ENOUGH_REPLICAS,
        E.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        E.INVALID_REQUIRED_ACKS,
        E.INVALID_TIMESTAMP,
        E.INVALID_RECORD,
        E.UNSUPPORTED_FOR_MESSAGE_FORMAT,
        E.UNSUPPORTED_COMPRESSION_TYPE,
        E.CLUSTER_AUTHORIZATION_FAILED,
        E.OUT_OF_ORDER_SEQUENCE_NUMBER,
        E.DUPLICATE_SEQUENCE_NUMBER,
        E.UNKNOWN_PRODUCER_ID,
    }
    | _PRODUCER,
    "Fetch": _LEADER
    | {
        E.OFFSET_OUT_OF_RANGE,
        E.CORRUPT_MESSAGE,
        E.FETCH_SESSION_ID_NOT_FOUND,
        E.INVALID_FETCH_SESSION_EPOCH,
        E.FETCH_SESSION_TOPIC_ID_ERROR,
        E.UNSUPPORTED_COMPRESSION_TYPE,
        E.CLUSTER_AUTHORIZATION_FAILED,
        E.OFFSET_MOVED_TO_TIERED_STORAGE,
    },
    "ListOffsets": _LEADER
    | {E.OFFSET_NOT_AVAILABLE, E.UNSUPPORTED_FOR_MESSAGE_FORMAT, E.INVALID_TIMESTAMP},
    "OffsetCommit": _COMMIT,
    "TxnOffsetCommit": _COMMIT | _PRODUCER,
    "OffsetFetch": _COORDINATOR
    | _TOPIC
    | {
        E.UNSTABLE_OFFSET_COMMIT,
        E.STALE_MEMBER_EPOCH,
        E.UNKNOWN_MEMBER_ID,
        E.GROUP_ID_NOT_FOUND,
    },
    "FindCoordinator": _COORDINATOR
    | {E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, E.INVALID_TOPIC_EXCEPTION},
    "JoinGroup": _MEMBER
    | {
        E.INCONSISTENT_GROUP_PROTOCOL,
        E.INVALID_SESSION_TIMEOUT,
        E.MEMBER_ID_REQUIRED,
        E.GROUP_MAX_SIZE_REACHED,
        E.REBALANCE_IN_PROGRESS,
    },
    "SyncGroup": _GENERATION | {E.INCONSISTENT_GROUP_PROTOCOL},
    "Heartbeat": _GENERATION,
    "LeaveGroup": _MEMBER,
    "ConsumerGroupHeartbeat": _COORDINATOR
    | {
        E.UNKNOWN_MEMBER_ID,
        E.FENCED_MEMBER_EPOCH,
        E.UNRELEASED_INSTANCE_ID,
        E.FENCED_INSTANCE_ID,
        E.UNSUPPORTED_ASSIGNOR,
        E.GROUP_MAX_SIZE_REACHED,
        E.GROUP_ID_NOT_FOUND,
        E.INVALID_REGULAR_EXPRESSION,
        E.TOPIC_AUTHORIZATION_FAILED,
    },
    "InitProducerId": _PRODUCER | {E.CLUSTER_AUTHORIZATION_FAILED, E.INVALID_TRANSACTION_TIMEOUT},
    "AddPartitionsToTxn": _PRODUCER | _TOPIC | {E.OPERATION_NOT_ATTEMPTED},
    "AddOffsetsToTxn": _PRODUCER | _COORDINATOR,
    "EndTxn": _PRODUCER,
    "Metadata": _TOPIC | {E.LEADER_NOT_AVAILABLE, E.REPLICA_NOT_AVAILABLE},
}
"""Errors that a broker returns, by Kafka's name of the API."""


def improbable(api: str | None, error: E | None) -> str:
    """Return why no broker answers an API (None: any) with an error, and which errors it
    returns. "" if a broker returns the error, or if that is not known."""
    answered = ANSWERED.get(api or "")
    if answered is None or error is None or error in answered or error in _ANY:
        return ""
    names = ", ".join(sorted(each.name for each in answered))
    return f"no broker answers {api} with {error.name}; it answers {names}"


def ghost(api: str | None, error: E | None) -> str:
    """Return a hint about an injected UNKNOWN_MEMBER_ID, which leaves the member in the group;
    "" for other errors."""
    if api not in _KEEP_ALIVE or error is not E.UNKNOWN_MEMBER_ID:
        return ""
    return "the group keeps the member and waits for it until its session ends; remove() puts it out for real"


_KEEP_ALIVE: Final = frozenset({"Heartbeat", "SyncGroup", "ConsumerGroupHeartbeat"})
