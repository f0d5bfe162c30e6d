"""ListGroups (key 16): all groups, filtered by state (KIP-518) and type (KIP-848)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Result:
    """Answered at once (LST-*)."""
    return broker.coordinate(call, call.message)
