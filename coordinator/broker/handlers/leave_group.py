"""LeaveGroup (key 13): members that go, one or a batch (KIP-345), with their reasons (KIP-800)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Result:
    """Answered at once, each member on its own (LV-*)."""
    return broker.coordinate(call, call.message)
