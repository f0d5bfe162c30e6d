"""The values of a log's fields, by name: whole numbers, texts, arrays. A reader may rely on it
after `checked`.

Owns the table for fields that a reader looks at; a field that is not in it is kept as it is, so
that a later version's fields pass. Does not depend on the events themselves; a test compares the
table with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ..common.printable import printable

MOST_SHOWN: Final = 60


class Complaint(ValueError):
    """A field that does not hold what it should: which, and what would be right."""


def shortened(value: object) -> str:
    """A piece of a stranger's text or value that is fit for a message."""
    if isinstance(value, str):
        text = value.strip()
        return repr(printable(text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."))
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return (
        f"an array of {len(value)}"
        if isinstance(value, list)
        else "an object"
        if isinstance(value, Mapping)
        else type(value).__name__
    )


Check = Callable[[Any], bool]


def _integer(value: Any) -> bool:
    return type(value) is int


def _text(value: Any) -> bool:
    return type(value) is str


def _flag(value: Any) -> bool:
    return type(value) is bool


def _hex(value: Any) -> bool:
    if type(value) is not str:
        return False
    try:
        bytes.fromhex(value)
    except ValueError:
        return False
    return True


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _array(check: Check) -> Check:
    return lambda value: type(value) is list and all(map(check, value))


def _object(fields: Mapping[str, Check]) -> Check:
    return lambda value: (
        type(value) is dict
        and all(key in value and check(value[key]) for key, check in fields.items())
    )


def _pair(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) == 2
        and all(map(_integer, value))
        and value[0] <= value[1]
    )


def _source(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) == 3
        and _text(value[0])
        and _integer(value[1])
        and _integer(value[2])
    )


_PLACE = _object({"topic": _text, "partition": _integer})
_STORED_MEMBER = _object(
    {
        "member_id": _text,
        "group_instance_id": _or_null(_text),
        "client_id": _text,
        "client_host": _text,
        "session_timeout_ms": _integer,
        "rebalance_timeout_ms": _integer,
        "subscription": _hex,
        "assignment": _hex,
    }
)

_TOPIC = _object({"topic": _text, "topic_id": _hex, "partitions": _array(_integer)})
_HELD = _object(
    {"topic": _text, "topic_id": _hex, "partitions": _array(_integer), "epochs": _array(_integer)}
)
_SUBSCRIPTION = _object(
    {"member_id": _text, "group_instance_id": _or_null(_text), "topics": _array(_text)}
)

_SPAN = {"first_offset": _integer, "last_offset": _integer}
_RECORDS = _object({**_SPAN, "state": _text, "delivery_count": _integer})
_STATE_BATCHES = _object({**_SPAN, "delivery_state": _integer, "delivery_count": _integer})

_Row = tuple[Check, str]
_INTEGER: Final[_Row] = (_integer, "an integer")
_TEXT: Final[_Row] = (_text, "a string")
_MAYBE_TEXT: Final[_Row] = (_or_null(_text), "a string or null")
_FLAG: Final[_Row] = (_flag, "true or false")
_NAMES: Final[_Row] = (_array(_text), "an array of strings")

_TOPICS: Final[_Row] = (_array(_TOPIC), "an array of topics and partitions")
_RANGES: Final[_Row] = (
    lambda value: bool(value) and _array(_pair)(value),
    "an array of pairs of first and last offset, not empty",
)
_APPENDED: Final[Mapping[str, _Row]] = {
    "offset": _INTEGER,
    "last_offset": _INTEGER,
    "producer_epoch": _INTEGER,
    "sequence": _INTEGER,
    "transactional": _FLAG,
}

_RECORD_RANGES: Final[_Row] = (_array(_RECORDS), "an array of ranges of records")
_STATES: Final[_Row] = (_array(_STATE_BATCHES), "an array of states of records")

FIELDS: Final[Mapping[str, _Row]] = {
    "group": _TEXT,
    "generation": _INTEGER,
    "member": _TEXT,
    "broker": _INTEGER,
    "topic": _TEXT,
    "partition": _INTEGER,
    "durable": _FLAG,
    "epoch_ms": _INTEGER,
    "product": _TEXT,
    "kafka_version": _TEXT,
    "api": _TEXT,
    "version": _INTEGER,
    "client": _TEXT,
    "peer": _TEXT,
    "errors": _NAMES,
    "waited_ms": _INTEGER,
    "offered": _NAMES,
    "why": _TEXT,
    "by": _TEXT,
    "reason": _TEXT,
    "detail": _MAYBE_TEXT,
    "leader": _MAYBE_TEXT,
    "client_id": _TEXT,
    "client_host": _TEXT,
    "group_instance_id": _MAYBE_TEXT,
    "protocol_type": _MAYBE_TEXT,
    "protocol_name": _MAYBE_TEXT,
    "replaced": _TEXT,
    "state": _TEXT,
    "session_timeout_ms": _INTEGER,
    "rebalance_timeout_ms": _INTEGER,
    "changed": _FLAG,
    "parked": _FLAG,
    "extends_delay": _FLAG,
    "deadline_ms": _INTEGER,
    "delay_ms": (_or_null(_integer), "an integer or null"),
    "delay_remaining_ms": _INTEGER,
    "error": _INTEGER,
    "transactional_id": _MAYBE_TEXT,
    "producer_id": _INTEGER,
    "committed": _FLAG,
    "protocols": (
        _array(_object({"name": _text, "metadata": _hex})),
        'an array of objects with "name" and hexadecimal "metadata"',
    ),
    "replaced_classic": _FLAG,
    "group_epoch": _INTEGER,
    "metadata_hash": _INTEGER,
    "assignment_epoch": _INTEGER,
    "member_epoch": _INTEGER,
    "previous_member_epoch": _INTEGER,
    "rack_id": _MAYBE_TEXT,
    "topic_regex": _TEXT,
    "server_assignor": _MAYBE_TEXT,
    "failure": _TEXT,
    "assignor": _MAYBE_TEXT,
    "regex": _TEXT,
    "left": _NAMES,
    "held": (_array(_HELD), "an array of topics, partitions and epochs"),
    "revoking": (_array(_HELD), "an array of topics, partitions and epochs"),
    "target": _TOPICS,
    "change": _TEXT,
    "initializing": _TOPICS,
    "initialized": _TOPICS,
    "deleting": _TOPICS,
    "targets": (
        _array(_object({"member_id": _text, "topics": _array(_TOPIC)})),
        "an array of members and topics",
    ),
    "classic": (_or_null(_object({"session_timeout_ms": _integer})), "an object or null"),
    "start_offset": _INTEGER,
    "state_epoch": _INTEGER,
    "snapshot_epoch": _INTEGER,
    "complete_count": _INTEGER,
    "create_ms": _INTEGER,
    "write_ms": _INTEGER,
    "subscribed_topics": (_or_null(_array(_text)), "an array of strings or null"),
}
"""The rows of fields for every type of line."""

OF_TYPE: Final[Mapping[str, Mapping[str, _Row]]] = {
    "GenerationStarted": {"members": _NAMES},
    "ConsumerGroupUpgraded": {"members": _NAMES},
    "ConsumerMemberSubscribed": {"topics": _NAMES},
    "ConsumerMemberReplaced": {
        "subscription": (_SUBSCRIPTION, "a subscription as docs/event_log.md has it")
    },
    "TopicRegexResolved": {"topics": _NAMES},
    "ShareMemberSubscribed": {"topics": _NAMES},
    "ShareMemberReconciled": {"partitions": _TOPICS},
    "SharePartitionsRecorded": {"topics": _TOPICS},
    "GenerationStored": {
        "members": (_array(_STORED_MEMBER), "an array of members as docs/event_log.md has them")
    },
    "PendingOffsetsEnded": {"partitions": (_array(_PLACE), "an array of topics and partitions")},
    "OffsetsRemoved": {"partitions": (_array(_PLACE), "an array of topics and partitions")},
    "PartitionsAssigned": {"partitions": (_array(_PLACE), "an array of topics and partitions")},
    "PartitionsLost": {"partitions": (_array(_PLACE), "an array of topics and partitions")},
    "PartitionsRevoked": {"partitions": (_array(_PLACE), "an array of topics and partitions")},
    "RecordsAppended": _APPENDED,
    "RecordsServed": {"offset": _INTEGER, "last_offset": _INTEGER, "isolation": _TEXT},
    "MarkerWritten": {"offset": _INTEGER, "producer_epoch": _INTEGER},
    "RecordsPolled": {"ranges": _RANGES, "isolation": _TEXT},
    "RecordsProcessed": {"ranges": _RANGES},
    "RecordsSent": {
        "producer_epoch": _INTEGER,
        "sequence": _INTEGER,
        "count": _INTEGER,
        "sources": (_array(_source), "an array of topic, partition and offset"),
    },
    "RecordsDelivered": {
        "offset": _INTEGER,
        "count": _INTEGER,
        "acks": _TEXT,
        "failed": _MAYBE_TEXT,
    },
    "PositionReset": {"offset": _INTEGER},
    "Rewound": {"offset": _INTEGER},
    "CommitEnded": {"failed": _MAYBE_TEXT},
    "SharedRecordsPolled": {
        "records": (
            _array(_object(_SPAN | {"delivery_count": _integer})),
            "an array of ranges of offsets with delivery counts",
        )
    },
    "AcknowledgementsEnded": {
        "records": (
            _array(_object(_SPAN | {"acknowledgement": _text})),
            "an array of ranges of offsets with acknowledgements",
        ),
        "failed": _MAYBE_TEXT,
    },
    "RequestRepeated": {"sent_ms": _INTEGER, "failed": _MAYBE_TEXT},
    "TransactionEnded": {"failed": _MAYBE_TEXT},
    "TopicCreated": {"partitions": _INTEGER},
    "SharePartitionOpened": {"records": _RECORD_RANGES},
    "RecordsAcquired": {
        "records": _RECORD_RANGES,
        "batches": (_array(_object(_SPAN)), "an array of ranges of offsets"),
    },
    "RecordsAcknowledged": {
        "records": _RECORD_RANGES,
        "deadline_ms": (_or_null(_integer), "an integer or null"),
    },
    "AcknowledgementWaited": {
        "records": (_array(_object(_SPAN)), "an array of ranges of offsets"),
        "failed": _MAYBE_TEXT,
    },
    "RecordsReleased": {"records": _RECORD_RANGES},
    "RecordsArchived": {"records": _RECORD_RANGES},
    "ShareStateSnapshotted": {"batches": _STATES},
    "ShareStateUpdated": {"batches": _STATES},
    "PartitionsAdded": {"partitions": _INTEGER},
}
"""The rows of fields for one type of line only."""


def checked(line: Mapping[str, Any]) -> None:
    """Raise Complaint for a field that does not hold what its name says, in the streams that this
    version knows."""
    if line["stream"] not in _KNOWN:
        return
    fields = _OF_TYPE.get(line["type"], _OF_ALL)
    for key, value in line.items():
        field = fields.get(key)
        if field is not None and type(value) is not field.type and not field.check(value):
            found = f'"{key}": {shortened(value)} where {field.told} should be'
            raise Complaint(f"{found}: no {printable(line['type'])} as docs/event_log.md has it")


class _Field(NamedTuple):
    """The value of a field. `type`: values of it are right without a further look, and most are of
    it."""

    type: type[Any] | None
    check: Check
    told: str


_PLAIN: Final[Mapping[str, type[Any]]] = {
    "an integer": int,
    "a string": str,
    "true or false": bool,
    "a string or null": str,
    "an integer or null": int,
}


def _fields(*tables: Mapping[str, _Row]) -> dict[str, _Field]:
    return {
        key: _Field(_PLAIN.get(told), check, told)
        for table in tables
        for key, (check, told) in table.items()
    }


_KNOWN: Final = frozenset(
    {"run", "group", "coordinator", "transaction", "share", "cluster", "wire", "member", "data"}
)
_OF_ALL: Final = _fields(FIELDS)
_OF_TYPE: Final = {kind: _fields(FIELDS, own) for kind, own in OF_TYPE.items()}
