"""Brokers under virtual time that demand a login: SASL_PLAINTEXT, users, rights.

TLS is refused by name, because its handshakes take real time. The kit's peers without a user
connect to a listener of their own, as a super user. Login and authorization are done by
`server.net.guard` and the emulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from coordinator.kit.emulator.client_config import Access, config_for
from coordinator.kit.emulator.options import EmulatorError
from coordinator.kit.emulator.security_options import access, read_security
from coordinator.server.net.endpoints import Endpoint
from coordinator.server.net.guard import OWN_LISTENER, Guard
from coordinator.server.security.listeners import ListenerSecurity, SecurityProtocol

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.settings.broker_configs import BrokerConfigs

PROTOCOLS: Final = (SecurityProtocol.PLAINTEXT, SecurityProtocol.SASL_PLAINTEXT)
OWN_PORT: Final = 9093
"""Of the listener for the kit's peers, where clients have to log in."""


class Secured:
    """The security settings of the listeners. Raises EmulatorError for options that are wrong."""

    def __init__(
        self, security: str, users: Any, acls: Any, super_users: Any, configs: BrokerConfigs
    ) -> None:
        if security not in PROTOCOLS:
            known = " or ".join(map(repr, map(str, PROTOCOLS)))
            raise EmulatorError(
                f"security={security!r}: there is no TLS under virtual time: {known}"
            )
        self.listener = str(security)
        endpoint = Endpoint(self.listener, "broker-1", 0)
        self._options = read_security(users, [endpoint], [], configs, acls, super_users)
        self._guard: Guard | None = None if self._options is None else self._options.guard()

    @property
    def has_own_listener(self) -> bool:
        """Return True if the kit's peers have a listener of their own."""
        return self._guard is not None

    def endpoints(self, host: str, port: int) -> dict[str, tuple[str, int]]:
        """Return the advertised endpoints by listener."""
        own = {OWN_LISTENER: (host, OWN_PORT)} if self.has_own_listener else {}
        return {self.listener: (host, port), **own}

    def watch_over(self, broker: Broker) -> None:
        """Set up login and authorization for a broker that was made or started again."""
        if self._guard is not None:
            self._guard.watch_over(broker)

    def settings(self, listener: str) -> ListenerSecurity | None:
        """Return a listener's security settings; None if it has none."""
        return None if self._guard is None else self._guard.settings(listener)

    def access(self, servers: str, user: str | None, mechanism: str | None = None) -> Access:
        """Return a user's way into a listener. Raises EmulatorError for a user that does not
        exist."""
        return access(self._options, self._guard, servers, self.listener, user, mechanism)

    def client_config(
        self, library: str, servers: str, user: str | None, mechanism: str | None
    ) -> Mapping[str, Any]:
        """Return the settings with which a client connects."""
        return config_for(library, self.access(servers, user, mechanism))
