"""Metadata of a member: when it is requested, the effect of an answer (CLI-18 to 20), and topics
that the member may not read.

One request at a time; an answer to fewer topics than wanted by now leaves the need. Unauthorised
and invalid topics are raised at the next poll; missing topics are requested again.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode

from .cluster_view import ClusterView
from .effects import FetchMetadata
from .faults import InvalidTopic, TopicAuthorizationFailed
from .membership import Membership
from .participant import Participant


def need(m: Participant) -> None:
    """Require new metadata."""
    m.metadata_needed = True


def ask(m: Participant, now: int) -> None:
    """Request metadata if it is due and no request is in flight."""
    if m.metadata_in_flight is not False or not m.subscribed.wanted:
        return
    if not (m.metadata_needed or now >= m.metadata_expires_at) or now < m.metadata_again_at:
        return
    wanted = m.subscribed.metadata_topics()
    if wanted is not None and not wanted:
        return
    m.metadata_in_flight = True if wanted is None else wanted
    m.effects.append(FetchMetadata(wanted, m.config.allow_auto_create_topics))


def next_deadline(m: Participant) -> int | None:
    """Return the instant at which `ask` is due, or None."""
    if m.metadata_in_flight is not False or not m.subscribed.wanted:
        return None
    due = 0 if m.metadata_needed else m.metadata_expires_at
    return max(due, m.metadata_again_at)


def on_metadata(m: Participant, view: ClusterView, now: int) -> None:
    """Handle an answer to this member's request; it may contain more topics than requested."""
    m.metadata_in_flight = False
    if not view.covers(m.subscribed.metadata_topics()):
        m.metadata_needed = True
        m.metadata_again_at = now
        return
    m.view = view
    renew(m, now)
    m.metadata_needed = view.unsettled
    if view.unsettled:
        m.metadata_again_at = now + m.metadata_backoff.next()
    else:
        m.metadata_backoff.reset()
    m.topics_fault = None
    if not view.errors:
        return
    for code, kind in (
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, TopicAuthorizationFailed),
        (ErrorCode.INVALID_TOPIC_EXCEPTION, InvalidTopic),
    ):
        named = [
            topic for topic, error in view.errors.items() if error is code and _is_ours(m, topic)
        ]
        if named:
            m.topics_fault = kind(named)
            break


def renew(m: Participant, now: int) -> None:
    """Set the times at which the metadata expires and may be requested again."""
    m.metadata_expires_at = now + m.config.metadata_max_age_ms
    m.metadata_again_at = now + m.config.retry_backoff_ms


def _is_ours(m: Participant, topic: str) -> bool:
    """Return whether an error of this topic concerns this member."""
    return topic in m.subscribed.watched_topics() or bool(
        m.subscribed.pattern and m.subscribed.pattern.fullmatch(topic)
    )


def on_failure(m: Participant, now: int) -> None:
    """Handle a missing answer."""
    m.metadata_in_flight = False
    m.metadata_needed = True
    m.metadata_again_at = now + m.metadata_backoff.next()


def is_fresh(m: Participant) -> bool:
    """Return whether the member has the metadata that it last requested."""
    view = m.view
    if (
        view is None
        or m.metadata_in_flight is not False
        or not view.covers(m.subscribed.metadata_topics())
    ):
        return False
    return not m.metadata_needed or view.unsettled  # what is not available may take for ever


def raise_faults(m: Participant) -> None:
    """Raise, once, the fault about this member's topics in the last answer."""
    if m.topics_fault is not None:
        fault, m.topics_fault = m.topics_fault, None
        raise fault


def take_over(m: Membership) -> None:
    """Update the subscription (CLI-20) and the snapshot (CLI-19) from a new view."""
    if m.view is None or m.view is m.view_seen:
        return
    m.view_seen = m.view
    if m.subscribed.pattern is not None:
        m.subscribed.match(m.view)  # the view is of all topics: nothing further has to be asked for
    take_snapshot(m)


def take_snapshot(m: Membership) -> None:
    """Take a snapshot of the topics that the member, or the group it leads, subscribes to."""
    if m.view is not None:
        m.snapshot = m.view.snapshot(m.subscribed.watched_topics(), m.config.rack is not None)
