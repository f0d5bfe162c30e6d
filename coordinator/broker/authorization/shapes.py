"""Answers to requests that are refused as a whole, for APIs without an error at their top: Kafka's
getErrorResponse of each (REF-13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...wire.messages import response_type
from ...wire.schema import Request, Response
from ..error_responses import message_of, refused_whole

_LOG_DIRS_WITH_ERROR = 3

FIRST, LAST = True, False
_PLACES: Final = {
    "CreatePartitions": ("results", FIRST),
    "ConsumerGroupDescribe": ("groups", FIRST),
    "DeleteGroups": ("results", LAST),
    "DescribeGroups": ("groups", FIRST),
    "OffsetCommit": ("topics", FIRST),
    "OffsetDelete": ("topics", FIRST),
}
"""Where refused entries stand among the others; elsewhere all are in the request's order."""
_WITHOUT_TEXT: Final = frozenset(
    {"ConsumerGroupDescribe", "CreatePartitions", "DeleteGroups", "DescribeGroups"}
)
"""The text of a refused entry is null."""


def arranged(api: str, answer: Any, error: int) -> Any:
    """An answer whose refused entries are where Kafka puts them, with Kafka's text."""
    place = _PLACES.get(api)
    if place is None:
        return answer
    name, first = place
    refused: list[Any] = []
    others: list[Any] = []
    for row in getattr(answer, name):
        partitions = getattr(row, "partitions", ())
        codes = {each.error_code for each in partitions} or {getattr(row, "error_code", 0)}
        (refused if codes == {error} else others).append(row)
    if api in _WITHOUT_TEXT:
        for row in refused:
            if hasattr(row, "error_message"):
                row.error_message = None
    setattr(answer, name, [*refused, *others] if first else [*others, *refused])
    return answer


def whole_refusal(api: str, message: Request, version: int, error: int) -> Response:
    """The answer to a request of which nothing may be done."""
    shape = _SHAPES.get(api)
    if shape is None:
        return refused_whole(api, message, version, error)
    return shape(message, version, error)


def _kinds(message: Request, *lists: str) -> list[Any]:
    """The response's class, and those of its lists' elements, one within the other."""
    kinds: list[Any] = [response_type(message.api_key)]
    for name in lists:
        kinds.append(next(field.elem for field in kinds[-1].fields if field.name == name))
    return kinds


def _each(entries: str, response_entries: str, same: tuple[tuple[str, str], ...] = ()) -> Any:
    """The error for each entry of a request; `same`: names of fields that the answer repeats."""

    def shape(message: Any, version: int, error: int) -> Response:
        response, row = _kinds(message, response_entries)
        rows = [
            row(
                error_code=error,
                error_message=message_of(error),
                **{own: getattr(entry, theirs) for own, theirs in same},
            )
            for entry in getattr(message, entries)
        ]
        made: Response = response(**{response_entries: rows})
        return made

    return shape


def _quotas_described(message: Any, version: int, error: int) -> Response:
    (response,) = _kinds(message)
    made: Response = response(error_code=error, error_message=None, entries=None)
    return made


def _scram_described(message: Any, version: int, error: int) -> Response:
    response, row = _kinds(message, "results")
    made: Response = response(
        error_code=error,
        error_message=None,
        results=[row(error_code=error, error_message=None)],
    )
    return made


def _scram_altered(message: Any, version: int, error: int) -> Response:
    response, row = _kinds(message, "results")
    names = dict.fromkeys(each.name for each in (*message.deletions, *message.upsertions))
    text = message_of(error)
    made: Response = response(
        results=[row(user=name, error_code=error, error_message=text) for name in names]
    )
    return made


def _log_dirs_described(message: Any, version: int, error: int) -> Response:
    (response,) = _kinds(message)
    made: Response = response(error_code=error if version >= _LOG_DIRS_WITH_ERROR else 0)
    return made


def _log_dirs_altered(message: Any, version: int, error: int) -> Response:
    response, topic, row = _kinds(message, "results", "partitions")
    made: Response = response(
        results=[
            topic(
                topic_name=each.name,
                partitions=[
                    row(partition_index=index, error_code=error) for index in each.partitions
                ],
            )
            for folder in message.dirs
            for each in folder.topics
        ]
    )
    return made


def _reassigned(message: Any, version: int, error: int) -> Response:
    response, topic, row = _kinds(message, "responses", "partitions")
    text = message_of(error)
    made: Response = response(
        error_code=error,
        error_message=text,
        responses=[
            topic(
                name=each.name,
                partitions=[
                    row(
                        partition_index=partition.partition_index,
                        error_code=error,
                        error_message=text,
                    )
                    for partition in each.partitions
                ],
            )
            for each in message.topics
        ],
    )
    return made


def _leaders_elected(message: Any, version: int, error: int) -> Response:
    response, topic, row = _kinds(message, "replica_election_results", "partition_result")
    made: Response = response(
        error_code=error,
        replica_election_results=[
            topic(
                topic=each.topic,
                partition_result=[
                    row(partition_id=index, error_code=error, error_message=message_of(error))
                    for index in each.partitions
                ],
            )
            for each in message.topic_partitions or ()
        ],
    )
    return made


def _markers_written(message: Any, version: int, error: int) -> Response:
    response, marker, topic, row = _kinds(message, "markers", "topics", "partitions")
    made: Response = response(
        markers=[
            marker(
                producer_id=one.producer_id,
                topics=[
                    topic(
                        name=each.name,
                        partitions=[
                            row(partition_index=index, error_code=error)
                            for index in each.partition_indexes
                        ],
                    )
                    for each in one.topics
                ],
            )
            for one in message.markers
        ]
    )
    return made


def _at_the_top(message: Any, version: int, error: int) -> Response:
    """Without a text where there could be one."""
    (response,) = _kinds(message)
    made: Response = response(error_code=error)
    if hasattr(made, "error_message"):
        made.error_message = None
    return made


_SHAPES: Final[dict[str, Callable[[Any, int, int], Response]]] = {
    "AlterClientQuotas": _each("entries", "entries", (("entity", "entity"),)),
    "AlterPartitionReassignments": _reassigned,
    "AlterReplicaLogDirs": _log_dirs_altered,
    "AlterUserScramCredentials": _scram_altered,
    "ConsumerGroupHeartbeat": _at_the_top,
    "CreateAcls": _each("creations", "results"),
    "DeleteAcls": _each("filters", "filter_results"),
    "DescribeClientQuotas": _quotas_described,
    "DescribeLogDirs": _log_dirs_described,
    "DescribeUserScramCredentials": _scram_described,
    "ElectLeaders": _leaders_elected,
    "OffsetDelete": _at_the_top,
    "ShareAcknowledge": _at_the_top,
    "ShareFetch": _at_the_top,
    "ShareGroupHeartbeat": _at_the_top,
    "WriteTxnMarkers": _markers_written,
}
