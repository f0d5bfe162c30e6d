"""Security settings of a listener: its protocol, SASL mechanisms and client authentication."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from .principals import Rule


class SecurityProtocol(StrEnum):
    """Kafka's security.protocol."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        """True if the listener's bytes are encrypted."""
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def has_sasl(self) -> bool:
        """True if clients authenticate by SASL."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class ListenerSecurity(NamedTuple):
    """Security settings of one listener. `max_reauth_ms`: by mechanism, how long a session lasts; 0
    or absent: without limit.
    """

    name: str
    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    mechanisms: tuple[str, ...] = ()
    max_reauth_ms: Mapping[str, int] = {}
    client_auth: str = "none"
    """ssl.client.auth: none, requested or required."""
    mapping_rules: tuple[Rule, ...] = (Rule(),)
    """The rules for the name in a client's certificate."""
    required_scope: tuple[str, ...] = ()
    """Scopes unsecured tokens of OAUTHBEARER have to be for, each one."""
    internal: bool = False
    """For the testing kit's own clients: they are a super user."""

    @property
    def authenticates(self) -> bool:
        """True if every client must authenticate."""
        return self.protocol.has_sasl or (self.protocol.has_tls and self.client_auth == "required")
