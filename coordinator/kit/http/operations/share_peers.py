"""Operations on share peers: consumers of a share group (KIP-932) that process the records they
fetch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..as_text import columns
from ..json_values import DONE, FLAG, NUMBER, TEXT, list_of, object_of
from ..operation import operation
from ..port import Port, Registered
from ..shapes import Option, told
from .peer_orders import register

if TYPE_CHECKING:
    from coordinator.members.live.sharing import SharePeerHandle

_DONE_RECORD = object_of(
    topic=TEXT,
    partition=NUMBER,
    offset=NUMBER,
    delivery_count=NUMBER,
    word={"enum": ["accept", "release", "reject"]},
)
_PEER = object_of(
    peer_id=NUMBER,
    group=TEXT,
    client_id=TEXT,
    member_id=TEXT,
    state=TEXT,
    assigned=list_of(TEXT),
    in_hand=list_of(TEXT),
    renewed=NUMBER,
    done=list_of(_DONE_RECORD),
    ended=FLAG,
    fault=TEXT,
)
_PEERS = columns(
    "share_peers",
    PEER="peer_id",
    GROUP="group",
    CLIENT_ID="client_id",
    STATE=lambda peer: "ended" if peer["ended"] else str(peer["state"]),
    IN_HAND=lambda peer: len(peer["in_hand"]),
    DONE=lambda peer: len(peer["done"]),
    PARTITIONS=lambda peer: " ".join(peer["assigned"]),
)
_SHOWN_AT_MOST = 1_000
_PROBABILITY = Option(metavar="PROBABILITY")


def told_peer(peer: dict[str, Any]) -> str:
    """Return a share peer as text."""
    return _PEERS({"share_peers": [peer]})


@dataclass(frozen=True, slots=True)
class NewSharePeer:
    """A consumer to be started."""

    group: str = told("share group to join")
    topics: list[str] = told("topics to subscribe to")
    processing_ms: int = told("milliseconds of processing per record", 0)
    release: float = told("probability that it releases a record, from 0 to 1", 0.0, _PROBABILITY)
    reject: float = told("probability that it rejects a record, from 0 to 1", 0.0, _PROBABILITY)
    renew_ms: int = told(
        "milliseconds of processing after which it renews the locks of its records, repeatedly; "
        "0: never",
        0,
    )
    config: dict[str, str | int | float | bool] = told("consumer settings by Kafka's names", {})
    user: str | None = told("user to log in as (default: a user who may do everything)", None)


@operation(
    "POST",
    "/share-peers",
    summary="Start a simulated share consumer, which joins a share group.",
    body=NewSharePeer,
    answer=_PEER,
    tell=told_peer,
)
def share_peer_start(port: Port, body: NewSharePeer) -> Any:
    handle = port.kafka.share_peer(
        body.group,
        body.topics,
        processing_ms=body.processing_ms,
        release=body.release,
        reject=body.reject,
        renew_ms=body.renew_ms,
        config=body.config,
        user=body.user,
    )
    return _shown(port.share_peers.add(body.group, handle))


@operation(
    "GET",
    "/share-peers",
    summary="List the share peers that were started over HTTP and not stopped.",
    answer=object_of(share_peers=list_of(_PEER)),
    tell=_PEERS,
)
def share_peer_list(port: Port, body: Any) -> Any:
    return {"share_peers": [_shown(peer) for peer in port.share_peers]}


@operation(
    "GET",
    "/share-peers/{peer_id}",
    summary="Show a share peer, named by its id or client id: the records that it holds and the "
    "latest 1,000 that it has finished.",
    answer=_PEER,
    tell=told_peer,
)
def share_peer_describe(port: Port, body: Any, peer_id: str) -> Any:
    return _shown(port.share_peers.find(peer_id))


_ORDERS = {
    "pause": "Pause the peer: no heartbeats, no polls, until it is resumed.",
    "stall": "Stop the peer's polls while it holds records; its locks expire.",
    "resume": "Resume the peer.",
}
"""Operations without a body: the name of the share peer's method, and the summary of the operation."""


@operation(
    "POST",
    "/share-peers/{peer_id}/stop",
    summary="Make the peer release its records, leave the group and end.",
    answer=DONE,
)
async def share_peer_stop(port: Port, body: Any, peer_id: str) -> Any:
    found = port.share_peers.find(peer_id)
    await found.handle.left()
    port.share_peers.forget(found)
    return {"done": True}


def _shown(peer: Registered[SharePeerHandle]) -> dict[str, Any]:
    handle = peer.handle
    return {
        "peer_id": peer.number,
        "group": peer.group,
        "client_id": handle.client_id,
        "member_id": handle.member_id,
        "state": str(handle.state),
        "assigned": [f"{of.topic}-{of.partition}" for of in handle.assigned],
        "in_hand": [f"{topic}-{partition}@{offset}" for topic, partition, offset in handle.in_hand],
        "renewed": handle.renewed,
        "done": [
            {
                "topic": of.topic,
                "partition": of.partition,
                "offset": of.offset,
                "delivery_count": of.delivery_count,
                "word": of.word,
            }
            for of in handle.done[-_SHOWN_AT_MOST:]
        ],
        "ended": handle.ended,
        "fault": "" if handle.fault is None else str(handle.fault),
    }


register(
    "/share-peers",
    "share_peer",
    _ORDERS,
    "Kill the peer while it holds records.",
    lambda port: port.share_peers,
    _shown,
    _PEER,
    told_peer,
)
