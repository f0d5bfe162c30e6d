"""Model of a classic group's membership: `ClassicGroup` and `Member`. Only `evolve` writes it.

A member's `awaiting_join` and `awaiting_sync` say that its request is parked. Parked requests
and session deadlines themselves are soft state and belong to the shard. The rules are in
`decide` and `settle`; questions that offsets and administration have about a membership are
answered here, from the state alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from copy import copy

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import capacity_for, java_hash, spread
from coordinator.events.groups.classic import StoredMember

from .states import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE, GroupState

Protocols = tuple[tuple[str, bytes], ...]


def metadata_of(protocols: Protocols, protocol_name: str | None) -> bytes:
    """Return the metadata offered for one protocol; the first if it is named twice (PROTO-5), empty
    if it is not named.
    """
    for name, data in protocols:
        if name == protocol_name:
            return data
    return b""


class Member:
    """A member of a classic group, as the coordinator knows it."""

    __slots__ = (
        "assignment",
        "awaiting_join",
        "awaiting_sync",
        "client_host",
        "client_id",
        "group_instance_id",
        "is_new",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "spread_hash",
        "stored",
    )

    def __init__(
        self,
        member_id: str,
        group_instance_id: str | None,
        client_id: str,
        client_host: str,
        session_timeout_ms: int,
        rebalance_timeout_ms: int,
        protocols: Protocols,
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.protocols = protocols
        self.assignment = assignment
        self.is_new = False
        self.awaiting_join = False
        self.awaiting_sync = False
        self.spread_hash = -1
        self.stored: StoredMember | None = None
        """Its row of the last generation that was stored: what it is as long as the group is
        Stable. None: a load found it there."""

    def metadata(self, protocol_name: str | None) -> bytes:
        """Return the metadata that this member sent for one protocol; empty if it did not name it."""
        return metadata_of(self.protocols, protocol_name)

    def snapshot(self) -> tuple[object, ...]:
        """Return all observable values of the member, for comparing groups."""
        return tuple(
            getattr(self, name) for name in self.__slots__ if name not in ("spread_hash", "stored")
        )

    def __repr__(self) -> str:
        return f"Member({self.member_id!r})"


class Members(dict[str, Member]):
    """Members by id. Iterates in join order; `in_java_order` is the order of a java.util.HashMap
    (HM-3, HM-6).

    The Java order is computed when first needed. Members removed afterwards leave gaps in it, so
    that removing many members one by one stays linear.
    """

    __slots__ = ("_first", "_gaps", "_ordered", "_peak")

    def __init__(self) -> None:
        super().__init__()
        self._peak = 0
        self._ordered: list[Member] | None = None
        self._gaps = False
        self._first = 0
        """No present member stands in `_ordered` before this index."""

    def add(self, member: Member) -> None:
        """Add a member with a new id."""
        self[member.member_id] = member
        self._ordered = None
        if len(self) > self._peak:
            self._peak = len(self)

    def remove(self, member_id: str) -> Member:
        """Remove and return a member."""
        self._gaps = True
        return self.pop(member_id)

    def first_in_java_order(self, without: Member) -> Member | None:
        """Return the first of the other members in Java's order, or None."""
        return next((member for member in self.walk() if member is not without), None)

    def walk(self) -> Iterator[Member]:
        """Yield the members in Java's order, lazily. None may be added or removed meanwhile."""
        if self._ordered is None:
            self.in_java_order()
        ordered, at = self._ordered, self._first
        assert ordered is not None
        while at < len(ordered) and self.get(ordered[at].member_id) is not ordered[at]:
            at += 1
        self._first = at
        for index in range(at, len(ordered)):
            member = ordered[index]
            if self.get(member.member_id) is member:
                yield member

    def order_if_replaced(self, old_id: str, new_id: str) -> list[str]:
        """Return the ids in Java's order as if `new_id` had replaced `old_id`."""
        mask = capacity_for(self._peak) - 1
        others = [member for member in self.in_java_order() if member.member_id != old_id]
        ids = [member.member_id for member in others]
        ids.insert(
            bisect_right(
                others, spread(java_hash(new_id)) & mask, key=lambda m: m.spread_hash & mask
            ),
            new_id,
        )
        return ids

    def in_java_order(self) -> list[Member]:
        """Return the members in Kafka's order of iteration. The caller must not change the list."""
        if self._ordered is None:
            mask = capacity_for(self._peak) - 1
            for member in self.values():
                if member.spread_hash < 0:
                    member.spread_hash = spread(java_hash(member.member_id))
            self._ordered = sorted(self.values(), key=lambda m: m.spread_hash & mask)
        elif self._gaps:
            self._ordered = [
                member for member in self._ordered if self.get(member.member_id) is member
            ]
        else:
            return self._ordered
        self._gaps, self._first = False, 0
        return self._ordered


class ClassicGroup:
    """Membership of a classic group, and of a group with offsets only. Only `evolve` writes it."""

    __slots__ = (
        "awaiting_join",
        "delay_ms",
        "delay_remaining_ms",
        "generation",
        "group_id",
        "join_deadline",
        "leader",
        "loading",
        "members",
        "new_member_added",
        "pending",
        "pending_sync",
        "previous_state",
        "protocol_name",
        "protocol_type",
        "state",
        "state_since_ms",
        "static_members",
        "subscribed_topics",
        "support",
        "sync_deadline",
    )

    def __init__(self, group_id: str, now: int, *, loading: bool = False) -> None:
        self.group_id = group_id
        self.loading = loading
        """True while it is folded from durable events alone, and serves no requests yet (ERR-7)."""
        self.state: GroupState = EMPTY
        self.previous_state: GroupState = DEAD
        self.state_since_ms = now
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members = Members()
        self.static_members: dict[str, str] = {}
        self.pending: dict[str, int] = {}
        """Pending member id -> the instant it expires (KIP-394)."""
        self.pending_sync: dict[str, None] = {}
        """Ids that owe a SyncGroup, in order."""
        self.support: dict[str, int] = {}
        """Protocol name -> how often members offer it."""
        self.awaiting_join = 0
        """The number of members with a parked JoinGroup."""
        self.new_member_added = False
        self.join_deadline: int | None = None
        self.delay_ms: int | None = None
        """The length of the running initial delay; None: the join phase is not (or no longer) an
        initial one."""
        self.delay_remaining_ms = 0
        self.sync_deadline: int | None = None
        self.subscribed_topics: frozenset[str] | None = None

    def all_joined(self) -> bool:
        """Return True if every member has a parked JoinGroup and no member id is pending (REB-2)."""
        return self.awaiting_join == len(self.members) and not self.pending

    def max_rebalance_timeout_ms(self) -> int:
        """Return the longest rebalance timeout of the members; at least 0, whatever they sent
        (REB-1).
        """
        return max((0, *(m.rebalance_timeout_ms for m in self.members.values())))

    def uses_consumer_protocol(self) -> bool:
        """Return True for groups of consumers, whose subscriptions the coordinator may decode
        (EXP-8).
        """
        return self.protocol_type == "consumer"

    # -- what a group's offsets and its administration ask of its membership (see
    # groups.group.Membership)

    def is_dead(self) -> bool:
        """Return True if the group was unloaded or deleted while a caller still holds the object."""
        return self.state is DEAD

    def refuse_member(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """Return UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID if the request's member is not one of the
        group, else NONE (VAL-1, STA-6). A static member that leaves its instance id out is
        accepted by the member id alone.
        """
        if group_instance_id is not None:
            current = self.static_members.get(group_instance_id)
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if current != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def refuse_commit(
        self, member_id: str, group_instance_id: str | None, generation: int
    ) -> ErrorCode:
        """Return the error of an OffsetCommit, in the order of OC-2, or NONE. While the leader's
        assignment is awaited, all commits are refused.
        """
        if self.state is DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if generation < 0 and self.state is EMPTY:
            return ErrorCode.NONE
        if generation >= 0 or member_id or group_instance_id is not None:
            error = self._refuse_generation(member_id, group_instance_id, generation)
            if error:
                return error
        elif self.state is not EMPTY:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return (
            ErrorCode.REBALANCE_IN_PROGRESS
            if self.state is COMPLETING_REBALANCE
            else ErrorCode.NONE
        )

    def refuse_transactional_commit(
        self, member_id: str, group_instance_id: str | None, generation: int
    ) -> ErrorCode:
        """Like `refuse_commit` (OC-2), but commits without a member pass in any state, and all do
        during the sync phase (TXN-2).
        """
        if self.state is DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if generation < 0 and (
            self.state is EMPTY or (not member_id and group_instance_id is None)
        ):
            return ErrorCode.NONE
        return self._refuse_generation(member_id, group_instance_id, generation)

    def _refuse_generation(
        self, member_id: str, group_instance_id: str | None, generation: int
    ) -> ErrorCode:
        error = self.refuse_member(member_id, group_instance_id)
        return (
            ErrorCode.ILLEGAL_GENERATION if not error and generation != self.generation else error
        )

    def refuse_offset_delete(self) -> ErrorCode:
        """Return the error of an OffsetDelete, or NONE: the group must be Empty or of consumers,
        whose subscriptions are known (OD-1).
        """
        if self.state is DEAD:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return (
            ErrorCode.NONE
            if self.state is EMPTY or self.uses_consumer_protocol()
            else ErrorCode.NON_EMPTY_GROUP
        )

    def refuse_delete(self) -> ErrorCode:
        """Return the error of a DeleteGroups, or NONE: the group must be Empty; pending members do
        not count (DG-1, DG-3).
        """
        if self.state is DEAD:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.NONE if self.state is EMPTY else ErrorCode.NON_EMPTY_GROUP

    def is_subscribed_to(self, topic: str) -> bool:
        """Return True if members subscribe to a topic; unknown subscriptions count as all topics
        (EXP-3, OD-2).
        """
        return self.state is not EMPTY and (
            self.subscribed_topics is None or topic in self.subscribed_topics
        )

    def commit_proves_life(self) -> bool:
        """Return True if a member's commit renews its session now (OC-7)."""
        return self.state is STABLE or self.state is PREPARING_REBALANCE

    def offsets_may_expire(self) -> bool:
        """Return True if offsets may expire: in a group without members, or a Stable group of
        consumers (EXP-1, EXP-3).
        """
        return (
            self.protocol_type is None
            or self.state is EMPTY
            or (self.state is STABLE and self.uses_consumer_protocol())
        )

    def offsets_unused_since_ms(self) -> int | None:
        """Return the instant at which a group that had members became Empty; None: retention counts
        from each commit (EXP-1, EXP-2).
        """
        return (
            self.state_since_ms if self.protocol_type is not None and self.state is EMPTY else None
        )

    def snapshot(self) -> dict[str, object]:
        """Return the group's whole hard state as plain values, not shared: equal snapshots mean
        equal groups.
        """
        values: dict[str, object] = {
            name: copy(getattr(self, name)) for name in self.__slots__ if name != "members"
        }
        values["support"] = {name: n for name, n in self.support.items() if n}
        values["members"] = [m.snapshot() for m in self.members.in_java_order()]
        values["pending_sync"] = list(self.pending_sync)
        return values

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members.in_java_order())

    def __repr__(self) -> str:
        return f"ClassicGroup({self.group_id!r}, {self.state}, generation {self.generation}, {len(self.members)} members)"
