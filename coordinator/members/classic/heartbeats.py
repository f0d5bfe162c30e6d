"""Heartbeats, and timers that run without the application: Java's heartbeat thread (CLI-11, CLI-12,
CLI-14).

A heartbeat refused with an error of the group is retried after a backoff; only
FENCED_INSTANCE_ID reaches the application, at its next poll. Read off Java 4.4.0's classes:
GROUP_AUTHORIZATION_FAILED and unknown errors fail only that heartbeat, so in the end the session
expires.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.schema import Response

from .. import discovery, offsets
from ..faults import FencedInstance, code_of
from ..membership import Membership
from ..participant import InFlight
from ..states import JOINED, STABLE
from . import joining, leaving

POLL_EXPIRED = "the application did not poll within max.poll.interval.ms"


def beat(m: Membership, now: int) -> None:
    """Do one thing that is due: look up the coordinator, give it up, leave, or send a heartbeat."""
    if m.state not in JOINED or m.beat_fault is not None:
        return
    pulse = m.pulse
    if m.coordinator is None:
        discovery.look_up(m, now)
    elif now >= pulse.session_expires_at:
        discovery.forget(m, "no heartbeat was answered within session.timeout.ms")
        discovery.look_up(m, now)
    elif now >= pulse.poll_expires_at:
        leaving.leave_group(m, POLL_EXPIRED, now)
    elif pulse.should_beat(now):
        pulse.sent(now)
        m.send(request(m), now, node=m.coordinator)


def request(m: Membership) -> HeartbeatRequest:
    """Return the heartbeat for the member's generation."""
    generation = m.generation
    if m.heartbeat is None or m.heartbeat[0] is not generation:
        m.heartbeat = (
            generation,
            HeartbeatRequest(
                group_id=m.config.group_id,
                generation_id=generation.generation_id,
                member_id=generation.member_id,
                group_instance_id=m.config.group_instance_id,
            ),
        )
    return m.heartbeat[1]


def next_deadline(m: Membership) -> int | None:
    """Return the instant at which `beat` is due; None while the member does not heartbeat."""
    if m.state not in JOINED or m.beat_fault is not None:
        return None
    if m.coordinator is None:
        return None if m.find_in_flight or m.fatal_find is not None else m.find_again_at
    return m.pulse.next_deadline()


def is_quiet(m: Membership) -> bool:
    """Return whether the member is Stable, with no request in flight and nothing to do before its
    next deadline.

    Only true for members that subscribe by name and whose next heartbeat is due before session
    and poll expire.
    """
    pulse = m.pulse
    return not (
        m.state is not STABLE
        or m.in_flight
        or m.join is not None
        or m.rejoin_needed
        or m.coordinator is None
        or m.beat_fault is not None
        or joining.rejoin_needed(m)
        or pulse.in_flight
        or m.effects
        or m.commits
        or m.prepare_commit is not None
        or m.offsets_in_flight
        or m.offsets_fault is not None
        or m.metadata_in_flight is not False
        or m.topics_fault is not None
        or m.view is not m.view_seen
        or m.subscribed.pattern is not None
        or pulse.beat_at >= min(pulse.session_expires_at, pulse.poll_expires_at)
    )


def skip(m: Membership, count: int, sent_at: int, answered_at: int) -> None:
    """Update the state as after `count` successful heartbeats of a quiet member, the last one sent
    and answered at these instants.
    """
    m.number += count
    if not m.subscribed.positions:
        offsets.skip_empty_commits(m, sent_at, m.pulse.interval_ms, count)
    m.pulse.sent(sent_at)
    m.pulse.received(answered_at)


def on_heartbeat(m: Membership, sent: InFlight, response: Response | None, now: int) -> None:
    """Handle the answer (CLI-11)."""
    if not isinstance(response, HeartbeatResponse):
        m.pulse.failed(now)
        return
    error = code_of(response.error_code) if response.error_code else ErrorCode.NONE
    if error is ErrorCode.NONE:
        m.pulse.received(now)
    elif error in (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR):
        discovery.forget(m, f"a heartbeat was answered {error.name}")
        m.pulse.failed(now)
    elif error is ErrorCode.REBALANCE_IN_PROGRESS:
        m.pulse.received(now)  # proof of life all the same
        if m.state is STABLE:
            m.request_rejoin("the group rebalances, says the answer to a heartbeat")
    elif error in (
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
    ):
        _on_expelled(m, sent, error, now)
    else:
        m.pulse.failed(now)


def _on_expelled(m: Membership, sent: InFlight, error: ErrorCode, now: int) -> None:
    """Handle an answer that the coordinator does not know this member or its generation. An answer
    for an older generation is ignored.
    """
    if m.generation != sent.generation:
        m.pulse.received(now)
        return
    m.reset_and_rejoin(
        f"{error.name} in the answer to a heartbeat",
        keep_member_id=error is ErrorCode.ILLEGAL_GENERATION,
    )
    if error is ErrorCode.FENCED_INSTANCE_ID:
        m.beat_fault = FencedInstance(
            "Heartbeat", error, f"group.instance.id {m.config.group_instance_id}"
        )
        m.pulse.in_flight = False
    else:
        m.pulse.failed(now)
