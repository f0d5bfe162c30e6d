"""Listeners' demands on their clients: TLS, a login, or rights.

`Guard` belongs to all servers of a cluster: it knows what each listener speaks and makes the
protocol of its connections. A server without one has plain connections only, which pay for
nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..security.listeners import ListenerSecurity
from .endpoints import Endpoint
from .secured import SecuredProtocol

if TYPE_CHECKING:
    from ..broker import Broker
    from ..security.security import Security
    from .server import Server, ServerProtocol
    from .tls import Certificates

OWN_LISTENER = "TESTING_KIT"
"""The listener of the testing kit's own clients, on loopback: its clients are a super user."""
_OWN_SETTINGS = ListenerSecurity(OWN_LISTENER, internal=True)


class Guard:
    """The demands of a cluster's listeners on clients. `certificates` None: no listener speaks
    TLS."""

    own_endpoint = Endpoint(OWN_LISTENER, "127.0.0.1", 0)

    def __init__(self, security: Security, certificates: Certificates | None = None) -> None:
        self.security = security
        self.certificates = certificates
        security.certificates = certificates

    @property
    def authenticating(self) -> frozenset[str]:
        """The listeners whose clients have to say who they are."""
        return frozenset(
            name for name, each in self.security.listeners.items() if each.authenticates
        )

    def watch_over(self, broker: Broker) -> None:
        """A broker was made, or was started again."""
        broker.security = self.security
        self.security.epoch_ms = broker.epoch_ms
        self.security.keep_credentials(broker.cluster.scram_credentials)
        key = broker.configs.get("delegation.token.secret.key")
        if key is not None and self.security.tokens is None:
            from ..security.tokens import Tokens  # at first use: few clusters have such a key

            self.security.tokens = Tokens(
                str(key),
                max_lifetime_ms=broker.configs.get_int("delegation.token.max.lifetime.ms"),
                renew_ms=broker.configs.get_int("delegation.token.expiry.time.ms"),
                sweep_ms=broker.configs.get_int("delegation.token.expiry.check.interval.ms"),
                new_salt=self.security.new_salt,
            )

    def close(self) -> None:
        """The end: throw-away files go."""
        if self.certificates is not None:
            self.certificates.close()

    def settings(self, listener: str) -> ListenerSecurity:
        """A listener's demands on its clients."""
        return _OWN_SETTINGS if listener == OWN_LISTENER else self.security.listener(listener)

    def protocol(self, server: Server, listener: str) -> Callable[[], ServerProtocol]:
        """The maker of the protocols of a listener's connections."""
        settings = self.settings(listener)
        if settings.protocol.has_tls:
            from .tls import TlsProtocol

            certificates = self.certificates
            assert certificates is not None
            return lambda: TlsProtocol(server, self.security, settings, certificates)
        return lambda: SecuredProtocol(server, self.security, settings)
