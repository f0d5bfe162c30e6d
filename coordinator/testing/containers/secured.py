"""The options `security`, `users`, `acls` and `super_users` of brokers in containers, checked as
`Emulator` checks them. It must not know Docker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coordinator.kit.emulator.options import EmulatorError, read_protocol
from coordinator.kit.emulator.security_options import read_security
from coordinator.server.net.endpoints import Endpoint
from coordinator.server.settings.broker_configs import BrokerConfigs

from .errors import ContainerError

if TYPE_CHECKING:
    from coordinator.kit.emulator.security_options import SecurityOptions

PACKAGE: Final = "org.apache.kafka.common.security"
PLAINTEXT: Final = "PLAINTEXT"
_OF_SECURITY: Final = (
    "allow.everyone.if.no.acl.found",
    "authorizer.",
    "connections.max.reauth.ms",
    "listener.name.",
    "sasl.",
    "ssl.",
    "super.users",
)
"""Prefixes of the settings that concern security. All other settings are checked by the broker."""
_OWN_STORES: Final = ("ssl.keystore.location", "ssl.truststore.location")


class Asked(NamedTuple):
    """The options, checked. `options` None: clients need neither TLS nor a login."""

    protocol: str
    options: SecurityOptions | None
    acls: Sequence[Any]
    super_users: Sequence[str]

    def __repr__(self) -> str:
        """Return a text without the passwords, since tracebacks show it."""
        return f"Asked({self.protocol}, {self.options!r})"

    @property
    def has_tls(self) -> bool:
        """Return True if clients use TLS."""
        return self.protocol in ("SSL", "SASL_SSL")

    @property
    def wants_certificates(self) -> bool:
        """Return True if clients need, or may have, a certificate of their own."""
        listeners = () if self.options is None else self.options.listeners.values()
        return any(each.client_auth != "none" for each in listeners)


NOTHING_ASKED: Final = Asked(PLAINTEXT, None, (), ())
"""Without any option."""


def read(
    listener: str | None,
    security: str | None,
    users: Mapping[str, str] | None,
    acls: Any,
    super_users: Any,
    config: Mapping[str, str],
    hosts: Sequence[str] = (),
) -> Asked:
    """Return the options, checked as the emulator checks them. `listener`: the name of the
    clients' listener, by default that of its protocol; `hosts`: the names in its certificate.
    Raises ContainerError."""
    if security is None and users is None and not acls and not super_users:
        return NOTHING_ASKED
    told = {name: text for name, text in config.items() if name.startswith(_OF_SECURITY)}
    try:
        protocol = read_protocol(security)
        name = listener or protocol
        configs = BrokerConfigs({**told, "listener.security.protocol.map": f"{name}:{protocol}"})
        options = read_security(
            users or None,
            [Endpoint(name, "0.0.0.0", 0)],
            [Endpoint(name, host, 0) for host in hosts],
            configs,
            acls,
            super_users,
        )
    except EmulatorError as error:
        raise ContainerError(str(error)) from None
    for user in users or ():
        if any(sign.isspace() or sign in '="' for sign in user):
            raise ContainerError(
                f"users: {user!r}: a name that goes into a container has no spaces, quotes or equals signs"
            )
    return Asked(protocol, options, _listed(acls), _listed(super_users))


def jaas(users: Mapping[str, str]) -> str:
    """Return the users of PLAIN as a line of JAAS."""
    people = "".join(f" user_{name}={_quoted(password)}" for name, password in users.items())
    return f"{PACKAGE}.plain.PlainLoginModule required{people};"


def read_of_real_kafka(
    listener: str,
    security: str | None,
    users: Mapping[str, str] | None,
    acls: Any,
    super_users: Any,
    config: Mapping[str, str],
    hosts: Sequence[str],
) -> Asked:
    """Check as `read` does, and refuse what the emulator can do and a real broker here cannot.
    Raises ContainerError."""
    for name in _OWN_STORES:
        if name in config and security is not None:
            raise ContainerError(
                f"config: {name} is a file of yours, which a broker in a container does not see; leave it out: "
                "certificates are made"
            )
    asked = read(listener, security, users, acls, super_users, config, hosts)
    options = asked.options
    if options is None or options.authorization is None:
        return asked
    (only,) = options.listeners.values()
    if not only.protocol.has_sasl and only.client_auth != "required":
        raise ContainerError(
            "acls: a client that nobody asks for its name is User:ANONYMOUS, as the brokers are, who may do everything; give "
            "security='SASL_SSL' and users, or config={'ssl.client.auth': 'required'}"
        )
    return asked


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, str | Mapping) else list(given)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
