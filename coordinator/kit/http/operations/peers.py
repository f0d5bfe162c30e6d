"""Operations on peers: simulated members, with which a test can start a rebalance without a
second consumer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..as_text import columns
from ..json_values import DONE, FLAG, NUMBER, TEXT, list_of, object_of
from ..operation import operation
from ..port import Port, Registered, timeout_of
from ..shapes import HIDDEN, ShapeError, told
from .peer_orders import register

if TYPE_CHECKING:
    from coordinator.members.live import PeerHandle

_PEER = object_of(
    peer_id=NUMBER,
    peer=NUMBER | {"deprecated": True, "description": "older name of peer_id"},
    group=TEXT,
    client_id=TEXT,
    member_id=TEXT,
    state=TEXT,
    generation=NUMBER,
    owned=list_of(TEXT),
    is_leader=FLAG,
    paused=FLAG,
    ended=FLAG,
    fault=TEXT,
)


def _state(peer: dict[str, Any]) -> str:
    return "ended" if peer["ended"] else "paused" if peer["paused"] else str(peer["state"])


_PEERS = columns(
    "peers",
    PEER="peer_id",
    GROUP="group",
    CLIENT_ID="client_id",
    STATE=_state,
    GENERATION="generation",
    PARTITIONS=lambda peer: " ".join(peer["owned"]),
)


def told_peer(peer: dict[str, Any]) -> str:
    """Return a peer as text."""
    return _PEERS({"peers": [peer]})


@dataclass(frozen=True, slots=True)
class NewPeer:
    """A member to be started."""

    group: str = told("group to join")
    topics: list[str] | None = told("topics to subscribe to", None)
    pattern: str | None = told(
        "instead of topics: a regular expression that matches whole topic names", None
    )
    config: dict[str, str | int | float | bool] = told("consumer settings by Kafka's names", {})
    keep_going: bool = told("the peer continues after an error", False)
    protocol: str | None = told("classic or consumer (KIP-848)", None)
    user: str | None = told("user to log in as (default: a user who may do everything)", None)
    listener: Any = told(
        "not possible over HTTP: a rebalance listener is Python code", None, HIDDEN
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """The condition that a wait for a peer ends with."""

    members: int | None = told("the group is Stable with this number of members", None)
    after_generation: int = told("a generation above this one", -1)
    timeout: float | None = told("seconds to wait (30)", None)


@dataclass(frozen=True, slots=True)
class Seek:
    """A position."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Leave:
    """The way in which a peer ends."""

    leave: bool | None = told(
        "whether to send LeaveGroup (default: yes, except for a static member)", None
    )


@operation(
    "POST",
    "/peers",
    summary="Start a simulated member, which joins a group.",
    body=NewPeer,
    answer=_PEER,
    tell=told_peer,
)
def peer_start(port: Port, body: NewPeer) -> Any:
    if body.listener is not None:
        raise ShapeError(
            "listener: it is Python code, which cannot be given over HTTP; read /events with stream=member instead"
        )
    handle = port.kafka.peer(
        body.group,
        body.topics,
        pattern=body.pattern,
        config=body.config,
        keep_going=body.keep_going,
        protocol=body.protocol,
        user=body.user,
    )
    return _shown(port.peers.add(body.group, handle))


@operation(
    "GET",
    "/peers",
    summary="List the peers that were started over HTTP and not stopped.",
    answer=object_of(peers=list_of(_PEER)),
    tell=_PEERS,
)
def peer_list(port: Port, body: Any) -> Any:
    return {"peers": [_shown(peer) for peer in port.peers]}


@operation(
    "GET",
    "/peers/{peer_id}",
    summary="Show a peer, named by its id or client id.",
    answer=_PEER,
    tell=told_peer,
)
def peer_describe(port: Port, body: Any, peer_id: str) -> Any:
    return _shown(port.peers.find(peer_id))


@operation(
    "POST",
    "/peers/{peer_id}/wait",
    summary="Wait until the peer has its assignment in the group's generation and no reason to join "
    "again.",
    body=Settled,
    answer=_PEER,
    waits=True,
    tell=told_peer,
)
async def peer_wait(port: Port, body: Settled, peer_id: str) -> Any:
    found = port.peers.find(peer_id)
    await found.handle.stable(
        timeout_of(body.timeout), members=body.members, after_generation=body.after_generation
    )
    return _shown(found)


_ORDERS = {
    "pause": "Pause the peer: no heartbeats, no polls, no reads, until it is resumed.",
    "stall": "Stop the peer's polls: after max.poll.interval.ms it leaves the group.",
    "resume": "Resume the peer.",
    "rebalance": "Make the peer join again, so that the group rebalances.",
}
"""Operations without a body: the name of the peer's method, and the summary of the operation."""


@operation(
    "POST",
    "/peers/{peer_id}/seek",
    summary="Set the peer's position in a partition that it owns.",
    body=Seek,
    answer=_PEER,
    tell=told_peer,
)
def peer_seek(port: Port, body: Seek, peer_id: str) -> Any:
    found = port.peers.find(peer_id)
    found.handle.seek(body.topic, body.partition, body.offset)
    return _shown(found)


@operation(
    "POST",
    "/peers/{peer_id}/commit",
    summary="Make the peer commit all its positions, and wait for the answer.",
    answer=_PEER,
    waits=True,
    tell=told_peer,
)
async def peer_commit(port: Port, body: Any, peer_id: str) -> Any:
    found = port.peers.find(peer_id)
    await found.handle.commit()
    return _shown(found)


@operation(
    "POST",
    "/peers/{peer_id}/stop",
    summary="Make the peer leave the group and end.",
    body=Leave,
    answer=DONE,
)
async def peer_stop(port: Port, body: Leave, peer_id: str) -> Any:
    found = port.peers.find(peer_id)
    found.handle.stop(leave=body.leave)
    await found.handle.left()
    port.peers.forget(found)
    return {"done": True}


def _shown(peer: Registered[PeerHandle]) -> dict[str, Any]:
    handle = peer.handle
    return {
        "peer_id": peer.number,
        "peer": peer.number,
        "group": peer.group,
        "client_id": handle.client_id,
        "member_id": handle.member_id,
        "state": str(handle.state),
        "generation": handle.generation,
        "owned": [f"{tp.topic}-{tp.partition}" for tp in handle.owned],
        "is_leader": handle.is_leader,
        "paused": handle.paused,
        "ended": handle.ended,
        "fault": "" if handle.fault is None else str(handle.fault),
    }


register(
    "/peers",
    "peer",
    _ORDERS,
    "Kill the peer: it sends no LeaveGroup, and the group removes it when its session ends.",
    lambda port: port.peers,
    _shown,
    _PEER,
    told_peer,
)
