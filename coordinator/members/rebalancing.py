"""The application's side of a rebalance: callbacks before JoinGroup and after SyncGroup (CLI-23 to
CLI-25, KIP-429).

Eager: all partitions are revoked before joining. Cooperative: partitions that stay are kept,
those that move are revoked after the leader has said so, and the member joins once more.
Partitions of a lost generation are lost, not revoked. Callbacks that raise do not stop the rest;
the first exception is raised at the end, as in Java.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from assignors import Assignment as Plan
from assignors import Assignor, TopicPartition
from coordinator.wire.consumer_protocol import Assignment
from coordinator.wire.primitives import WireError

from . import offsets
from .faults import AssignorFault, BadAssignment, ListenerFault, MemberFault
from .membership import Membership
from .states import REBALANCING
from .subscription import Partitions, in_order

_LEAST_ASSIGNMENT_BYTES = 2
_KEPT_BYTES: Final = 1024
"""Assignments of so many bytes are kept as they were read."""


def prepare(m: Membership, now: int) -> bool:
    """Prepare for JoinGroup (CLI-23): auto-commit and revoke. Return False while the commit is in
    progress; raises ListenerFault.
    """
    if m.join_prepare_expires_at is None:
        m.join_prepare_expires_at = now + m.config.max_poll_interval_ms
    if not offsets.commit_before_rebalance(m, now):
        return False
    try:
        _give_up(m)
    finally:
        m.is_leader = False
        m.subscribed.group_topics = frozenset()
        m.join_prepare_expires_at = None
        m.prepare_committed = False
    return True


def going(m: Membership) -> Partitions:
    """Return the partitions that are revoked before the next JoinGroup, while the auto-commit
    before that is in progress (CLI-23): no records of them are returned any more.
    """
    if m.prepare_commit is None:
        return ()
    return _unsubscribed(m) if m.cooperative and m.generation.is_set else m.subscribed.owned


def _unsubscribed(m: Membership) -> Partitions:
    return tuple(
        [
            partition
            for partition in in_order(m.subscribed.owned)
            if partition.topic not in m.subscribed.topics
        ]
    )


def _give_up(m: Membership) -> None:
    subscribed = m.subscribed
    owned = subscribed.owned_in_order
    fault = None
    if not m.generation.is_set:
        if owned:
            fault = call(m.listener.on_partitions_lost, owned)
            subscribed.own(())
    elif m.cooperative:
        revoked = _unsubscribed(m)
        if revoked:
            fault = call(m.listener.on_partitions_revoked, revoked)
            subscribed.own(
                tuple(
                    [
                        partition
                        for partition in subscribed.owned
                        if partition.topic in subscribed.topics
                    ]
                )
            )
    else:
        fault = call(m.listener.on_partitions_revoked, owned)
        subscribed.own(())
    if fault is not None:
        raise fault


def call(callback: Callable[[Partitions], None], partitions: Partitions) -> ListenerFault | None:
    """Call a callback of the application; return its exception as a fault, to be raised when the
    rest is done.
    """
    try:
        callback(partitions)
    except Exception as error:
        return ListenerFault(getattr(callback, "__name__", str(callback)), error)
    return None


def complete(m: Membership, data: bytes, now: int) -> None:
    """Install the assignment after SyncGroup (CLI-24). Raises the first fault when all is done."""
    if not m.is_leader:
        m.assignment_snapshot = None  # only leaders watch (CLI-21)
    assignor = assignor_called(m, m.generation.protocol_name)
    assignment = _read(data)
    assigned = tuple(
        [
            TopicPartition(topic, number)
            for topic, numbers in assignment.partitions
            for number in numbers
        ]
    )
    subscribed = m.subscribed
    if not subscribed.accepts(assigned):
        m.request_rejoin("the assignment has topics that are not subscribed to (any more)")
        return
    owned, given = set(subscribed.owned), set(assigned)
    added = in_order(given - owned)
    fault: MemberFault | None = None
    if m.cooperative and owned - given:
        revoked = in_order(owned - given)
        fault = call(m.listener.on_partitions_revoked, revoked)
        m.request_rejoin(
            f"partitions were revoked for others to take: {', '.join(map(str, revoked))}"
        )
    _follow_leader(m, assigned)
    unheard = _tell_assignor(
        assignor, Plan(assigned, assignment.user_data), m.generation.generation_id
    )
    m.next_auto_commit_at = now + m.config.auto_commit_interval_ms
    subscribed.own(assigned)
    told = call(m.listener.on_partitions_assigned, added)
    fault = fault or unheard or told
    if fault is not None:
        raise fault


def _follow_leader(m: Membership, assigned: Partitions) -> None:
    """With a pattern, add topics to the subscription that the leader saw earlier than this member."""
    if m.subscribed.pattern is None or m.joined_topics is None:
        return
    added = {partition.topic for partition in assigned} - m.joined_topics
    if added:
        m.subscribed.topics |= added
        m.joined_topics |= added


def _tell_assignor(assignor: Assignor, plan: Plan, generation: int) -> MemberFault | None:
    try:
        assignor.on_assignment(plan, generation)
    except Exception as error:
        return AssignorFault(
            assignor.name,
            "takes an assignment",
            f"on_assignment raised {type(error).__name__}: {error}",
        )
    return None


def _read(data: bytes) -> Assignment:
    if len(data) < _LEAST_ASSIGNMENT_BYTES:
        raise BadAssignment(
            f"the assignment has {len(data)} bytes: the leader's assignor gave this member none, or knew it by another member id"
        )
    try:
        return _decoded(data) if len(data) <= _KEPT_BYTES else Assignment.decode(data)
    except WireError as error:
        raise BadAssignment(f"the assignment cannot be read: {error}") from error


@lru_cache(maxsize=256)
def _decoded(data: bytes) -> Assignment:
    """Decode an assignment; cached, because many members of one process get the same bytes."""
    return Assignment.decode(data)


def leave_prepare(m: Membership) -> None:
    """Revoke all partitions before leaving, or lose them if the generation is gone or not complete
    (CLI-25). Raises ListenerFault.
    """
    owned = in_order(m.subscribed.owned)
    if not owned:
        return
    lost = not m.generation.is_set or m.state in REBALANCING
    fault = call(m.listener.on_partitions_lost if lost else m.listener.on_partitions_revoked, owned)
    m.subscribed.own(())
    if fault is not None:
        raise fault


def assignor_called(m: Membership, name: str | None) -> Assignor:
    """Return the configured assignor of this name. Raises BadAssignment if the coordinator chose
    another.
    """
    for assignor in m.assignors:
        if assignor.name == name:
            return assignor
    raise BadAssignment(
        f"the coordinator chose the assignor {name!r}, configured are {', '.join(a.name for a in m.assignors)}"
    )
