"""View of a share group for ShareGroupDescribe (SH-DSC-1)."""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.share_group_describe import (
    Assignment,
    DescribedGroup,
    TopicPartitions,
)
from coordinator.wire.messages.share_group_describe import Member as DescribedMember

from ..consumer.environment import Topics
from ..consumer.java_order import name_order
from .environment import ShareEnvironment
from .model import Member, ShareMembership


def describe(group: ShareMembership, environment: ShareEnvironment) -> DescribedGroup:
    """Return the group as ShareGroupDescribe shows it. Deleted topics are left out."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=str(group.state),
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=environment.assignor.name,
        members=[_member(member, environment.topics) for member in group.in_java_order()],
    )


def not_described(group_id: str, error: ErrorCode, message: str | None = None) -> DescribedGroup:
    """Return the entry of a group that cannot be described."""
    return DescribedGroup(group_id=group_id, error_code=error, error_message=message)


def _member(member: Member, topics: Topics) -> DescribedMember:
    rows = [(topics.topic_name(t), t, numbers) for t, numbers in member.held.items()]
    return DescribedMember(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=name_order(sorted(member.topics)),
        assignment=Assignment(
            topic_partitions=[
                TopicPartitions(topic_id=t, topic_name=name, partitions=list(numbers))
                for name, t, numbers in rows
                if name is not None
            ]
        ),
    )
