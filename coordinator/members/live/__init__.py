"""Members on real sockets: the same machine as everywhere, driven by asyncio, against any Kafka.

    async with Fleet("127.0.0.1:9092") as fleet:
        peers = [fleet.peer(MemberConfig(group_id="billing", client_id=f"c{i}"), topics=["orders"]) for i in range(50)]
        await fleet.stable(peers)

Peers share the loop, one timer, one receive buffer and one connection for metadata and discovery;
each has a connection of its own to the coordinator, because a parked JoinGroup holds up the
connection it came on. The only part of `members` with a clock.
"""

from __future__ import annotations

from .fleet import Fleet, FleetError
from .handle import PeerHandle
from .peer import Peer, PeerError
from .recorder import Callback

__all__ = ["Callback", "Fleet", "FleetError", "Peer", "PeerError", "PeerHandle"]
