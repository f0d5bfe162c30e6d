"""Answers to requests that are refused as a whole, for APIs without an error at their top: Kafka's
getErrorResponse of each (REF-13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...common.slices import ITEMS_A_STEP, done, each, each_in_slices
from ...wire.messages import response_type
from ...wire.schema import Request, Response
from ..error_responses import message_of, refused_whole_in_slices

if TYPE_CHECKING:
    from ...common.slices import Slices

_LOG_DIRS_WITH_ERROR = 3

FIRST, LAST = True, False
_PLACES: Final = {
    "CreatePartitions": ("results", FIRST),
    "ConsumerGroupDescribe": ("groups", FIRST),
    "DeleteGroups": ("results", LAST),
    "DescribeGroups": ("groups", FIRST),
    "OffsetCommit": ("topics", FIRST),
    "OffsetDelete": ("topics", FIRST),
    "ShareGroupDescribe": ("groups", FIRST),
}
"""Where refused entries stand among the others; elsewhere all are in the request's order."""
_WITHOUT_TEXT: Final = frozenset(
    {
        "ConsumerGroupDescribe",
        "CreatePartitions",
        "DeleteGroups",
        "DescribeGroups",
        "ShareGroupDescribe",
    }
)
"""The text of a refused entry is null."""


def arranged(api: str, answer: Any, error: int) -> Slices[Any]:
    """An answer whose refused entries are where Kafka puts them, with Kafka's text."""
    place = _PLACES.get(api)
    if place is None:
        return answer
    name, first = place
    refused: list[Any] = []
    others: list[Any] = []
    for seen, row in enumerate(getattr(answer, name), 1):
        if not seen % ITEMS_A_STEP:
            yield
        partitions = getattr(row, "partitions", ())
        codes = {partition.error_code for partition in partitions} or {
            getattr(row, "error_code", 0)
        }
        (refused if codes == {error} else others).append(row)
    if api in _WITHOUT_TEXT:
        for row in refused:
            if hasattr(row, "error_message"):
                row.error_message = None
    setattr(answer, name, [*refused, *others] if first else [*others, *refused])
    return answer


def whole_refusal(api: str, message: Request, version: int, error: int) -> Slices[Response]:
    """The answer to a request of which nothing may be done."""
    shape = _SHAPES.get(api)
    if shape is None:
        return refused_whole_in_slices(api, message, version, error)
    return shape(message, version, error)


def _kinds(message: Request, *lists: str) -> list[Any]:
    """The response's class, and those of its lists' elements, one within the other."""
    kinds: list[Any] = [response_type(message.api_key)]
    for name in lists:
        kinds.append(next(field.elem for field in kinds[-1].fields if field.name == name))
    return kinds


def _each(entries: str, response_entries: str, same: tuple[tuple[str, str], ...] = ()) -> Any:
    """The error for each entry of a request; `same`: names of fields that the answer repeats."""

    def shape(message: Any, version: int, error: int) -> Slices[Response]:
        response, row = _kinds(message, response_entries)
        text = message_of(error)
        rows = yield from each(
            getattr(message, entries),
            lambda entry: row(
                error_code=error,
                error_message=text,
                **{own: getattr(entry, theirs) for own, theirs in same},
            ),
        )
        made: Response = response(**{response_entries: rows})
        return made

    return shape


def _quotas_described(message: Any, version: int, error: int) -> Slices[Response]:
    (response,) = _kinds(message)
    made: Response = response(error_code=error, error_message=None, entries=None)
    return done(made)


def _scram_described(message: Any, version: int, error: int) -> Slices[Response]:
    response, row = _kinds(message, "results")
    made: Response = response(
        error_code=error,
        error_message=None,
        results=[row(error_code=error, error_message=None)],
    )
    return done(made)


def _scram_altered(message: Any, version: int, error: int) -> Slices[Response]:
    response, row = _kinds(message, "results")
    names = dict.fromkeys(each.name for each in (*message.deletions, *message.upsertions))
    text = message_of(error)
    rows = yield from each(names, lambda name: row(user=name, error_code=error, error_message=text))
    made: Response = response(results=rows)
    return made


def _log_dirs_described(message: Any, version: int, error: int) -> Slices[Response]:
    (response,) = _kinds(message)
    made: Response = response(error_code=error if version >= _LOG_DIRS_WITH_ERROR else 0)
    return done(made)


def _log_dirs_altered(message: Any, version: int, error: int) -> Slices[Response]:
    response, topic, row = _kinds(message, "results", "partitions")

    def of(asked: Any) -> Slices[Any]:
        rows = yield from each(
            asked.partitions, lambda index: row(partition_index=index, error_code=error)
        )
        return topic(topic_name=asked.name, partitions=rows)

    asked = [of_folder for folder in message.dirs for of_folder in folder.topics]
    made: Response = response(results=(yield from each_in_slices(asked, of)))
    return made


def _reassigned(message: Any, version: int, error: int) -> Slices[Response]:
    response, topic, row = _kinds(message, "responses", "partitions")
    text = message_of(error)

    def of(asked: Any) -> Slices[Any]:
        rows = yield from each(
            asked.partitions,
            lambda partition: row(
                partition_index=partition.partition_index, error_code=error, error_message=text
            ),
        )
        return topic(name=asked.name, partitions=rows)

    topics = yield from each_in_slices(message.topics, of)
    made: Response = response(error_code=error, error_message=text, responses=topics)
    return made


def _leaders_elected(message: Any, version: int, error: int) -> Slices[Response]:
    response, topic, row = _kinds(message, "replica_election_results", "partition_result")
    text = message_of(error)

    def of(asked: Any) -> Slices[Any]:
        rows = yield from each(
            asked.partitions,
            lambda index: row(partition_id=index, error_code=error, error_message=text),
        )
        return topic(topic=asked.topic, partition_result=rows)

    topics = yield from each_in_slices(message.topic_partitions or (), of)
    made: Response = response(error_code=error, replica_election_results=topics)
    return made


def _markers_written(message: Any, version: int, error: int) -> Slices[Response]:
    response, marker, topic, row = _kinds(message, "markers", "topics", "partitions")

    def of_topic(asked: Any) -> Slices[Any]:
        rows = yield from each(
            asked.partition_indexes, lambda index: row(partition_index=index, error_code=error)
        )
        return topic(name=asked.name, partitions=rows)

    def of(asked: Any) -> Slices[Any]:
        topics = yield from each_in_slices(asked.topics, of_topic)
        return marker(producer_id=asked.producer_id, topics=topics)

    made: Response = response(markers=(yield from each_in_slices(message.markers, of)))
    return made


def _at_the_top(message: Any, version: int, error: int) -> Slices[Response]:
    """Without a text where there could be one."""
    (response,) = _kinds(message)
    made: Response = response(error_code=error)
    if hasattr(made, "error_message"):
        made.error_message = None
    return done(made)


_SHAPES: Final[dict[str, Callable[[Any, int, int], Slices[Response]]]] = {
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
