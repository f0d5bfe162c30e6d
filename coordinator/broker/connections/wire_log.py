"""The wire stream of the event log: which request came, and how it was answered.

Written down are requests that can change something or speak for a member of a group: `RequestSeen`
when it came, then one `RequestAnswered` or `RequestRefused` when its answer leaves (late, if it was
parked), caused by the first. Of all other requests, heartbeats among them, only refusals are
written, as `RequestRefused` without `RequestSeen`: those that succeed come by the thousand and
cause no event. A refusal is an answer that holds an error code, be it for a part of the request.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ...errors import ErrorCode
from ...wire.schema import Field, Request

if TYPE_CHECKING:
    from ...event_log import EventLog
    from ...wire.schema import Message
    from ..call import Call
    from ..core import Broker

SEEN = frozenset(
    {
        "add_offsets_to_txn",
        "add_partitions_to_txn",
        "alter_configs",
        "create_partitions",
        "create_topics",
        "delete_groups",
        "delete_records",
        "delete_topics",
        "end_txn",
        "incremental_alter_configs",
        "join_group",
        "leave_group",
        "offset_commit",
        "offset_delete",
        "offset_fetch",
        "sync_group",
        "txn_offset_commit",
        "write_txn_markers",
    }
)
_READS_MUCH = frozenset(
    {
        "describe_configs",
        "describe_topic_partitions",
        "fetch",
        "list_offsets",
        "metadata",
        "produce",
    }
)
"""Answers with long lists, whose items' errors are not looked for."""
_VALUES_A_STEP = 128
_MOST_OFFERED = 16
"""So many protocols of a refused JoinGroup are named."""
Errors: TypeAlias = "list[ErrorCode | int]"
"""The error codes that an answer holds, each once, from the top down."""
_PLACES: Final = (
    ("group_id", "group"),
    ("generation_id", "generation"),
    ("generation_id_or_member_epoch", "generation"),
    ("member_id", "member"),
)
"""The fields of messages that name a place, in the order of the log."""


def seen(
    broker: Broker, peer: str, name: str, version: int, client_id: str, message: Message, now: int
) -> int | None:
    """A request came. Its number in the log: the cause of all it does; None if it is not one to
    write down."""
    log = broker.log
    if log is None:
        return None
    if name not in SEEN and not (name in _SEEN_IF and _SEEN_IF[name](broker, message)):
        return None
    if not log.wire:
        log.seq += 1
        return log.seq
    if not log.writable:
        log.leave_out(now)
        return None
    text = log.text
    extra = ""
    for field in _FIELDS[type(message)].own:
        if (value := getattr(message, field)) is not None:
            extra += f',"{field}":{text(value)}'
    return log.add(
        "wire",
        "RequestSeen",
        now,
        None,
        f'{_text_of(log, message)},"api":"{name}","version":{version},"client":{text(client_id)},"peer":{text(peer)}{extra}',
    )


def answered(
    log: EventLog,
    peer: str,
    name: str,
    call: Call,
    answer: object,
    now: int,
    errors: Errors | None = None,
) -> None:
    """The answer of a request is about to leave, at `now`. One that is encoded already has nothing
    to tell.

    `errors`: those that it holds, if they have been looked for already (`errors_in_slices`).
    """
    if (
        call.cause is None
        and not getattr(answer, "error_code", 0)
        and (name in _READS_MUCH or name == "heartbeat")
    ):
        return
    if not log.wire:
        log.seq += call.cause is not None
        return
    if errors is None:
        errors = _errors_of(answer, 0 if name in _READS_MUCH else 3)
    if call.cause is None and not errors:
        return
    if not log.writable:
        log.leave_out(now)
        return
    rest = f'{_text_of(log, call.message, answer)},"api":"{name}"'
    if call.cause is None:
        rest += (
            f',"version":{call.version},"client":{log.text(call.client_id)},"peer":{log.text(peer)}'
        )
    else:
        rest += f',"waited_ms":{now - call.now}'
    if errors:
        rest += f',"errors":{log.value_text([_NAMES.get(error) or str(error) for error in errors])}'
        if name == "join_group" and ErrorCode.INCONSISTENT_GROUP_PROTOCOL in errors:
            rest += _offer(log, call.message)
    log.add("wire", "RequestRefused" if errors else "RequestAnswered", now, call.cause, rest)


def _offer(log: EventLog, message: Any) -> str:
    """The protocol type and the names of the protocols that a JoinGroup offers, as fields."""
    names = [protocol.name for protocol in message.protocols[:_MOST_OFFERED]]
    kind = log.value_text(message.protocol_type)
    return f',"protocol_type":{kind},"offered":{log.value_text(names)}'


def closed(log: EventLog, peer: str, why: str, now: int) -> None:
    """A connection is closed because of what came through it."""
    if not log.writable:
        log.leave_out(now)
        return
    log.append("wire", "ConnectionRefused", at_ms=now, peer=peer, why=why)


def _places(message: object) -> dict[str, Any]:
    """Group, generation and member, as far as a request or an answer names them."""
    places: dict[str, Any] = {}
    fields = _FIELDS[type(message)]
    for field, place in fields.places:
        value = getattr(message, field)
        if value >= 0 if place == "generation" else value:
            places[place] = value
    for field in fields.inner:  # of one group, of one that leaves
        items = getattr(message, field)
        if isinstance(items, list) and len(items) == 1 and not isinstance(items[0], str):
            places |= _places(items[0])
    return places


def _text_of(log: EventLog, message: object, answer: object = None) -> str:
    """The places that a request or its answer names, as a line of the log has them; what the answer
    names counts."""
    of, of_answer = _FIELDS[type(message)], _FIELDS[type(answer)]
    text, written = log.text, ""
    if of.inner or of_answer.places:
        value_text, places = log.value_text, _places(message) | _places(answer)
        for place in ("group", "generation", "member"):
            if place in places:
                written += f',"{place}":{value_text(places[place])}'
        return written
    for field, place in of.places:
        value = getattr(message, field)
        if place == "generation":
            if value >= 0:
                written += f',"generation":{value}'
        elif value:
            written += f',"{place}":{text(value)}'
    return written


def errors_in_slices(name: str, answer: object) -> Generator[None, int, Errors]:
    """The error codes in a large answer, each once; stops after every few hundred values."""
    found: dict[ErrorCode | int, None] = {}
    values = _errors(answer, 0 if name in _READS_MUCH else 3)
    while piece := list(islice(values, _VALUES_A_STEP)):
        found |= dict.fromkeys(piece)
        yield
    return [error for error in found if error]


def _errors_of(answer: object, depth: int) -> Errors:
    """The error codes in an answer, each once."""
    fields = _FIELDS[type(answer)]
    if depth and fields.lists:
        if not _has_errors(answer, depth):
            return []
        return [each for each in dict.fromkeys(_errors(answer, depth)) if each]
    for code_of in fields.codes:
        if code := code_of(answer):
            return [_CODES.get(code, code)]
    return []


def _has_errors(value: object, depth: int) -> bool:
    """Is there an error code in an answer? Most have none, and this is the quicker way to see
    it."""
    fields = _FIELDS[type(value)]
    for code_of in fields.codes:
        if code_of(value):
            return True
    if depth:
        for name in fields.lists:
            items = getattr(value, name)
            if not items:
                continue
            inner = _FIELDS[type(items[0])]
            if inner.lists and depth > 1:
                for item in items:
                    if _has_errors(item, depth - 1):
                        return True
            else:
                for code_of in inner.codes:
                    if any(map(code_of, items)):
                        return True
    return False


def _errors(value: object, depth: int) -> Iterator[ErrorCode | int]:
    """The error code of every value in an answer, from the top down; NONE where there is no
    error."""
    fields = _FIELDS[type(value)]
    code = 0
    for code_of in fields.codes:
        code = code or code_of(value)
    yield _CODES.get(code, code)
    if depth:
        for name in fields.lists:
            for item in getattr(value, name) or ():
                yield from _errors(item, depth - 1)


_CODES: Final[dict[int, ErrorCode]] = {int(code): code for code in ErrorCode}
_NAMES: Final[dict[int, str]] = {int(code): code.name for code in ErrorCode}


class _Fields(NamedTuple):
    """Which fields a type of messages, or of what stands in them, has of those that are looked
    for."""

    lists: tuple[str, ...]
    """Lists of what may have such fields itself."""
    places: tuple[tuple[str, str], ...]
    inner: tuple[str, ...]
    codes: tuple[attrgetter[int], ...]
    """Getters of its error codes."""
    own: tuple[str, ...]


class _FieldsByType(dict[type, _Fields]):
    """Worked out when a type is met first."""

    def __missing__(self, kind: type) -> _Fields:
        fields = self[kind] = _Fields(
            lists=tuple(
                field.name
                for field in getattr(kind, "fields", ())
                if field.kind == "array" and not isinstance(field.elem, Field)
            ),
            places=tuple(row for row in _PLACES if hasattr(kind, row[0])),
            inner=tuple(
                name
                for name in ("groups", "members")
                if issubclass(kind, Request) and hasattr(kind, name)
            ),
            codes=tuple(
                attrgetter(name)
                for name in ("error_code", "partition_error_code")
                if hasattr(kind, name)
            ),
            own=tuple(
                name
                for name in ("group_instance_id", "reason", "transactional_id")
                if hasattr(kind, name)
            ),
        )
        return fields


_FIELDS: Final = _FieldsByType()


def _asks_for_missing_topics(broker: Broker, message: Any) -> bool:
    """Could this Metadata request make topics?"""
    return any(
        topic.name is not None and topic.name not in broker.cluster.topics
        for topic in message.topics or ()
    )


def _is_transactional(broker: Broker, message: Any) -> bool:
    """Does this InitProducerId speak for a transactional id?"""
    return message.transactional_id is not None


_SEEN_IF = {"init_producer_id": _is_transactional, "metadata": _asks_for_missing_topics}
