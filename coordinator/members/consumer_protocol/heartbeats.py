"""ConsumerGroupHeartbeat of a member: when it is sent, its fields, and the effect of each answer
(K8-CL-2, K8-CL-3).

Read off Java 4.4.0's ConsumerHeartbeatRequestManager, with one difference: a heartbeat refused
with a retriable error waits for its backoff in every state. Does not know how an assignment is
taken over.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from coordinator.wire.schema import Response

from .. import discovery, offsets
from ..consumer_states import (
    ACKNOWLEDGING,
    AT_ONCE,
    FATAL,
    FENCED,
    IN_GROUP,
    JOIN_EPOCH,
    JOINING,
    LEAVE_EPOCH,
    LEAVE_FOR_NOW_EPOCH,
    LEAVING,
    NO_ASSIGNMENT,
    RECONCILING,
    STABLE,
    STALE,
    TAKES_ASSIGNMENTS,
    UNSUBSCRIBED,
    LocalAssignment,
)
from ..faults import (
    FencedInstance,
    GroupAuthorizationFailed,
    GroupFull,
    MemberFault,
    Refused,
    code_of,
)
from ..participant import InFlight
from .membership import ConsumerMembership, SentFields

API = "ConsumerGroupHeartbeat"
NOT_SERVED = (
    "the cluster does not serve the consumer protocol: group.protocol=classic until it does"
)
_LOST_COORDINATOR = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR})
_FENCED = frozenset({ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID})


# -- sending


def beat(m: ConsumerMembership, now: int) -> None:
    """Do what is due: look up the coordinator, leave because the application does not poll, or send
    a heartbeat.
    """
    if m.state not in IN_GROUP:
        return
    if m.coordinator is None:
        discovery.look_up(m, now)
    elif now >= m.pulse.poll_expires_at:
        leave(m, leave_epoch(m), now, stale=True)
    elif m.pulse.in_flight is None and now >= _due(m):
        send(m, now)


def _due(m: ConsumerMembership) -> int:
    return m.pulse.retry_at if m.state in AT_ONCE else max(m.pulse.beat_at, m.pulse.retry_at)


def next_deadline(m: ConsumerMembership) -> int | None:
    """Return the instant at which `beat` is due, or None."""
    if m.state not in IN_GROUP:
        return None
    if m.coordinator is None:
        return None if m.find_in_flight or m.fatal_find is not None else m.find_again_at
    if m.pulse.in_flight is not None:
        return m.pulse.poll_expires_at
    return min(m.pulse.poll_expires_at, _due(m))


def send(m: ConsumerMembership, now: int) -> None:
    """Send a heartbeat with the fields that changed since the last one, or all of them when joining
    (K8-CL-2).
    """
    message = _message(m)
    m.send(message, now, node=m.coordinator)
    m.pulse.sent(message, now)
    if m.state is ACKNOWLEDGING:  # ends when the heartbeat is on its way; the answer may bring more
        m.move(STABLE if m.current == m.target else RECONCILING)


def _message(m: ConsumerMembership) -> ConsumerGroupHeartbeatRequest:
    config, sent, joins = m.config, m.sent, m.state is JOINING
    timeout_ms, names, regex, assignor, owned = -1, None, None, None, None
    if joins or sent.rebalance_timeout_ms != config.max_poll_interval_ms:
        timeout_ms = sent.rebalance_timeout_ms = config.max_poll_interval_ms
    if joins or sent.names != m.subscribed.topics:
        sent.names = m.subscribed.topics
        names = sorted(m.subscribed.topics)
    pattern = m.subscribed.regex
    if (joins and pattern is not None) or sent.regex != pattern:
        sent.regex = pattern
        regex = pattern or ""
    if config.group_remote_assignor is not None and (
        joins or sent.server_assignor != config.group_remote_assignor
    ):
        assignor = sent.server_assignor = config.group_remote_assignor
    if joins or sent.assignment != m.current:
        sent.assignment = m.current
        owned = [
            TopicPartitions(topic_id=topic, partitions=list(numbers))
            for topic, numbers in m.current.partitions.items()
        ]
    return ConsumerGroupHeartbeatRequest(
        group_id=config.group_id,
        member_id=m.member_id,
        member_epoch=m.member_epoch,
        instance_id=config.group_instance_id,
        rack_id=config.rack if joins else None,
        rebalance_timeout_ms=timeout_ms,
        subscribed_topic_names=names,
        subscribed_topic_regex=regex,
        server_assignor=assignor,
        topic_partitions=owned,
    )


def is_quiet(m: ConsumerMembership) -> bool:
    """Return whether the member is Stable, with no request in flight and nothing to do before its
    next deadline.

    Only true for members that subscribe by name and whose next heartbeat is due before the poll
    expires.
    """
    pulse, sent = m.pulse, m.sent
    return not (
        m.state is not STABLE
        or m.in_flight
        or not m.settled
        or m.coordinator is None
        or pulse.in_flight is not None
        or m.effects
        or m.commits
        or m.fault is not None
        or m.reconciling is not None
        or m.prepare_commit is not None
        or m.offsets_in_flight
        or m.offsets_fault is not None
        or m.metadata_in_flight is not False
        or m.topics_fault is not None
        or m.subscription_is_new
        or m.subscribed.regex is not None
        or m.subscribed.pattern is not None
        or sent.regex is not None
        or sent.names != m.subscribed.topics
        or sent.assignment != m.current
        or sent.rebalance_timeout_ms != m.config.max_poll_interval_ms
        or sent.server_assignor != m.config.group_remote_assignor
        or pulse.beat_at < pulse.retry_at
        or pulse.beat_at >= pulse.poll_expires_at
        or not pulse.interval_ms
    )


def unchanged(m: ConsumerMembership) -> ConsumerGroupHeartbeatRequest:
    """Return the heartbeat of a member without changes."""
    return ConsumerGroupHeartbeatRequest(
        group_id=m.config.group_id,
        member_id=m.member_id,
        member_epoch=m.member_epoch,
        instance_id=m.config.group_instance_id,
    )


def skip(m: ConsumerMembership, count: int, sent_at: int) -> None:
    """Update the state as after `count` heartbeats without news, the last one sent at that instant."""
    pulse = m.pulse
    m.number += count
    if not m.subscribed.positions:
        offsets.skip_empty_commits(m, sent_at, pulse.interval_ms, count)
    pulse.beat_at = sent_at + pulse.interval_ms
    pulse.backoff.reset()


def leave_epoch(m: ConsumerMembership) -> int:
    """Return the epoch with which the member leaves: temporarily for a static one, else for good
    (K8-CL-4).
    """
    return LEAVE_EPOCH if m.config.group_instance_id is None else LEAVE_FOR_NOW_EPOCH


def leave(m: ConsumerMembership, epoch: int, now: int, *, stale: bool = False) -> bool:
    """Send the leaving heartbeat, if there is a coordinator; return whether it was sent. `stale`:
    the owned partitions are lost at the next poll.
    """
    if m.state not in IN_GROUP:
        return False
    m.move(LEAVING)
    m.take_epoch(epoch)
    told = m.coordinator is not None
    if told:
        message = ConsumerGroupHeartbeatRequest(
            group_id=m.config.group_id,
            member_id=m.member_id,
            member_epoch=epoch,
            instance_id=m.config.group_instance_id,
        )
        m.send(message, now, node=m.coordinator)
    m.sent = SentFields()
    m.pulse.at_once(now)
    m.current = NO_ASSIGNMENT
    m.stop_reconciling()
    m.move(STALE if stale else UNSUBSCRIBED)
    return told


# -- answers


def on_heartbeat(
    m: ConsumerMembership, sent: InFlight, response: Response | None, now: int
) -> None:
    """Handle the answer (K8-CL-3). The answer to a leave, or to a heartbeat before it, changes
    nothing.
    """
    if sent.message is not m.pulse.in_flight or m.state not in TAKES_ASSIGNMENTS:
        return
    if not isinstance(response, ConsumerGroupHeartbeatResponse):
        m.sent = SentFields()
        m.pulse.failed(now)
    elif response.error_code:
        m.sent = SentFields()
        _on_error(m, code_of(response.error_code), response.error_message or "", now)
    else:
        _on_success(m, response, now)


def _on_success(m: ConsumerMembership, response: ConsumerGroupHeartbeatResponse, now: int) -> None:
    m.pulse.answered(response.heartbeat_interval_ms, now)
    if response.member_id:
        m.member_id = response.member_id
    m.take_epoch(response.member_epoch)
    if m.state is STABLE:
        m.acknowledged = True
    if response.assignment is not None:
        _take_target(
            m,
            {
                row.topic_id: tuple(sorted(row.partitions))
                for row in response.assignment.topic_partitions
            },
        )


def _take_target(m: ConsumerMembership, partitions: dict[bytes, tuple[int, ...]]) -> None:
    if m.target.is_none or m.target.partitions != partitions:
        m.target = LocalAssignment(m.target.number + 1, partitions)
    if m.target != m.current:
        m.acknowledged = False
        m.move(RECONCILING)
    elif m.state in (
        RECONCILING,
        JOINING,
    ):  # joined anew with what it has, or what it waited for was taken back
        m.acknowledged = True
        m.stop_reconciling()
        m.move(STABLE)


def _on_error(m: ConsumerMembership, error: ErrorCode, message: str, now: int) -> None:
    m.pulse.failed(now)
    if error in _LOST_COORDINATOR:
        discovery.forget(m, f"a heartbeat was answered {error.name}")
        m.pulse.at_once(now)
    elif error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        pass  # after the backoff
    elif error in _FENCED:
        m.move(FENCED)
        m.take_epoch(JOIN_EPOCH)
        m.stop_reconciling()
        m.pulse.at_once(now)
    else:
        fail(m, _fault(m, error, message))


def fail(m: ConsumerMembership, fault: MemberFault) -> None:
    """End this membership: `poll` revokes the partitions and raises the fault."""
    m.pulse.in_flight = None
    m.move(FATAL)
    m.take_epoch(JOIN_EPOCH)
    m.stop_reconciling()
    m.fault = fault


def _fault(m: ConsumerMembership, error: ErrorCode, message: str) -> MemberFault:
    if error is ErrorCode.GROUP_AUTHORIZATION_FAILED:
        return GroupAuthorizationFailed(API, error, f"group {m.config.group_id}", retriable=False)
    if error in (ErrorCode.FENCED_INSTANCE_ID, ErrorCode.UNRELEASED_INSTANCE_ID):
        return FencedInstance(
            API,
            error,
            f"group.instance.id {m.config.group_instance_id}: {message}",
            retriable=False,
        )
    if error is ErrorCode.GROUP_MAX_SIZE_REACHED:
        return GroupFull(API, error, f"group {m.config.group_id}: {message}", retriable=False)
    if error is ErrorCode.UNSUPPORTED_VERSION:
        return Refused(API, error, NOT_SERVED, retriable=False)
    return Refused(API, error, message, retriable=False)
