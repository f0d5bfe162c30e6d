"""The whole table of operations, loaded from `operations/`, and the call of one of them."""

from __future__ import annotations

from typing import Any

from .operation import TABLE, Operation
from .operations import brokers as about_brokers
from .operations import emulator as about_the_whole
from .operations import event_log as about_the_log
from .operations import faults as about_faults
from .operations import groups as about_groups
from .operations import peers as about_peers
from .operations import requests as about_requests
from .operations import security as about_security
from .operations import share_peers as about_share_peers
from .operations import shares as about_shares
from .operations import snapshots as about_snapshots
from .operations import topics as about_topics
from .port import Port

__all__ = [
    "about_brokers",
    "about_faults",
    "about_groups",
    "about_peers",
    "about_requests",
    "about_security",
    "about_share_peers",
    "about_shares",
    "about_snapshots",
    "about_the_log",
    "about_the_whole",
    "about_topics",
]


def all_operations() -> dict[str, Operation]:
    """Return all operations by name."""
    return TABLE


async def perform(entry: Operation, port: Port, body: Any, path: dict[str, str]) -> Any:
    """Call an operation; await it if it is a coroutine. Return its answer as JSON values. Raises
    the kit's errors."""
    result = entry.call(port, body, **path)
    if hasattr(result, "__await__"):
        result = await result
    return result
