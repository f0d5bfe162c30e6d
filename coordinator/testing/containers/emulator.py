"""`EmulatorContainer`: this project's emulator in a container, in place of a Kafka container.

Has the variables that give the image its topics, configuration and address. In a Python test
suite `coordinator.Emulator` does the same without Docker; the container is for suites that use
containers anyway.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from ssl import SSLContext
from typing import Any, Final

from coordinator.base.version import __version__
from coordinator.events.acls import read_acl
from coordinator.kit.http.client import NoControlPort
from coordinator.kit.http.remote import RemoteKit
from coordinator.server.build import TopicError, topic_options
from coordinator.server.settings.broker_configs import BrokerConfigs, ConfigError

from ..readiness import greets
from . import daemon
from .brokers import CLIENT_PORT, Brokers
from .errors import ContainerError, refused
from .node import Node
from .secured import jaas
from .secured import read as read_security_of
from .settings import checked_config, checked_of_brokers, variable

CONTROL_PORT: Final = 8080
"""Port on which the image's control port listens, inside its container."""
_POLL_S: Final = 0.05
DEFAULT_IMAGE: Final = f"kafka-group-coordinator:{__version__}"


class EmulatorContainer(Brokers):
    """The emulator for as long as a `with` lasts; it keeps all in memory, so a stopped broker
    starts again empty.

    It has the testing kit, too, as `Emulator` does: `kafka.create_topic(...)`,
    `kafka.group("billing").wait(...)`, `kafka.fail(...)`, by the image's control port, with a token
    of its own. `stop_broker` and its like are the container's own.

    `topics`: `{"orders": 12}` or `["orders:12", "payments"]`. `config`: broker configurations by
    Kafka's names; defaults are Kafka's, except that group.initial.rebalance.delay.ms is 0. `image`:
    instead of the environment's COORDINATOR_IMAGE, or kafka-group-coordinator with this package's
    version. `port`: a port of this machine; None for a free one.

    `security`, `users`, `acls`, `super_users`: as `Emulator` has them. `client_config` is what a
    client is given, `ca_file` a copy on this machine.

    `brokers`: how many, in one process and thus in one container, with the ids 1, 2, ...; each has
    a port further on. `racks`: one for each. The container is node 1 of `stop_broker` and its kin;
    single brokers are stopped over the control port (docs/control.md).

    Raises ContainerError for arguments that cannot be, and when the emulator cannot be had within
    `pull_timeout_s` and `startup_timeout_s`; DockerUnavailableError and ImageUnavailableError are
    such errors.
    """

    kind = "emulator"
    other_ports = (CONTROL_PORT,)
    advice = (
        "build it in a checkout of this project (`python -m tools.images emulator`), or name another with COORDINATOR_IMAGE; "
        "in Python tests `coordinator.Emulator` needs no container"
    )

    def __init__(
        self,
        topics: Iterable[str] | Mapping[str, int] = (),
        config: Mapping[str, object] | None = None,
        image: str | None = None,
        port: int | None = None,
        *,
        brokers: int = 1,
        racks: Sequence[str | None] = (),
        security: str | None = None,
        users: Mapping[str, str] | None = None,
        acls: Any = (),
        super_users: Any = (),
        startup_timeout_s: float = 60,
        pull_timeout_s: float = 300,
    ) -> None:
        super().__init__(
            image=image or os.environ.get("COORDINATOR_IMAGE") or DEFAULT_IMAGE,
            count=1,
            ports=port,
            startup_timeout_s=startup_timeout_s,
            pull_timeout_s=pull_timeout_s,
        )
        if brokers < 1:
            raise ContainerError(f"brokers={brokers!r}: give a whole number from 1 on")
        if port is not None and port + brokers - 1 > 65_535:
            raise ContainerError(
                f"port={port}: {brokers} brokers take the ports from it on, and there is none above 65535"
            )
        self.brokers_in_one = brokers
        checked_of_brokers(racks, {}, brokers)
        self._racks = list(racks)
        self._config = checked_config(config or {})
        self._token = secrets.token_urlsafe(24)
        try:
            self._topics = topic_options(topics)
            BrokerConfigs(self._config)
        except TopicError as error:
            raise ContainerError(f"topics: {error}") from error
        except ConfigError as error:
            raise ContainerError(f"config: {error}") from error
        self._asked = read_security_of(None, security, users, acls, super_users, self._config)
        self._users = dict(users or {})
        self._kit: RemoteKit | None = None

    def stop(self) -> None:
        """See `Brokers.stop`."""
        super().stop()
        self._kit = None

    def start_broker(self, node: int = 1) -> None:
        """See `Brokers.start_broker`; with TLS its authority is another one then."""
        self._kit = None
        super().start_broker(node)

    @property
    def kit(self) -> RemoteKit:
        """The testing kit, by the container's control port. Raises ContainerError unless
        started."""
        node = self._node(1)
        if self._kit is None:
            self._kit = self._connect_kit(node)
        return self._kit

    def _connect_kit(self, node: Node) -> RemoteKit:
        deadline = time.monotonic() + self._startup_timeout_s
        while True:  # the port opens after the broker does, and Docker's proxy accepts before that
            try:
                kit = self._remote(node)
                kit.mark()
                return kit
            except NoControlPort as error:
                if time.monotonic() > deadline:
                    raise ContainerError(
                        f"{node}: no control port within {self._startup_timeout_s:g} s: {error}"
                    ) from None
                time.sleep(_POLL_S)

    def _remote(self, node: Node) -> RemoteKit:
        """Return the remote kit; its control port may not answer yet. Raises ContainerError."""
        try:
            port = int(node.container.get_exposed_port(CONTROL_PORT))
        except daemon.DOCKER_ERRORS as error:
            raise refused(f"tell the port of {node}'s control port", error) from error
        return RemoteKit(f"http://{node.host}:{port}", self._token)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the kit, for all that a container does not do itself:
        `kafka.create_topic(...)`, `kafka.group(...)`, `kafka.fail(...)`."""
        if name.startswith("_") or not hasattr(RemoteKit, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.kit, name)

    def _environment(self, number: int, address: str) -> Mapping[str, str]:
        variables = {variable(name): value for name, value in self._config.items()}
        protocol = self._asked.protocol
        variables["KAFKA_LISTENERS"] = f"{protocol}://0.0.0.0:{CLIENT_PORT}"
        variables["KAFKA_ADVERTISED_LISTENERS"] = f"{protocol}://{address}"
        if self._users:
            name = f"listener.name.{protocol.lower()}.plain.sasl.jaas.config"
            variables[variable(name)] = jaas(self._users)
        if self._asked.acls:
            variables["COORDINATOR_ACLS"] = "\n".join(
                str(read_acl(each)) for each in self._asked.acls
            )
        if self._asked.super_users:
            variables["KAFKA_SUPER_USERS"] = ";".join(self._asked.super_users)
        variables["COORDINATOR_CONTROL_TOKEN"] = self._token
        variables["COORDINATOR_CONTROL_ADVERTISE"] = address.rpartition(":")[0]
        variables["COORDINATOR_TOPICS"] = ",".join(
            topic.name if topic.partitions is None else f"{topic.name}:{topic.partitions}"
            for topic in self._topics
        )
        if self.brokers_in_one > 1:
            variables["COORDINATOR_BROKERS"] = str(self.brokers_in_one)
        if self._racks:
            variables["COORDINATOR_RACKS"] = ",".join(rack or "" for rack in self._racks)
        return variables

    def _alive(self, node: Node) -> set[int]:
        """Return the brokers that answer ApiVersions, if they demand a login or TLS, so that
        Metadata cannot be asked."""
        if self._asked.options is None:
            return super()._alive(node)
        try:
            tls = self._tls(self._remote(node)) if self._asked.has_tls else None
        except (ContainerError, NoControlPort):
            return set()  # not yet; what has ended is told by another
        ports = range(node.port, node.port + self.brokers_in_one)
        return {number for number, port in enumerate(ports, 1) if greets(node.host, port, tls)}

    def _tls(self, kit: RemoteKit) -> SSLContext:
        """Return the TLS context of a client, with a client certificate if the listener demands
        one. Raises NoControlPort."""
        import ssl

        user = "coordinator" if self._asked.wants_certificates else None
        if not user:
            return ssl.create_default_context(cafile=kit.ca_file)
        config = kit.client_config("librdkafka", user=user)
        context = ssl.create_default_context(cafile=config["ssl.ca.location"])
        context.load_cert_chain(config["ssl.certificate.location"])
        return context

    def _node(self, number: int) -> Node:
        if 1 < number <= self.brokers_in_one:
            raise ContainerError(
                f"node={number}: the {self.brokers_in_one} brokers are one process, and its container is node 1; "
                "single brokers are stopped over the control port (docs/control.md)"
            )
        return super()._node(number)
