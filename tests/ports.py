"""Ports that are known before somebody listens on them, and stay whose they are."""

from __future__ import annotations

import atexit
import socket

from coordinator.testing.readiness import free_port


def kept_port() -> int:
    """A port of this machine that is free, and that nobody else finds free as long as this process
    lives.

    A socket that does not listen has it: connections are refused until somebody listens there. A
    server can, also again and again, if it sets SO_REUSEADDR, as servers do.
    """
    while True:
        port = free_port()
        keeper = socket.socket()
        try:
            keeper.bind(("", port))  # fails where anybody else has it, listening or not
        except OSError:
            keeper.close()
            continue
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        atexit.register(keeper.close)
        return port
