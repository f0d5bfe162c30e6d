"""DescribeGroups (key 15): state, members and assignments of classic groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

from ..requests.call import Sliced

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result

NOT_ASKED = -(1 << 31)
_OF_CONFIGS = 1 << 10 | 1 << 11
"""DESCRIBE_CONFIGS and ALTER_CONFIGS, as bits of what a client may do with a group."""


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle a DescribeGroups: one entry for each id; a group named twice is described once and
    shown twice (DSC-*).
    """
    return Sliced(_describe(broker, call))


def _describe(broker: Broker, call: Call) -> Slices[Result]:
    """A generator and no function of one group: the group coordinator takes all of them, in slices of
    its own.
    """
    request = call.message
    assert isinstance(request, DescribeGroupsRequest)
    answer = yield from broker.groups.coordinate_in_slices(call, request)
    assert isinstance(answer, DescribeGroupsResponse)
    if not broker.configs.release.has("DSC-40-1"):
        for group in answer.groups:
            _show_as_before(group)
    return answer


def _show_as_before(group: DescribedGroup) -> None:
    """Change a group's description to that of older releases (DSC-40-1): assignments only if
    Stable, and no operations on configurations.
    """
    if group.authorized_operations != NOT_ASKED:
        group.authorized_operations &= ~_OF_CONFIGS
    if group.group_state != "Stable":
        for member in group.members:
            member.member_assignment = b""
