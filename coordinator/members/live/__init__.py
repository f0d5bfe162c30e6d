"""Members on real sockets: the same machines as everywhere, driven by asyncio, against any Kafka.

    async with Fleet("127.0.0.1:9092") as fleet:
        peers = [fleet.peer(MemberConfig(group_id="billing", client_id=f"c{i}"), topics=["orders"]) for i in range(50)]
        await fleet.stable(peers)

Peers share the loop, one timer, one receive buffer and one connection for metadata and
discovery; each has its own connection to the coordinator, because a parked JoinGroup blocks its
connection. The only part of `members` with a clock. Begin with `fleet.py` and `peer.py`.
"""

from __future__ import annotations

from .fleet import Fleet, FleetError
from .handle import PeerHandle
from .peer import Peer, PeerError
from .recorder import Callback

__all__ = ["Callback", "Fleet", "FleetError", "Peer", "PeerError", "PeerHandle"]
