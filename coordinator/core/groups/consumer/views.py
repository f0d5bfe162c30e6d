"""View of a consumer group for ConsumerGroupDescribe (K8-DSC-1)."""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.consumer_group_describe import (
    Assignment,
    DescribedGroup,
    TopicPartitions,
)
from coordinator.wire.messages.consumer_group_describe import Member as DescribedMember

from .environment import Environment, Topics
from .java_order import name_order, uuid_order
from .model import ConsumerMembership, Member, Partitions

_CLASSIC, _CONSUMER = 0, 1


def describe(group: ConsumerMembership, environment: Environment) -> DescribedGroup:
    """Return the group as ConsumerGroupDescribe shows it. Deleted topics are left out."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=str(group.state),
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.preferred_assignor() or environment.default_assignor(),
        members=[_member(group, member, environment) for member in group.in_java_order()],
    )


def not_described(group_id: str, error: ErrorCode, message: str | None = None) -> DescribedGroup:
    """Return the entry of a group that cannot be described."""
    return DescribedGroup(group_id=group_id, error_code=error, error_message=message)


def _member(group: ConsumerMembership, member: Member, environment: Environment) -> DescribedMember:
    topics = environment.topics
    has: dict[bytes, list[int]] = {}
    shown = (
        (member.held, member.revoking) if environment.release.has("K8-DSC-43-1") else (member.held,)
    )
    for held in shown:
        for topic_id, partitions in held.items():
            has.setdefault(topic_id, []).extend(partitions)
    return DescribedMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=name_order(sorted(member.topics)),
        subscribed_topic_regex=member.regex,
        assignment=_assignment({t: tuple(has[t]) for t in uuid_order(list(has))}, topics),
        target_assignment=_assignment(group.target(member.member_id), topics),
        member_type=_CONSUMER if member.classic is None else _CLASSIC,
    )


def _assignment(partitions: Partitions, topics: Topics) -> Assignment:
    rows = [
        (topics.topic_name(topic_id), topic_id, numbers) for topic_id, numbers in partitions.items()
    ]
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=i, topic_name=name, partitions=list(p))
            for name, i, p in rows
            if name is not None
        ]
    )
