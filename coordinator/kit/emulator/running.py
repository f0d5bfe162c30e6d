"""What a started emulator consists of, on its loop: sockets of one broker or several, the event log, and
the log in Kafka's words. `Running.start` makes it, `stop` ends it in order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING

from coordinator.server.build import build_broker
from coordinator.server.net.endpoints import ListenError
from coordinator.server.net.server import Server

from . import options as emulator_options
from .kafka_log import REMEMBERED, KafkaLog
from .options import EmulatorError

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.server.broker import Broker
    from coordinator.server.interceptors import InterceptorError
    from coordinator.server.net.cluster_server import ClusterServer
    from coordinator.server.net.guard import Guard
    from coordinator.server.net.lone_broker import LoneBroker

    from .checked_options import Options

logger = logging.getLogger("coordinator.server.net.server")


class Running:
    """The parts of one emulator that has started. Stop it with `stop`, also when `start` failed."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._epoch_ms = int(time.time() * 1000)
        self.log: EventLog | None = None
        self.guard: Guard | None = None
        """TLS and logins of all listeners; None: there are none."""
        self.cluster: ClusterServer | None = None
        """The sockets of several brokers."""
        self._server: Server | None = None
        self._kafka_log: KafkaLog | None = None
        self._lone: LoneBroker | None = None

    @classmethod
    async def start(cls, options: Options) -> Running:
        """Listen on the running loop. Raises EmulatorError."""
        running = cls(options)
        running._open_logs()
        try:
            security = options.addresses.security
            running.guard = None if security is None else security.guard()
            if len(options.broker_configs) > 1:
                await running._listen_as_cluster()
            else:
                await running._listen_alone()
        except (ListenError, EmulatorError) as error:
            await running.stop()
            raise EmulatorError(str(error)) from error
        return running

    def _open_logs(self) -> None:
        options = self._options
        configs = options.broker_configs[0]
        self.log = emulator_options.open_log(
            options.log_path,
            options.log_mode,
            options.remember or (0 if options.kafka_log_path is None else REMEMBERED),
            configs,
            seed=options.seed,
            epoch_ms=self._epoch_ms,
            tell=logger.error,
        )
        if options.kafka_log_path is not None and self.log is not None:
            self._kafka_log = KafkaLog(
                options.kafka_log_path,
                self.log,
                release=configs.release.number,
                epoch_ms=self._epoch_ms,
                partitions=configs.get_int("offsets.topic.num.partitions"),
                node_id=options.node_id,
                tell=logger.error,
            )

    async def _listen_alone(self) -> None:
        options, addresses = self._options, self._options.addresses
        broker = build_broker(
            configs=options.broker_configs[0],
            random=Random(options.seed),
            epoch_ms=self._epoch_ms,
            topics=options.topics,
            log=self.log,
            node_id=options.node_id,
            cluster_id=options.cluster_id,
            limits=options.limits,
        )
        server = Server(broker, asyncio.get_running_loop(), guard=self.guard)
        await server.listen(
            addresses.listen, addresses.advertise, allow_remote=addresses.allow_remote
        )
        emulator_options.publish_listeners(server, advertised=bool(addresses.advertise))
        self._server = server

    async def _listen_as_cluster(self) -> None:
        from coordinator.server.cluster_runtime import Brokers, ClusterOptions
        from coordinator.server.net.cluster_server import ClusterServer

        options, addresses = self._options, self._options.addresses
        brokers = Brokers(
            ClusterOptions(
                configs=options.broker_configs,
                random=Random(options.seed),
                epoch_ms=self._epoch_ms,
                topics=options.topics,
                racks=options.racks,
                log=self.log,
                cluster_id=options.cluster_id,
                limits=options.limits,
            )
        )
        cluster = ClusterServer(brokers, asyncio.get_running_loop(), self.guard)
        await cluster.listen(
            addresses.listen, addresses.advertise, allow_remote=addresses.allow_remote
        )
        for server in cluster.servers.values():
            emulator_options.publish_listeners(server, advertised=bool(addresses.advertise))
        self.cluster = cluster
        self._server = cluster.servers[1]

    @property
    def server(self) -> Server:
        """The sockets of the only broker, or of the first."""
        assert self._server is not None
        return self._server

    @property
    def servers(self) -> Mapping[int, Server]:
        """The sockets of each broker."""
        if self.cluster is not None:
            return self.cluster.servers
        return {self._options.node_id: self.server}

    @property
    def brokers(self) -> Mapping[int, Broker]:
        """The brokers by id. A broker that was started again is another object."""
        if self.cluster is not None:
            return self.cluster.brokers.brokers
        return {self._options.node_id: self.server.broker}

    @property
    def lone(self) -> LoneBroker:
        """The host of the only broker, which a verb stops and starts."""
        if self._lone is None:
            from coordinator.server.net.lone_broker import LoneBroker

            self._lone = LoneBroker(self.server)
        return self._lone

    async def settled(self) -> None:
        """Wait until the only broker's sockets are as its host's state wants them."""
        if self._lone is not None:
            await self._lone.settled()

    def runs(self, broker: int) -> bool:
        """Return True if a broker is neither stopped nor paused."""
        if self.cluster is not None:
            return self.cluster.brokers.network.running(broker)
        return self._lone is None or self._lone.state.value == "running"

    async def stop(self) -> list[InterceptorError]:
        """Answer parked requests, close every connection and the logs. Return the errors of
        interceptors."""
        errors: list[InterceptorError] = []
        if self._server is not None:
            brokers = list(self.brokers.values())
            await self.settled()
            await (self.cluster or self._server).stop()
            if self._lone is not None:
                self._lone.close()
            errors = [error for broker in brokers for error in broker.interceptor_errors]
        if self.guard is not None:
            self.guard.close()
        if self._kafka_log is not None:
            self._kafka_log.close()
        if self.log is not None:
            self.log.close()
        return errors
