"""Responses that refuse, for every API in Kafka's own form, whether the broker or an injected fault
refuses.

`refused_whole` has one error for everything in a request. `refuse` takes the items to fail out
of a request, so that the handler serves the others, and `Refusal.complete` inserts the refused
items into the response, in the order of the request. Both exist in slices. `error_places` says
where errors stand; responses of a special form are built here. Does not know why something
fails, nor the broker's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, done, each, each_in_slices, whole
from coordinator.wire.messages import API_KEYS
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from coordinator.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from coordinator.wire.messages.metadata import MetadataRequest, MetadataResponse
from coordinator.wire.messages.scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from coordinator.wire.messages.share_acknowledge import ShareAcknowledgeRequest
from coordinator.wire.messages.transactions import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from coordinator.wire.schema import Request, Response

from .error_places import ErrorPlaces, Level, Whole, error_places

if TYPE_CHECKING:
    from coordinator.base.slices import Slices


T = TypeVar("T")


class Place(NamedTuple):
    """Identification of one item of a request, as far as the item has it."""

    topic: str | None = None
    topic_id: bytes | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None


Chosen = Callable[[Place], bool]


_TOPIC_NAMES: Final = ("name", "topic", "topic_name", "resource_name")
_LEAVES_MANY: Final = 3
_NULL_PROTOCOL: Final = 7
_MEMBER_ERRORS: Final = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID})


class Refusal(NamedTuple):
    """Refusal of a part of a request. `rest`: the request for the handler, or None if nothing is
    left. `completing`: builds the whole response, in slices, from the handler's (None if there
    was no rest).
    """

    rest: Request | None
    completing: Callable[[Response | None], Slices[Response]]

    def complete(self, answered: Response | None) -> Response:
        """Return the whole response, at once."""
        return whole(self.completing(answered), 0)


def refuse(message: Request, version: int, error: int, chosen: Chosen) -> Refusal | None:
    """Fail the chosen items of a request with an error; return None if none is chosen.

    Other fields of a failed item have Kafka's values: no offset, no timestamp, a generic text
    where the API has one. Fetch has its own module, `fetching.errors`. Raises ValueError if the
    response has no place for an error.
    """
    return whole(refuse_in_slices(message, version, error, chosen), 0)


def refuse_in_slices(
    message: Request, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """Like `refuse`, in slices, for large requests."""
    match message:
        case MetadataRequest():
            return done(_refuse_metadata(message, error, chosen))
        case WriteTxnMarkersRequest():
            return done(_refuse_markers(message, error, chosen))
        case ShareAcknowledgeRequest() if error in _OF_ACKNOWLEDGED:
            return _refuse_acknowledged(message, version, error, chosen)
    places = error_places(type(message), version)
    if not places.apart or isinstance(message, ShareAcknowledgeRequest):
        return _refuse_all(message, version, error, chosen)
    if places.depth == 1:
        return refuse_entries(message, version, error, chosen)
    return _refuse_nested(places, message, error, chosen)


def _refuse_all(
    message: Request, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """Refuse the whole request of an API whose items cannot fail individually."""
    if not chosen(_whole(message)):
        return None
    if type(message) not in _OWN and (error_places(type(message), version).whole is Whole.NOWHERE):
        raise ValueError(f"the answer of {API_KEYS[message.api_key]} has no place for an error")
    answer = yield from refused_whole_in_slices(message, version, error, message_of(error))
    return Refusal(None, lambda answered: done(answer))


def message_of(error: int) -> str:
    """Return Kafka's own text for an error."""
    return ErrorCode(error).message


# -- this error for everything


def refused_whole(message: Request, version: int, error: int, text: str | None) -> Response:
    """Return the response with an error, and a text if there is a field for it, for everything in a
    request; an empty response if it has no place for an error.
    """
    return whole(refused_whole_in_slices(message, version, error, text), 0)


def refused_whole_in_slices(
    message: Request, version: int, error: int, text: str | None
) -> Slices[Response]:
    """Like `refused_whole`, in slices, for large requests."""
    own = _OWN.get(type(message))
    if own is not None:
        return own(message, version, error, text)
    return _refused_whole(error_places(type(message), version), message, error, text)


def _refused_whole(
    places: ErrorPlaces, message: Request, error: int, text: str | None
) -> Slices[Response]:
    values: dict[str, Any] = {}
    if places.whole in (Whole.TOP, Whole.BOTH):
        beside = {"error_message": text, **places.beside}
        values = {"error_code": error, **_of(places.answer, beside)}
    if places.whole in (Whole.ROWS, Whole.BOTH):
        rows = yield from refused_rows(places, 0, places.levels[0].entries(message), error, text)
        values[places.levels[0].answered] = rows
    answer: Response = places.answer(**values)
    return answer


def refused_rows(
    places: ErrorPlaces, depth: int, entries: Iterable[Any], error: int, text: str | None
) -> Slices[list[Any]]:
    """Return the rows, with an error, of the entries of the list at a depth (0: the outermost)."""
    level = places.levels[depth]
    if depth + 1 in (places.depth, len(places.levels)):
        values = _values(places, level, error, text)
        return (yield from each(entries, lambda entry: level.made(entry, values)))
    inner = places.levels[depth + 1]

    def row(entry: Any) -> Slices[Any]:
        rows = yield from refused_rows(places, depth + 1, inner.entries(entry), error, text)
        return level.made(entry, {inner.answered: rows})

    return (yield from each_in_slices(entries, row))


def _values(places: ErrorPlaces, level: Level, error: int, text: str | None) -> dict[str, Any]:
    """Return the fields of a row with an error, besides those repeated from its entry."""
    beside = _of(level.row, {"error_message": text, **places.beside})
    return {level.error: error, **beside}


def _of(struct: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in struct.fields}
    return {name: value for name, value in values.items() if name in names}


def _refused_join(
    message: JoinGroupRequest, version: int, error: int, _: object
) -> Slices[Response]:
    response: Response = JoinGroupResponse(
        error_code=error,
        member_id=message.member_id,
        protocol_name=None if version >= _NULL_PROTOCOL else "",
    )
    return done(response)


def _refused_leave(
    message: LeaveGroupRequest, version: int, error: int, _: object
) -> Slices[Response]:
    """Refuse a LeaveGroup: member errors stand beside each member from version 3 on, others at the
    top (LV-2).
    """
    if version < _LEAVES_MANY or error not in _MEMBER_ERRORS:
        return LeaveGroupResponse(error_code=error)
    places = error_places(LeaveGroupRequest, version)
    members = yield from refused_rows(places, 0, message.members, error, None)
    return LeaveGroupResponse(members=members)


def _refused_credentials(_: Request, __: int, error: int, text: str | None) -> Slices[Response]:
    """Refuse with one row that names no user."""
    row = DescribeUserScramCredentialsResult(error_code=error, error_message=text)
    response: Response = DescribeUserScramCredentialsResponse(
        error_code=error, error_message=text, results=[row]
    )
    return done(response)


def _refused_alterations(
    message: AlterUserScramCredentialsRequest, _: int, error: int, text: str | None
) -> Slices[Response]:
    """Refuse with a row for each user in either of the request's lists."""
    users: list[Any] = [*message.deletions, *message.upsertions]
    names = dict.fromkeys(user.name for user in users)
    results = yield from each(
        names,
        lambda name: AlterUserScramCredentialsResult(
            user=name, error_code=error, error_message=text
        ),
    )
    return AlterUserScramCredentialsResponse(results=results)


_OWN: Final[dict[type[Request], Callable[[Any, int, int, str | None], Slices[Response]]]] = {
    AlterUserScramCredentialsRequest: _refused_alterations,
    DescribeUserScramCredentialsRequest: _refused_credentials,
    JoinGroupRequest: _refused_join,
    LeaveGroupRequest: _refused_leave,
}
"""Answers that follow from no places."""


# -- topics and partitions


def _kind_of_key(message: FindCoordinatorRequest) -> str:
    return "group" if message.key_type == 0 else "transactional_id"


def _whole(message: Request) -> Place:
    if isinstance(message, FindCoordinatorRequest):
        key: dict[str, Any] = {_kind_of_key(message): message.key}
        return Place(**key)
    return Place(
        group=getattr(message, "group_id", None),
        transactional_id=getattr(message, "transactional_id", None),
    )


def topic_place(entry: Any, partition: int | None = None) -> Place:
    """Return the place of an entry in a request's list of topics."""
    name = next((name for of in _TOPIC_NAMES if (name := getattr(entry, of, None))), None)
    topic_id = getattr(entry, "topic_id", b"")
    return Place(
        topic=name, topic_id=topic_id if topic_id and any(topic_id) else None, partition=partition
    )


def _refuse_nested(
    places: ErrorPlaces, message: Request, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """Refuse partitions of topics."""
    of_topics, of_partitions = places.levels
    number = of_partitions.repeated[0][1]  # None: the partitions are plain numbers
    whole_place = _whole(message)
    asked = list(of_topics.entries(message))
    refused: list[list[bool]] = []
    rest: list[Any] = []

    def marked(topic: Any, row: Any) -> bool:
        place = topic_place(topic, row if number is None else getattr(row, number))
        return chosen(
            place._replace(group=whole_place.group, transactional_id=whole_place.transactional_id)
        )

    seen = 0
    for topic in asked:
        rows = getattr(topic, of_partitions.asked[0])
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
            rest.append(copied(topic, **{of_partitions.asked[0]: kept}))
    if not any(map(any, refused)):
        return None

    failed = partial(
        of_partitions.made, values=_values(places, of_partitions, error, message_of(error))
    )

    def completing(answered: Response | None) -> Slices[Response]:
        response = places.answer() if answered is None else answered
        served = iter(getattr(response, of_topics.answered))
        topics = []
        seen = 0
        for topic, marks in zip(asked, refused, strict=True):
            theirs: Any = None if all(marks) and marks else next(served, None)
            rows = iter(() if theirs is None else getattr(theirs, of_partitions.answered))
            merged: list[Any] = []
            for row, mark in zip(of_partitions.entries(topic), marks, strict=True):
                merged += [failed(row)] if mark else islice(rows, 1)
                if not len(merged) % ITEMS_A_STEP:
                    yield
            merged += rows  # a handler may put a topic together that was named twice
            entry = of_topics.made(topic, {}) if theirs is None else theirs
            if merged or not marks:
                topics.append(copied(entry, **{of_partitions.answered: merged}))
            seen += 1 + len(merged)
            if seen >= ITEMS_A_STEP:
                seen = 0
                yield
        setattr(response, of_topics.answered, topics)
        return response

    return Refusal(copied(message, **{of_topics.asked[0]: rest}) if rest else None, completing)


def copied(value: T, /, **changes: Any) -> T:
    """Return a shallow copy of a struct with some fields replaced."""
    kind: Any = type(value)
    made: T = kind(**{field.name: getattr(value, field.name) for field in kind.fields} | changes)
    return made


# -- one list


def refuse_entries(
    message: Request, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """Refuse entries of a request that has a single list."""
    places = error_places(type(message), version)
    level = places.levels[0]
    about = level.about
    if isinstance(message, FindCoordinatorRequest):
        about = _kind_of_key(message)
    whole_place = _whole(message)
    asked = list(level.entries(message))
    marks = yield from each(asked, lambda entry: chosen(_place(whole_place, about, entry)))
    if not any(marks):
        return None
    rest = [entry for entry, mark in zip(asked, marks, strict=True) if not mark]
    failed = partial(level.made, values=_values(places, level, error, message_of(error)))

    def completing(answered: Response | None) -> Slices[Response]:
        response = places.answer() if answered is None else answered
        served: Iterator[Any] = iter(getattr(response, level.answered))
        merged: list[Any] = []
        for entry, mark in zip(asked, marks, strict=True):
            merged += [failed(entry)] if mark else islice(served, 1)
            if not len(merged) % ITEMS_A_STEP:
                yield
        merged += served
        setattr(response, level.answered, merged)
        return response

    return Refusal(copied(message, **{level.asked[0]: rest}) if rest else None, completing)


def _place(whole_place: Place, about: str, entry: Any) -> Place:
    if not about:
        return whole_place
    if isinstance(entry, str):
        name: dict[str, Any] = {about: entry}
        return whole_place._replace(**name)
    if about == "group":
        return whole_place._replace(group=entry.group_id)
    topic = topic_place(entry)
    return whole_place._replace(topic=topic.topic, topic_id=topic.topic_id)


# -- APIs with a shape of their own


def _refuse_markers(message: WriteTxnMarkersRequest, error: int, chosen: Chosen) -> Refusal | None:
    """Refuse partitions of producers' transaction markers."""
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


def _refuse_metadata(message: MetadataRequest, error: int, chosen: Chosen) -> Refusal | None:
    """Refuse topics of a Metadata: the handler answers, and the chosen topics get the error;
    brokers are always returned.
    """

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


def _refuse_acknowledged(
    message: ShareAcknowledgeRequest, version: int, error: int, chosen: Chosen
) -> Slices[Refusal | None]:
    """Refuse partitions of a ShareAcknowledge. The share session goes on, though nothing is
    acknowledged (SH-SES-1).
    """
    places = error_places(type(message), version)
    refusal = yield from _refuse_nested(places, message, error, chosen)
    if refusal is None:
        return None

    def completing(answered: Response | None) -> Slices[Response]:
        failed = getattr(answered, "error_code", ErrorCode.NONE)
        if answered is not None and failed:
            return done(answered)
        return refusal.completing(answered)

    return Refusal(refusal.rest or copied(message, topics=[]), completing)
