"""Checks of what verbs are given, the same here and at the other end of a control port: what is wrong, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .own_requests import ControlError


def text(name: str, value: object) -> None:
    """Raise ControlError for what is no text."""
    if not isinstance(value, str):
        raise ControlError(f"{name}: {value!r}; a text is meant")


def whole(name: str, value: object) -> None:
    """Raise ControlError for what is no whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ControlError(f"{name}: {value!r}; a whole number is meant")


def seconds(name: str, value: object) -> None:
    """Raise ControlError for what is no duration in seconds."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
        raise ControlError(f"{name}: {value!r}; a number of seconds from 0 on is meant")


def mapping(name: str, value: object, example: str) -> None:
    """Raise ControlError for what is no mapping; `example` shows one."""
    if not isinstance(value, Mapping):
        raise ControlError(f"{name}: {value!r}; a mapping is meant, such as {example}")


def listed(name: str, value: Iterable[Any]) -> list[Any]:
    """The items of a list. Raises ControlError for one text, which is not meant letter by letter, and for what has no items."""
    if isinstance(value, (str, bytes)):
        raise ControlError(f"{name} come as a list: [{value!r}]")
    if not isinstance(value, Iterable):
        raise ControlError(f"{name} come as a list, not as {value!r}")
    return list(value)


def new_topic(name: object, partitions: object, replication: object, config: object) -> None:
    """Raise ControlError for what `create_topic` cannot be given. What Kafka itself refuses is left to it."""
    text("name", name)
    whole("partitions", partitions)
    whole("replication", replication)
    if config is not None:
        mapping("config", config, '{"retention.ms": 1000}')


def records(partition: object, headers: object, timestamp_ms: object) -> None:
    """Raise ControlError for what `produce` cannot be given."""
    if partition is not None:
        whole("partition", partition)
    if timestamp_ms is not None:
        whole("timestamp_ms", timestamp_ms)
    if headers is not None:
        mapping("headers", headers, '{"name": b"value"}')
