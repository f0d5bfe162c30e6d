"""The simulated world: brokers, members and links, one clock that jumps from one thing that happens to the next.

Owns the order of everything that happens. Rules: at one instant what was put on the agenda comes first, in the order in which it
was put there, then the brokers, then the members; nothing takes time but links and what brokers and members wait for. A host that
is paused does nothing while time goes on. Does not depend on scenarios.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush
from itertools import count
from typing import Any

from ..broker.build import topic_options
from ..brokers import Brokers, ClusterOptions, Hosts
from ..cluster.configs import BrokerConfigs
from ..cluster.network import HostState
from ..control.fault_board import FaultBoard
from ..deadlines import Deadlines
from ..event_log import EventLog
from .chance import Draws, KeyedRandom
from .links import Link
from .member import SimulatedMember
from .producer import SimulatedProducer
from .triggers import Triggers

Client = SimulatedMember | SimulatedProducer
EPOCH_MS = 1_700_000_000_000
"""The wall clock at the world's zero."""
_MOST_STEPS_AT_ONCE = 1_000_000


class World:
    """Brokers and members under virtual time. `delay_ms`: the shortest and the longest delay of a message on any link."""

    def __init__(
        self, *, seed: int, log: EventLog, topics: Mapping[str, int], brokers: int = 1, config: Mapping[str, str] | None = None,
        delay_ms: tuple[int, int] = (1, 1), metadata_delay_ms: int = 0,
    ) -> None:  # fmt: skip
        self.now = 0
        self.epoch_ms = EPOCH_MS
        self.seed = seed
        self.log = log
        self.delay_ms = delay_ms
        self.members: dict[str, Client] = {}
        """Members and producers by name."""
        self.frozen: set[str | int] = set()
        """Paused hosts: members by name, brokers by id."""
        self.listening: set[int] = set(range(1, brokers + 1))
        self.accepted: dict[Any, None] = {}
        """Connections (`connections.ClientConnection`) that brokers have accepted."""
        self.steps = 0
        self.triggers = Triggers(self, log)
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._serial = count()
        self._ports = count(40_000)
        self._links: dict[tuple[str, int, bool], Link] = {}
        self._deadlines: Deadlines[Client] = Deadlines()
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

    # -- members

    def add(self, member: Client) -> None:
        """A member has come."""
        if not member.ended:
            self.members[member.name] = member

    def arm(self, member: Client, deadline: int | None) -> None:
        """A member's next deadline may have changed."""
        if deadline is None:
            self._deadlines.cancel(member)
        else:
            self._deadlines.arm(member, deadline)

    def gone(self, member: Client) -> None:
        """A member has ended."""
        self._deadlines.cancel(member)
        if self.members.get(member.name) is member:
            del self.members[member.name]

    def freeze(self, host: str) -> None:
        """Pause a member's process, as by SIGSTOP."""
        self.frozen.add(host)

    def thaw(self, host: str | int) -> None:
        """Let a paused host go on: first with what came meanwhile."""
        self.frozen.discard(host)
        for (name, node, up), link in self._links.items():
            if host == (node if up else name):
                for pipe in list(link.pipes):
                    pipe.go_on()
        member = self.members.get(host) if isinstance(host, str) else None
        if member is not None:
            member.due()

    # -- links

    def link(self, host: str, node: int, *, up: bool) -> Link:
        """The link from a member's host to a broker (`up`), or back."""
        key = (host, node, up)
        found = self._links.get(key)
        if found is None:
            way = f"{host}>{node}" if up else f"{node}>{host}"
            found = self._links[key] = Link(Draws(self.seed, "delay", way), self.delay_ms)
        return found

    def sent_bytes(self) -> int:
        """How many bytes members and brokers have sent each other so far."""
        return sum(link.sent_bytes for link in self._links.values())

    def links_of(self, host: str, nodes: Iterable[int], direction: str) -> list[Link]:
        """A member's links to brokers: `direction` is both, to_broker or from_broker."""
        ways = {"both": (True, False), "to_broker": (True,), "from_broker": (False,)}[direction]
        return [self.link(host, node, up=up) for node in nodes for up in ways]

    def peer_name(self) -> str:
        """The address of a new connection, as brokers see it."""
        return f"10.0.0.1:{next(self._ports)}"

    # -- brokers

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
