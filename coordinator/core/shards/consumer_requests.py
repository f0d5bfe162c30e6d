"""The two requests of the consumer protocol (KIP-848) at the group coordinator: heartbeat and
describe.

Owns the checks before a group is looked up: whether the coordinator serves, the request's own
validity, the group's partition. `consumer_groups` goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, Slices
from coordinator.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.schema import Response

from ..groups.config import GroupConfig
from ..groups.consumer.views import describe as described
from ..groups.consumer.views import not_described
from ..groups.group import Group
from ..groups.requests import RequestContext
from .availability import Availability, by_partition
from .consumer_groups import check, heartbeat_error
from .journal import Effects
from .shard import Shard

ALL_OPERATIONS: Final = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11
"""The operations on a group for one who may do everything: READ, DELETE, DESCRIBE and the two for
its configuration (DSC-4)."""


class Coordinator(Protocol):
    """The part of the group coordinator that these requests use."""

    config: GroupConfig
    availability: Availability

    def refuse(self, group_id: str | None, empty_allowed: bool = False) -> ErrorCode:
        """Return the error of the checks before any group is looked up (ENT-5, ENT-6), or NONE."""

    def find(self, group_id: str, effects: Effects) -> Group | None:
        """Return a served group, or None."""

    def committed_view(self, group_id: str, group: Group | None) -> Group | None:
        """Return a group with its replicated durable events only (META-2)."""

    def partition_shard(self, partition: int) -> Shard:
        """Return the shard of a partition."""

    def partition_for(self, group_id: str) -> int:
        """Return the partition of __consumer_offsets that holds a group (CFG-2)."""


class DescribeRequest(Protocol):
    """Common fields of requests that describe groups."""

    group_ids: list[str]
    include_authorized_operations: bool


class DescribedRow(Protocol):
    """Common fields of described groups."""

    error_code: int
    authorized_operations: int


Row = TypeVar("Row", bound=DescribedRow)


def heartbeat(
    coordinator: Coordinator,
    request: ConsumerGroupHeartbeatRequest,
    context: RequestContext,
    effects: Effects,
) -> Response:
    """Serve a ConsumerGroupHeartbeat after the checks in Kafka's order: 15, the request's own
    validity, then 16 or 14.
    """
    if coordinator.availability.stopped:
        return heartbeat_error(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    if coordinator.config.consumer is None:
        return heartbeat_error(ErrorCode.UNSUPPORTED_VERSION)
    refused = check(request, context.api_version, coordinator.config.consumer)
    if refused is not None:
        return refused
    error = coordinator.refuse(request.group_id)
    if error:
        return heartbeat_error(error)
    shard = coordinator.partition_shard(coordinator.partition_for(request.group_id))
    return shard.consumer_heartbeat(request, context, effects)


def describe(
    coordinator: Coordinator, request: ConsumerGroupDescribeRequest, effects: Effects
) -> Slices[Response]:
    """Serve a ConsumerGroupDescribe, one entry for each group."""
    rows = yield from described_groups(coordinator, request, effects, _describe, not_described)
    return ConsumerGroupDescribeResponse(groups=rows)


def described_groups(
    coordinator: Coordinator,
    request: DescribeRequest,
    effects: Effects,
    describe_one: Callable[[Coordinator, str, Effects], Row],
    not_described: Callable[[str, ErrorCode], Row],
) -> Slices[list[Row]]:
    """Describe groups: entries without an id first, then by partition; each group once, however
    often it is named.
    """
    stopped = coordinator.availability.stopped
    rows = [
        not_described("", ErrorCode.INVALID_GROUP_ID)
        for group_id in request.group_ids
        if not stopped and not group_id
    ]
    known: dict[str, Row] = {}
    order = yield from by_partition(
        [group_id for group_id in request.group_ids if group_id or stopped],
        coordinator.partition_for,
    )
    for count, group_id in enumerate(order, 1):
        if not count % ITEMS_A_STEP:
            yield
        row = known.get(group_id)
        if row is None:
            row = known[group_id] = describe_one(coordinator, group_id, effects)
            if request.include_authorized_operations and not row.error_code:
                row.authorized_operations = ALL_OPERATIONS
        rows.append(row)
    return rows


def _describe(coordinator: Coordinator, group_id: str, effects: Effects) -> DescribedGroup:
    error = coordinator.refuse(group_id)
    if error:
        return not_described(group_id, error)
    group = coordinator.committed_view(group_id, coordinator.find(group_id, effects))
    if group is None or group.consumer is None or coordinator.config.consumer is None:
        text = (
            f"Group {group_id} not found."
            if group is None
            else f"Group {group_id} is not a consumer group."
        )
        return not_described(group_id, ErrorCode.GROUP_ID_NOT_FOUND, text)
    return described(group.consumer, coordinator.config.consumer)
