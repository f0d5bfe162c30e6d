"""The whole table of operations, and how one of them is done."""

from __future__ import annotations

from typing import Any

from . import (
    about_brokers,
    about_faults,
    about_groups,
    about_peers,
    about_requests,
    about_snapshots,
    about_the_log,
    about_the_whole,
    about_topics,
)
from .operation import TABLE, Operation
from .port import Port

__all__ = [
    "about_brokers",
    "about_faults",
    "about_groups",
    "about_peers",
    "about_requests",
    "about_snapshots",
    "about_the_log",
    "about_the_whole",
    "about_topics",
]


def all_operations() -> dict[str, Operation]:
    """The operations by name."""
    return TABLE


async def perform(entry: Operation, port: Port, body: Any, path: dict[str, str]) -> Any:
    """Do it; what it answers, as JSON values. Raises the kit's errors."""
    result = entry.call(port, body, **path)
    if hasattr(result, "__await__"):
        result = await result
    return result
