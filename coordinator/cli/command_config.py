"""The option `--command-config FILE`: how a tool logs in to a secured Kafka, by a properties file
as Kafka's own tools read it.

It reads security.protocol, sasl.mechanism and sasl.jaas.config (PLAIN, SCRAM), and PEM or
PKCS#12 files: ssl.truststore.location, ssl.keystore.location. A wrong value is an error that
says where, and what would be right. It opens no connection.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from . import UsageError

if TYPE_CHECKING:
    from ssl import SSLContext

    from coordinator.members.live.wire import Entry
    from coordinator.server.net.stores import Store

OPTION: Final = "--command-config"
HELP: Final = "a file of properties, as Kafka's tools take it: security.protocol, sasl.mechanism, sasl.jaas.config, PEM or PKCS#12 stores"
_CREDENTIAL = r'\b{}\s*=\s*"((?:[^"\\]|\\.)*)"'


def read(path: str | None) -> Entry | None:
    """Return the TLS and login of a client; None: plaintext without a login. Raises UsageError."""
    if path is None:
        return None
    from coordinator.members.connections.login import Credentials
    from coordinator.members.live.wire import Entry
    from coordinator.server.security.listeners import SecurityProtocol
    from coordinator.server.security.security import KNOWN_MECHANISMS

    given = properties(path)
    name = given.get("security.protocol", "PLAINTEXT").upper()
    if name not in SecurityProtocol.__members__:
        raise UsageError(
            f"{OPTION} {path}: security.protocol={name}: it is one of {', '.join(SecurityProtocol)}"
        )
    protocol = SecurityProtocol(name)
    credentials = None
    if protocol.has_sasl:
        mechanism = given.get("sasl.mechanism", "GSSAPI")
        if mechanism not in KNOWN_MECHANISMS:
            raise UsageError(
                f"{OPTION} {path}: sasl.mechanism={mechanism}: there are {', '.join(KNOWN_MECHANISMS)}"
            )
        user, password = (_credential(path, given, which) for which in ("username", "password"))
        credentials = Credentials(mechanism, user, password)
    tls = None
    if protocol.has_tls:
        tls = _context(path, given)
    return Entry(tls, credentials)


def properties(path: str) -> dict[str, str]:
    """Return the names and values of a properties file, unchecked. Raises UsageError."""
    try:
        with open(path) as file:
            lines = file.read().replace("\\\n", "").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{OPTION} {path}: {error}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise UsageError(f"{OPTION} {path}, line {number}: write NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def _credential(path: str, given: dict[str, str], which: str) -> str:
    found = re.search(_CREDENTIAL.format(which), given.get("sasl.jaas.config", ""))
    if found is None:
        raise UsageError(
            f'{OPTION} {path}: sasl.jaas.config names no {which}; write MODULE required username="..." password="...";'
        )
    return re.sub(r"\\(.)", r"\1", found[1])


def _context(path: str, given: dict[str, str]) -> SSLContext:
    import ssl
    from tempfile import NamedTemporaryFile

    from coordinator.server.net.stores import CertificateError, as_pem

    authority, certificate = (_store(path, given, which) for which in ("truststore", "keystore"))
    try:
        if authority is None or authority.kind == "PEM":
            context = ssl.create_default_context(cafile=authority and authority.path)
        else:
            context = ssl.create_default_context(cadata=as_pem(authority).decode())
        if certificate is not None and certificate.kind == "PEM":
            context.load_cert_chain(certificate.path)
        elif certificate is not None:
            with NamedTemporaryFile() as file:  # the library reads keys from files only
                file.write(as_pem(certificate))
                file.flush()
                context.load_cert_chain(file.name)
    except CertificateError as error:
        raise UsageError(f"{OPTION} {path}: {error}") from None
    except OSError as error:
        raise UsageError(f"{OPTION} {path}: a certificate cannot be read: {error}") from None
    if given.get("ssl.endpoint.identification.algorithm") == "":
        context.check_hostname = False
    return context


def _store(path: str, given: dict[str, str], which: str) -> Store | None:
    from coordinator.server.net.stores import Store

    location = given.get(f"ssl.{which}.location")
    if location is None:
        return None
    kind = given.get(f"ssl.{which}.type", "JKS").upper()
    if kind not in ("PEM", "PKCS12"):
        raise UsageError(
            f"{OPTION} {path}: ssl.{which}.location: PEM and PKCS#12 can be read; give ssl.{which}.type=PEM or PKCS12"
        )
    return Store(location, kind, given.get(f"ssl.{which}.password", ""))
