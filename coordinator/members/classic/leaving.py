"""Leaving the group, and the end of a member: LeaveGroup, close, unsubscribe (CLI-14, CLI-25)."""

from __future__ import annotations

from coordinator.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.schema import Response

from .. import rebalancing
from ..closing import Closing, committed
from ..effects import Closed
from ..faults import MemberFault
from ..membership import Membership
from ..participant import InFlight
from ..states import UNJOINED

CLOSED = "the consumer closes"
UNSUBSCRIBED = "the consumer unsubscribes from everything"
_WAITED_FOR = (LeaveGroupRequest, OffsetCommitRequest)
"""The answer to a parked JoinGroup or SyncGroup of one who leaves may never come (SYNC-7)."""


def leave_group(m: Membership, reason: str, now: int, *, static_too: bool = False) -> bool:
    """Send a LeaveGroup if the coordinator knows the member (CLI-14), and reset all state; return
    whether it was sent.

    Static members do not leave, so that they can return, unless `static_too` (KIP-1092's
    LEAVE_GROUP).
    """
    is_dynamic = m.config.group_instance_id is None
    told = (
        (is_dynamic or static_too)
        and m.coordinator is not None
        and m.state is not UNJOINED
        and m.generation.member_id != ""
    )
    if told:
        who = MemberIdentity(
            member_id=m.generation.member_id,
            group_instance_id=m.config.group_instance_id,
            reason=reason,
        )
        m.send(
            LeaveGroupRequest(group_id=m.config.group_id, members=[who]), now, node=m.coordinator
        )
    m.reset_and_rejoin("the member left of its own will", keep_member_id=False)
    m.join = None
    m.election = None
    return told


def unsubscribe(m: Membership, now: int) -> None:
    """Revoke all partitions and leave. Raises ListenerFault after that."""
    try:
        rebalancing.leave_prepare(m)
    finally:
        leave_group(m, UNSUBSCRIBED, now)
        m.subscribed.ask_for((), None)
        m.joined_topics = None
        m.assignment_snapshot = None


def close(m: Membership, closing: Closing, now: int) -> None:
    """Continue to close as far as possible: commit (auto-commit only), callbacks, LeaveGroup, end."""
    if closing.ended:
        return
    if not closing.leaving:
        if now < closing.deadline and not committed(m, closing, now):
            return
        closing.leaving = True
        try:
            rebalancing.leave_prepare(m)
        except MemberFault as fault:
            closing.fault = fault
        leaves = m.config.leave_group_on_close if closing.leave is None else closing.leave
        if leaves:
            leave_group(m, CLOSED, now, static_too=closing.leave is True)
    if now >= closing.deadline or not any(
        isinstance(sent.message, _WAITED_FOR) for sent in m.in_flight.values()
    ):
        closing.ended = True
        m.in_flight.clear()
        m.state = UNJOINED
        m.effects.append(Closed(closing.fault))


def on_leave(m: Membership, sent: InFlight, response: Response | None, now: int) -> None:
    """Do nothing: the member is gone whatever the answer."""
