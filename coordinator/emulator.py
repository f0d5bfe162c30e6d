"""The embeddable emulator: `Emulator`, a broker on real sockets for as long as a `with` lasts.

    async with Emulator({"orders": 12}) as kafka:            # on the caller's own loop
        consumer = AIOKafkaConsumer("orders", bootstrap_servers=kafka.bootstrap_servers)

    with Emulator(["orders:12"]) as kafka:                   # its own thread and loop
        consumer = KafkaConsumer("orders", bootstrap_servers=kafka.bootstrap_servers)

Beware of the first form with a client that blocks (kafka-python, confluent-kafka): the emulator runs on the loop that the
client holds up, so both wait for ever. From asynchronous code use such clients in a thread, or take the second form.
Owns the options, the thread, and the life of the parts. Refuses to know the protocol.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from os import PathLike
from random import Random, SystemRandom
from threading import Thread, get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from .broker.build import build_broker, topic_options
from .cluster.configs import BrokerConfigs, ConfigError
from .server import Endpoint, ListenError, Server, check_endpoints

if TYPE_CHECKING:
    from .broker.core import Broker
    from .event_log import EventLog
    from .group_coordinator import GroupCoordinator
    from .members.effects import RebalanceListener
    from .members.live import Fleet, PeerHandle

__all__ = ["ConfigError", "Emulator", "EmulatorError"]

T = TypeVar("T")


class EmulatorError(Exception):
    """An emulator that cannot start, or is used when it does not run: what, and what would be right."""


class Emulator:
    """A Kafka broker with its group coordinator, on loopback sockets unless told otherwise.

    `topics`: `{"orders": 12}` or `["orders:12", "payments"]`. `config`: Kafka's names and values; defaults are Kafka's,
    except that group.initial.rebalance.delay.ms is 0 unless `kafka_defaults`. `listen`: one address or several,
    `host:port` or `NAME://host:port`, port 0 for a free one. `advertise`: addresses to tell clients instead, in the same
    form. `log`: path of the event log. `seed`: fixes every id that is drawn. `allow_remote`: may listen beyond loopback.
    `cluster_id`: instead of one that is drawn.

    Raises ConfigError, TopicError or EmulatorError for options that cannot be; EmulatorError on entering if an address
    cannot be had. May be entered once.
    """

    def __init__(
        self,
        topics: Iterable[str] | Mapping[str, int] = (),
        config: Mapping[str, object] | BrokerConfigs | None = None,
        *,
        listen: str | Iterable[str] = "127.0.0.1:0",
        advertise: str | Iterable[str] = (),
        log: str | PathLike[str] | None = None,
        seed: int | None = None,
        kafka_defaults: bool = False,
        allow_remote: bool = False,
        node_id: int = 1,
        cluster_id: str | None = None,
    ) -> None:
        self.seed = SystemRandom().getrandbits(63) if seed is None else seed
        self.configs = config if isinstance(config, BrokerConfigs) else _configs(config or {}, kafka_defaults, node_id)
        self._topics = topic_options([topics] if isinstance(topics, str) else topics)
        self._listen = _endpoints(listen)
        self._advertise = _endpoints(advertise)
        self._allow_remote = allow_remote
        self.log_path = log
        self._node_id = node_id
        self._cluster_id = cluster_id
        try:
            check_endpoints(self._listen, self._advertise, allow_remote=allow_remote)
        except ListenError as error:
            raise EmulatorError(str(error)) from None
        self._server: Server | None = None
        self._log: EventLog | None = None
        self._fleet: Fleet | None = None
        self._started = False
        self._loop_thread = 0
        self._thread: Thread | None = None
        self._end: asyncio.Event | None = None

    # -- what a running emulator offers ------------------------------------------------------------------------------

    @property
    def bootstrap_servers(self) -> str:
        """What clients are given: `host:port` of the first listener, as advertised."""
        host, port = self.endpoints[self._listen[0].name]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def endpoints(self) -> dict[str, tuple[str, int]]:
        """Advertised host and port by listener name."""
        return self.broker.cluster.brokers[self._node_id].endpoints

    @property
    def server(self) -> Server:
        """The sockets. Raises EmulatorError when not running."""
        if self._server is None:
            raise EmulatorError("the emulator is not running: use it within `with` or `async with`")
        return self._server

    @property
    def broker(self) -> Broker:
        """The broker; to be touched on the emulator's loop only (`run`)."""
        return self.server.broker

    @property
    def coordinator(self) -> GroupCoordinator:
        """The group coordinator; to be touched on the emulator's loop only (`run`)."""
        return self.broker.coordinator

    def run(self, function: Callable[[], T]) -> T:
        """Call a function on the emulator's loop, between two requests, and return its result. Safe from any thread."""
        server = self.server

        def call() -> T:
            if self._log is not None:
                self._log.now_ms = server.now()
            result = function()
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

    def peer(
        self, group: str, topics: Iterable[str] | None = None, *, pattern: str | None = None,
        config: Mapping[str, object] | None = None, listener: RebalanceListener | None = None, keep_going: bool = False,
    ) -> PeerHandle:
        """A live member of a group here, on its way in: `with kafka.peer("billing", topics=["orders"]) as peer: peer.wait_stable()`.

        `config`: the consumer's settings by Kafka's names; `partition.assignment.strategy` also takes classes. A fault ends the
        peer unless `keep_going`. Raises MemberConfigError, FleetError for options that cannot be. Safe from any thread.
        """
        from .members import MemberConfig
        from .members.live import Fleet, PeerHandle

        asked = MemberConfig.from_properties({"group.id": group, **(config or {})})
        self._fleet = fleet = self._fleet or self.run(lambda: Fleet(self.bootstrap_servers, seed=self.seed))
        return PeerHandle(
            fleet, lambda: fleet.peer(asked, topics=topics, pattern=pattern, listener=listener, keep_going=keep_going), self._loop_thread
        )  # fmt: skip

    # -- on the caller's loop ----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start on the running loop; `stop` ends it. `async with` does both."""
        if self._started:
            raise EmulatorError("this emulator has been started already: make another one")
        self._started = True
        self._loop_thread = get_ident()
        epoch_ms = int(time.time() * 1000)
        self._log = self._open_log(epoch_ms)
        broker = build_broker(
            configs=self.configs, random=Random(self.seed), epoch_ms=epoch_ms, topics=self._topics, log=self._log,
            node_id=self._node_id, cluster_id=self._cluster_id,
        )  # fmt: skip
        server = Server(broker, asyncio.get_running_loop())
        try:
            await server.listen(self._listen, self._advertise, allow_remote=self._allow_remote)
        except ListenError as error:
            await self.stop()
            raise EmulatorError(str(error)) from error
        self.configs.publish("listeners", ",".join(map(str, server.endpoints)))
        advertised = [Endpoint(name, host, port) for name, (host, port) in broker.cluster.brokers[self._node_id].endpoints.items()]
        self.configs.publish("advertised.listeners", ",".join(map(str, advertised)))
        self._server = server

    async def stop(self) -> None:
        """Answer what is parked, close every connection, forget everything."""
        if self._fleet is not None:
            fleet, self._fleet = self._fleet, None
            fleet.abandon()
        if self._server is not None:
            server, self._server = self._server, None
            await server.stop()
        if self._log is not None:
            self._log.close()
            self._log = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.stop()

    # -- on its own thread -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        started: Future[asyncio.Event] = Future()
        self._thread = Thread(target=asyncio.run, args=(self._live(started),), name="coordinator-emulator", daemon=True)
        self._thread.start()
        try:
            self._end = started.result()
        except BaseException:
            self._thread.join()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._thread is not None
        assert self._end is not None
        if self._server is not None:
            self._server.loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _live(self, started: Future[asyncio.Event]) -> None:
        """The life of the thread: start, tell how that went, stop when asked."""
        try:
            await self.start()
        except BaseException as error:
            started.set_exception(error)
            return
        end = asyncio.Event()
        started.set_result(end)
        try:
            await end.wait()
        finally:
            await self.stop()

    # -- parts -------------------------------------------------------------------------------------------------------

    def _open_log(self, epoch_ms: int) -> EventLog | None:
        if self.log_path is None:
            return None
        from .event_log import EventLog

        try:
            config = {name: value for name, value, _, honoured in self.configs.in_force() if honoured}
            return EventLog.open(self.log_path, seed=self.seed, epoch_ms=epoch_ms, config=config)
        except OSError as error:
            raise EmulatorError(f"cannot write the log {self.log_path}: {error.strerror or error}") from error


def _endpoints(given: str | Iterable[str]) -> list[Endpoint]:
    try:
        return [Endpoint.parse(text) for text in ([given] if isinstance(given, str) else given)]
    except ValueError as error:
        raise EmulatorError(str(error)) from None


def _configs(config: Mapping[str, object], kafka_defaults: bool, node_id: int) -> BrokerConfigs:
    return BrokerConfigs({name: _text(value) for name, value in config.items()}, kafka_defaults=kafka_defaults, node_id=node_id)


def _text(value: object) -> str:
    """A configuration value as Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
