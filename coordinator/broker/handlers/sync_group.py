"""SyncGroup (key 14): the assignments of a generation, brought by its leader and fetched by all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Result:
    """Parked until the leader's assignments are there (SYNC-*)."""
    return broker.coordinate(call, call.message)
