"""Requests that name several groups, or none: OffsetFetch, DescribeGroups, ListGroups,
DeleteGroups.

Each group has its own error. A group named twice is looked up once. They are served in slices,
for a request may name hundreds of thousands of groups. `ServedGroups` is all they need of the
coordinator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import in_hash_order, java_hash
from coordinator.base.slices import ITEMS_A_STEP, Slices
from coordinator.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from coordinator.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from coordinator.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from coordinator.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)
from coordinator.wire.messages.share_group_describe import ShareGroupDescribeRequest
from coordinator.wire.schema import Response

from ..groups.config import GroupConfig
from ..groups.consumer.offsets import check_fetch
from ..groups.group import Group
from ..groups.offsets import views as offset_views
from ..groups.requests import Reply, Request, RequestContext
from ..groups.views import describe, listed
from .availability import Availability, by_partition
from .journal import Effects, Outcome

#: What an operator who may do everything may do to a group: READ, DELETE, DESCRIBE and the two for
#: its configuration (DSC-4).
_ALL_OPERATIONS = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11


_OFFSETS_AS_A_GROUP: Final = 8
"""So many offsets that are shown cost about as much as looking at a group."""
_LISTED_A_STEP: Final = 1_024


class ServedGroups(Protocol):
    """The part of the group coordinator that these requests use."""

    config: GroupConfig
    availability: Availability

    @property
    def groups(self) -> dict[str, Group]:
        """The served groups by id."""
        ...

    def refuse(self, group_id: str | None, empty_allowed: bool = False) -> ErrorCode:
        """Return the error of the checks before a group is looked up, or NONE."""
        ...

    def find(self, group_id: str, effects: Effects) -> Group | None:
        """Return a served group, or None."""
        ...

    def committed_view(self, group_id: str, group: Group | None) -> Group | None:
        """Return a group with its replicated durable events only (META-2)."""
        ...

    def delete(self, group_id: str, effects: Effects) -> ErrorCode:
        """Delete a group, or return the error."""
        ...

    def partition_for(self, group_id: str) -> int:
        """Return the partition of __consumer_offsets that holds a group (CFG-2)."""
        ...


def fetch_offsets(
    served: ServedGroups, request: OffsetFetchRequest, context: RequestContext, effects: Effects
) -> Slices[Response]:
    """Serve OffsetFetch: one group before version 8, several from then on (OF-9)."""
    if context.api_version < offset_views.BATCHED_FETCH:
        error = served.refuse(request.group_id, empty_allowed=True)
        if error:
            return offset_views.fetch_error_response(request, error, context.api_version)
        group = _as_read(served, request.group_id, served.find(request.group_id, effects), request)
        return OffsetFetchResponse(
            topics=offset_views.fetch_topics(group, request.topics, request.require_stable)
        )
    rows = []
    left = ITEMS_A_STEP
    for asked in request.groups:
        if left <= 0:
            left = ITEMS_A_STEP
            yield
        left -= 1
        error = served.refuse(asked.group_id, empty_allowed=True)
        group = None if error else served.find(asked.group_id, effects)
        if group is not None and group.consumer is not None:
            error = check_fetch(group.consumer, asked.member_id, asked.member_epoch)
        if not error:
            group = _as_read(served, asked.group_id, group, request)
        topics = (
            []
            if error
            else offset_views.fetch_group_topics(group, asked.topics, request.require_stable)
        )
        left -= sum(len(topic.partitions) for topic in topics) // _OFFSETS_AS_A_GROUP
        rows.append(
            OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics, error_code=error)
        )
    return OffsetFetchResponse(groups=rows)


def _as_read(
    served: ServedGroups, group_id: str, group: Group | None, request: OffsetFetchRequest
) -> Group | None:
    """Return the group as the request sees it: with the latest writes if it requires stable
    offsets, else with the replicated ones only (META-2).
    """
    return group if request.require_stable else served.committed_view(group_id, group)


def describe_groups(
    served: ServedGroups, request: DescribeGroupsRequest, context: RequestContext, effects: Effects
) -> Slices[Response]:
    """Serve DescribeGroups, in the order in which Kafka asks its partitions (DSC-5)."""
    rows: dict[str, DescribedGroup] = {}
    order = yield from by_partition(request.groups, served.partition_for)
    for count, group_id in enumerate(dict.fromkeys(order), 1):
        if not count % ITEMS_A_STEP:
            yield
        error = served.refuse(group_id, empty_allowed=True)
        if error:
            rows[group_id] = DescribedGroup(group_id=group_id, error_code=error)
            continue
        group = served.find(group_id, effects)
        if (
            served.committed_view(group_id, group) is None
        ):  # nobody but this broker has it yet; else it is shown as it is here (META-2)
            group = None
        row = rows[group_id] = describe(group, group_id, context.api_version)
        if request.include_authorized_operations and not row.error_code:
            row.authorized_operations = _ALL_OPERATIONS
    return DescribeGroupsResponse(groups=[rows[group_id] for group_id in order])


def list_groups(
    served: ServedGroups, request: ListGroupsRequest, context: RequestContext, effects: Effects
) -> Slices[Response]:
    """Serve ListGroups: all served groups that match the filters (LST-1)."""
    if served.availability.stopped:
        return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    if served.availability.any_loading():
        return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    groups, rows = list(served.groups.values()), []
    for first in range(0, len(groups), _LISTED_A_STEP):
        if first:
            yield
        rows += listed(
            groups[first : first + _LISTED_A_STEP], request.states_filter, request.types_filter
        )
    return ListGroupsResponse(groups=rows)


def delete_groups(
    served: ServedGroups, request: DeleteGroupsRequest, context: RequestContext, effects: Effects
) -> Slices[Response]:
    """Serve DeleteGroups: each group has its own result (DG-1)."""
    rows = []
    hashes: dict[str, int] = {}
    for count, group_id in enumerate(request.groups_names, 1):
        if not count % ITEMS_A_STEP:
            yield
        hashes[group_id] = java_hash(group_id)
    order = yield from by_partition(
        in_hash_order(hashes, hashes.__getitem__), served.partition_for
    )  # DG-2: a set
    for count, group_id in enumerate(order, 1):
        if not count % ITEMS_A_STEP:
            yield
        error = served.refuse(group_id, empty_allowed=True)
        if not error:
            error = served.delete(group_id, effects)
        rows.append(DeletableGroupResult(group_id=group_id, error_code=error))
    return DeleteGroupsResponse(results=rows)


def _describe_consumer_groups(
    served: Any, request: ConsumerGroupDescribeRequest, context: RequestContext, effects: Effects
) -> Slices[Response]:
    """Serve ConsumerGroupDescribe."""
    from . import consumer_requests  # at first use, so that start-up does not load it

    return consumer_requests.describe(served, request, effects)


def _describe_share_groups(
    served: Any, request: ShareGroupDescribeRequest, context: RequestContext, effects: Effects
) -> Slices[Response]:
    """Serve ShareGroupDescribe."""
    from . import share_requests  # at first use, so that start-up does not load it

    return share_requests.describe(served, request, effects)


IN_SLICES: Final[dict[type, Callable[[Any, Any, RequestContext, Effects], Slices[Response]]]] = {
    OffsetFetchRequest: fetch_offsets,
    DescribeGroupsRequest: describe_groups,
    DeleteGroupsRequest: delete_groups,
    ListGroupsRequest: list_groups,
    ConsumerGroupDescribeRequest: _describe_consumer_groups,
    ShareGroupDescribeRequest: _describe_share_groups,
}
"""Requests that may name many groups, or mean all."""


def in_slices(served: ServedGroups, request: Request, now: int) -> Slices[Outcome]:
    """Serve a request of `IN_SLICES`."""
    message, context = request.message, request.context
    effects = Effects(now, context.cause)
    steps = IN_SLICES[type(message)](served, message, context, effects)
    try:
        next(steps)
        while True:
            effects.now = yield
            steps.send(effects.now)
    except StopIteration as end:
        effects.replies.append(Reply(context.token, end.value))
    return effects.outcome()
