"""`RealKafka`: one broker of Apache Kafka, or a cluster of three, from apache/kafka or from the
locally built image.

Has the brokers' settings and the call of Kafka's tools inside a container. The settings are
Kafka's own defaults except those named at `RealKafka`. There is no start script, only variables,
so that both images serve.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from coordinator.kit.admin import AdminError
from coordinator.kit.emulator.client_config import Access, config_for
from coordinator.server.security.listeners import SecurityProtocol

from ..readiness import greets, live_brokers
from . import daemon
from .brokers import CLIENT_PORT, LOOPBACK, Brokers, host_name
from .errors import ContainerError, refused
from .node import Node
from .secured import NOTHING_ASKED, PLAINTEXT, read_of_real_kafka
from .secured_kafka import SecuredKafka
from .settings import checked_config, checked_of_brokers, log_unknown, variable

DEFAULT_IMAGE: Final = "apache/kafka:4.4.0"

QUICK_JVM: Final = "-Xms256m -Xmx512m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""JVM options for a broker that lives for one test run: little memory, the quick compiler, the
simple collector."""

IMAGE_JVM: Final = ""
"""No options: the JVM as the image and the machine choose it (1 GiB of heap; on machines of some
size G1 and both compilers)."""

_BROKER_PORT, _CONTROLLER_PORT = 9093, 9094
CLIENTS: Final = "CLIENTS"
"""The listener of clients that are asked for more than a connection. The image's script wants files for one that is called by a protocol of
TLS."""
_CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
_TOOLS = "/opt/kafka/bin"
_OFFLINE_TOOLS = frozenset({"kafka-dump-log", "kafka-storage"})

QUICK_START: Final = {"group.initial.rebalance.delay.ms": "0"}
ALONE: Final = {
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.replication.factor": "1",
}


class RealKafka(Brokers):
    """Apache Kafka for as long as a `with` lasts: one broker, or three of which any one may die.

    `brokers`: 1 or 3, each a controller too. `config`: broker configurations by Kafka's names, for
    all brokers. `image`: instead of the environment's KAFKA_IMAGE, or apache/kafka:4.4.0. `ports`:
    ports of this machine, one for each broker; None for free ones. `racks`: a rack for each broker,
    None for a broker without one. `broker_config`: configurations of single brokers by id, over
    `config`. `jvm`: JVM options of the brokers, QUICK_JVM or IMAGE_JVM or your own.

    `security`, `users`, `acls`, `super_users`: as `Emulator` has them; the certificates are of a
    throw-away authority. `client_config` is what a client is given.

    Settings are Kafka's defaults, except that group.initial.rebalance.delay.ms is 0 (as in
    `Emulator`), and that a broker alone keeps its internal topics in one replica and committed
    offsets in 4 partitions rather than 50. `config` overrules all of these.

    A broker is ready when its Metadata names all brokers as alive. Its group coordinator may still
    be about to load: __consumer_offsets is created when a client first looks for a coordinator, as
    on any fresh Kafka, and clients wait for it by themselves.

    Raises ContainerError for arguments that cannot be, and when the brokers cannot be had within
    `pull_timeout_s` and `startup_timeout_s`; DockerUnavailableError and ImageUnavailableError are
    such errors.
    """

    kind = "broker"
    advice = "build the local one in a checkout of this project (`python -m tools.images kafka`) and set KAFKA_IMAGE=local/kafka:4.4.0"

    def __init__(
        self,
        brokers: int = 1,
        config: Mapping[str, object] | None = None,
        image: str | None = None,
        ports: int | Sequence[int] | None = None,
        *,
        racks: Sequence[str | None] = (),
        broker_config: Mapping[int, Mapping[str, object]] | None = None,
        security: str | None = None,
        users: Mapping[str, str] | None = None,
        acls: Any = (),
        super_users: Any = (),
        jvm: str = QUICK_JVM,
        startup_timeout_s: float = 120,
        pull_timeout_s: float = 300,
    ) -> None:
        if brokers not in (1, 3):
            raise ContainerError(
                f"brokers={brokers}: give 1, or 3; with 2 the loss of either would end the cluster"
            )
        super().__init__(
            image=image or os.environ.get("KAFKA_IMAGE") or DEFAULT_IMAGE,
            count=brokers,
            ports=ports,
            startup_timeout_s=startup_timeout_s,
            pull_timeout_s=pull_timeout_s,
        )
        self._jvm = jvm
        self._asked = NOTHING_ASKED
        reserved = self._placing(1, "", "")
        self._config = checked_config(config or {}, reserved=reserved)
        own = checked_of_brokers(racks, broker_config or {}, brokers)
        self._broker_config = {
            number: checked_config(settings, reserved=reserved) for number, settings in own.items()
        }
        self._asked = read_of_real_kafka(
            CLIENTS, security, users, acls, super_users, self._config, [LOOPBACK]
        )
        self._secured: SecuredKafka | None = None
        if self._asked.options is not None:
            self.private_ports = (_BROKER_PORT,)
        log_unknown(
            dict.fromkeys(
                name
                for settings in (self._config, *self._broker_config.values())
                for name in settings
            )
        )

    def start(self) -> Self:
        """See `Brokers.start`."""
        if self._asked.options is not None and self._secured is None:
            self._secured = SecuredKafka(CLIENTS, self._asked)
        return super().start()

    def stop(self) -> None:
        """See `Brokers.stop`."""
        super().stop()
        if self._secured is not None:
            self._secured.close()
            self._secured = None

    @property
    def ca_file(self) -> str:
        """The certificate of the authority that clients are to trust, a PEM file. Raises
        ContainerError without TLS, and unless started."""
        self._running()
        if self._secured is None:
            raise ContainerError(
                "no listener speaks TLS: give security='SSL' or security='SASL_SSL'"
            )
        return self._secured.ca_file

    def client_config(
        self, library: str, *, user: str | None = None, mechanism: str | None = None
    ) -> dict[str, Any]:
        """Return the settings with which a client connects to the brokers, as
        `Emulator.client_config` does. Raises ContainerError."""
        if self._secured is not None:
            return self._secured.client_config(library, self.bootstrap_servers, user, mechanism)
        plain = Access(self.bootstrap_servers, SecurityProtocol.PLAINTEXT, "", "", "", None)
        if user is not None:
            raise ContainerError(
                f"user={user!r}: there are no logins here; give security and users"
            )
        return config_for(library, plain)

    def tool(self, name: str, *args: str, node: int = 1) -> str:
        """Run one of Kafka's command-line tools in a broker's container: `tool("kafka-topics",
        "--list")`. What it printed.

        --bootstrap-server is added, the broker of that container. A tool that writes nothing for a
        minute is given up. Raises ContainerError if it cannot run, or ends with a status other than
        0; then with all it printed.
        """
        address = (
            [] if name in _OFFLINE_TOOLS else ["--bootstrap-server", f"localhost:{_BROKER_PORT}"]
        )
        container = self._node(node).docker
        try:
            status, (output, errors) = container.exec_run(
                [f"{_TOOLS}/{name}.sh", *address, *args], demux=True
            )
        except daemon.DOCKER_ERRORS as error:
            raise refused(f"run {name} in broker {node}", error) from error
        printed = (output or b"").decode(errors="replace")
        if status:
            said = (printed + (errors or b"").decode(errors="replace")).strip()
            raise ContainerError(
                f"{name} {' '.join(args)}: status {status} in broker {node}: {said}"
            )
        return printed

    def _environment(self, number: int, address: str) -> Mapping[str, str]:
        inside = host_name(number) if self.count > 1 else "localhost"
        settings = (
            self._placing(number, address, inside)
            | QUICK_START
            | (ALONE if self.count == 1 else {})
        )
        if self._secured is not None:
            settings |= self._secured.settings()
        settings |= self._config | self._broker_config.get(number, {})
        variables = {variable(name): value for name, value in settings.items()}
        variables["CLUSTER_ID"] = _CLUSTER_ID
        if self._jvm:
            variables["KAFKA_JVM_PERFORMANCE_OPTS"] = self._jvm
        return variables

    def _alive(self, node: Node) -> set[int]:
        """Return the ids of the live brokers. A broker that demands a login is asked on the
        brokers' own listener; the clients' listener must answer, too."""
        if self._secured is None:
            return super()._alive(node)
        try:
            port = self._private_port(node)
        except daemon.DOCKER_ERRORS:  # it has ended, which is told by another
            return set()
        found = live_brokers(node.host, port)
        return found if found and greets(node.host, node.port, self._secured.tls()) else set()

    def _await(self, node: Node) -> None:
        """Wait for the broker, then create its users and ACLs, if there are any."""
        super()._await(node)
        if self._secured is None:
            return
        try:
            self._secured.prepare((node.host, self._private_port(node)), self._startup_timeout_s)
        except AdminError as error:
            raise ContainerError(f"{node}: its users and ACLs: {error}") from error

    @staticmethod
    def _private_port(node: Node) -> int:
        """Return the port at which this machine reaches the brokers' own listener."""
        return int(node.container.get_exposed_port(_BROKER_PORT))

    def _placing(self, number: int, address: str, inside: str) -> dict[str, str]:
        """Return the settings that place a broker in the cluster and give its address to
        clients. A single such setting makes the image drop all its defaults."""
        protocol = self._asked.protocol
        clients = PLAINTEXT if self._asked.options is None else CLIENTS
        voters = [
            (n, host_name(n) if self.count > 1 else "localhost") for n in range(1, self.count + 1)
        ]
        return {
            "node.id": str(number),
            "process.roles": "broker,controller",
            "controller.quorum.voters": ",".join(
                f"{n}@{host}:{_CONTROLLER_PORT}" for n, host in voters
            ),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "BROKER",
            "listeners": f"{clients}://:{CLIENT_PORT},BROKER://:{_BROKER_PORT},CONTROLLER://:{_CONTROLLER_PORT}",
            "advertised.listeners": f"{clients}://{address},BROKER://{inside}:{_BROKER_PORT}",
            "listener.security.protocol.map": f"{clients}:{protocol},BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": "/tmp/kraft-combined-logs",
        }
