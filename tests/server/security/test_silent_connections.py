"""Thousands of connections that log in never: others are served meanwhile, and little is kept of
each."""

from __future__ import annotations

import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("trustme")

from coordinator import Emulator

CONNECTIONS = 5_000
MOST_BYTES_EACH = 64 << 10
DESCRIPTORS_BESIDES = 500


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


HALF_A_HANDSHAKE, HALF_A_HELLO = b"\x00\x00\x00\x0a\x00\x11", b"\x16\x03\x01\x02\x00\x01"


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("security", "sent"),
    [
        ("SASL_PLAINTEXT", HALF_A_HANDSHAKE),
        ("SASL_SSL", HALF_A_HELLO),
        pytest.param("SASL_PLAINTEXT", b"", marks=pytest.mark.thorough),
        pytest.param("SASL_SSL", b"", marks=pytest.mark.thorough),
        pytest.param("SSL", b"", marks=pytest.mark.thorough),
    ],
)
def test_connections_that_send_little_or_nothing(security: str, sent: bytes) -> None:
    free = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - DESCRIPTORS_BESIDES
    count = min(CONNECTIONS, free // 2)
    users = {"billing": "secret"} if security.startswith("SASL") else None
    with Emulator(["orders"], security=security, users=users) as kafka, ExitStack() as held:
        host, _, port = kafka.bootstrap_servers.partition(":")
        before = resident()
        for _ in range(count):
            held.enter_context(socket.create_connection((host, int(port)))).sendall(sent)
        user = None if users is None else "billing"
        with kafka.peer("g", topics=["orders"], user=user) as peer:
            peer.wait_stable()
        assert resident() - before < count * MOST_BYTES_EACH
