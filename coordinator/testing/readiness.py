"""Readiness of a broker: it is ready when it answers a Metadata request and the answer names the
brokers that are alive. A broker that asks for a login is ready when it answers ApiVersions, which
comes before.

An open port proves nothing, since Docker's proxy accepts before the broker listens. Does not depend
on containers.
"""

from __future__ import annotations

import random
import socket
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssl import SSLContext

# Below the range from which systems take ports for outgoing connections: none is lost while a
# broker is stopped.
_PORTS = range(20_000, 32_000)
_ANSWER_LIMIT_S = 2.0
# Length, then a version 1 header of ApiVersions version 0, which has no body.
_API_VERSIONS_REQUEST = struct.pack(">ihhih", 10, 18, 0, 1, -1)
# Length, then a version 1 header (Metadata = 3, version 0, correlation id 1, no client id), then an
# empty list: all topics.
_METADATA_REQUEST = struct.pack(">ihhihi", 14, 3, 0, 1, -1, 0)


def free_port() -> int:
    """Return a port of this machine that is free now. Another program may take it before it is
    used."""
    for _ in range(1_000):
        port = random.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def free_ports(count: int) -> int:
    """Return the first of `count` consecutive ports that are free now."""
    first = free_port()
    for _ in range(1_000):
        if all(_is_free(first + step) for step in range(1, count)):
            break
        first = free_port()
    return first


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except (OSError, OverflowError):
            return False
        return True


def live_brokers(host: str, port: int, limit_s: float = _ANSWER_LIMIT_S) -> set[int]:
    """Return the ids of the brokers that the one at host:port knows to be alive (unfenced); none
    if it does not answer within the limit."""
    try:
        with (
            socket.create_connection((host, port), limit_s) as connection,
            connection.makefile("rb") as answer,
        ):
            connection.sendall(_METADATA_REQUEST)
            (count,) = struct.unpack(">8xi", answer.read(12))
            ids: set[int] = set()
            for _ in range(count):
                node_id, host_length = struct.unpack(">ih", answer.read(6))
                answer.read(host_length + 4)
                ids.add(node_id)
            return ids
    except (OSError, struct.error):
        return set()


def greets(host: str, port: int, tls: SSLContext | None, limit_s: float = _ANSWER_LIMIT_S) -> bool:
    """Return True if the broker at host:port answers ApiVersions, which is allowed before a
    login (SASL-1). `tls`: context with which to connect over TLS."""
    try:
        with socket.create_connection((host, port), limit_s) as plain:
            connection = plain if tls is None else tls.wrap_socket(plain, server_hostname=host)
            with connection, connection.makefile("rb") as answer:
                connection.sendall(_API_VERSIONS_REQUEST)
                return struct.unpack(">iih", answer.read(10))[1:] == (1, 0)
    except (OSError, struct.error):
        return False
