"""Heartbeat (key 12): a member's sign of life, and how it learns of a rebalance. The hot path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.messages.heartbeat import HeartbeatRequest

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Result:
    """Answered at once; writes no event (HB-*)."""
    assert isinstance(call.message, HeartbeatRequest)
    return broker.coordinator.heartbeat(call.message, call.now)
