"""Where the error stands in the answer to a request that comes while a client is to log in, for the
APIs that are otherwise refused in another shape (SASL-2).

Kafka makes these answers from the request alone. Does not depend on whose text the error has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...errors import ErrorCode
from ...wire.messages import response_type
from ...wire.messages.delegation_tokens import CreateDelegationTokenResponse
from ..call import ANONYMOUS
from ..error_responses import copied, refused_whole
from ..handlers.acls import means_nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...wire.schema import Request, Response

ILLEGAL: Final = ErrorCode.ILLEGAL_SASL_STATE
_FETCHES_BY_ID = 13
_ELECTS_WITH_AN_ERROR = 1


def _kind(message: Request, *lists: str) -> Any:
    """The class of the elements of a list in the answer; without a list that of the answer."""
    kind: Any = response_type(message.api_key)
    for name in lists:
        kind = next(field.elem for field in kind.fields if field.name == name)
    return kind


def _answer(message: Request, **values: Any) -> Response:
    """The answer, with these values."""
    made: Response = _kind(message)(**values)
    return made


def _whole(message: Request, **values: Any) -> Response:
    """The answer, with the error for the whole request, and these values."""
    made: Response = _failed(_kind(message), **values)
    return made


def _failed(kind: Any, **values: Any) -> Any:
    """A struct with the error, and with its text if it has one."""
    named = {field.name for field in kind.fields}
    text = {"error_message": ILLEGAL.message} if "error_message" in named else {}
    return kind(error_code=ILLEGAL, **text, **values)


def _produce(message: Any, version: int) -> Response | None:
    """Where no answer is awaited there is none; null records break Kafka's making of it."""
    if message.acks == 0:
        return None
    if any(each.records is None for topic in message.topic_data for each in topic.partition_data):
        return None
    topics = [
        copied(
            topic, partition_data=[*{each.index: each for each in topic.partition_data}.values()]
        )
        for topic in message.topic_data
        if topic.partition_data
    ]
    return refused_whole("Produce", copied(message, topic_data=topics), version, ILLEGAL)


def _fetch(message: Any, version: int) -> Response:
    topic_kind = _kind(message, "responses")
    row = _kind(message, "responses", "partitions")
    topics = [
        topic_kind(
            topic=topic.topic,
            partitions=[
                row(
                    partition_index=each.partition,
                    error_code=ILLEGAL,
                    high_watermark=-1,
                    records=b"",
                )
                for each in topic.partitions
            ],
        )
        for topic in (message.topics if version < _FETCHES_BY_ID else ())
    ]
    return _answer(message, error_code=ILLEGAL, session_id=message.session_id, responses=topics)


def _metadata(message: Any, version: int) -> Response:
    topic = _kind(message, "topics")
    named = [
        topic(error_code=ILLEGAL, name=each.name, topic_id=each.topic_id)
        for each in message.topics or ()
    ]
    return _answer(message, topics=named, error_code=ILLEGAL)


def _with_topics(
    asked: str, rows: str, index: str | None, told: str, told_rows: str, told_index: str
) -> Callable[[Any, int], Response]:
    """For an API that answers for each partition: a topic without any is told, too."""

    def make(message: Any, version: int) -> Response:
        topic_kind = _kind(message, told)
        row_kind = _kind(message, told, told_rows)
        names = {field.name for field in topic_kind.fields}
        topics = []
        for topic in getattr(message, asked) or ():
            who = {
                field.name: getattr(topic, field.name)
                for field in type(topic).fields
                if field.name in names and field.name != told_rows
            }
            partitions = [
                _failed(row_kind, **{told_index: each if index is None else getattr(each, index)})
                for each in getattr(topic, rows)
            ]
            topics.append(topic_kind(**{**who, told_rows: partitions}))
        return _answer(message, **{told: topics})

    return make


def _kept_empty(
    api: str, asked: str, rows: str, told: str = "topics"
) -> Callable[[Any, int], Response]:
    """As a request is refused otherwise, but a topic without partitions is told, too."""

    def make(message: Any, version: int) -> Response:
        topics = getattr(message, asked) or []
        if not topics or any(getattr(topic, rows) for topic in topics):
            return refused_whole(api, message, version, ILLEGAL)
        topic_kind = _kind(message, told)
        names = {field.name for field in topic_kind.fields}
        empty = [
            topic_kind(
                **{
                    field.name: getattr(topic, field.name)
                    for field in type(topic).fields
                    if field.name in names and field.name in ("name", "topic", "topic_id")
                }
            )
            for topic in topics
        ]
        return _answer(message, **{told: empty})

    return make


def _acls(told: str, asked: str) -> Callable[[Any, int], Response | None]:
    """For ACLs made or deleted: each has its answer, which does not name it."""

    def make(message: Any, version: int) -> Response | None:
        if means_nothing(message):
            return None
        kind = _kind(message, told)
        return _answer(message, **{told: [_failed(kind) for _ in getattr(message, asked)]})

    return make


def _describe_acls(message: Any, version: int) -> Response | None:
    return None if means_nothing(message) else _whole(message)


def _join(message: Any, version: int) -> Response:
    made = refused_whole("JoinGroup", message, version, ILLEGAL)
    return copied(made, member_id="")


def _init_producer_id(message: Any, version: int) -> Response:
    made = refused_whole("InitProducerId", message, version, ILLEGAL)
    return copied(made, producer_epoch=-1)


def _elect(message: Any, version: int) -> Response:
    elect = _kept_empty(
        "ElectLeaders", "topic_partitions", "partitions", "replica_election_results"
    )
    made = elect(message, version)
    return copied(made, error_code=ILLEGAL if version >= _ELECTS_WITH_AN_ERROR else 0)


def _reassign(message: Any, version: int) -> Response:
    make = _with_topics(
        "topics", "partitions", "partition_index", "responses", "partitions", "partition_index"
    )
    rows: Any = make(message, version)
    made = refused_whole("AlterPartitionReassignments", message, version, ILLEGAL)
    return copied(made, responses=rows.responses)


def _offset_delete(message: Any, version: int) -> Response:
    return _answer(message, error_code=ILLEGAL)


def _create_token(message: Any, version: int) -> Response:
    kind, _, name = ANONYMOUS.partition(":")
    return CreateDelegationTokenResponse(
        error_code=ILLEGAL,
        principal_type=kind,
        principal_name=name,
        token_requester_principal_type=kind,
        token_requester_principal_name=name,
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
    )


def _describe_quotas(message: Any, version: int) -> Response:
    return _whole(message, entries=None)


def _alter_quotas(message: Any, version: int) -> Response:
    entry, part = _kind(message, "entries"), _kind(message, "entries", "entity")
    return _answer(
        message,
        entries=[
            _failed(
                entry,
                entity=[
                    part(entity_type=each.entity_type, entity_name=each.entity_name)
                    for each in asked.entity
                ],
            )
            for asked in message.entries
        ],
    )


def _describe_credentials(message: Any, version: int) -> Response | None:
    """Each user has an answer that does not name it; for all of them Kafka cannot make one."""
    if message.users is None:
        return None
    result = _kind(message, "results")
    users = [_failed(result) for _ in message.users]
    return _whole(message, results=users)


def _alter_credentials(message: Any, version: int) -> Response:
    result = _kind(message, "results")
    users = dict.fromkeys(each.name for each in [*message.deletions, *message.upsertions])
    return _answer(message, results=[_failed(result, user=user) for user in users])


def _describe_topics(message: Any, version: int) -> Response:
    topic = _kind(message, "topics")
    return _answer(
        message, topics=[topic(error_code=ILLEGAL, name=each.name) for each in message.topics]
    )


def _list_reassignments(message: Any, version: int) -> Response:
    topic, row = _kind(message, "topics"), _kind(message, "topics", "partitions")
    asked: dict[str, list[Any]] = {}
    for each in message.topics or ():
        rows = [row(partition_index=index) for index in each.partition_indexes]
        asked.setdefault(each.name, []).extend(rows)
    named = [topic(name=name, partitions=rows) for name, rows in asked.items()]
    return _whole(message, topics=named)


def _markers(message: Any, version: int) -> Response:
    """Of a producer's markers the last is told, and each of its partitions once."""
    topic_kind = _kind(message, "markers", "topics")
    row = _kind(message, "markers", "topics", "partitions")
    told = []
    for producer_id, marker in {each.producer_id: each for each in message.markers}.items():
        topics: dict[str, dict[int, Any]] = {}
        for topic in marker.topics:
            for index in topic.partition_indexes:
                rows = topics.setdefault(topic.name, {})
                rows[index] = row(partition_index=index, error_code=ILLEGAL)
        listed = [
            topic_kind(name=name, partitions=list(rows.values())) for name, rows in topics.items()
        ]
        told.append(_kind(message, "markers")(producer_id=producer_id, topics=listed))
    return _answer(message, markers=told)


def _move_replicas(message: Any, version: int) -> Response:
    topic_kind, row = _kind(message, "results"), _kind(message, "results", "partitions")
    return _answer(
        message,
        results=[
            topic_kind(
                topic_name=topic.name,
                partitions=[
                    row(partition_index=index, error_code=ILLEGAL) for index in topic.partitions
                ],
            )
            for each in message.dirs
            for topic in each.topics
        ],
    )


def _share_offsets(message: Any, version: int) -> Response:
    group = _kind(message, "groups")
    return _answer(
        message, groups=[_failed(group, group_id=each.group_id) for each in message.groups]
    )


_SHARE_STATE = _with_topics(
    "topics", "partitions", "partition", "results", "partitions", "partition"
)
_ADD = _kept_empty(
    "AddPartitionsToTxn", "v3_and_below_topics", "partitions", "results_by_topic_v3_and_below"
)
OWN: Final[dict[str, Callable[[Any, int], Response | None]]] = {
    "AddPartitionsToTxn": _ADD,
    "AlterClientQuotas": _alter_quotas,
    "AlterPartitionReassignments": _reassign,
    "AlterReplicaLogDirs": _move_replicas,
    "AlterUserScramCredentials": _alter_credentials,
    "CreateAcls": _acls("results", "creations"),
    "CreateDelegationToken": _create_token,
    "DeleteAcls": _acls("filter_results", "filters"),
    "DeleteRecords": _kept_empty("DeleteRecords", "topics", "partitions"),
    "DeleteShareGroupState": _SHARE_STATE,
    "DescribeAcls": _describe_acls,
    "DescribeClientQuotas": _describe_quotas,
    "DescribeProducers": _kept_empty("DescribeProducers", "topics", "partition_indexes"),
    "DescribeShareGroupOffsets": _share_offsets,
    "DescribeTopicPartitions": _describe_topics,
    "DescribeUserScramCredentials": _describe_credentials,
    "ElectLeaders": _elect,
    "Fetch": _fetch,
    "InitProducerId": _init_producer_id,
    "InitializeShareGroupState": _SHARE_STATE,
    "JoinGroup": _join,
    "ListPartitionReassignments": _list_reassignments,
    "ListOffsets": _kept_empty("ListOffsets", "topics", "partitions"),
    "Metadata": _metadata,
    "OffsetCommit": _kept_empty("OffsetCommit", "topics", "partitions"),
    "OffsetDelete": _offset_delete,
    "OffsetForLeaderEpoch": _kept_empty("OffsetForLeaderEpoch", "topics", "partitions"),
    "Produce": _produce,
    "ReadShareGroupState": _SHARE_STATE,
    "ReadShareGroupStateSummary": _SHARE_STATE,
    "TxnOffsetCommit": _kept_empty("TxnOffsetCommit", "topics", "partitions"),
    "WriteShareGroupState": _SHARE_STATE,
    "WriteTxnMarkers": _markers,
}
