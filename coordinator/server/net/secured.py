"""asyncio protocol of a connection to a listener with SASL or TLS, or of a broker with ACLs. `tls`
adds the encryption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..connections.secured import SecuredConnection
from .server import ServerProtocol

if TYPE_CHECKING:
    from ..connections.connection import Connection
    from ..security.listeners import ListenerSecurity
    from ..security.security import Security
    from .server import Server


class SecuredProtocol(ServerProtocol):
    """asyncio protocol of a connection with security."""

    __slots__ = ("_security", "_settings")

    def __init__(self, server: Server, security: Security, settings: ListenerSecurity) -> None:
        super().__init__(server, settings.name)
        self._security = security
        self._settings = settings

    def _new_connection(self, peer: str, client_host: str) -> Connection:
        return SecuredConnection(
            self._server.broker,
            self._security,
            self._settings,
            peer=peer,
            client_host=client_host,
            listener=self.listener,
            write=self._write,
            close=self._close,
        )
