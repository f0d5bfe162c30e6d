"""A member's connection to a broker in the simulated world: a client's side and a broker's
`Connection`, joined by two pipes.

A broker that does not listen refuses the connection. A broker learns that the client closed it
when the sign of it arrives. This module must not know requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from struct import Struct
from typing import Final

from coordinator.server import data_log
from coordinator.server.connections.connection import Connection
from coordinator.wire.framing import read_request_header
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.primitives import WireError

from ..environment import Environment
from .client_side import Answered, ClientSide, Lost, Sign

_KEY = Struct(">ih")  # size, key
_OF_ITS_SENDER = frozenset({0, 1, 2, 3, 8, 9, 10, 12, 18})
"""Produce, Fetch, ListOffsets, Metadata, OffsetCommit, OffsetFetch, FindCoordinator, Heartbeat,
ApiVersions."""
_CONSUMER_HEARTBEAT: Final = ConsumerGroupHeartbeatRequest.api_key


def concerns_its_sender_alone(what: bytes | Sign) -> bool:
    """Return True if this is no request that could change the response to another member's
    heartbeat, apart from topics that it creates."""
    if isinstance(what, Sign):
        return True
    size, key = _KEY.unpack_from(what)
    if len(what) != 4 + size:
        return False
    return key in _OF_ITS_SENDER or (key == _CONSUMER_HEARTBEAT and _changes_no_epoch(what))


def _changes_no_epoch(what: bytes) -> bool:
    """Return True if this ConsumerGroupHeartbeat cannot change its group's epoch: its member stays
    and changes nothing.

    It may still bring its member to an epoch, confirm a revocation, or find that topics have
    changed. Then the members concerned are not quiet: they have not reached the epoch, wait for
    partitions, or were woken when the topics changed.
    """
    try:
        _, version, _, _, pos = read_request_header(what, 4)
        heartbeat = ConsumerGroupHeartbeatRequest.decode(version, what, pos)
    except WireError:
        return False
    return (
        heartbeat.member_epoch > 0
        and heartbeat.rack_id is None
        and heartbeat.rebalance_timeout_ms == -1
        and heartbeat.subscribed_topic_names is None
        and heartbeat.subscribed_topic_regex is None
        and heartbeat.server_assignor is None
    )


class ClientConnection(ClientSide):
    def __init__(
        self,
        world: Environment,
        host: str,
        client_id: str,
        node: int,
        answered: Answered,
        lost: Lost,
        highest: Mapping[int, int] | None = None,
    ) -> None:
        self._simulated = world
        self._broker_side: Connection | None = None
        super().__init__(world, host, client_id, node, answered, lost, highest)

    @property
    def is_idle(self) -> bool:
        """Return True if the connection is open on both sides, and nothing is in flight,
        unanswered or buffered."""
        broker = self._broker_side
        return (
            super().is_idle
            and broker is not None
            and not broker.closed
            and broker.wants_bytes
            and broker.kept is None
        )

    def _at_broker(self, what: bytes | Sign) -> None:
        world, broker = self._simulated, self._simulated.brokers.brokers[self.node]
        if world.anybody_quiet and not concerns_its_sender_alone(what):
            world.catch_up()
        if what is Sign.OPEN:
            if self.node not in world.listening:
                self._down.send(Sign.END)
                self._up.close()
                return
            make: Callable[..., Connection] = (
                Connection
                if world.rights is None
                else partial(world.rights.connection, client=self._host)
            )
            self._broker_side = make(
                broker,
                peer=world.peer_name(),
                client_host="/10.0.0.1",
                listener="PLAINTEXT",
                write=self._down.send,
                close=self._refused,
            )
            world.accepted[self] = None
            data_log.opened(world.log, self.node, self._broker_side.peer, "PLAINTEXT", world.now)
            self._down.send(Sign.ACCEPTED)
        elif self._broker_side is None:
            self._up.close()
        elif isinstance(what, Sign):
            self._broker_side.lost(world.now)
            self._forget()
            world.settle()
        else:
            known = broker.cluster.version
            self._broker_side.receive(what, world.now)
            world.settle()
            if (
                broker.cluster.version != known
            ):  # members of consumer groups are concerned by each topic
                world.catch_up()

    @property
    def broker_side(self) -> Connection:
        """The broker's side of the connection, which must be open."""
        assert self._broker_side is not None
        return self._broker_side

    def _refused(self, why: str, fault: Exception | None) -> None:
        """Close the connection at the broker, because of what arrived through it."""
        if fault is not None:
            raise fault
        self._down.send(Sign.END)
        if self._broker_side is not None:
            self._broker_side.lost()
        self._forget()

    def broker_ended(self, *, crashed: bool) -> None:
        """Note that the broker's process has ended."""
        if self._broker_side is not None:
            if crashed:
                self._down.unsend()
            self._broker_side.lost()
            self._down.send(Sign.END)
            self._forget()

    def _forget(self) -> None:
        if self._broker_side is not None:
            data_log.closed(
                self._simulated.log,
                self.node,
                self._broker_side.peer,
                self._broker_side.client_id,
                self._simulated.now,
            )
        self._broker_side = None
        self._up.close()
        self._simulated.accepted.pop(self, None)
