"""Conversion of the kit's values to JSON and back: bytes of records, and partitions as keys of
JSON objects. Schemas for answers are here, too."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .shapes import ShapeError

if TYPE_CHECKING:
    from ..topics import ReadRecord, Written

BYTES = {
    "description": "bytes: a text stands for its UTF-8, an object holds what is no text in base64, null stands for none",
    "anyOf": [
        {"type": "string"},
        {"type": "null"},
        {
            "type": "object",
            "properties": {"base64": {"type": "string"}},
            "required": ["base64"],
            "additionalProperties": False,
        },
    ],
}
"""JSON Schema of a record's key, value or header."""


def to_bytes(plain: Any, where: str) -> bytes | None:
    """Return the bytes of a record's key or value: a text, null, or {"base64": ...}. Raises
    ShapeError."""
    if plain is None:
        return None
    if isinstance(plain, str):
        return plain.encode()
    if isinstance(plain, dict) and list(plain) == ["base64"] and isinstance(plain["base64"], str):
        try:
            return base64.b64decode(plain["base64"], validate=True)
        except binascii.Error:
            raise ShapeError(f"{where}: {plain['base64']!r} is no base64") from None
    raise ShapeError(
        f'{where}: {plain!r} cannot stand in a record: a text, null or {{"base64": "..."}} can'
    )


def from_bytes(data: bytes | None) -> Any:
    """Return bytes as text if they are UTF-8, else in base64."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def of_record(record: ReadRecord) -> dict[str, Any]:
    """Return a record as a JSON object. Headers are a list, as in Kafka: a name may occur twice."""
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "key": from_bytes(record.key),
        "value": from_bytes(record.value),
        "headers": [{"name": name, "value": from_bytes(value)} for name, value in record.headers],
    }


def of_written(written: Written) -> dict[str, Any]:
    """Return the place of a written record as a JSON object."""
    return dict(written._asdict())


def partition(text: str) -> tuple[str, int]:
    """Return the partition that a key such as "orders-0" names. Raises ShapeError."""
    topic, dash, index = text.rpartition("-")
    if not dash or not index.isdecimal() or len(index) > 9:
        raise ShapeError(f"{text!r} is no partition: write topic-number, such as orders-0")
    return topic, int(index)


def by_partition(plain: Mapping[str, int]) -> dict[tuple[str, int], int]:
    """Return numbers by partition. Raises ShapeError."""
    return {partition(text): value for text, value in plain.items()}


def object_of(**properties: Any) -> dict[str, Any]:
    """Return the JSON Schema of an object that has all of these properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a list."""
    return {"type": "array", "items": items}


TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer"}
FLAG: dict[str, Any] = {"type": "boolean"}
LINES = list_of({"type": "object", "description": "a line of the event log (docs/event_log.md)"})
DONE = object_of(done={"const": True})
