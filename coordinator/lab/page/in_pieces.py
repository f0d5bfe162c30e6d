"""Writes large values as JSON piece by piece: a long value is made while it is written, and need
not be in memory as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

_AT_ONCE: Final = 4096


class Rows:
    """A long array whose values are made when they are asked for, once. Either all are objects
    or none is."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = values


def whole(value: Any) -> Any:
    """Return the value with all rows made."""
    if isinstance(value, Rows):
        return [whole(each) for each in value.values]
    if isinstance(value, dict):
        return {key: whole(each) for key, each in value.items()}
    return value


def text(value: Any) -> Iterator[str]:
    """Yield the value as JSON. Rows may stand in objects, or in rows of objects."""
    if isinstance(value, Rows):
        yield from _rows(iter(value.values))
    elif isinstance(value, Mapping):
        yield from _object(value)
    else:
        yield _dumps(value)


def _object(value: Mapping[str, Any]) -> Iterator[str]:
    between = "{"
    for key, each in value.items():
        yield f"{between}{_dumps(key)}:"
        yield from text(each)
        between = ","
    yield "{}" if between == "{" else "}"


def _rows(values: Iterator[Any]) -> Iterator[str]:
    between = "["
    for value in values:
        yield between
        if isinstance(value, Mapping):
            yield from _object(value)
        else:
            yield _dumps([value, *islice(values, _AT_ONCE)])[1:-1]
        between = ","
    yield "[]" if between == "[" else "]"


_dumps: Final = json.JSONEncoder(separators=(",", ":")).encode
