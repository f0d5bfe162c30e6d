"""The embedded protocol of Kafka Connect's workers (protocol type `connect`): a worker's metadata
in JoinGroup, and the connectors and tasks that the leader assigns.

Version 0 is eager. From version 1 on (KIP-415) an assignment also has the work to revoke, and
how long the leader delays reassigning lost work. Only reading: Connect's own workers write it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from .consumer_protocol import Reader
from .primitives import WireError

PROTOCOL_TYPE: Final = "connect"
_INCREMENTAL: Final = 1
_CONNECTOR: Final = -1
"""The task number that stands for the connector itself."""
_REMEMBERED: Final = 1 << 10
Work = dict[str, tuple[int, ...]]
"""Task numbers by connector; -1 is the connector itself, which runs beside its tasks."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker's metadata in JoinGroup."""

    url: str
    config_offset: int
    """The offset up to which it has read the topic with the connectors' configurations."""


@dataclass(frozen=True, slots=True)
class ConnectWork:
    """The connectors and tasks that the leader assigns to one worker."""

    leader_url: str
    config_offset: int
    failed: bool
    """True if workers have read different configurations, so that nothing could be assigned."""
    assigned: Work
    revoked: Work = field(default_factory=dict)
    delay_ms: int = 0
    """The time for which lost work is kept for the worker that had it
    (scheduled.rebalance.max.delay.ms)."""


@lru_cache(_REMEMBERED)
def read_worker(data: bytes) -> Worker | None:
    """Read a worker's metadata; None if the bytes are something else."""
    reader = Reader(data)
    try:
        reader.version()
        return Worker(reader.string(), reader.number(">q", 8))
    except WireError:
        return None


@lru_cache(_REMEMBERED)
def read_work(data: bytes) -> ConnectWork | None:
    """Read an assignment; None if the bytes are something else. No bytes at all are an empty
    assignment.
    """
    if not data:
        return ConnectWork("", -1, False, {})
    reader = Reader(data)
    try:
        version = reader.version()
        failed = reader.int16() != 0
        reader.nullable_string()
        url, offset = reader.nullable_string() or "", reader.number(">q", 8)
        assigned = _connectors(reader)
        if version < _INCREMENTAL:
            return ConnectWork(url, offset, failed, assigned)
        revoked = _connectors(reader)
        return ConnectWork(url, offset, failed, assigned, revoked, reader.int32())
    except WireError:
        return None


def _connectors(reader: Reader) -> Work:
    start = reader.pos
    if reader.int32() < 0:
        return {}
    reader.pos = start
    return {reader.string(): reader.int32s() for _ in range(reader.count())}


def connectors(work: Work) -> list[str]:
    """Return the connectors that are to run on the worker."""
    return [name for name, numbers in work.items() if _CONNECTOR in numbers]


def tasks(work: Work) -> Work:
    """Return the tasks of an assignment, without its connectors."""
    alone = {name: tuple(sorted(set(numbers) - {_CONNECTOR})) for name, numbers in work.items()}
    return {name: numbers for name, numbers in alone.items() if numbers}
