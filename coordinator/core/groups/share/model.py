"""Model of a share group's membership. Only `evolve` writes it; the rules are in `heartbeat` and
its neighbours.

Members are immutable. Counts of subscriptions are kept beside them, so that no request walks
over all members.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from coordinator.base.errors import ErrorCode

from ..consumer.epoch_membership import EpochMembership
from ..consumer.epoch_membership import Partitions as Partitions

if TYPE_CHECKING:
    from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatResponse
    from coordinator.wire.schema import KeptResponse

    from ..consumer.environment import GroupSettings

NOTHING: Final[Partitions] = {}


class Member(NamedTuple):
    """A member of a share group, as the coordinator knows it."""

    member_id: str
    member_epoch: int = 0
    previous_epoch: int = -1
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    held: Partitions = NOTHING


class StatePartitions(NamedTuple):
    """Partitions of one topic for which the share coordinator keeps state, or was asked to."""

    topic: str
    partitions: frozenset[int]
    since_ms: int


class GroupState(Enum):
    """State of a share group, spelled as in Kafka (SH-HB-3)."""

    EMPTY = "Empty"
    STABLE = "Stable"
    DEAD = "Dead"

    def __str__(self) -> str:
        return self.value


class Renewal(NamedTuple):
    """Response to a member's last heartbeat without news, and all that it depends on. `kept` and
    `response` are the same response.
    """

    member: Member
    client_id: str
    client_host: str
    settings: GroupSettings
    response: ShareGroupHeartbeatResponse
    kept: KeptResponse


def recount(counts: dict[str, int], old: frozenset[str], new: frozenset[str]) -> None:
    """Update how many members name each topic, after one member's topics changed. There may be
    hundreds of thousands of names, so most are counted by set operations.
    """
    gone = old - new if old else old
    for name in {name for name in gone if counts[name] == 1}:
        del counts[name]
    counts.update({name: counts[name] - 1 for name in gone if name in counts})
    added = new - old if old else new
    known = added.intersection(counts) if counts else ()
    more = {name: counts[name] + 1 for name in known}
    counts.update(dict.fromkeys(added, 1))
    counts.update(more)


class ShareMembership(EpochMembership[Member]):
    """Members of a share group, their partitions, their target assignment, and the partitions with
    state. Only `evolve` writes it.
    """

    __slots__ = (
        "deleting",
        "initialized",
        "initializing",
        "renewals",
        "subscribers",
    )
    SOFT = EpochMembership.SOFT | {"renewals"}

    def __init__(self, group_id: str, *, loading: bool = False) -> None:
        super().__init__(group_id, loading=loading)
        self.subscribers: dict[str, int] = {}
        """The number of members that subscribe to each topic."""
        self.initializing: dict[bytes, StatePartitions] = {}
        self.initialized: dict[bytes, StatePartitions] = {}
        self.deleting: dict[bytes, str] = {}
        """Names of the topics whose state is being deleted, by id."""
        self.renewals: dict[str, Renewal] = {}
        """The last responses to members' heartbeats that change nothing (see `renewal`)."""

    @property
    def protocol_type(self) -> str:
        """The protocol type that ListGroups shows (SH-LST-1)."""
        return "share"

    @property
    def state(self) -> GroupState:
        """The state that ListGroups and ShareGroupDescribe show: members never wait for each other
        (SH-HB-3).
        """
        return GroupState.STABLE if self.members else GroupState.EMPTY

    # -- what a group's offsets and its administration ask of its membership (see
    # groups.group.Membership)

    def refuse_offset_delete(self) -> ErrorCode:
        """Return GROUP_ID_NOT_FOUND: a share group has no committed offsets (SH-TYP-1)."""
        return ErrorCode.GROUP_ID_NOT_FOUND

    def offsets_may_expire(self) -> bool:
        """Return False: a share group has no committed offsets."""
        return False

    def is_subscribed_to(self, topic: str) -> bool:
        """Return True if a member names the topic."""
        return topic in self.subscribers

    def __repr__(self) -> str:
        return f"ShareMembership({self.group_id!r}, {self.state}, epoch {self.group_epoch}, {len(self.members)} members)"
