"""Model of the stored state of a share partition. Only `evolve` writes it."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from coordinator.events.share_states import StateBatch

NO_OFFSET = -1
NO_COUNT = -1


class ShareStateKey(NamedTuple):
    """Identity of a share partition whose state is stored. A topic created again under the same
    name has another id.
    """

    group_id: str
    topic_id: bytes
    partition: int

    @property
    def for_coordinator(self) -> str:
        """The key for FindCoordinator: group, topic id and partition (SH-FC-1)."""
        topic_id = urlsafe_b64encode(self.topic_id).decode().rstrip("=")
        return f"{self.group_id}:{topic_id}:{self.partition}"


class ShareState:
    """Stored state of one share partition. `updates`: the number that counts towards the next
    snapshot.
    """

    __slots__ = (
        "batches",
        "complete_count",
        "create_ms",
        "fencing_epoch",
        "leader_epoch",
        "snapshot_epoch",
        "start_offset",
        "state_epoch",
        "updates",
        "write_ms",
    )

    def __init__(self) -> None:
        self.snapshot_epoch = 0
        self.state_epoch = 0
        self.leader_epoch = 0
        self.fencing_epoch = 0
        """The highest leader epoch there ever was: leaders of older ones are refused."""
        self.start_offset = NO_OFFSET
        """The start offset of the share partition; NO_OFFSET until its leader has written it."""
        self.complete_count = NO_COUNT
        """Offsets from the start on whose delivery is complete (KIP-1226)."""
        self.create_ms = 0
        self.write_ms = 0
        self.batches: tuple[StateBatch, ...] = ()
        self.updates = 0

    def snapshot(self) -> tuple[object, ...]:
        """Return the whole state: equal snapshots mean equal states."""
        return tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        return f"ShareState(start {self.start_offset}, state epoch {self.state_epoch}, {len(self.batches)} batches)"
