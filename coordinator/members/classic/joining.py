"""JoinGroup and SyncGroup: the join loop, and the effect of each answer (CLI-4 to CLI-10).

The loop runs inside `poll`, as in Java; answers are handled whenever they arrive, and the
SyncGroup follows a successful JoinGroup at once, even if the application does not poll. A fault
that is not retriable is raised by `poll`, and the next poll tries again.
"""

from __future__ import annotations

from functools import lru_cache

from coordinator.base.errors import ErrorCode
from coordinator.wire.consumer_protocol import Subscription, TopicPartitions
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from coordinator.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from coordinator.wire.schema import Response

from .. import discovery, rebalancing, topics
from ..cluster_view import what_changed
from ..faults import (
    RETRIED_AT_ONCE,
    AssignorFault,
    Disconnected,
    FencedInstance,
    GroupAuthorizationFailed,
    GroupFull,
    MemberFault,
    Refused,
    code_of,
)
from ..membership import JoinAttempt, Membership
from ..participant import InFlight
from ..states import COMPLETING_REBALANCE, NO_GENERATION, PREPARING_REBALANCE, STABLE, Generation
from ..subscription import Partitions
from . import leading

PROTOCOL_TYPE = "consumer"
JOIN_LAPSE_MS = 5_000
"""JoinGroup may take this much longer than the rebalance timeout (CLI-2)."""
INT_MAX = (1 << 31) - 1
_MOST_REASON_CHARS = 255
_FATAL_JOIN = frozenset(
    {
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.INVALID_SESSION_TIMEOUT,
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
_LOST_COORDINATOR = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR})


def rejoin_needed(m: Membership) -> bool:
    """Return whether the member has to join, or is joining (CLI-18)."""
    assigned, joined = m.assignment_snapshot, m.joined_topics
    if assigned is not None and assigned is not m.snapshot and assigned != m.snapshot:
        if not m.rejoin_needed:
            since = "the metadata of the group's topics have changed since they were assigned"
            m.request_rejoin(f"{since}: {what_changed(assigned, m.snapshot)}")
        return True
    wanted = m.subscribed.topics
    if joined is not None and joined is not wanted and joined != wanted:
        _request_once(m, "the subscription has changed since the last join")
        return True
    return m.rejoin_needed or m.join is not None


def _request_once(m: Membership, reason: str) -> None:
    """Request a rejoin, keeping an earlier reason."""
    if not m.rejoin_needed:
        m.request_rejoin(reason)


def join_if_needed(m: Membership, now: int) -> bool:
    """Continue to join as far as possible; return True when nothing is left to do. Raises faults
    that are not retriable.
    """
    while rejoin_needed(m):
        if not discovery.ready(m, now) or now < m.join_again_at:
            return False
        if m.needs_join_prepare:
            m.needs_join_prepare = False
            if not rebalancing.prepare(m, now):
                m.needs_join_prepare = True
                return False
        if m.join is None:
            _send_join(m, now)
        assert m.join is not None
        if not m.join.done:
            return False
        if m.join.fault is None:
            _take_success(m, m.join.assignment, now)
        elif not _take_failure(m, m.join.fault, now):
            return False
    return True


def _take_success(m: Membership, assignment: bytes, now: int) -> None:
    if m.generation != NO_GENERATION and m.state is STABLE:
        rebalancing.complete(m, assignment, now)
        m.join_backoff.reset()
        m.needs_join_prepare = True
    else:
        m.reset_and_rejoin(
            "the generation ended between SyncGroup and its completion", keep_member_id=False
        )
    m.join = None


def _take_failure(m: Membership, fault: MemberFault, now: int) -> bool:
    """Handle a failed attempt: return True to retry at once, False after a backoff; else raise the
    fault.
    """
    m.join = None
    m.request_rejoin(f"the last try to join ended with {fault.name}")
    if fault.code in RETRIED_AT_ONCE:
        return True
    if not fault.retriable:
        raise fault
    m.join_again_at = now + m.join_backoff.next()
    return False


# -- JoinGroup


def _send_join(m: Membership, now: int) -> None:
    """Send a JoinGroup with every configured assignor in order, each with a fresh subscription
    (CLI-5).
    """
    config = m.config
    m.move(PREPARING_REBALANCE)
    protocols = _protocols(m)
    m.join = JoinAttempt()
    m.pattern_refreshed = False
    message = JoinGroupRequest(
        group_id=config.group_id,
        session_timeout_ms=config.session_timeout_ms,
        rebalance_timeout_ms=config.max_poll_interval_ms,
        member_id=m.generation.member_id,
        group_instance_id=config.group_instance_id,
        protocol_type=PROTOCOL_TYPE,
        protocols=protocols,
        reason=m.rejoin_reason[:_MOST_REASON_CHARS],
    )
    timeout_ms = min(
        max(config.request_timeout_ms, config.max_poll_interval_ms + JOIN_LAPSE_MS), INT_MAX
    )
    m.send(message, now, node=m.coordinator, timeout_ms=timeout_ms)


def _protocols(m: Membership) -> list[JoinGroupRequestProtocol]:
    asked = m.subscribed.topics
    m.joined_topics = asked
    owned = owned_by_topic(m.subscribed.owned)
    names = tuple(sorted(asked))
    protocols = []
    for assignor in m.assignors:
        try:
            user_data = assignor.subscription_user_data(asked)
        except Exception as error:
            detail = f"subscription_user_data raised {type(error).__name__}: {error}"
            raise AssignorFault(assignor.name, "gives user data", detail) from error
        subscription = Subscription(
            names, user_data, owned, m.generation.generation_id, m.config.rack
        )
        metadata = (
            subscription.encode() if owned or user_data else _of_who_owns_nothing(subscription)
        )
        protocols.append(JoinGroupRequestProtocol(name=assignor.name, metadata=metadata))
    return protocols


@lru_cache(maxsize=64)
def _of_who_owns_nothing(subscription: Subscription) -> bytes:
    """Encode the subscription of a member without partitions; cached, because many members of one
    process have the same.
    """
    return subscription.encode()


def owned_by_topic(partitions: Partitions) -> tuple[TopicPartitions, ...]:
    """Return the owned partitions in the form of a subscription."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append(number)
    return tuple([TopicPartitions(topic, tuple(numbers)) for topic, numbers in by_topic.items()])


def on_join(m: Membership, sent: InFlight, response: Response | None, now: int) -> None:
    """Handle the answer to JoinGroup (CLI-6, CLI-7)."""
    attempt = m.join
    if attempt is None or attempt.done:
        return  # left meanwhile: nobody waits for this
    if not isinstance(response, JoinGroupResponse):
        attempt.fail(Disconnected("JoinGroup", "the connection was lost"))
    elif response.error_code:
        _on_join_error(m, attempt, sent, response)
    elif response.protocol_type is not None and response.protocol_type != PROTOCOL_TYPE:
        attempt.fail(
            Refused(
                "JoinGroup",
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"the group is of type {response.protocol_type!r}",
            )
        )
    elif m.state is not PREPARING_REBALANCE:
        attempt.fail(
            MemberFault("JoinGroup: the member left while it was answered", retriable=True)
        )
    else:
        m.move(COMPLETING_REBALANCE)
        m.generation = Generation(
            response.generation_id, response.member_id, response.protocol_name
        )
        m.pulse.in_flight = False
        m.pulse.reset(now)  # heartbeats begin before SyncGroup is answered (CLI-7)
        if response.leader == response.member_id:
            m.election, m.assigns_at = response, None
            lead(m, now)
        else:
            _send_sync(m, [], now)


def _on_join_error(
    m: Membership, attempt: JoinAttempt, sent: InFlight, response: JoinGroupResponse
) -> None:
    error = code_of(response.error_code)
    if error is ErrorCode.MEMBER_ID_REQUIRED:
        m.generation = Generation(member_id=response.member_id)
        m.request_rejoin(f"the coordinator gave the member id {response.member_id} to join with")
    elif error is ErrorCode.UNKNOWN_MEMBER_ID:
        if m.generation == sent.generation:
            m.reset_and_rejoin("UNKNOWN_MEMBER_ID in the answer to JoinGroup", keep_member_id=False)
    elif error in _LOST_COORDINATOR:
        discovery.forget(m, f"JoinGroup was answered {error.name}")
    attempt.fail(_refusal("JoinGroup", error, m))


def _refusal(api: str, error: ErrorCode, m: Membership) -> MemberFault:
    """Return the fault for an error of JoinGroup or SyncGroup."""
    config = m.config
    if error in RETRIED_AT_ONCE or error in _LOST_COORDINATOR:
        return Refused(api, error, retriable=True)
    if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return Refused(
            api, error, retriable=api == "JoinGroup"
        )  # CLI-9: fatal in answer to SyncGroup
    if error is ErrorCode.FENCED_INSTANCE_ID:
        return FencedInstance(
            api, error, f"group.instance.id {config.group_instance_id}", retriable=False
        )
    if error is ErrorCode.GROUP_AUTHORIZATION_FAILED:
        return GroupAuthorizationFailed(api, error, f"group {config.group_id}", retriable=False)
    if error is ErrorCode.GROUP_MAX_SIZE_REACHED:
        return GroupFull(api, error, f"group {config.group_id}", retriable=False)
    if error is ErrorCode.UNSUPPORTED_VERSION:
        return Refused(api, error, "if group.instance.id is set, unset it", retriable=False)
    return Refused(api, error, "" if error in _FATAL_JOIN else "unexpected here", retriable=False)


# -- leading


def lead(m: Membership, now: int) -> None:
    """Assign as leader, once the metadata of all the group's topics is there (CLI-8) and the
    assignor's time is over. A fault ends the attempt.
    """
    response = m.election
    if response is None or m.join is None:
        return
    if m.assigning_ms:
        if m.assigns_at is None:
            m.assigns_at = now + m.assigning_ms
        if now < m.assigns_at:
            return
        m.assigns_at = 0
    try:
        assignments = _assignments(m, response)
    except MemberFault as fault:
        m.election = None
        m.join.fail(fault)
        return
    if assignments is None:
        topics.ask(m, now)
        return
    m.election = None
    m.assignment_snapshot = m.snapshot
    _send_sync(
        m,
        [
            SyncGroupRequestAssignment(member_id=name, assignment=data)
            for name, data in assignments.items()
        ],
        now,
    )


def _assignments(m: Membership, response: JoinGroupResponse) -> dict[str, bytes] | None:
    """Return the leader's assignments, or None if metadata is needed first. A rejoining static
    leader may be told to skip the assignment.
    """
    wishes = leading.read_wishes(response)
    if not leading.knows_group(m, wishes):
        return None
    m.is_leader = True
    return {} if response.skip_assignment else leading.assign(m, response, wishes)


# -- SyncGroup


def _send_sync(m: Membership, assignments: list[SyncGroupRequestAssignment], now: int) -> None:
    if m.coordinator is None:
        assert m.join is not None
        m.join.fail(Refused("SyncGroup", ErrorCode.COORDINATOR_NOT_AVAILABLE, retriable=True))
        return
    generation = m.generation
    message = SyncGroupRequest(
        group_id=m.config.group_id,
        generation_id=generation.generation_id,
        member_id=generation.member_id,
        group_instance_id=m.config.group_instance_id,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=generation.protocol_name,
        assignments=assignments,
    )
    m.send(message, now, node=m.coordinator)


def on_sync(m: Membership, sent: InFlight, response: Response | None, now: int) -> None:
    """Handle the answer to SyncGroup (CLI-9, CLI-10)."""
    attempt = m.join
    if attempt is None or attempt.done:
        return
    if not isinstance(response, SyncGroupResponse):
        attempt.fail(Disconnected("SyncGroup", "the connection was lost"))
    elif response.error_code:
        _on_sync_error(m, attempt, sent, code_of(response.error_code))
    elif response.protocol_type is not None and response.protocol_type != PROTOCOL_TYPE:
        attempt.fail(
            Refused(
                "SyncGroup",
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"the group is of type {response.protocol_type!r}",
            )
        )
    elif m.generation == NO_GENERATION or m.state is not COMPLETING_REBALANCE:
        attempt.fail(
            Refused("SyncGroup", ErrorCode.ILLEGAL_GENERATION, "the generation has ended meanwhile")
        )
    elif (
        response.protocol_name is not None and response.protocol_name != m.generation.protocol_name
    ):
        hint = f"the group assigned by {response.protocol_name!r}, joined was {m.generation.protocol_name!r}"
        attempt.fail(Refused("SyncGroup", ErrorCode.INCONSISTENT_GROUP_PROTOCOL, hint))
    else:
        m.move(STABLE)
        m.rejoin_needed = False
        m.rejoin_reason = ""
        attempt.succeed(response.assignment)


def _on_sync_error(m: Membership, attempt: JoinAttempt, sent: InFlight, error: ErrorCode) -> None:
    if error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
        if m.generation == sent.generation:
            m.reset_and_rejoin(
                f"{error.name} in the answer to SyncGroup",
                keep_member_id=error is ErrorCode.ILLEGAL_GENERATION,
            )
    elif error in _LOST_COORDINATOR:
        discovery.forget(m, f"SyncGroup was answered {error.name}")
    attempt.fail(_refusal("SyncGroup", error, m))
