"""Containers of brokers that are started together, watched until they are ready, and removed
together: the base class of `kafka.py` and `emulator.py`.

The host's port is chosen before the start, so the advertised address is an ordinary setting and
stays right when a broker is stopped and started again. All containers are started before the
first is awaited. An exception gets the ends of the brokers' logs. It must not know what runs in
a container, except that it speaks Kafka's Metadata.
"""

from __future__ import annotations

import atexit
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient

from ..readiness import free_ports, live_brokers
from . import daemon
from .errors import ContainerError, is_port_taken, refused, taken
from .node import STOP_LIMIT_S, Node
from .settings import checked_ports, checked_seconds

LOOPBACK: Final = "127.0.0.1"
CLIENT_PORT: Final = 9092
"""Port on which a broker listens for clients, inside its container."""

_TAIL: Final = 50
_TRIES: Final = 5
_NODE_LABEL: Final = "kafka-group-coordinator.node"


class Brokers(ABC):
    """`count` brokers of one image; use them in a `with` block, or call `start` and `stop`. They
    can be started again after a stop."""

    kind: str
    """A noun for one broker in error messages."""
    advice: str
    """Advice in the error message if the image is missing."""
    brokers_in_one = 1
    """Number of brokers in a container. They listen on consecutive ports, inside and outside."""
    other_ports: tuple[int, ...] = ()
    """Container ports that are published at free ports of this machine."""
    private_ports: tuple[int, ...] = ()
    """Container ports that are published as `other_ports` are; on loopback if Docker runs on
    this machine."""

    def __init__(
        self,
        *,
        image: str,
        count: int,
        ports: int | Sequence[int] | None,
        startup_timeout_s: float,
        pull_timeout_s: float,
    ) -> None:
        self.image = image
        self.count = count
        self._ports = checked_ports(ports, count)
        self._startup_timeout_s = checked_seconds("startup_timeout_s", startup_timeout_s)
        self._pull_timeout_s = checked_seconds("pull_timeout_s", pull_timeout_s)
        self._client: DockerClient | None = None
        self._run = ""
        self._nodes: dict[int, Node] = {}

    @abstractmethod
    def _environment(self, number: int, address: str) -> Mapping[str, str]:
        """Return the variables of a broker that clients reach at `address`."""

    # --- life

    def start(self) -> Self:
        """Start all brokers and wait until each knows of all. Raises ContainerError; then, as on an
        interrupt, nothing is left over."""
        if self._client is not None:
            raise ContainerError(f"this {self.kind} runs already: stop it first, or make another")
        self._client = daemon.connect()
        self._run = uuid4().hex
        atexit.register(self.stop)
        try:
            daemon.ensure_image(
                self._client, daemon.full_name(self.image), self._pull_timeout_s, self.advice
            )
            daemon.ensure_reaper(self._client)
            daemon.undisturbed(self._launch)
            for node in self._nodes.values():
                self._await(node)
        except BaseException as error:
            self._attach_logs(error)
            self._stop_after(error)
            raise
        return self

    def stop(self) -> None:
        """Remove the brokers' containers, volumes and network. Safe to call twice. Raises
        ContainerError if Docker refuses."""
        if self._client is None:
            return
        daemon.remove_labelled(self._client, self.labels)
        for node in self._nodes.values():
            node.close()
        self._client.client.close()
        self._client = None
        self._nodes.clear()
        atexit.unregister(self.stop)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.stop()
        else:
            self._attach_logs(error)
            self._stop_after(error)

    # --- what a test sees

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of each broker, separated by commas. Raises ContainerError unless started."""
        self._running()
        return ",".join(
            f"{node.host}:{node.port + step}"
            for node in self._nodes.values()
            for step in range(self.brokers_in_one)
        )

    def get_bootstrap_server(self) -> str:
        """Return `bootstrap_servers`; the name is that of the method in Testcontainers' Kafka."""
        return self.bootstrap_servers

    def logs(self, node: int | None = None, *, tail: int | None = None) -> str:
        """Return a broker's log, or its last `tail` lines; without `node` those of all brokers,
        one after the other. Raises ContainerError."""
        nodes = list(self._running().values()) if node is None else [self._node(node)]
        if len(nodes) == 1:
            return nodes[0].logs(tail)
        return "".join(f"--- {one}\n{one.logs(tail)}" for one in nodes)

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the containers and network of the latest start, which no other container
        or network has."""
        return {daemon.RUN_LABEL: self._run}

    def container(self, node: int = 1) -> DockerContainer:
        """Return a broker's container, for methods that are not offered here. Raises
        ContainerError unless it was started."""
        return self._node(node).container

    # --- what a test does to a broker

    def kill_broker(self, node: int = 1) -> None:
        """Kill a broker (SIGKILL), as a crash does; return when its process has ended. Raises
        ContainerError."""
        self._node(node).order("kill")
        self._node(node).order("wait", timeout=STOP_LIMIT_S)

    def stop_broker(self, node: int = 1) -> None:
        """Ask a broker to end (SIGTERM); return when it has ended. After 30 s it is killed.
        Raises ContainerError."""
        self._node(node).order("stop", timeout=STOP_LIMIT_S)

    def start_broker(self, node: int = 1) -> None:
        """Start a stopped or killed broker at its old address; return when it reports itself
        alive. Raises ContainerError."""
        self._node(node).order("start")
        self._node(node).await_alive({node}, self._startup_timeout_s)

    def pause_broker(self, node: int = 1) -> None:
        """Freeze a broker: its connections stay open and nothing is answered. Raises
        ContainerError."""
        self._node(node).order("pause")

    def unpause_broker(self, node: int = 1) -> None:
        """Let a paused broker continue. Raises ContainerError."""
        self._node(node).order("unpause")

    # --- inside

    def _alive(self, node: Node) -> set[int]:
        """Return the ids of the brokers that a node knows to be alive; none if it does not
        answer."""
        return live_brokers(node.host, node.port)

    def _await(self, node: Node) -> None:
        """Wait until a started node knows all brokers to be alive. Raises ContainerError."""
        ids = set(range(1, self.count * self.brokers_in_one + 1))
        node.await_alive(ids, self._startup_timeout_s)

    def _labels_of(self, number: int) -> dict[str, str]:
        return self.labels | {_NODE_LABEL: str(number)}

    def _running(self) -> dict[int, Node]:
        if self._client is None or not self._nodes:
            raise ContainerError(
                f"this {self.kind} does not run: use it inside `with`, or call start() first"
            )
        return self._nodes

    def _node(self, number: int) -> Node:
        nodes = self._running()
        if number not in nodes:
            raise ContainerError(
                f"node={number}: there is no such broker; nodes are {', '.join(map(str, nodes))}"
            )
        return nodes[number]

    def _launch(self) -> None:
        """Create and start every container without waiting for any."""
        assert self._client is not None
        network = f"kafka-{self._run}" if self.count > 1 else ""
        if network:
            daemon.create_network(self._client, network, self.labels)
        for number in range(1, self.count + 1):
            self._nodes[number] = self._launch_node(number, network)

    def _launch_node(self, number: int, network: str) -> Node:
        """Return a started container. If another program takes its port meanwhile, another free
        port is used."""
        assert self._client is not None
        host = _host(self._client)
        for _ in range(_TRIES):
            port = self._ports[number - 1] if self._ports else free_ports(self.brokers_in_one)
            container = self._prepare(number, f"{host}:{port}", port, network)
            node = Node(
                kind=self.kind,
                number=number,
                host=host,
                port=port,
                container=container,
                alive=self._alive,
            )
            try:
                container.start()
                return node
            except daemon.DOCKER_ERRORS as error:
                node.close()
                daemon.remove_labelled(self._client, self._labels_of(number))
                if not is_port_taken(error):
                    raise refused(f"start a container of image {self.image}", error) from error
                if self._ports:
                    raise taken(port) from error
        raise ContainerError(
            f"no free port of this machine: {_TRIES} were taken by somebody else before Docker had them; try again"
        )

    def _prepare(self, number: int, address: str, port: int, network: str) -> DockerContainer:
        """Return a container that is not created yet."""
        assert self._client is not None
        container = DockerContainer(self.image, docker_client_kw={"timeout": daemon.CALL_LIMIT_S})
        for name, value in self._environment(number, address).items():
            container.with_env(name, value)
        for step in range(self.brokers_in_one):
            container.with_bind_ports(CLIENT_PORT + step, port + step)
        container.with_exposed_ports(*self.other_ports)
        ports: dict[Any, Any] = container.ports
        for private in self.private_ports:
            here = address.rpartition(":")[0] == LOOPBACK
            ports[private] = (LOOPBACK,) if here else None
        options: dict[str, Any] = {"labels": self._labels_of(number)}
        if network:
            endpoint = self._client.client.api.create_endpoint_config(aliases=[host_name(number)])
            options |= {"network": network, "networking_config": {network: endpoint}}
        return container.with_kwargs(**options)

    def _attach_logs(self, error: BaseException) -> None:
        """Add the ends of the brokers' logs to an exception."""
        if isinstance(error, GeneratorExit | KeyboardInterrupt | SystemExit):
            return
        for node in self._nodes.values():
            with suppress(Exception):
                error.add_note(
                    f"--- {node}, last {_TAIL} lines of its log:\n{node.logs(_TAIL).rstrip()}"
                )

    def _stop_after(self, error: BaseException) -> None:
        """Stop; a failure of that must not hide the error before it."""
        try:
            self.stop()
        except ContainerError as another:
            error.add_note(str(another))


def host_name(number: int) -> str:
    """Return a broker's host name in the brokers' own network."""
    return f"kafka{number}"


def _host(client: DockerClient) -> str:
    """Return the address at which this machine reaches published ports: 127.0.0.1 instead of
    localhost, which may be ::1 first."""
    host: str = client.host()
    return LOOPBACK if host == "localhost" else host
