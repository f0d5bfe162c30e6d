"""The command `coordinator health`: one ApiVersions request over a bare socket. It imports nothing of the
emulator, because a container runs it every few seconds."""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from argparse import ArgumentTypeError, Namespace
from typing import Final

from .. import Subparsers, UsageError

DESCRIPTION: Final = """Does a broker answer? One ApiVersions request over a bare socket.

For health checks of containers: starts fast, loads nothing of the emulator, asks any Kafka. Status
0 with one line on standard output if it answers, 1 with one line on standard error if not, 2 for an
address that is none."""

DEFAULT_ADDRESS = "127.0.0.1:9092"
DEFAULT_TIMEOUT_S = 3.0
_CORRELATION_ID = 0x48656C6F
_CLIENT_ID = b"coordinator-health"
_LARGEST_ANSWER = 1 << 16
_NO_HOST = {
    "": "127.0.0.1",
    "0.0.0.0": "127.0.0.1",
    "::": "::1",
}  # a listener on every interface is asked through loopback


class NotHealthy(Exception):
    """There was no answer, or one that no broker gives; the message says which."""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `health`."""
    parser = subparsers.add_parser(
        "health",
        help="ask whether a broker answers",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "address", nargs="?", metavar="HOST:PORT", help=f"whom to ask (default {DEFAULT_ADDRESS})"
    )
    parser.add_argument(
        "--from-environment",
        action="store_true",
        help="ask the first listener for clients of KAFKA_LISTENERS",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_TIMEOUT_S,
        metavar="SECONDS",
        help=f"for all of it (default {DEFAULT_TIMEOUT_S:g})",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise ArgumentTypeError(f"{text!r} is no time limit: give seconds above 0")
    return seconds


def run(args: Namespace) -> int:
    """Ask the broker once; return the exit status."""
    host, port = address_of(args)
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        apis = ask(host, port, args.timeout, tls=_speaks_tls(args))
    except NotHealthy as error:
        print(f"{shown}: {error}", file=sys.stderr)
        return 1
    print(f"{shown}: healthy, serves {apis} APIs")
    return 0


def ask(host: str, port: int, timeout_s: float, *, tls: bool = False) -> int:
    """Return the number of APIs that the broker serves. Raises NotHealthy; takes at most about
    `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    try:
        with _connected(host, port, timeout_s, tls=tls) as connection:
            # ApiVersions version 0: every broker knows it, and its header has no tagged fields.
            body = struct.pack(">hhih", 18, 0, _CORRELATION_ID, len(_CLIENT_ID)) + _CLIENT_ID
            connection.sendall(struct.pack(">i", len(body)) + body)
            (size,) = struct.unpack(">i", _receive(connection, 4, deadline))
            if not 10 <= size <= _LARGEST_ANSWER:
                raise NotHealthy("the answer is not a Kafka broker's: is it the right port?")
            correlation_id, error, apis = struct.unpack(
                ">ihi", _receive(connection, size, deadline)[:10]
            )
    except TimeoutError:
        raise NotHealthy(f"no answer within {timeout_s:g} s") from None
    except OSError as fault:
        raise NotHealthy(f"cannot be reached: {fault.strerror or fault}") from None
    if correlation_id != _CORRELATION_ID:
        raise NotHealthy("the answer is not a Kafka broker's: is it the right port?")
    if error:
        raise NotHealthy(f"it answers ApiVersions with error {error}")
    return int(apis)


def _connected(host: str, port: int, timeout_s: float, *, tls: bool) -> socket.socket:
    """Return a connection. The certificate is not verified, because no secret is sent."""
    connection = socket.create_connection((host, port), timeout=timeout_s)
    if not tls:
        return connection
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        return context.wrap_socket(connection)
    except OSError:
        connection.close()
        raise


def _speaks_tls(args: Namespace) -> bool:
    """Return True if the listener that the environment names uses TLS."""
    if args.address is not None or not args.from_environment:
        return False
    from .environment import client_listeners, protocol_of

    return "SSL" in protocol_of(os.environ, client_listeners(os.environ)[0].name).split("_")


def _receive(connection: socket.socket, count: int, deadline: float) -> bytes:
    """Receive exactly `count` bytes. Raises NotHealthy, TimeoutError."""
    received = b""
    while len(received) < count:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        connection.settimeout(left_s)
        piece = connection.recv(count - len(received))
        if not piece:
            raise NotHealthy("it closed the connection without an answer: is it the right port?")
        received += piece
    return received


def address_of(args: Namespace) -> tuple[str, int]:
    """Return the address to connect to. Raises UsageError."""
    if args.address is None and args.from_environment and os.environ.get("KAFKA_LISTENERS"):
        from .environment import client_listeners

        listener = client_listeners(os.environ)[0]
        return _NO_HOST.get(listener.host, listener.host), listener.port
    host, colon, port = (args.address or DEFAULT_ADDRESS).rpartition(":")
    if not colon or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise UsageError(
            f"{args.address!r} is no address: give host:port, such as {DEFAULT_ADDRESS}"
        )
    host = host.removeprefix("[").removesuffix("]")
    return _NO_HOST.get(host, host), int(port)
