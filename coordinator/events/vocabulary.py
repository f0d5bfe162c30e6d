"""All types of lines that a log can have: for each its stream, its name, the class of its events,
its fields, its text, and how it is read.

Everything is derived from the event classes; a type whose line differs from its class has a
shape in `line_shapes`. Verbs (`coordinator.verbs`) are events of stream `fault`. Look types up
by class (`type_of`), or by the stream and the name in a line (`TYPES`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, get_args

from coordinator.base.printable import printable
from coordinator.verbs import ROWS
from coordinator.verbs.row import Row

from . import (
    availability,
    cluster,
    data,
    faults,
    groups,
    members,
    run,
    seen,
    share_partitions,
    share_states,
    transactions,
    wire,
)
from .envelope import ENVELOPE, PLACES
from .line_shapes import CHANGES, SHAPES, Shape
from .values import (
    BadValue,
    Environment,
    braced,
    compiled,
    expression,
    hints_of,
    is_left_out,
    json_type,
    reading,
    shortened,
    text,
    told,
)

Places: TypeAlias = "tuple[str | None, int | None, str | None, int | None, str | None, int | None]"
"""Group, generation, member, broker, topic, partition."""
_REQUIRED: Final = object()
_STREAMS_OF_MEMBERS: Final = frozenset({"group", "share"})
"""In these streams the member of an event stands among the places of its line."""


class Unknown(NamedTuple):
    """The event of a line whose type this version does not know. Its fields are in the line's
    `extra`.
    """

    stream: str
    name: str


class Field(NamedTuple):
    """One field of a type of events: its name in Python, its key in the line, its type, its default
    (`required` without), and whether it is left out of the line while it has that default."""

    name: str
    key: str
    hint: Any
    default: object
    left_out: bool

    @property
    def required(self) -> bool:
        """True if every line must have the field."""
        return self.default is _REQUIRED


class EventType:
    """One type of lines. `durable`: whether a coordinator that loads a group or a share partition
    folds the event; None where lines do not say.
    """

    __slots__ = (
        "_checked",
        "_make",
        "_places",
        "_read",
        "_reads",
        "_shape",
        "_write",
        "durable",
        "expected",
        "fields",
        "kind",
        "name",
        "stream",
    )

    def __init__(
        self,
        stream: str,
        name: str,
        kind: type,
        fields: tuple[Field, ...],
        *,
        durable: bool | None = None,
        shape: Shape | None = None,
        by_index: bool = True,
    ) -> None:
        self.stream = stream
        self.name = name
        self.kind = kind
        self.fields = fields
        self.durable = durable
        self._shape = shape
        self.expected: dict[str, tuple[type | None, bool, str]] = {
            field.key: (*json_type(field.hint), told(field.hint)) for field in fields
        }
        self._reads = tuple(
            (field.name, field.key, reading(field.hint), field.default) for field in fields
        )
        self._make: Callable[..., Any] = kind if shape is None else shape.kind
        self._read: Callable[..., tuple[Any, ...]] | None = None
        self._write: Callable[..., str] | None = None
        self._checked: Callable[..., bool] | None = None
        self._places: Callable[..., Places] | None = None
        if not by_index:
            self._make = _by_names(kind, tuple(field.name for field in fields))

    def __repr__(self) -> str:
        return f"EventType({self.stream}, {self.name})"

    def text(
        self,
        event: Any,
        group: str | None,
        generation: int | None,
        member: str | None,
        broker: int | None,
        topic: str | None,
        partition: int | None,
    ) -> str:
        """Return the places and the fields of an event's line as JSON: `,"key":value` for each. A
        place that is a field of the event need not be given.
        """
        write = self._write
        if write is None:
            write = self._write = _writing(self)
        shape = self._shape
        return write(
            event if shape is None else shape.of_event(event),
            group,
            generation,
            member,
            broker,
            topic,
            partition,
        )

    def places(
        self,
        event: Any,
        group: str | None,
        generation: int | None,
        member: str | None,
        broker: int | None,
        topic: str | None,
        partition: int | None,
    ) -> Places:
        """Return the places of an event's line: fields of the event where it has them, else the
        given values.
        """
        places = self._places
        if places is None:
            places = self._places = _placing(self)
        return places(event, group, generation, member, broker, topic, partition)

    def holds(self, plain: Mapping[str, Any]) -> bool:
        """Return whether every scalar and every place of a line is of its type. Nested values are
        checked when the event is read. False may also mean that a field is missing: `complaint`
        says which.
        """
        checked = self._checked
        if checked is None:
            checked = self._checked = _checking(self)
        return checked(plain.get)

    def complaint(self, plain: Mapping[str, Any]) -> str:
        """Return what is wrong with a line's fields, "" if nothing is. A missing field is an error
        only when the event is read.
        """
        for key, value in plain.items():
            kind, optional, meant = self.expected.get(key) or _PLACES.get(key) or _ANY
            if kind is not None and type(value) is not kind and not (optional and value is None):
                found = f'"{key}": {shortened(value)} where {meant} should be'
                return f"{found}: no {printable(self.name)} as docs/event_log.md has it"
        return ""

    def event(self, plain: Mapping[str, Any]) -> Any:
        """Return the event of a line. Raises BadValue."""
        read = self._read
        if read is None:
            read = self._read = _reading(self._reads)
        try:
            made = self._make(*read(plain, plain.get))
        except (KeyError, BadValue):
            return self._by_field(plain)
        return made if self._shape is None else self._shape.to_event(made, self.name)

    def _by_field(self, plain: Mapping[str, Any]) -> Any:
        """Make the event field by field, so that the error names the field that is wrong."""
        values = []
        for _, key, read, default in self._reads:
            value = plain.get(key, default)
            if value is _REQUIRED:
                raise BadValue(f'"{key}" is missing')
            if read is not None and key in plain:
                try:
                    value = read(value)
                except BadValue as error:
                    raise BadValue(f'"{key}": {error}') from None
            values.append(value)
        made = self._make(*values)
        return made if self._shape is None else self._shape.to_event(made, self.name)

    def extra(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys of a line that are not in its envelope, its places or the fields of its
        type.
        """
        return {
            key: value
            for key, value in plain.items()
            if key not in self.expected and key not in _ENVELOPE_KEYS
        }


_ENVELOPE_KEYS: Final = frozenset(ENVELOPE)
_ANY: Final[tuple[type | None, bool, str]] = (None, True, "")
_PLACES: Final[Mapping[str, tuple[type | None, bool, str]]] = {
    "group": (str, False, "a string"),
    "generation": (int, False, "an integer"),
    "member": (str, False, "a string"),
    "broker": (int, False, "an integer"),
    "topic": (str, False, "a string"),
    "partition": (int, False, "an integer"),
    "durable": (bool, False, "true or false"),
}


def _by_names(kind: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    return lambda *values: kind(**dict(zip(names, values, strict=True)))


def _writing(of: EventType) -> Callable[..., str]:
    """Compile the function that writes a type's places and fields."""
    env = Environment()
    env["EMPTY"] = ""
    by_index = hasattr(of._shape.kind if of._shape is not None else of.kind, "_fields")
    values = {
        field.key: f"e[{at}]" if by_index else f"e.{field.name}"
        for at, field in enumerate(of.fields)
    }
    own = {field.key: field for field in of.fields}
    pieces = []
    for place in PLACES:
        field = own.get(place)
        value = place if field is None else values[place]
        before = env.name(f",{text(place)}:")
        made = f"text({value})" if _PLACES[place][0] is str else f"str({value})"
        if field is None or field.left_out:
            pieces.append(braced(f"EMPTY if {value} is None else {before} + {made}"))
        elif place == "member":
            pieces.append(braced(f"{before} + {made} if {value} else EMPTY"))
        else:
            pieces.append(braced(f"{before} + {made}"))
    if of.durable is not None:
        pieces.append(f',"durable":{str(of.durable).lower()}')
    for field in of.fields:
        if field.key in PLACES:
            continue
        value, key = values[field.key], f",{text(field.key)}:"
        if field.left_out:
            default = env.name(field.default)
            wanted = (
                f"{value} is None"
                if field.default in (None, _REQUIRED)
                else f"{value} == {default}"
            )
            made = expression(field.hint, value, env)
            pieces.append(braced(f"EMPTY if {wanted} else {env.name(key)} + str({made})"))
        else:
            pieces.append(f"{key}{braced(expression(field.hint, value, env))}")
    return compiled(pieces, env, "e, group, generation, member, broker, topic, partition")


def _placing(of: EventType) -> Callable[..., Places]:
    """Compile the function that returns the places of a type's line."""
    own = {field.key: f"e.{field.name}" for field in of.fields if field.key in PLACES}
    if "member" in own:
        own["member"] += " or None"
    code = ", ".join(own.get(place, place) for place in PLACES)
    made: Callable[..., Places] = eval(
        f"lambda e, group, generation, member, broker, topic, partition: ({code})"
    )
    return made


def _reading(reads: Iterable[tuple[str, str, Any, object]]) -> Callable[..., tuple[Any, ...]]:
    """Compile the function that reads the values of a type's fields from a line `p`, of which `g` is
    `p.get`. It raises KeyError for a field that is missing."""
    env = Environment()
    values = []
    for _, key, read, default in reads:
        value = f"p[{key!r}]" if read is None else f"{env.name(read)}(p[{key!r}])"
        if default is not _REQUIRED and read is None:
            value = f"g({key!r}, {env.name(default)})"
        elif default is not _REQUIRED:
            value = f"({value} if {key!r} in p else {env.name(default)})"
        values.append(f"{value}, ")
    made: Callable[..., tuple[Any, ...]] = eval(f"lambda p, g: ({''.join(values)})", env)
    return made


def _checking(of: EventType) -> Callable[..., bool]:
    """Compile the function that checks the types of a line's values."""
    env: dict[str, Any] = {}
    tests = []
    for key, (kind, optional, _) in {**_PLACES, **of.expected}.items():
        if kind is None:
            continue
        env[kind.__name__.upper()] = kind
        test = f"type(g({key!r})) is {kind.__name__.upper()}"
        if optional or key not in of.expected:
            test = f"((v := g({key!r})) is None or type(v) is {kind.__name__.upper()})"
        tests.append(test)
    made: Callable[..., bool] = eval(f"lambda g: {' and '.join(tests) or 'True'}", env)
    return made


# -- the types there are


def _fields(kind: Any, renamed: Mapping[str, str]) -> tuple[Field, ...]:
    """Return the fields of a NamedTuple."""
    defaults: Mapping[str, object] = kind._field_defaults
    found = []
    for name, hint in hints_of(kind).items():
        key = renamed.get(name, name)
        left_out = is_left_out(hint)
        default = defaults.get(name, None if left_out else "" if key != name else _REQUIRED)
        found.append(Field(name, key, hint, default, left_out))
    return tuple(found)


def _verb_fields(row: Row) -> tuple[Field, ...]:
    """Return the fields of a verb's line. Optional fields of a member's verb are left out if they
    were not given.
    """
    defaults = {
        each.name: each.default if not each.required else _REQUIRED for each in row.fields_of_kind
    }
    return tuple(
        Field(
            taken.name,
            key,
            taken.kind,
            defaults[taken.name],
            left_out=(row.of_member or key in PLACES) and defaults[taken.name] is not _REQUIRED,
        )
        for taken, key in zip(row.takes, row.logged, strict=True)
    )


def _of_stream(
    stream: str, kinds: tuple[type, ...], durable: Mapping[type, bool]
) -> list[EventType]:
    renamed = {"member_id": "member"} if stream in _STREAMS_OF_MEMBERS else {}
    found = []
    for kind in kinds:
        shape = SHAPES.get(kind)
        fields = _fields(kind if shape is None else shape.kind, renamed)
        names = (kind.__name__,) if kind is not cluster.PartitionChanged else tuple(CHANGES)
        found += [
            EventType(stream, name, kind, fields, durable=durable.get(kind), shape=shape)
            for name in names
        ]
    return found


def _all_types() -> list[EventType]:
    of_groups, of_states = get_args(groups.Event), get_args(share_states.Event)
    of_shares = get_args(share_partitions.Event)
    logged = tuple(kind for kind in get_args(cluster.Event) if kind is not cluster.TopicConfigured)
    return [
        *_of_stream("run", (run.RunStarted,), {}),
        *_of_stream("group", of_groups, {kind: kind in groups.DURABLE for kind in of_groups}),
        *_of_stream("coordinator", get_args(availability.AvailabilityEvent), {}),
        *_of_stream("transaction", get_args(transactions.Event), {}),
        *_of_stream(
            "share",
            (*of_shares, *of_states),
            {**dict.fromkeys(of_shares, False), **dict.fromkeys(of_states, True)},
        ),
        *_of_stream("wire", get_args(wire.Event), {}),
        *_of_stream("cluster", (*logged, *get_args(cluster.Told)), {}),
        *_of_stream("member", get_args(members.Event), {}),
        *_of_stream("fault", get_args(faults.Event), {}),
        *(
            EventType("fault", row.name, row.kind, _verb_fields(row), by_index=False)
            for row in ROWS.values()
        ),
        *_of_stream("data", get_args(data.Event), {}),
        *_of_stream("seen", get_args(seen.Event), {}),
    ]


TYPES: Final[Mapping[tuple[str, str], EventType]] = {
    (each.stream, each.name): each for each in _all_types()
}
"""All types, by stream and name: a name may stand in two streams."""
_BY_CLASS: Final[Mapping[type, EventType]] = {each.kind: each for each in TYPES.values()}
STREAMS: Final[tuple[str, ...]] = tuple(dict.fromkeys(stream for stream, _ in TYPES))
"""All streams."""


def type_of(event: object) -> EventType:
    """Return the type of an event's line."""
    if type(event) is cluster.PartitionChanged:
        return TYPES["cluster", event.what.value]
    return _BY_CLASS[type(event)]


def unknown(stream: str, name: str) -> EventType:
    """Return a type for lines that this version does not know."""
    of = EventType(stream, name, Unknown, ())
    of._make = partial(Unknown, stream, name)
    return of


# -- names that users give


def names(stream: str | None = None) -> list[str]:
    """Return the names of all types, or of those of one stream."""
    return [name for each, name in TYPES if stream in (None, each)]


def named(name: str, stream: str | None = None) -> tuple[EventType, ...]:
    """Return the types with this name, in all streams or in one."""
    return tuple(
        each for each in TYPES.values() if each.name == name and stream in (None, each.stream)
    )


def unknown_type(name: str, stream: str | None = None) -> str:
    """Return why no line can be of this type (and stream, if given), with a suggestion; "" if one
    can.
    """
    if named(name, stream):
        return ""
    elsewhere = named(name)
    if elsewhere:
        return f"{name} is a line of the stream {elsewhere[0].stream}, not of {stream}"
    known = names(stream)
    by_lower = {each.lower(): each for each in known}
    close = [by_lower[each] for each in get_close_matches(name.lower(), by_lower, 3)]
    meant = (
        f"did you mean {', '.join(close)}?"
        if close
        else f"such as {', '.join(known[:6])}; docs/event_log.md has all"
    )
    where = "" if stream is None else f" of the stream {stream}"
    return f"{name!r} is no type of line{where}: {meant}"


FIELD_NAMES: Final = frozenset(
    {*ENVELOPE, *(field.key for each in TYPES.values() for field in each.fields)}
)
"""Keys that a line can have, of any type."""


def unknown_field(name: str) -> str:
    """Return why no line can have a field of this name, with a suggestion; "" if one can."""
    if name in FIELD_NAMES:
        return ""
    close = get_close_matches(name.lower(), FIELD_NAMES, 3)
    meant = f"did you mean {', '.join(close)}?" if close else "docs/event_log.md has all"
    return f"{name!r} is no field of a line: {meant}"
