"""The whole table of operations, and how one of them is done."""

from __future__ import annotations

from typing import Any

from .about import brokers as about_brokers
from .about import faults as about_faults
from .about import groups as about_groups
from .about import peers as about_peers
from .about import requests as about_requests
from .about import security as about_security
from .about import share_peers as about_share_peers
from .about import shares as about_shares
from .about import snapshots as about_snapshots
from .about import the_log as about_the_log
from .about import the_whole as about_the_whole
from .about import topics as about_topics
from .operation import TABLE, Operation
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
    """The operations by name."""
    return TABLE


async def perform(entry: Operation, port: Port, body: Any, path: dict[str, str]) -> Any:
    """Do it; what it answers, as JSON values. Raises the kit's errors."""
    result = entry.call(port, body, **path)
    if hasattr(result, "__await__"):
        result = await result
    return result
