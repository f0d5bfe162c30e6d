"""Settings of the group coordinator, in Kafka's units (CFG-1). Plain values; the server fills them
from the broker's configuration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coordinator.base.errors import ErrorCode

from .consumer.environment import Environment
from .share.environment import ShareEnvironment


@dataclass(slots=True)
class GroupConfig:
    """Settings of the group coordinator, with Kafka 4.4.0's defaults. They may change at run time."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 2_147_483_647
    new_member_join_timeout_ms: int = 300_000
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_ms: int = 10_080 * 60_000
    offsets_retention_check_interval_ms: int = 600_000
    offsets_topic_partitions: int = 50
    consumer: Environment | None = None
    """The environment of consumer groups (KIP-848); None: they are not served."""
    share: ShareEnvironment | None = None
    """The environment of share groups (KIP-932); None: they are not served."""
    record_limit: Callable[[], int] = lambda: 1_048_588
    """Largest record batch that __consumer_offsets takes now, in bytes: assignments above it cannot
    be stored (ERR-2)."""
    clock_ms: int = 0
    """The milliseconds by which the wall clock of the broker's host has jumped: commits are dated
    by it, and offsets expire by it (EXP-1)."""
    append_error: ErrorCode = ErrorCode.NONE
    """The answer to writes to __consumer_offsets; anything but NONE lets every write fail with it
    (ERR-1, ERR-2)."""
