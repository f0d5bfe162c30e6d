"""Links with values of their own: those of one kind of clients, and those from one zone to another.

Decides the delay and bandwidth of each link, and the zone of each client and broker. This module
must not know how anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class KindWires(NamedTuple):
    """Links of the clients of a kind. `delay_ms` and `bandwidth` None: as all others."""

    zone: str = ""
    delay_ms: tuple[int, int] | None = None
    bandwidth: int | None = None


@dataclass(frozen=True, slots=True)
class Wires:
    """The links of a scenario. `zones`: the brokers' zones, in turn. `between_zones_ms` None: as
    within a zone."""

    delay_ms: tuple[int, int]
    bandwidth: int
    zones: tuple[str, ...] = ()
    between_zones_ms: tuple[int, int] | None = None
    kinds: Mapping[str, KindWires] = field(default_factory=dict)

    def of(self, host: str, node: int) -> tuple[tuple[int, int], int]:
        """Return the delay and the bandwidth of the links between a client's host and a broker."""
        kind = self._kind(host)
        delay = kind.delay_ms or self.delay_ms
        if self.between_zones_ms is not None and kind.zone and kind.zone != self.of_broker(node):
            delay = self.between_zones_ms
        return delay, self.bandwidth if kind.bandwidth is None else kind.bandwidth

    def of_broker(self, node: int) -> str:
        """Return the zone of a broker, or ""."""
        return self.zones[(node - 1) % len(self.zones)] if self.zones else ""

    def of_client(self, host: str) -> str:
        """Return the zone of a client, or ""."""
        return self._kind(host).zone

    def _kind(self, host: str) -> KindWires:
        return self.kinds.get(host.rpartition("-")[0], KindWires())

    @property
    def longest_ms(self) -> int:
        """The longest delay of any link."""
        others = [kind.delay_ms for kind in self.kinds.values()]
        return max(each[1] for each in (self.delay_ms, self.between_zones_ms, *others) if each)

    @property
    def least_bandwidth(self) -> int:
        """The smallest bandwidth of any link; 0: none is limited."""
        all_ = [self.bandwidth, *(kind.bandwidth or 0 for kind in self.kinds.values())]
        return min((each for each in all_ if each), default=0)

    def parted(
        self, zone: str, hosts: Iterable[str], nodes: Iterable[int]
    ) -> tuple[list[tuple[str, int]], list[tuple[int, int]]]:
        """Return the pairs of clients and brokers, and of brokers, of which one is in the zone
        and the other is not. Clients without a zone are outside."""
        nodes = list(nodes)
        inside = [node for node in nodes if self.of_broker(node) == zone]
        outside = [node for node in nodes if node not in inside]
        clients = [
            (host, node)
            for host in hosts
            for node in (outside if self.of_client(host) == zone else inside)
        ]
        return clients, [(one, other) for one in inside for other in outside]
