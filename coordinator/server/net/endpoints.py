"""Addresses that brokers listen on and advertise: parsing, checks, and Java's form of a client's
address.

A listener beyond loopback must be requested explicitly, unless it authenticates its clients.
Opens no socket.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Sequence
from typing import NamedTuple

DEFAULT_LISTENER = "PLAINTEXT"
_WILDCARDS = ("", "0.0.0.0", "::")


class ListenError(OSError):
    """Error for a listener that cannot be opened; the message says why and what to do."""


class Endpoint(NamedTuple):
    """Name and address of a listener. Port 0: any free port."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"

    @classmethod
    def parse(cls, text: str, default_name: str = DEFAULT_LISTENER) -> Endpoint:
        """Parse `host:port` or `NAME://host:port`; IPv6 in brackets. Raises ValueError, which says
        what would be right.
        """
        name, separator, address = text.rpartition("://")
        host, colon, port = address.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65535 or (separator and not name):
            raise ValueError(
                f"{text!r} is no listener: give host:port or NAME://host:port, such as 127.0.0.1:9092"
            )
        return cls(name or default_name, host.removeprefix("[").removesuffix("]"), int(port))

    @property
    def is_loopback(self) -> bool:
        """True if only the local machine can connect."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


def check_endpoints(
    endpoints: Sequence[Endpoint],
    advertised: Sequence[Endpoint],
    *,
    allow_remote: bool,
    authenticating: Collection[str] = (),
) -> None:
    """Raise ListenError for repeated names, listeners open to other machines without permission, or
    a missing advertised address. `authenticating`: names of listeners that authenticate their
    clients.
    """
    names = [endpoint.name for endpoint in endpoints]
    for endpoint in endpoints:
        if names.count(endpoint.name) > 1:
            apart = f"OTHER://{endpoint.host}:{endpoint.port}"
            raise ListenError(
                f"two listeners are called {endpoint.name}: name them apart, such as {apart}"
            )
        if not endpoint.is_loopback and not allow_remote and endpoint.name not in authenticating:
            from coordinator.base.installing import see_agents

            raise ListenError(
                f"{endpoint} can be reached from other machines, and nobody is asked for credentials: "
                f"if that is meant, say so (--allow-remote); {see_agents()}"
            )
        if endpoint.host in _WILDCARDS and endpoint.name not in [
            shown.name for shown in advertised
        ]:
            wanted = f"--advertise {endpoint.name}://host:{endpoint.port}"
            raise ListenError(
                f"{endpoint} is no address that a client can connect to: say which one is ({wanted})"
            )
    for shown in advertised:
        if shown.name not in names:
            raise ListenError(
                f"{shown} is to be advertised, but the listeners are called {', '.join(names)}"
            )
        if shown.host in _WILDCARDS:
            raise ListenError(
                f"{shown} cannot be advertised: it is no address that a client can connect to"
            )


def bind_host(host: str) -> str | None:
    """Return the host to bind: one address for localhost (its two would get different free ports),
    None for every interface.
    """
    return "127.0.0.1" if host == "localhost" else host or None


def java_host(host: str) -> str:
    """Return an address as Java's InetAddress.toString: "/127.0.0.1"; IPv6 in full,
    "/0:0:0:0:0:0:0:1" (DSC-3).
    """
    address, percent, scope = host.partition("%")
    if ":" not in address:
        return f"/{host}"
    packed = socket.inet_pton(socket.AF_INET6, address)
    if packed.startswith(b"\0" * 10 + b"\xff\xff"):
        return f"/{socket.inet_ntop(socket.AF_INET, packed[12:])}"
    groups = ":".join(f"{packed[i] << 8 | packed[i + 1]:x}" for i in range(0, 16, 2))
    return f"/{groups}{percent}{scope}"
