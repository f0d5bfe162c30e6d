"""An operator's actions on groups: end a session, start a rebalance, prolong sessions while the
clock jumps. Called between two requests.

Nothing here is a rule of its own: the coordinator does what it always does when a session ends
or a rebalance begins, and its log says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.shards import by_hand
from coordinator.core.shards.journal import Effects
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)

from .faults import Fail, Fault, Selector
from .in_process_requests import ControlError, ask_later

if TYPE_CHECKING:
    from coordinator.core.shards.shard import Shard
    from coordinator.server.broker import Broker

    from .views.group_snapshots import GroupSnapshot, MemberSnapshot


def shard_of(broker: Broker, group_id: str) -> Shard:
    """Return the shard of a group. Raises ControlError if this broker does not coordinate the
    group."""
    shard = broker.coordinator.shard_of(group_id)
    if shard is None:
        known = ", ".join(sorted(broker.coordinator.groups)) or "none"
        raise ControlError(f"there is no group {group_id!r}; there are: {known}")
    return shard


TYPES: Final = {
    "consumer": "of the consumer protocol (KIP-848)",
    "share": "a share group (KIP-932)",
}
"""Names of the group types other than the classic one."""


def expire(broker: Broker, group_id: str, member_id: str, now: int) -> None:
    """End a member's session now. Raises ControlError for a member that waits in JoinGroup or
    SyncGroup, which keeps it alive."""
    effects = Effects(now)
    if not by_hand.expire(shard_of(broker, group_id), group_id, member_id, effects):
        raise ControlError(
            f"{member_id} waits for the answer to a JoinGroup or SyncGroup, which keeps its session alive: remove it instead"
        )
    broker.groups.send_replies(effects.outcome(), now)


def start_rebalance(broker: Broker, group_id: str, reason: str, now: int) -> None:
    """Start a rebalance of a group. Raises ControlError if it has no members, or is rebalancing
    already."""
    effects = Effects(now)
    shard = shard_of(broker, group_id)
    if not by_hand.begin_rebalance(shard, group_id, reason, effects):
        group = shard.groups[group_id]
        if not isinstance(group.membership, ClassicGroup):
            raise ControlError(
                f"group {group_id!r} is {TYPES[group.type]}, whose members never rebalance together: "
                "a second member (peer) or a topic that grows (grow_topic) moves partitions"
            )
        raise ControlError(
            f"group {group_id!r} is {group.state}: only one with members that is not rebalancing can begin to"
        )
    broker.groups.send_replies(effects.outcome(), now)


def fence(broker: Broker, group_id: str, member: MemberSnapshot, now: int) -> None:
    """Join with a static member's instance id and a new member id (STA-2). Raises ControlError
    for a dynamic member."""
    if member.instance_id is None:
        raise ControlError(
            f"{member.name} is a dynamic member: only one with a group.instance.id can be fenced; remove or expire it"
        )
    found = shard_of(broker, group_id).groups[group_id]
    group = found.membership
    if not isinstance(group, ClassicGroup):
        raise ControlError(
            f"group {group_id!r} is {TYPES[found.type]}: expire {member.name} instead"
        )
    known = group.members[member.member_id]
    request = JoinGroupRequest(
        group_id=group_id,
        group_instance_id=member.instance_id,
        session_timeout_ms=known.session_timeout_ms,
        rebalance_timeout_ms=known.rebalance_timeout_ms,
        protocol_type=group.protocol_type or "consumer",
        protocols=[
            JoinGroupRequestProtocol(name=name, metadata=data) for name, data in known.protocols
        ],
        reason="a test fences the member",
    )
    ask_later(broker, request, JoinGroupResponse, now, lambda answer: None)


def loss(group: GroupSnapshot, member: MemberSnapshot) -> Fault:
    """Return the fault by which a member learns that it lost its partitions. Raises ControlError
    for a member without partitions."""
    if not member.assignment:
        raise ControlError(
            f"{member.name} has no partitions to lose: wait until it has some (assigned=...)"
        )
    api, error = {
        "classic": ("Heartbeat", ErrorCode.ILLEGAL_GENERATION),
        "consumer": ("ConsumerGroupHeartbeat", ErrorCode.FENCED_MEMBER_EPOCH),
        "share": ("ShareGroupHeartbeat", ErrorCode.FENCED_MEMBER_EPOCH),
    }[group.type]
    return Fault(
        Selector(api=api, group=group.group_id, member=member.member_id), Fail(error), times=1
    )
