"""Discovery of the coordinator, and its loss (CLI-6, CLI-13). A change of coordinator does not
affect the generation.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.schema import Response

from .effects import Disconnect, Node
from .faults import GroupAuthorizationFailed, Refused
from .participant import InFlight, Participant

_GROUP = 0


def ready(m: Participant, now: int) -> bool:
    """Return whether the coordinator is known. If not, send a lookup as soon as the backoff allows.
    Raises the fault that made the last lookup fatal.
    """
    if m.coordinator is not None:
        return True
    if m.fatal_find is not None:
        fault, m.fatal_find = m.fatal_find, None
        raise fault
    look_up(m, now)
    return False


def look_up(m: Participant, now: int) -> None:
    """Send a FindCoordinator to any broker, unless one is in flight or the backoff runs."""
    if m.find_in_flight or now < m.find_again_at or m.fatal_find is not None:
        return
    m.find_in_flight = True
    m.send(FindCoordinatorRequest(key_type=_GROUP, coordinator_keys=[m.config.group_id]), now)


def on_find(m: Participant, sent: InFlight, response: Response | None, now: int) -> None:
    """Handle the answer; a missing answer counts as a retriable failure."""
    m.find_in_flight = False
    row = (
        response.coordinators[0]
        if isinstance(response, FindCoordinatorResponse) and response.coordinators
        else None
    )
    if row is not None and not row.error_code:
        m.coordinator = Node(row.node_id, row.host, row.port)
        m.find_backoff.reset()
        m.coordinator_found(now)
        return
    m.find_again_at = now + m.find_backoff.next()
    if row is None:
        return
    if row.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
        m.fatal_find = GroupAuthorizationFailed(
            "FindCoordinator", row.error_code, f"group {m.config.group_id}"
        )
        return
    fault = Refused("FindCoordinator", row.error_code)
    if not fault.retriable:
        m.fatal_find = fault


def forget(m: Participant, why: str, *, disconnected: bool = False) -> None:
    """Forget the coordinator, and close its connection unless it is lost already."""
    if m.coordinator is None:
        return
    node, m.coordinator = m.coordinator, None
    m.find_again_at = 0
    if not disconnected:
        m.effects.append(Disconnect(node, why))
