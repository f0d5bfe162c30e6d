"""The simulated world: brokers, members and links, one clock that jumps from one thing that happens to the next.

Owns the order of everything that happens. Rules: at one instant what was put on the agenda comes first, in the order in which it
was put there, then the brokers, then the members; nothing takes time but links and what brokers and members wait for. A host that
is paused does nothing while time goes on. Does not depend on scenarios.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from itertools import count
from typing import Any

from ..broker.build import topic_options
from ..brokers import Brokers, ClusterOptions, Hosts
from ..cluster.configs import BrokerConfigs
from ..cluster.network import HostState
from ..control.cluster import Verb, perform
from ..control.fault_board import FaultBoard
from ..event_log import EventLog
from .chance import KeyedRandom
from .client_hosts import ClientHosts
from .transport import HostTransport

EPOCH_MS = 1_700_000_000_000
"""The wall clock at the world's zero."""
_MOST_STEPS_AT_ONCE = 1_000_000


class World(ClientHosts):
    """Brokers and members under virtual time. `delay_ms`: the shortest and the longest delay of a message on any link.

    `bytes_per_second`: what each link carries at most; 0: any amount.
    """

    def __init__(
        self, *, seed: int, log: EventLog, topics: Mapping[str, int], brokers: int = 1, config: Mapping[str, str] | None = None,
        delay_ms: tuple[int, int] = (1, 1), metadata_delay_ms: int = 0, bytes_per_second: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(seed=seed, log=log, delay_ms=delay_ms, bytes_per_second=bytes_per_second)
        self.epoch_ms = EPOCH_MS
        self.listening: set[int] = set(range(1, brokers + 1))
        self.accepted: dict[Any, None] = {}
        """Connections (`connections.ClientConnection`) that brokers have accepted."""
        self.steps = 0
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._serial = count()
        self._ports = count(40_000)
        configs = [BrokerConfigs(dict(config or {}), node_id=node) for node in range(1, brokers + 1)]
        self.brokers = Brokers(ClusterOptions(
            configs=configs, random=KeyedRandom(seed, "ids", "brokers"), epoch_ms=EPOCH_MS, topics=topic_options(topics), log=log,
            metadata_delay_ms=metadata_delay_ms))
        for node in self.brokers.brokers:
            self.brokers.set_endpoints(node, {"PLAINTEXT": (f"broker-{node}", 9092)})
        self.hosts = Hosts(self.brokers)
        self.brokers.hosts_changed = self._host_changed
        self.faults = FaultBoard(lambda: list(self.brokers.brokers.values()), seed)
        self._brokers_due = self.brokers.next_deadline()

    # -- time

    def at(self, instant: int, action: Callable[[], None]) -> None:
        """Put something on the agenda."""
        heappush(self._agenda, (instant, next(self._serial), action))

    def run(self, until: int) -> None:
        """Let time pass up to an instant, which belongs to it."""
        steps_here = 0
        while (instant := self._next()) is not None and instant <= until:
            steps_here = steps_here + 1 if instant <= self.now else 0
            assert steps_here < _MOST_STEPS_AT_ONCE, f"time stands still at {self.now} ms"
            self.now = max(self.now, instant)
            self.steps += 1
            self._step()
        self.now = until

    def _next(self) -> int | None:
        instant = self._agenda[0][0] if self._agenda else None
        for other in (self._brokers_due, self._deadlines.next()):
            if other is not None and (instant is None or other < instant):
                instant = other
        return instant

    def _step(self) -> None:
        now = self.now
        if self._agenda and self._agenda[0][0] <= now:
            heappop(self._agenda)[2]()
        elif self._brokers_due is not None and self._brokers_due <= now:
            self.brokers.tick(now)
            self.settle()
        else:
            for member in self._deadlines.due(now):
                if member.name not in self.frozen:
                    member.due()
                break

    def settle(self) -> None:
        """What follows every piece of work of the brokers."""
        self.brokers.run_resumable(self.now)
        for node, broker in self.brokers.brokers.items():
            while broker.postponed and self.brokers.network.running(node):
                broker.next_turn(self.now)
                self.brokers.run_resumable(self.now)
        self._brokers_due = self.brokers.next_deadline()

    # -- brokers, links and clients

    def nodes(self) -> list[int]:
        """The ids of all brokers."""
        return list(self.brokers.brokers)

    def carry_out(self, verb: Verb) -> Verb | None:
        """A verb of the cluster; answers its inverse. Raises ClusterError."""
        return perform(self.hosts, verb, self.now)

    def transport(self, host: str, highest: Mapping[int, int] | None = None) -> HostTransport:
        """What gives the client on a host its connections."""
        return HostTransport(self, host, highest)

    def peer_name(self) -> str:
        """The address of a new connection, as brokers see it."""
        return f"10.0.0.1:{next(self._ports)}"

    def _host_changed(self, node: int, state: HostState) -> None:
        if state is HostState.PAUSED:
            self.frozen.add(node)
        elif state is HostState.STOPPED:
            self.listening.discard(node)
            self.frozen.discard(node)
            for connection in [each for each in self.accepted if each.node == node]:
                connection.broker_ended(crashed=self.hosts.crashed(node))
        elif node in self.frozen:
            self.at(self.now, lambda: self.thaw(node))
        else:
            self.listening.add(node)
            self.faults.install()
