"""Operations on peers: simulated members, with which a test can start a rebalance without a
second consumer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..as_text import columns
from ..json_values import DONE, FLAG, NUMBER, TEXT, list_of, object_of
from ..operation import operation
from ..port import Port, Registered, timeout_of
from ..shapes import HIDDEN, ShapeError, told

if TYPE_CHECKING:
    from coordinator.members.live import PeerHandle

_PEER = object_of(
    peer_id=NUMBER,
    peer=NUMBER | {"deprecated": True, "description": "peer_id by its older name"},
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

    group: str = told("the group it joins")
    topics: list[str] | None = told("what it subscribes to", None)
    pattern: str | None = told(
        "instead of topics, a regular expression that whole names must match", None
    )
    config: dict[str, str | int | float | bool] = told("a consumer's settings by Kafka's names", {})
    keep_going: bool = told("a fault does not end it", False)
    protocol: str | None = told("classic or consumer (KIP-848)", None)
    user: str | None = told("who it logs in as; without one it may do everything", None)
    listener: Any = told(
        "a listener of rebalances is Python code: it cannot be given over HTTP", None, HIDDEN
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """The condition that a wait for a peer ends with."""

    members: int | None = told("the group is Stable with so many members", None)
    after_generation: int = told("in a later generation than this one", -1)
    timeout: float | None = told("how long to wait, in seconds (30)", None)


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
        "whether it says so (LeaveGroup); without it a static member does not", None
    )


@operation(
    "POST",
    "/peers",
    summary="Start a simulated member, on its way into a group.",
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
    summary="The peers that were started over HTTP and not stopped.",
    answer=object_of(peers=list_of(_PEER)),
    tell=_PEERS,
)
def peer_list(port: Port, body: Any) -> Any:
    return {"peers": [_shown(peer) for peer in port.peers]}


@operation(
    "GET",
    "/peers/{peer_id}",
    summary="A peer, by its id or its client id.",
    answer=_PEER,
    tell=told_peer,
)
def peer_describe(port: Port, body: Any, peer_id: str) -> Any:
    return _shown(port.peers.find(peer_id))


@operation(
    "POST",
    "/peers/{peer_id}/wait",
    summary="Wait until it is settled in a generation: with its part of the assignment, and no reason to join again.",
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
    "pause": "Let it stand still: no heartbeats, no polls, nothing read, until it is resumed.",
    "stall": "Let it poll no more: after max.poll.interval.ms it leaves.",
    "resume": "Let it go on.",
    "rebalance": "Let it join anew, so that the group rebalances.",
}
"""Operations without a body: the name of the peer's method, and the summary of the operation."""


def _order(name: str) -> Callable[..., Any]:
    def give(port: Port, body: Any, peer_id: str) -> Any:
        found = port.peers.find(peer_id)
        getattr(found.handle, name)()
        return _shown(found)

    give.__name__ = f"peer_{name}"
    return give


for _name, _summary in _ORDERS.items():
    operation(
        "POST", f"/peers/{{peer_id}}/{_name}", summary=_summary, answer=_PEER, tell=told_peer
    )(_order(_name))


@operation(
    "POST",
    "/peers/{peer_id}/seek",
    summary="Let it pretend to have read up to an offset of a partition that it owns.",
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
    summary="Let it commit all its positions, and wait for the answer.",
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
    "/peers/{peer_id}/crash",
    summary="Let it die without a word; the group notices when its session runs out.",
    answer=DONE,
)
def peer_crash(port: Port, body: Any, peer_id: str) -> Any:
    found = port.peers.find(peer_id)
    found.handle.crash()
    port.peers.forget(found)
    return {"done": True}


@operation(
    "POST",
    "/peers/{peer_id}/stop",
    summary="Let it leave the group and end.",
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
