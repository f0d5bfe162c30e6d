"""Reconciliation of a member of the consumer protocol: taking over an assignment, and losing
partitions (K8-CL-4).

Auto-commit first, then partitions are revoked, then new ones assigned, then the next heartbeat
acknowledges. Topics come as ids: those without a known name wait for metadata, the others go on.
A callback that raises leaves the member where it was: the next poll tries again, and nothing is
acknowledged, so that in the end the coordinator removes the member.
"""

from __future__ import annotations

from assignors import TopicPartition

from .. import offsets, topics
from ..consumer_states import (
    ACKNOWLEDGING,
    FENCED,
    JOIN_EPOCH,
    JOINING,
    RECONCILING,
    STALE,
    UNSUBSCRIBED,
    LocalAssignment,
)
from ..faults import ListenerFault
from ..rebalancing import call
from ..subscription import Partitions, in_order
from .membership import ConsumerMembership


def join_if_out(m: ConsumerMembership) -> None:
    """When the application polls, lose the partitions of a fenced or stale member, and join
    (again). Raises ListenerFault.
    """
    if m.state is UNSUBSCRIBED and m.subscription_is_new:
        m.subscription_is_new = False
        _join(m)
    elif m.state in (FENCED, STALE):
        try:
            lose(m)
        finally:
            _join(m)


def _join(m: ConsumerMembership) -> None:
    m.take_epoch(JOIN_EPOCH)
    m.forget_assignment()
    m.acknowledged = False
    m.move(JOINING)


def lose(m: ConsumerMembership) -> None:
    """Call on_partitions_lost, because other members may own the partitions by now. Raises
    ListenerFault after that.
    """
    owned = in_order(m.subscribed.owned)
    fault = call(m.listener.on_partitions_lost, owned) if owned else None
    m.subscribed.own(())
    m.forget_assignment()
    if fault is not None:
        raise fault


def give_up(m: ConsumerMembership) -> None:
    """Revoke all partitions before leaving, or lose them if the member is no longer in the group.
    Raises ListenerFault after that.
    """
    owned = in_order(m.subscribed.owned)
    fault = None
    if owned:
        fault = call(
            m.listener.on_partitions_revoked
            if m.member_epoch > JOIN_EPOCH
            else m.listener.on_partitions_lost,
            owned,
        )
    m.subscribed.own(())
    m.forget_assignment()
    if fault is not None:
        raise fault


def reconcile(m: ConsumerMembership, now: int) -> None:
    """Continue to take over the target as far as possible. Raises ListenerFault."""
    if m.state is not RECONCILING or m.current == m.target:
        return
    if m.reconciling is None:
        resolved = _resolve(m)
        if not m.current.is_none and resolved.partitions == m.current.partitions:
            if (
                resolved != m.current
            ):  # as much as can be had for now; the rest follows the metadata
                m.current = resolved
                m.move(ACKNOWLEDGING)
            return
        m.reconciling = resolved
        m.join_prepare_expires_at = now + m.config.max_poll_interval_ms
    if not offsets.commit_before_rebalance(m, now):
        return
    taken = m.reconciling
    m.stop_reconciling()
    _take_over(m, taken, now)


def going(m: ConsumerMembership) -> Partitions:
    """Return the partitions that are revoked next, while the auto-commit before that is in progress
    (K8-CL-4).
    """
    if m.reconciling is None or m.prepare_commit is None:
        return ()
    given = set(_named(m, m.reconciling))
    return tuple([partition for partition in m.subscribed.owned if partition not in given])


def _take_over(m: ConsumerMembership, taken: LocalAssignment, now: int) -> None:
    given = _named(m, taken)
    owned = set(m.subscribed.owned)
    revoked, added = in_order(owned - set(given)), in_order(set(given) - owned)
    if revoked:
        _raise(call(m.listener.on_partitions_revoked, revoked))
    m.subscribed.own(given)
    _raise(call(m.listener.on_partitions_assigned, added))
    m.current = taken
    m.names = {topic: name for topic, name in m.names.items() if topic in taken.partitions}
    m.next_auto_commit_at = now + m.config.auto_commit_interval_ms
    m.move(ACKNOWLEDGING)


def _raise(fault: ListenerFault | None) -> None:
    if fault is not None:
        raise fault


def _resolve(m: ConsumerMembership) -> LocalAssignment:
    """Return the part of the target whose topic names are known; metadata is requested for the
    rest.
    """
    known = (
        {topic.topic_id: topic.name for topic in m.view.topics.values()}
        if m.view is not None
        else {}
    )
    for topic in m.target.partitions:
        if topic in known:
            m.names[topic] = known[topic]
    unresolved = [topic for topic in m.target.partitions if topic not in m.names]
    if not unresolved:
        return m.target
    topics.need(m)
    return LocalAssignment(
        m.target.number,
        {topic: rows for topic, rows in m.target.partitions.items() if topic in m.names},
    )


def _named(m: ConsumerMembership, assignment: LocalAssignment) -> Partitions:
    return tuple(
        [
            TopicPartition(m.names[topic], number)
            for topic, numbers in assignment.partitions.items()
            for number in numbers
        ]
    )
