"""`EmulatorContainer`: this project's emulator in a container, in place of a Kafka container.

Owns the variables by which the image is told its topics, configuration and address. Does not depend
on what is asked of it. In a Python test suite `coordinator.Emulator` does the same without Docker;
the container is for suites that think in containers.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ...broker.build import TopicError, topic_options
from ...configs.broker_configs import BrokerConfigs, ConfigError
from ...http.client import NoControlPort
from ...http.remote import RemoteKit
from ...version import __version__
from . import daemon
from .brokers import CLIENT_PORT, Brokers
from .errors import ContainerError, refused
from .node import Node
from .settings import checked_config, checked_of_brokers, variable

CONTROL_PORT: Final = 8080
"""Where the image's control port listens, inside its container."""
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

    @property
    def kit(self) -> RemoteKit:
        """The testing kit, by the container's control port. Raises ContainerError unless
        started."""
        node = self._node(1)
        try:
            port = int(node.container.get_exposed_port(CONTROL_PORT))
        except daemon.DOCKER_ERRORS as error:
            raise refused(f"tell the port of {node}'s control port", error) from error
        kit = RemoteKit(f"http://{node.host}:{port}", self._token)
        deadline = time.monotonic() + self._startup_timeout_s
        while True:  # the port opens after the broker does, and Docker's proxy accepts before that
            try:
                kit.mark()
                return kit
            except NoControlPort as error:
                if time.monotonic() > deadline:
                    raise ContainerError(
                        f"{node}: no control port within {self._startup_timeout_s:g} s: {error}"
                    ) from None
                time.sleep(_POLL_S)

    def __getattr__(self, name: str) -> Any:
        """What a container does not do itself is the kit's: `kafka.create_topic(...)`,
        `kafka.group(...)`, `kafka.fail(...)`."""
        if name.startswith("_") or not hasattr(RemoteKit, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.kit, name)

    def _environment(self, number: int, address: str) -> Mapping[str, str]:
        variables = {variable(name): value for name, value in self._config.items()}
        variables["KAFKA_LISTENERS"] = f"PLAINTEXT://0.0.0.0:{CLIENT_PORT}"
        variables["KAFKA_ADVERTISED_LISTENERS"] = f"PLAINTEXT://{address}"
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

    def _node(self, number: int) -> Node:
        if 1 < number <= self.brokers_in_one:
            raise ContainerError(
                f"node={number}: the {self.brokers_in_one} brokers are one process, and its container is node 1; "
                "single brokers are stopped over the control port (docs/control.md)"
            )
        return super()._node(number)
