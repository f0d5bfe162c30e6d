"""Group and Member: the state that the events of a group fold into. Only `evolve` writes it; every rule lives elsewhere.

A member's `awaiting_join` and `awaiting_sync` say that a request of its is parked; who is to be answered is soft state
and is kept by the coordinator, as are the session deadlines.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from ..java_hash import capacity_for, java_hash, spread
from .events import GenerationStored, GroupCreated, GroupEmptied
from .offset_table import Offsets
from .pending_offsets import PendingOffsets
from .states import DEAD, EMPTY, GroupState

Protocols = tuple[tuple[str, bytes], ...]


def metadata_of(protocols: Protocols, protocol_name: str | None) -> bytes:
    """The bytes offered for one protocol; those of the first if it is named twice (PROTO-5), empty if it is not named."""
    for name, data in protocols:
        if name == protocol_name:
            return data
    return b""


class Member:
    """One participant of a group as the coordinator knows it."""

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

    def metadata(self, protocol_name: str | None) -> bytes:
        """The bytes this member sent for one protocol; empty if it did not name it."""
        return metadata_of(self.protocols, protocol_name)

    def snapshot(self) -> tuple[object, ...]:
        """Everything an observer could tell this member by, for comparing groups."""
        return tuple(getattr(self, name) for name in self.__slots__ if name != "spread_hash")

    def __repr__(self) -> str:
        return f"Member({self.member_id!r})"


class Members(dict[str, Member]):
    """Members by id. Iterates in join order; `in_java_order` is the order a java.util.HashMap would show (HM-3, HM-6)."""

    __slots__ = ("_ordered", "_peak")

    def __init__(self) -> None:
        super().__init__()
        self._peak = 0
        self._ordered: list[Member] | None = None

    def add(self, member: Member) -> None:
        """Put a member whose id is not present."""
        self[member.member_id] = member
        self._ordered = None
        if len(self) > self._peak:
            self._peak = len(self)

    def remove(self, member_id: str) -> Member:
        """Take a member out and return it."""
        self._ordered = None
        return self.pop(member_id)

    def order_if_replaced(self, old_id: str, new_id: str) -> list[str]:
        """The ids in Java's order as they would be if `new_id` took the place of `old_id`."""
        mask = capacity_for(self._peak) - 1
        ids = [member_id for member_id in self if member_id != old_id] + [new_id]
        return sorted(ids, key=lambda member_id: spread(java_hash(member_id)) & mask)

    def in_java_order(self) -> list[Member]:
        """The members as Kafka iterates over them. Not to be changed by the caller."""
        if self._ordered is None:
            mask = capacity_for(self._peak) - 1
            for member in self.values():
                if member.spread_hash < 0:
                    member.spread_hash = spread(java_hash(member.member_id))
            self._ordered = sorted(self.values(), key=lambda m: m.spread_hash & mask)
        return self._ordered


class Group:
    """A classic group. `evolve` is its only writer."""

    __slots__ = (
        "awaiting_join",
        "delay_ms",
        "delay_remaining_ms",
        "generation",
        "group_id",
        "join_deadline",
        "leader",
        "members",
        "new_member_added",
        "offsets",
        "pending",
        "pending_offsets",
        "pending_sync",
        "previous_state",
        "protocol_name",
        "protocol_type",
        "record",
        "record_ms",
        "state",
        "state_since_ms",
        "static_members",
        "subscribed_topics",
        "support",
        "sync_deadline",
    )

    def __init__(self, group_id: str, now: int) -> None:
        self.group_id = group_id
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
        """How many members have a parked JoinGroup."""
        self.new_member_added = False
        self.join_deadline: int | None = None
        self.delay_ms: int | None = None
        """The length of the running initial delay; None: the join phase is not (or no longer) an initial one."""
        self.delay_remaining_ms = 0
        self.sync_deadline: int | None = None
        self.subscribed_topics: frozenset[str] | None = None
        self.offsets = Offsets()
        self.pending_offsets = PendingOffsets()
        self.record: GroupCreated | GenerationStored | GroupEmptied | None = None
        """The last durable event about membership: what a coordinator that loads the group will find (PST-1)."""
        self.record_ms = now
        """When `record` was written."""

    def all_joined(self) -> bool:
        """Every member has a parked JoinGroup and no id is pending (REB-2)."""
        return self.awaiting_join == len(self.members) and not self.pending

    def max_rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout among the members; at least 0, whatever they sent (REB-1)."""
        return max((0, *(m.rebalance_timeout_ms for m in self.members.values())))

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether the group counts as subscribed to a topic; unknown subscriptions count as all topics (EXP-3, OD-2)."""
        return self.subscribed_topics is None or topic in self.subscribed_topics

    def uses_consumer_protocol(self) -> bool:
        """True for groups of consumers, whose subscriptions the coordinator may read (EXP-8)."""
        return self.protocol_type == "consumer"

    def snapshot(self) -> dict[str, object]:
        """The group's whole hard state as plain values, shared with nobody: equal snapshots mean equal groups."""
        values: dict[str, object] = {name: copy(getattr(self, name)) for name in self.__slots__ if name != "members"}
        values["support"] = {name: n for name, n in self.support.items() if n}
        values["members"] = [m.snapshot() for m in self.members.in_java_order()]
        values["pending_sync"] = list(self.pending_sync)
        return values

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members.in_java_order())

    def __repr__(self) -> str:
        return f"Group({self.group_id!r}, {self.state}, generation {self.generation}, {len(self.members)} members)"
