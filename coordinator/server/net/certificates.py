"""Certificates of the server: from a throw-away authority, or from the user's own files in PEM or
PKCS#12.

Both kinds return an SSL context for each handshake (`context`) and name the file of the
authority that clients must trust (`ca_file`). Keys and dates come from the system, not from the
seed. The extra `security` is needed for a throw-away authority only.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from .stores import CertificateError, Store, as_pem

if TYPE_CHECKING:
    from ..security.listeners import ListenerSecurity

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n?")
ALWAYS_NAMED = ("localhost", "127.0.0.1", "::1")
_VERIFY = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


class OwnFiles:
    """Certificates from the user's files: a key with its certificate (`keystore`), and the
    authority of client certificates. `ca_file`: the authority, or without one the server's
    certificate. Raises CertificateError.
    """

    def __init__(self, keystore: Store, authority: Store | None = None) -> None:
        self._folder = TemporaryDirectory(prefix="coordinator-")
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._keystore = keystore
        try:
            self._file = self._as_pem(keystore, "server.pem")
            self._authority = None if authority is None else self._as_pem(authority, "ca.pem")
            self._new("none")
            self.ca_file = self._authority or self._without_key()
        except CertificateError:
            self.close()
            raise

    def context(self, listener: ListenerSecurity) -> ssl.SSLContext:
        """Return the SSL context for the next handshake."""
        if listener.client_auth not in self._contexts:
            self._contexts[listener.client_auth] = self._new(listener.client_auth)
        return self._contexts[listener.client_auth]

    def close(self) -> None:
        """Remove the temporary folder; the user's own files stay."""
        self._folder.cleanup()

    def _as_pem(self, store: Store, name: str) -> str:
        if store.kind == "PEM":
            return store.path
        path = Path(self._folder.name, name)
        path.touch(0o600)
        path.write_bytes(as_pem(store))
        return str(path)

    def _without_key(self) -> str:
        path = Path(self._folder.name, "certificate.pem")
        path.write_text("".join(_CERTIFICATE.findall(Path(self._file).read_text())))
        return str(path)

    def _new(self, client_auth: str) -> ssl.SSLContext:
        context = new_context(client_auth)
        certificate = self._keystore.path
        try:
            context.load_cert_chain(self._file, password=lambda: self._keystore.password)
        except ssl.SSLError as error:
            raise CertificateError(
                f"{certificate}: no certificate with its key: {_reason(error)}; give a PEM file with "
                "a PKCS#8 key and its certificate"
            ) from None
        except OSError as error:
            raise CertificateError(f"{certificate}: {error.strerror or error}") from None
        if client_auth != "none":
            if self._authority is None:
                raise CertificateError(
                    f"ssl.client.auth={client_auth}: clients' certificates need an authority; give "
                    "ssl.truststore.location, a PEM or PKCS#12 file"
                )
            _trust(context, self._authority)
        return context


class ThrowAwayCertificates:
    """Certificates of an authority that exists as long as the emulator."""

    def __init__(self, hosts: Iterable[str]) -> None:
        """`hosts`: names and addresses of the server besides those of the local machine. Raises
        CertificateError without the extra `security`.
        """
        self._trustme = _trustme()
        self._names = tuple(dict.fromkeys([*ALWAYS_NAMED, *filter(None, hosts)]))
        self._authority = self._trustme.CA()
        self._folder = TemporaryDirectory(prefix="coordinator-")
        self.ca_file = str(Path(self._folder.name, "ca.pem"))
        self._authority.cert_pem.write_to_path(self.ca_file)
        self._server = self._authority.issue_cert(*self._names)
        self._clients: dict[str, str] = {}
        self._contexts: dict[str, ssl.SSLContext] = {}

    def context(self, listener: ListenerSecurity) -> ssl.SSLContext:
        """Return the SSL context for the next handshake."""
        client_auth = listener.client_auth
        if client_auth not in self._contexts:
            context = new_context(client_auth)
            self._server.configure_cert(context)
            if client_auth != "none":
                _trust(context, self.ca_file)
            self._contexts[client_auth] = context
        return self._contexts[client_auth]

    def server_pems(self) -> tuple[str, str]:
        """Return the server's key in PKCS#8, which Java reads too, and its certificate chain, in
        PEM.
        """
        key = _pkcs8(self._server.private_key_pem.bytes())
        return key.decode(), "".join(each.bytes().decode() for each in self._server.cert_chain_pems)

    def client_file(self, name: str) -> str:
        """Return the path of a PEM file with a new or known client's certificate (common name
        `name`) and key.
        """
        path = Path(self._folder.name, f"client-{len(self._clients)}.pem")
        if name not in self._clients:
            # Java takes no certificate whose list of names is empty.
            made = self._authority.issue_cert(
                "localhost",
                common_name=name,
                organization_name="coordinator",
                organization_unit_name="tests",
            )
            path.write_bytes(_pkcs8(made.private_key_pem.bytes()) + made.cert_chain_pems[0].bytes())
            path.chmod(0o600)
            self._clients[name] = str(path)
        return self._clients[name]

    def rotate(self) -> None:
        """Use another server certificate in new handshakes."""
        self._server = self._authority.issue_cert(*self._names)
        self._contexts.clear()

    def expire(self) -> None:
        """Use an expired server certificate in new handshakes."""
        over = datetime.now(UTC) - timedelta(hours=1)
        self._server = self._authority.issue_cert(
            *self._names, not_before=over - timedelta(days=1), not_after=over
        )
        self._contexts.clear()

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()


def new_context(client_auth: str) -> ssl.SSLContext:
    """Return a server's SSL context without a certificate: TLS 1.2 and newer, no session
    resumption.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    context.verify_mode = _VERIFY[client_auth]
    return context


def _trust(context: ssl.SSLContext, authority: str) -> None:
    try:
        context.load_verify_locations(authority)
    except ssl.SSLError as error:
        raise CertificateError(f"{authority}: no certificate in PEM: {_reason(error)}") from None
    except OSError as error:
        raise CertificateError(f"{authority}: {error.strerror or error}") from None


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).lower().replace("_", " ")


def _pkcs8(key: bytes) -> bytes:
    """Return a PEM key in PKCS#8, which Java reads too."""
    from cryptography.hazmat.primitives import serialization as to

    private = to.load_pem_private_key(key, None)
    return private.private_bytes(to.Encoding.PEM, to.PrivateFormat.PKCS8, to.NoEncryption())


def _trustme() -> Any:
    try:
        import trustme
    except ImportError:
        from coordinator.base.installing import lacks

        raise CertificateError(
            lacks(
                "TLS with certificates of a throw-away authority needs the extra `security`",
                "security",
                "one's own PEM files need nothing: ssl.keystore.type=PEM and ssl.keystore.location",
            )
        ) from None
    return trustme
