"""The hosts of members and producers in a world, and their links to brokers: which clients run,
which hosts are paused, which links are cut.

This is what the simulated world and a live one have in common. A paused host does nothing while
time goes on, and later handles what arrived meanwhile. This module must not know how brokers are
reached, nor where time comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from coordinator.base.deadlines import Deadlines
from coordinator.server.cluster_runtime import ClusterError
from coordinator.server.cluster_runtime.clocks import jump_refusal

from ..chance import Draws
from ..links import Link
from ..triggers import Triggers

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.kit.cluster import Verb
    from coordinator.kit.injection.fault_board import FaultBoard

    from ..environment import Rights
    from ..sight import Sight
    from ..wires import Wires
    from .member import SimulatedMember
    from .producer import SimulatedProducer
    from .share_member import SimulatedShareMember

Client: TypeAlias = "SimulatedMember | SimulatedShareMember | SimulatedProducer"
DIRECTIONS = {"both": (True, False), "to_broker": (True,), "from_broker": (False,)}


class ClientHosts:
    """Members and producers by name, each with a host of its own. `delay_ms`, `bytes_per_second`:
    of every link."""

    now: int = 0
    pipes: int = 0
    epoch_ms: int = 0
    faults: FaultBoard
    """Faults of requests. Missing in a world whose brokers are not ours."""

    def __init__(
        self,
        *,
        seed: int,
        log: EventLog,
        delay_ms: tuple[int, int] = (1, 1),
        bytes_per_second: int = 0,
    ) -> None:
        self.seed = seed
        self.log = log
        self.delay_ms = delay_ms
        self.bytes_per_second = bytes_per_second
        self.rights: Rights | None = None
        """Users and their rights; None: everybody may do everything."""
        self.wires: Wires | None = None
        """Kinds of links, if they are not all alike; else None."""
        self.members: dict[str, Client] = {}
        """Members and producers by name."""
        self.on_death: Callable[[str], None] = lambda name: None
        """Called with the name of a client that ended by an error of its own."""
        self.frozen: set[str | int] = set()
        """Paused hosts: members by name, brokers by id."""
        self._clocks_ahead_ms: dict[str, int] = {}
        self.triggers = Triggers(self, log)
        self._deadlines: Deadlines[Client] = Deadlines()
        self._links: dict[tuple[str, int, bool], Link] = {}
        self._began: dict[str, tuple[int, int]] = {}
        """For each host the instant at which a process last began there, and the number of
        processes that began at that instant."""

    def new_process(self, host: str) -> str:
        """Return a unique mark for a process that starts on a host now."""
        instant, count = self._began.get(host, (self.now, 0))
        count = count + 1 if instant == self.now else 1
        self._began[host] = self.now, count
        return f"{host} {self.now}" if count == 1 else f"{host} {self.now} {count}"

    # -- what each world has in its own way

    def at(self, instant: int, action: Callable[[], None], pipe: int = 0) -> None:
        """Call an action at an instant. `pipe`: see `links.Agenda`."""
        raise NotImplementedError

    def transport(self, host: str, highest: Any = None) -> Any:
        """Return the transport of the client on a host."""
        raise NotImplementedError

    def nodes(self) -> Sequence[int]:
        """Return the brokers that links lead to."""
        raise NotImplementedError

    def carry_out(self, verb: Verb) -> Verb | None:
        """Carry out a verb of the cluster; return its inverse. Raises ClusterError."""
        raise NotImplementedError

    def settle(self) -> None:
        """Let the brokers do what a piece of work has made due."""
        raise NotImplementedError

    def seen(self) -> Sight:
        """Return queries about the brokers, if they are ours."""
        raise NotImplementedError

    # -- members

    def add(self, member: Client) -> None:
        """Add a member."""
        if not member.ended:
            self.members[member.name] = member

    def arm(self, member: Client) -> None:
        """Note that a member's next deadline may have changed."""
        self.call_at(member, member.next_deadline())

    def call_at(self, member: Client, deadline: int | None) -> None:
        """Call a member at this instant; None: never by itself."""
        if deadline is None:
            self._deadlines.cancel(member)
        else:
            self._deadlines.arm(member, deadline)

    def gone(self, member: Client) -> None:
        """Note that a member has ended."""
        self._deadlines.cancel(member)
        if self.members.get(member.name) is member:
            del self.members[member.name]
            if member.died:
                self.on_death(member.name)

    def freeze(self, host: str) -> None:
        """Pause a member's process, as by SIGSTOP."""
        self.frozen.add(host)

    def thaw(self, host: str | int) -> None:
        """Resume a paused host: first it handles what arrived meanwhile."""
        self.frozen.discard(host)
        for (name, node, up), link in list(self._links.items()):  # who goes on may open a link
            if host == (node if up else name):
                for pipe in list(link.pipes):
                    pipe.go_on()
        member = self.members.get(host) if isinstance(host, str) else None
        if member is not None:
            member.due()

    def wall_ms(self, host: str) -> int:
        """Return the Unix milliseconds at instant 0 by the wall clock of a member's host, which
        may have jumped."""
        return self.epoch_ms + self._clocks_ahead_ms.get(host, 0)

    def jump_clock(self, host: str, by_ms: int) -> None:
        """Move the wall clock of a member's host; its timers are unchanged. Raises ClusterError
        if that is impossible."""
        refusal = jump_refusal(by_ms, self.wall_ms(host) + self.now + by_ms)
        if refusal:
            raise ClusterError(f"{host}: {refusal}")
        self._clocks_ahead_ms[host] = self._clocks_ahead_ms.get(host, 0) + by_ms
        member = self.members.get(host)
        if member is not None:
            member.clock_jumped()

    # -- links

    def link(self, host: str, node: int, *, up: bool) -> Link:
        """Return the link from a member's host to a broker (`up`), or back."""
        key = (host, node, up)
        found = self._links.get(key)
        if found is None:
            way = f"{host}>{node}" if up else f"{node}>{host}"
            delay_ms, bandwidth = (
                (self.delay_ms, self.bytes_per_second)
                if self.wires is None
                else self.wires.of(host, node)
            )
            found = self._links[key] = Link(Draws(self.seed, "delay", way), delay_ms, bandwidth)
        return found

    def links_of(self, host: str, nodes: Iterable[int], direction: str) -> list[Link]:
        """Return a member's links to brokers. `direction`: both, to_broker or from_broker."""
        return [self.link(host, node, up=up) for node in nodes for up in DIRECTIONS[direction]]

    def links_to(self, host: str, broker: int | None, direction: str) -> list[Link]:
        """Return a member's links to one broker; None: to all."""
        return self.links_of(host, self.nodes() if broker is None else [broker], direction)

    def sent_bytes(self) -> int:
        """Return the number of bytes that members and brokers have sent each other so far."""
        return sum(link.sent_bytes for link in self._links.values())
