"""State of the network: which brokers run, and which links between brokers, or between a client and
a broker, are cut.

Holds the state that the control verbs set. A link is cut in both directions or not at all. A
client is known by its client id. Does not know what brokers do, connections, or time.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class HostState(Enum):
    """State of a broker process. A paused process keeps its connections and its memory and does
    nothing.
    """

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class Network:
    """Hosts of all brokers, and the links between them."""

    def __init__(self, brokers: Iterable[int]) -> None:
        self.hosts: dict[int, HostState] = dict.fromkeys(brokers, HostState.RUNNING)
        self._cut: set[frozenset[int]] = set()
        self._cut_clients: dict[int, list[str]] = {}

    def running(self, broker: int) -> bool:
        """Return True if a broker's process runs and is not paused."""
        return self.hosts[broker] is HostState.RUNNING

    def reaches(self, one: int, other: int) -> bool:
        """Return True if both brokers run and their link is not cut. A running broker reaches
        itself.
        """
        running = self.hosts[one] is HostState.RUNNING and self.hosts[other] is HostState.RUNNING
        return running and (not self._cut or frozenset((one, other)) not in self._cut)

    @property
    def whole(self) -> bool:
        """True if all brokers run and no link is cut."""
        if self._cut or (self._cut_clients and any(self._cut_clients.values())):
            return False
        return list(self.hosts.values()).count(HostState.RUNNING) == len(self.hosts)

    def is_cut(self, one: int, other: int) -> bool:
        """Return True if the link between two brokers is cut, whatever their hosts' states."""
        return frozenset((one, other)) in self._cut

    def cut(self, one: int, other: int) -> None:
        """Cut the link between two brokers."""
        assert one != other
        self._cut.add(frozenset((one, other)))

    def heal(self, one: int, other: int) -> None:
        """Heal the link between two brokers."""
        self._cut.discard(frozenset((one, other)))

    # -- clients

    def cut_clients(self, broker: int) -> list[str]:
        """Return the client ids whose links to a broker are cut."""
        return self._cut_clients.get(broker, [])

    def cut_client(self, client_id: str, broker: int) -> None:
        """Cut the link between a client and a broker."""
        self._cut_clients.setdefault(broker, []).append(client_id)

    def heal_client(self, client_id: str, broker: int) -> None:
        """Heal the link between a client and a broker."""
        self._cut_clients[broker].remove(client_id)
