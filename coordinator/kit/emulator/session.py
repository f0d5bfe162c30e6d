"""Facts about a running emulator for its testing kit: connected clients, the members that are its
own peers, and the lines of its log.

It connects the kit, which must not know sockets, with the servers. It is loaded when a test
first uses the kit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from os import PathLike
from typing import TYPE_CHECKING

from coordinator.events.line import Line

from ..session import KitSession
from .options import EmulatorError
from .peers import PeersSeen, told

if TYPE_CHECKING:
    from concurrent.futures import Future

    from coordinator.events import EventLog
    from coordinator.members.live import Fleet
    from coordinator.members.live.wire import Entry
    from coordinator.server.broker import Broker
    from coordinator.server.net.server import Server

    from ..waiting import WaitBoard
    from .client_config import Access


def new_session(
    server: Server,
    brokers: Callable[[], list[Broker]],
    running: Callable[[int], bool],
    on_loop: Callable[[], bool],
    seed: int,
    fleets: MutableMapping[str | None, Fleet],
) -> KitSession:
    """Return a kit's session; its waits are checked after every piece of work of the servers."""

    def clients() -> set[str]:
        return {
            protocol.connection.client_id for each in server.group for protocol in each.protocols
        }

    def disconnect() -> None:
        for each in server.group:
            for protocol in list(each.protocols):
                protocol.end()
                protocol.transport.abort()

    peers = PeersSeen(fleets)

    def end_peers() -> None:
        ended = peers.end()
        for each in server.group:
            for protocol in list(each.protocols):
                if protocol.connection.peer in ended:
                    protocol.end()
                    protocol.transport.abort()

    session = KitSession(
        brokers,
        running,
        EmulatorClock(server),
        seed,
        clients,
        peers.own,
        peers.paused,
        disconnect,
        on_loop,
        peers.failed,
        end_peers,
    )
    server.group[0].observers.append(session.waits.look)
    return session


def begin_load(broker: Broker, partition: int | None, waits: WaitBoard, now: int) -> Future[None]:
    """Let a broker begin to load a partition of __consumer_offsets (None: all). The future is
    done when the load is."""
    broker.groups.begin_load(partition, 0, now)
    return waits.begin(
        lambda: ("the end of the load",) if broker.coordinator.is_loading else (), lambda: None
    )


class EmulatorClock:
    """The clock of running servers, as `Kit.advance` moves it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.now = server.now
        self.jump = server.jump

    def next_deadline(self) -> int | None:
        """Return the instant at which something falls due next, or None."""
        return self._server.runtime.next_deadline()

    def tick(self) -> None:
        """Fire the timers that are due."""
        self._server.runtime.tick(self._server.now())


def log_lines(log: EventLog | None, path: str | PathLike[str] | None) -> list[Line]:
    """Return the lines of this run so far. Raises EmulatorError if there is no log."""
    log = log_of(log)
    if path is None:
        return list(log.read())
    from coordinator.events.files import read

    log.flush()
    return list(read(path, log.run))


def log_of(log: EventLog | None) -> EventLog:
    """Return the log. Raises EmulatorError if there is none."""
    if log is None:
        raise EmulatorError(
            "there is no event log: give log=PATH, or remember=100_000 for one in memory"
        )
    return log


def own_routes(
    servers: Mapping[int, Server], listener: str | None = None
) -> dict[tuple[str, int], tuple[str, int]]:
    """Return the addresses to which clients in this process connect, by the address that a broker
    advertises on its first listener, which may not be reachable from here."""
    routes = {}
    for server in servers.values():
        endpoint = server.own_endpoint or server.endpoints[0]
        if listener is not None:
            endpoint = next(each for each in server.endpoints if each.name == listener)
        host = {"": "127.0.0.1", "localhost": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(
            endpoint.host, endpoint.host
        )
        routes[server.broker.cluster.brokers[server.broker.node_id].endpoints[endpoint.name]] = (
            host,
            endpoint.port,
        )
    return routes


def own_addresses(routes: Mapping[tuple[str, int], tuple[str, int]]) -> str:
    """Return the bootstrap servers for clients in this process."""
    return ",".join(
        f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in routes.values()
    )


def new_fleet(
    servers: Mapping[int, Server],
    seed: int,
    log: EventLog | None,
    access: Access | None = None,
    listener: str = "",
) -> Fleet:
    """Return the peers of these brokers. Peers connect to the address on which a broker listens,
    because the advertised one may not be reachable from this machine. `access`: user and
    listener to log in with; None: as the testing kit."""
    from coordinator.members.live import Fleet

    routes = own_routes(servers, listener if access is not None else None)
    addresses = own_addresses(routes)
    return told(
        Fleet(addresses, seed=seed, routes=routes, entry=entry_of(access)),
        lambda: [server.broker for server in servers.values()],
        log,
        next(iter(servers.values())).now,
    )


def entry_of(access: Access | None) -> Entry | None:
    """Return a peer's TLS and login for a listener."""
    if access is None:
        return None
    from coordinator.members.connections.login import Credentials
    from coordinator.members.live.wire import Entry

    from .client_config import OAUTHBEARER

    tls = None
    if access.ca_file is not None:
        import ssl

        tls = ssl.create_default_context(cafile=access.ca_file)
        if access.certificate is not None:
            tls.load_cert_chain(access.certificate)
    if not access.protocol.has_sasl:
        return Entry(tls)
    if access.mechanism == OAUTHBEARER:
        raise EmulatorError(f"user={access.user!r}: peers log in with a password; there is none")
    return Entry(tls, Credentials(access.mechanism, access.user, access.password))
