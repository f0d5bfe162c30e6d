"""Conversion of groups between protocols: a classic group becomes a consumer group, and back
(K8-MIG-1, K8-MIG-2).

Pure: takes the group, returns the event that says its new form. Depends on both kinds of
membership; neither depends on it.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import set_capacity
from coordinator.events.groups import consumer as cev
from coordinator.wire.consumer_protocol import Assignment, EndsEarly, Subscription, WireError

from .classic.model import ClassicGroup
from .classic.selection import select_protocol
from .consumer.classic_members import PROTOCOL_TYPE, assignment_blob
from .consumer.environment import Environment
from .consumer.heartbeat import reconciled, subscribed
from .consumer.java_order import int_order, uuid_order
from .consumer.model import ConsumerMembership, Held, Member, Partitions
from .consumer.requests import Downgrade, Refused
from .consumer.subscription import metadata_hash
from .consumer.target import told


def refuse_upgrade(group: ClassicGroup, environment: Environment) -> None:
    """Raise Refused with GROUP_ID_NOT_FOUND if a classic group with members may not become a
    consumer group (K8-MIG-1).
    """
    why = None
    if not environment.migration.allows_upgrade:
        why = "online upgrade is disabled."
    elif group.protocol_type != PROTOCOL_TYPE:
        why = "the group does not use the consumer embedded protocol."
    elif len(group.members) > environment.max_size:
        why = "the group size exceeds the consumer group maximum size."
    if why is not None:
        text = f"Cannot upgrade classic group {group.group_id} to consumer group because {why}"
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, text)


def upgraded(group: ClassicGroup, environment: Environment) -> tuple[cev.ConsumerEvent, ...]:
    """Return the events that convert a classic group with members to a consumer group. Raises
    Refused for members whose subscription or assignment cannot be decoded (K8-MIG-1).
    """
    members: list[Member] = []
    named: list[tuple[str, ...]] = []
    topics = environment.topics
    owners: set[tuple[bytes, int]] = set()
    for member in group:
        held = _held(group.group_id, member.assignment, group.generation, environment)
        claimed = {
            (topic_id, partition)
            for topic_id, partitions in held.items()
            for partition in partitions
        }
        if claimed & owners:
            raise Refused(
                ErrorCode.UNKNOWN_SERVER_ERROR
            )  # as Kafka, which keeps one owner for a partition
        owners |= claimed
        try:
            subscription = Subscription.decode(member.metadata(group.protocol_name))
        except WireError as fault:
            raise _unreadable(group.group_id, fault, environment) from None
        named.append(subscription.topics)
        members.append(
            Member(
                member.member_id,
                group.generation,
                group.generation,
                instance_id=member.group_instance_id,
                rack_id=subscription.rack_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                topics=frozenset(subscription.topics),
                held=held,
                classic=cev.ClassicSettings(member.session_timeout_ms, member.protocols),
            )
        )
    first, *others = [member.topics for member in members]
    subscribed_to = first.union(*others)
    targets = [
        cev.Target(m.member_id, told({t: tuple(p) for t, p in m.held.items()}, topics))
        for m in members
    ]
    return (
        cev.ConsumerGroupUpgraded(
            group.generation,
            metadata_hash(subscribed_to, topics),
            tuple(m.member_id for m in members),
        ),
        *map(subscribed, members, named),
        cev.TargetAssigned(group.generation, None, tuple(targets)),
        *(reconciled(member, topics) for member in members),
    )


def _held(group_id: str, blob: bytes, epoch: int, environment: Environment) -> Held:
    if not blob:
        return {}
    try:
        assignment = Assignment.decode(blob)
    except WireError as fault:
        raise _unreadable(group_id, fault, environment) from None
    if assignment.user_data:
        text = (
            f"Cannot upgrade classic group {group_id} to consumer group because an unsupported custom assignor is in use. Please refer to "
            "the documentation or switch to a default assignor before re-attempting the upgrade."
        )
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, text)
    by_id: dict[bytes, dict[int, int]] = {}
    for topic, partitions in assignment.partitions:
        topic_id = environment.topics.topic_id(topic)
        if topic_id is not None:
            order = int_order(list(dict.fromkeys(partitions)), set_capacity(len(partitions)))
            by_id[topic_id] = dict.fromkeys(order, epoch)
    return {topic_id: by_id[topic_id] for topic_id in uuid_order(list(by_id))}


def _unreadable(group_id: str, fault: WireError, environment: Environment) -> Refused:
    """Return the refusal of an upgrade because bytes cannot be decoded; releases before K8-MIG-44-4
    fail with -1 on some.
    """
    if not isinstance(fault, EndsEarly) and not environment.release.has("K8-MIG-44-4"):
        return Refused(ErrorCode.UNKNOWN_SERVER_ERROR)
    text = f"Cannot upgrade classic group {group_id} to consumer group because the embedded consumer protocol is malformed."
    return Refused(ErrorCode.GROUP_ID_NOT_FOUND, text)


def downgraded(
    group: ConsumerMembership, wanted: Downgrade, environment: Environment
) -> cev.ConsumerGroupDowngraded:
    """Return the event that converts a consumer group to a classic one, because all remaining
    members use the classic protocol (K8-MIG-2).
    """
    stay: list[tuple[Member, Partitions]] = [
        (member, group.target(member.member_id))
        for member in group.in_java_order()
        if member.member_id not in wanted.leaving and member.member_id != wanted.replaced
    ]
    if wanted.joining is not None:
        stay.append((wanted.joining, group.target(wanted.replaced or "")))
    name = select_protocol(
        [member.classic.protocols for member, _ in stay if member.classic is not None]
    )
    members = []
    for member, target in stay:
        assert member.classic is not None
        metadata = next(
            (data for protocol, data in member.classic.protocols if protocol == name), b""
        )
        members.append(
            cev.DowngradedMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.classic.session_timeout_ms,
                member.rebalance_timeout_ms,
                member.classic.protocols,
                assignment_blob(dict(target), metadata, environment.topics),
            )
        )
    leader = members[0].member_id  # the first that is added (LEAD-1)
    return cev.ConsumerGroupDowngraded(
        group.group_epoch,
        PROTOCOL_TYPE,
        name,
        leader,
        wanted.leaving,
        wanted.reason,
        tuple(members),
    )
