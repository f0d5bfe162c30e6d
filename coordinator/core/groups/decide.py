"""Table of the functions that decide requests which name one group.

Requests about membership are decided by the group's membership, requests about offsets for the
group as a whole. `without_group` answers a request whose group does not exist, unless the
request creates its group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.leave_group import LeaveGroupRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.offset_delete import OffsetDeleteRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest
from coordinator.wire.messages.transactions import TxnOffsetCommitRequest
from coordinator.wire.schema import Request as RequestMessage
from coordinator.wire.schema import Response

from .classic.decide.heartbeat import decide_heartbeat
from .classic.decide.join import decide_join, refuse_join
from .classic.decide.leave import decide_leave, leave_without_group
from .classic.decide.sync import decide_sync, refuse_sync
from .classic.model import ClassicGroup
from .config import GroupConfig
from .group import Group
from .offsets.decide import (
    decide_commit,
    decide_offset_delete,
    decide_transactional_commit,
    refuse_commit_without_group,
    refuse_transactional_commit_without_group,
)
from .refusals import refusal
from .requests import Decision, RequestContext

Decide = Callable[[Any, Any, RequestContext, int, GroupConfig], Decision]

#: Requests about the membership of a group of the classic protocol.
_OF_MEMBERSHIP: dict[type, Decide] = {
    HeartbeatRequest: decide_heartbeat,
    JoinGroupRequest: decide_join,
    LeaveGroupRequest: decide_leave,
    SyncGroupRequest: decide_sync,
}
_OF_OFFSETS: dict[type, Decide] = {
    OffsetCommitRequest: decide_commit,
    OffsetDeleteRequest: decide_offset_delete,
    TxnOffsetCommitRequest: decide_transactional_commit,
}


def decide(
    group: Group, request: RequestMessage, context: RequestContext, now: int, config: GroupConfig
) -> Decision:
    """Decide a request to an existing, or just created, group."""
    kind = type(request)
    of_membership = _OF_MEMBERSHIP.get(kind)
    if of_membership is None:
        return _OF_OFFSETS[kind](group, request, context, now, config)
    membership = group.membership
    assert type(membership) is ClassicGroup, f"{group.group_id} is a consumer group"
    return of_membership(membership, request, context, now, config)


class Entry(NamedTuple):
    """Treatment of one kind of request before any group is looked up."""

    creates: str | None = None
    """The name of this kind of request in GroupCreated; None: it never creates a group (JOIN-1,
    OC-1, TXN-3).
    """
    refuse_creation: Callable[[Any, RequestContext], ErrorCode] = lambda request, context: (
        ErrorCode.NONE
    )
    """Returns the error if this request may not create its group."""
    without_group: Callable[[Any, RequestContext], Response] | None = None
    """The response where the group does not exist and the request does not create it; None:
    UNKNOWN_MEMBER_ID."""
    refuse: Callable[[Any, RequestContext, GroupConfig], ErrorCode] | None = None
    """The checks that need no group."""
    refuse_first: bool = False
    """Those checks stand even before the coordinator's availability (ENT-2)."""
    empty_group_id: bool = False
    """"" is a group id like any other here (ENT-6)."""


ENTRIES: dict[type, Entry] = {
    HeartbeatRequest: Entry(),
    JoinGroupRequest: Entry(
        creates="join",
        refuse_creation=lambda request, context: (
            ErrorCode.UNKNOWN_MEMBER_ID if request.member_id else ErrorCode.NONE
        ),
        refuse=refuse_join,
    ),
    SyncGroupRequest: Entry(refuse=refuse_sync, refuse_first=True),
    LeaveGroupRequest: Entry(without_group=leave_without_group),
    OffsetCommitRequest: Entry(
        creates="commit", refuse_creation=refuse_commit_without_group, empty_group_id=True
    ),
    TxnOffsetCommitRequest: Entry(
        creates="commit",
        refuse_creation=refuse_transactional_commit_without_group,
    ),
    OffsetDeleteRequest: Entry(
        without_group=lambda request, context: refusal(
            request, context, ErrorCode.GROUP_ID_NOT_FOUND
        ),
    ),
}


def without_group(request: RequestMessage, context: RequestContext) -> Response | None:
    """Return the response to a request whose group does not exist; None: the request creates it."""
    entry = ENTRIES[type(request)]
    if entry.creates is not None:
        error = entry.refuse_creation(request, context)
        return refusal(request, context, error) if error else None
    if entry.without_group is not None:
        return entry.without_group(request, context)
    return refusal(request, context, ErrorCode.UNKNOWN_MEMBER_ID)
