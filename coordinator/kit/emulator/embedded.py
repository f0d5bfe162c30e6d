"""The embeddable emulator: `Emulator`, a broker on real sockets for as long as a `with` block
lasts.

    async with Emulator({"orders": 12}) as kafka:            # on the caller's own loop
        consumer = AIOKafkaConsumer("orders", bootstrap_servers=kafka.bootstrap_servers)

    with Emulator(["orders:12"]) as kafka:                   # its own thread and loop
        consumer = KafkaConsumer("orders", bootstrap_servers=kafka.bootstrap_servers)

In the first form a client that blocks (kafka-python, confluent-kafka) blocks the emulator's
loop, too: after some seconds BlockingClientError names the client. Call it in a thread, or use
the second form. This module owns the options, the thread, and the order in which the parts start
and stop. It must not know the protocol. What a test can ask is in `coordinator/kit/kit.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from os import PathLike
from random import SystemRandom
from threading import Thread, get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from coordinator.base.forgotten_awaits import await_is_watched
from coordinator.base.keyword_errors import nearest_keywords
from coordinator.core.group_coordinator import Outcome
from coordinator.server.build import topic_options
from coordinator.server.interceptors import raise_interceptor_errors
from coordinator.server.limits import Limits
from coordinator.server.net.fair_selector import run
from coordinator.server.net.server import Server
from coordinator.server.settings.broker_configs import BrokerConfigs, ConfigError

from . import options as emulator_options
from .blocked_loop import BlockWatch
from .checked_options import Options, read_addresses
from .loop_kit import LoopKit
from .options import EmulatorError
from .running import Running

if TYPE_CHECKING:
    from coordinator.core.group_coordinator import GroupCoordinator
    from coordinator.events import EventLog, Line
    from coordinator.events.files import LogMode
    from coordinator.members.live import Fleet
    from coordinator.server.broker import Broker
    from coordinator.server.interceptors import InterceptorError
    from coordinator.verbs.brokers import How

    from ..cluster import Verb
    from ..session import KitSession
    from .client_config import Access

__all__ = ["ConfigError", "Emulator", "EmulatorError"]

logger = logging.getLogger("coordinator.server.net.server")

T = TypeVar("T")


@await_is_watched
@nearest_keywords
class Emulator(LoopKit):
    """A Kafka broker with its group coordinator, on loopback sockets unless `listen` says
    otherwise.

    Topics and settings. `topics`: `{"orders": 12}` or `["orders:12", "payments"]`. `config`:
    Kafka's names and values. Defaults are Kafka's, except that group.initial.rebalance.delay.ms is
    0 unless `kafka_defaults`. A session timeout below 6 s is refused, as by Kafka, unless `config`
    lowers group.min.session.timeout.ms; the pytest fixtures lower it. `auto_create_topics=False`: a
    client that asks for an unknown topic does not create it, as it would by Kafka's default
    (auto.create.topics.enable). `kafka_version`: the release of Kafka to behave as, such as "4.3"
    (docs/releases.md); by default the newest one known. `features`: feature levels that differ from
    that release's, such as `{"share.version": 0}`. `cluster_id`: the cluster id; by default one is
    drawn. `seed`: fixes every id that is drawn.

    Addresses. `listen`: one address or several, `host:port` or `NAME://host:port`; port 0 takes a
    free one. `advertise`: addresses that clients get instead, in the same form. `allow_remote`:
    allow addresses beyond loopback. `max_output_bytes`: bytes that a client may leave unread before
    larger answers wait; `max_response_bytes`: size of one answer beyond which its connection is
    closed.

    The event log. `log`: path of its file; `log_mode`: what happens if the file exists: "new"
    refuses it, "append" adds a run to it, "replace" overwrites it. `remember`: without a file, the
    number of lines kept in memory for `explain`, `events` and `verify`. `kafka_log`: path of a file
    for the lines that a Kafka broker of that release would log.

    Several brokers. `brokers`: how many, with the ids 1, 2, ...; each listens on the port after
    that of the one before. `broker_config`: settings of single brokers, by id. `racks`: one for
    each broker. With several brokers, `broker` and `coordinator` raise an error, because they would
    be ambiguous.

    Security (docs/security.md). `security`: the protocol of listeners without a name of their own,
    such as "SASL_SSL". `users`: names and passwords. `acls`: who may do what. `super_users`: users
    who may do everything.

    Raises ConfigError, TopicError or EmulatorError for wrong options, and EmulatorError for an
    address that cannot be bound. An object can be entered once.
    """

    def __init__(
        self,
        topics: Iterable[str] | Mapping[str, int] = (),
        config: Mapping[str, object] | BrokerConfigs | None = None,
        *,
        listen: str | Iterable[str] = "127.0.0.1:0",
        advertise: str | Iterable[str] = (),
        log: str | PathLike[str] | None = None,
        log_mode: LogMode = "new",
        remember: int = 0,
        seed: int | None = None,
        kafka_defaults: bool = False,
        allow_remote: bool = False,
        node_id: int = 1,
        cluster_id: str | None = None,
        max_output_bytes: int = Limits().output_bytes,
        max_response_bytes: int = Limits().response_bytes,
        brokers: int = 1,
        racks: Sequence[str | None] = (),
        broker_config: Mapping[int, Mapping[str, object]] | None = None,
        auto_create_topics: bool | None = None,
        kafka_version: str | None = None,
        features: Mapping[str, int] | None = None,
        security: str | None = None,
        users: Mapping[str, str] | None = None,
        acls: Sequence[str | Mapping[str, Any]] = (),
        super_users: Sequence[str] = (),
        kafka_log: str | PathLike[str] | None = None,
    ) -> None:
        emulator_options.check_kinds(
            seed=seed, node_id=node_id, log=log, remember=remember, racks=racks
        )
        configs = emulator_options.read_configs(
            config, kafka_defaults, node_id, auto_create_topics, kafka_version, features
        )
        every_config = emulator_options.read_configs_of_brokers(
            configs, brokers, list(racks), broker_config or {}, node_id
        )
        addresses = read_addresses(
            listen, advertise, security, every_config, users, acls, super_users, allow_remote
        )
        self._options = Options(
            topics=topic_options(topics),
            broker_configs=every_config,
            racks=list(racks),
            seed=SystemRandom().getrandbits(63) if seed is None else seed,
            node_id=node_id,
            cluster_id=cluster_id,
            limits=emulator_options.read_limits(max_output_bytes, max_response_bytes),
            addresses=addresses,
            log_path=log,
            log_mode=emulator_options.read_log_mode(log_mode),
            remember=remember,
            kafka_log_path=kafka_log,
        )
        self.seed, self.log_path = self._options.seed, log
        self.configs = every_config[0]
        self._running: Running | None = None
        self._fleets: dict[str | None, Fleet] = {}
        """The peers of each user; None: those that are the testing kit itself."""
        self._started = False
        self._loop_thread = 0
        self._thread: Thread | None = None
        self._end: asyncio.Event | None = None
        self._watch: BlockWatch
        self.interceptor_errors: list[InterceptorError] = []
        """Errors of interceptors, known when the emulator has stopped. Leaving `with` raises the
        first."""

    # -- what a running emulator offers

    @property
    def bootstrap_servers(self) -> str:
        """The addresses for clients' setting bootstrap.servers: the first listener, as
        advertised, of each broker, separated by commas."""
        return self._servers_at(self._first_listener)

    def _servers_at(self, listener: str) -> str:
        nodes = self.server.broker.cluster.brokers.values()
        addresses = [node.endpoints[listener] for node in nodes]
        return ",".join(
            f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in addresses
        )

    @property
    def _first_listener(self) -> str:
        """The name of the first listener that demands TLS or a login, else of the first
        listener."""
        security = self._options.addresses.security
        secured = [] if security is None else security.secured
        return next(iter(secured), self._options.addresses.listen[0].name)

    @property
    def endpoints(self) -> dict[str, tuple[str, int]]:
        """Advertised host and port by listener name, of the only broker."""
        advertised = self.broker.cluster.brokers[self._options.node_id].endpoints
        return {each.name: advertised[each.name] for each in self._options.addresses.listen}

    @property
    def ca_file(self) -> str:
        """Path of a PEM file with the certificate of the authority that clients must trust.
        Raises EmulatorError without TLS."""
        guard = self._started_parts.guard
        if guard is None or guard.certificates is None:
            raise EmulatorError(
                "no listener speaks TLS: give security='SSL' or security='SASL_SSL'"
            )
        return guard.certificates.ca_file

    def client_config(
        self,
        library: str,
        *,
        user: str | None = None,
        mechanism: str | None = None,
        listener: str | None = None,
    ) -> dict[str, Any]:
        """Return the settings with which a client reaches the broker, by the names of its library:
        kafka-python, aiokafka, confluent-kafka, librdkafka, java. They are plain values.

        `user`: one of `users`. `mechanism`: by default SCRAM-SHA-512. `listener`: by default the
        one in `bootstrap_servers`. Raises EmulatorError for impossible ones.
        """
        from .client_config import config_for

        name = listener or self._first_listener
        names = [each.name for each in self._options.addresses.listen]
        if name not in names:
            raise EmulatorError(f"listener={listener!r}: there are {', '.join(names)}")
        return config_for(library, self._access(user, name, mechanism))

    def _access(
        self, user: str | None, listener: str | None = None, mechanism: str | None = None
    ) -> Access:
        from .security_options import access

        name = listener or self._first_listener
        guard = self._started_parts.guard
        servers = self._servers_at(name)
        return access(self._options.addresses.security, guard, servers, name, user, mechanism)

    @property
    def _started_parts(self) -> Running:
        """What runs. Raises EmulatorError when not running."""
        if self._running is None:
            raise EmulatorError("the emulator is not running: use it within `with` or `async with`")
        return self._running

    @property
    def brokers(self) -> Mapping[int, Broker]:
        """The brokers by id. Use them on the emulator's loop only (`run`). A broker that was
        started again is another object."""
        return self._started_parts.brokers

    @property
    def server(self) -> Server:
        """The sockets. Raises EmulatorError when not running."""
        return self._started_parts.server

    @property
    def servers(self) -> Mapping[int, Server]:
        """The sockets of each broker."""
        return self._started_parts.servers

    def is_running(self, broker: int) -> bool:
        """Return True if a broker runs: it is neither stopped nor paused."""
        return self._started_parts.runs(broker)

    @property
    def broker(self) -> Broker:
        """The only broker; to be touched on the emulator's loop only (`run`). Raises EmulatorError
        if there are several."""
        if self._started_parts.cluster is not None:
            raise EmulatorError(
                f"there are several brokers ({', '.join(map(str, self.brokers))}): say which one is meant, as brokers[1]"
            )
        return self.server.broker

    @property
    def coordinator(self) -> GroupCoordinator:
        """The group coordinator of the only broker; to be touched on the emulator's loop only
        (`run`)."""
        return self.broker.coordinator

    def run(self, function: Callable[[], T]) -> T:
        """Call a function on the emulator's loop, between two requests, and return its result. Safe
        from any thread.

        If the result is the outcome of a call to the group coordinator, such as
        `coordinator.unload(...)`, its replies are sent.
        """
        server = self.server

        def call() -> T:
            server.clock.turn_began = server.now()
            result = function()
            if isinstance(result, Outcome):
                for broker in self.brokers.values():
                    broker.groups.send_replies(result, server.now())
            server.settle(server.now())
            return result

        if self._loop_thread == get_ident():
            return call()
        called: Future[T] = Future()

        def on_loop() -> None:
            try:
                called.set_result(call())
            except BaseException as error:
                called.set_exception(error)

        server.loop.call_soon_threadsafe(on_loop)
        return called.result()

    def unload_coordinator(self, partition: int | None = None) -> None:
        """Let the broker lose a partition of __consumer_offsets, or all, as when another broker
        becomes its leader (ERR-5, ERR-6). Parked and later requests are answered with
        NOT_COORDINATOR until `load_coordinator`.

        Raises EmulatorError for a partition that does not exist. Safe from any thread.
        """
        self._check_offsets_partition(partition)
        self.run(lambda: self.broker.groups.unload(partition, self.server.now()))

    def _check_offsets_partition(self, partition: int | None) -> None:
        most = self.broker.coordinator.config.offsets_topic_partitions - 1
        given: object = partition
        if given is None or (type(given) is int and 0 <= given <= most):
            return
        raise EmulatorError(
            f"partition: {given!r}; one of __consumer_offsets is meant, from 0 to {most}, or none for all"
        )

    def load_coordinator(self, partition: int | None = None) -> None:
        """Let the broker lead a partition of __consumer_offsets again, or all: groups are as their
        log has them (ERR-7). Parked requests are not restored; members' sessions begin again.

        The load is complete when this returns; other groups are served during it (ERR-4). On the
        emulator's own loop the load is done in one piece. Raises EmulatorError for a partition
        that does not exist. Safe from any thread.
        """
        broker = self.broker
        self._check_offsets_partition(partition)
        if self._loop_thread == get_ident():
            self.run(lambda: broker.groups.load(partition, self.server.now()))
        else:
            from .session import begin_load

            waits = self._session.waits
            self.run(lambda: begin_load(broker, partition, waits, self.server.now())).result()

    def control(self, verb: Verb) -> Verb | None:
        """Carry out a verb of `coordinator.control.cluster` and return its inverse, or None. Raises
        ClusterError for an impossible one.

        Safe from any thread: when it returns, a started broker listens and a stopped one does
        not (on the emulator's loop soon after).
        """
        cluster = self._started_parts.cluster
        if cluster is None:
            return self._control_alone(verb)
        from ..cluster import perform

        inverse = self.run(lambda: perform(cluster.hosts, verb, cluster.now()))
        if self._loop_thread != get_ident():
            cluster.wait_until_listening()
        return inverse

    def _control_alone(self, verb: Verb) -> Verb | None:
        from ..restoring.restarts import perform_alone

        server, host = self.server, self._started_parts.lone
        inverse = self.run(lambda: perform_alone(host, server.broker, verb, server.now()))
        if self._loop_thread != get_ident():
            asyncio.run_coroutine_threadsafe(host.settled(), server.loop).result()
        return inverse

    def restart(
        self,
        broker: int | None = None,
        *,
        how: How = "controlled",
        config: Mapping[str, object] | None = None,
        kafka_version: str | None = None,
    ) -> None:
        """Stop a broker (without an id the only one) and start it again, as in a rolling restart or
        upgrade: `kafka.restart(config={...})`.

        `config`: settings that override the former ones. `kafka_version`: the new release of
        Kafka. Raises ConfigError for settings with which Kafka would not start, or that it does
        not read at its start; ClusterError for a broker that does not run, or a release that
        would not start. Then nothing has changed. Safe from any thread.
        """
        for step in self._restarting(broker, how, config, kafka_version):
            step()

    async def awaited_restart(
        self,
        broker: int | None = None,
        *,
        how: How = "controlled",
        config: Mapping[str, object] | None = None,
        kafka_version: str | None = None,
    ) -> None:
        """The same as `restart`, to be awaited on any loop: it ends when the broker listens
        again."""
        for step in self._restarting(broker, how, config, kafka_version):
            step()
            await self._started_parts.settled()

    def _restarting(
        self,
        broker: int | None,
        how: How,
        config: Mapping[str, object] | None,
        kafka_version: str | None,
    ) -> Iterator[Callable[[], object]]:
        from coordinator.verbs.brokers import StartBroker, StopBroker

        from ..restoring.restarts import prepared

        nodes = list(self.brokers)
        if (broker is None and len(nodes) > 1) or broker not in (None, *nodes):
            raise EmulatorError(
                f"broker={broker}: say which one is meant: {', '.join(map(str, nodes))}"
            )
        if how not in ("controlled", "crash"):
            raise EmulatorError(
                f"how={how!r}: controlled or crash; a paused process keeps its settings"
            )
        node = nodes[0] if broker is None else broker
        put_in_force = self.run(lambda: prepared(self.brokers[node], config or {}, kafka_version))
        yield lambda: self.control(StopBroker(node, how))
        yield lambda: self.run(put_in_force)
        yield lambda: self.control(StartBroker(node, kafka_version))

    def _fleet(self, user: str | None) -> Fleet:
        from .session import new_fleet

        if user not in self._fleets:
            access = None if user is None else self._access(user)
            self._fleets[user] = self.run(
                lambda: new_fleet(self.servers, self.seed, self._log, access, self._first_listener)
            )
        return self._fleets[user]

    def _every_broker(self) -> Collection[Broker]:
        return self.brokers.values()

    @property
    def _log(self) -> EventLog | None:
        """The event log; None: there is none, or the emulator does not run."""
        return None if self._running is None else self._running.log

    def _instant(self) -> int:
        return self.server.now()

    def _known_lines(self) -> list[Line]:
        return [] if self._log is None else self._log_lines()

    def _new_session(self) -> KitSession:
        from .session import new_session

        return new_session(
            self.server,
            lambda: list(self.brokers.values()),
            self.is_running,
            lambda: self._loop_thread == get_ident(),
            self.seed,
            self._fleets,
        )

    def _log_lines(self) -> list[Line]:
        from .session import log_lines

        return log_lines(self._log, self.log_path)

    def event_log(self) -> EventLog:
        from .session import log_of

        return log_of(self._log)

    def mark(self) -> int:
        """Return a place in the event log: later events are `since` this mark."""
        log = self._log
        return 0 if log is None else self.run(lambda: log.seq + 1)

    # -- on the caller's loop

    async def start(self) -> None:
        """Start on the running loop; `stop` ends it. `async with` does both."""
        if self._started:
            raise EmulatorError("this emulator has been started already: make another one")
        self._started = True
        self._loop_thread = get_ident()
        self._running = await Running.start(self._options)

    async def stop(self) -> None:
        """Answer parked requests, close every connection, and drop all state."""
        for fleet in self._fleets.values():
            fleet.abandon()
        self._fleets.clear()
        if self._kit is not None:
            kit, self._kit = self._kit, None
            kit.waits.fail_all(EmulatorError("the emulator has stopped"))
        if self._running is not None:
            running, self._running = self._running, None
            self.interceptor_errors = await running.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        self._watch = BlockWatch()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
        self._watch.end(error)
        raise_interceptor_errors(self.interceptor_errors, error)

    # -- on its own thread

    def __enter__(self) -> Self:
        started: Future[asyncio.Event] = Future()
        self._thread = Thread(
            target=run, args=(self._live(started),), name="coordinator-emulator", daemon=True
        )
        self._thread.start()
        try:
            self._end = started.result()
        except BaseException:
            self._thread.join()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._thread is not None and self._end is not None
        if self._running is not None:
            self._running.server.loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        raise_interceptor_errors(self.interceptor_errors, error)

    async def _live(self, started: Future[asyncio.Event]) -> None:
        """Run the emulator in its own thread: start, report the outcome through `started`, and
        stop when the event is set."""
        try:
            await self.start()
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(end := asyncio.Event())
        try:
            await end.wait()
        finally:
            await self.stop()
