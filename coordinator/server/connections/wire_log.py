"""The wire stream of the event log: requests and their answers.

Logged are requests that can change something or prove that a member is alive: `RequestSeen` on
arrival, then `RequestAnswered` or `RequestRefused` when the answer is sent, caused by the first.
Of all other requests, heartbeats among them, only refusals are logged, as `RequestRefused`
alone: successful ones come by the thousand and cause no event. A refusal is an answer with an
error code, even if for a part of the request only.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from coordinator.base.errors import ErrorCode
from coordinator.events.wire import (
    ConnectionRefused,
    MemberDisconnected,
    MemberReconnected,
    RequestAnswered,
    RequestRefused,
    RequestSeen,
)
from coordinator.wire.schema import Field, Request

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.wire.schema import Message

    from ..broker import Broker
    from ..requests.call import Call

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
_LOOKED_THROUGH = 1024
"""After so many more disconnected members, those that their groups have removed are forgotten."""
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
    """Log the arrival of a request. Return its number in the log, which is the cause of its events;
    None if it is not logged.
    """
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
    own = _FIELDS[type(message)].own
    said = {field: getattr(message, field) for field in own} if own else {}
    group, generation, member = _places_of(message)
    return log.append(
        RequestSeen(name, version, client_id, peer, **said),
        at_ms=now,
        group=group,
        generation=generation,
        member=member,
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
    """Log an answer that is about to be sent. An encoded answer is not inspected. `errors`: the
    error codes in it, if computed before (`errors_in_slices`).
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
    group, generation, member = _places_of(call.message, answer)
    log.append(
        _refusal(peer, name, call, now, errors)
        if errors
        else RequestAnswered(name, now - call.now),
        at_ms=now,
        cause=call.cause,
        group=group,
        generation=generation,
        member=member,
    )


def _refusal(peer: str, name: str, call: Call, now: int, errors: Errors) -> RequestRefused:
    names = tuple([_NAMES.get(error) or str(error) for error in errors])
    protocol_type, offered = None, None
    if name == "join_group" and ErrorCode.INCONSISTENT_GROUP_PROTOCOL in errors:
        asked: Any = call.message
        protocol_type = asked.protocol_type
        offered = tuple([protocol.name for protocol in asked.protocols[:_MOST_OFFERED]])
    if call.cause is None:
        asked_by = (call.version, call.client_id, peer, None)
        return RequestRefused(name, *asked_by, names, protocol_type, offered)
    waited_ms = now - call.now
    return RequestRefused(name, None, None, None, waited_ms, names, protocol_type, offered)


def closed(log: EventLog, peer: str, why: str, now: int) -> None:
    """Log that a connection is closed because of what it received."""
    if not log.writable:
        log.leave_out(now)
        return
    log.append(ConnectionRefused(peer, why), at_ms=now)


def member_disconnected(
    broker: Broker, peer: str, client_id: str, spoke: Message, now: int
) -> None:
    """Log that the connection of a member closed, unless the member has left its group or another
    coordinator serves it now.
    """
    log = broker.log
    if log is None:
        return
    group, _, member = _places_of(spoke)
    known = broker.disconnected_members
    if group is not None and member is not None and _is_member(broker, group, member):
        known.add((group, member))
        if len(known) % _LOOKED_THROUGH == 0:
            known -= {who for who in known if not _is_member(broker, *who)}
        _of_member(log, MemberDisconnected(client_id, peer), group, member, now)


def _is_member(broker: Broker, group: str, member: str) -> bool:
    shard = broker.coordinator.shard_of(group)
    there = None if shard is None else shard.groups.get(group)
    return there is not None and member in there.membership.members


def member_reconnected(
    broker: Broker, peer: str, client_id: str, speaks: Message, now: int
) -> None:
    """Log that a disconnected member sent its first request on another connection."""
    group, _, member = _places_of(speaks)
    who = group or "", member or ""
    if broker.log is not None and who in broker.disconnected_members:
        broker.disconnected_members.discard(who)
        _of_member(broker.log, MemberReconnected(client_id, peer), group, member, now)


def _of_member(
    log: EventLog,
    event: MemberDisconnected | MemberReconnected,
    group: str | None,
    member: str | None,
    now: int,
) -> None:
    if not log.wire:
        log.seq += 1
    elif not log.writable:
        log.leave_out(now)
    else:
        log.append(event, at_ms=now, group=group, member=member)


def _places(message: object) -> dict[str, Any]:
    """Return group, generation and member, as far as a request or an answer contains them."""
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


def _places_of(message: object, answer: object = None) -> tuple[str | None, int | None, str | None]:
    """Return group, generation and member from a request and its answer, None where both lack them;
    the answer's values win.
    """
    of, of_answer = _FIELDS[type(message)], _FIELDS[type(answer)]
    if of.inner or of_answer.places:
        places = _places(message) | _places(answer)
        return places.get("group"), places.get("generation"), places.get("member")
    group = generation = member = None
    for field, place in of.places:
        value = getattr(message, field)
        if place == "generation":
            generation = value if value >= 0 else None
        elif place == "group":
            group = value or None
        else:
            member = value or None
    return group, generation, member


def errors_in_slices(name: str, answer: object) -> Generator[None, int, Errors]:
    """Return the distinct error codes in a large answer, in slices of a few hundred values."""
    found: dict[ErrorCode | int, None] = {}
    values = _errors(answer, 0 if name in _READS_MUCH else 3)
    while piece := list(islice(values, _VALUES_A_STEP)):
        found |= dict.fromkeys(piece)
        yield
    return [error for error in found if error]


def _errors_of(answer: object, depth: int) -> Errors:
    """Return the distinct error codes in an answer."""
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
    """Return True if an answer contains an error code. Most contain none, and this check is the
    fastest.
    """
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
    """Yield the error code of every element of an answer, from the top down; NONE where there is no
    error.
    """
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
    """The relevant fields of a message type or an element type."""

    lists: tuple[str, ...]
    """Names of lists whose elements may have relevant fields."""
    places: tuple[tuple[str, str], ...]
    inner: tuple[str, ...]
    codes: tuple[attrgetter[int], ...]
    """Getters of its error codes."""
    own: tuple[str, ...]


class _FieldsByType(dict[type, _Fields]):
    """Cache of `_Fields`, filled when a type first occurs."""

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
    """Return True if a Metadata request could create topics."""
    return any(
        topic.name is not None and topic.name not in broker.cluster.topics
        for topic in message.topics or ()
    )


def _is_transactional(broker: Broker, message: Any) -> bool:
    """Return True if an InitProducerId contains a transactional id."""
    return message.transactional_id is not None


_SEEN_IF = {"init_producer_id": _is_transactional, "metadata": _asks_for_missing_topics}
