"""State of the network: which brokers run, and which links between brokers, and between a client
and a broker, are whole.

Owns the states of hosts and links as the control verbs set them. Rule: a link is cut in both
directions or in none. A client is known by its client id. Does not depend on brokers' own work, on
clients' connections and on time.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class HostState(Enum):
    """The state of a broker process. A paused one keeps its connections and its beliefs, and does
    nothing."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class Network:
    """The hosts of all brokers and the links between them."""

    def __init__(self, brokers: Iterable[int]) -> None:
        self.hosts: dict[int, HostState] = dict.fromkeys(brokers, HostState.RUNNING)
        self._cut: set[frozenset[int]] = set()
        self._cut_clients: dict[int, list[str]] = {}

    def running(self, broker: int) -> bool:
        """True if a broker does anything."""
        return self.hosts[broker] is HostState.RUNNING

    def reaches(self, one: int, other: int) -> bool:
        """True if two brokers run and their link is whole. A broker that runs reaches itself."""
        running = self.hosts[one] is HostState.RUNNING and self.hosts[other] is HostState.RUNNING
        return running and (not self._cut or frozenset((one, other)) not in self._cut)

    @property
    def whole(self) -> bool:
        """True if all brokers run and no link is cut."""
        if self._cut or (self._cut_clients and any(self._cut_clients.values())):
            return False
        return list(self.hosts.values()).count(HostState.RUNNING) == len(self.hosts)

    def is_cut(self, one: int, other: int) -> bool:
        """True if the link between two brokers is cut, whatever their hosts do."""
        return frozenset((one, other)) in self._cut

    def cut(self, one: int, other: int) -> None:
        """Let nothing pass between two brokers."""
        assert one != other
        self._cut.add(frozenset((one, other)))

    def heal(self, one: int, other: int) -> None:
        """Let things pass again."""
        self._cut.discard(frozenset((one, other)))

    # -- clients

    def cut_clients(self, broker: int) -> list[str]:
        """The client ids whose link to a broker is cut."""
        return self._cut_clients.get(broker, [])

    def cut_client(self, client_id: str, broker: int) -> None:
        """Let nothing pass between a client and a broker."""
        self._cut_clients.setdefault(broker, []).append(client_id)

    def heal_client(self, client_id: str, broker: int) -> None:
        """Let things pass again."""
        self._cut_clients[broker].remove(client_id)
