"""Where a refusal stands in a response, be it the broker's or injected: for every API, in the shape
that Kafka itself gives it.

Owns one table of the APIs whose answers hold an error for each topic, partition, group or other
item, and one rule for those that hold a single error. `refuse` takes the items that are to fail out
of a request, so that the handler serves the others, and `Refusal.complete` puts the refused items
back into the answer, in the order of the request. Both can be done in slices, where a request may
name very much. It does not depend on who decided that something fails, nor on the broker's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..common.slices import ITEMS_A_STEP, done, each, whole
from ..errors import ErrorCode
from ..wire.messages import response_type
from ..wire.messages.find_coordinator import FindCoordinatorRequest
from ..wire.messages.join_group import JoinGroupRequest
from ..wire.messages.leave_group import LeaveGroupRequest
from ..wire.messages.metadata import MetadataRequest, MetadataResponse
from ..wire.messages.offset_fetch import OffsetFetchRequest
from ..wire.messages.share_acknowledge import ShareAcknowledgeRequest
from ..wire.messages.topics import DeleteTopicsRequest
from ..wire.messages.transactions import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ..wire.schema import Request, Response

if TYPE_CHECKING:
    from ..common.slices import Slices


T = TypeVar("T")


class Place(NamedTuple):
    """One item of a request: what it is about, as far as the item says."""

    topic: str | None = None
    topic_id: bytes | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None


class Nested(NamedTuple):
    """An API that answers for each partition of each topic: the names of the lists and indexes in
    request and response."""

    topics: str
    partitions: str
    number: str | None  # None: the partitions are plain numbers
    response_topics: str
    response_partitions: str
    response_number: str = "partition_index"
    error: str = "error_code"
    others: tuple[tuple[str, Any], ...] = ()  # what an item that failed holds beside its error


class Listed(NamedTuple):
    """An API that answers for each entry of one list. `key`: the entry's name (None: the entry is
    the name itself)."""

    entries: str
    key: str | None
    response_entries: str
    response_key: str
    about: str  # what the entry is, as Place calls it
    same: tuple[str, ...] = ()  # further fields that an answer's entry repeats
    others: tuple[tuple[str, Any], ...] = ()


_PRODUCE_OTHERS = (("base_offset", -1), ("log_append_time_ms", -1), ("log_start_offset", -1))

NESTED: dict[str, Nested] = {
    "Produce": Nested(
        "topic_data",
        "partition_data",
        "index",
        "responses",
        "partition_responses",
        "index",
        others=_PRODUCE_OTHERS,
    ),
    "ListOffsets": Nested(
        "topics",
        "partitions",
        "partition_index",
        "topics",
        "partitions",
        others=(("timestamp", -1), ("offset", -1)),
    ),
    "OffsetCommit": Nested("topics", "partitions", "partition_index", "topics", "partitions"),
    "TxnOffsetCommit": Nested("topics", "partitions", "partition_index", "topics", "partitions"),
    "OffsetDelete": Nested("topics", "partitions", "partition_index", "topics", "partitions"),
    "DeleteRecords": Nested(
        "topics",
        "partitions",
        "partition_index",
        "topics",
        "partitions",
        others=(("low_watermark", -1),),
    ),
    "OffsetForLeaderEpoch": Nested(
        "topics", "partitions", "partition", "topics", "partitions", "partition"
    ),
    "DescribeProducers": Nested("topics", "partition_indexes", None, "topics", "partitions"),
    "ElectLeaders": Nested(
        "topic_partitions",
        "partitions",
        None,
        "replica_election_results",
        "partition_result",
        "partition_id",
    ),
    "AddPartitionsToTxn": Nested(
        "v3_and_below_topics",
        "partitions",
        None,
        "results_by_topic_v3_and_below",
        "results_by_partition",
        error="partition_error_code",
    ),
}

_TOPIC, _GROUP = "topic", "group"
LISTED: dict[str, Listed] = {
    "CreateTopics": Listed(
        "topics",
        "name",
        "topics",
        "name",
        _TOPIC,
        others=(("num_partitions", -1), ("replication_factor", -1)),
    ),
    "CreatePartitions": Listed("topics", "name", "results", "name", _TOPIC),
    "DescribeGroups": Listed("groups", None, "groups", "group_id", _GROUP),
    "ConsumerGroupDescribe": Listed("group_ids", None, "groups", "group_id", _GROUP),
    "ShareGroupDescribe": Listed("group_ids", None, "groups", "group_id", _GROUP),
    "StreamsGroupDescribe": Listed("group_ids", None, "groups", "group_id", _GROUP),
    "DeleteGroups": Listed("groups_names", None, "results", "group_id", _GROUP),
    "DescribeTransactions": Listed(
        "transactional_ids", None, "transaction_states", "transactional_id", "transactional_id"
    ),
    "DescribeConfigs": Listed(
        "resources", "resource_name", "results", "resource_name", _TOPIC, ("resource_type",)
    ),
    "AlterConfigs": Listed(
        "resources", "resource_name", "responses", "resource_name", _TOPIC, ("resource_type",)
    ),
    "IncrementalAlterConfigs": Listed(
        "resources", "resource_name", "responses", "resource_name", _TOPIC, ("resource_type",)
    ),
}
_MEMBER_ERRORS = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID})

Chosen = Callable[[Place], bool]


class Refusal(NamedTuple):
    """A request's refusal by `refuse`. `rest`: what the handler is to be asked; None: nothing is
    left.

    `completing` makes the whole answer of the handler's answer to the rest (None where nothing was
    asked), in slices.
    """

    rest: Request | None
    completing: Callable[[Response | None], Slices[Response]]

    def complete(self, answered: Response | None) -> Response:
        """The whole answer, at once."""
        return whole(self.completing(answered), 0)


def refuse(api: str, message: Request, version: int, error: int, chosen: Chosen) -> Refusal | None:
    """Let the chosen items of a request fail with an error. None: the request holds nothing that is
    chosen.

    `api` is the API's name in Kafka's protocol, such as OffsetCommit. What an answer says of a
    failed item beside the error is what Kafka says there: no offset, no timestamp, a generic text
    where the API has one. OffsetFetch before version 8 answers for its one group.
    AddPartitionsToTxn from version 4 is a request between brokers and answers as a whole. Fetch has
    a module of its own, `fetching.errors`.
    """
    return whole(refuse_in_slices(api, message, version, error, chosen), 0)


def refuse_in_slices(
    api: str, message: Request, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """As `refuse`, for requests that may name very much."""
    at_once = _SPECIAL.get(api)
    if at_once is not None:
        return done(at_once(message, version, error, chosen))
    in_slices = _SPECIAL_IN_SLICES.get(api)
    if in_slices is not None:
        return in_slices(message, version, error, chosen)
    nested, listed = NESTED.get(api), LISTED.get(api)
    if nested is not None and not (
        api == "AddPartitionsToTxn" and version >= _BATCHED_TRANSACTIONS
    ):
        return _refuse_nested(nested, message, error, chosen)
    if listed is not None:
        return refuse_listed(listed, message, error, chosen)
    if not chosen(_whole(message)):
        return done(None)
    return done(_all(_top_level(message, version, error)))


def refused_whole(api: str, message: Request, version: int, error: int) -> Response:
    """The answer to a request that is refused as a whole: an empty one where it has no place for
    the error."""
    return whole(refused_whole_in_slices(api, message, version, error), 0)


def refused_whole_in_slices(
    api: str, message: Request, version: int, error: int
) -> Slices[Response]:
    """As `refused_whole`, for requests that may name very much."""
    kind: Any = response_type(message.api_key)
    if isinstance(message, MetadataRequest):
        return MetadataResponse()
    try:
        refusal = yield from refuse_in_slices(api, message, version, error, lambda _: True)
    except ValueError:
        return kind()  # type: ignore[no-any-return]
    return kind() if refusal is None else (yield from refusal.completing(None))


_BATCHED_TRANSACTIONS = 4
_LEAVES_MANY = 3
_FETCHES_GROUPS = 8
_FINDS_MANY = 4
_DELETES_BY_ID = 6
_TOP_LEVEL_FETCH_ERROR = 2


def _whole(message: Request) -> Place:
    return Place(
        group=getattr(message, "group_id", None),
        transactional_id=getattr(message, "transactional_id", None),
    )


def _all(response: Response) -> Refusal:
    return Refusal(None, lambda answered: done(response))


def _top_level(message: Request, version: int, error: int) -> Response:
    """A response whose one error is this. Raises ValueError for an API whose answer has no error at
    its top."""
    kind = response_type(message.api_key)
    fields = {field.name for field in kind.fields if field.carried(version)}
    if "error_code" not in fields:
        raise ValueError(
            f"the answer of {kind.__name__.removesuffix('Response')} has no place for an error"
        )
    values: dict[str, Any] = {"error_code": error}
    if "error_message" in fields:
        values["error_message"] = message_of(error)
    return kind(**values)


def message_of(error: int) -> str:
    """Kafka's own text for an error."""
    return ErrorCode(error).message


# -- topics and partitions


def _elem(kind: Any, name: str) -> Any:
    """The struct class of a list's elements."""
    return next(field.elem for field in kind.fields if field.name == name)


def _same_topic(entry: Any, kind: Any) -> dict[str, Any]:
    """The fields by which a topic is named in a request, under the names of the response."""
    names = {field.name for field in kind.fields}
    given = {
        field.name: getattr(entry, field.name)
        for field in type(entry).fields
        if field.name in ("name", "topic", "topic_id")
    }
    return {name: value for name, value in given.items() if name in names}


def topic_place(entry: Any, partition: int | None = None) -> Place:
    """The subject of an entry of a request's list of topics."""
    name = getattr(entry, "name", None) or getattr(entry, "topic", None) or None
    topic_id = getattr(entry, "topic_id", b"")
    return Place(
        topic=name, topic_id=topic_id if topic_id and any(topic_id) else None, partition=partition
    )


def _refuse_nested(
    shape: Nested, message: Request, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    kind = response_type(message.api_key)
    topic_kind = _elem(kind, shape.response_topics)
    row_kind = _elem(topic_kind, shape.response_partitions)
    group, transaction = _whole(message).group, _whole(message).transactional_id
    asked = getattr(message, shape.topics) or []
    refused: list[list[bool]] = []
    rest: list[Any] = []

    def marked(topic: Any, row: Any) -> bool:
        place = topic_place(topic, row if shape.number is None else getattr(row, shape.number))
        return chosen(place._replace(group=group, transactional_id=transaction))

    seen = 0
    for topic in asked:
        rows = getattr(topic, shape.partitions)
        if len(rows) > ITEMS_A_STEP:
            marks = yield from each(rows, partial(marked, topic))
        else:
            marks = [marked(topic, row) for row in rows]
        seen += 1 + len(marks)
        if seen >= ITEMS_A_STEP:
            seen = 0
            yield
        refused.append(marks)
        kept = [row for row, mark in zip(rows, marks, strict=True) if not mark]
        if kept:
            rest.append(copied(topic, **{shape.partitions: kept}))
    if not any(map(any, refused)):
        return None

    def failed_row(row: Any) -> Any:
        index = row if shape.number is None else getattr(row, shape.number)
        made = row_kind(**{shape.response_number: index, shape.error: error, **dict(shape.others)})
        if hasattr(made, "error_message"):
            made.error_message = message_of(error)
        return made

    def completing(answered: Response | None) -> Slices[Response]:
        response = kind() if answered is None else answered
        served = iter(getattr(response, shape.response_topics))
        topics = []
        seen = 0
        for topic, marks in zip(asked, refused, strict=True):
            theirs: Any = None if all(marks) and marks else next(served, None)
            rows = iter(() if theirs is None else getattr(theirs, shape.response_partitions))
            merged = []
            for row, mark in zip(getattr(topic, shape.partitions), marks, strict=True):
                merged.append(failed_row(row) if mark else next(rows))
                if not len(merged) % ITEMS_A_STEP:
                    yield
            entry = topic_kind(**_same_topic(topic, topic_kind)) if theirs is None else theirs
            topics.append(copied(entry, **{shape.response_partitions: merged}))
            seen += 1 + len(merged)
            if seen >= ITEMS_A_STEP:
                seen = 0
                yield
        setattr(response, shape.response_topics, topics)
        return response

    return Refusal(copied(message, **{shape.topics: rest}) if rest else None, completing)


def copied(value: T, /, **changes: Any) -> T:
    """A copy of a struct, not of what it holds, with other values in some fields."""
    kind: Any = type(value)
    made: T = kind(**{field.name: getattr(value, field.name) for field in kind.fields} | changes)
    return made


# -- one list


def refuse_listed(
    shape: Listed, message: Request, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """`refuse` for an API that answers for each entry of one list."""
    kind = response_type(message.api_key)
    entry_kind = _elem(kind, shape.response_entries)
    asked = getattr(message, shape.entries) or []
    keys = [entry if shape.key is None else getattr(entry, shape.key) for entry in asked]
    marks = yield from each(keys, lambda key: chosen(Place(**{shape.about: key})))
    if not any(marks):
        return None
    rest = [entry for entry, mark in zip(asked, marks, strict=True) if not mark]

    def failed(entry: Any, key: str) -> Any:
        same = {name: getattr(entry, name) for name in shape.same}
        made = entry_kind(
            **{shape.response_key: key, "error_code": error, **same, **dict(shape.others)}
        )
        if hasattr(made, "error_message"):
            made.error_message = message_of(error)
        return made

    def completing(answered: Response | None) -> Slices[Response]:
        response = kind() if answered is None else answered
        served: Iterator[Any] = iter(getattr(response, shape.response_entries))
        merged = []
        for entry, key, mark in zip(asked, keys, marks, strict=True):
            merged.append(failed(entry, key) if mark else next(served))
            if not len(merged) % ITEMS_A_STEP:
                yield
        setattr(response, shape.response_entries, merged)
        return response

    return Refusal(copied(message, **{shape.entries: rest}) if rest else None, completing)


# -- APIs with a shape of their own


def _refuse_join(
    message: JoinGroupRequest, version: int, error: int, chosen: Chosen
) -> Refusal | None:
    if not chosen(_whole(message)):
        return None
    response = _top_level(message, version, error)
    return _all(
        copied(
            response,
            generation_id=-1,
            member_id=message.member_id,
            protocol_name=None if version >= 7 else "",
        )
    )


def _refuse_leave(
    message: LeaveGroupRequest, version: int, error: int, chosen: Chosen
) -> Refusal | None:
    """Errors of a member stand beside that member from version 3 on, others at the top (LV-2)."""
    if not chosen(_whole(message)):
        return None
    response: Any = _top_level(message, version, error)
    if version >= _LEAVES_MANY and error in _MEMBER_ERRORS:
        row = _elem(type(response), "members")
        rows = [
            row(member_id=m.member_id, group_instance_id=m.group_instance_id, error_code=error)
            for m in message.members
        ]
        response = copied(response, error_code=0, members=rows)
    return _all(response)


def _refuse_offset_fetch(
    message: OffsetFetchRequest, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """One error a group; before version 8 at the top, in version 1 on each partition (OF-6)."""
    kind: Any = response_type(message.api_key)
    if version >= _FETCHES_GROUPS:
        listed = Listed("groups", "group_id", "groups", "group_id", _GROUP)
        return (yield from refuse_listed(listed, message, error, chosen))
    if not chosen(_whole(message)):
        return None
    if version >= _TOP_LEVEL_FETCH_ERROR:
        return _all(kind(error_code=error))
    topic_kind = _elem(kind, "topics")
    row_kind = _elem(topic_kind, "partitions")

    def rows(indexes: list[int]) -> list[Any]:
        return [
            row_kind(partition_index=index, error_code=error, committed_offset=-1)
            for index in indexes
        ]

    topics = yield from each(
        message.topics or (),
        lambda topic: topic_kind(name=topic.name, partitions=rows(topic.partition_indexes)),
    )
    return _all(kind(topics=topics))


def _refuse_markers(
    message: WriteTxnMarkersRequest, version: int, error: int, chosen: Chosen
) -> Refusal | None:
    """One error a partition of a producer's marker."""
    rest: list[WritableTxnMarker] = []
    refused: list[WritableTxnMarkerResult] = []
    for marker in message.markers:
        kept, failed = [], []
        for topic in marker.topics:
            marks = {
                index: chosen(Place(topic.name, partition=index))
                for index in topic.partition_indexes
            }
            left = [index for index, mark in marks.items() if not mark]
            rows = [
                WritableTxnMarkerPartitionResult(partition_index=index, error_code=error)
                for index, mark in marks.items()
                if mark
            ]
            kept += [copied(topic, partition_indexes=left)] if left else []
            failed += (
                [WritableTxnMarkerTopicResult(name=topic.name, partitions=rows)] if rows else []
            )
        rest += [copied(marker, topics=kept)] if kept else []
        if failed:
            refused.append(WritableTxnMarkerResult(producer_id=marker.producer_id, topics=failed))
    if not refused:
        return None

    def completing(answered: Response | None) -> Slices[Response]:
        served = answered.markers if isinstance(answered, WriteTxnMarkersResponse) else []
        return done(WriteTxnMarkersResponse(markers=[*served, *refused]))

    return Refusal(copied(message, markers=rest) if rest else None, completing)


def _refuse_find(
    message: FindCoordinatorRequest, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """One answer a key from version 4 on; a coordinator that is not found has node -1, no host and
    port -1 (FC-2)."""
    kind: Any = response_type(message.api_key)
    about = _GROUP if message.key_type == 0 else "transactional_id"
    nowhere = {"node_id": -1, "host": "", "port": -1}
    if version >= _FINDS_MANY:
        listed = Listed(
            "coordinator_keys", None, "coordinators", "key", about, others=tuple(nowhere.items())
        )
        return (yield from refuse_listed(listed, message, error, chosen))
    key: dict[str, Any] = {about: message.key}
    if not chosen(Place(**key)):
        return None
    return _all(kind(error_code=error, error_message=message_of(error), **nowhere))


def _refuse_metadata(
    message: MetadataRequest, version: int, error: int, chosen: Chosen
) -> Refusal | None:
    """The handler answers, and what is said of the chosen topics becomes their error: brokers are
    always told."""

    def completing(answered: Response | None) -> Slices[Response]:
        assert isinstance(answered, MetadataResponse)
        answered.topics = [
            copied(topic, error_code=error, partitions=[]) if chosen(topic_place(topic)) else topic
            for topic in answered.topics
        ]
        return done(answered)

    named = message.topics
    if named is not None and not any(chosen(topic_place(topic)) for topic in named):
        return None
    return Refusal(message, completing)


def _refuse_delete_topics(
    message: DeleteTopicsRequest, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """From version 6 on topics are named by name or id, before that by name."""
    listed = (
        Listed("topics", "name", "responses", "name", _TOPIC, ("topic_id",))
        if version >= _DELETES_BY_ID
        else Listed("topic_names", None, "responses", "name", _TOPIC)
    )
    return refuse_listed(listed, message, error, chosen)


_ACKNOWLEDGED = Nested("topics", "partitions", "partition_index", "responses", "partitions")
_OF_ACKNOWLEDGED = frozenset(
    {
        ErrorCode.INVALID_RECORD_STATE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
    }
)
"""Errors that stand at a partition of a ShareAcknowledge's answer; others stand at its top."""


def _refuse_acknowledge(
    message: ShareAcknowledgeRequest, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """The session goes on, though nothing is acknowledged (SH-SES-1)."""
    if error not in _OF_ACKNOWLEDGED:
        return _all(_top_level(message, version, error)) if chosen(_whole(message)) else None
    refusal = yield from _refuse_nested(_ACKNOWLEDGED, message, error, chosen)
    if refusal is None:
        return None

    def completing(answered: Response | None) -> Slices[Response]:
        failed = getattr(answered, "error_code", ErrorCode.NONE)
        if answered is not None and failed:
            return done(answered)
        return refusal.completing(answered)

    return Refusal(refusal.rest or copied(message, topics=[]), completing)


_SPECIAL: dict[str, Callable[[Any, int, int, Chosen], Refusal | None]] = {
    "JoinGroup": _refuse_join,
    "LeaveGroup": _refuse_leave,
    "Metadata": _refuse_metadata,
    "WriteTxnMarkers": _refuse_markers,
}
_SPECIAL_IN_SLICES: dict[str, Callable[[Any, int, int, Chosen], Slices[Refusal | None]]] = {
    "OffsetFetch": _refuse_offset_fetch,
    "FindCoordinator": _refuse_find,
    "DeleteTopics": _refuse_delete_topics,
    "ShareAcknowledge": _refuse_acknowledge,
}
