"""Share groups (KIP-932) of a shard: passes requests to decisions, and decisions to events,
sessions and replies.

Owns the routing only: which group a request means, whether it is created or refused, and
carrying out a decision. The rules are in `core.groups.share`. Depends on the shard through
`Host` alone.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import GroupCreated
from coordinator.events.groups.consumer import TopicPartitions
from coordinator.events.groups.share import ShareGroupCreated, ShareTargetAssigned
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.leave_group import LeaveGroupRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.offset_delete import OffsetDeleteRequest
from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from coordinator.wire.messages.transactions import TxnOffsetCommitRequest
from coordinator.wire.schema import Request as RequestMessage
from coordinator.wire.schema import Response

from ..groups.append_errors import client_operation_error
from ..groups.consumer.heartbeat import Caller
from ..groups.consumer.requests import Refused
from ..groups.consumer.validation import JOINING
from ..groups.group import Group
from ..groups.refusals import refusal
from ..groups.requests import RequestContext
from ..groups.share import initializing, validation
from ..groups.share.environment import ShareEnvironment
from ..groups.share.heartbeat import decide_heartbeat, decide_leave, session_ended
from ..groups.share.model import Renewal, ShareMembership
from ..groups.share.renewal import renewal
from ..groups.share.requests import Decision, Deletion, StateRequest
from .consumer_groups import Host
from .journal import Effects
from .timers import TimerKind

_SESSION: Final = int(TimerKind.SHARE_SESSION)
_NEW_GROUP_EPOCH: Final = 1
_REFUSED: Final[dict[type, ErrorCode]] = {
    JoinGroupRequest: ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    OffsetCommitRequest: ErrorCode.GROUP_ID_NOT_FOUND,
    OffsetDeleteRequest: ErrorCode.GROUP_ID_NOT_FOUND,
    TxnOffsetCommitRequest: ErrorCode.GROUP_ID_NOT_FOUND,
}
"""Answers to requests of other protocols at a share group (SH-TYP-1); to others, that the member is
unknown."""


def heartbeat_error(error: ErrorCode, message: str | None = None) -> ShareGroupHeartbeatResponse:
    """Return a refused heartbeat; as in Kafka, UNKNOWN_SERVER_ERROR has no text (ERR-1)."""
    return ShareGroupHeartbeatResponse(
        error_code=error, error_message=None if error is ErrorCode.UNKNOWN_SERVER_ERROR else message
    )


def check(request: ShareGroupHeartbeatRequest) -> ShareGroupHeartbeatResponse | None:
    """Return the refusal of an invalid heartbeat (SH-HB-1), or None if it is valid."""
    try:
        validation.check(request)
    except Refused as refused:
        return heartbeat_error(refused.error, refused.message)
    return None


class ShareGroups:
    """The share groups of a shard."""

    def __init__(self, host: Host, environment: ShareEnvironment) -> None:
        self.host = host
        self.environment = environment

    def heartbeat(
        self, request: ShareGroupHeartbeatRequest, context: RequestContext, effects: Effects
    ) -> ShareGroupHeartbeatResponse:
        """Serve a heartbeat that passed `check`."""
        group = self.host.groups.get(request.group_id)
        try:
            if request.member_epoch < JOINING:
                group, membership = self._known(request.group_id)
                decision = decide_leave(membership, request, self.environment)
                reply = self._carry_out(group, decision, effects)
            else:
                reply = self._join_or_stay(group, request, context, effects)
        except Refused as refused:
            if refused.event is not None and group is not None and self.host.writable():
                self.host.fold(group, refused.event, effects)
            return heartbeat_error(refused.error, refused.message)
        assert isinstance(reply, ShareGroupHeartbeatResponse)
        return reply

    def renewal(
        self,
        membership: ShareMembership,
        request: ShareGroupHeartbeatRequest,
        client_id: str,
        client_host: str,
    ) -> Renewal | None:
        """Return the response to a heartbeat without news; None if `heartbeat` must serve it."""
        return renewal(membership, request, client_id, client_host, self.environment)

    def _known(self, group_id: str) -> tuple[Group, ShareMembership]:
        group = self.host.groups.get(group_id)
        if group is None:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if group.share is None:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        return group, group.share

    def _join_or_stay(
        self,
        group: Group | None,
        request: ShareGroupHeartbeatRequest,
        context: RequestContext,
        effects: Effects,
    ) -> Response | None:
        """Find the group, or create it for its first member; if the member is refused, nothing is
        created (SH-TYP-1).
        """
        group_id, now = request.group_id, effects.now
        if group is not None:
            _, membership = self._known(group_id)
        elif request.member_epoch != JOINING:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {group_id} not found.")
        else:
            membership = ShareMembership(group_id)
        caller = Caller(context.client_id, context.client_host)
        decision = decide_heartbeat(membership, request, caller, now, self.environment)
        before = None
        if group is None:
            group, before = self.create(group_id, "heartbeat", effects)
        return self._carry_out(group, decision, effects, before)

    def create(self, group_id: str, by: str, effects: Effects) -> tuple[Group, int | None]:
        """Create a share group without members; return it and its event's number. Raises Refused if
        nothing can be logged (ERR-1).
        """
        self._refuse_unwritable(True)
        group = Group(group_id, effects.now)
        self.host.add_group(group, effects)
        before = self.host.fold(group, GroupCreated(by), effects)
        return group, self.host.fold(group, ShareGroupCreated(), effects, before)

    def serve_other(self, message: RequestMessage, context: RequestContext) -> Response:
        """Return the response to a request of another protocol to a share group (SH-TYP-1)."""
        if isinstance(message, LeaveGroupRequest):
            from ..groups.classic.decide.leave import leave_without_group

            return leave_without_group(message, context)
        error = _REFUSED.get(type(message), ErrorCode.UNKNOWN_MEMBER_ID)
        return refusal(message, context, error)

    # -- what the share coordinator says

    def answered(self, asked: StateRequest, error: ErrorCode, effects: Effects) -> None:
        """Apply the share coordinator's answer to an initialization. Deletions need nothing."""
        group = self.host.groups.get(asked.group_id)
        if group is None or group.share is None or isinstance(asked, Deletion):
            return
        if not self.host.writable():
            return  # it is asked again when the group is heard of
        event = initializing.answered(
            group.share, asked.topics, initialized=not error, now=effects.now
        )
        if event is not None:
            self.host.fold(group, event, effects)

    def forget_topics(self, group: Group, names: Collection[str], effects: Effects) -> None:
        """Remove deleted topics and their share partitions from a group."""
        assert group.share is not None
        event = initializing.gone(group.share, names, self.environment.topics)
        if event is not None:
            self.host.fold(group, event, effects)

    # -- offsets that are set by hand

    def offsets_set(
        self, group_id: str, topics: Collection[TopicPartitions], effects: Effects
    ) -> None:
        """Record that start offsets of a group were set; create the group if it is missing
        (SH-OFF-3). Raises Refused if nothing can be logged.
        """
        self._refuse_unwritable(True)
        group = self.host.groups.get(group_id)
        before = None
        if group is None:
            group, before = self.create(group_id, "commit", effects)
            nobody = ShareTargetAssigned(_NEW_GROUP_EPOCH, None, ())
            before = self.host.fold(group, nobody, effects, before)
        assert group.share is not None
        event = initializing.added(group.share, topics, effects.now)
        self.host.fold(group, event, effects, before)

    def offsets_deleted(
        self, group_id: str, topic_ids: Collection[bytes], effects: Effects
    ) -> None:
        """Record that a group's state of these topics was deleted. Raises Refused if nothing can be
        logged.
        """
        self._refuse_unwritable(True)
        group = self.host.groups[group_id]
        assert group.share is not None
        event = initializing.forgotten(group.share, topic_ids)
        if event is not None:
            self.host.fold(group, event, effects)

    # -- time

    def session_ended(
        self, group: Group, member_id: str, effects: Effects, *, by_hand: bool = False
    ) -> None:
        """Remove a member whose session expired, or was ended by a test (SH-HB-4)."""
        assert group.share is not None
        decision = session_ended(group.share, member_id, self.environment, by_hand=by_hand)
        self._carry_out(group, decision, effects)

    def start_timers(self, group: Group, now: int) -> None:
        """Start every member's session anew after a load (ERR-7)."""
        assert group.share is not None
        timeout_ms = self.environment.settings(group.group_id).session_timeout_ms
        for member_id in group.share.members:
            self.host.timers.arm((_SESSION, group.group_id, member_id), now + timeout_ms)

    def ended(self, group: Group, deleted: bool, effects: Effects) -> None:
        """Clean up after a group that is no longer served here. `deleted`: for good, so the state
        of its share partitions is deleted too (SH-DEL-1).
        """
        assert group.share is not None
        if deleted and (topics := initializing.all_known(group.share)):
            effects.share_states.append(Deletion(group.group_id, topics))
        for member_id in group.share.members:
            self.host.timers.cancel((_SESSION, group.group_id, member_id))

    # -- carrying out

    def _refuse_unwritable(self, writes: bool) -> None:
        """Raise Refused if an event must be logged and cannot be (ERR-1)."""
        if writes and not self.host.writable():
            raise Refused(client_operation_error(ErrorCode.KAFKA_STORAGE_ERROR))

    def _carry_out(
        self, group: Group, decision: Decision, effects: Effects, before: int | None = None
    ) -> Response | None:
        self._refuse_unwritable(bool(decision.events))
        host, membership = self.host, group.share
        assert membership is not None, f"{group.group_id} is no share group"
        for event in decision.events:
            before = host.fold(group, event, effects, before)
        for member_id, deadline_ms in decision.sessions:
            key = (_SESSION, group.group_id, member_id)
            if deadline_ms is None:
                host.timers.cancel(key)
            else:
                host.timers.arm(key, deadline_ms)
        if decision.checked_version is not None:
            membership.checked_version = decision.checked_version
        if decision.initialize is not None:
            effects.share_states.append(decision.initialize)
        return decision.reply
