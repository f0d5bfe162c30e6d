"""The simulated world: brokers, members and links, and one clock that jumps from one event to the
next.

Owns the order of everything that happens. At one instant the agenda comes first, in the order of
the instants at which its entries were made (messages sent at one instant in the order of their
pipes' numbers), then the brokers, then the members, in the order in which they were added. Only
links, and waits of brokers and members, take time. A paused host does nothing while time goes
on. Heartbeats that change nothing are skipped (`clients/skipping.py`). This module must not know
scenarios; `run.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any

from coordinator.base.contradictions import UNFIT, ContradictionError, what_failed
from coordinator.base.releases import NEWEST, Release
from coordinator.events import EventLog
from coordinator.events.line import LogError
from coordinator.kit.cluster import Verb, perform
from coordinator.kit.injection.fault_board import FaultBoard
from coordinator.server.build import topic_options
from coordinator.server.cluster.network import HostState
from coordinator.server.cluster_runtime import Brokers, ClusterOptions, Hosts
from coordinator.server.settings.broker_configs import BrokerConfigs

from .chance import KeyedRandom
from .clients.client_hosts import Client, ClientHosts
from .clients.member import SimulatedMember
from .clients.skipped_commits import Place
from .clients.skipping import Quiet, begin
from .clients.transport import HostTransport
from .environment import EPOCH_MS

if TYPE_CHECKING:
    from .sight import Sight

_MOST_STEPS_AT_ONCE = 1_000_000


def racks_of(zones: Sequence[str], brokers: int) -> list[str | None]:
    """Return the racks of so many brokers, which are in the zones in turn; without zones there
    are no racks."""
    return [zones[node % len(zones)] if zones else None for node in range(brokers)]


class World(ClientHosts):
    """Brokers and members under virtual time. `delay_ms`: the shortest and the longest delay of a
    message on any link.

    `bytes_per_second`: bandwidth of each link; 0: unlimited. `skips`: heartbeats that change
    nothing are not sent; everything else is the same. `zones`: the brokers' zones, in turn.
    """

    def __init__(
        self,
        *,
        seed: int,
        log: EventLog,
        topics: Mapping[str, int],
        groups: Mapping[str, Mapping[str, str]] | None = None,
        brokers: int = 1,
        config: Mapping[str, str] | None = None,
        zones: Sequence[str] = (),
        release: Release = NEWEST,
        delay_ms: tuple[int, int] = (1, 1),
        metadata_delay_ms: int = 0,
        bytes_per_second: int = 0,
        skips: bool = True,
    ) -> None:
        super().__init__(seed=seed, log=log, delay_ms=delay_ms, bytes_per_second=bytes_per_second)
        self.epoch_ms = EPOCH_MS
        self.listening: set[int] = set(range(1, brokers + 1))
        self.accepted: dict[Any, None] = {}
        """Connections (`connections.ClientConnection`) that brokers have accepted."""
        self.steps = 0
        self.skips = skips
        self._quiet: dict[SimulatedMember, Quiet] = {}
        self._may_skip = False  # while time passes and what happens is not worked out afterwards
        self._place: Place = (0, inf, inf)
        self._agenda: list[tuple[int, int, int, int, Callable[[], None]]] = []
        self._serial = count()
        self._ports = count(40_000)
        configs = [
            BrokerConfigs(dict(config or {}), node_id=node, release=release)
            for node in range(1, brokers + 1)
        ]
        self.brokers = Brokers(
            ClusterOptions(
                configs=configs,
                random=KeyedRandom(seed, "ids", "brokers"),
                epoch_ms=EPOCH_MS,
                topics=topic_options(topics),
                groups=groups or {},
                log=log,
                metadata_delay_ms=metadata_delay_ms,
                racks=racks_of(zones, brokers),
            )
        )
        for node, broker in self.brokers.brokers.items():
            broker.repeated_fetches = {}
            self.brokers.set_endpoints(node, {"PLAINTEXT": (f"broker-{node}", 9092)})
        self.hosts = Hosts(self.brokers)
        self.brokers.hosts_changed = self._host_changed
        self.faults = FaultBoard(lambda: list(self.brokers.brokers.values()), seed)
        self._brokers_due: int | None = None
        self._worked = True  # brokers have done something since `_brokers_due` was asked for

    # -- time

    def at(self, instant: int, action: Callable[[], None], pipe: int = 0) -> None:
        """Call an action at an instant. `pipe`: see `links.Agenda`."""
        heappush(self._agenda, (instant, self.now, pipe, next(self._serial), action))

    def run(self, until: int) -> None:
        """Let time pass up to and including an instant. Raises ContradictionError if the
        simulation, a broker or a member contradicts itself."""
        try:
            self._run(until)
        except LogError:
            raise
        except UNFIT as error:
            what = f"at {self.now} ms, after line {self.brokers.log.seq if self.brokers.log else 0} of the log"
            raise ContradictionError(f"{what}: {what_failed(error)}") from error

    def _run(self, until: int) -> None:
        steps_here, agenda = 0, self._agenda
        self._may_skip = self.skips
        while True:
            if agenda and agenda[0][0] <= self.now:  # it comes first: nobody else is asked
                steps_here += 1
            elif (instant := self._next()) is None or instant > until:
                break
            elif instant > self.now:
                steps_here, self.now = 0, instant
            else:
                steps_here += 1
            assert steps_here < _MOST_STEPS_AT_ONCE, f"time stands still at {self.now} ms"
            self.steps += 1
            self._step()
        self.now = until
        self._place = until, inf, inf
        self._may_skip = False
        self._catch_up(sent_before=until + 1)

    def _next(self) -> int | None:
        if self._worked:
            self._worked, self._brokers_due = False, self.brokers.wake_by()
        instant = self._agenda[0][0] if self._agenda else None
        brokers, member = self._brokers_due, self._deadlines.next()
        if brokers is not None and (instant is None or brokers < instant):
            instant = brokers
        return member if member is not None and (instant is None or member < instant) else instant

    def _step(self) -> None:
        now = self.now
        if self._agenda and self._agenda[0][0] <= now:
            instant, since, pipe, _, action = heappop(self._agenda)
            self._place = instant, since, pipe
            if not pipe:
                self.catch_up()
            action()
            return
        self._place = now, inf, inf
        if self._brokers_due is not None and self._brokers_due <= now:
            self._tick_brokers()
        elif (member := self._deadlines.first()) is not None:
            quiet = self._quiet.get(member) if isinstance(member, SimulatedMember) else None
            if quiet is not None and quiet.go_on(now):
                self.call_at(member, quiet.until)
                return
            if quiet is not None and isinstance(member, SimulatedMember):
                del self._quiet[member]
                quiet.end(self._place, now)
                self._worked = True
                if (again := begin(self, member, refreshes=True)) is not None:
                    self._quiet[member] = again
                    self.call_at(member, again.until)
                    return
            if member.name in self.frozen:
                self._deadlines.cancel(member)
            else:
                member.due()

    def _tick_brokers(self) -> None:
        self._worked, self._brokers_due = False, self.brokers.next_deadline()
        if self._brokers_due is None or self._brokers_due > self.now:
            # it was an instant that nothing is due before, or a session's, which a heartbeat has
            # renewed
            return
        quiet = self.catch_up() if self._quiet and not self.brokers.only_looks(self.now) else []
        self.brokers.tick(self.now)
        self.settle()
        for member in quiet:
            self.arm(member)

    # -- heartbeats that are skipped

    def arm(self, member: Client) -> None:
        """Note that a member's next deadline may have changed. A quiet member is called when it
        has something else to do than to send heartbeats."""
        if self._quiet and isinstance(member, SimulatedMember) and member in self._quiet:
            # quiet since this very instant, at which something else has happened to it: it has lost
            # one of its connections, then another
            self._quiet.pop(member).end(self._place, self.now)
        if (
            self._may_skip
            and isinstance(member, SimulatedMember)
            and not member.ended
            and (quiet := begin(self, member)) is not None
        ):
            self._quiet[member] = quiet
            self.call_at(member, quiet.until)
        else:
            self.call_at(member, member.next_deadline())

    @property
    def anybody_quiet(self) -> bool:
        """Return True if `catch_up` would change the state of any member."""
        return bool(self._quiet)

    def catch_up(self) -> list[SimulatedMember]:
        """Bring quiet members to their present state, because something happens that may concern
        them. Return these members."""
        return self._catch_up(self.now) if self._quiet else []

    def _catch_up(self, sent_before: int) -> list[SimulatedMember]:
        ended, self._quiet = self._quiet, {}
        for member, quiet in ended.items():
            quiet.end(self._place, sent_before)
            self.call_at(member, member.next_deadline())
        if ended:
            self._worked = True
        return list(ended)

    def wake(self, member: SimulatedMember) -> None:
        """End a member's quiet: bring it to its present state."""
        self._quiet.pop(member).end(self._place, self.now)
        self.call_at(member, member.next_deadline())
        self._worked = True

    def at_earlier(self, instant: int) -> Earlier:
        """Return a context in which the world's time is an earlier instant. What is computed
        there must not change anything that happened since."""
        return Earlier(self, instant)

    def settle(self) -> None:
        """Let the brokers finish after some work."""
        self.brokers.run_resumable(self.now)
        for node, broker in self.brokers.brokers.items():
            while broker.turns.postponed and self.brokers.network.running(node):
                broker.next_turn(self.now)
                self.brokers.run_resumable(self.now)
        self._worked = True

    # -- brokers, links and clients

    def nodes(self) -> list[int]:
        """Return the ids of all brokers."""
        return list(self.brokers.brokers)

    def carry_out(self, verb: Verb) -> Verb | None:
        """Carry out a verb of the cluster; return its inverse. Raises ClusterError."""
        return perform(self.hosts, verb, self.now)

    def seen(self) -> Sight:
        """See `ClientHosts.seen`."""
        from .sight import Sight  # for scenarios that look

        return Sight(self.brokers, lambda: self.now)

    def transport(self, host: str, highest: Mapping[int, int] | None = None) -> HostTransport:
        """Return the transport of the client on a host."""
        return HostTransport(self, host, highest)

    def peer_name(self) -> str:
        """Return the address of a new connection, as brokers see it."""
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


class Earlier:
    """A context in which a world's time is an earlier instant (`World.at_earlier`)."""

    __slots__ = ("_before", "_instant", "_world")

    def __init__(self, world: World, instant: int) -> None:
        self._world, self._instant = world, instant

    def __enter__(self) -> None:
        world = self._world
        self._before = world.now, world._may_skip
        world.now, world._may_skip = self._instant, False

    def __exit__(self, *_: object) -> None:
        self._world.now, self._world._may_skip = self._before
