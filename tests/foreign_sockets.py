"""kafka-python 3.0.12 forgets a socket whose connection comes about while its client closes: nobody
closes it, and whichever test runs when it is collected fails for an unclosed socket. Here its
sockets close themselves. Ours are watched as ever.
"""

from __future__ import annotations

import socket
import sys
from typing import Any


class _ClosesItself(socket.socket):
    """A socket that is closed when it is collected, without a word."""

    __slots__ = ()

    def __del__(self) -> None:
        self.close()


def let_them_close() -> None:
    """Have kafka-python make such sockets, if it is loaded."""
    inet: Any = sys.modules.get("kafka.net.inet")
    if inet is not None and inet.KafkaNetSocket.socket is not _made:
        inet.KafkaNetSocket.socket = _made


def _made(
    _: object,
    family: int = socket.AF_INET,
    sock_type: int = socket.SOCK_STREAM,
    proto: int = socket.IPPROTO_TCP,
) -> socket.socket:
    return _ClosesItself(family, sock_type, proto)
