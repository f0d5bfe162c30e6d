"""Reads snapshots of groups from the broker that coordinates them.

A `GroupSnapshot` combines hard state (members, assignments, offsets), soft state (parked
requests, sessions) and members' activity, and has a sentence about the members that the group
waits for. Called between two requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.groups.consumer.model import ConsumerMembership
from coordinator.core.groups.share.model import ShareMembership
from coordinator.core.shards.by_hand import session_ends
from coordinator.wire.consumer_protocol import Assignment, topics_only
from coordinator.wire.primitives import WireError

from .group_snapshots import CommittedOffset, GroupSnapshot, MemberSnapshot, TopicPartition

if TYPE_CHECKING:
    from coordinator.core.shards.shard import Shard
    from coordinator.server.broker import Broker
    from coordinator.server.storage.partition_log import PartitionLog

Acted = Callable[[str, str, TopicPartition, int], bool]
"""Function (client id, member id, partition, since) that returns True if the member fetched or
committed there since."""
LogOf = Callable[[TopicPartition], "PartitionLog | None"]
"""Function that returns the log of a partition as readers see it, the leader's; None if the
partition does not exist."""
Heard = Callable[[str, str], bool]
"""Function (group id, member id) that returns True if the member has sent a heartbeat since it
got its assignment."""


Reads = Callable[[str, str, TopicPartition], bool]
"""Function (group id, member id, partition) that returns True if a share session of the member
contains the partition."""


def snapshot(
    broker: Broker,
    group_id: str,
    now: int,
    acted: Acted,
    connected: Callable[[str], bool],
    log_of: LogOf,
    heard: Heard = lambda *_: False,
    reads: Reads = lambda *_: False,
) -> GroupSnapshot:
    """Return the present state of the group; `Dead` if it does not exist. `connected`: says
    whether a client id has an open connection."""
    shard = broker.coordinator.shard_of(group_id)
    if shard is None:
        heart = broker.coordinator
        serves = not heart.availability.error(heart.partition_for(group_id))
        return GroupSnapshot(
            group_id, "Dead", at_ms=now, coordinator=broker.node_id if serves else None
        )
    group = shard.groups[group_id]
    membership = group.membership
    if isinstance(membership, ClassicGroup):
        members = _classic_members(shard, membership, acted, connected)
        about: dict[str, Any] = {
            "generation": membership.generation,
            "leader": membership.leader,
            "assignor": membership.protocol_name,
            "waiting_for": _waiting_for(membership, members, now),
        }
    elif isinstance(membership, ShareMembership):
        members = _share_members(broker, shard, membership, connected, reads)
        about = {
            "type": "share",
            "generation": membership.group_epoch,
            "assignor": shard.share.environment.assignor.name,
        }
    else:
        members = _consumer_members(broker, shard, membership, acted, connected)
        about = {
            "type": "consumer",
            "generation": membership.group_epoch,
            "assignor": membership.preferred_assignor(),
        }
    committed = {
        key: CommittedOffset(found.offset, found.metadata, found.leader_epoch, found.committed_ms)
        for key, found in sorted(group.offsets.items())
    }
    if str(group.state) == "Stable":
        members = [member._replace(heard=heard(group_id, member.member_id)) for member in members]
    assigned = {partition for member in members for partition in member.assignment or ()}
    return GroupSnapshot(
        group_id,
        str(group.state),
        members=tuple(members),
        committed=committed,
        lag={} if membership.protocol_type == "share" else _lag(log_of, committed, assigned),
        at_ms=now,
        coordinator=broker.node_id,
        **about,
    )


def _classic_members(
    shard: Shard, group: ClassicGroup, acted: Acted, connected: Callable[[str], bool]
) -> list[MemberSnapshot]:
    members = []
    for member in group:
        assignment = _partitions(member.assignment)
        waits = (
            "JoinGroup" if member.awaiting_join else "SyncGroup" if member.awaiting_sync else None
        )
        has_acted = assignment is not None and all(
            acted(member.client_id, member.member_id, p, group.state_since_ms) for p in assignment
        )
        members.append(
            MemberSnapshot(
                member.member_id,
                member.client_id,
                member.client_host,
                member.group_instance_id,
                _topics(member.metadata(group.protocol_name)),
                assignment,
                _last_seen(shard, group.group_id, member.member_id, member.session_timeout_ms),
                waits,
                has_acted and waits is None,
                connected(member.client_id),
            )
        )
    return members


def _consumer_members(
    broker: Broker,
    shard: Shard,
    group: ConsumerMembership,
    acted: Acted,
    connected: Callable[[str], bool],
) -> list[MemberSnapshot]:
    """Return the members of a KIP-848 group; `assignment` is what each member was last sent."""
    since_ms = group.assignment_ms or 0
    timeout_ms = shard.consumer.environment.settings(group.group_id).session_timeout_ms
    members = []
    for member in group.in_java_order():
        held = _named(broker, member.held)
        topics = member.topics | (
            group.regexes.get(member.regex, frozenset()) if member.regex else frozenset()
        )
        members.append(
            MemberSnapshot(
                member.member_id,
                member.client_id,
                member.client_host,
                member.instance_id,
                tuple(sorted(topics)),
                held,
                _last_seen(shard, group.group_id, member.member_id, timeout_ms),
                None,
                all(acted(member.client_id, member.member_id, p, since_ms) for p in held),
                connected(member.client_id),
                member.member_epoch,
            )
        )
    return members


def _share_members(
    broker: Broker,
    shard: Shard,
    group: ShareMembership,
    connected: Callable[[str], bool],
    reads: Reads,
) -> list[MemberSnapshot]:
    """Return the members of a share group; `assignment` is what each member was last sent."""
    timeout_ms = shard.share.environment.settings(group.group_id).session_timeout_ms
    members = []
    for member in group.in_java_order():
        held = _named(broker, member.held)
        members.append(
            MemberSnapshot(
                member.member_id,
                member.client_id,
                member.client_host,
                None,
                tuple(sorted(member.topics)),
                held,
                _last_seen(shard, group.group_id, member.member_id, timeout_ms),
                None,
                all(reads(group.group_id, member.member_id, partition) for partition in held),
                connected(member.client_id),
                member.member_epoch,
            )
        )
    return members


def _named(broker: Broker, held: Mapping[bytes, Iterable[int]]) -> tuple[TopicPartition, ...]:
    """Return partitions by topic name, without topics that are deleted."""
    topics = broker.cluster.topics_by_id
    return tuple(
        sorted(
            (topics[topic_id].name, index)
            for topic_id, numbers in held.items()
            if topic_id in topics
            for index in numbers
        )
    )


def _last_seen(shard: Shard, group_id: str, member_id: str, timeout_ms: int) -> int:
    """Return the instant when a member's session was last renewed, or -1 if it has no session."""
    ends = session_ends(shard, group_id, member_id)
    return -1 if ends is None else ends - timeout_ms


def _partitions(data: bytes) -> tuple[TopicPartition, ...] | None:
    if not data:
        return None
    try:
        rows = Assignment.decode(data).partitions
    except WireError:
        return None
    return tuple(sorted((row.topic, index) for row in rows for index in row.partitions))


def _topics(subscription: bytes) -> tuple[str, ...]:
    return tuple(sorted(topics_only(subscription) or ()))


def _lag(
    log_of: LogOf,
    committed: Mapping[TopicPartition, CommittedOffset],
    assigned: set[TopicPartition],
) -> dict[TopicPartition, int]:
    """Return the number of records behind the end of each partition, from the committed offset
    or, without one, from the log start offset."""
    lag = {}
    for key in sorted(assigned | committed.keys()):
        log = log_of(key)
        if log is not None:
            start = committed[key].offset if key in committed else log.log_start_offset
            lag[key] = max(log.high_watermark - start, 0)
    return lag


def _waiting_for(classic: Any, members: list[MemberSnapshot], now: int) -> str:
    """Return a sentence about the members that a join or sync phase waits for, or ""."""
    state = str(classic.state)
    if state == "PreparingRebalance":
        absent = [member.name for member in members if member.waits_for != "JoinGroup"]
        until = (
            ""
            if classic.join_deadline is None
            else f", at most {max(classic.join_deadline - now, 0)} ms more"
        )
        if classic.delay_ms is not None:
            return f"the initial rebalance delay runs{until}"
        pending = (
            f" and {len(classic.pending)} pending member id{'' if len(classic.pending) == 1 else 's'}"
            if classic.pending
            else ""
        )
        return f"it waits for {', '.join(absent) or 'no member'}{pending} to rejoin{until}"
    if state == "CompletingRebalance":
        leader = next(
            (member.name for member in members if member.member_id == classic.leader),
            classic.leader,
        )
        until = (
            ""
            if classic.sync_deadline is None
            else f", at most {max(classic.sync_deadline - now, 0)} ms more"
        )
        return f"it waits for the assignment of its leader {leader} (SyncGroup){until}"
    return ""
