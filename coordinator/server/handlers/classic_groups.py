"""Members of classic groups, and what is done to groups by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.wire.messages.heartbeat import HeartbeatRequest

from ..requests.call import Sliced

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Result


def heartbeat(broker: Broker, call: Call) -> Result:
    """Heartbeat (key 12): a member's sign of life, and how it learns of a rebalance. The hot path.

    Answered at once; writes no event (HB-*).
    """
    assert isinstance(call.message, HeartbeatRequest)
    return broker.coordinator.heartbeat(call.message, call.now)


def sync_group(broker: Broker, call: Call) -> Result:
    """SyncGroup (key 14): the assignments of a generation, brought by its leader and fetched by all.

    Parked until the leader's assignments are there (SYNC-*).
    """
    return broker.coordinate(call, call.message)


def leave_group(broker: Broker, call: Call) -> Result:
    """LeaveGroup (key 13): members that go, one or a batch (KIP-345), with their reasons (KIP-800).

    Answered at once, each member on its own (LV-*).
    """
    return broker.coordinate(call, call.message)


def delete_groups(broker: Broker, call: Call) -> Sliced:
    """DeleteGroups (key 42): empty groups and their offsets, removed (KIP-229).

    Answered at once, one entry a distinct id (DG-*).
    """
    return Sliced(broker.coordinate_in_slices(call, call.message))


def list_groups(broker: Broker, call: Call) -> Sliced:
    """ListGroups (key 16): all groups, filtered by state (KIP-518) and type (KIP-848).

    Answered at once (LST-*), in slices: there may be many groups.
    """
    return Sliced(broker.coordinate_in_slices(call, call.message))
