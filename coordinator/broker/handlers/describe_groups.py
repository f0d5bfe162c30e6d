"""DescribeGroups (key 15): state, members and assignments of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core import Broker, Call, Result


def handle(broker: Broker, call: Call) -> Result:
    """Answered at once, one entry an id, doubled ids twice (DSC-*)."""
    return broker.coordinate(call, call.message)
