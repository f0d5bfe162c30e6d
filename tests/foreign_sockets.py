"""kafka-python 3.0.12 forgets a socket whose connection comes about while its client closes: nobody
closes it, and whichever test runs when it is collected fails for an unclosed socket. Here its
sockets close themselves. Ours are watched as ever.
"""

from __future__ import annotations

import socket
import ssl
import sys
from collections.abc import Callable
from typing import Any


class _ClosesItselfOverTls(ssl.SSLSocket):
    """The same over TLS."""

    def __del__(self) -> None:
        self.close()


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
    over_tls: Any = getattr(sys.modules.get("kafka.net.transport"), "KafkaSSLTransport", None)
    if over_tls is not None:
        over_tls._build_ssl_context = staticmethod(_closing(over_tls._build_ssl_context))


def _closing(build: Callable[[Any], ssl.SSLContext]) -> Callable[[Any], ssl.SSLContext]:
    """What builds contexts whose sockets close themselves."""
    if getattr(build, "closes", False):
        return build

    def built(config: Any) -> ssl.SSLContext:
        context = build(config)
        context.sslsocket_class = _ClosesItselfOverTls
        return context

    built.closes = True  # type: ignore[attr-defined]
    return built


def _made(
    _: object,
    family: int = socket.AF_INET,
    sock_type: int = socket.SOCK_STREAM,
    proto: int = socket.IPPROTO_TCP,
) -> socket.socket:
    return _ClosesItself(family, sock_type, proto)
