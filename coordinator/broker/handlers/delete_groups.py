"""DeleteGroups (key 42): empty groups and their offsets, removed (KIP-229)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core import Broker, Call, Result


def handle(broker: Broker, call: Call) -> Result:
    """Answered at once, one entry a distinct id (DG-*)."""
    return broker.coordinate(call, call.message)
