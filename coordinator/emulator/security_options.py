"""The options `security`, `users` and what Kafka's settings say of listeners: read, checked, and
put into force.

A listener speaks what `listener.security.protocol.map` says of its name; without that setting a
name that is a protocol means itself, and any other is plaintext. Each wrong option is refused with
what is wrong and what would be right. Does not depend on a running emulator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..security.listeners import ListenerSecurity, SecurityProtocol
from .client_config import DEFAULT_MECHANISM, Access
from .options import EmulatorError

if TYPE_CHECKING:
    from ..configs.broker_configs import BrokerConfigs
    from ..net.endpoints import Endpoint
    from ..net.guard import Guard

_MAP = "listener.security.protocol.map"
_MECHANISMS = "sasl.enabled.mechanisms"
_KEYSTORE, _KEYSTORE_TYPE = "ssl.keystore.location", "ssl.keystore.type"
_TRUSTSTORE, _TRUSTSTORE_TYPE = "ssl.truststore.location", "ssl.truststore.type"
_NAMES = ", ".join(SecurityProtocol)


class SecurityOptions:
    """What listeners are to ask of clients."""

    def __init__(
        self,
        listeners: Mapping[str, ListenerSecurity],
        users: Mapping[str, str],
        keystore: str | None,
        truststore: str | None,
        hosts: Sequence[str],
    ) -> None:
        self.listeners = listeners
        self.users = users
        self._keystore = keystore
        self._truststore = truststore
        self._hosts = hosts

    @property
    def authenticating(self) -> frozenset[str]:
        """The listeners whose clients have to say who they are."""
        return frozenset(name for name, each in self.listeners.items() if each.authenticates)

    @property
    def secured(self) -> list[str]:
        """The listeners that speak more than plaintext."""
        return [
            name
            for name, each in self.listeners.items()
            if each.protocol is not SecurityProtocol.PLAINTEXT
        ]

    def guard(self) -> Guard:
        """What servers are given. Raises EmulatorError for a certificate that cannot be had."""
        import secrets

        from ..net.guard import Guard
        from ..security.security import Security

        security = Security(self.listeners, self.users, secrets.token_bytes)
        if not any(each.protocol.has_tls for each in self.listeners.values()):
            return Guard(security)
        from ..net.certificates import CertificateError, PemFiles, ThrowAwayCertificates

        try:
            if self._keystore is not None:
                return Guard(security, PemFiles(self._keystore, None, self._truststore))
            return Guard(security, ThrowAwayCertificates(self._hosts))
        except CertificateError as error:
            raise EmulatorError(str(error)) from None


def read_security(
    users: Any,
    endpoints: Iterable[Endpoint],
    advertised: Iterable[Endpoint],
    configs: BrokerConfigs,
) -> SecurityOptions | None:
    """What the listeners ask of clients; None: nothing. Raises EmulatorError."""
    endpoints = list(endpoints)
    protocols = _protocols(endpoints, configs)
    if users is None and all(each is SecurityProtocol.PLAINTEXT for each in protocols.values()):
        return None
    passwords = _users(users)
    with_sasl = [name for name, protocol in protocols.items() if protocol.has_sasl]
    if passwords and not with_sasl:
        raise EmulatorError(
            f"users: nobody logs in at {', '.join(map(str, endpoints))}; give security='SASL_PLAINTEXT' or security='SASL_SSL'"
        )
    if with_sasl and users is None:
        raise EmulatorError(
            f"the listener {with_sasl[0]} asks who a client is, and there are no users: give users={{'billing': 'secret'}}, say"
        )
    mechanisms = _mechanisms(configs)
    client_auth = configs.get_str("ssl.client.auth")
    lifetime_ms = configs.get("connections.max.reauth.ms")
    assert isinstance(lifetime_ms, int)
    listeners = {
        name: ListenerSecurity(
            name,
            protocol,
            mechanisms if protocol.has_sasl else (),
            dict.fromkeys(mechanisms, lifetime_ms) if lifetime_ms > 0 else {},
            client_auth if protocol is SecurityProtocol.SSL else "none",
        )
        for name, protocol in protocols.items()
    }
    keystore, truststore = _store(configs, _KEYSTORE, _KEYSTORE_TYPE), None
    if keystore is not None:
        truststore = _store(configs, _TRUSTSTORE, _TRUSTSTORE_TYPE)
    hosts = [each.host for each in (*endpoints, *advertised) if each.host not in ("0.0.0.0", "::")]
    return SecurityOptions(listeners, passwords, keystore, truststore, hosts)


def _protocols(
    endpoints: Sequence[Endpoint], configs: BrokerConfigs
) -> dict[str, SecurityProtocol]:
    mapped = dict(_pairs(configs.static.get(_MAP, "")))
    found = {}
    for endpoint in endpoints:
        own = endpoint.name.upper()
        text = mapped.get(own, own if own in SecurityProtocol.__members__ else "PLAINTEXT")
        if text not in SecurityProtocol.__members__:
            raise EmulatorError(
                f"{_MAP}: the listener {endpoint.name} is to speak {text}; it is one of {_NAMES}"
            )
        found[endpoint.name] = SecurityProtocol(text)
    return found


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for item in filter(None, map(str.strip, text.split(","))):
        name, colon, protocol = item.partition(":")
        if not colon or not name:
            raise EmulatorError(
                f"{_MAP}: {item!r} is no pair; write LISTENER:PROTOCOL, such as CLIENTS:SASL_SSL"
            )
        yield name.strip().upper(), protocol.strip().upper()


def _users(users: Any) -> dict[str, str]:
    if users is None:
        return {}
    if not isinstance(users, Mapping):
        raise EmulatorError(
            f"users: give names and passwords, such as {{'billing': 'secret'}}, and no {type(users).__name__}"
        )
    for name, password in users.items():
        if not isinstance(name, str) or not name or "\0" in name:
            raise EmulatorError(f"users: {name!r} is no name of a user; give a text")
        if not isinstance(password, str) or not password or "\0" in password:
            raise EmulatorError(f"users: the password of {name!r} is a text that is not empty")
    return dict(users)


def _mechanisms(configs: BrokerConfigs) -> tuple[str, ...]:
    from ..security.security import KNOWN_MECHANISMS

    if _MECHANISMS not in configs.static:
        return KNOWN_MECHANISMS
    given = tuple(configs.get_list(_MECHANISMS))
    for name in given:
        if name not in KNOWN_MECHANISMS:
            kerberos = " (there is no Kerberos here)" if name == "GSSAPI" else ""
            raise EmulatorError(
                f"{_MECHANISMS}: {name} cannot be had{kerberos}; there are {', '.join(KNOWN_MECHANISMS)}"
            )
    return given


def _store(configs: BrokerConfigs, location: str, kind: str) -> str | None:
    """The path of a PEM file. Raises EmulatorError for a store of another kind."""
    path = configs.static.get(location)
    if path is not None and configs.static.get(kind, "").upper() != "PEM":
        shown = configs.static.get(kind, "JKS")
        raise EmulatorError(
            f"{location}: a store of type {shown} cannot be read; give {kind}=PEM and a PEM file"
        )
    return path


def access(
    options: SecurityOptions | None,
    guard: Guard | None,
    servers: str,
    listener: str,
    user: str | None,
    mechanism: str | None,
) -> Access:
    """How a user reaches a listener. Raises EmulatorError for a user or a mechanism that it does not
    know."""
    settings = ListenerSecurity(listener) if options is None else options.listeners[listener]
    passwords = {} if guard is None else guard.security.passwords
    if not settings.protocol.has_sasl:
        if user is not None:
            raise EmulatorError(f"user={user!r}: nobody logs in at the listener {listener}")
    elif user not in passwords:
        raise EmulatorError(
            f"user={user!r}: the listener {listener} wants one of {', '.join(passwords) or 'no users at all'}"
        )
    mechanism = mechanism or next(
        (each for each in (DEFAULT_MECHANISM, *settings.mechanisms) if each in settings.mechanisms),
        "",
    )
    if settings.protocol.has_sasl and mechanism not in settings.mechanisms:
        raise EmulatorError(
            f"mechanism={mechanism!r}: the listener {listener} takes {', '.join(settings.mechanisms)}"
        )
    certificates = None if guard is None else guard.certificates
    has_tls = settings.protocol.has_tls and certificates is not None
    return Access(
        servers,
        settings.protocol,
        mechanism,
        user or "",
        passwords.get(user or "", ""),
        certificates.ca_file if has_tls and certificates is not None else None,
    )
