"""The brokers of the profile `security`: four listeners, users and an authorizer, of the emulator and
of a real Kafka.

Its address names all four: one in the clear, whose clients are super users; one with SASL; one with
SASL whose sessions end; one with SASL over TLS. Both show the same certificate. The real one is a
Java process also where others are containers: no container of ours has several listeners.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from coordinator import Emulator
from coordinator.net.certificates import ThrowAwayCertificates
from coordinator.testing.readiness import free_port
from integration_tests.java_broker import KEEPS_RECORDS, JavaBroker

PROFILE = "security"
DELAY_MS = 1_000
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "connection.failed.authentication.delay.ms": str(DELAY_MS),
    "delegation.token.secret.key": "the key of all tokens",
}
"""What both are given; the rest is in each one's own form."""
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_REAUTH_MS = 8_000
_USERS = {"root": "root-secret", "alice": "alice-secret", "bob": "bob-secret"}
_PACKAGE = "org.apache.kafka.common.security"
_LISTENERS = ("PLAINTEXT", "SASL", "REAUTH", "SASLSSL")
_MAP = "PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,REAUTH:SASL_PLAINTEXT,SASLSSL:SASL_SSL"
_REAUTHS = {
    f"listener.name.reauth.{mechanism.lower()}.connections.max.reauth.ms": str(_REAUTH_MS)
    for mechanism in _MECHANISMS
}
_SUPER_USERS = "User:ANONYMOUS;User:root"


@cache
def certificates() -> ThrowAwayCertificates:
    """The authority whose `ca_file` clients of all these brokers are to trust; of this process."""
    return ThrowAwayCertificates(())


def _of_tls() -> dict[str, str]:
    """The settings that name the certificate, in files that both brokers read."""
    authority = Path(certificates().ca_file)
    server = authority.with_name("server.pem")
    if not server.exists():
        server.touch(0o600)
        server.write_text("".join(certificates().server_pems()))
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(server),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority),
    }


class SecuredEmulator(Emulator):
    """The emulator with the profile's listeners; `bootstrap_servers` names all of them."""

    def __init__(self, kafka_version: str | None = None) -> None:
        super().__init__(
            config={
                **SETTINGS,
                **_REAUTHS,
                **_of_tls(),
                "listener.security.protocol.map": _MAP,
                "super.users": _SUPER_USERS,
            },
            listen=[f"{name}://127.0.0.1:0" for name in _LISTENERS],
            users=_USERS,
            kafka_version=kafka_version,
        )

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all listeners."""
        return ",".join(f"{host}:{port}" for host, port in self.endpoints.values())


class SecuredJavaBroker(JavaBroker):
    """A real Kafka with the profile's listeners; `addresses` names all of them."""

    def __init__(self, version: str | None = None) -> None:
        ports = [free_port() for _ in _LISTENERS]
        voter = f"127.0.0.1:{free_port()}"
        listeners = [
            f"{name}://127.0.0.1:{port}" for name, port in zip(_LISTENERS, ports, strict=True)
        ]
        people = " ".join(f'user_{name}="{password}"' for name, password in _USERS.items())
        jaas = {
            f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config": (
                f"{_PACKAGE}.plain.PlainLoginModule required {people};"
                if mechanism == "PLAIN"
                else f"{_PACKAGE}.scram.ScramLoginModule required;"
            )
            for listener in ("sasl", "reauth", "saslssl")
            for mechanism in _MECHANISMS
        }
        super().__init__(
            {
                **KEEPS_RECORDS,
                **SETTINGS,
                **_REAUTHS,
                **_of_tls(),
                **jaas,
                "listener.security.protocol.map": f"{_MAP},CONTROLLER:PLAINTEXT",
                "listeners": ",".join([*listeners, f"CONTROLLER://{voter}"]),
                "controller.quorum.voters": f"1@{voter}",
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": _SUPER_USERS,
                "sasl.enabled.mechanisms": ",".join(_MECHANISMS),
            },
            port=ports[0],
            version=version,
        )
        self._ports = ports

    @property
    def addresses(self) -> str:
        """The addresses of all listeners for clients."""
        return ",".join(f"127.0.0.1:{port}" for port in self._ports)
