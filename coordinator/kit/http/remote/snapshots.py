"""A snapshot at the other end of a control port: the emulator keeps it, under a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.base.counting import how_many

from ...in_process_requests import ControlError
from .calls import Caller


class RemoteSnapshot:
    """A snapshot that `RemoteKit.snapshot()` returns. Only the emulator that took it can restore
    it."""

    def __init__(self, caller: Caller, row: Mapping[str, Any]) -> None:
        self._caller = caller
        self.number = int(row["snapshot"])
        self.topics = {str(topic["name"]): int(topic["partitions"]) for topic in row["topics"]}
        """The number of partitions of each topic."""
        self.records = int(row["records"])
        self.groups = list(row["groups"])
        self.transactional_ids = list(row["transactional_ids"])

    def forget(self) -> None:
        """Let the emulator drop the snapshot."""
        self._caller("snapshot_forget", snapshot=self.number)

    def __repr__(self) -> str:
        topics = (
            ", ".join(f"{name}:{partitions}" for name, partitions in self.topics.items())
            or "no topics"
        )
        return f"<Snapshot {self.number} of {topics}; {how_many(self.records, 'record')}; groups: {', '.join(self.groups) or 'none'}>"


def number_of(snapshot: object, caller: Caller) -> int:
    """Return the number under which the emulator of `caller` keeps a snapshot. Raises
    ControlError if it does not."""
    if not isinstance(snapshot, RemoteSnapshot):
        raise ControlError(
            f"{snapshot!r} is no snapshot of this emulator: give what its `snapshot()` answered"
        )
    if snapshot._caller is not caller:
        raise ControlError(
            f"{snapshot!r} was taken at another emulator: over HTTP it can be restored only there"
        )
    return snapshot.number
