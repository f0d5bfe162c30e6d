"""Messages for tests: drawn by chance from the tables, and the vectors that Kafka's own classes
gave."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from coordinator.wire.json_values import bounds
from coordinator.wire.messages import API_KEYS, request_type, response_type
from coordinator.wire.schema import Field, Message, StructType

HOME = Path(__file__).parent.parent / "vectors" / "wire"
VECTORS = HOME / "messages-4.4.0.jsonl.gz"
OLD_VECTORS = HOME / "messages-3.9.2.jsonl.gz"
"""Of versions that went with 4.0."""

SERVED = (
    0,
    1,
    2,
    3,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    18,
    19,
    20,
    21,
    22,
    23,
    32,
    33,
    37,
    42,
    44,
    47,
    60,
    75,
)
"""Keys of the APIs that the first release serves."""


class Vector(NamedTuple):
    message: type[Message]
    version: int
    value: dict[str, Any]
    body: bytes
    line: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.message.__name__} v{self.version}"


@cache
def vectors() -> list[Vector]:
    """All vectors, in the file's order."""
    found = []
    for place in (VECTORS, OLD_VECTORS):
        with gzip.open(place, "rt", encoding="utf-8") as file:
            texts = list(file)
        for text in texts:
            line = json.loads(text)
            message = (
                request_type(line["key"])
                if line["dir"] == "request"
                else response_type(line["key"])
            )
            found.append(
                Vector(message, line["version"], line["value"], bytes.fromhex(line["hex"]), line)
            )
    return found


def message_types(keys: Iterator[int] | tuple[int, ...] = tuple(API_KEYS)) -> list[type[Message]]:
    """Requests and responses of these APIs."""
    return [kind(key) for key in keys for kind in (request_type, response_type)]  # type: ignore[operator]


def all_versions(message: type[Message]) -> range:
    return range(message.versions[0], message.versions[1] + 1)


def carried(cls: StructType, message: type[Message], version: int) -> list[Field]:
    """The fields of `cls` that this version of `message` puts on the wire."""
    return [
        field
        for field in cls.fields
        if field.carried(version) and (field.tag is None or version >= message.flexible)
    ]


def tame(message: type[Message], version: int, random: Random) -> Any:
    """A message that every codec can say: error codes that exist, times that a calendar knows."""

    def scalar(field: Field) -> Any:
        if field.kind == "string":
            return random.choice(["orders", "a", "größe", "日本", "x" * 130])
        if field.kind == "binary":
            return random.randbytes(random.choice([1, 5, 200]))
        if field.kind == "uuid":
            return random.randbytes(16)
        if field.kind == "boolean":
            return random.random() < 0.5
        if field.kind == "float64":
            return random.random()
        return random.randrange(1, 100)

    return draw(message, message, version, random, scalar)


def wild(message: type[Message], version: int, random: Random) -> Any:
    """A message of extremes: least and greatest numbers, empty and long strings."""

    def scalar(field: Field) -> Any:
        if field.kind == "string":
            return random.choice(["", "\0", "𝄞" * 40, "x" * 126, "x" * 127, "x" * 128, "x" * 300])
        if field.kind == "binary":
            return random.choice([b"", b"\xff", bytes(126), bytes(127), bytes(16400)])
        if field.kind == "uuid":
            return random.choice([bytes(16), b"\xff" * 16])
        if field.kind == "boolean":
            return random.random() < 0.5
        if field.kind == "float64":
            return random.choice([0.0, -0.0, 1e308, float("inf")])
        low, high = bounds(field.kind)
        return random.choice([low, high, 0, 1])

    return draw(message, message, version, random, scalar)


def draw(
    cls: StructType,
    message: type[Message],
    version: int,
    random: Random,
    scalar: Callable[[Field], Any],
) -> Any:
    """A struct whose carried fields are drawn; some tagged and nullable ones are left out."""

    def value(field: Field) -> Any:
        if version >= field.nullable and random.random() < 0.3:
            return None
        if isinstance(field.elem, StructType) and field.kind == "struct":
            return draw(field.elem, message, version, random, scalar)
        if field.kind == "array":
            elem = field.elem
            count = random.choice([0, 1, 2, 3])
            return [
                value(elem)
                if isinstance(elem, Field)
                else draw(elem, message, version, random, scalar)
                for _ in range(count)
            ]
        return scalar(field)

    fields = [
        field
        for field in carried(cls, message, version)
        if field.tag is None or random.random() < 0.7
    ]
    return cls(**{field.name: value(field) for field in fields})
