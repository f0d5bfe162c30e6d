"""Records in flight of share groups (KIP-932), as far as a reader wants to know why one is
delivered again: names of members, and the line that released each record.

The number of records, and their stored states, are unknown here.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from coordinator.events.groups.share import ShareMemberSubscribed
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.share_partitions import (
    UNLOADED,
    RecordsAcknowledged,
    RecordsReleased,
    SharePartitionClosed,
)

_MOST_KEPT = 1_000
"""Number of released ranges that are remembered for a partition, the latest."""

Key = tuple[str, str, int]
LOCK_ENDED: Final = frozenset({"the lock ended", "a test ended the lock"})
"""Reasons of RecordsReleased for a lock that ended, by itself or by a test."""


class GivenBack(NamedTuple):
    """Released records, and the line that released them."""

    first: int
    last: int
    line: Line


class ShareRecords(Reader):
    """Names of members, and what came back of each share partition. `see` each accepted line of
    the streams `group` and `share`."""

    def __init__(self) -> None:
        self._clients: dict[str, dict[str, str]] = {}
        self._back: dict[Key, deque[GivenBack]] = {}

    @on(ShareMemberSubscribed)
    def _subscribed(self, line: Line, event: ShareMemberSubscribed) -> None:
        self._clients.setdefault(line.group or "", {})[event.member_id] = event.client_id

    @on(RecordsReleased, RecordsAcknowledged)
    def _came_back(self, line: Line, event: RecordsReleased | RecordsAcknowledged) -> None:
        back = self._back.setdefault(key_of(line), deque(maxlen=_MOST_KEPT))
        back.extend(
            GivenBack(of.first_offset, of.last_offset, line)
            for of in event.records
            if of.state == "Available"
        )

    @on(SharePartitionClosed)
    def _closed(self, line: Line, event: SharePartitionClosed) -> None:
        if event.reason != UNLOADED:  # else its leader goes on with what is stored
            self._back.pop(key_of(line), None)

    def name(self, group: str, member: str) -> str:
        """Return a member's client id, or its member id if that is unknown."""
        return self._clients.get(group, {}).get(member) or member

    def given_back_by(self, line: Line, offset: int) -> Line | None:
        """Return the line that released a record last before this one, or None."""
        for of in reversed(self._back.get(key_of(line), ())):
            if of.first <= offset <= of.last:
                return of.line
        return None


def key_of(line: Line) -> Key:
    """Return the share partition of a line."""
    return line.group or "", line.topic or "", line.partition or 0
