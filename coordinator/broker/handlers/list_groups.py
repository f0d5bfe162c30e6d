"""ListGroups (key 16): all groups, filtered by state (KIP-518) and type (KIP-848)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..call import Sliced

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Sliced:
    """Answered at once (LST-*), in slices: there may be many groups."""
    return Sliced(broker.coordinate_in_slices(call, call.message))
