"""What happens to a group as a whole, whatever protocol its members speak: it comes to be, it ends,
its coordinator changes.

Values only. See `events` for the union of everything that can happen to a group.
"""

from __future__ import annotations

from typing import NamedTuple


class GroupCreated(NamedTuple):
    """A group came to be, Empty: by a JoinGroup without member id or by a commit without generation
    (JOIN-1, OC-1)."""

    by: str  # "join" or "commit"


class GroupDeleted(NamedTuple):
    """The group and its offsets are gone: by DeleteGroups, or Empty without offsets at a cleanup
    (DG-1, EXP-6)."""

    reason: str


class GroupUnloaded(NamedTuple):
    """The coordinator lost the group's partition: parked requests get NOT_COORDINATOR (ERR-6)."""

    error: int


class GroupLoaded(NamedTuple):
    """A coordinator took the group over and re-armed all its members' sessions (ERR-7)."""

    state: str
    generation: int
