"""An emulator within a virtual event loop: brokers, their connections in memory, one timer,
peers, and the testing kit. The brokers are those of `Emulator`; this module drives them and
decides who may connect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextvars import copy_context
from os import PathLike
from random import Random
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from coordinator.events import EventLog
from coordinator.events.line import Line
from coordinator.kit.emulator.loop_kit import LoopKit
from coordinator.kit.emulator.options import EmulatorError
from coordinator.kit.session import KitSession
from coordinator.server.cluster.network import HostState
from coordinator.server.cluster_runtime import Brokers, Hosts
from coordinator.server.net.guard import OWN_LISTENER

from .connections import MemoryTransport
from .secured import OWN_PORT, Secured
from .time import VirtualTime

if TYPE_CHECKING:
    from coordinator.kit.emulator.peers import PeersSeen
    from coordinator.members.live import Fleet
    from coordinator.server.broker import Broker
    from coordinator.verbs.brokers import How, Verb

T = TypeVar("T")
_PORT = 9092
_EARLY_MS = 1e-4  # sums of seconds miss a whole millisecond by less


class VirtualBrokers(LoopKit):
    """Brokers under virtual time, with the methods of `Kit`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: VirtualTime,
        brokers: Brokers,
        log: EventLog,
        log_path: str | PathLike[str] | None,
        seed: int,
        latency_s: float,
        secured: Secured,
    ) -> None:
        self.brokers = brokers
        self._secured = secured
        self.seed = seed
        self._loop = loop
        self._clock = clock
        self._log = log
        self._log_path = log_path
        self._latency_s = latency_s
        self._connections: dict[MemoryTransport, None] = {}
        self._number = 0
        self._loop_thread = get_ident()
        self._fleets: dict[str | None, Fleet] = {}
        self._resets = 0
        self._timer = asyncio.TimerHandle(0, self._tick, (), loop, copy_context())
        self._timer_ms: int | None = None  # for when it is set
        self._observers: list[Callable[[], None]] = []
        self._hosts = Hosts(brokers)
        self._listening = set(brokers.brokers)
        for broker in brokers.brokers.values():
            broker.repeated_fetches = {}
        brokers.hosts_changed = self._host_changed
        for node, broker in brokers.brokers.items():
            secured.watch_over(broker)
            brokers.set_endpoints(node, secured.endpoints(f"broker-{node}", _PORT))
        self.settle()

    # -- what an application needs

    @property
    def bootstrap(self) -> str:
        """The value for a client's `bootstrap_servers`."""
        return self._servers(_PORT)

    def _servers(self, port: int) -> str:
        return ",".join(f"broker-{node}:{port}" for node in self.brokers.brokers)

    def client_config(
        self, library: str, *, user: str | None = None, mechanism: str | None = None
    ) -> dict[str, Any]:
        """Return the settings with which a client connects to the brokers, by the names of its
        library. See `Emulator.client_config`."""
        return dict(self._secured.client_config(library, self.bootstrap, user, mechanism))

    @property
    def now_ms(self) -> int:
        """Virtual milliseconds since the beginning."""
        return int(self._clock.now_s * 1000 + _EARLY_MS)

    # -- peers

    def _fleet(self, user: str | None) -> Fleet:
        from coordinator.kit.emulator.peers import told
        from coordinator.kit.emulator.session import entry_of
        from coordinator.members.live import Fleet

        found = self._fleets.get(user)
        if found is None:
            entry, port = None, OWN_PORT if self._secured.has_own_listener else _PORT
            if user is not None:
                entry, port = entry_of(self._secured.access(self.bootstrap, user)), _PORT
            fleet = Fleet(self._servers(port), seed=self.seed, entry=entry)
            whose = "" if user is None else f" of {user}"
            again = f" after reset {self._resets}" if self._resets else ""
            # the same in every run, and no member id twice in one
            fleet.identities = Random(f"{self.seed} peers{whose}{again}")
            found = told(fleet, self._every_broker, self._log, lambda: self.now_ms)
            self._fleets[user] = found
        return found

    def _end_peers(self, peers: PeersSeen) -> None:
        self._resets += 1
        ended = peers.end()
        for each in list(self._connections):
            if each.connection.peer in ended:
                each.cut()

    def _every_broker(self) -> Collection[Broker]:
        return self.brokers.brokers.values()

    def _known_lines(self) -> list[Line]:
        return self._log_lines()

    def _instant(self) -> int:
        return self.now_ms

    # -- brokers that stop

    def control(self, verb: Verb) -> Verb | None:
        """Carry out a verb of `coordinator.control.cluster` and return its inverse."""
        from coordinator.kit.cluster import perform

        return self.run(lambda: perform(self._hosts, verb, self.now_ms))

    def restart(
        self,
        broker: int = 1,
        *,
        how: How = "controlled",
        config: Mapping[str, object] | None = None,
        kafka_version: str | None = None,
    ) -> None:
        """Stop a broker and start it again. `config`: settings that are added to those it had;
        `kafka_version`: another release of Kafka. See `Emulator.restart`."""
        from coordinator.kit.restoring.restarts import prepared
        from coordinator.verbs.brokers import StartBroker, StopBroker

        if broker not in self.brokers.configs:
            raise EmulatorError(
                f"there is no broker {broker}: the brokers are {', '.join(map(str, self.brokers.configs))}"
            )
        put_in_force = prepared(self.brokers.brokers[broker], config or {}, kafka_version)
        self.control(StopBroker(broker, how))
        put_in_force()
        self.control(StartBroker(broker, kafka_version))

    def _host_changed(self, node: int, state: HostState) -> None:
        """Change the connections of a broker that stopped, was paused, or runs again."""
        mine = [each for each in self._connections if each.broker.node_id == node]
        if state is HostState.STOPPED:
            self._listening.discard(node)
            for connection in mine:
                connection.reset()
        elif state is HostState.PAUSED:
            for connection in mine:
                connection.freeze()
        else:
            self._secured.watch_over(self.brokers.brokers[node])
            self._listening.add(node)
            for connection in mine:
                self._loop.call_soon(connection.thaw)

    def drop_connections(self) -> None:
        """End all connections, as a network failure does."""
        for connection in list(self._connections):
            connection.reset()

    # -- the kit's needs

    def run(self, function: Callable[[], T]) -> T:
        """Call a function between two requests."""
        result = function()
        self.settle()
        return result

    def mark(self) -> int:
        """Return the present position in the event log."""
        return self._log.seq + 1

    def event_log(self) -> EventLog:
        """Return the event log."""
        return self._log

    def _log_lines(self) -> list[Line]:
        from coordinator.kit.emulator.session import log_lines

        return log_lines(self._log, self._log_path)

    def _new_session(self) -> KitSession:
        from coordinator.kit.emulator.peers import PeersSeen

        peers = PeersSeen(self._fleets)
        session = KitSession(
            lambda: list(self.brokers.brokers.values()),
            self.brokers.network.running,
            _Clock(self),
            self.seed,
            lambda: {each.connection.client_id for each in self._connections},
            peers.own,
            peers.paused,
            self.drop_connections,
            lambda: True,
            peers.failed,
            lambda: self._end_peers(peers),
        )
        self._observers.append(session.waits.look)
        return session

    # -- the brokers' driver

    def settle(self) -> None:
        """Do the steps that follow each piece of work of the brokers."""
        self.brokers.run_resumable(self.now_ms)
        self._settled()

    def _settled(self) -> None:
        """Continue work that was postponed, notify waits, and set the timer."""
        runtime = self.brokers
        for broker in runtime.brokers.values():
            while broker.turns.postponed:
                broker.next_turn(self.now_ms)
                runtime.run_resumable(self.now_ms)
        for look in self._observers:
            look()
        deadline = runtime.wake_by()
        if deadline is not None and (self._timer_ms is None or deadline < self._timer_ms):
            self._timer_ms = deadline
            self._clock.set(self._timer, deadline / 1000)

    def _tick(self) -> None:
        if self._timer_ms is not None and self._timer_ms <= self.now_ms:
            self._timer_ms = None
            self.brokers.tick(self.now_ms)
            self._settled()

    async def connect(
        self,
        real: Callable[..., Any],
        factory: Callable[[], Any],
        host: Any = None,
        port: Any = None,
        **options: Any,
    ) -> Any:
        """Connect to a virtual broker in memory if the address is one; otherwise call `real`, which is
        `loop.create_connection`, while virtual time stands still. Replaces that method."""
        ports = {_PORT: self._secured.listener}
        if self._secured.has_own_listener:
            ports[OWN_PORT] = OWN_LISTENER
        node = next(
            (node for node in self.brokers.brokers if host == f"broker-{node}" and port in ports),
            None,
        )
        if node is None:
            if not self._clock.waits_for_real_io:
                self._clock.refuse_connection(host, port, self.bootstrap)
            self._clock.started()
            try:
                return _held(self._clock, *await real(factory, host, port, **options))
            finally:
                self._clock.release()
        if options.get("ssl"):
            raise EmulatorError(
                "there is no TLS under virtual time: security_protocol is PLAINTEXT or SASL_PLAINTEXT"
            )
        await asyncio.sleep(self._latency_s)
        if node not in self._listening:
            raise ConnectionRefusedError(f"broker {node} does not run")
        protocol = factory()
        self._number += 1
        broker = self.brokers.brokers[node]
        transport = MemoryTransport(
            self._loop,
            self._clock.turns,
            protocol,
            broker,
            ports[port],
            self._secured.settings(ports[port]),
            self._number,
            self._latency_s,
            lambda: self.now_ms,
            self.settle,
            lambda ended: self._connections.pop(ended, None),
        )
        self._connections[transport] = None
        if not self.brokers.network.running(node):
            transport.freeze()
        protocol.connection_made(transport)
        return transport, protocol

    def stop(self) -> None:
        """Stop the brokers and close all connections."""
        for fleet in self._fleets.values():
            fleet.abandon()
        if self._kit is not None:
            self._kit.waits.fail_all(EmulatorError("the virtual time of the brokers is over"))
        self._timer.cancel()
        self.drop_connections()
        self._log.flush()
        self._log.close()


class _Clock:
    """The brokers' clock, which advances only with the loop's virtual time."""

    def __init__(self, kafka: VirtualBrokers) -> None:
        self._kafka = kafka

    def now(self) -> int:
        return self._kafka.now_ms

    def next_deadline(self) -> int | None:
        return self._kafka.brokers.next_deadline()

    def jump(self, duration_ms: int) -> None:
        raise EmulatorError(
            "virtual time passes by itself: await asyncio.sleep(seconds) instead of kafka.advance(seconds)"
        )

    def tick(self) -> None:
        self._kafka.brokers.tick(self._kafka.now_ms)


def _held(clock: VirtualTime, transport: Any, protocol: Any) -> tuple[Any, Any]:
    """Stop virtual time from each write on a real connection until something is received."""
    waiting = [False]

    def wait(yes: bool) -> None:
        if waiting[0] != yes:
            waiting[0] = yes
            (clock.started if yes else clock.release)()

    def around(owner: Any, name: str, yes: bool) -> None:
        inner = getattr(owner, name, None)
        if inner is None:
            return

        def call(*arguments: Any) -> Any:
            wait(yes)
            return inner(*arguments)

        setattr(owner, name, call)

    around(transport, "write", True)
    for name in ("data_received", "buffer_updated", "eof_received", "connection_lost"):
        around(protocol, name, False)
    return transport, protocol
