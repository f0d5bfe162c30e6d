"""AddRaftVoter (key 80), v0-1, and RemoveRaftVoter (key 81), v0: always refused, for the quorum's
voters are static (kraft.version 0).

Order of refusals: no controller reachable (7), another cluster id (104), a voter with a negative
id or without a directory id (42), a voter without a controller endpoint (42), static voters
(35).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.raft_voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call

CONTROLLERS = "CONTROLLER"
"""The listener that controllers reach each other by."""


def handle(broker: Broker, call: Call) -> AddRaftVoterResponse | RemoveRaftVoterResponse:
    """Refuse an AddRaftVoter or RemoveRaftVoter; it is never parked."""
    request = call.message
    assert isinstance(request, AddRaftVoterRequest | RemoveRaftVoterRequest)
    adding = isinstance(request, AddRaftVoterRequest)
    own = broker.cluster.cluster_id
    why: str | None
    if not broker.reaches_controller:
        error, why = ErrorCode.REQUEST_TIMED_OUT, None
    elif request.cluster_id is not None and request.cluster_id != own:
        error, why = (
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f'The given id "{request.cluster_id}" doesn\'t match the cluster id "{own}"',
        )
    elif request.voter_id < 0 or not any(request.voter_directory_id):
        word = "Add" if adding else "Remove"
        error, why = (
            ErrorCode.INVALID_REQUEST,
            f"{word} voter request didn't include a valid voter",
        )
    elif isinstance(request, AddRaftVoterRequest) and CONTROLLERS not in (
        endpoints := _endpoints(request)
    ):
        shown = ", ".join(f"ListenerName({name})={address}" for name, address in endpoints.items())
        error, why = (
            ErrorCode.INVALID_REQUEST,
            (
                f"Add voter request didn't include the endpoint (Endpoints(endpoints={{{shown}}})) for the default listener "
                f"ListenerName({CONTROLLERS})"
            ),
        )
    else:
        doing = "adding" if adding else "removing"
        error, why = (
            ErrorCode.UNSUPPORTED_VERSION,
            f"Cluster doesn't support {doing} voter because the kraft.version feature is 0",
        )
    return (AddRaftVoterResponse if adding else RemoveRaftVoterResponse)(
        error_code=error, error_message=why
    )


def _endpoints(request: AddRaftVoterRequest) -> dict[str, str]:
    """Return the voter's endpoints by listener name; the last of a name wins."""
    return {
        listener.name.upper(): f"{listener.host}/<unresolved>:{listener.port}"
        for listener in request.listeners
    }
