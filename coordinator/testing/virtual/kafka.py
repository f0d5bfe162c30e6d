"""An emulator within a virtual event loop: brokers, their connections in memory, one timer, and the
kit to look at them.

Owns the lifetime: `virtual_kafka` gives the running loop virtual time and takes it away again. The
brokers are those of `Emulator`.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from os import PathLike
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from ...broker.build import topic_options
from ...cluster.network import HostState
from ...cluster_runtime import Brokers, ClusterOptions, Hosts
from ...configs.broker_configs import BrokerConfigs
from ...control.session import KitSession
from ...emulator.loop_kit import LoopKit
from ...emulator.options import EmulatorError
from ...event_log import EventLog
from .connections import MemoryTransport
from .time import RealIo, VirtualTime

if TYPE_CHECKING:
    from ...verbs.brokers import How, Verb

T = TypeVar("T")
EPOCH_S = 1_700_000_000
_PORT = 9092


class VirtualKafkaWarning(UserWarning):
    """A run that could be repeated only under a fixed PYTHONHASHSEED."""


class VirtualKafka(LoopKit):
    """Brokers under virtual time. Made by `virtual_kafka`; the methods of `Kit` look at it and act
    on it, those that wait excepted."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: VirtualTime,
        brokers: Brokers,
        log: EventLog,
        seed: int,
        latency_s: float,
    ) -> None:
        self.brokers = brokers
        self.seed = seed
        self._loop = loop
        self._clock = clock
        self._log = log
        self._latency_s = latency_s
        self._connections: dict[MemoryTransport, None] = {}
        self._number = 0
        self._timer: asyncio.TimerHandle | None = None
        self._observers: list[Callable[[], None]] = []
        self._hosts = Hosts(brokers)
        self._listening = set(brokers.brokers)
        brokers.hosts_changed = self._host_changed
        for node in brokers.brokers:
            brokers.set_endpoints(node, {"PLAINTEXT": (f"broker-{node}", _PORT)})
        self.settle()

    # -- what an application needs

    @property
    def bootstrap(self) -> str:
        """For `bootstrap_servers`."""
        return ",".join(f"broker-{node}:{_PORT}" for node in self.brokers.brokers)

    @property
    def now_ms(self) -> int:
        """Virtual milliseconds since the beginning."""
        return int(self._clock.now_s * 1000)

    async def until(self, condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
        """Let virtual time pass until something holds, at most so many virtual seconds. Raises
        TimeoutError."""
        deadline = self._clock.now_s + timeout_s
        while not condition():
            if self._clock.now_s >= deadline:
                raise TimeoutError(
                    f"it does not hold after {timeout_s:g} virtual seconds; until(..., timeout_s=...) waits longer"
                )
            await asyncio.sleep(0.01)

    def peer(self, *_: object, **__: object) -> Any:
        """There are none here. Raises EmulatorError."""
        raise EmulatorError(
            "peers live on sockets, which virtual time has not: use consumers of your client library, or the simulator"
        )

    def control(self, verb: Verb) -> Verb | None:
        """Carry out a verb of `coordinator.control.cluster`, and answer its inverse."""
        from ...control.cluster import perform

        return self.run(lambda: perform(self._hosts, verb, self.now_ms))

    def restart(
        self,
        broker: int = 1,
        *,
        how: How = "controlled",
        config: Mapping[str, object] | None = None,
    ) -> None:
        """Stop a broker and start it again, with these settings over those it had. See
        `Emulator.restart`."""
        from ...control.restarts import read_settings
        from ...verbs.brokers import StartBroker, StopBroker

        if broker not in self.brokers.configs:
            raise EmulatorError(
                f"there is no broker {broker}: the brokers are {', '.join(map(str, self.brokers.configs))}"
            )
        configs = self.brokers.configs[broker]
        texts = read_settings(configs, config or {})
        self.control(StopBroker(broker, how))
        for name, text in texts.items():
            configs.set(name, text)
        self.control(StartBroker(broker))

    def _host_changed(self, node: int, state: HostState) -> None:
        """A broker stopped, was paused, or goes on: what becomes of its connections."""
        mine = [each for each in self._connections if each.broker.node_id == node]
        if state is HostState.STOPPED:
            self._listening.discard(node)
            for connection in mine:
                connection.reset()
        elif state is HostState.PAUSED:
            for connection in mine:
                connection.freeze()
        else:
            self._listening.add(node)
            for connection in mine:
                self._loop.call_soon(connection.thaw)

    def drop_connections(self) -> None:
        """End all connections, as a network does that breaks."""
        for connection in list(self._connections):
            connection.reset()

    # -- the kit's needs

    def run(self, function: Callable[[], T]) -> T:
        """Call a function between two requests."""
        result = function()
        self.settle()
        return result

    def mark(self) -> int:
        """A place in the event log."""
        return self._log.seq + 1

    def event_log(self) -> EventLog:
        """The log itself."""
        return self._log

    def _log_lines(self) -> list[dict[str, Any]]:
        return list(self._log.events())

    def _new_session(self) -> KitSession:
        session = KitSession(
            lambda: list(self.brokers.brokers.values()),
            self.brokers.network.running,
            _Clock(self),
            self.seed,
            lambda: {each.connection.client_id for each in self._connections},
            dict,
            set,
            self.drop_connections,
            lambda: True,
            lambda _: {},
        )
        self._observers.append(session.waits.look)
        return session

    # -- the brokers' driver

    def settle(self) -> None:
        """What follows every piece of work of the brokers."""
        now = self.now_ms
        self.brokers.run_resumable(now)
        for broker in self.brokers.brokers.values():
            while broker.postponed:
                broker.next_turn(now)
                self.brokers.run_resumable(now)
        for look in self._observers:
            look()
        deadline = self.brokers.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = (
            None
            if deadline is None
            else self._loop.call_later(max(deadline - now, 0) / 1000, self._tick)
        )

    def _tick(self) -> None:
        self.brokers.tick(self.now_ms)
        self.settle()

    async def connect(
        self,
        real: Callable[..., Any],
        factory: Callable[[], Any],
        host: Any = None,
        port: Any = None,
        **options: Any,
    ) -> Any:
        """What `loop.create_connection` does meanwhile."""
        node = next(
            (node for node in self.brokers.brokers if host == f"broker-{node}" and port == _PORT),
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
                "the brokers under virtual time have plain listeners only: leave security_protocol at PLAINTEXT"
            )
        await asyncio.sleep(self._latency_s)
        if node not in self._listening:
            raise ConnectionRefusedError(f"broker {node} does not run")
        protocol = factory()
        self._number += 1
        transport = MemoryTransport(
            self._loop,
            protocol,
            self.brokers.brokers[node],
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
        """End everything."""
        if self._timer is not None:
            self._timer.cancel()
        self.drop_connections()
        self._log.flush()
        self._log.close()


class _Clock:
    """The brokers' clock, which only the loop moves."""

    def __init__(self, kafka: VirtualKafka) -> None:
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
    """Let time stand still from each write on a real connection until something comes back."""
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


@asynccontextmanager
async def virtual_kafka(
    topics: Mapping[str, int] | None = None,
    *,
    brokers: int = 1,
    config: Mapping[str, object] | None = None,
    seed: int = 1,
    latency_ms: float = 1.0,
    log: str | PathLike[str] | None = None,
    real_io: RealIo = "refuse",
) -> AsyncIterator[VirtualKafka]:
    """Give the running loop virtual time and an emulator.

    `topics`: how many partitions each has. `config`: broker settings by Kafka's names. `seed`: of
    every draw, module `random`'s included. `latency_ms`: how long bytes take, one way. `log`: the
    file for the event log (default: in memory). `real_io`: whether threads, executors and other
    connections are refused with VirtualTimeError, or virtual time stands still until they are done
    ("wait").
    """
    if real_io not in ("refuse", "wait"):
        raise EmulatorError(f'real_io={real_io!r}: "refuse" or "wait"')
    hash_seed = os.environ.get("PYTHONHASHSEED", "random")
    if hash_seed in ("", "random") and log is not None:
        warnings.warn(
            "PYTHONHASHSEED is not set: sets of texts have another order in each process, and the event log may differ. Set it to a number",
            VirtualKafkaWarning,
            stacklevel=4,
        )
    loop = asyncio.get_running_loop()
    clock = VirtualTime(loop, seed=seed, epoch_s=EPOCH_S, real_io=real_io)
    # Compiled parts of client libraries read the real clock for timestamps, which is far ahead of
    # the virtual one.
    settings = {
        "group.initial.rebalance.delay.ms": 0,
        "log.message.timestamp.after.max.ms": (1 << 63) - 1,
        **(config or {}),
    }
    configs = [
        BrokerConfigs({key: str(value) for key, value in settings.items()}, node_id=node)
        for node in range(1, brokers + 1)
    ]
    about: dict[str, Any] = {"epoch_ms": EPOCH_S * 1000, "config": {"PYTHONHASHSEED": hash_seed}}
    opened = (
        EventLog(seed=seed, **about)
        if log is None
        else EventLog.open(log, mode="replace", seed=seed, **about)
    )
    opened.data = True
    clock.begin()
    kafka = None
    real: Any = loop.create_connection
    try:
        runtime = Brokers(
            ClusterOptions(
                configs=configs,
                random=Random(seed),
                epoch_ms=EPOCH_S * 1000,
                topics=topic_options(topics or {}),
                log=opened,
            )
        )
        kafka = VirtualKafka(loop, clock, runtime, opened, seed, latency_ms / 1000)
        connect = kafka.connect

        async def create_connection(
            factory: Any, host: Any = None, port: Any = None, **options: Any
        ) -> Any:
            return await connect(real, factory, host, port, **options)

        vars(loop)["create_connection"] = create_connection
        yield kafka
    finally:
        vars(loop).pop("create_connection", None)
        if kafka is not None:
            kafka.stop()
        clock.end()
