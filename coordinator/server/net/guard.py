"""Security of a cluster's listeners: which protocol each uses (TLS, SASL), and the protocol object
of its connections.

One `Guard` serves all servers of a cluster. A server without one has plain connections only.
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
    """Security of a cluster's listeners. `certificates` None: no listener uses TLS."""

    own_endpoint = Endpoint(OWN_LISTENER, "127.0.0.1", 0)

    def __init__(self, security: Security, certificates: Certificates | None = None) -> None:
        self.security = security
        self.certificates = certificates
        security.certificates = certificates

    @property
    def authenticating(self) -> frozenset[str]:
        """Names of the listeners that authenticate their clients."""
        return frozenset(
            name for name, each in self.security.listeners.items() if each.authenticates
        )

    def watch_over(self, broker: Broker) -> None:
        """Connect the security with a broker that was created or restarted."""
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
        """Remove throw-away certificates."""
        if self.certificates is not None:
            self.certificates.close()

    def settings(self, listener: str) -> ListenerSecurity:
        """Return a listener's security settings."""
        return _OWN_SETTINGS if listener == OWN_LISTENER else self.security.listener(listener)

    def protocol(self, server: Server, listener: str) -> Callable[[], ServerProtocol]:
        """Return the factory of protocol objects for a listener's connections."""
        settings = self.settings(listener)
        if settings.protocol.has_tls:
            from .tls import TlsProtocol

            certificates = self.certificates
            assert certificates is not None
            return lambda: TlsProtocol(server, self.security, settings, certificates)
        return lambda: SecuredProtocol(server, self.security, settings)
