"""Checks of the arguments of verbs. A remote kit makes the same checks as the emulator does, so
both raise the same errors: each says what is wrong and what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from .in_process_requests import ControlError

MOST = 2**63 - 1
"""The highest offset and the latest timestamp that Kafka has."""
_ROW = (str, int, int)
_MOST_PARTITIONS = 2**31 - 1


class ArgumentError(ControlError):
    """An argument that is wrong in any state of the emulator."""


def text(name: str, value: object) -> None:
    """Raise ArgumentError unless the value is a text."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name}: {value!r}; a text is meant")


def whole(name: str, value: object) -> None:
    """Raise ArgumentError unless the value is a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentError(f"{name}: {value!r}; a whole number is meant")


def whole_or_none(name: str, value: object) -> None:
    """Raise ArgumentError unless the value is a whole number or None."""
    if value is not None:
        whole(name, value)


def counted(name: str, value: object, most: int = MOST) -> None:
    """Raise ArgumentError unless the value is a whole number from 0 to `most`."""
    whole(name, value)
    if not isinstance(value, int) or not 0 <= value <= most:
        raise ArgumentError(f"{name}: {value!r}; a whole number from 0 to {most} is meant")


def flag(name: str, value: object) -> None:
    """Raise ArgumentError unless the value is true or false."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{name}: {value!r}; true or false")


def seconds(name: str, value: object) -> None:
    """Raise ArgumentError unless the value is a duration in seconds."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < inf:
        raise ArgumentError(f"{name}: {value!r}; a number of seconds from 0 on is meant")


def jump(of_seconds: Any, hours: Any) -> Any:
    """Return seconds and hours together, in seconds. Raises ArgumentError for wrong hours;
    seconds are checked where they are used."""
    seconds("hours", hours)
    return of_seconds + hours * 3_600 if hours else of_seconds


def mapping(name: str, value: object, example: str) -> None:
    """Raise ArgumentError unless the value is a mapping; `example` shows one."""
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{name}: {value!r}; a mapping is meant, such as {example}")


def settings_of(config: Mapping[str, object] | None) -> Mapping[str, object]:
    """Return the settings of a peer, none for None. Raises ArgumentError for a value that is no
    mapping."""
    if config is not None:
        mapping("config", config, '{"session.timeout.ms": "10000"}')
    return config or {}


def group(group_id: object) -> None:
    """Raise ArgumentError for an invalid group id."""
    if not isinstance(group_id, str) or not group_id:
        raise ArgumentError(f"{group_id!r} is no group id: a text is")


def listed(name: str, value: Iterable[Any]) -> list[Any]:
    """Return the items of a list. Raises ArgumentError for a single text, whose letters cannot
    be meant, and for a value without items."""
    if isinstance(value, (str, bytes)):
        raise ArgumentError(f"{name} come as a list: [{value!r}]")
    if not isinstance(value, Iterable):
        raise ArgumentError(f"{name} come as a list, not as {value!r}")
    return list(value)


def new_topic(name: object, partitions: object, replication: object, config: object) -> None:
    """Raise ArgumentError for wrong arguments of `create_topic`. Values that Kafka itself
    refuses are left to it."""
    text("name", name)
    whole("partitions", partitions)
    whole("replication", replication)
    if config is not None:
        mapping("config", config, '{"retention.ms": 1000}')


def grown(partitions: object) -> None:
    """Raise ArgumentError for an invalid number of partitions."""
    whole("partitions", partitions)
    if isinstance(partitions, int) and partitions > _MOST_PARTITIONS:
        raise ArgumentError(
            f"partitions: {partitions}; at most {_MOST_PARTITIONS}, as Kafka counts them"
        )


def records(
    partition: object,
    headers: object,
    timestamp_ms: object,
    transactional_id: object,
    abort: object,
) -> None:
    """Raise ArgumentError for wrong arguments of `produce`."""
    whole_or_none("partition", partition)
    if timestamp_ms is not None:
        counted("timestamp_ms", timestamp_ms)
    if headers is not None:
        mapping("headers", headers, '{"name": b"value"}')
        for name in headers if isinstance(headers, Mapping) else ():
            text("name of a header", name)
    if transactional_id is not None and (
        not isinstance(transactional_id, str) or not transactional_id
    ):
        raise ArgumentError(
            f"transactional_id: {transactional_id!r}; a text of one letter or more is meant"
        )
    flag("abort", abort)
    if abort and transactional_id is None:
        raise ArgumentError("abort=True: of which transaction? Give transactional_id too")


def processed(rows: object) -> list[tuple[str, int, int]]:
    """Return processed records as (topic, partition, offset) of each. Raises ArgumentError for
    wrong ones."""
    meant = "(topic, partition, offset) of each record is meant"
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise ArgumentError(f"processed: {rows!r}; a list with {meant}")
    found = list(rows)
    for row in found:
        fits = (
            isinstance(row, (tuple, list))
            and len(row) == len(_ROW)
            and all(map(isinstance, row, _ROW))
        )
        if not fits:
            raise ArgumentError(f"processed: {row!r}; {meant}, such as ('orders', 0, 17)")
    return [(topic, partition, offset) for topic, partition, offset in found]
