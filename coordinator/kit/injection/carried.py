"""Fields of requests that name topics, partitions, groups and transactional ids, for each API,
derived from the message tables.

A new API is known as soon as it has a table; this module lists no API. It must not know what a
request means to a broker: a Fetch within a fetch session names fewer partitions than it reads
(`coordinator.server.fetched` completes it). `matching` reads requests with this module, and
`selector_fields` finds out which fields of a Selector an API can match.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from coordinator.server.requests.refusals import Place
from coordinator.wire.fields import Field, StructType
from coordinator.wire.primitives import ZERO_UUID
from coordinator.wire.schema import Request

_TOPIC_NAMES: Final = ("topic", "topic_name", "name")
_NUMBERS: Final = ("partition_index", "partition", "index")
_TOPIC_RESOURCE: Final = 2
"""`resource_type` of a topic, in configurations as in rights."""


class _Topics(NamedTuple):
    """A list in a request whose elements name a topic, and perhaps partitions of it.
    `partitions`: the name of the list of partitions; `number`: the field of its elements with
    the partition's number, or None if the elements are numbers."""

    path: tuple[str, ...]
    name: str | None
    topic_id: str | None
    partitions: str | None
    number: str | None
    by_type: bool


class _Texts(NamedTuple):
    """A field with one text, or with a list of texts (`many`), in each struct at the end of
    `path`."""

    path: tuple[str, ...]
    field: str
    many: bool


def places(message: Request) -> list[Place]:
    """Return the topics and partitions that a request names; a topic without partitions alone."""
    found: list[Place] = []
    for where in _topics(type(message)):
        for entry in _entries(message, where.path):
            if where.by_type and entry.resource_type != _TOPIC_RESOURCE:
                continue
            name = getattr(entry, where.name) or None if where.name else None
            topic_id = getattr(entry, where.topic_id) if where.topic_id else None
            if topic_id == ZERO_UUID:
                topic_id = None
            if name is None and topic_id is None:
                continue
            if where.partitions is None:
                found.append(Place(name, topic_id))
                continue
            for row in getattr(entry, where.partitions) or ():
                number = row if where.number is None else getattr(row, where.number)
                found.append(Place(name, topic_id, number))
    found += [Place(topic=name) for name in _read(message, _topic_texts(type(message)))]
    return found


def groups(message: Request) -> list[str]:
    """Return the groups that a request names."""
    return _read(message, _group_texts(type(message)))


def transactional_ids(message: Request) -> list[str]:
    """Return the transactional ids that a request names."""
    return _read(message, _transactional_texts(type(message)))


def names_topics(kind: type[Request]) -> bool:
    """Return whether requests of this class can name a topic."""
    return bool(_topics(kind) or _topic_texts(kind))


def names_groups(kind: type[Request]) -> bool:
    """Return whether requests of this class can name a group."""
    return bool(_group_texts(kind))


def names_transactional_ids(kind: type[Request]) -> bool:
    """Return whether requests of this class can name a transactional id."""
    return bool(_transactional_texts(kind))


def _entries(message: Any, path: tuple[str, ...]) -> Iterator[Any]:
    if not path:
        yield message
        return
    for entry in getattr(message, path[0]) or ():
        yield from _entries(entry, path[1:])


def _read(message: Request, fields: tuple[_Texts, ...]) -> list[str]:
    found: list[str] = []
    for where in fields:
        for entry in _entries(message, where.path):
            value = getattr(entry, where.field)
            found += (value or ()) if where.many else [value] if value else []
    return found


def _structs(
    kind: StructType, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], StructType]]:
    """Yield a struct and the structs in its lists, each with the names of the lists that lead to
    it."""
    yield path, kind
    for field in kind.fields:
        if field.kind == "array" and isinstance(field.elem, StructType):
            yield from _structs(field.elem, (*path, field.name))


@cache
def _topics(kind: type[Request]) -> tuple[_Topics, ...]:
    found = []
    for path, struct in _structs(kind):
        kinds = {field.name: field.kind for field in struct.fields}
        if path and kinds.get("resource_type") == "int8" and "resource_name" in kinds:
            found.append(_Topics(path, "resource_name", None, None, None, by_type=True))
            continue
        named = [each for each in _TOPIC_NAMES if kinds.get(each) == "string"]
        topic_id = "topic_id" if kinds.get("topic_id") == "uuid" else None
        if not path or (topic_id is None and (not named or "topic" not in path[-1])):
            continue
        partitions, number = _partitions(struct)
        name = named[0] if named else None
        found.append(_Topics(path, name, topic_id, partitions, number, by_type=False))
    return tuple(found)


def _partitions(struct: StructType) -> tuple[str | None, str | None]:
    """Return the name of the list of partitions in a struct that names a topic, and the field of
    the partition's number in its elements. None for what does not exist."""
    for field in struct.fields:
        if field.kind != "array" or "partition" not in field.name:
            continue
        if isinstance(field.elem, Field) and field.elem.kind == "int32":
            return field.name, None
        if isinstance(field.elem, StructType):
            names = {each.name for each in field.elem.fields if each.kind == "int32"}
            number = next((each for each in _NUMBERS if each in names), None)
            if number is not None:
                return field.name, number
    return None, None


def _texts(kind: type[Request], one: str | None, many: str) -> tuple[_Texts, ...]:
    """Return the fields with one text whose name ends with `one` (None: no such field), and the
    lists of texts whose name contains `many`."""
    found = []
    for path, struct in _structs(kind):
        for field in struct.fields:
            if one is not None and field.kind == "string" and field.name.endswith(one):
                found.append(_Texts(path, field.name, many=False))
            elif (
                field.kind == "array"
                and isinstance(field.elem, Field)
                and field.elem.kind == "string"
                and many in field.name
            ):
                found.append(_Texts(path, field.name, many=True))
    return tuple(found)


@cache
def _topic_texts(kind: type[Request]) -> tuple[_Texts, ...]:
    return tuple(each for each in _texts(kind, None, "topic") if "regex" not in each.field)


@cache
def _group_texts(kind: type[Request]) -> tuple[_Texts, ...]:
    return _texts(kind, "group_id", "group")


@cache
def _transactional_texts(kind: type[Request]) -> tuple[_Texts, ...]:
    return _texts(kind, "transactional_id", "transactional_id")
