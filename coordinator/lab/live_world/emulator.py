"""A scenario's cluster on loopback sockets, on the event loop of its members."""

from __future__ import annotations

import asyncio
from random import Random

from coordinator.events import EventLog
from coordinator.kit.cluster import Verb, perform
from coordinator.kit.injection.fault_board import FaultBoard
from coordinator.server.build import topic_options
from coordinator.server.cluster_runtime import Brokers, ClusterOptions
from coordinator.server.net.cluster_server import ClusterServer
from coordinator.server.net.endpoints import Endpoint
from coordinator.server.settings.broker_configs import BrokerConfigs

from ..simulator.files.model import Scenario
from ..simulator.sight import Sight
from ..simulator.world import racks_of
from .world import Address, Cluster


class OwnCluster(Cluster):
    """The emulator as the cluster of a live world."""

    def __init__(self, server: ClusterServer, seed: int) -> None:
        addresses = []
        for node, each in server.servers.items():
            endpoint = each.endpoints[0]
            addresses.append(Address(node, endpoint.host, endpoint.port))
        super().__init__(addresses, server.servers[1].clock)
        self._server = server
        self.faults = FaultBoard(lambda: list(server.brokers.brokers.values()), seed)

    def carry_out(self, verb: Verb) -> Verb | None:
        """Carry out a verb of the cluster; return its inverse. Raises ClusterError."""
        return perform(self._server.hosts, verb, self._server.now())

    def settle(self) -> None:
        """Let the brokers finish after work that was done from outside."""
        self._server.settle()

    def seen(self) -> Sight:
        """Return queries about the brokers, for conditions and targets of a scenario."""
        return Sight(self._server.brokers, self._server.now)

    async def stop(self) -> None:
        """Stop all brokers."""
        await self._server.stop()


async def start(scenario: Scenario, seed: int, log: EventLog, epoch_ms: int) -> OwnCluster:
    """Start a scenario's brokers on free ports."""
    configs = [
        BrokerConfigs(scenario.broker_config, node_id=node, release=scenario.release)
        for node in range(1, scenario.brokers + 1)
    ]
    brokers = Brokers(
        ClusterOptions(
            configs=configs,
            random=Random(seed),
            epoch_ms=epoch_ms,
            topics=topic_options(scenario.topics),
            groups=scenario.groups,
            log=log,
            metadata_delay_ms=scenario.metadata_delay_ms,
            racks=racks_of(scenario.wires.zones, scenario.brokers),
        )
    )
    server = ClusterServer(brokers, asyncio.get_running_loop())
    await server.listen([Endpoint("PLAINTEXT", "127.0.0.1", 0)])
    cluster = OwnCluster(server, seed)
    if scenario.broker_capacity:
        for node in brokers.brokers:
            server.hosts.limit_requests(node, scenario.broker_capacity)
    changed = brokers.hosts_changed

    def changes(node: int, state: object) -> None:
        changed(node, state)  # type: ignore[arg-type]
        cluster.faults.install()

    brokers.hosts_changed = changes
    return cluster
