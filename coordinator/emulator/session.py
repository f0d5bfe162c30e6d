"""What an emulator gives its testing kit: who is connected, which members are its own peers, and
the lines of its log.

It stands between the sockets, which `control` does not depend on, and the kit. Loaded when a test
first asks for something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from assignors.registry import BUILT_IN_NAMES

from ..control.session import KitSession
from ..errors import ErrorCode
from ..groups.classic.model import ClassicGroup
from ..groups.consumer.model import ConsumerMembership
from ..groups.share.model import ShareMembership
from .options import EmulatorError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..broker.core import Broker
    from ..control.waiting import WaitBoard
    from ..event_log import EventLog
    from ..members import MemberConfig, MemberFault
    from ..members.live import Fleet
    from ..members.live.peer import Peer
    from ..members.live.recorder import Callback
    from ..members.live.wire import Entry
    from ..net.server import Server
    from .client_config import Access

_STRATEGY, COOPERATIVE = "partition.assignment.strategy", "cooperative-sticky"
_KINDS = {
    "assigned": "PartitionsAssigned",
    "revoked": "PartitionsRevoked",
    "lost": "PartitionsLost",
}


def new_session(
    server: Server,
    brokers: Callable[[], list[Broker]],
    running: Callable[[int], bool],
    on_loop: Callable[[], bool],
    seed: int,
    fleets: Callable[[], Iterable[Fleet]],
) -> KitSession:
    """A kit's session; its waits are looked at after every piece of work of the servers."""

    def clients() -> set[str]:
        return {
            protocol.connection.client_id for each in server.group for protocol in each.protocols
        }

    def own_members() -> dict[str, frozenset[tuple[str, int]]]:
        peers = [peer for fleet in fleets() for peer in fleet.peers]
        return {
            peer.member_id: frozenset((tp.topic, tp.partition) for tp in peer.owned)
            for peer in peers
            if peer.settled
        }

    def paused() -> set[str]:
        return {peer.member_id for fleet in fleets() for peer in fleet.peers if peer.paused}

    def disconnect() -> None:
        for each in server.group:
            for protocol in list(each.protocols):
                protocol.end()
                protocol.transport.abort()

    def failed(group_id: str) -> dict[str, str]:
        peers = [peer for fleet in fleets() for peer in fleet.failed]
        return {
            peer.client_id: str(peer.fault)
            for peer in peers
            if peer.member.config.group_id == group_id
        }

    session = KitSession(
        brokers,
        running,
        EmulatorClock(server),
        seed,
        clients,
        own_members,
        paused,
        disconnect,
        on_loop,
        failed,
    )
    server.group[0].observers.append(session.waits.look)
    return session


def begin_load(broker: Broker, partition: int | None, waits: WaitBoard, now: int) -> Future[None]:
    """Let a broker begin to load a partition of __consumer_offsets (None: all); the future is done
    when the load is."""
    broker.begin_load(partition, 0, now)
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
        """When something falls due next."""
        return self._server.runtime.next_deadline()

    def tick(self) -> None:
        """Let happen what is due."""
        self._server.runtime.tick(self._server.now())


def log_lines(log: EventLog | None, path: str | PathLike[str] | None) -> list[dict[str, Any]]:
    """The lines of this run so far. Raises EmulatorError if there is no log."""
    log = log_of(log)
    if path is None:
        return list(log.events())
    from ..event_log import read

    log.flush()
    return list(read(path, log.run))


def log_of(log: EventLog | None) -> EventLog:
    """The log. Raises EmulatorError if there is none."""
    if log is None:
        raise EmulatorError(
            "there is no event log: give log=PATH, or remember=100_000 for one in memory"
        )
    return log


def fitting(
    brokers: Iterable[Broker],
    group_id: str,
    given: Mapping[str, object],
    last_used: Callable[[], str | None] = lambda: None,
) -> dict[str, object]:
    """The settings with which a peer fits into a group: the protocol of its members, and all
    assignors of ours, those that its members have in common first.

    Where all of them offer cooperative-sticky alone it does so, too, for then they speak the
    cooperative protocol. In a group without members the assignor that it used last comes first.
    Nothing where the settings given say so themselves, and where members have no assignor of ours
    in common.
    """
    membership = next(
        (m for m in (_membership(broker, group_id) for broker in brokers) if m is not None), None
    )
    if isinstance(membership, ConsumerMembership) and membership.members:
        return {} if "group.protocol" in given else {"group.protocol": "consumer"}
    if _STRATEGY in given or given.get("group.protocol", "classic") != "classic":
        return {}
    members = list(membership) if isinstance(membership, ClassicGroup) else []
    offered = [[name for name, _ in member.protocols] for member in members]
    if offered:
        first = [
            name
            for name in offered[0]
            if name in BUILT_IN_NAMES and all(name in names for names in offered)
        ]
        if not first:
            return {}
        if first == [COOPERATIVE]:
            return {_STRATEGY: COOPERATIVE}
    else:
        used = last_used()
        first = [used] if used in BUILT_IN_NAMES else []
    return {_STRATEGY: ",".join(dict.fromkeys([*first, *BUILT_IN_NAMES]))}


def last_assignor(lines: Sequence[Mapping[str, Any]], group_id: str) -> str | None:
    """The assignor that a group used last, by the event log."""
    for line in reversed(lines):
        if line["type"] == "GenerationStarted" and line.get("group") == group_id:
            name: str | None = line["protocol_name"]
            return name
    return None


def refusal_explained(brokers: Iterable[Broker], group_id: str, config: MemberConfig) -> str:
    """What a group's members offer, what the peer does that was refused for it, and what to
    change."""
    membership = next(
        (m for m in (_membership(broker, group_id) for broker in brokers) if m is not None), None
    )
    offers = ", ".join(assignor.name for assignor in config.make_assignors())
    if not isinstance(membership, ClassicGroup):
        what = (
            "does not exist any more"
            if membership is None
            else "is a share group: its members are share consumers"
            if isinstance(membership, ShareMembership)
            else "is of the consumer protocol (KIP-848): set group.protocol"
        )
        return f"the peer offers the classic protocol with {offers}; group {group_id!r} {what}"
    rows = {
        member.client_id: ", ".join(name for name, _ in member.protocols) for member in membership
    }
    told = (
        "; ".join(f"{client} offers {names}" for client, names in rows.items())
        or "it has no members"
    )
    kind = (
        f" of protocol type {membership.protocol_type!r}"
        if membership.protocol_type not in (None, "consumer")
        else ""
    )
    return f"the peer offers {offers}; in group {group_id!r}{kind} {told}: set {_STRATEGY} to what all of them have"


def _membership(
    broker: Broker, group_id: str
) -> ClassicGroup | ConsumerMembership | ShareMembership | None:
    shard = broker.coordinator.shard_of(group_id)
    return None if shard is None else shard.groups[group_id].membership


def own_routes(
    servers: Mapping[int, Server], listener: str | None = None
) -> dict[tuple[str, int], tuple[str, int]]:
    """Where clients in this process connect, by what brokers advertise on their first listener:
    that may not be reached from here."""
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
    """The bootstrap servers for clients in this process."""
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
    """Peers of these brokers. They connect to where each listens: what it advertises to clients may
    not be reached from here. `access`: as whom, at this listener; None: as the testing kit."""
    from ..members.live import Fleet

    routes = own_routes(servers, listener if access is not None else None)
    addresses = own_addresses(routes)
    fleet = Fleet(addresses, seed=seed, routes=routes, entry=_entry(access))
    explained: set[MemberFault] = set()

    def explain(peer: Peer) -> None:
        fault = peer.fault
        if (
            fault is not None
            and fault.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            and fault not in explained
        ):
            config = peer.member.config
            why = refusal_explained(
                [server.broker for server in servers.values()], config.group_id, config
            )
            fault.args = (f"{fault}; {why}", *fault.args[1:])
            explained.add(fault)

    fleet.on_change = explain
    if log is not None:
        fleet.on_callback = callback_logger(log, next(iter(servers.values())).now)
    return fleet


def _entry(access: Access | None) -> Entry | None:
    """How a peer gets in."""
    if access is None:
        return None
    from ..members.live.wire import Entry
    from ..members.login import Credentials
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


def callback_logger(log: EventLog, now: Callable[[], int]) -> Callable[[Peer, Callback], None]:
    """Writes what a peer's application is told into the log's stream `member`."""

    def note(peer: Peer, callback: Callback) -> None:
        rows = [{"topic": topic, "partition": number} for topic, number in callback.partitions]
        config, number = (
            peer.member.config,
            callback.generation if callback.generation >= 0 else None,
        )
        epoch = {"member_epoch": number} if config.speaks_consumer and number is not None else {}
        log.append(
            "member",
            _KINDS[callback.kind],
            at_ms=now(),
            group=config.group_id,
            member=peer.member_id or None,
            generation=None if config.speaks_consumer else number,
            client=peer.client_id,
            partitions=rows,
            **epoch,
        )

    return note
