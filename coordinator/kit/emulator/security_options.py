"""The options about security (`security`, `users`, `acls`, ...) and Kafka's settings of listeners:
read, checked, and applied.

A listener's protocol is given by `listener.security.protocol.map`. Without that setting a
listener named like a protocol uses that protocol, and any other is PLAINTEXT. A wrong option is
refused with what is wrong and what would be right. This module must not need a running emulator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from coordinator.events.acls import Acl, AclError, read_acl
from coordinator.server.security.listeners import ListenerSecurity, SecurityProtocol
from coordinator.server.security.principals import MappingError, read_rules

from .client_config import DEFAULT_MECHANISM, Access
from .options import EmulatorError

if TYPE_CHECKING:
    from coordinator.server.net.endpoints import Endpoint
    from coordinator.server.net.guard import Guard
    from coordinator.server.net.stores import Store
    from coordinator.server.security.signed_tokens import SignedTokens
    from coordinator.server.settings.broker_configs import BrokerConfigs

_MAP = "listener.security.protocol.map"
_MECHANISMS = "sasl.enabled.mechanisms"
_KEYSTORE, _KEYSTORE_TYPE = "ssl.keystore.location", "ssl.keystore.type"
_TRUSTSTORE, _TRUSTSTORE_TYPE = "ssl.truststore.location", "ssl.truststore.type"
_CLIENT_AUTH, _REAUTH, _JAAS = "ssl.client.auth", "connections.max.reauth.ms", "sasl.jaas.config"
_OAUTH = "sasl.oauthbearer"
_JWKS = f"{_OAUTH}.jwks.endpoint.url"
_MAPPING = "ssl.principal.mapping.rules"
_OF_LISTENERS = (_MECHANISMS, _REAUTH, _JAAS, _CLIENT_AUTH, _MAPPING)
"""Settings of a single listener, in the form `listener.name.NAME.SETTING`; the second and third
can also be for one mechanism."""
_AUTHORIZER = "authorizer.class.name"
_STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_JAAS_USER = re.compile(r'\buser_([^\s=]+)\s*=\s*"((?:[^"\\]|\\.)*)"')
_JAAS_SCOPE = re.compile(r'\bunsecuredValidatorRequiredScope\s*=\s*"([^"]*)"')
_USERS = "users={'billing': 'secret'} (--user billing:secret)"
_NAMES = ", ".join(SecurityProtocol)


class Authorization(NamedTuple):
    """Access rules and super users as options have them."""

    acls: tuple[Acl, ...]
    super_users: frozenset[str]
    allow_everyone: bool
    host_blocks: bool = True


class SecurityOptions(NamedTuple):
    """What the listeners demand of clients. `authorization` None: everybody may do everything."""

    listeners: Mapping[str, ListenerSecurity]
    users: Mapping[str, str]
    keystore: Store | None
    truststore: Store | None
    hosts: Sequence[str]
    authorization: Authorization | None = None
    signed: SignedTokens | None = None

    def __repr__(self) -> str:
        """Return a text without passwords, because tracebacks show it."""
        return (
            f"SecurityOptions({', '.join(map(str, self.listeners))}; users {', '.join(self.users)})"
        )

    @property
    def authenticating(self) -> frozenset[str]:
        """The listeners that authenticate their clients."""
        return frozenset(name for name, each in self.listeners.items() if each.authenticates)

    @property
    def secured(self) -> list[str]:
        """The listeners with another protocol than PLAINTEXT."""
        return [
            name
            for name, each in self.listeners.items()
            if each.protocol is not SecurityProtocol.PLAINTEXT
        ]

    def guard(self) -> Guard:
        """Return the servers' guard. Raises EmulatorError for a certificate that cannot be read."""
        import secrets

        from coordinator.server.net.guard import Guard
        from coordinator.server.security.security import Security

        authorizer = None
        if self.authorization is not None:
            from coordinator.server.security.authorizer import Authorizer

            acls, super_users, allow_everyone, host_blocks = self.authorization
            authorizer = Authorizer(
                acls, super_users, allow_everyone=allow_everyone, host_blocks=host_blocks
            )
        security = Security(self.listeners, self.users, secrets.token_bytes, authorizer)
        security.signed = self.signed
        if not any(each.protocol.has_tls for each in self.listeners.values()):
            return Guard(security)
        from coordinator.server.net.certificates import OwnFiles, ThrowAwayCertificates
        from coordinator.server.net.stores import CertificateError

        try:
            if self.keystore is not None:
                return Guard(security, OwnFiles(self.keystore, self.truststore))
            return Guard(security, ThrowAwayCertificates(self.hosts))
        except CertificateError as error:
            raise EmulatorError(str(error)) from None


def read_security(
    users: Any,
    endpoints: Iterable[Endpoint],
    advertised: Iterable[Endpoint],
    configs: BrokerConfigs,
    acls: Any = (),
    super_users: Any = (),
) -> SecurityOptions | None:
    """Return what the listeners demand of clients, or None for nothing. Raises EmulatorError."""
    endpoints = list(endpoints)
    protocols = _protocols(endpoints, configs)
    own = _own_settings(protocols, configs)
    authorization = read_authorization(acls, super_users, configs)
    in_the_clear = all(each is SecurityProtocol.PLAINTEXT for each in protocols.values())
    passwords = _users(users) | _users_of_jaas(own)
    if users is None and not passwords and in_the_clear and authorization is None:
        return None
    with_sasl = [name for name, protocol in protocols.items() if protocol.has_sasl]
    if passwords and not with_sasl:
        raise EmulatorError(
            f"users: there is no login at {', '.join(map(str, endpoints))}; give security='SASL_PLAINTEXT' or security='SASL_SSL'"
        )
    by_token = any(
        "OAUTHBEARER" in own[name].get(_MECHANISMS, configs.static.get(_MECHANISMS, ""))
        for name in with_sasl
    )
    if with_sasl and users is None and not passwords and not by_token:
        raise EmulatorError(
            f"the listener {with_sasl[0]} asks who a client is, and there are no users: give {_USERS}, say"
        )
    listeners = {
        name: _listener(name, protocol, own[name], configs) for name, protocol in protocols.items()
    }
    keystore, truststore = _store(configs, _KEYSTORE, _KEYSTORE_TYPE), None
    if keystore is not None:
        truststore = _store(configs, _TRUSTSTORE, _TRUSTSTORE_TYPE)
    hosts = [each.host for each in (*endpoints, *advertised) if each.host not in ("0.0.0.0", "::")]
    signed = read_signed_tokens(configs) if by_token else None
    return SecurityOptions(listeners, passwords, keystore, truststore, hosts, authorization, signed)


def read_signed_tokens(configs: BrokerConfigs) -> SignedTokens | None:
    """Return the check of OAUTHBEARER tokens, or None if they have no signature. Raises
    EmulatorError."""
    url = configs.static.get(_JWKS)
    if not url:
        return None
    from coordinator.server.security.signed_tokens import SignedTokens, SignedTokensError
    from coordinator.server.settings.broker_configs import known_settings

    scheme, _, path = url.partition(":")
    if scheme != "file":
        raise EmulatorError(
            f"{_JWKS}={url}: keys are not fetched over the network; give file:///PATH"
        )
    audiences = configs.get_list(f"{_OAUTH}.expected.audience")
    issuer = configs.get(f"{_OAUTH}.expected.issuer")
    for what, given in (("audience", audiences), ("issuer", issuer)):
        free = f"{_OAUTH}.allow.unverified.{what}"
        if not given and known_settings({free: ""}, configs.release) and not configs.get_bool(free):
            raise EmulatorError(f"{_JWKS}: give {_OAUTH}.expected.{what}, or {free}=true")
    try:
        with open(f"/{path.lstrip('/')}") as file:
            keys = file.read()
        return SignedTokens(
            keys,
            audiences=audiences,
            issuer=None if issuer is None else str(issuer),
            skew_s=configs.get_int(f"{_OAUTH}.clock.skew.seconds"),
            name_claim=configs.get_str(f"{_OAUTH}.sub.claim.name"),
        )
    except (OSError, UnicodeDecodeError, SignedTokensError) as error:
        raise EmulatorError(f"{_JWKS}={url}: {error}") from None


def read_authorization(acls: Any, super_users: Any, configs: BrokerConfigs) -> Authorization | None:
    """Return the access rules, or None if there is no authorizer and everybody may do everything.
    Raises EmulatorError."""
    class_name = configs.static.get(_AUTHORIZER, "")
    given = [*_several("acls", acls)], [*_several("super_users", super_users)]
    of_configs = [each for each in configs.security.get("super.users", "").split(";") if each]
    if not any(given) and not of_configs and not class_name:
        return None
    if class_name not in ("", _STANDARD):
        raise EmulatorError(f"{_AUTHORIZER}={class_name}: there is {_STANDARD} alone")
    people = [*given[1], *map(str.strip, of_configs)]
    for person in people:
        if not isinstance(person, str) or ":" not in person:
            raise EmulatorError(f"super_users: {person!r} is no principal; write User:{person}")
    try:
        read = tuple(read_acl(each) for each in given[0])
    except AclError as error:
        raise EmulatorError(f"acls: {error}") from None
    everyone = configs.security.get("allow.everyone.if.no.acl.found", "false").strip().lower()
    if everyone not in ("true", "false"):
        raise EmulatorError(f"allow.everyone.if.no.acl.found={everyone}: write true or false")
    blocks = configs.release.has("ACL-5")
    return Authorization(read, frozenset(people), everyone == "true", blocks)


def _several(option: str, given: Any) -> list[Any]:
    if isinstance(given, str | Mapping):
        return [given]
    if not isinstance(given, Iterable):
        raise EmulatorError(f"{option}={given!r}: give a list of texts")
    return list(given)


def _own_settings(names: Iterable[str], configs: BrokerConfigs) -> dict[str, dict[str, str]]:
    """Return the settings of each listener, without their prefix. Raises EmulatorError for an
    unknown listener, and for a setting that has no effect here."""
    names = list(names)
    own: dict[str, dict[str, str]] = {name: {} for name in names}
    by_prefix = {f"listener.name.{name.lower()}.": name for name in names}
    for setting, text in configs.security.items():
        if not setting.startswith("listener.name."):
            continue
        prefix = next((each for each in by_prefix if setting.startswith(each)), None)
        if prefix is None:
            raise EmulatorError(f"{setting}: the listeners are called {', '.join(names)}")
        rest = setting.removeprefix(prefix)
        if not rest.endswith(_OF_LISTENERS):
            raise EmulatorError(
                f"{setting}: of single listeners there are {', '.join(_OF_LISTENERS)}"
            )
        own[by_prefix[prefix]][rest] = text
    return own


def _listener(
    name: str, protocol: SecurityProtocol, own: Mapping[str, str], configs: BrokerConfigs
) -> ListenerSecurity:
    # beside a login certificates are asked for where the listener itself says so (KIP-684)
    everywhere = "none" if protocol.has_sasl else configs.get_str(_CLIENT_AUTH)
    auth = own.get(_CLIENT_AUTH, everywhere)
    if auth not in ("none", "requested", "required"):
        raise EmulatorError(
            f"listener {name}: {_CLIENT_AUTH}={auth}: write none, requested or required"
        )
    if not protocol.has_sasl:
        if protocol is not SecurityProtocol.SSL:
            return ListenerSecurity(name, protocol)
        try:
            rules = read_rules(own.get(_MAPPING, configs.get_str(_MAPPING)))
        except MappingError as error:
            raise EmulatorError(f"listener {name}: {_MAPPING}: {error}") from None
        return ListenerSecurity(name, protocol, client_auth=auth, mapping_rules=rules)
    mechanisms = _mechanisms(own.get(_MECHANISMS, configs.static.get(_MECHANISMS)))
    lasts = own.get(_REAUTH, str(configs.get(_REAUTH)))
    lifetimes = {
        mechanism: _number(name, own.get(f"{mechanism.lower()}.{_REAUTH}", lasts))
        for mechanism in mechanisms
    }
    scope = _JAAS_SCOPE.search(own.get(f"oauthbearer.{_JAAS}", ""))
    required = () if scope is None else tuple(scope[1].split())
    return ListenerSecurity(
        name, protocol, mechanisms, lifetimes, client_auth=auth, required_scope=required
    )


def _number(listener: str, text: str) -> int:
    if not text.strip().isdecimal():
        raise EmulatorError(
            f"listener {listener}: {_REAUTH}={text}: a number of milliseconds is meant"
        )
    return int(text)


def _users_of_jaas(own: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the users in JAAS lines of PLAIN: user_NAME="PASSWORD"."""
    found: dict[str, str] = {}
    for settings in own.values():
        text = settings.get(f"plain.{_JAAS}", "")
        for name, password in _JAAS_USER.findall(text):
            found[name] = re.sub(r"\\(.)", r"\1", password)
    return found


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


def _mechanisms(given: str | None) -> tuple[str, ...]:
    from coordinator.server.security.security import ALL_MECHANISMS, KNOWN_MECHANISMS

    if given is None:
        return KNOWN_MECHANISMS
    names = tuple(filter(None, map(str.strip, given.split(","))))
    for name in names:
        if name not in ALL_MECHANISMS:
            kerberos = " (there is no Kerberos here)" if name == "GSSAPI" else ""
            raise EmulatorError(
                f"{_MECHANISMS}: {name} is not supported{kerberos}; there are {', '.join(ALL_MECHANISMS)}"
            )
    return names


def _store(configs: BrokerConfigs, location: str, kind: str) -> Store | None:
    """Return the key store or trust store that the settings name, or None. Raises EmulatorError
    for a type that cannot be read."""
    path = configs.static.get(location)
    if path is None:
        return None
    from coordinator.server.net.stores import Store

    shown = configs.static.get(kind, "JKS")
    if shown.upper() not in ("PEM", "PKCS12"):
        raise EmulatorError(
            f"{location}: a store of type {shown} cannot be read; give {kind}=PEM and a PEM file, or {kind}=PKCS12"
        )
    password = configs.static.get(location.replace("location", "password"), "")
    return Store(path, shown.upper(), password)


def access(
    options: SecurityOptions | None,
    guard: Guard | None,
    servers: str,
    listener: str,
    user: str | None,
    mechanism: str | None,
) -> Access:
    """Return a user's access to a listener. Raises EmulatorError for an unknown user or
    mechanism."""
    settings = ListenerSecurity(listener) if options is None else options.listeners[listener]
    passwords = {} if guard is None else guard.security.passwords
    certificates = None if guard is None else guard.certificates
    certificate = None
    if not settings.protocol.has_sasl:
        if user is not None:
            certificate = _certificate_of(certificates, settings, user)
    elif user not in passwords and (user is None or "OAUTHBEARER" not in settings.mechanisms):
        raise EmulatorError(
            f"user={user!r}: the listener {listener} wants one of {', '.join(passwords) or 'no users at all'}"
        )
    elif settings.client_auth != "none":
        made = getattr(certificates, "client_file", None)
        certificate = None if made is None else str(made(user))
    wanted = (DEFAULT_MECHANISM, *settings.mechanisms) if user in passwords else ("OAUTHBEARER",)
    mechanism = mechanism or next((each for each in wanted if each in settings.mechanisms), "")
    if settings.protocol.has_sasl and mechanism not in settings.mechanisms:
        raise EmulatorError(
            f"mechanism={mechanism!r}: the listener {listener} takes {', '.join(settings.mechanisms)}"
        )
    has_tls = settings.protocol.has_tls and certificates is not None
    return Access(
        servers,
        settings.protocol,
        mechanism,
        user or "",
        passwords.get(user or "", ""),
        certificates.ca_file if has_tls and certificates is not None else None,
        certificate,
    )


def _certificate_of(certificates: Any, settings: ListenerSecurity, user: str) -> str:
    """Return the file of a client certificate for this user. Raises EmulatorError if the
    listener does not authenticate by certificates."""
    if not settings.protocol.has_tls:
        raise EmulatorError(
            f"user={user!r}: there is no login at the listener {settings.name}: leave user out, "
            "or give the emulator users, and security='SASL_SSL' or 'SASL_PLAINTEXT'"
        )
    if settings.client_auth == "none":
        raise EmulatorError(
            f"user={user!r}: there is no login at the listener {settings.name}; with ssl.client.auth=required clients have certificates"
        )
    if not hasattr(certificates, "client_file"):
        raise EmulatorError(
            f"user={user!r}: clients' certificates are of your own authority: give the client its file yourself"
        )
    return str(certificates.client_file(user))
