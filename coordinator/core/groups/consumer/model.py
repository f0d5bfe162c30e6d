"""Model of a consumer group's membership. Only `evolve` writes it; the rules are in `heartbeat` and
its neighbours.

Members are immutable. Counts of subscriptions, votes and owners are kept beside them, so that no
request walks over all members. `resolved_version` is soft: the version of the topics with which the
regular expressions were last compared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import copy_capacity
from coordinator.events.groups.consumer import ClassicSettings, HeldPartitions

from .epoch_membership import EpochMembership
from .epoch_membership import Partitions as Partitions
from .java_order import name_order, timeline_order

if TYPE_CHECKING:
    from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
    from coordinator.wire.schema import KeptResponse

    from .environment import GroupSettings

Held = Mapping[bytes, Mapping[int, int]]
"""Topic id -> partition -> the epoch at which the member got it. In the order in which Java's maps
iterate."""

NOTHING: Final[Held] = {}
NO_PARTITIONS: Final[Mapping[int, int]] = {}
LEFT_FOR_NOW: Final = -2
"""The epoch of a static member that left for a while (K8-LV-2)."""


class MemberState(Enum):
    """State of a member on its way to its target assignment (K8-REC-1)."""

    STABLE = "stable"
    UNREVOKED = "unrevoked partitions"
    UNRELEASED = "unreleased partitions"

    __hash__ = object.__hash__


class Member(NamedTuple):
    """A member of a consumer group, as the coordinator knows it. `classic`: None for members of the
    consumer protocol.
    """

    member_id: str
    member_epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] = frozenset()
    regex: str = ""
    assignor: str | None = None
    held: Held = NOTHING
    revoking: Held = NOTHING
    classic: ClassicSettings | None = None
    told: tuple[HeldPartitions, ...] = ()
    """The partitions in the event that `held` was read from: equal texts are not read twice."""

    def is_reconciled_to(self, epoch: int) -> bool:
        """Return True if the member has its target of that assignment epoch (K8-REC-1)."""
        return self.state is MemberState.STABLE and self.member_epoch == epoch


class SubscriberCount(NamedTuple):
    """Number of members that subscribe to a topic by name, and of regular expressions that match
    it.
    """

    by_name: int
    by_regex: int


_NOBODY: Final = SubscriberCount(0, 0)


def add_names(
    subscribers: dict[str, SubscriberCount], names: Collection[str], by_name: int, by_regex: int
) -> None:
    """Add to the subscriber counts of these topics.

    A member may name a hundred thousand topics: equal counts share one value, and if all names
    have the same count they are changed at once.
    """
    found = set(map(subscribers.get, names)) if subscribers else {None}
    more = {
        old: SubscriberCount(old.by_name + by_name, old.by_regex + by_regex)
        for old in {count or _NOBODY for count in found}
    }
    if len(more) == 1:
        subscribers.update(dict.fromkeys(names, *more.values()))
    else:
        subscribers.update({name: more[subscribers.get(name, _NOBODY)] for name in names})


def remove_names(
    subscribers: dict[str, SubscriberCount], names: Collection[str], by_name: int, by_regex: int
) -> None:
    """Subtract from the subscriber counts of these topics; topics without subscribers are removed."""
    found = list(map(subscribers.pop, names))
    less = {
        old: SubscriberCount(old.by_name - by_name, old.by_regex - by_regex) for old in set(found)
    }
    if set(less.values()) != {_NOBODY}:
        subscribers.update(
            {
                name: left
                for name, old in zip(names, found, strict=True)
                if (left := less[old]) != _NOBODY
            }
        )


def replace_names(
    subscribers: dict[str, SubscriberCount], old: frozenset[str], new: frozenset[str]
) -> None:
    """Move a member's subscription from the topics `old` to `new`."""
    if old == new:
        return
    if not old.isdisjoint(new):
        old, new = old - new, new - old
    remove_names(subscribers, old, 1, 0)
    add_names(subscribers, new, 1, 0)


class GroupState(Enum):
    """State of a consumer group, spelled as in Kafka (K8-REC-7)."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"

    def __str__(self) -> str:
        return self.value


class Following(NamedTuple):
    """Cached partitions of a member for its next event, valid while all other fields are unchanged."""

    held: Held
    target: Partitions
    names: frozenset[str]
    topics_version: int
    told: tuple[HeldPartitions, ...]


class Renewal(NamedTuple):
    """Response to a member's last heartbeat without news, and all that it depends on. `kept` and
    `response` are the same response.
    """

    member: Member
    client_id: str
    client_host: str
    settings: GroupSettings
    response: ConsumerGroupHeartbeatResponse
    kept: KeptResponse


class ConsumerMembership(EpochMembership[Member]):
    """Members of a consumer group, their partitions, and their target assignment. Only `evolve`
    writes it.
    """

    __slots__ = (
        "assignor_votes",
        "classic_members",
        "classic_support",
        "followings",
        "owner_epochs",
        "regex_members",
        "regexes",
        "regexes_ms",
        "renewals",
        "resolved_version",
        "static_members",
        "subscribers",
    )
    SOFT = EpochMembership.SOFT | {"followings", "renewals", "resolved_version"}

    def __init__(self, group_id: str, *, loading: bool = False) -> None:
        super().__init__(group_id, loading=loading)
        self.static_members: dict[str, str] = {}
        self.owner_epochs: dict[bytes, dict[int, int]] = {}
        """Topic id -> partition -> epoch of the member that has it or has yet to revoke it
        (K8-REC-5)."""
        self.subscribers: dict[str, SubscriberCount] = {}
        self.regexes: dict[str, frozenset[str]] = {}
        """Resolved regular expressions and the topics they match."""
        self.regexes_ms: dict[str, int] = {}
        self.regex_members: dict[str, int] = {}
        self.assignor_votes: dict[str, int] = {}
        self.classic_members = 0
        self.classic_support: dict[str, int] = {}
        self.renewals: dict[str, Renewal] = {}
        """The last responses to members' heartbeats that change nothing (see `renewal`)."""
        self.followings: dict[str, Following] = {}
        """The account of members that only follow the group's epoch (see `following`)."""
        self.resolved_version: int | None = None

    @property
    def protocol_type(self) -> str:
        """The protocol type, as in the members' subscriptions."""
        return "consumer"

    @property
    def state(self) -> GroupState:
        """The state that ListGroups and ConsumerGroupDescribe show (K8-REC-7)."""
        if not self.members:
            return GroupState.EMPTY
        if self.group_epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return GroupState.STABLE
        return GroupState.RECONCILING

    def owner_epoch(self, topic_id: bytes, partition: int) -> int:
        """Return the epoch of a partition's owner; -1 if it is free (K8-REC-5)."""
        return self.owner_epochs.get(topic_id, {}).get(partition, -1)

    def preferred_assignor(self) -> str | None:
        """Return the assignor most members vote for, or None without a vote (K8-TGT-1)."""
        return _most(self.assignor_votes, timeline_order(self.assignor_votes))

    def preferred_assignor_if(self, old: Member | None, new: Member) -> str | None:
        """Return the preferred assignor as if `old` had become `new` (K8-TGT-1). A name with its
        first vote comes first in its bucket, as with HashMap.compute; that decides ties between
        `uniform` and `range`, which share a bucket.
        """
        votes = dict(self.assignor_votes)
        names = timeline_order(votes)
        if old is not None and old.assignor is not None:
            votes[old.assignor] -= 1
            if not votes[old.assignor]:
                names.remove(old.assignor)
        if new.assignor is not None:
            votes[new.assignor] = votes.get(new.assignor, 0) + 1
            if new.assignor not in names:
                names.insert(0, new.assignor)
        return _most(votes, name_order(names, copy_capacity(len(self.assignor_votes))))

    # -- what a group's offsets and its administration ask of its membership (see
    # groups.group.Membership)

    def refuse_offset_delete(self) -> ErrorCode:
        """Return NONE: offsets may be deleted at any time; subscribed topics are refused one by one
        (OD-2).
        """
        return ErrorCode.NONE

    def offsets_may_expire(self) -> bool:
        """Return True: offsets of topics without subscribers may expire (EXP-3)."""
        return True

    def is_subscribed_to(self, topic: str) -> bool:
        """Return True if a member's names or a resolved regular expression contain the topic
        (OD-2).
        """
        return topic in self.subscribers

    def snapshot(self) -> dict[str, object]:
        """Return the whole hard state as plain values: equal snapshots mean equal memberships."""
        values = super().snapshot()
        values["targets"] = {
            member_id: {t: frozenset(p) for t, p in target.items()}
            for member_id, target in self.targets.items()
        }
        values["owner_epochs"] = {
            topic: dict(owners) for topic, owners in self.owner_epochs.items()
        }
        return values

    def __repr__(self) -> str:
        return f"ConsumerMembership({self.group_id!r}, {self.state}, epoch {self.group_epoch}, {len(self.members)} members)"


def _most(votes: Mapping[str, int], order: list[str]) -> str | None:
    best = None
    for name in order:
        if votes[name] > 0 and (best is None or votes[name] > votes[best]):
            best = name
    return best
