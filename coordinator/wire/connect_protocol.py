"""The embedded protocol of Kafka Connect's workers (protocol type `connect`): what they say of
themselves in a JoinGroup, and the connectors and tasks that their leader gives them.

Version 0 is eager. From version 1 on (KIP-415) an assignment also says what to give up, and how
long the leader delays lost work. Only reading: Connect's own workers write it.
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
    """A worker's account of itself."""

    url: str
    config_offset: int
    """How far it has read the topic with the connectors' configurations."""


@dataclass(frozen=True, slots=True)
class ConnectWork:
    """The work the leader gives one worker."""

    leader_url: str
    config_offset: int
    failed: bool
    """Workers know different configurations, so that nothing could be assigned."""
    assigned: Work
    revoked: Work = field(default_factory=dict)
    delay_ms: int = 0
    """How much longer lost work is kept for the worker that had it
    (scheduled.rebalance.max.delay.ms)."""


@lru_cache(_REMEMBERED)
def read_worker(data: bytes) -> Worker | None:
    """Return what a worker's metadata say; None if the bytes are none."""
    reader = Reader(data)
    try:
        reader.version()
        return Worker(reader.string(), reader.number(">q", 8))
    except WireError:
        return None


@lru_cache(_REMEMBERED)
def read_work(data: bytes) -> ConnectWork | None:
    """Return an assignment; None if the bytes are none. No bytes at all are an empty assignment."""
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
    """The connectors that a worker runs themselves."""
    return [name for name, numbers in work.items() if _CONNECTOR in numbers]


def tasks(work: Work) -> Work:
    """The tasks alone."""
    alone = {name: tuple(sorted(set(numbers) - {_CONNECTOR})) for name, numbers in work.items()}
    return {name: numbers for name, numbers in alone.items() if numbers}
