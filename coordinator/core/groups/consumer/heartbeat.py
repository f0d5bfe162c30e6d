"""Decisions about the ConsumerGroupHeartbeat of a member that joins or stays (K8-HB-1..4, K8-EP-1,
K8-ST-1..4). Leaving is in `leave`.

The steps are in Kafka's order; each sees the group as before the request, and the member as the
steps before left it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import consumer as ev
from coordinator.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

from .environment import Environment, Topics
from .following import follow
from .model import LEFT_FOR_NOW, ConsumerMembership, Held, Member, MemberState, Partitions
from .reconcile import Step, reconcile
from .requests import Decision, Refused, Timer, TimerKind
from .subscription import (
    RegexChange,
    SubscribedTopics,
    after,
    is_homogeneous,
    metadata_hash,
    names_of,
    update_regex,
)
from .target import told, update_target
from .validation import JOINING

_NOTHING_NEW: Final = (None, None, None, None, None, None)


class Caller(NamedTuple):
    """Sender of a request: client id and host."""

    client_id: str
    client_host: str


class Progress(NamedTuple):
    """Result of the steps before the reconciliation, for heartbeats and for JoinGroups of classic
    members.
    """

    member: Member
    events: tuple[ev.ConsumerEvent, ...]
    group_epoch: int
    subscription_changed: bool
    homogeneous: bool
    checked_version: int | None
    resolve: frozenset[str] | None


def decide_heartbeat(
    group: ConsumerMembership,
    request: ConsumerGroupHeartbeatRequest,
    member_id: str,
    caller: Caller,
    now: int,
    environment: Environment,
) -> Decision:
    """Decide the heartbeat of `member_id`. Raises Refused; the group is then unchanged."""
    followed = follow(group, request, caller.client_id, caller.client_host, now, environment)
    if followed is not None:
        return followed
    refuse_if_full(group, member_id, environment)
    old, replaced = _member(group, request, member_id, environment)
    events: list[ev.ConsumerEvent] = []
    if replaced is not None:
        events.append(replacement(group, old, replaced, environment.topics))
    if request.member_epoch not in (JOINING, old.member_epoch):
        events.append(ev.PreviousEpochAccepted(member_id, request.member_epoch))
    new = _updated(old, request, caller)
    progress = subscribe(
        group,
        old,
        new,
        request.subscribed_topic_names or (),
        now,
        environment,
        by_join=False,
    )
    events += progress.events
    if not environment.release.has("K8-ST-5"):
        before = group.members.get(member_id, old)
        events += [
            ev.FormerInstanceIdKept(member_id, instance_id)
            for instance_id in dict.fromkeys((before.instance_id, old.instance_id))
            if instance_id not in (None, new.instance_id)
        ]
    outcome = update_target(
        group, progress.group_epoch, old, new, progress.homogeneous, now, environment
    )
    if outcome.event is not None:
        events.append(outcome.event)
    owned = (
        None
        if request.topic_partitions is None
        else [(of.topic_id, of.partitions) for of in request.topic_partitions]
    )
    moved = advance(
        group, new, outcome.epoch, outcome.target, progress.subscription_changed, owned, environment
    )
    if moved is not new:
        events.append(reconciled(moved, environment.topics))
    settings = environment.settings(group.group_id)
    timers = [Timer(TimerKind.SESSION, member_id, now + settings.session_timeout_ms)]
    if moved is not new:
        timers.append(rebalance_timer(moved, now))
    if replaced is not None and replaced.member_id != member_id:
        timers += [Timer(kind, replaced.member_id, None) for kind in TimerKind]
    full = request.member_epoch == JOINING or _is_full(request)
    reply = ConsumerGroupHeartbeatResponse(
        member_id=member_id,
        member_epoch=moved.member_epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        assignment=assignment_of(moved.held) if full or moved.held != old.held else None,
    )
    return Decision(tuple(events), reply, tuple(timers), progress.checked_version, progress.resolve)


def refuse_if_full(group: ConsumerMembership, member_id: str, environment: Environment) -> None:
    """Raise Refused if a new member exceeds the maximal group size (K8-HB-1 step 2)."""
    if len(group.members) >= environment.max_size and member_id not in group.members:
        text = f"The consumer group has reached its maximum capacity of {environment.max_size} members."
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, text)


def _member(
    group: ConsumerMembership,
    request: ConsumerGroupHeartbeatRequest,
    member_id: str,
    environment: Environment,
) -> tuple[Member, Member | None]:
    """Return the member before the request, and the static member that it replaces (K8-HB-1 step 3,
    K8-ST-1, K8-ST-2).
    """
    if request.instance_id is None:
        member = group.members.get(member_id)
        if member is None:
            if request.member_epoch != JOINING:
                raise unknown_member(group, member_id)
            return Member(member_id), None
        _check_epoch(member, request, environment)
        return member, None
    holder = static_member(group, request.instance_id)
    if request.member_epoch == JOINING:
        if holder is None:
            return group.members.get(member_id) or Member(member_id), None
        if holder.classic is None and holder.member_epoch != LEFT_FOR_NOW:
            text = (
                f"Static member {member_id} with instance id {request.instance_id} cannot join the group because the instance id is owned "
                f"by {holder.member_id} member."
            )
            raise Refused(ErrorCode.UNRELEASED_INSTANCE_ID, text)
        return holder._replace(member_id=member_id, member_epoch=0, previous_epoch=0), holder
    holder = known_static_member(group, request.instance_id, member_id)
    _check_epoch(holder, request, environment)
    return holder, None


def static_member(group: ConsumerMembership, instance_id: str | None) -> Member | None:
    """Return the member with a group instance id, or None. Raises Refused if the id still belongs
    to a member that has left, in releases before K8-ST-5.
    """
    member_id = None if instance_id is None else group.static_members.get(instance_id)
    if member_id is None:
        return None
    member = group.members.get(member_id)
    if member is None:
        raise unknown_member(group, member_id)
    return member


def known_static_member(group: ConsumerMembership, instance_id: str, member_id: str) -> Member:
    """Return the member with an instance id if it is `member_id`. Raises Refused with 25 or 82
    (K8-ST-2).
    """
    holder = static_member(group, instance_id)
    if holder is None:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    refuse_fenced(holder, instance_id, member_id)
    return holder


def refuse_fenced(holder: Member, instance_id: str, member_id: str) -> None:
    """Raise Refused if an instance id belongs to another member (K8-ST-2)."""
    if holder.member_id != member_id:
        text = f"Static member {member_id} with instance id {instance_id} was fenced by member {holder.member_id}."
        raise Refused(ErrorCode.FENCED_INSTANCE_ID, text)


def unknown_member(group: ConsumerMembership, member_id: str) -> Refused:
    """Return the refusal of an unknown member id."""
    return Refused(
        ErrorCode.UNKNOWN_MEMBER_ID,
        f"Member {member_id} is not a member of group {group.group_id}.",
    )


def _check_epoch(
    member: Member, request: ConsumerGroupHeartbeatRequest, environment: Environment
) -> None:
    """Raise Refused for a wrong member epoch (K8-EP-1). Epoch 0 is always accepted, except in older
    releases (K8-EP-42-1).
    """
    epoch = request.member_epoch
    if epoch == member.member_epoch or (epoch == JOINING and environment.release.has("K8-EP-42-1")):
        return
    behind = epoch < member.member_epoch
    if (
        behind
        and epoch == member.previous_epoch
        and _is_held(request.topic_partitions, member.held)
    ):
        return
    text = (
        f"The consumer group member has a {'smaller' if behind else 'greater'} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({member.member_epoch}). The member must abandon all its partitions and rejoin."
    )
    raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, text)


def _is_held(owned: Iterable[TopicPartitions] | None, held: Held) -> bool:
    if owned is None:
        return False
    return all(
        of.topic_id in held and all(p in held[of.topic_id] for p in of.partitions) for of in owned
    )


def _updated(old: Member, request: ConsumerGroupHeartbeatRequest, caller: Caller) -> Member:
    """Return the member with the request's values; fields left out stay (K8-HB-1 step 4)."""
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    says = (
        names,
        regex,
        request.instance_id,
        request.rack_id,
        request.server_assignor,
        old.classic,
    )
    if (
        says == _NOTHING_NEW
        and request.rebalance_timeout_ms == -1
        and (old.client_id, old.client_host) == caller
    ):
        return old
    return old._replace(
        instance_id=old.instance_id if request.instance_id is None else request.instance_id,
        rack_id=old.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=old.rebalance_timeout_ms
        if request.rebalance_timeout_ms == -1
        else request.rebalance_timeout_ms,
        assignor=old.assignor if request.server_assignor is None else request.server_assignor,
        topics=old.topics if names is None else frozenset(names),
        regex=old.regex if regex is None else regex,
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=None,
    )


def subscribe(
    group: ConsumerMembership,
    old: Member,
    new: Member,
    named: Iterable[str],
    now: int,
    environment: Environment,
    *,
    by_join: bool,
) -> Progress:
    """Carry out steps 4 and 5 of K8-HB-1: record the member's changes, and bump the group epoch if
    the subscribed topics changed.

    `named`: the topics as the request names them. `by_join`: the request is a classic member's
    JoinGroup: a changed regular expression bumps the epoch even before it is resolved, and
    assignors are not considered.
    """
    events: list[ev.ConsumerEvent] = []
    if new != old:
        events.append(subscribed(new, named))
    names_changed = new.topics != old.topics
    regex = update_regex(group, old, new, now, environment)
    events += regex.events
    changed = names_changed or regex.change is not RegexChange.NONE
    bump = names_changed or regex.change is RegexChange.RESOLVED or (by_join and changed)
    voted = not by_join and _prefers_another_assignor(group, old, new, environment)
    bump = bump or voted
    epoch = group.group_epoch
    if group.is_new and not environment.release.has("K8-HB-43-1"):
        bump, epoch = True, 0
    version = environment.topics.version
    if not bump and group.checked_version == version:
        homogeneous = is_homogeneous(group.regex_members, group.subscribers, len(group.members))
        return Progress(new, tuple(events), epoch, changed, homogeneous, None, regex.resolve)
    subscriptions = after(group, old, new)
    new_hash = metadata_hash(subscriptions.subscribers, environment.topics)
    if bump or new_hash != group.metadata_hash:
        epoch += 1
        reason = (
            f"{new.member_id} changed its subscription"
            if bump and not voted
            else f"{new.member_id} changed the preferred assignor"
            if voted
            else "subscribed topics changed"
        )
        events.append(ev.GroupEpochBumped(epoch, new_hash, reason))
    return Progress(
        new, tuple(events), epoch, changed, subscriptions.homogeneous, version, regex.resolve
    )


def _prefers_another_assignor(
    group: ConsumerMembership, old: Member, new: Member, environment: Environment
) -> bool:
    """Return True if the member's vote changes the group's preferred assignor (K8-TGT-44-2).

    As in Kafka the votes are counted again with this member's last, so that at equal votes each
    heartbeat of a voter may change the result.
    """
    if not environment.release.has("K8-TGT-44-2"):
        return False
    if new.assignor == old.assignor and len(group.assignor_votes) < 2:
        return False
    default = environment.default_assignor()
    return (group.preferred_assignor_if(old, new) or default) != (
        group.preferred_assignor() or default
    )


def advance(
    group: ConsumerMembership,
    member: Member,
    epoch: int,
    target: Partitions,
    changed: bool,
    owned: list[tuple[bytes, list[int]]] | None,
    environment: Environment,
) -> Member:
    """Carry out step 7 of K8-HB-1: one step of the member towards its target. Return the same
    member if it cannot move.
    """
    if not changed and member.is_reconciled_to(epoch):
        return member
    names, by_names = names_of(group, member), environment.release.has("K8-REC-42-1")
    step = Step(
        epoch,
        target,
        SubscribedTopics(names, environment.topics) if by_names else target,
        not names,
        changed and by_names,
        owned,
        group.owner_epoch,
        by_names,
    )
    moved = reconcile(member, step)
    return member if moved == member else moved


def subscribed(member: Member, named: Iterable[str] = ()) -> ev.ConsumerMemberSubscribed:
    """Return the event with a member's own data. `named`: its topics as it sent them, mostly
    sorted, hence quick to sort.
    """
    return ev.ConsumerMemberSubscribed(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        tuple(sorted(dict.fromkeys(named) or member.topics)),
        member.regex,
        member.assignor,
        member.classic,
    )


def replacement(
    group: ConsumerMembership, new: Member, old: Member, topics: Topics
) -> ev.ConsumerMemberReplaced:
    """Return the event of a static member's return under another id, with all that it inherits
    (K8-ST-1).
    """
    return ev.ConsumerMemberReplaced(
        new.member_id,
        old.member_id,
        subscribed(new),
        old.state.value,
        told_held(old.held, topics),
        told_held(old.revoking, topics),
        told(group.target(old.member_id), topics),
    )


def reconciled(member: Member, topics: Topics) -> ev.ConsumerMemberReconciled:
    """Return the event with a member's epoch and partitions."""
    return ev.ConsumerMemberReconciled(
        member.member_id,
        member.member_epoch,
        member.previous_epoch,
        member.state.value,
        told_held(member.held, topics),
        told_held(member.revoking, topics),
    )


def told_held(held: Held, topics: Topics) -> tuple[ev.HeldPartitions, ...]:
    """Return a member's partitions in the event's form."""
    return tuple(
        [
            ev.HeldPartitions(topics.topic_name(t) or "", t, tuple(p), tuple(p.values()))
            for t, p in held.items()
        ]
    )


def rebalance_timer(member: Member, now: int) -> Timer:
    """Return the timer for a member's revocation, which classic members do not have (K8-REC-6)."""
    waits = member.state is MemberState.UNREVOKED and member.classic is None
    return Timer(
        TimerKind.REBALANCE, member.member_id, now + member.rebalance_timeout_ms if waits else None
    )


def assignment_of(held: Held) -> Assignment:
    """Return a member's partitions in the response's form (K8-HB-3)."""
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=t, partitions=list(partitions))
            for t, partitions in held.items()
        ]
    )


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Return True if the request contains all fields, so that the response contains the assignment
    (K8-HB-2).
    """
    subscribes = (
        request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    )
    return (
        request.rebalance_timeout_ms != -1 and subscribes and request.topic_partitions is not None
    )
