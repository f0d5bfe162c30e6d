"""The brokers of the profile `security`: listeners, users and an authorizer, of the emulator and of a
real Kafka.

Its address names all listeners: one in the clear, whose clients are super users; one with SASL; one
with SASL whose sessions end; one with SASL over TLS; and of the newest release one for signed tokens.
Both show the same certificate. The real one is a Java process also where others are containers: no
container of ours has several listeners.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from coordinator import Emulator
from coordinator.server.net.certificates import ThrowAwayCertificates
from integration_tests.java_broker import FOR_TESTS, JavaBroker
from tests.ports import kept_port

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
OAUTH = "oauth"
_OAUTH_MAP = "OAUTH:SASL_PLAINTEXT"
_MAP = "PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,REAUTH:SASL_PLAINTEXT,SASLSSL:SASL_SSL"
_REAUTHS = {
    f"listener.name.reauth.{mechanism.lower()}.connections.max.reauth.ms": str(_REAUTH_MS)
    for mechanism in _MECHANISMS
}
_TOKENS_IN_JAVA = {
    f"listener.name.{OAUTH}.oauthbearer.sasl.server.callback.handler.class": (
        f"{_PACKAGE}.oauthbearer.OAuthBearerValidatorCallbackHandler"
    ),
    f"listener.name.{OAUTH}.oauthbearer.sasl.jaas.config": (
        f"{_PACKAGE}.oauthbearer.OAuthBearerLoginModule required;"
    ),
}
_ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
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


@cache
def signer() -> Any:
    """The key that signs tokens; of this process. Its public half is in the JWKS file."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _of_tokens() -> dict[str, str]:
    """The settings that say how signed tokens are checked, and the file that both brokers read."""
    from jwt.algorithms import ECAlgorithm

    path = Path(certificates().ca_file).with_name("keys.json")
    key = json.loads(ECAlgorithm.to_jwk(signer().public_key()))
    path.write_text(json.dumps({"keys": [key | {"kid": "one", "alg": "ES256"}]}))
    return {
        f"listener.name.{OAUTH}.sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": f"file://{path}",
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.oauthbearer.expected.issuer": "https://issuer",
    }


class SecuredEmulator(Emulator):
    """The emulator with the profile's listeners; `bootstrap_servers` names all of them."""

    def __init__(self, kafka_version: str | None = None) -> None:
        newest = kafka_version is None
        listeners = (*_LISTENERS, "OAUTH") if newest else _LISTENERS
        super().__init__(
            config={
                **SETTINGS,
                **_REAUTHS,
                **_of_tls(),
                **(_of_tokens() if newest else {}),
                "listener.security.protocol.map": f"{_MAP},{_OAUTH_MAP}",
                "super.users": _SUPER_USERS,
            },
            listen=[f"{name}://127.0.0.1:0" for name in listeners],
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
        newest = version is None
        names = (*_LISTENERS, "OAUTH") if newest else _LISTENERS
        ports = [kept_port() for _ in names]
        voter = f"127.0.0.1:{kept_port()}"
        listeners = [f"{name}://127.0.0.1:{port}" for name, port in zip(names, ports, strict=True)]
        tokens = _of_tokens() if newest else {}
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
                **FOR_TESTS,
                **SETTINGS,
                **_REAUTHS,
                **_of_tls(),
                **tokens,
                **(_TOKENS_IN_JAVA if newest else {}),
                **jaas,
                "listener.security.protocol.map": f"{_MAP},{_OAUTH_MAP},CONTROLLER:PLAINTEXT",
                "listeners": ",".join([*listeners, f"CONTROLLER://{voter}"]),
                "controller.quorum.voters": f"1@{voter}",
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": _SUPER_USERS,
                "sasl.enabled.mechanisms": ",".join(_MECHANISMS),
            },
            port=ports[0],
            version=version,
            properties={_ALLOWED_URLS: tokens.get("sasl.oauthbearer.jwks.endpoint.url", "")},
        )
        self._ports = ports

    @property
    def addresses(self) -> str:
        """The addresses of all listeners for clients."""
        return ",".join(f"127.0.0.1:{port}" for port in self._ports)
