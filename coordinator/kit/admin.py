"""Asking brokers what the reassignment tool needs: metadata, reassignments, configurations.
Blocking sockets, one connection a broker.

Owns the connections and the requests' wire forms. Raises AdminError in words for whoever typed the
command. Does not depend on files.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from coordinator.base.errors import ErrorCode
from coordinator.wire.framing import frame, parse_response_header, request_header
from coordinator.wire.messages import response_type
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from coordinator.wire.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from coordinator.wire.schema import Request

if TYPE_CHECKING:
    from ssl import SSLContext

TopicPartition = tuple[str, int]
TOPIC, BROKER = 2, 4
_SET, _DELETE = 0, 1
_TIMEOUT_S = 30.0


class AdminError(Exception):
    """A broker cannot be reached, or refuses a request: what, and why."""


class Login(Protocol):
    """SASL login of one connection, message by message. `members.login.Login` is one."""

    mechanism: str
    first: bytes

    def answered(self, data: bytes) -> bytes | None:
        """Return the next message of the login, or None if the client is logged in."""


class Entry(Protocol):
    """Transport security and login of a client. `members.live.wire.Entry` is one."""

    @property
    def tls(self) -> SSLContext | None:
        """The TLS context, or None for plaintext."""

    def login(self) -> Login | None:
        """Return a new login, or None if the client does not log in."""


class Moving(NamedTuple):
    """A partition that is being reassigned."""

    replicas: list[int]
    adding: list[int]
    removing: list[int]

    @property
    def target(self) -> list[int]:
        """The replicas when the reassignment is complete."""
        return [node for node in self.replicas if node not in self.removing]


class Admin:
    """A client of one cluster."""

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        client_id: str = "coordinator-reassign",
        entry: Entry | None = None,
    ) -> None:
        """`entry`: TLS and login, if the brokers demand them."""
        self._client_id = client_id
        self._entry = entry
        self._bootstrap = list(bootstrap)
        self._connections: dict[int | None, socket.socket] = {}
        self.addresses: dict[int, tuple[str, int]] = {}
        self.racks: dict[int, str | None] = {}
        self._asked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections.values():
            connection.close()

    def replicas(self, topics: Sequence[str]) -> dict[TopicPartition, list[int]]:
        """Return the replicas of every existing partition of these topics. The client also
        learns the brokers' addresses."""
        asked = [MetadataRequestTopic(name=topic) for topic in topics]
        answer = self.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=False), 12)
        self.addresses = {node.node_id: (node.host, node.port) for node in answer.brokers}
        self.racks = {node.node_id: node.rack for node in answer.brokers}
        return {
            (topic.name, partition.partition_index): list(partition.replica_nodes)
            for topic in answer.topics
            if not topic.error_code
            for partition in topic.partitions
        }

    def moving(self) -> dict[TopicPartition, Moving]:
        """Return all partitions that are being reassigned."""
        answer = self.ask(ListPartitionReassignmentsRequest(timeout_ms=30_000, topics=None), 0)
        _check(answer.error_code, answer.error_message)
        return {
            (topic.name, each.partition_index): Moving(
                list(each.replicas), list(each.adding_replicas), list(each.removing_replicas)
            )
            for topic in answer.topics
            for each in topic.partitions
        }

    def reassign(
        self, targets: Mapping[TopicPartition, list[int] | None]
    ) -> dict[TopicPartition, str]:
        """Request reassignments (None: cancel). Return the refused ones with the reasons."""
        topics: dict[str, list[ReassignablePartition]] = {}
        for (topic, index), replicas in sorted(targets.items()):
            topics.setdefault(topic, []).append(
                ReassignablePartition(partition_index=index, replicas=replicas)
            )
        answer = self.ask(
            AlterPartitionReassignmentsRequest(
                timeout_ms=30_000,
                topics=[
                    ReassignableTopic(name=name, partitions=rows) for name, rows in topics.items()
                ],
            ),
            0,
        )
        _check(answer.error_code, answer.error_message)
        return {
            (topic.name, row.partition_index): row.error_message or ErrorCode(row.error_code).name
            for topic in answer.responses
            for row in topic.partitions
            if row.error_code
        }

    def configs(self, kind: int, name: str, keys: Sequence[str]) -> dict[str, str]:
        """Return the configurations of a topic or a broker that are set, without defaults."""
        resource = DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=list(keys)
        )
        answer = self.ask(
            DescribeConfigsRequest(resources=[resource]), 4, int(name) if kind == BROKER else None
        )
        (result,) = answer.results
        _check(result.error_code, result.error_message)
        return {row.name: row.value or "" for row in result.configs if row.value}

    def set_configs(self, kind: int, name: str, values: Mapping[str, str | None]) -> None:
        """Set configurations of a topic or a broker; None removes one."""
        changes = [
            AlterableConfig(
                name=key, config_operation=_DELETE if value is None else _SET, value=value
            )
            for key, value in values.items()
        ]
        resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=changes)
        answer = self.ask(
            IncrementalAlterConfigsRequest(resources=[resource]),
            1,
            int(name) if kind == BROKER else None,
        )
        (result,) = answer.responses
        _check(result.error_code, result.error_message)

    def ask(self, request: Request, version: int, node: int | None = None) -> Any:
        """Send a request to a broker (None: any broker) and return its response. Raises
        AdminError."""
        return self._exchange(self._connection(node), request, version)

    def _exchange(self, connection: socket.socket, request: Request, version: int) -> Any:
        self._asked += 1
        key = type(request).api_key
        header = request_header(key, version, self._asked, self._client_id)
        try:
            connection.sendall(frame(header, request.encode(version)))
            body = _receive(connection, struct.unpack(">i", _receive(connection, 4))[0])
        except OSError as error:
            raise AdminError(f"the broker does not answer: {error}") from None
        _, at = parse_response_header(body, key, version)
        return response_type(key).decode(version, body, at)

    def _connection(self, node: int | None) -> socket.socket:
        if node not in self._connections:
            self._connections[node] = self._connect(
                [self.addresses[node]] if node in self.addresses else self._bootstrap
            )
        return self._connections[node]

    def _connect(self, addresses: Sequence[tuple[str, int]]) -> socket.socket:
        failed: list[str] = []
        for host, port in addresses:
            connection = None
            try:
                connection = socket.create_connection((host, port), timeout=_TIMEOUT_S)
                tls = None if self._entry is None else self._entry.tls
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_hostname=host)
                self._log_in(connection)
                return connection
            except (OSError, AdminError) as error:
                if connection is not None:
                    connection.close()
                if isinstance(error, AdminError):
                    raise
                failed.append(f"{host}:{port}: {error.strerror or error}")
        raise AdminError(f"no broker can be reached: {'; '.join(failed)}")

    def _log_in(self, connection: socket.socket) -> None:
        login = None if self._entry is None else self._entry.login()
        if login is None:
            return
        answer = self._exchange(connection, SaslHandshakeRequest(mechanism=login.mechanism), 1)
        if answer.error_code:
            there = ", ".join(answer.mechanisms) or "none"
            raise AdminError(f"the broker has no {login.mechanism}; it has {there}")
        said: bytes | None = login.first
        while said is not None:
            answer = self._exchange(connection, SaslAuthenticateRequest(auth_bytes=said), 2)
            if answer.error_code:
                raise AdminError(f"the login was refused: {answer.error_message}")
            try:
                said = login.answered(answer.auth_bytes)
            except ValueError as error:
                raise AdminError(f"the broker's answer to the login: {error}") from None


def _receive(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise OSError("it closed the connection")
        data += piece
    return bytes(data)


def _check(code: int, message: str | None) -> None:
    if code:
        raise AdminError(message or ErrorCode(code).name)
