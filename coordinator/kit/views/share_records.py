"""Records of a share group as a test sees them: plain values, read from the brokers at one instant,
the same in Python, over HTTP and in `coordinator ctl`.

This module owns the values and their text. They hold nothing of the brokers: they may be kept,
compared, sent as JSON and rebuilt. `kit/shares/views.py` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

STATES: Final = ("Available", "Acquired", "Acknowledged", "Archiving", "Archived", "Unread")
"""The states of a record, as KIP-932 spells them. Archiving: its dead letter is being written.
Unread: the group has not reached it yet."""


class ShareRecord(NamedTuple):
    """One record as a share group reads it. `holder`: client id, else member id, of the member
    that holds it. `time_left_ms`: until its lock ends. Both are None if no member holds it."""

    topic: str
    partition: int
    offset: int
    state: str
    delivery_count: int
    holder: str | None = None
    time_left_ms: int | None = None

    def __str__(self) -> str:
        held = "" if self.holder is None else f", held by {self.holder} for {self.time_left_ms} ms"
        times = f"{self.delivery_count} time{'' if self.delivery_count == 1 else 's'}"
        return f"{self.topic}-{self.partition}@{self.offset}: {self.state}, delivered {times}{held}"


class ShareSnapshot(NamedTuple):
    """The number of a share group's records in each state, over all partitions that it reads.

    `most_deliveries`: highest delivery count of the records in flight. `lag`: records up to the
    end that are not yet acknowledged or archived. `starts`: start offset of each share
    partition, by "topic-partition".
    """

    group_id: str
    group_state: str
    members: int
    available: int = 0
    acquired: int = 0
    acknowledged: int = 0
    archived: int = 0
    most_deliveries: int = 0
    lag: int = 0
    starts: Mapping[str, int] = {}

    def __str__(self) -> str:
        times = "time" if self.most_deliveries == 1 else "times"
        return (
            f"share group {self.group_id!r} is {self.group_state} with {self.members} "
            f"member{'' if self.members == 1 else 's'}; records: {self.available} available, "
            f"{self.acquired} acquired, {self.acknowledged} acknowledged, {self.archived} archived, "
            f"delivered {self.most_deliveries} {times} at most, {self.lag} behind"
        )


def to_plain(seen: ShareRecord | ShareSnapshot) -> dict[str, Any]:
    """Return a value as JSON, with its text."""
    plain = seen._asdict()
    return plain | {"text": str(seen)}


def record_from_plain(plain: Mapping[str, Any]) -> ShareRecord:
    """Return the record for which `to_plain` returned these values."""
    return ShareRecord(**{name: plain[name] for name in ShareRecord._fields})


def snapshot_from_plain(plain: Mapping[str, Any]) -> ShareSnapshot:
    """Return the snapshot for which `to_plain` returned these values."""
    return ShareSnapshot(**{name: plain[name] for name in ShareSnapshot._fields})
