"""DeleteGroups (key 42): empty groups and their offsets, removed (KIP-229)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..call import Sliced

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Sliced:
    """Answered at once, one entry a distinct id (DG-*)."""
    return Sliced(broker.coordinate_in_slices(call, call.message))
