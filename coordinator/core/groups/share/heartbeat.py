"""Decisions about the ShareGroupHeartbeat of a member that joins, stays or leaves, and about
expired sessions (SH-HB-1..4, SH-EP-1, SH-CFG-1).

The steps are in Kafka's order; each sees the group as before the request, and the member as the
steps before left it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import share as ev
from coordinator.events.groups.consumer import Removal
from coordinator.wire.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)

from ..consumer.environment import Topics
from ..consumer.heartbeat import Caller
from ..consumer.requests import Refused
from ..consumer.subscription import metadata_hash
from ..consumer.target import told
from ..consumer.validation import JOINING
from . import initializing
from .environment import ShareEnvironment
from .model import Member, Partitions, ShareMembership, recount
from .requests import Decision
from .target import update_target


def decide_heartbeat(
    group: ShareMembership,
    request: ShareGroupHeartbeatRequest,
    caller: Caller,
    now: int,
    environment: ShareEnvironment,
) -> Decision:
    """Decide a heartbeat. Raises Refused; the group is then unchanged."""
    _refuse_if_full(group, request.member_id, environment)
    old = _member(group, request)
    new = _updated(old, request, caller)
    events: list[ev.ShareEvent] = []
    if new != old or old.member_id not in group.members:
        events.append(_subscribed(new))
    renamed = new.topics != old.topics
    progress = _bump(group, old, new, renamed, environment)
    if progress.event is not None:
        events.append(progress.event)
    outcome = update_target(
        group, progress.group_epoch, new, progress.subscribers, now, environment
    )
    if outcome.event is not None:
        events.append(outcome.event)
    moved = _reconciled(new, outcome.epoch, outcome.target, renamed, environment.topics)
    if moved is not new:
        events.append(
            ev.ShareMemberReconciled(
                moved.member_id,
                moved.member_epoch,
                moved.previous_epoch,
                told(moved.held, environment.topics),
            )
        )
    wanted = (
        None
        if progress.checked_version is None and not group.initializing
        else initializing.wanted(
            group, progress.subscribers, progress.group_epoch, now, environment
        )
    )
    if wanted is not None:
        events.append(wanted.event)
    settings = environment.settings(group.group_id)
    full = request.subscribed_topic_names is not None
    reply = ShareGroupHeartbeatResponse(
        member_id=moved.member_id,
        member_epoch=moved.member_epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        assignment=_assignment(moved.held) if full or moved.held != old.held else None,
    )
    return Decision(
        tuple(events),
        reply,
        ((moved.member_id, now + settings.session_timeout_ms),),
        progress.checked_version,
        None if wanted is None else wanted.initialize,
    )


def decide_leave(
    group: ShareMembership, request: ShareGroupHeartbeatRequest, environment: ShareEnvironment
) -> Decision:
    """Decide a heartbeat by which a member leaves. Raises Refused (SH-HB-3)."""
    if request.member_id not in group.members:
        raise unknown_member(group, request.member_id)
    reply = ShareGroupHeartbeatResponse(
        member_id=request.member_id, member_epoch=request.member_epoch
    )
    return remove(group, request.member_id, Removal.LEFT, environment)._replace(reply=reply)


def session_ended(
    group: ShareMembership, member_id: str, environment: ShareEnvironment, *, by_hand: bool = False
) -> Decision:
    """Remove a member whose session expired, or was ended by a test (SH-HB-4)."""
    if member_id not in group.members:
        return Decision()
    if by_hand:
        return remove(group, member_id, Removal.ENDED_BY_HAND, environment)
    silence = f"{environment.settings(group.group_id).session_timeout_ms} ms"
    return remove(group, member_id, Removal.SESSION_EXPIRED, environment, silence)


def remove(
    group: ShareMembership,
    member_id: str,
    reason: str,
    environment: ShareEnvironment,
    detail: str | None = None,
) -> Decision:
    """Remove a member. If it was the last one, the assignment epoch follows the group epoch."""
    left = _subscribers(group, group.members[member_id], None)
    epoch = group.group_epoch + 1
    why = f"{member_id} {'left' if reason == Removal.LEFT else 'had a session that expired'}"
    events: list[ev.ShareEvent] = [
        ev.ShareMemberRemoved(member_id, reason, detail),
        ev.ShareGroupEpochBumped(epoch, metadata_hash(left, environment.topics), why),
    ]
    if len(group.members) == 1 and environment.release.has("K8-EP-44-1"):
        events.append(ev.ShareTargetAssigned(epoch, None, ()))
    return Decision(tuple(events), sessions=((member_id, None),))


def unknown_member(group: ShareMembership, member_id: str) -> Refused:
    """Return the refusal of an unknown member id."""
    return Refused(
        ErrorCode.UNKNOWN_MEMBER_ID,
        f"Member {member_id} is not a member of group {group.group_id}.",
    )


def _refuse_if_full(group: ShareMembership, member_id: str, environment: ShareEnvironment) -> None:
    """Raise Refused if a new member exceeds the maximal group size (SH-CFG-1)."""
    if len(group.members) >= environment.max_size and member_id not in group.members:
        text = (
            f"The share group has reached its maximum capacity of {environment.max_size} members."
        )
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, text)


def _member(group: ShareMembership, request: ShareGroupHeartbeatRequest) -> Member:
    """Return the member before the request. Raises Refused for a wrong member epoch (SH-EP-1)."""
    member, epoch = group.members.get(request.member_id), request.member_epoch
    if member is None:
        if epoch != JOINING:
            raise unknown_member(group, request.member_id)
        return Member(request.member_id)
    if epoch in (JOINING, member.member_epoch, member.previous_epoch):
        return member
    behind = epoch < member.member_epoch
    text = (
        f"The share group member has a {'smaller' if behind else 'greater'} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({member.member_epoch})"
        + (
            f", and it does not match the previous member epoch ({member.previous_epoch})"
            if behind
            else ""
        )
        + ". The member must abandon all its partitions and rejoin."
    )
    raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, text)


def _updated(old: Member, request: ShareGroupHeartbeatRequest, caller: Caller) -> Member:
    """Return the member with the request's values; fields left out stay."""
    names = request.subscribed_topic_names
    return old._replace(
        rack_id=old.rack_id if request.rack_id is None else request.rack_id,
        topics=old.topics if names is None else frozenset(names),
        client_id=caller.client_id,
        client_host=caller.client_host,
    )


class _Progress(NamedTuple):
    """The group epoch after the request, and the event that bumped it, if any."""

    group_epoch: int
    subscribers: Mapping[str, int]
    event: ev.ShareGroupEpochBumped | None
    checked_version: int | None


def _bump(
    group: ShareMembership,
    old: Member,
    new: Member,
    renamed: bool,
    environment: ShareEnvironment,
) -> _Progress:
    """Bump the group epoch if the subscription or the topics changed, or if initialised partitions
    are in no target yet (SH-HB-2).
    """
    version = environment.topics.version
    if not renamed and group.checked_version == version:
        return _Progress(group.group_epoch, group.subscribers, None, None)
    subscribers = _subscribers(group, old, new) if renamed else group.subscribers
    new_hash = metadata_hash(subscribers, environment.topics)
    reason = ""
    if renamed:
        reason = f"{new.member_id} changed its subscription"
    elif new_hash != group.metadata_hash:
        reason = "subscribed topics changed"
    elif group.assignment_epoch >= group.group_epoch and initializing.is_assignment_pending(group):
        reason = "share partitions were initialized"
    if not reason:
        return _Progress(group.group_epoch, subscribers, None, version)
    begins = group.is_new and not environment.release.has("K8-HB-43-1")
    event = ev.ShareGroupEpochBumped(1 if begins else group.group_epoch + 1, new_hash, reason)
    return _Progress(event.group_epoch, subscribers, event, version)


def _subscribers(group: ShareMembership, old: Member, new: Member | None) -> dict[str, int]:
    """Return the number of members that name each topic after `old` has become `new`, or has left."""
    counts = dict(group.subscribers)
    before = old.topics if old.member_id in group.members else frozenset()
    after = frozenset() if new is None else new.topics
    recount(counts, before, after)
    return counts


def _reconciled(
    member: Member, epoch: int, target: Partitions, renamed: bool, topics: Topics
) -> Member:
    """Return the member with the subscribed part of its target; the same member if nothing changes
    (SH-HB-3).
    """
    if member.member_epoch == epoch and not renamed:
        return member
    held = {t: numbers for t, numbers in target.items() if topics.topic_name(t) in member.topics}
    if member.member_epoch == epoch and held == member.held:
        return member
    return member._replace(member_epoch=epoch, previous_epoch=member.member_epoch, held=held)


def _subscribed(member: Member) -> ev.ShareMemberSubscribed:
    return ev.ShareMemberSubscribed(
        member.member_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        tuple(sorted(member.topics)),
    )


def _assignment(held: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=list(numbers))
            for topic_id, numbers in held.items()
        ]
    )
