"""A real broker with security: its settings, its certificates, its users' credentials and its
ACLs, before and after its start. It must not know Docker."""

from __future__ import annotations

import hashlib
import secrets
import ssl
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coordinator.kit.admin import Admin
from coordinator.kit.emulator.client_config import config_for
from coordinator.kit.emulator.options import EmulatorError
from coordinator.kit.emulator.security_options import access
from coordinator.kit.emulator.session import entry_of
from coordinator.wire.messages.acls import AclCreation, CreateAclsRequest, DescribeAclsRequest
from coordinator.wire.messages.scram_credentials import (
    AlterUserScramCredentialsRequest,
    DescribeUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from coordinator.wire.sasl.plain import PLAIN
from coordinator.wire.sasl.scram import LEAST_ITERATIONS, MECHANISMS

from .errors import ContainerError
from .secured import PACKAGE, Asked, jaas

if TYPE_CHECKING:
    from coordinator.server.net.certificates import ThrowAwayCertificates
    from coordinator.server.net.guard import Guard

_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_ANY: Final = 1
_POLL_S: Final = 0.05


class SecuredKafka:
    """The settings of a real broker with security, and the certificates and credentials of its
    clients, while it runs."""

    def __init__(self, listener: str, asked: Asked) -> None:
        """Make the certificates. Raises ContainerError if that fails."""
        assert asked.options is not None
        self.listener = listener
        self._asked = asked
        self._options = asked.options
        self._settings = asked.options.listeners[listener]
        try:
            self._guard: Guard = asked.options.guard()
        except EmulatorError as error:
            raise ContainerError(str(error)) from None

    def close(self) -> None:
        """Delete the files that were made."""
        self._guard.close()

    @property
    def ca_file(self) -> str:
        """The authority's certificate. Raises ContainerError without TLS."""
        return self._certificates.ca_file

    def client_config(
        self, library: str, servers: str, user: str | None, mechanism: str | None
    ) -> dict[str, Any]:
        """See `RealKafka.client_config`."""
        try:
            found = access(self._options, self._guard, servers, self.listener, user, mechanism)
            return config_for(library, found)
        except EmulatorError as error:
            raise ContainerError(str(error)) from None

    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS context of a client, or None for a plaintext listener."""
        if not self._asked.has_tls:
            return None
        if not self._asked.wants_certificates:
            return ssl.create_default_context(cafile=self.ca_file)
        entry = entry_of(access(self._options, self._guard, "", self.listener, "coordinator", None))
        return None if entry is None else entry.tls

    def settings(self) -> dict[str, str]:
        """Return the broker's settings, by the names of a properties file."""
        prefix = f"listener.name.{self.listener.lower()}"
        told: dict[str, str] = {}
        if self._settings.mechanisms:
            told["sasl.enabled.mechanisms"] = ",".join(self._settings.mechanisms)
        for mechanism in self._settings.mechanisms:
            told[f"{prefix}.{mechanism.lower()}.sasl.jaas.config"] = self._jaas_of(mechanism)
        if self._asked.has_tls:
            key, chain = self._certificates.server_pems()
            told |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.key": key,
                "ssl.keystore.certificate.chain": chain,
                "ssl.truststore.type": "PEM",
                "ssl.truststore.certificates": Path(self.ca_file).read_text(),
            }
        if self._options.authorization is not None:
            # Brokers and Kafka's own tools are ANONYMOUS: theirs is a listener in the clear.
            people = sorted({*self._options.authorization.super_users, "User:ANONYMOUS"})
            told |= {"authorizer.class.name": _AUTHORIZER, "super.users": ";".join(people)}
        return {name: _as_property(text) for name, text in told.items()}

    def prepare(self, address: tuple[str, int], limit_s: float) -> None:
        """Create the users' credentials and the ACLs, by a listener whose clients may do
        everything; return when the broker lists them. Raises AdminError, ContainerError."""
        with Admin([address], "coordinator-containers") as admin:
            deadline = time.monotonic() + limit_s
            while not self._is_prepared(admin):
                if time.monotonic() > deadline:
                    raise ContainerError(
                        f"the brokers do not have their users and ACLs after {limit_s:g} s"
                    )
                time.sleep(_POLL_S)

    # --- inside

    @property
    def _certificates(self) -> ThrowAwayCertificates:
        found: Any = self._guard.certificates
        if found is None:
            raise ContainerError(
                "no listener speaks TLS: give security='SSL' or security='SASL_SSL'"
            )
        made: ThrowAwayCertificates = found
        return made

    @property
    def _acls(self) -> Sequence[Any]:
        return () if self._options.authorization is None else self._options.authorization.acls

    def _jaas_of(self, mechanism: str) -> str:
        if mechanism == PLAIN:
            return jaas(self._options.users)
        if mechanism in MECHANISMS:
            return f"{PACKAGE}.scram.ScramLoginModule required;"
        return f"{PACKAGE}.oauthbearer.OAuthBearerLoginModule required;"

    def _is_prepared(self, admin: Admin) -> bool:
        """Return True if the broker shows all users and ACLs; otherwise request those that are
        missing, because a request may have reached a controller that was not ready."""
        shown = admin.ask(DescribeUserScramCredentialsRequest(users=None), 0)
        known = {
            (result.user, info.mechanism)
            for result in shown.results
            for info in result.credential_infos
        }
        credentials = [
            each for each in self._credentials() if (each.name, each.mechanism) not in known
        ]
        for each in credentials:  # one user a request: a user may stand in it once (SCRAM-6)
            admin.ask(AlterUserScramCredentialsRequest(deletions=[], upsertions=[each]), 0)
        there = self._shown_acls(admin) if self._acls else set()
        missing = [acl for acl in self._acls if tuple(acl) not in there]
        if missing:
            creations = [
                AclCreation(
                    resource_type=kind,
                    resource_name=name,
                    resource_pattern_type=pattern,
                    principal=principal,
                    host=host,
                    operation=operation,
                    permission_type=permission,
                )
                for kind, pattern, name, principal, host, operation, permission in missing
            ]
            admin.ask(CreateAclsRequest(creations=creations), 3)
        return not credentials and not missing

    def _shown_acls(self, admin: Admin) -> set[tuple[Any, ...]]:
        asked = DescribeAclsRequest(
            resource_type_filter=_ANY,
            resource_name_filter=None,
            pattern_type_filter=_ANY,
            principal_filter=None,
            host_filter=None,
            operation=_ANY,
            permission_type=_ANY,
        )
        return {
            (
                each.resource_type,
                each.pattern_type,
                each.resource_name,
                acl.principal,
                acl.host,
                acl.operation,
                acl.permission_type,
            )
            for each in admin.ask(asked, 3).resources
            for acl in each.acls
        }

    def _credentials(self) -> list[ScramCredentialUpsertion]:
        """Return credentials for each user and each SCRAM mechanism of the listener."""
        found = []
        for user, password in self._options.users.items():
            for mechanism in self._settings.mechanisms:
                scram = MECHANISMS.get(mechanism)
                if scram is None:
                    continue
                salt = secrets.token_bytes(16)
                salted = hashlib.pbkdf2_hmac(
                    scram.hash_name, password.encode(), salt, LEAST_ITERATIONS
                )
                found.append(
                    ScramCredentialUpsertion(
                        name=user,
                        mechanism=scram.number,
                        iterations=LEAST_ITERATIONS,
                        salt=salt,
                        salted_password=salted,
                    )
                )
        return found


def _as_property(text: str) -> str:
    """Return a value as a properties file has it: one line of ASCII characters."""
    signs = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
    return "".join(
        signs.get(sign, sign)
        if ord(sign) < 127
        else "".join(
            f"\\u{int.from_bytes(sign.encode('utf-16-be')[at : at + 2]):04x}"
            for at in range(0, len(sign.encode("utf-16-be")), 2)
        )
        for sign in text
    )
