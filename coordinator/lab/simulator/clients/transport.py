"""The simulated network as a client's transport (`members.driver.Transport`): connections over a
host's links."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coordinator.members.connections.driver import Answered, Lost
from coordinator.members.effects import Node

from ..environment import Environment
from .connections import ClientConnection


class HostTransport:
    """Connections of one client, whose name is also its host's. `highest`: see `Channel`."""

    def __init__(
        self, world: Environment, host: str, highest: Mapping[int, int] | None = None
    ) -> None:
        self._highest = highest
        self._world = world
        self._host = host

    def now(self) -> int:
        """Return milliseconds since the world's zero."""
        return self._world.now

    def soon(self, action: Callable[[], None]) -> None:
        """Call an action at this same instant, after what is already due."""
        self._world.at(self._world.now, action)

    def connect(
        self, node: Node | None, turn: int, answered: Answered, lost: Lost
    ) -> ClientConnection:
        """Open a connection to a broker; None: to the `turn`-th of all, in a circle."""
        broker = node.node_id if node is not None else turn % len(self._world.brokers.brokers) + 1
        return ClientConnection(
            self._world, self._host, self._host, broker, answered, lost, self._highest
        )
