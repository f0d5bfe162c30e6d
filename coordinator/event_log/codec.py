"""Events as plain dictionaries, and group events back. Derived from the events' own field types, so
a new event needs no code here.

Two fields of group events move into the envelope: `member_id` is the line's `member` (left out when
empty), `generation` its `generation`. Bytes are hex. Tuples are arrays, pairs and nested values are
objects. Going back is exact: `from_plain(to_plain(e)) == e`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, get_args, get_origin, get_type_hints

from ..groups.events import DURABLE, Event, StoredMember
from ..shards.availability import AvailabilityEvent
from ..share_partitions.events import Event as SharePartitionEvent
from ..share_states.events import Event as ShareStateEvent
from ..transactions.events import Event as TransactionEvent
from .text import PAIRS, fields_text

Plain = dict[str, Any]
_Convert = Callable[[Any], Any]

_IN_ENVELOPE: Final = {"member_id": "member", "generation": "generation"}
_MEMBER_IN_ENVELOPE: Final = {"member_id": "member"}
_NAMES: Final = {
    int: "an integer",
    str: "a string",
    bool: "true or false",
    bytes: "a string of hex digits",
}
_REQUIRED: Final = object()


class CodecError(ValueError):
    """A dictionary that is no event: which field, what it holds, what would be right."""


class Field(NamedTuple):
    """One field of an event. `write` and `read` None: the value is the same on both sides but for
    its check."""

    name: str
    key: str
    write: _Convert | None
    read: _Convert
    default: object


class Shape(NamedTuple):
    """An event type as the log holds it."""

    type: type
    name: str
    durable: bool
    fields: tuple[Field, ...]


class Writing(NamedTuple):
    """How events of a type are written: which of their fields stand in the envelope (None: none),
    and the text of all others."""

    name: str
    durable: str
    member: int | None
    generation: int | None
    rest: Callable[[Any], str]


class Writings(dict[type, Writing]):
    """How events of a kind are written, by type; each is made when it is needed first."""

    def __init__(
        self, shapes_: Callable[[], dict[type, Shape]], in_envelope: Mapping[str, str]
    ) -> None:
        super().__init__()
        self._shapes, self._in_envelope = shapes_, in_envelope

    def __missing__(self, kind: type) -> Writing:
        how = self[kind] = _writing(self._shapes()[kind], self._in_envelope)
        return how


def _writing(shape: Shape, in_envelope: Mapping[str, str]) -> Writing:
    at = {field.key: index for index, field in enumerate(shape.fields)}
    member, generation = (
        at.get(key) if key in in_envelope.values() else None for key in ("member", "generation")
    )
    rest = fields_text(
        shape.type,
        tuple(
            (field.name, field.key)
            for field in shape.fields
            if field.key not in in_envelope.values()
        ),
    )
    return Writing(shape.name, str(shape.durable).lower(), member, generation, rest)


@cache
def shapes() -> dict[type, Shape]:
    """The shape of every event type."""
    return {
        kind: Shape(kind, kind.__name__, kind in DURABLE, _fields(kind, _IN_ENVELOPE))
        for kind in get_args(Event)
    }


@cache
def transaction_shapes() -> dict[type, Shape]:
    """The shape of every event type of a transactional id."""
    return {
        kind: Shape(kind, kind.__name__, True, _fields(kind, {}))
        for kind in get_args(TransactionEvent)
    }


@cache
def coordinator_shapes() -> dict[type, Shape]:
    """The shape of every event type of the group coordinator itself."""
    return {
        kind: Shape(kind, kind.__name__, False, _fields(kind, {}))
        for kind in get_args(AvailabilityEvent)
    }


@cache
def share_shapes() -> dict[type, Shape]:
    """The shape of every event type of a share partition: of what its leader has in flight, and of
    what the share coordinator keeps, which is durable."""
    kinds = {
        **dict.fromkeys(get_args(SharePartitionEvent), False),
        **dict.fromkeys(get_args(ShareStateEvent), True),
    }
    return {
        kind: Shape(kind, kind.__name__, durable, _fields(kind, _MEMBER_IN_ENVELOPE))
        for kind, durable in kinds.items()
    }


@cache
def types_by_name() -> dict[str, Shape]:
    """The shapes by the log's `type`."""
    return {shape.name: shape for shape in shapes().values()}


GROUP_WRITING: Final = Writings(shapes, _IN_ENVELOPE)
TRANSACTION_WRITING: Final = Writings(transaction_shapes, {})
COORDINATOR_WRITING: Final = Writings(coordinator_shapes, {})
SHARE_WRITING: Final = Writings(share_shapes, _MEMBER_IN_ENVELOPE)


def to_plain(event: Event) -> Plain:
    """An event's fields in their order, under the log's keys; without its type, `group` and
    `durable`."""
    out: Plain = {}
    for (_, key, write, _, _), value in zip(shapes()[type(event)].fields, event, strict=True):
        out[key] = value if write is None or value is None else write(value)
    if out.get("member") == "":
        del out["member"]
    return out


@cache
def _stored_member() -> _Convert:
    return _object(_fields(StoredMember, {}))


def to_plain_member(member: StoredMember) -> Plain:
    """One of the members of a GenerationStored, as `to_plain` has it."""
    plain: Plain = _stored_member()(member)
    return plain


def transaction_from_plain(line: Mapping[str, Any]) -> TransactionEvent:
    """The event that a line of stream `transaction` holds. Keys it does not know are ignored.
    Raises CodecError."""
    event: TransactionEvent = _of_stream(line, transaction_shapes(), "transaction")
    return event


def share_from_plain(line: Mapping[str, Any]) -> SharePartitionEvent | ShareStateEvent:
    """The event that a line of stream `share` holds. Keys it does not know are ignored. Raises
    CodecError."""
    event: SharePartitionEvent | ShareStateEvent = _of_stream(line, share_shapes(), "share")
    return event


def coordinator_from_plain(line: Mapping[str, Any]) -> AvailabilityEvent:
    """The event that a line of stream `coordinator` holds. Keys it does not know are ignored.
    Raises CodecError."""
    event: AvailabilityEvent = _of_stream(line, coordinator_shapes(), "coordinator")
    return event


def _of_stream(line: Mapping[str, Any], shapes_of_stream: Mapping[type, Shape], stream: str) -> Any:
    by_name = {shape.name: shape for shape in shapes_of_stream.values()}
    shape = by_name.get(line["type"])
    if shape is None:
        raise CodecError(
            f"unknown {stream} event {line['type']!r}: this version folds {', '.join(sorted(by_name))}"
        )
    return _build(shape.type, shape.fields, line, shape.name)


def from_plain(line: Mapping[str, Any]) -> Event:
    """The event that a line of stream `group` holds. Keys it does not know are ignored. Raises
    CodecError."""
    shape = types_by_name().get(line["type"])
    if shape is None:
        raise CodecError(
            f"unknown group event {line['type']!r}: this version folds {', '.join(sorted(types_by_name()))}"
        )
    event: Event = _build(shape.type, shape.fields, line, shape.name)
    return event


def _build(kind: type, fields: tuple[Field, ...], line: object, what: str) -> Any:
    if not isinstance(line, Mapping):
        raise CodecError(f"{what}: {line!r} is no object")
    values = []
    for field in fields:
        value = line.get(field.key, field.default)
        if value is _REQUIRED:
            raise CodecError(f'{what}: "{field.key}" is missing')
        try:
            values.append(field.read(value))
        except CodecError as error:
            raise CodecError(f'{what}: "{field.key}": {error}') from None
    return kind(*values)


def _fields(kind: type, keys: Mapping[str, str]) -> tuple[Field, ...]:
    """The fields of a NamedTuple in their order."""
    defaults: dict[str, object] = getattr(kind, "_field_defaults")  # noqa: B009 - a NamedTuple, which has no type of its own
    fields = []
    for name, hint in get_type_hints(kind).items():
        write, read = _converters(hint)
        default = defaults.get(name, "" if keys and name == "member_id" else _REQUIRED)
        fields.append(Field(name, keys.get(name, name), write, read, default))
    return tuple(fields)


def _converters(hint: Any) -> tuple[_Convert | None, _Convert]:
    """How to write and read values of a type."""
    if isinstance(hint, UnionType):
        (inner,) = (part for part in get_args(hint) if part is not NoneType)
        write, read = _converters(inner)
        return write, lambda value: None if value is None else read(value)
    if hint is bytes:
        return bytes.hex, _bytes
    if hint in _NAMES:
        return None, _checked(hint)
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        if parts[-1] is Ellipsis:
            return _array(*_converters(parts[0]))
        return _pair(PAIRS[parts], parts)
    nested = _fields(hint, {})
    return _object(nested), lambda value: _build(hint, nested, value, hint.__name__)


def _checked(kind: type) -> _Convert:
    def read(value: object) -> object:
        if type(value) is not kind:
            raise CodecError(f"{value!r} is not {_NAMES[kind]}")
        return value

    return read


def _bytes(value: object) -> bytes:
    try:
        return bytes.fromhex(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise CodecError(f"{value!r} is not {_NAMES[bytes]}") from None


def _array(write: _Convert | None, read: _Convert) -> tuple[_Convert, _Convert]:
    def read_all(value: object) -> tuple[object, ...]:
        if not isinstance(value, list):
            raise CodecError(f"{value!r} is no array")
        return tuple([read(item) for item in value])

    if write is None:
        return list, read_all
    return lambda values: [write(value) for value in values], read_all


def _pair(keys: tuple[str, str], kinds: tuple[Any, ...]) -> tuple[_Convert, _Convert]:
    (first, second), (write_one, read_one), (write_two, read_two) = (
        keys,
        _converters(kinds[0]),
        _converters(kinds[1]),
    )
    assert write_one is None, "the first of a pair is a name"

    def write(pair: tuple[Any, Any]) -> Plain:
        return {first: pair[0], second: pair[1] if write_two is None else write_two(pair[1])}

    def read(value: object) -> tuple[Any, Any]:
        if not isinstance(value, Mapping) or first not in value or second not in value:
            raise CodecError(f'{value!r} is no object with "{first}" and "{second}"')
        return read_one(value[first]), read_two(value[second])

    return write, read


def _object(fields: tuple[Field, ...]) -> _Convert:
    rows = [(field.key, field.write) for field in fields]

    def write(values: Any) -> Plain:
        return {
            key: value if convert is None or value is None else convert(value)
            for (key, convert), value in zip(rows, values, strict=True)
        }

    return write
