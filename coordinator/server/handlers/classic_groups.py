"""Handlers of the APIs of classic groups' members (but JoinGroup), and of ListGroups and
DeleteGroups. The group coordinator in `core` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.wire.messages.heartbeat import HeartbeatRequest

from ..requests.call import Sliced

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Result


def heartbeat(broker: Broker, call: Call) -> Result:
    """Handle Heartbeat (key 12): a member proves that it is alive and learns of a rebalance. The
    hot path. Answer at once; no event is written (HB-*).
    """
    assert isinstance(call.message, HeartbeatRequest)
    return broker.coordinator.heartbeat(call.message, call.now)


def sync_group(broker: Broker, call: Call) -> Result:
    """Handle SyncGroup (key 14): the leader sends the assignments of a generation, every member
    receives its own. Parked until the leader's assignments have arrived (SYNC-*).
    """
    return broker.groups.coordinate(call, call.message)


def leave_group(broker: Broker, call: Call) -> Result:
    """Handle LeaveGroup (key 13): one or several members leave (KIP-345), with their reasons
    (KIP-800). Answer at once, each member independently (LV-*).
    """
    return broker.groups.coordinate(call, call.message)


def delete_groups(broker: Broker, call: Call) -> Sliced:
    """Handle DeleteGroups (key 42): remove empty groups and their offsets (KIP-229). Answer at
    once, one entry for each distinct id (DG-*).
    """
    return Sliced(broker.groups.coordinate_in_slices(call, call.message))


def list_groups(broker: Broker, call: Call) -> Sliced:
    """Handle ListGroups (key 16): all groups, filtered by state (KIP-518) and type (KIP-848).
    Answer at once, in slices, for there may be many groups (LST-*).
    """
    return Sliced(broker.groups.coordinate_in_slices(call, call.message))
