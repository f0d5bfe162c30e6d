"""Retries of share partitions whose state cannot be read yet, because no share coordinator serves
it or it is loading (SH-LD-4).

Owns the schedule, that of Kafka's persister. Meanwhile fetches get no records; after the last
attempt, waiting ones get the error. Does not know requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode

from .writes import next_attempt

if TYPE_CHECKING:
    from coordinator.core.share_partitions.model import SharePartitionKey
    from coordinator.core.share_states.model import ShareStateKey

    from ..cluster import Partition


class _Tried(NamedTuple):
    leader_epoch: int
    at: ShareStateKey | None
    attempts: int
    due_ms: int
    error: ErrorCode = ErrorCode.NONE


class Openings:
    """Share partitions of one broker whose state is being read."""

    def __init__(self) -> None:
        self._tried: dict[SharePartitionKey, _Tried] = {}

    def error(self, key: SharePartitionKey, leader_epoch: int) -> ErrorCode | None:
        """Return NONE while attempts continue, the error after the last, or None if there was no
        attempt.
        """
        one = self._tried.get(key)
        return None if one is None or one.leader_epoch != leader_epoch else one.error

    def failed(self, key: SharePartitionKey, at: ShareStateKey, found: Partition, now: int) -> bool:
        """Note a failed attempt; return whether there will be another."""
        before = self._tried.get(key)
        known = before is not None and before.leader_epoch == found.leader_epoch
        attempts = 1 + (before.attempts if before is not None and known else 0)
        due_ms = next_attempt(attempts, now)
        if due_ms is not None:
            self._tried[key] = _Tried(found.leader_epoch, at, attempts, due_ms)
        return due_ms is not None

    def forget(self, key: SharePartitionKey) -> None:
        """Stop the attempts."""
        self._tried.pop(key, None)

    @contextmanager
    def given_up(
        self, key: SharePartitionKey, leader_epoch: int, error: ErrorCode
    ) -> Iterator[None]:
        """Context in which `error` returns the final error, so that the fetches woken in it get it."""
        self._tried[key] = _Tried(leader_epoch, None, 0, 0, error)
        try:
            yield
        finally:
            self.forget(key)

    def next_deadline(self) -> int | None:
        """Return the instant of the next attempt, or None."""
        return min((one.due_ms for one in self._tried.values()), default=None)

    def due(self, now: int) -> list[tuple[SharePartitionKey, ShareStateKey, int]]:
        """Return the share partitions to be tried again now."""
        return [
            (key, one.at, one.leader_epoch)
            for key, one in self._tried.items()
            if one.due_ms <= now and one.at is not None
        ]
