"""What each process of a group did over time: one `Process` for each client that logs its own
callbacks, else for each member id.

Does not read the log: `fold` calls it.
"""

from __future__ import annotations

from typing import Final

from .tracks import Track

Key = tuple[str, int]
"""A partition: topic and number."""

SILENT: Final = "silent"
"""Activity of a member between its last sign of life and its expiry: it may have done nothing."""
GONE: Final = "gone"
"""Activity of a member whose connection has closed, or of a static one that left for now."""


class Process:
    """One process, or one member id. `index`: its place in the group. `tells`: it logs its own
    callbacks, so nothing is inferred."""

    def __init__(self, index: int, name: str, at_ms: int, client: str = "") -> None:
        self.index = index
        self.name = name
        self.client = client or name
        self.member_id: str | None = None
        self.tells = False
        self.running = True
        self.frozen = False
        self.stalled = False
        self.closed_ms: int | None = None
        """The instant when its connection closed, if it has not sent anything since and does not
        log its own callbacks; else None."""
        self.left_for_now = False
        """It is a static member of the consumer protocol that left and may come back."""
        self.stopped = False
        """It gave up its partitions for a rebalance and has none yet."""
        self.in_group = False
        self.held: frozenset[Key] = frozenset()
        self.shared: frozenset[Key] = frozenset()
        """The partitions that were assigned to it as a member of a share group."""
        self.in_hand = False
        """It is a member of a share group and holds records."""
        self.activity: Track[str] = Track()
        self.belief: Track[int] = Track()
        """The number of partitions that it believes to own although it is no member any more."""
        self.membership: Track[bool] = Track()
        """It is a member of the group."""
        self.refresh(at_ms)

    def refresh(self, at_ms: int) -> None:
        """Note what it does now, because something changed."""
        self.activity.set(self._doing(), at_ms)
        self.membership.set(self.in_group or None, at_ms)
        self.belief.set(
            len(self.held) if self.running and self.held and not self.in_group else None, at_ms
        )

    def _doing(self) -> str | None:
        if not self.running:
            return None
        if self.closed_ms is not None or self.left_for_now:
            return GONE
        if self.frozen:
            return "frozen"
        if self.stalled:
            return "stalled"
        if self.held or self.in_hand:
            return "consuming"
        return "stopped" if self.stopped else "idle"

    @property
    def partitions(self) -> frozenset[Key]:
        """Return the partitions that it should work on."""
        return self.held | self.shared if self.shared else self.held

    @property
    def still(self) -> bool:
        """Return True if it works on none of its partitions."""
        return self.running and (
            self.frozen or self.stalled or self.left_for_now or self.closed_ms is not None
        )

    def speaks_again(self) -> None:
        """Note that a process sends again after its connection had closed: it was alive all the
        time."""
        since_ms, self.closed_ms = self.closed_ms, None
        now = self._doing()
        if since_ms is not None and now is not None:
            self.activity.revise(since_ms, lambda does: now if does == GONE else does)

    def was_silent(self, since_ms: int) -> None:
        """Note that a member has expired: its activity since its last sign of life is unknown."""
        self.activity.revise(since_ms, lambda does: SILENT if does == "consuming" else does)
